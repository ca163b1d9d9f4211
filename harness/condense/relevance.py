"""Which lines matter most: those that tell of trouble, those with what the script looked for, with some lines around. Pure.

Found by plain substring search over the whole text, which costs the same whatever the lines look like.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from harness.condense.page import Interval

_TROUBLE = (
    "error", "Error", "ERROR", "FAIL", "Fail", "failed", "failure", "panic", "Traceback", "xception", "fatal", "Fatal", "FATAL",
    "not found", "No such", "denied", "warning:", "WARN", "undefined", "cannot ", "Cannot ", "Killed", "refused", "timed out",
)  # fmt: skip
_FOUND_MAX = 400


class Lines:
    """Lines that are searched for several words; where they begin is reckoned once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._joined = "\n".join(lines)
        self._starts: list[int] | None = None

    def holding(self, word: str, most: int) -> list[int]:
        """The first so many lines with a word, in order."""
        found: list[int] = []
        at = self._joined.find(word) if word and "\n" not in word else -1
        if at < 0:
            return found
        if self._starts is None:
            self._starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        while at >= 0 and len(found) < most:
            line = bisect_right(self._starts, at) - 1
            found.append(line)
            at = self._joined.find(word, self._starts[line + 1])
        return found


def lines_that_tell(lines: Sequence[str], terms: tuple[str, ...]) -> list[int]:
    """Lines with a term first, then lines with a word of trouble; each in their order."""
    text = Lines(lines)
    with_terms = _with_any(text, terms)
    return [*with_terms, *sorted(set(_with_any(text, _TROUBLE)) - set(with_terms))]


def lines_with_terms(lines: Sequence[str], terms: tuple[str, ...]) -> list[int]:
    return _with_any(Lines(lines), terms) if terms else []


def around(found: Iterable[int], context: int, count: int) -> list[Interval]:
    """Each line with its neighbours; those that touch are one."""
    merged: list[Interval] = []
    for at in sorted(found):
        first, last = max(0, at - context), min(count, at + context + 1)
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def _with_any(text: Lines, words: Iterable[str]) -> list[int]:
    found: set[int] = set()
    for word in words:
        found.update(text.holding(word, _FOUND_MAX))
        if len(found) >= _FOUND_MAX:
            break
    return sorted(found)[:_FOUND_MAX]
