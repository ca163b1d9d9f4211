"""Work that outlives the script that started it: at most so many at once, the rest in a queue, each cancelled by its id.

All tasks live in one task group, and when that ends none is alive. A result is kept until it was read, then for a while.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Generic, Literal, TypeAlias, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel

from catalog import ToolProblem

Status: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
Made = TypeVar("Made")

UNREAD_MAX = 64  # queued, running, or finished and not read
READ_MAX = 64  # finished and read


@dataclass(slots=True, eq=False)
class Task(Generic[Made]):
    id: str
    label: str
    started_at: float
    status: Status = "queued"
    ended_at: float | None = None
    result: Made | None = None
    problem: ToolProblem | None = None
    read: bool = False
    finished: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Tasks(Generic[Made]):
    def __init__(self, group: anyio.abc.TaskGroup, *, at_once: int, clock: Callable[[], float]) -> None:
        self._group = group
        self._at_once = at_once
        self._running = 0
        self._waiting: deque[tuple[Task[Made], Callable[[], Awaitable[Made]]]] = deque()
        self._clock = clock
        self._tasks: dict[str, Task[Made]] = {}
        self._last = 0

    def start(self, work: Callable[[], Awaitable[Made]], *, label: str) -> Task[Made]:
        waiting = [task.id for task in self._tasks.values() if not task.read]
        if len(waiting) >= UNREAD_MAX:
            raise ToolProblem(
                "too_many_tasks",
                f"{len(waiting)} tasks are queued, running or not read yet; at most {UNREAD_MAX} may be",
                hint=f"read one with done, such as {waiting[0]}, or cancel one",
            )
        self._last += 1
        task: Task[Made] = Task(f"t{self._last}", label, self._clock())
        self._tasks[task.id] = task
        self._waiting.append((task, work))
        self._fill()
        return task

    def get(self, name: str) -> Task[Made]:
        task = self._tasks.get(name)
        if task is None:
            known = ", ".join(f"{one.id} ({one.status})" for one in self._tasks.values())
            near = get_close_matches(name, list(self._tasks), n=1)
            hint = (
                f"did you mean {near[0]}?"
                if near
                else "start gives the id of a task; finished ones are forgotten some time after they were read"
            )
            raise ToolProblem("unknown_task", f"there is no task {name!r}; there is {known or 'none'}", hint=hint)
        return task

    def all(self) -> list[Task[Made]]:
        return list(self._tasks.values())

    async def wait(self, name: str, seconds: float) -> Task[Made]:
        """The task, when it is finished or the time is over. A finished one counts as read."""
        task = self.get(name)
        with anyio.move_on_after(seconds):
            await task.finished.wait()
        if task.finished.is_set() and not task.read:
            task.read = True
            self._forget()
        return task

    def cancel(self, name: str) -> Task[Made]:
        """Ends it, wherever it is; a finished one stays as it is."""
        task = self.get(name)
        if not task.finished.is_set():
            task.scope.cancel()
            self._end(task, "cancelled")
            task.read = True
            self._forget()
        return task

    def _fill(self) -> None:
        """Start what has waited longest. The order is kept here, since a task group does not promise one."""
        while self._waiting and self._running < self._at_once:
            task, work = self._waiting.popleft()
            if not task.finished.is_set():
                self._running += 1
                task.status = "running"
                self._group.start_soon(self._run, task, work, name=f"task {task.id}")

    async def _run(self, task: Task[Made], work: Callable[[], Awaitable[Made]]) -> None:
        try:
            with task.scope:
                await anyio.lowlevel.checkpoint()  # cancelled before it began: the work is not begun
                try:
                    task.result = await work()
                    self._end(task, "done")
                except ToolProblem as problem:
                    task.problem = problem
                    self._end(task, "failed")
        finally:
            self._end(task, "cancelled")  # when nothing above ended it
            self._running -= 1
            self._fill()

    def _end(self, task: Task[Made], status: Status) -> None:
        if not task.finished.is_set():
            task.status = status
            task.ended_at = self._clock()
            task.finished.set()

    def _forget(self) -> None:
        read = [task.id for task in self._tasks.values() if task.read]
        for name in read[: max(0, len(read) - READ_MAX)]:
            del self._tasks[name]
