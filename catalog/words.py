"""From text to the words that search compares: split, lower-cased, without filler, stemmed lightly; the synonyms of a word.

Chinese, Japanese and Korean have no spaces, so runs of their characters become pairs of characters.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\W\d_a-zA-Z]+")
_JOINED = re.compile(r"[A-Za-z0-9]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_VOWEL = re.compile(r"[aeiouy]")
FILLER = frozenset({
    "a", "about", "after", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "both", "but",
    "by", "can", "could", "d", "did", "do", "does", "doing", "each", "either", "for", "from", "given", "had", "has",
    "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "itself", "just", "let", "like", "ll", "m", "may", "me", "might", "mine", "more", "most", "must", "my", "need",
    "needs", "no", "not", "of", "off", "on", "once", "only", "onto", "or", "other", "our", "ours", "out", "over", "own",
    "per", "please", "re", "s", "shall", "she", "should", "so", "some", "somebody", "someone", "something", "somewhere",
    "such", "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "under", "until", "up", "upon", "us", "use", "used", "using", "ve", "very", "via", "want",
    "wanted", "was", "we", "were", "what", "when", "whether", "which", "while", "who", "whom", "whose", "why", "will",
    "with", "within", "without", "would", "yes", "you", "your", "yours",
})  # fmt: skip
_ENDINGS = (  # the longest first; each with the fewest letters that must stay
    ("izations", 4), ("isations", 4), ("ization", 4), ("isation", 4), ("ations", 4), ("ation", 4), ("ments", 5), ("ment", 5),
    ("ities", 5), ("ings", 3), ("ness", 4), ("able", 4), ("ible", 4), ("ably", 4), ("ated", 4), ("ates", 4), ("ions", 4),
    ("ing", 3), ("ise", 4), ("ize", 4), ("ied", 3), ("ies", 3), ("ity", 5), ("ion", 4), ("ate", 4), ("ed", 3), ("ly", 4),
    ("es", 3), ("al", 6), ("s", 3),
)  # fmt: skip


def words_of(text: str) -> list[str]:
    """In order, stems; filler is left out unless nothing else is there."""
    found = list(tokens(text))
    return [stem(token) for token in found if token not in FILLER] or [stem(token) for token in found]


def tokens(text: str) -> Iterator[str]:
    """`getCommentTree`, `get_comment_tree` and `get comment tree` are the same three; `12306` and `v2` stay in one piece."""
    for run in _TOKEN.findall(text):
        if _CJK.match(run):
            yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
        else:
            yield run.lower()


def joined(text: str) -> str:
    """All letters and digits without what is between them."""
    return "".join(_JOINED.findall(text)).lower()


def doers(text: str) -> Iterator[str]:
    """What `merger`, `searcher` and `validator` do, for the names of tools: merg, search, valid."""
    for token in tokens(text):
        if len(token) > 5 and token.endswith(("er", "or", "ers", "ors")):
            yield stem(token.removesuffix("s")[:-2] + ("e" if token.endswith("ator") else ""))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Light: `files`, `file` and `filing` meet; the result need not be a word."""
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least and _VOWEL.search(word[: -len(ending)]):
            if ending == "s" and word.endswith(("ss", "us", "is")):
                continue
            return _tidy(word[: -len(ending)] + ("y" if ending in ("ies", "ied") else ""))
    return _tidy(word)


def _tidy(stemmed: str) -> str:
    if len(stemmed) > 3 and stemmed[-1] == stemmed[-2] and stemmed[-1] not in "aeioul":
        return stemmed[:-1]
    if len(stemmed) > 5 and stemmed.endswith("our"):
        return stemmed[:-2] + "r"
    return stemmed[:-1] if len(stemmed) > 3 and stemmed.endswith("e") else stemmed


@cache
def synonyms() -> dict[str, frozenset[str]]:
    """Stem to the stems of its groups, itself left out. `money_back` is two words in a row. Read at first use."""
    groups: dict[str, set[str]] = {}
    for row in Path(__file__).with_name("synonyms.txt").read_text(encoding="utf-8").splitlines():
        group = {"_".join(map(stem, word.split("_"))) for word in row.partition("#")[0].split()}
        for word in group:
            groups.setdefault(word, set()).update(group - {word})
    return {word: frozenset(others) for word, others in groups.items()}
