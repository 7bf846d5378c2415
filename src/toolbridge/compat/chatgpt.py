"""Names of the ChatGPT provider's design: MCP tools, calls and histories in OpenAI's and in Gemini's form, and two
providers that ask these models.

Thin over the core, for programs written against that design. The core way for all of it is `toolbridge.chat(question,
servers, model)`. For the parts it is `prepare(tools, provider)`, whose answer also reads the calls that come back
(Gemini's form needs that where a map or a free-form value changed shape), `read_stream(provider, chunks)` for replies
and `provider.write_messages(history)` for histories.
"""

from __future__ import annotations

from toolbridge.compat.chatgpt_calls import (
    GeminiToolCallAssembler,
    OpenAIToolCallAssembler,
    parse_gemini_tool_call,
    parse_openai_tool_call,
)
from toolbridge.compat.chatgpt_history import content_to_text, format_history
from toolbridge.compat.chatgpt_providers import ChatGPTProvider, GeminiProvider
from toolbridge.compat.chatgpt_tokens import get_buffer_factor, get_max_context_length
from toolbridge.compat.chatgpt_tools import mcp_tools_to_gemini_format, mcp_tools_to_openai_format

__all__ = [
    "ChatGPTProvider",
    "GeminiProvider",
    "GeminiToolCallAssembler",
    "OpenAIToolCallAssembler",
    "content_to_text",
    "format_history",
    "get_buffer_factor",
    "get_max_context_length",
    "mcp_tools_to_gemini_format",
    "mcp_tools_to_openai_format",
    "parse_gemini_tool_call",
    "parse_openai_tool_call",
]
