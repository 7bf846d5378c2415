"""AWS Bedrock Converse: messages of blocks, and the events of ConverseStream.

It cannot express: sound; media in what the assistant said; a document without a name and a text beside it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from toolbridge.history.rules import NOTHING, Carries, Rules, id_rule
from toolbridge.names import name_rule
from toolbridge.types import Foreign, Image, ResourceLink, Text
from toolbridge.wire.bedrock.blocks import DOCUMENTS, IMAGES, VIDEOS, is_replayable
from toolbridge.wire.bedrock.messages import read, write
from toolbridge.wire.bedrock.replies import continuation, read_event, read_reply
from toolbridge.wire.talk import Talk

__all__ = ["RULES", "TALK"]

_DOCUMENTS: Final = frozenset(DOCUMENTS)
_USER: Final = Carries(images=frozenset(IMAGES), documents=_DOCUMENTS)

RULES: Final = Rules(
    system="first",
    alternate=True,
    # "A conversation must start with a user message"; few models take a last one of the assistant's.
    user_first=True,
    user_last=True,
    # botocore 1.44 `ToolUseId`, `ToolName`.
    ids=id_rule("a-zA-Z0-9_.:-", 64),
    names=name_rule("a-zA-Z0-9_-", 64),
    in_results=_USER,
    in_user=_USER,
    error_flag=True,
    structured=True,
    replayable=is_replayable,
    thoughts_lead=True,
    # Claude refuses documents and video beside results (pydantic-ai `providers/bedrock.py`, #6081).
    beside_results=frozenset({Text, Image, ResourceLink, Foreign}),
)
"""What Claude takes. It also counts where a model is not told, or is an ARN that does not tell its name."""

_OTHERS: Final = replace(
    RULES,
    # "Only supported by Amazon Nova and Anthropic Claude": images in results, and their `status` (botocore 1.44
    # `ToolResultContentBlock`, `ToolResultBlock`). Writer answers "This model doesn't support the status field".
    in_results=NOTHING,
    error_flag=False,
    # Reasoning is taken back by its signature, which other models do not give.
    reasoning=False,
    beside_results=None,
)

_ALONE: Final = replace(_OTHERS, beside_results=frozenset({Foreign}))
"""Llama and Mistral refuse whatever stands beside results (pydantic-ai `providers/bedrock.py`, #6081)."""

MODELS: Final = (
    (
        re.compile(r"\bnova-", re.I),
        replace(
            RULES,
            # Nova reads text documents in results, and refuses binary ones (pydantic-ai `providers/bedrock.py`).
            in_results=replace(_USER, documents=frozenset({"text/csv", "text/plain"})),
            in_user=replace(_USER, documents=_DOCUMENTS | frozenset(VIDEOS)),
            reasoning=False,
            beside_results=None,
        ),
    ),
    # Ids of nine letters and digits (vercel/ai `normalize-tool-call-id.ts`).
    (re.compile(r"mistral|mixtral|pixtral", re.I), replace(_ALONE, ids=id_rule("a-zA-Z0-9", 9, exact=True))),
    (re.compile(r"llama", re.I), _ALONE),
    # Every other model that is called by its name: `vendor.model`, with a region before it or an ARN around it.
    (re.compile(r"^(?!.*(?:claude|application-inference-profile|provisioned-model|:prompt/)).*\w\.\w", re.I), _OTHERS),
)

TALK: Final = Talk(write, read, read_event, read_reply, RULES, continuation, always_ends=True, models=MODELS)
