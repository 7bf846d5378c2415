"""`toolbridge replay`: what a recording is and says, for people and for programs, and as another provider's request."""

from __future__ import annotations

import errno
import json
import os
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import EXAMPLE, toolbridge
from tests.support.wire.recording import STREAMS, read_recordings
from toolbridge.history.document import write_history
from toolbridge.moving import move_calls
from toolbridge.prepare import prepare
from toolbridge.providers import get_provider
from toolbridge.recorded import read_recording
from toolbridge.tools import read_tools
from toolbridge.types import Foreign, Message, Reasoning, Resource, ResourceLink, Text, ToolCall, ToolResult

TWO_CALLS = STREAMS / "openai-chat" / "two_calls.sse"
CUT = STREAMS / "anthropic" / "call_cut_at_the_limit.sse"

PNG = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(1500)).decode()
REQUEST: dict[str, Any] = {
    "model": "gpt-5-mini",
    "messages": [
        {"role": "system", "content": "You are a gärtner."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Where do roses grow?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            ],
        },
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "find_plants", "arguments": '{"query":"rose"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": '{"rose": "B2"}'},
        {"role": "assistant", "content": "In B2. " * 100},
    ],
}


def written(directory: Path, content: Any, name: str = "recording") -> Path:
    file = directory / name
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode())
    return file


def asks(*calls: tuple[str, str]) -> dict[str, Any]:
    """A whole reply of Chat Completions with these calls."""
    listed = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": text}}
        for i, (name, text) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": listed}
    return {"id": "r", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stream_is_told_with_its_calls_its_end_and_its_cost() -> None:
    answer = toolbridge("replay", TWO_CALLS, "--from", "openai-chat")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "stream of openai-chat, model gpt-5-mini",
        "",
        "assistant  → get_weather  call_a1B2c3D4e",
        "               {",
        '                 "city": "Zürich"',
        "               }",
        "           → get_time  call_f5G6h7I8j",
        "               {",
        '                 "zone": "Asia/Tōkyō",',
        '                 "h24": true',
        "               }",
        "",
        "finish     calls (tool_calls)",
        "usage      31 tokens in, 17 out",
    ]


def test_a_broken_call_is_told_with_its_text_and_the_place_and_the_exit_code_is_one() -> None:
    answer = toolbridge("replay", CUT, "--from", "anthropic")
    why = 'the arguments end too early, after "{\\"city\\": \\"Lausanne\\","'
    assert (answer.code, answer.err) == (1, f"toolbridge: call toolu_j9K0l1M2n of get_weather: {why}\n")
    assert answer.out.splitlines() == [
        "stream of anthropic, model claude-sonnet-5",
        "",
        "assistant  One moment.",
        "           → get_weather  toolu_j9K0l1M2n",
        f"             ✗ {why}",
        '               {"city": "Lausanne",',
        "",
        "finish     length (max_tokens)",
        "usage      39 tokens in (8 cached), 17 out",
    ]


def test_a_history_is_told_message_by_message_and_in_short(tmp_path: Path) -> None:
    answer = toolbridge("replay", written(tmp_path, REQUEST), "--from", "openai-chat", COLUMNS="60")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "history of openai-chat: 5 messages, 1 call",
        "",
        "system     You are a gärtner.",
        "user       Where do roses grow?",
        "           [image/png, 1.5 kB]",
        "assistant  Let me look.",
        "           → find_plants  call_1",
        "               {",
        '                 "query": "rose"',
        "               }",
        "tool       ← call_1",
        '             {"rose": "B2"}',
        "assistant  In B2. In B2. In B2. In B2. In B2. In B2. In B2.",
        *["           In B2. In B2. In B2. In B2. In B2. In B2. In B2."] * 4,
        "           In B2. In B2. In B2. In B2. In B2. In B2. In B2.…",
    ]


