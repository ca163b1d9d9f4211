"""Tools as an agent's model sees them: a name, a description, a JSON Schema. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from catalog import Offer, Tool
from catalog.brief import brief
from harness.adapters.presets import Preset
from harness.callers import Callers, direct_name, offer_to

Prose: TypeAlias = Literal["description", "system"]
_RUN: Final = "Run one JavaScript script, which calls tools, and give what it shows."
_SEE: Final = "The instructions say how scripts are written and which tools they have."
_YIELDS: Final = (
    " A script that takes longer than {seconds:g} seconds goes on, and you are told its number:"
    " ask for the rest with {wait}, or stop it there."
)
_WAIT: Final = "What a script that still runs has shown since you were last told, or how it ended. `{stop}` ends it."
WAIT_SECONDS_MAX: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """`kind`: runs a script, waits for one, or calls one tool. `argument`: holds the script. `free`: the interface may hand over
    the script as it is, without JSON around it.
    """

    kind: Literal["script", "wait", "direct"]
    name: str
    description: str
    parameters: Mapping[str, Any]
    argument: str = ""
    tool: str = ""  # of a direct one: the name that scripts use
    free: bool = False


def definitions(
    offer: Offer, preset: Preset, *, prose: Prose = "description", callers: Callers | None = None
) -> tuple[Definition, ...]:
    """`prose`: where the model reads how scripts are written: in the tool's description, or in its instructions."""
    callers = callers or {}
    made = [_script(offer_to(offer, callers, "script"), preset, prose)]
    if preset.yield_seconds is not None:
        made.append(_wait(preset))
    if callers:
        made += [_direct(tool) for tool in offer_to(offer, callers, "direct").tools.values()]
    return tuple(made)


def instructions(offer: Offer, callers: Callers | None = None) -> str:
    """The prose for a system prompt."""
    return brief(offer_to(offer, callers or {}, "script").tools.values())


def _script(offer: Offer, preset: Preset, prose: Prose) -> Definition:
    yields = ""
    if preset.yield_seconds is not None:
        yields = _YIELDS.format(seconds=preset.yield_seconds, wait=preset.wait)
    rest = f"\n\n{brief(offer.tools.values())}" if prose == "description" else f" {_SEE}"
    schema = {
        "type": "object",
        "properties": {preset.argument: {"type": "string", "description": "The script: plain JavaScript, unfenced."}},
        "required": [preset.argument],
        "additionalProperties": False,
    }
    return Definition(
        kind="script", name=preset.tool, description=_RUN + yields + rest, parameters=schema, argument=preset.argument, free=True
    )  # fmt: skip


def _wait(preset: Preset) -> Definition:
    names, usual = preset.waiting, (preset.yield_seconds or 0) * preset.waiting.per_second
    properties = {
        names.number: {"type": "integer", "description": "The script's number. Default: the one that runs."},
        names.time: {
            "type": "number", "minimum": 0, "maximum": WAIT_SECONDS_MAX * names.per_second,
            "description": f"How long to wait for its end. Default: {usual:g}.",
        },
        names.stop: {"type": "boolean", "description": "End the script now. Default: false."},
    }  # fmt: skip
    schema = {"type": "object", "properties": properties, "required": [], "additionalProperties": False}
    return Definition(kind="wait", name=preset.wait, description=_WAIT.format(stop=names.stop), parameters=schema)


def _direct(tool: Tool) -> Definition:
    return Definition(
        kind="direct", name=direct_name(tool.full_name), description=tool.doc or tool.full_name, parameters=tool.input_schema,
        tool=tool.full_name,
    )  # fmt: skip
