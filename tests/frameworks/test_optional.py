"""Without its framework, a door says in one line what to install; a framework that is broken says so itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolbridge.frameworks.bridge import missing

DOORS = {
    "langchain": ("langchain_core", "toolbridge.frameworks.langchain needs langchain: pip install 'langchain-core>=1.7,<2'"),
    "openai_agents": (
        "agents",
        "toolbridge.frameworks.openai_agents needs openai-agents: pip install 'openai-agents>=0.24,<0.25'",
    ),
    "pydantic_ai": (
        "pydantic_ai",
        "toolbridge.frameworks.pydantic_ai needs pydantic-ai: pip install 'pydantic-ai-slim>=2.66,<3'",
    ),
}  # fmt: skip

PROGRAM = """
import importlib, sys
for door, package in {doors!r}.items():
    sys.modules[package] = None
    try:
        importlib.import_module(f"toolbridge.frameworks.{{door}}")
    except ImportError as failure:
        print(failure, failure.__suppress_context__)
import toolbridge.frameworks
print(sorted({{"mcp", "pydantic", "httpx2"}} & set(sys.modules)))
"""


def test_a_door_without_its_framework_names_the_package_and_nothing_is_loaded() -> None:
    program = PROGRAM.format(doors={door: package for door, (package, _) in DOORS.items()})
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [*(f"{text} True" for _, text in DOORS.values()), "[]"]


@pytest.mark.parametrize("name", ["yaml", "yaml.loader"])
def test_what_a_framework_itself_lacks_is_not_called_the_framework(name: str) -> None:
    cause = ImportError(f"No module named {name!r}", name=name)
    assert missing("langchain", "langchain_core", "langchain", cause) is cause
