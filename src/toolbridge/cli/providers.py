"""`toolbridge providers`: what each provider accepts, from the tables that the conversion itself uses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from toolbridge.cli.terminal import Paint
    from toolbridge.providers import Provider
    from toolbridge.schema.dialects import Dialect


@click.command("providers", short_help="Say what each provider accepts, and where that is known from.")
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--json", "as_json", is_flag=True, help="JSON for programs: a list of providers, or the one that was named."
)
def command(name: str | None, as_json: bool) -> None:
    """List the providers, or say everything that is known about one of them.

    With NAME: the name rule, the limits, what becomes of each part of a schema, and every fact with its
    source and the month it was checked.

    \b
    Examples:
      toolbridge providers
      toolbridge providers anthropic
      toolbridge providers --json | jq '.[] | select(.most_tools) | .name'

    \b
    Exit codes:
      0  listed
      2  misuse: no such provider
    """
    from toolbridge.cli.terminal import Paint, columns
    from toolbridge.providers import get_provider, providers

    found = get_provider(name) if name is not None else None
    if as_json:
        from toolbridge.cli.document import write_json

        write_json(_fields(found) if found else [_fields(each) for each in providers().values()])
        return
    paint = Paint(sys.stdout)
    lines = _details(found, columns(), paint) if found else _table(list(providers().values()), columns(), paint)
    print("\n".join(lines))


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def _fields(provider: Provider) -> dict[str, Any]:
    budget = provider.strict_budget
    return {
        "name": provider.name,
        "title": provider.title,
        "names": {"pattern": provider.names.pattern.pattern, "length": provider.names.length},
        "most_tools": provider.most_tools,
        "longest_description": provider.longest_description,
        "dialect": _dialect_fields(provider.dialect),
        "strict": None
        if provider.strict is None
        else {
            "by_default": provider.strict_by_default,
            "budget": budget and {"tools": budget.tools, "optionals": budget.optionals, "unions": budget.unions},
            "dialect": _dialect_fields(provider.strict),
        },
        "hosted_mcp": provider.write_hosted is not None,
        "facts": [{"what": each.what, "source": each.source, "checked": each.checked} for each in provider.facts],
    }


def _dialect_fields(dialect: Dialect) -> dict[str, Any]:
    from dataclasses import asdict, fields

    out = {field.name: getattr(dialect, field.name) for field in fields(dialect)}
    out["rules"] = {keyword: fate for fate, keywords in _fates(dialect).items() for keyword in keywords}
    out["root_refused"] = sorted(dialect.root_refused)
    out["keys"] = dialect.keys and dialect.keys.pattern
    out["limits"] = asdict(dialect.limits)
    return out


def _fates(dialect: Dialect) -> dict[str, list[str]]:
    """The keywords that only constrain, by what becomes of them."""
    from toolbridge.schema.rules import Rule, keep, mention, mention_default, say

    named: dict[Rule, str] = {keep: "kept", say: "said", mention: "mentioned", mention_default: "mentioned"}
    fates: dict[str, list[str]] = {"kept": [], "partly": [], "said": [], "mentioned": []}
    for keyword, rule in dialect.rules.items():
        fates[named.get(rule, "partly")].append(keyword)
    return {fate: sorted(keywords) for fate, keywords in fates.items() if keywords}


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────

NONE = "–"

NUMBERS = ("names", "tools", "description")

HEADS = ("provider", "names", "tools", "description", "strict", "hosted", "schemas")


def _table(listed: list[Provider], width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.terminal import cells, fitted, wrapped

    rows = [_cells(each) for each in listed]
    widths = [max(len(head), *(cells(row[i]) for row in rows)) for i, head in enumerate(HEADS)]

    def placed(i: int, text: str) -> str:
        return f"{text:>{widths[i]}}" if HEADS[i] in NUMBERS else fitted(text, widths[i])

    lines = [paint("  ".join(placed(i, head) for i, head in enumerate(HEADS)).rstrip(), "dim")]
    for row in rows:
        parts = [paint(placed(i, text), "dim") if text == NONE else placed(i, text) for i, text in enumerate(row)]
        lines.append("  ".join([paint(parts[0], "bold"), *parts[1:]]).rstrip())
    legend = (
        "names: characters a tool's name may have; tools: the most in one request; description: characters of the "
        "longest; strict: when definitions are strict (by default: where nothing is lost by it); hosted: whether the "
        "provider connects to MCP servers by itself; schemas: the dialect they are written in; – is none, or no "
        "limit known."
    )
    return [*lines, "", *wrapped(legend, width), "", "'toolbridge providers NAME' says it all, with the sources."]


def _cells(provider: Provider) -> tuple[str, ...]:
    strict = NONE
    if provider.strict is not None:
        strict = "by default" if provider.strict_by_default else "on request"
    return (
        provider.name,
        str(provider.names.length),
        _limit(provider.most_tools),
        _limit(provider.longest_description),
        strict,
        "yes" if provider.write_hosted else NONE,
        provider.dialect.name,
    )


def _limit(number: int | None) -> str:
    return NONE if number is None else f"{number:,}"


LABEL = 16
"""Columns of the labels in the details."""


def _details(provider: Provider, width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.terminal import wrapped

    lines = [f"{paint(provider.name, 'bold')}: {provider.title}", ""]
    lines += _rows(_about(provider), width, paint)
    lines += ["", paint(f"Definitions ({provider.dialect.name})", "bold")]
    lines += _rows(_policies(provider.dialect), width, paint)
    if provider.strict is not None:
        lines += ["", paint(f"Strict definitions ({provider.strict.name})", "bold")]
        lines += _rows(_policies(provider.strict), width, paint)
    if provider.facts:
        lines += ["", paint("Facts, with the source and the month it was checked", "bold")]
    for each in provider.facts:
        lines += wrapped(each.what, width, "  ")
        lines += [paint(line, "dim") for line in wrapped(f"{each.source}, {each.checked}", width, "      ")]
    return lines


def _rows(rows: list[tuple[str, str]], width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.terminal import wrapped

    lines: list[str] = []
    for label, text in rows:
        first, *more = wrapped(text, width, " " * (LABEL + 2))
        lines += [f"  {paint(f'{label:{LABEL - 2}}', 'dim')}  {first.strip()}", *more]
    return lines


def _about(provider: Provider) -> list[tuple[str, str]]:
    strict = "none"
    if provider.strict is not None:
        strict = "where nothing is lost by it" if provider.strict_by_default else "on request (--strict)"
    if provider.strict_budget is not None:
        budget = provider.strict_budget
        parts = {"tools": budget.tools, "optional properties": budget.optionals, "unions": budget.unions}
        most = ", ".join(f"{number} {what}" for what, number in parts.items() if number is not None)
        strict += f"; in one request at most {most}"
    tools, longest = provider.most_tools, provider.longest_description
    return [
        ("names", f"up to {provider.names.length} characters, {provider.names.pattern.pattern}"),
        ("tools", "no limit known" if tools is None else f"at most {tools:,} in one request"),
        ("descriptions", "no limit known" if longest is None else f"at most {longest:,} characters"),
        ("strict", strict),
        ("hosted MCP", "yes: the provider connects to servers by itself" if provider.write_hosted else "no"),
    ]


_ENUMS = {
    "any": "any values",
    "scalars": "strings, numbers, booleans and null",
    "strings and numbers": "strings and numbers; others are said in words",
    "strings": "strings; other values are spelt as strings and turned back",
}


def _policies(dialect: Dialect) -> list[tuple[str, str]]:
    """What becomes of each part of a schema."""
    recursion = "may be recursive" if dialect.recursion else "recursion is cut"
    rows = [
        ("$ref", "inlined; recursion is cut" if dialect.refs == "inline" else f"kept; {recursion}"),
        ("objects", "closed: nothing beyond the declared properties" if dialect.closed else "as the server has them"),
        ("optionals", "required, null for absent" if dialect.optionals == "nullable" else "optional"),
        ("maps", "lists of keys and values, put back into maps" if dialect.maps == "pairs" else "maps"),
        ("free-form", "JSON text, parsed again" if dialect.free_form == "text" else "as the server has it"),
        ("null", "nullable: true" if dialect.null == "flag" else "a type"),
        ("type lists", "yes" if dialect.type_lists else "no; a union instead"),
        ("enums", _ENUMS[dialect.enums]),
        ("tuples", "prefixItems" if dialect.tuples else "lists of any of the kinds"),
    ]
    if dialect.root_refused:
        rows.append(("root refuses", ", ".join(sorted(dialect.root_refused))))
    if dialect.keys is not None:
        where = "" if dialect.keys_below_root else " at the top level"
        rows.append(("property keys", dialect.keys.pattern + where))
    if dialect.verbatim:
        rows.append(("other keywords", "kept as they are"))
    words = {"kept": "kept", "partly": "kept in part", "said": "said in words", "mentioned": "mentioned"}
    rows += [(words[fate], ", ".join(keywords)) for fate, keywords in _fates(dialect).items()]
    limits = dialect.limits
    named = {
        "levels": limits.levels,
        "properties": limits.properties,
        "enum values": limits.enum_values,
        "characters of names": limits.characters,
    }
    given = [f"{most:,} {what}" for what, most in named.items() if most is not None]
    if given:
        rows.append(("at most", ", ".join(given)))
    return rows
