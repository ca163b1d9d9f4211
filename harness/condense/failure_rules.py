"""How tools tell a failure: the table that `failures.py` reads. One row a form, found by a substring before any pattern runs.

A `Line` tells all in one line. A `Block` begins with the name of what failed; what is said about it and where stands below.
Patterns look at one line; the groups are named path, line, name, message.
"""

import re
from dataclasses import dataclass

_AT = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\[\]'\"]{1,300}\.\w{1,10})"


@dataclass(frozen=True, slots=True)
class Line:
    hint: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Block:
    hint: str
    begin: re.Pattern[str]
    message: re.Pattern[str]
    place: re.Pattern[str]
    last_place: bool = False  # of several places the last one: where it was raised, below where it was called
    below: int = 80  # lines that are looked at
    end: re.Pattern[str] | None = None
    shift: int = 0  # from the line with the hint to the one that begins
    bare: bool = True  # it counts even when nothing below says more
    above: int = 0  # lines above the begin that are looked at when nothing below says more


def _line(hint: str, pattern: str) -> Line:
    return Line(hint, re.compile(pattern))


def _block(
    hint: str, begin: str, message: str, place: str, *, last_place: bool = False, below: int = 80,
    end: str | None = None, shift: int = 0, bare: bool = True, above: int = 0,
) -> Block:  # fmt: skip
    return Block(
        hint, re.compile(begin), re.compile(message), re.compile(place), last_place=last_place,
        below=below, end=re.compile(end) if end else None, shift=shift, bare=bare, above=above,
    )  # fmt: skip


LINES = (
    # gcc, clang, mypy, javac, swiftc
    _line(" error: ", rf"{_AT}:(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<message>.+)"),
    _line("fatal error: ", rf"{_AT}:(?P<line>\d+)(?::\d+)?: fatal error: (?P<message>.+)"),
    # go build and go vet: only below a line with the package, or with vet: in front
    _line(".go:", r"(?:vet: )?(?P<path>\.{0,2}/?[^\s:]{1,300}\.go):(?P<line>\d+):\d+: (?P<message>.+)"),
    # ruff, flake8, pylint
    _line(".py:", rf"{_AT}:(?P<line>\d+):\d+: (?P<message>[A-Z]{{1,4}}\d{{3,4}}:? .+)"),
    # tsc, plain and pretty
    _line(": error TS", rf"{_AT}\((?P<line>\d+),\d+\): error (?P<message>TS\d+: .+)"),
    _line(" - error TS", rf"{_AT}:(?P<line>\d+):\d+ - error (?P<message>TS\d+: .+)"),
    # kotlin
    _line("e: ", rf"e: (?:file://)?{_AT}:(?P<line>\d+):\d+:? (?P<message>.+)"),
    # maven: javac's lines, then surefire's
    _line(":[", rf"\[ERROR\] {_AT}:\[(?P<line>\d+),\d+\] (?:error: )?(?P<message>.+)"),
    _line("[ERROR]   ", r"\[ERROR\]   (?P<name>[\w$.]{1,200}):(?P<line>\d+)(?:->\S{1,200})? (?P<message>.+)"),
    _line("[ERROR] Failed to execute goal", r"\[ERROR\] (?P<message>Failed to execute goal .{1,300})"),
    _line("requires a project", r"\[ERROR\] (?P<message>The goal you specified requires a project.{1,120})"),
    # the linker
    _line("undefined reference", r"(?:.{0,200}: )?(?P<message>undefined reference to .+)"),
    # make, cargo, npm: that it ended, and with what
    _line("*** ", r"(?:g|mingw32-)?make(?:\[\d+\])?: \*\*\* (?P<message>.+)"),
    _line("npm e", r"npm error (?P<message>(?:code|enoent|Missing script:|notarget|404) \S.*)"),
    _line("npm ERR!", r"npm ERR! (?P<message>(?:code|enoent|Missing script:|missing script:|notarget|404) \S.*)"),
    _line(" FAILED", r"> Task (?P<name>:\S+) (?P<message>FAILED)"),
    _line("[build failed]", r"FAIL\s+(?P<path>\S+) (?P<message>\[build failed\])"),
)

