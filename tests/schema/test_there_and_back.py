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
Fields.read keeps a null that stands for absent · Fields.read drops a null that the source allows · Fields.write forgets
the undeclared properties · Pairs.read takes the value as it is · AsText.write leaves a string unquoted · Items reads
every item by the first record · AsWord reads the word instead of what it stands for · OneOf follows the first branch ·
with_null forgets enum · an ambiguous union is not made text · merged drops the second one's required · union_object
requires what any branch requires · additionalProperties of one side is not applied to the other's keys · the level
limit is not seen · recursion is cut without text · a key is renamed and not put back · resolve does not check
"""
