"""Real tools and an independent judge, where they are at hand: in the folder that TOOLBRIDGE_SHARED names, or beside
the checkout. Tests that need them skip with a reason elsewhere."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("TOOLBRIDGE_SHARED") or Path(__file__).parents[3] / "shared")

needs_corpus = pytest.mark.skipif(
    not (SHARED / "corpus" / "tools.jsonl.gz").is_file(), reason=f"needs the tool corpus in {SHARED.name}/corpus"
)
needs_judge = pytest.mark.skipif(
    not (SHARED / "judge" / "judge.py").is_file(), reason=f"needs the judge in {SHARED.name}/judge"
)


@cache
def corpus(name: str) -> list[dict[str, Any]]:
    """The records of a corpus file."""
    with gzip.open(SHARED / "corpus" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def judge() -> Any:
    """The judge, as a module."""
    spec = importlib.util.spec_from_file_location("judge", SHARED / "judge" / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


JUDGED_AS = {
    "gemini-openapi": "gemini",
    **dict.fromkeys(
        ("azure", "vllm", "llama.cpp", "dial", "groq", "deepseek", "moonshot", "qwen", "openrouter", "fireworks"),
        "openai-chat",
    ),
    "json-schema": "openai-chat",
}
"""Providers that have no judge of their own, and whose judge serves: they accept no more than that one."""
