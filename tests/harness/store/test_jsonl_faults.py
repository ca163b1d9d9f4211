"""Disks that fill up, break or lose power: what was acknowledged is there, what was refused is not, and the session goes on."""

import errno
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.entries import Entry
from harness.store import NoSession, StoreFailed
from harness.store.jsonl import Durability, JsonlStore
from harness.store.jsonl_disk import FailingDisk
from harness.store.lines import BadLine, first_break
from tests.contracts.entry_samples import AT, opened, said, settled
from tests.harness.store.power import PowerDisk

ROOT = Path(__file__).parents[3]
APPENDS: list[list[Entry]] = [
    [opened()],
    [said("hello")],
    [settled("x" * 3_000)],
    [settled({"in": ["y" * 5_000]}, call=2), said("batch"), settled("z" * 9_000, call=3)],
    [said("w" * 70_000), said("v" * 70_000)],  # more than is synced at once
    [said("end")],
]


async def appended(store: JsonlStore) -> tuple[list[Entry], str]:
    """What was acknowledged before the disk failed, and what was said then."""
    writer = await store.write("s", at=AT)
    kept: list[Entry] = []
    try:
        for entries in APPENDS:
            await writer.append(*entries)
            kept += entries
    except StoreFailed as error:
        with pytest.raises(StoreFailed) as again:
            await writer.append(said("once more"))
        assert str(again.value) == str(error)
        return kept, str(error)
    finally:
        await writer.close()
    return kept, ""


async def kept_in(store: JsonlStore) -> list[Entry]:
    try:
        kept = await store.load("s")
    except NoSession:
        return []
    assert first_break([one.line for one in kept]) == ""
    return [one.entry("s") for one in kept]


FAULTS = [
    pytest.param({"error": errno.ENOSPC}, id="full"),
    pytest.param({"error": errno.ENOSPC, "short": True}, id="full in the middle of a line"),
    pytest.param({"error": errno.EIO}, id="broken"),
    pytest.param({"error": errno.EIO, "lasting": False}, id="broken once"),
    pytest.param({"error": errno.EDQUOT, "short": True}, id="quota"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_at_every_write_and_sync_a_failure_keeps_what_was_acknowledged_and_nothing_else(
    tmp_path: Path, fault: dict[str, Any]
) -> None:
    assert anyio.run(failed_at_each, tmp_path, fault) > 15


async def failed_at_each(tmp_path: Path, fault: dict[str, Any]) -> int:
    """How many places there are to fail."""
    at = 0
    while True:
        folder = tmp_path / str(at)
        acknowledged, message = await appended(JsonlStore(folder, disk=FailingDisk(at=at, **fault)))
        assert await kept_in(JsonlStore(folder)) == acknowledged
        writer = await JsonlStore(folder).write("s", at=AT)
        await writer.append(said("room again"))
        await writer.close()
        assert writer.repaired == "" and await kept_in(JsonlStore(folder)) == [*acknowledged, said("room again")]
        if not message:
            return at
        safe = f"everything up to line {len(acknowledged)} is kept" if acknowledged else "nothing was kept yet"
        assert f"{os.strerror(fault['error'])}; {safe}, what came after it is not; " in message
        at += 1


@pytest.mark.anyio
async def test_a_short_write_alone_is_no_failure(tmp_path: Path) -> None:
    for at in range(25):
        disk = FailingDisk(at=at, short=True, lasting=False)
        disk.fdatasync = os.fdatasync  # type: ignore[method-assign]
        acknowledged, message = await appended(JsonlStore(tmp_path / str(at), disk=disk))
        assert message == "" and await kept_in(JsonlStore(tmp_path / str(at))) == acknowledged


@pytest.mark.anyio
async def test_a_file_whose_disk_broke_is_not_written_again_by_the_same_store(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path, disk=FailingDisk(at=3, error=errno.EIO, lasting=False))
    _, message = await appended(store)
    assert message.endswith("the disk may be broken: copy the session to another disk before going on")
    with pytest.raises(StoreFailed, match="failed to be written before: copy session s to another disk, and go on there"):
        await store.write("s", at=AT)


# ------------------------------------------------------------ real disks

PROGRAM = """
import json, resource, sys, anyio
from harness.store import StoreFailed
from harness.store.jsonl import JsonlStore
from tests.contracts.entry_samples import opened, said
if sys.argv[2] == "limited":
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
async def main():
    writer = await JsonlStore(sys.argv[1]).write("s", at=0.0)
    await writer.append(opened())
    try:
        while True:
            await writer.append(said("x" * 7_000))
    except StoreFailed as error:
        print(json.dumps([writer.last.seq, str(error)]))
anyio.run(main)
"""


def filled_up(folder: Path, how: str) -> list[Any]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder), how], cwd=ROOT, capture_output=True, check=True)
    return list(json.loads(done.stdout))


