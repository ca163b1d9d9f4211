"""Plan: where the policy asks for two passes, lines of files come into a script only as an earlier script planned them."""

from typing import Any

from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told
from harness.reading_plan import PlannedFile, Plans

_READ_FACTOR = 4  # a script may read more than it shows, within reason


class Plan:
    """For one turn; the plans are the session's."""

    def __init__(self, plans: Plans) -> None:
        self._plans = plans
        self._planned: dict[int, PlannedFile] = {}  # by call: a new plan may come while it runs

    def admit(self, call: Call) -> Outcome | None:
        if not reads_lines(call):
            return None
        if not self._plans.ready:
            self._plans.refused += 1
            why = "this script has just made it: read in the next one" if self._plans.files else "there is none"
            return refused("plan", told("plan_needed", tool=call.name, why=why))
        path = self._path_of(call)
        if path not in self._plans.files:
            return self._refuse(call, f"{path} is not in the plan")
        self._planned[call.number] = self._plans.files[path]
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        planned = self._planned.pop(call.number, None)
        if planned is not None:
            self._plans.tried += 1
        outcome = await proceed(call)
        if planned is None or not outcome.ok:
            return outcome
        path = self._path_of(call)
        beyond = _beyond(planned, outcome.value, self._plans)
        if beyond:
            return self._refuse(call, f"{path} {beyond}")
        spent = sum(self._plans.read.values()) + outcome.size
        if spent > self._plans.bytes * _READ_FACTOR:
            return self._refuse(call, f"{path} makes {spent:,} bytes read, with {self._plans.bytes:,} planned to show")
        self._plans.read[path] = self._plans.read.get(path, 0) + outcome.size
        return outcome

    def lived(self, call: Call, outcome: Outcome) -> None:
        """Count a call of an earlier process as it was counted there."""
        if not reads_lines(call):
            return
        if outcome.by == "plan":
            self._plans.refused += 1
            return
        self._plans.tried += 1
        if outcome.ok:
            path = self._path_of(call)
            self._plans.read[path] = self._plans.read.get(path, 0) + outcome.size

    def _refuse(self, call: Call, what: str) -> Outcome:
        self._plans.refused += 1
        planned = ", ".join(_words(one) for one in list(self._plans.files.values())[:6])
        return refused("plan", told("not_planned", tool=call.name, what=what, planned=planned))

    def _path_of(self, call: Call) -> str:
        """The file it reads: by its effects, or by the argument of that name where it declares a whole tree."""
        files = [key.removeprefix("file:") for key in call.effects.reads if key.startswith("file:")]
        return files[0] if files else self._plans.canonical(str(call.bound.named.get("path", "")))


def reads_lines(call: Call) -> bool:
    return call.tool.facts.shape == "slice"


def _beyond(planned: PlannedFile, value: Any, plans: Plans) -> str:
    """Which lines of the result no plan has; "" when all are planned."""
    lines = value.get("lines") if isinstance(value, dict) else None
    if not isinstance(lines, list) or planned.symbols:
        return ""
    if planned.whole:
        total, size = value.get("total_lines", 0), value.get("bytes", 0)
        small = total <= plans.limits.small_file_lines and size <= plans.limits.small_file_bytes
        return "" if small else f"is no small file to read whole ({total:,} lines, {size:,} bytes)"
    for first, last in lines:
        if not any(low <= first and last <= high for low, high in planned.ranges):
            return f"{first}-{last} is not in the plan"
    return ""


def _words(one: PlannedFile) -> str:
    ranges = ", ".join(f"{first}-{last}" for first, last in one.ranges)
    return f"{one.path} {ranges or ('whole' if one.whole else 'for ' + ', '.join(one.symbols))}"
