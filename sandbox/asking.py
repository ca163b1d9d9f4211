"""Commands to the text the engine takes. Pure; what a host hands over that is no JSON is told to whom it concerns.

Facts of a `Start` are the host's own: `Misuse`. A tool's result is the tool's: a problem in the script.
"""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

import orjson

from sandbox import values
from sandbox.errors import Misuse
from sandbox.limits import Limits
from sandbox.messages import Budget, Problem, Reject, Resolve, Start
from sandbox.wire import OUTLINE, START, Ask


def starting(start: Start, source: bytes) -> Ask:
    limits = start.limits
    facts = {
        "limits": _limits_json(limits),
        "now": start.now,
        "seed": start.seed & 0xFFFFFFFF,
        "budget": _budget(start.budget),
        "stored": dict(start.stored),
        "tools": list(start.tools),
        "context": dict(start.context),
    }
    try:
        text = values.encode(facts, limits.depth + 2)
    except (values.TooDeep, TypeError) as error:
        raise Misuse(f"context and stored values must be JSON: {error}") from None
    return _asked(START, source, text, limits)


def outlining(source: bytes, limits: Limits) -> Ask:
    return _asked(OUTLINE, source, b"", limits)


def _asked(kind: bytes, source: bytes, text: bytes, limits: Limits) -> Ask:
    return Ask(
        kind,
        text=text,
        source=source,
        seconds=limits.engine_seconds,
        heap=limits.heap_bytes,
        stack=limits.stack_bytes,
        jobs=limits.jobs,
    )


def settlement(command: Resolve | Reject, limits: Limits) -> bytes:
    """`[id, good, value or problem, now, budget]`, as mail.js reads it."""
    good, value = (True, command.value) if isinstance(command, Resolve) else (False, _problem(command.problem))
    told = None
    try:
        body = values.encode(value, limits.depth)
    except (values.TooDeep, TypeError) as error:
        told, body = Problem("bad_result", f"the tool's result is not JSON: {error}"), b""
    if len(body) > limits.result_bytes:
        told = Problem(
            "result_too_large",
            f"the result is {len(body):,} bytes; a script takes {limits.result_bytes:,} at once",
            "ask for a part: a range, a filter, a smaller limit",
        )
    if told is not None:
        good, body = False, orjson.dumps(_problem(told))
    rest = b"null,null]" if command.now is None and command.budget is None else _rest(command)
    return b"[%d,%s,%s,%s" % (command.call_id, b"true" if good else b"false", body, rest)


@lru_cache(maxsize=256)
def _limits_json(limits: Limits) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps({name: int(value) for name, value in asdict(limits).items()}))


def _problem(problem: Problem) -> dict[str, Any]:
    return {"code": problem.code, "message": problem.message, "hint": problem.hint, "data": problem.data}


def _rest(command: Resolve | Reject) -> bytes:
    return orjson.dumps([command.now, _budget(command.budget)])[1:]


def _budget(budget: Budget | None) -> dict[str, Any] | None:
    return None if budget is None else {"bytes": budget.bytes, "seconds": budget.seconds, "tools": budget.tools}
