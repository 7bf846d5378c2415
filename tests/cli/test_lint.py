"""`toolbridge lint`: what it looks at, what it says, where it writes, and its exit codes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import EXAMPLE, Answer, surroundings, toolbridge
from tests.cli.workplace import CHAOS, Terminal, Workplace, interrupt
from tests.support.http_servers import HttpServer
from toolbridge.cli import group
from toolbridge.cli.lint import FORMATS
from toolbridge.lint.report import FORMATS as WRITTEN
from toolbridge.lint.table import rules

VERSIONED = json.dumps([{"name": "search_v2"}]).encode()
"""A tool that breaks `name.version`, a warning."""

ONE = ("--select", "name.version")


def put(work: Workplace, name: str, content: str | bytes) -> str:
    path = work.directory / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def run(*arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> Answer:
    """The command in this process: what touches no server is not worth an interpreter of its own."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = group.run(["lint", *arguments])
    return Answer(code, out.getvalue(), err.getvalue())


def found(document: Any) -> list[tuple[str, str]]:
    return [(each["tool"], each["rule"]) for each in document["findings"]]


def test_a_finding_at_the_severity_is_exit_one_and_below_it_none() -> None:
    for fail_on, code in (("error", 0), ("warning", 1), ("info", 1), ("never", 0)):
        answer = run("-", *ONE, "--fail-on", fail_on, stdin=VERSIONED)
        assert (answer.code, answer.err) == (code, "")
        assert "name.version" in answer.out


def test_by_default_a_warning_fails_and_a_remark_does_not() -> None:
    assert run("-", *ONE, stdin=VERSIONED).code == 1
    assert run("-", "--select", "name.case", stdin=b'[{"name": "getOrder"}]').code == 0


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_written_to_stdout(format: str) -> None:
    answer = run("-", *ONE, "--format", format, stdin=VERSIONED)
    assert (answer.code, answer.err) == (1, "")
    assert "name.version" in answer.out
    assert answer.out.endswith("\n")


def test_the_formats_are_those_that_can_be_written() -> None:
    assert FORMATS == WRITTEN


def test_json_is_a_format_too_and_says_the_source_and_the_exit_code(work: Workplace) -> None:
    put(work, "grün ツール.json", VERSIONED)
    answer = run("grün ツール.json", *ONE, "--json", cwd=work.directory)
    assert (answer.code, answer.err) == (1, "")
    assert found(answer.json) == [("search_v2", "name.version")]
    assert answer.json["source"] == {"label": "grün ツール.json", "kind": "file", "path": "grün ツール.json"}
    assert answer.json["exit_code"] == 1
    assert answer.json["findings"][0]["place"]["line"] == 1
    assert answer.out == run("grün ツール.json", *ONE, "--format", "json", cwd=work.directory).out


def test_a_name_can_be_given_to_the_server_of_a_file() -> None:
    answer = run("-", *ONE, "--json", "--server", "beds", stdin=VERSIONED)
    assert answer.json["findings"][0]["server"] == "beds"


def test_a_report_goes_to_a_file_whole_and_its_sum_to_stderr(work: Workplace) -> None:
    put(work, "tools.json", VERSIONED)
    put(work, "report.sarif", "old")
    answer = work("lint", "tools.json", *ONE, "--format", "sarif", "--output", "report.sarif")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "tools.json: 1 warning in 1 tool; the report is in report.sarif\n"
    document = json.loads((work.directory / "report.sarif").read_text(encoding="utf-8"))
    assert [each["ruleId"] for each in document["runs"][0]["results"]] == ["name.version"]
    assert sorted(each.name for each in work.directory.iterdir()) == ["home", "report.sarif", "tools.json"]


def test_a_report_of_text_in_a_file_has_no_colours(work: Workplace) -> None:
    put(work, "tools.json", VERSIONED)
    answer = work("lint", "tools.json", *ONE, "--output", "report.txt", FORCE_COLOR="1")
    assert answer.code == 1
    assert "\x1b" not in (work.directory / "report.txt").read_text(encoding="utf-8")
    assert "\x1b" in work("lint", "tools.json", *ONE, FORCE_COLOR="1").out


