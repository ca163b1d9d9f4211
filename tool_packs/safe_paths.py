"""Where the words of a command lead that needs nobody's approval: a link below the root may lead to any file of the host.

Looked at before the command starts. What a program finds by itself is not: those that follow links on their own are never safe.
"""

import glob
import os
import posixpath
from collections.abc import Iterator, Sequence

from tool_packs.bash_text import Unreadable, Word
from tool_packs.read_only import is_safe, safe_script

_MATCHES_MAX = 10_000


def leads_outside(command: str | Sequence[str], *, root: str, cwd: str) -> str | None:
    """The first word that leads out of the root by a link; None when none does. `root` is a true path, `cwd` below it."""
    if not is_safe(command):
        return None  # a person is asked
    folder = posixpath.join(root, cwd)
    try:
        script = safe_script(command)
    except Unreadable:
        return None
    for one in script.commands:
        program, *args = one.words
        words = [*args, *(redirect.target for redirect in one.redirects if redirect.operator == "<")]
        for word in words:
            for path in _paths(word, folder):
                real = os.path.realpath(path)
                if real != root and not real.startswith(root.rstrip("/") + "/"):
                    return word.text
        if program.text == "cd" and args:
            folder = posixpath.join(folder, args[0].text)
    return None


def _paths(word: Word, folder: str) -> Iterator[str]:
    """What it names, if that is there; of an option its value."""
    text = word.text.partition("=")[2] if word.text.startswith("-") else word.text
    if not text or text == "/dev/null" or "\0" in text:
        return
    if word.pattern:
        found = glob.iglob(posixpath.join(glob.escape(folder), text), include_hidden=True)  # noqa: PTH207
        for path, _ in zip(found, range(_MATCHES_MAX), strict=False):
            yield path
    elif os.path.lexists(path := posixpath.join(folder, text)):
        yield path
