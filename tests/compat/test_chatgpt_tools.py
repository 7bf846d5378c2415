"""Contract: the eleven cases that the ChatGPT provider's design names, and their twins for Gemini.

Where an API is asked, the vendor's own SDK asks a server on loopback that speaks the vendor's format.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from google import genai

from tests.compat.scripted import ScriptedServer, asks, says
from tests.support.wire import chat as chat_format
from tests.support.wire import gemini as gemini_format
from tests.support.wire.scenario import HARD_ARGUMENTS, Ask, Say, Scenario, Think
from tests.support.wire.sse import DONE, sse
from toolbridge.compat.chatgpt import (
    ChatGPTProvider,
    GeminiProvider,
    mcp_tools_to_openai_format,
    parse_openai_tool_call,
)
from toolbridge.errors import ModelError

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "Get the current weather in a given location",
    "inputSchema": {
        "type": "object",
        "properties": {"location": {"type": "string", "description": "The city and state"}},
        "required": ["location"],
    },
}
TIME: dict[str, Any] = {"name": "get_time", "description": "The time", "inputSchema": {"type": "object"}}
QUESTION = [{"role": "user", "content": "What's the weather in Tokyo?"}]
TOKYO = Ask("a1B2c3D4e", "get_weather", {"location": "Tokyo"})


@pytest.fixture
def chatgpt(model: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatGPTProvider]:
    """By the environment alone, as a program has it."""
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    monkeypatch.setenv("CHATGPT_MODEL", "gpt-5-mini")
    provider = ChatGPTProvider()
    yield provider
    provider.close()


@pytest.fixture
def gemini(model: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiProvider]:
    monkeypatch.setenv("GOOGLE_API_KEY", "test-key")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", model.url)
    monkeypatch.setenv("GEMINI_MODEL", "gemini-3-flash")
    provider = GeminiProvider()
    yield provider
    provider.close()


def called(id: str | None, name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    content = {"name": name, "tool_name": name, "arguments": arguments, "tool_call_id": id, **more}
    return {"type": "tool_call", "content": content}


def delta(*entries: dict[str, Any]) -> dict[str, Any]:
    return chat_format.chunk({"tool_calls": list(entries)})


def entry(index: int, arguments: str, **first: Any) -> dict[str, Any]:
    name = {"name": first.pop("name")} if "name" in first else {}
    return {"index": index, **first, "function": {**name, "arguments": arguments}}


ENDS = (chat_format.chunk({}, "tool_calls"), DONE)


# ── 1 to 4: the conversion functions ─────────────────────────────────────────────────────────────────────────────


def test_mcp_to_openai_tool_conversion() -> None:
    function = {"name": "get_weather", "description": WEATHER["description"], "parameters": WEATHER["inputSchema"]}
    assert mcp_tools_to_openai_format([WEATHER]) == [{"type": "function", "function": function}]


def test_mcp_to_openai_with_empty_tools() -> None:
    assert mcp_tools_to_openai_format([]) is None
    assert mcp_tools_to_openai_format(None) is None


def test_parse_openai_tool_call(model: ScriptedServer) -> None:
    whole = {"id": "call_abc123", "type": "function"}
    function = {"name": "get_weather", "arguments": '{"location": "Tokyo"}'}
    parsed = {"tool_name": "get_weather", "arguments": {"location": "Tokyo"}, "tool_call_id": "call_abc123"}
    assert parse_openai_tool_call({**whole, "function": function}) == parsed
    model.then(asks(TOKYO))
    with openai.OpenAI(api_key="k", base_url=f"{model.url}/v1", max_retries=0) as client:
        completion = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
    (call,) = completion.choices[0].message.tool_calls or []
    assert parse_openai_tool_call(call) == {**parsed, "tool_call_id": "call_a1B2c3D4e"}


def test_parse_openai_tool_call_with_invalid_json() -> None:
    broken = {"id": "call_xyz789", "function": {"name": "broken_tool", "arguments": '{"invalid": json syntax'}}
    parsed = parse_openai_tool_call(broken)
    assert parsed.pop("error").startswith("the arguments are not valid JSON at character 13")
    assert parsed == {"tool_name": "broken_tool", "arguments": {}, "tool_call_id": "call_xyz789"}


# ── 5 to 8: the provider ─────────────────────────────────────────────────────────────────────────────────────────


def test_chatgpt_provider_call_api_with_tools(model: ScriptedServer, chatgpt: ChatGPTProvider) -> None:
    model.then(says("It is sunny."))
    before = copy.deepcopy((QUESTION, WEATHER))
    found = list(chatgpt.call_api(QUESTION, "Be brief.", tools=[WEATHER]))
    assert "".join(each["content"] for each in found) == "It is sunny."
    assert {each["type"] for each in found} == {"text"}
    (request,) = model.requests
    assert request.body == {
        "model": "gpt-5-mini",
        "messages": [{"role": "system", "content": "Be brief."}, QUESTION[0]],
        "stream": True,
        "tools": mcp_tools_to_openai_format([WEATHER]),
        "tool_choice": "auto",
    }
    assert request.headers["authorization"] == "Bearer test-key"
    assert before == (QUESTION, WEATHER)


def test_chatgpt_response_with_tool_call(model: ScriptedServer, chatgpt: ChatGPTProvider) -> None:
    model.then(asks(TOKYO, text="Hm."))
    found = list(chatgpt.call_api(QUESTION, tools=[WEATHER]))
    assert found == [{"type": "text", "content": "Hm."}, called("call_a1B2c3D4e", "get_weather", {"location": "Tokyo"})]


def test_chatgpt_streaming_tool_arguments(model: ScriptedServer, chatgpt: ChatGPTProvider) -> None:
    pieces = ('{"loc', 'ation": "T', 'okyo"}')
    first = delta(entry(0, pieces[0], id="call_456", type="function", name="get_weather"))
    model.then(sse([first, *(delta(entry(0, piece)) for piece in pieces[1:]), *ENDS]))
    assert list(chatgpt.call_api(QUESTION, tools=[WEATHER])) == [
        called("call_456", "get_weather", {"location": "Tokyo"})
    ]
    model.then(asks(Ask("e5F6g7H8i", "get_weather", HARD_ARGUMENTS)))
    model.script.pieces = lambda body: (body[i : i + 7] for i in range(0, len(body), 7))
    assert list(chatgpt.call_api(QUESTION)) == [called("call_e5F6g7H8i", "get_weather", HARD_ARGUMENTS)]


def test_chatgpt_parallel_tool_calls(model: ScriptedServer, chatgpt: ChatGPTProvider) -> None:
    model.then(
        sse(
            [
                delta(entry(1, '{"arg": ', id="call_B", name="tool_b"), entry(0, "", id="call_A", name="tool_a")),
                delta(entry(0, '{"arg": "A')),
                delta(entry(1, '"B"}')),
                delta(entry(0, '"}')),
                *ENDS,
            ]
        )
    )
    assert list(chatgpt.call_api(QUESTION, tools=[WEATHER])) == [
        called("call_B", "tool_b", {"arg": "B"}),
        called("call_A", "tool_a", {"arg": "A"}),
    ]


# ── 9 to 11: what goes wrong ─────────────────────────────────────────────────────────────────────────────────────


def test_invalid_tool_arguments_json(
    model: ScriptedServer, chatgpt: ChatGPTProvider, caplog: pytest.LogCaptureFixture
) -> None:
    broken = delta(entry(0, "not a json {{{", id="call_err", name="error_tool"))
    fine = delta(entry(1, '{"location": "Tokyo"}', id="call_ok", name="get_weather"))
    model.then(sse([broken, fine, *ENDS]))
    with caplog.at_level(logging.WARNING):
        good, bad = chatgpt.call_api(QUESTION, tools=[WEATHER])
    assert good == called("call_ok", "get_weather", {"location": "Tokyo"})
    why = bad["content"]["error"]
    assert why.startswith("the arguments are not valid JSON at character 1")
    assert bad == called("call_err", "error_tool", {}, error=why)
    assert caplog.messages == [f"Failed to parse tool call error_tool: {why}"]


def test_missing_tool_call_id(model: ScriptedServer, chatgpt: ChatGPTProvider) -> None:
    model.then(sse([delta(entry(0, '{"key": "value"}', name="no_id_tool")), *ENDS]))
    (found,) = chatgpt.call_api(QUESTION)
    assert found == called(None, "no_id_tool", {"key": "value"})
    entry_of_history = {"role": "chatgpt", "content": [found]}
    message = chatgpt.format_history([*QUESTION, entry_of_history])[1]
    assert message["tool_calls"][0]["id"]


def test_tool_call_without_name(model: ScriptedServer, chatgpt: ChatGPTProvider) -> None:
    model.then(sse([delta(entry(0, '{"key": "value"}', id="call_noname")), *ENDS]))
    assert list(chatgpt.call_api(QUESTION)) == [
        called("call_noname", None, {"key": "value"}, error="the call has no name")
    ]


# ── beyond the eleven: keys, ends, histories ─────────────────────────────────────────────────────────────────────


def test_keys_and_models_are_read_when_a_question_is_asked(
    model: ScriptedServer, chatgpt: ChatGPTProvider, gemini: GeminiProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.then(says("a"))
    assert list(chatgpt.stream_text_events(QUESTION)) == ["a"]
    monkeypatch.setenv("CHATGPT_MODEL", "gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    assert list(chatgpt.stream_text_events(QUESTION)) == ["a"]
    assert [request.body["model"] for request in model.requests] == ["gpt-5-mini", "gpt-4o"]
    assert [each.headers["authorization"] for each in model.requests] == ["Bearer test-key", "Bearer another"]
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("GOOGLE_API_KEY")
    with pytest.raises(ValueError, match=r"^OPENAI_API_KEY is not set$"):
        next(chatgpt.call_api(QUESTION))
    with pytest.raises(ValueError, match=r"^GOOGLE_API_KEY is not set$"):
        next(gemini.call_api(QUESTION))


def test_a_client_of_ones_own_needs_no_key(model: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model.then(says("a"))
    with openai.OpenAI(api_key="own", base_url=f"{model.url}/v1") as client:
        provider = ChatGPTProvider(client=client, model="mine")
        assert list(provider.stream_text_events(QUESTION)) == ["a"]
        provider.close()
        assert not client.is_closed()
    assert model.requests[0].body["model"] == "mine"


def test_a_stream_that_breaks_off_inside_of_a_call_yields_nothing_of_it(
    model: ScriptedServer, chatgpt: ChatGPTProvider
) -> None:
    whole = delta(entry(0, '{"location": "Tokyo"}', id="call_1", name="get_weather"))
    half = delta(entry(1, '{"location": "Os', id="call_2", name="get_weather"))
    model.then(sse([whole, half]))
    found: list[Any] = []
    with pytest.raises(ModelError, match="broke off inside of a call of get_weather") as raised:
        found.extend(chatgpt.call_api(QUESTION, tools=[WEATHER]))
    assert raised.value.kind == "unreachable"
    assert found == [called("call_1", "get_weather", {"location": "Tokyo"})]


def test_a_call_that_the_token_limit_cut_says_so(model: ScriptedServer, chatgpt: ChatGPTProvider) -> None:
    model.then(Scenario("cut", (Ask("a1B2c3D4e", "get_weather", {"location": "Tokyo"}, cut=16),), "length"))
    (found,) = chatgpt.call_api(QUESTION)
    assert found["content"]["arguments"] == {}
    assert found["content"]["error"].startswith("the arguments end too early")


def test_an_error_in_the_stream_is_the_sdks_and_ends_the_request(
    model: ScriptedServer, chatgpt: ChatGPTProvider
) -> None:
    half = Ask("a1B2c3D4e", "get_weather", {"location": "Tokyo"}, cut=9)
    model.then(Scenario("error", (Say("It"), half), error="The engine is overloaded."))
    found: list[Any] = []
    with pytest.raises(openai.APIError, match="overloaded"):
        found.extend(chatgpt.call_api(QUESTION))
    assert found == [{"type": "text", "content": "It"}]


def test_whoever_stops_listening_ends_the_request() -> None:
    closed: list[bool] = []

    class Stream:
        def __iter__(self) -> Iterator[Any]:
            yield from (chat_format.chunk({"content": text}) for text in "ab")

        def close(self) -> None:
            closed.append(True)

    class Client:
        chat = property(lambda self: self)
        completions = property(lambda self: self)

        def create(self, **_: Any) -> Stream:
            return Stream()

    chunks = ChatGPTProvider(client=Client()).call_api(QUESTION)
    assert next(chunks) == {"type": "text", "content": "a"}
    chunks.close()
    assert closed == [True]


@pytest.mark.parametrize("provider", ["chatgpt", "gemini"])
def test_what_call_api_yields_goes_into_the_history_and_back_to_the_model(
    model: ScriptedServer, provider: str, request: pytest.FixtureRequest
) -> None:
    live: ChatGPTProvider | GeminiProvider = request.getfixturevalue(provider)
    model.then(asks(TOKYO, text="Hm."), says("Sunny."))
    said = list(live.call_api(QUESTION, tools=[WEATHER]))
    call = said[-1]["content"]
    result = {"type": "tool_result", "tool_call_id": call["tool_call_id"], "name": call["name"], "content": "22 °C"}
    history = [*QUESTION, {"role": provider, "content": said}, {"role": "tool", "content": [result]}]
    assert "".join(live.stream_text_events(history)) == "Sunny."
    sent = json.dumps(model.requests[1].body, ensure_ascii=False)
    assert [each in sent for each in ("22 °C", '"get_weather"', call["tool_call_id"])] == [True] * 3


# ── Gemini ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_gemini_provider_call_api_with_tools(model: ScriptedServer, gemini: GeminiProvider) -> None:
    model.then(Scenario("thinks", (Think("Hm."), Say("It is sunny."))))
    found = list(gemini.call_api(QUESTION, "Be brief.", tools=[WEATHER, {"description": "no name"}]))
    assert "".join(each["content"] for each in found) == "It is sunny."
    (request,) = model.requests
    assert "/models/gemini-3-flash:streamGenerateContent" in request.path
    assert request.body["contents"] == [{"role": "user", "parts": [{"text": "What's the weather in Tokyo?"}]}]
    assert request.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    ((declaration,),) = (each["functionDeclarations"] for each in request.body["tools"])
    assert (declaration["name"], declaration["description"]) == ("get_weather", WEATHER["description"])
    assert declaration["parameters"]["required"] == ["location"]


def test_gemini_response_with_tool_call(model: ScriptedServer, gemini: GeminiProvider) -> None:
    model.then(Scenario("calls", (Think("Hm."), TOKYO, Say("Wait."), Ask("f5G6h7I8j", "get_time", {})), "calls"))
    found = list(gemini.call_api(QUESTION, tools=[WEATHER, TIME]))
    signature = found[0]["content"].pop("thought_signature")
    assert signature == Think("").signature
    assert found == [
        called("a1B2c3D4e", "get_weather", {"location": "Tokyo"}),
        {"type": "text", "content": "Wait."},
        called("f5G6h7I8j", "get_time", {}),
    ]


def test_gemini_parallel_tool_calls_in_one_chunk(model: ScriptedServer, gemini: GeminiProvider) -> None:
    parts = [{"functionCall": {"name": name, "args": {"arg": name[-1]}}} for name in ("tool_a", "tool_b")]
    model.then(sse([gemini_format.chunk(parts, "STOP")]))
    assert [each["content"] for each in gemini.call_api(QUESTION)] == [
        {"name": "tool_a", "tool_name": "tool_a", "arguments": {"arg": "a"}},
        {"name": "tool_b", "tool_name": "tool_b", "arguments": {"arg": "b"}},
    ]


def test_gemini_calls_come_in_the_servers_own_shape_and_go_back_in_geminis(
    model: ScriptedServer, gemini: GeminiProvider
) -> None:
    labels = {"type": "object", "additionalProperties": {"type": "string"}}
    tool = {"name": "files/set labels", "inputSchema": {"type": "object", "properties": {"labels": labels}}}
    model.then(says("."))
    list(gemini.call_api(QUESTION, tools=[tool]))
    ((declaration,),) = (each["functionDeclarations"] for each in model.requests[0].body["tools"])
    shown = declaration["name"]
    assert shown != tool["name"]
    pairs = declaration["parameters"]["properties"]["labels"]
    assert pairs["type"] == "ARRAY"
    keys = list(pairs["items"]["properties"])
    written = {"labels": [dict(zip(keys, ("colour", "red"), strict=True))]}
    model.then(asks(Ask("a1B2c3D4e", shown, written)), says("Done."))
    (found,) = gemini.call_api(QUESTION, tools=[tool])
    assert found == called("a1B2c3D4e", "files/set labels", {"labels": {"colour": "red"}})
    result = {"type": "tool_result", "tool_call_id": "a1B2c3D4e", "name": "files/set labels", "content": "ok"}
    history = [*QUESTION, {"role": "gemini", "content": [found]}, {"role": "tool", "content": [result]}]
    list(gemini.call_api(history, tools=[tool]))
    (part,) = model.requests[-1].body["contents"][1]["parts"]
    assert (part["functionCall"]["name"], part["functionCall"]["args"]) == (shown, written)


def test_a_gemini_stream_that_breaks_off_inside_of_a_call_yields_nothing_of_it(
    model: ScriptedServer, gemini: GeminiProvider
) -> None:
    model.then(
        sse([gemini_format.chunk([{"text": "One moment."}]), gemini_format.chunk([{"functionCall": {"name": "f"}}])])
    )
    found: list[Any] = []
    with pytest.raises(ModelError, match="Gemini's stream broke off inside of a call of f"):
        found.extend(gemini.call_api(QUESTION))
    assert found == [{"type": "text", "content": "One moment."}]


def test_a_prompt_that_gemini_blocks_is_an_error(model: ScriptedServer, gemini: GeminiProvider) -> None:
    model.then(sse([{"promptFeedback": {"blockReason": "SAFETY"}}]))
    with pytest.raises(ValueError, match="Gemini blocked the prompt: SAFETY"):
        list(gemini.call_api(QUESTION))


def test_an_answer_that_gemini_could_not_write_is_told_in_the_log(
    model: ScriptedServer, gemini: GeminiProvider, caplog: pytest.LogCaptureFixture
) -> None:
    model.then(sse([gemini_format.chunk([], "MALFORMED_FUNCTION_CALL")]))
    assert list(gemini.call_api(QUESTION)) == []
    assert "Gemini ended its answer with MALFORMED_FUNCTION_CALL" in caplog.messages


def test_a_gemini_client_of_ones_own_needs_no_key(model: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    model.then(says("a"))
    options = genai.types.HttpOptions(base_url=model.url)
    with genai.Client(api_key="own", http_options=options) as client:
        assert list(GeminiProvider(client=client, model="gemini-3-pro").stream_text_events(QUESTION)) == ["a"]
    assert "/models/gemini-3-pro:streamGenerateContent" in model.requests[0].path


# ── both alike ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_text_is_extracted_from_chunks_of_the_sdks_and_from_those_of_call_api() -> None:
    assert ChatGPTProvider.extract_text_from_chunk({"type": "text", "content": "a"}) == "a"
    assert GeminiProvider.extract_text_from_chunk({"type": "text", "content": "a"}) == "a"
    listed = {"choices": [{"delta": {"content": ["Part 1", {"text": "Part 2"}]}}]}
    assert ChatGPTProvider.extract_text_from_chunk(listed) == "Part 1Part 2"
    for nothing in ({"type": "tool_call", "content": {}}, {"choices": [{"delta": {"content": None}}]}, {}):
        assert ChatGPTProvider.extract_text_from_chunk(nothing) == ""
        assert GeminiProvider.extract_text_from_chunk(nothing) == ""
