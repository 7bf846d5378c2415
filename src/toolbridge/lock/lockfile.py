"""The lockfile: a `Lock` as JSON that people read in reviews, and back.

Sorted, indented, one block a tool, every hidden character as an escape. Each tool has the digest of its content, each
server one, and one stands over the whole: they find a file that was edited, merged or damaged. They are no signature:
who may write the file decides what is locked. Reading opens the file that is named, and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from toolbridge.errors import ConfigError
from toolbridge.lock.surface import IDENTITY, UNLOCKABLE, Lock, LockedServer, LockedTool
from toolbridge.lock.words import seen

LOCKFILE = "toolbridge.lock"
"""The name that is looked for."""

VERSION = 1
"""Of the file's shape."""

KEY = "toolbridge-lock"
"""The key of the version: it says whose file this is."""

LARGEST_BYTES = 256 * 1024 * 1024
"""A lock of 1,000 tools has some 4 MB."""

AGAIN = "lock anew with 'toolbridge lock'"

_CONFLICT = re.compile(rb"^(?:<{7}|>{7}|\|{7}) ", re.MULTILINE)

_OURS = re.compile(rb'"toolbridge-lock": ?([0-9]{1,9})\b')

_FIELDS = ("title", "description", "inputSchema", "outputSchema", "annotations", "_meta", *UNLOCKABLE)
"""The content of a tool, in the order of the file: what is read first in a review stands first."""


