"""Timeout: one call within the time that its tool declares, or the usual one."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import anyio

from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told


class Timeout:
    def __init__(self, call_seconds: float, working: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        """`working` is entered while a tool runs: the turn's clock goes on then, whoever is asked meanwhile."""
        self._seconds = call_seconds
        self._working = working

    def admit(self, call: Call) -> Outcome | None:
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        seconds = call.tool.facts.timeout_seconds or self._seconds
        with self._working(), anyio.move_on_after(seconds):
            return await proceed(call)
        problem = told("tool_timeout", tool=call.name, seconds=seconds, data={"seconds": seconds})
        return replace(refused("timeout", problem, status="timed_out"), seconds=seconds)
