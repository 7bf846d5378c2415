"""The client that the official conformance suite drives: every scenario goes through `toolbridge.connect`.

    python client.py http://localhost:PORT/mcp       # as the suite starts it; `run.py` starts the suite

The suite plays the server and judges what it sees on the wire. It names the scenario, the protocol version and, for
some, its data in `MCP_CONFORMANCE_*` variables. A scenario here is what a user of the library would write: an entry of
an `mcp.json`, and calls. The only stranger is `Browser`, which stands where a person would log in.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import urllib.request
import webbrowser
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import mcp_types
from mcp.client.auth import TokenStorage
from mcp.client.auth.extensions.client_credentials import PrivateKeyJWTOAuthProvider, SignedJWTParameters
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from toolbridge import Callbacks, Hub, ServerSpec, Tool, ToolResult, connect
from toolbridge.servers.catalog import Catalog

NAME = "suite"
"""What the server is called in the configuration."""

SECONDS = 50.0
"""A client that hangs ends by itself: the suite ends only the shell that it started."""

METADATA_URL = "https://conformance-test.local/client-metadata.json"
"""Where the suite says that our client's metadata document is. Nobody fetches it."""

REFUSED = frozenset({
    "auth/resource-mismatch", "auth/scope-retry-limit", "auth/iss-supported-missing", "auth/iss-wrong-issuer",
    "auth/iss-unexpected", "auth/iss-normalized", "auth/metadata-issuer-mismatch",
})  # fmt: skip
"""Scenarios in which the right thing is not to log in. Everywhere else a server that is not connected is an error."""

Story: TypeAlias = Callable[[Hub], Awaitable[None]]


class Failed(Exception):
    """The scenario did not go as it must."""


# ── the person ───────────────────────────────────────────────────────────────────────────────────────────────────


class Browser(webbrowser.BaseBrowser):
    """Goes where it is sent, and follows the redirect back to the address where the hub waits."""

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(url, timeout=SECONDS) as page:
            page.read()
        return True


def become_browser() -> None:
    """Have every login of this process open in `Browser`."""
    os.environ["BROWSER"] = NAME  # there is one, also where there is no screen
    webbrowser.register(NAME, None, Browser(NAME), preferred=True)


def accept(_: str, question: mcp_types.ElicitRequestParams) -> dict[str, Any]:
    """Say yes to what a server asks, with the values that it proposes."""
    properties = question.requested_schema.get("properties", {}) if hasattr(question, "requested_schema") else {}
    return {
        "action": "accept",
        "content": {key: each["default"] for key, each in properties.items() if "default" in each},
    }


def confirm(_: str, question: mcp_types.ElicitRequestParams) -> dict[str, Any]:
    return {"action": "accept", "content": {"confirmed": True}}


def reply(_: str, request: mcp_types.CreateMessageRequestParams) -> dict[str, Any]:
    return {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "none"}


CALLBACKS = {
    "elicitation-sep1034-client-defaults": Callbacks(elicit=accept),
    "request-metadata": Callbacks(elicit=accept, sample=reply, roots=lambda _: ["file:///"]),
    "sep-2322-client-request-state": Callbacks(elicit=confirm),
}


# ── the stories ──────────────────────────────────────────────────────────────────────────────────────────────────


