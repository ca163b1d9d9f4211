"""`turnscript replay`: recorded sessions, played again and compared; played with other settings; kept as recordings."""

import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated

import anyio
import typer
from anyio import to_thread

from catalog import Pack, load_pack
from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.options import Packs, Profile, Root
from harness.cli.replay_report import progress, report, report_seen
from harness.cli.session_options import AsJson, Place, StoreAddress, counted, print_json
from harness.config import Settings, read_settings
from harness.entries import Opened
from harness.limits import SHOWN
from harness.offers import offer_from, own_packs
from harness.replay.against import Other
from harness.replay.batch import Found, Judged, Work, judge, play_file, recordings_below, told_of_tests
from harness.replay.keeping import MODES, Mode, cleaning, keep
from harness.replay.playing import Replayed, Stage, ceiling, offer_of_facts, play, setup_of
from harness.replay.recorded import SUFFIX, RecordedSession, load_recording, read_recording
from harness.session_facts import all_limits
from harness.session_ids import session_named
from harness.setup_check import check_setup
from harness.store import Store, every_entry
from sandbox import Pool

EXIT_DIFFERS, EXIT_BAD = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is to be played, and how."""

    paths: Sequence[Path]
    sessions: Sequence[str]
    settings: Settings
    packs: Sequence[Pack]
    mode: Mode
    live: bool
    other: Other | None
    with_profile: bool
    more_packs: Sequence[str]  # by name, beside those of the profile
    force: bool


@faults_as_one_line
def replay(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]…", help=f"Recordings (*{SUFFIX}), or folders that have some.", show_default=False),
    ] = None,
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="ID", help="A session of the store: its id, a beginning, or `last`.")
    ] = None,
    store: StoreAddress = None,
    record: Annotated[
        str,
        typer.Option(help="none: only compare. new: run calls that are not on record. all: run everything. once: as none here."),
    ] = "none",
    verify: Annotated[
        bool, typer.Option("--verify", help="Run the tools too, and compare what they give now with what is on record.")
    ] = False,
    against: Annotated[
        bool, typer.Option("--against", help="Play with the settings given here, and show what the model would see differently.")
    ] = False,
    fault: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="The same with calls that do not go well: 'files.read fails twice'.")
    ] = None,
    limit: Annotated[list[str] | None, typer.Option(help="With --against: name=value; `turnscript limits` lists them.")] = None,
    shown: Annotated[str | None, typer.Option(help="With --against: usual, or tight.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="With --against: serve no result twice.")] = False,
    no_overlap_trim: Annotated[
        bool, typer.Option("--no-overlap-trim", help="With --against: show lines again that are in view.")
    ] = False,
    no_build_tail: Annotated[
        bool, typer.Option("--no-build-tail", help="With --against: treat builds and tests as any output.")
    ] = False,
    no_two_pass: Annotated[bool, typer.Option("--no-two-pass", help="With --against: ask for no plan.")] = False,
    profile: Profile = None,
    pack: Packs = None,
    root: Root = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="With --verify and --record: tools that may run without asking, such as 'patch.*'.")
    ] = None,
    keep_session: Annotated[
        str | None, typer.Option("--keep", metavar="ID", help="Make a recording of this session of the store, and play nothing.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help=f"With --keep: NAME{SUFFIX}.", show_default=False)
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="With --keep: replace a file that is there. With --record: also by one that went worse than on record.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what is not as recorded.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play recorded sessions: their scripts run again, calls get the recorded outcomes, no tool runs, and all that comes out is
    compared.

    Exit code 0: all as recorded; 1: something differs; 2: wrong use, or a file that cannot be read. --against and --fault ask a
    question, so they end with 0.

    Examples:

      turnscript replay --keep last -o tests/sessions/fix.session.jsonl

      turnscript replay tests/sessions

      turnscript replay tests/sessions --against --shown tight

      turnscript replay tests/sessions --verify --allow shell.run --root .
    """
    off = {"cache": no_cache, "overlap_trim": no_overlap_trim, "build_tail": no_build_tail, "two_pass": no_two_pass}
    off_names = [name for name, is_off in off.items() if is_off]
    if keep_session is not None:
        _check_keep(output, force=force, more=bool(paths or session or verify or against or fault))
    elif not paths and not session:
        raise Fault("name recordings or folders of them, or a session of the store with --session; --keep makes a recording")
    if record not in MODES:
        raise Fault(f"--record {record}: choose {', '.join(MODES)}")
    if (limit or shown or off_names) and not (against or fault):
        raise Fault("a recording is played with its own settings; give --against to ask what others would show")
    if sum((verify, against or bool(fault), record in ("new", "all"))) > 1:
        raise Fault("--verify, --record and --against are three different questions; ask one at a time")
    if session and record in ("new", "all"):
        raise Fault("--record writes files; make one of the session first: turnscript replay --keep ID -o NAME" + SUFFIX)
    settings = read_settings(
        flags=limit or (), profile=profile, root=root, allow=allow or (), shown=shown, off=off_names, store=store,
        faults=fault or (),
    )  # fmt: skip
    packs = (*own_packs(settings.tools), *(load_pack(name) for name in pack or ()))
    if keep_session is not None and output is not None:
        name, turns = anyio.run(_keep, keep_session, output, settings, packs)
        size = output.stat().st_size
        if as_json:
            print_json({"session": name, "file": str(output), "turns": turns, "bytes": size})
        else:
            typer.echo(f"{output}: session {name}, {counted(turns, 'turn')}, {size:,} bytes", err=True)
        return
    found = recordings_below(paths) if paths else Found((), 0)
    if found.of_tests:
        typer.echo(told_of_tests(found.of_tests), err=True)
    asked = _Asked(
        paths=found.paths, sessions=session or (), settings=settings, packs=packs, mode=record,
        live=verify, other=_other(settings, limit or (), shown, off_names) if against or fault else None,
        with_profile=profile is not None, more_packs=pack or (), force=force,
    )  # fmt: skip
    began = perf_counter()
    judged = anyio.run(_played, asked)
    seconds = perf_counter() - began
    if asked.other is not None:
        report_seen(judged, seconds, as_json=as_json, quiet=quiet)
    else:
        again = _again(profile=profile, packs=pack or (), root=root, allow=allow or ())
        report(judged, seconds, again=again, as_json=as_json, quiet=quiet)
    if any(one.state == "bad" for one in judged):
        raise typer.Exit(EXIT_BAD)
    if asked.other is None and any(one.state in ("differs", "worse") for one in judged):
        raise typer.Exit(EXIT_DIFFERS)


