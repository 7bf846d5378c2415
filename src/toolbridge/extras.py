"""What each extra of the package installs, for the messages that say what is missing.

A message names the package itself and not the extra: `toolbridge[local]` finds something only where toolbridge came
from an index, and a person may have it from a clone or a file. The requirements are those of pyproject.toml; a test
compares the two. This imports nothing, and looks nothing up: it is read where an import has just failed.
"""

from __future__ import annotations

from typing import Final

EXTRAS: Final = {
    "keyring": "keyring>=25,<26",
    "langchain": "langchain-core>=1.7,<2",
    "local": "xllamacpp>=2026.10,<2027",
    "openai-agents": "openai-agents>=0.24,<0.25",
    "pydantic-ai": "pydantic-ai-slim>=2.66,<3",
    "redis": "redis>=8,<9",
}
"""Extra and requirement; each extra is one package."""


def install(extra: str) -> str:
    """The command that installs what an extra stands for, wherever toolbridge itself came from."""
    return f"pip install '{EXTRAS[extra]}'"
