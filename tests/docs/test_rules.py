"""The page of rules is as the table has it."""

from __future__ import annotations

import importlib.util
import re

from tests.docs.pages import ROOT
from toolbridge.lint.table import rules


def test_the_page_of_rules_is_what_the_table_says() -> None:
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert written == module.page(), "run `python docs/make_rules.py` and look at what changed"
    assert re.findall(r"^### (\S+)$", written, re.MULTILINE) == list(rules())
    assert {*module.GROUPS} == {each.group for each in rules().values()}
