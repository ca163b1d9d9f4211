"""Approval: a call that a rule or its tool puts before a person waits for the answer; the turn's clock stops meanwhile.

Calls that wait at the same time are shown together. What is answered "for the session" is not asked again. No approver, no
answer, an answer too late or to another request: denied, which a script can catch. An approver that does not stop when its time
is over is not waited for.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, assert_never

import anyio

from harness.approval import Answer, Approver, By, Decision, Policy, Request, Rule, Verdict
from harness.call import Call, Outcome, Proceed, refused
from harness.dispatch import decided
from harness.guards.conflict import Conflict
from harness.open_tasks import OpenTasks
from harness.problems import told
from harness.redaction import Redactor, for_approval

_FOR_SESSION = ": a person said no to it for this session"


@dataclass(slots=True)
class Remembered:
    """Answers for the session: by key of tool and arguments, or by tool."""

    answers: dict[str, Literal["allow", "deny"]] = field(default_factory=dict)
    asked: int = 0

    def find(self, call: Call) -> Literal["allow", "deny"] | None:
        return self.answers.get(call.key) or self.answers.get(call.name)


def verdict_on(call: Call, policy: Policy) -> tuple[Verdict, Rule | None]:
    """By the first rule that fits, which is told too; without one, by the tool."""
    named, defaults = call.tool.with_defaults(call.bound.named), call.tool.with_defaults({})
    optional = [name for name, value in named.items() if name not in call.tool.required and value != defaults.get(name)]
    return policy.verdict(call.name, named, asks=call.tool.asks(call.bound.named), optional=optional, places=call.places)


@dataclass(slots=True, eq=False)
class _Waiting:
    call: Call
    request: Request
    began: float
    verdict: Literal["allow", "deny"] = "deny"
    by: By = "nobody"
    reason: str = ""
    remembered: str = ""
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
        self._nobody_is_there = False  # an answer was waited for in vain: the rest of the turn asks no more
        self._must_ask: dict[int, str] = {}
        self.decisions: list[Decision] = []

    def admit(self, call: Call) -> Outcome | None:
        verdict, rule = verdict_on(call, self._policy)
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
            return self._denied(call, _FOR_SESSION)
        if self._nobody_is_there:
            self._decide(call, "", "deny", by="timeout")
            return self._denied(call, ": nobody answered the one before it")
        self._must_ask[call.number] = str(rule) if rule is not None else "the tool asks before this"
        self._conflict.park(call)
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        why = self._must_ask.pop(call.number, None)
        if why is None:
            return await proceed(call)
        waiting = _Waiting(call, self._request(call, why), self._clock())
        self._queue.append(waiting)
        if not self._asking:
            self._asking = True
            self._tasks.start("approval", self._ask_all)
        with self._paused():
            await waiting.done.wait()
        if waiting.verdict == "deny":
            return self._denied(call, self._why(waiting))
        self._conflict.unpark(call)
        return await proceed(call)

    async def _ask_all(self) -> None:
        """Take what waits, ask for all of it at once; what comes meanwhile is the next batch."""
        try:
            while self._queue:
                batch, self._queue = sorted(self._queue, key=lambda one: one.call.number), []
                asked = [one for one in batch if not self._is_known(one)]
                heard = await self._heard([one.request for one in asked]) if asked else ((), "")
                answers, fault = heard or ((), "")
                self._nobody_is_there = bool(asked) and heard is None
                by_id = {answer.request: answer for answer in reversed(answers)}  # the first answer to a request counts
                for one in asked:
                    one.by, one.reason = "timeout" if heard is None else "nobody", fault
                    if one.request.id in by_id:
                        self._take(one, by_id[one.request.id])
                for one in batch:
                    seconds = self._clock() - one.began
                    self._decide(
                        one.call, one.request.id, one.verdict, by=one.by, reason=one.reason, seconds=seconds,
                        remembered=one.remembered,
                    )  # fmt: skip
                    one.done.set()
        finally:
            self._asking = False

    async def _heard(self, requests: Sequence[Request]) -> tuple[Sequence[Answer], str] | None:
        """The answers that come in time, and what was wrong with them; None when the time is over."""
        said: list[tuple[Sequence[Answer], str]] = []
        over, scope = anyio.Event(), anyio.CancelScope()

        async def listen() -> None:
            with scope:
                said.append(await decided(self._approver, requests))
            over.set()

        self._tasks.start("the approver", listen)
        with anyio.move_on_after(self._seconds):
            await over.wait()
        scope.cancel()
        return said[0] if said else None

    def _is_known(self, one: _Waiting) -> bool:
        """A person may have said it for the session while this one was waiting."""
        known = self._remembered.find(one.call)
        if known is None:
            return False
        one.verdict, one.by = known, "remembered"
        return True

    def _take(self, one: _Waiting, answer: Answer) -> None:
        one.verdict, one.by, one.reason = ("allow" if answer.verdict == "allow" else "deny"), "person", answer.reason
        if answer.remember in ("arguments", "tool"):
            one.remembered = one.call.key if answer.remember == "arguments" else one.call.name
            self._remembered.answers[one.remembered] = one.verdict

    def _request(self, call: Call, why: str) -> Request:
        self._remembered.asked += 1
        bound_to = f"{self._session}|{call.label}|{call.key}|{self._policy.digest}|{self._remembered.asked}"
        return Request(
            id=hashlib.sha256(bound_to.encode()).hexdigest()[:16], session=self._session, call=call.label, tool=call.name,
            line=call.site.line, shown=for_approval(call.bound.named, self._redactor), why=why,
            writes=tuple(self._redactor.text(key).text for key in call.effects.writes),
            arguments=call.tool.with_defaults(call.bound.named),
        )  # fmt: skip

    def _why(self, waiting: _Waiting) -> str:
        match waiting.by:
            case "timeout":
                return f" within {self._seconds:g} seconds"
            case "nobody":
                return ": nobody answered"
            case "remembered":
                return _FOR_SESSION
            case "person" | "rule":
                return f": {waiting.reason}" if waiting.reason else ""
        assert_never(waiting.by)

    def _denied(self, call: Call, why: str) -> Outcome:
        return refused("approval", told("denied", tool=call.name, why=why), status="denied")

    def _decide(
        self,
        call: Call,
        request: str,
        verdict: Literal["allow", "deny"],
        *,
        by: By,
        reason: str = "",
        seconds: float = 0.0,
        remembered: str = "",
    ) -> None:
        self.decisions.append(
            Decision(
                request=request, call=call.label, tool=call.name, verdict=verdict, by=by, reason=reason,
                seconds=round(seconds, 3), remembered=remembered,
            )
        )  # fmt: skip
