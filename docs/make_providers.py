"""Writes docs/providers.md, and the tables in README.md and docs/history.md, from the registry of providers.

    python docs/make_providers.py

A test compares what is committed with what this makes, so that the pages never say less or more than the code does.
"""

from __future__ import annotations

from pathlib import Path

from toolbridge.history.rules import PDF, Carries
from toolbridge.providers import Provider, providers

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "providers.md"
README = DOCS.parent / "README.md"
HISTORY = DOCS / "history.md"

BEGIN = "<!-- providers: written by docs/make_providers.py -->"
END = "<!-- end of providers -->"
TRANSCRIPTS = ("<!-- transcripts: written by docs/make_providers.py -->", "<!-- end of transcripts -->")

NONE = "–"

HEAD = """# Providers

*This page is written by `docs/make_providers.py` from the tables that the conversion itself uses.*

A provider is a value: a dialect for its schemas, perhaps a second one for strict definitions, a rule for names,
limits, and the facts all this rests on. `toolbridge providers NAME` says the same in a terminal, and what becomes of
every keyword.
"""

LEGEND = """- **names**: how many characters a tool's name may have; [below](#names-and-facts), which ones.
- **tools**, **description**: the most in one request, and the longest in characters; – where no limit is known.
- **strict**: when definitions are strict. *By default* means that `strict=None` makes a tool strict where nothing is
  lost by it; *on request*, only `strict=True` does; *by mode*, the provider has one switch for the whole request.
- **hosted**: whether the provider connects to MCP servers by itself (`hosted_fields`).
"""


def table(*, linked: bool) -> str:
    """One row a provider; `linked` to the page for the README."""
    rows = ["| provider | | names | tools | description | strict | hosted |", "|---|---|--:|--:|--:|---|---|"]
    for each in providers().values():
        target = f"{'docs/providers.md' if linked else ''}#{_anchor(each.name)}"
        limits = f"{each.names.length} | {_limit(each.most_tools)} | {_limit(each.longest_description)}"
        hosted = "yes" if each.write_hosted else NONE
        rows.append(f"| [`{each.name}`]({target}) | {each.title} | {limits} | {_strict(each)} | {hosted} |")
    return "\n".join(rows)


def page() -> str:
    """The whole page."""
    parts = [HEAD, table(linked=False), "", LEGEND, "## Names and facts"]
    for each in providers().values():
        strict = f"`{each.strict.name}`" if each.strict else "none"
        parts += [
            "",
            f"### {each.name}",
            "",
            f"{each.title}. Names match `{each.names.pattern.pattern}`, at most {each.names.length} characters. "
            f"Dialect `{each.dialect.name}`; strict: {strict}{_budget(each)}.",
            "",
            "| fact | source | checked |",
            "|---|---|---|",
            *(f"| {_cell(fact.what)} | {_cell(fact.source)} | {fact.checked} |" for fact in each.facts),
        ]
    return "\n".join(parts) + "\n"


def readme() -> str:
    """The README as it stands, with its table of providers as it should be."""
    return _between(README, (BEGIN, END), table(linked=True))


def history() -> str:
    """The page of histories as it stands, with its table of what providers can carry as it should be."""
    rows = [
        "| provider | in a result | in a user's message | failure | structured | reasoning | system | order | ids |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in providers().values():
        rules = each.talk().rules
        order = [
            *(["turns"] if rules.alternate else []),
            *(["user first"] if rules.user_first else []),
            *(["user last"] if rules.user_last else []),
        ]
        cells = (
            f"[`{each.name}`](providers.md#{_anchor(each.name)})",
            f"text{_carried(rules.in_results)}",
            f"text{_carried(rules.in_user)}",
            "a flag" if rules.error_flag else "in words",
            "as it is" if rules.structured else "as text",
            "back to it" if rules.reasoning else NONE,
            rules.system,
            ", ".join(order) or NONE,
            f"{'' if rules.ids.exact else 'up to '}{rules.ids.length}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return _between(HISTORY, TRANSCRIPTS, "\n".join(rows))


def _carried(media: Carries) -> str:
    """The kinds of media, in words."""
    files = media.documents - {PDF}
    videos = {each for each in files if each.startswith("video/")}
    found = {
        "images": media.images,
        "sounds": media.audio,
        "PDFs": media.documents & {PDF},
        "videos": videos,
        "other files": files - videos,
        "links": media.links,
    }
    return "".join(f", {kind}" for kind, types in found.items() if types)


def _between(page: Path, marks: tuple[str, str], text: str) -> str:
    """The page as it stands, with this text between the marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(marks[0])
    _, _, after = rest.partition(marks[1])
    return f"{before}{marks[0]}\n{text}\n{marks[1]}{after}"


def _strict(provider: Provider) -> str:
    if provider.strict is None:
        return "by mode" if provider.strict_by_mode else NONE
    return "by default" if provider.strict_by_default else "on request"


def _budget(provider: Provider) -> str:
    budget = provider.strict_budget
    if budget is None:
        return ""
    parts = {"tools": budget.tools, "optionals": budget.optionals, "unions": budget.unions}
    return ", in one request at most " + ", ".join(f"{most} {what}" for what, most in parts.items() if most is not None)


def _limit(number: int | None) -> str:
    return NONE if number is None else f"{number:,}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")


def _anchor(name: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return "".join(each for each in name.lower() if each.isalnum() or each in "-_")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(), encoding="utf-8")
    HISTORY.write_text(history(), encoding="utf-8")
