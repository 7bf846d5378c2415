"""`toolbridge doctor`: every mistake, every server, what to fix; most useful when everything is broken."""

from __future__ import annotations

import json
import sys
import time

import pytest

from tests.cli.workplace import Terminal, Workplace
from tests.servers.chaos.tools import TOOLS
from tests.support.processes import within

COUNT = len(TOOLS)
"""Tools of the server that misbehaves."""


def test_when_all_is_well_every_server_has_a_tick_and_the_code_is_zero(work: Workplace) -> None:
    path = work.configure(garden=work.garden(), chaos=work.chaos("tools=1"), off={"command": "x", "disabled": True})
    answer = work("doctor", "--config", path, COLUMNS="100")
    lines = answer.out.splitlines()
    assert (answer.code, answer.err) == (0, "")
    assert lines[0] == f"✓ {path}  3 servers"
    assert lines[2].startswith("✓ garden  15 tools  ")
    assert lines[2].endswith(" s  garden 1.2.3  MCP 2026-07-28")
    assert lines[3].startswith(f"✓ chaos   {COUNT + 1} tools  ")
    assert lines[4] == "– off     disabled"
    assert lines[-1] == f"all is well: 2 servers, {COUNT + 16} tools"


def test_every_way_to_be_broken_is_told_with_what_to_do(work: Workplace) -> None:
    work.configure(
        typo={"comand": "x"},
        unset={"command": "x", "env": {"KEY": "${NOT_SET_ANYWHERE}"}},
        crash=work.script("sys.exit('the database is not there')"),
        gone={"command": "no-such-program-anywhere"},
        deaf=work.script("time.sleep(600)", timeout={"connect": 1}),
        noisy=work.chaos("banner=Welcome"),
        web={"url": "http://127.0.0.1:9/mcp"},
        well=work.chaos(),
    )
    answer = work("doctor", "--config", "mcp.json", COLUMNS="100")
    assert (answer.code, answer.err) == (1, "")
    out = answer.out
    lines = out.splitlines()
    assert lines[0].startswith("✗ mcp.json  6 servers, ")
    assert "  ✗ server 'typo': comand: unknown key; did you mean 'command'?" in lines
    assert "  ✗ server 'unset': env.KEY: the variable NOT_SET_ANYWHERE is not set;" in out
    assert "✗ crash  its process exited with code 1 before the handshake was done" in lines
    assert "    │ the database is not there" in lines
    assert "✗ gone   there is no command no-such-program-anywhere" in out
    assert "✗ deaf   it did not finish the handshake within 1 s" in lines
    assert "✗ web    nothing listens at its address (connection refused)" in lines
    assert '  → start the server, or mend "url"' in lines
    assert any(line.startswith(f"! noisy  {COUNT} tools") for line in lines)
    assert "  ! it prints on stdout what is no JSON-RPC (a line, first: 'Welcome')" in lines
    assert any(line.startswith(f"✓ well   {COUNT} tools") for line in lines)
    assert lines[-1].endswith("in the configuration, 4 of 6 servers do not work, 1 server with warnings")


def test_the_servers_are_reached_all_at_once_and_anew_whatever_is_known_of_them(work: Workplace) -> None:
    work.configure(
        **{f"slow-{i}": work.chaos("delay=2") for i in range(6)}, known=work.script("note('started')\nsys.exit(3)")
    )
    work.known("known", [{"name": "say", "inputSchema": {"type": "object"}}])
    with within(11):
        answer = work("doctor", "--json")
    assert answer.code == 1
    assert work.noted() == ["started"] * len(work.noted())
    assert work.noted()
    servers = answer.json["servers"]
    assert [servers[f"slow-{i}"]["ok"] for i in range(6)] == [True] * 6
    assert all(servers[f"slow-{i}"]["seconds"] >= 2 for i in range(6))
    assert servers["known"]["failure"]["exit_code"] == 3


