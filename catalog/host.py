"""What the harness lends to a pack when it opens: the root, a place to keep whole values, the time. No globals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from time import time
from typing import Any, Protocol

import orjson

from catalog.problem import ToolProblem

_HANDLE_CHARS = 64  # of one that is not ours
_KEPT_BYTES = 256 * 1024 * 1024  # a session's whole values in memory; the oldest go first


class Results(Protocol):
    """Whole values behind handles: what was too much to show is read back from here, exactly."""

    def keep(self, value: Any, *, label: str = "") -> str:
        """Keep a JSON value; gives its handle."""

    def get(self, handle: str) -> Any:
        """The value; raises ToolProblem `unknown_handle`."""


class MemoryResults:
    """In memory, bounded by bytes; when it is full the oldest values go, and their handles say so."""

    def __init__(self, *, most_bytes: int = _KEPT_BYTES, prefix: str = "r") -> None:
        self._most = most_bytes
        self._prefix = prefix
        self._kept: dict[str, bytes] = {}
        self._bytes = 0
        self._last = 0
        self._gone: dict[str, None] = {}  # handles whose values have made room

    def keep(self, value: Any, *, label: str = "") -> str:
        self._last += 1
        handle = f"{self._prefix}{self._last}"
        self.put(handle, value)
        return handle

    def put(self, handle: str, value: Any) -> None:
        """Keep a value under a handle that is given elsewhere."""
        data = orjson.dumps(value)
        self._bytes += len(data) - len(self._kept.pop(handle, b""))
        self._kept[handle] = data
        while self._bytes > self._most and len(self._kept) > 1:
            oldest = next(iter(self._kept))
            self._bytes -= len(self._kept.pop(oldest))
            self._gone[oldest] = None

    def get(self, handle: str) -> Any:
        data = self._kept.get(handle)
        if data is None:
            raise ToolProblem("unknown_handle", f"nothing is kept under {handle[:_HANDLE_CHARS]!r}", hint=self._hint(handle))
        return orjson.loads(data)

    def _hint(self, handle: str) -> str:
        near = get_close_matches(handle[:_HANDLE_CHARS], list(self._kept), n=1)
        if handle in self._gone:
            return "it was kept earlier and has made room for newer values; make the call again"
        return f"did you mean {near[0]}?" if near else "handles are given where something was cut; copy one as it stands"


def _silent(tool: str, text: str) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    root: Path  # the folder that packs work in
    results: Results = field(default_factory=MemoryResults)
    environment: Mapping[str, str] = field(default_factory=dict)  # variables that a pack may read or hand on
    cache: Path | None = None  # a folder that outlives the session; None: keep nothing
    progress: Callable[[str, str], None] = _silent  # tool, text: for people who watch a long call
    clock: Callable[[], float] = time  # seconds since 1970
