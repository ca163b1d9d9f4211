"""Which sessions fit a query, and their sums, as SQL: what `scanning.py` finds by reading. The contract compares both."""

from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Subquery,
    case,
    column,
    func,
    literal_column,
    or_,
    select,
    table,
)

from harness.store import By, Query, SessionRow, Sums
from harness.store.scanning import OWN, tool_fits
from harness.store.sql_rows import NAME_CHARS, Head, name_of, searchable
from harness.store.sql_schema import CALLS, PATHS, SESSIONS, TEXTS

_TRIGRAM: Final = 3
_MOST_TRIGRAMS: Final = 64  # of a long text; what they let through is compared whole anyway
_ROW: Final = [SESSIONS.c[name] for name in SessionRow.__slots__]
_GROUPS: Final[dict[By, ColumnElement[str]]] = {
    "model": SESSIONS.c.model,
    "root": SESSIONS.c.root,
    "day": SESSIONS.c.day,
    "format": case((SESSIONS.c.format == "", OWN), else_=SESSIONS.c.format),
    "tool": CALLS.c.tool,
}


def find_sessions(connection: Connection, query: Query, *, indexed: bool) -> list[SessionRow]:
    """The newest first. `indexed`: this SQLite has the index of trigrams."""
    name = SESSIONS.c.session if connection.dialect.name == "sqlite" else SESSIONS.c.session.collate("C")
    found = select(*_ROW).where(*_conditions(connection, query, indexed=indexed))
    page = found.order_by(SESSIONS.c.opened.desc(), name.desc()).limit(query.most).offset(query.skip or None)
    return [SessionRow(**row._mapping) for row in connection.execute(page)]


def find_head(connection: Connection, session: str) -> Head | None:
    sums = (SESSIONS.c.produced, SESSIONS.c.shown)
    row = connection.execute(select(*_ROW, *sums).where(SESSIONS.c.session == session)).one_or_none()
    if row is None:
        return None
    *told, produced, shown = row
    head = SessionRow(**dict(zip(SessionRow.__slots__, told, strict=True)))
    tools = _imported_tools(connection, session) if head.format else {}
    return Head(row=head, produced=produced, shown=shown, tools=tools)


def _imported_tools(connection: Connection, session: str) -> dict[str, str]:
    calls = select(CALLS.c.call_id, CALLS.c.tool).where(CALLS.c.session == session, CALLS.c.calls == 1, CALLS.c.call_id != "")
    return {row.call_id: row.tool for row in connection.execute(calls.order_by(CALLS.c.seq, CALLS.c.place))}


# ---------------------------------------------------------------- conditions


def _conditions(connection: Connection, query: Query, *, indexed: bool) -> list[ColumnElement[bool]]:
    held = [
        SESSIONS.c[name] == ("" if (name, asked) == ("format", OWN) else asked)
        for name, asked in (("model", query.model), ("root", query.root), ("format", query.format))
        if asked
    ]
    if query.since is not None:
        held.append(SESSIONS.c.opened >= query.since)
    if query.until is not None:
        held.append(SESSIONS.c.opened < query.until)
    if query.text:
        held.append(_has_text(connection, query.text, indexed=indexed))
    if query.tool:
        held.append(_has_tool(connection, query.tool))
    if query.path:
        held.append(_has_path(query.path))
    return held


def _has_text(connection: Connection, asked: str, *, indexed: bool) -> ColumnElement[bool]:
    needle = searchable(asked)
    if connection.dialect.name == "postgresql":  # a LIKE can use the index of trigrams where there is one
        found = TEXTS.c.folded.contains(needle, autoescape=True)
    else:
        found = func.instr(TEXTS.c.folded, needle) > 0
    sessions = select(TEXTS.c.session).where(found)
    if indexed and len(needle) >= _TRIGRAM:
        rows: Select[Any] = select(column("rowid", Integer)).select_from(table("texts_index"))
        sessions = sessions.where(TEXTS.c.id.in_(rows.where(literal_column("texts_index").op("MATCH")(trigrams(needle)))))
    return SESSIONS.c.session.in_(sessions)


