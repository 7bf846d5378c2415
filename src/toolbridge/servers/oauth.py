"""OAuth: logging in to a server that asks for it, and staying logged in.

The SDK's provider does the talking: discovery, registration, PKCE, token requests. `Login` drives it from outside, as
the `httpx2.Auth` of a connection, for what it leaves open. Requests with a good token pass side by side (the provider
alone lets one through at a time); a refused or ending token is renewed before a person is asked; a token endpoint that
is down is not taken for a lost login; what another process renewed is used; and no answer that holds a token gets into
a log or an exception. `tokens` keeps the login; `Redirect` is the address that the browser comes back to.
"""

from __future__ import annotations

import asyncio
import json
import time
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit
from weakref import WeakKeyDictionary

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    extract_scope_from_www_auth,
    is_valid_client_metadata_url,
    union_scopes,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import AnyUrl, ValidationError

from toolbridge.errors import ConfigError, ServerError
from toolbridge.failure import Cause, Failure
from toolbridge.servers.redirect import REDIRECT_PATH, Redirect, read_redirect, show, state_of
from toolbridge.servers.secrets import redact, shown_url
from toolbridge.servers.spec import OAuth, ServerSpec
from toolbridge.servers.tokens import LONG_AGO, ClientMetadata, Store, StoredLogin, token_store

LOGIN_SECONDS = 300.0
"""How long a person has to log in: time to find a password and a second factor."""

ENDPOINT_SECONDS = 30.0
"""How long an authorization server may take to answer. The provider sets no limit, nor may the connection have one."""

EARLY_SECONDS = 30.0
"""A token is renewed this long before its end, or in the last tenth of its life, so that none ends on its way."""

OnUrl: TypeAlias = Callable[[str], Awaitable[str | None]]
"""Shows a person the address to log in at. What it returns, if anything, is the address that the browser was sent back
to, as a person pasted it."""


def oauth_provider(spec: ServerSpec, *, on_url: OnUrl | None = None, store: Store | None = None) -> Login:
    """The authentication of this server's HTTP requests. Making it does nothing; the first request does."""
    oauth = spec.oauth
    if oauth is None or spec.url is None:
        raise ConfigError([f'server {spec.name!r}: oauth: a login needs a "url" and an "oauth" entry'])
    if oauth.grant == "client_credentials" and not (oauth.client_id and oauth.client_secret):
        raise ConfigError([f"server {spec.name!r}: oauth: client_credentials needs a client_id and a client_secret"])
    if oauth.metadata_url is not None and not is_valid_client_metadata_url(oauth.metadata_url):
        raise ConfigError([f"server {spec.name!r}: oauth: metadata_url: expected an https:// address with a path"])
    return Login(spec, oauth, token_store() if store is None else store, on_url)


