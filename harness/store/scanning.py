"""What can be told of a session from its lines: a row for a list, whether it fits a query, its share of sums.

Pure. Memory and JSONL scan with this; the SQL store keeps the same facts (`facts_of`) in its tables, so all find the same.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from harness.entries import Began, Ended, Entry, Facts, Item, Message, Opened, Running, Settled
from harness.rollouts import Reading, reading, readings
from harness.store import By, Query, SessionRow, Sums
from harness.store.lines import Kept, Line, iso

TITLE_CHARS = 120
OWN = "own"
_BYTES_MAX = 2**53  # of one entry; a database takes no number of any size, and a record may say one


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFacts:
    """What one entry adds to the knowledge about its session."""

    title: str = ""  # what a list would call the session; the first one in the order of lines counts
    texts: tuple[str, ...] = ()  # searched, each for itself
    calls: int = 0  # 1 where the entry is a call; an output that comes as an entry of its own is none
    tool: str = ""
    call_id: str = ""  # of an imported call, and of its output: the tool of an output is that of its call
    status: str = ""  # how a call ended
    paths: tuple[str, ...] = ()
    result_bytes: int = 0
    seconds: float = 0.0  # of a call
    produced: int = 0
    shown: int = 0


def facts_of(entry: Entry) -> LineFacts:
    match entry:
        case Began():
            return LineFacts(title=titled(entry.script), texts=(entry.script,))
        case Running():
            return LineFacts(paths=tuple(paths_in(entry.arguments)))
        case Settled():
            paths = (*paths_in(entry.arguments), *paths_in(entry.outcome.value))
            return LineFacts(
                calls=1, tool=entry.tool, status=entry.outcome.status, paths=tuple(dict.fromkeys(paths)),
                result_bytes=_bytes(entry.outcome.size), seconds=entry.seconds,
            )  # fmt: skip
        case Ended():
            return LineFacts(texts=(entry.text,), produced=_bytes(entry.ledger.produced), shown=_bytes(entry.ledger.shown))
        case Message():
            return LineFacts(title=titled(entry.text) if entry.role == "user" else "", texts=(entry.text,))
        case Item():
            return _facts_of_reading(reading(entry), entry)
        case _:
            return LineFacts()


def _bytes(told: int) -> int:
    return max(0, min(told, _BYTES_MAX))


def facts_one_by_one(entry: Entry) -> tuple[LineFacts, ...]:
    """The same, where an entry says several things at once: an end the calls that the script was never told of, an imported
    record two calls, or a call and its output."""
    if isinstance(entry, Ended):
        return (facts_of(entry), *map(facts_of, entry.left))
    if isinstance(entry, Item) and len(several := readings(entry)) > 1:
        return tuple(_facts_of_reading(told, entry) for told in several)
    return (facts_of(entry),)


def _facts_of_reading(told: Reading, item: Item) -> LineFacts:
    text = told.text or item.text or ""
    return LineFacts(
        title=titled(text) if told.role == "user" else "", texts=(text,) if text else (), calls=int(told.role == "call"),
        tool=told.tool, call_id=told.call_id, status=told.status, paths=told.paths, result_bytes=told.bytes,
    )  # fmt: skip


def titled(text: str) -> str:
    """The first line that says something, cut."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"


