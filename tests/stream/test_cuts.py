"""However the bytes of a recording are cut, they fold to the same reply.

One test a recording, and not one a cut: there are tens of thousands of these.
"""

from __future__ import annotations

import json

import pytest

from tests.stream.folding import folded, of
from tests.support.wire.recording import Recording, read_recordings
from toolbridge.reply import ReplyReader
from toolbridge.stream.events import Event

every_recording = pytest.mark.parametrize("recording", read_recordings(), ids=lambda each: each.name)


@every_recording
def test_cut_in_two_at_every_byte(recording: Recording) -> None:
    whole, body = of(recording), recording.body
    for at in range(len(body) + 1):
        assert folded(recording.provider, (body[:at], body[at:])) == whole, at


@every_recording
def test_cut_into_single_bytes(recording: Recording) -> None:
    body = recording.body
    assert folded(recording.provider, [body[at : at + 1] for at in range(len(body))]) == of(recording)


@every_recording
def test_cut_as_text_into_single_characters(recording: Recording) -> None:
    text = recording.body.decode()
    assert folded(recording.provider, text) == of(recording)


@every_recording
def test_the_events_are_the_same_events(recording: Recording) -> None:
    """Whoever shows text as it arrives sees the same, in the same order."""

    def events(pieces: list[bytes]) -> list[Event]:
        reader = ReplyReader(recording.provider)
        return [event for piece in pieces for event in reader.feed(piece)]

    body = recording.body + b"\n\n"  # so that nothing waits for the end
    whole = events([body])
    assert events([body[at : at + 7] for at in range(0, len(body), 7)]) == whole
    assert events([body[at : at + 1] for at in range(len(body))]) == whole


@every_recording
def test_asking_for_what_has_arrived_changes_nothing(recording: Recording) -> None:
    reader = ReplyReader(recording.provider)
    for at in range(0, len(recording.body), 13):
        reader.feed(recording.body[at : at + 13])
        for call in reader.partial():
            assert isinstance(call.name, str)
    assert reader.reply() == of(recording)


@pytest.mark.parametrize(
    "recording", [each for each in read_recordings() if each.whole is not None], ids=lambda each: each.name
)
def test_a_whole_reply_may_come_in_pieces_too(recording: Recording) -> None:
    body = json.dumps(recording.whole, ensure_ascii=False).encode()
    whole = folded(recording.provider, [body])
    assert folded(recording.provider, [body[at : at + 1] for at in range(len(body))]) == whole
