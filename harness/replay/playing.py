"""Play a recorded session: its scripts run again, their calls get the recorded outcomes, and what comes out is compared.

Nothing of a recording is executed but its scripts, in the sandbox: packs are taken by name from those that are known here, never
loaded from where a recording says they were.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from catalog import BadPack, Offer, Pack, choose, known_packs, load_pack
from harness.approval import Approver, Nobody
from harness.entries import Facts, Forgot
from harness.outcome import TurnOutcome
from harness.recording import Missing, Play
from harness.replay.declared import remarks
from harness.replay.differences import Difference, Kind, Unverified, differences, mended_differences, not_verified
from harness.replay.recorded import BadRecording, RecordedSession, RecordedTurn
from harness.session import Session
from harness.session_facts import Told, all_limits
from harness.setup import Flags, Setup
from harness.store import Store
from harness.store.memory import MemoryStore
from sandbox import Limits, Misuse, Pool, Start

_PLAN_PACK = "reads"  # the session's own
_BY_HOST = "by the host: "


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlayed:
    """`outcome` is None for a turn that was cut short when it was recorded: there is nothing to compare it with."""

    recorded: RecordedTurn
    outcome: TurnOutcome | None
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """`remarks`: what a person may want to know, and what is no difference."""

    session: RecordedSession
    turns: tuple[TurnPlayed, ...]
    remarks: tuple[str, ...] = ()

    @property
    def played(self) -> int:
        """So many turns; those that were cut short when recorded are not."""
        return sum(turn.outcome is not None for turn in self.turns)

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(one for turn in self.turns for one in turn.differences)

    @property
    def ok(self) -> bool:
        return not self.differences

    def without(self, kinds: Collection[Kind]) -> "Replayed":
        """Differences of these kinds do not count."""
        turns = [
            replace(turn, differences=tuple(one for one in turn.differences if one.kind not in kinds)) for turn in self.turns
        ]
        return replace(self, turns=tuple(turns))

    @property
    def unverified(self) -> tuple[Unverified, ...]:
        """Live calls that were denied, so nothing can be said of what they would give now."""
        return tuple(one for turn in self.turns if turn.outcome is not None for one in not_verified(turn.outcome))

    @property
    def calls(self) -> int:
        return sum(len(turn.outcome.calls) for turn in self.turns if turn.outcome is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a recording is played on. `setup`, when given, replaces the recorded settings; `ground` has what a recording has none
    of, for tools that run: rules, secrets, settings of packs. `root` is where they work. `give_packs`: how a pack is given here,
    for who plays a recording of one that is not known.
    """

    pool: Pool
    offer: Offer | None = None  # None: the recorded tools, of packs that are known here
    packs: tuple[Pack, ...] = ()  # besides the known ones
    give_packs: str = "give its file or module: --pack PATH"
    setup: Setup | None = None
    ground: Setup | None = None
    root: Path = Path()
    approver: Approver | None = None
    loaded: dict[str, Pack] = field(default_factory=dict)  # packs that recordings have asked for so far


async def play(
    recorded: RecordedSession, stage: Stage, *, missing: Missing = "refuse", live: bool = False, store: Store | None = None
) -> Replayed:
    """`missing`: what becomes of calls that are not on record. `live`: tools run beside, and their outcomes are compared.
    `store`: where the played session is put on record.
    """
    setup = stage.setup or setup_of(recorded.facts, stage.ground)
    offer = stage.offer or offer_of_facts(recorded, stage)
    session = Session(
        recorded.session, setup, offer=offer, root=stage.root, pool=stage.pool, approver=stage.approver or Nobody(),
        store=store or MemoryStore(), closed_packs=missing == "refuse" and not live,
        told_of_it=Told(model=recorded.facts.model, labels=recorded.facts.labels),
    )  # fmt: skip
    turns: list[TurnPlayed] = []
    try:
        async with session:
            for message in recorded.before:
                await session.message(message.role, message.text)
            for turn in recorded.turns:
                turns.append(await _played(session, setup, turn, missing=missing, live=live))
    except Misuse as error:  # it wants more than scripts get here
        raise BadRecording(f"{recorded.name}: {error}: [limits] in turnscript.toml") from None
    return Replayed(session=recorded, turns=tuple(turns), remarks=remarks(recorded.turns, offer.tools))


async def _played(session: Session, setup: Setup, turn: RecordedTurn, *, missing: Missing, live: bool) -> TurnPlayed:
    outcome = None
    found: list[Difference] = []
    if turn.playable:
        began = turn.began
        if reason := began.relaxed.removeprefix(_BY_HOST).strip():
            session.relax(reason)
        own = setup.with_limits(began.limits) if began.limits else setup
        outcome = await session.run(
            began.script, context=began.context, mode=began.mode, limits=began.limits or None,
            play=Play(recording=turn.recording, missing=missing, live=live),
            start=Start(source="", now=began.now, seed=began.seed, stored=began.stored, limits=own.limits),
            by="direct" if began.direct else "script",
        )  # fmt: skip
        found = differences(turn, outcome)
    else:
        session.relive(turn.entries)
    for entry in turn.after:
        if isinstance(entry, Forgot):
            forgotten = await session.forget(entry.turns)
            then = {handle: item.text for handle, item in entry.mended.items()}
            found += mended_differences(turn.number, then, dict(forgotten.items))
        else:
            await session.message(entry.role, entry.text)
    return TurnPlayed(recorded=turn, outcome=outcome, differences=tuple(found))


def ceiling(limits: Limits) -> Limits:
    """The most that recorded scripts get: as configured, and not less than usual, since a recording has its own limits."""
    usual = Limits()
    heap_bytes, engine_seconds = max(limits.heap_bytes, usual.heap_bytes), max(limits.engine_seconds, usual.engine_seconds)
    return replace(limits, heap_bytes=heap_bytes, engine_seconds=engine_seconds)


def setup_of(facts: Facts, ground: Setup | None = None) -> Setup:
    """The settings that a session was recorded with. What this version has no name for is left as it is here."""
    # A budget of today would refuse calls before the recording is asked for them.
    ground = replace(ground or Setup(), turn_budget={}, session_budget={}, cache_folder=None)
    known = all_limits(ground)
    setup = ground.with_limits({name: value for name, value in facts.limits.items() if name in known})
    flags = {flag.name: facts.flags[flag.name] for flag in fields(Flags) if flag.name in facts.flags}
    return replace(setup, mode=facts.mode, flags=Flags(**flags), plan_reads=facts.plan_reads)


def offer_of_facts(recorded: RecordedSession, stage: Stage) -> Offer:
    """The recorded tools, of packs that are given or known by name here. BadPack says which one is missing."""
    stage.loaded.update((pack.name, pack) for pack in stage.packs)
    found = []
    for name in recorded.facts.packs:
        if name == _PLAN_PACK and recorded.facts.plan_reads:
            continue
        if name not in stage.loaded:
            if name not in known_packs():
                raise BadPack(f"{recorded.name}: its pack {name} is not known here; {stage.give_packs}")
            stage.loaded[name] = load_pack(name)
        found.append(stage.loaded[name])
    tools = [tool for tool in recorded.facts.tools if not (recorded.facts.plan_reads and tool.startswith(f"{_PLAN_PACK}."))]
    there = {tool.full_name for pack in found for tool in pack.tools}
    gone = [tool for tool in tools if tool not in there]
    if gone:
        raise BadPack(f"{recorded.name}: {', '.join(gone)} was on offer and is not there any more; record the session again")
    return choose(found, tools=tools) if found else choose(found)
