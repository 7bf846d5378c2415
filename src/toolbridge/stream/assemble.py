"""The assembler: neutral events in, the reply out, whatever way a server numbers, names and cuts its calls.

A call is found by its id, then by its number, then it is the last one. A new id with a name opens a new call even on a
used number, and so does another name without an id. Id and name are set once. Fragments are kept and joined once, and
parsed at the end, so that the cost is linear; two whole JSON objects in one call are two calls. The end of the stream
decides what is a call, not the reason that the server gives for it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from toolbridge.notes import Note
from toolbridge.stream.arguments import read_arguments
from toolbridge.stream.arriving import (
    ArrivingCall,
    ArrivingForeign,
    ArrivingText,
    call_of_object,
    foreign_data,
    several_objects,
)
from toolbridge.stream.events import (
    About,
    CallDelta,
    Closed,
    Ended,
    Event,
    Failed,
    Finish,
    Finished,
    ForeignDelta,
    ForeignPart,
    ImagePart,
    Key,
    ReasoningDelta,
    Repeated,
    Reply,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.stream.partial import PathBuilder, partial_json
from toolbridge.types import Foreign, Image, Message, Part, Reasoning, Text, ToolCall

SHOWN = 500
"""Characters of an event that was not understood, in its note."""

INPUT = "input"
"""Where hosted tools' calls have their arguments, with every provider that streams them as it streams calls."""

MOST_NOTES = 100
"""Notes of events that were not understood; a stream of nothing else is told once it is clear what it is."""


class PartialCall(NamedTuple):
    """A call that is still arriving: what can be said of it now."""

    id: str
    name: str
    text: str
    arguments: Any
    """What the text says so far, strings as far as they go; `None` where that is nothing."""


