"""A session's row from the two ends of its file, and which lines a search must read: lists of thousands of files stay quick."""

import re
from collections.abc import Iterable
from pathlib import Path

from harness.store import Query, SessionRow
from harness.store.blob_file import BlobReader, Place
from harness.store.given_files import reading
from harness.store.jsonl_lines import Tail, places_in, raw_lines, start_of, tail_of
from harness.store.jsonl_names import SessionFile, blobs_of
from harness.store.lines import BadLine, Blob, Kept, read_line
from harness.store.scanning import row_of, title_of

_PLAIN = re.compile(r"[ !#-\[\]-~]+")  # ASCII that stands in JSON as it is
_LEFT = b'"left"'
_BESIDE = (b'{"$text":', b'{"$json":')


def row_of_file(file: SessionFile) -> SessionRow | None:
    """None when it has no line yet. BadLine where it says that it is another session: who removes by a list is not misled."""
    with reading(file.path) as opened:
        tail = tail_of(opened.fileno())
    if not tail.lines:
        return None
    head = _until_titled(file, tail)
    row = row_of([*head, *_down_to_a_turn(file.path, tail, head[0].blob)], file.session)
    if row.session != file.session:
        raise BadLine(f"line 1: it is of session {row.session!r}, and its name says {file.session}")
    return row


def _until_titled(file: SessionFile, tail: Tail) -> list[Kept]:
    """The first line, and the one that gives the title."""
    places: dict[str, Place] = {}
    blob = BlobReader(blobs_of(file.path), places)
    kept: list[Kept] = []
    for number, raw in enumerate(tail.lines if tail.start == 0 else raw_lines(file.path, tail.end), 1):
        places |= places_in(raw)
        try:
            if kept and start_of(raw).type not in ("began", "message", "item"):
                continue
            one = Kept(read_line(raw), blob)
        except BadLine as error:
            raise BadLine(f"line {number}: {error}") from None
        titled = title_of(one, file.session)
        if titled or not kept:
            kept.append(one)
        if titled:
            break
    return kept


def _down_to_a_turn(path: Path, tail: Tail, blob: Blob) -> list[Kept]:
    """The newest line, and the newest one of a turn: turns only count up."""
    newest = Kept(read_line(tail.lines[-1]), blob)
    turned = next((raw for raw in reversed(tail.lines) if start_of(raw).turn), None)
    if turned is None and tail.start:
        turned = _last_of_a_turn(raw_lines(path, tail.end))
    return [newest] if turned is None else [Kept(read_line(turned), blob), newest]


def _last_of_a_turn(lines: Iterable[bytes]) -> bytes | None:
    found = None
    for raw in lines:
        if start_of(raw).turn:
            found = raw
    return found


def could_tell(raw: bytes, query: Query) -> bool:
    """False only for a line that has nothing to do with the query, seen without reading it."""
    match start_of(raw).type:
        case "item":
            return True
        case "began" | "message":
            return bool(query.text) and _may_hold(raw, query.text)
        case "ended":  # calls that the script was never told of stand in it
            return (bool(query.text) and _may_hold(raw, query.text)) or (_LEFT in raw and _of_calls(raw, query))
        case "settled":
            return _of_calls(raw, query)
        case "running":
            return bool(query.path) and (_refers(raw) or _may_hold(raw, query.path))
        case _:
            return False


def _of_calls(raw: bytes, query: Query) -> bool:
    return bool(query.tool) or (bool(query.path) and (_refers(raw) or _may_hold(raw, query.path)))


def _may_hold(raw: bytes, text: str) -> bool:
    """Letters of other alphabets may fold into ASCII, and JSON may write any of them as an escape: such lines are read."""
    if not _PLAIN.fullmatch(text) or not raw.isascii() or b"\\u" in raw:
        return True
    return text.lower().encode() in raw.lower()


def _refers(raw: bytes) -> bool:
    return any(mark in raw for mark in _BESIDE)
