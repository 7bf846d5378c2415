"""Differences for people: hidden characters made visible, texts compared word by word, tools line by line.

Between `compare`, which finds what changed, and those who print. Whatever a server wrote is untrusted: nothing of it is
handed on that a terminal would obey or an eye would miss. What a comparison may cost is an `Effort` (`matching`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbridge.lock.matching import Effort, Operation, operations
from toolbridge.lock.surface import IDENTITY, LockedServer, LockedTool

LONGEST_QUOTE = 240
"""Characters of a server's text that one sentence quotes; the diff has the rest."""

CONTEXT = 3
"""Lines around a change, as `diff -u` has it."""

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d173-\U0001d17a\U000e0100-\U000e01ef]"
)
"""Characters that count as printable and show nothing: fillers, joiners, selectors of variants."""

_KNOWN_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def seen(text: str) -> str:
    """The text on one line, with every character that is not to be seen as JSON's escape for it."""
    if text.isprintable() and (text.isascii() or not _UNSEEN.search(text)):
        return text
    return "".join(each if each.isprintable() and not _UNSEEN.match(each) else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    if character in _KNOWN_ESCAPES:
        return _KNOWN_ESCAPES[character]
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def quoted(text: str) -> str:
    """A server's text in a sentence: seen, in quotes, cut where it is long."""
    text = seen(text)
    return f'"{text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"}"'


def shown(value: Any) -> str:
    """A value of a schema in a sentence."""
    text = seen(json.dumps(value, ensure_ascii=False, sort_keys=True))
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"


def word_changes(old: str, new: str, effort: Effort) -> str:
    """What became of a text: which words came, and which went."""
    if not effort.spend(len(old) + len(new)):
        return "how is not looked at here, so much has changed"
    if old.split() == new.split():
        return "only its white space changed" if _bare(old) == _bare(new) else _hidden(old, new, effort)
    gone: list[str] = []
    came: list[str] = []
    for before, after in _parts(_WORD.findall(old), _WORD.findall(new), effort):
        gone += ["".join(before).strip()] if before else []
        came += ["".join(after).strip()] if after else []
    if _bare(old) == _bare(new):
        return _hidden(old, new, effort)
    parts = [f"new words: {quoted(' … '.join(filter(None, came)))}"] if any(came) else []
    if any(gone):
        parts.append(f"words gone: {quoted(' … '.join(filter(None, gone)))}")
    return "; ".join(parts) or "only its white space changed"


_WORD = re.compile(r"\s*\S+|\s+$")


def _bare(text: str) -> str:
    """What an eye sees of a text."""
    return "".join(each for each in text if each.isprintable() and each != " " and not _UNSEEN.match(each))


def _hidden(old: str, new: str, effort: Effort) -> str:
    """Two texts that look alike."""
    differences = [*_parts(list(old), list(new), effort)]
    came = "".join(each for _, after in differences for each in after)
    gone = "".join(each for before, _ in differences for each in before)
    unseen = "".join(each for each in came if not _bare(each) and not each.isspace())
    if unseen:
        return f"it looks the same and has hidden characters now: {quoted(unseen)}"
    unseen = "".join(each for each in gone if not _bare(each) and not each.isspace())
    return (
        f"it looks the same and hidden characters are gone: {quoted(unseen)}" if unseen else "its white space changed"
    )


def _parts(old: Sequence[str], new: Sequence[str], effort: Effort) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """What stood at each difference, and what stands there."""
    for tag, a, b, c, d in operations(old, new, effort):
        if tag != "equal":
            yield old[a:b], new[c:d]


def diff_lines(server: str, old: LockedServer | None, new: LockedServer | None) -> list[str]:
    """A unified diff of a server: a part for itself and one for each tool that changed. Every line can be printed."""
    lines: list[str] = []
    effort = Effort()
    before, after = (each.identity if each else {} for each in (old, new))
    label = seen(server)
    if before != after:
        lines += _unified(label, old and _identity_lines(before), new and _identity_lines(after), effort)
    tools = [each.tools if each else {} for each in (old, new)]
    for name in sorted({*tools[0], *tools[1]}):
        left, right = (each.get(name) for each in tools)
        if left is None or right is None or left.digest != right.digest:
            lines += _unified(f"{label}/{seen(name)}", _tool_lines(left), _tool_lines(right), effort)
    return lines


def _identity_lines(identity: Mapping[str, Any]) -> list[str]:
    return [line for key in IDENTITY if key in identity for line in _field_lines(key, identity[key])]


def _tool_lines(tool: LockedTool | None) -> list[str] | None:
    return None if tool is None else [line for key, each in tool.content.items() for line in _field_lines(key, each)]


def _field_lines(key: str, value: Any) -> list[str]:
    """A field as lines: a text as it reads, anything else as JSON."""
    if isinstance(value, str):
        return [f"{key}:", *(f"  {seen(line)}" for line in value.split("\n"))]
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
    return [f"{key}:", *(f"  {seen(line)}" for line in text.split("\n"))]


def _unified(label: str, before: list[str] | None, after: list[str] | None, effort: Effort) -> list[str]:
    """Two texts as `diff -u` shows them; `None` is one that is not there at all."""
    old, new = before or [], after or []
    lines = [
        "--- /dev/null" if before is None else f"--- locked/{label}",
        "+++ /dev/null" if after is None else f"+++ now/{label}",
    ]
    for group in _groups(operations(old, new, effort)):
        _, a, _, c, _ = group[0]
        _, _, b, _, d = group[-1]
        lines.append(f"@@ -{_range(a, b)} +{_range(c, d)} @@")
        for tag, start, end, to, until in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[start:end]]
            else:
                lines += [f"-{line}" for line in old[start:end]]
                lines += [f"+{line}" for line in new[to:until]]
    return lines


def _range(start: int, end: int) -> str:
    """Lines as `diff -u` counts them."""
    count = end - start
    return f"{start + 1 if count else start},{count}"


def _groups(found: list[Operation]) -> Iterator[list[Operation]]:
    """Changes with a few lines around them; those that stand close together in one group."""
    group: list[Operation] = []
    for place, (tag, a, b, c, d) in enumerate(found):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        first, last = place == 0, place == len(found) - 1
        if not first and (last or b - a > 2 * CONTEXT):
            yield [*group, (tag, a, min(b, a + CONTEXT), c, min(d, c + CONTEXT))]
            group = []
        if not last and (first or b - a > 2 * CONTEXT):
            group = [(tag, max(a, b - CONTEXT), b, max(c, d - CONTEXT), d)]
        elif not first and not last:
            group.append((tag, a, b, c, d))
    if any(tag != "equal" for tag, *_ in group):
        yield group
