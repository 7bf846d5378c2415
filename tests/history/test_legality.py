"""Whatever a history is like, its turns are legal, nothing is lost in silence, and what is legal stays as it is.

Deliberate breakages that these tests caught are listed at the end of this file.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.history.judge import RULES, as_history, as_read, illegal, is_json
from tests.support.random_histories import ORIGINS, crowds, histories, random_history
from toolbridge.history.order import BEGINNING, GO_ON, IN_BETWEEN
from toolbridge.history.turns import Turn, TurnPart, legal_turns
from toolbridge.types import Foreign, Message, Part, Reasoning, Resource, Text, ToolCall, ToolResult

EFFECTS = {
    "result.missing": "changed", "result.orphaned": "changed", "result.duplicate": "narrowed", "result.moved": "changed",
    "result.empty": "changed", "result.cut": "narrowed", "id.spelt": "changed", "id.reused": "changed", "name.spelt": "changed",
    "reasoning.dropped": "narrowed", "foreign.dropped": "narrowed", "opaque.dropped": "narrowed",
    "image.described": "narrowed", "audio.described": "narrowed", "resource.described": "narrowed", "link.said": "changed",
    "image.after": "changed", "audio.after": "changed", "resource.after": "changed", "image.unreadable": "narrowed",
    "audio.unreadable": "narrowed", "resource.unreadable": "narrowed", "mime.corrected": "changed",
    "uri.dropped": "narrowed", "character.replaced": "narrowed", "structured.dropped": "narrowed",
    "system.moved": "changed", "messages.merged": "changed", "message.empty": "narrowed", "message.inserted": "changed",
    "message.split": "changed", "error.said": "changed", "arguments.wrapped": "changed", "call.misplaced": "changed",
}  # fmt: skip
EITHER = {"part.misplaced": {"changed", "narrowed"}}

some = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
named_rules = st.sampled_from(sorted(RULES))
targets = st.sampled_from(ORIGINS)
models = st.sampled_from(["small-1", "large-2", ""])


def is_trusted(message: Message, origin: str, model: str) -> bool:
    return origin != "" and message.origin == origin and (not model or message.model in ("", model))


def parts_of(turns: Sequence[Turn]) -> list[TurnPart]:
    return [part for turn in turns for part in turn.parts]


def whole(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def is_within(few: Sequence[Any], many: Sequence[Any]) -> bool:
    """Whether all of the few are among the many, in their order."""
    rest = iter(many)
    return all(any(each == other for other in rest) for each in few)


@some
@given(histories(), named_rules, targets, models)
@example([], "one call", "anthropic", "")
@example([Message.system("only")], "two calls", "anthropic", "")
@example([Message.system("only")], "flags and media", "anthropic", "")
def test_every_history_becomes_legal(history: list[Message], rules: str, origin: str, model: str) -> None:
    made = legal_turns(history, RULES[rules], origin, model)
    assert illegal(made.value, RULES[rules]) == []


@some
@given(histories(), named_rules, targets, models)
def test_what_is_legal_stays_as_it_is_and_there_are_no_notes(
    history: list[Message], rules: str, origin: str, model: str
) -> None:
    # Only what an assistant says comes from a model. Two system messages that did would be joined under the model of the
    # first, and the second time the opaque values of the other would be taken for a stranger's and dropped.
    history = [replace(each, origin="", model="") if each.role == "system" else each for each in history]
    turns = legal_turns(history, RULES[rules], origin, model).value
    again = legal_turns(as_history(turns, RULES[rules], origin), RULES[rules], origin, model)
    assert again.value == as_read(turns, RULES[rules])
    assert again.notes == ()


@some
@given(histories(), named_rules, targets, models)
def test_equal_histories_give_equal_turns_and_are_not_touched(
    history: list[Message], rules: str, origin: str, model: str
) -> None:
    before = [deepcopy(_plain(message)) for message in history]
    assert legal_turns(history, RULES[rules], origin, model) == legal_turns(tuple(history), RULES[rules], origin, model)
    assert [_plain(message) for message in history] == before


def _plain(message: Message) -> Any:
    return [
        (each.id, each.name, each.text, each.arguments) if isinstance(each, ToolCall) else repr(each)
        for each in message.parts
    ]


@some
@given(histories(), named_rules, targets, models)
def test_reasoning_and_what_is_foreign_go_to_their_origin_whole_and_to_nobody_else(
    history: list[Message], rules: str, origin: str, model: str
) -> None:
    made = legal_turns(history, RULES[rules], origin, model)
    trusted = [message for message in history if is_trusted(message, origin, model)]
    thought = [
        (each.text, each.opaque)
        for message in trusted
        if message.role == "assistant" and RULES[rules].reasoning
        for each in message.parts
        if isinstance(each, Reasoning)
    ]
    foreign = [
        (each.kind, each.opaque)
        for message in trusted
        if message.role != "system"
        for each in message.parts
        if isinstance(each, Foreign)
    ]
    sent = parts_of(made.value)
    found = [(each.text, each.opaque) for each in sent if isinstance(each, Reasoning)]
    if RULES[rules].replayable is None:
        assert found == thought
    assert is_within(found, thought)
    every = [part for message in history for part in message.parts if isinstance(part, Reasoning)]
    gone = [
        note.path
        for note in made.notes
        if note.code == "reasoning.dropped" or (note.code, note.effect) == ("part.misplaced", "narrowed")
    ]
    assert len(gone) == len(set(gone)) == len(every) - len(found)
    assert [(each.kind, each.opaque) for each in sent if isinstance(each, Foreign)] == foreign


@some
@given(histories(), named_rules, targets, models)
def test_calls_keep_their_order_and_all_that_is_legal_about_them(
    history: list[Message], rules: str, origin: str, model: str
) -> None:
    made = legal_turns(history, RULES[rules], origin, model)
    wanted = [(message, part) for message in history for part in message.calls]
    written = [part for part in parts_of(made.value) if isinstance(part, ToolCall)]
    assert len(written) == len(wanted)
    seen: set[str] = set()
    for (message, call), other in zip(wanted, written, strict=True):
        if RULES[rules].ids.allows(call.id) and call.id not in seen:
            assert other.id == call.id
        seen.add(call.id)
        if RULES[rules].names.allows(call.name):
            assert other.name == call.name
        assert other.opaque == (call.opaque if is_trusted(message, origin, model) else {})
        if call.arguments is None:
            assert other.arguments == {"INVALID_JSON": whole(call.text)}
        elif is_json(call.text, call.arguments):
            assert (other.text, other.arguments) == (call.text, call.arguments)


@some
@given(histories(), named_rules, targets, models)
def test_no_text_is_lost_and_nobody_is_given_the_words_of_another(
    history: list[Message], rules: str, origin: str, model: str
) -> None:
    made = legal_turns(history, RULES[rules], origin, model)
    for role in ("system", "user", "assistant"):
        said = [
            whole(part.text)
            for message in history
            if message.role == role
            for part in message.parts
            if isinstance(part, Text) and part.text.strip()
        ]
        sent = [part.text for turn in made.value if turn.role == role for part in turn.parts if isinstance(part, Text)]
        assert is_within(said, sent)
        if role == "assistant":
            rest = Counter(sent)
            rest.subtract(said)
            assert all(
                text.startswith("[") or text == IN_BETWEEN or not text.strip() for text, count in rest.items() if count
            )


@some
@given(histories(), named_rules, targets, models)
def test_notes_are_known_and_point_into_the_history(
    history: list[Message], rules: str, origin: str, model: str
) -> None:
    for note in legal_turns(history, RULES[rules], origin, model).notes:
        assert note.effect in EITHER.get(note.code, {EFFECTS.get(note.code)}), note
        if not note.path:
            assert note.code == "message.inserted"
            continue
        _, index, *rest = note.path.split("/")
        message = history[int(index)]
        if rest:
            assert rest[0] == "parts"
            part = message.parts[int(rest[1])]
            if rest[2:3] == ["content"]:
                assert isinstance(part, ToolResult)
                assert part.content[int(rest[3])]


@some
@given(histories(), named_rules, targets, models)
def test_where_there_are_no_notes_nothing_has_changed(
    history: list[Message], rules: str, origin: str, model: str
) -> None:
    made = legal_turns(history, RULES[rules], origin, model)
    tellers = {note.path.split("/")[1] if note.path else "" for note in made.notes}
    sent = Counter(_essence(part, turn.role) for turn in made.value for part in turn.parts if not is_silent(part))
    told = Counter(
        _essence(part, message.role)
        for index, message in enumerate(history)
        if str(index) not in tellers
        for part in message.parts
        if not is_silent(part)
    )
    assert told - sent == Counter()
    if not made.notes and not any(isinstance(part, Resource) for message in history for part in message.parts):
        assert sent == told


def is_silent(part: Part) -> bool:
    """Whether there is no note of what happens to a part: a file's text may be said, and nothing is lost by it."""
    match part:
        case Text():
            return not part.text.strip() and not part.opaque
        case Resource():
            return part.text is not None
        case _:
            return isinstance(part, ToolResult)


