"""Who speaks Chat Completions, and in what they differ: the rules of each one's transcripts, and its manner.

Every row is data with its source. Where nothing is documented a row has what all accept: system text first, results as
text, images in a user's message. Whether a model sees images is the model's affair; the form is everyone's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from toolbridge.history.rules import IMAGES, PDF, Carries, IdRule, Rules, id_rule
from toolbridge.names import name_rule
from toolbridge.wire.chat.messages import OPENAI, Manner, read, write
from toolbridge.wire.chat.parts import write_mistral_part
from toolbridge.wire.chat.reasoning import is_replayable
from toolbridge.wire.chat.replies import continuation, object_continuation, read_event, read_reply
from toolbridge.wire.talk import Talk

SOUNDS = frozenset({"audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/mpeg", "audio/mp3"})
"""What `input_audio` has a format for: wav and mp3 (openai 3.49 chat_completion_content_part_input_audio_param.py)."""

_ANY_IMAGE = frozenset({"image/*"})
_SEEN = Carries(images=IMAGES, links=_ANY_IMAGE)
_HEARD = replace(_SEEN, audio=SOUNDS)
_ID = re.compile(r"(?!null$)[\x21-\x7e]+")
"""Any printable characters; `null` is what servers have in the place of an id."""
_LETTER_FIRST = name_rule("a-zA-Z0-9_-", 64, first="a-zA-Z_")


def _talk(rules: Rules, manner: Manner = OPENAI, models: tuple[tuple[str, Rules], ...] = ()) -> Talk:
    others = tuple((re.compile(pattern), replace(other, replayable=is_replayable)) for pattern, other in models)
    return Talk(
        write=write if manner is OPENAI else partial(write, manner=manner),
        read=read,
        read_event=read_event,
        read_reply=read_reply,
        rules=replace(rules, replayable=is_replayable),
        models=others,
        continuation=continuation,
        object_continuation=object_continuation,
    )


# ── OpenAI ───────────────────────────────────────────────────────────────────────────────────────────────────────

_OPENAI = Rules(
    # "Expected a string with maximum length 40" (github.com/BerriAI/litellm/issues/17343, 2025-12).
    ids=IdRule(_ID, 40),
    most_calls=128,  # github.com/openai/openai-dotnet/issues/317
    in_user=replace(_HEARD, documents=frozenset({PDF})),  # openai 3.49 chat_completion_content_part_param.py
    reasoning=False,  # its messages have no field for it
)
_OPENAI_SILENT = replace(_OPENAI, in_user=replace(_OPENAI.in_user, audio=frozenset[str]()))
"""All but the audio models refuse sounds: "Content blocks are expected to be either text or image_url type"
(pydantic-ai 4fda389 test_multimodal_tool_returns, 2026-08)."""

_AZURE = replace(_OPENAI, in_user=_SEEN)
"""No documents in Chat (pydantic-ai 4fda389 models/openai.py, 2026-08). A deployment's name need not tell the model."""

# ── servers of open models ───────────────────────────────────────────────────────────────────────────────────────

_OPEN = Rules(system="first", ids=_OPENAI.ids, most_calls=128, in_user=_SEEN)
"""Models' own chat templates want system text first, hosted or not."""

_ANY_ID = IdRule(_ID, 256)
"""Templates show ids to the model, and some models number their calls by them: Kimi's `functions.name:0`."""

_LOCAL = replace(_OPEN, alternate=True, ids=_ANY_ID, most_calls=None)
"""Templates run as they are: those of Gemma, Ministral and others raise "conversation roles must alternate"
(github.com/charmbracelet/crush/issues/279, 2026-01)."""

_LLAMA = replace(_LOCAL, in_user=replace(_SEEN, images=IMAGES - {"image/webp"}))
"""WebP is decoded only where ffmpeg is there (llama.cpp b21e4de mtmd-helper.cpp, 2026-08)."""

_LLAMA_HEARD = replace(_LLAMA, in_user=replace(_LLAMA.in_user, audio=SOUNDS))
_LOCAL_HEARD = replace(_LOCAL, in_user=_HEARD)
"""vLLM and llama.cpp have `input_audio` for models that hear (vllm a014e35 chat_utils.py, llama.cpp b21e4de
server-common.cpp, 2026-08), and refuse the request for the others."""
_HEARING = r"(?i)audio|omni|voxtral|ultravox|gemma-?3n"

