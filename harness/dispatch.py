"""The end of the chain: the tool's function is called. Also the host's own answers for `sleep`, `help`, `recall` and `relax`.

Only here may any exception be caught: what a tool raises becomes a problem that the script can catch, an approver that breaks
gives no answer, and a watch that breaks is not heard.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TypeVar

import anyio
from anyio import get_cancelled_exc_class
from anyio.lowlevel import checkpoint_if_cancelled

from catalog import Results, Toolbox, ToolProblem
from catalog.help import answer_help
from harness.approval import Answer, Approver, Request
from harness.call import Call, Json, Outcome
from harness.problems import told
from sandbox import Called, Problem, Reject, Resolve, values

T = TypeVar("T")
_MESSAGE_CHARS = 8_192
_DATA_BYTES = 65_536  # of what a problem carries; more is dropped
_DEPTH = 200  # of a result that is measured; the sandbox has its own, lower limit

Relax = Callable[[Json], Problem | None]
Take = Callable[[str, int], Problem | None]  # handle, bytes: a problem when the script may not have them


async def call_tool(toolbox: Toolbox, call: Call) -> Outcome:
    """Call the function; every end is an outcome."""
    began = perf_counter()
    try:
        value = await toolbox.call(call.name, call.bound)
        size = size_of(value)
    except get_cancelled_exc_class() as error:
        await checkpoint_if_cancelled()  # our own goes on; one that the tool let out of its own tasks is a failure
        return _failed(call, error, perf_counter() - began)
    except (Exception, SystemExit) as error:
        return _failed(call, error, perf_counter() - began)
    return Outcome(status="returned", value=value, size=size, seconds=perf_counter() - began, source="tool")


def _failed(call: Call, error: BaseException, seconds: float) -> Outcome:
    return Outcome(status="failed", problem=_bounded(_problem(call.name, error)), seconds=seconds, source="tool")


async def attempted(work: Callable[[], Awaitable[T]]) -> T | Exception:
    """For work in a task of its own: what it raises is for the one who asks for its result, and does not end its neighbours."""
    try:
        return await work()
    except Exception as error:
        return error


def unheard(watch: Callable[[T], None]) -> Callable[[T], None]:
    """A watch whose own trouble stays its own."""

    def told(happened: T) -> None:
        try:
            watch(happened)
        except Exception:
            return

    return told


async def decided(approver: Approver, requests: Sequence[Request]) -> tuple[Sequence[Answer], str]:
    """What the approver says, and what was wrong with it. One that fails says nothing, and a missing answer denies."""
    try:
        answers: Iterable[Answer] = await approver.decide(requests)
        listed = list(answers)
    except Exception as error:
        return (), f"the approver failed: {type(error).__name__}: {error}"
    good = [answer for answer in listed if isinstance(answer, Answer)]
    odd = next((answer for answer in listed if not isinstance(answer, Answer)), None)
    return good, "" if odd is None else f"the approver gave {type(odd).__name__} where an Answer belongs"


async def answer_builtin(toolbox: Toolbox, call: Called, *, relax: Relax, take: Take, results: Results) -> Resolve | Reject:
    try:
        match call.tool:
            case "sleep":
                await anyio.sleep(float(call.args[0]) / 1000)
                return Resolve(call.call_id, None)
            case "help":
                return Resolve(call.call_id, answer_help(toolbox.offer, call.args))
            case "recall":
                return recalled(call, results.get(_handle(call)), take)
            case _:
                problem = relax(call.args[0] if call.args else None)
                return Resolve(call.call_id, True) if problem is None else Reject(call.call_id, problem)
    except ToolProblem as problem:
        return Reject(call.call_id, as_problem(problem))


def recalled(call: Called, value: Json, take: Take) -> Resolve | Reject:
    """Its bytes count, wherever the value comes from."""
    problem = take(_handle(call), size_of(value))
    return Resolve(call.call_id, value) if problem is None else Reject(call.call_id, problem)


def _handle(call: Called) -> str:
    return str(call.args[0]) if call.args else ""


def size_of(value: Json) -> int:
    """0 for what is no JSON: the sandbox says so to the script."""
    try:
        return len(values.encode(value, _DEPTH))
    except (values.TooDeep, TypeError):
        return 0


def as_problem(problem: ToolProblem) -> Problem:
    return Problem(problem.code, problem.message, problem.hint, problem.data)


def _problem(tool: str, error: BaseException) -> Problem:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:  # a task group around the one failure
        error = error.exceptions[0]
    if isinstance(error, ToolProblem):
        return as_problem(error)
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:  # its own __str__ fails
        said = type(error).__name__
    return told("tool_failed", tool=tool, error=said)


def _bounded(problem: Problem) -> Problem:
    """A problem is no way around the bytes of results."""
    message = problem.message if len(problem.message) <= _MESSAGE_CHARS else f"{problem.message[:_MESSAGE_CHARS]}…"
    data = problem.data if problem.data is None or size_of(problem.data) <= _DATA_BYTES else None
    return replace(problem, message=message, data=data)