def _essence(part: Any, role: str) -> str:
    """A part and who said it, without the text of a call, which may be written anew."""
    if isinstance(part, ToolCall):
        return repr((role, part.id, part.name, part.arguments, dict(part.opaque)))
    return repr((role, part, dict(getattr(part, "opaque", {}))))


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────


def marked(history: Sequence[Message]) -> list[Message]:
    """The history with results that can be told apart: each says its place."""

    def mark(part: Part, place: str) -> Part:
        return ToolResult(part.call_id, (Text(f"<<{place}>>"),)) if isinstance(part, ToolResult) else part

    return [
        replace(message, parts=tuple(mark(part, f"{i}.{j}") for j, part in enumerate(message.parts)))
        for i, message in enumerate(history)
    ]


def belonging(history: Sequence[Message]) -> tuple[dict[tuple[int, int], str], list[str], list[str]]:
    """What belongs together, found the slow way: (the mark of each call's result, the orphans, the duplicates)."""
    places = [(i, j, part) for i, message in enumerate(history) for j, part in enumerate(message.parts)]
    results: dict[tuple[int, int], str] = {}
    early: list[tuple[str, str]] = []
    duplicates: list[str] = []
    for at, (i, j, part) in enumerate(places):
        if not isinstance(part, ToolResult):
            continue
        before = [(m, n) for m, n, each in places[:at] if isinstance(each, ToolCall) and each.id == part.call_id]
        free = [place for place in before if place not in results]
        if free:
            latest = max(m for m, _ in free)
            results[min(place for place in free if place[0] == latest)] = f"{i}.{j}"
        elif before:
            duplicates.append(f"{i}.{j}")
        else:
            early.append((part.call_id, f"{i}.{j}"))
    orphans: list[str] = []
    for id, mark in early:
        free = [
            (m, n) for m, n, each in places if isinstance(each, ToolCall) and each.id == id and (m, n) not in results
        ]
        if free:
            results[free[0]] = mark
        else:
            orphans.append(mark)
    return results, orphans, duplicates


