"""Rules for what a tool's `_meta` says to hosts: who may call it, what renders its results, which values are files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from toolbridge.apps import (
    FILE_KEYS,
    FILE_PARAMETERS,
    FLAT_RESOURCE,
    INVOKED,
    INVOKING,
    OUTPUT_TEMPLATE,
    UI,
    VISIBILITY,
    WIDGET_ACCESSIBLE,
    FileShape,
    callers,
    file_shape,
    read_app_meta,
)
from toolbridge.display import shown
from toolbridge.errors import nearest
from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.subject import ServerFacts, Subject, escaped
from toolbridge.lint.table import is_known, meant_hint
from toolbridge.lint.waivers import KEY as WAIVERS
from toolbridge.lint.waivers import read_waivers
from toolbridge.schema.phrases import quoted
from toolbridge.types import JsonObject

_REFERENCE = "Apps SDK reference (tool descriptor `_meta`), checked November 2026"
_APPS = "MCP Apps (SEP-1865, stable of January 2026), checked November 2026"
_SPEC = "MCP specification 2025-11-25 (`_meta`), checked November 2026"

KNOWN: Final = frozenset({
    VISIBILITY, WIDGET_ACCESSIBLE, OUTPUT_TEMPLATE, FILE_PARAMETERS, INVOKING, INVOKED, "openai/widgetDescription",
    "openai/widgetCSP", "openai/widgetDomain", "openai/widgetPrefersBorder", "openai/resultCanProduceWidget",
    "openai/profile", "openai/locale", "openai/userAgent", "openai/userLocation", "openai/subject", "openai/session",
    "openai/closeWidget",
})  # fmt: skip
"""The keys that ChatGPT reads or sends, on tools and elsewhere."""

UI_KEYS: Final = frozenset({"resourceUri", "visibility"})
"""What MCP Apps reads of a tool's `ui`."""

RESOURCE_KEYS: Final = frozenset({"csp", "permissions", "domain", "prefersBorder"})
"""What it reads of a resource's `ui`, and not of a tool's."""

MIME_TYPES: Final = ("text/html;profile=mcp-app", "text/html+skybridge")
"""The types of a page that a host renders: of MCP Apps, and the Apps SDK's older one."""

LONGEST_STATUS: Final = 64
"""Characters of a text that is shown while a call runs."""

LONGEST_COMPARED: Final = 200
MOST_COMPARED: Final = 200
"""Characters of a name, and names, that are searched for one that was meant."""

MOST_WAIVERS: Final = 5
"""Waivers of no rule that are told."""

_KEY = re.compile(
    r"(?:[A-Za-z](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?){0,20}/)?"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,250}[A-Za-z0-9])?)?\Z"
)
"""A key as the specification has it: labels with dots between them and a slash, or none; then a name, or none."""


def visibility(subject: Subject) -> Iterator[Flaw]:
    meta = subject.tool.meta
    said = meta.get(VISIBILITY, "public")
    if said not in ("public", "private"):
        yield _flaw(
            f'{VISIBILITY} is {_value(said)}, which hosts may read as "public"; use "public" or "private"', VISIBILITY
        )
    ui = meta.get(UI)
    if UI in meta and not isinstance(ui, Mapping):
        yield _flaw(f"ui is {_value(ui)}, and has to be an object", UI)
    audience = ui.get("visibility", ["model"]) if isinstance(ui, Mapping) else ["model"]
    if not isinstance(audience, list):
        yield _flaw(f'ui.visibility is {_value(audience)}; use a list of "model" and "app"', UI, "visibility")
    elif not audience:
        yield _flaw('ui.visibility is empty: nobody may call the tool; list "model", "app" or both', UI, "visibility")
    else:
        for each in [each for each in audience if each not in ("model", "app")][:3]:
            yield _flaw(f'ui.visibility has {_value(each)}; "model" and "app" are all there is', UI, "visibility")


