"""The engine: one loaded model file in this process, which answers requests one after the other and can be stopped.

Around xllamacpp, which holds llama.cpp's server. It is called in process, in a thread of its own for each request; its
own HTTP listener, which it cannot be kept from opening, is put where nobody can reach it. Knows nothing of tools or of
`Model`: it takes a Chat Completions body and gives chunks.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from toolbridge.errors import ModelError
from toolbridge.extras import install

LONGEST_HOME = 70
"""Characters of a directory that a socket can stand two levels below: its whole path has 103 at most."""

BATCH = 64
"""Tokens of the prompt that are read in one piece. Between pieces a request can be stopped: half a second with a small
model. Larger pieces are no faster on a processor."""

LOCK_SECONDS = 0.1
"""How often a request that waits for its turn looks whether it is still wanted."""

GUIDANCE = "x-guidance"
"""The key of a schema under which the engine's grammars take options."""

THREADS_VARIABLE = "TOOLBRIDGE_LOCAL_THREADS"


@dataclass(frozen=True, slots=True)
class Settings:
    """What an engine is loaded with. Models that share a file and these share the engine."""

    context: int
    threads: int


class Engine:
    """One loaded model file. It is unloaded when nobody refers to it."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._server = _load(path, settings)
        self._turn = threading.Lock()

    def answer(self, body: Mapping[str, Any], give: Callable[[dict[str, Any]], bool]) -> None:
        """Answer a request, in this thread: `give` takes each chunk, and says whether to go on."""
        while not self._turn.acquire(timeout=LOCK_SECONDS):
            if not give({"waiting": True}):
                return
        try:
            # The engine tells how far it has read the prompt, so that a request can be stopped while it reads.
            wanted = {**body, "stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
            self._server.handle_chat_completions(_constrained(wanted), lambda chunk: not give(chunk))
        except ValueError as failure:
            said = " ".join(str(failure).split())
            raise ModelError("refused", f"the built-in engine does not take the request: {said}", said=said) from None
        finally:
            self._turn.release()


_engines: WeakValueDictionary[tuple[str, Settings], Engine] = WeakValueDictionary()
_loading = threading.Lock()


def shared_engine(path: Path, settings: Settings) -> Engine:
    """The engine of this file, loaded now if nobody has it. Takes seconds: not to be called on an event loop."""
    key = (os.path.realpath(path), settings)
    with _loading:
        engine = _engines.get(key)
        if engine is None:
            engine = _engines[key] = Engine(path, settings)
        return engine


def usable_threads() -> int:
    """As many as there are processors free for this process, unless TOOLBRIDGE_LOCAL_THREADS says otherwise: threads
    of the engine wait for each other, so two of them on one free processor are far slower than one."""
    given = os.environ.get(THREADS_VARIABLE, "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return _free_processors()


@cache
def _free_processors() -> int:
    """Asked once, so that all models of a process that may share an engine do."""
    if sys.platform == "linux":
        usable = len(os.sched_getaffinity(0))
    else:
        usable = os.cpu_count() or 1
    try:
        busy = os.getloadavg()[0]
    except (AttributeError, OSError):
        busy = 0.0
    return max(1, min(usable, round(usable - busy)))


def is_installed() -> bool:
    """Whether xllamacpp is there, without loading it."""
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None


def _constrained(body: dict[str, Any]) -> dict[str, Any]:
    """The request with its schema as a grammar: in a `response_format` the engine does not heed what a schema says of
    white space, and a small model then writes half of its tokens as such. Lenient: what a grammar cannot express is
    left out of it, and checked when the call is resolved."""
    form: Any = body.get("response_format")
    named: Any = form.get("json_schema") if isinstance(form, Mapping) else None
    schema: Any = named.get("schema") if isinstance(named, Mapping) else None
    if not isinstance(schema, Mapping):
        return body
    guidance: Any = schema.get(GUIDANCE)
    guided = {**schema, GUIDANCE: {**(guidance if isinstance(guidance, Mapping) else {}), "lenient": True}}
    grammar: Any = _library().json_schema_to_grammar(guided)
    return {**{key: value for key, value in body.items() if key != "response_format"}, "grammar": grammar}


def _library() -> Any:
    try:
        import xllamacpp
    except ImportError as failure:
        detail = "" if isinstance(failure, ModuleNotFoundError) else f" ({failure})"
        raise ModelError(
            "not_installed", f"the built-in engine is not installed{detail}; run: {install('local')}"
        ) from None
    return xllamacpp


def _socket_home() -> str | None:
    """Where a socket's directory can be made; `None` where sockets have no paths, or none is short enough: then the
    engine listens on the loopback, for whoever knows its key."""
    homes = (tempfile.gettempdir(), "/tmp") if os.name == "posix" else ()
    return next((each for each in homes if len(each) <= LONGEST_HOME and os.path.isdir(each)), None)


def _load(path: Path, settings: Settings) -> Any:
    library = _library()
    parameters = library.CommonParams()
    parameters.model.path = os.fspath(path)
    parameters.n_ctx = settings.context
    parameters.n_parallel = 1  # the window is for one request; a second waits
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = settings.threads
    parameters.n_gpu_layers = 0
    parameters.cache_ram_mib = 0  # the last prompt stays in the window anyway; others would cost gigabytes
    parameters.use_jinja = True
    parameters.warmup = parameters.ui = False
    parameters.offline = True
    parameters.verbosity = -1
    parameters.port = 0
    parameters.api_keys = [secrets.token_urlsafe(32)]
    home = _socket_home()
    with tempfile.TemporaryDirectory(prefix="toolbridge-", dir=home, ignore_cleanup_errors=True) as hidden:
        if home is not None:
            # A socket in a directory of our own, which is gone as soon as the engine listens: nobody can connect.
            parameters.hostnames = [os.path.join(hidden, "engine.sock")]
        try:
            server = library.Server(parameters)
        except RuntimeError as failure:
            raise ModelError(
                "no_weights",
                f"{path} cannot be loaded: it is damaged, of a kind the engine does not know, or too large for this"
                " machine's memory",
                said=str(failure),
            ) from None
    # Its loop may not have begun yet, and an engine that is let go before it has would wait for it for ever.
    server.handle_completions({"prompt": "a", "n_predict": 1})
    return server
