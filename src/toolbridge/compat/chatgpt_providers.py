"""The two providers of the ChatGPT provider's design: they ask OpenAI's or Google's model and yield what it says.

    {"type": "text", "content": "It is "}
    {"type": "tool_call", "content": {"name": …, "tool_name": …, "arguments": {…}, "tool_call_id": …}}

Thin over the core, whose way is `toolbridge.chat(question, servers, model)`: it also runs the calls. Keys and models
are read from the environment when a question is asked: OPENAI_API_KEY, CHATGPT_MODEL, GOOGLE_API_KEY, GEMINI_MODEL.

Decisions where the design is silent:

- A call is yielded when its arguments are whole. One that cannot be read has `error` in it, and is not to be run.
- A stream that breaks off inside of a call raises `ModelError`, and nothing of that call is yielded. Whoever stops
  listening ends the request.
- For Gemini, names and arguments are changed to what it takes; what is yielded is in the MCP server's own shape.
- What the SDK raises is let through.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any

from toolbridge.compat.chatgpt_calls import GeminiToolCallAssembler, OpenAIToolCallAssembler, field, text_of
from toolbridge.compat.chatgpt_history import format_gemini_history, format_history
from toolbridge.compat.chatgpt_tokens import token_info
from toolbridge.compat.chatgpt_tools import gemini_declarations, gemini_tools, mcp_tools_to_openai_format
from toolbridge.compat.sdks import genai_sdk, openai_sdk
from toolbridge.errors import ModelError, UnknownToolError
from toolbridge.prepare import PreparedTools

logger = logging.getLogger(__name__)

CHATGPT_MODEL = "gpt-3.5-turbo"
"""The design's own default, where CHATGPT_MODEL is not set."""

GEMINI_MODEL = "models/gemini-pro-latest"
"""The same for GEMINI_MODEL."""


