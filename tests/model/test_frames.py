"""Amazon's frames, as the wire server and botocore have them, in the framing of everybody else."""

from __future__ import annotations

import struct
from binascii import crc32

import pytest

from tests.model.asking import KEY, refused
from tests.model.faulty_server import Answer, FaultyServer
from tests.support.wire import converse
from tests.support.wire.scenario import TWO_CALLS
from toolbridge import ModelError, ReplyReader
from toolbridge.model.find import get_model
from toolbridge.model.frames import MEDIA, Frames


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    heads = b"".join(
        struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(heads) + len(payload), len(heads))
    body = prelude + struct.pack(">I", crc32(prelude)) + heads + payload
    return body + struct.pack(">I", crc32(body))


def test_frames_may_be_cut_anywhere() -> None:
    whole = converse.stream(TWO_CALLS)
    expected = Frames().feed(whole)
    for size in (1, 2, 3, 5, 13, 64, 1000):
        frames = Frames()
        pieces = [frames.feed(whole[start : start + size]) for start in range(0, len(whole), size)]
        assert b"".join(pieces) == expected
    reader = ReplyReader("bedrock")
    reader.feed(expected)
    assert [call.name for call in reader.reply().calls] == ["get_weather", "get_time"]


def test_headers_of_every_type_are_passed_over() -> None:
    head = b"\x01a\x00" + b"\x01b\x02\x07" + b"\x01c\x04\0\0\0\x01" + b"\x01d\x08" + bytes(8) + b"\x01e\x06\0\x02xy"
    plain = frame({":event-type": "x"}, b'{"a": 1}')
    heads = head + plain[12:-4].removesuffix(b'{"a": 1}')
    body = struct.pack(">III", 16 + len(heads) + 8, len(heads), 0) + heads + b'{"a": 1}' + bytes(4)
    assert Frames().feed(body) == b'data: {"x": {"a": 1}}\n\n'


def test_an_error_frame_says_what_its_headers_say() -> None:
    heads = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": "broken"}
    assert Frames().feed(frame(heads, b"")) == b'data: {"InternalFailure": {"message": "broken"}}\n\n'


@pytest.mark.parametrize("data", [b"\xff" * 16, b"HTTP/1.1 400 Bad", bytes(12)])
def test_what_is_no_frame_is_said(data: bytes) -> None:
    with pytest.raises(ModelError, match="no stream of Amazon's events"):
        Frames().feed(data)


@pytest.mark.parametrize(
    "heads",
    [b"\x01a\x07", b"\x01a\x07\x00", b"\x01a\x07\x00\x09x", b"\x09a\x07", b"\x01a", b"\x01a\x04\x00", b"\x01a\x0a"],
    ids=["no length", "half of one", "a short value", "a short name", "no type", "a short number", "an unknown type"],
)
def test_a_damaged_frame_is_said_and_not_read_past_its_end(heads: bytes) -> None:
    data = struct.pack(">III", 16 + len(heads) + 2, len(heads), 0) + heads + b"{}" + bytes(4)
    with pytest.raises(ModelError, match="no stream of Amazon's events"):
        Frames().feed(data)


async def test_an_exception_in_the_place_of_the_answer_is_an_error(faulty: FaultyServer) -> None:
    heads = {":message-type": "exception", ":exception-type": "validationException"}
    faulty.says(Answer(body=frame(heads, b'{"message": "Input is too long for requested model."}'), media=MEDIA))
    failed = await refused(get_model("bedrock/m", base_url=faulty.url, api_key=KEY))
    assert (failed.kind, failed.said) == ("too_long", "Input is too long for requested model.")
