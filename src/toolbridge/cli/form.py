"""Questions of a server to the person at the terminal, in the middle of a call.

A question is a flat form of texts, numbers, yes or no, and choices. The person may answer, decline or cancel;
where nobody is at a terminal it is declined, and stderr says so. An address to open is shown and never opened.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from toolbridge.cli.arguments import ArgumentsError, read_arguments
from toolbridge.cli.paragraph import folded, one_line
from toolbridge.cli.servers import is_attended
from toolbridge.cli.signature import Parameter, parameters
from toolbridge.cli.terminal import columns
from toolbridge.errors import ToolbridgeError
from toolbridge.types import Tool, ToolId

if TYPE_CHECKING:
    from toolbridge.cli.progress import Line

DECLINE = ":decline"
CANCEL = ":cancel"

_YES = ("y", "yes", "j", "ja", "true", "1", "o", "oui", "s", "si", "sí")
_NO = ("n", "no", "nein", "false", "0", "non", DECLINE)


class _Left(Exception):
    """The person answered with what is to be done instead."""

    def __init__(self, action: str) -> None:
        self.action = action


class Form:
    """Asks at the terminal. `line` is what else is there, and makes room; `hidden` takes secrets out of a text."""

    def __init__(self, line: Line, hidden: Callable[[str], str]) -> None:
        self.line = line
        self.paint = line.paint
        self.hidden = hidden

    async def elicit(self, server: str, params: Any) -> dict[str, Any]:
        """A question of a server: what the protocol calls an elicitation."""
        message = self.hidden(params.message)
        if not is_attended():
            self.line.say(f"{one_line(server)} asks: {one_line(message)} (declined: there is no terminal to ask at)")
            return {"action": "decline"}
        self.line.hold(True)
        try:
            if getattr(params, "mode", "form") == "url":
                return await self._address(server, message, params.url)
            return await self._form(server, message, params.requested_schema)
        except _Left as left:
            return {"action": left.action}
        finally:
            self.line.hold(False)

    async def _address(self, server: str, message: str, url: str) -> dict[str, Any]:
        self._ask(server, message)
        self._say(f"  {self.paint(one_line(url), 'bold')}")
        self._say(self.paint("  Open it only if you trust this server.", "dim"))
        if await self._sure("Did you, or will you, open it?"):
            return {"action": "accept"}
        return {"action": "decline"}

    async def _form(self, server: str, message: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        self._ask(server, message)
        fields = {each.name: each for each in parameters(schema)}
        if not fields:
            return {"action": "accept", "content": {}} if await self._sure("Do you agree?") else {"action": "decline"}
        self._say(self.paint(f"  ({DECLINE} declines, {CANCEL} or Ctrl-D cancels)", "dim"))
        content: dict[str, Any] = {}
        properties: Mapping[str, Any] = schema.get("properties") or {}
        for name, one in properties.items():
            content |= await self._field(fields[name], one if isinstance(one, Mapping) else {})
        return {"action": "accept", "content": content}

    async def _field(self, field: Parameter, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for one value until there is one that the schema takes; nothing where it may be left out."""
        choices = _choices(schema)
        for text in (schema.get("title"), schema.get("description")):
            if isinstance(text, str) and text and text.replace(" ", "_").lower() != field.name.lower():
                self._say(*(f"  {each}" for each in folded(one_line(text), columns() - 2)))
        for i, (_, label) in enumerate(choices, 1):
            self._say(f"    {i}  {label}")
        default = schema.get("default")
        hint = f" [{_spelt(default)}]" if default is not None else "" if field.required else " (may be left out)"
        several = ", several with commas between" if schema.get("type") == "array" else ""
        kind = "" if choices else f" ({one_line(field.type)})"
        while True:
            answer = await self._line(f"  {self.paint(one_line(field.name), 'bold')}{kind}{several}{hint}: ")
            if not answer:
                if default is not None:
                    return {field.name: default}
                if not field.required:
                    return {}
                if schema.get("type") != "string" or schema.get("minLength", 0) or choices:
                    self._say("  This one is needed.")
                    continue
            try:
                return self._typed(field.name, schema, choices, answer)
            except ToolbridgeError as refused:
                problems = refused.problems if isinstance(refused, ArgumentsError) else [str(refused)]
                self._say(*(f"  {one_line(each)}" for each in problems))

    def _typed(
        self, name: str, schema: Mapping[str, Any], choices: list[tuple[str, str]], answer: str
    ) -> dict[str, Any]:
        several = schema.get("type") == "array"
        answers = [each.strip() for each in answer.split(",") if each.strip()] if several else [answer]
        by_number = {str(i): value for i, (value, _) in enumerate(choices, 1)}
        by_label = {label: value for value, label in choices}
        values = {value for value, _ in choices}
        words = [each if each in values else by_number.get(each, by_label.get(each, each)) for each in answers]
        asked = {"type": "object", "properties": {"answer": schema}, "required": ["answer"]}
        plain = [f"@{word}" if word.startswith("@") else word for word in words]  # no file is read for a server
        given = read_arguments([f"answer={word}" for word in plain], Tool(ToolId("", name), "", asked))
        return {name: given["answer"]}

    async def _sure(self, question: str) -> bool:
        while True:
            answer = (await self._line(f"  {question} [y/n] ")).lower()
            if answer in _YES:
                return True
            if answer in _NO:
                return False

    async def _line(self, prompt: str) -> str:
        answer = await read_line(prompt)
        if answer is None or answer.strip() == CANCEL:
            raise _Left("cancel")
        if answer.strip() == DECLINE:
            raise _Left("decline")
        return answer.strip()

    def _ask(self, server: str, message: str) -> None:
        self._say(f"{self.paint(one_line(server), 'bold')} asks:")
        for line in message.strip().splitlines():
            self._say(*(f"  {each}" for each in folded(one_line(line), columns() - 2)))

    def _say(self, *lines: str) -> None:
        for each in lines:
            print(each, file=sys.stderr, flush=True)


def _choices(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The values of a choice and how they are called, of all the ways in which the protocol has written them."""
    items = schema.get("items")
    node = items if schema.get("type") == "array" and isinstance(items, Mapping) else schema
    for keyword in ("oneOf", "anyOf"):
        titled = node.get(keyword)
        if isinstance(titled, list) and all(isinstance(each, Mapping) and "const" in each for each in titled):
            return [(str(each["const"]), one_line(str(each.get("title") or each["const"]))) for each in titled]
    values = node.get("enum")
    if not isinstance(values, list):
        return []
    names = node.get("enumNames")
    names = names if isinstance(names, list) and len(names) == len(values) else values
    return [(str(value), one_line(str(name))) for value, name in zip(values, names, strict=True)]


def _spelt(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(", ".join(map(str, value)) if isinstance(value, list) else str(value))


async def read_line(prompt: str) -> str | None:
    """A line from the terminal, without a thread that could not be interrupted; `None` at its end."""
    import asyncio

    sys.stderr.write(prompt)
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    if os.name == "nt":
        text = await loop.run_in_executor(None, sys.stdin.readline)  # in a thread that does not keep us from leaving
        return text.rstrip("\r\n") if text else None
    descriptor = sys.stdin.fileno()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    data = os.read(descriptor, 65536)  # a terminal gives a line at a time
    if not data:
        sys.stderr.write("\n")
        return None
    return data.decode("utf-8", "replace").rstrip("\r\n")
