"""No stale value is served: what a script gets is what the tool itself gives at that moment; equal calls in flight run once."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from catalog import Host, open_toolbox, tool
from harness import Harness, Session, Setup
from harness.cache import Freshness
from harness.guards.cache import Cache
from harness.offers import offer_of
from harness.setup import Flags
from sandbox import Pool
from tests.harness.interleaving import BEHIND, CAUGHT, FILES, PACKS, READS, SETUP, Interleaving, World, call_of, fresh_root

pytestmark = pytest.mark.anyio

SECOND_NS = 10**9
SHORT_SLACK_NS = 20_000_000  # more than a tick of Linux


@pytest.fixture(params=["stamps by the second", "old stamps"])
def stamps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file system whose stamps tell only seconds, so that contents decide; or stamps that are soon old, so that they decide."""
    by_second = {"tick_ns": SECOND_NS} if request.param == "stamps by the second" else {"slack_ns": SHORT_SLACK_NS}
    monkeypatch.setattr("harness.ongoing.Freshness", partial(Freshness, **by_second))
    monkeypatch.setattr("harness.ongoing.Cache", partial(Cache, disk_seconds_min=0.0))
    return str(request.param)


@asynccontextmanager
async def opened(world: World, setup: Setup, pool: Pool) -> AsyncIterator[Harness]:
    harness = Harness(PACKS, world.tools, root=world.root, setup=setup, pool=pool)
    async with open_toolbox(offer_of(PACKS), host=Host(root=world.root)) as world.direct, harness:
        yield harness


async def interleave(tmp_path: Path, seeds: range, stamps: str, *, setup: Setup = SETUP, each_session: int = 20) -> Counter[str]:
    """Gives how often a result came from where."""
    sources: Counter[str] = Counter()
    world = World(fresh_root(tmp_path / "root"), newest=stamps == "old stamps")
    (world.root / "put.sh").write_text('printf "%s" "$2" | dd of="$1" conv=notrunc status=none\n')
    async with Pool(workers=2, reuse=True) as pool, opened(world, setup, pool) as harness:
        for first in range(seeds.start, seeds.stop, each_session):
            async with harness.session() as session:
                for seed in range(first, min(first + each_session, seeds.stop)):
                    one = Interleaving(world, seed)
                    outcome = await session.run(one.script())
                    assert outcome.ok, outcome.error
                    one.check(outcome.value)
                    sources.update(record.outcome.source for record in outcome.calls if record.tool in dict(READS))
    return sources


def served(sources: Counter[str]) -> float:
    print(dict(sources))
    return sum(sources[name] for name in ("memory", "disk", "shared")) / sum(sources.values())


async def test_no_stale_value_is_served(tmp_path: Path, stamps: str) -> None:
    sources = await interleave(tmp_path, range(60), stamps)
    assert served(sources) > 0.4 and sources["shared"]


async def test_no_stale_value_is_served_from_disk_to_sessions_in_turn(tmp_path: Path, stamps: str) -> None:
    setup = Setup(turn=SETUP.turn, policy=SETUP.policy, cache_folder=tmp_path / "cache")
    sources = await interleave(tmp_path, range(1_000, 1_025), stamps, setup=setup, each_session=2)
    assert served(sources) > 0.4 and sources["disk"] > 5


@pytest.mark.slow
async def test_in_ten_thousand_interleavings_no_stale_value_is_served(tmp_path: Path, stamps: str) -> None:
    """2,500 on each of two backends, with stamps by the second and with old ones; half of them by a disk."""
    setup = Setup(turn=SETUP.turn, policy=SETUP.policy, cache_folder=tmp_path / "cache")
    for part, (start, each_session) in enumerate(((10_000, 20), (20_000, 2))):
        (tmp_path / str(part)).mkdir()
        sources = await interleave(
            tmp_path / str(part), range(start, start + 1_250), stamps, setup=setup if part else SETUP, each_session=each_session
        )
        assert served(sources) > 0.4


