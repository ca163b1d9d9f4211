"""The name that was probably meant. One idea of nearness for tools, packs, arguments and handles."""

import re
from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_LEAST = 0.55  # four letters with one wrong pass, three with two wrong do not


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Few letters changed, case and underscores aside; or one name inside the other, as `filePath` holds `path`."""
    known = list(names)
    found = process.extractOne(
        name, known, scorer=DamerauLevenshtein.normalized_similarity, processor=_plain, score_cutoff=_LEAST
    )
    if found is not None:
        return str(found[0])
    words = set(parts(name))
    held = [one for one in known if words and (words >= set(parts(one)) or words <= set(parts(one)))]
    return held[0] if len(held) == 1 else None


def parts(name: str) -> list[str]:
    """`maxResults`, `max_results` and `max-results` are max and results."""
    return [part.lower() for part in _PARTS.findall(name)]


def _plain(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")
