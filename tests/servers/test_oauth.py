"""Logins against a real authorization server and a real MCP server (the SDK's own), through the real SDK client."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import json
import logging
import os
import secrets
import socket
import stat
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from tests.support.processes import no_tasks_left, nothing_left
from toolbridge.errors import ConfigError, ServerError
from toolbridge.servers import oauth as module
from toolbridge.servers import redirect
from toolbridge.servers import tokens as storage
from toolbridge.servers.oauth import Login, oauth_provider
from toolbridge.servers.redirect import NotThisLoginError, Redirect, pasted, read_redirect
from toolbridge.servers.spec import OAuth, ServerSpec
from toolbridge.servers.tokens import FileStore, KeyringStore, forget_tokens, login_name, token_status, token_store

posix = pytest.mark.skipif(os.name != "posix", reason="file modes and terminals are POSIX's")


def story(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test in a loop of its own that ends in time and leaves no task, thread, process or file descriptor."""

    @functools.wraps(test)
    def told(**arguments: Any) -> None:
        async def limited() -> None:
            async with asyncio.timeout(60):
                await test(**arguments)
            await no_tasks_left()

        with nothing_left(uuid.uuid4().hex):
            asyncio.run(limited())

    return told


HELLO = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
Answer = tuple[int, Any]


class Authority(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """An authorization server and an MCP server that believes it, at two addresses, in a thread.

    The SDK's server pieces do the work; this keeps their memory, counts, and answers in their place on request.
    """

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.lifetime: int | None = 3600
        self.seen: list[str] = []
        """What came: `GET /authorize`, `POST /token refresh_token`, `POST /mcp`."""
        self.forms: list[dict[str, str]] = []
        """What was sent to the token endpoint."""
        self.scopes: list[str] = []
        """What was asked for, a login each."""
        self.answers: dict[str, list[Answer]] = {}
        """Answers in the place of the servers' own: by path, first come first served."""
        self.headers: dict[str, str] = {}
        self.refusal: AuthorizeError | None = None
        self.methods = ["client_secret_post", "client_secret_basic"]
        self.gate: asyncio.Barrier | None = None
        """Requests to the MCP server wait here for each other."""
        self.sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.issuer, origin = (f"http://127.0.0.1:{each.getsockname()[1]}" for each in self.sockets)
        self.url = f"{origin}/mcp"
        self._ready = threading.Event()
        self._servers: list[uvicorn.Server] = []
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def count(self, what: str) -> int:
        return sum(each == what for each in self.seen)

    @property
    def logins(self) -> int:
        return self.count("GET /authorize")

    @property
    def registrations(self) -> int:
        return self.count("POST /register")

    @property
    def renewals(self) -> int:
        return self.count("POST /token refresh_token")

    # What the SDK's authorization server asks of its keeper.

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if self.refusal is not None:
            raise self.refusal
        code = f"code-{secrets.token_hex(16)}"
        self.scopes.append(" ".join(params.scopes or ()))
        self.codes[code] = AuthorizationCode(
            code=code, client_id=client.client_id, scopes=params.scopes or [], expires_at=time.time() + 60,
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri, resource=params.resource,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
        )  # fmt: skip
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state, iss=f"{self.issuer}/")

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self.grant(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]  # each serves once
        return self.grant(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None: ...

    def grant(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.access[access] = AccessToken(token=access, client_id=client_id, scopes=scopes, resource=resource)
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes, resource=resource)
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=self.lifetime, scope=" ".join(scopes) or None
        )

    # The servers.

    def __enter__(self) -> Authority:
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    async def _serve(self) -> None:
        routes = create_auth_routes(
            self,
            AnyHttpUrl(self.issuer),
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=["read", "write", "admin", "offline_access"]
            ),
        )
        settings = AuthSettings(
            issuer_url=AnyHttpUrl(self.issuer),
            resource_server_url=AnyHttpUrl(self.url),
            required_scopes=["read"],
            validate_token_resource=True,
        )
        server: MCPServer[Any] = MCPServer("guarded", auth=settings, token_verifier=ProviderTokenVerifier(self))

        @server.tool()
        def whoami() -> str:
            """Says who."""
            return "you"

        self.gate = None
        apps = (Starlette(routes=routes), server.streamable_http_app(json_response=True))
        for app in apps:
            config = uvicorn.Config(self._watched(app), log_level="critical", timeout_graceful_shutdown=1)
            self._servers.append(uvicorn.Server(config))
        async with asyncio.TaskGroup() as group:
            for each, listening in zip(self._servers, self.sockets, strict=True):
                each.capture_signals = contextlib.nullcontext  # type: ignore[assignment,method-assign]
                group.create_task(each.serve(sockets=[listening]))
            while not all(each.started for each in self._servers):
                await asyncio.sleep(0.005)
            self._ready.set()

    def _watched(self, app: Any) -> Any:
        async def watch(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                return await app(scope, receive, send)
            method, path = scope["method"], scope["path"]
            body = b""
            while True:
                event = await receive()
                body += event.get("body", b"")
                if not event.get("more_body"):
                    break
            what = f"{method} {path}"
            if path == "/token":
                form = {key: value[0] for key, value in parse_qs(body.decode()).items()}
                self.forms.append(form)
                what += f" {form['grant_type']}"
            self.seen.append(what)
            if path == "/mcp" and self.gate is not None:
                await self.gate.wait()
            if self.answers.get(path):
                answer = self.answers[path].pop(0)
                status, content = answer
                if callable(content):
                    content = content(self.forms[-1])
                return await _reply(send, status, content, self.headers)
            if path == "/.well-known/oauth-authorization-server":
                send = self._with_methods(send)

            async def again() -> Any:
                nonlocal event
                given, event = event, None
                return {"type": "http.request", "body": body} if given else await receive()

            return await app(scope, again, send)

        return watch

    def _with_methods(self, send: Any) -> Any:
        held: dict[str, Any] = {}

        async def changed(event: Any) -> None:
            if event["type"] == "http.response.start":
                held.update(event)
                return
            document = json.loads(event["body"])
            document["token_endpoint_auth_methods_supported"] = self.methods
            await _reply(send, held["status"], document, {})

        return changed


async def _reply(send: Any, status: int, content: Any, headers: dict[str, str]) -> None:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    head += [(key.lower().encode(), value.encode()) for key, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def authority() -> Iterator[Authority]:
    with Authority() as running:
        yield running


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Logins of the tests are kept here, and no browser opens."""
    monkeypatch.setenv("TOOLBRIDGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(redirect.webbrowser, "open", lambda url: pytest.fail("a browser opened"))
    monkeypatch.setattr(storage, "_UNKEPT", {})
    return tmp_path / "data" / "tokens"


@pytest.fixture
def spec(authority: Authority) -> ServerSpec:
    return ServerSpec("guarded", transport="http", url=authority.url, oauth=OAuth())


class Browser:
    """A person with a browser who agrees to everything."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    async def __call__(self, url: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True, verify=False) as http:
            self.pages.append((await http.get(url)).text)


async def nobody(url: str) -> None:
    pytest.fail("a person was asked to log in")


async def list_tools(login: Login, url: str) -> list[str]:
    async with (
        httpx2.AsyncClient(auth=login, verify=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return [tool.name for tool in (await client.list_tools()).tools]


async def send(login: Login, url: str, method: str = "POST") -> int:
    """One request as a connection would send it; its status."""
    async with httpx2.AsyncClient(auth=login, verify=False) as http:
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        return (await http.request(method, url, json=HELLO, headers=headers)).status_code


async def logged_in(spec: ServerSpec) -> None:
    assert await list_tools(oauth_provider(spec, on_url=Browser()), spec.url or "") == ["whoami"]


def documents(spec: ServerSpec, kind: str) -> dict[str, Any]:
    text = token_store().read(f"{login_name(spec)}.{kind}")
    return json.loads(text) if text else {}


def change(spec: ServerSpec, **changes: Any) -> None:
    """Change what is stored of a login."""
    document = documents(spec, "tokens")
    tokens = changes.pop("tokens", {})
    document = {**document, **changes, "tokens": {**document["tokens"], **tokens}}
    token_store().write(f"{login_name(spec)}.tokens", json.dumps(document))


async def failed(login: Login, url: str) -> ServerError:
    with pytest.raises(ServerError) as caught:
        await send(login, url)
    assert login.failure is caught.value.failure
    return caught.value


@story
async def test_the_first_connection_logs_in_and_the_next_ones_use_what_is_kept(
    authority: Authority, spec: ServerSpec
) -> None:
    browser = Browser()
    assert await list_tools(oauth_provider(spec, on_url=browser), authority.url) == ["whoami"]
    assert len(browser.pages) == 1
    assert "You are logged in" in browser.pages[0]
    assert (authority.registrations, authority.logins) == (1, 1)
    before = len(authority.forms)
    assert await list_tools(oauth_provider(spec, on_url=nobody), authority.url) == ["whoami"]
    assert (authority.registrations, authority.logins, len(authority.forms)) == (1, 1, before)


@story
async def test_another_process_uses_what_is_kept(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    code = f"""
        import asyncio, httpx2
        from toolbridge.servers.oauth import oauth_provider
        from toolbridge.servers.spec import OAuth, ServerSpec
        spec = ServerSpec("other name", transport="http", url={authority.url!r}, oauth=OAuth())
        async def main():
            async with httpx2.AsyncClient(auth=oauth_provider(spec), verify=False) as http:
                headers = {{"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}}
                print((await http.post(spec.url, json={HELLO!r}, headers=headers)).status_code)
        asyncio.run(main())
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(code), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), 50)
    assert (out.decode().strip(), err.decode()) == ("400", "")  # 400: a session is asked for, behind the login
    assert authority.logins == 1


@posix
@story
async def test_what_is_kept_is_for_its_owner_alone_whatever_the_umask_is(
    authority: Authority, spec: ServerSpec, data: Path
) -> None:
    before = os.umask(0)
    try:
        await logged_in(spec)
    finally:
        os.umask(before)
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in [data.parent, data, *data.iterdir()]}
    name = login_name(spec)
    assert modes == {
        "data": "0o700",
        "tokens": "0o700",
        f"{name}.tokens.json": "0o600",
        f"{name}.client.json": "0o600",
    }
    assert "access-" not in (data / f"{name}.client.json").read_text()


@story
async def test_an_expired_token_is_renewed_where_it_came_from_and_nobody_is_asked(
    authority: Authority, spec: ServerSpec
) -> None:
    await logged_in(spec)
    old = documents(spec, "tokens")
    change(spec, expires_at=time.time() - 10)
    assert await list_tools(oauth_provider(spec, on_url=nobody), authority.url) == ["whoami"]
    new = documents(spec, "tokens")
    assert (authority.renewals, authority.logins, authority.registrations) == (1, 1, 1)
    assert authority.forms[-1]["resource"] == authority.url
    assert new["tokens"]["access_token"] != old["tokens"]["access_token"]
    assert new["expires_at"] > time.time() + 3000
    await list_tools(oauth_provider(spec, on_url=nobody), authority.url)
    assert authority.renewals == 1


@story
async def test_an_expired_token_is_never_sent(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    del authority.seen[:]
    assert await send(oauth_provider(spec, on_url=nobody), authority.url) == 400
    assert authority.seen == ["POST /token refresh_token", "POST /mcp"]


@story
async def test_a_token_is_renewed_shortly_before_its_end(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    login = oauth_provider(spec, on_url=nobody)
    assert await send(login, authority.url) == 400
    assert authority.renewals == 0
    change(spec, expires_at=time.time() + 20)
    login = oauth_provider(spec, on_url=nobody)
    assert await send(login, authority.url) == 400
    assert await send(login, authority.url) == 400
    assert (authority.renewals, authority.logins) == (1, 1)


@story
async def test_a_token_of_a_short_life_is_used_all_the_same(authority: Authority, spec: ServerSpec) -> None:
    authority.lifetime = 20
    await logged_in(spec)
    await list_tools(oauth_provider(spec, on_url=nobody), authority.url)
    assert (authority.renewals, authority.logins) == (0, 1)


@pytest.mark.parametrize("lifetime", [3600, None])
@story
async def test_a_token_that_the_server_no_longer_likes_is_renewed_before_anybody_is_asked(
    authority: Authority, spec: ServerSpec, lifetime: int | None
) -> None:
    authority.lifetime = lifetime
    await logged_in(spec)
    for login in (oauth_provider(spec, on_url=nobody), oauth_provider(spec, on_url=nobody)):
        assert await send(login, authority.url) == 400
        authority.access.clear()
        assert await send(login, authority.url) == 400
    assert (authority.renewals, authority.logins) == (2, 1)


@story
async def test_what_cannot_be_renewed_is_asked_for_again_and_the_registration_stays(
    authority: Authority, spec: ServerSpec
) -> None:
    await logged_in(spec)
    authority.access.clear()
    authority.refresh.clear()
    browser = Browser()
    assert await list_tools(oauth_provider(spec, on_url=browser), authority.url) == ["whoami"]
    assert (authority.renewals, authority.logins, authority.registrations) == (1, 2, 1)


@story
async def test_a_login_that_stays_refused_ends_with_the_refusal(authority: Authority, spec: ServerSpec) -> None:
    authority.answers["/mcp"] = [(401, {})] * 10
    assert await send(oauth_provider(spec, on_url=Browser()), authority.url) == 401
    assert (authority.count("POST /mcp"), authority.logins, authority.renewals) == (2, 1, 0)
    assert await send(oauth_provider(spec, on_url=Browser()), authority.url) == 401
    assert (authority.count("POST /mcp"), authority.logins, authority.renewals) == (5, 2, 1)


@pytest.mark.parametrize("status", [500, 503, 429])
@story
async def test_a_token_endpoint_that_is_down_loses_neither_login_nor_registration(
    authority: Authority, spec: ServerSpec, status: int
) -> None:
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    kept = documents(spec, "client"), documents(spec, "tokens")
    authority.answers["/token"] = [(status, b"<html>down")] * 2
    login = oauth_provider(spec, on_url=nobody)
    for _ in range(2):
        error = await failed(login, authority.url)
        assert (error.failure.cause, error.failure.status) == ("http_status", status)
        assert (documents(spec, "client"), documents(spec, "tokens")) == kept
    assert await send(login, authority.url) == 400
    assert (authority.logins, authority.registrations, authority.renewals) == (1, 1, 3)


@story
async def test_a_login_that_the_token_endpoint_fails_is_tried_again_with_the_same_registration(
    authority: Authority, spec: ServerSpec
) -> None:
    authority.answers["/token"] = [(500, {"error": "server_error"})]
    error = await failed(oauth_provider(spec, on_url=Browser()), authority.url)
    assert error.failure.cause == "http_status"
    assert "server_error" in str(error)
    assert (documents(spec, "tokens"), bool(documents(spec, "client"))) == ({}, True)
    await logged_in(spec)
    assert (authority.registrations, authority.logins) == (1, 2)


@story
async def test_a_failed_login_reaches_whoever_connects(authority: Authority, spec: ServerSpec) -> None:
    authority.answers["/token"] = [(400, {"error": "invalid_grant", "error_description": "too late"})] * 5
    login = oauth_provider(spec, on_url=Browser())
    with pytest.raises(BaseExceptionGroup) as caught:
        await list_tools(login, authority.url)
    assert caught.group_contains(ServerError)
    assert login.failure is not None
    assert login.failure.message == "the token endpoint answered with status 400 (invalid_grant: too late)"


@story
async def test_a_server_that_forgot_us_gets_a_new_registration(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    for table in (authority.clients, authority.access, authority.refresh):
        table.clear()
    browser = Browser()
    assert await send(oauth_provider(spec, on_url=browser), authority.url) == 400
    assert (authority.registrations, len(browser.pages)) == (2, 1)


@story
async def test_a_registration_whose_secret_has_expired_is_made_anew(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    document = documents(spec, "client")
    document["client"]["client_secret_expires_at"] = int(time.time()) - 5
    token_store().write(f"{login_name(spec)}.client", json.dumps(document))
    authority.access.clear()
    await logged_in(spec)
    assert (authority.registrations, authority.renewals) == (2, 0)


@pytest.mark.parametrize("status", [201, 202])
@story
async def test_any_success_of_the_token_endpoint_is_one(authority: Authority, spec: ServerSpec, status: int) -> None:
    def granted(form: dict[str, str]) -> dict[str, Any]:
        return authority.grant("x", ["read"], authority.url).model_dump(exclude_none=True)

    authority.answers["/token"] = [(status, granted), (status, granted)]
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    assert await send(oauth_provider(spec, on_url=nobody), authority.url) == 400
    assert (authority.logins, authority.renewals) == (1, 1)


@story
async def test_a_registration_that_names_no_method_shows_its_secret(authority: Authority, spec: ServerSpec) -> None:
    authority.answers["/register"] = [(201, {"client_id": "ours", "client_secret": "s" * 20})]

    async def browse(url: str) -> None:
        asked = parse_qs(urlsplit(url).query)
        authority.clients["ours"] = OAuthClientInformationFull.model_validate(
            {
                "client_id": "ours",
                "client_secret": "s" * 20,
                "token_endpoint_auth_method": "client_secret_basic",
                "redirect_uris": asked["redirect_uri"],
                "scope": asked["scope"][0],
            }
        )
        await Browser()(url)

    assert await send(oauth_provider(spec, on_url=browse), authority.url) == 400
    assert "client_secret" not in authority.forms[0]


SECRETS = {"access_token": "leak-access", "refresh_token": "leak-refresh", "client_secret": "leak-client"}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/token", (200, {**SECRETS, "expires_in": "soon"})),
        ("/token", (200, {"error": "bad_code", "x": "leak-body"})),
        ("/token", (200, b"leak-bytes")),
        ("/token", (400, {**SECRETS, "error": ["leak-list"]})),
        ("/token", (400, b"leak-text")),
        ("/token", (500, SECRETS)),
        ("/register", (201, {**SECRETS, "redirect_uris": "nonsense"})),
        ("/register", (200, b"[leak-list]")),
        ("/register", (400, SECRETS)),
        ("/register", (404, b"leak-page")),
    ],
)
@story
async def test_no_answer_with_a_secret_reaches_a_log_or_an_exception(
    authority: Authority, spec: ServerSpec, path: str, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    authority.answers[path] = [answer]
    login = oauth_provider(spec, on_url=Browser())
    error = await failed(login, authority.url)
    shown = [caplog.text, str(error), repr(error), repr(error.failure), repr(login), repr(login.stored)]
    assert [text for text in shown if "leak" in text] == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@story
async def test_no_refresh_with_a_secret_reaches_a_log_or_an_exception(
    authority: Authority, spec: ServerSpec, caplog: pytest.LogCaptureFixture
) -> None:
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    caplog.set_level(logging.DEBUG)
    tokens = documents(spec, "tokens")["tokens"]
    said = {"error": "invalid_request", "error_description": f"got {tokens['refresh_token']} and state"}
    authority.answers["/token"] = [(200, {**SECRETS, "expires_in": "soon"}), (400, said), (503, said)]
    first = oauth_provider(spec, on_url=Browser())
    errors = [await failed(first, authority.url), await failed(first, authority.url)]
    shown = [caplog.text, *map(str, errors), *map(repr, errors)]
    assert not any("leak" in text or tokens["refresh_token"] in text for text in shown)


@story
async def test_five_requests_with_an_expired_token_renew_it_once(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    one, other = oauth_provider(spec, on_url=nobody), oauth_provider(spec, on_url=nobody)
    logins = [one, one, other, other, one]
    assert await asyncio.gather(*(send(login, authority.url) for login in logins)) == [400] * 5
    assert authority.renewals == 1


@story
async def test_connections_that_start_together_ask_a_person_once(authority: Authority, spec: ServerSpec) -> None:
    browser = Browser()
    logins = [oauth_provider(spec, on_url=browser) for _ in range(4)]
    assert await asyncio.gather(*(send(login, authority.url) for login in logins)) == [400] * 4
    assert (len(browser.pages), authority.registrations) == (1, 1)


@story
async def test_requests_with_a_good_token_do_not_wait_for_each_other(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    login = oauth_provider(spec, on_url=nobody)
    assert await send(login, authority.url) == 400
    authority.gate = asyncio.Barrier(3)  # each is answered when all three are there
    async with asyncio.timeout(10):
        assert await asyncio.gather(*(send(login, authority.url) for _ in range(3))) == [400] * 3


@story
async def test_the_request_after_a_renewal_does_not_hold_up_the_others(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    login = oauth_provider(spec, on_url=nobody)
    authority.gate = asyncio.Barrier(3)
    async with asyncio.timeout(10):
        assert await asyncio.gather(*(send(login, authority.url) for _ in range(3))) == [400] * 3
    assert authority.renewals == 1


@story
async def test_what_another_process_renewed_is_used(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    old = oauth_provider(spec, on_url=nobody)
    assert await send(old, authority.url) == 400
    change(spec, expires_at=time.time() - 10)
    assert await send(oauth_provider(spec, on_url=nobody), authority.url) == 400  # the other process
    assert authority.renewals == 1
    tokens = documents(spec, "tokens")["tokens"]
    authority.access = {tokens["access_token"]: authority.access[tokens["access_token"]]}
    assert await send(old, authority.url) == 400
    assert (authority.renewals, authority.logins) == (1, 1)


@story
async def test_a_renewal_that_another_process_won_is_no_lost_login(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    winner = authority.grant(next(iter(authority.clients)), ["read"], authority.url)

    def beaten(form: dict[str, str]) -> dict[str, str]:
        change(spec, tokens=winner.model_dump(exclude_none=True), expires_at=time.time() + 3600)
        return {"error": "invalid_grant"}

    authority.answers["/token"] = [(400, beaten)]
    assert await send(oauth_provider(spec, on_url=nobody), authority.url) == 400
    assert documents(spec, "tokens")["tokens"]["access_token"] == winner.access_token


@story
async def test_a_person_who_refuses_is_believed(
    authority: Authority, spec: ServerSpec, caplog: pytest.LogCaptureFixture
) -> None:
    authority.refusal = AuthorizeError("access_denied", "<b>not</b> today")
    browser = Browser()
    error = await failed(oauth_provider(spec, on_url=browser), authority.url)
    assert (error.failure.cause, error.failure.message) == (
        "unauthorized",
        "the login failed: access_denied <b>not</b> today",
    )
    assert "&lt;b&gt;not&lt;/b&gt; today" in browser.pages[0]
    assert [record.name for record in caplog.records if record.levelno >= logging.ERROR] == []


@story
async def test_a_login_that_nobody_makes_ends_and_closes_its_port(
    authority: Authority, spec: ServerSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOGIN_SECONDS", 0.05)
    opened: list[str] = []
    waiting: list[bool] = []

    async def look_away(url: str) -> None:
        opened.append(parse_qs(urlsplit(url).query)["redirect_uri"][0])
        waiting.append(login.waiting)

    login = oauth_provider(spec, on_url=look_away)
    error = await failed(login, authority.url)
    assert (error.failure.cause, error.failure.message) == ("timeout", "nobody logged in within 0 s")
    assert (waiting, login.waiting) == ([True], False)
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", urlsplit(opened[0]).port)


@story
async def test_an_address_that_cannot_be_shown_is_a_failed_login(authority: Authority, spec: ServerSpec) -> None:
    async def broken(url: str) -> None:
        raise RuntimeError(f"no window for {url}")

    error = await failed(oauth_provider(spec, on_url=broken), authority.url)
    assert error.failure.cause == "unauthorized"
    assert "no window" in error.failure.message
    assert "state=***" in error.failure.message


@story
async def test_the_address_may_be_pasted_instead(authority: Authority, spec: ServerSpec) -> None:
    async def paste(url: str) -> str:
        async with httpx2.AsyncClient(verify=False) as http:
            return (await http.get(url)).headers["Location"]

    assert await list_tools(oauth_provider(spec, on_url=paste), authority.url) == ["whoami"]

    async def paste_another(url: str) -> str:
        return "http://127.0.0.1:1/callback?code=c&state=another"

    forget_tokens(spec)
    error = await failed(oauth_provider(spec, on_url=paste_another), authority.url)
    assert error.failure.message == "the login failed: the address is not the one that this login leads to"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("http://127.0.0.1:5/callback?code=c&state=s", ("c", "s", None)),
        (" <http://127.0.0.1:5/callback?code=c%20d&state=s&iss=https%3A%2F%2Fi>\n", ("c d", "s", "https://i")),
        ("code=c&state=s", ("c", "s", None)),
        ("?code=c&state=s", ("c", "s", None)),
        ("/callback?code=c&state=s", ("c", "s", None)),
        ("http://127.0.0.1:5/callback?code=c&state=t", NotThisLoginError),
        ("http://127.0.0.1:5/callback?code=c", NotThisLoginError),
        ("http://127.0.0.1:5/callback?state=s", NotThisLoginError),
        ("http://127.0.0.1:5/callback?state=s&code=", NotThisLoginError),
        ("http://[::1/callback?state=s&code=c", ValueError),
        ("hello", NotThisLoginError),
        ("", NotThisLoginError),
        ("?error=access_denied&state=t", NotThisLoginError),
        ("?error=access_denied&error_description=go+away&state=s", ValueError),
    ],
)
def test_a_redirected_address_is_read(text: str, result: Any) -> None:
    if isinstance(result, tuple):
        read = read_redirect(text, "s")
        assert (read.code, read.state, read.iss) == result
    else:
        with pytest.raises(ValueError) as caught:
            read_redirect(text, "s")
        assert type(caught.value) is result
    with pytest.raises(ValueError):
        read_redirect(text.replace("state=s", "state="), "")


async def visit(port: int, request: bytes) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    with contextlib.suppress(OSError):
        writer.write_eof()
    try:
        return (await asyncio.wait_for(reader.read(), 5)).decode()
    except ConnectionError:
        return ""
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@story
async def test_only_who_knows_the_state_is_heard_at_the_redirect_address() -> None:
    redirect = await Redirect.open(0)
    port = urlsplit(redirect.uri).port or 0
    waiting = asyncio.ensure_future(redirect.wait("s3"))
    silent, writer = await asyncio.open_connection("127.0.0.1", port)
    for request, status in (
        (b"GET /favicon.ico HTTP/1.1\r\n\r\n", "404"),
        (b"POST /callback?code=c&state=s3 HTTP/1.1\r\n\r\n", "404"),
        (b"GET /callback?code=evil&state=guess HTTP/1.1\r\nHost: x\r\n\r\n", "400"),
        (b"GET /callback?code=evil HTTP/1.1\r\n\r\n", "400"),
        (b"\x16\x03\x01\x02\r\n\r\n", "404"),
        (b"x" * 200_000, ""),
        (b"", "404"),
    ):
        answer = await visit(port, request)
        assert answer.split(" ")[1:2] == ([status] if status else [])
    assert not waiting.done()
    answer = await visit(port, b"GET /callback?code=good&state=s3&iss=i HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert "Cache-Control: no-store" in answer
    result = await asyncio.wait_for(waiting, 5)
    assert (result.code, result.state, result.iss) == ("good", "s3", "i")
    assert (await visit(port, b"GET /callback?code=late&state=s3 HTTP/1.1\r\n\r\n")).startswith("HTTP/1.1 200")
    await redirect.close()
    assert await asyncio.wait_for(silent.read(), 5) == b""
    writer.close()


@story
async def test_the_redirect_address_is_on_this_machine_only() -> None:
    redirect = await Redirect.open(0)
    assert redirect._server is not None
    assert [each.getsockname()[0] for each in redirect._server.sockets] == ["127.0.0.1"]
    await redirect.close()


@story
async def test_the_registered_port_is_used_again_and_one_that_is_taken_is_registered_anew(
    authority: Authority, spec: ServerSpec
) -> None:
    await logged_in(spec)
    (uri,) = documents(spec, "client")["client"]["redirect_uris"]
    forget_tokens(spec)
    await logged_in(spec)
    assert (authority.logins, authority.registrations) == (2, 1)
    with socket.create_server(("127.0.0.1", urlsplit(uri).port or 0)):
        # A renewal that fails first has the provider read the registration again.
        authority.access.clear()
        authority.refresh.clear()
        await logged_in(spec)
    assert (authority.logins, authority.registrations) == (3, 2)
    assert documents(spec, "client")["client"]["redirect_uris"] != [uri]


@story
async def test_the_port_of_the_configuration_is_used_or_its_lack_explained(
    authority: Authority, spec: ServerSpec
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        fixed = replace(spec, oauth=OAuth(redirect_port=port))
        error = await failed(oauth_provider(fixed, on_url=nobody), authority.url)
    assert f"cannot wait for the browser at 127.0.0.1:{port}" in str(error)
    await logged_in(fixed)
    assert documents(fixed, "client")["client"]["redirect_uris"] == [f"http://127.0.0.1:{port}/callback"]


@pytest.mark.parametrize(
    ("configured", "challenged", "asked"),
    [
        ((), None, "read offline_access"),
        (("read", "write"), None, "read write offline_access"),
        (("write",), "read", "write read offline_access"),
    ],
)
@story
async def test_the_scopes_of_the_configuration_are_asked_for(
    authority: Authority, spec: ServerSpec, configured: tuple[str, ...], challenged: str | None, asked: str
) -> None:
    if challenged:
        authority.answers["/mcp"] = [(401, {})]
        authority.headers = {"WWW-Authenticate": f'Bearer scope="{challenged}"'}
    wanted = replace(spec, oauth=OAuth(scopes=configured))
    assert await send(oauth_provider(wanted, on_url=Browser()), authority.url) == 400
    assert authority.scopes == [asked]
    assert token_status(wanted).scopes == tuple(asked.split())


@story
async def test_a_call_that_needs_more_asks_for_more_and_keeps_what_it_had(
    authority: Authority, spec: ServerSpec
) -> None:
    await logged_in(spec)
    for client in authority.clients.values():
        client.scope = "read write admin offline_access"
    login = oauth_provider(spec, on_url=Browser())
    authority.answers["/mcp"] = [(403, {})]
    authority.headers = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="admin"'}
    assert await send(login, authority.url) == 400
    assert authority.scopes == ["read offline_access", "read offline_access admin"]
    assert (authority.renewals, authority.registrations) == (0, 1)


@story
async def test_a_refusal_that_no_login_mends_is_passed_on(authority: Authority, spec: ServerSpec) -> None:
    await logged_in(spec)
    login = oauth_provider(spec, on_url=nobody)
    authority.answers["/mcp"] = [(403, {}), (404, {}), (500, {})]
    assert [await send(login, authority.url) for _ in range(3)] == [403, 404, 500]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
@story
async def test_a_client_that_was_registered_by_hand_is_used_as_the_server_wants_it(
    authority: Authority, spec: ServerSpec, method: str, data: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    authority.methods = [method]
    authority.clients["by-hand"] = OAuthClientInformationFull(
        client_id="by-hand", client_secret="leak-by-hand", redirect_uris=[f"http://127.0.0.1:{port}/callback"],  # type: ignore[list-item]
        token_endpoint_auth_method=method, scope="read offline_access",
    )  # fmt: skip
    given = OAuth("by-hand", "leak-by-hand", redirect_port=port)
    ours = replace(spec, oauth=given)
    await logged_in(ours)
    change(ours, expires_at=time.time() - 10)
    assert await send(oauth_provider(ours, on_url=nobody), authority.url) == 400
    assert (authority.registrations, authority.renewals) == (0, 1)
    assert ["leak" in path.read_text() for path in data.iterdir()] == [False]


@story
async def test_an_authorization_server_that_hangs_is_given_up(
    authority: Authority, spec: ServerSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    monkeypatch.setattr(module, "ENDPOINT_SECONDS", 0.1)
    hung = threading.Event()
    authority.answers["/token"] = [(200, lambda form: hung.wait(20))]
    login = oauth_provider(spec, on_url=nobody)
    try:
        async with httpx2.AsyncClient(auth=login, verify=False, timeout=None) as http, asyncio.timeout(10):
            with pytest.raises(httpx2.ReadTimeout):
                await http.post(authority.url, json=HELLO)
    finally:
        hung.set()
    assert token_status(spec).state == "renewable"
    assert await send(login, authority.url) == 400


@story
async def test_client_credentials_that_are_refused_are_not_replaced_by_a_registration(
    authority: Authority, spec: ServerSpec
) -> None:
    robot = replace(spec, oauth=OAuth("robot", "s3cret", grant="client_credentials"))
    login = oauth_provider(robot)
    authority.answers["/token"] = [(401, {"error": "invalid_client", "error_description": "not s3cret"})] * 2
    for _ in range(2):
        error = await failed(login, authority.url)
        assert error.failure.message == "the token endpoint answered with status 401 (invalid_client: not ***)"
    assert authority.registrations == 0


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
@story
async def test_client_credentials_need_nobody(authority: Authority, spec: ServerSpec, method: str) -> None:
    def granted(form: dict[str, str]) -> dict[str, Any]:
        granted = authority.grant("robot", ["read"], form["resource"])
        return {**granted.model_dump(exclude_none=True, exclude={"refresh_token"}), "scope": form["scope"]}

    authority.methods = [method]
    authority.answers["/token"] = [(200, granted)] * 5
    robot = replace(spec, oauth=OAuth("robot", "s3cret", ("read",), grant="client_credentials"))
    assert await list_tools(oauth_provider(robot, on_url=nobody), authority.url) == ["whoami"]
    assert await list_tools(oauth_provider(robot, on_url=nobody), authority.url) == ["whoami"]
    assert (len(authority.forms), authority.forms[0]["scope"]) == (1, "read")
    assert authority.forms[0].get("client_secret") == ("s3cret" if method == "client_secret_post" else None)
    change(robot, expires_at=time.time() - 10)
    assert await list_tools(oauth_provider(robot, on_url=nobody), authority.url) == ["whoami"]
    authority.access.clear()
    assert await list_tools(oauth_provider(robot, on_url=nobody), authority.url) == ["whoami"]
    assert (len(authority.forms), authority.logins, authority.registrations) == (3, 0, 0)


@story
async def test_a_goodbye_is_not_worth_a_login(authority: Authority, spec: ServerSpec) -> None:
    assert await send(oauth_provider(spec, on_url=nobody), authority.url, "DELETE") == 401
    await logged_in(spec)
    change(spec, expires_at=time.time() - 10)
    assert await send(oauth_provider(spec, on_url=nobody), authority.url, "DELETE") == 401
    assert authority.renewals == 0


@story
async def test_an_answer_of_another_issuer_is_refused(authority: Authority, spec: ServerSpec) -> None:
    async def mixed_up(url: str) -> str:
        state = parse_qs(urlsplit(url).query)["state"][0]
        return "?" + urlencode({"code": "c", "state": state, "iss": "https://evil.example"})

    error = await failed(oauth_provider(spec, on_url=mixed_up), authority.url)
    assert "iss mismatch" in error.failure.message
    assert documents(spec, "tokens") == {}


@story
async def test_a_place_where_nothing_can_be_kept_costs_a_login_a_process(
    authority: Authority, spec: ServerSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOOLBRIDGE_DATA_DIR", str(tmp_path / "file"))
    login = oauth_provider(spec, on_url=Browser())
    assert await list_tools(login, authority.url) == ["whoami"]
    assert login.stored.problem is not None
    assert login.stored.problem.startswith("the login cannot be kept in ")
    authority.access.clear()
    assert await list_tools(oauth_provider(spec, on_url=nobody), authority.url) == ["whoami"]
    assert (authority.logins, authority.renewals) == (1, 1)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2}', '{"version": 1}', '{"version": 1, "tokens": 5}'])
@story
async def test_a_damaged_login_is_as_if_absent(authority: Authority, spec: ServerSpec, content: str) -> None:
    await logged_in(spec)
    name = login_name(spec)
    token_store().write(f"{name}.tokens", content)
    token_store().write(f"{name}.client", content)
    assert token_status(spec).state == "none"
    await logged_in(spec)
    assert (authority.logins, authority.registrations) == (2, 2)


@story
async def test_the_status_of_a_login_and_its_end(authority: Authority, spec: ServerSpec, data: Path) -> None:
    assert token_status(spec) == storage.TokenStatus("none", place=str(data))
    await logged_in(spec)
    now = time.time()
    status = token_status(spec)
    assert status.expires_at is not None
    assert now + 3500 < status.expires_at < now + 3700
    assert replace(status, expires_at=None) == storage.TokenStatus(
        "valid", None, ("read", "offline_access"), True, str(data)
    )
    change(spec, expires_at=now - 5)
    assert token_status(spec).state == "renewable"
    change(spec, tokens={"refresh_token": None})
    assert token_status(spec).state == "expired"
    forget_tokens(spec)
    assert token_status(spec) == storage.TokenStatus("none", registered=True, place=str(data))
    forget_tokens(spec, registration=True)
    assert token_status(spec) == storage.TokenStatus("none", place=str(data))
    forget_tokens(spec, registration=True)


def test_a_login_belongs_to_an_address_and_a_client() -> None:
    one = ServerSpec("a", transport="http", url="https://MCP.example.com/mcp?k=hidden", oauth=OAuth())
    assert login_name(one).startswith("mcp.example.com-")
    assert "hidden" not in login_name(one)
    same = replace(one, name="b", url="HTTPS://mcp.example.com/mcp?k=hidden#x", oauth=OAuth(scopes=("more",)))
    others = [
        replace(one, url="https://mcp.example.com/mcp"),
        replace(one, url="https://mcp.example.com/MCP?k=hidden"),
        replace(one, oauth=OAuth(client_id="c")),
        replace(one, oauth=OAuth(client_id="c", grant="client_credentials")),
    ]
    assert login_name(same) == login_name(one)
    assert len({login_name(each) for each in [one, *others]}) == 5


@pytest.mark.parametrize(
    "spec",
    [
        ServerSpec("s", transport="http", url="https://example.com/mcp"),
        ServerSpec("s", command="x", oauth=OAuth()),
        ServerSpec("s", url="https://e.com", oauth=OAuth(grant="client_credentials")),
        ServerSpec("s", url="https://e.com", oauth=OAuth(client_id="c", grant="client_credentials")),
    ],
)
def test_a_login_that_cannot_be_made_is_a_mistake_of_the_configuration(spec: ServerSpec) -> None:
    with pytest.raises(ConfigError, match="server 's': oauth"):
        oauth_provider(spec)


class Keyring:
    """A keyring, as the package `keyring` has backends."""

    name = "Test"

    def __init__(self, priority: float = 5, limit: int = 10**9) -> None:
        self.priority = priority
        self.limit = limit
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, text: str) -> None:
        if len(text) > self.limit:
            raise RuntimeError(f"CredWrite failed for {text}")
        self.kept[service, name] = text

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


@story
async def test_a_login_is_kept_in_the_keyring(authority: Authority, spec: ServerSpec, tmp_path: Path) -> None:
    backend = Keyring()
    store = KeyringStore(backend, FileStore(tmp_path / "files"))
    assert await send(oauth_provider(spec, on_url=Browser(), store=store), authority.url) == 400
    assert await send(oauth_provider(spec, on_url=nobody, store=store), authority.url) == 400
    assert {name for _, name in backend.kept} == {f"{login_name(spec)}.{kind}" for kind in ("tokens", "client")}
    assert not (tmp_path / "files").exists()
    assert token_status(spec, store=store).place == "keyring (Test)"
    forget_tokens(spec, registration=True, store=store)
    assert backend.kept == {}


def test_what_a_keyring_does_not_take_goes_into_a_file(tmp_path: Path) -> None:
    backend = Keyring(limit=10)
    store = KeyringStore(backend, FileStore(tmp_path / "files"))
    store.write("n", "short")
    store.write("n", "much too long")
    assert (store.read("n"), backend.kept) == ("much too long", {})
    store.write("n", "again")
    assert (store.read("n"), list((tmp_path / "files").iterdir())) == ("again", [])
    store.delete("n")
    store.delete("n")
    assert store.read("n") is None


def test_a_real_keyring_is_used_unless_files_are_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Module:
        backend: Any = None

        @classmethod
        def get_keyring(cls) -> Any:
            return cls.backend

    monkeypatch.setitem(sys.modules, "keyring", Module)  # type: ignore[arg-type]
    environment = {"XDG_DATA_HOME": str(tmp_path)}
    for backend, kind in ((Keyring(), KeyringStore), (Keyring(priority=0), FileStore), (None, FileStore)):
        Module.backend = backend
        assert type(token_store(environment)) is kind
    Module.backend = Keyring()
    assert type(token_store({"TOOLBRIDGE_DATA_DIR": str(tmp_path)})) is FileStore
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert type(token_store(environment)) is FileStore


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {"TOOLBRIDGE_DATA_DIR": "/d"}, "/d"),
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/toolbridge"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "/home/u/.local/share/toolbridge"),
        ("darwin", {}, "/home/u/Library/Application Support/toolbridge"),
        ("win32", {"APPDATA": "/r"}, "/r/toolbridge"),
        ("win32", {}, "/home/u/AppData/Roaming/toolbridge"),
    ],
)
def test_logins_are_where_the_system_keeps_data(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], place: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/u"))
    assert storage.data_directory(environment) == Path(place)


@pytest.mark.parametrize(
    ("platform", "environment", "there"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "w"}, True),
        ("linux", {"BROWSER": "firefox"}, True),
        ("darwin", {}, True),
        ("darwin", {"SSH_CONNECTION": "1 2"}, False),
    ],
)
def test_a_browser_is_where_a_window_can_open(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], there: bool
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(redirect.sys, "platform", platform)
    assert redirect.has_browser() is there


@pytest.mark.parametrize("opens", [True, False, None])
@story
async def test_the_browser_opens_or_the_address_is_shown(
    authority: Authority,
    spec: ServerSpec,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    opens: bool | None,
) -> None:
    loop = asyncio.get_running_loop()
    browsing: list[asyncio.Task[None]] = []
    browse: Callable[[str], Awaitable[None]] = Browser()

    def start(url: str) -> None:
        browsing.append(loop.create_task(browse(url)))  # type: ignore[arg-type]

    def open_browser(url: str) -> bool:
        loop.call_soon_threadsafe(start, url)
        return bool(opens)

    class Console(io.StringIO):
        def write(self, text: str) -> int:
            if opens is None and "http" in text:
                start(text.split()[-1])
            return super().write(text)

    console = Console()
    monkeypatch.setattr(redirect, "has_browser", lambda: opens is not None)
    monkeypatch.setattr(redirect.webbrowser, "open", open_browser)
    monkeypatch.setattr(redirect.sys, "stderr", console)
    monkeypatch.setattr(redirect.sys, "stdin", None)
    assert await send(oauth_provider(spec), authority.url) == 400
    await asyncio.gather(*browsing)
    assert "log in to 'guarded'" in console.getvalue()
    assert f"{authority.issuer}/authorize?" in console.getvalue()
    assert "access-" not in console.getvalue()


@contextlib.asynccontextmanager
async def terminal() -> AsyncGenerator[tuple[int, Any]]:
    """A terminal: where a person types, and what the program reads."""
    import pty

    person, program = pty.openpty()
    with os.fdopen(program, "r") as stream:
        try:
            yield person, stream
        finally:
            os.close(person)


@posix
@story
async def test_a_person_at_a_terminal_may_paste_until_it_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    async with terminal() as (person, stream):
        asked = asyncio.ensure_future(pasted(stream, "s"))
        await asyncio.sleep(0)
        assert not asked.done()
        os.write(person, b"what?\nhttp://127.0.0.1:9/callback?code=c&state=s\n")
        assert (await asyncio.wait_for(asked, 10) or "").strip() == "http://127.0.0.1:9/callback?code=c&state=s"
        assert "paste all of it" in capsys.readouterr().err
        refused = asyncio.ensure_future(pasted(stream, "s"))
        os.write(person, b"?error=access_denied&state=s\n")
        assert "access_denied" in (await asyncio.wait_for(refused, 10) or "")
        given_up = asyncio.ensure_future(pasted(stream, "s"))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
    assert await pasted(io.StringIO("code=c&state=s"), "s") is None
    assert await pasted(None, "s") is None
