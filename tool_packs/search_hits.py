"""From ripgrep's JSON rows to hits: files in order, each with its count and its matches. Pure.

Everything is counted; kept are as many matches as the limit and the bytes of their lines allow. Rule: text is cut only in lines
of more than 10,000 characters, and then says so.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from tool_packs.path_problems import readable

_LINE = 10_000  # characters of a line; code has no longer ones, minified files have lines of megabytes
_BEFORE_MATCH = 2_000  # of them before the match
_KEPT_BYTES = 8 * 1024 * 1024  # of text in one answer; half of what may go back into a script
_ROW_BYTES = 32 * 1024 * 1024  # one row of JSON; a line whose row is larger is counted and not kept
_MATCH, _CONTEXT = b'{"type":"match"', b'{"type":"context"'


class Match(BaseModel):
    model_config = ConfigDict(frozen=True)
    line: int
    column: Annotated[int, Field(description="in characters, from 1")]
    text: Annotated[str, Field(description="the line, or with multiline the lines that the match touches")]
    before: list[str] = []
    after: list[str] = []
    cut: Annotated[bool, Field(description="the line has over 10,000 characters; text is the part around the match")] = False


class FileHits(BaseModel):
    model_config = ConfigDict(frozen=True)
    path: str
    count: Annotated[int, Field(description="matches in the file, given or not")]
    matches: list[Match]


class Hits(BaseModel):
    model_config = ConfigDict(frozen=True)
    files: list[FileHits]
    total: Annotated[int, Field(description="matches found, given or not")]
    total_files: Annotated[int, Field(description="files with matches, given or not")]
    searched: Annotated[int, Field(description="files that were searched")]
    binary: Annotated[int, Field(description="binary files that match; they are left out")]
    truncated: Annotated[bool, Field(description="more was found than given")]


@dataclass(frozen=True, slots=True)
class Wanted:
    limit: int  # matches; files when files_only
    per_file: int | None
    context: int
    files_only: bool


@dataclass(slots=True)
class _File:
    path: str
    told: bool  # is it among the files that may be told?
    count: int = 0
    size: int = 0
    matches: list[tuple[int, int, str, bool, int]] = field(default_factory=list)  # line, column, text, cut, last line
    rows: dict[int, str] = field(default_factory=dict)  # lines around them, by number
    over: bool = False  # the lines after the last match that is kept are all there


class Collector:
    def __init__(self, wanted: Wanted, *, only: frozenset[str] | None) -> None:
        """`only`: the files that are searched, without `./`; None for a single one."""
        self._wanted = wanted
        self._only = only
        self._pending = bytearray()
        self._dropping = False
        self._file: _File | None = None
        self._files = list[tuple[str, FileHits]]()
        self._kept = self._bytes = self._total = self._total_files = self._binary = 0

    def feed(self, data: bytes) -> None:
        *rows, rest = data.split(b"\n")
        for row in rows:
            if self._dropping:
                self._row(_MATCH)
            else:
                self._pending += row
                self._row(bytes(self._pending))
            self._pending.clear()
            self._dropping = False
        if not self._dropping:
            self._pending += rest
        if len(self._pending) > _ROW_BYTES:
            self._dropping = self._pending.startswith(_MATCH)
            self._pending.clear()

    def hits(self, named: Callable[[str], str]) -> Hits:
        """`named` gives the path as scripts know it from the one that ripgrep told."""
        return Hits(
            files=[hits.model_copy(update={"path": named(path)}) for path, hits in self._files],
            total=self._total,
            total_files=self._total_files,
            searched=1 if self._only is None else len(self._only),
            binary=self._binary,
            truncated=len(self._files) < self._total_files or (not self._wanted.files_only and self._kept < self._total),
        )

    def _row(self, row: bytes) -> None:
        file = self._file
        if file is not None and row.startswith((_MATCH, _CONTEXT)):
            self._line(file, row, matches=row.startswith(_MATCH))
        elif row:
            told = orjson.loads(row)
            match told["type"]:
                case "begin":
                    path = path_of(_raw(told["data"]["path"]))
                    self._file = _File(path, told=self._only is None or path in self._only)
                case "end" if file is not None:
                    self._finish(file, binary=told["data"]["binary_offset"] is not None)
                    self._file = None

    def _line(self, file: _File, row: bytes, *, matches: bool) -> None:
        file.count += matches
        room = self._has_room(file)
        if row == _MATCH or not (room or (self._wanted.context and file.matches and not file.over)):
            return
        data = orjson.loads(row)["data"]
        if matches and room:
            self._keep(file, data)
        elif room or data["line_number"] <= file.matches[-1][-1] + self._wanted.context:
            self._remember(file, data["line_number"], _lines(_raw(data["lines"]).decode("utf-8", "replace")))
        else:
            file.over = True

    def _has_room(self, file: _File) -> bool:
        wanted = self._wanted
        if wanted.files_only or not file.told or self._bytes + file.size >= _KEPT_BYTES:
            return False
        return self._kept + len(file.matches) < wanted.limit and (wanted.per_file is None or len(file.matches) < wanted.per_file)

    def _keep(self, file: _File, data: dict[str, Any]) -> None:
        raw = _raw(data["lines"])
        first = data["submatches"][0]["start"] if data["submatches"] else 0
        column = len(raw[:first].decode("utf-8", "replace"))
        lines = _lines(raw.decode("utf-8", "replace"))
        self._remember(file, data["line_number"], lines)
        text, cut = _cut("\n".join(lines), column)
        file.size += len(text)
        file.matches.append((data["line_number"], column + 1, text, cut, data["line_number"] + len(lines) - 1))

    def _remember(self, file: _File, number: int, lines: list[str]) -> None:
        if self._wanted.context:
            for offset, line in enumerate(lines):
                file.rows[number + offset] = _cut(line, 0)[0]
                file.size += min(len(line), _LINE)

    def _finish(self, file: _File, *, binary: bool) -> None:
        if not file.told or not file.count:
            return
        if binary:
            self._binary += 1
            return
        self._total += file.count
        self._total_files += 1
        if len(self._files) >= self._wanted.limit if self._wanted.files_only else not file.matches:
            return
        self._kept += len(file.matches)
        self._bytes += file.size
        self._files.append((file.path, FileHits(path=file.path, count=file.count, matches=self._matches(file))))

    def _matches(self, file: _File) -> list[Match]:
        around = self._wanted.context
        return [
            Match(
                line=line, column=column, text=text, cut=cut,
                before=[file.rows[number] for number in range(line - around, line) if number in file.rows],
                after=[file.rows[number] for number in range(last + 1, last + 1 + around) if number in file.rows],
            )
            for line, column, text, cut, last in file.matches
        ]  # fmt: skip


def _cut(text: str, column: int) -> tuple[str, bool]:
    if len(text) <= _LINE:
        return text, False
    start = max(0, min(column - _BEFORE_MATCH, len(text) - _LINE))
    return text[start : start + _LINE], True


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _raw(told: dict[str, str]) -> bytes:
    """ripgrep gives text, or base64 where it is no UTF-8."""
    return told["text"].encode() if "text" in told else base64.b64decode(told["bytes"])


def path_of(raw: bytes) -> str:
    """A path as ripgrep prints it, without `./`, as text that JSON can carry."""
    return readable(raw.removeprefix(b"./").decode("utf-8", "surrogateescape"))
