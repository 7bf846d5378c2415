"""Rules for names: what a model chooses by, and what providers accept as the name of a function."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.rules.words import EMPTY_ALONE, EMPTY_NOUNS, EMPTY_VERBS, JOINED, is_verb, table, words_of
from toolbridge.lint.subject import Subject, Surface
from toolbridge.types import ToolId

_GUIDE = "Apps SDK tool design guide, checked November 2026"
_SPEC = "MCP specification 2025-11-25 (tools), checked November 2026"
_PROVIDERS = "Rules of OpenAI, Anthropic, Gemini, Bedrock and Mistral for names of functions, checked November 2026"

LONGEST: Final = 64
"""Characters that OpenAI Chat, Bedrock, Mistral and others accept."""

LONG: Final = 48
"""What of them is left when a client puts `mcp__`, a server's name and `__` in front: the prefix has some 16."""

_SNAKE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*\Z")
_STYLES: Final = (
    ("snake_case", re.compile(r"[a-z0-9_]+\Z")),
    ("kebab-case", re.compile(r"[a-z0-9-]+\Z")),
    ("camelCase", re.compile(r"[a-z][A-Za-z0-9]*\Z")),
    ("PascalCase", re.compile(r"[A-Z][A-Za-z0-9]*\Z")),
    ("UPPER_CASE", re.compile(r"[A-Z0-9_]+\Z")),
)
"""Ways to write a name. A name of one word is the first of them, and no proof of any."""

_PLAIN: Final = frozenset({"kebab-case", "camelCase", "PascalCase"})
"""Styles whose words can be told apart for sure."""

_DIGITS = re.compile(r"_([0-9]+)")
_REFUSED = re.compile(r"[^A-Za-z0-9_-]+")

_VERSION = re.compile(r"(?:(?<![A-Za-z0-9])[vV]|(?<=[a-z0-9])V)[0-9]+(?:[._-][0-9]+)*(?![A-Za-z0-9])")
_DATE = re.compile(r"(?<![0-9])20[0-9]{2}([_-])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12][0-9]|3[01])(?![0-9])")
_STATE = re.compile(r"(?<=[_-])(?:deprecated|legacy|beta)\Z")
_NO_VERSION: Final = frozenset({
    "uuid", "guid", "ip", "snmp", "smb", "cvss", "tls", "openapi", "swagger", "oas",
    "http", "s3",
})  # fmt: skip
"""Words that a `v4` belongs to: standards of that name, not versions of the tool."""

_PROMOTION: Final = table(
    """
    amazing awesome bestever fantastic greatest incredible magical phenomenal revolutionary superb
    supercharged ultimate unbeatable worldclass
    """
)
_PROMOTION_AHEAD: Final = frozenset({"best", "cool", "fastest", "great", "official", "perfect", "premium", "super"})
"""Words that praise the tool where they come first and what the tool does, or nothing, follows: `best_search` and
`official_api` praise, `best_trials` and `great_circle_distance` are about the subject."""

_REQUIRED_TOGETHER: Final = frozenset({"search", "fetch"})
"""ChatGPT's deep research and company knowledge ask a server for exactly these two names."""

_SERVER_WORDS: Final = frozenset({"mcp", "server", "tool", "tools", "api", "smithery", "js", "py", "io", "official"})


def _name(subject: Subject) -> str:
    """The name that the server gave; an entry that is no tool has none."""
    return "" if subject.tool.problem else subject.name


def missing(subject: Subject) -> Iterator[Flaw]:
    if subject.tool.problem:
        yield Flaw(f"{subject.tool.problem}, so no client can list or call it: give it a name")
    elif not subject.name.strip():
        yield Flaw("the name is empty, so no model can call the tool: give it one", "/name")


def duplicate(surface: Surface) -> Iterator[tuple[ToolId, Flaw]]:
    seen: dict[ToolId, int] = {}
    for subject in surface.subjects:
        if _name(subject):
            seen[subject.tool.id] = seen.get(subject.tool.id, 0) + 1
    for id, times in seen.items():
        if times > 1:
            yield (
                id,
                Flaw(f"the server lists {times} tools of this name: one of them cannot be called", "/name", id.name),
            )


def similar(surface: Surface) -> Iterator[tuple[ToolId, Flaw]]:
    first: dict[tuple[str, str], str] = {}
    for subject in surface.subjects:
        name = _name(subject)
        key = "".join(each for each in name if each.isalnum()).casefold()
        if not key:
            continue
        other = first.setdefault((subject.tool.id.server, key), name)
        if other != name:
            yield (
                subject.tool.id,
                Flaw(f"it differs from {other!r} only in case or marks: merge or rename", "/name", name),
            )


