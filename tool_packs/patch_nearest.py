"""Why lines that should be in a file were not found: what stands there instead, with its line numbers, and what to do. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from rapidfuzz import fuzz, process

from catalog import ToolProblem
from tool_packs.patch_grammar import Hunk
from tool_packs.patch_lines import TIERS, Lines, plain

_SHOWN = 200  # characters of a line in a message
_COMPARED = 500  # characters of a line that are compared; minified files have lines of megabytes
_ROWS = 5  # lines shown of the place that comes closest
_COMMON = 20  # a line that stands in more places than this says little about which place is meant
_NEAR = 60.0  # of 100
_PASSAGE = 8_192  # characters of a passage that is looked for loosely
_AGAIN = "nothing was changed; read the file again and copy its lines as they are"
_loosest = TIERS[-1][1]


def hunk_missing(path: str, old: Lines, *, number: int, hunk: Hunk, start: int, after: int) -> ToolProblem:
    """`start` is where the search began, `after` where the hunk before it ended."""
    wanted = [(hunk.body_at + index, line.text) for index, line in enumerate(hunk.lines) if line.op != "+"]
    texts = [text for _, text in wanted]
    where = f"{path}: hunk {number} (patch line {hunk.at})"
    facts: dict[str, Any] = {"path": path, "hunk": number, "patch_line": hunk.at}
    above = old.find(texts, 0)
    if above is not None:
        line = above.start + 1
        bound = (
            f"its @@ {hunk.anchors[-1].strip()!r} is at line {start}" if hunk.anchors and start > after else _ended(number, after)
        )
        said = f"{where} matches only at line {line} of the file, but {bound} and the search goes on from there"
        return ToolProblem(
            "no_match", said, hint="nothing was changed; put hunks in the order of the file", data=facts | {"line": line}
        )
    there = _result(old, hunk)
    if there is not None:
        said = f"{where} does not match, but its result is there already, at line {there} of the file"
        return ToolProblem("no_match", said, hint="nothing was changed; was this applied before?", data=facts | {"line": there})
    shift = _alignment(old.lines, texts)
    if shift is None:
        index = next((index for index, text in enumerate(texts) if text.strip()), 0)
        near = closest(old.lines, texts[index])
        instead = "nothing in the file comes near it" if not near else "the file has no such line"
    else:
        index = next((index for index, text in enumerate(texts) if not _fits(old.lines, shift + index, text)), 0)
        near = _rows(old.lines, max(shift + index - 1, 0))
        instead = _instead(old.lines, shift + index)
    at, text = wanted[index]
    said = f"{where} does not match: patch line {at} wants {_shown(text)!r}, {instead}"
    return ToolProblem("no_match", said, hint=_hint(near), data=facts | {"text": _shown(text), "nearest": near})


def anchor_missing(path: str, old: Lines, anchor: str, *, number: int, hunk: Hunk, start: int, after: int) -> ToolProblem:
    above = old.find([anchor], 0) or old.beginning(anchor, 0)
    facts = {"path": path, "hunk": number, "patch_line": hunk.at, "text": _shown(anchor)}
    said = f"{path}: hunk {number} (patch line {hunk.at}): no line of the file is {_shown(anchor.strip())!r}, which its @@ names"
    if above is not None:
        bound = _ended(number, after) if start == after else f"the @@ before it is at line {start}"
        said = (
            f"{said.split(': no line')[0]}: @@ {_shown(anchor.strip())!r} is at line {above.start + 1} of the file, but {bound}"
        )
        hint = "nothing was changed; put hunks in the order of the file"
        return ToolProblem("no_match", said, hint=hint, data=facts | {"line": above.start + 1})
    near = closest(old.lines, anchor)
    return ToolProblem("no_match", said, hint=_hint(near), data=facts | {"nearest": near})


def passage_missing(path: str, text: str, wanted: str) -> ToolProblem:
    """Of `replace`: `text` and `wanted` with line feeds alone."""
    lines, rows = text.split("\n"), wanted.strip("\n").split("\n")
    what = f"{path} does not contain old"
    loose = _loosely(text, wanted)
    if loose is not None:
        overlooked, first, last = loose
        near = _rows(lines, first, last - first + 1)
        said = f"{what} exactly; {_range(first, last)} would match but for {overlooked}"
        return ToolProblem("no_match", said, hint=_hint(near), data={"path": path, "nearest": near, "but_for": overlooked})
    shift = _alignment(lines, rows)
    if shift is not None:
        index = next((index for index, row in enumerate(rows) if not _fits(lines, shift + index, row)), 0)
        near = _rows(lines, max(shift + index - 1, 0))
        said = f"{what}: line {index + 1} of old is {_shown(rows[index])!r}, {_instead(lines, shift + index)}"
    else:
        near = closest(lines, next((row for row in rows if row.strip()), ""))
        said = what
    return ToolProblem("no_match", said, hint=_hint(near), data={"path": path, "nearest": near})


def closest(lines: Sequence[str], text: str) -> list[dict[str, Any]]:
    """Up to three lines that are like it, the most alike first."""
    wanted = text.strip()[:_COMPARED]
    if not wanted:
        return []
    rows = [line.strip()[:_COMPARED] for line in lines]
    found = process.extract(wanted, rows, scorer=fuzz.ratio, limit=3, score_cutoff=_NEAR)
    return [{"line": index + 1, "text": _shown(lines[index])} for _, _, index in found]


def _result(old: Lines, hunk: Hunk) -> int | None:
    """The line number where the hunk's result stands; two lines at least, one of them new, or it says little."""
    done = [line.text for line in hunk.lines if line.op != "-"]
    new = any(line.op == "+" and line.text.strip() for line in hunk.lines)
    found = old.find(done, 0) if new and len(done) > 1 else None
    return None if found is None else found.start + 1


