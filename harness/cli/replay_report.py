"""What `turnscript replay` prints: a line a session, then what differs, then a sum; or turn by turn what would have been seen."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from harness.cli.session_options import print_json
from harness.ledger import Ledger
from harness.replay.against import TurnSeen, seen, size
from harness.replay.batch import Judged
from harness.replay.playing import TurnPlayed
from harness.replay.recorded import SUFFIX
from harness.visible import visible

_DIFF_LINES = 60
_WORDS = {
    "ok": "as recorded", "differs": "not as recorded", "recorded": "recorded anew", "worse": "not written",
    "bad": "cannot be played",
}  # fmt: skip


@contextmanager
def progress(sessions: int) -> Iterator[Callable[[], None]]:
    """On stderr, only on a terminal, and only for many."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.completed:,.0f} of {task.total:,.0f} sessions"), BarColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal or sessions < 10) as bar:
        task = bar.add_task("", total=sessions)
        yield lambda: bar.advance(task)


def report(judged: Sequence[Judged], seconds: float, *, again: str, as_json: bool, quiet: bool) -> None:
    """`again`: options that were given, and that recording again needs too."""
    if as_json:
        rows = [_as_json(one) for one in judged]
        print_json({"ok": all(one.state in ("ok", "recorded") for one in judged), "sessions": rows, "seconds": round(seconds, 3)})
        return
    _print_lines(judged, again=again, quiet=quiet)
    for one in judged:
        if one.state == "differs" and one.replayed is not None:
            typer.echo(f"\n{visible(one.name)}")
            for difference in one.replayed.differences:
                typer.echo(visible(difference.text))
            if one.name.endswith(SUFFIX):
                typer.echo(f"record again: {_command(one, again)}")
        if one.replayed is None:
            continue
        for denied in one.replayed.unverified:
            text = f"{denied.text}; allow it: --allow '{denied.tool}'"
            typer.echo(f"not verified: {visible(one.name)}: {visible(text)}", err=True)
        for text in one.replayed.remarks:
            typer.echo(f"remark: {visible(one.name)}: {visible(text)}", err=True)
    if not quiet:
        typer.echo(("\n" if any(one.state == "differs" for one in judged) else "") + _sum(judged, seconds))


def report_seen(judged: Sequence[Judged], seconds: float, *, as_json: bool, quiet: bool) -> None:
    told = [(one, seen(one.replayed)) for one in judged if one.replayed is not None]
    if as_json:
        rows: list[dict[str, Any]] = [
            {"name": one.name, "turns": [asdict(turn) | {"diff": "\n".join(turn.diff)} for turn in turns]} for one, turns in told
        ]
        rows += [{"name": one.name, "error": one.error} for one in judged if one.state == "bad"]
        print_json({"sessions": rows, "before": _before(told), "after": _after(told), "seconds": round(seconds, 3)})
        return
    for one in judged:
        if one.state == "bad":
            typer.echo(f"turnscript: {visible(one.error)}", err=True)
    for one, turns in told:
        changed = [turn for turn in turns if turn.diff]
        if quiet and not changed:
            continue
        typer.echo(f"{visible(one.name)}: {_bytes(_before([(one, turns)]), _after([(one, turns)]))}")
        for turn in changed:
            typer.echo(f"  turn {turn.turn}: {_bytes(turn.before, turn.after)}")
            _print_indented([*turn.diff[:_DIFF_LINES], *_more(turn)])
            for text in turn.other_way:
                _print_indented(text.split("\n"))
    turns = [turn for _, listed in told for turn in listed]
    other = sum(bool(turn.diff) for turn in turns)
    typer.echo(f"{other} of {_counted(len(turns), 'turn')} would be seen differently: {_bytes(_before(told), _after(told))}")


def _command(one: Judged, again: str) -> str:
    return f"turnscript replay {visible(shlex.quote(one.name))} --record all{visible(again)}"