def lock_text(lock: Lock) -> str:
    """The file's text."""
    document = {
        KEY: VERSION,
        "digest": lock.digest,
        "servers": {name: _server(each) for name, each in sorted(lock.servers.items())},
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # Whatever is inside of a text: the layout itself is printable.
    return "\n".join(map(seen, text.split("\n"))) + "\n"


def write_lock(lock: Lock, path: str | os.PathLike[str]) -> None:
    """Write the file; it is there whole, or as it was. Raises `ConfigError` where it cannot be written."""
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            part.write_text(lock_text(lock), encoding="utf-8", newline="\n")
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        reason = (problem.strerror or "cannot be written").lower()
        raise ConfigError([f"{path}: the lock cannot be written: {reason}"]) from None


def read_lock(path: str | os.PathLike[str]) -> Lock:
    """The lock of a file. Raises `ConfigError` with one line: what is wrong with it, and what to do."""
    try:
        content = _content(path)
    except FileNotFoundError:
        raise ConfigError([f"{path}: there is no lock; make one with 'toolbridge lock'"]) from None
    except (OSError, ValueError) as problem:
        reason = (getattr(problem, "strerror", None) or "cannot be read").lower()
        raise ConfigError([f"{path}: the lock cannot be read: {reason}"]) from None
    lock = read_lock_text(content, str(path))
    return Lock(lock.servers, os.path.dirname(os.path.abspath(path)))


def _content(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. A pipe is not opened: there may never be anything in it."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise ConfigError([f"{path}: the lock cannot be read: it is no regular file"])
    if found.st_size > LARGEST_BYTES:
        raise ConfigError([f"{path}: is too large to be a lock"])
    return Path(path).read_bytes()


def read_lock_text(content: bytes, where: str) -> Lock:
    """The same from the file's content; `where` is what messages call it."""
    wrong = _Wrong(where)
    if conflict := _CONFLICT.search(content):
        line = content.count(b"\n", 0, conflict.start()) + 1
        raise wrong(f"line {line}: holds the marks of a merge that is not resolved; take one side, then {AGAIN}")
    try:
        document = json.loads(content.decode("utf-8-sig"), parse_constant=_refused, object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise wrong(f"is no UTF-8 text; {AGAIN}") from None
    except json.JSONDecodeError as problem:
        said = problem.msg.lower()
        raise wrong(f"is damaged: not JSON: {said} at line {problem.lineno}, column {problem.colno}; {AGAIN}") from None
    except _Repeated as problem:
        raise wrong(f"is damaged: it holds {problem.args[0]!r} twice in one place; {AGAIN}") from None
    except (ValueError, RecursionError):
        raise wrong(f"is damaged: no JSON that this program wrote; {AGAIN}") from None
    if not isinstance(document, dict) or KEY not in document:
        raise wrong(f"is no lock of this program: it has no {KEY!r}; name another file, or {AGAIN}")
    version = document[KEY]
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        raise wrong(f"was written by a newer toolbridge (form {version}, known here is {VERSION}); upgrade toolbridge")
    if type(version) is not int or version != VERSION:
        raise wrong(f"is damaged: its {KEY!r} is no version that is known here; {AGAIN}")
    _refuse_unknown(document, (KEY, "digest", "servers"), "", wrong)
    servers = {name: _read_server(name, each, wrong) for name, each in _object(document, "servers", "", wrong).items()}
    lock = Lock(dict(sorted(servers.items())))
    if document.get("digest") != lock.digest:
        raise wrong(f"was edited by hand or merged: its digest is not that of its servers; {AGAIN}")
    return lock


def read_old_lock(path: str | os.PathLike[str]) -> tuple[Lock | None, str | None]:
    """The lock that is to be replaced: none where there is no file, and none with the reason where it is damaged.

    Raises `ConfigError` where the file is no lock, or one of a newer form: it is not ours to write over.
    """
    if not os.path.lexists(path):
        return None, None
    try:
        return read_lock(path), None
    except ConfigError as problem:
        try:
            ours = _OURS.search(_content(path))
        except (OSError, ConfigError):
            raise problem from None
        if ours is None or int(ours[1]) > VERSION:
            raise
        return None, str(problem)


def merged(old: Lock, new: Mapping[str, LockedServer], *, gone: Iterable[str] = ()) -> Lock:
    """The old lock with the new servers in it, and without those that are gone."""
    servers = {name: each for name, each in old.servers.items() if name not in set(gone)} | dict(new)
    return Lock(dict(sorted(servers.items())), old.folder)


def _server(server: LockedServer) -> dict[str, Any]:
    return {
        **{key: server.identity[key] for key in IDENTITY if key in server.identity},
        "digest": server.digest,
        "tools": {name: _tool(each) for name, each in server.tools.items()},
    }


def _tool(tool: LockedTool) -> dict[str, Any]:
    return {"digest": tool.digest, **{key: tool.content[key] for key in _FIELDS if key in tool.content}}


class _Wrong:
    """Makes the error of one file."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __call__(self, text: str) -> ConfigError:
        return ConfigError([f"{self._where}: {text}"])


def _object(document: Mapping[str, Any], key: str, place: str, wrong: Callable[[str], ConfigError]) -> dict[str, Any]:
    found = document.get(key)
    if not isinstance(found, dict):
        raise wrong(f"is damaged: {place}{key!r} is no object; {AGAIN}")
    return found


def _refuse_unknown(
    document: Mapping[str, Any], known: Iterable[str], place: str, wrong: Callable[[str], ConfigError]
) -> None:
    """What no digest stands over was written by somebody else."""
    for key in document:
        if key not in known:
            raise wrong(f"is damaged: {place}it holds {key!r}, which this program did not write; {AGAIN}")


def _read_server(name: str, document: Any, wrong: Callable[[str], ConfigError]) -> LockedServer:
    place = f"server {name!r}: "
    if not isinstance(document, dict):
        raise wrong(f"is damaged: {place}no object; {AGAIN}")
    _refuse_unknown(document, (*IDENTITY, "digest", "tools"), place, wrong)
    identity = {key: document[key] for key in IDENTITY if key in document}
    if not all(isinstance(each, str) for each in identity.values()):
        raise wrong(f"is damaged: {place}what it says of itself is no text; {AGAIN}")
    tools: dict[str, LockedTool] = {}
    for each, content in sorted(_object(document, "tools", place, wrong).items()):
        if not isinstance(content, dict) or not set(content) <= {"digest", *_FIELDS}:
            raise wrong(f"is damaged: {place}tool {each!r}: no tool that this program wrote; {AGAIN}")
        tool = LockedTool(each, {key: value for key, value in content.items() if key != "digest"})
        if tool.digest != content.get("digest"):
            raise wrong(
                f"was edited by hand or damaged: {place}tool {each!r}: its digest is not that of its content; {AGAIN}"
            )
        tools[each] = tool
    server = LockedServer(identity, tools)
    if server.digest != document.get("digest"):
        raise wrong(
            f"was edited by hand or damaged: {place}its digest is not that of its name, its instructions and its "
            f"tools; {AGAIN}"
        )
    return server


class _Repeated(Exception):
    """A key that is there twice: a reader of the file sees one of the two, and we the other."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _Repeated(max(counts, key=counts.__getitem__))
    return found


def _refused(constant: str) -> None:
    raise ValueError(constant)
