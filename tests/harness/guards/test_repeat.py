"""The third identical external call with the identical result: refused before it runs, over turns, together or in a row."""

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import tool
from harness import Setup
from harness.call import Outcome, Proceed
from harness.guards.repeat import Repeat
from harness.limits import TurnLimits
from sandbox import Problem
from tests.harness.guards.rig import Clock, caught, gives, made, talking, together

pytestmark = pytest.mark.anyio


class Page:
    """A page out there, that a test can change."""

    def __init__(self) -> None:
        self.text = "same"
        self.fetched = 0

    def tools(self) -> list[object]:
        @tool(effect="external", reads=["page:{name}"])
        async def fetch(name: str = "a") -> dict[str, object]:
            self.fetched += 1
            await anyio.lowlevel.checkpoint()
            return {"text": self.text, "n": 1}

        @tool(effect="external", reads=["page:timed"], volatile=["seconds"])
        async def timed() -> dict[str, object]:
            self.fetched += 1
            return {"text": self.text, "seconds": self.fetched}

        @tool(effect="external", reads=["page:news"], polled=True)
        async def poll() -> str:
            self.fetched += 1
            return "no news"

        @tool(effect="external", writes=["page:{name}"])
        async def put(name: str = "a") -> str:
            return "put"

        @tool(effect="external")
        async def unknown(n: int = 0) -> str:
            self.fetched += 1
            return "whatever"

        @tool(effect="external", reads=["page:broken"])
        async def broken() -> str:
            self.fetched += 1
            raise OSError("connection refused")

        return [fetch, timed, poll, put, unknown, broken]


async def test_the_third_is_refused_before_it_runs_with_a_sample_over_turns() -> None:
    page, clock = Page(), Clock()
    page.text = "é" * 400
    async with talking(*page.tools(), clock=clock) as session:
        await session.run("await tools.x.fetch('a')")
        clock.now += 30
        await session.run("await tools.x.fetch({ name: 'a' })")
        clock.now += 15
        outcome = await session.run(caught("tools.x.fetch('a')"))
    assert page.fetched == 2
    assert outcome.value == [
        "repeated",
        "x.fetch refused: it ran 2 times within 45 s with the same arguments and gave the same result each time, which begins: "
        + "é" * 128,
        "use that result, change the arguments, or change what it depends on; after 75 s it may run again",
    ]
    assert outcome.ledger.refused == {"repeat": 1}


async def test_after_the_window_it_may_run_again() -> None:
    page, clock = Page(), Clock()
    async with talking(*page.tools(), clock=clock) as session:
        await session.run("await tools.x.fetch(); await tools.x.fetch()")
        clock.now += 119.9
        assert (await session.run(caught("tools.x.fetch()"))).value[0] == "repeated"
        clock.now += 0.2
        assert (await session.run("return (await tools.x.fetch()).text")).value == "same"
    assert page.fetched == 3


async def test_calls_made_together_are_counted_as_if_made_in_turn() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        outcome = await session.run(together(*["tools.x.fetch()"] * 12))
    assert page.fetched == 2
    assert sorted(map(str, outcome.value)) == sorted([str({"text": "same", "n": 1})] * 2 + ["repeated"] * 10)


async def test_a_changed_result_resets_the_count() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        for text in ("a", "b", "b"):
            page.text = text
            assert (await session.run("return (await tools.x.fetch()).text")).value == text
        assert (await session.run(caught("tools.x.fetch()"))).value[0] == "repeated"


async def test_results_that_alternate_are_never_refused() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        for n in range(8):
            page.text = str(n % 2)
            assert (await session.run("return (await tools.x.fetch()).text")).value == str(n % 2)


async def test_a_write_that_it_could_depend_on_resets_the_count_and_another_does_not() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        await session.run("await tools.x.fetch('a'); await tools.x.fetch('a'); await tools.x.put('b')")
        assert (await session.run(caught("tools.x.fetch('a')"))).value[0] == "repeated"
        await session.run("await tools.x.put('a')")
        assert (await session.run("return (await tools.x.fetch('a')).text")).value == "same"
        await session.run("await tools.x.fetch('a'); await tools.x.unknown()")
        assert (await session.run("return (await tools.x.fetch('a')).text")).value == "same"


async def test_what_differs_each_time_and_means_nothing_does_not_count() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        await session.run("await tools.x.timed(); await tools.x.timed()")
        assert (await session.run(caught("tools.x.timed()"))).value[0] == "repeated"


async def test_polling_and_reads_are_never_refused() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        outcome = await session.run("for (let i = 0; i < 6; i++) { await tools.x.poll(); await tools.x.put() } return 1")
    assert outcome.ok and page.fetched == 6


