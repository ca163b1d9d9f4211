"""Real sessions re-enacted through `harness.seen` and `harness.condense`, beside what others do. Nothing of a session is run.

    python -m benchmarks.condense --data ../shared/data [--agents codex,claude_code] [--quick] [--halves] [--json PATH]

Baseline: bytes of tool-output text, header and body, as the agent persisted it. Beside each reduction stands what it hid: lines
that a later edit names, paths that a later command names; net is after 2 KiB for each such edit and 0.5 KiB for each such path.
Without a reading agent in the loop this is a proxy: an agent under another policy would have asked differently.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.condense_baselines import GRID, KIB, LETTERS, NONE, PLAIN
from benchmarks.condense_loss import needs_of
from benchmarks.condense_ours import Setting, without_caps
from benchmarks.condense_report import ahead, causes, classes, dominated, picture, table, targets
from benchmarks.condense_score import Score, score_ours, score_policy
from benchmarks.peers import ROOT
from benchmarks.sessions_claude import read_claude
from benchmarks.sessions_codex import read_codex
from benchmarks.sessions_others import read_mini, read_openhands, read_swe
from benchmarks.sessions_record import Session
from harness.condense import Flags
from harness.limits import SHOWN, ShownLimits

RESULTS = ROOT / "benchmarks" / "results"
AGENTS = ("codex", "claude_code", "mini_swe_agent", "openhands", "swe_agent")
DEFAULT = Setting(name="ours, default limits")
PLAIN_READS = Setting(name="ours, default limits, files printed by commands as plain output", reads=False)
LOSSLESS = Setting(
    name="ours, references and re-formatting only", limits=without_caps(), flags=Flags(build_tail=False), acknowledges=False
)
TIGHT = Setting(
    name="ours, tight: reads wide, the rest narrow",
    limits=SHOWN["tight"],
)
READS = ((4, 100), (6, 150), (8, 200), (10, 256), (16, 400), (32, 800))


def sessions_of(data: Path, agent: str) -> Iterator[Session]:
    for path in sorted((data / "sessions" / agent).iterdir()):
        match agent:
            case "codex":
                yield read_codex(path)
            case "claude_code":
                yield read_claude(path)
            case "mini_swe_agent":
                yield read_mini(path)
            case "openhands":
                yield from read_openhands(path)
            case "swe_agent":
                yield read_swe(path)


def curve() -> Iterator[Setting]:
    """The same caps as the frontier's grid, through our shapes; the small-file exception is off, so that a cap is a cap."""
    for read, lines in READS:
        for other in (1, 2, 4):
            limits = ShownLimits(
                shown_value_bytes=read * KIB, shown_value_lines=lines, output_bytes=other * KIB, hits_bytes=other * KIB,
                build_bytes=min(4, 2 * other) * KIB, build_lines=60, shown_turn_bytes=max(read, 24) * KIB,
            )  # fmt: skip
            yield Setting(name=f"ours, reads {read} KiB / {lines}, other {other} KiB", limits=limits, small_files=False)


def measure(agent: str, sessions: Sequence[Session], *, quick: bool) -> dict[str, list[Score]]:
    needs = [needs_of(session) for session in sessions]
    parts = {"baselines": (NONE, *PLAIN, *LETTERS), "grid": () if quick else GRID}
    found = {name: [score_policy(agent, policy, sessions, needs) for policy in policies] for name, policies in parts.items()}
    found["ours"] = [score_ours(agent, setting, sessions, needs) for setting in (DEFAULT, TIGHT, LOSSLESS, PLAIN_READS)]
    found["curve"] = [] if quick else [score_ours(agent, setting, sessions, needs) for setting in curve()]
    return found


def tell(agent: str, sessions: Sequence[Session], found: dict[str, list[Score]]) -> None:
    default, tight, lossless, _ = found["ours"]
    bound = next(score for score in found["baselines"] if score.policy.startswith("A "))
    print(
        f"## {agent}: {len(sessions)} sessions, {default.calls:,} outputs, {default.before:,} bytes, {default.loss.edits} edits\n"
    )
    print(table([*found["baselines"], *found["ours"]]), "\n")
    print(causes(default), "\n")
    print(causes(lossless), "\n")
    print(classes(default), "\n")
    if found["curve"]:
        print(table([*found["grid"], *found["curve"]]), "\n")
        print(dominated(found["grid"], [default, tight, *found["curve"]]), "\n")
    for line in targets(default, lossless, bound, [default, tight, *found["curve"]], found["grid"]):
        print(line)
    print()


def tell_halves(agent: str, sessions: Sequence[Session]) -> None:
    """Constants were chosen on every second session, from the first on; the others were held out."""
    for name, part in (("chosen on", sessions[::2]), ("held out", sessions[1::2])):
        found = measure(f"{agent}, {name}", part, quick=False)
        default, tight = found["ours"][:2]
        count = ahead([default, tight, *found["curve"]], found["grid"])
        print(
            f"{agent}, {name} ({len(part)} sessions): default {default.net:.1f} % at {default.lines_hidden:.2f} %, "
            f"tight {tight.net:.1f} % at {tight.lines_hidden:.2f} %, ahead of {count} of {len(found['grid'])}"
        )
    print()


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.condense", description=str(__doc__).split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a folder with sessions/")
    parser.add_argument("--agents", default=",".join(AGENTS), metavar="NAMES")
    parser.add_argument("--quick", action="store_true", help="without the grid and our curve")
    parser.add_argument("--halves", action="store_true", help="also each half of the sessions of agents with edits")
    parser.add_argument("--json", type=Path, default=RESULTS / "condense.json", metavar="PATH")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    read = {agent: list(sessions_of(options.data, agent)) for agent in options.agents.split(",")}
    read["all"] = [session for sessions in read.values() for session in sessions]
    kept: dict[str, dict[str, list[dict[str, object]]]] = {}
    for agent, sessions in read.items():
        found = measure(agent, sessions, quick=options.quick)
        tell(agent, sessions, found)
        if options.halves and agent != "all" and len(sessions) > 1 and found["ours"][0].loss.edits:
            tell_halves(agent, sessions)
        kept[agent] = {name: [score.as_json() for score in scores] for name, scores in found.items()}
        if found["curve"]:
            options.json.with_name(f"condense-{agent}.svg").write_text(
                picture(agent, found["grid"], [*found["ours"][:2], *found["curve"]])
            )
    about = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "sessions": {agent: len(sessions) for agent, sessions in read.items()},
    }
    options.json.write_text(json.dumps({"about": about, "agents": kept}, indent=1) + "\n")
    print(f"Saved: {options.json}")


if __name__ == "__main__":
    main()