def test_a_file_that_may_not_grow_is_kept_up_to_its_last_whole_line(tmp_path: Path) -> None:
    last, message = filled_up(tmp_path, "limited")
    assert f"File too large; everything up to line {last} is kept" in message and "(ulimit -f)" in message
    assert len(anyio.run(kept_in, JsonlStore(tmp_path))) == last > 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no right to mount a small disk here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_told_and_the_session_goes_on_when_there_is_room(small_disk: Path) -> None:
    last, message = filled_up(small_disk / "sessions", "full")
    assert f"No space left on device; everything up to line {last} is kept" in message
    assert message.endswith("make room on the disk, then open the session again")
    store = JsonlStore(small_disk / "sessions")
    assert len(anyio.run(kept_in, store)) == last > 100
    subprocess.run(["mount", "-o", "remount,size=2m", small_disk], check=True)
    anyio.run(_goes_on, store)
    assert len(anyio.run(kept_in, store)) == last + 1


async def _goes_on(store: JsonlStore) -> None:
    writer = await store.write("s", at=AT)
    await writer.append(said("on"))
    await writer.close()


# ------------------------------------------------------------ power


async def recorded(folder: Path, durability: Durability, dice: random.Random) -> tuple[PowerDisk, list[tuple[int, Entry]]]:
    """Entries of all sizes, in appends of one to twelve, and after how many events each was acknowledged."""
    disk = PowerDisk()
    store = JsonlStore(folder, durability=durability, disk=disk)
    acknowledged: list[tuple[int, Entry]] = []
    for part in range(3):
        writer = await store.write("s", at=AT)
        for number in range(12):
            entries: list[Entry] = [opened()] if part == number == 0 else []
            for _ in range(dice.choice([1, 1, 2, 12])):
                size = dice.choice([20, 300, 2_000, 3_000, 20_000])
                text = dice.randbytes(size // 2).hex()
                entries.append(said(text) if dice.random() < 0.5 else settled(text))
            await writer.append(*entries)
            acknowledged += [(len(disk.events), entry) for entry in entries]
        await writer.close()
    return disk, acknowledged


async def crash_points(folder: Path, points: int, durability: Durability = "fsync") -> tuple[int, int]:
    """How many crashes lost something that was acknowledged, and how many left something wrong."""
    dice = random.Random(7)
    disk, acknowledged = await recorded(folder, durability, dice)
    everything = [entry for _, entry in acknowledged]
    lost = wrong = 0
    for point in range(points):
        count = 1 + point % len(disk.events)
        left = disk.left_behind(count, dice)
        for name in os.listdir(next(iter(left)).parent):
            os.unlink(next(iter(left)).parent / name)
        for path, content in left.items():
            path.write_bytes(content)
        store = JsonlStore(folder, durability="flush")
        try:
            found = await kept_in(store)
            await _goes_on(store)
            after = await kept_in(store)
            wrong += found != everything[: len(found)] or after != [*found, said("on")]
        except (BadLine, AssertionError):
            wrong += 1
            continue
        lost += len(found) < sum(when <= count for when, _ in acknowledged)
    return lost, wrong


def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    assert anyio.run(crash_points, tmp_path, 250) == (0, 0)


@pytest.mark.slow
def test_ten_thousand_power_cuts_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    assert anyio.run(crash_points, tmp_path, 12_000) == (0, 0)


def test_without_syncing_the_same_power_cuts_lose_entries(tmp_path: Path) -> None:
    lost, _ = anyio.run(partial(crash_points, tmp_path, 60, durability="flush"))
    assert lost > 30
