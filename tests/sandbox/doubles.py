"""Doubles for a worker that an attacker has taken over, and the rules that the host's answers keep whatever it does.

A `Liar` plays the worker on the far end of a real socket pair; the `Sandbox` it lies to is the real one. A `Ledger`
is what an honest caller of that sandbox knows, and checks every answer against it.
"""

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import anyio

from sandbox import (
    BUILTINS,
    Called,
    Event,
    Exceeded,
    Failed,
    Finished,
    Limits,
    Printed,
    Reject,
    Resolve,
    Sandbox,
    Shown,
    Start,
    Stored,
)
from sandbox.channel import Channel
from sandbox.launch import Worker

TOOLS = ("a.b", "a.c")
ENDINGS = (Finished, Failed, Exceeded)
TEXT_MAX_BYTES = 10_000
TOKEN = 7
EXITED_WITH_3 = 3 << 8


@dataclass
class ZygoteDouble:
    """Counts kills instead of killing; says of every worker that it ended with this status."""

    ended_with: int | None = EXITED_WITH_3
    killed: list[int] = field(default_factory=list)
    expected: list[int] = field(default_factory=list)
    pids: dict[int, int] = field(default_factory=dict)
    alive: bool = True

    def kill(self, token: int) -> None:
        self.killed.append(token)

    def expect(self, token: int) -> None:
        self.expected.append(token)

    async def status(self, token: int) -> int | None:
        assert token in self.expected
        await anyio.lowlevel.checkpoint()
        return self.ended_with


@dataclass(frozen=True)
class Visit:
    """What a liar does in one turn of its own: write these pieces, then perhaps hang up."""

    pieces: tuple[bytes, ...]
    body: bytes = b""  # the text of the events when the frame around them is sound: for lies told without a wire
    unasked: bool = False  # write before the host has said anything
    hangs_up: bool = False
    stays_deaf: bool = False  # read nothing from here on


class Liar:
    """The far end. After its last visit it stays silent, with the line open."""

    def __init__(self, visits: Sequence[Visit]) -> None:
        near, self._socket = socket.socketpair()
        self._socket.setblocking(False)
        self._visits = visits
        self.channel = Channel(near)
        self.heard = b""

    async def play(self) -> None:
        try:
            for visit in self._visits:
                if not visit.unasked and not await self._hear():
                    return
                for piece in visit.pieces:
                    await self._write(piece)
                if visit.hangs_up:
                    return
                if visit.stays_deaf:
                    await anyio.sleep_forever()
            while await self._hear():
                pass
        except OSError:
            pass  # the host has closed its end in the middle of a lie, as it should
        finally:
            self._socket.close()

    async def _hear(self) -> bool:
        await anyio.wait_readable(self._socket)
        data = self._socket.recv(2**20)
        self.heard += data
        return bool(data)

    async def _write(self, piece: bytes) -> None:
        view = memoryview(piece)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
        await anyio.lowlevel.checkpoint()


@dataclass
class Met:
    """A real sandbox whose worker is a liar."""

    box: Sandbox
    liar: Liar
    zygote: ZygoteDouble


@asynccontextmanager
async def a_sandbox_with(visits: Sequence[Visit], *, ended_with: int | None = EXITED_WITH_3) -> AsyncIterator[Met]:
    zygote, liar = ZygoteDouble(ended_with), Liar(visits)
    worker = Worker(zygote, TOKEN, liar.channel)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(liar.play)
        try:
            yield Met(Sandbox(worker), liar, zygote)
        finally:
            worker.kill()
            tasks.cancel_scope.cancel()


# ---------------------------------------------------------------- what a caller knows


@dataclass
class Ledger:
    """Calls seen and settled by an honest caller of one sandbox, and the rules for what it is told next."""

    limits: Limits
    seen: dict[int, Called] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)

    @property
    def open(self) -> list[int]:
        return [call_id for call_id in self.seen if call_id not in self.settled]

    def settle(self) -> list[Resolve | Reject]:
        """Answer every open call."""
        self.settled.update(answered := self.open)
        return [Resolve(call_id, {"answer": call_id}) for call_id in answered]

    def take(self, events: list[Event], *, ended: bool) -> None:
        assert isinstance(events, list)
        for event in events:
            self._take_one(event)
        assert not any(isinstance(event, ENDINGS) for event in events[:-1]), "an ending that is not the last event"
        if ended:
            self._check_ending(events[-1])
        else:
            assert self.open, "not ended, and nothing to wait for"
            assert not isinstance(events[-1] if events else None, ENDINGS)
        self.events += events
        assert sum(isinstance(event, Shown) for event in self.events) <= self.limits.shown_values
        assert sum(isinstance(event, Printed) for event in self.events) <= self.limits.console_lines
        assert sum(isinstance(event, Called) and event.tool in TOOLS for event in self.events) <= self.limits.calls

    def _take_one(self, event: Event) -> None:
        match event:
            case Called(call_id, tool, args, site):
                assert call_id == len(self.seen) + 1 and type(call_id) is int
                assert tool in (*TOOLS, *BUILTINS)
                assert type(args) is list and is_json(args)
                assert site.line >= 0 and site.column >= 0 and site.ordinal >= 0
                self.seen[call_id] = event
            case Shown(value, options, _):
                assert type(options) is dict and is_json(value) and is_json(options)
            case Printed(level, text):
                assert level in ("log", "info", "debug", "warn", "error") and len(text) <= self.limits.console_bytes
            case Stored(key, value, removed):
                assert type(key) is str and is_json(value) and type(removed) is bool

    def _check_ending(self, ending: Event) -> None:
        assert isinstance(ending, ENDINGS)
        if is_lost(ending):
            assert set(ending.pending) >= set(self.open)
        else:
            assert sorted(ending.pending) == self.open
        assert set(ending.unawaited) <= set(self.seen)
        assert type(ending.console_dropped) is int and ending.console_dropped >= 0
        if isinstance(ending, Finished):
            assert is_json(ending.value)
        else:
            assert len(ending.error.text.encode("utf-8", "surrogatepass")) < TEXT_MAX_BYTES
            assert is_json(ending.error.data)
        if isinstance(ending, Exceeded):
            assert ending.allowed == getattr(self.limits, ending.limit)


def is_lost(ending: Event) -> bool:
    """By the host's own word: a script may give its errors any name."""
    return isinstance(ending, Failed) and ending.error.name == "WorkerLost" and ending.error.origin == "sandbox"


def is_json(value: Any) -> bool:
    if isinstance(value, list):
        return all(is_json(item) for item in value)
    if isinstance(value, dict):
        return all(type(key) is str and is_json(key) and is_json(item) for key, item in value.items())
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return value is None or type(value) in (bool, int) or (type(value) is float and isfinite(value))


async def converse(met: Met, start: Start) -> Ledger:
    """Run the script as a caller would, to its end, and check every answer; bounded, since no lie may make it hang."""
    ledger = Ledger(start.limits)
    with anyio.fail_after(20):
        ledger.take(await met.box.send(start), ended=met.box.ended)
        while not met.box.ended:
            ledger.take(await met.box.send(*ledger.settle()), ended=met.box.ended)
    check_the_kill(met, ledger.events[-1])
    return ledger


def check_the_kill(met: Met, ending: Event) -> None:
    """Whoever broke the rules or the clock is dead by now, and only once."""
    assert met.zygote.killed in ([TOKEN], [])
    if is_lost(ending):
        assert met.zygote.killed == [TOKEN]
        assert not met.box.worker.alive
