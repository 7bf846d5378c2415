"""End to end on this machine alone: a question, the built-in model, a real server over stdio, an approval, the answer."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.pages import ROOT
from toolbridge import Asked, CallEnded, Chat, Done, RunEvent, ToolId, connect, get_model

GARDEN = {"garden": {"command": sys.executable, "args": [str(ROOT / "examples" / "garden_server.py")]}}


async def test_the_built_in_model_answers_a_question_by_calling_a_tool_of_a_server(smollm2: Path) -> None:
    model = get_model(f"local/{smollm2}")
    asked: list[Asked] = []

    def ask(about: Asked) -> bool:
        asked.append(about)
        return True

    async with connect({"mcpServers": GARDEN}) as hub:
        chat = Chat(hub, model, ask=ask)
        told: list[RunEvent] = [event async for event in chat.say("Water bed B2 with 5 litres.")]
    await model.close()
    # What the model puts into the arguments is its own affair: here it is 5 litres for B2, elsewhere numbers may round.
    assert [each.tool for each in asked] == [ToolId("garden", "water")]
    (result,) = [each.result.text for each in told if isinstance(each, CallEnded)]
    assert result == f"{asked[0].arguments['bed']} has had {asked[0].arguments.get('litres', 3)} litres."
    done = told[-1]
    assert isinstance(done, Done)
    assert (done.stopped, done.turns) == (None, 2)
    assert done.text
