"""Real servers that nobody here wrote, through the hub: npm and PyPI, stdio, streamable HTTP and the older SSE, and every
era of the protocol from 2024-11-05 to 2026-07-28. They are installed once (`tests.support.real_servers`)."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.servers.conftest import Beside
from tests.support.processes import TOKEN, eventually
from tests.support.real_servers import node_server, python_program, running
from toolbridge import (
    Callbacks,
    Hub,
    Image,
    Limits,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceLink,
    ServerPrompt,
    ServerSpec,
    Text,
    ToolHints,
    ToolResult,
)

PATIENT = Limits(connect=45, list=20, call=20, total=30)
EVERYTHING = "@modelcontextprotocol/server-everything"
YEARS = {"2026": "2026-07-28", "2025": "2025-11-25"}


def names(hub: Hub, server: str) -> list[str]:
    return [each.id.name for each in hub.tools if each.id.server == server]


def node(package: str, *arguments: str | Path, token: str, env: Mapping[str, str] | None = None) -> ServerSpec:
    command, program = node_server(package)
    words = (str(program), *(str(each) for each in arguments))
    return ServerSpec("real", command=command, args=words, env={TOKEN: token, **(env or {})}, limits=PATIENT)


def python(
    year: str, program: str, *arguments: str | Path, token: str, env: Mapping[str, str] | None = None
) -> ServerSpec:
    words = tuple(str(each) for each in arguments)
    command = str(python_program(year, program))
    return ServerSpec("real", command=command, args=words, env={TOKEN: token, **(env or {})}, limits=PATIENT)


async def text(hub: Hub, tool: str, **arguments: Any) -> str:
    result = await hub.call("real", tool, arguments)
    assert not result.is_error, result
    return result.text


# -- time ----------------------------------------------------------------------------------------------------------

TIME = {"source_timezone": "Asia/Kolkata", "time": "16:30", "target_timezone": "Asia/Tokyo"}


async def assert_tells_time(hub: Hub) -> None:
    assert names(hub, "real") == ["get_current_time", "convert_time"]
    result = await hub.call("real", "convert_time", TIME)
    assert not result.is_error
    told = json.loads(result.text)
    assert (told["source"]["timezone"], told["target"]["timezone"]) == ("Asia/Kolkata", "Asia/Tokyo")
    assert datetime.fromisoformat(told["target"]["datetime"]).strftime("%H:%M %z") == "20:00 +0900"
    assert told["time_difference"] == "+3.5h"
    assert result.structured in (None, told)


@pytest.mark.parametrize("year", YEARS)
async def test_the_time_server_converts(year: str, beside: Beside, token: str) -> None:
    async with beside(python(year, "mcp-server-time", token=token)) as hub:
        assert (hub.status["real"].protocol, hub.status["real"].server_name) == (YEARS[year], "mcp-time")
        await assert_tells_time(hub)
        result = await hub.call("real", "convert_time", {**TIME, "source_timezone": "Mars/Base"})
        assert (result.is_error, result.failure) == (True, None)
        assert "Mars/Base" in result.text


async def test_the_time_server_behind_a_stateless_http_proxy_of_another_house(
    beside: Beside, token: str, tmp_path: Path
) -> None:
    configuration = tmp_path / "mcp.json"
    entry = {"command": str(python_program("2026", "mcp-server-time")), "args": []}
    configuration.write_text(json.dumps({"mcpServers": {"time": entry}}), encoding="utf-8")
    command = [python_program("2026", "fastmcp"), "run", configuration, "--transport", "http", "--port", "{port}"]
    with running(command, {"FASTMCP_SHOW_SERVER_BANNER": "false"}) as server:
        async with beside(ServerSpec("real", "http", url=server.url("/mcp"), limits=PATIENT)) as hub:
            assert hub.status["real"].protocol == "2026-07-28"
            await assert_tells_time(hub)


async def test_the_time_server_behind_a_proxy_with_sessions_and_of_the_older_transport(
    beside: Beside, token: str
) -> None:
    command = [python_program("2025", "mcp-proxy"), "--port", "{port}", python_program("2025", "mcp-server-time")]
    ways: tuple[tuple[Any, str], ...] = (("http", "/mcp"), ("sse", "/sse"), ("auto", "/mcp"), ("auto", "/sse"))
    with running(command) as server:
        for transport, path in ways:
            async with beside(ServerSpec("real", transport, url=server.url(path), limits=PATIENT)) as hub:
                assert hub.status["real"].protocol == "2025-11-25"
                await assert_tells_time(hub)


# -- git -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is absent")
    place = tmp_path / "repository"
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "Tester"],
        ["config", "user.email", "t@example.com"],
    ):
        place.mkdir(exist_ok=True)
        subprocess.run(["git", *words], cwd=place, check=True)
    (place / "grüße.txt").write_text("hello\n", encoding="utf-8")
    return place


@pytest.mark.parametrize("year", YEARS)
async def test_the_git_server_adds_commits_and_shows(year: str, beside: Beside, token: str, repository: Path) -> None:
    async with beside(python(year, "mcp-server-git", "-r", repository, token=token)) as hub:
        where = str(repository)
        tools = {each.id.name: each for each in hub.tools if each.id.server == "real"}
        assert (tools["git_status"].hints.read_only, tools["git_reset"].hints.destructive) == (True, True)
        assert await text(hub, "git_add", repo_path=where, files=["grüße.txt"]) == "Files staged successfully"
        committed = await text(hub, "git_commit", repo_path=where, message="först")
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True)
        assert committed == f"Changes committed successfully with hash {head.stdout.strip()}"
        status = await text(hub, "git_status", repo_path=where)
        assert status == "Repository status:\nOn branch main\nnothing to commit, working tree clean"
        (repository / "grüße.txt").write_text("hello\nworld\n", encoding="utf-8")
        assert "+world" in await text(hub, "git_diff_unstaged", repo_path=where)
        assert "först" in await text(hub, "git_log", repo_path=where, max_count=1)
        refused = await hub.call("real", "git_status", {"repo_path": "/"})
        assert (refused.is_error, refused.failure) == (True, None)
        assert "outside the allowed repository" in refused.text


# -- fetch ---------------------------------------------------------------------------------------------------------

PAGE = "<html><head><title>T</title></head><body><article><h1>Grüße</h1><p>Some <b>words</b> to read.</p></article></body></html>"


class Site(BaseHTTPRequestHandler):
    """A site with one page that robots may read, and one that they may not."""

    def do_GET(self) -> None:
        robots = self.path == "/robots.txt"
        body = b"User-agent: *\nDisallow: /private\n" if robots else PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if robots else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test's output is the test's."""


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, name="the site")
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(("year", "words"), [("2026", ["--allow-private-ips"]), ("2025", [])])
async def test_the_fetch_server_reads_a_page_and_minds_the_robots(
    year: str, words: list[str], beside: Beside, token: str, site: str
) -> None:
    # Where it finds node it installs a program from the network first; without, it reads pages by itself.
    spec = python(year, "mcp-server-fetch", *words, token=token, env={"PATH": "/nowhere"})
    async with beside(spec) as hub:
        assert names(hub, "real") == ["fetch"]
        told = await text(hub, "fetch", url=f"{site}/page")
        assert told == f"Contents of {site}/page:\nT\n\n# Grüße\n\nSome words to read."
        assert PAGE in await text(hub, "fetch", url=f"{site}/page", raw=True)
        refused = await hub.call("real", "fetch", {"url": f"{site}/private/page"})
        assert (refused.is_error, refused.failure) == (True, None)
        assert "robots.txt" in refused.text
        assert [each.name for each in await hub.prompts("real")] == ["fetch"]
        (message,) = await hub.get_prompt("real", "fetch", {"url": f"{site}/page"})
        assert isinstance(message.content, Text)
        assert "Some words to read." in message.content.text


