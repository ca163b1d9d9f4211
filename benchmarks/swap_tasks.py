"""The tasks of the swap benchmark, each written twice: as the tool calls that a good model makes, and as the scripts it writes.

Calls that need nothing from each other stand in one reply, so plain tools are as parallel as they can be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Calls = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    plain: tuple[Calls, ...]  # one reply each
    scripts: tuple[str, ...]
    proof: str  # stands in what the last script showed
    alone: bool = False  # files.read is the only tool on offer


def read(*paths: str) -> Calls:
    return tuple(("files__read", {"path": path}) for path in paths)


NOTES, LOGS, ITEMS, LINKS = 20, 60, 100, 5
_READ_ONE = 'return await tools.files.read({ path: "notes/0.md" })'
_READ_ALL = "const all = await Promise.all({paths}.map(path => tools.files.read({{ path }})));\n"


def tasks() -> list[Task]:
    notes = [f"notes/{n}.md" for n in range(NOTES)]
    logs = [f"logs/{n}.txt" for n in range(LOGS)]
    items = [f"items/{n}.json" for n in range(ITEMS)]
    listed = '(await tools.files.list({{ path: "{folder}" }})).entries.map(entry => entry.path)'
    return [
        Task("one call, one tool on offer", (read("notes/0.md"),), (_READ_ONE,), "note 0", alone=True),
        Task("one call", (read("notes/0.md"),), (_READ_ONE,), "note 0"),
        Task(
            "20 reads, all of it needed",
            (read(*notes),),
            (_READ_ALL.format(paths=json.dumps(notes)) + "for (const page of all) show(page)",),
            "note 19",
        ),
        Task(
            f"read {LOGS} files, count lines",
            ((("files__list", {"path": "logs"}),), read(*logs)),
            (
                _READ_ALL.format(paths=listed.format(folder="logs"))
                + 'return all.flatMap(page => page.text.split("\\n")).filter(line => line.includes("ERROR")).length',
            ),
            str(LOGS * 3),
        ),
        Task(
            f"chain of {LINKS}",
            tuple(read(f"chain/{n}.json") for n in range(LINKS)),
            (
                'let at = "chain/0.json", page;\n'
                f"for (let n = 0; n < {LINKS}; n++) {{\n"
                "  page = JSON.parse((await tools.files.read({ path: at })).text);\n  at = page.next;\n}\n"
                "return page.word",
            ),
            "the end",
        ),
        Task(
            f"fan-out of {ITEMS}, summed",
            ((("files__list", {"path": "items"}),), read(*items)),
            (
                _READ_ALL.format(paths=listed.format(folder="items"))
                + "return all.reduce((sum, page) => sum + JSON.parse(page.text).price, 0)",
            ),
            str(sum(range(ITEMS))),
        ),
        Task(
            "a call that fails, mended",
            (read("notes/0.txt"), read("notes/0.md")),
            ('return await tools.files.read({ path: "notes/0.txt" })', _READ_ONE),
            "note 0",
        ),
    ]  # fmt: skip


def lay_out(root: Path) -> None:
    for n in range(NOTES):
        _write(root / f"notes/{n}.md", f"# note {n}\n" + "".join(f"{n}.{line} what was said that day\n" for line in range(20)))
    for n in range(LOGS):
        lines = [f"{n:02}:{line:02} {'ERROR disk' if line % 20 == 0 else 'ok'} request {n * line} served" for line in range(60)]
        _write(root / f"logs/{n}.txt", "\n".join(lines) + "\n")
    for n in range(LINKS):
        _write(root / f"chain/{n}.json", json.dumps({"next": f"chain/{n + 1}.json", "word": "the end" if n == LINKS - 1 else ""}))
    for n in range(ITEMS):
        _write(root / f"items/{n}.json", json.dumps({"name": f"item {n}", "price": n}))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
