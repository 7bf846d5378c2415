"""How well a built-in model chooses among tools and fills in their arguments, and how fast it is.

    python benchmarks/local_model.py --model smollm2
    python benchmarks/local_model.py --model qwen2.5-coder-1.5b --save

48 questions over ten tools, both of our own making, each asked by itself: the tools are offered as the loop offers them
(a tiny model is shown the few that a text search ranks first), the reply is read and resolved as in the loop, and what
would have been called is compared. No question holds the name of its tool.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from toolbridge.local.engine import local_model
from toolbridge.model.model import Model
from toolbridge.offer import Offer
from toolbridge.reply import ReplyReader
from toolbridge.tools import read_tools
from toolbridge.types import Message, ToolCall

RESULTS = Path(__file__).parent / "results" / "local_model.md"

Wanted: TypeAlias = "str | float | Callable[[Any], bool]"


def tool(name: str, description: str, required: str = "", **properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required.split() or list(properties)}
    return {"name": name, "description": description, "inputSchema": schema}


LANGUAGES = ["English", "French", "German", "Spanish"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

CURRENCIES = ["dollar", "euro", "pound", "yen", "franc"]

TOOLS = [
    tool("get_forecast", "The weather forecast of a city: rain, umbrella, sun, wind, snow, temperature.",
         city={"type": "string"}, day={"type": "string", "enum": ["today", "tomorrow"]}),
    tool("convert_money", "Convert an amount of money from one currency into another.",
         amount={"type": "number"},
         source={"type": "string", "enum": CURRENCIES}, target={"type": "string", "enum": CURRENCIES}),
    tool("start_timer", "Start a timer that rings after some minutes: for cooking, tea or a break, to remind or wake.",
         minutes={"type": "integer"}),
    tool("send_message", "Send a message to a person: write that you are late, ask a question, thank them.",
         person={"type": "string"}, message={"type": "string"}),
    tool("translate", "Translate a word or sentence: how to say it in another language.",
         text={"type": "string"}, language={"type": "string", "enum": LANGUAGES}),
    tool("play_music", "Play music: put on or hear a song by a singer, band or composer.",
         artist={"type": "string"}),
    tool("search_files", "Find documents, notes and files that were saved on this computer, by words in them.",
         words={"type": "string"}),
    tool("add_event", "Put an appointment or meeting into the calendar.",
         title={"type": "string"}, day={"type": "string", "enum": DAYS},
         hour={"type": "integer", "minimum": 0, "maximum": 23, "description": "Hour of the day, 0 to 23."}),
    tool("stock_quote", "What a company's share is trading at on the stock market at the moment.",
         company={"type": "string"}),
    tool("switch_light", "Turn the lamp in the kitchen, bedroom or hall on when it is dark, or off.",
         room={"type": "string"}, state={"type": "string", "enum": ["on", "off"]}),
]  # fmt: skip


def has(*words: str) -> Callable[[Any], bool]:
    """A text that holds these words, and little else than the question asked for."""
    return lambda value: isinstance(value, str) and all(each in value.lower() for each in words)


QUESTIONS: list[tuple[str, str, dict[str, Wanted]]] = [
    ("Will I need an umbrella in Lisbon tomorrow?", "get_forecast", {"city": "lisbon", "day": "tomorrow"}),
    ("What's the weather like in Oslo today?", "get_forecast", {"city": "oslo", "day": "today"}),
    ("Is it going to snow in Toronto tomorrow?", "get_forecast", {"city": "toronto", "day": "tomorrow"}),
    ("How many euros do I get for 250 US dollars?", "convert_money",
     {"amount": 250, "source": "dollar", "target": "euro"}),
    ("What are 40 British pounds in Swiss francs?", "convert_money",
     {"amount": 40, "source": "pound", "target": "franc"}),
    ("I have 9000 yen, how much is that in dollars?", "convert_money",
     {"amount": 9000, "source": "yen", "target": "dollar"}),
    ("Remind me in 12 minutes to take the bread out.", "start_timer", {"minutes": 12}),
    ("My tea needs 4 minutes.", "start_timer", {"minutes": 4}),
    ("Wake me up from my nap in 25 minutes.", "start_timer", {"minutes": 25}),
    ("Write to Maria that I will be late.", "send_message", {"person": "maria", "message": has("late")}),
    ("Ask Tom whether he has the keys.", "send_message", {"person": "tom", "message": has("keys")}),
    ("Write to Aunt Rosa: thank you for the cake!", "send_message",
     {"person": has("rosa"), "message": has("thank", "cake")}),
    ("What is 'good night' in Spanish?", "translate", {"text": "good night", "language": "Spanish"}),
    ("How do you say 'where is the station' in French?", "translate",
     {"text": has("where is the station"), "language": "French"}),
    ("Put on something by Nina Simone.", "play_music", {"artist": "nina simone"}),
    ("I'd like to hear the Beatles.", "play_music", {"artist": has("beatles")}),
    ("Where did I save the tax return?", "search_files", {"words": has("tax")}),
    ("Find my notes about the garden.", "search_files", {"words": has("garden")}),
    ("I have the dentist on Thursday at 9.", "add_event", {"title": has("dentist"), "day": "Thursday", "hour": 9}),
    ("Schedule the budget meeting for Monday at 14:00.", "add_event",
     {"title": has("budget"), "day": "Monday", "hour": 14}),
    ("How much is one Nvidia share at the moment?", "stock_quote", {"company": "nvidia"}),
    ("What is Volkswagen trading at?", "stock_quote", {"company": "volkswagen"}),
    ("It is too dark in the kitchen.", "switch_light", {"room": has("kitchen"), "state": "on"}),
    ("Nobody is in the bedroom, switch the lamp off please.", "switch_light", {"room": has("bedroom"), "state": "off"}),
]  # fmt: skip


FURTHER: list[tuple[str, str, dict[str, Wanted]]] = [
    ("How warm will it get in Madrid today?", "get_forecast", {"city": "madrid", "day": "today"}),
    ("Does it rain in Hamburg tomorrow?", "get_forecast", {"city": "hamburg", "day": "tomorrow"}),
    ("Is there any wind in Chicago today?", "get_forecast", {"city": "chicago", "day": "today"}),
    ("Convert 75 euros to yen.", "convert_money", {"amount": 75, "source": "euro", "target": "yen"}),
    (
        "My hotel costs 120 francs. What is that in euros?",
        "convert_money",
        {"amount": 120, "source": "franc", "target": "euro"},
    ),
    ("How much money is 500 yen in pounds?", "convert_money", {"amount": 500, "source": "yen", "target": "pound"}),
    ("Remind me to call back in 30 minutes.", "start_timer", {"minutes": 30}),
    ("The eggs must cook for 7 minutes.", "start_timer", {"minutes": 7}),
    ("I take a break of 20 minutes.", "start_timer", {"minutes": 20}),
    ("Send Peter the message that dinner is ready.", "send_message", {"person": "peter", "message": has("dinner")}),
    ("Ask Julia if she is coming to the party.", "send_message", {"person": "julia", "message": has("party")}),
    ("Write Ben that the train is late.", "send_message", {"person": "ben", "message": has("train")}),
    (
        "Translate 'thank you very much' into German.",
        "translate",
        {"text": has("thank you very much"), "language": "German"},
    ),
    ("How do I say 'I am hungry' in Spanish?", "translate", {"text": has("i am hungry"), "language": "Spanish"}),
    ("Play a song by Adele.", "play_music", {"artist": "adele"}),
    ("I want to hear some Mozart music.", "play_music", {"artist": has("mozart")}),
    ("Find the documents about the house.", "search_files", {"words": has("house")}),
    ("Which files mention the insurance?", "search_files", {"words": has("insurance")}),
    (
        "Put the meeting with Anna on Friday at 10 into my calendar.",
        "add_event",
        {"title": has("anna"), "day": "Friday", "hour": 10},
    ),
    (
        "I have an appointment with the doctor on Tuesday at 16.",
        "add_event",
        {"title": has("doctor"), "day": "Tuesday", "hour": 16},
    ),
    ("What is a share of Apple worth?", "stock_quote", {"company": "apple"}),
    ("How is Siemens doing on the stock market?", "stock_quote", {"company": "siemens"}),
    ("Turn on the lamp in the hall.", "switch_light", {"room": has("hall"), "state": "on"}),
    ("Please turn the kitchen lamp off.", "switch_light", {"room": has("kitchen"), "state": "off"}),
]
"""Written after the examples in the instructions had been chosen by the first ones, which are no judge of themselves.
One sentence of the instructions was then chosen by both."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question."""

    question: str
    wanted: str
    got: str
    right_tool: bool
    right: bool
    shown: bool
    """Whether the right tool was among those that were offered."""
    seconds: float
    prompt_tokens: int
    output_tokens: int


