"""The one rubric: what a report of a mistake must give its reader, judged from the text that the model gets. The same for all.

A point counts only where it applies. An exception that leaves the agent's loop gives the model nothing, so it earns nothing.
"""

import re
from dataclasses import dataclass

from tests.mistakes.corpus import Case

POINTS = {
    "names": "names the thing that is wrong, as the script has it",
    "line": "says the right line",
    "column": "says the right column, or has a caret under it",
    "excerpt": "quotes the line",
    "expected": "shows what would be right: the signature, the type, the limit",
    "nearest": "gives the nearest right name",
    "message": "keeps the tool's own words",
    "caught": "the script can catch it, and reads the same words",
    "bounded": "does not flood the transcript",
    "survives": "the agent's loop gets a text, not an exception",
}
FLOOD_CHARACTERS = 100_000
_PLAIN = re.compile(r"[A-Za-z0-9][\w.]*")
_WORDS = re.compile(r"line (\d+)(?:,? col(?:umn)? (\d+))?", re.IGNORECASE)
_COLONS = re.compile(r"([\w./<>&;-]*):(\d+):(\d+)\b")
_CARET = re.compile(r"[\^~]+")


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a script: the text for the model; False when there is none because an exception went through."""

    text: str
    survived: bool
    orders: int = 0


def judge(case: Case, told: Told) -> dict[str, bool]:
    """The points that apply, each won or lost. Empty when the layer took the script as it is and did what was meant."""
    text = _without_echo(case.source, told.text)
    if case.unless and told.survived and _value(text) == case.unless:
        return {}
    words = _without_source(case.source, text)
    applies = {
        "names": (bool(case.names), mentions(text, case.names, exact_case=case.exact_case)),
        "line": (bool(case.spans), any(_right_line(case, place) for place in places(case.source, text))),
        "column": (bool(case.spans), any(_right_column(case, place) for place in places(case.source, text))),
        "excerpt": (bool(case.spans), _quoted(case, text)),
        "expected": (bool(case.expected), all(mentions(words, one) for one in case.expected)),
        "nearest": (bool(case.nearest), mentions(words, case.nearest, exact_case=case.exact_case)),
        "message": (bool(case.message), case.message in text),
        "caught": (case.caught, "caught: " in text and mentions(text.split("caught: ", 1)[1], case.message or case.names)),
        "bounded": (case.bounded, len(told.text) <= FLOOD_CHARACTERS),
        "survives": (True, True),
    }
    return {point: told.survived and won for point, (applicable, won) in applies.items() if applicable}


def too_many_effects(case: Case, told: Told) -> bool | None:
    """Had more happened than may have before the report? None when the mistake does not ask."""
    return None if case.effects is None else told.orders > case.effects


def mentions(text: str, alternatives: str, *, exact_case: bool = False) -> bool:
    """One of them as a word of its own; `get_item` also as `shop.get_item`, `shop_get_item` and `shopGetItem`."""
    return any(_pattern(one, exact_case=exact_case).search(text) is not None for one in alternatives.split("|"))


def _pattern(name: str, *, exact_case: bool) -> re.Pattern[str]:
    if not _PLAIN.fullmatch(name):
        return re.compile(re.escape(name), re.IGNORECASE)
    if exact_case:
        return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9_])|_{re.escape(name)}(?![A-Za-z0-9_])")
    parts = "[._]?".join(re.escape(part) for part in re.split(r"[._]", name))
    return re.compile(rf"(?<![A-Za-z0-9])(?:shop|stock)?[._]?{parts}(?![A-Za-z0-9_])", re.IGNORECASE)


# ---------------------------------------------------------------- places


@dataclass(frozen=True, slots=True)
class Shown:
    """A place that a text shows: columns from `start` to `end`, 0 when it shows none."""

    line: int
    start: int = 0
    end: int = 0


def places(source: str, text: str) -> list[Shown]:
    """Every place in the script that the text gives, as numbers or as a caret under a quoted line."""
    found = [Shown(int(match[1]), int(match[2] or 0), int(match[2] or 0)) for match in _WORDS.finditer(text)]
    found += [Shown(int(m[2]), int(m[3]), int(m[3])) for m in _COLONS.finditer(text) if "stub" not in m[1]]
    rows, lines = text.split("\n"), source.split("\n")
    for index, row in enumerate(rows):
        for number, line in enumerate(lines, 1):
            code = line.strip()
            if len(code) < 4 or code not in row:
                continue
            if re.match(rf"\W*{number}\s*[|:]", row):
                found.append(Shown(number))
            under = _CARET.search(rows[index + 1]) if index + 1 < len(rows) else None
            if under is not None and not _CARET.sub("", rows[index + 1]).strip(" |·:0123456789"):
                shift = len(line) - len(line.lstrip()) + 1 - row.index(code)
                found.append(Shown(number, under.start() + shift, under.end() - 1 + shift))
    return found


def _right_line(case: Case, place: Shown) -> bool:
    return any(span.holds_line(place.line) for span in case.spans)


def _right_column(case: Case, place: Shown) -> bool:
    return place.start > 0 and any(span.meets(place.line, place.start, place.end) for span in case.spans)


def _quoted(case: Case, text: str) -> bool:
    lines = case.source.split("\n")
    wanted = {
        lines[number - 1].strip()
        for span in case.spans
        for number in range(span.first.line, span.last.line + 1)
        if number <= len(lines)
    }
    return any(code in text for code in wanted if len(code) > 3)


# ---------------------------------------------------------------- the report without the script in it


def _without_echo(source: str, text: str) -> str:
    """The whole script handed back is no excerpt."""
    for echo in (repr(source)[1:-1], source):
        if "\n" in source:
            text = text.replace(echo, "")
    return text


def _without_source(source: str, text: str) -> str:
    """A right name counts when the report says it, not when a quoted line happens to hold it."""
    for line in sorted((line.strip() for line in source.split("\n")), key=len, reverse=True):
        if len(line) > 3:
            text = text.replace(line, "")
    return text


def _value(text: str) -> str:
    return re.sub(r"</?result[^>]*>", "", text).strip()
