"""Secrets: which values of a server no output may show, and how to take them out of a text.

`config` fills `ServerSpec.secrets` with what `secret_values` finds; whoever prints, logs or raises sends its text
through `redact`. A value is secret because of where it stands (a header, `env`, a variable), what it is called, or how
it looks; what is plainly none (a number, a path, a log level) is left alone, for a message without "1" and "/home"
tells nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from toolbridge.servers.spec import ServerSpec

MASK = "***"
"""What stands where a secret was."""

SHORTEST_NAMED = 4
"""Characters: a value whose name says secret is taken from this length on; shorter ones are in every text."""

SHORTEST = 6
"""Characters: any other value."""

SECRET_NAMES = frozenset({
    "apikey", "apitoken", "auth", "authorization", "bearer", "cookie", "credential", "credentials", "jwt", "key",
    "otp", "pass", "passcode", "passphrase", "passwd", "password", "pat", "pin", "private", "pw", "pwd", "secret",
    "secrets", "sid", "sig", "signature", "token", "accesskey", "accesstoken", "authtoken", "clientsecret",
    "privatekey", "secretkey", "xapikey",
})  # fmt: skip
"""A name with one of these among its words says that its value is a secret."""

HARMLESS_ENDINGS = frozenset({
    "algorithm", "count", "dir", "directory", "enabled", "endpoint", "expiry", "field", "file", "header", "host",
    "id", "issuer", "length", "limit", "mode", "name", "path", "port", "prefix", "provider", "region", "size",
    "timeout", "ttl", "type", "uri", "url", "user", "username", "version",
})  # fmt: skip
"""A name that ends in one of these speaks about a secret and holds none: `TOKEN_URL`, `AUTH_MODE`."""

PLAIN_WORDS = frozenset({
    "true", "false", "yes", "no", "on", "off", "none", "null", "nil", "undefined", "default", "auto", "always",
    "never", "enabled", "disabled", "debug", "info", "information", "notice", "warn", "warning", "error",
    "critical", "fatal", "trace", "verbose", "silent", "quiet", "production", "development", "staging", "testing",
    "test", "local", "localhost", "sandbox", "prod", "dev", "json", "text", "plain", "html", "markdown", "yaml",
    "csv", "utf-8", "utf8", "ascii", "stdio", "http", "https", "sse", "websocket", "streamable-http", "readonly",
    "read-only", "readwrite", "read-write", "strict", "public", "private", "internal", "external", "basic",
    "bearer", "oauth", "oauth2", "python", "python3", "node", "bash", "docker", "system", "global", "project",
    "required", "optional", "unlimited",
})  # fmt: skip
"""Values of configurations that are words of every message."""

PLAIN_HEADERS = frozenset({
    "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-type", "host", "origin",
    "referer", "user-agent", "mcp-protocol-version", "anthropic-version", "notion-version", "x-github-api-version",
})  # fmt: skip

_KNOWN_TOKENS = re.compile(
    r"(sk-|sk_|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|ya29\.|eyJ|ntn_|secret_|npm_|pypi-|"
    r"hf_|dop_v1_|shpat_|lin_api_|figd_|tvly-|gsk_|xai-|SG\.|whsec_)[A-Za-z0-9_\-.+/=]{6,}"
)
"""How the tokens of well-known services begin."""

_TOKEN_LETTERS = re.compile(r"[A-Za-z0-9_\-+/=.~%]+")
_SCHEME = re.compile(r"(?i)(bearer|basic|token|apikey|api-key|key|digest|negotiate)[ \t]+(\S.*)")
_JSON_PAIR = re.compile(r'"([^"\\]{1,80})"\s*:\s*"((?:[^"\\]|\\.)+)"')
_FLAG = re.compile(r"--?([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.-]{0,80})\s*[=:]\s*(.+)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?[\d.,:_ ]+[A-Za-z%]{0,3}")
_LOCALE = re.compile(r"[a-z]{2,3}([_-][A-Z]{2})?([.](?i:utf-?8))?")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:\d+)?")
_PATH = re.compile(r"(~|\.{0,2}[/\\]|[A-Za-z]:[/\\])")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HARMLESS_TEXT = re.compile(r"[A-Za-z0-9_.~-]*")


def secret_values(
    spec: ServerSpec, given: Iterable[tuple[str, str]] = (), environment: Mapping[str, str] | None = None
) -> frozenset[str]:
    """The secrets of a server. `given` are the variables and inputs that went into it: name and value.

    The process may also print what it inherits: the passwords of proxies, and with `inherit: all` whatever in our own
    environment is called or looks like a secret.
    """
    found: set[str] = set(spec.secrets)
    for name, value in spec.env.items():
        found.update(_secrets_in(name, value, assumed=True))
    for name, value in spec.headers.items():
        if name.lower() not in PLAIN_HEADERS:
            found.update(_secrets_in(name, value, assumed=True))
    for name, value in given:
        found.update(_secrets_in(name, value, assumed=True))
    found.update(_argument_secrets(spec.args))
    if spec.url:
        found.update(_url_secrets(spec.url))
    if spec.oauth and spec.oauth.client_secret:
        found.add(spec.oauth.client_secret)
    for name, value in (os.environ if environment is None else environment).items():
        if name.lower().endswith("_proxy"):
            found.update(_url_secrets(value))
        elif spec.inherit == "all":
            found.update(_secrets_in(name, value, assumed=False))
    return frozenset(value for value in found if len(value) >= SHORTEST_NAMED)


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with `***` for each secret, also where it is spelt as JSON, as Python, or percent-encoded."""
    known = secrets if isinstance(secrets, frozenset) else frozenset(secrets)
    pattern = _pattern(known)
    return pattern.sub(MASK, text) if pattern else text