async def test_a_command_with_unknown_effects_counts_its_own_repeats() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        outcome = await session.run(together(*["tools.x.unknown(1)"] * 4))
        assert outcome.value == ["whatever", "whatever", "repeated", "repeated"]


async def test_the_same_failure_again_and_again_is_refused_too() -> None:
    page = Page()
    async with talking(*page.tools()) as session:
        source = "const got = []; for (let i = 0; i < 3; i++) try { await tools.x.broken() } catch (e) { got.push(e.message) }\nreturn got"
        first, second, third = (await session.run(source)).value
    assert first == second == "x.broken failed: OSError: connection refused" and page.fetched == 2
    assert third.endswith(
        'which begins: {"code":"tool_failed","message":"x.broken failed: OSError: connection refused","data":null}'
    )


async def test_two_sessions_do_not_count_each_other() -> None:
    page = Page()
    for id in ("one", "two"):
        async with talking(*page.tools(), id=id) as session:
            assert (await session.run("await tools.x.fetch(); return (await tools.x.fetch()).text")).value == "same"


async def test_the_number_of_times_is_a_limit() -> None:
    page = Page()
    async with talking(*page.tools(), setup=Setup(turn=TurnLimits(repeats=1))) as session:
        assert (await session.run("for (let i = 0; i < 5; i++) await tools.x.fetch(); return 1")).ok


# ------------------------------------------------------------ what no script can bring about


@tool(effect="external", reads=["page:a"])
async def fetch(n: int = 0) -> object:
    return n


def guard(clock: Clock) -> Repeat:
    return Repeat(times=3, seconds=120.0, sample_bytes=256, clock=clock)


async def run(repeat: Repeat, proceed: Proceed, number: int = 1, **named: int) -> Outcome:
    call = made(fetch, number, **named)
    return repeat.admit(call) or await repeat.handle(call, proceed)


async def test_equal_keys_with_other_bytes_are_no_repeat() -> None:
    """Nothing is refused by a digest: two calls whose keys collide have results, and those are compared."""
    repeat = guard(Clock())
    for n in range(6):
        assert (await run(repeat, gives({"n": n % 2, "pad": "x" * 5_000}))).ok


async def test_a_failure_is_not_the_same_as_a_value_that_looks_like_it() -> None:
    repeat = guard(Clock())
    look_alike = {"code": "tool_failed", "message": "no", "data": None}
    failed = {"status": "failed", "problem": Problem("tool_failed", "no")}
    assert (await run(repeat, gives(look_alike))).ok
    assert (await run(repeat, gives(None, **failed))).status == "failed"
    assert (await run(repeat, gives(look_alike))).ok


async def test_what_is_no_json_is_never_refused_and_breaks_nothing() -> None:
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    repeat = guard(Clock())
    for value in (deep, {1: object()}):
        for _ in range(4):
            assert (await run(repeat, gives(value, size=0))).ok


async def test_a_result_of_more_than_a_mebibyte_is_never_refused() -> None:
    repeat = guard(Clock())
    for _ in range(4):
        assert (await run(repeat, gives("x", size=(1 << 20) + 1))).ok


async def test_outcomes_of_other_guards_are_no_results() -> None:
    repeat = guard(Clock())
    for _ in range(4):
        outcome = await run(repeat, gives(None, status="timed_out", by="timeout", problem=Problem("tool_timeout", "late")))
        assert outcome.status == "timed_out"


async def test_different_calls_are_remembered_up_to_a_bound() -> None:
    repeat = guard(Clock())
    for n in range(400):
        await run(repeat, gives("same"), n=n)
    assert len(repeat._known) == 256


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 70), st.sampled_from(["call", "write"])), max_size=30
    )
)
@settings(max_examples=60, deadline=None)
def test_any_sequence_is_refused_exactly_when_two_equal_results_in_a_row_are_recent(
    steps: list[tuple[int, str, int, str]],
) -> None:
    """Against the rule itself, written down once more."""

    @tool(effect="external", writes=["page:a"])
    async def put() -> None: ...

    async def go() -> None:
        clock = Clock()
        repeat = guard(clock)
        model: dict[int, list[tuple[str, float]]] = {}
        for n, result, later, what in steps:
            clock.now += later
            if what == "write":
                await repeat.handle(made(put), gives(None))
                model.clear()
                continue
            past = model.setdefault(n, [])
            recent = [at for _, at in past if clock.now - at < 120]
            outcome = await run(repeat, gives(result), n=n)
            if len(recent) >= 2:
                assert outcome.status == "refused" and outcome.by == "repeat"
                continue
            assert outcome.value == result
            if past and past[-1][0] != result:
                past.clear()
            past.append((result, clock.now))

    anyio.run(go)
