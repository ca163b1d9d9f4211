"""What the model has in view now: the texts of the entries that are still before it, and every line of them as it stands there.

A run of lines is found by hashes of windows of lines and then compared line by line, so a collision of hashes can never suppress
anything. Lines that are references themselves are not in view: nothing is matched with them, and nothing across them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from harness.intervals import Cover
from harness.line_numbers import Numbering
from harness.viewed import WINDOW, Layer, Line, Placed, References, Viewed, is_trivial, layers, viewed

if TYPE_CHECKING:  # `harness.condense` imports this file
    from harness.condense.record import Origin

_Key = TypeVar("_Key")
Place: TypeAlias = tuple[Viewed, Layer, int]  # a window starts at this offset of the layer

# A window that stands in many places is compared with few of them: the first ones of a text, where a run can be longest, and
PLACES_IN_A_TEXT: Final = 4
PLACES: Final = 8  # the newest of all texts
BACK: Final = 64  # lines before a run that are looked at to tell whether it is worth it; once it is, all are


@dataclass(frozen=True, slots=True)
class Run:
    """Lines `start` to `end` (from 0, the end excluded) stand under `handle`, the first of them as line `first` (from 1) there.

    `numbering`: they differ in their line numbers. `origin`: where the lines under the handle stand in a file, if all of them do.
    """

    start: int
    end: int
    handle: str
    first: int
    numbering: Numbering | None = None
    origin: Origin | None = None


class Seen:
    """One for each session, in memory; as large as what is in view. `compared` counts the pairs of lines that were compared."""

    def __init__(self, *, window_key: Callable[[Hashable], int] = hash) -> None:
        self.compared = 0
        self._window_key = window_key
        self._items: dict[str, Viewed] = {}
        self._turns: dict[int, dict[str, None]] = {}
        self._windows: dict[int, list[Place]] = {}
        self._texts: dict[str, dict[str, None]] = {}  # whole texts without references, and the handles they stand under
        self._covers: dict[str, dict[str, Cover]] = {}
        self._covered_by: dict[str, list[tuple[Cover, int, int]]] = {}  # by handle

    def add(self, turn: int, handle: str, text: str, placed: Placed = (), references: References = ()) -> None:
        """The text shown under this handle is in view from now on. A text that stood under it before is not."""
        if handle in self._items:
            self._drop(self._items[handle])
        item = viewed(turn, handle, text, placed=placed, references=references)
        self._items[handle] = item
        self._turns.setdefault(turn, {})[handle] = None
        if not item.at:
            self._texts.setdefault(text, {})[handle] = None
        for layer in item.layers:
            for offset, key in enumerate(self._keys(layer)):
                places = self._windows.setdefault(key, [])
                if len(places) >= PLACES_IN_A_TEXT and places[-PLACES_IN_A_TEXT][0] is item:
                    continue
                places.append((item, layer, offset))
                if len(places) > PLACES:
                    del places[0]
        self._cover(item)

    def replace(self, turn: int, handle: str, text: str, placed: Placed = (), references: References = ()) -> None:
        """The text of an item in view was rewritten. KeyError: it is not in view."""
        self._drop(self._items[handle])
        self.add(turn, handle, text, placed, references)

    def forget(self, turns: Iterable[int]) -> None:
        """These turns left the model's view: their lines may be shown again."""
        for turn in turns:
            for handle in list(self._turns.get(turn, ())):
                self._drop(self._items[handle])

    def written(self, path: str) -> None:
        """The file changed: what was known of its lines, in all versions, is forgotten. Lines are still found by content."""
        self._covers.pop(path, None)

    def text(self, handle: str) -> str | None:
        """As it is in view now."""
        item = self._items.get(handle)
        return None if item is None else item.text

    def covered(self, path: str, oid: str, first: int, last: int) -> list[tuple[int, int]]:
        """Which of these lines of this version of the file are in view. Of an unknown version ("") none are."""
        cover = self._covers.get(path, {}).get(oid)
        return [] if cover is None else cover.within(first, last)

    def covered_in_any(self, path: str, first: int, last: int) -> list[tuple[int, int]]:
        """The same, in any version that was not written over since."""
        return sorted({found for cover in self._covers.get(path, {}).values() for found in cover.within(first, last)})

    def same(self, lines: Sequence[str], *, own: str = "") -> Run | None:
        """The newest whole text in view that has exactly these lines. Not the one under `own`."""
        for handle in reversed(self._texts.get("\n".join(lines), {})):
            if handle != own:
                return Run(0, len(lines), handle, 1, origin=self._items[handle].origin(0, len(lines)))
        return None

    def runs(
        self, lines: Sequence[str], *, least: int = WINDOW, own: str = "", worth: Callable[[Run], bool] | None = None
    ) -> list[Run]:
        """The runs of at least `least` lines that stand in one text in view: in order, not overlapping, each the longest there.

        Not in the text under `own`. Of equally long ones, lines as they are come before lines without numbers, then the newest.
        What is not `worth` it leaves its lines to other runs.
        """
        if not self._windows:
            return []
        found: list[Run] = []
        after = searched = 0
        starts = self._starts(lines)
        for start in sorted(starts):
            if start < searched:
                continue
            length, layer, place = self._longest(start, starts[start], own)
            # If this is not taken: a longer run that starts between here and there has a window that ends behind there.
            searched = start + max(1, length - WINDOW + 1)
            if place is None or length < least or is_trivial(layer.lines, start - layer.start, length):
                continue
            if worth is None or worth(self._grown(start, length, layer=layer, place=place, limit=min(start - after, BACK))):
                found.append(self._grown(start, length, layer=layer, place=place, limit=start - after))
                after = searched = start + length
        return found

    def _starts(self, lines: Sequence[str]) -> dict[int, list[tuple[Layer, list[Place]]]]:
        """Where a run could start: the lines whose window is known, in which layer of the text, and where it stands."""
        starts: dict[int, list[tuple[Layer, list[Place]]]] = {}
        for layer in layers(lines):
            for offset, key in enumerate(self._keys(layer)):
                if key in self._windows:
                    starts.setdefault(layer.start + offset, []).append((layer, self._windows[key]))
        return starts

    def _longest(self, start: int, known: Sequence[tuple[Layer, list[Place]]], own: str) -> tuple[int, Layer, Place | None]:
        length, best, best_layer = 0, None, known[0][0]
        for layer, places in known:
            for place in reversed(places):
                item, there, offset = place
                behind = start - layer.start + length
                if item.handle == own or behind >= len(layer.lines) or offset + length >= len(there.lines):
                    continue
                # Only a place that also has the line behind the best run so far can be better.
                if layer.lines[behind] == there.lines[offset + length]:
                    common = self._common(layer.lines, start - layer.start, there.lines, offset)
                    if common > length:
                        length, best, best_layer = common, place, layer
        return length, best_layer, best

    def _common(self, a: Sequence[Line], i: int, b: Sequence[Line], j: int) -> int:
        """How many lines are equal from a[i] and b[j] on. By blocks that grow: most of it is a comparison of two lists."""
        limit = min(len(a) - i, len(b) - j)
        length, block = 0, 8
        while length < limit:
            end = min(limit, length + block)
            self.compared += end - length
            if a[i + length : i + end] != b[j + length : j + end]:
                return next(at for at in range(length, end) if a[i + at] != b[j + at])
            length, block = end, block * 2
        return length

    def _grown(self, start: int, length: int, *, layer: Layer, place: Place, limit: int) -> Run:
        """The run that starts here, with up to `limit` lines before it that are equal too."""
        item, there, at = place
        offset = start - layer.start
        back, limit = 0, min(limit, offset, at)
        while back < limit and layer.lines[offset - back - 1] == there.lines[at - back - 1]:
            back += 1
        self.compared += back
        return _run(start - back, length + back, layer=layer, place=(item, there, at - back))

    def _keys(self, layer: Layer) -> Iterator[int]:
        return map(self._window_key, zip(*(layer.lines[shift:] for shift in range(WINDOW)), strict=False))

    def _cover(self, item: Viewed) -> None:
        known = [(origin, origin.first + count - 1) for _, count, origin in item.placed if origin.oid]
        for origin, last in known:
            cover = self._covers.setdefault(origin.path, {}).setdefault(origin.oid, Cover())
            cover.add(origin.first, last)
            # The cover itself is kept: after `written` it is out of use, and taking away from it changes nothing.
            self._covered_by.setdefault(item.handle, []).append((cover, origin.first, last))

    def _drop(self, item: Viewed) -> None:
        del self._items[item.handle]
        _discard(self._turns, item.turn, item.handle)
        if not item.at:
            _discard(self._texts, item.text, item.handle)
        for key in {key for layer in item.layers for key in self._keys(layer)}:
            left = [place for place in self._windows.get(key, ()) if place[0] is not item]
            if left:
                self._windows[key] = left
            else:
                self._windows.pop(key, None)
        for cover, first, last in self._covered_by.pop(item.handle, ()):
            cover.remove(first, last)
        for path in {origin.path for _, _, origin in item.placed}:
            self._covers[path] = {oid: cover for oid, cover in self._covers.get(path, {}).items() if cover}
            if not self._covers[path]:
                del self._covers[path]


def _discard(handles: dict[_Key, dict[str, None]], key: _Key, handle: str) -> None:
    del handles[key][handle]
    if not handles[key]:
        del handles[key]


def _run(start: int, length: int, *, layer: Layer, place: Place) -> Run:
    item, there, offset = place
    here = layer.stretch.numbers(start - layer.start, length) if layer.stretch else None
    other = there.stretch.numbers(offset, length) if there.stretch else None
    numbering = Numbering(here, other) if here or other else None
    index = there.start + offset
    return Run(start, start + length, item.handle, item.number(index), numbering, item.origin(index, length))