async def call(hub: Hub, tool: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
    """Call a tool; a call that came to no result is an error."""
    result = await hub.call(NAME, tool, arguments)
    if result.failure is not None:
        raise Failed(f"{tool}: {result.text}")
    return result


async def list_only(hub: Hub) -> None:
    """Connecting lists the tools."""


async def add(hub: Hub) -> None:
    await call(hub, "add_numbers", {"a": 5, "b": 3})


async def call_first(hub: Hub) -> None:
    """What the scenarios of logins expect: one call, to whatever is there."""
    for tool in hub.tools[:1]:
        await call(hub, tool.id.name)


async def call_each(hub: Hub) -> None:
    """Every tool that we offer: those with bad annotations must not be among them."""
    for tool in hub.tools:
        await hub.call(NAME, tool.id.name, required_arguments(tool))


async def call_given(hub: Hub) -> None:
    """The calls that the suite wants, as it wants them."""
    for each in context().get("toolCalls", []):
        if any(tool.id.name == each["name"] for tool in hub.tools):
            await hub.call(NAME, each["name"], each.get("arguments"))


async def use_everything(hub: Hub) -> None:
    """One request of each kind: the suite looks at the headers of each."""
    for tool in hub.tools:
        await call(hub, tool.id.name)
    for resource in await hub.resources(NAME):
        await hub.read_resource(NAME, resource.uri)
    for prompt in await hub.prompts(NAME):
        await hub.get_prompt(NAME, prompt.name)


async def ask_again(hub: Hub) -> None:
    """Calls that end in a question first."""
    for tool in ("echo_state", "unrelated", "no_state", "no_result_type"):
        await call(hub, f"test_mrtr_{tool}")


async def echo_schema(hub: Hub) -> None:
    """The schema as it came, back to the suite."""
    tool = next(each for each in hub.tools if each.id.name == "json_schema_2020_12_tool")
    await call(hub, "json_schema_echo", {"schema": tool.input_schema})


STORIES: dict[str, Story] = {
    "initialize": list_only,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
    "tools_call": add,
    "request-metadata": call_first,
    "http-standard-headers": use_everything,
    "http-custom-headers": call_given,
    "http-invalid-tool-headers": call_each,
    "sep-2322-client-request-state": ask_again,
}
"""What to do once connected; `call_first` where nothing is said."""

EXAMPLES: dict[str, Any] = {
    "string": "x", "integer": 0, "number": 0, "boolean": False, "object": {}, "array": [], "null": None,
}  # fmt: skip


def required_arguments(tool: Tool) -> dict[str, Any]:
    """Something for each parameter that a tool requires."""
    properties = tool.input_schema.get("properties", {})
    return {
        key: EXAMPLES.get(properties.get(key, {}).get("type"), "x") for key in tool.input_schema.get("required", [])
    }


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────────────


def context() -> dict[str, Any]:
    """The scenario's own data."""
    return json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")


async def source(scenario: str, url: str) -> Any:
    """The server, as an `mcp.json` has it."""
    if scenario in LOGINS:
        login = await LOGINS[scenario](url, context())
        return ServerSpec(NAME, "memory", server=lambda: transport(url, login))
    entry: dict[str, Any] = {"url": url}
    if scenario.startswith("auth/"):
        data = context()
        entry["oauth"] = {
            "client_id": data.get("client_id"),
            "client_secret": data.get("client_secret"),
            "metadata_url": METADATA_URL,
            "grant": "client_credentials" if "client-credentials" in scenario else "authorization_code",
        }
    return {"mcpServers": {NAME: entry}}


@asynccontextmanager
async def transport(url: str, login: httpx2.Auth) -> AsyncGenerator[Any]:
    """A transport of the SDK with a login that is not one of ours: the hub takes that too."""
    async with (
        httpx2.AsyncClient(auth=login, timeout=30.0) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


class Memory(TokenStorage):
    """Keeps a login as long as the process lives."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


async def signed_login(url: str, data: Mapping[str, Any]) -> httpx2.Auth:
    """The client shows who it is by a signature."""
    name = data["client_id"]
    key, algorithm = data["private_key_pem"], data.get("signing_algorithm", "ES256")
    signer = SignedJWTParameters(issuer=name, subject=name, signing_algorithm=algorithm, signing_key=key)
    return PrivateKeyJWTOAuthProvider(url, Memory(), name, signer.create_assertion_provider())


async def enterprise_login(url: str, data: Mapping[str, Any]) -> httpx2.Auth:
    """The company's identity provider vouches for the person: its token is exchanged for one of this server."""
    address = build_protected_resource_metadata_discovery_urls(None, url)[0]
    async with httpx2.AsyncClient() as client:
        issuer = (await client.get(address)).raise_for_status().json()["authorization_servers"][0]

    async def vouch(audience: str, resource: str) -> str:
        kind = "urn:ietf:params:oauth:token-type:"
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": f"{kind}id-jag",
            "subject_token_type": f"{kind}id_token",
            "subject_token": data["idp_id_token"],
            "client_id": data["idp_client_id"],
            "audience": audience,
            "resource": resource,
        }
        async with httpx2.AsyncClient() as client:
            answer = await client.post(data["idp_token_endpoint"], data=form)
            return answer.raise_for_status().json()["access_token"]

    return IdentityAssertionOAuthProvider(
        url,
        Memory(),
        data["client_id"],
        data["client_secret"],
        issuer=issuer,
        assertion_provider=vouch,
        token_endpoint_auth_method="client_secret_basic",
    )


LOGINS: dict[str, Callable[[str, Mapping[str, Any]], Awaitable[httpx2.Auth]]] = {
    "auth/client-credentials-jwt": signed_login,
    "auth/enterprise-managed-authorization": enterprise_login,
}
"""Extensions of the protocol that a specification has no words for, and the SDK has providers."""


# ── the run ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def play(scenario: str, url: str, directory: Path) -> None:
    callbacks = CALLBACKS.get(scenario, Callbacks())
    refused = ""
    async with connect(await source(scenario, url), callbacks=callbacks, catalog=Catalog(directory)) as hub:
        status = hub.status[NAME]
        print(f"{scenario}: {status.state}, {status.protocol}, {status.tools} tools", file=sys.stderr)
        if status.failure is not None:
            refused = str(status.failure)
        else:
            try:
                await STORIES.get(scenario, call_first)(hub)
            except Failed as failure:
                refused = str(failure)
    if bool(refused) != (scenario in REFUSED):
        raise Failed(refused or "it was let through, and must not be")
    print(refused or "all went well", file=sys.stderr)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: client.py URL, with the scenario in MCP_CONFORMANCE_SCENARIO", file=sys.stderr)
        return 2
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "auth/metadata-default")
    with tempfile.TemporaryDirectory() as directory:
        # Nothing of this run is kept: the suite's ports, and with them its servers' names, come again.
        os.environ["TOOLBRIDGE_DATA_DIR"] = directory
        become_browser()
        try:
            asyncio.run(asyncio.wait_for(play(scenario, sys.argv[1], Path(directory)), SECONDS))
        except (Failed, TimeoutError) as failure:
            print(f"failed: {failure or f'more than {SECONDS:g} s'}", file=sys.stderr)
            return 1
    print("done")  # the suite keeps what we say, and not how we end
    return 0


if __name__ == "__main__":
    sys.exit(main())
