"""The report for people: grouped, the gravest first, folded, with carets under what is wrong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lint.reports import FINDINGS, SOURCE, finding, places, report, tools
from toolbridge.display import cells
from toolbridge.lint.finding import Finding, Waived
from toolbridge.lint.linting import lint_tools
from toolbridge.lint.places import NOWHERE, SourceLabel
from toolbridge.lint.report import write_report
from toolbridge.lint.report.excerpt import excerpt
from toolbridge.tools import read_tools

WHOLE = """\
tools.json · 3 tools · score 85

  all tools together
    info     cost.list: the list costs much

  find_order  67  tools.json:5
    error    safety.hidden-text: a character that nobody sees stands in the
             description; remove it  /description
             │ Cheap\\u200band quick.
             │      ^^^^^^
    warning  parameter.no-description: parameter 'id' has no description
             /inputSchema/properties/id
             and in 3 more parameters: customer, since, until

  drop_v2  91  tools.json:25
    warning  name.version: the name carries a version: 'drop' would do
             │ drop_v2
             │      ^^
    info     description.short: says ::error::x ##[error] %0A {0} | `x`
             <b>@octocat</b> [a](http://evil.test) $x$ #1 www.evil.test
             \\x1b[31m\\u202e\\ud800  /description

  1 tool without findings: list_orders

1 error, 5 warnings, 2 remarks in 2 of 3 tools · score 85
2 waived: name.verb (1), result.no-output-schema (1)
"""


def test_findings_stand_by_tool_the_gravest_first_with_the_text_that_is_wrong() -> None:
    assert write_report(report(), "text", source=SOURCE, places=places(), width=80) == WHOLE


def test_where_all_is_well_there_is_one_line() -> None:
    assert write_report(report([], ()), "text", source=SOURCE) == "tools.json: 3 tools, nothing to find fault with\n"
    assert write_report(report([]), "text", source=SOURCE).endswith("nothing to find fault with (2 waived)\n")
    assert write_report(lint_tools([]), "text", source=SOURCE) == "tools.json: no tools\n"


def test_colours_add_nothing_but_colours() -> None:
    def paint(text: str, *styles: str) -> str:
        return f"<{','.join(styles)}>{text}</>" if text else text

    painted = write_report(report(), "text", source=SOURCE, places=places(), width=80, paint=paint)
    bare = re.sub("</>|<(?:bold|dim|red|green|yellow|cyan|,)+>", "", painted)
    assert [line.rstrip() for line in bare.split("\n")] == WHOLE.split("\n")
    assert "<red,bold>1 error</>" in painted


def of_server(server: str, name: str, message: str) -> Finding:
    return finding("name.case", "info", name, message, "/name", server=server)


def test_several_servers_have_a_line_each_at_the_end_and_what_many_tools_do_alike_is_told_once() -> None:
    many = read_tools([{"name": f"tool-{i}"} for i in range(50)], "big")
    clean = read_tools([{"name": f"fine_{i}"} for i in range(45)], "good")
    found = [of_server("big", f"tool-{i}", f"'tool_{i}' would do") for i in range(6)]
    found += [finding("cost.tool", "warning", "tool-1", "costs 1,200 tokens", server="big")]
    text = write_report(
        report(found, (), listed=[*many, *clean]), "text", source=SourceLabel("mcp.json", "config"), width=80
    )
    assert (
        text
        == """\
big · 50 tools · score 99

  tool-1  91
    warning  cost.tool: costs 1,200 tokens

  in many tools
    info     name.case: 'tool_0' would do
             in 6 of 50 tools: tool-0, tool-1, tool-2, tool-3, tool-4, tool-5

  44 tools without findings

good · 45 tools · score 100

  45 tools without findings

1 warning, 6 remarks in 6 of 95 tools
  big    99  1 warning, 6 remarks
  good  100  nothing
broken by most tools: name.case (6), cost.tool (1)
"""
    )


def test_errors_are_told_with_each_tool_however_many_there_are() -> None:
    many = read_tools([{"name": f"tool_{i}"} for i in range(50)])
    found = [finding("safety.ansi", "error", f"tool_{i}", "an escape") for i in range(50)]
    text = write_report(report(found, (), listed=many), "text", source=SOURCE, places=NOWHERE)
    assert text.count("safety.ansi: an escape") == 50


def test_the_excerpt_is_cut_around_the_span_and_the_carets_stand_under_it() -> None:
    text = "before " * 40 + "WRONG" + " after" * 40
    line, carets = excerpt(text, (280, 285), 50)
    assert cells(line) <= 50
    assert line.startswith("…")
    assert line.endswith("…")
    assert line[carets.index("^") :].startswith("WRONG ")
    assert carets.strip() == "^^^^^"
    assert excerpt("文字\u202eevil", (2, 3), 40) == ("文字\\u202eevil", "    ^^^^^^")
    assert excerpt("e\u0301 \u0301", (3, 4), 40) == ("e\u0301 \\u0301", "  ^^^^^^")
    assert excerpt("first\n\tsecond line\nthird", (14, 18), 40) == ("second line", "       ^^^^")
    assert excerpt("a text\nof lines", None, 40) == ("a text…", "")


@given(st.text(max_size=200), st.data(), st.integers(20, 120))
def test_no_excerpt_is_wider_than_the_page_or_moves_the_cursor(text: str, data: st.DataObject, width: int) -> None:
    if text:
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        line, carets = excerpt(text, (start, end), width)
        assert line.isprintable()
        assert cells(line) <= width
        assert re.fullmatch(r" *\^+", carets)
        assert len(carets) <= max(cells(line), 1)


@pytest.mark.parametrize("width", [60, 72, 100, 200])
def test_lines_keep_to_the_width(width: int) -> None:
    long = "x" * 300
    found = [
        *FINDINGS,
        finding("name.long", "warning", "find_order", f"{long} is long", f"/inputSchema/{long}", long, (5, 250)),
    ]
    text = write_report(report(found), "text", source=SOURCE, places=places(), width=width)
    assert [line for line in text.split("\n") if cells(line) > width] == []


def test_a_text_without_a_span_is_shown_once_for_a_tool() -> None:
    said = "Finds an order."
    many = [
        finding("description.returns", "info", "find_order", "says not what it returns", "/description", said),
        finding("description.when", "info", "find_order", "says not when to use it", "/description", said),
        finding("description.when", "info", "find_order", "says not when to use it", "/description", said),
    ]
    assert (
        write_report(report(many, ()), "text", source=SOURCE, width=80)
        == """\
tools.json · 3 tools · score 99

  find_order  98
    info     description.returns: says not what it returns  /description
             │ Finds an order.
    info     description.when: says not when to use it  /description

  2 tools without findings: drop_v2, list_orders

3 remarks in 1 of 3 tools · score 99
"""
    )


def test_a_tool_that_is_listed_twice_and_a_server_without_tools_are_reported() -> None:
    found = [
        finding("name.twice", "error", "find_order", "listed twice"),
        finding("x.y", "info", None, "no tools", server="s"),
    ]
    text = write_report(report(found, (), listed=[*tools(), *tools()]), "text", source=SOURCE)
    assert text.count("find_order") == 1
    assert "s · 0 tools\n" in text


def test_errors_that_are_waived_are_named_first_whatever_else_is_waived() -> None:
    flood = [Waived(finding(f"name.n{i}", "info", "drop_v2", "a remark"), "tool") for i in range(8) for _ in range(9)]
    grave = [Waived(finding(f"safety.e{i}", "error", "drop_v2", "grave"), "settings") for i in range(7)]
    said = (
        "79 waived: safety.e0 (1), safety.e1 (1), safety.e2 (1), safety.e3 (1), safety.e4 (1), safety.e5 (1), "
        "safety.e6 (1) and 8 more rules"
    )
    text = write_report(report(waived=(*flood, *grave)), "text", source=SOURCE, width=300)
    assert text.splitlines()[-1] == said
    text = write_report(report([], waived=(*flood, *grave)), "text", source=SOURCE, width=300)
    assert text.splitlines() == ["tools.json: 3 tools, nothing to find fault with", said]
