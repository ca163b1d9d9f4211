"""One script in this process: for tests and for embedders who chose it. The same events as from a worker, no walls."""

import anyio

from sandbox.limits import DEFAULT_LIMITS, Limits
from sandbox.lockdown import OFF
from sandbox.machine import Machine
from sandbox.messages import Command, Event, Use


class LocalSandbox:
    pid = 0
    engine_seconds_spent = 0.0  # nobody counts: there is no deadline in the host's own process
    layers: tuple[tuple[str, str, str], ...] = (("process", OFF, "the script runs in the host's own process"),)

    def __init__(self) -> None:
        self._machine = Machine()

    @property
    def ended(self) -> bool:
        return self._machine.ended

    async def send(self, *commands: Command) -> list[Event]:
        await anyio.lowlevel.checkpoint()
        return self._machine.send(*commands)

    async def outline(self, source: str, limits: Limits = DEFAULT_LIMITS) -> tuple[Use, ...]:
        """Every use of a tool that the text shows; before `Start`."""
        await anyio.lowlevel.checkpoint()
        return self._machine.outline(source, limits)
