"""One contract for every store: what goes in comes out, in order, whole; lists, searches and sums are the same in all of them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.entries import Began, Closed, Ended, Ending, Entry, Item, Running
from harness.ledger import Ledger
from harness.store import NoSession, Query, SessionBusy, SessionRow, Store, Sums
from harness.store.jsonl import JsonlStore
from harness.store.lines import START, Kept, decode, encode, first_break, read_line
from harness.store.memory import MemoryStore
from tests.contracts.entry_samples import AT, NASTY, SITE, one_of_each, opened, said, settled
from tests.contracts.sql_stores import postgresql_store, sqlite_store

pytestmark = pytest.mark.anyio
KINDS = ("memory", "jsonl", "sqlite", "postgresql")
DAY = 86_400.0


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with AsyncExitStack() as stack:
        match request.param:
            case "memory":
                yield MemoryStore()
            case "jsonl":
                made = JsonlStore(tmp_path / "sessions")
                yield made
                await made.close()
            case "sqlite":
                yield await stack.enter_async_context(sqlite_store(tmp_path))
            case "postgresql":
                yield await stack.enter_async_context(postgresql_store())


async def keep(store: Store, *entries: Entry) -> None:
    """All in one append, in a session of the first one's name."""
    writer = await store.write(entries[0].session, at=entries[0].at)
    await writer.append(*entries)
    await writer.close()


async def told(store: Store, session: str = "s", **page: Any) -> list[Entry]:
    return [kept.entry(session) for kept in await store.load(session, **page)]


async def names(store: Store, **query: Any) -> list[str]:
    return [row.session for row in await store.sessions(Query(**query))]


# ------------------------------------------------------------ what goes in comes out


def test_the_samples_hold_every_type_of_entry() -> None:
    union = get_args(get_args(Entry)[0])
    assert {type(entry) for entry in one_of_each()} == set(union)


async def test_every_type_of_entry_comes_back_as_it_was(store: Store) -> None:
    entries = one_of_each()
    writer = await store.write("s", at=AT)
    for entry in entries:
        await writer.append(entry)
    await writer.close()
    assert await told(store) == entries


async def test_values_that_are_hard_to_write_down_come_back_as_they_were(store: Store) -> None:
    for number, (name, value) in enumerate(NASTY.items()):
        session = f"s{number}"
        entries = [opened(session), said(repr(value), session), settled(value, session), settled({"again": value}, session)]
        await keep(store, *entries)
        back = await told(store, session)
        assert back == entries and repr(back) == repr(entries), name  # 0.0 equals -0.0


async def test_texts_with_halves_of_pairs_and_nul_come_back(store: Store) -> None:
    texts = ["\ud800", "\0", "\udfff" * 3_000, "😀\ud83d"]
    await keep(store, opened(), *[said(text) for text in texts])
    assert [entry.text for entry in await told(store) if entry.type == "message"] == texts


async def test_lines_are_numbered_and_have_the_same_digests_in_every_store(store: Store) -> None:
    entries = one_of_each()
    expected = []
    before = START
    for seq, entry in enumerate(entries, 1):
        line, _ = encode(entry, seq=seq, before=before)
        expected.append(line)
        before = line.digest
    await keep(store, *entries)
    lines = [kept.line for kept in await store.load("s")]
    assert lines == expected and first_break(lines) == ""


async def test_pages_follow_each_other(store: Store) -> None:
    entries = [opened(), *[settled(["v" * 5_000, n], call=n) for n in range(1, 10)]]
    await keep(store, *entries)
    assert await told(store, after=3, most=4) == entries[3:7]
    assert await told(store, after=7, most=4) == entries[7:]  # where the page before ended
    assert await told(store, after=8) == entries[8:]
    assert await told(store, most=2) == entries[:2]
    assert await told(store, most=0) == [] and await told(store, after=10) == [] and await told(store, after=99, most=1) == []


async def test_a_session_goes_on_in_another_writer(store: Store) -> None:
    value = {"text": "same " * 1_000}
    await keep(store, opened(), settled(value))
    await keep(store, settled(value, call=2), Closed(session="s", at=AT + 2))
    kept = await store.load("s")
    assert [one.line.seq for one in kept] == [1, 2, 3, 4] and first_break([one.line for one in kept]) == ""
    assert [one.entry("s") for one in kept][1:3] == [settled(value), settled(value, call=2)]