def private_without_widget(subject: Subject) -> Iterator[Flaw]:
    meta = subject.tool.meta
    if meta.get(VISIBILITY) == "private" and not callers(subject.tool):
        yield _flaw(
            f"the tool is private and no widget may call it either; set {WIDGET_ACCESSIBLE} to true", VISIBILITY
        )


def widget_accessible(subject: Subject) -> Iterator[Flaw]:
    said = subject.tool.meta.get(WIDGET_ACCESSIBLE, False)
    if not isinstance(said, bool):
        yield _flaw(f"{WIDGET_ACCESSIBLE} is {_value(said)}; use true or false", WIDGET_ACCESSIBLE)


def template(subject: Subject) -> Iterator[Flaw]:
    seen: dict[str, str] = {}
    for name, path, said in _templates(subject):
        if not isinstance(said, str) or not re.match(r"ui://[^/\s]", said):
            yield Flaw(f"{name} is {_value(said)}, and has to be an address that begins with ui://", path)
        else:
            seen[name] = said
    if len(set(seen.values())) > 1:
        both = " and ".join(f"{name} is {_value(each)}" for name, each in list(seen.items())[:2])
        yield Flaw(f"{both}: hosts show one or the other; give one address", "/_meta")


def template_key(subject: Subject) -> Iterator[Flaw]:
    meta = subject.tool.meta
    ui = meta.get(UI)
    if FLAT_RESOURCE in meta and not (isinstance(ui, Mapping) and "resourceUri" in ui):
        yield _flaw(f"{FLAT_RESOURCE} is the old spelling; write resourceUri inside of ui, or both", FLAT_RESOURCE)


def template_missing(subject: Subject) -> Iterator[Flaw]:
    resources = subject.facts.resources
    if resources is None:
        return
    for said, path in _addresses(subject).items():
        if said not in resources:
            meant = _near(said, resources)
            hint = f"; did you mean {_value(meant)}?" if meant else ""
            yield Flaw(f"the server has no resource {_value(said)}, so hosts have nothing to show{hint}", path)


def template_type(subject: Subject) -> Iterator[Flaw]:
    resources = subject.facts.resources or {}
    for said, path in _addresses(subject).items():
        if said in resources and _bare(resources[said]) not in MIME_TYPES:
            found = "has no MIME type" if not resources[said] else f"is {_value(resources[said])}"
            yield Flaw(f"the resource {_value(said)} {found}; hosts render {MIME_TYPES[0]} (or {MIME_TYPES[1]})", path)


def file_params(subject: Subject) -> Iterator[Flaw]:
    if FILE_PARAMETERS not in subject.tool.meta:
        return
    said = subject.tool.meta[FILE_PARAMETERS]
    if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
        yield _flaw(
            f"{FILE_PARAMETERS} is {_value(said)}, and has to be a list of names of parameters", FILE_PARAMETERS
        )
    schema = subject.tool.input_schema
    found: Any = schema.get("properties") if isinstance(schema, Mapping) else None
    properties: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    for name in read_app_meta(subject.tool).file_parameters[:50]:
        if name not in properties:
            meant = _near(name, properties)
            hint = f"; did you mean {_value(meant)}?" if meant else "; only parameters at the top can be files"
            yield _flaw(f"{FILE_PARAMETERS} names {_value(name)}, which is no parameter{hint}", FILE_PARAMETERS)
            continue
        path = f"/inputSchema/properties/{escaped(name)}"
        shape = file_shape(schema, name)
        if shape is None:
            yield Flaw(f"{_value(name)} is a file, and has to be an object with {' and '.join(FILE_KEYS)}", path)
        else:
            yield from _file_flaws(name, shape, path)


