"""What results hold for hosts reaches hosts and no model: not in messages, histories that were kept, or excerpts."""

from __future__ import annotations

import json
from typing import Any

import mcp_types
import pytest

from tests.run.conftest import calls, collected, says
from tests.support.wire_servers import WireServer
from toolbridge import Approval, CallEnded, Message, Model, Text, ToolCall, ToolId, ToolResult, chat, connect
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
    for shown in ("seen", "degrees", "a memo", "a cube", "no address"):
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