async def test_the_writer_knows_the_newest_line(store: Store) -> None:
    writer = await store.write("s", at=AT)
    assert writer.last is None
    await writer.append(opened(), said("hello"))
    assert writer.last == (await store.load("s"))[-1].line
    await writer.append()
    assert writer.last is not None and writer.last.seq == 2
    await writer.close()
    again = await store.write("s", at=AT)
    assert again.last == writer.last
    await again.close()


async def test_what_is_being_written_can_be_read_meanwhile(store: Store) -> None:
    writer = await store.write("s", at=AT)
    for n in range(1, 4):
        await writer.append(opened() if n == 1 else settled("x" * 4_000 * n))
        assert len(await told(store)) == n
    await writer.close()


# ------------------------------------------------------------ what is not there, and who comes second


async def test_a_session_without_a_line_is_none(store: Store) -> None:
    writer = await store.write("s", at=AT)
    with pytest.raises(NoSession):
        await store.load("s")
    assert list(await store.sessions()) == []
    await writer.close()
    for wanted in (store.load, store.remove):
        with pytest.raises(NoSession, match="nobody"):
            await wanted("nobody")


async def test_a_second_writer_is_refused_and_keeps_nothing(store: Store) -> None:
    """At its opening, or at its first append."""
    first = await store.write("s", at=AT)
    await first.append(opened())
    with pytest.raises(SessionBusy):
        second = await store.write("s", at=AT)
        await first.append(said("of the first"))
        await second.append(said("of the second"))
    if len(await store.load("s")) == 1:
        await first.append(said("of the first"))
    await first.close()
    assert await told(store) == [opened(), said("of the first")]


# ------------------------------------------------------------ copies


@pytest.fixture(params=KINDS[:3])
async def other(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with AsyncExitStack() as stack:
        match request.param:
            case "memory":
                yield MemoryStore()
            case "jsonl":
                yield JsonlStore(tmp_path / "other", durability="flush")
            case "sqlite":
                (tmp_path / "other_sql").mkdir()
                yield await stack.enter_async_context(sqlite_store(tmp_path / "other_sql"))


async def test_a_copy_has_the_same_lines_and_values(store: Store, other: Store) -> None:
    await keep(other, *one_of_each(), settled(NASTY["big inside big"], turn=2))
    source = await other.load("s")
    writer = await store.write("s", at=AT)
    await writer.copy(source[:4])
    await writer.copy(source[4:])
    assert writer.last == source[-1].line
    await writer.close()
    copied = await store.load("s")
    assert [one.line for one in copied] == [one.line for one in source]
    assert [one.entry("s") for one in copied] == [one.entry("s") for one in source]
    assert list(await store.sessions()) == list(await other.sessions())


async def test_a_copy_with_a_gap_is_refused_and_the_writer_goes_on(store: Store) -> None:
    other = MemoryStore()
    await keep(other, *one_of_each())
    source = await other.load("s")
    writer = await store.write("s", at=AT)
    await writer.copy(source[:2])
    with pytest.raises(ValueError, match="line 5 does not follow line 2 of this session here"):
        await writer.copy(source[4:])
    with pytest.raises(ValueError, match="line 1 does not follow line 2"):
        await writer.copy(source)
    await writer.copy(source[2:3])
    await writer.close()
    assert await told(store) == one_of_each()[:3]


# ------------------------------------------------------------ removing


async def test_what_is_removed_is_gone_and_other_sessions_keep_their_values(store: Store) -> None:
    value = "shared " * 1_000
    await keep(store, opened(), settled(value))
    await keep(store, opened("t", AT + 1), settled(value, "t"))
    await store.remove("s")
    with pytest.raises(NoSession):
        await store.load("s")
    assert await names(store) == ["t"] and (await told(store, "t"))[1] == settled(value, "t")
    await keep(store, opened(), settled("new " * 2_000))
    assert (await told(store))[1] == settled("new " * 2_000)


# ------------------------------------------------------------ lists and searches

CODEX_CALL = {"type": "response_item", "payload": {
    "type": "function_call", "name": "shell_tool", "call_id": "c1", "arguments": '{"command": "ls"}'}}  # fmt: skip
CODEX_OUTPUT = {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "Needle in hay"}}
CODEX_USER = {"type": "response_item", "payload": {
    "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Mend the roof\nplease"}]}}  # fmt: skip


