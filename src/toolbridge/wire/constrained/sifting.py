"""Reads the object out of a reply's text while it arrives: the answer's words as they grow, a call's arguments too.

A server that constrains sends the object alone. One that does not may send anything: text around the object, a fence,
keys in another order, or just text, which then is the answer. Text is held back only while it may still turn out to be
an object, and no character is looked at again once it is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from toolbridge.stream.events import CallDelta, Ended, Event, Failed, Finished, TextDelta, Unread
from toolbridge.stream.values import Depth
from toolbridge.wire.constrained.form import ANSWER, ARGUMENTS, TOOL

CONTENT: Final = "content"
"""The key of the text that is sifted; text of other keys (a refusal, a transcript) is none of the model's objects."""

KEY: Final = "constrained"
"""The key of the call: there is one in a reply."""

LONGEST_OPENING: Final = 200
"""Characters within which it is clear whether an object begins: fences and white space are not this long."""

SHOWN: Final = 500
"""Characters of what stands behind a call, in the note about it."""

NAMES: Final = (TOOL, "name", "function", "tool_name")
PARAMETERS: Final = (ARGUMENTS, "parameters", "args", "input")
"""How models that nobody constrains call these. The first of each is ours."""

_FENCE = r"(?:```\w*\s*)?"
_START = re.compile(r"`{1,3}|\{")
_OPENED = re.compile(_FENCE + r'(?P<object>\{\s*(?:"(?P<key>\w+)"\s*:|(?P<empty>\})))')
_OPENING = re.compile(r'(?:`{0,2}|```\w*\s*|(?:```\w*\s*)?\{\s*(?:"\w*(?:"\s*)?)?)\Z')
_ANSWER = re.compile(r'\{\s*"' + ANSWER + r'"\s*:\s*"')
_CALL = re.compile(
    r'\{\s*"' + TOOL + r'"\s*:\s*(?P<name>"(?:[^"\\]|\\.)*")\s*,\s*"' + ARGUMENTS + r'"\s*:\s*(?=\{)', re.DOTALL
)
_CUT_CALL = re.compile(r'\{\s*"' + TOOL + r'"\s*:\s*"(?P<name>[^"\\]*)', re.DOTALL)
_CUT_OPENING = re.compile(r'(?:```\w*\s*)?\{\s*+(?:"(?:' + "|".join(
    word[:end] for word in (TOOL, ANSWER) for end in range(len(word) + 1)
) + r')"?\s*+:?\s*+)?\Z')  # fmt: skip
_IN_STRING = re.compile(
    r"""(?: [^"\\]+ | \\[^u] | \\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}
    | \\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2} )*""",
    re.VERBOSE,
)
"""What of a string can be decoded: whole escapes, and halves of a surrogate pair only together."""
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,4}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?\Z")
_ESCAPES: Final = frozenset('"\\/bfnrtu')
_CLOSING: Final = ("", "```")
"""What may stand behind an object, beside white space, and says nothing."""

State: TypeAlias = Literal["text", "object", "answer", "arguments", "rest", "after"]