async def ask(model: Model, question: str, name: str, wanted: Mapping[str, Wanted]) -> Outcome:
    """One question, through the real path."""
    offer = Offer(read_tools(TOOLS), model.provider, most=model.most_tools)
    if model.most_tools is not None:
        offer.choose(question)
    prepared = offer.prepared
    messages = [Message.system(prepared.instructions or ""), Message.user(question)]
    fields = {**model.provider.write_messages(messages, model=model.name).value, **prepared.fields}
    began = time.perf_counter()
    reader = ReplyReader(model.provider)
    async for chunk in model.stream(fields):
        reader.feed(chunk)
    reply = reader.reply()
    seconds = time.perf_counter() - began
    calls = [part for part in reply.message.parts if isinstance(part, ToolCall)]
    got, right_tool, right = repr(reply.message.text[:120]), False, False
    if calls:
        bound = prepared.resolve(calls[0])
        called = bound.tool.id.name if getattr(bound, "tool", None) else calls[0].name
        arguments = getattr(bound, "arguments", None)
        got = f"{called} {json.dumps(arguments if arguments is not None else calls[0].text)}"
        right_tool = called == name
        right = right_tool and arguments is not None and fits(arguments, wanted)
    usage = reply.usage
    return Outcome(
        question, f"{name} {told(wanted)}", got, right_tool, right,
        any(each.id.name == name for each in prepared.tools), seconds,
        (usage.input or 0) if usage else 0, (usage.output or 0) if usage else 0,
    )  # fmt: skip


