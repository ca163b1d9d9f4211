"""Many scripts through one pool: does memory stay flat, is every descriptor and every process given back?

    python -m benchmarks.soak [--scripts 50000] [--reuse] [--tasks 4] [--json PATH]

Run it as a module from the repository's root. Between batches of 1,000 scripts nothing is in flight, and a sample
is taken. Exit status 1 when a series grows by more than 10 %, when descriptors leak, when a script ends other than
it should, or when a process is left after the pool has closed.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.processes import Process, descendants, open_descriptors, read_process
from benchmarks.soak_scripts import run_numbered
from sandbox import Pool

RESULTS = Path(__file__).resolve().parent / "results"
GROWTH_MAX = 0.10
SPARE_DESCRIPTORS = 4  # a spare worker in the making holds two or three
SETTLE_SECONDS = 5.0
UNEXPECTED_MAX = 100  # past this the rest of the run says nothing more
MB = 1_000_000
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Sample:
    scripts: int
    scripts_per_second: float
    parent_mb: float
    zygote_mb: float
    worker_mb: float  # the median worker
    workers: int
    zombies: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class Finding:
    passed: bool
    says: str


@dataclass(slots=True)
class Trial:
    """What one run gathered."""

    samples: list[Sample] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    own_children: set[int] = field(default_factory=set)


def adopt_orphans() -> None:
    """Processes whose parent dies come to us instead of to init, so that none can hide."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


async def settled_descendants() -> list[Process]:
    """Waits for workers that were just given back to be reaped; what is a zombie after that stays in the sample."""
    deadline = time.monotonic() + SETTLE_SECONDS
    below = descendants(os.getpid())
    while any(process.state == "Z" for process in below) and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
        below = descendants(os.getpid())
    return below


def take_sample(below: Sequence[Process], *, scripts: int, scripts_per_second: float) -> Sample:
    """The oldest process below us is the zygote: every worker is forked from it."""
    zygote, *workers = [process for process in below if process.state != "Z"]
    parent = read_process(os.getpid())
    assert parent is not None
    return Sample(
        scripts=scripts,
        scripts_per_second=round(scripts_per_second, 1),
        parent_mb=parent.rss_bytes / MB,
        zygote_mb=zygote.rss_bytes / MB,
        worker_mb=statistics.median(worker.rss_bytes for worker in workers) / MB if workers else 0.0,
        workers=len(workers),
        zombies=sum(process.state == "Z" for process in below),
        descriptors=open_descriptors(),
    )


async def run_batch(pool: Pool, numbers: range, *, tasks: int, unexpected: list[str]) -> None:
    todo = iter(numbers)

    async def work(lane: int) -> None:
        for number in todo:
            trouble = await run_numbered(pool, number, session=f"soak-{lane}")
            if trouble:
                unexpected.append(trouble)

    await asyncio.gather(*(work(lane) for lane in range(tasks)))


def show_progress(sample: Sample, *, total: int) -> None:
    eta_seconds = (total - sample.scripts) / sample.scripts_per_second
    print(
        f"\r{sample.scripts:>9,} of {total:,}  {sample.scripts_per_second:>8,.0f}/s  {eta_seconds:>5,.0f} s left",
        end="",
        file=sys.stderr,
        flush=True,
    )


async def soak(options: argparse.Namespace, trial: Trial) -> None:
    async with Pool(workers=options.workers, reuse=options.reuse) as pool:
        for first in range(0, options.scripts, options.every):
            numbers = range(first, min(first + options.every, options.scripts))
            began = time.perf_counter()
            await run_batch(pool, numbers, tasks=options.tasks, unexpected=trial.unexpected)
            rate = len(numbers) / (time.perf_counter() - began)
            below = await settled_descendants()
            trial.own_children |= {process.pid for process in below if process.parent == os.getpid()}
            sample = take_sample(below, scripts=numbers.stop, scripts_per_second=rate)
            trial.samples.append(sample)
            show_progress(sample, total=options.scripts)
            if len(trial.unexpected) > UNEXPECTED_MAX:
                break
    print(file=sys.stderr)


