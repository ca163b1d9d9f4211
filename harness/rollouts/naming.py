"""Files that a call of another agent names: in arguments, in a patch, in a command line. For search, so near enough will do."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from harness.rollouts.told import text_of

_MOST = 1_000
_MEMBERS = ("path", "file", "file_path", "filepath", "notebook_path", "filename", "root", "folder", "dir_path")
# None of these looks at a text more than a few times: whoever wrote the rollout may have written the text for them.
_PATCHED = re.compile(r"^\*\*\* (?:Update File|Add File|Delete File|Move to): (.+)$", re.MULTILINE)
_ADDRESS = re.compile(r"(?<![\w+.-])[a-zA-Z][\w+.-]*://\S+")
# A word with a slash in it, or one that ends like a file: no switches, no numbers such as 1.5, no commands of sed such as s/a/b/.
_WORD = re.compile(r"(?<![\w./~@+%-])(?:[\w.@+~-]*/)*[\w.@+-]*\w", re.ASCII)
_FILE = re.compile(r"[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}$")
_COMMANDS = 20_000  # characters of a command line that are looked at: the rest is the text of a file


def paths_in(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Members that are paths, and what a command or a patch among them names."""
    found = [text_of(arguments.get(name)) for name in _MEMBERS]
    for name in ("command", "cmd", "input", "patch"):
        given = arguments.get(name)
        text = " ".join(word for word in given if isinstance(word, str)) if isinstance(given, list) else text_of(given)
        if "*** Begin Patch" in text:
            found += paths_in_patch(text)
        elif name in ("command", "cmd"):
            found += paths_in_command(text)
    return _once(found)


def paths_in_patch(text: str) -> tuple[str, ...]:
    return _once(path.strip() for path in _PATCHED.findall(text))


def paths_in_command(text: str) -> tuple[str, ...]:
    words = _WORD.findall(_ADDRESS.sub(" ", text[:_COMMANDS]))
    return _once(word for word in words if not word.startswith("-") and (_FILE.search(word) or word.count("/") > 1))


def _once(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in found if path))[:_MOST]
