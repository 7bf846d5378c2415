"""The linter's settings in files: which file counts, what may stand in it, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolbridge.errors import SettingsError
from toolbridge.lint.offers import MAIN
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.settings_file import find_settings, read_settings
from toolbridge.providers import providers

ALL = """
[tool.toolbridge.lint]
select = ["name", "safety*"]
ignore = ["name.empty"]
fail-on = "error"
providers = ["anthropic", "gemini", "anthropic"]
budget = 20_000
tool-budget = 800
waivers = false

[tool.toolbridge.lint.severity]
"name.empty" = "info"
name = "error"

[tool.toolbridge.lint.tools."get_*"]
ignore = ["name"]
"""


@pytest.fixture(autouse=True)
def _rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that are there whatever the table holds."""

    def known(patterns: list[str], where: str) -> None:
        from toolbridge.errors import ToolbridgeError

        for each in patterns:
            if each not in ("name", "safety*", "name.empty"):
                raise ToolbridgeError(f"{where}: unknown rule {each!r}; did you mean 'name'?")

    monkeypatch.setattr("toolbridge.lint.settings_file.refuse_unknown", known)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_is_read(tmp_path: Path) -> None:
    assert read_settings(written(tmp_path / "pyproject.toml", ALL)) == LintSettings(
        select=("name", "safety*"),
        ignore=("name.empty",),
        severity={"name.empty": "info", "name": "error"},
        tools={"get_*": ("name",)},
        fail_on="error",
        waivers=False,
        providers=("anthropic", "gemini"),
        tool_budget=800,
        budget=20_000,
    )


def test_a_file_of_our_own_has_a_shorter_table_and_may_be_called_anything(tmp_path: Path) -> None:
    text = ALL.replace("tool.toolbridge.", "")
    wanted = read_settings(written(tmp_path / "pyproject.toml", ALL))
    assert read_settings(written(tmp_path / "toolbridge.toml", text)) == wanted
    assert read_settings(written(tmp_path / "strict.toml", text)) == wanted
    assert read_settings(written(tmp_path / "other.toml", ALL)) == wanted


def test_keys_may_have_underscores_and_a_byte_order_mark_may_stand_before_them(tmp_path: Path) -> None:
    file = written(tmp_path / "toolbridge.toml", "\ufeff[lint]\nfail_on = 'never'\ntool_budget = 5\n")
    assert read_settings(file) == LintSettings(fail_on=None, tool_budget=5)


def test_a_rule_of_the_severities_needs_no_quotes(tmp_path: Path) -> None:
    file = written(tmp_path / "toolbridge.toml", "[lint.severity]\nname.empty = 'info'\n")
    assert read_settings(file).severity == {"name.empty": "info"}


