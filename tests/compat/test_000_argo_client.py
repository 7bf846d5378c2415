"""Contract: what the Argo guide promises of `ArgoMCPClient`, with the real SDK against a server that speaks OpenAI's."""

from __future__ import annotations

import builtins
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.compat.scripted import ScriptedServer, asks, says
from tests.support.processes import descendants, wait_until
from tests.support.wire.scenario import Ask
from toolbridge import Approval, ConfigError, ServerSpec
from toolbridge.compat.argo import ArgoMCPClient, MCPToOpenAIConverter
from toolbridge.errors import ModelError

GARDEN = Path(__file__).parents[2] / "examples" / "garden_server.py"
CHAOS = Path(__file__).parents[1] / "servers" / "chaos" / "stdio_server.py"

BUILD_MODEL: dict[str, Any] = {
    "name": "build_model",
    "description": "Build a metabolic model",
    "inputSchema": {
        "type": "object",
        "properties": {
            "model_id": {"type": "string", "description": "Model ID"},
            "template": {"type": "string", "description": "Template name", "default": "auto"},
        },
        "required": ["model_id"],
    },
}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of the test's own, and no process left after it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = {each.pid for each in descendants()}
    yield
    wait_until(lambda: {each.pid for each in descendants()} <= before, 5, "the servers to be gone")


def garden(name: str = "garden", **fields: Any) -> ServerSpec:
    return ServerSpec(name, command=sys.executable, args=(str(GARDEN),), **fields)


def quick(name: str, *words: str, **fields: Any) -> ServerSpec:
    """A server that is there at once, for tests that are not about a server by the SDK."""
    return ServerSpec(name, command=sys.executable, args=("-S", "-E", str(CHAOS), *words), **fields)


def results(request: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["tool_call_id"], each["content"]) for each in request if each["role"] == "tool"]


def test_the_client_of_the_guide_stands_without_arguments() -> None:
    with ArgoMCPClient() as client:
        assert str(client.openai_client.base_url) == "http://localhost:8000/v1/"
        assert client.openai_client.api_key == "dummy"
        assert (client.mcp_tools, client.openai_tools, client.model) == ([], [], "gpt-5")


def test_a_message_is_answered_and_without_tools_none_are_sent(model: ScriptedServer) -> None:
    model.then(says("Hello!"))
    with ArgoMCPClient(base_url=f"{model.url}/v1") as client:
        assert client.chat("Hi") == "Hello!"
    (request,) = model.requests
    assert request.body == {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}


def test_example_of_the_integration_with_a_class_that_loads_its_own_tools(model: ScriptedServer) -> None:
    ran: list[tuple[str, dict[str, Any]]] = []

    class Client(ArgoMCPClient):
        def _load_mcp_tools(self) -> list[dict[str, Any]]:
            return [BUILD_MODEL]

        def _call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
            ran.append((name, arguments))
            return {"status": "built", "model_id": arguments["model_id"]}

    model.then(asks(Ask("a1B2c3D4e", "build_model", {"model_id": "ecoli.gf"})), says("It is built."))
    with Client(base_url=f"{model.url}/v1") as client:
        assert client.openai_tools == MCPToOpenAIConverter.convert_all_tools([BUILD_MODEL])
        assert client.chat("Build E. coli") == "It is built."
    first, second = model.requests
    assert first.body["tools"] == client.openai_tools
    assert "default" not in first.body["tools"][0]["function"]["parameters"]["properties"]["template"]
    assert ran == [("build_model", {"model_id": "ecoli.gf"})]
    function = {"name": "build_model", "arguments": '{"model_id": "ecoli.gf"}'}
    assert second.body["messages"] == [
        {"role": "user", "content": "Build E. coli"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_a1B2c3D4e", "type": "function", "function": function}],
        },
        {
            "role": "tool",
            "tool_call_id": "call_a1B2c3D4e",
            "content": '{"status": "built", "model_id": "ecoli.gf"}',
        },
    ]


def test_a_class_with_the_guides_own_beginning_needs_no_other(model: ScriptedServer) -> None:
    class Client(ArgoMCPClient):
        def __init__(self) -> None:
            self.openai_client = openai.OpenAI(base_url=f"{model.url}/v1", api_key="dummy")
            self.mcp_tools = self._load_mcp_tools()
            self.openai_tools = MCPToOpenAIConverter.convert_all_tools(self.mcp_tools)

    class WithTools(Client):
        def _load_mcp_tools(self) -> list[dict[str, Any]]:
            return [BUILD_MODEL]

        def _call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
            return f"{name} {arguments}"

    model.then(asks(Ask("a1B2c3D4e", "build_model", {"model_id": "x"})), says("Built."), says("Hello!"))
    with WithTools() as client, client.openai_client:
        assert client.chat("Build") == "Built."
        assert not client.openai_client.is_closed()
    assert results(model.messages[1]) == [("call_a1B2c3D4e", "build_model {'model_id': 'x'}")]
    with Client() as client, client.openai_client:
        assert (client.chat("Hi"), client.mcp_tools) == ("Hello!", [])


