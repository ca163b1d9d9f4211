"""The test kit for authors: check a pack in a few lines, on the same road that a script's call takes.

    async with PackKit(weather_pack, root=tmp_path) as kit:
        kit.assert_sound()
        assert await kit.call("now", city="Oslo") == {"city": "Oslo", "degrees": 4}
        assert (await kit.problem("now", city="Atlantis")).code == "unknown_city"
        await kit.assert_cancels("follow", city="Oslo")

`faults(pack)` is the static half: what a reviewer would ask to be mended before a model meets the pack.
"""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import anyio
import orjson

from catalog.check import bind
from catalog.declare import declaration
from catalog.effects import fields_of
from catalog.host import Host
from catalog.load import load_pack
from catalog.pack import Pack, pack
from catalog.problem import BadPack, ToolProblem
from catalog.schema import validator
from catalog.selection import choose
from catalog.tool import Tool
from catalog.toolbox import Toolbox, open_toolbox

SUMMARY_CHARS = 100  # the first sentence is what a model sees in a list
GRACE_SECONDS = 0.25  # after this a turn ends without a call that ignores its cancellation


def faults(made: Pack) -> list[str]:
    """One line for each thing to mend; [] when the pack is sound."""
    found = [] if made.doc.strip() else [f"{made.name}: no docstring; the module's first sentence is what a model is told"]
    return found + [f"{tool.full_name}: {text}" for tool in made.tools for text in _of_tool(tool)]


def _of_tool(tool: Tool) -> list[str]:
    found: list[str] = []
    if not tool.doc.strip():
        found.append("no docstring; a model chooses by its first sentence")
    elif len(tool.summary) > SUMMARY_CHARS:
        found.append(f"the first sentence has {len(tool.summary)} characters; keep it under {SUMMARY_CHARS}")
    found += [
        f"argument {name} has no words; add it under Args: in the docstring"
        for name, schema in tool.properties.items()
        if isinstance(schema, dict) and not schema.get("description")
    ]
    if not tool.facts.declared:
        found.append('effects are not declared; write reads=[…], writes=[…] or effect="pure" (or "external")')
    for keys in (tool.facts.reads, tool.facts.writes):
        if not callable(keys):
            found += [_template(tool, key, name) for key in keys for name in fields_of(key) if name not in tool.properties]
    if tool.output_schema is None:
        found.append("the result has no type; write -> and what it gives, so that a model knows the fields")
    for what, schema in (("arguments", tool.input_schema), ("result", tool.output_schema or {})):
        try:
            validator(schema, what)
        except BadPack as error:
            found.append(str(error))
    declaration(tool)  # raises nothing, whatever the schema: seen by running it
    return found


def _template(tool: Tool, key: str, name: str) -> str:
    return f"effect {key!r} uses {{{name}}}, which is no argument; there are: {', '.join(tool.properties) or 'none'}"


class PackKit:
    """An open pack to call tools of, as a script would."""

    def __init__(
        self,
        source: Pack | ModuleType | str,
        *,
        root: Path | str = ".",
        settings: Mapping[str, Any] | None = None,
        host: Host | None = None,
    ) -> None:
        self.pack = source if isinstance(source, Pack) else pack(source) if isinstance(source, ModuleType) else load_pack(source)
        self.host = host or Host(root=Path(root))
        self._settings = {self.pack.name: dict(settings or {})}
        self._stack = AsyncExitStack()
        self._toolbox: Toolbox | None = None

    async def __aenter__(self) -> "PackKit":
        opening = open_toolbox(choose([self.pack]), host=self.host, settings=self._settings)
        self._toolbox = await self._stack.enter_async_context(opening)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    @property
    def toolbox(self) -> Toolbox:
        if self._toolbox is None:
            raise BadPack("the kit is not open; write: async with PackKit(…) as kit")
        return self._toolbox

    def assert_sound(self) -> None:
        """Docstrings, words for every argument, declared effects, sound schemas."""
        found = faults(self.pack)
        assert not found, "\n".join(found)

    async def call(self, tool: str, /, *args: Any, **named: Any) -> Any:
        """The tool's JSON result, arguments checked and result held against its declared type."""
        name = f"{self.pack.name}.{tool}"
        bound = self.toolbox.bind(name, [*args, named] if named else list(args))
        value = await self.toolbox.call(name, bound)
        schema = self.toolbox.tools[name].output_schema
        if schema is not None:
            error = next(validator(schema, name).iter_errors(value), None)
            assert error is None, f"{name} gave what its type does not say: {error.message if error else ''}"
        orjson.dumps(value)
        return value

    async def problem(self, tool: str, /, *args: Any, **named: Any) -> ToolProblem:
        """The problem that this call ends in, as a script would catch it. A result, or another exception, fails the test."""
        try:
            value = await self.call(tool, *args, **named)
        except ToolProblem as problem:
            well_formed = problem.code.isidentifier() and problem.code == problem.code.lower()
            assert well_formed, f"code {problem.code!r}: write it like_this"
            assert problem.message.strip(), f"problem {problem.code} says nothing"
            orjson.dumps(problem.data)
            return problem
        raise AssertionError(f"{self.pack.name}.{tool} gave {value!r}, and a problem was expected")

    async def assert_cancels(self, tool: str, /, *args: Any, after_seconds: float = 0.05, **named: Any) -> None:
        """Cancel the call under way: it must end within the grace that a turn gives it."""
        ended = anyio.Event()

        async def run() -> None:
            try:
                await self.call(tool, *args, **named)
            finally:
                ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await anyio.sleep(after_seconds)
            early = f"{self.pack.name}.{tool} was over before it could be cancelled; give arguments that take longer"
            assert not ended.is_set(), early
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True), anyio.move_on_after(GRACE_SECONDS):
                await ended.wait()
            assert ended.is_set(), f"{self.pack.name}.{tool} went on for {GRACE_SECONDS:g} s after it was cancelled"

    def effects(self, tool: str, /, *args: Any, **named: Any) -> Any:
        """What a call with these arguments touches, as guards see it."""
        made = next(one for one in self.pack.tools if one.name == tool)
        return made.effects(bind(made, [*args, named] if named else list(args)).named)
