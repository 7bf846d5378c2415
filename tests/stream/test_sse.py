"""Server-sent events and runs of JSON, in any pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbridge.stream.sse import SseEvent, SseReader
from toolbridge.stream.values import Depth, ValueReader


def events(*chunks: bytes) -> list[SseEvent]:
    reader = SseReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()


STREAM = (
    "\ufeff: hello\n\nevent: ping\ndata: {}\n\n: heartbeat\r\ndata: ä\r\ndata:  b\r\n\r\ndata\ndata: [DONE]\rid: 3\rretry: 10\r\r"
    "event: last\ndata: 漢🙂"
).encode()
EXPECTED = [
    SseEvent("{}", "ping"),
    SseEvent("ä\n b"),
    SseEvent("\n[DONE]"),
    SseEvent("漢🙂", "last"),
]


def test_events_are_read_whatever_the_line_ends() -> None:
    assert events(STREAM) == EXPECTED


def test_every_cut_gives_the_same_events() -> None:
    for i in range(len(STREAM) + 1):
        assert events(STREAM[:i], STREAM[i:]) == EXPECTED, i
    assert events(*(STREAM[i : i + 1] for i in range(len(STREAM)))) == EXPECTED


def test_lines_of_json_are_events() -> None:
    assert events(b'data: {"a":1}\n\n{"error":1}\n') == [SseEvent('{"a":1}'), SseEvent('{"error":1}')]


def test_what_is_no_event_is_kept_to_tell_of() -> None:
    reader = SseReader()
    assert reader.feed(b"<!doctype html>\n<title>502: Bad Gateway</title>\n") + reader.close() == []
    assert reader.strays == ["<!doctype html>", "<title>502: Bad Gateway</title>"]


# ── runs of JSON ─────────────────────────────────────────────────────────────────────────────────────────────────

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), min_size=1, max_size=5), st.booleans(), st.data())
def test_values_are_cut_apart_wherever_the_text_is(
    values: list[dict[str, object]], listed: bool, data: st.DataObject
) -> None:
    indent = data.draw(st.sampled_from([None, 2]))
    text = (
        json.dumps(values, indent=indent) if listed else "\n".join(json.dumps(each, indent=indent) for each in values)
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    reader = ValueReader()
    found = [
        value
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
        for value in reader.feed(text[start:end])
    ]
    assert [json.loads(each) for each in found] == values
    assert reader.rest() == ""


@pytest.mark.parametrize(
    ("text", "rest"), [('[{"a":1},{"b"', '{"b"'), ('{"a":', '{"a":'), ("[]", ""), ("", ""), ("[", "[")]
)
def test_what_is_left_is_told(text: str, rest: str) -> None:
    reader = ValueReader()
    reader.feed(text)
    assert reader.rest() == rest


def test_depth_knows_strings_and_escapes_over_any_cut() -> None:
    text = '{"a}\\"{": ["\\\\", {"b": "]"}]} '
    whole = Depth()
    assert whole.feed(text) == [len(text) - 1]
    one_by_one = Depth()
    assert [i for i, each in enumerate(text) if one_by_one.feed(each)] == [len(text) - 2]
    assert not one_by_one.inside
