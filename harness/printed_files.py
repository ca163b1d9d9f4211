"""Output of a command that only prints files (`sed -n`, `cat -n`, several of them): shown as what it is, lines of files. Pure."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from harness.condense.record import Origin

Json: TypeAlias = Any
_NUMBERED = re.compile(r"\s*(\d+)(?:\t|: ?|\s{2}|→| \| ?)(.*)", re.DOTALL)
_SEPARATORS = 3  # lines of a separator between two files, at most: more is output of its own


def as_files(output: str, reads: Sequence[Mapping[str, Any]], folder: str = ".") -> tuple[Json, Origin | None] | None:
    """What to show instead, and where a text stands; None when the output is something else too. `reads` is `shell.run`'s."""
    if not reads:
        return None
    first = reads[0]
    if any(read.get("first") is None for read in reads):
        return output, Origin(_path(folder, first)) if len(reads) == 1 else None
    lines = output.removesuffix("\n").split("\n")
    if len(lines) - sum(int(read["lines"]) for read in reads) > _SEPARATORS * len(reads):
        return None
    if len(reads) == 1 and not first["numbered"]:
        return output, Origin(_path(folder, first), "", first["first"])
    slices = [_slice(lines, read, folder) for read in reads]
    return slices if len(slices) > 1 else slices[0], None


def _slice(lines: Sequence[str], read: Mapping[str, Any], folder: str) -> dict[str, Any]:
    rows = lines[read["at"] : read["at"] + read["lines"]]
    if read["numbered"]:
        rows = [found[2] if (found := _NUMBERED.match(row)) else row for row in rows]
    return {
        "path": _path(folder, read),
        "lines": [[read["first"], read["first"] + len(rows) - 1]],
        "text": "\n".join(rows),
    }


def _path(folder: str, read: Mapping[str, Any]) -> str:
    return posixpath.normpath(posixpath.join(folder, str(read["path"])))
