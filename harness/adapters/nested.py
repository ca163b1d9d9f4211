"""A script's own calls, told to the agent's framework while the script runs: in order, by a function that may wait.

A watch must not wait, and frameworks' callbacks do. So what happens is put in line, and told by a task beside the agent's call.
"""

import math
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import Final, TypeAlias, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from harness.dispatch import attempted
from harness.watching import CallBegan, CallEnded, Happened

T = TypeVar("T")
Nested: TypeAlias = CallBegan | CallEnded
Tell: TypeAlias = Callable[[Nested], Awaitable[None]]
_Line: TypeAlias = MemoryObjectSendStream[Nested]
_KEPT: Final = 1_000  # of what happened while the agent called nothing; older ones go
_MINE: ContextVar[_Line | None] = ContextVar("turnscript_nested", default=None)  # tasks of the script inherit it


class NestedCalls:
    """A watch: `harness.session(watch=nested)`. What a script that goes on does between two calls of the agent is told with the
    second.
    """

    def __init__(self) -> None:
        self._open: list[_Line] = []
        self._late: deque[Nested] = deque(maxlen=_KEPT)

    def __call__(self, happened: Happened) -> None:
        if not isinstance(happened, CallBegan | CallEnded):
            return
        mine = _MINE.get()
        if mine is not None and mine in self._open:
            mine.send_nowait(happened)
        elif self._open:
            self._open[-1].send_nowait(happened)
        else:
            self._late.append(happened)

    async def told(self, work: Callable[[], Awaitable[T]], tell: Tell) -> T:
        """Do the work, and tell what scripts do meanwhile; all of it is told when this returns."""
        line, out = anyio.create_memory_object_stream[Nested](math.inf)
        while self._late:
            line.send_nowait(self._late.popleft())
        self._open.append(line)
        token = _MINE.set(line)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_telling, out, tell)
            try:
                ended = await attempted(work)  # an exception leaves the group as it is, not in a group
            finally:
                _MINE.reset(token)
                self._open.remove(line)
                line.close()
        if isinstance(ended, Exception):
            raise ended
        return ended


async def _telling(out: MemoryObjectReceiveStream[Nested], tell: Tell) -> None:
    with out:
        async for happened in out:
            await attempted(partial(tell, happened))  # a listener that breaks is not heard
