"""Whose word a call needs. The operator's settings decide; what a server claims of its tools counts where they say so.

The rule itself is `Approval.why_asked`; here is whose approval policy counts.
"""

from __future__ import annotations

from toolbridge.approval import Approval
from toolbridge.servers.spec import ServerSpec
from toolbridge.types import Tool


def why_asked(tool: Tool, spec: ServerSpec | None, host: Approval) -> str | None:
    """The rule by which a person is asked about a call of this tool, in words; `None` where it may run.

    `host` is the policy of whoever runs the loop: it counts where the server's operator has said nothing.
    """
    said = spec.approval if spec is not None else None
    approval = host if said is None else said
    return approval.why_asked(tool, trusted=spec is not None and spec.trust)
