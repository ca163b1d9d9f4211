"""The parent half: warm workers, deadlines, kills, replacements.

A fresh process a script is the default: workers are forked ahead of need and thrown away after use. With `reuse` a worker
serves the scripts of one session, each with a fresh engine, and never those of another. A script's clock runs only while
the engine has the word. Whatever a worker does, it can end only its own script.
"""

import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import anyio
from anyio.abc import TaskGroup

from sandbox import lockdown
from sandbox.box import Sandbox
from sandbox.errors import Misuse, Unavailable, WireError
from sandbox.launch import Worker, Zygote
from sandbox.limits import Limits
from sandbox.wire import EVENTS, READY

if TYPE_CHECKING:
    from sandbox.local import LocalSandbox

Isolation = Literal["locked", "process", "in_process"]

READY_SECONDS = 10.0  # from fork to READY; a millisecond is usual
SCRIPTS_PER_WORKER = 500
RESIDENT_MAX_BYTES = 256 * 1024 * 1024
ZYGOTE_TRIES = 3


class Pool:
    """Gives out sandboxes. An async context manager; everything it started is gone when it exits."""

    def __init__(
        self,
        *,
        workers: int = 2,
        at_once: int = 64,
        reuse: bool = False,
        isolation: Isolation = "locked",
        limits: Limits | None = None,
        wait: bool = True,
    ) -> None:
        """`workers`: spares kept warm. `at_once`: scripts that may be open together; more wait. `limits`: the most a script gets.
        `wait`: entering it waits until workers can be had; else `ready` and the first sandbox do, and what else there is to do
        goes on meanwhile.

        `isolation`: "locked" refuses to start unless every layer this system is meant to have holds; "process" takes a worker
        with whatever layers hold; "in_process" has no worker at all.
        """
        if workers < 1 or at_once < 1:
            raise Misuse("a pool needs at least one worker and one place")
        self._spares_wanted = min(workers, at_once)
        self._places = anyio.Semaphore(at_once)
        self._reuse = reuse
        self._isolation = isolation
        self._wait = wait
        self._ceiling = limits or Limits()
        self._spares: deque[Worker] = deque()
        self._kept: OrderedDict[str, Worker] = OrderedDict()
        self._at_once = at_once
        self._zygote: Zygote | None = None
        self._early: Zygote | None = None
        self._retired: set[Zygote] = set()  # renewed, but with workers that still serve
        self._renewing = False
        self._starting = anyio.Lock()
        self._tasks: TaskGroup
        self._stack = AsyncExitStack()

    def start_early(self) -> Self:
        """Start the zygote's process now, before there is an event loop: its start and the loop's then overlap. Optional."""
        if self._isolation != "in_process" and self._early is None:
            self._early = self._new_zygote()
        return self

    async def __aenter__(self) -> Self:
        if self._isolation == "in_process":
            return self
        self.start_early()
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        if self._wait:
            try:
                await self.ready()
            except BaseException:
                await self._close()
                raise
        return self

    async def ready(self) -> None:
        """Wait until workers can be had. Unavailable says what is missing on this machine."""
        if self._isolation != "in_process" and self._zygote is None:
            await self._living_zygote()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._isolation != "in_process":
            await self._close()

    async def _close(self) -> None:
        for worker in (*self._spares, *self._kept.values()):
            worker.channel.close()
        for zygote in (self._zygote, self._early, *self._retired):
            if zygote is not None:
                await zygote.close()
        self._zygote = self._early = None
        self._tasks.cancel_scope.cancel()
        await self._stack.aclose()

    @property
    def zygote_pid(self) -> int:
        return self._zygote.pid if self._zygote is not None else 0

    @property
    def self_test(self) -> int:
        """1 when the lock-down was seen to hold at the start, 0 when not, -1 where there is none to test."""
        return self._zygote.self_test if self._zygote is not None else 0

    # ------------------------------------------------------------ giving out

    @asynccontextmanager
    async def sandbox(self, session: str = "") -> "AsyncIterator[Sandbox | LocalSandbox]":
        """One script's sandbox. On leaving, the script is over, whatever state it was in."""
        if self._isolation == "in_process":
            from sandbox.local import LocalSandbox  # brings the engine into this process, which a pool of workers does without

            yield LocalSandbox()
            return
        async with self._places:
            box = Sandbox(await self._take(session), self._ceiling)
            try:
                yield box
            finally:
                self._release(box, session)

    def forget(self, session: str) -> None:
        """End the worker kept for a session (only with `reuse`)."""
        worker = self._kept.pop(session, None)
        if worker is not None:
            worker.kill()

    async def _take(self, session: str) -> Worker:
        kept = self._kept.pop(session, None)
        if kept is not None:
            if _lives(kept):
                return kept
            kept.kill()
        for _ in range(ZYGOTE_TRIES):
            zygote = self._zygote
            if zygote is None or not zygote.alive:
                zygote = await self._living_zygote()
            worker = self._spares.popleft() if self._spares else zygote.fork()
            if not self._spares:
                self._refill()  # otherwise on release: a fork now would take a core from the script
            if await self._is_ready(worker):
                return worker
            worker.kill()
        raise Unavailable("no sandbox worker could be started; type: turnscript doctor")

    async def _is_ready(self, worker: Worker) -> bool:
        try:
            said = worker.channel.received(READY)
            if said is None:
                with anyio.move_on_after(READY_SECONDS):
                    said = await worker.channel.receive(READY)
        except (EOFError, OSError, WireError, anyio.ClosedResourceError):
            return False
        except BaseException:
            worker.kill()
            raise
        if said is None:
            return False
        rows = [row.split("\t") for row in bytes(said).decode("utf-8", "replace").split("\n")]
        if any(len(row) != 3 for row in rows):
            return False
        worker.layers = tuple((name, state, reason) for name, state, reason in rows)
        self._refuse_if_open(worker)
        return True

    def _refuse_if_open(self, worker: Worker) -> None:
        if self._isolation != "locked":
            return
        absent = lockdown.missing([lockdown.Layer(*layer) for layer in worker.layers])
        if absent:
            worker.kill()
            told = "; ".join(f"{name} is {state} ({reason})" for name, state, reason in absent)
            raise Unavailable(f'the sandbox is not locked down: {told}; to run anyway, choose isolation="process"')

    def _release(self, box: Sandbox, session: str) -> None:
        worker = box.worker
        worker.scripts += 1
        if box.crashed and worker.zygote is self._zygote:
            self._renew()
        if self._reuse and session and worker.alive and box.idle and not self._worn_out(worker):
            if session in self._kept:
                worker.kill()
            else:
                self._kept[session] = worker
                if len(self._kept) > self._at_once:
                    self._kept.popitem(last=False)[1].kill()
        else:
            worker.kill()
        self._refill()

    def _worn_out(self, worker: Worker) -> bool:
        return worker.scripts >= SCRIPTS_PER_WORKER or (
            worker.scripts % 16 == 0 and resident_bytes(worker.pid) > RESIDENT_MAX_BYTES
        )

    def _refill(self) -> None:
        if self._zygote is not None and self._zygote.alive:
            while len(self._spares) < self._spares_wanted:
                self._spares.append(self._zygote.fork())

    # ------------------------------------------------------------ zygotes

    async def _living_zygote(self) -> Zygote:
        async with self._starting:  # of several that find it dead, one starts the next
            if self._zygote is None or not self._zygote.alive:
                self._drop_spares()
                await self._start_zygote()
            assert self._zygote is not None
            return self._zygote

    async def _start_zygote(self) -> None:
        zygote, self._early = self._early or self._new_zygote(), None
        self._tasks.start_soon(zygote.watch)
        try:
            await zygote.wait_ready()
            if self._isolation == "locked" and zygote.self_test == 0:
                raise Unavailable(
                    "the sandbox's self-test failed: a locked-down process could still open a file; "
                    'type: turnscript doctor; to run anyway, choose isolation="process"'
                )
        except BaseException:
            await zygote.close()
            raise
        old, self._zygote = self._zygote, zygote
        self._drop_spares()
        self._refill()
        if old is not None:
            self._retired.add(old)
            self._tasks.start_soon(self._retire, old)

    def _new_zygote(self) -> Zygote:
        cpu_seconds = math.ceil(self._ceiling.engine_seconds) + 2
        if self._reuse:
            cpu_seconds *= SCRIPTS_PER_WORKER
        return Zygote(self._ceiling.heap_bytes, cpu_seconds, reuse=self._reuse)

    async def _retire(self, zygote: Zygote) -> None:
        await zygote.retire()
        self._retired.discard(zygote)

    def _drop_spares(self) -> None:
        for worker in self._spares:
            worker.kill()
        self._spares.clear()

    def _renew(self) -> None:
        """After a crash: forks share one memory layout, so the next ones come from a new zygote."""
        if not self._renewing:
            self._renewing = True
            self._tasks.start_soon(self._renew_now)

    async def _renew_now(self) -> None:
        try:
            await self._start_zygote()
        except Unavailable:
            pass  # the old one still serves; the next crash tries again
        finally:
            self._renewing = False


def _lives(worker: Worker) -> bool:
    """Is a worker that was left idle still there, and silent as it should be?"""
    try:
        return worker.channel.received(EVENTS) is None
    except (EOFError, OSError, WireError):
        return False


def resident_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError):
        return 0
