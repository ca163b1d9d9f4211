"""PostgreSQL for `kills.py`: a real server, as durable as it comes, that is killed too in a share of the rounds.

SIGKILL to the postmaster and to all its children at once, while the last transaction of the dead client may be under way; then a
start that recovers. What the operating system had not written to the disk yet survives this, as it does for the other stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.store.jsonl import Durability
from tests.postgres import PostgresServer

EVERY = 3  # kills of a client to one of the server


@dataclass(frozen=True, slots=True)
class Postgresql:
    address: str
    server: PostgresServer
    durability: Durability = "fsync"

    def strike(self, kill: int) -> bool:
        if kill % EVERY:
            return False
        self.server.kill()
        self.server.start()
        return True


@contextmanager
def subject(folder: Path) -> Iterator[Postgresql]:
    """An empty database on a server of its own; its files are where the path of a socket is short, not in the folder."""
    server = PostgresServer(durable=True)
    try:
        with server.database(migrated=False) as address:
            yield Postgresql(address, server)
    finally:
        server.remove()
