"""Secrets out of a text before anybody sees it: first the values the host knows, in every form, then tokens known by their look.

One scan by Aho-Corasick finds all forms and all anchors of patterns; the rest of the work is done only where it hit. A
placeholder says which secret stood there, never its value; our own placeholders stay, so redacting twice changes nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from ahocorasick_rs import AhoCorasick, Implementation

from harness.redaction.forms import Form, forms_of
from harness.redaction.looks import words_of
from harness.redaction.patterns import ASSIGNMENT, KINDS, PATTERNS, Pattern
from harness.redaction.spans import MARK, Span, loosened, merged, outside, replaced
from harness.redaction.wrapped import joined_blocks

Json: TypeAlias = Any
_NOTHING: Mapping[str, str] = MappingProxyType({})
_PLACEHOLDER = re.compile(r"\[secret ([A-Za-z0-9_.-]{1,64})\]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ROUNDS = 4  # a replacement can lay bare the start of another token; then the text is looked at again


@dataclass(frozen=True, slots=True)
class Redacted:
    text: str
    found: Mapping[str, int]  # name of the known secret or kind of the token -> how often
    rounds: tuple[tuple[Span, ...], ...] = ()  # what was replaced, each round in the text that the one before left


@dataclass(slots=True)
class _Needle:
    """What a text that the scan found stands for: a form of a known secret, and patterns to be tried there."""

    name: str = ""
    form: Form | None = None
    patterns: tuple[Pattern, ...] = ()


class Redactor:
    """Built once for a session; the same text gives the same result."""

    __slots__ = ("_allowed", "_automaton", "_needles", "_own_names", "_patterns")

    def __init__(self, known: Mapping[str, str] = _NOTHING, *, patterns: bool = True, allow: Iterable[str] = ()) -> None:
        self._allowed = frozenset(allow)
        self._patterns = patterns
        names = {name: _placeholder_name(name) for name in known}
        self._own_names = KINDS | frozenset(names.values())
        needles: dict[str, _Needle] = {MARK: _Needle()}
        for name, value in known.items():
            if value in self._allowed:
                continue
            for form in forms_of(value):
                needle = needles.setdefault(form.text, _Needle())
                if needle.form is None:
                    needle.name, needle.form = names[name], form
        for pattern in PATTERNS if patterns else ():
            for anchor in pattern.anchors:
                needle = needles.setdefault(anchor, _Needle())
                needle.patterns = (*needle.patterns, pattern)
        self._needles = tuple(needles.values())
        self._automaton = AhoCorasick([*map(_scannable, needles)], implementation=Implementation.ContiguousNFA)

    def text(self, text: str) -> Redacted:
        found: Counter[str] = Counter()
        rounds: list[tuple[Span, ...]] = []
        for _ in range(_ROUNDS):
            spans = self._spans(text)
            if not spans:
                break
            found.update(span.name for span in spans)
            rounds.append(tuple(spans))
            text = replaced(text, spans)
        return Redacted(text, MappingProxyType(dict(found)), tuple(rounds))

    def value(self, value: Json) -> tuple[Json, Mapping[str, int]]:
        """Every string and key of a JSON value, in the same structure. A value without secrets comes back as the same object."""
        if self._is_clean(value):
            return value, MappingProxyType({})
        found: Counter[str] = Counter()
        return self._redacted_value(value, found), MappingProxyType(dict(found))

    def _is_clean(self, value: Json) -> bool:
        """All strings of the value in one scan: thousands of short strings cost one call."""
        strings: list[str] = []
        waiting = [value]
        while waiting:
            match waiting.pop():
                case str() as text:
                    strings.append(text)
                case dict() as members:
                    for name, member in members.items():
                        if isinstance(member, str):
                            strings += (f"{name}={member}", member)  # the rule for assignments sees the pair
                        else:
                            strings.append(name)
                            waiting.append(member)
                case list() | tuple() as items:
                    waiting.extend(items)
        return not self._spans("\n\0\n".join(strings))

    def _redacted_value(self, value: Json, found: Counter[str]) -> Json:
        match value:
            case str():
                redacted = self.text(value)
                found.update(redacted.found)
                return redacted.text
            case dict():
                members: dict[str, Json] = {}
                for name, member in value.items():
                    shown = _unused(self._redacted_value(name, found), members)
                    if isinstance(member, str) and self._is_named_secret(name, member):
                        found[ASSIGNMENT.kind] += 1
                        members[shown] = f"{MARK}{ASSIGNMENT.kind}]"
                    else:
                        members[shown] = self._redacted_value(member, found)
                return members
            case list() | tuple():
                return [self._redacted_value(item, found) for item in value]
            case _:
                return value

    def _is_named_secret(self, name: str, member: str) -> bool:
        """`{"password": "…"}`: the rule for assignments, which a string alone would not meet. A known value keeps its name."""
        if not self._patterns or not 8 <= len(member) <= 512 or member in self._allowed or not _SECRET_NAME.search(name):
            return False
        line = f"{name}={member}"
        hits = (ASSIGNMENT.span(line, hit.start()) for hit in _SECRET_NAME.finditer(name))
        return (len(name) + 1, len(line)) in hits and not self.text(member).found

    def _spans(self, text: str) -> list[Span]:
        """Disjoint, in order. Overlapping ones become one with the name of the longest; a placeholder is never part of one."""
        hits = self._hits(text)
        own = [
            found.span()
            for index, start, _ in hits
            if index == 0 and (found := _PLACEHOLDER.match(text, start)) and found[1] in self._own_names
        ]
        spans = [*self._direct(text, hits), *self._wrapped(text)]
        return merged(outside((span for span in spans if text[span.start : span.end] not in self._allowed), own))

    def _hits(self, text: str) -> list[tuple[int, int, int]]:
        return self._automaton.find_matches_as_indexes(_scannable(text), overlapping=True)

    def _direct(self, text: str, hits: Iterable[tuple[int, int, int]]) -> Iterator[Span]:
        done: dict[str, int] = {}  # kind -> end of its last span: an anchor inside it is not tried again
        for index, start, end in hits:
            needle = self._needles[index]
            if needle.form is not None:
                yield loosened(text, Span(start, end, needle.name), needle.form)
            for pattern in needle.patterns:
                if start >= done.get(pattern.kind, 0) and (span := pattern.span(text, start)):
                    done[pattern.kind] = span[1]
                    yield Span(*span, pattern.kind, _RANKS[pattern.kind])

    def _wrapped(self, text: str) -> Iterator[Span]:
        """Forms of known secrets that a line break cuts in two, as in base64 of 64 or 76 columns."""
        for block in joined_blocks(text):
            for index, start, end in self._hits(block.text):
                needle = self._needles[index]
                if needle.form is not None:
                    span = loosened(block.text, Span(start, end, needle.name), needle.form)
                    yield from (Span(*piece, span.name) for piece in block.places(span.start, span.end))


_RANKS = {pattern.kind: rank for rank, pattern in enumerate(PATTERNS, start=1)}
_SECRET_NAME = re.compile("|".join(map(re.escape, sorted(ASSIGNMENT.anchors, key=len, reverse=True))))


def _placeholder_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:64] or "unnamed"


def _scannable(text: str) -> str:
    """The scan needs UTF-8; a lone surrogate has none and becomes another character, at the same place."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _unused(name: str, members: Mapping[str, Json]) -> str:
    """Two keys that were secrets are still two members."""
    number = 2
    shown = name
    while shown in members:
        shown, number = f"{name} ({number})", number + 1
    return shown


