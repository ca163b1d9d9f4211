"""Every script under `hostile/` runs in one real pool: each ends as its header says, and the host never notices.

A script says in its first lines what it attacks, how it must end, and which tools it is offered:

    // what: one sentence
    // expect: exceeded engine_seconds | failed RangeError
    // calls: bench.echo, bench.fail

An ending is `finished`, `finished <JSON>`, `failed`, `failed <error name>` or `exceeded <limit>`; any one of several
will do. `bench.echo` gives back its first argument, so does every other call; `bench.fail` is rejected.
After each script a canary runs in the same pool, and after each class the host's memory is looked at.
"""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from sandbox import Called, Ending, Exceeded, Failed, Finished, Limits, Pool, Problem, Reject, Resolve, Start

HOSTILE = Path(__file__).parent / "hostile"
STATM = Path("/proc/self/statm")
CLASSES = ("crashers", "errors", "escape", "floods", "loops", "memory", "ordinary", "stack", "tampering")
LIMITS = Limits(engine_seconds=0.4, heap_bytes=48 * 1024 * 1024)
UNHURRIED = replace(LIMITS, engine_seconds=4.0)  # for scripts that must run into memory first, on a busy machine too
WALL_SECONDS = 2.0  # engine_seconds, 0.5 s until the kill, and slack for a loaded machine
FIELDS = ("// what: ", "// expect: ", "// calls: ")
HOST_GROWTH_BYTES = 32 * 1024 * 1024
CONTEXT = {"who": "corpus", "deep": {"n": 1}}
NOT_FOUND = Problem(code="not_found", message="no such thing", hint="ask for another")


@dataclass(frozen=True, slots=True)
class Script:
    path: Path
    what: str
    source: str
    endings: tuple[str, ...]
    tools: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"


def load(path: Path) -> Script:
    source = path.read_bytes().decode()  # as it is: a lone carriage return is part of an attack
    header = dict(line[3:].split(": ", 1) for line in source.split("\n")[:3] if line.startswith(FIELDS))
    tools = header["calls"].split(", ") if "calls" in header else ()
    return Script(path, header["what"], source, tuple(header["expect"].split(" | ")), tuple(tools))


CORPUS = [load(path) for path in sorted(HOSTILE.glob("*/*.js"))]


def says(ending: Ending, expected: str) -> bool:
    """Whether a script ended in this one of the ways its header allows."""
    kind, _, detail = expected.partition(" ")
    match ending:
        case Finished(value=value):
            return kind == "finished" and (not detail or value == json.loads(detail))
        case Failed(error=error):
            return kind == "failed" and detail in ("", error.name)
        case Exceeded(limit=limit):
            return kind == "exceeded" and detail == limit


async def run(pool: Pool, source: str, tools: tuple[str, ...], limits: Limits = LIMITS) -> Ending:
    async with pool.sandbox(session="hostile") as box:
        events = await box.send(Start(source=source, tools=tools, context=CONTEXT, limits=limits, now=1.7e12, seed=1))
        while not isinstance(events[-1], Ending):
            events = await box.send(*(answer(event) for event in events if isinstance(event, Called)))
        return events[-1]


def answer(called: Called) -> Resolve | Reject:
    if called.tool == "bench.fail":
        return Reject(call_id=called.call_id, problem=NOT_FOUND)
    return Resolve(call_id=called.call_id, value=called.args[0] if called.args else None)


def resident_bytes() -> int:
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if STATM.exists() else 0


# As much at once as an honest script may send and get: what the allocator keeps of that is not growth.
LARGE = "const text = 'x'.repeat(1_300_000); await Promise.all([1, 2, 3, 4, 5, 6].map(() => tools.bench.echo(text))); return 1;"


class Host:
    """The process under attack: a pool on an event loop of its own, and what memory it had before the first script."""

    def __init__(self, portal: BlockingPortal, pool: Pool) -> None:
        self.portal = portal
        self.pool = pool
        self.canary()
        self.resident_before = max(self._resident_after_a_large_script() for _ in range(4))
        self.grown_bytes: dict[str, int] = {}  # class of scripts to how much more the host holds after its last one

    def run(self, source: str, tools: tuple[str, ...] = (), limits: Limits = LIMITS) -> Ending:
        return self.portal.call(run, self.pool, source, tools, limits)

    def _resident_after_a_large_script(self) -> int:
        assert isinstance(self.run(LARGE, ("bench.echo",)), Finished)
        return resident_bytes()

    def canary(self) -> None:
        ending = self.run("return (await tools.bench.echo([1, 'two'])).length + 40;", ("bench.echo",))
        assert isinstance(ending, Finished) and ending.value == 42, ending


@contextmanager
def new_host() -> Iterator[Host]:
    with start_blocking_portal(backend="asyncio") as portal, portal.wrap_async_context_manager(Pool(workers=2)) as pool:
        yield Host(portal, pool)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with new_host() as host:
        yield host


@pytest.mark.parametrize("script", CORPUS, ids=str)
def test_script_ends_as_its_header_says_and_leaves_the_host_alone(host: Host, script: Script) -> None:
    began = monotonic()
    limits = UNHURRIED if script.endings == ("exceeded heap_bytes",) else LIMITS
    ending = host.run(script.source, script.tools, limits)
    seconds = monotonic() - began

    assert any(says(ending, expected) for expected in script.endings), f"{script.what}: got {ending!r:.600}"
    assert seconds < WALL_SECONDS + limits.engine_seconds - LIMITS.engine_seconds
    host.canary()
    host.grown_bytes[script.path.parent.name] = resident_bytes() - host.resident_before


@pytest.mark.skipif(not STATM.exists(), reason="no /proc/self/statm here")
@pytest.mark.parametrize("name", CLASSES)
def test_host_has_not_grown_after_the_scripts_of_a_class(host: Host, name: str) -> None:
    if name not in host.grown_bytes:
        pytest.skip("no script of this class ran")
    assert host.grown_bytes[name] <= HOST_GROWTH_BYTES


def test_corpus_is_large_and_has_every_class() -> None:
    assert len(CORPUS) >= 200
    assert sorted({script.path.parent.name for script in CORPUS}) == sorted(CLASSES)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_worker_killed_in_the_middle_of_a_call_fails_only_its_own_script(host: Host) -> None:
    source = "return (await tools.bench.echo('answered')) + ' ' + 1;"

    async def kill_one_of_two() -> tuple[Ending, Ending]:
        start = Start(source=source, tools=("bench.echo",), limits=LIMITS)
        async with host.pool.sandbox(session="neighbour") as neighbour, host.pool.sandbox(session="victim") as victim:
            called_here = await neighbour.send(start)
            called_there = await victim.send(start)
            assert isinstance(called_here[-1], Called) and isinstance(called_there[-1], Called)
            os.kill(victim.pid, signal.SIGKILL)
            lost = await victim.send(answer(called_there[-1]))
            kept = await neighbour.send(answer(called_here[-1]))
            assert isinstance(lost[-1], Ending) and isinstance(kept[-1], Ending)
            return lost[-1], kept[-1]

    lost, kept = host.portal.call(kill_one_of_two)

    assert isinstance(lost, Failed) and lost.error.name == "WorkerLost"
    assert isinstance(kept, Finished) and kept.value == "answered 1"
    host.canary()
