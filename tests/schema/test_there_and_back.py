"""What the server accepts can be said, and what can be said the server accepts: over schemas that nobody chose.

Deliberate breakages that these tests caught are listed at the end of this file.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.schemas import Schemas
from tests.support.trips import broken_trips
from toolbridge import Tool, ToolId, prepare
from toolbridge.providers import providers

TARGETS = [
    (name, strict)
    for name, provider in providers().items()
    for strict in ((False, True) if provider.strict is not None else (False,))
]


@pytest.mark.parametrize(("provider", "strict"), TARGETS)
@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 1_000_000))
def test_generated_schemas_go_there_and_back(provider: str, strict: bool, seed: int) -> None:
    tool = Tool(ToolId("", "t"), "d", Schemas(seed).tool())
    ready = prepare([tool], provider, strict)
    assert list(broken_trips(tool, ready, seed, 4)) == []


BREAKAGES = """
Caught here: a null that stands for absent is kept · every null is dropped · undeclared properties are forgotten · the
value of a pair is taken as it is · JSON text leaves a string bare · every item is read by the first record · a word is
not read as what it stands for · a union is read, or written, by its first branch · a union is written without asking
what fits the wire · null joins a type and not its enum · null means absent also where null is a value · a merged root
union requires what any branch requires · a tuple forgets its places · a renamed key is not put back · `resolve` does not
check.

Caught by the other tests of this folder and of tests/providers, not by these: an ambiguous union is not made text · two
schemas merged require only what the first does · one side's `additionalProperties` is not applied to the other's keys ·
recursion is cut without text · a pattern of one branch holds for the whole union · an enum is cut to its first value.
"""
