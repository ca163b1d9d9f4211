"""Sessions re-enacted with our own parts: every output becomes an item, is condensed, and is then in view until a compaction.

A step is a turn that shows one value, as a script would that shows what its call gave. What an agent's own reader put around a
file (numbers in front of lines, reminders behind) is not in the value, because our reader does not put it there: the cause is
`header`, as are exit codes and wall times. The label of the handle counts as shown.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from typing import Any

from benchmarks.condense_baselines import Shown
from benchmarks.sessions_record import Session, Step, command_text
from harness.condense import Flags, condense
from harness.condense.record import Condensed, Item, Shape
from harness.limits import DEFAULT_SHOWN_LIMITS, ShownLimits
from harness.printed_files import as_files
from harness.seen import Seen

_NUMBERED = re.compile(r"[ ]*(\d+)(?:→|\t|: )(.*)")
_SHAPES: dict[str, Shape] = {"search": "hits", "build": "build"}
_EDITED = re.compile(r"The file (\S+) has been (?:updated|edited)[^\n]*\n.*cat -n", re.DOTALL)
_FLAGS = Flags()
DUPLICATE_LINES = 5
_REFERENCE_BYTES = 96  # of a reference that names a file, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    limits: ShownLimits = DEFAULT_SHOWN_LIMITS
    flags: Flags = _FLAGS
    small_files: bool = True
    acknowledges: bool = True  # an edit is told by its counts, without the lines around it
    reads: bool = True  # a command that prints files is shown as files; else as any command's output


@dataclass(slots=True)
class Reenacted:
    """One session: what was shown for each step, bytes by cause, the times, and the lines that were shown twice."""

    shown: list[Shown] = field(default_factory=list)
    causes: Counter[str] = field(default_factory=Counter)
    by_class: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    duplicates: int = 0
    duplicates_short: int = 0  # beside these, in runs that are no longer than a reference to them would be
    unresolved: int = 0  # references that lead to no text in view: must be 0


def reenact(session: Session, setting: Setting) -> Reenacted:
    done = Reenacted()
    view = Seen()
    doubles = Doubles()
    for turn, step in enumerate(session.steps):
        if step.forgets:
            view.forget(range(turn))
            done.duplicates_short += doubles.short
            doubles = Doubles()
        handle = f"T{turn + 1}.1"
        item = item_of(step if setting.reads else replace(step, reads=()), handle, acknowledges=setting.acknowledges)
        started = time.perf_counter()
        condensed = condense(
            item,
            view,
            setting.limits,
            room=setting.limits.shown_turn_bytes,
            small_file_free=setting.small_files,
            flags=setting.flags,
        )
        view.add(turn, handle, condensed.text, condensed.placed, condensed.references)
        done.unresolved += sum(view.text(reference.handle) is None for _, reference in condensed.references)
        done.seconds.append(time.perf_counter() - started)
        done.duplicates += doubles.add(condensed)
        labelled = not condensed.whole or condensed.text.count("\n") + 1 >= setting.limits.run_lines  # as a turn does
        _account(done, step, condensed, label=len(f"[{handle}]\n") if labelled else 0)
    done.duplicates_short += doubles.short
    return done


def _account(done: Reenacted, step: Step, condensed: Condensed, *, label: int) -> None:
    size = len(condensed.text.encode()) + label
    done.shown.append(Shown(condensed.text, size, not condensed.whole))
    causes = Counter({str(cause): count for cause, count in condensed.trimmed.items()})
    causes["header"] = step.persisted_bytes - condensed.produced - label
    done.causes.update(causes)
    of_class = done.by_class.setdefault(step.kind, Counter())
    of_class.update(causes)
    of_class.update({"before": step.persisted_bytes, "after": size, "outputs": 1, "cut": int(not condensed.whole)})


def without_caps(limits: ShownLimits = DEFAULT_SHOWN_LIMITS) -> ShownLimits:
    """Only references and re-formatting are left."""
    wide: dict[str, Any] = {each.name: 1 << 40 for each in fields(limits) if each.name.endswith(("_bytes", "_lines"))}
    return replace(limits, **(wide | {"run_lines": limits.run_lines, "digest_lines": limits.digest_lines}))


# ── items ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def item_of(step: Step, handle: str, *, acknowledges: bool = True) -> Item:
    command = command_text(step.asked.command)
    if step.path:
        value = viewed(step.body, step.path)
        if value is not None:
            return Item(handle=handle, value=value, shape="slice")
    files = as_files(step.body, [read.model_dump() for read in step.reads])
    if files is not None:
        return Item(handle=handle, value=files[0], shape="slice", origin=files[1], command=command)
    if acknowledges and (edited := _EDITED.match(step.body)):
        count = sum(len(lines) for lines in step.asked.old_lines)
        files = [{"path": edited[1], "action": "updated", "added": count, "removed": count}]
        return Item(handle=handle, value={"files": files, "added": count, "removed": count}, shape="patch")
    shape = _SHAPES.get(step.kind, "output" if step.asked.command else "text")
    return Item(handle=handle, value=step.body, shape=shape, command=command, exit_code=step.exit_code)


def viewed(body: str, path: str) -> dict[str, Any] | None:
    """What an agent's viewer printed with numbers, as our reader gives it. Only the numbers and what is not numbered go."""
    rows = [found for line in body.split("\n") if (found := _NUMBERED.match(line)) is not None]
    if not rows or [int(row[1]) for row in rows] != list(range(int(rows[0][1]), int(rows[0][1]) + len(rows))):
        return None
    return _slice(path, int(rows[0][1]), [row[2] for row in rows])


