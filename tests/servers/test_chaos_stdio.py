"""Servers over stdio that misbehave, each really doing it, beside one that does not.

After every story the healthy server still lists and answers (`beside` sees to it), and no process, thread, descriptor or
task is left (`conftest` does). What really happened is read from the ledger, a file that the server writes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.servers.chaos.tools import AUDIO, IMAGE, TOOLS
from tests.servers.conftest import QUICK, Beside, Chaos, Events
from tests.support.processes import alive, eventually, marked, within
from toolbridge import (
    Audio,
    Callbacks,
    Hub,
    Image,
    Limits,
    Resource,
    ResourceLink,
    ServerError,
    ServerSpec,
    Text,
    ToolResult,
    connect,
)

NAMES = [each["name"] for each in TOOLS]
HASTY = Limits(connect=0.6, list=0.6, call=0.6, total=5)
"""Limits that a hung server reaches soon."""


def names(hub: Hub, server: str = "bad") -> list[str]:
    return [each.id.name for each in hub.tools if each.id.server == server]


def assert_says(text: str, *words: str) -> None:
    assert [word for word in words if word not in text] == [], text


# -- it does not start ---------------------------------------------------------------------------------------------


async def test_a_server_that_exits_before_the_handshake_is_reported_with_its_exit_code_and_last_words(
    chaos: Chaos, beside: Beside
) -> None:
    async with beside(chaos("say=no licence found", "exit=3")) as hub:
        status = hub.status["bad"]
        assert (status.state, status.tools, status.pid) == ("failed", 0, None)
        failure = status.failure
        assert failure is not None
        assert (failure.cause, failure.exit_code, failure.stderr) == ("exited", 3, "no licence found")
        result = await hub.call("bad", "echo", {"text": "hello"}, call_id="1")
        assert (result.call_id, result.is_error, result.failure) == ("1", True, "unavailable")
        assert_says(result.text, "bad", "3", "no licence found")
        assert names(hub) == []


async def test_a_server_that_hangs_in_initialize_costs_its_limit_and_no_more(chaos: Chaos, beside: Beside) -> None:
    with within(5):
        async with beside(chaos("silent=initialize", limits=HASTY)) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "timeout"
            assert_says(str(failure), "bad", "0.6 s")


async def test_a_server_that_reads_nothing_at_all_costs_its_limit_and_no_more(
    chaos: Chaos, beside: Beside, short_grace: None
) -> None:
    with within(5):
        async with beside(chaos("deaf", limits=HASTY)) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "timeout"


async def test_a_server_that_hangs_in_its_listing_costs_its_limit_and_no_more(chaos: Chaos, beside: Beside) -> None:
    with within(5):
        async with beside(chaos("silent=tools/list", limits=HASTY)) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "timeout"
            assert_says(str(failure), "bad", "list")


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_server_that_exits_in_the_middle_of_opening_is_reported(
    method: str, chaos: Chaos, beside: Beside
) -> None:
    async with beside(chaos(f"exit_at={method}")) as hub:
        failure = hub.status["bad"].failure
        assert failure is not None
        assert (failure.cause, failure.exit_code, failure.stderr) == ("exited", 4, f"cannot bear {method}")


@pytest.mark.parametrize(
    "words", ["wrong_result=initialize", "wrong_result=tools/list", "error=initialize", "error=tools/list"]
)
async def test_an_answer_that_makes_no_sense_while_opening_is_reported_as_a_breach_of_the_protocol(
    words: str, chaos: Chaos, beside: Beside
) -> None:
    with within(5):
        async with beside(chaos(words)) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "protocol"
            result = await hub.call("bad", "echo", {"text": "hello"})
            assert result.failure == "unavailable"


async def test_a_protocol_version_that_nobody_knows_is_reported(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos("protocol=1999-01-01")) as hub:
        failure = hub.status["bad"].failure
        assert failure is not None
        assert_says(str(failure), "1999-01-01")


async def test_a_server_that_dies_of_the_first_unknown_message_is_greeted_the_older_way(
    chaos: Chaos, beside: Beside, events: Events
) -> None:
    async with beside(chaos("discover=die", "protocol=2025-06-18")) as hub:
        assert names(hub) == NAMES
        assert (hub.status["bad"].state, hub.status["bad"].protocol) == ("connected", "2025-06-18")
        assert len(events("start")) == 2


async def test_a_server_that_ignores_unknown_methods_is_greeted_the_older_way(
    chaos: Chaos, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 0.3)
    with within(5):
        async with beside(chaos("discover=silent")) as hub:
            assert names(hub) == NAMES


async def test_a_slow_start_keeps_nobody_waiting_longer_than_the_patience(chaos: Chaos, beside: Beside) -> None:
    seconds = float(os.environ.get("TOOLBRIDGE_TEST_COLD_START", "2"))
    started = time.monotonic()
    async with beside(chaos(f"delay={seconds}", limits=Limits(connect=seconds + 20)), patience=0.4) as hub:
        assert time.monotonic() - started < min(seconds, 2)
        assert hub.status["bad"].state == "connecting"
        result = await hub.call("bad", "echo", {"text": "at last"})
        assert time.monotonic() - started >= seconds
        assert result == ToolResult(call_id="", content=(Text("at last"),))
        assert names(hub) == NAMES


async def test_a_required_server_that_fails_refuses_the_hub_and_leaves_nothing(
    chaos: Chaos, healthy: ServerSpec, token: str
) -> None:
    with pytest.raises(ServerError) as raised:
        async with connect([chaos("say=out of memory", "exit=2", required=True), healthy]):
            pytest.fail("the hub opened")
    assert_says(str(raised.value), "bad", "2", "out of memory")
    assert marked(token) == []


async def test_twenty_servers_that_fail_in_every_way_cost_the_time_of_the_slowest(chaos: Chaos, beside: Beside) -> None:
    ways = ("exit=1", "silent=initialize", "silent=tools/list", "error=initialize", "exit_at=tools/list")
    specs = [chaos(ways[index % 5], name=f"bad{index}", limits=Limits(connect=3, list=3)) for index in range(20)]
    with within(15):
        async with beside(*specs) as hub:
            assert {hub.status[spec.name].state for spec in specs} <= {"failed", "connecting"}
            assert {each.id.server for each in hub.tools} == {"healthy"}


# -- it talks too much, or nonsense --------------------------------------------------------------------------------


async def test_a_banner_on_stdout_is_a_warning_and_the_server_works(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos("banner=*** Welcome to Server 3000 ***", "noise")) as hub:
        assert names(hub) == NAMES
        assert (await hub.call("bad", "echo", {"text": "hello"})).text == "hello"
        assert_says(" ".join(hub.status["bad"].warnings), "stdout", "*** Welcome to Server 3000 ***")


async def test_a_program_that_is_no_server_is_found_out_by_what_it_prints(
    chaos: Chaos, beside: Beside, token: str
) -> None:
    with within(5):
        program = ServerSpec("bad", command="sh", args=("-c", "echo usage: tool FILE; exec sleep 60"), limits=HASTY)
        async with beside(program) as hub:
            failure = hub.status["bad"].failure
            assert failure is not None
            assert failure.cause == "noise"
            assert_says(str(failure), "usage: tool FILE")


@pytest.mark.parametrize("kind", ["garbage", "utf8", "unasked", "array", "twice", "long_line"])
async def test_nonsense_between_two_messages_is_passed_over(kind: str, chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        result = await hub.call("bad", "garble", {"kind": kind})
        assert result == ToolResult(call_id="", content=(Text("after the garbage"),))
        assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"
        assert hub.status["bad"].restarts == 0


@pytest.mark.parametrize("kind", ["missing", "wrong_type"])
async def test_an_answer_that_is_no_result_is_an_error_of_the_protocol_and_not_the_end(
    kind: str, chaos: Chaos, beside: Beside
) -> None:
    with within(5):
        async with beside(chaos()) as hub:
            result = await hub.call("bad", "garble", {"kind": kind})
            assert (result.is_error, result.failure) == (True, "protocol")
            assert_says(result.text, "bad")
            assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"


async def test_an_answer_for_someone_else_leaves_the_call_to_its_limit(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos(limits=HASTY)) as hub:
        result = await hub.call("bad", "garble", {"kind": "wrong_id"})
        assert (result.is_error, result.failure) == (True, "timed_out")
        assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"


async def test_half_an_answer_and_then_death_is_an_outcome_nobody_knows(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        result = await hub.call("bad", "garble", {"kind": "half"})
        assert (result.is_error, result.failure) == (True, "outcome_unknown")
        assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"


async def test_content_of_an_unknown_kind_costs_no_other_content(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        result = await hub.call("bad", "garble", {"kind": "wrong_content"})
        assert_says(result.text, "hologram")
        assert await hub.call("bad", "garble", {"kind": "no_text"}) == ToolResult(call_id="", content=(Text(""),))


async def test_an_error_of_the_protocol_is_told_in_the_server_s_own_words(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        result = await hub.call("bad", "refuse", call_id="9")
        assert (result.call_id, result.is_error, result.failure) == ("9", True, "protocol")
        assert_says(result.text, "bad", "the server does not want to")


async def test_ten_megabytes_on_stderr_block_nobody(chaos: Chaos, beside: Beside) -> None:
    with within(10):
        async with beside(chaos("shout=10000000")) as hub:
            assert (await hub.call("bad", "shout", {"number": 10_000_000})).text == "heard"
            await hub.call("bad", "die", {"number": 6})
            await eventually(lambda: hub.status["bad"].failure is not None or hub.status["bad"].restarts == 1)


async def test_five_megabytes_of_result_arrive_whole(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        result = await hub.call("bad", "large", {"number": 5_000_000})
        assert result == ToolResult(call_id="", content=(Text("x" * 5_000_000),))


CONTENT: dict[str, dict[str, Any]] = {
    "text": {"content": (Text("plain"),)},
    "empty": {"content": ()},
    "image": {"content": (Image(IMAGE, "image/png"),)},
    "audio": {"content": (Audio(AUDIO, "audio/wav"),)},
    "resource": {"content": (Resource("memo://1", "text/plain", text="a memo"),)},
    "blob": {"content": (Resource("memo://2", "image/png", blob=IMAGE),)},
    "resource_link": {"content": (ResourceLink("memo://3", "third", "text/plain", "The third memo"),)},
    "structured": {"content": (Text('{"degrees": 21.5}'),), "structured": {"degrees": 21.5}},
    "structured_only": {"content": (), "structured": {"degrees": 21.5}},
    "meta": {"content": (Text("seen"),), "meta": {"example.com/secret": "unseen"}},
    "error": {"content": (Text("the disk is full"),), "is_error": True},
}


async def test_every_kind_of_content_arrives_as_it_was_sent(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        for kind, expected in CONTENT.items():
            result = await hub.call("bad", "content", {"kind": kind}, call_id=kind)
            assert result == ToolResult(call_id=kind, **expected)


# -- its listing ---------------------------------------------------------------------------------------------------


async def test_an_endless_cursor_ends(chaos: Chaos, beside: Beside) -> None:
    with within(15):
        async with beside(chaos("cursor=endless")) as hub:
            assert names(hub)[:2] == ["page_1", "page_2"]
            assert len(hub.status["bad"].warnings) == 1
            assert_says(hub.status["bad"].warnings[0], "pages")


async def test_a_cursor_that_never_advances_ends(chaos: Chaos, beside: Beside) -> None:
    with within(5):
        async with beside(chaos("cursor=same")) as hub:
            assert names(hub) == NAMES
            assert len(hub.status["bad"].warnings) == 1


async def test_an_empty_cursor_is_the_end(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos("cursor=empty")) as hub:
        assert names(hub) == NAMES
        assert hub.status["bad"].warnings == ()


async def test_every_page_of_a_thousand_tools_is_listed_in_its_order(chaos: Chaos, beside: Beside) -> None:
    with within(10):
        async with beside(chaos("tools=1000", "pages=33")) as hub:
            assert names(hub) == [*NAMES, *(f"tool_{index:05}" for index in range(1000))]
            assert (await hub.call("bad", "tool_00999")).text == "tool_00999 ran"


async def test_tools_that_change_in_the_middle_of_the_run_are_listed_anew(chaos: Chaos, beside: Beside) -> None:
    changed: list[str] = []
    async with beside(chaos(), callbacks=Callbacks(changed=changed.append)) as hub:
        generation = hub.generation
        assert (await hub.call("bad", "change", {"text": "late"})).text == "changed"
        await eventually(lambda: names(hub) == [*NAMES, "late"])
        assert hub.generation > generation
        await eventually(lambda: changed == ["bad"])
        assert (await hub.call("bad", "late")).text == "late ran"


async def test_a_tool_that_came_without_a_word_is_found_by_listing_anew(
    chaos: Chaos, beside: Beside, tmp_path: Path
) -> None:
    async with beside(chaos()) as hub:
        await hub.refresh("bad")
        assert names(hub) == NAMES
        await hub.refresh()
        assert names(hub) == NAMES


# -- it dies -------------------------------------------------------------------------------------------------------


async def test_a_death_in_the_middle_of_a_call_is_told_at_once_and_the_next_call_starts_it_anew(
    chaos: Chaos, beside: Beside, events: Events
) -> None:
    with within(5):
        async with beside(chaos()) as hub:
            result = await hub.call("bad", "die", {"number": 17}, call_id="3")
            assert (result.call_id, result.is_error, result.failure) == ("3", True, "outcome_unknown")
            assert_says(result.text, "bad", "17", "the last words of the server")
            assert (await hub.call("bad", "echo", {"text": "again"})).text == "again"
            assert (hub.status["bad"].restarts, hub.status["bad"].failure) == (1, None)
            assert len(events("start")) == 2


async def test_a_death_fails_every_pending_call_at_once(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        pending = [asyncio.create_task(hub.call("bad", "hang", call_id=str(index))) for index in range(20)]
        await asyncio.sleep(0)
        with within(2):
            await hub.call("bad", "die", {"number": 1})
            results = await asyncio.gather(*pending)
        assert {(each.is_error, each.failure) for each in results} == {(True, "outcome_unknown")}
        assert [each.call_id for each in results] == [str(index) for index in range(20)]


async def test_a_death_is_noticed_although_a_grandchild_holds_the_pipes(
    chaos: Chaos, beside: Beside, events: Events
) -> None:
    with within(10):
        async with beside(chaos("grandchild")) as hub:
            result = await hub.call("bad", "die", {"number": 1})
            assert result.failure == "outcome_unknown"
            await eventually(lambda: not alive(events("grandchild")[0]["pid"]), 6, "the grandchild's end")
            assert (await hub.call("bad", "echo", {"text": "again"})).text == "again"


async def kill(hub: Hub) -> None:
    """Kills the server, and waits until the system says that it is dead: a call is then surely never sent to it."""
    pid = hub.status["bad"].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not alive(pid), 5, "the death")


async def test_a_server_killed_between_two_calls_is_started_anew_and_nothing_is_lost(
    chaos: Chaos, beside: Beside, events: Events
) -> None:
    async with beside(chaos()) as hub:
        for index in range(5):
            await kill(hub)
            result = await hub.call("bad", "count", {"key": str(index)})
            assert result == ToolResult(call_id="", content=(Text(f"counted {index}"),))
        assert [each["key"] for each in events("count")] == ["0", "1", "2", "3", "4"]
        assert hub.status["bad"].restarts == 5


async def test_a_server_that_crashes_every_few_calls_serves_a_trusted_reader_without_a_gap(
    chaos: Chaos, beside: Beside
) -> None:
    async with beside(chaos("crash_after=3", trust=True)) as hub:
        texts = [(await hub.call("bad", "echo", {"text": str(index)})).text for index in range(10)]
        assert texts == [str(index) for index in range(10)]


async def test_a_server_that_stays_down_fails_fast_and_comes_back(
    chaos: Chaos, beside: Beside, tmp_path: Path, events: Events
) -> None:
    down = tmp_path / "down"
    async with beside(chaos(f"down={down}")) as hub:
        down.touch()
        await hub.call("bad", "die", {"number": 1})
        await eventually(lambda: hub.status["bad"].state == "failed", 5, "the second failure")
        with within(3):
            results = [await hub.call("bad", "echo", {"text": "hello"}) for _ in range(20)]
        assert {each.failure for each in results} == {"unavailable"}
        assert_says(results[-1].text, "bad", "9", "down for maintenance")
        assert len(events("start")) < 10
        assert names(hub) == NAMES, "what it offered is known, and calls say that it is down"
        down.unlink()
        await eventually(lambda: hub.status["bad"].state == "connected", 20, "its return without being asked")
        assert (await hub.call("bad", "echo", {"text": "back"})).text == "back"


async def test_a_server_that_closes_its_output_is_lost_at_once_and_replaced(
    chaos: Chaos, beside: Beside, events: Events, short_grace: None
) -> None:
    with within(6):
        async with beside(chaos("ignore_eof")) as hub:
            assert (await hub.call("bad", "mute")).failure == "outcome_unknown"
            assert (await hub.call("bad", "echo", {"text": "again"})).text == "again"
            first, second = (each["pid"] for each in events("start"))
            await eventually(lambda: not alive(first), 5, "the end of the one that went mute")
            assert alive(second)


async def test_a_server_that_closes_its_input_is_replaced(chaos: Chaos, beside: Beside, short_grace: None) -> None:
    with within(8):
        async with beside(chaos(limits=HASTY)) as hub:
            assert (await hub.call("bad", "plug")).is_error
            while (result := await hub.call("bad", "echo", {"text": "again"})).is_error:
                await asyncio.sleep(0.01)
            assert result.text == "again"


async def test_a_server_that_is_stopped_costs_its_limit_and_is_ended(
    chaos: Chaos, beside: Beside, short_grace: None
) -> None:
    with within(8):
        async with beside(chaos(limits=HASTY)) as hub:
            pid = hub.status["bad"].pid
            assert pid is not None
            os.kill(pid, signal.SIGSTOP)
            assert (await hub.call("bad", "echo", {"text": "hello"})).failure == "timed_out"


async def test_arguments_that_a_server_does_not_read_cost_its_limit(
    chaos: Chaos, beside: Beside, short_grace: None
) -> None:
    with within(10):
        async with beside(chaos(limits=HASTY)) as hub:
            await hub.call("bad", "hang_hard")
            results = await asyncio.gather(*(hub.call("bad", "echo", {"text": "x" * 2_000_000}) for _ in range(3)))
            assert {each.is_error for each in results} == {True}


# -- a write is never run twice ------------------------------------------------------------------------------------

REPLAYED = [
    ("count_and_die", False, 1),
    ("count_and_die", True, 1),
    ("count_and_die_read_only", False, 1),
    ("count_and_die_read_only", True, 2),
]


@pytest.mark.parametrize(("tool", "trust", "times"), REPLAYED)
async def test_what_was_committed_before_a_death_is_replayed_only_if_read_only_and_trusted(
    tool: str, trust: bool, times: int, chaos: Chaos, beside: Beside, events: Events
) -> None:
    async with beside(chaos(trust=trust)) as hub:
        result = await hub.call("bad", tool, {"key": "once"})
        assert len(events("count")) == times
        if times == 1:
            assert (result.is_error, result.failure) == (True, "outcome_unknown")
            assert_says(result.text, "bad", "7")
        else:
            assert result == ToolResult(call_id="", content=(Text("counted once"),))
        assert (await hub.call("bad", "count", {"key": "next"})).text == "counted next"
        assert [each["key"] for each in events("count")] == [*["once"] * times, "next"]


@pytest.mark.parametrize(("tool", "trust", "times"), REPLAYED)
async def test_the_same_holds_for_a_server_without_a_handshake(
    tool: str, trust: bool, times: int, modern: Chaos, beside: Beside, events: Events
) -> None:
    async with beside(modern(trust=trust)) as hub:
        result = await hub.call("modern", tool, {"key": "once"})
        assert len(events("count")) == times
        assert (result.is_error, result.failure) == ((True, "outcome_unknown") if times == 1 else (False, None))


async def test_a_read_that_kills_the_server_each_time_is_not_replayed_for_ever(
    chaos: Chaos, beside: Beside, events: Events
) -> None:
    with within(15):
        async with beside(chaos(trust=True)) as hub:
            result = await hub.call("bad", "count_and_die_read_only", {"key": "always"})
            assert result.is_error
            assert len(events("count")) == 2


# -- it hangs in a call --------------------------------------------------------------------------------------------


async def test_a_call_that_hangs_ends_at_its_limit_and_the_server_is_told(
    chaos: Chaos, beside: Beside, events: Events
) -> None:
    async with beside(chaos(limits=HASTY)) as hub:
        with within(3):
            result = await hub.call("bad", "hang", call_id="5")
        assert (result.call_id, result.is_error, result.failure) == ("5", True, "timed_out")
        assert_says(result.text, "bad", "0.6")
        assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"
        await eventually(lambda: "notifications/cancelled" in [each["method"] for each in events("received")])
        assert hub.status["bad"].restarts == 0


async def test_a_limit_given_with_the_call_goes_before_the_server_s(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos()) as hub:
        with within(3):
            result = await hub.call("bad", "hang", timeout=0.2)
        assert result.failure == "timed_out"


async def test_a_server_that_reads_nothing_any_more_costs_its_limit_and_is_ended(
    chaos: Chaos, beside: Beside, short_grace: None
) -> None:
    with within(10):
        async with beside(chaos(limits=HASTY)) as hub:
            results = [await hub.call("bad", "hang_hard") for _ in range(2)]
            assert {each.is_error for each in results} == {True}


async def test_progress_is_reported_and_extends_the_limit(chaos: Chaos, beside: Beside) -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    async with beside(chaos(limits=HASTY)) as hub:
        result = await hub.call("bad", "work", {"number": 20}, on_progress=lambda *step: seen.append(step))
        assert result == ToolResult(call_id="", content=(Text("done"),))
        assert seen == [(float(step), 20.0, f"step {step}") for step in range(1, 21)]


async def test_progress_that_stops_is_no_sign_of_life_any_more(chaos: Chaos, beside: Beside) -> None:
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with beside(chaos(limits=HASTY)) as hub:
        with within(4):
            result = await hub.call("bad", "work_and_hang", {"number": 3}, on_progress=note)
        assert result.failure == "timed_out"
        assert seen == [1, 2, 3]


async def test_progress_without_end_ends_at_the_total_limit(chaos: Chaos, beside: Beside) -> None:
    async with beside(chaos(limits=Limits(call=0.5, total=1.0))) as hub:
        with within(3):
            result = await hub.call("bad", "work", {"number": 10_000})
        assert result.failure == "timed_out"


async def test_a_progress_function_that_fails_costs_nothing_but_the_report(chaos: Chaos, beside: Beside) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no bar to draw")

    async with beside(chaos()) as hub:
        assert (await hub.call("bad", "work", {"number": 3}, on_progress=fail)).text == "done"


async def test_cancelling_the_caller_tells_the_server(chaos: Chaos, beside: Beside, events: Events) -> None:
    async with beside(chaos()) as hub:
        call = asyncio.create_task(hub.call("bad", "hang"))
        await eventually(lambda: len(events("call")) == 1, 5, "the call's arrival")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually(lambda: "notifications/cancelled" in [each["method"] for each in events("received")])
        assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"


async def test_no_more_calls_run_at_once_than_the_server_may_take(
    chaos: Chaos, beside: Beside, events: Events, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    async with beside(chaos(limits=Limits(concurrency=2))) as hub:
        calls = [asyncio.create_task(hub.call("bad", "wait", {"path": str(gate)})) for _ in range(6)]
        await eventually(lambda: len(events("call")) == 2, 5, "two calls")
        await is_unchanged(lambda: len(events("call")), 0.2)
        gate.touch()
        assert {each.text for each in await asyncio.gather(*calls)} == {"it is there"}
        assert len(events("call")) == 6


async def is_unchanged(value: Any, seconds: float) -> None:
    """Looks for a while whether something happens that must not."""
    first, end = value(), time.monotonic() + seconds
    while time.monotonic() < end:
        assert value() == first
        await asyncio.sleep(0.01)


# -- it asks back --------------------------------------------------------------------------------------------------


async def test_what_a_server_asks_in_a_call_reaches_the_callbacks(chaos: Chaos, beside: Beside) -> None:
    asked: list[tuple[str, str]] = []

    async def elicit(server: str, params: Any) -> dict[str, Any]:
        asked.append((server, params.message))
        return {"action": "accept", "content": {"colour": "green"}}

    def sample(server: str, params: Any) -> dict[str, Any]:
        asked.append((server, params.messages[0].content.text))
        return {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}

    callbacks = Callbacks(elicit=elicit, sample=sample, roots=lambda server: ["/srv/ä"])
    async with beside(chaos(), callbacks=callbacks) as hub:
        assert_says((await hub.call("bad", "ask", {"kind": "elicitation"})).text, '"colour": "green"')
        assert_says((await hub.call("bad", "ask", {"kind": "sampling"})).text, '"hello"')
        assert_says((await hub.call("bad", "ask", {"kind": "roots"})).text, "file:///srv/%C3%A4")
        assert asked == [("bad", "Which colour?"), ("bad", "Say hello.")]


@pytest.mark.parametrize("kind", ["elicitation", "sampling", "roots"])
async def test_what_nobody_answers_is_refused_and_not_left_hanging(kind: str, chaos: Chaos, beside: Beside) -> None:
    with within(5):
        async with beside(chaos()) as hub:
            assert_says((await hub.call("bad", "ask", {"kind": kind})).text, '"answer": null', '"error": {')


async def test_a_callback_that_fails_is_an_error_for_the_server_and_not_the_end(chaos: Chaos, beside: Beside) -> None:
    def fail(*_: object) -> None:
        raise ValueError("nobody is at home")

    with within(5):
        async with beside(chaos(), callbacks=Callbacks(elicit=fail)) as hub:
            assert_says((await hub.call("bad", "ask", {"kind": "elicitation"})).text, '"error": {')
            assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"


async def test_a_person_who_thinks_is_not_a_server_that_hangs(chaos: Chaos, beside: Beside) -> None:
    async def elicit(server: str, params: Any) -> dict[str, Any]:
        await asyncio.sleep(1.5)  # longer than the call may take without a sign of life
        return {"action": "decline"}

    async with beside(chaos(limits=HASTY), callbacks=Callbacks(elicit=elicit)) as hub:
        assert_says((await hub.call("bad", "ask", {"kind": "elicitation"})).text, "decline")


async def test_a_death_while_a_person_is_asked_ends_the_call_and_the_question(chaos: Chaos, beside: Beside) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def elicit(server: str, params: Any) -> dict[str, Any]:
        asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            left.set()
        return {"action": "decline"}

    with within(6):
        async with beside(chaos(), callbacks=Callbacks(elicit=elicit)) as hub:
            call = asyncio.create_task(hub.call("bad", "ask", {"kind": "elicitation"}))
            await asyncio.wait_for(asked.wait(), 5)
            pid = hub.status["bad"].pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            assert (await call).failure == "outcome_unknown"
            await asyncio.wait_for(left.wait(), 5)


async def test_a_flood_of_news_and_log_lines_drowns_nobody(chaos: Chaos, beside: Beside, events: Events) -> None:
    logged: list[Any] = []
    callbacks = Callbacks(log=lambda server, level, data: logged.append(data))
    with within(20):
        async with beside(chaos(), callbacks=callbacks) as hub:
            assert (await hub.call("bad", "flood", {"number": 3000})).text == "flooded"
            await eventually(lambda: logged == list(range(3000)), 10, "every log line in its order")
            assert (await hub.call("bad", "echo", {"text": "next"})).text == "next"
            assert len([each for each in events("received") if each["method"] == "tools/list"]) < 300


async def test_functions_of_ours_that_fail_on_news_cost_nothing(chaos: Chaos, beside: Beside) -> None:
    def fail(*_: object) -> None:
        raise ValueError("not now")

    async with beside(chaos(), callbacks=Callbacks(log=fail, changed=fail)) as hub:
        assert (await hub.call("bad", "flood", {"number": 1})).text == "flooded"
        assert (await hub.call("bad", "change", {"text": "late"})).text == "changed"
        await eventually(lambda: names(hub) == [*NAMES, "late"])
        assert (await hub.call("bad", "late")).text == "late ran"
        assert hub.status["bad"].restarts == 0


async def test_a_call_that_hangs_on_a_server_without_a_handshake_is_cancelled_there(
    modern: Chaos, beside: Beside, events: Events
) -> None:
    async with beside(modern(limits=Limits(connect=20, call=0.4))) as hub:
        assert (await hub.call("modern", "hang")).failure == "timed_out"
        await eventually(lambda: len(events("cancelled")) == 1, 5, "the cancellation")
        assert (await hub.call("modern", "echo", {"text": "next"})).text == "next"


async def test_a_server_without_a_handshake_gets_its_input_in_the_middle_of_a_call(
    modern: Chaos, beside: Beside, events: Events
) -> None:
    callbacks = Callbacks(
        elicit=lambda server, params: {"action": "accept", "content": {"colour": "blue"}},
        sample=lambda server, params: {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"},
        roots=lambda server: ["/srv"],
    )
    async with beside(modern(), callbacks=callbacks) as hub:
        assert (hub.status["modern"].protocol, hub.status["modern"].instructions) == ("2026-07-28", "Be modern.")
        assert (await hub.call("modern", "paint", {"thing": "wall"})).text == "wall is blue"
        assert [each["key"] for each in events("count")] == ["wall blue"]
        assert (await hub.call("modern", "greet")).text == "m says hi"
        assert (await hub.call("modern", "places")).text == "file:///srv"


async def test_a_server_without_a_handshake_tells_of_new_tools(modern: Chaos, beside: Beside) -> None:
    async with beside(modern()) as hub:
        assert (await hub.call("modern", "change", {"text": "late"})).text == "changed"
        await eventually(lambda: "late" in names(hub, "modern"), 5, "the new tool")
        assert (await hub.call("modern", "late", {"text": "hello"})).text == "hello"


# -- what it is given ----------------------------------------------------------------------------------------------


async def test_a_server_gets_a_path_and_its_own_variables_and_none_of_our_secrets(
    chaos: Chaos, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "hush")
    async with beside(chaos(env={"GIVEN": "yes"})) as hub:
        seen = {
            key: (await hub.call("bad", "environment", {"key": key})).text for key in ("PATH", "GIVEN", "MY_API_KEY")
        }
        assert seen == {"PATH": os.environ["PATH"], "GIVEN": "yes", "MY_API_KEY": ""}


# -- its end -------------------------------------------------------------------------------------------------------


async def test_a_server_that_ignores_the_end_of_its_input_and_sigterm_is_killed(
    chaos: Chaos, beside: Beside, short_grace: None, token: str
) -> None:
    with within(5):
        async with beside(chaos("ignore_eof", "ignore_term")) as hub:
            assert names(hub) == NAMES
    assert marked(token) == []


async def test_the_default_grace_is_bounded_too(chaos: Chaos, beside: Beside, token: str) -> None:
    with within(8):
        async with beside(chaos("ignore_eof", "ignore_term")):
            pass
    assert marked(token) == []


async def test_a_grandchild_goes_with_its_server(chaos: Chaos, beside: Beside, events: Events, token: str) -> None:
    with within(8):
        async with beside(chaos("grandchild")):
            assert alive(events("grandchild")[0]["pid"])
    assert marked(token) == []


async def test_a_server_behind_a_shell_goes_with_it(
    chaos: Chaos, beside: Beside, token: str, short_grace: None
) -> None:
    inner = chaos("ignore_eof")
    assert inner.command is not None
    words = " ".join([inner.command, *inner.args])
    wrapped = ServerSpec("bad", command="sh", args=("-c", f"{words}; true"), env=inner.env, limits=QUICK)
    with within(6):
        async with beside(wrapped) as hub:
            assert names(hub) == NAMES
            assert len(marked(token)) >= 3
    assert marked(token) == []


async def test_closing_in_the_middle_of_calls_ends_them_and_leaves_nothing(chaos: Chaos, healthy: ServerSpec) -> None:
    hub = connect([chaos(), healthy])
    await hub.open()
    pending = [asyncio.create_task(hub.call("bad", "hang")) for _ in range(5)]
    await asyncio.sleep(0)
    with within(5):
        await hub.close()
        results = await asyncio.gather(*pending)
    assert {each.is_error for each in results} == {True}
