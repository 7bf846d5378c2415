"""Whose word a call needs. The operator's settings decide; what a server claims of its tools counts where they say so.

A tool without annotations is what the specification calls it: not read-only, destructive.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from toolbridge.approval import Approval
from toolbridge.servers.spec import ServerSpec
from toolbridge.types import Tool


def why_asked(tool: Tool, spec: ServerSpec | None, host: Approval) -> str | None:
    """The rule by which a person is asked about a call of this tool, in words; `None` where it may run.

    `host` is the policy of whoever runs the loop: it counts where the server's operator has said nothing.
    """
    said = spec.approval if spec is not None else None
    approval = host if said is None else said
    if _names(approval.always, tool):
        return "the settings ask about this tool"
    if _names(approval.never, tool):
        return None
    trusted = spec is not None and spec.trust
    if tool.hints.read_only and (approval.never_read_only or approval.never_additive or trusted):
        return None
    if approval.default == "never":
        return None
    if tool.hints.read_only:
        return "its server says that it only reads, but is not trusted"
    if not tool.hints.destructive:
        return None if approval.never_additive else "it changes things"
    if tool.hints.destructive_hint is None:
        return "it may change or delete things: its server does not say otherwise"
    return "it may delete or overwrite things"


def _names(listed: Iterable[str], tool: Tool) -> bool:
    """Whether a tool is named in a list: by its own name, as server/name, or by a pattern of either."""
    names = (tool.id.name, str(tool.id))
    return any(name == each or fnmatchcase(name, each) for each in listed for name in names)
