"""Tokens: where logins are kept between processes, and what the SDK needs to be told about them again.

Two documents a server: the registration of our client, and the tokens, so that losing the second never loses the
first. They are in the keyring of the operating system where the package `keyring` is installed and finds a real one,
else in files that only their owner may read. `StoredLogin` is the SDK's `TokenStorage` over that. The SDK forgets three
things when a process ends, and they are kept here with the tokens: when they expire (it keeps a number of seconds, and
takes a stored token for valid), which token endpoint renews them (it would guess one at the server's own address), and
which resource they are for.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import urlsplit

from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import BaseModel, PrivateAttr, ValidationError

from toolbridge.servers.private import data_directory, make_private, write_private
from toolbridge.servers.spec import OAuth, ServerSpec

VERSION = 1
"""Of the documents' shape. A document of another version is as if absent."""

LONG_AGO = 1.0
"""A time that is over, in seconds since the epoch. Not 0, which the SDK reads as "does not expire"."""

KEYRING_SERVICE = "toolbridge"

Kind: TypeAlias = Literal["tokens", "client"]
Model = TypeVar("Model", bound=BaseModel)


_UNKEPT: dict[str, str] = {}
"""What no store took: good as long as this process lives, so that a person is not asked at each reconnect."""


class Store(Protocol):
    """Texts by name. What is not there is `None`; what cannot be kept raises `OSError`."""

    place: str
    """For people: where it is."""
    slow: bool
    """Whether it may wait for the system, or for a person who unlocks it."""

    def read(self, name: str) -> str | None: ...
    def write(self, name: str, text: str) -> None: ...
    def delete(self, name: str) -> None: ...


class FileStore:
    """Files in a directory, for their owner alone."""

    slow = False

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.place = str(directory)

    def read(self, name: str) -> str | None:
        try:
            return (self.directory / f"{name}.json").read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    def write(self, name: str, text: str) -> None:
        make_private(self.directory)
        write_private(self.directory / f"{name}.json", text.encode("utf-8"))

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError, NotADirectoryError):
            (self.directory / f"{name}.json").unlink()


class KeyringStore:
    """The keyring of the operating system; what it does not take (Windows: 2,560 bytes) goes into a file."""

    slow = True

    def __init__(self, backend: Any, files: FileStore) -> None:
        self._backend = backend
        self._files = files
        self.place = f"keyring ({backend.name})"

    def read(self, name: str) -> str | None:
        try:
            text = self._backend.get_password(KEYRING_SERVICE, name)
        except Exception:  # backends raise what their system raises
            text = None
        return text or self._files.read(name)

    def write(self, name: str, text: str) -> None:
        try:
            self._backend.set_password(KEYRING_SERVICE, name, text)
        except Exception:  # locked, full, too long
            self._drop(name)
            self._files.write(name, text)
        else:
            with suppress(OSError):
                self._files.delete(name)

    def delete(self, name: str) -> None:
        self._drop(name)
        self._files.delete(name)

    def _drop(self, name: str) -> None:
        with suppress(Exception):  # not there, or locked: the file is what is read then
            self._backend.delete_password(KEYRING_SERVICE, name)


def token_store(environment: Mapping[str, str] | None = None) -> Store:
    """The keyring where there is one; files where there is none, or where `TOOLBRIDGE_DATA_DIR` asks for them."""
    environment = os.environ if environment is None else environment
    files = FileStore(data_directory(environment) / "tokens")
    backend = None if environment.get("TOOLBRIDGE_DATA_DIR") else _keyring_backend()
    return files if backend is None else KeyringStore(backend, files)


def _keyring_backend() -> Any:
    try:
        import keyring  # pyright: ignore[reportMissingImports]

        backend: Any = keyring.get_keyring()
        recommended = backend.priority >= 1  # not the one that always fails, nor one of plain files
    except Exception:  # not installed, or its system service is broken in one of many ways
        return None
    return backend if recommended else None


def login_name(spec: ServerSpec) -> str:
    """What a server's login is called: by its address, and by the client that logs in. Not by the server's name, which
    changes, nor by its scopes, which grow."""
    parts = urlsplit(spec.url or "")
    url = parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower(), fragment="").geturl()
    identity = [url, *((spec.oauth.client_id, spec.oauth.grant) if spec.oauth else ())]
    digest = blake2b(json.dumps(identity).encode("ascii"), digest_size=16).hexdigest()
    return f"{re.sub(r'[^a-z0-9.-]+', '_', (parts.hostname or 'server').lower())[:60]}-{digest}"


