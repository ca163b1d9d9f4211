"""One conversation: scripts run one after the other, and what the model has in view, has stored and has used up goes on from turn
to turn. All of it is on record, so a session can go on in another process.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic, time
from types import TracebackType
from typing import Any, Literal, Self

import anyio
from anyio import get_cancelled_exc_class
from anyio.abc import TaskGroup

from catalog import Offer, Toolbox
from harness.approval import Approver
from harness.callers import Caller, Callers, direct_script
from harness.continuing import check_tools
from harness.detect import Detected, detect, near_miss
from harness.dispatch import unheard
from harness.entries import Ending, Entry
from harness.forgetting import Forgotten, forgotten
from harness.going import Going
from harness.ground import Ground, Wanted, laid
from harness.ledger import Ledger, total
from harness.open_tasks import OpenTasks
from harness.outcome import TurnOutcome
from harness.problems import told
from harness.record import Clean, as_it_is, said, start_of
from harness.recording import Missing, Play
from harness.relive import Interrupted, Reliving, in_view, relive_turn, take_stored
from harness.session_facts import Told, all_limits
from harness.setup import MODES, Mode, Setup
from harness.store import Store, StoreError
from harness.turn import run_turn
from harness.turn_clock import TurnClock
from harness.turn_desk import TurnDesk
from harness.turned import not_run, turned
from harness.watching import CallProgressed, TurnBegan, TurnEnded, Watch, nobody
from sandbox import Pool, Problem, Start


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
        watch: Watch | None = None,
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
        self._root = root
        self._pool = pool
        self._approver = approver
        self._watch = nobody if watch is None else unheard(watch)
        self._progress = progress
        self._clean = clean
        self._clock = clock
        self._now = now
        self._wanted = Wanted(
            id=id, setup=setup, offer=offer, root=root, store=store, toolbox=toolbox, resume=resume, closed_packs=closed_packs,
            told=told_of_it or Told(), clean=clean, restore=restore, clock=clock, now=now,
        )  # fmt: skip
        self._stack = AsyncExitStack()
        self._one_at_a_time = anyio.Lock()
        self._turn = 0
        self._host_relaxes = ""
        self._ledgers: list[Ledger] = []
        self._notices: list[str] = []  # for the next turn
        self._goings: list[Going] = []  # that may still run
        self._open = False
        self.interrupted: Interrupted | None = None
        self._tasks: TaskGroup
        self._ground: Ground

    async def __aenter__(self) -> Self:
        watched = self._progress is not None or self._watch is not nobody
        async with AsyncExitStack() as stack:
            self._ground = await stack.enter_async_context(laid(self._wanted, self._progressed if watched else None))
            if self._ground.lived is not None:
                self._lived(self._ground.lived)
                self.interrupted = self._ground.lived.interrupted
            stack.push_async_exit(self._last_word)
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            self._stack = stack.pop_all()
        self._open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open = False
        for going in self._goings:
            going.cancel()
        self._pool.forget(self.id)
        try:
            await self._stack.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            if list(group.exceptions) != [error]:  # the task group's own wrapping of what the block raised is taken off
                raise

    async def _last_word(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            await self._ground.record.closed()

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
        by: Caller = "script",
        going: Going | None = None,
    ) -> TurnOutcome:
        """Run one script. `limits`, by name, are for this turn; `start` carries what else a script may be told: clock, seed;
        `play`: outcomes come from a recording. `by`: whose tools are on offer; `going`: is told when it starts.
        """
        self._check_open()
        setup = self._setup.with_limits(limits) if limits else self._setup
        await self._pool.ready()  # before the turn is on record
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
            return await self._run(self._start(script, context or {}, given, by), setup, mode, play, by, going)

    async def call(self, tool: str, arguments: Mapping[str, Any], *, limits: Mapping[str, float] | None = None) -> TurnOutcome:
        """One tool that the model calls by itself, where the setup's `callers` let it: a turn of one call."""
        script, context = direct_script(tool, arguments)
        return await self.run(script, context=context, limits=limits, by="direct")

    def begin(self, script: str, **rest: Any) -> Going:
        """Start a script and go on; `rest` as for `run`. The agent asks what is new, waits for the end, or stops it."""
        self._check_open()
        going = Going(partial(self._go, script, rest), after=self._goings[-1] if self._goings else None)
        self._goings = [*(one for one in self._goings if not one.over), going]
        self._tasks.start_soon(going.run)
        return going

    async def _go(self, script: str, rest: Mapping[str, Any], going: Going) -> TurnOutcome:
        return await self.run(script, **rest, going=going)

    async def run_reply(self, reply: str) -> TurnOutcome:
        """Run the script in an assistant's reply: the one between <tool-calls> and </tool-calls>."""
        self._check_open()
        found = detect(reply)
        if isinstance(found, Detected):
            return await self.run(found.script)
        problem = found or told("no_script", near=_near(reply))
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
        check_tools(self.interrupted, self._ground.call_of)
        async with self._one_at_a_time:
            going, self.interrupted = self.interrupted, None
            began = going.began
            self._clean(began)  # it is on record; what comes after it is cleaned in its light
            self._ground.record.goes_on(going.given)
            setup = self._setup.with_limits(began.limits) if began.limits else self._setup
            self._host_relaxes = began.relaxed
            play = Play(recording=going.recording, missing="run", unsure=unsure, goes_on=True)
            by: Caller = "direct" if began.direct else "script"
            start = start_of(began, setup, tuple(self._ground.calls[by].toolbox.tools))
            return await self._run(start, setup, began.mode, play, by)

    def relive(self, entries: Iterable[Entry]) -> None:
        """A turn of a recording that is not played: what is on record of it holds."""
        living = Reliving(self._ground.on, self._ground.call_of)
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
        relive_turn(going.recording, self._ground.on, self._ground.call_of)
        ended = await self._ground.record.cut_short(going.turn, Ending(how="interrupted"), going.given)
        if ended.parts:
            in_view(ended, self._ground.on)
        self._notices.append(going.notice)

    async def _run(
        self, start: Start, setup: Setup, mode: Mode, play: Play | None, by: Caller, going: Going | None = None
    ) -> TurnOutcome:
        on = self._ground.on
        on.plans.turn = self._turn
        replayed = play is not None and not play.runs_tools
        clock, tasks = TurnClock(setup.turn.turn_seconds, replayed=replayed), OpenTasks(self._tasks)
        desk = TurnDesk(
            self._turn, setup, on, session=self.id, call_of=self._ground.calls[by], approver=self._approver,
            record=self._ground.record, mode=mode, play=play, clock=clock, tasks=tasks, now=self._clock, watch=self._watch,
        )  # fmt: skip
        relaxed, self._host_relaxes = self._host_relaxes, ""
        if relaxed:
            desk.relax(relaxed)
        start = replace(start, budget=desk.desk.telling.start())
        if play is None or not play.goes_on:
            own = self._own_limits(start, setup)
            await self._ground.record.began(self._turn, start, mode=mode, relaxed=relaxed, limits=own, direct=by == "direct")
        self._watch(TurnBegan(session=self.id, turn=self._turn, script=start.source, mode=mode, direct=by == "direct"))
        if going is not None:
            going.started(self._turn, desk.parts, clock)
        try:
            async with self._pool.sandbox(self.id) as box:
                ran = await run_turn(box, start, desk.desk, clock, tasks)
        except get_cancelled_exc_class():
            await self._cut_short()
            raise
        finally:
            on.purses[0].seconds += clock.spent_seconds()  # a turn that is cancelled has taken its time too
        take_stored(said(ran.events), on)
        also = [*self._notices, *(() if self._ground.disk is None else self._ground.disk.news())]
        self._notices = []
        outcome = turned(start.source, ran, desk, clock, turn=self._turn, on=on, mode=mode, also=also)
        return await self._ended(outcome)

    async def _cut_short(self) -> None:
        """The host stops the turn: that goes on record, if the store still can."""
        with anyio.CancelScope(shield=True):
            self._watch(TurnEnded(session=self.id, turn=self._turn, outcome=None))
            try:
                ended = await self._ground.record.cut_short(self._turn, Ending(how="cancelled"))
            except StoreError:
                return
            if ended.parts:  # the model was told of it
                self._ground.on.transcript.add(self._turn, ended.items, ended.notices)

    def _progressed(self, tool: str, text: str) -> None:
        if self._progress is not None:
            self._progress(tool, text)
        self._watch(CallProgressed(session=self.id, turn=self._turn, tool=tool, text=text))

    def _start(self, script: str, context: Mapping[str, Any], given: Start, by: Caller) -> Start:
        facts = {"session": self.id, "turn": self._turn, "root": str(self._root)}
        return replace(
            given, source=script, tools=tuple(self._ground.calls[by].toolbox.tools),
            context={**facts, **given.context, **context}, stored={**self._ground.on.stored, **given.stored},
        )  # fmt: skip

    def _own_limits(self, start: Start, setup: Setup) -> dict[str, float]:
        """Where the limits of a turn are not those of the session."""
        now = all_limits(replace(setup, limits=start.limits))
        return {name: value for name, value in now.items() if self._ground.limits[name] != value}

    async def _not_run(self, script: str, problem: Problem, mode: Mode) -> TurnOutcome:
        outcome = not_run(script, problem, turn=self._turn, mode=mode)
        self._ground.on.results.put(outcome.items[0].handle, outcome.items[0].text)
        await self._ground.record.began(self._turn, Start(source=script), mode=mode)
        return await self._ended(outcome)

    async def _ended(self, outcome: TurnOutcome) -> TurnOutcome:
        self._ground.on.transcript.add(outcome.number, outcome.items, outcome.notices)
        self._ledgers.append(outcome.ledger)
        with anyio.CancelScope(shield=True):  # it is in view from here on, so it must be on record too
            await self._ground.record.ended(outcome)
        self._watch(TurnEnded(session=self.id, turn=outcome.number, outcome=outcome))
        return outcome

    # ------------------------------------------------------------ what is in view

    def transcript(self) -> list[tuple[int, str]]:
        """The turns in view, each with its text as it is now."""
        return [(turn, self._ground.on.transcript.text(turn)) for turn in self._ground.on.transcript.turns]

    async def forget(self, turns: Iterable[int]) -> Forgotten:
        """These turns left the model's view, by compaction or otherwise: their lines may be shown again."""
        going = tuple(turn for turn in turns if turn in self._ground.on.transcript.turns)
        changed = self._ground.on.transcript.forget(going)
        await self._ground.record.forgot(going, changed)
        return forgotten(going, changed, self._ground.on.transcript)

    async def message(self, role: Literal["user", "assistant", "system", "reasoning"], text: str) -> None:
        """What was said around the scripts goes on record: for search, and for history."""
        self._check_open()
        await self._ground.record.message(role, text)

    def relax(self, reason: str) -> None:
        """The host lets the next turn show more, once, on record."""
        if not reason.strip():
            raise ValueError("relax needs a reason, which goes on record")
        self._host_relaxes = f"by the host: {reason}"

    def recall(self, handle: str) -> Any:
        """The whole value behind a handle; ToolProblem `unknown_handle`."""
        return self._ground.on.results.get(handle)

    @property
    def offer(self) -> Offer:
        """All tools of the session, whoever may call them."""
        return self._ground.call_of.toolbox.offer

    @property
    def callers(self) -> Callers:
        return self._setup.callers

    @property
    def ledger(self) -> Ledger:
        """The sum of all turns."""
        return total(self._ledgers)


def _near(reply: str) -> str:
    """What a reply without a block has instead."""
    near = near_miss(reply)
    if near in ("<tool-calls>", "</tool-calls>"):
        return " outside of fenced code"
    return f" (it has {near}, which is not the tag)" if near else ""
