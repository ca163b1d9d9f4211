"""What is kept of a result, and the state of what it was read from. Both are JSON on disk.

Two states are equal only if every stamp is; a file that changed too lately for its stamp to be trusted is told by content too.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class State:
    """Of some keys, at one look."""

    keys: tuple[str, ...]  # canonical, sorted
    digest: str  # over all stamps
    racy: tuple[tuple[str, str], ...] = ()  # paths whose stamps were too young to be trusted, with the id of their content

    def to_json(self) -> dict[str, Json]:
        return {"keys": list(self.keys), "digest": self.digest, "racy": [[_text(path), oid] for path, oid in self.racy]}

    @classmethod
    def from_json(cls, told: Mapping[str, Json]) -> "State":
        """KeyError, TypeError or ValueError for what is no state."""
        racy = tuple((_path(str(path)), str(oid)) for path, oid in told["racy"])
        return cls(tuple(str(key) for key in told["keys"]), str(told["digest"]), racy)


@dataclass(frozen=True, slots=True)
class Kept:
    """A result. Its value is shared by everybody who gets it: never change it."""

    value: Json
    size: int  # bytes of the value as JSON
    reads: tuple[str, ...]  # canonical keys
    state: State | None  # None: of a call that reads nothing
    label: str  # the call it came from: "T2 call 7"


def _text(path: str) -> str:
    """Names may be any bytes; JSON carries text. One character a byte."""
    return os.fsencode(path).decode("latin-1")


def _path(text: str) -> str:
    return os.fsdecode(text.encode("latin-1"))
