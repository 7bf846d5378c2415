"""Rules for descriptions: what a model reads before it chooses a tool.

They look at the tool's own text; those of its parameters are the subject of `parameters`. Whoever writes in another
language than English is asked only for what can be seen in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.rules.words import STOP, is_dense, is_english, stem, table, words_in, words_of
from toolbridge.lint.subject import MOST_READ, Subject, Surface
from toolbridge.types import ToolId

_GUIDE = "Apps SDK tool design guide, checked November 2026"
_MEASURED = "11,549 tools of real servers, measured November 2026"

LONGEST: Final = 1_024
"""Characters that Azure OpenAI accepts; OpenAI itself did until May 2025. Every 50th real tool has more than 1,479."""

FEWEST_WORDS: Final = 3
FEWEST_CHARACTERS: Final = 10
FEWEST_DENSE: Final = 4
"""Characters of a script that does not divide words."""

_FILLER: Final = frozenset(
    stem(each)
    for each in table(
        """
        tool api endpoint utility helper perform execute this that new given specified provided all some use allow let
        """
    )
)
"""Words that add nothing to a name."""

_RETURNS_WORDS: Final = table(
    """
    return returns returned returning result results output outputs response responses responds respond yields produces
    provides provide providing gives includes including contains containing retrieves retrieve displays shows delivers
    emits reports confirms confirmation summary json
    """
)
_RETURNS: Final = re.compile(
    r"->|=>|[→⇒]|\b(?:answers? with|link to|url of|id of|as (?:a |an )?(?:list|table|string|text|markdown))\b",
    re.IGNORECASE,
)
"""What says that something comes back: words that do by themselves, and phrases."""

_RETRIEVES: Final = re.compile(
    r"(?:\A\W*|[.:\])]\s{1,3}|\n *)(?:gets?|lists?|fetch(?:es)?|reads?|retrieves?|shows?|finds?|looks? up|describes?"
    r"|counts?|calculates?|computes?|converts?|checks?|views?|prints?|dumps?|extracts?|downloads?|estimates?|displays?"
    r"|obtains?|gathers?|generates?|translates?|summari[sz]es?|tells?|explains?|measures?|detects?|predicts?"
    r"|validates?|verif(?:y|ies)|analy[sz]es?|diagnoses?|inspects?|evaluates?|compares?|decodes?|encodes?"
    r"|identif(?:y|ies))\s\S",
    re.IGNORECASE,
)
"""A first verb of a sentence whose object is what comes back: `List the repositories of a user`."""

_WHEN_WORDS: Final = table(
    """
    when whenever before after prefer helps help helpful allows enables typical typically scenario scenarios useful
    while unless first purpose instead ideal suitable essential
    """
)
_WHEN_PARTS: Final = table(
    "use used uses if call good best perfect great need needed needs order so lets let cases should"
)
_WHEN: Final = re.compile(
    r"\b(?:use (?:this|it|only|for|to|if|with|the|as|cases?)|used? (?:for|to|in|by|when|if|as)|if (?:you|the|a|an|no"
    r"|there|not)|call (?:this|it|only|once)|(?:good|best|perfect|great) for|need(?:s|ed)? to|in order to|so that"
    r"|lets? (?:you|the user|users)|should be)\b",
    re.IGNORECASE,
)
"""What says when a tool is the right one: words that do by themselves, words that may, and how those do."""

_PLACEHOLDER_WHOLE: Final = re.compile(
    r"\W*(?:todo|tbd|fixme|n/?a|none|null|undefined|xxx+|test|asdf|foo|bar|placeholder|description|some description"
    r"|(?:the |a |my |this is a )?(?:tool|function|method)(?: description)?|string|untitled|lorem ipsum)\W*\Z",
    re.IGNORECASE,
)
_UNWRITTEN: Final = table("todo fixme tbd lorem description text")
"""Words that a placeholder has one of."""

_PLACEHOLDER: Final = re.compile(
    r"\b(?:TODO|FIXME|TBD)\b\s*[:(]|(?i:\blorem ipsum\b|\b(?:description|text) (?:goes |comes )?here\b|\b(?:no"
    r"|missing) description (?:provided|available|found|given|yet)|\b(?:add|insert|enter|write) (?:a |your "
    r"|the )?(?:tool |function )?description (?:here|of (?:the|your) (?:tool|function))\b"
    r"|<(?:your )?description>|\[description\])"
)

_HTML: Final = re.compile(
    r"</?(?:p|br|div|span|b|i|strong|em|ul|ol|li|h[1-6]|table|tr|td|th|a|img|code|pre|font|hr)(?:\s[^<>]{0,200})?/?>"
    r"|&(?:nbsp|lt|gt|amp|quot|#[0-9]{1,6});|!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'", re.DOTALL)
"""What is quoted, and so meant as it stands."""

_SECTION: Final = re.compile(
    r"^[ \t#*]*(?:args|arguments|parameters|params|inputs?|inputschema)[ \t*]*:[ \t*]*$", re.IGNORECASE | re.MULTILINE
)
_LISTED: Final = re.compile(r"^[ \t]*(?:[-*•][ \t]+)?[`*\"']{0,3}([A-Za-z_][\w.-]*)", re.MULTILINE)

_PRAISE: Final = table(
    """
    class cutting art leading award game unparalleled unrivaled unrivalled amazing incredible blazing blazingly
    lightning supercharge supercharged ultimate powerful best world worlds revolutionary
    """
)
_PROMOTION: Final = re.compile(
    r"\b(?:best[- ]in[- ]class|world[- ]class|cutting[- ]edge|state[- ]of[- ]the[- ]art|industry[- ]leading"
    r"|award[- ]winning|game[- ]chang(?:er|ing)|revolutionary|unparalleled|unrivall?ed|amazing|incredible"
    r"|blazing(?:ly)?[- ]fast|lightning[- ]fast|supercharged?|the ultimate|most powerful|(?:the|our) best (?:tool"
    r"|solution|api)|world'?s (?:best|leading|most))\b",
    re.IGNORECASE,
)
"""Praise: words that such a phrase has one of, and the phrases."""


def _text(subject: Subject) -> str:
    """What is described; nothing where the entry is no tool at all."""
    return "" if subject.tool.problem else subject.description[:MOST_READ]


def _english(subject: Subject) -> str:
    """The text where it says something, in English."""
    text = _text(subject)
    return text if text.strip() and not _is_short(text) and is_english(text, subject.vocabulary) else ""


def missing(subject: Subject) -> Iterator[Flaw]:
    if not subject.tool.problem and not subject.description.strip():
        yield Flaw("the tool has no description: say what it does, what it returns and when to use it", "/description")


def _is_short(text: str) -> bool:
    text = text.strip()
    if is_dense(text):
        return len(text) < FEWEST_DENSE
    return len(text) < FEWEST_CHARACTERS or len(text[:200].split()) < FEWEST_WORDS


def short(subject: Subject) -> Iterator[Flaw]:
    text = _text(subject)
    if text.strip() and _is_short(text):
        yield Flaw(
            "the description is too short to choose by: say what it does, returns and is for", "/description", text
        )


def long(subject: Subject) -> Iterator[Flaw]:
    text = "" if subject.tool.problem else subject.description
    if len(text) > LONGEST:
        yield Flaw(
            f"the description has {len(text):,} characters; Azure OpenAI refuses more than {LONGEST:,}: say the "
            "rest in the parameters or in the server's instructions",
            "/description", text, (LONGEST, len(text)),
        )  # fmt: skip


def repeats(subject: Subject) -> Iterator[Flaw]:
    text = _text(subject)
    words = words_in(text) if len(text) < 200 else []
    if not words or not is_english(text):
        return
    known = {stem(each) for each in (*subject.words, *words_of(subject.tool.id.server.rpartition("/")[2]))}
    joined = "".join(subject.words)
    if all(each in STOP or stem(each) in known or stem(each) in _FILLER or each == joined for each in words):
        yield Flaw(
            "the description only repeats the name: say what comes back, and when to use it", "/description", text
        )


def returns(subject: Subject) -> Iterator[Flaw]:
    text = _english(subject)
    if not text or subject.tool.output_schema is not None:
        return
    if not _RETURNS_WORDS.isdisjoint(subject.vocabulary) or _RETRIEVES.search(text) is not None:
        return
    if _RETURNS.search(text) is None:
        yield Flaw("the description does not say what the tool returns", "/description", text)


def when(subject: Subject) -> Iterator[Flaw]:
    text = _english(subject)
    if not text or not _WHEN_WORDS.isdisjoint(subject.vocabulary):
        return
    if _WHEN_PARTS.isdisjoint(subject.vocabulary) or _WHEN.search(text) is None:
        yield Flaw("the description does not say when to use the tool: 'Use when the user …'", "/description", text)


def duplicate(surface: Surface) -> Iterator[tuple[ToolId, Flaw]]:
    first: dict[tuple[str, str], ToolId] = {}
    for subject in surface.subjects:
        text = " ".join(subject.description.split()).casefold()
        id = subject.tool.id
        if not text or subject.tool.problem:
            continue
        other = first.setdefault((id.server, text), id)
        if other.name != id.name:
            yield (
                id,
                Flaw(
                    f"the description is that of {other.name!r}: say how they differ",
                    "/description",
                    subject.description,
                ),
            )


def placeholder(subject: Subject) -> Iterator[Flaw]:
    text = _text(subject)
    found = _PLACEHOLDER_WHOLE.match(text) if len(text) < 100 else None
    if found is None and not _UNWRITTEN.isdisjoint(subject.vocabulary):
        found = _PLACEHOLDER.search(text)
    if found is not None and text.strip():
        yield Flaw("the description was never written", "/description", text, found.span())


def markup(subject: Subject) -> Iterator[Flaw]:
    text = _text(subject)
    if "<" not in text and "&" not in text and "![" not in text:
        return
    plain = _CODE.sub(lambda found: " " * len(found[0]), text)
    found = list(_HTML.finditer(plain))
    if any(each[0].startswith(("</", "<br", "<BR", "&", "!")) for each in found):
        yield Flaw(
            f"{found[0][0][:40]!r} is markup that a model gets to read as it stands: write plain text",
            "/description", text, found[0].span(),
        )  # fmt: skip


def sections(subject: Subject) -> Iterator[Flaw]:
    text = _text(subject)
    head = _SECTION.search(text)
    if head is None:
        return
    names = {each.name: each.schema for each in subject.parameters if each.name is not None}
    listed = [each for each in dict.fromkeys(_LISTED.findall(text[head.end() :])) if each in names]
    if not listed:
        return
    bare = [each for each in listed if not names[each].get("description")]
    told = ", ".join(listed[:3]) + (", …" if len(listed) > 3 else "")
    why = "which the schema says already" if not bare else "where clients that show the schema do not look"
    yield Flaw(
        f"the description explains parameters ({told}), {why}: describe them in the schema, once",
        "/description", text, head.span(),
    )  # fmt: skip


def promotional(subject: Subject) -> Iterator[Flaw]:
    text = _text(subject)
    found = None if _PRAISE.isdisjoint(subject.vocabulary) else _PROMOTION.search(text)
    if found is not None:
        yield Flaw(f"{found[0]!r} praises the tool and says nothing of it", "/description", text, found.span())


_GOOD = (
    "Search for products in the catalog. Returns matching products with prices and availability. Use when the user "
    "wants to find or browse products."
)


def _rows() -> Iterable[Rule]:
    good = of({"name": "search_products", "description": _GOOD})
    yield Rule(
        "description.missing", "error",
        "Every tool is described.",
        "A model chooses by the description; Apps need one, and Bedrock refuses an empty one.",
        _GUIDE,
        bad=of({"name": "search_products", "description": " "}),
        good=good,
        check=missing,
    )  # fmt: skip
    yield Rule(
        "description.placeholder", "warning",
        "A description is written for the tool.",
        "A model reads `TODO` or `description here` as it stands, and knows nothing of the tool.",
        _MEASURED,
        bad=of({"name": "search_products", "description": "TODO: describe this"}),
        good=of({"name": "add_todo", "description": "Add a TODO to the list of the user. Returns its number."}),
        check=placeholder,
    )  # fmt: skip
    yield Rule(
        "description.short", "warning",
        f"A description has at least {FEWEST_WORDS} words.",
        "Two words do not tell a tool from its neighbours: it is called in vain, or never.",
        _GUIDE,
        bad=of({"name": "search_products", "description": "Search function"}),
        good=good,
        check=short,
    )  # fmt: skip
    yield Rule(
        "description.long", "warning",
        f"A description has at most {LONGEST:,} characters.",
        "Azure OpenAI refuses longer ones, other clients cut them, and every request pays for them.",
        "Limits of OpenAI and Azure OpenAI, checked November 2026",
        bad=of({"name": "search_products", "description": "Search for products in the catalogue. " * 30}),
        good=good,
        check=long,
    )  # fmt: skip
    yield Rule(
        "description.repeats", "warning",
        "A description says more than the name.",
        "A model that did not understand the name learns nothing.",
        _GUIDE,
        bad=of({"name": "search_products", "description": "This tool searches the products."}),
        good=good,
        check=repeats,
    )  # fmt: skip
    yield Rule(
        "description.duplicate", "warning",
        "No two tools of a server have one description.",
        "A model has nothing to choose between them by.",
        _GUIDE,
        bad=of(
            {"name": "get_order", "description": "Get an order of the user."},
            {"name": "get_orders", "description": "Get an order of the user."},
        ),
        good=of(
            {"name": "get_order", "description": "Get one order of the user."},
            {"name": "get_orders", "description": "Get all orders of the user."},
        ),
        check_all=duplicate,
    )  # fmt: skip
    yield Rule(
        "description.returns", "info",
        "A description says what the tool returns.",
        "A model plans its next step by what it will get; an `outputSchema` says it as well.",
        _GUIDE,
        bad=of({"name": "search_products", "description": "Search for products in the catalog."}),
        good=good,
        check=returns,
    )  # fmt: skip
    yield Rule(
        "description.when", "info",
        "A description says when to use the tool.",
        "Among many tools a model chooses the one whose occasion is named.",
        _GUIDE,
        bad=of({"name": "search_products", "description": "Search for products in the catalog."}),
        good=good,
        check=when,
    )  # fmt: skip
    yield Rule(
        "description.promotional", "warning",
        "A description does not praise the tool.",
        "Praise steers a model's choice without telling it anything; reviewers of app stores refuse it.",
        _GUIDE,
        bad=of({"name": "search_products", "description": "Searches with the most powerful, cutting-edge ranking."}),
        good=good,
        check=promotional,
    )  # fmt: skip
    yield Rule(
        "description.markup", "info",
        "A description is plain text.",
        "Tags and entities cost tokens and are shown to people as they stand.",
        _MEASURED,
        bad=of({"name": "search_products", "description": "<p>Search products.</p><br/>Returns prices &amp; names."}),
        good=of({"name": "add_element", "description": "Adds an element such as `<p>` or `<div>` to the page."}),
        check=markup,
    )  # fmt: skip
    yield Rule(
        "description.sections", "info",
        "Parameters are described in the schema, not in the tool's description.",
        "A docstring's `Args:` is paid for twice, or is not where clients and models look for it.",
        _MEASURED,
        bad=of({
            "name": "search_products",
            "description": "Search for products.\n\nArgs:\n    query: what to look for",
            "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
        }),
        good=good,
        check=sections,
    )  # fmt: skip


RULES = tuple(_rows())
