"""What becomes of a result and of a message's content: what a provider can carry is placed, the rest is said in text.

Pure functions over content and `Carries`. They know no wire format and no turn: `history.turns` calls them and puts
what they make where it belongs. Decisions that the rules leave open:

- A link in a result is said in text, with all that is known of it: nothing is lost, and there is no note. A user's link
  that could have been an image or a file is noted.
- A resource with text is text in a result, under a line that names it. In a message it is a document where documents of
  its type are carried. A `blob` that is text is read as text wherever it is not carried as it is.
- A resource that is an image or a sound is one; in a result a line of text still names its address.
- Data that is no base64 is never sent. Where the bytes are plainly an image of another kind than is claimed, they go
  under their true name: providers look, and refuse the whole request (llxprt-code#2130).
- Texts of white space alone count as empty: they are refused too (claude-code#23369).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from toolbridge.history.data import (
    UNTOLD,
    Data,
    Medium,
    bare_type,
    carried,
    kind_of,
    link_type,
    listed,
    read_data,
)
from toolbridge.history.rules import Carries, Rules
from toolbridge.history.said import (
    described,
    headed,
    is_blank,
    json_text,
    result_text,
    said_within,
    says,
    sendable,
    unreadable,
    well_formed,
)
from toolbridge.notes import Note
from toolbridge.types import Audio, Content, Image, Resource, ResourceLink, Text, ToolResult

if TYPE_CHECKING:
    from toolbridge.history.turns import Block, TurnPart

__all__ = ["NOTHING_RETURNED", "NOTHING_SAID", "Placed", "described", "placed_parts", "placed_result", "result_text"]

NOTHING_RETURNED = "(The tool returned nothing.)"
"""The text of a result that has none: an empty one is refused."""

NOTHING_SAID = "(The tool failed and said nothing.)"
"""The text of a failure that has none."""

FAILED = "Error: the tool failed."
"""The text of a failure that shows media alone, where there is no flag that says so."""

CUT = "\n[the rest was cut: the result is longer than the provider accepts]"
"""The end of a result that is cut."""

_AFTER = {"image": "image.after", "audio": "audio.after", "resource": "resource.after"}
_DESCRIBED = {"image": "image.described", "audio": "audio.described", "resource": "resource.described"}
_UNREADABLE = {"image": "image.unreadable", "audio": "audio.unreadable", "resource": "resource.unreadable"}


@dataclass(frozen=True, slots=True)
class Placed:
    """A result, taken apart. Paths of the notes start at the result: `/content/1`, `/structured`."""

    blocks: tuple[Block, ...]
    """Never empty."""
    structured: Any = None
    """To be sent in place of the text blocks, which then say the same and nothing else."""
    after: tuple[Medium, ...] = ()
    """What stands in the user's message that follows the results; a text among the blocks says that it does."""
    notes: tuple[Note, ...] = ()


def placed_result(result: ToolResult, rules: Rules) -> Placed:
    """The result as these rules let it be sent, and what had to change."""
    placing = _Placing(rules)
    for i, block in enumerate(result.content):
        placing.place(block, f"/content/{i}")
    if result.structured is not None:
        placing.place_structured(result.structured, result.is_error)
    if not placing.blocks:
        placing.blocks.append(Text(NOTHING_SAID if result.is_error else NOTHING_RETURNED))
        placing.notes.append(Note("result.empty", "changed"))
    elif result.is_error and not rules.error_flag:
        placing.say_error()
    if rules.longest_result is not None:
        placing.cut(rules.longest_result)
    return Placed(tuple(placing.blocks), placing.structured, tuple(placing.after), tuple(placing.notes))


