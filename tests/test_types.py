"""The central values: they can be kept, copied and compared."""

from __future__ import annotations

import copy
import pickle

from toolbridge import Image, Message, Reasoning, Text, Tool, ToolCall, ToolId, ToolResult
from toolbridge.types import EMPTY

HISTORY = (
    Message.system("Be brief."),
    Message.user("Grüße", Image("aGk=", "image/png")),
    Message.assistant(Reasoning("hm", {"signature": "s"}), "I look.", ToolCall("c", "f", "{}", {})),
    Message.results(ToolResult("c", (Text("ok"),), structured={"a": [1]})),
)


def test_a_history_can_be_copied_and_pickled() -> None:
    assert copy.deepcopy(HISTORY) == HISTORY
    assert pickle.loads(pickle.dumps(HISTORY)) == HISTORY


def test_a_tool_can_be_copied_and_pickled() -> None:
    tool = Tool(ToolId("s", "t"), "", {"type": "object"})
    assert copy.deepcopy(tool) == tool
    assert pickle.loads(pickle.dumps(tool)) == tool


def test_nothing_equals_nothing() -> None:
    assert EMPTY == {}
    assert {}.copy() == EMPTY
    assert dict(EMPTY) == {}
    assert not EMPTY
    assert pickle.loads(pickle.dumps(EMPTY)) is EMPTY
    assert (Text("a"), Text("a", {})) == (Text("a", {}), Text("a"))
    assert repr(EMPTY) == "{}"


def test_messages_tell_their_text_and_calls() -> None:
    assert [message.text for message in HISTORY] == ["Be brief.", "Grüße", "I look.", ""]
    assert [message.calls for message in HISTORY] == [(), (), (ToolCall("c", "f", "{}", {}),), ()]
