"""Rules for portability: what the compiler had to change, or to give up, for the providers of the settings.

Each note of a conversion belongs to one rule, by its code or by its effect. A finding is told once for a tool, a rule
and a code, with the providers that it holds for and the first of the places. Tools that are kept from models are
offered to no provider, and are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from toolbridge.apps import visible
from toolbridge.display import shown
from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.subject import Subject, Surface
from toolbridge.meanings import family, meaning
from toolbridge.names import NameRule, wire_name
from toolbridge.notes import Note
from toolbridge.schema.phrases import quoted
from toolbridge.types import JsonObject, ToolId

if TYPE_CHECKING:
    from toolbridge.lint.offers import Offer

_COMPILER = "the providers' own documents and answers, as the compiler's tables hold them, checked November 2026"
_MEASURED = "11,549 tools of real servers, measured November 2026"

SILENT: Final[Mapping[str, str]] = {
    "additionalProperties.closed": "no model sends what the schema says nothing of",
    "additionalProperties.dropped": "likewise: the provider does not refuse them, and the check does",
    "optional.nullable": "null means left out, and is taken out again: nobody notices",
    "name.spelt": "rules on names tell it, and one here where only the server's makes it too long",
    "tool.duplicate": "a rule on names tells it",
    "schema.missing": "a rule on parameters tells it",
}
"""Notes that are no flaw of the tool, and why each is none."""

UNSOUND: Final = frozenset({"$ref.unresolved", "properties.described", "required.hoisted"})
"""Codes of schemas that are not valid as written, beside those that end in `repaired` and `dropped`."""

_ADVICE: Final[Mapping[str, str]] = {
    "optional.empty": "a parameter is both optional and nullable: let it be left out or be null, not both",
    "object.text": "an object takes any properties: list the ones that it knows",
    "map.pairs": "an object is a map with free keys: a list of objects would do",
    "value.text": "a value may be of any type: name its type",
    "additionalProperties.gathered": "an object takes other properties beside its own: close it",
    "union.text": "the branches of a choice cannot be told apart",
}
"""What keeps a definition from being strict, where the words of the note do not say what to do about it."""

_MENDED: Final = {
    "repaired": "it is set right here, and other hosts may refuse it",
    "dropped": "it is left out here, and other hosts may refuse it",
}
"""What becomes of a keyword that is not valid."""

_MOST_QUOTED: Final = 60
"""Characters of what stood there."""


@dataclass(slots=True)
class _Loss:
    """The notes of one code that say the same of a tool."""

    code: str
    offers: list[Offer] = field(default_factory=list["Offer"])
    places: dict[str, Note] = field(default_factory=dict[str, Note])


def _rule_of(note: Note) -> str | None:
    """The rule that tells a note; `None` for what is no flaw."""
    code = note.code
    if code in SILENT:
        return None
    if code in UNSOUND or code.endswith((".repaired", ".dropped")):
        return "unsound"
    return note.effect


def _gathered(offers: Iterable[tuple[Offer, Iterable[Note]]]) -> list[_Loss]:
    """Notes, those of one code together."""
    losses: dict[str, _Loss] = {}
    for offer, notes in offers:
        for note in notes:
            loss = losses.setdefault(note.code, _Loss(note.code))
            if not loss.offers or loss.offers[-1] is not offer:
                loss.offers.append(offer)
            loss.places.setdefault(note.path, note)
    return list(losses.values())


def _losses(subject: Subject, rule: str) -> list[_Loss]:
    return _gathered((each, [note for note in each.notes if _rule_of(note) == rule]) for each in subject.offers)


def _place(loss: _Loss) -> str:
    if loss.code == "description.shortened":
        return "/description"
    return f"/inputSchema{next(iter(loss.places))}"


def _many(loss: _Loss) -> str:
    return f" ({len(loss.places)} places)" if len(loss.places) > 1 else ""


def _keyword(code: str) -> str:
    """The keyword of a code that means the same of many."""
    return "" if family(code) == code else shown(code.rpartition(".")[0])


def _changes(subject: Subject, rule: str) -> Iterator[Flaw]:
    for loss in _losses(subject, rule):
        keyword = f", {each}" if (each := _keyword(loss.code)) else ""
        yield Flaw(f"for {_named(loss.offers)}{keyword}: {meaning(loss.code)}{_many(loss)}", _place(loss))


def _named(offers: list[Offer]) -> str:
    from toolbridge.lint.offers import named

    return named(offers)


def left_out(subject: Subject) -> Iterator[Flaw]:
    reasons: dict[str, list[Offer]] = {}
    for each in subject.offers if subject.tool.problem is None else ():  # a rule on names tells what is no tool
        if each.why_left_out is not None:
            reasons.setdefault(each.why_left_out, []).append(each)
    for why, offers in reasons.items():
        yield Flaw(f"{_named(offers)} cannot be given the tool: {shown(why)}")


def unsound(subject: Subject) -> Iterator[Flaw]:
    for loss in _losses(subject, "unsound"):
        path, note = next(iter(loss.places.items()))
        keyword, _, done = loss.code.rpartition(".")
        words = meaning(loss.code)
        if done in _MENDED and family(loss.code) != loss.code:
            stood = "" if note.before is None else f" {shown(quoted(note.before, _MOST_QUOTED))}"
            words = f"{shown(keyword)}{stood} is not valid as written; {_MENDED[done]}"
        yield Flaw(f"{words}{_many(loss)}", f"/inputSchema{path}")


def narrowed(subject: Subject) -> Iterator[Flaw]:
    yield from _changes(subject, "narrowed")


def widened(subject: Subject) -> Iterator[Flaw]:
    yield from _changes(subject, "widened")


def rewritten(subject: Subject) -> Iterator[Flaw]:
    yield from _changes(subject, "changed")


def not_strict(subject: Subject) -> Iterator[Flaw]:
    for loss in _gathered((each, each.obstacles) for each in subject.offers):
        if _rule_of(next(iter(loss.places.values()))) != "unsound":
            keyword = _keyword(loss.code)
            words = f"strict mode has no {keyword} such as this" if keyword else meaning(loss.code)
            words = _ADVICE.get(loss.code, words)
            yield Flaw(f"not strict with {_named(loss.offers)}: {words}{_many(loss)}", _place(loss))


def long_name(subject: Subject) -> Iterator[Flaw]:
    id = subject.tool.id
    whole = f"mcp__{id.server}__{id.name}"
    long = [each for each in subject.offers if _is_too_long(whole, id, each.provider.names)]
    if long:
        most = min(each.provider.names.length for each in long)
        yield Flaw(
            f"with its server's name it has {len(whole)} characters, and {most} are allowed by {_named(long)}: models "
            f"see {wire_name(id, long[0].provider.names)}",
            "/name",
            id.name,
        )


def _is_too_long(whole: str, id: ToolId, rule: NameRule) -> bool:
    """Whether only the server's name makes the whole too long: the rule on the name itself tells the rest."""
    return bool(id.server) and rule.with_server and rule.allows(id.name) and len(whole) > rule.length


