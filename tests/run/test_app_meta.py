"""What results hold for hosts reaches hosts and no model: not in messages, histories that were kept, or excerpts."""

from __future__ import annotations

import json
from typing import Any

import mcp_types
import pytest

from tests.run.conftest import calls, collected, says
from tests.support.wire_servers import WireServer
from toolbridge import (
    Approval,
    CallEnded,
    Message,
    Model,
    Note,
    Text,
    ToolCall,
    ToolId,
    ToolResult,
    chat,
    connect,
    read_tools,
)
from toolbridge.apps import template_for
from toolbridge.compat.orbiter import read_result as read_foreign_result
from toolbridge.examine import examine
from toolbridge.history.document import read_history, write_history
from toolbridge.history.excerpts import Excerpts, cut_result
from toolbridge.history.said import result_text
from toolbridge.lint.linting import lint_tools
from toolbridge.lint.settings import LintSettings
from toolbridge.providers import providers
from toolbridge.run.small import last_question
from toolbridge.servers.mend import _mend_result  # pyright: ignore[reportPrivateUsage]
from toolbridge.servers.read import read_result

HIDDEN = "hush-hush"
PAGE = "ui://maps/map.html"
MOVED = Note("output.meta", "changed", "/_meta")
META = {"openai/outputTemplate": PAGE, "rows": [HIDDEN], HIDDEN: True}
ANSWER: dict[str, Any] = {
    "content": [
        {"type": "text", "text": "seen", "_meta": {"for": HIDDEN}, "annotations": {"audience": ["user"]}},
        {"type": "image", "data": "aGk=", "mimeType": "image/png", "_meta": {"for": HIDDEN}},
        {"type": "resource_link", "uri": "memo://1", "name": "first", "_meta": {"for": HIDDEN}},
        {
            "type": "resource",
            "resource": {"uri": "memo://2", "text": "a memo", "_meta": {"for": HIDDEN}},
            "_meta": {"for": HIDDEN},
        },
        {"type": "hologram", "shape": "a cube", "_meta": {"for": HIDDEN}},
        {"type": "resource", "resource": {"text": "no address", "_meta": {"for": HIDDEN}}, "_meta": {"for": HIDDEN}},
        {"type": "text", "_meta": {"for": HIDDEN}},
        [{"type": "text", "text": "in a list", "_meta": {"for": HIDDEN}}],
        {"type": "tool_result", "content": [{"type": "text", "text": "further in", "_meta": {"for": HIDDEN}}]},
        {"type": "resource", "resource": [{"uri": "memo://3", "_meta": {"for": HIDDEN}}]},
    ],
    "structuredContent": {"degrees": 21.5},
    "_meta": META,
}


def result() -> ToolResult:
    """The answer, on the way that every answer of a server takes."""
    mended = json.loads(json.dumps(ANSWER))
    _mend_result(mended)
    return read_result(mcp_types.CallToolResult.model_validate(mended), "call_1", None)


def history(of: ToolResult) -> tuple[Message, ...]:
    call = ToolCall("call_1", "show_map", "{}", {})
    return (Message.user("Where?"), Message.assistant(call), Message.results(of), Message.user("And now?"))


@pytest.mark.parametrize("provider", providers())
@pytest.mark.parametrize("is_kept", [False, True])
def test_no_provider_is_sent_what_a_result_holds_for_hosts(provider: str, is_kept: bool) -> None:
    said = history(result())
    if is_kept:
        said = read_history(json.dumps(write_history(said))).value
    assert said == history(result())
    sent = json.dumps(providers()[provider].write_messages(said).value, default=repr)
    assert HIDDEN not in sent
    assert PAGE not in sent
    for shown in ("seen", "degrees", "a memo", "a cube", "no address", "in a list", "further in", "memo://3"):
        assert shown in sent


def test_the_host_has_it_whole() -> None:
    assert result().meta == META
    assert result().structured == {"degrees": 21.5}


def test_neither_excerpts_nor_what_is_searched_in_them_show_it() -> None:
    long = ToolResult("call_1", (Text("a line of it\n" * 500),), structured={"degrees": 21.5}, meta=META)
    excerpts = Excerpts(100)
    kept = excerpts.keep(long, "k")
    assert kept.meta == META
    texts = [
        kept.text,
        cut_result(long, 100).text,
        result_text(long),
        excerpts.answer("2", {"result": "k", "from": 6_000}).text,
        excerpts.answer("3", {"result": "k", "find": "hush"}).text,
        excerpts.answer("4", {"result": "k", "find": "degrees"}).text,
    ]
    assert [each for each in texts if HIDDEN in each or PAGE in each] == []
    assert "21.5" in texts[5]


