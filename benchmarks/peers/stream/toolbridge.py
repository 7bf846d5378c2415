"""toolbridge: `read_stream`, with everything it checks. A call that is marked as broken is not run."""

from toolbridge import read_stream

PACKAGES = ("toolbridge",)
WAY = '`read_stream("openai-chat", chunks)`'


def received(chunks):
    return chunks


def assemble(chunks):
    return [(call.name, call.arguments) for call in read_stream("openai-chat", chunks).calls if runs(call)]


def runs(call):
    return call.arguments is not None and call.problem is None
