"""`toolbridge call`: arguments typed by the schema, results that are read at a glance, and an end that is always clean."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import LIMIT_SECONDS, command_line, surroundings
from tests.cli.workplace import CHAOS, Terminal, Workplace, interrupt, wait_until
from tests.support.processes import marked, within
from toolbridge.cli.arguments import ArgumentsError, read_arguments
from toolbridge.cli.blocks import Shelf, result_lines
from toolbridge.cli.media import decoded, save, sized, uri_name
from toolbridge.cli.progress import Line, Progress, waiting_for
from toolbridge.cli.terminal import Paint, cells
from toolbridge.errors import ToolbridgeError
from toolbridge.types import Audio, Image, Resource, Text, Tool, ToolId, ToolResult

# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer", "maximum": 10},
        "share": {"type": "number"},
        "loud": {"type": "boolean"},
        "none": {"type": "null"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "where": {"$ref": "#/$defs/Place"},
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "word_or_null": {"type": ["string", "null"]},
        "null_or_word": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        "number_or_word": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "word_or_number": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "day": {"enum": ["mon", "tue", 1, True, None]},
        "day_or_null": {"anyOf": [{"$ref": "#/$defs/Day"}, {"type": "null"}]},
        "days": {"type": "array", "items": {"$ref": "#/$defs/Day"}},
        "always": {"const": "x"},
        "anything": {},
        "dotted.name": {"type": "integer"},
        "data": {"type": "string", "contentEncoding": "base64"},
        "free": {"type": "object"},
    },
    "additionalProperties": False,
    "$defs": {
        "Day": {"type": "string", "enum": ["mon", "tue"]},
        "Place": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "floor": {"type": "integer"}},
            "required": ["city"],
        },
    },
}


def tool(schema: Any = SCHEMA) -> Tool:
    return Tool(ToolId("words", "say"), "", schema)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["text=5"], {"text": "5"}),
        (["text=true"], {"text": "true"}),
        (["text=null"], {"text": "null"}),
        (["text="], {"text": ""}),
        (["text= a = b "], {"text": " a = b "}),
        (["text=@@home"], {"text": "@home"}),
        (["count=5"], {"count": 5}),
        (["count=-5"], {"count": -5}),
        (["count=5.0"], {"count": 5}),
        (["share=5"], {"share": 5}),
        (["share=1e3"], {"share": 1000.0}),
        (["loud=true"], {"loud": True}),
        (["loud=No"], {"loud": False}),
        (["loud=1"], {"loud": True}),
        (["none=null"], {"none": None}),
        (["tags=a"], {"tags": ["a"]}),
        (["tags=a", "tags=5"], {"tags": ["a", "5"]}),
        (['tags=["a", "b"]', "tags=c"], {"tags": ["a", "b", "c"]}),
        (["tags=[not json"], {"tags": ["[not json"]}),
        (["tags:=[]"], {"tags": []}),
        (["numbers=1", "numbers=2"], {"numbers": [1, 2]}),
        (["numbers=[1, 2]"], {"numbers": [1, 2]}),
        (["where.city=Bern", "where.floor=2"], {"where": {"city": "Bern", "floor": 2}}),
        (['where={"city": "Bern"}'], {"where": {"city": "Bern"}}),
        (["labels.a=1", "labels.b=2"], {"labels": {"a": 1, "b": 2}}),
        (["labels.example.com=1"], {"labels": {"example.com": 1}}),
        (["maybe=5"], {"maybe": 5}),
        (["maybe=null"], {"maybe": None}),
        (["word_or_null=null"], {"word_or_null": "null"}),
        (["word_or_null:=null"], {"word_or_null": None}),
        (["null_or_word=null"], {"null_or_word": "null"}),
        (["number_or_word=5"], {"number_or_word": 5}),
        (["number_or_word=five"], {"number_or_word": "five"}),
        (["word_or_number=5"], {"word_or_number": "5"}),
        (["day=mon"], {"day": "mon"}),
        (["day=1"], {"day": 1}),
        (["day=true"], {"day": True}),
        (["day=null"], {"day": None}),
        (["day_or_null=tue"], {"day_or_null": "tue"}),
        (["day_or_null=null"], {"day_or_null": None}),
        (["days=mon", "days=tue"], {"days": ["mon", "tue"]}),
        (["always=x"], {"always": "x"}),
        (["anything=5"], {"anything": 5}),
        (["anything=five"], {"anything": "five"}),
        (['anything={"a": [1]}'], {"anything": {"a": [1]}}),
        (["dotted.name=5"], {"dotted.name": 5}),
        (["free.a.b=1"], {"free": {"a": {"b": 1}}}),
        (['{"text": "a", "count": 1}'], {"text": "a", "count": 1}),
        (["{}"], {}),
        ([], {}),
    ],
)  # fmt: skip
def test_words_become_the_values_that_the_schema_has(words: list[str], arguments: dict[str, Any]) -> None:
    found = read_arguments(words, tool())
    assert found == arguments
    assert json.dumps(found) == json.dumps(arguments)  # 1 and true are equal in Python, and not in JSON


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["txt=a"], "words/say: unknown argument 'txt'; did you mean 'text'?"),
        (["where.cty=a"], "words/say: unknown argument 'where.cty'; did you mean 'city'?"),
        (["count=many"], 'words/say: count: "many" is no integer; expected a whole number such as 5'),
        (["count=5.5"], 'words/say: count: "5.5" is no integer; expected a whole number such as 5'),
        (["share=nan"], 'words/say: share: "nan" is no number; expected a number such as 1.5'),
        (["share=1_000"], 'words/say: share: "1_000" is no number; expected a number such as 1.5'),
        (["loud=maybe"], 'words/say: loud: "maybe" is no boolean; expected true or false'),
        (["maybe=x"], 'words/say: maybe: "x" is no integer or null; expected a whole number such as 5 or null'),
        (["day=wed"], 'words/say: day: "wed" is none of the values that are taken; expected one of "mon", "tue", 1, true, null'),
        (["days=wed"], 'words/say: days: "wed" is no item of the list: it is none of the values that are taken; expected one of "mon", "tue"'),
        (["where=Bern"], """words/say: where: "Bern" is no JSON object; expected a JSON object such as '{"key": "value"}', or key.property=value"""),
        (["count=1", "count=2"], "words/say: 'count' is given twice, and takes one value; give it once"),
        (["text=a", "text.b=c"], "words/say: unknown argument 'text.b'; 'text' is no object"),
        (["free=1", "free.b=c"], "words/say: free: \"1\" is no JSON object; expected a JSON object such as '{\"key\": \"value\"}', or key.property=value"),
        (["hello"], 'words/say: "hello" is no argument; write key=value, key:=json, or all arguments as one JSON object'),
        (["=a"], 'words/say: "=a" is no argument; write key=value, key:=json, or all arguments as one JSON object'),
        (["count:=[1"], "words/say: count: not JSON: expecting ',' delimiter at line 1, column 3; text needs quotes inside of JSON"),
        (["share:=NaN"], "words/say: share: NaN is no JSON; write a number, or null"),
        (['{"text": '], "the arguments: not JSON: expecting value at line 1, column 10; text needs quotes inside of JSON"),
        (["text=@no/where"], "words/say: text: no/where: no such file or directory; write text=@@no/where for the text @no/where"),
    ],
)  # fmt: skip
def test_a_word_that_cannot_be_meant_is_told_with_what_would_be_right(words: list[str], line: str) -> None:
    with pytest.raises(ToolbridgeError) as raised:
        read_arguments(words, tool())
    assert str(raised.value) == line


def test_every_problem_of_the_whole_has_its_path_and_its_rule() -> None:
    with pytest.raises(ArgumentsError) as raised:
        read_arguments(["count=11", "where.floor=1"], tool())
    assert raised.value.problems == (
        "words/say: count: 11 is greater than the maximum of 10. Expected: integer; Maximum: 10",
        "words/say: where.city: is required and is missing. Expected: string",
    )


def test_an_unknown_key_is_a_slip_where_the_schema_lists_its_keys_and_none_where_it_does_not() -> None:
    listing = {"type": "object", "properties": {"path": {"type": "string"}}}
    with pytest.raises(ToolbridgeError, match="did you mean 'path'"):
        read_arguments(["pth=x"], tool(listing))
    assert read_arguments(['{"pth": "x"}'], tool(listing)) == {"pth": "x"}  # JSON is taken at its word
    assert read_arguments(["pth=x"], tool({**listing, "additionalProperties": True})) == {"pth": "x"}
    assert read_arguments(["x-a=5"], tool({**listing, "patternProperties": {"^x-": {"type": "string"}}})) == {
        "x-a": "5"
    }
    assert read_arguments(["any=5"], tool({"type": "object"})) == {"any": 5}
    assert read_arguments(["any=5"], tool(None)) == {"any": 5}


def test_a_file_is_read_as_text_as_json_and_as_base64_where_the_schema_says_so(tmp_path: Path) -> None:
    text, numbers, blob = tmp_path / "a.txt", tmp_path / "b.json", tmp_path / "c.bin"
    text.write_text("5\nGrüße\n", encoding="utf-8")
    numbers.write_text("[1, 2]", encoding="utf-8")
    blob.write_bytes(b"\xff\x00")
    words = [f"text=@{text}", f"numbers=@{numbers}", f"tags:=@{numbers}"]
    with pytest.raises(ArgumentsError, match=r"tags\[0\]"):
        read_arguments(words, tool())
    assert read_arguments([*words[:2], f"data=@{blob}"], tool()) == {
        "text": "5\nGrüße\n",
        "numbers": [1, 2],
        "data": "/wA=",
    }
    with pytest.raises(ToolbridgeError, match="not UTF-8 text"):
        read_arguments([f"text=@{blob}"], tool())


def test_a_hostile_schema_is_no_reason_to_hang_or_to_break() -> None:
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}}
    deep: Any = {"type": "string"}
    for _ in range(5000):
        deep = {"allOf": [deep]}
    for schema in (
        circle,
        {"properties": {"a": circle}, **circle},
        {"properties": {"a": deep}},
        {"patternProperties": {"(": {}}},
    ):
        assert read_arguments(["a=5"], tool(schema))["a"] in (5, "5")


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────


def lines(directory: Path, *content: Any, structured: Any = None) -> list[str]:
    result = ToolResult("", tuple(content), structured)
    return result_lines(result, "words", Shelf(directory, "say"), Paint(None))


def test_structured_content_is_shown_once(tmp_path: Path) -> None:
    value = {"degrees": 21.5, "ok": True}
    pretty = ["{", '  "degrees": 21.5,', '  "ok": true', "}"]
    assert lines(tmp_path, Text('{"ok":true,"degrees":21.5}'), structured=value) == pretty
    assert lines(tmp_path, structured=value) == pretty
    assert lines(tmp_path, Text("It is warm."), structured=value) == ["It is warm.", *pretty]
    assert lines(tmp_path, Text("3"), structured={"result": 3}) == ["3"]
    assert lines(tmp_path, Text("Grüße\nan alle"), structured={"result": "Grüße\nan alle"}) == ["Grüße", "an alle"]
    assert lines(tmp_path, Text("a"), Text("b"), structured={"result": ["a", "b"]}) == ["[", '  "a",', '  "b"', "]"]
    assert lines(tmp_path, Text("1"), Text("2"), structured={"result": [1, 2]}) == ["[", "  1,", "  2", "]"]
    assert lines(tmp_path, Text("other"), structured={"result": "x"}) == ["other", "{", '  "result": "x"', "}"]
    assert lines(tmp_path) == ["(no content)"]
    abyss: list[Any] = []
    for _ in range(100_000):
        abyss = [abyss]
    assert lines(tmp_path, structured=abyss)[0].startswith("[[[[[[")


def test_media_are_saved_under_safe_names_and_never_over_a_file(tmp_path: Path) -> None:
    blocks = (
        Image("aGVsbG8", "image/png"),
        Audio("aGVsbG8=", "audio/mpeg; rate=1"),
        Image("aGVs\nbG8=", "image/x-odd/../.."),
    )
    assert lines(tmp_path, *blocks, blocks[0]) == [
        f"image/png, 5 bytes, saved as {tmp_path}/say.png",
        f"audio/mpeg; rate=1, 5 bytes, saved as {tmp_path}/say.mp3",
        f"image/x-odd/../.., 5 bytes, saved as {tmp_path}/say.bin",
        f"image/png, 5 bytes, saved as {tmp_path}/say-2.png",
    ]
    hostile = [
        "file:///../../.bashrc",
        "x:/%2e%2e%2fetc%2fpasswd",
        "a://b/..",
        "a://b/con.txt",
        "a://b/" + "n" * 300,
        "a:",
        "a://b/\x1b[2J",
    ]
    saved = [
        Path(each.rpartition("saved as ")[2])
        for each in lines(tmp_path, *(Resource(uri, None, blob="aGVsbG8=") for uri in hostile))
    ]
    assert [each.parent for each in saved] == [tmp_path] * len(hostile)
    assert [each.name for each in saved[:4]] == ["bashrc.bin", "etc_passwd.bin", "content.bin", "_con.txt"]
    assert all(each.read_bytes() == b"hello" and len(each.name) < 100 for each in saved)


def test_a_link_that_lies_in_the_way_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    (tmp_path / "say.png").symlink_to(target)
    assert save(b"x", tmp_path, "say", "image/png") == tmp_path / "say-2.png"
    assert not target.exists()


def test_data_that_is_no_base64_and_a_place_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    with pytest.raises(ToolbridgeError, match="no base64"):
        decoded("%%%", "image/png")
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ToolbridgeError, match="--output names another directory"):
        save(b"", file / "inner", "a", None)


def test_sizes_and_names_are_said_as_people_say_them() -> None:
    assert [sized(each) for each in (0, 1, 999, 1000, 12_345, 999_960, 5 * 10**9)] == [
        "0 bytes", "1 byte", "999 bytes", "1.0 kB", "12.3 kB", "1.0 MB", "5.0 GB",
    ]  # fmt: skip
    assert [uri_name(each) for each in ("file:///a/b.txt?x#y", "data:x", "a://b/c/", "memo://1")] == [
        "b.txt",
        "x",
        "c",
        "1",
    ]


# ── progress ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_bar_is_as_wide_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        progress = Progress("words/say", Line(None))
        assert progress.text(3.9) == "⠏ waiting for words/say … 3 s"
        progress.report(1, 4, "读取" * 100)
        assert cells(progress.text(0)) < columns
        assert progress.text(0).startswith(
            "━━━━╸──────────────  25%  读取" if columns == 60 else "━━━━━━━╸──────────────────────  25%  读取"
        )
        progress.report(9, 4, "done")
        assert progress.text(70) == f"{'━' * (19 if columns == 60 else 30)} 100%  done  70 s"
        progress.report(1234567, None, None)
        assert progress.text(0) == "⠋ 1,234,567  words/say  0 s"
        assert cells(waiting_for(["server"] * 100, 3, Paint(None))) < columns


def test_in_a_log_progress_is_told_in_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("words/say", Line(None))
    for i in range(1, 1001):
        progress.report(i, 1000, None)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "words/say: 1/1,000"
    assert told[-1] == "words/say: 1,000/1,000"
    assert 10 <= len(told) <= 14
    quiet = Progress("words/say", Line(None), silent=True)
    quiet.report(1, 2, "a")
    assert capsys.readouterr().err == ""


def test_progress_goes_to_stderr_in_plain_lines_where_there_is_no_terminal_and_nowhere_with_json(
    work: Workplace,
) -> None:
    work.configure(garden=work.garden())
    answer = work("call", "garden", "grow", "steps=3")
    assert (answer.code, answer.out) == (0, "grown\n")
    assert answer.err == "garden/grow: 1/3  leaf 1\ngarden/grow: 2/3  leaf 2\ngarden/grow: 3/3  leaf 3\n"
    silent = work("call", "garden", "grow", "steps=3", "--json")
    assert (silent.code, silent.json["content"], silent.err) == (0, [{"type": "text", "text": "grown"}], "")


def test_on_a_terminal_a_bar_grows_and_is_gone_in_the_end(work: Workplace) -> None:
    work.configure(garden=work.garden())
    terminal = Terminal(work, "call", "garden", "grow", "steps=4", "pause=0.5", NO_COLOR="1")
    terminal.wait_for("━━━━━━━╸──────────────────────  25%  leaf 1")
    terminal.wait_for("━━━━━━━━━━━━━━━━━━━━━━╸───────  75%  leaf 3")
    assert terminal.end() == 0
    assert terminal.screen() == ["grown"]


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_arguments_reach_the_tool_and_its_answer_reaches_stdout(work: Workplace) -> None:
    work.configure(garden=work.garden(), other=work.script("note('started other')"))
    answer = work("call", "garden", "find_plants", "query=12", "limit=5", "in_bloom=yes")
    assert (answer.code, answer.out, answer.err) == (0, "'12' 5 True\n", "")
    words = ["bed.number=3", "colours=red", "colours=blue", "labels.a=1", "note=5", "weight=2"]
    answer = work("call", "garden", "plant", *words)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == json.dumps(answer.json, indent=2) + "\n"
    assert answer.json == {
        "bed": {"number": 3, "name": "bed"},
        "colours": ["red", "blue"],
        "depths": None,
        "labels": {"a": "1"},
        "note": "5",
        "weight": 2.0,
    }
    answer = work("call", "garden", "find_plants", "-", stdin=b'\xef\xbb\xbf{"query": "ab"}')
    assert (answer.code, answer.out) == (0, "'ab' 10 None\n")
    answer = work("call", "garden", "add", '{"a": 1, "b": 2}', "--json")
    assert answer.json == {
        "content": [{"type": "text", "text": "3"}],
        "structuredContent": {"result": 3},
        "isError": False,
    }
    assert not any("other" in each for each in work.noted())  # only the server of the call was started


def test_media_are_saved_where_output_says_and_named(work: Workplace) -> None:
    work.configure(garden=work.garden())
    answer = work("call", "garden", "picture", "--output", "out")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "Here it is:",
        "image/png, 69 bytes, saved as out/picture.png",
        "audio/wav, 4 bytes, saved as out/picture.wav",
        "application/x-seed garden://../../etc/passwd, 4 bytes, saved as out/passwd.bin",
    ]
    assert (work.directory / "out" / "picture.png").read_bytes().startswith(b"\x89PNG")
    inline = work("call", "garden", "picture", "--json").json["content"]
    assert [sorted(each) for each in inline] == [
        ["text", "type"],
        *[["data", "mimeType", "type"]] * 2,
        ["resource", "type"],
    ]
    files = work("call", "garden", "picture", "--json", "--output", "out").json["content"]
    assert files[1] == {"type": "image", "mimeType": "image/png", "file": "out/picture-2.png"}
    assert files[3]["resource"] == {
        "uri": "garden://../../etc/passwd",
        "mimeType": "application/x-seed",
        "file": "out/passwd-2.bin",
    }


def test_a_link_is_named_with_how_to_read_it_and_that_works(work: Workplace) -> None:
    work.configure(garden=work.garden())
    answer = work("call", "garden", "link")
    assert answer.out.splitlines() == [
        "→ plan: garden://plan (text/plain)",
        "  The plan.",
        "  read it with: toolbridge resources garden garden://plan",
    ]
    assert work("resources", "garden", "garden://plan").out == "beds \\x1b[31mand paths\n"


def test_an_error_of_the_tool_goes_to_stderr_and_the_code_is_one(work: Workplace) -> None:
    work.configure(garden=work.garden(), chaos=work.chaos())
    answer = work("call", "garden", "fail", "why=rain")
    assert (answer.code, answer.out, answer.err) == (1, "", "Error executing tool fail: rain, no token\n")
    answer = work("call", "chaos", "content", "kind=error", "--json")
    assert (answer.code, answer.err) == (1, "")
    assert answer.json == {"content": [{"type": "text", "text": "the disk is full"}], "isError": True}


def test_whatever_stands_between_a_call_and_its_answer_is_told_and_the_code_is_one(work: Workplace) -> None:
    work.configure(
        chaos=work.chaos(),
        crash=work.script("sys.exit('the database is not there')"),
        gone={"command": "no-such-program-anywhere"},
    )
    died = work("call", "chaos", "die", "number=3")
    assert (died.code, died.out) == (1, "")
    assert died.err.startswith(
        "toolbridge: The outcome of 'die' on server 'chaos' is unknown: its process exited with code 3"
    )
    late = work("call", "chaos", "hang", "--timeout", "0.5")
    assert (late.code, late.out) == (1, "")
    assert late.err.startswith(
        "toolbridge: The tool 'hang' of server 'chaos' gave no sign of life for 0.5 s and was cancelled"
    )
    refused = work("call", "chaos", "refuse")
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    crash = work("call", "crash", "x")
    assert (crash.code, crash.out) == (1, "")
    assert crash.err.splitlines()[0] == "✗ crash: its process exited with code 1 before the handshake was done"
    assert "    │ the database is not there" in crash.err.splitlines()
    gone = work("call", "gone", "x", "--json")
    assert (gone.code, gone.out) == (1, "")
    assert '→ install it, or give the full path in "command"' in gone.err


def test_a_server_that_was_known_and_is_gone_is_told_as_such(work: Workplace) -> None:
    work.configure(words=work.script("sys.exit('the database is not there')"))
    work.known("words", [{"name": "say", "inputSchema": {"type": "object"}}])
    answer = work("call", "words", "say")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines()[0] == "✗ words: its process exited with code 1 before the handshake was done"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["gardn", "say"], "unknown server 'gardn'; did you mean 'garden'?"),
        (["garden", "sya"], "unknown tool 'sya' of server 'garden'; did you mean 'say'?"),
        (["garden", "zzzzzz"], "unknown tool 'zzzzzz' of server 'garden'; 'toolbridge tools garden --all' lists them"),
        (["garden", "say", "txt=a"], "garden/say: unknown argument 'txt'; did you mean 'text'?"),
        (["garden", "say"], "garden/say: text: is required and is missing. Expected: string"),
        (["garden", "say", "-"], "standard input: empty; expected one JSON object"),
        (["garden", "shout", "text=a"], "tool 'shout' of server 'garden' is kept out by the filter in {}/mcp.json; mend \"include\" or \"exclude\" there to use it"),
        (["off", "say"], "server 'off' is disabled in {}/mcp.json; take it out of there to use it"),
        (["garden"], "call: TOOL is missing: name a tool ('toolbridge tools SERVER' lists them); see toolbridge call --help"),
        ([], "call: SERVER is missing: name a server ('toolbridge tools' lists them); see toolbridge call --help"),
        (["garden", "say", "text=a", "--timeout", "0"], "call: invalid value for '--timeout': 0.0 is not in the range x>0; see toolbridge call --help"),
        (["garden", "say", "text=a", "--output", "mcp.json"], "call: invalid value for '--output': Directory 'mcp.json' is a file; see toolbridge call --help"),
    ],
)  # fmt: skip
def test_misuse_is_told_before_anything_is_started(work: Workplace, arguments: list[str], line: str) -> None:
    work.configure(garden=work.script("note('started')", exclude=["shout"]), off=work.script("", disabled=True))
    say = {
        "name": "say",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }
    work.known("garden", [say])
    answer = work("call", *arguments)
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line.format(work.directory)}\n")
    assert work.noted() == []


def test_a_listing_that_speaks_against_a_call_and_is_not_new_is_made_anew(work: Workplace) -> None:
    work.configure(chaos=work.chaos())
    work.known("chaos", [{"name": "old", "inputSchema": {"type": "object"}}], listed_at=time.time() - 3600)
    answer = work("call", "chaos", "echo", "text=hello")
    assert (answer.code, answer.out, answer.err) == (0, "hello\n", "")
    answer = work("call", "chaos", "ecko", "text=hello")
    assert answer.err == "toolbridge: unknown tool 'ecko' of server 'chaos'; did you mean 'echo'?\n"


def test_a_tool_that_is_hidden_from_models_can_be_called_by_a_person(work: Workplace) -> None:
    work.configure(garden=work.garden())
    assert work("call", "garden", "settle").out == "settled\n"


def test_nothing_a_server_says_can_steer_the_terminal(work: Workplace) -> None:
    work.configure(garden=work.garden(env={"GARDEN_TOKEN": "s3cr3t-t0k3n"}))
    answer = work("call", "garden", "e\x1b[2Jvil")
    text = "red \\x1b[31mtext\r\nand \\u202eback\\x9b2J \\r over, 你好\u3000e\u0301 👩\u200d🌾\u00a0!\n"
    assert answer.code == 0
    assert answer.out == text.replace("\r\n", "\n") or answer.out == text
    said = work("call", "garden", "chat", "--verbose")
    assert (said.code, said.out, said.err) == (0, "done\n", "garden info: watering\\x1b[31m with ***\n")
    assert work("call", "garden", "chat").err == ""


MODERN = CHAOS.with_name("modern_server.py")

# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_questions_of_the_server_are_asked_at_the_terminal(work: Workplace) -> None:
    work.configure(garden=work.garden(protocol="legacy"))
    terminal = Terminal(work, "call", "garden", "book", NO_COLOR="1")
    terminal.wait_for("garden asks:\r\n  Who may come?\r\n  Tell us.\r\n")
    terminal.wait_for("  Who comes.\r\n  name (str): ")
    terminal.type("@Ada\n")
    terminal.wait_for("guests (int) [2]: ")
    terminal.type("9\n")
    terminal.wait_for("answer: 9 is greater than the maximum of 8")
    terminal.wait_for("guests (int) [2]: ")
    terminal.type("\n")
    terminal.wait_for("    1  red\r\n    2  blue\r\n  colour: ")
    terminal.type("2\n")
    terminal.wait_for("tea (bool) [yes]: ")
    terminal.type("no\n")
    terminal.wait_for("remark (str) (may be left out): ")
    terminal.type("\n")
    assert terminal.end() == 0
    assert terminal.screen()[-1] == "accept: Booking(name='@Ada', guests=2, colour='blue', tea=False, remark=None)"


def test_what_a_server_of_the_newest_protocol_needs_in_the_middle_of_a_call_is_asked_too(work: Workplace) -> None:
    work.configure(
        modern={"command": sys.executable, "args": [str(MODERN), str(work.ledger), "stdio"], "inherit": "all"}
    )
    terminal = Terminal(work, "call", "modern", "paint", "thing=door", NO_COLOR="1")
    terminal.wait_for("modern asks:\r\n  Which colour?\r\n")
    terminal.wait_for("colour (str): ")
    terminal.type("blue\n")
    assert terminal.end() == 0
    assert "blue" in terminal.screen()[-1]
    declined = work("call", "modern", "paint", "thing=door")
    assert (declined.code, declined.out) == (1, "")
    assert declined.err.startswith("modern asks: Which colour? (declined: there is no terminal to ask at)\n")


@pytest.mark.parametrize(("typed", "outcome"), [(":decline\n", "decline"), (":cancel\n", "cancel"), ("\x04", "cancel")])
def test_a_question_may_be_declined_or_cancelled(work: Workplace, typed: str, outcome: str) -> None:
    work.configure(garden=work.garden(protocol="legacy"))
    terminal = Terminal(work, "call", "garden", "book", NO_COLOR="1")
    terminal.wait_for("name (str): ")
    terminal.type(typed)
    assert terminal.end() == 0
    assert terminal.screen()[-1] == outcome


def test_an_address_is_shown_and_not_opened(work: Workplace) -> None:
    work.configure(garden=work.garden(protocol="legacy"))
    terminal = Terminal(work, "call", "garden", "visit", NO_COLOR="1")
    terminal.wait_for("  Please look.\r\n  https://garden.example/visit\r\n")
    terminal.wait_for("[y/n] ")
    terminal.type("what\n")
    terminal.wait_for("[y/n] ")
    terminal.type("n\n")
    assert terminal.end() == 0
    assert terminal.screen()[-1] == "decline"


def test_where_nobody_is_at_a_terminal_questions_are_declined_and_stderr_says_so(work: Workplace) -> None:
    work.configure(garden=work.garden(protocol="legacy"))
    answer = work("call", "garden", "book")
    assert (answer.code, answer.out) == (0, "decline\n")
    assert answer.err == "garden asks: Who may come? Tell us. (declined: there is no terminal to ask at)\n"


# ── interrupts ───────────────────────────────────────────────────────────────────────────────────────────────────


def when_the_sdk_is_imported(work: Workplace, line: str) -> None:
    """Have the command do something at that moment."""
    (work.directory / "sitecustomize.py").write_text(
        "import sys, threading, time\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'mcp':\n"
        f"            open({str(work.ledger)!r}, 'a').write('importing\\n')\n"
        f"            {line}\n"
        "sys.meta_path.insert(0, Finder())\n",
        encoding="utf-8",
    )
    places = [str(work.directory), os.environ.get("PYTHONPATH", "")]
    work.environment["PYTHONPATH"] = os.pathsep.join(each for each in places if each)


def test_a_thread_that_hangs_keeps_no_command_from_leaving(work: Workplace) -> None:
    work.configure(chaos=work.chaos(inherit="safe"))
    when_the_sdk_is_imported(work, "threading.Thread(target=time.sleep, args=(50,)).start()")
    with within(25):
        answer = work("call", "chaos", "echo", "text=hello")
    assert (answer.code, answer.out, answer.err) == (0, "hello\n", "")
    assert work.noted() == ["importing"]


def test_an_interrupt_while_the_sdk_is_loaded_leaves_at_once(work: Workplace) -> None:
    work.configure(garden=work.garden())
    when_the_sdk_is_imported(work, "time.sleep(60)")
    process = work.start("call", "garden", "say", "text=a")
    work.wait_for("importing")
    assert interrupt(process) == (130, b"", b"")


def test_an_interrupt_while_the_server_starts_ends_it(work: Workplace) -> None:
    work.configure(deaf=work.script("note('started')\ntime.sleep(600)"))
    for arguments in (("call", "deaf", "x"), ("tools",), ("doctor",), ("resources",), ("prompts", "deaf", "x")):
        process = work.start(*arguments)
        work.wait_for("started")
        assert interrupt(process) == (130, b"", b""), arguments
        work.nothing_left()
        work.ledger.unlink()


def test_an_interrupt_cancels_the_call_at_the_server(work: Workplace) -> None:
    work.configure(garden=work.garden())
    process = work.start("call", "garden", "wait", "seconds=600")
    work.wait_for("began")
    assert interrupt(process) == (130, b"", b"")
    work.nothing_left()
    assert work.noted()[1:] == ["began", "cancelled"]


def test_ctrl_c_on_a_terminal_cancels_the_call_and_leaves_a_clean_screen(work: Workplace) -> None:
    work.configure(garden=work.garden())
    terminal = Terminal(work, "call", "garden", "wait", "seconds=600")
    terminal.wait_for("waiting for")
    work.wait_for("began")
    terminal.type("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.seen
    assert [each for each in terminal.screen() if each != "^C"] == []
    work.nothing_left()
    assert work.noted()[1:] == ["began", "cancelled"]


def test_ctrl_c_at_a_question_leaves_too(work: Workplace) -> None:
    work.configure(garden=work.garden(protocol="legacy"))
    terminal = Terminal(work, "call", "garden", "book", NO_COLOR="1")
    terminal.wait_for("name (str): ")
    terminal.type("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.seen
    work.nothing_left()


def test_an_interrupt_while_a_stubborn_server_is_ended_still_ends_it(work: Workplace) -> None:
    work.configure(chaos=work.chaos("ignore_eof", "ignore_term"))
    process = work.start("call", "chaos", "echo", "text=hello")
    assert process.stdout is not None
    assert process.stdout.readline() == b"hello\n"  # the answer is there, and the server is being ended
    assert interrupt(process) == (130, b"", b"")
    work.nothing_left()


def test_a_second_interrupt_leaves_at_once_and_the_server_is_ended_all_the_same(work: Workplace) -> None:
    work.configure(chaos=work.chaos("ignore_eof", "ignore_term"))
    process = work.start("call", "chaos", "hang")
    wait_until(lambda: len(marked(work.token)) >= 3, "the server and its guardian did not start")
    began = time.monotonic()

    def left() -> bool:
        process.send_signal(signal.SIGINT)  # again and again: Python takes two that come close together for one
        return process.poll() is not None

    wait_until(left, "no interrupt was taken")
    assert time.monotonic() - began < 3  # to end such a server takes four seconds
    assert (process.returncode, *process.communicate()) == (130, b"", b"")
    work.nothing_left()


def test_a_reader_that_went_away_is_met_with_silence_and_the_server_is_ended(work: Workplace) -> None:
    work.configure(chaos=work.chaos())
    source, sink = os.pipe()
    os.close(source)
    for arguments in (("call", "chaos", "echo", "text=hello"), ("tools",), ("doctor",), ("resources",)):
        done = subprocess.run(
            command_line(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.PIPE,
            cwd=work.directory,
            env=surroundings(**work.environment),
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert (done.returncode, done.stderr) == (141, b""), arguments
    os.close(sink)
    work.nothing_left()