def characters(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    found = _REFUSED.search(name)
    if found is not None:
        which = found[0][:20]
        yield Flaw(
            f"{which!r} is refused by OpenAI, Anthropic, Bedrock and Mistral: use letters, digits, '_' and '-'",
            "/name", name, found.span(),
        )  # fmt: skip
    elif name and not (name[0].isalpha() or name[0] == "_"):
        yield Flaw(f"it begins with {name[0]!r}, which Gemini refuses: begin with a letter", "/name", name, (0, 1))


def length(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    if len(name) > LONGEST:
        yield Flaw(
            f"the name has {len(name)} characters; OpenAI, Bedrock and Mistral refuse more than {LONGEST}",
            "/name", name, (LONGEST, len(name)),
        )  # fmt: skip


def long(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    if LONG < len(name) <= LONGEST:
        yield Flaw(
            f"the name has {len(name)} characters; with a prefix such as 'mcp__server__' it comes near the limit of "
            f"{LONGEST}: keep to {LONG}",
            "/name", name, (LONG, len(name)),
        )  # fmt: skip


def style(name: str) -> str:
    """How a name is written."""
    return next((style for style, pattern in _STYLES if pattern.match(name)), "a style of its own")


def _joined(found: re.Match[str]) -> str:
    return found[1]


def case(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    if not name or not name.isascii() or _SNAKE.match(name) or _REFUSED.search(name):
        return  # snake_case, or refused by a graver rule
    hint = "use lower case and '_'"
    if style(name) in _PLAIN:
        hint = f"{_DIGITS.sub(_joined, '_'.join(words_of(name)))!r} would be"
    yield Flaw(f"the name is not in snake_case: {hint}", "/name", name)


def mixed(surface: Surface) -> Iterator[tuple[str, Flaw]]:
    styles: dict[str, dict[str, list[str]]] = {}
    for subject in surface.subjects:
        name = _name(subject)
        if len(words_of(name)) > 1 and not _REFUSED.search(name):  # those are told by a graver rule
            styles.setdefault(subject.tool.id.server, {}).setdefault(style(name), []).append(name)
    for server, found in styles.items():
        if len(found) > 1:
            told = ", ".join(f"{len(names)} in {style} ({names[0][:64]!r})" for style, names in found.items())
            yield server, Flaw(f"the names of its tools are written in {len(found)} ways: {told}; choose one")


def verb(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    words = subject.words
    if not words or not name or not name.isascii() or any(map(is_verb, words)):
        return
    if "to" in words[1:-1] or any(each.startswith(JOINED) and len(each) > 7 for each in words):
        return  # a conversion, `text_to_audio`, or words that no mark divides
    yield Flaw("no word of the name says what the tool does: begin with a verb, as in 'get_order'", "/name", name)


def generic(surface: Surface) -> Iterator[tuple[ToolId, Flaw]]:
    names: dict[str, set[str]] = {}
    for subject in surface.subjects:
        names.setdefault(subject.tool.id.server, set()).add(subject.name)
    for subject in surface.subjects:
        name = _name(subject)
        words = subject.words
        if not words or not all(each in EMPTY_ALONE or each.isdecimal() for each in words):
            continue
        if len(words) > 1 and (EMPTY_NOUNS.isdisjoint(words) or sum(each in EMPTY_VERBS for each in words) > 1):
            continue  # `create_function`, `get_show_details`: one of them says something after all
        if name in _REQUIRED_TOGETHER and names[subject.tool.id.server] >= _REQUIRED_TOGETHER:
            continue
        yield (
            subject.tool.id,
            Flaw("the name would fit a tool of any server: say of what, as in 'get_order_status'", "/name", name),
        )


def _praises(first: str, rest: tuple[str, ...]) -> bool:
    return first in _PROMOTION_AHEAD and any(is_verb(each) or each in EMPTY_ALONE for each in rest[:1])


def promotional(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    for i, word in enumerate(subject.words if name else ()):
        if word in _PROMOTION or (i == 0 and _praises(word, subject.words[1:])):
            start = name.lower().find(word)
            yield Flaw(f"{word!r} praises the tool and says nothing of it", "/name", name, (start, start + len(word)))
            return


def version(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    for pattern in (_VERSION, _DATE, _STATE):
        for found in pattern.finditer(name[:1_000]):
            before = words_of(name[: found.start()])
            if not _NO_VERSION.isdisjoint((*before[-1:], "".join(before[-2:]))) or found[0].lower() == "v8":
                continue
            yield Flaw(f"the name holds a version, {found[0]!r}: leave it out", "/name", name, found.span())
            return


def redundant(subject: Subject) -> Iterator[Flaw]:
    name = _name(subject)
    server = subject.tool.id.server or subject.facts.server_name or ""
    own = tuple(each for each in words_of(server.rpartition("/")[2]) if each not in _SERVER_WORDS)
    words = subject.words
    left = words[len(own) :]
    if not own or not name or words[: len(own)] != own:
        return
    if len(left) > 1 and any(map(is_verb, left)) and not all(each in EMPTY_ALONE for each in left):
        end = 0
        for each in own:
            end = name.lower().find(each, end) + len(each)
        rest = name[end:].lstrip("_-. ")
        yield Flaw(
            f"the name repeats that of its server, which clients put in front already: {rest!r} would do",
            "/name", name, (0, end),
        )  # fmt: skip


def _rows() -> Iterable[Rule]:
    yield Rule(
        "name.missing", "error",
        "Every entry of the list is a tool with a name.",
        "Clients drop the entry, or the whole list with it.",
        _SPEC,
        bad=of({"description": "Find products in the catalogue."}),
        good=of({"name": "search_products"}),
        check=missing,
    )  # fmt: skip
    yield Rule(
        "name.duplicate", "error",
        "No two tools of a server have one name.",
        "A call reaches only one of them, and providers refuse a request that lists a name twice.",
        _SPEC,
        bad=of({"name": "get_order"}, {"name": "get_order", "description": "Another"}),
        good=of({"name": "get_order"}, {"name": "get_order"}, servers=("shop", "archive")),
        check_all=duplicate,
    )  # fmt: skip
    yield Rule(
        "name.similar", "warning",
        "Names of a server differ in more than case and marks.",
        "Models mix up names that read the same, and clients that replace characters make one name of the two.",
        "Names that collide after clients replaced characters, seen in issues of several hosts, checked November 2026",
        bad=of({"name": "get_order"}, {"name": "getOrder"}),
        good=of({"name": "get_order"}, {"name": "get_orders"}),
        check_all=similar,
    )  # fmt: skip
    yield Rule(
        "name.characters", "error",
        "A name is of ASCII letters, digits, `_` and `-`, and begins with a letter.",
        "MCP allows dots, most providers do not: the whole request is refused unless the client renames the tool.",
        _PROVIDERS,
        bad=of({"name": "orders/get status"}),
        good=of({"name": "get_order-status"}),
        check=characters,
    )  # fmt: skip
    yield Rule(
        "name.length", "error",
        f"A name has at most {LONGEST} characters.",
        "OpenAI's Chat API, Bedrock and Mistral refuse the whole request.",
        _PROVIDERS,
        bad=of({"name": "get_" + "very_" * 12 + "long_name"}),
        good=of({"name": "get_order_status"}),
        check=length,
    )  # fmt: skip
    yield Rule(
        "name.long", "info",
        f"A name leaves room for the prefix that clients add: at most {LONG} characters.",
        "Clients with several servers write `mcp__server__name`, and the sum must stay within 64.",
        _PROVIDERS,
        bad=of({"name": "get_all_of_the_orders_that_were_placed_by_a_customer"}),
        good=of({"name": "list_orders_of_customer"}),
        check=long,
    )  # fmt: skip
    yield Rule(
        "name.case", "info",
        "A name is in snake_case.",
        "MCP allows other styles; snake_case is what models saw most, and survives every client's renaming.",
        _GUIDE,
        bad=of({"name": "getOrderStatus"}),
        good=of({"name": "get_order_status"}),
        check=case,
    )  # fmt: skip
    yield Rule(
        "name.mixed", "info",
        "All names of a server are written in one style.",
        "A model that has seen `get_order` calls `list_orders` where the server has `listOrders`.",
        "11,549 tools of real servers, measured November 2026",
        bad=of({"name": "get_order"}, {"name": "listOrders"}),
        good=of({"name": "get_order"}, {"name": "list_orders"}),
        check_all=mixed,
    )  # fmt: skip
    yield Rule(
        "name.verb", "info",
        "A name says an action: verb and noun, after a prefix if there must be one.",
        "From `weather` alone a model cannot tell whether it reads, sets or draws the weather.",
        _GUIDE,
        bad=of({"name": "weather"}),
        good=of({"name": "get_weather"}),
        check=verb,
    )  # fmt: skip
    yield Rule(
        "name.generic", "warning",
        "A name says what it is about.",
        "Beside the tools of other servers `process` or `get_status` could be anything, and is called for everything.",
        _GUIDE,
        bad=of({"name": "get_status"}, {"name": "do_thing"}),
        good=of({"name": "get_order_status"}, {"name": "search"}, {"name": "fetch"}),
        check_all=generic,
    )  # fmt: skip
    yield Rule(
        "name.promotional", "warning",
        "A name does not praise the tool.",
        "Praise steers a model's choice without telling it anything; reviewers of app stores refuse it.",
        _GUIDE,
        bad=of({"name": "best_search"}),
        good=of({"name": "get_best_bid"}),
        check=promotional,
    )  # fmt: skip
    yield Rule(
        "name.version", "warning",
        "A name holds no version.",
        "Two versions beside each other make a model choose by chance, and a new version breaks every saved prompt.",
        _GUIDE,
        bad=of({"name": "search_v2"}),
        good=of({"name": "search_products"}, {"name": "get_ipv4_address"}),
        check=version,
    )  # fmt: skip
    yield Rule(
        "name.redundant", "info",
        "A name does not repeat that of its server.",
        "Clients put the server's name in front: `mcp__github__github_get_issue` costs tokens and length.",
        "Prefixes of common MCP clients, checked November 2026",
        bad=of({"name": "github_get_issue"}, servers=("github",)),
        good=of({"name": "get_issue"}, servers=("github",)),
        check=redundant,
    )  # fmt: skip


RULES = tuple(_rows())
