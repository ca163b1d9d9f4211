"""The tool layer as one agent sees it: definitions, prose, and a function from the agent's call to the agent's result.

Every adapter is a translation of this into the words of one interface, and adds nothing to it. What the model gets wrong is a
result that says so; only a bug, or a store that fails, is an exception.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Final

import anyio
import orjson

from harness.adapters.definitions import WAIT_SECONDS_MAX, Definition, Prose, definitions, instructions
from harness.adapters.presets import Preset, preset_named
from harness.going import Going
from harness.outcome import TurnOutcome
from harness.parts import Part
from harness.problems import told
from harness.session import Session

_NOTHING: Final = "(the script showed nothing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`text` is what the model reads. `running`: the number of a script that goes on; 0 when it is over."""

    text: str
    is_error: bool = False
    outcome: TurnOutcome | None = None
    running: int = 0


class Surface:
    """Of one open session. `preset`: by name, or one of your own; `yield_seconds` and `prose` change it."""

    def __init__(
        self,
        session: Session,
        preset: Preset | str = "run_script",
        *,
        prose: Prose = "description",
        yield_seconds: float | None = None,
    ) -> None:
        chosen = preset_named(preset) if isinstance(preset, str) else preset
        self.preset = chosen if yield_seconds is None else replace(chosen, yield_seconds=yield_seconds)
        self.session = session
        self.definitions = definitions(session.offer, self.preset, prose=prose, callers=session.callers)
        self.instructions = instructions(session.offer, session.callers) if prose == "system" else ""
        self._by_name = {one.name: one for one in self.definitions}
        self._going: Going | None = None

    @property
    def script(self) -> Definition:
        """The one that runs scripts."""
        return self.definitions[0]

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> Result:
        """What the agent's model asked for. `arguments`: by name; as the text of JSON; or the script itself, where the interface
        hands it over as it is. Cancelling this ends the script.
        """
        definition = self._by_name.get(name)
        if definition is None:
            return _refused("unknown_call", name=name[:80], names=", ".join(self._by_name))
        if isinstance(arguments, str):
            read = _read(arguments, definition)
            if read is None:
                return _refused("bad_call", name=name, why="its arguments are no JSON object", wanted=_wanted(definition))
            arguments = read
        match definition.kind:
            case "script":
                return await self._script(definition, arguments)
            case "wait":
                return await self._wait(arguments)
            case "direct":
                return await self._direct(definition, arguments)

    async def _script(self, definition: Definition, arguments: Mapping[str, Any]) -> Result:
        script = arguments.get(definition.argument)
        if not isinstance(script, str) or len(arguments) > 1:
            why = f"it takes one text, {definition.argument}, and was given {', '.join(arguments) or 'nothing'}"
            return _refused("bad_call", name=definition.name, why=why, wanted=_wanted(definition))
        before = await self._before()
        if before is None or self._going is not None:  # the second: calls of one reply may come at once, and one was first
            return _after(before or "", await self._busy())
        if self.preset.yield_seconds is None:
            return _ended(await self.session.run(script))
        self._going = self.session.begin(script)
        return _after(before, await self._next(self._going, self.preset.yield_seconds))

    async def _wait(self, arguments: Mapping[str, Any]) -> Result:
        going, given = self._going, {name: value for name, value in arguments.items() if value is not None}
        names, usual = self.preset.waiting, self.preset.yield_seconds or 0.0
        number, stop = given.get(names.number), given.get(names.stop, False)
        time = given.get(names.time, usual * names.per_second)
        if isinstance(number, str) and number.isdecimal():  # an id, to models that know it as one
            number = int(number)
        right = (number is None or _is_number(number)) and _is_number(time) and isinstance(stop, bool)
        if not right or not set(given) <= {names.number, names.time, names.stop}:
            why = f"it takes {names.number}, {names.time} and {names.stop}, all of which may be left out"
            wanted = f'{{ "{names.time}": {10 * names.per_second} }} or {{ "{names.stop}": true }}'
            return _refused("bad_call", name=self.preset.wait, why=why, wanted=wanted)
        if going is None or (number is not None and number != going.turn):
            runs = "no script runs" if going is None else f"script {going.turn} runs"
            return _refused("nothing_runs", runs=runs, tool=self.preset.tool)
        if stop:
            return self._over(await going.stop())
        return await self._next(going, min(max(time, 0.0), WAIT_SECONDS_MAX * names.per_second) / names.per_second)

    async def _direct(self, definition: Definition, arguments: Mapping[str, Any]) -> Result:
        before = await self._before()
        if before is None:
            return await self._busy()
        return _after(before, _ended(await self.session.call(definition.tool, arguments)))

    async def _next(self, going: Going, seconds: float) -> Result:
        try:
            await going.begun()  # before that it has no number
            came = await going.wait(seconds)
        except anyio.get_cancelled_exc_class():
            going.cancel()
            self._going = None
            raise
        if isinstance(came, TurnOutcome):
            return self._over(came)
        return self._runs(going, came)

    def _runs(self, going: Going, part: Part | None) -> Result:
        shown = f"{part.text}\n" if part is not None and part.text else ""
        problem = told("still_runs", turn=going.turn, wait=self.preset.wait, stop=self.preset.waiting.stop)
        return Result(text=f"{shown}notice: {problem.message}; {problem.hint}", running=going.turn)

    def _over(self, outcome: TurnOutcome) -> Result:
        self._going = None
        return _ended(outcome)

    async def _before(self) -> str | None:
        """What the script before has left to tell; None: it still runs."""
        going = self._going
        if going is None:
            return ""
        if not going.over:
            return None
        self._going = None
        came = await going.wait(0)
        return f"script {came.number} had ended:\n{came.rest or _NOTHING}\n\n" if isinstance(came, TurnOutcome) else ""

    async def _busy(self) -> Result:
        going, turn = self._going, 0
        if going is not None:
            await going.begun()  # before that it has no number
            turn = going.turn
        return _refused("script_runs", turn=turn, wait=self.preset.wait, stop=self.preset.waiting.stop)


def _ended(outcome: TurnOutcome) -> Result:
    return Result(text=outcome.rest or _NOTHING, is_error=not outcome.ok, outcome=outcome)


def _after(before: str, result: Result) -> Result:
    return replace(result, text=before + result.text) if before else result


def _refused(code: str, **facts: Any) -> Result:
    problem = told(code, **facts)
    return Result(text=f"{problem.code}: {problem.message}" + (f"\nhint: {problem.hint}" if problem.hint else ""), is_error=True)


def _read(text: str, definition: Definition) -> Mapping[str, Any] | None:
    """Models quote badly: a script that came without its JSON is taken as it is, where that cannot be mistaken."""
    try:
        read = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        read = None
    if isinstance(read, dict):
        return read
    return {definition.argument: text} if definition.kind == "script" and not text.lstrip().startswith("{") else None


def _wanted(definition: Definition) -> str:
    if definition.kind == "script":
        return f'{{ "{definition.argument}": "…JavaScript…" }}'
    return "{ " + ", ".join(f'"{name}": …' for name in definition.parameters.get("properties", {})) + " }"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and (isinstance(value, int) or isfinite(value))
