"""The SOURCE of a command: files, pipes, configurations, addresses and commands, and what is said where there is none."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import click
import pytest

from tests.cli.process import EXAMPLE
from tests.cli.workplace import CHAOS, GARDEN, SECRET, Workplace
from toolbridge.cli import surfaces
from toolbridge.cli.surfaces import Source, SurfaceCommand, given_command, read_surface, surface_arguments
from toolbridge.errors import ConfigError, SourceError, ToolbridgeError, UnknownServerError
from toolbridge.servers.hub import Hub
from toolbridge.tools import read_tools

TOOLS = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}


@pytest.fixture
def here(work: Workplace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workplace]:
    """The workplace, and we are in it."""
    for key, value in work.environment.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(work.directory)
    yield work
    work.nothing_left()


def ids(source: Source) -> list[str]:
    return [str(each.id) for each in source.tools]


def put(work: Workplace, name: str, document: Any) -> str:
    path = work.directory / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return name


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_file_of_tools_is_read_with_its_text() -> None:
    source = read_surface(str(EXAMPLE))
    assert (source.label, source.kind, source.path) == (str(EXAMPLE), "file", str(EXAMPLE))
    assert source.text == EXAMPLE.read_text(encoding="utf-8")
    assert source.tools == tuple(read_tools(EXAMPLE))
    assert [(each.name, each.failure, each.spec) for each in source.served] == [("", None, None)]


def test_the_tools_of_a_file_have_the_server_that_is_named() -> None:
    source = read_surface(str(EXAMPLE), server="garden")
    assert source.served[0].name == "garden"
    assert ids(source)[0] == "garden/find_plants"


def test_a_name_in_any_script_and_a_file_in_utf_16_are_read(here: Workplace) -> None:
    path = here.directory / "wörter ツール.json"
    path.write_bytes(json.dumps([{"name": "grüße"}], ensure_ascii=False).encode("utf-16"))
    source = read_surface(path.name)
    assert (ids(source), source.text) == (["grüße"], '[{"name": "grüße"}]')


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "no tool: it has no schema"),
        ({"name": "left-pad", "version": "1.3.0", "description": "Pads.", "scripts": {}}, "no tool: it has no schema, only name, version, description, scripts"),
        ({"name": "search"}, "no tool: it has no schema, only name"),
        ([{"name": "Alice", "age": 3}, {"name": "Bob"}, 4], "no tools: no entry has a schema or a description"),
        ('{"name": "Alice", "age": 3}\n{"name": "Bob"}\n', "no tools: no entry has a schema or a description"),
    ],
)  # fmt: skip
def test_what_is_no_tool_list_is_refused(here: Workplace, document: Any, said: str) -> None:
    put(here, "thing.json", document)
    with pytest.raises(SourceError) as raised:
        read_surface("thing.json")
    assert str(raised.value) == f"thing.json: {said}; expected a tools/list answer or a list of tools"
    assert len(read_tools(document)) >= 1  # the library takes them as they are


@pytest.mark.parametrize(
    "document",
    [
        {"name": "search", "inputSchema": {}},
        {"function": {"name": "search", "parameters": {}}},
        {"tools": [{"name": "search"}]},
        {"result": {"tools": [{}, 3]}},
        {"tools": []},
        [],
        [{"name": "search", "schema": {}}],
        [{"name": "a"}, {"name": "b", "description": "Finds."}],
        [{"name": "a"}, {"type": "function", "function": {"name": "b", "description": "Finds."}}],
        [{"name": "search_v2", "annotations": {"readOnly": True}}],
        [{"name": "search_v2"}, {}],
        [{"tools": [{"name": "a"}]}],
    ],
)
def test_broken_tools_of_a_tool_list_are_kept(here: Workplace, document: Any) -> None:
    assert read_surface(put(here, "thing.json", document)).tools == tuple(read_tools(document))


def test_a_pipe_is_read_once(here: Workplace) -> None:
    reader, writer = os.pipe()
    os.write(writer, json.dumps(TOOLS).encode())
    os.close(writer)
    with contextlib.closing(os.fdopen(reader)):
        assert ids(read_surface(f"/dev/fd/{reader}")) == ["a"]


def test_standard_input_is_a_file_without_a_path(work: Workplace) -> None:
    answer = work("lint", "-", "--select", "name.missing", "--json", stdin=json.dumps(TOOLS).encode())
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("x.json", "", "x.json: not JSON: expecting value at line 1, column 1; expected a tools/list answer or a list of tools, as JSON"),
        ("x.json", "{", "x.json: not JSON: expecting property name enclosed in double quotes at line 1, column 2; expected a tools/list answer or a list of tools, as JSON"),
        ("x.json", [1], "x.json: not a list of tools: its first item is a number; expected a tools/list answer or a list of tools, as JSON"),
        ("x.json", {"a": 1}, 'x.json: no "tools" in it, only a; expected a tools/list answer or a list'),
        ("x.json", {"tools": {"servers": {}}}, 'x.json: "tools" is an object; expected a list of tools'),
    ],
)  # fmt: skip
def test_a_file_that_is_no_tool_list_says_so(here: Workplace, name: str, content: Any, line: str) -> None:
    put(here, name, content)
    with pytest.raises(SourceError) as raised:
        read_surface(name)
    assert str(raised.value) == line


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("zzz", "zzz: no such file; give a file of tools or an mcp.json, or - for standard input"),
        ("tool.json", "tool.json: no such file; did you mean tools.json?"),
        ("home", "home: a directory; give a file of tools or an mcp.json, or - for standard input"),
        ("", "'': a directory; give a file of tools or an mcp.json, or - for standard input"),
        ("C:\\beds\\a b.jsn", "C:\\beds\\a b.jsn: no such file; give a file of tools or an mcp.json, or - for standard input"),
        ("http://", "http://: no address; expected one such as https://host/mcp"),
        ("https://[::1", "https://[::1: no address; expected one such as https://host/mcp"),
    ],
)  # fmt: skip
def test_a_source_that_is_not_there_says_what_would_be_one(here: Workplace, source: str, line: str) -> None:
    put(here, "tools.json", TOOLS)
    with pytest.raises(SourceError) as raised:
        read_surface(source)
    assert str(raised.value) == line


def test_a_name_with_a_nul_is_no_file(here: Workplace) -> None:
    with pytest.raises(SourceError, match="give a file of tools"):
        read_surface("a\0b")


def test_only_one_source_can_be_meant(here: Workplace) -> None:
    for source, command, client in (("a", ["b"], None), ("a", [], "claude"), (None, ["b"], "claude")):
        with pytest.raises(click.UsageError, match="give one of them"):
            read_surface(source, command, client=client)


# -- configurations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "is_config"),
    [
        ({"mcpServers": {}}, True),
        ({"servers": {"a": {"command": "x"}}, "inputs": []}, True),
        ({"mcp": {"servers": {}}}, True),
        ({"context_servers": {}}, True),
        ({"a": {"command": "x"}, "b": {"url": "https://h"}}, True),
        ({"command": "x"}, True),
        ('// mine\n{"mcpServers": {},}', True),
        ('{"mcpServers": {', True),
        (TOOLS, False),
        ({"tools": [], "servers": []}, False),
        ({"tools": [{"name": "a", "inputSchema": {"properties": {"url": {}, "mcpServers": {}, "command": {}}}}]}, False),
        ({"name": "a", "command": "x", "inputSchema": {}}, False),
        ([{"name": "a", "description": "mcpServers", "url": "b"}], False),
        ({"result": TOOLS}, False),
        ('{"tools": [{"name": "servers",', False),
        ("", False),
    ],
)  # fmt: skip
def test_a_configuration_is_told_by_what_stands_in_it(document: Any, is_config: bool) -> None:
    text = document if isinstance(document, str) else json.dumps(document)
    assert surfaces._holds_servers(text.encode()) is is_config


def test_the_servers_of_a_configuration_are_known_by_their_names(here: Workplace) -> None:
    path = here.configure(one=here.chaos(), two=here.chaos(), off=here.chaos(disabled=True))
    source = read_surface("mcp.json")
    assert (source.label, source.kind, source.path, source.text) == (
        "mcp.json", "config", "mcp.json", path.read_text(encoding="utf-8"),
    )  # fmt: skip
    assert [each.name for each in source.served] == ["one", "two"]
    assert {each.id.server for each in source.tools} == {"one", "two"}
    found = read_surface()
    assert (found.label, found.path, found.tools) == (source.label, source.path, source.tools)
    assert [each.name for each in read_surface("mcp.json", server="two").served] == ["two"]


def test_a_server_that_does_not_start_costs_only_itself(here: Workplace) -> None:
    here.configure(good=here.chaos(), bad=here.script("note('tried')\nsys.exit(3)"), wrong={"command": 3})
    source = read_surface("mcp.json")
    assert [(each.name, bool(each.tools)) for each in source.served] == [
        ("good", True),
        ("bad", False),
        ("wrong", False),
    ]
    assert [(each.server, each.cause) for each in source.failures] == [("bad", "exited"), ("wrong", "config")]


def test_where_no_server_starts_there_is_nothing_to_look_at(here: Workplace) -> None:
    here.configure(one=here.script("sys.exit(3)"), two={"command": "no-such-command-here"})
    with pytest.raises(ConfigError) as raised:
        read_surface("mcp.json")
    assert [each.partition(": ")[0] for each in raised.value.problems] == ["server 'one'", "server 'two'"]


def test_a_configuration_without_the_server_or_with_none_to_use_is_an_error(here: Workplace) -> None:
    here.configure(one=here.chaos(disabled=True))
    with pytest.raises(UnknownServerError, match="unknown server 'onn'; did you mean 'one'"):
        read_surface("mcp.json", server="onn")
    with pytest.raises(ToolbridgeError, match=r"mcp\.json: 'one': disabled there"):
        read_surface("mcp.json")
    here.configure()
    with pytest.raises(ToolbridgeError, match="lists no servers"):
        read_surface("mcp.json")
    put(here, "config.toml", "[mcp_servers.one\n")
    with pytest.raises(ConfigError, match=r"config\.toml: not valid TOML"):
        read_surface("config.toml")


def test_codex_keeps_its_servers_in_toml(here: Workplace) -> None:
    words = ", ".join(json.dumps(each) for each in ("-S", "-E", str(CHAOS)))
    put(here, "config.toml", f"[mcp_servers.one]\ncommand = {json.dumps(sys.executable)}\nargs = [{words}]\n")
    assert [each.name for each in read_surface("config.toml").served] == ["one"]


def test_a_visitor_meets_the_open_hub_and_nothing_is_taken_from_disk(here: Workplace) -> None:
    here.configure(garden=here.garden(), bad=here.script("sys.exit(3)"))
    here.known("garden", [{"name": "old"}])
    seen: list[tuple[str, ...]] = []

    async def visit(hub: Hub) -> None:
        seen.append(tuple(sorted(each.id.name for each in hub.all_tools)))

    assert ids(read_surface("mcp.json", server="garden")) == ["garden/old"]
    assert here.noted() == []
    source = read_surface("mcp.json", visit=visit)
    assert seen == [tuple(sorted(each.id.name for each in source.tools))]
    assert "old" not in seen[0]
    assert [each.server for each in source.failures] == ["bad"]


# -- commands and addresses --------------------------------------------------------------------------------------------


def test_a_command_is_started_and_is_called_what_it_calls_itself(here: Workplace) -> None:
    source = read_surface(None, [sys.executable, str(GARDEN), str(here.ledger)])
    assert (source.kind, source.label, source.path) == ("command", f"{sys.executable} {GARDEN} {here.ledger}", None)
    (served,) = source.served
    assert (served.name, served.server_name) == ("garden", "garden")
    assert {each.id.server for each in served.tools} == {"garden"}
    assert served.spec is not None
    assert served.spec.name == "garden_server"
    named = read_surface(None, [sys.executable, str(GARDEN), str(here.ledger)], server="beds")
    assert ids(named)[0].startswith("beds/")


def test_a_command_has_the_environment_of_whoever_typed_it(here: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN_WORD", "yes")
    text = f"import os, sys\nopen({str(here.ledger)!r}, 'w').write(os.environ['MY_OWN_WORD'])\nsys.exit(4)"
    with pytest.raises(SourceError):
        read_surface(None, [sys.executable, "-c", text])
    assert here.noted() == ["yes"]


def test_a_command_that_does_not_start_is_one_line_without_secrets(
    here: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", SECRET)
    text = "import os, sys\nprint('no such key', os.environ['ACME_API_KEY'], file=sys.stderr)\nsys.exit(3)"
    with pytest.raises(SourceError) as raised:
        read_surface(None, [sys.executable, "-c", text])
    assert "exited with code 3" in str(raised.value)
    assert "it wrote last: no such key ***" in str(raised.value)
    assert SECRET not in str(raised.value)
    with pytest.raises(SourceError, match="server 'no-such-command-here': there is no command"):
        read_surface(None, ["no-such-command-here"])


def test_a_secret_among_the_arguments_of_a_command_is_not_in_its_label(here: Workplace) -> None:
    source = read_surface(None, [sys.executable, "-S", "-E", str(CHAOS), "--api-key", SECRET])
    assert source.label == f"{sys.executable} -S -E {CHAOS} --api-key ***"


def test_an_address_where_nothing_listens_is_one_line_without_its_password() -> None:
    with pytest.raises(SourceError) as raised:
        read_surface(f"http://me:{SECRET}@127.0.0.1:1/mcp?token={SECRET}")
    assert str(raised.value).startswith("server '127.0.0.1': nothing listens at its address")
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["python", "server.py"], "server"),
        (["python3", "-u", "src/acme/main.py", "--port", "3"], "main"),
        (["C:\\Python\\python.exe", "C:\\acme\\garden.py"], "garden"),
        (["npx", "-y", "@acme/server", "--flag"], "server"),
        (["uv", "run", "garden.py"], "garden"),
        (["python", "-m", "acme_server"], "acme_server"),
        (["python", "-c", "print(1)"], "python"),
        (["/opt/bin/garden-server", "x"], "garden-server"),
        (["grüße.exe"], "grüße"),
        (["node"], "node"),
        (["\x1b"], "server"),
    ],
)
def test_a_server_that_has_no_name_yet_is_called_after_what_is_started(command: list[str], name: str) -> None:
    assert surfaces._called(command) == name


def test_a_name_that_a_server_gives_itself_cannot_steer_a_terminal() -> None:
    assert surfaces._label("gar\x1b[31mden\u202e\n" + "x" * 200) == ("gar[31mden" + "x" * 200)[:80]


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "source", "flag", "command"),
    [
        (["a.json"], "a.json", False, ()),
        (["--flag", "--", "npx", "-y", "server", "--flag", "--json"], None, True, ("npx", "-y", "server", "--flag", "--json")),
        (["--", "tools.json"], None, False, ("tools.json",)),
        (["--", "run", "--", "inner"], None, False, ("run", "--", "inner")),
        (["-"], "-", False, ()),
        ([], None, False, ()),
    ],
)  # fmt: skip
def test_what_follows_two_dashes_is_the_command_with_its_own_options(
    arguments: list[str], source: str | None, flag: bool, command: tuple[str, ...]
) -> None:
    @click.command("try", cls=SurfaceCommand)
    @surface_arguments()
    @click.option("--flag", is_flag=True)
    def given(source: str | None, client: str | None, server: str | None, flag: bool) -> Any:
        return source, flag, given_command()

    assert given.main(arguments, standalone_mode=False) == (source, flag, command)


def test_two_dashes_with_nothing_after_them_are_misuse(work: Workplace) -> None:
    answer = work("lint", "--")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "toolbridge: nothing follows --; give the command that starts the server\n"
