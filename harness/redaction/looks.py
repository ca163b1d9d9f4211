"""How a secret looks: random enough to be one, and not a stand-in that documents and tests use.

Pure tests on one string. They decide for patterns and for weak names; a value under a strong name is a secret however it looks.
"""

import re

RANDOM_LENGTH = 12
_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_RUN = re.compile(r"[A-Za-z0-9]+")
_STAND_IN = re.compile(
    r"example|sample|dummy|placeholder|redacted|changeme|change_me|your[-_]|x{6}|\*\*\*|\.\.\.|0{6}|1234567|abcdef|foobar|deadbeef",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def looks_random(text: str) -> bool:
    """Whether letters, capitals and digits change as often as they do by chance: words, versions, dates and paths do not."""
    runs = _RUN.findall(text)
    length = sum(map(len, runs))
    if length < RANDOM_LENGTH or text.isdigit():
        return False
    changes = sum(len(_CHUNK.findall(run)) - 1 for run in runs)
    return changes >= 0.2 * length and len(set(text)) >= 8


def is_stand_in(text: str) -> bool:
    """`sk-xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`, `your_token_here`: nothing is lost by showing them, and an edit needs them."""
    return len(set(text)) < 6 or _STAND_IN.search(text) is not None


def words_of(name: str) -> list[str]:
    """The parts of a name in lower case: `apiKey`, `API_KEY` and `api-key` are `api`, `key`; `monkey` is one word."""
    return [word.lower() for word in _CAMEL.findall(name)]