class Assembler:
    """Folds the events of one reply. `origin` is the provider's name, which the message keeps."""

    def __init__(self, origin: str = "", text_calls: Collection[str] | None = None) -> None:
        self._origin = origin
        self._text_calls = text_calls
        self._parts: list[ArrivingText | ArrivingCall | ArrivingForeign | Image] = []
        self._keyed: dict[tuple[type, Key], ArrivingText | ArrivingForeign] = {}
        self._by_id: dict[str, ArrivingCall] = {}
        self._by_key: dict[Key, ArrivingCall] = {}
        self._last: ArrivingCall | None = None
        self._finished: Finished | None = None
        self._ended = False
        self._is_broken_off = False
        self._failed: Failed | None = None
        self._usage: Usage | None = None
        self._model = ""
        self._id = ""
        self._notes: list[Note] = []

    @property
    def complete(self) -> bool:
        """Whether the provider has said that the reply ends."""
        return self._ended or self._finished is not None

    def feed(self, event: Event) -> None:
        match event:
            case CallDelta():
                self._feed_call(event)
            case TextDelta():
                self._feed_text(event, reasoning=False)
            case ReasoningDelta():
                self._feed_text(event, reasoning=True)
            case ImagePart():
                self._parts.append(event.image)
            case ForeignPart():
                self._feed_foreign(event)
            case ForeignDelta():
                self._feed_foreign_delta(event)
            case Repeated():
                if not self._parts:
                    for each in event.events:
                        self.feed(each)
            case Closed():
                if event.key in self._by_key:
                    self._by_key[event.key].ended = True
            case Finished():
                if self._finished is None or self._finished.reason in ("stop", "calls"):
                    self._finished = event
            case Ended():
                self._ended = True
            case Spent():
                self._usage = event.usage if self._usage is None else _summed(self._usage, event.usage)
            case About():
                self._model = event.model or self._model
                self._id = self._id or event.id
            case Failed():
                self._failed = self._failed or event
            case Unread():
                self.note(Note(event.code, "narrowed", "", _shown(event.what)))

    def append(self, key: Key, fragment: str) -> bool:
        """The short way for the usual event: the next fragment of a call that is open under this key."""
        call = self._by_key.get(key)
        if call is None:
            return False
        call.pieces.append(fragment)
        self._last = call
        return True

    def damage(self) -> None:
        """A piece of the stream is lost: a call that is not whole yet may lack it, and is not to be run."""
        for part in self._parts:
            if isinstance(part, ArrivingCall) and not part.is_closed():
                part.problem = "an event of the stream could not be read while the arguments arrived"

    def note(self, note: Note) -> None:
        if len(self._notes) < MOST_NOTES and note not in self._notes[-3:]:
            self._notes.append(note)

    def partial(self) -> tuple[PartialCall, ...]:
        """The calls as far as they have come. Not for running: only `reply` says which of them are whole."""
        found: list[PartialCall] = []
        for part in self._parts:
            if isinstance(part, ArrivingCall):
                text = part.text()
                arguments = part.arguments
                if part.paths is not None:
                    arguments = part.paths.value()[0]
                elif arguments is None:
                    arguments = partial_json(text)
                found.append(PartialCall(part.id, part.name, text, arguments))
        return tuple(found)

    def reply(self, broken_off: bool = False) -> Reply:
        """What came of it. `broken_off` says that the stream ended before its end, where the caller knows."""
        broken_off = self._is_broken_off = broken_off and not self.complete
        if broken_off:
            self.note(Note("stream.broken_off", "narrowed"))
        raw = self._finished.raw if self._finished else ""
        cut = self._cut(broken_off)
        parts = self._finished_parts(cut)
        has_calls = any(isinstance(part, ToolCall) for part in parts)
        finish: Finish = self._finished.reason if self._finished else "stop"
        if self._failed is not None:
            finish = "error"
        elif broken_off:
            finish = "broken_off"
        elif finish in ("stop", "calls"):
            if finish == "calls" and not has_calls:
                self.note(Note("finish.without_calls", "changed", "", raw))
            finish = "calls" if has_calls else "stop"
        message = Message("assistant", tuple(parts), self._origin, self._model)
        error = self._failed.message if self._failed else None
        return Reply(message, finish, raw, self._usage, error, tuple(self._notes), self._id)

    # ── text, reasoning, foreign parts ───────────────────────────────────────────────────────────────────────────

    def _feed_text(self, event: TextDelta | ReasoningDelta, reasoning: bool) -> None:
        part = self._text_part(event, reasoning)
        if part is None:
            return
        if event.whole:
            part.pieces.clear()
        if event.text:
            part.pieces.append(event.text)
        for name, value in (event.opaque or {}).items():
            before = part.opaque.get(name)
            if isinstance(value, list) and isinstance(before, list) and not event.whole:
                before.extend(value)  # citations come one by one
            else:
                part.opaque[name] = list(value) if isinstance(value, list) else value

    def _text_part(self, event: TextDelta | ReasoningDelta, reasoning: bool) -> ArrivingText | None:
        """The part that the event belongs to. Without a key it is the last part, if that is of the same kind and
        neither it nor the event is sealed by a signature."""
        if event.key is not None:
            kind = type(event)
            found = self._keyed.get((kind, event.key))
            if found is None:
                found = ArrivingText(event.key, reasoning)
                self._keyed[kind, event.key] = found
                self._parts.append(found)
            assert isinstance(found, ArrivingText)
            return found
        if not event.text and not event.opaque:
            return None
        last = self._parts[-1] if self._parts else None
        if (
            isinstance(last, ArrivingText)
            and last.reasoning == reasoning
            and last.key is None
            and not last.opaque
            and not event.opaque
        ):
            return last
        opened = ArrivingText(None, reasoning)
        self._parts.append(opened)
        return opened

    def _feed_foreign(self, event: ForeignPart) -> None:
        found = self._keyed.get((ForeignPart, event.key)) if event.key is not None else None
        if isinstance(found, ArrivingForeign):
            found.kind, found.data = event.kind, dict(event.data)
            found.streamed.clear()
            return
        opened = ArrivingForeign(event.kind, dict(event.data), event.key, {})
        if event.key is not None:
            self._keyed[ForeignPart, event.key] = opened
        self._parts.append(opened)

    def _feed_foreign_delta(self, event: ForeignDelta) -> None:
        found = self._keyed.get((ForeignPart, event.key))
        if isinstance(found, ArrivingForeign):
            found.streamed.setdefault(event.field, ([], event.json))[0].append(event.text)
        else:
            self.note(Note("event.unknown", "narrowed", "", _shown(event.text)))

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _feed_call(self, event: CallDelta) -> None:
        if event.key is not None and not event.id and not event.name and (ForeignPart, event.key) in self._keyed:
            self._feed_foreign_delta(ForeignDelta(event.key, INPUT, event.text, json=True))
            return
        call = self._call_of(event)
        if call is None:
            return
        self._last = call
        if event.key is not None:
            self._by_key[event.key] = call
        if event.id and not call.id:
            call.id = event.id
        if event.id:
            self._by_id.setdefault(event.id, call)
        if event.name:
            call.began_empty = not call.name and event.text.strip() == "{}"
            if event.name.startswith(call.name):
                call.name = event.name
        if event.whole and event.text:
            call.pieces = [event.text]
            call.depth, call.scanned = None, 0
        elif event.text:
            call.pieces.append(event.text)
        if event.arguments is not None:
            self._take_object(call, event.arguments)
        for path, value, continues in event.pieces:
            if call.paths is None:
                call.paths = PathBuilder()
            call.paths.add(path, value, continues)
        if event.opaque:
            call.opaque.update(event.opaque)

    def _take_object(self, call: ArrivingCall, arguments: Any) -> None:
        if isinstance(call.arguments, dict) and isinstance(arguments, dict):
            call.arguments = {**call.arguments, **arguments}
        elif call.arguments is None or arguments != {}:
            call.arguments = arguments

    def _call_of(self, event: CallDelta) -> ArrivingCall | None:
        """The call that the event belongs to: one that is open, or a new one."""
        if event.opens:
            return self._open(event.key)
        known = self._by_id.get(event.id) if event.id else None
        if known is not None:
            return self._open(event.key) if _is_another(event, known) else known
        slot = self._last if event.key is None else self._by_key.get(event.key)
        if event.id:
            return self._with_new_id(event, slot)
        if slot is None:
            return self._at_unseen_key(event)
        if event.name and slot.name and not event.name.startswith(slot.name):
            # A call that has an id and nothing else keeps its name, which is set once.
            return slot if slot.id and slot.is_blank else self._open(event.key)
        if event.name and event.arguments is not None and slot.is_closed():
            return self._open(event.key)
        if event.key is None and not event.name and self._begins_anew(event, slot):
            opened = self._open(None)
            opened.after = slot
            return opened
        return slot

    def _at_unseen_key(self, event: CallDelta) -> ArrivingCall:
        """Some servers number a call and its arguments apart: a fragment alone is the last call's, if that waits for
        arguments and no other does."""
        if event.name or event.key is None or self._last is None:
            return self._open(event.key)
        if event.whole:
            return self._last
        if self._last.is_closed():
            return self._open(event.key)
        waiting = [part for part in self._parts if isinstance(part, ArrivingCall) and part.is_blank]
        if len(waiting) > 1:
            for call in waiting:
                call.problem = "arguments came under numbers of their own, and which call they are for is not said"
            return self._open(event.key)
        return self._last

    @staticmethod
    def _begins_anew(event: CallDelta, slot: ArrivingCall) -> bool:
        """Whether a fragment begins the arguments of another call, whose name is still to come."""
        return event.text.lstrip().startswith("{") and bool(slot.name) and not slot.began_empty and slot.is_closed()

    def _with_new_id(self, event: CallDelta, slot: ArrivingCall | None) -> ArrivingCall:
        if slot is not None:
            if not slot.id and (not event.name or not slot.name or (event.name == slot.name and not slot.is_closed())):
                return slot  # the id comes late
            if not event.name and slot.name and not slot.is_closed():
                return slot  # a call has a name: this is the one that is open, by yet another id
        return self._open(event.key)

    def _open(self, key: Key) -> ArrivingCall:
        opened = ArrivingCall(key)
        self._parts.append(opened)
        return opened

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _cut(self, broken_off: bool) -> str | None:
        """Why a call may lack its arguments, where it may: which one was to go on nobody can say."""
        if self._failed is not None:
            return "the reply ended in an error before the arguments were there"
        if broken_off:
            return "the reply broke off before the arguments were there"
        if self._finished is not None and self._finished.reason == "length":
            return "the reply was cut at the token limit before the arguments were there"
        return None

    def _finished_parts(self, cut: str | None) -> list[Part]:
        parts: list[Part] = []
        for part in self._parts:
            match part:
                case ArrivingText():
                    parts += self._finished_text(part)
                case ArrivingCall():
                    parts += self._finished_call(part, cut)
                case ArrivingForeign():
                    parts.append(Foreign(part.kind, foreign_data(part)))
                case Image():
                    parts.append(part)
        return self._with_ids(parts)

    def _finished_text(self, part: ArrivingText) -> list[Part]:
        text = "".join(part.pieces)
        if not text and not part.opaque:
            return []
        if part.reasoning:
            return [Reasoning(text, part.opaque)]
        if self._text_calls is not None:
            from toolbridge.stream.text_calls import read_text_calls  # an option, and few take it

            found = read_text_calls(text, self._text_calls)
            self._notes += found.notes
            kept: list[Part] = [Text(found.text, part.opaque)] if found.text.strip() or part.opaque else []
            if found.calls:
                return [*kept, *(replace(call, id="") for call in found.calls)]  # ids are given to the reply as a whole
        return [Text(text, part.opaque)]

    def _finished_call(self, call: ArrivingCall, cut: str | None) -> list[Part]:
        if not call.name and call.after is not None:
            call.name = call.after.name
            self.note(Note("call.split", "changed", "", call.after.id or call.name))
        if call.problem is not None:
            return [ToolCall(call.id, call.name, call.text(), None, call.problem, call.opaque)]
        if call.paths is not None and call.arguments is None:
            value, problem = call.paths.value()
            if problem is not None:
                return [ToolCall(call.id, call.name, call.text(), None, problem, call.opaque)]
            call.arguments = value
        if call.arguments is not None and (call.arguments != {} or call.has_no_text):
            return self._finished_object(call)
        if call.is_blank and cut is not None and not (call.ended and self._is_broken_off):
            return [ToolCall(call.id, call.name, call.text(), None, cut, call.opaque)]
        text = call.text()
        if not call.name and not call.id and call.is_blank:
            if call.opaque:
                self.note(Note("call.nameless", "narrowed", "", _shown(call.opaque)))
            return []
        if not call.name:
            self.note(Note("call.nameless", "changed", "", call.id or _shown(text)))
        arguments, problem = read_arguments(text)
        if arguments is None:
            several = several_objects(text)
            if several and call.began_empty and several[0][1] == {} and several[1][1]:
                # Some proxies begin with the empty input of the call's first event, and then send its arguments.
                self.note(Note("arguments.restarted", "changed", "", call.id or call.name))
                del several[0]
                if len(several) == 1:
                    return [ToolCall(call.id, call.name, *several[0], None, call.opaque)]
            if several:
                self.note(Note("call.split", "changed", "", call.id or call.name))
                return [
                    ToolCall(call.id if i == 0 else "", call.name, each, value, None, call.opaque if i == 0 else {})
                    for i, (each, value) in enumerate(several)
                ]
        return [ToolCall(call.id, call.name, text, arguments, problem, call.opaque)]

    def _finished_object(self, call: ArrivingCall) -> list[Part]:
        """A call whose arguments came as a value; what came as text besides must be the same, or another call's."""
        text = call.text()
        said, _ = read_arguments(text)
        if call.has_no_text or said == call.arguments:
            return [call_of_object(call)]
        if said is not None:
            self.note(Note("call.split", "changed", "", call.id or call.name))
            return [call_of_object(call), ToolCall("", call.name, text, said)]
        problem = "the arguments came as an object and as text that is not the same"
        return [ToolCall(call.id, call.name, text, None, problem, call.opaque)]

    def _with_ids(self, parts: list[Part]) -> list[Part]:
        """Every call with an id of its own: made where the wire has none, told apart where two share one."""
        taken = {part.id for part in parts if isinstance(part, ToolCall)}
        used: set[str] = set()
        numbers: dict[str, int] = {}
        count = 0
        for i, part in enumerate(parts):
            if not isinstance(part, ToolCall):
                continue
            id = part.id
            if not id or id in used:
                if id:
                    self.note(Note("id.reused", "changed", "", id))
                stem = f"{id}_" if id else "call_"
                number = max(numbers.get(stem, 0), 2 if id else count)
                while f"{stem}{number}" in taken:
                    number += 1
                numbers[stem] = number + 1
                id = f"{stem}{number}"
                taken.add(id)
                parts[i] = replace(part, id=id)
            used.add(id)
            count += 1
        return parts


def _is_another(event: CallDelta, known: ArrivingCall) -> bool:
    """Whether an event with the id of a known call is of another one all the same: by its number or by its name."""
    if not event.name:
        return False
    if isinstance(event.key, int) and isinstance(known.key, int) and event.key != known.key:
        return True
    return not event.name.startswith(known.name) and known.is_closed()


def _summed(before: Usage, after: Usage) -> Usage:
    told = {each.name: value for each in fields(after) if (value := getattr(after, each.name)) is not None}
    return replace(before, **told)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= SHOWN else value[:SHOWN] + "…"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return str(type(value).__name__)
    return value if len(text) <= SHOWN and isinstance(value, Mapping | list) else text[:SHOWN]
