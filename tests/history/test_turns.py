"""A history as turns, case by case: what happens to what stands in the wrong place, is missing, or is another's."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from tests.support.random_histories import PDF_FILE, PNG
from toolbridge.history.drafts import ORPHAN, UNAVAILABLE
from toolbridge.history.media import CUT
from toolbridge.history.order import BEGINNING, FROM_RESULT, GO_ON, IN_BETWEEN
from toolbridge.history.rules import IMAGES, Carries, Rules, id_rule
from toolbridge.history.turns import Answer, Turn, TurnPart, legal_turns
from toolbridge.names import wire_name
from toolbridge.notes import Note
from toolbridge.types import (
    Audio,
    Foreign,
    Image,
    Message,
    Part,
    Reasoning,
    Resource,
    Text,
    ToolCall,
    ToolId,
    ToolResult,
)

FLAGS = Rules(error_flag=True)
STRICT = Rules(system="first", alternate=True, user_first=True, user_last=True, error_flag=True)


def call(id: str, **opaque: Any) -> ToolCall:
    return ToolCall(id, "search", '{"query": "x"}', {"query": "x"}, opaque=opaque)


def result(id: str, text: str = "") -> ToolResult:
    return ToolResult(id, (Text(text or f"result of {id}"),))


def answer(to: ToolCall, text: str = "") -> Answer:
    return Answer(to, (Text(text or f"result of {to.id}"),))


def missing(to: ToolCall) -> Answer:
    return Answer(to, (Text(UNAVAILABLE),), is_error=True)


def asking(*parts: str | TurnPart, answers: tuple[Answer, ...]) -> Turn:
    return Turn("assistant", tuple(Text(part) if isinstance(part, str) else part for part in parts), answers)


def user(*parts: str | TurnPart) -> Turn:
    return Turn("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def said(*texts: str) -> Turn:
    return Turn("assistant", tuple(map(Text, texts)))


def system(*texts: str) -> Turn:
    return Turn("system", tuple(map(Text, texts)))


def orphan(id: str) -> str:
    return ORPHAN.format(id=id)


def check(
    history: list[Message], turns: list[Turn], *notes: Note, rules: Rules = FLAGS, origin: str = "anthropic"
) -> None:
    made = legal_turns(history, rules, origin)
    assert list(made.value) == turns
    assert list(made.notes) == list(notes)


# ── pairs ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rules", [FLAGS, STRICT], ids=["loose", "strict"])
def test_a_legal_history_stays_as_it_is(rules: Rules) -> None:
    a, b = call("a"), call("b")
    check(
        [
            Message.system("Be brief."),
            Message.user("What?"),
            Message.assistant("Let me see.", a, b),
            Message.results(result("a"), result("b")),
            Message.assistant("This."),
            Message.user("Thanks."),
        ],
        [
            system("Be brief."),
            user("What?"),
            asking("Let me see.", a, b, answers=(answer(a), answer(b))),
            said("This."),
            user("Thanks."),
        ],
        rules=rules,
    )


def test_results_stand_in_the_order_of_their_calls_however_they_came() -> None:
    a, b, c = call("a"), call("b"), call("c")
    check(
        [Message.assistant(a, b, c), Message.results(result("c")), Message.results(result("a"), result("b"))],
        [asking(a, b, c, answers=(answer(a), answer(b), answer(c)))],
    )


def test_a_call_without_a_result_is_answered_so_that_nobody_believes_that_it_ran() -> None:
    a, b = call("a"), call("b")
    check(
        [
            Message.assistant(a, b),
            Message.results(result("b")),
            Message.user("Go on."),
            Message.assistant(replace(a, id="c")),
        ],
        [
            asking(a, b, answers=(missing(a), answer(b))),
            user("Go on."),
            asking(replace(a, id="c"), answers=(missing(replace(a, id="c")),)),
        ],
        Note("result.missing", "changed", "/0/parts/0", "a"),
        Note("result.missing", "changed", "/3/parts/0", "c"),
    )


def test_a_missing_result_says_that_it_is_an_error_where_there_is_no_flag() -> None:
    made = legal_turns([Message.assistant(call("a"))], Rules(), "anthropic")
    assert made.value[0].answers == (Answer(call("a"), (Text(f"Error: {UNAVAILABLE}"),), is_error=True),)
    assert made.notes == (Note("result.missing", "changed", "/0/parts/0", "a"),)


def test_a_late_result_goes_back_to_its_call() -> None:
    a = call("a")
    check(
        [Message.assistant(a), Message.user("Well?"), Message.assistant("Wait."), Message.results(result("a"))],
        [asking(a, answers=(answer(a),)), user("Well?"), said("Wait.")],
        Note("result.moved", "changed", "/3/parts/0"),
    )


def test_a_result_after_words_of_the_user_is_moved_before_them() -> None:
    a = call("a")
    check(
        [Message.assistant(a), Message.user("Well?"), Message.results(result("a"))],
        [asking(a, answers=(answer(a),)), user("Well?")],
        Note("result.moved", "changed", "/2/parts/0"),
    )


def test_a_result_before_its_call_goes_behind_it() -> None:
    a = call("a")
    check(
        [Message.results(result("a")), Message.user("What?"), Message.assistant(a)],
        [user("What?"), asking(a, answers=(answer(a),))],
        Note("result.moved", "changed", "/0/parts/0"),
    )


def test_a_result_before_a_call_that_has_one_of_its_own_is_of_another_call() -> None:
    a = call("a")
    check(
        [Message.results(result("a", "old")), Message.assistant(a), Message.results(result("a", "new"))],
        [user(orphan("a"), "old"), asking(a, answers=(answer(a, "new"),))],
        Note("result.orphaned", "changed", "/0/parts/0", "a"),
    )


def test_a_result_before_its_calls_belongs_to_the_one_that_nothing_else_answers() -> None:
    made = legal_turns(
        [
            Message.results(result("a", "early")),
            Message.assistant(call("a"), call("a")),
            Message.results(result("a", "late")),
        ],
        FLAGS,
        "anthropic",
    )
    assert [each.text for each in made.value[0].answers] == ["late", "early"]
    assert [note.code for note in made.notes] == ["result.moved", "id.reused"]


def test_messages_that_are_dropped_move_no_result() -> None:
    a = call("a")
    check(
        [
            Message.assistant(a),
            Message.user(""),
            Message("assistant", (Reasoning("hm"),)),
            Message.results(result("a")),
        ],
        [asking(a, answers=(answer(a),))],
        Note("message.empty", "narrowed", "/1", "user"),
        Note("reasoning.dropped", "narrowed", "/2/parts/0", "hm"),
        Note("message.empty", "narrowed", "/2", "assistant"),
    )


def test_ids_that_start_again_in_every_round_are_told_apart_by_their_order() -> None:
    first, second = call("call_0"), call("call_0")
    spelt = replace(second, id="call_0_jh3bsr37")
    check(
        [
            Message.user("one"),
            Message.assistant(first),
            Message.results(result("call_0", "first")),
            Message.user("two"),
            Message.assistant(second),
            Message.results(result("call_0", "second")),
        ],
        [
            user("one"),
            asking(first, answers=(answer(first, "first"),)),
            user("two"),
            asking(spelt, answers=(answer(spelt, "second"),)),
        ],
        Note("id.reused", "changed", "/4/parts/0", "call_0"),
    )


def test_a_result_belongs_to_the_latest_call_of_its_id_and_not_to_one_that_was_given_up() -> None:
    first, second = call("x"), replace(call("x"), text='{"query": "y"}', arguments={"query": "y"})
    made = legal_turns(
        [Message.assistant(first), Message.user("No, y."), Message.assistant(second), Message.results(result("x"))],
        FLAGS,
        "anthropic",
    )
    assert [turn.answers and turn.answers[0].text for turn in made.value] == [UNAVAILABLE, (), "result of x"]
    assert [note.code for note in made.notes] == ["result.missing", "id.reused"]


def test_parallel_calls_without_ids_are_answered_in_order() -> None:
    made = legal_turns(
        [Message.assistant(call(""), call("")), Message.results(result("", "first"), result("", "second"))],
        FLAGS,
        "anthropic",
    )
    assert [each.text for each in made.value[0].answers] == ["first", "second"]
    assert [(note.code, note.path) for note in made.notes] == [("id.spelt", "/0/parts/0"), ("id.spelt", "/0/parts/1")]


def test_a_second_result_of_one_call_is_dropped_and_told() -> None:
    a = call("a")
    check(
        [Message.assistant(a), Message.results(result("a", "one"), result("a", "two"))],
        [asking(a, answers=(answer(a, "one"),))],
        Note("result.duplicate", "narrowed", "/1/parts/1", "two"),
    )


def test_a_doubled_result_does_not_answer_the_next_call_that_reuses_the_id() -> None:
    a = call("a")
    made = legal_turns(
        [Message.assistant(a), Message.results(result("a"), result("a")), Message.user("Again."), Message.assistant(a)],
        FLAGS,
        "anthropic",
    )
    assert made.value[-1].answers[0].text == UNAVAILABLE
    assert [note.code for note in made.notes] == ["result.duplicate", "id.reused", "result.missing"]


def test_a_result_without_a_call_becomes_words_of_the_user_that_say_what_they_are() -> None:
    a = call("a")
    lost = ToolResult("lost", (Text("42"), Image(PNG, "image/png"), Audio("AAAA", "audio/wav")), is_error=True)
    check(
        [Message.assistant(a), Message.results(lost, result("a"))],
        [
            asking(a, answers=(answer(a),)),
            user(orphan("lost"), "Error: 42", Image(PNG, "image/png"), "[audio: audio/wav, 3 bytes]"),
        ],
        Note("result.orphaned", "changed", "/1/parts/0", "lost"),
        Note("audio.described", "narrowed", "/1/parts/0/content/2", "audio/wav"),
        Note("error.said", "changed", "/1/parts/0"),
        rules=Rules(in_user=Carries(IMAGES), error_flag=True, structured=True),
    )


def test_an_id_that_cannot_be_sent_is_said_as_far_as_it_can_be() -> None:
    check(
        [Message.results(result("a\ud800b", "42"))],
        [user(orphan("a\ufffdb"), "42")],
        Note("result.orphaned", "changed", "/0/parts/0", "a\ud800b"),
    )


# ── ids, names, arguments ────────────────────────────────────────────────────────────────────────────────────────


def test_ids_and_names_are_spelt_for_the_provider_and_told_once_for_each_call() -> None:
    given = ToolCall("functions.search:0", "files.read", "{}", {})
    spelt = ToolCall("functions_search_0_b4ygci5l", wire_name(ToolId("", "files.read"), FLAGS.names), "{}", {})
    assert spelt.name.startswith("files_read_")
    check(
        [Message.assistant(given), Message.results(result(given.id))],
        [asking(spelt, answers=(answer(spelt, "result of functions.search:0"),))],
        Note("id.spelt", "changed", "/0/parts/0", "functions.search:0"),
        Note("name.spelt", "changed", "/0/parts/0", "files.read"),
        rules=replace(FLAGS, ids=id_rule("a-zA-Z0-9_-", 64)),
    )


def test_an_id_of_nine_letters() -> None:
    nine = replace(FLAGS, ids=id_rule("a-zA-Z0-9", 9, exact=True))
    made = legal_turns([Message.assistant(call("call_0")), Message.results(result("call_0"))], nine, "mistral")
    assert made.value[0].answers[0].call.id == "cgfv5nuwr"
    assert made.notes == (Note("id.spelt", "changed", "/0/parts/0", "call_0"),)


def test_a_broken_call_is_written_as_an_object_that_holds_its_text() -> None:
    broken = ToolCall("a", "search", '{"query": "x', None, "the arguments end too early")
    written = replace(broken, text='{"INVALID_JSON":"{\\"query\\": \\"x"}', arguments={"INVALID_JSON": '{"query": "x'})
    check(
        [Message.assistant(broken), Message.results(result("a"))],
        [asking(written, answers=(answer(written),))],
        Note("arguments.wrapped", "changed", "/0/parts/0", '{"query": "x'),
    )


DEEP = reduce(lambda inner, _: {"a": inner}, range(100_000), dict[str, Any]())


@pytest.mark.parametrize(
    ("text", "arguments", "written", "wanted"),
    [
        ('{ "ä": 1.0 }', {"ä": 1.0}, '{ "ä": 1.0 }', {"ä": 1.0}),
        ('{"b": 1, "a": 2}', {"a": 2, "b": 1}, '{"b": 1, "a": 2}', {"a": 2, "b": 1}),
        ("", {}, "{}", {}),
        ("null", {}, "{}", {}),
        ('{"a": 1}', {"a": True}, '{"a":true}', {"a": True}),
        ('{"a": 1}', {"a": 2, "ü": "日"}, '{"a":2,"ü":"日"}', {"a": 2, "ü": "日"}),
        ("{}", {"a": (1, 2)}, '{"a":[1,2]}', {"a": [1, 2]}),
        ('{"a": 1', None, '{"INVALID_JSON":"{\\"a\\": 1"}', {"INVALID_JSON": '{"a": 1'}),
        ("{}", None, '{"INVALID_JSON":"{}"}', {"INVALID_JSON": "{}"}),
        ("\ud83d", None, '{"INVALID_JSON":"\ufffd"}', {"INVALID_JSON": "\ufffd"}),
        ('{"a": NaN}', {"a": float("nan")}, '{"INVALID_JSON":"{\\"a\\": NaN}"}', {"INVALID_JSON": '{"a": NaN}'}),
        ("deep", DEEP, '{"INVALID_JSON":"deep"}', {"INVALID_JSON": "deep"}),
        ("odd", {"a": object()}, '{"INVALID_JSON":"odd"}', {"INVALID_JSON": "odd"}),
        ("", {"a": "\ud83d"}, '{"a":"\ufffd"}', {"a": "\ufffd"}),
        ('{"INVALID_JSON": "x"}', {"INVALID_JSON": "x"}, '{"INVALID_JSON": "x"}', {"INVALID_JSON": "x"}),
    ],
    ids=["as written", "order", "nothing", "null", "true", "another", "tuple", "cut", "refused", "half", "NaN", "deep", "odd",
         "half inside", "wrapped before"],
)  # fmt: skip
def test_the_text_of_a_call_is_always_the_json_of_its_arguments(
    text: str, arguments: Any, written: str, wanted: Any
) -> None:
    made = legal_turns([Message.assistant(ToolCall("a", "search", text, arguments))], FLAGS, "anthropic")
    (sent,) = made.value[0].parts
    assert isinstance(sent, ToolCall)
    assert (sent.text, sent.arguments) == (written, wanted)
    codes = {note.code for note in made.notes} - {"result.missing"}
    if wanted == arguments or isinstance(wanted.get("a"), list):
        assert codes == set()
    else:
        assert codes == {"arguments.wrapped" if "INVALID_JSON" in wanted else "character.replaced"}


# ── what is another provider's ───────────────────────────────────────────────────────────────────────────────────

SIGNED: tuple[Part, ...] = (
    Reasoning("Hm.", {"signature": "r"}),
    Text("Well.", {"signature": "t"}),
    Foreign("web_search_call", {"id": "ws_1"}),
    Image(PNG, "image/png", {"signature": "i"}),
    call("a", signature="c"),
)
SEEING = replace(FLAGS, in_assistant=Carries(IMAGES))


@pytest.mark.parametrize(
    ("origin", "model"), [("anthropic", "m-1"), ("anthropic", "")], ids=["same model", "model not told"]
)
def test_its_own_provider_gets_everything_back_as_it_was(origin: str, model: str) -> None:
    history = [Message("assistant", SIGNED, origin, model), Message.results(result("a"))]
    made = legal_turns(history, SEEING, "anthropic", "m-1")
    assert made.value[0].parts == SIGNED
    assert made.value[0].model == model
    assert made.notes == ()


@pytest.mark.parametrize(
    ("origin", "model"),
    [("gemini", "m-1"), ("anthropic", "m-2"), ("", "m-1"), ("", "")],
    ids=["another provider", "another model", "no provider", "nothing told"],
)
def test_nobody_else_gets_anything_of_it(origin: str, model: str) -> None:
    history = [Message("assistant", SIGNED, origin, model), Message.results(result("a"))]
    made = legal_turns(history, SEEING, "anthropic", "m-1")
    assert made.value[0].parts == (Text("Well."), Image(PNG, "image/png"), call("a"))
    assert made.notes == (
        Note("reasoning.dropped", "narrowed", "/0/parts/0", "Hm."),
        Note("opaque.dropped", "narrowed", "/0/parts/1", ["signature"]),
        Note("foreign.dropped", "narrowed", "/0/parts/2", "web_search_call"),
        Note("opaque.dropped", "narrowed", "/0/parts/3", ["signature"]),
        Note("opaque.dropped", "narrowed", "/0/parts/4", ["signature"]),
    )


def test_a_target_without_a_name_is_nobodys_origin() -> None:
    made = legal_turns([Message("assistant", SIGNED[:2])], FLAGS, "")
    assert made.value == (said("Well."),)
    assert [note.code for note in made.notes] == ["reasoning.dropped", "opaque.dropped"]


def test_reasoning_stays_out_where_it_may_not_be_sent_and_signatures_stay_in() -> None:
    made = legal_turns([Message("assistant", SIGNED[:2], "x")], replace(FLAGS, reasoning=False), "x")
    assert made.value == (Turn("assistant", (Text("Well.", {"signature": "t"}),)),)
    assert made.notes == (Note("reasoning.dropped", "narrowed", "/0/parts/0", "Hm."),)


def test_a_signature_beside_an_empty_text_is_kept_for_its_origin() -> None:
    message = Message("assistant", (Text("", {"thoughtSignature": "s"}),), "gemini")
    assert legal_turns([message], FLAGS, "gemini").value == (Turn("assistant", (Text("", {"thoughtSignature": "s"}),)),)
    dropped = legal_turns([message], FLAGS, "mistral")
    assert dropped.value == ()
    assert [note.code for note in dropped.notes] == ["opaque.dropped", "message.empty"]


SIGNING = Rules(replayable=lambda part: bool(part.opaque), error_flag=True)


def test_what_its_own_provider_does_not_take_back_is_dropped_and_told() -> None:
    parts = (Reasoning("a", {"signature": "s"}), Reasoning("b"), Text("Well."))
    check(
        [Message("assistant", parts, "anthropic")],
        [asking(parts[0], "Well.", answers=())],
        Note("reasoning.dropped", "narrowed", "/0/parts/1", "b"),
        rules=SIGNING,
    )
    check(
        [Message("assistant", parts, "anthropic")],
        [said("Well.")],
        Note("reasoning.dropped", "narrowed", "/0/parts/0", "a"),
        Note("reasoning.dropped", "narrowed", "/0/parts/1", "b"),
        rules=replace(SIGNING, thoughts_together=True),
    )


def test_a_blank_text_that_is_not_taken_back_is_dropped_with_what_stands_beside_it() -> None:
    check(
        [Message("assistant", (Text(" ", {"id": "m"}),), "anthropic")],
        [],
        Note("opaque.dropped", "narrowed", "/0/parts/0", ["id"]),
        Note("message.empty", "narrowed", "/0", "assistant"),
        rules=Rules(replayable=lambda part: False),
    )


LEADING = replace(STRICT, thoughts_lead=True)


def test_reasoning_that_leads_to_nothing_is_dropped_and_told_and_roles_still_take_turns() -> None:
    check(
        [
            Message.user("What?"),
            Message("assistant", (Text("Well."), Reasoning("a"), Reasoning("b")), "anthropic"),
            Message.user("And?"),
            Message("assistant", (Reasoning("c"),), "anthropic"),
            Message.user("So?"),
            Message("assistant", (Reasoning("d"),), "anthropic"),
        ],
        [user("What?"), said("Well."), user("And?", "So?")],
        Note("reasoning.dropped", "narrowed", "/1/parts/1", "a"),
        Note("reasoning.dropped", "narrowed", "/1/parts/2", "b"),
        Note("reasoning.dropped", "narrowed", "/3/parts/0", "c"),
        Note("reasoning.dropped", "narrowed", "/5/parts/0", "d"),
        Note("message.empty", "narrowed", "/3", "assistant"),
        Note("message.empty", "narrowed", "/5", "assistant"),
        Note("messages.merged", "changed", "/4"),
        rules=LEADING,
    )


def test_reasoning_that_leads_to_the_next_message_of_the_same_turn_stays() -> None:
    a = call("a")
    history = [
        Message.user("What?"),
        Message("assistant", (Reasoning("1"),), "anthropic"),
        Message("assistant", (Reasoning("2"), a, Reasoning("3")), "anthropic"),
        Message.results(result("a")),
        Message("assistant", (Reasoning("4"), Text("This.")), "anthropic"),
        Message.user("Thanks."),
    ]
    turns = [
        user("What?"),
        asking(Reasoning("1"), Reasoning("2"), a, answers=(answer(a),)),
        asking(Reasoning("4"), "This.", answers=()),
        user("Thanks."),
    ]
    dropped = Note("reasoning.dropped", "narrowed", "/2/parts/2", "3")
    check(history, turns, dropped, Note("messages.merged", "changed", "/2"), rules=LEADING)


def test_a_result_that_is_too_long_is_cut_at_its_end_and_says_so() -> None:
    a = call("a")
    rules = replace(FLAGS, longest_result=100, in_results=Carries(IMAGES), structured=True)
    picture = Image(PNG, "image/png")

    def cut(*blocks: Text | Image) -> tuple[Any, ...]:
        made = legal_turns([Message.assistant(a), Message.results(ToolResult("a", blocks))], rules, "x")
        again = legal_turns(
            [Message.assistant(a), Message.results(ToolResult("a", made.value[0].answers[0].blocks))], rules, "x"
        )
        assert (again.value, again.notes) == (made.value, ())
        return made.value[0].answers[0].blocks, [
            (note.code, note.effect, note.path, note.before) for note in made.notes
        ]

    assert cut(Text("x" * 100)) == ((Text("x" * 100),), [])
    told = [("result.cut", "narrowed", "/1/parts/0", 101)]
    room = 100 - len(CUT)
    assert cut(Text("x" * 101)) == ((Text("x" * room + CUT),), told)
    for first in (room - 2, room - 1, room, room + 1):
        rest = Text("x" * max(room - first - 1, 0) + CUT)
        blocks = (Text("y" * first), picture, rest) if first < room else (Text("y" * room + CUT), picture)
        assert cut(Text("y" * first), picture, Text("x" * (100 - first))) == (blocks, told)
    whole = {"text": "x" * 100}
    made = legal_turns([Message.assistant(a), Message.results(ToolResult("a", (), whole))], rules, "x")
    assert made.value[0].answers[0].structured is None
    assert [note.code for note in made.notes] == ["result.cut"]


def test_what_is_opaque_inside_of_a_result_is_dropped_too() -> None:
    given = ToolResult("a", (Text("one"), Text("two", {"citations": [1]})))
    made = legal_turns([Message.assistant(call("a")), Message.results(given)], FLAGS, "anthropic")
    assert made.value[0].answers[0].blocks == (Text("one"), Text("two"))
    assert made.notes == (Note("opaque.dropped", "narrowed", "/1/parts/0/content/1", ["citations"]),)


def test_a_result_keeps_its_structured_content_and_its_failure() -> None:
    a, b = call("a"), call("b")
    check(
        [
            Message.assistant(a, b),
            Message.results(
                ToolResult("a", (Text('{"t": 7}'),), {"t": 7}), ToolResult("b", (Text("no"),), is_error=True)
            ),
        ],
        [asking(a, b, answers=(Answer(a, (Text('{"t": 7}'),), {"t": 7}), Answer(b, (Text("no"),), is_error=True)))],
        rules=Rules(error_flag=True, structured=True),
    )


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_system_text_is_gathered_where_it_must_be_first() -> None:
    check(
        [
            Message.system("one", "two"),
            Message.system("three"),
            Message.user("hello"),
            Message("system", (Text("four"), Image(PNG, "image/png"))),
        ],
        [system("one", "two", "three", "four", "[image: image/png, 32 bytes]"), user("hello")],
        Note("image.described", "narrowed", "/3/parts/1", "image/png"),
        Note("system.moved", "changed", "/3"),
        rules=replace(STRICT, in_user=Carries(IMAGES)),
    )


def test_system_text_stays_in_its_place_where_it_may_but_not_between_a_call_and_its_result() -> None:
    a = call("a")
    check(
        [
            Message.user("hello"),
            Message.system("one"),
            Message.assistant(a),
            Message.system("two"),
            Message.results(result("a")),
        ],
        [user("hello"), system("one"), asking(a, answers=(answer(a),)), system("two")],
        Note("result.moved", "changed", "/4/parts/0"),
    )


def test_messages_of_the_system_stay_apart_and_part_others_where_they_may_stand_anywhere() -> None:
    check(
        [
            Message.system("one"),
            Message.system("two"),
            Message.user("hello"),
            Message.system("three"),
            Message.user("you"),
        ],
        [system("one"), system("two"), user("hello"), system("three"), user("you")],
        rules=Rules(alternate=True),
    )


def test_system_text_that_is_moved_away_moves_no_result() -> None:
    a = call("a")
    check(
        [Message.user("hello"), Message.assistant(a), Message.system("two"), Message.results(result("a"))],
        [system("two"), user("hello"), asking(a, answers=(answer(a),))],
        Note("system.moved", "changed", "/2"),
        rules=STRICT,
    )


def test_calls_in_the_wrong_message_are_the_assistants() -> None:
    a, b = call("a"), call("b")
    check(
        [
            Message("user", (Text("one"), a, Text("two"))),
            Message("tool", (b, result("b"), result("a"))),
        ],
        [user("one"), asking(a, answers=(answer(a),)), user("two"), asking(b, answers=(answer(b),))],
        Note("call.misplaced", "changed", "/0/parts/1", "user"),
        Note("call.misplaced", "changed", "/1/parts/0", "tool"),
        Note("result.moved", "changed", "/1/parts/2"),
    )


def test_results_in_messages_of_the_user_are_results() -> None:
    a = call("a")
    check(
        [Message.assistant(a), Message("user", (result("a"), Text("What now?")))],
        [asking(a, answers=(answer(a),)), user("What now?")],
    )


def test_what_an_assistant_says_after_a_result_stays_behind_it() -> None:
    a, b = call("a"), call("b")
    check(
        [Message("assistant", (Text("one"), a, result("a"), Text("two"), b, result("b"), Text("three")))],
        [asking("one", a, answers=(answer(a),)), asking("two", b, answers=(answer(b),)), said("three")],
    )


def test_reasoning_that_is_not_the_assistants_is_dropped_and_other_parts_of_a_tools_message_are_the_users() -> None:
    check(
        [
            Message("user", (Reasoning("hm"), Text("hello")), "anthropic"),
            Message("tool", (Text("note"), Reasoning("ha"))),
        ],
        [user("hello"), user("note")],
        Note("part.misplaced", "narrowed", "/0/parts/0", "hm"),
        Note("part.misplaced", "changed", "/1/parts/0"),
        Note("part.misplaced", "narrowed", "/1/parts/1", "ha"),
    )


def test_text_among_results_does_not_part_them_from_their_call() -> None:
    a, b = call("a"), call("b")
    check(
        [Message.assistant(a, b), Message("tool", (result("a"), Text("note"), result("b")))],
        [asking(a, b, answers=(answer(a), answer(b))), user("note")],
        Note("part.misplaced", "changed", "/1/parts/1"),
    )


def test_a_file_that_only_its_provider_knows_stays_in_the_users_message() -> None:
    message = Message("user", (Foreign("file", {"file_id": "f1"}), Text("Read it.")), "anthropic")
    made = legal_turns([message], FLAGS, "anthropic", "m-1")
    assert made.value == (user(Foreign("file", {"file_id": "f1"}), "Read it."),)
    assert made.notes == ()


def test_a_system_message_holds_nothing_but_text() -> None:
    message = Message("system", (Foreign("file", {"file_id": "f1"}), Text("Read it."), Reasoning("hm")), "anthropic")
    made = legal_turns([message], FLAGS, "anthropic")
    assert made.value == (system("Read it."),)
    assert made.notes == (
        Note("foreign.dropped", "narrowed", "/0/parts/0", "file"),
        Note("part.misplaced", "narrowed", "/0/parts/2", "hm"),
    )


def test_parts_of_an_assistants_message_keep_their_order() -> None:
    a, b = call("a"), call("b")
    parts = (Reasoning("1"), a, Text("2"), Reasoning("3"), b, Text("4"))
    made = legal_turns([Message("assistant", parts, "x"), Message.results(result("a"), result("b"))], FLAGS, "x")
    assert made.value == (Turn("assistant", parts, (answer(a), answer(b))),)
    assert made.notes == ()


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_neighbours_of_one_role_are_one_where_roles_take_turns() -> None:
    a = call("a")
    check(
        [
            Message.user("one"),
            Message.user("two"),
            Message.assistant("three"),
            Message.assistant("four", a),
            Message.results(result("a")),
            Message.assistant("five"),
            Message.user("six"),
        ],
        [user("one", "two"), asking("three", "four", a, answers=(answer(a),)), said("five"), user("six")],
        Note("messages.merged", "changed", "/1"),
        Note("messages.merged", "changed", "/3"),
        rules=STRICT,
    )


def test_a_merged_turn_is_of_the_model_whose_signatures_it_holds() -> None:
    history = [
        Message("assistant", (Text("one"),), "gemini", "g-1"),
        Message("assistant", (Text("two", {"signature": "s"}),), "anthropic", "a-1"),
    ]
    made = legal_turns(history, Rules(alternate=True), "anthropic", "a-1")
    assert made.value == (Turn("assistant", (Text("one"), Text("two", {"signature": "s"})), model="a-1"),)


def test_neighbours_stay_apart_where_they_may() -> None:
    check([Message.user("one"), Message.user("two")], [user("one"), user("two")])


def test_the_user_is_made_to_begin_and_to_end() -> None:
    check(
        [Message.system("Be brief."), Message.assistant("Hello."), Message.user("Hello."), Message.assistant("Bye.")],
        [system("Be brief."), user(BEGINNING), said("Hello."), user("Hello."), said("Bye."), user(GO_ON)],
        Note("message.inserted", "changed", "/1"),
        Note("message.inserted", "changed", "/3"),
        rules=STRICT,
    )


def test_results_may_be_the_last_word() -> None:
    a = call("a")
    check(
        [Message.user("Hello."), Message.assistant(a), Message.results(result("a"))],
        [user("Hello."), asking(a, answers=(answer(a),))],
        rules=STRICT,
    )


@pytest.mark.parametrize(
    ("rules", "text"),
    [(STRICT, BEGINNING), (replace(STRICT, user_last=False), BEGINNING), (replace(STRICT, user_first=False), GO_ON)],
    ids=["both", "first", "last"],
)
def test_where_nobody_spoke_the_user_does(rules: Rules, text: str) -> None:
    check([], [user(text)], Note("message.inserted", "changed", ""), rules=rules)
    check(
        [Message.system("Be brief.")],
        [system("Be brief."), user(text)],
        Note("message.inserted", "changed", "/0"),
        rules=rules,
    )
    check([], [])


def test_a_message_of_more_calls_than_may_be_is_more_than_one() -> None:
    a, b, c = call("a"), call("b"), call("c")
    history = [
        Message("assistant", (Reasoning("0"), Text("1"), a, b, Text("2"), c, Text("3")), "x", "m-1"),
        Message.results(result("c"), result("b"), result("a")),
    ]
    made = legal_turns(history, replace(FLAGS, most_calls=2), "x")
    assert made.value == (
        replace(asking(Reasoning("0"), "1", a, b, answers=(answer(a), answer(b))), model="m-1"),
        replace(asking("2", c, "3", answers=(answer(c),)), model="m-1"),
    )
    assert made.notes == (Note("message.split", "changed", "/0", 3),)


# ── media ────────────────────────────────────────────────────────────────────────────────────────────────────────

IMAGE = Image(PNG, "image/png")
FILE = Resource("file:///a.pdf", "application/pdf", blob=PDF_FILE)
AFTER = Carries(IMAGES, documents=frozenset({"application/pdf"}))


def test_media_that_results_cannot_hold_follow_as_the_users_under_the_call_they_are_from() -> None:
    a, b, c = call("a"), call("b"), call("c")
    history = [
        Message.user("Draw."),
        Message.assistant(a, b, c),
        Message.results(ToolResult("a", (IMAGE,)), result("b"), ToolResult("c", (Text("two"), FILE, IMAGE))),
        Message.user("Nice."),
    ]
    shown = (
        Text(FROM_RESULT.format(name="search", id="a")),
        IMAGE,
        Text(FROM_RESULT.format(name="search", id="c")),
        FILE,
        IMAGE,
    )
    apart = legal_turns(history, Rules(in_user=AFTER), "x")
    assert [turn.role for turn in apart.value] == ["user", "assistant", "user", "user"]
    assert apart.value[2:] == (user(*shown), user("Nice."))
    assert [(note.code, note.path) for note in apart.notes] == [
        ("image.after", "/2/parts/0/content/0"),
        ("resource.after", "/2/parts/2/content/1"),
        ("image.after", "/2/parts/2/content/2"),
    ]
    together = legal_turns(history, Rules(in_user=AFTER, alternate=True), "x")
    assert together.value == (*apart.value[:2], user(*shown, "Nice."))
    assert together.notes == apart.notes


def test_media_of_calls_that_are_parted_follow_their_own_call() -> None:
    a, b = call("a"), call("b")
    history = [Message.assistant(a, b), Message.results(ToolResult("a", (IMAGE,)), result("b"))]
    made = legal_turns(history, Rules(in_user=AFTER, most_calls=1), "x")
    assert [(turn.role, len(turn.answers)) for turn in made.value] == [("assistant", 1), ("user", 0), ("assistant", 1)]
    assert made.value[1] == user(FROM_RESULT.format(name="search", id="a"), IMAGE)


def test_the_assistant_says_a_word_before_media_that_may_not_stand_beside_results() -> None:
    a, b = call("a"), call("b")
    rules = Rules(alternate=True, in_user=AFTER, error_flag=True, beside_results=frozenset({Text}))
    check(
        [
            Message.assistant(a),
            Message.results(result("a")),
            Message.user("And this?", IMAGE),
            Message.assistant(b),
            Message.results(result("b")),
            Message.user("Thanks."),
        ],
        [
            asking(a, answers=(answer(a),)),
            said(IN_BETWEEN),
            user("And this?", IMAGE),
            asking(b, answers=(answer(b),)),
            user("Thanks."),
        ],
        Note("message.inserted", "changed", "/2"),
        rules=rules,
    )


def test_a_users_media_that_cannot_be_carried_are_described() -> None:
    check(
        [Message.user("Look:", IMAGE, FILE)],
        [user("Look:", IMAGE, "[resource: file:///a.pdf, application/pdf, 33 bytes]")],
        Note("resource.described", "narrowed", "/0/parts/2", "application/pdf"),
        rules=Rules(in_user=Carries(IMAGES)),
    )


def test_empty_messages_are_dropped_and_told_but_not_empty_texts_beside_something() -> None:
    check(
        [
            Message.user("", "hello", ""),
            Message.user(),
            Message.assistant(" \n"),
            Message.results(),
            Message.system(""),
        ],
        [user("hello")],
        Note("message.empty", "narrowed", "/1", "user"),
        Note("message.empty", "narrowed", "/2", "assistant"),
        Note("message.empty", "narrowed", "/3", "tool"),
        Note("message.empty", "narrowed", "/4", "system"),
    )
