"""The shell while it is open: its settings, its root, and the processes that run in the background until it closes.

Rule: nothing starts before `prepared` has judged it; closing kills and reaps every process that is still there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Self

import anyio
import orjson
from anyio import to_thread
from anyio.abc import TaskGroup
from pydantic import BaseModel, ConfigDict, Field

from catalog import Host, ToolProblem
from tool_packs.background import Background
from tool_packs.launch import DENIED, HANDED_ON, Launch, argv_of, environment_of, folder_of
from tool_packs.refusals import refusal
from tool_packs.root import Root
from tool_packs.safe_paths import leads_outside
from tool_packs.spool import decoded, head_and_tail

LONGEST_SECONDS = 300.0  # the time of a whole turn
_REMEMBERED = 32  # processes that have ended
_JSON_TIMES = 3  # a result may take so many times its bytes as JSON: 12 MiB of the 16 that reach a script


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    shell: str = "bash"
    timeout_seconds: float = Field(default=60.0, gt=0, le=LONGEST_SECONDS)
    grace_seconds: float = Field(default=1.0, ge=0, le=30)  # between SIGTERM and SIGKILL
    handed_on: tuple[str, ...] = HANDED_ON  # names or patterns of the host's variables that programs get
    denied: tuple[str, ...] = DENIED  # and of those that they never get
    result_bytes_max: int = Field(default=4_194_304, ge=1_024)  # of output in one result: JSON of it stays below 16 MiB
    kept_bytes_max: int = Field(
        default=33_554_432, ge=1_024
    )  # a command that prints more is ended; a background one is kept to here
    unread_bytes_max: int = Field(default=1_048_576, ge=1_024)  # of a background process between two polls
    processes_max: int = Field(default=8, ge=0)  # running in the background at once
    refusals: bool = True  # point to patch and files.read where the shell is the worse tool


@dataclass(frozen=True, slots=True)
class Fitted:
    """Output as a result carries it."""

    text: str
    handle: str | None  # of the whole, when the text is cut
    lossy: bool


class Shell:
    """The root, the settings, and the processes in the background. `async with` it to start those; they end with it."""

    def __init__(self, root: Path, settings: Settings | None = None, host: Host | None = None) -> None:
        self.settings = settings or Settings()
        self.host = host or Host(root=root)
        self.root = Root(root)
        self.processes: dict[str, Background] = {}
        self._last = 0
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._tasks is not None
        tasks, self._tasks = self._tasks, None
        tasks.cancel_scope.cancel()
        try:
            await tasks.__aexit__(None, None, None)  # an error of the block stays itself instead of one in a group
        finally:
            for background in self.processes.values():
                await background.group.end()
            self.root.close()

    async def prepared(self, command: str | Sequence[str], cwd: str, env: Mapping[str, str] | None) -> Launch:
        """Judged and found, before anything starts."""
        return await to_thread.run_sync(partial(self._prepare, command, cwd, env or {}))

    def _prepare(self, command: str | Sequence[str], cwd: str, env: Mapping[str, str]) -> Launch:
        settings = self.settings
        argv = argv_of(command, settings.shell)
        folder = folder_of(self.root, cwd)
        outside = None if env else leads_outside(command, root=str(self.root.path), cwd=self.root.relative(cwd))
        if outside is not None:
            raise ToolProblem(
                "outside_root", f"{outside} leads out of the root by a link, so the command was not run",
                hint="read what is below the root, or ask a person for that file", data={"path": outside},
            )  # fmt: skip
        if settings.refusals:
            found = refusal(command, self._size, root=str(self.root.path), cwd=self.root.relative(cwd))
            if found is not None:
                raise ToolProblem(found.code, found.message, hint=found.hint, data={"path": found.path})
        given = environment_of(self.host.environment, env, handed_on=settings.handed_on, denied=settings.denied)
        return Launch(tuple(argv), folder, given)

    def _size(self, path: str) -> int | None:
        try:
            found = self.root.stat(path)
        except ToolProblem:
            return None
        return found.st_size if S_ISREG(found.st_mode) else None

    def begin(self, launch: Launch, command: str, cwd: str) -> Background:
        if self._tasks is None:
            raise RuntimeError("open the shell first: async with Shell(…) as shell")
        running = [each for each in self.processes.values() if each.ended is None]
        if len(running) >= self.settings.processes_max:
            named = ", ".join(f"{each.id} ({each.command[:40]})" for each in running)
            raise ToolProblem(
                "too_many_processes",
                f"{len(running)} processes run in the background, which is the most: {named}",
                hint='end one with tools.shell.stop({id: "…"})',
                data={"running": [each.id for each in running], "most": self.settings.processes_max},
            )
        group = launch.start(given="pipe")
        self._last += 1
        background = Background(
            f"p{self._last}", command, cwd, group, ring_bytes=self.settings.unread_bytes_max,
            most_bytes=self.settings.kept_bytes_max, keep=partial(self.host.results.keep, label=command[:80]),
        )  # fmt: skip
        self.processes[background.id] = background
        for each in [each for each in self.processes.values() if each.ended is not None][:-_REMEMBERED]:
            del self.processes[each.id]
        self._tasks.start_soon(background.attend)
        return background

    def found(self, number: str) -> Background:
        background = self.processes.get(number)
        if background is not None:
            return background
        running = [f"{each.id} ({each.command[:40]})" for each in self.processes.values() if each.ended is None]
        raise ToolProblem(
            "unknown_process",
            f"there is no process {number!r}",
            hint=f"running: {', '.join(running)}" if running else "none is running; start one with tools.shell.start",
            data={"id": number, "known": list(self.processes)},
        )

    async def fitted(self, data: bytes, label: str) -> Fitted:
        """Whole when it fits; else head and tail around a line that says what is missing, and the whole under a handle."""
        most = self.settings.result_bytes_max
        whole = await to_thread.run_sync(decoded, data)
        if len(data) <= most and _fits(whole.text, most):
            return Fitted(whole.text, None, whole.lossy)
        handle = self.host.results.keep(whole.text, label=label)
        part = most
        while True:
            head, tail = head_and_tail(data, part)
            cut = f'[… {len(data) - len(head) - len(tail):,} of {len(data):,} bytes left out; all of it: recall("{handle}") …]'
            text = f"{decoded(head).text}\n{cut}\n{decoded(tail).text}"
            if _fits(text, most):
                return Fitted(text, handle, whole.lossy)
            part //= 2


def _fits(text: str, most: int) -> bool:
    """A control character takes six bytes in JSON; text that is far from the limit is not measured."""
    return len(text) * 6 <= most or len(orjson.dumps(text)) <= _JSON_TIMES * most
