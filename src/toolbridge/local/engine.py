"""The built-in model: a model file and its engine as a `Model`, so that the loop runs without any key or server.

Between `native`, which answers in a thread, and the loop, which reads on an event loop. It speaks `json-schema`: small
models know no tool calling, and are held to a schema instead.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from toolbridge.errors import ModelError
from toolbridge.local.gguf import Head, read_head
from toolbridge.local.native import Engine, Settings, shared_engine, usable_threads
from toolbridge.local.weights import WEIGHTS, Weights, find_weights, models_directory, weights_path, weights_state
from toolbridge.providers import Provider, get_provider
from toolbridge.wire.constrained.form import ANSWER
from toolbridge.wire.constrained.messages import RESULT

DEFAULT_CONTEXT = 4096
"""Tokens of the window for a file that is not in the table, where the model knows so many: memory grows with it."""

LONGEST_ANSWER = 512
"""Tokens of an answer where the request does not say. A small model that has lost its way repeats itself for ever."""

TOOLS_BY_SIZE: tuple[tuple[float, int | None], ...] = ((500e6, 3), (4e9, 16), (float("inf"), None))
"""(file smaller than this many bytes, tools that such a model can choose among)"""

TINY = 3
"""A model that can choose among so few tools needs further help: see `_answering` and `UNREPEATED`."""

UNREPEATED: Mapping[str, Any] = {
    "dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 4, "dry_penalty_last_n": 48,
    "dry_sequence_breakers": ["<|im_start|>"],
}  # fmt: skip
"""Sampling that lets no sequence repeat for long: at temperature 0 a tiny model writes one sentence over and over."""

OPTIONS = ("context_tokens", "threads", "max_tokens")


class LocalModel:
    """A model file that is run here. Loading begins with the first question."""

    def __init__(
        self,
        path: Path,
        name: str,
        head: Head,
        *,
        known: Weights | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        given = _read_options(options or {})
        self.path = path
        self._name = name
        self._most_tools = _most_tools(path) if known is None else known.most_tools
        usual = DEFAULT_CONTEXT if known is None else known.context
        context = given.get("context_tokens", usual)
        self._settings = Settings(min(context, head.context or context), given.get("threads") or usable_threads())
        self._max_tokens: int = given.get("max_tokens", LONGEST_ANSWER)
        self._engine: Engine | None = None

    @property
    def provider(self) -> Provider:
        return get_provider("json-schema")

    @property
    def name(self) -> str:
        return self._name

    @property
    def most_tools(self) -> int | None:
        return self._most_tools

    @property
    def context_tokens(self) -> int | None:
        return self._settings.context

    async def stream(self, fields: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Chunks of Chat Completions. The temperature is 0 and the answer bounded, unless the fields say otherwise."""
        usual = {"temperature": 0, "max_tokens": self._max_tokens, "cache_prompt": True}
        tiny = self._most_tools is not None and self._most_tools <= TINY
        body = {**usual, **UNREPEATED, **_answering(fields)} if tiny else {**usual, **fields}
        answer = _Answer(self, body, asyncio.get_running_loop())
        threading.Thread(target=answer.run, name="toolbridge-local-model").start()
        try:
            while (piece := await answer.pieces.get()) is not None:
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
        finally:
            answer.stopped = True  # the thread ends when the engine next tells it something

    async def close(self) -> None:
        """Unload the file, unless another model uses it. The next question loads it again."""
        self._engine = None

    def engine(self) -> Engine:
        """The loaded engine. Takes seconds the first time."""
        engine = self._engine
        if engine is None:
            engine = self._engine = shared_engine(self.path, self._settings)
        return engine


