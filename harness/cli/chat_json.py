"""A chat as JSON lines, one an event, for other programs: `{"event": "call_ended", "turn": 1, …}`."""

import json
from typing import Any, assert_never

import typer

from harness.chat.loop import Answer, Asks, Heard, Replied
from harness.chat.messages import ReasoningCame, TextCame, Waits
from harness.ledger import Ledger
from harness.redaction import Redactor
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


class JsonLines:
    """Without secrets, as far as they are known."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def listen(self, heard: Heard) -> None:
        match heard:
            case Asks():
                self._line("asks", step=heard.step)
            case TextCame():
                self._line("text", text=heard.text)
            case ReasoningCame():
                self._line("reasoning", text=heard.text)
            case Waits():
                self._line("waits", seconds=heard.seconds, why=heard.why)
            case Replied():
                usage = {"read": heard.usage.read, "written": heard.usage.written, "guessed": heard.guessed}
                calls = [{"id": one.id, "name": one.name} for one in heard.reply.calls]
                self._line("replied", text=heard.reply.text, calls=calls, stop=heard.reply.stop, tokens=usage)
            case _:
                assert_never(heard)

    def watch(self, happened: Happened) -> None:
        match happened:
            case TurnBegan():
                self._line("turn_began", turn=happened.turn, script=happened.script, direct=happened.direct)
            case CallBegan():
                self._line(
                    "call_began", turn=happened.turn, call=happened.call, tool=happened.tool, line=happened.line,
                    arguments=happened.shown,
                )  # fmt: skip
            case CallProgressed():
                self._line("call_progressed", turn=happened.turn, tool=happened.tool, text=happened.text)
            case Asked():
                self._line("asked", turn=happened.turn, requests=[_request(one) for one in happened.requests])
            case Answered():
                verdicts = {one.request: one.verdict for one in happened.answers}
                answers = [{"id": one.id, "verdict": verdicts.get(one.id, "deny")} for one in happened.requests]
                self._line("answered", turn=happened.turn, answers=answers)
            case CallEnded():
                self._call_ended(happened)
            case TurnYielded():
                self._line("turn_yielded", turn=happened.turn, text=happened.part.text)
            case TurnEnded():
                self._turn_ended(happened)
            case _:
                assert_never(happened)

    def _call_ended(self, happened: CallEnded) -> None:
        record, outcome = happened.record, happened.record.outcome
        self._line(
            "call_ended", turn=happened.turn, call=happened.call, tool=record.tool, status=outcome.status, by=outcome.by,
            bytes=outcome.size, seconds=round(record.seconds, 6), code=outcome.problem.code if outcome.problem else None,
        )  # fmt: skip

    def _turn_ended(self, happened: TurnEnded) -> None:
        outcome = happened.outcome
        if outcome is None:
            self._line("turn_ended", turn=happened.turn, how="cancelled")
            return
        how = type(outcome.ending).__name__.lower()
        self._line("turn_ended", turn=happened.turn, how=how, text=outcome.text, ledger=outcome.ledger.as_json())

    def answered(self, answer: Answer) -> None:
        self._line("answer", how=answer.how, text=answer.text, problem=answer.problem or None, steps=answer.steps)

    def closed(self, session: str, ledger: Ledger) -> None:
        """`session`: "" when it is not kept."""
        self._line("closed", session=session or None, ledger=ledger.as_json())

    def _line(self, event: str, **facts: Any) -> None:
        freed, _ = self._redactor.value(json.loads(json.dumps({"event": event, **facts}, default=str)))
        typer.echo(json.dumps(freed))


def _request(request: Any) -> dict[str, Any]:
    return {
        "id": request.id, "tool": request.tool, "line": request.line, "arguments": request.shown,
        "writes": list(request.writes), "why": request.why,
    }  # fmt: skip
