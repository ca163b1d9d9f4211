"""Importing: a file of another agent becomes a session in a store, record by record, in bounded memory.

An import that broke off goes on where it stood, a source that has grown since is taken up from there, and one that is there
already is left alone: the records that are kept are compared with those of the file before anything is appended.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeAlias

import anyio
from anyio import CancelScope, to_thread

from harness.entries import Closed, Entry, Item, Opened, Reopened
from harness.rollouts import FORMATS
from harness.rollouts.errors import NotARollout, OtherRecords, RolloutError
from harness.rollouts.meaning import Format
from harness.rollouts.records import VALUE_BYTES_MAX, Record, content_digest, records_of
from harness.rollouts.splitting import Placed, is_document, split
from harness.store import SessionBusy, Store, Writer
from harness.store.lines import Kept
from sandbox.limits import MIB

_SAMPLE = 50  # records among which one must tell what the file is
_UNREAD_MOST = 20  # lines that are named
_BATCH_ENTRIES = 500
_BATCH_BYTES = 4 * MIB  # of the source

Progress: TypeAlias = Callable[[Path, int, int], None]  # the file, bytes done, bytes in all


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One session of a file; `bytes` of the file are its own."""

    path: Path
    session: str
    format: str
    items: int
    by_kind: Mapping[str, int]
    unknown: Mapping[str, int]  # kinds that the reader has no meaning for, and what is no JSON: kept as they are
    bytes: int
    appended: int = 0  # entries that were not there before
    new: Mapping[str, int] = field(default_factory=dict)  # the items of them, by kind
    unread: tuple[int, ...] = ()  # the lines of the first records that are no JSON, kept as text
    already_there: bool = False  # nothing was new

    @property
    def grown(self) -> bool:
        """A part of its items was there before."""
        return 0 < sum(self.new.values()) < self.items


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    imported: tuple[Imported, ...] = ()
    failed: Mapping[Path, str] = field(default_factory=dict)
    passed_over: Mapping[Path, str] = field(default_factory=dict)  # in folders: what is no session of an agent


def detect_format(path: Path) -> str:
    """By content, not by name. NotARollout tells what was tried."""
    return _recognised(path, list(islice(records_of(path), _SAMPLE)), None).name


def read_rollout(path: Path, *, format: str | None = None, value_bytes_max: int = VALUE_BYTES_MAX) -> Iterator[Entry]:
    """Opened, an Item for each record, Closed; the same again for each further session in the file."""
    return (placed.entry for placed in _placed(path, format, value_bytes_max))


async def import_rollout(
    path: Path, store: Store, *, format: str | None = None, progress: Progress | None = None
) -> tuple[Imported, ...]:
    """One for each session in the file; most files have one. After a RolloutError, what was appended stays and goes on later."""
    total = (await anyio.Path(path).stat()).st_size
    batches = _batches(_placed(path, format, VALUE_BYTES_MAX))
    found: list[Imported] = []
    arrival: _Arrival | None = None
    try:
        while batch := await to_thread.run_sync(next, batches, None):
            for placed in batch:
                if isinstance(placed.entry, Opened):
                    arrival = await _Arrival.begin(path, store, placed.entry, sum(one.bytes for one in found))
                elif arrival is not None:
                    await arrival.take(placed)
                    if isinstance(placed.entry, Closed):
                        found.append(await arrival.end())
                        arrival = None
            if arrival is not None:
                await arrival.flush()
            if progress is not None:
                progress(path, batch[-1].done, total)
    finally:
        with CancelScope(shield=True):
            if arrival is not None:
                await arrival.writer.close()
    return tuple(found)


async def import_all(
    paths: Iterable[Path], store: Store, *, format: str | None = None, progress: Progress | None = None
) -> ImportReport:
    """Files, and all files in folders. One that cannot be imported is told and stops no other; a store that fails does."""
    wanted = await to_thread.run_sync(_files, list(paths))
    total, before = sum(size for _, size, _ in wanted), 0
    imported: list[Imported] = []
    failed: dict[Path, str] = {}
    passed_over: dict[Path, str] = {}
    for path, size, named in wanted:
        try:
            imported += await import_rollout(path, store, format=format, progress=_shifted(progress, before, total))
        except NotARollout as error:
            (failed if named else passed_over)[path] = str(error)
        except (RolloutError, SessionBusy, OSError) as error:
            failed[path] = str(error)
        before += size
        if progress is not None:
            progress(path, before, total)
    return ImportReport(imported=tuple(imported), failed=failed, passed_over=passed_over)