def too_many_tools(surface: Surface) -> Iterator[tuple[str, Flaw]]:
    from toolbridge.lint.offers import chosen_providers

    chosen = chosen_providers(surface.settings.providers)
    counts: dict[str, int] = {}
    for subject in surface.subjects:
        if visible(subject.tool):
            counts[subject.tool.id.server] = counts.get(subject.tool.id.server, 0) + 1
    if not counts:
        return
    total = sum(counts.values())
    limits: dict[int, list[str]] = {}
    for provider in chosen:
        if provider.most_tools is not None and total > provider.most_tools:
            limits.setdefault(provider.most_tools, []).append(provider.name)
    for most, names in sorted(limits.items()):
        over = {server: count for server, count in counts.items() if count > most}
        allowed = f"{most} in a request are allowed by {' and '.join(names)}"
        for server, count in over.items():
            yield server, Flaw(f"the server lists {count} tools, and {allowed}: {count - most} are left out")
        if not over:
            largest = max(counts, key=lambda each: counts[each])
            together = f"{len(counts)} servers list {total} tools together, and {allowed}: {total - most} are left out"
            yield largest, Flaw(f"{together}; this server lists most of them, {counts[largest]}")


def _tool(**properties: JsonObject) -> JsonObject:
    return {"name": "find_plants", "inputSchema": {"type": "object", "properties": properties}}


