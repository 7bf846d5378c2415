"""The end, at any moment and from anywhere: another task, another thread, twice, in the middle of connecting, by a signal.

Where we are the ones who die (a signal, `kill -9`), a real program is started and killed, and its servers must be gone.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.conftest import Chaos, Events, is_well
from tests.support.processes import TOKEN, alive, eventually, marked, nothing_left, wait_until, within
from toolbridge import Limits, ServerError, ServerSpec, connect, connect_sync


async def test_a_hub_may_be_closed_by_another_task_than_opened_it(healthy: ServerSpec) -> None:
    hub = connect([healthy])
    await asyncio.create_task(hub.open())
    await asyncio.create_task(is_well(hub))
    await asyncio.create_task(hub.close())
    assert hub.status["healthy"].state == "closed"


async def test_hubs_may_be_closed_in_the_order_they_were_opened(healthy: ServerSpec) -> None:
    hubs = [connect([healthy]) for _ in range(3)]
    for hub in hubs:
        await hub.open()
    for index, hub in enumerate(hubs):
        await hub.close()
        for later in hubs[index + 1 :]:
            await is_well(later)


async def test_closing_twice_and_at_once_is_closing(healthy: ServerSpec, token: str) -> None:
    hub = connect([healthy])
    await hub.close()
    await hub.open()
    await asyncio.gather(hub.close(), hub.close(), hub.close())
    await hub.close()
    assert marked(token) == []


async def test_opening_twice_and_at_once_starts_one_process(chaos: Chaos, events: Events) -> None:
    hub = connect([chaos()])
    await asyncio.gather(hub.open(), hub.open())
    await hub.open()
    assert len(events("start")) == 1
    await hub.close()


async def test_a_hub_may_be_opened_again(healthy: ServerSpec, token: str) -> None:
    hub = connect([healthy])
    for _ in range(3):
        async with hub:
            await is_well(hub)
        assert marked(token) == []


async def test_a_call_to_a_closed_hub_is_an_error_of_the_program_and_starts_nothing(
    chaos: Chaos, events: Events
) -> None:
    hub = connect([chaos()])
    async with hub:
        pass
    started = len(events("start"))
    with pytest.raises(ServerError, match="not open"):
        await hub.call("bad", "echo", {"text": "hello"})
    assert len(events("start")) == started


async def test_an_exception_in_the_block_comes_out_as_it_is(healthy: ServerSpec) -> None:
    with pytest.raises(ZeroDivisionError):
        async with connect([healthy]):
            raise ZeroDivisionError


async def test_closing_in_an_except_clause_works(healthy: ServerSpec) -> None:
    hub = connect([healthy])
    await hub.open()
    try:
        {}["nothing"]
    except KeyError:
        await hub.close()


@pytest.mark.parametrize("words", ["silent=initialize", "silent=tools/list", "delay=30", "deaf"])
async def test_cancelling_in_the_middle_of_connecting_leaves_nothing(
    words: str, chaos: Chaos, healthy: ServerSpec, token: str, short_grace: None, events: Events
) -> None:
    hub = connect([chaos(words, limits=Limits(connect=30, list=30)), healthy])
    opening = asyncio.create_task(hub.open())
    await eventually(lambda: len(events("start")) == 1, 5, "the start")
    with within(5):
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await hub.close()
    assert marked(token) == []


async def test_leaving_by_cancellation_leaves_nothing(chaos: Chaos, token: str, events: Events) -> None:
    async def live() -> None:
        async with connect([chaos()]) as hub:
            await hub.call("bad", "hang")

    life = asyncio.create_task(live())
    await eventually(lambda: len(events("call")) == 1, 5, "the call")
    life.cancel()
    with pytest.raises(asyncio.CancelledError):
        await life
    assert marked(token) == []


async def test_closing_while_opening_ends_the_opening(chaos: Chaos, token: str, events: Events) -> None:
    hub = connect([chaos("silent=initialize", limits=Limits(connect=30))])
    opening = asyncio.create_task(hub.open())
    await eventually(lambda: len(events("start")) == 1, 5, "the start")
    with within(5):
        await hub.close()
        await opening
    assert marked(token) == []


async def test_a_hub_that_was_closed_does_not_come_back_by_itself(chaos: Chaos, events: Events, token: str) -> None:
    async with connect([chaos()]) as hub:
        await hub.call("bad", "die", {"number": 1})
    started = len(events("start"))
    end = time.monotonic() + 1.2  # longer than the first pause before a restart
    while time.monotonic() < end:
        assert len(events("start")) == started
        assert marked(token) == []
        await asyncio.sleep(0.05)


async def test_closing_that_is_cancelled_goes_on_to_its_end(chaos: Chaos, token: str) -> None:
    hub = connect([chaos("ignore_eof", "ignore_term")])
    await hub.open()
    closing = asyncio.create_task(hub.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing])
    await eventually(lambda: marked(token) == [], 6, "the end of the server")


async def test_opening_while_closing_ends_in_one_of_the_two(chaos: Chaos, token: str) -> None:
    hub = connect([chaos()])
    await hub.open()
    await asyncio.gather(hub.close(), hub.open())
    await hub.close()
    assert marked(token) == []


async def test_ten_lives_leave_no_more_than_one(chaos: Chaos, healthy: ServerSpec) -> None:
    await live(healthy)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(10):
        await live(healthy)
    gc.collect()
    assert len(gc.get_objects()) - before < 5_000


async def live(healthy: ServerSpec) -> None:
    async with connect([healthy]) as hub:
        await is_well(hub)


def test_a_hub_whose_loop_has_ended_can_still_be_closed(healthy: ServerSpec, token: str) -> None:
    hub = connect([healthy])
    with nothing_left(token):
        asyncio.run(hub.open())
        asyncio.run(hub.close())


# -- from threads --------------------------------------------------------------------------------------------------


def test_the_plain_hub_works_and_closes_from_any_thread(chaos: Chaos, healthy: ServerSpec, token: str) -> None:
    with nothing_left(token):
        hub = connect_sync([chaos(), healthy])
        texts: dict[int, str] = {}

        def call(index: int) -> None:
            texts[index] = hub.call("healthy", "echo", {"text": str(index)}).text

        run_in_threads(hub.open)
        run_in_threads(*(lambda index=index: call(index) for index in range(8)))
        assert texts == {index: str(index) for index in range(8)}
        run_in_threads(hub.close, hub.close)
        hub.close()


def test_the_plain_hub_is_a_context(chaos: Chaos, healthy: ServerSpec, token: str) -> None:
    with nothing_left(token), connect_sync([chaos("exit=3"), healthy]) as hub:
        assert {each.id.server for each in hub.tools} == {"healthy"}
        assert hub.call("healthy", "echo", {"text": "hello"}).text == "hello"
        assert hub.call("bad", "echo", {"text": "hello"}).failure == "unavailable"


def test_the_plain_hub_works_inside_a_running_loop(healthy: ServerSpec, token: str) -> None:
    async def story() -> str:
        with connect_sync([healthy]) as hub:
            return hub.call("healthy", "echo", {"text": "hello"}).text

    with nothing_left(token):
        assert asyncio.run(story()) == "hello"


def test_a_plain_hub_closed_in_the_middle_of_a_call_ends_the_call(chaos: Chaos, token: str, events: Events) -> None:
    failures: list[str | None] = []
    with nothing_left(token):
        hub = connect_sync([chaos()])
        hub.open()
        calling = threading.Thread(target=lambda: failures.append(hub.call("bad", "hang").failure))
        calling.start()
        wait_until(lambda: len(events("call")) == 1, 5, "the call")
        with within(5):
            hub.close()
            calling.join(5)
        assert len(failures) == 1


def test_an_async_hub_closed_by_a_second_event_loop_in_another_thread_leaves_nothing(
    healthy: ServerSpec, token: str
) -> None:
    opened, closed = threading.Event(), threading.Event()
    hub = connect([healthy])

    async def live() -> None:
        await hub.open()
        opened.set()
        await asyncio.to_thread(closed.wait, 10)

    def end() -> None:
        assert opened.wait(10)
        asyncio.run(hub.close())
        closed.set()

    with nothing_left(token):
        run_in_threads(lambda: asyncio.run(live()), end)
        assert closed.is_set()


def run_in_threads(*works: object) -> None:
    """Runs each in a thread of its own, all at once; the first exception comes out."""
    raised: list[BaseException] = []

    def run(work: object) -> None:
        try:
            assert callable(work)
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
        assert not each.is_alive(), "a thread hangs"
    for error in raised:
        raise error


# -- our own death -------------------------------------------------------------------------------------------------

PROGRAM = """
import asyncio, signal, sys
for number in (signal.SIGHUP, signal.SIGTERM):  # whoever runs the tests may have them ignored
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
import toolbridge.servers.process
from toolbridge import Limits, ServerSpec, connect, connect_sync

