"""Calls in markup: a tag with the tool's name, and one tag for each argument. The arguments are strings.

    <function=name><parameter=key>value</parameter></function>                  Qwen3-Coder, Nemotron, Seed
    <invoke name="name"><parameter name="key">value</parameter></invoke>        MiniMax M2, and the like of it
    <tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>       GLM

Which kind of value a string is meant to be is for the schema to say, later. Only DeepSeek's own markup says by itself
which values are JSON. A value ends with the closing tag behind which the markup goes on, so that it may have such tags
in it; one that swallows the next argument has no clear end, and the call is told as broken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from toolbridge.stream.text_calls.envelopes import CUT_OFF, read_name
from toolbridge.stream.text_calls.page import Asked, Page, Reading, Span, read_value


@dataclass(frozen=True, slots=True)
class Markup:
    """One way to write arguments in tags."""

    begins: str
    """What the tag of an argument begins with."""
    tag: re.Pattern[str]
    """The whole tag, with its `key`."""
    closes: str
    """What ends a value."""
    end: str
    """What ends the call."""
    opens: tuple[str, ...]
    """What another call begins with."""
    lines: bool = False
    """Whether a value stands on lines of its own, with a line end on either side."""


FUNCTION: Final = Markup(
    begins="<parameter=",
    tag=re.compile(r"<parameter=(?P<key>[^<>\n]{1,256})>"),
    closes="</parameter>",
    end="</function>",
    opens=("<function=", "<tool_call>"),
    lines=True,
)
GLM: Final = Markup(
    begins="<arg_key>",
    tag=re.compile(r"<arg_key>(?P<key>[^<>]{1,256})</arg_key>\s{0,64}<arg_value>"),
    closes="</arg_value>",
    end="</tool_call>",
    opens=("<tool_call>",),
)


def _invoke(space: str) -> Markup:
    return Markup(
        begins=f"<{space}parameter name=",
        tag=re.compile(
            rf"""<{space}parameter name=(["'])(?P<key>[^"'<>]{{1,256}})\1"""
            r"""(?:\s{1,8}string="(?P<string>true|false)")?\s{0,8}>"""
        ),
        closes=f"</{space}parameter>",
        end=f"</{space}invoke>",
        opens=(f"<{space}invoke name=",),
    )


INVOKE: Final = {space: _invoke(space) for space in ("", "antml:", "｜DSML｜")}
"""By the namespace of the tags: none, Anthropic's, DeepSeek's (V3.2 and V4)."""

_FUNCTION_TAG = re.compile(r"<function=(?P<name>[^\s<>]{1,256})>")
_INVOKE_TAG = re.compile(r"""<(?P<space>antml:|｜DSML｜|)invoke name=(["'])(?P<name>[^"'<>]{1,256})\2\s{0,8}>""")


def read_invoke(page: Page, start: int, body: int) -> Reading:
    """`<invoke name="…">`: marked, whatever the name is."""
    tag = _INVOKE_TAG.match(page.text, start)
    name = None if tag is None else read_name(tag["name"], page)
    if tag is None or name is None:
        return Reading(body)
    found = read_arguments_of(page, name, tag.end(), INVOKE[tag["space"]])
    return Reading(tag.end()) if found is None else Reading(found[1], (Span(start, found[1], (found[0],)),))


def read_bare_function(page: Page, start: int, body: int) -> Reading:
    """`<function=…>` without a `<tool_call>` around it: a call only where there is such a tool."""
    found = read_function(page, start, marked=False)
    if found is None or found[0].name not in page.names:
        return Reading(body if found is None else found[1])
    return Reading(found[1], (Span(start, found[1], (found[0],)),))


def read_function(page: Page, start: int, *, marked: bool) -> tuple[Asked, int] | None:
    """One `<function=…>`, with tags in it or, as Llama 3.1 has it, with a JSON object."""
    tag = _FUNCTION_TAG.match(page.text, start)
    name = None if tag is None else read_name(tag["name"], page)
    if tag is None or name is None:
        return None
    at = page.skip(tag.end())
    if not page.has_json(at):
        return read_arguments_of(page, name, at, FUNCTION)
    decoded = page.decode(at)
    if decoded is not None:
        after = page.skip(decoded[1])
        end = page.starts(after, (FUNCTION.end,))
        if end > 0 or page.over(after):
            return Asked(name, page.text[at : decoded[1]]), end if end > 0 else decoded[1]
    limit = page.limit(at, (FUNCTION.end,), FUNCTION.opens)
    if not limit.closed and (decoded is not None or not marked):
        return None  # braces in the middle of a text: somebody tells how it is done
    return Asked(name, page.text[at : limit.start].strip()), limit.end


def read_arguments_of(page: Page, name: str, at: int, markup: Markup) -> tuple[Asked, int] | None:
    """The call, from behind the tag with its name on, and the place behind it; `None` where no markup follows."""
    body = at = page.skip(at)
    if at < page.size and not page.text.startswith((markup.begins, markup.end), at):
        return None
    arguments: dict[str, Any] = {}
    while (end := page.starts(at, (markup.end,))) < 0:
        tag = markup.tag.match(page.text, at)
        if tag is None:
            problem = CUT_OFF if at >= page.size else f"something else stands after {_count(arguments)}"
            return _broken(page, name, body, at, markup, problem)
        key = tag["key"].strip()
        close = _value_end(page, tag.end(), markup)
        if close < 0:
            return _broken(page, name, body, tag.end(), markup, f"the value of {key!r} has no clear end")
        at = page.skip(close + len(markup.closes))
        if key in arguments:
            return _broken(page, name, body, at, markup, f"the argument {key!r} is given twice")
        value = page.text[tag.end() : close]
        if tag.groupdict().get("string") == "false":
            read = read_value(value)
            if read is None:
                return _broken(page, name, body, at, markup, f"the value of {key!r} is not valid JSON")
            arguments[key] = read[0]
        else:
            arguments[key] = value.removeprefix("\n").removesuffix("\n") if markup.lines else value
    return Asked(name, arguments), end


def _value_end(page: Page, at: int, markup: Markup) -> int:
    """The closing tag behind which the markup goes on; -1 where the next argument begins before there is one."""
    next_argument = page.find(markup.begins, at)
    while True:
        close = page.find(markup.closes, at)
        if close > next_argument or close == page.size:
            return -1
        at = close + len(markup.closes)
        after = page.skip(at)
        if after >= page.size or page.text.startswith((markup.begins, markup.end), after):
            return close


def _broken(page: Page, name: str, body: int, at: int, markup: Markup, problem: str) -> tuple[Asked, int]:
    limit = page.limit(at, (markup.end,), markup.opens)
    return Asked(name, page.text[body : limit.start].strip(), f"the arguments cannot be read: {problem}"), limit.end


def _count(arguments: dict[str, Any]) -> str:
    return f"the argument {list(arguments)[-1]!r}" if arguments else "the name"
