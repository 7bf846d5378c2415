"""What servers answer in place of a reply, read into one `ModelError` with one line.

Every vendor has its own words and codes; they are in tables here and nowhere else. It knows no transport: a status, a
body and the error of an SDK come to the same. `refused_tool` finds the one tool that a refusal is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard
from urllib.parse import urljoin

from toolbridge.errors import ModelError, ModelFailure
from toolbridge.model.secrets import Secret, shown

SAID_KEPT = 4_000
"""Characters kept of what the server said: enough for every line of Gemini's complaints."""

SHOWN = 300
"""Characters of it in the message, which is one line."""

_NO_KEY = Secret("")


@dataclass(frozen=True, slots=True)
class Asker:
    """Who was asked for what, for the words of an error."""

    provider: str
    model: str
    address: str = ""
    """Where; empty where only an SDK's client knows."""
    key_variable: str = ""
    """The environment variable that a wrong key is probably in."""
    key: Secret = _NO_KEY

    @property
    def where(self) -> str:
        return f"{self.provider} at {shown(self.address)}" if self.address else self.provider


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: ModelFailure
    statuses: frozenset[int] | None = None
    """`None`: any."""
    words: re.Pattern[str] | None = None
    """Found in the code or the message; `None`: the status alone says it."""

    def fits(self, status: int | None, text: str) -> bool:
        if self.statuses is not None and status not in self.statuses:
            return False
        return self.words is None or self.words.search(text) is not None


