"""From a name to a model: whose it is, where it is asked, with which key; and what is said where one cannot tell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.asking import KEY
from toolbridge import ModelError, ToolbridgeError, UnknownProviderError
from toolbridge.model.find import get_model
from toolbridge.model.http import HttpModel
from toolbridge.model.vendors import VENDORS, window_of
from toolbridge.model.waiting import Timeouts
from toolbridge.providers import providers

AZURE = "https://own.openai.azure.com"


def made(name: str, **options: Any) -> tuple[str, str, str]:
    """(provider, the model's name, where)."""
    options = {"api_key": KEY, **options}
    model = get_model(name, **options)
    assert isinstance(model, HttpModel)
    return model.provider.name, model.name, model._addresses[0]


def said(name: str, **options: Any) -> tuple[str, str]:
    """(kind, message) of what making the model comes to."""
    with pytest.raises(ModelError) as caught:
        get_model(name, **options)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return caught.value.kind, str(caught.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai/gpt-5", ("openai-chat", "gpt-5", "https://api.openai.com/v1/chat/completions")),
        ("gpt-5-mini", ("openai-chat", "gpt-5-mini", "https://api.openai.com/v1/chat/completions")),
        ("o3", ("openai-chat", "o3", "https://api.openai.com/v1/chat/completions")),
        ("openai-responses/gpt-5", ("openai-responses", "gpt-5", "https://api.openai.com/v1/responses")),
        ("claude-sonnet-5", ("anthropic", "claude-sonnet-5", "https://api.anthropic.com/v1/messages")),
        ("anthropic/claude-x", ("anthropic", "claude-x", "https://api.anthropic.com/v1/messages")),
        (
            "gemini-2.5-flash",
            (
                "gemini",
                "gemini-2.5-flash",
                "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            ),
        ),
        ("google/gemini-x", ("gemini", "gemini-x", "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse")),
        ("mistral-large-latest", ("mistral", "mistral-large-latest", "https://api.mistral.ai/v1/chat/completions")),
        ("open-mixtral-8x7b", ("mistral", "open-mixtral-8x7b", "https://api.mistral.ai/v1/chat/completions")),
        ("groq/openai/gpt-oss-120b", ("groq", "openai/gpt-oss-120b", "https://api.groq.com/openai/v1/chat/completions")),
        ("deepseek-chat", ("deepseek", "deepseek-chat", "https://api.deepseek.com/v1/chat/completions")),
        ("kimi-k2", ("moonshot", "kimi-k2", "https://api.moonshot.ai/v1/chat/completions")),
        ("qwen-max", ("qwen", "qwen-max", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions")),
        ("openrouter/anthropic/claude-x", ("openrouter", "anthropic/claude-x", "https://openrouter.ai/api/v1/chat/completions")),
        ("fireworks/accounts/f/models/m", ("fireworks", "accounts/f/models/m", "https://api.fireworks.ai/inference/v1/chat/completions")),
        ("ollama/llama3.2:1b", ("ollama", "llama3.2:1b", "http://localhost:11434/v1/chat/completions")),
        ("vllm/Qwen/Qwen3-8B", ("vllm", "Qwen/Qwen3-8B", "http://localhost:8000/v1/chat/completions")),
        ("llama.cpp/any", ("llama.cpp", "any", "http://localhost:8080/v1/chat/completions")),
        ("bedrock/us.amazon.nova-lite-v1:0", ("bedrock", "us.amazon.nova-lite-v1:0", "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1:0/converse-stream")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_name_says_whose_model_it_is(name: str, expected: tuple[str, str, str]) -> None:
    assert made(name) == expected


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("http://h:1", "/v1/chat/completions"), ("http://h:1/", "/v1/chat/completions"), ("http://h:1/v1", "/v1/chat/completions"),
        ("http://h:1/v1/", "/v1/chat/completions"), ("  http://h:1/v1\n", "/v1/chat/completions"),
        ("http://h:1/v1/chat/completions", "/v1/chat/completions"), ("http://h:1/v1/chat/completions/", "/v1/chat/completions"),
        ("http://h:1/chat/completions", "/chat/completions"), ("http://h:1/api/v3", "/api/v3/chat/completions"),
        ("http://h:1/v1beta/openai/", "/v1beta/openai/chat/completions"), ("http://h:1/proxy", "/proxy/v1/chat/completions"),
        ("http://h:1/v1?tenant=a", "/v1/chat/completions?tenant=a"),
    ],
)  # fmt: skip
def test_a_base_url_is_meant_the_same_however_it_is_written(given: str, path: str) -> None:
    assert made("some-model", base_url=given) == ("openai-chat", "some-model", f"http://h:1{path}")


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("anthropic/c", "http://h", "http://h/v1/messages"),
        ("anthropic/c", "http://h/anthropic", "http://h/anthropic/v1/messages"),
        ("anthropic/c", "http://h/v1/messages", "http://h/v1/messages"),
        ("responses/g", "http://h/v1", "http://h/v1/responses"),
        ("responses/g", "http://h/v1/chat/completions", "http://h/v1/responses"),
        ("vllm/g", "http://h/v1/models", "http://h/v1/chat/completions"),
        ("gemini/g", "http://h", "http://h/v1beta/models/g:streamGenerateContent?alt=sse"),
        ("gemini/models/g", "http://h/v1", "http://h/v1/models/g:streamGenerateContent?alt=sse"),
        ("gemini/g", "http://h/v1beta/models/old:generateContent", "http://h/v1beta/models/g:streamGenerateContent?alt=sse"),
        ("gemini/g", "http://h/v1beta/models/g:streamGenerateContent?alt=sse", "http://h/v1beta/models/g:streamGenerateContent?alt=sse"),
        ("azure/d", AZURE, f"{AZURE}/openai/v1/chat/completions"),
        ("azure/d", f"{AZURE}/openai", f"{AZURE}/openai/v1/chat/completions"),
        ("azure/d", f"{AZURE}/openai/v1/", f"{AZURE}/openai/v1/chat/completions"),
        ("azure/d", f"{AZURE}/?api-version=2024-10-21", f"{AZURE}/openai/deployments/d/chat/completions?api-version=2024-10-21"),
        ("azure/d", f"{AZURE}/openai/deployments/x/chat/completions?api-version=1", f"{AZURE}/openai/deployments/x/chat/completions?api-version=1"),
        ("d", AZURE, f"{AZURE}/openai/v1/chat/completions"),
        ("dial/gpt-4o", "http://h", "http://h/openai/deployments/gpt-4o/chat/completions"),
        ("dial/gpt-4o", "http://h/openai", "http://h/openai/deployments/gpt-4o/chat/completions"),
        ("bedrock/arn:aws:x/y", "http://h", "http://h/model/arn:aws:x%2Fy/converse-stream"),
    ],
)  # fmt: skip
def test_every_wire_format_has_its_path(name: str, given: str, expected: str) -> None:
    assert made(name, base_url=given)[2] == expected


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("m", {"provider": "vllm"}, ("vllm", "m")),
        ("m", {"provider": "llama-cpp"}, ("llama.cpp", "m")),
        ("json", {"provider": "json-schema"}, ("json-schema", "json")),
        ("openai/gpt-oss-20b", {}, ("openai-chat", "openai/gpt-oss-20b")),
        ("openai/gpt-oss-20b", {"provider": "vllm"}, ("vllm", "openai/gpt-oss-20b")),
        ("google/gemma-3-4b", {}, ("openai-chat", "google/gemma-3-4b")),
        ("openai/gpt-5", {}, ("openai-chat", "gpt-5")),
        ("Qwen/Qwen3-8B", {}, ("openai-chat", "Qwen/Qwen3-8B")),
        ("vllm/m", {"provider": "vllm"}, ("vllm", "m")),
        ("claude-sonnet-5", {}, ("openai-chat", "claude-sonnet-5")),
        ("gemini-2.5-flash", {}, ("openai-chat", "gemini-2.5-flash")),
        ("mistral-7b-instruct", {"base_url": "http://localhost:4000"}, ("openai-chat", "mistral-7b-instruct")),
        ("anthropic/claude-x", {}, ("anthropic", "claude-x")),
        ("claude-x", {"provider": "anthropic"}, ("anthropic", "claude-x")),
        ("claude-x", {"base_url": "https://api.anthropic.com"}, ("anthropic", "claude-x")),
        ("kimi-k2", {"base_url": "https://api.moonshot.cn/v1"}, ("moonshot", "kimi-k2")),
        ("qwen-max", {"base_url": "https://dashscope.aliyuncs.com/compatible-mode/v1"}, ("qwen", "qwen-max")),
        ("local/m", {"provider": "vllm"}, ("vllm", "local/m")),
        ("local", {}, ("openai-chat", "local")),
        ("a.gguf", {}, ("openai-chat", "a.gguf")),
        ("anthropic/claude-x", {"base_url": "https://openrouter.ai/api/v1"}, ("openrouter", "anthropic/claude-x")),
        ("gpt-5", {"base_url": "https://api.openai.com/v1/responses"}, ("openai-responses", "gpt-5")),
    ],
)
def test_at_an_address_of_ones_own_the_name_is_the_servers(
    name: str, options: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert made(name, **{"base_url": "http://h:1/v1", **options})[:2] == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("localhost:8000/v1", "the base URL of 'localhost:8000/v1' has no scheme: write 'http://localhost:8000/v1'"),
        ("api.example.com", "the base URL of 'api.example.com' has no scheme: write 'https://api.example.com'"),
        ("htp://api.example.com/v1", "the base URL of 'api.example.com/v1' starts with 'htp://': write 'https://api.example.com/v1'"),
        ("htps://h.example/v1", "the base URL of 'h.example/v1' starts with 'htps://': write 'https://h.example/v1'"),
        ("http:/h.example/v1", "the base URL of 'h.example/v1' has no scheme: write 'https://h.example/v1'"),
        (f"ws://me:{KEY}@h.example?key={KEY}", "the base URL of 'h.example' starts with 'ws://': write 'https://h.example'"),
        ("http://h:port/v1", "the base URL of 'h:port/v1' is no address: Port could not be cast to integer value as 'port'"),
        ("http:///v1", "the base URL 'http:///v1' names no host"),
        ("http://a b/v1", "the base URL 'http://a b/v1' names no host"),
        ("", "the base URL of '' has no scheme: write 'https://'"),
        ("http://\u200bapi.example.com", "the base URL of '\\u200bapi.example.com' holds U+200B ZERO WIDTH SPACE, which is no part of an address"),
        (f"\ufeffhttp://me:{KEY}@h/v1", "the base URL of 'h/v1' holds U+FEFF ZERO WIDTH NO-BREAK SPACE, which is no part of an address"),
        ("http://api\u2013x.example/v1", "the base URL of 'api\\u2013x.example/v1' holds U+2013 EN DASH, which is no part of an address"),
        ("http://\u2603.example", "the base URL of '\\u2603.example' holds U+2603 SNOWMAN, which is no part of an address"),
        ("http://h/v1\x7f", "the base URL of 'h/v1\\x7f' holds U+007F, which is no part of an address"),
        ("http://999.1.1.1", "the base URL of '999.1.1.1' is no address: Invalid IPv4 address: '999.1.1.1'"),
    ],
)  # fmt: skip
def test_what_is_no_address_is_said_before_anything_is_sent(given: str, message: str) -> None:
    assert said("m", base_url=given) == ("unreachable", message)


