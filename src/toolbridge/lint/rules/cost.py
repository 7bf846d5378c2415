"""Rules for cost: what tools take of every request, in tokens, against the budgets of the settings.

Definitions are counted as each provider of the settings would get them, and the dearest is told. What could be saved is
told by the parts of the server's own entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from toolbridge.display import shown
from toolbridge.history.said import json_text
from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.subject import Node, Subject, Surface
from toolbridge.offer.cost import rough_tokens
from toolbridge.tokens import estimate

if TYPE_CHECKING:
    from toolbridge.lint.offers import Offer

_MEASURED = "11,549 tools of real servers, measured November 2026"

DEAR_SHARE: Final = 0.2
"""The share of a tool's tokens that a part must have to be told as the dear one."""

FAR_BELOW: Final = 4
"""How many times the rough price of a tool must go into the budget for it not to be counted."""

LONG_TEXT: Final = 100
"""Characters of a text that is worth saying once only."""

REPEATED: Final = 100
"""Tokens that the copies of a text must cost to be told."""

MOST_REPEATED: Final = 3
"""Repeated texts that are told of one server, the dearest first: the others are the same habit."""

LONG_ENUM: Final = 200
"""Tokens of a list of values that is too long to be read in every request."""

NOISE: Final = 25
"""Tokens of titles that repeat names: below that, nobody would edit a schema for them."""


def _dearest(subject: Subject) -> Offer | None:
    return max(subject.offers, key=lambda each: each.tokens, default=None)


def _parts(subject: Subject) -> Iterator[tuple[int, str, str]]:
    """What the tool's entry is made of: tokens, what it is, and where."""
    yield estimate(subject.description), "its description", "/description"
    for node in subject.parameters:
        yield estimate(json_text(node.schema, compact=True)), f"the parameter {shown(node.name or '')}", node.path
    schema: Any = subject.tool.input_schema
    definitions = schema.get("$defs") or schema.get("definitions") if isinstance(schema, Mapping) else None
    if isinstance(definitions, Mapping):
        where = "/inputSchema/$defs" if "$defs" in schema else "/inputSchema/definitions"
        yield estimate(json_text(definitions, compact=True)), "its definitions", where


def tool(subject: Subject) -> Iterator[Flaw]:
    budget = subject.settings.tool_budget
    if rough_tokens(subject.tool) * FAR_BELOW < budget:
        return  # most tools: writing and counting them for every provider would be a quarter of all the work
    dearest = _dearest(subject)
    if dearest is None or dearest.tokens <= budget:
        return
    parts = list(_parts(subject))
    tokens, part, path = max(parts)
    what = f"the dearest part is {part}, about {tokens:,}"
    if tokens < dearest.tokens * DEAR_SHARE and subject.parameters:
        what, path = f"no part is dear, but it has {len(subject.parameters)} parameters", "/inputSchema/properties"
    yield Flaw(
        f"costs about {dearest.tokens:,} tokens in every request with {dearest.provider.name}, and the budget is "
        f"{budget:,}: {what}",
        path,
    )


def whole_list(surface: Surface) -> Iterator[tuple[str, Flaw]]:
    budget = surface.settings.budget
    if budget is None:
        return
    sums: dict[str, dict[str, int]] = {}
    """For each provider, what the tools of each server cost."""
    for subject in surface.subjects:
        server = subject.tool.id.server
        for offer in subject.offers:
            of_servers = sums.setdefault(offer.provider.name, {})
            of_servers[server] = of_servers.get(server, 0) + offer.tokens
    if not sums:
        return
    provider, of_servers = max(sums.items(), key=lambda each: sum(each[1].values()))
    total = sum(of_servers.values())
    if total <= budget:
        return
    costs = f"about {total:,} tokens in every request with {provider}, and the budget is {budget:,}"
    if len(of_servers) == 1:
        yield next(iter(of_servers)), Flaw(f"the tools cost {costs}: offer fewer of them, or shorten the dearest")
    else:
        dearest = max(of_servers, key=lambda each: of_servers[each])
        yield (
            dearest,
            Flaw(
                f"the tools of {len(of_servers)} servers cost {costs}: most are this server's, {of_servers[dearest]:,}"
            ),
        )


def repetition(surface: Surface) -> Iterator[tuple[str, Flaw]]:
    places: dict[tuple[str, str], int] = {}
    for subject in surface.subjects:
        if not subject.offers:
            continue
        server = subject.tool.id.server
        for text in _long_texts(subject):
            places[server, text] = places.get((server, text), 0) + 1
    repeated: dict[str, list[tuple[int, int, str]]] = {}
    for (server, text), count in places.items():
        if count > 1:
            tokens = (count - 1) * estimate(text)
            if tokens >= REPEATED:
                repeated.setdefault(server, []).append((tokens, count, text))
    for server, found in repeated.items():
        for tokens, count, text in sorted(found, key=lambda each: -each[0])[:MOST_REPEATED]:
            yield (
                server,
                Flaw(
                    f"one text stands in {count} places, and its copies cost about {tokens:,} tokens: say it once, in "
                    "the server's instructions or in shorter words",
                    text=text,
                ),
            )


