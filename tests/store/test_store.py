"""What every store promises, for each of them: what was kept comes back, in one piece, from whoever wrote it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import Place
from tests.store.writer import BATCH, TURN
from tests.support.histories import HISTORIES
from tests.support.transcripts import problems
from toolbridge import HistoryError, Message, Text, ToolCall, ToolResult, get_provider
from toolbridge.errors import StoreError, StoreFailure
from toolbridge.store.store import Kept, KeptPause, Summary
from toolbridge.types import Reasoning

WRITER = str(Path(__file__).with_name("writer.py"))
HELLO = (Message.user("Hello\nthere"), Message.assistant("Hi."))


async def fails(work: Awaitable[Any], kind: StoreFailure) -> str:
    with pytest.raises(StoreError) as raised:
        await work
    assert (raised.value.kind, str(raised.value).count("\n")) == (kind, 0)
    return str(raised.value)


async def test_what_was_appended_comes_back_with_its_version_title_and_time(anywhere: Place) -> None:
    async with anywhere.open() as store:
        before = time.time()
        assert await store.load("garden") == Kept()
        assert await store.append("garden", HELLO) == 2
        assert await store.append("garden", [Message.user("More")]) == 3
        kept = await store.load("garden")
        assert before <= kept.changed <= time.time()
        assert kept == Kept((*HELLO, Message.user("More")), 3, "Hello", kept.changed, ())


async def test_every_kind_of_history_comes_back_as_it_was(anywhere: Place) -> None:
    async with anywhere.open() as store:
        for name, history in HISTORIES.items():
            await store.append(name, history)
        for name, history in HISTORIES.items():
            kept = await store.load(name)
            assert (name, kept.messages, kept.notes) == (name, history, ())


async def test_texts_of_any_kind_come_back_as_they_were(anywhere: Place) -> None:
    texts = ("", "Grüße 雨 \U0001f326", "half \ud83c and \udf26 the other", "\0 nul", '"quoted" \\ \r\n', "\u2028")
    opaque = {
        "signature": "\udc00",
        "bytes": b"\xff\0",
        "nothing": None,
        "number": float("inf"),
        "deep": [[{"$bytes": "no"}]],
    }
    said = [Message("assistant", (Text(text), Reasoning(text, opaque)), "anthropic", "\ud800") for text in texts]
    async with anywhere.open() as store:
        for name in ("garden", "Gärten/雨 \U0001f326", "half \ud83c", "a:b*?[x]\n\0c", " ", "x" * 2000):
            await store.append(name, [Message.user(name), *said])
            await store.rename(name, name)
            kept = await store.load(name)
            assert (kept.messages, kept.title) == ((Message.user(name), *said), name)
            assert (await store.list())[0] == Summary(name, name, len(texts) + 1, kept.changed)
        assert len(await store.list()) == 6


async def test_a_conversation_without_a_name_is_a_mistake_of_the_caller(anywhere: Place) -> None:
    async with anywhere.open() as store:
        with pytest.raises(ValueError, match="is empty"):
            await store.append("", HELLO)


async def test_a_message_of_ten_megabytes_comes_back(anywhere: Place) -> None:
    message = Message.results(ToolResult("call_1", (Text("é" * 5_000_000),)))
    async with anywhere.open() as store:
        await store.append("big", [message])
        assert (await store.load("big")).messages == (message,)


async def test_an_append_takes_no_longer_where_much_is_kept_already(shared: Place) -> None:
    async with shared.open() as store:
        await store.append("long", [Message.user("x")] * 100_000)
        start = time.monotonic()
        for number in range(20):
            assert await store.append("long", HELLO) == 100_002 + 2 * number
        assert time.monotonic() - start < 8  # to read what is there twenty times takes half a minute
        await store.delete("long")


async def test_what_cannot_be_written_as_json_is_refused_and_nothing_of_it_is_kept(anywhere: Place) -> None:
    async with anywhere.open() as store:
        wrong = Message.assistant(ToolCall("call_1", "f", "", {"a": object()}))
        with pytest.raises(HistoryError, match="object is no JSON"):
            await store.append("it", [*HELLO, wrong])
        assert (await store.load("it"), await store.list()) == (Kept(), ())


async def test_an_append_after_another_version_is_a_conflict_and_writes_nothing(anywhere: Place) -> None:
    async with anywhere.open() as store:
        assert await store.append("it", HELLO, after=0) == 2
        for after in (0, 1, 3):
            assert await fails(store.append("it", HELLO, after=after), "conflict") == (
                f"conversation 'it': it has 2 messages, and {after} were expected: somebody else wrote to it; "
                "load it again"
            )
        await fails(store.append("new", HELLO, after=1), "conflict")
        assert await store.append("it", [], after=2) == 2
        assert await store.append("new", []) == 0
        assert [(each.conversation, each.version) for each in await store.list()] == [("it", 2)]
        assert (await store.load("it")).messages == HELLO


async def test_an_append_that_is_sent_again_under_its_name_is_kept_once(anywhere: Place) -> None:
    async with anywhere.open() as store:
        assert await store.append("it", HELLO, once="a\ud800") == 2
        assert await store.append("it", [Message.user("More")], once="b") == 3
        assert await store.append("it", HELLO, once="a\ud800", after=0) == 3
        assert await store.append("other", HELLO, once="b") == 2
        await fails(store.append("it", HELLO, once="c", after=0), "conflict")
        assert await store.append("it", HELLO, once="c") == 5
        assert (await store.load("it")).messages == (*HELLO, Message.user("More"), *HELLO)
        await store.delete("it")
        assert await store.append("it", HELLO, once="b") == 2


async def test_an_append_that_was_cancelled_can_be_sent_again(anywhere: Place) -> None:
    async with anywhere.open() as store:
        for number in range(10):
            task = asyncio.ensure_future(store.append("it", HELLO, once=str(number)))
            await asyncio.wait([task], timeout=number / 5000)
            task.cancel()
            await asyncio.wait([task])
            assert await store.append("it", HELLO, once=str(number)) == 2 * (number + 1)


async def test_of_many_that_append_after_one_version_one_succeeds(shared: Place) -> None:
    stores = [shared.open() for _ in range(4)]
    try:
        await stores[0].append("it", HELLO)
        tried = [store.append("it", [Message.user(str(n))], after=2) for n, store in enumerate(stores * 4)]
        done = await asyncio.gather(*tried, return_exceptions=True)
        assert [each for each in done if not isinstance(each, StoreError)] == [3]
        assert {each.kind for each in done if isinstance(each, StoreError)} == {"conflict"}
        assert (await stores[0].load("it")).version == 3
    finally:
        for store in stores:
            await store.close()


async def test_the_list_has_what_was_written_last_first(anywhere: Place) -> None:
    async with anywhere.open() as store:
        assert await store.list() == ()
        for name in ("one", "two", "three", "one"):
            await store.append(name, [Message.system("Be brief."), Message.user(f"{name} " + "long " * 30)])
        found = await store.list()
        title = "one " + "long " * 11
        assert [(each.conversation, each.version) for each in found] == [("one", 4), ("three", 2), ("two", 2)]
        assert (found[0].title, len(found[0].title)) == (title[:59].rstrip() + "…", 59)


async def test_a_title_can_be_given_and_stays(anywhere: Place) -> None:
    async with anywhere.open() as store:
        await store.append("it", [Message.assistant("Welcome.")])
        assert (await store.load("it")).title == ""
        await store.append("it", HELLO)
        assert (await store.load("it")).title == "Hello"
        await store.rename("it", "Roses")
        await store.append("it", [Message.user("Other")])
        assert ((await store.load("it")).title, (await store.list())[0].title) == ("Roses", "Roses")
        assert await fails(store.rename("other", "x"), "unknown") == "conversation 'other': there is none of this name"


async def test_what_is_deleted_is_gone_with_its_waiting_runs_and_nothing_else(anywhere: Place) -> None:
    async with anywhere.open() as store:
        for name in ("one", "two"):
            await store.append(name, HELLO)
            await store.keep_pause(f"run {name}", {"of": name}, conversation=name)
        await store.delete("one")
        await store.delete("never there")
        assert await store.load("one") == Kept()
        assert [each.conversation for each in await store.list()] == ["two"]
        assert [each.id for each in await store.pauses()] == ["run two"]
        assert await store.take_pause("run one") is None
        assert await store.append("one", HELLO, after=0) == 2


async def test_a_waiting_run_is_taken_once(anywhere: Place) -> None:
    state = {"signed": "é\ud800", "calls": [{"id": 1, "x": None}], "at": 1.5}
    async with anywhere.open() as store:
        await store.keep_pause("a", state, conversation="garden")
        await store.keep_pause("b", {}, conversation="")
        waiting = await store.pauses()
        assert waiting == (
            KeptPause("a", "garden", state, waiting[0].since),
            KeptPause("b", "", {}, waiting[1].since),
        )
        assert await store.pauses("garden") == waiting[:1]
        assert await store.pauses("shed") == ()
        await store.keep_pause("a", {**state, "at": 2}, conversation="garden")
        taken = await asyncio.gather(*(store.take_pause("a") for _ in range(10)))
        assert [each for each in taken if each is not None] == [{**state, "at": 2}]
        assert [each.id for each in await store.pauses()] == ["b"]


async def test_of_two_stores_that_take_a_waiting_run_one_gets_it(shared: Place) -> None:
    async with shared.open() as one, shared.open() as two:
        for number in range(20):
            await one.keep_pause(str(number), {"number": number})
            taken = await asyncio.gather(one.take_pause(str(number)), two.take_pause(str(number)))
            assert [each for each in taken if each is not None] == [{"number": number}]


async def test_a_store_may_be_used_again_after_it_was_closed(shared: Place) -> None:
    store = shared.open()
    await store.close()
    for version in (2, 4):
        assert await store.append("it", HELLO) == version
        await store.close()
        await store.close()


async def test_a_store_that_is_closed_while_others_use_it_fails_none_of_them(shared: Place) -> None:
    store = shared.open()

    async def write(number: int) -> None:
        for _ in range(10):
            await store.append(str(number), HELLO)

    async def close() -> None:
        for _ in range(10):
            await store.close()
            await asyncio.sleep(0)

    await asyncio.gather(*(write(number) for number in range(4)), close(), close())
    assert [each.version for each in await store.list()] == [20] * 4
    await store.close()


def test_a_store_is_used_from_several_event_loops_and_threads(anywhere: Place) -> None:
    store = anywhere.open()

    def write() -> None:
        for _ in range(5):
            asyncio.run(store.append("it", HELLO))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    kept = asyncio.run(store.load("it"))
    asyncio.run(store.close())
    assert (kept.version, kept.messages) == (40, HELLO * 20)


async def test_an_append_that_is_cancelled_is_done_whole_or_not_at_all(anywhere: Place) -> None:
    async with anywhere.open() as store:
        for pause in (0, 0, 0.0005, 0.001, 0.002):
            task = asyncio.ensure_future(store.append("it", [Message.user("x" * 1000)] * 7))
            await asyncio.wait([task], timeout=pause)
            task.cancel()
            await asyncio.wait([task])
        kept = await store.load("it")
        assert kept.version == len(kept.messages) in range(0, 36, 7)


# ── processes ────────────────────────────────────────────────────────────────────────────────────────────────────


def start(place: Place, *arguments: str) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, WRITER, *place.arguments, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=root,
    )


async def test_a_forked_process_uses_the_store_that_its_parent_has_used(shared: Place) -> None:
    program = """