toolbridge.servers.process.GRACE_SECONDS = 0.25

specs = [
    ServerSpec("plain", command=sys.argv[1], args=("-S", "-E", sys.argv[2]), env={"TOOLBRIDGE_TEST_TOKEN": sys.argv[3]}),
    ServerSpec(
        "stubborn",
        command=sys.argv[1],
        args=("-S", "-E", sys.argv[2], "ignore_eof", "ignore_term", "grandchild"),
        env={"TOOLBRIDGE_TEST_TOKEN": sys.argv[3]},
    ),
]
"""

WAITS = {
    "in a block": """
async def main():
    async with connect(specs) as hub:
        print("ready", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
""",
    "in a call": """
async def main():
    async with connect(specs) as hub:
        print("ready", flush=True)
        await hub.call("plain", "hang")
asyncio.run(main())
""",
    "in a plain block": """
import time
with connect_sync(specs) as hub:
    print("ready", flush=True)
    time.sleep(60)
""",
    "in a plain call": """
with connect_sync(specs) as hub:
    print("ready", flush=True)
    hub.call("plain", "hang")
""",
}
FORGETS = {
    "an async hub": """
async def main():
    hub = connect(specs)
    await hub.open()
    print("ready", flush=True)
asyncio.run(main())
""",
    "a plain hub": """
hub = connect_sync(specs)
hub.open()
print("ready", flush=True)
""",
}


@contextmanager
def program(text: str, token: str, tmp_path: Path) -> Generator[subprocess.Popen[str]]:
    """A real program that uses a hub, as far as it says that it is ready."""
    place = tmp_path / "program.py"
    place.write_text(PROGRAM + text, encoding="utf-8")
    server = Path(__file__).parent / "chaos" / "stdio_server.py"
    process = subprocess.Popen(
        [sys.executable, str(place), sys.executable, str(server), token],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={key: value for key, value in os.environ.items() if key != TOKEN},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        try:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            yield process
        finally:
            process.kill()
            process.wait(10)


@pytest.mark.parametrize("where", WAITS)
def test_control_c_ends_the_program_and_its_servers(where: str, token: str, tmp_path: Path) -> None:
    with nothing_left(token, 8), program(WAITS[where], token, tmp_path) as process:
        assert len(marked(token)) == 3, "two servers and a grandchild"
        process.send_signal(signal.SIGINT)
        process.wait(10)
        assert process.returncode in (-signal.SIGINT, 130, 1)
        assert process.stderr is not None
        error = process.stderr.read()
        assert "KeyboardInterrupt" in error.splitlines()[-1], error
        assert "Task was destroyed" not in error
        assert "Event loop is closed" not in error


@pytest.mark.parametrize("where", ["in a call", "in a plain call"])
def test_an_impatient_control_c_leaves_nothing_either(where: str, token: str, tmp_path: Path) -> None:
    with nothing_left(token, 8), program(WAITS[where], token, tmp_path) as process:
        for _ in range(4):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)  # the time between two strokes
        process.wait(10)
        wait_until(lambda: marked(token) == [], 6, "the servers' end")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_when_we_are_killed_our_servers_are_gone_within_seconds(
    number: signal.Signals, token: str, tmp_path: Path
) -> None:
    with nothing_left(token, 8), program(WAITS["in a call"], token, tmp_path) as process:
        assert len(marked(token)) == 3, "two servers and a grandchild"
        process.send_signal(number)
        process.wait(10)
        wait_until(lambda: marked(token) == [], 6, "the servers' end")


@pytest.mark.parametrize("kind", FORGETS)
def test_a_program_that_forgets_to_close_ends_and_its_servers_too(kind: str, token: str, tmp_path: Path) -> None:
    with nothing_left(token, 8), program(FORGETS[kind], token, tmp_path) as process:
        process.wait(15)
        assert process.returncode == 0, process.stderr and process.stderr.read()
        wait_until(lambda: marked(token) == [], 6, "the servers' end")


def test_a_program_killed_while_it_connects_leaves_nothing(token: str, tmp_path: Path) -> None:
    text = """
specs = [ServerSpec("slow", command=sys.argv[1], args=("-S", "-E", sys.argv[2], "silent=initialize", "ignore_eof"),
                    env={"TOOLBRIDGE_TEST_TOKEN": sys.argv[3]}) for index in range(1)]
async def main():
    hub = connect(specs)
    task = asyncio.create_task(hub.open())
    while hub.status["slow"].state != "connecting":
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)
    print("ready", flush=True)
    await task
asyncio.run(main())
"""
    place = tmp_path / "program.py"
    place.write_text(PROGRAM + text, encoding="utf-8")
    server = Path(__file__).parent / "chaos" / "stdio_server.py"
    with nothing_left(token, 8):
        process = subprocess.Popen(
            [sys.executable, str(place), sys.executable, str(server), token], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process.stdout:
            assert process.stdout.readline() == "ready\n"
            pids = [each.pid for each in marked(token)]
            assert len(pids) == 1
            process.kill()
            process.wait(10)
        wait_until(lambda: not alive(pids[0]), 6, "the server's end")
