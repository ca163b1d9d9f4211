"""Sessions in files: where they stand, what a crash leaves, what is said of damage, and that lists look at the ends only."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from harness.entries import Closed, Entry, Item
from harness.store import NoSession, Query, SessionBusy, StoreError, StoreFailed
from harness.store.blob_file import FRAME_BYTES
from harness.store.jsonl import JsonlStore
from harness.store.jsonl_lines import SYNC_BYTES
from harness.store.lines import BadLine, MissingValue, first_break
from harness.store.scanning import row_of
from tests.contracts.entry_samples import AT, one_of_each, opened, said, settled

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
STEP = "put a whole copy there, or move it away"


async def keep(store: JsonlStore, *entries: Entry) -> Path:
    """One append each. The file."""
    writer = await store.write(entries[0].session, at=entries[0].at)
    for entry in entries:
        await writer.append(entry)
    await writer.close()
    return writer.path


async def told(store: JsonlStore, session: str = "s") -> list[Entry]:
    return [kept.entry(session) for kept in await store.load(session)]


# ------------------------------------------------------------ where files stand


async def test_a_session_is_a_private_file_in_the_folder_of_its_day(tmp_path: Path) -> None:
    path = await keep(JsonlStore(tmp_path / "sessions"), opened(), settled("x" * 3_000))
    assert path.relative_to(tmp_path).as_posix() == "sessions/2025/11/18/rollout-2025-11-18T12-00-00-s.jsonl"
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name.replace("jsonl", "blobs"), path.name]
    assert {stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "sessions").rglob("*")} == {0o700, 0o600}


@pytest.mark.parametrize("name", ["", ".." + "/x", "a/b", "a b", "ü", "x" * 129, "a\0"])
async def test_an_id_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    store = JsonlStore(tmp_path / "sessions")
    for wanted in (lambda: store.write(name, at=AT), lambda: store.load(name), lambda: store.remove(name)):
        with pytest.raises(StoreError, match="take 1 to 128 letters, digits"):
            await wanted()
    assert os.listdir(tmp_path) == []


async def test_ids_that_look_like_each_others_files_stay_apart(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    ids = ["a", "b-a", "a.blobs", "a.torn-1", "a.jsonl", "..", "2025-11-18T12-00-00-a"]
    for name in ids:
        await keep(store, opened(name), settled(name * 3_000, name))
    for name in ids:
        assert await told(JsonlStore(tmp_path), name) == [opened(name), settled(name * 3_000, name)]
    await store.remove("a")
    assert sorted(row.session for row in await store.sessions()) == sorted(set(ids) - {"a"})
    assert len(await told(store, "a.blobs")) == 2


async def test_a_folder_that_is_not_there_holds_nothing_and_one_that_cannot_be_is_told(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "none")
    assert list(await store.sessions()) == [] and list(await store.sums("day")) == []
    with pytest.raises(NoSession, match=f"no session s is kept in {tmp_path}/none"):
        await store.load("s")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match=r"session s cannot be opened in .*/file: .* give a folder that can be written"):
        await JsonlStore(tmp_path / "file").write("s", at=AT)


async def test_a_session_that_never_began_leaves_no_file(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    writer = await store.write("s", at=AT)
    await writer.close()
    assert [names for _, _, names in os.walk(tmp_path) if names] == []


async def test_removing_takes_all_files_of_a_session(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    path = await keep(store, opened(), settled("x" * 3_000))
    with path.open("ab") as file:
        file.write(b'{"v":1,"se')
    await keep(store, said("more"))
    assert len(list(path.parent.iterdir())) == 3
    await store.remove("s")
    assert list(path.parent.iterdir()) == []


# ------------------------------------------------------------ one writer


async def test_who_writes_a_session_is_named_to_the_second(tmp_path: Path) -> None:
    program = (
        "import anyio, sys\nfrom harness.store.jsonl import JsonlStore\n"
        "async def main():\n await JsonlStore(sys.argv[1]).write('s', at=0.0)\n print('open', flush=True)\n sys.stdin.read()\n"
        "anyio.run(main)"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: ASYNC220
        assert other.stdout is not None and other.stdout.readline() == b"open\n"
        with pytest.raises(
            SessionBusy, match=rf"session s is being written by process {other.pid}, which has .*-s\.jsonl locked"
        ):
            await JsonlStore(tmp_path).write("s", at=AT)
        other.kill()
    await keep(JsonlStore(tmp_path), opened())


async def test_a_session_that_is_being_written_is_not_removed(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    writer = await store.write("s", at=AT)
    await writer.append(opened())
    with pytest.raises(SessionBusy, match="close it before it is removed"):
        await store.remove("s")
    await store.close()
    with pytest.raises(StoreFailed, match="this writer is closed; open the session again"):
        await writer.append(said("late"))
    await store.remove("s")


# ------------------------------------------------------------ what a crash leaves

TAILS = {
    "half a line": b'{"v":1,"seq":4,"timest',
    "a line without its end": b'{"v":1,"seq":4,"timestamp":"2025-11-18T12:00:00Z","type":"closed","payload":{},"digest":"0"}',
    "no line": b"garbage\n",
    "zeros": bytes(700),
    "zeros with a line end": bytes(100) + b"\n",
    "a hole before a good line": b'{"v":1,"seq":4,\0\0\0\0\n{"v":1,"seq":5,"timestamp":"2025-11-18T12:00:00Z","type":"closed","payload":{},"digest":"0"}\n',
    "more than is read at once": b"x" * 5 * SYNC_BYTES,
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
async def test_a_torn_end_is_not_read_and_is_put_aside_by_the_next_writer(tmp_path: Path, tail: bytes) -> None:
    entries = [opened(), said("hello"), settled("x" * 3_000)]
    path = await keep(JsonlStore(tmp_path), *entries)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)

    reader = JsonlStore(tmp_path)
    assert await told(reader) == entries and (await reader.sessions())[0].lines == 3
    assert path.read_bytes() == whole + tail  # reading repairs nothing

    store = JsonlStore(tmp_path)
    writer = await store.write("s", at=AT)
    aside = path.with_name(path.name.replace(".jsonl", ".torn-1"))
    expected = f"{path} ended in {len(tail):,} bytes that were never acknowledged; they are now in {aside.name}"
    assert writer.repaired == expected and store.repairs == [expected]
    assert path.read_bytes() == whole and aside.read_bytes() == tail
    await writer.append(said("goes on"))
    await writer.close()
    kept = await store.load("s")
    assert first_break([one.line for one in kept]) == "" and [one.entry("s") for one in kept] == [*entries, said("goes on")]


async def test_a_file_cut_anywhere_has_its_whole_lines_and_goes_on(tmp_path: Path) -> None:
    entries = [opened(), said("hello"), settled("x" * 3_000), said("bye")]
    path = await keep(JsonlStore(tmp_path), *entries)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        lines = whole[:cut].count(b"\n")
        store = JsonlStore(tmp_path, durability="flush")
        if lines:
            assert await told(store) == entries[:lines]
        else:
            with pytest.raises(NoSession):
                await store.load("s")
        await keep(store, said("on"))
        assert await told(store) == [*entries[:lines], said("on")]


async def test_a_whole_line_of_a_newer_format_is_not_taken_for_a_torn_one(tmp_path: Path) -> None:
    path = await keep(JsonlStore(tmp_path), opened())
    with path.open("ab") as file:
        file.write(b'{"v":2,"anything":1}\n')
    before = path.read_bytes()
    with pytest.raises(BadLine, match=r"-s\.jsonl, last line: format 2; this turnscript reads 1; install a newer one"):
        await JsonlStore(tmp_path).write("s", at=AT)
    with pytest.raises(BadLine, match=r"-s\.jsonl, line 2: format 2"):
        await JsonlStore(tmp_path).load("s")
    assert path.read_bytes() == before


# ------------------------------------------------------------ damage


async def test_a_bad_line_in_the_middle_is_named_and_never_skipped(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    path = await keep(store, opened(), said("two"), said("three"), said("four"))
    await keep(store, opened("other", AT + 1))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1][:40] + b"\n", *lines[2:]]))
    with pytest.raises(BadLine, match=r"rollout-2025-11-18T12-00-00-s\.jsonl, line 2: not a whole JSON object"):
        await store.load("s")
    assert [row.session for row in await store.sessions()] == ["other"]
    assert [row.session for row in await store.sessions(Query(text="four"))] == []
    assert store.problems == [f"{path} is left out of lists: line 2: not a whole JSON object; {STEP}"]


async def test_a_file_that_is_no_session_is_left_out_of_lists_and_told(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    path = await keep(store, opened())
    other = path.with_name("rollout-2025-11-18T12-00-01-foreign.jsonl")
    other.write_text('{"type":"session_meta"}\n')
    for _ in range(2):
        assert [row.session for row in await store.sessions()] == ["s"]
    assert store.problems == [f"{other} is left out of lists: line 1: format None; this turnscript reads 1; {STEP}"]
    with pytest.raises(BadLine, match=r"foreign\.jsonl, line 1: format None"):
        await store.load("foreign")


async def test_one_bad_entry_does_not_spoil_the_sums_of_the_others(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    path = await keep(store, opened(), settled(1))
    await keep(store, opened("other", AT + 1), settled(1, "other"))
    path.write_bytes(path.read_bytes().replace(b'"returned"', b'"nonsense"'))
    assert [(one.group, one.sessions, one.calls) for one in await store.sums("format")] == [("own", 1, 1)]
    assert len(store.problems) == 1 and f"{path} is left out of lists: line 2: settled.outcome.status: " in store.problems[0]


async def test_an_edited_line_is_read_and_its_digest_tells(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    path = await keep(store, opened(), said("two"), said("three"))
    path.write_bytes(path.read_bytes().replace(b"two", b"2"))
    lines = [kept.line for kept in await store.load("s")]
    assert first_break(lines) == "line 2 (message) is not as it was written: its digest differs"
    await keep(store, said("four"))
    assert len(await store.load("s")) == 4


# ------------------------------------------------------------ big values


async def test_a_value_is_kept_once_however_often_it_comes(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    value = os.urandom(50_000).hex()
    path = await keep(store, opened(), settled(value))
    blobs = path.with_name(path.name.replace(".jsonl", ".blobs"))
    size = blobs.stat().st_size
    await keep(store, settled(value, call=2), settled({"in": [value]}, call=3))
    assert blobs.stat().st_size == size
    assert await told(store) == [opened(), settled(value), settled(value, call=2), settled({"in": [value]}, call=3)]


async def test_later_values_are_told_by_what_they_share_with_earlier_ones(tmp_path: Path) -> None:
    text = os.urandom(50_000).hex()
    path = await keep(JsonlStore(tmp_path), opened(), *[settled(f"{n}{text}", call=n) for n in range(8)])
    assert path.with_name(path.name.replace(".jsonl", ".blobs")).stat().st_size < 1.5 * 50_000


async def test_values_of_many_frames_and_writers_are_found_with_garbage_between(tmp_path: Path) -> None:
    texts = [os.urandom(size).hex() for size in (2_000, 300_000, 400_000, FRAME_BYTES, 3_000, 2_000)]
    path = await keep(JsonlStore(tmp_path), opened(), settled(texts[0]))
    for n, text in enumerate(texts[1:]):
        with path.with_name(path.name.replace(".jsonl", ".blobs")).open("ab") as file:
            file.write(b"\x28\xb5\x2f\xfd torn")  # what a killed writer left of a value
        await keep(JsonlStore(tmp_path), settled(text, call=n), settled(texts[0] + text, call=n))
    expected = [texts[0], *[one for text in texts[1:] for one in (text, texts[0] + text)]]
    entries = await told(JsonlStore(tmp_path))
    assert [entry.outcome.value for entry in entries if entry.type == "settled"] == expected
    kept = await JsonlStore(tmp_path).load("s", after=9)
    assert [one.entry("s").outcome.value for one in reversed(kept)] == expected[:7:-1]  # type: ignore[union-attr]


async def test_a_value_that_is_gone_or_changed_is_missing_and_the_lines_still_read(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    path = await keep(store, opened(), settled("x" * 3_000))
    blobs = path.with_name(path.name.replace(".jsonl", ".blobs"))
    good = blobs.read_bytes()
    for bad in (good[:5], good[:-3] + b"abc", b""):
        blobs.write_bytes(bad)
        kept = await JsonlStore(tmp_path).load("s")
        with pytest.raises(MissingValue):
            kept[1].entry("s")
    blobs.unlink()
    with pytest.raises(MissingValue, match=r"big values of this session cannot be read from .*-s\.blobs: .*No such file"):
        (await JsonlStore(tmp_path).load("s"))[1].entry("s")


# ------------------------------------------------------------ lists of long files


async def test_a_row_from_the_ends_of_a_file_is_the_row_of_all_its_lines(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path, durability="flush")
    filler = [said("y" * 9_000, role="assistant") for _ in range(40)]
    cases: dict[str, list[Entry]] = {
        "titled": [said("a title"), *filler],
        "late": [*filler, said("a title behind the beginning"), *filler],
        "untitled": [*filler, settled(1, turn=3), *filler],
        "closed": [said("x"), *filler, settled(1, turn=2), Closed(session="s", at=AT + 5)],
        "item": [Item(session="s", at=AT, format="codex", kind="k", raw="z" * 99_000, turn=1), *filler],
    }
    for name, entries in cases.items():
        await keep(store, opened(name, model="m", labels={"k": "v" * 30_000}), *entries)
    rows = {row.session: row for row in await store.sessions()}
    assert rows == {name: row_of(await store.load(name), name) for name in cases}
    assert rows["late"].title == "a title behind the beginning" and rows["untitled"].turns == 3


async def test_a_page_goes_on_after_lines_were_added_and_after_the_file_was_replaced(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    entries = [opened(), *[settled(f"{n} " * 3_000, call=n) for n in range(1, 5)]]
    path = await keep(store, *entries)
    assert [one.line.seq for one in await store.load("s", most=5)] == [1, 2, 3, 4, 5]
    await keep(store, settled("0 " * 3_000, call=9))
    assert [one.entry("s") for one in await store.load("s", after=5, most=5)] == [settled("0 " * 3_000, call=9)]
    path.unlink()
    await keep(JsonlStore(tmp_path), *[opened(), *[settled(f"{n} new " * 3_000, call=n) for n in range(1, 9)]])
    assert [one.entry("s") for one in await store.load("s", after=6, most=1)] == [settled("6 new " * 3_000, call=6)]


async def test_lines_laid_out_by_hand_are_read(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    entries = one_of_each()
    path = await keep(store, *entries)
    path.write_text("".join(json.dumps(json.loads(line), sort_keys=True) + "\n" for line in path.read_text().splitlines()))
    kept = await JsonlStore(tmp_path).load("s", after=2)
    assert [one.entry("s") for one in kept] == entries[2:]
    assert (await JsonlStore(tmp_path).sessions())[0].title == "Please look."
