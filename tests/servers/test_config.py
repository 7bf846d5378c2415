"""Reading configurations: every client's file gives the same specifications, and every mistake names its place."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolbridge.approval import Approval
from toolbridge.errors import ConfigError
from toolbridge.filters import MCPToolFilter
from toolbridge.servers.config import InputQuestion, examine_config, read_config
from toolbridge.servers.keys import FIELDS
from toolbridge.servers.spec import Limits, OAuth, ServerSpec

ENV = {"HOME": "/home/ada", "USER": "ada", "TOKEN": "t0p-s3cret", "EMPTY": "", "NESTED": "a${HOME}b", "WIDE": "a b"}
AMBIENT: dict[str, Any] = {"environment": ENV}
TIME = ServerSpec("time", command="uvx", args=("mcp-server-time",))
STDIO = {"command": "uvx", "args": ["mcp-server-time"]}
WEB = {"url": "https://mcp.example.com/mcp"}


def read_one(entry: dict[str, Any], **options: Any) -> ServerSpec:
    [spec] = read_config({"mcpServers": {"time": entry}}, environment=ENV, **options)
    return spec


def problems(source: Any, **options: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_config(source, **{**AMBIENT, **options})
    assert str(caught.value) == "\n".join(caught.value.problems)
    return list(caught.value.problems)


def mistake(entry: Any) -> str:
    """The one mistake of an entry, from its field on."""
    [problem] = problems({"mcpServers": {"x": entry}})
    assert problem.startswith("configuration: server 'x': ")
    return problem.removeprefix("configuration: server 'x': ")


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Where the servers are


@pytest.mark.parametrize(
    "document",
    [
        {"mcpServers": {"time": STDIO}},
        {"mcp_servers": {"time": STDIO}},
        {"servers": {"time": {**STDIO, "type": "stdio"}}, "inputs": []},
        {"mcp": {"servers": {"time": STDIO}}, "editor.fontSize": 12},
        {"mcp": {"time": {"type": "local", "command": ["uvx", "mcp-server-time"]}}},
        {"context_servers": {"time": {"source": "custom", **STDIO}}},
        {"context_servers": {"time": {"command": {"path": "uvx", "args": ["mcp-server-time"], "env": {}}}}},
        {"mcpServers": [{"name": "time", **STDIO}]},
        {"time": STDIO},
        {"name": "time", **STDIO},
        [{"name": "time", **STDIO}],
        [{"server_label": "time", **STDIO}],
    ],
    ids=lambda document: json.dumps(document)[:60],
)
def test_every_clients_shape_gives_the_same_server(document: Any) -> None:
    assert read_config(document, environment=ENV) == [TIME]


@pytest.mark.parametrize("document", [{}, [], {"mcpServers": {}}, {"servers": {}}, {"mcpServers": []}])
def test_no_servers_at_all_is_legal(document: Any) -> None:
    assert read_config(document) == []


def test_servers_keep_the_order_of_the_file() -> None:
    names = ["zeta", "alpha", "mid"]
    assert [each.name for each in read_config({"mcpServers": dict.fromkeys(names, STDIO)})] == names


def test_a_document_without_servers_says_what_it_has_and_what_is_expected() -> None:
    assert problems({"mcpservrs": {"time": {}}, "theme": "dark"}) == [
        'configuration: no servers in it; expected "mcpServers" or "servers" with an object of servers in it, '
        "found 'mcpservrs', 'theme'"
    ]
    assert problems([3]) == ['configuration: [0]: a number; expected an object with "name"']
    assert problems([STDIO]) == ['configuration: [0]: has no name; servers in a list need "name"']


def test_codex_toml_is_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "config.toml",
        """
        model = "gpt"
        [mcp_servers.docs]
        command = "npx"
        args = ["-y", "docs"]
        startup_timeout_sec = 20
        tool_timeout_sec = 45.5
        env_vars = ["TOKEN", "NOT_SET"]
        enabled_tools = ["a"]
        disabled_tools = ["b"]
        [mcp_servers.docs.env]
        DEBUG = "1"
        [mcp_servers.web]
        url = "https://mcp.example.com/mcp"
        bearer_token_env_var = "TOKEN"
        http_headers = { "X-Team" = "blue" }
        env_http_headers = { "X-Key" = "TOKEN" }
        enabled = false
        [mcp_servers.live]
        url = "https://mcp.example.com/mcp"
        bearer_token_env_var = "TOKEN"
        http_headers = { "X-Team" = "blue" }
        env_http_headers = { "X-Key" = "TOKEN" }
        """,
    )
    docs, off, live = read_config(file, environment=ENV)
    assert docs == ServerSpec(
        "docs",
        command="npx",
        args=("-y", "docs"),
        env={"TOKEN": "t0p-s3cret", "DEBUG": "1"},
        limits=Limits(connect=20, call=45.5),
        filter=MCPToolFilter(include=["a"], exclude=["b"]),
        source=str(file),
    )
    assert off.disabled
    assert live.headers == {"X-Team": "blue", "X-Key": "t0p-s3cret", "Authorization": "Bearer t0p-s3cret"}
    assert live.secrets == {"t0p-s3cret", "Bearer t0p-s3cret"}


def test_claude_code_takes_the_users_servers_and_those_of_the_project_we_are_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "work" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    document = {
        "numStartups": 3,
        "mcpServers": {"time": {"command": "old"}, "all": STDIO},
        "projects": {
            str(tmp_path / "work"): {"mcpServers": {"time": STDIO, "mine": STDIO}, "disabledMcpServers": ["all"]},
            str(tmp_path): {"mcpServers": {"far": STDIO}},
            str(tmp_path / "other"): {"mcpServers": {"other": STDIO}},
        },
    }
    assert read_config(document) == [
        TIME,
        replace(TIME, name="all", disabled=True),
        replace(TIME, name="mine"),
    ]
    monkeypatch.chdir("/")
    assert [each.name for each in read_config(document)] == ["time", "all"]


def test_gemini_allows_and_excludes_servers_by_name() -> None:
    both = {"a": STDIO, "b": STDIO}
    off = [each.name for each in read_config({"mcpServers": both, "mcp": {"allowed": ["a"]}}) if each.disabled]
    assert off == ["b"]
    off = [each.name for each in read_config({"mcpServers": both, "mcp": {"excluded": ["a"]}}) if each.disabled]
    assert off == ["a"]


# The text of the file

COMMENTED = """// servers of the team
{
  /* two lines,
     "mcpServers": nothing */
  "mcpServers": {
    "time": { // the clock
      "command": "uvx",
      "args": ["mcp-server-time", "http://a//b", "/* kept */", "a,}", "\\"// kept",], /* and */
    },
  },
}
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_comments_trailing_commas_and_any_encoding_are_read_and_strings_left_alone(
    tmp_path: Path, encoding: str
) -> None:
    file = write(tmp_path / "mcp.json", COMMENTED.encode(encoding))
    [spec] = read_config(file)
    assert spec.args == ("mcp-server-time", "http://a//b", "/* kept */", "a,}", '"// kept')


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('// one\n/* two\n*/ {"a": 1,\n  "b" 2}', "not valid JSON at line 4, column 7: a colon is expected here"),
        ('{"a": [1, 2,]\n  "b": 2}', "not valid JSON at line 2, column 3: a comma or a closing bracket is missing before this"),
        ("{'a': 1}", "not valid JSON at line 1, column 2: strings are written with double quotes"),
        ('{"a": 1', "not valid JSON at line 1, column 8: the text ends too early; a bracket or quote is not closed"),
        ('{"a": "C:\\Users"}', "not valid JSON at line 1, column 10: a backslash in a string is written twice: C:\\\\Users"),
        ('{"a": "x\ny"}', "not valid JSON at line 1, column 9: a string must be closed on its line"),
        ('{"a": 1} x', "not valid JSON at line 1, column 10: there is more after the end of the document"),
        ('{}\n  /* never', "not valid JSON at line 2, column 3: a comment that is not closed"),
        ('{"a": ,}', "not valid JSON at line 1, column 8: a value is expected here"),
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        (b'{"a": "\xff"}', "not text in UTF-8 or UTF-16: byte 8 is no part of a character"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "1" * 5000 + "}", "a number in it has too many digits"),
        ("null", 'null; expected "mcpServers" or "servers" with an object of servers in it'),
    ],
    ids=lambda each: repr(each)[:40],
)  # fmt: skip
def test_bad_json_is_told_with_its_line_and_column(tmp_path: Path, text: str | bytes, told: str) -> None:
    file = write(tmp_path / "mcp.json", text)
    assert problems(file) == [f"{file}: {told}"]


