"""The calls that a script would make, read off its text: tool, place, arguments as far as they are known, effect, approval.

A dry run without running: what a loop or a condition makes of it is said, not guessed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catalog.check import bind
from catalog.effects import Effect, Effects
from catalog.problem import ToolProblem
from catalog.sketches import UNKNOWN, Place, Use, is_known, shown, value_of
from catalog.tool import Tool

_ARGUMENTS_CHARS = 200


@dataclass(frozen=True, slots=True)
class Foreseen:
    """One call in the text. `touches` and a definite `asks` are known only where every argument is."""

    tool: str
    line: int
    column: int
    arguments: str  # as a script writes them, … for what is not known
    effect: Effect
    touches: Effects | None
    asks: Literal["yes", "no", "perhaps"]  # must a person approve?
    repeated: bool  # in a loop
    conditional: bool  # only under a condition
    within: bool  # in a function of the script's own, which may never be called

    @property
    def text(self) -> str:
        facts: list[str] = [self.effect]
        if self.asks != "no":
            facts.append("asks first" if self.asks == "yes" else "may ask first")
        facts += [words for words, holds in (("in a loop", self.repeated), ("under a condition", self.conditional)) if holds]
        facts += ["in a function"] if self.within else []
        return f"{self.line}:{self.column}  {self.tool}({self.arguments})  {', '.join(facts)}"


def report(uses: Iterable[Use], tools: Mapping[str, Tool], place: Place) -> list[Foreseen]:
    """In the order of the text; calls of tools that are not on offer are left out (see scan.py for those)."""
    return [
        _foreseen(use, tools[name], place)
        for use in uses
        if use.called and use.root == "tools" and (name := ".".join(use.path)) in tools
    ]


def _foreseen(use: Use, tool: Tool, place: Place) -> Foreseen:
    line, column, _ = place(use.start)
    named = _named(use, tool)
    written = ", ".join([*map(shown, use.args), *([UNKNOWN] if use.more_args else [])])
    if len(written) > _ARGUMENTS_CHARS:
        written = written[: _ARGUMENTS_CHARS - 1] + UNKNOWN
    asks: Literal["yes", "no", "perhaps"]
    if named is not None:
        asks = "yes" if tool.asks(named) else "no"
    else:
        asks = "perhaps" if callable(tool.facts.approval) else "yes" if tool.facts.approval else "no"
    return Foreseen(
        tool.full_name, line, column, written, tool.facts.effect, None if named is None else tool.effects(named), asks,
        use.repeated, use.conditional, use.within,
    )  # fmt: skip


def _named(use: Use, tool: Tool) -> dict[str, Any] | None:
    if use.more_args or not all(is_known(arg) for arg in use.args):
        return None
    try:
        return bind(tool, [value_of(arg) for arg in use.args]).named
    except ToolProblem:
        return None
