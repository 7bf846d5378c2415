"""The official conformance suite over the hub: a few quick scenarios of each revision; `make conformance` runs all.

Node and the suite are installed once into the folder that TOOLBRIDGE_TEST_CACHE names, or `~/.cache/toolbridge-tests`; where
they cannot be had, the test skips, unless TOOLBRIDGE_TEST_REAL is "required".
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = Path(__file__).parents[2] / "benchmarks" / "conformance" / "run.py"
SECONDS = 240
"""The first run installs; a later one takes about two seconds a scenario."""

CANNOT_RUN = 2


def outcomes(revision: str, scenarios: tuple[str, ...]) -> list[dict[str, Any]]:
    cache = Path(os.environ.get("TOOLBRIDGE_TEST_CACHE") or Path.home() / ".cache" / "toolbridge-tests") / "conformance"
    words = [word for each in scenarios for word in ("--scenario", each)]
    process = subprocess.Popen(
        [sys.executable, str(RUN), "--json", "--cache", str(cache), "--revision", revision, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        said, progress = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()  # it ends what it started
        process.communicate(timeout=30)
        raise
    if process.returncode == CANNOT_RUN:
        reason = progress.strip().splitlines()[-1]
        if os.environ.get("TOOLBRIDGE_TEST_REAL") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    assert said, progress
    return json.loads(said)


@pytest.mark.skipif(not RUN.exists(), reason="the benchmarks are not part of this distribution")
@pytest.mark.skipif(sys.platform == "win32", reason="the runner needs file locks of Unix")
@pytest.mark.parametrize(
    ("revision", "scenarios"),
    [
        ("2025-11-25", ("initialize", "elicitation-sep1034-client-defaults", "auth/basic-cimd")),
        (
            "2026-07-28",
            ("sep-2322-client-request-state", "http-custom-headers", "http-invalid-tool-headers", "auth/scope-step-up"),
        ),
    ],
)
def test_the_official_suite_finds_nothing_to_object_to(revision: str, scenarios: tuple[str, ...]) -> None:
    found = outcomes(revision, scenarios)
    assert [each["scenario"] for each in found] == list(scenarios)
    assert {each["scenario"]: each["problems"] for each in found} == {each: [] for each in scenarios}
    assert all(each["passed"] for each in found)
