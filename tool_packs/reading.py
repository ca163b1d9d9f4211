"""From a file and a wish to a `Slice`: a page of lines, several ranges, or the block around a line.

Files up to a cap are read whole; longer ones are passed over once and only the wanted lines are kept.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

from catalog import ToolProblem
from tool_packs.decode import blob_id, decode
from tool_packs.indent import block_around
from tool_packs.long_files import stream_lines
from tool_packs.root import Root
from tool_packs.slices import Part, Range, Slice, clamped, merged, page, parts_of, past_end, split_lines, text_too_large


@dataclass(frozen=True, slots=True)
class Block:
    """The block of code around a line."""

    anchor: int
    levels: int
    siblings: bool
    header: bool
    limit: int


@dataclass(frozen=True, slots=True)
class ReadingCaps:
    whole_bytes: int
    streamed_bytes: int
    text_bytes: int


def ranges_wanted(offset: int, limit: int, ranges: list[Range] | None) -> list[Range]:
    """Several ranges replace the page; saying both is a mistake worth telling."""
    if ranges is None:
        return page(offset, limit)
    if offset != 1:
        raise ToolProblem("bad_range", f"offset={offset:,} and ranges were both given", hint="give one of them")
    return merged(ranges)


def block_wanted(around: int, levels: int, siblings: bool, header: bool, limit: int) -> Block:
    for name, given, least in (("around", around, 1), ("levels", levels, 0), ("limit", limit, 1)):
        if given < least:
            hint = "lines are counted from 1" if least else "0 is the whole file, 1 the block around the line"
            raise ToolProblem("bad_range", f"{name} is {given:,}; {least} is the least", hint=hint)
    return Block(around, levels, siblings, header, limit)


def read_slice(root: Root, path: str, want: list[Range] | Block, caps: ReadingCaps, pulse: Callable[[], None]) -> Slice:
    name = root.relative(path)
    size = root.stat(name).st_size
    if size <= caps.whole_bytes:
        data, _ = root.read_bytes(name, most_bytes=caps.whole_bytes)
        return slice_of(data, name, want, caps.text_bytes)
    if isinstance(want, Block):
        raise _too_large(name, size, caps.whole_bytes, "the block around a line is found", "read a range of its lines: ranges")
    if size > caps.streamed_bytes:
        raise _too_large(name, size, caps.streamed_bytes, "lines are read", "search it with search.grep")
    return _streamed(root, name, want, caps, pulse)


def slice_of(data: bytes, path: str, want: list[Range] | Block, text_bytes: int) -> Slice:
    """Of content that is at hand, whole."""
    decoded = decode(data, path)
    lines = split_lines(decoded.text)
    ranges = _block_range(lines, want, path) if isinstance(want, Block) else clamped(want, len(lines), path)
    parts = parts_of(lines, ranges)
    text = "\n".join(part.text for part in parts)
    if len(text) > text_bytes // 4 and (size := len(text.encode())) > text_bytes:
        raise text_too_large(size, text_bytes, path)
    return Slice(
        path=path, lines=ranges, total_lines=len(lines), text=text, more=_more(ranges, len(lines)), parts=_several(parts),
        oid=blob_id(data), bytes=len(data), encoding=decoded.encoding, guessed=decoded.guessed, newline=decoded.newline,
        final_newline=decoded.text.endswith("\n"),
    )  # fmt: skip


def _streamed(root: Root, path: str, wanted: list[Range], caps: ReadingCaps, pulse: Callable[[], None]) -> Slice:
    fd = root.open(path)
    try:
        size = os.fstat(fd).st_size
        found = stream_lines(fd, size, wanted, path=path, most_text=caps.text_bytes, pulse=pulse)
    finally:
        os.close(fd)
    ranges = clamped(wanted, found.total_lines, path)
    parts = [Part(first=first, last=last, text=text) for (first, last), text in zip(ranges, found.texts, strict=True)]
    return Slice(
        path=path, lines=ranges, total_lines=found.total_lines, text="\n".join(found.texts),
        more=_more(ranges, found.total_lines), parts=_several(parts), oid=found.oid, bytes=size, encoding=found.encoding,
        guessed=found.guessed, newline=found.newline, final_newline=found.final_newline,
    )  # fmt: skip


def _block_range(lines: list[str], block: Block, path: str) -> list[Range]:
    if block.anchor > len(lines):
        raise past_end(block.anchor, len(lines), path)
    first, last = block_around(
        lines, block.anchor - 1, levels=block.levels, siblings=block.siblings, header=block.header, limit=block.limit
    )
    return [(first + 1, last + 1)]


def _more(ranges: list[Range], total: int) -> bool:
    return bool(ranges) and ranges[-1][1] < total


def _several(parts: list[Part]) -> list[Part]:
    return parts if len(parts) > 1 else []


def _too_large(path: str, size: int, most: int, what: str, hint: str) -> ToolProblem:
    said = f"{path} has {size:,} bytes; {what} in files of at most {most:,}"
    return ToolProblem("too_large", said, hint=hint, data={"bytes": size, "most_bytes": most})
