"""Any session that was recorded live plays back without a difference: from its store, from one file, and scrubbed."""

import random
from pathlib import Path

import anyio
import pytest

from harness import Harness, MemoryStore, Setup
from harness.approval import Policy, Rule
from harness.guards.budget import Allowance
from harness.limits import ShownLimits, TurnLimits
from harness.replay.keeping import cleaning, keep
from harness.replay.playing import Stage, play
from harness.replay.recorded import RecordedSession, load_recording, read_recording
from harness.store import Store, every_entry
from harness.store.jsonl import JsonlStore
from harness.store.jsonl_single import write_single
from sandbox import Pool
from tests.harness.any_session import Person, Step, do, furnish, own_pack, run, setup, steps

pytestmark = pytest.mark.anyio
SECONDS = 60  # that no replay needs; without it one that waits for ever is no failure


async def test_random_sessions_play_back_without_a_difference(tmp_path: Path) -> None:
    async with Pool(workers=1) as pool:
        for number in range(5):
            await plays_back(number, tmp_path / str(number), pool)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
async def test_two_thousand_random_sessions_play_back_without_a_difference(tmp_path: Path, block: int) -> None:
    async with Pool(workers=1) as pool:
        for number in range(1_000 + block * 100, 1_100 + block * 100):
            await plays_back(number, tmp_path / str(number), pool)


async def plays_back(number: int, folder: Path, pool: Pool) -> None:
    """The session with this number."""
    chance = random.Random(number)
    settings = setup(chance)
    store = JsonlStore(folder / "sessions") if chance.random() < 0.5 else MemoryStore()
    await plays_back_as(f"session {number}", steps(chance), settings, folder, pool, store=store)


async def plays_back_as(name: str, made: list[Step], settings: Setup, folder: Path, pool: Pool, *, store: Store) -> None:
    """Live, then from its store, from one file, and as it is kept for a test."""
    root, pack = furnish(folder / "root"), own_pack(random.Random())
    harness = Harness(["files", "search", pack], root=root, setup=settings, store=store, pool=pool, approver=Person())
    waiting = list(made)
    async with harness:
        while waiting:
            async with harness.session("any", resume=len(waiting) < len(made)) as session:
                await do(session, waiting.pop(0))
                while waiting and not waiting[0].again:
                    await do(session, waiting.pop(0))
    await plays(store, settings, folder, root, Stage(pool=pool, packs=(pack,)), name)


async def plays(store: Store, settings: Setup, folder: Path, root: Path, stage: Stage, name: str) -> None:
    recorded = await load_recording(store, "any")
    await _same(recorded, stage, f"{name}, from its store")
    write_single(folder / "one.session.jsonl", list(await store.load("any")))
    await _same(read_recording(folder / "one.session.jsonl"), stage, f"{name}, from one file")
    if not any(turn.playable for turn in recorded.turns):
        return  # nothing to keep
    entries = [entry async for entry in every_entry(store, "any")]
    with anyio.fail_after(SECONDS):
        await keep(entries, folder / "kept.session.jsonl", stage, clean=cleaning(settings, root))
    await _same(read_recording(folder / "kept.session.jsonl"), stage, f"{name}, scrubbed")


async def _same(recorded: RecordedSession, stage: Stage, what: str) -> None:
    with anyio.fail_after(SECONDS):
        played = await play(recorded, stage)
    assert not played.differences, "\n".join([what, *(one.text for one in played.differences)])


# ------------------------------------------------------------ sessions that once did not

