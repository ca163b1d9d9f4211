"""What crosses the wall of the sandbox: commands go in, events come out.

Only JSON values travel inside them. Commands are imperative, events past tense; exactly one of
`Finished`, `Failed` and `Exceeded` ends a script, and it is the last event.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sandbox.errors import ScriptError
from sandbox.limits import DEFAULT_LIMITS, Limits

Json: TypeAlias = Any  # None, bool, int, float, str, list[Json], dict[str, Json]


@dataclass(frozen=True, slots=True)
class Site:
    """Where in the author's script a call stands; with `ordinal` (the n-th call from there) it is the call's identity.

    Line and column count from 1, columns in characters. Line 0: no script line was on the stack
    (a tool function handed to `.then` directly).
    """

    line: int
    column: int
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call failed, as the script sees it: an Error with name = code, message, hint and data."""

    code: str
    message: str
    hint: str = ""
    data: Json = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What the host says is left, readable in the script as `budget.bytes`, `budget.seconds` and `budget.tools`."""

    bytes: int | None = None
    seconds: float | None = None
    tools: Mapping[str, Json] | None = None  # of packs and tools with an allowance of their own


# ---------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Run this script. The sandbox is a function of this and the later commands: clock and chance come from here."""

    source: str
    tools: tuple[str, ...] = ()
    context: Mapping[str, Json] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    now: float = 0.0  # milliseconds since 1970, what Date.now() says at the start
    seed: int = 0
    stored: Mapping[str, Json] = field(default_factory=dict)  # what earlier scripts stored, for load()
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Resolve:
    """Call `call_id` gave `value`. `now`, when given, moves the script's clock on to it."""

    call_id: int
    value: Json
    now: float | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """Call `call_id` failed with `problem`."""

    call_id: int
    problem: Problem
    now: float | None = None
    budget: Budget | None = None


Command: TypeAlias = Start | Resolve | Reject


# ---------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class Called:
    """The script called a tool, or one of `BUILTINS`. `args` are the arguments as given, in order."""

    call_id: int
    tool: str
    args: list[Json]
    site: Site


@dataclass(frozen=True, slots=True)
class Shown:
    value: Json
    options: dict[str, Json]
    site: Site


@dataclass(frozen=True, slots=True)
class Printed:
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Stored:
    """`store(key, value)`; `removed` when the script stored undefined."""

    key: str
    value: Json
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The script ended. `pending`: calls still open; `unawaited`: calls whose promise nobody ever looked at."""

    value: Json
    pending: tuple[int, ...] = ()
    unawaited: tuple[int, ...] = ()
    console_dropped: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    error: ScriptError
    pending: tuple[int, ...] = ()
    unawaited: tuple[int, ...] = ()
    console_dropped: int = 0


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A limit ended the script: `limit` is a field of `Limits`, `allowed` its value."""

    limit: str
    allowed: float
    error: ScriptError
    pending: tuple[int, ...] = ()
    unawaited: tuple[int, ...] = ()
    console_dropped: int = 0


Event: TypeAlias = Called | Shown | Printed | Stored | Finished | Failed | Exceeded
Ending: TypeAlias = Finished | Failed | Exceeded

BUILTINS = frozenset({"sleep", "recall", "relax", "help"})


# ---------------------------------------------------------------- what a script's text shows before it runs


@dataclass(frozen=True, slots=True)
class Member:
    """One named member of an object in the text; `start` and `end` are the name's."""

    name: str
    start: int
    end: int
    sketch: "Sketch"


@dataclass(frozen=True, slots=True)
class Sketch:
    """A value as far as the text tells it, with its byte offsets.

    `kind`: "value" (`value` is the literal), "text" (some text), "undefined", "function", "promise" (a tool call nobody awaited),
    "list" (`items`), "object" (`members`) or "unknown". `open`: there may be more items or members than are listed.
    """

    kind: str
    start: int
    end: int
    value: Json = None
    items: tuple["Sketch", ...] = ()
    members: tuple[Member, ...] = ()
    open: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a script names a tool, or calls one of `BUILTINS`. Places are byte offsets; what is not certain says so.

    `path`: the members after `root`, each with its place in `places` (that of the alias when it is used under another name).
    `more_args`: there may be more arguments than are listed. `fate`: what becomes of the promise (see fates.py), with `detail`
    at `detail_at`. `guarded`: its failure may be caught, or the script asked before whether the tool is there. `repeated`: in a
    loop; `conditional`: only under a condition; `within`: in a function of the script's own, which may never be called.
    """

    root: str
    path: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    start: int
    end: int
    called: bool
    args: tuple[Sketch, ...] = ()
    more_args: bool = False
    fate: str = "used"
    detail: str = ""
    detail_at: int = 0
    guarded: bool = False
    repeated: bool = False
    conditional: bool = False
    within: bool = False
