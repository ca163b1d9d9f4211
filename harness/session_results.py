"""Whole values behind the handles of one session; beside them those of an open toolbox that several sessions may share."""

from typing import Any

import orjson

from catalog import MemoryResults, Results, ToolProblem

_DIGITS = 16  # of the number in a handle; a longer one is not ours


class SessionResults(MemoryResults):
    def __init__(self, *, most_bytes: int, beside: Results | None = None) -> None:
        super().__init__(most_bytes=most_bytes)
        self._beside = beside
        self._new: list[tuple[str, bytes]] = []  # with the value: it may have made room by the time that it is asked for

    def keep(self, value: Any, *, label: str = "") -> str:
        handle = super().keep(value, label=label)
        self._new.append((handle, self._kept[handle]))
        return handle

    def newly_kept(self) -> list[tuple[str, Any]]:
        """What was kept since this was asked last: it goes on record with the outcomes that name it."""
        new, self._new = self._new, []
        return [(handle, orjson.loads(data)) for handle, data in new]

    def kept_before(self, handle: str, value: Any) -> None:
        """A value of an earlier process, or of a recording, under the handle it had; the next ones count on from there."""
        self.put(handle, value)
        number = handle.removeprefix(self._prefix)
        if number.isascii() and number.isdigit() and len(number) < _DIGITS:
            self._last = max(self._last, int(number))

    def get(self, handle: str) -> Any:
        try:
            return super().get(handle)
        except ToolProblem:
            if self._beside is None:
                raise
            return self._beside.get(handle)
