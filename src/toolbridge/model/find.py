"""From a name to a model: `get_model("anthropic/claude-sonnet-5")`.

It reads names, environment variables and base URLs, and finds out early what is missing. It asks no server anything.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from toolbridge.errors import ModelError, nearest
from toolbridge.model.address import check_address, ollama_address
from toolbridge.model.model import Model
from toolbridge.model.secrets import Secret
from toolbridge.model.vendors import OTHER_NAMES, VENDORS, Vendor, known_by_name, vendor_of
from toolbridge.model.waiting import Timeouts
from toolbridge.providers import get_provider, providers

LOCAL = "local"
"""What stands before the slash of a model that runs in this process."""

WEIGHTS = ".gguf"

_FAMILIES = ("gpt-5", "o3", "claude-sonnet-5", "gemini-2.5-flash", "mistral-large-latest", "deepseek-chat", "kimi-k2",
             "qwen-max")  # fmt: skip
"""Names to hold a misspelt one against."""


_PUBLISHERS = frozenset({"openai", "google", "mistralai", "moonshotai"})
"""Names that also stand before the slash of open models, as their publishers."""


def get_model(
    name: str,
    *,
    provider: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    client: Any = None,
    timeout: float | Timeouts | None = None,
    options: Mapping[str, Any] | None = None,
) -> Model:
    """The model of that name.

        get_model("anthropic/claude-sonnet-5")                    # a provider, and its model
        get_model("gpt-5")                                        # a name that can only be one provider's
        get_model("llama3.2", base_url="http://localhost:8000")   # any server that speaks Chat Completions
        get_model("anthropic/claude-x", base_url="http://gw")     # a server that speaks as Anthropic's does
        get_model("gpt-5", client=openai.AsyncOpenAI())           # a vendor's own client, as you have set it up
        get_model("local/smollm2")                                # the built-in engine; also a path to a .gguf file

    At a `base_url` that is no vendor's own, a bare name is asked for by Chat Completions, also `claude-…`, since
    that is what gateways speak; a provider before the slash, or `provider`, says otherwise. Keys are read from
    the environment variables of their vendors where `api_key` does not give one. `timeout` is how long a server may be
    silent, in seconds. `options` are fields of every request: `{"temperature": 0}`.
    """
    if not name.strip():
        raise ModelError("unknown_model", f"a model needs a name: {_HOW}")
    name = name.strip()
    if client is not None:
        from toolbridge.model.clients import client_model

        if base_url is not None or api_key is not None or timeout is not None:
            raise ModelError(
                "refused", "a client has its own base_url, api_key and timeout: set them there, or give no client"
            )
        return client_model(client, name, provider=provider and _provider(provider), options=options)
    is_local = provider == LOCAL or (provider is None and name.startswith(f"{LOCAL}/"))
    if is_local and base_url is not None:
        raise ModelError(
            "refused",
            f"{name!r} runs in this process, and a base_url is a server's: give one of them; for a server's model of "
            "that name, give its provider, too",
        )
    if is_local or (base_url is None and provider is None and (name == LOCAL or name.endswith(WEIGHTS))):
        return _local_model(name, options)
    return _http_model(name, provider, base_url, api_key, timeout, options)


_HOW = "write 'provider/model', as in 'anthropic/claude-sonnet-5', or give base_url"


def _local_model(name: str, options: Mapping[str, Any] | None) -> Model:
    from toolbridge.local.engine import local_model
    from toolbridge.local.weights import find_weights

    if name.rstrip("/") == LOCAL:
        find_weights(name)  # which says what there is
    return local_model(name.removeprefix(f"{LOCAL}/"), options=options)


def _provider(name: str) -> str:
    """The provider's own name. Raises `UnknownProviderError`, with the nearest."""
    return get_provider(OTHER_NAMES.get(name, name)).name


def _http_model(
    name: str,
    provider: str | None,
    base_url: str | None,
    api_key: str | None,
    timeout: float | Timeouts | None,
    options: Mapping[str, Any] | None,
) -> Model:
    address = check_address(base_url) if base_url is not None else None
    whose, model = _read_name(name, provider, address)
    vendor = vendor_of(whose)
    at, is_own = _address(vendor, whose, address)
    key = Secret(_key(vendor, whose, model, api_key, needed=vendor.key_needed and is_own))
    if isinstance(timeout, int | float):
        timeout = Timeouts(first=timeout, silence=timeout)
    from toolbridge.model.http import HttpModel  # loads an HTTP client, which no mistake has to wait for

    variable = vendor.key_variables[0] if vendor.key_variables and api_key is None else ""
    return HttpModel(get_provider(whose), model, at, key=key, key_variable=variable, options=options, timeouts=timeout)


