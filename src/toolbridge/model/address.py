"""Base URLs as people write them, and the addresses that are asked for it.

With or without a slash at the end, a version, or the whole path pasted from a page of documentation: all of it is meant
the same. It sits between the table of vendors and whoever sends a request, and sends none itself.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from toolbridge.errors import ModelError
from toolbridge.model.secrets import shown
from toolbridge.model.vendors import Vendor

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_VERSIONED = re.compile(r"/(v\d+[a-z]*\d*|deployments/[^/]+)(/|$)")
_OTHER_PATHS = re.compile(r"/(chat/completions|completions|responses|messages|embeddings|models)$")
"""Paths of other requests to the same server, which people paste."""
_DEPLOYMENTS = "/openai/deployments/{model}"
"""Azure's older paths, which want an `api-version`."""
OLLAMA_PORT = 11434


def check_address(text: str) -> str:
    """The address, where it is one; else what to write instead."""
    address = text.strip()
    scheme = _SCHEME.match(address)
    rest = re.sub(r"^[A-Za-z]*:/+", "", address)
    bare = rest.partition("?")[0].rpartition("@")[2]
    invisible = next((each for each in address if not each.isprintable()), "")
    if invisible:
        raise _strange(bare, invisible)
    if scheme is None or scheme[1].lower() not in ("http", "https"):
        likely = "http" if re.match(r"(localhost|127\.|10\.|192\.168\.|\[|[^./]+(:\d+)?(/|$))", bare) else "https"
        meant = likely if scheme is None or not scheme[1].lower().endswith("s") else "https"
        what = f"starts with {scheme[0]!r}" if scheme else "has no scheme"
        raise ModelError("unreachable", f"the base URL of {bare!r} {what}: write '{meant}://{bare}'")
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as problem:
        raise ModelError("unreachable", f"the base URL of {bare!r} is no address: {problem}") from None
    if not parts.hostname or " " in address:
        raise ModelError("unreachable", f"the base URL {shown(address)!r} names no host")
    from httpx2 import URL, InvalidURL  # loads an HTTP client, which no other mistake has to wait for

    try:
        URL(address)
    except InvalidURL as problem:
        letters = next((each for each in parts.hostname if not (each.isascii() or each.isalpha())), "")
        if letters:
            raise _strange(bare, letters) from None
        raise ModelError("unreachable", f"the base URL of {bare!r} is no address: {problem}") from None
    return address


def _strange(bare: str, character: str) -> ModelError:
    """The character by its number and name, since on a screen it looks like another, or like none."""
    which = f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
    return ModelError("unreachable", f"the base URL of {bare!a} holds {which}, which is no part of an address")


def ollama_address(host: str) -> str:
    """What `OLLAMA_HOST` means: a host is enough, and where a server listens everywhere it is asked here."""
    host = host.strip().strip("\"' ").rstrip("/")
    scheme = _SCHEME.match(host)
    rest = host[scheme.end() :] if scheme else host
    name, _, path = rest.partition("/")
    if name.startswith(":"):
        name = f"127.0.0.1{name}"
    if scheme is None and not re.search(r":\d+$", name):  # with a scheme, the port is that of the scheme
        name = f"{name}:{OLLAMA_PORT}"
    name = re.sub(r"^(0\.0\.0\.0|\[::\])(?=:|$)", "127.0.0.1", name)
    return f"{scheme[1] if scheme else 'http'}://{name}{'/' + path if path else ''}"


def endpoints(base_url: str, vendor: Vendor, model: str) -> tuple[str, ...]:
    """The addresses to post to: the likely one first; another where it cannot be told whether `/v1` was left out."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    if not re.search(_pattern(vendor), path):
        path = _OTHER_PATHS.sub("", path)
    queries = parse_qsl(parts.query, keep_blank_values=True)
    name = quote(model.removeprefix("models/") if vendor.wire == "gemini" else model, safe=":@.-_~")
    end = vendor.path.replace("{model}", name)
    version = vendor.version
    if version == "/openai/v1" and any(key == "api-version" for key, _ in queries):
        version = _DEPLOYMENTS
    version = version.replace("{model}", name)

    pasted = re.search(_pattern(vendor), path)
    if pasted:
        paths = [path[: pasted.start()] + end]
    elif _VERSIONED.search(path) or not version:
        paths = [path + end]
    else:
        paths = [_joined(path, version) + end]
        if version == "/v1":
            paths.append(path + end)
    query = urlencode([*queries, *(each for each in parse_qsl(vendor.query) if each not in queries)])
    return tuple(urlunsplit((parts.scheme, parts.netloc, each, query, "")) for each in paths)


def _pattern(vendor: Vendor) -> str:
    """A path that is whole already."""
    pattern = re.escape(vendor.path).replace(re.escape("{model}"), "[^/]+")
    return (
        pattern.replace("streamGenerateContent", "(stream)?[gG]enerateContent").replace(r"\-stream", r"(\-stream)?")
        + "$"
    )


def _joined(path: str, version: str) -> str:
    """The path with the version behind it, and what both have once: `/openai` and `/openai/v1`."""
    steps = version.split("/")
    for count in range(len(steps), 1, -1):
        if path.endswith("/".join(steps[:count])):
            return path + "".join(f"/{step}" for step in steps[count:])
    return path + version