def test_an_output_that_is_a_link_stays_one_and_a_device_is_written_to(work: Workplace) -> None:
    put(work, "tools.json", VERSIONED)
    (work.directory / "link").symlink_to("real.txt")
    assert run("tools.json", *ONE, "--output", "link", cwd=work.directory).code == 1
    assert (work.directory / "link").is_symlink()
    assert "name.version" in (work.directory / "real.txt").read_text(encoding="utf-8")
    assert run("tools.json", *ONE, "--output", os.devnull, cwd=work.directory).code == 1
    assert "name.version" in run("tools.json", *ONE, "--output", "-", cwd=work.directory).out


def test_several_files_are_one_surface_whose_servers_are_called_after_them(work: Workplace) -> None:
    put(work, "a.json", '[\n{"name": "create_issue"}]')
    put(work, "b.tools.json", '[{"name": "create_isssue"}]')
    select = ("--select", "safety.near-name", "--json")
    answer = run("b.tools.json", "a.json", *select, cwd=work.directory)
    assert (answer.code, answer.err) == (1, "")
    assert answer.json["source"] == {"label": "b.tools.json, a.json", "kind": "file", "path": None}
    assert [(each["name"], each["tools"]) for each in answer.json["servers"]] == [("b", 1), ("a", 1)]
    (near,) = answer.json["findings"]
    assert (near["server"], near["tool"]) == ("b", "create_isssue")
    assert "of the server 'a'" in near["message"].replace('"', "'")
    assert (near["place"]["file"], near["place"]["line"]) == ("b.tools.json", 1)
    for each in ("a.json", "b.tools.json"):
        assert run(each, *select, cwd=work.directory).json["findings"] == []


@pytest.mark.parametrize("format", FORMATS)
def test_several_files_are_one_report_in_every_format(work: Workplace, format: str) -> None:
    put(work, "a.json", VERSIONED)
    (work.directory / "more").mkdir()
    put(work, "more/a.json", '[\n{"name": "search_v3"}]')
    answer = run("a.json", "more/a.json", *ONE, "--format", format, cwd=work.directory)
    assert (answer.code, answer.err) == (1, "")
    assert answer.out.count("name.version") >= 2
    if format == "json":
        assert [(each["server"], each["place"]["file"], each["place"]["line"]) for each in answer.json["findings"]] == [
            ("a", "a.json", 1),
            ("more/a", "more/a.json", 2),
        ]


def test_the_same_file_or_name_twice_is_two_servers(work: Workplace) -> None:
    put(work, "a.json", VERSIONED)
    answer = run("a.json", "a.json", *ONE, "--server", "beds", "--json", cwd=work.directory)
    assert [each["name"] for each in answer.json["servers"]] == ["beds", "beds 2"]


def test_what_the_command_line_says_goes_over_the_file(work: Workplace) -> None:
    put(work, "tools.json", VERSIONED)
    put(work, "toolbridge.toml", "[lint]\nselect = ['name.version']\nfail-on = 'error'\nseverity = {name = 'error'}\n")
    answer = run("tools.json", "--json", cwd=work.directory)
    assert (answer.code, found(answer.json)) == (1, [("search_v2", "name.version")])
    assert answer.json["findings"][0]["severity"] == "error"
    assert run("tools.json", "--fail-on", "never", cwd=work.directory).code == 0
    assert found(run("tools.json", "--json", "--select", "name.length", cwd=work.directory).json) == []
    put(work, "other.toml", "[tool.toolbridge.lint]\nignore = ['*']\n")
    assert run("tools.json", "--config", "other.toml", cwd=work.directory).code == 0


def test_rules_are_given_with_commas_or_one_by_one() -> None:
    listed = b'[{"name": "search_v2"}, {"name": "getOrder"}]'
    for given in (("--select", "name.version,name.case"), ("--select", "name.version", "--select", "name.case")):
        answer = run("-", *given, "--json", stdin=listed)
        assert found(answer.json) == [("search_v2", "name.version"), ("getOrder", "name.case")]
    answer = toolbridge(
        "lint", "-", "--select", "name.version,name.case", "--ignore", "name.c*", "--json", stdin=listed
    )
    assert found(answer.json) == [("search_v2", "name.version")]


