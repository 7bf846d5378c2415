"""What a tool's `_meta` says to hosts: who may call it, what renders its results, which parameters are files.

Two vocabularies say it: MCP Apps (`ui`) and the Apps SDK (`openai/…`). Both are read here, and nowhere else. Nothing of
it is for models, but for one thing: what a file parameter has to hold is said in its description, where a model looks.
The `_meta` of results is for hosts alone too, also where it stands in a place that models are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from toolbridge.types import EMPTY, Content, Text, Tool, ToolResult

VISIBILITY: Final = "openai/visibility"
WIDGET_ACCESSIBLE: Final = "openai/widgetAccessible"
OUTPUT_TEMPLATE: Final = "openai/outputTemplate"
FILE_PARAMETERS: Final = "openai/fileParams"
INVOKING: Final = "openai/toolInvocation/invoking"
INVOKED: Final = "openai/toolInvocation/invoked"
UI: Final = "ui"
FLAT_RESOURCE: Final = "ui/resourceUri"
"""The older spelling of `ui.resourceUri`: hosts read it still, and the newer one counts where both are there."""

PRIVATE: Final = "it is private: its server keeps it from models"
"""Why a private tool is left out wherever tools are made ready for a model."""

UNCLEAR: Final = (
    'it is private: what its server says of its visibility is unknown, and only "public" and "model" show it'
)
"""The same where it is said in a word that there is not. Whoever writes something there seldom means everybody."""

_SHOWN: Final = (None, "public")

FILE_KEYS: Final = ("download_url", "file_id")
"""What a file parameter has to hold. A host may add `mime_type` and `file_name`."""

_FILE = "`download_url` is an address that the server can fetch it from, `file_id` is its id."

META: Final = "_meta"
STRUCTURED: Final = "structuredContent"

MOST_NESTED = 64
"""Levels of a value that a model is shown."""

MOST_STEPS = 8
"""References and unions that are followed to find what a property is."""

Caller: TypeAlias = Literal["model", "widget"]


@dataclass(frozen=True, slots=True)
class AppMeta:
    """What a tool, or one of its results, says to hosts that render and to hosts that hand files over."""

    template: str | None = None
    """The address of the resource that renders the results: `ui://…`."""
    file_parameters: tuple[str, ...] = ()
    """Parameters at the top of the input schema that are files."""
    visible_to_model: bool = True
    visible_to_widget: bool = False
    """Whether what the server renders may call the tool."""
    invoking: str | None = None
    """What people are shown while a call runs."""
    invoked: str | None = None
    """What they are shown once it is over."""


def read_app_meta(of: Tool | ToolResult) -> AppMeta:
    """What stands in the `_meta` of a tool or of a result. What has not the shape it should have says nothing, but for
    the visibility, which then hides the tool: to show what was to be hidden is the worse mistake."""
    meta = meta_of(of)
    return AppMeta(
        template=_template(meta),
        file_parameters=_file_parameters(meta),
        visible_to_model=_is_for_models(meta),
        visible_to_widget=_is_for_widgets(meta),
        invoking=_text(meta.get(INVOKING)),
        invoked=_text(meta.get(INVOKED)),
    )


def template_for(tool: Tool, result: ToolResult) -> str | None:
    """The address of what renders a result: the result's own, or else its tool's."""
    return _template(meta_of(result)) or _template(meta_of(tool))


def visible(tool: Any) -> bool:
    """Whether models may see the tool: ours, an SDK's, or an entry of a listing."""
    return _is_for_models(meta_of(tool))


def why_private(tool: Any) -> str | None:
    """Why models may not see the tool; `None` where they may."""
    meta = meta_of(tool)
    if _is_for_models(meta):
        return None
    said, audience = meta.get(VISIBILITY), _audience(meta)
    is_known = said == "private" if said not in _SHOWN else audience == [] or "app" in (audience or ())
    return PRIVATE if is_known else UNCLEAR


def is_private(why: str) -> bool:
    """Whether a tool that is left out for this reason is private."""
    return why in (PRIVATE, UNCLEAR)


