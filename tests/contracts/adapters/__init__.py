"""Drivers for the contract of adapters, one a file: each lets a scripted model call tools by that interface's own loop."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from harness import Harness


@dataclass(frozen=True, slots=True)
class Told:
    """What the model reads of its call. `is_error` is None where the interface has no mark for it."""

    text: str
    is_error: bool | None


class Agent(Protocol):
    async def call(self, name: str, arguments: Mapping[str, Any]) -> Told:
        """The model calls this tool, and is given what comes of it. Cancelling this is what a person does who stops the agent."""


Opened: TypeAlias = Callable[[Harness, float | None], AbstractAsyncContextManager[Agent]]
"""Enters the harness and opens its session; seconds: after which a script yields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """`trio`: driven there too. `yields`: its models can wait for a script. `direct`: they call tools by themselves. `own_loop`: its
    session runs in another thread.
    """

    name: str
    opened: Opened
    trio: bool = False
    yields: bool = True
    direct: bool = True
    own_loop: bool = False