# -- files ---------------------------------------------------------------------------------------------------------


async def test_the_filesystem_server_writes_and_reads_paths_of_any_script(
    beside: Beside, token: str, tmp_path: Path
) -> None:
    place = tmp_path / "ordner ключ 鍵"
    place.mkdir()
    path = place / "naïve «file» 🗝.txt"
    async with beside(node("@modelcontextprotocol/server-filesystem", place, token=token)) as hub:
        written = await hub.call("real", "write_file", {"path": str(path), "content": "één\ntwo\n"}, call_id="w")
        said = f"Successfully wrote to {path}"
        assert written == ToolResult("w", (Text(said),), structured={"content": said})
        assert path.read_text(encoding="utf-8") == "één\ntwo\n"
        assert await text(hub, "read_text_file", path=str(path)) == "één\ntwo\n"
        assert await text(hub, "list_directory", path=str(place)) == f"[FILE] {path.name}"
        refused = await hub.call("real", "read_text_file", {"path": "/etc/passwd"})
        assert (refused.is_error, refused.failure) == (True, None)
        assert "Access denied" in refused.text


async def test_the_filesystem_server_is_given_its_folders_by_the_roots(
    beside: Beside, token: str, tmp_path: Path
) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "asked").mkdir()
    callbacks = Callbacks(roots=lambda server: [tmp_path / "asked"])
    spec = node("@modelcontextprotocol/server-filesystem", tmp_path / "given", token=token)
    async with beside(spec, callbacks=callbacks) as hub:
        while "given" in (allowed := await text(hub, "list_allowed_directories")):
            await asyncio.sleep(0.01)  # it asks for the roots in its own time
        assert allowed == f"Allowed directories:\n{tmp_path / 'asked'}"


