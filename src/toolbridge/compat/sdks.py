"""Vendors' SDKs, which are optional: loaded when a client is made, with an error that says what to install.

Only for the names in this package, whose documents show these SDKs. The core way is `toolbridge.chat(…)`, which speaks
to every provider without one.
"""

from __future__ import annotations

from typing import Any

from toolbridge.errors import ModelError


def openai_sdk() -> Any:
    """The module `openai`. Raises `ModelError` of the kind `not_installed`."""
    try:
        import openai
    except ImportError as error:
        raise _missing("openai", "openai") from error
    return openai


def genai_sdk() -> Any:
    """The module `google.genai`. Raises `ModelError` of the kind `not_installed`."""
    try:
        from google import genai
    except ImportError as error:
        raise _missing("google.genai", "google-genai") from error
    return genai


def _missing(module: str, package: str) -> ModelError:
    advice = f"install it with `pip install {package}`, or hand in a client of your own"
    return ModelError("not_installed", f"the Python package {module} is not there: {advice}")