class StoredLogin:
    """A server's login as the SDK wants it stored: its `TokenStorage`, and what it forgets besides.

    Set `context` to the provider's own before the first request. No method raises for what a store does: a login that
    cannot be kept is asked for again.
    """

    def __init__(self, store: Store, spec: ServerSpec) -> None:
        self.store = store
        self.name = login_name(spec)
        self.client = _registered_by_hand(spec.oauth)
        """A client that somebody registered by hand; it is never written."""
        self.unfit: str | None = None
        """The id of a stored registration that cannot be used this time; it stays until another takes its place."""
        self.context: OAuthContext | None = None
        self.spent: str | None = None
        """An access token that is over, whatever the clock says: the server refused it, or it is about to end."""
        self.lifetime: int | None = None
        """For how many seconds the token was made, where that is known."""
        self.problem: str | None = None
        """Why the login could not be kept."""

    def __repr__(self) -> str:
        return f"StoredLogin({self.name!r})"

    async def get_tokens(self) -> OAuthToken | None:
        document = await self._read("tokens")
        tokens = _model(OAuthToken, document.get("tokens"))
        if tokens is None:
            return None
        self.lifetime = tokens.expires_in
        expires_at = _time(document.get("expires_at"))
        if tokens.access_token == self.spent:
            expires_at = LONG_AGO
        tokens.expires_in = None if expires_at is None else max(0, int(expires_at - time.time()))
        if self.context is not None:
            self.context.token_expiry_time = expires_at
            if self.context.oauth_metadata is None:
                self.context.oauth_metadata = _model(OAuthMetadata, document.get("metadata"))
            if self.context.protected_resource_metadata is None:
                self.context.protected_resource_metadata = _model(ProtectedResourceMetadata, document.get("resource"))
                self.context.auth_server_url = _text(document.get("authorization_server"))
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.context
        self.lifetime = tokens.expires_in
        document = {
            "tokens": _document(tokens),
            "expires_at": None if tokens.expires_in is None else time.time() + tokens.expires_in,
            "metadata": _document(context.oauth_metadata) if context else None,
            "resource": _document(context.protected_resource_metadata) if context else None,
            "authorization_server": context.auth_server_url if context else None,
        }
        await self._write("tokens", document)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self.client is not None:
            return self.client
        client = _model(OAuthClientInformationFull, (await self._read("client")).get("client"))
        if (
            client is None
            or client.client_id == self.unfit
            or 0 < (client.client_secret_expires_at or 0) <= time.time()
        ):
            return None
        return client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        if client_info.client_secret and client_info.token_endpoint_auth_method is None:
            # RFC 7591 section 2: so it is where the server does not say. The SDK would send no secret at all.
            client_info.token_endpoint_auth_method = "client_secret_basic"
        await self._write("client", {"client": _document(client_info)})

    async def forget(self, kind: Kind) -> None:
        _UNKEPT.pop(f"{self.name}.{kind}", None)
        with suppress(OSError):
            await self._do(self.store.delete, f"{self.name}.{kind}")

    async def _read(self, kind: Kind) -> dict[str, Any]:
        name = f"{self.name}.{kind}"
        return _read_document(_UNKEPT.get(name) or await self._do(self.store.read, name))

    async def _write(self, kind: Kind, document: dict[str, Any]) -> None:
        name, text = f"{self.name}.{kind}", json.dumps({"version": VERSION, **document})
        try:
            await self._do(self.store.write, name, text)
            _UNKEPT.pop(name, None)
        except (OSError, ValueError) as failure:
            _UNKEPT[name] = text
            self.problem = f"the login cannot be kept in {self.store.place}: {type(failure).__name__}"

    async def _do(self, act: Callable[..., Any], *arguments: str) -> Any:
        return await asyncio.to_thread(act, *arguments) if self.store.slow else act(*arguments)


def _read_document(text: str | None) -> dict[str, Any]:
    """A stored document; an empty one where there is none, or another's."""
    try:
        document = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) and document.get("version") == VERSION else {}


def _document(model: BaseModel | None) -> dict[str, Any] | None:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


def _model(kind: type[Model], document: Any) -> Model | None:
    try:
        return None if document is None else kind.model_validate(document)
    except ValidationError:
        return None


def _time(value: Any) -> float | None:
    return None if value is None or not isinstance(value, int | float) else max(LONG_AGO, value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


class ClientMetadata(OAuthClientMetadata):
    """Our client's metadata, with the operator's scopes: the SDK sets `scope` to all that a server supports."""

    _wanted: str | None = PrivateAttr(default=None)

    def want(self, scope: str | None) -> None:
        self._wanted = scope or None

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "scope" and self._wanted is not None:
            offline = "offline_access" if "offline_access" in (value or "").split() else None
            value = union_scopes(self._wanted, offline)  # that one is the SDK's own wish: it brings refresh tokens
        super().__setattr__(name, value)


def _registered_by_hand(oauth: OAuth | None) -> OAuthClientInformationFull | None:
    if oauth is None or not oauth.client_id or oauth.grant == "client_credentials":
        return None
    method = "client_secret_basic" if oauth.client_secret else "none"
    return OAuthClientInformationFull(
        client_id=oauth.client_id, client_secret=oauth.client_secret, token_endpoint_auth_method=method
    )


@dataclass(frozen=True, slots=True)
class TokenStatus:
    """What is kept of a server's login. It holds no token."""

    state: Literal["none", "valid", "expired", "renewable"]
    """`renewable` is an expired token that needs no person to be renewed."""
    expires_at: float | None = None
    """Seconds since the epoch, where the server said."""
    scopes: tuple[str, ...] = ()
    registered: bool = False
    """Whether a registration of our client is kept."""
    place: str = ""


def token_status(spec: ServerSpec, *, store: Store | None = None) -> TokenStatus:
    """What is kept of this server's login. Asks no server."""
    store = token_store() if store is None else store
    name = login_name(spec)
    registered = bool(_read_document(store.read(f"{name}.client")))
    document = _read_document(store.read(f"{name}.tokens"))
    try:
        tokens = OAuthToken.model_validate(document.get("tokens"))
    except ValidationError:
        return TokenStatus("none", registered=registered, place=store.place)
    expires_at = _time(document.get("expires_at"))
    over = expires_at is not None and expires_at <= time.time()
    state = "valid" if not over else "renewable" if tokens.refresh_token else "expired"
    return TokenStatus(state, expires_at, tuple((tokens.scope or "").split()), registered, store.place)


def forget_tokens(spec: ServerSpec, *, registration: bool = False, store: Store | None = None) -> None:
    """Log out: drop what is kept. The registration of our client is not a login, and goes on request."""
    store = token_store() if store is None else store
    for kind in ("tokens", "client") if registration else ("tokens",):
        _UNKEPT.pop(f"{login_name(spec)}.{kind}", None)
        store.delete(f"{login_name(spec)}.{kind}")
