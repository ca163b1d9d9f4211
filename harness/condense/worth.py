"""How much of a file is shown by what kind of file it is: the caps of a slice are upper bounds, and some files need less. Pure.

Measured on sessions of agents (`docs/benchmarks.md`): what later edits name stands in the project's own files. Of what others
wrote (packages, instructions for agents, licences) and of what programs wrote (locks, maps, minified text) the begin and an
outline do. A narrow range was asked for: it stays.
"""

import re
from collections.abc import Sequence

from harness.condense.page import Caps

_NARROW = 80  # lines
_OTHERS = 2  # of what others wrote, one half
_MADE = 4  # of what programs wrote, one quarter
_LONG = 400  # bytes of a line on average: no person wrote that
_OF_OTHERS = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|third_party|vendor|\.cargo/registry|skills)/"
    r"|(?:^|/)(?:SKILL\.md|LICEN[CS]E[^/]*|COPYING[^/]*|CHANGELOG[^/]*)$"
)
_MADE_BY_PROGRAMS = re.compile(
    r"(?:^|/)(?:[^/]+\.lockb?|(?:package|pnpm)-lock\.(?:json|yaml)|go\.sum|[^/]+\.(?:min\.js|min\.css|map|snap|svg|csv|tsv|ipynb))$"
)


def caps_for(caps: Caps, path: str, lines: Sequence[str], size: int) -> Caps:
    """`lines`, with their size in bytes: the longest stretch of the file that was asked for."""
    part = _part(path, lines, size)
    return caps if part == 1 else Caps(min(caps.lines, max(_NARROW, caps.lines // part)), caps.bytes // part)


def _part(path: str, lines: Sequence[str], size: int) -> int:
    if size > _LONG * len(lines) or _MADE_BY_PROGRAMS.search(path):
        return _MADE
    return _OTHERS if len(lines) > _NARROW and _OF_OTHERS.search(path) else 1
