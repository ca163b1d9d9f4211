"""From a text and the hunks of a patch to the new text. Pure; says nothing of files but the name in its problems.

Hunks apply in order, each after the one before it. Rule: a line that the patch does not remove keeps every byte, its ending too,
even where it matched only loosely; a line that the patch adds takes the ending used around it and always has one.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tool_packs.patch_grammar import Hunk, Line
from tool_packs.patch_lines import Lines, Place, split
from tool_packs.patch_nearest import anchor_missing, hunk_missing

_BOM = "\ufeff"
_BLANKS = 2  # blank lines at the end of a hunk that may be left out


@dataclass(frozen=True, slots=True)
class Revised:
    text: str
    added: int
    removed: int
    fuzz: tuple[str, ...]  # how hunks matched that did not match exactly


@dataclass(frozen=True, slots=True)
class _Put:
    """Where a hunk goes: `lines` take the place of as many old lines as they keep and remove."""

    start: int
    lines: tuple[Line, ...]


def revise(path: str, text: str, hunks: Sequence[Hunk]) -> Revised:
    """ToolProblem `no_match` when a hunk or an anchor is not there."""
    bom = _BOM if text.startswith(_BOM) else ""
    lines, endings = split(text[len(bom) :])
    puts, fuzz = _placed(path, Lines(lines), hunks)
    return Revised(
        text=bom + _joined(lines, endings, puts),
        added=sum(line.op == "+" for hunk in hunks for line in hunk.lines),
        removed=sum(line.op == "-" for hunk in hunks for line in hunk.lines),
        fuzz=tuple(fuzz),
    )


def _placed(path: str, old: Lines, hunks: Sequence[Hunk]) -> tuple[list[_Put], list[str]]:
    puts, fuzz, cursor = list[_Put](), list[str](), 0
    for number, hunk in enumerate(hunks, 1):
        start = cursor
        for anchor in hunk.anchors:
            found = old.find([anchor], start) or old.beginning(anchor, start)
            if found is None:
                raise anchor_missing(path, old, anchor, number=number, hunk=hunk, start=start, after=cursor)
            start = found.start + 1
            if found.overlooked:
                fuzz.append(f"hunk {number}: @@ matched but for {found.overlooked}")
        put, place = _put(old, hunk, start)
        if put is None or place is None:
            raise hunk_missing(path, old, number=number, hunk=hunk, start=start, after=cursor)
        puts.append(put)
        if place.overlooked:
            fuzz.append(f"hunk {number}: matched but for {place.overlooked}")
        if hunk.anchors or any(line.op != "+" for line in put.lines):
            # Lines that are added at the end do not move the search: the next hunk may still be above.
            cursor = put.start + sum(line.op != "+" for line in put.lines)
    return sorted(puts, key=lambda put: put.start), fuzz


def _put(old: Lines, hunk: Hunk, start: int) -> tuple[_Put, Place] | tuple[None, None]:
    lines, shortened = hunk.lines, ""
    for _ in range(_BLANKS + 1):
        wanted = [line.text for line in lines if line.op != "+"]
        if not wanted:
            # Only added lines: right after the anchor, or at the end of the file when there is none.
            place: Place | None = Place(start if hunk.anchors and not hunk.end_of_file else _end(old), "")
        else:
            place = _seek(old, wanted, start, hunk)
        if place is not None:
            return _Put(place.start, lines), replace(place, overlooked=place.overlooked or shortened)
        if wanted[-1]:
            break
        # A blank line that ends a hunk often stands for the end of the file, or for nothing.
        lines, shortened = _without_last_blank(lines), "a blank line at its end"
    return None, None


def _end(old: Lines) -> int:
    """Where lines are added that name no place: above a blank last line, as the models' own tool does."""
    return len(old) - 1 if len(old) and not old.lines[-1] else len(old)


def _seek(old: Lines, wanted: list[str], start: int, hunk: Hunk) -> Place | None:
    if hunk.end_of_file and len(old) - len(wanted) >= start:
        at_end = old.at(wanted, len(old) - len(wanted))
        if at_end is not None:
            return at_end
    found = old.find(wanted, start)
    if found is None and hunk.anchors:
        return old.at(wanted, start - 1)  # the anchor's own line repeated as the first line of the hunk
    return found


def _without_last_blank(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    index = max(index for index, line in enumerate(lines) if line.op != "+")
    kept = (Line("+", ""),) if lines[index].op == " " and index + 1 < len(lines) else ()
    return lines[:index] + kept + lines[index + 1 :]


def _joined(lines: list[str], endings: list[str], puts: list[_Put]) -> str:
    made = _Made(usual=next(filter(None, endings), "\n"))
    here = 0
    for put in puts:
        made.keep(lines[here : put.start], endings[here : put.start])
        here = put.start
        for line in put.lines:
            if line.op == "+":
                made.add(line.text, next_ending=endings[here] if here < len(endings) else "")
                continue
            if line.op == " ":
                made.keep([lines[here]], [endings[here]])
            else:
                made.remove(endings[here])
            here += 1
    made.keep(lines[here:], endings[here:])
    return made.text()


class _Made:
    """The new text as it grows. Added lines take, in this order: the endings of the lines they replace, of the line before, of
    the line after; `usual` where nothing tells."""

    def __init__(self, usual: str) -> None:
        self._usual = usual
        self._lines = list[str]()
        self._endings = list[str]()
        self._removed = deque[str]()  # endings of the removed lines since the last kept one

    def keep(self, lines: list[str], endings: list[str]) -> None:
        if lines:
            self._removed.clear()
            self._lines += lines
            self._endings += endings

    def remove(self, ending: str) -> None:
        self._removed.append(ending)

    def add(self, line: str, *, next_ending: str) -> None:
        before = self._endings[-1] if self._endings else ""
        replaced = self._removed[0] if self._removed else ""
        if len(self._removed) > 1:
            self._removed.popleft()
        ending = replaced or before or self._earlier() or next_ending or self._usual
        if self._endings and not before:
            self._endings[-1] = ending  # was the last line, without an ending
        self._lines.append(line)
        self._endings.append(ending)

    def _earlier(self) -> str:
        return self._endings[-2] if len(self._endings) > 1 else ""

    def text(self) -> str:
        return "".join([part for pair in zip(self._lines, self._endings, strict=True) for part in pair])
