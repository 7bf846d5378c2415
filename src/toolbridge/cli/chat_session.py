"""One chat at a command line: its servers, its model, its conversation, and what is kept of it.

It joins `run.chat` to what shows events and gives words. The command and the prompt both drive it; neither knows the
other.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolbridge.cli.chat_approval import Approver, Mode
from toolbridge.cli.chat_events import error_fields, event_fields
from toolbridge.cli.chat_models import default_name, open_model
from toolbridge.cli.chat_questions import ServerQuestions
from toolbridge.cli.chat_show import Screen
from toolbridge.cli.continued import note_continued
from toolbridge.cli.document import write_json
from toolbridge.cli.form import Form
from toolbridge.cli.paragraph import one_line
from toolbridge.cli.progress import Line, ticking
from toolbridge.errors import StoreError, ToolbridgeError
from toolbridge.run.chat import Chat
from toolbridge.run.events import CallStarted, Decision, Done, Paused, RunEvent, Told
from toolbridge.run.limits import RunLimits
from toolbridge.servers.spec import ServerSpec
from toolbridge.types import Message

if TYPE_CHECKING:
    from toolbridge.model.model import Model
    from toolbridge.servers.callbacks import Callbacks
    from toolbridge.servers.hub import Hub
    from toolbridge.store.store import Store

ANSWERED = 0
FAILED = 1
"""The exit code where there is no answer: the model failed, or the run was stopped."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks for."""

    specs: Sequence[ServerSpec] = ()
    model: str | None = None
    provider: str | None = None
    base_url: str | None = None
    approve: Mode = "ask"
    system: str = ""
    conversation: str = ""
    store: str | None = None
    keep: bool = True
    tool_tokens: int | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    as_json: bool = False
    attended: bool = False
    verbose: bool = False


def session_model(wishes: Wishes) -> Model:
    """The model that is asked first. Raises `ModelError` before anything is started."""
    return open_model(wishes.model or default_name(), wishes.provider, wishes.base_url)


class Session:
    """A hub that is open, a model, and a conversation."""

    def __init__(
        self, wishes: Wishes, model: Model, screen: Screen, approver: Approver, questions: ServerQuestions, hub: Hub
    ) -> None:
        self.wishes = wishes
        self.questions = questions
        self.screen = screen
        self.approver = approver
        self.hub = hub
        self.system = wishes.system
        self._models = {model.name: model, wishes.model or default_name(): model}
        """By every name that they were asked for: a model is not opened anew, and so elsewhere, by its own name."""
        self._store: Store | None = None
        self.chat = self._chat(model, ())

    async def begin(self) -> None:
        """Find the conversation that is to be continued. A store that fails costs what is kept, not the chat."""
        wishes = self.wishes
        if not wishes.conversation and wishes.store is None:
            return
        from toolbridge.store.store import open_store

        try:
            store = open_store(wishes.store)
            self._store = store
            history = (await store.load(wishes.conversation)).messages if wishes.conversation else ()
        except StoreError as failure:
            await self._without_store(failure)
            return
        if wishes.keep:
            self.chat = self._chat(self.chat.model, history, store, wishes.conversation)
        else:
            self.chat = self._chat(self.chat.model, history)

    async def _without_store(self, failure: StoreError) -> None:
        self.tell(Told("store.failed", f"the conversation is not kept: {failure}"))
        if self._store is not None:
            await self._store.close()
            self._store = None

    def _chat(
        self, model: Model, history: Iterable[Message], store: Store | None = None, conversation: str = ""
    ) -> Chat:
        return Chat(
            self.hub,
            model,
            history=history,
            system=self.system,
            approval=self.approver.approval,
            ask=self.approver.ask,
            limits=self.wishes.limits,
            tool_tokens=self.wishes.tool_tokens,
            store=store,
            conversation=conversation,
        )

    def start_over(self, history: Iterable[Message] = ()) -> None:
        """Another conversation, which is not kept; the one that was is left as it is."""
        self.chat = self._chat(self.chat.model, history)

    def use(self, name: str) -> None:
        """Ask another model from now on. Raises `ModelError`, and then the old one stays."""
        found = self._models.get(name) or open_model(name)
        self._models[name] = found
        self._models.setdefault(found.name, found)
        self.chat.model = found

    def set_system(self, text: str) -> None:
        self.system = self.chat.system = text

    @property
    def title(self) -> str:
        """The model, as people tell it from others."""
        return one_line(self.chat.model.name)

    async def ask(self, question: str) -> int:
        """Ask, and show what comes of it; the exit code."""
        return await self._run(self.chat.say(question))

    async def resume(self, state: Mapping[str, Any], words: Mapping[str, bool]) -> int:
        """Continue a run that waits."""
        return await self._run(self._continued(state, {id: Decision(allow) for id, allow in words.items()}))

    async def _continued(self, state: Mapping[str, Any], words: Mapping[str, Decision]) -> AsyncGenerator[RunEvent]:
        """The run, once. Where it fails before anything is run it may be tried again; one that waits again has a state
        of its own, which takes the place of this one."""
        note = None if state.get("held") else note_continued(str(state.get("id")))
        is_spent = False
        try:
            async with aclosing(self.chat.resume(state, words)) as events:
                async for event in events:
                    ended = isinstance(event, Paused) or (isinstance(event, Done) and not event.why)
                    is_spent = is_spent or ended or isinstance(event, CallStarted)
                    yield event
        finally:
            if note is not None and not is_spent:
                note.unlink(missing_ok=True)

    async def _run(self, events: AsyncGenerator[RunEvent]) -> int:
        self.screen.begin(self.title)
        last: RunEvent | None = None
        try:
            async with ticking(self.screen.line, self.screen.status), aclosing(events):
                async for event in events:
                    last = event
                    self.tell(event)
        except ToolbridgeError as failure:
            self.failed(failure)
            return FAILED
        finally:
            await self.questions.withdraw()
            self.screen.end()
        if isinstance(last, Paused):
            count = len(last.asked)
            self.screen.tell(
                f"{count} {'call waits' if count == 1 else 'calls wait'} for approval; "
                "toolbridge chat --resume FILE --allow ID continues"
            )
            return FAILED
        if isinstance(last, Done) and last.why:
            self.screen.complain(last.why)
            return FAILED
        return ANSWERED

    def tell(self, event: RunEvent) -> None:
        """Show an event to whoever is there."""
        if self.wishes.as_json:
            write_json(event_fields(event))
        else:
            self.screen.show(event)

    def failed(self, failure: ToolbridgeError) -> None:
        """Say why there is no answer."""
        if self.wishes.as_json:
            write_json(error_fields(failure))
        for each in getattr(failure, "problems", None) or [str(failure)]:
            self.screen.complain(each)

    async def close(self) -> None:
        for model in {id(each): each for each in (*self._models.values(), self.chat.model)}.values():
            await model.close()
        if self._store is not None:
            await self._store.close()