BLOCKS = (
    # cargo and rustc
    _block("error", r"error(?:\[E\d+\])?: (?P<name>(?!could not compile|aborting due|test failed).+)", r"(?!)",
           rf"\s*--> {_AT}:(?P<line>\d+)", below=6),
    _block("panicked at", r"thread '(?P<name>[^']{1,200})'.{0,30} panicked at (?:'|[^\s:']{1,300}:\d+)",
           r"(?:thread .* panicked at '(?P<old>.{1,300}?)'|(?P<message>\S.*))",
           rf"(?:thread .* panicked at (?:'.{{0,300}}', )?)?{_AT}:(?P<line>\d+):\d+", below=3),
    # ruff's own form
    _block("-->", r"(?P<name>[A-Z]{1,4}\d{3,4} .+)", r"(?!)", rf"\s*--> {_AT}:(?P<line>\d+)", below=2, shift=-1),
    # pytest: the section of a test
    _block("___ ", r"_{3,} (?P<name>\S.{0,300}?) _{3,}$", r"E   +(?P<message>\S.*)", rf"{_AT}:(?P<line>\d+): ", last_place=True,
           below=400, end=r"_{3,} \S.{0,300}? _{3,}$|={3,} "),
    # unittest
    _block("====", r"(?:ERROR|FAIL): (?P<name>\S.*)",
           r"(?P<message>[A-Za-z_][\w.]{0,100}(?:Error|Exception|Warning|Failure|Exit|Interrupt)\b.*)",
           r"\s+File \"(?P<path>[^\"]{1,300})\", line (?P<line>\d+)", last_place=True, below=200, end=r"={20,}$", shift=1),
    # a Python program that ended
    _block("Traceback (most", r"Traceback \(most recent call last\):",
           r"(?P<message>[A-Za-z_][\w.]{0,200}(?:: .*|Error|Exception|Exit|Interrupt))$",
           r"\s+File \"(?P<path>[^\"]{1,300})\", line (?P<line>\d+)", last_place=True, below=200,
           end=r"$|={5,}|-{5,}", bare=False),
    # go test
    _block("--- FAIL", r"\s*--- FAIL: (?P<name>\S+)", r"(?!)", r"\s+(?P<path>\S+\.go):(?P<line>\d+): (?P<message>.+)", below=30,
           end=r"\s*--- |(?:FAIL|ok)\s|=== ", bare=False, above=30),
    # jest
    _block("● ", r"\s*● (?P<name>(?!Console).+)", r"\s+(?P<message>[^\s>|].*)",
           rf"\s+at .{{0,200}}?\(?{_AT}:(?P<line>\d+):\d+\)?", below=60, end=r"\s*● |Test Suites: "),
    # vitest
    _block(" FAIL ", r"\s*FAIL\s+(?P<name>\S+ > .+)", r"(?P<message>\w*(?:Error|Exception)\b.*)",
           rf"\s*❯ {_AT}:(?P<line>\d+):\d+", below=60, end=r"\s*FAIL\s"),
    # mocha
    _block(") ", r"\s{1,4}\d{1,5}\) (?P<name>\S.*)$", r"\s*(?P<message>(?:\w*Error|Uncaught)\b.*)",
           rf"\s+at .{{0,200}}?\(?{_AT}:(?P<line>\d+):\d+\)?", below=40, end=r"\s{1,4}\d{1,5}\) |\s+\d+ failing", bare=False),
    # TAP, and so node --test
    _block("not ok ", r"\s*not ok \d+ -? ?(?P<name>.+)",
           r"\s+(?:error: (?!\|-)['\"]?(?P<message>.+?)['\"]?$|(?P<old>\S.* !== .*))",
           r"\s+location: '?(?P<path>[^':]{1,300}):(?P<line>\d+)", below=20, end=r"\s*(?:not )?ok \d"),
    # gradle
    _block("What went wrong", r"\* What went wrong:", r"(?P<message>\S.*)", r"(?!)", below=3),
    _block(" FAILED", r"(?P<name>[\w$.]{1,200} > \S.{0,200}) FAILED$", r"\s+(?P<message>\S.*)",
           r"\s+at .{0,200}?\(?(?P<path>\w+\.(?:java|kt)):(?P<line>\d+)\)?", below=20,
           end=r"[\w$.]{1,200} > \S.{0,200} (?:FAILED|PASSED)$"),
)  # fmt: skip

# Only when no section told more: the short summary of pytest, and cargo's list.
SUMMARIES = (
    _line("FAILED ", r"(?:FAILED|ERROR) (?P<path>[^\s:]{1,300}\.py)(?:::(?P<name>\S{1,300}))?(?: - (?P<message>.+))?$"),
    _line("ERROR ", r"ERROR (?P<path>[^\s:]{1,300}\.py)(?:::(?P<name>\S{1,300}))?(?: - (?P<message>.+))?$"),
    _line("--- FAIL", r"--- FAIL: (?P<name>\S{1,300})"),
    _line("... FAILED", r"test (?P<name>\S{1,300}) \.\.\. (?P<message>FAILED)"),
)
ESLINT_ROW = re.compile(r"\s{1,8}(?P<line>\d+):\d+\s+error\s+(?P<message>\S.*)")
ESLINT_FILE = re.compile(r"(?P<path>\S.{0,300}\.\w{1,10})$")
