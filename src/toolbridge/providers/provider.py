"""What a provider is: a frozen record of dialects, a name rule, limits and a few pure functions.

Not a base class and not a plugin framework. Adding one is a module that ends in `PROVIDER = Provider(...)` and a line
in the registry; a vendor that resembles another is `replace(...)` of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolbridge.approval import Approval
from toolbridge.filters import MCPToolFilter
from toolbridge.names import NameRule
from toolbridge.notes import Converted
from toolbridge.schema.dialects import Dialect
from toolbridge.types import HostedServer

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


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider, definitions side."""

    name: str
    title: str
    dialect: Dialect
    names: NameRule
    write_tool: Callable[[str, str, Wire, bool], Wire]
    """(name, description, schema, strict) to the provider's own definition."""
    write_fields: Callable[[list[Wire], bool], Wire]
    """(definitions, strict asked for) to what is merged into the request body; never called with no definition."""
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
    facts: tuple[Fact, ...] = ()