def _tree(definition: JsonObject) -> JsonObject:
    tree = {"type": "object", "properties": {"tree": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": definition}}
    return {"name": "plant_tree", "inputSchema": tree}


RULES = (
    Rule(
        "portability.left-out",
        "error",
        "Every provider can be given the tool.",
        "A tool that a provider cannot express is not there for its models, and nobody sees why.",
        _COMPILER,
        bad=of(_tree({"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]})),
        good=of(_tree({"type": "string"})),
        check=left_out,
    ),
    Rule(
        "portability.unsound",
        "error",
        "The input schema is valid JSON Schema, and its references lead somewhere.",
        "Most providers refuse a whole request over one invalid schema. toolbridge sets it right; other hosts may not.",
        "JSON Schema 2020-12, and the answers of providers, checked November 2026",
        bad=of(_tool(limit={"type": "int"})),
        good=of(_tool(limit={"type": "integer"})),
        check=unsound,
    ),
    Rule(
        "portability.narrowed",
        "warning",
        "Whatever the server accepts can be said with every provider.",
        "Some calls that the server would take can no longer be made.",
        _COMPILER,
        bad=of(_tool(bed={"minLength": 2}), settings={"providers": ("gemini-openapi",)}),
        good=of(_tool(bed={"type": "string", "minLength": 2}), settings={"providers": ("gemini-openapi",)}),
        check=narrowed,
    ),
    Rule(
        "portability.long-name",
        "info",
        "The name is short enough to be spelt together with its server's.",
        "Hosts that connect several servers spell names as mcp__server__tool. One that is too long is cut, and models "
        "see a digest in place of its end.",
        _COMPILER,
        bad=of({"name": "find_plants_that_grow_in_the_shade_of_old_trees"}, servers=("botanical-garden",)),
        good=of({"name": "find_shade_plants"}, servers=("botanical-garden",)),
        check=long_name,
    ),
    Rule(
        "portability.too-many-tools",
        "warning",
        "There are no more tools than a request can hold.",
        "Providers refuse longer lists, so the last tools are left out; and models choose worse among so many.",
        _COMPILER,
        bad=of(*({"name": f"find_plant_{i}"} for i in range(129))),
        good=of(*({"name": f"find_plant_{i}"} for i in range(128))),
        check_all=too_many_tools,
    ),
    Rule(
        "portability.widened",
        "info",
        "The provider enforces every constraint of the schema.",
        "Where it does not, the constraint is said in the description and checked before a call is sent: a model that "
        "does not heed it costs another turn.",
        _COMPILER,
        bad=of(_tool(bed={"type": "string", "pattern": "^[A-C][1-4]$"})),
        good=of(_tool(bed={"type": "string", "enum": ["A1", "B2", "C3"]})),
        check=widened,
    ),
    Rule(
        "portability.rewritten",
        "info",
        "The provider takes the schema in the shape that it has.",
        "Models see another shape than the server's documentation describes. Calls are put back, but examples in "
        "descriptions no longer fit.",
        _COMPILER,
        bad=of(_tool(**{"bed.row": {"type": "string"}, "crop %": {"type": "string"}})),
        good=of(_tool(bed_row={"type": "string"}, crop_percent={"type": "string"})),
        check=rewritten,
    ),
    Rule(
        "portability.not-strict",
        "info",
        "The schema can be enforced by a strict definition.",
        "Strict definitions make calls valid by construction. A schema that strict mode has no plain form for is sent "
        f"without it. Of {_MEASURED}, 35 in 100 are not strict with OpenAI, most for parameters that are both optional "
        "and nullable.",
        _COMPILER,
        bad=of(_tool(bed={"type": ["string", "null"]})),
        good=of(_tool(bed={"type": "string"})),
        check=not_strict,
    ),
)
