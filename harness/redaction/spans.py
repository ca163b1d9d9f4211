"""Stretches of a text that are secrets: put together where they overlap, kept off placeholders, replaced. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.redaction.forms import Form

MARK = "[secret "


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    name: str
    rank: int = 0  # among equally long ones the lowest gives the name: known values are 0


def loosened(text: str, span: Span, form: Form) -> Span:
    """With what at its ends holds bits of the secret: shared characters of base64, padding, more of a value that was cut."""
    start, end = span.start, span.end
    if form.loose_left and start and _is_base64(text[start - 1]):
        start -= 1
    if form.loose_right and end < len(text) and _is_base64(text[end]):
        end += 1
        while text[end : end + 1] == "=":
            end += 1
    if form.whole and form.whole.startswith(form.text):
        end = start + _same(text[start : start + len(form.whole)], form.whole)
    elif form.whole:
        start = end - _same(text[max(0, end - len(form.whole)) : end][::-1], form.whole[::-1])
    return Span(start, end, span.name, span.rank)


def _same(left: str, right: str) -> int:
    """How many characters the two have in common from the start."""
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _is_base64(character: str) -> bool:
    return character.isalnum() or character in "+/-_"


def outside(spans: Iterable[Span], own: list[tuple[int, int]]) -> Iterator[Span]:
    """What of the spans lies outside of the placeholders `own`, which are in order."""
    ends = [end for _, end in own]
    for span in spans:
        start = span.start
        for at in range(bisect_right(ends, start), len(own)):
            first, last = own[at]
            if first >= span.end:
                break
            if first > start:
                yield Span(start, first, span.name, span.rank)
            start = last
        if start < span.end:
            yield Span(start, span.end, span.name, span.rank)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Disjoint and in order. Overlapping ones become one: the longest gives the name, and nothing of the others is left."""
    result: list[Span] = []
    best = (0, 0)
    for span in sorted(spans, key=lambda one: one.start):
        claim = (span.end - span.start, -span.rank)
        if result and span.start < result[-1].end:
            last = result[-1]
            result[-1] = Span(last.start, max(last.end, span.end), span.name if claim > best else last.name)
            best = max(best, claim)
        else:
            result.append(span)
            best = claim
    return result


def replaced(text: str, spans: Iterable[Span]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], f"{MARK}{span.name}]")
        at = span.end
    return "".join((*parts, text[at:]))
