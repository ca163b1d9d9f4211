"""Where the files of a session stand: YYYY/MM/DD/rollout-<YYYY-MM-DDTHH-MM-SS>-<id>.jsonl, by the time of its beginning in UTC.

The names sort by time, so the newest are found without opening a file; big values stand beside in `.blobs`, what a crash tore
in `.torn-<n>`.
"""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple

from harness.store import NoStore, StoreError

_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_NAME = re.compile(r"rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-([A-Za-z0-9._-]{1,128})\.jsonl")
_STAMP = "%Y-%m-%dT%H-%M-%S"


class SessionFile(NamedTuple):
    stamp: str
    session: str
    path: Path

    @property
    def second(self) -> float:
        """When it began, cut to the second."""
        try:
            return datetime.strptime(self.stamp, _STAMP).replace(tzinfo=UTC).timestamp()
        except ValueError:  # 2026-99-99
            return 0.0


def checked_id(session: str) -> str:
    if not _ID.fullmatch(session):
        raise StoreError(f"{session!r} cannot be the id of a session kept in files: take 1 to 128 letters, digits, and - _ .")
    return session


def check_folder(folder: Path) -> None:
    """NoStore where nothing is, StoreError for what is no folder."""
    try:
        there = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        told = f"there is no store at {folder}; check the address, or begin one: turnscript run --store {folder} …"
        raise NoStore(told) from None
    except OSError as error:
        raise StoreError(f"cannot look at {folder}: {error.strerror}; give a folder that you may read") from None
    if not S_ISDIR(there.st_mode):
        raise StoreError(f"{folder} is no folder; sessions are files in a folder: give that, or sqlite:FILE for a database")


def file_of(folder: Path, session: str, at: float) -> Path:
    began = datetime.fromtimestamp(at, UTC)
    return (
        folder
        / began.strftime("%Y")
        / began.strftime("%m")
        / began.strftime("%d")
        / f"rollout-{began.strftime(_STAMP)}-{session}.jsonl"
    )


def check_no_link(folder: Path, path: Path) -> None:
    """StoreError where a folder between the two is a link: it would lead out of the store."""
    for one in path.parents:
        if one == folder:
            return
        if one.is_symlink():
            raise StoreError(f"{one} is a link, and links in a store are not followed; put the folder itself there")


def blobs_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".jsonl") + ".blobs")


def torn_of(path: Path) -> Path:
    """The next free one."""
    stem = path.name.removesuffix(".jsonl")
    taken = [int(one.name.rpartition("-")[2]) for one in beside(path) if one.name != f"{stem}.blobs"]
    return path.with_name(f"{stem}.torn-{max(taken, default=0) + 1}")


def beside(path: Path) -> list[Path]:
    """The other files of the session that are there."""
    others = re.compile(re.escape(path.name.removesuffix(".jsonl")) + r"\.(blobs|torn-\d+)")
    return [path.with_name(name) for name in _names(str(path.parent)) if others.fullmatch(name)]


def session_files(folder: Path) -> Iterator[SessionFile]:
    """The newest first, by their names."""
    for day in _days(folder):
        found = [match for name in _names(day) if (match := _NAME.fullmatch(name))]
        for match in sorted(found, key=lambda match: match[0], reverse=True):
            yield SessionFile(match[1], match[2], Path(day, match[0]))


def found_file(folder: Path, session: str) -> Path | None:
    """The newest of this id."""
    end = f"-{session}.jsonl"
    for day in _days(folder):
        for name in sorted((name for name in _names(day) if name.endswith(end)), reverse=True):
            match = _NAME.fullmatch(name)
            if match is not None and match[2] == session:
                return Path(day, name)
    return None


def _days(folder: Path) -> Iterator[str]:
    for year in _folders(str(folder), 4):
        for month in _folders(year, 2):
            yield from _folders(month, 2)


def _folders(folder: str, digits: int) -> list[str]:
    names = [name for name in _names(folder) if len(name) == digits and name.isdigit()]
    return [path for name in sorted(names, reverse=True) if not os.path.islink(path := f"{folder}/{name}")]  # noqa: PTH114 - str


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - many thousands of names
    except (FileNotFoundError, NotADirectoryError):
        return []
