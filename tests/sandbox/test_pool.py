"""Real workers: each script in its own process, and whatever happens to it stays there."""

import gc
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from sandbox import Called, Event, Exceeded, Failed, Finished, Limits, Misuse, Pool, Resolve, Sandbox, Shown, Start, Unavailable

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="the full case is Linux")]
TOOLS = ("a.b",)


@asynccontextmanager
async def a_box(pool: Pool, session: str = "") -> AsyncIterator[Sandbox]:
    async with pool.sandbox(session) as box:
        assert isinstance(box, Sandbox)
        yield box


async def play(pool: Pool, source: str, *, session: str = "", limits: Limits | None = None) -> Event:
    """Run a script, answering each call with its first argument; gives the ending."""
    async with pool.sandbox(session) as box:
        events = await box.send(Start(source=source, tools=TOOLS, limits=limits or Limits(engine_seconds=5)))
        while not box.ended:
            events = await box.send(*[Resolve(event.call_id, event.args[0]) for event in events if isinstance(event, Called)])
        return events[-1]


async def gone(pid: int) -> None:
    """Wait until no such process runs (a zombie counts as gone)."""
    with anyio.fail_after(10):
        while True:
            try:
                with open(f"/proc/{pid}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] == "Z":
                        return
            except (FileNotFoundError, ProcessLookupError):
                return
            await anyio.sleep(0.005)


async def known_pid(box: Sandbox) -> int:
    with anyio.fail_after(10):
        while not box.pid:
            await anyio.sleep(0.001)
    return box.pid


async def test_a_script_runs_in_a_process_of_its_own() -> None:
    async with Pool() as pool:
        async with a_box(pool) as first, a_box(pool) as second:
            assert await known_pid(first) != await known_pid(second) != os.getpid()
            assert await first.send(Start(source="6 * 7")) == [Finished(42)]
            pid = first.pid
        await gone(pid)


async def test_worker_and_machine_give_the_same_events() -> None:
    from tests.sandbox.scripts import run

    source = """show(new Map([[1, new Date()]])); console.log(tools, [Math.random()]);
const r = await Promise.all([3, 1, 2].map(n => tools.a.b(n))); store('r', r); console.log(new URL('http://a/b?c').search);
class Bad extends Error {} ; throw new Bad(structuredClone(r).join());"""
    expected = run(source, tools=TOOLS, limits=Limits(engine_seconds=5), now=1e12, seed=4)
    async with Pool() as pool, pool.sandbox() as box:
        events = await box.send(Start(source=source, tools=TOOLS, limits=Limits(engine_seconds=5), now=1e12, seed=4))
        everything = list(events)
        while not box.ended:
            events = await box.send(*[Resolve(event.call_id, event.args[0]) for event in events if isinstance(event, Called)])
            everything += events
    assert repr(everything) == repr(expected)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("Date.now()", 5_000),
        ("new Date().getTime()", 5_000),
        ("performance.now()", 0),
        ("[typeof structuredClone, Date.now()]", ["function", 5_000]),
        ("[typeof URL, new Date(1).getTime(), performance.timeOrigin]", ["function", 1, 5_000]),
    ],
)
async def test_the_first_thing_a_script_uses_may_be_the_clock(source: str, value: object) -> None:
    """A worker has everything loaded before it knows the time."""
    async with Pool(workers=1) as pool, a_box(pool) as box:
        assert await box.send(Start(source=source, now=5_000.0)) == [Finished(value)]


async def test_every_layer_that_this_kernel_has_is_on() -> None:
    async with Pool() as pool, a_box(pool) as box:
        await box.send(Start(source="1"))
        states = {name: state for name, state, _ in box.layers}
    assert set(states) == {
        "environment", "descriptors", "rlimits", "no_new_privileges", "parent_death", "undumpable", "landlock", "seccomp",
    }  # fmt: skip
    assert {name for name, state in states.items() if state != "on"} <= {"landlock"}


NATIVE_LOOPS = [
    "[].reverse.call({ length: 2 ** 53 - 1 })",
    "'a'.repeat(3e7).indexOf('a'.repeat(1e6) + 'b')",
    "for (;;);",
    "/(a+)+b/.test('a'.repeat(60))",
]


@pytest.mark.parametrize("source", NATIVE_LOOPS)
async def test_a_loop_of_any_kind_ends_at_the_limit_and_the_next_script_works(source: str) -> None:
    async with Pool() as pool:
        ending = await play(pool, source, limits=Limits(engine_seconds=0.2))
        assert isinstance(ending, Exceeded) and ending.limit == "engine_seconds"
        assert await play(pool, "await tools.a.b('next')") == Finished("next")


