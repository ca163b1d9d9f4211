"""Paths of this machine in a text, and what stands there instead: {turnscript:root}, {turnscript:home}, {turnscript:tmp}.

A path counts where it begins and ends as a path: /home/ada is in /home/ada/x and in -I/home/ada, not in /home/adam and not in
/mnt/home/ada. The longest one goes first. What is put back is the path as it was given, not the one that links lead to.
"""

import os.path
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from harness.scrub_moves import NO_EDITS, Edits, substituted

Json: TypeAlias = Any
_NAME = r"\w.~+@%$"  # what goes on with a name, at either end; $ too, or a template literal would get a ${…}
_BEFORE = rf"(?:(?<![{_NAME}-])(?<!:/)|(?<=[\s\"'=]-[A-Za-z])|(?<=\\[nrtbfv]))"  # \n may be written out, and :// begins a host
_AFTER = r"(?![\w~+@%-]|\.[\w.-])"  # a full stop ends a sentence, or goes on with the name


def places_of(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """By their names in placeholders. A folder that is everywhere, as / is, is none."""
    told = {"root": str(root.absolute()), "home": environment.get("HOME", ""), "tmp": environment.get("TMPDIR") or "/tmp"}
    return {name: path for name, path in told.items() if path.startswith("/") and path.strip("/")}


def placeholder(name: str) -> str:
    return f"{{turnscript:{name}}}"


class Places:
    """Looks once where links lead."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._given = {placeholder(name): path.rstrip("/") for name, path in places.items()}
        self._found: dict[str, str] = {}
        for mark, path in self._given.items():
            for one in (path, os.path.realpath(path)):
                if one.strip("/"):
                    self._found.setdefault(one, mark)
        paths = sorted(self._found, key=len, reverse=True)
        below = "".join(rf"(?<!{re.escape(mark)})" for mark in self._given)  # what follows a placeholder is a path below it
        self._paths = re.compile(f"{_BEFORE}{below}(?:{'|'.join(map(re.escape, paths)) or '(?!)'}){_AFTER}")
        self._marks = re.compile("|".join(map(re.escape, self._given)) or "(?!)")
        self._path_needles = [_needle(path) for path in paths]
        self._mark_needles = [_needle(mark) for mark in self._given]

    def out_of(self, text: str) -> tuple[str, Edits]:
        """With placeholders."""
        if not any(path in text for path in self._found):  # most texts: much faster than the expression
            return text, NO_EDITS
        return substituted(text, self._paths, lambda one: self._found[one[0]])

    def into(self, text: str) -> tuple[str, Edits]:
        """With paths again."""
        return substituted(text, self._marks, lambda one: self._given[one[0]])

    def may_hold_paths(self, value: Json) -> bool:
        return _may_hold(value, self._path_needles)

    def may_hold_marks(self, value: Json) -> bool:
        return _may_hold(value, self._mark_needles)


def _may_hold(value: Json, needles: list[bytes]) -> bool:
    """All texts of a value in one look at its JSON."""
    try:
        data = orjson.dumps(value)
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits: look at every text
        return True
    return any(needle in data for needle in needles)


def _needle(text: str) -> bytes:
    """As it stands in JSON; "" is in everything."""
    try:
        return orjson.dumps(text)[1:-1]
    except TypeError:
        return b""
