"""What a policy hid that was used later: lines that an edit names, paths that a command names. The same code for every policy.

A line that an edit names counts when an output of this window (since the last compaction) had it and it has a letter or a digit.
It is hidden when no text shown in the window has it as a whole line, line numbers and diff signs aside. A path counts once a
window, at its first use; it is hidden when no text shown names it, as a whole or as a name under a line with its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.sessions_record import Session, paths_in

REFETCH_EDIT_BYTES = 2_048
REFETCH_PATH_BYTES = 512
_NUMBERED = re.compile(r"(?:[^\s:]{1,300}[:-])?[ ]*\d+(?:[:→\t|-]|[ ]+\|)[ ]?(.*)")
_VIEWER = re.compile(r"[ ]*\d+\t(.*)")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Need:
    """What one call uses: only outputs `start` to `end` of the session were in the model's view when it was written."""

    start: int
    end: int
    edits: tuple[frozenset[str], ...]
    paths: frozenset[str]


@dataclass(slots=True)
class Loss:
    lines: int = 0
    lines_hidden: int = 0
    edits: int = 0
    edits_touched: int = 0
    paths: int = 0
    paths_hidden: int = 0
    hidden: list[tuple[int, str]] = field(default_factory=list)  # the call's index, the line or path

    def add(self, other: Loss) -> None:
        for name in ("lines", "lines_hidden", "edits", "edits_touched", "paths", "paths_hidden"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.hidden += other.hidden

    @property
    def refetched_bytes(self) -> int:
        return self.edits_touched * REFETCH_EDIT_BYTES + self.paths_hidden * REFETCH_PATH_BYTES


def forms(line: str) -> Iterator[str]:
    """A line as an edit could name it: as it is, behind a line number, behind the sign of a diff; without blanks at the ends."""
    yield line.strip()
    if line[:1] in "+-" and line:
        yield line[1:].strip()
    found = _NUMBERED.match(line)
    if found is not None:
        yield found[1].strip()


def forms_of(text: str) -> set[str]:
    return {form for line in text.split("\n") for form in forms(line)}


def needs_of(session: Session) -> list[Need]:
    """For every call in order. Computed on the outputs as they were persisted."""
    lines: list[set[str]] = [forms_of(step.body) for step in session.steps]
    paths: list[set[str]] = [_suffixes(paths_in(step.body)) for step in session.steps]
    starts = [index for index, step in enumerate(session.steps) if step.forgets]
    used: set[str] = set()
    window = 0
    found: list[Need] = []
    for step in session.steps:
        end = step.asked.outputs_before
        start = max((index for index in starts if index <= end), default=0)
        if start != window:
            window, used = start, set()
        seen: set[str] = set().union(*lines[start:end]) if step.asked.old_lines else set()
        wanted = [
            frozenset(form for line in edit if _WORD.search(form := _named(line)) and form in seen)
            for edit in step.asked.old_lines
        ]
        named = {path for path in paths_in(step.asked.named) if path not in used}
        known = {path for path in named if any(path in there for there in paths[start:end])}
        used |= named
        found.append(Need(start, end, tuple(edit for edit in wanted if edit), frozenset(known)))
    return found


def _named(line: str) -> str:
    """The line that an edit names. Some name the number that a viewer wrote before it; it is no part of the file."""
    found = _VIEWER.match(line)
    return (line if found is None else found[1]).strip()


def _suffixes(paths: Iterable[str]) -> set[str]:
    """src/lib/a.py is told by /home/x/src/lib/a.py too."""
    return {"/".join(parts[at:]) for path in paths for parts in [path.split("/")] for at in range(len(parts))}


def loss_of(needs: Sequence[Need], shown: Sequence[str]) -> Loss:
    """`shown`: the text that stands for each output."""
    loss = Loss()
    wanted_lines = {line for need in needs for edit in need.edits for line in edit}
    wanted_paths = {path for need in needs for path in need.paths}
    lines = [forms_of(text) & wanted_lines for text in shown]
    paths = [_told(text, wanted_paths) for text in shown]
    for index, need in enumerate(needs):
        if need.edits:
            there: set[str] = set().union(*lines[need.start : need.end])
            for edit in need.edits:
                hidden = edit - there
                loss.edits += 1
                loss.lines += len(edit)
                loss.edits_touched += bool(hidden)
                loss.lines_hidden += len(hidden)
                loss.hidden += ((index, line) for line in sorted(hidden))
        loss.paths += len(need.paths)
        missing = {path for path in need.paths if not any(path in told for told in paths[need.start : need.end])}
        loss.paths_hidden += len(missing)
        loss.hidden += ((index, path) for path in sorted(missing))
    return loss


def _told(text: str, wanted: set[str]) -> set[str]:
    """The wanted paths that the text names, also as `folder` and, on that line or below it, `name`."""
    found = _suffixes(paths_in(text)) & wanted
    for path in wanted - found:
        folder, _, name = path.rpartition("/")
        at = text.find(folder + "/") if folder else -1
        if at >= 0 and re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", text[at:]):
            found.add(path)
    return found