class _Answer:
    """A request in its thread, and the way back to the event loop."""

    def __init__(self, model: LocalModel, body: Mapping[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        self.pieces: asyncio.Queue[dict[str, Any] | BaseException | None] = asyncio.Queue()
        self.stopped = False
        self._model = model
        self._body = body
        self._loop = loop

    def run(self) -> None:
        try:
            engine = self._model.engine()
            if not self.stopped:  # while it was loaded
                engine.answer(self._body, self._take)
            self._give(None)
        except BaseException as failure:  # whatever it is, it belongs to who reads
            self._give(failure)

    def _take(self, chunk: dict[str, Any]) -> bool:
        if self.stopped:
            return False
        if "error" in chunk:
            self._give(_said(chunk["error"]))
            return False
        if "waiting" not in chunk and "prompt_progress" not in chunk:
            return self._give(chunk)
        return not self._loop.is_closed()

    def _give(self, piece: dict[str, Any] | BaseException | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self.pieces.put_nowait, piece)
        except RuntimeError:  # the loop has ended, and nobody reads
            self.stopped = True
            return False
        return True


def _answering(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request with no tools to call, where a call's result is what it ends with. A tiny model does not find out by
    itself that it is done: it calls the same tool for ever. So it makes one call for a question, and answers."""
    messages: Any = fields.get("messages") or ()
    last = messages[-1] if messages else {}
    if last.get("role") != "user" or not str(last.get("content", "")).startswith(RESULT.partition("{")[0]):
        return fields
    form: Any = fields.get("response_format") or {}
    named: Any = form.get("json_schema") or {}
    schema: Any = named.get("schema") or {}
    answers = [each for each in schema.get("anyOf") or () if ANSWER in each.get("properties", ())]
    if not answers:
        return fields
    narrow = {**{key: value for key, value in schema.items() if key != "$defs"}, "anyOf": answers}
    return {**fields, "response_format": {**form, "json_schema": {**named, "schema": narrow}}}


def local_model(name: str, *, options: Mapping[str, Any] | None = None) -> LocalModel:
    """The built-in model of that name: `smollm2`, `local/smollm2`, or the path of any GGUF file.

    Options: `context_tokens`, `threads`, and `max_tokens` of an answer. Nothing is loaded yet. Raises `ModelError`:
    `unknown_model`, or `no_weights` where the file is not there or is no model.
    """
    bare = name.removeprefix("local/")
    known = next((each for each in WEIGHTS if each.name == bare), None)
    if known is not None:
        directory = models_directory()
        state, have = weights_state(known, directory)
        path = weights_path(known, directory)
        if state != "here":
            raise ModelError("no_weights", _absent(known, path, state, have))
        return LocalModel(path, known.name, read_head(path), known=known, options=options)
    path = _file(bare)
    return LocalModel(path, path.name, read_head(path), options=options)


def _file(name: str) -> Path:
    """A path is what looks like one; a bare `name.gguf` may also be in the folder of models."""
    path = Path(os.path.expanduser(name))
    if path.exists():
        return path
    if name.endswith(".gguf") and os.path.basename(name) == name and (models_directory() / name).exists():
        return models_directory() / name
    if not name.endswith(".gguf") and os.path.basename(name) == name:
        find_weights(name)  # which says what there is
    return path


def _absent(weights: Weights, path: Path, state: str, have: int) -> str:
    do = f"run: toolbridge models pull {weights.name}"
    if state == "damaged":
        return f"{path} has {have:,} bytes and not {weights.bytes:,}: it is damaged; {do}"
    return f"the model {weights.name} ({weights.bytes / 1e6:,.0f} MB) is not on this machine; {do}"


def _most_tools(path: Path) -> int | None:
    size = path.stat().st_size
    return next(tools for below, tools in TOOLS_BY_SIZE if size < below)


def _read_options(options: Mapping[str, Any]) -> dict[str, int]:
    for key, value in options.items():
        if key not in OPTIONS:
            raise ModelError("refused", f"unknown option {key!r} of the built-in model; it has {', '.join(OPTIONS)}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelError("refused", f"option {key!r} of the built-in model is a whole number from 1, not {value!r}")
    return dict(options)


def _said(error: Any) -> ModelError:
    """What the engine answers in place of a reply."""
    details: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": str(error)}
    said = " ".join(str(details.get("message", "")).split())
    status = details.get("code")
    if details.get("type") == "exceed_context_size_error":
        asked, room = details.get("n_prompt_tokens"), details.get("n_ctx")
        return ModelError(
            "too_long",
            f"the conversation has {asked} tokens, and the built-in model's window {room}; start anew, offer fewer"
            " tools, or give the option context_tokens",
            status=status,
            said=said,
        )
    kind = "overloaded" if isinstance(status, int) and status >= 500 else "refused"
    return ModelError(kind, f"the built-in engine did not answer: {said}", status=status, said=said)
