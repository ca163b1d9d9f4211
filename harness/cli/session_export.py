"""`turnscript session export`: one session as a file that others can read."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import anyio
import anyio.to_thread
import typer

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.session_options import Id, Place, StoreAddress, print_json
from harness.entries import Opened
from harness.rollouts.exporting import export_rollout
from harness.session_ids import session_named
from harness.store.jsonl import JsonlStore, write_single
from harness.store.lines import Kept

FORMS = ("session", "codex", "source")


@faults_as_one_line
def export(
    session: Id,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: standard output.", show_default=False)
    ] = None,
    form: Annotated[
        str,
        typer.Option("--as", help="session: one .session.jsonl that stands alone; codex: a rollout; source: as it was imported."),
    ] = "session",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    store: StoreAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="With -o: print what was written as JSON.")] = False,
) -> None:
    """Write a session as one file: to keep it in a repository, to send it, to open it with tools for Codex rollouts.

    Examples:

      turnscript session export last -o tests/fix.session.jsonl

      turnscript session export 3f2a --as codex | jq .type
    """
    if form not in FORMS:
        raise Fault(f"--as {form}: choose {', '.join(FORMS)}")
    if as_json and output is None:
        raise Fault("--json tells what was written to a file; give one with -o FILE, the session itself is JSON already")
    if output is not None and output.exists() and not force:
        raise Fault(f"{output} is there already; give --force to replace it")
    if output is not None and not output.parent.is_dir():
        raise Fault(f"there is no folder {output.parent}; make it first")
    told = anyio.run(_export, session, output, form, Place.of(store))
    if output is not None:
        size = output.stat().st_size
        if as_json:
            print_json({"session": told, "file": str(output), "as": form, "bytes": size})
        else:
            typer.echo(f"{output}: session {told}, {size:,} bytes", err=True)


async def _export(told: str, output: Path | None, form: str, place: Place) -> str:
    async with place.opened() as store:
        session = await session_named(store, told)
        kept = await store.load(session)
        if output is not None and isinstance(store, JsonlStore):
            _check_elsewhere(output, store.folder)
        await anyio.to_thread.run_sync(_write, session, kept, output, form)
    return session


def _check_elsewhere(output: Path, folder: Path) -> None:
    if output.resolve().is_relative_to(folder.resolve()):
        raise Fault(f"{output} is in the folder of the store; give a file elsewhere, or a session there could be replaced")


def _write(session: str, kept: Sequence[Kept], output: Path | None, form: str) -> None:
    """To a file beside the one that is wanted first: what is there is whole."""
    if form == "session":
        if output is not None:
            write_single(output, kept)
            return
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / "session.jsonl"
            write_single(whole, kept)
            with whole.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
        return
    _check_form(session, kept[0], form)
    lines = export_rollout(one.entry(session) for one in kept)
    if output is None:
        sys.stdout.buffer.writelines(lines)
        sys.stdout.flush()
    else:
        _write_whole(output, lines)


def _check_form(session: str, first: Kept, form: str) -> None:
    entry = first.entry(session)
    if not isinstance(entry, Opened):
        raise Fault(f"session {session} does not begin with the line of type opened; give --as session")
    came_from = entry.facts.format
    if form == "source" and not came_from:
        raise Fault(f"session {session} was not imported; give --as codex, or --as session")
    if form == "codex" and came_from not in ("", "codex"):
        raise Fault(f"session {session} was imported from {came_from}; give --as source, or --as session")


def _write_whole(output: Path, lines: Iterable[bytes]) -> None:
    fd, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(lines)
        Path(name).replace(output)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