def item(raw: Any, at: float, turn: int = 0) -> Item:
    payload = raw["payload"]
    return Item(session="codex", at=at, turn=turn, format="codex", kind=f"{raw['type']}/{payload['type']}", raw=raw)


def turn(session: str, number: int, at: float, script: str, text: str, **ledger: int) -> tuple[Entry, Entry]:
    began = Began(session=session, at=at, turn=number, script=script, sha256="0" * 64)
    return began, Ended(
        session=session, at=at + 1, turn=number, ending=Ending(how="finished"), text=text, ledger=Ledger(**ledger)
    )


async def filled(store: Store) -> None:
    """Four sessions, not begun in the order of their ids."""
    await keep(
        store, opened("b", AT, model="big", root="/one"), said("Find the Needle, BITTE", "b", AT + 1),
        *turn("b", 1, AT + 2, "return files.read('x')", "shown Straße", produced=100, shown=10),
        settled({"hits": [{"path": "src/deep/util.py"}]}, "b", AT + 3, turn=1, tool="search.grep", size=50),
        settled(None, "b", AT + 3, turn=1, call=2, tool="files.read", arguments={"path": "src/main.py"}, status="failed", size=0),
        *turn("b", 2, AT + 9, "2", "two", produced=5, shown=5), Closed(session="b", at=AT + 20),
    )  # fmt: skip
    await keep(
        store, opened("a", AT + 100, model="small", root="/two"),
        *turn("a", 1, AT + 101, "\n\n  // first line\nshow(1)", "50% of_all 'quoted' \"double\" back\\slash", produced=7, shown=7),
        settled("x" * 5_000, "a", AT + 102, turn=1, tool="files.read", arguments={"path": "/abs/src/main.py"}, size=5_002),
    )  # fmt: skip
    await keep(
        store, opened("codex", AT + DAY, format="codex", model="big"), item(CODEX_USER, AT + DAY, 1), item(CODEX_CALL, AT + DAY + 1, 1),
        item(CODEX_OUTPUT, AT + DAY + 2, 1),
    )  # fmt: skip
    await keep(
        store, opened("c", AT + 0.5, model="big", root="/one"),
        Running(session="c", at=AT + 1, turn=1, call=1, tool="files.write", site=SITE, arguments={"path": "only/running.txt"}),
    )  # fmt: skip


async def test_lists_have_the_newest_first_and_tell_what_a_session_was(store: Store) -> None:
    await filled(store)
    rows = await store.sessions()
    assert [(row.session, row.opened, row.last, row.lines, row.turns, row.title, row.closed) for row in rows] == [
        ("codex", AT + DAY, AT + DAY + 2, 4, 1, "Mend the roof", False),
        ("a", AT + 100, AT + 102, 4, 1, "// first line", False),
        ("c", AT + 0.5, AT + 1, 2, 1, "", False),
        ("b", AT, AT + 20, 9, 2, "Find the Needle, BITTE", True),
    ]
    assert [(row.model, row.root, row.format) for row in rows] == [
        ("big", "", "codex"),
        ("small", "/two", ""),
        ("big", "/one", ""),
        ("big", "/one", ""),
    ]
    for row in rows:
        assert row.digest == (await store.load(row.session))[-1].line.digest


async def test_a_row_has_all_that_the_first_line_says(store: Store) -> None:
    entries = one_of_each()
    await keep(store, *entries)
    last = (await store.load("s"))[-1].line
    assert list(await store.sessions()) == [
        SessionRow(
            session="s", opened=AT, last=AT + 9, lines=len(entries), turns=2, root="/r", model="m", branch="main", title="Please look.",
            digest=last.digest, closed=True,
        )
    ]  # fmt: skip


