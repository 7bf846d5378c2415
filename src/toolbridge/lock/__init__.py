"""The lock: what servers offered when somebody looked at it, kept, compared and told.

`surface` makes a tool its canonical form and digest, `lockfile` reads and writes the file, `compare` finds the changes,
`words` says them within an effort (`matching`), `judge` decides what of a server may still be used. Nothing here asks a
server: that is done above.
"""

from toolbridge.lock.compare import Change, compare, compare_server
from toolbridge.lock.judge import Verdict, judge
from toolbridge.lock.lockfile import LOCKFILE, lock_text, merged, read_lock, read_old_lock, write_lock
from toolbridge.lock.surface import Lock, LockedServer, LockedTool, lock_server
from toolbridge.lock.words import diff_lines, seen

__all__ = [
    "LOCKFILE", "Change", "Lock", "LockedServer", "LockedTool", "Verdict", "compare", "compare_server", "diff_lines",
    "judge", "lock_server", "lock_text", "merged", "read_lock", "read_old_lock", "seen", "write_lock",
]  # fmt: skip
