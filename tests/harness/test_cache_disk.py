"""Results on disk: exact, private, bounded; damage, a full disk and other processes are misses and never errors."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.cache import DiskCache, Kept, State

MIB = 1024 * 1024
STATE = State(("file:a",), "digest", (("/root/a", "oid"),))
SECOND = 10**9


def kept(value: Any = "value", *, state: State | None = STATE) -> Kept:
    size = len(value) + 2 if isinstance(value, str) else 0
    return Kept(value, size, ("file:a",) if state else (), state, "T2 call 7")


def stored(folder: Path, kind: str) -> list[Path]:
    return sorted(path for path in (folder / "results-1" / kind).rglob("*") if path.is_file())


def total(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000 * SECOND

    def __call__(self) -> int:
        self.now += SECOND
        return self.now


def test_another_session_gets_the_whole_result(tmp_path: Path) -> None:
    DiskCache(tmp_path, most_bytes=MIB).put("1", kept("é" + "x" * 5_000))
    found = DiskCache(tmp_path, most_bytes=MIB).get("1")
    assert found == Kept("é" + "x" * 5_000, 5_004, ("file:a",), STATE, "T2 call 7")
    assert DiskCache(tmp_path, most_bytes=MIB).get("2") is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(), VALUES)
def test_any_json_comes_back_as_it_was(tmp_path: Path, key: str, value: Any) -> None:
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put(key, kept(value, state=None))
    found = cache.get(key)
    assert found is not None
    assert (repr(found.value), found.state, found.reads) == (repr(value), None, ())


def test_names_of_files_that_are_no_text_are_kept_in_the_state(tmp_path: Path) -> None:
    state = State(("tree:.",), "digest", ((os.fsdecode(b"/root/\xff\xc3\xa9"), "oid"),))
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put("1", kept(state=state))
    found = cache.get("1")
    assert found is not None and found.state == state


def test_equal_values_are_stored_once(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, most_bytes=MIB)
    for key in "abc":
        cache.put(key, kept("x" * 3_000))
    assert (len(stored(tmp_path, "values")), len(stored(tmp_path, "keys"))) == (1, 3)
    assert total(tmp_path) < 3_000


def test_what_cannot_be_checked_or_written_as_json_is_not_kept(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put("unknown state", Kept(1, 1, ("url:x",), None, ""))
    cache.put("half a character", kept("\ud800"))
    cache.put("too large", kept(random.Random(1).randbytes(MIB).hex()))
    assert [cache.get(key) for key in ("unknown state", "half a character", "too large")] == [None, None, None]
    assert cache.problem == ""


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    before = os.umask(0)
    try:
        DiskCache(folder, most_bytes=MIB).put("1", kept())
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (folder / "results-1").rglob("*") if path.is_file()}
    folders = {path.stat().st_mode & 0o777 for path in (folder / "results-1").rglob("*") if path.is_dir()}
    assert (modes, folders, (folder / "results-1").stat().st_mode & 0o777) == ({0o600}, {0o700}, 0o700)


def test_a_folder_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "results-1").mkdir(mode=0o755)
    DiskCache(tmp_path, most_bytes=MIB).put("1", kept())
    assert (tmp_path / "results-1").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_neither_read_nor_written(tmp_path: Path) -> None:
    DiskCache(tmp_path, most_bytes=MIB).put("1", kept())
    os.chown(tmp_path / "results-1", 65_534, 65_534)
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put("2", kept())
    assert cache.get("1") is None
    assert cache.problem.endswith(
        "it belongs to another user, or is no folder; calls go on without; free some space there, or set another cache folder"
    )


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "results-1").symlink_to(tmp_path / "elsewhere")
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put("1", kept())
    assert cache.problem != ""
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("kind", ["keys", "values"])
@pytest.mark.parametrize("text", ["short", "x" * 2_000])
def test_each_damaged_byte_and_each_cut_is_a_miss_and_is_removed(tmp_path: Path, kind: str, text: str) -> None:
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put("1", kept(text))
    [path] = stored(tmp_path, kind)
    whole = path.read_bytes()
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for data in [*damaged, *(whole[:at] for at in range(len(whole)))]:
        cache.put("1", kept(text))
        path.write_bytes(data)
        found = cache.get("1")
        # The last bytes of packed data are zlib's own check, which a whole value does not need.
        assert found is None or found == kept(text)
        assert found is not None or not path.exists()
    cache.put("1", kept(text))
    assert cache.get("1") == kept(text)


def test_a_record_put_in_the_place_of_another_is_a_miss(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put("1", kept("one"))
    [one] = stored(tmp_path, "keys")
    cache.put("2", kept("two"))
    [two] = [path for path in stored(tmp_path, "keys") if path != one]
    two.write_bytes(one.read_bytes())
    assert cache.get("2") is None
    assert cache.get("1") == kept("one")


def test_a_record_without_its_value_is_a_miss_and_is_removed(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, most_bytes=MIB)
    cache.put("1", kept())
    stored(tmp_path, "values")[0].unlink()
    assert cache.get("1") is None
    assert stored(tmp_path, "keys") == []


def test_a_folder_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", most_bytes=MIB)
    cache.put("1", kept())
    (tmp_path / "cache").rename(tmp_path / "gone")
    cache.put("2", kept())
    assert (cache.get("1"), cache.get("2"), cache.problem) == (None, kept(), "")


def noise(number: int, size: int) -> str:
    return random.Random(number).randbytes(size // 2).hex()


def test_the_bytes_stay_within_the_bound_and_the_least_used_go_first(tmp_path: Path) -> None:
    most = 400_000
    cache = DiskCache(tmp_path, most_bytes=most, clock_ns=Clock())
    for number in range(100):
        cache.put(str(number), kept(noise(number, 20_000)))
        cache.get("0")
        assert total(tmp_path) <= most * 1.1
    alive = [number for number in range(100) if cache.get(str(number)) is not None]
    assert alive[0] == 0
    assert len(alive) > 15
    assert alive[1:] == list(range(101 - len(alive), 100))


def test_another_process_that_prunes_is_not_waited_for(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, most_bytes=100_000, clock_ns=Clock())
    cache.put("first", kept())
    code = (
        "import fcntl, sys\n"
        "lock = open(sys.argv[1], 'r+')\n"
        "fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    lock = tmp_path / "results-1" / "prune.lock"
    with subprocess.Popen([sys.executable, "-c", code, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"locked\n"
        for number in range(20):
            cache.put(str(number), kept(noise(number, 20_000)))
        assert total(tmp_path) > 150_000
        holder.communicate(b"")
    cache.put("last", kept(noise(99, 20_000)))
    assert total(tmp_path) <= 100_000
    assert cache.get("last") is not None


def test_the_cache_turns_itself_off_where_it_cannot_write_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = DiskCache(tmp_path / "file", most_bytes=MIB)
    assert cache.problem == ""
    cache.put("1", kept())
    assert cache.get("1") is None
    assert cache.problem == (
        f"results are no longer kept in {tmp_path}/file/results-1: File exists; "
        "calls go on without; free some space there, or set another cache folder"
    )


def child(code: str, *arguments: object) -> "subprocess.Popen[bytes]":
    names = "MIB, DiskCache, Path, kept, noise, random, sys"
    whole = f"from tests.harness.test_cache_disk import {names}\n{code}"
    root = Path(__file__).parent.parent.parent
    return subprocess.Popen([sys.executable, "-c", whole, *map(str, arguments)], stdout=subprocess.PIPE, cwd=root)


def test_a_full_disk_fails_no_call_and_what_is_there_is_still_read(tmp_path: Path) -> None:
    """The system allows the child no file above 10,000 bytes: a write ends in the middle, as on a full disk."""
    DiskCache(tmp_path, most_bytes=MIB).put("before", kept("before"))
    code = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "cache = DiskCache(Path(sys.argv[1]), most_bytes=MIB)\n"
        "cache.put('large', kept(noise(1, 60_000)))\n"
        "cache.put('small', kept('small'))\n"
        "print(cache.problem, cache.get('large'), cache.get('small'), cache.get('before').value, sep='|')\n"
    )
    with child(code, tmp_path) as process:
        said = process.communicate()[0].decode()
    assert process.returncode == 0
    assert said == (
        f"results are no longer kept in {tmp_path}/results-1: File too large; calls go on without; "
        "free some space there, or set another cache folder|None|None|before\n"
    )
    assert stored(tmp_path, "new") == []


HAMMER = """
cache, chance = DiskCache(Path(sys.argv[1]), most_bytes=300_000), random.Random(int(sys.argv[2]))
hits = 0
for _ in range(1_500):
    number = chance.randrange(60)
    if chance.random() < 0.5:
        cache.put(str(number), kept(noise(number, 20_000)))
    else:
        found = cache.get(str(number))
        assert found is None or found == kept(noise(number, 20_000)), number
        hits += found is not None