SEARCHES: list[tuple[dict[str, Any], str]] = [
    ({}, "codex a c b"),
    ({"most": 2}, "codex a"),
    ({"most": 2, "skip": 1}, "a c"),
    ({"skip": 3}, "b"),
    ({"skip": 9}, ""),
    ({"most": 0}, ""),
    ({"text": "needle"}, "codex b"),
    ({"text": "NEEDLE, b"}, "b"),
    ({"text": "strasse"}, "b"),
    ({"text": "STRAßE"}, "b"),
    ({"text": "50% of_all"}, "a"),
    ({"text": "5_%"}, ""),
    ({"text": "'quoted' \"double\" back\\slash"}, "a"),
    ({"text": "first line\nshow"}, "a"),
    ({"text": "x"}, "b"),
    ({"text": "lo"}, ""),
    ({"text": "BITTEreturn"}, ""),
    ({"tool": "files.read"}, "a b"),
    ({"tool": "files.*"}, "a b"),
    ({"tool": "search.?rep"}, "b"),
    ({"tool": "*"}, "codex a b"),
    ({"tool": "shell_tool"}, "codex"),
    ({"tool": "Files.read"}, ""),
    ({"tool": "files_read"}, ""),
    ({"path": "src/main.py"}, "a b"),
    ({"path": "main.py"}, "a b"),
    ({"path": "ain.py"}, ""),
    ({"path": "/src/main.py"}, "a"),
    ({"path": "/abs/src/main.py"}, "a"),
    ({"path": "deep/util.py"}, "b"),
    ({"path": "running.txt"}, "c"),
    ({"path": "src/%.py"}, ""),
    ({"model": "big"}, "codex c b"),
    ({"root": "/one"}, "c b"),
    ({"format": "codex"}, "codex"),
    ({"format": "own"}, "a c b"),
    ({"since": AT + 0.5}, "codex a c"),
    ({"until": AT + 0.5}, "b"),
    ({"since": AT + 1, "until": AT + DAY}, "a"),
    ({"text": "needle", "tool": "files.read", "path": "util.py", "model": "big"}, "b"),
    ({"text": "needle", "tool": "shell_tool", "path": "util.py"}, ""),
    ({"model": "big", "most": 1, "skip": 1}, "c"),
]


async def test_every_part_of_a_query_chooses(store: Store) -> None:
    await filled(store)
    assert [(query, " ".join(await names(store, **query))) for query, _ in SEARCHES] == SEARCHES


async def test_sums_by_each_key(store: Store) -> None:
    await filled(store)
    one = Sums(
        group="/one", sessions=2, turns=3, calls=2, statuses={"returned": 1, "failed": 1}, result_bytes=50, produced=105, shown=15
    )
    two = Sums(group="/two", sessions=1, turns=1, calls=1, statuses={"returned": 1}, result_bytes=5_002, produced=7, shown=7)
    codex = Sums(group="", sessions=1, turns=1, calls=1, statuses=(await codex_status(store)), result_bytes=13)
    own = replace(
        one,
        group="own",
        sessions=3,
        turns=4,
        calls=3,
        statuses={"returned": 2, "failed": 1},
        result_bytes=5_052,
        produced=112,
        shown=22,
    )
    assert list(await store.sums("root")) == [one, codex, two]
    assert list(await store.sums("format")) == [own, replace(codex, group="codex")]
    assert [(row.group, row.sessions, row.calls) for row in await store.sums("model")] == [("big", 3, 3), ("small", 1, 1)]
    assert list(await store.sums("day")) == [replace(own, group="2025-11-18"), replace(codex, group="2025-11-19")]
    assert list(await store.sums("tool", Query(format="own"))) == [
        Sums(
            group="files.read",
            sessions=2,
            turns=3,
            calls=2,
            statuses={"returned": 1, "failed": 1},
            result_bytes=5_002,
            produced=112,
            shown=22,
        ),
        Sums(
            group="search.grep", sessions=1, turns=2, calls=1, statuses={"returned": 1}, result_bytes=50, produced=105, shown=15
        ),
    ]
    assert list(await store.sums("tool", Query(format="codex"))) == [replace(codex, group="shell_tool")]
    assert list(await store.sums("root", Query(text="nowhere"))) == []


