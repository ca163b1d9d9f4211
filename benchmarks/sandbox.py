"""The sandbox beside its floors and its peers, in one run.

    python -m benchmarks.sandbox [--quick] [--rounds N] [--only cell,cell] [--no-peers] [--json PATH]

Run it as a module from the repository's root (as a plain script its own name would hide the `sandbox` package).
Round r measures cell after cell, every contender once in each, so that the machine's noise hits all alike; every
contender lives in a process of its own. A number is the best over the rounds of a round's median. No number makes
the run fail: targets are printed as ratios of this very run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from benchmarks.contenders import CONTENDERS, Entry
from benchmarks.sandbox_cells import CELLS, Cell, cells_named
from benchmarks.sandbox_report import Row, summarise, table, verdicts

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
Answer = dict[str, object]


class Runner:
    """The parent's half of one `sandbox_runner` child."""

    def __init__(self, entry: Entry, child: subprocess.Popen[str]) -> None:
        self.entry = entry
        self.child = child
        self.trouble = self.receive().get("error")

    def receive(self) -> Answer:
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        answer: Answer = json.loads(line) if line else {"error": "the runner ended"}
        return answer

    def measure(self, cell: Cell, *, count: int) -> Answer:
        if self.trouble:
            return {"error": self.trouble}
        if cell.kind == "cold":
            return measure_cold(self.entry, count=count)
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(json.dumps({"cell": cell.name, "count": count}) + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            self.trouble = "the runner ended"
        return self.receive()


@contextmanager
def open_runner(entry: Entry, log: Path) -> Iterator[Runner]:
    command = [sys.executable, "-m", "benchmarks.sandbox_runner", entry.name]
    with log.open("a") as errors:
        child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        yield Runner(entry, child)
    finally:
        assert child.stdin is not None
        child.stdin.close()
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def time_to_first_line(source: str) -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", source], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        elapsed = time.perf_counter() - began
    if line.strip() != "2":
        raise RuntimeError(f"the cold start printed {line.strip()[:80]!r}")
    return elapsed


def measure_cold(entry: Entry, *, count: int) -> Answer:
    if entry.cold is None:
        return {"error": "not measured"}
    try:
        samples = sorted(1000 * time_to_first_line(entry.cold) for _ in range(count))
    except RuntimeError as error:
        return {"error": str(error)}
    return {"p50": samples[count // 2], "p99": samples[-1], "samples": count}


def rotated(runners: Sequence[Runner], places: int) -> list[Runner]:
    """Each round starts with another contender, so that none always follows the same one."""
    places %= len(runners)
    return [*runners[places:], *runners[:places]]


def run_rounds(
    runners: Sequence[Runner], cells: Sequence[Cell], *, rounds: int, quick: bool
) -> dict[tuple[str, str], list[Answer]]:
    answers: dict[tuple[str, str], list[Answer]] = {}
    for number in range(rounds):
        for cell in cells:
            print(f"round {number + 1} of {rounds}: {cell.name}", file=sys.stderr, flush=True)
            for runner in rotated(runners, number):
                answer = runner.measure(cell, count=cell.scripts(quick=quick))
                answers.setdefault((runner.entry.name, cell.name), []).append(answer)
    return answers


def choose(*, peers: bool) -> tuple[list[Entry], list[Entry]]:
    """Contenders to run, and those that are not installed."""
    wanted = [entry for entry in CONTENDERS if peers or entry.role != "peer"]
    missing = [entry for entry in wanted if entry.installed_version() is None]
    return [entry for entry in wanted if entry not in missing], missing


def about_this_run(options: argparse.Namespace) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "load_average_at_start": os.getloadavg()[0],
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "rounds": options.rounds,
        "quick": options.quick,
        "statistic": "best over the rounds of a round's median",
        "versions": {e.distribution: e.installed_version() for e in CONTENDERS if e.distribution},
        "isolation": {e.name: e.isolation for e in CONTENDERS},
    }


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sandbox", description=str(__doc__).split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the scripts, one round")
    parser.add_argument("--rounds", type=int, help="rounds (default 5, or 1 with --quick)")
    parser.add_argument("--only", type=cells_named, default=CELLS, metavar="CELL,CELL", help="only these cells")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="other products too")
    parser.add_argument("--json", type=Path, default=RESULTS / "sandbox.json", metavar="PATH")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (1 if options.quick else 5)
    return options


def measure_all(options: argparse.Namespace, log: Path) -> list[Row]:
    entries, missing = choose(peers=options.peers)
    with ExitStack() as stack:
        runners = [stack.enter_context(open_runner(entry, log)) for entry in entries]
        answers = run_rounds(runners, options.only, rounds=options.rounds, quick=options.quick)
    for entry in missing:
        answers |= {(entry.name, cell.name): [{"error": "not installed"}] for cell in options.only}
    return [
        summarise(entry.name, cell, answers[entry.name, cell.name])
        for entry in CONTENDERS
        for cell in options.only
        if (entry.name, cell.name) in answers
    ]


def main() -> None:
    options = parse()
    about = about_this_run(options)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    log = options.json.with_suffix(".log")
    log.write_text("")
    rows = measure_all(options, log)
    judged = verdicts(rows)
    about["load_average_at_end"] = os.getloadavg()[0]
    print(f"Best of {options.rounds} rounds' medians; load average {about['load_average_at_start']:.2f} at the start, ", end="")
    print(f"{about['load_average_at_end']:.2f} at the end (the benchmark itself makes about 1)\n")
    print(table(rows, options.only))
    troubles = sorted({(r.contender, r.note) for r in rows if r.note not in ("", "not measured", "not installed")})
    for contender, note in troubles:
        print(f"\n{contender}: {note} (its errors: {log})")
    print("\nTargets, as ratios of this run:")
    print("\n".join(verdict.line() for verdict in judged))
    saved = {"about": about, "rows": [asdict(row) for row in rows], "targets": [asdict(v) for v in judged]}
    options.json.write_text(json.dumps(saved, indent=1) + "\n")
    print(f"\nSaved: {options.json}")


if __name__ == "__main__":
    main()
