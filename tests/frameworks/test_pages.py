"""The programs of the pages about frameworks run as they stand, and print what the page says."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, name, programs
from tests.docs.test_jobs import beside_servers, garden, run, test_a_program_of_a_job_prints_what_its_page_says

__all__ = ["beside_servers", "garden"]

PAGES = [*sorted(ROOT.glob("docs/from-*.md")), ROOT / "docs" / "pydantic-ai.md"]
PROGRAMS = [
    pytest.param(page, block, printed, id=f"{page.stem}:{block.title}")
    for page in PAGES
    for block, printed in programs(page)
    if block.title == "ask.py"
]
run_program = test_a_program_of_a_job_prints_what_its_page_says
del test_a_program_of_a_job_prints_what_its_page_says


@pytest.mark.usefixtures("beside_servers")
@pytest.mark.parametrize(("page", "block", "printed"), PROGRAMS)
def test_a_program_prints_what_its_page_says(
    page: Path, block: Block, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    run_program(page, block, printed, monkeypatch)


@pytest.mark.usefixtures("beside_servers")
def test_the_program_without_a_model_prints_what_its_page_says() -> None:
    out = io.StringIO()
    (program,) = [each for each in programs(ROOT / "docs" / "from-mcp-use.md") if each[0].title == "call.py"]
    with redirect_stdout(out):
        run(ROOT / "docs" / "from-mcp-use.md", program[0])
    assert out.getvalue() == program[1]


def test_every_page_has_a_program() -> None:
    assert {str(each.id).partition(":")[0] for each in PROGRAMS} == {page.stem for page in PAGES}
    assert [name(page) for page in PAGES] == [
        "docs/from-langchain.md",
        "docs/from-mcp-use.md",
        "docs/from-openai-agents.md",
        "docs/pydantic-ai.md",
    ]