def _ended(number: int, after: int) -> str:
    return f"hunk {number - 1} ended at line {after}"


def _alignment(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the wanted lines would begin so that most of them fit; None when no telling line is in the file."""
    places = defaultdict[str, list[int]](list)
    looked_for = {_loosest(text) for text in wanted if text.strip()}
    for index, line in enumerate(lines):
        key = _loosest(line)
        if key in looked_for:
            places[key].append(index)
    votes = Counter(
        place - index
        for index, text in enumerate(wanted)
        if 0 < len(places.get(_loosest(text), ())) <= _COMMON
        for place in places[_loosest(text)]
    )
    return max(votes, key=lambda shift: (votes[shift], -shift)) if votes else None


def _fits(lines: Sequence[str], index: int, text: str) -> bool:
    return 0 <= index < len(lines) and _loosest(lines[index]) == _loosest(text)


def _instead(lines: Sequence[str], index: int) -> str:
    if index < 0:
        return "but the file begins after that"
    if index >= len(lines):
        return f"but the file ends at line {len(lines)}"
    return f"but line {index + 1} of the file is {_shown(lines[index])!r}"


def _loosely(text: str, wanted: str) -> tuple[str, int, int] | None:
    """What would have to be overlooked, and the first and last line of the place, counted from 0."""
    words = wanted.split()
    if not words or len(wanted) > _PASSAGE:
        return None
    tries = (
        ("white space", words, text, re.NOFLAG),
        ("look-alike characters", plain(wanted).split(), plain(text), re.NOFLAG),
        ("upper and lower case", words, text, re.IGNORECASE),
    )
    for overlooked, parts, where, flags in tries:
        found = re.search(r"\s+".join(re.escape(part) for part in parts), where, flags)
        if found:
            first = text.count("\n", 0, found.start())
            return overlooked, first, first + text.count("\n", found.start(), found.end())
    return None


def _range(first: int, last: int) -> str:
    return f"line {first + 1}" if first == last else f"lines {first + 1} to {last + 1}"


def _rows(lines: Sequence[str], first: int, most: int = _ROWS) -> list[dict[str, Any]]:
    return [
        {"line": index + 1, "text": _shown(lines[index])} for index in range(first, min(first + min(most, _ROWS), len(lines)))
    ]


def _hint(near: list[dict[str, Any]]) -> str:
    if not near:
        return _AGAIN
    return f"{_AGAIN}; closest:\n" + "\n".join(f"{row['line']}: {row['text']}" for row in near)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
