"""Names of the Argo guide: an MCP tool as an OpenAI function, with its `default` keywords taken out, and a client that
asks a model behind an OpenAI endpoint and runs its calls.

Thin over the core, for programs that were written against that guide. The core way is `prepare(tools, "openai-chat")`:
it also says the defaults in the descriptions, spells names, notes what it changes and reads the calls that come back.
For the client it is `toolbridge.chat_sync(question, servers, model)`, or a `Chat`, which keeps the conversation.

Decisions where the guide is silent:

- Tools keep their plain names. Where two servers have the same one, or OpenAI refuses it, it is spelt anew.
- Every call is run without asking, as the guide says, unless the server's own settings want a person asked: then it is
  not run, and the model is told.
- Whatever goes wrong with a call is its result. What goes wrong with the model is the SDK's exception.
- In the last turn the model may not call any more, so that it answers with what it has.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType, TracebackType
from typing import Any, Self

from toolbridge.approval import Approval
from toolbridge.apps import read_app_meta, say_files, visible, why_private
from toolbridge.compat.answers import read_answer, read_failure
from toolbridge.compat.sdks import openai_sdk
from toolbridge.errors import MCPToolError, ModelError
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers.openai_chat import PROVIDER
from toolbridge.run.policy import why_asked
from toolbridge.schema.convert import TooLarge, convert
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP
from toolbridge.schema.root import NotAnObject
from toolbridge.servers.sync import SyncHub, connect_sync
from toolbridge.tools import read_tools
from toolbridge.types import BoundCall, Message, Tool, ToolCall, ToolId, ToolResult, failed

logger = logging.getLogger(__name__)

RUN_ALL = Approval(default="never")
"""What counts where a server's own settings say nothing: the guide's client runs every call."""


class MCPToOpenAIConverter:
    """MCP tools as OpenAI functions. The core way: `prepare(tools, "openai-chat").definitions`."""

    @staticmethod
    def convert_tool(mcp_tool: Any) -> dict[str, Any]:
        """One tool; `MCPToolError` where it has no name, or is not for models. The tool given stays as it is."""
        (tool,) = read_tools([mcp_tool])
        if tool.problem is not None:
            raise MCPToolError(f"not an MCP tool: {tool.problem}")
        if (why := why_private(tool)) is not None:
            raise MCPToolError(f"{tool.id} cannot be offered: {why}")
        return _function(tool)

    @staticmethod
    def convert_all_tools(mcp_tools: Iterable[Any]) -> list[dict[str, Any]]:
        """All tools for models, in their order; an entry that is no tool is left out with a warning."""
        functions: list[dict[str, Any]] = []
        for tool in read_tools(mcp_tools):
            if tool.problem is None and visible(tool):
                functions.append(_function(tool))
            elif tool.problem is not None:
                logger.warning("Left out of the OpenAI tools: %s", tool.problem)
        return functions


def _function(tool: Tool) -> dict[str, Any]:
    try:
        described, _ = say_files(tool.input_schema, read_app_meta(tool).file_parameters)
        schema = convert(described, PROVIDER.dialect).schema
    except (TooLarge, NotAnObject) as failure:
        logger.warning("%s is offered without arguments: %s", tool.id, failure)
        schema = {"type": "object", "properties": {}}
    parameters = copy.deepcopy(_without_defaults(schema))
    return {
        "type": "function",
        "function": {"name": tool.id.name, "description": tool.description, "parameters": parameters},
    }


def _without_defaults(schema: Any) -> Any:
    """A sound schema without the keyword `default`; a property of that name, or one inside an enum, is no keyword."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in SCHEMA_IN_VALUE:
            out[keyword] = _without_defaults(value)
        elif keyword in SCHEMAS_IN_LIST:
            out[keyword] = [_without_defaults(each) for each in value]
        elif keyword in SCHEMAS_IN_MAP:
            out[keyword] = {key: _without_defaults(each) for key, each in value.items()}
        elif keyword != "default":
            out[keyword] = value
    return out


# ── the client ───────────────────────────────────────────────────────────────────────────────────────────────────