def tenths(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """The first tenth after a tenth of warm-up, and the last tenth."""
    tenth = max(1, len(samples) // 10)
    return samples[tenth : 2 * tenth] or samples[:1], samples[-tenth:]


def growth(name: str, samples: Sequence[Sample], read: Callable[[Sample], float]) -> Finding:
    before, after = (statistics.median(map(read, part)) for part in tenths(samples))
    change = after / before - 1 if before else 0.0
    return Finding(change <= GROWTH_MAX, f"{name}: {before:.1f} MB, then {after:.1f} MB ({change:+.1%}, allowed +10 %)")


def descriptors_kept(samples: Sequence[Sample]) -> Finding:
    before, after = (statistics.median(s.descriptors for s in part) for part in tenths(samples))
    return Finding(after <= before + SPARE_DESCRIPTORS, f"open descriptors: {before:.0f}, then {after:.0f}")


def outcomes(unexpected: Sequence[str], scripts: int) -> Finding:
    first = f"; the first: {unexpected[0]}" if unexpected else ""
    return Finding(not unexpected, f"{len(unexpected):,} of {scripts:,} scripts ended other than they should{first}")


def leftovers(own_children: set[int]) -> list[Process]:
    """Reaps what came to us from a dead zygote, as init would have; what the pool itself left is returned."""
    left = descendants(os.getpid())
    for process in left:
        if process.state == "Z" and process.pid not in own_children:
            os.waitpid(process.pid, os.WNOHANG)
    return [process for process in left if process.state != "Z" or process.pid in own_children]


def processes_left(own_children: set[int]) -> Finding:
    deadline = time.monotonic() + SETTLE_SECONDS
    while (left := leftovers(own_children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    zombies = sum(process.state == "Z" for process in left)
    return Finding(not left, f"after the pool closed: {len(left) - zombies} orphans, {zombies} zombies")


def descriptors_returned(before: int) -> Finding:
    after = open_descriptors()
    return Finding(after <= before, f"descriptors before the pool opened {before}, after it closed {after}")


def table(samples: Sequence[Sample]) -> str:
    rows = samples[:: max(1, len(samples) // 25)]
    lines = ["  scripts        /s  parent MB  zygote MB  worker MB  workers  zombies  descriptors"]
    for s in rows if rows[-1] is samples[-1] else [*rows, samples[-1]]:
        lines.append(
            f"{s.scripts:>9,} {s.scripts_per_second:>9,.0f} {s.parent_mb:>10.1f} {s.zygote_mb:>10.1f} "
            f"{s.worker_mb:>10.1f} {s.workers:>8} {s.zombies:>8} {s.descriptors:>12}"
        )
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=str(__doc__).split("\n")[0])
    parser.add_argument("--scripts", type=int, default=50_000)
    parser.add_argument("--every", type=int, default=1_000, help="scripts between two samples")
    parser.add_argument("--reuse", action="store_true", help="a worker serves many scripts of one session")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=4, help="scripts in flight")
    parser.add_argument("--json", type=Path, metavar="PATH", help="default: results/soak-fresh.json or soak-reuse.json")
    options = parser.parse_args(arguments)
    options.json = options.json or RESULTS / f"soak-{'reuse' if options.reuse else 'fresh'}.json"
    return options


def run(options: argparse.Namespace, trial: Trial) -> list[Finding]:
    adopt_orphans()
    descriptors_before = open_descriptors()
    asyncio.run(soak(options, trial))
    return [
        outcomes(trial.unexpected, options.scripts),
        growth("parent", trial.samples, lambda sample: sample.parent_mb),
        growth("zygote", trial.samples, lambda sample: sample.zygote_mb),
        growth("a worker", trial.samples, lambda sample: sample.worker_mb),
        descriptors_kept(trial.samples),
        descriptors_returned(descriptors_before),
        processes_left(trial.own_children),
    ]


def main() -> int:
    options = parse()
    trial = Trial()
    findings = run(options, trial)
    print(table(trial.samples))
    for finding in findings:
        print(f"{'passed' if finding.passed else 'FAILED'}  {finding.says}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    saved = {
        "scripts": options.scripts,
        "reuse": options.reuse,
        "findings": [asdict(finding) for finding in findings],
        "samples": [asdict(sample) for sample in trial.samples],
        "unexpected": trial.unexpected[:20],
    }
    options.json.write_text(json.dumps(saved, indent=1) + "\n")
    print(f"Saved: {options.json}")
    return 0 if all(finding.passed for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
