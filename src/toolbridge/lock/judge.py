"""Judging: which tools of a server may still be used, and why the others may not.

Between `compare` and the hub. A tool that is not as locked is set apart: it is neither offered nor called until
somebody has looked at it. Words for people may quote a server; `TO_A_MODEL` does not, since a changed description is
just what must not reach one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolbridge.lock.compare import Change, compare_server
from toolbridge.lock.matching import LITTLE, Effort
from toolbridge.lock.surface import LockedServer
from toolbridge.types import EMPTY

TO_A_MODEL = "has changed since its operator locked it, and waits for the operator to look at it"
"""Why a call is refused."""

MOST_TOLD = 3
"""Changes of a server that one sentence names."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be used of a server."""

    quarantined: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    """Tools that are set apart, and why, in words for people."""
    refused: str | None = None
    """Why the server as a whole is not used."""
    withheld: str | None = None
    """Why its instructions are not handed on."""


CLEAN = Verdict()


def judge(name: str, locked: LockedServer, now: LockedServer, *, refuse: bool = False) -> Verdict:
    """Hold a server against its lock. With `refuse`, any change that fails is the whole server's.

    It runs in the event loop of a hub: words that would take long to find are not looked for.
    """
    if locked.digest == now.digest and not now.unlockable:
        return CLEAN
    failing = [each for each in compare_server(name, locked, now, Effort(LITTLE)) if each.fails]
    if not failing:
        return CLEAN
    reasons: dict[str, list[str]] = {}
    for each in failing:
        if each.tool is not None and each.kind != "removed":
            reasons.setdefault(each.tool, []).append(each.words)
    instructions = next((each.words for each in failing if each.what == "instructions"), None)
    whole = [each for each in failing if each.what == "identity"] or (failing if refuse else [])
    quarantined = {tool: _joined(words) for tool, words in reasons.items()}
    if whole:
        refused = f"it is not as locked: {_joined([_words(each) for each in whole])}"
        rest = {tool: "its server is not as locked" for tool in now.tools if tool not in quarantined}
        return Verdict(dict(sorted((quarantined | rest).items())), refused, instructions)
    return Verdict(dict(sorted(quarantined.items())), None, instructions)


def _words(change: Change) -> str:
    return change.words if change.tool is None else f"tool {change.tool!r} {change.words}"


def _joined(words: list[str]) -> str:
    more = f"; and {len(words) - MOST_TOLD} more" if len(words) > MOST_TOLD else ""
    return "; ".join(words[:MOST_TOLD]) + more
