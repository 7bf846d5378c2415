"""`toolbridge chat` at a terminal: questions to the person, interrupts, and what can be typed beside questions."""

from __future__ import annotations

import json
import stat
from collections.abc import Generator

import pytest

from tests.cli.scripted_model import ScriptedModel, at, calls, ledger, says, with_chaos
from tests.cli.workplace import SECRET, Terminal, Workplace, wait_until

ASKED = "Run it? [y]es, [N]o, [a]lways this tool, [e]dit, ? "


@pytest.fixture
def model() -> Generator[ScriptedModel]:
    with ScriptedModel(says("Good day.")) as server:
        yield server


@pytest.fixture
def place(work: Workplace) -> Workplace:
    return with_chaos(work)


def contents(model: ScriptedModel) -> list[str]:
    """What the last request told the model, in short."""
    return [str(each.get("content")) for each in model.requests[-1].body["messages"]]


def test_a_call_is_run_refused_changed_or_always_run_as_the_person_says(place: Workplace, model: ScriptedModel) -> None:
    terminal = Terminal(place, "chat", *at(model), columns=100)
    terminal.wait_for("m> ")

    model.then(calls("chaos__count", key="one\x1b[2J"), says("First."))
    terminal.type("Count.\n")
    terminal.wait_for("chaos/count")
    shown = terminal.wait_for(ASKED)
    assert "is to be run: it may change or delete things: its server does not say otherwise" in shown
    assert 'key: "one\\u001b[2J"' in shown
    terminal.type("?\n")
    assert "Writes the key into the ledger." in terminal.wait_for(ASKED)
    terminal.type("what\n")
    terminal.wait_for(ASKED)
    assert ledger(place) == []
    terminal.type("y\n")
    terminal.wait_for("✓")
    terminal.wait_for("First.")
    terminal.wait_for("m> ")
    assert ledger(place) == ["one\x1b[2J"]

    model.then(calls("chaos__count", key="two"), says("Second."))
    terminal.type("Again.\n")
    terminal.wait_for(ASKED)
    terminal.type("\n")  # no answer is no
    terminal.wait_for("did not allow")
    terminal.wait_for("m> ")
    assert "did not allow this call" in contents(model)[-1]

    model.then(calls("chaos__count", key="three"), says("Third."))
    terminal.type("And?\n")
    terminal.wait_for(ASKED)
    terminal.type("e\n")
    terminal.wait_for("(Enter keeps them): ")
    terminal.type('{"kee": 1}\n')
    terminal.wait_for("key: is required and is missing")
    terminal.wait_for("(Enter keeps them): ")
    terminal.type('{"key": "3"}\n')
    assert 'key: "3"' in terminal.wait_for(ASKED)
    terminal.type("a\n")
    terminal.wait_for("m> ")
    assert 'The user changed the arguments to {"key": "3"}.' in contents(model)[-1]

    model.then(calls("chaos__count", key="four"), calls("chaos__echo", text="x"), says("Fourth."))
    terminal.type("More.\n")
    terminal.wait_for("chaos/echo")  # the first is not asked about any more, the other tool is
    terminal.wait_for(ASKED)
    terminal.type("n\n")
    terminal.wait_for("m> ")
    assert ledger(place) == ["one\x1b[2J", "3", "four"]

    model.then(calls("chaos__wait", path=str(place.directory / "go")), calls("chaos__refuse"), says("Fifth."))
    terminal.type("Wait.\n")
    terminal.wait_for(ASKED)
    terminal.type("y\n")
    terminal.wait_for("▸")
    terminal.type("y\ny\n")  # before anything is asked: no word on what comes
    (place.directory / "go").touch()
    terminal.wait_for(ASKED)
    terminal.type("n\n")
    terminal.wait_for("chaos/refuse")
    assert "did not allow" in terminal.wait_for("m> ")
    terminal.type("/quit\n")
    assert terminal.end() == 0
    place.nothing_left()


