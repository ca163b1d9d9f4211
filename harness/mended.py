"""When a text leaves the model's view, the references to it that are still in view get their lines back.

Pure. The lines come from the record of what was shown, which keeps texts that are out of view. A line's number counts the lines
behind references, so it means the same line before and after a text was mended.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeAlias

from harness.condense.in_view import Span, reference_text
from harness.condense.passage import Change, Passage, rebuilt
from harness.condense.record import Origin, Reference

LineOf: TypeAlias = Callable[[str, int], str]  # handle, number from 1
Placed: TypeAlias = Sequence[tuple[int, int, Origin]]


def mended(
    text: str,
    references: Sequence[tuple[int, Reference]],
    lost: Callable[[str], bool],
    line_of: LineOf,
    *,
    placed: Placed = (),
    again: Callable[[Sequence[str]], Sequence[Span]] | None = None,
) -> Passage:
    """The text with the lines behind every reference to a lost handle put back; everything else stays, at its new index.

    `again` may turn lines that are put back into references to what is in view now, so that no two mended texts show them.
    """
    changes = [
        _put_back(index, reference, behind(reference, line_of), again)
        for index, reference in references
        if lost(reference.handle)
    ]
    return rebuilt(Passage(text, tuple(references), tuple(placed)), changes)


def behind(reference: Reference, line_of: LineOf) -> list[str]:
    """The lines that a reference stands for."""
    lines = [line_of(reference.handle, number) for number in range(reference.first, reference.last + 1)]
    return lines if reference.numbering is None else reference.numbering.restored(lines)


class OnRecord:
    """The texts that were shown, with the lines behind all their references. `find` gives a handle's text as shown, or as mended.

    Two texts may refer to each other's lines, so each line is followed by itself. ValueError: a line stands for itself, so the
    record is not ours.
    """

    def __init__(self, find: Callable[[str], Passage]) -> None:
        self._find = find
        self._rows: dict[str, tuple[list[str], dict[int, Reference], list[int]]] = {}
        self._whole: dict[tuple[str, int], list[str]] = {}  # what stands behind a reference, by its handle and row

    def line(self, handle: str, number: int) -> str:
        rows, references, firsts = self._laid(handle)
        row = bisect_right(firsts, number) - 1
        return self._behind(handle, row)[number - firsts[row]] if row in references else rows[row]

    def lines(self, handle: str) -> list[str]:
        rows, references, _ = self._laid(handle)
        found: list[str] = []
        for row, text in enumerate(rows):
            found += self._behind(handle, row) if row in references else [text]
        return found

    def _laid(self, handle: str) -> tuple[list[str], dict[int, Reference], list[int]]:
        """Rows of the text, the references among them, and the number of each row's first line."""
        if handle not in self._rows:
            passage = self._find(handle)
            rows, references = passage.text.split("\n"), dict(passage.references)
            counts = (references[row].last - references[row].first + 1 if row in references else 1 for row in range(len(rows)))
            self._rows[handle] = rows, references, list(accumulate(counts, initial=1))[:-1]
        return self._rows[handle]

    def _behind(self, handle: str, row: int) -> list[str]:
        waiting, opened = [(handle, row)], set[tuple[str, int]]()
        while waiting:
            current = waiting[-1]
            if current in self._whole:
                waiting.pop()
                continue
            reference = self._laid(current[0])[1][current[1]]
            needed = [one for one in self._led_to(reference) if one not in self._whole]
            if not needed:
                self._whole[current] = behind(reference, self.line)
            elif current in opened:
                raise ValueError(f"references lead in a circle through {current[0]}")
            opened.add(current)
            waiting += needed
        return self._whole[handle, row]

    def _led_to(self, reference: Reference) -> list[tuple[str, int]]:
        """The references among the lines that it stands for."""
        _, references, firsts = self._laid(reference.handle)
        first, last = (bisect_right(firsts, number) - 1 for number in (reference.first, reference.last))
        return [(reference.handle, row) for row in range(first, last + 1) if row in references]


def _put_back(
    index: int, reference: Reference, lines: Sequence[str], again: Callable[[Sequence[str]], Sequence[Span]] | None
) -> Change:
    texts: list[str] = []
    references: list[tuple[int, Reference]] = []
    placed: list[tuple[int, int, Origin]] = []
    for span in [Span(0, len(lines))] if again is None else again(lines):
        if span.reference is not None:
            references.append((len(texts), span.reference))
            texts.append(reference_text(span.reference))
            continue
        if reference.lines is not None:
            origin = Origin(reference.path, reference.oid, reference.lines[0] + span.first)
            placed.append((len(texts), span.last - span.first, origin))
        texts += lines[span.first : span.last]
    return Change(index, index + 1, texts, tuple(references), tuple(placed))
