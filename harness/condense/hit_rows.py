"""Search hits as rows by file, from the values of the search pack and from what grep, rg, find and ls print. Pure.

Rule: nothing of the input is dropped. A text of which less than two thirds are rows is not hits.
"""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field

from harness.condense.record import Json
from harness.condense.text import encodable

_HIT = re.compile(r"([^\s:][^:]{0,400}):\d{1,9}:")
_AROUND = re.compile(r"[^\s:].{0,400}?-\d{1,9}-")
_NUMBERED = re.compile(r"(\d{1,9})([:-])")
_PATH = re.compile(r"(?:\.{0,2}/)?(?:[\w.@+~\-\[\]()$%#=]{1,200}/){0,60}[\w.@+~\-\[\]()$%#=]{1,200}/?")
_PATH_TEXT = re.compile(r"((?:[\w.@+~\-]{1,200}/){1,60}[\w.@+~\-]{1,200}|[\w@+~\-]{1,200}\.\w{1,8}):(.*)", re.DOTALL)
_SHARE = 2 / 3
_SAMPLE = 50  # lines
_PATH_CHARS = 400  # where a path must end; a line of a megabyte is not searched for more


@dataclass(slots=True)
class FileRows:
    """`rows`: as they are shown below the path. Of lines that belong to no file the path is empty."""

    path: str
    rows: list[str] = field(default_factory=list)
    count: int | None = None  # matches; None: not told


@dataclass(frozen=True, slots=True)
class Rows:
    files: list[FileRows]
    remark: str = ""  # what the search says about the whole
    only_paths: bool = False


def rows_of_value(value: Json) -> Rows | None:
    """The forms that the search pack gives, and lists of rows that scripts make of them."""
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict):
        return None
    files = next((value[name] for name in ("files", "paths", "matches") if isinstance(value.get(name), list)), None)
    made = _of_list(files) if files else None
    if made is None:
        return None
    return Rows(made.files, _remark(value), made.only_paths)


def rows_of_text(lines: Sequence[str]) -> Rows | None:
    for read in (_with_paths, _below_headings, _paths, _texts_with_paths):
        files = read(lines)
        if files is not None:
            return Rows(files, only_paths=read is _paths)
    return None


def _of_list(items: list[Json]) -> Rows | None:
    if all(isinstance(one, str) for one in items):
        # Names of files; a list of other texts is no list of hits.
        paths = [FileRows(_line(one)) for one in items] if all(_PATH.fullmatch(one) for one in items) else None
        return Rows(paths, only_paths=True) if paths else None
    if not all(isinstance(one, dict) and isinstance(one.get("path", ""), str) for one in items):
        return None
    if all(isinstance(one.get("matches"), list) for one in items):
        files = [_of_file(one) for one in items]
        return Rows(files, only_paths=not any(file.rows for file in files))
    if all("line" in one and isinstance(one.get("text"), str) for one in items):
        by_path: dict[str, FileRows] = {}
        for one in items:
            path = _line(one.get("path", ""))
            by_path.setdefault(path, FileRows(path)).rows += _match_rows(one)
        return Rows(list(by_path.values()))
    if all("path" in one and set(one) <= {"path", "score", "count"} for one in items):
        return Rows([FileRows(_line(one["path"]), count=_number(one.get("count"))) for one in items], only_paths=True)
    return None


def _of_file(file: Json) -> FileRows:
    rows: list[str] = []
    shown: set[str] = set()  # lines around two matches are told once
    for match in file["matches"]:
        for row in _match_rows(match) if isinstance(match, dict) else [_line(str(match))]:
            if row not in shown:
                shown.add(row)
                rows.append(row)
    return FileRows(_line(file.get("path", "")), rows, _number(file.get("count")))