def test_a_host_may_be_written_in_its_own_script() -> None:
    assert made("m", base_url="http://b\u00fccher.example")[2] == "http://b\u00fccher.example/v1/chat/completions"


@pytest.mark.parametrize("provider", sorted(name for name, row in VENDORS.items() if row.key_needed))
def test_a_missing_key_is_said_early_and_where_to_put_it(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = VENDORS[provider]
    if not row.base_url and provider != "bedrock":
        monkeypatch.setenv(row.base_variables[0], "https://own.example")
    variables = " or ".join(row.key_variables)
    assert said(f"{provider}/m") == (
        "no_key",
        f"no key for {provider}/m: set the environment variable {variables}, or give api_key",
    )
    for variable in row.key_variables:
        monkeypatch.setenv(variable, KEY)
        model = get_model(f"{provider}/m")
        assert isinstance(model, HttpModel)
        assert model._key.reveal() == KEY
        assert KEY not in repr(model)
        monkeypatch.delenv(variable)


def test_a_server_of_ones_own_needs_no_key_and_gets_one_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    model = get_model("m", base_url="http://h:1")
    assert isinstance(model, HttpModel)
    assert not model._key
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    model = get_model("m", base_url="http://h:1")
    assert isinstance(model, HttpModel)
    assert model._headers()["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["two words", "sk-…abc", "a\nb"])
def test_a_key_that_cannot_be_one_is_said(key: str) -> None:
    kind, message = said("gpt-5", api_key=key)
    assert (kind, message) == ("wrong_key", "the key in api_key holds characters that no key has: was it copied whole?")


@pytest.mark.parametrize(
    ("variable", "value", "name", "address"),
    [
        ("OPENAI_BASE_URL", "http://h:1/v1", "gpt-5", "http://h:1/v1/chat/completions"),
        ("ANTHROPIC_BASE_URL", "http://h:1", "claude-x", "http://h:1/v1/messages"),
        ("OLLAMA_HOST", "0.0.0.0", "ollama/m", "http://127.0.0.1:11434/v1/chat/completions"),
        ("OLLAMA_HOST", "box:1234", "ollama/m", "http://box:1234/v1/chat/completions"),
        ("OLLAMA_HOST", "'http://box/'", "ollama/m", "http://box/v1/chat/completions"),
        ("OLLAMA_HOST", ":1234", "ollama/m", "http://127.0.0.1:1234/v1/chat/completions"),
        ("OLLAMA_HOST", "https://box.example", "ollama/m", "https://box.example/v1/chat/completions"),
        ("AZURE_OPENAI_ENDPOINT", AZURE + "/", "azure/d", f"{AZURE}/openai/v1/chat/completions"),
        ("DIAL_URL", "http://h:1", "dial/d", "http://h:1/openai/deployments/d/chat/completions"),
    ],
)
def test_an_address_is_read_from_the_environment(
    variable: str, value: str, name: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert made(name)[2] == address


def test_azures_version_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", AZURE)
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert made("azure/d")[2] == f"{AZURE}/openai/deployments/d/chat/completions?api-version=2024-10-21"


def test_an_address_of_the_environment_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:1/v1")
    assert said("gpt-5", api_key=KEY) == (
        "unreachable",
        "OPENAI_BASE_URL: the base URL of 'localhost:1/v1' has no scheme: write 'http://localhost:1/v1'",
    )
    monkeypatch.setenv("OPENAI_BASE_URL", "http://\u2603/v1")
    kind, message = said("gpt-5", api_key=KEY)
    assert (kind, message.startswith("OPENAI_BASE_URL: "), "SNOWMAN" in message) == ("unreachable", True, True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a model needs a name: write 'provider/model', as in 'anthropic/claude-sonnet-5', or give base_url"),
        ("llama-7", "whose model is 'llama-7'? Write 'provider/model', as in 'anthropic/claude-sonnet-5', or give base_url"),
        ("cluade-sonnet", "whose model is 'cluade-sonnet'? (did you mean something like 'claude-sonnet-5'?) Write 'provider/model', as in 'anthropic/claude-sonnet-5', or give base_url"),
        ("antropic/c", "no provider 'antropic' for the model 'antropic/c'; did you mean 'anthropic/c'? Or give base_url"),
    ],
)  # fmt: skip
def test_a_name_that_says_nothing_is_met_with_how_to_write_one(name: str, message: str) -> None:
    assert said(name) == ("unknown_model", message)


def test_a_provider_without_an_address_of_its_own_wants_one() -> None:
    assert said("dial/m", api_key=KEY) == (
        "unreachable", "dial has no address of its own: give base_url, or set DIAL_URL"
    )  # fmt: skip


def test_a_provider_that_is_none_is_said_with_the_nearest() -> None:
    with pytest.raises(UnknownProviderError, match="did you mean 'anthropic'"):
        get_model("m", provider="antropic", base_url="http://h")
    assert issubclass(UnknownProviderError, ToolbridgeError)


def test_time_limits_are_numbers() -> None:
    model = get_model("m", base_url="http://h", timeout=7)
    assert isinstance(model, HttpModel)
    assert model.timeouts == Timeouts(connect=10, first=7, silence=7)


def test_windows_are_those_that_vendors_state_and_no_others() -> None:
    names = [
        "gpt-4o-mini",
        "gpt-4.1",
        "gpt-5",
        "o3",
        "claude-sonnet-4-5",
        "gemini-2.5-pro",
        "claude-sonnet-5",
        "llama3",
        "gpt-5.2",
    ]
    assert {name: window_of(name) for name in names} == {
        "gpt-4o-mini": 128_000, "gpt-4.1": 1_047_576, "gpt-5": 400_000, "o3": 200_000, "claude-sonnet-4-5": 200_000,
        "gemini-2.5-pro": 1_048_576, "claude-sonnet-5": None, "llama3": None, "gpt-5.2": None,
    }  # fmt: skip
    assert get_model("openai/gpt-4o", api_key=KEY).context_tokens == 128_000
    assert get_model("openai/gpt-4o", api_key=KEY).most_tools is None


def test_older_models_are_not_asked_for_more_than_they_write() -> None:
    from toolbridge.model.vendors import fields_for

    row = VENDORS["anthropic"]
    assert [fields_for(row, name)["max_tokens"] for name in ("claude-3-haiku-x", "claude-3-5-haiku-x", "claude-sonnet-5")] == [
        4_096, 8_192, 16_000,
    ]  # fmt: skip


def test_reasoning_is_asked_for_sealed_only_where_there_is_some() -> None:
    from toolbridge.model.vendors import wishes_for

    row = VENDORS["openai-responses"]
    assert [list(wishes_for(row, name)) for name in ("gpt-4o", "gpt-4.1", "gpt-5", "o3")] == [
        [], [], ["include"], ["include"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options", "path"),
    [
        ("local/smollm2", {}, "smollm2"),
        ("local/weights/a.gguf", {}, "weights/a.gguf"),
        ("/models/a.gguf", {}, "/models/a.gguf"),
        ("smollm2", {"provider": "local"}, "smollm2"),
    ],
)
def test_a_model_of_ones_own_machine_is_the_engines(
    name: str, options: dict[str, Any], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def local_model(name: str, **options: Any) -> object:
        made.append((name, options))
        return made

    monkeypatch.setattr("toolbridge.local.engine.local_model", local_model)
    assert get_model(name, options={"threads": 1}, **options) is made
    assert made == [(path, {"options": {"threads": 1}})]


@pytest.mark.parametrize("name", ["local", "local/"])
def test_a_built_in_model_without_a_name_is_met_with_those_that_there_are(name: str) -> None:
    kind, message = said(name)
    assert (kind, "smollm2" in message, "provider" in message) == ("unknown_model", True, False)


@pytest.mark.parametrize(("name", "options"), [("local/smollm2", {}), ("smollm2", {"provider": "local"})])
def test_a_built_in_model_is_at_no_base_url(name: str, options: dict[str, Any]) -> None:
    assert said(name, base_url="http://h", **options) == (
        "refused",
        f"{name!r} runs in this process, and a base_url is a server's: give one of them; for a server's model of that "
        "name, give its provider, too",
    )


def test_nothing_is_loaded_to_say_that_something_is_missing() -> None:
    import subprocess
    import sys

    program = (
        "import sys\nfrom toolbridge.model.find import get_model\n"
        "try: get_model('claude-x')\nexcept Exception as error: print(error.kind, 'httpx2' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert ran.stdout == "no_key False\n"


def test_rows_have_sources() -> None:
    stated = [name for name in providers() if name not in ("json-schema",)]
    assert [name for name in stated if not VENDORS[name].facts] == []
