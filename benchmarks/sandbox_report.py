"""From samples to rows, tables and targets. Pure: nothing here measures or prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.contenders import CONTENDERS
from benchmarks.sandbox_cells import CELLS, Cell

FRESH, REUSED, FLOOR, MONTY = "ours, fresh process", "ours, reused", "floor: our Machine", "monty, async host"
PEERS = tuple(entry.name for entry in CONTENDERS if entry.role == "peer")


@dataclass(frozen=True, slots=True)
class Row:
    """One contender in one cell: the p50 of every round. `value` is the best of them."""

    contender: str
    cell: str
    unit: str
    value: float | None
    rounds: tuple[float, ...] = ()
    worst_p99: float | None = None
    samples: int = 0
    note: str = ""


def summarise(contender: str, cell: Cell, answers: Sequence[dict[str, object]]) -> Row:
    good = [answer for answer in answers if "p50" in answer]
    if not good:
        note = str(answers[-1].get("error", "not measured")) if answers else "not measured"
        return Row(contender, cell.name, cell.unit, None, note=note)
    medians = tuple(float(str(answer["p50"])) for answer in good)
    return Row(
        contender,
        cell.name,
        cell.unit,
        max(medians) if cell.more_is_better else min(medians),
        medians,
        max(float(str(answer["p99"])) for answer in good),
        sum(int(str(answer["samples"])) for answer in good),
    )


def shown(row: Row | None) -> str:
    if row is None:
        return "–"
    if row.value is None:
        return row.note if row.note == "not installed" else "–" if row.note == "not measured" else "failed"
    if row.unit == "/s":
        return f"{row.value:,.0f}"
    return f"{row.value:,.2f}" if row.value < 10 else f"{row.value:,.1f}"


def table(rows: Sequence[Row], cells: Sequence[Cell]) -> str:
    """Markdown with padded columns: reads on a terminal and goes into a document as it is."""
    by_place = {(row.contender, row.cell): row for row in rows}
    names = [entry.name for entry in CONTENDERS if any(row.contender == entry.name for row in rows)]
    lines = [["contender", *(f"{cell.title} {cell.unit}" for cell in cells)]]
    lines += [[name, *(shown(by_place.get((name, cell.name))) for cell in cells)] for name in names]
    first, *widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * first, *("-" * (width - 1) + ":" for width in widths)]
    return "\n".join(
        "| " + " | ".join([line[0].ljust(first), *map(str.rjust, line[1:], widths)]) + " |"
        for line in (lines[0], rule, *lines[1:])
    )


@dataclass(frozen=True, slots=True)
class Target:
    """`ours` against `other` in one cell: met when ours/other is on the right side of `bound`."""

    says: str
    cell: str
    other: str
    bound: float


TARGETS: tuple[Target, ...] = (
    Target("trivial within 1.5x of the in-process floor", "trivial", FLOOR, 1.5),
    Target("trivial ahead of monty's async host", "trivial", MONTY, 1.0),
    Target("10 calls in at most half of monty's time", "ten_calls", MONTY, 0.5),
    Target("all of 1,000 within 2x of the in-process floor", "promise_all", FLOOR, 2.0),
    Target("at least 3x monty's scripts a second, trivial", "rate_trivial", MONTY, 3.0),
    Target("at least 3x monty's scripts a second, 1 call", "rate_one_call", MONTY, 3.0),
    *(Target(f"cold start ahead of {peer}", "cold", peer, 1.0) for peer in PEERS),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    contender: str
    target: str
    ratio: float | None
    bound: float
    passed: bool | None

    def line(self) -> str:
        if self.ratio is None:
            return f"  not measured  {self.contender}: {self.target}"
        if self.passed:
            return f"  passed        {self.contender}: {self.target}: {self.ratio:.2f}x"
        away = max(self.ratio, self.bound) / min(self.ratio, self.bound)
        return f"  MISSED        {self.contender}: {self.target}: {self.ratio:.2f}x, {away:.2f}x away"


def judge(target: Target, contender: str, rows: Sequence[Row]) -> Verdict:
    values = {(row.contender, row.cell): row.value for row in rows}
    ours, other = values.get((contender, target.cell)), values.get((target.other, target.cell))
    if ours is None or other is None:
        return Verdict(contender, target.says, None, target.bound, None)
    ratio = ours / other
    more_is_better = next(cell for cell in CELLS if cell.name == target.cell).more_is_better
    passed = ratio >= target.bound if more_is_better else ratio < target.bound
    return Verdict(contender, target.says, ratio, target.bound, passed)


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Targets whose cell was left out of this run are left out here too."""
    cells = {row.cell for row in rows}
    targets = [target for target in TARGETS if target.cell in cells]
    return [judge(target, contender, rows) for contender in (FRESH, REUSED) for target in targets]
