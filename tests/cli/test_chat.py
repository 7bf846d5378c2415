"""`toolbridge chat` with one question: the answer, the calls, what is kept, what waits, and what goes wrong."""

from __future__ import annotations

import asyncio
import io
import json
import re
import signal
import sys
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.process import Answer
from tests.cli.scripted_model import KEYS, ScriptedModel, at, calls, ledger, says, with_chaos
from tests.cli.workplace import SECRET, Workplace
from tests.support.processes import TOKEN
from tests.support.wire.scenario import Scenario
from toolbridge.cli.chat_models import DEFAULTS, default_name, meant, spelt
from toolbridge.cli.chat_questions import ServerQuestions
from toolbridge.cli.chat_show import Flow, argument_words, cut
from toolbridge.cli.form import Form
from toolbridge.cli.group import run
from toolbridge.cli.progress import Line
from toolbridge.errors import ModelError
from toolbridge.model.vendors import VENDORS


@pytest.fixture
def model() -> Generator[ScriptedModel]:
    with ScriptedModel(says("Good day.")) as server:
        yield server


@pytest.fixture
def place(work: Workplace) -> Workplace:
    return with_chaos(work)


class Alone:
    """The command in this process, which has loaded by then what a process of its own would load each time."""

    def __init__(self, work: Workplace, output: pytest.CaptureFixture[str]) -> None:
        self.work = work
        self.directory = work.directory
        self._output = output

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Answer:
        before, typed = signal.getsignal(signal.SIGINT), sys.stdin
        self._output.readouterr()
        try:
            sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
            code = run(list(arguments))
        finally:
            sys.stdin = typed
            signal.signal(signal.SIGINT, before)
        self.work.nothing_left()
        said = self._output.readouterr()
        return Answer(code, said.out, said.err)


