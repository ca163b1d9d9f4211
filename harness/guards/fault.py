"""Fault: a call that a rule is for does not run, and ends as it would if that had happened: a failure, a timeout, a denial.

Decided in `admit`, in the order of the script, so that two calls in flight never both take `once`; a timeout comes at once. It
stands before `replay`, so that a rule overrides a recording.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from harness.call import Call, Outcome, Proceed
from harness.faults import Fault, FaultCounts
from harness.identity import Identity, identity_of
from harness.problems import told
from sandbox import Problem

_ERROR = "RuntimeError: something went wrong"  # what a tool's failure says when the rule does not


class Faults:
    """For one turn; the counts are the session's."""

    def __init__(
        self, counts: FaultCounts, *, call_seconds: float, happened: Mapping[Identity, str] = MappingProxyType({})
    ) -> None:
        """`call_seconds`: after which a call times out whose tool declares no time of its own. `happened`: calls of a turn that
        goes on after a crash, with the rule that they fell to, or ""; what is on record stays as it was.
        """
        self._counts = counts
        self._call_seconds = call_seconds
        self._happened = happened

    def admit(self, call: Call) -> Outcome | None:
        if self._happened:
            rule = self._happened.get(identity_of(call.name, call.site, call.tool.with_defaults(call.bound.named)))
            if rule is not None:
                self._counts.lived(call.name, call.site.line, rule)
                return None
        fault = self._counts.due(call.name, call.site.line)
        return None if fault is None else self._outcome(call, fault)

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        return await proceed(call)

    def _outcome(self, call: Call, fault: Fault) -> Outcome:
        """As the guards and `dispatch` make it of the real thing."""
        rule = str(fault)
        match fault.how:
            case "fails":
                problem = told("tool_failed", tool=call.name, error=_ERROR)
                return Outcome(status="failed", problem=_said(fault, problem), by="tool", source="tool", fault=rule)
            case "times out":
                seconds = call.tool.facts.timeout_seconds or self._call_seconds
                problem = told("tool_timeout", tool=call.name, seconds=seconds, data={"seconds": seconds})
                return Outcome(status="timed_out", problem=_said(fault, problem), by="timeout", fault=rule)
            case "is denied":
                problem = told("denied", tool=call.name, why="")
                return Outcome(status="denied", problem=_said(fault, problem), by="approval", fault=rule)
            case "is refused":
                problem = told("fault_refused", tool=call.name, rule=rule)
                return Outcome(status="refused", problem=_said(fault, problem), by="fault", fault=rule)
        assert_never(fault.how)


def _said(fault: Fault, problem: Problem) -> Problem:
    """With the rule's own code and message, where it has them; then the usual next step need not be right."""
    return Problem(fault.code, fault.message) if fault.code else problem
