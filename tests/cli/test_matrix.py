"""`toolbridge matrix`: tools × providers, for eyes and for programs."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import EXAMPLE, toolbridge
from toolbridge.prepare import prepare
from toolbridge.tools import read_tools

MAIN = ["openai-chat", "openai-responses", "anthropic", "gemini", "gemini-openapi", "bedrock", "mistral", "ollama"]

EXACT: dict[str, Any] = {
    "name": "open",
    "inputSchema": {
        "type": "object",
        "properties": {"door": {"type": "string"}},
        "required": ["door"],
        "additionalProperties": False,
    },
}


def _written(directory: Path, *tools: Any) -> Path:
    file = directory / "tools.json"
    file.write_text(json.dumps(tools), encoding="utf-8")
    return file


def _columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


def test_the_whole_table_of_two_providers_reads_as_it_should(tmp_path: Path) -> None:
    file = _written(tmp_path, EXACT, {**EXACT, "name": "shut.it"}, None)
    answer = toolbridge("matrix", file, "--providers", "anthropic,gemini", COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "3 tools × 2 providers",
        "",
        "            exact  adapted  left out",
        "anthropic       1        1         1   ██████████▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░",
        "gemini          2        0         1   ████████████████████░░░░░░░░░░",
        "",
        "           ┌ anthropic",
        "           │   ┌ gemini",
        "open       ✓   ✓",
        "shut.it    ~1  ✓",
        "(entry 2)  ✗   ✗",
        "",
        "✓ exact   ~2 adapted, with 2 changes   ✗ left out",
        "",
        "Why adapted: the notes, and how often",
        "",
        "            ┌ anthropic",
        "            │  ┌ gemini",
        "name.spelt  1  ·  not a legal tool name here, so spelt another way",
        "",
        "Left out: 1 tool",
        "",
        "✗ (entry 2)",
        "    every provider: entry 2 is null, not a tool",
    ]


def test_json_has_every_tool_at_every_provider_with_its_codes_or_its_reason(tmp_path: Path) -> None:
    file = _written(tmp_path, EXACT, {**EXACT, "name": "shut.it"}, None)
    answer = toolbridge("matrix", file, "--providers", "anthropic,gemini", "--json")
    left_out = {"status": "left_out", "reason": "entry 2 is null, not a tool"}
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "providers": {
            "anthropic": {"exact": 1, "adapted": 1, "left_out": 1, "codes": {"name.spelt": 1}},
            "gemini": {"exact": 2, "adapted": 0, "left_out": 1, "codes": {}},
        },
        "private": [],
        "tools": {
            "open": {"anthropic": {"status": "exact"}, "gemini": {"status": "exact"}},
            "shut.it": {
                "anthropic": {"status": "adapted", "codes": ["name.spelt"]},
                "gemini": {"status": "exact"},
            },
            "(entry 2)": {"anthropic": left_out, "gemini": left_out},
        },
    }


@pytest.mark.parametrize("strict", [None, True, False])
def test_the_eight_main_providers_are_compared_and_agree_with_prepare(strict: bool | None) -> None:
    flags = {None: [], True: ["--strict"], False: ["--no-strict"]}[strict]
    answer = toolbridge("matrix", EXAMPLE, "--json", *flags)
    tools = read_tools(EXAMPLE)
    assert list(answer.json["providers"]) == MAIN
    assert list(answer.json["tools"]) == [each.id.name for each in tools]
    for name in MAIN:
        notes = prepare(tools, name, strict).notes
        codes = Counter(note.code for each in notes.values() for note in each)
        exact = sum(1 for each in notes.values() if not each)
        counts = {"exact": exact, "adapted": len(tools) - exact, "left_out": 0, "codes": dict(codes)}
        assert answer.json["providers"][name] == counts


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    tools: list[Any] = [*json.loads(EXAMPLE.read_text(encoding="utf-8"))["tools"], None]
    tools += [{**EXACT, "name": "a_very_long_name_" * 6}, {**EXACT, "name": "水やりをする" * 12}]
    tools += [{**EXACT, "name": f"fill_{i}"} for i in range(130)]
    answer = toolbridge("matrix", _written(tmp_path, *tools), COLUMNS=str(width))
    assert answer.code == 0
    assert [line for line in answer.out.splitlines() if _columns(line) > width] == []


def test_all_providers_fit_into_eighty_columns() -> None:
    answer = toolbridge("matrix", EXAMPLE, "--providers", "all", COLUMNS="80")
    assert answer.code == 0
    assert [line for line in answer.out.splitlines() if _columns(line) > 80] == []
    for name in (*MAIN, "azure", "fireworks"):
        assert f"┌ {name}\n" in answer.out


def test_there_is_no_colour_in_a_pipe_and_none_with_no_color() -> None:
    assert "\x1b" not in toolbridge("matrix", EXAMPLE).out
    coloured = toolbridge("matrix", EXAMPLE, FORCE_COLOR="1").out
    assert "\x1b[32m✓\x1b[0m" in coloured
    assert "\x1b[33m~1\x1b[0m" in coloured
    assert toolbridge("matrix", EXAMPLE, FORCE_COLOR="1", NO_COLOR="1").out == toolbridge("matrix", EXAMPLE).out


def test_in_a_long_list_tools_that_are_exact_everywhere_are_counted_unless_all_are_asked_for(tmp_path: Path) -> None:
    file = _written(tmp_path, *({**EXACT, "name": f"open_{i}"} for i in range(60)), {**EXACT, "name": "shut.it"})
    short = toolbridge("matrix", file, "--providers", "anthropic,bedrock")
    assert "open_1 " not in short.out
    assert "shut.it  ~1  ~1\n\n60 more tools exact everywhere (--all lists them)\n" in short.out
    long = toolbridge("matrix", file, "--providers", "anthropic,bedrock", "--all")
    assert [line.split()[0] for line in long.out.splitlines() if line.endswith(("✓", "~1"))] == [
        *(f"open_{i}" for i in range(60)),
        "shut.it",
    ]
    assert long.out.count("┌ bedrock") == 3, "the heads stand again over row 51, and over the reasons"


def test_tools_left_out_for_one_reason_are_summed_up(tmp_path: Path) -> None:
    file = _written(tmp_path, *({**EXACT, "name": f"open_{i}"} for i in range(1000)))
    answer = toolbridge("matrix", file, "--providers", "groq,mistral", COLUMNS="100")
    assert answer.out.endswith(
        "Left out: 872 tools\n\n"
        "✗ open_128, open_129, open_130, open_131, open_132 and 867 more\n"
        "    groq takes at most 128 tools, and 128 come before this one\n"
    )
    assert len([line for line in answer.out.splitlines() if line.endswith(("✗   ✓", "✗  ✓"))]) == 872


def test_a_list_without_tools_has_a_summary_only(tmp_path: Path) -> None:
    answer = toolbridge("matrix", _written(tmp_path), "--providers", "gemini")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "0 tools × 1 provider",
        "",
        "         exact  adapted  left out",
        "gemini       0        0         0",
    ]


def test_standard_input_is_read_for_a_dash() -> None:
    answer = toolbridge("matrix", "-", stdin=EXAMPLE.read_bytes())
    assert answer == toolbridge("matrix", EXAMPLE)