_OLLAMA = replace(_LOCAL, in_user=Carries(images=frozenset({"image/png", "image/jpeg", "image/webp"})))
"""Data URLs of these types and no addresses: "invalid image input" (ollama openai/openai.go, 2026-08)."""

_ROUTED = replace(_OPEN, names=_LETTER_FIRST, in_user=replace(_SEEN, documents=frozenset({PDF})))
"""OpenRouter reads PDFs for models that cannot (openrouter.ai/docs multimodal PDF inputs, 2026-06)."""

# ── Mistral ──────────────────────────────────────────────────────────────────────────────────────────────────────

_MISTRAL = Rules(
    system="first",  # "Unexpected role 'system' after role 'tool'" (mistral-common 1.13 validator.py, 2026-11)
    user_first=True,  # calls of the first message are not counted: "Not the same number of function calls" (same)
    user_last=True,  # "Expected last role User or Tool" (same)
    ids=id_rule("a-zA-Z0-9", 9, exact=True),  # tokenizers before v13 take no other; the later ones take these too
    in_user=Carries(images=IMAGES, documents=frozenset({PDF}), links=frozenset({"image/*", PDF})),  # mistralai 3.7
    # "Unexpected role 'user' after role 'tool'" says the API (github.com/zed-industries/zed/issues/37021, 2026-04), and
    # mistral-common before 1.12.
    beside_results=frozenset(),
)
_VOXTRAL = replace(_MISTRAL, in_user=replace(_MISTRAL.in_user, audio=SOUNDS))  # docs.mistral.ai/studio/audio

_MISTRAL_MANNER = Manner(
    thinking=True,  # mistralai 3.7 thinkchunk.py
    result_names=True,  # mistralai 3.7 toolmessage.py
    part=write_mistral_part,
)

TALKS: Mapping[str, Talk] = {
    "openai-chat": _talk(_OPENAI_SILENT, models=(("(?i)audio", _OPENAI),)),
    "azure": _talk(_AZURE, models=(("(?i)audio", replace(_AZURE, in_user=_HEARD)),)),
    "vllm": _talk(_LOCAL, Manner(reasoning="reasoning"), ((_HEARING, _LOCAL_HEARD),)),  # vllm a014e35 chat_utils.py
    "llama.cpp": _talk(_LLAMA, models=((_HEARING, _LLAMA_HEARD),)),
    # Content in a list loses the name of its tool, and null is taken with calls alone (ollama openai/openai.go).
    "ollama": _talk(_OLLAMA, Manner(reasoning="reasoning", null_content=False)),
    "dial": _talk(_OPEN),
    "groq": _talk(_OPEN, Manner(reasoning="reasoning")),  # groq 1.7 chat_completion_assistant_message_param.py
    # Text only: "unknown variant `image_url`, expected `text`" (github.com/can1357/oh-my-pi/pull/9169, 2026-08).
    # A message with calls must have `reasoning_content` when it thinks, be it empty (api-docs.deepseek.com guides;
    # github.com/deepseek-ai/deepseek-harness/discussions/739, 2026).
    "deepseek": _talk(replace(_OPEN, in_user=Carries()), Manner(reasoning_with_calls="")),
    # The same, and an empty one counts as missing (github.com/theopenco/llmgateway/pull/2093, 2026-04). Images are data
    # or files of its own store, not addresses (platform.moonshot.ai/docs/guide/use-kimi-vision-model, 2026).
    "moonshot": _talk(
        replace(_OPEN, ids=_ANY_ID, names=_LETTER_FIRST, in_user=Carries(images=IMAGES)),
        Manner(reasoning_with_calls=" "),
    ),
    "qwen": _talk(_OPEN),
    "openrouter": _talk(
        _ROUTED,
        Manner(reasoning="reasoning"),
        (("(?i)audio|omni|voxtral|gemini", replace(_ROUTED, in_user=replace(_ROUTED.in_user, audio=SOUNDS))),),
    ),
    "fireworks": _talk(_OPEN),
    "mistral": _talk(_MISTRAL, _MISTRAL_MANNER, (("(?i)voxtral", _VOXTRAL),)),
}
