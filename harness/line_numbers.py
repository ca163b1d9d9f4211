"""Line-number prefixes: what stands before the text in the output of grep -n, nl, cat -n and the viewers of agents.

A stretch is consecutive lines with consecutive numbers and one form of prefix. Taking prefixes off and putting them on again
gives the same bytes: a line is in a stretch only if its prefix is the one that `prefix` writes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

NUMBERED = re.compile(r"(?P<lead>L?)(?P<pad>0+(?=[1-9])| *)(?P<number>[1-9][0-9]{0,8}|0)(?P<mark>\t|→|:|-|\|| \|)")
# A path before the number: `src/a.py:12:text`, and `src/a.py-13-text` for the lines around a match.
WITH_PATH = re.compile(r"(?P<path>[^\s:]{1,400}?)(?P<mark>[:-])(?P<number>[1-9][0-9]{0,8})(?P=mark)")
SPACED = frozenset((":", "|", " |"))  # marks after which a viewer may write a space, which no empty line needs to have
MIXES = {
    frozenset((":", "-")): "-",
    frozenset((": ", ":")): ": ",
    frozenset(("| ", "|")): "| ",
    frozenset((" | ", " |")): " | ",
}


@dataclass(frozen=True, slots=True)
class Numbers:
    """The prefixes of consecutive lines, the first of which has the number `first`.

    A prefix is the path and the mark where there is a path, else `lead`; then the number, filled to `width` with `fill`; then the
    mark. At the offsets `others` the mark is `other`: the matches among grep's context lines, or the empty lines of a viewer.
    """

    first: int
    mark: str
    lead: str = ""
    path: str = ""
    width: int = 0
    fill: str = " "
    other: str = ""
    others: tuple[int, ...] = ()

    def prefixes(self, count: int) -> list[str]:
        marks = [self.mark] * count
        for offset in self.others:
            marks[offset] = self.other
        return [prefix(self.first + offset, mark, self) for offset, mark in enumerate(marks)]

    def matches(self) -> tuple[int, ...]:
        """The numbers of the lines that grep marked as matches, when others around them are not."""
        return tuple(self.first + offset for offset in self.others) if (self.mark, self.other) == ("-", ":") else ()


@dataclass(frozen=True, slots=True)
class Numbering:
    """How lines behind a reference differ from those it refers to: `there` comes off those, `here` goes on. None: no numbers."""

    here: Numbers | None = None
    there: Numbers | None = None

    def restored(self, lines: Sequence[str]) -> list[str]:
        bodies = list(lines)
        if self.there is not None:
            fronts = self.there.prefixes(len(bodies))
            if not all(map(str.startswith, bodies, fronts)):
                raise ValueError(f"lines are not numbered from {self.there.first} as the reference says")
            bodies = [line[len(front) :] for line, front in zip(bodies, fronts, strict=True)]
        if self.here is not None:
            bodies = [front + body for front, body in zip(self.here.prefixes(len(bodies)), bodies, strict=True)]
        return bodies


@dataclass(frozen=True, slots=True)
class Stretch:
    """Numbered lines without their numbers: `bodies` stand from line `start` (from 0) of a text on."""

    start: int
    bodies: list[str]
    marks: list[str]
    form: Numbers  # of the first line

    def numbers(self, offset: int, count: int) -> Numbers:
        marks = self.marks[offset : offset + count]
        kinds = frozenset(marks)
        form, first = self.form, self.form.first + offset
        mark = marks[0] if len(kinds) == 1 else MIXES[kinds]
        others = tuple(index for index, each in enumerate(marks) if each != mark)
        other = marks[others[0]] if others else ""
        return Numbers(first, mark, form.lead, form.path, form.width, form.fill, other, others)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line, read as a numbered one. `written` is the number as it stands there, with what fills it up."""

    number: int
    written: str
    mark: str
    body: str
    lead: str = ""
    path: str = ""


def prefix(number: int, mark: str, form: Numbers) -> str:
    front = form.path + mark if form.path else form.lead
    return f"{front}{str(number).rjust(form.width, form.fill)}{mark}"


def stretches(lines: Sequence[str], *, least: int) -> list[Stretch]:
    """All numbered stretches of at least `least` lines. A line may be in two: `12: a` is ` a` after `:` and `a` after `: `."""
    found: list[Stretch] = []
    done = 0
    # One line in `least` is looked at: a stretch that is long enough has such a line in it.
    for probe in range(least - 1, len(lines), least):
        if probe < done or _read(lines[probe]) is None:
            continue
        start = max(done, probe - least + 1)
        read: list[_Line] = []
        index = start
        while index < len(lines):
            line = _read(lines[index])
            if line is None:
                if index >= probe:
                    break
                read, start = [], index + 1
            else:
                read.append(line)
            index += 1
        done = index
        found += _split(start, read, least)
        found += [part for first, rest in _spaced(start, read) for part in _split(first, rest, least)]
    return found


def _read(line: str) -> _Line | None:
    match = NUMBERED.match(line)
    if match is not None:
        lead, pad, number, mark = match.groups()
        return _Line(int(number), pad + number, mark, line[match.end() :], lead)
    match = WITH_PATH.match(line)
    if match is not None:
        return _Line(int(match["number"]), match["number"], match["mark"], line[match.end() :], path=match["path"])
    return None


def _spaced(start: int, read: Sequence[_Line]) -> list[tuple[int, list[_Line]]]:
    """The same lines with the space behind the mark as part of it, where each line that is not empty has one."""
    parts: list[tuple[int, list[_Line]]] = []
    current: list[_Line] = []
    for index, line in enumerate(read):
        if line.path or line.mark not in SPACED or not (line.body.startswith(" ") or not line.body):
            current = []
            continue
        if not current:
            parts.append((start + index, current))
        mark = line.mark + " " if line.body else line.mark
        current.append(_Line(line.number, line.written, mark, line.body[1:], line.lead))
    return [(first, lines) for first, lines in parts if any(line.mark.endswith(" ") for line in lines)]


def _split(start: int, read: Sequence[_Line], least: int) -> list[Stretch]:
    """Cut where the numbers are not consecutive or the form changes."""
    cuts = [0]
    form = _form(read[0]) if read else None
    for index, (before, line) in enumerate(pairwise(read), 1):
        assert form is not None
        if line.number != before.number + 1 or not _continues(before, line, form):
            cuts.append(index)
            form = _form(line)
    parts = [(a, read[a:b]) for a, b in pairwise([*cuts, len(read)]) if b - a >= least]
    return [Stretch(start + a, [line.body for line in part], [line.mark for line in part], _form(part[0])) for a, part in parts]


def _continues(before: _Line, line: _Line, form: Numbers) -> bool:
    return (
        line.lead == form.lead
        and line.path == form.path
        and (line.mark == before.mark or frozenset((line.mark, before.mark)) in MIXES)
        and line.written == str(line.number).rjust(form.width, form.fill)
    )


def _form(line: _Line) -> Numbers:
    filled = len(line.written) > len(str(line.number))
    width, fill = (len(line.written), line.written[0]) if filled else (0, " ")
    return Numbers(line.number, line.mark, line.lead, line.path, width, fill)
