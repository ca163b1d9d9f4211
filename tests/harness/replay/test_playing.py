"""Playing a recording: the same text and the same events, whatever the order was, and no tool runs."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import BadPack, Pack, load_pack, pack, tool
from harness import Harness, MemoryStore, Policy, Setup, allowing
from harness.entries import Began, Ended, Ending, Entry, Facts, Opened, PackFacts
from harness.outcome import TurnOutcome
from harness.replay.differences import LENGTHS, Unverified
from harness.replay.playing import Replayed, Stage, play
from harness.replay.recorded import BadRecording, load_recording, read_entries, read_recording, recorded_session
from harness.store.lines import BadLine
from sandbox import Pool
from tests.harness.replay.making import entries_of, furnish, recording

pytestmark = pytest.mark.anyio

RACE = """
const order = [];
await Promise.all(Array.from({ length: 20 }, async (_, n) => {
  const got = await tools.slow.wait({ n });
  order.push([got, Date.now(), budget.bytes]);
  if (order.length % 5 === 0) show(order.slice(-5));
}));
return order
"""


class Slow:
    """A pack whose calls end in another order each time, and that counts them."""

    def __init__(self, seed: int = 0) -> None:
        self.calls = 0
        self._chance = random.Random(seed)

    def pack(self) -> Pack:
        @tool(effect="external", reads=["n:{n}"])
        async def wait(n: int) -> int:
            self.calls += 1
            await anyio.sleep(self._chance.random() * 0.01)
            return n

        return pack("slow", [wait], doc="Waits.")


async def recorded_race(pool: Pool, seed: int) -> tuple[TurnOutcome, tuple[Entry, ...]]:
    store = MemoryStore()
    harness = Harness([Slow(seed).pack()], pool=pool, store=store)
    async with harness, harness.session("race") as session:
        outcome = await session.run(RACE)
    return outcome, store.entries("race")


async def races(recordings: int, replays: int) -> int:
    """How many different orders there were; every replay is the recorded one."""
    orders = set()
    async with Pool(workers=2) as pool:
        for seed in range(recordings):
            first, entries = await recorded_race(pool, seed)
            orders.add(tuple(row[0] for row in first.value))
            tools = Slow(seed + 1_000)
            stage = Stage(pool=pool, packs=(tools.pack(),))
            for _ in range(replays):
                again = await play(recorded_session(entries, name="race"), stage)
                outcome = again.turns[0].outcome
                assert outcome is not None and again.differences == () and tools.calls == 0
                assert (outcome.text, outcome.events, outcome.ending) == (first.text, first.events, first.ending)
    return len(orders)


async def test_twenty_calls_that_settled_in_any_order_replay_the_same() -> None:
    assert await races(4, 5) > 1


@pytest.mark.slow
async def test_a_thousand_replays_of_twenty_parallel_calls_are_the_same() -> None:
    assert await races(50, 20) > 40


async def test_a_session_of_a_store_plays(tmp_path: Path) -> None:
    store = MemoryStore()
    async with Pool(workers=1) as pool:
        harness = Harness(["files"], root=furnish(tmp_path), pool=pool, store=store)
        async with harness, harness.session("kept") as session:
            await session.run("return (await tools.files.read({ path: 'a.txt' })).text")
            await session.run("store('a', 1)")
            await session.run("return load('a')")
        again = await play(await load_recording(store, "kept"), Stage(pool=pool))
    assert again.ok and again.calls == 1 and len(again.turns) == 3


async def test_what_was_played_can_be_put_on_record_again(tmp_path: Path) -> None:
    store = MemoryStore()
    async with Pool(workers=1) as pool:
        entries = await entries_of("return (await tools.files.read({ path: 'a.txt' })).text", root=furnish(tmp_path), pool=pool)
        await play(recorded_session(entries, name="x"), Stage(pool=pool), store=store)
        again = await play(await load_recording(store, "made"), Stage(pool=pool))
    assert again.ok and again.calls == 1


def script_entries(*turns: tuple[str, Ended | None], facts: Facts | None = None) -> list[Entry]:
    entries: list[Entry] = [Opened(session="s", at=1.0, facts=facts or Facts())]
    for number, (script, ended) in enumerate(turns, 1):
        entries.append(Began(session="s", at=1.0, turn=number, script=script, sha256=""))
        if ended is not None:
            entries.append(ended)
    return entries


async def test_turns_that_were_cut_short_are_passed_over() -> None:
    cancelled = Ended(session="s", at=1.0, turn=1, ending=Ending(how="cancelled"), text="")
    entries = script_entries(("while (true) {}", cancelled), ("return 1", None))
    async with Pool(workers=1) as pool:
        again = await play(recorded_session(entries, name="s"), Stage(pool=pool))
    assert [turn.outcome for turn in again.turns] == [None, None] and again.ok


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([], "x: it does not begin with the line of type opened; record it again"),
        (
            script_entries(facts=Facts(format="codex")),
            "x: it was imported from codex and has no scripts to play",
        ),
    ],
)
async def test_what_cannot_be_played_says_why(entries: list[Entry], why: str) -> None:
    with pytest.raises(BadRecording) as caught:
        recorded_session(entries, name="x")
    assert str(caught.value) == why


async def test_a_pack_is_taken_by_name_and_never_from_where_the_recording_says(tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    async with Pool(workers=1) as pool:
        _, (opened, *rest) = await recorded_race(pool, 1)
        assert isinstance(opened, Opened)
        facts = replace(opened.facts, packs={"slow": PackFacts(source=str(evil), digest="")})
        recorded = recorded_session([replace(opened, facts=facts), *rest], name="one.session.jsonl")
        with pytest.raises(BadPack) as caught:
            await play(recorded, Stage(pool=pool))
    assert str(caught.value) == "one.session.jsonl: its pack slow is not known here; give its file or module: --pack PATH"
    assert not (tmp_path / "ran").exists()


DOORS = '''"""Has a door."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from catalog import tool

