"""`turnscript session import`: sessions of other agents, and single files of our own, into a store."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.to_thread
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from harness.cli.fault import EXIT_USE, Fault, faults_as_one_line
from harness.cli.session_options import AsJson, StoreAddress, counted, opened, print_json, print_table
from harness.config import Settings, read_settings
from harness.migrating import Moved, take_in
from harness.replay.batch import as_line
from harness.rollouts import FORMATS
from harness.rollouts.importing import ImportReport, Progress, import_all
from harness.rollouts.records import UNREAD
from harness.store import Store, StoreError, StoreFailed
from harness.store.jsonl import read_single
from harness.store.lines import BadLine
from harness.visible import visible

SINGLE = ".session.jsonl"
_NAMED_MOST = 5


@dataclass(frozen=True, slots=True)
class _Taken:
    """What became of the files: of other agents, of our own, and why some were not taken."""

    report: ImportReport
    own: dict[Path, Moved]
    failed: dict[Path, str]
    passed_over: dict[Path, str]


@faults_as_one_line
def import_sessions(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help=f"Files, also gzipped, and folders to walk; also *{SINGLE}.")
    ],
    form: Annotated[
        str | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; default: told by the content.", show_default=False)
    ] = None,
    store: StoreAddress = None,
    as_json: AsJson = False,
) -> None:
    """Take in sessions of Codex, Claude Code, SWE-agent, mini-SWE-agent and OpenHands, and files that `session export` wrote.

    Every record is kept as it is. Importing again takes in only what is new. Exit code 2: a file could not be taken in.

    Examples:

      turnscript session import ~/.codex/sessions

      turnscript session import run.traj --format swe_agent --store sqlite:sessions.db
    """
    if form is not None and form not in FORMATS:
        raise Fault(f"--format {form}: choose {', '.join(FORMATS)}")
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise Fault(f"there is no {', '.join(missing)}; nothing was imported")
    taken = anyio.run(_taken, paths, form, read_settings(store=store))
    if as_json:
        print_json(_as_json(taken))
    else:
        _print(taken)
    if taken.failed:
        raise typer.Exit(EXIT_USE)


async def _taken(paths: Sequence[Path], form: str | None, settings: Settings) -> _Taken:
    own = await anyio.to_thread.run_sync(_single_files, paths)
    others = [path for path in paths if path not in own]
    async with opened(settings) as store:
        moved, failed = await _take_own(own, store)
        with _progress() as progress:
            report = await import_all(others, store, format=form, progress=progress)
    passed_over = {path: why for path, why in report.passed_over.items() if path not in own}
    return _Taken(report, moved, {**failed, **report.failed}, passed_over)


def _single_files(paths: Sequence[Path]) -> list[Path]:
    found = [inner for path in paths for inner in ([path] if path.is_file() else sorted(path.rglob(f"*{SINGLE}")))]
    return list(dict.fromkeys(path for path in found if path.name.endswith(SINGLE)))


async def _take_own(files: Sequence[Path], store: Store) -> tuple[dict[Path, Moved], dict[Path, str]]:
    moved: dict[Path, Moved] = {}
    failed: dict[Path, str] = {}
    for path in files:
        try:
            one = await take_in(await anyio.to_thread.run_sync(read_single, path), store)
        except StoreFailed:
            raise
        except (BadLine, StoreError, OSError) as error:
            failed[path] = as_line(error, str(path))
            continue
        if one.sound:
            moved[path] = one
        else:
            failed[path] = f"{path}: session {one.session}: {one.told}"
    return moved, failed


@contextmanager
def _progress() -> Iterator[Progress]:
    """Bytes, on stderr, and only on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())  # it is the name of a file
    with ProgressBar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda path, done, total: bar.update(task, description=visible(path.name[:40]), completed=done, total=total)


# ------------------------------------------------------------ telling


def _print(taken: _Taken) -> None:
    if taken.report.imported:
        print_table(_kinds_table(taken.report))
    typer.echo(_sum(taken))
    unknown = Counter[str]()
    for one in taken.report.imported:
        unknown.update({f"{one.format} {kind}": times for kind, times in one.unknown.items() if kind not in UNREAD})
    if unknown:
        named = ", ".join(f"{visible(name)} ({times:,})" for name, times in unknown.items())
        typer.echo(f"kinds that nobody knows, kept as they are: {named}")
    for one in taken.report.imported:
        if one.unread:
            lines = ", ".join(map(str, one.unread[:_NAMED_MOST])) + (", …" if len(one.unread) > _NAMED_MOST else "")
            typer.echo(f"kept as text, no JSON that can be read: {visible(str(one.path))}, line {lines}", err=True)
    for path in list(taken.passed_over)[:_NAMED_MOST]:
        typer.echo(f"passed over: {visible(taken.passed_over[path])}", err=True)
    if len(taken.passed_over) > _NAMED_MOST:
        typer.echo(f"passed over: {len(taken.passed_over) - _NAMED_MOST:,} files more; --json names all", err=True)
    for why in taken.failed.values():
        typer.echo(f"turnscript: {visible(why)}", err=True)


def _kinds_table(report: ImportReport) -> Table:
    kinds: Counter[tuple[str, str]] = Counter()
    new: Counter[tuple[str, str]] = Counter()
    for one in report.imported:
        kinds.update({(one.format, kind): times for kind, times in one.by_kind.items()})
        new.update({(one.format, kind): times for kind, times in one.new.items()})
    drawn = Table("format", "kind")
    for name in ("items", "new"):
        drawn.add_column(name, justify="right")
    for (form, kind), times in sorted(kinds.items()):
        drawn.add_row(form, Text(visible(kind)), f"{times:,}", f"{new[form, kind]:,}")
    return drawn


def _sum(taken: _Taken) -> str:
    grown = [one for one in taken.report.imported if one.grown]
    new = sum(not one.already_there for one in taken.report.imported) - len(grown)
    new += sum(one.state == "copied" for one in taken.own.values())
    there = len(taken.report.imported) + len(taken.own) - new - len(grown)
    items = sum(one.items for one in taken.report.imported)
    size = sum(one.bytes for one in taken.report.imported)
    more = sum(sum(one.new.values()) for one in grown)
    told = f"{counted(new, 'session')} taken in, "
    told += f"{len(grown):,} grown by {counted(more, 'item')}, " if grown else ""
    told += f"{there:,} there already"
    told += f"; {items:,} items, {size:,} bytes" if items else ""
    return told + (f"; {counted(len(taken.failed), 'file')} could not be taken in" if taken.failed else "")


def _as_json(taken: _Taken) -> dict[str, Any]:
    return {
        "imported": [{**asdict(one), "path": str(one.path)} for one in taken.report.imported],
        "sessions": [{"path": str(path), **asdict(one)} for path, one in taken.own.items()],
        "failed": {str(path): why for path, why in taken.failed.items()},
        "passed_over": {str(path): why for path, why in taken.passed_over.items()},
    }
