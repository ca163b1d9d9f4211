"""From the text of a patch to its sections: files to add, to delete, and to update by hunks. Pure; reads no file.

The grammar is the one that models are trained on (`*** Begin Patch` … `*** End Patch`). What cannot be misread is forgiven:
a here-document or code fence around it, white space around markers, CRLF, an indented whole. The rest is `bad_patch`.
"""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn, TypeAlias

from catalog import ToolProblem

Op: TypeAlias = Literal[" ", "-", "+"]

BEGIN, END, END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
_ADD, _DELETE, _UPDATE, _MOVE = "*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"
_HEADERS = (_ADD, _DELETE, _UPDATE)
_INNER = (*_HEADERS, _MOVE, END_OF_FILE)
_NAMED = re.compile(r"^\s*\*\*\* (?:(?:Add|Delete|Update) File|Move to):(.*)$", re.MULTILINE)
_HEREDOC = re.compile(r"""^\s*(?:\$\s+)?(?:apply_?patch\s*)?<<-?\s*(['"]?)(\w+)\1\s*$""")
_COMMAND = re.compile(r"^\s*(?:\$\s+)?apply_?patch\s*$")
_RANGE = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")  # of a unified diff: line numbers, which are not used
_UNIFIED = re.compile(r"^(?:diff --git |--- |\+\+\+ |Index: )")
_FIRST = 2  # lines are counted from `*** Begin Patch`, which is line 1 whatever was wrapped around it
_SHOWN = 120  # characters of a line in a message

_EXAMPLE_ADD = f"{BEGIN}\n{_ADD} notes.txt\n+first line\n+second line\n{END}"
_EXAMPLE_UPDATE = f"{BEGIN}\n{_UPDATE} app.py\n@@ def main():\n     first()\n-    second()\n+    third()\n{END}"
_PREFIXES = "' ' (kept), '-' (removed) or '+' (added)"
_SECTION = f"'{_ADD} path', '{_DELETE} path' or '{_UPDATE} path'"


class Line(NamedTuple):
    op: Op
    text: str  # without the prefix and without a line ending


@dataclass(frozen=True, slots=True)
class Hunk:
    anchors: tuple[str, ...]  # the texts after `@@`, outermost first
    lines: tuple[Line, ...]
    end_of_file: bool
    at: int  # line number in the patch
    body_at: int  # that of the first of `lines`


@dataclass(frozen=True, slots=True)
class AddFile:
    path: str
    lines: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class DeleteFile:
    path: str
    at: int


@dataclass(frozen=True, slots=True)
class UpdateFile:
    path: str
    to: str | None  # where it moves
    hunks: tuple[Hunk, ...]
    at: int


Section: TypeAlias = AddFile | DeleteFile | UpdateFile


def paths_in(text: str) -> list[str]:
    """Every path that a patch may touch, each once, right or wrong as the patch may be."""
    return list(dict.fromkeys(name.strip() for name in _NAMED.findall(text.replace("\r", ""))))


def has_padded_marker(text: str) -> bool:
    """Is there an indented line that would be a marker in the first column? In an update it is read as a kept line."""
    return any(row[:1].isspace() and row.lstrip().startswith(_INNER) for row in text.split("\n"))


def parse(text: str, *, padded: bool = False) -> tuple[Section, ...]:
    """The sections in order, at least one. `padded`: indented markers end an update too; otherwise they are kept lines of it."""
    rows = _unwrapped(text)
    sections = tuple(_Reader(rows[1:-1], padded).sections())
    if not sections:
        _bad(len(rows), END, "the patch names no file", _SECTION)
    return sections


