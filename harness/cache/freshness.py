"""Is what a call read still as it was? Blocking: call it in a thread.

A stamp is trusted when it is older than the slack at the moment of the look: a later write must then leave another one. A younger
stamp may be left by two writes in one tick of the clock; such files are compared by content until a later look finds them old.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from harness.cache.keys import canonical
from harness.cache.look import CannotTell, Look, content_id, real_path
from harness.cache.records import State

# FAT counts in 2 s, older NFS and HFS+ in 1 s, Linux in up to 10 ms; the rest is for a clock that lags.
SLACK_NS = 2_500_000_000
RACY_BYTES = 64 * 1024 * 1024  # read for one look: some 60 ms


class Freshness:
    """Of the files below one root."""

    def __init__(
        self,
        root: Path,
        *,
        tree_entries_max: int = 20_000,
        racy_bytes_max: int = RACY_BYTES,
        beside: Sequence[Path] = (),
        clock_ns: Callable[[], int] = time.time_ns,
        slack_ns: int = SLACK_NS,
        tick_ns: int = 1,
    ) -> None:
        """beside: files outside that results about trees depend on, such as the user's git configuration.
        tick_ns: stamps are compared rounded down to this, for file systems that forget the rest; at most the slack.
        """
        self._roots = tuple(dict.fromkeys((root.resolve(strict=True), root.absolute())))
        self._root = str(self._roots[0])
        self._identity = _identity(self._root)
        self._entries_max = tree_entries_max
        self._racy_bytes_max = racy_bytes_max
        self._beside = tuple(str(path) for path in beside)
        self._clock_ns = clock_ns
        self._slack_ns = slack_ns
        self._tick_ns = tick_ns

    def canonical(self, key: str) -> str:
        """One key for one name: relative to the root where it is below."""
        return canonical(key, *self._roots)

    def real(self, key: str) -> str:
        """The key of what this name leads to now, by links; the key itself where that cannot be told."""
        kind, colon, name = key.partition(":")
        if not colon or kind not in ("file", "tree"):
            return key
        try:
            path = os.path.normpath(os.path.join(self._root, name))  # noqa: PTH118 - a Path costs more than the look
            real = real_path(path, self._root)
            return key if real == path else self.canonical(f"{kind}:{real}")
        except (OSError, ValueError):  # a NUL in a path, or no text
            return key

    def state(self, keys: Sequence[str]) -> State | None:
        """None: it cannot be told, so do not cache. No keys is a state too, which always holds."""
        told = tuple(sorted({self.canonical(key) for key in keys}))
        look = self._look(told)
        racy = None if look is None else self._contents(look.racy)
        return None if look is None or racy is None else State(told, look.digest(), _sorted(racy.items()))

    def fresh(self, state: State) -> State | None:
        """The state to go on with if all is as it was, with fewer racy files; None if anything changed, or may have."""
        look = self._look(state.keys)
        if look is None or look.digest() != state.digest:
            return None
        # The stamps were taken before the contents are read: a write in between leaves a stamp that the next look finds.
        contents = self._contents(look.racy.union(path for path, _ in state.racy))
        if contents is None or any(contents[path] != oid for path, oid in state.racy):
            return None
        return State(state.keys, state.digest, _sorted((path, contents[path]) for path in look.racy))

    def still(self, state: State) -> bool:
        """Is everything as it was? True only if that is certain."""
        return self.fresh(state) is not None

    def _look(self, keys: Sequence[str]) -> Look | None:
        root = self._root
        before_ns = self._clock_ns() - self._slack_ns
        look = Look(root, trusted_before_ns=before_ns, tick_ns=self._tick_ns, entries_max=self._entries_max)
        try:
            if keys and _identity(root) != self._identity:
                return None  # packs hold the folder that once had this name
            for key in keys:
                self._at(key, look)
        except (CannotTell, OSError, ValueError):  # ValueError: a NUL in a path, or no text
            return None
        return look

    def _at(self, key: str, look: Look) -> None:
        kind, colon, name = key.partition(":")
        path = os.path.normpath(os.path.join(self._root, name))  # noqa: PTH118
        if colon and kind == "file":
            look.file(path)
        elif colon and kind == "tree":
            look.tree(path)
            for file in self._beside:
                look.beside(file)
        else:
            raise CannotTell(f"{key} has no state that can be looked at")

    def _contents(self, paths: Iterable[str]) -> dict[str, str] | None:
        found, left = dict[str, str](), self._racy_bytes_max
        try:
            for path in paths:
                found[path], size = content_id(path, left)
                left -= size
        except (CannotTell, OSError):
            return None
        return found


def _identity(root: str) -> tuple[int, int]:
    facts = os.stat(root)  # noqa: PTH116
    return facts.st_dev, facts.st_ino


def _sorted(rows: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(rows))
