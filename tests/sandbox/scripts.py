"""Runs a script in a Machine, answering its calls; shared by the tests of this folder."""

from collections.abc import Callable
from typing import Any

from sandbox import Called, Ending, Event, Failed, Limits, Machine, Reject, Resolve, ScriptError, Shown, Start

Answer = Callable[[Called], Resolve | Reject]
QUICK = Limits(engine_seconds=5)


def echo(call: Called) -> Resolve:
    """The first argument comes back; sleeps and the like give null."""
    return Resolve(call.call_id, call.args[0] if call.args and "." in call.tool else None)


def run(source: str, *, tools: tuple[str, ...] = (), answer: Answer = echo, limits: Limits = QUICK, **facts: Any) -> list[Event]:
    machine = Machine()
    events = machine.send(Start(source=source, tools=tools, limits=limits, now=facts.pop("now", 1_700_000_000_000), **facts))
    everything = list(events)
    while not machine.ended:
        events = machine.send(*[answer(event) for event in events if isinstance(event, Called)])
        everything += events
    return everything


def ending(source: str, **more: Any) -> Ending:
    return run(source, **more)[-1]  # type: ignore[return-value]


def value(source: str, **more: Any) -> Any:
    last = ending(source, **more)
    assert not hasattr(last, "error"), last.error.text
    return last.value  # type: ignore[union-attr]


def error(source: str, **more: Any) -> ScriptError:
    last = ending(source, **more)
    assert isinstance(last, Failed), last
    return last.error


def shown(source: str, **more: Any) -> list[Any]:
    return [event.value for event in run(source, **more) if isinstance(event, Shown)]
