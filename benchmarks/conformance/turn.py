"""Waits until it is this process's turn, and becomes the command: the suite starts all its clients at once.

    python turn.py LOCK COMMAND...

Forty interpreters that load the SDK side by side overrun a small machine, and scenarios that measure time then measure
that. The lock goes with the process, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import sys

lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX)
os.set_inheritable(lock, True)
os.execv(sys.argv[2], sys.argv[2:])
