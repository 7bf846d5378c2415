"""What a tool's `_meta` says to hosts: read rightly, kept from models, and files said where a model looks."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import mcp_types
import pytest

from tests.cli.process import toolbridge
from toolbridge import BoundCall, Note, Offer, Text, Tool, ToolCall, ToolId, ToolResult, prepare, read_tools
from toolbridge.apps import AppMeta, callers, read_app_meta, template_for, visible
from toolbridge.compat.argo import MCPToOpenAIConverter
from toolbridge.compat.chatgpt_tools import mcp_tools_to_gemini_format, mcp_tools_to_openai_format
from toolbridge.compat.dial import BaseMCPClient
from toolbridge.compat.orbiter import convert_mcp_tools
from toolbridge.errors import MCPToolError, UnknownToolError
from toolbridge.providers import providers

PAGE = "ui://maps/map.html"
KEPT = "it is private: its server keeps it from models"
UNCLEAR = 'it is private: what its server says of its visibility is unknown, and only "public" and "model" show it'


def tool(meta: Any, name: str = "show_map", schema: Any = None) -> Tool:
    entry = {"name": name, "description": "Shows a map.", "inputSchema": schema or {"type": "object"}, "_meta": meta}
    return read_tools([entry])[0]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({}, AppMeta()),
        ({"openai/outputTemplate": PAGE}, AppMeta(template=PAGE)),
        ({"ui/resourceUri": PAGE}, AppMeta(template=PAGE)),
        ({"ui": {"resourceUri": PAGE}}, AppMeta(template=PAGE, visible_to_widget=True)),
        (
            {"ui": {"resourceUri": PAGE}, "ui/resourceUri": "ui://old", "openai/outputTemplate": "ui://older"},
            AppMeta(template=PAGE, visible_to_widget=True),
        ),
        ({"ui/resourceUri": PAGE, "openai/outputTemplate": "ui://older"}, AppMeta(template=PAGE)),
        ({"openai/fileParams": ["a", 1, "b", "a"]}, AppMeta(file_parameters=("a", "b"))),
        (
            {"openai/toolInvocation/invoking": "Drawing", "openai/toolInvocation/invoked": "Drawn"},
            AppMeta(invoking="Drawing", invoked="Drawn"),
        ),
        (
            {"openai/visibility": [1], "ui": "x", "openai/fileParams": "a", "openai/outputTemplate": {}, "openai/x": 1},
            AppMeta(visible_to_model=False),
        ),
    ],
)
def test_both_vocabularies_are_read_and_what_has_another_shape_says_nothing_or_hides(
    meta: Any, expected: AppMeta
) -> None:
    assert read_app_meta(tool(meta)) == expected


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({}, {"model"}),
        ({"openai/visibility": "public"}, {"model"}),
        ({"openai/visibility": "private"}, set()),
        ({"openai/visibility": "private", "openai/widgetAccessible": True}, {"widget"}),
        ({"openai/widgetAccessible": True}, {"model", "widget"}),
        ({"openai/widgetAccessible": "yes"}, {"model"}),
        ({"ui": {}}, {"model", "widget"}),
        ({"ui": {"visibility": ["model", "app"]}}, {"model", "widget"}),
        ({"ui": {"visibility": ["app"]}}, {"widget"}),
        ({"ui": {"visibility": "app"}}, {"widget"}),
        ({"ui": {"visibility": ["model"]}, "openai/widgetAccessible": True}, {"model"}),
        ({"ui": {"visibility": []}}, set()),
        ({"ui": {"visibility": ["model", "app"]}, "openai/visibility": "private"}, {"widget"}),
        ({"ui": {"visibility": ["Model"]}}, set()),
        ({"ui": {"visibility": ("model",)}}, {"model"}),
        ({"ui": {"visibility": {"model": False}}}, set()),
        ({"ui": {"visibility": {"model": True}}}, set()),
        ({"ui": {"visibility": False}}, set()),
        ({"ui": {"visibility": None}}, {"model", "widget"}),
        ({"openai/visibility": None}, {"model"}),
        ({"openai/visibility": "Private"}, set()),
        ({"openai/visibility": ["private"]}, set()),
        ({"openai/visibility": "hidden"}, set()),
        ({"openai/visibility": ""}, set()),
        ({"openai/visibility": False}, set()),
        ({"openai/visibility": {"model": True}, "openai/widgetAccessible": True}, {"widget"}),
    ],
)
def test_who_may_call_a_tool_is_told(meta: Any, expected: set[str]) -> None:
    assert callers(tool(meta)) == expected
    assert visible(tool(meta)) == ("model" in expected)
    assert visible({"name": "x", "_meta": meta}) == ("model" in expected)
    assert visible({"name": "x", "meta": meta}) == ("model" in expected)


@pytest.mark.parametrize(
    ("meta", "why"),
    [
        ({"openai/visibility": "public"}, None),
        ({"openai/visibility": "private"}, KEPT),
        ({"openai/visibility": "private", "ui": {"visibility": "nobody"}}, KEPT),
        ({"ui": {"visibility": []}}, KEPT),
        ({"ui": {"visibility": ["app", "apps"]}}, KEPT),
        ({"openai/visibility": "Private"}, UNCLEAR),
        ({"openai/visibility": "hidden", "ui": {"visibility": ["model", "app"]}}, UNCLEAR),
        ({"ui": {"visibility": ["apps"]}}, UNCLEAR),
        ({"ui": {"visibility": {"model": False}}}, UNCLEAR),
    ],
)
def test_a_tool_that_is_hidden_by_a_slip_is_private_and_the_reason_says_so(meta: Any, why: str | None) -> None:
    ready = prepare([tool(meta)], "openai-chat")
    assert dict(ready.left_out) == ({} if why is None else {ToolId("", "show_map"): why})
    assert ready.private == (() if why is None else (ToolId("", "show_map"),))
    assert len(ready.definitions) == (why is None)


def test_a_result_may_name_what_renders_it_and_counts_before_its_tool() -> None:
    own = tool({"openai/outputTemplate": PAGE})
    assert template_for(own, ToolResult("1")) == PAGE
    assert template_for(own, ToolResult("1", meta={"openai/outputTemplate": "ui://maps/list.html"})) == (
        "ui://maps/list.html"
    )
    assert template_for(tool({}), ToolResult("1", meta={"ui": {"resourceUri": PAGE}})) == PAGE
    assert template_for(tool({}), ToolResult("1")) is None


# ── private tools ────────────────────────────────────────────────────────────────────────────────────────────────

OPEN = {"name": "whistle", "description": "Whistles.", "inputSchema": {"type": "object"}}
WHISPER = {
    "name": "whisper",
    "description": "Whispers a murmured secret.",
    "inputSchema": {"type": "object"},
    "_meta": {"openai/visibility": "private"},
}
HUM = {**WHISPER, "name": "hum", "_meta": {"ui": {"visibility": ["app"]}}}
SERVED = read_tools([OPEN, WHISPER, HUM], "words")


@pytest.mark.parametrize("provider", providers())
@pytest.mark.parametrize("strict", [None, True, False])
def test_a_private_tool_is_in_no_request_and_a_call_of_it_is_of_an_unknown_tool(
    provider: str, strict: bool | None
) -> None:
    ready = prepare(SERVED, provider, strict)
    assert [each.id.name for each in ready.tools] == ["whistle"]
    assert dict(ready.left_out) == {ToolId("words", "whisper"): KEPT, ToolId("words", "hum"): KEPT}
    assert ready.private == (ToolId("words", "whisper"), ToolId("words", "hum"))
    sent = json.dumps([ready.fields, ready.instructions, ready.definitions])
    assert "whisper" not in sent
    assert "murmured" not in sent
    for name in ("mcp__words__whisper", "whisper", "mcp__words__whispe", "hum"):
        refused = ready.resolve(ToolCall("1", name, "{}", {}))
        assert isinstance(refused, ToolResult)
        assert refused.text.startswith(f'There is no tool named "{name}".')
        assert "whisper" not in refused.text.replace(f'"{name}"', "")
        assert "private" not in refused.text
    with pytest.raises(UnknownToolError, match=f"words/whisper was left out: {KEPT}"):
        ready.wire_name(ToolId("words", "whisper"))


FILLED = read_tools(
    [{"name": f"paint_{i}", "description": f"Paints with colour {i}. " * 20, "inputSchema": {"type": "object"}}
     for i in range(40)],
    "paint",
)  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai-chat", ""), ("openai-responses", "gpt-5.4"), ("anthropic", "claude-opus-5"), ("gemini", "")],
)
def test_no_search_finds_a_private_tool_and_no_offer_names_it(provider: str, model: str) -> None:
    offer = Offer([*FILLED, *SERVED], provider, tool_tokens=900, model=model, kept=["words/*"])
    assert offer.deferred
    assert [each.id for each in offer.deferred if each.id.server == "words"] == []
    assert offer.find("mcp__words__whisper") is None
    assert not offer.join(SERVED[1])
    offer.choose("whisper a murmured secret")
    found = offer.search("1", {"query": "mcp__words__whisper whisper a murmured secret"})
    told = json.dumps([offer.fields, offer.explained(), found.text.replace("whisper a murmured secret", "")])
    assert "words__whisper —" not in told
    assert "Whispers" not in told
    assert ToolId("words", "whisper") in offer.prepared.private
    offer.renew([*FILLED, *read_tools([{**OPEN, "_meta": {"openai/visibility": "private"}}], "words")])
    assert "whistle" not in json.dumps(offer.fields)


def test_the_converters_of_other_projects_leave_private_tools_out() -> None:
    listed = [OPEN, WHISPER, HUM]
    assert [each["function"]["name"] for each in MCPToOpenAIConverter.convert_all_tools(listed)] == ["whistle"]
    openai = mcp_tools_to_openai_format(listed)
    gemini = mcp_tools_to_gemini_format(listed)
    assert openai is not None
    assert gemini is not None
    assert [each["function"]["name"] for each in openai] == ["whistle"]
    assert [each["name"] for each in gemini[0]["function_declarations"]] == ["whistle"]
    assert [each.original_name for each in convert_mcp_tools(listed, "words", lambda *_: "")] == ["whistle"]
    assert mcp_tools_to_openai_format([WHISPER]) is None
    for refuse in (MCPToOpenAIConverter.convert_tool, BaseMCPClient.mcp_to_dial_format):
        with pytest.raises(MCPToolError, match=f"whisper cannot be offered: {KEPT}"):
            refuse(WHISPER)


@pytest.mark.parametrize("by_alias", [True, False])
@pytest.mark.parametrize("meta", [{"openai/visibility": "private"}, {"openai/visibility": "Private"}])
def test_they_do_so_too_for_what_an_sdk_makes_of_its_models(meta: Any, by_alias: bool) -> None:
    model = mcp_types.Tool.model_validate({**WHISPER, "_meta": meta})
    dumped = model.model_dump(by_alias=by_alias)
    assert ("_meta" in dumped, "meta" in dumped) == (by_alias, not by_alias)
    assert MCPToOpenAIConverter.convert_all_tools([dumped]) == []
    assert mcp_tools_to_openai_format([dumped]) is None
    assert mcp_tools_to_gemini_format([dumped]) is None
    for each in (dumped, model):
        assert convert_mcp_tools([each], "words", lambda *_: "") == []
        assert prepare(read_tools([each]), "openai-chat").definitions == []
    with pytest.raises(MCPToolError, match="whisper cannot be offered: it is private"):
        BaseMCPClient.mcp_to_dial_format(dumped)


@pytest.mark.parametrize("by_alias", [True, False])
def test_a_dumped_tool_for_models_keeps_its_schema(by_alias: bool) -> None:
    schema = {"type": "object", "properties": {"tune": {"type": "string"}}}
    dumped = mcp_types.Tool.model_validate({**OPEN, "inputSchema": schema}).model_dump(by_alias=by_alias)
    openai = mcp_tools_to_openai_format([dumped])
    gemini = mcp_tools_to_gemini_format([dumped])
    (wrapped,) = convert_mcp_tools([dumped], "words", lambda *_: "")
    assert openai is not None
    assert gemini is not None
    assert openai[0]["function"]["parameters"] == schema
    assert list(gemini[0]["function_declarations"][0]["parameters"]["properties"]) == ["tune"]
    assert wrapped.parameters == schema


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "function", "function": WHISPER},
        {"type": "function", "function": OPEN, "_meta": WHISPER["_meta"]},
        {"type": "function", "function": {**OPEN, "_meta": {}}, "_meta": WHISPER["_meta"]},
        {**OPEN, "_meta": None, "meta": WHISPER["_meta"]},
        {**OPEN, "_meta": {}, "meta": WHISPER["_meta"]},
    ],
)
def test_what_a_tool_says_to_hosts_is_read_wherever_it_stands(entry: Any) -> None:
    (read,) = read_tools([entry])
    assert read.meta == WHISPER["_meta"]
    assert prepare([read], "openai-chat").private == (read.id,)


def _written(folder: Path, *tools: Any) -> Path:
    file = folder / "tools.json"
    file.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return file


def test_convert_counts_private_tools_and_does_not_fail_for_them(tmp_path: Path) -> None:
    file = _written(tmp_path, OPEN, WHISPER, HUM)
    answer = toolbridge("convert", file, "--to", "anthropic")
    assert (answer.code, [each["name"] for each in answer.json]) == (0, ["whistle"])
    assert answer.err == "3 tools, 2 private and not for models\n"
    explained = toolbridge("convert", file, "--to", "anthropic", "--explain")
    assert explained.err.splitlines() == [
        f"whisper: {KEPT}",
        "",
        f"hum: {KEPT}",
        "",
        "3 tools for anthropic: 1 exact, 0 changed, 0 left out, 2 private",
    ]
    document = toolbridge("convert", file, "--to", "anthropic", "--json")
    assert (document.code, document.json["left_out"], document.json["private"]) == (0, {}, ["whisper", "hum"])
    failing = toolbridge("convert", _written(tmp_path, OPEN, WHISPER, None), "--to", "anthropic")
    assert (failing.code, failing.err.splitlines()) == (
        1,
        ["3 tools, 1 left out, 1 private and not for models", "left out: (entry 2): entry 2 is null, not a tool"],
    )


def test_matrix_tells_private_tools_from_those_left_out(tmp_path: Path) -> None:
    file = _written(tmp_path, OPEN, WHISPER)
    answer = toolbridge("matrix", file, "--providers", "anthropic,gemini")
    lines = answer.out.splitlines()
    assert lines[0] == "2 tools × 2 providers, 1 private and not for models"
    assert [line.split() for line in lines if line.startswith(("anthropic", "gemini"))] == [
        ["anthropic", "1", "0", "0", "█" * 30],
        ["gemini", "1", "0", "0", "█" * 30],
    ]
    assert [line.split() for line in lines if line.startswith("whisper")] == [["whisper", "–", "–"]]
    assert lines[-1] == "✓ exact   ~2 adapted, with 2 changes   ✗ left out   – private"
    assert toolbridge("matrix", _written(tmp_path, WHISPER), "--providers", "gemini").code == 0
    document = toolbridge("matrix", _written(tmp_path, OPEN, WHISPER), "--providers", "gemini", "--json").json
    assert document["private"] == ["whisper"]
    assert document["providers"]["gemini"] == {"exact": 1, "adapted": 0, "left_out": 0, "codes": {}}
    assert document["tools"]["whisper"] == {"gemini": {"status": "private"}}


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────

FILE: dict[str, Any] = {
    "type": "object",
    "properties": {"download_url": {"type": "string"}, "file_id": {"type": "string"}},
    "required": ["download_url", "file_id"],
    "additionalProperties": False,
}
HOLDS = "`download_url` is an address that the server can fetch it from, `file_id` is its id."
ONE = f"A file, as an object: {HOLDS}"
MANY = f"A list of files, each an object: {HOLDS}"


def resizing(image: Any, names: Any = ("image",), **root: Any) -> Tool:
    schema = {"type": "object", "properties": {"image": image, "width": {"type": "integer"}}, **root}
    schema.setdefault("required", ["image", "width"])
    return tool({"openai/fileParams": list(names) if isinstance(names, tuple) else names}, "resize_image", schema)


@pytest.mark.parametrize("provider", providers())
@pytest.mark.parametrize("strict", [None, True, False])
@pytest.mark.parametrize(
    ("image", "root", "text"),
    [
        (FILE, {}, ONE),
        ({**FILE, "description": "The photo."}, {}, f"The photo. {ONE}"),
        ({"type": "array", "items": FILE}, {}, MANY),
        ({"$ref": "#/$defs/File"}, {"$defs": {"File": FILE}}, ONE),
        (
            {"anyOf": [{"$ref": "#/$defs/File"}, {"type": "null"}], "default": None},
            {"$defs": {"File": FILE}, "required": ["width"]},
            ONE,
        ),
        ({"allOf": [{"$ref": "#/definitions/File"}]}, {"definitions": {"File": FILE}}, ONE),
        ({"type": "array", "items": {"$ref": "#/$defs/File"}}, {"$defs": {"File": FILE}}, MANY),
    ],
    ids=["object", "described", "list", "reference", "optional", "wrapped", "list of references"],
)
def test_what_a_file_holds_is_said_where_the_model_looks(
    provider: str, strict: bool | None, image: Any, root: Any, text: str
) -> None:
    served = resizing(image, **root)
    before = copy.deepcopy(served.input_schema)
    ready = prepare([served], provider, strict)
    sent = json.dumps([ready.fields, ready.instructions], ensure_ascii=False)
    assert json.dumps(text, ensure_ascii=False)[1:-1] in sent
    said = image.get("description")
    assert Note("fileParams.said", "changed", "/properties/image", said) in ready.notes[served.id]
    assert served.input_schema == before
    plain = prepare([tool({}, "resize_image", before)], provider, strict)
    assert ready.is_strict(served.id) == plain.is_strict(ToolId("", "resize_image"))


def test_calls_are_checked_against_the_servers_own_schema() -> None:
    ready = prepare([resizing(FILE)], "anthropic")
    file = {"download_url": "https://example.com/a.png", "file_id": "f1"}
    good = ready.resolve(ToolCall("1", "resize_image", "", {"image": file, "width": 3}))
    assert isinstance(good, BoundCall)
    assert good.arguments == {"image": file, "width": 3}
    bad = ready.resolve(ToolCall("1", "resize_image", "", {"image": {"file_id": "f1"}, "width": 3}))
    assert isinstance(bad, ToolResult)
    assert "download_url" in bad.text


@pytest.mark.parametrize(
    "served",
    [
        resizing({"type": "string"}),
        resizing({"type": "array", "items": {"type": "string"}}),
        resizing({}),
        resizing(True),
        resizing(FILE, ("picture",)),
        resizing(FILE, "image"),
        resizing(FILE, {"image": True}),
        resizing({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}),
        resizing({**FILE, "description": "A file: its download_url and its file_id."}),
        resizing({"$ref": "#/$defs/File"}, **{"$defs": {"File": {"$ref": "#/$defs/File"}}}),
        resizing({"anyOf": [FILE, {"type": "string"}]}),
        tool({"openai/fileParams": ["image"]}, "resize_image", {"type": "object", "properties": ["image"]}),
    ],
)
def test_nothing_is_said_of_what_is_no_file_object_or_says_it_itself(served: Tool) -> None:
    ready = prepare([served], "openai-chat")
    assert HOLDS not in json.dumps(ready.definitions, ensure_ascii=False)
    assert "fileParams.said" not in {note.code for notes in ready.notes.values() for note in notes}


def test_files_are_said_with_every_option_and_put_back_into_the_servers_shape() -> None:
    ready = prepare([resizing(FILE)], "ollama", describe_values=True, flatten=True)
    (definition,) = ready.definitions
    lifted = definition["function"]["parameters"]["properties"]
    assert lifted["image_download_url"]["description"] == ONE
    arguments = {"image_download_url": "https://example.com/a.png", "image_file_id": "f1", "width": 3}
    assert ready.read_arguments("resize_image", arguments) == {
        "image": {"download_url": "https://example.com/a.png", "file_id": "f1"},
        "width": 3,
    }


def test_two_tools_of_one_schema_of_which_one_takes_files_are_told_apart() -> None:
    schema = {"type": "object", "properties": {"image": FILE}, "required": ["image"]}
    with_files = tool({"openai/fileParams": ["image"]}, "a", schema)
    without = tool({}, "b", schema)
    first, second = prepare([with_files, without], "anthropic").definitions
    assert first["input_schema"]["properties"]["image"]["description"] == ONE
    assert "description" not in second["input_schema"]["properties"]["image"]


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_result_keeps_its_meta_for_hosts() -> None:
    result = ToolResult("1", (Text("seen"),), meta={"openai/outputTemplate": PAGE, "rows": [1, 2]})
    assert read_app_meta(result).template == PAGE
    assert result.meta["rows"] == [1, 2]
