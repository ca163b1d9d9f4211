"""Entries in memory: for tests and for agents that keep their own record. Bounded: of old turns only the texts stay."""

from collections.abc import Sequence
from dataclasses import replace

from harness.entries import Entry, Turned

_MOST_BYTES = 256 * 1024 * 1024  # of values in the turns that are kept whole, as the ledger counts them


class MemoryStore:
    def __init__(self, *, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most_bytes
        self._entries: dict[str, list[Entry]] = {}
        self._whole: list[tuple[str, int, int]] = []  # session, place, bytes: of turns with all their values, the oldest first
        self._bytes = 0

    async def append(self, entry: Entry) -> None:
        entries = self._entries.setdefault(entry.session, [])
        entries.append(entry)
        if isinstance(entry, Turned):
            size = entry.outcome.ledger.produced + entry.outcome.ledger.result_bytes
            self._whole.append((entry.session, len(entries) - 1, size))
            self._bytes += size
            while self._bytes > self._most and len(self._whole) > 1:
                self._slim(*self._whole.pop(0))

    async def load(self, session: str) -> Sequence[Entry]:
        return tuple(self._entries.get(session, ()))

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def _slim(self, session: str, place: int, size: int) -> None:
        """Its text, items, notices and ledger stay; the values of its events and calls go."""
        entry = self._entries[session][place]
        self._bytes -= size
        if isinstance(entry, Turned):
            calls = tuple(
                replace(record, call=None, outcome=replace(record.outcome, value=None)) for record in entry.outcome.calls
            )
            slim = replace(entry.outcome, events=entry.outcome.events[-1:], settled=(), calls=calls)
            self._entries[session][place] = replace(entry, outcome=slim)
