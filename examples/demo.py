"""The demo: three hard tools, three providers, and what becomes of the calls that come back.

    python examples/demo.py

No network and no key: the models' answers below are written down as a model would send them. Everything that is shown
is also checked, so the demo fails where toolbridge does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolbridge import BoundCall, ToolCall, ToolResult, prepare, read_tools

TOOLS = {tool.id.name: tool for tool in read_tools(Path(__file__).with_name("tools.json"))}


def main() -> None:
    print(f"{len(TOOLS)} tools of a garden's MCP server. Three of them, each for a provider that refuses it as it is:")
    show(
        "record_observation", "openai-chat", strict=True,  # strict: no free-form objects, no optionals
        good={"id": "call_1", "type": "function", "function": {
            "name": "record_observation",
            "arguments": '{"plant": "rose", "details": "{\\"height_cm\\": 140, \\"buds\\": [3, 5]}", "photo": null}'}},
        arrives={"plant": "rose", "details": {"height_cm": 140, "buds": [3, 5]}},
        wrong={"id": "call_2", "type": "function", "function": {
            "name": "record_observation", "arguments": '{"plant": "rose", "details": "rather tall", "photo": null}'}},
        told="Argument details:",
    )  # fmt: skip
    show(
        "soil_report", "anthropic",  # no spaces in property names
        good={"type": "tool_use", "id": "toolu_1", "name": "soil_report",
              "input": {"p_Bed_number_z5wd7zyh": "B2", "p_pH__water_45eujzmx": 6.5}},
        arrives={"Bed number": "B2", "pH (water)": 6.5},
        wrong={"type": "tool_use", "id": "toolu_2", "name": "soil_report",
               "input": {"p_Bed_number_z5wd7zyh": "B2", "p_pH__water_45eujzmx": 65}},
        told="Argument p_pH__water_45eujzmx: 65 is greater than the maximum of 14.",
    )  # fmt: skip
    show(
        "move_plant", "gemini",  # no union at the root
        good={"functionCall": {"name": "move_plant", "args": {"plant": "fern", "to_bed": "C4"}}},
        arrives={"plant": "fern", "to_bed": "C4"},
        wrong={"functionCall": {"name": "move_plant",
                                "args": {"plant": "fern", "to_bed": "C4", "to_person": "ada@example.org"}}},
        told="Give exactly one.",
    )  # fmt: skip
    print("\nAll of this was checked while it was shown. Next: .venv/bin/toolbridge matrix examples/tools.json")


def show(name: str, to: str, *, good: Any, arrives: Any, wrong: Any, told: str, strict: bool | None = None) -> None:
    """One tool for one provider: its schema, the definition, the notes, a good call and a wrong one."""
    tool = TOOLS[name]
    ready = prepare([tool], to, strict)
    title = f"{name} for {ready.provider.title}{', strict' if strict else ''}"
    print(f"\n━━ {title} {'━' * (96 - len(title))}")
    part("The server's own schema", laid_out(tool.input_schema))
    part("The definition for the provider", laid_out(ready.definitions[0]))
    part("What was changed", "\n  ".join(map(str, ready.notes[tool.id])))

    part("A good answer of the model", laid_out(good))
    bound = ready.resolve(read_call(good))
    assert isinstance(bound, BoundCall), bound
    assert bound.arguments == arrives, bound.arguments
    part("→ what the server gets", laid_out(bound.arguments))

    part("A wrong answer of the model", laid_out(wrong))
    refused = ready.resolve(read_call(wrong))
    assert isinstance(refused, ToolResult), refused
    assert told in refused.text, refused.text
    part("→ what the model is told, and the server gets nothing", refused.text.replace("\n", "\n  "))


def read_call(answer: dict[str, Any]) -> ToolCall:
    """The call in a provider's answer, the simplest way; reading every answer and stream comes to the library later."""
    call = answer.get("function") or answer.get("functionCall") or answer
    given = call.get("arguments", call.get("args", call.get("input")))
    text = given if isinstance(given, str) else json.dumps(given)
    return ToolCall(answer.get("id", ""), call["name"], text, json.loads(text))


def part(title: str, text: str) -> None:
    print(f"\n{title}\n  {text}")


def laid_out(value: Any, indent: int = 2) -> str:
    """JSON, on as few lines as are easy to read."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(line) + indent <= 98:
        return line
    marks, heads = ("{}", [f"{json.dumps(key)}: " for key in value]) if isinstance(value, dict) else ("[]", None)
    parts = list(value.values()) if isinstance(value, dict) else value
    rows = [f"{heads[i] if heads else ''}{laid_out(each, indent + 2)}" for i, each in enumerate(parts)]
    return f"{marks[0]}\n" + ",\n".join(" " * (indent + 2) + each for each in rows) + f"\n{' ' * indent}{marks[1]}"


if __name__ == "__main__":
    main()
