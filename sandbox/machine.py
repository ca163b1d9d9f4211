"""One script, one engine, this process: `send(command) -> list[Event]`.

Same commands, same events, byte for byte. For tests and for embedders who chose `isolation="in_process"`: nothing
here protects the process from a native loop or a bug of the engine; a worker does (see pool.py).
"""

from sandbox.engine import Engine
from sandbox.exchange import Exchange
from sandbox.limits import DEFAULT_LIMITS, Limits
from sandbox.messages import Command, Event, Use
from sandbox.uses import read_uses
from sandbox.wire import START


class Machine:
    def __init__(self) -> None:
        self._engine = Engine()
        self._exchange = Exchange()

    @property
    def ended(self) -> bool:
        return self._exchange.ended

    def send(self, *commands: Command) -> list[Event]:
        """Start the script, or settle calls; several settlements at once do the same as one by one."""
        ask = self._exchange.ask(commands)
        if isinstance(ask, list):
            return ask
        if ask.kind == START:
            reply = self._engine.start(
                ask.source.decode(), ask.text.decode(), seconds=ask.seconds, heap=ask.heap, stack=ask.stack, jobs=ask.jobs
            )
        else:
            reply = self._engine.deliver(ask.text.decode(), ask.count)
        return self._exchange.hear(reply)

    def outline(self, source: str, limits: Limits = DEFAULT_LIMITS) -> tuple[Use, ...]:
        """Every use of a tool that the text shows; before `Start`."""
        ask = self._exchange.ask_outline(source, limits)
        return () if ask is None else read_uses(self._engine.outline(ask.source.decode()))
