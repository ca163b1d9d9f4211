"""A program in a process group of its own: started, read, waited for, stopped, and never left behind.

The group is what is signalled, so children and grandchildren end with their leader; only a program that makes a session of its
own (setsid) leaves the group. Rule: whoever starts a group awaits `end()` in a finally; after it, the leader is reaped, the group
is dead and every descriptor is closed, also when the call was cancelled.
"""

import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias

import anyio

_READ_BYTES = 65_536  # what a pipe of Linux holds
_SWEEPS = 16  # of a pipe that was made as large as Linux lets it
_DRAIN_SECONDS = 0.25  # for output that is still on its way when the leader is gone
_DYING_SECONDS = 5.0  # until a killed program is gone; only one that hangs in the kernel takes longer
_POLL_SECONDS = 0.02  # where the system has no descriptors of processes

Sink: TypeAlias = Callable[[bytes], Awaitable[bool]]  # False: no more, end it
Input: TypeAlias = IO[bytes] | Literal["none", "pipe"]


@dataclass(frozen=True, slots=True)
class Ended:
    exit_code: int  # of a leader that a signal ended: 128 + its number, as shells say it
    signal: str | None
    timed_out: bool
    full: bool  # a sink said no more
    left: bool  # the leader ended before other processes of its group, which were killed


class Group:
    def __init__(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], given: Input = "none", apart: bool = False
    ) -> None:
        """Starts at once, without waiting: nothing can be cancelled between the start and the first line that guards it.

        Raises OSError when the program cannot be started. `apart`: stderr in a pipe of its own.
        """
        opened: list[int] = []
        try:
            outputs = [_pipe(opened) for _ in range(2 if apart else 1)]
            stdin = _pipe(opened) if given == "pipe" else None
            self._popen = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env=dict(environment),
                stdin=stdin[0] if stdin else subprocess.DEVNULL if isinstance(given, str) else given,
                stdout=outputs[0][1],
                stderr=outputs[-1][1],
                start_new_session=True,
            )
        except BaseException:
            _close(opened)
            raise
        self.pid = self._popen.pid
        self.outputs = tuple(read for read, _ in outputs)
        self.stdin = stdin[1] if stdin else None
        _close([write for _, write in outputs] + ([stdin[0]] if stdin else []))
        for fd in (*self.outputs, *(() if self.stdin is None else (self.stdin,))):
            os.set_blocking(fd, False)
        self._pidfd = _pidfd(self.pid)
        self._ended = False
        self.left = False

    async def exited(self) -> None:
        """Until the leader is gone. It is not reaped yet, so its number still means this group and no other. One may wait."""
        if self._pidfd is not None:
            await anyio.wait_readable(self._pidfd)
            return
        while self._popen.poll() is None:  # noqa: ASYNC110 - no event tells it there
            await anyio.sleep(_POLL_SECONDS)

    def has_exited(self) -> bool:
        if self._popen.returncode is not None:
            return True
        if self._pidfd is None:
            return self._popen.poll() is not None
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def signal(self, number: signal.Signals) -> None:
        if self._ended:
            return
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass  # gone, or (macOS) only zombies are left

    async def end(self) -> None:
        """Kill what is left of the group, reap the leader, close. Not to be cancelled; done once."""
        if self._ended:
            return
        try:
            with anyio.CancelScope(shield=True):
                if not self.has_exited():
                    self.signal(signal.SIGKILL)
                    with anyio.move_on_after(_DYING_SECONDS):
                        await self.exited()
        finally:  # a loop that is torn down cancels through every shield
            self._finish()

    def _finish(self) -> None:
        self._popen.poll()
        # The leader's number goes to no other group while one of its own is there; signal 0 only asks.
        try:
            os.killpg(self.pid, 0)
            self.left = _any_alive(self.pid)
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self._ended = True
        self.close_stdin()
        _close([*self.outputs, *([] if self._pidfd is None else [self._pidfd])])

    def close_stdin(self) -> None:
        if self.stdin is not None:
            anyio.notify_closing(self.stdin)
            os.close(self.stdin)
            self.stdin = None

    @property
    def returncode(self) -> int | None:
        return self._popen.returncode


async def attend(group: Group, sinks: Sequence[Sink], *, timeout_seconds: float, grace_seconds: float) -> Ended:
    """Feed what it prints to the sinks until it ends, is too slow, or a sink is full; then end the group, whatever happens."""
    gone = anyio.Event()
    over = anyio.Event()  # it is gone, or a sink is full
    closed = [anyio.Event() for _ in sinks]
    full = False

    async def watch() -> None:
        await group.exited()
        gone.set()
        over.set()

    async def pump(fd: int, sink: Sink, done: anyio.Event) -> None:
        nonlocal full
        while data := await _read(fd):
            if not await sink(data):
                full = True
                over.set()
                break
        done.set()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            for fd, sink, done in zip(group.outputs, sinks, closed, strict=True):
                tasks.start_soon(pump, fd, sink, done)
            with anyio.move_on_after(timeout_seconds):
                await over.wait()
            timed_out = not over.is_set()
            if timed_out:
                group.signal(signal.SIGTERM)
                with anyio.move_on_after(grace_seconds):
                    await gone.wait()
            if not gone.is_set():
                group.signal(signal.SIGKILL)
                with anyio.move_on_after(_DYING_SECONDS):
                    await gone.wait()
            # A child that outlives its leader may hold the pipe open for ever: nobody waits for it longer than the drain.
            with anyio.move_on_after(_DRAIN_SECONDS):
                for done in closed:
                    await done.wait()
            tasks.cancel_scope.cancel()
        # On a busy machine the drain may be over before the pumps had their turn: what is in the pipes by now is taken.
        for fd, sink in zip(group.outputs, sinks, strict=True):
            full = full or not await _sweep(fd, sink)
    finally:
        await group.end()
    code = group.returncode
    number = -code if code is not None and code < 0 else 0
    return Ended(
        exit_code=124 if timed_out else 128 + number if number else code if code is not None else 255,
        signal=_name(number) if number else None,
        timed_out=timed_out,
        full=full,
        left=group.left,
    )


async def _read(fd: int) -> bytes:
    """The next bytes; none at the end."""
    while True:
        await anyio.wait_readable(fd)
        try:
            return os.read(fd, _READ_BYTES)
        except BlockingIOError:
            continue  # woken for nothing
        except OSError:
            return b""


async def _sweep(fd: int, sink: Sink) -> bool:
    """What is there without waiting, at most what pipes hold: somebody may go on writing."""
    for _ in range(_SWEEPS):
        try:
            data = os.read(fd, _READ_BYTES)
        except OSError:
            return True
        if not data:
            return True
        if not await sink(data):
            return False
    return True


def _pipe(opened: list[int]) -> tuple[int, int]:
    """Reading and writing end; neither is inherited but where it is named."""
    pair = os.pipe()
    opened.extend(pair)
    return pair


def _close(descriptors: Sequence[int]) -> None:
    for fd in descriptors:
        os.close(fd)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None  # not Linux, or a kernel that does not let us


def _any_alive(group: int) -> bool:
    """Is a member of the group more than a zombie that nobody has reaped? Where there is no /proc, it is taken to be."""
    if not Path("/proc/self/stat").exists():
        return True
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state, _, of_group = (process / "stat").read_bytes().rpartition(b") ")[2].split()[:3]
        except (OSError, ValueError):
            continue  # gone meanwhile
        if int(of_group) == group and state not in (b"Z", b"X"):
            return True
    return False


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