async def codex_status(store: Store) -> dict[str, int]:
    """What the reader of the format says of the output; it is not this contract's business."""
    reference = MemoryStore()
    await filled(reference)
    return dict((await reference.sums("format", Query(format="codex")))[0].statuses)


# ------------------------------------------------------------ many at once, and cancelled


async def test_many_sessions_are_written_at_once(store: Store) -> None:
    async def write(n: int) -> None:
        writer = await store.write(f"s{n}", at=AT + n)
        await writer.append(opened(f"s{n}", AT + n))
        for k in range(5):
            await writer.append(settled(f"{n} {k} " * 1_000, f"s{n}", call=k), said(f"m{k}", f"s{n}"))
        await writer.close()

    async with anyio.create_task_group() as tasks:
        for n in range(8):
            tasks.start_soon(write, n)
    assert await names(store) == [f"s{n}" for n in reversed(range(8))]
    for n in range(8):
        kept = await store.load(f"s{n}")
        assert len(kept) == 11 and first_break([one.line for one in kept]) == ""
        assert kept[9].entry(f"s{n}") == settled(f"{n} 4 " * 1_000, f"s{n}", call=4)


async def test_appends_of_one_writer_from_many_tasks_stand_one_after_the_other(store: Store) -> None:
    writer = await store.write("s", at=AT)
    await writer.append(opened())
    async with anyio.create_task_group() as tasks:
        for n in range(10):
            tasks.start_soon(writer.append, settled("v" * 3_000, call=n), settled("w" * 3_000, call=n))
    await writer.close()
    lines = [kept.line for kept in await store.load("s")]
    calls = [line.payload["call"] for line in lines[1:]]
    assert first_break(lines) == "" and calls[::2] == calls[1::2] and sorted(calls[::2]) == list(range(10))


async def test_a_cancelled_append_is_on_record_or_not_and_the_writer_says_which(store: Store) -> None:
    writer = await store.write("s", at=AT)
    await writer.append(opened())
    for n in range(20):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(writer.append, settled("x" * (1 if n % 2 else 300_000), call=n), said(str(n)))
                for _ in range(n % 5):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
        lines = [kept.line for kept in await store.load("s")]
        assert writer.last == lines[-1] and len(lines) % 2 == 1 and first_break(lines) == ""
    await writer.append(Closed(session="s", at=AT + 1))
    await writer.close()
    assert (await told(store))[-1] == Closed(session="s", at=AT + 1)


async def test_a_writer_can_be_closed_twice_and_under_cancellation(store: Store) -> None:
    with anyio.CancelScope() as scope:
        writer = await store.write("s", at=AT)
        await writer.append(opened())
        scope.cancel()
        await writer.close()
    await writer.close()
    await keep(store, said("goes on"))
    assert len(await store.load("s")) == 2


# ------------------------------------------------------------ the chain


async def test_an_edited_and_a_missing_line_are_named(store: Store) -> None:
    await keep(store, *one_of_each())
    lines = [kept.line for kept in await store.load("s")]
    edited = [*lines[:3], replace(lines[3], payload={**lines[3].payload, "tool": "files.other"}, body=b""), *lines[4:]]
    assert first_break(edited) == "line 4 (running) is not as it was written: its digest differs"
    assert first_break([*lines[:3], *lines[4:]]) == "line 4 is missing: after it comes line 5"
    assert first_break(lines[3:], before=lines[2].digest, after=3) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(st.characters(exclude_categories=[])) | st.sampled_from(["$text", "$json", "$$"]), inner, max_size=5),
    max_leaves=30,
)  # fmt: skip


@given(value=JSON, repeat=st.sampled_from([1, 1, 400]))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_is_written_down_and_read_again(value: Any, repeat: int) -> None:
    entry = settled([value] * repeat)
    line, blobs = encode(entry, seq=1, before=START)
    again = read_line(line.to_bytes())
    assert again == line and first_break([again]) == ""
    assert repr(decode(again, "s", blobs.__getitem__)) == repr(entry)
    assert set(Kept(again, blobs.__getitem__).blobs()) == set(blobs)
