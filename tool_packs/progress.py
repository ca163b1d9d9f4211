"""Output as it comes, for people who watch a long call: at most ten texts a second, each of bounded size."""

from codecs import getincrementaldecoder
from collections.abc import Callable

import anyio

_EVERY_SECONDS = 0.1
_MOST_BYTES = 8_192  # of one text; of a faster stream, the end is told


class Progress:
    def __init__(self, tool: str, report: Callable[[str, str], None]) -> None:
        self._tool = tool
        self._report = report
        self._waiting = b""
        self._last = -float("inf")
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")

    def add(self, data: bytes) -> None:
        self._waiting = (self._waiting + data)[-_MOST_BYTES:]
        now = anyio.current_time()
        if now - self._last >= _EVERY_SECONDS:
            self._last = now
            self.flush()

    def flush(self) -> None:
        text = self._decoder.decode(self._waiting)
        self._waiting = b""
        if text:
            self._report(self._tool, text)