def _slice(path: str, first: int, rows: list[str]) -> dict[str, Any]:
    return {"path": path, "lines": [[first, first + len(rows) - 1]], "text": "\n".join(rows)}


# ── lines shown twice ────────────────────────────────────────────────────────────────────────────────────────────────────


class Doubles:
    """Counts lines of runs that stand in one text of the same window already; an own check, apart from `Seen`.

    A run has at least five lines, two of them different and not blank. Those that are no longer than a reference to them would be
    are counted in `short` alone: to show them again is the smaller text.
    """

    def __init__(self) -> None:
        self.short = 0
        self._texts: list[list[str | None]] = []
        self._places: dict[tuple[str | None, ...], list[tuple[int, int]]] = {}

    def add(self, condensed: Condensed) -> int:
        """References and the line with the exit code are not lines of a source."""
        ours = {index for index, _ in condensed.references}
        lines = [
            None if index in ours or (index == 0 and line.startswith("exit code ")) else line
            for index, line in enumerate(condensed.text.split("\n"))
        ]
        count = at = 0
        while at + DUPLICATE_LINES <= len(lines):
            length = max((self._common(lines, at, place) for place in self._places.get(_window(lines, at), ())), default=0)
            run = [line for line in lines[at : at + length] if line is not None]
            if len({line for line in run if line.strip()}) >= 2:
                if len("\n".join(run).encode()) <= _REFERENCE_BYTES:
                    self.short += length
                else:
                    count += length
            at += max(length, 1)
        for start in range(len(lines) - DUPLICATE_LINES + 1):
            if None not in _window(lines, start):
                self._places.setdefault(_window(lines, start), []).append((len(self._texts), start))
        self._texts.append(lines)
        return count

    def _common(self, lines: list[str | None], at: int, place: tuple[int, int]) -> int:
        there, start = self._texts[place[0]], place[1]
        pairs = zip(lines[at:], there[start:], strict=False)
        return next(
            (index for index, (one, other) in enumerate(pairs) if one != other or one is None),
            min(len(lines) - at, len(there) - start),
        )


def _window(lines: list[str | None], at: int) -> tuple[str | None, ...]:
    return tuple(lines[at : at + DUPLICATE_LINES])
