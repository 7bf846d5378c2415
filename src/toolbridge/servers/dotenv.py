"""Files of variables (`envFile`): lines of `NAME=value`, as far as the tools that write them agree.

`export ` in front, comments, single quotes (as it stands) and double quotes (with escapes). Nothing is expanded, and a
value ends with its line.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*)", re.DOTALL)
_SINGLE = re.compile(r"'([^']*)'\s*(?:#.*)?")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?:#.*)?')
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_dotenv(data: bytes) -> tuple[dict[str, str], list[str]]:
    """The variables, and what is wrong with the lines that are none. A line is named by its number, never shown."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return {}, ["is not text in UTF-8"]
    values: dict[str, str] = {}
    problems: list[str] = []
    for number, line in enumerate((each.strip() for each in text.split("\n")), 1):
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        value = _value(match[2]) if match else None
        if match is None:
            problems.append(f"line {number} is not NAME=value")
        elif value is None:
            problems.append(f"line {number} has a quote that is not closed")
        elif "\0" in value:
            problems.append(f"line {number} holds a NUL character")
        else:
            values[match[1]] = value
    return values, problems


def _value(text: str) -> str | None:
    if text.startswith("'"):
        match = _SINGLE.fullmatch(text)
        return match[1] if match else None
    if text.startswith('"'):
        match = _DOUBLE.fullmatch(text)
        return re.sub(r"\\(.)", lambda each: _ESCAPES.get(each[1], each[1]), match[1]) if match else None
    return re.split(r"\s#", text, maxsplit=1)[0].strip()