READ = "show(await tools.files.read({ path: 'a.py' }))"
KEPT = TurnLimits(turn_result_bytes=50_000)
DENIED = Rule(tool="x.grow", then="deny")
OTHERWISE: dict[str, tuple[list[Step], Setup]] = {
    "time ends in a sleep": ([run("await tools.x.takes(250); await sleep(200); return 1", turn_seconds=0.3)], Setup()),
    "time ends between ticks": ([run("setInterval(() => show('tick'), 3); await tools.x.takes(9_000)", turn_seconds=0.1)], Setup()),
    "two told at once": (
        [run("const t = setInterval(() => 0, 5); await tools.x.takes(12); await tools.x.takes(13); clearInterval(t); return 1")] * 8,
        Setup(),
    ),
    "a call that does not stop": ([run("await tools.x.stubborn()", turn_seconds=0.05)], Setup(turn=TurnLimits(grace_seconds=0.01))),
    "recalled before it was kept": (
        [run("await recall('r1').catch((e) => show(e.name)); await tools.x.big('b', 60_000).catch((e) => show(e.data.handle))")],
        Setup(turn=KEPT),
    ),
    "nothing to run, and recalled": ([run(" "), run("return await recall('T1.1')")], Setup()),
    "a reply without a script, and recalled": ([Step(do="reply"), run("return await recall('T1.1')")], Setup()),
    "an allowance of its own inside that of the session": (
        [run("for (let i = 0; i < 9; i++) { await tools.x.fetch(i).catch(() => 0); show(await tools.x.echo(i).catch((e) => e.message)); }")],
        Setup(turn=TurnLimits(session_calls=10), session_budget={"x.fetch": Allowance(calls=1)}),
    ),
    "a refusal that tells what is left": (
        [run("for (let i = 0; i < 4; i++) await tools.x.echo(i).catch((e) => show(e.data))")], Setup(turn=TurnLimits(session_calls=2)),
    ),
    "a write that a rule denies": (
        [run(READ), run("await tools.x.grow('a.py').catch((e) => show(e.name))"), run(READ)], Setup(policy=Policy((DENIED,))),
    ),
    "a dry run of what a rule denies": (
        [Step(do="run", script="await tools.x.grow('a.py').catch((e) => show(e.data))", mode="dry_run")], Setup(policy=Policy((DENIED,))),
    ),
    "kept values that have made room before they are told": (
        [run("await Promise.all([1, 2, 3].map((n) => tools.x.big('abc'[n - 1], 60_000 + n).catch((e) => show(e.name))))")],
        Setup(turn=TurnLimits(turn_result_bytes=50_000, kept_bytes=70_000)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
async def test_a_session_that_was_hard_to_play_back(tmp_path: Path, name: str) -> None:
    made, settings = OTHERWISE[name]
    async with Pool(workers=1) as pool:
        await plays_back_as(name, made, settings, tmp_path / "session", pool, store=MemoryStore())


async def test_a_session_that_went_on_with_other_limits(tmp_path: Path) -> None:
    root, store, pack = furnish(tmp_path / "root"), MemoryStore(), own_pack(random.Random())
    lines = "show(Array.from({ length: 200 }, (_, n) => 'line ' + n * n).join('\\n'))"
    async with Pool(workers=1) as pool:
        for at, lines_max in enumerate((160, 10, 160)):
            setup = Setup(shown=ShownLimits(shown_value_lines=lines_max))
            harness = Harness([pack], root=root, setup=setup, store=store, pool=pool)
            async with harness, harness.session("any", resume=at > 0) as session:
                await session.run(lines)
        await plays(store, Setup(), tmp_path, root, Stage(pool=pool, packs=(pack,)), "other limits")


async def test_a_turn_that_was_given_up_is_told_of_until_the_model_has_seen_it(tmp_path: Path) -> None:
    root, store, pack = furnish(tmp_path / "root"), JsonlStore(tmp_path / "whole"), own_pack(random.Random())
    told = "turn 1 was interrupted: it had made x.echo (line 1) returned; look at what it did before you go on"
    async with Pool(workers=1) as pool:
        async with Harness([pack], root=root, store=store, pool=pool) as harness, harness.session("any") as session:
            await session.run("await tools.x.echo(1); return 1")
        cut = await cut_off(store, JsonlStore(tmp_path / "once"), after=("settled", 1))
        async with Harness([pack], root=root, store=cut, pool=pool) as harness, harness.session("any", resume=True) as session:
            assert (await session.run("await tools.x.echo(2); return 2")).notices == (told,)
        await plays(cut, Setup(), tmp_path, root, Stage(pool=pool, packs=(pack,)), "given up")
        cut = await cut_off(cut, JsonlStore(tmp_path / "twice"), after=("settled", 2))
        async with Harness([pack], root=root, store=cut, pool=pool) as harness, harness.session("any", resume=True) as session:
            assert (await session.continue_turn()).notices == (told,)
            assert (await session.run("return 3")).notices == ()


async def cut_off(store: Store, there: JsonlStore, *, after: tuple[str, int]) -> JsonlStore:
    """The session as a process leaves it that ends after the line of this type and turn."""
    lines = list(await store.load("any"))
    end = [(one.line.type, one.line.turn) for one in lines].index(after) + 1
    writer = await there.write("any", at=1.0)
    await writer.copy(lines[:end])
    await writer.close()
    return there