async def test_with_and_without_a_cache_a_script_gets_the_same(tmp_path: Path, stamps: str) -> None:
    world = World(fresh_root(tmp_path / "root"))
    chance = random.Random(1)
    asked = READS if stamps == "old stamps" else READS[:-1]
    source = CAUGHT + "".join(f"out.push(await caught({call_of(*read)}));\n" for read in asked) + "return out"
    async with Pool(workers=2, reuse=True) as pool, opened(world, SETUP, pool) as harness, harness.session() as session:
        hits = 0
        for change in BEHIND:
            change(world.root / chance.choice(FILES), chance)
            async with harness.session(setup=Setup(policy=SETUP.policy, flags=Flags(cache=False))) as without:
                plain = await without.run(source)
            kept = await session.run(source)
            assert kept.value == plain.value and plain.ledger.cache_hits == plain.ledger.cache_misses == 0
            hits += kept.ledger.cache_hits
        assert hits > 20


# ------------------------------------------------------------ equal calls in flight


@dataclass(slots=True)
class Counted:
    """A tool that counts how often it ran."""

    root: Path
    times: int = 0

    @property
    def tools(self) -> dict[str, Any]:
        async def look(path: str) -> list[Any]:
            self.times += 1
            text = (self.root / path / "c.txt").read_text()
            for _ in range(20):  # time for others to come
                await checkpoint()
            return [self.times, text]

        return {"x.tree": tool(reads=["tree:{path}"])(look), "x.file": tool(reads=["file:{path}/c.txt"])(_copy_of(look))}


def _copy_of(look: Callable[[str], Any]) -> Callable[[str], Any]:
    async def look_again(path: str) -> list[Any]:
        found: list[Any] = await look(path)
        return found

    return look_again


@asynccontextmanager
async def counting(tmp_path: Path, setup: Setup) -> AsyncIterator[tuple[Counted, Session]]:
    counted = Counted(fresh_root(tmp_path / "root"))
    harness = Harness(PACKS, counted.tools, root=counted.root, setup=setup)
    async with harness, harness.session() as session:
        yield counted, session


@pytest.mark.parametrize("name", ["tree", "file"])
@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
async def test_equal_calls_in_flight_run_once_also_when_what_was_kept_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, disk: bool
) -> None:
    monkeypatch.setattr("harness.ongoing.Cache", partial(Cache, disk_seconds_min=0.0))
    setup = Setup(policy=SETUP.policy, cache_folder=tmp_path / "cache" if disk else None)
    async with counting(tmp_path, setup) as (counted, session):
        for turn in range(1, 4):
            (counted.root / "sub" / "c.txt").write_text(f"turn {turn}")
            outcome = await session.run(f'await Promise.all([1, 2, 3, 4, 5].map(() => tools.x.{name}("sub")))')
            assert outcome.ok and outcome.value == [[turn, f"turn {turn}"]] * 5, outcome.error
            assert (outcome.ledger.cache_misses, outcome.ledger.shared, outcome.ledger.cache_hits) == (1, 4, 0)
            ran = [record.call.label for record in outcome.calls if record.call and record.outcome.source == "tool"]
            assert [record.outcome.of for record in outcome.calls if record.outcome.source == "shared"] == ran * 4
            again = await session.run(f'await Promise.all([1, 2].map(() => tools.x.{name}("sub")))')
            assert (again.ledger.cache_hits, again.ledger.shared, counted.times) == (2, 0, turn)


@pytest.mark.parametrize("name", ["tree", "file"])
async def test_a_write_between_two_equal_reads_is_honoured(tmp_path: Path, name: str) -> None:
    async with counting(tmp_path, SETUP) as (counted, session):
        write = 'tools.patch.write({ path: "sub/c.txt", text: "new", overwrite: true })'
        outcome = await session.run(
            f'await Promise.all([tools.x.{name}("sub"), {write}, tools.x.{name}("sub"), tools.x.{name}("sub")])'
        )
        assert outcome.ok and [outcome.value[place] for place in (0, 2, 3)] == [[1, "xyz\nzzz\n"], [2, "new"], [2, "new"]]
        assert counted.times == 2


async def test_what_another_session_kept_is_named_so_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.ongoing.Cache", partial(Cache, disk_seconds_min=0.0))
    setup = Setup(policy=SETUP.policy, cache_folder=tmp_path / "cache")
    world = World(fresh_root(tmp_path / "root"))
    async with Pool(workers=2, reuse=True) as pool, opened(world, setup, pool) as harness:
        async with harness.session() as first:
            await first.run('await tools.files.read("a.txt")')
        async with harness.session() as second:
            outcome = await second.run('await tools.files.read("a.txt"); await tools.files.read("a.txt")')
    assert [(record.outcome.source, record.outcome.of) for record in outcome.calls] == [
        ("disk", "an earlier session"),
        ("memory", "an earlier session"),
    ]
