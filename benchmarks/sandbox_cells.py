"""What is measured: each script in every language it is needed in, and the cells of the table.

Nothing here runs anything. A cell is one column; a script is what a contender is asked to run in it.
Every script calls two host tools at most: `echo(x)`, which returns `x`, and `page()`, which returns
about 1 MB of JSON objects.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Literal

ROWS: list[dict[str, object]] = [
    {"id": i, "name": f"row {i}", "tags": ["alpha", "beta"], "score": i / 8, "ok": i % 2 == 0} for i in range(11_500)
]


async def echo(value: object) -> object:
    return value


async def page() -> object:
    return ROWS


def plain_echo(value: object) -> object:
    return value


def plain_page() -> object:
    return ROWS


@dataclass(frozen=True, slots=True)
class Script:
    """One piece of work. `CALL.` in the JavaScript stands for where the contender keeps its tools."""

    js_setup: str
    js_result: str
    python_async: str
    python_plain: str
    expected: object = field(repr=False)
    frame_bytes: tuple[int, ...]  # what each host round trip carries, for the bare socket

    def js(self, tools: str) -> str:
        """The script as a model writes it: its last expression is its value."""
        return f"{self.js_setup}\n{self.js_result}".strip().replace("CALL.", tools)

    def js_function_body(self, tools: str) -> str:
        return f"{self.js_setup}\nreturn {self.js_result}".replace("CALL.", tools)


def sequential(calls: int) -> Script:
    return Script(
        js_setup=f"let total = 0;\nfor (let i = 0; i < {calls}; i++) total += await CALL.echo(i);",
        js_result="total",
        python_async=f"total = 0\nfor i in range({calls}):\n    total += await echo(i)\ntotal",
        python_plain=f"total = 0\nfor i in range({calls}):\n    total += echo(i)\ntotal",
        expected=calls * (calls - 1) // 2,
        frame_bytes=(64,) * (calls + 1),
    )


def together(calls: int) -> Script:
    return Script(
        js_setup="",
        js_result=f"(await Promise.all(Array.from({{ length: {calls} }}, (_, i) => CALL.echo(i)))).length",
        python_async=f"import asyncio\nlen(await asyncio.gather(*[echo(i) for i in range({calls})]))",
        python_plain=f"len([echo(i) for i in range({calls})])",  # plain functions cannot overlap
        expected=calls,
        frame_bytes=(64 * calls, 64 * calls),
    )


TRIVIAL = Script("", "1+1", "1+1", "1+1", expected=2, frame_bytes=(64,))
ONE_CALL = Script("", "await CALL.echo(1)", "await echo(1)", "echo(1)", expected=1, frame_bytes=(64, 64))
MEGABYTE = Script("", "await CALL.page()", "await page()", "page()", expected=ROWS, frame_bytes=(64, 1_000_000))

Kind = Literal["cold", "latency", "rate", "memory"]


@dataclass(frozen=True, slots=True)
class Cell:
    name: str
    title: str
    kind: Kind
    unit: str
    script: Script = TRIVIAL
    count: int = 1
    gap_seconds: float = 0.0  # idle time before each script: what an agent between two turns looks like

    @property
    def more_is_better(self) -> bool:
        return self.kind == "rate"

    def scripts(self, *, quick: bool) -> int:
        """`--quick` runs a tenth, but never so few that a median means nothing."""
        return max(min(self.count, 3), self.count // 10) if quick else self.count


CELLS: tuple[Cell, ...] = (
    Cell("cold", "cold start", "cold", "ms", count=3),
    Cell("trivial", "trivial", "latency", "ms", TRIVIAL, count=300),
    Cell("trivial_spaced", "spaced", "latency", "ms", TRIVIAL, count=60, gap_seconds=0.010),
    Cell("one_call", "1 call", "latency", "ms", ONE_CALL, count=300),
    Cell("ten_calls", "10 calls", "latency", "ms", sequential(10), count=150),
    Cell("thousand_calls", "1,000 calls", "latency", "ms", sequential(1000), count=5),
    Cell("promise_all", "all 1,000", "latency", "ms", together(1000), count=15),
    Cell("megabyte", "1 MB", "latency", "ms", MEGABYTE, count=7),
    Cell("rate_trivial", "trivial", "rate", "/s", TRIVIAL, count=800),
    Cell("rate_one_call", "1 call", "rate", "/s", ONE_CALL, count=600),
    Cell("worker_rss", "RSS", "memory", "MB"),
    Cell("worker_pss", "PSS", "memory", "MB"),
)


def cells_named(names: str) -> tuple[Cell, ...]:
    known = {cell.name: cell for cell in CELLS}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"no such cell: {', '.join(unknown)}; there are: {', '.join(known)}")
    return tuple(known[name] for name in wanted)
