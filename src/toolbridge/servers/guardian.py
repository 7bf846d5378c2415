"""The guardian: a small process that ends our servers when we are gone without having ended them.

A server in its own process group hears nothing of our death by SIGKILL or by a crash, and one that ignores the end of
its input would live for ever. The guardian reads the groups that live from a pipe; when the pipe ends, so did we, and
it ends what is left. It is a shell script of a few lines, starts in about a millisecond, and is started with the first
process. On Windows there is none: there the SDK's job objects do the same.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys

_SCRIPT = """
trap '' HUP INT TERM
alive=" "
while read -r change group; do
  case $change in
    +) alive="$alive$group " ;;
    -) case $alive in *" $group "*) alive="${alive%%" $group "*} ${alive#*" $group "}" ;; esac ;;
  esac
done
for group in $alive; do kill -s TERM -- "-$group"; done
case $alive in *[0-9]*) sleep 2 ;; esac
for group in $alive; do kill -s KILL -- "-$group"; done
"""


class Guardian:
    """Knows which process groups live. Every method may be called at any time and never raises."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """This process group is ours; end it should we be gone."""
        if sys.platform == "win32":
            return
        if self._process is None:
            with contextlib.suppress(OSError):  # no shell: then our own close is all there is
                self._process = subprocess.Popen(
                    ["/bin/sh", "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
        self._tell("+", group)

    def forget(self, group: int) -> None:
        """This process group has ended; its number may be another's by now."""
        self._tell("-", group)

    def close(self) -> None:
        """End the guardian. It has nothing to do where every group was forgotten."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)

    def __del__(self) -> None:
        self.close()  # a hub whose event loop ended under it was never closed

    def _tell(self, change: str, group: int) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(f"{change} {group}\n".encode())
                self._process.stdin.flush()
