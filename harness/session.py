"""One conversation: scripts run one after the other, and what the model has in view, has stored and has used up goes on from turn
to turn. All of it is on record, so a session can go on in another process.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, time
from types import TracebackType
from typing import Any, Literal, Self

import anyio
from anyio import get_cancelled_exc_class
from anyio.abc import TaskGroup

from catalog import BadPack, Host, Offer, Toolbox, open_toolbox
from harness.approval import Approver
from harness.asked import CallOf
from harness.cache import DiskCache
from harness.continuing import check_root, check_tools
from harness.detect import Detected, detect, near_miss
from harness.entries import Ending, Entry
from harness.ledger import Ledger, total
from harness.offers import with_pack
from harness.ongoing import Ongoing, ongoing
from harness.open_tasks import OpenTasks
from harness.outcome import TurnOutcome
from harness.pack_digest import pack_digests, tool_digests
from harness.problems import told
from harness.reading_plan import plan_pack
from harness.record import Clean, Record, as_it_is, said, start_of
from harness.recording import Missing, Play
from harness.relive import Interrupted, Reliving, live_through, relive_turn, take_stored
from harness.session_facts import Told, all_limits, facts_of
from harness.session_results import SessionResults
from harness.setup import MODES, Mode, Setup
from harness.store import SessionBusy, Store, StoreError
from harness.turn import run_turn
from harness.turn_clock import TurnClock
from harness.turn_desk import TurnDesk
from harness.turned import not_run, turned
from sandbox import Pool, Problem, Start


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`mended`: turns still in view whose text has changed, because lines they referred to went; put these in their place.
    `items`: the same, by handle.
    """

    turns: tuple[int, ...]
    mended: Mapping[int, str]
    items: Mapping[str, str] = field(default_factory=dict)