def test_bad_toml_is_told_with_its_line_and_column_and_nothing_of_it(tmp_path: Path) -> None:
    file = write(tmp_path / "config.toml", '[mcp_servers.a]\ncommand = "x"\nkey = t0p-s3cret\n')
    assert problems(file) == [f"{file}: not valid TOML at line 3, column 7"]


def test_a_source_that_is_no_file_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path / "none.json") == [f"{tmp_path / 'none.json'}: no such file"]
    assert problems(str(tmp_path)) == [f"{tmp_path}: is a directory; give the file in it, such as mcp.json"]
    file = write(tmp_path / "mcp.yaml", "a: 1")
    assert problems(file) == [f"{file}: YAML is not read; write JSON, or TOML as Codex does"]
    neither = ["configuration: expected the path of a file, or a dictionary; this is neither"]
    for text in ('{"mcpServers": {"x": {"env": {"KEY": "t0p-s3cret"}}}}', "", "a\nb", "a\0b"):
        assert problems(text) == neither
    assert "too long" in problems("x" * 10_000)[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "server 'a': is there twice; give one of the two another name"),
        ('{"mcpServers": {"a": {"command": "x", "command": "y"}}}', "server 'a': command: is given twice; keep one of the two"),
        ('{"mcpServers": {"a": {"command": "x", "env": {"K": "1", "K": "2"}}}}', "server 'a': env.K: is given twice; keep one of the two"),
        ('{"mcpServers": {}, "mcpServers": {"a": {"command": "y"}}}', "mcpServers: is given twice; put all servers into one"),
        ('{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "y"}}}', "server 'a': is there twice; give one of the two another name"),
        ('[{"name": "a", "command": "x"}, {"name": "a", "command": "x"}]', "server 'a': is there twice; give one of the two another name"),
    ],
)  # fmt: skip
def test_what_stands_twice_in_the_text_is_told(tmp_path: Path, text: str, told: str) -> None:
    file = write(tmp_path / "mcp.json", text)
    assert problems(file) == [f"{file}: {told}"]