def test_of_a_long_history_the_end_is_told(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"No. {i}"} for i in range(500)]
    answer = toolbridge("replay", written(tmp_path, messages), "--from", "openai-chat")
    lines = answer.out.splitlines()
    assert lines[:4] == [
        "history of openai-chat: 500 messages, 0 calls",
        "",
        "… 300 messages before",
        "user       No. 300",
    ]
    assert (len(lines), lines[-1]) == (203, "user       No. 499")


def test_many_problems_are_counted(tmp_path: Path) -> None:
    answer = toolbridge(
        "replay", written(tmp_path, asks(*[("f", "{")] * 60)), "--from", "openai-chat", "--to", "gemini"
    )
    lines = answer.err.splitlines()
    assert answer.code == 1
    assert lines[-2:] == [
        'toolbridge: call c49 of f: the arguments end too early, after "{"',
        "toolbridge: … and 10 more",
    ]
    assert "    … 40 places more" in lines
    assert sum(each.startswith("    /0/parts/") for each in lines) == 2 * 20  # wrapped arguments, and missing results


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    history = (
        Message.user("Hi", ResourceLink("https://x/y.pdf"), Resource("file:///a.txt", "text/plain", "abc")),
        Message("assistant", (Reasoning("Hm. " * 100), Foreign("web_search_call"), Reasoning()), "openai-responses"),
        Message.results(
            ToolResult("c1", structured={"a": [1]}),
            ToolResult("c2", is_error=True),
            ToolResult("c3", (Text("bed " * 20),)),
        ),
    )
    answer = toolbridge("replay", written(tmp_path, write_history(history)), "--from", "openai-chat", COLUMNS="60")
    assert answer.out.splitlines() == [
        "history of openai-chat: 3 messages, 0 calls",
        "",
        "user       Hi",
        "           [link https://x/y.pdf]",
        "           [text/plain file:///a.txt, 3 bytes]",
        "assistant  thought: Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm.",
        "           Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm. Hm.…",
        "           [web_search_call]",
        "           thought: (not shown)",
        "tool       ← c1",
        '             {"a":[1]}',
        "           ← ✗ c2",
        "             (no content)",
        "           ← c3",
        "             bed bed bed bed bed bed bed bed bed bed bed bed",
        "             bed bed bed bed bed bed bed bed",
    ]


def test_notes_are_told_in_words_and_what_could_not_be_read_is_on_stderr(tmp_path: Path) -> None:
    body = TWO_CALLS.read_bytes().partition(b'"delta":{},')[0].rpartition(b"data:")[0]
    answer = toolbridge("replay", written(tmp_path, body + b"data: oops\n\n"), "--from", "openai-chat")
    assert answer.code == 1
    assert answer.out.splitlines()[-6:] == [
        "finish     broken_off",
        "",
        "notes",
        "  stream.unreadable (narrowed): an event whose data is no JSON",
        '    /  was "oops"',
        "  stream.broken_off (narrowed): the stream ended before its end",
    ]
    assert answer.err.splitlines() == [
        'toolbridge: stream.unreadable: an event whose data is no JSON: "oops"',
        "toolbridge: stream.broken_off: the stream ended before its end",
    ]


def test_a_stream_that_is_cut_inside_of_its_first_event_has_broken_off(tmp_path: Path) -> None:
    file = written(tmp_path, TWO_CALLS.read_bytes()[:150])
    answer = toolbridge("replay", file, "--from", "openai-chat", "--json")
    assert (answer.code, answer.json["kind"], answer.json["finish"]) == (1, "stream", "broken_off")
    assert [each["code"] for each in answer.json["notes"]] == ["stream.unreadable", "stream.broken_off"]
    assert [line.partition(": ")[2].partition(":")[0] for line in answer.err.splitlines()] == [
        "stream.unreadable",
        "stream.broken_off",
    ]