def trigrams(needle: str) -> str:
    """For FTS5: all have to be in a text that holds the needle. Which texts do, is looked at then."""
    every = dict.fromkeys(needle[at : at + _TRIGRAM] for at in range(len(needle) - _TRIGRAM + 1))
    quoted = ('"' + one.replace('"', '""') + '"' for one in list(every)[:_MOST_TRIGRAMS])
    return " AND ".join(quoted)


def _has_tool(connection: Connection, asked: str) -> ColumnElement[bool]:
    names = {asked[:NAME_CHARS]}
    if any(sign in asked for sign in "*?["):
        names |= {name for name in connection.scalars(select(CALLS.c.tool).distinct()) if tool_fits(name, asked)}
    return SESSIONS.c.session.in_(select(CALLS.c.session).where(CALLS.c.tool.in_(names), CALLS.c.tool != ""))


def _has_path(asked: str) -> ColumnElement[bool]:
    end = asked if asked.startswith("/") else f"/{asked}"
    first = func.length(PATHS.c.path) - len(end) + 1
    fits = or_(PATHS.c.path == asked, (first > 0) & (func.substr(PATHS.c.path, first, type_=PATHS.c.path.type) == end))
    return SESSIONS.c.session.in_(select(PATHS.c.session).where(PATHS.c.name == name_of(asked), fits))


# ---------------------------------------------------------------- sums


def sum_sessions(connection: Connection, by: By, query: Query, *, indexed: bool) -> list[Sums]:
    fitting = select(SESSIONS.c.session).where(*_conditions(connection, query, indexed=indexed)).subquery("fitting")
    calls = _calls_by_group(connection, by, fitting)
    found = [
        Sums(
            group=row.name, sessions=row.sessions, turns=int(row.turns), produced=int(row.produced), shown=int(row.shown), **told
        )
        for row in connection.execute(_sessions_by_group(by, fitting))
        for told in (calls.get(row.name, {}),)
    ]
    return sorted(found, key=lambda one: (-one.sessions, one.group))


def _sessions_by_group(by: By, fitting: Subquery) -> Any:
    name = _GROUPS[by]
    places: Any = SESSIONS.join(fitting, fitting.c.session == SESSIONS.c.session)
    if by == "tool":
        used = select(CALLS.c.session, CALLS.c.tool).where(CALLS.c.tool != "").distinct().subquery("used")
        name = used.c.tool
        places = places.join(used, used.c.session == SESSIONS.c.session)
    sums = [func.sum(SESSIONS.c[one]).label(one) for one in ("turns", "produced", "shown")]
    return select(name.label("name"), func.count().label("sessions"), *sums).select_from(places).group_by(name)


def _calls_by_group(connection: Connection, by: By, fitting: Subquery) -> dict[str, dict[str, Any]]:
    """Calls, statuses and result bytes, as `Sums` has them."""
    name = _GROUPS[by]
    places = CALLS.join(fitting, fitting.c.session == CALLS.c.session).join(SESSIONS, SESSIONS.c.session == CALLS.c.session)
    counts = (func.count().label("lines"), func.sum(CALLS.c.calls).label("calls"), func.sum(CALLS.c.result_bytes).label("size"))
    rows = select(name.label("name"), CALLS.c.status, *counts).select_from(places).group_by(name, CALLS.c.status)
    groups: dict[str, dict[str, Any]] = {}
    for row in connection.execute(rows):
        group = groups.setdefault(row.name, {"calls": 0, "statuses": {}, "result_bytes": 0})
        group["calls"] += int(row.calls)
        group["result_bytes"] += int(row.size)
        if row.status:
            group["statuses"][row.status] = row.lines
    return groups
