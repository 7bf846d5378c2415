"""Rules for `_meta`: what each finds beyond its example, where, and in which words."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolbridge.lint.linting import lint_tools
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.subject import ServerFacts
from toolbridge.tools import read_tools

PAGE = "ui://maps/map.html"
FILE: dict[str, Any] = {
    "type": "object",
    "properties": {"download_url": {"type": "string"}, "file_id": {"type": "string"}},
    "required": ["download_url", "file_id"],
}
RENDERED = "text/html;profile=mcp-app"


def found(
    meta: Any, schema: Any = None, resources: dict[str, str | None] | None = None
) -> list[tuple[str, str, str, str]]:
    tools = read_tools([{"name": "show_map", "inputSchema": schema or {"type": "object"}, "_meta": meta}])
    facts = {"": ServerFacts(resources=resources)}
    report = lint_tools(tools, settings=LintSettings(select=("app",)), servers=facts)
    return [(each.rule, each.severity, each.path, each.message) for each in report.findings]


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"fastmcp": {"tags": []}},
        {"openai/visibility": "public", "openai/widgetAccessible": False},
        {"openai/outputTemplate": PAGE, "ui": {"resourceUri": PAGE, "visibility": ["model", "app"]}},
        {"ui": {"resourceUri": PAGE}, "ui/resourceUri": PAGE},
        {"ui": {"visibility": ["app"]}},
        {"openai/visibility": "private", "ui": {}},
        {"openai/toolInvocation/invoking": "x" * 64, "openai/toolInvocation/invoked": "Done"},
        {"openai/widgetCSP": {}, "openai/resultCanProduceWidget": True, "openai/somethingNew": 1},
        {"com.example.tools/x": 1, "example/": 1, "a": 1, "a-b.c_d": 1, "io.kubernetes-mcp-server/rbac": {}},
    ],
)
def test_what_is_right_passes(meta: Any) -> None:
    assert found(meta, resources={PAGE: RENDERED}) == []


@pytest.mark.parametrize(
    ("meta", "rule", "path", "message"),
    [
        ({"openai/visibility": "Private"}, "app.visibility", "/_meta/openai~1visibility",
         'openai/visibility is "Private", which hosts may read as "public"; use "public" or "private"'),
        ({"openai/visibility": None}, "app.visibility", "/_meta/openai~1visibility",
         'openai/visibility is null, which hosts may read as "public"; use "public" or "private"'),
        ({"ui": "x"}, "app.visibility", "/_meta/ui", 'ui is "x", and has to be an object'),
        ({"ui": {"visibility": "app"}}, "app.visibility", "/_meta/ui/visibility",
         'ui.visibility is "app"; use a list of "model" and "app"'),
        ({"ui": {"visibility": []}}, "app.visibility", "/_meta/ui/visibility",
         'ui.visibility is empty: nobody may call the tool; list "model", "app" or both'),
        ({"ui": {"visibility": ["model", "user"]}}, "app.visibility", "/_meta/ui/visibility",
         'ui.visibility has "user"; "model" and "app" are all there is'),
        ({"openai/visibility": "private"}, "app.private-without-widget", "/_meta/openai~1visibility",
         "the tool is private and no widget may call it either; set openai/widgetAccessible to true"),
        ({"openai/widgetAccessible": "true"}, "app.widget-accessible", "/_meta/openai~1widgetAccessible",
         'openai/widgetAccessible is "true"; use true or false'),
        ({"openai/outputTemplate": ["x"]}, "app.template", "/_meta/openai~1outputTemplate",
         'openai/outputTemplate is ["x"], and has to be an address that begins with ui://'),
        ({"ui": {"resourceUri": "ui:///"}}, "app.template", "/_meta/ui/resourceUri",
         'ui.resourceUri is "ui:///", and has to be an address that begins with ui://'),
        ({"ui": {"resourceUri": PAGE}, "openai/outputTemplate": "ui://b"}, "app.template", "/_meta",
         'ui.resourceUri is "ui://maps/map.html" and openai/outputTemplate is "ui://b": hosts show one or the other; '
         "give one address"),
        ({"ui/resourceUri": PAGE}, "app.template-key", "/_meta/ui~1resourceUri",
         "ui/resourceUri is the old spelling; write resourceUri inside of ui, or both"),
        ({"openai/toolInvocation/invoked": 3}, "app.status-text", "/_meta/openai~1toolInvocation~1invoked",
         "openai/toolInvocation/invoked is 3, and has to be a text"),
        ({"openai/toolInvocation/invoking": "x" * 65}, "app.status-text", "/_meta/openai~1toolInvocation~1invoking",
         "openai/toolInvocation/invoking has 65 characters; hosts show 64"),
        ({"openai/Visibility": "private"}, "app.unknown-key", "/_meta/openai~1Visibility",
         '"openai/Visibility" is no key that hosts know; did you mean openai/visibility?'),
        ({"openai.com/outputTemplate": PAGE}, "app.unknown-key", "/_meta/openai.com~1outputTemplate",
         '"openai.com/outputTemplate" is no key that hosts know; did you mean openai/outputTemplate?'),
        ({"openai/fileParam": ["a"]}, "app.unknown-key", "/_meta/openai~1fileParam",
         '"openai/fileParam" is no key that hosts know; did you mean openai/fileParams?'),
        ({"ui": {"resourceURI": PAGE}}, "app.unknown-key", "/_meta/ui/resourceURI",
         "ui.resourceURI is no key that hosts know; did you mean resourceUri?"),
        ({"ui": {"csp": {}, "domain": "x"}}, "app.resource-key", "/_meta/ui",
         "a tool's ui has no csp and no domain; hosts read that of the resource's own _meta"),
        ({"-x": 1}, "app.meta-key", "/_meta/-x",
         'the key "-x" is not formed as the specification asks: letters and digits, with . _ - between them, after a '
         "prefix of labels and a slash or none"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_once_with_its_place(meta: Any, rule: str, path: str, message: str) -> None:
    assert [(each[0], *each[2:]) for each in found(meta)] == [(rule, path, message)]


@pytest.mark.parametrize("key", ["9x.com/a", "a_b/c", "x/y/z", "x/-a", "a b", "é", "", "x./a", "a/b\n"])
def test_keys_that_are_not_formed_as_the_specification_asks_are_remarked_on(key: str) -> None:
    expected = [] if key == "" else ["app.meta-key"]  # an empty name is a legal one
    assert [each[0] for each in found({key: 1})] == expected


# ── live ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_template_that_the_server_does_not_have_is_found_where_the_server_is_live() -> None:
    meta = {"ui": {"resourceUri": PAGE}, "openai/outputTemplate": PAGE}
    assert found(meta) == []
    assert found(meta, resources={"ui://maps/maps.html": RENDERED}) == [
        (
            "app.template-missing",
            "error",
            "/_meta/ui/resourceUri",
            'the server has no resource "ui://maps/map.html", so hosts have nothing to show; '
            'did you mean "ui://maps/maps.html"?',
        )
    ]
    assert [each[0] for each in found(meta, resources={})] == ["app.template-missing"]
    assert found({"openai/outputTemplate": "https://x"}, resources={})[0][0] == "app.template"


@pytest.mark.parametrize(
    ("mime_type", "told"),
    [
        (RENDERED, None),
        ("text/html; profile=mcp-app", None),
        ("text/html+skybridge", None),
        ("text/html", 'is "text/html"'),
        (None, "has no MIME type"),
    ],
)
def test_a_template_has_a_type_that_hosts_render(mime_type: str | None, told: str | None) -> None:
    rendered = "hosts render text/html;profile=mcp-app (or text/html+skybridge)"
    expected = (
        "app.template-type", "warning", "/_meta/ui/resourceUri", f'the resource "{PAGE}" {told}; {rendered}',
    )  # fmt: skip
    assert found({"ui": {"resourceUri": PAGE}}, resources={PAGE: mime_type}) == ([] if told is None else [expected])


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────

IMAGE = "/inputSchema/properties/image"
NAMED = "/_meta/openai~1fileParams"


@pytest.mark.parametrize(
    ("image", "root"),
    [
        (FILE, {}),
        ({"type": "array", "items": FILE}, {}),
        ({"$ref": "#/$defs/File"}, {"$defs": {"File": FILE}}),
        ({"anyOf": [{"$ref": "#/$defs/File"}, {"type": "null"}]}, {"$defs": {"File": FILE}}),
        ({**FILE, "properties": {**FILE["properties"], "mime_type": {"type": "string"}}}, {}),
        ({**FILE, "properties": {"download_url": {"type": ["string", "null"]}, "file_id": {}}}, {}),
    ],
)
def test_a_file_of_the_right_shape_passes(image: Any, root: Any) -> None:
    schema = {"type": "object", "properties": {"image": image}, **root}
    assert found({"openai/fileParams": ["image"]}, schema) == []


@pytest.mark.parametrize(
    ("names", "image", "path", "message"),
    [
        ("image", FILE, NAMED, 'openai/fileParams is "image", and has to be a list of names of parameters'),
        (["image", 3], FILE, NAMED, 'openai/fileParams is ["image",3], and has to be a list of names of parameters'),
        (["imgae"], FILE, NAMED, 'openai/fileParams names "imgae", which is no parameter; did you mean "image"?'),
        (["options.file"], FILE, NAMED,
         'openai/fileParams names "options.file", which is no parameter; only parameters at the top can be files'),
        (["image"], {"type": "string"}, IMAGE, '"image" is a file, and has to be an object with download_url and file_id'),
        (["image"], {"type": "array", "items": {"type": "string"}}, IMAGE,
         '"image" is a file, and has to be an object with download_url and file_id'),
        (["image"], {"type": "object"}, IMAGE,
         '"image" is a file and declares no download_url and no file_id; declare them as strings'),
        (["image"], {"type": "object", "properties": {"download_url": {"type": "string"}}}, IMAGE,
         '"image" is a file and declares no file_id; declare them as strings'),
        (["image"], {**FILE, "properties": {**FILE["properties"], "file_id": {"type": "integer"}}}, IMAGE,
         'file_id of the file "image" is "integer"; hosts send a string'),
        (["image"], {**FILE, "required": ["download_url", "mime_type", "size"]}, IMAGE,
         'the file "image" requires "mime_type", "size", which a host need not send; make them optional'),
    ],
)  # fmt: skip
def test_a_file_of_another_shape_is_found(names: Any, image: Any, path: str, message: str) -> None:
    schema = {"type": "object", "properties": {"image": image}}
    assert found({"openai/fileParams": names}, schema) == [("app.file-params", "error", path, message)]


# ── hostile input ────────────────────────────────────────────────────────────────────────────────────────────────


def test_hostile_meta_costs_little_and_breaks_nothing() -> None:
    circle: dict[str, Any] = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    nested: Any = "x"
    for _ in range(300):
        nested = [nested]
    hostile: list[tuple[Any, Any]] = [
        ({"openai/visibility": nested, "ui": nested, "openai/fileParams": nested}, None),
        ({"openai/fileParams": [f"p{i}" for i in range(50_000)]}, {"properties": {f"q{i}": {} for i in range(5_000)}}),
        ({"openai/fileParams": ["a"]}, {**circle, "properties": {"a": {"$ref": "#/$defs/a"}}}),
        ({"openai/fileParams": ["a"]}, {"properties": {"a": {"type": "object", "required": [{}], "properties": 3}}}),
        ({"openai/fileParams": ["a"]}, {"properties": {"a": {"type": {}, "anyOf": [[], 3]}}}),
        ({"openai/" + "outputTemplat" * 50_000: 1, "a-" * 500_000: 1, ".a" * 100_000 + "/x": 1}, None),
        ({"openai/outputTemplate": "ui://" + "\u202e\ud800" * 10_000, "ui": {"visibility": ["\x1b[2J"]}}, None),
        ({"ui": {"visibility": [{}, [], "x" * 1_000_000]}, "openai/toolInvocation/invoking": "x" * 1_000_000}, None),
    ]
    resources: dict[str, str | None] = {f"ui://{i}/{'x' * 150}": None for i in range(5_000)}
    start = time.process_time()
    for meta, schema in hostile:
        for _, _, _, message in found(meta, schema, resources):
            assert message.isprintable()
            assert len(message) < 500
    assert time.process_time() - start < 10