def shown_url(url: str) -> str:
    """The url as people may see it: no user, no password, no secret in its path or query."""
    head, mark, rest = url.partition("://")
    if not mark:
        head, rest = "", url
    rest, _, fragment = rest.partition("#")
    rest, asked, query = rest.partition("?")
    place, slash, path = rest.partition("/")
    host = place.rpartition("@")[2]
    shown = head + mark + (MASK if looks_random(host) and "." not in host else host) + slash
    shown += "/".join(MASK if looks_random(each) else each for each in path.split("/"))
    if asked:
        shown += asked + "&".join(_shown_pair(each) for each in query.split("&"))
    if fragment:
        shown += "#" + (MASK if looks_random(fragment) or "=" in fragment else fragment)
    return shown


def command_line(spec: ServerSpec, *, windows: bool = os.name == "nt") -> str:
    """What a person would type to start the server, or the url where it is; no secrets in it."""
    secrets = secret_values(spec)
    if spec.command is None:
        return redact(shown_url(spec.url), secrets) if spec.url else ""
    words = [redact(each, secrets) for each in (spec.command, *spec.args)]
    if windows:
        from subprocess import list2cmdline  # slow to import, and only needed here

        return list2cmdline(words)
    import shlex

    return shlex.join(words).replace(f"'{MASK}'", MASK)


def says_secret(name: str) -> bool:
    """Whether a name says that what it names is a secret: `API_KEY`, `--token`, `clientSecret`; not `MAX_TOKENS`."""
    words = [each.lower() for each in _WORD.findall(name)]
    if not words or words[-1] in HARMLESS_ENDINGS:
        return False
    return not SECRET_NAMES.isdisjoint(words) or "".join(words) in SECRET_NAMES


def looks_random(value: str) -> bool:
    """Whether nobody would think of such a value: a token, a digest, a UUID."""
    if _KNOWN_TOKENS.match(value):
        return True
    if len(value) < 16 or not _TOKEN_LETTERS.fullmatch(value):
        return False
    pieces = re.split("[^A-Za-z0-9]", value)
    return sum(len(each) for each in pieces if not each.isalpha() and not each.isdigit()) >= 12


def _secrets_in(name: str, value: str, *, assumed: bool) -> Iterator[str]:
    """What of a named value is secret. `assumed`: it stands where secrets stand, so it is one unless it plainly is
    none."""
    value = value.strip()
    named = says_secret(name)
    for key, inner in _JSON_PAIR.findall(value):
        yield from _secrets_in(key, inner, assumed=False)
    if "://" in value:
        yield from _url_secrets(value)
    if scheme := _SCHEME.fullmatch(value):
        yield from _scheme_secrets(scheme[1], scheme[2].strip())
    if name.lower() == "cookie":
        for each in value.split(";"):
            yield from _secrets_in("", each.partition("=")[2], assumed=True)
    if named:
        secret = len(value) >= SHORTEST_NAMED and value.lower() not in PLAIN_WORDS and not os.path.exists(value)
    else:
        secret = looks_random(value) or (assumed and len(value) >= SHORTEST and not _plain(value))
    if secret:
        yield value
        if "\n" in value:  # a key of many lines is printed, and read by us, line by line
            yield from (each.strip() for each in value.splitlines() if len(each.strip()) >= 16 and "-----" not in each)