def test_what_was_read_and_has_no_place_is_noted_and_no_reason_to_fail(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "B2.", "annotations": [{"type": "url_citation"}]}
    reply = {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    answer = toolbridge("replay", written(tmp_path, reply), "--from", "openai-chat")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[-2:] == [
        "  annotations.dropped (narrowed): citations and the like beside the text are not kept",
        '    /  was {"annotations":[{"type":"url_citation"}]}',
    ]


def test_an_error_of_the_provider_is_told(tmp_path: Path) -> None:
    body = b'HTTP/1.1 429 Too Many Requests\r\n\r\n{"error": {"message": "slow\\ndown", "code": "rate"}}'
    answer = toolbridge("replay", written(tmp_path, body), "--from", "openai-chat")
    assert (answer.code, answer.err) == (1, "toolbridge: the provider reports an error: slow down\n")
    assert answer.out.splitlines() == ["reply of openai-chat", "", "finish     error", "error      slow down"]


def test_long_arguments_are_cut_for_people_and_whole_for_programs(tmp_path: Path) -> None:
    file = written(tmp_path, asks(("f", json.dumps({"list": list(range(100)), "text": "x" * 5000}))))
    answer = toolbridge("replay", file, "--from", "openai-chat")
    lines = answer.out.splitlines()
    assert answer.code == 0
    assert "               … 65 lines more; --json has them all" in lines
    assert max(map(len, lines)) < 2100
    arguments = toolbridge("replay", file, "--from", "openai-chat", "--json").json["calls"][0]["arguments"]
    assert arguments == {"list": list(range(100)), "text": "x" * 5000}


def test_nothing_that_a_model_wrote_can_steer_the_terminal(tmp_path: Path) -> None:
    evil = "a\x1b[2Jb\u202ec\u2066d\rz"
    reply = asks((evil, json.dumps({evil: evil}, ensure_ascii=True)), (evil, evil))
    reply["choices"][0]["message"]["content"] = evil
    reply["model"] = evil
    reply["choices"][0]["finish_reason"] = evil
    for more in ((), ("--tools", EXAMPLE), ("--to", "gemini"), ("--json",)):
        answer = toolbridge("replay", written(tmp_path, reply), "--from", "openai-chat", *more)
        assert answer.code == 1
        for character in "\x1b\u202e\u2066\r":
            assert character not in answer.out + answer.err
        assert "\\x1b[2J" in answer.out + answer.err or "\\u001b[2J" in answer.out


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_with_tools_every_call_is_held_against_them(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        asks(
            ("find_plants", '{"query": "rose", "limit": 5, "in_bloom": null}'),
            ("find_plants", '{"query": "rose", "limit": "9"}'),
            ("find_plants", '{"query": "x"}'),
            ("garden_opened", "{}"),
            ("garden_open", "{}"),
        ),
    )
    answer = toolbridge("replay", file, "--from", "openai-chat", "--tools", EXAMPLE)
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "reply of openai-chat, model m",
        "",
        "assistant  → find_plants  c0",
        "               {",
        '                 "query": "rose",',
        '                 "limit": 5,',
        '                 "in_bloom": null',
        "               }",
        "             ✓ find_plants, which gets",
        "               {",
        '                 "query": "rose",',
        '                 "limit": 5',
        "               }",
        "               /in_bloom  null.dropped (changed): a null stood for an argument that may be left out",
        "           → find_plants  c1",
        "               {",
        '                 "query": "rose",',
        '                 "limit": "9"',
        "               }",
        "             ✓ find_plants, which gets",
        "               {",
        '                 "query": "rose",',
        '                 "limit": 9',
        "               }",
        '               /limit  text.parsed (changed): a text held the value that was due, was "9"',
        "           → find_plants  c2",
        "               {",
        '                 "query": "x"',
        "               }",
        "             ✗ The call of find_plants was not run: its arguments are not valid.",
        '               - Argument query: "x" is shorter than 2 characters. Expected: string; At least 2 characters.',
        "               Correct the arguments and call again.",
        "           → garden_opened  c3",
        "               {}",
        '             ✗ There is no tool named "garden_opened". Did you mean garden_open?',
        "           → garden_open  c4",
        "               {}",
        "             ✓ garden_open",
        "",
        "finish     calls (tool_calls)",
    ]
    assert answer.err.splitlines() == [
        "toolbridge: call c2 of find_plants: The call of find_plants was not run: its arguments are not valid. "
        '- Argument query: "x" is shorter than 2 characters. Expected: string; At least 2 characters. '
        "Correct the arguments and call again.",
        'toolbridge: call c3 of garden_opened: There is no tool named "garden_opened". Did you mean garden_open?',
    ]


