"""Names and arguments that models know: the same session can look like the tool they were trained on."""

from dataclasses import dataclass, field
from typing import Final

from catalog.problem import BadPack


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What the arguments of the tool that waits are called. `per_second`: 1,000 where the time is in milliseconds."""

    number: str = "number"
    time: str = "seconds"
    stop: str = "stop"
    per_second: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """`argument`: of the tool, holds the script. `yield_seconds`: how long it answers nothing; then it gives what there is, and
    the script goes on. None: a call lasts as long as its script.
    """

    name: str
    tool: str
    argument: str
    wait: str = "wait"
    yield_seconds: float | None = None
    waiting: Waiting = field(default_factory=Waiting)


PRESETS: Final = {
    preset.name: preset
    for preset in (
        Preset(name="run_script", tool="run_script", argument="script", wait="wait_script"),
        Preset(
            name="codex",
            tool="exec",
            argument="source",
            yield_seconds=10.0,
            waiting=Waiting(number="cell_id", time="yield_time_ms", stop="terminate", per_second=1_000),
        ),
        Preset(name="eval", tool="eval", argument="code", wait="wait_eval"),
        Preset(name="code_mode", tool="code_mode", argument="code", wait="wait_code"),
    )
}


def preset_named(name: str) -> Preset:
    if name not in PRESETS:
        raise BadPack(f"there is no surface {name!r}; choose {', '.join(PRESETS)}")
    return PRESETS[name]
