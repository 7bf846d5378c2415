"""Hosted MCP: request fields that each provider's own SDK types accept, with no key they do not know."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types.beta import BetaMCPToolsetParam, BetaRequestMCPServerURLDefinitionParam
from google.genai import types as genai
from openai.types.responses.tool_param import Mcp
from pydantic import TypeAdapter, ValidationError

from toolbridge import (
    Approval,
    Converted,
    HostedServer,
    MCPToolFilter,
    Note,
    UnsupportedError,
    hosted_fields,
)
from toolbridge.providers import get_provider, providers

URL = "https://mcp.example.org/mcp"
SERVER = HostedServer("docs", url=URL)
NEVER = Approval(default="never")
ABLE = ["openai-responses", "anthropic", "gemini", "gemini-openapi"]


def drained(value: Any) -> Any:
    """The value with its lazy iterators run: what they would refuse is only then refused."""
    if isinstance(value, dict):
        return {key: drained(each) for key, each in value.items()}
    if isinstance(value, list | tuple) or type(value).__name__ == "ValidatorIterator":
        return [drained(each) for each in value]
    return value


def fits(kind: Any, value: Any) -> bool:
    """Whether the SDK's type takes the value, and every key in it."""
    adapter = TypeAdapter(kind)  # kept until its lazy iterators are drained
    try:
        return drained(adapter.validate_python(value, extra="forbid")) == value
    except ValidationError:
        return False


def openai_entry(converted: Converted[dict[str, Any]]) -> dict[str, Any]:
    assert converted.value.keys() == {"tools"}
    (entry,) = converted.value["tools"]
    assert fits(Mcp, entry)
    return entry


