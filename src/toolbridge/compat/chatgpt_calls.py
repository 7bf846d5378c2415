"""Calls of OpenAI and Gemini in the one form of the ChatGPT provider's design, whole and from a stream.

Thin over the core: the arguments are read by `toolbridge.stream.arguments`, and where an object ends is told by
`toolbridge.stream.values`. The core way is `read_stream(provider, chunks).calls`, or `ReplyReader` while they arrive,
which also knows the text, the reasoning and why the reply ended.

Decisions where the design is silent:

- A call that cannot be read has `arguments: {}`, as documented, and says why under `error`. Do not run it.
- `process_tool_call` returns a call when its JSON object closes. What is only known at the end (calls without
  arguments, calls that broke off, calls without a name) is returned by `finish`. A proxy that sends `{}` first and the
  arguments behind it makes two calls so; `read_stream`, which waits for the end, makes one.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from toolbridge.stream.arguments import read_call
from toolbridge.stream.values import Depth
from toolbridge.types import ToolCall

logger = logging.getLogger(__name__)

NO_NAME = "the call has no name"
CUT = "the stream broke off before the arguments were there"
IN_PIECES = "the arguments come in pieces (partialArgs); ReplyReader('gemini') reads them"


def parse_openai_tool_call(tool_call: Any) -> dict[str, Any]:
    """`{"tool_name", "arguments", "tool_call_id"}` of a whole call, as a dict or as the SDK's object.

    The core way: `get_provider("openai-chat").read_reply(completion).calls`.
    """
    function = field(tool_call, "function")
    name, id = text_of(field(function, "name")), text_of(field(tool_call, "id"))
    return common(name, id, read_call("", "", field(function, "arguments")))


def parse_gemini_tool_call(function_call: Any) -> dict[str, Any]:
    """`{"name", "tool_name", "arguments"}` of a `functionCall`, or of the part that holds it.

    `tool_call_id` and `thought_signature` are there where Gemini sends them; Gemini 3 wants the signature back, and
    `GeminiProvider.format_history` gives it. The core way: `get_provider("gemini").read_reply(answer).calls`.
    """
    return _Half(function_call).parsed()


class OpenAIToolCallAssembler:
    """Folds the `tool_calls` of a stream's deltas into calls: by id, then by index, then into the last one."""

    def __init__(self) -> None:
        self._calls: list[_Arriving] = []
        self._by_id: dict[str, _Arriving] = {}
        self._by_index: dict[int, _Arriving] = {}
        self._last: _Arriving | None = None

    def process_tool_call(self, tool_call_delta: Any) -> dict[str, Any] | None:
        """The call that this delta completes, in the common form, once for each call; `None` where it completes none.

        The delta is a dict or the SDK's object.
        """
        function = field(tool_call_delta, "function")
        id, name = text_of(field(tool_call_delta, "id")), text_of(field(function, "name"))
        index = field(tool_call_delta, "index")
        index = index if type(index) is int else None
        arguments = field(function, "arguments")
        call = self._call_of(id, index, name)
        if call.told and call.is_news(arguments):
            call = self._opened(call.name)  # another object in the place of the last one: the same tool once more
        self._remember(call, id, index, name)
        if isinstance(arguments, str):
            rest, at = call.append(arguments), call
            while rest.strip():
                at = self._opened(call.name)
                self._remember(at, None, index, None)
                rest = at.append(rest)
        elif arguments is not None and not call.told:
            call.take(arguments)
        return call.tell()

    def finish(self, *, broken_off: bool = False) -> list[dict[str, Any]]:
        """The calls that were not returned yet: nothing more will come. `broken_off` where the stream has no end."""
        found: list[dict[str, Any]] = []
        for call in self._calls:
            if not call.told and not call.is_nothing:
                read = call.read(cut=broken_off and call is self._last)
                found.append(common(call.name, call.id, read, problem=None if call.name else NO_NAME))
            call.told = True
        return found

    def _call_of(self, id: str | None, index: int | None, name: str | None) -> _Arriving:
        if id and id in self._by_id:
            known = self._by_id[id]
            another = name and (
                (index is not None and known.index is not None and index != known.index)
                or (known.closed and not name.startswith(known.name or ""))
            )
            return self._opened() if another else known
        last = self._last
        slot = last if index is None else self._by_index.get(index)
        if slot is None:
            # An unseen number with nothing but a fragment: some servers count the call and its arguments apart.
            only_more = not id and not name and last is not None and not last.closed
            return last if only_more and last is not None else self._opened()
        if name and slot.name and not name.startswith(slot.name):
            return self._opened()
        if id and slot.id and (name or slot.closed):
            return self._opened()
        if id and name and slot.name and slot.closed:
            return self._opened()
        return slot

    def _opened(self, name: str | None = None) -> _Arriving:
        call = _Arriving(name)
        self._calls.append(call)
        return call

    def _remember(self, call: _Arriving, id: str | None, index: int | None, name: str | None) -> None:
        self._last = call
        if index is not None:
            self._by_index[index] = call
            call.index = index if call.index is None else call.index
        if id:
            call.id = call.id or id
            self._by_id.setdefault(id, call)
        if name and name.startswith(call.name or ""):
            call.name = name


