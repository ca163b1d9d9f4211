"""What the model has in view, turn by turn: computed from what was shown and what was forgotten.

When turns leave the view, a text that stays may refer to lines that went with them. Those lines are put back, so that every
reference in the transcript leads to an entry that is still in view.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.compose import ShownItem, rewritten, text_of
from harness.condense.in_view import Span, collapse
from harness.condense.passage import Passage
from harness.condense.record import Reference
from harness.condense.repeats import folded_passage
from harness.mended import OnRecord, mended
from harness.seen import Seen
from harness.viewed import viewed


class Transcript:
    def __init__(self, seen: Seen, *, overlap_trim: bool = True) -> None:
        self._seen = seen
        self._overlap_trim = overlap_trim
        self._items: dict[str, ShownItem] = {}  # of all turns: what is out of view is still on record
        self._handles: dict[int, tuple[str, ...]] = {}
        self._notices: dict[int, tuple[str, ...]] = {}
        self._in_view: dict[int, None] = {}

    def add(self, turn: int, items: Sequence[ShownItem], notices: Sequence[str]) -> None:
        self._items |= {item.handle: item for item in items}
        self._handles[turn] = tuple(item.handle for item in items)
        self._notices[turn] = tuple(notices)
        self._in_view[turn] = None

    @property
    def turns(self) -> tuple[int, ...]:
        """Those in view."""
        return tuple(self._in_view)

    def text(self, turn: int) -> str:
        return text_of((self._items[handle] for handle in self._handles[turn]), self._notices[turn])

    def items(self, turn: int) -> tuple[ShownItem, ...]:
        """As they are in view now."""
        return tuple(self._items[handle] for handle in self._handles[turn])

    def forget(self, turns: Iterable[int]) -> dict[str, ShownItem]:
        """These turns left the view; gives the items, by handle, that had to be rewritten. Unknown turns are no mistake."""
        going = [turn for turn in dict.fromkeys(turns) if turn in self._in_view]
        for turn in going:
            del self._in_view[turn]
        self._seen.forget(going)
        gone = {handle for turn in going for handle in self._handles[turn]}
        record = OnRecord(self._on_record)
        changed: dict[str, ShownItem] = {}
        for turn in self._in_view:
            for handle in self._handles[turn]:
                item = self._items[handle]
                if any(reference.handle in gone for _, reference in item.references):
                    changed[handle] = self._mended(turn, item, gone, record)
        return changed

    def _mended(self, turn: int, item: ShownItem, gone: set[str], record: OnRecord) -> ShownItem:
        made = mended(
            item.text, item.references, gone.__contains__, record.line, placed=item.placed,
            again=_PutBack(item, self._seen, gone) if self._overlap_trim else None,
        )  # fmt: skip
        self._items[item.handle] = rewritten(item, made.text, made.references, made.placed)
        self._seen.add(turn, item.handle, made.text, made.placed, made.references)
        return self._items[item.handle]

    def _on_record(self, handle: str) -> Passage:
        item = self._items[handle]
        return Passage(item.text, item.references, item.placed)


class _PutBack:
    """Lines that come back to one text, reference by reference: where they are in view, elsewhere or further up among those that
    came back, they are references again. Lines that stood in the text before stay: other texts may refer to them.
    """

    def __init__(self, item: ShownItem, seen: Seen, gone: set[str]) -> None:
        self._own = item.handle
        self._seen = seen
        text = viewed(0, item.handle, item.text, placed=(), references=item.references)
        self._numbers = iter([text.number(index) for index, reference in item.references if reference.handle in gone])
        self._back = Seen()  # under the number of their first line in the text

    def __call__(self, lines: Sequence[str]) -> list[Span]:
        number = next(self._numbers)
        found: list[Span] = []
        for span in collapse(lines, self._seen, own=self._own):
            found += [span] if span.reference is not None else self._further_up(lines, span, number)
        return found

    def _further_up(self, lines: Sequence[str], span: Span, number: int) -> list[Span]:
        found: list[Span] = []
        for part in collapse(lines[span.first : span.last], self._back):
            first, last = span.first + part.first, span.first + part.last
            if part.reference is not None:
                found.append(Span(first, last, self._here(part.reference)))
            else:
                found += self._new(lines[first:last], first, number)
        return found

    def _new(self, lines: Sequence[str], first: int, number: int) -> list[Span]:
        """Lines that are among them for the first time; a run may stand in them twice."""
        name = str(number + first)
        passage = folded_passage(Passage("\n".join(lines)), own=name)
        self._back.add(0, name, passage.text, references=passage.references)
        found: list[Span] = []
        done, behind = first, 0
        for index, reference in passage.references:
            start, count = first + index + behind, reference.last - reference.first + 1
            found += [Span(done, start), Span(start, start + count, self._here(reference))]
            done, behind = start + count, behind + count - 1
        return [span for span in [*found, Span(done, first + len(lines))] if span.first < span.last]

    def _here(self, reference: Reference) -> Reference:
        before = int(reference.handle) - 1
        return replace(reference, handle=self._own, first=before + reference.first, last=before + reference.last)