class _Reader:
    def __init__(self, rows: list[str], padded: bool) -> None:
        self._rows = rows  # between the two markers
        self._padded = padded
        self._next = 0

    def sections(self) -> list[Section]:
        found: list[Section] = []
        while self._next < len(self._rows):
            if self._rows[self._next].strip():
                found.append(self._section())
            else:
                self._next += 1
        return found

    def _section(self) -> Section:
        at, header = self._at(), self._rows[self._next].strip()
        marker = next((one for one in _HEADERS if header.startswith(one)), None)
        if marker is None:
            self._no_header(header)
        path = header[len(marker) :].strip()
        if not path:
            _bad(at, header, "no path after the marker", f"'{marker} path'", _EXAMPLE_ADD if marker == _ADD else _EXAMPLE_UPDATE)
        self._next += 1
        if marker == _ADD:
            return AddFile(path, self._added(), at)
        if marker == _DELETE:
            return DeleteFile(path, at)
        to = self._move()
        hunks = self._hunks()
        if not hunks and to is None:
            _bad(
                at, header, f"the update of {path} has no hunk", f"'@@', then lines that start with {_PREFIXES}", _EXAMPLE_UPDATE
            )
        return UpdateFile(path, to, hunks, at)

    def _added(self) -> tuple[str, ...]:
        start = self._next
        while self._next < len(self._rows) and self._rows[self._next].startswith("+"):
            self._next += 1
        end = self._next
        while self._next < len(self._rows) and not self._rows[self._next].strip():
            self._next += 1
        if self._next < len(self._rows) and not self._rows[self._next].strip().startswith("*** "):
            at = _FIRST + end  # the blank line before it, when there is one: that is the first without its +
            _bad(at, self._rows[end], "a line of an added file without '+'", "'+' before each line, blank ones too", _EXAMPLE_ADD)
        return tuple(row[1:] for row in self._rows[start:end])

    def _move(self) -> str | None:
        if self._next == len(self._rows) or not self._rows[self._next].strip().startswith(_MOVE):
            return None
        at, row = self._at(), self._rows[self._next].strip()
        to = row[len(_MOVE) :].strip()
        if not to:
            _bad(at, row, "no path after the marker", f"'{_MOVE} new/path'", f"{_UPDATE} old.py\n{_MOVE} new.py")
        self._next += 1
        return to

    def _hunks(self) -> tuple[Hunk, ...]:
        hunks: list[Hunk] = []
        while self._next < len(self._rows):
            row = self._rows[self._next]
            if not row.strip():
                self._next += 1
            elif self._ends_update(row):
                break
            else:
                hunks.append(self._hunk(first=not hunks))
        return tuple(hunks)

    def _hunk(self, *, first: bool) -> Hunk:
        at = self._at()
        anchors = self._anchors()
        if self._at() == at and not first:
            self._no_prefix(self._rows[self._next])
        body_at = self._at()
        lines: list[Line] = []
        end_of_file = False
        while self._next < len(self._rows):
            row = self._rows[self._next]
            if self._is_end_of_file(row):
                end_of_file = bool(lines)
                self._next += end_of_file
                break
            line = None if self._ends_update(row) else _line(row)
            if line is None:
                break
            lines.append(line)
            self._next += 1
        if not lines:
            self._empty(at)
        return Hunk(anchors, tuple(lines), end_of_file, at, body_at)

    def _anchors(self) -> tuple[str, ...]:
        found: list[str] = []
        while self._next < len(self._rows) and self._rows[self._next].startswith("@@"):
            row = self._rows[self._next]
            # `@@ def f(): @@` and the header of a unified diff are how some write it.
            text = "" if _RANGE.match(row) else row[2:].removeprefix(" ").rstrip().removesuffix("@@").rstrip()
            if text.strip():
                found.append(text)
            self._next += 1
        return tuple(found)

    def _ends_update(self, row: str) -> bool:
        return row.startswith("***") or (self._padded and row.lstrip().startswith(_INNER))

    def _is_end_of_file(self, row: str) -> bool:
        return (row.strip() if self._padded else row.rstrip()) == END_OF_FILE

    def _at(self) -> int:
        return _FIRST + self._next

    def _empty(self, at: int) -> NoReturn:
        if self._next == len(self._rows) or self._rows[self._next].startswith("***"):
            got = self._rows[self._next - 1] if self._at() > at else self._rows[self._next]
            _bad(max(at, self._at() - 1), got, "the hunk has no lines", f"lines that start with {_PREFIXES}")
        self._no_prefix(self._rows[self._next])

    def _no_prefix(self, row: str) -> NoReturn:
        if row.startswith((" ", "-", "+")):  # after `*** End of File`
            _bad(self._at(), row, f"a line after '{END_OF_FILE}'", "'@@' for a new hunk, or a new section")
        what = "a line of an update without its prefix"
        if row.startswith("\t"):
            what += " (it starts with a tab: put one space before a kept line)"
        _bad(self._at(), row, what, f"{_PREFIXES}; a new hunk starts with '@@'")

    def _no_header(self, header: str) -> NoReturn:
        if header in (BEGIN, END):
            _bad(self._at(), header, "a second patch in the same text", "one patch a call, nothing after its end")
        _bad(self._at(), header, "this starts no section", _SECTION)


