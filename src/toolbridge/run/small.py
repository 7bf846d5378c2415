"""What a small model is asked: the question by itself, and then, with what came of its calls, once more.

A model of a few hundred million parameters goes on with whatever it reads most of: shown a conversation, it gives the
last answer again; shown a call, it makes the same one. So it sees nothing of what was said before, gets one round of
calls for a question, and then one short question of another form.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolbridge.history.excerpts import cut_text
from toolbridge.history.said import result_text
from toolbridge.model.model import Model
from toolbridge.types import Message, ToolResult

SMALL_TOOLS = 4
"""A model that cannot choose among more tools than this is a small one."""

RESULT_SHARE = 2
"""The part of the window that results may fill: one half."""


def is_small(model: Model) -> bool:
    most = model.most_tools
    return most is not None and most <= SMALL_TOOLS and model.provider.write_instructions is not None


def last_question(history: Sequence[Message], model: Model) -> Message:
    """The newest question and the results since, in one message."""
    start = max((i for i, message in enumerate(history) if message.role == "user"), default=0)
    results = [
        result_text(part) for message in history[start:] for part in message.parts if isinstance(part, ToolResult)
    ]
    found = "\n".join(each for each in results if each)
    if model.context_tokens is not None:
        found = cut_text(found, model.context_tokens // RESULT_SHARE).value
    return Message.user(f"Question: {history[start].text}\nResult: {found}\nAnswer:")