def test_calls_run_on_the_servers_of_a_configuration_until_there_is_an_answer(
    model: ScriptedServer, tmp_path: Path
) -> None:
    config = tmp_path / "mcp.json"
    entry = {"command": sys.executable, "args": [str(GARDEN)]}
    config.write_text(json.dumps({"mcpServers": {"garden": entry}}), encoding="utf-8")
    model.then(
        asks(Ask("a1B2c3D4e", "find_plants", {"query": "rose"}), text="I will look."),
        asks(Ask("f5G6h7I8j", "water", {"bed": "B2", "litres": 2}), Ask("k9L0m1N2o", "find_plants", {"query": "fe"})),
        says("The rose has had its water."),
    )
    with ArgoMCPClient(base_url=f"{model.url}/v1", servers=config) as client:
        assert {each["name"] for each in client.mcp_tools} >= {"find_plants", "water"}
        assert set(client.mcp_tools[0]) == {"name", "description", "inputSchema"}
        assert client.chat("Water the rose") == "The rose has had its water."
        model.then(says("Nothing is kept."))
        assert client.chat("And?") == "Nothing is kept."
    assert [len(each) for each in model.messages] == [1, 3, 6, 1]
    assert model.messages[2][1]["content"] == "I will look."
    assert results(model.messages[2]) == [
        ("call_a1B2c3D4e", '{\n  "rose": "B2"\n}'),
        ("call_f5G6h7I8j", "B2 has had 2 litres."),
        ("call_k9L0m1N2o", '{\n  "fern": "C4"\n}'),
    ]


