"""Contract: what Orbiter's document on MCP tools promises, with its examples as they are written there."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mcp_types
import pytest
from mcp import Client

from tests.compat.users_server import SEARCH_USERS
from tests.support.processes import descendants, wait_until
from tests.support.real_servers import node_server, python_program, running
from toolbridge import ConfigError, ServerError, Text, Tool, ToolId, ToolResult
from toolbridge.compat import orbiter
from toolbridge.compat.orbiter import (
    MCPToolError,
    MCPToolFilter,
    MCPToolWrapper,
    ToolError,
    convert_mcp_tools,
    extract_schema,
    load_mcp_client,
    load_tools_from_client,
    load_tools_from_connection,
    namespace_tool_name,
    parse_namespaced_name,
)

SERVER = Path(__file__).with_name("users_server.py")
CHAOS = Path(__file__).parents[1] / "servers" / "chaos" / "stdio_server.py"
USERS = {"command": sys.executable, "args": [str(SERVER), "stdio"]}
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of the test's own, a working directory for its `mcp.json`, and no process left after it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    before = {each.pid for each in descendants()}
    yield
    wait_until(lambda: {each.pid for each in descendants()} <= before, 5, "the servers to be gone")


@pytest.fixture(scope="module")
def users_url() -> Iterator[str]:
    with running([sys.executable, SERVER, "{port}"]) as server:
        yield server.url("/mcp")


def write_config(**servers: Any) -> None:
    Path("mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


# ── names, filter, errors: the document's examples ───────────────────────────────────────────────────────────────


def test_the_names_can_be_imported_and_have_the_documented_parameters() -> None:
    documented = {
        MCPToolFilter.__init__: ["self", "include", "exclude", "read_only"],
        MCPToolFilter.accepts: ["self", "name"],
        MCPToolFilter.apply: ["self", "tools"],
        MCPToolWrapper.__init__: ["self", "mcp_tool", "server_name", "call_fn", "namespace"],
        MCPToolWrapper.execute: ["self", "kwargs"],
        namespace_tool_name: ["tool_name", "server_name", "namespace"],
        parse_namespaced_name: ["namespaced"],
        extract_schema: ["mcp_tool"],
        convert_mcp_tools: ["mcp_tools", "server_name", "call_fn", "namespace", "tool_filter"],
        load_tools_from_connection: ["connection", "namespace", "tool_filter"],
        load_tools_from_client: ["client", "namespace", "tool_filter"],
    }
    assert {each: list(inspect.signature(each).parameters) for each in documented} == documented
    assert all(hasattr(orbiter, name) for name in orbiter.__all__)


def test_its_errors_are_tool_errors() -> None:
    assert issubclass(MCPToolError, ToolError)


def test_example_of_the_filter() -> None:
    f = MCPToolFilter(include=["search", "read"], exclude=["read"])
    assert f.accepts("search") is True
    assert f.accepts("read") is False  # (exclude takes priority)
    assert f.accepts("write") is False  # (not in include list)
    tools = [mcp_types.Tool(name=name, input_schema={}) for name in ("write", "read", "search")]
    assert f.apply(tools) == [tools[2]]


def test_example_of_a_namespaced_name_there_and_back() -> None:
    assert namespace_tool_name("search", "my-server") == "mcp__my_server__search"
    assert namespace_tool_name("a.b/c", "my server", namespace="own") == "own__my_server__a_b_c"
    ns, server, tool = parse_namespaced_name("mcp__my_server__search")
    assert (ns, server, tool) == ("mcp", "my_server", "search")


@pytest.mark.parametrize("name", ["", "search", "mcp__search", "mcp____search", "__a__b", "a__b__"])
def test_a_name_of_another_format_cannot_be_parsed(name: str) -> None:
    with pytest.raises(MCPToolError, match="namespace__server__tool"):
        parse_namespaced_name(name)


# ── tools of any shape ───────────────────────────────────────────────────────────────────────────────────────────

SHAPES = {
    "mcp 2.x": mcp_types.Tool(name="search_users", description="Search", input_schema=SEARCH_USERS),
    "mcp 1.x": SimpleNamespace(name="search_users", description="Search", inputSchema=SEARCH_USERS),
    "a dict": {"name": "search_users", "description": "Search", "inputSchema": SEARCH_USERS},
    "ours": Tool(ToolId("other", "search_users"), "Search", SEARCH_USERS),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_of_any_shape_is_wrapped(shape: str) -> None:
    tool = MCPToolWrapper(SHAPES[shape], "my-server", print)
    seen = (tool.name, tool.description, tool.parameters, tool.original_name, tool.server_name)
    assert seen == ("mcp__my_server__search_users", "Search", SEARCH_USERS, "search_users", "my-server")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_schema_is_a_copy(shape: str) -> None:
    extract_schema(SHAPES[shape])["properties"]["query"]["type"] = "integer"
    MCPToolWrapper(SHAPES[shape], "s", print).parameters["properties"].clear()
    assert extract_schema(SHAPES[shape]) == {"type": "object", "properties": {"query": {"type": "string"}}}


@pytest.mark.parametrize(
    "tool",
    [{"name": "x"}, {"name": "x", "inputSchema": None}, {"name": "x", "inputSchema": []}, SimpleNamespace(name="x")],
)
def test_a_tool_without_a_schema_takes_no_arguments(tool: Any) -> None:
    assert extract_schema(tool) == NO_ARGUMENTS
    assert MCPToolWrapper(tool, "s", print).parameters == NO_ARGUMENTS
    assert MCPToolWrapper(tool, "s", print).description == ""


@pytest.mark.parametrize(
    "entry", [None, {}, {"name": ""}, "x", Tool(ToolId("s", "(entry 0)"), "", {}, problem="no name")]
)
def test_what_is_no_tool_is_refused_alone_and_left_out_of_a_list(entry: Any, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MCPToolError, match="server 's': not an MCP tool"):
        MCPToolWrapper(entry, "s", print)
    (kept,) = convert_mcp_tools([entry, {"name": "good"}], "s", print)
    assert kept.original_name == "good"
    assert "not an MCP tool" in caplog.text


def test_tools_are_converted_in_their_order_through_the_filter_and_with_the_namespace() -> None:
    tools = [{"name": name} for name in ("c", "b", "a")]
    wrapped = convert_mcp_tools(tools, "s", print, namespace="own", tool_filter=MCPToolFilter(exclude=["b"]))
    assert [each.name for each in wrapped] == ["own__s__c", "own__s__a"]


def test_tools_that_would_share_a_name_are_both_kept_under_names_of_their_own(caplog: pytest.LogCaptureFixture) -> None:
    tools = [{"name": "read.file"}, {"name": "other"}, {"name": "read-file"}]
    one, other, two = convert_mcp_tools(tools, "s", print)
    assert (one.original_name, other.name, two.original_name) == ("read.file", "mcp__s__other", "read-file")
    assert {one.name, two.name}.isdisjoint({"mcp__s__read_file"})
    assert one.name != two.name
    assert one.name.startswith("mcp__s__read_file_")
    assert caplog.text.count("not the only mcp__s__read_file") == 2
    assert [each.name for each in convert_mcp_tools(tools[::-1], "s", print)] == [two.name, other.name, one.name]


def test_a_tool_that_is_listed_twice_counts_once(caplog: pytest.LogCaptureFixture) -> None:
    (tool,) = convert_mcp_tools([{"name": "a", "description": "first"}, {"name": "a"}], "s", print)
    assert (tool.name, tool.description) == ("mcp__s__a", "first")
    assert "lists its tool 'a' twice" in caplog.text


# ── execute ──────────────────────────────────────────────────────────────────────────────────────────────────────

IMAGE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
ANSWERS: dict[str, tuple[Any, Any]] = {
    "mcp 2.x": (mcp_types.CallToolResult(content=[mcp_types.TextContent(text="a"), mcp_types.TextContent(text="b")]), "a\nb"),
    "mcp 1.x": (SimpleNamespace(content=[SimpleNamespace(type="text", text="a")], isError=False, structuredContent=None), "a"),
    "a dict of MCP": ({"content": [{"type": "text", "text": "a"}, IMAGE]}, "a\n[image: image/png, 5 bytes]"),
    "ours": (ToolResult("", (Text("a"),)), "a"),
    "a plain dict": ({"temperature": 3}, {"temperature": 3}),
    "a text": ("done", "done"),
    "nothing": (None, ""),
    "no content": ({"content": []}, ""),
    "structured alone": ({"content": [], "structuredContent": {"n": 1}}, '{"n": 1}'),
    "structured alone in 2.x": (mcp_types.CallToolResult(content=[], structured_content={"n": None}), '{"n": null}'),
    "structured as in the text": ({"content": [{"type": "text", "text": '{ "n": 1 }'}], "structuredContent": {"n": 1}}, '{ "n": 1 }'),
    "structured beside the text": ({"content": [{"type": "text", "text": "one"}], "structuredContent": {"n": 1}}, 'one\n{"n": 1}'),
    "a wrapped text": ({"content": [{"type": "text", "text": "7"}], "structuredContent": {"result": "7"}}, "7"),
    "a wrapped list": (
        {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "2"}], "structuredContent": {"result": ["a", 2]}},
        "a\n2",
    ),
    "a kind that is not known": ({"content": [{"type": "hologram", "data": "x"}]}, '{"type": "hologram", "data": "x"}'),
}  # fmt: skip


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "plain"])
@pytest.mark.parametrize("kind", ANSWERS)
async def test_execute_gives_the_text_of_any_answer(kind: str, is_async: bool) -> None:
    answer, expected = ANSWERS[kind]
    calls: list[tuple[str, dict[str, Any]]] = []

    def plain(name: str, arguments: dict[str, Any]) -> Any:
        calls.append((name, arguments))
        return answer

    async def later(name: str, arguments: dict[str, Any]) -> Any:
        return plain(name, arguments)

    tool = MCPToolWrapper({"name": "read-file"}, "s", later if is_async else plain)
    assert await tool.execute(path="/", self=1, name="n") == expected
    assert calls == [("read-file", {"path": "/", "self": 1, "name": "n"})]


@pytest.mark.parametrize(
    "answer",
    [
        mcp_types.CallToolResult(content=[mcp_types.TextContent(text="no such file")], is_error=True),
        SimpleNamespace(content=[SimpleNamespace(type="text", text="no such file")], isError=True),
        {"content": [{"type": "text", "text": "no such file"}], "isError": True},
        ToolResult("", (Text("no such file"),), is_error=True),
    ],
    ids=["mcp 2.x", "mcp 1.x", "a dict", "ours"],
)
async def test_a_result_that_is_an_error_is_raised(answer: Any) -> None:
    tool = MCPToolWrapper({"name": "read"}, "s", lambda name, arguments: answer)
    with pytest.raises(MCPToolError, match=r"^mcp__s__read: no such file$"):
        await tool.execute()


async def test_a_call_that_fails_is_raised_with_its_cause() -> None:
    async def broken(name: str, arguments: dict[str, Any]) -> Any:
        raise OSError("the pipe broke")

    with pytest.raises(MCPToolError, match=r"^mcp__s__read: the call failed: OSError: the pipe broke$") as raised:
        await MCPToolWrapper({"name": "read"}, "s", broken).execute()
    assert isinstance(raised.value.__cause__, OSError)


async def test_a_call_that_is_cancelled_is_cancelled() -> None:
    async def endless(name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(MCPToolWrapper({"name": "read"}, "s", endless).execute(), 0.05)


# ── connections and clients that are not ours ────────────────────────────────────────────────────────────────────


class Listing:
    """A connection that lists what it is given."""

    def __init__(self, name: str, *pages: Any) -> None:
        self.name = name
        self.pages = pages

    def list_tools(self, *, cursor: str | None = None) -> Any:
        page = self.pages[int(cursor or 0)]
        if isinstance(page, Exception):
            raise page
        return page

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        return f"{self.name} {name} {arguments}"


async def test_every_page_of_a_foreign_connection_is_read() -> None:
    first = SimpleNamespace(tools=[{"name": "a"}], nextCursor="1")
    second = mcp_types.ListToolsResult(tools=[mcp_types.Tool(name="b", input_schema={})], next_cursor="2")
    connection = Listing("s", first, second, {"tools": [{"name": "c"}]})
    tools = await load_tools_from_connection(connection)
    assert [each.name for each in tools] == ["mcp__s__a", "mcp__s__b", "mcp__s__c"]
    assert await tools[1].execute(x=1) == "s b {'x': 1}"


async def test_a_foreign_connection_that_lists_in_circles_ends_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    tools = await load_tools_from_connection(Listing("s", {"tools": [{"name": "a"}], "nextCursor": "0"}))
    assert [each.name for each in tools] == ["mcp__s__a"]
    assert "Server 's': its listing comes back to a page it already sent" in caplog.text


async def test_a_connection_that_cannot_list_is_named() -> None:
    with pytest.raises(MCPToolError, match="server 'sad': its tools cannot be listed: OSError: gone"):
        await load_tools_from_connection(Listing("sad", OSError("gone")))


async def test_tools_of_all_servers_of_a_foreign_client_are_loaded_and_told_apart() -> None:
    servers = {name: Listing(name, [{"name": "a"}, {"name": "b"}]) for name in ("my-server", "my_server", "third")}
    client = SimpleNamespace(server_names=list(servers), connect=lambda name: servers[name])
    tools = await load_tools_from_client(client, tool_filter=MCPToolFilter(include=["a"]))
    own = await load_tools_from_client(client, namespace="own")
    assert own[-1].name == "own__third__b"
    assert len({each.name for each in tools}) == 3
    assert [await each.execute() for each in tools] == ["my-server a {}", "my_server a {}", "third a {}"]
    assert tools[2].name == "mcp__third__a"


async def test_a_foreign_client_that_cannot_connect_names_the_server() -> None:
    async def connect(name: str) -> Any:
        raise OSError("refused")

    with pytest.raises(MCPToolError, match="server 's': it cannot be connected: OSError: refused"):
        await load_tools_from_client(SimpleNamespace(server_names=["s"], connect=connect))


async def test_a_client_of_the_sdk_is_a_connection_once_it_has_a_name() -> None:
    from tests.compat.users_server import server

    async with Client(server) as sdk:
        connection = SimpleNamespace(name="sdk", list_tools=sdk.list_tools, call_tool=sdk.call_tool)
        tools = await load_tools_from_connection(connection, tool_filter=MCPToolFilter(include=["search*", "gallery"]))
        assert [each.name for each in tools] == ["mcp__sdk__search_users", "mcp__sdk__gallery"]
        assert await tools[0].execute(query="Ann") == 'search_users {"query": "Ann"}'
        assert await tools[1].execute() == GALLERY


WITH_MODELS_OF_1 = """
import asyncio, json
from mcp import types
from toolbridge.compat.orbiter import load_tools_from_connection

