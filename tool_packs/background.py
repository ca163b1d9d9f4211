"""A program that goes on between calls: what it prints waits, bounded, until it is polled.

A ring holds what was not read yet; when it overflows the oldest bytes go and are counted. The whole text goes to a spool and,
at the end, under a handle. Rule: `attend()` owns the group; everybody else only signals it and waits for `changed`.
"""

import os
import signal
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable

import anyio

from tool_packs.processes import Ended, Group, attend
from tool_packs.spool import Spool

_FOREVER = float("inf")


class Ring:
    """Bytes in order; the oldest give way."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._parts: deque[bytes] = deque()
        self.held = 0
        self.dropped = 0  # since the last take

    def add(self, data: bytes) -> None:
        self._parts.append(data)
        self.held += len(data)
        while self.held > self._most:
            over = self.held - self._most
            first = self._parts.popleft()
            if len(first) > over:
                self._parts.appendleft(first[over:])
            gone = min(over, len(first))
            self.held -= gone
            self.dropped += gone

    def take(self) -> tuple[bytes, int]:
        """What is held, and how much was dropped before it."""
        taken = b"".join(self._parts), self.dropped
        self._parts.clear()
        self.held = self.dropped = 0
        return taken


class Background:
    def __init__(
        self, number: str, command: str, cwd: str, group: Group, *, ring_bytes: int, most_bytes: int,
        keep: Callable[[str], str],
    ) -> None:  # fmt: skip
        self.id = number
        self.command = command
        self.cwd = cwd
        self.group = group
        self.pid = group.pid
        self.started = anyio.current_time()
        self.stopped_at: float | None = None
        self.ended: Ended | None = None
        self.handle: str | None = None
        self.lossy = False
        self.ring = Ring(ring_bytes)
        self._spool = Spool(most_bytes=most_bytes)
        self._keep = keep
        self._changed = anyio.Event()
        self._writing = anyio.Lock()
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")

    @property
    def seconds(self) -> float:
        return (self.stopped_at if self.stopped_at is not None else anyio.current_time()) - self.started

    @property
    def exit_code(self) -> int | None:
        return None if self.ended is None else self.ended.exit_code

    @property
    def signal(self) -> str | None:
        return None if self.ended is None else self.ended.signal

    async def attend(self) -> None:
        """Until it ends by itself or is stopped; a cancelled one is killed."""
        try:
            ended = await attend(self.group, [self._take_in], timeout_seconds=_FOREVER, grace_seconds=0)
            data = await self._spool.read()
            text = data.decode(errors="replace")
            if self._spool.total > len(data):
                text += f"\n[… {self._spool.total - len(data):,} bytes after these were not kept …]\n"
            self.handle = self._keep(text) if data else None
            self.stopped_at = anyio.current_time()
            self.ended = ended
        finally:
            self._spool.close()
            self._tell()

    async def wait(self, seconds: float) -> None:
        """Until there is something to read, or it has ended, or the time is over."""
        with anyio.move_on_after(seconds):
            while not self.ring.held and self.ended is None:
                await self._changed.wait()

    async def wait_end(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            while self.ended is None:
                await self._changed.wait()
        return self.ended is not None

    async def stop(self, grace_seconds: float) -> None:
        self.group.signal(signal.SIGTERM)
        if not await self.wait_end(grace_seconds):
            self.group.signal(signal.SIGKILL)
            await self.wait_end(_FOREVER)

    def read(self) -> tuple[str, int]:
        """What it printed since the last reading; the bytes of a character that is not whole yet stay behind."""
        data, dropped = self.ring.take()
        text = self._decoder.decode(data, final=self.ended is not None)
        self.lossy |= "\ufffd" in text and b"\xef\xbf\xbd" not in data
        return text, dropped

    async def write(self, data: bytes) -> bool:
        """False when it has closed its stdin."""
        async with self._writing:
            while data:
                fd = self.group.stdin
                if fd is None:
                    return False
                try:
                    await anyio.wait_writable(fd)
                    data = data[os.write(fd, data) :]
                except BlockingIOError:
                    continue
                except (BrokenPipeError, anyio.ClosedResourceError):
                    return False
        return True

    async def _take_in(self, data: bytes) -> bool:
        self.ring.add(data)
        self._tell()
        await self._spool.add(data)
        return True  # a server that prints much is not ended for it

    def _tell(self) -> None:
        told, self._changed = self._changed, anyio.Event()
        told.set()
