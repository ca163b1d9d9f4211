"""What a model is told before its first script: how scripts work, and the tools on offer, in a text of constant size.

The list has an allowance: as many signatures as fit, then names, then packs with their counts; the rest is found by help.
The same tools give the same bytes, so that prompt caches hold. The prose is prompt.md.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from catalog.declare import signature
from catalog.tool import Tool

ALLOWANCE_BYTES = 4_096  # for the list: twenty to thirty signatures, about a thousand tokens
_SIGNATURES = 0.7  # of the room, when not all signatures fit; the rest is for names
_SUMMARY_CHARS = 100
_MARK = "\n## Tools\n"
IN_REPLY = "Put the one script of a reply between <tool-calls> and </tool-calls>, unfenced; other code in a reply never runs."


def brief(tools: Iterable[Tool], *, allowance_bytes: int = ALLOWANCE_BYTES, in_reply: bool = False) -> str:
    """The whole page: the script's world, then the tools. `in_reply`: for a model that writes its scripts into its replies."""
    where = f"{IN_REPLY}\n\n" if in_reply else ""
    return f"{where}{world()}\n{discovery(tools, allowance_bytes=allowance_bytes)}"


@cache
def world() -> str:
    """How a script is written: the same for every session."""
    return _page()[0]


def discovery(tools: Iterable[Tool], *, allowance_bytes: int = ALLOWANCE_BYTES) -> str:
    """How tools are found, and the list of them within the allowance."""
    known = list(tools)
    if not known:
        return "## Tools\n\nNone are on offer: write plain JavaScript.\n"
    return f"{_page()[1].replace('{tools}', _count(len(known), 'tool'))}\n{tool_list(known, allowance_bytes)}"


@cache
def _page() -> tuple[str, str]:
    text = Path(__file__).with_name("prompt.md").read_text(encoding="utf-8")
    before, mark, after = text.partition(_MARK)
    return before, mark.lstrip("\n") + after


def tool_list(tools: Sequence[Tool], allowance_bytes: int) -> str:
    """Pack by pack, in the order of the offer; never more than the allowance."""
    total = len(tools)

    def fits(signatures: int, names: int, summaries: int, most: float = allowance_bytes) -> bool:
        return len(_render(tools, signatures, names, summaries).encode()) <= most

    if fits(total, 0, 0):
        return _render(tools, total, 0, _most(total, lambda number: fits(total, 0, number)))
    room = len(_render(tools, 0, 0, 0).encode())
    if room > allowance_bytes:
        return _cut(_render(tools, 0, 0, 0), allowance_bytes)
    share = room + (allowance_bytes - room) * _SIGNATURES
    signatures = _most(total, lambda number: fits(number, 0, 0, share))
    names = _most(total - signatures, lambda number: fits(signatures, number, 0))
    return _render(tools, signatures, names, 0)


def _most(total: int, fits: Callable[[int], bool]) -> int:
    """The largest number that fits; what fits for a number fits for every smaller one."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _render(tools: Sequence[Tool], signatures: int, names: int, summaries: int) -> str:
    """The first tools with signatures (the first of them with a summary), the next by name, the others counted."""
    rows: list[str] = []
    by_name: dict[str, list[str]] = {}
    counted: dict[str, int] = {}
    for index, tool in enumerate(tools):
        if index < signatures:
            rows.append(f"{signature(tool)}{_summary(tool) if index < summaries else ''}")
        elif index < signatures + names:
            by_name.setdefault(tool.pack, []).append(tool.name)
        else:
            counted[tool.pack] = counted.get(tool.pack, 0) + 1
    rows += [f"{pack}: {', '.join(members)}" for pack, members in by_name.items()]
    if counted:
        begun = {tool.pack for tool in tools[: signatures + names]}
        told = [f"{pack} ({number:,}{' more' if pack in begun else ''})" for pack, number in counted.items()]
        rows.append(f"By help only: {', '.join(told)}")
    return "\n".join(rows) + "\n"


def _summary(tool: Tool) -> str:
    words = tool.summary
    if not words:
        return ""
    return f" // {words if len(words) <= _SUMMARY_CHARS else words[: _SUMMARY_CHARS - 1].rstrip() + '…'}"


def _cut(text: str, most: int) -> str:
    """So many packs that their names alone are too much."""
    end = f", … and others: help() lists all {text.count('(')} packs\n"
    room = max(0, most - len(end.encode()))
    return text.encode()[:room].decode(errors="ignore").rpartition(",")[0] + end


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
