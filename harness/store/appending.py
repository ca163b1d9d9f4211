"""What every writer does before anything touches a disk: number the new lines, chain them, collect the big values beside them."""

from collections.abc import Iterable, Sequence

from harness.entries import Entry
from harness.store.lines import START, Kept, Line, digest_of, encode


def encoded(entries: Iterable[Entry], last: Line | None) -> tuple[list[Line], dict[str, bytes]]:
    """The lines that follow `last`, and their big values by sha256."""
    lines: list[Line] = []
    blobs: dict[str, bytes] = {}
    for entry in entries:
        line, own = encode(entry, seq=1 if last is None else last.seq + 1, before=START if last is None else last.digest)
        lines.append(line)
        blobs |= own
        last = line
    return lines, blobs


def copied(kept: Sequence[Kept], last: Line | None) -> tuple[list[Line], dict[str, bytes]]:
    """Lines of another store, as they are. ValueError when the first does not follow `last`."""
    lines = [one.line for one in kept]
    seq, before = (0, START) if last is None else (last.seq, last.digest)
    if lines and (lines[0].seq != seq + 1 or digest_of(lines[0], before) != lines[0].digest):
        raise ValueError(f"line {lines[0].seq} does not follow line {seq} of this session here")
    blobs: dict[str, bytes] = {}
    for one in kept:
        blobs |= one.blobs()
    return lines, blobs