def paths_in(value: Any) -> Iterator[str]:
    """Members that name a file: path, file, root, of arguments and of the first level of results."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            if name in ("path", "file", "root", "folder") and isinstance(one, str) and one:
                yield one
            elif name in ("files", "paths", "hits", "matches") and isinstance(one, list | tuple):
                for each in one[:1000]:
                    yield from ([each] if isinstance(each, str) else paths_in(each) if isinstance(each, Mapping) else ())


# ---------------------------------------------------------------- rows


def row_of(kept: Sequence[Kept], session: str = "") -> SessionRow:
    """Of all its lines, or of the first and the newest ones: a title in them, and the highest turn. `session` where the first
    line does not tell it."""
    first, last = kept[0], kept[-1].line
    opened = first.entry(session)
    facts = opened.facts if isinstance(opened, Opened) else Facts()
    return SessionRow(
        session=opened.session,
        opened=first.line.at,
        last=last.at,
        lines=last.seq,
        turns=max(one.line.turn for one in kept),
        root=facts.root,
        model=facts.model,
        branch="" if facts.git is None else facts.git.branch,
        format=facts.format,
        title=next((title for one in kept if (title := title_of(one, session))), ""),
        digest=last.digest,
        closed=last.type == "closed",
    )


def title_of(kept: Kept, session: str) -> str:
    if kept.line.type in ("began", "message", "item"):
        return facts_of(kept.entry(session)).title
    return ""


# ---------------------------------------------------------------- queries


def matching(kept: Sequence[Kept], query: Query) -> bool:
    return row_fits(row_of(kept), query) and found_in(kept, query)


def row_fits(row: SessionRow, query: Query) -> bool:
    """As far as the row tells."""
    return (
        (not query.model or row.model == query.model)
        and (not query.root or row.root == query.root)
        and (not query.format or row.format == ("" if query.format == OWN else query.format))
        and (query.since is None or row.opened >= query.since)
        and (query.until is None or row.opened < query.until)
    )


def found_in(kept: Iterable[Kept], query: Query, session: str = "") -> bool:
    """Whether text, tool and path are somewhere in these lines, each for itself; lines are read until all are found."""
    missing = [fits for asked, fits in _SEARCHES if getattr(query, asked)]
    for one in kept if missing else ():
        told = facts_one_by_one(one.entry(session))
        missing = [fits for fits in missing if not any(fits(facts, query) for facts in told)]
        if not missing:
            break
    return not missing


def folded(text: str) -> str:
    """How texts are compared."""
    return text.casefold()


def tool_fits(tool: str, asked: str) -> bool:
    return tool == asked or fnmatchcase(tool, asked)


def path_fits(path: str, asked: str) -> bool:
    return path == asked or path.endswith(asked if asked.startswith("/") else f"/{asked}")


_SEARCHES: tuple[tuple[str, Callable[[LineFacts, Query], bool]], ...] = (
    ("text", lambda facts, query: any(folded(query.text) in folded(text) for text in facts.texts)),
    ("tool", lambda facts, query: bool(facts.tool) and tool_fits(facts.tool, query.tool)),
    ("path", lambda facts, query: any(path_fits(path, query.path) for path in facts.paths)),
)


# ---------------------------------------------------------------- sums


def summed(sessions: Iterable[Sequence[Kept]], by: By) -> list[Sums]:
    return added_up(one for kept in sessions for one in sums_of(kept, by))


def sums_of(kept: Sequence[Kept], by: By) -> list[Sums]:
    """What one session adds: to its group, or to each of its tools."""
    row = row_of(kept)
    shares = _shares(kept, row.session)
    whole = shares.pop("")
    return [
        Sums(
            group=name, sessions=1, turns=row.turns, calls=share.calls, statuses=dict(+share.statuses),
            result_bytes=share.result_bytes, produced=whole.produced, shown=whole.shown,
        )
        for name, share in (shares if by == "tool" else {group_of(row, by): whole}).items()
    ]  # fmt: skip


def added_up(sums: Iterable[Sums]) -> list[Sums]:
    """By group, the one with most sessions first."""
    groups: dict[str, Sums] = {}
    for one in sums:
        old = groups.get(one.group, Sums(group=one.group))
        groups[one.group] = Sums(
            group=one.group, sessions=old.sessions + one.sessions, turns=old.turns + one.turns, calls=old.calls + one.calls,
            statuses=dict(Counter(old.statuses) + Counter(one.statuses)), result_bytes=old.result_bytes + one.result_bytes,
            produced=old.produced + one.produced, shown=old.shown + one.shown,
        )  # fmt: skip
    return sorted(groups.values(), key=lambda one: (-one.sessions, one.group))


def group_of(row: SessionRow, by: By) -> str:
    """Of a session, for all but tools."""
    match by:
        case "model":
            return row.model
        case "root":
            return row.root
        case "format":
            return row.format or OWN
        case _:
            return iso(row.opened)[:10]


@dataclass(slots=True)
class _Share:
    calls: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    result_bytes: int = 0
    produced: int = 0
    shown: int = 0

    def add(self, facts: LineFacts) -> None:
        self.calls += facts.calls
        self.statuses[facts.status] += bool(facts.status)
        self.result_bytes += facts.result_bytes
        self.produced += facts.produced
        self.shown += facts.shown


def _shares(kept: Sequence[Kept], session: str) -> dict[str, _Share]:
    """Of the session under "", and of each tool under its name."""
    shares = {"": _Share()}
    tools: dict[str, str] = {}  # by the id of their calls
    for one in kept:
        if one.line.type not in ("settled", "ended", "item"):
            continue
        for facts in facts_one_by_one(replace(one, line=_without_values(one.line)).entry(session)):
            shares[""].add(facts)
            if facts.calls and facts.call_id:
                tools[facts.call_id] = facts.tool
            tool = facts.tool or tools.get(facts.call_id, "")
            if tool:
                shares.setdefault(tool, _Share()).add(facts)
    return shares


def _without_values(line: Line) -> Line:
    """What counts is in the line; values that stand beside it need not be fetched for it."""
    if line.type == "settled":
        return replace(line, payload=_slim_call(line.payload))
    if line.type == "ended":
        payload = {name: one for name, one in line.payload.items() if name not in ("said", "items")}
        if isinstance(left := payload.get("left"), list):
            payload["left"] = [_slim_call(one) if isinstance(one, dict) else one for one in left]
        return replace(line, payload=payload)
    return line


def _slim_call(told: Mapping[str, Any]) -> Mapping[str, Any]:
    outcome = told.get("outcome")
    if not isinstance(outcome, dict) or "status" not in outcome:
        return told
    return {**told, "outcome": {name: one for name, one in outcome.items() if name != "value"}, "arguments": {}}