def _print_lines(judged: Sequence[Judged], *, again: str, quiet: bool) -> None:
    width = max((len(one.name) for one in judged if one.replayed is not None), default=0)
    for one in judged:
        if one.state == "bad":
            typer.echo(f"turnscript: {visible(one.error)}", err=True)
        elif one.state == "worse":
            typer.echo(f"turnscript: {visible(one.error)}; if that is meant: {_command(one, again)} --force", err=True)
        elif not quiet or one.state != "ok":
            typer.echo(f"{one.state:<8} {visible(one.name):<{width}}  {_facts(one)}")
        if one.state == "recorded" and one.replayed is not None:
            _print_indented([_change(turn) for turn in one.replayed.turns if turn.outcome is not None])


def _change(turn: TurnPlayed) -> str:
    """What a turn that was recorded again has now, and what it had."""
    assert turn.outcome is not None and turn.recorded.ended is not None
    ended, now = turn.recorded.ended, turn.outcome
    before, after = _turn_facts(ended.ledger, ended.text), _turn_facts(now.ledger, now.text)
    change = f"before {before}" if before != after else "as before" if ended.text == now.text else "other text than before"
    return f"turn {now.number}: {after}; {change}"


def _turn_facts(ledger: Ledger, text: str) -> str:
    return f"{_counted(sum(ledger.calls.values()), 'call')}, {_counted(size(text), 'byte')} shown"


def _facts(one: Judged) -> str:
    assert one.replayed is not None
    skipped = len(one.replayed.turns) - one.replayed.played
    cut = f", {_counted(skipped, 'turn')} cut short when recorded" if skipped else ""
    return f"{_counted(one.replayed.played, 'turn')}, {_counted(one.replayed.calls, 'call')}, {one.seconds * 1000:.0f} ms{cut}"


def _sum(judged: Sequence[Judged], seconds: float) -> str:
    states = [one.state for one in judged]
    told = ", ".join(f"{states.count(state)} {_WORDS[state]}" for state in _WORDS if state in states)
    plays = [one.replayed for one in judged if one.replayed is not None]
    turns, calls = sum(one.played for one in plays), sum(one.calls for one in plays)
    speed = f"{len(plays) / seconds:.0f} sessions a second" if seconds else "at once"
    what = f"{_counted(turns, 'turn')}, {_counted(calls, 'call')} in {seconds:.2f} s, {speed}"
    return f"{_counted(len(judged), 'session')}: {told}; {what}"


def _as_json(one: Judged) -> dict[str, Any]:
    told: dict[str, Any] = {"name": one.name, "state": one.state, "milliseconds": round(one.seconds * 1000, 1)}
    if one.replayed is None:
        return told | {"error": one.error}
    return told | {
        "session": one.replayed.session.session,
        "turns": one.replayed.played,
        "calls": one.replayed.calls,
        "differences": [asdict(difference) for difference in one.replayed.differences],
        "not_verified": [denied.text for denied in one.replayed.unverified],
        "remarks": list(one.replayed.remarks),
    }


def _print_indented(rows: Sequence[str]) -> None:
    for row in rows:
        typer.echo(f"    {visible(row)}".rstrip())


def _more(turn: TurnSeen) -> list[str]:
    return [f"… {len(turn.diff) - _DIFF_LINES} more lines"] if len(turn.diff) > _DIFF_LINES else []


def _before(told: Sequence[tuple[Judged, Sequence[TurnSeen]]]) -> int:
    return sum(turn.before for _, turns in told for turn in turns)


def _after(told: Sequence[tuple[Judged, Sequence[TurnSeen]]]) -> int:
    return sum(turn.after for _, turns in told for turn in turns)


def _bytes(before: int, after: int) -> str:
    change = f" ({100 * (after - before) / before:+.0f} %)" if before and after != before else ""
    return f"{before:,} bytes as recorded, {after:,} now{change}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
