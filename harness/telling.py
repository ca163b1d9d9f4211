"""In which order a script is told of the outcomes of its calls, and what its clock and budget say then.

Live: as they come, all that are ready together. Replayed: in the recorded order, with the recorded clock and budget; an outcome
that is ready too early is held back. A script is a function of what it is told in which order, so this is what makes it repeat.
"""

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import time
from typing import Protocol

from harness.call import Outcome
from harness.entries import Settled
from harness.identity import Arguments, Identity, identity_of
from harness.recording import Recording, identity
from sandbox import BUILTINS, Budget, Site


@dataclass(frozen=True, slots=True)
class Cue:
    """The script is told of this call now."""

    call: int
    now: float | None
    budget: Budget | None
    recorded: bool = False  # as a recording says


class Telling(Protocol):
    def start(self) -> Budget | None:
        """What is left when the script starts."""

    def made(self, call: int, tool: str, site: Site, arguments: Arguments) -> Settled | None:
        """The script made this call. Gives the recorded answer to one of the host's own; `cancelled`: it never came."""

    def next(self, ready: Collection[int], shown: int) -> list[Cue]:
        """Which of the ready calls are told now; none: wait for others. `shown`: bytes so far."""

    def over(self, waiting: Collection[int], ready: Collection[int]) -> bool:
        """Will none of those that the script waits for ever be told? Then the turn's time is over."""


class AsTheyCome:
    def __init__(self, budget: Callable[[int], Budget], *, now: Callable[[], float] = time) -> None:
        self._budget = budget
        self._now = now

    def start(self) -> Budget | None:
        return self._budget(0)

    def made(self, call: int, tool: str, site: Site, arguments: Arguments) -> Settled | None:
        return None

    def next(self, ready: Collection[int], shown: int) -> list[Cue]:
        now, budget = self._now() * 1000, self._budget(shown)
        return [Cue(call, now, budget) for call in ready]

    def over(self, waiting: Collection[int], ready: Collection[int]) -> bool:
        return False


class AsRecorded:
    """`then`: what comes when all that is on record has been told, and for calls that are not on record. `patient`: a sleep that
    is not on record is slept; else nobody waits for it.
    """

    def __init__(self, recording: Recording, then: AsTheyCome, *, patient: bool = True) -> None:
        self._patient = patient
        self._queue = deque((identity(one), one) for one in recording.told)
        self._queued = {asked for asked, _ in self._queue}
        self._answers = {asked: one for asked, one in self._queue if one.tool in BUILTINS}
        self._left = {identity(one): one for one in recording.left}
        self._answers |= {identity(one): one for one in recording.left if one.tool in BUILTINS}
        self._budget = recording.budget
        self._out_of_time = recording.out_of_time
        self._then = then
        self._made: dict[Identity, int] = {}
        self._asked: dict[int, Identity] = {}
        self._unused: list[Settled] = []

    def start(self) -> Budget | None:
        return self._budget or self._then.start()

    def made(self, call: int, tool: str, site: Site, arguments: Arguments) -> Settled | None:
        asked = self._asked[call] = identity_of(tool, site, arguments)
        self._made[asked] = call
        if tool == "sleep" and asked not in self._answers and not self._patient:
            slept = Outcome(status="returned", by="host")
            return Settled(session="", at=0.0, turn=0, call=call, tool=tool, site=site, arguments=arguments, outcome=slept)
        return self._answers.get(asked) if tool in BUILTINS else None

    def next(self, ready: Collection[int], shown: int) -> list[Cue]:
        cues = self._recorded(ready)
        if cues or (self._queue and self._made.get(self._queue[0][0]) is not None):
            return cues  # what comes next on record was made and is on its way
        # From here on the script, or its calls, are not those of the recording, or all of it has been told.
        strangers = [call for call in ready if self._asked[call] not in self._queued and self._asked[call] not in self._left]
        if strangers:
            return self._then.next(strangers, shown)
        while ready and self._queue and self._made.get(self._queue[0][0]) not in ready:
            self._unused.append(self._taken())
        return self._recorded(ready)

    def over(self, waiting: Collection[int], ready: Collection[int]) -> bool:
        if not waiting:  # before the start
            return self._out_of_time and not self._queue and not self._left
        if self._queue or any(self._asked[call] not in self._left for call in waiting):
            return False
        return all(call in ready for call in waiting if self._left[self._asked[call]].outcome.status != "cancelled")

    def rest(self) -> list[Settled]:
        """Recorded calls that nobody made."""
        return [*self._unused, *(one for _, one in self._queue)]

    def _recorded(self, ready: Collection[int]) -> list[Cue]:
        """What comes next on record and was told together, by one clock: none of it before all of it is ready. A script that ends
        with the first of two is told of the second all the same, or not, as it was.
        """
        cues: list[Cue] = []
        for asked, one in self._queue:
            call = self._made.get(asked)
            if call is None or (cues and one.now != cues[0].now):
                break
            if call not in ready:
                return []
            cues.append(Cue(call, one.now, one.budget, recorded=True))
        for _ in cues:
            self._taken()
        return cues

    def _taken(self) -> Settled:
        asked, first = self._queue.popleft()
        self._queued.discard(asked)
        self._made.pop(asked, None)
        return first