def fits(arguments: Mapping[str, Any], wanted: Mapping[str, Wanted]) -> bool:
    """Whether the arguments are those: names exactly, texts but for case and an article's worth of space."""
    if arguments.keys() != wanted.keys():
        return False
    for key, want in wanted.items():
        value = arguments[key]
        if callable(want):
            if not want(value):
                return False
        elif isinstance(want, str):
            if not isinstance(value, str) or _flat(value) != _flat(want):
                return False
        elif value != want or isinstance(value, bool) != isinstance(want, bool):
            return False
    return True


def _flat(value: str) -> str:
    return re.sub(r"[\s.!?'\"]+", " ", value).strip().lower()


def told(wanted: Mapping[str, Wanted]) -> str:
    return json.dumps({key: "…" if callable(value) else value for key, value in wanted.items()})


async def measure(model: Model) -> list[Outcome]:
    await ask(model, *QUESTIONS[0])  # loads the model, and reads the part of the prompt that all questions share
    outcomes: list[Outcome] = []
    for question, name, wanted in (*QUESTIONS, *FURTHER):
        outcome = await ask(model, question, name, wanted)
        outcomes.append(outcome)
        if not outcome.right:
            mark = "arguments" if outcome.right_tool else "tool" if outcome.shown else "not shown"
            print(f"✗ {mark}: {question}\n    wanted {outcome.wanted}\n    got    {outcome.got}", flush=True)
    await model.close()
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2", help="smollm2, qwen2.5-coder-1.5b, or the path of a GGUF file")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--save", action="store_true", help=f"write the line of this model into {RESULTS.name}")
    given = parser.parse_args()
    model = local_model(given.model, options={"threads": given.threads})
    outcomes = asyncio.run(measure(model))
    seconds = sum(each.seconds for each in outcomes)
    first, further = outcomes[: len(QUESTIONS)], outcomes[len(QUESTIONS) :]
    row = [
        model.name,
        str(min(model.most_tools or len(TOOLS), len(TOOLS))),
        score(each.right_tool for each in first),
        score(each.right for each in first),
        score(each.right_tool for each in further),
        score(each.right for each in further),
        f"{seconds / len(outcomes):.1f}",
        f"{sum(each.output_tokens for each in outcomes) / seconds:.0f}",
        f"{sum(each.prompt_tokens for each in outcomes) / len(outcomes):.0f}",
        str(given.threads),
    ]
    print(dict(zip(COLUMNS, row, strict=True)))
    if given.save:
        save(row)


def score(right: Iterable[bool]) -> str:
    each = list(right)
    return f"{sum(each)}/{len(each)}"


COLUMNS = ("model", "tools shown", "right tool", "right tool and arguments", "further: tool", "tool and arguments",
           "seconds a question", "output tokens/s",
           "prompt tokens", "threads")  # fmt: skip

HEAD = f"""# The built-in models

`python benchmarks/local_model.py --model NAME --save`: {len(QUESTIONS)} questions over {len(TOOLS)} tools, each asked
by itself, temperature 0, provider `json-schema`; and {len(FURTHER)} further ones, which were written when the examples
in the instructions had been chosen by the first. A model that is shown fewer tools than there are gets at most so many:
those that a text search ranks first. Output tokens per second are over the whole time, the reading of the prompt
included.

"""


def save(row: list[str]) -> None:
    """Put the row into the table, in place of an older one of that model."""
    lines = RESULTS.read_text("utf-8").splitlines() if RESULTS.exists() else []
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(("| model ", f"| {row[0]} "))]
    rows.append("| " + " | ".join(row) + " |")
    table = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|", *sorted(rows)]
    RESULTS.write_text(HEAD + "\n".join(table) + "\n", "utf-8")


if __name__ == "__main__":
    main()
