"""What only the SQL stores promise, on SQLite and on a real PostgreSQL; what all stores promise is in tests/contracts."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from sqlalchemy import func, select, text

from harness.call import Outcome
from harness.entries import Began, Closed, Ended, Ending, Entry, Facts, Git, Item, Message, Opened, Settled
from harness.store import By, NoSession, Query, SessionBusy, Store, StoreFailed
from harness.store.lines import BadLine, MissingValue, first_break
from harness.store.memory import MemoryStore
from harness.store.sql import SqlStore, TurnVersion
from harness.store.sql_engine import connected_engine, parse_address, reading, writing
from harness.store.sql_schema import BIG_VALUES, ENTRIES, METADATA, TURNS
from harness.store.sql_values import BigValues
from sandbox import Site
from tests.contracts.sql_stores import opened
from tests.postgres import server

pytestmark = pytest.mark.anyio
BIG = "a line of a big text\n" * 1000


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/sessions.db"
        return
    with server().database() as address:
        yield address


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    async with opened(url) as store:
        yield store


def said(number: int, *, session: str = "s") -> Message:
    return Message(session=session, at=1000.0 + number, role="user", text=f"message {number}")


def turn(session: str, *, value: object = None, script: str = "return 1", tool: str = "files.read") -> list[Entry]:
    arguments = {"path": "src/größe.py"}
    outcome = Outcome(status="returned", value=value, size=7)
    return [
        Began(session=session, at=1001.0, turn=1, script=script, sha256="a" * 64),
        Settled(
            session=session,
            at=1002.0,
            turn=1,
            call=1,
            tool=tool,
            site=Site(1, 1),
            arguments=arguments,
            outcome=outcome,
            seconds=0.5,
        ),
        Ended(session=session, at=1003.0, turn=1, ending=Ending(how="finished"), text="shown \0 and half a pair \ud83d"),
    ]


async def kept(store: Store, *entries: Entry) -> None:
    writer = await store.write(entries[0].session, at=entries[0].at)
    await writer.append(*entries)
    await writer.close()


def count(url: str) -> dict[str, int]:
    """Rows by table."""
    engine = connected_engine(parse_address(url), pool_size=1)
    with reading(engine) as connection:
        rows = {name: connection.scalar(select(func.count()).select_from(table)) or 0 for name, table in METADATA.tables.items()}
    engine.dispose()
    return rows


# ------------------------------------------------------------ two writers


async def test_the_slower_of_two_writers_is_refused_when_it_appends_and_keeps_nothing(store: SqlStore, url: str) -> None:
    await kept(store, said(1))
    slow = await store.write("s", at=0.0)
    async with opened(url) as other:
        await kept(other, said(2))
        for _ in range(2):
            with pytest.raises(SessionBusy) as caught:
                await slow.append(said(3), said(4))
            assert str(caught.value) == (
                "another writer has appended line 2 of session s since line 1 was written here; nothing of this append is kept: "
                "close this writer, and open the session again to go on behind that line"
            )
    assert [one.line.payload["text"] for one in await store.load("s")] == ["message 1", "message 2"]
    await slow.close()
    await kept(store, said(3))
    assert first_break([one.line for one in await store.load("s")]) == ""


async def test_of_two_that_begin_a_session_one_is_refused(store: SqlStore, url: str) -> None:
    slow = await store.write("s", at=0.0)
    async with opened(url) as other:
        await kept(other, said(1))
    with pytest.raises(SessionBusy, match=r"^another writer has appended line 1 of session s since it was opened here"):
        await slow.append(said(1))
    assert len(await store.load("s")) == 1


async def test_a_session_that_was_removed_elsewhere_is_not_gone_on_with(store: SqlStore, url: str) -> None:
    await kept(store, said(1))
    writer = await store.write("s", at=0.0)
    async with opened(url) as other:
        await other.remove("s")
    with pytest.raises(SessionBusy, match=r"^session s was removed since line 1 was written here"):
        await writer.append(said(2))
    assert not any(count(url).values())


async def test_a_session_that_was_begun_anew_elsewhere_is_not_gone_on_with(store: SqlStore, url: str) -> None:
    await kept(store, said(1), said(2))
    writer = await store.write("s", at=0.0)
    async with opened(url) as other:
        await other.remove("s")
        await kept(other, said(7))
    with pytest.raises(SessionBusy, match=r"^another writer has appended line 1 of session s since line 2 was written here"):
        await writer.append(said(3))
    assert [one.line.payload["text"] for one in await store.load("s")] == ["message 7"]


async def test_one_store_refuses_a_second_writer_and_a_removal_at_once(store: SqlStore) -> None:
    writer = await store.write("s", at=0.0)
    await writer.append(said(1))
    with pytest.raises(SessionBusy, match="is being written already"):
        await store.write("s", at=0.0)
    with pytest.raises(SessionBusy, match="close it before it is removed"):
        await store.remove("s")
    await writer.close()
    with pytest.raises(StoreFailed, match="this writer of session s is closed; open another one"):
        await writer.append(said(2))
    second = await store.write("s", at=0.0)
    await writer.close()
    with pytest.raises(SessionBusy, match="close it before it is removed"):
        await store.remove("s")
    await second.close()
    await store.remove("s")


async def test_twenty_tasks_append_to_sessions_of_their_own(store: SqlStore) -> None:
    async def write(number: int) -> None:
        writer = await store.write(f"s{number}", at=0.0)
        for one in range(5):
            await writer.append(said(one, session=f"s{number}"))
        await writer.close()

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(write, number)
    assert [row.lines for row in await store.sessions()] == [5] * 20


# ------------------------------------------------------------ what is in the tables


async def test_a_line_is_kept_as_its_bytes(store: SqlStore, url: str) -> None:
    await kept(store, *turn("s", value={"b": 1e300, "a": [2**70, -0.0, "\0\ud800"]}))
    engine = connected_engine(parse_address(url), pool_size=1)
    with reading(engine) as connection:
        bodies = connection.scalars(select(ENTRIES.c.body).order_by(ENTRIES.c.seq)).all()
    engine.dispose()
    assert [body.encode() for body in bodies] == [one.line.to_bytes() for one in await store.load("s")]


async def test_a_line_that_cannot_be_read_is_named(store: SqlStore, url: str) -> None:
    await kept(store, said(1), said(2))
    engine = connected_engine(parse_address(url), pool_size=1)
    with writing(engine) as connection:
        connection.execute(ENTRIES.update().where(ENTRIES.c.seq == 2).values(body='{"v": 1'))
    engine.dispose()
    with pytest.raises(BadLine, match=r"^session s, line 2: not a whole JSON object$"):
        await store.load("s")
    assert len(await store.load("s", most=1)) == 1


async def test_a_turn_has_a_row_that_its_lines_fill(store: SqlStore, url: str) -> None:
    began, settled, ended = turn("s")
    writer = await store.write("s", at=0.0)
    await writer.append(began)
    await writer.append(settled, settled)
    await writer.append(ended)
    await writer.close()
    engine = connected_engine(parse_address(url), pool_size=1)
    with reading(engine) as connection:
        rows = connection.execute(select(TURNS)).all()
    engine.dispose()
    assert [tuple(row) for row in rows] == [("s", 1, 1001.0, 1003.0, "finished", "a" * 64, 2, 14)]


async def test_a_value_is_kept_once_and_goes_with_the_last_session_that_has_it(store: SqlStore, url: str) -> None:
    await kept(store, *turn("one", value=BIG))
    await kept(store, *turn("two", value=BIG))
    assert count(url)["big_values"] == 1
    await store.remove("one")
    [_, settled, _] = [one.entry("two") for one in await store.load("two")]
    assert isinstance(settled, Settled) and settled.outcome.value == BIG
    await store.put_version("two", 1, "S", "short", 2, 5.0)
    await store.remove("two")
    assert not any(count(url).values())


async def test_values_are_fetched_when_asked_for_and_the_newest_stay_at_hand(store: SqlStore, url: str) -> None:
    texts = [f"{number} {BIG}" for number in range(3)]
    await kept(store, *(one for text in texts for one in turn("s", value=text)))
    shas = [next(iter(one.blobs())) for one in await store.load("s") if one.line.type == "settled"]
    engine = connected_engine(parse_address(url), pool_size=1)
    values = BigValues(engine, cached_bytes=2 * len(texts[0]) + 100)
    assert [values.blob(sha).decode() for sha in shas] == texts
    with writing(engine) as connection:
        connection.execute(text("DELETE FROM session_values"))
        connection.execute(BIG_VALUES.delete())
    assert [values.blob(sha).decode() for sha in shas[1:]] == texts[1:]
    with pytest.raises(MissingValue, match="is not in the database"):
        values.blob(shas[0])
    engine.dispose()


async def test_long_sessions_are_loaded_page_by_page(store: SqlStore) -> None:
    await kept(store, *(said(number) for number in range(1201)))
    assert [one.line.seq for one in await store.load("s")] == list(range(1, 1202))
    assert [one.line.seq for one in await store.load("s", after=600, most=550)] == list(range(601, 1151))


async def test_versions_of_turns_are_kept_by_level_and_the_newest_wins(store: SqlStore) -> None:
    await kept(store, *turn("s"))
    await store.put_version("s", 1, "S", "first \0", 4, 10.0)
    await store.put_version("s", 1, "S", "second \ud800", 3, 11.0, by="model")
    await store.put_version("s", 2, "T", "title", 1, 12.0)
    second = TurnVersion(turn=1, level="S", content="second \ud800", tokens=3, at=11.0, by="model")
    title = TurnVersion(turn=2, level="T", content="title", tokens=1, at=12.0)
    assert await store.versions("s") == [second, title]
    assert await store.versions("s", turn=1) == await store.versions("s", level="S") == [second]
    with pytest.raises(NoSession, match=r"^no session other is kept here$"):
        await store.put_version("other", 1, "S", "", 0, 0.0)


# ------------------------------------------------------------ search

TEXTS = ["STRASSE", "straße", "größe 1", "x", "zz", "\0 and", "pair \ud83d", "100%", "_", 'say "', "no\\w", "message", "' OR 1=1"]
QUERIES = [
    *(Query(text=text) for text in TEXTS),
    *(Query(tool=tool) for tool in ("files.*", "files.read", "?iles.[qr]ead", "files.[!r]ead", "files", "shell.[", "*")),
    *(Query(path=path) for path in ("src/größe.py", "größe.py", "/größe.py", "e.py", "rc/größe.py", "/src/größe.py", "src/", "%")),
    Query(tool="Bash"), Query(text="an output"), Query(path="x.py"), Query(format="claude"),
    Query(since=101.0), Query(until=101.0), Query(since=101.0, until=102.0), Query(most=2, skip=1), Query(skip=2), Query(most=0),
    Query(model="m\ud800"), Query(model="m"), Query(root="/r\0"), Query(format="own"), Query(format="codex"),
    Query(text="straße", tool="files.*", path="größe.py", model="m\ud800", root="/r\0"),
]  # fmt: skip
CALLS = [
    {"type": "tool_use", "id": id, "name": name, "input": {"file_path": "x.py"}} for id, name in (("a", "Read"), ("b", "Bash"))
]
OUTPUTS = [{"type": "tool_result", "tool_use_id": id, "content": "an output", "is_error": id == "a"} for id in "ba"]
IMPORTED: list[list[Entry]] = [  # two calls in one line, and their outputs after the writer was closed
    [
        Opened(session="claude", at=102.0, facts=Facts(format="claude")),
        Item(
            session="claude",
            at=103.0,
            turn=1,
            format="claude",
            kind="assistant/tool_use",
            raw={"message": {"role": "assistant", "content": CALLS}},
        ),
    ],
    [
        Item(
            session="claude",
            at=104.0,
            turn=1,
            format="claude",
            kind="user/tool_result",
            raw={"message": {"role": "user", "content": OUTPUTS}},
        )
    ],
]
SCRIPTS = ["// Größe 1\nStraße", "// 100% _ 'x'", 'say "no\\where"', "' OR 1=1 --"]


async def fill(store: Store) -> None:
    for number, script in enumerate(SCRIPTS):
        session = f"s{number}"
        facts = Facts(root="/r\0", model="m\ud800" if number else "m", git=Git(branch="b"), format="codex" if number == 3 else "")
        first = Opened(session=session, at=100.0 + number // 2 * 86_400, facts=facts)
        await kept(store, first, *turn(session, script=script, tool="shell.[" if number == 2 else "files.read"))
    for entries in IMPORTED:
        await kept(store, *entries)
    await kept(store, Opened(session="talk", at=101.0, facts=Facts()), said(1, session="talk"), Closed(session="talk", at=2000.0))


async def test_search_finds_what_reading_every_line_finds(store: SqlStore) -> None:
    await fill(store)
    await compare(store)


async def test_search_without_an_index_finds_the_same(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sessions.db"
    async with opened(url):
        pass
    forget_index(url)
    async with opened(url) as store:
        await fill(store)
        await compare(store)


async def compare(store: SqlStore) -> None:
    memory = MemoryStore()
    await fill(memory)
    by_tool = {one.group: (one.calls, one.statuses) for one in await store.sums("tool", Query(format="claude"))}
    assert by_tool == {"Read": (1, {"failed": 1}), "Bash": (1, {"returned": 1})}
    groups: tuple[By, ...] = ("model", "tool", "day", "root", "format")
    for query in QUERIES:
        assert list(await store.sessions(query)) == list(await memory.sessions(query)), query
        for by in groups:
            assert list(await store.sums(by, query)) == list(await memory.sums(by, query)), (by, query)


def forget_index(url: str) -> None:
    """As where SQLite was built without FTS5."""
    engine = connected_engine(parse_address(url), pool_size=1)
    with writing(engine) as connection:
        for statement in ("DROP TRIGGER texts_inserted", "DROP TRIGGER texts_deleted", "DROP TABLE texts_index"):
            connection.execute(text(statement))
    engine.dispose()
