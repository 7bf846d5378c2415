"""What a provider is: a frozen record of dialects, a name rule, limits and a few pure functions.

Two sides: definitions (`write_tool`, `write_fields`), and what is said (`read_event`, `read_reply`, `write_messages`,
`read_messages`), which is a wire format with this provider's rules and is loaded when it is first used.

Not a base class and not a plugin framework. Adding one is a module that ends in `PROVIDER = Provider(...)` and a line
in the registry; a vendor that resembles another is `replace(...)` of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from toolbridge.approval import Approval
from toolbridge.errors import HistoryError, UnsupportedError
from toolbridge.filters import MCPToolFilter
from toolbridge.names import NameRule
from toolbridge.notes import Converted
from toolbridge.schema.dialects import Dialect
from toolbridge.types import HostedServer, Message

if TYPE_CHECKING:
    from toolbridge.stream.events import Event, Reply
    from toolbridge.wire.talk import Talk

Wire: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StrictBudget:
    """What all strict tools of one request may hold together."""

    tools: int
    optionals: int | None = None
    unions: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a provider, where it is from, and the month it was checked."""

    what: str
    source: str
    checked: str


def _silent() -> Talk:
    raise UnsupportedError("this provider has definitions only")


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider."""

    name: str
    title: str
    dialect: Dialect
    names: NameRule
    write_tool: Callable[[str, str, Wire, bool], Wire]
    """(name, description, schema, strict) to the provider's own definition."""
    write_fields: Callable[[list[Wire], bool], Wire]
    """(definitions, strict asked for) to what is merged into the request body; never called with no definition."""
    write_instructions: Callable[[list[Wire]], str] | None = None
    """The definitions as words for the system message, for models that have no other place for them."""
    talk: Callable[[], Talk] = _silent
    """How it talks. A function, so that a conversion does not load it."""
    strict: Dialect | None = None
    """The dialect of strict definitions, where there are such."""
    strict_by_mode: bool = False
    """Whether strictness is a mode of the whole request, which `fields` then carries, and not of a definition."""
    strict_by_default: bool = False
    """Whether `strict=None` makes a tool strict where that costs it nothing."""
    strict_budget: StrictBudget | None = None
    most_tools: int | None = None
    longest_description: int | None = None
    write_hosted: Callable[[HostedServer, MCPToolFilter, Approval], Converted[Wire]] | None = None
    """A server that the provider itself connects to, as request fields."""
    write_deferred: Callable[[list[Wire], list[Wire]], Wire] | None = None
    """(definitions that are shown, definitions that are held back until its own search finds them) to request fields;
    at least one of each."""
    defers: re.Pattern[str] | None = None
    """The models that are known to search what is held back."""
    facts: tuple[Fact, ...] = ()
    origin: str = ""
    """Whose reasoning and signatures it takes back: its own name, unless it is another form of the same provider."""

    def read_event(self, event: Any) -> tuple[Event, ...]:
        """What one event of a stream says: a dict, the JSON text of one, or an object of the vendor's SDK.

        `ReplyReader` folds a whole stream.
        """
        from toolbridge.stream.plain import plain

        return tuple(self.talk().read_event(plain(event)))

    def read_reply(self, reply: Any) -> Reply:
        """A whole reply: a dict, its JSON text, or an object of the vendor's SDK."""
        from toolbridge.stream.assemble import Assembler
        from toolbridge.stream.plain import plain

        assembler = Assembler(self.origin or self.name)
        talk = self.talk()
        try:
            events = talk.read_reply(plain(reply))
        except RecursionError:
            raise HistoryError("the reply is nested too deeply to be read") from None
        if talk.sifter is not None:
            sifter = talk.sifter()
            events = [*sifter.feed(events), *sifter.close()]
        for event in events:
            assembler.feed(event)
        return assembler.reply()

    def write_messages(self, messages: Iterable[Message], *, model: str = "") -> Converted[Wire]:
        """The history as request fields that this provider accepts, and what had to change.

        The fields are merged into the request body, as those of the prepared tools are. `model` counts where models
        of one provider differ in what they take.
        """
        from toolbridge.history.turns import legal_turns

        talk = self.talk()
        rules = talk.rules_for(model)
        turns = legal_turns(tuple(messages), rules, self.origin or self.name, model)
        return Converted(talk.write(turns.value, rules), turns.notes)

    def read_messages(self, source: Any) -> Converted[tuple[Message, ...]]:
        """A history in this provider's form: a request body, its fields, the bare list of messages, SDK objects, or
        what `write_messages` gave."""
        from toolbridge.stream.plain import plain

        written = source.value if isinstance(source, Converted) else source
        try:
            return self.talk().read(plain(written), self.origin or self.name)
        except RecursionError:
            raise HistoryError("the history is nested too deeply to be read") from None
