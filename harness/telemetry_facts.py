"""What spans say of turns, calls and questions: names to numbers and words. Pure; it knows no OpenTelemetry.

Content is apart: redacted, cut, and only where it was asked for.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from harness.approval import Request
from harness.call import Outcome
from harness.outcome import TurnOutcome
from harness.parts import Part
from harness.problems import PROBLEMS
from harness.redaction import Redactor, for_approval
from harness.turn import CallRecord
from sandbox import Exceeded

Attributes: TypeAlias = dict[str, str | bool | int | float]

OPERATION: Final = "gen_ai.operation.name"
CONVERSATION: Final = "gen_ai.conversation.id"
TOOL: Final = "gen_ai.tool.name"
CALL_ID: Final = "gen_ai.tool.call.id"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"
RESULT: Final = "gen_ai.tool.call.result"
ERROR: Final = "error.type"
SCRIPT: Final = "turnscript.script"
TEXT: Final = "turnscript.text"
_OTHER: Final = "_OTHER"  # as the conventions have it
_OF_THE_LANGUAGE: Final = frozenset(
    f"{kind}Error" for kind in ("", "Aggregate", "Eval", "Internal", "Range", "Reference", "Syntax", "Type", "URI")
)
_TEXT_CHARS = 65_536  # of one attribute; collectors drop spans that are too big
_RESULT_BYTES = 65_536  # a bigger result is told by its size alone: to look through it would hold up the turn


def call_id(turn: int, call: int) -> str:
    """As `Call.label` has it, which requests carry."""
    return f"T{turn} call {call}"


def error_of(outcome: TurnOutcome) -> str:
    """Why the script did not finish, as one word; "" when it did. A name that the script made up may be anything."""
    if isinstance(outcome.ending, Exceeded):
        return outcome.ending.limit
    if outcome.error is None:
        return ""
    name = outcome.error.name
    codes = {record.outcome.problem.code for record in outcome.calls if record.outcome.problem is not None}
    return name if name in PROBLEMS or name in _OF_THE_LANGUAGE or name in codes else _OTHER


def turn_facts(outcome: TurnOutcome) -> Attributes:
    ledger = outcome.ledger
    facts: Attributes = {
        "turnscript.ending": type(outcome.ending).__name__.lower(),
        "turnscript.produced_bytes": ledger.produced,
        "turnscript.shown_bytes": ledger.shown,
        "turnscript.text_bytes": ledger.text,
        "turnscript.result_bytes": ledger.result_bytes,
        "turnscript.references": ledger.references,
        "turnscript.redacted": sum(ledger.redacted.values()),
        "turnscript.cache_hits": ledger.cache_hits,
        "turnscript.cache_misses": ledger.cache_misses,
        "turnscript.shared_calls": ledger.shared,
        "turnscript.relaxed": bool(ledger.relaxed),
        "turnscript.turn_seconds": ledger.turn_seconds,
        "turnscript.tool_seconds": ledger.tool_seconds,
        "turnscript.engine_seconds": ledger.engine_seconds,
        "turnscript.person_seconds": ledger.person_seconds,
    }
    facts |= {f"turnscript.trimmed_bytes.{cause}": size for cause, size in ledger.trimmed.items()}
    facts |= {f"turnscript.calls.{status}": number for status, number in ledger.calls.items()}
    return facts | {f"turnscript.refused.{guard}": number for guard, number in ledger.refused.items()}


def call_facts(record: CallRecord) -> Attributes:
    outcome = record.outcome
    facts: Attributes = {
        "turnscript.status": outcome.status,
        "turnscript.result_bytes": outcome.size,
        "turnscript.run_seconds": round(outcome.seconds, 6),
        "turnscript.waited_seconds": round(max(0.0, record.seconds - outcome.seconds), 6),
    }
    if outcome.by != "tool":
        facts["turnscript.guard"] = outcome.by
    if outcome.source:
        facts["turnscript.source"] = outcome.source
    if outcome.of:
        facts["turnscript.of"] = outcome.of
    if outcome.fault:
        facts["turnscript.fault"] = True
    if outcome.replayed:
        facts["turnscript.replayed"] = True
    return facts


def approval_facts(request: Request) -> Attributes:
    return {TOOL: request.tool, CALL_ID: request.call, "turnscript.approval.request": request.id}


def part_facts(part: Part) -> Attributes:
    return {"turnscript.text_bytes": len(part.text.encode("utf-8", "replace")), "turnscript.items": len(part.items)}


@dataclass(frozen=True, slots=True)
class Content:
    """Texts and values for people's eyes."""

    redactor: Redactor

    def text(self, text: str) -> str:
        cut = self.redactor.text(text).text
        return cut if len(cut) <= _TEXT_CHARS else f"{cut[:_TEXT_CHARS]}…"

    def json(self, value: Any) -> str:
        """Of what is cut and free of the session's secrets already; those that only the host knows go too."""
        return self.text(orjson.dumps(value, default=str).decode())

    def result(self, outcome: Outcome) -> str:
        if outcome.size > _RESULT_BYTES:
            return ""
        (shown,) = for_approval([outcome.value], self.redactor)
        return self.json(shown)
