"""Files become sessions in a store: once, whole, and going on where an earlier import stood."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from harness.entries import Closed, Entry, Facts, Item, Opened, Reopened
from harness.rollouts.errors import OtherRecords
from harness.rollouts.importing import Imported, detect_format, import_all, import_rollout, read_rollout
from harness.rollouts.splitting import safe_id
from harness.store import Store
from harness.store.jsonl import JsonlStore
from harness.store.memory import MemoryStore
from tests.harness.rollouts.sources import CLAUDE, CODEX, OPENHANDS, SOURCES, enveloped, lines, message, written

pytestmark = pytest.mark.anyio
REMOVE = "remove it first: turnscript session prune --session 0199-aa --apply"
KINDS = {"session_meta": 1, "response_item/message": 2, "event_msg/user_message": 1, "event_msg/brand_new": 1}


@pytest.fixture(params=["memory", "jsonl"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else JsonlStore(tmp_path / "store", durability="flush")
    yield made
    await made.close()


async def kept(store: Store, session: str) -> list[Entry]:
    return [line.entry(session) for line in await store.load(session)]


@pytest.mark.parametrize("name", SOURCES)
async def test_every_format_is_recognised_by_its_content_and_kept_as_it_was_read(name: str, store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, SOURCES[name][1])
    assert detect_format(path) == SOURCES[name][0]
    imported = await import_rollout(path, store)
    assert [entry for one in imported for entry in await kept(store, one.session)] == list(read_rollout(path))
    assert all(not one.unknown and not one.already_there for one in imported)
    assert sum(one.bytes for one in imported) == path.stat().st_size


async def test_an_import_tells_what_it_found(store: Store, tmp_path: Path) -> None:
    strange = enveloped("event_msg", {"type": "brand_new"})
    path = written(tmp_path, lines([*CODEX[:4], strange]))
    assert await import_rollout(path, store) == (
        Imported(
            path=path, session="0199-aa", format="codex", items=5, bytes=path.stat().st_size, appended=7,
            by_kind=KINDS, new=KINDS, unknown={"event_msg/brand_new": 1},
        ),
    )  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
async def test_importing_twice_adds_nothing(name: str, store: Store, tmp_path: Path) -> None:
    first = await import_rollout(written(tmp_path, SOURCES[name][1], "one"), store)
    again = await import_rollout(written(tmp_path, SOURCES[name][1], "two"), store)
    assert [one.session for one in again] == [one.session for one in first]
    assert all(one.already_there and one.appended == 0 for one in again)
    assert len(await store.sessions()) == len(first)


@pytest.mark.parametrize("there", range(len(CODEX) + 2))
async def test_an_import_that_broke_off_goes_on_where_it_stood(there: int, store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, lines(CODEX))
    entries = list(read_rollout(path))
    writer = await store.write("0199-aa", at=entries[0].at)
    await writer.append(*entries[:there])
    await writer.close()
    (imported,) = await import_rollout(path, store)
    assert await kept(store, "0199-aa") == entries
    assert (imported.appended, imported.already_there) == (len(entries) - there, False)


async def test_a_source_that_has_grown_is_taken_up_again_and_an_older_copy_changes_nothing(store: Store, tmp_path: Path) -> None:
    older, newer = written(tmp_path, lines(CODEX[:5]), "older"), written(tmp_path, lines(CODEX), "newer")
    await import_rollout(older, store)
    (grown,) = await import_rollout(newer, store)
    entries = await kept(store, "0199-aa")
    assert [entry.raw for entry in entries if isinstance(entry, Item)] == CODEX
    assert [type(entry) for entry in entries if not isinstance(entry, Item)] == [Opened, Closed, Reopened, Closed]
    assert (grown.appended, grown.already_there, grown.grown) == (len(CODEX) - 5 + 2, False, True)
    assert (sum(grown.new.values()), grown.items) == (len(CODEX) - 5, len(CODEX))
    assert [entry.turn for entry in entries if isinstance(entry, Item)][-1] == 2
    for copy in (older, newer):
        (again,) = await import_rollout(copy, store)
        assert again.already_there
    assert await kept(store, "0199-aa") == entries


async def test_another_session_under_the_same_id_is_left_alone(store: Store, tmp_path: Path) -> None:
    await import_rollout(written(tmp_path, lines(CODEX), "one"), store)
    before = await kept(store, "0199-aa")
    other = written(tmp_path, lines([*CODEX[:2], enveloped("response_item", message("user", "other"))]), "other")
    with pytest.raises(OtherRecords) as error:
        await import_rollout(other, store)
    assert str(error.value) == f"{other}: session 0199-aa is kept already, and its record 3 is another; {REMOVE}"
    assert await kept(store, "0199-aa") == before
    await store.remove("0199-aa")
    (imported,) = await import_rollout(other, store)
    assert imported.items == 3


async def test_a_session_of_our_own_is_never_appended_to(store: Store, tmp_path: Path) -> None:
    writer = await store.write("0199-aa", at=1.0)
    await writer.append(Opened(session="0199-aa", at=1.0, facts=Facts(root="/srv")))
    await writer.close()
    path = written(tmp_path, lines(CODEX))
    with pytest.raises(OtherRecords) as error:
        await import_rollout(path, store)
    assert str(error.value) == f"{path}: a session 0199-aa is kept already, and it is no import; {REMOVE}"
    await (await store.write("0199-aa", at=1.0)).close()


async def test_a_long_session_is_appended_in_batches_and_told_as_it_goes(store: Store, tmp_path: Path) -> None:
    records = [CODEX[0], *(enveloped("response_item", message("assistant", f"{number}")) for number in range(1_700))]
    path = written(tmp_path, lines(records))
    told: list[tuple[Path, int, int]] = []
    (imported,) = await import_rollout(path, store, progress=lambda *one: told.append(one))
    size = path.stat().st_size
    assert imported.items == len(records)
    assert len(told) == 4 and told == sorted(told) and told[-1] == (path, size, size)


async def test_an_import_that_is_cancelled_lets_go_of_the_session_and_can_be_done_again(store: Store, tmp_path: Path) -> None:
    records = [CODEX[0], *(enveloped("response_item", message("assistant", f"{number}")) for number in range(1_700))]
    path = written(tmp_path, lines(records))
    with anyio.CancelScope() as scope:
        await import_rollout(path, store, progress=lambda *_: scope.cancel())
    assert scope.cancelled_caught
    there = len(await kept(store, "0199-aa"))
    assert 0 < there < len(records)
    (imported,) = await import_rollout(path, store)
    assert imported.appended == len(records) + 2 - there
    assert await kept(store, "0199-aa") == list(read_rollout(path))


async def test_folders_are_walked_and_one_bad_file_stops_no_other(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".git").mkdir()
    codex = written(folder / "deep" / "er", lines(CODEX), "a.jsonl")
    claude = written(folder, lines(CLAUDE), "b.txt")
    written(folder / ".git", lines(CODEX), "hidden")
    readme = written(folder, b"# notes\n", "README.md")
    torn = written(folder / "deep", b"\x1f\x8b" + b"no gzip at all", "c.gz")
    empty, gone = written(tmp_path, b"", "empty"), tmp_path / "gone"
    told: list[tuple[int, int]] = []
    report = await import_all([folder, empty, gone, claude], store, progress=lambda path, done, total: told.append((done, total)))
    assert {one.path for one in report.imported} == {codex, claude}
    assert set(report.passed_over) == {readme}
    assert set(report.failed) == {torn, empty, gone}
    assert report.failed[empty] == f"{empty}: the file is empty"
    assert told == sorted(told) and told[-1][0] == told[-1][1] == sum(one[1] for one in told[-1:])


async def test_a_torn_line_behind_documents_belongs_to_the_last_one(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, lines(OPENHANDS) + b'{"instance_id": "app__')
    first, second = await import_rollout(path, store)
    assert (first.unknown, second.unknown) == ({}, {"text": 1})


async def test_a_source_without_an_id_gets_one_from_its_content(tmp_path: Path) -> None:
    records = [record for record in CODEX if record["type"] != "session_meta"]
    one = next(read_rollout(written(tmp_path, lines(records), "one")))
    other = next(read_rollout(written(tmp_path, lines(records[1:]), "other")))
    assert one.session.startswith("codex-") and other.session.startswith("codex-") and one.session != other.session


@pytest.mark.parametrize(
    ("told", "safe"),
    [
        ("0199-aa", "0199-aa"),
        ("../../etc/passwd", "etc-passwd-"),
        ("a b", "a-b-"),
        ("é", "session-"),
        ("x" * 300, "x" * 100 + "-"),
    ],
)
def test_ids_are_made_safe_and_stay_apart(told: str, safe: str) -> None:
    made = safe_id(told)
    assert made == safe if not safe.endswith("-") else made.startswith(safe) and len(made) == len(safe) + 8
    assert len(made) <= 128 and safe_id(told) != safe_id(told + "!")
