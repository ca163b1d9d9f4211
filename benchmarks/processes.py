"""Facts about processes, read from /proc. Linux only; a process that is gone, or closed to us, is None."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    state: str  # "Z" is a zombie
    started: int  # clock ticks since boot: with the pid, a name that is never used twice
    rss_bytes: int


def read_process(pid: int) -> Process | None:
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the command may hold spaces and brackets
    return Process(pid, int(fields[1]), fields[0], int(fields[19]), int(fields[21]) * PAGE_BYTES)


def descendants(root: int) -> list[Process]:
    """Children, their children and so on, oldest first."""
    below: dict[int, list[Process]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (process := read_process(int(entry.name))):
            below.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [root]
    while parents:
        children = below.get(parents.pop(), [])
        found += children
        parents += [child.pid for child in children]
    return sorted(found, key=lambda process: process.started)


def pss_bytes(pid: int) -> int | None:
    """The share of memory that is this process's own; None when the kernel does not let us read it."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), None)


def open_descriptors() -> int:
    return len(list((PROC / "self" / "fd").iterdir())) - 1  # the listing itself holds one