def test_many_providers_are_meant_by_one_word(tmp_path: Path) -> None:
    every = tuple(providers())
    for value, meant in (
        ("'all'", every),
        ("['all']", every),
        ("['gemini', 'all']", tuple(dict.fromkeys(["gemini", *every]))),
        ("'main'", MAIN),
        ("['mistral', 'main']", tuple(dict.fromkeys(["mistral", *MAIN]))),
    ):
        file = written(tmp_path / "toolbridge.toml", f"[lint]\nproviders = {value}\n")
        assert read_settings(file).providers == meant


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("fail-onn = 'error'", "lint.fail-onn: unknown key; did you mean 'fail-on'?"),
        ("tool_budgets = 3", "lint.tool_budgets: unknown key; did you mean 'tool-budget'?"),
        ("zzz = 1", "lint.zzz: unknown key; there are select, ignore, fail-on, providers, budget, tool-budget, waivers, severity, tools"),
        ("'a b' = 1", 'lint."a b": unknown key; there are select, ignore, fail-on, providers, budget, tool-budget, waivers, severity, tools'),
        ("fail-on = 'error'\nfail_on = 'info'", "lint.fail_on: is given twice, with - and with _; keep one of the two"),
        ("fail-on = 'eror'", "lint.fail-on: 'eror'; expected one of error, warning, info, never"),
        ("fail-on = ['error']", "lint.fail-on: a list; expected one of error, warning, info, never"),
        ("select = 'name'", "lint.select: a string; expected a list of strings"),
        ("ignore = ['name', 3]", "lint.ignore: a list with something else in it; expected a list of strings"),
        ("ignore = ['name', 'names']", "lint.ignore: unknown rule 'names'; did you mean 'name'?"),
        ("providers = ['openai']", "lint.providers: unknown provider 'openai'; did you mean 'openai-chat'?"),
        ("providers = []", "lint.providers: an empty list; name a provider, or leave it out"),
        ("providers = 7", "lint.providers: a number; expected a list of strings"),
        ("budget = '8'", "lint.budget: '8'; expected a number of tokens, at least 1"),
        ("budget = 0", "lint.budget: 0; expected a number of tokens, at least 1"),
        ("tool-budget = true", "lint.tool-budget: a boolean; expected a number of tokens, at least 1"),
        ("tool-budget = 1.5", "lint.tool-budget: 1.5; expected a number of tokens, at least 1"),
        ("waivers = 'no'", "lint.waivers: a string; expected true or false"),
        ("severity = 'error'", "lint.severity: a string; expected a table of rules and severities"),
        ("severity = {name = 'grave'}", "lint.severity.name: 'grave'; expected one of error, warning, info"),
        ("severity = {'name.empty' = 1979-05-27}", 'lint.severity."name.empty": a date or time; expected one of error, warning, info'),
        ("severity = {nam = 'info'}", "lint.severity.nam: unknown rule 'nam'; did you mean 'name'?"),
        ("tools = ['a']", 'lint.tools: a list; expected a table for each tool, such as tools."get_*".ignore = ["name"]'),
        ("tools = {a = ['name']}", 'lint.tools.a: a list; expected a table with "ignore"'),
        ("tools.'ä*' = {ignore = ['names']}", "lint.tools.\"ä*\".ignore: unknown rule 'names'; did you mean 'name'?"),
        ("tools.a = {ignor = ['name']}", "lint.tools.a.ignor: unknown key; there is only 'ignore'"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_file_and_key(tmp_path: Path, text: str, line: str) -> None:
    file = written(tmp_path / "toolbridge.toml", f"[lint]\n{text}\n")
    with pytest.raises(SettingsError) as raised:
        read_settings(file)
    assert raised.value.problems == (f"{file}: {line}",)
    assert str(raised.value) == f"{file}: {line}"


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    file = written(tmp_path / "pyproject.toml", "[tool.toolbridge.lint]\nbudget = 0\nselect = 3\nwaivers = 1\n")
    with pytest.raises(SettingsError) as raised:
        read_settings(file)
    keys = [each.split(": ")[1] for each in raised.value.problems]
    assert keys == [f"tool.toolbridge.lint.{key}" for key in ("budget", "select", "waivers")]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("toolbridge.toml", b"[lint\n", "not valid TOML: expected ']' at the end of a table declaration (at line 1, column 6)"),
        ("toolbridge.toml", b"[lint]\na = '\xff'", "not UTF-8 text; settings are TOML"),
        ("toolbridge.toml", b"lint = 3", "lint: a number; expected a table"),
        ("toolbridge.toml", b"", "no settings of the linter in it; expected a table [lint]"),
        ("pyproject.toml", b"[tool.ruff.lint]\n", "no settings of the linter in it; expected a table [tool.toolbridge.lint]"),
        ("own.toml", b"[linter]\n", "no settings of the linter in it; expected a table [lint]"),
    ],
)  # fmt: skip
def test_a_file_without_settings_says_what_it_lacks(tmp_path: Path, name: str, content: bytes, line: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(SettingsError) as raised:
        read_settings(file)
    assert str(raised.value) == f"{file}: {line}"


def test_a_file_that_is_not_there_or_no_file_is_told(tmp_path: Path) -> None:
    for file, reason in ((tmp_path / "none.toml", "no such file or directory"), (tmp_path, "is a directory")):
        with pytest.raises(SettingsError) as raised:
            read_settings(file)
        assert str(raised.value) == f"{file}: {reason}; expected a file with the linter's settings"


def test_the_nearest_file_with_settings_counts_and_of_two_our_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_settings(inner) is None
    top = written(tmp_path / "pyproject.toml", "[tool.toolbridge.lint]\n")
    assert find_settings(inner) == top
    written(tmp_path / "a" / "pyproject.toml", "[project]\nname = 'toolbridge-lint'\n")
    assert find_settings(inner) == top
    near = written(tmp_path / "a" / "pyproject.toml", "[tool.toolbridge.lint]\n")
    assert find_settings(inner) == near
    written(tmp_path / "a" / "toolbridge.toml", "# nothing yet\n")
    assert find_settings(inner) == near
    own = written(tmp_path / "a" / "toolbridge.toml", "[lint]\n")
    assert find_settings(inner) == own


def test_nothing_is_looked_for_beyond_the_repository_and_without_one_only_here(tmp_path: Path) -> None:
    written(tmp_path / "toolbridge.toml", "[lint]\n")
    inner = tmp_path / "repository" / "src"
    inner.mkdir(parents=True)
    assert find_settings(inner) is None
    (tmp_path / "repository" / ".git").mkdir()
    assert find_settings(inner) is None
    own = written(inner / "toolbridge.toml", "[lint]\n")
    assert find_settings(inner) == own


def test_another_tools_broken_file_is_no_affair_of_the_linter(tmp_path: Path) -> None:
    written(tmp_path / "pyproject.toml", "[tool.ruff\n")
    assert find_settings(tmp_path) is None
    file = written(tmp_path / "pyproject.toml", "[tool.toolbridge.lint\n")
    with pytest.raises(SettingsError, match=r"not valid TOML: .* \(at line 1, column 22\)"):
        find_settings(tmp_path)
    assert file.exists()


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("toolbridge.toml", "[[[", ["not valid TOML: invalid initial character for a key part (at line 1, column 3)"]),
        ("toolbridge.toml", "fail-on = 'error'\n", ["fail-on: stands outside of its table; put it into [lint]"]),
        (
            "toolbridge.toml",
            "fail_on = 'error'\n[lint]\n",
            ["fail_on: stands outside of its table; put it into [lint]"],
        ),
        ("toolbridge.toml", "[lnt]\n", ["lnt: unknown table; did you mean [lint]?"]),
        ("toolbridge.toml", "[Lint]\n", ["Lint: unknown table; did you mean [lint]?"]),
        ("toolbridge.toml", "['a b']\n[lint]\n", ['"a b": unknown table; there is only [lint]']),
        ("toolbridge.toml", "[tool.toolbridge.lint]\n", ["tool: unknown table; in this file it is [lint]"]),
        (
            "pyproject.toml",
            "[tool.toolbridge]\nselect = ['name']\nbudget = 3\n",
            [
                "tool.toolbridge.select: stands outside of its table; put it into [tool.toolbridge.lint]",
                "tool.toolbridge.budget: stands outside of its table; put it into [tool.toolbridge.lint]",
            ],
        ),
        (
            "pyproject.toml",
            "[tool.toolbridge.lin]\n",
            ["tool.toolbridge.lin: unknown table; did you mean [tool.toolbridge.lint]?"],
        ),
        ("pyproject.toml", "[tool]\ntoolbridge = 3\n", ["tool.toolbridge: a number; expected a table"]),
    ],
)
def test_settings_that_nobody_would_read_are_told(tmp_path: Path, name: str, text: str, lines: list[str]) -> None:
    file = written(tmp_path / name, text)
    for look in (lambda: find_settings(tmp_path), lambda: read_settings(file)):
        with pytest.raises(SettingsError) as raised:
            look()
        assert raised.value.problems == tuple(f"{file}: {line}" for line in lines)


@pytest.mark.parametrize(
    "text", ["[tool.toolbrige.lint]\n", "tool = 3\n", "[project]\ndependencies = ['toolbridge']\n"]
)
def test_what_is_not_ours_in_a_project_file_is_left_alone(tmp_path: Path, text: str) -> None:
    written(tmp_path / "pyproject.toml", text)
    assert find_settings(tmp_path) is None