def _file_flaws(name: str, shape: FileShape, path: str) -> Iterator[Flaw]:
    missing = [key for key in FILE_KEYS if key not in shape.members]
    if missing:
        yield Flaw(
            f"{_value(name)} is a file and declares no {' and no '.join(missing)}; declare them as strings", path
        )
    for key in FILE_KEYS:
        member = shape.members.get(key)
        if isinstance(member, Mapping) and member.get("type", "string") not in ("string", ["string"]):
            kind = _value(member["type"])
            if "string" not in kind:
                yield Flaw(f"{key} of the file {_value(name)} is {kind}; hosts send a string", path)
    required = shape.schema.get("required")
    more = [each for each in required if each not in FILE_KEYS] if isinstance(required, list) else []
    if more:
        listed = ", ".join(_value(each) for each in more[:3])
        yield Flaw(f"the file {_value(name)} requires {listed}, which a host need not send; make them optional", path)


def unknown_key(subject: Subject) -> Iterator[Flaw]:
    meta = subject.tool.meta
    for key in meta:
        prefix, slash, _ = key.partition("/")
        if slash and key not in KNOWN and prefix.lower().removesuffix(".com") == "openai":
            close = _meant(key, KNOWN)
            if close is not None:
                yield _flaw(f"{_value(key)} is no key that hosts know; did you mean {close}?", key)
    ui = meta.get(UI)
    for key in ui if isinstance(ui, Mapping) else ():
        close = None if key in UI_KEYS or key in RESOURCE_KEYS else _meant(str(key), UI_KEYS)
        if close is not None:
            yield _flaw(f"ui.{shown(str(key)[:60])} is no key that hosts know; did you mean {close}?", UI, str(key))


def unknown_waiver(subject: Subject) -> Iterator[Flaw]:
    if WAIVERS not in subject.tool.meta:
        return
    patterns = read_waivers(subject.tool).reasons
    if not patterns:
        yield _flaw('it waives nothing; expected {"ignore": {"rule": "reason"}}', WAIVERS)
    for each in [each for each in patterns if not is_known(each)][:MOST_WAIVERS]:
        yield _flaw(f"it waives {shown(repr(each))}, which is no rule; {meant_hint(each)}", WAIVERS, "ignore")


def resource_key(subject: Subject) -> Iterator[Flaw]:
    ui = subject.tool.meta.get(UI)
    found = [key for key in ui if key in RESOURCE_KEYS] if isinstance(ui, Mapping) else []
    if found:
        yield _flaw(f"a tool's ui has no {' and no '.join(found)}; hosts read that of the resource's own _meta", UI)


def status(subject: Subject) -> Iterator[Flaw]:
    for key in (INVOKING, INVOKED):
        said = subject.tool.meta.get(key, "")
        if not isinstance(said, str):
            yield _flaw(f"{key} is {_value(said)}, and has to be a text", key)
        elif len(said) > LONGEST_STATUS:
            message = f"{key} has {len(said):,} characters; hosts show {LONGEST_STATUS}"
            yield Flaw(message, f"/_meta/{escaped(key)}", said[:1_000], (LONGEST_STATUS, min(len(said), 1_000)))


def meta_key(subject: Subject) -> Iterator[Flaw]:
    for key in subject.tool.meta:
        if key not in KNOWN and not _KEY.match(key):
            yield _flaw(
                f"the key {_value(key)} is not formed as the specification asks: letters and digits, with . _ - between"
                " them, after a prefix of labels and a slash or none",
                key,
            )


def _templates(subject: Subject) -> Iterator[tuple[str, str, Any]]:
    """The keys that name what renders results, their places and values."""
    meta = subject.tool.meta
    ui = meta.get(UI)
    if isinstance(ui, Mapping) and "resourceUri" in ui:
        yield "ui.resourceUri", f"/_meta/{UI}/resourceUri", ui["resourceUri"]
    for key in (FLAT_RESOURCE, OUTPUT_TEMPLATE):
        if key in meta:
            yield key, f"/_meta/{escaped(key)}", meta[key]


def _addresses(subject: Subject) -> dict[str, str]:
    """The addresses of templates, each once, and where it is said. What is no such address is another rule's."""
    found: dict[str, str] = {}
    for _, path, said in _templates(subject):
        if isinstance(said, str) and said.startswith("ui://"):
            found.setdefault(said, path)
    return found


