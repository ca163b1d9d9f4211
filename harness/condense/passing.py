"""Lines that only say that something went well: tests that passed, units compiled, packages fetched. Told by their number.

One pattern looks at one line, found by content and never by the command. A run counts from `_LEAST` lines on, blank lines in it
included; a line that could tell of trouble is in no run.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_LEAST: Final = 4
_LOOKED_AT = 300  # characters of a line; a longer one is no such line
_KINDS: Final = {
    "test": "tests ok", "dots": "tests ok", "file": "test files ok", "package": "packages ok", "built": "units built",
    "fetched": "packages fetched",
}  # fmt: skip
_TOLD = re.compile(
    r"(?P<test>"
    r"\S.* \.\.\. ok$"  # unittest -v, cargo test
    r"|\S+::\S.* PASSED(?: +\[ *\d+%\])?$|\[gw\d+\] \[ *\d+%\] PASSED \S.*$"  # pytest -v, with xdist
    r"|\s*[✓✔√] \S.*$|(?:\S.{0,60}: )?\(pass\) \S.*$"  # vitest, jest, mocha, bats, node; bun
    r"|\s*--- PASS: .*$|\s*ok \d+ -? ?\S.*$"  # go test -v, TAP
    r"|\S.* > \S.* PASSED$|Test Case '.*' passed \([\d.]+ seconds\)\.?$|\s+Passed \S.* \[[<\d].*\]$"  # gradle, xctest, dotnet
    r")|(?P<dots>[.sx]{5,200}$|(?:\S+\.py )?[.sx]{1,200} +\[ *\d+%\]$)"  # pytest
    r"|(?P<file>PASS\s+\S.*$)"  # jest
    r"|(?P<package>ok\s+\S+\s+(?:[\d.]+s|\(cached\)).*$)"  # go test
    r"|(?P<began>=== (?:RUN|PAUSE|CONT|NAME)\b.*$|\?\s+\S+\s+\[no test files\]$|test \S.* \.\.\. ignored(?:, .*)?$"
    r"|Test Case '.*' started\.?$|\s*# Subtest: .*$)"
    r"|(?P<built>\s{2,}(?:Compiling|Checking|Fresh|Building) \S+ v\d.*$|\[ *\d+%\] (?:Building|Linking|Built) .*$"  # cargo, cmake
    r"|\[\d+/\d+\] (?!.*(?:FAILED|error)).*$|\s+(?:CC|CXX|LD|AR|AS)\s+\S+$|> Task :\S+(?: UP-TO-DATE| NO-SOURCE| FROM-CACHE)?$)"
    r"|(?P<fetched>\s{2,}Download(?:ed|ing) \S+ v\d.*$|(?:\[INFO\] )?Download(?:ed|ing)(?: from \S+)?: \S+.*$"
    r"|go: downloading \S+ \S+$|Requirement already satisfied: .*$|Collecting \S+.*$|\s+Using cached \S+.*$)"
)
_TROUBLE = re.compile(r"(?i)\b(?:warning|error|fail(?:ed|ure)?|panic(?:ked)?)s?:")


@dataclass(frozen=True, slots=True)
class Passing:
    """Lines `first` to `last` (from 0, the last excluded), and what they say together: `80 tests ok`."""

    first: int
    last: int
    told: str


def passing(lines: Sequence[str]) -> list[Passing]:
    found: list[Passing] = []
    first, counts = 0, Counter[str]()
    end = 0  # behind the last line that counts
    for at, kind, count in _lines_told(lines):
        if any(line.strip() for line in lines[end:at]) or not counts:
            found += _run(first, end, counts)
            first, counts = at, Counter()
        counts[kind] += count
        end = at + 1
    return [*found, *_run(first, end, counts)]


def _lines_told(lines: Sequence[str]) -> Iterator[tuple[int, str, int]]:
    for at, line in enumerate(lines):
        if line and len(line) <= _LOOKED_AT and (match := _TOLD.match(line)) is not None and not _TROUBLE.search(line):
            kind = match.lastgroup or ""
            yield at, kind, line.rpartition(".py ")[2].count(".") if kind == "dots" else 1


def _run(first: int, last: int, counts: Counter[str]) -> list[Passing]:
    if last - first < _LEAST:
        return []
    words = Counter[str]()
    for kind, count in counts.items():
        if kind in _KINDS:
            words[_KINDS[kind]] += count
    told = ", ".join(f"{count:,} {name if count != 1 else name.replace('s ', ' ', 1)}" for name, count in words.items())
    return [Passing(first, last, told or "tests that began")]
