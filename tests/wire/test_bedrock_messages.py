"""Bedrock's transcripts: histories as messages that botocore's service model accepts, and messages as histories."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from typing import Any

import pytest
from botocore.session import get_session
from hypothesis import given
from hypothesis import strategies as st

from tests.support.transcripts import problems
from tests.wire.spoiling import spoilt
from toolbridge.errors import HistoryError
from toolbridge.history.rules import Rules
from toolbridge.history.turns import Answer, Turn
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
from toolbridge.wire.bedrock import MODELS, RULES, TALK
from toolbridge.wire.bedrock.blocks import DOCUMENTS, IMAGES, VIDEOS

BEDROCK = get_provider("bedrock")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKJeLjz9MK"
WAV = "UklGRiQAAABXQVZFZm10IA=="
SIGNED = {"signature": "c2ln"}
CLAUDE, NOVA, MISTRAL, LLAMA, WRITER, QWEN = (
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "us.amazon.nova-2-lite-v1:0",
    "mistral.mistral-large-3-675b-instruct",
    "us.meta.llama4-maverick-17b-instruct-v1:0",
    "us.writer.palmyra-x5-v1:0",
    "qwen.qwen3-32b-v1:0",
)
PNG_BLOCK = {"image": {"format": "png", "source": {"bytes": b64decode(PNG)}}}


def pdf(name: str) -> dict[str, Any]:
    return {"document": {"format": "pdf", "name": name, "source": {"bytes": b64decode(PDF)}}}


def call(id: str, name: str = "f", arguments: dict[str, Any] | None = None) -> ToolCall:
    given = {} if arguments is None else arguments
    return ToolCall(id, name, json.dumps(given, ensure_ascii=False, separators=(",", ":")), given)


def said(*parts: Part) -> Message:
    return Message("assistant", parts, "bedrock")


def written(*messages: Message, model: str = "") -> dict[str, Any]:
    fields = BEDROCK.write_messages(messages, model=model).value
    assert problems("bedrock", fields) == []
    return fields


def answered(*results: ToolResult, model: str = "") -> list[dict[str, Any]]:
    """The blocks of the message behind the calls that these results are of."""
    calls = [call(result.call_id) for result in results]
    messages = written(Message.user("?"), said(*calls), Message.results(*results), model=model)["messages"]
    assert len(messages) == 3
    return messages[2]["content"]


def read(source: Any) -> tuple[Message, ...]:
    found = BEDROCK.read_messages(source)
    assert found.notes == ()
    return found.value


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_is_messages_of_blocks() -> None:
    assert written(
        Message.system("Be brief."),
        Message.user("Weather – où?", Image(PNG, "image/png"), Resource("report.pdf", "application/pdf", blob=PDF)),
        said(Reasoning("Hm.", SIGNED), Text("Let me see."), call("t1", "get_weather", {"city": "Zürich"}), call("t2")),
        Message.results(ToolResult("t2", (Text("noon"),)), ToolResult("t1", (Text("no"),), is_error=True)),
        Message.user("And?"),
    ) == {
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Weather – où?"}, PNG_BLOCK, pdf("report")]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
                    {"text": "Let me see."},
                    {"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {"city": "Zürich"}}},
                    {"toolUse": {"toolUseId": "t2", "name": "f", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "t1", "content": [{"text": "no"}], "status": "error"}},
                    {"toolResult": {"toolUseId": "t2", "content": [{"text": "noon"}]}},
                    {"text": "And?"},
                ],
            },
        ],
    }


def test_without_a_system_text_there_is_no_field_for_it() -> None:
    assert written(Message.user("Hi")) == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (ToolResult("t1", (Text("a"), Text("b"))), [{"text": "a"}, {"text": "b"}]),
        (ToolResult("t1", (), {"t": 7}), [{"json": {"t": 7}}]),
        (ToolResult("t1", (Text('{"t": 7}'), Image(PNG, "image/png")), {"t": 7}), [{"json": {"t": 7}}, PNG_BLOCK]),
        (ToolResult("t1", (Text("[1, 2]"),), [1, 2]), [{"text": "[1, 2]"}]),
        (ToolResult("t1", (), 7), [{"text": "7"}]),
        (ToolResult("t1"), [{"text": "(The tool returned nothing.)"}]),
        (
            ToolResult("t1", (Resource("file:///data/a.pdf", "application/pdf", blob=PDF),)),
            [{"text": "[resource: file:///data/a.pdf, application/pdf]"}, pdf("a")],
        ),
    ],
)
def test_a_result_is_json_where_it_is_an_object_and_else_text_and_media(result: ToolResult, content: Any) -> None:
    assert answered(result) == [{"toolResult": {"toolUseId": "t1", "content": content}}]


def test_a_result_never_has_no_content() -> None:
    turn = Turn("assistant", (call("t1"),), (Answer(call("t1"), (Audio(WAV, "audio/wav"), Text(" "))),))
    (_, message) = TALK.write([turn], RULES)["messages"]
    assert message["content"][0]["toolResult"]["content"] == [{"text": "(The tool returned nothing.)"}]


FAILED = ToolResult("aB3dE6gH9", (Text("no"), Image(PNG, "image/png")), is_error=True)
FOLLOWS = "[image: image/png, 70 bytes, in the message that follows]"


@pytest.mark.parametrize("model", ["", CLAUDE, NOVA])
def test_claude_and_nova_have_images_and_a_status_in_results(model: str) -> None:
    assert answered(FAILED, model=model) == [
        {"toolResult": {"toolUseId": "aB3dE6gH9", "content": [{"text": "no"}, PNG_BLOCK], "status": "error"}}
    ]


@pytest.mark.parametrize("model", [WRITER, QWEN])
def test_other_models_have_neither_and_say_the_failure(model: str) -> None:
    assert answered(FAILED, model=model) == [
        {"toolResult": {"toolUseId": "aB3dE6gH9", "content": [{"text": "Error: no"}, {"text": FOLLOWS}]}},
        {"text": "[From the result of f (call id aB3dE6gH9):]"},
        PNG_BLOCK,
    ]


@pytest.mark.parametrize("model", [MISTRAL, LLAMA])
def test_llama_and_mistral_have_results_alone(model: str) -> None:
    history = (Message.user("?"), said(call("aB3dE6gH9")), Message.results(FAILED), Message.user("And?"))
    assert written(*history, model=model)["messages"][2:] == [
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "aB3dE6gH9", "content": [{"text": "Error: no"}, {"text": FOLLOWS}]}}
            ],
        },
        {"role": "assistant", "content": [{"text": "Understood."}]},
        {
            "role": "user",
            "content": [{"text": "[From the result of f (call id aB3dE6gH9):]"}, PNG_BLOCK, {"text": "And?"}],
        },
    ]


def test_claude_has_no_documents_beside_results() -> None:
    history = (
        Message.user("?"),
        said(call("t1")),
        Message.results(ToolResult("t1", (Text("x"),))),
        Message.user("See", Resource("a.pdf", "application/pdf", blob=PDF)),
    )
    assert [message["role"] for message in written(*history, model=CLAUDE)["messages"]] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert [message["role"] for message in written(*history, model=NOVA)["messages"]] == ["user", "assistant", "user"]
    assert [message["role"] for message in written(*history, model=WRITER)["messages"]] == ["user", "assistant", "user"]


def test_a_cache_point_is_nothing_beside_results() -> None:
    history = (
        Message.user("?"),
        said(call("aB3dE6gH9")),
        Message.results(ToolResult("aB3dE6gH9", (Text("x"),))),
        Message("user", (Foreign("cachePoint", {"type": "default"}),), "bedrock"),
    )
    assert written(*history, model=LLAMA)["messages"][2:] == [
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "aB3dE6gH9", "content": [{"text": "x"}]}},
                {"cachePoint": {"type": "default"}},
            ],
        }
    ]


def test_the_user_has_the_first_and_the_last_word_and_all_take_turns() -> None:
    converted = BEDROCK.write_messages([said(Text("a")), said(Text("b"))])
    assert [message["role"] for message in converted.value["messages"]] == ["user", "assistant", "user"]
    assert converted.value["messages"][1]["content"] == [{"text": "a"}, {"text": "b"}]
    assert [note.code for note in converted.notes] == ["messages.merged", "message.inserted", "message.inserted"]


def test_mistral_has_ids_of_nine_letters_and_digits() -> None:
    fields = written(
        Message.user("?"),
        said(call("call_1"), call("c2")),
        Message.results(ToolResult("call_1", (Text("a"),)), ToolResult("c2", (Text("b"),))),
        model=MISTRAL,
    )
    asked = [block["toolUse"]["toolUseId"] for block in fields["messages"][1]["content"]]
    got = [block["toolResult"]["toolUseId"] for block in fields["messages"][2]["content"]]
    assert asked == got
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", id) for id in asked)


ARN = "arn:aws:bedrock:us-east-1:123456789012:"


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("", RULES),
        (CLAUDE, RULES),
        (f"{ARN}inference-profile/{CLAUDE}", RULES),
        (f"{ARN}application-inference-profile/a1b2c3", RULES),
        (f"{ARN}provisioned-model/a1b2.c3", RULES),
        ("my-alias", RULES),
        (NOVA, MODELS[0][1]),
        (MISTRAL, MODELS[1][1]),
        ("mistral.pixtral-large-2502-v1:0", MODELS[1][1]),
        (LLAMA, MODELS[2][1]),
        (f"arn:aws:bedrock:us-east-1::foundation-model/{LLAMA}", MODELS[2][1]),
        (WRITER, MODELS[3][1]),
        (QWEN, MODELS[3][1]),
        ("cohere.command-r-plus-v1:0", MODELS[3][1]),
        ("supernova.x-1", MODELS[3][1]),
    ],
)
def test_models_are_known_by_their_names(model: str, row: Rules) -> None:
    assert TALK.rules_for(model) is row


# ── documents ────────────────────────────────────────────────────────────────────────────────────────────────────────


def names(*uris: str) -> list[str]:
    (message,) = written(Message.user("See", *(Resource(uri, "application/pdf", blob=PDF) for uri in uris)))["messages"]
    return [block["document"]["name"] for block in message["content"] if "document" in block]


def test_documents_have_legal_names() -> None:
    assert names(
        "report.pdf", "file:///data/Q3 – résumé (final).v2.pdf?x=1#y", "", "über.pdf", "...", "a_b[1].pdf", "x" * 300 + ".pdf", "folder/",
    ) == ["report", "Q3 r sum (final) v2", "document", "ber", "document 2", "a b[1]", "x" * 180, "folder"]  # fmt: skip


def test_no_two_documents_share_a_name() -> None:
    assert names("a.pdf", "a.pdf", "a 2.pdf", "b/a.pdf") == ["a", "a 2", "a 2 2", "a 3"]
    many = names(*["x" * 300 + ".pdf"] * 50)
    assert (len(set(many)), max(map(len, many))) == (50, 183)


def test_names_count_over_the_whole_request_and_do_not_change_as_it_grows() -> None:
    file = Resource("a.pdf", "application/pdf", blob=PDF)
    history = [
        Message.user("1", file),
        said(call("t1")),
        Message.results(ToolResult("t1", (file,))),
        said(Text("2")),
        Message.user("3", file),
    ]
    messages = written(*history, model=CLAUDE)["messages"]
    assert messages[0]["content"][1] == pdf("a")
    assert messages[2]["content"][0]["toolResult"]["content"] == [pdf("a 2")]
    assert messages[4]["content"][1] == pdf("a 3")
    assert written(*history[:3], model=CLAUDE)["messages"] == messages[:3]


def test_a_document_that_is_kept_whole_shares_no_name_either() -> None:
    cited = Foreign(
        "document", {"name": "a", "format": "pdf", "source": {"bytes": PDF}, "citations": {"enabled": True}}
    )
    file = Resource("a.pdf", "application/pdf", blob=PDF)
    (message,) = written(Message("user", (Text("See"), cited, file, cited), "bedrock"))["messages"]
    citing = {"citations": {"enabled": True}}
    assert message["content"][1:] == [
        {"document": {**pdf("a")["document"], **citing}},
        pdf("a 2"),
        {"document": {**pdf("a 3")["document"], **citing}},
    ]
    assert read({"messages": [{"role": "user", "content": message["content"][:2]}]}) == (
        Message("user", (Text("See"), cited), "bedrock"),
    )


def test_a_document_is_not_sent_without_a_text() -> None:
    (message,) = written(Message.user(Resource("a.pdf", "application/pdf", blob=PDF)))["messages"]
    assert message["content"] == [{"text": "[a]"}, pdf("a")]


@pytest.mark.parametrize(("mime_type", "format"), DOCUMENTS.items())
def test_documents_go_by_their_format(mime_type: str, format: str) -> None:
    data = b64encode(b"some, data").decode()
    (message,) = written(Message.user("See", Resource("a.x", mime_type, blob=data)))["messages"]
    assert message["content"][1] == {"document": {"format": format, "name": "a", "source": {"bytes": b"some, data"}}}
    assert read({"messages": [message]}) == (Message.user("See", Resource(f"a.{format}", mime_type, blob=data)),)


def test_text_of_a_file_is_a_document_too() -> None:
    (message,) = written(Message.user("See", Resource("notes.md", "text/markdown", text="é")))["messages"]
    assert message["content"][1] == {"document": {"format": "md", "name": "notes", "source": {"bytes": "é".encode()}}}


def test_nova_watches_videos() -> None:
    film = Message.user("See", Resource("film.mp4", "video/mp4", blob="aGk="))
    (message,) = written(film, model=NOVA)["messages"]
    assert message["content"] == [
        {"text": "See"},
        {"text": "[resource: film.mp4, video/mp4]"},
        {"video": {"format": "mp4", "source": {"bytes": b"hi"}}},
    ]
    (message,) = written(film, model=CLAUDE)["messages"]
    assert message["content"] == [{"text": "See"}, {"text": "[resource: film.mp4, video/mp4, 2 bytes]"}]


def test_every_format_is_one_of_the_service_model() -> None:
    model: Any = get_session().get_service_model("bedrock-runtime")
    assert set(IMAGES.values()) == set(model.shape_for("ImageFormat").enum)
    assert set(DOCUMENTS.values()) == set(model.shape_for("DocumentFormat").enum)
    assert set(VIDEOS.values()) == set(model.shape_for("VideoFormat").enum) - {"mpg"}


# ── thoughts and the rest ────────────────────────────────────────────────────────────────────────────────────────────


def test_only_signed_and_hidden_thoughts_go_back_and_the_others_are_told() -> None:
    history = [
        Message.user("?"),
        said(Reasoning("cut"), Reasoning("a", SIGNED), Reasoning("", {"redactedContent": "aGk="}), Text("b"), Reasoning("last", SIGNED)),
        Message.user("!"),
    ]  # fmt: skip
    assert BEDROCK.write_messages(history).notes == (
        Note("reasoning.dropped", "narrowed", "/1/parts/0", "cut"),
        Note("reasoning.dropped", "narrowed", "/1/parts/4", "last"),
    )
    assert written(*history)["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "a", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": b"hi"}},
        {"text": "b"},
    ]


def test_a_character_that_came_in_halves_is_whole_again() -> None:
    parts = (Reasoning("\ud83d\ude00", SIGNED), Text("a\ud83d", {"citations": [{"title": "t"}]}))
    fields = BEDROCK.write_messages([Message.user("?"), said(*parts), Message.user("!")]).value
    assert fields["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "😀", "signature": "c2ln"}}},
        {"citationsContent": {"content": [{"text": "a\ufffd"}], "citations": [{"title": "t"}]}},
    ]


def test_a_message_of_nothing_that_can_go_back_is_gone() -> None:
    fields = written(Message.user("a"), said(Reasoning("cut")), Message.user("b"))
    assert fields == {"messages": [{"role": "user", "content": [{"text": "a"}, {"text": "b"}]}]}


@pytest.mark.parametrize("model", [NOVA, MISTRAL, QWEN])
def test_models_that_do_not_sign_get_no_thoughts_back(model: str) -> None:
    converted = BEDROCK.write_messages(
        [Message.user("?"), said(Reasoning("a", SIGNED), Text("b")), Message.user("!")], model=model
    )
    assert converted.value["messages"][1]["content"] == [{"text": "b"}]
    assert converted.notes == (Note("reasoning.dropped", "narrowed", "/1/parts/0", "a"),)


def test_a_broken_call_stands_as_an_object() -> None:
    broken = ToolCall("t1", "f", '{"a": ', None, "the arguments end too early")
    history = (Message.user("?"), said(broken), Message.results(ToolResult("t1", (Text("no JSON"),), is_error=True)))
    fields = written(*history)
    assert fields["messages"][1]["content"][0]["toolUse"]["input"] == {"INVALID_JSON": '{"a": '}
    again = read(fields)[1].calls[0]
    assert (again.id, again.name, again.text, again.arguments) == ("t1", "f", '{"a": ', None)


def test_a_link_is_said() -> None:
    turn = Turn("user", (ResourceLink("https://example.org/a.png", "a", "image/png"),))
    assert TALK.write([turn], RULES)["messages"] == [
        {"role": "user", "content": [{"text": "[link: a, https://example.org/a.png, image/png]"}]}
    ]


def test_names_and_ids_are_those_of_the_service_model() -> None:
    assert RULES.names == BEDROCK.names
    model: Any = get_session().get_service_model("bedrock-runtime")
    id, name = model.shape_for("ToolUseId").metadata, model.shape_for("ToolName").metadata
    assert (RULES.ids.pattern.pattern, RULES.ids.length) == (id["pattern"], id["max"])
    assert (RULES.names.pattern.pattern, RULES.names.length) == (name["pattern"], name["max"])


# ── there and back ───────────────────────────────────────────────────────────────────────────────────────────────────

CACHE = Foreign("cachePoint", {"type": "default"})
FILM = Foreign("video", {"format": "mp4", "source": {"bytes": "aGk="}})
BUCKET = Foreign("image", {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/a.png"}}})
HISTORIES: dict[str, tuple[Message, ...]] = {
    "plain": (Message.system("Be brief."), Message.user("Hi", "there"), said(Text("Hello")), Message.user("a")),
    "calls": (
        Message.user("?"),
        said(Reasoning("hm", SIGNED), Reasoning("", {"redactedContent": "aGk="}), call("t1", "f", {"a": {"é": [1, None]}}), call("t2")),
        Message.results(ToolResult("t1", (Text("x"), Image(PNG, "image/png"))), ToolResult("t2", (Text("no"),), is_error=True)),
        Message.user("And?"),
    ),
    "structured": (
        Message.user("?"),
        said(call("t1")),
        Message.results(ToolResult("t1", (), {"a": 1})),
        said(call("t2")),
        Message.results(ToolResult("t2", (), {"a": 1}, is_error=True)),
    ),
    "media": (
        Message.user("See", Image(PNG, "image/png"), Resource("report.pdf", "application/pdf", blob=PDF)),
        said(Text("b", {"citations": [{"title": "report"}]}), call("t1")),
        Message.results(ToolResult("t1", (Resource("a.csv", "text/csv", blob="YSxi"),))),
    ),
    "foreign": (
        Message("user", (Text("Watch"), FILM, BUCKET, CACHE), "bedrock"),
        said(
            Foreign("toolUse", {"toolUseId": "s1", "name": "n", "input": {}, "type": "server_tool_use"}),
            Foreign("toolResult", {"toolUseId": "s1", "content": [{"json": {"a": 1}}], "type": "n_result"}),
            Text("ok"),
        ),
        Message.user("?"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_what_was_written_reads_as_it_was(name: str) -> None:
    history = HISTORIES[name]
    converted = BEDROCK.write_messages(history)
    assert converted.notes == ()
    assert read(converted.value) == history
    assert read(converted.value["messages"]) == tuple(message for message in history if message.role != "system")
    as_json = json.loads(json.dumps(converted.value, default=lambda blob: b64encode(blob).decode()))
    assert read(as_json) == history
    if name not in ("foreign", "media"):  # the judge takes no kinds of blocks that only some models take
        assert problems("bedrock", converted.value) == []


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_results_stand_in_messages_of_their_own() -> None:
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}]}}
    assert read([{"role": "user", "content": [result, {"text": "a"}, result]}]) == (
        Message.results(ToolResult("t1", (Text("x"),))),
        Message.user("a"),
        Message.results(ToolResult("t1", (Text("x"),))),
    )


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ([{"json": {"a": 1}}, {"text": "b"}], ToolResult("t1", (Text("b"),), {"a": 1})),
        ([{"json": {"a": 1}}, {"json": {"ä": 2}}], ToolResult("t1", (Text('{"ä": 2}'),), {"a": 1})),
        ([{"document": {"name": "a", "format": "txt", "source": {"text": "é"}}}], ToolResult("t1", (Resource("a.txt", "text/plain", "é"),))),
        (
            [{"document": {"name": "a", "source": {"content": [{"text": "1"}, {"text": "2"}]}}}],
            ToolResult("t1", (Resource("a", "text/plain", "1\n2"),)),
        ),
        ([{"text": ""}], ToolResult("t1")),
        ([], ToolResult("t1")),
        (None, ToolResult("t1")),
    ],
)  # fmt: skip
def test_what_a_result_holds_is_read(content: Any, result: ToolResult) -> None:
    block = {"toolResult": {"toolUseId": "t1", "content": content}}
    assert read([{"role": "user", "content": [block]}]) == (Message.results(result),)


def test_sound_is_read() -> None:
    block = {"audio": {"format": "wav", "source": {"bytes": b64decode(WAV)}}}
    assert read([{"role": "user", "content": [block]}]) == (Message.user(Audio(WAV, "audio/wav")),)


def test_content_may_be_a_string_and_the_system_stand_among_the_messages() -> None:
    source = {
        "system": "a",
        "messages": [{"role": "system", "content": [{"text": "b"}]}, {"role": "user", "content": "c"}],
    }
    assert read(source) == (Message.system("a"), Message.system("b"), Message.user("c"))
    assert read({"system": [{"text": "a"}]}) == (Message.system("a"),)
    assert read([{"role": "user", "content": [{"text": ""}, {"text": "a"}]}, {"role": "assistant", "content": ""}]) == (
        Message.user("a"),
    )


def test_a_reply_is_a_history_of_one_message() -> None:
    reply = {"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}, "stopReason": "end_turn"}
    assert read(reply) == (said(Text("Hi")),)


def test_what_is_not_understood_is_noted_with_its_place() -> None:
    converted = BEDROCK.read_messages(
        {
            "system": 7,
            "messages": [
                8,
                {"role": "narrator", "content": [{"text": "a"}]},
                {"role": "user", "content": [9, {"text": 10}, {"reasoningContent": {"reasoningText": {"text": "x"}}}, {}, {"x": b"hi"}]},
                {"role": "user", "content": 11},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"video": {"format": "mp4"}}, {"text": "b"}]}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "t2", "content": "c"}}]},
            ],
        }
    )  # fmt: skip
    assert converted.notes == (
        Note("message.unknown", "narrowed", "/system", 7),
        Note("message.unknown", "narrowed", "/messages/0", 8),
        Note("role.unknown", "narrowed", "/messages/1/role", "narrator"),
        Note("part.unknown", "narrowed", "/messages/2/content/0", 9),
        Note("part.unknown", "narrowed", "/messages/2/content/1", {"text": 10}),
        Note(
            "part.unknown", "narrowed", "/messages/2/content/2", {"reasoningContent": {"reasoningText": {"text": "x"}}}
        ),
        Note("part.unknown", "narrowed", "/messages/2/content/3", {}),
        Note("part.unknown", "narrowed", "/messages/2/content/4", {"x": "aGk="}),
        Note("message.unknown", "narrowed", "/messages/3/content", 11),
        Note("part.unknown", "narrowed", "/messages/4/content/0/toolResult/content/0", {"video": {"format": "mp4"}}),
        Note("part.unknown", "narrowed", "/messages/5/content/0/toolResult/content", "c"),
    )
    assert converted.value == (
        Message.user("a"),
        Message.results(ToolResult("t1", (Text("b"),))),
        Message.results(ToolResult("t2")),
    )


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (7, "int"),
        ({"foo": 1}, "['foo']"),
        ({"messages": 1}, "['messages']"),
        (None, "NoneType"),
        ("Hi", "str"),
        ({}, "[]"),
    ],
)
def test_what_is_no_history_is_refused(source: Any, told: str) -> None:
    with pytest.raises(HistoryError) as raised:
        TALK.read(source, "bedrock")
    assert str(raised.value) == f"expected a list of messages, or a request with `messages`, not {told}"


# ── hostile messages ─────────────────────────────────────────────────────────────────────────────────────────────────

FULL = {
    "system": [{"text": "s"}, {"cachePoint": {"type": "default"}}],
    "messages": [
        {"role": "user", "content": [{"text": "a"}, PNG_BLOCK, {"document": {"name": "a", "format": "pdf", "source": {"bytes": b"hi"}, "citations": {"enabled": True}}}]},
        {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "x", "signature": "s"}}}, {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"json": {"a": 1}}, PNG_BLOCK, {"text": "b"}], "status": "error"}}]},
        {"role": "assistant", "content": [{"citationsContent": {"content": [{"text": "a"}], "citations": [{"title": "t"}]}}]},
        {"role": "user", "content": [{"document": {"name": "a", "source": {"content": [{"text": "1"}]}}}, {"audio": {"format": "mp3", "source": {"bytes": b"hi"}}}]},
    ],
}  # fmt: skip


def test_no_messages_raise_whatever_is_wrong_with_them() -> None:
    count = 0
    for value in spoilt(FULL):
        try:
            messages = TALK.read(value, "bedrock").value
        except HistoryError:
            continue
        count += 1
        assert all(isinstance(message, Message) for message in messages)
        BEDROCK.write_messages(messages)
    assert count > 800


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.binary(max_size=3) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["role", "content", "text", "toolUse", "toolResult", "input", "image", "source", "bytes"]) | st.text(max_size=3), inner, max_size=4),
)  # fmt: skip


@given(JSON)
def test_no_value_raises(value: Any) -> None:
    TALK.read([value], "bedrock")
    TALK.read([{"role": "user", "content": value}], "bedrock")
    TALK.read({"messages": [], "system": value}, "bedrock")
