"""What Chat Completions and its dialects send, as neutral events: chunk by chunk and whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbridge.notes import Note
from toolbridge.stream.assemble import Assembler
from toolbridge.stream.events import (
    About,
    CallDelta,
    Event,
    Failed,
    Finished,
    ForeignPart,
    ImagePart,
    ReasoningDelta,
    Reply,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.stream.plain import plain
from toolbridge.types import Foreign, Image, Message, Reasoning, Text, ToolCall
from toolbridge.wire.chat.replies import continuation, read_event, read_reply

PNG = "iVBORw0KGgo="


def chunk(delta: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def calls(*entries: Any) -> dict[str, Any]:
    return chunk({"tool_calls": list(entries)})


def entry(index: Any = None, id: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """An entry of `tool_calls` that has only what is given."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    given = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**given, "function": function, **more}


def folded(events: Sequence[Event], origin: str = "") -> Reply:
    assembler = Assembler(origin)
    for event in events:
        assembler.feed(event)
    return assembler.reply()


def streamed(*chunks: Any) -> Reply:
    return folded([event for each in chunks for event in read_event(each)])


def call(id: str, name: str, text: str, arguments: Any, opaque: Any = None) -> ToolCall:
    return ToolCall(id, name, text, arguments, None, opaque or {})


# ── OpenAI's own stream ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_stream_as_openai_sends_it_is_read_chunk_by_chunk() -> None:
    envelope = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-5",
        "obfuscation": "x",
    }
    about = About("gpt-5", "chatcmpl-1")
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_capital", "arguments": ""}}
    opening = {"role": "assistant", "content": None, "tool_calls": [first], "refusal": None}
    assert read_event(chunk(opening, **envelope)) == [about, CallDelta(0, "call_1", "get_capital")]
    more = {"tool_calls": [{"index": 0, "function": {"arguments": '{"country'}}]}
    assert read_event(chunk(more, **envelope)) == [about, CallDelta(0, text='{"country')]
    assert read_event(chunk({}, "tool_calls", **envelope)) == [about, Finished("calls", "tool_calls")]
    usage = {
        "prompt_tokens": 31,
        "completion_tokens": 17,
        "total_tokens": 48,
        "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    assert read_event({"choices": [], "usage": usage, **envelope}) == [about, Spent(Usage(31, 17, 8, 5))]


def test_text_is_one_text_whatever_comes_between() -> None:
    assert read_event(chunk({"role": "assistant", "content": ""})) == []
    assert read_event(chunk({"content": "Hel"})) == [TextDelta("Hel", "content")]
    reply = streamed(chunk({"content": "a"}), calls(entry(0, "c", "f", "{}")), chunk({"content": "b"}, "stop"))
    assert reply.message == Message("assistant", (Text("ab"), call("c", "f", "{}", {})))
    assert reply.finish == "calls"


def test_a_whole_reply_comes_to_the_same_message_as_its_stream() -> None:
    entries = [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"id": "c2", "type": "function", "function": {"name": "g", "arguments": ""}},
    ]
    message = {"role": "assistant", "content": "Both.", "refusal": None, "annotations": [], "tool_calls": entries}
    body = {
        "id": "r",
        "model": "gpt-5",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    assert read_reply(body) == [
        About("gpt-5", "r"),
        TextDelta("Both.", "content", None, True),
        CallDelta(0, "c1", "f", '{"x": 1}', True),
        CallDelta(1, "c2", "g", "", True),
        Finished("calls", "tool_calls"),
        Spent(Usage(3, 4)),
    ]
    whole = folded(read_reply(body))
    assert (
        whole.message
        == streamed(
            chunk({"content": "Both."}, model="gpt-5"),
            calls(entry(0, "c1", "f", '{"x"'), entry(1, "c2", "g", "")),
            calls(entry(0, arguments=": 1}")),
        ).message
    )
    assert whole.message.parts == (Text("Both."), call("c1", "f", '{"x": 1}', {"x": 1}), call("c2", "g", "", {}))


def test_content_of_null_in_a_whole_reply_is_nothing() -> None:
    message = {"role": "assistant", "content": None}
    assert read_reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}) == [
        Finished("stop", "stop")
    ]


