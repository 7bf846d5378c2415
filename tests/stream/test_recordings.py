"""Every recorded stream folds to what its expectation says, and to what the whole reply of the same scenario says."""

from __future__ import annotations

import json

import pytest

from tests.stream.folding import folded, of, told, wanted
from tests.support.wire.recording import Recording, read_recordings
from tests.support.wire.recordings import ALL
from toolbridge import get_provider
from toolbridge.providers import providers
from toolbridge.reply import ReplyReader, read_stream

RECORDINGS = read_recordings()
every_recording = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: each.name)


@every_recording
def test_a_recording_folds_to_what_is_expected(recording: Recording) -> None:
    reply = of(recording)
    assert told(reply, recording.expected) == wanted(recording.expected)
    assert reply.message.role == "assistant"
    assert reply.message.origin == (get_provider(recording.provider).origin or recording.provider)


@every_recording
def test_every_call_has_an_id_of_its_own_and_says_what_is_wrong_where_it_cannot_be_run(recording: Recording) -> None:
    calls = of(recording).calls
    assert len({call.id for call in calls}) == len(calls)
    assert all(call.id for call in calls)
    assert [call.problem is None for call in calls] == [call.arguments is not None for call in calls]


@pytest.mark.parametrize(
    "recording", [each for each in RECORDINGS if each.whole is not None], ids=lambda each: each.name
)
def test_the_whole_reply_says_the_same_as_the_stream(recording: Recording) -> None:
    whole = get_provider(recording.provider).read_reply(recording.whole)
    assert told(whole, recording.expected) == wanted(recording.expected)
    streamed = of(recording)
    assert [(call.id, call.name, call.arguments) for call in whole.calls] == [
        (call.id, call.name, call.arguments) for call in streamed.calls
    ]
    assert [type(part) for part in whole.message.parts] == [type(part) for part in streamed.message.parts]
    assert whole.message.model == streamed.message.model
    assert bool(whole.message.model) == (recording.provider != "bedrock")  # which does not say it


@pytest.mark.parametrize(
    "recording", [each for each in RECORDINGS if each.whole is not None], ids=lambda each: each.name
)
def test_a_server_that_answers_whole_where_a_stream_was_asked_for_is_understood(recording: Recording) -> None:
    reply = folded(recording.provider, [json.dumps(recording.whole).encode()])
    assert told(reply, recording.expected) == wanted(recording.expected)


@pytest.mark.parametrize(
    "recording", [each for each in RECORDINGS if "offered" in each.expected], ids=lambda each: each.name
)
def test_calls_in_text_count_where_the_tools_are_named(recording: Recording) -> None:
    offered = recording.expected["offered"]
    reader = ReplyReader(recording.provider, text_calls=offered["names"])
    reader.feed(recording.body)
    assert told(reader.reply(), offered) == wanted(offered)


@every_recording
def test_reading_a_stream_at_once_is_the_same(recording: Recording) -> None:
    assert read_stream(recording.provider, recording.body) == of(recording)
    assert read_stream(recording.provider, [recording.body]) == of(recording)


@pytest.mark.parametrize("name", [name for name in providers() if name not in {each.provider for each in RECORDINGS}])
def test_a_provider_without_recordings_of_its_own_reads_those_of_its_format(name: str) -> None:
    provider = get_provider(name)
    format = next(
        each for each in ("openai-chat", "gemini") if provider.talk().read_event is get_provider(each).talk().read_event
    )
    for recording in RECORDINGS:
        if recording.provider == format and recording.whole is not None:
            assert told(folded(name, [recording.body]), recording.expected) == wanted(recording.expected)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral"])
def test_every_format_has_recordings_of_the_plain_cases(name: str) -> None:
    cases = {recording.case for recording in RECORDINGS if recording.provider == name}
    assert {"text", "two_calls", "no_arguments", "reasoning_and_call"} <= cases


def test_the_files_are_those_that_the_program_writes() -> None:
    """`python -m tests.streams.record` makes them again."""
    files = {path: content for recording in ALL for path, content in recording.files().items()}
    assert [path.name for path in files if not path.is_file() or path.read_bytes() != files[path]] == []
    assert len(RECORDINGS) == len(ALL)
