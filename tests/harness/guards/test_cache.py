"""The cache guard at unit level and through a session: what is cacheable, where a result came from, what is never kept."""

from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import tool
from harness import Flags, Setup
from harness.cache import DiskCache, Freshness, MemoryCache
from harness.call import Call, Outcome
from harness.guards.cache import Cache, is_cacheable
from tests.harness.guards.rig import gives, made, talking, together

pytestmark = pytest.mark.anyio


@tool(effect="pure")
async def pure(n: int = 0) -> int:
    return n


@tool(reads=["file:{path}"])
async def read(path: str) -> str:
    return path


@tool(reads=["tree:{path}"])
async def tree(path: str) -> str:
    return path


@tool(effect="reads")
async def reads_nothing_told() -> int:
    return 1


@tool(reads=["clock:now"])
async def clock() -> int:
    return 1


@tool(reads=["file:{path}", "url:x"])
async def mixed(path: str) -> str:
    return path


@tool(writes=["file:{path}"])
async def write(path: str) -> str:
    return path


@tool(effect="external", reads=["file:{path}"])
async def external(path: str) -> str:
    return path


@pytest.mark.parametrize(
    ("function", "named", "may"),
    [
        (pure, {}, True), (read, {"path": "a"}, True), (tree, {"path": "."}, True), (reads_nothing_told, {}, False),
        (clock, {}, False), (mixed, {"path": "a"}, False), (write, {"path": "a"}, False), (external, {"path": "a"}, False),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_only_what_is_pure_or_reads_files_and_nothing_else_may_be_cached(function: Any, named: dict[str, str], may: bool) -> None:
    assert is_cacheable(made(function, **named)) is may


class Counted:
    def __init__(self, value: Any = "value", **facts: Any) -> None:
        self.times = 0
        self._give = gives(value, **facts)

    def __call__(self, call: Call) -> Awaitable[Outcome]:
        self.times += 1
        return self._give(call)


def cache(root: Path, disk: DiskCache | None = None) -> Cache:
    return Cache(Freshness(root), MemoryCache(most_bytes=1 << 20), disk)


async def test_the_second_is_served_from_memory_and_names_the_first(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    guard, tool_run = cache(tmp_path), Counted("lines")
    first = await guard.handle(made(read, 3, turn=2, path="a"), tool_run)
    again = await guard.handle(made(read, 5, turn=4, path="a"), tool_run)
    assert tool_run.times == 1 and first.source == "tool"
    assert again == Outcome(status="returned", value="lines", by="cache", source="memory", of="T2 call 3", size=5)
    assert (guard.counts.hits, guard.counts.misses) == (1, 1)


@pytest.mark.parametrize(
    "proceed",
    [
        Counted(None, status="failed"), Counted("text", by="budget"), Counted({"handle": "r7", "text": "x"}),
        Counted(None, status="timed_out", by="timeout"),
    ],
    ids=["a failure", "of another guard", "it names a handle", "too late"],
)  # fmt: skip
async def test_what_is_no_result_of_the_tool_for_all_sessions_is_not_kept(tmp_path: Path, proceed: Counted) -> None:
    guard = cache(tmp_path)
    before = proceed.times
    for _ in range(2):
        await guard.handle(made(pure), proceed)
    assert proceed.times == before + 2


async def test_a_null_handle_is_no_handle(tmp_path: Path) -> None:
    guard, proceed = cache(tmp_path), Counted({"handle": None, "text": "x"})
    for _ in range(2):
        await guard.handle(made(pure), proceed)
    assert proceed.times == 1


async def test_equal_calls_in_flight_share_one_execution_and_say_whose(tmp_path: Path) -> None:
    release = anyio.Event()
    ran: list[int] = []

    @tool(effect="pure")
    async def slow() -> str:
        ran.append(1)
        await release.wait()
        return "slow"

    async def free() -> None:
        while not ran:
            await anyio.sleep(0.001)
        await anyio.sleep(0.01)
        release.set()

    async with talking(slow, root=tmp_path) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(free)
        outcome = await session.run(together(*["tools.x.slow()"] * 5))
    assert outcome.value == ["slow"] * 5 and len(ran) == 1
    assert sorted(record.outcome.source for record in outcome.calls) == ["shared"] * 4 + ["tool"]
    (own,) = [f"T1 call {record.number}" for record in outcome.calls if record.outcome.source == "tool"]
    assert {record.outcome.of for record in outcome.calls} == {"", own}
    assert (outcome.ledger.shared, outcome.ledger.cache_misses, outcome.ledger.cache_hits) == (4, 1, 0)


async def test_when_the_first_in_flight_is_cancelled_the_next_one_runs(tmp_path: Path) -> None:
    guard = cache(tmp_path)
    with anyio.move_on_after(0.01):
        await guard.handle(made(pure), lambda call: anyio.sleep_forever())
    with anyio.fail_after(1):
        assert (await guard.handle(made(pure), Counted("fine"))).value == "fine"


async def test_another_session_finds_it_on_disk_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    for expected in ("", "an earlier session"):
        guard = Cache(
            Freshness(tmp_path),
            MemoryCache(most_bytes=1 << 20),
            DiskCache(tmp_path / "c", most_bytes=1 << 20),
            disk_seconds_min=0,
        )
        outcome = await guard.handle(made(read, path="a"), Counted("lines"))
        assert (outcome.value, outcome.of) == ("lines", expected)


async def test_a_file_that_changed_is_read_again_and_the_count_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    script = "return (await tools.files.read({ path: 'a.txt' })).text"
    async with talking(packs=["files"], root=tmp_path) as session:
        assert (await session.run(script)).value.strip() == "one"
        (tmp_path / "a.txt").write_text("two\n")
        outcome = await session.run(script)
    assert outcome.value.strip() == "two" and (outcome.ledger.cache_hits, outcome.ledger.cache_misses) == (0, 1)


async def test_without_the_cache_everything_runs(tmp_path: Path) -> None:
    ran: list[int] = []

    @tool(effect="pure")
    async def count() -> int:
        ran.append(1)
        return len(ran)

    async with talking(count, root=tmp_path, setup=Setup(flags=Flags(cache=False))) as session:
        assert (await session.run("return [await tools.x.count(), await tools.x.count()]")).value == [1, 2]
    async with talking(count, root=tmp_path) as session:
        assert (await session.run("return [await tools.x.count(), await tools.x.count()]")).value == [3, 3]
