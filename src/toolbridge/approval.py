"""Approval policy: which calls a person must allow. Plain data; asking is the loop's business.

The operator decides, not the server: `read_only` counts a server's claim only where the operator says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Approval:
    """`default` for every tool, exceptions by name (their own, `server/name`, or a pattern of either);
    `never_read_only` lets tools pass that claim to only read, `never_additive` those too that claim to destroy nothing.
    """

    default: Literal["always", "never"] = "always"
    always: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    never_read_only: bool = False
    never_additive: bool = False
