"""The names of other projects' documents are there without the packages that some of them use."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import toolbridge.compat.argo, toolbridge.compat.chatgpt, toolbridge.compat.dial
toolbridge.compat.chatgpt.ChatGPTProvider(), toolbridge.compat.chatgpt.GeminiProvider()
print(sorted({"openai", "google.genai", "redis", "tiktoken", "mcp"} & set(sys.modules)))
"""


def test_no_sdk_is_loaded_before_a_client_is_made() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
