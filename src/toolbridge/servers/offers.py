"""What servers offer beside tools: resources and prompts, listed and read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import anyio
import mcp_types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from toolbridge.errors import ServerError
from toolbridge.servers.connection import Connection
from toolbridge.servers.diagnosis import diagnosed
from toolbridge.servers.opening import Facts, Way
from toolbridge.servers.paging import all_pages
from toolbridge.servers.read import read_listed_resource, read_prompt, read_prompt_message, read_resource
from toolbridge.types import Content, PromptMessage, ServerPrompt, ServerResource

if TYPE_CHECKING:
    from collections.abc import Generator

T = TypeVar("T")


async def list_resources(connection: Connection) -> list[ServerResource]:
    """The resources and the templates of a server."""
    client = await connection.ensure()
    server = connection.spec.name
    if client.server_capabilities.resources is None:
        return []

    async def resources(cursor: str | None) -> tuple[Sequence[ServerResource], str | None]:
        page = await client.list_resources(cursor=cursor)
        return [read_listed_resource(each, server) for each in page.resources], page.next_cursor

    async def templates(cursor: str | None) -> tuple[Sequence[ServerResource], str | None]:
        page = await client.list_resource_templates(cursor=cursor)
        return [read_listed_resource(each, server) for each in page.resource_templates], page.next_cursor

    with _told(connection, "list its resources", connection.spec.limits.list):
        return [*await _listed(resources), *await _listed(templates)]
    raise AssertionError


async def read_resource_at(connection: Connection, uri: str) -> tuple[Content, ...]:
    """What is at an address."""
    client = await connection.ensure()
    with _told(connection, f"send {uri}", connection.spec.limits.call):
        result = await client.read_resource(uri)
        return tuple(read_resource(each) for each in result.contents)
    raise AssertionError


async def list_prompts(connection: Connection) -> list[ServerPrompt]:
    """The prompts of a server."""
    client = await connection.ensure()
    server = connection.spec.name
    if client.server_capabilities.prompts is None:
        return []

    async def prompts(cursor: str | None) -> tuple[Sequence[ServerPrompt], str | None]:
        page = await client.list_prompts(cursor=cursor)
        return [read_prompt(each, server) for each in page.prompts], page.next_cursor

    with _told(connection, "list its prompts", connection.spec.limits.list):
        return await _listed(prompts)
    raise AssertionError


async def get_prompt_of(connection: Connection, name: str, arguments: Mapping[str, str] | None) -> list[PromptMessage]:
    """The messages of a prompt."""
    client = await connection.ensure()
    with _told(connection, f"give the prompt {name!r}", connection.spec.limits.call):
        result = await client.get_prompt(name, dict(arguments or {}))
        return [read_prompt_message(each) for each in result.messages]
    raise AssertionError


async def _listed(fetch: Callable[[str | None], Awaitable[tuple[Sequence[T], str | None]]]) -> list[T]:
    try:
        return (await all_pages(fetch)).entries
    except MCPError as error:
        if error.code == mcp_types.METHOD_NOT_FOUND:  # servers that promise more than they have
            return []
        raise


@contextmanager
def _told(connection: Connection, what: str, seconds: float) -> Generator[None]:
    """What goes wrong inside becomes a `ServerError` that names the server and what was asked of it."""
    facts = connection.facts or Facts(Way("auto"))
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        late = f"it did not {what} within {seconds:g} s"
        raise ServerError(diagnosed(connection.spec, facts, error, timed_out=late)) from None
    except (MCPError, ValidationError) as error:
        raise ServerError(diagnosed(connection.spec, facts, error)) from None