def _scheme_secrets(scheme: str, token: str) -> Iterator[str]:
    if len(token) >= SHORTEST_NAMED:
        yield token
    if scheme.lower() == "basic":
        from base64 import b64decode
        from binascii import Error

        try:
            yield b64decode(token, validate=True).decode().partition(":")[2]
        except (Error, ValueError):
            return  # no base64: the token as it stands is all there is


def _argument_secrets(args: tuple[str, ...]) -> Iterator[str]:
    flag = ""
    for each in args:
        match = _FLAG.fullmatch(each)
        if match and not (says_secret(flag) and looks_random(each)):
            flag = match[1] if match[2] is None else ""
            if match[2] is not None:
                yield from _named_argument(match[1], match[2])
            continue
        yield from _named_argument(flag, each)
        flag = ""


def _named_argument(name: str, value: str) -> Iterator[str]:
    yield from _secrets_in(name, value, assumed=False)
    if "://" not in value and (match := _ASSIGNMENT.fullmatch(value)):  # `-e KEY=…`, `--header "Authorization: …"`
        yield from _secrets_in(match[1], match[2], assumed=False)


def _url_secrets(url: str) -> Iterator[str]:
    """The password, the secret values of the query, and pieces of the path that look like tokens; raw and decoded."""
    rest = url.partition("://")[2].partition("#")[0]
    rest, _, query = rest.partition("?")
    place, _, path = rest.partition("/")
    user, at, _ = place.rpartition("@")
    if at:
        yield from _user_secrets(user)
    raw = [value for name, _, value in (each.partition("=") for each in query.split("&")) if _secret_pair(name, value)]
    raw += [each for each in path.split("/") if looks_random(each)]
    yield from raw
    yield from (_unquote(each) for each in raw if "%" in each or "+" in each)


def _user_secrets(user: str) -> Iterator[str]:
    """`name:password`, and how a client sends the two in a header."""
    from base64 import b64encode

    name, colon, password = user.partition(":")
    if not colon:
        if says_secret(name) or looks_random(name):
            yield name
        return
    yield password
    yield (decoded := _unquote(password))
    yield b64encode(f"{_unquote(name)}:{decoded}".encode(errors="surrogatepass")).decode()


def _secret_pair(name: str, value: str) -> bool:
    return bool(value) and (says_secret(name) or looks_random(value))


def _shown_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if not equals:
        return MASK if looks_random(name) else name
    return name + equals + (MASK if _secret_pair(name, value) else value)


def _plain(value: str) -> bool:
    if value.lower() in PLAIN_WORDS or _NUMBER.fullmatch(value) or _LOCALE.fullmatch(value):
        return True
    if "://" in value:
        return True  # its secret parts are taken on their own
    if _HOST.fullmatch(value) or _PATH.match(value):
        return not any(looks_random(each) for each in re.split(r"[/\\]", value)) or os.path.exists(value)
    return os.path.exists(value)


def _unquote(text: str) -> str:
    from urllib.parse import unquote_plus

    return unquote_plus(text)


@lru_cache(maxsize=256)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    spellings = {each for secret in secrets if secret for each in _spellings(secret)}
    if not spellings:
        return None
    return re.compile("|".join(map(re.escape, sorted(spellings, key=lambda each: (-len(each), each)))))


def _spellings(secret: str) -> set[str]:
    """How a naive server prints a value."""
    if _HARMLESS_TEXT.fullmatch(secret):
        return {secret}
    import json
    from urllib.parse import quote, quote_plus

    quoted = {quote(secret, errors="surrogatepass"), quote(secret, safe="", errors="surrogatepass")}
    quoted.add(quote_plus(secret, errors="surrogatepass"))
    lower = {re.sub("%[0-9A-F]{2}", lambda each: each[0].lower(), text) for text in quoted}
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    return {secret, *quoted, *lower, *escaped, *(each.replace("/", "\\/") for each in escaped)}
