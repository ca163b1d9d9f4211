"""The process that `kills.py` kills: it appends entries whose content follows from their number, and tells each that is kept."""

from __future__ import annotations

import math
import random
from functools import partial
from multiprocessing.connection import Connection

import anyio

from harness.call import Outcome
from harness.entries import Entry, Facts, Message, Opened, Settled
from harness.store.jsonl import Durability
from harness.store.opening import open_store
from sandbox import Site

AT = 1_763_467_200.0
SMALLEST, BIGGEST = 50, 3_000_000


def entry_of(session: str, seq: int, seed: int) -> Entry:
    """The content follows from the number: half of them big values, half of them texts in the line."""
    dice = random.Random(f"{seed} {session} {seq}")
    size = int(math.exp(dice.uniform(math.log(SMALLEST), math.log(BIGGEST))))
    text = dice.randbytes(size // 2).hex()
    if seq == 1:
        return Opened(session=session, at=AT, facts=Facts(model="killed"))
    if dice.random() < 0.5:
        return Message(session=session, at=AT + seq, role="user", text=text)
    outcome = Outcome(status="returned", value={"text": text, "seq": seq}, size=size)
    return Settled(
        session=session, at=AT + seq, turn=1, call=seq, tool="files.read", site=Site(1, 1, seq), arguments={}, outcome=outcome
    )


def size_of(entry: Entry) -> int:
    return len(entry.text) if isinstance(entry, Message) else entry.outcome.size if isinstance(entry, Settled) else 0


def append_forever(address: str, durability: Durability, session: str, seed: int, told: Connection) -> None:
    anyio.run(partial(_append, address, durability, session, seed, told))


async def _append(address: str, durability: Durability, session: str, seed: int, told: Connection) -> None:
    store = await open_store(address, durability=durability)
    writer = await store.write(session, at=AT)
    while True:
        seq = 1 if writer.last is None else writer.last.seq + 1
        await writer.append(entry_of(session, seq, seed))
        assert writer.last is not None
        told.send_bytes(f"{seq} {writer.last.digest}".encode())
