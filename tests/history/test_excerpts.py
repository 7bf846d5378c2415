"""A result that is too long is cut at a sensible place, within its budget, and the model can get all the rest."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbridge.history.excerpts import Excerpts, cut_result, cut_text
from toolbridge.notes import Converted, Note
from toolbridge.tokens import Counter, estimate
from toolbridge.types import Audio, Image, Resource, ResourceLink, Text, Tool, ToolHints, ToolId, ToolResult

LINES = "\n".join(f"line {i}: the quick brown fox" for i in range(1000))
ROWS = [{"id": i, "name": f"user {i}"} for i in range(500)]
LAST = re.compile(r"\n\[Shown: (.*)\]\Z")


def result(text: str, **fields: Any) -> ToolResult:
    return ToolResult("1", (Text(text),), **fields)


def parts(text: str) -> tuple[str, str]:
    """What is shown, and the last line."""
    found = LAST.search(text)
    assert found, text[-300:]
    return text[: found.start()], found[1]


def more(text: str) -> dict[str, Any] | None:
    """What the last line says to call for more, if it does."""
    _, found, arguments = parts(text)[1].partition("For more, call read_more with ")
    return json.JSONDecoder().raw_decode(arguments)[0] if found else None


# ── what the model gets to see ───────────────────────────────────────────────────────────────────────────────────


def test_a_result_that_fits_is_the_very_same() -> None:
    whole = ToolResult("1", (Text("short"), Image("aGk=" * 1000, "image/png")), {"n": 1})
    assert Excerpts(100).keep(whole) is whole


def test_a_long_text_shows_its_beginning_and_its_end_and_says_how_to_get_the_rest() -> None:
    excerpts = Excerpts(400)
    kept = excerpts.keep(result(LINES))
    shown, last = parts(kept.text)
    head, gap, tail = re.split(r"\n\[… ([\d,]+) characters left out …\]\n", shown)
    end, start = len(head), len(LINES) - len(tail)
    assert LINES.startswith(head)
    assert LINES.endswith(tail)
    assert (head[-1], tail[:5]) == ("\n", "line ")
    assert int(gap.replace(",", "")) == start - end
    total = estimate(LINES)
    assert last == (
        f"characters 0 to {end} and {start} to {len(LINES)} of {len(LINES)}; {total:,} tokens in all. "
        f'For more, call read_more with {{"result": "r1", "from": {end}}}; with "find", it searches.'
    )
    assert kept.notes == (Note("result.cut", "narrowed", "/content", total),)
    assert 200 < estimate(kept.text) <= 400


def test_a_list_is_cut_between_its_items_and_stays_json() -> None:
    excerpts = Excerpts(300)
    shown, last = parts(excerpts.keep(result(json.dumps(ROWS))).text)
    rows = json.loads(shown)
    assert 5 < len(rows) < 50
    assert rows == ROWS[: len(rows)]
    assert last.startswith(f"items 1 to {len(rows)} of 500; ")


@pytest.mark.parametrize("around", ["rows", "data.rows"])
def test_a_long_list_in_an_object_is_cut_and_what_stands_around_it_stays(around: str) -> None:
    document: dict[str, Any] = {"rows": ROWS, "total": 500}
    if around == "data.rows":
        document = {"ok": True, "data": document}
    shown, last = parts(Excerpts(300).keep(result(json.dumps(document, indent=1))).text)
    found = json.loads(shown)
    inner = found["data"] if around == "data.rows" else found
    rows = inner["rows"]
    assert rows == ROWS[: len(rows)]
    assert last.startswith(f'items 1 to {len(rows)} of 500 in "{around}"; ')
    inner["rows"] = ROWS
    assert found == document


def test_a_list_with_a_word_behind_it_is_cut_too_and_the_word_stays() -> None:
    shown, last = parts(Excerpts(300).keep(result(json.dumps(ROWS) + "\n500 rows.")).text)
    rows = json.loads(shown.removesuffix("\n500 rows."))
    assert rows == ROWS[: len(rows)]
    assert last.startswith(f"items 1 to {len(rows)} of 500; ")
    prose = "[1, 2] is what I would call a list. " * 100
    shown, last = parts(Excerpts(150).keep(result(prose)).text)
    assert prose.startswith(shown)


def test_json_without_a_long_list_is_cut_as_text() -> None:
    text = json.dumps({f"key {i}": "some words" for i in range(500)})
    shown, last = parts(Excerpts(150).keep(result(text)).text)
    assert text.startswith(shown)
    assert last.startswith(f"characters 0 to {len(shown)} of {len(text)}; ")


def test_structured_content_is_in_the_text_once_and_no_longer_beside_it() -> None:
    kept = Excerpts(300).keep(ToolResult("1", (), {"rows": ROWS}))
    shown, _ = parts(kept.text)
    assert json.loads(shown)["rows"][0] == ROWS[0]
    assert kept.structured is None
    both = Excerpts(300).keep(ToolResult("1", (Text(json.dumps({"rows": ROWS})),), {"rows": ROWS}))
    assert both.content == kept.content


def test_media_are_never_cut_and_everything_else_of_the_result_stays() -> None:
    image, sound, file = Image("aGk=", "image/png"), Audio("aGk=", "audio/wav"), Resource("a", "x/y", blob="aGk=")
    link, text = ResourceLink("mem://1", "one"), Resource("mem://2", None, text=LINES)
    whole = ToolResult(
        "1", (image, link, text, sound, file), None, True, {"a": 1}, (Note("a.b", "changed"),), "protocol"
    )
    kept = Excerpts(300).keep(whole)
    assert kept.content[1:] == (image, sound, file)
    assert kept.text.startswith("[link: one, mem://1]\n[resource: mem://2]\nline 0")
    assert replace(kept, content=whole.content, notes=whole.notes) == whole
    assert [note.code for note in kept.notes] == ["a.b", "result.cut"]


PLACES: dict[str, tuple[str, str]] = {
    "a paragraph": ("One two three.\n\nFour five six.\n" * 200, "\n\n"),
    "a line": ("one two three four, five six\n" * 200, "\n"),
    "a sentence": ("One two three four. " * 300, "."),
    "a sentence in Chinese": ("人人生而自由。在尊严和权利上一律平等。" * 100, "。"),
    "a word": ("one two three four " * 300, " "),
    "a value": ('{"a":1,"b":2},' * 300, ","),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_text_ends_where_something_ends(place: str) -> None:
    text, ending = PLACES[place]
    shown, _ = parts(cut_text(text, 120).value)
    assert text.startswith(shown)
    assert shown.endswith(ending) or (ending == "," and shown.endswith("}"))


def test_nothing_that_is_read_as_one_character_is_parted() -> None:
    for whole in ("e\u0301", "👩\u200d💻", "👍🏽", "❤\ufe0f"):
        shown, _ = parts(cut_text(whole * 1000, 97).value)
        assert len(shown) % len(whole) == 0


# ── reading on ───────────────────────────────────────────────────────────────────────────────────────────────────


def read_on(excerpts: Excerpts, text: str) -> list[str]:
    """All pages after the first view, as they are shown."""
    pages: list[str] = []
    while arguments := more(text):
        answer = excerpts.answer("2", arguments)
        assert not answer.is_error
        text = answer.text
        assert excerpts.count(text) <= excerpts.budget
        pages.append(parts(text)[0])
    assert text.endswith(", the end of the result.]")
    return pages


def test_a_text_is_read_on_page_by_page_to_its_end() -> None:
    excerpts = Excerpts(400)
    kept = excerpts.keep(result(LINES))
    head = parts(kept.text)[0].partition("\n[… ")[0]
    assert head + "".join(read_on(excerpts, kept.text)) == LINES


def test_a_list_is_read_on_item_by_item() -> None:
    excerpts = Excerpts(300)
    kept = excerpts.keep(result(json.dumps({"rows": ROWS, "total": 500, "next": "page 2"})))
    shown = json.loads(parts(kept.text)[0])["rows"]
    *pages, rest = read_on(excerpts, kept.text)
    assert shown + [row for page in pages for row in json.loads(page)] == ROWS
    assert rest == '], "total": 500, "next": "page 2"}'


def test_an_item_that_is_too_long_is_read_on_as_text() -> None:
    excerpts = Excerpts(200)
    text = json.dumps(["a", "b " * 2000, "c", "d"])
    kept = excerpts.keep(result(text))
    assert json.loads(parts(kept.text)[0].rpartition("\n[… ")[0] or parts(kept.text)[0]) == ["a"]
    assert "b b b b" in excerpts.answer("2", {"result": "r1", "from": 6}).text
    middle = excerpts.answer("2", {"result": "r1", "from": text.index('", "c"') - 8})
    assert parts(middle.text)[0] == 'b b b b "'
    assert more(middle.text) == {"result": "r1", "from": text.index(', "c"')}
    end = excerpts.answer("2", {"result": "r1", "from": text.index(', "c"')})
    assert parts(end.text) == ('["c", "d"]', "items 3 to 4 of 4, the end of the result.")


def test_the_first_page_of_a_list_has_what_stands_before_it() -> None:
    excerpts = Excerpts(300)
    excerpts.keep(result(json.dumps({"title": "people", "rows": ROWS})))
    shown, _ = parts(excerpts.answer("2", {"result": "r1"}).text)
    assert json.loads(shown)["title"] == "people"


def test_lines_are_found_with_their_number_and_place() -> None:
    excerpts = Excerpts(400)
    excerpts.keep(result(LINES))
    found = excerpts.answer("2", {"result": "r1", "find": "LINE 99"})
    shown, last = parts(found.text)
    lines = shown.split("\n")
    first = LINES.index("line 99")
    assert lines[0] == f"100 @{first}: line 99: the quick brown fox"
    assert len(lines) == 11
    assert lines[-1].endswith("line 999: the quick brown fox")
    assert last == "11 of 11 matches, as line @character: text."
    assert excerpts.answer("2", {"result": "r1", "find": "wolf", "from": 7}) == ToolResult(
        "2", (Text('No line from character 7 on holds "wolf".'),)
    )


def test_a_search_goes_on_where_it_ended() -> None:
    excerpts = Excerpts(300)
    excerpts.keep(result(LINES))
    seen: list[str] = []
    arguments: dict[str, Any] | None = {"result": "r1", "find": "fox"}
    while arguments:
        text = excerpts.answer("2", arguments).text
        assert estimate(text) <= 300
        seen += [line.partition(": ")[2] for line in parts(text)[0].split("\n")]
        arguments = more(text)
    assert seen == LINES.split("\n")


def test_a_line_that_holds_it_twice_is_shown_once() -> None:
    excerpts = Excerpts(200)
    excerpts.keep(result(LINES + "\nowl and owl\nan Owl"))
    assert parts(excerpts.answer("2", {"result": "r1", "find": "owl"}).text) == (
        f"1001 @{len(LINES) + 1}: owl and owl\n1002 @{len(LINES) + 16}: an Owl",
        "3 of 3 matches, as line @character: text.",
    )


def test_of_a_long_line_the_part_around_what_was_found_is_shown() -> None:
    excerpts = Excerpts(300)
    text = "x " * 5000 + "needle" + " y" * 5000 + " needle"
    excerpts.keep(result(text))
    shown, last = parts(excerpts.answer("2", {"result": "r1", "find": "needle"}).text)
    first, second = shown.split("\n")
    assert re.fullmatch(r"1 @10000: …[x ]{140,150}needle[y ]{140,150}…", first)
    assert re.fullmatch(r"1 @20007: …[y ]{140,300}needle", second)
    assert last == "2 of 2 matches, as line @character: text."


# ── what is not there ────────────────────────────────────────────────────────────────────────────────────────────


def refused(excerpts: Excerpts, arguments: Any) -> str:
    answer = excerpts.answer("2", arguments)
    assert answer == ToolResult("2", answer.content, is_error=True)
    return answer.text


def test_what_is_not_there_is_an_error_that_says_what_is() -> None:
    excerpts = Excerpts(200)
    assert refused(excerpts, {"result": "r1"}) == 'There is no result "r1". No result is kept.'
    excerpts.keep(result(LINES))
    excerpts.keep(result(LINES), key="logs")
    assert refused(excerpts, {"result": "x"}) == 'There is no result "x". Kept results: "r1", "logs".'
    for wrong in (None, {}, {"result": 3}, [], "r1"):
        assert refused(excerpts, wrong) == '"result" must be the key of a result. Kept results: "r1", "logs".'
    length = len(LINES)
    for wrong in (-1, length, 10**30, "x", True, 1.5, [], float("nan")):
        assert refused(excerpts, {"result": "r1", "from": wrong}) == (
            f'"from" must be a number from 0 to {length - 1}: there are {length} characters.'
        )
    assert refused(excerpts, {"result": "r1", "find": 3}) == '"find" must be a text.'
    same = [excerpts.answer("2", {"result": "r1", "from": each}) for each in (35, "35", 35.0)]
    assert same[0] == same[1] == same[2]
    assert excerpts.answer("2", {"result": "r1", "find": ""}) == excerpts.answer("2", {"result": "r1", "from": None})


def test_the_oldest_results_go_when_there_are_too_many_and_are_told_from_those_that_never_were() -> None:
    excerpts = Excerpts(200, most=5 * len(LINES))
    whole = result(LINES)
    for _ in range(4):
        excerpts.keep(whole)
    assert [excerpts.result(f"r{i}") for i in (1, 2, 3, 4, 5)] == [None, None, whole, whole, None]
    assert refused(excerpts, {"result": "r1"}) == (
        'The result "r1" is no longer kept: call its tool again. Kept results: "r3", "r4".'
    )
    assert refused(excerpts, {"result": "r9"}) == 'There is no result "r9". Kept results: "r3", "r4".'


def test_a_result_that_is_too_long_to_be_kept_says_so() -> None:
    excerpts = Excerpts(200, most=1000)
    _, last = parts(excerpts.keep(result(LINES)).text)
    assert last.endswith("The rest is too long to be kept: ask for less.")
    assert excerpts.result("r1") is None


def test_a_key_is_given_once() -> None:
    excerpts = Excerpts(200)
    found = [more(excerpts.keep(result(LINES), key).text) or {} for key in ("a", "a", "", 'b"%d')]
    assert [each["result"] for each in found] == ["a", "r1", "r2", 'b"%d']


def test_the_tool_is_one_that_models_can_be_given() -> None:
    tool = Excerpts(100, name="more").tool
    assert tool == Tool(
        ToolId("", "more"),
        tool.description,
        tool.input_schema,
        hints=ToolHints(True, False, True, False),
    )
    assert list(tool.input_schema["properties"]) == ["result", "from", "find"]
    assert tool.input_schema["required"] == ["result"]
    assert "call more with" in Excerpts(100, name="more").keep(result(LINES)).text


# ── cutting alone ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut_text("short", 10) == Converted("short")
    assert cut_result(result("short"), 10) == result("short")


def test_a_text_that_is_cut_says_so_in_its_last_line() -> None:
    cut = cut_text(LINES, 100)
    shown, last = parts(cut.value)
    assert LINES.startswith(shown)
    assert last == f"characters 0 to {len(shown)} of {len(LINES)}. The rest was cut."
    assert cut.notes == (Note("result.cut", "narrowed", "", estimate(LINES)),)
    assert cut_result(result(LINES), 100) == ToolResult(
        "1", (Text(cut.value),), notes=(Note("result.cut", "narrowed", "/content", estimate(LINES)),)
    )


def test_a_text_that_is_cut_again_still_says_how_to_get_the_rest() -> None:
    kept = Excerpts(1000).keep(result(LINES))
    again = cut_text(kept.text, 300).value
    assert estimate(again) <= 300
    assert more(again) == more(kept.text)
    assert again.count("read_more") == 1
    assert again.splitlines()[-1] == kept.text.splitlines()[-1]
    assert re.fullmatch(r"\[Cut to characters 0 to \d+.* of \d+\.\]", again.splitlines()[-2])


def test_a_text_that_would_not_become_shorter_is_not_cut() -> None:
    text = "a b c d e f g h i j k l m n o p"
    assert cut_text(text, 5) == Converted(text)


def test_the_cost_is_linear() -> None:
    text = "\n".join(f"{i} " + "word " * 20 for i in range(50_000))
    items = json.dumps([{"id": i, "text": "word " * 10} for i in range(80_000)])
    excerpts = Excerpts(2000)
    begin = time.process_time()
    for each in (text, items, "x" * 5_000_000, "[" * 1_000_000, '{"a":' * 100_000, "needle" * 500_000):
        excerpts.keep(result(each), key=each[:1])
    excerpts.answer("2", {"result": "n", "find": "needle"})
    excerpts.answer("2", {"result": "[", "from": 4_000_000})
    assert time.process_time() - begin < 20


# ── whatever comes ───────────────────────────────────────────────────────────────────────────────────────────────

_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=40,
)
_texts = st.one_of(
    st.text(max_size=2000),
    st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=30), st.integers(1, 100)),
    st.lists(_json, max_size=40).map(json.dumps),
    st.dictionaries(st.text(max_size=5), st.lists(_json, max_size=30), max_size=3).map(
        lambda value: json.dumps(value, indent=1)
    ),
    st.builds(
        lambda text, times: f"[{json.dumps(text)}" + f",{json.dumps(text)}" * times + "]",
        st.text(max_size=300),
        st.integers(1, 50),
    ),
)


def characters(text: str) -> int:
    return len(text)


def words(text: str) -> int:
    return len(text.split())


_counters: st.SearchStrategy[Counter] = st.sampled_from([estimate, characters, words])


@settings(max_examples=200, deadline=None)
@given(_texts, st.integers(1, 600), _counters)
def test_whatever_the_text_it_fits_or_is_cut_and_is_cut_once(text: str, budget: int, count: Counter) -> None:
    cut = cut_text(text, budget, count)
    if not cut.notes:
        assert cut.value == text
        return
    assert count(cut.value) < count(text)
    assert cut.notes == (Note("result.cut", "narrowed", "", count(text)),)
    if budget >= 250:
        assert count(cut.value) <= budget
    assert cut_text(cut.value, budget, count).value == cut.value


@settings(max_examples=200, deadline=None)
@given(_texts, st.integers(120, 500))
def test_whatever_the_text_all_of_it_can_be_read(text: str, budget: int) -> None:
    excerpts = Excerpts(budget)
    whole = result(text)
    kept = excerpts.keep(whole)
    if kept is whole:
        assert estimate(text) <= budget
        return
    assert estimate(kept.text) <= budget
    assert excerpts.result("r1") is whole
    seen, place = 0, 0
    while place < len(text):
        answer = excerpts.answer("2", {"result": "r1", "from": place})
        assert not answer.is_error
        assert estimate(answer.text) <= budget
        shown, last = parts(answer.text)
        seen += 1
        following = (more(answer.text) or {"from": len(text)})["from"]
        assert following > place
        if last.startswith("characters") and " and " not in last:
            assert shown == text[place:following]
        elif last.startswith("items") and place:
            items = text.index(shown[1:-1], place)
            assert set(text[place:items]) <= set(", \n")
            assert set(text[items + len(shown) - 2 : following]) <= set(", \n]}")
        place = following
    assert seen < len(text) + 2


@settings(max_examples=100, deadline=None)
@given(_texts, st.integers(0, 2000), st.text(min_size=1, max_size=3), st.integers(150, 500))
def test_whatever_is_searched_every_line_that_holds_it_is_found(text: str, place: int, find: str, budget: int) -> None:
    excerpts = Excerpts(budget)
    kept = excerpts.keep(result(text))
    if not kept.notes:
        return
    find = text[place : place + 3] or find
    arguments: dict[str, Any] | None = {"result": "r1", "find": find}
    places: list[int] = []
    while arguments:
        answer = excerpts.answer("2", arguments)
        assert not answer.is_error
        assert estimate(answer.text) <= budget
        if answer.text.startswith("No line"):
            break
        places += [int(each) for each in re.findall(r"^\d+ @(\d+): ", parts(answer.text)[0], re.MULTILINE)]
        following = more(answer.text)
        assert following is None or following["from"] > arguments.get("from", 0)
        arguments = following
    meant = re.compile(re.escape(find), re.IGNORECASE)
    assert all(meant.match(text, each) for each in places)
    assert sorted(set(places)) == places
    if "\n" not in find:
        numbers = {text.count("\n", 0, each) for each in places}
        assert numbers == {i for i, line in enumerate(text.split("\n")) if meant.search(line)}


@given(
    st.dictionaries(
        st.sampled_from(["result", "from", "find"]), st.none() | st.integers() | st.floats() | st.text() | st.just("r1")
    )
)
def test_whatever_is_asked_there_is_an_answer(arguments: dict[str, Any]) -> None:
    excerpts = Excerpts(200)
    excerpts.keep(result(LINES))
    assert excerpts.answer("2", arguments).text