def test_a_refusal_is_text_that_says_what_it_is() -> None:
    assert read_event(chunk({"refusal": "No."})) == [TextDelta("No.", "refusal", {"type": "refusal"})]
    parts = [{"type": "refusal", "refusal": "No."}, {"type": "output_text", "text": "x"}]
    assert read_event(chunk({"content": parts})) == [
        TextDelta("No.", "refusal", {"type": "refusal"}),
        TextDelta("x", "content"),
    ]
    assert read_event(chunk({"content": [{"type": "refusal"}], "refusal": ""})) == [
        Unread({"content": {"type": "refusal"}})
    ]
    reply = streamed(chunk({"refusal": "I ca"}), chunk({"refusal": "n't."}, "stop"))
    assert reply.message.parts == (Text("I can't.", {"type": "refusal"}),)


def test_a_custom_tools_call_is_free_text() -> None:
    first = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": "select"}}
    assert read_event(calls(first)) == [CallDelta(0, "c", "sql", "select", opaque={"type": "custom"})]
    reply = streamed(calls(first), calls({"index": 0, "custom": {"input": " 1"}}))
    (found,) = reply.calls
    assert (found.id, found.name, found.text, found.arguments, dict(found.opaque)) == (
        "c",
        "sql",
        "select 1",
        None,
        {"type": "custom"},
    )


