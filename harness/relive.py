"""What a session knows after its entries: the view, what is stored, kept, spent, planned, and which results still hold.

A session that goes on in another process lives through its entries again, without running anything; a replayed outcome does the
same for its one call.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from catalog import ToolProblem
from harness.asked import CallOf
from harness.cache import Kept, State
from harness.call import Call, Outcome
from harness.compose import in_parts, showings
from harness.dispatch import size_of
from harness.entries import Began, Ended, Entry, Facts, Forgot, Held, Item, Opened, Reopened, Running, Said, Settled, Yielded
from harness.guards.budget import has_run, is_over_budget
from harness.guards.cache import is_cacheable
from harness.guards.plan import Plan
from harness.ledger import Ledger
from harness.ongoing import Ongoing
from harness.recording import Recording
from harness.relived_items import RelivedItems
from harness.store import Store, StoreError
from harness.store.lines import BadLine
from harness.verifying import checked_entries
from sandbox import Event, Finished, Printed, Shown, Site

_PLAN = "reads.plan"
_BEFORE_RUNNING = ("dry_run", "plan", "replay", "approval", "conflict", "repeat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """A turn that has no end: its process went away while it ran."""

    turn: int
    began: Began
    recording: Recording
    facts: Facts  # of the process that it began in
    given: tuple[Yielded, ...] = ()  # what the model was told of it

    @property
    def ran(self) -> tuple[Settled, ...]:
        """Calls of tools that have their outcome on record."""
        return tuple(one for one in self.recording.told if one.outcome.by not in ("host", "check"))

    @property
    def unsure(self) -> tuple[Running, ...]:
        """Calls that were running: each may have done its work, or part of it."""
        return self.recording.unsure

    @property
    def text(self) -> str:
        """For people and models."""
        ran = [f"{one.tool} (line {one.site.line}) {one.outcome.status}" for one in self.ran]
        unsure = [f"{one.tool} (line {one.site.line})" for one in self.unsure]
        done = "it had made " + ", ".join(ran) if ran else "no call had ended"
        open_ones = f"; running then, so nobody knows what they did: {', '.join(unsure)}" if unsure else ""
        return f"turn {self.turn} was interrupted: {done}{open_ones}"

    @property
    def notice(self) -> str:
        """For the model, when the turn is given up."""
        return f"{self.text}; look at what it did before you go on"


class Reliving:
    """Brings `on` to where the session was, entry by entry."""

    def __init__(self, on: Ongoing, call_of: CallOf) -> None:
        self._on = on
        self._call_of = call_of
        self._items = RelivedItems()
        self._open: list[Entry] = []  # of a turn that has not ended yet
        self._settled: set[int] = set()  # calls of that turn
        self.facts = Facts()  # as they were when it was last opened
        self._began_with = self.facts  # of the turn that has not ended yet
        self.turn = 0
        self.ledgers: list[Ledger] = []
        self.notices: list[str] = []  # of turns that were given up, as long as the model has not been told

    @property
    def interrupted(self) -> Interrupted | None:
        """The turn that has no end, when all entries have been taken."""
        if not self._open or not isinstance(began := self._open[0], Began):
            return None
        given = tuple(entry for entry in self._open if isinstance(entry, Yielded))
        return Interrupted(
            turn=self.turn, began=began, recording=Recording.of(self._open), facts=self._began_with, given=given
        )  # fmt: skip

    def _check_once(self, entry: Running | Settled) -> None:
        if isinstance(entry, Running):
            return
        if entry.call in self._settled:
            raise BadLine(f"turn {entry.turn}: call {entry.call} ended twice")
        self._settled.add(entry.call)

    def take(self, entry: Entry) -> None:
        """BadLine for what no session of ours has written."""
        match entry:
            case Opened() | Reopened():
                self.facts = entry.facts
            case Item():
                self.turn = max(self.turn, entry.turn)
            case Began():
                self.turn, self._open, self._settled = entry.turn, [entry], set()
                self._began_with = self.facts
                self._on.plans.turn = entry.turn
            case Running() | Settled():
                self._check_once(entry)
                self._open.append(entry)
            case Yielded():
                self._items.take(entry.turn, entry.items)
                self._open.append(entry)
                self._told_in_parts(entry.turn)
            case Held():
                self._on.results.kept_before(entry.handle, entry.value)
                self._open.append(entry)
            case Ended():
                relive_turn(Recording.of([*self._open, entry]), self._on, self._call_of)
                if entry.ending.how == "interrupted" and self.interrupted is not None:
                    self.notices.append(self.interrupted.notice)
                self.notices = [one for one in self.notices if one not in entry.notices]
                self.turn, self._open = entry.turn, []
                whole = entry.ending.how not in ("cancelled", "interrupted")
                if whole:
                    self.ledgers.append(entry.ledger)
                if whole or entry.parts:
                    self._items.take(entry.turn, entry.items)
                    in_view(entry, self._on)
            case Forgot():
                self._items.mended(entry.mended.values())
                try:
                    self._on.transcript.forget(entry.turns)
                except ValueError as error:  # references that lead in a circle
                    raise BadLine(f"turns {entry.turns[:5]} cannot be forgotten: {error}") from None
            case _:
                pass

    def _told_in_parts(self, turn: int) -> None:
        """The model has them in view, whatever becomes of the turn. Nothing may refer to them yet: when the turn goes on, they
        are composed again, and must come out as they were.
        """
        given = [entry for entry in self._open if isinstance(entry, Yielded)]
        for part in given[-1:]:
            for item, value in zip(part.items, _values(part.said), strict=False):
                self._on.results.put(item.handle, value)
        items, notices = (tuple(one for part in given for one in getattr(part, name)) for name in ("items", "notices"))
        self._on.transcript.add(turn, items, notices)


async def live_through(store: Store, session: str, living: Reliving, restore: Callable[[Entry], Entry]) -> None:
    """All that is on record of a session. StoreError where it is not as it was written, or no session of ours wrote it."""
    try:
        async with aclosing(checked_entries(store, session)) as entries:
            async for entry in entries:
                living.take(restore(entry))
    except (BadLine, TypeError) as error:  # TypeError: half a character, which no script of ours can show
        raise StoreError(f"session {session} is not resumed, and nothing was written: {error}") from error


def relive_turn(recording: Recording, on: Ongoing, call_of: CallOf) -> None:
    """The calls of a turn that is over: those that the script was told of, and those that it left."""
    for entry in (*recording.told, *recording.left, *map(_never_ended, recording.unsure)):
        _settled(entry, on, call_of)


def _never_ended(running: Running) -> Settled:
    """It was counted when it was made."""
    return Settled(
        session=running.session, at=running.at, turn=running.turn, call=running.call, tool=running.tool, site=running.site,
        arguments=running.arguments, outcome=Outcome(status="cancelled", by="turn"),
    )  # fmt: skip


def _settled(entry: Settled, on: Ongoing, call_of: CallOf) -> None:
    call = _call(entry, call_of)
    outcome = entry.outcome
    if entry.tool == "recall" and outcome.ok:
        on.purses[0].bytes += size_of(outcome.value)
    if outcome.by in ("check", "host") or (call is None and outcome.by == "replay"):
        return
    if outcome.by not in ("dry_run", "plan", "budget"):  # those before the faults
        on.faults.lived(entry.tool, entry.site.line, outcome.fault)
    pack = entry.tool.partition(".")[0]
    for purse in on.purses:
        if purse.name not in ("", pack, entry.tool) or (outcome.by in ("plan", "dry_run") and not outcome.size):
            continue
        if is_over_budget(outcome):
            continue
        purse.calls += 1
        purse.bytes += outcome.size if outcome.ok else 0
        purse.seconds += outcome.seconds if purse.name else 0.0
        if has_run(outcome):
            purse.ran[entry.tool] += 1
    if call is not None:
        absorb(call, entry, on)
        if _got_far(outcome):  # here and not in `absorb`: a turn that is played has the refusals of its own record
            on.repeat.lived(call, outcome, at=entry.at)
        if call.name != _PLAN and (on.plans.files or outcome.by == "plan"):
            Plan(on.plans).lived(call, outcome)


def absorb(call: Call, entry: Settled, on: Ongoing) -> None:
    """What a recorded outcome means for later calls: lines of a written file are forgotten, results that hold are kept."""
    outcome = entry.outcome
    if call.effects.writes and _got_far(outcome):
        for key in call.effects.writes:
            if key.startswith("file:"):
                on.seen.written(key.removeprefix("file:"))
        on.cache.wrote(call.effects.writes)
    if call.name == _PLAN and outcome.ok:
        try:
            on.plans.take(call.bound.values["files"], call.bound.values["bytes"])
        except ToolProblem:
            return  # it was good then, and is not by the limits of now: the next plan will do
    if call.tool.facts.shape == "slice" and outcome.ok:
        on.texts.add(outcome)
    if entry.read is not None and outcome.ok and is_cacheable(call):
        try:
            state = State.from_json(entry.read)
        except (KeyError, TypeError, ValueError):
            return
        on.cache.keep_again(call.key, Kept(outcome.value, outcome.size, call.effects.reads, state, call.label))


def _got_far(outcome: Outcome) -> bool:
    """Past all guards that refuse before anything is touched."""
    return not (outcome.by in _BEFORE_RUNNING or outcome.fault or is_over_budget(outcome))


def in_view(entry: Ended, on: Ongoing) -> None:
    """What a turn left behind when it ended."""
    take_stored(entry.said, on)
    for handle, value in values_shown(entry):
        on.results.put(handle, value)
    for decision in entry.decisions:
        if decision.remembered:
            on.remembered.answers[decision.remembered] = decision.verdict
    for item in entry.items:
        if item.labelled and not item.crowded_out:
            on.seen.add(entry.turn, item.handle, item.text, item.placed, item.references)
    on.transcript.add(entry.turn, entry.items, entry.notices)
    on.purses[0].seconds += entry.ledger.turn_seconds


def take_stored(said: Iterable[Said], on: Ongoing) -> None:
    for one in said:
        if one.how == "stored":
            on.stored[one.name] = one.value
        elif one.how == "removed":
            on.stored.pop(one.name, None)


def _call(entry: Settled, call_of: CallOf) -> Call | None:
    """None: the tool is gone, or takes other arguments now."""
    if not isinstance(entry.arguments, Mapping):
        return None
    try:
        return call_of(entry.turn, entry.call, entry.tool, [dict(entry.arguments)], entry.site)
    except ToolProblem:
        return None


def values_shown(entry: Ended) -> list[tuple[str, object]]:
    """The whole values behind the handles of a turn, in order."""
    events = _events(entry.said)
    if entry.ending.how == "finished":
        events.append(Finished(entry.ending.value))
    values = [one.value for part in in_parts(events, entry.parts) for one in showings(part)]
    # What comes after them, an error or the report of a dry run, is text and stands in the transcript whole.
    return [(item.handle, values[at] if at < len(values) else item.text) for at, item in enumerate(entry.items)]


def _values(said: Iterable[Said]) -> list[object]:
    return [one.value for one in showings(_events(said))]


def _events(said: Iterable[Said]) -> list[Event]:
    return [
        Shown(one.value, dict(one.options), Site(0, 0)) if one.how == "shown" else Printed(one.name, str(one.value))
        for one in said
        if one.how in ("shown", "printed")
    ]