@pytest.fixture
def alone(work: Workplace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Alone:
    monkeypatch.chdir(work.directory)
    for name in (*KEYS, "TOOLBRIDGE_MODEL", "TOOLBRIDGE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in work.environment.items():
        if name != TOKEN:  # this process is no leftover; the servers that it starts are
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("TOOLBRIDGE_DATA_DIR", str(work.directory / "data"))
    return Alone(work, capsys)


def timeless(text: str) -> str:
    return re.sub(r"\d+\.\d\d s", "0.00 s", text)


# ── one question ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_answer_goes_to_stdout_and_the_calls_made_for_it_to_stderr(place: Workplace, model: ScriptedModel) -> None:
    model.then(
        calls("chaos__echo", before="One moment.", text="a b \x1b[31m"),
        says("Red is \x1b[31mred\r\nand \u202eback."),
    )
    answer = place("chat", "What", "is it?", "--system", "Be brief.", "--approve", "always", *at(model))
    assert answer.code == 0
    assert answer.out == "One moment.\nRed is \\x1b[31mred\r\nand \\u202eback.\n"
    assert timeless(answer.err) == '▸ chaos/echo text="a b \\u001b[31m"\n  ✓ 0.00 s, 18 tokens\n'
    first, second = (each.body["messages"] for each in model.requests)
    assert first == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is it?"}]
    assert second[2:] == [
        {
            "role": "assistant",
            "content": "One moment.",
            "tool_calls": [
                {
                    "id": "call_a1B2c3D4e",
                    "type": "function",
                    "function": {"name": "mcp__chaos__echo", "arguments": '{"text": "a b \\u001b[31m"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_a1B2c3D4e", "content": "a b \x1b[31m"},
    ]


def test_the_question_may_come_from_standard_input(place: Workplace, alone: Alone, model: ScriptedModel) -> None:
    place.configure(other=place.script("note('started')"))
    place.known("other", [])
    assert place("chat", *at(model), stdin="Grüße?\n".encode()).out == "Good day.\n"
    assert alone("chat", "Review:", "-", *at(model), stdin=b"+ a\n- b\n").out == "Good day.\n"
    asked = [each.body["messages"] for each in model.requests]
    assert asked == [
        [{"role": "user", "content": "Grüße?"}],
        [{"role": "user", "content": "Review:\n\n+ a\n- b"}],
    ]
    assert place.noted() == []  # a server whose tools are known is not started for a question that needs none


def test_where_nobody_can_be_asked_a_call_is_refused_and_stderr_says_what_allows_it(
    alone: Alone, model: ScriptedModel
) -> None:
    alone.work.configure(chaos=alone.work.chaos(f"ledger={alone.work.ledger}"))
    model.then(calls("chaos__count", key="k"), says("As you wish."))
    answer = alone("chat", "Count.", *at(model))
    assert (answer.code, answer.out) == (0, "As you wish.\n")
    assert answer.err == (
        "chaos/count needs approval (it may change or delete things: its server does not say otherwise) and there is "
        "no terminal to ask at: not run; --approve always runs it, --json lets the run wait for a word\n"
        "✗ chaos/count The user did not allow this call: it needs the approval of a person, and nobody is there to "
        "ask\n"
    )
    assert ledger(alone.work) == []
    assert "did not allow" in model.requests[1].body["messages"][-1]["content"]


def test_read_only_runs_what_claims_to_only_read_and_nothing_else_whatever_the_settings_let_pass(
    alone: Alone, model: ScriptedModel
) -> None:
    alone.work.configure(
        chaos=alone.work.chaos(f"ledger={alone.work.ledger}", require_approval="never"),
        asked=alone.work.chaos(require_approval={"always": ["echo"]}),
    )
    model.then(
        calls("chaos__count", key="k"), calls("asked__echo", text="b"), calls("chaos__echo", text="c"), says("Done.")
    )
    answer = alone("chat", "Go.", "--approve", "read-only", *at(model))
    assert (answer.code, answer.out) == (0, "Done.\n")
    assert timeless(answer.err) == (
        "✗ chaos/count The user did not allow this call: this chat only runs tools that only read\n"
        "✗ asked/echo The user did not allow this call: this chat only runs tools that only read\n"
        "▸ chaos/echo text=c\n"
        "  ✓ 0.00 s, 13 tokens\n"
    )
    assert ledger(alone.work) == []


def test_never_runs_what_the_settings_let_pass_and_no_more(alone: Alone, model: ScriptedModel) -> None:
    alone.work.configure(chaos=alone.work.chaos(f"ledger={alone.work.ledger}", require_approval={"never": ["echo"]}))
    model.then(calls("chaos__count", key="k"), calls("chaos__echo", text="c"), says("Done."))
    answer = alone("chat", "Go.", "--approve", "never", *at(model))
    assert timeless(answer.err) == (
        "✗ chaos/count The user did not allow this call: this chat runs nothing that needs the approval of a person\n"
        "▸ chaos/echo text=c\n"
        "  ✓ 0.00 s, 13 tokens\n"
    )


def test_calls_side_by_side_are_told_apart_and_errors_do_not_tell_secrets(alone: Alone, model: ScriptedModel) -> None:
    work = alone.work
    work.configure(chaos=work.chaos(), garden=work.garden(env={"GARDEN_TOKEN": SECRET}))
    parts = (*calls("chaos__content", id="f5G6h7I8j", kind="error").parts, *calls("garden__fail", why="frost").parts)
    model.then(Scenario("two", parts, "calls"), says("Both failed."))
    answer = alone("chat", "Go.", "--approve", "always", *at(model))
    assert (answer.code, answer.out) == (0, "Both failed.\n")
    assert sorted(timeless(answer.err).splitlines()) == [
        "  ✗ chaos/content 0.00 s, 17 tokens: the disk is full",
        "  ✗ garden/fail 0.00 s, 39 tokens: Error executing tool fail: frost, ***",
        "▸ chaos/content kind=error",
        "▸ garden/fail why=frost",
    ]


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def events(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    for each in found:
        each.pop("seconds", None)
    return found


def test_with_json_every_event_is_a_line_and_a_call_that_needs_a_word_waits_for_it(
    place: Workplace, alone: Alone, model: ScriptedModel
) -> None:
    model.then(calls("chaos__count", before="S\u2028o\x85.", key="k"))
    waiting = place("chat", "Count.", "--json", *at(model))
    *before, paused = events(waiting.out)
    assert waiting.code == 1
    assert before == [
        {"event": "text_delta", "text": "S\u2028o\x85."},
        {
            "event": "replied",
            "turn": 1,
            "model": "gpt-5-mini",
            "finish": "calls",
            "calls": 1,
            "usage": {"input": 31, "output": 17},
        },
    ]
    state = paused.pop("state")
    why = "it may change or delete things: its server does not say otherwise"
    asked = {"id": "call_a1B2c3D4e", "server": "chaos", "tool": "count", "arguments": {"key": "k"}, "why": why}
    assert paused == {"event": "paused", "asked": [asked]}
    assert waiting.err == "1 call waits for approval; toolbridge chat --resume FILE --allow ID continues\n"
    assert ledger(place) == []

    altered = json.dumps(state).replace('"key": "k"', '"key": "other"')
    refused = alone("chat", "--resume", "-", "--allow", "all", *at(model), stdin=altered.encode())
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "toolbridge: the stored run was altered, or was signed with another key; processes that continue each other's "
        "runs need the same TOOLBRIDGE_PAUSE_KEY\n"
    )

    (place.directory / "run.jsonl").write_text(waiting.out, encoding="utf-8")
    model.then(says("Counted."))
    resumed = place("chat", "--resume", "run.jsonl", "--allow", "call_a1B2c3D4e", "--json", *at(model))
    assert resumed.code == 0
    assert events(resumed.out) == [
        {
            "event": "call_started",
            "id": "call_a1B2c3D4e",
            "server": "chaos",
            "tool": "count",
            "arguments": {"key": "k"},
        },
        {
            "event": "call_ended",
            "id": "call_a1B2c3D4e",
            "server": "chaos",
            "tool": "count",
            "result": {"content": [{"type": "text", "text": "counted k"}], "isError": False},
            "tokens": 15,
        },
        {"event": "text_delta", "text": "Count"},
        {"event": "text_delta", "text": "ed."},
        {
            "event": "replied",
            "turn": 2,
            "model": "gpt-5-mini",
            "finish": "stop",
            "calls": 0,
            "usage": {"input": 31, "output": 17},
        },
        {
            "event": "done",
            "text": "Counted.",
            "turns": 2,
            "usage": {"input": 62, "output": 34},
            "stopped": None,
            "why": "",
        },
    ]
    assert len(ledger(place)) == 1

    again = alone("chat", "--resume", "run.jsonl", "--allow", "all", *at(model))  # in another process
    assert (again.code, again.out) == (1, "")
    assert again.err == "toolbridge: this run was continued already; its calls are not run twice\n"
    assert ledger(place) == ["k"]


def test_a_run_that_fails_before_anything_is_run_may_be_continued_again_until_it_is_answered(
    alone: Alone, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone.work.configure(chaos=alone.work.chaos(f"ledger={alone.work.ledger}"))
    model.then(calls("chaos__count", key="k"))
    *_, paused = events(alone("chat", "Count.", "--json", *at(model)).out)
    # As others write such lines, who leave in them what JSON allows.
    lines = [json.dumps(each, ensure_ascii=False) for each in ({"event": "text_delta", "text": "a\u2028b"}, paused)]
    (alone.directory / "run.jsonl").write_text("\r\n".join(lines), encoding="utf-8")
    answers: list[Answer] = []
    for is_refused in (True, False, False):
        monkeypatch.setattr("toolbridge.run.chat._CONTINUED", set[str]())  # as another process would have it
        model.then(*([] if is_refused else [says("Not counted.")]))
        if is_refused:
            model.says(raw=b"{}", status=401)
        answers.append(alone("chat", "--resume", "run.jsonl", "--deny", "all", *at(model)))
    failed, denied, again = answers
    assert failed.code == 1
    assert "OPENAI_API_KEY" in failed.err
    assert (denied.code, denied.out) == (0, "Not counted.\n")
    assert denied.err == "✗ chaos/count The user did not allow this call.\n"
    assert again.err == "toolbridge: this run was continued already; its calls are not run twice\n"
    assert ledger(alone.work) == []


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_that_is_named_is_kept_and_continued(alone: Alone, model: ScriptedModel) -> None:
    assert alone("chat", "One.", "-c", "talk", *at(model)).code == 0
    assert alone("chat", "Aside.", "-c", "talk", "--no-keep", *at(model)).code == 0
    assert alone("chat", "Two.", "-c", "talk", *at(model)).code == 0
    assert alone("chat", "Unnamed.", *at(model)).code == 0
    contents = [[message["content"] for message in each.body["messages"]] for each in model.requests]
    assert contents == [
        ["One."],
        ["One.", "Good day.", "Aside."],
        ["One.", "Good day.", "Two."],
        ["Unnamed."],
    ]


def test_a_store_that_fails_is_told_in_one_line_and_the_question_is_answered(
    alone: Alone, model: ScriptedModel
) -> None:
    answer = alone("chat", "One.", "-c", "talk", "--store", str(alone.directory), *at(model))
    assert (answer.code, answer.out) == (0, "Good day.\n")
    assert re.fullmatch(r"the conversation is not kept: .*\n", answer.err.removeprefix(NOTE)), answer


def test_a_run_that_waits_is_kept_with_its_conversation_and_continued_once(
    alone: Alone, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = alone.work
    work.configure(chaos=work.chaos(f"ledger={work.ledger}"))
    model.then(calls("chaos__count", key="k"))
    (work.directory / "run.jsonl").write_text(alone("chat", "Go.", "--json", "-c", "talk", *at(model)).out)
    model.then(says("Counted."))
    resume = ("chat", "--resume", "run.jsonl", "--allow", "all", *at(model))
    assert alone(*resume).out == "Counted.\n"
    monkeypatch.setattr("toolbridge.run.chat._CONTINUED", set[str]())  # as another process would have it
    again = alone(*resume)
    assert (again.code, again.out) == (1, "")
    assert again.err == "toolbridge: this run was continued already, or its store does not know it\n"
    assert ledger(work) == ["k"]
    assert alone("chat", "And?", "-c", "talk", *at(model)).code == 0
    assert [each["role"] for each in model.requests[-1].body["messages"]] == [
        "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    wrong = alone("chat", "--resume", "run.jsonl", "--allow", "call_a1B2c3D4f", *at(model))
    assert wrong.err == "toolbridge: no call 'call_a1B2c3D4f' waits; did you mean call_a1B2c3D4e?\n"


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────

NOTE = "note: no mcp.json is here, so the model has no tools; name one with --config, or --from CLIENT\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--model", "claude"], "no key for anthropic/claude-sonnet-5: set the environment variable ANTHROPIC_API_KEY"),
        (["--model", "gtp-5"], "whose model is 'gtp-5'? (did you mean something like 'gpt-5'?) Write 'provider/model', as in 'anthropic/claude-sonnet-5', or give --base-url"),
        (["--model", "nobody/gpt-5"], None),
        (["--model", "ollama"], "which model of ollama? Write ollama/NAME"),
        (["--model", "local"], "no built-in model is here; run: toolbridge models pull smollm2"),
        (["--model", "m", "--base-url", "localhost:1"], "the base URL of 'localhost:1' has no scheme: write 'http://localhost:1'"),
        (["--model", "m", "--base-url", "http://127.0.0.1:1"], None),
        ([], "no model: name one with --model, such as --model anthropic/claude-sonnet-5, or set a key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY; without any key: pip install 'xllamacpp>=2026.10,<2027' && toolbridge models pull smollm2"),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_asked_is_one_line_that_says_what_to_set(
    alone: Alone, arguments: list[str], line: str | None
) -> None:
    answer = alone("chat", "Hello?", *arguments)
    assert (answer.code, answer.out) == (1, "")
    told = answer.err.removeprefix(NOTE)
    assert re.fullmatch(r"toolbridge: \S.*\n", told), answer
    assert line is None or told == f"toolbridge: {line}\n"
    assert re.search("api_key|base_url", told) is None


def test_a_key_that_is_refused_is_not_shown(
    alone: Alone, monkeypatch: pytest.MonkeyPatch, model: ScriptedModel
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model.then()
    model.says(raw=json.dumps({"error": {"message": f"Incorrect API key: {SECRET}"}}).encode(), status=401)
    answer = alone("chat", "Hello?", *at(model))
    assert (answer.code, answer.out) == (1, "")
    assert "OPENAI_API_KEY" in answer.err
    assert SECRET not in answer.err
    assert answer.err.removeprefix(NOTE).count("\n") == 1
    as_json = alone("chat", "Hello?", "--json", *at(model))
    (event,) = events(as_json.out)
    assert (event["event"], event["kind"]) == ("error", "wrong_key")
    assert SECRET not in as_json.out + as_json.err


def test_a_server_that_is_no_model_is_told_as_such(alone: Alone, model: ScriptedModel) -> None:
    model.then()
    model.says(raw=b"<!doctype html><html><body>Welcome</body></html>", media="text/html")
    answer = alone("chat", "Hello?", *at(model))
    assert (answer.code, answer.out) == (1, "")
    assert re.fullmatch(r"toolbridge: .*m.*HTML.*\n", answer.err.removeprefix(NOTE)), answer


def test_a_run_that_is_stopped_says_which_option_allows_more(alone: Alone, model: ScriptedModel) -> None:
    model.then(calls("nobody__nothing", x=1))
    turns = alone("chat", "Go.", "--max-turns", "2", *at(model))
    assert (turns.code, turns.err.splitlines()[-1]) == (
        1,
        "toolbridge: stopped after 2 turns of the model; --max-turns allows more",
    )
    tokens = alone("chat", "Go.", "--max-tokens", "10", *at(model))
    assert tokens.err.splitlines()[-1] == "toolbridge: stopped after 48 tokens; --max-tokens allows 10"
    loops = alone("chat", "Go.", *at(model))
    assert (loops.code, loops.err.splitlines()[-1]) == (
        1,
        "toolbridge: stopped: the model calls mcp__nobody__nothing again and again with the same result",
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--base-url", "http://localhost:1", "x"], "--base-url says where, and not which model; name it with --model NAME"),
        (["--store", "x.db", "x"], "--store says where, and not what; name the conversation with --conversation NAME"),
        (["--allow", "all", "x"], "--allow and --deny are about a run that waits; name it with --resume FILE"),
        (["--resume", "x", "y"], "--resume goes on with what was asked; ask something else afterwards"),
        (["--resume", "missing"], "missing: no such file; give the output of toolbridge chat --json, or the state in its last line, or - for standard input"),
        (["  "], "the question is empty; write it behind 'toolbridge chat', or pipe it in"),
        (["--provider", "opnai-chat", "--model", "m", "x"], "unknown provider 'opnai-chat'; did you mean 'openai-chat'?"),
    ],
)  # fmt: skip
def test_misuse_is_told_before_anything_is_asked(alone: Alone, arguments: list[str], line: str) -> None:
    answer = alone("chat", *arguments)
    assert (answer.code, answer.out, answer.err.removeprefix(NOTE)) == (2, "", f"toolbridge: {line}\n")


# ── which model ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_name_it_is_the_model_of_the_setting_then_of_a_key_then_the_one_that_is_here(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match="no model: name one"):
        default_name()
    from toolbridge.local.weights import WEIGHTS, models_directory, weights_path

    weights = WEIGHTS[0]
    path = weights_path(weights, models_directory())
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(weights.bytes)
    assert (default_name(), meant("local")) == (f"local/{weights.name}", f"local/{weights.name}")
    monkeypatch.setenv("GEMINI_API_KEY", SECRET)
    assert default_name() == "gemini/gemini-2.5-flash"
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    assert default_name() == "anthropic/claude-sonnet-5"
    monkeypatch.setenv("TOOLBRIDGE_MODEL", "ollama/qwen3")
    assert default_name() == "ollama/qwen3"


def test_short_names_are_models_of_their_vendors_and_other_names_stay() -> None:
    short = ["claude", "anthropic", "chatgpt", "openai", "gemini", "google", "kimi"]
    assert [meant(each) for each in short] == [
        "anthropic/claude-sonnet-5",
        "anthropic/claude-sonnet-5",
        "openai-chat/gpt-5",
        "openai-chat/gpt-5",
        "gemini/gemini-2.5-flash",
        "gemini/gemini-2.5-flash",
        "moonshot/kimi-latest",
    ]
    assert [meant(each) for each in ("gpt-5-mini", "ollama/qwen3")] == ["gpt-5-mini", "ollama/qwen3"]
    assert DEFAULTS.keys() <= VENDORS.keys()


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["a\x1b", "[31mb"], "a\\x1b[31mb"),
        (["a\x1b[3", "1mb\x9b2J"], "a\\x1b[31mb\\x9b2J"),
        (["a\r", "\nb\r", "c"], "a\r\nb\\rc"),
        (["end\r"], "end\\r"),
        (["\ud83d", "\ude00!"], "\U0001f600!"),
        (["\ud83d", "x"], "\\ud83dx"),
        (["tab\tand\nline"], "tab\tand\nline"),
        (["", "a", ""], "a"),
    ],
)
def test_text_that_arrives_in_pieces_cannot_steer_the_terminal(pieces: list[str], shown: str) -> None:
    flow = Flow()
    assert "".join([*map(flow.feed, pieces), flow.close()]) == shown


def test_arguments_are_one_line_that_is_cut_where_the_terminal_ends() -> None:
    arguments = {"bed": "B2", "note": "two words", "deep": {"a": [1, None]}, "empty": "", "e\x1b": "x\x1b[2J"}
    words = 'bed=B2 note="two words" deep={"a": [1, null]} empty="" e\\x1b=x\\x1b[2J'
    assert argument_words(arguments) == words
    assert cut(words, 10) == "bed=B2 no…"
    assert cut("你好你好", 5) == "你好…"


def test_what_the_library_tells_a_developer_to_set_is_told_as_options() -> None:
    assert spelt("no key: set X, or give api_key") == "no key: set X"
    assert spelt("limits.turns allows more; give base_url") == "--max-turns allows more; give --base-url"


async def _asked_at_the_prompt(said: list[str]) -> dict[str, Any]:
    questions = ServerQuestions(Form(Line(None), lambda text: text.replace(SECRET, "***")))
    questions._form.line.say = said.append  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    questions.at_prompt = True
    return await questions.elicit("garden", SimpleNamespace(message=f"Give me\n{SECRET}\x1b"))


def test_a_question_of_a_server_that_nothing_was_asked_of_does_not_take_the_prompt() -> None:
    said: list[str] = []
    assert asyncio.run(_asked_at_the_prompt(said)) == {"action": "decline"}
    assert said == ["garden asks: Give me ***\\x1b (declined: nothing was asked of it)"]