@some
@given(crowds() | histories(20), named_rules, targets)
def test_every_result_stands_behind_its_own_call(history: list[Message], rules: str, origin: str) -> None:
    history = marked(history)
    results, orphans, duplicates = belonging(history)
    made = legal_turns(history, RULES[rules], origin)
    calls = [
        (i, j)
        for i, message in enumerate(history)
        for j, part in enumerate(message.parts)
        if isinstance(part, ToolCall)
    ]
    answers = [answer for turn in made.value for answer in turn.answers]
    for place, answer in zip(calls, answers, strict=True):
        if place in results:
            assert (answer.text, answer.is_error) == (f"<<{results[place]}>>", False)
        else:
            assert answer.is_error
            assert "not available" in answer.text
    said = "\n".join(
        part.text for turn in made.value if turn.role == "user" for part in turn.parts if isinstance(part, Text)
    )
    assert re.findall(r"<<(\d+\.\d+)>>", said) == orphans
    noted = Counter(note.code for note in made.notes)
    assert noted["result.missing"] == len(calls) - len(results)
    assert noted["result.orphaned"] == len(orphans)
    assert [note.before for note in made.notes if note.code == "result.duplicate"] == [
        f"<<{each}>>" for each in duplicates
    ]


@some
@given(crowds() | histories(20), named_rules, targets)
def test_a_result_is_moved_only_where_something_was_said_before_it(
    history: list[Message], rules: str, origin: str
) -> None:
    history = marked(history)
    results, _, _ = belonging(history)
    moved = {note.path for note in legal_turns(history, RULES[rules], origin).notes if note.code == "result.moved"}
    where = {mark: place for place, mark in results.items()}
    for mark, call in where.items():
        index, number = map(int, mark.split("."))
        path = f"/{index}/parts/{number}"
        between = history[call[0] + 1 : index]
        if call > (index, number) or any(
            message.role in ("user", "assistant") and whole(message.text).strip() for message in between
        ):
            assert path in moved
        elif (
            history[call[0]].role == "assistant"
            and not any(isinstance(part, ToolResult) for part in history[call[0]].parts)
            and all(message.role == "tool" and not message.calls for message in history[call[0] + 1 : index + 1])
        ):
            assert path not in moved


