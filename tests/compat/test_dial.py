"""Contract: what the DIAL agent's decision record promises of its MCP clients, with its examples as they are written."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp.server import Server

from tests.compat.users_server import EITHER, SEARCH_USERS
from tests.support.processes import descendants, wait_until
from tests.support.real_servers import node_server, python_program, running
from toolbridge import ConfigError, MCPToolError, ServerError, ServerSpec
from toolbridge.compat.dial import BaseMCPClient, HttpMCPClient, StdioMCPClient

SERVER = Path(__file__).with_name("users_server.py")
CHAOS = Path(__file__).parents[1] / "servers" / "chaos" / "stdio_server.py"

pytestmark = pytest.mark.anyio

logger = logging.getLogger(__name__)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of the test's own, and no process left after it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = {each.pid for each in descendants()}
    yield
    wait_until(lambda: {each.pid for each in descendants()} <= before, 5, "the servers to be gone")


@pytest.fixture(scope="module")
def users_url() -> Iterator[str]:
    with running([sys.executable, SERVER, "{port}"]) as server:
        yield server.url("/mcp")


@asynccontextmanager
async def users(way: str, url: str) -> AsyncGenerator[BaseMCPClient]:
    """The same server, over HTTP or over pipes."""
    if way == "http":
        client = await HttpMCPClient.create(url)
    else:
        client = await StdioMCPClient.create(sys.executable, [str(SERVER), "stdio"])
    async with client:
        yield client


# What the record shows, as JSON.
ANTHROPIC_FORMAT = """
{
  "name": "search_users",
  "description": "Search for users by criteria",
  "inputSchema": {
    "type": "object",
    "properties": {
      "query": {"type": "string"}
    }
  }
}
"""
OPENAI_FORMAT = """
{
  "type": "function",
  "function": {
    "name": "search_users",
    "description": "Search for users by criteria",
    "parameters": {
      "type": "object",
      "properties": {
        "query": {"type": "string"}
      }
    }
  }
}
"""
RECENT = "users_recent_users_uv7yv6al"
"""`users/recent users`, which DIAL refuses, in a spelling that it takes."""
GALLERY = """\
Two users:
[image: image/png, 5 bytes]
[audio: audio/wav, 6 bytes]
[link: Bo, users://2, text/plain, the second]
[resource: users://1]
Ann
[resource: users://3, application/pdf, 5 bytes]
{"users": 2}"""


def function(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}
DEFINITIONS = [
    json.loads(OPENAI_FORMAT),
    function(RECENT, "The last ones", EITHER),
    function("gallery", "", NO_ARGUMENTS),
    function("dangerous_tool", "Fails", NO_ARGUMENTS),
    function("surroundings", "What the server sees of us", NO_ARGUMENTS),
]


# ── get_tools ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", ["http", "stdio"])
async def test_get_tools_gives_every_tool_in_the_form_of_openai(
    way: str, users_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "toolbridge")
    async with users(way, users_url) as client:
        assert await client.get_tools() == DEFINITIONS
    assert "Converted 5 tools to DIAL format" in caplog.text


@pytest.mark.parametrize("tool", [json.loads(ANTHROPIC_FORMAT), mcp_types.Tool(**json.loads(ANTHROPIC_FORMAT))])
@pytest.mark.parametrize("client", [HttpMCPClient, StdioMCPClient, BaseMCPClient])
def test_example_of_the_two_formats(client: type[BaseMCPClient], tool: Any) -> None:
    assert client._mcp_to_dial_format(tool) == json.loads(OPENAI_FORMAT)
    assert client.mcp_to_dial_format(tool) == json.loads(OPENAI_FORMAT)


def test_a_tool_that_has_no_form_is_refused_with_the_reason() -> None:
    with pytest.raises(MCPToolError, match=r"search cannot be offered: its input schema describes \"array\""):
        HttpMCPClient._mcp_to_dial_format({"name": "search", "inputSchema": {"type": "array"}})


async def test_a_tool_that_has_no_form_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    impossible = {"type": "object", "allOf": [{"type": "array"}]}
    listed = [
        mcp_types.Tool(name="search", input_schema=impossible),
        mcp_types.Tool(name="find", input_schema={"type": "object"}),
    ]

    async def list_tools(*_: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=listed)

    spec = ServerSpec("odd", "memory", server=Server[Any]("odd", on_list_tools=list_tools))
    async with await BaseMCPClient._connected(spec) as client:
        assert await client.get_tools() == [function("find", "", NO_ARGUMENTS)]
    assert "Left out of the DIAL tools: search: its input schema accepts no object at all" in caplog.text


class AsDecided(HttpMCPClient):
    """The record's `get_tools`, as decided."""

    async def get_tools(self) -> list[dict[str, Any]]:
        tools_result = await self.session.list_tools()

        dial_tools = []
        for tool in tools_result.tools:
            dial_tool = {
                "type": "function",  # ← Added wrapper
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.inputSchema,  # ← Renamed key
                },
            }
            dial_tools.append(dial_tool)

        return dial_tools


class Validated(StdioMCPClient):
    """The record's `get_tools`, with its validation."""

    async def get_tools(self) -> list[dict[str, Any]]:
        tools_result = await self.session.list_tools()

        dial_tools = []
        for tool in tools_result.tools:
            dial_tool = self._mcp_to_dial_format(tool)

            # Validate structure
            assert "type" in dial_tool, f"Missing 'type' in {tool.name}"
            assert "function" in dial_tool, f"Missing 'function' in {tool.name}"
            assert "name" in dial_tool["function"], f"Missing 'name' in {tool.name}"

            dial_tools.append(dial_tool)

        logger.info(f"Converted {len(dial_tools)} tools to DIAL format")
        return dial_tools


class Shared(HttpMCPClient):
    """The record's `get_tools`, with the method of the base class."""

    async def get_tools(self):
        tools = await self.session.list_tools()
        return [self.mcp_to_dial_format(t) for t in tools.tools]


def _mcp_to_dial_format(mcp_tool: Any) -> dict[str, Any]:
    """The record's conversion logic."""
    return {
        "type": "function",
        "function": {"name": mcp_tool.name, "description": mcp_tool.description, "parameters": mcp_tool.inputSchema},
    }


async def test_example_of_the_decision(users_url: str) -> None:
    bare = [("search_users", SEARCH_USERS), ("users/recent users", EITHER)]
    async with await AsDecided.create(users_url) as client:
        tools = await client.get_tools()
        assert tools[0] == json.loads(OPENAI_FORMAT)
        assert [(each["function"]["name"], each["function"]["parameters"]) for each in tools[:2]] == bare
        assert tools == [_mcp_to_dial_format(each) for each in (await client.session.list_tools()).tools]
        # also names that the server gave, and that DIAL would refuse, lead to the tool
        assert await client.call_tool("users/recent users", {"limit": 1}) == 'users/recent users {"limit": 1}'


async def test_example_of_the_validation(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, __name__)
    async with await Validated.create(sys.executable, [str(SERVER), "stdio"]) as client:
        assert await client.get_tools() == DEFINITIONS
    assert [each.getMessage() for each in caplog.records] == ["Converted 5 tools to DIAL format"]


async def test_example_of_the_base_class(users_url: str) -> None:
    assert issubclass(StdioMCPClient, BaseMCPClient)
    async with await Shared.create(users_url) as client:
        assert await client.get_tools() == DEFINITIONS


async def test_tools_of_several_clients_are_combined_by_adding_lists(users_url: str) -> None:
    """The record: "App.py just combines lists without worrying about formats"."""
    async with users("http", users_url) as far, users("stdio", "") as near:
        tools = [*await far.get_tools(), *await near.get_tools()]
    assert tools == DEFINITIONS * 2


# ── call_tool ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", ["http", "stdio"])
async def test_a_call_by_the_name_that_was_shown_reaches_its_tool(way: str, users_url: str) -> None:
    async with users(way, users_url) as client:
        shown = [each["function"]["name"] for each in await client.get_tools()]
        assert shown == ["search_users", RECENT, "gallery", "dangerous_tool", "surroundings"]
        assert await client.call_tool("search_users", {"query": "Ann"}) == 'search_users {"query": "Ann"}'
        assert await client.call_tool(RECENT, {"limit": 3}) == 'users/recent users {"limit": 3}'
        assert await client.call_tool("gallery") == GALLERY


async def test_a_call_needs_no_listing_before_it(users_url: str) -> None:
    async with users("http", users_url) as client:
        assert await client.call_tool(name=RECENT, arguments={"limit": 1}) == 'users/recent users {"limit": 1}'


async def test_arguments_are_put_right_where_the_model_nearly_had_them(users_url: str) -> None:
    async with users("http", users_url) as client:
        assert await client.call_tool(RECENT, {"limit": "3"}) == 'users/recent users {"limit": 3}'


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("dangerous_tool", {}, "Error: it did not work"),
        ("search_user", {}, "Error: There is no tool named 'search_user'. Did you mean search_users?"),
        (RECENT, {"limit": "many"}, f"Error: The call of {RECENT} was not run: its arguments are not valid."),
        (RECENT, None, f"Error: The call of {RECENT} was not run: its arguments are not valid."),
        (RECENT, '{"limit": 3}', f"Error: The call of {RECENT} was not run: the arguments are not a JSON object."),
        ("private_tool", {}, "Error: There is no tool named 'private_tool'."),
    ],
)
async def test_what_a_model_can_repair_is_its_answer(name: str, arguments: Any, answer: str, users_url: str) -> None:
    async with users("http", users_url) as client:
        assert (await client.call_tool(name, arguments)).replace('"', "'").startswith(answer)
        assert await client.call_tool("search_users") == "search_users {}"  # the client goes on


