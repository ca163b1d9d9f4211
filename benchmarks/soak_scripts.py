"""The mix of scripts for the soak, and how each must end.

A script's number decides its kind, so that a run can be repeated. Every 5,000th runs into its time limit, every
5,000th loses its worker to SIGKILL; the rest take turns.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox import Called, Exceeded, Failed, Finished, Limits, Pool, Resolve, SandboxError, Start

RARE_EVERY = 5_000
DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    source: str
    ends_as: str  # how `describe` names the last event
    limits: Limits = DEFAULT_LIMITS


USUAL = (
    Kind("trivial", "1+1", "finished 2"),
    Kind("one call", "await tools.bench.echo(7)", "finished 7"),
    Kind(
        "20 parallel calls",
        "(await Promise.all(Array.from({ length: 20 }, (_, i) => tools.bench.echo(i)))).length",
        "finished 20",
    ),
    Kind("thrown error", "throw new TypeError('soak')", "failed TypeError"),
    Kind("200 KB value", "'x'.repeat(200_000)", "finished 200000 characters"),
)
TIMEOUT = Kind("timeout", "for (;;);", "exceeded engine_seconds", Limits(engine_seconds=0.05))
KILLED = Kind("killed worker", "await tools.bench.kill()", "failed WorkerLost")


def kind_of(number: int) -> Kind:
    match number % RARE_EVERY:
        case 2_499:
            return TIMEOUT
        case 4_999:
            return KILLED
        case _:
            return USUAL[number % len(USUAL)]


def describe(event: object) -> str:
    match event:
        case Finished(value=str(text)):
            return f"finished {len(text)} characters"
        case Finished(value=value):
            return f"finished {value}"
        case Failed(error=error):
            return f"failed {error.name}"
        case Exceeded(limit=limit):
            return f"exceeded {limit}"
        case _:
            return f"not ended: {event!r}"[:80]


def answers(events: Sequence[object], *, worker: int) -> list[Resolve]:
    calls = [event for event in events if isinstance(event, Called)]
    if any(call.tool == "bench.kill" for call in calls):
        os.kill(worker, signal.SIGKILL)
    return [Resolve(call_id=call.call_id, value=call.args[0] if call.args else None) for call in calls]


async def run_to_end(pool: Pool, start: Start, *, session: str) -> str:
    async with pool.sandbox(session=session) as box:
        events = await box.send(start)
        while not isinstance(events[-1], (Finished, Failed, Exceeded)):
            events = await box.send(*answers(events, worker=box.pid))
    return describe(events[-1])


async def run_numbered(pool: Pool, number: int, *, session: str) -> str | None:
    """Runs script `number`; what was wrong about its end, or None."""
    kind = kind_of(number)
    start = Start(
        source=kind.source,
        tools=("bench.echo", "bench.kill"),
        context={},
        limits=kind.limits,
        now=1_700_000_000_000.0 + number,
        seed=number,
    )
    try:
        ended = await run_to_end(pool, start, session=session)
    except SandboxError as error:
        ended = f"raised {type(error).__name__}: {error}"
    return None if ended == kind.ends_as else f"script {number} ({kind.name}): {ended}, not {kind.ends_as}"
