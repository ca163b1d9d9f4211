"""A run of lines that stands twice in one text: the second becomes a reference to the first.

Pure, and the last step: only when nothing more is cut is it certain that the lines referred to stay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from harness.condense.in_view import reference_text, size_bytes
from harness.condense.passage import Change, Passage, rebuilt
from harness.condense.record import Condensed, Reference
from harness.viewed import WINDOW, Line, Viewed, is_trivial, viewed

PLACES: Final = 4  # of one window; the first ones, where a run can be longest


def folded(condensed: Condensed, *, own: str, least: int = WINDOW) -> Condensed:
    """`own` is the handle that the text is shown under."""
    lines = condensed.text.split("\n")
    if len(lines) - len(set(lines)) < least:  # the lines of a second run are all there before
        return condensed
    passage = folded_passage(Passage(condensed.text, condensed.references, condensed.placed), own=own, least=least)
    if not (saved := size_bytes([condensed.text]) - size_bytes([passage.text])):
        return condensed
    trimmed = {**condensed.trimmed, "in_view": condensed.trimmed.get("in_view", 0) + saved}
    return replace(condensed, text=passage.text, references=passage.references, placed=passage.placed, trimmed=trimmed)


def folded_passage(passage: Passage, *, own: str, least: int = WINDOW) -> Passage:
    text = viewed(0, own, passage.text, placed=passage.placed, references=passage.references)
    return rebuilt(passage, list(_changes(text, least)))


def _changes(text: Viewed, least: int) -> Iterator[Change]:
    """Lines that are replaced are not referred to, so a reference never leads to a reference."""
    lines = text.layers[0].lines
    keys = list(map(hash, zip(*(lines[shift:] for shift in range(WINDOW)), strict=False)))
    known: dict[int, list[int]] = {}
    gone = [line is None for line in lines]
    start = indexed = 0
    while start < len(keys):
        while indexed + WINDOW <= start:
            places = known.setdefault(keys[indexed], [])
            if len(places) < PLACES:
                places.append(indexed)
            indexed += 1
        count, first = max(((_common(lines, gone, at, start), at) for at in known.get(keys[start], ())), default=(0, 0))
        change = _change(text, start, first, count) if count >= least and not is_trivial(lines, start, count) else None
        if change is None:
            # What starts a little later and is longer is looked at where it ends later.
            start += max(1, count - WINDOW + 1)
            continue
        yield change
        gone[start : start + count] = [True] * count
        start = indexed = start + count


def _change(text: Viewed, start: int, first: int, count: int) -> Change | None:
    """None: the reference would be longer than the lines."""
    number = text.number(first)
    reference = Reference(text.handle, number, number + count - 1)
    words = reference_text(reference)
    lines = [line for line in text.layers[0].lines[start : start + count] if line is not None]
    if size_bytes(lines) <= size_bytes([words]):
        return None
    return Change(start, start + count, [words], references=((0, reference),))


def _common(lines: Sequence[Line], gone: Sequence[bool], first: int, start: int) -> int:
    count, limit = 0, min(start - first, len(lines) - start)
    while count < limit and not gone[first + count] and not gone[start + count] and lines[first + count] == lines[start + count]:
        count += 1
    return count
