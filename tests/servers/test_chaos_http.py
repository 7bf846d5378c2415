"""Servers over HTTP that misbehave, each really doing it in a process of its own, beside one that does not.

Sessions that are forgotten, statuses of every kind, streams that are cut, addresses of the older kind, restarts. The ledger
says what the server saw and what it ran.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.servers.conftest import QUICK, Beside, Events
from tests.support.http_servers import CHAOS, HttpServer, free_port, self_signed
from tests.support.processes import eventually, within
from tests.support.real_servers import running
from toolbridge import Callbacks, Hub, Limits, ServerSpec, Text, ToolResult

Start = Callable[..., HttpServer]
HASTY = Limits(connect=0.8, list=0.8, call=0.8, total=5)
NAMES = ["echo", "content", "count", "count_and_die", "count_and_die_read_only", "large", "change", "identity"]


def names(hub: Hub, server: str = "bad") -> list[str]:
    return [each.id.name for each in hub.tools if each.id.server == server]


def at(url: str, transport: Any = "http", limits: Limits = QUICK, **fields: Any) -> ServerSpec:
    return ServerSpec("bad", transport=transport, url=url, limits=limits, **fields)


def assert_says(text: str, *words: str) -> None:
    assert [word for word in words if word not in text] == [], text


# -- a session -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["sse", "json"])
async def test_a_session_is_opened_used_and_ended(reply: str, http_server: Start, beside: Beside) -> None:
    server = http_server(reply=reply)
    async with beside(at(server.url())) as hub:
        assert names(hub) == NAMES
        assert (hub.status["bad"].state, hub.status["bad"].server_name) == ("connected", "chaos over http")
        assert await hub.call("bad", "echo", {"text": "hé"}, call_id="1") == ToolResult("1", (Text("hé"),))
        assert len(server.requests("initialize")) == 1
        session = server.requests("tools/call")[0]["headers"]["mcp-session-id"]
    assert [each["headers"]["mcp-session-id"] for each in server.events("request") if each["verb"] == "DELETE"] == [
        session
    ]


STALE = [
    (404, "json", "Session not found"),
    (404, "text", "Session not found"),
    (404, "text", ""),
    (400, "json", "Bad Request: No valid session ID provided"),
    (400, "text", "Invalid session ID"),
    (401, "json", "Unauthorized: session expired"),
    (401, "text", ""),
    (503, "json", "the session does not exist on this instance"),
    (503, "text", "unknown session"),
]


@pytest.mark.parametrize(("status", "form", "words"), STALE)
async def test_a_session_that_the_server_forgot_is_opened_anew_and_the_call_runs_once(
    status: int, form: str, words: str, http_server: Start, beside: Beside
) -> None:
    server = http_server(stale=[status, form, words])
    async with beside(at(server.url())) as hub:
        assert (await hub.call("bad", "count", {"key": "first"})).text == "counted first"
        server.tell(forget=True)
        with within(5):
            result = await hub.call("bad", "count", {"key": "second"})
        assert result == ToolResult(call_id="", content=(Text("counted second"),))
        assert [each["key"] for each in server.events("count")] == ["first", "second"]
        assert hub.status["bad"].state == "connected"


@pytest.mark.parametrize("status", [400, 404, 503])
@pytest.mark.parametrize("form", ["json", "text"])
async def test_a_forgotten_session_of_which_the_server_says_nothing_is_opened_anew_before_long(
    status: int, form: str, http_server: Start, beside: Beside
) -> None:
    server = http_server(stale=[status, form, "Nope"])
    async with beside(at(server.url())) as hub:
        server.tell(forget=True)
        result = await hub.call("bad", "count", {"key": "once"})
        assert server.counted("once") == (0 if result.is_error else 1)
        await eventually_calls(hub)


async def test_many_calls_that_meet_a_forgotten_session_open_one_new_session(
    http_server: Start, beside: Beside
) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        server.tell(forget=True)
        results = await asyncio.gather(*(hub.call("bad", "count", {"key": str(index)}) for index in range(16)))
        assert [each.text for each in results] == [f"counted {index}" for index in range(16)]
        assert sorted(int(each["key"]) for each in server.events("count")) == list(range(16))
        assert len(server.requests("initialize")) == 2


async def test_a_session_forgotten_again_and_again_still_serves(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        for index in range(5):
            server.tell(forget=True)
            assert (await hub.call("bad", "count", {"key": str(index)})).text == f"counted {index}"
        assert [each["key"] for each in server.events("count")] == ["0", "1", "2", "3", "4"]


async def test_a_server_that_refuses_every_session_is_not_asked_for_ever(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        server.tell(status={"tools/call": [404, "json"]})
        with within(8):
            result = await hub.call("bad", "echo", {"text": "hello"})
        assert result.is_error
        assert len(server.requests("tools/call")) <= 3
        server.tell(status={})
        await eventually_calls(hub)


async def eventually_calls(hub: Hub) -> None:
    """Whatever happened, the server answers again before long."""
    end = time.monotonic() + 10
    while (result := await hub.call("bad", "echo", {"text": "back"})).text != "back":
        assert time.monotonic() < end, f"it does not come back: {result.text}"
        await asyncio.sleep(0.05)


# -- it is not there, or says no -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "cause"),
    [(401, "unauthorized"), (403, "forbidden"), (404, "no_mcp"), (500, "http_status"), (503, "http_status")],
)
@pytest.mark.parametrize("form", ["json", "text"])
async def test_a_server_that_says_no_is_reported_with_its_status(
    status: int, cause: str, form: str, http_server: Start, beside: Beside
) -> None:
    server = http_server(status={"*": [status, form]})
    with within(8):
        async with beside(at(server.url())) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert (failure.cause, failure.status) == (cause, status)
            assert_says(str(failure), "bad", str(status))
            assert (await hub.call("bad", "echo", {"text": "hello"})).failure == "unavailable"


async def test_a_page_that_is_no_server_is_reported(http_server: Start, beside: Beside) -> None:
    server = http_server()
    with within(8):
        async with beside(at(server.url("/page"), "auto")) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause in ("no_mcp", "protocol")


async def test_a_port_where_nobody_listens_is_reported(beside: Beside) -> None:
    port = free_port()
    with within(5):
        async with beside(at(f"http://127.0.0.1:{port}/mcp")) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "unreachable"
            assert_says((await hub.call("bad", "echo", {"text": "hello"})).text, "bad", "refused")


async def test_a_host_that_nobody_knows_is_reported(beside: Beside) -> None:
    with within(20):
        async with beside(at("http://no-such-host.invalid/mcp")) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "unknown_host"


async def test_a_server_that_starts_after_us_is_found(http_server: Start, beside: Beside, ledger: Path) -> None:
    server = HttpServer(ledger, port=free_port())
    async with beside(at(server.url())) as hub:
        assert hub.status["bad"].state in ("failed", "connecting")
        with server:
            await eventually(lambda: hub.status["bad"].state == "connected", 10, "the connection")
            assert names(hub) == NAMES


async def test_a_certificate_of_nobody_is_refused_unless_it_is_named(
    http_server: Start, beside: Beside, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path)
    server = http_server(certificate)
    async with beside(at(server.url())) as hub:
        failure = hub.status["bad"].failure
        assert failure is not None
        assert failure.cause == "tls"
        assert_says(str(failure), "bad", "certificate")
    async with beside(at(server.url(), verify=str(certificate[0]))) as hub:
        assert names(hub) == NAMES
    async with beside(at(server.url(), verify=False)) as hub:
        assert (await hub.call("bad", "echo", {"text": "hello"})).text == "hello"


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_to_the_same_origin_is_followed(status: int, http_server: Start, beside: Beside) -> None:
    server = http_server(redirect=[status, "/mcp"])
    async with beside(at(server.url("/moved"))) as hub:
        assert names(hub) == NAMES
        assert (await hub.call("bad", "count", {"key": "one"})).text == "counted one"
        assert server.counted("one") == 1


async def test_a_redirect_to_another_origin_is_not_followed_with_our_headers(
    http_server: Start, beside: Beside
) -> None:
    other = http_server()
    server = http_server(redirect=[307, other.url()])
    with within(8):
        async with beside(at(server.url("/moved"), headers={"Authorization": "Bearer hush"})) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert "hush" not in str(failure)
            assert [each for each in other.events("request") if each["path"] == "/mcp"] == []


# -- it hangs, it is cut -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["*", "initialize", "tools/list"])
async def test_a_server_that_hangs_while_opening_costs_its_limit_and_no_more(
    method: str, http_server: Start, beside: Beside
) -> None:
    server = http_server(hang=[method])
    with within(6):
        async with beside(at(server.url(), limits=HASTY)) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "timeout"


async def test_a_call_that_hangs_ends_at_its_limit_and_others_go_on(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url(), limits=HASTY)) as hub:
        server.tell(hang=["tools/call"])
        with within(4):
            result = await hub.call("bad", "echo", {"text": "hello"}, call_id="4")
        assert (result.call_id, result.is_error, result.failure) == ("4", True, "timed_out")
        server.tell(hang=[])
        assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"
        assert "notifications/cancelled" in [each["method"] for each in server.events("request")]


CUTS = [("before", 0), ("headers", 1), ("middle", 1)]


@pytest.mark.parametrize(("place", "ran"), CUTS)
async def test_an_answer_that_is_cut_off_is_an_outcome_nobody_knows_and_is_not_replayed(
    place: str, ran: int, http_server: Start, beside: Beside
) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        server.tell(cut={"tools/call": place})
        with within(8):
            result = await hub.call("bad", "count", {"key": "once"})
        assert (result.is_error, result.failure) == (True, "outcome_unknown")
        assert_says(result.text, "bad")
        assert server.counted("once") == ran
        assert len(server.requests("tools/call")) == 1
        server.tell(cut={})
        assert (await hub.call("bad", "count", {"key": "next"})).text == "counted next"


@pytest.mark.parametrize("place", ["before", "headers", "middle"])
async def test_a_listing_that_is_cut_off_is_a_failure_that_mends_itself(
    place: str, http_server: Start, beside: Beside
) -> None:
    server = http_server(cut={"tools/list": place})
    async with beside(at(server.url())) as hub:
        assert hub.status["bad"].state in ("failed", "connecting")
        server.tell(cut={})
        await eventually(lambda: names(hub) == NAMES, 10, "the listing")


@pytest.mark.parametrize("way", ["empty", "html", "accepted", "nonsense"])
async def test_an_answer_that_is_none_is_an_error_of_this_call_alone(
    way: str, http_server: Start, beside: Beside
) -> None:
    server = http_server()
    with within(8):
        async with beside(at(server.url())) as hub:
            server.tell(odd={"tools/call": way})
            result = await hub.call("bad", "echo", {"text": "hello"})
            assert result.is_error
            assert_says(result.text, "bad")
            assert len(server.requests("tools/call")) == 1
            server.tell(odd={})
            assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"


async def test_a_stream_that_only_says_that_it_is_there_ends_at_the_limit(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url(), limits=HASTY)) as hub:
        server.tell(odd={"tools/call": "silence"})
        with within(4):
            assert (await hub.call("bad", "echo", {"text": "hello"})).failure == "timed_out"
        server.tell(odd={})
        assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_call_that_ends_in_an_error_of_the_server_is_not_sent_again(
    status: int, http_server: Start, beside: Beside
) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        server.tell(status={"tools/call": [status, "text"]})
        result = await hub.call("bad", "count", {"key": "once"})
        assert (result.is_error, result.failure) == (True, "outcome_unknown")
        assert_says(result.text, "bad", str(status))
        assert len(server.requests("tools/call")) == 1
        server.tell(status={})
        assert (await hub.call("bad", "count", {"key": "next"})).text == "counted next"


COMPLAINTS = [
    (200, "Browser session not found"),
    (200, "invalid session state"),
    (200, "Connection closed"),
    (500, "the shopping session expired"),
]


@pytest.mark.parametrize(("status", "words"), COMPLAINTS)
async def test_an_error_that_only_speaks_of_sessions_or_connections_does_not_make_a_write_run_twice(
    status: int, words: str, http_server: Start, beside: Beside
) -> None:
    server = http_server(complain={"tools/call": [status, words]})
    async with beside(at(server.url())) as hub:
        result = await hub.call("bad", "count", {"key": "once"})
        assert (result.is_error, server.counted("once")) == (True, 1)
        assert_says(result.text, "bad")


@pytest.mark.parametrize(("transport", "path"), [("http", "/mcp"), ("sse", "/sse")])
async def test_a_server_that_answers_nothing_any_more_does_not_hold_up_the_end(
    transport: str, path: str, http_server: Start, beside: Beside
) -> None:
    server = http_server()
    with within(8):
        async with beside(at(server.url(path), transport)) as hub:
            assert names(hub) == NAMES
            server.tell(hang=["*"])


@pytest.mark.parametrize(("transport", "path"), [("http", "/mcp"), ("sse", "/sse")])
async def test_a_server_that_is_stopped_costs_its_limit_and_does_not_hold_up_the_end(
    transport: str, path: str, http_server: Start, beside: Beside
) -> None:
    server = http_server()
    with within(10):
        async with beside(at(server.url(path), transport, limits=HASTY)) as hub:
            assert server.process is not None
            server.process.send_signal(signal.SIGSTOP)
            assert (await hub.call("bad", "echo", {"text": "hello"})).failure == "timed_out"


async def test_a_redirect_that_goes_round_in_circles_ends(http_server: Start, beside: Beside) -> None:
    server = http_server(redirect=[307, "/moved"])
    with within(8):
        async with beside(at(server.url("/moved"))) as hub:
            assert hub.status["bad"].failure is not None


async def test_five_megabytes_of_result_arrive_whole(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        for reply in ("sse", "json"):
            server.tell(reply=reply)
            result = await hub.call("bad", "large", {"number": 5_000_000})
            assert result == ToolResult(call_id="", content=(Text("x" * 5_000_000),))


# -- it dies and comes back ----------------------------------------------------------------------------------------


async def test_a_server_that_restarts_between_calls_is_found_again(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        for index in range(3):
            server.restart()
            assert (await hub.call("bad", "count", {"key": str(index)})).text == f"counted {index}"
        assert [each["key"] for each in server.events("count")] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("tool", "trust", "times"),
    [
        ("count_and_die", False, 1),
        ("count_and_die", True, 1),
        ("count_and_die_read_only", False, 1),
    ],
)
async def test_what_was_committed_before_a_death_is_not_replayed(
    tool: str, trust: bool, times: int, http_server: Start, beside: Beside
) -> None:
    server = http_server()
    async with beside(at(server.url(), trust=trust)) as hub:
        result = await hub.call("bad", tool, {"key": "once"})
        assert (result.is_error, result.failure) == (True, "outcome_unknown")
        server.wait_for_death()
        server.start()
        assert (await hub.call("bad", "count", {"key": "next"})).text == "counted next"
        assert (server.counted("once"), server.counted("next")) == (times, 1)


@pytest.mark.parametrize(
    ("tool", "trust", "times"),
    [
        ("count", True, 1),
        ("count_and_die_read_only", False, 1),
        ("count_and_die_read_only", True, 2),
    ],
)
async def test_an_answer_that_is_lost_once_is_asked_for_again_only_if_read_only_and_trusted(
    tool: str, trust: bool, times: int, http_server: Start, beside: Beside
) -> None:
    server = http_server(die=False)
    async with beside(at(server.url(), trust=trust)) as hub:
        server.tell(cut={"tools/call": "middle"}, once=True)
        result = await hub.call("bad", tool, {"key": "once"})
        assert server.counted("once") == times
        assert (result.is_error, result.failure) == ((True, "outcome_unknown") if times == 1 else (False, None))


async def test_while_it_is_down_calls_fail_fast_and_then_it_is_back(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        server.kill()
        with within(5):
            results = [await hub.call("bad", "count", {"key": "down"}) for _ in range(10)]
        assert {each.failure for each in results} == {"unavailable"}
        assert_says(results[-1].text, "bad")
        assert names(hub) == NAMES
        server.start()
        await eventually_calls(hub)
        assert server.counted("down") == 0


# -- the older transport -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [405, 404, 400])
async def test_an_address_of_the_older_transport_is_found_out(status: int, http_server: Start, beside: Beside) -> None:
    server = http_server(sse_post=status)
    async with beside(at(server.url("/sse"), "auto")) as hub:
        assert names(hub) == NAMES
        assert (await hub.call("bad", "count", {"key": "one"})).text == "counted one"
        assert server.counted("one") == 1


async def test_a_server_named_as_one_of_the_older_transport_gets_no_other_request(
    http_server: Start, beside: Beside
) -> None:
    server = http_server()
    async with beside(at(server.url("/sse"), "sse")) as hub:
        assert (await hub.call("bad", "echo", {"text": "hello"})).text == "hello"
        assert {(each["verb"], each["path"]) for each in server.events("request")} == {
            ("GET", "/sse"),
            ("POST", "/messages"),
        }


async def test_an_older_stream_that_breaks_in_a_call_is_told_at_once_and_opened_anew(
    http_server: Start, beside: Beside
) -> None:
    server = http_server()
    async with beside(at(server.url("/sse"), "sse")) as hub:
        server.tell(cut={"tools/call": "before"})
        with within(4):
            result = await hub.call("bad", "count", {"key": "once"})
        assert (result.is_error, result.failure) == (True, "outcome_unknown")
        assert server.counted("once") == 1
        server.tell(cut={})
        assert (await hub.call("bad", "count", {"key": "next"})).text == "counted next"


async def test_an_older_server_that_restarts_between_calls_is_found_again(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url("/sse"), "sse")) as hub:
        server.restart()
        await eventually_calls(hub)
        assert (await hub.call("bad", "count", {"key": "one"})).text == "counted one"
        assert server.counted("one") == 1


# -- who we are ----------------------------------------------------------------------------------------------------


async def test_headers_go_with_every_request_and_into_no_message(http_server: Start, beside: Beside) -> None:
    server = http_server(token="hush-7391")
    secret: dict[str, Any] = {"headers": {"Authorization": "Bearer hush-7391"}, "secrets": frozenset({"hush-7391"})}
    async with beside(at(server.url(), **secret)) as hub:
        assert (await hub.call("bad", "echo", {"text": "hello"})).text == "hello"
    assert {each["headers"].get("authorization") for each in server.events("request")} == {"Bearer hush-7391"}
    server.tell(status={"*": [500, "text"]})
    async with beside(at(server.url(), **secret)) as hub:
        assert "hush-7391" not in repr(hub.status) + (await hub.call("bad", "echo", {"text": "hello"})).text


async def test_a_token_that_a_function_gives_is_asked_for_each_time(http_server: Start, beside: Beside) -> None:
    server = http_server(token="one")
    tokens = {"now": "one"}

    async def headers(name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {tokens['now']}", "X-Server": name}

    async with beside(at(server.url(), headers_from=headers)) as hub:
        assert (await hub.call("bad", "echo", {"text": "hello"})).text == "hello"
        server.tell(token="two")
        tokens["now"] = "two"
        assert (await hub.call("bad", "echo", {"text": "hello"})).text == "hello"
        assert {each["headers"]["x-server"] for each in server.events("request")} == {"bad"}


async def test_a_token_that_ran_out_is_a_failure_of_this_server_and_heals_with_a_new_one(
    http_server: Start, beside: Beside
) -> None:
    server = http_server(token="one")
    tokens = {"now": "one"}
    async with beside(at(server.url(), headers_from=lambda name: {"Authorization": f"Bearer {tokens['now']}"})) as hub:
        server.tell(token="two")
        with within(6):
            result = await hub.call("bad", "count", {"key": "once"})
        assert (result.is_error, server.counted("once")) == (True, 0)
        assert_says(result.text, "401")
        tokens["now"] = "two"
        await eventually_calls(hub)


# -- news ----------------------------------------------------------------------------------------------------------


async def test_tools_that_change_are_told_over_the_standing_stream(http_server: Start, beside: Beside) -> None:
    server = http_server()
    async with beside(at(server.url())) as hub:
        await eventually(lambda: any(each["verb"] == "GET" for each in server.events("request")), 5, "the stream")
        assert (await hub.call("bad", "change", {"text": "late"})).text == "changed"
        await eventually(lambda: names(hub) == [*NAMES, "late"], 5, "the new tool")


# -- without a handshake -------------------------------------------------------------------------------------------


async def test_a_server_without_a_handshake_lists_calls_asks_and_tells(
    ledger: Path, beside: Beside, events: Events
) -> None:
    callbacks = Callbacks(elicit=lambda server, params: {"action": "accept", "content": {"colour": "blue"}})
    with running([sys.executable, CHAOS / "modern_server.py", ledger, "http", "{port}"]) as server:
        async with beside(at(server.url("/mcp")), callbacks=callbacks) as hub:
            assert (hub.status["bad"].protocol, hub.status["bad"].server_name) == ("2026-07-28", "modern")
            assert await hub.call("bad", "weather", {"city": "Bonn"}) == ToolResult(
                call_id="",
                content=(Text('{\n  "city": "Bonn",\n  "degrees": 21.5\n}'),),
                structured={"city": "Bonn", "degrees": 21.5},
                meta={"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "1.0"}},
            )
            seen: list[float] = []
            await hub.call("bad", "work", {"number": 3}, on_progress=lambda progress, *_: seen.append(progress))
            assert seen == [1, 2, 3]
            assert (await hub.call("bad", "paint", {"thing": "wall"})).text == "wall is blue"
            assert [each["key"] for each in events("count")] == ["wall blue"]
            assert (await hub.call("bad", "change", {"text": "late"})).text == "changed"
            await eventually(lambda: "late" in names(hub), 5, "the new tool")


async def test_a_server_without_sessions_that_restarts_is_not_even_missed(
    ledger: Path, beside: Beside, events: Events
) -> None:
    command = [sys.executable, CHAOS / "modern_server.py", ledger, "http", "{port}"]
    with running(command) as server:
        async with beside(at(server.url("/mcp"))) as hub:
            assert (await hub.call("bad", "count", {"key": "one"})).text == "counted one"
            result = await hub.call("bad", "count_and_die", {"key": "once"})
            assert (result.is_error, result.failure) == (True, "outcome_unknown")
            again = [*command[:-1], str(server.port)]
            with running(again, port=server.port):
                await eventually_calls(hub)
                assert (await hub.call("bad", "count", {"key": "two"})).text == "counted two"
            assert [each["key"] for each in events("count")] == ["one", "once", "two"]