def _meant(key: str, known: frozenset[str]) -> str | None:
    """The known key that a strange one is nearly, also where it differs in capitals, dashes and underscores only."""
    if len(key) > 100:
        return None
    plain = {_folded(each): each for each in known}
    if _folded(key) in plain:
        return plain[_folded(key)]
    from difflib import get_close_matches  # for the few keys that are strange

    close = get_close_matches(key, known, n=1, cutoff=0.85)
    return close[0] if close else None


def _near(name: str, known: Iterable[str]) -> str | None:
    """The one of the known names that was meant. A hostile list costs no more than a long one."""
    if len(name) > LONGEST_COMPARED:
        return None
    return nearest(name, [each for each in islice(known, MOST_COMPARED) if len(each) <= LONGEST_COMPARED])


def _folded(key: str) -> str:
    return key.lower().replace("openai.com/", "openai/").replace("_", "").replace("-", "")


def _bare(mime_type: str | None) -> str:
    return (mime_type or "").replace(" ", "").lower()


def _value(value: Any) -> str:
    return shown(quoted(value, 60))


def _flaw(message: str, *keys: str) -> Flaw:
    return Flaw(message, "/_meta" + "".join(f"/{escaped(key)}" for key in keys))


def _with(key: str, value: Any, **more: Any) -> JsonObject:
    return {"name": "show_map", "_meta": {key: value, **more}}


_PAGE = "ui://maps/map.html"
_FILE: JsonObject = {
    "type": "object",
    "properties": {"download_url": {"type": "string"}, "file_id": {"type": "string"}},
    "required": ["download_url", "file_id"],
}


def _filed(names: Any, **properties: Any) -> JsonObject:
    return {
        "name": "resize_image",
        "inputSchema": {"type": "object", "properties": properties},
        "_meta": {FILE_PARAMETERS: names},
    }