def test_the_tools_of_a_named_server_are_found_by_their_spelling(tmp_path: Path) -> None:
    file = written(tmp_path, asks(("mcp__garden__garden_open", "{}")))
    answer = toolbridge("replay", file, "--from", "openai-chat", "--tools", EXAMPLE, "--server", "garden", "--json")
    assert answer.code == 0
    assert answer.json["calls"] == [
        {
            "id": "c0",
            "name": "mcp__garden__garden_open",
            "arguments": {},
            "text": "{}",
            "problem": None,
            "resolved": {"tool": "garden/garden_open", "arguments": {}, "notes": []},
        }
    ]


def test_calls_in_the_text_are_read_on_request(tmp_path: Path) -> None:
    text = '```json\n{"name": "find_plants", "arguments": {"query": "rose"}}\n```'
    reply = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    file = written(tmp_path, reply)
    plain = toolbridge("replay", file, "--from", "vllm", "--json")
    asked = toolbridge("replay", file, "--from", "vllm", "--json", "--text-calls", "--tools", EXAMPLE)
    marked = written(tmp_path, json.dumps(reply).replace("```json\\n", "<tool_call>").encode(), "marked")
    without = toolbridge("replay", marked, "--from", "vllm", "--json", "--text-calls")
    assert (plain.code, plain.json["calls"], plain.json["finish"]) == (0, [], "stop")
    assert [(each.code, [call["name"] for call in each.json["calls"]]) for each in (asked, without)] == [
        (0, ["find_plants"]),
        (0, ["find_plants"]),
    ]
    assert asked.json["finish"] == "calls"


# ── to another provider ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "gemini", "bedrock", "mistral", "openai-chat"])
def test_the_conversation_is_written_for_another_provider_and_all_the_rest_goes_to_stderr(
    tmp_path: Path, target: str
) -> None:
    file = written(tmp_path, REQUEST)
    answer = toolbridge("replay", file, "--from", "openai-chat", "--to", target)
    recording = read_recording(file.read_bytes(), "openai-chat")
    fields = get_provider(target).write_messages(recording.messages).value
    expected = json.dumps(fields, ensure_ascii=False, indent=2, default=lambda data: b64encode(data).decode())
    assert (answer.code, answer.out) == (0, expected + "\n")
    assert answer.err.splitlines()[:6] == [
        "history of openai-chat: 5 messages, 1 call",
        "",
        "→ find_plants  call_1",
        "    {",
        '      "query": "rose"',
        "    }",
    ]


def test_what_changed_for_the_other_provider_is_told() -> None:
    file = STREAMS / "anthropic" / "reasoning_and_call.sse"
    answer = toolbridge("replay", file, "--from", "anthropic", "--to", "mistral")
    assert answer.code == 0
    told = answer.err.partition("\n\nchanged for mistral\n")[2].splitlines()
    assert [each for each in told if not each.startswith("    ")] == [
        "  reasoning.dropped (narrowed): only the provider of the model that thought it takes it back, so left out",
        "  id.spelt (changed): not a legal id here, so spelt another way",
        "  result.missing (changed): no result: one is put in that says that nothing is known",
        "  message.inserted (changed): put in, since the order of roles asks for it",
    ]


def test_the_model_counts_where_models_differ(tmp_path: Path) -> None:
    sound = {"type": "input_audio", "input_audio": {"data": b64encode(b"RIFF0000WAVE").decode(), "format": "wav"}}
    file = written(tmp_path, {"messages": [{"role": "user", "content": [sound]}]})
    silent = toolbridge("replay", file, "--from", "openai-chat", "--to", "openai-chat", "--model", "gpt-5-mini")
    hearing = toolbridge("replay", file, "--from", "openai-chat", "--to", "openai-chat", "--model", "gpt-4o-audio")
    assert "input_audio" not in silent.out
    assert hearing.json["messages"][0]["content"] == [sound]