# Variables


def test_variables_are_replaced_everywhere_and_only_once() -> None:
    spec = read_one(
        {
            "command": "${HOME}/bin/run",
            "args": [
                "${NESTED}",
                "--a=${env:TOKEN}",
                "${NONE:-b c}",
                "${env:NONE:-}",
                "${EMPTY:-d}",
                "[${EMPTY}]",
                "${WIDE}",
            ],
            "env": {"A": "${TOKEN}", "B": "x${USER}y"},
            "cwd": "${userHome}/work",
        }
    )
    assert spec.command == "/home/ada/bin/run"
    assert spec.args == ("a${HOME}b", "--a=t0p-s3cret", "b c", "", "d", "[]", "a b")
    assert spec.env == {"A": "t0p-s3cret", "B": "xaday"}
    assert spec.cwd == "/home/ada/work"
    spec = read_one({"url": "https://${USER}.example.com/${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}"}})
    assert spec.url == "https://ada.example.com/t0p-s3cret"
    assert spec.headers == {"Authorization": "Bearer t0p-s3cret"}


def test_what_came_from_a_variable_is_a_secret_unless_it_plainly_is_none() -> None:
    environment = {**ENV, "TEAM": "blue-team", "TOOL": "some-tool", "PORT": "8080"}
    entry = {"command": "${TOOL}", "args": ["${TEAM}", "${PORT}", "${USER}", "${HOME}"], "cwd": "/${TOKEN}/${TOOL}"}
    [spec] = read_config({"mcpServers": {"a": entry}}, environment=environment)
    assert spec.secrets == {"blue-team", "t0p-s3cret"}
    [spec] = read_config({"mcpServers": {"a": {"url": "https://a.b/${TEAM}/mcp"}}}, environment=environment)
    assert spec.secrets == {"blue-team"}


def test_a_dollar_that_is_no_variable_of_ours_is_left_alone() -> None:
    texts = ["$TOKEN", "$$", "${", "${}", "$(x)", "100$", "${1}", "${x%y}", "${#a[@]}", "${a b}", "${X:=1}"]
    assert read_one({"command": "sh", "args": texts}).args == tuple(texts)


def test_places_of_vs_code_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    args = ["${workspaceFolder}", "${workspaceFolderBasename}", "${userHome}", "${pathSeparator}${/}", "${cwd}"]
    text = json.dumps({"servers": {"a": {"command": "x", "args": args, "cwd": "sub"}}})
    project = tmp_path / "shop"
    [spec] = read_config(write(project / ".vscode" / "mcp.json", text), environment=ENV)
    assert spec.args == (str(project), "shop", "/home/ada", os.sep * 2, "/")
    assert spec.cwd == str(project / "sub")
    [spec] = read_config(write(project / "mcp.json", text), environment=ENV)
    assert spec.args[0] == str(project)
    [spec] = read_config(write(tmp_path / ".cursor" / "mcp.json", text), environment={"HOME": str(tmp_path)})
    assert spec.args[0] == "/", "a file of the user belongs to no project: where we are is meant"


def test_a_variable_may_stand_in_the_servers_own_env() -> None:
    entry = {"command": "npx", "args": ["--header", "X-Key:${KEY}"], "env": {"KEY": "key-of-${USER}", "TOKEN": "mine"}}
    assert read_one(entry).args == ("--header", "X-Key:key-of-ada")
    assert read_one({**entry, "args": ["${TOKEN}"]}).args == ("t0p-s3cret",), "the environment's comes first"
    assert mistake({"command": "x", "env": {"A": "${B}", "B": "1"}}).startswith("env.A: the variable B is not set")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"command": "${NOPE}"}, "command: the variable NOPE is not set; set it, or give a default: ${NOPE:-…}"),
        ({"command": "x", "args": ["a", "b", "c${env:NOPE}"]}, "args[2]: the variable NOPE is not set; set it, or give a default: ${NOPE:-…}"),
        ({"command": "x", "env": {"API_KEY": "${NOPE}"}}, "env.API_KEY: the variable NOPE is not set; set it, or give a default: ${NOPE:-…}"),
        ({**WEB, "headers": {"Authorization": "Bearer ${NOPE}"}}, "headers.Authorization: the variable NOPE is not set; set it, or give a default: ${NOPE:-…}"),
        ({"url": "https://${NOPE}/"}, "url: the variable NOPE is not set; set it, or give a default: ${NOPE:-…}"),
        ({"command": "x", "cwd": "${NOPE}"}, "cwd: the variable NOPE is not set; set it, or give a default: ${NOPE:-…}"),
        ({**WEB, "bearer_token_env_var": "NOPE"}, "bearer_token_env_var: the variable NOPE is not set; set it, or give a default: ${NOPE:-…}"),
        ({"command": "x", "args": ["${A:-${B}}"]}, "args[0]: the default of the variable A holds another variable; a default is plain text"),
        ({"command": "x", "args": ["${command:pick}"]}, "args[0]: only VS Code knows what ${command:…} stands for; write the value itself"),
        ({"command": "x", "args": ["${input:key}"]}, "args[0]: there is no input 'key'; declare it under \"inputs\""),
    ],
)  # fmt: skip
def test_an_unset_variable_names_its_field(entry: Any, told: str) -> None:
    assert mistake(entry) == told


@pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}, {"isActive": False}])
def test_a_disabled_server_needs_no_variables_and_asks_nothing(off: Any) -> None:
    asked: list[InputQuestion] = []
    document = {
        "servers": {"a": {"url": "${NOPE}/mcp", "headers": {"K": "${input:key}"}, "envFile": "none.env", **off}},
        "inputs": [{"id": "key", "type": "promptString"}],
    }
    [spec] = read_config(document, environment=ENV, inputs=lambda question: asked.append(question) or "")
    assert (spec.disabled, spec.url, spec.headers, asked) == (True, "${NOPE}/mcp", {"K": "${input:key}"}, [])


def test_each_input_is_asked_once_and_only_when_it_is_needed() -> None:
    asked: list[InputQuestion] = []

    def answer(question: InputQuestion) -> str:
        asked.append(question)
        return "an-answer"

    inputs = [
        {"id": "key", "type": "promptString", "description": "API key", "password": True},
        {"id": "where", "type": "pickString", "options": ["eu", {"label": "US", "value": "us"}], "default": "eu"},
        {"id": "unused", "type": "promptString"},
    ]
    entry = {"command": "x", "env": {"A": "${input:key}", "B": "${input:where}", "C": "${input:key}"}}
    [spec] = read_config({"servers": {"a": entry}, "inputs": inputs}, inputs=answer)
    assert spec.env == {"A": "an-answer", "B": "an-answer", "C": "an-answer"}
    assert asked == [
        InputQuestion("key", "promptString", "API key", None, True),
        InputQuestion("where", "pickString", "", "eu", False, ("eu", "us")),
    ]
    assert spec.secrets == {"an-answer"}


def test_an_input_without_an_answer_takes_its_default_or_is_told() -> None:
    def no_answer(question: InputQuestion) -> str:
        raise KeyError(question.id)

    entry = {"command": "x", "args": ["${input:a}", "${input:b}", "${input:c}"]}
    inputs = [{"id": "a", "default": "A"}, {"id": "b"}, {"id": "c", "type": "command"}]
    told = [
        "configuration: server 's': args[1]: the input 'b' has no answer; run where it can be asked, or give it a \"default\"",
        "configuration: server 's': args[2]: only VS Code can answer the input 'c', for it is a command; write the value itself",
    ]
    for answer in (None, no_answer):
        assert problems({"servers": {"s": entry}, "inputs": inputs}, inputs=answer) == told
    spec = read_config({"servers": {"s": {**entry, "args": ["${input:a}"]}}, "inputs": inputs})[0]
    assert spec.args == ("A",)


# What to start


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "npx", "args": ["-y", 3000, 1.5, True]}, ["npx", "-y", "3000", "1.5", "true"]),
        ({"command": "npx -y 'a b' --token ${WIDE}"}, ["npx", "-y", "a b", "--token", "a b"]),
        ({"command": "npx -y foo", "args": []}, ["npx", "-y", "foo"]),
        ({"command": "my tool", "args": ["x"]}, ["my tool", "x"]),
        ({"command": "uv --quiet run", "args": ["x"]}, ["uv", "--quiet", "run", "x"]),
        ({"command": ["npx", "-y", "${USER}"], "args": ["z"]}, ["npx", "-y", "ada", "z"]),
        ({"command": "npx x ${NOPE:-a b}"}, ["npx", "x", "a b"]),
        ({"command": "C:\\Program Files\\nodejs\\npx.cmd"}, ["C:\\Program Files\\nodejs\\npx.cmd"]),
        ({"command": "C:\\x\\y.exe", "args": ["C:\\a b\\c"]}, ["C:\\x\\y.exe", "C:\\a b\\c"]),
        ({"command": "python C:\\x\\y.py \"C:\\a b\""}, ["python", "C:\\x\\y.py", "C:\\a b"]),
        ({"command": "/no/such/tool --token abc"}, ["/no/such/tool", "--token", "abc"]),
        ({"command": "~/bin/tool"}, ["/home/ada/bin/tool"]),
        ({"command": "größe", "args": ["日本"]}, ["größe", "日本"]),
    ],
)  # fmt: skip
def test_a_command_is_read_as_people_write_it(entry: Any, words: list[str]) -> None:
    spec = read_one(entry)
    assert [spec.command, *spec.args] == words


def test_a_command_with_blanks_that_is_a_file_is_one_word(tmp_path: Path) -> None:
    file = write(tmp_path / "my tools" / "a server", "")
    assert (read_one({"command": str(file)}).command, read_one({"command": str(file)}).args) == (str(file), ())
    spec = read_one({"command": f"{file} stdio"})
    assert (spec.command, spec.args) == (str(file), ("stdio",))


def test_env_values_become_text_and_null_is_left_out() -> None:
    spec = read_one({"command": "x", "env": {"A": 1, "B": True, "C": 0.5, "D": None, "E": "", "Ä": "ü"}})
    assert spec.env == {"A": "1", "B": "true", "C": "0.5", "E": "", "Ä": "ü"}


def test_a_relative_directory_starts_at_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "ünï" / "mcp.json", json.dumps({"mcpServers": {"日本": {"command": "x", "cwd": "../sub"}}}))
    [spec] = read_config(file)
    assert (spec.name, spec.cwd, spec.source) == ("日本", str(tmp_path / "sub"), str(file))
    assert read_one({"command": "x", "cwd": "~/a"}).cwd == "/home/ada/a"
    assert read_one({"command": "x", "cwd": "C:\\x\\y"}).cwd == "C:\\x\\y"


