"""Conflict: a call runs when nothing it could disturb, or be disturbed by, is before it in the order of the script.

Keys are names. Two names of one file by links are one resource here, and whoever writes the rules by which folders are listed and
searched writes all that is below. Links are followed when the script makes the call.
"""

import posixpath
from collections.abc import Callable, Iterator

from catalog import Effects
from harness.call import Call, Outcome, Proceed
from harness.lanes import Lanes

_RULES = (".gitignore", ".ignore", ".rgignore", ".gitattributes")


class Conflict:
    """For one turn; the lanes are the session's. A call has its place from `admit` to `leave`."""

    def __init__(self, lanes: Lanes, real: Callable[[str], str] | None = None) -> None:
        """real: of a key, the key of what its name leads to."""
        self._lanes = lanes
        self._real = real
        self._places: dict[int, int] = {}
        self._parked: set[int] = set()

    def admit(self, call: Call) -> Outcome | None:
        place = self._places[call.number] = self._lanes.enter(self._held(call.effects))
        if call.number in self._parked:
            self._lanes.park(place)
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        await self._lanes.wait(self._places[call.number])
        return await proceed(call)

    def leave(self, call: Call) -> None:
        """The call is over, whatever became of it."""
        place = self._places.pop(call.number, None)
        if place is not None:
            self._lanes.leave(place)

    def park(self, call: Call) -> None:
        """Before it is admitted here: it will wait for a person first, and needs no place meanwhile."""
        self._parked.add(call.number)

    def unpark(self, call: Call) -> None:
        self._parked.discard(call.number)
        self._lanes.unpark(self._places[call.number])

    def _held(self, effects: Effects) -> Effects:
        reads, writes = (tuple(dict.fromkeys(self._names(keys))) for keys in (effects.reads, effects.writes))
        ruled = (f"tree:{folder}" for folder in map(_ruled, writes) if folder)
        return Effects(effects.effect, reads, (*writes, *ruled))

    def _names(self, keys: tuple[str, ...]) -> Iterator[str]:
        for key in keys:
            yield key
            if self._real is not None:
                yield self._real(key)


def _ruled(key: str) -> str:
    """The folder whose rules this file holds; "" for any other key."""
    folder, name = posixpath.split(key.removeprefix("file:"))
    return folder or "." if key.startswith("file:") and name in _RULES else ""