print(hits, repr(cache.problem))
"""


def test_processes_that_read_write_and_prune_at_the_same_time_meet_no_error_and_no_wrong_value(tmp_path: Path) -> None:
    processes = [child(HAMMER, tmp_path, number) for number in range(3)]
    for process in processes:
        hits, problem = process.communicate()[0].decode().split()
        assert (process.returncode, problem) == (0, "''")
        assert int(hits) > 75
    assert stored(tmp_path, "new") == []
    assert total(tmp_path) <= 300_000 * 1.3


ENDLESS = """
cache = DiskCache(Path(sys.argv[1]), most_bytes=64 * MIB)
print("begun", flush=True)
number = 0
while True:
    cache.put(str(number % 50), kept(noise(number, 2_000_000)))
    number += 1
"""


def test_a_writer_killed_in_the_middle_leaves_whole_results_and_what_it_left_is_removed_later(tmp_path: Path) -> None:
    left = list[Path]()
    for _ in range(20):
        process = child(ENDLESS, tmp_path)
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        for _ in range(200_000):
            if left := stored(tmp_path, "new"):
                break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if left := stored(tmp_path, "new"):
            break
    assert left, "no writer was met in the middle"
    clock = Clock()
    clock.now = left[0].stat().st_mtime_ns + 599 * SECOND
    young = DiskCache(tmp_path, most_bytes=64 * MIB, clock_ns=lambda: clock.now)
    young.put("new", kept())
    assert stored(tmp_path, "new") == left, "a writer may still be at it"
    clock.now += 2 * SECOND
    cache = DiskCache(tmp_path, most_bytes=64 * MIB, clock_ns=lambda: clock.now)
    cache.put("new", kept())
    assert stored(tmp_path, "new") == []
    for number in range(50):
        found = cache.get(str(number))
        assert found is None or (len(found.value) == 2_000_000 and found.label == "T2 call 7")
