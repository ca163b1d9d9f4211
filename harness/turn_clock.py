"""The wall time of a turn, which stands still while a person is asked and nothing else runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio

REPLAY_SECONDS: Final = 60.0  # a replay needs none of it; a script that waits for what is not on record ends all the same


class TurnClock:
    """`replayed`: the recording says when the time is over, and a slow machine does not."""

    def __init__(self, seconds: float, *, replayed: bool = False, now: Callable[[], float] = anyio.current_time) -> None:
        self._now = now
        self.seconds = seconds
        self._left = max(seconds, REPLAY_SECONDS) if replayed else seconds
        self.scope = anyio.CancelScope(deadline=now() + self._left)
        self._began = now()
        self._asking = self._working = 0
        self._since: float | None = None  # it stands still since then
        self.waited_seconds = 0.0  # for persons
        self.stopped = False  # by the agent

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A person is asked. Several may pause at once; the clock goes on with the last, or while a tool works."""
        self._asking += 1
        self._set()
        try:
            yield
        finally:
            self._asking -= 1
            self._set()

    @contextmanager
    def working(self) -> Iterator[None]:
        """A tool works: a call that waits for a person is no free time for others."""
        self._working += 1
        self._set()
        try:
            yield
        finally:
            self._working -= 1
            self._set()

    def _set(self) -> None:
        stands = bool(self._asking) and not self._working
        if stands and self._since is None:
            self._since = self._now()
            self._left = max(0.0, self.scope.deadline - self._since)
            self.scope.deadline = float("inf")
        elif not stands and self._since is not None:
            self.waited_seconds += self._now() - self._since
            self.scope.deadline = self._now() + self._left
            self._since = None

    def expire(self) -> None:
        """The turn's time is over, as it was when it was recorded."""
        self.scope.cancel()

    def stop(self) -> None:
        """The agent has no use for the rest of the script."""
        self.stopped = True
        self.scope.cancel()

    def left_seconds(self) -> float:
        return self._left if self._since is not None else max(0.0, self.scope.deadline - self._now())

    def spent_seconds(self) -> float:
        """Without the time that persons took."""
        waiting = self._now() - self._since if self._since is not None else 0.0
        return self._now() - self._began - self.waited_seconds - waiting
