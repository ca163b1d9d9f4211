"""`turnscript session show`: one session, turn by turn: script, calls, what the model was shown, what it cost."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import anyio
import anyio.to_thread
import typer
from pydantic import TypeAdapter

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.moments import local
from harness.cli.session_list import row_json
from harness.cli.session_options import AsJson, Id, Place, StoreAddress, counted, print_json
from harness.cli.session_turn import aligned, item_lines, message_lines, shortened, turn_lines
from harness.entries import Closed, Entry, Facts, Forgot, Item, Message, Opened, Reopened
from harness.session_ids import session_named
from harness.store import SessionRow
from harness.store.lines import Kept
from harness.store.scanning import row_of
from harness.visible import visible

_TOOLS_CHARS = 400


@faults_as_one_line
def show(
    session: Id,
    turn: Annotated[int | None, typer.Option(min=1, help="This turn alone.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print the lines as they are kept.")] = False,
    store: StoreAddress = None,
    as_json: AsJson = False,
) -> None:
    """Print what happened in a session: facts, then turn by turn the script, its calls, what the model was shown, and the ledger.

    Examples:

      turnscript session show last

      turnscript session show 3f2a --turn 2

      turnscript session show last --raw | jq 'select(.type == "settled") | .payload.tool'
    """
    anyio.run(_show, session, turn, raw, as_json, Place.of(store))


async def _show(told: str, turn: int | None, raw: bool, as_json: bool, place: Place) -> None:
    async with place.opened() as store:
        session = await session_named(store, told)
        kept = await store.load(session)
        chosen = [one for one in kept if turn is None or one.line.turn == turn]
        if not chosen:
            raise Fault(f"session {session} has no turn {turn}; its last one is {max(one.line.turn for one in kept)}")
        if raw:
            for one in chosen:
                sys.stdout.buffer.write(one.line.to_bytes() + b"\n")
            sys.stdout.flush()
            return
        row, entries = await anyio.to_thread.run_sync(_read, kept, chosen, session)
    if as_json:
        print_json({**row_json(row), "entries": TypeAdapter(list[Entry]).dump_python(entries, mode="json")})
        return
    rows = [] if turn is not None else [*_facts(row, entries), ""]
    typer.echo("\n".join([*rows, *_told(entries)]).rstrip("\n"))


def _read(kept: Sequence[Kept], chosen: Sequence[Kept], session: str) -> tuple[SessionRow, list[Entry]]:
    """In a thread: big values are fetched."""
    return row_of(kept, session), [one.entry(session) for one in chosen]


def _facts(row: SessionRow, entries: Sequence[Entry]) -> list[str]:
    facts = next((entry.facts for entry in entries if isinstance(entry, Opened)), Facts())
    git = (
        ""
        if facts.git is None
        else " ".join(part for part in (facts.git.branch, facts.git.commit[:12], facts.git.remote) if part)
    )
    told = {
        "title": row.title,
        "opened": local(row.opened),
        "last line": local(row.last) + (", closed" if row.closed else ", not closed"),
        "root": facts.root,
        "git": git,
        "model": facts.model,
        "imported": f"from {facts.format}" if facts.format else "",
        "mode": "" if facts.mode == "enabled" else facts.mode.replace("_", "-"),
        "tools": shortened(", ".join(facts.tools), _TOOLS_CHARS),
        "labels": ", ".join(f"{name}={value}" for name, value in facts.labels.items()),
        "record": f"{counted(row.lines, 'line')}, {counted(row.turns, 'turn')}, head {row.digest}",
    }
    return [f"session {visible(row.session)}", *aligned([("  " + name, visible(text)) for name, text in told.items() if text])]


def _told(entries: Sequence[Entry]) -> Iterator[str]:
    """A turn stands where it began, whole, also when it went on in another process."""
    turns: dict[int, list[Entry]] = {}
    for entry in entries:
        number = getattr(entry, "turn", 0)
        if number:
            turns.setdefault(number, []).append(entry)
    for entry in entries:
        number = getattr(entry, "turn", 0)
        lines = _between(entry) if not number else turn_lines(number, turns.pop(number)) if number in turns else []
        if lines:
            yield from [*lines, ""]


def _between(entry: Entry) -> list[str]:
    match entry:
        case Message():
            return message_lines(entry)
        case Reopened():
            found = "" if entry.interrupted is None else f"; turn {entry.interrupted} was found without an end"
            return [f"── reopened, {local(entry.at)}{found}"]
        case Forgot():
            mended = f"; {len(entry.mended)} items that stayed got their lines back" if entry.mended else ""
            return [f"── turns {', '.join(map(str, entry.turns))} left the model's view{mended}"]
        case Item():
            return item_lines(entry)
        case Closed():
            return [f"── closed, {local(entry.at)}"]
        case _:
            return []