def _long_texts(subject: Subject) -> Iterator[str]:
    if len(subject.description) >= LONG_TEXT:
        yield subject.description
    for node in subject.nodes:
        text = node.schema.get("description")
        if isinstance(text, str) and len(text) >= LONG_TEXT:
            yield text


def long_enum(subject: Subject) -> Iterator[Flaw]:
    if not subject.offers:
        return
    for node in subject.nodes:
        values = node.schema.get("enum")
        if isinstance(values, list) and len(values) > 20:
            tokens = estimate(json_text(values, compact=True))
            if tokens >= LONG_ENUM:
                yield Flaw(
                    f"{len(values)} values cost about {tokens:,} tokens in every request: take a text, and let another "
                    "tool find the values",
                    f"{node.path}/enum",
                )


def noise(subject: Subject) -> Iterator[Flaw]:
    if not subject.offers:
        return
    titles = [node for node in subject.nodes if _repeats_its_name(node)]
    tokens = sum(estimate(f'"title":"{node.schema["title"]}",') for node in titles)
    if tokens >= NOISE:
        yield Flaw(
            f"{len(titles)} titles only repeat the names of their properties, and cost about {tokens} tokens in every "
            "request: leave them out",
            f"{titles[0].path}/title",
        )


def _repeats_its_name(node: Node) -> bool:
    """As schemas have it that a library made: the title of `page_size` is Page Size."""
    title = node.schema.get("title")
    return isinstance(title, str) and node.name is not None and _bare(title) == _bare(node.name)


def _bare(text: str) -> str:
    return text.replace("_", "").replace(" ", "").replace("-", "").casefold()


_SOIL = "The kind of soil, as the catalogue of the garden names it: sand, silt, clay, loam, peat or chalk, or mixed."
_MONTHS = [f"a month of the garden's calendar, the {i}th" for i in range(1, 41)]


def _described(*names: str, soil: str) -> tuple[dict[str, Any], ...]:
    schema = {"type": "object", "properties": {"soil": {"type": "string", "description": soil}}}
    return tuple({"name": name, "inputSchema": schema} for name in names)


_NAMES = ("bed_number", "plant_name", "water_amount", "first_month", "last_month", "sun_hours")


def _titled(**titles: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} | ({"title": titles[name]} if name in titles else {}) for name in _NAMES}
    return {"name": "plan_bed", "inputSchema": {"type": "object", "properties": properties}}


RULES = (
    Rule(
        "cost.tool",
        "warning",
        "A tool costs no more tokens than the budget for one (`tool_budget`, 1,000 unless set).",
        "Definitions are sent with every request, whether the tool is used or not: a dear one is paid over and over.",
        f"{_MEASURED}: the median costs about 200 tokens, and 97 in 100 cost less than 1,000",
        bad=of(
            {"name": "find_plants", "description": "Find plants by their name. " * 20}, settings={"tool_budget": 100}
        ),
        good=of({"name": "find_plants", "description": "Find plants by their name."}, settings={"tool_budget": 100}),
        check=tool,
    ),
    Rule(
        "cost.list",
        "warning",
        "All tools together cost no more tokens than the budget for the list (`budget`, no limit unless set).",
        "What the tools take, the conversation does not have; and models choose worse from a long list.",
        _MEASURED,
        bad=of(*({"name": f"find_plant_{i}"} for i in range(20)), settings={"budget": 100}),
        good=of(*({"name": f"find_plant_{i}"} for i in range(2)), settings={"budget": 100}),
        check_all=whole_list,
    ),
    Rule(
        "cost.repetition",
        "info",
        "What holds for many tools is said once.",
        "A paragraph that stands in every tool is paid once for each of them, in every request.",
        _MEASURED,
        bad=of(*_described("find_bed", "plan_bed", "dig_bed", "water_bed", "rest_bed", "mulch_bed", soil=_SOIL)),
        good=of(
            *_described("find_bed", "plan_bed", "dig_bed", "water_bed", "rest_bed", "mulch_bed", soil="Kind of soil.")
        ),
        check_all=repetition,
    ),
    Rule(
        "cost.long-enum",
        "info",
        "A list of allowed values is short enough to be read in every request.",
        "Hundreds of values are paid with each request, and providers with strict modes limit them.",
        _MEASURED,
        bad=of({"name": "plan_month", "inputSchema": {"type": "object", "properties": {"month": {"enum": _MONTHS}}}}),
        good=of(
            {"name": "plan_month", "inputSchema": {"type": "object", "properties": {"month": {"enum": _MONTHS[:5]}}}}
        ),
        check=long_enum,
    ),
    Rule(
        "cost.noise",
        "info",
        "Titles that only repeat the names of properties are left out.",
        "Libraries that make schemas from code add them; models learn nothing from them.",
        _MEASURED,
        bad=of(_titled(**{name: name.replace("_", " ").title() for name in _NAMES})),
        good=of(_titled(water_amount="Litres")),
        check=noise,
    ),
)
