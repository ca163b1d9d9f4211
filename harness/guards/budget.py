"""Budget: calls, bytes into the script and seconds, for a turn and for the session, in all and for a pack or a tool.

Calls are counted when they are made, in the order of the script; bytes and seconds when they are known: of a pack or a tool the
seconds that it ran, of the session those of its turns. What a call gave beyond the bytes that are left is not lost: it is kept
under a handle, and the script is told.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from catalog import Results
from harness.call import Call, Outcome, Proceed, refused
from harness.limits import TurnLimits
from harness.problems import told
from sandbox import Problem

Scope: TypeAlias = Literal["turn", "session"]

_LIMITS = {"budget_calls": "session_calls", "budget_bytes": "session_result_bytes", "budget_seconds": "session_seconds"}
_RAN_MAX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """None: no limit of its own."""

    calls: int | None = None
    bytes: int | None = None
    seconds: float | None = None


Allowances: TypeAlias = Mapping[str, Allowance]  # by pack (`web`) or tool (`web.fetch`)


@dataclass(slots=True)
class Purse:
    """What one scope may spend on one pack or tool (`name`), or on all of them (""), and what it has spent."""

    scope: Scope
    name: str
    allowed: Allowance
    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    ran: Counter[str] = field(default_factory=Counter)

    def refusal(self, tool: str) -> Problem | None:
        """Why not one more call, or None."""
        facts = {"tool": tool, "scope": f"this {self.scope}", "of": f" of {self.name}" if self.name else "", "ran": self._ran()}
        for code, used, allowed in (
            ("budget_calls", self.calls, self.allowed.calls),
            ("budget_bytes", self.bytes, self.allowed.bytes),
            ("budget_seconds", self.seconds, self.allowed.seconds),
        ):
            if allowed is not None and used >= allowed:
                return told(code, **facts, used=used, allowed=allowed, next=self._next(code), data=self._data())
        return None

    def too_many(self, tool: str, size: int, *, handle: str, parts: str) -> Problem:
        """`parts`: the tool that gives parts of what is kept; "" when none is on offer."""
        assert self.allowed.bytes is not None
        part = (
            f'tools.{parts}({{ handle: "{handle}" }}) gives a part of it'
            if parts
            else f'recall("{handle}") gives it where it fits'
        )
        return told(
            "result_kept", tool=tool, size=size, scope=f"this {self.scope}", left=self.allowed.bytes - self.bytes,
            allowed=self.allowed.bytes, of=f" of {self.name}" if self.name else "", handle=handle, ran=self._ran(), part=part,
            data={**self._data(), "handle": handle, "size": size},
        )  # fmt: skip

    def _next(self, code: str) -> str:
        if self.scope == "turn":
            return "work with what you have, or go on in the next turn"
        raised = f"{self.name} under [budget.session]" if self.name else f"the limit {_LIMITS[code]}"
        return f"finish with what you have, or ask a person to raise {raised}"

    def left(self) -> dict[str, Any]:
        """What is left, as a script reads it."""
        rows = (
            ("calls", self.allowed.calls, self.calls),
            ("bytes", self.allowed.bytes, self.bytes),
            ("seconds", self.allowed.seconds, self.seconds),
        )
        return {name: max(0, round(allowed - used, 3)) for name, allowed, used in rows if allowed is not None}

    def _ran(self) -> str:
        most = self.ran.most_common()
        rows = [f"{name} {times}" for name, times in most[:_RAN_MAX]]
        return ", ".join(rows) + (f" and {len(most) - _RAN_MAX} more" if len(most) > _RAN_MAX else "") or "nothing"

    def _data(self) -> dict[str, Any]:
        return {"scope": self.scope, "of": self.name or None, "left": self.left(), "ran": dict(self.ran)}


def purses(scope: Scope, total: Allowance, own: Allowances) -> list[Purse]:
    return [Purse(scope, "", total), *(Purse(scope, name, allowance) for name, allowance in own.items())]


def session_purses(limits: TurnLimits, own: Allowances) -> list[Purse]:
    total = Allowance(calls=limits.session_calls, bytes=limits.session_result_bytes, seconds=limits.session_seconds)
    return purses("session", total, own)


def turn_purses(limits: TurnLimits, own: Allowances) -> list[Purse]:
    return purses("turn", Allowance(bytes=limits.turn_result_bytes), own)


class Budget:
    """For one turn; the session's purses are handed in and live on. `parts`: the tool that reads parts of what is kept, or ""."""

    def __init__(
        self,
        turn: Iterable[Purse],
        session: Iterable[Purse],
        results: Results,
        *,
        parts: str = "",
        recorded: Callable[[Call], Outcome | None] = lambda _: None,
    ) -> None:
        """`recorded`: what a recording has of a call. One that was over the budget then is so again, and not counted."""
        self._recorded = recorded
        self._purses = (*turn, *session)
        self._own = [purse for purse in self._purses if purse.name]
        self._results = results
        self._parts = parts

    def admit(self, call: Call) -> Outcome | None:
        recorded = self._recorded(call)
        if recorded is not None and is_over_budget(recorded):
            return None
        mine = self._of(call)
        for purse in mine:
            problem = purse.refusal(call.name)
            if problem is not None:
                return refused("budget", problem)
        for purse in mine:
            purse.calls += 1
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        outcome = await proceed(call)
        mine = self._of(call)
        for purse in mine:
            if purse.name:  # calls run side by side: their seconds are not those of the turn
                purse.seconds += outcome.seconds
            if has_run(outcome):
                purse.ran[call.name] += 1
        if not outcome.ok:
            return outcome
        problem = self._spend(mine, call.name, outcome.size, partial(self._results.keep, outcome.value, label=call.name))
        if problem is not None:
            return replace(outcome, status="refused", value=None, problem=problem, by="budget", size=0)
        return outcome

    def out_of_seconds(self, call: Call) -> Outcome | None:
        """Looked at again when the call's turn comes: those before it may have used them up since it was made."""
        for purse in self._of(call):
            if purse.allowed.seconds is not None and purse.seconds >= purse.allowed.seconds:
                problem = replace(purse, allowed=Allowance(seconds=purse.allowed.seconds)).refusal(call.name)
                return None if problem is None else refused("budget", problem)
        return None

    def take(self, handle: str, size: int) -> Problem | None:
        """The bytes of a `recall`, which no tool brings; a problem when they are more than is left."""
        return self._spend([purse for purse in self._purses if not purse.name], f"recall({handle!r})", size, lambda: handle)

    def _spend(self, mine: Iterable[Purse], what: str, size: int, keep: Callable[[], str]) -> Problem | None:
        for purse in mine:
            if purse.allowed.bytes is not None and purse.bytes + size > purse.allowed.bytes:
                return purse.too_many(what, size, handle=keep(), parts=self._parts)
        for purse in mine:
            purse.bytes += size
        return None

    def left(self) -> dict[str, dict[str, Any]]:
        """What packs and tools with an allowance of their own have left: the nearer of turn and session."""
        told_left: dict[str, dict[str, Any]] = {}
        for purse in self._own:
            row = told_left.setdefault(purse.name, {})
            for name, number in purse.left().items():
                row[name] = min(number, row.get(name, number))
        return told_left

    def _of(self, call: Call) -> list[Purse]:
        names = ("", call.tool.pack, call.name)
        return [purse for purse in self._purses if purse.name in names]


def is_over_budget(outcome: Outcome) -> bool:
    """Refused before it was counted; what is kept under a handle was counted, and ran."""
    return outcome.by == "budget" and (outcome.problem is None or outcome.problem.code != "result_kept")


def has_run(outcome: Outcome) -> bool:
    """Its tool was called, and not somebody in its place."""
    return not outcome.fault and (outcome.by in ("tool", "timeout") or (outcome.by == "budget" and outcome.source == "tool"))
