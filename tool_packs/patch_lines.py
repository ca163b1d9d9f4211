"""A text as lines, and where a run of lines stands in it: exactly, or but for white space or look-alike characters. Pure.

Each distinct line becomes one character of a long string, so that finding a run of lines is `str.find`: no search is worse than
linear in the text, and most of it is done in C.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_ALIKE = str.maketrans(
    dict.fromkeys("‐‑‒–—―−", "-")  # hyphens, dashes, minus
    | dict.fromkeys("‘’‚‛", "'")
    | dict.fromkeys("“”„‟", '"')
    | dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
)
_CHARACTERS = 0x10FFFF  # a text of more distinct lines than that gives some of them the same one; matches are checked


def plain(text: str) -> str:
    """Dashes, quotes and spaces as a keyboard has them; as long as it was."""
    return text.translate(_ALIKE)


def _alike(line: str) -> str:
    return plain(line).strip()


def _same(line: str) -> str:
    return line


# In the order in which they are tried; the name says what had to be overlooked.
TIERS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("", _same),
    ("white space at line ends", str.rstrip),
    ("white space at both ends of lines", str.strip),
    ("look-alike characters", _alike),
)


@dataclass(frozen=True, slots=True)
class Place:
    start: int  # index of the first line
    overlooked: str  # "" when it is exactly there


def split(text: str) -> tuple[list[str], list[str]]:
    """The lines without their endings, and the endings: "\\n", "\\r\\n", or "" for a last line that has none."""
    lines, endings = list[str](), list[str]()
    rows = text.split("\n")
    last = rows.pop()
    for row in rows:
        bare = row.removesuffix("\r")
        lines.append(bare)
        endings.append("\n" if len(bare) == len(row) else "\r\n")
    if last:
        lines.append(last)
        endings.append("")
    return lines, endings


class Lines:
    """Lines that runs of lines are looked for in. What is computed for one search serves the next."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._indexes: dict[int, _Index] = {}
        self._stripped: _Stripped | None = None

    def __len__(self) -> int:
        return len(self.lines)

    def find(self, wanted: Sequence[str], start: int) -> Place | None:
        """The first place at `start` or after it, by the first tier that has one."""
        for tier, (overlooked, _) in enumerate(TIERS):
            found = self._index(tier).find(wanted, start)
            if found is not None:
                return Place(found, overlooked)
        return None

    def at(self, wanted: Sequence[str], start: int) -> Place | None:
        """Is it at `start` itself?"""
        if start < 0 or start + len(wanted) > len(self.lines):
            return None
        there = self.lines[start : start + len(wanted)]
        for overlooked, key in TIERS:
            if all(key(one) == key(other) for one, other in zip(there, wanted, strict=True)):
                return Place(start, overlooked)
        return None

    def beginning(self, wanted: str, start: int) -> Place | None:
        """The first line that begins with the text, white space around it left aside."""
        if self._stripped is None:
            self._stripped = _Stripped(self.lines)
        found = self._stripped.find(wanted.strip(), start)
        return None if found is None else Place(found, "the rest of the line")

    def _index(self, tier: int) -> "_Index":
        if tier not in self._indexes:
            self._indexes[tier] = _Index(self.lines, TIERS[tier][1])
        return self._indexes[tier]


class _Index:
    """The lines, each distinct one as one character."""

    def __init__(self, lines: Sequence[str], key: Callable[[str], str]) -> None:
        self._key = key
        self._keys = [key(line) for line in lines]
        self._numbers: dict[str, int] = {}
        self._text = "".join([chr(self._numbers.setdefault(one, len(self._numbers)) % _CHARACTERS) for one in self._keys])

    def find(self, wanted: Sequence[str], start: int) -> int | None:
        keys = [self._key(line) for line in wanted]
        numbers = [self._numbers.get(one, -1) for one in keys]
        if -1 in numbers:
            return None
        needle = "".join([chr(number % _CHARACTERS) for number in numbers])
        found = self._text.find(needle, start)
        while found >= 0 and self._keys[found : found + len(keys)] != keys:
            found = self._text.find(needle, found + 1)
        return found if found >= 0 else None


class _Stripped:
    """The lines without white space around them as one text, each after a line feed."""

    def __init__(self, lines: Sequence[str]) -> None:
        bare = [line.strip() for line in lines]
        self._text = "\n" + "\n".join(bare)
        self._starts = list[int]()
        here = 0
        for line in bare:
            self._starts.append(here)
            here += len(line) + 1

    def find(self, wanted: str, start: int) -> int | None:
        if start >= len(self._starts):
            return None
        found = self._text.find("\n" + wanted, self._starts[start])
        while found >= 0 and self._within_a_word(found + len(wanted)):
            found = self._text.find("\n" + wanted, found + 1)
        return None if found < 0 else bisect_left(self._starts, found)

    def _within_a_word(self, last: int) -> bool:
        """`def a` does not begin `def ab():`."""
        pair = self._text[last : last + 2]
        return len(pair) == 2 and all(each.isalnum() or each == "_" for each in pair)
