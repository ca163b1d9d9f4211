"""Replacing one passage of a text by another, exactly, and nothing else. Pure.

Passages are compared with line feeds alone, so that a script need not know how a file ends its lines; what is put in takes the
ending used at that place, and every line that is not replaced keeps its own.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, islice

from catalog import ToolProblem
from tool_packs.patch_nearest import passage_missing

_LISTED = 10  # line numbers in a message
_GIVEN = 1_000  # line numbers in the facts


@dataclass(frozen=True, slots=True)
class Exchanged:
    text: str
    added: int
    removed: int


def exchange(path: str, text: str, old: str, new: str, *, every: bool) -> Exchanged:
    """ToolProblem `empty_old`, `no_change`, `no_match` or `several_matches`."""
    flat, wanted, instead = _Flat(text), old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not wanted:
        hint = "copy the lines to replace into old; patch.write writes a whole file"
        raise ToolProblem("empty_old", f"old is empty: which part of {path} should be replaced?", hint=hint)
    if wanted == instead:
        hint = "nothing was changed; line endings stay as the file has them, patch.write can change those"
        raise ToolProblem("no_change", "old and new are the same text", hint=hint)
    places = flat.places(wanted)
    if not places:
        raise passage_missing(path, flat.text, wanted)
    if len(places) > 1 and not every:
        raise _several(path, [flat.row(place) + 1 for place in places])
    added, removed = flat.counts(places, len(wanted), instead)
    return Exchanged(flat.exchanged(places, len(wanted), instead), added, removed)


def changed_rows(old: str, new: str) -> tuple[int, int]:
    """Lines added and removed between the first and the last line that differ."""
    before, after = _rows(old), _rows(new)
    most = min(len(before), len(after))
    head = next((index for index in range(most) if before[index] != after[index]), most)
    tail = next((index for index in range(most - head) if before[-1 - index] != after[-1 - index]), most - head)
    return len(after) - head - tail, len(before) - head - tail


class _Flat:
    """A text without the carriage returns of its line endings, and the way back to the text that has them."""

    def __init__(self, text: str) -> None:
        rows = text.split("\n")
        self._whole = text
        self._crlf = [*(row.endswith("\r") for row in rows[:-1]), False]
        self._crlf[-1] = len(rows) > 1 and self._crlf[-2]  # a last line without an ending goes by the one before it
        bare = [row[:-1] if crlf else row for row, crlf in zip(rows[:-1], self._crlf, strict=False)] + rows[-1:]
        self.text = "\n".join(bare)
        self._starts = list(accumulate((len(row) + 1 for row in bare[:-1]), initial=0))
        self._returns = list(accumulate(self._crlf[:-1], initial=0))  # how many were left out before each row

    def places(self, wanted: str) -> list[int]:
        """Where it stands, from left to right, without overlaps."""
        found, places = self.text.find(wanted), list[int]()
        while found >= 0:
            places.append(found)
            found = self.text.find(wanted, found + len(wanted))
        return places

    def row(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def exchanged(self, places: list[int], size: int, instead: str) -> str:
        crlf = instead.replace("\n", "\r\n")
        cuts = [(self._raw(place), self._raw(place + size), crlf if self._crlf[self.row(place)] else instead) for place in places]
        return _spliced(self._whole, cuts, 0, len(self._whole))

    def counts(self, places: list[int], size: int, instead: str) -> tuple[int, int]:
        """Lines added and removed as a diff counts them: whole ones, each once though it has several places."""
        added = removed = first = 0
        while first < len(places):
            start, last = self._starts[self.row(places[first])], first
            end = self._end(places[first] + size)
            while last + 1 < len(places) and places[last + 1] < end:
                last += 1
                end = self._end(places[last] + size)
            cuts = [(place, place + size, instead) for place in islice(places, first, last + 1)]
            more, fewer = changed_rows(self.text[start:end], _spliced(self.text, cuts, start, end))
            added, removed, first = added + more, removed + fewer, last + 1
        return added, removed

    def _raw(self, place: int) -> int:
        return place + self._returns[self.row(place)]

    def _end(self, place: int) -> int:
        """Where the row of a place ends, its line feed included."""
        row = self.row(place) + 1
        return self._starts[row] if row < len(self._starts) else len(self.text)


def _spliced(text: str, cuts: list[tuple[int, int, str]], start: int, end: int) -> str:
    parts = list[str]()
    for first, last, instead in cuts:
        parts += (text[start:first], instead)
        start = last
    return "".join([*parts, text[start:end]])


def _rows(text: str) -> list[str]:
    *rows, last = text.split("\n")
    return [row + "\n" for row in rows] + ([last] if last else [])


def _several(path: str, lines: list[int]) -> ToolProblem:
    listed = ", ".join(str(line) for line in lines[:_LISTED]) + (", …" if len(lines) > _LISTED else "")
    return ToolProblem(
        "several_matches",
        f"old is in {path} {len(lines):,} times, at lines {listed}",
        hint="nothing was changed; add lines around it until only one place matches, or pass all: true to replace each",
        data={"path": path, "count": len(lines), "lines": lines[:_GIVEN]},
    )
