"""What happens inside a turn as lines for the person who waits for a call, sent as MCP progress.

Nothing waits for it: a client that reads slowly misses lines, and the numbers tell how many there were.
"""

from collections.abc import Callable
from typing import Final

import anyio
from mcp import types
from mcp.server.session import ServerSession

from harness.call import Outcome
from harness.visible import visible
from harness.watching import CallBegan, CallEnded, CallProgressed, Happened

_LINES_WAITING: Final = 256  # that a slow client has not taken yet; more are left out
_LINE_CHARS: Final = 200


def line_of(happened: Happened) -> str | None:
    """None: nothing that a person waits for."""
    match happened:
        case CallBegan():
            return f"{happened.tool} (line {happened.line})"
        case CallProgressed():
            return f"{happened.tool}: {happened.text}"
        case CallEnded():
            return f"{happened.record.tool} {_ended(happened.record.outcome)} in {happened.record.seconds:.2f} s"
        case _:
            return None


def _ended(outcome: Outcome) -> str:
    if outcome.ok:
        kept = ", kept from before," if outcome.source in ("memory", "disk", "shared") else ""
        return f"returned {outcome.size:,} bytes{kept}"
    code = f" ({outcome.problem.code})" if outcome.problem is not None else ""
    return f"{'was ' if outcome.status in ('refused', 'denied', 'cancelled') else ''}{outcome.status.replace('_', ' ')}{code}"


class Progress:
    """Of one call whose client gave a token for it. `clean`: takes secrets out of a line."""

    def __init__(
        self, session: ServerSession, token: types.ProgressToken, request: types.RequestId, clean: Callable[[str], str]
    ) -> None:
        self._session = session
        self._token = token
        self._request = str(request)
        self._clean = clean
        self._count = 0
        self._lines, self._to_send = anyio.create_memory_object_stream[tuple[int, str]](_LINES_WAITING)

    def tell(self, line: str) -> None:
        self._count += 1
        told = visible(" ".join(self._clean(line).split()))
        told = told if len(told) <= _LINE_CHARS else told[: _LINE_CHARS - 1] + "…"
        try:
            self._lines.send_nowait((self._count, told))
        except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return

    def close(self) -> None:
        """What is told is still sent; then `run` ends."""
        self._lines.close()

    async def run(self) -> None:
        with self._to_send:
            async for count, line in self._to_send:
                try:
                    await self._session.send_progress_notification(self._token, count, None, line, self._request)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client is gone
                    return