def test_the_interpreter_that_runs_this_has_a_name_that_the_environment_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = read_one(
        {"command": "${TOOLBRIDGE_PYTHON}", "args": ["${env:TOOLBRIDGE_PYTHON}", "${TOOLBRIDGE_PYTHON:-x}"]}
    )
    assert (spec.command, spec.args) == (sys.executable, (sys.executable, sys.executable))
    assert spec.secrets == frozenset()
    for value, told in {"/opt/python": "/opt/python", "": sys.executable}.items():
        config = {"mcpServers": {"a": {"command": "${TOOLBRIDGE_PYTHON}"}}}
        assert read_config(config, environment={"TOOLBRIDGE_PYTHON": value})[0].command == told
    own = {"command": "${TOOLBRIDGE_PYTHON}", "env": {"TOOLBRIDGE_PYTHON": "/own/python"}}
    assert read_one(own).command == "/own/python"
    monkeypatch.setattr(sys, "executable", "")  # as where Python is a part of another program
    assert read_one({"command": "${TOOLBRIDGE_PYTHON:-x}"}).command == "x"
    assert mistake({"command": "${TOOLBRIDGE_PYTHON}"}).startswith("command: the variable TOOLBRIDGE_PYTHON is not set")


def test_an_env_file_lies_under_env(tmp_path: Path) -> None:
    lines = '# c\n\nexport A=1 # one\nB=\'x # y\'\nC="l1\\nl2\\"" # c\nD=\nE=${TOKEN}\r\nF=over#it\n'
    write(tmp_path / ".env", b"\xef\xbb\xbf" + lines.encode())
    document = {"mcpServers": {"a": {"command": "x", "envFile": ".env", "env": {"F": "env", "G": "${A}"}}}}
    file = write(tmp_path / "mcp.json", json.dumps(document))
    [spec] = read_config(file, environment=ENV)
    assert spec.env == {"A": "1", "B": "x # y", "C": 'l1\nl2"', "D": "", "E": "${TOKEN}", "F": "env", "G": "1"}
    write(tmp_path / ".env", "A=1\nt0p-s3cret\nB='open\n")
    assert problems(file) == [
        f"{file}: server 'a': envFile: line 2 is not NAME=value",
        f"{file}: server 'a': envFile: line 3 has a quote that is not closed",
    ]
    (tmp_path / ".env").unlink()
    told = f"cannot be read (no such file or directory); a relative path starts at {tmp_path}"
    assert problems(file) == [
        f"{file}: server 'a': envFile: {told}",
        f"{file}: server 'a': env.G: the variable A is not set; set it, or give a default: ${{A:-…}}",
    ]


# Where to reach it


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        (WEB, "auto"),
        ({"url": "https://a.b/sse"}, "auto"),
        ({"serverUrl": "https://a.b/mcp"}, "auto"),
        ({"httpUrl": "https://a.b/mcp"}, "http"),
        ({**WEB, "type": "http"}, "http"),
        ({**WEB, "type": "streamable-http"}, "http"),
        ({**WEB, "transport": "streamableHttp"}, "http"),
        ({**WEB, "transport": "streamable_http"}, "http"),
        ({**WEB, "type": "SSE"}, "sse"),
        ({**WEB, "type": "remote"}, "auto"),
        ({"type": "mcp", "server_url": "https://a.b/mcp", "server_label": "l"}, "auto"),
        ({"url": "http://[::1]:8000/mcp"}, "auto"),
        ({"url": "http://localhost:8000/mcp", "serverUrl": "http://localhost:8000/mcp"}, "auto"),
        (STDIO, "stdio"),
    ],
)  # fmt: skip
def test_the_transport_is_read_or_guessed(entry: Any, transport: str) -> None:
    assert read_one(entry).transport == transport


@pytest.mark.parametrize(
    ("entry", "headers", "oauth"),
    [
        ({"authorization": "abcdef"}, {"Authorization": "Bearer abcdef"}, None),
        ({"authorization_token": "Bearer ${TOKEN}"}, {"Authorization": "Bearer t0p-s3cret"}, None),
        ({"auth": "abcdef"}, {"Authorization": "Bearer abcdef"}, None),
        ({"auth": "oauth"}, {}, OAuth()),
        ({"oauth": True}, {}, OAuth()),
        ({"oauth": False}, {}, None),
        ({"oauth": {"enabled": False}}, {}, None),
        ({"auth": {"CLIENT_ID": "i", "CLIENT_SECRET": "${TOKEN}", "scopes": ["a"]}}, {}, OAuth("i", "t0p-s3cret", ("a",))),
        ({"oauth": {"clientId": "i", "callbackPort": 7, "scopes": "a b"}}, {}, OAuth("i", None, ("a", "b"), 7)),
        ({"oauth": {"grant": "client_credentials"}}, {}, OAuth(grant="client_credentials")),
        ({"headers": {"X": 1, "Y": True}}, {"X": "1", "Y": "true"}, None),
    ],
)  # fmt: skip
def test_headers_tokens_and_logins_are_read(entry: Any, headers: Any, oauth: OAuth | None) -> None:
    spec = read_one({**WEB, **entry})
    assert (spec.headers, spec.oauth) == (headers, oauth)