def _read_name(name: str, provider: str | None, address: str | None) -> tuple[str, str]:
    """(provider, the model's name as it spells it)."""
    first, slash, rest = name.partition("/")
    at = _vendor_at(address) if address is not None else None
    named = _named(first, rest, is_elsewhere=address is not None and at is None)
    if provider is not None:
        whose = _provider(provider)
        return whose, rest if named == whose else name
    if at is not None:  # a router's models have their vendors before the slash
        return at, rest if named == at else name
    if named is not None:
        return named, rest
    by_name = known_by_name(name)
    if by_name is not None and (address is None or _is_of(address, vendor_of(by_name))):
        return by_name, name
    if address is not None:
        return "openai-chat", name
    if slash:
        meant = nearest(first, [*providers(), *OTHER_NAMES, LOCAL])
        hint = f"did you mean {meant + '/' + rest!r}?" if meant else f"known: {', '.join(providers())}"
        raise ModelError("unknown_model", f"no provider {first!r} for the model {name!r}; {hint} Or give base_url")
    meant = nearest(name, _FAMILIES)
    hint = f" (did you mean something like {meant!r}?)" if meant else ""
    raise ModelError("unknown_model", f"whose model is {name!r}?{hint} {_HOW[0].upper() + _HOW[1:]}")


def _named(first: str, rest: str, *, is_elsewhere: bool) -> str | None:
    """The provider that stands before the slash, if one does.

    At an address of somebody's own, `google/gemma-3` is what the model's files are called.
    """
    if not rest:
        return None
    named = OTHER_NAMES.get(first, first)
    if is_elsewhere and first in _PUBLISHERS and known_by_name(rest) != named:
        return None
    return named if named in providers() else None


def _vendor_at(address: str) -> str | None:
    """The provider whose own server that is."""
    host = urlsplit(address).hostname or ""
    if host.endswith((".openai.azure.com", ".services.ai.azure.com")):
        return "azure"
    owners: dict[str | None, str] = {}
    for name, row in VENDORS.items():
        owners.setdefault(urlsplit(row.base_url).hostname, name)
    whose = None if host == "localhost" else owners.get(host)
    if whose == "openai-chat" and "/responses" in address:
        return "openai-responses"
    return whose


def _is_of(address: str, vendor: Vendor) -> bool:
    """Whether it is a host of the vendor's, as that of another region: `api.moonshot.cn` of `api.moonshot.ai`."""
    given, own = ((urlsplit(each).hostname or "").split(".")[-2:-1] for each in (address, vendor.base_url))
    return given == own


def _address(vendor: Vendor, provider: str, given: str | None) -> tuple[str, bool]:
    """Where to ask, and whether that is the vendor's own server."""
    if given is not None:
        return given, _vendor_at(given) is not None
    for variable in vendor.base_variables:
        value = os.environ.get(variable, "").strip()
        if value:
            value = ollama_address(value) if variable == "OLLAMA_HOST" else value
            try:
                address = check_address(value)
            except ModelError as problem:
                raise ModelError(problem.kind, f"{variable}: {problem}") from None
            return _versioned(address, provider), provider in ("azure", "dial") or _vendor_at(address) is not None
    if provider == "bedrock":
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        return f"https://bedrock-runtime.{region}.amazonaws.com", True
    if not vendor.base_url:
        where = f", or set {vendor.base_variables[0]}" if vendor.base_variables else ""
        raise ModelError("unreachable", f"{provider} has no address of its own: give base_url{where}")
    return vendor.base_url, True


def _versioned(address: str, provider: str) -> str:
    """Azure's address with the version of its API where one is set, as its SDK has it."""
    version = os.environ.get("OPENAI_API_VERSION", "")
    if provider != "azure" or not version or "api-version" in address:
        return address
    return f"{address}{'&' if '?' in address else '?'}api-version={version}"


def _key(vendor: Vendor, provider: str, model: str, given: str | None, *, needed: bool) -> str:
    if given is not None and given.strip():
        key, source = given.strip(), "api_key"
    else:
        found = [(os.environ.get(each, "").strip(), each) for each in vendor.key_variables]
        key, source = next(((value, each) for value, each in found if value), ("", ""))
    if not key and needed:
        variables = " or ".join(vendor.key_variables)
        raise ModelError(
            "no_key", f"no key for {provider}/{model}: set the environment variable {variables}, or give api_key"
        )
    if not key.isascii() or any(each.isspace() or not each.isprintable() for each in key):
        raise ModelError("wrong_key", f"the key in {source} holds characters that no key has: was it copied whole?")
    return key
