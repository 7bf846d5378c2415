"""Characters that look like others, and characters that look like nothing. Tables, and what is made of them.

The tables are ours and small: letters of other scripts that pass for a Latin one in common fonts. Full-width and
mathematical letters come from Unicode's own compatibility mappings. What a text *reads* as keeps the offsets, so that a
finding points into the text as it was sent.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

LETTERS: Final = {
    # Cyrillic
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "і": "i", "ј": "j", "к": "k", "ӏ": "l", "м": "m",
    "н": "h",
    "о": "o", "р": "p", "ԛ": "q", "г": "r", "ѕ": "s", "т": "t", "ѵ": "v", "ԝ": "w", "х": "x", "у": "y", "ё": "e",
    "ї": "i",
    "А": "A", "В": "B", "С": "C", "Е": "E", "Н": "H", "І": "I", "Ј": "J", "К": "K", "М": "M", "О": "O", "Р": "P",
    "Ѕ": "S",
    "Т": "T", "Х": "X", "У": "Y", "Ԝ": "W", "Ӏ": "l",
    # Greek
    "α": "a", "ε": "e", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u", "χ": "x", "γ": "y",
    "ϲ": "c",
    "ϳ": "j", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N", "Ο": "O",
    "Ρ": "P",
    "Τ": "T", "Υ": "Y", "Χ": "X",
    # Armenian, Cherokee, and Latin letters that are not ASCII
    "օ": "o", "ո": "n", "ս": "u", "հ": "h", "ց": "g", "զ": "q", "Ꭺ": "A", "Ꭼ": "E", "Ꮋ": "H", "Ꮖ": "I", "Ꮶ": "K",
    "Ꮇ": "M",
    "Ꮲ": "P", "Ꮪ": "S", "Ꭲ": "T", "Ꮤ": "W", "Ꮓ": "Z", "ı": "i", "ɑ": "a", "ɡ": "g", "ɩ": "i", "ʟ": "l", "ᴏ": "o",
    "ƅ": "b",
    # marks between words
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "ǀ": "l", "∣": "l", "’": "'", "‘": "'",
}  # fmt: skip
"""What each of these passes for."""

ALIKE: Final = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("I", "l"), ("|", "l"))
"""ASCII that passes for other ASCII. A capital I passes for a small L; that is why case is not folded before."""

NOTHING: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that show nothing, as the inside of a character class: joiners, fillers, selectors and tags."""

_NOTHING = re.compile(f"[{NOTHING}\u202a-\u202e\u2066-\u2069]")


@cache
def likeness(character: str) -> str:
    """The one character that this one passes for, itself where there is none, nothing where it shows nothing."""
    if character.isascii():
        return character
    if _NOTHING.match(character):
        return ""
    known = LETTERS.get(character)
    if known is not None:
        return known
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def skeleton(name: str) -> str:
    """What a name looks like: two names that look alike have the same."""
    if not name.isascii():
        decomposed = unicodedata.normalize("NFKC", name)
        name = "".join(map(likeness, decomposed))
    for one, other in ALIKE:
        name = name.replace(one, other)
    return name.lower()


class _Likenesses(dict[int, str]):
    """What each character passes for, worked out when it is first met: `str.translate` asks here."""

    def __missing__(self, code: int) -> str:
        self[code] = alike = likeness(chr(code)) if code < 0xD800 or code > 0xDFFF else chr(code)
        return alike


_LIKENESSES = _Likenesses()


def folded(text: str) -> str:
    """A text in lower case as eyes and models read it."""
    return text.lower() if text.isascii() else text.translate(_LIKENESSES).lower()


def read_as(text: str) -> tuple[str, list[int] | None]:
    """A text in lower case as eyes and models read it, and the offset of each character in the text as it was.

    No offsets are given where nothing was left out.
    """
    if text.isascii():
        return text.lower(), None
    kept: list[str] = []
    offsets: list[int] = []
    for i, each in enumerate(text):
        alike = likeness(each).lower()
        if len(alike) == 1:
            kept.append(alike)
            offsets.append(i)
    return "".join(kept), offsets


@cache
def script(character: str) -> str:
    """The script of a letter, by the first word of its name; nothing for what is no letter."""
    if not character.isalpha():
        return ""
    if character.isascii():
        return "LATIN"
    name = unicodedata.name(character, "")
    first = name.partition(" ")[0]
    return {
        "FULLWIDTH": "FULLWIDTH",
        "MATHEMATICAL": "MATHEMATICAL",
        "HIRAGANA": "CJK",
        "KATAKANA": "CJK",
        "HANGUL": "CJK",
    }.get(first, first)
