"""Recovery: when a server that failed is tried again, by itself and by a call.

Between a connection, which notes its failures here, and nothing else: it holds counts and times, and starts nothing.
"""

from __future__ import annotations

import random
import time

from toolbridge.failure import Failure

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 60.0
"""Between two attempts to start a server that fails: doubled each time, from the first to the longest."""

MOST_RESTARTS = 8
"""Attempts in a row that are made without being asked; a call still makes one."""

STEADY_SECONDS = 10.0
"""A connection that held this long was a good one: the pauses begin anew."""

_HOPELESS = frozenset({
    "not_found", "not_executable", "bad_cwd", "unauthorized", "forbidden", "tls", "no_mcp", "changed",
})  # fmt: skip
"""Causes that no second attempt mends: such a server is tried again when it is asked for, and not by itself."""


class Recovery:
    """The failures of one server in a row."""

    def __init__(self) -> None:
        self._failures = 0
        self._not_before = 0.0
        self._opened_at = 0.0

    def opened(self) -> None:
        """A connection stands."""
        self._opened_at = time.monotonic()

    @property
    def is_pausing(self) -> bool:
        """Whether a call, too, is answered with the last failure."""
        return time.monotonic() < self._not_before

    def failed(self, failure: Failure) -> float | None:
        """Note a failure. Returns after how many seconds to come back to it; `None`: not by itself."""
        opened_at, self._opened_at = self._opened_at, 0.0
        if opened_at and time.monotonic() - opened_at > STEADY_SECONDS:
            self._failures = 0
        self._failures += 1
        pause = min(FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1), LONGEST_PAUSE_SECONDS)
        pause *= random.uniform(0.8, 1.2)  # a hundred hubs must not come back in the same moment
        # A call need not wait after a loss, for the server may well be there again; only after attempts in vain.
        in_vain = not opened_at and self._failures > 1
        self._not_before = time.monotonic() + (pause if in_vain else 0.0)
        return pause if failure.cause not in _HOPELESS and self._failures <= MOST_RESTARTS else None
