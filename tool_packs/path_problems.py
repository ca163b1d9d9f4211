"""What the system says of a path, in words for a script: one code each, the path named, the next step.

Nothing here decides anything about confinement: names are looked up through beneath.py, or below a folder that is open.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from catalog import ToolProblem
from tool_packs.beneath import Beneath

_SHOWN = 200  # characters of a path in a message
_SCANNED = 4_000  # entries looked at for a file of the same name elsewhere: some milliseconds
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache"})
_NEAR = 60.0  # of 100: a typing error or two in a short name
_ALIKE = 80.0  # the same for names in other folders, where chance finds more
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class _Told:
    code: str
    text: str
    hint: str


_TOLD = {
    errno.EISDIR: _Told("is_directory", "{path} is a folder, not a file", "list it, or name a file in it"),
    errno.ENOTDIR: _Told("not_a_directory", "{path}: a part of the path is a file, not a folder", "list the folder above it"),
    errno.EXDEV: _Told("outside_root", "{path} leads outside the root through a link", "only paths below the root can be used"),
    errno.ENXIO: _Told("not_a_file", "{path} is a FIFO, a device or a socket, not a file", "name a regular file"),
    errno.EFBIG: _Told("too_large", "{path}: the system allows no file that large", "write less"),
    errno.ENOSPC: _Told("disk_full", "{path} was not written: the disk is full", "nothing was changed; free some space first"),
    errno.ENAMETOOLONG: _Told("name_too_long", "{path}: a name in the path is too long", "most systems allow 255 bytes a name"),
    errno.ELOOP: _Told("loop", "{path}: its links lead in a circle, or through more than 40 links", "name the file itself"),
    errno.EEXIST: _Told("already_exists", "{path} is there already", "choose another name, or replace it"),
    errno.ENOTEMPTY: _Told("not_empty", "{path} is a folder with files in it", "remove the files first"),
    errno.EACCES: _Told("permission_denied", "{path}: the system refuses access", "use another path, or ask for access"),
    errno.EROFS: _Told("permission_denied", "{path}: the file system is read-only", "use another path, or ask for access"),
}
_SAME = {
    errno.EPERM: errno.EACCES,
    errno.EDQUOT: errno.ENOSPC,
    errno.ENODEV: errno.ENXIO,
    errno.EOPNOTSUPP: errno.ENXIO,
    errno.EMLINK: errno.ELOOP,
}


def readable(name: str) -> str:
    """A name of the file system as text that JSON can carry: bytes that are no UTF-8 become \\xNN."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).decode("utf-8", "backslashreplace")
    return name


def brief(path: str) -> str:
    text = readable(path)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"


def problem_of(error: OSError, path: str) -> ToolProblem:
    """Of every error but ENOENT, which has more to say: see not_found."""
    code = error.errno or 0
    told = _TOLD.get(_SAME.get(code, code))
    if told is None:
        reason = f"{error.strerror or type(error).__name__} (errno {code})"
        return ToolProblem("io_error", f"{brief(path)}: {reason}", hint="try again once", data={"path": readable(path)})
    return ToolProblem(told.code, told.text.format(path=brief(path)), hint=told.hint, data={"path": readable(path)})


def not_found(path: str, beneath: Beneath) -> ToolProblem:
    """`path` as seen from the root. Names what is near: beside it, and elsewhere under the same name."""
    folder, missing, names = _deepest(path, beneath)
    facts = {"path": readable(path)}
    if missing in names:
        said = f"{brief(_join(folder, missing))} is a link to nothing"
        return ToolProblem("not_found", said, hint="name the file itself", data=facts)
    beside = [readable(_join(folder, near)) for near in _nearest(missing, names)]
    name = path.rsplit("/", 1)[-1]
    elsewhere = [found for found in _elsewhere(name, beneath.fd) if found not in beside][:3]
    where = "the root" if folder == "." else brief(folder)
    above = "" if _join(folder, missing) == path else f"; {where} has no {brief(missing)}"
    near = (beside + elsewhere)[:4]
    return ToolProblem(
        "not_found",
        f"nothing is at {brief(path)}{above}",
        hint=f"did you mean {' or '.join(map(brief, near))}?" if near else f"list {where} to see what is there",
        data=facts | {"near": near},
    )


def _join(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def _deepest(path: str, beneath: Beneath) -> tuple[str, str, list[str]]:
    """The last folder of the path that is there, the name missing in it, and the names it has."""
    parts = path.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        folder = "/".join(parts[:depth]) or "."
        try:
            here = beneath.open(folder, _FOLDER & ~os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            return folder, parts[depth], [entry for entry, _ in _entries(here, _SCANNED)]
        finally:
            os.close(here)
    return ".", parts[0], []


def _nearest(name: str, names: list[str]) -> list[str]:
    found = process.extract(name.lower(), {each: each.lower() for each in names}, scorer=fuzz.ratio, limit=3, score_cutoff=_NEAR)
    return [key for _, _, key in found]


def _elsewhere(name: str, root: int) -> list[str]:
    """Files and folders of the same name below the root, else of a very similar one. Breadth first, at most _SCANNED entries,
    folders that people do not write in left out."""
    todo, left = deque(["."]), _SCANNED
    seen: dict[str, str] = {}
    while todo and left > 0:
        folder = todo.popleft()
        try:
            here = _open_below(folder, root)
        except OSError:
            continue
        try:
            for entry, mode in _entries(here, left):
                left -= 1
                seen[_join(folder, entry)] = entry.lower()
                if stat.S_ISDIR(mode) and entry not in _SKIPPED:
                    todo.append(_join(folder, entry))
        finally:
            os.close(here)
    same = [path for path, entry in seen.items() if entry == name.lower()]
    near = same or [path for _, _, path in process.extract(name.lower(), seen, scorer=fuzz.ratio, limit=3, score_cutoff=_ALIKE)]
    return [readable(path) for path in near]


def _open_below(path: str, root: int) -> int:
    """By names that a scan gave; a link among them by now ends it."""
    here = os.dup(root)
    for part in path.split("/"):
        try:
            below = os.open(part, _FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def _entries(folder: int, most: int) -> Iterator[tuple[str, int]]:
    # A fresh descriptor: scandir on one that was read before would begin where that reading ended.
    try:
        fresh = os.open(".", _FOLDER, dir_fd=folder)
    except OSError:
        return
    try:
        with os.scandir(fresh) as entries:
            for count, entry in enumerate(entries):
                if count >= most:
                    return
                yield entry.name, stat.S_IFDIR if entry.is_dir(follow_symlinks=False) else stat.S_IFREG
    finally:
        os.close(fresh)
