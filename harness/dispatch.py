"""Who answers a script's calls: a tool's function, or the host itself for `sleep`, `help`, `recall` and `relax`.

Every call ends in an outcome. Only here may any exception be caught: what a tool raises becomes a problem the script can catch.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import anyio

from catalog import Toolbox, ToolProblem
from catalog.help import answer_help
from sandbox import Called, Problem, Reject, Resolve

CALL_SECONDS = 60.0  # one call, unless the tool declares its own; a script learns of a hung tool well within the turn

Approve = Callable[[str, Mapping[str, Any]], Awaitable[bool]]


async def nobody(tool: str, arguments: Mapping[str, Any]) -> bool:
    """No approver: a missing answer denies."""
    return False


def allowed(patterns: Iterable[str]) -> Approve:
    """An approver that says yes to tools by name or pattern (`patch.*`), and no to the others."""
    known = tuple(patterns)

    async def approve(tool: str, arguments: Mapping[str, Any]) -> bool:
        return any(fnmatchcase(tool, pattern) for pattern in known)

    return approve


async def answer_builtin(toolbox: Toolbox, call: Called) -> Resolve | Reject:
    try:
        if call.tool == "sleep":
            await anyio.sleep(float(call.args[0]) / 1000)
            return Resolve(call.call_id, None)
        if call.tool == "help":
            return Resolve(call.call_id, answer_help(toolbox.offer, call.args))
        if call.tool == "recall":
            return Resolve(call.call_id, toolbox.host.results.get(str(call.args[0]) if call.args else ""))
    except ToolProblem as problem:
        return _reject(call, problem)
    return Reject(call.call_id, Problem("nothing_to_relax", "this run has no cap that relax could raise", "go on without it"))


async def answer_tool(
    toolbox: Toolbox, call: Called, *, approve: Approve = nobody, call_seconds: float = CALL_SECONDS
) -> Resolve | Reject:
    """Check the arguments, ask where the tool says so, call the function within its time."""
    tool = toolbox.tools.get(call.tool)
    if tool is None:  # the sandbox was told of tools that are not open: unknown tool, no call
        return _reject(call, ToolProblem("unknown_tool", f"there is no tool {call.tool}", hint="help() lists the packs"))
    seconds = tool.facts.timeout_seconds or call_seconds
    try:
        bound = toolbox.bind(call.tool, call.args)
        if tool.asks(bound.named) and not await approve(call.tool, bound.named):
            return _reject(call, _denied(call.tool))
        with anyio.move_on_after(seconds) as deadline:
            return Resolve(call.call_id, await toolbox.call(call.tool, bound))
    except Exception as error:
        return _reject(call, _problem(call.tool, error))
    assert deadline.cancelled_caught
    return _reject(call, _too_slow(call.tool, seconds))


def _reject(call: Called, problem: ToolProblem) -> Reject:
    return Reject(call.call_id, Problem(problem.code, problem.message, problem.hint, problem.data))


def _problem(tool: str, error: Exception) -> ToolProblem:
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:  # a task group around the one failure
        error = error.exceptions[0]
    if isinstance(error, ToolProblem):
        return error
    return ToolProblem(
        "tool_failed", f"{tool} failed: {type(error).__name__}: {error}", hint="catch it and go on, or try it another way"
    )


def _denied(tool: str) -> ToolProblem:
    return ToolProblem(
        "denied",
        f"{tool} needs a person's approval, and it was not given",
        hint="it had no effect; go on without it, or say what you wanted to do and why",
    )


def _too_slow(tool: str, seconds: float) -> ToolProblem:
    return ToolProblem(
        "tool_timeout",
        f"{tool} took more than {seconds:g} seconds and was cancelled",
        hint="ask for less at once; part of its effect may have happened: look before you repeat it",
        data={"seconds": seconds},
    )
