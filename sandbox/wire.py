"""Frames between host and worker: a four-byte length, one byte of kind, a body. Sans-IO.

The reader trusts nothing: a length beyond the cap or an unknown kind raises before the body is waited for.
Host to worker: OUTLINE (limits, source), START (limits, source, facts) and DELIVER (settlements). Worker to host: READY, USES
(the answer to OUTLINE) and EVENTS.
Light imports only: a zygote loads this before it forks.
"""

import struct

OUTLINE, START, DELIVER = b"O", b"S", b"D"
READY, USES, EVENTS = b"R", b"U", b"E"
EXIT_MEMORY = 71  # a worker's exit code: even Python ran out, the address space is used up
EXIT_FRAME = 72  # and this one: the host sent what it never sends

_LENGTH = struct.Struct(">I")
_START = struct.Struct(">dQQQI")
_COUNT = struct.Struct(">I")

_USUAL_BYTES = 16 * 1024
INWARD_MAX = 192 * 1024 * 1024  # to the worker: a batch of results of 16 MiB each
OUTWARD_MAX = 36 * 1024 * 1024  # to the host: an outbox of 8 Mi characters, in UTF-8, a result, and the envelope


class FrameError(Exception):
    """What arrived is not a frame."""


class Ask:
    """One visit of the engine: everything it needs to outline or start a script, or to go on with one."""

    __slots__ = ("count", "heap", "jobs", "kind", "seconds", "source", "stack", "text")

    def __init__(
        self, kind: bytes, *, text: bytes, source: bytes = b"", count: int = 0,
        seconds: float = 0.0, heap: int = 0, stack: int = 0, jobs: int = 0,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.text = text
        self.source = source
        self.count = count
        self.seconds = seconds
        self.heap = heap
        self.stack = stack
        self.jobs = jobs

    def frame(self) -> list[bytes]:
        """In pieces: a large text is not copied once more only to stand behind its header."""
        if self.kind != DELIVER:
            head = _START.pack(self.seconds, self.heap, self.stack, self.jobs, len(self.source)) + self.source
        else:
            head = _COUNT.pack(self.count)
        size = _LENGTH.pack(1 + len(head) + len(self.text))
        return [size + self.kind + head + self.text] if len(self.text) < _USUAL_BYTES else [size + self.kind + head, self.text]

    @classmethod
    def parse(cls, kind: bytes, body: memoryview) -> "Ask":
        if kind != DELIVER:
            seconds, heap, stack, jobs, size = _START.unpack_from(body)
            at = _START.size
            return cls(
                kind,
                source=bytes(body[at : at + size]),
                text=bytes(body[at + size :]),
                seconds=seconds,
                heap=heap,
                stack=stack,
                jobs=jobs,
            )
        (count,) = _COUNT.unpack_from(body)
        return cls(DELIVER, text=bytes(body[_COUNT.size :]), count=count)


def frame(kind: bytes, body: bytes) -> bytes:
    return _LENGTH.pack(len(body) + 1) + kind + body


class FrameReader:
    """Bytes in, whole frames out. A large frame is held once, in a buffer of its own size."""

    def __init__(self, kinds: bytes, most: int) -> None:
        self._kinds = kinds
        self._most = most
        self._buffer = bytearray(_USUAL_BYTES)
        self._held = 0
        self._wanted = 0  # length of the frame under way with its header, once known

    def space(self) -> memoryview:
        """Where the next bytes go; never empty."""
        return memoryview(self._buffer)[self._held :]

    def filled(self, count: int) -> list[tuple[bytes, memoryview]]:
        """So many bytes have been put there; gives the frames that are whole now, each valid for as long as it is held."""
        self._held += count
        frames: list[tuple[bytes, memoryview]] = []
        while self._held > _LENGTH.size and self._length() <= self._held:
            frames.append(self._take())
        return frames

    def feed(self, data: bytes) -> list[tuple[bytes, memoryview]]:
        frames: list[tuple[bytes, memoryview]] = []
        view = memoryview(data)
        while view:
            room = self.space()
            count = min(len(room), len(view))
            room[:count] = view[:count]
            room.release()
            frames += self.filled(count)
            view = view[count:]
        return frames

    def _length(self) -> int:
        if not self._wanted:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if not 1 <= length <= self._most:
                raise FrameError(f"a frame of {length} bytes; 1 to {self._most} are allowed")
            if self._buffer[4:5] not in self._kinds:
                raise FrameError(f"a frame of unknown kind {self._buffer[4]}")
            self._wanted = _LENGTH.size + length
            if self._wanted > len(self._buffer):
                self._buffer += bytes(self._wanted - len(self._buffer))
        return self._wanted

    def _take(self) -> tuple[bytes, memoryview]:
        whole, end = self._buffer, self._wanted
        rest = whole[end : self._held]
        self._buffer = rest + bytes(max(_USUAL_BYTES - len(rest), 0))
        self._held, self._wanted = len(rest), 0
        return bytes(whole[4:5]), memoryview(whole)[5:end]