async def test_the_clock_stops_while_the_script_waits_for_the_host() -> None:
    async with Pool() as pool, a_box(pool) as box:
        await box.send(Start(source="await tools.a.b(1); 'still here'", tools=TOOLS, limits=Limits(engine_seconds=0.05)))
        await anyio.sleep(0.2)
        assert await box.send(Resolve(1, None)) == [Finished("still here")]
        assert box.engine_seconds_spent < 0.05


async def test_a_worker_killed_in_the_middle_of_a_call_costs_only_its_script() -> None:
    async with Pool() as pool, a_box(pool) as other:
        await other.send(Start(source="await tools.a.b(1); 'unharmed'", tools=TOOLS))
        async with a_box(pool) as box:
            await box.send(Start(source="await tools.a.b(1)", tools=TOOLS))
            os.kill(await known_pid(box), signal.SIGKILL)
            (ending,) = await box.send(Resolve(1, None))
            assert isinstance(ending, Failed)
            assert ending.error.text == (
                "WorkerLost: the sandbox worker was lost: it died of SIGKILL\n"
                "  hint: what the script had already called may have had effects: look before you run it again"
            )
            assert box.ended
        assert await other.send(Resolve(1, None)) == [Finished("unharmed")]
        assert await play(pool, "'next'") == Finished("next")


async def test_a_crash_renews_the_zygote_and_scripts_go_on() -> None:
    async with Pool(workers=1) as pool:
        before = pool.zygote_pid
        async with a_box(pool) as box:
            await box.send(Start(source="await tools.a.b(1)", tools=TOOLS))
            os.kill(await known_pid(box), signal.SIGSEGV)
            (ending,) = await box.send(Resolve(1, None))
            assert isinstance(ending, Failed) and "SIGSEGV" in ending.error.message
        assert await play(pool, "1") == Finished(1)
        with anyio.fail_after(10):
            while pool.zygote_pid == before:
                await anyio.sleep(0.005)
        assert await play(pool, "2") == Finished(2)
        await gone(before)


async def test_a_dead_zygote_is_replaced_and_only_open_scripts_are_lost() -> None:
    async with Pool(workers=1) as pool, a_box(pool) as box:
        await box.send(Start(source="await tools.a.b(1)", tools=TOOLS))
        worker = await known_pid(box)
        os.kill(pool.zygote_pid, signal.SIGKILL)
        await gone(worker)
        (ending,) = await box.send(Resolve(1, None))
        assert isinstance(ending, Failed) and ending.error.name == "WorkerLost"
        assert await play(pool, "'again'") == Finished("again")


