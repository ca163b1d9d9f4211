"""Every guard of the chain runs the contract."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskGroup

from catalog import MemoryResults, tool
from harness.approval import Answer, Policy, Request, Rule
from harness.cache import Freshness, MemoryCache
from harness.call import Call, Outcome
from harness.chain import Guards
from harness.faults import FaultCounts, parse_fault
from harness.guards.approval import Approval, Remembered
from harness.guards.budget import Allowance, Budget, purses
from harness.guards.cache import Cache
from harness.guards.conflict import Conflict
from harness.guards.dry_run import DryRun
from harness.guards.fault import Faults
from harness.guards.journal import Journal
from harness.guards.overlap import Overlap
from harness.guards.plan import Plan
from harness.guards.repeat import Repeat
from harness.guards.replay import Replay
from harness.guards.seconds import Seconds
from harness.guards.timeout import Timeout
from harness.lanes import Lanes
from harness.limits import ShownLimits
from harness.open_tasks import OpenTasks
from harness.reading_plan import PlannedFile, Plans
from harness.recording import Play, Recording
from harness.redaction import Redactor
from harness.seen import Seen
from tests.contracts.guard_contract import Case, GuardContract, Make
from tests.harness.guards.rig import Clock, made

pytestmark = pytest.mark.anyio


@tool(reads=["file:{path}"], shape="slice")
async def read(path: str, n: int = 0) -> object: ...


@tool(effect="external", reads=["url:{n}"])
async def fetch(n: int) -> object: ...


@tool(writes=["file:{path}"], approval=True)
async def write(path: str, n: int = 0) -> object: ...


class Yes:
    async def decide(self, requests: Sequence[Request]) -> Iterable[Answer]:
        return [Answer(request=one.id, verdict="allow") for one in requests]


def replay(tasks: TaskGroup) -> Case:
    """It answers everything itself, and what is behind it is never asked; so nothing passes, and only refusing is told."""
    guard = Replay(Play(recording=Recording()), lambda call, entry: None)
    return Case(guard, lambda n: made(read, n, path="a"), lambda: made(read, path="a"), by="replay")


def dry_run(tasks: TaskGroup) -> Case:
    return Case(DryRun(Policy()), lambda n: made(read, n, path="a"), lambda: made(write, path="a"), by="dry_run")


def plan(tasks: TaskGroup) -> Case:
    plans = Plans(ShownLimits(), covered=lambda *_: (), canonical=str, turn=1)
    plans.take([PlannedFile(path="a", symbols=["x"])], 8_000)
    plans.turn = 2
    return Case(Plan(plans), lambda n: made(read, n, path="a"), lambda: made(read, path="b"), by="plan")


def budget(tasks: TaskGroup) -> Case:
    guard = Budget(purses("turn", Allowance(), {"x.fetch": Allowance(calls=0)}), (), MemoryResults())
    return Case(guard, lambda n: made(read, n, path="a"), lambda: made(fetch, n=1), by="budget")


def fault(tasks: TaskGroup) -> Case:
    guard = Faults(FaultCounts([parse_fault("x.fetch is denied")]), call_seconds=60.0)
    return Case(guard, lambda n: made(read, n, path="a"), lambda: made(fetch, n=1), by="approval")


def approval(tasks: TaskGroup) -> Case:
    conflict = Conflict(Lanes(8))
    guard = Approval(
        Yes(), Policy((Rule(tool="x.fetch", then="deny"),)), Remembered(), session="s", seconds=5, redactor=Redactor({}),
        conflict=conflict, tasks=OpenTasks(tasks), paused=nullcontext, clock=Clock(),
    )  # fmt: skip

    def passing(n: int) -> Call:
        call = made(write, n, path="a")
        conflict.admit(call)  # which stands behind it in the chain
        return call

    return Case(guard, passing, lambda: made(fetch, n=1), conflict.leave, by="approval")


def conflict(tasks: TaskGroup) -> Case:
    guard = Conflict(Lanes(2))
    return Case(guard, lambda n: made(write, n, path="ab"[n % 2]), leave=guard.leave)


def repeat(tasks: TaskGroup) -> Case:
    guard = Repeat(times=3, seconds=120.0, sample_bytes=256, clock=Clock())
    memory = guard._memory(made(fetch, n=999))
    memory.result, memory.times = b"same", [1_000.0, 1_000.0]
    return Case(guard, lambda n: made(fetch, n, n=n), lambda: made(fetch, n=999), by="repeat")


def overlap(tasks: TaskGroup) -> Case:
    return Case(Overlap(Seen()), lambda n: made(read, n, path="a"))


def cache(tasks: TaskGroup) -> Case:
    guard = Cache(Freshness(Path.cwd()), MemoryCache(most_bytes=1 << 20))
    return Case(guard, lambda n: made(read, n, path="no-such-file", n=n))


def journal(tasks: TaskGroup) -> Case:
    async def running(call: Call) -> None:
        await anyio.lowlevel.checkpoint()

    return Case(Journal(running), lambda n: made(write, n, path="a"))


def seconds(tasks: TaskGroup) -> Case:
    spent = purses("turn", Allowance(), {"x.fetch": Allowance(seconds=1.0)})
    spent[1].seconds = 1.0
    guard = Seconds(Budget(spent, (), MemoryResults()))
    return Case(guard, lambda n: made(read, n, path="a"), lambda: made(fetch, n=1), by="budget")


def timeout(tasks: TaskGroup) -> Case:
    return Case(Timeout(60.0), lambda n: made(read, n, path="a"))


CASES = (dry_run, plan, budget, fault, approval, conflict, repeat, overlap, cache, seconds, journal, timeout)


class TestGuards(GuardContract):
    @pytest.fixture(params=CASES, ids=lambda make: make.__name__)
    def make(self, request: pytest.FixtureRequest) -> Make:
        made_by: Make = request.param
        return made_by


async def test_replay_refuses_without_asking_anybody() -> None:
    async with anyio.create_task_group() as tasks:
        case = replay(tasks)
        assert case.refusing is not None
        outcome = case.guard.admit(case.refusing())
    assert isinstance(outcome, Outcome) and (outcome.status, outcome.by) == ("refused", "replay")


def test_every_guard_of_the_chain_is_here() -> None:
    assert {field.name for field in fields(Guards)} == {make.__name__ for make in (*CASES, replay)}