class ChatGPTProvider:
    """OpenAI's models. The core way: `toolbridge.chat(question, servers, "gpt-…")`.

    `client` is an `openai.OpenAI` of your own, for another address for example; then no key is looked for.
    """

    name = "chatgpt"

    def __init__(self, api_key: str | None = None, *, client: Any = None, model: str | None = None) -> None:
        self._key = api_key
        self._model = model
        self._client = client
        self._made: tuple[str, Any] | None = None

    def call_api(
        self,
        history: Iterable[Any],
        system_prompt: str | None = None,
        tools: Iterable[Mapping[str, Any]] | None = None,
    ) -> Generator[dict[str, Any]]:
        """Ask, and yield text and calls as they come. `tools` are MCP's. The history is not changed."""
        client = self._openai()
        messages = format_history(history)
        if system_prompt and system_prompt.strip():
            messages.insert(0, {"role": "system", "content": system_prompt})
        asked: dict[str, Any] = {"model": self._model_name(), "messages": messages, "stream": True}
        definitions = mcp_tools_to_openai_format(tools)
        if definitions:
            asked |= {"tools": definitions, "tool_choice": "auto"}
        assembler, finished = OpenAIToolCallAssembler(), False
        with _closing(client.chat.completions.create(**asked)) as stream:
            for chunk in stream:
                choices = field(chunk, "choices")
                choice = choices[0] if choices else None
                for delta in field(field(choice, "delta"), "tool_calls") or ():
                    call = assembler.process_tool_call(delta)
                    if call is not None:
                        yield _called(call)
                text = self.extract_text_from_chunk(chunk)
                if text:
                    yield {"type": "text", "content": text}
                finished = finished or bool(field(choice, "finish_reason"))
        left = assembler.finish(broken_off=not finished)
        _refuse_broken(left, finished, "OpenAI")
        for call in left:
            yield _called(call)

    def stream_text_events(self, history: Iterable[Any], system_prompt: str | None = None) -> Generator[str]:
        """The text alone."""
        yield from _texts(self.call_api(history, system_prompt))

    @staticmethod
    def format_history(history: Iterable[Any]) -> list[dict[str, Any]]:
        """The history as OpenAI's `messages`. The core way: `get_provider("openai-chat").write_messages(history)`."""
        return format_history(history)

    @staticmethod
    def extract_text_from_chunk(chunk: Any) -> str:
        """The text of one chunk of a stream, or of what `call_api` yields.

        The core way: the `TextDelta`s of `ReplyReader.feed(chunk)`.
        """
        if field(chunk, "type") == "text":
            return text_of(field(chunk, "content")) or ""
        choices = field(chunk, "choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        content = field(field(first, "delta"), "content")
        pieces = content if isinstance(content, list) else [content]
        return "".join(text_of(each) or text_of(field(each, "text")) or "" for each in pieces)

    def get_token_info(
        self, text: Any, history: Iterable[Any] | None = None, model_name: str | None = None, has_tools: bool = False
    ) -> dict[str, Any]:
        """`{"input_tokens", "max_tokens", "counted_by"}` of a text and a history, times `get_buffer_factor`.

        The core way: `toolbridge.tokens.estimate`, and `message_tokens` for a message.
        """
        return token_info(text, history, model_name or self._model_name(), has_tools, exact=True)

    def close(self) -> None:
        """Let go of connections, where the client was made here."""
        made, self._made = self._made, None
        if made is not None:
            made[1].close()

    def _model_name(self) -> str:
        return self._model or os.environ.get("CHATGPT_MODEL") or CHATGPT_MODEL

    def _openai(self) -> Any:
        if self._client is not None:
            return self._client
        key = self._key or os.environ.get("OPENAI_API_KEY")
        if not key:
            raise ValueError("OPENAI_API_KEY is not set")
        if self._made is None or self._made[0] != key:
            self._made = (key, openai_sdk().OpenAI(api_key=key))
        return self._made[1]


class GeminiProvider:
    """Google's models, by google-genai. The core way: `toolbridge.chat(question, servers, "gemini-…")`.

    `client` is a `genai.Client` of your own; then no key is looked for.
    """

    name = "gemini"

    def __init__(self, api_key: str | None = None, *, client: Any = None, model: str | None = None) -> None:
        self._key = api_key
        self._model = model
        self._client = client
        self._made: tuple[str, Any] | None = None

    def call_api(
        self,
        history: Iterable[Any],
        system_prompt: str | None = None,
        tools: Iterable[Mapping[str, Any]] | None = None,
    ) -> Generator[dict[str, Any]]:
        """Ask, and yield text and calls as they come. `tools` are MCP's. The history is not changed."""
        client, ready = self._genai(), gemini_tools(tools)
        # The SDK would run calls by itself, were there Python functions among the tools.
        config: dict[str, Any] = {"automatic_function_calling": {"disable": True}}
        if system_prompt and system_prompt.strip():
            config["system_instruction"] = system_prompt
        declarations = gemini_declarations(ready)
        if declarations:
            config["tools"] = declarations
        contents = format_gemini_history(history, ready)
        assembler, finished = GeminiToolCallAssembler(), ""
        asked = client.models.generate_content_stream(model=self._model_name(), contents=contents, config=config)
        with _closing(asked) as stream:
            for chunk in stream:
                candidates = field(chunk, "candidates")
                first = candidates[0] if candidates else None
                blocked = field(field(chunk, "prompt_feedback", "promptFeedback"), "block_reason", "blockReason")
                if blocked and first is None:
                    raise ValueError(f"Gemini blocked the prompt: {getattr(blocked, 'value', blocked)}")
                for part in field(field(first, "content"), "parts") or ():
                    call = assembler.process_tool_call(part)
                    if call is not None:
                        yield _called(_restored(call, ready))
                    elif field(part, "thought") is not True and (text := text_of(field(part, "text"))):
                        yield {"type": "text", "content": text}
                reason = field(first, "finish_reason", "finishReason")
                finished = finished or str(getattr(reason, "value", reason) or "")
        if finished not in ("", "STOP", "MAX_TOKENS"):  # a call that the model could not write, for example
            logger.warning("Gemini ended its answer with %s", finished)
        left = [_restored(call, ready) for call in assembler.finish()]
        if not finished and left:
            raise _broken(left[-1], "Gemini")
        for call in left:
            yield _called(call)

    def stream_text_events(self, history: Iterable[Any], system_prompt: str | None = None) -> Generator[str]:
        """The text alone."""
        yield from _texts(self.call_api(history, system_prompt))

    @staticmethod
    def format_history(history: Iterable[Any]) -> list[dict[str, Any]]:
        """The history as Gemini's `contents`. The core way: `get_provider("gemini").write_messages(history)`."""
        return format_gemini_history(history)

    @staticmethod
    def extract_text_from_chunk(chunk: Any) -> str:
        """The text of one chunk of a stream, without thoughts, or of what `call_api` yields."""
        if field(chunk, "type") == "text":
            return text_of(field(chunk, "content")) or ""
        candidates = field(chunk, "candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        parts = field(field(first, "content"), "parts")
        shown = [each for each in parts if field(each, "thought") is not True] if isinstance(parts, list) else []
        return "".join(text_of(field(each, "text")) or "" for each in shown)

    def get_token_info(
        self, text: Any, history: Iterable[Any] | None = None, model_name: str | None = None, has_tools: bool = False
    ) -> dict[str, Any]:
        """The same as ChatGPT's; always an estimate, since Gemini's tokenizer is not published."""
        return token_info(text, history, model_name or self._model_name(), has_tools, exact=False)

    def close(self) -> None:
        """Let go of connections, where the client was made here."""
        made, self._made = self._made, None
        if made is not None:
            made[1].close()

    def _model_name(self) -> str:
        return self._model or os.environ.get("GEMINI_MODEL") or GEMINI_MODEL

    def _genai(self) -> Any:
        if self._client is not None:
            return self._client
        key = self._key or os.environ.get("GOOGLE_API_KEY")
        if not key:
            raise ValueError("GOOGLE_API_KEY is not set")
        if self._made is None or self._made[0] != key:
            self._made = (key, genai_sdk().Client(api_key=key))
        return self._made[1]


@contextmanager
def _closing(stream: Any) -> Generator[Any]:
    """A stream whose request ends when nobody listens any more; a plain iterator has nothing to end."""
    try:
        yield stream
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()


def _called(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call as `call_api` yields it: under both keys that the design uses for the name, whichever the model."""
    return {"type": "tool_call", "content": {"name": call["tool_name"], **call}}


def _texts(chunks: Iterable[Mapping[str, Any]]) -> Generator[str]:
    for chunk in chunks:
        if chunk["type"] == "text":
            yield chunk["content"]


def _restored(call: dict[str, Any], ready: PreparedTools) -> dict[str, Any]:
    """A call of Gemini in the server's own shape: its name, and maps and free-form values as they were."""
    try:
        tool = ready.tool(call["tool_name"] or "")
    except UnknownToolError:
        return call
    if "error" in call:
        return {**call, "name": tool.id.name, "tool_name": tool.id.name}
    arguments = ready.read_arguments(call["tool_name"], call["arguments"])
    return {**call, "name": tool.id.name, "tool_name": tool.id.name, "arguments": arguments}


def _refuse_broken(left: list[dict[str, Any]], finished: bool, whose: str) -> None:
    broken = [call for call in left if "error" in call]
    if not finished and broken:
        raise _broken(broken[-1], whose)


def _broken(call: Mapping[str, Any], whose: str) -> ModelError:
    which = f"a call of {call['tool_name']}" if call["tool_name"] else "a call"
    return ModelError("unreachable", f"{whose}'s stream broke off inside of {which}, which was not run; ask again")
