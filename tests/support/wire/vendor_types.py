"""The vendors' own types as judges of structure: what an SDK, a service model or a validator refuses, in words.

Keys that a type does not have are refused too, which the SDKs themselves do not do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pydantic

MOST = 3
"""Complaints of one value that are told: a union complains once for each of its members."""


def refused(kind: Any, value: Any) -> list[str]:
    """What pydantic says against the value as this TypedDict (or union of them)."""
    adapter = _adapter(kind)
    try:
        _drained(adapter.validate_python(value, extra="forbid"))
    except pydantic.ValidationError as failure:
        return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in failure.errors()[:MOST]]
    return []


@cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    """Kept: iterators that are not drained yet refer to it, and pydantic panics where it is gone."""
    return pydantic.TypeAdapter(kind)


def _drained(value: Any) -> Any:
    """`Iterable` fields are checked only when somebody iterates over them."""
    if isinstance(value, dict):
        return {key: _drained(each) for key, each in value.items()}
    if isinstance(value, list | tuple) or type(value).__name__ == "ValidatorIterator":
        return [_drained(each) for each in value]
    return value


def chat_message(message: Mapping[str, Any]) -> list[str]:
    from openai.types import chat

    kinds = {
        "system": chat.ChatCompletionSystemMessageParam,
        "developer": chat.ChatCompletionDeveloperMessageParam,
        "user": chat.ChatCompletionUserMessageParam,
        "assistant": chat.ChatCompletionAssistantMessageParam,
        "tool": chat.ChatCompletionToolMessageParam,
    }
    role = message.get("role")
    return refused(kinds[role], message) if role in kinds else [f"no such role: {role!r}"]


def response_item(item: Mapping[str, Any]) -> list[str]:
    from openai.types.responses import ResponseInputItemParam

    return refused(ResponseInputItemParam, item)


def anthropic_message(message: Mapping[str, Any]) -> list[str]:
    """By the general types, or by those of the beta, which know more kinds of blocks."""
    from anthropic.types import MessageParam
    from anthropic.types.beta import BetaMessageParam

    found = refused(MessageParam, message)
    return found if found and refused(BetaMessageParam, message) else []


def anthropic_system(system: Any) -> list[str]:
    from anthropic.types import TextBlockParam

    return [] if isinstance(system, str) else refused(list[TextBlockParam], system)


def gemini_content(content: Any) -> list[str]:
    from google.genai.types import Content

    try:
        Content.model_validate_json(json.dumps(content))
    except (pydantic.ValidationError, TypeError, ValueError) as failure:
        if not isinstance(failure, pydantic.ValidationError):
            return [str(failure)]
        return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in failure.errors()[:MOST]]
    return []


@cache
def _converse() -> Any:
    from botocore.session import get_session

    return get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape


def converse_request(fields: Mapping[str, Any]) -> list[str]:
    """What botocore refuses, and what its model forbids and botocore does not check: lengths, patterns, words."""
    from botocore.validate import ParamValidator

    report = ParamValidator().validate({"modelId": "model", **fields}, _converse())
    found: list[str] = [*report.generate_report().split("\n")] if report.has_errors() else []
    return found[:MOST] or list(_in_shape(dict(fields), _converse(), ""))


def _in_shape(value: Any, shape: Any, path: str) -> Iterator[str]:
    if shape.type_name == "structure" and isinstance(value, dict) and not shape.metadata.get("document"):
        if shape.metadata.get("union") and len(value) != 1:
            yield f"{path}: just one of {', '.join(shape.members)} is to be set"
        for key, each in value.items():
            yield from _in_shape(each, shape.members[key], f"{path}/{key}")
    elif shape.type_name == "list" and isinstance(value, list):
        for number, each in enumerate(value):
            yield from _in_shape(each, shape.member, f"{path}/{number}")
    elif shape.type_name == "string" and isinstance(value, str):
        rules = shape.metadata
        if len(value) > rules.get("max", len(value)):
            yield f"{path}: longer than {rules['max']}"
        if "pattern" in rules and not re.fullmatch(rules["pattern"], value):
            yield f"{path}: does not match {rules['pattern']}"
        if "enum" in rules and value not in rules["enum"]:
            yield f"{path}: none of {', '.join(rules['enum'])}"


def mistral_request(fields: Mapping[str, Any]) -> list[str]:
    """Mistral's SDK by its types, and Mistral's own validator by its versions."""
    from mistralai.client import models

    kinds = {
        "system": models.SystemMessageTypedDict,
        "user": models.UserMessageTypedDict,
        "assistant": models.AssistantMessageTypedDict,
        "tool": models.ToolMessageTypedDict,
    }
    found: list[str] = []
    for number, message in enumerate(fields["messages"]):
        role = message.get("role")
        told = refused(kinds[role], message) if role in kinds else [f"no such role: {role!r}"]
        found += [f"messages[{number}]: {each}" for each in told]
    return found or _validated(fields)


_NOT_IN_VALIDATOR = ("document_url", "file", "reference", "resource", "resource_link", "input_audio")


def _known(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message without the kinds of content that the API has and the validator of prompts has not."""
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    return {**message, "content": [_known_chunk(each) for each in content]}


def _known_chunk(chunk: dict[str, Any]) -> dict[str, Any]:
    if chunk.get("type") in _NOT_IN_VALIDATOR:
        return {"type": "text", "text": "…"}
    if chunk.get("type") == "thinking" and isinstance(chunk.get("thinking"), list):  # there it is one text
        return {"type": "thinking", "thinking": "".join(each.get("text", "") for each in chunk["thinking"])}
    return chunk


def _validated(fields: Mapping[str, Any]) -> list[str]:
    from mistral_common.exceptions import MistralCommonException
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.base import TokenizerVersion

    messages = [_known(each) for each in fields["messages"]]
    thinks = '"thinking"' in json.dumps(messages)
    versions = [TokenizerVersion.v11, TokenizerVersion.v13, TokenizerVersion.v15]
    found: list[str] = []
    for version in versions if thinks else [TokenizerVersion.v7, *versions]:
        try:
            request = ChatCompletionRequest.model_validate({"model": "m", "messages": messages})
            get_validator(version, ValidationMode.serving).validate_request(request)
        except (MistralCommonException, pydantic.ValidationError, ValueError) as failure:
            found.append(f"{version.value}: {str(failure)[:200]}")
    return found
