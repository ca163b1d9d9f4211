"""Every session of a folder imported, counted and exported again; and one big rollout, with its time and memory.

    python -m benchmarks.rollouts --data FOLDER [--megabytes 100] [--json results.json]

Exported records are compared with those of the source as parsed JSON, read here with the standard library and not with our own
reader. The big rollout is generated, and imported into a JSONL store by a process of its own, whose peak memory is told.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from harness.rollouts.exporting import export_rollout
from harness.rollouts.importing import Imported, import_all, import_rollout
from harness.store import Store
from harness.store.jsonl import JsonlStore

_VALUE = re.compile(r"\S")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with sessions of other agents")
    parser.add_argument("--megabytes", type=int, default=100, help="of the generated rollout; 0: none")
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    parser.add_argument("--import-one", type=Path, nargs=2, help=argparse.SUPPRESS)  # in a process of its own: file, store
    given = parser.parse_args()
    if given.import_one:
        print(json.dumps(anyio.run(_import_one, *given.import_one)))
        return
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        if given.data:
            told["sessions"] = anyio.run(_import_folder, given.data, Path(scratch) / "sessions")
        if given.megabytes:
            told["big"] = _big(Path(scratch), given.megabytes)
    if given.json:
        given.json.write_text(json.dumps(told, indent=2) + "\n")


async def _import_folder(data: Path, folder: Path) -> dict[str, Any]:
    store = JsonlStore(folder, durability="flush")
    started = time.perf_counter()
    report = await import_all([data], store)
    seconds = time.perf_counter() - started
    by_file: dict[Path, list[Imported]] = defaultdict(list)
    for one in report.imported:
        by_file[one.path].append(one)
    differing = [str(path.name) for path, found in by_file.items() if not await _comes_out_equal(path, found, store)]
    again = await import_all([data], store)
    await store.close()
    told = {
        "files": len(by_file), "sessions": len(report.imported), "bytes": sum(one.bytes for one in report.imported),
        "seconds": round(seconds, 2), "by_format": _by_format(report.imported), "differing_after_export": differing,
        "failed": {path.name: why for path, why in report.failed.items()},
        "passed_over": [path.name for path in report.passed_over],
        "already_there_the_second_time": sum(one.already_there for one in again.imported),
    }  # fmt: skip
    _print_sessions(told)
    return told


async def _comes_out_equal(path: Path, found: list[Imported], store: Store) -> bool:
    exported: list[Any] = []
    for one in found:
        lines = export_rollout(line.entry(one.session) for line in await store.load(one.session))
        exported += [json.loads(line) for line in lines]
    return exported == list(_source(path))


def _source(path: Path) -> Iterator[Any]:
    """All JSON values of a file, one after the other."""
    text, decoder, at = path.read_text(), json.JSONDecoder(), 0
    while found := _VALUE.search(text, at):
        value, at = decoder.raw_decode(text, found.start())
        yield value


def _by_format(imported: tuple[Imported, ...]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name in sorted({one.format for one in imported}):
        own = [one for one in imported if one.format == name]
        kinds: Counter[str] = Counter()
        unknown: Counter[str] = Counter()
        for one in own:
            kinds.update(one.by_kind)
            unknown.update(one.unknown)
        told[name] = {"sessions": len(own), "items": kinds.total(), "kinds": dict(kinds.most_common()), "unknown": dict(unknown)}
    return told


def _print_sessions(told: dict[str, Any]) -> None:
    print(f"{told['files']} files, {told['sessions']} sessions, {told['bytes']:,} bytes in {told['seconds']} s")
    for name, counted in told["by_format"].items():
        print(f"\n{name}: {counted['sessions']} sessions, {counted['items']:,} items, unknown: {counted['unknown'] or 'none'}")
        for kind, times in counted["kinds"].items():
            print(f"  {times:>6,}  {kind}")
    print(f"\ndiffering after export: {told['differing_after_export'] or 'none'}")
    print(f"failed: {told['failed'] or 'none'}; passed over: {', '.join(told['passed_over']) or 'none'}")
    print(f"already there the second time: {told['already_there_the_second_time']} of {told['sessions']}")


# ---------------------------------------------------------------- one big rollout


def _big(scratch: Path, megabytes: int) -> dict[str, Any]:
    path = scratch / "big.jsonl"
    with path.open("w") as file:
        for record in generated(megabytes * 1_000_000):
            file.write(json.dumps(record) + "\n")
    command = [sys.executable, "-m", "benchmarks.rollouts", "--import-one", str(path), str(scratch / "big")]
    told = dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    told["bytes"] = path.stat().st_size
    print(f"\n{told['bytes']:,} bytes, {told['items']:,} items: {told['seconds']} s, peak {told['peak_mib']} MiB", end="")
    print(f" ({told['before_mib']} MiB before it began)")
    return told


async def _import_one(path: Path, folder: Path) -> dict[str, Any]:
    before = _peak_mib()
    store = JsonlStore(folder)
    started = time.perf_counter()
    (imported,) = await import_rollout(path, store)
    seconds = time.perf_counter() - started
    await store.close()
    return {"items": imported.items, "seconds": round(seconds, 2), "peak_mib": _peak_mib(), "before_mib": before}


def _peak_mib() -> int:
    """Not from getrusage: a child begins there with the peak of the process that started it."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


def generated(size: int) -> Iterator[dict[str, Any]]:
    """A rollout of about this many bytes: turns of a question, calls with outputs of 0.1 to 60 KB, counts of tokens."""
    yield _record("session_meta", {"id": f"big-{size}", "timestamp": _stamp(0), "cwd": "/srv/app", "cli_version": "0.140.0"}, 0)
    written, number = 0, 0
    while written < size:
        number += 1
        for record in _generated_turn(number):
            written += len(json.dumps(record)) + 1
            yield record


def _generated_turn(number: int) -> Iterator[dict[str, Any]]:
    question = f"Question {number}: why does test {number * 7 % 1000} fail?"
    content = [{"type": "input_text", "text": question}]
    yield _record("response_item", {"type": "message", "role": "user", "content": content}, number)
    yield _record("event_msg", {"type": "user_message", "message": question}, number)
    for call in range(5):
        call_id = f"call_{number}_{call}"
        given = json.dumps({"cmd": f"sed -n '1,200p' src/module_{number % 97}/file_{call}.py"})
        yield _record(
            "response_item", {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call_id}, number
        )
        lines = 3 + (number * 31 + call * 17) % 900
        body = "".join(f"line {line} of {call_id}: value_{line * number % 10_007}\n" for line in range(lines))
        output = f"Chunk ID: {number:06x}\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{body}"
        yield _record("response_item", {"type": "function_call_output", "call_id": call_id, "output": output}, number)
        yield _record("event_msg", {"type": "token_count", "info": {"total": number * 1000 + call}}, number)


def _record(kind: str, payload: dict[str, Any], number: int) -> dict[str, Any]:
    return {"timestamp": _stamp(number), "type": kind, "payload": payload}


def _stamp(number: int) -> str:
    minutes = number % 1440
    return f"2026-01-{1 + number // 1440 % 28:02d}T{minutes // 60:02d}:{minutes % 60:02d}:00.000Z"


if __name__ == "__main__":
    main()
