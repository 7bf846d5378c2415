"""Anthropic Messages: content blocks, and the events of their streams.

It cannot express: sound; images in what the assistant said; media of a result other than images, PDFs and plain text.
"""

from __future__ import annotations

from typing import Final

from toolbridge.history.rules import IMAGES, PDF, Carries, Rules, id_rule
from toolbridge.names import name_rule
from toolbridge.wire.anthropic.blocks import PLAIN_TEXT, is_replayable
from toolbridge.wire.anthropic.messages import read, write
from toolbridge.wire.anthropic.replies import continuation, read_event, read_reply
from toolbridge.wire.talk import Talk

__all__ = ["RULES", "TALK"]

_DOCUMENTS: Final = frozenset({PDF, PLAIN_TEXT})

RULES: Final = Rules(
    system="first",
    alternate=True,
    user_first=True,
    # "This model does not support assistant message prefill" (claude-opus-4-6 and later, vercel/ai issue 12296).
    user_last=True,
    # The characters are the API's; no length is known, and nobody's ids are longer than this.
    ids=id_rule("a-zA-Z0-9_-", 64),
    names=name_rule("a-zA-Z0-9_-", 128),
    # anthropic 2.8 `ToolResultBlockParam`, `Base64ImageSourceParam`, `DocumentBlockParam`.
    in_results=Carries(images=IMAGES, documents=_DOCUMENTS),
    in_user=Carries(images=IMAGES, documents=_DOCUMENTS, links=frozenset({"image/*", PDF})),
    error_flag=True,
    replayable=is_replayable,
    thoughts_lead=True,  # "The final block in an assistant message cannot be `thinking`"
)

TALK: Final = Talk(write, read, read_event, read_reply, RULES, continuation, always_ends=True)
