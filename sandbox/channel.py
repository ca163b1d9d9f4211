"""Whole frames over a non-blocking socket, under asyncio or trio. The peer is a worker, and is not trusted."""

import socket

import anyio

from sandbox.errors import WireError
from sandbox.wire import EVENTS, OUTWARD_MAX, READY, USES, FrameError, FrameReader


class Channel:
    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._reader = FrameReader(READY + USES + EVENTS, OUTWARD_MAX)
        self._waiting = False
        self._frames: list[tuple[bytes, memoryview]] = []

    def close(self) -> None:
        if self._waiting:
            anyio.notify_closing(self._socket)  # whoever waits learns of it now, not at its deadline
        self._socket.close()

    async def send(self, pieces: list[bytes]) -> None:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                try:
                    view = view[self._socket.send(view) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._socket)

    async def receive(self, kind: bytes) -> memoryview:
        """The next frame, which must be of this kind. EOFError when the worker is gone."""
        while True:
            body = self.received(kind)
            if body is not None:
                return body
            self._waiting = True
            try:
                await anyio.wait_readable(self._socket)
            finally:
                self._waiting = False
            self._pull()

    def received(self, kind: bytes) -> memoryview | None:
        """The next frame if it is here already; None otherwise."""
        if not self._frames:
            self._pull()
        if not self._frames:
            return None
        got, body = self._frames.pop(0)
        if got != kind or self._frames:  # one reply to one ask: whatever is more was never asked for
            raise WireError("a frame that was not asked for")
        return body

    def _pull(self) -> None:
        try:
            count = self._socket.recv_into(self._reader.space())
        except BlockingIOError:
            return
        if not count:
            raise EOFError
        try:
            self._frames += self._reader.filled(count)
        except FrameError as error:
            raise WireError(str(error)) from None
