"""Search hits: rows grouped by file, `path (n)` and below it `12:text` as rg prints it.

Every file is named before any file shows many rows, because a path that is hidden costs another search; then rows are spread over
the files. Long rows are cut around what was looked for. Of paths alone that have no room, folders hold their files' names.
"""

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

from harness.condense.fit import in_order
from harness.condense.hit_rows import FileRows, rows_of_text, rows_of_value
from harness.condense.json_sketch import encoded, json_page
from harness.condense.output import is_printed, output_page, printed_of
from harness.condense.page import UNLIMITED, Caps, Interval, Page, Room, Rows, size_of, size_of_lines
from harness.condense.record import Item
from harness.condense.terminal import settled
from harness.condense.text import lines_of
from harness.limits import ShownLimits

_ROW_BYTES = 200  # of a row where not all have room; the match stays in it
_POSSIBLE = 4  # times the cap: rows that are looked at; references may stand for many
_ROUNDS = 40  # rows of one file, before the rest of another's


def hits_page(item: Item, limits: ShownLimits) -> Page:
    found = None
    head: tuple[str, ...] = ()
    if is_printed(item.value):
        printed = printed_of(item)
        found = rows_of_text(lines_of(settled(printed.text)))
        produced = printed.produced
        if printed.exit_code not in (0, 1, None):  # 1 is how grep says that there is nothing
            head = (f"exit code {printed.exit_code}",)
    else:
        found = rows_of_value(item.value)
        produced = size_of(encoded(item.value))
    if found is None:
        other = output_page(item, limits) if is_printed(item.value) else json_page(item, limits)
        return replace(other, caps=Caps(other.caps.lines, limits.hits_bytes))
    lines, paths = _lines(found.files)
    if found.remark:
        head = (*head, found.remark)
    if found.only_paths and size_of_lines(lines) > limits.hits_bytes:
        lines = by_folder([file.path for file in found.files])
        paths = list(range(len(lines)))
    lines, paths, before = _possible(lines, paths, limits.hits_bytes)
    return Page(
        lines=lines, gap=_gap, gap_bytes=0, produced=produced, head=head, before=before,
        caps=Caps(UNLIMITED, limits.hits_bytes), choose=partial(_spread, paths), quiet=True,
        line_bytes=_ROW_BYTES if not found.only_paths else UNLIMITED, clip=partial(_around_terms, item.terms),
    )  # fmt: skip


def _gap(first: int, last: int) -> str:
    return f"{last - first + 1:,} rows cut"


def by_folder(paths: Sequence[str]) -> list[str]:
    """`src/app/: a.py, b.py`: one line a folder, long ones broken."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, name = posixpath.split(path.removesuffix("/"))
        folders.setdefault(folder, []).append(name + "/" * path.endswith("/"))
    lines: list[str] = []
    for folder, names in folders.items():
        start = f"{folder}/: " if folder else ""
        line = start
        for name in names:
            if len(line) + len(name) > 400 and line != start:
                lines.append(line.removesuffix(", "))
                line = start
            line += f"{name}, "
        lines.append(line.removesuffix(", "))
    return lines


def _lines(files: Sequence[FileRows]) -> tuple[list[str], list[int]]:
    lines: list[str] = []
    paths: list[int] = []
    for file in files:
        paths.append(len(lines))
        if file.path or not file.rows:
            lines.append(file.path if file.count is None or not file.count else f"{file.path} ({file.count})")
        lines += file.rows
    return lines, paths


def _possible(lines: list[str], paths: list[int], most: int) -> tuple[list[str], list[int], Caps]:
    """Of very many rows those that could be shown, whatever is in view; the others need not be looked at any more."""
    if sum(map(len, lines)) + len(lines) <= _POSSIBLE * most:
        return lines, paths, Caps(0, 0)
    offsets = list(accumulate((size_of(line) + 1 for line in lines), initial=0))
    rows = Rows(lines, range(len(lines) + 1), offsets, {})
    chosen = _spread(paths, rows, Room(UNLIMITED, _POSSIBLE * most, 0))
    at = [line for first, last in chosen for line in range(first, last)]
    left = Caps(len(lines) - len(at), offsets[-1] - sum(rows.size(first, last) for first, last in chosen))
    named = set(paths)
    return [lines[line] for line in at], [new for new, line in enumerate(at) if line in named], left


def _spread(paths: Sequence[int], rows: Rows, room: Room) -> list[Interval]:
    """Paths and references first, then the first row of each file, the second of each, and so on."""
    heads = sorted({rows.row_of(line) for line in paths})
    bounds = [*heads[1:], len(rows)]
    order = [*heads, *rows.references]
    for depth in range(1, _ROUNDS):
        more = [head + depth for head, bound in zip(heads, bounds, strict=True) if head + depth < bound]
        if not more:
            break
        order += more
    order += range(len(rows))
    return in_order(rows, room, order)


def _around_terms(terms: tuple[str, ...], text: str, limit: int) -> tuple[int, int] | None:
    """The place of the first term in a row; without one, rows keep their begin."""
    places = [(text.find(term), len(term)) for term in terms if term and term in text]
    if not places:
        return None
    at, length = min(places)
    return (at, at + length) if at + length > limit // 2 else None
