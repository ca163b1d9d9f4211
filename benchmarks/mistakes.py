"""What a model is told when its script is wrong: ours beside three peers, one corpus, one rubric. Nothing is timed.

    python -m benchmarks.mistakes [--peers DIR] [--no-peers] [--only ours,harness] [--example CLASS/ID …] [--json PATH]

The corpus is tests/mistakes/*.toml, the rubric tests/mistakes/rubric.py. Each peer runs in an environment of its own, made in DIR
at the first run. Points are counted only where they apply; every text is kept in the JSON file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import anyio

from benchmarks.mistakes_report import Row, class_table, effects_line, examples, point_table
from benchmarks.peers import DEFAULT_FOLDER, PEERS, ROOT, Missing, open_runner
from sandbox import Pool
from tests.mistakes.corpus import SYSTEMS, Case, System, cases, mistakes
from tests.mistakes.ours import LIMITS, run_ours
from tests.mistakes.rubric import POINTS, Told, judge, too_many_effects

RESULTS = ROOT / "benchmarks" / "results"
EXAMPLES = ("misspelt_tool/letter_missing", "tool_error_uncaught/refusal", "wrong_computed/text_from_a_name")


def row(system: System, case: Case, told: Told) -> Row:
    return Row(
        system=system, kind=case.kind, id=case.id, source=case.source, text=told.text, survived=told.survived,
        points=judge(case, told), too_many_effects=too_many_effects(case, told),
    )  # fmt: skip


async def measure_ours() -> list[Row]:
    async with Pool(workers=1, limits=LIMITS) as pool:
        return [row("ours", case, (await run_ours(case, pool))[1]) for case in cases("ours")]


def measure_peer(system: System, folder: Path, log: Path) -> list[Row]:
    peer = next(peer for peer in PEERS if peer.key == system)
    rows: list[Row] = []
    with ExitStack() as stack:
        runner = stack.enter_context(open_runner(peer, folder, log))
        for case in cases(system):
            answer = runner.ask(do="run", source=case.source)
            if "error" in answer:  # our own side of the runner: the peer's failures are answers
                raise Missing(f"{peer.name}: {case.name}: {answer['error']}")
            rows.append(row(system, case, Told(answer["text"], answer["survived"], answer["orders"])))
    return rows


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mistakes", description=str(__doc__).split("\n")[0])
    parser.add_argument(
        "--peers", type=Path, default=DEFAULT_FOLDER, metavar="DIR", help=f"their environments ({DEFAULT_FOLDER})"
    )
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument("--only", default=",".join(SYSTEMS), metavar="SYSTEM,…", help=", ".join(SYSTEMS))
    parser.add_argument("--example", nargs="*", default=EXAMPLES, metavar="CLASS/ID", help="quote these side by side")
    parser.add_argument("--json", type=Path, default=RESULTS / "mistakes.json", metavar="PATH")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    wanted = [system for system in SYSTEMS if system in options.only.split(",") and (system == "ours" or not options.no_peers)]
    options.json.parent.mkdir(parents=True, exist_ok=True)
    log = options.json.with_suffix(".log")
    log.write_text("")
    rows: list[Row] = []
    missing: list[str] = []
    for system in wanted:
        try:
            rows += anyio.run(measure_ours) if system == "ours" else measure_peer(system, options.peers, log)
        except Missing as error:
            missing.append(str(error))
    kinds = sorted({kind for kind, _ in mistakes()})
    print(f"{len(mistakes())} mistakes in {len(kinds)} classes; points won of points that apply\n")
    print(class_table(rows, kinds))
    print("\n" + point_table(rows, POINTS))
    print("\n" + effects_line(rows))
    print("".join(f"\nnot measured: {line}" for line in missing))
    print("\n".join(examples(rows, options.example)))
    about = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {"turnscript": version("turnscript")} | {peer.name: list(peer.requirements) for peer in PEERS},
        "missing": missing,
    }
    options.json.write_text(json.dumps({"about": about, "rows": [asdict(one) for one in rows]}, indent=1) + "\n")
    print(f"\nSaved: {options.json}")


if __name__ == "__main__":
    main()
