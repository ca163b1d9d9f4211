"""The wall time of a turn, which stands still while a person is asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio


class TurnClock:
    def __init__(self, seconds: float, *, now: Callable[[], float] = anyio.current_time) -> None:
        self._now = now
        self.seconds = seconds
        self.scope = anyio.CancelScope(deadline=now() + seconds)
        self._began = now()
        self._left = seconds
        self._paused = 0
        self.waited_seconds = 0.0  # for persons

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Several may pause at once; the clock goes on with the last."""
        if self._paused == 0:
            self._left = max(0.0, self.scope.deadline - self._now())
            self.scope.deadline = float("inf")
            self._since = self._now()
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1
            if self._paused == 0:
                self.waited_seconds += self._now() - self._since
                self.scope.deadline = self._now() + self._left

    def left_seconds(self) -> float:
        return self._left if self._paused else max(0.0, self.scope.deadline - self._now())

    def spent_seconds(self) -> float:
        """Without the time that persons took."""
        waiting = self._now() - self._since if self._paused else 0.0
        return self._now() - self._began - self.waited_seconds - waiting
