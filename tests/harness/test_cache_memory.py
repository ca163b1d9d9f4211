"""Results in memory: bounded, the least recently used go first, writes drop exactly what they overlap."""

from hypothesis import given
from hypothesis import strategies as st

from catalog.effects import overlap
from harness.cache import Kept, MemoryCache, State

MIB = 1024 * 1024


def kept(*reads: str, size: int = 100) -> Kept:
    return Kept("value", size, reads, State(reads, "digest") if reads else None, "T1 call 1")


def test_what_was_put_is_got_and_another_key_is_not() -> None:
    cache = MemoryCache(most_bytes=MIB)
    one = kept("file:a")
    cache.put("1", one)
    assert cache.get("1") is one
    assert cache.get("2") is None


def test_the_least_recently_used_goes_when_there_is_no_room() -> None:
    cache = MemoryCache(most_bytes=30_000)
    for key in "abc":
        cache.put(key, kept("file:a", size=8_000))
    cache.get("a")
    cache.put("d", kept("file:a", size=8_000))
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]


def test_a_result_larger_than_the_room_is_not_kept_and_takes_nothing_away() -> None:
    cache = MemoryCache(most_bytes=30_000)
    cache.put("a", kept(size=8_000))
    cache.put("b", kept(size=30_001))
    assert cache.get("a") is not None
    assert cache.get("b") is None


def test_many_small_results_are_bounded_too() -> None:
    cache = MemoryCache(most_bytes=MIB)
    for number in range(10_000):
        cache.put(str(number), kept(size=1))
    assert len(cache) <= 1_024


def test_a_newer_result_under_the_same_key_takes_the_place_of_the_older() -> None:
    cache = MemoryCache(most_bytes=MIB)
    cache.put("1", kept("file:a", size=500))
    before = cache.bytes
    cache.put("1", kept("file:b", size=500))
    assert (cache.bytes, len(cache)) == (before, 1)
    assert cache.drop_touching(["file:a"]) == 0
    assert cache.drop_touching(["file:b"]) == 1


def test_a_write_of_a_file_drops_the_trees_it_is_in_and_leaves_its_neighbours() -> None:
    cache = MemoryCache(most_bytes=MIB)
    for key in ("file:src/a.py", "file:src/b.py", "tree:src", "tree:.", "tree:src/a", "tree:tests", "file:src"):
        cache.put(key, kept(key))
    assert cache.drop_touching(["file:src/a.py"]) == 3
    assert [key for key in ("file:src/b.py", "tree:src/a", "tree:tests", "file:src") if cache.get(key)] == [
        "file:src/b.py", "tree:src/a", "tree:tests", "file:src",
    ]  # fmt: skip


def test_a_call_that_may_write_everything_leaves_only_results_that_read_nothing() -> None:
    cache = MemoryCache(most_bytes=MIB)
    cache.put("pure", kept())
    cache.put("read", kept("url:x"))
    assert cache.drop_touching(["*"]) == 1
    assert cache.get("pure") is not None
    assert cache.get("read") is None


PATHS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=4).map("/".join)
KEYS = st.one_of(
    st.builds("{}:{}".format, st.sampled_from(["file", "tree"]), PATHS | PATHS.map("/{}".format)),
    st.sampled_from(["tree:.", "file:.", "tree:/", "file:/", "*", "url:a", "plan:a", "file", "a"]),
)


@given(st.lists(st.lists(KEYS, max_size=3).map(tuple), max_size=12), st.lists(st.lists(KEYS, max_size=3), max_size=3))
def test_what_is_dropped_is_what_overlaps(entries: list[tuple[str, ...]], batches: list[list[str]]) -> None:
    cache = MemoryCache(most_bytes=MIB)
    for number, reads in enumerate(entries):
        cache.put(str(number), kept(*reads))
    alive = dict(enumerate(entries))
    for writes in batches:
        gone = {number for number, reads in alive.items() if any(overlap(read, write) for read in reads for write in writes)}
        assert cache.drop_touching(writes) == len(gone)
        alive = {number: reads for number, reads in alive.items() if number not in gone}
        assert {number for number in range(len(entries)) if cache.get(str(number)) is not None} == set(alive)
    assert len(cache) == len(alive)


def test_an_emptied_cache_holds_no_index() -> None:
    cache = MemoryCache(most_bytes=MIB)
    for number in range(100):
        cache.put(str(number), kept(f"file:src/{number}/a.py", f"tree:src/{number}"))
    cache.drop_touching(["tree:src"])
    assert (len(cache), cache.bytes, cache._exact, cache._below) == (0, 0, {}, {})


def test_a_result_that_may_depend_on_everything_is_dropped_by_any_write() -> None:
    cache = MemoryCache(most_bytes=MIB)
    cache.put("1", kept("*"))
    cache.put("2", kept("file:a"))
    assert cache.drop_touching(["plan:current"]) == 1
    assert (cache.get("1"), cache.get("2")) == (None, kept("file:a"))
