"""What a tool's name says about what it does: verbs that read, that write, and that destroy. Tables, and one question.

A verb with several senses (`set`, `run`, `check`, `process`, `open`) is in no table, or only where its sense is sure: a
claim is called a lie only where the name leaves no doubt.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Deed: TypeAlias = Literal["reads", "writes", "destroys"]

LONGEST_OPENING: Final = 80
"""Characters of a description in which its first verb stands."""

_OPENING = re.compile(
    r"\W{0,9}(?:(?:this|the|a) (?:tool|function) |tool to |use this (?:tool )?to |permanently |bulk |immediately )?"
    r"([a-z]+)\W{0,3}([a-z]*)"
)

READS: Final = frozenset({
    "get", "list", "read", "search", "find", "fetch", "show", "describe", "view", "lookup", "query", "count",
    "browse", "peek",
    "retrieve", "inspect", "explain", "summarize", "compare", "estimate", "calculate", "check", "validate", "verify",
    "preview",
    "diff", "analyze", "analyse", "examine", "resolve", "suggest", "recommend", "discover", "monitor", "wait",
    "audit", "review",
})  # fmt: skip
"""Verbs behind which whatever follows is an object: `get_deleted_items` deletes nothing."""

SURELY_READS: Final = frozenset({"get", "list", "read", "search", "find", "show", "describe", "lookup", "count"})
"""Verbs of tools that do nothing else, in whatever product."""

WRITES: Final = frozenset({
    "create", "update", "send", "add", "insert", "write", "edit", "upload", "publish", "post", "put", "patch",
    "modify", "rename",
    "move", "copy", "assign", "invite", "append", "upsert", "save", "store", "register", "subscribe", "unsubscribe",
    "approve",
    "reject", "merge", "commit", "push", "deploy", "install", "enable", "disable", "pay", "buy", "transfer", "book",
    "schedule",
})  # fmt: skip
"""Verbs of tools that change something."""

SURELY_WRITES: Final = frozenset({
    "update", "send", "insert", "edit", "publish", "modify", "rename", "upsert", "invite", "deploy", "uninstall",
    "transfer",
    "approve", "merge", "commit", "create",
})  # fmt: skip
"""Verbs of tools that change something, in whatever product: `add` also adds numbers, `store` may be a shop."""

DESTROYS: Final = frozenset({
    "delete", "drop", "wipe", "purge", "erase", "destroy", "truncate", "remove", "terminate", "uninstall", "revoke",
    "kill",
    "overwrite",
})  # fmt: skip

SURELY_DESTROYS: Final = frozenset({"delete", "drop", "wipe", "purge", "erase", "destroy", "truncate"})
"""Verbs of which no product means less: `remove` may remove the background of an image."""

OF_MANY_SENSES: Final = frozenset({"subscribe", "book", "store", "copy", "schedule", "post", "put"})
"""Verbs of the tables that are nouns elsewhere, or that may leave no trace: not even a description makes them sure."""

DESTROYS_ANYWHERE: Final = frozenset({"delete", "purge", "destroy"})
"""Those of them that mean it wherever they stand in a name: `file_system_delete`. One may drag and drop."""

DESTROYS_IN_WORDS: Final = frozenset({"delete", "purge", "destroy", "wipe", "erase"})
"""Those that mean it where a description opens with them, whatever the name says."""

SIMULATES: Final = frozenset({
    "preview", "dry", "simulate", "simulation", "simulated", "estimate", "impact", "check", "undo", "prevent",
})  # fmt: skip
"""Words beside a verb of destruction after which nothing is destroyed. Whatever else is beside it is what is gone."""

ASKS: Final = frozenset({"plan", "can", "how", "is", "should", "would", "could"})
"""Words that do the same where they open the name: `can_delete_file`, but not `delete_plan`."""

WITHIN_AN_ANSWER: Final = frozenset({
    "background", "duplicate", "duplicates", "whitespace", "noise", "punctuation", "stopwords", "accents", "outliers",
    "watermark", "vocals", "silence",
})  # fmt: skip
"""What is removed from what was given, and nowhere else."""

HARMLESS: Final = frozenset({
    "preview", "plan", "dry", "simulate", "simulation", "estimate", "url", "uri", "link", "prompt", "confirmation",
    "instructions", "guide", "guidelines", "help", "docs", "documentation", "permission", "permissions", "impact",
    "reader",
    "viewer", "status", "example", "examples",
})  # fmt: skip
"""Words beside a verb after which it may only make an answer: `delete_preview`, `create_checkout_link`."""

MAKES_AN_ANSWER: Final = frozenset({
    "chart", "diagram", "graph", "image", "text", "code", "summary", "report", "query", "template", "schema",
    "draft", "table",
    "visualization", "component", "context", "request", "workflow", "rules", "composition", "string", "json", "mask",
    "snippet",
})  # fmt: skip
"""What `create` may make as an answer, without a trace."""


def deed(words: tuple[str, ...]) -> tuple[Deed, str] | None:
    """What a name says, by its first verb; `None` where it has none. `github_delete_repo` has a prefix."""
    for word in words:
        if word in READS:
            return "reads", word
        if word in DESTROYS:
            return "destroys", word
        if word in WRITES:
            return "writes", word
    return None


def is_sure(words: tuple[str, ...], verb: str, description: str) -> bool:
    """Whether a tool of this name surely does what its verb says, to more than its answer.

    It does where the verb has one sense and opens the name, or where the description opens with the same verb.
    """
    if verb in DESTROYS:
        return _surely_destroys(words, verb, description)
    if not HARMLESS.isdisjoint(words) or (verb == "create" and not MAKES_AN_ANSWER.isdisjoint(words)):
        return False
    if verb in SURELY_WRITES and verb in words[:2]:
        return True
    if verb == "add" and any(each in description.lower() for each in ("number", "integer", " sum", "together")):
        return False
    return verb not in OF_MANY_SENSES and opening(description) in _forms(verb)


def _surely_destroys(words: tuple[str, ...], verb: str, description: str) -> bool:
    if simulates(words) or not WITHIN_AN_ANSWER.isdisjoint(words):
        return False
    if verb in DESTROYS_ANYWHERE and verb != words[0]:
        return not any(opening(description) in _forms(each) for each in READS)
    if verb in SURELY_WRITES | SURELY_DESTROYS and verb in words[:2]:
        return True
    return any(opening(description) in _forms(each) for each in DESTROYS)


def simulates(words: tuple[str, ...]) -> bool:
    """Whether a name says that something is only tried, or asked."""
    return not (SIMULATES.isdisjoint(words) and ASKS.isdisjoint(words[:1]))


def destroys_in_words(description: str) -> str | None:
    """The verb of destruction that opens a description, as it stands there."""
    word = opening(description)
    return word if any(word in _forms(each) for each in DESTROYS_IN_WORDS) else None


def opening(description: str) -> str:
    """The word that opens a description, in lower case; nothing where the next one takes it back."""
    match = _OPENING.match(description[:LONGEST_OPENING].lower())
    return match.group(1) if match is not None and match.group(2) not in ("no", "nothing", "not") else ""


def _forms(verb: str) -> tuple[str, ...]:
    return verb, f"{verb}s", f"{verb}es", f"{verb.removesuffix('e')}ing"