# ── create and close ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_headers_are_sent(users_url: str) -> None:
    async with await HttpMCPClient.create(mcp_server_url=users_url, headers={"Colour": "green"}) as client:
        assert json.loads(await client.call_tool("surroundings"))["colour-header"] == "green"


async def test_environment_and_directory_are_the_servers(tmp_path: Path) -> None:
    client = await StdioMCPClient.create(
        command=sys.executable, args=[str(SERVER), "stdio"], env={"COLOUR": "green"}, cwd=tmp_path
    )
    seen = json.loads(await client.call_tool("surroundings"))
    await client.close()
    assert seen == {"place": str(tmp_path), "colour": "green", "colour-header": None}


async def test_an_image_is_run_by_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `docker` of the test's own: it notes how it was called, and is the server."""
    docker = tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/words\nexec {sys.executable} {SERVER} stdio\n')
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    async with await StdioMCPClient.create(docker_image="mcp/users:latest") as client:
        assert await client.get_tools() == DEFINITIONS
    assert (tmp_path / "words").read_text().splitlines() == ["run", "--rm", "-i", "mcp/users:latest"]
    async with await StdioMCPClient.create(docker_image="mcp/users", args=["--all"], env={"COLOUR": "green"}) as client:
        assert json.loads(await client.call_tool("surroundings"))["colour"] == "green"
    words = ["run", "--rm", "-i", "-e", "COLOUR", "mcp/users", "--all"]
    assert (tmp_path / "words").read_text().splitlines() == words


