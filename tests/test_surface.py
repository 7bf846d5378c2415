"""The public names, and what importing them costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import toolbridge


def fresh(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_public_name_is_there_and_every_home_is_public() -> None:
    assert sorted(toolbridge.__all__) == sorted([*toolbridge._HOMES, "__version__"])
    assert [name for name in toolbridge.__all__ if getattr(toolbridge, name, None) is None] == []
    assert dir(toolbridge) == sorted(toolbridge.__all__)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    assert not hasattr(toolbridge, "prepared")


def test_prepare_is_the_function_whatever_was_imported_before() -> None:
    for first in (
        "import toolbridge.prepare",
        "from toolbridge import PreparedTools",
        "from toolbridge.prepare import Options",
    ):
        assert fresh(f"{first}\nfrom toolbridge import prepare\nprint(callable(prepare))") == "True\n"


def test_a_conversion_loads_no_sdk_no_http_client_no_validator_and_no_log() -> None:
    program = """
import json, sys
import toolbridge
assert not [name for name in sys.modules if name.startswith("toolbridge.")]
from toolbridge import get_provider, prepare, read_tools
ready = prepare(read_tools([{"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}]),
                get_provider("openai-chat"))
assert ready.definitions
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    heavy = {
        "mcp", "mcp_types", "httpx", "httpx2", "anyio", "asyncio", "pydantic", "jsonschema", "jsonschema_rs", "click",
        "rich", "openai", "anthropic", "logging", "ssl", "socket",
    }  # fmt: skip
    assert heavy & set(json.loads(fresh(program))) == set()


def test_the_package_is_typed() -> None:
    assert (Path(toolbridge.__file__).parent / "py.typed").is_file()
