"""`turnscript session list` and `search`: which sessions there are, and where in them a text stands."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from time import time
from typing import Annotated, Any, get_args

import anyio
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.moments import local, moment
from harness.cli.session_options import (
    AsJson,
    Place,
    StoreAddress,
    print_json,
    terminal_width,
    warn_of,
)
from harness.cli.session_turn import aligned
from harness.searching import Hit, hits
from harness.session_ids import short_ids
from harness.store import By, Query, SessionRow, Sums
from harness.store.lines import iso
from harness.visible import visible

EXIT_NOTHING = 1
_UNIQUE_AMONG = 2_000  # newest sessions: no other of them begins like a short id; to compare with all would take seconds
_HITS_MOST = 5  # of one session
_HIT_CHARS = 160
_NAME_CHARS = 16  # of models and branches in a list
_SUMS = ("sessions", "turns", "calls", "not returned", "bytes into scripts", "bytes produced", "bytes shown")
Tool = Annotated[str, typer.Option(help="That called this tool: a name, or a pattern such as 'shell.*'.")]
PathOption = Annotated[str, typer.Option("--path", help="Whose calls name this file, or the end of its path.")]
Model = Annotated[str, typer.Option(help="Of this model.")]
Root = Annotated[str, typer.Option(help="That worked in this folder.")]
Format = Annotated[str, typer.Option("--format", help="Imported from: codex, claude, …; own: not imported.")]
Since = Annotated[str | None, typer.Option(help="Opened then or later: 2026-11-18, 2026-11-18T12:00, or 3h, 2d ago.")]
Until = Annotated[str | None, typer.Option(help="Opened before.")]
Most = Annotated[int, typer.Option(min=1, help="So many, the newest first.")]
Skip = Annotated[int, typer.Option(min=0, help="Leave out so many of the newest.")]
ByOption = Annotated[str | None, typer.Option("--by", help=f"Sums instead of a list: {', '.join(get_args(By))}.")]


@faults_as_one_line
def list_sessions(
    text: Annotated[str, typer.Option(help="In scripts, shown texts, messages and imported items, in any case.")] = "",
    tool: Tool = "",
    path: PathOption = "",
    model: Model = "",
    root: Root = "",
    form: Format = "",
    since: Since = None,
    until: Until = None,
    most: Most = 20,
    skip: Skip = 0,
    by: ByOption = None,
    store: StoreAddress = None,
    as_json: AsJson = False,
) -> None:
    """List sessions, the newest first; everything asked for must hold.

    Examples:

      turnscript session list --since 2d --tool 'shell.*'

      turnscript session list --path src/main.py --text 'not found'

      turnscript session list --by tool --since 30d
    """
    query = _query(text, tool, path, model, root, form, since, until, most, skip)
    place = Place.of(store)
    if by is not None:
        sums = anyio.run(_sums, place, _by(by), replace(query, most=None, skip=0))
        if as_json:
            print_json([asdict(one) for one in sums])
        elif not sums:
            typer.echo(_nothing(replace(query, most=None, skip=0), place), err=True)
        else:
            _print_sums(by, sums)
        return
    rows, short, more = anyio.run(_rows, place, query)
    if as_json:
        print_json([row_json(row) for row in rows])
        return
    if not rows:
        typer.echo(_nothing(query, place), err=True)
        return
    typer.echo("\n".join(_row_lines(rows, short, terminal_width())))
    if more:
        typer.echo(f"there are more; go on with --skip {skip + most}", err=True)


@faults_as_one_line
def search(
    text: Annotated[str, typer.Argument(help="As it stands there, in any case; no pattern.")],
    tool: Tool = "",
    path: PathOption = "",
    model: Model = "",
    root: Root = "",
    form: Format = "",
    since: Since = None,
    until: Until = None,
    most: Most = 20,
    skip: Skip = 0,
    store: StoreAddress = None,
    as_json: AsJson = False,
) -> None:
    """Find a text in sessions: the lines it stands on, with their turns. Exit code 1: it stands nowhere.

    Searched are scripts, the texts that the model was shown, messages, and items of imported sessions. Arguments and results of
    calls are not, as far as nobody showed them; `session list --path` finds the files they name.

    Examples:

      turnscript session search 'connection refused'

      turnscript session search retries --tool 'web.*' --since 2d --json
    """
    if not text:
        raise Fault("an empty text stands everywhere; `turnscript session list` names all sessions")
    query = _query(text, tool, path, model, root, form, since, until, most, skip)
    place = Place.of(store)
    found, short, more = anyio.run(_found, place, query)
    if as_json:
        print_json([{**row_json(row), "hits": [asdict(hit) for hit in its]} for row, its in found])
        return
    if not found:
        typer.echo(_nowhere(query, place), err=True)
        raise typer.Exit(EXIT_NOTHING)
    for row, its in found:
        typer.echo(f"{short[row.session]}  {local(row.opened)}  {visible(row.title)}")
        for hit in its[:_HITS_MOST]:
            typer.echo(f"  {_place(hit)}  {_around(hit.text, text)}")
        if len(its) > _HITS_MOST:
            typer.echo(f"  … {len(its) - _HITS_MOST} more; turnscript session show {short[row.session]}")
    if more:
        typer.echo(f"there are more; go on with --skip {skip + most}", err=True)


def _by(told: str) -> By:
    for one in get_args(By):
        if told == one:
            return one  # type: ignore[no-any-return]
    raise Fault(f"--by {told}: choose {', '.join(get_args(By))}")


def _query(
    text: str, tool: str, path: str, model: str, root: str, form: str, since: str | None, until: str | None, most: int, skip: int
) -> Query:
    now = time()
    return Query(
        text=text, tool=tool, path=path, model=model, root=root, format=form, since=moment("--since", since, now),
        until=moment("--until", until, now), most=most, skip=skip,
    )  # fmt: skip


async def _rows(place: Place, query: Query) -> tuple[Sequence[SessionRow], Mapping[str, str], bool]:
    """Those asked for, the short form of their ids, and whether there are more."""
    most = query.most or 0
    async with place.opened() as store:
        rows = await store.sessions(replace(query, most=most + 1))
        others = await store.sessions(Query(most=_UNIQUE_AMONG)) if rows else []
        warn_of(store)
    return rows[:most], short_ids(row.session for row in (*rows, *others)), len(rows) > most


async def _found(place: Place, query: Query) -> tuple[list[tuple[SessionRow, list[Hit]]], Mapping[str, str], bool]:
    rows, short, more = await _rows(place, query)
    async with place.opened() as store:
        return [(row, await hits(store, row.session, query.text)) for row in rows], short, more


async def _sums(place: Place, by: By, query: Query) -> Sequence[Sums]:
    async with place.opened() as store:
        return await store.sums(by, query)


def _nothing(query: Query, place: Place) -> str:
    if query == Query(most=query.most):
        taken = "`turnscript run` writes one, `turnscript session import` takes others in"
        return f"no session is kept in {place.shown} yet; {taken}"
    return f"no session in {place.shown} fits all of this; leave something out"


def _nowhere(query: Query, place: Place) -> str:
    others = replace(query, text="", most=None) != Query()
    among = f"a session in {place.shown} that fits the rest of this" if others else place.shown
    told = f"{visible(query.text)!r} stands in no script, shown text, message or imported item of {among}"
    return f"{told}; results that were not shown are not searched: try a shorter text{', or fewer options' if others else ''}"


# ------------------------------------------------------------ drawing


def row_json(row: SessionRow) -> dict[str, Any]:
    return {**asdict(row), "opened": iso(row.opened), "last": iso(row.last)}


def _row_lines(rows: Sequence[SessionRow], short: Mapping[str, str], width: int | None) -> list[str]:
    """In columns without lines between them. Ids stay whole; titles are cut where a terminal ends."""
    head = ("session", "opened", "turns", "model", "branch", "format", "title")
    cells = [
        (
            short[row.session], local(row.opened)[:16], f"{row.turns:,}", _named(row.model), _named(row.branch),
            _named(row.format), visible(row.title),
        )
        for row in rows
    ]  # fmt: skip
    used = [place for place in range(len(head)) if any(row[place] for row in cells)]
    drawn = aligned([[row[place] for place in used] for row in (head, *cells)], right=[used.index(2)])
    return drawn if width is None else [line if len(line) <= width else f"{line[: width - 1]}…" for line in drawn]


def _named(text: str) -> str:
    return visible(text if len(text) <= _NAME_CHARS else f"{text[: _NAME_CHARS - 1]}…")


def _print_sums(by: str, sums: Sequence[Sums]) -> None:
    """Names and numbers stay whole: where there is no room for all columns, the last ones are left out."""
    console = Console()
    rows = [(visible(one.group) or "not known", *_sums_cells(one)) for one in sums]
    columns = list(zip((by, *_SUMS), *rows, strict=True))
    widths = [max(map(len, columns[0]))] + [max(len(word) for cell in cells for word in cell.split()) for cells in columns[1:]]
    while len(widths) > 2 and _drawn_width(widths) > console.width:
        widths.pop()
    whole = _drawn_width([max(map(len, cells)) for cells in columns]) <= console.width
    drawn = Table()
    for place, (cells, width) in enumerate(zip(columns, widths, strict=False)):
        drawn.add_column(cells[0], justify="right" if place else "left", overflow="fold", width=None if whole else width)
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row[: len(widths)]))
    console.print(drawn)
    if left := _SUMS[len(widths) - 1 :]:
        typer.echo(f"no room for {', '.join(left)}; --json has all", err=True)


def _drawn_width(widths: Sequence[int]) -> int:
    """With a line and two blanks for each column."""
    return sum(widths) + 3 * len(widths) + 1


def _sums_cells(one: Sums) -> tuple[str, ...]:
    """As `_SUMS` names them."""
    other = ", ".join(f"{count:,} {status}" for status, count in one.statuses.items() if status not in ("returned", "ok"))
    numbers = (one.sessions, one.turns, one.calls, one.result_bytes, one.produced, one.shown)
    sessions, turns, calls, *sizes = (f"{number:,}" for number in numbers)
    return sessions, turns, calls, other, *sizes


def _place(hit: Hit) -> str:
    place = f"{visible(hit.where)}:{hit.line}"
    return f"turn {hit.turn} {place}" if hit.turn else place


def _around(line: str, text: str) -> str:
    """The part of a long line where the text stands."""
    line = line.strip()
    if len(line) <= _HIT_CHARS:
        return visible(line)
    at = max(0, line.casefold().find(text.casefold().partition("\n")[0]) - _HIT_CHARS // 4)
    return ("…" if at else "") + visible(line[at : at + _HIT_CHARS]) + ("…" if at + _HIT_CHARS < len(line) else "")
