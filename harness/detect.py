"""The one script in an assistant's reply: the text between <tool-calls> and </tool-calls>. Pure.

What stands in fenced code is for reading and never runs. A nested, unbalanced or second block is a problem of its own, and
nothing runs.
"""

import re
from dataclasses import dataclass

from harness.problems import told
from sandbox import Problem

_TAG = re.compile(r"<(/?)tool-calls>")
_NEAR = re.compile(r"<\s*/?\s*(?:tools?[-_ ]?calls?|function[-_]?calls?|script|code|execute)\s*>", re.IGNORECASE)
_AROUND = re.compile(r"(`{3,}|~{3,})[\w+-]*[ \t]*\r?\n(.*?)\r?\n\1[ \t]*", re.DOTALL)
_INDENT = r"[ \t>]*"  # also in a list or a quotation: what may be fenced code is never run
_FENCE = re.compile(rf"^{_INDENT}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+)*(`{{3,}}(?=[^`\n]*$)|~{{3,}})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Detected:
    """`start` and `end`: where the block stands in the reply, tags included."""

    before: str
    script: str
    after: str
    start: int
    end: int


def detect(reply: str) -> Detected | Problem | None:
    """The script; a problem when there is no saying which; None when the reply has no block."""
    fenced = _fenced(reply)
    tags = [tag for tag in _TAG.finditer(reply) if not _within(tag.start(), fenced)]
    if not tags:
        return None
    problem = _fault(reply, tags)
    if problem is not None:
        return problem
    opening, closing = tags
    script = _unfenced(reply[opening.end() : closing.start()].strip())
    if not script:
        return told("empty_script")
    return Detected(reply[: opening.start()], script, reply[closing.end() :], opening.start(), closing.end())


def _unfenced(script: str) -> str:
    """A fence around the whole script is a habit of writing, not part of it."""
    found = _AROUND.fullmatch(script)
    return script if found is None else found[2].strip()


def near_miss(reply: str) -> str:
    """A tag that looks like ours and is not; "" when there is none."""
    found = _NEAR.search(reply)
    return "" if found is None else found[0]


def _fault(reply: str, tags: list["re.Match[str]"]) -> Problem | None:
    depth = blocks = 0
    for tag in tags:
        if tag[1]:
            if depth == 0:
                return told("unbalanced_block", what=f"</tool-calls> in line {_line(reply, tag)} closes nothing")
            depth -= 1
            continue
        if depth:
            return told("nested_block", line=_line(reply, tag))
        depth += 1
        blocks += 1
    if depth:
        return told("unbalanced_block", what=f"<tool-calls> in line {_line(reply, tags[-1])} is never closed")
    return told("second_block", count=blocks) if blocks > 1 else None


def _fenced(reply: str) -> list[tuple[int, int]]:
    """Where fenced code stands. A fence inside a block of ours is part of the script; one that is never closed goes on to the
    end.
    """
    found: list[tuple[int, int]] = []
    at = 0
    while (opening := _FENCE.search(reply, at)) is not None:
        block = _TAG.search(reply, at, opening.start())
        if block is not None and not block[1]:
            end = reply.find("</tool-calls>", block.end())
            if end < 0:
                return found
            at = end + len("</tool-calls>")
            continue
        mark = opening[1]
        closing = re.compile(rf"^{_INDENT}{re.escape(mark[0])}{{{len(mark)},}}[ \t\r]*$", re.MULTILINE).search(
            reply, opening.end()
        )
        end = len(reply) if closing is None else closing.end()
        found.append((opening.start(), end))
        at = end
    return found


def _within(at: int, ranges: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in ranges)


def _line(reply: str, tag: "re.Match[str]") -> int:
    return reply.count("\n", 0, tag.start()) + 1