def test_with_tools_the_calls_take_the_shape_that_the_other_provider_has_them_in(tmp_path: Path) -> None:
    text = '{"plant": "Bellis perennis", "names": {"de": "Gänseblümchen"}}'
    file = written(tmp_path, asks(("label_plant", text), ("beds_water_lya44vfr", '{"bed": "B2"}')))
    tools = read_tools(EXAMPLE)
    ready, elsewhere = prepare(tools, "anthropic"), prepare(tools, "gemini")
    body = {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t1", "name": ready.definitions[1]["name"], "input": {"bed": "B2"}}],
    }
    file = written(tmp_path, body)
    answer = toolbridge("replay", file, "--from", "anthropic", "--to", "gemini", "--tools", EXAMPLE, "--json")
    messages = read_recording(file.read_bytes(), "anthropic").messages
    moved = move_calls(messages, ready, elsewhere)
    assert moved.notes
    assert answer.json["fields"] == get_provider("gemini").write_messages(moved.value).value
    assert answer.json["changes"][0] == {
        "code": moved.notes[0].code,
        "effect": "changed",
        "path": "/0/parts/0",
        "before": ready.definitions[1]["name"],
    }


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_json_is_one_object_with_everything() -> None:
    answer = toolbridge("replay", TWO_CALLS, "--from", "openai-chat", "--json")
    recording = read_recording(TWO_CALLS.read_bytes(), "openai-chat")
    assert recording.reply is not None
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "kind": "stream",
        "provider": "openai-chat",
        "id": "chatcmpl-Cb7",
        "model": "gpt-5-mini",
        "text": "",
        "calls": [
            {"id": each.id, "name": each.name, "arguments": each.arguments, "text": each.text, "problem": None}
            for each in recording.reply.calls
        ],
        "finish": "calls",
        "raw_finish": "tool_calls",
        "usage": {"input": 31, "output": 17, "cached": None, "reasoning": None},
        "error": None,
        "notes": [],
        "messages": write_history(recording.messages)["messages"],
    }


def test_json_of_a_history_has_its_messages_and_of_another_provider_its_fields(tmp_path: Path) -> None:
    file = written(tmp_path, REQUEST)
    answer = toolbridge("replay", file, "--from", "openai-chat", "--to", "bedrock", "--json")
    recording = read_recording(file.read_bytes(), "openai-chat")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    assert document["fields"]["messages"][0]["content"][1]["image"]["source"]["bytes"] == PNG
    assert (document["kind"], document["finish"], document["usage"], document["text"]) == ("history", None, None, None)
    assert document["messages"] == write_history(recording.messages)["messages"]
    assert document["to"] == "bedrock"
    assert [each["code"] for each in document["changes"]] == ["message.inserted"]


@pytest.mark.parametrize("stream", read_recordings()[::12], ids=lambda each: each.name)
def test_every_recorded_stream_can_be_replayed(stream: Any, tmp_path: Path) -> None:
    answer = toolbridge("replay", written(tmp_path, stream.body), "--from", stream.provider, "--json")
    recording = read_recording(stream.body, stream.provider)
    assert recording.reply is not None
    assert (answer.json["kind"], answer.json["finish"]) == ("stream", recording.reply.finish)
    assert [(each["id"], each["arguments"]) for each in answer.json["calls"]] == [
        (each.id, each.arguments) for each in recording.reply.calls
    ]
    assert answer.code == (0 if not answer.err else 1)


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_standard_input_is_read_for_a_dash() -> None:
    from_file = toolbridge("replay", TWO_CALLS, "--from", "openai-chat")
    assert toolbridge("replay", "-", "--from", "openai-chat", stdin=TWO_CALLS.read_bytes()) == from_file