def anthropic_entries(converted: Converted[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    assert converted.value.keys() == {"mcp_servers", "tools"}
    (server,), (toolset,) = converted.value["mcp_servers"], converted.value["tools"]
    assert fits(BetaRequestMCPServerURLDefinitionParam, server)
    assert fits(BetaMCPToolsetParam, toolset)
    assert toolset["mcp_server_name"] == server["name"]
    return server, toolset


def gemini_entry(converted: Converted[dict[str, Any]]) -> dict[str, Any]:
    assert converted.value.keys() == {"tools"}
    (tool,) = converted.value["tools"]
    parsed = genai.Tool.model_validate(tool)  # its models refuse a key they do not know
    assert parsed.model_dump(by_alias=True, exclude_none=True) == tool
    (entry,) = tool["mcpServers"]
    return entry


def test_the_judges_refuse_a_key_that_the_sdk_does_not_know() -> None:
    assert fits(Mcp, {"type": "mcp", "server_label": "docs", "server_url": URL})
    assert not fits(Mcp, {"type": "mcp", "server_label": "docs", "url": URL})
    assert not fits(Mcp, {"type": "mcp", "server_label": "docs", "allowed_tools": {"names": ["a"]}})
    assert not fits(BetaMCPToolsetParam, {"type": "mcp_toolset", "mcp_server_name": "docs", "allowed_tools": ["a"]})
    assert not fits(BetaRequestMCPServerURLDefinitionParam, {"type": "url", "url": URL, "name": "d", "headers": {}})
    with pytest.raises(ValidationError):
        genai.Tool.model_validate({"mcpServers": [{"name": "docs", "url": URL}]})


# ── the plain server ─────────────────────────────────────────────────────────────────────────────────────────────


def test_openai_gets_an_mcp_tool_that_asks_for_every_call_by_default() -> None:
    converted = hosted_fields(SERVER, "openai-responses")
    assert openai_entry(converted) == {
        "type": "mcp",
        "server_label": "docs",
        "server_url": URL,
        "require_approval": "always",
    }
    assert converted.notes == ()


def test_anthropic_gets_a_server_and_the_one_toolset_that_refers_to_it() -> None:
    converted = hosted_fields(SERVER, "anthropic", approval=NEVER)
    assert anthropic_entries(converted) == (
        {"type": "url", "url": URL, "name": "docs"},
        {"type": "mcp_toolset", "mcp_server_name": "docs"},
    )
    assert converted.notes == ()


def test_gemini_gets_a_server_inside_a_tool() -> None:
    converted = hosted_fields(SERVER, "gemini", approval=NEVER)
    assert gemini_entry(converted) == {"name": "docs", "streamableHttpTransport": {"url": URL}}
    assert converted.notes == ()


@pytest.mark.parametrize("name", ABLE)
def test_a_provider_may_be_given_as_itself_or_by_its_name(name: str) -> None:
    assert hosted_fields(SERVER, get_provider(name)) == hosted_fields(SERVER, name)


# ── everything a server may have ─────────────────────────────────────────────────────────────────────────────────

FULL = HostedServer(
    "docs",
    url=URL,
    headers={"X-Team": "blue"},
    authorization="token-1",
    description="Product documentation.",
    defer_loading=True,
)


def test_openai_has_a_place_for_all_of_a_server() -> None:
    converted = hosted_fields(FULL, "openai-responses", approval=NEVER)
    assert openai_entry(converted) == {
        "type": "mcp",
        "server_label": "docs",
        "server_url": URL,
        "server_description": "Product documentation.",
        "authorization": "token-1",
        "headers": {"X-Team": "blue"},
        "defer_loading": True,
        "require_approval": "never",
    }
    assert converted.notes == ()


def test_anthropic_has_no_place_for_headers_and_says_so_without_their_values() -> None:
    converted = hosted_fields(FULL, "anthropic", approval=NEVER)
    assert anthropic_entries(converted) == (
        {"type": "url", "url": URL, "name": "docs", "authorization_token": "token-1"},
        {"type": "mcp_toolset", "mcp_server_name": "docs", "default_config": {"defer_loading": True}},
    )
    assert Note("headers.dropped", "changed", "/mcp_servers/0", ["X-Team"]) in converted.notes
    assert "blue" not in repr(converted.notes)


def test_gemini_takes_the_token_as_a_header() -> None:
    converted = hosted_fields(FULL, "gemini", approval=NEVER)
    assert gemini_entry(converted) == {
        "name": "docs",
        "streamableHttpTransport": {"url": URL, "headers": {"X-Team": "blue", "Authorization": "Bearer token-1"}},
    }


@pytest.mark.parametrize("header", ["Authorization", "authorization"])
def test_gemini_never_gets_two_authorizations(header: str) -> None:
    server = HostedServer("docs", url=URL, headers={header: "Basic abc"}, authorization="token-1")
    transport = gemini_entry(hosted_fields(server, "gemini"))["streamableHttpTransport"]
    assert transport == {"url": URL, "headers": {header: "Basic abc"}}


@pytest.mark.parametrize(
    ("server", "place"),
    [
        (HostedServer("mail", connector_id="connector_gmail"), {"connector_id": "connector_gmail"}),
        (HostedServer("lab", tunnel_id="tunnel_" + "a" * 32), {"tunnel_id": "tunnel_" + "a" * 32}),
    ],
)
def test_openai_also_reaches_a_server_by_connector_or_tunnel(server: HostedServer, place: dict[str, str]) -> None:
    assert openai_entry(hosted_fields(server, "openai-responses")) == {
        "type": "mcp",
        "server_label": server.name,
        **place,
        "require_approval": "always",
    }


# ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("chosen", "allowed", "notes"),
    [
        (MCPToolFilter(), None, ()),
        (MCPToolFilter(include=["search", "read"]), ["search", "read"], ()),
        (MCPToolFilter(include=["search", "read"], exclude=["read"]), ["search"], ()),
        (MCPToolFilter(read_only=True), {"read_only": True}, ()),
        (MCPToolFilter(read_only=False), {"read_only": False}, ()),
        (MCPToolFilter(include=["search"], read_only=True), {"read_only": True, "tool_names": ["search"]}, ()),
        (
            MCPToolFilter(include=["search", "read_*"]),
            ["search"],
            (Note("filter.globs", "narrowed", "/allowed_tools", ["search", "read_*"]),),
        ),
        (MCPToolFilter(exclude=["drop"]), None, (Note("filter.exclude", "widened", "/allowed_tools", ["drop"]),)),
        (MCPToolFilter(include=["drop"], exclude=["drop"]), [], ()),
    ],
)
def test_a_filter_is_openais_allowed_tools(chosen: MCPToolFilter, allowed: Any, notes: tuple[Note, ...]) -> None:
    converted = hosted_fields(SERVER, "openai-responses", filter=chosen, approval=NEVER)
    entry = {"type": "mcp", "server_label": "docs", "server_url": URL, "require_approval": "never"}
    assert openai_entry(converted) == (entry if allowed is None else {**entry, "allowed_tools": allowed})
    assert converted.notes == notes


OFF = {"enabled": False}
ON = {"enabled": True}


@pytest.mark.parametrize(
    ("chosen", "toolset", "notes"),
    [
        (MCPToolFilter(), {}, ()),
        (MCPToolFilter(include=["a", "b"]), {"default_config": OFF, "configs": {"a": ON, "b": ON}}, ()),
        (MCPToolFilter(include=["a", "b"], exclude=["b"]), {"default_config": OFF, "configs": {"a": ON}}, ()),
        (MCPToolFilter(exclude=["a"]), {"configs": {"a": OFF}}, ()),
        (
            MCPToolFilter(include=["a", "b*"]),
            {"default_config": OFF, "configs": {"a": ON}},
            (Note("filter.globs", "narrowed", "/tools/0/configs", ["a", "b*"]),),
        ),
        (
            MCPToolFilter(exclude=["a", "b*"]),
            {"configs": {"a": OFF}},
            (Note("filter.globs", "widened", "/tools/0/configs", ["a", "b*"]),),
        ),
        (MCPToolFilter(read_only=True), {}, (Note("filter.read_only", "widened", "/tools/0", True),)),
    ],
)
def test_a_filter_is_anthropics_configs(
    chosen: MCPToolFilter, toolset: dict[str, Any], notes: tuple[Note, ...]
) -> None:
    converted = hosted_fields(SERVER, "anthropic", filter=chosen, approval=NEVER)
    _, written = anthropic_entries(converted)
    assert written == {"type": "mcp_toolset", "mcp_server_name": "docs", **toolset}
    assert converted.notes == notes


def test_an_allow_list_and_deferred_loading_share_anthropics_default() -> None:
    server = HostedServer("docs", url=URL, defer_loading=True)
    _, toolset = anthropic_entries(hosted_fields(server, "anthropic", filter=MCPToolFilter(include=["a"])))
    assert toolset["default_config"] == {"enabled": False, "defer_loading": True}
    assert toolset["configs"] == {"a": ON}


@pytest.mark.parametrize(
    ("chosen", "before"),
    [(MCPToolFilter(include=["a"]), ["a"]), (MCPToolFilter(exclude=["b"]), ["b"]), (MCPToolFilter(read_only=True), [])],
)
def test_gemini_takes_every_tool_and_the_note_says_that_the_filter_is_lost(
    chosen: MCPToolFilter, before: list[str]
) -> None:
    converted = hosted_fields(SERVER, "gemini", filter=chosen, approval=NEVER)
    assert gemini_entry(converted) == {"name": "docs", "streamableHttpTransport": {"url": URL}}
    assert converted.notes == (Note("filter.dropped", "widened", "/tools/0/mcpServers/0", before),)


# ── approval ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("approval", "required"),
    [
        (Approval(), "always"),
        (Approval(default="never"), "never"),
        (Approval(never=("read",)), {"never": {"tool_names": ["read"]}}),
        (Approval(never_read_only=True), {"never": {"read_only": True}}),
        (Approval(never_where_read_only=("read",)), {"never": {"tool_names": ["read"], "read_only": True}}),
        (
            Approval(always=("drop",), never=("read",)),
            {"always": {"tool_names": ["drop"]}, "never": {"tool_names": ["read"]}},
        ),
    ],
)
def test_an_approval_policy_is_openais_require_approval(approval: Approval, required: Any) -> None:
    converted = hosted_fields(SERVER, "openai-responses", approval=approval)
    assert openai_entry(converted)["require_approval"] == required
    assert converted.notes == ()


