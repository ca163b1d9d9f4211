"""How well a path fits what somebody typed. Pure.

Exact comes before beginning, part and scattered letters, the name before the folders. Scores run up to 100; only their order
means something. Words are parted by spaces and all of them must fit.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

_TYPO = 70.0  # of 100: how alike a name must be when nothing fits otherwise
_LOOSEST = 4  # letters scattered over folders and name fit nearly everything otherwise
_WORD_START = r"(?:^|(?<=[^A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z]))"


@dataclass(frozen=True, slots=True)
class Ranked:
    path: str
    score: float


def ranked(query: str, paths: Sequence[str]) -> list[Ranked]:
    """Every path that fits, the best first; the same order for the same paths whatever order they came in."""
    words = query.split()
    if not words:
        return []
    scorers = [_scorer(word) for word in words]
    found = list[Ranked]()
    for path in paths:
        scores = [scorer(path) for scorer in scorers]
        if min(scores) > 0:
            found.append(Ranked(path, round(sum(scores) / len(scores), 1)))
    if not found:
        found = _typos("".join(words), paths)
    return sorted(found, key=lambda one: (-one.score, len(one.path), one.path))


def _scorer(word: str) -> Callable[[str], float]:
    """0 for a path that does not fit."""
    wanted = word.lower().removeprefix("./")
    whole, size = "/" in wanted, len(wanted)
    at_start = re.compile(_WORD_START + f"(?i:{re.escape(wanted)})")
    scattered = re.compile("".join(_then(char, first=not index) for index, char in enumerate(wanted)), re.DOTALL)

    def score(path: str) -> float:
        lower = path.lower()
        folder, _, name = lower.rpartition("/")
        exact = 1.0 if word in path else 0.0  # as it was typed, capitals too
        if not whole:
            if wanted in name:
                return _in_name(path, name) + exact
            if wanted in folder:
                part = 62.0 if f"/{wanted}/" in f"/{folder}/" else 55.0
                return part + 4 * len(wanted) / len(lower) + exact
            return _scattered(scattered, size, name, 40.0) or _scattered(scattered, size, lower, 15.0, loosest=_LOOSEST)
        if wanted in lower:
            part = (
                98.0 if lower == wanted else 92.0 if lower.endswith("/" + wanted) else 80.0 if lower.startswith(wanted) else 70.0
            )
            return part + 1.0 * len(wanted) / len(lower)
        return _scattered(scattered, size, lower, 30.0)

    def _in_name(path: str, name: str) -> float:
        if name == wanted:
            return 99.0
        if name.rpartition(".")[0] == wanted or name.partition(".")[0] == wanted:
            return 94.0 + len(wanted) / len(name)
        part = 84.0 if name.startswith(wanted) else 74.0 if at_start.search(path, len(path) - len(name)) else 66.0
        return part + 4 * len(wanted) / len(name)

    return score


def _then(char: str, *, first: bool) -> str:
    """Up to the next such letter and no further: there is one way to match, so a search is linear."""
    return re.escape(char) if first else f"[^{re.escape(char)}]*{re.escape(char)}"


def _scattered(pattern: re.Pattern[str], size: int, text: str, most: float, *, loosest: int = 255) -> float:
    """The tighter together the letters are, the better; at best `most` + 10, and 0 beyond `loosest` times the word."""
    best = start = 0
    while (found := pattern.search(text, start)) is not None:
        span = found.end() - found.start()
        best = min(best or span, span)
        start = found.start() + 1
    return most + 10 * size / best - 4 * (1 - size / len(text)) if 0 < best <= loosest * size else 0.0


def _typos(word: str, paths: Sequence[str]) -> list[Ranked]:
    names = [path.rpartition("/")[2].lower() for path in paths]
    near = dict[int, float]()
    for choices in (names, [name.partition(".")[0] or name for name in names]):
        for _, score, index in process.extract(word.lower(), choices, scorer=fuzz.ratio, score_cutoff=_TYPO, limit=None):
            near[index] = max(near.get(index, 0.0), score)
    return [Ranked(paths[index], round(score / 10, 1)) for index, score in near.items()]