@asynccontextmanager
async def session_open(wishes: Wishes, model: Model) -> AsyncGenerator[Session]:
    """Everything that a chat needs, and nothing of it afterwards."""
    from toolbridge.cli.asking import servers_open
    from toolbridge.servers.catalog import Catalog

    line = Line(sys.stderr, wanted=not wishes.as_json)
    hidden = _without_secrets(wishes.specs)
    screen = Screen(line, hidden, verbose=wishes.verbose)
    approver = Approver(
        wishes.approve, wishes.specs, screen, attended=wishes.attended and not wishes.as_json, pausing=wishes.as_json
    )
    questions = ServerQuestions(Form(line, hidden))
    callbacks = _callbacks(line, hidden, questions, wishes.verbose)
    wanted = [each for each in approver.specs() if not each.disabled]
    async with servers_open(wanted, line, lazy=True, catalog=Catalog(), callbacks=callbacks) as hub:
        approver.tool = lambda wanted_id: next((each for each in hub.tools if each.id == wanted_id), None)
        session = Session(wishes, model, screen, approver, questions, hub)
        try:
            await session.begin()
            yield session
        finally:
            await session.close()


def _without_secrets(specs: Sequence[ServerSpec]) -> Callable[[str], str]:
    from toolbridge.servers.secrets import redact, secret_values

    secrets = frozenset(value for each in specs for value in (*each.secrets, *secret_values(each)))
    return lambda text: redact(text, secrets)


def _callbacks(line: Line, hidden: Callable[[str], str], questions: ServerQuestions, verbose: bool) -> Callbacks:
    from toolbridge.schema.phrases import quoted
    from toolbridge.servers.callbacks import Callbacks

    def log(server: str, level: str, data: Any) -> None:
        text = data if isinstance(data, str) else quoted(data, 2000)
        line.say(line.paint(f"{one_line(server)} {level}: {one_line(hidden(text))}", "dim"))

    if not verbose:
        return Callbacks(elicit=questions.elicit)
    return Callbacks(elicit=questions.elicit, log=log, log_level="debug")
