"""What every guard must satisfy. A test file gives the guards, each with a call that it lets pass, and runs this.

An outcome always; `admit` does not wait; who refuses does not let the call go on; cancellation and exceptions of what comes after
pass through, and leave nothing behind that the next call would trip over.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, get_args

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from harness.call import Call, Guard, Outcome, Status
from harness.problems import PROBLEMS
from sandbox import Problem


@dataclass
class Case:
    """`passing` makes the nth of calls that the guard lets pass, `refusing` one that it refuses, if it ever does.

    `leave` is what a turn does for a guard when a call is over.
    """

    guard: Guard
    passing: Callable[[int], Call]
    refusing: Callable[[], Call] | None = None
    leave: Callable[[Call], None] = field(default=lambda call: None)
    by: str = ""

    async def run(self, call: Call, proceed: Callable[[Call], Any]) -> Outcome:
        """As a turn does it."""
        try:
            return self.guard.admit(call) or await self.guard.handle(call, proceed)
        finally:
            self.leave(call)


RETURNED = Outcome(status="returned", value={"n": 1}, source="tool", size=7)


@dataclass
class Rest:
    """The rest of the chain: what it was called with, and what it does."""

    then: Callable[[Call], Any] | None = None
    outcome: Outcome = RETURNED
    calls: list[Call] = field(default_factory=list)

    async def __call__(self, call: Call) -> Outcome:
        self.calls.append(call)
        if self.then is not None:
            await self.then(call)
        return self.outcome


def outcomes() -> Iterator[Outcome]:
    for status in get_args(Status):
        problem = None if status == "returned" else Problem("tool_failed", "it failed")
        yield Outcome(status=status, value="v", size=3, source="tool", problem=problem)


Make: TypeAlias = Callable[[TaskGroup], Case]


@asynccontextmanager
async def opened(make: Make) -> AsyncIterator[Case]:
    """For a guard with tasks of its own."""
    async with anyio.create_task_group() as tasks:
        yield make(tasks)
        tasks.cancel_scope.cancel()


class GuardContract:
    """Subclass it with a fixture `make`."""

    async def test_admit_does_not_wait(self, make: Make) -> None:
        async with opened(make) as case:
            assert not inspect.iscoroutinefunction(case.guard.admit) and inspect.iscoroutinefunction(case.guard.handle)

    async def test_a_call_that_passes_goes_on_as_it_is_and_its_value_comes_back(self, make: Make) -> None:
        async with opened(make) as case:
            call, rest = case.passing(1), Rest()
            outcome = await case.run(call, rest)
            assert rest.calls == [call] and rest.calls[0] is call
            assert (outcome.status, outcome.value, outcome.problem) == ("returned", {"n": 1}, None)

    async def test_whatever_comes_after_it_ends_in_an_outcome(self, make: Make) -> None:
        async with opened(make) as case:
            for n, given in enumerate(outcomes(), 1):
                outcome = await case.run(case.passing(n), Rest(outcome=given))
                assert isinstance(outcome, Outcome)
                assert (outcome.problem is None) == (outcome.status == "returned")
                if given.status != "returned":
                    assert replace(outcome, missed=False) == given  # what failed later is not made better

    async def test_who_refuses_lets_nothing_go_on_and_says_why(self, make: Make) -> None:
        async with opened(make) as case:
            if case.refusing is None:
                pytest.skip("it never refuses")
            rest = Rest()
            outcome = await case.run(case.refusing(), rest)
            assert rest.calls == [] and outcome.status in ("refused", "denied") and outcome.by == case.by
            assert outcome.problem is not None and outcome.problem.code in PROBLEMS
            assert outcome.problem.message and outcome.problem.hint and outcome.value is None

    async def test_cancellation_passes_through_and_leaves_nothing_behind(self, make: Make) -> None:
        async with opened(make) as case:
            began = anyio.Event()

            async def hang(call: Call) -> None:
                began.set()
                await anyio.sleep_forever()

            ended: list[Outcome] = []
            first = case.passing(1)
            async with anyio.create_task_group() as tasks:

                async def run() -> None:
                    ended.append(await case.run(first, Rest(hang)))

                tasks.start_soon(run)
                with anyio.fail_after(2):
                    await began.wait()
                tasks.cancel_scope.cancel()
            assert ended == []
            await self._the_next_passes(case)

    async def test_cancellation_before_it_goes_on_leaves_nothing_behind(self, make: Make) -> None:
        async with opened(make) as case:
            rest = Rest(lambda call: anyio.lowlevel.checkpoint())
            with anyio.CancelScope() as scope:
                scope.cancel()
                await case.run(case.passing(1), rest)
            await self._the_next_passes(case)

    async def test_an_exception_of_what_comes_after_is_not_swallowed(self, make: Make) -> None:
        async with opened(make) as case:

            async def fail(call: Call) -> None:
                raise LookupError("a bug")

            with pytest.raises(LookupError, match="a bug"):
                await case.run(case.passing(1), Rest(fail))
            await self._the_next_passes(case)

    async def test_many_at_once_all_end(self, make: Make) -> None:
        async with opened(make) as case:
            ended: dict[int, Outcome] = {}

            async def one(call: Call) -> None:
                try:
                    ended[call.number] = await case.guard.handle(call, Rest(lambda call: anyio.lowlevel.checkpoint()))
                finally:
                    case.leave(call)

            calls = [case.passing(n) for n in range(1, 21)]
            for call in calls:  # in the order of the script, before any of them runs
                assert case.guard.admit(call) is None
            with anyio.fail_after(5):
                async with anyio.create_task_group() as tasks:
                    for call in reversed(calls):
                        tasks.start_soon(one, call)
            assert sorted(ended) == list(range(1, 21)) and all(outcome.ok for outcome in ended.values())

    async def _the_next_passes(self, case: Case) -> None:
        """An equal one first: no lock is held and nobody is waited for."""
        for n in (1, 2):
            with anyio.fail_after(2):
                assert (await case.run(case.passing(n), Rest())).ok
