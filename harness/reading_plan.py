"""Two passes: first a bounded plan of what to read, in a script of its own; then a script that reads it.

The plan names files with ranges, symbols or `whole`, and a number of bytes. It is judged by the limits that showing has and by
what is in view already. `tools.reads.plan` is on offer where the policy asks for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from catalog import Pack, ToolProblem, pack, tool
from harness.limits import ShownLimits
from harness.problems import told

_FILES_MAX = 32  # more is no plan
_RANGES_MAX = 64

Covered = Callable[[str, int, int], Sequence[tuple[int, int]]]  # path, first, last: which of them are in view


class PlannedFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    ranges: Annotated[list[tuple[int, int]], Field(description="lines to read, [[first, last], …]")] = []
    symbols: Annotated[list[str], Field(description="names to look for, when the lines are not known")] = []
    whole: Annotated[bool, Field(description="all of it; one small file a plan")] = False


class PlanTaken(BaseModel):
    model_config = ConfigDict(frozen=True)
    files: int
    bytes: int
    in_view: Annotated[list[str], Field(description="lines of the plan that you can see already: no need to read them")]
    next: str


@dataclass(slots=True)
class Plans:
    """The session's plan and what became of it."""

    limits: ShownLimits
    covered: Covered
    canonical: Callable[[str], str]  # of a path: one name for one file
    turn: int = 0  # the turn that runs
    made_in: int = 0
    files: dict[str, PlannedFile] = field(default_factory=dict)
    bytes: int = 0
    read: dict[str, int] = field(default_factory=dict)  # path to bytes
    tried: int = 0  # reads of it that ran, whatever came of them: a plan of files that are not there is over too
    refused: int = 0

    @property
    def ready(self) -> bool:
        return bool(self.files) and self.made_in < self.turn

    def take(self, files: Sequence[PlannedFile], size: int) -> PlanTaken:
        why, following = self._fault(files, size)
        if why:
            problem = told("bad_plan", why=why, next=following)
            raise ToolProblem(problem.code, problem.message, hint=problem.hint)
        self.files = {self.canonical(one.path): one for one in files}
        self.bytes, self.made_in, self.read, self.tried, self.refused = size, self.turn, {}, 0, 0
        seen = [
            f"{one.path} {first}-{last}"
            for one in files
            for asked in one.ranges
            for first, last in self.covered(one.path, *asked)
        ]
        return PlanTaken(files=len(files), bytes=size, in_view=seen, next="read these files in your next script")

    def _fault(self, files: Sequence[PlannedFile], size: int) -> tuple[str, str]:
        """Why it is no good plan, and what to do; ("", "") when it is."""
        if self.files and self.made_in == self.turn:
            return "this script has made a plan already", "one plan a script; put all files into it"
        if self.files and not self.tried:
            return f"the plan of turn {self.made_in} has not been read yet", "read what it names before you plan again"
        if not 1 <= len(files) <= _FILES_MAX:
            return f"it names {len(files)} files; 1 to {_FILES_MAX} is a plan", "name the files that matter most"
        if sum(len(one.ranges) for one in files) > _RANGES_MAX:
            return f"it has more than {_RANGES_MAX} ranges", "join ranges that are near each other"
        most = self.limits.shown_turn_bytes
        if not 0 < size <= most:
            return f"bytes is {size:,}; a turn shows 1 to {most:,}", f"plan at most {most:,} bytes a turn"
        if len({self.canonical(one.path) for one in files}) < len(files):
            return "it names a file twice", "put all ranges of a file into one entry"
        vague = next((one.path for one in files if not (one.ranges or one.symbols or one.whole)), None)
        if vague is not None:
            return f"{vague} has no ranges, no symbols and not whole: true", "say what of it you want to read"
        for one in files:
            for first, last in one.ranges:
                if not 1 <= first <= last:
                    return f"{one.path} {first}-{last} is no range", "give [first, last], counted from 1"
            if one.whole and (one.ranges or one.symbols):
                return f"{one.path} is to be read whole and in parts", "say whole: true, or ranges, or symbols"
        wholes = [one.path for one in files if one.whole]
        if len(wholes) > 1:
            return (
                f"{len(wholes)} files are to be read whole ({', '.join(wholes[:4])})",
                "one small file a turn; give ranges for the others",
            )
        return "", ""

    def actual(self) -> dict[str, Any]:
        """Plan against actual, for the ledger."""
        return {
            "planned_files": len(self.files),
            "planned_bytes": self.bytes,
            "read_files": len(self.read),
            "read_bytes": sum(self.read.values()),
            "not_read": [path for path in self.files if path not in self.read],
            "refused": self.refused,
        }


def plan_pack(plans: Plans) -> Pack:
    @tool(writes=["plan:reads"])
    async def plan(files: list[PlannedFile], bytes: int) -> PlanTaken:
        """Say what you are going to read before you read it; the next script may then read just that.

        Args:
            files: each with its path and the ranges or symbols you want of it.
            bytes: how much of it all you mean to show.
        """
        return plans.take(files, bytes)

    return pack("reads", [plan], doc="Plan what to read: a script that reads files must follow a plan.")
