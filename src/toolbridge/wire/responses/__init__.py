"""OpenAI Responses: input and output items, and the events of their streams.

It cannot express: sound; a result that is marked as failed; media of a result other than images and PDFs.
"""

from __future__ import annotations

from typing import Final

from toolbridge.history.rules import IMAGES, PDF, Carries, Rules, id_rule
from toolbridge.names import name_rule
from toolbridge.wire.responses.items import is_replayable
from toolbridge.wire.responses.messages import read, write
from toolbridge.wire.responses.replies import continuation, read_event, read_reply
from toolbridge.wire.talk import Talk

__all__ = ["LONGEST_OUTPUT", "RULES", "TALK"]

LONGEST_OUTPUT: Final = 10_485_760
"""Characters of one output (openai OpenAPI 2.3.0 `FunctionCallOutputItemParam.output`)."""

RULES: Final = Rules(
    # `call_id` has 1 to 64 characters (openai OpenAPI 2.3.0 `FunctionCallOutputItemParam`).
    ids=id_rule(r"\x21-\x7e", 64),
    names=name_rule("a-zA-Z0-9_-", 64),
    # Recorded traffic, pydantic-ai `tests/models/test_multimodal_tool_returns.py`: images and PDFs inside the output
    # are seen, sound is refused.
    in_results=Carries(images=IMAGES, documents=frozenset({PDF})),
    in_user=Carries(images=IMAGES, documents=frozenset({PDF}), links=frozenset({"image/*", PDF})),
    replayable=is_replayable,
    # A call by its id is refused without its reasoning, and reasoning without the item that it led to.
    thoughts_together=True,
    thoughts_lead=True,
    longest_result=LONGEST_OUTPUT,
)

TALK: Final = Talk(write, read, read_event, read_reply, RULES, continuation, always_ends=True)
