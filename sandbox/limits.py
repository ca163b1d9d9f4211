"""The limits of one script, each with its reason beside it.

`docs/limits.md` is printed from here; no other file of this package holds a number that a user may set.
"""

from dataclasses import dataclass, field, fields
from typing import Any

KIB = 1024
MIB = 1024 * KIB


def number(default: float, unit: str, why: str) -> float:
    value: float = field(default=default, metadata={"unit": unit, "why": why})
    return value


def count(default: int, unit: str, why: str) -> int:
    value: int = field(default=default, metadata={"unit": unit, "why": why})
    return value


def check_numbers(limits: Any) -> None:
    """Every field of a record of limits is a number above 0."""
    for item in fields(limits):
        value = getattr(limits, item.name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 2**53:
            raise ValueError(f"limit {item.name} must be a number above 0, not {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    source_bytes: int = count(128 * KIB, "bytes", "a script may carry a patch that adds a whole file")
    engine_seconds: float = number(10.0, "seconds", "a script that computes longer is stuck; waiting for the host does not count")
    heap_bytes: int = count(96 * MIB, "bytes", "holds a repository's search results, small enough to run many")
    stack_bytes: int = count(1 * MIB, "bytes", "deep recursion is a clear error, never a crash")
    jobs: int = count(
        1_000_000, "promise jobs between two host visits", "a microtask flood ends by a count as well as by the clock"
    )
    args_bytes: int = count(4 * MIB, "bytes", "one value out of the script: arguments, shown, stored, returned; bounds a frame")
    result_bytes: int = count(16 * MIB, "bytes", "one result into the script; bounds a frame")
    depth: int = count(64, "levels", "a hostile value must not exhaust the host's stack")
    calls: int = count(256, "calls", "fan-out over a directory fits; a runaway loop does not")
    waits: int = count(10_000, "waits", "sleep, timers, recall, help and relax; a polling loop fits in a turn")
    console_lines: int = count(500, "lines", "enough to debug, not enough to flood; the rest is counted")
    console_bytes: int = count(64 * KIB, "bytes", "the same, for long lines")
    shown_values: int = count(1_000, "values", "a list shown item by item fits; a flood does not")
    stored_values: int = count(1_000, "calls of store", "a key for each of many files fits; a flood does not")
    stored_bytes: int = count(1 * MIB, "bytes", "what a session keeps between scripts")
    outbox_bytes: int = count(8 * MIB, "characters", "all that a script sends between two host visits; bounds a frame")
    frames: int = count(10, "frames", "deeper frames of an error say little")

    def __post_init__(self) -> None:
        check_numbers(self)


DEFAULT_LIMITS = Limits()


def table(limits: type = Limits) -> list[tuple[str, str, str]]:
    """Name, default with unit, reason: the rows of docs/limits.md."""
    return [(item.name, f"{item.default:,} {item.metadata['unit']}", item.metadata["why"]) for item in fields(limits)]
