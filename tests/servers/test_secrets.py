"""Secrets: what is one, what plainly is none, and that no spelling of one stays in a text."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbridge.servers.secrets import command_line, looks_random, redact, says_secret, secret_values, shown_url
from toolbridge.servers.spec import OAuth, ServerSpec

KEY = "k3y-of-the-house"
UUID = "0b8f4c1e-77aa-4c0e-9d5f-3a1b2c4d5e6f"


def secrets(environment: dict[str, str] | None = None, **fields: Any) -> frozenset[str]:
    return secret_values(ServerSpec("x", **fields), environment=environment or {})


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"env": {"API_KEY": KEY}}, {KEY}),
        ({"env": {"WHATEVER": KEY}}, {KEY}),
        ({"env": {"DB_PASSWORD": "1234"}}, {"1234"}),
        ({"env": {"DB_PASSWORD": "12345678"}}, {"12345678"}),
        ({"env": {"GITHUB_TOKEN": "short"}}, {"short"}),
        ({"env": {"DATABASE_URL": "postgres://ada:hush%21@db/x"}}, {"hush%21", "hush!", base64.b64encode(b"ada:hush!").decode()}),
        ({"env": {"OPENAPI_MCP_HEADERS": '{"Authorization": "Bearer ntn_12345678"}'}}, {'{"Authorization": "Bearer ntn_12345678"}', "Bearer ntn_12345678", "ntn_12345678"}),
        ({"headers": {"Authorization": f"Bearer {KEY}"}}, {KEY, f"Bearer {KEY}"}),
        ({"headers": {"X-Whatever": KEY}}, {KEY}),
        ({"headers": {"Cookie": f"session={KEY}; lang=en"}}, {KEY, f"session={KEY}; lang=en"}),
        ({"url": f"https://ada:{KEY}@a.b/mcp"}, {KEY, base64.b64encode(f"ada:{KEY}".encode()).decode()}),
        ({"url": "https://a.b/mcp?api_key=abcd&page=12345678&x=y"}, {"abcd"}),
        ({"url": f"https://a.b/s/{UUID}/mcp"}, {UUID}),
        ({"url": "https://a.b/mcp?q=sk-abcdef123456"}, {"sk-abcdef123456"}),
        ({"args": ("--api-key", "abcdef")}, {"abcdef"}),
        ({"args": ("--token=abcdef", "--port=123456")}, {"abcdef"}),
        ({"args": ("-e", "SLACK_TOKEN=abcdef", "image")}, {"abcdef"}),
        ({"args": ("--header", "Authorization: Bearer abcdef")}, {"abcdef", "Bearer abcdef"}),
        ({"args": ("--header", "X-Key:abcdef")}, {"abcdef"}),
        ({"args": ("postgres://ada:abcdef@db/x",)}, {"abcdef", base64.b64encode(b"ada:abcdef").decode()}),
        ({"args": ('{"client_secret": "abcdef"}',)}, {"abcdef"}),
        ({"args": ("ghp_abcdefghij",)}, {"ghp_abcdefghij"}),
        ({"oauth": OAuth(client_secret="abcdef")}, {"abcdef"}),
        ({"secrets": frozenset({"known"})}, {"known"}),
    ],
)  # fmt: skip
def test_what_stands_where_secrets_stand_is_one(fields: dict[str, Any], found: set[str]) -> None:
    assert secrets(**fields) == found


@pytest.mark.parametrize(
    "fields",
    [
        {"env": {"PORT": "8080", "DEBUG": "true", "LOG_LEVEL": "WARNING", "NODE_ENV": "production", "LANG": "en_US.UTF-8"}},
        {"env": {"DATA": "/home/ada/data", "REL": "./data/x", "WIN": "C:\\data\\x", "HOME_DIR": "~/x", "SHORT": "abcde"}},
        {"env": {"API_URL": "https://api.example.com/v1", "HOST": "db.example.com:5432", "RATIO": "0.25", "TIME": "12:30:00"}},
        {"env": {"TOKEN_URL": "https://a.b/token", "MAX_TOKENS": "100000", "AUTH_MODE": "basic", "USE_TOKEN": "true", "KEY": "abc"}},
        {"headers": {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "tool/1.0", "X-V": "2"}},
        {"url": "https://mcp.example.com/v1/some-long-path-of-words/mcp?page=12345678"},
        {"args": ("-y", "@modelcontextprotocol/server-filesystem@1.2.3", "/home/ada", "--port", "8080", "--key-file", "/x.pem")},
        {"args": ("--from", "git+https://github.com/a/b@3f2a9c1d4e5f60718293a4b5c6d7e8f901234567", "run")},
    ],
)  # fmt: skip
def test_what_is_plainly_no_secret_is_none(fields: dict[str, Any]) -> None:
    assert secrets(**fields) == frozenset()


def test_a_path_that_exists_is_no_secret_even_where_its_name_says_so(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("")
    assert secrets(env={"PRIVATE_KEY": str(file)}) == frozenset()
    assert secrets(env={"PRIVATE_KEY": f"{file}-gone"}) == {f"{file}-gone"}


def test_variables_and_inputs_are_secrets_by_their_own_names() -> None:
    spec = ServerSpec("x", args=("plain-word", "1234"))
    given = [("WORD", "plain-word"), ("PIN", "1234"), ("PORT", "4321"), ("EMPTY", "")]
    assert secret_values(spec, given, {}) == {"plain-word", "1234"}


def test_what_the_process_inherits_is_known_too() -> None:
    ours = {"https_proxy": "http://ada:hush-hush@proxy:8080", "MY_TOKEN": KEY, "EDITOR_NAME": "some-editor"}
    proxy = {"hush-hush", base64.b64encode(b"ada:hush-hush").decode()}
    assert secrets(ours) == proxy
    assert secrets(ours, inherit="all") == {*proxy, KEY}


def test_the_password_of_a_basic_header_is_known_in_both_forms() -> None:
    basic = base64.b64encode(b"ada:hush-hush").decode()
    found = secrets(headers={"Authorization": f"Basic {basic}"})
    assert found == {f"Basic {basic}", basic, "hush-hush"}
    assert secrets(headers={"Authorization": "Basic not/base64!"}) == {"Basic not/base64!", "not/base64!"}


def test_a_key_of_many_lines_is_taken_out_line_by_line() -> None:
    pem = (
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nAAAAAAAAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----"
    )
    found = secrets(env={"PRIVATE_KEY": pem})
    assert redact("line 2: MIIEvQIBADANBgkqhkiG9w0BAQ!", found) == "line 2: ***!"
    assert redact(json.dumps({"key": pem}), found) == '{"key": "***"}'


@pytest.mark.parametrize(
    "spell",
    [
        str,
        lambda value: json.dumps(value),
        lambda value: json.dumps(value, ensure_ascii=False),
        lambda value: json.dumps(value).replace("/", "\\/"),
        repr,
        quote,
        quote_plus,
        lambda value: quote(value, safe=""),
        lambda value: re.sub("%..", lambda each: each[0].lower(), quote(value, safe="")),
    ],
)  # fmt: skip
def test_every_spelling_of_a_secret_is_taken_out(spell: Any) -> None:
    secret = 'pa/ss+w "ü" \\ rd&='
    assert redact(f"<{spell(secret)}>", [secret]).strip("<>'\"") == "***"


def test_the_longest_secret_goes_first_and_nothing_else_goes() -> None:
    assert redact("abcdef abc abcd", ["abc", "abcdef"]) == "*** *** ***d"
    assert redact("a.c abc", ["a.c"]) == "*** abc"
    assert redact("text", []) == "text"
    assert redact("text", [""]) == "text"


@given(st.text(min_size=4, max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_no_secret_stays_in_any_text(secret: str, before: str, after: str) -> None:
    marked = redact(f"{before}{secret}{after}", [secret])
    assert "***" in marked
    if "*" not in secret:
        assert secret not in marked.replace("***", "\0")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.b/mcp", "https://a.b/mcp"),
        ("https://ada:hush@a.b:8000/mcp", "https://a.b:8000/mcp"),
        ("https://a.b/mcp?api_key=abcd&page=2&flag", "https://a.b/mcp?api_key=***&page=2&flag"),
        (f"https://a.b/s/{UUID}/mcp", "https://a.b/s/***/mcp"),
        ("https://a.b/mcp#access_token=x", "https://a.b/mcp#***"),
        ("https://[::1/mcp?token=abcd", "https://[::1/mcp?token=***"),
        ("ada:hush@a.b/mcp", "a.b/mcp"),
        ("", ""),
    ],
)
def test_a_shown_url_has_no_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@given(st.text(max_size=40))
def test_any_text_can_be_shown_as_a_url(text: str) -> None:
    shown_url(text)
    shown_url(f"https://{text}")


def test_a_command_line_can_be_typed_and_has_no_secrets() -> None:
    args = ("-y", "a b", "--api-key", "hush-hush", "--url=https://x?token=abcdef")
    spec = ServerSpec("x", command="npx", args=args)
    assert command_line(spec, windows=False) == "npx -y 'a b' --api-key *** '--url=https://x?token=***'"
    assert command_line(spec, windows=True) == 'npx -y "a b" --api-key *** --url=https://x?token=***'
    assert (
        command_line(ServerSpec("x", url="https://a:b@c.d/hush-hush", secrets=frozenset({"hush-hush"})))
        == "https://c.d/***"
    )
    assert command_line(ServerSpec("x")) == ""


@pytest.mark.parametrize(
    "name", ["API_KEY", "--token", "clientSecret", "X-Api-Key", "password", "GITHUB_PAT", "apikey", "DB_PASS"]
)
def test_a_name_that_says_secret(name: str) -> None:
    assert says_secret(name)


@pytest.mark.parametrize(
    "name", ["MAX_TOKENS", "TOKEN_URL", "KEYBOARD", "AUTHOR", "PASSENGER", "key-file", "monkey", ""]
)
def test_a_name_that_does_not_say_secret(name: str) -> None:
    assert not says_secret(name)


@pytest.mark.parametrize(
    "value", [UUID, "sk-abcdef123456", "a1b2c3d4e5f6a7b8", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOi.x.y"]
)
def test_a_value_that_looks_random(value: str) -> None:
    assert looks_random(value)


@pytest.mark.parametrize(
    "value", ["mcp-server-2025-03-26", "modelcontextprotocol", "a1b2c3", "12345678901234567890", "v1.2.3-beta.4+build5"]
)
def test_a_value_that_does_not_look_random(value: str) -> None:
    assert not looks_random(value)
