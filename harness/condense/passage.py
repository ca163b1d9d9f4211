"""A text with what is known of its lines, and the one way to change some of them: everything that counts lines moves along."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.condense.record import Origin, Reference


@dataclass(frozen=True, slots=True)
class Passage:
    """`references` and `placed` as in `Condensed`: the index of a line from 0 comes first."""

    text: str
    references: tuple[tuple[int, Reference], ...] = ()
    placed: tuple[tuple[int, int, Origin], ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `first` to `last` (from 0, the last excluded) become `lines`; their references and places count from there."""

    first: int
    last: int
    lines: Sequence[str]
    references: tuple[tuple[int, Reference], ...] = ()
    placed: tuple[tuple[int, int, Origin], ...] = ()


def rebuilt(passage: Passage, changes: Sequence[Change]) -> Passage:
    """The changes are in order and do not overlap."""
    if not changes:
        return passage
    old = passage.text.split("\n")
    lines: list[str] = []
    references: list[tuple[int, Reference]] = []
    placed: list[tuple[int, int, Origin]] = []
    done = 0
    for change in [*changes, Change(len(old), len(old), ())]:
        moved = len(lines) - done
        references += [(at + moved, reference) for at, reference in passage.references if done <= at < change.first]
        placed += [
            (max(at, done) + moved, min(at + count, change.first) - max(at, done), _later(origin, max(0, done - at)))
            for at, count, origin in passage.placed
            if max(at, done) < min(at + count, change.first)
        ]
        lines += old[done : change.first]
        references += [(at + len(lines), reference) for at, reference in change.references]
        placed += [(at + len(lines), count, origin) for at, count, origin in change.placed]
        lines += change.lines
        done = change.last
    return Passage("\n".join(lines), tuple(references), tuple(placed))


def _later(origin: Origin, lines: int) -> Origin:
    return replace(origin, first=origin.first + lines)
