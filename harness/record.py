"""What a session puts on record, and when: a turn's start before it starts, an acting call before it runs, an outcome before the
script is told of it, the end with the text that the model is shown. Only this file appends entries.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.call import Call
from harness.compose import ShownItem, text_of
from harness.entries import (
    Began,
    Closed,
    Ended,
    Ending,
    Entry,
    Facts,
    Forgot,
    Held,
    Message,
    Opened,
    Reopened,
    Running,
    Said,
    Settled,
    Yielded,
)
from harness.outcome import TurnOutcome
from harness.parts import Part
from harness.session_results import SessionResults
from harness.setup import Mode, Setup
from harness.store import Writer
from harness.turn import CallRecord, Told
from sandbox import Ending as ScriptEnding
from sandbox import Event, Exceeded, Failed, Finished, Printed, Shown, Start, Stored

Clean = Callable[[Entry], Entry]  # without what must not be on record


def as_it_is(entry: Entry) -> Entry:
    return entry


class Record:
    """Of one session. `clean` is applied to every entry."""

    def __init__(self, session: str, writer: Writer, *, now: Callable[[], float], clean: Clean = as_it_is) -> None:
        self._session = session
        self._writer = writer
        self._now = now
        self._clean = clean
        self._yielded: list[Yielded] = []  # of the turn that runs

    async def opened(self, facts: Facts) -> None:
        await self._append(Opened(session=self._session, at=self._at(), facts=facts))

    async def reopened(self, facts: Facts, *, interrupted: int | None) -> None:
        await self._append(Reopened(session=self._session, at=self._at(), facts=facts, interrupted=interrupted))

    async def began(
        self,
        turn: int,
        start: Start,
        *,
        mode: Mode,
        relaxed: str = "",
        limits: Mapping[str, float] | None = None,
        direct: bool = False,
    ) -> None:
        """`limits`: of this turn, where they are not those of the session."""
        self._yielded = []
        await self._append(
            Began(
                session=self._session, at=self._at(), turn=turn, script=start.source, sha256=sha256_of(start.source), mode=mode,
                now=start.now, seed=start.seed, context=start.context, stored=start.stored, limits=limits or {}, relaxed=relaxed,
                budget=start.budget, direct=direct,
            )
        )  # fmt: skip

    async def running(self, call: Call) -> None:
        await self._append(
            Running(
                session=self._session, at=self._at(), turn=call.turn, call=call.number, tool=call.name, site=call.site,
                arguments=call.tool.with_defaults(call.bound.named),
            )
        )  # fmt: skip

    async def told(self, turn: int, told: Sequence[Told], results: SessionResults, read: Mapping[int, Mapping[str, Any]]) -> None:
        """`read`: by call, the state of what it read."""
        at = self._at()
        held = [
            Held(session=self._session, at=at, turn=turn, handle=handle, value=value) for handle, value in results.newly_kept()
        ]
        settled = [
            settled_of(
                self._session, at, turn, one.record, now=one.settlement.now, budget=one.settlement.budget,
                read=read.get(one.record.number),
            )
            for one in told
        ]  # fmt: skip
        await self._append(*held, *settled)

    async def yielded(self, turn: int, part: Part) -> None:
        entry = Yielded(
            session=self._session, at=self._at(), turn=turn, told=part.cut.told, words=part.cut.words, text=part.text,
            items=part.items, notices=part.notices, said=tuple(words(part.events)),
        )  # fmt: skip
        self._yielded.append(entry)
        await self._append(entry)

    def goes_on(self, given: Sequence[Yielded]) -> None:
        """The turn that runs now was begun, and told so far, by another process."""
        self._yielded = list(given)

    async def ended(self, outcome: TurnOutcome) -> None:
        at, turn = self._at(), outcome.number
        await self._append(
            Ended(
                session=self._session, at=at, turn=turn, ending=ending_of(outcome.ending), text=outcome.text, items=outcome.items,
                notices=outcome.notices, said=tuple(said(outcome.events)), ledger=outcome.ledger, decisions=outcome.decisions,
                left=tuple(settled_of(self._session, at, turn, one) for one in outcome.untold), layers=outcome.layers,
                parts=tuple(part.cut.words for part in outcome.parts),
            )
        )  # fmt: skip

    async def cut_short(self, turn: int, how: Ending, given: Sequence[Yielded] | None = None) -> Ended:
        """A turn that has no outcome: the host stopped it, or its process ended. What was told of it in parts stays in view;
        `given`: those parts, when it was another process that told them.
        """
        given = self._yielded if given is None else given
        items, notices = (tuple(one for part in given for one in getattr(part, name)) for name in ("items", "notices"))
        ended = Ended(
            session=self._session, at=self._at(), turn=turn, ending=how, text=text_of(items, notices), items=items,
            notices=notices, said=tuple(one for part in given for one in part.said), parts=tuple(part.words for part in given),
        )  # fmt: skip
        await self._append(ended)
        return ended

    async def forgot(self, turns: tuple[int, ...], mended: Mapping[str, ShownItem]) -> None:
        await self._append(Forgot(session=self._session, at=self._at(), turns=turns, mended=mended))

    async def message(self, role: Any, text: str) -> None:
        await self._append(Message(session=self._session, at=self._at(), role=role, text=text))

    async def closed(self) -> None:
        await self._append(Closed(session=self._session, at=self._at()))

    async def _append(self, *entries: Entry) -> None:
        await self._writer.append(*(self._clean(entry) for entry in entries))

    def _at(self) -> float:
        return round(self._now(), 6)


def sha256_of(script: str) -> str:
    return hashlib.sha256(script.encode("utf-8", "surrogatepass")).hexdigest()


def settled_of(
    session: str,
    at: float,
    turn: int,
    record: CallRecord,
    *,
    now: float | None = None,
    budget: Any = None,
    read: Mapping[str, Any] | None = None,
) -> Settled:
    return Settled(
        session=session, at=at, turn=turn, call=record.number, tool=record.tool, site=record.site, arguments=record.arguments,
        outcome=replace(record.outcome, replayed=False), seconds=record.seconds, now=now, budget=budget, read=read,
    )  # fmt: skip


def ending_of(ending: ScriptEnding) -> Ending:
    rest: dict[str, Any] = {
        "pending": ending.pending, "unawaited": ending.unawaited, "console_dropped": ending.console_dropped
    }  # fmt: skip
    match ending:
        case Finished():
            return Ending(how="finished", value=ending.value, **rest)
        case Failed():
            return Ending(how="failed", error=ending.error, **rest)
        case Exceeded():
            return Ending(how="exceeded", error=ending.error, limit=ending.limit, allowed=ending.allowed, **rest)


def said(events: Iterable[Event]) -> Iterable[Said]:
    """What a script did besides calling, in its order."""
    for event in events:
        match event:
            case Shown():
                yield Said(how="shown", value=event.value, options=event.options)
            case Printed():
                yield Said(how="printed", value=event.text, name=event.level)
            case Stored():
                yield Said(how="removed" if event.removed else "stored", value=event.value, name=event.key)
            case _:
                pass


def words(events: Iterable[Event]) -> Iterable[Said]:
    """What it said to the model, in its order."""
    return (one for one in said(events) if one.how in ("shown", "printed"))


def start_of(began: Began, setup: Setup, tools: tuple[str, ...]) -> Start:
    """As the turn was started; the budget comes with the recording."""
    return Start(
        source=began.script, tools=tools, context=began.context, limits=setup.limits, now=began.now, seed=began.seed,
        stored=began.stored,
    )  # fmt: skip