class Connection:
    name = "old"
    async def list_tools(self, cursor=None):
        schema = {"type": "object", "properties": {"a": {"default": None}}}
        tool = types.Tool(name="second" if cursor else "first", inputSchema=schema)
        return types.ListToolsResult(tools=[tool], nextCursor=None if cursor else "more")
    async def call_tool(self, name, arguments):
        image = types.ImageContent(type="image", data="aGVsbG8=", mimeType="image/png")
        text = types.TextContent(type="text", text=name)
        return types.CallToolResult(content=[text, image], structuredContent=arguments, isError="bad" in arguments)

async def main():
    first, second = await load_tools_from_connection(Connection())
    try:
        await second.execute(bad=1)
    except Exception as error:
        raised = str(error)
    print(json.dumps([first.name, first.parameters, await second.execute(a=None), raised]))

asyncio.run(main())
"""


def test_models_of_the_sdk_1_are_understood() -> None:
    python = python_program("2025", "python")
    source = str(Path(orbiter.__file__).parents[2])
    done = subprocess.run(
        [python, "-c", WITH_MODELS_OF_1],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == [
        "mcp__old__first",
        {"type": "object", "properties": {"a": {"default": None}}},
        'second\n[image: image/png, 5 bytes]\n{"a": null}',
        'mcp__old__second: second\n[image: image/png, 5 bytes]\n{"bad": 1}',
    ]


# ── load_mcp_client, with real processes ─────────────────────────────────────────────────────────────────────────

GALLERY = """\
Two users:
[image: image/png, 5 bytes]
[audio: audio/wav, 6 bytes]
[link: Bo, users://2, text/plain, the second]
[resource: users://1]
Ann
[resource: users://3, application/pdf, 5 bytes]
{"users": 2}"""


async def test_example_of_a_client(users_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_config(near=USERS, far={"url": users_url}, off={"command": "no-such-program", "disabled": True})

    client = load_mcp_client("mcp.json")
    async with client:
        tools = await load_tools_from_client(
            client,
            tool_filter=MCPToolFilter(exclude=["dangerous_tool"]),
        )
        for tool in tools:
            print(f"{tool.name}: {tool.description}")

        assert client.server_names == ["near", "far"]
        by_name = {tool.name: tool for tool in tools}
        for server in ("near", "far"):
            assert by_name[f"mcp__{server}__search_users"].parameters == SEARCH_USERS
            assert await by_name[f"mcp__{server}__search_users"].execute(query="Ann") == 'search_users {"query": "Ann"}'
            assert await by_name[f"mcp__{server}__gallery"].execute() == GALLERY
            recent = by_name[f"mcp__{server}__users_recent_users"]
            assert await recent.execute(limit=1, self="me") == 'users/recent users {"limit": 1, "self": "me"}'

    assert capsys.readouterr().out.splitlines() == [
        f"mcp__{server}__{line}"
        for server in ("near", "far")
        for line in (
            "search_users: Search for users by criteria",
            "users_recent_users: The last ones",
            "gallery: ",
            "surroundings: What the server sees of us",
        )
    ]
    with pytest.raises(MCPToolError, match="server 'near': the hub is not open"):
        await by_name["mcp__near__search_users"].execute(query="Ann")


async def test_an_error_of_a_real_tool_is_raised_and_the_connection_goes_on() -> None:
    async with load_mcp_client({"mcpServers": {"users": USERS}}) as client:
        connection = await client.connect("users")
        assert connection.name == "users"
        only = MCPToolFilter(include=["dangerous_tool", "search_users"])
        search, failing = await load_tools_from_connection(connection, tool_filter=only)
        with pytest.raises(MCPToolError, match=r"^mcp__users__dangerous_tool: it did not work$"):
            await failing.execute()
        assert await search.execute() == "search_users {}"
        gone = MCPToolWrapper({"name": "serach_users"}, "users", connection.call_tool)
        with pytest.raises(MCPToolError, match=r"has no tool 'serach_users'. Did you mean 'search_users'\?"):
            await gone.execute()


async def test_a_server_that_fails_is_named_and_the_others_can_be_loaded_one_by_one() -> None:
    write_config(bad={"command": "no-such-program"}, users=USERS)
    async with load_mcp_client(Path("mcp.json")) as client:
        with pytest.raises(MCPToolError, match=r"server 'bad': .*no-such-program") as raised:
            await load_tools_from_client(client)
        assert isinstance(raised.value.__cause__, ServerError)
        assert len(await load_tools_from_connection(await client.connect("users"))) == 5
        with pytest.raises(MCPToolError, match="unknown server 'user'; did you mean 'users'"):
            await client.connect("user")


async def test_a_client_outside_its_block_says_so() -> None:
    client = load_mcp_client({"mcpServers": {"users": USERS}})
    inside = "server 'users': the client is not open; use it inside `async with client:`"
    with pytest.raises(MCPToolError) as raised:
        await load_tools_from_client(client)
    assert str(raised.value) == inside
    async with client:
        assert len(await load_tools_from_client(client)) == 5
    with pytest.raises(MCPToolError) as raised:
        await load_tools_from_client(client)
    assert str(raised.value) == inside
    async with client:  # again
        assert len(await load_tools_from_client(client)) == 5


def test_a_configuration_with_mistakes_is_a_tool_error_that_names_them() -> None:
    write_config(users={"comand": "x"})
    with pytest.raises(ToolError, match=r"mcp\.json: server 'users': comand") as raised:
        load_mcp_client("mcp.json")
    assert isinstance(raised.value, ConfigError)


async def test_a_server_that_misbehaves_is_told_of_and_its_failure_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    words = ["-S", "-E", str(CHAOS), "cursor=same", "exit_at=tools/call"]
    async with load_mcp_client({"mcpServers": {"bad": {"command": sys.executable, "args": words}}}) as client:
        tools = {each.original_name: each for each in await load_tools_from_client(client)}
        assert "Server 'bad': its listing comes back to a page it already sent" in caplog.text
        with pytest.raises(MCPToolError, match=r"^mcp__bad__echo: The outcome of 'echo' on server 'bad' is unknown: "):
            await tools["echo"].execute(text="hello")


async def test_options_of_connect_are_taken(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    write_config(users=USERS, bad={"command": "no-such-program"})
    async with load_mcp_client("mcp.json", servers=["users"], filter=MCPToolFilter(include=["gallery"])) as client:
        (tool,) = await load_tools_from_client(client)
        assert tool.name == "mcp__users__gallery"
    assert caplog.text == ""


async def test_a_server_that_is_known_from_the_disk_is_not_started_to_be_loaded() -> None:
    write_config(users=USERS)
    async with load_mcp_client("mcp.json") as client:
        names = [each.name for each in await load_tools_from_client(client)]
    async with load_mcp_client("mcp.json", lazy=True) as client:
        tools = await load_tools_from_client(client)
        assert [each.name for each in tools] == names
        assert client._hub.status["users"].state == "idle"
        assert await tools[0].execute() == "search_users {}"
        assert client._hub.status["users"].state == "connected"


async def test_real_servers_of_npm_are_loaded_and_called() -> None:
    node, everything = node_server("@modelcontextprotocol/server-everything")
    memory = node_server("@modelcontextprotocol/server-memory")[1]
    write_config(
        everything={"command": node, "args": [str(everything)]},
        memory={"command": node, "args": [str(memory)], "env": {"MEMORY_FILE_PATH": str(Path.cwd() / "memory.json")}},
    )
    async with load_mcp_client("mcp.json") as client:
        tools = {each.name: each for each in await load_tools_from_client(client)}
        assert await tools["mcp__everything__echo"].execute(message="hello") == "Echo: hello"
        assert "[image: image/png, " in str(await tools["mcp__everything__get_tiny_image"].execute())
        entity = {"name": "Ann", "entityType": "person", "observations": ["tall"]}
        await tools["mcp__memory__create_entities"].execute(entities=[entity])
        found = json.loads(str(await tools["mcp__memory__search_nodes"].execute(query="Ann")))
        assert found == {"entities": [entity], "relations": []}
        with pytest.raises(MCPToolError, match="mcp__everything__get_sum: "):
            await tools["mcp__everything__get_sum"].execute(a="no number")
