"""How much lies in each folder: files and bytes, those of the folders below included. Pure, over entries that a walk met."""

from collections.abc import Iterable
from dataclasses import dataclass

from tool_packs.folders import Met


@dataclass(slots=True)
class Sum:
    path: str
    depth: int  # 0 for the folder that was asked for
    files: int = 0
    folders: int = 0
    bytes: int = 0


def sums(top: str, entries: Iterable[Met]) -> list[Sum]:
    """One for each folder, a folder before what lies in it, names in order."""
    found = {top: Sum(top, 0)}
    met = list(entries)
    for entry in met:
        if entry.kind == "dir":
            found[entry.path] = Sum(entry.path, entry.depth)
    for entry in met:
        size = entry.facts.st_size if entry.facts is not None and entry.kind == "file" else 0
        for folder in _above(entry.path, top):
            found[folder].bytes += size
            found[folder].files += entry.kind != "dir"
            found[folder].folders += entry.kind == "dir"
    return sorted(found.values(), key=lambda one: [] if one.depth == 0 else one.path.split("/"))


def text_of(folders: Iterable[Sum]) -> str:
    """One line a folder, two spaces a level."""
    return "\n".join(f"{'  ' * one.depth}{_name(one)} {_count(one.files)}, {size_text(one.bytes)}" for one in folders)


def size_text(size: int) -> str:
    number, unit = float(size), "B"
    for bigger in ("KB", "MB", "GB", "TB"):
        if number < 1000:
            break
        number, unit = number / 1000, bigger
    return f"{size} B" if unit == "B" else f"{number:.1f} {unit}"


def _above(path: str, top: str) -> Iterable[str]:
    """The folders that hold it, from `top` down."""
    yield top
    at = path.find("/", 0 if top == "." else len(top) + 1)
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _name(one: Sum) -> str:
    return one.path if one.depth == 0 else one.path.rsplit("/", 1)[-1] + "/"


def _count(files: int) -> str:
    return "1 file" if files == 1 else f"{files:,} files"
