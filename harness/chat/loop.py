"""The agent: messages go to the model, its words to the person, its tool calls to the surface of a session, their results back to
the model, until it makes no more calls.

This file is the example of how the tool layer is swapped into an agent: `Surface.definitions` are the model's tools, and
`Surface.call` answers its calls. The messages are always ones that an endpoint takes: whatever stops a question, each call has an
answer, and all that was said is on record.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import anyio

from harness.adapters.surface import Result, Surface
from harness.chat.messages import (
    AssistantSaid,
    Message,
    Piece,
    Prompt,
    ReasoningCame,
    Reply,
    TextCame,
    ToolCall,
    ToolSaid,
    Usage,
    UserSaid,
    guessed_usage,
)
from harness.chat.model import Model, ModelFailed

STEPS_MAX: Final = 25  # replies to one question: long work fits, a model that goes round in circles is stopped
_STOPPED: Final = "stopped by the person before it ended; what it had done until then is done"
_BROKEN_OFF: Final = "[the person stopped this reply]"
_ROLE: Final = Path(__file__).with_name("prompt.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """The model is asked for a reply, for the `step`-th time since the person spoke."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """`usage`: as the endpoint counts; `guessed`: it does not."""

    reply: Reply
    usage: Usage
    guessed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a question ended. `text`: the last words of the model. `problem`: for people, one line; "" when it was answered."""

    how: Literal["answered", "stopped", "failed", "steps"]
    text: str = ""
    problem: str = ""
    steps: int = 0


Heard: TypeAlias = Asks | Piece | Replied
Listen: TypeAlias = Callable[[Heard], None]


def nobody(heard: Heard) -> None:
    """Nobody listens."""


class Chat:
    """One conversation over one session. `listen` is told what the model says while it says it; it must not wait."""

    def __init__(
        self,
        surface: Surface,
        model: Model,
        *,
        system: str = "",
        listen: Listen = nobody,
        steps_max: int = STEPS_MAX,
        messages: Iterable[Message] = (),
    ) -> None:
        """`system`: what the model is told first; "" for a plain role and how scripts are written. `messages`: of a session that
        goes on, from `messages_of`.
        """
        self.messages: list[Message] = list(messages)
        self._surface = surface
        self._session = surface.session
        self._model = model
        self._system = system or "\n\n".join(part for part in (role(), surface.instructions) if part)
        self._listen = listen
        self._steps_max = steps_max
        self._scope: anyio.CancelScope | None = None

    async def ask(self, question: str) -> Answer:
        """The person says something. After a failure the question stands, and what they say now is added to it."""
        await self._session.message("user", question)
        last = self.messages[-1] if self.messages else None
        if isinstance(last, UserSaid):
            self.messages[-1] = UserSaid(f"{last.text}\n\n{question}")
        else:
            self.messages.append(UserSaid(question))
        return await self.go_on()

    async def go_on(self) -> Answer:
        """Ask the model again: after a failure, or when it had taken all its steps."""
        answer = Answer(how="stopped")
        with anyio.CancelScope() as self._scope:
            answer = await self._steps()
        self._scope = None
        return answer

    def stop(self) -> None:
        """End the question now: the reply that comes, or the turn that runs, which goes on record as cancelled."""
        if self._scope is not None:
            self._scope.cancel()

    async def _steps(self) -> Answer:
        text = ""
        for step in range(1, self._steps_max + 1):
            self._listen(Asks(step=step))
            try:
                reply = await self._reply()
            except ModelFailed as error:
                return Answer(how="failed", problem=str(error), steps=step)
            text = reply.text
            if not reply.calls:
                return Answer(how="answered", text=text, steps=step, problem=_cut(reply))
            await self._answer(reply.calls)
        problem = f"no answer after {self._steps_max} replies; go on, or say what to do otherwise"
        return Answer(how="steps", text=text, problem=problem, steps=self._steps_max)

    async def _reply(self) -> Reply:
        """What came of a reply that breaks off is kept as well."""
        prompt = Prompt(system=self._system, messages=tuple(self.messages), tools=self._surface.definitions)
        came: list[Piece] = []

        def hear(piece: Piece) -> None:
            came.append(piece)
            self._listen(piece)

        try:
            reply = await self._model.reply(prompt, hear)
        except ModelFailed:
            await self._put_on_record(_gathered(came))
            raise
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._put_on_record(begun := _gathered(came))
            if begun.text.strip():
                self.messages.append(AssistantSaid(f"{begun.text}\n{_BROKEN_OFF}"))
            raise
        await self._put_on_record(reply)
        self.messages.append(AssistantSaid(reply.text, reply.calls))
        usage = reply.usage or guessed_usage(prompt, reply)
        self._listen(Replied(reply=reply, usage=usage, guessed=reply.usage is None))
        return reply

    async def _answer(self, calls: tuple[ToolCall, ...]) -> None:
        """One after the other, in the order of the reply."""
        waiting = list(calls)
        try:
            while waiting:
                result = await self._call(waiting[0])
                turn = result.running if result.outcome is None else result.outcome.number
                self.messages.append(ToolSaid(waiting.pop(0), result.text, result.is_error, turn))
        finally:
            self.messages += [ToolSaid(call, _STOPPED, is_error=True) for call in waiting]

    async def _call(self, call: ToolCall) -> Result:
        if not call.unclear:
            return await self._surface.call(call.name, call.arguments)
        outcome = await self._session.run_reply(call.arguments)
        return Result(text=outcome.rest, is_error=True, outcome=outcome)

    async def _put_on_record(self, reply: Reply) -> None:
        if reply.reasoning.strip():
            await self._session.message("reasoning", reply.reasoning)
        if reply.text.strip():
            await self._session.message("assistant", reply.text)


def role() -> str:
    """Who the model is, before how scripts are written."""
    return _ROLE.read_text(encoding="utf-8").strip()


def _gathered(came: Iterable[Piece]) -> Reply:
    listed = list(came)
    return Reply(
        text="".join(piece.text for piece in listed if isinstance(piece, TextCame)),
        reasoning="".join(piece.text for piece in listed if isinstance(piece, ReasoningCame)),
    )


def _cut(reply: Reply) -> str:
    match reply.stop:
        case "length":
            return "the reply was as long as one may be, and may lack its end; raise answer_tokens in [model]"
        case "held_back":
            return "the endpoint held the reply back; ask in other words"
        case "done":
            return "" if reply.text.strip() else "the model said nothing; ask again, or in other words"