class _Placing:
    """A result while its parts are placed."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.blocks: list[Block] = []
        self.structured: Any = None
        self.after: list[Medium] = []
        self.notes: list[Note] = []
        self.texts: list[str] = []
        """What the tool itself says in text, which may be its structured content."""
        self.others: list[str] = []
        """What else is said."""

    def place(self, block: Content, path: str) -> None:
        match block:
            case Text():
                text = _whole(block, path, self.notes)
                if not is_blank(text.text):
                    self.blocks.append(text)
                    self.texts.append(text.text)
            case ResourceLink():
                self.say(described(block), path)
            case Resource() if block.text is not None:
                self.say(described(block), path)
                self.others.append(block.text)
            case Image() | Audio() | Resource():
                self.place_medium(block, path)

    def say(self, text: str, path: str) -> None:
        self.blocks.append(_whole(Text(text), path, self.notes))
        self.others.append(text)

    def place_medium(self, block: Medium, path: str) -> None:
        data = read_data(block)
        if data is None:
            self.notes.append(Note(_UNREADABLE[kind_of(block)], "narrowed", path, block.mime_type))
            self.say(unreadable(block), path)
        elif not _is_blank(data) and (inside := carried(block, data, self.rules.in_results)) is not None:
            _note_type(block, data, path, self.notes)
            if isinstance(block, Resource) and not isinstance(inside, Resource) and block.uri:
                self.say(f"[resource: {block.uri}, {data.mime_type}]", path)
            self.blocks.append(inside)
        elif isinstance(block, Resource) and (text := data.text) is not None:
            self.say(headed(block, text), path)
            self.others.append(text)
        elif (follows := carried(block, data, self.rules.in_user)) is not None:
            _note_type(block, data, path, self.notes)
            self.notes.append(Note(_AFTER[data.kind], "changed", path, block.mime_type))
            self.say(described(block)[:-1] + ", in the message that follows]", path)
            self.after.append(follows)
        else:
            self.notes.append(Note(_DESCRIBED[data.kind], "narrowed", path, block.mime_type))
            self.say(described(block), path)

    def place_structured(self, structured: Any, is_error: bool) -> None:
        """Once: as it is, where no text says anything else; otherwise as text, unless one says it."""
        alone = not self.others and (not self.texts or says(self.texts, structured))
        if self.rules.structured and alone and (self.rules.error_flag or not is_error):
            self.structured = sendable(structured)
        if not said_within([*self.texts, *self.others], structured):
            self.blocks.append(_whole(Text(json_text(structured, compact=True)), "/structured", self.notes))

    def say_error(self) -> None:
        """Make the first text say that this is an error, unless it does."""
        for i, each in enumerate(self.blocks):
            if isinstance(each, Text):
                if each.text.lstrip()[:5].lower() == "error":
                    return
                self.blocks[i] = replace(each, text=f"Error: {each.text}")
                break
        else:
            self.blocks.insert(0, Text(FAILED))
        self.notes.append(Note("error.said", "changed"))

    def cut(self, longest: int) -> None:
        """Leave the end of the text away that is too much, if there is any. Media stay."""
        texts = [block.text for block in self.blocks if isinstance(block, Text)]
        length = sum(map(len, texts)) + max(len(texts) - 1, 0)  # formats with one string join them by line breaks
        if length <= longest:
            return
        left = max(longest - len(CUT), 0)
        blocks, self.blocks, self.structured = self.blocks, [], None
        for each in blocks:
            if not isinstance(each, Text):
                self.blocks.append(each)
            elif left >= 0:
                whole = len(each.text) < left
                self.blocks.append(each if whole else replace(each, text=each.text[:left] + CUT))
                left = left - len(each.text) - 1 if whole else -1
        self.notes.append(Note("result.cut", "narrowed", before=length))


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────


def placed_parts(parts: Sequence[Content], carries: Carries) -> tuple[tuple[TurnPart, ...], tuple[Note, ...]]:
    """The content of a message as a place that carries this can hold it. Paths of the notes start at the parts: `/1`.

    Empty texts are gone, unless there is something `opaque` beside them that their provider wants back.
    """
    placed: list[TurnPart] = []
    notes: list[Note] = []
    for i, block in enumerate(parts):
        part = _part(block, carries, f"/{i}", notes)
        if not isinstance(part, Text) or part.opaque or not is_blank(part.text):
            placed.append(part)
    return tuple(placed), tuple(notes)


def _part(block: Content, carries: Carries, path: str, notes: list[Note]) -> Content:
    match block:
        case Text():
            return _whole(block, path, notes)
        case ResourceLink():
            mime_type = link_type(block, carries.links)
            if mime_type is not None and block.uri[:8].lower().startswith(("https://", "http://")):
                return replace(block, uri=well_formed(block.uri), mime_type=mime_type)
            notes.append(Note("link.said", "changed", path, block.uri))
            return _whole(Text(described(block)), path, notes)
        case Resource() if block.text is not None:
            mime_type = listed(bare_type(block.mime_type), carries.documents)
            if mime_type is None or is_blank(block.text):
                return _whole(Text(described(block)), path, notes)
            return Resource(well_formed(block.uri), mime_type, _whole(Text(block.text), path, notes).text)
        case Image() | Audio() | Resource():
            return _medium(block, carries, path, notes)


def _medium(block: Medium, carries: Carries, path: str, notes: list[Note]) -> Content:
    data = read_data(block)
    if data is None:
        notes.append(Note(_UNREADABLE[kind_of(block)], "narrowed", path, block.mime_type))
        return _whole(Text(unreadable(block)), path, notes)
    held = carried(block, data, carries)
    if held is not None and not _is_blank(data):
        _note_type(block, data, path, notes)
        if isinstance(block, Resource) and not isinstance(held, Resource) and block.uri:
            notes.append(Note("uri.dropped", "narrowed", path, block.uri))
        return held
    if isinstance(block, Resource) and (text := data.text) is not None:
        return _whole(Text(headed(block, text)), path, notes)
    notes.append(Note(_DESCRIBED[data.kind], "narrowed", path, block.mime_type))
    return _whole(Text(described(block)), path, notes)


def _is_blank(data: Data) -> bool:
    """Whether it is a text file with nothing in it, which is refused as a document."""
    text = data.text
    return text is not None and is_blank(text)


# ── notes ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _note_type(block: Medium, data: Data, path: str, notes: list[Note]) -> None:
    told = bare_type(block.mime_type)
    if told not in UNTOLD and told != data.mime_type:
        notes.append(Note("mime.corrected", "changed", path, block.mime_type))


def _whole(part: Text, path: str, notes: list[Note]) -> Text:
    """The text, in whole characters."""
    text = well_formed(part.text)
    if text == part.text:
        return part
    notes.append(Note("character.replaced", "narrowed", path))
    return replace(part, text=text)