class _Arriving:
    """A call of which more may come. No character of its arguments is looked at twice."""

    def __init__(self, name: str | None) -> None:
        self.id: str | None = None
        self.index: int | None = None
        self.name = name
        self.told = False
        self.closed = False
        self._follows = name is not None
        self._blank = True
        self._unreadable = False
        self._pieces: list[str] = []
        self._depth = Depth()
        self._given: Any = None

    @property
    def is_nothing(self) -> bool:
        """Whether there was never anything of it: no arguments, and no name or id of its own."""
        return self._blank and (self._follows or not (self.id or self.name))

    def is_news(self, arguments: Any) -> bool:
        """Whether arguments are more than those that it has."""
        return bool(arguments.strip()) if isinstance(arguments, str) else arguments not in (None, self._given)

    def append(self, text: str) -> str:
        """Take the next fragment; what stands behind the end of the object is handed back."""
        ends = [] if self.closed or self.told else self._depth.feed(text)
        kept = text[: ends[0]] if ends else text
        self._blank = self._blank and not kept.strip()
        self._pieces.append(kept)
        self.closed = self.closed or bool(ends)
        return text[len(kept) :]

    def take(self, arguments: Any) -> None:
        """Arguments that are a value and not text."""
        both = isinstance(self._given, Mapping) and isinstance(arguments, Mapping)
        self._given = {**self._given, **arguments} if both else arguments
        self._blank, self.closed = False, True

    def read(self, *, cut: bool = False) -> ToolCall:
        if self._blank and cut:
            return ToolCall("", "", "", None, CUT)
        return read_call("", "", "".join(self._pieces) if self._given is None else self._given)

    def tell(self) -> dict[str, Any] | None:
        """The call, where it is whole. One that closed and cannot be read will never be: it is told at the end."""
        if self.told or self._unreadable or not (self.closed and self.name):
            return None
        read = self.read()
        self._unreadable = read.arguments is None
        self.told = not self._unreadable
        return common(self.name, self.id, read) if self.told else None


class GeminiToolCallAssembler:
    """Folds the parts of a stream into calls; a name and its arguments may stand in different parts."""

    def __init__(self) -> None:
        self._open: dict[int | None, _Half] = {}
        self._whole: list[_Half] = []

    def process_tool_call(self, part: Any) -> dict[str, Any] | None:
        """The call that this part completes: one with a name and arguments. The part is a dict or the SDK's object."""
        half = _Half(part)
        if half.name is None and half.arguments is None:
            return None
        before = self._open.pop(half.index, None)
        if before is not None and not before.completed_by(half):
            self._whole.append(before)
            before = None
        half = half if before is None else before
        if half.name is not None and half.arguments is not None:
            return half.parsed()
        self._open[half.index] = half
        return None

    def finish(self) -> list[dict[str, Any]]:
        """The calls that were not returned yet: those without arguments, and with `error` those without a name."""
        left = [*self._whole, *self._open.values()]
        self._whole, self._open = [], {}
        return [each.parsed(problem=None if each.name else NO_NAME) for each in left]


class _Half:
    """What one part, or one `functionCall`, says of a call."""

    def __init__(self, part: Any) -> None:
        inner = field(part, "function_call", "functionCall")
        call = part if inner is None else inner
        index, pieces = field(part, "index"), field(call, "partial_args", "partialArgs")
        signature = field(part, "thought_signature", "thoughtSignature")
        self.index = index if type(index) is int else None
        self.name = text_of(field(call, "name"))
        self.arguments = field(call, "args")
        self._id = text_of(field(call, "id"))
        self._signature = b64encode(signature).decode("ascii") if isinstance(signature, bytes) else text_of(signature)
        self._in_pieces = isinstance(pieces, list) or field(call, "will_continue", "willContinue") is True

    def completed_by(self, other: _Half) -> bool:
        """Take what the other one has, if that is what this one lacks."""
        if (self.name is None) == (other.name is None) or (self.arguments is None) == (other.arguments is None):
            return False
        self.name = self.name or other.name
        self.arguments = other.arguments if self.arguments is None else self.arguments
        self._id, self._signature = self._id or other._id, self._signature or other._signature
        self._in_pieces = self._in_pieces or other._in_pieces
        return True

    def parsed(self, *, problem: str | None = None) -> dict[str, Any]:
        if self._in_pieces and self.arguments is None:
            problem = IN_PIECES
        found = common(self.name, self._id, read_call("", "", self.arguments), problem=problem)
        if self._id is None:
            del found["tool_call_id"]
        signature = {} if self._signature is None else {"thought_signature": self._signature}
        return {"name": self.name, **found, **signature}


def common(name: str | None, id: str | None, call: ToolCall, *, problem: str | None = None) -> dict[str, Any]:
    """The common form of a call, and under `error` why it must not be run."""
    parsed: dict[str, Any] = {"tool_name": name, "arguments": call.arguments or {}, "tool_call_id": id}
    problem = call.problem or problem
    if problem is not None:
        logger.warning("Failed to parse tool call %s: %s", name, problem)
        parsed["error"] = problem
    return parsed


def field(value: Any, *names: str) -> Any:
    """What a dict or an object has under the first of these names that it has."""
    for name in names:
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def text_of(value: Any) -> str | None:
    return value if isinstance(value, str) else None
