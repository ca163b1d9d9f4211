"""Sessions in memory: for tests, and for agents that keep their own record. Bounded: of old turns only the texts stay.

Entries are kept as they are and written down only when somebody asks: a turn pays nothing for its record.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from harness.entries import Ended, Entry, Settled
from harness.store import By, NoSession, Query, SessionBusy, SessionRow, StoreFailed, Sums
from harness.store.appending import copied, encoded
from harness.store.lines import Kept, Line, MissingValue
from harness.store.scanning import matching, row_of, summed

_MOST_BYTES = 256 * 1024 * 1024  # of values in the turns that are kept whole, as the ledger counts them


class MemoryStore:
    def __init__(self, *, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most_bytes
        self._held: dict[str, _Held] = {}
        self._whole: list[tuple[str, int, int]] = []  # session, place, bytes: of entries with all their values, the oldest first
        self._bytes = 0

    async def write(self, session: str, *, at: float) -> "MemoryWriter":
        held = self._held.setdefault(session, _Held(session))
        if held.writer is not None:
            raise SessionBusy(f"session {session} is being written already; close that one first, or take another id")
        held.writer = MemoryWriter(self, held)
        return held.writer

    def entries(self, session: str) -> tuple[Entry, ...]:
        """As they were appended."""
        held = self._held.get(session)
        return () if held is None else tuple(held.entries)

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        kept = self._of(session).kept()
        return kept[after : None if most is None else after + most]

    async def sessions(self, query: Query = Query()) -> Sequence[SessionRow]:  # noqa: B008 - frozen
        """Looked at in the order of the list, and no further than it goes."""
        newest = sorted((held for held in self._held.values() if held.entries), key=_Held.opened, reverse=True)
        found = (row_of(kept) for held in newest if matching(kept := held.kept(), query))
        return list(islice(found, query.skip, None if query.most is None else query.skip + query.most))

    async def sums(self, by: By, query: Query = Query()) -> Sequence[Sums]:  # noqa: B008 - frozen
        return summed([held.kept() for held in self._held.values() if held.entries and matching(held.kept(), query)], by)

    async def remove(self, session: str) -> None:
        if self._of(session).writer is not None:
            raise SessionBusy(f"session {session} is being written; close it before it is removed")
        del self._held[session]
        self._whole = [row for row in self._whole if row[0] != session]
        self._bytes = sum(size for _, _, size in self._whole)

    async def close(self) -> None:
        """Nothing to do: what is in memory goes with it."""

    def _of(self, session: str) -> "_Held":
        held = self._held.get(session)
        if held is None or not held.entries:
            raise NoSession(f"no session {session} is kept here")
        return held

    def _count(self, held: "_Held", place: int, size: int) -> None:
        self._whole.append((held.session, place, size))
        self._bytes += size
        while self._bytes > self._most and len(self._whole) > 1:
            session, old, gone = self._whole.pop(0)
            self._bytes -= gone
            self._held[session].slim(old)


class MemoryWriter:
    def __init__(self, store: MemoryStore, held: "_Held") -> None:
        self._store = store
        self._held = held

    @property
    def last(self) -> Line | None:
        kept = self._held.kept()
        return kept[-1].line if kept else None

    async def append(self, *entries: Entry) -> None:
        if self._held.writer is not self:
            raise StoreFailed(f"session {self._held.session} is closed; open it again to append")
        for entry in entries:
            self._held.entries.append(entry)
            size = _size(entry)
            if size:
                self._store._count(self._held, len(self._held.entries) - 1, size)

    async def copy(self, kept: Sequence[Kept]) -> None:
        lines, blobs = copied(kept, self.last)
        self._held.take(lines, blobs, [one.entry(self._held.session) for one in kept])

    async def close(self) -> None:
        if self._held.writer is self:
            self._held.writer = None


class _Held:
    """One session: its entries, and its lines as far as somebody has asked for them."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.entries: list[Entry] = []
        self.writer: MemoryWriter | None = None
        self._lines: list[Line] = []
        self._blobs: dict[str, bytes] = {}

    def opened(self) -> tuple[float, str]:
        """By which lists are in order."""
        return round(self.entries[0].at, 6), self.session

    def kept(self) -> list[Kept]:
        new = self.entries[len(self._lines) :]
        if new:
            lines, blobs = encoded(new, self._lines[-1] if self._lines else None)
            self._lines += lines
            self._blobs |= blobs
        return [Kept(line, self._blob) for line in self._lines]

    def take(self, lines: Sequence[Line], blobs: dict[str, bytes], entries: Sequence[Entry]) -> None:
        self._lines += lines
        self._blobs |= blobs
        self.entries += entries

    def slim(self, place: int) -> None:
        """Texts, items, notices and ledgers stay; values go. Its lines are written down anew: they are other lines now."""
        entry = self.entries[place]
        if isinstance(entry, Settled):
            self.entries[place] = replace(entry, outcome=replace(entry.outcome, value=None))
        elif isinstance(entry, Ended):
            self.entries[place] = replace(entry, said=())
        self._lines, self._blobs = [], {}

    def _blob(self, sha: str) -> bytes:
        try:
            return self._blobs[sha]
        except KeyError:
            raise MissingValue(f"the value {sha[:12]}… has made room for newer ones") from None


def _size(entry: Entry) -> int:
    """Bytes of the values that can be dropped later."""
    if isinstance(entry, Settled):
        return entry.outcome.size
    return entry.ledger.produced if isinstance(entry, Ended) else 0
