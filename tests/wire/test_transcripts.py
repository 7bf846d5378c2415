"""The judge of transcripts is judged: it passes what is legal, and refuses what breaks one rule."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.support.transcripts import problems

PNG = "iVBORw0KGgo="
_SIGN = "c2lnbmVk"


def chat_call(id: str, name: str = "get_weather", arguments: str = '{"city": "Bern"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [chat_call("call_1"), chat_call("call_2")]},
        {"role": "tool", "tool_call_id": "call_2", "content": "rain"},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "sun"}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See:"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            ],
        },
        {"role": "assistant", "content": "It rains."},
    ]
}
MISTRAL: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "", "tool_calls": [chat_call("a1B2c3D4e"), chat_call("f5G6h7I8j")]},
        {"role": "tool", "tool_call_id": "a1B2c3D4e", "name": "get_weather", "content": "rain"},
        {"role": "tool", "tool_call_id": "f5G6h7I8j", "name": "get_weather", "content": "sun"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See:"},
                {"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"},
            ],
        },
    ]
}
RESPONSES: dict[str, Any] = {
    "input": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Weather?"},
                {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call", "call_id": "call_2", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        {
            "type": "function_call_output",
            "call_id": "call_2",
            "output": [{"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}],
        },
        {"role": "assistant", "content": "It rains."},
    ]
}
ANTHROPIC: dict[str, Any] = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": _SIGN},
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Bern"}},
                {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
                    ],
                },
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain", "is_error": True},
                {"type": "text", "text": "And now?"},
            ],
        },
        {"role": "assistant", "content": "It rains."},
    ],
}
BEDROCK: dict[str, Any] = {
    "system": [{"text": "Be brief."}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "Weather?"},
                {"document": {"format": "pdf", "name": "report 1", "source": {"bytes": b"%PDF"}}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {"city": "Bern"}}},
                {"toolUse": {"toolUseId": "t2", "name": "get_weather", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"text": "rain"}], "status": "error"}},
                {
                    "toolResult": {
                        "toolUseId": "t2",
                        "content": [{"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}, {"json": {"a": 1}}],
                    }
                },
            ],
        },
        {"role": "assistant", "content": [{"text": "It rains."}]},
    ],
}
GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {
                    "functionCall": {"id": "1", "name": "get_weather", "args": {"city": "Bern"}},
                    "thoughtSignature": _SIGN,
                },
                {"functionCall": {"id": "2", "name": "get_weather", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "1", "name": "get_weather", "response": {"output": "rain"}}},
                {
                    "functionResponse": {
                        "id": "2",
                        "name": "get_weather",
                        "response": {"error": "no"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                    }
                },
            ],
        },
        {"role": "user", "parts": [{"text": "And now?"}]},
        {"role": "model", "parts": [{"text": "It rains."}, {"text": "", "thoughtSignature": _SIGN}]},
    ],
}
LEGAL = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "bedrock": BEDROCK,
    "gemini": GEMINI,
    "mistral": MISTRAL,
}


@pytest.mark.parametrize("provider", LEGAL)
def test_a_legal_transcript_has_no_problems(provider: str) -> None:
    assert problems(provider, LEGAL[provider]) == []


def test_what_compatible_servers_want_back_is_legal() -> None:
    fields = deepcopy(CHAT)
    fields["messages"][2]["reasoning_content"] = "Hm."
    fields["messages"][2]["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": _SIGN}}
    assert problems("deepseek", fields) == []


def test_content_in_a_list_is_lost_on_ollama() -> None:
    assert problems("ollama", CHAT) == ["messages[4]: content of a result is not a string"]


Change = Callable[[list[Any]], Any]


def _set(number: int, **fields: Any) -> Change:
    return lambda messages: messages[number].update(fields)


def _drop(number: int) -> Change:
    return lambda messages: messages.pop(number)


def _add(number: int, message: Any) -> Change:
    return lambda messages: messages.insert(number, message)


def _block(number: int, block: int, change: Callable[[Any], Any]) -> Change:
    def changed(messages: list[Any]) -> None:
        inner = messages[number].get("content", messages[number].get("parts"))
        change(inner[block])

    return changed


def _call(number: int, **fields: Any) -> Change:
    def changed(messages: list[Any]) -> None:
        call = messages[2]["tool_calls"][number]
        call["function"].update({key: fields[key] for key in fields if key in ("name", "arguments")})
        call.update({key: fields[key] for key in fields if key == "id"})

    return changed


def _longest(messages: list[Any]) -> None:
    long = "x" * 41
    messages[2]["tool_calls"][0]["id"] = messages[4]["tool_call_id"] = long


def _again(messages: list[Any]) -> None:
    messages += deepcopy(messages[1:5])


def _turned(messages: list[Any]) -> None:
    messages[2]["content"].reverse()


def _many(messages: list[Any]) -> None:
    messages[2]["tool_calls"] = [chat_call(f"c{i}") for i in range(129)]
    messages[3:5] = [{"role": "tool", "tool_call_id": f"c{i}", "content": "x"} for i in range(129)]


def _mixed(contents: list[Any]) -> None:
    contents[2]["parts"].append({"text": "And?"})


ILLEGAL: dict[str, list[tuple[str, Change, str]]] = {
    "openai-chat": [
        ("a key that there is none of", _set(1, zzz=1), "Extra inputs"),
        ("an image in a result", _set(4, content=[{"type": "image_url", "image_url": {"url": "https://x"}}]), "messages[4]"),
        ("a result is missing", _drop(3), "no result right after"),
        ("a result of nobody's", _add(1, {"role": "tool", "tool_call_id": "x", "content": "y"}), "not called right before"),
        ("a message between results", _add(4, {"role": "user", "content": "wait"}), "no result right after"),
        ("two results of one call", _add(4, {"role": "tool", "tool_call_id": "call_2", "content": "y"}), "two results"),
        ("a name with a dot", _call(0, name="a.b"), "no name"),
        ("a name that is too long", _call(0, name="x" * 65), "no name"),
        ("broken arguments", _call(0, arguments='{"city": '), "no JSON"),
        ("arguments that are a list", _call(0, arguments="[]"), "no object"),
        ("arguments that are no text", _call(0, arguments={}), "valid string"),
        ("an id that is too long", _longest, "41 characters"),
        ("an id that comes twice", _again, "more than one call"),
        ("129 calls", _many, "129 calls"),
        ("no calls in the list", _set(2, tool_calls=[]), "0 calls"),
        ("nothing said", _set(6, content=None), "neither"),
        ("an empty text", _set(1, content=""), "empty content"),
        ("an empty list", _set(1, content=[]), "empty list"),
        ("an image of another kind", _set(5, content=[{"type": "image_url", "image_url": {"url": f"data:image/svg+xml;base64,{PNG}"}}]), "svg"),
        ("an image that is no address", _set(5, content=[{"type": "image_url", "image_url": {"url": PNG}}]), "data URL"),
        ("an unknown role", _set(1, role="model"), "role"),
        ("half of a surrogate pair", _set(1, content="\ud83c"), "UTF-8"),
    ],
    "openai-responses": [
        ("an output is missing", _drop(6), "no result right after"),
        ("an output before its call", _add(2, {"type": "function_call_output", "call_id": "call_1", "output": "x"}), "not called right before"),
        ("a message between call and output", _add(5, {"role": "user", "content": "wait"}), "no result right after"),
        ("thoughts between call and output", _add(4, {"type": "reasoning", "id": "rs_2", "summary": []}), "thoughts between"),
        ("thoughts that led to nothing", _add(8, {"type": "reasoning", "id": "rs_2", "summary": []}), "led to nothing"),
        ("an id of another kind", _set(3, id="call_1"), "begin with fc"),
        ("a call_id that is too long", _set(3, call_id="x" * 65), "65 characters"),
        ("a file without a data URL", _set(6, output=[{"type": "input_file", "file_data": PNG, "filename": "a.pdf"}]), "data URL"),
        ("an empty output", _set(5, output=""), "empty content"),
        ("audio in an output", _set(6, output=[{"type": "input_audio", "input_audio": {}}]), "input[6]"),
        ("arguments as an object", _set(3, arguments={}), "input[3]"),
    ],
    "anthropic": [
        ("results do not lead", _turned, "do not come first"),
        ("a result is missing", _block(2, 0, lambda block: block.update(tool_use_id="toolu_9")), "no result right after"),
        ("no results at all", _drop(2), "no result right after"),
        ("calls at the end", lambda messages: messages.__delitem__(slice(2, None)), "no result right after"),
        ("two messages of the user's", _add(0, {"role": "user", "content": "Hi"}), "both the user's"),
        ("the assistant begins", _drop(0), "the first message"),
        ("a system message", _add(0, {"role": "system", "content": "x"}), "no such role"),
        ("white space", _set(0, content=" \n"), "empty text"),
        ("an empty list in a result", _block(2, 1, lambda block: block.update(content=[])), "empty list"),
        ("an id with a colon", _block(1, 1, lambda block: block.update(id="a:b")), "no id"),
        ("input as text", _block(1, 1, lambda block: block.update(input="{}")), "messages[1]"),
        ("an image of another kind", _block(2, 0, lambda block: block["content"][0]["source"].update(media_type="image/bmp")), "messages[2]"),
        ("base64 that is none", _block(2, 0, lambda block: block["content"][0]["source"].update(data="%")), "base64"),
        ("thoughts without a signature", _block(1, 0, lambda block: block.update(signature="")), "without a signature"),
        ("white space at the end", _set(3, content="It rains. "), "white space"),
    ],
    "bedrock": [
        ("an id with a slash", _block(1, 0, lambda block: block["toolUse"].update(toolUseId="a/b")), "does not match"),
        ("a name that is too long", _block(1, 0, lambda block: block["toolUse"].update(name="x" * 65)), "longer than 64"),
        ("input as text", _block(1, 0, lambda block: block["toolUse"].update(input="{}")), "input"),
        ("a result is missing", lambda messages: messages[2]["content"].pop(), "no result right after"),
        ("a blank text", _block(3, 0, lambda block: block.update(text=" ")), "blank"),
        ("a document without a text", lambda messages: messages[0]["content"].pop(0), "without a text"),
        ("a document with a dot in its name", _block(0, 1, lambda block: block["document"].update(name="a.pdf")), "no name"),
        ("two documents of one name", lambda messages: messages[0]["content"].append(messages[0]["content"][1]), "two documents"),
        ("an image of another kind", _block(2, 1, lambda block: block["toolResult"]["content"][0]["image"].update(format="bmp")), "none of"),
        ("a result without content", _block(2, 0, lambda block: block["toolResult"].update(content=[])), "without content"),
        ("two kinds in one block", _block(3, 0, lambda block: block.update(toolUse={"toolUseId": "x", "name": "f", "input": {}})), "one of"),
        ("two messages of the user's", _add(0, {"role": "user", "content": [{"text": "Hi"}]}), "both the user's"),
    ],
    "gemini": [
        ("a response is missing", lambda contents: contents[2]["parts"].pop(), "1 responses to 2"),
        ("results among other parts", _mixed, "in one content"),
        ("a response of another name", _block(2, 0, lambda part: part["functionResponse"].update(name="f")), "no response to"),
        ("a response of another id", _block(2, 0, lambda part: part["functionResponse"].update(id="9")), "no response to"),
        ("a response that is text", _block(2, 0, lambda part: part["functionResponse"].update(response="x")), "contents[2]"),
        ("no signature", _block(1, 1, lambda part: part.pop("thoughtSignature")), "no signature"),
        ("two contents of the model", _add(4, {"role": "model", "parts": [{"text": "Hm."}]}), "in a row"),
        ("the model begins", _drop(0), "not the user's"),
        ("an unknown key", _block(0, 0, lambda part: part.update(zzz=1)), "contents[0]"),
        ("an empty text", _block(3, 0, lambda part: part.update(text="")), "empty text"),
        ("no parts", _set(3, parts=[]), "no parts"),
        ("a part of two kinds", _block(0, 0, lambda part: part.update(inlineData={"mimeType": "image/png", "data": PNG})), "2 kinds"),
        ("a role of another provider", _set(4, role="assistant"), "no such role"),
        ("a gif in a result", _block(2, 1, lambda part: part["functionResponse"]["parts"][0]["inlineData"].update(mimeType="image/gif")), "inside of a result"),
    ],
    "mistral": [
        ("an id of ten characters", _call(0, id="a1B2c3D4e5"), "length of 9"),
        ("a result is missing", _drop(4), "Not the same number"),
        ("the assistant ends", _add(6, {"role": "assistant", "content": "It rains."}), "Expected last role"),
        ("system after a result", _add(5, {"role": "system", "content": "x"}), "Unexpected role"),
        ("an image in a result", _set(4, content=[{"type": "image_url", "image_url": "https://x/a.png"}]), "chunk types"),
        ("an id that comes twice", _again, "more than one call"),
        ("broken arguments", _call(0, arguments="{"), "no JSON"),
        ("a key that there is none of", _set(1, zzz=1), "Extra"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "change", "told"),
    [pytest.param(name, each[1], each[2], id=f"{name}: {each[0]}") for name in ILLEGAL for each in ILLEGAL[name]],
)
def test_what_breaks_one_rule_is_refused(provider: str, change: Change, told: str) -> None:
    fields = deepcopy(LEGAL[provider])
    change(fields.get("messages") or fields.get("contents") or fields["input"])
    found = problems(provider, fields)
    assert any(told in each for each in found), found


@pytest.mark.parametrize("provider", LEGAL)
def test_what_is_no_transcript_is_refused(provider: str) -> None:
    for fields in ({}, {"messages": []}, {"contents": []}, {"input": []}, {**LEGAL[provider], "temperature": 1}):
        assert problems(provider, fields) != []