class TextSifter:
    """The text of one reply. See `toolbridge.wire.talk.Sifter`."""

    def __init__(self) -> None:
        self._state: State = "text"
        self._buffer = ""
        self._spaces: list[str] = []
        """White space before the buffer that may lead to an object. Aside, so that it is never looked at again."""
        self._pieces: list[str] = []
        """The object that is held back as a whole; first, what leads to it: white space and a fence."""
        self._depth = Depth()
        self._begun = False
        self._told = False
        """Whether any text was told."""
        self._found = False
        """Whether there was an object: what is left of the text may be the end of its fence."""
        self._called = False
        self._damaged = False

    def feed(self, events: Sequence[Event]) -> list[Event]:
        found: list[Event] = []
        for event in events:
            match event:
                case TextDelta(key="content"):
                    if event.opaque:
                        found.append(TextDelta("", CONTENT, event.opaque))
                    if not (event.whole and self._begun):  # some say it all again at the end
                        self._begun = True
                        found += self._read(event.text)
                case Finished() | Ended() | Failed():
                    found += [*self.close(), event]
                case _:
                    found.append(event)
        return found

    def damage(self) -> None:
        if self._state in ("text", "object"):
            self._damaged = True

    def close(self) -> list[Event]:
        state, text = self._state, "".join((*self._spaces, *self._pieces, self._buffer))
        self._spaces = []
        self._buffer = ""
        self._pieces = []
        self._state = "after" if self._called else "text"
        match state:
            case "text" if not self._damaged and _CUT_OPENING.fullmatch(text.strip()):
                return [Unread(text, "stream.unreadable")]
            case "text" if self._found and text.strip() in _CLOSING:
                return []
            case "text":
                return self._text(text)
            case "object":
                return self._cut_object(text)
            case "answer":
                return self._text(_decoded(_HALF_ESCAPE.sub("", text)))
            case "after" if text.strip() not in _CLOSING:
                return [Unread(text.strip(), "text.after_call")]
            case _:
                return []

    # ── as it arrives ────────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, text: str) -> list[Event]:
        """Every step takes what it understands from the buffer and says whether there is more to be done."""
        self._buffer += text
        found: list[Event] = []
        going = True
        while going and self._buffer:
            match self._state:
                case "text":
                    going = self._read_text(found)
                case "object":
                    going = self._read_object(found)
                case "answer":
                    going = self._read_answer(found)
                case "arguments":
                    going = self._read_arguments(found)
                case "rest":
                    going = self._read_rest()
                case "after":
                    self._buffer = self._buffer[:SHOWN]
                    going = False
        return found

    def _read_text(self, found: list[Event]) -> bool:
        """Text, up to where an object begins or may begin. White space is held back: it may lead to one."""
        self._spaces.append(self._taken(len(self._buffer) - len(self._buffer.lstrip())))
        if self._damaged:
            found += self._text(self._taken(len(self._buffer)))
            return False
        for start in _START.finditer(self._buffer):
            at = start.start()
            opened = _OPENED.match(self._buffer, at)
            if opened is not None and self._is_ours(opened, at):
                found += self._text(self._taken(len(self._buffer[:at].rstrip())))
                self._pieces = ["".join((*self._spaces, self._taken(self._buffer.index("{"))))]
                self._spaces = []
                self._depth = Depth()
                self._state = "object"
                return True
            if opened is None and len(self._buffer) - at < LONGEST_OPENING and _OPENING.match(self._buffer, at):
                break
        else:
            at = len(self._buffer)
        end = len(self._buffer[:at].rstrip())
        found += self._text(self._taken(end))
        return False

    def _is_ours(self, opened: re.Match[str], at: int) -> bool:
        """Whether an object by its first key is the model's: under other names than ours only where nothing is said
        before it, since text may well show an object."""
        if opened["key"] in (TOOL, ANSWER):
            return True
        alone = not self._told and not self._buffer[:at].strip()
        return alone and (opened["empty"] is not None or opened["key"] in (*NAMES, *PARAMETERS))

    def _read_object(self, found: list[Event]) -> bool:
        """An object that is ours: what it says as soon as that is clear, else when it is whole."""
        if len(self._pieces) == 1 and not self._damaged:
            if opened := _ANSWER.match(self._buffer):
                self._taken(opened.end())
                self._pieces = []
                self._state = "answer"
                found += self._text("\n" if self._told else "")
                return True
            if opened := _CALL.match(self._buffer):
                self._taken(opened.end())
                self._pieces = []
                self._depth = Depth()
                self._called = True
                self._state = "arguments"
                found.append(CallDelta(KEY, name=_decoded(opened["name"][1:-1]), opens=True))
                return True
            depth = Depth()
            ends = depth.feed(self._buffer)
            if not ends and len(self._buffer) < LONGEST_OPENING:
                return False
        else:
            depth = self._depth
            ends = depth.feed(self._buffer)
        if not ends:
            self._depth = depth
            self._pieces.append(self._taken(len(self._buffer)))
            return False
        self._pieces.append(self._taken(ends[0]))
        lead, text = self._pieces[0], "".join(self._pieces[1:])
        self._pieces = []
        said = None if self._damaged else self._meaning(text)
        if said is None:
            found += self._text(lead + text)
            self._state = "text"
        else:
            found += said
            self._end_object()
        return True

    def _read_answer(self, found: list[Event]) -> bool:
        inside = _IN_STRING.match(self._buffer)
        assert inside is not None
        end = inside.end()
        found += self._text(_decoded(self._taken(end)))
        if self._buffer.startswith('"'):
            self._taken(1)
            self._begin_rest()
            return True
        if not self._buffer or _HALF_ESCAPE.match(self._buffer):
            return False
        found += self._text(self._taken(1))  # half of a pair, or an escape that is none: as it stands
        return True

    def _read_arguments(self, found: list[Event]) -> bool:
        ends = self._depth.feed(self._buffer)
        text = self._taken(ends[0] if ends else len(self._buffer))
        found.append(CallDelta(KEY, text=text))
        if ends:
            self._begin_rest()
        return bool(ends)

    def _begin_rest(self) -> None:
        """What follows in the object behind its last key that counts: its end, if it keeps to the form."""
        self._depth = Depth()
        self._depth.depth = 1
        self._state = "rest"

    def _read_rest(self) -> bool:
        ends = self._depth.feed(self._buffer)
        self._taken(ends[0] if ends else len(self._buffer))
        if ends:
            self._end_object()
        return bool(ends)

    def _end_object(self) -> None:
        self._found = True
        self._state = "after" if self._called else "text"

    # ── at the end ───────────────────────────────────────────────────────────────────────────────────────────────

    def _meaning(self, text: str) -> list[Event] | None:
        """What a whole object says that did not keep to the form; `None` where it is no object of ours."""
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            return None
        if not value:
            return []
        if ANSWER in value and not value.keys() & {*NAMES}:
            answer = value[ANSWER]
            said = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
            return self._text("\n" + said if self._told else said)
        name = next((value[each] for each in NAMES if isinstance(value.get(each), str)), None)
        given = next((value[each] for each in PARAMETERS if value.get(each) is not None), None)
        if name is None or value.keys() - {*NAMES, *PARAMETERS} or (given is None and TOOL not in value):
            return None
        self._called = True
        if isinstance(given, str):
            return [CallDelta(KEY, name=name, text=given, opens=True)]
        return [CallDelta(KEY, name=name, arguments={} if given is None else given, opens=True)]

    def _cut_object(self, text: str) -> list[Event]:
        """An object without its end. Where it was to be a call it is one that is not run: it lacks its arguments."""
        start = text.find("{")
        cut = None if self._damaged else _CUT_CALL.match(text, start)
        if cut is None:
            if _CUT_OPENING.fullmatch(text.strip()):
                return [Unread(text, "stream.unreadable")]
            return self._text(text)
        self._called = True
        self._state = "after"
        return [CallDelta(KEY, name=cut["name"], text="{", opens=True)]

    # ── pieces ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _taken(self, end: int) -> str:
        taken, self._buffer = self._buffer[:end], self._buffer[end:]
        return taken

    def _text(self, text: str) -> list[Event]:
        if not text:
            return []
        self._told = True
        text = "".join((*self._spaces, text))
        self._spaces = []
        return [TextDelta(text, CONTENT)]


def _decoded(text: str) -> str:
    """The inside of a JSON string; escapes that are none stay as they stand."""
    if "\\" not in text:
        return text
    kept = re.sub(r"\\(.)", lambda found: found[0] if found[1] in _ESCAPES else "\\" + found[0], text, flags=re.DOTALL)
    try:
        value: Any = json.loads(f'"{kept}"', strict=False)
        value.encode("utf-8")
    except ValueError:  # half of a surrogate pair, or of an escape
        return text
    return str(value)
