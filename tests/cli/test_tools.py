"""`toolbridge tools`: a table of what the servers offer, instant when it is known, and honest when a server is not there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.cli.process import EXAMPLE, LIMIT_SECONDS, surroundings
from tests.cli.workplace import SECRET, Terminal, Workplace
from toolbridge.cli.paragraph import first_sentence, folded, harmless
from toolbridge.cli.signature import parameters
from toolbridge.cli.terminal import cells
from toolbridge.cli.toolbook import marks
from toolbridge.prepare import prepare
from toolbridge.tools import read_tools
from toolbridge.types import ToolHints

TABLE = """\
garden  1.2.3                                                    14 tools, 1 hidden, listed just now
  R··  find_plants  query: str, limit?: int,              Find plants by name.
                    in_bloom?: bool
  DIo  plant        bed: object,                          Plant something in a bed.
                    colours?: list["red" | "blue"],
                    depths?: list[int],
                    labels?: map[str], note?: str | int,
                    weight?: float
  A·o  add          a: int, b: int                        Add two numbers.
  d·o  say          text: str                             Say a text as it is.
  d·o  fail         why: str                              Fail.
  d·o  picture      count?: int                           Draw pictures.
  d·o  link         –                                     Name a resource.
  d·o  grow         steps?: int, pause?: float,           Grow slowly, and say how far it is.
                    total?: bool
  d·o  wait         seconds: float                        Wait.
  d·o  book         –                                     Ask for a booking.
  d·o  visit        –                                     Ask to open an address.
  d·o  chat         –                                     Write a log.
  d·o  secrets      –                                     Tell what it was given.
  d·o  e\\x1b[2Jvil  –                                     A des\\x1b]0;title\\x07cription\\u202e.

