"""Tools for LangChain and LangGraph agents: `create_agent(model, [script_tool(session)])`.

A result is a ToolMessage with the session's text as it is, marked as an error where it is one, and with facts of the turn as
its artifact. The session stays in its own event loop, wherever the agent runs: `invoke` and other loops reach it from there.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

from anyio.from_thread import BlockingPortal
from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from harness.adapters.definitions import Definition
from harness.adapters.langchain_nested import ChildRuns, RunManager
from harness.adapters.nested import NestedCalls
from harness.adapters.surface import Result, Surface
from harness.adapters.turn_facts import facts_of
from harness.session import Session
from harness.setup import BadConfig

Choose: TypeAlias = Callable[[RunnableConfig], Surface]
Artifact: TypeAlias = Literal["facts", "outcome"]
_Go: TypeAlias = Callable[[], Coroutine[Any, Any, Result]]


def script_tool(of: Session | Surface, **rest: Any) -> BaseTool:
    """The one tool that runs scripts; `rest` as for `script_tools`."""
    tools = script_tools(of, **rest)
    if len(tools) > 1:
        raise BadConfig(f"this session has {len(tools)} tools for a model; give the agent all of them: script_tools(…)")
    return tools[0]


def script_tools(
    of: Session | Surface,
    *,
    nested: NestedCalls | None = None,
    choose: Choose | None = None,
    artifact: Artifact = "facts",
    portal: BlockingPortal | None = None,
) -> list[BaseTool]:
    """Of an open session, or of a surface of one. `nested`: the session's watch; its calls become child runs. `choose`: another
    surface for a run, by its config, such as one for each thread. `artifact`: facts are JSON; "outcome" is the
    TurnOutcome itself, which checkpointers cannot keep. `portal`: to the session's event loop, where this is not it.
    """
    surface = of if isinstance(of, Surface) else Surface(of)
    loop = _running_loop() if portal is None else portal.call(asyncio.get_running_loop)
    way = _Way(choose or (lambda config: surface), nested, loop)
    return [_tool(one, way, artifact) for one in surface.definitions]


class ScriptTool(BaseTool):
    """Made by `script_tools`."""

    _way: "_Way" = PrivateAttr()
    _artifact: Artifact = PrivateAttr(default="facts")

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The surface judges the arguments, so they pass as one, whatever their names; the call's id comes along, since only a
        message of our own can be an error with an artifact.
        """
        return (), {"arguments": tool_input, "call_id": tool_call_id}

    async def _arun(
        self,
        arguments: Mapping[str, Any] | str,
        call_id: str | None,
        config: RunnableConfig,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
    ) -> ToolMessage | str:
        result = await self._way.reached(partial(self._way.go, self.name, arguments, config, run_manager))
        return self._message(result, call_id)

    def _run(
        self,
        arguments: Mapping[str, Any] | str,
        call_id: str | None,
        config: RunnableConfig,
        run_manager: CallbackManagerForToolRun | None = None,
    ) -> ToolMessage | str:
        result = self._way.waited_for(partial(self._way.go, self.name, arguments, config, run_manager))
        return self._message(result, call_id)

    def _message(self, result: Result, call_id: str | None) -> ToolMessage | str:
        if call_id is None:  # somebody called the tool by hand, and wants its text
            return result.text
        kept = result.outcome if self._artifact == "outcome" else facts_of(result)
        status = "error" if result.is_error else "success"
        return ToolMessage(result.text, artifact=kept, tool_call_id=call_id, name=self.name, status=status)


class _Way:
    """From an agent's thread and loop to the session's."""

    def __init__(self, choose: Choose, nested: NestedCalls | None, loop: asyncio.AbstractEventLoop | None) -> None:
        self._choose = choose
        self._nested = nested
        self._runs = ChildRuns()
        self._loop = loop

    async def go(self, name: str, arguments: Mapping[str, Any] | str, config: RunnableConfig, run: RunManager | None) -> Result:
        work = partial(self._choose(config).call, name, arguments)
        if self._nested is None or run is None:
            return await work()
        return await self._nested.told(work, self._runs.below(run))

    async def reached(self, go: _Go) -> Result:
        if self._loop is None or self._loop is asyncio.get_running_loop():
            return await go()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(go(), self._loop))

    def waited_for(self, go: _Go) -> Result:
        if self._loop is None:
            raise RuntimeError(
                "the session's event loop is not known here; make the tool inside it, or give script_tools a portal"
            )
        if self._loop is _running_loop():
            raise RuntimeError("invoke would wait for the event loop that it holds up; await ainvoke here")
        future = asyncio.run_coroutine_threadsafe(go(), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # such as Ctrl-C: the script ends with the one who waits for it
            raise


def _tool(one: Definition, way: _Way, artifact: Artifact) -> ScriptTool:
    made = ScriptTool(name=one.name, description=one.description, args_schema={"properties": {}, **one.parameters})
    made._way, made._artifact = way, artifact
    return made


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