@some
@given(histories(20), named_rules, targets)
def test_media_that_follow_results_stand_right_behind_them_under_the_call_they_are_from(
    history: list[Message], rules: str, origin: str
) -> None:
    made = legal_turns(history, RULES[rules], origin)
    results = {note.path.partition("/content")[0] for note in made.notes if note.code.endswith(".after")}
    found = 0
    for former, latter in pairwise(turn for turn in made.value if turn.parts != (Text(IN_BETWEEN),)):
        for part, following in pairwise(latter.parts):
            whose = (
                re.fullmatch(r"\[From the result of (.+) \(call id (.+)\):\]", part.text)
                if isinstance(part, Text)
                else None
            )
            if whose:
                assert whose.groups() in [(answer.call.name, answer.call.id) for answer in former.answers]
                assert not isinstance(following, Text)
                found += 1
    assert found == len(results)


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────

SIZE = 20_000

LIMIT_SECONDS = 10
"""Of processor time. It takes one or two; a walk that looks back at every step takes fifteen."""


def call(id: str) -> ToolCall:
    return ToolCall(id, "search", "{}", {})


HARD: dict[str, Callable[[], list[Message]]] = {
    "a conversation": lambda: random_history(1, SIZE),
    "one id, all calls before all results": lambda: [
        *(Message.assistant(call("same")) for _ in range(SIZE)),
        *(Message.results(ToolResult("same", (Text("done"),))) for _ in range(SIZE)),
    ],
    "one id in one message": lambda: [
        Message.assistant(*[call("") for _ in range(SIZE)]),
        Message.results(*[ToolResult("", (Text("done"),)) for _ in range(SIZE)]),
    ],
    "results before their calls": lambda: [
        *(Message.results(ToolResult(f"id {i}", (Text("done"),))) for i in range(SIZE)),
        *(Message.assistant(call(f"id {i}")) for i in range(SIZE)),
    ],
    "nothing but orphans": lambda: [Message.results(ToolResult("lost", (Text("x"),))) for _ in range(SIZE)],
    "nothing but the user": lambda: [Message.user("x") for _ in range(SIZE)],
    "nothing but the system": lambda: [Message.system("x") for _ in range(SIZE)],
    "nothing at all": lambda: [Message("user", ()) for _ in range(SIZE)],
}


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("rules", ["one call", "nine letters"])
def test_a_long_history_costs_no_more_than_its_length(kind: str, rules: str) -> None:
    history = HARD[kind]()
    started = time.process_time()
    made = legal_turns(history, RULES[rules], "anthropic")
    assert time.process_time() - started < LIMIT_SECONDS
    assert illegal(made.value, RULES[rules]) == []


def test_nothing_said_by_us_stands_where_nothing_was_missing() -> None:
    history = [Message.user("hello"), Message.assistant("hello"), Message.user("bye")]
    for rules in RULES.values():
        made = legal_turns(history, rules, "anthropic")
        assert not {BEGINNING, GO_ON, IN_BETWEEN} & {
            part.text for part in parts_of(made.value) if isinstance(part, Text)
        }


BREAKAGES = """
Caught here: parallel calls of one id are answered in reverse · a result goes to the earliest call of its id · a doubled
result is an orphan · an orphan is lost · every use of an id keeps it · names are not spelt · a broken call has no
arguments · a call's text is kept though its arguments are others · any model, or any origin, gets opaque values · those
of calls go to everybody · a user's reasoning is sent · every result is moved, or none · a user's media go by the rules of
results · media that should follow results are lost · system text stays in its place · turns merge over answers, or lose
them, or do not merge · the assistant has the last word · one call too many · a split message loses its end · pairs are
looked for from the start each time.

Caught by `test_turns` and `test_ids` alone: a result before its calls takes one that is answered · what is said after a
result moves before it · an id is made that a later call has · two made ids are the same · `true` is taken for `1` · an
error is no error · notes are missing, doubled, mixed up, or point elsewhere · structured content is lost · half of a
character is sent · system messages merge · parts of a split message forget their model.
"""
