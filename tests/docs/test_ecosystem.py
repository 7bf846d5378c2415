"""The report on the ecosystem can be made: from a few tools here, since the corpus is not part of the project."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT
from toolbridge.lint.linting import lint_tools
from toolbridge.tools import read_tools


@pytest.fixture
def ecosystem(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("ecosystem")
    for name in ("ecosystem", "ecosystem_page"):
        sys.modules.pop(name, None)


@pytest.fixture
def figures(ecosystem: Any) -> Any:
    made = ecosystem.Figures()
    for server in ("secret-garden", "walled-garden"):
        tools = read_tools(ROOT / "examples" / "tools.json", server)
        ecosystem.count_findings(made, lint_tools(tools))
        ecosystem.count_tokens(made, tools)
        ecosystem.count_fates(made, tools)
        made.tools += len(tools)
        made.servers += 1
    made.times = {10: 0.02, 1_000: 1.5}
    made.hard = {"nasty": (10, 0.1), "hard_schemas": (10, 0.1)}
    return made


def test_the_report_says_what_was_counted_and_names_no_server(figures: Any, ecosystem: Any) -> None:
    page = importlib.import_module("ecosystem_page").page(figures)
    assert "16 distinct tools of 2 public MCP servers" in page
    assert "| 1,000 | 1.50 s | 1.50 ms |" in page
    assert sum(figures.fates["anthropic"].values()) == 16
    assert len(figures.tool_tokens) == len(figures.tool_scores) == 16
    assert not {each for each in ("garden", "beds.water", "soil_report") if each in page}


def test_the_pictures_are_the_same_at_every_run(figures: Any, ecosystem: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib, which draws the plots (group report)")
    draw = importlib.import_module("ecosystem_page").draw
    for name in ("once", "again"):
        draw(figures, tmp_path / name)
    once = {each.name: each.read_bytes() for each in (tmp_path / "once").iterdir()}
    assert sorted(once) == ["portability.svg", "rules.svg", "scores.svg", "time.svg", "tokens.svg"]
    assert once == {each.name: each.read_bytes() for each in (tmp_path / "again").iterdir()}
