"""The one block of a terminal that is drawn again and again: what runs now, below everything else. Where there is no terminal it
does not exist.
"""

from collections.abc import Callable
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

ROWS_MOST: Final = 8  # of what runs
_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_A_SECOND: Final = 8  # times drawn


class Block:
    """`rows` is asked at every drawing, from a thread of its own: it gives a list that nobody changes."""

    def __init__(self, console: Console, rows: Callable[[], list[Text]]) -> None:
        self._console = console
        self._rows = rows
        self._live: Live | None = None

    def show(self) -> None:
        if self._live is None and self._console.is_terminal:
            self._live = Live(
                get_renderable=self._drawn, console=self._console, refresh_per_second=_A_SECOND, transient=True,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._live.start()

    def hide(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _drawn(self) -> RenderableType:
        rows = self._rows()
        spin = _FRAMES[int(self._console.get_time() * _A_SECOND) % len(_FRAMES)]
        drawn = [Text.assemble(f"  {spin} ", row, no_wrap=True, overflow="ellipsis") for row in rows[:ROWS_MOST]]
        if len(rows) > ROWS_MOST:
            drawn.append(Text(f"    … {len(rows) - ROWS_MOST:,} more", style="dim"))
        return Group(*drawn)
