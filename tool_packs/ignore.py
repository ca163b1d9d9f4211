"""Which entries git would ignore: the rules of every `.gitignore` from the root down, the innermost that says something wins.

Rules above the root are not read, nor those of the user: nothing outside the root is. `.git` itself is always left out. Patterns
with more than three stars in a part are passed over, for what they can cost.
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
_STARS = 3  # in one part of a pattern, or "**" in all: each more multiplies the time a hostile name takes by up to 255


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
            if not root.exists(path) or root.link(path) is not None:
                return self  # git does not follow a linked .gitignore either
            data, _ = root.read_bytes(path, most_bytes=_RULES_BYTES)
        except ToolProblem:
            return self  # none that can be read
        spec = _spec([line for line in data.decode("utf-8", "replace").splitlines() if not is_costly(line)])
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


def is_costly(pattern: str) -> bool:
    """Patterns become regular expressions that go back and forth; what would take seconds for one name is not used."""
    parts = pattern.split("/")
    return parts.count("**") > _STARS or any(part.count("*") > _STARS for part in parts)


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
