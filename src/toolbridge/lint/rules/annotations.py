"""Rules for annotations: what a tool claims about what it does, and what hosts make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from toolbridge.display import shown
from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.rules.annotation_verbs import (
    SURELY_DESTROYS,
    SURELY_READS,
    deed,
    destroys_in_words,
    is_sure,
    simulates,
)
from toolbridge.lint.subject import Subject
from toolbridge.types import NO_HINTS

_SPECIFICATION: Final = "MCP specification 2025-11-25 (tool annotations), checked November 2026"
_GUIDE: Final = "Apps SDK tool design guide, checked November 2026"
_DEFAULTS: Final = (
    "By the specification a tool that says nothing writes, destroys, is not idempotent and reaches the open world "
    "(readOnlyHint false, destructiveHint true, idempotentHint false, openWorldHint true); the Apps SDK's guide "
    "takes every "
    "hint for false"
)

HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title")

_PATH: Final = "/annotations"
_DESTRUCTION: Final = re.compile(
    r"\b(?:permanently|irreversibly|irrevocably) (?:and \w+ )?(?:delet|remov|eras|destroy|drop|wip|purg|overwrit)\w*",
    re.IGNORECASE,
)
"""That something "cannot be undone" is said of what creates, too."""

_WEB: Final = re.compile(
    r"\b(?:search(?:es)? (?:the )?(?:web|internet)|(?:web|internet|google|bing|duckduckgo|brave) search|(?:from"
    r"|over|on|across|of) the (?:web|internet)"
    r"|fetch(?:es)? (?:\w+ ){0,3}(?:urls?|web ?pages?|websites?)|scrap(?:e|es|ing) (?:\w+ ){0,2}(?:urls?"
    r"|web ?pages?|websites?)"
    r"|download(?:s)? (?:\w+ ){0,4}from (?:a |an |the |any )?(?:urls?|web|internet))\b",
    re.IGNORECASE,
)  # fmt: skip


def missing(subject: Subject) -> Iterator[Flaw]:
    if subject.tool.problem is not None:
        return  # a rule on names tells it
    others = subject.tool.unread.get("annotations", {})
    if subject.tool.hints == NO_HINTS and isinstance(others, dict) and others.keys() <= {"title"}:
        said = deed(subject.words)
        if said is not None and said[0] == "reads":
            advice = 'say "readOnlyHint": true if it only reads'
        elif said is not None and said[0] == "destroys":
            advice = 'say "destructiveHint": true'
        else:
            advice = 'say at least "readOnlyHint", and "destructiveHint" if it writes'
        yield Flaw(f"the tool has no annotations, so hosts assume that it destroys and reaches out; {advice}")


def read_only_unsaid(subject: Subject) -> Iterator[Flaw]:
    hints = subject.tool.hints
    said = deed(subject.words)
    if hints == NO_HINTS or hints.read_only_hint or said is None or said[1] not in SURELY_READS:
        return
    if hints.destructive_hint or _writes_besides(subject):
        return
    if said[1] in subject.words[:2]:
        claim = "says that it writes" if hints.read_only_hint is False else "does not say that it only reads"
        yield Flaw(
            f'the name says "{said[1]}", and the tool {claim}; say "readOnlyHint": true if it changes nothing', _PATH
        )


def _writes_besides(subject: Subject) -> bool:
    """Whether a name names a second deed: `get_or_create_user`, `find_and_replace`."""
    return bool({"or", "and", "replace", "create", "update", "delete", "set"} & {*subject.words})


def read_only_contradicted(subject: Subject) -> Iterator[Flaw]:
    if not subject.tool.hints.read_only_hint:
        return
    said = deed(subject.words)
    if said is not None and said[0] != "reads" and is_sure(subject.words, said[1], subject.description):
        yield Flaw(
            f'the tool claims "readOnlyHint": true, and its name says "{said[1]}"; hosts would run it unasked', _PATH
        )
        return
    verb = destroys_in_words(subject.description)
    if verb is not None and not simulates(subject.words):
        yield _told(subject, 'the tool claims "readOnlyHint": true', verb, "hosts would run it unasked", _PATH)
        return
    match = _DESTRUCTION.search(subject.description)
    negated = match is not None and _is_of_another(subject.description, match.start())
    if match is not None and not negated and (said is None or said[0] != "reads"):
        claim = 'the tool claims "readOnlyHint": true'
        yield _told(subject, claim, match.group(), "hosts would run it unasked", _PATH)


def _told(subject: Subject, claim: str, words: str, advice: str, path: str) -> Flaw:
    """The flaw of a claim that words of the description, in whatever case, belie."""
    start = subject.description.lower().find(words.lower())
    text = subject.description[start : start + len(words)]
    message = f'{claim}, and its description says "{shown(text)}"; {advice}'
    return Flaw(message, path, subject.description, (start, start + len(words)))


def _is_of_another(text: str, position: int) -> bool:
    """Whether a sentence on destruction is a warning about another tool, or a denial."""
    before = text[max(0, text.rfind(".", 0, position) + 1, position - 120) : position].lower()
    return any(
        each in before
        for each in (" not ", "never", "n't", "before ", "preview", "would", "use ", "if ", "no ", "without")
    )


def destructive_denied(subject: Subject) -> Iterator[Flaw]:
    hints = subject.tool.hints
    if hints.destructive_hint is not False or hints.read_only_hint:
        return
    said = deed(subject.words)
    claim, path = 'the tool claims "destructiveHint": false', f"{_PATH}/destructiveHint"
    if said is not None and said[0] == "destroys" and _is_denied(subject, said[1]):
        yield Flaw(f'{claim}, and its name says "{said[1]}"; say true', path)
        return
    verb = destroys_in_words(subject.description)
    if verb is not None and not simulates(subject.words):
        yield _told(subject, claim, verb, "say true", path)
        return
    match = _DESTRUCTION.search(subject.description)
    if match is not None and not _is_of_another(subject.description, match.start()):
        yield _told(subject, claim, match.group(), "say true", path)


def _is_denied(subject: Subject, verb: str) -> bool:
    """Whether a name surely says that something is gone: what `remove` removes may be a member of a list."""
    return verb in SURELY_DESTROYS and is_sure(subject.words, verb, subject.description)


def contradictory(subject: Subject) -> Iterator[Flaw]:
    if subject.tool.hints.read_only_hint and subject.tool.hints.destructive_hint:
        yield Flaw(
            'the tool claims to only read and to destroy; one of "readOnlyHint" and "destructiveHint" is wrong', _PATH
        )


def meaningless(subject: Subject) -> Iterator[Flaw]:
    hints = subject.tool.hints
    if hints.read_only_hint and hints.idempotent_hint is not None:
        said = "true" if hints.idempotent_hint else "false"
        yield Flaw(
            f'"idempotentHint": {said} means nothing beside "readOnlyHint": true; leave it out',
            f"{_PATH}/idempotentHint",
        )


def destructive_unsaid(subject: Subject) -> Iterator[Flaw]:
    hints = subject.tool.hints
    if hints != NO_HINTS and not hints.read_only_hint and hints.destructive_hint is None:
        said = deed(subject.words)
        if hints.read_only_hint is False or (said is not None and said[0] != "reads"):
            advice = "say true" if said is not None and said[0] == "destroys" else "say false if it only adds"
            yield Flaw(
                f'the tool writes, and hosts assume that it destroys; add "destructiveHint", {advice}',
                _PATH,
            )


def open_world_denied(subject: Subject) -> Iterator[Flaw]:
    match = _WEB.search(subject.description) if subject.tool.hints.open_world_hint is False else None
    if match is not None and not _is_of_another(subject.description, match.start()):
        message = f'the tool claims "openWorldHint": false, and its description says "{shown(match.group())}"; say true'
        yield Flaw(message, f"{_PATH}/openWorldHint", subject.description, match.span())


def misspelt(subject: Subject) -> Iterator[Flaw]:
    for key, _ in _strange(subject):
        meant = _meant(key)
        if key not in HINTS and meant is not None:
            yield Flaw(
                f'"{shown(key)}" is no annotation, so that nobody hears it; "{meant}" is', f"{_PATH}/{_step(key)}"
            )


def not_boolean(subject: Subject) -> Iterator[Flaw]:
    said = subject.tool.unread.get("annotations")
    if said is not None and not isinstance(said, dict):
        yield Flaw(f"the annotations are {_kind(said)}: give an object of hints, or none", _PATH)
    for key, value in _strange(subject):
        if key in HINTS and key != "title":
            right = {"true": "true", "false": "false"}.get(str(value).strip().lower(), "true or false")
            yield Flaw(
                f'"{key}" is {_kind(value)}, which hosts read each in its own way; it must be {right}, without quotes',
                f"{_PATH}/{key}",
            )


def unknown(subject: Subject) -> Iterator[Flaw]:
    for key, _ in _strange(subject):
        if key not in HINTS and _meant(key) is None:
            yield Flaw(
                f'"{shown(key)}" is no annotation that hosts know; put what is your own into "_meta"',
                f"{_PATH}/{_step(key)}",
            )


def _strange(subject: Subject) -> list[tuple[str, Any]]:
    said = subject.tool.unread.get("annotations")
    return [(str(key), value) for key, value in said.items()][:20] if isinstance(said, dict) else []


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return f'the text "{shown(value[:20])}"'
    return "a number" if isinstance(value, int | float) else "a list" if isinstance(value, list) else "an object"


def _meant(key: str) -> str | None:
    """The hint that a key was meant to be: `readOnly`, `read_only_hint`, `destructive`, `readonlyHint`."""
    bare = re.sub(r"[\W_]", "", key[:60]).lower().removesuffix("hint").removeprefix("is")
    known = {each.lower().removesuffix("hint"): each for each in HINTS[:4]}
    found = get_close_matches(bare, known, n=1, cutoff=0.8)
    return known[found[0]] if found else None


RULES: Final = (
    Rule(
        "annotation.missing",
        "warning",
        "A tool has annotations.",
        f"{_DEFAULTS}. Hosts then ask the user before every call, or never.",
        _SPECIFICATION,
        bad=of({"name": "get_order"}),
        good=of({"name": "get_order", "annotations": {"readOnlyHint": True}}),
        check=missing,
    ),
    Rule(
        "annotation.read-only-unsaid",
        "info",
        "A tool that only reads says so.",
        "Without readOnlyHint the user is asked for permission to look something up, and learns to agree to "
        "everything.",
        _GUIDE,
        bad=of({"name": "list_orders", "annotations": {"openWorldHint": False}}),
        good=of({"name": "list_orders", "annotations": {"readOnlyHint": True}}),
        check=read_only_unsaid,
    ),
    Rule(
        "annotation.read-only-contradicted",
        "error",
        "A tool that changes something does not claim to only read.",
        "Hosts run what claims readOnlyHint without asking: mail is sent and data is gone before anybody saw a "
        "question.",
        _SPECIFICATION,
        bad=of({"name": "delete_order", "annotations": {"readOnlyHint": True}}),
        good=of({"name": "get_deleted_orders", "annotations": {"readOnlyHint": True}}),
        check=read_only_contradicted,
    ),
    Rule(
        "annotation.destructive-denied",
        "error",
        "A tool that destroys does not claim that it does not.",
        "destructiveHint false is a promise that it only adds; hosts leave out the warning that would have "
        "stopped the user.",
        _SPECIFICATION,
        bad=of({"name": "drop_table", "annotations": {"readOnlyHint": False, "destructiveHint": False}}),
        good=of({"name": "add_column", "annotations": {"readOnlyHint": False, "destructiveHint": False}}),
        check=destructive_denied,
    ),
    Rule(
        "annotation.contradictory",
        "error",
        "No tool claims to only read and to destroy.",
        "Some hosts heed the one hint and some the other: the tool runs unasked in the first and with a warning "
        "in the others.",
        _SPECIFICATION,
        bad=of({"name": "archive", "annotations": {"readOnlyHint": True, "destructiveHint": True}}),
        good=of({"name": "archive", "annotations": {"readOnlyHint": False, "destructiveHint": True}}),
        check=contradictory,
    ),
    Rule(
        "annotation.meaningless",
        "info",
        "A tool that only reads says nothing of idempotence.",
        "The specification gives idempotentHint a meaning for tools that write only; the Apps SDK's guide shows "
        "it beside "
        "readOnlyHint, where it does no harm and no good.",
        _SPECIFICATION,
        bad=of({"name": "get_order", "annotations": {"readOnlyHint": True, "idempotentHint": True}}),
        good=of(
            {
                "name": "set_price",
                "annotations": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
            }
        ),
        check=meaningless,
    ),
    Rule(
        "annotation.destructive-unsaid",
        "info",
        "A tool that writes says whether it destroys.",
        f"{_DEFAULTS}. What only adds is shown with a warning that it does not deserve.",
        _SPECIFICATION,
        bad=of({"name": "create_order", "annotations": {"readOnlyHint": False}}),
        good=of({"name": "create_order", "annotations": {"readOnlyHint": False, "destructiveHint": False}}),
        check=destructive_unsaid,
    ),
    Rule(
        "annotation.open-world-denied",
        "warning",
        "A tool that reaches the web does not claim a closed world.",
        "What comes from the web may hold instructions of strangers; hosts that trust openWorldHint false do not look.",
        _SPECIFICATION,
        bad=of({"name": "look", "description": "Searches the web.", "annotations": {"openWorldHint": False}}),
        good=of({"name": "look", "description": "Searches your notes.", "annotations": {"openWorldHint": False}}),
        check=open_world_denied,
    ),
    Rule(
        "annotation.misspelt",
        "warning",
        "Annotations are spelt as the protocol spells them.",
        "SDKs drop what they do not know in silence: `readOnly` is no claim, and the tool is taken for the worst.",
        _SPECIFICATION,
        bad=of({"name": "get_order", "annotations": {"readOnly": True}}),
        good=of({"name": "get_order", "annotations": {"readOnlyHint": True}}),
        check=misspelt,
    ),
    Rule(
        "annotation.not-boolean",
        "error",
        "A hint is true or false.",
        'The protocol allows nothing else. The Python SDK takes "true" in quotes for true, and refuses the whole list '
        'of tools for "maybe".',
        "MCP specification 2025-11-25 (tool annotations), and the Python SDK tried, November 2026",
        bad=of({"name": "get_order", "annotations": {"readOnlyHint": "true"}}),
        good=of({"name": "get_order", "annotations": {"readOnlyHint": True}}),
        check=not_boolean,
    ),
    Rule(
        "annotation.unknown",
        "info",
        "Annotations hold what hosts know.",
        "SDKs drop the rest in silence; `_meta` is kept and is the place for what is one's own.",
        "11,549 tools of real servers (94 with such keys), measured November 2026",
        bad=of({"name": "get_order", "annotations": {"readOnlyHint": True, "category": "shop"}}),
        good=of(
            {"name": "get_order", "annotations": {"readOnlyHint": True}, "_meta": {"shop.example/category": "orders"}}
        ),
        check=unknown,
    ),
)
