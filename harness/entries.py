"""What happened, entry by entry. Entries are appended, never changed; transcript, numbers and replay are computed from them.

Plain records. How an entry is written down is in `harness/store/lines.py`; `docs/session-format.md` is made from both. A field
that is added gets a default, so that older sessions still read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Field

from harness.approval import Decision
from harness.call import Outcome
from harness.compose import ShownItem
from harness.ledger import Ledger
from harness.setup import Mode
from sandbox import Budget, ScriptError, Site

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """Where the root stood when the session was opened."""

    commit: str = ""
    branch: str = ""  # "" when no branch is checked out
    remote: str = ""  # without user and password


@dataclass(frozen=True, slots=True, kw_only=True)
class PackFacts:
    source: str  # the module or file it came from; "" for one made in code
    digest: str  # of its code and settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What holds for the whole session."""

    turnscript: str = ""  # the version that wrote it
    root: str = ""
    git: Git | None = None
    model: str = ""
    mode: Mode = "enabled"
    flags: Mapping[str, bool] = field(default_factory=dict)
    limits: Mapping[str, int | float] = field(default_factory=dict)
    packs: Mapping[str, PackFacts] = field(default_factory=dict)
    tools: tuple[str, ...] = ()  # on offer
    plan_reads: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)  # the caller's own: a user, a task
    format: str = ""  # that it was imported from: codex, claude, …; "" for our own


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfSession:
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")
    session: str
    at: float  # seconds since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfTurn(_OfSession):
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(_OfSession):
    """A session began."""

    type: Literal["opened"] = "opened"
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened(_OfSession):
    """It goes on in another process. `interrupted`: a turn without an end was found."""

    type: Literal["reopened"] = "reopened"
    facts: Facts
    interrupted: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Began(_OfTurn):
    """A turn began: all that the sandbox is started with, so that the same script can be started the same way again."""

    type: Literal["began"] = "began"
    script: str
    sha256: str  # of the script
    mode: Mode = "enabled"
    now: float = 0.0  # milliseconds since 1970, what Date.now() says at the start
    seed: int = 0
    context: Mapping[str, Json] = field(default_factory=dict)
    stored: Mapping[str, Json] = field(default_factory=dict)  # what earlier scripts stored
    limits: Mapping[str, int | float] = field(default_factory=dict)  # of this turn, where they differ from the session's
    relaxed: str = ""  # the host lets this turn show more: why
    budget: Budget | None = None
    direct: bool = False  # not a script of the model's: one tool that it called by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Running(_OfTurn):
    """A call that writes, or acts outside, is about to run. Without a `Settled` after it nobody knows what became of it."""

    type: Literal["running"] = "running"
    call: int
    tool: str
    site: Site
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(_OfTurn):
    """A call ended, and the script is about to be told. The order of these entries is the order in which it was told."""

    type: Literal["settled"] = "settled"
    call: int
    tool: str
    site: Site
    arguments: Mapping[str, Json] | tuple[Json, ...]  # by name, with defaults; as given where they did not fit, and for builtins
    outcome: Outcome
    seconds: float = 0.0  # from the script's call to its outcome, waiting included
    now: float | None = None  # what the script's clock says from then on
    budget: Budget | None = None  # what is left, as the script reads it from then on
    read: Mapping[str, Json] | None = None  # the state of what it read: while that holds, the value can be served again


@dataclass(frozen=True, slots=True, kw_only=True)
class Held(_OfTurn):
    """A whole value is kept under a handle that the outcome after it names."""

    type: Literal["held"] = "held"
    handle: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """`interrupted`: the process ended before the script did. `cancelled`: the host stopped the turn."""

    how: Literal["finished", "failed", "exceeded", "cancelled", "interrupted"]
    value: Json = None
    error: ScriptError | None = None
    limit: str = ""
    allowed: float = 0.0
    pending: tuple[int, ...] = ()
    unawaited: tuple[int, ...] = ()
    console_dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing a script did besides calling: it showed a value, printed a line, or stored a value for later scripts."""

    how: Literal["shown", "printed", "stored", "removed"]
    value: Json = None  # shown, stored; the text of a line
    name: str = ""  # the key stored under; the console's level
    options: Mapping[str, Json] = field(default_factory=dict)  # of show()


@dataclass(frozen=True, slots=True, kw_only=True)
class Yielded(_OfTurn):
    """The script still runs, and the model is told what it has shown since the part before. `told`: outcomes that the script had
    been told by then; `words`: values shown and lines printed, in all.
    """

    type: Literal["yielded"] = "yielded"
    told: int
    words: int
    text: str
    items: tuple[ShownItem, ...] = ()
    notices: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(_OfTurn):
    """A turn ended. `text` is what the model was shown, verbatim; the items say which of its lines stand under which handle.
    `parts`: where it was told in parts, the words of each but the last; all of them stand here too.
    """

    type: Literal["ended"] = "ended"
    ending: Ending
    text: str
    items: tuple[ShownItem, ...] = ()
    notices: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()
    left: tuple[Settled, ...] = ()  # calls whose outcome the script was never told: cancelled, or too late
    ledger: Ledger = field(default_factory=Ledger)
    decisions: tuple[Decision, ...] = ()
    layers: tuple[tuple[str, str, str], ...] = ()
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot(_OfSession):
    """Turns left the model's view. `mended`: items still in view whose references led to them, with their lines back."""

    type: Literal["forgot"] = "forgot"
    turns: tuple[int, ...]
    mended: Mapping[str, ShownItem]  # by handle


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(_OfSession):
    """What was said around the scripts, where the agent tells it: history and search read it."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "reasoning"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(_OfSession):
    """One record of another agent's session, as it is. What it means is read by `harness/rollouts`, one format a file."""

    type: Literal["item"] = "item"
    turn: int = 0  # counted by what a person said; 0 before
    format: str  # codex, claude, swe_agent, mini_swe_agent, openhands
    kind: str  # of the record, in the words of its format
    raw: Json = None
    text: str | None = None  # instead of raw, where the record is no JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed(_OfSession):
    type: Literal["closed"] = "closed"


Entry: TypeAlias = Annotated[
    Opened | Reopened | Began | Running | Held | Settled | Yielded | Ended | Forgot | Message | Item | Closed,
    Field(discriminator="type"),
]
