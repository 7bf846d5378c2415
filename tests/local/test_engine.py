"""The built-in model: what is refused without loading it, and the real smallest one, asked."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolbridge import Message, ReplyReader, Text, ToolResult, prepare
from toolbridge.errors import ModelError
from toolbridge.local.engine import LocalModel, local_model
from toolbridge.local.gguf import read_head
from toolbridge.local.native import usable_threads
from toolbridge.stream.events import Reply
from toolbridge.tools import read_tools

FORECAST = {
    "name": "get_forecast",
    "description": "The weather forecast of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "day": {"type": "string", "enum": ["today", "tomorrow"]}},
        "required": ["city", "day"],
    },
}
QUESTION = Message.user("Will it rain in Lisbon tomorrow?")


def fields_of(model: LocalModel, *messages: Message, **more: Any) -> dict[str, Any]:
    prepared = prepare(read_tools([FORECAST]), model.provider)
    said = model.provider.write_messages([Message.system(prepared.instructions), *messages], model=model.name).value
    return {**said, **prepared.fields, **more}


async def asked(model: LocalModel, fields: Mapping[str, Any]) -> Reply:
    reader = ReplyReader(model.provider)
    async for chunk in model.stream(fields):
        reader.feed(chunk)
    return reader.reply()


async def first_chunk(model: LocalModel, fields: Mapping[str, Any]) -> float:
    """Seconds until something came; the rest is given up."""
    began = time.monotonic()
    pieces = model.stream(fields)
    async for _ in pieces:
        break
    await pieces.aclose()
    return time.monotonic() - began


# ── without a model ──────────────────────────────────────────────────────────────────────────────────────────────


def test_weights_that_are_not_here_are_told_with_the_command_that_fetches_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBRIDGE_CACHE_DIR", str(tmp_path))
    for name in ("smollm2", "local/smollm2"):
        with pytest.raises(ModelError) as caught:
            local_model(name)
        assert (caught.value.kind, str(caught.value)) == (
            "no_weights",
            "the model smollm2 (98 MB) is not on this machine; run: toolbridge models pull smollm2",
        )
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "smollm2.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(ModelError) as caught:
        local_model("smollm2")
    assert str(caught.value) == (
        f"{path} has 4 bytes and not 98,362,432: it is damaged; run: toolbridge models pull smollm2"
    )
    with pytest.raises(ModelError, match="unknown model 'smolm2'; did you mean 'smollm2'"):
        local_model("local/smolm2")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html>", "is no GGUF model: it begins with b'<htm' and not with b'GGUF'"),
        (b"", "is no GGUF model: it begins with b'' and not with b'GGUF'"),
        (b"GGUF\x03\0\0\0", "is damaged or was not downloaded to its end; get it again"),
        (b"GGUF\x09\0\0\0" + bytes(16), "is GGUF version 9, which is not known here"),
        (b"GGUF\x03\0\0\0" + bytes(8) + b"\xff" * 8, "is damaged or was not downloaded to its end; get it again"),
        (b"GGUF\x03\0\0\0" + bytes(8) + b"\1" + bytes(7) + b"\xff" * 8, "is damaged or was not downloaded to its end; get it again"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_model_is_refused_in_words(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "some.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        local_model(str(path))
    assert (caught.value.kind, str(caught.value)) == ("no_weights", f"{path} {said}")


def test_a_path_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.gguf is not there; give the path of a GGUF file"):
        local_model(str(tmp_path / "none.gguf"))
    with pytest.raises(ModelError, match="is a directory; give the path of a GGUF file in it"):
        local_model(str(tmp_path))


def test_threads_are_as_many_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLBRIDGE_LOCAL_THREADS", "3")
    assert usable_threads() == 3
    monkeypatch.setenv("TOOLBRIDGE_LOCAL_THREADS", "many")
    assert 1 <= usable_threads() <= (os.cpu_count() or 1)


# ── the real one ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def model(smollm2: Path) -> LocalModel:
    return local_model(str(smollm2), options={"threads": 1, "max_tokens": 60})


async def test_the_model_calls_the_tool_and_answers_from_its_result(model: LocalModel) -> None:
    reply = await asked(model, fields_of(model, QUESTION))
    assert [(each.name, each.arguments) for each in reply.calls] == [
        ("get_forecast", {"city": "Lisbon", "day": "tomorrow"})
    ]
    assert reply.finish == "calls"
    assert reply.usage is not None
    assert (reply.usage.output or 0) < 40  # no white space but what the transcript has
    result = ToolResult(reply.calls[0].id, (Text("Light rain, 14 degrees."),))
    answer = await asked(model, fields_of(model, QUESTION, reply.message, Message.results(result)))
    assert (answer.calls, answer.finish in ("stop", "length"), bool(answer.text.strip())) == ((), True, True)
    assert answer.usage is not None
    assert (answer.usage.cached or 0) > 100  # what was read for the question is not read again
    await model.close()


async def test_models_of_one_file_share_the_engine_until_the_last_is_closed(smollm2: Path) -> None:
    from toolbridge.local.native import _engines

    one, two = (local_model(str(smollm2), options={"threads": 1, "context_tokens": 1024}) for _ in range(2))
    assert (one.name, one.context_tokens, one.most_tools, one.provider.name) == (
        "smollm2.gguf", 1024, 3, "json-schema",
    )  # fmt: skip
    same = one.engine() is two.engine()
    assert same
    before = len(_engines)
    await one.close()
    assert len(_engines) == before
    await two.close()
    assert len(_engines) == before - 1


async def test_a_request_that_is_given_up_stops_while_the_prompt_is_read(model: LocalModel) -> None:
    await asyncio.to_thread(model.engine)
    long = fields_of(model, Message.user("one two three four five six seven eight nine ten " * 200))

    async def read() -> None:
        async for _ in model.stream(long):
            pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await first_chunk(model, {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3})
    await model.close()
    end = time.monotonic() + 20
    while any(each.name == "toolbridge-local-model" for each in threading.enumerate()):
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def test_what_does_not_fit_the_window_and_what_is_no_request_are_told(model: LocalModel) -> None:
    with pytest.raises(ModelError) as caught:
        await asked(model, {"messages": [{"role": "user", "content": "word " * 5000}]})
    assert caught.value.kind == "too_long"
    assert "and the built-in model's window 4096; start anew, offer fewer tools" in str(caught.value)
    with pytest.raises(ModelError) as caught:
        await asked(model, {})
    assert (caught.value.kind, str(caught.value)) == (
        "refused",
        "the built-in engine does not take the request: 'messages' is required",
    )
    await model.close()


async def test_a_file_that_is_cut_off_is_refused_and_the_process_lives(smollm2: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    with smollm2.open("rb") as whole:
        path.write_bytes(whole.read(3_000_000))
    model = local_model(str(path))
    with pytest.raises(ModelError) as caught:
        await asked(model, fields_of(model, QUESTION))
    assert caught.value.kind == "no_weights"
    assert str(caught.value).startswith(f"{path} cannot be loaded: it is damaged, ")


async def test_without_the_engine_it_is_said_how_to_install_it(smollm2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError) as caught:
        await asked(local_model(str(smollm2), options={"context_tokens": 512}), {"messages": []})
    assert (caught.value.kind, str(caught.value)) == (
        "not_installed",
        "the built-in engine is not installed; run: pip install 'xllamacpp>=2026.10,<2027'",
    )


def test_the_engine_says_nothing_and_leaves_nothing(smollm2: Path, tmp_path: Path) -> None:
    """In a process of its own: not a word on either stream, no file, and an end without being closed."""
    program = (
        "import asyncio, sys\n"
        "from toolbridge.local.engine import local_model\n"
        "model = local_model(sys.argv[1], options={'threads': 1, 'max_tokens': 2})\n"
        "async def main():\n"
        "    async for _ in model.stream({'messages': [{'role': 'user', 'content': 'Hi'}]}): pass\n"
        "asyncio.run(main())\n"
        "listening = [line for line in open('/proc/net/tcp') if line.split()[3] == '0A'] if sys.platform == 'linux' else []\n"
        "own = {each.split()[9] for each in listening}\n"
        "import os\n"
        "links = [os.readlink(f'/proc/self/fd/{each}') for each in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{each}') or os.path.islink(f'/proc/self/fd/{each}')] if sys.platform == 'linux' else []\n"
        "assert not [each for each in links if any(f'[{inode}]' in each for inode in own)], 'a port is open'\n"
        "print('done')\n"
    )
    place = tmp_path / "tmp"
    place.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, str(smollm2)],
        capture_output=True,
        env={**os.environ, "TMPDIR": str(place)},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"done\n", b"")
    assert list(place.iterdir()) == []


def test_the_head_of_the_file_is_read(smollm2: Path) -> None:
    head = read_head(smollm2)
    assert (head.architecture, head.context) == ("llama", 8192)


def test_an_option_that_is_none_is_told(smollm2: Path) -> None:
    with pytest.raises(
        ModelError, match="unknown option 'speed' of the built-in model; it has context_tokens, threads"
    ):
        local_model(str(smollm2), options={"speed": 2})
    with pytest.raises(ModelError, match="option 'threads' of the built-in model is a whole number from 1, not 0"):
        local_model(str(smollm2), options={"threads": 0})