@pytest.mark.parametrize("given", [{}, {"command": "x", "docker_image": "y"}])
async def test_a_command_or_an_image_is_given(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="one of the two"):
        await StdioMCPClient.create(**given)


async def test_a_server_that_cannot_be_had_fails_at_creation_and_says_why() -> None:
    with pytest.raises(ServerError, match=r"server 'no-such-program': there is no command .*install it"):
        await StdioMCPClient.create("no-such-program")
    with pytest.raises(ServerError, match=r"server 'python.*': .*exit.* 3.*it wrote last: no licence"):
        await StdioMCPClient.create(
            sys.executable, ["-c", "import sys; print('no licence', file=sys.stderr); sys.exit(3)"]
        )
    with pytest.raises(ServerError, match=r"server '127\.0\.0\.1': .*start the server, or mend"):
        await HttpMCPClient.create("http://127.0.0.1:9/mcp")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("localhost:8000/mcp", "url: has no scheme; write http://… in front"),
        ("ftp://users/mcp", "url: is of another scheme; a server is reached by http:// or https://"),
    ],
)
async def test_what_is_no_url_is_a_mistake_of_the_configuration(url: str, why: str) -> None:
    with pytest.raises(ConfigError) as raised:
        await HttpMCPClient.create(url)
    assert str(raised.value) == f"configuration: server 'http': {why}"


