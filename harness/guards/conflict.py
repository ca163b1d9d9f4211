"""Conflict: a call runs when nothing it could disturb, or be disturbed by, is before it in the order of the script."""

from harness.call import Call, Outcome, Proceed
from harness.lanes import Lanes


class Conflict:
    """For one turn; the lanes are the session's. A call has its place from `admit` to `leave`."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._places: dict[int, int] = {}
        self._parked: set[int] = set()

    def admit(self, call: Call) -> Outcome | None:
        place = self._places[call.number] = self._lanes.enter(call.effects)
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
