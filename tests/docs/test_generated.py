"""What is written from the code is as the code has it: the page of providers, the tables of the README and of the page of
histories, the errors."""

from __future__ import annotations

import importlib.util
import inspect
import re
from types import ModuleType

import pytest

from tests.docs.pages import ROOT
from toolbridge import errors

AGAIN = "run `python docs/make_providers.py` and look at what changed"


@pytest.fixture(scope="module")
def make_providers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_providers", ROOT / "docs" / "make_providers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_providers_is_what_the_registry_says(make_providers: ModuleType) -> None:
    assert (ROOT / "docs" / "providers.md").read_text(encoding="utf-8") == make_providers.page(), AGAIN


def test_the_readme_lists_the_providers_of_the_registry(make_providers: ModuleType) -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8") == make_providers.readme(), AGAIN


def test_the_page_of_histories_says_what_providers_carry(make_providers: ModuleType) -> None:
    assert (ROOT / "docs" / "history.md").read_text(encoding="utf-8") == make_providers.history(), AGAIN


def test_every_exception_is_on_the_page_of_errors() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert named == {name for name, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, Exception)}
