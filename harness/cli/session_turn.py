"""One turn, one message, one imported item as lines of text for people. Pure; what cannot be seen is made visible."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.cli.moments import local
from harness.cli.session_options import counted
from harness.entries import Began, Ended, Ending, Entry, Item, Message, Running, Settled
from harness.ledger import Ledger
from harness.recording import Recording
from harness.rollouts import Reading, readings
from harness.visible import visible

_ARGUMENT_CHARS = 60
_SAID_CHARS = 1_000
_OUTPUT_CHARS = 200
_HEAD = ("call", "line", "tool", "arguments", "status", "by", "source", "bytes", "seconds")
_NUMBERS = ("call", "line", "bytes", "seconds")


def turn_lines(number: int, entries: Sequence[Entry]) -> list[str]:
    """Of the entries of one turn."""
    began = next((entry for entry in entries if isinstance(entry, Began)), None)
    ended = next((entry for entry in reversed(entries) if isinstance(entry, Ended)), None)
    items = [line for entry in entries if isinstance(entry, Item) for line in item_lines(entry)]
    rows = [_heading(number, entries, began, ended), *items]
    if began is not None:
        rows += [f"{place:>4} | {line}" for place, line in enumerate(visible(began.script).rstrip("\n").split("\n"), 1)]
        recording = Recording.of(entries)
        rows += ["", *_calls(recording, ended), *_cut_short(recording, ended)]
    if ended is not None and (ended.text or not _is_cut_short(ended)):
        rows += ["", *_ended(ended)]
    return rows


def message_lines(message: Message) -> list[str]:
    return _said(message.role, message.text)


def item_lines(item: Item) -> list[str]:
    """Nothing for a record that says nothing to anybody."""
    if item.text is not None:
        return _said("unreadable", item.text)
    return [line for told in readings(item) for line in _reading_lines(told)]


def _reading_lines(told: Reading) -> list[str]:
    match told.role:
        case "":
            return []
        case "call":
            return [f"call {_name(told.tool)} {shortened(_as_json(told.arguments), _OUTPUT_CHARS)}"]
        case "output":
            status = f", {told.status}" if told.status else ""
            return [f"output ({told.bytes:,} bytes{status}): {shortened(told.text, _OUTPUT_CHARS)}"]
        case _:
            return _said(told.role, told.text)


def shortened(text: str, most: int) -> str:
    """On one line."""
    line = " ".join(text.split())
    return visible(line if len(line) <= most else f"{line[: most - 1]}…")


def aligned(rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """In columns, two blanks between them."""
    listed = list(rows)
    widths = [max(len(row[place]) for row in listed) for place in range(len(listed[0]))] if listed else []
    return ["  ".join(_justified(row, widths, right)).rstrip() for row in listed]


def _justified(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if place in right else cell.ljust(width)


def _heading(number: int, entries: Sequence[Entry], began: Began | None, ended: Ended | None) -> str:
    parts = [f"turn {number}", local(entries[0].at)]
    if ended is not None:
        parts += [_how(ended.ending), *_seconds(began, ended)]
    elif began is not None:
        parts.append("without an end")
    if began is not None and began.mode != "enabled":
        parts.append(began.mode.replace("_", "-"))
    if began is not None and began.relaxed:
        parts.append(f"relaxed: {shortened(began.relaxed, _ARGUMENT_CHARS)}")
    return f"── {', '.join(parts)}"


def _how(ending: Ending) -> str:
    return f"exceeded {shortened(ending.limit, _ARGUMENT_CHARS)}" if ending.how == "exceeded" and ending.limit else ending.how


def _is_cut_short(ended: Ended) -> bool:
    """Then nothing was counted."""
    return ended.ending.how in ("cancelled", "interrupted")


def _until_cancelled(entry: Began | Running | None, ended: Ended | None) -> float | None:
    """Seconds by the clock on the wall; None where nobody knows: the end of an interrupted turn is written later."""
    if entry is None or ended is None or ended.ending.how != "cancelled":
        return None
    return max(0.0, ended.at - entry.at)


def _seconds(began: Began | None, ended: Ended) -> list[str]:
    if not _is_cut_short(ended):
        return [f"{ended.ledger.turn_seconds:.3f} s"]
    seconds = _until_cancelled(began, ended)
    return [] if seconds is None else [f"{seconds:.3f} s"]


def _calls(recording: Recording, ended: Ended | None) -> list[str]:
    rows = [_call(one) for one in recording.told]
    rows += [_call(one, never_told=True) for one in recording.left]
    rows += [_running(one, ended) for one in recording.unsure]
    if not rows:
        return ["no calls" if ended is not None and not _is_cut_short(ended) else "no calls are on record"]
    return aligned([_HEAD, *rows], right=[_HEAD.index(name) for name in _NUMBERS])


def _call(one: Settled, *, never_told: bool = False) -> tuple[str, ...]:
    outcome = one.outcome
    status = outcome.status.replace("_", " ") + (", not told" if never_told else "")
    why = f": {shortened(outcome.problem.message, _ARGUMENT_CHARS)}" if outcome.problem is not None else ""
    return (
        str(one.call), _line(one), _name(one.tool), shortened(_as_json(one.arguments), _ARGUMENT_CHARS), status + why,
        _name(outcome.by), outcome.source or "-", f"{outcome.size:,}", f"{one.seconds or outcome.seconds:.3f}",
    )  # fmt: skip


def _running(one: Running, ended: Ended | None) -> tuple[str, ...]:
    told = shortened(_as_json(one.arguments), _ARGUMENT_CHARS)
    seconds = _until_cancelled(one, ended)
    spent = "-" if seconds is None else f"{seconds:.3f}"
    return str(one.call), _line(one), _name(one.tool), told, "was running", "-", "-", "-", spent


def _name(text: str) -> str:
    """A word that a file says; it stands on the line where it belongs."""
    return shortened(text, _ARGUMENT_CHARS)


def _line(one: Settled | Running) -> str:
    return str(one.site.line) if one.site.line else "-"


def _ended(ended: Ended) -> list[str]:
    rows = [f"shown to the model, {len(ended.text.encode('utf-8', 'surrogatepass')):,} bytes:"]
    rows += [f"  {line}".rstrip() for line in _seen(ended.text).rstrip("\n").split("\n")]
    rows += [f"notice: {visible(notice)}" for notice in ended.notices]
    return rows if _is_cut_short(ended) else [*rows, f"ledger: {ledger_text(ended.ledger)}"]


def ledger_text(ledger: Ledger) -> str:
    """On one line, without what is nothing."""
    parts = [f"{ledger.produced:,} bytes produced, {ledger.shown:,} shown"]
    parts += [f"{size:,} trimmed ({_name(cause).replace('_', ' ')})" for cause, size in ledger.trimmed.items() if size > 0]
    parts += [f"{count:,} {_name(status).replace('_', ' ')}" for status, count in ledger.calls.items()]
    parts += [f"{ledger.cache_hits:,} from the cache"] if ledger.cache_hits else []
    parts += [f"{times:,} times {_name(name)} redacted" for name, times in ledger.redacted.items()]
    return "; ".join([*parts, f"{ledger.tool_seconds:.3f} of {ledger.turn_seconds:.3f} seconds in tools"])


def _cut_short(recording: Recording, ended: Ended | None) -> list[str]:
    """What is known of a turn that has no outcome."""
    if ended is not None and not _is_cut_short(ended):
        return []
    was_cancelled = ended is not None and ended.ending.how == "cancelled"
    why = "cancelled: the turn was stopped" if was_cancelled else "interrupted: the process ended before the script did"
    told = f"{why}; {counted(len(recording.told), 'call')} had ended"
    if recording.unsure:
        names = ", ".join(f"{_name(one.tool)} (line {_line(one)})" for one in recording.unsure)
        told += f"; nobody knows what became of {names}"
    return ["", f"{told}; reads that were under way are not on record" if was_cancelled else told]


def _said(role: str, text: str) -> list[str]:
    if not text.strip():
        return []
    cut = text if len(text) <= _SAID_CHARS else f"{text[:_SAID_CHARS]}… ({len(text) - _SAID_CHARS:,} characters more)"
    first, *rest = _seen(cut).strip("\n").split("\n")
    return [f"{role}: {first}", *(f"  {line}".rstrip() for line in rest)]


def _seen(text: str) -> str:
    return visible(text.replace("\r\n", "\n"))


def _as_json(arguments: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)
