"""Which calls may run at the same time: reads together, a write alone on its resource, in the order of the script.

A call takes its place when the script makes it. It waits for every earlier call that touches what it writes, or writes what it
touches, and then, in order, for one of the places that run at once. Unknown effects (`*`) touch everything, so such a call is a
barrier.
"""

from dataclasses import dataclass, field

import anyio

from catalog import Effects
from catalog.effects import overlap


@dataclass(slots=True, eq=False)
class _Ticket:
    effects: Effects
    blockers: set[int]
    parked: bool = False  # it waits for a person: holds its resources, but no place
    runs: bool = False
    go: anyio.Event = field(default_factory=anyio.Event)


class Lanes:
    """One for a session: a call that outlived its turn still holds what it touches."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._tickets: dict[int, _Ticket] = {}
        self._last = 0
        self._running = 0

    def enter(self, effects: Effects) -> int:
        """Take the next place in order; gives its number, to be left again whatever becomes of the call."""
        blockers = {number for number, other in self._tickets.items() if conflict(other.effects, effects)}
        self._last += 1
        self._tickets[self._last] = _Ticket(effects, blockers)
        return self._last

    def leave(self, number: int) -> None:
        ticket = self._tickets.pop(number, None)
        if ticket is None:
            return
        self._running -= ticket.runs
        for other in self._tickets.values():
            other.blockers.discard(number)
        self._let_run()

    def park(self, number: int) -> None:
        self._tickets[number].parked = True

    def unpark(self, number: int) -> None:
        self._tickets[number].parked = False
        self._let_run()

    async def wait(self, number: int) -> None:
        """Until it is this call's turn; it runs from here to its `leave`."""
        ticket = self._tickets[number]
        self._let_run()
        if not ticket.runs:
            await ticket.go.wait()

    def _let_run(self) -> None:
        for ticket in self._tickets.values():
            if self._running >= self._at_once:
                return
            if not (ticket.runs or ticket.blockers or ticket.parked):
                ticket.runs = True
                self._running += 1
                ticket.go.set()


def conflict(one: Effects, other: Effects) -> bool:
    return any(_meet(a, b) for a in one.writes for b in (*other.reads, *other.writes)) or any(
        _meet(a, b) for a in one.reads for b in other.writes
    )


def _meet(one: str, other: str) -> bool:
    """Also a name and one below it: who writes `d/x` may make the folder `d`, and changes what is told of it."""
    return overlap(one, other) or _is_above(one, other) or _is_above(other, one)


def _is_above(folder: str, key: str) -> bool:
    if not (folder.startswith("file:") and key.startswith("file:")):
        return False
    return key.startswith(folder.rstrip("/") + "/") or (folder == "file:." and not key.startswith(("file:/", "file:../")))
