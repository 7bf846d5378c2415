"""`toolbridge tokens`: what tools cost, for eyes and for programs."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import EXAMPLE, toolbridge
from tests.cli.workplace import Workplace
from toolbridge.cli.bars import lines
from toolbridge.cli.terminal import Paint
from toolbridge.encodings import counter_for
from toolbridge.spending import measure, propose
from toolbridge.tools import read_tools

WATER: dict[str, Any] = {
    "name": "water",
    "description": "Waters a bed.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "bed": {"type": "string", "title": "Bed", "description": "Which one.", "enum": ["A1", "B2"]},
        },
        "required": ["bed"],
        "additionalProperties": False,
    },
}


def _written(directory: Path, *tools: Any) -> Path:
    file = directory / "tools.json"
    file.write_text(json.dumps(tools), encoding="utf-8")
    return file


def _columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


def test_the_whole_output_reads_as_it_should(tmp_path: Path) -> None:
    file = _written(tmp_path, WATER, {"name": "rest", "description": "Does nothing."}, None)
    answer = toolbridge("tokens", file.name, cwd=tmp_path, COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "tools.json: 3 tools",
        "",
        "104 tokens for openai-chat, counted with o200k_base",
        "  of a context window: 0.3 % of 32k, 0.1 % of 128k, 0.1 % of 200k, under 0.1 %",
        "  of 1 million",
        "",
        "water      66  █████▓▓▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░",
        "rest       38  ███░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░",
        "",
        "█ description   ▓ parameters   ▒ enums   ░ structure",
        "of all tools: description 7.7 %, parameters 2.9 %, enums 6.7 %, structure 83 %",
        "",
        "✗ (entry 2): not sent to openai-chat: entry 2 is null, not a tool",
        "",
        "Cheapest cuts, in tokens for openai-chat",
        "Nothing is lost by these",
        "  −4  titles and descriptions that repeat what stands beside them (water)",
    ]


def test_a_private_tool_is_counted_apart_and_is_no_failure(tmp_path: Path) -> None:
    secret = {"name": "whisper", "_meta": {"openai/visibility": "private"}}
    slip = {"name": "hum", "_meta": {"openai/visibility": "Private"}}
    file = _written(tmp_path, WATER, secret, slip, None)
    answer = toolbridge("tokens", file.name, cwd=tmp_path, COLUMNS="80")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "tools.json: 4 tools, 2 private and not for models"
    assert [line for line in answer.out.splitlines() if "✗" in line] == [
        "✗ (entry 3): not sent to openai-chat: entry 3 is null, not a tool"
    ]
    assert "whisper" not in answer.out
    document = toolbridge("tokens", file, "--json").json["providers"]["openai-chat"]
    assert document["private"] == ["whisper", "hum"]
    assert document["left_out"] == {"(entry 3)": "entry 3 is null, not a tool"}
    alone = toolbridge("tokens", _written(tmp_path, WATER, None), "--json").json["providers"]["openai-chat"]
    assert document["behind_search"] == alone["behind_search"]


def test_several_providers_stand_side_by_side(tmp_path: Path) -> None:
    answer = toolbridge(
        "tokens", _written(tmp_path, WATER), "--to", "openai-chat,anthropic", "--to", "gemini", COLUMNS="80"
    )
    assert answer.code == 0
    assert answer.out.splitlines()[2:] == [
        "66 tokens for openai-chat, counted with o200k_base",
        "about 67 tokens for anthropic, estimated: Anthropic publishes no tokenizer",
        "about 71 tokens for gemini, estimated: Gemini's tokenizer is not published",
        "  estimates are usually 4 to 47 % above the count of published tokenizers",
        "",
        "           ┌ openai-chat",
        "           │   ┌ anthropic",
        "           │   │   ┌ gemini",
        "water      66  67  71",
        "all tools  66  67  71",
        "",
        "Cheapest cuts, in tokens for openai-chat",
        "Nothing is lost by these",
        "  −4  titles and descriptions that repeat what stands beside them (water)",
    ]


def test_programs_get_everything(tmp_path: Path) -> None:
    answer = toolbridge("tokens", _written(tmp_path, WATER, None), "--to", "openai-chat,json-schema", "--json")
    document = answer.json
    assert list(document) == ["budget", "providers", "cuts", "cuts_for", "lossless"]
    openai = document["providers"]["openai-chat"]
    assert openai == {
        "tokens": 66,
        "sent": 66,
        "exact": True,
        "encoding": "o200k_base",
        "source": counter_for("openai-chat").source,
        "around": 0,
        "behind_search": openai["behind_search"],
        "parts": {"name": 1, "description": 5, "parameters": 3, "enums": 7, "structure": 50},
        "windows": {"32000": 0.0021, "128000": 0.0005, "200000": 0.0003, "1000000": 0.0001},
        "servers": {"": 66},
        "tools": [{"server": "", "name": "water", "tokens": 66, "parts": openai["parts"], "sent": True}],
        "left_out": {"(entry 1)": "entry 1 is null, not a tool"},
        "private": [],
    }
    assert document["providers"]["json-schema"]["around"] > 100
    assert document["cuts"] == [
        {
            "kind": "echoes",
            "loss": "nothing",
            "what": "titles and descriptions that repeat what stands beside them",
            "lost": "",
            "saved": 4,
            "tools": {"water": 4},
        }
    ]
    assert (document["cuts_for"], document["lossless"], document["budget"]) == ("openai-chat", 4, None)


def test_a_budget_that_is_not_kept_makes_the_command_fail(tmp_path: Path) -> None:
    file = _written(tmp_path, WATER)
    assert toolbridge("tokens", file, "--budget", "66").code == 0
    answer = toolbridge("tokens", file, "--budget", "65", "--to", "openai-chat,anthropic")
    assert answer.code == 1
    assert answer.err.splitlines() == [
        "toolbridge: 66 tokens for openai-chat, over the budget of 65",
        "toolbridge: about 67 tokens for anthropic, over the budget of 65",
    ]


def test_a_server_is_started_for_the_purpose(work: Workplace) -> None:
    chaos = work.chaos()
    answer = work("tokens", "--json", "--server", "chaos", "--", chaos["command"], *chaos["args"])
    assert (answer.code, answer.err) == (0, "")
    assert [*answer.json["providers"]["openai-chat"]["servers"]] == ["chaos"]


def test_a_configuration_is_summed_by_server_and_one_that_is_not_there_is_told(work: Workplace) -> None:
    few, many = work.chaos(), work.chaos("tools=50")
    file = work.configure(few=few, many=many, gone={"command": "no-such-command-anywhere"})
    answer = work("tokens", str(file), "--cuts", "0", "--top", "0", COLUMNS="80")
    assert answer.code == 1
    assert "gone" in answer.err
    at = answer.out.splitlines().index("Servers")
    assert [line.split()[0] for line in answer.out.splitlines()[at + 1 : at + 3]] == ["many", "few"]


def test_no_tools_cost_nothing(tmp_path: Path) -> None:
    answer = toolbridge("tokens", _written(tmp_path))
    assert answer.code == 0
    assert "0 tools" in answer.out
    assert "0 tokens for openai-chat" in answer.out


@pytest.mark.parametrize("width", [60, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    listed = [
        *read_tools(EXAMPLE),
        *read_tools(
            [{"name": f"植物を探す{i}" * 4, "description": "庭の植物を探します。" * 40} for i in range(150)], "お庭"
        ),
        *read_tools(
            [{"name": "long_" * 30, "description": "Says much. " * 90, "inputSchema": {"type": ["object"]}}], "other"
        ),
    ]
    for names in (["openai-chat"], ["openai-chat", "anthropic", "gemini", "bedrock", "llama.cpp", "json-schema"]):
        spent = [measure(listed, each) for each in names]
        out = lines("tools.json", spent, propose(spent[0]), 30, 30, width, Paint(None))
        assert max(map(_columns, out)) <= width, max(out, key=_columns)


def test_what_others_wrote_cannot_steer_the_terminal(tmp_path: Path) -> None:
    file = _written(tmp_path, {**WATER, "name": "\x1b[31mred\u202e"}, {**WATER, "name": "again\x07"})
    answer = toolbridge("tokens", file, COLUMNS="80")
    assert answer.code == 0
    assert not {"\x1b", "\x07", "\u202e"} & {*answer.out}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.json"], "toolbridge: missing.json: no such file; "),
        (["tools.json", "--to", "openai"], "toolbridge: unknown provider 'openai'"),
        (["tools.json", "--to", ","], "toolbridge: --to names no provider; give names with commas"),
        (["tools.json", "--budget", "0"], "toolbridge: tokens: invalid value for '--budget'"),
        (["tools.json", "--", "python"], "toolbridge: a SOURCE, --from and a command after --"),
        (["--", "no-such-command-anywhere"], "toolbridge: server 'no-such-command-anywhere': there is no command"),
    ],
)
def test_misuse_is_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    _written(tmp_path, WATER)
    answer = toolbridge("tokens", *arguments, cwd=tmp_path)
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (2, "", 1)
    assert answer.err.startswith(said)
