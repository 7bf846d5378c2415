"""Names: how a tool's identity is spelt for a provider, and how a property key is where a provider restricts keys.

A wire name is a spelling of an identity and is looked up, never parsed. What is legal is kept; what is not is spelt
as far as it can be, plus a digest of the identity. The spelling depends on the identity and the rule alone: not on
the order of listing, not on which other servers are up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolbridge.errors import MCPToolError
from toolbridge.types import ToolId

DIGEST_LENGTH = 8
"""Characters of digest in a spelling that had to change: 40 bits, so that 10,000 tools collide once in 20,000 tries."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a provider accepts as a name: a pattern, the longest length, and what may come first."""

    pattern: re.Pattern[str]
    length: int
    illegal: re.Pattern[str]
    """What a spelling replaces by an underscore."""
    first: re.Pattern[str] | None = None
    """What the first character must match, where the provider asks for more there."""
    with_server: bool = True
    """Whether a tool's server is spelt too. Small models stumble over long names; two tools that then spell alike get a
    digest each, as always."""

    def allows(self, name: str) -> bool:
        return len(name) <= self.length and self.pattern.fullmatch(name) is not None


def name_rule(characters: str, length: int, first: str | None = None) -> NameRule:
    """A rule of `length` characters out of a character class, the first one perhaps out of a smaller class."""
    head = f"[{first}][{characters}]*" if first else f"[{characters}]+"
    return NameRule(
        pattern=re.compile(head),
        length=length,
        illegal=re.compile(f"[^{characters}]+"),
        first=re.compile(f"[{first}]") if first else None,
    )


def digest(*parts: str) -> str:
    """A short, stable digest of an identity, in lower-case letters and digits."""
    from hashlib import blake2b  # few names need it

    whole = "".join(f"{len(part)}:{part}" for part in parts)  # the lengths tell ("a", "b") from ("ab", "")
    number = int.from_bytes(blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return "".join(_ALPHABET[(number >> (5 * i)) & 31] for i in range(DIGEST_LENGTH))


def spell(text: str, rule: NameRule, *identity: str) -> str:
    """`text` where the rule allows it, else as much of it as can be spelt and a digest of the identity."""
    if rule.allows(text):
        return text
    readable = rule.illegal.sub("_", text).strip("_")
    if rule.first is not None and not rule.first.match(readable):
        readable = "_" + readable
    kept = readable[: rule.length - DIGEST_LENGTH - 1].rstrip("_")
    return f"{kept or 't'}_{digest(*identity)}"


def wire_name(id: ToolId, rule: NameRule) -> str:
    """The spelling of a tool's identity: its own name where it has no server, else `mcp__server__tool`."""
    if not id.server or not rule.with_server:
        return spell(id.name, rule, id.server, id.name)
    whole = f"mcp__{id.server}__{id.name}"
    if "__" in id.server or id.server.endswith("_"):
        # Such a server could be cut in two places, and two identities must never share a spelling.
        return spell(whole + "\x00", rule, id.server, id.name)
    return spell(whole, rule, id.server, id.name)


def namespace_tool_name(tool_name: str, server_name: str, *, namespace: str = "mcp") -> str:
    """`{namespace}__{server}__{tool}`, with everything but ASCII letters and digits in the parts made an underscore.

    For people: two tools may share such a name, which is why routing looks wire names up instead.
    """
    server, tool = (_NOT_ALPHANUMERIC.sub("_", part) for part in (server_name, tool_name))
    return f"{namespace}__{server}__{tool}"


def parse_namespaced_name(namespaced: str) -> tuple[str, str, str]:
    """The `(namespace, server, tool)` of a namespaced name. For people; routing never parses a name."""
    namespace, _, rest = namespaced.partition("__")
    server, _, tool = rest.partition("__")
    if not (namespace and server and tool):
        raise MCPToolError(f"{namespaced!r} is not a namespaced tool name: expected namespace__server__tool")
    return namespace, server, tool


_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]")
