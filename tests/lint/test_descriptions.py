"""Rules for descriptions, at their edges: thresholds, other languages, words that only look like the fault."""

from __future__ import annotations

import time

import pytest

from tests.lint.examining import described, findings, flaws, shown

GOOD = (
    "Search for products in the catalog. Returns matching products with prices and availability. "
    "Use when the user wants to find or browse products."
)


def rules_of(text: str, name: str = "search_products") -> list[str]:
    return [each.rule for each in findings("description", described(text, name))]


def test_the_good_example_of_the_guide_passes_every_rule() -> None:
    assert rules_of(GOOD) == []


def test_the_bad_example_of_the_guide_fails() -> None:
    assert rules_of("Search function") == ["description.short"]


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000"])
def test_a_description_of_nothing_is_one_finding(text: str) -> None:
    assert rules_of(text) == ["description.missing"]


def test_three_words_are_short_no_more_and_dense_scripts_count_characters() -> None:
    short = ["List orders", "Go up it", "检查内"]
    fine = ["List all orders", "设置断点", "현재 날씨를 조회합니다", "ค้นหาสินค้า"]
    assert [text for text in short + fine if flaws("description.short", described(text))] == short


def test_a_thousand_and_twenty_four_characters_are_not_too_long() -> None:
    (found,) = flaws("description.long", described("a" * 1_024), described("b" * 1_025))
    assert found.span == (1_024, 1_025)
    assert found.message.startswith("the description has 1,025 characters; Azure OpenAI refuses more than 1,024")


@pytest.mark.parametrize(
    "text",
    [
        "Busca productos en el catálogo de la tienda",
        "Sucht nach Produkten im Katalog und in den Angeboten der Läden",
        "Recherche des produits dans le catalogue de la boutique",
        "在目录中搜索产品",
        "カタログ内の商品を検索する",
        "Поиск товаров в каталоге",
        "البحث عن المنتجات في الكتالوج",
        "Tìm kiếm sản phẩm trong danh mục",
    ],
)
def test_other_languages_are_not_blamed_for_lacking_english_phrases(text: str) -> None:
    assert rules_of(text) == []


def test_a_mixed_text_of_mostly_english_is_english() -> None:
    assert rules_of("Delete the café's product from the catalogue") == ["description.returns", "description.when"]


@pytest.mark.parametrize(
    "text",
    [
        "Search for products. Outputs a table.",
        "Search for products -> list of names",
        "Search for products and give the answer as a list",
        "List the products of the shop",
        "[Shop] Get the products of a shop",
        "Deletes a product. Responds with its id.",
    ],
)
def test_what_comes_back_may_be_said_in_several_ways(text: str) -> None:
    assert flaws("description.returns", described(text)) == []


@pytest.mark.parametrize(
    "text", ["Search for products in the shop", "Delete a product of the given name", "Create an order"]
)
def test_a_product_is_not_produced(text: str) -> None:
    assert len(flaws("description.returns", described(text))) == 1


def test_an_output_schema_says_what_comes_back() -> None:
    assert flaws("description.returns", described("Search for products in it", outputSchema={"type": "object"})) == []


@pytest.mark.parametrize(
    "text",
    [
        "Search products when asked for one.",
        "Use this to look for products.",
        "Search products. Useful for browsing.",
        "Search products; call this once per query.",
        "Search products instead of guessing.",
        "Lets you look for products of a shop.",
    ],
)
def test_when_to_use_a_tool_may_be_said_in_several_ways(text: str) -> None:
    assert flaws("description.when", described(text)) == []


def test_a_description_that_repeats_the_name_in_other_forms_is_found() -> None:
    repeated = ["Search products.", "This tool searches the products", "Searching for a given product in the shop"]
    fuller = ["Search products by price", "Search products of a shop that are in stock"]
    found = findings("description.repeats", *(described(text, "search_products") for text in repeated[:2]))
    assert len(found) == 2
    assert len(findings("description.repeats", described(repeated[2], "search_products"), server="shop")) == 1
    assert [text for text in fuller if flaws("description.repeats", described(text))] == []


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("TODO", "TODO"),
        ("TODO: write this", "TODO:"),
        ("some description", "some description"),
        ("Lorem ipsum dolor sit amet", "Lorem ipsum"),
        ("Your description here", "description here"),
        ("No description provided.", "No description provided"),
        ("N/A", "N/A"),
    ],
)
def test_a_description_that_was_never_written_is_found(text: str, span: str) -> None:
    assert [shown(each) for each in flaws("description.placeholder", described(text))] == [span]


@pytest.mark.parametrize(
    "text",
    [
        "Create a TODO item in the list",
        "Sets the description of an issue",
        "Add a description to the product",
        "Marks todo: items as done",
        "Returns None where nothing is found",
    ],
)
def test_texts_about_todos_and_descriptions_are_no_placeholders(text: str) -> None:
    assert flaws("description.placeholder", described(text)) == []


def test_markup_is_found_and_quoted_tags_are_not() -> None:
    (found,) = flaws("description.markup", described("It's <b>bold</b>, isn't it"))
    assert shown(found) == "<b>"
    assert [shown(each) for each in flaws("description.markup", described("Fish &amp; chips"))] == ["&amp;"]
    fine = [
        "Adds `<p></p>`",
        'Adds "<br/>" to it',
        "```\n<b>x</b>\n```",
        "a < b and b > c",
        "Use <city> & <zip>",
        "<h1> to <h3>",
    ]
    assert [text for text in fine if flaws("description.markup", described(text))] == []


def test_a_docstring_that_explains_parameters_is_found_with_the_reason_that_holds() -> None:
    text = "Search.\n\nArgs:\n    query (str): what to look for\n    limit: how many\n\nReturns:\n    products"
    bare = {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}
    said = {"type": "object", "properties": {key: {"description": "It"} for key in ("query", "limit")}}
    first, second = flaws(
        "description.sections", described(text, inputSchema=bare), described(text, "b", inputSchema=said)
    )
    assert shown(first) == "Args:"
    assert first.message == (
        "the description explains parameters (query, limit), where clients that show the schema do not look: "
        "describe them in the schema, once"
    )
    assert "which the schema says already" in second.message
    assert flaws("description.sections", described("Parameters:\nnone of note", inputSchema=bare)) == []


def test_praise_is_found_and_facts_that_sound_like_it_are_not() -> None:
    assert [
        shown(each) for each in flaws("description.promotional", described("Our cutting-edge, world-class search"))
    ] == ["cutting-edge"]
    fine = [
        "Find the best route",
        "Names must have 3 letters",
        "Returns unmatched rows",
        "Next-generation sequencing data",
    ]
    assert [text for text in fine if flaws("description.promotional", described(text))] == []


def test_one_description_for_two_tools_is_found_whatever_its_spaces() -> None:
    (found,) = findings(
        "description.duplicate",
        described("Get an order", "a"),
        described("get  an\norder ", "b"),
        described("", "c"),
        described("", "d"),
    )
    assert found.tool is not None
    assert (found.tool.name, found.message) == ("b", "the description is that of 'a': say how they differ")


@pytest.mark.parametrize(
    "text",
    [
        "a " * 500_000,
        "<" * 100_000,
        "![" * 50_000,
        "'\"`" * 50_000,
        "use " * 100_000,
        "\ud800 \x00 \u202e here",
        "Args:\n" * 50_000,
        "  # " * 50_000,
    ],
)
def test_hostile_descriptions_are_read_in_bounded_time(text: str) -> None:
    begin = time.process_time()
    findings("description", described(text, inputSchema={"type": "object", "properties": {"a": {}}}))
    assert time.process_time() - begin < 10
