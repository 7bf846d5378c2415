"""What the tests of the commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.workplace import Workplace


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)