def callers(tool: Any) -> frozenset[Caller]:
    """Who may call the tool beside the host, which may call every tool that passes its filters."""
    meta = meta_of(tool)
    both: tuple[tuple[Caller, bool], ...] = (("model", _is_for_models(meta)), ("widget", _is_for_widgets(meta)))
    return frozenset(caller for caller, may in both if may)


def meta_of(of: Any) -> Mapping[str, Any]:
    """The `_meta` of a tool, a result, or an entry of a listing; `meta` in SDKs, and in the dicts that they make."""
    if isinstance(of, Tool | ToolResult):
        return of.meta
    for name in ("_meta", "meta"):
        found = of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)
        if isinstance(found, Mapping) and found:
            return found
    return EMPTY


def _is_for_models(meta: Mapping[str, Any]) -> bool:
    if not meta:
        return True
    audience = _audience(meta)
    return meta.get(VISIBILITY) in _SHOWN and (audience is None or "model" in audience)


def _is_for_widgets(meta: Mapping[str, Any]) -> bool:
    """By MCP Apps where it is spoken, with its default; else by the Apps SDK, where widgets call nothing by default."""
    audience = _audience(meta)
    if audience is not None:
        return "app" in audience
    said = meta.get(WIDGET_ACCESSIBLE)
    return said if isinstance(said, bool) else isinstance(meta.get(UI), Mapping)


def _said_audience(meta: Mapping[str, Any]) -> Any:
    ui = meta.get(UI)
    return ui.get("visibility") if isinstance(ui, Mapping) else None


def _audience(meta: Mapping[str, Any]) -> Sequence[Any] | None:
    """Who may call; `None` where nothing is said, and nobody where it is said in no form that there is."""
    said = _said_audience(meta)
    if said is None:
        return None
    if isinstance(said, str):  # one word for a list of one: what is meant is plain
        return (said,)
    return said if isinstance(said, list | tuple) else ()


def _template(meta: Mapping[str, Any]) -> str | None:
    ui = meta.get(UI)
    nested = ui.get("resourceUri") if isinstance(ui, Mapping) else None
    return _text(nested) or _text(meta.get(FLAT_RESOURCE)) or _text(meta.get(OUTPUT_TEMPLATE))


def _file_parameters(meta: Mapping[str, Any]) -> tuple[str, ...]:
    said = meta.get(FILE_PARAMETERS)
    return tuple(dict.fromkeys(each for each in said if isinstance(each, str))) if isinstance(said, list) else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────


def without_meta(value: Any, depth: int = 0) -> Any:
    """A value that becomes text for a model, without any `_meta` in it. What lies deeper than anyone reads is cut."""
    if isinstance(value, Mapping):
        if depth >= MOST_NESTED:
            return "…"
        return {key: without_meta(each, depth + 1) for key, each in value.items() if key != META}
    if isinstance(value, list | tuple):
        return "…" if depth >= MOST_NESTED else [without_meta(each, depth + 1) for each in value]
    return value


def _parted(structured: Any) -> tuple[Any, Mapping[str, Any]]:
    """Structured content without a `_meta` at its top, and what stood there.

    It is there where a function returns a whole result as a dict and its SDK takes that for the structured content;
    what is no object to the SDK comes in an object with the one key `result`.
    """
    if not isinstance(structured, Mapping):
        return structured, EMPTY
    if list(structured) == ["result"] and isinstance(inner := structured["result"], Mapping) and META in inner:
        shown, meta = _parted(inner)
        return {"result": shown}, meta
    if META not in structured:
        return structured, EMPTY
    meta = structured[META]
    shown = {key: each for key, each in structured.items() if key != META}
    return shown, meta if isinstance(meta, Mapping) else {META: meta}