async def test_a_server_that_dies_in_a_call_is_told_to_the_model() -> None:
    async with await StdioMCPClient.create(sys.executable, ["-S", "-E", str(CHAOS), "exit_at=tools/call"]) as client:
        answer = await client.call_tool("echo", {"text": "hello"})
        assert answer.startswith("Error: The outcome of 'echo' on server 'python")


async def test_a_secret_is_not_in_what_is_said_of_a_failure() -> None:
    program = "import os, sys; print('key', os.environ['API_KEY'], file=sys.stderr); sys.exit(3)"
    with pytest.raises(ServerError, match=r"it wrote last: key \*\*\*") as raised:
        await StdioMCPClient.create(sys.executable, ["-c", program], env={"API_KEY": "sk-9f8e7d6c5b4a3f2e1d"})
    assert "sk-9f8e7d6c5b4a3f2e1d" not in repr(raised.value.failure)


async def test_headers_count_as_secrets_also_beside_a_secret_in_the_url(users_url: str) -> None:
    headers = {"X-Api-Key": "sk-9f8e7d6c5b4a3f2e1d"}
    async with await HttpMCPClient.create(f"{users_url}?token=tk-1a2b3c4d5e6f7a8b9c", headers=headers) as client:
        (spec,) = client._hub.specs.values()
        assert {"sk-9f8e7d6c5b4a3f2e1d", "tk-1a2b3c4d5e6f7a8b9c"} <= spec.secrets


async def test_a_client_that_is_closed_says_so(users_url: str) -> None:
    client = await HttpMCPClient.create(users_url)
    await client.close()
    await client.close()
    closed = "server '127.0.0.1': the client is closed; make another with create()"
    for use in (client.get_tools(), client.call_tool("gallery"), client.session.list_tools()):
        with pytest.raises(MCPToolError) as raised:
            await use
        assert str(raised.value) == closed


async def test_a_client_is_closed_when_its_block_raises() -> None:
    before = len(descendants())

    async def story() -> None:
        async with await StdioMCPClient.create(sys.executable, [str(SERVER), "stdio"]):
            assert len(descendants()) > before
            raise KeyError

    with pytest.raises(KeyError):
        await story()


# ── servers that nobody here wrote ───────────────────────────────────────────────────────────────────────────────


async def test_a_real_server_over_pipes() -> None:
    async with await StdioMCPClient.create(str(python_program("2026", "mcp-server-time"))) as client:
        names = {each["function"]["name"]: each["function"]["parameters"] for each in await client.get_tools()}
        assert names.keys() == {"get_current_time", "convert_time"}
        arguments = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        answer = json.loads(await client.call_tool("convert_time", arguments))
        assert answer["time_difference"] == "+9.0h"
        assert (await client.call_tool("convert_time", {**arguments, "time": "noon"})).startswith("Error: ")


async def test_a_real_server_over_http() -> None:
    node, program = node_server("@modelcontextprotocol/server-everything")
    assert shutil.which(node)
    with running([node, program, "streamableHttp"]) as server:
        async with await HttpMCPClient.create(server.url("/mcp")) as client:
            assert "get-sum" in [each["function"]["name"] for each in await client.get_tools()]
            assert await client.call_tool("get-sum", {"a": "2", "b": 3}) == "The sum of 2 and 3 is 5."