def test_waivers_of_tools_count_unless_they_shall_not() -> None:
    tool = {"name": "search_v2", "_meta": {"toolbridge/lint": {"ignore": {"name.version": "a format"}}}}
    data = json.dumps([tool]).encode()
    answer = run("-", *ONE, "--json", stdin=data)
    assert (answer.code, found(answer.json)) == (0, [])
    assert [each["reason"] for each in answer.json["waived"]] == ["a format"]
    assert run("-", *ONE, "--no-waivers", stdin=data).code == 1


def test_budgets_and_providers_reach_the_rules() -> None:
    data = json.dumps([{"name": "find", "description": "word " * 200, "inputSchema": {"type": "object"}}]).encode()
    cost = ("--select", "cost.tool,cost.list", "--json")
    assert found(run("-", *cost, stdin=data).json) == []
    assert found(run("-", *cost, "--tool-budget", "50", stdin=data).json) == [("find", "cost.tool")]
    answer = run("-", *cost, "--budget", "50", "--providers", "anthropic", stdin=data)
    assert [each["rule"] for each in answer.json["findings"]] == ["cost.list"]


# -- the rules ---------------------------------------------------------------------------------------------------------


def test_the_table_of_rules_names_every_rule_in_eighty_columns() -> None:
    answer = toolbridge("lint", "--rules", COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert [each.split()[0] for each in lines if each and not each.startswith(" ")] == list(rules())
    assert [each for each in lines if len(each) > 80] == []


def test_one_rule_is_told_with_its_reason_and_examples() -> None:
    rule = rules()["name.version"]
    answer = toolbridge("lint", "--rules", "name.version", COLUMNS="1000")
    lines = answer.out.splitlines()
    assert lines[0] == "name.version  warning"
    assert {f"  {rule.summary}", f"  Why: {rule.why}", f"  Source: {rule.source}", "  Bad", "  Good"} <= set(lines)
    assert '    {"name": "search_v2"}' in lines


def test_the_rules_are_there_for_programs() -> None:
    answer = run("--rules", "--json")
    assert [each["id"] for each in answer.json] == list(rules())
    assert set(answer.json[0]) == {"id", "severity", "summary", "why", "source", "bad", "good"}
    named = run("--rules", "name", "--json").json
    assert {each["id"].partition(".")[0] for each in named} == {"name"}


def test_the_rules_go_to_a_file_too(work: Workplace) -> None:
    for format, first in (("--json", '[{"id":'), ("--format=text", "name.missing")):
        answer = run("--rules", format, "--output", "rules.out", cwd=work.directory)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
        assert (work.directory / "rules.out").read_text(encoding="utf-8").startswith(first)


# -- servers -----------------------------------------------------------------------------------------------------------


def test_a_command_is_linted_with_its_own_options_and_found_in_its_script(work: Workplace) -> None:
    answer = work("lint", "--json", "--fail-on", "never", "--", sys.executable, "-S", "-E", str(CHAOS))
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["source"]["kind"] == "command"
    assert [each["name"] for each in answer.json["servers"]] == ["chaos"]
    assert {each["place"]["file"] for each in answer.json["findings"] if each["tool"]} == {str(CHAOS)}


def test_an_address_is_linted(work: Workplace) -> None:
    with HttpServer(work.directory / "http") as server:
        answer = work("lint", server.url(), "--json", "--fail-on", "never")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["source"] == {"label": server.url(), "kind": "url", "path": None}
    assert answer.json["counts"]["tools"] > 3


def test_a_configuration_is_asked_anew_and_a_failed_server_is_told(work: Workplace) -> None:
    work.configure(garden=work.chaos(), bad=work.script("sys.exit(3)"), off={**work.chaos(), "disabled": True})
    work.known("garden", [{"name": "search_v2"}])
    answer = work("lint", "--json", "--fail-on", "never")
    assert answer.code == 1
    assert [each["name"] for each in answer.json["servers"]] == ["garden"]
    assert [(each["server"], each["cause"]) for each in answer.json["failures"]] == [("bad", "exited")]
    assert answer.json["disabled"] == ["off"]
    assert "search_v2" not in {each["name"] for each in answer.json["tools"]}
    assert "✗ bad: its process exited with code 3" in answer.err
    assert work("lint", "--server", "garden", "--fail-on", "never").code == 0


def test_an_interrupt_leaves_nothing_behind(work: Workplace) -> None:
    slow = work.script("note('up')\nsys.stdin.read()")
    process = work.start("lint", "--", slow["command"], *slow["args"])
    work.wait_for("up")
    code, out, _ = interrupt(process)
    assert (code, out) == (130, b"")
    work.nothing_left()


def test_on_a_terminal_one_sees_who_is_waited_for(work: Workplace) -> None:
    slow = work.script("note('up')\nsys.stdin.read()")
    terminal = Terminal(work, "lint", "--", slow["command"], *slow["args"])
    terminal.wait_for("waiting for ")
    terminal.type("\x03")
    assert terminal.end() == 130
    work.nothing_left()


# -- misuse ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("tools.json --select nam.version", "--select: unknown rule 'nam.version'; did you mean 'name.version'?"),
        ("tools.json --ignore zzzzz", "--ignore: unknown rule 'zzzzz'; 'toolbridge lint --rules' lists them"),
        ("tools.json --select ,", "--select names no rule; give ids with commas between them"),
        ("--rules zzzzz", "--rules: unknown rule 'zzzzz'; 'toolbridge lint --rules' lists them"),
        ("tools.json --providers openai", "unknown provider 'openai'; did you mean 'openai-chat'?"),
        ("tools.json --providers ,", "--providers names no provider; give names with commas between them, or 'all'"),
        ("tools.json --format srif", "lint: invalid value for '--format': 'srif' is not one of 'text', 'json', 'sarif', 'github', 'junit', 'markdown'; see toolbridge lint --help"),
        ("tools.json --fail-on bad", "lint: invalid value for '--fail-on': 'bad' is not one of 'error', 'warning', 'info', 'never'; see toolbridge lint --help"),
        ("tools.json --budget 0", "lint: invalid value for '--budget': 0 is not in the range x>=1; see toolbridge lint --help"),
        ("tools.json --json --format sarif", "--json and --format name two formats; give one of them"),
        ("tools.json --call", "--call needs a server; tools.json is a list of tools"),
        ("tools.json --output folder", "folder: a directory; give the file to write"),
        ("tools.json --output no/where.json", "no/where.json: there is no directory no; make it first"),
        ("tools.json --from claude", "a SOURCE, --from and a command after -- all say what to look at; give one of them"),
        ("tools.json -- x", "a SOURCE, --from and a command after -- all say what to look at; give one of them"),
        ("folder", "folder: a directory; give a file of tools or an mcp.json, or - for standard input"),
        ("tols.json", "tols.json: no such file; did you mean tools.json?"),
        ("text.json", "text.json: not JSON: expecting value at line 1, column 1; expected a tools/list answer or a list of tools, as JSON"),
        ("-", "standard input: empty; expected a tools/list answer or a list of tools"),
        ("tools.json --config none.toml", "none.toml: no such file or directory; expected a file with the linter's settings"),
        ("tools.json --config text.json", "text.json: no settings of the linter in it; expected a table [lint]"),
        ("tools.json --config bad.toml", "bad.toml: lint.fail-on: 'eror'; expected one of error, warning, info, never"),
        ("tools.json --config broken.toml", "broken.toml: not valid TOML: expected ']' at the end of a table declaration (at line 1, column 6)"),
    ],
)  # fmt: skip
def test_misuse_is_one_line_and_exit_two(work: Workplace, arguments: str, line: str) -> None:
    put(work, "tools.json", VERSIONED)
    put(work, "text.json", "hello")
    put(work, "bad.toml", "[lint]\nfail-on = 'eror'\n")
    put(work, "broken.toml", "[lint\n")
    (work.directory / "folder").mkdir()
    answer = run(*arguments.split(), cwd=work.directory)
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("no-such-command-here",), "server 'no-such-command-here': there is no command no-such-command-here"),
        ((sys.executable, "-c", "import sys; sys.exit('no key')"), "exited with code 1 before the handshake was done; it wrote last: no key"),
        ((sys.executable, "-c", "import sys; sys.exit(1)"), "exited with code 1 before the handshake was done (run the command by hand and see what it says)"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_start_is_one_line_and_exit_two(
    work: Workplace, command: tuple[str, ...], words: str
) -> None:
    answer = work("lint", "--", *command)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith("toolbridge: server ")
    assert words in answer.err


def test_a_broken_project_file_is_told_before_anything_is_started(work: Workplace) -> None:
    put(work, "pyproject.toml", "[tool.toolbridge.lint]\nbudjet = 3\n")
    script = work.script("note('started')")
    answer = work("lint", "--", script["command"], *script["args"])
    assert (answer.code, answer.out, work.noted()) == (2, "", [])
    assert answer.err == (
        f"toolbridge: {work.directory / 'pyproject.toml'}: tool.toolbridge.lint.budjet: unknown key; did you mean 'budget'?\n"
    )


@pytest.mark.skipif(os.name == "nt" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="everything may be done")
def test_what_may_not_be_read_or_written_says_so(work: Workplace) -> None:
    put(work, "tools.json", VERSIONED)
    closed = work.directory / "closed"
    closed.mkdir(mode=0o500)
    answer = work("lint", "tools.json", "--output", "closed/report.txt")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "toolbridge: closed/report.txt: cannot be written: permission denied; give another file to write\n"
    )
    (work.directory / "tools.json").chmod(0)
    answer = work("lint", "tools.json")
    assert answer.code == 2
    assert answer.err == "toolbridge: tools.json: permission denied; give a file of tools or an mcp.json\n"


