"""smolagents LocalPythonExecutor: an interpreter of Python's syntax tree, in process.

By its own docstring not a security sandbox; it is here because it is widely used. State lives in the executor,
so isolation between scripts means a new executor for each. Values pass by reference: the 1 MB cell copies nothing.
"""

from __future__ import annotations

from typing import Self

from smolagents.local_python_executor import LocalPythonExecutor  # type: ignore[import-untyped]

from benchmarks.contenders import run_on_lanes
from benchmarks.sandbox_cells import Script, plain_echo, plain_page


class LocalPython:
    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        return None

    async def run(self, script: Script, lane: int = 0) -> object:
        executor = LocalPythonExecutor([])
        executor.send_tools({"echo": plain_echo, "page": plain_page})
        return executor(script.python_plain).output

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=1)
