"""Is a session as it was written? The chain of its lines is computed anew, and every big value is read.

Whoever can write to a store can also write a whole chain anew, or cut off its end: that shows only against a digest that was
kept elsewhere. `Verdict.head` is the one to keep.
"""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

import anyio.to_thread

from harness.entries import Entry, Opened
from harness.store.lines import START, BadLine, Blob, Kept, Line, first_break

PAGE_LINES: Final = 2_048  # without big values: those are fetched line by line
_PAGE_ENTRIES: Final = 256
_DIGEST = re.compile("[0-9a-f]{64}")
Watch: TypeAlias = Callable[[Line, int], None]  # a good line, and its bytes with the big values that it is the first to name


class Loading(Protocol):
    """The part of a store that is needed to read a session."""

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`lines`, `values`, `bytes` and `head` tell of the part before the first broken line."""

    session: str
    lines: int = 0
    values: int = 0
    bytes: int = 0  # of lines and values, as they were before any compression
    head: str = ""  # the digest of the newest line
    kept: int = 0  # the line that has the digest which was asked for
    broken: str = ""  # what is wrong; "" when nothing is
    line: int = 0  # the broken one
    type: str = ""
    turn: int = 0

    @property
    def good(self) -> bool:
        return not self.broken


async def checked_entries(store: Loading, session: str) -> AsyncGenerator[Entry, None]:
    """All entries, oldest first, as far as the chain holds: BadLine names the first line that is not as it was written."""
    so_far = Verdict(session=session)
    while page := await store.load(session, after=so_far.lines, most=_PAGE_ENTRIES):
        for kept in page:
            line = kept.line
            broken = first_break([line], before=so_far.head or START, after=so_far.lines)
            if broken:
                raise BadLine(broken)
            entry = kept.entry(session)
            if entry.session != session:
                raise BadLine(f"line {line.seq} ({line.type}) is of session {entry.session!r}, not of {session}")
            so_far = replace(so_far, lines=line.seq, head=line.digest)
            yield entry


async def verify(store: Loading, session: str, *, head: str = "", watch: Watch | None = None) -> Verdict:
    """`head`: a digest that was kept elsewhere; some line must have it. NoSession; ValueError for what is no digest."""
    if head and not _DIGEST.fullmatch(head):
        raise ValueError(f"{head!r} is no digest: 64 characters of 0 to 9 and a to f, as verify prints it")
    verdict, values, most = Verdict(session=session), _Values(), PAGE_LINES
    while verdict.good:
        try:
            page = await store.load(session, after=verdict.lines, most=most)
        except BadLine as error:
            if most == 1:
                return replace(verdict, broken=str(error), line=verdict.lines + 1)
            most //= 2  # a line before the unreadable one may be broken too, and the first is named
            continue
        if page:
            verdict = await anyio.to_thread.run_sync(_judged, page, verdict, values, head, watch)
        if len(page) < most:
            break
    if head and verdict.good and not verdict.kept:
        told = f"no line has the digest {head[:12]}… that was kept: lines were cut off the end, or all were written anew"
        return replace(verdict, broken=told, line=verdict.lines + 1)
    return verdict


def _judged(page: Sequence[Kept], verdict: Verdict, values: "_Values", head: str, watch: Watch | None) -> Verdict:
    for kept in page:
        line, before = kept.line, values.bytes
        wrong = _wrong(Kept(line, values.noted(kept.blob)), verdict)
        if wrong:
            return replace(verdict, broken=wrong, line=verdict.lines + 1, type=line.type, turn=line.turn)
        size = len(line.to_bytes()) + 1 + values.bytes - before
        found = line.seq if line.digest == head else verdict.kept
        verdict = replace(
            verdict, lines=line.seq, values=len(values.seen), bytes=verdict.bytes + size, head=line.digest, kept=found
        )
        if watch is not None:
            watch(line, size)
    return verdict


def _wrong(kept: Kept, so_far: Verdict) -> str:
    line = kept.line
    broken = first_break([line], before=so_far.head or START, after=so_far.lines)
    if broken:
        return broken
    try:
        entry = kept.entry(so_far.session)
    except BadLine as error:
        told = str(error)
        return told if told.startswith("line ") else f"line {line.seq} ({line.type}): {told}"
    if isinstance(entry, Opened) and entry.session != so_far.session:
        return f"line {line.seq} (opened) is of session {entry.session}, not of {so_far.session}"
    return ""


class _Values:
    """The big values that were read: each counts once."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.bytes = 0

    def noted(self, blob: Blob) -> Blob:
        def read(sha: str) -> bytes:
            data = blob(sha)
            if sha not in self.seen:
                self.seen.add(sha)
                self.bytes += len(data)
            return data

        return read