def test_a_file_is_linted_without_the_sdk_and_an_event_loop() -> None:
    program = (
        "import sys\n"
        "from toolbridge.cli import main\n"
        f"try:\n    main(['lint', {str(EXAMPLE)!r}, '--fail-on', 'never'])\n"
        "except SystemExit as leaving:\n    assert not leaving.code\n"
        "print('\\nloaded:', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=surroundings(), check=True)
    loaded = set(done.stdout.decode("utf-8").rpartition("loaded: ")[2].split())
    assert loaded & {"mcp", "asyncio", "httpx2", "pydantic", "rich", "toolbridge.servers.hub"} == set()


def test_hostile_tools_are_linted_in_every_format(tmp_path: Path) -> None:
    deep: Any = {}
    for _ in range(300):
        deep = {"properties": {"a": deep}}
    listed = [
        {"name": "\x1b[31mred\u202e", "description": "\ud800" + "x" * 50_000, "inputSchema": deep},
        {"name": 3},
        "none",
        {"name": "n" * 500, "inputSchema": [1], "annotations": "yes", "_meta": {"toolbridge/lint": 3}},
        {"name": "bomb", "inputSchema": {"properties": {"a": {"pattern": "(a+)+$", "enum": [float("inf")]}}}},
    ]
    data = json.dumps(listed).encode()
    for format in FORMATS:
        arguments = ("-", "--format", format, "--fail-on", "never")
        real = format in ("text", "sarif")  # with the encoding that a stream really has
        answer = toolbridge("lint", *arguments, stdin=data, cwd=tmp_path) if real else run(*arguments, stdin=data)
        assert answer.code == 0, answer.err
        assert "\x1b" not in answer.out
        assert "\u202e" not in answer.out


def test_the_server_of_the_examples_has_no_findings_also_where_it_is_called(work: Workplace) -> None:
    garden = EXAMPLE.parent / "garden_server.py"
    answer = work("lint", "--call", "--json", "--fail-on", "info", "--", sys.executable, str(garden))
    assert (answer.code, answer.json["findings"], answer.json["waived"]) == (0, [], [])
    assert {each["name"]: each["score"] for each in answer.json["tools"]} == {
        "find_plants": 100,
        "water": 100,
        "draw_map": 100,
    }
    assert answer.err.splitlines() == [
        "called 2 tools: garden/find_plants, garden/draw_map",
        "not called: garden/water (it does not claim to be read-only)",
    ]
    answer = work("lint", "--json", "--fail-on", "info", "--", sys.executable, str(garden))
    assert (answer.code, answer.json["findings"], answer.json["waived"]) == (0, [], [])


def test_the_configuration_of_the_examples_has_no_findings(work: Workplace) -> None:
    answer = work("lint", str(EXAMPLE.parent / "mcp.json"), "--json", "--fail-on", "info")
    assert (answer.code, answer.err, answer.json["findings"]) == (0, "", [])
    assert (answer.json["failures"], answer.json["disabled"], answer.json["waived"]) == ([], [], [])
