"""Whole values behind the handles of one session; beside them those of an open toolbox that several sessions may share."""

from typing import Any

from catalog import MemoryResults, Results, ToolProblem


class SessionResults(MemoryResults):
    def __init__(self, *, most_bytes: int, beside: Results | None = None) -> None:
        super().__init__(most_bytes=most_bytes)
        self._beside = beside

    def get(self, handle: str) -> Any:
        try:
            return super().get(handle)
        except ToolProblem:
            if self._beside is None:
                raise
            return self._beside.get(handle)