# -- memory --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("package", "protocol"),
    [("@modelcontextprotocol/server-memory", "2025-11-25"), ("memory-of-2024", "2024-11-05")],
)
async def test_the_memory_server_remembers_from_one_life_to_the_next(
    package: str, protocol: str, beside: Beside, token: str, tmp_path: Path
) -> None:
    # The old one keeps its file where it is installed: a name of our own, and it is taken out again.
    zoe = {"name": f"Zoë {token}", "entityType": "person", "observations": [f"likes tea {token}"]}
    spec = node(package, token=token, env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")})
    async with beside(spec) as hub:
        assert hub.status["real"].protocol == protocol
        assert json.loads(await text(hub, "create_entities", entities=[zoe])) == [zoe]
    async with beside(spec) as hub:
        graph = json.loads(await text(hub, "read_graph"))
        assert zoe in [{key: each[key] for key in zoe} for each in graph["entities"]]
        found = await hub.call("real", "search_nodes", {"query": f"TEA {token}"})
        assert [each["name"] for each in json.loads(found.text)["entities"]] == [zoe["name"]]
        assert found.structured in (None, {"entities": [zoe], "relations": []})
        assert await text(hub, "delete_entities", entityNames=[zoe["name"]]) == "Entities deleted successfully"


# -- everything ----------------------------------------------------------------------------------------------------

ALWAYS = [
    "echo", "get-annotated-message", "get-env", "get-resource-links", "get-resource-reference", "get-structured-content",
    "get-sum", "get-tiny-image", "gzip-file-as-resource", "toggle-simulated-logging", "toggle-subscriber-updates",
    "trigger-long-running-operation",
]  # fmt: skip
ON_REQUEST = {"get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"}
"""Tools that the server adds when it hears what the client can do."""
READ_ONLY = ToolHints(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


@pytest.fixture(params=["stdio", "streamableHttp", "sse"])
def everything(request: pytest.FixtureRequest, token: str) -> Iterator[ServerSpec]:
    """The server with everything in it, over each transport."""
    if request.param == "stdio":
        yield node(EVERYTHING, token=token)
        return
    with ExitStack() as stack:
        command, program = node_server(EVERYTHING)
        server = stack.enter_context(running([command, program, request.param]))
        path, transport = ("/sse", "sse") if request.param == "sse" else ("/mcp", "http")
        yield ServerSpec("real", transport, url=server.url(path), limits=PATIENT)


async def test_everything_lists_and_calls_over_each_transport(everything: ServerSpec, beside: Beside) -> None:
    async with beside(everything) as hub:
        status = hub.status["real"]
        assert (status.protocol, status.server_name) == ("2025-11-25", "mcp-servers/everything")
        assert status.instructions
        assert names(hub, "real")[:12] == ALWAYS
        tools = {each.id.name: each for each in hub.tools if each.id.server == "real"}
        assert (tools["echo"].description, tools["echo"].hints) == ("Echoes back the input string", READ_ONLY)
        assert tools["get-structured-content"].output_schema is not None
        assert await hub.call("real", "echo", {"message": "é"}, call_id="1") == ToolResult("1", (Text("Echo: é"),))
        assert await text(hub, "get-sum", a=1, b=2) == "The sum of 1 and 2 is 3."


async def test_everything_s_contents_arrive_whole(everything: ServerSpec, beside: Beside) -> None:
    async with beside(everything) as hub:
        image = await hub.call("real", "get-tiny-image")
        before, picture, after = image.content
        assert (before, after) == (Text("Here's the image you requested:"), Text("The image above is the MCP logo."))
        assert isinstance(picture, Image)
        assert (picture.mime_type, picture.data[:16]) == ("image/png", "iVBORw0KGgoAAAAN")
        weather = {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}
        told = (Text(json.dumps(weather, separators=(",", ":"))),)
        result = await hub.call("real", "get-structured-content", {"location": "Chicago"}, call_id="2")
        assert result == ToolResult("2", told, structured=weather)
        links = await hub.call("real", "get-resource-links", {"count": 2})
        assert links.content == (
            Text("Here are 2 resource links to resources available in this server:"),
            ResourceLink(
                "demo://resource/dynamic/blob/1", "Blob Resource 1", "text/plain", "Resource 1: plaintext resource"
            ),
            ResourceLink(
                "demo://resource/dynamic/text/2", "Text Resource 2", "text/plain", "Resource 2: plaintext resource"
            ),
        )
        sent = (await hub.call("real", "get-resource-reference", {"resourceType": "Blob", "resourceId": 2})).content[1]
        assert isinstance(sent, Resource)
        assert (sent.uri, sent.mime_type, sent.text) == ("demo://resource/dynamic/blob/2", "text/plain", None)
        annotated = await hub.call("real", "get-annotated-message", {"messageType": "error", "includeImage": True})
        assert annotated.content[0] == Text("Error: Operation failed")
        assert isinstance(annotated.content[1], Image)


async def test_everything_reports_progress(everything: ServerSpec, beside: Beside) -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    async with beside(everything) as hub:
        arguments = {"duration": 0.3, "steps": 3}
        note = lambda *step: seen.append(step)  # noqa: E731
        result = await hub.call("real", "trigger-long-running-operation", arguments, on_progress=note)
        assert result.text == "Long running operation completed. Duration: 0.3 seconds, Steps: 3."
        assert seen == [(1.0, 3.0, None), (2.0, 3.0, None), (3.0, 3.0, None)]


async def test_everything_asks_and_is_answered(everything: ServerSpec, beside: Beside, tmp_path: Path) -> None:
    asked: list[str] = []

    async def elicit(server: str, params: Any) -> dict[str, Any]:
        asked.append(params.message)
        return {"action": "accept", "content": {"name": "Zoë"}}

    async def sample(server: str, params: Any) -> dict[str, Any]:
        asked.append(params.messages[0].content.text)
        return {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}

    callbacks = Callbacks(elicit=elicit, sample=sample, roots=lambda server: [tmp_path])
    async with beside(everything, callbacks=callbacks) as hub:
        await eventually(lambda: set(names(hub, "real")) >= ON_REQUEST, 10, "the tools that need us")
        sampled = await text(hub, "trigger-sampling-request", prompt="hi", maxTokens=10)
        assert '"text": "hello"' in sampled
        assert '"name": "Zoë"' in await text(hub, "trigger-elicitation-request")
        assert tmp_path.as_uri() in await text(hub, "get-roots-list")
        assert asked == [
            "Resource trigger-sampling-request context: hi",
            "Please provide inputs for the following fields:",
        ]


async def test_everything_s_resources_and_prompts_are_listed_and_read(everything: ServerSpec, beside: Beside) -> None:
    async with beside(everything) as hub:
        resources = await hub.resources("real")
        assert {each.server for each in resources} == {"real"}
        assert [each.uri for each in resources if each.template] == [
            "demo://resource/dynamic/text/{resourceId}",
            "demo://resource/dynamic/blob/{resourceId}",
        ]
        (read,) = await hub.read_resource("real", "demo://resource/dynamic/text/7")
        assert isinstance(read, Resource)
        assert (read.uri, read.mime_type) == ("demo://resource/dynamic/text/7", "text/plain")
        assert read.text is not None
        assert read.text.startswith("Resource 7: This is a plaintext resource")
        prompts = {each.name: each for each in await hub.prompts("real")}
        assert prompts["args-prompt"] == ServerPrompt(
            server="real",
            name="args-prompt",
            title="Arguments Prompt",
            description="A prompt with two arguments, one required and one optional",
            arguments=(PromptArgument("city", "Name of the city", True), PromptArgument("state", None, False)),
        )
        assert await hub.get_prompt("real", "args-prompt", {"city": "Bonn"}) == [
            PromptMessage("user", Text("What's weather in Bonn?"))
        ]


async def test_six_real_servers_are_one_catalogue(beside: Beside, token: str, tmp_path: Path, repository: Path) -> None:
    from dataclasses import replace

    specs = [
        replace(spec, name=name)
        for name, spec in {
            "everything": node(EVERYTHING, token=token),
            "files": node("@modelcontextprotocol/server-filesystem", tmp_path, token=token),
            "memory": node(
                "@modelcontextprotocol/server-memory", token=token, env={"MEMORY_FILE_PATH": str(tmp_path / "m")}
            ),
            "time": python("2026", "mcp-server-time", token=token),
            "git": python("2025", "mcp-server-git", "-r", repository, token=token),
            "fetch": python("2025", "mcp-server-fetch", token=token),
        }.items()
    ]
    async with beside(*specs) as hub:
        assert list(dict.fromkeys(each.id.server for each in hub.tools)) == [*(spec.name for spec in specs), "healthy"]
        assert {each.state for each in hub.status.values()} == {"connected"}
        assert (await hub.call("time", "convert_time", TIME)).is_error is False
        assert (await hub.call("files", "list_allowed_directories")).text == f"Allowed directories:\n{tmp_path}"