# How far to trust it


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, MCPToolFilter()),
        ({"include": ["a_*"], "exclude": ["a_b"]}, MCPToolFilter(include=["a_*"], exclude=["a_b"])),
        ({"allowed_tools": ["a"], "disabledTools": ["b"], "excludeTools": ["b", "c"]}, MCPToolFilter(include=["a"], exclude=["b", "c"])),
        ({"allowedTools": {"tool_names": ["a"], "read_only": True}}, MCPToolFilter(include=["a"], read_only=True)),
        ({"allowed_tools": {"read_only": True}}, MCPToolFilter(read_only=True)),
        ({"allowed_tools": {"read_only": False}}, MCPToolFilter(read_only=False)),
        ({"includeTools": ["a"], "read_only": True}, MCPToolFilter(include=["a"], read_only=True)),
        ({"read_only": False}, MCPToolFilter()),
        ({"tools": ["*"]}, MCPToolFilter()),
        ({"tools": {"search": {"approval_mode": "approve"}}}, MCPToolFilter()),
    ],
)  # fmt: skip
def test_filters_are_read_in_every_spelling(entry: Any, expected: MCPToolFilter) -> None:
    assert read_one({**STDIO, **entry}).filter == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, None),
        ({"require_approval": "always"}, Approval("always")),
        ({"autoApprove": []}, None),
        ({"require_approval": "never"}, Approval("never")),
        ({"requireApproval": "always", "autoApprove": ["a"], "alwaysAllow": ["a", "b"]}, Approval("always", never=("a", "b"))),
        ({"require_approval": {"never": {"tool_names": ["a"], "read_only": True}}}, Approval("always", never_where_read_only=("a",))),
        ({"require_approval": {"never": {"read_only": True}}}, Approval("always", never_read_only=True)),
        ({"require_approval": {"always": {"tool_names": ["a"]}, "never": ["b"]}}, Approval("always", always=("a",), never=("b",))),
        ({"autoApprove": True}, Approval("never")),
        ({"autoApprove": False, "trust": True}, None),
    ],
)  # fmt: skip
def test_approval_is_read_in_every_spelling(entry: Any, expected: Approval | None) -> None:
    assert read_one({**STDIO, **entry}).approval == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"timeout": 60}, Limits(call=60)),
        ({"timeout": 30000}, Limits(call=30)),
        ({"timeout": 3600}, Limits(call=3600)),
        ({"timeout": {"connect": 1, "list": 2, "call": 3, "total": 4}}, Limits(1, 2, 3, 4)),
        ({"connect_timeout": 1, "list_timeout": 2, "call_timeout": 7200}, Limits(1, 2, 7200, 7200)),
        ({"startup_timeout_ms": 1500, "concurrency": 2}, Limits(connect=1.5, concurrency=2)),
    ],
)
def test_limits_are_read(entry: Any, expected: Limits) -> None:
    assert read_one({**STDIO, **entry}).limits == expected


def test_the_rest_of_a_specification_is_read(tmp_path: Path) -> None:
    entry = {**WEB, "required": True, "trust": True, "inherit": "none", "protocol": "2025-11-25", "verify": "ca.pem"}
    file = write(tmp_path / "mcp.json", json.dumps({"mcpServers": {"a": entry}}))
    assert read_config(file) == [
        ServerSpec(
            "a",
            "auto",
            url=WEB["url"],
            required=True,
            trust=True,
            inherit="none",
            protocol="2025-11-25",
            verify=str(tmp_path / "ca.pem"),
            source=str(file),
        )
    ]
    assert read_one({**WEB, "verify": False}).verify is False


