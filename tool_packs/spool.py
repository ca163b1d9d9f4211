"""What a program prints, kept within bounds: in memory while it is short, then in a file without a name.

Memory holds a megabyte whatever is printed; the file ends at its cap. Text is UTF-8: other bytes are replaced, and that is told.
"""

import tempfile
from dataclasses import dataclass
from typing import IO

from anyio import to_thread

_IN_MEMORY_BYTES = 1_048_576
_NEAR_BYTES = 4_096  # how far a cut moves to stand between two lines


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    lossy: bool  # bytes that are no UTF-8 were replaced


class Spool:
    def __init__(self, *, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.total = 0  # bytes printed, kept or not
        self._parts: list[bytes] = []
        self._waiting = 0
        self._file: IO[bytes] | None = None

    @property
    def kept(self) -> int:
        return min(self.total, self.most_bytes)

    async def add(self, data: bytes) -> bool:
        """False when it was more than is kept."""
        room = self.most_bytes - self.total
        self.total += len(data)
        if room <= 0:
            return False
        self._parts.append(data[:room])
        self._waiting += min(room, len(data))
        if self._waiting > _IN_MEMORY_BYTES:
            await to_thread.run_sync(self._to_file)
        return len(data) <= room

    async def read(self) -> bytes:
        """All that was kept."""
        if self._file is None:
            return b"".join(self._parts)
        return await to_thread.run_sync(self._whole)

    def close(self) -> None:
        self._parts.clear()
        if self._file is not None:
            self._file.close()

    def _to_file(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the spool
        self._file.writelines(self._parts)
        self._parts.clear()
        self._waiting = 0

    def _whole(self) -> bytes:
        self._to_file()
        assert self._file is not None
        self._file.seek(0)
        data = self._file.read()
        self._file.seek(0, 2)
        return data


def decoded(data: bytes) -> Text:
    try:
        return Text(data.decode(), lossy=False)
    except UnicodeDecodeError:
        return Text(data.decode(errors="replace"), lossy=True)


def head_and_tail(data: bytes, most_bytes: int) -> tuple[bytes, bytes]:
    """The beginning and the end of it, cut between lines where one ends near, else between characters."""
    half = most_bytes // 2
    head, tail = data[:half], data[-half:]
    line = head.rfind(b"\n") + 1
    head = head[: line if line > max(0, half - _NEAR_BYTES) else len(head) - _broken(head)]
    line = tail.find(b"\n") + 1
    if 0 < line < min(_NEAR_BYTES, len(tail)):
        return head, tail[line:]
    return head, tail[next((index for index in range(min(4, len(tail))) if tail[index] & 0xC0 != 0x80), 0) :]


def _broken(data: bytes) -> int:
    """Bytes at the end that begin a character without ending it."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            wanted = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if wanted > back else 0
    return 0
