"""A disk whose power can fail afterwards: it writes down every write and sync, and makes the files that could be left of them.

What was not synced is lost or kept sector by sector, each for itself; a lost sector reads as zeros, and the end of the file may
be lost with it. Names of files are not lost here: that is what syncing a folder is for.
"""

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


@dataclass(slots=True)
class PowerDisk:
    """Real files, and what was done to them: (file, bytes it then has, whether that is safe)."""

    events: list[tuple[str, bytes | None]] = field(default_factory=list)  # bytes: written behind the end; None: synced

    def write(self, fd: int, data: bytes, /) -> int:
        self.events.append((_name(fd), data))
        return os.write(fd, data)

    def fdatasync(self, fd: int, /) -> None:
        self.events.append((_name(fd), None))

    def ftruncate(self, fd: int, length: int, /) -> None:
        raise AssertionError("nothing fails while it is recorded")

    def left_behind(self, count: int, dice: random.Random) -> dict[Path, bytes]:
        """The files when the power fails after so many events."""
        now: dict[str, bytes] = {}
        safe: dict[str, int] = {}
        for name, data in self.events[:count]:
            if data is None:
                safe[name] = len(now.get(name, b""))
            else:
                now[name] = now.get(name, b"") + data
        return {Path(name): _survived(content, safe.get(name, 0), dice) for name, content in now.items()}


def _name(fd: int) -> str:
    return os.readlink(f"/proc/self/fd/{fd}")


def _survived(content: bytes, safe: int, dice: random.Random) -> bytes:
    length = dice.choice([len(content), dice.randint(safe, len(content))])
    kept_share = dice.choice([0.1, 0.5, 0.9])
    left = bytearray(content[:length])
    for start in range(safe - safe % SECTOR, length, SECTOR):
        if dice.random() > kept_share:
            lost = slice(max(start, safe), min(start + SECTOR, length))
            left[lost] = bytes(lost.stop - lost.start)
    return bytes(left)
