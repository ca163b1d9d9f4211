"""One script's exchange with an engine, seen from the host: commands to text, text to checked events. No I/O.

The engine may sit in a worker that a script has taken over, so nothing it says is believed: every reply is checked
against the state kept here, and what does not fit raises `WireError`, which ends that worker and nothing else.
A caller's mistake raises `Misuse`; a script's failure is an event.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Literal

from sandbox import values
from sandbox.asking import outlining, settlement, starting
from sandbox.errors import Misuse, ScriptError, WireError
from sandbox.explain import Explain
from sandbox.limits import DEFAULT_LIMITS, Limits
from sandbox.messages import (
    BUILTINS,
    Called,
    Command,
    Event,
    Exceeded,
    Failed,
    Finished,
    Printed,
    Shown,
    Site,
    Start,
    Stored,
)
from sandbox.positions import CALLS_MAX, Positions
from sandbox.wire import DELIVER, Ask


class State(Enum):
    NEW = "new"
    RUNNING = "running"  # the engine has the word
    WAITING = "waiting"  # the script waits for calls
    ENDED = "ended"


# What may happen in which state, and where it leads. A command, or a reply of the engine.
MOVES: dict[tuple[State, str], State] = {
    (State.NEW, "Start"): State.RUNNING,
    (State.WAITING, "Resolve"): State.RUNNING,
    (State.WAITING, "Reject"): State.RUNNING,
    (State.RUNNING, "paused"): State.WAITING,
    (State.RUNNING, "ended"): State.ENDED,
}

_NOTHING = Explain(Positions(""))
_ENVELOPE_DEPTH = 3  # the list of events, the event, the list of arguments
_ERRORS_MAX = 3  # of an AggregateError, as rare.js tells them
_LEVELS = frozenset({"log", "info", "debug", "warn", "error"})


class Exchange:
    def __init__(self) -> None:
        self.state = State.NEW
        self.pending: dict[int, Called] = {}
        self._limits = DEFAULT_LIMITS
        self._tools: frozenset[str] = frozenset()
        self._explain = _NOTHING
        self._last_id = 0
        self._called = self._waited = self._shown = self._lines = 0
        self._stored: dict[str, int] = {}
        self._stored_bytes = self._stores = 0
        self._ordinals: dict[tuple[int, int], int] = {}
        self._places: dict[tuple[int, int, str], tuple[int, int]] = {}
        self._dropped = self._peak = self._console_bytes = 0
        self._is_placed = self._large = False
        self._unawaited: tuple[int, ...] = ()
        self._doom = ""

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def ended(self) -> bool:
        return self.state is State.ENDED

    # ------------------------------------------------------------ commands out

    def ask(self, commands: Sequence[Command]) -> Ask | list[Event]:
        """What to send to the engine, or the events at once when it need not be asked.

        Several commands are settlements that are ready together; a `Start` stands alone.
        """
        if not commands:
            raise Misuse("send at least one command")
        first, *rest = commands
        if isinstance(first, Start):
            if rest:
                raise Misuse("Start stands alone: settle calls after it has answered")
            return self._start(first)
        ids = [self._settled(command) for command in commands]
        if len(set(ids)) < len(ids):
            raise Misuse("a call is settled once")
        parts = [settlement(command, self._limits) for command in commands if not isinstance(command, Start)]
        self._move(type(first).__name__)
        for call_id in ids:
            del self.pending[call_id]
        return Ask(DELIVER, text=b"[" + b",".join(parts) + b"]", count=len(parts))

    def ask_outline(self, source: str, limits: Limits) -> Ask | None:
        """None when the engine need not be asked: `Start` will say why."""
        if self.state is not State.NEW:
            raise Misuse(f"an outline comes before Start; this script is {self.state.value}")
        self._limits = limits
        raw = source.encode("utf-8", "replace")
        return None if len(raw) > limits.source_bytes or b"\0" in raw or self._doom else outlining(raw, limits)

    def doom(self, ending: str) -> None:
        """The script was over while it was outlined, by this limit or for this reason: what `Start` will be told."""
        self._doom = ending

    def _move(self, what: str) -> None:
        to = MOVES.get((self.state, what))
        if to is None:
            raise Misuse(f"{what} does not fit a script that is {self.state.value}")
        self.state = to

    def _start(self, start: Start) -> Ask | list[Event]:
        self._move("Start")
        try:
            return self._started(start)
        except Misuse:
            self.state = State.NEW
            raise

    def _started(self, start: Start) -> Ask | list[Event]:
        limits = start.limits
        self._limits, self._tools = limits, frozenset(start.tools)
        self._explain = Explain(Positions(start.source))
        if self._doom:
            return self.end(self.exceeded(self._doom) if hasattr(limits, self._doom) else self.lost(self._doom))
        source = start.source.encode("utf-8", "replace")
        if len(source) > limits.source_bytes:
            return self.end(self.exceeded("source_bytes"))
        if b"\0" in source:  # the binding would cut the text there
            return self.end(self._failed(self._explain.nul(source.index(b"\0")), "sandbox"))
        return starting(start, source)

    def _settled(self, command: Command) -> int:
        if isinstance(command, Start):
            raise Misuse("Start stands alone: a script starts once")
        if command.call_id not in self.pending:
            raise Misuse(f"call {command.call_id} is not open: it was never made, or is settled already")
        return command.call_id

    # ------------------------------------------------------------ events in

    def hear(self, reply: bytes | memoryview | str) -> list[Event]:
        """Check the engine's reply; gives the events, the ending last."""
        limits = self._limits
        listed = values.decode(reply, limits.depth + _ENVELOPE_DEPTH)
        self._large = len(reply) > limits.args_bytes
        if self.state is not State.RUNNING:
            raise WireError(f"a reply although the script is {self.state.value}")
        if not isinstance(listed, list):
            raise WireError("a reply is a list of events")
        known = dict(self.pending)
        try:
            events, ending = self._read(listed)
        except WireError:
            self.pending = known  # calls of a reply that is thrown away were never made
            raise
        if ending is None and not self.pending:
            raise WireError("the script neither ended nor waits for a call")
        self._move("paused" if ending is None else "ended")
        return events

    def _read(self, listed: list[Any]) -> tuple[list[Event], Event | None]:
        events: list[Event] = []
        ending: Event | None = None
        for item in listed:
            if ending is not None:
                raise WireError("an event after the last one")
            if not isinstance(item, list) or not item or not isinstance(item[0], str):
                raise WireError("an event is a list that begins with its name")
            event = self._event(item[0], item[1:])
            if isinstance(event, Finished | Failed | Exceeded):
                ending = event
            if event is not None:
                events.append(event)
        return events, ending

    def _weigh(self, value: Any) -> Any:
        """One value out of the script has its limit; only a reply as large as that can break it."""
        if self._large and len(values.encode(value, self._limits.depth + 1)) > self._limits.args_bytes + 1024:
            raise WireError("a value larger than a script may send")
        return value

    def _event(self, kind: str, fields: list[Any]) -> Event | None:
        try:
            return _READERS[kind](self, *fields)
        except (KeyError, TypeError, ValueError, AttributeError) as error:  # a wrong number or kind of fields
            raise WireError(f"not an event: {kind[:20]!r} with {len(fields)} fields") from error

    # ------------------------------------------------------------ one reader for each kind of event

    def _on_called(self, call_id: int, tool: str, args: list[Any], line: int, column: int) -> Event:
        if call_id != self._last_id + 1 or type(call_id) is not int:
            raise WireError("call ids count up one by one")
        if type(args) is not list:
            raise WireError("arguments are a list")
        if tool in BUILTINS:
            self._waited = _counted(self._waited, self._limits.waits, "waits")
        elif tool in self._tools:
            self._called = _counted(self._called, self._limits.calls, "calls")
        else:
            raise WireError("a call of a tool that was not offered")
        self._last_id = call_id
        call = Called(call_id, tool, self._weigh(args), self._site(line, column, tool.rpartition(".")[2]))
        self.pending[call_id] = call
        return call

    def _on_shown(self, value: Any, options: dict[str, Any] | None, line: int, column: int) -> Event:
        self._shown = _counted(self._shown, self._limits.shown_values, "shown values")
        return Shown(self._weigh(value), options if isinstance(options, dict) else {}, self._site(line, column, "show"))

    def _on_printed(self, level: str, text: str) -> Event:
        self._lines = _counted(self._lines, self._limits.console_lines, "console lines")
        if level not in _LEVELS or not isinstance(text, str):
            raise WireError("not a printed line")
        self._console_bytes += len(text)
        if self._console_bytes > self._limits.console_bytes:
            raise WireError("more printed than is kept")
        return Printed(level, text)

    def _on_stored(self, key: str, value: Any, removed: bool) -> Event:
        if not isinstance(key, str) or type(removed) is not bool or (removed and value is not None):
            raise WireError("not a stored value")
        self._stores = _counted(self._stores, self._limits.stored_values, "stored values")
        size = 0 if removed else len(key) + len(values.encode(value, self._limits.depth))
        self._stored_bytes += size - self._stored.pop(key, 0)
        if size:
            self._stored[key] = size
        if self._stored_bytes > 4 * self._limits.stored_bytes:  # the script's side counts UTF-16 units
            raise WireError("more stored than a session keeps")
        return Stored(key, value, removed)

    def _on_finished(self, value: Any) -> Event:
        return Finished(self._weigh(value), tuple(self.pending), self._unawaited, self._dropped)

    def _on_failed(self, told: dict[str, Any]) -> Event:
        if len(told.get("errors", ())) > _ERRORS_MAX:
            raise WireError("more errors than are told")
        said, near = str(told.get("message")), self._near_the_heap_limit()
        engines_own = told.get("engine") is True
        # The words "out of memory" need memory too: without them it is the engine's own error all the same.
        ran_out = (said.startswith("out of memory") and (engines_own or near)) or (not said and engines_own and near)
        nobody_threw = told.get("thrown") == "null" and not self._explain.positions.throws("")
        if ran_out or nobody_threw or (told.get("thrown") == "null" and self._near_the_heap_limit()):
            return self.exceeded("heap_bytes", str(told.get("stack", "")))
        return self._failed(self._explain.thrown(told, self._limits.frames))

    def _on_deadlock(self, offsets: list[int]) -> Event:
        if self._near_the_heap_limit():  # a job that found no memory is lost without a word
            return self.exceeded("heap_bytes")
        return self._failed(self._explain.deadlock([_number(at) for at in offsets[: self._limits.frames]]), "sandbox")

    def _on_refused(self, what: str, offset: int) -> Event:
        return self._failed(self._explain.refused(what, _number(offset)), "sandbox")

    def _on_broken(self, text: str) -> Event:
        """The engine gave up beneath the script: it had no memory to go on, or something is wrong with it."""
        if text.startswith(("null", "InternalError: out of memory")) or self._near_the_heap_limit():
            return self.exceeded("heap_bytes", text)
        return self._failed(self._explain.engine(text, self._limits.frames), "sandbox")

    def _on_exceeded(self, limit: str, stack: str) -> Event:
        if limit not in ("engine_seconds", "jobs"):
            raise WireError("not a limit that an engine watches")
        return self.exceeded(limit, stack)

    def _on_placed(self, inserted: int, outline: list[int], throws: list[int]) -> None:
        if self._is_placed or len(outline) > 3 * CALLS_MAX or len(throws) > 2 * CALLS_MAX:
            raise WireError("more positions than a script has")
        if type(inserted) is not int or not all(type(at) is int and at >= 0 for at in (*outline, *throws)):
            raise WireError("positions are whole numbers")
        self._is_placed = True
        self._explain.positions.place(inserted, outline, throws)

    def _on_unawaited(self, ids: list[int]) -> None:
        if len(ids) > self._last_id or not all(type(one) is int and 0 < one <= self._last_id for one in ids):
            raise WireError("an unawaited call that was never made")
        self._unawaited = tuple(ids)

    def _on_dropped(self, count: int) -> None:
        self._dropped = _number(count)

    def _on_peak(self, grown: int) -> None:
        self._peak = grown if type(grown) is int else 0

    # ------------------------------------------------------------ endings that the host itself decides

    def exceeded(self, limit: str, stack: str = "") -> Exceeded:
        """The script is over because of a limit, whoever noticed."""
        allowed = float(getattr(self._limits, limit))
        error = replace(self._explain.exceeded(limit, allowed, stack, self._limits.frames), origin="sandbox")
        return Exceeded(limit, allowed, error, tuple(self.pending), self._unawaited, self._dropped)

    def end(self, event: Exceeded | Failed) -> list[Event]:
        """Close the exchange from our side: the worker is gone, or its time is up."""
        self.state = State.ENDED
        return [event]

    def lost(self, reason: str) -> Failed:
        return self._failed(self._explain.lost(reason), "sandbox")

    def _failed(self, error: ScriptError, origin: Literal["script", "sandbox"] = "script") -> Failed:
        return Failed(replace(error, origin=origin), tuple(self.pending), self._unawaited, self._dropped)

    def _near_the_heap_limit(self) -> bool:
        """Out of memory may show as a bare null; the measured peak tells it from `throw null`."""
        return self._peak * 5 >= self._limits.heap_bytes * 3

    def _site(self, line: int, column: int, name: str) -> Site:
        place = self._places.get((line, column, name))
        if place is None:
            at = self._explain.positions.offset(_number(line), _number(column))
            place = self._explain.positions.locate(self._explain.positions.call_at(at, name)[0]) if at >= 0 else (0, 0)
            self._places[line, column, name] = place
        ordinal = self._ordinals.get(place, 0)
        self._ordinals[place] = ordinal + 1
        return Site(*place, ordinal)


_READERS: dict[str, Callable[..., Event | None]] = {
    name.removeprefix("_on_"): reader for name, reader in vars(Exchange).items() if name.startswith("_on_")
}


def _counted(count: int, most: int, what: str) -> int:
    if count >= most:
        raise WireError(f"more than {most} {what}")
    return count + 1


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise WireError("positions and counts are whole numbers")
    return value