RULES = (
    Rule(
        "app.visibility",
        "error",
        "Who may see a tool is said in words that hosts know.",
        "A host may take a word that it does not know for none: a tool that was to be hidden is shown to the model.",
        f"{_REFERENCE}; {_APPS}",
        bad=of(_with(VISIBILITY, "hidden")),
        good=of(_with(VISIBILITY, "private", **{WIDGET_ACCESSIBLE: True}), _with(UI, {"visibility": ["app"]})),
        check=visibility,
    ),
    Rule(
        "app.private-without-widget",
        "warning",
        "A private tool can be called by widgets.",
        "Hidden from the model and closed to widgets, the tool can be called by nobody.",
        _REFERENCE,
        bad=of(_with(VISIBILITY, "private")),
        good=of(_with(VISIBILITY, "private", **{WIDGET_ACCESSIBLE: True})),
        check=private_without_widget,
    ),
    Rule(
        "app.widget-accessible",
        "error",
        "Whether widgets may call a tool is true or false.",
        "A host that finds anything else does not let widgets call the tool, and the widget fails when it is used.",
        _REFERENCE,
        bad=of(_with(WIDGET_ACCESSIBLE, "true")),
        good=of(_with(WIDGET_ACCESSIBLE, True)),
        check=widget_accessible,
    ),
    Rule(
        "app.template",
        "error",
        "What renders a tool's results is one address that begins with ui://.",
        "Hosts fetch nothing else, and of two addresses each host shows another one.",
        f"{_REFERENCE}; {_APPS}",
        bad=of(_with(OUTPUT_TEMPLATE, "https://example.com/map.html")),
        good=of(_with(OUTPUT_TEMPLATE, _PAGE, **{UI: {"resourceUri": _PAGE}})),
        check=template,
    ),
    Rule(
        "app.template-key",
        "info",
        "The address of what renders results stands in `ui`.",
        "The flat spelling is the older one: hosts that came later need not read it.",
        _APPS,
        bad=of(_with(FLAT_RESOURCE, _PAGE)),
        good=of(_with(UI, {"resourceUri": _PAGE}, **{FLAT_RESOURCE: _PAGE})),
        check=template_key,
    ),
    Rule(
        "app.template-missing",
        "error",
        "What renders a tool's results is a resource of the server.",
        "The host asks for it after the call, gets an error, and shows an empty frame.",
        f"{_REFERENCE}; {_APPS}",
        bad=of(_with(UI, {"resourceUri": _PAGE}), facts=ServerFacts(resources={"ui://maps/list.html": MIME_TYPES[0]})),
        good=of(_with(UI, {"resourceUri": _PAGE}), facts=ServerFacts(resources={_PAGE: MIME_TYPES[0]})),
        check=template_missing,
    ),
    Rule(
        "app.template-type",
        "warning",
        "What renders a tool's results has the MIME type of a page that hosts render.",
        "By the type a host knows that the page is made for it; another one it shows as text or not at all.",
        f"{_REFERENCE}; {_APPS}",
        bad=of(_with(UI, {"resourceUri": _PAGE}), facts=ServerFacts(resources={_PAGE: "text/html"})),
        good=of(_with(UI, {"resourceUri": _PAGE}), facts=ServerFacts(resources={_PAGE: "text/html; profile=mcp-app"})),
        check=template_type,
    ),
    Rule(
        "app.file-params",
        "error",
        "A file parameter is an object at the top, with `download_url` and `file_id` as strings and no more required.",
        "The host puts exactly this object there: a call with any other shape is refused, or comes without the file.",
        _REFERENCE,
        bad=of(_filed(["image"], image={"type": "string"})),
        good=of(_filed(["image"], image=_FILE), _filed(["images"], images={"type": "array", "items": _FILE})),
        check=file_params,
    ),
    Rule(
        "app.status-text",
        "warning",
        f"What people read while a call runs and after it has at most {LONGEST_STATUS} characters.",
        "Hosts refuse a longer text, or cut it in the middle of a word.",
        _REFERENCE,
        bad=of(_with(INVOKING, "Looking through every street, square and bridge of the city for what you asked for")),
        good=of(_with(INVOKING, "Looking at the map")),
        check=status,
    ),
    Rule(
        "app.unknown-key",
        "warning",
        "Keys for hosts are spelt as hosts know them.",
        "A misspelt key is ignored without a word: the tool is shown, rendered or closed other than was meant.",
        f"{_REFERENCE}; {_APPS}",
        bad=of(_with("openai/output_template", _PAGE)),
        good=of(_with(OUTPUT_TEMPLATE, _PAGE)),
        check=unknown_key,
    ),
    Rule(
        "app.unknown-waiver",
        "info",
        "What a tool waives are rules that there are.",
        "A misspelt waiver waives nothing, and its author looks for the fault elsewhere.",
        "this linter's own waivers",
        bad=of(_with(WAIVERS, {"ignore": {"name.versoin": "v2 is the name of the format"}})),
        good=of(_with(WAIVERS, {"ignore": {"name.version": "v2 is the name of the format"}})),
        check=unknown_waiver,
    ),
    Rule(
        "app.resource-key",
        "info",
        "What a page may load and do is said where the page is, not on the tool.",
        "Hosts read it of the resource alone: the page runs with less than was asked for.",
        _APPS,
        bad=of(_with(UI, {"resourceUri": _PAGE, "csp": {"connectDomains": ["https://tiles.example.com"]}})),
        good=of(_with(UI, {"resourceUri": _PAGE})),
        check=resource_key,
    ),
    Rule(
        "app.meta-key",
        "info",
        "Keys of `_meta` are formed as the specification asks.",
        "Gateways and libraries that check keys drop others; without a prefix two extensions may mean the same key.",
        _SPEC,
        bad=of(_with("_internal", True)),
        good=of(_with("com.example/internal", True)),
        check=meta_key,
    ),
)