def test_what_powershell_and_curl_make_of_a_stream_is_the_same_stream(tmp_path: Path) -> None:
    usual = toolbridge("replay", TWO_CALLS, "--from", "openai-chat")
    text = TWO_CALLS.read_text(encoding="utf-8")
    for i, content in enumerate(
        (
            text.replace("\n", "\r\n").encode("utf-16"),
            b"\xef\xbb\xbf" + text.encode(),
            f"* Connected\n> POST / HTTP/1.1\n>\n< HTTP/1.1 200 OK\n<\n{text}* Connection #0 to host x left intact\n".encode(),
            f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{text}".encode(),
        )
    ):
        assert toolbridge("replay", written(tmp_path, content, str(i)), "--from", "openai-chat") == usual


def test_our_own_document_can_be_replayed_to_any_provider(tmp_path: Path) -> None:
    call = ToolCall("c1", "f", '{"x":1}', {"x": 1})
    history = (Message.user("Hi"), Message("assistant", (Text("Ok"), call), "anthropic"))
    file = written(tmp_path, write_history(history))
    answer = toolbridge("replay", file, "--from", "openai-chat", "--to", "anthropic")
    assert answer.code == 0
    assert answer.json == get_provider("anthropic").write_messages(history).value


def test_a_stream_of_a_hundred_thousand_chunks_is_read_in_seconds(tmp_path: Path) -> None:
    chunk = '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"abcdefghij"}}]}}]}'
    first = chunk.replace('"function":{', '"id":"a","function":{"name":"f",')
    body = f"data: {first}\n\n" + f"data: {chunk}\n\n" * 100_000
    start = time.monotonic()
    answer = toolbridge("replay", written(tmp_path, body.encode()), "--from", "openai-chat", "--json")
    assert time.monotonic() - start < 30
    assert (answer.code, len(answer.json["calls"][0]["text"])) == (1, 1_000_010)


# ── misuse ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("reply --from openai-chatt", "unknown provider 'openai-chatt'; did you mean 'openai-chat'?"),
        ("missing --from anthropic --to gemin", "unknown provider 'gemin'; did you mean 'gemini'?"),
        ("rply --from gemini", "rply: no such file; did you mean reply?"),
        ("zzzz --from gemini", "zzzz: no such file; give a recorded stream, reply or history, or - for standard input"),
        ("folder --from gemini", "folder: a directory; give a recorded stream, reply or history, or - for standard input"),
        ("page --from gemini", 'page: it starts with "<!DOCTYPE html>"; expected a stream, a reply or a history'),
        ("empty --from gemini", "empty: empty; expected a stream, a reply or a history"),
        ("- --from gemini", "standard input: empty; expected a stream, a reply or a history"),
        ("reply --from gemini", 'reply: a JSON object with "id", "model", "choices", and nothing that gemini sends; did you mean \'openai-chat\'?'),
        ("reply --from openai-chat --tools zzzz", "zzzz: no such file; give a JSON file of tools, or - for standard input"),
        ("reply --from openai-chat --tools page", "page: not JSON: expecting value at line 1, column 1; expected a tools/list answer or a list of tools, as JSON"),
        ("- --from openai-chat --tools -", "standard input can be read only once; give a file for FILE or for --tools"),
        ("reply", "replay: --from is missing: name the provider whose form it is in, such as --from openai-chat; see toolbridge replay --help"),
        ("--from gemini", "replay: FILE is missing: give a recorded stream, reply or history, or - for standard input; see toolbridge replay --help"),
        ("reply --form gemini", "replay: unknown option --form; did you mean --from?"),
    ],
)  # fmt: skip
def test_misuse_is_one_line_and_nothing_is_on_stdout(tmp_path: Path, arguments: str, line: str) -> None:
    written(tmp_path, asks(("f", "{}")), "reply")
    written(tmp_path, b"<!DOCTYPE html>\n<html>", "page")
    written(tmp_path, b"", "empty")
    (tmp_path / "folder").mkdir()
    for more in ((), ("--json",)):
        answer = toolbridge("replay", *arguments.split(), *more, cwd=tmp_path)
        assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    answer = toolbridge("replay", "loop", "--from", "gemini", cwd=tmp_path)
    line = f"loop: {os.strerror(errno.ELOOP).lower()}; give a recorded stream, reply or history"
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")
