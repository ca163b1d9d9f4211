"""One script in a worker: deadlines, and verdicts from the clock and the signal a worker died of, never from a text.

local.py has the same without a worker. Both give the same events for the same commands.
"""

import signal
from time import monotonic

import anyio

from sandbox.errors import Misuse, WireError
from sandbox.exchange import Exchange, State
from sandbox.launch import Worker
from sandbox.limits import DEFAULT_LIMITS, Limits
from sandbox.messages import Command, Event, Start, Use
from sandbox.uses import read_uses
from sandbox.wire import EVENTS, EXIT_MEMORY, USES, Ask

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

    @property
    def idle(self) -> bool:
        """No script has the worker: none was started, or it has ended."""
        return self._exchange.state in (State.NEW, State.ENDED)

    async def outline(self, source: str, limits: Limits = DEFAULT_LIMITS) -> tuple[Use, ...]:
        """Every use of a tool that the text shows, before anything of it runs; its time is part of the script's.

        A text that the parser cannot master ends as its script would: the outline is empty, and `send(Start(…))` says why.
        """
        self._check_ceiling(limits)
        ask = self._exchange.ask_outline(source, limits)
        if ask is None:
            return ()
        reply = await self._visit(ask, USES)
        if isinstance(reply, str):
            self._exchange.doom(reply)
            return ()
        try:
            return read_uses(reply)
        except WireError as error:
            self._exchange.doom(self._broke(error))
            return ()

    async def send(self, *commands: Command) -> list[Event]:
        """Start the script, or settle calls; those that are ready together travel in one frame."""
        for command in commands:
            if isinstance(command, Start):
                self._check_ceiling(command.limits)
        ask = self._exchange.ask(commands)
        if isinstance(ask, list):
            return ask
        reply = await self._visit(ask, EVENTS)
        if isinstance(reply, str):
            return self._ended_by(reply)
        try:
            return self._exchange.hear(reply)
        except WireError as error:
            return self._ended_by(self._broke(error))

    def _ended_by(self, limit_or_reason: str) -> list[Event]:
        exchange = self._exchange
        is_limit = hasattr(exchange.limits, limit_or_reason)
        return exchange.end(exchange.exceeded(limit_or_reason) if is_limit else exchange.lost(limit_or_reason))

    async def _visit(self, ask: Ask, kind: bytes) -> memoryview | str:
        """Ask the worker, within the time that is left; gives its answer, or what has ended it: a limit, or a reason in words."""
        began = monotonic()
        left = self._exchange.limits.engine_seconds - self._spent
        if left <= 0:  # used up in slices that were each answered in time
            self.worker.kill()
            return "engine_seconds"
        try:
            with anyio.move_on_after(left + KILL_GRACE_SECONDS):
                await self.worker.channel.send(ask.frame())
                reply = await self.worker.channel.receive(kind)
                self._spent += monotonic() - began
                return reply
            self.worker.kill()  # the deadline has passed without an answer
            return "engine_seconds"
        except (EOFError, OSError, anyio.ClosedResourceError):
            return await self._post_mortem()
        except WireError as error:
            return self._broke(error)
        except BaseException:  # cancelled from outside: the script ends at once, mid-instruction if need be
            self.worker.kill()
            raise

    def _broke(self, error: WireError) -> str:
        self.crashed = True
        self.worker.kill()
        return f"it broke the protocol: {error}"

    def _check_ceiling(self, limits: Limits) -> None:
        """Memory and CPU of a worker were capped when it was forked: no script can get more."""
        if self._ceiling is None:
            return
        for name in ("heap_bytes", "engine_seconds"):
            asked, most = getattr(limits, name), getattr(self._ceiling, name)
            if asked > most:
                raise Misuse(f"{name} {asked:,} is above this pool's {most:,}; give the pool higher limits")

    async def _post_mortem(self) -> str:
        """The worker is gone. The signal it died of is the verdict."""
        worker = self.worker
        worker.zygote.expect(worker.token)
        worker.kill()
        status = await worker.zygote.status(worker.token)
        if status is None:
            return "its zygote is gone too"
        died_of, code = status & 0x7F, status >> 8
        if died_of in _TIME_SIGNALS:
            return "engine_seconds"
        if code == EXIT_MEMORY:
            return "heap_bytes"
        self.crashed = died_of in _CRASHES
        return f"it died of {_signal_name(died_of)}" if died_of else f"it exited with {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"