def _words(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_TOO_LONG = _words(
    "context_length_exceeded",  # OpenAI's code, and Groq's
    "maximum context length",  # OpenAI, vLLM, DeepSeek, OpenRouter
    "maximum (model|input) (length|tokens)",  # vLLM, and Fireworks
    "prompt is too long",  # Anthropic: "prompt is too long: 213462 tokens > 200000 maximum"
    "exceed context limit",  # Anthropic: "input length and `max_tokens` exceed context limit"
    "input token count",  # Gemini: "The input token count (1200000) exceeds the maximum number of tokens allowed"
    "input is too long",  # Bedrock: "Input is too long for requested model."
    "exceeds? the (available )?context",  # llama.cpp: "the request exceeds the available context size"
    "exceed_context_size_error",  # llama.cpp's type
    "context window",  # OpenAI Responses: "Your input exceeds the context window of this model"
    "too large for model with \\d+ maximum context length",  # Mistral
    "range of input length",  # Qwen: "Range of input length should be [1, 129024]"
    "exceeded model token limit",  # Moonshot
)
_NO_CREDIT = _words("insufficient_quota", "insufficient balance", "billing", "credit balance", "no credits?\\b")
_KEY = _words("api[ _-]?key (is )?(not valid|invalid)", "API_KEY_INVALID", "invalid_api_key", "incorrect api key",
              "invalid x-api-key", "authentication_error", "UnrecognizedClientException")  # fmt: skip
_IS_NOT = "(does not exist|not exist|((is|was) )?not found|is not supported|(is )?not available)"
_NO_MODEL = _words(
    "model_not_found", "DeploymentNotFound", "NOT_FOUND.*models?/", "models?/\\S+ is not found",
    # Nothing between but a name. After "this model" a name is that of a field which it does not take.
    rf"\bmodel {_IS_NOT}", rf"(?<!this )(?<!with )(?<!for )\bmodel:? ['\"`]?[^\s'\"`]+['\"`]? {_IS_NOT}",
    "\\b(no|not a valid|invalid|inaccessible)( such| available| requested)? ['\"`]?model", "unknown model",
    "not_found_error.{0,20}model", "model identifier is invalid",
)  # fmt: skip
_RATE = _words("rate_limit", "rate limit", "RESOURCE_EXHAUSTED", "too many requests", "ThrottlingException")
_BUSY = _words("overloaded", "engine_overloaded", "UNAVAILABLE\\b", "server_error", "internal_error", "api_error$",
               "ServiceUnavailableException", "InternalServerException", "modelStreamErrorException")  # fmt: skip

_RULES: tuple[_Rule, ...] = (
    _Rule("rate_limited", frozenset({413, 429}), _words("rate_limit_exceeded", "tokens per minute")),
    _Rule("too_long", frozenset({400, 413, 422, 500}), _TOO_LONG),
    _Rule("too_long", None, _words("context_length_exceeded", "exceed_context_size_error")),
    _Rule("wrong_key", frozenset({400, 401, 403}), _KEY),
    _Rule("wrong_key", frozenset({401})),
    _Rule("unknown_model", frozenset({400, 403, 404, 422}), _NO_MODEL),
    _Rule("wrong_key", frozenset({403})),
    _Rule("not_a_model", frozenset({400}), _words("HTTP request to an HTTPS server")),  # Go's servers
    _Rule("timed_out", frozenset({408})),
    _Rule("not_a_model", frozenset({404, 405, 301, 302, 303, 307, 308})),
    _Rule("too_long", frozenset({413})),
    _Rule("rate_limited", frozenset({429})),
    _Rule("overloaded", frozenset(range(500, 600))),
    _Rule("refused", frozenset(range(400, 500))),
    # An error without a status: the first event of a stream, or one in its middle.
    _Rule("too_long", None, _TOO_LONG),
    _Rule("wrong_key", None, _KEY),
    _Rule("rate_limited", None, _RATE),
    _Rule("overloaded", None, _BUSY),
    _Rule("unknown_model", None, _NO_MODEL),
)
"""The first that fits counts. Anything else is `refused`."""

LATER: frozenset[ModelFailure] = frozenset({"rate_limited", "overloaded", "unreachable", "timed_out"})
"""What may be otherwise when the same is asked again."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a server said went wrong, out of whichever envelope."""

    message: str
    code: str = ""


def read_said(body: Any) -> Said | None:
    """The message and the codes of an error's JSON, in any vendor's form; `None` where it holds none."""
    if isinstance(body, list) and len(body) == 1:  # Gemini
        body = body[0]
    if not _is_object(body):
        return None
    error = body.get("error", body.get("errors", body))
    if isinstance(error, list) and error:
        error = error[0]
    if isinstance(error, str):  # Ollama and proxies: {"error": "model 'x' not found"}
        return Said(error, _codes(body))
    if not _is_object(error):
        return None
    message = next((error[key] for key in ("message", "detail", "msg", "Message") if error.get(key)), None)
    if isinstance(message, list):  # FastAPI's, hence Mistral's and vLLM's
        message = "; ".join(_located(each) for each in message)
    elif _is_object(message):
        message = json.dumps(message, ensure_ascii=False)
    if message is None:
        return None
    text = str(message)
    parameter = error.get("param")
    if isinstance(parameter, str) and parameter and parameter not in text:
        text += f" ({parameter})"
    metadata = error.get("metadata")
    if _is_object(metadata) and metadata.get("raw"):  # OpenRouter: what its vendor said
        raw = metadata["raw"]
        text += f": {raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)}"
    return Said(text, _codes(error))


def _located(entry: Any) -> str:
    if not _is_object(entry):
        return str(entry)
    place = ".".join(str(each) for each in entry.get("loc", ()) if each != "body")
    return f"{place}: {entry.get('msg', '')}" if place else str(entry.get("msg", entry))


def _codes(error: Mapping[str, Any]) -> str:
    found = [str(error[key]) for key in ("code", "type", "status", "__type") if isinstance(error.get(key), str | int)]
    details = error.get("details")
    if isinstance(details, list):
        found += [str(each["reason"]) for each in details if _is_object(each) and each.get("reason")]
    return " ".join(found)


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def read_refusal(status: int | None, body: bytes | str | Any, asker: Asker, *, location: str = "") -> ModelError:
    """The error that an answer stands for: its status, and its body as bytes, text, or JSON that was read already."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if isinstance(text, str):
        if is_html(text):
            return _html(status, asker)
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        said = read_said(value) or Said(text.strip())
    else:
        said = read_said(text) or Said("" if text is None else str(text))
    message = asker.key.removed(said.message)[:SAID_KEPT]
    judged = f"{said.code} {message}"
    kind = _kind(status, judged)
    if location and kind == "not_a_model":
        return ModelError(
            kind,
            f"{asker.where} sends us on (HTTP {status}) to {shown(urljoin(asker.address, location))}: "
            "make that the base URL",
            status=status,
            said=message,
        )
    return ModelError(kind, _line(kind, status, message, judged, asker), status=status, said=message)


def _kind(status: int | None, judged: str) -> ModelFailure:
    for rule in _RULES:
        if rule.fits(status, judged):
            return rule.kind
    return "refused"


def _line(kind: ModelFailure, status: int | None, message: str, judged: str, asker: Asker) -> str:
    number = f"HTTP {status}" if status is not None else "an error"
    told = f": {one_line(message)}" if message else ""
    where, model = asker.where, asker.model
    match kind:
        case "wrong_key":
            hint = f"; is {asker.key_variable} right?" if asker.key_variable else ""
            return f"{where} refuses the key ({number}){told}{hint}"
        case "unknown_model":
            return f"{where} has no model {model!r} ({number}){told}"
        case "too_long":
            return f"the request does not fit the window of {model} ({where}, {number}){told}"
        case "rate_limited":
            what = "has no credit left for this key" if _NO_CREDIT.search(judged) else "limits the rate of requests"
            return f"{where} {what} ({number}){told}"
        case "overloaded":
            return f"{where} cannot answer now ({number}){told}"
        case "timed_out":
            return f"{where} gave up waiting ({number}){told}"
        case "not_a_model":
            return f"nothing answers like a model server at {where} ({number}){told}; is the base URL right?"
        case _:
            return f"{where} refuses the request ({number}){told}"


def _html(status: int | None, asker: Asker) -> ModelError:
    if status is not None and status >= 500:
        return ModelError(
            "overloaded", f"{asker.where} cannot answer now (HTTP {status}, sent by a proxy)", status=status
        )
    where = shown(asker.address) if asker.address else asker.provider
    return ModelError(
        "not_a_model",
        f"what answers at {where} is no model server: it sent HTML (HTTP {status}); is the base URL right?",
        status=status,
    )


def is_html(text: str) -> bool:
    return text[:200].lstrip("\ufeff \t\r\n").startswith("<")


def has_no_credit(error: ModelError) -> bool:
    """Whether waiting would not help: the account is empty, and not the minute."""
    return error.status == 402 or (error.kind == "rate_limited" and _NO_CREDIT.search(error.said) is not None)


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


# ── a field or a tool that is refused ────────────────────────────────────────────────────────────────────────────────

_REFUSED_WISHES: Mapping[str, re.Pattern[str]] = {
    "stream_options": _words("stream_options", "include_usage"),
    "include": _words("encrypted[ _]content", "'include"),
}


def refused_wishes(error: ModelError, wishes: Iterable[str]) -> list[str]:
    """The fields among those we added unasked that the refusal is about."""
    if error.kind != "refused":
        return []
    return [name for name in wishes if name in _REFUSED_WISHES and _REFUSED_WISHES[name].search(error.said)]


_BY_PLACE = (
    # Gemini: "* GenerateContentRequest.tools[0].function_declarations[5].parameters…", and snake or camel case
    re.compile(r"function_?declarations\[(\d+)\]", re.IGNORECASE),
    # OpenAI says "tools[3].function.parameters", or "tools[3].parameters" in Responses
    re.compile(r"\btools\[(\d+)\](?!\.function_?declarations)", re.IGNORECASE),
    # Anthropic: "tools.3.custom.input_schema: …"; Bedrock: "toolConfig.tools.0.toolSpec…"; FastAPI's places
    re.compile(r"\btools\.(\d+)\b(?!\.function_?declarations)", re.IGNORECASE),
    # pydantic's, printed by vLLM: "'loc': ('body', 'tools', 3, 'function', …)"
    re.compile(r"['\"]tools['\"],\s*(\d+)"),
)
_BY_NAME = (
    re.compile(r"\bfunction ['\"`]([^'\"`]+)['\"`]"),  # OpenAI: "Invalid schema for function 'x': …"
    re.compile(r"\btools? (?:named |name )?['\"`]([^'\"`]+)['\"`]", re.IGNORECASE),
    re.compile(r"\btool schema for:? ['\"`]?([\w.-]+)", re.IGNORECASE),  # "Invalid tool schema for: server.tool"
)
_NOT_A_DEFINITION = re.compile(
    r"thought_?signature|tool_call_id|tool_use_id|tool_use`? ids|messages[.\[]\d", re.IGNORECASE
)
"""What is said of calls and results in the history, which name tools, too."""


def refused_tool(error: ModelError, names: Collection[str], definitions: Sequence[Any]) -> str | None:
    """The wire name of the one tool that a refused request is refused for; `None` where it is none, or several.

    `definitions` are those of the request, in its order, since some vendors tell the number alone.
    """
    if error.kind != "refused" or _NOT_A_DEFINITION.search(error.said):
        return None
    found = {name for pattern in _BY_NAME for name in pattern.findall(error.said)} & set(names)
    listed = [_name_of(each) for each in _flat(definitions)]
    for pattern in _BY_PLACE:
        for number in map(int, pattern.findall(error.said)):
            if number < len(listed) and listed[number] in names:
                found.add(listed[number])
    return found.pop() if len(found) == 1 else None


def _flat(definitions: Sequence[Any]) -> list[Any]:
    """The definitions one by one: Gemini's request has them inside of one tool."""
    return [
        inner
        for each in definitions
        for inner in (each["functionDeclarations"] if _is_object(each) and "functionDeclarations" in each else [each])
    ]


def _name_of(definition: Any) -> str:
    if not _is_object(definition):
        return ""
    for holder in ("function", "toolSpec"):
        inner = definition.get(holder)
        if _is_object(inner):
            return str(inner.get("name", ""))
    return str(definition.get("name", ""))
