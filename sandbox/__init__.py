"""Runs one script and knows no tools: commands in, events out.

`Machine` runs a script in this process; `Pool` runs each in a locked-down worker process of its own.
"""

from sandbox.box import LocalSandbox, Sandbox
from sandbox.errors import Frame, Misuse, SandboxError, ScriptError, Unavailable, WireError
from sandbox.limits import Limits
from sandbox.machine import Machine
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
    Printed,
    Problem,
    Reject,
    Resolve,
    Shown,
    Site,
    Start,
    Stored,
)
from sandbox.pool import Pool

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
    "Misuse",
    "Pool",
    "Printed",
    "Problem",
    "Reject",
    "Resolve",
    "Sandbox",
    "SandboxError",
    "ScriptError",
    "Shown",
    "Site",
    "Start",
    "Stored",
    "Unavailable",
    "WireError",
]