import asyncio, os, sys
from toolbridge.store import open_store
from toolbridge.types import Message
store = open_store(sys.argv[1], prefix=sys.argv[2])
asyncio.run(store.append("it", [Message.user("parent")]))
child = os.fork()
asyncio.run(store.append("it", [Message.user("either")]))
asyncio.run(store.close())
if child:
    sys.exit(os.waitpid(child, 0)[1])
"""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", program, *shared.arguments], timeout=30, check=False)
    assert ran.returncode == 0
    async with shared.open() as store:
        assert [each.text for each in (await store.load("it")).messages] == ["parent", "either", "either"]


async def test_four_processes_that_write_to_one_conversation_lose_nothing_and_do_not_mix(shared: Place) -> None:
    writers = [start(shared, "many", str(number), "50") for number in range(4)]
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0] * 4
    async with shared.open() as store:
        kept = await store.load("shared")
    said = [message.text.split() for message in kept.messages]
    assert (kept.version, kept.notes) == (600, ())
    assert all([each[2] for each in said[i : i + 3]] == ["0", "1", "2"] for i in range(0, 600, 3))
    assert all(said[i][:2] == said[i + 2][:2] for i in range(0, 600, 3))
    for writer in "0123":
        assert [int(number) for name, number, piece in said if name == writer and piece == "0"] == list(range(50))


def kill_after(writer: subprocess.Popen[bytes], lines: int) -> None:
    assert writer.stdout is not None
    with writer.stdout:
        for _ in range(lines):
            assert writer.stdout.readline() == b"kept\n"
        writer.kill()
    writer.wait()


@pytest.mark.parametrize("lines", [2, 3])
async def test_a_turn_whose_process_was_killed_is_a_legal_conversation_for_every_provider(
    shared: Place, lines: int
) -> None:
    kill_after(start(shared, "turn"), lines)
    async with shared.open() as store:
        kept = await store.load("turn")
        assert kept.messages[:lines] == TURN[:lines]
        for again in ((), (Message.user("Are you there?"),)):
            for name in ("openai-chat", "anthropic", "gemini"):
                written = get_provider(name).write_messages((*kept.messages, *again))
                assert problems(name, written.value) == []
        assert await store.append("turn", [Message.user("Are you there?")], after=kept.version) == kept.version + 1


async def test_a_process_killed_while_it_writes_leaves_whole_appends_and_no_lock(shared: Place) -> None:
    for lines in (3, 7):
        kill_after(start(shared, "endless"), lines)
    async with shared.open(wait=5) as store:
        kept = await store.load("endless")
        assert kept.version == len(kept.messages) >= 10 * BATCH
        assert kept.version % BATCH == 0
        assert [message.text.split()[1] for message in kept.messages] == [str(n) for n in range(BATCH)] * (
            kept.version // BATCH
        )
        assert await store.append("endless", HELLO, after=kept.version) == kept.version + 2