PACK = "doors"


class Door:
    pass


@asynccontextmanager
async def open() -> AsyncIterator[Door]:
    with (Path(__file__).parent / "opened").open("a") as file:
        file.write("x")
    yield Door()


@tool()
async def knock(door: Door) -> str:
    """Knock."""
    return "come in"
'''


async def test_nothing_is_opened_for_tools_that_do_not_run(tmp_path: Path) -> None:
    (tmp_path / "doors.py").write_text(DOORS)
    doors = load_pack(str(tmp_path / "doors.py"))
    async with Pool(workers=1) as pool:
        entries = await entries_of("return await tools.doors.knock()", root=tmp_path, pool=pool, packs=[doors])
        stage = Stage(pool=pool, packs=(doors,), root=tmp_path)
        assert (await play(recorded_session(entries, name="x"), stage)).ok
        assert (tmp_path / "opened").read_text() == "x"
        assert (await play(recorded_session(entries, name="x"), stage, live=True)).ok
    assert (tmp_path / "opened").read_text() == "xx"


async def test_a_tool_that_is_gone_is_named() -> None:
    @tool(effect="external", reads=["n:{n}"])
    async def other(n: int) -> int:
        return n

    async with Pool(workers=1) as pool:
        _, entries = await recorded_race(pool, 1)
        with pytest.raises(BadPack) as caught:
            await play(recorded_session(entries, name="race"), Stage(pool=pool, packs=(pack("slow", [other], doc="Other."),)))
    assert str(caught.value) == "race: slow.wait was on offer and is not there any more; record the session again"


def test_a_line_that_is_no_entry_is_named_with_its_file(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.session.jsonl", "return 1", root=furnish(tmp_path / "root"))
    text = path.read_text()
    path.write_text(text.replace('"how":"finished"', '"how":"exploded"'))
    with pytest.raises(BadLine, match=rf"^{path}: line \d+: .*ending\.how"):
        read_recording(path)
    path.write_text(text[:-30])
    with pytest.raises(BadLine, match=rf"^{path}, line \d+: not a whole JSON object$"):
        read_entries(path)


async def live(root: Path, *scripts: str, setup: Setup | None = None, change: Any = None) -> Replayed:
    """Recorded, then the world changes, then played with live tools beside."""
    async with Pool(workers=1) as pool:
        entries = await entries_of(*scripts, root=root, pool=pool, packs=["files", "shell"], setup=setup)
        if change is not None:
            change()
        return await play(recorded_session(entries, name="x"), Stage(pool=pool, root=root, ground=Setup()), live=True)


async def test_verify_tells_what_a_tool_gives_now(tmp_path: Path) -> None:
    root = furnish(tmp_path)
    script = "return (await tools.files.read({ path: 'a.txt' })).text"
    assert (await live(root, script)).ok
    again = await live(root, script, change=lambda: (root / "a.txt").write_text("another text\n"))
    (one,) = again.differences
    assert one.kind == "outcome" and one.text.split("\n")[1:] == [
        '    text: recorded "the text of a"',
        '          now      "another text"',
    ]
    assert again.turns[0].outcome is not None and again.turns[0].outcome.value == "the text of a"


async def test_verify_tells_another_status(tmp_path: Path) -> None:
    root = furnish(tmp_path)
    again = await live(root, "return (await tools.files.read({ path: 'a.txt' })).text", change=(root / "a.txt").unlink)
    (one,) = again.differences
    assert "returned on record, and failed now (not_found: " in one.text


async def test_what_nobody_allows_is_not_verified_and_no_difference(tmp_path: Path) -> None:
    allowed = Setup(policy=Policy(allowing(["shell.run"])))
    again = await live(furnish(tmp_path), "return (await tools.shell.run('touch made.txt')).exit_code", setup=allowed)
    (one,) = again.unverified
    told = 'shell.run({"command": "touch made.txt", "cwd": ".", "stderr": "merged"}) was denied, so it is not verified'
    assert again.ok and one == Unverified(f"turn 1, line 1: {told}", "shell.run")


async def test_differences_of_some_kinds_can_be_left_out() -> None:
    other = Ended(session="s", at=1.0, turn=1, ending=Ending(how="finished", value=1), text="2")
    async with Pool(workers=1) as pool:
        again = await play(recorded_session(script_entries(("return 1", other)), name="s"), Stage(pool=pool))
    assert [one.kind for one in again.differences] == ["text"] and again.without(LENGTHS).ok