# Mistakes


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (7, "a number; expected an object"),
        ({}, 'has neither "command" nor "url"; give the command that starts it, or the url where it is'),
        ({"command": None}, 'has neither "command" nor "url"; give the command that starts it, or the url where it is'),
        ({"command": "x", "url": "https://a"}, "command: a server has a command or a url, not both; remove one of the two"),
        ({"command": " "}, "command: is empty; give a value, or leave it out"),
        ({"command": []}, "command: a list; expected the program and its arguments, all strings"),
        ({"command": 3}, "command: a number; expected a string"),
        ({"command": "x 'y"}, 'command: has a quote that is not closed; write the program here and a list of strings in "args"'),
        ({"command": "x\0y"}, "command: holds a NUL character, which no system accepts"),
        ({"command": "x", "args": "-y z"}, "args: a string; expected a list of strings"),
        ({"command": "x", "args": ["a", None]}, "args[1]: null; expected a string"),
        ({"command": "x", "args": ["\ud800"]}, "args[0]: holds half of a character (a lone surrogate)"),
        ({"command": "x", "env": ["A=1"]}, "env: a list; expected an object of strings"),
        ({"command": "x", "env": {"A": {}}}, "env.A: an object; expected a string"),
        ({"command": "x", "env": {"A=B\n": "1"}}, 'env["A=B\\n"]: no variable can have this name'),
        ({"command": "x", "type": "http"}, 'type: is for servers with a url, and this one has a command; write "stdio", or leave it out'),
        ({**WEB, "type": "stdio"}, 'type: is for servers with a command, and this one has a url; write "http" or "sse"'),
        ({**WEB, "type": "ws"}, "type: WebSocket is no transport of MCP; use the server's http url"),
        ({**WEB, "type": "htttp"}, "type: an unknown word; expected stdio, http or sse"),
        ({**WEB, "transport": {"type": "http"}}, 'transport: an object; write the kind as a string, and "url" and "headers" beside it'),
        ({"url": "mcp.example.com/x"}, "url: has no scheme; write https://… in front"),
        ({"url": "localhost:8000/mcp"}, "url: has no scheme; write http://… in front"),
        ({"url": "ws://a.b/"}, "url: is of another scheme; a server is reached by http:// or https://"),
        ({"url": "https:///mcp"}, "url: names no host; expected https://host/path"),
        ({"url": "https://a b/"}, "url: holds a blank; write %20 for one that belongs there"),
        ({"url": "http://a:70000/"}, "url: has a port that is no number from 1 to 65535"),
        ({"url": "https://a.b", "serverUrl": "https://c.d"}, "serverUrl: says the same as 'url' and has another value; keep one of the two"),
        ({**WEB, "headers": {"A B": "x"}}, 'headers["A B"]: is no legal name of a header'),
        ({**WEB, "headers": {"A": "x\ny"}}, "headers.A: a header is one line"),
        ({**WEB, "headers": {"A": None}}, "headers.A: null; expected a string"),
        ({**WEB, "headers": {"Aa": "1", "aA": "2"}}, "headers.aA: is given twice; the case of its letters does not matter"),
        ({**WEB, "headers": {"authorization": "a"}, "auth": "b"}, "auth: says the same as the header Authorization; keep one of the two"),
        ({**WEB, "oauth": "yes"}, "oauth: a string; expected true, false or an object"),
        ({**WEB, "oauth": {"callbackPort": 99999}}, "oauth.callbackPort: expected a port from 1 to 65535, or 0 for any"),
        ({**WEB, "verify": 1}, "verify: a number; expected true, false, or the path of a file of certificates"),
        ({**STDIO, "disabled": "true"}, "disabled: a string; expected true or false"),
        ({**STDIO, "inherit": "some"}, "inherit: an unknown word; expected one of safe, all, none"),
        ({**STDIO, "protocol": "v2"}, "protocol: an unknown word; expected auto, legacy, or a version such as 2025-11-25"),
        ({**STDIO, "timeout": 0}, "timeout: expected a number of seconds above 0"),
        ({**STDIO, "timeout": -1}, "timeout: expected a number of seconds above 0"),
        ({**STDIO, "timeout": float("nan")}, "timeout: expected a number of seconds above 0"),
        ({**STDIO, "timeout": float("inf")}, "timeout: expected a number of seconds above 0"),
        ({**STDIO, "timeout": 10**400}, "timeout: expected a number of seconds above 0"),
        ({**STDIO, "timeout": True}, "timeout: a boolean; expected a number of seconds"),
        ({**STDIO, "timeout": "30s"}, "timeout: a string; expected a number of seconds"),
        ({**STDIO, "timeout": {"cal": 3}}, "timeout.cal: unknown key; expected connect, list, call, total"),
        ({**STDIO, "timeout": {"call": 3}, "call_timeout": 4}, "call_timeout: is given twice; keep one of the two"),
        ({**STDIO, "concurrency": 0}, "concurrency: expected a whole number from 1 on"),
        ({**STDIO, "concurrency": True}, "concurrency: expected a whole number from 1 on"),
        ({**STDIO, "include": "a"}, "include: a string; expected a list of names of tools"),
        ({**STDIO, "include": []}, 'include: is empty; leave it out to offer every tool, or set "disabled": true'),
        ({**STDIO, "include": ["a"], "allowedTools": ["b"]}, "allowedTools: says the same as 'include' and has another value; keep one of the two"),
        ({**STDIO, "exclude": ["a", 3]}, "exclude[1]: a number; expected the name of a tool"),
        ({**STDIO, "require_approval": "sometimes"}, 'require_approval: an unknown word; expected "always", "never", or an object of the two with "tool_names"'),
        ({**STDIO, "require_approval": {"nevr": {}}}, 'require_approval.nevr: unknown key; expected "always" or "never"'),
        ({**STDIO, "require_approval": {"always": {"read_only": True}}}, 'require_approval.always.read_only: only "never" takes it: other tools are asked about anyway'),
        ({"comand": "x"}, "comand: unknown key; did you mean 'command'?"),
        ({"cmd": "x"}, "cmd: unknown key; did you mean 'command'?"),
        ({**STDIO, "enviroment": {}}, "enviroment: unknown key; did you mean 'environment'?"),
        ({**WEB, "header": {}}, "header: unknown key; did you mean 'headers'?"),
        ({**STDIO, "require_aproval": "never"}, "require_aproval: unknown key; did you mean 'require_approval'?"),
    ],
    ids=lambda each: repr(each)[:50],
)  # fmt: skip
def test_a_mistake_names_its_field_and_what_would_be_right(entry: Any, told: str) -> None:
    assert mistake(entry) == told


