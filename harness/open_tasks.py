"""The tasks of one turn. They live in the session's task group, so that a turn can end although one of them does not stop."""

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup


class OpenTasks:
    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._open: dict[int, tuple[str, anyio.CancelScope]] = {}
        self._last = 0
        self._changed = anyio.Event()
        self._over = False

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """It is open from now on, and not only when it first runs: `end` waits for it."""
        self._last += 1
        scope = anyio.CancelScope()
        self._open[self._last] = (name, scope)
        if self._over:
            scope.cancel()
        self._group.start_soon(self._run, self._last, scope, work)

    async def _run(self, number: int, scope: anyio.CancelScope, work: Callable[[], Awaitable[None]]) -> None:
        with scope:
            try:
                await work()
            finally:
                del self._open[number]
                self._changed.set()

    async def end(self, grace_seconds: float) -> list[str]:
        """Cancel what is open; gives the names of those that have not stopped within the grace."""
        self._over = True
        for _, scope in self._open.values():
            scope.cancel()
        with anyio.CancelScope(shield=True), anyio.move_on_after(grace_seconds):
            while self._open:
                self._changed = anyio.Event()
                await self._changed.wait()
        return [name for name, _ in self._open.values()]
