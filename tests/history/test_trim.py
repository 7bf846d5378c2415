"""A history that is too long loses its oldest parts, and what is left is a history with every call beside its result."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_histories import histories, random_history
from toolbridge.history.pairs import pair
from toolbridge.history.trim import trim_history
from toolbridge.notes import Converted, Note
from toolbridge.tokens import CALL_TOKENS, MESSAGE_TOKENS, Counter, estimate, message_tokens
from toolbridge.types import Image, Message, Part, Text, ToolCall, ToolResult

SYSTEM = Message.system("s" * 6)
LINES = "".join(f"line {i:03}\n" for i in range(200))


def asked(text: str) -> Message:
    return Message.user(text)


def call(id: str) -> Message:
    return Message.assistant(ToolCall(id, "t", "{}", {}))


def result(id: str, text: str = "ok") -> Message:
    return Message.results(ToolResult(id, (Text(text),)))


def size(*messages: Message) -> int:
    return sum(message_tokens(each, len) for each in messages)


FIRST = (asked("first"), call("1"), result("1"), Message.assistant("done"))
SECOND = (asked("second"), Message.assistant("yes"))
THIRD = (asked("third"), call("3"), result("3"), call("4"), result("4", "four"))
HISTORY = (SYSTEM, *FIRST, *SECOND, *THIRD)


def test_the_sizes_in_these_tests_are_what_they_are_thought_to_be() -> None:
    assert (size(SYSTEM), size(call("1"), result("1"))) == (MESSAGE_TOKENS + 6, 2 * (MESSAGE_TOKENS + CALL_TOKENS) + 5)


def test_a_history_that_fits_is_left_alone() -> None:
    assert trim_history(HISTORY, size(*HISTORY), len) == Converted(HISTORY)
    assert trim_history([], 0) == Converted(())


def test_whole_turns_go_from_the_oldest_on_and_the_system_stays() -> None:
    assert trim_history(HISTORY, size(*HISTORY) - 1, len) == Converted(
        (SYSTEM, *SECOND, *THIRD), (Note("turns.trimmed", "narrowed", "", 1),)
    )
    assert trim_history(HISTORY, size(SYSTEM, *THIRD), len) == Converted(
        (SYSTEM, *THIRD), (Note("turns.trimmed", "narrowed", "", 2),)
    )


def test_a_turn_that_would_fit_does_not_stay_where_a_newer_one_went() -> None:
    history = (asked("a"), asked("b" * 100), asked("c"))
    assert trim_history(history, size(asked("a"), asked("c")), len).value == (asked("c"),)


def test_what_stands_before_the_first_question_is_the_oldest_turn() -> None:
    history = (Message.assistant("hello"), SYSTEM, asked("a"))
    assert trim_history(history, size(SYSTEM, asked("a")), len) == Converted(
        (SYSTEM, asked("a")), (Note("turns.trimmed", "narrowed", "", 1),)
    )


def test_system_messages_stay_where_they_are_even_among_turns_that_go() -> None:
    history = (asked("a"), SYSTEM, Message.assistant("b"), asked("c"), Message.system("t"), Message.assistant("d"))
    assert trim_history(history, size(SYSTEM, *history[3:]), len).value == (SYSTEM, *history[3:])


def test_in_the_newest_turn_the_oldest_steps_go_each_call_with_its_result() -> None:
    question, *steps = THIRD
    assert trim_history(HISTORY, size(SYSTEM, *THIRD) - 1, len) == Converted(
        (SYSTEM, question, *steps[2:]),
        (Note("turns.trimmed", "narrowed", "", 2), Note("steps.trimmed", "narrowed", "", 1)),
    )


def test_no_more_steps_go_than_must() -> None:
    history = (asked("a"), *(each for i in "12345" for each in (call(i), result(i))))
    budget = size(*history) - size(*history[1:3]) - 1
    assert trim_history(history, budget, len) == Converted(
        (history[0], *history[5:]), (Note("steps.trimmed", "narrowed", "", 2),)
    )


def test_a_step_in_which_the_user_speaks_stays() -> None:
    spoken = Message("user", (ToolResult("1", (Text("ok"),)), Text("and this is from me")))
    history = (asked("a"), call("1"), spoken, call("2"), result("2"))
    assert trim_history(history, 1, len).value == history


def test_a_result_that_comes_late_keeps_its_call() -> None:
    late = (asked("a"), call("1"), asked("hurry"), result("1"), asked("b"))
    assert trim_history(late, size(*late) - 1, len) == Converted(late[4:], (Note("turns.trimmed", "narrowed", "", 1),))
    open_turn = late[:4]
    kept = trim_history(open_turn, 1, len)
    assert kept.value == open_turn
    assert kept.notes == (Note("budget.exceeded", "changed", "", size(*open_turn)),)
    twice = (asked("a"), call("1"), result("1"), asked("b"), result("1"), asked("c"))
    assert trim_history(twice, size(*twice) - 1, len).value == (asked("c"),)
    early = (asked("a"), result("1"), asked("b"), call("1"), asked("c"))
    assert trim_history(early, size(*early) - 1, len).value == (asked("c"),)


def test_steps_that_share_a_result_message_go_together_or_not_at_all() -> None:
    both = Message.results(ToolResult("1", (Text("one"),)), ToolResult("2", (Text("two"),)))
    history = (asked("a"), call("1"), call("2"), both, call("3"), result("3"))
    assert trim_history(history, size(*history) - 1, len) == Converted(
        (history[0], *history[4:]), (Note("steps.trimmed", "narrowed", "", 1),)
    )


def test_where_nothing_else_can_go_long_results_are_cut_from_the_oldest_on() -> None:
    picture = Image("aGk=", "image/png")
    first, second = ToolResult("1", (Text(LINES), picture)), ToolResult("2", (Text(LINES),))
    history = (
        asked("a"),
        Message.assistant(ToolCall("1", "t", "{}", {}), ToolCall("2", "t", "{}", {})),
        Message.results(first, second),
    )
    whole = size(*history)
    cut = trim_history(history, whole - 500, len)
    assert cut.notes == (Note("result.cut", "narrowed", "/2/parts/0", len(LINES)),)
    one, two = cut.value[2].parts
    assert isinstance(one, ToolResult)
    assert one.text.startswith("line 000\nline 001\n")
    assert one.text.endswith(". The rest was cut.]")
    assert one.content[1:] == (picture,)
    assert two == second
    assert whole - 700 < size(*cut.value) <= whole - 500
    both = trim_history(history, whole - 2500, len)
    assert [note.path for note in both.notes] == ["/2/parts/0", "/2/parts/1"]
    assert size(*both.value) <= whole - 2500


def test_a_budget_that_is_too_small_for_what_must_stay_is_told() -> None:
    question = asked("why " * 100)
    assert trim_history((SYSTEM, asked("a"), question), 10, len) == Converted(
        (SYSTEM, question),
        (
            Note("turns.trimmed", "narrowed", "", 1),
            Note("budget.exceeded", "changed", "", size(SYSTEM, question)),
        ),
    )


def test_a_hundred_thousand_messages_are_trimmed_in_seconds() -> None:
    turn = (asked("a question of some words"), call("1"), result("1", "an answer"), Message.assistant("so it is"))
    history = turn * 25_000
    for budget in (1000, 10**9):
        begin = time.process_time()
        trim_history(history, budget)
        assert time.process_time() - begin < 20  # about 2 where nothing else runs
    newest = (asked("a"), *(each for i in range(30_000) for each in (call(str(i)), result(str(i)))))
    begin = time.process_time()
    assert len(trim_history(newest, 1000).value) < 100
    assert time.process_time() - begin < 20


# ── whatever comes ───────────────────────────────────────────────────────────────────────────────────────────────


def characters(text: str) -> int:
    return len(text)


def words(text: str) -> int:
    return len(text.split())


_histories: st.SearchStrategy[Any] = histories(16) | st.builds(
    random_history, st.integers(0, 10**6), st.integers(0, 40)
)
_counters: st.SearchStrategy[Counter] = st.sampled_from([estimate, characters, words])


def acts(message: Message) -> bool:
    return any(isinstance(part, ToolCall | ToolResult) for part in message.parts)


def tagged(history: list[Message]) -> list[Message]:
    """The same messages, each with its number in its `model`, so that they can be told apart."""
    return [Message(each.role, each.parts, each.origin, str(i)) for i, each in enumerate(history)]


@settings(max_examples=300, deadline=None)
@given(_histories, st.integers(0, 3000), _counters)
@example(random_history(1428, 27), 0, estimate)
@example(random_history(131071, 36), 0, estimate)
def test_whatever_the_history_it_fits_or_says_so_and_stays_whole(
    history: list[Message], budget: int, count: Counter
) -> None:
    given_ = tagged(history)
    trimmed = trim_history(given_, budget, count)
    codes = [note.code for note in trimmed.notes]
    used = sum(message_tokens(each, count) for each in trimmed.value)
    assert (used > budget) == ("budget.exceeded" in codes)
    assert trim_history(trimmed.value, budget, count).value == trimmed.value
    kept = [int(each.model) for each in trimmed.value]
    assert kept == sorted(set(kept))
    assert set(kept) >= {i for i, each in enumerate(given_) if each.role == "system" and not acts(each)}
    assert not given_ or kept[-1] == len(given_) - 1
    if not trimmed.notes:
        assert trimmed.value == tuple(given_)
    if "result.cut" not in codes:
        assert all(given_[i] == message for i, message in zip(kept, trimmed.value, strict=True))
    check_pairs(given_, list(trimmed.value), kept)


def check_pairs(history: list[Message], trimmed: list[Message], kept: list[int]) -> None:
    """Every call and every result that is left has the partner that it had."""
    before, after = pair(history), pair(trimmed)
    back = dict(enumerate(kept))
    had = {result: call for result, call in before.calls.items() if result[0] in set(kept) or call[0] in set(kept)}
    has = {(back[result[0]], result[1]): (back[call[0]], call[1]) for result, call in after.calls.items()}
    assert has == had
    assert {(back[i], j) for i, j in after.duplicates} == {
        place for place in before.duplicates if place[0] in set(kept)
    }


@settings(max_examples=100, deadline=None)
@given(_histories, st.integers(0, 2000))
def test_a_larger_budget_keeps_no_less(history: list[Message], budget: int) -> None:
    small, large = (len(trim_history(history, each).value) for each in (budget, budget + 500))
    assert small <= large


@given(st.lists(st.text(max_size=3000), min_size=1, max_size=4), st.integers(100, 2000))
def test_long_results_of_the_newest_step_are_cut_until_it_fits(texts: list[str], budget: int) -> None:
    parts: tuple[Part, ...] = tuple(ToolResult(str(i), (Text(text),)) for i, text in enumerate(texts))
    history = (
        asked("a"),
        Message.assistant(*(ToolCall(str(i), "t", "{}", {}) for i in range(len(texts)))),
        Message("tool", parts),
    )
    trimmed = trim_history(history, budget)
    assert len(trimmed.value) == 3
    used = sum(map(message_tokens, trimmed.value))
    least = sum(map(message_tokens, history[:2])) + MESSAGE_TOKENS + len(texts) * (CALL_TOKENS + 101)
    assert used <= max(budget, least)
