"""What goes into the tables beside the entries themselves: the row of the session carried on, and rows to search and to sum.

Pure. The same facts as `scanning.py` reads from whole sessions, told line by line.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

from harness.entries import Began, Ended, Entry, Item, Opened
from harness.store import SessionRow
from harness.store.lines import Line, iso
from harness.store.scanning import LineFacts, facts_of, facts_one_by_one, folded
from harness.store.sql_schema import storable

Row: TypeAlias = dict[str, Any]
NAME_CHARS: Final = 256  # names are cut to it: an index does not take one of any length


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The row of a session, with what is needed to carry it on."""

    row: SessionRow
    produced: int = 0
    shown: int = 0
    tools: Mapping[str, str] = field(default_factory=dict)  # of imported calls, by the id that their outputs name

    def as_row(self) -> Row:
        told = {name: getattr(self.row, name) for name in SessionRow.__slots__}
        return {**told, "day": iso(self.row.opened)[:10], "produced": self.produced, "shown": self.shown}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """All rows of one append, but those of big values."""

    head: Head  # after it
    entries: list[Row]
    turns: list[Row]
    calls: list[Row]
    paths: list[Row]
    texts: list[Row]


class Told(NamedTuple):
    """A line, and what it tells: several things where it is a record of another agent, or an end with calls left."""

    line: Line
    entry: Entry
    facts: tuple[LineFacts, ...]


def batch_of(head: Head | None, session: str, lines: Sequence[tuple[Line, Entry]]) -> Batch:
    """For lines that follow the head; there is at least one."""
    head = head or _begun(session, *lines[0])
    told = [Told(line, entry, facts_one_by_one(entry)) for line, entry in lines]
    facts = [one for each in told for one in each.facts]
    tools = dict(head.tools)
    return Batch(
        calls=_call_rows(session, told, tools),
        head=replace(_carried_on(head, lines, facts), tools=tools),
        entries=[_entry_row(session, line) for line, _ in lines],
        turns=_turn_rows(session, told),
        paths=[_path_row(session, path) for path in dict.fromkeys(path for one in facts for path in one.paths)],
        texts=[
            {"session": session, "seq": each.line.seq, "folded": searchable(text)}
            for each in told
            for one in each.facts
            for text in one.texts
            if text
        ],
    )


def searchable(text: str) -> str:
    """As texts are kept to be found, and looked for."""
    return storable(folded(text))


def name_of(path: str) -> str:
    """The last part: two paths of which one ends in the other have the same."""
    return path.rpartition("/")[2][:NAME_CHARS]


def _begun(session: str, line: Line, entry: Entry) -> Head:
    row = SessionRow(session=session, opened=line.at, last=line.at, lines=0, turns=0)
    if isinstance(entry, Opened):
        facts = entry.facts
        branch = "" if facts.git is None else facts.git.branch
        row = replace(row, root=facts.root, model=facts.model, branch=branch, format=facts.format)
    return Head(row=row)


def _carried_on(head: Head, lines: Sequence[tuple[Line, Entry]], facts: Sequence[LineFacts]) -> Head:
    last, _ = lines[-1]
    row = replace(
        head.row, last=last.at, lines=last.seq, digest=last.digest, closed=last.type == "closed",
        turns=max(head.row.turns, *(line.turn for line, _ in lines)),
        title=head.row.title or next((title for _, entry in lines if (title := facts_of(entry).title)), ""),
    )  # fmt: skip
    produced, shown = sum(one.produced for one in facts), sum(one.shown for one in facts)
    return replace(head, row=row, produced=head.produced + produced, shown=head.shown + shown)


def _entry_row(session: str, line: Line) -> Row:
    return {
        "session": session, "seq": line.seq, "at": line.at, "type": line.type, "turn": line.turn,
        "body": line.to_bytes().decode(),
    }  # fmt: skip


def _call_rows(session: str, told: Sequence[Told], tools: dict[str, str]) -> list[Row]:
    """Calls, and outputs in lines of their own. Tools of calls are put under their ids: outputs that follow look there."""
    rows: list[Row] = []
    for line, _, several in told:
        for place, facts in enumerate(several):
            if facts.calls and facts.call_id:
                tools[facts.call_id] = facts.tool
            if facts.calls or facts.tool or facts.status or facts.result_bytes:
                tool = facts.tool or tools.get(facts.call_id, "")
                rows.append(
                    {
                        "session": session, "seq": line.seq, "place": place, "turn": line.turn, "calls": facts.calls,
                        "call_id": facts.call_id, "tool": tool[:NAME_CHARS], "status": facts.status,
                        "result_bytes": facts.result_bytes, "seconds": facts.seconds,
                    }
                )  # fmt: skip
    return rows


def _path_row(session: str, path: str) -> Row:
    sha = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
    return {"session": session, "sha256": sha, "name": name_of(path), "path": path}


def _turn_rows(session: str, told: Sequence[Told]) -> list[Row]:
    """What the lines add to their turns: None, and 0, where they add nothing."""
    turns: dict[int, Row] = {}
    for line, entry, facts in told:
        if not line.turn:
            continue
        turn = turns.setdefault(line.turn, _NO_TURN | {"session": session, "number": line.turn})
        turn["calls"] += sum(one.calls for one in facts)
        turn["result_bytes"] += sum(one.result_bytes for one in facts)
        match entry:
            case Began():
                turn |= {"began": line.at, "script_sha256": entry.sha256}
            case Ended():
                turn |= {"ended": line.at, "how": entry.ending.how}
            case Item():
                turn["began"] = line.at if turn["began"] is None else turn["began"]
    return list(turns.values())


_NO_TURN: Final[Row] = {"began": None, "ended": None, "how": None, "script_sha256": None, "calls": 0, "result_bytes": 0}
