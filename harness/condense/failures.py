"""The failures that a build or a test run tells, one line each: where, what, why. By the table in `failure_rules.py`. Pure.

Recognised by content, never by the command: one output may hold several tools. Candidates are bounded, so a hostile output costs
no more than a long one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.condense.failure_rules import BLOCKS, ESLINT_FILE, ESLINT_ROW, LINES, SUMMARIES, Block, Line
from harness.condense.relevance import Lines

CANDIDATES_MAX = 300  # lines that one form may begin on
_LOOKED_AT = 600  # characters of a line
_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class Failure:
    at: int  # the line that tells it
    where: str
    what: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.what) if part)


def failures_of(lines: Sequence[str]) -> list[Failure]:
    """In the order in which they are told; what is told twice, once."""
    text = Lines(lines)
    found = [*_of_lines(text, LINES), *_of_blocks(text), *_of_eslint(text)]
    if not any(failure.where or failure.what for failure in found):
        found = list(_of_lines(text, SUMMARIES))
    told: dict[str, Failure] = {}
    for failure in sorted(found, key=lambda failure: failure.at):
        # A test's section holds the traceback, which tells the same of the same place with less.
        if not any(failure.where == known.where and known.what.endswith(failure.what) for known in list(told.values())[-8:]):
            told.setdefault(str(failure), failure)
    return list(told.values())


def _of_lines(text: Lines, rules: Sequence[Line]) -> Iterator[Failure]:
    for rule in rules:
        for at in text.holding(rule.hint, CANDIDATES_MAX):
            if found := rule.pattern.match(text.lines[at].strip()[:_LOOKED_AT]):
                yield _failure(at, _part(found, "path"), _part(found, "line"), _part(found, "name"), _part(found, "message"))


def _of_blocks(text: Lines) -> Iterator[Failure]:
    for rule in BLOCKS:
        for at in text.holding(rule.hint, CANDIDATES_MAX):
            begin = at + rule.shift
            if 0 <= begin < len(text.lines) and (found := rule.begin.match(text.lines[begin][:_LOOKED_AT])):
                failure = _of_block(text.lines, begin, _part(found, "name"), rule)
                if rule.bare or (failure.where and failure.what):
                    yield failure


def _of_block(lines: Sequence[str], at: int, name: str, rule: Block) -> Failure:
    first = at if rule.hint == "panicked at" else at + 1  # a panic tells its place on the line that begins
    failure = _read(lines, range(first, min(len(lines), at + 1 + rule.below)), at, name, rule)
    if not failure.where and rule.above:
        failure = _read(lines, range(at - 1, max(-1, at - 1 - rule.above), -1), at, name, rule)
    return failure


def _read(lines: Sequence[str], looked: range, at: int, name: str, rule: Block) -> Failure:
    path = line = message = ""
    for number in looked:
        text = lines[number][:_LOOKED_AT]
        if number != at and rule.end is not None and rule.end.match(text):
            break
        if (not path or rule.last_place) and (place := rule.place.match(text)):
            path, line, message = place["path"], place["line"], message or _part(place, "message")
        elif not message and (said := rule.message.match(text)):
            message = next((part for part in said.groups() if part), "")
    return _failure(at, path, line, name, message)


def _of_eslint(text: Lines) -> Iterator[Failure]:
    path, known = "", -1
    for at in text.holding("  error  ", CANDIDATES_MAX):
        row = ESLINT_ROW.match(text.lines[at][:_LOOKED_AT])
        if row is None:
            continue
        above = at
        while above > max(known, at - 200) and text.lines[above][:1].isspace():
            above -= 1
        if above > known and (file := ESLINT_FILE.match(text.lines[above][:_LOOKED_AT])):
            path = file["path"]
        known = at
        yield _failure(at, path, row["line"], "", re.sub(r"\s{2,}", "  ", row["message"]))


def _failure(at: int, path: str, line: str, name: str, message: str) -> Failure:
    where = f"{path}:{line}" if path and line else path or (f"{name}:{line}" if line and name else "")
    what = ": ".join(part.strip() for part in (name if where != f"{name}:{line}" else "", message) if part.strip())
    return Failure(at, where, what if len(what) <= _MESSAGE else what[: _MESSAGE - 1] + "…")


def _part(found: re.Match[str], name: str) -> str:
    return found.groupdict().get(name) or ""
