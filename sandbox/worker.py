"""The child half: reads frames on one descriptor, runs the engine, writes frames. Nothing else is left to it.

It parses no JSON: text goes straight between the engine and the wire. A kernel timer runs while a script computes,
since native loops ignore the engine's own limit; when it fires, the default action ends the process, and the host reads
the verdict off the signal. Light imports only: a zygote loads this before it forks.
"""

import os
import signal
from collections.abc import Callable

from sandbox import lockdown, wire
from sandbox.engine import Engine

_TIMER_SLACK_SECONDS = 0.1  # the engine's own, politer limit gets the first word
_setitimer = getattr(signal, "setitimer", None)  # not on Windows: there the host's own deadline is alone
_READ_BYTES = 256 * 1024


def serve(fd: int, engine: Engine, inherited: list[lockdown.Layer], *, cpu_seconds: int, reuse: bool, parent: int = 0) -> None:
    """Lock down, warm up, say so, then serve one script, or with `reuse` one after the other."""
    layers = lockdown.apply(fd, cpu_seconds, inherited, parent=parent)
    try:
        engine.rehearse()
        _write(fd, wire.frame(wire.READY, _ready(layers)))
        reader = wire.FrameReader(wire.OUTLINE + wire.START + wire.DELIVER, wire.INWARD_MAX)
        while True:
            for kind, body in _read(fd, reader):
                reply = _visit(engine, wire.Ask.parse(kind, body))
                answer = wire.USES if kind == wire.OUTLINE else wire.EVENTS
                _write(fd, wire.frame(answer, reply.encode("utf-8", "replace")))
                if engine.ended:
                    if not reuse:
                        os._exit(0)
                    engine = Engine()
                    if kind == wire.DELIVER:  # the last script called tools; the next one will, too
                        engine.load_mail()
    except MemoryError:
        os._exit(wire.EXIT_MEMORY)
    except (wire.FrameError, OSError, ValueError):
        os._exit(wire.EXIT_FRAME)


def _visit(engine: Engine, ask: wire.Ask) -> str:
    work: Callable[[], str]
    if ask.kind == wire.OUTLINE:
        seconds = ask.seconds
        text = ask.source.decode()

        def work() -> str:
            return engine.outline(text)
    elif ask.kind == wire.START:
        seconds = ask.seconds - engine.seconds_spent
        source, facts = ask.source.decode(), ask.text.decode()

        def work() -> str:
            return engine.start(source, facts, seconds=ask.seconds, heap=ask.heap, stack=ask.stack, jobs=ask.jobs)
    else:
        seconds = engine.seconds_left
        text = ask.text.decode()

        def work() -> str:
            return engine.deliver(text, ask.count)

    _set_timer(max(seconds, 0.0) + _TIMER_SLACK_SECONDS)
    try:
        return work()
    finally:
        _set_timer(0)


def _set_timer(seconds: float) -> None:
    if _setitimer is not None:
        _setitimer(signal.ITIMER_REAL, seconds)


def _read(fd: int, reader: wire.FrameReader) -> list[tuple[bytes, memoryview]]:
    data = os.read(fd, _READ_BYTES)
    if not data:
        os._exit(0)  # the host is gone or done with us
    return reader.feed(data)


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _ready(layers: list[lockdown.Layer]) -> bytes:
    return "\n".join("\t".join(layer) for layer in layers).encode("utf-8", "replace")
