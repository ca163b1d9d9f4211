"""How long until the first script of an agent gives its result, and how long each takes then: one script, 20 parallel calls.

    python -m benchmarks.first_run [--rounds 7] [--steady 50] [--only ours] [--peers DIR] [--json PATH]

Every contender is a new process in each round, with its own Python: ours, or the peer's virtual environment. Rounds are
interleaved and start with another contender each time. The agents' models are scripted and answer at once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.peers import DEFAULT_FOLDER, PEERS, ROOT, Missing, python_of

RESULTS = ROOT / "benchmarks" / "results"
MODULES = "benchmarks.peer_runners"
HOW = {
    "harness": "pydantic-ai agent, Python in Monty",
    "langchain": "LangChain agent, JavaScript in wasm, one process",
    "fastmcp": "no agent, in-memory client, Python in Monty",
}


@dataclass(slots=True)
class Contender:
    name: str
    how: str
    command: list[str]
    process_to_first: list[float] = field(default_factory=list)
    made_to_first: list[float] = field(default_factory=list)
    steady: list[float] = field(default_factory=list)  # the median of each round
    note: str = ""


def contenders(folder: Path, only: str) -> list[Contender]:
    ours = [
        Contender(f"ours, {name}", how, [sys.executable, "-m", f"{MODULES}.first_ours", key])
        for name, how, key in (
            ("bare", "no agent, JavaScript in a process of its own", "bare"),
            ("in pydantic-ai", "pydantic-ai agent, the same", "pydantic_ai"),
            ("in LangChain", "LangChain agent, the same", "langchain"),
        )
    ]
    made = ours + [_of_peer(peer, folder) for peer in PEERS if only != "ours"]
    return [one for one in made if only in one.name or only == "ours"]


def _of_peer(peer: Any, folder: Path) -> Contender:
    try:
        return Contender(peer.name, HOW[peer.key], [str(python_of(peer, folder)), "-m", f"{MODULES}.first_{peer.key}"])
    except Missing as missing:
        return Contender(peer.name, HOW[peer.key], [], note=str(missing))


def run(one: Contender, steady: int, log: Path) -> None:
    with log.open("a") as errors:
        began = time.perf_counter()
        child = subprocess.Popen(
            one.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )  # fmt: skip
        assert child.stdin is not None and child.stdout is not None
        first = child.stdout.readline()
        took = time.perf_counter() - began
        after = "" if not first else _asked(child, f"{steady}\n")
        child.stdin.close()
        child.wait()
    if not first or not after:
        one.note = f"it ended without a result; see {log.name}"
        return
    one.process_to_first.append(took)
    one.made_to_first.append(json.loads(first)["made_to_first"])
    one.steady.append(median(json.loads(after)["seconds"]))


def _asked(child: subprocess.Popen[str], line: str) -> str:
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(line)
    child.stdin.flush()
    return child.stdout.readline()


def measure(made: list[Contender], rounds: int, steady: int, log: Path) -> None:
    for at in range(rounds + 1):  # the first fills the disk's cache, and does not count
        for one in made[at % len(made) :] + made[: at % len(made)]:
            if not one.note:
                run(one, steady, log)
        if at == 0:
            for one in made:
                one.process_to_first, one.made_to_first, one.steady = [], [], []


def show(made: Sequence[Contender]) -> None:
    table = Table(title="milliseconds: median of the rounds (best)")
    for name in ("contender", "how", "process start to first", "agent made to first", "p50 then"):
        table.add_column(name, justify="left" if name in ("contender", "how") else "right")
    for one in made:
        cells = [_cell(times) for times in (one.process_to_first, one.made_to_first, one.steady)]
        table.add_row(one.name, one.how, *([one.note, "", ""] if one.note else cells))
    Console(width=150).print(table)


def _cell(times: list[float]) -> str:
    return f"{1000 * median(times):,.1f} ({1000 * min(times):,.1f})" if times else "–"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_run", description=str(__doc__).split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steady", type=int, default=50, help="scripts after the first, in each round")
    parser.add_argument("--only", default="", metavar="TEXT", help="contenders with this in their name")
    parser.add_argument("--peers", type=Path, default=DEFAULT_FOLDER, metavar="DIR", help="their environments")
    parser.add_argument("--json", type=Path, default=RESULTS / "first_run.json", metavar="PATH")
    options = parser.parse_args()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    log = options.json.with_suffix(".log")
    log.write_text("")
    made = contenders(options.peers, options.only)
    load = os.getloadavg()[0]
    measure(made, options.rounds, options.steady, log)
    show(made)
    about = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "rounds": options.rounds,
        "steady": options.steady,
        "load_before": load,
        "versions": {peer.name: list(peer.requirements) for peer in PEERS},
    }
    fields = ("name", "how", "process_to_first", "made_to_first", "steady", "note")
    rows = [{name: getattr(one, name) for name in fields} for one in made]
    options.json.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n")
    print(f"load before: {load:.1f}\nSaved: {options.json}")


if __name__ == "__main__":
    main()