STRING_LENGTH = 500
LIST_ITEMS = 10
MEMBERS = 50
DEPTH = 8
_HIDDEN_WORDS = frozenset({
    "password", "passwords", "passwd", "passphrase", "secret", "secrets", "token", "tokens", "key", "keys", "apikey",
    "auth", "oauth", "authorization", "authentication", "credential", "credentials",
})  # fmt: skip
_HIDDEN_ENDS = ("password", "passwd", "secret", "token", "apikey", "secretkey", "accesskey", "privatekey")


def for_approval(arguments: Mapping[str, Any] | Sequence[Any], redactor: Redactor) -> Json:
    """What a person is shown before they allow a call: secrets out, then cut. A hidden member says that it is there."""
    shown, _ = redactor.value(dict(arguments) if isinstance(arguments, Mapping) else list(arguments))
    return _bounded(shown, DEPTH)


def _bounded(value: Json, depth: int) -> Json:
    match value:
        case str():
            return _cut(value)
        case dict() if depth:
            members = list(value.items())
            shown = {
                _cut(name): "[redacted]" if _is_hidden(name, member) else _bounded(member, depth - 1)
                for name, member in members[:MEMBERS]
            }
            return shown | ({"…": f"{len(members) - MEMBERS} more members"} if len(members) > MEMBERS else {})
        case list() if depth:
            more = [f"… {len(value) - LIST_ITEMS} more items"] if len(value) > LIST_ITEMS else []
            return [_bounded(item, depth - 1) for item in value[:LIST_ITEMS]] + more
        case dict() | list():
            return f"… {len(value)} {'members' if isinstance(value, dict) else 'items'}, too deep to show"
        case _:
            return value


def _is_hidden(name: str, member: Json) -> bool:
    """By whole parts of the name: `key` hides `apiKey`, not `keyboard` or `monkey`. A switch and a count of tokens are shown."""
    if member is None or isinstance(member, bool):
        return False
    words = [word for word in words_of(name) if not word.isdigit()]
    if isinstance(member, int | float) and "tokens" in words:
        return False
    return any(word in _HIDDEN_WORDS or word.endswith(_HIDDEN_ENDS) for word in words)


def _cut(text: str) -> str:
    if len(text) <= STRING_LENGTH:
        return text
    end = STRING_LENGTH
    mark = text.rfind(MARK, 0, end + len(MARK) - 1)
    if mark >= 0 and (whole := _PLACEHOLDER.match(text, mark)) and whole.end() > end:
        end = mark
    return f"{text[:end]}… {len(text) - end:,} more characters"
