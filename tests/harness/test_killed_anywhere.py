"""A turn is killed at a random moment, its continuation too, again and again; nothing that is on record runs twice, and nothing acts
twice.
"""

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import sleep

import pytest

from harness.entries import Running, Settled
from harness.outcome import TurnOutcome
from harness.recording import identity
from harness.replay.playing import Stage, play
from harness.replay.recorded import load_recording
from harness.store import every_entry
from harness.store.jsonl import JsonlStore
from sandbox import Pool
from tests.harness.killed_anywhere import SESSION, begin, go_on, harness, tools

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parent.parent.parent
KILLS_MAX = 3


def killed(folder: Path, number: int, how: str, after_seconds: float) -> bool:
    """Start the process, let it get to its turn, kill it. False: it was faster. The moment is random, so no sleep decides a verdict."""
    command = [sys.executable, "-m", "tests.harness.killed_anywhere", str(folder), str(number), how]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"go\n", process.stderr.read().decode()
        sleep(after_seconds)
        process.kill()
        process.wait()
    assert process.returncode in (0, -9)
    return process.returncode == -9


async def survives(number: int, folder: Path, whole: TurnOutcome) -> int:
    """Gives how often it was killed. `whole`: the same script, never disturbed."""
    chance = random.Random()
    kills = int(killed(folder, number, "begin", chance.random() * 0.06))
    while kills and kills < KILLS_MAX and chance.random() < 0.7:
        if not killed(folder, number, "continue", chance.random() * 0.06):
            break
        kills += 1
    before = await calls_on_record(folder)
    outcome = await go_on(folder)
    ran = Counter((folder / "journal").read_text().split("\n")[:-1]) if (folder / "journal").exists() else Counter[str]()
    entries = [entry async for entry in every_entry(JsonlStore(folder / "sessions"), SESSION)]
    acted = {work: times for work, times in ran.items() if work.startswith("act ")}
    assert not acted or max(acted.values()) == 1, f"acted twice: {acted}"
    refused = [
        one
        for one in entries
        if isinstance(one, Settled) and one.outcome.problem is not None and one.outcome.problem.code == "unsure"
    ]
    assert {identity(one) for one in refused} <= {identity(one) for one in entries if isinstance(one, Running)}
    for one in before:
        assert one in entries, "what is on record stays"
    if outcome is not None and not refused:
        assert outcome.text == whole.text and counted(outcome) == counted(whole)
        assert set(ran) == set(works(whole))
    await is_one_turn(folder)
    return kills


async def calls_on_record(folder: Path) -> list[Settled]:
    return [entry async for entry in every_entry(JsonlStore(folder / "sessions"), SESSION) if isinstance(entry, Settled)]


def works(outcome: TurnOutcome) -> list[str]:
    noted = [one for one in outcome.calls if one.tool in ("x.act", "x.look")]
    return [f"{one.tool.removeprefix('x.')} {next(iter(dict(one.arguments).values()))}" for one in noted]


def counted(outcome: TurnOutcome) -> dict[str, object]:
    return {name: value for name, value in outcome.ledger.as_json().items() if not name.endswith("_seconds")}


@pytest.mark.parametrize("number", [3, 8])
async def test_a_turn_that_ended_after_any_entry_goes_on_as_if_it_had_not(tmp_path: Path, number: int) -> None:
    """Every place between two entries, without a process for each: its lines up to there are all that another one has."""
    whole = await begin(made(tmp_path / "whole"), number)
    lines = list(await JsonlStore(tmp_path / "whole" / "sessions").load(SESSION))
    kinds = [(one.line.type, one.line.turn) for one in lines]
    first, last = kinds.index(("began", 2)) + 1, kinds.index(("ended", 2))
    for cut in (at for at in range(first, last + 1) if kinds[at - 1][0] != "held"):  # a value and what names it come together
        folder = made(tmp_path / str(cut))
        writer = await JsonlStore(folder / "sessions").write(SESSION, at=1.0)
        await writer.copy(lines[:cut])
        await writer.close()
        outcome = await go_on(folder, unsure="run")
        assert outcome is not None and outcome.text == whole.text and counted(outcome) == counted(whole), f"cut after {cut}"
        await is_one_turn(folder)


async def is_one_turn(folder: Path) -> None:
    store = JsonlStore(folder / "sessions")
    entries = [entry async for entry in every_entry(store, SESSION)]
    told = Counter(entry.call for entry in entries if isinstance(entry, Settled) and entry.turn == 2)
    assert not told or max(told.values()) == 1, f"told twice: {told}"
    async with Pool(workers=1) as pool:
        played = await play(await load_recording(store, SESSION), Stage(pool=pool, packs=(tools(folder / "j"),)))
    assert not played.differences, played.differences[0].text
    async with harness(folder) as running, running.session(SESSION, resume=True) as session:
        calls = sum(entry.type == "settled" and entry.tool == "x.act" for entry in entries)
        assert session._ground.on.purses[1].calls == calls


async def test_a_turn_that_is_killed_at_any_moment_goes_on(tmp_path: Path) -> None:
    await rounds(tmp_path, range(3))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
async def test_hundreds_of_turns_that_are_killed_at_any_moment_go_on(tmp_path: Path, block: int) -> None:
    assert await rounds(tmp_path, range(100 + block * 30, 130 + block * 30)) > 10


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def rounds(folder: Path, numbers: range) -> int:
    """Gives how many kills there were."""
    kills = 0
    for number in numbers:
        whole, cut = made(folder / f"whole{number}"), made(folder / f"killed{number}")
        kills += await survives(number, cut, await begin(whole, number))
    return kills
