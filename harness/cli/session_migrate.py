"""`turnscript session migrate`: sessions from one store to another, as they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import anyio
import typer
from rich.table import Table
from rich.text import Text

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.session_options import (
    ROWS_MOST,
    AsJson,
    Place,
    counted,
    opened,
    print_json,
    print_table,
    progress_bar,
    shown_address,
    warn_of,
)
from harness.config import Settings, read_settings
from harness.migrating import Moved, compare, migrate
from harness.session_ids import session_named, short_ids
from harness.visible import visible

EXIT_UNSOUND = 1
_STATES = {
    "missing": "to copy",
    "copied": "copied",
    "there": "there already",
    "differs": "differs",
    "broken": "broken",
    "busy": "busy",
}


@faults_as_one_line
def migrate_sessions(
    source: Annotated[
        str, typer.Option("--from", metavar="ADDRESS", help="Where they are: jsonl:FOLDER, sqlite:FILE, postgresql://…")
    ] = "",
    target: Annotated[str, typer.Option("--to", metavar="ADDRESS", help="Where they shall be.")] = "",
    session: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this one; may be given several times.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Copy. Without it, only what would be copied is told.")] = False,
    verify_only: Annotated[
        bool, typer.Option("--verify-only", help="Copy nothing; read all of the target back and compare it.")
    ] = False,
    schema: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Bring the tables of this database to the newest form; copy nothing.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Copy sessions to another store: lines with their digests, and the big values beside them.

    Nothing is removed from the source. A copy that was interrupted goes on where it stopped; a session that is there and differs
    is named and left alone. Afterwards every line and value is read back from the target. Exit code 1: something is not as in the
    source.

    Examples:

      turnscript session migrate --from jsonl:sessions --to sqlite:sessions.db

      turnscript session migrate --from jsonl:sessions --to postgresql://db/turnscript --apply
    """
    if schema:
        anyio.run(_bring_up, schema, read_settings())
        if as_json:
            print_json({"schema": shown_address(schema), "newest": True})
        else:
            typer.echo(f"{shown_address(schema)} has the newest tables")
        return
    if not source or not target:
        raise Fault("give both stores: --from jsonl:sessions --to sqlite:sessions.db")
    if apply and verify_only:
        raise Fault("--apply copies and verifies, --verify-only copies nothing; give one of them")
    if source == target:
        raise Fault(f"--from and --to are both {shown_address(source)}; give two stores")
    moved = anyio.run(_moved, source, target, session or [], apply, verify_only, read_settings())
    if as_json:
        print_json([asdict(one) for one in moved])
    elif not moved:
        typer.echo(f"no session is kept in {shown_address(source)}; nothing to copy", err=True)
    else:
        print_table(_table(sorted(moved, key=lambda one: one.sound)[:ROWS_MOST]))
        typer.echo(_sum(moved))
        if not apply and not verify_only and any(one.state == "missing" for one in moved):
            typer.echo("nothing was copied; type it again with --apply", err=True)
    if not all(one.sound for one in moved) or (verify_only and any(one.state == "missing" for one in moved)):
        raise typer.Exit(EXIT_UNSOUND)


async def _bring_up(address: str, settings: Settings) -> None:
    async with opened(settings, address):  # which does it
        pass


async def _moved(
    source: str, target: str, told: Sequence[str], apply: bool, verify_only: bool, settings: Settings
) -> list[Moved]:
    there = opened(settings, target) if apply else Place(target, settings.durability, typed=verify_only).opened()
    async with Place(source, settings.durability, typed=True).opened() as ours, there as theirs:
        wanted = [await session_named(ours, one) for one in told] or [row.session for row in await ours.sessions()]
        warn_of(ours)
        with progress_bar(len(wanted)) as progress:
            if verify_only:
                return await compare(ours, theirs, wanted, progress=progress)
            return await migrate(ours, theirs, wanted, apply=apply, progress=progress)


def _table(moved: Sequence[Moved]) -> Table:
    short = short_ids(one.session for one in moved)
    drawn = Table("session", "state")
    for name in ("lines", "there before", "bytes"):
        drawn.add_column(name, justify="right")
    drawn.add_column("why")
    for one in moved:
        drawn.add_row(
            Text(short[one.session]),
            _STATES[one.state],
            f"{one.lines:,}",
            f"{one.there:,}",
            f"{one.bytes:,}",
            Text(visible(one.told)),
        )
    return drawn


def _sum(moved: Sequence[Moved]) -> str:
    states = Counter(one.state for one in moved)
    told = ", ".join(f"{count:,} {_STATES[state]}" for state, count in states.items())
    going = [one for one in moved if one.state in ("missing", "copied")]
    lines, size = sum(one.lines - one.there for one in going), sum(one.bytes for one in going)
    return f"{counted(len(moved), 'session')}: {told}; {lines:,} lines and {size:,} bytes of lines and values"
