"""OpenTelemetry: a watch that makes a span of each turn, a child span of each call and of each question to a person, and metrics.

Names follow the GenAI conventions where they have one, and begin with `turnscript.` where they have none. Numbers and names are
told; scripts, arguments and texts only with `content`, and never a secret. The parent is the caller's current span.
"""

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import assert_never

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, Status, StatusCode, TracerProvider

from harness.approval import Answer, Request
from harness.outcome import TurnOutcome
from harness.redaction import Redactor
from harness.telemetry_facts import (
    ARGUMENTS,
    CALL_ID,
    CONVERSATION,
    ERROR,
    OPERATION,
    RESULT,
    SCRIPT,
    TEXT,
    TOOL,
    Attributes,
    Content,
    approval_facts,
    call_facts,
    call_id,
    error_of,
    part_facts,
    turn_facts,
)
from harness.telemetry_metrics import Metrics
from harness.turn import CallRecord
from harness.watching import (
    Answered,
    Asked,
    CallBegan,
    CallEnded,
    CallProgressed,
    Happened,
    TurnBegan,
    TurnEnded,
    TurnYielded,
)

NAME = "turnscript"
_CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class _Open:
    """The spans of one turn that have not ended; of calls by their id, of questions by the request's."""

    turn: Span
    calls: dict[str, Span] = field(default_factory=dict)
    asked: dict[str, Span] = field(default_factory=dict)


