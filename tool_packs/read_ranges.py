"""Ranges of lines as sed, awk and bat write them. Pure. What is no plain range of lines gives no range at all."""

import re
from dataclasses import dataclass

_SED_PART = re.compile(r"(\d+)(?:,(\d+|\$))?p")
_SED_QUIT = re.compile(r"(\d+)q")
_AWK_FROM = re.compile(r"NR ?(>=?) ?(\d+)")
_AWK_TO = re.compile(r"NR ?(<=?) ?(\d+)")
_AWK = re.compile(r"NR ?[<>]=? ?\d+(?: ?&& ?NR ?[<>]=? ?\d+)?|NR ?== ?(\d+) ?, ?NR ?== ?(\d+)")
_BAT = re.compile(r"(\d*):(\d*)")


@dataclass(frozen=True, slots=True)
class Range:
    first: int
    last: int | None  # None: to the end

    @property
    def size(self) -> int | None:
        return None if self.last is None else max(self.last - self.first + 1, 0)

    def within(self, inner: "Range") -> "Range":
        """Lines `inner` of these lines."""
        first = self.first + inner.first - 1
        ends = [end for end in (self.last, None if inner.last is None else self.first + inner.last - 1) if end is not None]
        return Range(first, min(ends) if ends else None)


def sed_ranges(args: list[str]) -> list[Range]:
    """sed -n '1,80p;120,150p' file; -e for each of them too. Ranges must rise, because sed prints in the order of the file."""
    if not any(re.fullmatch(r"-[nE]*n[nEe]*|--quiet|--silent", arg) for arg in args):
        return []
    scripts = [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-e", "-ne")]
    scripts = scripts or [arg for arg in args if not arg.startswith("-")][:1]
    found: list[Range] = []
    for part in re.split(r"[;\n]", ";".join(scripts)):
        text = part.strip()
        if not text or (_SED_QUIT.fullmatch(text) and found):
            continue
        match = _SED_PART.fullmatch(text.replace(" ", ""))
        if match is None:
            return []
        first = int(match[1])
        last = None if match[2] == "$" else max(int(match[2] or first), first)
        if first < 1 or (found and (found[-1].last is None or first <= found[-1].last)):
            return []
        found.append(Range(first, last))
    return found


def awk_ranges(args: list[str]) -> list[Range]:
    """awk 'NR>=10 && NR<=20' file, awk 'NR==10,NR==20' file."""
    program = next((arg for arg in args if not arg.startswith("-")), "").strip()
    condition = re.sub(r"\s*\{ ?print(?: \$0)? ?;? ?\}$", "", program)
    found = _AWK.fullmatch(condition)
    if found is None:
        return []
    if found[1]:
        return [Range(int(found[1]), int(found[2]))]
    start, end = _AWK_FROM.search(condition), _AWK_TO.search(condition)
    first = 1 if start is None else int(start[2]) + (start[1] == ">")
    last = None if end is None else int(end[2]) - (end[1] == "<")
    return [Range(max(first, 1), last)]


def bat_range(args: list[str]) -> list[Range]:
    """bat -p -r 10:20 file: with style it prints a frame, so only plain."""
    if not any(arg in ("-p", "-pp", "--plain", "--style=plain") for arg in args):
        return []
    text = " ".join(args)
    given = re.search(r"(?:-r|--line-range)[ =]?(\S+)", text)
    if given is None:
        return [Range(1, None)]
    found = _BAT.fullmatch(given[1])
    return [Range(int(found[1] or 1), int(found[2]) if found[2] else None)] if found and found[0] != ":" else []