R read-only   D destructive   A adds only   I idempotent
not stated, so assumed: d destructive, o open world
"""

SAY: dict[str, Any] = {
    "name": "say",
    "description": "Says a word.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}
PRIVATE: dict[str, Any] = {**SAY, "name": "whisper", "_meta": {"openai/visibility": "private"}}


def test_the_table_has_servers_hints_parameters_and_sentences_and_the_second_one_starts_nothing(
    work: Workplace,
) -> None:
    work.configure(garden=work.garden())
    first = work("tools", COLUMNS="100")
    assert (first.code, first.out, first.err) == (0, TABLE, "")
    assert work("tools", COLUMNS="100") == first
    assert [each.split()[0] for each in work.noted()] == ["started"]
    again = work("tools", "--refresh", COLUMNS="100")
    assert again == first
    assert [each.split()[0] for each in work.noted()] == ["started", "started"]


def test_a_warm_listing_of_thirty_servers_loads_no_sdk_and_starts_no_process(work: Workplace) -> None:
    servers = {f"server-{i}": work.script(f"note('started {i}')") for i in range(30)}
    work.configure(**servers)
    for name in servers:
        work.known(name, [{**SAY, "name": f"say_{i}"} for i in range(10)], server_name="words", server_version="2.0")
    program = (
        "import os, subprocess, sys\n"
        "def forbidden(*arguments, **options):\n"
        "    raise AssertionError('a process was started')\n"
        "subprocess.Popen = os.fork = os.posix_spawn = forbidden\n"
        "from toolbridge.cli import main\n"
        "try:\n    main(['tools'])\n"
        "except SystemExit as leaving:\n"
        "    assert not leaving.code\n"
        "print('\\nloaded:', *sys.modules)\n"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        cwd=work.directory,
        env=surroundings(**work.environment),
        timeout=LIMIT_SECONDS,
        check=True,
    )
    took = time.monotonic() - began
    text, _, modules = done.stdout.decode("utf-8").rpartition("loaded: ")
    assert text.count("say_") == 300
    assert "server-29  words 2.0" in text
    loaded = {each.partition(".")[0] for each in modules.split()}
    heavy = {"mcp", "mcp_types", "httpx2", "pydantic", "pydantic_core", "anyio", "asyncio", "ssl", "socket", "logging"}
    assert loaded & heavy == set()
    assert "toolbridge.servers.hub" not in modules.split()
    assert work.noted() == []
    assert took < 5  # it is a tenth of a second on a quiet machine, and seconds where the SDK is loaded


def test_only_the_servers_that_are_not_known_are_started(work: Workplace) -> None:
    work.configure(known=work.script("note('started')"), chaos=work.chaos())
    work.known("known", [SAY])
    answer = work("tools", "--json")
    assert answer.code == 0
    found = answer.json["servers"]
    assert {name: each["state"] for name, each in found.items()} == {"known": "idle", "chaos": "connected"}
    assert work.noted() == []


def test_what_was_listed_long_ago_says_so(work: Workplace) -> None:
    work.configure(words=work.script("note('started')"))
    for seconds, words in ((30, "just now"), (61, "1 minute ago"), (7300, "2 hours ago"), (86000, "23 hours ago")):
        work.known("words", [SAY], listed_at=time.time() - seconds)
        assert work("tools", COLUMNS="80").out.splitlines()[0].endswith(f"1 tool, listed {words}")


@pytest.mark.parametrize("columns", [60, 72, 80, 100, 140])
def test_the_table_fits_any_terminal_whatever_the_alphabet(work: Workplace, columns: int) -> None:
    work.configure(words=work.script("note('started')"))
    properties = {f"parameter_{i}": {"type": "array", "items": {"enum": ["北京", "上海", "广州"]}} for i in range(5)}
    tools = [
        {
            "name": "天气",
            "description": "查询指定城市的实时天气情况并返回温度湿度风力以及未来七天的天气预报和出行建议," * 3,
            "inputSchema": {"type": "object", "properties": properties},
        },
        {**SAY, "name": "a_name_that_is_far_too_long_for_a_column_of_a_table", "description": "x" * 300},
    ]
    work.known("words", tools)
    answer = work("tools", COLUMNS=str(columns))
    lines = answer.out.splitlines()
    assert answer.code == 0
    assert [line for line in lines if cells(line) > columns] == []
    assert any(line.endswith("a_name_that_is_far_too_long_for_a_column_of_a_table") for line in lines)  # never cut
    assert "天气" in lines[1]


def test_a_server_that_fails_is_named_with_the_reason_and_the_fix_and_the_others_are_listed(work: Workplace) -> None:
    work.configure(
        crash=work.script("sys.exit('the database is not there')"),
        gone={"command": "no-such-program-anywhere"},
        chaos=work.chaos(),
    )
    answer = work("tools", COLUMNS="100")
    assert answer.code == 1
    assert answer.out.startswith("chaos  1.0 ")
    assert "crash" not in answer.out
    lines = answer.err.splitlines()
    assert lines[0] == "✗ crash: its process exited with code 1 before the handshake was done"
    assert "    │ the database is not there" in lines
    assert "  → run the command by hand and see what it says" in lines
    assert any(line.startswith("✗ gone: there is no command no-such-program-anywhere") for line in lines)
    assert '  → install it, or give the full path in "command"' in lines


def test_json_has_the_tools_as_the_server_lists_them_and_what_failed(work: Workplace) -> None:
    work.configure(
        words=work.script(""), gone={"command": "no-such-program-anywhere"}, off={"command": "x", "disabled": True}
    )
    title = {**PRIVATE, "title": "Whisper", "annotations": {"readOnlyHint": True}, "outputSchema": {"type": "object"}}
    work.known(
        "words", [SAY, title], server_name="words", server_version="2", protocol="2025-11-25", listed_at=time.time()
    )
    answer = work("tools", "--json")
    servers = answer.json["servers"]
    assert answer.code == 1
    assert list(servers) == ["words", "gone", "off"]
    assert servers["words"].pop("listed_at") <= time.time()
    assert servers["words"] == {
        "state": "idle",
        "name": "words",
        "version": "2",
        "protocol": "2025-11-25",
        "failure": None,
        "warnings": [],
        "tools": [
            {
                "name": "say",
                "title": None,
                "description": "Says a word.",
                "inputSchema": SAY["inputSchema"],
                "outputSchema": None,
                "annotations": {},
                "hidden": False,
            },
            {
                "name": "whisper",
                "title": "Whisper",
                "description": "Says a word.",
                "inputSchema": SAY["inputSchema"],
                "outputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
                "hidden": True,
            },
        ],
    }
    assert servers["gone"]["state"] == "failed"
    assert servers["gone"]["tools"] == []
    assert servers["gone"]["failure"]["cause"] == "not_found"
    assert servers["gone"]["failure"]["fix"] == 'install it, or give the full path in "command"'
    assert servers["off"]["state"] == "disabled"


def test_to_writes_the_definitions_that_prepare_makes_of_what_models_may_see(work: Workplace) -> None:
    work.configure(a=work.script(""), b=work.script(" "))
    tools = json.loads(EXAMPLE.read_text(encoding="utf-8"))["tools"]
    work.known("a", [SAY, PRIVATE])
    work.known("b", tools)
    everything = [*read_tools([SAY, PRIVATE], "a"), *read_tools(tools, "b")]
    seen = [each for each in everything if each.id.name != "whisper"]
    for provider in ("openai-chat", "anthropic", "gemini"):
        answer = work("tools", "--to", provider)
        assert (answer.code, answer.json) == (0, prepare(seen, provider).definitions)
        assert answer.err.splitlines()[0].startswith("9 tools, ")
        assert "--explain" not in answer.err
    every = work("tools", "--to", "anthropic", "--all")
    assert (every.code, every.json) == (0, prepare(seen, "anthropic").definitions)
    assert every.err == "10 tools, 3 changed, 1 private and not for models\n"
    assert [each["name"] for each in work("tools", "a", "--to", "anthropic").json] == ["mcp__a__say"]


def test_a_tool_that_the_provider_cannot_be_given_is_named_and_the_code_is_one(work: Workplace) -> None:
    work.configure(words=work.script(""))
    work.known("words", [SAY, {"name": "shout", "inputSchema": {"type": "string"}}])
    answer = work("tools", "--to", "mistral")
    assert (answer.code, [each["function"]["name"] for each in answer.json]) == (1, ["mcp__words__say"])
    why = 'its input schema describes "string", and MCP arguments are always an object'
    assert answer.err.splitlines() == ["2 tools, 1 left out", f"left out: words/shout: {why}"]


def test_all_shows_the_tools_that_are_hidden_from_models(work: Workplace) -> None:
    work.configure(words=work.script(""))
    work.known("words", [SAY, PRIVATE])
    usual, every = work("tools", COLUMNS="80"), work("tools", "--all", COLUMNS="80")
    assert usual.out.splitlines()[0].endswith("1 tool, 1 hidden, listed just now")
    assert "whisper" not in usual.out
    assert every.out.splitlines()[0].endswith("2 tools, listed just now")
    assert every.out.splitlines()[2] == "  H·o  whisper  word: str  Says a word."
    assert "H hidden from models" in every.out


def test_the_filter_of_the_configuration_holds(work: Workplace) -> None:
    work.configure(words=work.script("", include=["say*"], exclude=["*_loud"]))
    work.known("words", [SAY, {**SAY, "name": "say_loud"}, {**SAY, "name": "sing"}])
    assert [each["name"] for each in work("tools", "--json").json["servers"]["words"]["tools"]] == ["say"]


def test_schema_shows_each_parameter_with_its_type_default_and_description(work: Workplace) -> None:
    work.configure(words=work.script(""))
    nested = {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "A city"}},
        "required": ["city"],
    }
    schema = {
        "type": "object",
        "properties": {
            "when": {"$ref": "#/$defs/Day"},
            "where": nested,
            "how": {"type": "integer", "default": 3, "description": "How often."},
        },
        "required": ["where"],
        "$defs": {"Day": {"enum": ["mon", "tue", "wed", "thu", "fri"], "description": "The day"}},
    }
    work.known("words", [{"name": "plan", "description": "Plans a day.\n\nIn full.", "inputSchema": schema}])
    assert work("tools", "--schema", COLUMNS="80").out.splitlines()[1:-2] == [
        "",
        "  d·o  plan",
        "       Plans a day.",
        "",
        "       In full.",
        "",
        "       where: object",
        "       where.city: str",
        "           A city.",
        '       when?: "mon" | "tue" | "wed" | "thu" | …',
        '           The day. One of: "mon", "tue", "wed", "thu", "fri".',
        "       how?: int",
        "           How often. Default: 3.",
    ]


@pytest.mark.parametrize(
    ("hints", "letters"),
    [
        (ToolHints(), "d·o"),
        (ToolHints(read_only_hint=True), "R·o"),
        (ToolHints(read_only_hint=True, destructive_hint=True, idempotent_hint=True, open_world_hint=False), "R··"),
        (ToolHints(read_only_hint=False), "d·o"),
        (ToolHints(destructive_hint=True, open_world_hint=True), "D·O"),
        (ToolHints(destructive_hint=False, idempotent_hint=True, open_world_hint=False), "AI·"),
        (ToolHints(idempotent_hint=False), "d·o"),
    ],
)
def test_a_claim_is_a_capital_and_what_is_assumed_without_one_is_small(hints: ToolHints, letters: str) -> None:
    assert marks(hints) == letters


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "required": ["a"]}, "a: str, b?: int"),
        ({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}, "a: str | null"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, "a?: str"),
        ({"properties": {"a": {}, "b": True}}, "a?, b?"),
        ({"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "number"}]}}}, "a?: float"),
        ({"properties": {"a": {"const": 1}, "b": {"enum": [1, "x", None]}}}, 'a?: 1, b?: 1 | "x"'),
        ({"properties": {"a": {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}}}, "a?: list[list[bool]]"),
        ({"properties": {"a": {"type": "object", "additionalProperties": {"type": "number"}}}}, "a?: map[float]"),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}, "a?"),
        ({"allOf": [{"properties": {"a": {}}, "required": ["a"]}], "oneOf": [{"properties": {"b": {}}, "required": ["b"]}, {}]}, "a, b?"),
        (None, ""),
        (True, ""),
        ({"type": "object", "properties": 7, "required": "a"}, ""),
    ],
)  # fmt: skip
def test_a_signature_is_read_from_any_schema(schema: Any, text: str) -> None:
    assert ", ".join(map(str, parameters(schema))) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("Reads e.g. a file. Two.", "Reads e.g. a file."),
        ("Takes v1.2 of it. Two", "Takes v1.2 of it."),
        ("One line\nof two.\n\nMore.", "One line of two."),
        ("No stop\n\nMore", "No stop"),
        ("A list:\n- a\n- b", "A list:"),
        ("查询天气。返回温度。", "查询天气。"),
        ("  \n ", ""),
    ],
)
def test_the_first_sentence_is_found(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_lines_are_folded_at_words_at_ideographs_and_in_words_that_are_too_long() -> None:
    assert folded("one two three", 8) == ["one two", "three"]
    assert folded("天气预报情况", 6) == ["天气预", "报情况"]
    assert folded("see https://example.com/path", 12) == ["see https://", "example.com/", "path"]
    assert folded("one two three four", 8, 2) == ["one two", "three…"]
    assert folded("", 8) == []


def test_long_text_keeps_its_letters_and_loses_what_could_steer_the_terminal() -> None:
    text = "a\tb\r\nc\rd\x1b[31m\x9b2J\u202e\u2066\u200e你好\u3000e\u0301👩\u200d🌾\u00a0\ufeff\ud83d\U000e0041"
    assert harmless(text) == (
        "a\tb\r\nc\\rd\\x1b[31m\\x9b2J\\u202e\\u2066\\u200e你好\u3000e\u0301👩\u200d🌾\u00a0\ufeff\\ud83d\\U000e0041"
    )


def test_on_a_terminal_it_says_who_is_being_waited_for_and_takes_that_away_again(work: Workplace) -> None:
    work.configure(quick=work.chaos(), slow=work.chaos("delay=2"))
    terminal = Terminal(work, "tools", columns=100)
    terminal.wait_for("waiting for slow")
    assert terminal.end() == 0
    screen = terminal.screen()
    assert screen[0].startswith("quick  chaos 1.0")
    assert not any("waiting" in line for line in screen)
    assert "\x1b[1mquick\x1b[0m" in terminal.seen
    work.nothing_left()


def test_the_servers_of_other_clients_are_found_the_project_before_the_user(work: Workplace) -> None:
    home = work.directory / "home" / ".cursor"
    home.mkdir()
    user = {"mine": work.chaos(), "both": {"command": "no-such-program-anywhere"}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": user}), encoding="utf-8")
    project = work.directory / ".cursor"
    project.mkdir()
    (project / "mcp.json").write_text(json.dumps({"mcpServers": {"both": work.chaos("tools=1")}}), encoding="utf-8")
    answer = work("tools", "--from", "cursor", "--json")
    assert answer.code == 0
    assert list(answer.json["servers"]) == ["both", "mine"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("tools wrds", "unknown server 'wrds'; did you mean 'words'?"),
        ("tools zzzzz", "unknown server 'zzzzz'; the servers are words"),
        ("tools --to antropic", "unknown provider 'antropic'; did you mean 'anthropic'?"),
        ("tools --to gemini --json", "--to and --json are two forms of JSON; give one of them"),
        ("tools --config mcp.json --from cursor", "--config and --from both name servers; give one of them"),
        ("tools --config nowhere.json", "nowhere.json: no such file"),
        ("tools --config empty.json", 'empty.json: lists no servers; add one under "mcpServers"'),
        ("tools --rfresh", "tools: unknown option --rfresh; did you mean --refresh?"),
    ],
)
def test_misuse_is_one_line_and_starts_nothing(work: Workplace, arguments: str, line: str) -> None:
    work.configure(words=work.script("note('started')"))
    (work.directory / "empty.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    answer = work(*arguments.split())
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")
    assert work.noted() == []


def test_every_mistake_of_the_configuration_has_a_line_with_file_server_and_field(work: Workplace) -> None:
    work.configure(a={"comand": "x"}, b={"command": "x", "env": {"KEY": "${NOT_SET_ANYWHERE}"}}, c=work.chaos())
    answer = work("tools", "a", "b", "--config", "mcp.json")
    assert (answer.code, answer.out) == (2, "")
    lines = answer.err.splitlines()
    assert lines[0] == "toolbridge: mcp.json: server 'a': comand: unknown key; did you mean 'command'?"
    assert lines[-1].startswith("toolbridge: mcp.json: server 'b': env.KEY: the variable NOT_SET_ANYWHERE is not set; ")


def test_a_server_with_a_mistake_costs_only_itself(work: Workplace) -> None:
    work.configure(b={"command": "x", "env": {"KEY": "${NOT_SET_ANYWHERE}"}}, c=work.chaos())
    answer = work("tools", "--config", "mcp.json", COLUMNS="200")
    assert (answer.code, answer.out.splitlines()[0].split()[0]) == (1, "c")
    assert "b: mcp.json: env.KEY: the variable NOT_SET_ANYWHERE is not set; " in answer.err


def test_without_a_configuration_it_says_how_to_name_one(work: Workplace) -> None:
    answer = work("tools")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "--config" in answer.err
    assert "--from" in answer.err


def test_a_disabled_server_is_named_and_not_started(work: Workplace) -> None:
    work.configure(words=work.script(""), off=work.script("note('started')", disabled=True))
    work.known("words", [SAY])
    answer = work("tools", COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    assert "disabled: off" in answer.out.splitlines()
    assert work.noted() == []


def test_a_secret_is_in_no_output_of_any_command(work: Workplace) -> None:
    leak = "import os\nprint('using', os.environ['TOKEN'], file=sys.stderr)\nprint('token', os.environ['TOKEN'], flush=True)\nsys.exit(os.environ['TOKEN'])"
    work.configure(
        leak=work.script(leak, env={"TOKEN": SECRET}),
        argument={"command": "no-such-program-anywhere", "args": ["--token", SECRET]},
        web={
            "url": f"http://user:{SECRET}@127.0.0.1:9/mcp?key={SECRET}",
            "headers": {"Authorization": f"Bearer {SECRET}"},
        },
        garden=work.garden(env={"GARDEN_TOKEN": SECRET}),
    )
    for arguments in (
        ("tools",), ("tools", "--json"), ("tools", "--to", "anthropic"), ("doctor",), ("doctor", "--json"),
        ("resources",), ("prompts", "--json"),
        ("call", "leak", "x"), ("call", "web", "x"), ("call", "argument", "x", "--json"),
        ("call", "garden", "fail", "why=not"), ("call", "garden", "fail", "why=not", "--json"),
        ("call", "garden", "chat", "--verbose"),
    ):  # fmt: skip
        answer = work(*arguments)
        assert SECRET not in answer.out + answer.err, arguments
    assert work("call", "garden", "secrets").out == f"{len(SECRET)}\n"  # and the server has it all the same
    cached = b"".join(each.read_bytes() for each in (work.directory / "cache").iterdir())
    assert SECRET.encode() not in cached