def _line(row: str) -> Line | None:
    match row[:1]:
        case "":
            return Line(" ", "")  # editors and models strip the one space of a kept blank line
        case " ":
            return Line(" ", row[1:])
        case "-":
            return Line("-", row[1:])
        case "+":
            return Line("+", row[1:])
        case _:
            return None


def _unwrapped(text: str) -> list[str]:
    """The rows from begin to end marker, both included."""
    rows = [row.removesuffix("\r") for row in text.removeprefix("\ufeff").split("\n")]
    start, end = _trimmed(rows, 0, len(rows))
    if start < end and rows[start].lstrip().startswith("```"):
        start, end = _trimmed(rows, start + 1, end - (rows[end - 1].strip() == "```" and end - 1 > start))
    if start < end and (opened := _HEREDOC.match(rows[start])):
        # Without its last word it is a here-document that ended with the text: the shell takes that too.
        start, end = _trimmed(rows, start + 1, end - (rows[end - 1].strip() == opened[2]))
    elif start < end and _COMMAND.match(rows[start]):
        start, end = _trimmed(rows, start + 1, end)
    if start == end:
        _bad(1, "", "the patch is empty", f"'{BEGIN}'")
    found = _dedented(rows[start:end])
    _check_ends(found)
    return found


def _trimmed(rows: list[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not rows[start].strip():
        start += 1
    while start < end and not rows[end - 1].strip():
        end -= 1
    return start, end


def _dedented(rows: list[str]) -> list[str]:
    """A patch indented as a whole, as inside a template literal; an indent on the first line alone is only a padded marker."""
    margin = rows[0][: len(rows[0]) - len(rows[0].lstrip())]
    if margin and all(row.startswith(margin) or not row.strip() for row in rows):
        return [row[len(margin) :] for row in rows]
    return rows


def _check_ends(rows: list[str]) -> None:
    stripped = [row.strip() for row in (rows[0], rows[-1])]
    if stripped[0] != BEGIN:
        at = next((index for index, row in enumerate(rows, 1) if row.strip() == BEGIN), None)
        what = f"text before '{BEGIN}', which is line {at}" if at else "the first marker is missing"
        if _UNIFIED.match(rows[0]):
            what = "this is a unified diff, which is another format"
        _bad(1, rows[0], what, f"'{BEGIN}'")
    if stripped[1] != END or len(rows) == 1:
        at = next((index for index, row in enumerate(rows, 1) if row.rstrip() == END), None)
        what = f"text after '{END}', which is line {at}" if at else "the last marker is missing: was the patch cut off?"
        _bad(len(rows), rows[-1], what, f"'{END}'")


def _bad(at: int, row: str, what: str, expected: str, example: str = _EXAMPLE_UPDATE) -> NoReturn:
    shown = row if len(row) <= _SHOWN else row[:_SHOWN] + "…"
    raise ToolProblem(
        "bad_patch",
        f"patch line {at}: {what}: {shown!r}; expected {expected}",
        hint=f"nothing was changed; a right one:\n{example}",
        data={"line": at, "text": shown, "expected": expected, "example": example},
    )
