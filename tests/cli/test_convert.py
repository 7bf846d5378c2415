"""`toolbridge convert`: definitions on stdout, what changed on stderr, and exit codes that say which it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import EXAMPLE, toolbridge
from toolbridge.prepare import prepare
from toolbridge.providers import providers
from toolbridge.tools import read_tools

PLAIN: dict[str, Any] = {
    "name": "say",
    "description": "Says a word: Grüß Gott, 你好.",
    "inputSchema": {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
}


def _written(directory: Path, *tools: Any) -> Path:
    file = directory / "tools.json"
    file.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return file


def test_an_exact_tool_is_written_as_indented_json_and_nothing_is_said(tmp_path: Path) -> None:
    answer = toolbridge("convert", _written(tmp_path, PLAIN), "--to", "anthropic")
    expected = [{"name": "say", "description": PLAIN["description"], "input_schema": PLAIN["inputSchema"]}]
    assert answer.out == json.dumps(expected, indent=2, ensure_ascii=False) + "\n"
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("name", providers())
def test_every_provider_gets_the_definitions_that_prepare_makes(name: str) -> None:
    answer = toolbridge("convert", EXAMPLE, "--to", name)
    assert answer.code == 0
    assert answer.json == prepare(read_tools(EXAMPLE), name).definitions


def test_the_number_of_changed_tools_is_one_line_on_stderr() -> None:
    answer = toolbridge("convert", EXAMPLE, "--to", "anthropic")
    assert (answer.code, answer.err) == (0, "8 tools, 3 changed; --explain says how\n")


def test_tools_that_are_left_out_are_named_with_the_reason_and_the_exit_code_is_one(tmp_path: Path) -> None:
    file = _written(tmp_path, PLAIN, 7, {"description": "nameless"})
    answer = toolbridge("convert", file, "--to", "mistral")
    assert answer.code == 1
    assert [each["function"]["name"] for each in answer.json] == ["say"]
    assert answer.err.splitlines() == [
        "3 tools, 2 left out",
        "left out: (entry 1): entry 1 is a number, not a tool",
        "left out: (entry 2): entry 2 has no name",
    ]


def test_tools_past_the_limit_of_the_provider_are_left_out_one_by_one(tmp_path: Path) -> None:
    file = _written(tmp_path, *({**PLAIN, "name": f"say_{i}"} for i in range(130)))
    answer = toolbridge("convert", file, "--to", "openai-chat")
    why = "openai-chat takes at most 128 tools, and 128 come before this one"
    assert answer.code == 1
    assert len(answer.json) == 128
    assert answer.err.splitlines() == [
        "130 tools, 2 left out",
        f"left out: say_128: {why}",
        f"left out: say_129: {why}",
    ]


def test_explain_says_every_note_in_words_grouped_by_tool_and_code() -> None:
    answer = toolbridge("convert", EXAMPLE, "--to", "anthropic", "--explain")
    assert answer.code == 0
    assert answer.json == prepare(read_tools(EXAMPLE), "anthropic").definitions
    name = prepare(read_tools(EXAMPLE), "anthropic").definitions[1]["name"]
    assert answer.err.splitlines() == [
        f"beds.water → {name}: 1 change",
        "  name.spelt (changed): not a legal tool name here, so spelt another way",
        '    /  was "beds.water"',
        "",
        "move_plant: 1 change",
        "  oneOf.merged (changed): the branches are merged into one object",
        '    /  was [{"properties":{"plant":{"type":"string"},"to_bed":{"type":…',
        "",
        "soil_report: 3 changes",
        "  key.renamed (changed): not a legal property name here, so spelt another way",
        '    /properties/Bed number  was "Bed number"',
        '    /properties/pH (water)  was "pH (water)"',
        '    /properties/Depth in cm  was "Depth in cm"',
        "",
        "8 tools for anthropic: 5 exact, 3 changed, 0 left out",
        "  changed   written in another form; calls are put back into the server's own form",
    ]


def test_explain_has_every_note_of_every_provider() -> None:
    tools = read_tools(EXAMPLE)
    for name in ("openai-chat", "gemini-openapi", "bedrock", "ollama"):
        ready = prepare(tools, name, True)
        answer = toolbridge("convert", EXAMPLE, "--to", name, "--strict", "--explain")
        for notes in ready.notes.values():
            for note in notes:
                assert f"  {note.code} ({note.effect}): " in answer.err
                assert f"    {note.path or '/'}" in answer.err


def test_json_is_one_object_with_definitions_notes_left_out_and_strict(tmp_path: Path) -> None:
    dotted = {**PLAIN, "name": "say.it"}
    answer = toolbridge("convert", _written(tmp_path, PLAIN, dotted, None), "--to", "openai-responses", "--json")
    ready = prepare(read_tools([PLAIN, dotted]), "openai-responses")
    assert answer.code == 1
    assert answer.err == ""
    assert answer.json == {
        "provider": "openai-responses",
        "definitions": ready.definitions,
        "notes": {"say": [], "say.it": [{"code": "name.spelt", "effect": "changed", "path": "", "before": "say.it"}]},
        "left_out": {"(entry 2)": "entry 2 is null, not a tool"},
        "private": [],
        "strict": ["say", "say.it"],
    }


def test_json_stays_valid_where_a_schema_holds_what_json_does_not_have(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    schema = '{"type": "object", "properties": {"a": {"type": "number", "minimum": NaN, "default": -Infinity}}}'
    file.write_text(f'[{{"name": "odd", "inputSchema": {schema}}}]', encoding="utf-8")

    def refused(constant: str) -> None:
        raise AssertionError(constant)

    for name in ("openai-chat", "gemini", "ollama"):
        answer = toolbridge("convert", file, "--to", name, "--json")
        assert json.loads(answer.out, parse_constant=refused)["provider"] == name


def test_strict_and_no_strict_choose_the_definitions() -> None:
    tools = read_tools(EXAMPLE)
    for flag, strict in (("--strict", True), ("--no-strict", False)):
        answer = toolbridge("convert", EXAMPLE, "--to", "openai-chat", flag, "--json")
        ready = prepare(tools, "openai-chat", strict)
        assert answer.json["definitions"] == ready.definitions
        assert answer.json["strict"] == ([str(each.id) for each in tools] if strict else [])


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        (["--describe-values"], {"describe_values": True}),
        (["--flatten"], {"flatten": True}),
        (["--description-limit", "20"], {"description_limit": 20}),
    ],
)
def test_each_option_reaches_prepare(tmp_path: Path, option: list[str], meant: dict[str, Any]) -> None:
    day = {"type": "string", "enum": ["mon", "tue"], "default": "mon"}
    when = {"type": "object", "properties": {"day": day}, "required": ["day"], "additionalProperties": False}
    tool = {
        "name": "plan",
        "description": "Plans a very long day in the garden.",
        "inputSchema": {
            "type": "object",
            "properties": {"when": when},
            "required": ["when"],
            "additionalProperties": False,
        },
    }
    tools = read_tools([tool])
    answer = toolbridge("convert", _written(tmp_path, tool), "--to", "anthropic", *option)
    assert answer.json == prepare(tools, "anthropic", **meant).definitions
    assert answer.json != prepare(tools, "anthropic").definitions


def test_tools_of_a_named_server_are_spelt_with_its_name(tmp_path: Path) -> None:
    file = _written(tmp_path, PLAIN, None)
    answer = toolbridge("convert", file, "--to", "anthropic", "--server", "words", "--json")
    assert [each["name"] for each in answer.json["definitions"]] == ["mcp__words__say"]
    assert answer.json["notes"] == {"words/say": []}
    assert answer.json["left_out"] == {"words/(entry 1)": "entry 1 is null, not a tool"}


def test_standard_input_is_read_for_a_dash() -> None:
    answer = toolbridge("convert", "-", "--to", "anthropic", stdin=EXAMPLE.read_bytes())
    assert answer.code == 0
    assert answer.json == prepare(read_tools(EXAMPLE), "anthropic").definitions


def test_standard_input_may_begin_with_a_byte_order_mark() -> None:
    answer = toolbridge("convert", "-", "--to", "anthropic", stdin=b"\xef\xbb\xbf" + EXAMPLE.read_bytes())
    assert (answer.code, len(answer.json)) == (0, 8)


def test_a_list_without_tools_is_an_empty_list(tmp_path: Path) -> None:
    answer = toolbridge("convert", _written(tmp_path), "--to", "gemini")
    assert (answer.code, answer.out, answer.err) == (0, "[]\n", "")


def test_the_output_is_utf8_whatever_the_encoding_of_the_console_is(tmp_path: Path) -> None:
    file = _written(tmp_path, PLAIN)
    usual = toolbridge("convert", file, "--to", "anthropic")
    for encoding in ("ascii", "cp1252", "latin-1"):
        assert toolbridge("convert", file, "--to", "anthropic", PYTHONIOENCODING=encoding) == usual


def test_half_a_surrogate_pair_is_replaced_since_no_request_can_hold_it(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{**PLAIN, "description": "half \ud83d"}]), encoding="utf-8")
    answer = toolbridge("convert", file, "--to", "anthropic")
    assert answer.json[0]["description"] == "half \ufffd"


def test_a_file_may_have_spaces_and_backslashes_and_letters_of_any_kind_in_its_name(tmp_path: Path) -> None:
    for name in ("two words.json", "C:\\tools\\mine.json", "gärten.json"):
        file = tmp_path / name
        file.write_bytes(EXAMPLE.read_bytes())
        answer = toolbridge("convert", name, "--to", "mistral", cwd=tmp_path)
        assert (answer.code, len(answer.json)) == (0, 8)


def test_nothing_a_server_wrote_can_steer_the_terminal(tmp_path: Path) -> None:
    evil = {**PLAIN, "name": "a\x1b[2Jb\nc\u202ed"}
    file = _written(
        tmp_path, evil, *({**PLAIN, "name": f"say_{i}"} for i in range(127)), {**evil, "name": "x\x1b[31m\ny"}
    )
    answer = toolbridge("convert", file, "--to", "openai-chat", "--explain", FORCE_COLOR="")
    assert "a\\x1b[2Jb\\nc\\u202ed → " in answer.err
    assert "x\\x1b[31m\\ny: left out: " in answer.err
    assert "\x1b" not in answer.err
