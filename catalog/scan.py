"""A script judged before its first effect: unknown and refused tools, impossible arguments, calls never awaited.

Pure: from what the text shows (`Use`, see sketches.py) and the tools on offer to findings. Certain: the line fails, or means
something else than written, whenever it runs; such a script is not started. Doubtful: it may be meant, or its failure may be
caught; a notice. What the text does not show for sure is never reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from catalog.declare import signature
from catalog.scan_arguments import slips
from catalog.scan_names import Names
from catalog.scan_promises import of_promise
from catalog.sketches import Place, Use
from catalog.tool import Tool

FINDINGS_MAX = 10  # of each severity
_ALSO_MAX = 5
_OF_A_FUNCTION = frozenset({"call", "apply", "bind", "name", "length", "toString"})
_EACH = (".map", ".forEach", ".filter", ".flatMap", ".some", ".every", ".find")


@dataclass(frozen=True, slots=True)
class Finding:
    """`line` and `column` count from 1; `excerpt` is the author's line with a caret under the place."""

    severity: Literal["certain", "doubtful"]
    code: str
    message: str
    line: int
    column: int
    excerpt: str = ""
    hint: str = ""

    @property
    def text(self) -> str:
        """The report, in the layout of a script's error."""
        rows = [f"{self.code}: {self.message}  (line {self.line}, column {self.column})", self.excerpt]
        return "\n".join([row for row in rows if row] + ([f"  hint: {self.hint}"] if self.hint else []))


def scan(
    uses: Iterable[Use], tools: Mapping[str, Tool], place: Place, *, refused: Mapping[str, str] | None = None
) -> list[Finding]:
    """Certain findings first, each kind in the order of the text, at most 10 of each.

    tools: those on offer, by full name. refused: names that exist and are not on offer, with the reason.
    """
    scanner = _Scanner(Names(tools, refused or {}), tools, place)
    for use in uses:
        scanner.look_at(use)
    return scanner.findings()


class _Scanner:
    def __init__(self, names: Names, tools: Mapping[str, Tool], place: Place) -> None:
        self._names = names
        self._tools = tools
        self._place = place
        self._found: dict[tuple[str, str], Finding] = {}
        self._also: dict[tuple[str, str], list[int]] = {}

    def findings(self) -> list[Finding]:
        told = [self._with_others(key, finding) for key, finding in self._found.items()]
        told.sort(key=lambda finding: (finding.line, finding.column))
        certain = [finding for finding in told if finding.severity == "certain"]
        doubtful = [finding for finding in told if finding.severity == "doubtful"]
        return certain[:FINDINGS_MAX] + doubtful[:FINDINGS_MAX]

    def look_at(self, use: Use) -> None:
        path = tuple(use.path)
        if use.root != "tools":
            self._promise(use, f"{use.root}(…)")
        elif not path:
            self._add(use, use.start, "not_called", "tools is no function", "write tools.<pack>.<tool>(…)")
        elif (wrong := self._names.wrong(path)) is not None:
            at = use.places[min(wrong.step, len(use.places) - 1)][0]
            self._add(use, at, wrong.code, wrong.message, wrong.hint, key=wrong.key)
        elif len(path) == 1:
            if use.called:
                hint = f"{path[0]} has: {self._names.listed(path[0])}"
                self._add(
                    use, use.places[0][0], "not_called", f"{path[0]} is a pack, not a tool; write tools.{path[0]}.<tool>(…)", hint
                )
        elif (tool := self._tools.get(f"{path[0]}.{path[1]}")) is not None:
            self._tool(use, tool, path)

    # ------------------------------------------------------------ a tool that is there

    def _tool(self, use: Use, tool: Tool, path: tuple[str, ...]) -> None:
        call = f"tools.{tool.full_name}(…)"
        if len(path) > 2:
            self._beyond(use, tool, path[2])
        elif not use.called:
            self._mentioned(use, tool)
        else:
            hint = f"write tools.{signature(tool)}"
            for slip in slips(tool, use):
                awaits = slip.code == "not_awaited"
                self._add(use, slip.at, slip.code, slip.text, "write await before it" if awaits else hint)
                hint = hint if awaits else ""  # once a call is enough
            self._promise(use, call)

    def _beyond(self, use: Use, tool: Tool, member: str) -> None:
        """`tools.files.list.map(…)`: a tool is a function, and what it gives must be asked for."""
        if member in _OF_A_FUNCTION:
            return
        message = f"tools.{tool.full_name} is a tool and has no member {member}: call it first"
        hint = f"write (await tools.{tool.full_name}(…)).{member}; tools.{signature(tool)}"
        self._add(use, use.places[-1][0], "not_called", message, hint, certain=use.called)

    def _mentioned(self, use: Use, tool: Tool) -> None:
        hint = f"write await tools.{signature(tool)}"
        if use.fate in ("awaited", "iterated", "text", "compared"):
            self._add(use, use.start, "not_called", f"tools.{tool.full_name} is a tool and is not called", hint)
        elif use.fate == "passed" and use.detail.endswith(_EACH) and len(tool.order) < 3:
            method = use.detail.rpartition(".")[2]
            message = f"{method} hands {tool.full_name} three arguments (item, index, list), and it takes {len(tool.order)}"
            name = tool.order[0] if tool.order else ""
            self._add(
                use, use.start, "bad_arguments", message, f"write {method}((item) => tools.{tool.full_name}({{ {name}: item }}))"
            )

    def _promise(self, use: Use, call: str) -> None:
        told = of_promise(use, call, self._line_of(use))
        if told is not None:
            self._add(use, use.start, "not_awaited", told.message, told.hint, certain=told.is_certain)

    def _line_of(self, use: Use) -> str:
        """Where the slip is, when that is another line than the call's."""
        if not use.detail_at:
            return ""
        line = self._place(use.detail_at)[0]
        return f", in line {line}" if line != self._place(use.start)[0] else ""

    # ------------------------------------------------------------ findings

    def _add(self, use: Use, at: int, code: str, message: str, hint: str, *, certain: bool = True, key: str = "") -> None:
        line, column, excerpt = self._place(at)
        severity: Literal["certain", "doubtful"] = "certain" if certain and not use.guarded else "doubtful"
        known = (code, key or f"{at}:{message}")
        before = self._found.get(known)
        if before is None:
            self._found[known] = Finding(severity, code, message, line, column, excerpt, hint)
        elif (line, column) != (before.line, before.column):
            if severity == "certain" and before.severity == "doubtful":
                self._found[known] = Finding(severity, code, message, line, column, excerpt, hint)
                line = before.line
            self._also.setdefault(known, []).append(line)

    def _with_others(self, key: tuple[str, str], finding: Finding) -> Finding:
        lines = sorted({line for line in self._also.get(key, ()) if line != finding.line})
        if not lines:
            return finding
        rest = f" and {len(lines) - _ALSO_MAX} more" if len(lines) > _ALSO_MAX else ""
        return replace(finding, message=f"{finding.message} (also line {', line '.join(map(str, lines[:_ALSO_MAX]))}{rest})")
