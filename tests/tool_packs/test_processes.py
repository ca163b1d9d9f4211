"""Real process groups: ended with their grandchildren, reaped, bounded, without a descriptor left."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tool_packs.processes import Ended, Group, attend
from tool_packs.spool import Spool, decoded, head_and_tail

pytestmark = pytest.mark.anyio
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
LINUX = sys.platform.startswith("linux")


def alive(pid: int) -> bool:
    """Running: neither gone nor a zombie that its new parent has not fetched yet."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not LINUX:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False


async def gone(pid: int) -> bool:
    """A killed process takes a moment to leave."""
    with anyio.move_on_after(10):
        while alive(pid):
            await anyio.sleep(0.01)
    return not alive(pid)


def text_of(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


async def appears(path: Path) -> str:
    with anyio.fail_after(10):
        while not text_of(path).endswith("\n"):
            await anyio.sleep(0.01)
    return text_of(path)


def zombies_of_mine() -> list[str]:
    states = [text_of(stat).rpartition(") ")[2].split() for stat in Path("/proc").glob("[0-9]*/stat")]
    return [" ".join(fields[:2]) for fields in states if fields[:2] == ["Z", str(os.getpid())]]


def is_reaped(pid: int) -> bool:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def started(text: str, folder: Path, **more: object) -> Group:
    return Group(["bash", "-c", text], cwd=str(folder), environment=ENVIRONMENT, **more)  # type: ignore[arg-type]


async def ran(
    text: str, folder: Path, *, timeout_seconds: float = 60, most: int = 1_000_000, apart: bool = False
) -> tuple[Ended, list[bytes]]:
    spools = [Spool(most_bytes=most) for _ in range(2 if apart else 1)]
    group = started(text, folder, apart=apart)
    ended = await attend(group, [spool.add for spool in spools], timeout_seconds=timeout_seconds, grace_seconds=0.2)
    data = [await spool.read() for spool in spools]
    for spool in spools:
        spool.close()
    return ended, data


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def test_output_comes_in_the_order_it_was_printed(tmp_path: Path) -> None:
    ended, data = await ran("for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3", tmp_path)
    assert data == [b"out1\nerr1\nout2\nerr2\nout3\nerr3\n"]
    assert ended == Ended(exit_code=3, signal=None, timed_out=False, full=False, left=False)


async def test_stderr_can_be_had_apart(tmp_path: Path) -> None:
    _, data = await ran("echo a; echo b >&2; echo c", tmp_path, apart=True)
    assert data == [b"a\nc\n", b"b\n"]


async def test_a_signal_that_ends_the_leader_is_named(tmp_path: Path) -> None:
    ended, _ = await ran("kill -SEGV $$", tmp_path)
    assert (ended.exit_code, ended.signal) == (128 + signal.SIGSEGV, "SIGSEGV")


async def test_a_timeout_kills_grandchildren_too(tmp_path: Path) -> None:
    ended, data = await ran("echo before; (sleep 300 & echo $! > pids; wait) & wait", tmp_path, timeout_seconds=1)
    assert (ended.exit_code, ended.timed_out) == (124, True)
    assert data == [b"before\n"]
    assert await gone(int((tmp_path / "pids").read_text()))


async def test_what_ignores_sigterm_is_killed_after_the_grace(tmp_path: Path) -> None:
    ended, _ = await ran("trap '' TERM; echo $$ > pids; while :; do sleep 0.05; done", tmp_path, timeout_seconds=1)
    assert (ended.exit_code, ended.signal) == (124, "SIGKILL")
    assert await gone(int((tmp_path / "pids").read_text()))


async def test_what_is_printed_on_sigterm_is_still_read(tmp_path: Path) -> None:
    ended, data = await ran("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.02; done", tmp_path, timeout_seconds=1)
    assert data[0].startswith(b"ready\n") and data[0].endswith(b"bye\n")
    assert (ended.exit_code, ended.timed_out, ended.signal) == (124, True, None)


async def test_cancelling_kills_the_whole_group_and_reaps_the_leader(tmp_path: Path) -> None:
    group = started("(sleep 300 & echo $$ $! > pids; wait) & wait", tmp_path)
    spool = Spool(most_bytes=1000)
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            await attend(group, [spool.add], timeout_seconds=300, grace_seconds=1)

        tasks.start_soon(watch)
        pids = [int(pid) for pid in (await appears(tmp_path / "pids")).split()]
        tasks.cancel_scope.cancel()
    assert [await gone(pid) for pid in pids] == [True, True]
    assert is_reaped(group.pid)
    assert group.returncode == -signal.SIGKILL


async def test_cancelling_before_the_first_wait_kills_too(tmp_path: Path) -> None:
    group = started("sleep 300", tmp_path)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await attend(group, [Spool(most_bytes=10).add], timeout_seconds=300, grace_seconds=1)
    assert scope.cancelled_caught
    assert await gone(group.pid)


async def test_a_child_that_holds_the_pipe_does_not_hold_the_call(tmp_path: Path) -> None:
    with anyio.fail_after(30):
        ended, data = await ran("sleep 300 & echo $! > pids; echo done", tmp_path)
    assert data == [b"done\n"]
    assert ended.left
    assert await gone(int((tmp_path / "pids").read_text()))


async def test_a_child_in_another_session_neither_holds_the_call_nor_a_descriptor(tmp_path: Path) -> None:
    with anyio.fail_after(30):
        ended, data = await ran(
            "setsid bash -c 'echo $$ > pids; exec sleep 300' & while ! [ -s pids ]; do sleep 0.01; done; echo done", tmp_path
        )
    assert (data, ended.exit_code) == ([b"done\n"], 0)
    os.kill(int((tmp_path / "pids").read_text()), signal.SIGKILL)  # it left the group, so it was left alone


async def test_children_without_the_pipe_are_noticed_and_killed(tmp_path: Path) -> None:
    ended, _ = await ran("sleep 300 >/dev/null 2>&1 & echo $! > pids", tmp_path)
    assert ended.left
    assert await gone(int((tmp_path / "pids").read_text()))


async def test_a_flood_ends_the_program_and_memory_stays_bounded(tmp_path: Path) -> None:
    spool = Spool(most_bytes=8_000_000)
    group = started("yes", tmp_path)
    largest = 0

    async def add(data: bytes) -> bool:
        nonlocal largest
        more = await spool.add(data)
        largest = max(largest, sum(map(len, spool._parts)))
        return more

    ended = await attend(group, [add], timeout_seconds=60, grace_seconds=1)
    assert ended.full and not ended.timed_out
    assert len(await spool.read()) == 8_000_000
    assert largest <= 1_048_576 + 65_536
    spool.close()


async def test_a_program_that_prints_more_than_memory_holds_leaves_only_the_cap(tmp_path: Path) -> None:
    """Ten gigabytes are asked for; what was read before the end is little more than the cap."""
    spool = Spool(most_bytes=2_000_000)
    group = started("head -c 10G /dev/zero", tmp_path)
    ended = await attend(group, [spool.add], timeout_seconds=60, grace_seconds=1)
    assert ended.full
    assert spool.total <= 2_000_000 + 65_536
    spool.close()


@pytest.mark.skipif(not LINUX, reason="counts descriptors in /proc")
async def test_two_hundred_runs_leave_no_descriptor_and_no_zombie(tmp_path: Path) -> None:
    await ran("echo x", tmp_path, apart=True)
    before = descriptors()
    for number in range(200):
        ended, _ = await ran("echo x; echo y >&2", tmp_path, apart=bool(number % 2))
        assert ended.exit_code == 0
    assert len(descriptors()) <= len(before)
    assert zombies_of_mine() == []


async def test_what_cannot_start_leaves_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        with pytest.raises(FileNotFoundError):
            Group(["/no/such/program"], cwd=str(tmp_path), environment={}, given="pipe", apart=True)
    assert len(os.listdir("/dev/fd")) == before


async def test_ending_twice_is_harmless(tmp_path: Path) -> None:
    group = started("sleep 300", tmp_path)
    await group.end()
    await group.end()
    group.signal(signal.SIGTERM)
    assert group.returncode == -signal.SIGKILL


async def test_without_descriptors_of_processes_everything_still_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    ended, data = await ran("echo a; exit 4", tmp_path)
    assert (ended.exit_code, data) == (4, [b"a\n"])
    ended, _ = await ran("sleep 300 & echo $! > pids; wait", tmp_path, timeout_seconds=0.3)
    assert ended.timed_out
    assert await gone(int((tmp_path / "pids").read_text()))


# ── spools and cuts ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_spool_gives_back_what_it_was_given_in_memory_and_in_a_file() -> None:
    for size in (0, 10, 1_048_576, 3_000_000):
        spool = Spool(most_bytes=5_000_000)
        whole = bytes(range(256)) * (size // 256)
        for index in range(0, len(whole), 65_536):
            assert await spool.add(whole[index : index + 65_536])
        assert await spool.read() == whole
        assert await spool.add(b"more")
        assert await spool.read() == whole + b"more"
        spool.close()


async def test_a_full_spool_says_so_and_keeps_the_beginning() -> None:
    spool = Spool(most_bytes=10)
    assert await spool.add(b"12345678")
    assert not await spool.add(b"90abc")
    assert not await spool.add(b"d")
    assert (await spool.read(), spool.total, spool.kept) == (b"1234567890", 14, 10)


CUTS = [
    (b"one\ntwo\nthree\nfour\n", 10, b"one\n", b"four\n"),
    ("é".encode() * 20, 10, "éé".encode(), "éé".encode()),
    ("a" + "€" * 20, 9, "a€", "€"),
    (b"x" * 30_000, 20_000, b"x" * 10_000, b"x" * 10_000),
]


@pytest.mark.parametrize(("data", "most", "head", "tail"), CUTS, ids=["lines", "two bytes", "three bytes", "one line"])
def test_cuts_stand_between_lines_or_characters(data: bytes | str, most: int, head: bytes | str, tail: bytes | str) -> None:
    found = head_and_tail(data if isinstance(data, bytes) else data.encode(), most)
    assert found == tuple(part if isinstance(part, bytes) else part.encode() for part in (head, tail))


def test_bytes_that_are_no_utf8_are_replaced_and_told() -> None:
    assert (decoded(b"a\xffb").text, decoded(b"a\xffb").lossy) == ("a\ufffdb", True)
    assert (decoded("aé".encode()).text, decoded("aé".encode()).lossy) == ("aé", False)
