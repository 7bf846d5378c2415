"""toolbridge: a `Tool` of its own, `prepare`, the definitions. A tool that is left out counts as refused."""

import json

from toolbridge import BoundCall, ToolCall, get_provider, prepare, read_tools

PACKAGES = ("toolbridge",)
DEFAULTS = ("openai auto", "anthropic", "gemini")


def read(tool):
    return read_tools([tool])[0]


def prepared(tool, provider, strict):
    ready = prepare([tool], provider, strict)
    if ready.left_out:
        raise ValueError(next(iter(ready.left_out.values())))
    return ready


def target(name, strict=False):
    def connect():
        provider = get_provider(name)
        return lambda tool: prepared(tool, provider, strict).definitions

    def written(tool, values):
        """Calls as the model has to write them."""
        ready = prepared(tool, name, strict)
        return [ready.write_arguments(tool.id, each) for each in values]

    def returned(tool, answers):
        """What reaches the server of what the model wrote; nothing where the call is answered with an error."""
        ready = prepared(tool, name, strict)
        wire_name = ready.wire_name(tool.id)
        outcomes = [ready.resolve(ToolCall("1", wire_name, json.dumps(each), each)) for each in answers]
        return [[each.arguments] if isinstance(each, BoundCall) else [] for each in outcomes]

    connect.many = lambda tools: prepare(tools, name, strict).definitions
    connect.only_prepare = lambda tools: prepare(tools, name, strict)
    connect.written = written
    connect.returned = returned
    return connect


TARGETS = {
    "openai": target("openai-chat"),
    "openai strict": target("openai-chat", True),
    "openai auto": target("openai-chat", None),
    "anthropic": target("anthropic", None),
    "gemini": target("gemini", None),
    "gemini openapi": target("gemini-openapi", None),
}
