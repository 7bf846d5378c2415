"""Gemini's transcripts: histories as contents that google-genai's own types accept, and contents as histories."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

import pytest
from google.genai import _common, types
from google.genai._transformers import t_contents
from hypothesis import given
from hypothesis import strategies as st

from tests.support.transcripts import problems
from tests.wire.spoiling import spoilt
from toolbridge.errors import HistoryError
from toolbridge.history.turns import Answer, Turn, legal_turns
from toolbridge.notes import Note
from toolbridge.providers import get_provider
from toolbridge.types import (
    Audio,
    Foreign,
    Image,
    Message,
    Part,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)
from toolbridge.wire.gemini import MODELS, RULES, TALK
from toolbridge.wire.gemini.parts import NO_SIGNATURE

GEMINI = get_provider("gemini")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKJeLjz9MK"
WAV = "UklGRiQAAABXQVZFZm10IA=="
SIGNED = {"thoughtSignature": "c2ln"}


def call(
    id: str, name: str = "f", arguments: dict[str, Any] | None = None, opaque: dict[str, Any] | None = None
) -> ToolCall:
    given = {} if arguments is None else arguments
    return ToolCall(id, name, json.dumps(given, ensure_ascii=False, separators=(",", ":")), given, opaque=opaque or {})


def said(*parts: Part) -> Message:
    return Message("assistant", parts, "gemini")


def written(*messages: Message, model: str = "") -> dict[str, Any]:
    fields = GEMINI.write_messages(messages, model=model).value
    assert problems("gemini", fields) == []
    return fields


def answered(*results: ToolResult, model: str = "") -> list[dict[str, Any]]:
    """What stands behind the calls that these results are of."""
    calls = [call(result.call_id) for result in results]
    return written(Message.user("?"), said(*calls), Message.results(*results), model=model)["contents"][2:]


def read(source: Any) -> tuple[Message, ...]:
    found = GEMINI.read_messages(source)
    assert found.notes == ()
    return found.value


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_is_contents_and_an_instruction() -> None:
    assert written(
        Message.system("Be brief."),
        Message.user("Weather – où?", Image(PNG, "image/png")),
        said(
            Reasoning("Hm."),
            Text("Let me see.", {"thoughtSignature": "czE="}),
            call("c1", "get_weather", {"city": "Zürich"}, SIGNED),
            call("c2", "get_time"),
        ),
        Message.results(
            ToolResult("c2", (Text("noon"),)),
            ToolResult("c1", (Text("no such city"),), is_error=True),
        ),
        Message.user("And?"),
    ) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "Weather – où?"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {"text": "Let me see.", "thoughtSignature": "czE="},
                    {
                        "functionCall": {"id": "c1", "name": "get_weather", "args": {"city": "Zürich"}},
                        "thoughtSignature": "c2ln",
                    },
                    {"functionCall": {"id": "c2", "name": "get_time", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "get_weather", "response": {"error": "no such city"}}},
                    {"functionResponse": {"id": "c2", "name": "get_time", "response": {"output": "noon"}}},
                ],
            },
            {"role": "user", "parts": [{"text": "And?"}]},
        ],
    }


def test_without_an_instruction_there_is_no_field_for_it() -> None:
    assert written(Message.user("Hi")) == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


def test_the_sdk_sends_what_was_written_byte_for_byte() -> None:
    fields = written(
        Message.user("See", Image(PNG, "image/png"), ResourceLink("https://example.org/a.pdf", "", "application/pdf")),
        said(
            Reasoning("hm", SIGNED), Text("", SIGNED), Image(PNG, "image/png", SIGNED), call("c1", "f", {"a": [None]})
        ),
        Message.results(ToolResult("c1", (Text("x"), Image(PNG, "image/png")))),
        Message.user("Thanks"),
    )
    models = [types.Content.model_validate(content) for content in fields["contents"]]
    dumped = [
        _common.encode_unserializable_types(model.model_dump(by_alias=True, exclude_unset=True)) for model in models
    ]
    assert json.loads(json.dumps(dumped).replace("-", "+").replace("_", "/")) == json.loads(
        json.dumps(fields["contents"]).replace("_", "/")
    )
    assert t_contents(fields["contents"]) == models


def test_a_call_from_elsewhere_has_the_word_that_stands_for_no_signature() -> None:
    other = Message("assistant", (call("c1", opaque=SIGNED), call("c2")), "anthropic")
    (_, model, _) = written(Message.user("?"), other, Message.results(ToolResult("c1"), ToolResult("c2")))["contents"]
    assert model["parts"] == [
        {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": NO_SIGNATURE},
        {"functionCall": {"id": "c2", "name": "f", "args": {}}},
    ]
    assert b64decode(NO_SIGNATURE) == b"skip_thought_signature_validator"
    assert types.Part.model_validate(model["parts"][0]).thought_signature == b"skip_thought_signature_validator"


def test_contents_of_the_model_in_a_row_are_one() -> None:
    fields = written(
        Message.user("?"),
        said(Text("a")),
        said(Text("b"), call("c1", opaque=SIGNED)),
        Message.results(ToolResult("c1", (Text("x"),))),
        said(Text("c")),
        Message.user("d"),
    )
    assert [(content["role"], len(content["parts"])) for content in fields["contents"]] == [
        ("user", 1), ("model", 3), ("user", 1), ("model", 1), ("user", 1),
    ]  # fmt: skip


def test_empty_parts_are_written_for_their_signatures_only() -> None:
    parts = (Reasoning(""), Reasoning("", SIGNED), Text("", {"partMetadata": {"a": 1}}), Text("", SIGNED), Text("b"))
    history = (Message.user("?"), said(*parts), Message.user("!"))
    notes = legal_turns(history, TALK.rules, "gemini").notes
    assert [(note.code, note.path) for note in notes] == [
        ("reasoning.dropped", "/1/parts/0"), ("opaque.dropped", "/1/parts/2"),
    ]  # fmt: skip
    (_, content, _) = written(*history)["contents"]
    assert content["parts"] == [
        {"text": "", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "c2ln"},
        {"text": "b"},
    ]


def test_a_character_that_came_in_halves_is_whole_again() -> None:
    parts = (Reasoning("\ud83d\ude00", SIGNED), Text("a\ud83d", SIGNED))
    (_, content, _) = written(Message.user("?"), said(*parts), Message.user("!"))["contents"]
    assert [part["text"] for part in content["parts"]] == ["😀", "a\ufffd"]


def test_the_user_has_the_first_and_the_last_word() -> None:
    fields = written(said(Text("a")))
    assert [content["role"] for content in fields["contents"]] == ["user", "model", "user"]


def test_contents_of_the_user_in_a_row_stay_as_they_are() -> None:
    fields = written(Message.user("a"), Message.user("b"))
    assert fields["contents"] == [{"role": "user", "parts": [{"text": each}]} for each in "ab"]


@pytest.mark.parametrize(
    ("result", "response"),
    [
        (ToolResult("c1", (Text("a"), Text("b"))), {"output": "a\nb"}),
        (ToolResult("c1", (Text("a"),), is_error=True), {"error": "a"}),
        (ToolResult("c1", (), {"t": 7}), {"output": {"t": 7}}),
        (ToolResult("c1", (Text('{"t": 7}'),), {"t": 7}), {"output": {"t": 7}}),
        (ToolResult("c1", (), [1, {"a": None}]), {"output": [1, {"a": None}]}),
        (ToolResult("c1", (), 0), {"output": 0}),
        (ToolResult("c1", (), {"why": "no"}, is_error=True), {"error": {"why": "no"}}),
        (ToolResult("c1"), {"output": "(The tool returned nothing.)"}),
        (ToolResult("c1", is_error=True), {"error": "(The tool failed and said nothing.)"}),
    ],
)
def test_a_response_is_an_object_with_the_output_or_the_error(result: ToolResult, response: Any) -> None:
    assert answered(result) == [
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": response}}]}
    ]


MEDIA = ToolResult(
    "c1",
    (
        Text("Here:"),
        Image(PNG, "image/png"),
        Audio(WAV, "audio/wav"),
        Resource("file:///a.pdf", "application/pdf", blob=PDF),
    ),
)


def test_gemini_3_has_media_inside_of_results_and_sound_behind_them() -> None:
    sound = "[audio: audio/wav, 16 bytes, in the message that follows]"
    assert answered(MEDIA, model="gemini-3-flash-preview") == [
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "c1",
                        "name": "f",
                        "response": {"output": f"Here:\n{sound}\n[resource: file:///a.pdf, application/pdf]"},
                        "parts": [
                            {"inlineData": {"mimeType": "image/png", "data": PNG}},
                            {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
                        ],
                    }
                }
            ],
        },
        {
            "role": "user",
            "parts": [
                {"text": "[From the result of f (call id c1):]"},
                {"inlineData": {"mimeType": "audio/wav", "data": WAV}},
            ],
        },
    ]


@pytest.mark.parametrize(
    "model", ["gemini-2.5-flash", "models/gemini-2.0-flash-001", "gemini-1.5-pro", "gemini-pro", "gemma-3-27b-it"]
)
def test_older_models_have_media_behind_the_results(model: str) -> None:
    response, media = answered(MEDIA, model=model)
    assert [list(part) for part in response["parts"]] == [["functionResponse"]]
    assert "parts" not in response["parts"][0]["functionResponse"]
    assert media["parts"] == [
        {"text": "[From the result of f (call id c1):]"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"inlineData": {"mimeType": "audio/wav", "data": WAV}},
        {"text": "[resource: file:///a.pdf, application/pdf]"},
        {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    ]


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("", RULES),
        ("gemini-3-pro-preview", RULES),
        ("models/gemini-3.1-flash", RULES),
        ("gemini-20-pro", RULES),
        ("gemini-12-pro", RULES),
        ("gemini-flash-latest", RULES),
        ("gemini-pro-latest", RULES),
        ("gemini-2.5-pro", MODELS[1][1]),
        ("gemini-live-2.5-flash", MODELS[1][1]),
        ("gemini-2.0-flash", MODELS[0][1]),
        ("gemini-1.5-flash", MODELS[0][1]),
        ("gemini-pro", MODELS[0][1]),
        ("gemma-3", MODELS[0][1]),
    ],
)
def test_models_are_known_by_their_names(model: str, row: Any) -> None:
    assert TALK.rules_for(model) is row


def test_links_are_files_by_their_address() -> None:
    links = [
        ResourceLink("https://example.org/a.png", "", "image/png"),
        ResourceLink("https://example.org/b", "", "image/*"),
    ]
    (content,) = written(Message.user(*links))["contents"]
    assert content["parts"] == [
        {"fileData": {"fileUri": "https://example.org/a.png", "mimeType": "image/png"}},
        {"fileData": {"fileUri": "https://example.org/b"}},
    ]
    (content,) = written(Message.user(*links), model="gemini-2.0-flash")["contents"]
    assert [list(part) for part in content["parts"]] == [["text"], ["text"]]


def test_files_are_named_and_text_of_files_is_sent_as_it_is() -> None:
    turn = Turn("user", (Resource("notes.txt", "text/plain", text="é"), Resource("", "application/pdf", blob=PDF)))
    assert TALK.write([turn], RULES)["contents"][0]["parts"] == [
        {"text": "[resource: notes.txt, text/plain]"},
        {"inlineData": {"mimeType": "text/plain", "data": "w6k="}},
        {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    ]


def test_a_broken_call_stands_as_an_object() -> None:
    broken = ToolCall("c1", "f", '{"a": ', None, "the arguments end too early")
    history = (Message.user("?"), said(broken), Message.results(ToolResult("c1", (Text("no JSON"),), is_error=True)))
    fields = written(*history)
    assert fields["contents"][1]["parts"][0]["functionCall"]["args"] == {"INVALID_JSON": '{"a": '}
    again = read(fields)[1].calls[0]
    assert (again.id, again.name, again.text, again.arguments) == ("c1", "f", '{"a": ', None)


def test_an_answer_of_media_alone_says_what_they_are() -> None:
    data = b64encode(b"x" * 1234).decode()
    answers = (
        Answer(call("c1"), (Image(data, "image/png"),)),
        Answer(call("c2"), (Image(data, "image/png"), Resource("", "application/pdf", blob=PDF)), is_error=True),
    )
    turn = Turn("assistant", (call("c1"), call("c2")), answers)
    image = {"inlineData": {"mimeType": "image/png", "data": data}}
    assert [part["functionResponse"] for part in TALK.write([turn], RULES)["contents"][1]["parts"]] == [
        {"id": "c1", "name": "f", "response": {"output": "[image: image/png, 1,234 bytes]"}, "parts": [image]},
        {
            "id": "c2",
            "name": "f",
            "response": {"error": "[image: image/png, 1,234 bytes]\n[resource: application/pdf, 15 bytes]"},
            "parts": [image, {"inlineData": {"mimeType": "application/pdf", "data": PDF}}],
        },
    ]


def test_names_are_those_of_the_definitions() -> None:
    assert RULES.names == GEMINI.names


def test_both_forms_of_gemini_talk_alike() -> None:
    openapi = get_provider("gemini-openapi")
    assert openapi.talk() is GEMINI.talk() is TALK
    history = [
        Message.user("?"),
        said(Reasoning("hm", SIGNED), call("c1", opaque=SIGNED)),
        Message.results(ToolResult("c1", (Text("x"),))),
    ]
    assert openapi.write_messages(history) == GEMINI.write_messages(history)


# ── there and back ───────────────────────────────────────────────────────────────────────────────────────────────────

CODE = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"}
STORED = {"fileData": {"fileUri": "gs://bucket/a.mp4", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 1.0}}
HISTORIES: dict[str, tuple[Message, ...]] = {
    "plain": (Message.system("Be brief."), Message.user("Hi"), said(Text("Hello")), Message.user("a", "b")),
    "calls": (
        Message.user("?"),
        said(Reasoning("hm", SIGNED), Text("see"), call("c1", "f", {"a": {"é": [1, None]}}, SIGNED), call("c2", "g")),
        Message.results(ToolResult("c1", (Text("x"),)), ToolResult("c2", (Text("no"),), is_error=True)),
        Message.user("And?"),
    ),
    "two rounds": (
        Message.user("?"),
        said(call("c1", opaque=SIGNED)),
        Message.results(ToolResult("c1", (), {"a": 1})),
        said(call("c2", opaque=SIGNED)),
        Message.results(ToolResult("c2", (), [1], is_error=True)),
    ),
    "media": (
        Message.user("See", Image(PNG, "image/png"), Audio(WAV, "audio/wav"), ResourceLink("https://example.org/a.png", "", "image/png")),
        said(Image(PNG, "image/png", SIGNED), call("c1", opaque=SIGNED)),
        Message.results(ToolResult("c1", (Text("x"), Image(PNG, "image/png")))),
    ),
    "foreign": (
        Message("user", (Text("Watch"), Foreign("fileData", STORED)), "gemini"),
        said(Foreign("executableCode", CODE), Text("", SIGNED)),
        Message.user("?"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_what_was_written_reads_as_it_was(name: str) -> None:
    history = HISTORIES[name]
    converted = GEMINI.write_messages(history)
    assert (converted.notes, problems("gemini", converted.value)) == ((), [])
    assert read(converted.value) == history
    assert read(json.dumps(converted.value)) == history
    models = {
        **{key: types.Content.model_validate(value) for key, value in converted.value.items() if key != "contents"},
        "contents": [types.Content.model_validate(each) for each in converted.value["contents"]],
    }
    if name != "foreign":  # whose parts are kept as the SDK dumps them
        assert read(models) == history


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "contents",
    [
        "Hi",
        ["Hi"],
        {"text": "Hi"},
        [{"text": "Hi"}],
        {"parts": [{"text": "Hi"}]},
        {"role": "user", "parts": ["Hi"]},
        [{"role": "user", "parts": [{"text": "Hi"}]}],
        [types.Part(text="Hi")],
        types.Content(role="user", parts=[types.Part(text="Hi")]),
        [types.UserContent("Hi")],
    ],
)
def test_contents_may_be_anything_that_the_sdk_takes(contents: Any) -> None:
    assert read({"contents": contents}) == (Message.user("Hi"),)
    if isinstance(contents, list):
        assert read(contents) == (Message.user("Hi"),)


def test_loose_parts_are_contents_together_with_their_neighbours() -> None:
    f = {"functionCall": {"name": "f"}}
    answer = {"functionResponse": {"name": "f", "response": {"output": "x"}}}
    assert read(["a", {"text": "b"}, f, f, answer, answer, "c", {"role": "model", "parts": ["d"]}]) == (
        Message.user("a", "b"),
        said(call("call_0"), call("call_1")),
        Message.results(ToolResult("call_0", (Text("x"),)), ToolResult("call_1", (Text("x"),))),
        Message.user("c"),
        said(Text("d")),
    )


@pytest.mark.parametrize(
    "instruction",
    [
        "Be brief.",
        {"text": "Be brief."},
        {"parts": [{"text": "Be brief."}]},
        ["Be brief."],
        [{"parts": ["Be brief."]}],
        {"role": "user", "parts": {"text": "Be brief."}},
    ],
)
def test_an_instruction_may_stand_in_any_form_and_in_the_config(instruction: Any) -> None:
    history = (Message.system("Be brief."), Message.user("Hi"))
    assert read({"contents": "Hi", "systemInstruction": instruction}) == history
    assert read({"contents": "Hi", "system_instruction": instruction}) == history
    assert read({"model": "m", "contents": "Hi", "config": {"system_instruction": instruction}}) == history
    assert read({"systemInstruction": instruction}) == history[:1]


def test_a_config_of_the_sdk_is_read() -> None:
    config = types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.5)
    assert read({"contents": ["Hi"], "config": config}) == (Message.system("Be brief."), Message.user("Hi"))


def test_snake_case_and_what_is_not_set_are_read_alike() -> None:
    contents = [
        types.UserContent(types.Part.from_bytes(data=b64decode(PNG), mime_type="image/png")),
        types.ModelContent(
            types.Part(function_call=types.FunctionCall(name="f", args={"a": 1}), thought_signature=b"sig")
        ),
        types.UserContent(types.Part.from_function_response(name="f", response={"output": "x"})),
    ]
    history = (
        Message.user(Image(PNG, "image/png")),
        said(call("call_0", "f", {"a": 1}, SIGNED)),
        Message.results(ToolResult("call_0", (Text("x"),))),
    )
    assert read(contents) == history
    assert read([content.model_dump() for content in contents]) == history
    assert read([content.model_dump(mode="json", by_alias=True) for content in contents]) == history


def test_a_reply_is_a_history_of_one_message() -> None:
    reply = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
    assert read(reply) == (said(Text("Hi")),)
    assert read(types.GenerateContentResponse.model_validate(reply)) == (said(Text("Hi")),)
    assert read({"candidates": []}) == ()


def responses(*of: tuple[str | None, str]) -> dict[str, Any]:
    return {
        "role": "user",
        "parts": [{"functionResponse": {"id": id, "name": name, "response": {"output": name}}} for id, name in of],
    }


def model(*of: tuple[str | None, str]) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"id": id, "name": name, "args": {}}} for id, name in of]}


def ids(*contents: dict[str, Any]) -> list[list[str]]:
    return [
        [
            part.id if isinstance(part, ToolCall) else part.call_id
            for part in message.parts
            if isinstance(part, ToolCall | ToolResult)
        ]
        for message in read(list(contents))
    ]


@pytest.mark.parametrize(
    ("contents", "paired"),
    [
        ([model((None, "f"), (None, "g")), responses((None, "g"), (None, "f"))], [["call_0", "call_1"], ["call_1", "call_0"]]),
        ([model((None, "f"), (None, "f")), responses((None, "f"), (None, "f"))], [["call_0", "call_1"], ["call_0", "call_1"]]),
        ([model(("a", "f"), ("b", "f")), responses(("b", "f"), ("a", "f"))], [["a", "b"], ["b", "a"]]),
        ([model(("a", "f"), ("b", "f")), responses(("a", "f"), (None, "f"))], [["a", "b"], ["a", "b"]]),
        ([model(("a", "f"), ("b", "f")), responses((None, "f"), (None, "f"))], [["a", "b"], ["a", "b"]]),
        ([model((None, "f")), responses((None, "f")), model((None, "f")), responses((None, "f"))], [["call_0"], ["call_0"], ["call_1"], ["call_1"]]),
        ([model((None, "f"), ("call_0", "f")), responses((None, "f"), ("call_0", "f"))], [["call_1", "call_0"], ["call_1", "call_0"]]),
        ([model((None, "f")), responses((None, "other"))], [["call_0"], ["call_1"]]),
        ([responses((None, "f")), model((None, "f"))], [["call_0"], ["call_1"]]),
        ([model(("a", "f")), responses(("z", "f"))], [["a"], ["z"]]),
    ],
)  # fmt: skip
def test_responses_find_their_calls_by_id_and_else_by_name_and_order(contents: Any, paired: Any) -> None:
    assert ids(*contents) == paired


def test_a_thousand_calls_without_ids_are_paired_in_no_time() -> None:
    contents = [
        each for _ in range(1000) for each in (model((None, "f"), (None, "g")), responses((None, "g"), (None, "f")))
    ]
    found = ids(*contents)
    assert found[-2:] == [["call_1998", "call_1999"], ["call_1999", "call_1998"]]
    assert all(sorted(asked) == sorted(got) for asked, got in zip(found[::2], found[1::2], strict=True))


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ({"output": "a"}, ToolResult("c1", (Text("a"),))),
        ({"output": ""}, ToolResult("c1")),
        ({"output": None}, ToolResult("c1")),
        ({"output": {"a": 1}}, ToolResult("c1", (), {"a": 1})),
        ({"output": [1]}, ToolResult("c1", (), [1])),
        ({"error": "a"}, ToolResult("c1", (Text("a"),), is_error=True)),
        ({"error": {"a": 1}}, ToolResult("c1", (), {"a": 1}, is_error=True)),
        ({"output": "a", "error": None}, ToolResult("c1", (Text("a"),))),
        ({"result": "a"}, ToolResult("c1", (), {"result": "a"})),
        ({"output": "a", "more": 1}, ToolResult("c1", (), {"output": "a", "more": 1})),
        ({"output": "a", "error": "b"}, ToolResult("c1", (), {"output": "a", "error": "b"}, is_error=True)),
        ({}, ToolResult("c1", (), {})),
        (None, ToolResult("c1")),
        ("text", ToolResult("c1", (Text("text"),))),
    ],
)
def test_a_response_is_its_output_or_its_error_or_all_of_it(response: Any, result: ToolResult) -> None:
    part = {"functionResponse": {"id": "c1", "name": "f", "response": response}}
    assert read([{"role": "user", "parts": [part]}]) == (Message.results(result),)


def test_files_of_google_are_its_own_and_others_are_links() -> None:
    def file(uri: str, **more: Any) -> dict[str, Any]:
        return {"fileData": {"fileUri": uri, **more}}

    own = [
        file("gs://b/a.png", mimeType="image/png"),
        file("https://generativelanguage.googleapis.com/v1beta/files/abc", mimeType="application/pdf"),
        file("https://www.youtube.com/watch?v=1"),
        file("https://youtu.be/1"),
    ]
    others = [
        file("https://example.org/a.png", mimeType="image/png", displayName="a"),
        file("https://notyoutube.com/x"),
        file("https://youtube.company/x"),
        file("https://example.org/?u=youtube.com/x"),
    ]
    assert read([{"role": "user", "parts": [*own, *others]}]) == (
        Message(
            "user",
            (
                *(Foreign("fileData", each) for each in own),
                ResourceLink("https://example.org/a.png", "a", "image/png"),
                ResourceLink("https://notyoutube.com/x"),
                ResourceLink("https://youtube.company/x"),
                ResourceLink("https://example.org/?u=youtube.com/x"),
            ),
            "gemini",
        ),
    )


def test_media_of_the_user_are_what_their_type_says() -> None:
    data = [("image/webp", Image), ("audio/ogg", Audio), ("application/pdf", Resource), ("video/mp4", Resource)]
    parts = [{"inlineData": {"mimeType": mime_type, "data": "aGk=", "displayName": "n"}} for mime_type, _ in data]
    assert read([{"parts": parts}]) == (
        Message.user(
            Image("aGk=", "image/webp"),
            Audio("aGk=", "audio/ogg"),
            Resource("n", "application/pdf", blob="aGk="),
            Resource("n", "video/mp4", blob="aGk="),
        ),
    )


def test_results_and_calls_stand_in_messages_of_their_own() -> None:
    answer = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "x"}}}
    contents = [
        {"role": "user", "parts": [{"text": "a"}, {"functionCall": {"id": "c1", "name": "f"}}]},
        {"role": "function", "parts": [answer, {"text": "b"}]},
    ]
    assert read(contents) == (
        Message.user("a"),
        said(call("c1")),
        Message.results(ToolResult("c1", (Text("x"),))),
        Message.user("b"),
    )


def test_the_word_for_no_signature_is_no_signature() -> None:
    for word in (NO_SIGNATURE, "skip_thought_signature_validator", ""):
        part = {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": word}
        assert read([{"role": "model", "parts": [part]}]) == (said(call("c1")),)


def test_what_is_not_understood_is_noted_with_its_place() -> None:
    converted = GEMINI.read_messages(
        {
            "contents": [
                7,
                {"role": "narrator", "parts": [{"text": "a"}]},
                {"role": "user", "parts": [3, {"text": 4}, {"inlineData": {"mimeType": "image/png"}}, {"functionCall": 5}]},
                {"role": "user", "parts": [{"fileData": {"fileUri": "https://example.org/a.mp4"}, "videoMetadata": {"fps": 1}}]},
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "id": "c1", "name": "f", "response": {"output": "x"}, "scheduling": "SILENT", "parts": [{"x": 1}],
                            }
                        }
                    ],
                },
                {"role": "model", "parts": [{"functionCall": {"id": "c2", "name": "f", "partialArgs": [{"jsonPath": "$.a"}]}}]},
            ]
        }
    )  # fmt: skip
    assert converted.notes == (
        Note("message.unknown", "narrowed", "/contents/0", 7),
        Note("role.unknown", "narrowed", "/contents/1/role", "narrator"),
        Note("part.unknown", "narrowed", "/contents/2/parts/0", 3),
        Note("part.unknown", "narrowed", "/contents/2/parts/1", {"text": 4}),
        Note("part.unknown", "narrowed", "/contents/2/parts/2", {"inlineData": {"mimeType": "image/png"}}),
        Note("part.unknown", "narrowed", "/contents/2/parts/3", 5),
        Note("opaque.dropped", "narrowed", "/contents/3/parts/0", ["videoMetadata"]),
        Note("opaque.dropped", "narrowed", "/contents/4/parts/0/functionResponse", ["scheduling"]),
        Note("part.unknown", "narrowed", "/contents/4/parts/0/functionResponse/parts/0", {"x": 1}),
        Note("arguments.unread", "narrowed", "/contents/5/parts/0", [{"jsonPath": "$.a"}]),
    )
    assert converted.value == (
        Message.user("a"),
        Message.user(ResourceLink("https://example.org/a.mp4")),
        Message.results(ToolResult("c1", (Text("x"),))),
        said(call("c2")),
    )


@pytest.mark.parametrize(
    ("source", "told"),
    [(7, "int"), ({"foo": 1, "bar": 2}, "['bar', 'foo']"), (None, "NoneType"), ("Hi", "str"), ({}, "[]")],
)
def test_what_is_no_history_is_refused(source: Any, told: str) -> None:
    with pytest.raises(HistoryError) as raised:
        TALK.read(source, "gemini")
    assert str(raised.value) == f"expected a list of contents, or a request with `contents`, not {told}"


# ── hostile contents ─────────────────────────────────────────────────────────────────────────────────────────────────

FULL = {
    "systemInstruction": {"parts": [{"text": "s"}]},
    "contents": [
        {"role": "user", "parts": [{"text": "a", "partMetadata": {"x": 1}}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": {"a": 1}}, "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]}}]},
        {"fileData": {"fileUri": "https://example.org/a", "mimeType": "image/png"}},
    ],
    "config": {"systemInstruction": "x"},
}  # fmt: skip


def test_no_contents_raise_whatever_is_wrong_with_them() -> None:
    count = 0
    for value in spoilt(FULL):
        try:
            messages = TALK.read(value, "gemini").value
        except HistoryError:
            continue
        count += 1
        assert all(isinstance(message, Message) for message in messages)
        written = GEMINI.write_messages(messages).value
        json.dumps(written)
    assert count > 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["role", "parts", "text", "functionCall", "functionResponse", "args", "inlineData", "data"]) | st.text(max_size=3), inner, max_size=4),
)  # fmt: skip


@given(JSON)
def test_no_value_raises(value: Any) -> None:
    TALK.read({"contents": value}, "gemini") if value is not None else None
    TALK.read([value], "gemini")
    TALK.read({"contents": [], "systemInstruction": value}, "gemini")
