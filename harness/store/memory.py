"""Entries in memory: for tests and for agents that keep their own record."""

from collections.abc import Sequence

from harness.entries import Entry


class MemoryStore:
    def __init__(self) -> None:
        self._entries: dict[str, list[Entry]] = {}

    async def append(self, entry: Entry) -> None:
        self._entries.setdefault(entry.session, []).append(entry)

    async def load(self, session: str) -> Sequence[Entry]:
        return tuple(self._entries.get(session, ()))

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(self._entries)