def test_all_mistakes_of_a_file_are_told_at_once_and_the_other_servers_can_be_had(tmp_path: Path) -> None:
    document = {
        "mcpServers": {
            "a": {"command": "x", "args": [None], "timeout": -1},
            "": STDIO,
            "good": STDIO,
            "b": {"url": "x", "headers": {"K": "${NOPE}"}},
            "c\n": STDIO,
        }
    }
    file = write(tmp_path / "mcp.json", json.dumps(document))
    told = [
        f"{file}: mcpServers: a server has an empty name; give it one",
        f"{file}: server 'c\\n': the name of a server holds a control character",
        f"{file}: server 'a': args[0]: null; expected a string",
        f"{file}: server 'a': timeout: expected a number of seconds above 0",
        f"{file}: server 'b': url: has no scheme; write https://… in front",
        f"{file}: server 'b': headers.K: the variable NOPE is not set; set it, or give a default: ${{NOPE:-…}}",
    ]
    assert problems(file) == told
    examined = examine_config(file, environment=ENV)
    assert [each.name for each in examined.specs] == ["good"]
    assert list(examined.problems) == told


def test_what_has_no_effect_is_noted_and_what_means_nothing_is_not() -> None:
    entry = {
        "url": "https://a.b",
        "description": "d",
        "gallery": True,
        "version": "1",
        "dev": {"watch": "*"},
        "_note": "n",
        "$schema": "s",
        "headersHelper": "get-token",
        "frobnicate": 1,
        "args": ["x"],
        "Type": "http",
    }
    examined = examine_config({"mcpServers": {"a": entry}})
    assert (examined.problems, len(examined.specs)) == ((), 1)
    assert examined.notes == (
        "configuration: server 'a': headersHelper: is a command of Claude Code and not run here; give the headers, "
        "or `headers_from` in Python",
        "configuration: server 'a': frobnicate: is not known here and has no effect",
        "configuration: server 'a': args: has no effect on a server with a url",
    )
    notes = examine_config({"mcpServers": {"a": {"command": "x", "env": {"K": "$API_KEY"}}}}).notes
    assert notes == (
        "configuration: server 'a': env.K: $API_KEY is passed on as it is; a variable is written ${API_KEY}",
    )


# Anything at all

SECRET = "Zx9-hush/q+7 ü&k"
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KEYS = st.sampled_from(
    [
        *(spelling for spellings in FIELDS.values() for spelling in spellings),
        *("mcpServers", "servers", "context_servers", "inputs", "mcp", "projects", "tool_names", "never", "always"),
        *("name", "id", "default", "options", "path", "clientId", "scopes", "call", "allowed", "excluded", "comand"),
    ]
) | st.text(max_size=6)
WORDS = st.sampled_from(
    ["npx -y a", "https://a.b/mcp", "${HOME}", "${NOPE}", "${input:a}", "x ${A:-b", "'", "stdio", "never", "oauth", "C:\\a b\\c"]
)  # fmt: skip
DOCUMENTS = st.recursive(
    LEAVES | WORDS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=40
)


def outcome(source: Any) -> list[ServerSpec] | tuple[str, ...]:
    """What reading gives: specifications, or the problems, each of one line. Any other exception fails the test."""
    try:
        return [*read_config(source, environment=ENV), TIME]
    except ConfigError as error:
        told = error.problems
    assert all("\n" not in line for line in told)
    return told


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_no_document_raises_anything_but_a_config_error(document: Any) -> None:
    source: Any = document if isinstance(document, dict | list) else {"mcpServers": document}
    for each in (
        source,
        {"mcpServers": {"x": document}},
        {"servers": [document]},
        {"mcpServers": {"x": {**STDIO, "env": document}}},
    ):
        assert outcome(each), "specifications, or problems"


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60)
    | st.text(max_size=60).map(str.encode)
    | DOCUMENTS.map(lambda each: json.dumps(each).encode())
)
def test_no_file_raises_anything_but_a_config_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    for name in ("mcp.json", "config.toml"):
        file = write(tmp_path_factory.getbasetemp() / name, data)
        told = outcome(file)
        assert isinstance(told, list) or all(line.startswith(str(file)) for line in told)


def _with_secret(draw: st.DrawFn) -> dict[str, Any]:
    literal = draw(st.booleans())
    said = SECRET if literal else "${KEY}"
    places: dict[str, Any] = {
        "headers": {"Authorization": f"Bearer {said}", "X-Key": said},
        "env": {"API_KEY": said, "PLAIN": said, "JSON": json.dumps({"token": said})},
        "args": ["--api-key", said, f"--token={said}", "-e", f"KEY={said}", f"Authorization: Bearer {said}"],
        "oauth": {"clientSecret": said},
        "authorization": said,
        "url": said,
        "type": said,
        "timeout": said,
        "include": said,
        "require_approval": said,
        "protocol": said,
        "inherit": said,
        "disabled": said,
        "verify": [said],
        "envFile": [said],
        "auth": [said],
        "concurrency": said,
    }
    kept = draw(st.lists(st.sampled_from(sorted(places)), unique=True, max_size=4))
    reach = draw(st.sampled_from([{"command": "x"}, {"url": "https://a.b/mcp"}, {"command": f"x --token '{said}'"}]))
    return {**reach, **{key: places[key] for key in kept}}


@settings(max_examples=300, deadline=None)
@given(st.composite(_with_secret)())
def test_no_secret_reaches_a_representation_or_a_message(entry: dict[str, Any]) -> None:
    examined = examine_config({"mcpServers": {"x": entry}}, environment={"KEY": SECRET})
    for text in (repr(examined.specs), *examined.problems, *examined.notes, repr(ConfigError(examined.problems))):
        assert SECRET not in text
        assert json.dumps(SECRET)[1:-1] not in text