def test_whatever_goes_wrong_with_a_call_is_its_result_and_the_others_run(
    model: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[str] = []

    def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        ran.append(name)
        raise OSError("the disk is full")

    model.then(
        asks(
            Ask("a1B2c3D4e", "build_model", {"model_id": "x"}),
            Ask("f5G6h7I8j", "build_model", {"template": "auto"}),
            Ask("k9L0m1N2o", "build_modle", {}),
            Ask("p3Q4r5S6t", "water", {"bed": "Z9"}),
            Ask("u7V8w9X0y", "build_model", {"model_id": "cut"}, cut=14),
            Ask("z1A2b3C4d", "find_plants", {"query": "daisy"}),
        ),
        says("So be it."),
    )
    with (
        caplog.at_level(logging.WARNING),
        ArgoMCPClient(
            base_url=f"{model.url}/v1", servers=garden(), mcp_tools=[BUILD_MODEL], call_tool=call_tool
        ) as client,
    ):
        assert client.chat("Everything") == "So be it."
    found = dict(results(model.messages[1]))
    assert ran == ["build_model"]
    assert found["call_a1B2c3D4e"] == "Error: The call of build_model failed: OSError: the disk is full"
    assert found["call_f5G6h7I8j"].startswith(
        "Error: The call of build_model was not run: its arguments are not valid."
    )
    assert found["call_k9L0m1N2o"] == 'Error: There is no tool named "build_modle". Did you mean build_model?'
    assert found["call_p3Q4r5S6t"].startswith("Error: The call of water was not run: its arguments are not valid.")
    assert found["call_u7V8w9X0y"].startswith("Error: The call of build_model was not run: the arguments end too early")
    assert found["call_z1A2b3C4d"] == '{\n  "daisy": "A1"\n}'
    assert "The call of build_model failed: the disk is full" in caplog.messages


def test_tools_that_share_a_name_are_told_apart_and_each_call_reaches_its_own_server(
    model: ScriptedServer, tmp_path: Path
) -> None:
    ledgers = {each: tmp_path / each for each in ("north", "south")}
    with ArgoMCPClient(
        base_url=f"{model.url}/v1",
        servers=[quick(name, f"ledger={path}") for name, path in ledgers.items()],
        mcp_tools=[{**BUILD_MODEL, "name": "count"}],
        call_tool=lambda name, arguments: f"by hand {arguments['model_id']}",
    ) as client:
        names = [each["function"]["name"] for each in client.openai_tools]
        assert len(names) == len(set(names)) == 2 * ((len(names) - 1) // 2) + 1
        north, south = (next(name for name in names if where in name and "count" in name) for where in ledgers)
        model.then(
            asks(
                Ask("a1B2c3D4e", "count", {"model_id": "m"}),
                Ask("f5G6h7I8j", north, {"key": "A1"}),
                Ask("k9L0m1N2o", south, {"key": "B2"}),
            ),
            says("done"),
        )
        assert client.chat("count") == "done"
    assert [text for _, text in results(model.messages[1])] == ["by hand m", "counted A1", "counted B2"]
    noted = {name: [json.loads(each) for each in path.read_text().splitlines()] for name, path in ledgers.items()}
    counted = {name: [each["key"] for each in lines if each["event"] == "count"] for name, lines in noted.items()}
    assert counted == {"north": ["A1"], "south": ["B2"]}


def test_a_call_that_the_operator_wants_to_be_asked_about_is_not_run(model: ScriptedServer) -> None:
    model.then(asks(Ask("a1B2c3D4e", "count", {"key": "k"}), Ask("f5G6h7I8j", "echo", {"text": "e"})), says("ok"))
    spec = quick("chaos", approval=Approval(default="never", always=("count",)))
    with ArgoMCPClient(base_url=f"{model.url}/v1", servers=spec) as client:
        assert client.chat("Count it") == "ok"
    assert [text for _, text in results(model.messages[1])] == [
        "Error: Not called: a person would have to allow it (the settings ask about this tool), and none is here.",
        "e",
    ]


def test_in_the_last_turn_the_model_may_not_call_and_one_that_does_is_stopped(
    model: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def call_tool(name: str, arguments: dict[str, Any]) -> str:
        calls.append(name)
        return "again"

    model.then(asks(Ask("a1B2c3D4e", "build_model", {"model_id": "x"})))
    with ArgoMCPClient(base_url=f"{model.url}/v1", mcp_tools=[BUILD_MODEL], call_tool=call_tool, max_turns=3) as client:
        assert client.chat("Go on") == "Stopped after 3 turns: the model was still calling tools."
    assert [request.body.get("tool_choice") for request in model.requests] == [None, None, "none"]
    assert len(calls) == 2
    assert caplog.messages == ["gpt-5 still calls tools after 3 turns; set max_turns"]


def test_a_client_of_ones_own_is_used_and_stays_open(model: ScriptedServer) -> None:
    model.then(says("yes"))
    with openai.OpenAI(base_url=f"{model.url}/v1", api_key="mine", max_retries=0) as own:
        with ArgoMCPClient(openai_client=own, model="argo-model") as client:
            assert client.openai_client is own
        assert not own.is_closed()
        assert client.chat("still?") == "yes"
    assert model.requests[0].body["model"] == "argo-model"
    assert model.requests[0].headers["authorization"] == "Bearer mine"


def test_a_server_that_cannot_be_had_costs_its_own_tools_and_is_told_in_the_log(
    model: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    model.then(says("Without it, then."))
    absent = ServerSpec("absent", command="/nowhere/to/be/found")
    with ArgoMCPClient(base_url=f"{model.url}/v1", servers=absent, mcp_tools=[BUILD_MODEL]) as client:
        assert [each["name"] for each in client.mcp_tools] == ["build_model"]
        assert client.chat("Hi") == "Without it, then."
    (told,) = [each for each in caplog.messages if each.startswith("Without the tools of a server")]
    assert "/nowhere/to/be/found" in told


def test_what_the_sdk_raises_is_let_through(model: ScriptedServer) -> None:
    model.says(raw=b'{"error": {"message": "no such model", "code": "model_not_found"}}', status=404)
    with (
        ArgoMCPClient(base_url=f"{model.url}/v1") as client,
        pytest.raises(openai.NotFoundError, match="no such model"),
    ):
        client.chat("Hi")


def test_mistakes_of_the_developer_are_exceptions(model: ScriptedServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="absent"):
        ArgoMCPClient(servers=tmp_path / "absent.json")
    with pytest.raises(ValueError, match="max_turns is 0"):
        ArgoMCPClient(max_turns=0)

    async def call_tool(name: str, arguments: dict[str, Any]) -> str:
        return ""

    model.then(asks(Ask("a1B2c3D4e", "build_model", {"model_id": "x"})))
    with (
        ArgoMCPClient(base_url=f"{model.url}/v1", mcp_tools=[BUILD_MODEL], call_tool=call_tool) as client,
        pytest.raises(TypeError, match="plain function"),
    ):
        client.chat("x")


def test_nobody_to_run_a_tool_is_told_to_the_model(model: ScriptedServer) -> None:
    model.then(asks(Ask("a1B2c3D4e", "build_model", {"model_id": "x"})), says("A pity."))
    with ArgoMCPClient(base_url=f"{model.url}/v1", mcp_tools=[BUILD_MODEL]) as client:
        assert client.chat("x") == "A pity."
    why = "no server is connected that has 'build_model'; give `servers`, or `call_tool`"
    assert results(model.messages[1]) == [("call_a1B2c3D4e", f"Error: The call of build_model failed: {why}")]


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "openai":
            raise ImportError("No module named 'openai'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModelError, match="pip install openai") as raised:
        ArgoMCPClient()
    assert raised.value.kind == "not_installed"
