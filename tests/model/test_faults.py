"""What goes wrong with HTTP: what is tried again, how often and after how long, and what is said in the end."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.model.asking import HELLO, KEY, ask, refused
from tests.model.faulty_server import GOOD, Answer, FaultyServer, error
from toolbridge import ModelError
from toolbridge.model.find import get_model
from toolbridge.model.http import HttpModel
from toolbridge.model.secrets import KeyRemoval, Secret
from toolbridge.model.waiting import Retries, Timeouts, asked_wait

BUSY = error(503, "busy")


def model_at(server: FaultyServer | str, **options: Any) -> tuple[HttpModel, list[float]]:
    """A model that notes its waits and does not wait."""
    url = server if isinstance(server, str) else server.url
    model = get_model("m", provider="openai-chat", base_url=f"{url}/v1", api_key=KEY, **options)
    assert isinstance(model, HttpModel)
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model._sleep = sleep
    return model, waits


def free_address() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "0.25"}, 0.25),
    ],
    ids=["seconds", "milliseconds", "a fraction"],
)
async def test_a_limit_is_waited_out_as_the_server_asks(
    faulty: FaultyServer, headers: dict[str, str], wait: float
) -> None:
    faulty.says(error(429, "slow down", **headers), Answer())
    model, waits = model_at(faulty)
    assert (await ask(model)).text == "Hello"
    assert waits == [wait]


def test_a_date_to_wait_for_is_read() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 <= (asked_wait({"retry-after": at}) or 0) <= 30
    assert asked_wait({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert asked_wait({"retry-after": "soon"}) is None
    assert asked_wait({"retry-after": "-1"}) is None
    assert asked_wait({}) is None


@pytest.mark.parametrize(
    ("status", "kind", "what"),
    [(429, "rate_limited", "limits the rate of requests"), (503, "overloaded", "cannot answer now")],
)
async def test_a_wait_that_is_too_long_is_an_error_that_tells_it(
    faulty: FaultyServer, status: int, kind: str, what: str
) -> None:
    faulty.says(error(status, "daily limit", retry_after="3600"))
    model, waits = model_at(faulty)
    failed = await refused(model)
    assert (failed.kind, failed.status, failed.said) == (kind, status, "daily limit")
    assert str(failed).endswith(f"{what} (HTTP {status}): daily limit; it says to wait 3600 s")
    assert (waits, len(faulty.asked)) == ([], 1)


async def test_without_a_word_of_the_server_waits_double_and_end(faulty: FaultyServer) -> None:
    faulty.says(BUSY)
    model, waits = model_at(faulty)
    failed = await refused(model)
    assert (failed.kind, failed.status) == ("overloaded", 503)
    assert str(failed).endswith("cannot answer now (HTTP 503): busy (asked 4 times)")
    assert len(faulty.asked) == 4
    assert [most * 0.75 <= wait <= most for wait, most in zip(waits, (0.5, 1, 2), strict=True)] == [True] * 3


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
async def test_what_may_pass_is_tried_again(faulty: FaultyServer, status: int) -> None:
    faulty.says(error(status, "not now"), Answer())
    model, waits = model_at(faulty)
    assert (await ask(model)).text == "Hello"
    assert (len(waits), len(faulty.asked)) == (1, 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
async def test_what_will_not_pass_is_not_tried_again(faulty: FaultyServer, status: int) -> None:
    faulty.says(error(status, "no"))
    model, waits = model_at(faulty)
    assert (await refused(model)).status == status
    assert (waits, len(faulty.asked)) == ([], 1)


async def test_the_vendors_own_word_on_trying_again_counts(faulty: FaultyServer) -> None:
    faulty.says(error(503, "no use", x_should_retry="false"))
    model, _ = model_at(faulty)
    assert (await refused(model)).kind == "overloaded"
    assert len(faulty.asked) == 1


async def test_an_empty_account_is_not_asked_again(faulty: FaultyServer) -> None:
    faulty.says(error(429, "You exceeded your current quota, please check your plan and billing details."))
    model, _ = model_at(faulty)
    failed = await refused(model)
    assert failed.kind == "rate_limited"
    assert "has no credit left for this key (HTTP 429)" in str(failed)
    assert len(faulty.asked) == 1


async def test_a_server_that_is_not_there_is_told_in_one_line() -> None:
    address = free_address()
    model, waits = model_at(address)
    failed = await refused(model)
    assert failed.kind == "unreachable"
    assert str(failed).startswith(f"openai-chat at {address}/v1/chat/completions cannot be reached: ")
    assert str(failed).endswith("; is it running, and the base URL right? (asked 2 times)")
    assert len(waits) == 1


async def test_a_host_that_is_not_there_is_told_too() -> None:
    model, _ = model_at("http://nowhere.invalid")
    assert (await refused(model)).kind == "unreachable"


async def test_a_connection_that_ends_before_the_answer_is_tried_again(faulty: FaultyServer) -> None:
    faulty.says(Answer(silent=True, then="reset"), Answer(silent=True, then="close"), Answer())
    model, waits = model_at(faulty)
    assert (await ask(model)).text == "Hello"
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (b"", "text/event-stream"),
        (b": PROCESSING\n\n", "text/event-stream"),
        (b'data: {"choices"', "text/event-stream"),
        (b'{"choices":[{"message":{"content":"half of what is pai', "application/json"),
    ],
    ids=["a head", "a heartbeat", "half of an event", "half of a value"],
)
async def test_an_answer_that_has_begun_is_paid_for_and_not_asked_for_again(
    faulty: FaultyServer, body: bytes, media: str
) -> None:
    faulty.says(Answer(body=body, media=media, then="close"), Answer())
    model, waits = model_at(faulty)
    failed = await refused(model)
    assert failed.kind == "unreachable"
    assert f"/v1/chat/completions broke off after {len(body)} bytes of its answer: " in str(failed)
    assert (waits, len(faulty.asked)) == ([], 1)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(raw=b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
        Answer(raw=b"\x15\x03\x03\x00\x02\x02\x46"),
        Answer(400, b"Client sent an HTTP request to an HTTPS server.\n", media="text/plain"),
        Answer(301, b"", {"location": "http://[::1"}),
    ],
    ids=["ssh", "tls", "go's tls", "a redirect to nowhere"],
)
async def test_what_speaks_no_http_is_a_wrong_base_url_and_not_tried_again(
    faulty: FaultyServer, answer: Answer
) -> None:
    faulty.says(answer)
    model, waits = model_at(faulty)
    failed = await refused(model)
    assert (failed.kind, "is the base URL right?" in str(failed)) == ("not_a_model", True)
    assert (waits, len(faulty.asked)) == ([], 1)


async def test_a_server_that_hangs_up_may_want_tls(faulty: FaultyServer) -> None:
    faulty.says(Answer(silent=True, then="close"))
    model, _ = model_at(faulty)
    assert str(await refused(model)).endswith("; is the base URL right? Perhaps it is https:// (asked 4 times)")


async def test_a_proxy_that_is_not_there_is_named_and_not_the_base_url(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = free_address().replace("//", "//user:hunter2pw@")
    monkeypatch.setenv("http_proxy", dead)
    model, _ = model_at("http://models.example")
    failed = await refused(model)
    assert failed.kind == "unreachable"
    assert "; it is asked by way of the proxy in http_proxy: is that running, and right?" in str(failed)
    assert "hunter2pw" not in str(failed)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    direct, _ = model_at(free_address())
    assert "; is it running, and the base URL right?" in str(await refused(direct))
    monkeypatch.delenv("http_proxy")
    monkeypatch.setenv("ALL_PROXY", dead)
    model, _ = model_at("https://models.example")
    assert "the proxy in ALL_PROXY: " in str(await refused(model))


@pytest.mark.parametrize("then", ["reset", "close"])
async def test_after_the_first_byte_nothing_is_tried_again(faulty: FaultyServer, then: Any) -> None:
    faulty.says(Answer(then=then))
    model, waits = model_at(faulty)
    pieces: list[bytes] = []

    async def listen() -> None:
        async for piece in model.stream(HELLO):
            pieces.append(piece)

    with pytest.raises(ModelError) as caught:
        await listen()
    assert pieces == [GOOD]
    assert caught.value.kind == "unreachable"
    assert f"broke off after {len(GOOD)} bytes of its answer: " in str(caught.value)
    assert (waits, len(faulty.asked)) == ([], 1)


async def test_a_server_that_never_answers_is_given_up(faulty: FaultyServer) -> None:
    faulty.says(Answer(silent=True))
    model, waits = model_at(faulty, timeout=Timeouts(first=0.1))
    failed = await refused(model)
    assert failed.kind == "timed_out"
    assert str(failed).endswith("did not answer within 0.1 s")
    assert waits == []


async def test_headers_alone_are_no_answer(faulty: FaultyServer) -> None:
    faulty.says(Answer(body=b": wait\n\n", then="hang"))
    model, _ = model_at(faulty, timeout=Timeouts(first=0.1))
    assert str(await refused(model)).endswith("did not answer within 0.1 s")


async def test_a_server_that_falls_silent_is_given_up(faulty: FaultyServer) -> None:
    faulty.says(Answer(then="hang"))
    model, _ = model_at(faulty, timeout=0.1)
    failed = await refused(model)
    assert failed.kind == "timed_out"
    assert str(failed).endswith("sent nothing for 0.1 s in the middle of its answer")
    assert faulty.left.wait(5)


@pytest.mark.parametrize("status", [200, 404, 403])
async def test_html_is_no_model_server(faulty: FaultyServer, status: int) -> None:
    faulty.says(Answer(status, b"\n<!DOCTYPE html><html><title>Login</title>", media="text/html"))
    model, _ = model_at(faulty)
    failed = await refused(model)
    assert failed.kind == "not_a_model"
    assert str(failed) == (
        f"what answers at {faulty.url}/v1/chat/completions is no model server: it sent HTML (HTTP {status}); "
        "is the base URL right?"
    )


async def test_html_of_a_gateway_is_its_failure_and_not_the_address(faulty: FaultyServer) -> None:
    faulty.says(Answer(502, b"<html>Bad Gateway</html>", media="text/html"))
    model, waits = model_at(faulty)
    assert (await refused(model)).kind == "overloaded"
    assert len(waits) == 3


@pytest.mark.parametrize(
    ("body", "media", "words"),
    [
        (b"", "text/event-stream", "sent no events"),
        (b": ping\n\n: ping\n\n", "text/event-stream", "sent no events"),
        (b"OK", "text/plain", "is no model server; it says: OK"),
        (b'{"status": "ok"}', "application/json", 'is no model server; it says: {"status": "ok"}'),
        (b'{"status', "application/json", 'is no model server; it says: {"status'),
    ],
    ids=["nothing", "comments", "text", "json", "half of json"],
)
async def test_another_servers_yes_is_no_answer(faulty: FaultyServer, body: bytes, media: str, words: str) -> None:
    faulty.says(Answer(body=body, media=media))
    model, waits = model_at(faulty)
    failed = await refused(model)
    assert failed.kind == "not_a_model"
    assert words in str(failed)
    assert waits == []


@pytest.mark.parametrize("media", ["text/event-stream", "application/json"])
async def test_an_error_in_the_place_of_the_answer_is_an_error(faulty: FaultyServer, media: str) -> None:
    text = b'{"error": {"message": "Overloaded", "type": "overloaded_error"}}'
    faulty.says(
        Answer(body=text if "json" in media else b"event: error\ndata: " + text + b"\n\n", media=media), Answer()
    )
    model, waits = model_at(faulty)
    assert (await ask(model)).text == "Hello"
    assert len(waits) == 1
    faulty.says(Answer(body=b'data: {"error": {"message": "No endpoints found", "code": 404}}\n\n'))
    failed = await refused(model)
    assert (failed.status, failed.said) == (404, "No endpoints found")


async def test_a_redirect_is_told_and_not_followed(faulty: FaultyServer) -> None:
    faulty.says(Answer(301, b"", {"location": "https://api.example/v1/chat/completions?key=1"}))
    model, _ = model_at(faulty)
    failed = await refused(model)
    assert failed.kind == "not_a_model"
    assert str(failed).endswith(
        "sends us on (HTTP 301) to https://api.example/v1/chat/completions: make that the base URL"
    )


async def test_a_redirect_within_the_server_is_told_as_a_whole_address(faulty: FaultyServer) -> None:
    faulty.says(Answer(308, b"", {"location": "/v2/"}))
    model, _ = model_at(faulty)
    assert str(await refused(model)).endswith(f"sends us on (HTTP 308) to {faulty.url}/v2/: make that the base URL")


async def test_a_key_that_the_server_echoes_is_not_shown(faulty: FaultyServer) -> None:
    faulty.says(error(401, f"Incorrect API key provided: {KEY}. Or sk-pr************cdef?"))
    model, _ = model_at(faulty)
    failed = await refused(model)
    assert failed.said == "Incorrect API key provided: ***. Or ***?"
    assert KEY not in repr(model)
    assert KEY not in str(vars(model))
    echo = b'data: {"error": {"message": "key ' + KEY.encode() + b'"}}\n\n'
    faulty.says(Answer(body=GOOD + echo, later=echo))
    pieces = [piece async for piece in model.stream(HELLO)]
    assert pieces == [GOOD + echo.replace(KEY.encode(), b"***"), echo.replace(KEY.encode(), b"***")]


async def test_a_key_that_is_echoed_in_two_pieces_is_not_shown(faulty: FaultyServer) -> None:
    faulty.says(Answer(body=GOOD + b": " + KEY[:9].encode(), later=KEY[9:].encode() + b" " + KEY[:3].encode()))
    model, _ = model_at(faulty)
    pieces = [piece async for piece in model.stream(HELLO)]
    assert pieces == [GOOD + b": ", b"*** ", KEY[:3].encode()]


def test_only_what_may_be_the_beginning_of_a_key_waits_for_the_next_piece() -> None:
    text = f"data: a {KEY} b {KEY[:7]}{KEY} s\n\n".encode()
    for size in range(1, len(text)):
        removal = KeyRemoval(Secret(KEY))
        pieces = [removal.feed(text[start : start + size]) for start in range(0, len(text), size)]
        assert b"".join(pieces) + removal.end() == text.replace(KEY.encode(), b"***")
    removal = KeyRemoval(Secret(KEY))
    assert [removal.feed(piece) for piece in (b"plain\n\n", b"rise", b" s", b"\n", b"sk-", b"no")] == [
        b"plain\n\n", b"rise", b" ", b"s\n", b"", b"sk-no"
    ]  # fmt: skip
    assert KeyRemoval(Secret("none")).feed(b"none") == b"none"


async def test_only_the_beginning_of_a_long_error_is_read(faulty: FaultyServer) -> None:
    faulty.says(Answer(400, b"no " * 3_000_000, media="text/plain"))
    model, _ = model_at(faulty)
    failed = await refused(model)
    assert (failed.kind, len(failed.said), len(str(failed)) < 420) == ("refused", 4000, True)


async def test_a_field_that_the_server_does_not_know_is_left_out_from_then_on(faulty: FaultyServer) -> None:
    faulty.says(error(400, "Unrecognized request argument supplied: stream_options"), Answer())
    model, waits = model_at(faulty)
    for _ in range(2):
        assert (await ask(model)).text == "Hello"
    assert ["stream_options" in each.body for each in faulty.asked] == [True, False, False]
    assert waits == []


async def test_the_other_spelling_of_an_address_is_tried_and_kept(faulty: FaultyServer) -> None:
    faulty.says(error(404, "no such path"), Answer())
    model = get_model("m", base_url=f"{faulty.url}/inference", api_key=KEY)
    for _ in range(2):
        assert (await ask(model)).text == "Hello"
    assert [each.target for each in faulty.asked] == [
        "/inference/v1/chat/completions", "/inference/chat/completions", "/inference/chat/completions"
    ]  # fmt: skip
    faulty.says(error(404, "no such path"))
    lost = get_model("m", base_url=faulty.url, api_key=KEY)
    assert str(await refused(lost)).startswith(
        f"nothing answers like a model server at openai-chat at {faulty.url}/v1/chat/completions (HTTP 404)"
    )


async def test_a_model_that_is_not_there_is_not_looked_for_at_another_path(faulty: FaultyServer) -> None:
    faulty.says(error(404, "The model `m` does not exist"))
    failed = await refused(get_model("m", base_url=faulty.url))
    assert failed.kind == "unknown_model"
    assert len(faulty.asked) == 1


async def test_the_waits_can_be_set_and_cancelled(faulty: FaultyServer) -> None:
    faulty.says(error(503, "busy", retry_after="50"))
    model = get_model("m", base_url=f"{faulty.url}/v1")
    task = asyncio.create_task(ask(model))
    await asyncio.to_thread(faulty.given.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [Retries(most=2, first=1).wait(attempt, None) is None for attempt in range(3)] == [False, False, True]
