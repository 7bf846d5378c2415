"""Where a provider searches deferred tools itself, the request is one it takes, and what it said of it comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.offer.catalogues import READ_MORE, catalogue, lines
from tests.support.shared import judge, needs_judge
from tests.support.wire.vendor_types import anthropic_message, refused, response_item
from toolbridge.offer import Offer
from toolbridge.providers import get_provider
from toolbridge.types import BoundCall, Foreign, Message, Text, ToolCall, ToolResult

NAME = "mcp__server4__do_thing_4_9"

ANTHROPIC_REPLY: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "thing"}},
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {
                "type": "tool_search_tool_search_result",
                "tool_references": [{"type": "tool_reference", "tool_name": NAME}],
            },
        },
        {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {"path": "x"}},
    ],
}

FOUND = {
    "type": "function",
    "name": NAME,
    "description": "Does it.",
    "defer_loading": True,
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    "strict": False,
}
RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "gpt-5.4",
    "output": [
        {
            "type": "tool_search_call",
            "id": "tsc_1",
            "call_id": None,
            "execution": "server",
            "status": "completed",
            "arguments": {"paths": [NAME]},
        },
        {
            "type": "tool_search_output",
            "id": "tso_1",
            "call_id": None,
            "execution": "server",
            "status": "completed",
            "tools": [FOUND],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": NAME,
            "namespace": NAME,
            "arguments": '{"path":"x"}',
            "status": "completed",
        },
    ],
}


def offered(provider: str, **options: Any) -> Offer:
    return Offer(catalogue(), provider, tool_tokens=900, extra=[READ_MORE], **options)


@pytest.mark.parametrize(
    ("provider", "model", "native"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929", True),
        ("anthropic", "claude-opus-4-8", True),
        ("anthropic", "claude-haiku-4-5", True),
        ("anthropic", "claude-sonnet-5", True),
        ("anthropic", "claude-opus-4-20250514", False),
        ("anthropic", "claude-opus-4-1", False),
        ("anthropic", "claude-3-7-sonnet-latest", False),
        ("anthropic", "my-own-claude-sonnet-5", False),
        ("anthropic", "", False),
        ("openai-responses", "gpt-5.4", True),
        ("openai-responses", "gpt-5.5-2026-04-23", True),
        ("openai-responses", "gpt-5.4-mini", True),
        ("openai-responses", "gpt-5.4-nano", False),
        ("openai-responses", "gpt-5.1", False),
        ("openai-responses", "gpt-4.1", False),
        ("openai-chat", "gpt-5.4", False),
    ],
)
def test_only_models_that_are_known_to_search_are_left_to_it(provider: str, model: str, native: bool) -> None:
    offer = offered(provider, model=model)
    assert (offer.native, offer.searching) == (native, not native)
    assert not offered(provider, model=model, native=False).native


@pytest.mark.parametrize("provider", ["anthropic", "openai-responses"])
def test_what_fits_is_sent_plainly(provider: str) -> None:
    offer = Offer(catalogue(1, 3), provider, tool_tokens=5_000, native=True)
    assert offer.fields == offer.prepared.fields
    assert not offer.native


@pytest.mark.parametrize("provider", ["anthropic", "openai-responses"])
def test_deferred_tools_are_sent_behind_the_search_and_can_be_called(provider: str) -> None:
    offer = offered(provider, native=True)
    sent = offer.fields["tools"]
    search = next(i for i, each in enumerate(sent) if "tool_search" in each.get("type", ""))
    shown, hidden = sent[:search], sent[search + 1 :]
    assert [each for each in shown if "defer_loading" in each] == []
    assert [each["defer_loading"] for each in hidden] == [True] * len(offer.deferred)
    assert shown[0]["name"] == "read_more"
    assert len(shown) + len(hidden) == 51
    assert offer.cost.shown <= 900
    assert isinstance(offer.prepared.resolve(ToolCall("c", NAME, '{"path":"x"}', {"path": "x"})), BoundCall)


@needs_judge
@pytest.mark.parametrize("strict", [None, True, False])
@pytest.mark.parametrize("provider", ["anthropic", "openai-responses"])
def test_the_vendors_types_and_the_judge_take_the_request(provider: str, strict: bool | None) -> None:
    offer = offered(provider, native=True, strict=strict)
    for each in offer.fields["tools"]:
        if provider == "anthropic":
            from anthropic.types import ToolParam, ToolSearchToolBm25_20251119Param

            kind: Any = ToolSearchToolBm25_20251119Param if "type" in each else ToolParam
        else:
            from openai.types.responses import FunctionToolParam, ToolSearchToolParam

            kind = ToolSearchToolParam if each["type"] == "tool_search" else FunctionToolParam
        assert refused(kind, each) == []
        if "tool_search" not in each.get("type", ""):
            assert judge().violations(provider, each) == []


def test_a_request_that_would_defer_every_tool_is_not_made() -> None:
    offer = Offer(catalogue(), "anthropic", tool_tokens=1, native=True)
    assert (offer.native, offer.searching) == (False, True)


def test_a_catalogue_that_changes_keeps_what_is_shown_and_defers_the_rest() -> None:
    offer = offered("anthropic", native=True)
    shown = lines(offer.fields["tools"])[: 51 - len(offer.deferred)]
    offer.renew([*catalogue(), *catalogue(7, 2)[10:]])
    assert lines(offer.fields["tools"])[: len(shown)] == shown
    assert [each["defer_loading"] for each in offer.fields["tools"][-2:]] == [True, True]


def test_what_anthropic_searched_is_sent_back_as_it_was() -> None:
    provider = get_provider("anthropic")
    reply = provider.read_reply(ANTHROPIC_REPLY)
    assert [part.kind for part in reply.message.parts if isinstance(part, Foreign)] == [
        "server_tool_use",
        "tool_search_tool_result",
    ]
    bound = offered("anthropic", native=True).prepared.resolve(reply.calls[0])
    assert isinstance(bound, BoundCall)
    history = [Message.user("Do it."), reply.message, Message.results(ToolResult("toolu_1", (Text("done"),)))]
    written = provider.write_messages(history, model="claude-sonnet-4-5")
    assert written.notes == ()
    assert written.value["messages"][1]["content"] == ANTHROPIC_REPLY["content"]
    assert [problem for each in written.value["messages"] for problem in anthropic_message(each)] == []


def test_what_responses_searched_is_sent_back_with_its_namespace() -> None:
    provider = get_provider("openai-responses")
    reply = provider.read_reply(RESPONSE)
    bound = offered("openai-responses", native=True).prepared.resolve(reply.calls[0])
    assert isinstance(bound, BoundCall)
    history = [Message.user("Do it."), reply.message, Message.results(ToolResult("call_1", (Text("done"),)))]
    written = provider.write_messages(history, model="gpt-5.4")
    assert written.notes == ()
    assert written.value["input"][1:3] == RESPONSE["output"][:2]
    assert written.value["input"][3] == {
        "type": "function_call",
        "call_id": "call_1",
        "name": NAME,
        "namespace": NAME,
        "arguments": '{"path":"x"}',
    }
    assert [problem for each in written.value["input"] for problem in response_item(each)] == []


def test_another_provider_gets_the_calls_without_the_search() -> None:
    reply = get_provider("anthropic").read_reply(ANTHROPIC_REPLY)
    history = [Message.user("Do it."), reply.message, Message.results(ToolResult("toolu_1", (Text("done"),)))]
    written = get_provider("openai-chat").write_messages(history).value["messages"]
    assert [each["role"] for each in written] == ["user", "assistant", "tool"]
    assert "tool_search" not in str(written)


def test_a_search_for_a_tool_that_is_gone_is_left_out_of_the_history_and_its_call_stays() -> None:
    provider = get_provider("anthropic")
    offer = offered("anthropic", native=True)
    history = (Message.user("Do it."), provider.read_reply(ANTHROPIC_REPLY).message)
    assert offer.replayed(history) == history
    offer.renew([each for each in catalogue() if each.id.server != "server4"])
    kept = provider.write_messages(offer.replayed(history)).value["messages"][1]["content"]
    assert kept == [ANTHROPIC_REPLY["content"][0], ANTHROPIC_REPLY["content"][3]]


def test_a_call_keeps_its_namespace_only_while_its_function_is_deferred() -> None:
    provider = get_provider("openai-responses")
    history = (Message.user("Do it."), provider.read_reply(RESPONSE).message)
    native = offered("openai-responses", native=True)
    assert native.replayed(history) == history
    gone = Offer(catalogue(2, 2), "openai-responses")
    results = Message.results(ToolResult("call_1", (Text("done"),)))
    written = provider.write_messages([*gone.replayed(history), results]).value["input"]
    assert [each.get("type") for each in written] == [None, "function_call", "function_call_output"]
    assert "namespace" not in written[1]
