"""What becomes of results and of content: carried where it can be, said where it cannot, and said once."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_histories import MEDIA
from toolbridge.history.media import (
    NOTHING_RETURNED,
    NOTHING_SAID,
    Placed,
    described,
    placed_parts,
    placed_result,
    result_text,
)
from toolbridge.history.rules import IMAGES, NOTHING, PDF, Carries, Rules
from toolbridge.history.said import said_within, same_json, says, well_formed
from toolbridge.notes import Note
from toolbridge.types import Audio, Content, Image, Resource, ResourceLink, Text, ToolResult


def data(content: bytes) -> str:
    return b64encode(content).decode()


PNG = data(b"\x89PNG\r\n\x1a\n" + bytes(24))
JPEG = data(b"\xff\xd8\xff\xe0" + bytes(24))
GIF = data(b"GIF89a" + bytes(24))
WEBP = data(b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(8))
WAV = data(b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(8))
PDF_FILE = data(b"%PDF-1.7\n" + bytes(24))
ZIP = data(b"PK\x03\x04" + bytes(24))

ALL = Carries(images=IMAGES, audio=frozenset({"audio/wav", "audio/mp3"}), documents=frozenset({PDF, "text/plain"}))
INSIDE = Rules(in_results=ALL, in_user=ALL, error_flag=True)
AFTER = Rules(in_user=ALL, error_flag=True)
TEXT = Rules(error_flag=True)


def place(*content: Content, rules: Rules = TEXT, structured: Any = None, is_error: bool = False) -> Placed:
    return placed_result(ToolResult("1", content, structured, is_error), rules)


# ── media in results ─────────────────────────────────────────────────────────────────────────────────────────────


def test_media_that_a_result_can_hold_stay_inside() -> None:
    blocks = (
        Text("here"),
        Image(PNG, "image/png"),
        Audio(WAV, "audio/wav"),
        Resource("file:///a.pdf", PDF, blob=PDF_FILE),
    )
    assert place(*blocks, rules=INSIDE) == Placed(blocks)


def test_media_that_only_a_user_can_send_follow_and_the_result_says_so() -> None:
    image, sound = Image(PNG, "image/png"), Audio(WAV, "audio/wav")
    document = Resource("file:///a.pdf", PDF, blob=PDF_FILE)
    assert place(Text("here"), image, sound, document, rules=AFTER) == Placed(
        (
            Text("here"),
            Text("[image: image/png, 32 bytes, in the message that follows]"),
            Text("[audio: audio/wav, 24 bytes, in the message that follows]"),
            Text("[resource: file:///a.pdf, application/pdf, 33 bytes, in the message that follows]"),
        ),
        after=(image, sound, document),
        notes=(
            Note("image.after", "changed", "/content/1", "image/png"),
            Note("audio.after", "changed", "/content/2", "audio/wav"),
            Note("resource.after", "changed", "/content/3", PDF),
        ),
    )


def test_media_that_nobody_can_send_are_described() -> None:
    archive = Resource("file:///a.zip", "application/zip", blob=ZIP)
    assert place(Image(PNG, "image/png"), Audio(WAV, "audio/wav"), archive) == Placed(
        (
            Text("[image: image/png, 32 bytes]"),
            Text("[audio: audio/wav, 24 bytes]"),
            Text("[resource: file:///a.zip, application/zip, 28 bytes]"),
        ),
        notes=(
            Note("image.described", "narrowed", "/content/0", "image/png"),
            Note("audio.described", "narrowed", "/content/1", "audio/wav"),
            Note("resource.described", "narrowed", "/content/2", "application/zip"),
        ),
    )


def test_an_image_of_a_kind_that_is_not_listed_is_described_even_where_images_are_carried() -> None:
    image = Image(data(b"II*\0" + bytes(8)), "image/tiff")
    assert place(image, rules=INSIDE) == Placed(
        (Text("[image: image/tiff, 12 bytes]"),),
        notes=(Note("image.described", "narrowed", "/content/0", "image/tiff"),),
    )


def test_bytes_of_which_nobody_knows_what_they_are_are_not_sent_as_an_image_even_where_every_image_is_carried() -> None:
    any_image = Rules(in_results=Carries(images=frozenset({"image/*"})))
    assert place(Image(ZIP, "image/*"), rules=any_image) == Placed(
        (Text("[image: image/*, 28 bytes]"),), notes=(Note("image.described", "narrowed", "/content/0", "image/*"),)
    )
    assert place(Image(ZIP, "image/x-odd"), rules=any_image) == Placed((Image(ZIP, "image/x-odd"),))


def test_a_resource_that_is_an_image_or_a_sound_is_one_and_its_address_is_still_said() -> None:
    image = Resource("file:///a.png", "image/png", blob=PNG)
    sound = Resource("file:///a.wav", "audio/wav", blob=WAV)
    assert place(image, sound, rules=INSIDE) == Placed(
        (
            Text("[resource: file:///a.png, image/png]"),
            Image(PNG, "image/png"),
            Text("[resource: file:///a.wav, audio/wav]"),
            Audio(WAV, "audio/wav"),
        )
    )
    assert place(image, rules=AFTER) == Placed(
        (Text("[resource: file:///a.png, image/png, 32 bytes, in the message that follows]"),),
        after=(Image(PNG, "image/png"),),
        notes=(Note("image.after", "changed", "/content/0", "image/png"),),
    )


def test_links_and_texts_of_resources_are_said_in_a_result_and_lose_nothing() -> None:
    link = ResourceLink("https://example.org/a", "a", "text/html", "A page")
    text = Resource("file:///a.txt", "text/plain", text="line 1\nline 2")
    said = (
        Text("[link: a, https://example.org/a, text/html, A page]"),
        Text("[resource: file:///a.txt, text/plain]\nline 1\nline 2"),
    )
    assert place(link, text) == place(link, text, rules=INSIDE) == Placed(said)


def test_a_text_file_with_nothing_in_it_is_named_and_is_no_document() -> None:
    blank = Resource("file:///a.txt", "text/plain", blob=data(b" \n"))
    named = Text("[resource: file:///a.txt, text/plain]\n \n")
    assert placed_result(ToolResult("a", (blank,)), INSIDE).blocks == (named,)
    assert placed_parts((blank,), ALL) == ((named,), ())


def test_a_file_that_is_text_is_read_as_text_where_it_is_not_carried() -> None:
    csv = Resource("file:///a.csv", "text/csv; charset=utf-8", blob=data("a;ä\n".encode()))
    assert place(csv, rules=INSIDE) == Placed((Text("[resource: file:///a.csv, text/csv; charset=utf-8]\na;ä\n"),))
    plain = Resource("file:///a.txt", "text/plain", blob=data(b"hi"))
    assert place(plain, rules=INSIDE) == Placed((plain,))
    assert place(plain) == Placed((Text("[resource: file:///a.txt, text/plain]\nhi"),))
    latin = replace(csv, blob=data("ä".encode("latin-1")))
    assert place(latin) == Placed(
        (Text("[resource: file:///a.csv, text/csv; charset=utf-8, 1 bytes]"),),
        notes=(Note("resource.described", "narrowed", "/content/0", "text/csv; charset=utf-8"),),
    )
    untold = Resource("file:///x", None, blob=data(b"hi"))
    assert place(untold) == Placed((Text("[resource: file:///x]\nhi"),))
    assert place(replace(untold, blob=data(b"a\0b"))).notes == (Note("resource.described", "narrowed", "/content/0"),)


@pytest.mark.parametrize(
    ("told", "sent"),
    [
        ("image/PNG", "image/png"),
        (" image/png ; charset=binary", "image/png"),
        ("", "image/png"),
        ("image", "image/png"),
        ("image/*", "image/png"),
        ("application/octet-stream", "image/png"),
    ],
)
def test_a_type_is_read_without_case_and_parameters_and_by_the_bytes_where_it_says_nothing(
    told: str, sent: str
) -> None:
    assert place(Image(PNG, told), rules=INSIDE) == Placed((Image(PNG, sent),))


@pytest.mark.parametrize(
    ("content", "sent"),
    [(PNG, "image/png"), (JPEG, "image/jpeg"), (GIF, "image/gif"), (WEBP, "image/webp")],
)
def test_images_are_known_by_how_they_begin(content: str, sent: str) -> None:
    assert place(Image(content, ""), rules=INSIDE) == Placed((Image(content, sent),))
    assert place(Resource("", None, blob=content), rules=INSIDE) == Placed((Image(content, sent),))


def test_a_pdf_and_a_sound_are_known_by_how_they_begin() -> None:
    assert place(Resource("a", None, blob=PDF_FILE), rules=INSIDE) == Placed((Resource("a", PDF, blob=PDF_FILE),))
    assert place(Audio(WAV, ""), rules=INSIDE) == Placed((Audio(WAV, "audio/wav"),))


def test_types_with_two_names_are_spelt_as_the_rules_spell_them() -> None:
    assert place(Image(JPEG, "image/jpg"), rules=INSIDE) == Placed((Image(JPEG, "image/jpeg"),))
    sound = data(b"ID3" + bytes(20))
    assert place(Audio(sound, "audio/mpeg"), rules=INSIDE) == Placed((Audio(sound, "audio/mp3"),))
    assert place(Audio(WAV, "audio/x-wav"), rules=INSIDE) == Placed((Audio(WAV, "audio/wav"),))


def test_an_image_of_another_kind_than_it_says_goes_under_its_true_name() -> None:
    assert place(Image(JPEG, "image/png"), rules=INSIDE) == Placed(
        (Image(JPEG, "image/jpeg"),), notes=(Note("mime.corrected", "changed", "/content/0", "image/png"),)
    )


@pytest.mark.parametrize("bad", ["%%%", "a", "ä", "", "====", "data:image/png,x", f"{PNG}!"])
def test_data_that_cannot_be_read_is_never_sent(bad: str) -> None:
    resource = Resource("file:///a", "image/png", blob=bad)
    assert place(Image(bad, "image/png"), Audio(bad, "audio/wav"), resource, rules=INSIDE) == Placed(
        (
            Text("[image: image/png, its data cannot be read]"),
            Text("[audio: audio/wav, its data cannot be read]"),
            Text("[resource: file:///a, image/png, its data cannot be read]"),
        ),
        notes=(
            Note("image.unreadable", "narrowed", "/content/0", "image/png"),
            Note("audio.unreadable", "narrowed", "/content/1", "audio/wav"),
            Note("resource.unreadable", "narrowed", "/content/2", "image/png"),
        ),
    )


@pytest.mark.parametrize(
    "written",
    [
        PNG.rstrip("="),
        PNG[:20] + "\n" + PNG[20:] + "\n",
        f"data:image/png;base64,{PNG}",
        JPEG.replace("/", "_").replace("+", "-"),
    ],
)
def test_base64_is_sent_in_its_standard_form(written: str) -> None:
    [block] = place(Image(written, ""), rules=INSIDE).blocks
    assert isinstance(block, Image)
    assert block.data in (PNG, JPEG)


# ── structured content ───────────────────────────────────────────────────────────────────────────────────────────

VALUE = {"degrees": 21.5, "city": "Zürich", "ok": True}

SAME: dict[str, tuple[list[str], Any]] = {
    "the same JSON": ([json.dumps(VALUE)], VALUE),
    "laid out": ([json.dumps(VALUE, indent=2, sort_keys=True)], VALUE),
    "wrapped": (["[1, 2]"], {"result": [1, 2]}),
    "a wrapped text": (["hello"], {"result": "hello"}),
    "a text that is a number": (["7"], {"result": "7"}),
    "a block for each item": (['{"a": 1}', '{"a": 2}'], {"result": [{"a": 1}, {"a": 2}]}),
    "a block for each text": (["a", "2"], {"result": ["a", 2]}),
    "a list of one": (["a"], {"result": ["a"]}),
    "a bare list": (["1", "2"], [1, 2]),
    "a number spelt otherwise": (['{"n": 1.0}'], {"n": 1}),
    "a key that is really there": (['{"result": 3}'], {"result": 3}),
}
OTHER: dict[str, tuple[list[str], Any]] = {
    "a summary": (["It is warm."], VALUE),
    "less": (['{"degrees": 21.5}'], VALUE),
    "truth is no number": (['{"n": true}'], {"n": 1}),
    "one item of two": (["1"], {"result": [1, 2]}),
    "another order": (["2", "1"], {"result": [1, 2]}),
    "null": (["null"], {"result": 0}),
    "no text": ([], {"result": []}),
    "not JSON": (["{"], {}),
}


@pytest.mark.parametrize("case", SAME)
def test_structured_content_that_the_text_says_is_sent_once(case: str) -> None:
    texts, structured = SAME[case]
    blocks = tuple(Text(each) for each in texts)
    assert says(texts, structured)
    assert place(*blocks, structured=structured) == Placed(blocks)
    assert place(*blocks, structured=structured, rules=replace(TEXT, structured=True)) == Placed(blocks, structured)
    assert result_text(ToolResult("", blocks, structured)) == "\n".join(texts)


@pytest.mark.parametrize("case", OTHER)
def test_structured_content_that_the_text_does_not_say_is_added_to_it(case: str) -> None:
    texts, structured = OTHER[case]
    blocks = tuple(Text(each) for each in texts)
    added = Text(json.dumps(structured, ensure_ascii=False, separators=(",", ":")))
    assert not says(texts, structured)
    assert place(*blocks, structured=structured) == Placed((*blocks, added))
    sent = place(*blocks, structured=structured, rules=replace(TEXT, structured=True))
    assert sent == Placed((*blocks, added), None if texts else structured)


def test_structured_content_that_one_text_of_several_says_is_not_said_again_nor_sent_in_place_of_all() -> None:
    for blocks in ((Text("Found:"), Text(json.dumps(VALUE))), (Text(json.dumps(VALUE)), Text("That is all."))):
        assert place(*blocks, structured=VALUE) == Placed(blocks)
        assert place(*blocks, structured=VALUE, rules=replace(TEXT, structured=True)) == Placed(blocks)
    held = Resource("mem://1", "application/json", text=json.dumps(VALUE))
    assert place(held, structured=VALUE) == Placed((Text(described(held)),))


def test_structured_content_does_not_hide_what_else_is_said() -> None:
    rules = replace(INSIDE, structured=True)
    text, image = Text(json.dumps(VALUE)), Image(PNG, "image/png")
    assert place(text, image, structured=VALUE, rules=rules) == Placed((text, image), VALUE)
    link = ResourceLink("mem://1")
    assert place(text, link, structured=VALUE, rules=rules) == Placed((text, Text("[link: mem://1]")))
    assert place(text, link, structured={"n": 2}, rules=rules) == Placed(
        (text, Text("[link: mem://1]"), Text('{"n":2}'))
    )


def test_structured_content_of_a_failure_is_text_where_nothing_else_could_say_that_it_failed() -> None:
    flagged = replace(TEXT, structured=True)
    assert place(structured={"n": 1}, is_error=True, rules=flagged) == Placed((Text('{"n":1}'),), {"n": 1})
    assert place(structured={"n": 1}, is_error=True, rules=replace(flagged, error_flag=False)) == Placed(
        (Text('Error: {"n":1}'),), notes=(Note("error.said", "changed"),)
    )


def test_structured_content_that_is_no_json_is_text() -> None:
    rules = replace(TEXT, structured=True)
    assert place(structured={"n": float("nan")}, rules=rules) == Placed((Text('{"n":NaN}'),))
    abyss: list[Any] = []
    for _ in range(100_000):
        abyss = [abyss]
    [block] = place(structured=abyss, rules=rules).blocks
    assert isinstance(block, Text)
    assert block.text.startswith("[[[[[[")
    assert len(block.text) <= 10_000


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_empty_texts_are_gone_and_nothing_at_all_says_so() -> None:
    empty = (Note("result.empty", "changed"),)
    assert place(Text(""), Text("a"), Text(" \n")) == Placed((Text("a"),))
    assert place() == place(Text("")) == place(Text(" ")) == Placed((Text(NOTHING_RETURNED),), notes=empty)
    assert place(is_error=True) == Placed((Text(NOTHING_SAID),), notes=empty)
    assert place(is_error=True, rules=Rules()) == Placed((Text(NOTHING_SAID),), notes=empty)


def test_a_failure_says_so_where_there_is_no_flag() -> None:
    said = (Note("error.said", "changed"),)
    rules = Rules(in_results=ALL)
    image = Image(PNG, "image/png")
    assert place(Text("no such file"), is_error=True, rules=rules) == Placed((Text("Error: no such file"),), notes=said)
    assert place(Text("no such file"), rules=rules) == Placed((Text("no such file"),))
    assert place(Text("no such file"), is_error=True) == Placed((Text("no such file"),))
    for text in ("Error: x", "ERROR x", "\n errors"):
        assert place(Text(text), is_error=True, rules=rules) == Placed((Text(text),))
    assert place(image, Text("a"), Text("b"), is_error=True, rules=rules) == Placed(
        (image, Text("Error: a"), Text("b")), notes=said
    )
    assert place(image, is_error=True, rules=rules) == Placed((Text("Error: the tool failed."), image), notes=said)


def test_half_a_character_is_replaced_and_a_pair_of_halves_is_a_character() -> None:
    replaced = Note("character.replaced", "narrowed", "/content/0")
    assert place(Text("a\ud83db")) == Placed((Text("a\ufffdb"),), notes=(replaced,))
    assert well_formed("\ud83d\ude00 \ude00\ud83d") == "\U0001f600 \ufffd\ufffd"
    assert place(structured={"a": "\ud83d"}, rules=replace(TEXT, structured=True)) == Placed(
        (Text('{"a":"\ufffd"}'),), {"a": "\ufffd"}, notes=(Note("character.replaced", "narrowed", "/structured"),)
    )
    assert placed_parts((Text("\udc00"),), NOTHING) == (
        (Text("\ufffd"),),
        (Note("character.replaced", "narrowed", "/0"),),
    )
    uri = Resource("a\ud800", PDF, blob=PDF_FILE)
    assert place(uri, rules=INSIDE).blocks == (Resource("a\ufffd", PDF, blob=PDF_FILE),)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_message_can_hold_is_carried() -> None:
    carries = replace(ALL, links=frozenset({"image/*", PDF}))
    parts = (
        Text("see"),
        Image(PNG, "image/png", {"id": 1}),
        Audio(WAV, "audio/wav"),
        Resource("a.pdf", PDF, blob=PDF_FILE),
        Resource("a.txt", "text/plain", text="hi"),
        ResourceLink("https://example.org/a.svg", "a", "image/svg+xml"),
        ResourceLink("HTTP://example.org/a.pdf", "a", PDF),
    )
    assert placed_parts(parts, carries) == (parts, ())


def test_what_a_message_cannot_hold_is_said() -> None:
    parts = (
        Image(PNG, "image/png"),
        Audio("?", "audio/wav"),
        Resource("a.zip", "application/zip", blob=ZIP),
        Resource("a.txt", "text/plain", text="hi"),
        ResourceLink("https://example.org/a.png", "a", "image/png", "A"),
        Text(""),
        Text(" \t"),
        Text("", {"thoughtSignature": "x"}),
    )
    assert placed_parts(parts, NOTHING) == (
        (
            Text("[image: image/png, 32 bytes]"),
            Text("[audio: audio/wav, its data cannot be read]"),
            Text("[resource: a.zip, application/zip, 28 bytes]"),
            Text("[resource: a.txt, text/plain]\nhi"),
            Text("[link: a, https://example.org/a.png, image/png, A]"),
            Text("", {"thoughtSignature": "x"}),
        ),
        (
            Note("image.described", "narrowed", "/0", "image/png"),
            Note("audio.unreadable", "narrowed", "/1", "audio/wav"),
            Note("resource.described", "narrowed", "/2", "application/zip"),
            Note("link.said", "changed", "/4", "https://example.org/a.png"),
        ),
    )


@pytest.mark.parametrize(
    ("link", "carried"),
    [
        (ResourceLink("https://x.org/a.png", "", "image/png"), "image/png"),
        (ResourceLink("https://x.org/a.png?size=2#x"), "image/png"),
        (ResourceLink("https://x.org/a", "", "image/*"), "image/*"),
        (ResourceLink("https://x.org/a.JPG", "", "image/*"), "image/jpeg"),
        (ResourceLink("https://x.org/a", "", "Image/PNG; q=1"), "image/png"),
        (ResourceLink("https://x.org/a"), None),
        (ResourceLink("https://x.org/a.pdf"), None),
        (ResourceLink("https://x.org/a.png", "", "text/html"), None),
        (ResourceLink("file:///a.png", "", "image/png"), None),
        (ResourceLink("httpsx://a.png", "", "image/png"), None),
    ],
)
def test_a_link_is_carried_where_its_kind_is_and_where_it_leads_to_the_web(
    link: ResourceLink, carried: str | None
) -> None:
    for types in (frozenset({"image/png", "image/jpeg"}), frozenset({"image/*"})):
        [part], notes = placed_parts((link,), Carries(links=types))
        if carried is None:
            assert (part, notes) == (Text(described(link)), (Note("link.said", "changed", "/0", link.uri),))
        else:
            assert (part, notes) == (replace(link, mime_type=carried), ())


def test_a_file_of_the_users_that_is_an_image_is_one_and_its_name_is_lost() -> None:
    assert placed_parts((Resource("cat.png", "image/png", blob=PNG),), ALL) == (
        (Image(PNG, "image/png"),),
        (Note("uri.dropped", "narrowed", "/0", "cat.png"),),
    )
    assert placed_parts((Resource("", "image/png", blob=PNG),), ALL) == ((Image(PNG, "image/png"),), ())


def test_a_whole_result_is_one_text() -> None:
    result = ToolResult(
        "",
        (Text("a"), Image(PNG, "image/png"), ResourceLink("mem://1", "one"), Resource("mem://2", None, text="b")),
        {"n": 1},
    )
    assert (
        result_text(result) == 'a\n[image: image/png, 32 bytes]\n[link: one, mem://1]\n[resource: mem://2]\nb\n{"n": 1}'
    )
    assert result_text(ToolResult("")) == ""


# ── whatever comes ───────────────────────────────────────────────────────────────────────────────────────────────

_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.just("result"), inner, max_size=3)
    ),
    max_leaves=6,
)
_words = st.text(max_size=5) | st.sampled_from(["", " ", "Error", "half \ud83d", "{}", '{"result": 1}'])
_types = st.sampled_from(
    ["", "image/png", "IMAGE/JPG; a=b", "audio/wav", "audio/mpeg", "text/plain", PDF, "x/y", "image/*"]
)
_data = st.sampled_from([PNG, JPEG, WAV, PDF_FILE, ZIP, "?", "", "aGk"])
_content: st.SearchStrategy[Content] = st.one_of(
    st.builds(Text, _words | _json.map(json.dumps)),
    st.builds(Image, _data, _types),
    st.builds(Audio, _data, _types),
    st.builds(Resource, _words, st.none() | _types, st.none() | _words, st.none() | _data),
    st.builds(ResourceLink, _words | st.just("https://x.org/a.png"), _words, st.none() | _types, st.none() | _words),
    st.sampled_from(MEDIA),
)
_results = st.builds(
    ToolResult, st.just("1"), st.lists(_content, max_size=4).map(tuple), st.none() | _json, st.booleans()
)
_carries = st.sampled_from([NOTHING, ALL, Carries(images=IMAGES), Carries(links=frozenset({"image/*"}))])
_rules = st.builds(Rules, in_results=_carries, in_user=_carries, error_flag=st.booleans(), structured=st.booleans())


def sendable(part: Any, carries: Carries) -> bool:
    match part:
        case Text():
            return bool(part.text.strip())
        case Image():
            return part.mime_type in carries.images
        case Audio():
            return part.mime_type in carries.audio
        case Resource():
            return part.mime_type in carries.documents
        case _:
            return part.mime_type == "image/*" or str(part.mime_type).startswith("image/")


@given(_results, _rules)
def test_whatever_a_result_holds_it_can_be_sent_and_nothing_goes_in_silence(result: ToolResult, rules: Rules) -> None:
    placed = placed_result(result, rules)
    assert placed.blocks
    assert all(sendable(each, rules.in_results) for each in placed.blocks)
    assert all(sendable(each, rules.in_user) and not isinstance(each, Text) for each in placed.after)
    json.dumps(
        [placed.structured, [described(each) for each in placed.blocks]], ensure_ascii=False, allow_nan=False
    ).encode()
    texts = [each.text for each in placed.blocks if isinstance(each, Text)]
    assert placed.structured is None or says(texts, placed.structured)
    if result.structured is not None and "\\ud83d" not in repr(result) and (rules.error_flag or not result.is_error):
        said = [each.partition("]\n")[2] if each.startswith("[resource: ") else each for each in texts]
        compact = json.dumps(result.structured, ensure_ascii=False, separators=(",", ":"))
        assert said_within(said, result.structured) or compact in texts
    if result.is_error and not rules.error_flag:
        assert texts[0].lstrip()[:5].lower() == "error" or texts == [NOTHING_SAID]
    media = [each for each in result.content if isinstance(each, Image | Audio)]
    kept = sum(isinstance(each, Image | Audio | Resource) for each in (*placed.blocks, *placed.after))
    lost = sum(each.code.endswith((".described", ".unreadable")) for each in placed.notes)
    assert kept + lost >= len(media)


@given(st.lists(_content, max_size=4), _carries)
def test_whatever_a_message_holds_it_can_be_sent_and_stays_as_it_is_when_placed_again(
    parts: list[Content], carries: Carries
) -> None:
    placed, _ = placed_parts(parts, carries)
    assert all(sendable(each, carries) for each in placed)
    json.dumps([repr(each) for each in placed], ensure_ascii=False)
    again = [each for each in placed if isinstance(each, Text | Image | Audio | Resource | ResourceLink)]
    assert placed_parts(again, carries) == (placed, ())


@given(_json, _json)
def test_values_are_the_same_json_only_where_they_are_written_alike(one: Any, other: Any) -> None:
    assert same_json(one, one)
    assert same_json(json.loads(json.dumps(one)), one)
    if json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True):
        assert same_json(one, other)
    if not same_json(one, other):
        assert json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)
    assert says([json.dumps(one)], one)
    assert says([json.dumps(one)], {"result": one})