async def test_cancelling_the_task_ends_the_script_at_once() -> None:
    async with Pool() as pool:
        pids: list[int] = []

        async def spin() -> None:
            async with a_box(pool) as box:
                pids.append(await known_pid(box))
                await box.send(Start(source="for (;;);", limits=Limits(engine_seconds=10)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(spin)
            with anyio.fail_after(10):
                while not pids:
                    await anyio.sleep(0.001)
            await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        await gone(pids[0])
        assert await play(pool, "1") == Finished(1)


async def test_leaving_the_sandbox_early_ends_the_script() -> None:
    async with Pool() as pool:
        async with a_box(pool) as box:
            await box.send(Start(source="await tools.a.b(1)", tools=TOOLS))
            pid = await known_pid(box)
        await gone(pid)


async def test_nothing_is_left_when_the_pool_closes() -> None:
    gc.collect()
    before = set(os.listdir("/proc/self/fd"))
    async with Pool(workers=3) as pool:
        for _ in range(5):
            await play(pool, "await tools.a.b(1)")
        async with a_box(pool) as box:
            await box.send(Start(source="1"))
            pids = [pool.zygote_pid, await known_pid(box)]
    for pid in pids:
        await gone(pid)
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) <= before | {max(before, key=int)}


async def test_more_scripts_than_places_wait_their_turn() -> None:
    async with Pool(workers=1, at_once=2) as pool:
        done: list[object] = []

        async def one(n: int) -> None:
            done.append((await play(pool, f"await tools.a.b({n})")).value)  # type: ignore[union-attr]

        async with anyio.create_task_group() as tasks:
            for n in range(12):
                tasks.start_soon(one, n)
    assert sorted(done) == list(range(12))  # type: ignore[type-var]


# ---------------------------------------------------------------- reuse within a session


async def test_with_reuse_one_session_keeps_its_worker_and_shares_nothing_between_scripts() -> None:
    async with Pool(reuse=True) as pool:
        pids = []
        for _ in range(3):
            async with a_box(pool, "s1") as box:
                assert await box.send(Start(source="const was = typeof globalThis.mark; globalThis.mark = 1; was")) == [
                    Finished("undefined")
                ]
                pids.append(await known_pid(box))
        assert len(set(pids)) == 1


async def test_with_reuse_a_worker_never_serves_two_sessions() -> None:
    async with Pool(reuse=True) as pool:
        seen: dict[str, set[int]] = {}
        for session in ("s1", "s2", "s1", "s3", "s2", ""):
            async with a_box(pool, session) as box:
                await box.send(Start(source="1"))
                seen.setdefault(session, set()).add(await known_pid(box))
        everyone = [pid for pids in seen.values() for pid in pids]
        assert len(everyone) == len(set(everyone))


async def test_with_reuse_a_script_that_fails_or_is_left_early_does_not_spoil_the_session() -> None:
    async with Pool(reuse=True) as pool:
        assert isinstance(await play(pool, "throw new Error('x')", session="s"), Failed)
        assert await play(pool, "1", session="s") == Finished(1)
        async with a_box(pool, "s") as box:
            await box.send(Start(source="await tools.a.b(1)", tools=TOOLS))
        assert await play(pool, "2", session="s") == Finished(2)
        ending = await play(pool, "[].reverse.call({ length: 2 ** 53 - 1 })", session="s", limits=Limits(engine_seconds=0.1))
        assert isinstance(ending, Exceeded)
        assert await play(pool, "3", session="s") == Finished(3)


async def test_with_reuse_a_worker_that_died_between_two_scripts_costs_nothing() -> None:
    async with Pool(reuse=True) as pool:
        async with a_box(pool, "s") as box:
            await box.send(Start(source="1"))
            pid = await known_pid(box)
        os.kill(pid, signal.SIGKILL)
        await gone(pid)
        assert await play(pool, "'again'", session="s") == Finished("again")


async def test_forget_ends_the_worker_of_a_session() -> None:
    async with Pool(reuse=True) as pool:
        async with a_box(pool, "s") as box:
            await box.send(Start(source="1"))
            pid = await known_pid(box)
        pool.forget("s")
        pool.forget("never seen")
        await gone(pid)


# ---------------------------------------------------------------- isolation is chosen, never lost


async def test_in_process_runs_without_a_worker_when_told() -> None:
    async with Pool(isolation="in_process") as pool, pool.sandbox() as box:
        assert await box.send(Start(source="show(1); 2")) == [Shown(1, {}, (await shown_site())), Finished(2)]
        assert box.layers == (("process", "off", "the script runs in the host's own process"),)


async def shown_site() -> object:
    from sandbox import Site

    return Site(1, 1, 0)


async def test_without_a_worker_the_pool_refuses_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(Unavailable, match="the sandbox cannot start a process"):
        async with Pool():
            pass


async def test_a_zygote_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.launch._BOOT", "raise ImportError('no engine here')")
    with pytest.raises(Unavailable, match="did not start: ImportError: no engine here"):
        async with Pool():
            pass


async def test_limits_beyond_the_pools_own_are_misuse() -> None:
    async with Pool(limits=Limits(heap_bytes=2**25)) as pool, pool.sandbox() as box:
        with pytest.raises(Misuse, match="heap_bytes 100,663,296 is above this pool's 33,554,432"):
            await box.send(Start(source="1"))


async def test_large_values_cross_both_ways() -> None:
    source = "const r = await tools.a.b('x'.repeat(3e6) + 'é'); return r"
    async with Pool() as pool:
        assert await play(pool, source) == Finished("x" * 3_000_000 + "é")


def test_a_pool_needs_a_worker_and_a_place() -> None:
    for wrong in ({"workers": 0}, {"at_once": 0}):
        with pytest.raises(Misuse):
            Pool(**wrong)  # type: ignore[arg-type]


async def test_a_system_without_workers_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("socket.SCM_RIGHTS")
    with pytest.raises(
        Unavailable, match='there are no sandbox workers on linux yet; to run without one, choose isolation="in_process"'
    ):
        async with Pool():
            pass


def test_a_pool_may_start_before_the_event_loop() -> None:
    async def first(pool: Pool) -> Event:
        async with pool:
            return await play(pool, "'early'")

    assert anyio.run(first, Pool(workers=1).start_early()) == Finished("early")
