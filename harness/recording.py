"""The record of one turn's calls, and how to play it: what a replay, a check against live tools and a turn that goes on after a
crash have in common.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from harness.call import Outcome
from harness.entries import Began, Ended, Entry, Held, Running, Settled, Yielded
from harness.identity import Arguments, Identity, identity_of
from harness.parts import Cut
from sandbox import Budget, Site

Missing: TypeAlias = Literal["refuse", "run"]
OUT_OF_TIME: Final = "turn_seconds"  # the limit
STOPPED: Final = "stopped"  # the agent ended the script; in the place of a limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """`told`: in the order in which the script was told. `unsure`: was running when the process ended; nobody knows."""

    told: tuple[Settled, ...] = ()
    left: tuple[Settled, ...] = ()  # never told: cancelled, or too late
    unsure: tuple[Running, ...] = ()
    held: tuple[Held, ...] = ()  # values behind handles that outcomes name
    budget: Budget | None = None  # at the start
    out_of_time: bool = False  # the turn's time ended before the script did
    stopped: bool = False  # by the agent, which is the end of its time too
    cuts: tuple[Cut, ...] = ()  # where it was told in parts

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "Recording":
        """From the entries of one turn."""
        told, held, running = list[Settled](), list[Held](), dict[int, Running]()
        left: tuple[Settled, ...] = ()
        cuts = list[Cut]()
        budget, limit = None, ""
        for entry in entries:
            match entry:
                case Began():
                    budget = entry.budget
                case Running():
                    running[entry.call] = entry
                case Settled():
                    told.append(entry)
                    running.pop(entry.call, None)
                case Held():
                    held.append(entry)
                case Yielded():
                    cuts.append(Cut(told=entry.told, words=entry.words))
                case Ended():
                    left, limit = entry.left, entry.ending.limit
                    for one in left:
                        running.pop(one.call, None)
                    never = {one.call for one in left}
                    told = [one for one in told if one.call not in never]  # on record, and the time was over before it was told
                case _:
                    pass
        return cls(
            told=tuple(told), left=left, unsure=tuple(running.values()), held=tuple(held), budget=budget,
            out_of_time=limit in (OUT_OF_TIME, STOPPED), stopped=limit == STOPPED, cuts=tuple(cuts),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """Run a script with these outcomes. `missing`: what becomes of a call that is not on record, `unsure` of one that was running
    when its process ended. `live`: tools run too, and what they give is compared; the script is told what is on record.
    """

    recording: Recording
    missing: Missing = "refuse"
    unsure: Missing = "refuse"
    live: bool = False
    goes_on: bool = False  # the rest of an interrupted turn: what is played is on record already

    @property
    def runs_tools(self) -> bool:
        return self.live or self.goes_on or "run" in (self.missing, self.unsure)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRecorded:
    """A call of the script that the recording does not have."""

    number: int
    tool: str
    site: Site
    arguments: Arguments

    @property
    def identity(self) -> Identity:
        return identity_of(self.tool, self.site, self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A recorded outcome beside the one that the tool gives now."""

    recorded: Settled
    now: Outcome
    volatile: tuple[str, ...] = ()  # members of the result that differ each time


@dataclass(slots=True, kw_only=True)
class Played:
    """What a replay found: calls that are not on record, recorded ones that nobody made, live outcomes beside recorded ones.
    `stubborn`: those that did not stop when they were cancelled.
    """

    missing: list[NotRecorded] = field(default_factory=list)
    unused: list[Settled] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    stubborn: list[str] = field(default_factory=list)


def identity(call: Settled | Running) -> Identity:
    return identity_of(call.tool, call.site, call.arguments)