def test_a_small_model_is_not_told_it(model: Model) -> None:
    assert HIDDEN not in last_question(history(result())[:3], model).text


@pytest.mark.parametrize("as_model", [False, True])
def test_results_that_other_clients_hand_over_are_read_without_it(as_model: bool) -> None:
    answer: Any = ANSWER
    if as_model:
        legal = ANSWER["content"][:4]
        answer = mcp_types.CallToolResult.model_validate({**ANSWER, "content": legal})
    read = read_foreign_result(answer)
    assert read is not None
    assert HIDDEN not in result_text(read)
    assert "seen" in result_text(read)


async def test_a_whole_result_that_a_function_returns_as_a_dict_is_told_apart() -> None:
    """The shapes that the Python SDK makes of one dict, by how its function is annotated."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("maps")
    returned = {"structuredContent": {"degrees": 21.5}, "_meta": META}
    annotations: dict[str, Any] = {
        "bare": dict, "typed": dict[str, Any], "any": Any, "optional": dict[str, Any] | None, "flat": dict[str, Any],
    }  # fmt: skip
    for name, annotation in annotations.items():

        def answer(flat: bool = name == "flat") -> Any:
            return {"degrees": 21.5, "_meta": META} if flat else returned

        answer.__annotations__["return"] = annotation
        reads = mcp_types.ToolAnnotations(read_only_hint=True)
        server.tool(name=name, description="Answers.", annotations=reads)(answer)
    async with connect({"maps": server}) as hub:
        results = {name: await hub.call("maps", name) for name in annotations}
        report = lint_tools(
            hub.all_tools,
            settings=LintSettings(select=("result.meta-in-content",)),
            servers=await examine(hub, call=True),
        )
    left: dict[str, Any] = {"structuredContent": {"degrees": 21.5}}
    assert {name: each.structured for name, each in results.items()} == {
        "bare": None, "typed": left, "any": None, "optional": {"result": left}, "flat": {"degrees": 21.5},
    }  # fmt: skip
    for name, each in results.items():
        assert json.loads(each.text) == ({"degrees": 21.5} if name == "flat" else left)
        assert HIDDEN not in result_text(each)
        assert {key: each.meta.get(key) for key in META} == META
        assert each.notes == (MOVED,)
    assert {each.tool.name for each in report.findings if each.tool is not None} == {*annotations}


def read(structured: Any, *texts: str, output: Any = None, **more: Any) -> ToolResult:
    answer = {"content": [{"type": "text", "text": each} for each in texts], "structuredContent": structured, **more}
    (tool,) = read_tools([{"name": "look", "inputSchema": {"type": "object"}, "outputSchema": output}])
    _mend_result(answer)
    return read_result(mcp_types.CallToolResult.model_validate(answer), "1", tool)


DEGREES: dict[str, Any] = {
    "type": "object",
    "properties": {"degrees": {"type": "number"}},
    "required": ["degrees"],
    "additionalProperties": False,
}


def test_a_schema_is_held_against_what_is_left_or_else_against_the_whole() -> None:
    whole = {"degrees": 21.5, "_meta": {"a": 1}}
    assert read(whole, output=DEGREES).notes == (MOVED,)
    asking = {**DEGREES, "required": ["degrees", "_meta"], "additionalProperties": True}
    assert read(whole, output=asking).notes == (MOVED,)
    notes = read({"degrees": "warm", "_meta": {"a": 1}}, output=DEGREES).notes
    assert [(each.code, each.path) for each in notes] == [("output.mismatch", "/degrees"), ("output.meta", "/_meta")]


@pytest.mark.parametrize(
    ("structured", "shown", "meta"),
    [
        ({"_meta": {"a": 1}}, {}, {"a": 1}),
        ({"a": 1, "_meta": [1]}, {"a": 1}, {"_meta": [1]}),
        ({"result": {"a": 1, "_meta": {"b": 2}}}, {"result": {"a": 1}}, {"b": 2}),
        ({"page": {"_meta": {"next": 2}}}, {"page": {"_meta": {"next": 2}}}, {}),
        ([{"_meta": {"a": 1}}], [{"_meta": {"a": 1}}], {}),
    ],
)
def test_what_stands_at_the_top_of_structured_content_is_for_hosts(structured: Any, shown: Any, meta: Any) -> None:
    result = read(structured)
    assert (result.structured, dict(result.meta)) == (shown, meta)


def test_a_results_own_meta_counts_before_what_stood_among_its_content() -> None:
    result = read({"a": 1, "_meta": {"x": "inner", "y": "inner"}}, _meta={"x": "own"})
    assert dict(result.meta) == {"x": "own", "y": "inner"}


@pytest.mark.parametrize(
    "text",
    ['{"rows": 3, "_meta": {"next": 2}}', 'Use "_meta" for it.', '{"structuredContent": 1, "_meta": ', '["_meta"]'],
)
def test_any_other_text_is_for_models_as_it_is(text: str) -> None:
    result = read({"rows": 3}, text)
    assert (result.text, result.structured, dict(result.meta), result.notes) == (text, {"rows": 3}, {}, ())


def test_an_abyss_in_a_block_of_no_known_kind_is_cut_and_harms_nothing() -> None:
    deep: Any = {"_meta": HIDDEN}
    for _ in range(200):
        deep = {"in": [deep]}
    assert HIDDEN not in read(None, content=[{"type": "hologram", "deep": deep}]).text


def test_results_of_other_clients_keep_models_inside_blocks_from_showing_it() -> None:
    block = mcp_types.TextContent.model_validate({"type": "text", "text": "seen", "_meta": {"for": HIDDEN}})
    answer = {"content": [[block], {"type": "list", "items": [block]}], "structuredContent": {"a": 1, "_meta": META}}
    foreign = read_foreign_result(answer)
    assert foreign is not None
    assert HIDDEN not in result_text(foreign)
    assert (foreign.text.count("seen"), foreign.structured, foreign.meta) == (2, {"a": 1}, META)


async def test_a_run_hands_tool_and_meta_to_the_host_and_not_to_the_model(wire: WireServer, model: Model) -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("maps")

    @server.tool(meta={"openai/outputTemplate": PAGE})
    def show_map() -> mcp_types.CallToolResult:
        """Shows a map."""
        return mcp_types.CallToolResult(
            content=[mcp_types.TextContent(type="text", text="seen")],
            structured_content={"degrees": 21.5},
            _meta={"rows": [HIDDEN]},
        )

    @server.tool(meta={"openai/visibility": "private"})
    def redraw() -> str:
        """Draws the map again."""
        return "redrawn"

    wire.says_in_turn(calls(("mcp__maps__show_map", {}), ("mcp__maps__redraw", {})), says("There."))
    async with connect({"maps": server}) as hub:
        told = await collected(chat("Where?", hub, model, approval=Approval("never")))
        shown, refused = sorted((each for each in told if isinstance(each, CallEnded)), key=lambda each: not each.tool)
        tools = {each.id: each for each in hub.all_tools}
        assert shown.tool == ToolId("maps", "show_map")
        assert shown.result.meta["rows"] == [HIDDEN]
        assert template_for(tools[ToolId("maps", "show_map")], shown.result) == PAGE
        assert (refused.tool, refused.result.is_error) == (None, True)
        assert refused.result.text.startswith('There is no tool named "mcp__maps__redraw".')
        assert (await hub.call("maps", "redraw")).text == "redrawn"
    sent = json.dumps([each.body for each in wire.requests])
    assert "seen" in sent
    for hidden in (HIDDEN, PAGE, "Draws the map again"):
        assert hidden not in sent
    await model.close()


async def test_a_page_that_is_not_listed_is_asked_for_before_it_is_called_missing() -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("maps")

    @server.resource("ui://pages/{name}.html", mime_type="text/html;profile=mcp-app")
    def page(name: str) -> str:
        if name != "map":
            raise ValueError("no such page")
        return "<p>"

    server.tool(name="show_map", meta={"ui": {"resourceUri": "ui://pages/map.html"}})(lambda: "shown")
    server.tool(name="show_list", meta={"ui": {"resourceUri": "ui://pages/list.html"}})(lambda: "shown")
    server.tool(name="show_tree", meta={"ui": {"resourceUri": "ui://tree.html"}})(lambda: "shown")
    async with connect({"maps": server}) as hub:
        facts = await examine(hub)
        report = lint_tools(hub.all_tools, settings=LintSettings(select=("app",)), servers=facts)
    found = [(str(each.tool), each.rule) for each in report.findings]
    assert found == [("maps/show_list", "app.template-missing"), ("maps/show_tree", "app.template-missing")]