class _Arrival:
    """One session on its way into a store: compared with what is kept of it as far as that goes, then appended."""

    def __init__(self, path: Path, opened: Opened, writer: Writer, kept: "_KeptItems", before: int) -> None:
        self.writer = writer
        self._path = path
        self._opened = opened
        self._kept: _KeptItems | None = kept
        self._waiting: list[Entry] = []
        self._kinds: Counter[str] = Counter()
        self._new: Counter[str] = Counter()
        self._unread: list[int] = []
        self._appended = 0
        self._before = self._done = before

    @classmethod
    async def begin(cls, path: Path, store: Store, opened: Opened, before: int) -> "_Arrival":
        writer = await store.write(opened.session, at=opened.at)
        arrival = cls(path, opened, writer, _KeptItems(store, opened.session), before)
        if writer.last is None:
            arrival._append_from_here(opened)
        elif not await _is_import(store, opened):
            await writer.close()
            raise OtherRecords(f"{path}: a session {opened.session} is kept already, and it is no import; {_removed(opened)}")
        return arrival

    async def take(self, placed: Placed) -> None:
        entry = placed.entry
        self._done = placed.done
        if isinstance(entry, Item):
            self._kinds[entry.kind] += 1
            if entry.text is not None and len(self._unread) < _UNREAD_MOST:
                self._unread.append(placed.line)
            if self._kept is not None:
                kept = await self._kept.next()
                if kept is not None:
                    return self._compare(entry, kept)
                # The source has grown since the import that is kept here had come to its end.
                self._append_from_here(*([self._reopened(entry.at)] if self._kept.closed else []))
        elif self._kept is not None:
            # An older copy of a session that went on, or the same: it is all there but for an end that was cut off.
            if await self._kept.next() is not None or self._kept.closed:
                return None
            self._append_from_here()
        if isinstance(entry, Item):
            self._new[entry.kind] += 1
        self._waiting.append(entry)
        return None

    async def flush(self) -> None:
        if self._waiting:
            await self.writer.append(*self._waiting)
            self._appended += len(self._waiting)
            self._waiting = []

    async def end(self) -> Imported:
        await self.flush()
        await self.writer.close()
        form = FORMATS[self._opened.facts.format]
        return Imported(
            path=self._path, session=self._opened.session, format=form.name, items=self._kinds.total(), by_kind=dict(self._kinds),
            unknown={kind: times for kind, times in self._kinds.items() if not form.known(kind)},
            bytes=self._done - self._before, appended=self._appended, new=dict(self._new), unread=tuple(self._unread),
            already_there=not self._appended,
        )  # fmt: skip

    def _append_from_here(self, *first: Entry) -> None:
        self._kept = None
        self._waiting += first

    def _reopened(self, at: float) -> Reopened:
        return Reopened(session=self._opened.session, at=at, facts=self._opened.facts)

    def _compare(self, entry: Item, kept: Item) -> None:
        if kept.raw != entry.raw or kept.text != entry.text:
            number = self._kinds.total()
            raise OtherRecords(
                f"{self._path}: session {entry.session} is kept already, and its record {number} is another; {_removed(entry)}"
            )


class _KeptItems:
    """The items of a session in a store, page by page. `closed`: behind the last of them stood its end."""

    def __init__(self, store: Store, session: str) -> None:
        self.closed = False
        self._store = store
        self._session = session
        self._after = 0
        self._page: list[Entry] = []

    async def next(self) -> Item | None:
        while True:
            while self._page:
                entry = self._page.pop()
                self.closed = isinstance(entry, Closed)
                if isinstance(entry, Item):
                    return entry
            lines = await self._store.load(self._session, after=self._after, most=_BATCH_ENTRIES)
            if not lines:
                return None
            self._after = lines[-1].line.seq
            self._page = await to_thread.run_sync(_newest_first, lines, self._session)


def _newest_first(lines: Sequence[Kept], session: str) -> list[Entry]:
    return [line.entry(session) for line in reversed(lines)]


def _removed(entry: Entry) -> str:
    return f"remove it first: turnscript session prune --session {entry.session} --apply"


async def _is_import(store: Store, opened: Opened) -> bool:
    first = (await store.load(opened.session, most=1))[0].entry(opened.session)
    return isinstance(first, Opened) and first.facts.format == opened.facts.format


def _placed(path: Path, format: str | None, value_bytes_max: int) -> Iterator[Placed]:
    records = records_of(path, value_bytes_max=value_bytes_max)
    sample = list(islice(records, _SAMPLE))
    form = _recognised(path, sample, format)
    told = any(form.about(record.value).session for record in sample)
    yield from split(
        chain(sample, records),
        form,
        documents=any(is_document(record.value, form) for record in sample),
        otherwise_at=round(path.stat().st_mtime, 6),
        digest="" if told else content_digest(path),
    )


def _recognised(path: Path, sample: list[Record], format: str | None) -> Format:
    if format is not None and format not in FORMATS:
        raise RolloutError(f"no format {format}; there are {', '.join(FORMATS)}")
    tried = FORMATS.values() if format is None else [FORMATS[format]]
    for record in sample:
        for form in tried:
            if form.is_record(record.value) or is_document(record.value, form):
                return form
    raise NotARollout(f"{path}: no session of {', '.join(form.name for form in tried)}: {_looks(sample[0])}")


def _looks(record: Record) -> str:
    if record.text is not None:
        return f"line {record.line} is no JSON"
    if not isinstance(record.value, dict):
        return f"its first record is no object but a {type(record.value).__name__}"
    if {"v", "seq", "digest"} <= record.value.keys():
        return "it is a session of turnscript itself"
    return f"its first record has the members {', '.join(list(record.value)[:8]) or '(none)'}"


def _batches(placed: Iterator[Placed]) -> Iterator[list[Placed]]:
    batch: list[Placed] = []
    start = 0
    for one in placed:
        batch.append(one)
        if len(batch) == _BATCH_ENTRIES or one.done - start > _BATCH_BYTES:
            yield batch
            batch, start = [], one.done
    if batch:
        yield batch


def _files(paths: list[Path]) -> list[tuple[Path, int, bool]]:
    """With their sizes, and whether they were named themselves. What is hidden is passed over in folders."""
    found: dict[Path, tuple[int, bool]] = {}
    for path in paths:
        if not path.is_dir():
            found[path] = (path.stat().st_size if path.exists() else 0, True)
            continue
        for inner in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in inner.relative_to(path).parts)
            if inner.is_file() and not hidden:
                found.setdefault(inner, (inner.stat().st_size, False))
    return [(path, size, named) for path, (size, named) in found.items()]


def _shifted(progress: Progress | None, before: int, total: int) -> Progress | None:
    if progress is None:
        return None
    told: Final = progress
    return lambda path, done, _: told(path, before + done, total)
