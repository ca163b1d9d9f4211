"""When a text leaves the model's view, the references to it that are still in view get their lines back.

Pure. The lines come from the record of what was shown, which keeps texts that are out of view. A line's number counts the lines
behind references, so it means the same line before and after a text was mended.
"""

from collections.abc import Callable, Sequence
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

    References may lead from text to text any number of times. ValueError: they lead in a circle, so the record is not ours.
    """

    def __init__(self, find: Callable[[str], Passage]) -> None:
        self._find = find
        self._whole: dict[str, list[str]] = {}

    def line(self, handle: str, number: int) -> str:
        return self.lines(handle)[number - 1]

    def lines(self, handle: str) -> list[str]:
        waiting, opened = [handle], set[str]()
        while waiting:
            current = waiting[-1]
            if current in self._whole:
                waiting.pop()
                continue
            passage = self._find(current)
            needed = {reference.handle for _, reference in passage.references} - self._whole.keys() - {current}
            if not needed:
                self._whole[current] = self._expanded(current, passage)
            elif current in opened:
                raise ValueError(f"references lead in a circle through {current}")
            opened.add(current)
            waiting += sorted(needed)
        return self._whole[handle]

    def _expanded(self, handle: str, passage: Passage) -> list[str]:
        references = dict(passage.references)
        lines: list[str] = []

        def line_of(name: str, number: int) -> str:
            # A text refers to lines of its own only when they stand before.
            return lines[number - 1] if name == handle else self._whole[name][number - 1]

        for index, line in enumerate(passage.text.split("\n")):
            lines += behind(references[index], line_of) if index in references else [line]
        return lines


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