class Session:
    """An async context manager; made by `Harness.session`."""

    def __init__(
        self,
        id: str,
        setup: Setup,
        *,
        offer: Offer,
        root: Path,
        pool: Pool,
        approver: Approver,
        store: Store,
        toolbox: Toolbox | None = None,
        progress: Callable[[str, str], None] | None = None,
        resume: bool = False,
        closed_packs: bool = False,
        told_of_it: Told | None = None,
        clean: Clean = as_it_is,
        restore: Clean = as_it_is,
        clock: Callable[[], float] = monotonic,
        now: Callable[[], float] = time,
    ) -> None:
        self.id = id
        self._setup = setup
        self._offer = offer
        self._root = root
        self._pool = pool
        self._approver = approver
        self._store = store
        self._toolbox = toolbox
        self._progress = progress
        self._resume = resume
        self._closed_packs = closed_packs  # in a replay no tool runs, so nothing is opened for one
        self._told = told_of_it or Told()
        self._clean = clean
        self._restore = restore  # undoes what `clean` did, where that can be undone
        self._clock = clock
        self._now = now
        self._stack = AsyncExitStack()
        self._one_at_a_time = anyio.Lock()
        self._turn = 0
        self._host_relaxes = ""
        self._ledgers: list[Ledger] = []
        self._notices: list[str] = []  # for the next turn
        self._open = False
        self.interrupted: Interrupted | None = None
        self._tasks: TaskGroup
        self._on: Ongoing
        self._record: Record
        self._call_of: CallOf

    async def __aenter__(self) -> Self:
        setup = self._setup
        beside = None if self._toolbox is None else self._toolbox.host.results
        results = SessionResults(most_bytes=setup.turn.kept_bytes, beside=beside)
        folder = setup.cache_folder
        disk = None if folder is None else DiskCache(folder / "results", most_bytes=setup.turn.cache_disk_bytes)
        self._on = ongoing(setup, self._root, results, disk=disk, clock=self._clock, now=self._now)
        self._disk = disk
        plans = setup.plan_reads and setup.flags.two_pass
        if plans and self._toolbox is not None:
            raise BadPack("with plan_reads a session opens its packs itself, with the one to plan; give packs, not a toolbox")
        async with AsyncExitStack() as stack:
            if self._toolbox is None:
                if plans:
                    self._offer = with_pack(self._offer, plan_pack(self._on.plans))
                host = Host(root=self._root, results=results, environment=setup.environment, cache=folder, clock=self._now)
                if self._progress is not None:
                    host = replace(host, progress=self._progress)
                if self._closed_packs:
                    self._toolbox = Toolbox(self._offer, {}, host)
                else:
                    self._toolbox = await stack.enter_async_context(open_toolbox(self._offer, host=host, settings=setup.packs))
            await self._go_on_record(self._toolbox, stack)
            stack.push_async_exit(self._last_word)
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            self._stack = stack.pop_all()
        self._open = True
        return self

    async def _go_on_record(self, toolbox: Toolbox, stack: AsyncExitStack) -> None:
        packs = pack_digests(toolbox.offer, self._setup.packs, self._root)
        self._call_of = CallOf(toolbox, self._on.freshness, tool_digests(toolbox.offer, packs), self._setup.packs)
        if self._resume:
            await self._store.load(self.id, most=1)  # NoSession before anything is written
        writer = await self._store.write(self.id, at=self._now())
        stack.push_async_callback(writer.close)
        if writer.last is not None and not self._resume:
            raise SessionBusy(f"session {self.id} is kept already; resume it, or take another id")
        self._record = Record(self.id, writer, now=self._now, clean=self._clean)
        facts = await facts_of(self._setup, self._offer, self._root, packs=packs, told=self._told)
        self._limits = dict(facts.limits)
        if not self._resume:
            await self._record.opened(facts)
            return
        living = Reliving(self._on, self._call_of)
        await live_through(self._store, self.id, living, self._restore)
        check_root(self.id, living.facts, self._root)
        self._lived(living)
        self.interrupted = living.interrupted
        await self._record.reopened(facts, interrupted=None if self.interrupted is None else self.interrupted.turn)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open = False
        self._pool.forget(self.id)
        try:
            await self._stack.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            if list(group.exceptions) != [error]:  # the task group's own wrapping of what the block raised is taken off
                raise

    async def _last_word(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            await self._record.closed()

    # ------------------------------------------------------------ turns

    async def run(
        self,
        script: str,
        *,
        context: Mapping[str, Any] | None = None,
        mode: Mode | None = None,
        limits: Mapping[str, float] | None = None,
        play: Play | None = None,
        start: Start | None = None,
    ) -> TurnOutcome:
        """Run one script. `limits`, by name, are for this turn; `start` carries what else a script may be told: clock, seed;
        `play`: outcomes come from a recording.
        """
        self._check_open()
        setup = self._setup.with_limits(limits) if limits else self._setup
        async with self._one_at_a_time:
            mode = mode or self._setup.mode
            if mode not in MODES:
                raise ValueError(f"there is no mode {mode!r}; choose {', '.join(MODES)}")
            await self._give_up_interrupted()
            self._turn += 1
            if mode == "disabled":
                return await self._not_run(script, told("scripts_disabled"), mode)
            if not script.strip():
                return await self._not_run(script, told("empty_script"), mode)
            given = start or Start(source="", now=self._now() * 1000, seed=self._turn, limits=setup.limits)
            if setup is not self._setup:  # limits for this turn win over those of a start
                given = replace(given, limits=setup.limits)
            return await self._run(self._start(script, context or {}, given), setup, mode, play)

    async def run_reply(self, reply: str) -> TurnOutcome:
        """Run the script in an assistant's reply: the one between <tool-calls> and </tool-calls>."""
        self._check_open()
        found = detect(reply)
        if isinstance(found, Detected):
            return await self.run(found.script)
        near = near_miss(reply)
        problem = found or told("no_script", near=f" (it has {near}, which is not the tag)" if near else "")
        async with self._one_at_a_time:
            await self._give_up_interrupted()
            self._turn += 1
            return await self._not_run("", problem, self._setup.mode)

    async def continue_turn(self, *, unsure: Missing = "refuse") -> TurnOutcome:
        """Finish the turn that a crash interrupted: outcomes on record are fed back, the rest runs once. `unsure`: calls that
        acted when the process ended are refused, so that the script can look first, or run again.
        """
        self._check_open()
        if self.interrupted is None:
            raise ValueError("no turn was interrupted; run the next script")
        check_tools(self.interrupted, self._call_of)
        async with self._one_at_a_time:
            going, self.interrupted = self.interrupted, None
            began = going.began
            self._clean(began)  # it is on record; what comes after it is cleaned in its light
            setup = self._setup.with_limits(began.limits) if began.limits else self._setup
            self._host_relaxes = began.relaxed
            play = Play(recording=going.recording, missing="run", unsure=unsure, goes_on=True)
            return await self._run(start_of(began, setup, tuple(self._call_of.toolbox.tools)), setup, began.mode, play)

    def relive(self, entries: Iterable[Entry]) -> None:
        """A turn of a recording that is not played: what is on record of it holds."""
        living = Reliving(self._on, self._call_of)
        for entry in entries:
            living.take(entry)
        self._lived(living)

    def _lived(self, living: Reliving) -> None:
        self._turn = living.turn
        self._ledgers += living.ledgers
        self._notices += living.notices

    def _check_open(self) -> None:
        if not self._open:
            raise RuntimeError("the session is not open: write async with harness.session() as session")

    async def _give_up_interrupted(self) -> None:
        if self.interrupted is None:
            return
        going, self.interrupted = self.interrupted, None
        relive_turn(going.recording, self._on, self._call_of)
        await self._record.cut_short(going.turn, Ending(how="interrupted"))
        self._notices.append(going.notice)

    async def _run(self, start: Start, setup: Setup, mode: Mode, play: Play | None) -> TurnOutcome:
        on = self._on
        on.plans.turn = self._turn
        replayed = play is not None and not play.runs_tools
        clock, tasks = TurnClock(setup.turn.turn_seconds, replayed=replayed), OpenTasks(self._tasks)
        desk = TurnDesk(
            self._turn, setup, on, session=self.id, call_of=self._call_of, approver=self._approver, record=self._record,
            mode=mode, play=play, clock=clock, tasks=tasks, now=self._clock,
        )  # fmt: skip
        relaxed, self._host_relaxes = self._host_relaxes, ""
        if relaxed:
            desk.relax(relaxed)
        start = replace(start, budget=desk.desk.telling.start())
        if play is None or not play.goes_on:
            await self._record.began(self._turn, start, mode=mode, relaxed=relaxed, limits=self._own_limits(start, setup))
        try:
            async with self._pool.sandbox(self.id) as box:
                ran = await run_turn(box, start, desk.desk, clock, tasks)
        except get_cancelled_exc_class():
            await self._cut_short()
            raise
        finally:
            on.purses[0].seconds += clock.spent_seconds()  # a turn that is cancelled has taken its time too
        take_stored(said(ran.events), on)
        also = [*self._notices, *(() if self._disk is None else self._disk.news())]
        self._notices = []
        outcome = turned(start.source, ran, desk, clock, turn=self._turn, on=on, setup=setup, mode=mode, also=also)
        return await self._ended(outcome)

    async def _cut_short(self) -> None:
        """The host stops the turn: that goes on record, if the store still can."""
        with anyio.CancelScope(shield=True):
            try:
                await self._record.cut_short(self._turn, Ending(how="cancelled"))
            except StoreError:
                return

    def _start(self, script: str, context: Mapping[str, Any], given: Start) -> Start:
        facts = {"session": self.id, "turn": self._turn, "root": str(self._root)}
        return replace(
            given, source=script, tools=tuple(self._call_of.toolbox.tools), context={**facts, **given.context, **context},
            stored={**self._on.stored, **given.stored},
        )  # fmt: skip

    def _own_limits(self, start: Start, setup: Setup) -> dict[str, float]:
        """Where the limits of a turn are not those of the session."""
        now = all_limits(replace(setup, limits=start.limits))
        return {name: value for name, value in now.items() if self._limits[name] != value}

    async def _not_run(self, script: str, problem: Problem, mode: Mode) -> TurnOutcome:
        outcome = not_run(script, problem, turn=self._turn, mode=mode)
        self._on.results.put(outcome.items[0].handle, outcome.items[0].text)
        await self._record.began(self._turn, Start(source=script), mode=mode)
        return await self._ended(outcome)

    async def _ended(self, outcome: TurnOutcome) -> TurnOutcome:
        self._on.transcript.add(outcome.number, outcome.items, outcome.notices)
        self._ledgers.append(outcome.ledger)
        with anyio.CancelScope(shield=True):  # it is in view from here on, so it must be on record too
            await self._record.ended(outcome)
        return outcome

    # ------------------------------------------------------------ what is in view

    def transcript(self) -> list[tuple[int, str]]:
        """The turns in view, each with its text as it is now."""
        return [(turn, self._on.transcript.text(turn)) for turn in self._on.transcript.turns]

    async def forget(self, turns: Iterable[int]) -> Forgotten:
        """These turns left the model's view, by compaction or otherwise: their lines may be shown again."""
        going = tuple(turn for turn in turns if turn in self._on.transcript.turns)
        changed = self._on.transcript.forget(going)
        await self._record.forgot(going, changed)
        view = self._on.transcript
        touched = [turn for turn in view.turns if any(item.handle in changed for item in view.items(turn))]
        mended = {turn: view.text(turn) for turn in touched}
        return Forgotten(going, mended, {handle: item.text for handle, item in changed.items()})

    async def message(self, role: Literal["user", "assistant", "system", "reasoning"], text: str) -> None:
        """What was said around the scripts goes on record: for search, and for history."""
        self._check_open()
        await self._record.message(role, text)

    def relax(self, reason: str) -> None:
        """The host lets the next turn show more, once, on record."""
        if not reason.strip():
            raise ValueError("relax needs a reason, which goes on record")
        self._host_relaxes = f"by the host: {reason}"

    def recall(self, handle: str) -> Any:
        """The whole value behind a handle; ToolProblem `unknown_handle`."""
        return self._on.results.get(handle)

    @property
    def ledger(self) -> Ledger:
        """The sum of all turns."""
        return total(self._ledgers)