def test_the_old_function_call_is_a_call() -> None:
    reply = streamed(
        chunk({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"a"'}}),
        chunk({"function_call": {"name": None, "arguments": ": 1}"}}),
        chunk({}, "function_call"),
    )
    assert reply.calls == (call("call_0", "f", '{"a": 1}', {"a": 1}),)
    assert (reply.finish, reply.raw_finish) == ("calls", "function_call")


def test_spoken_text_is_its_transcript_and_the_id_that_the_next_request_wants() -> None:
    audio = {"id": "audio_1", "data": "AAAA", "expires_at": 9, "transcript": "Hello."}
    message = {"role": "assistant", "content": None, "audio": audio}
    reply = folded(read_reply({"choices": [{"message": message, "finish_reason": "stop"}]}))
    assert reply.message.parts == (Foreign("audio", {"id": "audio_1"}), Text("Hello.", {"type": "transcript"}))
    assert reply.notes == (Note("audio.dropped", "narrowed", "", "audio"),)
    streams = [
        {"id": "audio_1", "transcript": "Hel"},
        {"data": "AA"},
        {"id": "audio_1", "transcript": "lo."},
        {"data": "B"},
    ]
    assert streamed(*(chunk({"audio": each}) for each in streams)).message == reply.message


# ── the cases in which other libraries fail ──────────────────────────────────────────────────────────────────────

A, B = call("c0", "get_a", '{"x":1}', {"x": 1}), call("c1", "get_b", '{"y":2}', {"y": 2})
PEERS: dict[str, tuple[list[Any], tuple[ToolCall, ...]]] = {
    "parallel": (
        [calls(entry(0, "c0", "get_a", "")), calls(entry(0, arguments='{"x"')), calls(entry(0, arguments=":1}")),
         calls(entry(1, "c1", "get_b", "")), calls(entry(1, arguments='{"y":2}'))],
        (A, B),
    ),
    "interleaved": (
        [calls(entry(0, "c0", "get_a", "")), calls(entry(1, "c1", "get_b", "")), calls(entry(0, arguments='{"x":1')),
         calls(entry(1, arguments='{"y":2')), calls(entry(0, arguments="}")), calls(entry(1, arguments="}"))],
        (A, B),
    ),
    "two in one chunk": ([calls(entry(0, "c0", "get_a", '{"x":1}'), entry(1, "c1", "get_b", '{"y":2}'))], (A, B)),
    "index null": (
        [calls({**entry(None, "c0", "get_a", '{"x":1}'), "index": None}), calls({**entry(None, "c1", "get_b", '{"y":2}'), "index": None})],
        (A, B),
    ),
    "index always 0": ([calls(entry(0, "c0", "get_a", '{"x":1}')), calls(entry(0, "c1", "get_b", '{"y":2}'))], (A, B)),
    "id and name repeated": (
        [calls(entry(0, "c0", "get_a", "")), calls(entry(0, "c0", "get_a", '{"x"')), calls(entry(0, "c0", "get_a", ":1}"))],
        (A,),
    ),
    "id and name empty": ([calls(entry(0, "c0", "get_a", "")), calls(entry(0, "", "", '{"x":1}'))], (A,)),
    "id late": ([calls(entry(0, None, "get_a")), calls(entry(0, "c0", None, '{"x":1}'))], (A,)),
    "no arguments": ([calls(entry(0, "c0", "get_a"))], (call("c0", "get_a", "", {}),)),
}  # fmt: skip


@pytest.mark.parametrize("case", PEERS)
def test_calls_are_told_apart(case: str) -> None:
    chunks, expected = PEERS[case]
    reply = streamed(*chunks, chunk({}, "tool_calls"))
    assert (reply.calls, reply.finish, reply.notes) == (expected, "calls", ())


def test_calls_count_and_not_the_reason_that_is_given() -> None:
    reply = streamed(calls(entry(0, "c0", "get_a", '{"x":1}')), chunk({}, "stop"))
    assert (reply.calls, reply.finish, reply.raw_finish) == ((A,), "calls", "stop")


def test_a_call_that_was_cut_at_the_limit_cannot_be_run() -> None:
    reply = streamed(calls(entry(0, "c0", "write", '{"path":"/data/abc')), chunk({}, "length"))
    (found,) = reply.calls
    assert (found.name, found.text, found.arguments, reply.finish) == ("write", '{"path":"/data/abc', None, "length")
    assert found.problem


# ── dialects ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_azure_sends_chunks_without_choices_without_a_model_and_without_a_delta() -> None:
    prompt = {"choices": [], "created": 0, "id": "", "model": "", "prompt_filter_results": [{"prompt_index": 0}]}
    assert read_event(prompt) == []
    filtered = {
        "index": 0,
        "delta": None,
        "finish_reason": None,
        "content_filter_results": {"hate": {"filtered": False}},
    }
    assert read_event({"choices": [filtered], "id": ""}) == []
    assert read_event({"choices": None, "id": "r", "model": "gpt-5"}) == [About("gpt-5", "r")]


def test_vllm_ends_a_forced_call_with_stop_and_thinks_in_reasoning() -> None:
    reply = streamed(
        chunk({"role": "assistant", "content": ""}, id="chatcmpl-1", model="qwen"),
        chunk({"reasoning": "Let me "}),
        chunk({"reasoning": "see."}),
        calls(entry(0, "chatcmpl-tool-1", "f", "", type="function")),
        calls(entry(0, arguments="{}")),
        chunk({"content": ""}, "stop", usage={"prompt_tokens": 1, "completion_tokens": 2}),
    )
    thought = Reasoning("Let me see.", {"field": "reasoning"})
    assert reply.message.parts == (thought, call("chatcmpl-tool-1", "f", "{}", {}))
    assert (reply.finish, reply.usage, reply.message.model) == ("calls", Usage(1, 2), "qwen")


def test_vllm_and_mistral_report_errors_without_the_word_error() -> None:
    assert read_event({"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}) == [
        Failed("too long", "400")
    ]
    assert read_reply(
        {"object": "error", "message": {"detail": [{"msg": "bad"}]}, "type": "invalid", "code": None}
    ) == [Failed('{"detail": [{"msg": "bad"}]}', "invalid")]
    assert read_reply({"detail": "Not Found"}) == [Failed("Not Found")]
    assert read_event({"error": {"code": 1, "reason": "é", "param": None}}) == [
        Failed('{"code": 1, "reason": "é"}', "1")
    ]
    assert read_event({"error": {"detail": "x"}, "choices": []}) == [Failed("x")]
    assert read_event({"choices": [], "detail": "x", "error": None}) == []


def test_ollama_sends_whole_calls_that_all_have_the_number_0() -> None:
    reply = streamed(
        calls(entry(0, "call_a", "get_a", '{"x":1}', type="function")),
        calls(entry(0, "call_b", "get_b", '{"y":2}', type="function")),
        chunk({"role": "assistant", "content": ""}, "tool_calls"),
    )
    assert [(each.id, each.name, each.arguments) for each in reply.calls] == [
        ("call_a", "get_a", {"x": 1}),
        ("call_b", "get_b", {"y": 2}),
    ]


def test_ollamas_own_endpoint_is_read_too() -> None:
    lines = [
        {"model": "qwen3", "created_at": "…", "message": {"role": "assistant", "content": "", "thinking": "Hm"}, "done": False},
        {"model": "qwen3", "message": {"role": "assistant", "content": "Let me "}, "done": False},
        {"model": "qwen3", "message": {"role": "assistant", "content": "look.", "tool_calls": [{"function": {"name": "f", "arguments": {"q": "é"}}}, {"function": {"name": "f", "arguments": {"q": "b"}}}]}, "done": False},
        {"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4},
    ]  # fmt: skip
    reply = streamed(*lines)
    assert reply.message == Message(
        "assistant",
        (
            Reasoning("Hm", {"field": "reasoning"}),
            Text("Let me look."),
            call("call_0", "f", '{"q":"é"}', {"q": "é"}),
            call("call_1", "f", '{"q":"b"}', {"q": "b"}),
        ),
        model="qwen3",
    )
    assert (reply.finish, reply.usage) == ("calls", Usage(9, 4))
    assert read_event({"message": {"content": "a"}, "done": True}) == [
        TextDelta("a", "content"),
        Finished("stop", "stop"),
    ]
    whole = {**lines[-1], "message": {"role": "assistant", "content": "Hi.", "tool_calls": []}}
    assert folded(read_reply(whole)).message == Message("assistant", (Text("Hi."),), model="qwen3")


def test_gemini_has_no_index_and_signs_its_calls() -> None:
    signed = {"google": {"thought_signature": "U0lH"}}
    first = {
        "id": "function-call-1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": signed,
    }
    assert read_event(calls(first)) == [
        CallDelta(None, "function-call-1", "f", "{}", opaque={"extra_content": signed}),
    ]
    reply = streamed(
        calls(first), calls(entry(None, "function-call-2", "f", "{}")), chunk({"role": "assistant"}, "stop")
    )
    one, two = call("function-call-1", "f", "{}", {}, {"extra_content": signed}), call("function-call-2", "f", "{}", {})
    assert reply.calls == (one, two)
    assert reply.finish == "calls"


def test_a_chunk_that_is_nothing_but_a_signature_belongs_to_its_call() -> None:
    signed = {"vertex": {"thought_signature": "U0lH"}}
    assert read_event(calls({"index": 0, "extra_content": signed})) == [CallDelta(0, opaque={"extra_content": signed})]
    reply = streamed(calls(entry(0, "c0", "get_a", '{"x":1}')), calls({"index": 0, "extra_content": signed}))
    assert reply.calls == (call("c0", "get_a", '{"x":1}', {"x": 1}, {"extra_content": signed}),)


def test_a_signature_of_the_text_belongs_to_the_text() -> None:
    signed = {"google": {"thought_signature": "U0lH"}}
    reply = streamed(chunk({"content": "Hi"}), chunk({"content": ".", "extra_content": signed}, "stop"))
    assert reply.message.parts == (Text("Hi.", {"extra_content": signed}),)


def test_groq_fails_in_the_middle_and_what_the_model_wrote_is_kept() -> None:
    error = {
        "message": "Failed to call a function.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": "<function=f{}",
        "status_code": 400,
    }
    assert read_event({"error": error}) == [Failed("Failed to call a function.: <function=f{}", "tool_use_failed")]
    assert read_event({"choices": [], "x_groq": {"id": "r", "error": "overloaded"}}) == [Failed("overloaded")]
    usage = {"queue_time": 0.1, "prompt_tokens": 5, "completion_tokens": 6}
    assert read_event(chunk({}, "stop", x_groq={"usage": usage})) == [Finished("stop", "stop"), Spent(Usage(5, 6))]
    reply = streamed(chunk({"reasoning": "Hm."}), calls(entry(0, "fc_1", "f", "{}")), {"error": error})
    assert (reply.finish, reply.error) == ("error", "Failed to call a function.: <function=f{}")


def test_openrouter_fails_beside_a_choice_and_says_who_failed() -> None:
    error = {"code": 502, "message": "Provider returned error", "metadata": {"raw": "boom", "provider_name": "x"}}
    assert read_event(chunk({"content": ""}, "error", error=error)) == [
        Finished("error", "error"),
        Failed("Provider returned error: boom", "502"),
    ]
    choice = {"index": 0, "delta": {"content": "a"}, "finish_reason": "error", "error": error}
    assert read_event({"choices": [choice]}) == [
        TextDelta("a", "content"),
        Failed("Provider returned error: boom", "502"),
        Finished("error", "error"),
    ]


def test_openrouters_details_of_reasoning_are_put_together_by_what_they_are() -> None:
    def text(text: str, **more: Any) -> dict[str, Any]:
        detail = {"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0, **more}
        return chunk({"role": "assistant", "content": "", "reasoning": text, "reasoning_details": [detail]})

    locked = {"type": "reasoning.encrypted", "data": "QUJD", "format": "google-gemini-v1", "index": 0}
    reply = streamed(
        text("Let me "),
        text("see."),
        text("", signature="U0lH"),
        chunk({"reasoning_details": [{**locked, "id": "tool_0_f"}]}),
        chunk({"reasoning_details": [{**locked, "id": "tool_1_g"}]}),
        chunk({"content": "Done."}, "stop"),
    )
    signed = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, "signature": "U0lH"}
    assert reply.message.parts == (
        Reasoning("Let me see.", {"field": "reasoning_details", **signed}),
        Reasoning("", {"field": "reasoning_details", **locked, "id": "tool_0_f"}),
        Reasoning("", {"field": "reasoning_details", **locked, "id": "tool_1_g"}),
        Text("Done."),
    )
    details = [{"type": "reasoning.summary", "summary": "a"}, {"type": "reasoning.summary", "summary": "b"}]
    whole = {"choices": [{"message": {"content": "x", "reasoning": "a\nb", "reasoning_details": details}}]}
    said = {"field": "reasoning_details", "type": "reasoning.summary"}
    assert folded(read_reply(whole)).message.parts == (Reasoning("a", said), Reasoning("b", said), Text("x"))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_says_in_which_field_it_came(field: str) -> None:
    assert read_event(chunk({field: "Hm"})) == [ReasoningDelta("Hm", field, {"field": field})]
    assert read_event(chunk({"reasoning_content": "Hm", "reasoning": "Hm", "content": None})) == [
        ReasoningDelta("Hm", "reasoning_content", {"field": "reasoning_content"})
    ]
    message = {"role": "assistant", field: "Hm", "content": "x"}
    assert (
        folded(read_reply({"choices": [{"message": message}]})).message
        == streamed(chunk({field: "H"}), chunk({field: "m"}), chunk({"content": "x"})).message
    )


def test_moonshot_and_deepseek_count_cached_tokens_elsewhere() -> None:
    finished = {
        "index": 0,
        "delta": {},
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 4},
    }
    assert read_event({"choices": [finished]}) == [Spent(Usage(9, 1, 4)), Finished("stop", "stop")]
    assert read_event({"choices": [], "usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 3}}) == [
        Spent(Usage(9, None, 3))
    ]
    builtin = {
        "index": 0,
        "id": "$web:0",
        "type": "builtin_function",
        "function": {"name": "$web_search", "arguments": "{}"},
    }
    assert read_event(calls(builtin)) == [
        CallDelta(0, "$web:0", "$web_search", "{}", opaque={"type": "builtin_function"})
    ]


def test_sglang_sends_arguments_before_the_name() -> None:
    reply = streamed(
        calls({"function": {"arguments": '{"x"'}}),
        calls({"id": "c0", "function": {"name": "get_a", "arguments": ""}}),
        calls({"function": {"arguments": ":1}"}}),
    )
    assert reply.calls == (A,)


def test_mistrals_ids_of_null_are_none_and_its_arguments_may_be_objects() -> None:
    whole = {"function": {"name": "f", "arguments": {"a": "é"}}, "id": "null", "type": "function", "index": 0}
    assert read_event(calls(whole)) == [CallDelta(0, "", "f", arguments={"a": "é"})]
    assert folded(read_event(calls(whole))).calls == (call("call_0", "f", '{"a":"é"}', {"a": "é"}),)


def test_mistral_thinks_in_chunks_of_the_content() -> None:
    def thinking(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}

    assert read_event(chunk({"content": [thinking("Hm.")]})) == [
        ReasoningDelta("Hm.", "thinking", {"field": "thinking"})
    ]
    reply = streamed(
        chunk({"role": "assistant", "content": [thinking("H")]}),
        chunk({"content": [thinking("m.", signature="U0lH")]}),
        chunk({"content": [{"type": "text", "text": "Hel"}]}),
        chunk({"content": [{"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "lo"}]}),
        chunk({"content": ""}, "stop"),
    )
    assert reply.message.parts == (
        Reasoning("Hm.", {"field": "thinking", "signature": "U0lH"}),
        Text("Hello"),
        Foreign("reference", {"type": "reference", "reference_ids": [1]}),
    )
    two = [thinking("a", signature="1"), thinking("b", signature="2"), {"type": "text", "text": "x"}]
    assert folded(read_reply({"choices": [{"message": {"content": two}}]})).message.parts == (
        Reasoning("a", {"field": "thinking", "signature": "1"}),
        Reasoning("b", {"field": "thinking", "signature": "2"}),
        Text("x"),
    )


def test_images_that_a_model_made_are_images() -> None:
    made = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    assert read_event(chunk({"images": [made]})) == [ImagePart(Image(PNG, "image/png"))]
    assert read_event(chunk({"content": [made, 7]})) == [ImagePart(Image(PNG, "image/png")), Unread({"content": 7})]
    assert read_event(chunk({"images": [{"image_url": {"url": "https://x"}}]})) == [
        Unread({"image": {"image_url": {"url": "https://x"}}})
    ]


def test_the_state_of_a_dial_application_is_kept_for_it() -> None:
    reply = streamed(
        chunk({"custom_content": {"stages": [{"index": 0, "name": "Search"}]}}),
        chunk({"content": "Hi", "custom_content": {"state": {"page": 2}}}, "stop"),
    )
    assert reply.message.parts == (Text("Hi"), Foreign("custom_content", {"state": {"page": 2}}))
    assert reply.notes == (Note("field.unknown", "narrowed", "", {"custom_content": ["stages"]}),)
    custom = {"state": 1, "attachments": [{"url": "files/a"}]}
    assert read_reply({"choices": [{"message": {"content": None, "custom_content": custom}}]}) == [
        ForeignPart("custom_content", custom, "custom_content")
    ]


def test_a_server_that_answers_whole_inside_of_a_stream_is_understood() -> None:
    message = {
        "role": "assistant",
        "content": "Hi.",
        "tool_calls": [{"id": "c0", "function": {"name": "get_a", "arguments": '{"x":1}'}}],
    }
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert folded(read_event(body)).message == Message("assistant", (Text("Hi."), A))
    again = streamed(chunk({"content": "H"}), chunk({"content": "i."}), calls(entry(0, "c0", "get_a", '{"x"')), body)
    assert again.message == Message("assistant", (Text("Hi."), A))


def test_fields_one_level_up_and_a_lone_entry_are_read() -> None:
    assert read_event(calls({"index": 1, "id": 7, "name": "f", "arguments": {"a": 1}})) == [
        CallDelta(1, "7", "f", arguments={"a": 1})
    ]
    assert read_event(chunk({"tool_calls": entry(0, "c", "f", "{}")})) == [CallDelta(0, "c", "f", "{}")]
    assert read_event(calls({"id": "c", "function": {"name": "f", "strict": True}, "arguments": "{}"})) == [
        CallDelta(None, "c", "f", "{}", opaque={"function": {"strict": True}})
    ]


@pytest.mark.parametrize("index", [True, "0", 1.0, None, [0]])
def test_an_index_that_is_no_number_is_none(index: Any) -> None:
    assert read_event(calls({"index": index, "id": "c"})) == [CallDelta(None, "c")]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", [Finished("stop", "stop")]),
        ("STOP", [Finished("stop", "STOP")]),
        ("max_tokens", [Finished("length", "max_tokens")]),
        ("model_length", [Finished("length", "model_length")]),
        ("content_filter", [Finished("filtered", "content_filter")]),
        ("insufficient_system_resource", [Finished("error", "insufficient_system_resource")]),
        ("", []),
        ("null", []),
        (None, []),
        ("weird", [Finished("stop", "weird"), Unread({"finish_reason": "weird"}, "finish.unknown")]),
        (7, [Unread({"finish_reason": 7}, "finish.unknown")]),
    ],
)
def test_reasons_to_end_are_put_into_our_words(reason: Any, expected: list[Event]) -> None:
    assert read_event(chunk({}, reason)) == expected


# ── what is not understood ───────────────────────────────────────────────────────────────────────────────────────


def test_other_choices_than_the_first_are_told_and_left_out() -> None:
    second = {"index": 1, "delta": {"content": "b"}, "finish_reason": None}
    assert read_event({"choices": [{"index": 0, "delta": {"content": "a"}}, second]}) == [
        TextDelta("a", "content"),
        Unread(second, "choice.ignored"),
    ]
    unnumbered = {"message": {"content": "b"}}
    assert read_reply({"choices": [{"message": {"content": "a"}}, unnumbered]}) == [
        TextDelta("a", "content", None, True),
        Unread(unnumbered, "choice.ignored"),
    ]


@pytest.mark.parametrize(
    "event",
    [None, 7, "x", [], [{}], {}, {"type": "ping"}, {"id": "x", "model": "m"}, {"choices": "x"}, {"data": []}, {"usage": 3}],
)  # fmt: skip
def test_an_event_of_another_kind_is_told(event: Any) -> None:
    found = read_event(event)
    assert [each for each in found if not isinstance(each, About)] == [Unread(event)]


def test_parts_of_a_chunk_that_are_not_understood_are_told() -> None:
    assert read_event({"choices": [7]}) == [Unread(7)]
    assert read_event({"choices": [{"index": 0}]}) == [Unread({"index": 0})]
    assert read_event({"choices": [{"index": 0, "delta": "x"}]}) == [Unread({"index": 0, "delta": "x"})]
    assert read_event(chunk({"tool_calls": 7})) == [Unread({"tool_calls": 7})]
    assert read_event(chunk({"tool_calls": [None]})) == [Unread({"tool_calls": None})]
    assert read_event(chunk({"content": {"type": "text"}})) == [Unread({"content": {"type": "text"}})]
    silent = ["role", "name", "index", "id", "tool_call_id", "metadata", "prefix", "logprobs", "token_ids", "tokens"]
    assert read_event(chunk({key: [1] for key in silent})) == []
    assert read_event(chunk({"executed_tools": [{"name": "browse"}], "weird": None})) == [
        Unread({"executed_tools": [{"name": "browse"}]}, "field.unknown")
    ]
    assert read_event(chunk({"annotations": [{"type": "url_citation"}]})) == [
        Unread({"annotations": [{"type": "url_citation"}]}, "annotations.dropped")
    ]


KEYS = [
    "choices", "delta", "message", "tool_calls", "function", "custom", "arguments", "input", "name", "id", "index", "type",
    "content", "text", "thinking", "reasoning_details", "reasoning", "audio", "images", "image_url", "url", "usage",
    "error", "finish_reason", "function_call", "refusal", "custom_content", "extra_content", "prompt_tokens_details",
    "data", "x_groq", "done", "object",
]  # fmt: skip
hostile = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(["", "null", "x", "text", "error"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)


@given(hostile)
def test_no_event_and_no_reply_raises(value: Any) -> None:
    for source in (value, {"choices": [value]}, chunk(value), calls(value), chunk({"content": [value]})):
        folded(read_event(source))
        folded(read_reply(source))
        assert continuation(source) is None or len(read_event(source)) >= 1


# ── the short way ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_chunk_that_is_one_more_fragment_is_read_the_short_way() -> None:
    more = {"id": "r", "model": "m", "usage": None, "obfuscation": "x"}
    assert continuation({**calls(entry(3, arguments='{"a')), **more}) == (3, '{"a')
    assert continuation({"choices": [{"delta": {"tool_calls": [entry(0, arguments="")]}}]}) == (0, "")


@pytest.mark.parametrize(
    "other",
    [
        calls(entry(0, "c", None, "x")),
        calls(entry(0, None, "f", "x")),
        calls(entry(None, arguments="x")),
        calls(entry(True, arguments="x")),
        calls(entry(0, arguments={"a": 1})),
        calls(entry(0, arguments="x", extra_content={})),
        calls({"index": 0, "custom": {"input": "x"}}),
        calls(entry(0, arguments="x"), entry(1, arguments="y")),
        chunk({"tool_calls": [entry(0, arguments="x")]}, "stop"),
        chunk({"tool_calls": [entry(0, arguments="x")], "content": "y"}),
        chunk({"tool_calls": [entry(0, arguments="x")]}, usage={"prompt_tokens": 1}),
        chunk({"tool_calls": [entry(0, arguments="x")]}, error={"message": "y"}),
        {"choices": [{"index": 0, "delta": {"tool_calls": [entry(0, arguments="x")]}, "error": "y"}]},
        {"choices": [{"index": 1, "delta": {"tool_calls": [entry(0, arguments="x")]}}]},
        {"choices": [{"delta": {"tool_calls": [entry(0, arguments="x")]}}] * 2},
        chunk({"content": "x"}),
        chunk({}),
        chunk(None),
        {"choices": []},
        {},
        None,
        "x",
        7,
    ],
)
def test_every_other_chunk_is_not_read_the_short_way(other: Any) -> None:
    assert continuation(other) is None


fragments = st.fixed_dictionaries(
    {"choices": st.lists(
        st.fixed_dictionaries(
            {"delta": st.fixed_dictionaries(
                {"tool_calls": st.lists(
                    st.fixed_dictionaries(
                        {"index": st.integers(0, 2) | st.booleans(), "function": st.fixed_dictionaries({"arguments": st.text(min_size=1) | hostile}, optional={"name": hostile})},
                        optional={"id": hostile, "extra_content": hostile},
                    ), max_size=2)},
                optional={"content": hostile},
            )},
            optional={"index": st.integers(0, 1), "finish_reason": hostile, "error": hostile},
        ), max_size=2)},
    optional={"usage": hostile, "error": hostile},
)  # fmt: skip


@given(fragments)
def test_the_short_way_says_what_the_long_way_says(value: Any) -> None:
    short = continuation(value)
    if short is not None:
        assert read_event(value) == [CallDelta(short[0], text=short[1])]


# ── objects of the SDKs ──────────────────────────────────────────────────────────────────────────────────────────


def test_chunks_of_openais_sdk_say_what_their_json_says() -> None:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    signed = {"extra_content": {"google": {"thought_signature": "U0lH"}}}
    sent: list[dict[str, Any]] = [
        {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m", **each}
        for each in (
            chunk({"role": "assistant", "content": "Hi", "reasoning_content": "Hm"}),
            calls({**entry(0, "c", "f", ""), **signed, "type": "function"}),
            calls(entry(0, arguments="{}")),
            chunk({}, "weird"),
            {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
        )
    ]
    for each in sent:
        assert read_event(plain(ChatCompletionChunk.construct(**each))) == read_event(each)
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}],
    }
    body = {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}]}  # fmt: skip
    assert read_reply(plain(ChatCompletion.model_validate(body))) == read_reply(body)
    assert ForeignPart not in {type(each) for each in read_reply(body)}
