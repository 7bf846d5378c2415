"""Google Gemini (generateContent): contents of parts, and the chunks of their streams.

It cannot express: a call whose result is somewhere else than right behind it; the name of a file that is sent along
(a line of text has it); sound inside of a result.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from toolbridge.history.rules import NOTHING, PDF, Carries, Rules, id_rule
from toolbridge.names import name_rule
from toolbridge.wire.gemini.messages import read, write
from toolbridge.wire.gemini.parts import is_replayable
from toolbridge.wire.gemini.replies import read_event, read_reply
from toolbridge.wire.talk import Talk

__all__ = ["RULES", "TALK"]

_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/webp"})

_USER: Final = Carries(
    # ai.google.dev/gemini-api/docs: image-understanding, audio, video-understanding, document-processing. Text files
    # are taken too, but are read as text and have no name: text that names them says more.
    images=_IMAGES | {"image/heic", "image/heif"},
    audio=frozenset({"audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"}),
    documents=frozenset(
        {
            PDF,
            "video/mp4",
            "video/mpeg",
            "video/mov",
            "video/avi",
            "video/x-flv",
            "video/mpg",
            "video/webm",
            "video/wmv",
            "video/3gpp",
        }
    ),
    # ai.google.dev/gemini-api/docs/file-input-methods, external URLs.
    links=_IMAGES | {PDF},
)

RULES: Final = Rules(
    system="first",
    # "Please ensure that multiturn requests end with a user role or a function response", and begin with a user.
    user_first=True,
    user_last=True,
    # Ids are free text, and optional on both sides (google-genai 3.1 `FunctionCall.id`, `FunctionResponse.id`).
    ids=id_rule(r"\x21-\x7e", 128),
    names=name_rule("a-zA-Z0-9_.:-", 64, first="a-zA-Z_"),
    # Inside of `functionResponse.parts`, Gemini 3 and later (pydantic-ai `profiles/google.py`, recorded).
    in_results=Carries(images=_IMAGES, documents=frozenset({PDF})),
    in_user=_USER,
    in_assistant=Carries(images=_IMAGES),
    error_flag=True,
    structured=True,
    replayable=is_replayable,
)

MODELS: Final = (
    # Gemini 2.0 and before, and Gemma: no media in results (recorded: pydantic-ai
    # `tests/models/test_multimodal_tool_returns.py`), and no addresses ("not supported for the Gemini 2.0 family").
    (
        re.compile(r"gemini-(?:live-)?(?:1|2\.0)(?![0-9])|gemini-pro(?![\w-])|gemma", re.I),
        replace(RULES, in_results=NOTHING, in_user=replace(_USER, links=frozenset())),
    ),
    # Gemini 2.5: media beside the results, as the user's.
    (re.compile(r"gemini-(?:live-)?2(?![0-9])", re.I), replace(RULES, in_results=NOTHING)),
)

TALK: Final = Talk(write, read, read_event, read_reply, RULES, models=MODELS)
