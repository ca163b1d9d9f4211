"""A turn that goes on while the agent does something else: it asks from time to time what is new, or stops it.

The script runs in a task of the session, one at a time. Leaving the session ends it.
"""

from collections.abc import Awaitable, Callable
from functools import partial

import anyio

from harness.dispatch import attempted
from harness.outcome import TurnOutcome
from harness.parts import Part, Parts
from harness.turn_clock import TurnClock


class Going:
    """Made by `Session.begin`. `after`: the one begun before it, whose turn is before this one's."""

    def __init__(self, run: Callable[["Going"], Awaitable[TurnOutcome]], *, after: "Going | None" = None) -> None:
        self._run_it = run
        self._after = after
        self._scope = anyio.CancelScope()
        self._over = anyio.Event()
        self._started = anyio.Event()
        self._outcome: TurnOutcome | None = None
        self._error: Exception | None = None
        self._parts: Parts | None = None
        self._clock: TurnClock | None = None
        self._stopped = False
        self.turn = 0  # its number, from when it has started

    @property
    def over(self) -> bool:
        return self._over.is_set()

    async def wait(self, seconds: float) -> TurnOutcome | Part | None:
        """The outcome, if the script ends within this time; else what it has shown since it was last asked, None for nothing."""
        with anyio.move_on_after(seconds):
            await self._over.wait()
        if self._parts is not None and self._parts.over:
            await self._over.wait()  # all is said; it is being put on record
        if self.over:
            return self._result()
        return None if self._parts is None else await self._parts.cut()

    async def begun(self) -> None:
        """Wait for its turn."""
        await self._started.wait()

    async def stop(self) -> TurnOutcome:
        """End the script now; one that waits for its turn does nothing then. What it has shown, and did, is told as ever."""
        self._stopped = True
        if self._clock is not None and not self.over:
            self._clock.stop()
        await self._over.wait()
        return self._result()

    def cancel(self) -> None:
        """As if the agent had cancelled `Session.run`: the turn has no outcome."""
        self._scope.cancel()

    async def run(self) -> None:
        """In a task of the session. What goes wrong is for the one who waits."""
        try:
            with self._scope:
                if self._after is not None:  # tasks start in any order
                    await self._after.begun()
                    self._after = None
                ended = await attempted(partial(self._run_it, self))
                self._outcome, self._error = (None, ended) if isinstance(ended, Exception) else (ended, None)
        finally:
            self._started.set()
            self._over.set()

    def started(self, turn: int, parts: Parts, clock: TurnClock) -> None:
        """By the session, when it is this turn's turn."""
        self.turn, self._parts, self._clock = turn, parts, clock
        if self._stopped:
            clock.stop()
        self._started.set()

    def _result(self) -> TurnOutcome:
        if self._error is not None:
            raise self._error
        if self._outcome is None:
            raise RuntimeError("the turn was cancelled")
        return self._outcome
