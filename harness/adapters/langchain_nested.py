"""A script's own calls as LangChain's child runs: `on_tool_start` with name and arguments, then `on_tool_end` or `on_tool_error`.

Results are told by status and size, and problems by their code: tracers send what they get elsewhere.
"""

from functools import partial
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.tools import ToolException

from harness.adapters.nested import Nested, Tell
from harness.watching import CallBegan, CallEnded

RunManager = AsyncCallbackManagerForToolRun | CallbackManagerForToolRun


class ChildRuns:
    """Of one tool set. A call may begin in one run of the agent's tool and end in another."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, int, int], AsyncCallbackManagerForToolRun] = {}

    def below(self, parent: RunManager) -> Tell:
        return partial(self._tell, _awaited(parent))

    async def _tell(self, parent: AsyncCallbackManagerForToolRun, happened: Nested) -> None:
        key = (happened.session, happened.turn, happened.call)
        if isinstance(happened, CallBegan):
            self._begun[key] = await _begin(parent, happened)
        elif (run := self._begun.pop(key, None)) is not None:
            await _end(run, happened)


async def _begin(parent: AsyncCallbackManagerForToolRun, began: CallBegan) -> AsyncCallbackManagerForToolRun:
    shown = began.shown if isinstance(began.shown, dict) else {"arguments": began.shown}
    about = {"name": began.tool, "description": f"called by the script, line {began.line}"}
    return await parent.get_child().on_tool_start(about, str(shown), inputs=shown)


async def _end(run: AsyncCallbackManagerForToolRun, ended: CallEnded) -> None:
    record, outcome = ended.record, ended.record.outcome
    if outcome.ok:
        told = {"status": outcome.status, "bytes": outcome.size, "seconds": record.seconds, "source": outcome.source}
        await run.on_tool_end(told, name=record.tool)
        return
    code = "" if outcome.problem is None else f" ({outcome.problem.code})"
    await run.on_tool_error(ToolException(f"{record.tool} {outcome.status.replace('_', ' ')}{code}"))


def _awaited(run: RunManager) -> AsyncCallbackManagerForToolRun:
    if isinstance(run, AsyncCallbackManagerForToolRun):
        return run
    facts: dict[str, Any] = {
        name: getattr(run, name)
        for name in ("handlers", "inheritable_handlers", "parent_run_id", "tags", "inheritable_tags", "metadata",
                     "inheritable_metadata")
    }  # fmt: skip
    return AsyncCallbackManagerForToolRun(run_id=run.run_id, **facts)
