"""Calls and answers as one JSON object in the text, for models that have no tool calling.

A server that constrains what a model writes to a schema makes any model call tools: `{"tool": …, "arguments": {…}}` is
a call, `{"answer": …}` the answer. `form` is that object, `sifting` reads it out of a reply as it arrives, `messages`
writes and reads transcripts, `instructions` tells the model, and `over` puts it all on top of a way of talking.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from toolbridge.history.rules import Rules
from toolbridge.wire.constrained.messages import read, write
from toolbridge.wire.constrained.sifting import TextSifter
from toolbridge.wire.talk import Talk

RULES = Rules(
    system="first",
    # Results are the user's words here, and the templates of many models raise where roles do not take turns:
    # "conversation roles must alternate" (github.com/charmbracelet/crush/issues/279, 2026-01).
    alternate=True,
    user_first=True,
    user_last=True,  # a last word of the assistant's would be gone on with, in the middle of its object
    beside_results=frozenset(),
    most_calls=1,
    reasoning=False,  # what a model thinks has no place in the object
)
"""What every chat template takes: system text, then the user and the assistant in turns, and nothing but text."""


def over(talk: Talk) -> Talk:
    """The same server, spoken to in this way: its replies are read as before, and then their text."""
    return replace(talk, write=write, read=partial(read, beneath=talk.read), rules=RULES, models=(), sifter=TextSifter)
