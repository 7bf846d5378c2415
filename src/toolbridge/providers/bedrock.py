"""AWS Bedrock Converse.

Its definitions cannot express: a union at the root, an empty description. Nova models want references inlined, so they are.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from toolbridge.names import name_rule
from toolbridge.providers.provider import Fact, Provider, StrictBudget, Wire
from toolbridge.schema.dialects import BEDROCK, BEDROCK_STRICT

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    spec: Wire = {"name": name}
    if description:
        spec["description"] = description
    spec["inputSchema"] = {"json": schema}
    if strict:
        spec["strict"] = True
    return {"toolSpec": spec}


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    return {"toolConfig": {"tools": definitions}}


@cache
def talk() -> Talk:
    from toolbridge.wire.bedrock import TALK

    return TALK


PROVIDER = Provider(
    name="bedrock",
    title="AWS Bedrock Converse",
    dialect=BEDROCK,
    strict=BEDROCK_STRICT,
    strict_budget=StrictBudget(tools=20),
    names=name_rule("a-zA-Z0-9_-", 64),
    write_tool=write_tool,
    write_fields=write_fields,
    talk=talk,
    facts=(
        Fact("names of up to 64 of a-z A-Z 0-9 _ -; a description is not empty", "botocore 1.44 bedrock-runtime ToolSpecification", "2026-11"),
        Fact("the root is type object", "github.com/kirodotdev/Kiro/issues/11027", "2026-11"),
        Fact("strict refuses numeric bounds, maxItems and minItems past 1; at most 20 strict tools",
             "pydantic-ai 4fda389 providers/bedrock.py", "2026-05"),
        Fact("Nova wants $defs inlined", "pydantic-ai 4fda389", "2026-08"),
        Fact("only Claude and Nova take images in results, and the status of a result",
             "botocore 1.44 bedrock-runtime ToolResultContentBlock, ToolResultBlock", "2026-11"),
        Fact("Claude refuses documents beside results, Llama and Mistral anything; Mistral's ids are nine letters and digits",
             "pydantic-ai providers/bedrock.py; vercel/ai normalize-tool-call-id.ts", "2026-08"),
    ),
)  # fmt: skip
