"""The command line: `toolbridge chat`, `tools`, `call` and the others that `group` lists.

Each command is a file of its own; it parses, calls the library, prints. This module is the frame around them: what
goes to which stream, and which exit code says what. It imports nothing heavy, so that an interrupt or a closed pipe is
met by `main` from the first moment on.

    0    done
    1    done in part: a server or a tool failed, there is no answer (`chat`), tools were left out (`convert`),
         something recorded could not be read or run (`replay`), tools break a rule (`lint`), or are not as they were
         locked (`verify`); stderr or the report says which, and why
    2    misuse: stderr says what is wrong, where, and what would be right, a line each; nothing is on stdout
    130  interrupted
    141  whoever read the output stopped reading
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

INTERRUPTED = 130
"""What shells report for a program that was ended by Ctrl-C."""

NOT_READ = 141
"""What shells report for a program whose reader went away."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave with its exit code."""
    try:
        _speak_utf8(sys.stdout, "utf-8")
        _speak_utf8(sys.stderr, None)
        from toolbridge.cli.group import run

        code = run(sys.argv[1:] if arguments is None else list(arguments))
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except KeyboardInterrupt:
        # Not by `sys.exit`: Python then ends itself by a signal where the interrupt came inside of an `exec`, and the
        # standard library has many.
        os._exit(INTERRUPTED)
    except OSError as failure:
        # Files are read by the library, which has errors of its own: what arrives here is a stream of ours.
        code = NOT_READ
        if failure.errno not in (errno.EPIPE, errno.EINVAL):  # Windows says EINVAL for a closed pipe
            code = 2
            print(f"toolbridge: the output cannot be written: {failure.strerror or failure}", file=sys.stderr)
        _forget_output()
    if "mcp" in sys.modules:
        # All is written and closed. To take apart what the SDK has loaded takes longer than most answers, and an
        # interrupt meanwhile would be the only one that is not met.
        os._exit(code)
    sys.exit(code)


def _speak_utf8(stream: TextIO | None, encoding: str | None) -> None:
    """Nothing that is printed may fail to be: what the encoding does not have is written as an escape.

    JSON is UTF-8 wherever it goes, and there an escape is also the right spelling of half a surrogate pair.
    """
    reconfigure = getattr(stream, "reconfigure", None)  # a stream that was put in place of the usual one may have none
    if reconfigure is not None:
        reconfigure(encoding=encoding, errors="backslashreplace")


def _forget_output() -> None:
    """What is still unwritten goes nowhere, so that the interpreter has nothing to complain about on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (AttributeError, OSError, ValueError):  # there is no such stream, or it is no file
            continue
