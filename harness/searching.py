"""Where in a session a text stands: the line, and the turn. Found in what `Query.text` is found in, in any case."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import anyio.to_thread

from harness.entries import Began, Ended, Entry, Item, Message
from harness.rollouts import reading
from harness.store import Store
from harness.store.lines import Kept
from harness.store.scanning import facts_of, folded

PAGE_LINES: Final = 2_048  # without big values: those are fetched line by line


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    turn: int  # 0: before or between turns
    where: str  # script, shown, or who said it
    line: int  # of that text, from 1
    text: str


async def hits(store: Store, session: str, text: str) -> list[Hit]:
    """One for each line of the session's texts. A text of several lines is found by the line on which it begins."""
    found: list[Hit] = []
    after = 0
    while page := await store.load(session, after=after, most=PAGE_LINES):
        found += await anyio.to_thread.run_sync(_hits_in, page, session, folded(text))
        after = page[-1].line.seq
    return found


def _hits_in(page: Sequence[Kept], session: str, wanted: str) -> list[Hit]:
    found: list[Hit] = []
    for kept in page:
        if kept.line.type in ("began", "ended", "message", "item"):
            entry = kept.entry(session)
            found += [
                Hit(turn=kept.line.turn, where=_where(entry), line=number, text=line)
                for text in facts_of(entry).texts
                for number, line in _lines_with(text, wanted)
            ]
    return found


def _lines_with(text: str, wanted: str) -> Iterator[tuple[int, str]]:
    whole, lines = folded(text), text.split("\n")
    at, before, number = whole.find(wanted), 0, 1
    while at >= 0:
        number += whole.count("\n", before, at)
        yield number, lines[number - 1]
        end = whole.find("\n", at)
        if end < 0:
            return
        at, before = whole.find(wanted, end + 1), at


def _where(entry: Entry) -> str:
    match entry:
        case Began():
            return "script"
        case Ended():
            return "shown"
        case Message():
            return entry.role
        case Item():
            return reading(entry).role or entry.kind
        case _:
            return entry.type
