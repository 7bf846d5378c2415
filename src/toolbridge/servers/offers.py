"""What servers offer beside tools: resources and prompts, listed and read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio
import mcp_types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from toolbridge.errors import ServerError
from toolbridge.servers.connection import Connection
from toolbridge.servers.diagnosis import diagnosed
from toolbridge.servers.http import EXCHANGE, Exchange
from toolbridge.servers.loss import read_loss
from toolbridge.servers.opening import Facts, Way
from toolbridge.servers.paging import all_pages
from toolbridge.servers.read import read_listed_resource, read_prompt, read_prompt_message, read_resource
from toolbridge.types import Content, PromptMessage, ServerPrompt, ServerResource

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")


async def list_resources(connection: Connection) -> list[ServerResource]:
    """The resources and the templates of a server."""
    server = connection.spec.name

    async def ask(client: Client) -> list[ServerResource]:
        async def resources(cursor: str | None) -> tuple[Sequence[ServerResource], str | None]:
            page = await client.list_resources(cursor=cursor)
            return [read_listed_resource(each, server) for each in page.resources], page.next_cursor

        async def templates(cursor: str | None) -> tuple[Sequence[ServerResource], str | None]:
            page = await client.list_resource_templates(cursor=cursor)
            return [read_listed_resource(each, server) for each in page.resource_templates], page.next_cursor

        if client.server_capabilities.resources is None:
            return []
        return [*await _listed(resources), *await _listed(templates)]

    return await _asked(connection, ask, "list its resources", connection.spec.limits.list)


async def read_resource_at(connection: Connection, uri: str) -> tuple[Content, ...]:
    """What is at an address."""

    async def ask(client: Client) -> tuple[Content, ...]:
        return tuple(read_resource(each) for each in (await client.read_resource(uri)).contents)

    return await _asked(connection, ask, f"send {uri}", connection.spec.limits.call)


async def list_prompts(connection: Connection) -> list[ServerPrompt]:
    """The prompts of a server."""
    server = connection.spec.name

    async def ask(client: Client) -> list[ServerPrompt]:
        async def prompts(cursor: str | None) -> tuple[Sequence[ServerPrompt], str | None]:
            page = await client.list_prompts(cursor=cursor)
            return [read_prompt(each, server) for each in page.prompts], page.next_cursor

        return [] if client.server_capabilities.prompts is None else await _listed(prompts)

    return await _asked(connection, ask, "list its prompts", connection.spec.limits.list)


async def get_prompt_of(connection: Connection, name: str, arguments: Mapping[str, str] | None) -> list[PromptMessage]:
    """The messages of a prompt."""

    async def ask(client: Client) -> list[PromptMessage]:
        result = await client.get_prompt(name, dict(arguments or {}))
        return [read_prompt_message(each) for each in result.messages]

    return await _asked(connection, ask, f"give the prompt {name!r}", connection.spec.limits.call)


async def _asked(connection: Connection, ask: Callable[[Client], Awaitable[T]], what: str, seconds: float) -> T:
    """The answer, asked for a second time where the first was lost: nothing here changes anything at the server.

    What goes wrong becomes a `ServerError` that names the server and what was asked of it.
    """
    for last in (False, True):
        client = await connection.ensure()
        unseen = await connection.vouch(client)
        if unseen is not None and (last or connection.is_current(client) or unseen.cause == "changed"):
            raise ServerError(unseen)
        facts = connection.facts or Facts(Way("auto"))
        exchange = Exchange()
        token = EXCHANGE.set(exchange)
        try:
            with anyio.fail_after(seconds):
                return await ask(client)
        except TimeoutError as error:
            late = f"it did not {what} within {seconds:g} s"
            raise ServerError(diagnosed(connection.spec, facts, error, timed_out=late)) from None
        except MCPError as error:
            if last or read_loss(connection, client, exchange, error) is None:
                raise ServerError(diagnosed(connection.spec, facts, error)) from None
        except ValidationError as error:
            raise ServerError(diagnosed(connection.spec, facts, error)) from None
        finally:
            EXCHANGE.reset(token)
    raise AssertionError("a question is asked at most twice")


async def _listed(fetch: Callable[[str | None], Awaitable[tuple[Sequence[T], str | None]]]) -> list[T]:
    try:
        return (await all_pages(fetch)).entries
    except MCPError as error:
        if error.code == mcp_types.METHOD_NOT_FOUND:  # servers that promise more than they have
            return []
        raise
