"""A chat on a screen. Everything is printed once and stays, but for the block of what runs now.

Called from the event loop's thread only. While a person is asked or types, what happens waits until they are done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from catalog import Tool
from harness.chat.loop import Answer, Asks, Heard, Replied
from harness.chat.messages import ReasoningCame, TextCame, Usage, Waits
from harness.cli.chat_block import Block
from harness.cli.chat_rows import (
    RED_AT,
    answered_rows,
    as_written,
    ended_row,
    left_percent,
    meter_row,
    running_row,
    script_block,
    shown_rows,
)
from harness.cli.session_options import counted
from harness.ledger import Ledger
from harness.outcome import TurnOutcome
from harness.visible import visible
from harness.watching import (
    Answered,
    Asked,
    CallBegan,
    CallEnded,
    CallProgressed,
    Happened,
    TurnBegan,
    TurnEnded,
    TurnYielded,
)

_CALL_ROWS: Final = 20  # of one turn; the record has all


@dataclass(frozen=True, slots=True)
class _Running:
    call: CallBegan
    written: Any
    since: float
    progress: str = ""


@dataclass(frozen=True, slots=True)
class _Words:
    """Of the model, which may stand in the middle of a line."""

    text: str
    style: str


class Display:
    """`console`: of the terminal, or of standard error where the answer alone goes to standard output."""

    def __init__(self, console: Console, *, context_tokens: int, clock: Callable[[], float] = monotonic) -> None:
        self._console = console
        self._context_tokens = context_tokens
        self._clock = clock
        self._block = Block(console, self._rows)
        self._running: dict[int, _Running] = {}  # replaced, never changed: the block reads it from another thread
        self._asked_since: float | None = None  # the model, for a reply that has not begun
        self._written: dict[int, Any] = {}  # arguments by call, of this turn
        self.tools: Mapping[str, Tool] = {}  # once the session is open
        self._ended = 0  # calls of this turn
        self._pauses = 0  # who waits for a person
        self._held: list[RenderableType | _Words] = []
        self._mid_line = False
        self._usage: tuple[Usage, bool] | None = None
        self._warned = False
        self.tokens = Usage(read=0, written=0)  # of all replies

    # ------------------------------------------------------------ the model

    def listen(self, heard: Heard) -> None:
        match heard:
            case Asks():
                self._warned = self._warned and heard.step > 1
                self._asked_since = self._clock()
            case TextCame():
                self._word(_Words(heard.text, ""))
            case ReasoningCame():
                self._word(_Words(heard.text, "dim"))
            case Waits():
                self._print(Text(f"waits {heard.seconds:g} s and asks again ({heard.why})", style="yellow"))
            case Replied():
                self._replied(heard)
        self._redraw()

    def _word(self, words: _Words) -> None:
        """As it comes; but a model has no word between a question to a person and the answer."""
        self._asked_since = None
        if self._pauses:
            self._held.append(words)
            return
        self._block.hide()
        self._say(words)

    def _say(self, words: _Words) -> None:
        """The terminal breaks the lines."""
        if words.style:
            self._console.print(Text(visible(words.text), style=words.style), end="", soft_wrap=True)
        else:  # as it is: rich would expand tabs, chunk by chunk
            self._console.file.write(visible(words.text))
            self._console.file.flush()
        self._mid_line = not words.text.endswith("\n")

    def _replied(self, heard: Replied) -> None:
        self._asked_since = None
        self._usage = heard.usage, heard.guessed
        self.tokens = Usage(read=self.tokens.read + heard.usage.read, written=self.tokens.written + heard.usage.written)
        self._finish_line()
        if heard.reply.calls and heard.reply.stop == "length":
            self.note("the reply was as long as one may be, in the middle of a call; raise answer_tokens in [model]", "yellow")
        red = left_percent(heard.usage, self._context_tokens) <= RED_AT
        if red and heard.reply.calls and not self._warned:
            self._warned = True
            self._meter()

    def answered(self, answer: Answer) -> None:
        """The question is over."""
        self._asked_since = None
        self._redraw()
        self._finish_line()
        match answer.how:
            case "stopped":
                self._print(Text("stopped; what was done until then is done and on record", style="yellow"))
            case _ if answer.problem:
                self._print(Text(visible(answer.problem), style="yellow" if answer.how == "answered" else "red"))
        self._meter()

    def _meter(self) -> None:
        if self._usage is not None:
            usage, guessed = self._usage
            self._print(meter_row(usage, self._context_tokens, guessed=guessed))

    # ------------------------------------------------------------ the session

    def watch(self, happened: Happened) -> None:
        match happened:
            case TurnBegan():
                self._written, self._ended, self._running = {}, 0, {}
                self._print(script_block(happened.script))
            case CallBegan():
                written = as_written(happened.shown, self.tools.get(happened.tool))
                self._written[happened.call] = written
                self._running = {**self._running, happened.call: _Running(happened, written, self._clock())}
            case CallProgressed():
                self._progressed(happened)
            case CallEnded():
                self._call_ended(happened)
            case Asked():
                self.pause()
            case Answered():
                self.resume(*answered_rows(happened.requests, happened.answers))
            case TurnYielded():
                self._print(Text("  it still runs; the model was told what there is", style="dim"))
            case TurnEnded():
                self._turn_ended(happened.outcome, happened.turn)
        self._redraw()

    def _progressed(self, happened: CallProgressed) -> None:
        self._running = {
            number: replace(one, progress=happened.text) if one.call.tool == happened.tool else one
            for number, one in self._running.items()
        }

    def _call_ended(self, happened: CallEnded) -> None:
        self._running = {number: one for number, one in self._running.items() if number != happened.call}
        self._ended += 1
        if self._ended <= _CALL_ROWS:
            self._print(ended_row(happened.record, self._written.get(happened.call)))

    def _turn_ended(self, outcome: TurnOutcome | None, turn: int) -> None:
        self._running = {}
        if self._ended > _CALL_ROWS:
            self._print(Text(f"    … {counted(self._ended - _CALL_ROWS, 'more call')}", style="dim"))
        if outcome is None:
            self._print(Text(f"  turn {turn} cancelled", style="yellow"))
            return
        for row in shown_rows(outcome):
            self._print(row)

    # ------------------------------------------------------------ the screen

    def pause(self) -> None:
        """A person has the screen."""
        self._pauses += 1
        self._block.hide()
        self._finish_line()

    def resume(self, *rows: RenderableType) -> None:
        """They are done; these rows come first."""
        self._pauses -= 1
        if not self._pauses:
            held, self._held = [*rows, *self._held], []
            for row in held:
                if isinstance(row, _Words):
                    self._say(row)
                else:
                    self._print(row)
            self._redraw()

    def close(self) -> None:
        self._block.hide()
        self._finish_line()

    def print_ledger(self, ledger: Ledger) -> None:
        drawn = Table("ledger", "", title=None)
        drawn.add_row("tokens", f"{self.tokens.read:,} read, {self.tokens.written:,} written")
        for what, how_much in ledger.rows():
            drawn.add_row(what, how_much)
        self._console.print(drawn)

    def note(self, text: str, style: str = "dim") -> None:
        self._print(Text(visible(text), style=style))

    def _print(self, row: RenderableType) -> None:
        if self._pauses:
            self._held.append(row)
            return
        self._finish_line()
        self._put(row)

    def _put(self, row: RenderableType) -> None:
        """Where there is no width, lines are not broken. rich asks for what a text says of its wrapping once more."""
        no_wrap, overflow = (row.no_wrap, row.overflow) if isinstance(row, Text) else (None, None)
        self._console.print(row, soft_wrap=not self._console.is_terminal, no_wrap=no_wrap, overflow=overflow)

    def _finish_line(self) -> None:
        if self._mid_line:
            self._mid_line = False
            self._console.print()

    def _redraw(self) -> None:
        busy = self._running or self._asked_since is not None
        if busy and not self._pauses and not self._mid_line:
            self._block.show()
        else:
            self._block.hide()

    def _rows(self) -> list[Text]:
        running, asked_since, now = self._running, self._asked_since, self._clock()
        rows = [running_row(one.call, one.written, now - one.since, one.progress) for one in running.values()]
        return rows if asked_since is None else [*rows, Text(f"the model  {now - asked_since:.1f} s", style="dim")]


class PipedDisplay(Display):
    """The answer goes elsewhere, whole: only what the model says between scripts is printed here."""

    def listen(self, heard: Heard) -> None:
        if isinstance(heard, TextCame | ReasoningCame):
            return
        super().listen(heard)
        if isinstance(heard, Replied) and heard.reply.calls and heard.reply.text.strip():
            self.note(heard.reply.text.strip(), style="default")