def test_json_says_it_all_for_programs(work: Workplace) -> None:
    path = work.configure(typo={"comand": "x"}, chaos=work.chaos(), gone={"command": "no-such-program-anywhere"})
    answer = work("doctor", "--config", path, "--json")
    assert (answer.code, answer.err) == (1, "")
    document = answer.json
    assert document["ok"] is False
    assert [each["path"] for each in document["files"]] == [str(path)]
    assert any("comand" in each for each in document["files"][0]["problems"])
    chaos = document["servers"]["chaos"]
    assert 0 < chaos.pop("seconds") < 60
    assert chaos.pop("program") == sys.executable
    assert chaos == {
        "ok": True,
        "state": "connected",
        "name": "chaos",
        "version": "1.0",
        "protocol": "2025-11-25",
        "tools": COUNT,
        "warnings": [],
        "failure": None,
    }
    assert document["servers"]["gone"]["ok"] is False
    assert document["servers"]["gone"]["failure"]["cause"] == "not_found"


def test_only_the_named_servers_are_checked(work: Workplace) -> None:
    work.configure(typo={"comand": "x"}, chaos=work.chaos(), other=work.script("note('started')"))
    answer = work("doctor", "chaos", COLUMNS="80")
    assert answer.code == 1  # the file has a mistake
    assert "✓ chaos" in answer.out
    assert "other" not in answer.out
    assert work.noted() == []
    broken = work("doctor", "typo", COLUMNS="80")
    assert (broken.code, broken.err) == (1, "")
    assert "server 'typo': comand: unknown key" in broken.out
    unknown = work("doctor", "chaso")
    assert (unknown.code, unknown.out, unknown.err) == (
        2,
        "",
        "toolbridge: unknown server 'chaso'; did you mean 'chaos'?\n",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {"a": {"command": "x",}', "not valid JSON at line 1, column"),
        ("", "the file is empty"),
        ("[]", "no server to check"),
        ('{"tools": []}', "expected"),
    ],
)
def test_a_file_that_is_none_is_told_and_no_traceback(work: Workplace, text: str, words: str) -> None:
    (work.directory / "mcp.json").write_text(text, encoding="utf-8")
    answer = work("doctor", COLUMNS="100")
    assert (answer.code, answer.err) == (1, "")
    assert words in answer.out
    missing = work("doctor", "--config", "nowhere.json")
    assert (missing.code, missing.err) == (1, "")
    assert missing.out.splitlines()[:2] == ["✗ nowhere.json  0 servers, 1 mistake", "  ✗ no such file"]


def test_on_a_terminal_it_says_who_is_still_being_waited_for(work: Workplace) -> None:
    work.configure(quick=work.chaos(), slow=work.chaos("delay=3"))
    began = time.monotonic()
    terminal = Terminal(work, "doctor", NO_COLOR="1")
    terminal.wait_for("waiting for slow …")
    assert terminal.end() == 0
    assert time.monotonic() - began < 30
    assert terminal.screen()[-1] == f"all is well: 2 servers, {2 * COUNT} tools"


def test_an_answer_of_vs_code_is_asked_for_at_the_terminal_and_a_secret_is_not_echoed(work: Workplace) -> None:
    ask = "import os\nnote(os.environ['WHO'] + ' ' + os.environ['KEY'])\nsys.exit(1)"
    document = {
        "servers": {"a": work.script(ask, env={"WHO": "${input:who}", "KEY": "${input:key}"})},
        "inputs": [
            {
                "id": "who",
                "type": "pickString",
                "description": "Who are you?",
                "options": ["Ada", "Bob"],
                "default": "Ada",
            },
            {"id": "key", "type": "promptString", "description": "The key", "password": True},
        ],
    }
    (work.directory / "mcp.json").write_text(json.dumps(document), encoding="utf-8")
    terminal = Terminal(work, "doctor", NO_COLOR="1")
    terminal.wait_for("  1  Ada\r\n  2  Bob\r\nWho are you? [Ada]: ")
    terminal.type("2\n")
    terminal.wait_for("The key: ")
    terminal.type("open-sesame\n")
    assert terminal.end() == 1
    assert "open-sesame" not in terminal.seen
    assert work.noted()[0] == "Bob open-sesame"
    silent = work("doctor")
    assert silent.code == 1
    assert "the input 'key' has no answer" in silent.out