def test_ctrl_c_stops_the_answer_and_not_the_chat(place: Workplace, model: ScriptedModel) -> None:
    terminal = Terminal(place, "chat", "--approve", "always", *at(model))
    terminal.wait_for("m> ")
    for typed in ("", "half a quest", ""):  # also right when the prompt is drawn
        terminal.type(typed)
        terminal.wait_for(typed)
        terminal.type("\x03")
        terminal.wait_for("(Ctrl-D or /quit leaves)")
        terminal.wait_for("m> ")

    model.then(calls("chaos__hang"), says("Never."))
    terminal.type("Hang.\n")
    terminal.wait_for("▸")
    wait_until(lambda: any('"hang"' in each for each in place.noted()), "the call did not arrive")
    terminal.type("\x03")
    terminal.wait_for("stopped")
    terminal.wait_for("m> ")
    wait_until(lambda: any("cancelled" in each for each in place.noted()), "the server was not told")

    model.then(calls("chaos__ask", kind="elicitation"), says("Never."))
    terminal.type("Ask.\n")
    terminal.wait_for(" (str): ")
    terminal.type("\x03")
    terminal.wait_for("stopped")
    terminal.wait_for("m> ")

    model.then(says("A long answer that does not come to its end."))
    model.hang_after(3)
    terminal.type("Talk.\n")
    terminal.wait_for("A lon")
    assert model.is_stuck.wait(10)
    terminal.type("\x03")
    terminal.wait_for("stopped")
    terminal.wait_for("m> ")
    model.hang_after(None)

    model.then(says("Here I am."))
    terminal.type("Still there?\n")
    terminal.wait_for("Here I am.")
    terminal.wait_for("m> ")
    assert contents(model) == [
        "Hang.",
        "None",  # a call
        "Error: Cancelled by the user. Whether the call took effect is unknown.",
        "Ask.",
        "None",
        "Error: Cancelled by the user. Whether the call took effect is unknown.",
        "Talk.",
        "Still there?",
    ]
    terminal.type("\x04")
    assert terminal.end() == 0
    place.nothing_left()

    kept = place.directory / "data" / "chat_history"
    assert [json.loads(line) for line in kept.read_text().splitlines()] == ["Hang.", "Ask.", "Talk.", "Still there?"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_model_is_changed_in_the_middle_and_the_conversation_moves_along(
    place: Workplace, model: ScriptedModel
) -> None:
    place.environment |= {"ANTHROPIC_API_KEY": SECRET, "ANTHROPIC_BASE_URL": model.url}
    named = ("--model", "openai-chat/m", "--base-url", model.url)
    terminal = Terminal(place, "chat", "--approve", "always", *named, columns=100)
    terminal.wait_for("m> ")
    model.then(calls("chaos__echo", before="So.", text="tulips"), says("Tulips."))
    terminal.type("@openai-chat/m\n")  # where it is, and not where its vendor is
    terminal.wait_for("m (OpenAI")
    terminal.type("@m What grows?\n")
    terminal.wait_for("Tulips.")
    terminal.wait_for("m> ")

    terminal.type("@cla\t")  # completed
    terminal.wait_for("@claude ")
    model.then(says("Still tulips."))
    terminal.type("and now?\n")
    terminal.wait_for("Still tulips.")
    terminal.wait_for("claude-sonnet-5> ")
    assert [each.provider for each in model.requests] == ["openai-chat", "openai-chat", "anthropic"]
    assert model.requests[-1].body["messages"] == [
        {"role": "user", "content": "What grows?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "So."},
                {"type": "tool_use", "id": "call_a1B2c3D4e", "name": "mcp__chaos__echo", "input": {"text": "tulips"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "call_a1B2c3D4e", "content": "tulips"}],
        },
        {"role": "assistant", "content": "Tulips."},
        {"role": "user", "content": "and now?"},
    ]

    terminal.type("/save talk.json\n")
    terminal.wait_for("6 messages saved as talk.json")
    terminal.type("/clear\n")
    terminal.wait_for("a new conversation")
    terminal.type("Hello \\\nthere.\n")
    terminal.wait_for("Still tulips.")
    assert contents(model) == ["Hello \nthere."]
    terminal.type("/load talk.json\n")
    terminal.wait_for("6 messages loaded; they are continued from here")
    terminal.type("/system Be brief.\n")
    terminal.wait_for("Be brief.\r\n")
    terminal.type("@m@ x\n")
    terminal.wait_for("toolbridge: whose model is 'm@'?")
    terminal.wait_for("claude-sonnet-5> ")
    terminal.type("Last?\n")
    terminal.wait_for("Still tulips.")
    assert len(model.requests[-1].body["messages"]) == 7
    assert "Be brief." in json.dumps(model.requests[-1].body["system"])

    terminal.type("/tools ech\n")
    terminal.wait_for("chaos/echo")
    terminal.wait_for("23 tools shown to claude-sonnet-5: about ")
    terminal.type("/servers\n")
    terminal.wait_for("connected, 23 tools")
    terminal.type("/model\n")
    terminal.wait_for("claude-sonnet-5 (Anthropic")
    for line, said in (
        ("/sav talk.json", "toolbridge: unknown command /sav; did you mean /save?"),
        ("/save mcp.json", "toolbridge: mcp.json: there is another file of that name; choose another"),
        ("/save no/talk.json", "toolbridge: no/talk.json: no such file or directory"),
        ("/save", "toolbridge: /save needs the name of a file: /save talk.json"),
        ("/load no.json", "toolbridge: no.json: no such file or directory"),
        ("/load mcp.json", "toolbridge: mcp.json: "),
        ("@ollama", "toolbridge: which model of ollama? Write ollama/NAME"),
        ("@gemini", "toolbridge: no key for gemini/gemini-2.5-flash: set the environment variable"),
        ("/help", "begin a new conversation"),
    ):
        terminal.type(f"{line}\n")
        terminal.wait_for(said)
    terminal.type("/quit\n")
    assert terminal.end() == 0
    assert SECRET not in terminal.seen
    place.nothing_left()


def test_a_question_on_the_command_line_can_ask_back_and_be_interrupted(place: Workplace, model: ScriptedModel) -> None:
    model.then(calls("chaos__count", key="k"), calls("chaos__hang"), says("Never."))
    terminal = Terminal(place, "chat", "Count.", *at(model), columns=100)
    terminal.wait_for(ASKED)
    terminal.type("y\n")
    terminal.wait_for(ASKED)
    terminal.type("y\n")
    wait_until(lambda: any('"hang"' in each for each in place.noted()), "the call did not arrive")
    terminal.type("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.seen
    assert ledger(place) == ["k"]
    place.nothing_left()


def test_a_second_interrupt_does_not_wait_for_a_server_that_will_not_end(
    place: Workplace, model: ScriptedModel
) -> None:
    place.configure(chaos=place.chaos(f"ledger={place.ledger}", "ignore_eof", "ignore_term"))
    terminal = Terminal(place, "chat", *at(model))
    terminal.wait_for("m> ")
    terminal.type("\x04")
    wait_until(lambda: any('"eof"' in each for each in place.noted()), "the server was not told to end")
    terminal.type("\x03")
    assert terminal.end() == 130
    place.nothing_left()
