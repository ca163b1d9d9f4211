"""`turnscript session prune`: old sessions go."""

from collections import Counter
from collections.abc import Sequence
from time import time
from typing import Annotated

import anyio
import typer
from rich.table import Column, Table
from rich.text import Text

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.moments import local, span
from harness.cli.session_list import row_json
from harness.cli.session_options import (
    ROWS_MOST,
    AsJson,
    Place,
    StoreAddress,
    counted,
    print_json,
    print_table,
    warn_of,
)
from harness.pruning import WRITING_SECONDS, Pruned, all_but_newest, older_than, prune
from harness.session_ids import session_named, short_ids
from harness.visible import visible


@faults_as_one_line
def prune_sessions(
    older: Annotated[str | None, typer.Option(metavar="AGE", help="Whose newest line is older: 30d, 12h, 4w.")] = None,
    keep: Annotated[int | None, typer.Option(min=0, help="All but so many, those with the newest lines.")] = None,
    session: Annotated[list[str] | None, typer.Option(metavar="ID", help="This one; may be given several times.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Remove. Without it, only what would go is told.")] = False,
    store: StoreAddress = None,
    as_json: AsJson = False,
) -> None:
    """Remove sessions with their big values. Those that are being written stay, and are named.

    With --older and --keep, a session without an end whose newest line is younger than an hour counts as being written.

    Examples:

      turnscript session prune --older 30d

      turnscript session prune --keep 100 --apply
    """
    if [older is not None, keep is not None, bool(session)].count(True) != 1:
        raise Fault("say which: --older 30d, --keep 100, or --session ID; one of them")
    seconds = None if older is None else span("--older", older)
    place = Place.of(store)
    pruned = anyio.run(_pruned, seconds, keep, session or [], apply, place)
    if as_json:
        print_json([{**row_json(one.row), "fate": one.fate} for one in pruned])
    elif not pruned:
        typer.echo(f"no session in {place.shown} is to go", err=True)
    else:
        print_table(_table(pruned[:ROWS_MOST]))
        typer.echo(_sum(pruned))
        if not apply and any(one.fate == "would go" for one in pruned):
            typer.echo("nothing was removed; type it again with --apply", err=True)


async def _pruned(seconds: float | None, keep: int | None, told: Sequence[str], apply: bool, place: Place) -> list[Pruned]:
    now = time()
    async with place.opened() as store:
        named = [await session_named(store, one) for one in told]
        rows = await store.sessions()
        warn_of(store)
        if named:
            return await prune(store, [row for row in rows if row.session in named], apply=apply)
        chosen = older_than(rows, now - seconds) if seconds is not None else all_but_newest(rows, keep or 0)
        return await prune(store, chosen, apply=apply, spared_since=now - WRITING_SECONDS)


def _sum(pruned: Sequence[Pruned]) -> str:
    fates = Counter(one.fate for one in pruned)
    return f"{counted(len(pruned), 'session')}: {', '.join(f'{count:,} {fate}' for fate, count in fates.items())}"


def _table(pruned: Sequence[Pruned]) -> Table:
    short = short_ids(one.row.session for one in pruned)
    drawn = Table(*(Column(name, no_wrap=True) for name in ("session", "fate", "newest line")), "turns", "title")
    for one in pruned:
        row = one.row
        drawn.add_row(
            Text(short[row.session]),
            one.fate,
            local(row.last),
            f"{row.turns:,}",
            Text(visible(row.title), no_wrap=True, overflow="ellipsis"),
        )
    return drawn
