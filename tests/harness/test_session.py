"""A session from the outside: what goes on from turn to turn, what a turn never leaves behind, and what the ledger says."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from catalog import ToolProblem, tool
from harness import Harness, MemoryStore, Setup, TurnOutcome
from harness.entries import Began, Closed, Ended, Forgot, Opened
from harness.ledger import Ledger
from harness.limits import ShownLimits, TurnLimits
from harness.open_tasks import OpenTasks
from harness.setup import BadConfig
from sandbox import Exceeded, Limits, Start
from tests.harness.guards.rig import caught, talking, together

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def echo(text: str) -> str:
    return text


@tool(reads=["clock:now"])
async def forever() -> None:
    await anyio.sleep_forever()


# ------------------------------------------------------------ what goes on


async def test_stored_values_go_on_to_the_next_turn_and_undefined_takes_them_away() -> None:
    async with talking(echo) as session:
        await session.run("store('a', { n: [1] }); store('b', 2); return 0")
        assert (await session.run("store('b', undefined); return [load('a'), load('b') ?? null]")).value == [{"n": [1]}, None]
        assert (await session.run("return [load('a').n, load('b') ?? null]")).value == [[1], None]


async def test_what_a_script_stored_before_it_failed_is_kept() -> None:
    async with talking(echo) as session:
        assert not (await session.run("store('a', 1); throw new Error('later')")).ok
        assert (await session.run("return load('a')")).value == 1


async def test_turns_are_numbered_and_the_script_knows_where_it_is() -> None:
    async with talking(echo, id="abc") as session:
        outcomes = [
            await session.run("return [context.session, context.turn, context.who]", context={"who": "ada"}) for _ in range(2)
        ]
    assert [outcome.value for outcome in outcomes] == [["abc", 1, "ada"], ["abc", 2, "ada"]]
    assert [outcome.number for outcome in outcomes] == [1, 2]


async def test_turns_of_one_session_run_one_after_the_other() -> None:
    running: list[int] = []

    @tool(reads=["clock:now"])
    async def count() -> int:
        running.append(1)
        most = len(running)
        await anyio.sleep(0.01)
        running.pop()
        return most

    async with talking(count) as session:
        got: list[TurnOutcome] = []

        async def one() -> None:
            got.append(await session.run("return await tools.x.count()"))

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(one)
    assert [outcome.value for outcome in got] == [1] * 4 and sorted(outcome.number for outcome in got) == [1, 2, 3, 4]


async def test_a_handle_gives_the_exact_value_to_a_script_and_to_the_host() -> None:
    value = {"rows": [{"n": n, "text": "é" * 40} for n in range(400)]}
    async with talking(echo) as session:
        first = await session.run(
            "show({ rows: Array.from({ length: 400 }, (_, n) => ({ n, text: 'é'.repeat(40) })) }); return 'x'"
        )
        assert not first.items[0].whole and "T1.1" in first.text
        assert session.recall("T1.1") == value
        assert (await session.run("return (await recall('T1.1')).rows.length")).value == 400
        with pytest.raises(ToolProblem, match=r"nothing is kept under 'T9\.9'"):
            session.recall("T9.9")


async def test_every_item_of_a_flood_can_be_recalled() -> None:
    async with talking(echo) as session:
        outcome = await session.run("for (let i = 0; i < 300; i++) show(i + ' ' + 'x'.repeat(900)); return 'the end'")
        assert [session.recall(item.handle) for item in outcome.items] == [f"{n} " + "x" * 900 for n in range(300)] + ["the end"]


# ------------------------------------------------------------ what a turn shows


@pytest.mark.parametrize(
    "flood",
    [
        "for (let i = 0; i < 1000; i++) show('line ' + i + ' ' + 'x'.repeat(900));",
        "for (let i = 0; i < 1000; i++) show({ i, a: 'abc', b: [1, 2, 3, 4, 5, 6] });",
        "for (let i = 0; i < 60; i++) show('é\\n'.repeat(4000));",
        "for (let i = 0; i < 500; i++) console.log('x'.repeat(5000));",
        "const go = f => { f() }; for (let i = 0; i < 256; i++) go(tools.x.forever); await sleep(1);",
        Ellipsis,
    ],
    ids=["texts", "objects", "long texts", "console", "open calls", "calls from many places"],
)
@pytest.mark.parametrize("end", ["return 'the end'", "throw new Error('the end')"], ids=["returns", "throws"])
async def test_no_flood_goes_over_the_bytes_of_a_turn_or_crowds_out_its_end(flood: Any, end: str) -> None:
    if flood is Ellipsis:
        flood = "\n".join(f"const f{n} = f => {{ f() }}; f{n}(tools.x.forever);" for n in range(200)) + "\nawait sleep(1);"
    async with talking(echo, forever) as session:
        outcome = await session.run(f"{flood}\n{end}")
        assert "the end" in outcome.text and len(outcome.text.encode()) <= 24_576
        assert session.transcript() == [(1, outcome.text)]
        assert outcome.ledger.text == len(outcome.text.encode())
        assert outcome.ledger.produced == outcome.ledger.shown + sum(outcome.ledger.trimmed.values())


async def test_values_without_room_are_counted_and_named() -> None:
    async with talking(echo, setup=Setup(shown=ShownLimits(shown_turn_bytes=2_000))) as session:
        outcome = await session.run("for (let i = 0; i < 50; i++) show(i + 'x'.repeat(300)); return 'the end'")
    gone = [item.handle for item in outcome.items if item.crowded_out]
    assert outcome.notices == (
        f'{len(gone)} of 51 values had no room; show less at once, or in a later turn: await recall("{gone[0]}")',
    )
    assert len(outcome.text.encode()) <= 2_000 and len(gone) > 30


RELAX = "const names = []; for (const why of WHY) try { names.push(await relax(why)) } catch (e) { names.push(e.message) }\nreturn names"


async def test_relax_raises_the_bytes_once_a_turn_on_record() -> None:
    async with talking(echo) as session:
        outcome = await session.run(RELAX.replace("WHY", "['', '  ', 'a long diff', 'again']"))
        assert outcome.value == [
            "relax needs a reason, which goes on record",
            "relax needs a reason, which goes on record",
            True,
            "relax was used in this turn already: 32,768 bytes may be shown",
        ]
        assert outcome.ledger.relaxed == ("a long diff",)
        more = await session.run(
            "await relax('all of it'); for (let i = 0; i < 5; i++) show(`${i}`.repeat(7900)); return budget.bytes"
        )
        assert 24_576 < len(more.text.encode()) <= 32_768
        assert session.ledger.relaxed == ("a long diff", "all of it")


async def test_the_host_relaxes_the_next_turn_and_no_other() -> None:
    async with talking(echo) as session:
        with pytest.raises(ValueError, match="relax needs a reason"):
            session.relax("  ")
        session.relax("a person wants to see it")
        first = await session.run(RELAX.replace("WHY", "['me too']") + ", budget.bytes")
        assert first.ledger.relaxed == ("by the host: a person wants to see it",)
        assert first.value == 32_768 or first.value[0].startswith("relax was used in this turn already")
        assert (await session.run("return 1")).ledger.relaxed == ()


async def test_a_script_reads_its_budget() -> None:
    setup = Setup(limits=Limits(calls=3))
    async with talking(echo, setup=setup) as session:
        outcome = await session.run(
            "const before = { ...budget }; show('x'.repeat(1000)); await tools.x.echo('a');"
            "return [before.calls, before.bytes, budget.calls, budget.bytes, before.seconds <= 300, budget.tools]"
        )
    calls, size, calls_after, size_after, in_time, own = outcome.value
    assert (calls, size, calls_after, in_time, own) == (3, 24_576, 2, True, {}) and 23_000 < size_after < 23_600


async def test_notices_longer_than_their_bytes_are_cut_when_the_turn_is_full() -> None:
    setup = Setup(shown=ShownLimits(shown_turn_bytes=1_000, notice_bytes=60))
    async with talking(forever, setup=setup) as session:
        source = "\n".join(f"const f{n} = f => {{ f() }}; f{n}(tools.x.forever);" for n in range(6))
        show = "show(Array.from({ length: 900 }, (_, n) => `${n}`).join('\\n'))"
        outcome = await session.run(f"{source}\n{show}; await sleep(1); return 'the end'")
    assert [notice[:40] for notice in outcome.notices] == [
        f"x.forever (call {n}, line {n}, column 19) was s"[:40] for n in range(1, 7)
    ]
    assert sum(notice.endswith("…") for notice in outcome.notices) >= 3
    assert len(outcome.text.encode()) <= 1_000 and "the end" in outcome.text


# ------------------------------------------------------------ modes and replies


async def test_a_disabled_session_runs_nothing_and_says_so() -> None:
    async with talking(echo, setup=Setup(mode="disabled")) as session:
        outcome = await session.run("return await tools.x.echo('a')")
        assert outcome.text == (
            "scripts_disabled: scripts are disabled in this session, so nothing ran\n"
            "  hint: go on without tools, or ask a person to enable them"
        )
        assert not outcome.ok and outcome.calls == () and session.transcript() == [(1, outcome.text)]
        size = len(outcome.text.encode())
        assert outcome.ledger == Ledger(produced=size, shown=size, text=size)
        assert (await session.run("return 1", mode="enabled")).value == 1


async def test_an_empty_script_is_a_turn_that_ran_nothing() -> None:
    async with talking(echo) as session:
        outcome = await session.run(" \n ")
        assert outcome.error is not None and outcome.error.name == "empty_script" and session.transcript() == [(1, outcome.text)]


async def test_a_reply_runs_the_script_in_it() -> None:
    async with talking(echo) as session:
        ran = await session.run_reply("Look:\n<tool-calls>\nreturn await tools.x.echo('a')\n</tool-calls>\nThanks.")
        assert (ran.value, ran.script) == ("a", "return await tools.x.echo('a')")
        for reply, code in [
            ("no block", "no_script"),
            ("```\n<tool-calls>1</tool-calls>\n```", "no_script"),
            ("<tool-calls>1", "unbalanced_block"),
        ]:
            outcome = await session.run_reply(reply)
            assert outcome.error is not None and outcome.error.name == code and outcome.calls == ()
        assert [turn for turn, _ in session.transcript()] == [1, 2, 3, 4]


async def test_a_reply_in_a_disabled_session_is_told_so() -> None:
    async with talking(echo, setup=Setup(mode="disabled")) as session:
        outcome = await session.run_reply("<tool-calls>return 1</tool-calls>")
        assert outcome.error is not None and outcome.error.name == "scripts_disabled"


# ------------------------------------------------------------ the record


async def test_entries_hold_what_happened_in_order() -> None:
    store = MemoryStore()
    async with talking(echo, store=store, id="kept") as session:
        first = await session.run("return 1")
        second = await session.run("return 2")
        forgotten = await session.forget([1, 7])
        assert (forgotten.turns, dict(forgotten.mended)) == ((1,), {})
        assert session.transcript() == [(2, "2")]
    opened, *rest = store.entries("kept")
    assert isinstance(opened, Opened) and opened.facts.mode == "enabled" and opened.facts.tools == ("x.echo",)
    assert [type(entry) for entry in rest] == [Began, Ended, Began, Ended, Forgot, Closed]
    assert [entry.text for entry in rest if isinstance(entry, Ended)] == [first.text, second.text]
    assert [entry.script for entry in rest if isinstance(entry, Began)] == ["return 1", "return 2"]
    assert [entry.turns for entry in rest if isinstance(entry, Forgot)] == [(1,)]


async def test_a_text_that_referred_to_a_forgotten_turn_gets_its_lines_back() -> None:
    lines = "Array.from({ length: 12 }, (_, n) => 'a line of text, number ' + n).join('\\n')"
    async with talking(echo) as session:
        await session.run(f"show({lines})")
        second = await session.run(f"show('first\\n' + {lines} + '\\nlast')")
        assert "number 5" not in second.text
        forgotten = await session.forget([1])
        assert "number 5" in forgotten.mended[2] and session.transcript() == [(2, forgotten.mended[2])]


async def test_the_ledger_of_a_session_is_the_sum_of_its_turns() -> None:
    async with talking(echo, forever, setup=Setup(turn=TurnLimits(call_seconds=0.05))) as session:
        one = await session.run("show('a'.repeat(9000)); return await tools.x.echo('b')")
        two = await session.run("return [await tools.x.echo('b')]")
        three = await session.run(caught("tools.x.forever()"))
        total = session.ledger
    turns = [outcome.ledger for outcome in (one, two, three)]
    for name in ("turns", "produced", "shown", "text", "result_bytes", "cache_hits", "cache_misses"):
        assert getattr(total, name) == sum(getattr(turn, name) for turn in turns), name
    assert total.calls == {"returned": 2, "timed_out": 1} and total.refused == {"timeout": 1}
    assert (total.cache_hits, total.cache_misses, total.result_bytes) == (1, 1, 6)
    assert total.produced == total.shown + sum(total.trimmed.values()) and total.trimmed["cap"] > 0


async def test_every_call_has_one_status_in_the_ledger() -> None:
    @tool(effect="external", approval=True)
    async def asks() -> None: ...

    @tool(reads=["clock:now"])
    async def fails() -> None:
        raise OSError("no")

    async with talking(echo, forever, asks, fails) as session:
        source = together("tools.x.echo('a')", "tools.x.asks()", "tools.x.fails()", "tools.x.echo([1].map(x => x)[0])")
        outcome = await session.run(f"const go = f => {{ f() }}; go(tools.x.forever);{source}")
    assert outcome.value == ["a", "denied", "tool_failed", "bad_arguments"]
    assert outcome.ledger.calls == {"cancelled": 1, "returned": 1, "denied": 1, "failed": 2}
    assert [record.number for record in outcome.calls] == [1, 2, 3, 4, 5]


# ------------------------------------------------------------ cancellation


async def test_a_call_that_ignores_its_cancellation_is_named_and_not_waited_for() -> None:
    free = anyio.Event()

    @tool(reads=["clock:now"])
    async def stubborn() -> str:
        with anyio.CancelScope(shield=True):
            await free.wait()
        return "late"

    async with talking(stubborn, setup=Setup(turn=TurnLimits(turn_seconds=0.2, grace_seconds=0.05))) as session:
        with anyio.fail_after(5):
            outcome = await session.run("return await tools.x.stubborn()")
        assert isinstance(outcome.ending, Exceeded)
        assert outcome.ending.error.message == "the turn took more than 0.2 seconds; still open: x.stubborn (line 1)"
        assert outcome.notices[-1] == (
            "x.stubborn (call 1) did not stop when it was cancelled and may still have effects; look before you go on"
        )
        assert [(record.outcome.status, record.outcome.by) for record in outcome.calls] == [("cancelled", "nobody")]
        assert (await session.run("return 1")).value == 1
        free.set()


async def test_a_turn_that_is_cancelled_from_outside_leaves_nothing_alive_and_the_session_goes_on() -> None:
    began, ended = anyio.Event(), []

    @tool(writes=["thing:a"])
    async def hang(long: bool = True) -> str:
        if not long:
            return "free"
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async with talking(hang) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run, "await tools.x.hang()")
            with anyio.fail_after(5):
                await began.wait()
            tasks.cancel_scope.cancel()
        assert ended == ["cancelled"]
        assert (session._ground.on.lanes._tickets, session._ground.on.lanes._running) == ({}, 0)
        with anyio.fail_after(5):
            outcome = await session.run("return await tools.x.hang(false)")
        assert (outcome.value, outcome.number) == ("free", 2)
        assert [turn for turn, _ in session.transcript()] == [2]


async def test_a_turn_that_is_cancelled_in_its_engine_goes_on_with_another_worker() -> None:
    async with talking(echo) as session:
        with anyio.move_on_after(0.1) as scope:
            await session.run("while (true) {}")
        assert scope.cancelled_caught
        assert (await session.run("return await tools.x.echo('on')")).value == "on"


async def test_a_task_that_has_not_begun_when_the_turn_ends_is_waited_for_and_does_nothing() -> None:
    done: list[str] = []

    async def work() -> None:
        try:
            await anyio.lowlevel.checkpoint_if_cancelled()
            done.append("work")
        finally:
            done.append("over")

    async with anyio.create_task_group() as group:
        tasks = OpenTasks(group)
        tasks.start("early", work)
        assert await tasks.end(5.0) == [] and done == ["over"]
        tasks.start("late", work)
        assert await tasks.end(5.0) == [] and done == ["over", "over"]


async def test_two_sessions_side_by_side_share_nothing_but_the_workers() -> None:
    store = MemoryStore()
    async with Harness(tools={"x.echo": echo}, workers=2, store=store) as harness:
        async with harness.session("one") as one, harness.session("two") as two:
            got: dict[str, list[Any]] = {"one": [], "two": []}

            async def talk(session: Any, name: str) -> None:
                await session.run(f"store('who', '{name}'); show('{name} '.repeat(400)); return await tools.x.echo('{name}')")
                outcome = await session.run("return [load('who'), context.turn, (await recall('T1.1')).slice(0, 3)]")
                got[name] = outcome.value

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(talk, one, "one")
                tasks.start_soon(talk, two, "two")
            assert got == {"one": ["one", 2, "one"], "two": ["two", 2, "two"]}
            assert one.ledger.calls == two.ledger.calls == {"returned": 1}
        assert [len(store.entries(name)) for name in ("one", "two")] == [8, 8]


async def test_limits_may_be_set_for_one_turn() -> None:
    async with Harness() as harness, harness.session() as session:
        source = "show('a line\\n'.repeat(2000)); return [budget.bytes, budget.calls]"
        small = await session.run(source, limits={"shown_turn_bytes": 1_000, "calls": 3})
        assert small.value == [1_000, 3] and len(small.text.encode()) <= 1_000
        assert (await session.run(source)).value == [24_576, 256]
        started = await session.run(source, start=Start(source="", now=5.0), limits={"calls": 7})
        assert started.value == [24_576, 7]
        with pytest.raises(BadConfig, match="there is no limit 'shown_turn_byte'; did you mean shown_turn_bytes"):
            await session.run(source, limits={"shown_turn_byte": 1})
        with pytest.raises(BadConfig, match="limit calls must be a number above 0, not 0"):
            await session.run(source, limits={"calls": 0})
