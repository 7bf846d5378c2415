"""Approval policy: which calls a person must allow. Plain data and one rule; asking is the loop's business.

The operator decides, not the server: `read_only` counts a server's claim only where the operator says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from toolbridge.errors import ConfigError
from toolbridge.filters import read_selection
from toolbridge.mistakes import Wrong, inner, unknown
from toolbridge.types import Tool, ToolId


@dataclass(frozen=True, slots=True)
class Approval:
    """`default` for every tool, exceptions by name (their own, `server/name`, or a pattern of either);
    `never_read_only` lets tools pass that claim to only read, `never_additive` those too that claim to destroy nothing,
    `never_where_read_only` those of these names that claim to only read. What `always` names is asked about anyway.
    """

    default: Literal["always", "never"] = "always"
    always: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    never_read_only: bool = False
    never_additive: bool = False
    never_where_read_only: tuple[str, ...] = ()

    def why_asked(self, tool: Tool, *, trusted: bool = False) -> str | None:
        """The rule by which a person is asked about a call of this tool, in words; `None` where it may run.

        A tool without annotations is what the specification calls it: not read-only, destructive. The claim to only
        read counts where a setting says so, or where its server is `trusted`.
        """
        if is_named(self.always, tool.id):
            return "the settings ask about this tool"
        if is_named(self.never, tool.id):
            return None
        if tool.hints.read_only and (
            self.never_read_only or self.never_additive or trusted or is_named(self.never_where_read_only, tool.id)
        ):
            return None
        if self.default == "never":
            return None
        if tool.hints.read_only:
            return "its server says that it only reads, but is not trusted"
        if not tool.hints.destructive:
            return None if self.never_additive else "it changes things"
        if tool.hints.destructive_hint is None:
            return "it may change or delete things: its server does not say otherwise"
        return "it may delete or overwrite things"


def is_named(listed: Iterable[str], id: ToolId) -> bool:
    """Whether a tool is named in a list: by its own name, as server/name, or by a pattern of either."""
    names = (id.name, str(id))
    return any(name == each or fnmatchcase(name, each) for each in listed for name in names)


def read_require_approval(value: Any) -> Approval:
    """`require_approval`, as hosted servers and server files have it: `"always"`, `"never"`, or an object of the two
    with the tools that each is for; `None` is the default, to ask always. Raises `ConfigError` with every mistake."""
    problems: list[str] = []
    read = read_approval_at("require_approval", value, lambda key, text: problems.append(f"{key}: {text}"))
    if problems:
        raise ConfigError(problems)
    return read


def read_approval_at(key: str, value: Any, wrong: Wrong) -> Approval:
    """The policy in a value of such a key. A tool that neither half means is asked about."""
    if value is None or value == "always":
        return Approval()
    if value == "never":
        return Approval("never")
    if not isinstance(value, Mapping):
        wrong(key, f'{unknown(value)}; expected "always", "never", or an object of the two with "tool_names"')
        return Approval()
    for each in value:
        if each not in ("always", "never"):
            wrong(inner(key, str(each)), 'unknown key; expected "always" or "never"')
    always = read_selection(inner(key, "always"), value.get("always"), wrong)
    never = read_selection(inner(key, "never"), value.get("never"), wrong)
    if always.read_only is True:
        wrong(f"{key}.always.read_only", 'only "never" takes it: other tools are asked about anyway')
    elif always.read_only is False and always.names is not None:
        wrong(
            f"{key}.always.read_only", 'stands beside "tool_names", which is not understood here; give one of the two'
        )
    if never.read_only is False:
        wrong(f"{key}.never.read_only", "expected true: tools that do not only read are not let through by this claim")
    names = never.names or ()
    # A person is asked about everything that changes things: what else is named may run where it only reads.
    reads = never.read_only is True or always.read_only is False
    return Approval(
        "always",
        always=always.names or (),
        never=() if reads else names,
        never_read_only=never.read_only is True and never.names is None,
        never_where_read_only=names if reads else (),
    )
