"""Many recordings on one stage, a few at a time: each is played, held against itself, or recorded again. What is wrong with one
does not stop the others.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, time
from typing import Final, Literal, TypeAlias

import anyio
from anyio import to_thread

from catalog import BadPack
from harness.entries import Entry
from harness.replay.differences import LENGTHS
from harness.replay.keeping import Mode, cleaning, keep, record_again
from harness.replay.playing import Replayed, Stage, play
from harness.replay.recorded import SUFFIX, RecordedSession, belongs_to_a_test, read_entries, recorded_session, same_texts
from harness.replay.worse import WentWorse, check_not_worse
from harness.scrub_places import places_of
from harness.scrubbing import expanded
from harness.setup import BadConfig, Setup
from harness.store import StoreError
from harness.store.lines import BadLine
from sandbox import Misuse

AT_ONCE: Final = 4  # more do not end sooner: the work is in the workers, and there are few cores
WRONG: Final = (BadLine, StoreError, BadPack, BadConfig, Misuse, OSError)  # what can be wrong with a file, as one line
State: TypeAlias = Literal["ok", "differs", "recorded", "worse", "bad"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One recording. `error` for a bad one, which has not been played, and for one that went worse, which was not written."""

    name: str
    state: State
    seconds: float
    replayed: Replayed | None = None
    error: str = ""


Work: TypeAlias = Callable[[], Awaitable[tuple[Replayed, bool]]]  # the play, and whether it was written


async def judge(works: Sequence[tuple[str, Work]], *, done: Callable[[], None] = lambda: None) -> list[Judged]:
    """In the order that was given. `done` is called after each."""
    judged: dict[int, Judged] = {}
    places = anyio.Semaphore(AT_ONCE)

    async def one(at: int, name: str, work: Work) -> None:
        async with places:
            judged[at] = await _judged(name, work)
        done()

    async with anyio.create_task_group() as tasks:
        for at, (name, work) in enumerate(works):
            tasks.start_soon(one, at, name, work)
    return [judged[at] for at in range(len(works))]


async def _judged(name: str, work: Work) -> Judged:
    began = perf_counter()
    try:
        replayed, written = await work()
    except WentWorse as error:
        return Judged(name=name, state="worse", seconds=perf_counter() - began, error=as_line(error, name))
    except WRONG as error:
        return Judged(name=name, state="bad", seconds=perf_counter() - began, error=as_line(error, name))
    state: State = "recorded" if written else "ok" if replayed.ok else "differs"
    return Judged(name=name, state=state, seconds=perf_counter() - began, replayed=replayed)


def as_line(error: Exception, name: str) -> str:
    """It names the file, once."""
    text = str(error)
    return text if name in text else f"{name}: {text}"


async def play_file(
    path: Path, stage: Stage, *, mode: Mode = "none", live: bool = False, force: bool = False, at: Callable[[], float] = time
) -> tuple[Replayed, bool]:
    """Play the recording in this file. With `new` it is recorded again where a call is not on record, with `all` in any case; not
    when that went worse than on record (WentWorse), unless by `force`.
    """
    entries = await to_thread.run_sync(read_entries, path)
    recorded = recorded_session(entries, name=str(path))
    if live:
        here = _here(entries, stage, recorded)
        replayed = await play(here, stage, live=True)
        return replayed if same_texts(here, recorded) else replayed.without(LENGTHS), False
    again = partial(_again, path, stage=stage, force=force, now=at())
    if mode == "all":
        return await again(_here(entries, stage, recorded), only_new=False), True
    replayed = await play(recorded, stage)
    if mode == "new" and any(one.kind == "call" for one in replayed.differences):
        return await again(_here(entries, stage, recorded), only_new=True), True
    return replayed, False


def _here(entries: Sequence[Entry], stage: Stage, recorded: RecordedSession) -> RecordedSession:
    """With paths of this machine, for tools that run."""
    ground = stage.ground or Setup()
    return recorded_session(expanded(entries, places_of(stage.root, ground.environment)), name=recorded.name)


async def _again(path: Path, recorded: RecordedSession, *, stage: Stage, only_new: bool, force: bool, now: float) -> Replayed:
    replayed, entries = await record_again(recorded, stage, only_new=only_new, now=now)
    if not force:
        check_not_worse(recorded, recorded_session(entries, name=recorded.name))
    await keep(entries, path, stage, clean=cleaning(stage.ground or Setup(), stage.root))
    return replayed


@dataclass(frozen=True, slots=True)
class Found:
    """`of_tests`: so many more belong to tests, which play them."""

    paths: tuple[Path, ...]
    of_tests: int


def recordings_below(paths: Sequence[Path]) -> Found:
    """Files as given, folders walked for recordings but those of tests, each once. BadConfig for what is not there."""
    found: list[Path] = []
    of_tests: set[Path] = set()
    for path in paths:
        if path.is_dir():
            below = sorted(path.rglob(f"*{SUFFIX}"))
            theirs = {one for one in below if belongs_to_a_test(one)}
            of_tests |= theirs
            found += [one for one in below if one not in theirs]
        elif path.exists():
            found.append(path)
        else:
            raise BadConfig(f"{path}: there is no such file or folder; give recordings ({SUFFIX}), or folders that have some")
    of_tests -= set(found)
    if not found and of_tests:
        raise BadConfig(f"{told_of_tests(len(of_tests))}; give one by its path to play it here")
    if not found:
        raise BadConfig(f"no {SUFFIX} below {', '.join(map(str, paths))}; make one: turnscript replay --keep ID -o NAME{SUFFIX}")
    return Found(tuple(dict.fromkeys(found)), len(of_tests))


def told_of_tests(number: int) -> str:
    return "1 recording belongs to a test and is played by pytest" if number == 1 else (
        f"{number} recordings belong to tests and are played by pytest"
    )  # fmt: skip
