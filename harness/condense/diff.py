"""A diff, as git diff, git show and git log -p print it: whole while it has room; else every file with its counts, then hunks.

The lines of a diff are lines of files, so they have the bytes of a file slice. What was added and what stands around it comes
before what was removed: an edit is made of lines that are there. The header of a file is one line.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from harness.condense.fit import wished
from harness.condense.page import UNLIMITED, Caps, Interval, Page, Room, Rows
from harness.condense.text import Folded, lines_of, page_of
from harness.limits import ShownLimits

_FILE = "diff --git "
_SHARE = 0.5  # of a text that must be a diff
_AROUND = 2  # lines on each side of what was added
_REMOVED = 6  # lines in one run that stand between added ones; of more the rest waits
_GAPS = 24
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Diff:
    """`heads`: lines that name a file or a hunk; `added`: runs of lines with what stands around; `hunks`: whole."""

    body: Folded
    heads: tuple[int, ...]
    added: tuple[Interval, ...]
    hunks: tuple[Interval, ...]


def is_diff(text: str) -> bool:
    at = 0 if text.startswith(_FILE) else text.find("\n" + _FILE)
    return at >= 0 and len(text) - at >= _SHARE * len(text)


def diff_page(text: str, produced: int, limits: ShownLimits, *, head: tuple[str, ...]) -> Page:
    diff = diff_of(lines_of(text))
    caps = Caps(UNLIMITED, limits.shown_value_bytes)
    return page_of(diff.body, produced, caps, head=head, choose=partial(_choose, diff))


def diff_of(lines: Sequence[str]) -> Diff:
    kept: list[str] = []
    numbers: list[int] = []
    heads: list[int] = []
    hunks: list[Interval] = []
    file = -1  # where the open file's header stands
    plus = minus = at = 0
    while at < len(lines):
        line = lines[at]
        numbers.append(at + 1)
        if line.startswith(_FILE):
            _count(kept, file, plus, minus)
            file, plus, minus = len(kept), 0, 0
            heads.append(file)
            kept.append(line)
            at += 1 + _named_again(lines, at)
            continue
        length = _hunk(lines, at) if file >= 0 else 0
        if length:
            heads.append(len(kept))
            hunks.append((len(kept), len(kept) + length))
            part = lines[at : at + length]
            plus += sum(one.startswith("+") for one in part)
            minus += sum(one.startswith("-") for one in part)
            kept += part
            numbers += range(at + 2, at + 1 + length)
            at += length
            continue
        kept.append(line)
        at += 1
    _count(kept, file, plus, minus)
    lasts = [*(number - 1 for number in numbers[1:]), len(lines)] if numbers else []
    added = tuple(run for hunk in hunks for run in _added(kept, hunk))
    return Diff(Folded(kept, numbers, lasts, len(lines)), tuple(heads), added, tuple(hunks))


def _count(kept: list[str], file: int, plus: int, minus: int) -> None:
    if file >= 0 and plus + minus:
        kept[file] += f" +{plus} -{minus}"


def _named_again(lines: Sequence[str], at: int) -> int:
    """How many lines below a file's first one only repeat its names, and the ids of its blobs."""
    names = lines[at].removeprefix(_FILE).split(" ")
    if len(names) != 2:
        return 0
    count = 1 if at + 1 < len(lines) and lines[at + 1].startswith("index ") else 0
    below = at + 1 + count
    return count + 2 if list(lines[below : below + 2]) == [f"--- {names[0]}", f"+++ {names[1]}"] else 0


def _hunk(lines: Sequence[str], at: int) -> int:
    """The lines of the hunk that begins here, by the counts in its header; 0: none begins."""
    found = _HUNK.match(lines[at])
    if found is None:
        return 0
    old, new = (int(count) if count is not None else 1 for count in found.groups())
    end = at + 1
    while end < len(lines) and (old > 0 or new > 0 or lines[end].startswith("\\")):
        sign = lines[end][:1]
        if sign not in ("+", "-", " ", "\\", ""):
            break
        old -= sign not in ("+", "\\")
        new -= sign not in ("-", "\\")
        end += 1
    return end - at


def _added(lines: Sequence[str], hunk: Interval) -> Iterator[Interval]:
    """Runs of added lines with their neighbours; a long run of removed lines is in none."""
    first, last = hunk
    begin: int | None = None
    removed = 0
    for at in range(first + 1, last + 1):
        sign = lines[at][:1] if at < last else "\\"
        removed = removed + 1 if sign == "-" else 0
        if begin is None and sign == "+":
            begin = at
        elif begin is not None and (removed > _REMOVED or at == last):
            yield max(first, begin - _AROUND), min(last, at + 1 - removed + _AROUND)
            begin = None


def _choose(diff: Diff, rows: Rows, room: Room) -> list[Interval]:
    def of(part: Interval) -> Interval:
        return rows.row_of(part[0]), rows.row_of(part[1] - 1) + 1

    wishes = [(rows.row_of(head), rows.row_of(head) + 1) for head in diff.heads]
    wishes += [(row, row + 1) for row in rows.references]
    wishes += [of(part) for part in (*diff.added, *diff.hunks)]
    return wished(rows, room, [*wishes, (0, len(rows))], gaps=max(_GAPS, 2 * len(diff.heads)))
