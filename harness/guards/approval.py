"""Approval: a call that a rule or its tool puts before a person waits for the answer; the turn's clock stops meanwhile.

Calls that wait at the same time are shown together. What is answered "for the session" is not asked again. No approver, no
answer, an answer too late or to another request: denied, which a script can catch.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal

import anyio

from harness.approval import Answer, Approver, Decision, Policy, Request
from harness.call import Call, Outcome, Proceed, refused
from harness.dispatch import decided
from harness.guards.conflict import Conflict
from harness.open_tasks import OpenTasks
from harness.problems import told
from harness.redaction import Redactor, for_approval


@dataclass(slots=True)
class Remembered:
    """Answers for the session: by key of tool and arguments, or by tool."""

    answers: dict[str, Literal["allow", "deny"]] = field(default_factory=dict)
    asked: int = 0

    def find(self, call: Call) -> Literal["allow", "deny"] | None:
        return self.answers.get(call.key) or self.answers.get(call.name)


@dataclass(slots=True, eq=False)
class _Waiting:
    request: Request
    answer: Answer | None = None
    done: anyio.Event = field(default_factory=anyio.Event)


class Approval:
    """For one turn; what is remembered is the session's."""

    def __init__(
        self,
        approver: Approver,
        policy: Policy,
        remembered: Remembered,
        *,
        session: str,
        seconds: float,
        redactor: Redactor,
        conflict: Conflict,
        tasks: OpenTasks,
        paused: Callable[[], AbstractContextManager[None]],
        clock: Callable[[], float],
    ) -> None:
        self._approver = approver
        self._policy = policy
        self._remembered = remembered
        self._session = session
        self._seconds = seconds
        self._redactor = redactor
        self._conflict = conflict
        self._tasks = tasks
        self._paused = paused
        self._clock = clock
        self._queue: list[_Waiting] = []
        self._asking = False
        self._must_ask: dict[int, str] = {}
        self.decisions: list[Decision] = []

    def admit(self, call: Call) -> Outcome | None:
        named = call.tool.with_defaults(call.bound.named)
        verdict, rule = self._policy.verdict(call.name, named, asks=call.tool.asks(call.bound.named))
        if verdict == "deny":
            self._decide(call, "", "deny", by="rule", reason=str(rule))
            return refused("approval", told("forbidden", tool=call.name, rule=str(rule)), status="denied")
        if verdict == "allow":
            return None
        known = self._remembered.find(call)
        if known == "allow":
            self._decide(call, "", "allow", by="remembered")
            return None
        if known == "deny":
            self._decide(call, "", "deny", by="remembered")
            return self._denied(call, ": a person said no to it for this session")
        self._must_ask[call.number] = str(rule) if rule is not None else "the tool asks before this"
        self._conflict.park(call)
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        why = self._must_ask.pop(call.number, None)
        if why is None:
            return await proceed(call)
        waiting = _Waiting(self._request(call, why))
        self._queue.append(waiting)
        if not self._asking:
            self._asking = True
            self._tasks.start("approval", self._ask_all)
        began = self._clock()
        with self._paused():
            await waiting.done.wait()
        outcome = self._outcome(call, waiting, self._clock() - began)
        if outcome is not None:
            return outcome
        self._conflict.unpark(call)
        return await proceed(call)

    async def _ask_all(self) -> None:
        """Take what waits, ask for all of it at once; what comes meanwhile is the next batch."""
        try:
            while self._queue:
                batch, self._queue = self._queue, []
                answers: Sequence[Answer] = ()
                with anyio.move_on_after(self._seconds):
                    answers = await decided(self._approver, [one.request for one in batch])
                by_id = {answer.request: answer for answer in reversed(answers)}  # the first answer to a request counts
                for one in batch:
                    one.answer = by_id.get(one.request.id)
                    one.done.set()
        finally:
            self._asking = False

    def _request(self, call: Call, why: str) -> Request:
        self._remembered.asked += 1
        bound_to = f"{self._session}|{call.label}|{call.key}|{self._policy.digest}|{self._remembered.asked}"
        return Request(
            id=hashlib.sha256(bound_to.encode()).hexdigest()[:16], session=self._session, call=call.label, tool=call.name,
            line=call.site.line, shown=for_approval(call.bound.named, self._redactor), writes=call.effects.writes, why=why,
            arguments=call.tool.with_defaults(call.bound.named),
        )  # fmt: skip

    def _outcome(self, call: Call, waiting: _Waiting, seconds: float) -> Outcome | None:
        """None: it may run."""
        answer, request = waiting.answer, waiting.request.id
        if answer is None:
            late = seconds >= self._seconds
            self._decide(call, request, "deny", by="timeout" if late else "nobody", seconds=seconds)
            return self._denied(call, f" within {self._seconds:g} seconds" if late else ": nobody answered")
        if answer.remember:
            self._remembered.answers[call.key if answer.remember == "arguments" else call.name] = answer.verdict
        self._decide(call, request, answer.verdict, by="person", reason=answer.reason, seconds=seconds)
        if answer.verdict == "allow":
            return None
        return self._denied(call, f": {answer.reason}" if answer.reason else "")

    def _denied(self, call: Call, why: str) -> Outcome:
        return refused("approval", told("denied", tool=call.name, why=why), status="denied")

    def _decide(
        self,
        call: Call,
        request: str,
        verdict: Literal["allow", "deny"],
        *,
        by: Literal["person", "remembered", "rule", "nobody", "timeout"],
        reason: str = "",
        seconds: float = 0.0,
    ) -> None:
        self.decisions.append(
            Decision(
                request=request, call=call.label, tool=call.name, verdict=verdict, by=by, reason=reason, seconds=round(seconds, 3)
            )
        )
