"""quickjs-rs: QuickJS compiled to wasm, in process; what langchain-quickjs runs on.

Its README isolates by context ("each Context is its own isolated wasm instance") and says one runtime a trust
domain, so: one runtime for all, a new context a script. Large values leave as JSON text, because its
conversion of nested objects makes a host call a property and takes minutes for 1 MB. Scripts in flight share
the one thread: two of its `ThreadWorker`s gave half as many scripts a second.
"""

from __future__ import annotations

import json
from typing import Self

from quickjs_rs import Runtime

from benchmarks.contenders import TASKS, run_on_lanes
from benchmarks.sandbox_cells import MEGABYTE, Script, echo, page


class QuickJsRs:
    async def __aenter__(self) -> Self:
        self.runtime = Runtime(memory_limit=96 << 20).__enter__()
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.runtime.close()

    async def run(self, script: Script, lane: int = 0) -> object:
        with self.runtime.new_context(timeout=10.0) as context:
            context.register("echo", echo)
            context.register("page", page)
            if script is MEGABYTE:
                return json.loads(await context.eval_async(f"JSON.stringify({script.js('')})"))
            return await context.eval_async(script.js(""))

    async def run_many(self, script: Script, *, count: int) -> None:
        await run_on_lanes(self.run, script, count=count, lanes=TASKS)
