"""Tables of the corpus of mistakes: points by class, points by kind of point, and what was told, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

EXAMPLE_LINES = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    system: str
    kind: str
    id: str
    source: str
    text: str
    survived: bool
    points: dict[str, bool]
    too_many_effects: bool | None


def systems_of(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.system for row in rows))


def class_table(rows: list[Row], kinds: list[str]) -> str:
    return _table(
        "class", rows, [(kind, lambda row, kind=kind: list(row.points.values()) if row.kind == kind else []) for kind in kinds]
    )


def point_table(rows: list[Row], points: Mapping[str, str]) -> str:
    drawn = _table(
        "point", rows, [(point, lambda row, point=point: [row.points[point]] if point in row.points else []) for point in points]
    )
    return drawn + "\n\n" + "\n".join(f"{point}: {meaning}" for point, meaning in points.items())


def _table(title: str, rows: list[Row], lines: list[tuple[str, Callable[[Row], list[bool]]]]) -> str:
    systems = systems_of(rows)
    drawn = [f"| {title} | {' | '.join(systems)} |", f"|---|{'---:|' * len(systems)}"]
    for name, chosen in [*lines, ("total", lambda row: list(row.points.values()))]:
        cells = [_share([won for row in rows if row.system == system for won in chosen(row)]) for system in systems]
        drawn.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(drawn)


def _share(points: list[bool]) -> str:
    return f"{sum(points)}/{len(points)} ({100 * sum(points) / len(points):.0f} %)" if points else "–"


def effects_line(rows: list[Row]) -> str:
    told = []
    for system in systems_of(rows):
        asked = [row.too_many_effects for row in rows if row.system == system and row.too_many_effects is not None]
        told.append(f"{system} {sum(asked)} of {len(asked)}")
    return f"an order was placed before a mistake that could be seen before the first call: {', '.join(told)}"


def examples(rows: list[Row], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        chosen = [row for row in rows if f"{row.kind}/{row.id}" == name]
        for row in chosen:
            lines = row.text.split("\n")
            cut = [*lines[:EXAMPLE_LINES], f"… {len(lines) - EXAMPLE_LINES} more lines"] if len(lines) > EXAMPLE_LINES else lines
            end = "" if row.survived else "  [an exception left the agent's loop; the model is told nothing]"
            yield f"\n{name}, {row.system}: {sum(row.points.values())} of {len(row.points)} points{end}"
            yield "\n".join(f"    {line}" for line in cut)
