"""What happens while a session runs, told to whoever watches: a display, a protocol's progress, spans. Nothing depends on it.

A watch is a plain function, called at once and in order; it must not wait. What it raises is not heard, and changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from harness.approval import Answer, Approver, Request
from harness.dispatch import unheard
from harness.outcome import TurnOutcome
from harness.parts import Part
from harness.setup import Mode
from harness.turn import CallRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class _Happened:
    session: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegan(_Happened):
    """`direct`: not a script of the model's, but one tool that it called by itself."""

    script: str
    mode: Mode = "enabled"
    direct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBegan(_Happened):
    """The script made a call. `shown`: its arguments for people's eyes, cut and without secrets."""

    call: int
    tool: str
    line: int
    shown: Any
    arguments: Mapping[str, Any] | tuple[Any, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProgressed(_Happened):
    """What a call that takes long has to say."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(_Happened):
    """A person is asked for these calls, and the turn's clock stands still."""

    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(_Happened):
    """Requests without an answer are denied."""

    requests: tuple[Request, ...]
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(_Happened):
    """`record.outcome` says how, and by whom: the tool, a guard, the cache."""

    record: CallRecord

    @property
    def call(self) -> int:
        return self.record.number


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnYielded(_Happened):
    """The script still runs, and this was told of it."""

    part: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(_Happened):
    """`outcome` is None when the host stopped the turn."""

    outcome: TurnOutcome | None


Happened: TypeAlias = TurnBegan | CallBegan | CallProgressed | Asked | Answered | CallEnded | TurnYielded | TurnEnded
Watch: TypeAlias = Callable[[Happened], None]


def nobody(happened: Happened) -> None:
    """Nobody watches."""


def all_of(*watches: Watch | None) -> Watch | None:
    """One watch for several; None when there are none. One that raises keeps nothing from the others."""
    there = [watch for watch in watches if watch is not None]
    if len(there) < 2:
        return there[0] if there else None
    each = [unheard(watch) for watch in there]

    def told(happened: Happened) -> None:
        for watch in each:
            watch(happened)

    return told


class WatchedApprover:
    """An approver, with those who watch told that a person is asked, and what they said."""

    def __init__(self, approver: Approver, watch: Watch, *, session: str, turn: int) -> None:
        self._approver = approver
        self._watch = watch
        self._of = {"session": session, "turn": turn}

    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        asked, answers = tuple(requests), tuple[Answer, ...]()
        self._watch(Asked(requests=asked, **self._of))  # type: ignore[arg-type]
        try:
            answers = tuple(await self._approver.decide(requests))
            return answers
        finally:
            self._watch(Answered(requests=asked, answers=answers, **self._of))  # type: ignore[arg-type]
