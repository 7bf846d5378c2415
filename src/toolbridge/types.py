"""The central values: tools, calls, results and their parts, as plain frozen data.

Nothing here knows MCP's wire models or any provider's. Two values with equal content are equal; none holds a
connection. The left bank (servers) makes `Tool` and `ToolResult`, the right bank (providers) makes `ToolCall`, and
`prepare` joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from toolbridge.notes import Note

Schema: TypeAlias = Mapping[str, Any]
JsonObject: TypeAlias = dict[str, Any]


class _Empty(Mapping[str, Any]):
    """An empty mapping that stays empty, and that can be copied and pickled with what it stands in."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __reduce__(self) -> str:
        return "EMPTY"


EMPTY: Mapping[str, Any] = _Empty()


def _empty() -> Mapping[str, Any]:
    return EMPTY


@dataclass(frozen=True, slots=True)
class ToolId:
    """What a tool *is*: the server that offers it and the name that server gave it."""

    server: str
    name: str

    def __str__(self) -> str:
        return f"{self.server}/{self.name}" if self.server else self.name


@dataclass(frozen=True, slots=True)
class ToolHints:
    """What the server claims about side effects: claims, not facts. `None` is a claim not made.

    The properties read a missing claim as the MCP specification does: not read-only, destructive, not idempotent,
    open world.
    """

    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None

    @property
    def read_only(self) -> bool:
        return self.read_only_hint is True

    @property
    def destructive(self) -> bool:
        return not self.read_only and self.destructive_hint is not False

    @property
    def idempotent(self) -> bool:
        return self.read_only or self.idempotent_hint is True

    @property
    def open_world(self) -> bool:
        return self.open_world_hint is not False


NO_HINTS = ToolHints()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as its server describes it. The schemas are the server's own, untouched.

    `problem` is set where an entry of a tool list cannot be a tool (no name, not an object): `prepare` leaves it out
    and says so.
    """

    id: ToolId
    description: str
    input_schema: Schema
    output_schema: Schema | None = None
    title: str | None = None
    hints: ToolHints = NO_HINTS
    meta: Mapping[str, Any] = field(default_factory=_empty)
    icons: tuple[Mapping[str, Any], ...] = ()
    problem: str | None = None
    unread: Mapping[str, Any] = field(default_factory=_empty)
    """What else the server's entry holds, by its keys: what no field stands for, and values that a field cannot hold;
    under `annotations` what is no hint, or none that can be."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model asked for, as it asked."""

    id: str
    name: str
    """The wire name; `PreparedTools` knows which tool it is."""
    text: str
    """The argument text exactly as it came."""
    arguments: JsonObject | None
    """`None` when the text is not a JSON object; `problem` says why."""
    problem: str | None = None
    opaque: Mapping[str, Any] = field(default_factory=_empty, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Text:
    """Text in a message or a result.

    `opaque`, here and on other parts, is what the model's provider put beside it and wants back as it was: signatures,
    item ids. `Message.origin` says whose it is; no other provider gets to see it.
    """

    text: str
    opaque: Mapping[str, Any] = field(default_factory=_empty, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Image:
    """An image: base64 data and its MIME type."""

    data: str
    mime_type: str
    opaque: Mapping[str, Any] = field(default_factory=_empty, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Audio:
    """A sound: base64 data and its MIME type."""

    data: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource sent along: its text, or its base64 `blob`."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """A resource named and not sent."""

    uri: str
    name: str = ""
    mime_type: str | None = None
    description: str | None = None


FailureKind: TypeAlias = Literal["unknown_tool", "refused", "unavailable", "outcome_unknown", "timed_out", "protocol"]
"""`unknown_tool`: no such tool; `refused`: the operator's filter or lock does not let it through; `unavailable`: the
server is down and the call was not sent; `outcome_unknown`: it was sent, and whether it ran nobody can say;
`timed_out`: it was cancelled after its time; `protocol`: the server answered with an error of the protocol, or with
nonsense."""

Content: TypeAlias = Text | Image | Audio | Resource | ResourceLink


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call. `meta` is for hosts and is never shown to a model."""

    call_id: str
    content: tuple[Content, ...] = ()
    structured: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=_empty)
    notes: tuple[Note, ...] = ()
    failure: FailureKind | None = None
    """Where not the tool failed but the way to it: what kind of failure, for programs. The text is for the model."""

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


def failed(call_id: str, kind: FailureKind, text: str) -> ToolResult:
    """A call that did not come to a result of its tool: the text is for the model."""
    return ToolResult(call_id, (Text(text),), is_error=True, failure=kind)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a model thought, as far as its provider shows it. Replayed to its origin, byte for byte, or not at all."""

    text: str = ""
    opaque: Mapping[str, Any] = field(default_factory=_empty, repr=False, hash=False)
    """What makes it acceptable again: a signature, an encrypted item."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A part that only its provider understands (a hosted search, a file by its id): kept for it whole."""

    kind: str
    """The provider's own word for it."""
    opaque: Mapping[str, Any] = field(default_factory=_empty, repr=False, hash=False)
    """The part as it stands on the wire."""


Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Part: TypeAlias = Content | Reasoning | Foreign | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, of no provider in particular. A history is a sequence of these.

    Calls stand in messages of the assistant, results in messages of the role `tool`.
    """

    role: Role
    parts: tuple[Part, ...]
    origin: str = ""
    """The provider whose model said it: the only one that gets its reasoning and its opaque values back."""
    model: str = ""

    @classmethod
    def system(cls, *parts: str | Content) -> Message:
        return cls("system", _parts(parts))

    @classmethod
    def user(cls, *parts: str | Content) -> Message:
        return cls("user", _parts(parts))

    @classmethod
    def assistant(cls, *parts: str | Part) -> Message:
        return cls("assistant", _parts(parts))

    @classmethod
    def results(cls, *results: ToolResult) -> Message:
        return cls("tool", tuple(results))

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def _parts(parts: tuple[str | Part, ...]) -> tuple[Part, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call that was understood: the tool, and arguments that the server's own schema accepts."""

    call: ToolCall
    tool: Tool
    arguments: JsonObject
    notes: tuple[Note, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ServerResource:
    """A resource, or a template of resources, that a server lists."""

    server: str
    uri: str
    """The address; with `{names}` in it where `template` is set."""
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    template: bool = False


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """A value that a prompt takes."""

    name: str
    description: str | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """A prompt that a server lists."""

    server: str
    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message of a prompt."""

    role: Literal["user", "assistant"]
    content: Content


@dataclass(frozen=True, slots=True)
class HostedServer:
    """A remote MCP server that a provider connects to by itself."""

    name: str
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=_empty, repr=False)
    """Sent with every request of the provider to the server; may hold secrets, and is never shown."""
    authorization: str | None = field(default=None, repr=False)
    """An OAuth access token; never shown."""
    description: str | None = None
    connector_id: str | None = None
    tunnel_id: str | None = None
    defer_loading: bool = False