def _check_keep(output: Path | None, *, force: bool, more: bool) -> None:
    if output is None or not output.name.endswith(SUFFIX):
        raise Fault(f"--keep needs a file to write: -o NAME{SUFFIX}")
    if more:
        raise Fault("--keep makes a recording and plays no others; give only -o, --store, --pack and --force with it")
    if output.exists() and not force:
        raise Fault(f"{output} is there already; give --force to replace it")
    if not output.parent.is_dir():
        raise Fault(f"there is no folder {output.parent}; make it first")


def _again(*, profile: str | None, packs: Sequence[str], root: Path | None, allow: Sequence[str]) -> str:
    """What was given and recording again needs too, as it is typed."""
    given = [
        ("--profile", profile),
        *(("--pack", name) for name in packs),
        ("--root", root),
        *(("--allow", one) for one in allow),
    ]
    return "".join(f" {name} {shlex.quote(str(value))}" for name, value in given if value is not None)


def _other(settings: Settings, limits: Sequence[str], shown: str | None, off: Sequence[str]) -> Other:
    """Only what was asked for: what the configuration says otherwise is not the question."""
    every = all_limits(settings.setup)
    names = [flag.partition("=")[0] for flag in limits]
    return Other(
        limits={name: every[name] for name in names}, shown=None if shown is None else SHOWN[shown], off=off,
        faults=settings.setup.faults,
    )  # fmt: skip


async def _played(asked: _Asked) -> list[Judged]:
    async with Pool(workers=2, limits=ceiling(asked.settings.limits)) as pool, _store(asked) as store:
        stage = _stage(asked, pool)
        works: list[tuple[str, Work]] = []
        for path in asked.paths:
            works.append((str(path), partial(_play_file, asked, stage, path)))
        for told in asked.sessions:
            assert store is not None
            name = await session_named(store, told)
            works.append((name, partial(_play_session, asked, stage, store, name)))
        with progress(len(works)) as done:
            return await judge(works, done=done)


@asynccontextmanager
async def _store(asked: _Asked) -> AsyncIterator[Store | None]:
    """Opened only where a session of it is asked for."""
    if not asked.sessions:
        yield None
        return
    async with Place(asked.settings.store, asked.settings.durability, typed=True).opened() as store:
        yield store


def _stage(asked: _Asked, pool: Pool) -> Stage:
    settings = asked.settings
    runs_tools = asked.live or asked.mode in ("new", "all")
    return Stage(
        pool=pool, packs=tuple(asked.packs), root=settings.tools.root.resolve(),
        ground=settings.setup if runs_tools else None,
        offer=offer_from(settings.tools, more_packs=asked.more_packs) if asked.with_profile else None,
    )  # fmt: skip


async def _play_file(asked: _Asked, stage: Stage, path: Path) -> tuple[Replayed, bool]:
    if asked.other is None:
        return await play_file(path, stage, mode=asked.mode, live=asked.live, force=asked.force)
    return await _play_other(asked.other, stage, await to_thread.run_sync(read_recording, path))


async def _play_session(asked: _Asked, stage: Stage, store: Store, name: str) -> tuple[Replayed, bool]:
    recorded = await load_recording(store, name)
    if asked.other is None:
        return await play(recorded, stage, live=asked.live), False
    return await _play_other(asked.other, stage, recorded)


async def _play_other(other: Other, stage: Stage, recorded: RecordedSession) -> tuple[Replayed, bool]:
    setup = other.applied(setup_of(recorded.facts))
    check_setup(setup, stage.offer or offer_of_facts(recorded, stage))
    return await play(recorded, replace(stage, setup=setup)), False


async def _keep(told: str, output: Path, settings: Settings, packs: Sequence[Pack]) -> tuple[str, int]:
    """Which session was kept, and how many of its turns can be played."""
    place = Place(settings.store, settings.durability, typed=True)  # there must be one: nothing is made to look into it
    async with place.opened() as store, Pool(workers=1, limits=ceiling(settings.limits)) as pool:
        name = await session_named(store, told)
        entries = [entry async for entry in every_entry(store, name)]
        root = next((entry.facts.root for entry in entries if isinstance(entry, Opened)), "")
        stage = Stage(pool=pool, packs=tuple(packs))
        recorded = await keep(entries, output, stage, clean=cleaning(settings.setup, Path(root or ".")))
    return name, sum(turn.playable for turn in recorded.turns)
