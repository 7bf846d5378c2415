"""Histories as they happen: in order and out of it, with media, thoughts, failures and calls that nobody answered."""

from __future__ import annotations

from toolbridge.types import (
    Audio,
    Image,
    Message,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TIFF = "SUkqAAgAAAAAAA=="
SVG = "PHN2Zy8+"
PDF = "JVBERi0xLjQKJeLjz9MK"
WAV = "UklGRiQAAABXQVZFZm10IA=="


def call(id: str, name: str = "get_weather", text: str = '{"city": "Zürich"}') -> ToolCall:
    from toolbridge.stream.arguments import read_arguments

    return ToolCall(id, name, text, *read_arguments(text))


def result(id: str, *content: str | Image | Audio | Resource | ResourceLink, is_error: bool = False) -> ToolResult:
    return ToolResult(id, tuple(Text(each) if isinstance(each, str) else each for each in content), is_error=is_error)


_ASKED = Message.user("How is the weather – où?")
_ONE = Message.assistant(call("call_1"))

HISTORIES: dict[str, tuple[Message, ...]] = {
    "plain": (Message.system("Be brief."), Message.user("Hi"), Message.assistant("Hello."), Message.user("Grüezi \U0001f326")),
    "one call": (_ASKED, _ONE, Message.results(result("call_1", "雨")), Message.assistant("It rains."), Message.user("Thanks")),
    "parallel calls": (
        Message.system("Be brief."),
        _ASKED,
        Message.assistant("Let me look.", call("call_1"), call("call_2", "list_rooms", "{}")),
        Message.results(result("call_2", "none", is_error=True), result("call_1", "sun")),
        Message.user("And?"),
    ),
    "two rounds": (
        _ASKED,
        _ONE,
        Message.results(result("call_1", "sun")),
        Message.assistant(call("call_2", "get_time", '{"zone": "UTC"}')),
        Message.results(result("call_2", "noon")),
    ),
    "media": (
        Message.user("See", Image(PNG, "image/png"), Resource("report.pdf", "application/pdf", blob=PDF)),
        Message.assistant(call("call_1"), call("call_2")),
        Message.results(
            result("call_1", "here", Image(PNG, "image/png"), Audio(WAV, "audio/wav")),
            result("call_2", Resource("file:///a.pdf", "application/pdf", blob=PDF), ResourceLink("https://example.org/x", "x")),
        ),
        Message.assistant("I see."),
        Message.user("Again", Image(PNG, "image/png"), Resource("report.pdf", "application/pdf", blob=PDF)),
    ),
    "a document alone": (Message.user(Resource("report.pdf", "application/pdf", blob=PDF)),),
    "an image of a strange kind": (Message.user(Image(TIFF, "image/tiff")), _ONE, Message.results(result("call_1", Image(SVG, "image/svg+xml")))),
    "broken arguments": (
        _ASKED,
        Message.assistant(call("call_1", text='{"city": '), call("call_2", text="[1]")),
        Message.results(result("call_1", "not JSON", is_error=True), result("call_2", "no object", is_error=True)),
    ),
    "missing results": (_ASKED, Message.assistant(call("call_1"), call("call_2")), Message.results(result("call_2", "sun")), Message.user("Well?")),
    "a call at the end": (_ASKED, _ONE),
    "a result of nobody's": (_ASKED, Message.results(result("call_9", "sun")), Message.assistant("Sun.")),
    "a result too late": (_ASKED, _ONE, Message.user("Hurry!"), Message.results(result("call_1", "sun"))),
    "two results of one call": (_ASKED, _ONE, Message.results(result("call_1", "sun"), result("call_1", "rain")), Message.user("?")),
    "an id again": (
        _ASKED,
        _ONE,
        Message.results(result("call_1", "sun")),
        Message.assistant("Once more.", call("call_1")),
        Message.results(result("call_1", "rain")),
    ),
    "ids of another provider": (
        _ASKED,
        Message.assistant(call("functions.get_weather:0"), call("fc_" + "x" * 90), call("call|é/…")),
        Message.results(result("functions.get_weather:0", "a"), result("fc_" + "x" * 90, "b"), result("call|é/…", "c")),
    ),
    "an id of fifty characters": (_ASKED, Message.assistant(call("x" * 50)), Message.results(result("x" * 50, "sun"))),
    "names of another provider": (_ASKED, Message.assistant(call("c1", "21st.tool/é"), call("c2", "x" * 120)), Message.results(result("c1", "a"), result("c2", "b"))),
    "thoughts of another provider": (
        _ASKED,
        Message("assistant", (Reasoning("Hm.", {"signature": "c2ln"}), call("call_1")), origin="somebody", model="m"),
        Message.results(result("call_1", "sun")),
    ),
    "empty": (_ASKED, _ONE, Message.results(result("call_1")), Message.assistant(""), Message.user("", " "), Message.user("?")),
    "only the system": (Message.system("Be brief."),),
    "the system in the middle": (_ASKED, _ONE, Message.results(result("call_1", "sun")), Message.system("Be rude."), Message.user("?")),
    "the assistant first and last": (Message.assistant("Hello. "), Message.user("Hi"), Message.assistant("Well, \n")),
    "many of one role": (Message.user("a"), Message.user("b"), Message.assistant("c"), Message.assistant("d"), Message.user("e")),
    "nothing": (),
    "structured": (_ASKED, _ONE, Message("tool", (ToolResult("call_1", (Text('{"t": 7}'),), structured={"t": 7}),))),
    "many calls": (
        _ASKED,
        Message.assistant(*(call(f"call_{number}") for number in range(130))),
        Message.results(*(result(f"call_{number}", "sun") for number in range(130))),
    ),
}  # fmt: skip
