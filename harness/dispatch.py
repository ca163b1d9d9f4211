"""Who answers a script's calls: functions for tools, the host itself for `sleep`, `help`, `recall` and `relax`."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from sandbox import Called, Problem, Reject, Resolve

WORLD = (
    "tools.<pack>.<tool>({…}) calls a tool and gives a promise; show(value) puts a value in the transcript; "
    "console.log(…) prints; store(key, value) and load(key) keep JSON between scripts; sleep(ms) waits; "
    "context and budget are facts; "
    "the last expression, or return <value>, is the result."
)


async def answer_builtin(call: Called) -> Resolve | Reject:
    if call.tool == "sleep":
        await anyio.sleep(float(call.args[0]) / 1000)
        return Resolve(call.call_id, None)
    if call.tool == "help":
        return Resolve(call.call_id, WORLD)
    if call.tool == "recall":
        return Reject(
            call.call_id,
            Problem(
                "unknown_handle",
                f"nothing is kept under {call.args[0]!r}",
                "handles are given where something was cut; copy one as it stands",
            ),
        )
    return Reject(call.call_id, Problem("nothing_to_relax", "this run has no cap that relax could raise", "go on without it"))


async def answer_tool(functions: Mapping[str, Callable[..., Awaitable[Any]]], call: Called) -> Resolve | Reject:
    """Call the function: one object becomes keyword arguments, anything else goes in by position."""
    named = call.args[0] if len(call.args) == 1 and isinstance(call.args[0], dict) else None
    try:
        value = await (functions[call.tool](**named) if named is not None else functions[call.tool](*call.args))
    except Exception as error:
        return Reject(call.call_id, Problem("tool_failed", f"{call.tool} failed: {type(error).__name__}: {error}"))
    return Resolve(call.call_id, value)
