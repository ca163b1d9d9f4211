"""From records to entries: which sessions stand in a file, what they are called, when each record was written, and in which turn.

A file of records is one session. A document is one too: its list gives the items, the rest of it the item "document" before
them, so that it can be put together again. Times and ids come from the source; what it does not tell comes from the content.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Final

import orjson

from harness.entries import Closed, Entry, Facts, Item, Opened
from harness.rollouts.meaning import About, Format, Heard
from harness.rollouts.records import Record

DOCUMENT: Final = "document"
_HEAD = 64  # records in which a session tells what it is about
_ID_CHARS = 100  # a store takes 128
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry, how many bytes of the file are read when it is there, and the line on which its record begins."""

    entry: Entry
    done: int
    line: int = 0


@dataclass(frozen=True, slots=True)
class _Piece:
    """One item to be: a record, or a part of a document, whose kind is given then."""

    record: Record
    kind: str = ""


def split(records: Iterator[Record], form: Format, *, documents: bool, otherwise_at: float, digest: str) -> Iterator[Placed]:
    """`otherwise_at`: the time for a source that tells none. `digest`: of a content whose source tells no id."""
    if documents:
        yield from _documents(records, form, otherwise_at)
    else:
        yield from _session((_Piece(record) for record in records), form, otherwise_at, digest)


def is_document(value: Any, form: Format) -> bool:
    """A whole session in one value: the format's own document, or a list of its records."""
    return form.is_document(value) or (isinstance(value, list) and bool(value) and form.is_record(value[0]))


def _documents(records: Iterator[Record], form: Format, otherwise_at: float) -> Iterator[Placed]:
    """One session each. What stands around a document and is none belongs to the one before, in front of all to the first."""
    held: list[_Piece] = []
    digest = ""
    for record in records:
        if not is_document(record.value, form):
            held.append(_Piece(record))
            continue
        if digest:
            yield from _session(iter(held), form, otherwise_at, digest)
            held = []
        digest = _digest(record.value)
        held += _pieces(record, form)
    yield from _session(iter(held), form, otherwise_at, digest)


def _pieces(record: Record, form: Format) -> Iterator[_Piece]:
    document = record.value
    rest: Any = []
    if isinstance(document, dict):
        rest = {name: value for name, value in document.items() if name != form.list_name}
        document = document[form.list_name]
    yield _Piece(replace(record, value=rest), DOCUMENT)
    for element in document:
        yield _Piece(replace(record, value=element))


def _session(pieces: Iterator[_Piece], form: Format, otherwise_at: float, digest: str) -> Iterator[Placed]:
    head = list(islice(pieces, _HEAD))
    about = _together(form.about(piece.record.value) for piece in head)
    times = (form.at(piece.record.value) for piece in head)
    at = next((time for time in times if time is not None), otherwise_at)
    session = _id(about, form, digest)
    yield Placed(Opened(session=session, at=at, facts=_facts(about, form)), 0)
    turns = _Turns()
    done = 0
    for piece in chain(head, pieces):
        record = piece.record
        told = form.at(record.value)
        at = told if told is not None else at
        turn = turns.after(form.heard(record.value))
        kind = record.unread or piece.kind or form.kind(record.value)
        done = record.done
        item = Item(session=session, at=at, turn=turn, format=form.name, kind=kind, raw=record.value, text=record.text)
        yield Placed(item, done, record.line)
    yield Placed(Closed(session=session, at=at), done)


class _Turns:
    """Counts what a person said. The same text from another channel is the same thing written down again, once."""

    def __init__(self) -> None:
        self.count = 0
        self._open: Heard | None = None

    def after(self, heard: Heard | None) -> int:
        if heard is None:
            return self.count
        before, self._open = self._open, heard
        if before is not None and before.text == heard.text and before.channel != heard.channel:
            self._open = None
        else:
            self.count += 1
        return self.count


def _together(told: Iterable[About]) -> About:
    """The first word on each thing counts."""
    about = About()
    for one in told:
        about = About(
            session=about.session or one.session, root=about.root or one.root, model=about.model or one.model,
            git=about.git or one.git, agent=about.agent or one.agent, task=about.task or one.task,
        )  # fmt: skip
    return about


def _facts(about: About, form: Format) -> Facts:
    labels = {name: told for name, told in (("agent", about.agent), ("task", about.task)) if told}
    return Facts(root=about.root, git=about.git, model=about.model, labels=labels, format=form.name)


def _id(about: About, form: Format, digest: str) -> str:
    """The source's own; else its task and the digest of the content, for a task is tried more than once."""
    if about.session:
        return safe_id(about.session)
    return safe_id(f"{about.task or form.name}-{digest[:16]}")


def safe_id(told: str) -> str:
    """An id that every store takes. One that had to be changed gets a digest, so that two do not become one."""
    safe = _UNSAFE.sub("-", told).lstrip(".-")[:_ID_CHARS]
    if safe == told:
        return safe
    return f"{safe or 'session'}-{hashlib.sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _digest(value: Any) -> str:
    try:
        return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
    except TypeError:  # half a surrogate pair
        return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
