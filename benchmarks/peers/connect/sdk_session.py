"""The bare session of the SDK: what everything else here is measured against."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

_whole: dict[str, Any] = {"__name__": "sdk_client"}
_file = Path(__file__).with_name("sdk_client.py")
exec(compile(_file.read_text(encoding="utf-8"), str(_file), "exec"), _whole)

PACKAGES = ("mcp", "httpx2")
WAY = "`ClientSession` over the SDK's own transports"


class Peer(_whole["Peer"]):
    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        session = self.clients[server].session
        return lambda: session.call_tool(tool, arguments)
