"""Results of one session in memory: the least recently used go when there is no room; writes drop what they may have changed.

Which results a write touches is what `catalog.effects.overlap` says, found by an index from keys to results, not by asking each.
For one task at a time: no locks.
"""

import posixpath
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from catalog.effects import EVERYTHING
from harness.cache.records import Kept

_ENTRY_BYTES = 1_024  # what an entry costs beside its value


class MemoryCache:
    def __init__(self, *, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._exact: dict[str, set[str]] = {}  # read key to results
        self._below: dict[str, set[str]] = {}  # path to results that read it or something below it

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        return self._bytes

    def get(self, key: str) -> Kept | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: str, kept: Kept) -> None:
        """One that is larger than all the room is not kept."""
        self.drop(key)
        if _cost(kept) > self._most:
            return
        self._kept[key] = kept
        self._bytes += _cost(kept)
        for index, name in self._places(kept):
            index.setdefault(name, set()).add(key)
        while self._bytes > self._most:
            self.drop(next(iter(self._kept)))

    def drop(self, key: str) -> None:
        kept = self._kept.pop(key, None)
        if kept is None:
            return
        self._bytes -= _cost(kept)
        for index, name in self._places(kept):
            found = index.get(name)
            if found is not None:
                found.discard(key)
                if not found:
                    del index[name]

    def drop_touching(self, writes: Sequence[str]) -> int:
        """Drop what was read from something that these keys may have changed; gives how many. Keys are canonical."""
        touched = set[str]()
        for write in writes:
            touched.update(self._touched(write))
        for key in touched:
            self.drop(key)
        return len(touched)

    def _touched(self, write: str) -> Iterator[str]:
        if write == EVERYTHING:
            yield from (key for key, kept in self._kept.items() if kept.reads)
            return
        yield from self._exact.get(EVERYTHING, ())
        yield from self._exact.get(write, ())
        path = _path(write)
        if path is None:
            return
        for above in _upwards(path):
            yield from self._exact.get(f"tree:{above}", ())
        if write.startswith("tree:"):
            yield from self._below.get(path, ())

    def _places(self, kept: Kept) -> Iterator[tuple[dict[str, set[str]], str]]:
        for key in kept.reads:
            yield self._exact, key
            path = _path(key)
            if path is not None:
                yield from ((self._below, above) for above in _upwards(path))


def _cost(kept: Kept) -> int:
    return kept.size + _ENTRY_BYTES


def _path(key: str) -> str | None:
    kind, colon, path = key.partition(":")
    return path if colon and kind in ("file", "tree") else None


def _upwards(path: str) -> Iterator[str]:
    """The path and the folders above it: to "/" for an absolute one, to "." for one below the root."""
    yield path
    while path not in (".", "/", "", ".."):
        path = posixpath.dirname(path) or "."
        yield path
