"""Runs one script and knows no tools: commands in, events out.

`Machine` runs a script in this process; `Pool` runs each in a locked-down worker process of its own.
"""

from typing import TYPE_CHECKING, Any

from sandbox.box import Sandbox
from sandbox.errors import Frame, Misuse, SandboxError, ScriptError, Unavailable, WireError
from sandbox.limits import Limits
from sandbox.messages import (
    BUILTINS,
    Budget,
    Called,
    Command,
    Ending,
    Event,
    Exceeded,
    Failed,
    Finished,
    Json,
    Member,
    Printed,
    Problem,
    Reject,
    Resolve,
    Shown,
    Site,
    Sketch,
    Start,
    Stored,
    Use,
)
from sandbox.pool import Pool
from sandbox.positions import Positions

if TYPE_CHECKING:
    from sandbox.local import LocalSandbox
    from sandbox.machine import Machine


def __getattr__(name: str) -> Any:
    """`Machine` and `LocalSandbox` bring the engine into this process: loaded when somebody asks for them."""
    if name == "Machine":
        from sandbox.machine import Machine

        return Machine
    if name == "LocalSandbox":
        from sandbox.local import LocalSandbox

        return LocalSandbox
    raise AttributeError(f"module 'sandbox' has no attribute {name!r}")


__all__ = [
    "BUILTINS",
    "Budget",
    "Called",
    "Command",
    "Ending",
    "Event",
    "Exceeded",
    "Failed",
    "Finished",
    "Frame",
    "Json",
    "Limits",
    "LocalSandbox",
    "Machine",
    "Member",
    "Misuse",
    "Pool",
    "Positions",
    "Printed",
    "Problem",
    "Reject",
    "Resolve",
    "Sandbox",
    "SandboxError",
    "ScriptError",
    "Shown",
    "Site",
    "Sketch",
    "Start",
    "Stored",
    "Unavailable",
    "Use",
    "WireError",
]
