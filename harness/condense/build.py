"""Output of builds and tests: the failures in some lines, then the end. When all went well, the summaries and a short end."""

from collections.abc import Sequence
from dataclasses import replace

from harness.condense.failures import Failure, failures_of
from harness.condense.fit import tail, wished
from harness.condense.output import head_of, printed_of
from harness.condense.page import Caps, Interval, Page, Room, Rows
from harness.condense.passing import passing
from harness.condense.record import Item
from harness.condense.relevance import Lines
from harness.condense.terminal import settled
from harness.condense.text import folded, lines_of, page_of
from harness.limits import ShownLimits

_WELL = Caps(12, 1_024)  # a build that went well
_SUMMARIES = ("test result: ", " passed", "BUILD SUCC", "Tests run:", "Tests: ", "Ran ", " warning", " passing", "# pass ")
_SUMMARIES_MAX = 5


def build_page(item: Item, limits: ShownLimits) -> Page:
    printed = printed_of(item)
    text = settled(printed.text)
    body = folded(text)
    failures = failures_of(lines_of(text))
    failed = bool(failures) if printed.exit_code is None else printed.exit_code != 0
    caps = Caps(limits.build_lines, limits.build_bytes)
    head = head_of(printed)
    if not failed:
        page = page_of(body, printed.produced, _WELL.within(caps), head=head, choose=_end_and_summaries)
        return replace(page, aside=passing)
    page = replace(page_of(body, printed.produced, caps, head=head, choose=tail), aside=passing)
    return replace(page, head_when_cut=(*head, *digest(failures, limits.digest_lines))) if failures else page


def digest(failures: Sequence[Failure], most: int) -> list[str]:
    """How many there are, then the first of them, in at most so many lines."""
    if most < 2:
        return [f"{len(failures)} failures"] if most else []
    shown = [str(failure) for failure in failures[: most - 1]]
    count = "1 failure:" if len(failures) == 1 else f"{len(failures)} failures:"
    return [count if len(shown) == len(failures) else f"{len(failures)} failures, the first {len(shown)}:", *shown]


def _end_and_summaries(rows: Rows, room: Room) -> list[Interval]:
    text = Lines(rows.texts)
    told = sorted({at for word in _SUMMARIES for at in text.holding(word, 200)})[-_SUMMARIES_MAX:]
    end = tail(rows, replace(room, bytes=room.bytes * 3 // 4, lines=max(1, room.lines - 3 * len(told))))
    return wished(rows, room, [*end, *((at, at + 1) for at in told), *tail(rows, room)])
