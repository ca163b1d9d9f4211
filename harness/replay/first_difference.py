"""Where two JSON values first differ, and how to say it: the place, what is on record, what is there now. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any
SHOWN_CHARS: Final = 72  # of a value; longer texts are shown around the first differing character
_BEFORE: Final = 24
_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Place:
    """`path`: edits[1].old; "" for the value itself. The two sides are written as JSON, "nothing" where there is none."""

    path: str
    recorded: str
    now: str
    at: str = ""  # where in a long text: "line 3, character 17"

    def rows(self) -> list[str]:
        name = self.path or "value"
        where = f"  ({self.at})" if self.at else ""
        return [f"{name}: recorded {self.recorded}{where}", f"{' ' * len(name)}  now      {self.now}"]


def first_difference(recorded: Json, now: Json, *, without: Sequence[str] = ()) -> Place | None:
    """None when they are equal. `without`: members of the outermost object that do not count."""
    if isinstance(recorded, dict) and isinstance(now, dict) and without:
        recorded = {name: one for name, one in recorded.items() if name not in without}
        now = {name: one for name, one in now.items() if name not in without}
    return _first("", recorded, now)


def _first(path: str, recorded: Json, now: Json) -> Place | None:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for name in dict.fromkeys((*recorded, *now)):
            inside = f"{path}.{name}" if path else str(name)
            found = _first(inside, recorded.get(name, _NOTHING), now.get(name, _NOTHING))
            if found is not None:
                return found
        return None
    if isinstance(recorded, list | tuple) and isinstance(now, list | tuple):
        for at in range(max(len(recorded), len(now))):
            pair = (one[at] if at < len(one) else _NOTHING for one in (recorded, now))
            found = _first(f"{path}[{at}]", *pair)
            if found is not None:
                return found
        return None
    if _same(recorded, now):
        return None
    if isinstance(recorded, str) and isinstance(now, str):
        return _texts(path, recorded, now)
    return Place(path, _told(recorded), _told(now))


def _same(recorded: Json, now: Json) -> bool:
    if recorded is _NOTHING or now is _NOTHING:
        return recorded is now
    return bool(recorded == now) and isinstance(recorded, bool) == isinstance(now, bool)


def _texts(path: str, recorded: str, now: str) -> Place:
    at = next((n for n, (a, b) in enumerate(zip(recorded, now, strict=False)) if a != b), min(len(recorded), len(now)))
    if max(len(recorded), len(now)) <= SHOWN_CHARS:
        return Place(path, _told(recorded), _told(now))
    line, before = recorded.count("\n", 0, at) + 1, recorded.rfind("\n", 0, at)
    return Place(path, _around(recorded, at), _around(now, at), f"line {line}, character {at - before}")


def _around(text: str, at: int) -> str:
    start = max(0, at - _BEFORE)
    piece = text[start : start + SHOWN_CHARS]
    return ("…" if start else "") + _told(piece) + ("…" if start + SHOWN_CHARS < len(text) else "")


def _told(value: Json) -> str:
    if value is _NOTHING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 2 * SHOWN_CHARS else text[: 2 * SHOWN_CHARS] + "…"
