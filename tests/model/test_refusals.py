"""What vendors say in place of a reply, in their own words, and what is made of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolbridge import ModelError
from toolbridge.errors import ModelFailure
from toolbridge.model.refusals import Asker, read_refusal, refused_tool, refused_wishes

ASKER = Asker("openai-chat", "m", "https://h.example/v1/chat/completions?key=1", "OPENAI_API_KEY")


def plain(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


WORDS: list[tuple[str, int | None, Any, ModelFailure]] = [
    ("openai", 401, plain("Incorrect API key provided: sk-ab***cd.", code="invalid_api_key"), "wrong_key"),
    ("openai model", 404, plain("The model `gpt-9` does not exist or you do not have access to it.", code="model_not_found"), "unknown_model"),
    ("openai long", 400, plain("This model's maximum context length is 128000 tokens. However, …", code="context_length_exceeded"), "too_long"),
    ("responses long", 400, plain("Your input exceeds the context window of this model.", code="context_length_exceeded"), "too_long"),
    ("openai rate", 429, plain("Rate limit reached for gpt-5", code="rate_limit_exceeded"), "rate_limited"),
    ("openai schema", 400, plain("Invalid schema for function 'x': …", param="tools[0].function.parameters", code="invalid_function_parameters"), "refused"),
    ("openai name", 400, plain("Invalid 'tools[12].function.name': string too long. Expected a string with maximum length 64", code="string_above_max_length"), "refused"),
    ("openai many", 400, plain("Invalid 'tools': array too long. Expected an array with maximum length 128", code="array_above_max_length"), "refused"),
    ("anthropic key", 401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}, "wrong_key"),
    ("anthropic model", 404, {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-9"}}, "unknown_model"),
    ("anthropic long", 400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 213462 tokens > 200000 maximum"}}, "too_long"),
    ("anthropic large", 413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, "too_long"),
    ("anthropic output", 400, {"error": {"message": "max_tokens: 16000 > 4096, which is the maximum allowed number of output tokens"}}, "refused"),
    ("anthropic busy", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
    ("anthropic stream", None, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
    ("anthropic region", 403, {"type": "error", "error": {"type": "permission_error", "message": "Request not allowed"}}, "wrong_key"),
    ("gemini key", 400, [plain("API key not valid. Please pass a valid API key.", code=400, status="INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}])], "wrong_key"),
    ("gemini model", 404, plain("models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.", status="NOT_FOUND"), "unknown_model"),
    ("gemini long", 400, plain("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", status="INVALID_ARGUMENT"), "too_long"),
    ("gemini rate", 429, plain("You exceeded your current quota.", status="RESOURCE_EXHAUSTED"), "rate_limited"),
    ("gemini busy", 503, plain("The model is overloaded. Please try again later.", status="UNAVAILABLE"), "overloaded"),
    ("mistral model", 400, {"object": "error", "message": "Invalid model: mistral-9", "type": "invalid_model", "code": "1500"}, "unknown_model"),
    ("mistral field", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "odd"], "msg": "Extra inputs are not permitted"}]}, "refused"),
    ("mistral key", 401, {"detail": "Unauthorized"}, "wrong_key"),
    ("ollama model", 404, {"error": "model 'llama9' not found"}, "unknown_model"),
    ("vllm model", 404, {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404}, "unknown_model"),
    ("llama.cpp long", 400, plain("the request exceeds the available context size, try increasing it", type="exceed_context_size_error", code=400), "too_long"),
    ("deepseek model", 400, plain("Model Not Exist"), "unknown_model"),
    ("deepseek credit", 402, plain("Insufficient Balance"), "refused"),
    ("groq minute", 413, plain("Request too large for model `x` on tokens per minute (TPM)", code="rate_limit_exceeded"), "rate_limited"),
    ("openrouter model", 400, plain("x/y is not a valid model ID", code=400), "unknown_model"),
    ("azure deployment", 404, plain("The API deployment for this resource does not exist.", code="DeploymentNotFound"), "unknown_model"),
    ("azure path", 404, plain("Resource not found", code="404"), "not_a_model"),
    ("fastapi path", 404, {"detail": "Not Found"}, "not_a_model"),
    ("bedrock long", 400, {"message": "Input is too long for requested model."}, "too_long"),
    ("bedrock model", 400, {"message": "The provided model identifier is invalid."}, "unknown_model"),
    ("bedrock stream", None, plain("Too many requests", code="throttlingException"), "rate_limited"),
    ("copilot model", 400, plain("The requested model is not supported.", code="model_not_supported"), "unknown_model"),
    ("hugging face model", 400, plain("The requested model 'a/b' is not supported by any provider you have enabled."), "unknown_model"),
    ("vertex model", 404, plain("Publisher Model `projects/p/locations/l/publishers/google/models/g` was not found", status="NOT_FOUND"), "unknown_model"),
    ("fireworks model", 404, plain("Model not found, inaccessible, and/or not deployed"), "unknown_model"),
    ("no such model", 400, plain("No such model"), "unknown_model"),
    ("a field", 400, plain("This model does not take everything: 'temperature' is not supported"), "refused"),
    ("a field of a model", 400, plain("With this model 'temperature' is not supported"), "refused"),
    ("a field of a named model", 400, plain("For the model gpt-5, 'temperature' is not supported"), "refused"),
    ("a tool of a model", 400, plain("tool 'x' is invalid for this model"), "refused"),
    ("a call of a model", 400, plain("The model called the function 'x', which does not exist"), "refused"),
    ("a manner of a model", 400, plain("Tool use with model gpt-5 is not supported"), "refused"),
    ("bare text", 500, "Internal Server Error", "overloaded"),
    ("nothing", 503, "", "overloaded"),
    ("another", 418, plain("a teapot"), "refused"),
    ("not json", 400, "{broken", "refused"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind"), [each[1:] for each in WORDS], ids=[each[0] for each in WORDS])
def test_every_vendors_words_are_understood(status: int | None, body: Any, kind: str) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    read = [read_refusal(status, form, ASKER) for form in (text, text.encode(), body)]
    assert {(error.kind, error.status, str(error), error.said) for error in read} == {
        (kind, status, str(read[0]), read[0].said)
    }
    assert "\n" not in str(read[0])
    assert "key=1" not in str(read[0])


@pytest.mark.parametrize(
    ("status", "body", "line"),
    [
        (401, plain("no"), "openai-chat at https://h.example/v1/chat/completions refuses the key (HTTP 401): no; is OPENAI_API_KEY right?"),
        (404, plain("model m not found"), "openai-chat at https://h.example/v1/chat/completions has no model 'm' (HTTP 404): model m not found"),
        (400, plain("maximum context length"), "the request does not fit the window of m (openai-chat at https://h.example/v1/chat/completions, HTTP 400): maximum context length"),
        (400, plain("two\n  lines", param="tools[1]"), "openai-chat at https://h.example/v1/chat/completions refuses the request (HTTP 400): two lines (tools[1])"),
        (502, plain("upstream", metadata={"raw": '{"detail": "x"}'}), 'openai-chat at https://h.example/v1/chat/completions cannot answer now (HTTP 502): upstream: {"detail": "x"}'),
        (422, {"detail": [{"loc": ["body", "tools", 3, "function"], "msg": "bad"}, {"msg": "worse"}]}, "openai-chat at https://h.example/v1/chat/completions refuses the request (HTTP 422): tools.3.function: bad; worse"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_that_says_what_to_do(status: int, body: Any, line: str) -> None:
    assert str(read_refusal(status, body, ASKER)) == line


NAMES = [f"tool_{number}" for number in range(8)]
CHAT = [{"type": "function", "function": {"name": name}} for name in NAMES]
FLAT = [{"name": name} for name in NAMES]
GEMINI = [{"functionDeclarations": FLAT}]
BEDROCK = [{"toolSpec": {"name": name}} for name in NAMES]


@pytest.mark.parametrize(
    ("said", "definitions", "expected"),
    [
        ("Invalid schema for function 'tool_3': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.", CHAT, "tool_3"),
        ("Invalid schema for function 'tool_3': In context=('properties', 'tags'), array schema missing items. (tools[3].function.parameters)", CHAT, "tool_3"),
        ("Invalid 'tools[5].function.name': string too long.", CHAT, "tool_5"),
        ("Missing required parameter: 'tools[2].parameters'.", FLAT, "tool_2"),
        ("tools.6.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", FLAT, "tool_6"),
        ("tools.1.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", FLAT, "tool_1"),
        ("* GenerateContentRequest.tools[0].function_declarations[5].parameters.properties[x].items: missing field.\n", GEMINI, "tool_5"),
        ("Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[6].parameters.properties[3].value.any_of[0]': Cannot find field.", GEMINI, "tool_6"),
        ("* GenerateContentRequest.tools[0].function_declarations[5].parameters: x\n* GenerateContentRequest.tools[0].function_declarations[5].name: y", GEMINI, "tool_5"),
        ("* tools[0].function_declarations[5].parameters: x\n* tools[0].function_declarations[2].parameters: y", GEMINI, None),
        ("The value at toolConfig.tools.4.toolSpec.inputSchema.json.type must be one of the following: object.", BEDROCK, "tool_4"),
        ("[{'type': 'missing', 'loc': ('body', 'tools', 7, 'function', 'name'), 'msg': 'Field required'}]", CHAT, "tool_7"),
        ("tools.3.function.parameters: Input should be a valid dictionary", CHAT, "tool_3"),
        ("Invalid tool schema for: tool_2", CHAT, "tool_2"),
        ("Invalid schema for function 'unknown'", CHAT, None),
        ("Invalid 'tools[99].function.name'", CHAT, None),
        ("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 instead.", CHAT, None),
        ("tools: Tool names must be unique.", FLAT, None),
        ("Function call is missing a thought_signature in functionCall parts. function call `tool_1` , position 2.", GEMINI, None),
        ("Invalid 'messages[3].tool_calls[0].function.name': function 'tool_1' …", CHAT, None),
        ("temperature: out of range", CHAT, None),
    ],
)  # fmt: skip
def test_the_tool_that_a_request_is_refused_for_is_found(
    said: str, definitions: list[Any], expected: str | None
) -> None:
    error = ModelError("refused", "…", status=400, said=said)
    assert refused_tool(error, NAMES, definitions) == expected


def test_only_a_refusal_is_about_a_tool() -> None:
    for kind in ("too_long", "rate_limited", "overloaded"):
        assert refused_tool(ModelError(kind, "…", said="function 'tool_1'"), NAMES, CHAT) is None


def test_the_whole_way_from_an_answer_to_its_tool() -> None:
    body = plain("Invalid schema for function: array schema missing items.", param="tools[3].function.parameters")
    assert refused_tool(read_refusal(400, json.dumps(body), ASKER), NAMES, CHAT) == "tool_3"


def test_fields_that_were_added_unasked_are_known_in_a_refusal() -> None:
    error = ModelError("refused", "…", status=400, said="Encrypted content is not supported with this model.")
    assert refused_wishes(error, ["include", "stream_options"]) == ["include"]
    assert refused_wishes(ModelError("wrong_key", "…", said="stream_options"), ["stream_options"]) == []
