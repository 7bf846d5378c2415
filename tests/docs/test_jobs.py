"""The programs of the pages about jobs run as they stand, beside their servers, and print what the page says.

They use the vendors' own SDKs and their usual environment variables, which lead to a model on loopback that says what
is in the table here.
"""

from __future__ import annotations

import asyncio
import gc
import io
import json
import runpy
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.docs.pages import ROOT, Block, name, programs
from tests.run.conftest import calls, says
from tests.support.wire.scenario import Scenario
from tests.support.wire_servers import WireServer

FIND = calls(("mcp__garden__find_plants", {"query": "rose"}))
ROSE = (FIND, says("The rose is in bed B2."))

SAID: dict[str, tuple[Scenario, ...]] = {
    "docs/approve-dangerous-calls.md": (
        FIND,
        calls(("mcp__garden__water", {"bed": "B2", "litres": 20}), start=1),
        calls(("mcp__garden__water", {"bed": "B2", "litres": 5}), start=2),
        says("The rose in B2 has had 5 litres."),
    ),
    "docs/many-tools.md": (
        calls(("search_tools", {"query": "water a bed"})),
        calls(("mcp__garden__water", {"bed": "B2"}), start=1),
        says("B2 has had 3 litres."),
    ),
}
"""What the model says to the programs of a page, where it is not `ROSE`."""

PROGRAMS = [
    pytest.param(page, block, printed, id=f"{page.stem}:{block.title}")
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
    if page.stem.startswith(("README", "with-")) or name(page) in SAID
    for block, printed in programs(page)
]


@pytest.fixture(scope="module")
def garden() -> Iterator[str]:
    """The server of the examples at an address: one for all programs, since to start it takes longer than they do."""
    space: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "garden_server.py"))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        serving = uvicorn.Server(uvicorn.Config(space["server"].streamable_http_app(), log_level="critical"))
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{port}/mcp"
        serving.should_exit = True
        thread.join(10)


@pytest.fixture
def beside_servers(garden: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with an `mcp.json`."""
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"garden": {"url": garden}}}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLBRIDGE_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.usefixtures("beside_servers")
@pytest.mark.parametrize(("page", "block", "printed"), PROGRAMS)
def test_a_program_of_a_job_prints_what_its_page_says(
    page: Path, block: Block, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    said = SAID.get(name(page), ROSE)
    with WireServer() as wire, redirect_stdout(out):
        wire.says_in_turn(*said)
        for variable, value in {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{wire.url}/v1",
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": wire.url,
            "GEMINI_API_KEY": "k",
            "GOOGLE_GEMINI_BASE_URL": wire.url,
            "OLLAMA_HOST": wire.url,
        }.items():
            monkeypatch.setenv(variable, value)
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)  # it would go before the other one
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # a short program leaves its client to the interpreter
            run(page, block)
            gc.collect()
    assert printed
    assert out.getvalue() == printed
    assert len(wire.requests) == len(said)


def run(page: Path, block: Block) -> None:
    lines = "\n" * (block.line - 1)  # so that a traceback names the line of the page
    exec(compile(lines + block.text, name(page), "exec"), {"__name__": "__main__"})


def test_every_page_of_a_job_has_a_program() -> None:
    pages = {each.stem for each in ROOT.glob("docs/with-*.md")}
    pages |= {"README", "approve-dangerous-calls", "many-tools"}
    assert {str(each.id).partition(":")[0] for each in PROGRAMS} == pages


def test_a_program_without_its_servers_says_which_file_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolbridge import ConfigError, connect

    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"mcp\.json"):
        asyncio.run(connect("mcp.json").open())