class ArgoMCPClient:
    """A model behind an OpenAI endpoint, with MCP tools. The core way: `toolbridge.chat_sync(…)` or a `Chat`.

        with ArgoMCPClient(servers="mcp.json") as client:
            print(client.chat("Which plants need water?"))

    `servers` is what `connect` takes. `mcp_tools` are tools by hand, in the guide's form, which `call_tool(name,
    arguments)` runs; both may be given. A class that has its own `_load_mcp_tools`, as the guide's does, is called
    for that, and runs the calls by `call_tool` or its own `_call_tool`. It may have the guide's own `__init__`, too,
    which sets `openai_client`, `mcp_tools` and `openai_tools` and no more: the rest has defaults in the class.
    """

    model = "gpt-5"
    max_turns = 25
    openai_client: Any
    mcp_tools: list[dict[str, Any]]
    openai_tools: list[dict[str, Any]]
    _servers: Any = None
    _given: Sequence[Any] = ()
    _call: Callable[[str, dict[str, Any]], Any] | None = None
    _hub: SyncHub | None = None
    _owners: Mapping[str, Tool] = MappingProxyType({})
    _own_client = False

    def __init__(
        self,
        *,
        openai_client: Any = None,
        base_url: str = "http://localhost:8000/v1",
        api_key: str = "dummy",
        model: str = "gpt-5",
        servers: Any = None,
        mcp_tools: Iterable[Any] | None = None,
        call_tool: Callable[[str, dict[str, Any]], Any] | None = None,
        max_turns: int = 25,
    ) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns is {max_turns}; it must be at least 1")
        self.model = model
        self.max_turns = max_turns
        self._servers = servers
        self._given = list(mcp_tools or ())
        self._call = call_tool
        self._own_client = openai_client is None
        if openai_client is None:
            openai_client = openai_sdk().OpenAI(base_url=base_url, api_key=api_key)
        self.openai_client = openai_client
        try:
            self.mcp_tools = self._load_mcp_tools()
            self.openai_tools = MCPToOpenAIConverter.convert_all_tools(self.mcp_tools)
        except BaseException:
            self.close()
            raise

    @cached_property
    def _ready(self) -> PreparedTools:
        """What the calls are checked against, made with the first of them."""
        return prepare(read_tools(self.mcp_tools), PROVIDER, strict=False)

    def close(self) -> None:
        """End the servers, and the connections to the model where the client was made here."""
        hub, self._hub = self._hub, None
        if hub is not None:
            hub.close()
        if self._own_client:
            self.openai_client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def chat(self, message: str) -> str:
        """Send a message and run the model's calls until it answers. Nothing of it is kept for the next message."""
        history = [Message.user(message)]
        for turn in range(1, self.max_turns + 1):
            last = turn == self.max_turns
            response = self.openai_client.chat.completions.create(**self._request(history, last=last))
            reply = PROVIDER.read_reply(response)
            if reply.error is not None:
                raise ModelError("overloaded", f"{self.model} broke off: {reply.error}", said=reply.error)
            if not reply.calls:
                return reply.text
            if not last:
                history += [reply.message, Message.results(*(self._result(call) for call in reply.calls))]
        logger.warning("%s still calls tools after %d turns; set max_turns", self.model, self.max_turns)
        return f"Stopped after {self.max_turns} turns: the model was still calling tools."

    def _load_mcp_tools(self) -> list[dict[str, Any]]:
        """The tools, in the guide's form: name, description, inputSchema."""
        offered = [replace(each, id=ToolId("", each.id.name)) for each in read_tools(self._given)]
        owners: dict[ToolId, Tool] = {}
        if self._servers is not None:
            self._hub = connect_sync(self._servers)
            self._hub.open()
            for status in self._hub.status.values():
                if status.failure is not None:
                    logger.warning("Without the tools of a server: %s", status.failure)
            count = Counter(each.id.name for each in (*offered, *self._hub.tools))
            for tool in self._hub.tools:
                id = tool.id if count[tool.id.name] > 1 else ToolId("", tool.id.name)
                owners[id] = tool
                offered.append(replace(tool, id=id))
        ready = prepare(offered, PROVIDER, strict=False)
        for id, why in ready.left_out.items():
            logger.warning("Left out of the OpenAI tools: %s: %s", id, why)
        self._owners = {ready.wire_name(id): tool for id, tool in owners.items() if id not in ready.left_out}
        return [
            {
                "name": ready.wire_name(each.id),
                "description": each.description,
                "inputSchema": copy.deepcopy(each.input_schema),
            }
            for each in ready.tools
        ]

    def _call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Run a call of a tool that no server of `servers` has: for `call_tool`, or a class of your own."""
        if self._call is None:
            raise MCPToolError(f"no server is connected that has {name!r}; give `servers`, or `call_tool`")
        return self._call(name, arguments)

    def _request(self, history: list[Message], *, last: bool) -> dict[str, Any]:
        fields = {"model": self.model, **PROVIDER.write_messages(history, model=self.model).value}
        if self.openai_tools:  # an empty list is refused
            fields["tools"] = self.openai_tools
            if last:
                fields["tool_choice"] = "none"
        return fields

    def _result(self, call: ToolCall) -> ToolResult:
        shown = ToolId("", call.name)
        known = {each.id for each in self._ready.tools}
        found = self._ready.resolve(replace(call, name=self._ready.wire_name(shown)) if shown in known else call)
        if not isinstance(found, BoundCall):
            return found
        owner = self._owners.get(call.name)
        arguments = dict(found.arguments)
        try:
            if owner is not None and self._hub is not None:
                return self._run(self._hub, replace(found, tool=owner))
            answer = self._call_tool(call.name, arguments)
        except Exception as error:
            logger.warning("The call of %s failed: %s", call.name, error)
            return read_failure(call.id, call.name, error)
        if inspect.iscoroutine(answer):
            answer.close()
            raise TypeError(f"call_tool must be a plain function; for {call.name!r} it gave a coroutine")
        return read_answer(call.id, answer)

    @staticmethod
    def _run(hub: SyncHub, bound: BoundCall) -> ToolResult:
        specs: Mapping[str, Any] = hub.specs
        why = why_asked(bound.tool, specs.get(bound.tool.id.server), RUN_ALL)
        if why is None:
            return hub.run(bound)
        return failed(
            bound.call.id, "refused", f"Not called: a person would have to allow it ({why}), and none is here."
        )
