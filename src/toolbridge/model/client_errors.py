"""What the SDKs of the vendors raise, read into `ModelError`. One table, by the names of their classes.

The SDKs are not imported: an error tells its class, and the classes that it inherits. What it says is read by
`refusals`, like the answer of a server that was asked without an SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from toolbridge.errors import ModelError
from toolbridge.model.refusals import Asker, one_line, read_refusal, read_said
from toolbridge.model.secrets import Secret

Reading: TypeAlias = Callable[[Any, Asker], ModelError]


def _told(error: Any, asker: Asker) -> str:
    """What the error says, and what is behind it: an SDK's own "Connection error." says little."""
    behind = error.__cause__ or error.__context__
    text = f"{error}: {behind}" if behind is not None and str(behind) not in str(error) else str(error)
    return one_line(asker.key.removed(text)) or type(error).__name__


def _timed_out(error: Any, asker: Asker) -> ModelError:
    return ModelError("timed_out", f"{asker.where} did not answer in time: {_told(error, asker)}")


def _unreachable(error: Any, asker: Asker) -> ModelError:
    return ModelError("unreachable", f"{asker.where} cannot be reached: {_told(error, asker)}")


def _broken_off(error: Any, asker: Asker) -> ModelError:
    return ModelError("unreachable", f"the connection to {asker.where} broke off: {_told(error, asker)}")


def _no_key(error: Any, asker: Asker) -> ModelError:
    return ModelError("no_key", f"the client for {asker.where} has no key: {_told(error, asker)}")


def _status(error: Any, asker: Asker) -> ModelError:
    """OpenAI's and Anthropic's: `body` is the error's JSON, without its envelope in OpenAI's case, or text."""
    body = error.body
    if isinstance(body, dict) and "error" not in body:
        body = {"error": body}
    if read_said(body) is None:
        body = body if isinstance(body, str) else str(error.message)
    return read_refusal(error.status_code, body, asker)


def _in_stream(error: Any, asker: Asker) -> ModelError:
    """An error among the events of a stream. Its status is none, or the 200 that the stream began with."""
    body = getattr(error, "body", None)
    if isinstance(body, dict) and "error" not in body:
        body = {"error": body}
    return read_refusal(None, body if read_said(body) is not None else str(error), asker)


def _genai(error: Any, asker: Asker) -> ModelError:
    code = error.code if isinstance(error.code, int) else None
    body = error.details if read_said(error.details) is not None else (error.message or str(error))
    return read_refusal(code, body, asker)


def _mistral(error: Any, asker: Asker) -> ModelError:
    return read_refusal(error.status_code, error.body or str(error), asker)


def _aws(error: Any, asker: Asker) -> ModelError:
    told = error.response.get("Error", {})
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    body = {"error": {"message": told.get("Message") or str(error), "code": str(told.get("Code", ""))}}
    return read_refusal(status, body, asker)


def _not_taken(error: Any, asker: Asker) -> ModelError:
    """The SDK itself does not take the request: a field that its types do not have, a value of another kind."""
    return ModelError("refused", f"the client for {asker.where} does not take the request: {_told(error, asker)}")


_READINGS: Mapping[tuple[str, str], Reading] = {
    **{
        (sdk, kind): reading
        for sdk in ("openai", "anthropic")
        for kind, reading in (
            ("APITimeoutError", _timed_out),
            ("APIConnectionError", _unreachable),
            ("APIStatusError", _status),
            ("APIError", _in_stream),
            ("OpenAIError", _no_key),
            ("AnthropicError", _no_key),
        )
    },
    ("google", "APIError"): _genai,
    ("mistralai", "MistralError"): _mistral,
    ("mistralai", "NoResponseError"): _broken_off,
    ("botocore", "ClientError"): _aws,
    ("botocore", "ConnectionError"): _unreachable,
    ("botocore", "HTTPClientError"): _unreachable,
    ("botocore", "NoCredentialsError"): _no_key,
    ("botocore", "ParamValidationError"): _not_taken,
    **{
        (library, kind): reading
        for library in ("httpx", "httpx2")
        for kind, reading in (
            ("TimeoutException", _timed_out),
            ("ConnectError", _unreachable),
            ("TransportError", _broken_off),
        )
    },
    ("aiohttp", "ServerTimeoutError"): _timed_out,
    ("aiohttp", "ClientConnectorError"): _unreachable,
    ("aiohttp", "ClientError"): _broken_off,
    ("requests", "Timeout"): _timed_out,
    ("requests", "RequestException"): _unreachable,
    ("urllib3", "HTTPError"): _broken_off,
    ("builtins", "TimeoutError"): _timed_out,
    ("builtins", "OSError"): _unreachable,
    ("builtins", "ValueError"): _not_taken,
    ("builtins", "TypeError"): _not_taken,
}
"""By the first part of the class's module, and its name. The nearest class of an error's own line counts."""


_KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")


def _key_sent(error: Any) -> str:
    """The key that the request was sent with, which the answer may quote. Not every client tells its key itself."""
    response = getattr(error, "response", None) or getattr(error, "raw_response", None)
    request = getattr(response, "request", None)
    headers = getattr(request, "headers", None)
    if headers is None:
        return ""
    sent = next((str(headers[name]) for name in _KEY_HEADERS if name in headers), "")
    return sent.removeprefix("Bearer ")


def read_client_error(error: Exception, asker: Asker) -> Exception:
    """The `ModelError` that an SDK's error stands for; one that nobody foresaw is handed back as it is."""
    key = _key_sent(error)
    if key and not asker.key:
        asker = replace(asker, key=Secret(key))
    for kind in type(error).__mro__:
        reading = _READINGS.get((kind.__module__.partition(".")[0], kind.__name__))
        if reading is not None:
            return reading(error, asker)
    return error
