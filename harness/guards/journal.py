"""Journal: a call that writes, or acts outside, is on record before it runs. After a crash it is known that it may have run.

Where nothing can be put on record any more, nothing acts any more.
"""

from collections.abc import Awaitable, Callable

from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told
from harness.store import StoreError

Running = Callable[[Call], Awaitable[None]]


class Journal:
    """For one turn."""

    def __init__(self, running: Running) -> None:
        self._running = running

    def admit(self, call: Call) -> Outcome | None:
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        if acts(call):
            try:
                await self._running(call)
            except StoreError as error:
                return refused("journal", told("not_on_record", tool=call.name, why=error))
        return await proceed(call)


def acts(call: Call) -> bool:
    """Does it leave traces, so that running it twice is not the same as once?"""
    return bool(call.effects.writes) or call.effects.effect not in ("pure", "reads")
