"""Which entries git would ignore: the rules of every `.gitignore` from the root down, the innermost that says something wins.

Rules above the root are not read, nor those of the user: nothing outside the root is. `.git` itself is always left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from catalog import ToolProblem
from tool_packs.root import Root

GIT = ".git"
RULES = ".gitignore"
_EXCLUDE = ".git/info/exclude"
_RULES_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Rules:
    base: str  # the folder the patterns are relative to, "" or with a slash at its end
    spec: GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules that hold in one folder; `entered` gives those of a folder below."""

    rules: tuple[_Rules, ...] = ()

    def ignores(self, path: str, *, folder: bool) -> bool:
        for rules in reversed(self.rules):
            name = path[len(rules.base) :] + ("/" if folder else "")
            said = rules.spec.check_file(name).include
            if said is not None:
                return said
        return False

    def entered(self, root: Root, folder: str, file: str = RULES) -> "Ignore":
        """With the rules that the folder itself has."""
        path = file if folder == "." else f"{folder}/{file}"
        try:
            if root.link(path) is not None:
                return self  # git does not follow a linked .gitignore either
            data, _ = root.read_bytes(path, most_bytes=_RULES_BYTES)
        except ToolProblem:
            return self  # none there, or none that can be read
        spec = _spec(data.decode("utf-8", "replace").splitlines())
        return Ignore((*self.rules, _Rules("" if folder == "." else f"{folder}/", spec)))


def ignore_for(root: Root, folder: str) -> tuple[Ignore, bool]:
    """The rules that hold in a folder, its own included; and whether it is ignored itself."""
    ignore = Ignore().entered(root, ".", _EXCLUDE).entered(root, ".")
    here = ""
    for part in [] if folder == "." else folder.split("/"):
        here = f"{here}/{part}".lstrip("/")
        if part == GIT or ignore.ignores(here, folder=True):
            return ignore, True
        ignore = ignore.entered(root, here)
    return ignore, False


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # one bad pattern; git skips it and goes on
        return GitIgnoreSpec.from_lines([line for line in lines if _reads(line)])


def _reads(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
