"""Lines of a file too long to hold: one pass over its descriptor, only the wanted lines are kept.

Gives what reading it whole would give (id, line count, line ends, encoding) for UTF-8 and one-byte text. Other encodings, and
blocks by indentation, need the whole file.
"""

import codecs
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from catalog import ToolProblem
from tool_packs.decode import Newline, binary_file, blob_hash, is_binary, looks_binary, mark_of, newline_kind
from tool_packs.slices import Range, text_too_large

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Streamed:
    texts: list[str]  # one for each wanted range, as far as the file goes
    total_lines: int
    oid: str
    encoding: str
    guessed: bool
    newline: Newline
    final_newline: bool


@dataclass(slots=True)
class _Pass:
    wanted: Sequence[Range]
    kept: list[bytearray] = field(default_factory=list)
    ends: int = 0  # "\n" so far
    pairs: int = 0  # "\r\n" so far
    last: int = -1  # the last byte
    utf8: bool = True


def stream_lines(
    fd: int, size: int, wanted: Sequence[Range], *, path: str, most_text: int, pulse: Callable[[], None]
) -> Streamed:
    """`wanted` sorted and apart. `pulse` is called now and then: what it raises ends the reading."""
    state = _Pass(wanted, [bytearray() for _ in wanted])
    judge = codecs.getincrementaldecoder("utf-8")()
    made, read, start = blob_hash(size), 0, b""
    while chunk := os.read(fd, _CHUNK):
        pulse()
        if not read:
            start = chunk
            _one_byte_ends(start, size, path)
        read += len(chunk)
        if is_binary(chunk):
            raise binary_file(path, size)
        made.update(chunk)
        if state.utf8:
            state.utf8 = _accepts(judge, chunk)
        _take(state, chunk)
        if (kept := sum(map(len, state.kept))) > most_text:
            raise text_too_large(kept, most_text, path)
    if read != size:
        said = f"{path} changed while it was read: {size:,} bytes at first, {read:,} at the end"
        raise ToolProblem("changed_while_reading", said, hint="read it again")
    state.utf8 = state.utf8 and _accepts(judge, b"", final=True)
    if not state.utf8 and looks_binary(start):
        raise binary_file(path, size)
    return _done(state, made.hexdigest(), start)


def _one_byte_ends(start: bytes, size: int, path: str) -> None:
    mark = mark_of(start)
    if mark is not None and mark[2] != "utf-8":
        said = f"{path} is {mark[1]} text of {size:,} bytes, too long to read in parts in this encoding"
        raise ToolProblem("too_large", said, hint="convert it to UTF-8 first", data={"bytes": size})


def _accepts(judge: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        judge.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _take(state: _Pass, chunk: bytes) -> None:
    """Piece i of a chunk belongs to line ends + 1 + i; its last piece goes on in the next chunk."""
    ends = chunk.count(b"\n")
    here, pieces = (state.ends + 1, state.ends + ends + 1), list[bytes]()
    for (first, last), kept in zip(state.wanted, state.kept, strict=True):
        low, high = max(first, here[0]), min(last, here[1])
        if low > high:
            continue
        pieces = pieces or chunk.split(b"\n")
        kept += b"\n".join(pieces[low - here[0] : high - here[0] + 1])
    state.pairs += chunk.count(b"\r\n") + (state.last == 13 and chunk.startswith(b"\n"))
    state.ends += ends
    state.last = chunk[-1]


def _done(state: _Pass, oid: str, start: bytes) -> Streamed:
    final = state.last == 10
    total = state.ends + (not final and state.last >= 0)
    encoding = "utf-8" if state.utf8 else "latin-1"
    texts = []
    for (_, last), kept in zip(state.wanted, state.kept, strict=True):
        text = kept.decode(encoding)
        if last > total and final:
            text = text.removesuffix("\n").removesuffix("\r")
        elif last <= state.ends:
            text = text.removesuffix("\r")  # its "\n" is not part of the range
        texts.append(text.replace("\r\n", "\n"))
    if state.utf8 and start.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
        if state.wanted[0][0] == 1:
            texts[0] = texts[0].removeprefix("\ufeff")
    return Streamed(texts, total, oid, encoding, not state.utf8, newline_kind(state.pairs, state.ends), final)