class Login(httpx2.Auth):
    """A server's login, as the authentication of a connection's requests. One event loop uses it."""

    def __init__(self, spec: ServerSpec, oauth: OAuth, store: Store, on_url: OnUrl | None) -> None:
        self._spec = spec
        self._oauth = oauth
        self._on_url = on_url
        self.stored = StoredLogin(store, spec)
        self._provider = self._made_provider(spec.url or "")
        self.stored.context = self._context = self._provider.context
        self._redirect: Redirect | None = None
        self._url = ""
        self._waiting = 0
        self._hidden: set[str] = set()  # what was sent to a token endpoint
        self.failure: Failure | None = None
        """Why the last login failed."""

    def __repr__(self) -> str:
        return f"Login({self._spec.name!r})"

    @property
    def waiting(self) -> bool:
        """Whether a person is being asked: time limits that measure the server stand still."""
        return self._waiting > 0

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        goodbye = request.method == "DELETE"  # not worth a login, nor a wait for a new token
        answer: httpx2.Response | None = None  # the server's "not like this"
        refused: str | None = None  # the token that it did not like
        tried: set[str] = set()
        while True:
            if not goodbye and self._token() in (None, refused):
                async with self._turn():
                    await self._restore()
                    can_renew = self._context.can_refresh_token() and (answer is None or answer.status_code == 401)
                    renew = can_renew and "renewal" not in tried
                    if self._token() in (None, refused) and (renew or answer is not None):
                        given = None if renew else answer
                        tried.add("renewal" if renew else "login")
                        await self._prepare(given)
                        flow = self._provider.async_auth_flow(request)
                        try:
                            outgoing = await self._next(flow, None)
                            while outgoing is not None:
                                if outgoing is not request:
                                    outgoing.extensions["timeout"] = httpx2.Timeout(ENDPOINT_SECONDS).as_dict()
                                    response = yield outgoing
                                    await self._check(outgoing, response)
                                elif given is not None:  # the provider hears the refusal that we heard
                                    response, given = given, None
                                else:
                                    break  # it would send the request now: that is done below, out of turn
                                outgoing = await self._next(flow, response)
                        finally:
                            await flow.aclose()
                            if self._redirect is not None:
                                await self._redirect.close()
                if answer is not None and "login" not in tried and self._token() in (None, refused):
                    continue  # it could not be renewed
            refused = self._token()
            self._authorize(request, refused)
            answer = yield request
            if not _is_challenge(answer) or "login" in tried or goodbye:
                return

    def _authorize(self, request: httpx2.Request, token: str | None) -> None:
        request.headers.pop("Authorization", None)
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"

    def _token(self) -> str | None:
        """The access token, if it will last until it arrives."""
        tokens, end = self._context.current_tokens, self._context.token_expiry_time
        if tokens is None or not self._context.is_token_valid():
            return None
        early = min(EARLY_SECONDS, (self.stored.lifetime or 0) / 10) if self._context.can_refresh_token() else 0.0
        return None if end is not None and end - early <= time.time() else tokens.access_token

    async def _restore(self) -> None:
        """Take over what is stored: another process may have logged in, or renewed, since we looked."""
        if (stored := await self.stored.get_tokens()) is not None:
            self._context.current_tokens = stored
        if self._context.client_info is None:
            self._context.client_info = await self.stored.get_client_info()
        if self._context.oauth_metadata is not None:
            self._show_secret_as(self._context.oauth_metadata.token_endpoint_auth_methods_supported)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """One at a time renews or logs in; whoever waited finds the token there."""
        lock = _TURNS.setdefault(asyncio.get_running_loop(), {}).setdefault(self.stored.name, asyncio.Lock())
        self._waiting += 1  # perhaps for the person who is logging in
        try:
            await lock.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            lock.release()

    async def _prepare(self, answer: httpx2.Response | None) -> None:
        """Before a renewal: have the provider want one. Before a login, which `answer` asks for: have an address for
        the browser to come back to, and the scopes that the operator wants."""
        context = self._context
        if answer is None:
            self.stored.spent = context.current_tokens.access_token if context.current_tokens else None
            context.token_expiry_time = LONG_AGO
            return
        assert isinstance(context.client_metadata, ClientMetadata)
        challenged = extract_scope_from_www_auth(answer) if answer.status_code == 401 else None
        scopes = self._oauth.scopes
        context.client_metadata.want(union_scopes(" ".join(scopes), challenged) if scopes else None)
        if self._oauth.grant == "client_credentials":
            return
        registered = [str(uri) for uri in (context.client_info and context.client_info.redirect_uris) or ()]
        ports = [urlsplit(uri).port or 0 for uri in registered if uri.startswith("http://127.0.0.1:")]
        port = self._oauth.redirect_port
        try:
            self._redirect = await Redirect.open(*([port] if port else [*ports, 0]))
        except OSError as failure:
            words = f"cannot wait for the browser at 127.0.0.1:{port}: {failure.strerror}"
            raise self._failed("unauthorized", words) from None
        context.client_metadata.redirect_uris = [AnyUrl(self._redirect.uri)]
        if registered and self._redirect.uri not in registered and context.client_info:
            self.stored.unfit = context.client_info.client_id  # most servers compare the port too: register anew
            context.client_info = None

    async def _next(
        self, flow: AsyncGenerator[httpx2.Request, httpx2.Response], response: httpx2.Response | None
    ) -> httpx2.Request | None:
        """The provider's next request, or `None` when it is done."""
        try:
            return await (flow.__anext__() if response is None else flow.asend(response))
        except StopAsyncIteration:
            return None
        except _Stopped as stop:
            raise self._failed(*stop.args) from None
        except OAuthFlowError as failure:
            raise self._failed("unauthorized", f"the login failed: {failure}") from None

    async def _check(self, outgoing: httpx2.Request, response: httpx2.Response) -> None:
        """Judge an answer before the provider does, which would put its body into a log and an exception."""
        if response.next_request is not None:
            return
        await response.aread()
        if outgoing.method != "POST":
            with suppress(ValueError, AttributeError):  # whatever else it is, the provider judges it
                self._show_secret_as(json.loads(response.content).get("token_endpoint_auth_methods_supported"))
            return
        is_form = "form" in outgoing.headers.get("Content-Type", "")  # a registration is JSON
        form = parse_qs(outgoing.content.decode("ascii", "replace")) if is_form else {}
        grant = form.get("grant_type", [""])[0]
        self._hidden |= {form[key][0] for key in _SECRET_FIELDS & form.keys()}
        error, words = _error_of(response)
        what = f"the {'token endpoint' if grant else 'registration'} answered {words}"
        if response.is_success:
            try:
                (OAuthToken if grant else OAuthClientInformationFull).model_validate_json(response.content)
            except ValidationError:
                raise self._failed("unauthorized", what) from None
            response.status_code = 200  # any success is one; the provider knows only 200 and 201
            return
        if response.status_code in (408, 429) or response.status_code >= 500:
            raise self._failed("http_status", f"{what}; nothing is lost, try again later", response.status_code)
        if error == "invalid_client" and not self._oauth.client_id:
            await self.stored.forget("client")  # the server has forgotten us: register anew the next time
            self._context.client_info = None
        if grant == "refresh_token":
            stored = await self.stored.get_tokens()
            if stored is not None and stored.refresh_token == form.get("refresh_token", [""])[0]:
                await self.stored.forget("tokens")  # unless another process has renewed them meanwhile
            return
        hint = "" if grant else '; give the "client_id" of a client that you registered there'
        raise self._failed("unauthorized", what + hint, response.status_code)

    def _show_secret_as(self, methods: object) -> None:
        """How a client that was registered by hand shows its secret: in a way that the server supports."""
        client = self._context.client_info
        if client is not None and client.client_secret and self._oauth.client_secret and isinstance(methods, list):
            known = [each for each in ("client_secret_basic", "client_secret_post") if each in methods]
            client.token_endpoint_auth_method = known[0] if known else client.token_endpoint_auth_method

    def _failed(self, cause: Cause, message: str, status: int | None = None) -> ServerError:
        tokens, client = self._context.current_tokens, self._context.client_info
        hidden = {*self._spec.secrets, *self._hidden, self._oauth.client_secret, state_of(self._url)}
        hidden |= {tokens.access_token, tokens.refresh_token} if tokens else set()
        hidden |= {client.client_secret} if client else set()
        words, url = (redact(text, filter(None, hidden)) for text in (message, shown_url(self._spec.url or "")))
        self.failure = Failure(self._spec.name, cause, words, command=url, status=status)
        return ServerError(self.failure)

    def _made_provider(self, url: str) -> OAuthClientProvider:
        oauth, scope = self._oauth, " ".join(self._oauth.scopes) or None
        if oauth.grant == "client_credentials":
            with warnings.catch_warnings():
                # The SDK wants to be told the issuer; here the server that the operator configured names it.
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                provider = ClientCredentialsOAuthProvider(
                    url, self.stored, oauth.client_id or "", oauth.client_secret or "", scope=scope
                )
            provider.context.client_metadata = ClientMetadata(**provider.context.client_metadata.model_dump())
            return provider
        address = AnyUrl(f"http://127.0.0.1{REDIRECT_PATH}")  # with its port when a login comes
        metadata = ClientMetadata(client_name="toolbridge", redirect_uris=[address], scope=scope)
        return OAuthClientProvider(url, metadata, self.stored, self._keep_url, self._ask, oauth.metadata_url)

    async def _keep_url(self, url: str) -> None:
        self._url = url

    async def _ask(self) -> AuthorizationCodeResult:
        """Have a person log in. Whatever stops that leaves as `_Stopped`."""
        assert self._redirect is not None
        self._waiting += 1
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                return await self._answered(self._redirect, self._url)
        except TimeoutError:
            raise _Stopped("timeout", f"nobody logged in within {LOGIN_SECONDS:.0f} s") from None
        except Exception as failure:
            raise _Stopped("unauthorized", f"the login failed: {failure}") from None
        finally:
            self._waiting -= 1

    async def _answered(self, redirect: Redirect, url: str) -> AuthorizationCodeResult:
        state = state_of(url)
        come = asyncio.ensure_future(redirect.wait(state))
        shown = asyncio.ensure_future(self._on_url(url) if self._on_url else show(self._spec.name, url, state))
        try:
            await asyncio.wait({come, shown}, return_when=asyncio.FIRST_COMPLETED)
            if not come.done() and (address := shown.result()):
                return read_redirect(address, state)
            return await come
        finally:
            for task in (come, shown):
                task.cancel()
            await asyncio.gather(come, shown, return_exceptions=True)


_SECRET_FIELDS = {"code", "code_verifier", "refresh_token", "client_secret"}
_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = WeakKeyDictionary()


class _Stopped(BaseException):
    """A login that was not made: the cause and the message. Not an `Exception`: the SDK logs the traceback of one. It
    never leaves `Login`."""


def _is_challenge(response: httpx2.Response) -> bool:
    """A refusal that a login may mend."""
    if response.status_code == 403:
        return extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return response.status_code == 401


def _error_of(response: httpx2.Response) -> tuple[str, str]:
    """The code of an OAuth error, and words for people that quote nothing else of the body."""
    words = f"with status {response.status_code}"
    try:
        body = json.loads(response.content)
        error, description = body.get("error"), body.get("error_description")
    except (ValueError, AttributeError, RecursionError):
        return "", words
    if not isinstance(error, str):
        return "", f"{words} and no token" if response.is_success else words
    said = f"{error}: {description}" if isinstance(description, str) and description else error
    return error, f"{words} ({' '.join(said.split())[:300]})"
