"""Timeout: one call within the time that its tool declares, or the usual one."""

from dataclasses import replace

import anyio

from harness.call import Call, Outcome, Proceed, refused
from harness.problems import told


class Timeout:
    def __init__(self, call_seconds: float) -> None:
        self._seconds = call_seconds

    def admit(self, call: Call) -> Outcome | None:
        return None

    async def handle(self, call: Call, proceed: Proceed) -> Outcome:
        seconds = call.tool.facts.timeout_seconds or self._seconds
        with anyio.move_on_after(seconds):
            return await proceed(call)
        problem = told("tool_timeout", tool=call.name, seconds=seconds, data={"seconds": seconds})
        return replace(refused("timeout", problem, status="timed_out"), seconds=seconds)
