"""toolbridge: a `Tool` of its own, `prepare`, the definitions. A tool that is left out counts as refused."""

from toolbridge import get_provider, prepare, read_tools

PACKAGES = ("toolbridge",)


def read(tool):
    return read_tools([tool])[0]


def definitions(tools, provider, strict):
    ready = prepare(tools, provider, strict)
    if ready.left_out:
        raise ValueError(next(iter(ready.left_out.values())))
    return ready.definitions


def target(name, strict=False):
    def connect():
        provider = get_provider(name)
        return lambda tool: definitions([tool], provider, strict)

    connect.many = lambda tools: prepare(tools, name, strict).definitions
    connect.only_prepare = lambda tools: prepare(tools, name, strict)
    return connect


TARGETS = {
    "openai": target("openai-chat"),
    "openai strict": target("openai-chat", True),
    "openai auto": target("openai-chat", None),
    "anthropic": target("anthropic"),
    "gemini": target("gemini"),
    "gemini openapi": target("gemini-openapi"),
}
