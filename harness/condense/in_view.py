"""Lines that the model has in view already become references; all others stay as they are.

Pure. A reference is a record; its text is for the model alone and is never read back, so content that looks like one is content.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from harness.condense.record import Origin, Reference
from harness.line_numbers import Numbering
from harness.seen import Run, Seen
from harness.viewed import WINDOW

ChunkIds: TypeAlias = Callable[[str, str, int, int], tuple[str, ...]]  # path, oid, first and last line

WHOLE_LINES: Final = 2  # a whole text that is in view is a reference from this length on,
WHOLE_BYTES: Final = 160  # or from this one
_PATH_CHARS: Final = 32


@dataclass(frozen=True, slots=True)
class Span:
    """Lines `first` to `last` of a text (from 0, the last excluded). `reference` stands for them; None: they stay."""

    first: int
    last: int
    reference: Reference | None = None


def collapse(
    lines: Sequence[str],
    view: Seen,
    *,
    own: str = "",
    origin: Origin | None = None,
    least: int = WINDOW,
    chunk_ids: ChunkIds | None = None,
) -> list[Span]:
    """Spans that cover all lines, in order. `own` is the handle of the text itself: what stands under it is not referred to.

    `origin`: the file that the lines are from, the first of them at `origin.first`. A run shorter than its reference stays.
    """

    def shortens(run: Run) -> bool:
        words = reference_text(_reference(run, origin, chunk_ids=None))
        return size_bytes(lines[run.start : run.end]) > size_bytes([words])

    whole = view.same(lines, own=own) if len(lines) >= WHOLE_LINES or size_bytes(lines) > WHOLE_BYTES else None
    runs = [whole] if whole and shortens(whole) else view.runs(lines, least=least, own=own, worth=shortens)
    spans: list[Span] = []
    done = 0
    for run in runs:
        if done < run.start:
            spans.append(Span(done, run.start))
        spans.append(Span(run.start, run.end, _reference(run, origin, chunk_ids)))
        done = run.end
    if done < len(lines):
        spans.append(Span(done, len(lines)))
    return spans


def reference_text(reference: Reference) -> str:
    """One line for the model: how many lines, where they are in view, what they are, and their numbers if those are not there."""
    count = reference.last - reference.first + 1
    lines = "line" if count == 1 else "lines"
    there = f"{count} {lines} already shown in {reference.handle}, {lines} {_span(reference.first, reference.last)}"
    file = f": {_short(reference.path)} {_span(*reference.lines)}" if reference.lines is not None else ""
    return f"[{there}{file}{_numbers_told(reference)}]"


def size_bytes(lines: Sequence[str]) -> int:
    """With a line break for each line."""
    return sum(len(line.encode("utf-8", "surrogatepass")) for line in lines) + len(lines)


def _reference(run: Run, origin: Origin | None, chunk_ids: ChunkIds | None) -> Reference:
    count = run.end - run.start
    place = Origin(origin.path, origin.oid, origin.first + run.start) if origin and origin.path else run.origin
    if place is None:
        return Reference(run.handle, run.first, run.first + count - 1, numbering=run.numbering)
    first, last = place.first, place.first + count - 1
    return Reference(
        run.handle,
        run.first,
        run.first + count - 1,
        path=place.path,
        lines=(first, last),
        oid=place.oid,
        chunk_ids=chunk_ids(place.path, place.oid, first, last) if chunk_ids and place.oid else (),
        numbering=run.numbering,
    )


def _numbers_told(reference: Reference) -> str:
    """What the numbers of the lines are here, unless they are the same there."""
    here, there = (reference.numbering or Numbering()).here, (reference.numbering or Numbering()).there
    if here is None:
        return ""
    told = ""
    if there is None or here.first != there.first:
        told = f", numbered from {here.first}"
    if here.path and here.path != reference.path and (there is None or here.path != there.path):
        told += f", of {_short(here.path)}"
    if here.matches() and (there is None or here.matches() != there.matches()):
        told += f", matches at {' '.join(map(str, here.matches()))}"
    return told


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _short(path: str) -> str:
    """Of a long path its end: the text that is referred to names the whole."""
    plain = path if path.isprintable() else path.encode("unicode_escape").decode()
    return plain if len(plain) <= _PATH_CHARS else f"…/{plain.rsplit('/', 1)[1]}" if "/" in plain else plain
