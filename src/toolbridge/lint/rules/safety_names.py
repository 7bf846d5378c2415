"""Rules of safety for names across servers: what passes for another tool. `safety_mentions` has who speaks of whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolbridge.lint.confusables import script, skeleton
from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.rules.safety_reading import LONGEST_NAME, MEASURED, MOST_FLAWS, SOURCE, UNICODE, quoted
from toolbridge.lint.subject import Subject, Surface
from toolbridge.types import ToolId

SHORTEST_NEAR: Final = 8
"""Characters of a name from which on a missing letter is a misspelling rather than another word."""


def look_alike(surface: Surface) -> Iterator[tuple[ToolId, Flaw]]:
    alike: dict[str, list[ToolId]] = {}
    for subject in surface.subjects:
        alike.setdefault(skeleton(subject.name[:LONGEST_NAME]), []).append(subject.tool.id)
    for ids in alike.values():
        spelt = {each.name.lower(): each for each in reversed(ids)}
        one, *others = reversed(spelt.items())
        for id in ids if others else ():
            other = one[1] if id.name.lower() != one[0] else others[0][1]
            if not id.name.isascii() or _is_stranger(id.name, other.name):
                message = f"{quoted(id.name)} looks like {_whose(other, id)}, which is another tool; rename one of them"
                yield id, Flaw(message, "/name", id.name, (0, len(id.name)))


def _is_stranger(name: str, other: str) -> bool:
    """Whether a name is the one that stands out: the one with more digits or capitals in it, or either."""
    if not other.isascii():
        return False
    marks, others = (sum(not each.islower() for each in text if each.isalnum()) for text in (name, other))
    return marks >= others


def near_name(surface: Surface) -> Iterator[tuple[ToolId, Flaw]]:
    servers: dict[str, list[ToolId]] = {}
    for subject in surface.subjects:
        if SHORTEST_NEAR <= len(subject.name) <= LONGEST_NAME:
            servers.setdefault(subject.name, []).append(subject.tool.id)
    for name, ids in servers.items():
        for near in sorted(_misspellings(name) & servers.keys()):
            foreign = [each for each in servers[near] if each.server not in {id.server for id in ids}]
            if foreign:
                for id in ids:
                    message = (
                        f"{quoted(name)} is one letter away from {_whose(foreign[0], id)}; models and "
                        f"people take one for the other"
                    )
                    yield id, Flaw(message, "/name", name, (0, len(name)))


def _misspellings(name: str) -> set[str]:
    """Names that this one is a slip of: a letter too many, or two in the wrong order, inside of a word."""
    found: set[str] = set()
    for i in range(1, len(name) - 1):
        before, letter, after = name[i - 1], name[i], name[i + 1]
        if before.isalpha() and letter.isalpha() and after.isalpha():
            found.add(name[:i] + name[i + 1 :])
            if letter != after:
                found.add(name[:i] + after + letter + name[i + 2 :])
    return found


def same_name(surface: Surface) -> Iterator[tuple[ToolId, Flaw]]:
    same: dict[str, dict[str, ToolId]] = {}
    for subject in surface.subjects:
        same.setdefault(subject.name, {}).setdefault(subject.tool.id.server, subject.tool.id)
    for name, ids in same.items():
        if len(ids) > 1:
            for server, id in ids.items():
                others = [each for each in ids if each != server]
                more = f" and {len(others) - 1} more" if len(others) > 1 else ""
                yield (
                    id,
                    Flaw(
                        f"the server {quoted(others[0])}{more} has a tool {quoted(name)} too; tell them apart by "
                        f"server",
                        "/name",
                    ),
                )


def mixed_scripts(subject: Subject) -> Iterator[Flaw]:
    if subject.texts.joined.isascii():
        return
    names = [("/name", subject.name), *((node.path, node.name or "") for node in subject.properties)]
    for path, name in names[: 50 * MOST_FLAWS]:
        if not name.isascii():
            for word in re.finditer(r"[^\W\d_]+", name):
                scripts = dict.fromkeys(script(each) for each in word.group())
                if len(scripts) > 1 and ("LATIN" in scripts or "CYRILLIC" in scripts) and "CJK" not in scripts:
                    strange = next(
                        i
                        for i, each in enumerate(word.group(), word.start())
                        if script(each) != script(word.group()[0])
                    )
                    mixed = " and ".join(each.capitalize() for each in scripts)
                    message = (
                        f"the name {quoted(name)} mixes {mixed} letters in one word "
                        f"(U+{ord(name[strange]):04X}); use one script"
                    )
                    yield Flaw(message, path, name, (strange, strange + 1))
                    break


def _whose(other: ToolId, id: ToolId) -> str:
    return (
        quoted(other.name)
        if other.server == id.server
        else f"{quoted(other.name)} of the server {quoted(other.server)}"
    )


RULES: Final = (
    Rule(
        "safety.look-alike",
        "error",
        "No name passes for the name of another tool.",
        "People approve `read_file` and the model calls rеad_file, with a Cyrillic е, of another server.",
        UNICODE,
        bad=of({"name": "read_file"}, {"name": "rеad_file"}, servers=("files", "other")),
        good=of({"name": "read_file"}, {"name": "read_files"}, servers=("files", "other")),
        check_all=look_alike,
    ),
    Rule(
        "safety.near-name",
        "warning",
        "No name is a slip of the pen away from the name of another server's tool.",
        "A model that misspells, or a person who skims, gets the other one: the trick is as old as package registries.",
        SOURCE,
        bad=of({"name": "create_issue"}, {"name": "create_isssue"}, servers=("tracker", "other")),
        good=of({"name": "create_issue"}, {"name": "create_issues"}, servers=("tracker", "other")),
        check_all=near_name,
    ),
    Rule(
        "safety.same-name",
        "info",
        "No two servers have a tool of the same name.",
        "Hosts that do not tell servers apart let the later one take the calls of the earlier.",
        MEASURED,
        bad=of({"name": "search"}, {"name": "search"}, servers=("shop", "wiki")),
        good=of({"name": "search_shop"}, {"name": "search_wiki"}, servers=("shop", "wiki")),
        check_all=same_name,
    ),
    Rule(
        "safety.mixed-scripts",
        "error",
        "No word of a name mixes scripts.",
        "A Cyrillic а among Latin letters is invisible to people and another name to machines; no honest name "
        "needs it.",
        UNICODE,
        bad=of({"name": "pаy_invoice"}),
        good=of({"name": "оплатить_invoice"}),
        check=mixed_scripts,
    ),
)