def test_a_default_of_never_with_exceptions_is_not_lost_in_silence() -> None:
    converted = hosted_fields(SERVER, "openai-responses", approval=Approval(default="never", always=("drop",)))
    assert openai_entry(converted)["require_approval"] == {"always": {"tool_names": ["drop"]}}
    # Tools that neither list names fall back to the API's own default, which is to ask.
    assert [(each.effect, each.path) for each in converted.notes] == [("narrowed", "/require_approval")]


@pytest.mark.parametrize(("provider", "path"), [("anthropic", "/tools/0"), ("gemini", "/tools/0/mcpServers/0")])
@pytest.mark.parametrize(
    "approval", [Approval(), Approval(default="never", always=("drop",)), Approval(never=("read",))]
)
def test_where_nobody_can_be_asked_the_note_says_so(provider: str, path: str, approval: Approval) -> None:
    converted = hosted_fields(SERVER, provider, approval=approval)
    assert converted.notes == (Note("approval.dropped", "widened", path, approval.default),)
    assert converted.value == hosted_fields(SERVER, provider, approval=NEVER).value


# ── what cannot be ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", [each for each in providers() if each not in ABLE])
def test_a_provider_without_hosting_says_so_and_names_those_with(name: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        hosted_fields(SERVER, name)
    assert str(raised.value) == (
        f"{name} connects to no MCP servers by itself; these do: openai-responses, anthropic, gemini, gemini-openapi"
    )


@pytest.mark.parametrize("provider", ABLE)
@pytest.mark.parametrize(
    "server",
    [HostedServer("docs"), HostedServer("docs", url=""), HostedServer("docs", url=URL, tunnel_id="tunnel_" + "a" * 32)],
)
def test_a_server_is_reached_in_exactly_one_way(provider: str, server: HostedServer) -> None:
    with pytest.raises(UnsupportedError) as raised:
        hosted_fields(server, provider)
    assert str(raised.value) == "server 'docs' needs exactly one of url, connector_id and tunnel_id"


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_a_connector_is_refused_where_only_urls_are_taken(provider: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        hosted_fields(HostedServer("mail", connector_id="connector_gmail"), provider)
    assert str(raised.value) == f"{provider} connects by url only; server 'mail' has none"


def test_a_server_without_a_name_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="needs a name"):
        hosted_fields(HostedServer("", url=URL), "openai-responses")


# ── secrets ──────────────────────────────────────────────────────────────────────────────────────────────────────

SECRET = HostedServer("docs", url=URL, headers={"X-Api-Key": "hush-header"}, authorization="hush-token")


@pytest.mark.parametrize("secret", ["hush-token", "hush-header"])
def test_no_secret_shows_in_the_repr_of_a_server(secret: str) -> None:
    assert secret not in repr(SECRET)
    assert secret not in f"{SECRET}"


@pytest.mark.parametrize("provider", ABLE)
def test_no_secret_shows_in_a_note(provider: str) -> None:
    converted = hosted_fields(SECRET, provider, filter=MCPToolFilter(include=["a*"], read_only=True))
    assert "hush" in repr(converted.value)
    assert "hush" not in repr(converted.notes)


@pytest.mark.parametrize("provider", [each for each in providers() if each not in ABLE])
def test_no_secret_shows_in_an_error(provider: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        hosted_fields(SECRET, provider)
    assert "hush" not in str(raised.value)


def test_the_fields_are_copies_that_a_caller_may_change() -> None:
    headers = {"X-Team": "blue"}
    server = HostedServer("docs", url=URL, headers=headers)
    for provider in ("openai-responses", "gemini"):
        value = hosted_fields(server, provider).value
        (entry,) = value["tools"]
        holder = entry if provider == "openai-responses" else entry["mcpServers"][0]["streamableHttpTransport"]
        holder["headers"]["X-Team"] = "red"
    assert headers == {"X-Team": "blue"}
