"""What was read can be written: any history, and any recorded reply with its results, to any provider, legally."""

from __future__ import annotations

import pytest

from tests.stream.folding import of
from tests.support.histories import HISTORIES
from tests.support.transcripts import problems
from tests.support.wire.recording import Recording, read_recordings
from toolbridge import get_provider
from toolbridge.providers import providers
from toolbridge.types import Message, Text, ToolResult

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "ollama", "json-schema")


@pytest.mark.parametrize("provider", providers())
@pytest.mark.parametrize("name", [each for each in HISTORIES if each != "nothing"])
def test_any_history_is_legal_anywhere(provider: str, name: str) -> None:
    fields = get_provider(provider).write_messages(HISTORIES[name]).value
    assert problems(provider, fields) == []


@pytest.mark.parametrize("provider", providers())
def test_writing_changes_nothing_of_what_is_legal_already(provider: str) -> None:
    assert get_provider(provider).write_messages(HISTORIES["plain"]).notes == ()


@pytest.mark.parametrize("recording", read_recordings(), ids=lambda each: each.name)
def test_a_recorded_reply_and_its_results_are_legal_anywhere(recording: Recording) -> None:
    reply = of(recording)
    history = [
        Message.user("Well?"),
        reply.message,
        *([Message.results(*(ToolResult(call.id, (Text("done"),)) for call in reply.calls))] if reply.calls else ()),
        Message.user("And now?"),
    ]
    found = {
        name: told
        for name in {recording.provider, *FORMATS}
        if (told := problems(name, get_provider(name).write_messages(history).value))
    }
    assert found == {}


@pytest.mark.parametrize("recording", read_recordings(), ids=lambda each: each.name)
def test_a_recorded_reply_that_nobody_answered_is_legal_anywhere(recording: Recording) -> None:
    history = [Message.user("Well?"), of(recording).message]
    found = {
        name: told
        for name in {recording.provider, *FORMATS}
        if (told := problems(name, get_provider(name).write_messages(history).value))
    }
    assert found == {}


@pytest.mark.parametrize("provider", FORMATS)
@pytest.mark.parametrize("name", [each for each in HISTORIES if each != "nothing"])
def test_what_was_written_is_read_and_written_again_as_it_was(provider: str, name: str) -> None:
    written = get_provider(provider).write_messages(HISTORIES[name]).value
    read = get_provider(provider).read_messages(written).value
    assert get_provider(provider).write_messages(read).value == written
