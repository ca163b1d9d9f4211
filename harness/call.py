"""A call on its way through the guards, and the outcome it ends in. Refusing is not raising: every road ends in an `Outcome`.

A guard has two methods. `admit` sees the calls one after the other in the order in which the script made them, before anything
waits, and may refuse. `handle` wraps the rest of the chain and may wait.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

from catalog import Effects, Tool
from catalog.check import Bound
from sandbox import Problem, Site

Json: TypeAlias = Any
Status: TypeAlias = Literal["returned", "failed", "refused", "denied", "timed_out", "cancelled"]
Source: TypeAlias = Literal["tool", "memory", "disk", "shared", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`number` counts the calls of the script from 1. `key` stands for tool and arguments: equal calls have equal keys."""

    turn: int
    number: int
    tool: Tool
    bound: Bound
    effects: Effects  # with keys relative to the root
    site: Site
    key: str
    places: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # arguments that name files: as seen from the root, by links too

    @property
    def name(self) -> str:
        return self.tool.full_name

    @property
    def label(self) -> str:
        return f"T{self.turn} call {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a call ended. `by`: who ended it, the tool or a guard. `of`: the call whose result this is, when it is not its own."""

    status: Status
    value: Json = None
    problem: Problem | None = None
    by: str = "tool"
    source: Source = ""
    of: str = ""
    size: int = 0  # bytes of the value as JSON
    seconds: float = 0.0  # that the tool itself ran
    in_view: tuple[tuple[int, int], ...] = ()  # lines of the file in the result that the model has in view
    missed: bool = False  # the cache looked for it in vain
    replayed: bool = False  # it comes from a recording: nothing ran
    fault: str = ""  # the rule that made it so: nothing ran

    @property
    def ok(self) -> bool:
        return self.status == "returned"


def refused(by: str, problem: Problem, *, status: Status = "refused") -> Outcome:
    return Outcome(status=status, problem=problem, by=by)


Proceed: TypeAlias = Callable[[Call], Awaitable[Outcome]]


class Guard(Protocol):
    def admit(self, call: Call) -> Outcome | None:
        """In the order of the script, before anything waits: a refusal, or None."""

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        """Around the rest of the chain."""


class Chain:
    """Guards in the order of a list, the tool at its end."""

    def __init__(self, guards: Sequence[Guard], last: Proceed) -> None:
        self._guards = tuple(guards)
        proceed = last
        for guard in reversed(self._guards):
            proceed = partial(guard.handle, proceed=proceed)
        self.run = proceed

    def admit(self, call: Call) -> Outcome | None:
        for guard in self._guards:
            outcome = guard.admit(call)
            if outcome is not None:
                return outcome
        return None
