"""Overlap: which lines of a result the model has in view already. The value stays whole; what is shown of it is condensed by
that.

A write to a file forgets its lines: they are lines of a version that is gone.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.call import Call, Outcome, Proceed
from harness.seen import Seen


class Overlap:
    """One for a session."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def admit(self, call: Call) -> Outcome | None:
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        try:
            outcome = await proceed(call)
        finally:
            for key in call.effects.writes:
                if key.startswith("file:"):
                    self._seen.written(key.removeprefix("file:"))
        if not outcome.ok or call.tool.facts.shape != "slice":
            return outcome
        in_view = tuple(
            found for path, oid, first, last in slices_in(outcome.value) for found in self._seen.covered(path, oid, first, last)
        )
        return replace(outcome, in_view=in_view) if in_view else outcome


def slices_in(value: Any) -> Iterator[tuple[str, str, int, int]]:
    """Path, id of the content, first and last line of each range in a slice of a file."""
    if not isinstance(value, dict):
        return
    path, oid, lines = value.get("path"), value.get("oid"), value.get("lines")
    if not (isinstance(path, str) and isinstance(oid, str) and isinstance(lines, list)):
        return
    for pair in lines:
        if isinstance(pair, list | tuple) and len(pair) == 2 and all(type(end) is int for end in pair):
            yield path, oid, pair[0], pair[1]
