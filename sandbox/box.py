"""One script in a worker: deadlines, and verdicts from the clock and the signal a worker died of, never from a text.

local.py has the same without a worker. Both give the same events for the same commands.
"""

import signal
from time import monotonic

import anyio

from sandbox.errors import Misuse, WireError
from sandbox.exchange import Exchange
from sandbox.launch import Worker
from sandbox.limits import Limits
from sandbox.messages import Command, Event, Start
from sandbox.wire import EVENTS, EXIT_MEMORY

Layers = tuple[tuple[str, str, str], ...]

KILL_GRACE_SECONDS = 0.5  # after its deadline a worker that has not answered is killed
_TIME_SIGNALS = (signal.SIGALRM, signal.SIGXCPU) if hasattr(signal, "SIGALRM") else ()
_CRASHES = tuple(
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGFPE", "SIGSYS", "SIGTRAP")
    if hasattr(signal, name)
)


class Sandbox:
    """One script in a worker: send commands, get events."""

    def __init__(self, worker: Worker, ceiling: Limits | None = None) -> None:
        self.worker = worker
        self._ceiling = ceiling
        self._exchange = Exchange()
        self._spent = 0.0
        self.crashed = False

    @property
    def pid(self) -> int:
        return self.worker.pid

    @property
    def layers(self) -> Layers:
        """How the worker is locked down: name, state, reason."""
        return self.worker.layers

    @property
    def ended(self) -> bool:
        return self._exchange.ended

    @property
    def engine_seconds_spent(self) -> float:
        return self._spent

    async def send(self, *commands: Command) -> list[Event]:
        """Start the script, or settle calls; those that are ready together travel in one frame."""
        self._check_ceiling(commands)
        ask = self._exchange.ask(commands)
        if isinstance(ask, list):
            return ask
        began = monotonic()
        left = self._exchange.limits.engine_seconds - self._spent
        if left <= 0:  # used up in slices that were each answered in time
            self.worker.kill()
            return self._exchange.end(self._exchange.exceeded("engine_seconds"))
        try:
            with anyio.move_on_after(left + KILL_GRACE_SECONDS):
                await self.worker.channel.send(ask.frame())
                reply = await self.worker.channel.receive(EVENTS)
                self._spent += monotonic() - began
                return self._exchange.hear(reply)
            self.worker.kill()  # the deadline has passed without an answer
            return self._exchange.end(self._exchange.exceeded("engine_seconds"))
        except (EOFError, OSError, anyio.ClosedResourceError):
            return await self._post_mortem()
        except WireError as error:
            self.crashed = True
            self.worker.kill()
            return self._exchange.end(self._exchange.lost(f"it broke the protocol: {error}"))
        except BaseException:  # cancelled from outside: the script ends at once, mid-instruction if need be
            self.worker.kill()
            raise

    def _check_ceiling(self, commands: tuple[Command, ...]) -> None:
        """Memory and CPU of a worker were capped when it was forked: no script can get more."""
        if self._ceiling is None:
            return
        for command in commands:
            if isinstance(command, Start):
                for name in ("heap_bytes", "engine_seconds"):
                    asked, most = getattr(command.limits, name), getattr(self._ceiling, name)
                    if asked > most:
                        raise Misuse(f"{name} {asked:,} is above this pool's {most:,}; give the pool higher limits")

    async def _post_mortem(self) -> list[Event]:
        """The worker is gone. The signal it died of is the verdict."""
        worker, exchange = self.worker, self._exchange
        worker.zygote.expect(worker.token)
        worker.kill()
        status = await worker.zygote.status(worker.token)
        if status is None:
            return exchange.end(exchange.lost("its zygote is gone too"))
        died_of, code = status & 0x7F, status >> 8
        if died_of in _TIME_SIGNALS:
            return exchange.end(exchange.exceeded("engine_seconds"))
        if code == EXIT_MEMORY:
            return exchange.end(exchange.exceeded("heap_bytes"))
        self.crashed = died_of in _CRASHES
        return exchange.end(exchange.lost(f"it died of {_signal_name(died_of)}" if died_of else f"it exited with {code}"))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"