class Telemetry:
    """Give it to a harness or a session: `Harness(…, watch=Telemetry())`. Without providers, those of the process are used.

    `redactor`: knows the secrets of the host, for `content`; without one, what looks like a secret is taken out.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        content: bool = False,
        *,
        redactor: Redactor | None = None,
    ) -> None:
        ours = version(NAME)
        self._tracer = trace.get_tracer(NAME, ours, tracer_provider)
        self._metrics = Metrics(metrics.get_meter(NAME, ours, meter_provider))
        self._content = Content(redactor or Redactor()) if content else None
        self._open: dict[tuple[str, int], _Open] = {}

    def __call__(self, happened: Happened) -> None:
        match happened:
            case TurnBegan():
                self._turn_began(happened)
            case CallBegan():
                self._call_began(happened)
            case CallProgressed():
                self._progressed(happened)
            case Asked():
                self._asked(happened)
            case Answered():
                self._answered(happened)
            case CallEnded():
                self._call_ended(happened)
            case TurnYielded():
                self._yielded(happened)
            case TurnEnded():
                self._turn_ended(happened)
            case _:
                assert_never(happened)

    def close(self) -> None:
        """End the spans that nobody ended, such as those of a turn whose store failed."""
        for key in list(self._open):
            self._abandon(key)

    # ------------------------------------------------------------ turns

    def _turn_began(self, began: TurnBegan) -> None:
        for key in [key for key in self._open if key[0] == began.session]:  # a session has one turn at a time
            self._abandon(key)
        facts: Attributes = {"turnscript.mode": began.mode, "turnscript.direct": began.direct}
        if self._content is not None:
            facts |= {SCRIPT: self._content.text(began.script)}
        self._open[began.session, began.turn] = _Open(self._turn_span(began.session, began.turn, facts))

    def _turn_span(self, session: str, turn: int, facts: Attributes) -> Span:
        of: Attributes = {OPERATION: "run_script", CONVERSATION: session, "turnscript.turn": turn}
        return self._tracer.start_span("run_script", attributes=of | facts)

    def _turn_ended(self, ended: TurnEnded) -> None:
        key = ended.session, ended.turn
        if ended.outcome is None:
            self._abandon(key)
            return
        spans = self._open.pop(key, None) or self._not_run(ended.session, ended.outcome)
        self._end_inner(spans)
        facts, error = turn_facts(ended.outcome), error_of(ended.outcome)
        if self._content is not None:
            facts |= {TEXT: self._content.text(ended.outcome.text)}
        spans.turn.set_attributes(facts)
        _fail(spans.turn, error, self._said(ended.outcome.error.message if ended.outcome.error is not None else ""))
        spans.turn.end()
        self._metrics.turn(ended.outcome, error)

    def _not_run(self, session: str, outcome: TurnOutcome) -> _Open:
        """A script that was not even started: a span without a length."""
        facts: Attributes = {"turnscript.mode": outcome.mode}
        if self._content is not None:
            facts |= {SCRIPT: self._content.text(outcome.script)}
        return _Open(self._turn_span(session, outcome.number, facts))

    def _abandon(self, key: tuple[str, int]) -> None:
        spans = self._open.pop(key, None)
        if spans is None:
            return
        self._end_inner(spans)
        spans.turn.set_attribute("turnscript.ending", _CANCELLED)
        _fail(spans.turn, _CANCELLED)
        spans.turn.end()
        self._metrics.cancelled()

    def _end_inner(self, spans: _Open) -> None:
        for span in (*spans.asked.values(), *spans.calls.values()):
            _fail(span, _CANCELLED)
            span.end()
        spans.asked.clear()
        spans.calls.clear()

    def _yielded(self, yielded: TurnYielded) -> None:
        spans = self._open.get((yielded.session, yielded.turn))
        if spans is not None:
            facts = part_facts(yielded.part)
            if self._content is not None:
                facts |= {TEXT: self._content.text(yielded.part.text)}
            spans.turn.add_event("turnscript.yielded", facts)

    def _progressed(self, progressed: CallProgressed) -> None:
        spans = self._open.get((progressed.session, progressed.turn))
        if spans is not None:
            facts: Attributes = {TOOL: progressed.tool}
            if self._content is not None:
                facts |= {TEXT: self._content.text(progressed.text)}
            spans.turn.add_event("turnscript.progressed", facts)

    # ------------------------------------------------------------ calls

    def _call_began(self, began: CallBegan) -> None:
        spans = self._open.get((began.session, began.turn))
        if spans is None:
            return
        id = call_id(began.turn, began.call)
        facts: Attributes = {
            OPERATION: "execute_tool", TOOL: began.tool, "gen_ai.tool.type": "function", CALL_ID: id, CONVERSATION: began.session,
            "turnscript.line": began.line,
        }  # fmt: skip
        if self._content is not None:
            facts |= {ARGUMENTS: self._content.json(began.shown)}
        spans.calls[id] = self._child(spans.turn, f"execute_tool {began.tool}", facts)

    def _call_ended(self, ended: CallEnded) -> None:
        spans = self._open.get((ended.session, ended.turn))
        span = None if spans is None else spans.calls.pop(call_id(ended.turn, ended.call), None)
        if span is None:  # one that did not stop when it was cancelled may end a second time
            return
        record, problem = ended.record, ended.record.outcome.problem
        span.set_attributes(call_facts(record))
        if self._content is not None and (result := self._result(record)):
            span.set_attribute(RESULT, result)
        _fail(span, "" if problem is None else problem.code, self._said("" if problem is None else problem.message))
        span.end()
        self._metrics.call(record)

    def _result(self, record: CallRecord) -> str:
        return "" if self._content is None or not record.outcome.ok else self._content.result(record.outcome)

    # ------------------------------------------------------------ persons

    def _asked(self, asked: Asked) -> None:
        spans = self._open.get((asked.session, asked.turn))
        for request in () if spans is None else asked.requests:
            assert spans is not None
            spans.asked[request.id] = self._child(spans.calls.get(request.call, spans.turn), "approval", approval_facts(request))

    def _answered(self, answered: Answered) -> None:
        spans = self._open.get((answered.session, answered.turn))
        answers = {answer.request: answer for answer in reversed(answered.answers)}
        for request in () if spans is None else answered.requests:
            assert spans is not None
            self._end_question(spans, request, answers.get(request.id))

    def _end_question(self, spans: _Open, request: Request, answer: Answer | None) -> None:
        span = spans.asked.pop(request.id, None)
        if span is None:
            return
        span.set_attributes({
            "turnscript.approval.verdict": "deny" if answer is None else answer.verdict,
            "turnscript.approval.answered": answer is not None,
            "turnscript.approval.remembered": "" if answer is None else answer.remember,
        })  # fmt: skip
        span.end()

    def _child(self, parent: Span, name: str, facts: Attributes) -> Span:
        return self._tracer.start_span(name, context=trace.set_span_in_context(parent), attributes=facts)

    def _said(self, message: str) -> str:
        """A message may quote anything, so it is content too."""
        return "" if self._content is None else self._content.text(message)


def _fail(span: Span, error: str, message: str = "") -> None:
    if error:
        span.set_attribute(ERROR, error)
        span.set_status(Status(StatusCode.ERROR, message or None))
