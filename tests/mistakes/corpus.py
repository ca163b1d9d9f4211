"""The mistakes as data: one TOML file a class, one table a mistake, the same mistake written for each tool layer.

In a source, ⟦…⟧ marks where a reader would say "there": any position inside counts. ▸ is where our own caret must stand, when
that is not where the mark begins. What is not written for another layer is derived here: camelCase names for LangChain, no `return`
at the top where a layer takes the last expression, `call_tool(name, {…})` for FastMCP. A mistake that a language cannot make has
no source for it, and is not judged there.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from tests.mistakes.dialects import camel_tools, last_expression, through_call_tool

System = Literal["ours", "harness", "langchain", "fastmcp"]
SYSTEMS: tuple[System, ...] = get_args(System)
FOLDER = Path(__file__).parent
_MARKS = re.compile("[⟦⟧▸]")
_KNOWN = {
    "id", "js", "python", "langchain", "fastmcp", "names", "names_langchain", "names_python", "nearest", "nearest_langchain",
    "expected", "expected_python", "message", "caught", "bounded", "unless", "effects", "exact_case",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, both from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Span:
    first: Place
    last: Place  # the column just after it

    def holds_line(self, line: int) -> bool:
        return self.first.line <= line <= self.last.line

    def meets(self, line: int, start: int, end: int) -> bool:
        """Does the span share a column with `start` up to `end` of that line? Just after it counts as well."""
        if not self.holds_line(line):
            return False
        low = self.first.column if line == self.first.line else 1
        high = self.last.column if line == self.last.line else 10**6
        return start <= high and end >= low


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One mistake as one system runs it, and what a good report of it holds. Empty: does not apply. `|` parts alternatives."""

    kind: str
    id: str
    source: str
    spans: tuple[Span, ...]
    caret: Place | None
    names: str = ""
    nearest: str = ""
    expected: tuple[str, ...] = ()
    message: str = ""
    caught: bool = False  # the script catches the error and hands on "caught: …"
    bounded: bool = False
    unless: str = ""  # the value of a layer that takes the script as it is: nothing to report
    effects: int | None = None  # orders that may have been placed before the report
    exact_case: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.id}"


@cache
def mistakes() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Class and table, in the order of the files."""
    found: list[tuple[str, dict[str, Any]]] = []
    for path in sorted(FOLDER.glob("*.toml")):
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["mistake"]:
            unknown = set(table) - _KNOWN
            if unknown:
                raise ValueError(f"{path.name}: {table.get('id')}: unknown key {', '.join(sorted(unknown))}")
            found.append((path.stem, table))
    return tuple(found)


def cases(system: System) -> Iterator[Case]:
    """Every mistake that this system's language can make."""
    for kind, table in mistakes():
        marked = _source(system, table)
        if marked is None:
            continue
        source, spans, caret = read_marks(marked)
        side = {"langchain": "langchain", "ours": "js"}.get(system, "python")
        yield Case(
            kind=kind, id=table["id"], source=source, spans=spans, caret=caret,
            names=table.get(f"names_{side}", table.get("names", "")),
            nearest=table.get(f"nearest_{side}", table.get("nearest", "")),
            expected=tuple(table.get(f"expected_{side}", table.get("expected", ()))), message=table.get("message", ""), caught=table.get("caught", False),
            bounded=table.get("bounded", False), unless=table.get("unless", ""), effects=table.get("effects"),
            exact_case=table.get("exact_case", False),
        )  # fmt: skip


def _source(system: System, table: dict[str, Any]) -> str | None:
    match system:
        case "ours":
            return str(table["js"])
        case "langchain":
            return str(table["langchain"]) if "langchain" in table else last_expression(camel_tools(table["js"]))
        case "harness":
            return last_expression(table["python"]) if "python" in table else None
        case "fastmcp":
            if "fastmcp" in table:
                return str(table["fastmcp"])
            return through_call_tool(table["python"]) if "python" in table else None


def read_marks(marked: str) -> tuple[str, tuple[Span, ...], Place | None]:
    """The source without its marks, the marked spans, and where our caret must stand."""
    marked = marked.rstrip("\n")
    source = ""
    line, column = 1, 1
    opened: list[Place] = []
    spans: list[Span] = []
    caret: Place | None = None
    for char in marked:
        here = Place(line, column)
        if char == "⟦":
            opened.append(here)
        elif char == "⟧":
            spans.append(Span(opened.pop(), here))
        elif char == "▸":
            caret = here
        else:
            source += char
            line, column = (line + 1, 1) if char == "\n" else (line, column + 1)
    if opened or _MARKS.search(source):
        raise ValueError(f"a mark is open at the end of: {marked}")
    return source, tuple(spans), caret or (spans[0].first if spans else None)
