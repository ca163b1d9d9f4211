"""One conversation: scripts run one after the other, and what the model has in view, has stored and has used up goes on from turn
to turn.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic, time
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import TaskGroup

from catalog import BadPack, Host, Offer, Pack, Toolbox, open_toolbox
from catalog.selection import Offer as Offered
from harness.approval import Approver
from harness.cache import DiskCache
from harness.compose import Composed, Composer, Showing, ShownItem, showings
from harness.detect import Detected, detect, near_miss
from harness.dry_report import dry_report
from harness.entries import Forgot, Opened, Turned
from harness.guards.cache import CacheCounts
from harness.guards.replay import Recording
from harness.ledger import Ledger, total
from harness.notices import notices
from harness.ongoing import Ongoing, ongoing
from harness.open_tasks import OpenTasks
from harness.outcome import TurnOutcome
from harness.pack_digest import digests
from harness.problems import told
from harness.reading_plan import plan_pack
from harness.session_results import SessionResults
from harness.setup import MODES, Mode, Setup
from harness.store import Store
from harness.turn import Ran, run_turn
from harness.turn_clock import TurnClock
from harness.turn_desk import TurnDesk
from harness.turn_ledger import turn_ledger
from sandbox import Failed, Finished, Pool, Problem, ScriptError, Start, Stored


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`mended`: turns still in view whose text has changed, because lines they referred to went; put these in their place."""

    turns: tuple[int, ...]
    mended: Mapping[int, str]


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
        self._clock = clock
        self._now = now
        self._stack = AsyncExitStack()
        self._one_at_a_time = anyio.Lock()
        self._turn = 0
        self._host_relaxes = ""
        self._told_of_disk = False
        self._ledgers: list[Ledger] = []
        self._open = False
        self._tasks: TaskGroup
        self._on: Ongoing

    async def __aenter__(self) -> Self:
        setup = self._setup
        beside = None if self._toolbox is None else self._toolbox.host.results
        results = SessionResults(most_bytes=setup.turn.kept_bytes, beside=beside)
        folder = setup.cache_folder
        disk = None if folder is None else DiskCache(folder / "results", most_bytes=setup.turn.cache_disk_bytes)
        self._on = ongoing(setup, self._root, results, disk=disk, clock=self._clock)
        self._disk = disk
        plans = setup.plan_reads and setup.flags.two_pass
        if plans and self._toolbox is not None:
            raise BadPack("with plan_reads a session opens its packs itself, with the one to plan; give packs, not a toolbox")
        async with AsyncExitStack() as stack:
            if self._toolbox is None:
                if plans:
                    self._offer = _with_pack(self._offer, plan_pack(self._on.plans))
                host = Host(root=self._root, results=results, environment=setup.environment, cache=folder, clock=self._now)
                if self._progress is not None:
                    host = replace(host, progress=self._progress)
                self._toolbox = await stack.enter_async_context(open_toolbox(self._offer, host=host, settings=setup.packs))
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            self._digests = digests(self._toolbox.offer, setup.packs, self._root)
            await self._store.append(Opened(session=self.id, at=self._now(), facts=self._facts()))
            self._stack = stack.pop_all()
        self._open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open = False
        self._pool.forget(self.id)
        try:
            await self._stack.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            if list(group.exceptions) != [error]:  # the task group's own wrapping of what the block raised is taken off
                raise

    # ------------------------------------------------------------ turns

    async def run(
        self,
        script: str,
        *,
        context: Mapping[str, Any] | None = None,
        mode: Mode | None = None,
        limits: Mapping[str, float] | None = None,
        recording: Recording | None = None,
        start: Start | None = None,
    ) -> TurnOutcome:
        """Run one script. `limits`, by name, are for this turn; `start` carries what else a script may be told: clock, seed."""
        self._check_open()
        setup = self._setup.with_limits(limits) if limits else self._setup
        async with self._one_at_a_time:
            mode = mode or self._setup.mode
            if mode not in MODES:
                raise ValueError(f"there is no mode {mode!r}; choose {', '.join(MODES)}")
            self._turn += 1
            if mode == "disabled":
                return await self._ended(self._not_run(script, told("scripts_disabled"), mode))
            if not script.strip():
                return await self._ended(self._not_run(script, told("empty_script"), mode))
            return await self._ended(await self._run(script, context or {}, setup, mode, recording, start))

    async def run_reply(self, reply: str) -> TurnOutcome:
        """Run the script in an assistant's reply: the one between <tool-calls> and </tool-calls>."""
        self._check_open()
        found = detect(reply)
        if isinstance(found, Detected):
            return await self.run(found.script)
        near = near_miss(reply)
        problem = found or told("no_script", near=f" (it has {near}, which is not the tag)" if near else "")
        async with self._one_at_a_time:
            self._turn += 1
            return await self._ended(self._not_run("", problem, self._setup.mode))

    def _check_open(self) -> None:
        if not self._open:
            raise RuntimeError("the session is not open: write async with harness.session() as session")

    async def _run(
        self,
        script: str,
        context: Mapping[str, Any],
        setup: Setup,
        mode: Mode,
        recording: Recording | None,
        given: Start | None,
    ) -> TurnOutcome:
        assert self._toolbox is not None
        on = self._on
        on.plans.turn = self._turn
        before = replace(on.cache.counts)
        clock, tasks = TurnClock(setup.turn.turn_seconds), OpenTasks(self._tasks)
        desk = TurnDesk(
            self._turn, setup, on, session=self.id, toolbox=self._toolbox, approver=self._approver, digests=self._digests,
            mode=mode, recording=recording, clock=clock, tasks=tasks, now=self._clock,
        )  # fmt: skip
        if self._host_relaxes:
            desk.relax(self._host_relaxes)
            self._host_relaxes = ""
        try:
            async with self._pool.sandbox(self.id) as box:
                ran = await run_turn(box, self._start(script, context, setup, given), desk.desk, clock, tasks)
        finally:
            on.purses[0].seconds += clock.spent_seconds()  # a turn that is cancelled has taken its time too
        self._remember(ran)
        composed = self._compose(ran, desk, setup, mode)
        return self._outcome(script, ran, composed, desk, clock, before, mode)

    def _start(self, script: str, context: Mapping[str, Any], setup: Setup, given: Start | None) -> Start:
        assert self._toolbox is not None
        start = given or Start(source="", now=self._now() * 1000, seed=self._turn, limits=setup.limits)
        if setup is not self._setup:  # limits for this turn win over those of a start
            start = replace(start, limits=setup.limits)
        facts = {"session": self.id, "turn": self._turn, "root": str(self._root)}
        return replace(
            start, source=script, tools=tuple(self._toolbox.tools), context={**facts, **start.context, **context},
            stored={**self._on.stored, **start.stored},
        )  # fmt: skip

    def _remember(self, ran: Ran) -> None:
        for event in ran.events:
            if isinstance(event, Stored):
                if event.removed:
                    self._on.stored.pop(event.key, None)
                else:
                    self._on.stored[event.key] = event.value

    def _compose(self, ran: Ran, desk: TurnDesk, setup: Setup, mode: Mode) -> Composed:
        composer = Composer(
            turn=self._turn, seen=self._on.seen, provenance=desk.provenance, chunks=self._on.chunks, redactor=self._on.redactor,
            limits=setup.shown, cap=desk.cap, flags=setup.flags.condensing,
        )  # fmt: skip
        showing = showings(ran.events)
        if not isinstance(ran.ending, Finished):
            showing.append(Showing("error", ran.ending.error.text))
        if mode == "dry_run" and desk.guards.dry_run is not None:
            showing.append(Showing("console", "\n".join(dry_report(ran, desk.guards.dry_run.spared))))
        return composer.compose(showing, [*notices(ran), *self._disk_notice()])

    def _disk_notice(self) -> list[str]:
        if self._disk is None or not self._disk.problem or self._told_of_disk:
            return []
        self._told_of_disk = True
        return [f"results are no longer kept on disk: {self._disk.problem}"]

    def _outcome(
        self, script: str, ran: Ran, composed: Composed, desk: TurnDesk, clock: TurnClock, before: CacheCounts, mode: Mode
    ) -> TurnOutcome:
        for item, value in zip(composed.items, composed.values, strict=True):
            self._on.results.put(item.handle, value)
        plan = self._on.plans.actual() if desk.guards.plan is not None and self._on.plans.files else None
        return TurnOutcome(
            number=self._turn, script=script, text=composed.text, events=ran.events, settled=ran.settled, ending=ran.ending,
            calls=ran.calls, items=composed.items, notices=composed.notices, checked=ran.checked, layers=ran.layers, mode=mode,
            decisions=tuple(desk.guards.approval.decisions),
            ledger=turn_ledger(
                ran, composed, clock, cache_before=before, cache_after=self._on.cache.counts, plan=plan,
                relaxed=tuple(desk.relaxed),
            ),
        )  # fmt: skip

    def _not_run(self, script: str, problem: Problem, mode: Mode) -> TurnOutcome:
        error = ScriptError(problem.code, problem.message, hint=problem.hint, origin="sandbox")
        ending, size = Failed(error), len(error.text.encode())
        item = ShownItem(
            handle=f"T{self._turn}.1", kind="error", text=error.text, labelled=False, whole=True, produced=size, trimmed={}
        )
        self._on.results.put(item.handle, error.text)
        return TurnOutcome(
            number=self._turn, script=script, text=item.lines, events=(ending,), settled=(), ending=ending, mode=mode,
            items=(item,), ledger=Ledger(produced=size, shown=size, text=size),
        )  # fmt: skip

    async def _ended(self, outcome: TurnOutcome) -> TurnOutcome:
        self._on.transcript.add(outcome.number, outcome.items, outcome.notices)
        self._ledgers.append(outcome.ledger)
        await self._store.append(Turned(session=self.id, at=self._now(), outcome=outcome))
        return outcome

    # ------------------------------------------------------------ what is in view

    def transcript(self) -> list[tuple[int, str]]:
        """The turns in view, each with its text as it is now."""
        return [(turn, self._on.transcript.text(turn)) for turn in self._on.transcript.turns]

    async def forget(self, turns: Iterable[int]) -> Forgotten:
        """These turns left the model's view, by compaction or otherwise: their lines may be shown again."""
        going = tuple(turn for turn in turns if turn in self._on.transcript.turns)
        changed = self._on.transcript.forget(going)
        await self._store.append(Forgot(session=self.id, at=self._now(), turns=going, mended=changed))
        view = self._on.transcript
        touched = [turn for turn in view.turns if any(item.handle in changed for item in view.items(turn))]
        return Forgotten(going, {turn: view.text(turn) for turn in touched})

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

    def _facts(self) -> dict[str, Any]:
        setup = self._setup
        return {
            "mode": setup.mode,
            "flags": asdict(setup.flags),
            "limits": asdict(setup.limits) | asdict(setup.turn) | asdict(setup.shown),
            "tools": sorted(self._offer.tools),
            "plan_reads": setup.plan_reads,
        }


def _with_pack(offer: Offer, pack: Pack) -> Offer:
    tools = {tool.full_name: tool for tool in pack.tools}
    if any(tool.pack == pack.name for tool in offer.tools.values()):
        raise BadPack(f"with plan_reads the pack {pack.name} is the session's own; rename the other one, such as my_{pack.name}")
    return Offered({**offer.tools, **tools}, {**offer.homes, **dict.fromkeys(tools, pack)}, offer.refused)
