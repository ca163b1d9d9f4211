"""Where entries go: one small protocol."""

from collections.abc import Sequence
from typing import Protocol

from harness.entries import Entry


class Store(Protocol):
    async def append(self, entry: Entry) -> None:
        """When it returns, the entry is kept."""

    async def load(self, session: str) -> Sequence[Entry]:
        """All entries of a session, oldest first."""
