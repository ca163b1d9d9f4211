"""How many secrets get through, what is redacted that is none, and what it costs.

`python -m benchmarks.redaction --data ../shared/data`. Leaks: made-up secrets of every kind, in every form, in every context. A
case leaks when eight characters in a row of what was written are still there. False positives: every string of the sessions in
the data folder, and every Python source of the standard library (or of --sources), with samples to judge by eye.
"""

from __future__ import annotations

import argparse
import json
import random
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.redaction_corpus import CONTEXTS, FORMS, KNOWN, LETTERS, LOOKS, draw, session_strings
from harness.redaction import Redactor
from harness.redaction.patterns import PATTERNS

ROOT = Path(__file__).parent.parent
WINDOW = 8
NOT_COVERED = ("reversed", "hex dump")  # measured, and said so in docs/redaction.md
KIB_100 = 102_400
SOURCES = (".py", ".md", ".txt", ".js", ".ts", ".yaml", ".yml", ".toml", ".cfg", ".html", ".rst", ".json")


def survives(secret: str, shown: str) -> bool:
    """Whether a window of the secret as it was written is in the text that is shown."""
    return any(secret[at : at + WINDOW] in shown for at in range(max(1, len(secret) - WINDOW + 1)))


def known_leaks(rounds: int, seed: int) -> tuple[dict[str, list[int]], list[str]]:
    """Form -> [cases, leaks, leaks of the control]; and some of the texts that leaked."""
    source = random.Random(seed)
    nothing = Redactor(patterns=False)
    counts: dict[str, list[int]] = {form: [0, 0, 0] for form in FORMS}
    examples: list[str] = []
    for _ in range(rounds):
        values = {f"SECRET_{number}": make(source) for number, make in enumerate(KNOWN.values())}
        redactor = Redactor(values)
        for kind, value in zip(KNOWN, values.values(), strict=True):
            for form, write in FORMS.items():
                written = write(value)
                for context, place in CONTEXTS.items():
                    shown = redactor.text(place(written)).text
                    leaked = any(survives(window, shown) for window in _telling(value, form, written))
                    plain = nothing.text(place(written)).text
                    counts[form][0] += 1
                    counts[form][1] += leaked
                    counts[form][2] += any(survives(window, plain) for window in _telling(value, form, written))
                    if leaked and form not in NOT_COVERED:
                        examples.append(f"{kind} / {form} / {context}: {shown[:300]!r}")
    return counts, examples


def _telling(value: str, form: str, written: str) -> Iterator[str]:
    """The parts of what was written that hold the secret alone: not the neighbours in base64, nor the frame of a key file."""
    if value.startswith("{"):
        value = value[value.index("private_key_id") + 18 :][:40]  # the frame of the JSON is no secret
    if form.startswith("base64 +") or "columns" in form:
        frame = 12 if form == "base64 +9" else 3
        body = written.replace("\n", "").lstrip("Q")
        yield from (line for line in written.split("\n")[1:-1] if len(line) > 12)
        yield body[frame:-6]
    elif value.startswith("-----") and form in ("raw", "JSON", "JSON, UTF-8", "shell", "HTML", "JSON in JSON"):
        yield from (line for line in value.split("\n")[1:-2])
    elif written.startswith(("{", '"', "'")) or form in ("raw", "JSON in JSON"):
        yield value
    else:
        yield written


def look_leaks(rounds: int, seed: int) -> tuple[dict[str, list[int]], list[str]]:
    source = random.Random(seed)
    redactor = Redactor()
    counts: dict[str, list[int]] = {kind: [0, 0, 0] for kind in LOOKS}
    examples: list[str] = []
    for _ in range(rounds):
        for kind, make in LOOKS.items():
            text = make(source)
            secret = text[text.index("⟦") + 1 : text.index("⟧")]
            for context, place in CONTEXTS.items():
                if kind in ("private_key", "assigned, JSON") and context == "URL":
                    continue  # neither is written there
                plain = place(text.replace("⟦", "").replace("⟧", ""))
                shown = redactor.text(plain).text
                leaked = any(survives(line, shown) for line in secret.split("\n"))
                counts[kind][0] += 1
                counts[kind][1] += leaked
                counts[kind][2] += any(survives(line, plain) for line in secret.split("\n"))
                if leaked:
                    examples.append(f"{kind} / {context}: {shown[:300]!r}")
    return counts, examples


