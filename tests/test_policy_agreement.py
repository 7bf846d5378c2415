"""`allowed_tools` and `require_approval` mean the same in the hub, in a run and in a hosted entry, or a note says not.

What a hosted entry means is read here by an oracle of its own, after what OpenAI documents: a filter means the tools
that meet all that it says; a tool that neither half of `require_approval` means is asked about; which half counts for a
tool that both mean is not documented.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from toolbridge import (
    Approval,
    HostedServer,
    MCPToolFilter,
    Note,
    ServerSpec,
    Tool,
    hosted_fields,
    read_config,
    read_tools,
)
from toolbridge.approval import read_require_approval
from toolbridge.errors import ConfigError
from toolbridge.filters import read_allowed_tools
from toolbridge.run.policy import why_asked

SERVER = HostedServer("docs", url="https://docs.example.com/mcp")
CLAIMS: dict[str, dict[str, Any]] = {
    "silent": {},
    "reads": {"readOnlyHint": True},
    "adds": {"readOnlyHint": False, "destructiveHint": False},
    "deletes": {"destructiveHint": True},
}
TOOLS = read_tools(
    [
        {"name": name, "inputSchema": {"type": "object"}, "annotations": claims}
        for name, claims in [
            *((f"read_{kind}", claims) for kind, claims in CLAIMS.items()),
            *((f"drop_{kind}", claims) for kind, claims in CLAIMS.items()),
        ]
    ],
    "docs",
)

ALLOWED: list[Any] = [
    None,
    ["read_reads", "drop_silent"],
    ["read_reads", "gone"],
    {"tool_names": ["read_reads", "read_adds"]},
    {"read_only": True},
    {"read_only": False},
    {"tool_names": ["read_reads", "read_adds", "drop_deletes"], "read_only": True},
    {"tool_names": ["read_reads", "read_adds", "drop_deletes"], "read_only": False},
    {},
]
REQUIRED: list[Any] = [
    None,
    "always",
    "never",
    {},
    {"never": {"tool_names": ["read_reads", "drop_adds"]}},
    {"never": {"read_only": True}},
    {"never": {"tool_names": ["read_reads", "drop_adds"], "read_only": True}},
    {"always": {"tool_names": ["drop_deletes"]}},
    {"always": {"tool_names": ["drop_deletes"]}, "never": {"tool_names": ["read_reads"]}},
    {"always": {"read_only": False}, "never": {"read_only": True}},
]

FILTERS = [
    MCPToolFilter(),
    MCPToolFilter(include=["*"]),
    MCPToolFilter(include=["read_*"]),
    MCPToolFilter(include=["read_*", "drop_adds"], exclude=["read_silent"]),
    MCPToolFilter(include=["read_reads", "drop_adds"], exclude=["drop_*"]),
    MCPToolFilter(exclude=["drop_deletes"]),
    MCPToolFilter(exclude=["drop_*"], read_only=True),
    MCPToolFilter(include=["read_reads"], read_only=False),
    MCPToolFilter(read_only=True),
]
APPROVALS = [
    Approval(),
    Approval("never"),
    Approval("never", never=("read_reads",), never_read_only=True),
    Approval("never", always=("drop_deletes",)),
    Approval("never", always=("drop_*",), never=("drop_adds",)),
    Approval("never", always=("drop_*",), never_read_only=True),
    Approval(never=("read_*",)),
    Approval(never=("docs/read_reads", "other/drop_adds")),
    Approval(never=("read_adds",), never_read_only=True),
    Approval(always=("read_*",), never=("read_adds", "drop_adds")),
    Approval(always=("read_reads",), never_read_only=True),
    Approval(always=("read_*",), never_read_only=True),
    Approval(always=("docs/*",), never=("read_adds",), never_read_only=True),
    Approval(never_additive=True),
    Approval(never_where_read_only=("read_reads", "drop_adds")),
    Approval(never_where_read_only=("read_*",)),
    Approval(never=("drop_adds",), never_where_read_only=("read_reads",)),
    Approval(always=("read_reads",), never_where_read_only=("read_*", "read_reads", "drop_reads")),
]


# ── what a hosted entry means ────────────────────────────────────────────────────────────────────────────────────


def selects(selection: Any, tool: Tool) -> bool:
    if isinstance(selection, list):
        return tool.id.name in selection
    names, claim = selection.get("tool_names"), selection.get("read_only")
    reads = tool.hints.read_only_hint is True
    return (names is None or tool.id.name in names) and (claim is None or claim is reads)


def openai_offers(entry: dict[str, Any], tool: Tool) -> bool:
    allowed = entry.get("allowed_tools")
    return allowed is None or selects(allowed, tool)


def openai_asks(entry: dict[str, Any], tool: Tool) -> bool | None:
    required = entry.get("require_approval")
    if required in (None, "always", "never"):
        return required != "never"
    always, never = (half in required and selects(required[half], tool) for half in ("always", "never"))
    return None if always and never else not never


def anthropic_offers(fields: dict[str, Any], tool: Tool) -> bool:
    (toolset,) = fields["tools"]
    default = toolset.get("default_config", {}).get("enabled", True)
    enabled: bool = toolset.get("configs", {}).get(tool.id.name, {}).get("enabled", default)
    return enabled


# ── the agreement ────────────────────────────────────────────────────────────────────────────────────────────────


def disagreements(
    allowed: MCPToolFilter, approval: Approval, entry: dict[str, Any], notes: tuple[Note, ...]
) -> Iterator[str]:
    """Tools for which the entry means something else and no note of that direction says so."""
    effects = {(note.code.partition(".")[0], note.effect) for note in notes}
    passed = allowed.apply(TOOLS)
    spec = ServerSpec("docs", url=SERVER.url, approval=approval)
    for tool in TOOLS:
        here, there = tool in passed, openai_offers(entry, tool)
        if here != there and ("filter", "widened" if there else "narrowed") not in effects:
            yield f"{tool.id}: offered here {here}, there {there}"
        asked, asks = why_asked(tool, spec, Approval()) is not None, openai_asks(entry, tool)
        if asked == asks or not here:
            continue
        direction = "changed" if asks is None else "narrowed" if asks else "widened"
        if ("approval", direction) not in effects:
            yield f"{tool.id}: asked here {asked}, there {asks}"


def test_the_shapes_of_hosted_entries_mean_here_what_they_mean_there() -> None:
    for raw_allowed, raw_required in product(ALLOWED, REQUIRED):
        entry = {"allowed_tools": raw_allowed, "require_approval": raw_required}
        allowed, approval = read_allowed_tools(raw_allowed), read_require_approval(raw_required)
        assert [*disagreements(allowed, approval, entry, ())] == [], entry
        written = hosted_fields(SERVER, "openai-responses", filter=allowed, approval=approval)
        (again,) = written.value["tools"]
        assert [*disagreements(allowed, approval, again, ())] == [], entry
        assert written.notes == ()


@pytest.mark.parametrize("raw_allowed", ALLOWED, ids=repr)
@pytest.mark.parametrize("raw_required", REQUIRED, ids=repr)
def test_a_configuration_reads_them_as_the_library_does(raw_allowed: Any, raw_required: Any) -> None:
    server = {"url": SERVER.url, "allowed_tools": raw_allowed, "require_approval": raw_required}
    (spec,) = read_config({"mcpServers": {"docs": server}})
    assert spec.filter == read_allowed_tools(raw_allowed)
    assert (spec.approval or Approval()) == read_require_approval(raw_required)


def test_what_an_openai_entry_cannot_say_is_noted_and_nothing_is_let_through_by_it() -> None:
    for allowed, approval in product(FILTERS, APPROVALS):
        written = hosted_fields(SERVER, "openai-responses", filter=allowed, approval=approval)
        (entry,) = written.value["tools"]
        assert [*disagreements(allowed, approval, entry, written.notes)] == [], (allowed, approval, entry)
        assert ("approval", "widened") not in {(n.code.partition(".")[0], n.effect) for n in written.notes}


def test_with_the_tools_at_hand_an_entry_says_everything_and_private_tools_are_kept_out() -> None:
    secret = read_tools([{"name": "read_secret", "_meta": {"openai/visibility": "private"}}], "docs")[0]
    foreign = read_tools([{"name": "drop_silent"}], "other")[0]
    for allowed, approval in product(FILTERS, APPROVALS):
        known = [*TOOLS, secret, foreign]
        written = hosted_fields(SERVER, "openai-responses", filter=allowed, approval=approval, tools=known)
        (entry,) = written.value["tools"]
        assert written.notes == ()
        assert [*disagreements(allowed, approval, entry, ())] == [], (allowed, approval, entry)
        assert not openai_offers(entry, secret)
        fields = hosted_fields(SERVER, "anthropic", filter=allowed, approval=approval, tools=known)
        assert [each for each in (*TOOLS, secret) if anthropic_offers(fields.value, each)] == allowed.apply(TOOLS)


@pytest.mark.parametrize("provider", ["openai-responses", "anthropic", "gemini", "gemini-openapi"])
@pytest.mark.parametrize("known", [[], read_tools([{"name": "read_reads"}, {"name": "drop_silent"}], "elsewhere")])
def test_where_no_tool_of_the_server_is_known_filter_and_policy_stay_as_they_are(
    provider: str, known: list[Tool]
) -> None:
    unknown = Note("tools.unknown", "widened", "", "docs")
    for allowed, approval in product(FILTERS, APPROVALS):
        given = hosted_fields(SERVER, provider, filter=allowed, approval=approval)
        written = hosted_fields(SERVER, provider, filter=allowed, approval=approval, tools=known)
        assert (written.value, written.notes) == (given.value, (unknown, *given.notes))


def test_a_tool_that_comes_later_is_asked_about_unless_nothing_is() -> None:
    later = read_tools([{"name": "read_later", "annotations": {"readOnlyHint": True}}], "docs")[0]
    for approval in APPROVALS:
        (entry,) = hosted_fields(SERVER, "openai-responses", approval=approval, tools=TOOLS).value["tools"]
        assert openai_asks(entry, later) is not (approval.default == "never" and not approval.always)


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "gemini-openapi"])
def test_where_a_provider_asks_for_nothing_the_note_says_so(provider: str) -> None:
    for approval in APPROVALS:
        written = hosted_fields(SERVER, provider, approval=approval)
        asked = [tool for tool in TOOLS if approval.why_asked(tool) is not None]
        noted = [note for note in written.notes if (note.code, note.effect) == ("approval.dropped", "widened")]
        assert not asked or len(noted) == 1


def test_anthropics_entry_offers_what_the_filter_lets_pass_or_a_note_says_what_not() -> None:
    for allowed in FILTERS:
        written = hosted_fields(SERVER, "anthropic", filter=allowed, approval=Approval("never"))
        effects = {note.effect for note in written.notes}
        passed = allowed.apply(TOOLS)
        for tool in TOOLS:
            here, there = tool in passed, anthropic_offers(written.value, tool)
            assert here == there or ("widened" if there else "narrowed") in effects, (allowed, tool.id)


# ── mistakes ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ("search", ["allowed_tools: a string; expected a list of names of tools"]),
        ([], ["allowed_tools: is empty; leave it out to offer every tool"]),
        ({"tool_names": []}, ["allowed_tools: is empty; leave it out to offer every tool"]),
        (
            {"names": ["a"], "read_only": "yes"},
            [
                'allowed_tools.names: unknown key; expected "tool_names" or "read_only"',
                "allowed_tools.read_only: a string; expected true or false",
            ],
        ),
        (["a", "", 3], ["allowed_tools[1]: empty; expected the name of a tool", "allowed_tools[2]: a number; expected the name of a tool"]),
    ],
)  # fmt: skip
def test_every_mistake_in_allowed_tools_is_told(value: Any, problems: list[str]) -> None:
    with pytest.raises(ConfigError) as raised:
        read_allowed_tools(value)
    assert list(raised.value.problems) == problems


BESIDE = 'stands beside "tool_names", which is not understood here; give one of the two'


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("sometimes", 'require_approval: an unknown word; expected "always", "never", or an object of the two with "tool_names"'),
        (["always"], 'require_approval: a list; expected "always", "never", or an object of the two with "tool_names"'),
        ({"ever": []}, 'require_approval.ever: unknown key; expected "always" or "never"'),
        ({"never": "a"}, "require_approval.never: a string; expected a list of names of tools"),
        ({"always": {"read_only": True}}, 'require_approval.always.read_only: only "never" takes it: other tools are asked about anyway'),
        ({"always": {"tool_names": ["a"], "read_only": False}}, f"require_approval.always.read_only: {BESIDE}"),
        ({"never": {"read_only": False}}, "require_approval.never.read_only: expected true: tools that do not only read are not let through by this claim"),
    ],
)  # fmt: skip
def test_every_mistake_in_require_approval_is_told(value: Any, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_require_approval(value)
    assert list(raised.value.problems) == [problem]


def test_what_changes_things_is_asked_about_where_always_says_so_though_never_names_it() -> None:
    approval = read_require_approval(
        {"always": {"read_only": False}, "never": {"tool_names": ["read_reads", "drop_adds"]}}
    )
    assert [tool.id.name for tool in TOOLS if approval.why_asked(tool) is None] == ["read_reads"]


def test_an_object_without_names_in_it_lets_nothing_through() -> None:
    assert read_require_approval({"never": {}}) == Approval()
    assert read_require_approval({"never": {"tool_names": []}}) == Approval()