def _parted_text(text: str, structured: Any) -> tuple[str, Mapping[str, Any]]:
    """The same for a text that says the structured content again, or is itself a result that an SDK wrote as JSON. Any
    other text is for models as it is, whatever words are in it."""
    if f'"{META}"' not in text or text.lstrip()[:1] != "{":
        return text, EMPTY
    try:
        value = json.loads(text)
        if STRUCTURED not in value and structured not in (value, {"result": value}):
            return text, EMPTY
        shown, meta = _parted(value)
        return json.dumps(shown, ensure_ascii=False, indent=2 if "\n" in text else None), meta
    except (ValueError, RecursionError):
        return text, EMPTY


def for_models(content: Iterable[Content], structured: Any) -> tuple[tuple[Content, ...], Any, Mapping[str, Any]]:
    """What a result holds without a `_meta` that its server put among it, and that `_meta`, which is for hosts."""
    shown, moved = _parted(structured)
    kept: list[Content] = []
    for block in content:
        if isinstance(block, Text):
            text, meta = _parted_text(block.text, structured)
            block, moved = (block if text is block.text else Text(text)), {**meta, **moved}
        kept.append(block)
    return tuple(kept), shown, moved


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FileShape:
    """What a file parameter is in the schema: an object, or a list of them."""

    schema: Mapping[str, Any]
    many: bool

    @property
    def members(self) -> Mapping[str, Any]:
        held = self.schema.get("properties")
        return held if isinstance(held, Mapping) else EMPTY

    @property
    def takes_files(self) -> bool:
        """Whether the server lets `download_url` and `file_id` through."""
        return self.schema.get("additionalProperties") is not False or all(key in self.members for key in FILE_KEYS)


def file_shape(schema: Any, name: str) -> FileShape | None:
    """What a parameter at the top of a schema is; `None` where it is neither an object nor a list of objects."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    found = _plain(schema, properties.get(name)) if isinstance(properties, Mapping) else None
    if found is None:
        return None
    many = _is_of(found, "array")
    if many:
        found = _plain(schema, found.get("items"))
    if found is None or not (_is_of(found, "object") or ("type" not in found and "properties" in found)):
        return None
    return FileShape(found, many)


def say_files(schema: Any, names: Iterable[str]) -> tuple[Any, tuple[tuple[str, str | None], ...]]:
    """The schema with what each file parameter has to hold in its description; which ones, and what stood there.

    Nothing is said of what is no object, and of an object that would refuse a file; nor what its server says already.
    """
    said: list[tuple[str, str | None]] = []
    properties: dict[str, Any] | None = None
    for name in names:
        shape = file_shape(schema, name)
        if shape is None or not shape.takes_files:
            continue
        own = schema["properties"][name]
        before = _text(own.get("description"))
        if before is not None and all(key in before for key in FILE_KEYS):
            continue
        text = f"A list of files, each an object: {_FILE}" if shape.many else f"A file, as an object: {_FILE}"
        properties = dict(schema["properties"]) if properties is None else properties
        properties[name] = {**own, "description": text if before is None else f"{before.rstrip()} {text}"}
        said.append((name, before))
    return (schema if properties is None else {**schema, "properties": properties}), tuple(said)


def _is_of(schema: Mapping[str, Any], type: str) -> bool:
    said = schema.get("type")
    return said == type or (isinstance(said, list) and type in said)


def _plain(root: Mapping[str, Any], schema: Any) -> Mapping[str, Any] | None:
    """A property without what generators put around it: references into the definitions, `null` as another choice."""
    for _ in range(MOST_STEPS):
        if not isinstance(schema, Mapping):
            return None
        if isinstance(reference := schema.get("$ref"), str):
            schema = _defined(root, reference)
            continue
        choices = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(key), list)), None)
        if choices is None or "properties" in schema:
            return schema
        rest = [each for each in choices if not (isinstance(each, Mapping) and each.get("type") == "null")]
        if len(rest) != 1:
            return schema
        (schema,) = rest
    return None


def _defined(root: Mapping[str, Any], reference: str) -> Any:
    for place in ("$defs", "definitions"):
        held = root.get(place)
        if reference.startswith(f"#/{place}/") and isinstance(held, Mapping):
            return held.get(reference[len(place) + 3 :])
    return None