def _match_rows(match: Json) -> list[str]:
    number = _number(match.get("line"))
    before, after = (_texts(match.get(name)) for name in ("before", "after"))
    texts = encodable(match["text"] if isinstance(match.get("text"), str) else "").split("\n")
    if number is None:
        return [*before, *texts, *after]
    return [
        *(f"{number - len(before) + at}-{text}" for at, text in enumerate(before)),
        *(f"{number + at}:{text}" for at, text in enumerate(texts)),
        *(f"{number + len(texts) + at}-{text}" for at, text in enumerate(after)),
    ]


def _remark(value: Json) -> str:
    """How much was found in all, when the value does not hold all of it."""
    total, files = _number(value.get("total")), _number(value.get("total_files"))
    if value.get("truncated") is not True or total is None:
        return ""
    return f"found {total:,}{f' in {files:,} files' if files is not None else ''}; the search gave a part of them"


def _with_paths(lines: Sequence[str]) -> list[FileRows] | None:
    """`path:12:text`, and `path-12-text` around a match."""
    if not _mostly(lines[:_SAMPLE], lambda line: (_HIT.match(line) or _AROUND.match(line)) is not None):
        return None
    found = [_HIT.match(line) for line in lines]
    known = {one[1] for one in found if one is not None}
    files: dict[str, FileRows] = {}
    loose = 0
    for line, one in zip(lines, found, strict=True):
        path, row = (one[1], line[one.end(1) + 1 :]) if one is not None else _around(line, known) or ("", line)
        if row == "--" or not (path or row):
            continue
        loose += not path
        file = files.get(path)
        if file is None:
            file = files[path] = FileRows(path, count=0 if path else None)
        file.rows.append(row)
        if one is not None and file.count is not None:
            file.count += 1
    return list(files.values()) if known and loose <= (1 - _SHARE) * len(lines) else None


def _around(line: str, known: Set[str]) -> tuple[str, str] | None:
    """A path may hold `-12-` itself: the known paths decide."""
    at = 0
    while (at := line.find("-", at + 1, _PATH_CHARS)) > 0:
        if line[:at] in known and _NUMBERED.match(line, at + 1):
            return line[:at], line[at + 1 :]
    return None


def _below_headings(lines: Sequence[str]) -> list[FileRows] | None:
    """A path on a line of its own, the numbered rows below it."""
    files: list[FileRows] = []
    for at, line in enumerate(lines):
        if not line or line == "--":
            continue
        if _NUMBERED.match(line):
            if not files:
                return None
            files[-1].rows.append(line)
            files[-1].count = (files[-1].count or 0) + (":" in line.split("-", 1)[0])
        elif at + 1 < len(lines) and _NUMBERED.match(lines[at + 1]) and _PATH.fullmatch(line):
            files.append(FileRows(line))
        else:
            return None
    return files or None


def _paths(lines: Sequence[str]) -> list[FileRows] | None:
    if len(lines) < 3 or not _mostly(lines, lambda line: _PATH.fullmatch(line) is not None and ("/" in line or "." in line)):
        return None
    return [FileRows(line) for line in lines if line]


def _texts_with_paths(lines: Sequence[str]) -> list[FileRows] | None:
    """`path:text`, as grep -r prints without -n."""
    if not _mostly(lines, lambda line: _PATH_TEXT.fullmatch(line) is not None):
        return None
    files: dict[str, FileRows] = {}
    for line in lines:
        found = _PATH_TEXT.fullmatch(line)
        path, row = (found[1], found[2]) if found else ("", line)
        if path or row:
            files.setdefault(path, FileRows(path)).rows.append(row)
    return list(files.values())


def _mostly(lines: Sequence[str], is_row: Callable[[str], bool]) -> bool:
    told = [line for line in lines if line and line != "--"]
    if not told:
        return False
    # The first lines decide early, so that a long text of another kind costs little.
    return all(sum(map(is_row, part)) >= _SHARE * len(part) for part in (told[:_SAMPLE], told))


def _texts(value: Json) -> list[str]:
    return [_line(one) for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _line(text: str) -> str:
    return encodable(text).replace("\n", "\\n")


def _number(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
