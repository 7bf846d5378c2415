"""What several providers ask of a transcript: arguments, media, ids, turns, and a result for each call."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

Wire: TypeAlias = Mapping[str, Any]
Problems: TypeAlias = Iterator[str]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)


def arguments(text: Any) -> Problems:
    """Ollama and vLLM parse the arguments of past calls, and refuse what is no object: ollama openai/openai.go."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError) as failure:
        yield f"arguments are no JSON ({failure}): {str(text)[:60]!r}"
    else:
        if not isinstance(value, dict):
            yield f"arguments are no object: {str(text)[:60]!r}"


def blank(text: Any) -> bool:
    return not isinstance(text, str) or not text.strip()


def is_base64(text: Any) -> bool:
    try:
        return isinstance(text, str) and bool(b64decode(text, validate=True))
    except ValueError:
        return False


def address(url: Any, kinds: Sequence[str] | None) -> Problems:
    """An image or a file by its address: https, or the data itself."""
    found = DATA.fullmatch(url) if isinstance(url, str) else None
    if found is None:
        if not (isinstance(url, str) and url.startswith(("https://", "http://"))):
            yield f"neither an address nor a data URL: {str(url)[:40]!r}"
    elif not is_base64(found[2]):
        yield "a data URL without base64"
    elif kinds is not None and found[1] not in kinds:
        yield f"{found[1]} is no kind that is taken here"


def once(ids: Sequence[str]) -> Problems:
    """Ids that come twice make results ambiguous: open-webui/open-webui#28305."""
    for id in sorted({each for each in ids if ids.count(each) > 1}):
        yield f"the id {id!r} is used for more than one call"


def takes_turns(roles: Sequence[Any], model: str) -> Problems:
    if not roles:
        yield "no messages"
        return
    if roles[0] != "user":
        yield f"the first message is the {roles[0]}'s"
    for number, (before, after) in enumerate(pairwise(roles), 1):
        if before == after:
            yield f"messages {number - 1} and {number} are both the {after}'s"
    for role in roles:
        if role not in ("user", model):
            yield f"no such role: {role!r}"


def batch(calls: Sequence[str], results: Sequence[str], where: str) -> Problems:
    """One result for each call, and no other."""
    for id in calls:
        if id not in results:
            yield f"{where}: the call {id!r} has no result right after it"
    for id in results:
        if id not in calls:
            yield f"{where}: a result of {id!r}, which was not called right before"
    if len(set(results)) != len(results):
        yield f"{where}: two results of one call"
