"""Rules of safety, for operators who let foreign servers talk to their models. A tool cannot waive them.

They are held against everything that a model reads of a server. The rows stand where their functions are: characters,
what is said, names across servers, mentions of tools, schemas.
"""

from __future__ import annotations

from typing import Final

from toolbridge.lint.rule import Rule
from toolbridge.lint.rules import (
    safety_characters,
    safety_mentions,
    safety_names,
    safety_schema,
    safety_speech,
)

RULES: Final[tuple[Rule, ...]] = (
    *safety_speech.RULES,
    *safety_characters.RULES,
    *safety_names.RULES,
    *safety_mentions.RULES,
    *safety_schema.RULES,
)
