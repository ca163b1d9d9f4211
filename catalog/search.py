"""Ranked search over tools by everyday words: BM25 over fields, with synonyms and misspellings, and no model.

A query word counts through its best match alone: the word itself, else a synonym, else a word that begins with it or is spelt
nearly like it. The order is the same on every run; equals stay in the order of the catalogue.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, log
from typing import Any, TypeAlias

from rapidfuzz import process
from rapidfuzz.distance import OSA

from catalog.tool import Tool
from catalog.words import FILLER, doers, joined, stem, synonyms, tokens, words_of

_WEIGHTS = {"name": 3.0, "summary": 2.5, "pack": 2.0, "arguments": 1.2, "doc": 0.6, "pack_doc": 0.5, "argument_docs": 0.5}
_LENGTH = {"name": 0.7, "summary": 0.7, "pack": 0.3, "arguments": 0.7, "doc": 0.7, "pack_doc": 0.7, "argument_docs": 0.8}
_SATURATION = 2.5
_SYNONYM = 0.7
_BEGINS = 0.7
_MISSPELT = (0.85, 0.65)  # by one letter, by two
_COVERAGE = 0.5  # of the score, for how much of the query is matched
_DOC_CHARS = 3_000
_QUERY_CHARS = 500
_ARGUMENTS_MAX = 60
_HEADS = ("name", "summary", "pack")

_Places: TypeAlias = dict[str, list[tuple[int, float]]]
_Alternative: TypeAlias = tuple[str, float, _Places]  # a word, what it is worth, and where it counts


@dataclass(frozen=True, slots=True)
class Hit:
    tool: Tool
    score: float


def search(tools: Iterable[Tool], query: str, *, limit: int = 10, pack_docs: Mapping[str, str] | None = None) -> list[Hit]:
    """The best first. The index of these very tools is made at the first search and remembered."""
    return _index(tuple(tools), tuple((pack_docs or {}).items())).search(query, limit)


@lru_cache(maxsize=8)
def _index(tools: tuple[Tool, ...], pack_docs: tuple[tuple[str, str], ...]) -> "Index":
    return Index(tools, dict(pack_docs))


class Index:
    def __init__(self, tools: Sequence[Tool], pack_docs: Mapping[str, str] | None = None) -> None:
        self._tools = tuple(tools)
        self._names = [(joined(tool.name), joined(tool.full_name)) for tool in self._tools]
        counted = [
            {field: Counter(words) for field, words in _fields(tool, (pack_docs or {}).get(tool.pack, ""))}
            for tool in self._tools
        ]
        mean = {field: max(1.0, sum(counts[field].total() for counts in counted) / max(1, len(counted))) for field in _WEIGHTS}
        self._places: _Places = {}  # where a word stands
        self._heads: _Places = {}  # where it stands in a name or a summary: what a synonym is looked for in
        for place, fields in enumerate(counted):
            _add(self._places, place, fields, mean)
            _add(self._heads, place, {field: fields[field] for field in _HEADS}, mean)
        self._vocabulary = list(dict.fromkeys([*self._places, *synonyms()]))

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        scores: dict[int, float] = {}
        covered: dict[int, float] = {}
        whole = 0.0
        for readings in self._wanted(query):
            best: dict[int, float] = {}
            worth = 0.0
            for reading in readings:
                values, told = self._score(reading)
                worth = max(worth, told)
                best.update((place, value) for place, value in values.items() if value > best.get(place, 0.0))
            whole += worth
            for place, value in best.items():
                scores[place] = scores.get(place, 0.0) + value
                covered[place] = covered.get(place, 0.0) + worth
        for place, score in scores.items():
            scores[place] = score * (1 - _COVERAGE + _COVERAGE * covered[place] / whole)
        self._add_exact_names(joined(query), scores)
        order = sorted(scores, key=lambda place: (-round(scores[place], 6), place))
        return [Hit(self._tools[place], round(scores[place], 6)) for place in order[:limit]]

    def _score(self, words: Sequence[str]) -> tuple[dict[int, float], float]:
        """Of some words together: for each tool, and the most that any tool could have."""
        scores: dict[int, float] = {}
        worth = 0.0
        for word in words:
            best: dict[int, float] = {}
            most = self._rarity(word) if word in self._places else inf
            told = 0.0
            for other, weight, places in self._alternatives(word):
                value = weight * min(most, self._rarity(other))  # a rare synonym of a common word is worth no more than the word
                told = max(told, value)
                for place, strength in places.get(other, ()):
                    if value * strength > best.get(place, 0.0):
                        best[place] = value * strength
            worth += told
            for place, value in best.items():
                scores[place] = scores.get(place, 0.0) + value
        return scores, worth

    def _add_exact_names(self, query: str, scores: dict[int, float]) -> None:
        top = max(scores.values(), default=0.0) + 1.0
        for place, (name, full) in enumerate(self._names):
            if query and query in (name, full):
                scores[place] = scores.get(place, 0.0) + top * (2 if query == full else 1)

    def _rarity(self, word: str) -> float:
        found = len(self._places.get(word, ()))
        return log(1 + (len(self._tools) - found + 0.5) / (found + 0.5)) if found else 0.0

    def _wanted(self, query: str) -> Iterator[list[list[str]]]:
        """The query in pieces, each with the ways to read it: `money back` is also refund, `time zone` timezone."""
        found = list(tokens(query[:_QUERY_CHARS]))
        words = [stem(token) for token in found]
        bare = all(token in FILLER for token in found)
        at = 0
        while at < len(words):
            pair, said = words[at : at + 2], found[at : at + 2]
            known = [["_".join(pair)]] if "_".join(pair) in synonyms() else []
            if len(pair) == 2 and FILLER.isdisjoint(said) and stem("".join(said)) in self._places:
                known.append([stem("".join(said))])
            if known:
                yield [[word for word, token in zip(pair, said, strict=True) if token not in FILLER], *known]
                at += 2
                continue
            word = words[at]
            if bare or found[at] not in FILLER:
                yield [([] if word in self._places or word in synonyms() else self._parts(word)) or [word]]
            at += 1

    def _parts(self, word: str) -> list[str]:
        """Two known words that were written as one."""
        for at in range(3, len(word) - 2):
            parts = [stem(word[:at]), stem(word[at:])]
            if all(part in self._places for part in parts):
                return parts
        return []

    def _alternatives(self, word: str) -> Iterator[_Alternative]:
        """Words of the index that may stand for this one, with what each is worth."""
        known = word in self._places
        if known:
            yield word, 1.0, self._places
        groups = synonyms()
        yield from ((other, _SYNONYM, self._heads) for other in sorted(groups.get(word, ())))
        if known or word in groups:
            return
        for other, weight in self._near(word):
            yield other, weight, self._places
            yield from ((third, weight * _SYNONYM, self._heads) for third in sorted(groups.get(other, ())))

    def _near(self, word: str) -> Iterator[tuple[str, float]]:
        if len(word) < 3 or not word.isascii():
            return
        if len(word) >= 4:
            yield from (
                (other, _BEGINS)
                for other in self._vocabulary
                if other.startswith(word) or (len(other) > 4 and word.startswith(other))
            )
        most = 1 if len(word) < 6 else 2
        near = process.extract(word, self._vocabulary, scorer=OSA.distance, score_cutoff=most, limit=5)
        yield from ((other, _MISSPELT[int(distance) - 1]) for other, distance, _ in near if distance and len(other) > 2)


def _add(places: _Places, place: int, fields: Mapping[str, Counter[str]], mean: Mapping[str, float]) -> None:
    weights: dict[str, float] = {}
    for field, counts in fields.items():
        spread = 1 - _LENGTH[field] + _LENGTH[field] * counts.total() / mean[field]
        for word, times in counts.items():
            weights[word] = weights.get(word, 0.0) + _WEIGHTS[field] * times / spread
    for word, weight in weights.items():
        places.setdefault(word, []).append((place, weight / (_SATURATION + weight)))


def _fields(tool: Tool, pack_doc: str) -> Iterator[tuple[str, list[str]]]:
    summary = tool.summary
    described = list(tool.properties.items())[:_ARGUMENTS_MAX]
    yield "name", [*words_of(tool.name), *doers(tool.name)]
    yield "summary", words_of(summary[:_DOC_CHARS])
    yield "pack", words_of(tool.pack)
    yield "arguments", words_of(" ".join(name for name, _ in described))
    yield "doc", words_of(tool.doc[len(summary) : _DOC_CHARS])
    yield "pack_doc", words_of(pack_doc[:_DOC_CHARS])
    yield "argument_docs", words_of(" ".join(_words_of_schema(schema) for _, schema in described))


def _words_of_schema(schema: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    values = schema.get("enum")
    told = [str(value) for value in values[:20]] if isinstance(values, list) else []
    described = schema.get("description")
    return " ".join([described[:500] if isinstance(described, str) else "", *told])
