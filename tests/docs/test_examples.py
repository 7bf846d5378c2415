"""The examples are programs that check themselves: they run, and quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

LIMIT_SECONDS = 60

EXAMPLES = sorted(
    each
    for each in (ROOT / "examples").glob("*.py")
    if not each.stem.endswith("_server") and each.stem != "chat"  # `make demo`: it needs a model's weights
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_an_example_runs_from_anywhere_and_says_nothing_on_stderr(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(example)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert done.stdout