def false_positives(texts: Iterable[str], redactor: Redactor) -> dict[str, Any]:
    found: Counter[str] = Counter()
    samples: dict[str, list[str]] = defaultdict(list)
    lines = size = hit_lines = 0
    for text in texts:
        lines += text.count("\n") + 1
        size += len(text)
        shown = redactor.text(text)
        if not shown.found:
            continue
        found.update(shown.found)
        for line in (line for line in shown.text.split("\n") if "[secret " in line):
            hit_lines += 1
            at = line.index("[secret ")
            samples[line[at + 8 : line.index("]", at)]].append(line[max(0, at - 70) : at + 60].strip())
    return {
        "characters": size, "lines": lines, "lines_redacted": hit_lines, "found": dict(found),
        "samples": {kind: list(dict.fromkeys(some))[:40] for kind, some in samples.items()},
    }  # fmt: skip


def sources(folder: Path | None) -> Iterator[str]:
    if folder is not None:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file()):
            yield path.read_text(errors="replace")
        return
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in path.parts:
            yield path.read_text(errors="replace")


def best_ms(work: Callable[[], object], *, rounds: int = 9) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return round(min(times) * 1000, 3)


def speed(seed: int) -> dict[str, float]:
    source = random.Random(seed)
    known = {f"SECRET_{number}": draw(source, LETTERS, 40) for number in range(50)}
    redactor = Redactor(known)
    code = "".join(path.read_text() for path in sorted((ROOT / "catalog").glob("*.py")))[:KIB_100]
    log = "".join(
        f"2026-11-18T09:00:{n % 60:02d}Z INFO worker-{n} GET /v1/items/{n * 7919} 200 in {n % 90} ms\n" for n in range(2000)
    )
    body = "\n".join(draw(source, LETTERS + "+/", 76) for _ in range(1400))
    small = [{"id": n, "name": f"item {n}", "path": f"src/part_{n}/module.py", "tags": ["a", "b"]} for n in range(1200)]
    rows = {
        "build, 50 known values": best_ms(lambda: Redactor(known)),
        "100 KiB of code": best_ms(lambda: redactor.text(code)),
        "100 KiB of log": best_ms(lambda: redactor.text(log[:KIB_100])),
        "100 KiB of wrapped base64": best_ms(lambda: redactor.text(body[:KIB_100])),
        "100 KiB of code, nothing known": best_ms(lambda: Redactor().text(code)) - best_ms(Redactor),
        "1,200 small objects": best_ms(lambda: redactor.value(small)),
        "100 KiB with 100 secrets": best_ms(lambda: redactor.text((code[:1000] + known["SECRET_7"]) * 98)),
    }
    for pattern in PATTERNS:
        anchor = pattern.anchors[0]
        flood = anchor * (2**20 // len(anchor))
        rows[f"1 MiB of {anchor!r}"] = best_ms(lambda flood=flood: redactor.text(flood), rounds=1)  # type: ignore[misc]
    return rows


def table(title: str, counts: dict[str, list[int]]) -> str:
    """The last column is the control: what the same test sees when nothing is redacted."""
    width = max(map(len, counts))
    rows = {**counts, "all": [sum(row[index] for row in counts.values()) for index in range(3)]}
    lines = [f"{name:{width}}  {cases:7,}  {leaks:6,}  {control:7,}" for name, (cases, leaks, control) in rows.items()]
    return "\n".join([title, f"{'':{width}}    cases   leaks  control", *lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.redaction", description=str(__doc__).split("\n")[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with sessions/; without it they are left out")
    parser.add_argument("--sources", type=Path, metavar="DIR", help="other ordinary text than the standard library")
    parser.add_argument("--rounds", type=int, default=10, help="secrets of each kind (10)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "redaction.json", metavar="PATH")
    options = parser.parse_args()
    known, known_examples = known_leaks(options.rounds, options.seed)
    looks, look_examples = look_leaks(options.rounds, options.seed)
    print(table("Known values, by form", known))
    print(table("Tokens by their look", looks))
    for example in (known_examples + look_examples)[:20]:
        print("leaked:", example)
    redactor = Redactor()
    ordinary = {str(options.sources or "standard library"): false_positives(sources(options.sources), redactor)}
    if options.data:
        ordinary["sessions"] = false_positives(session_strings(options.data), redactor)
    for name, row in ordinary.items():
        print(f"\n{name}: {row['characters']:,} characters, {row['lines']:,} lines, {row['lines_redacted']} of them redacted")
        print(f"  {row['found']}")
        for kind, some in row["samples"].items():
            print("\n".join(f"  {kind}: {sample}" for sample in some))
    times = speed(options.seed)
    print("\nmilliseconds, best of 9 (floods: one run)")
    print("\n".join(f"  {name:40} {value:9.3f}" for name, value in times.items()))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    saved = {
        "known": known,
        "looks": looks,
        "leaked": known_examples + look_examples,
        "ordinary": ordinary,
        "milliseconds": times,
    }
    options.json.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")
    print(f"\nSaved: {options.json}")


if __name__ == "__main__":
    main()
