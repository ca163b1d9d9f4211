"""What a chat looks like, row by row: scripts, calls, requests, what was shown, the context meter. Pure; what cannot be seen
is made visible.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text

from catalog import Tool
from harness.approval import Answer, Request
from harness.chat.messages import Usage
from harness.cli.session_options import counted
from harness.cli.session_turn import shortened
from harness.outcome import TurnOutcome
from harness.turn import CallRecord
from harness.visible import visible
from harness.watching import CallBegan
from sandbox import Exceeded, Finished

SCRIPT_LINES: Final = 40  # of a script; the record has all
SHOWN_LINES: Final = 6  # of what the model is shown
_ARGUMENT_CHARS: Final = 120
_PROGRESS_CHARS: Final = 40
_NO_DEFAULT: Final = object()
_WHY_CHARS: Final = 100
_METER: Final = 20  # blocks
GREEN_ABOVE: Final = 40.0  # per cent of the context that is left
RED_AT: Final = 25.0
RED_HINT: Final = "the context is nearly full: ask for a summary, end with Ctrl-D, and begin a new chat with it"
REMEMBERED: Final = {"": "", "arguments": ", always with these arguments", "tool": ", always for this tool"}


def script_block(script: str) -> RenderableType:
    """Numbered and highlighted; without colour it is the plain text."""
    lines = visible(script).strip("\n").split("\n")
    syntax = Syntax(
        "\n".join(lines[:SCRIPT_LINES]), "javascript", theme="ansi_dark", line_numbers=True, word_wrap=True,
        background_color="default",
    )  # fmt: skip
    if len(lines) <= SCRIPT_LINES:
        return syntax
    return Group(syntax, Text(f"     … {counted(len(lines) - SCRIPT_LINES, 'more line')}", style="dim"))


def running_row(call: CallBegan, written: Any, seconds: float, progress: str = "") -> Text:
    row = _called(call.tool, call.line)
    row.append(f"  {seconds:.1f} s", style="dim")
    if progress:
        row.append(f"  {shortened(progress, _PROGRESS_CHARS)}", style="dim")
    return row.append(f"  {_arguments(written)}")


def ended_row(record: CallRecord, written: Any) -> Text:
    """The arguments come last: where the line is too short, they are cut."""
    outcome = record.outcome
    row = Text(no_wrap=outcome.ok, overflow="ellipsis" if outcome.ok else "fold")
    row.append("  ✓ " if outcome.ok else "  ✗ ", style="green" if outcome.ok else "red").append_text(
        _called(record.tool, record.line)
    )
    row.append(f"  {record.seconds:.3f} s", style="dim")
    if outcome.ok:
        kept = f" from {outcome.source}" if outcome.source in ("memory", "disk", "shared") else ""
        row.append(f"  {counted(outcome.size, 'byte')}{kept}", style="dim")
        return row.append(f"  {_arguments(written)}")
    by = "" if outcome.by == "tool" else f" by {outcome.by}"
    why = "" if outcome.problem is None else f": {shortened(outcome.problem.message, _WHY_CHARS)}"
    return row.append(f"  {outcome.status.replace('_', ' ')}{by}{why}", style="red").append(f"  {_arguments(written)}")


def _called(tool: str, line: int) -> Text:
    return Text(shortened(tool, _ARGUMENT_CHARS), style="bold").append(f"  line {line}" if line else "", style="dim not bold")


def _arguments(written: Any) -> str:
    return shortened(json.dumps(written, ensure_ascii=False, default=str), _ARGUMENT_CHARS)


def as_written(shown: Any, tool: Tool | None) -> Any:
    """Arguments without those that are as the tool has them anyway."""
    if tool is None or not isinstance(shown, Mapping):
        return shown
    known = tool.input_schema.get("properties", {})
    return {name: value for name, value in shown.items() if known.get(name, {}).get("default", _NO_DEFAULT) != value}


def shown_rows(outcome: TurnOutcome) -> list[Text]:
    """The first lines of what the model is shown, then how the turn ended and what it cost."""
    lines = visible(outcome.text).strip("\n").split("\n") if outcome.text.strip() else []
    rows = [Text(f"  │ {line}", style="dim", no_wrap=True, overflow="ellipsis") for line in lines[:SHOWN_LINES]]
    if len(lines) > SHOWN_LINES:
        rows.append(Text(f"  │ … {counted(len(lines) - SHOWN_LINES, 'more line')}", style="dim"))
    return [*rows, _turn_row(outcome)]


def _turn_row(outcome: TurnOutcome) -> Text:
    ledger, made = outcome.ledger, sum(outcome.ledger.calls.values())
    match outcome.ending:
        case Finished():
            how, style = "finished", "dim"
        case Exceeded():
            how, style = f"exceeded {outcome.ending.limit}", "red"
        case _:
            how, style = "failed", "red"
    sizes = f"{ledger.produced:,} bytes produced, {ledger.shown:,} shown"
    return Text(f"  turn {outcome.number} {how}, {ledger.turn_seconds:.3f} s, {counted(made, 'call')}, {sizes}", style=style)


def request_rows(request: Request, place: str) -> list[Text]:
    """All that a person must see to say yes."""
    # As JSON text: a line end in a name would begin what looks like another request.
    writes = ", ".join(json.dumps(key, ensure_ascii=False)[1:-1] for key in request.writes)
    head = f"{place}{request.tool} (line {request.line}{f', writes {writes}' if writes else ''}; {request.why})"
    return [Text(visible(head), style="yellow"), Text(visible(json.dumps(request.shown, indent=2, ensure_ascii=False)))]


def answered_rows(requests: Sequence[Request], answers: Sequence[Answer]) -> list[Text]:
    found = {answer.request: answer for answer in answers}
    return [_answered(request.tool, found.get(request.id)) for request in requests]


def _answered(tool: str, answer: Answer | None) -> Text:
    if answer is None or answer.verdict == "deny":
        return Text(f"  {tool}: denied{'' if answer is not None else ', since nobody answered'}", style="red")
    return Text(f"  {tool}: allowed{REMEMBERED[answer.remember]}", style="green")


def left_percent(usage: Usage, context_tokens: int) -> float:
    return max(0.0, 100.0 * (1 - usage.context / context_tokens))


def meter_row(usage: Usage, context_tokens: int, *, guessed: bool) -> Text:
    """How much of the context is left: green over 40 %, red at 25 % or less."""
    left = left_percent(usage, context_tokens)
    colour = "green" if left > GREEN_ABOVE else "red" if left <= RED_AT else "yellow"
    full = round(_METER * left / 100)
    row = Text("context ", style="dim")
    row.append("█" * full + "░" * (_METER - full), style=colour)
    row.append(f" {left:.0f} % left", style=colour)
    about = "about " if guessed else ""
    row.append(f" ({about}{usage.context:,} of {context_tokens:,} tokens)", style="dim")
    if left <= RED_AT:
        row.append(f"\n{RED_HINT}", style="red")
    return row
