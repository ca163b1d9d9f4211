"""Files of sessions that somebody wrote to do harm: each gets one clear error or is read as it is, and nothing hangs, grows or is
written elsewhere.
"""

import gzip
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
import zstandard

from harness import Harness
from harness.rollouts.errors import RolloutError
from harness.rollouts.importing import import_all
from harness.rollouts.mini_swe_agent import MINI_SWE_AGENT
from harness.rollouts.naming import paths_in_command, paths_in_patch
from harness.rollouts.records import records_of
from harness.store import StoreError, every_entry
from harness.store.jsonl import JsonlStore
from harness.store.lines import START, BadLine, digest_of, read_line
from harness.store.memory import MemoryStore
from tests.harness.cli.typed import Typed

pytestmark = pytest.mark.anyio
AT = 1_780_000_000.0
STAMP = "2026-05-28T20:26:40.000000Z"
TITLE = "\x1b]0;x\x07"  # sets the title of a terminal
SHA = "ab" * 32
UNKNOWN: Any = {TITLE: 1}
Row = tuple[str, Mapping[str, Any], int, Mapping[str, Any]]


def opened(session: str = "evil", **facts: Any) -> Row:
    return "opened", {"session": session, "facts": facts}, 0, {}


def row(name: str, /, turn: int = 1, values: Mapping[str, Any] | None = None, **payload: Any) -> Row:
    return name, payload, turn, {} if values is None else {"values": values}


BEGAN = row("began", script="return 1", sha256="")
ENDED = row("ended", ending={"how": "finished", "value": 1}, text="1")


def chained(rows: Sequence[Row], *, stamp: str = STAMP) -> bytes:
    """With digests that hold: an attacker computes them too."""
    before, lines = START, list[bytes]()
    for seq, (kind, payload, turn, more) in enumerate(rows, 1):
        told = {"v": 1, "seq": seq, "timestamp": stamp, "type": kind, **({"turn": turn} if turn else {}), "payload": payload}
        try:
            before = digest_of(read_line(json.dumps({**told, "digest": ""}, separators=(",", ":")).encode()), before)
        except BadLine:
            before = START
        lines.append(json.dumps({**told, "digest": before, **more}, separators=(",", ":")).encode())
    return b"\n".join(lines) + b"\n"


def placed(folder: Path, data: bytes, *, blobs: bytes | None = None, session: str = "evil") -> Path:
    path = folder / "2026/05/28" / f"rollout-2026-05-28T20-26-40-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if blobs is not None:
        path.with_suffix(".blobs").write_bytes(blobs)
    return path


def frame(*values: bytes) -> tuple[bytes, dict[str, list[int]]]:
    """A file of big values, and where they stand."""
    data = zstandard.ZstdCompressor().compress(b"".join(values))
    places, offset = dict[str, list[int]](), 0
    for value in values:
        places[hashlib.sha256(value).hexdigest()] = [0, len(data), offset, len(value)]
        offset += len(value)
    return data, places


async def reads(folder: Path) -> list[Any]:
    return [entry async for entry in every_entry(JsonlStore(folder), "evil")]


def typed(folder: Path) -> Iterator[Typed]:
    """Every verb that looks at a session; none ends in a traceback, none prints what a terminal would obey."""
    for verb in (
        ["list"],
        ["list", "--by", "tool"],
        ["show", "evil"],
        ["show", "evil", "--json"],
        ["search", "e"],
        ["verify", "evil"],
    ):
        done = Typed(folder, *verb)
        assert "\x1b" not in done.out + done.err and "\x07" not in done.out + done.err, verb
        yield done


# ------------------------------------------------------------ lines that lie


@pytest.mark.parametrize(
    ("stamp", "why"),
    [
        ("9999-12-31T23:59:59-12:00", "is not between the years 1970 and 9999"),
        ("0001-01-01T00:00:00+12:00", "is not between the years 1970 and 9999"),
        ("0999-01-01T00:00:00Z", "is not between the years 1970 and 9999"),
        ("2026-05-28T20:26:40", "has no zone"),
    ],
)
async def test_a_time_outside_of_the_calendar_is_no_line(tmp_path: Path, stamp: str, why: str) -> None:
    placed(tmp_path, chained([opened(), BEGAN, ENDED], stamp=stamp))
    with pytest.raises(BadLine, match=why):
        await reads(tmp_path)


@pytest.mark.parametrize("turn", [-1, 2**31, 10**30])
async def test_a_turn_that_no_database_takes_is_no_line(tmp_path: Path, turn: int) -> None:
    placed(tmp_path, chained([opened(), row("began", turn, script="", sha256="")]))
    with pytest.raises(BadLine, match="line 2: no line of a session: turn is not between 0 and 2147483647"):
        await reads(tmp_path)


async def test_lines_that_do_not_count_up_end_the_reading(tmp_path: Path) -> None:
    """Page by page, each would begin again with the high numbers."""
    lines = chained([opened(), *[row("message", 0, role="user", text="x")] * 4]).splitlines()
    high = lines[1].replace(b'"seq":2', b'"seq":900')
    placed(tmp_path, b"\n".join([lines[0], high, *lines[1:]]) + b"\n")
    with pytest.raises(BadLine, match="line 3: its seq is 2, and the line before has 900"):
        await reads(tmp_path)


async def test_a_file_that_says_it_is_another_session_is_not_listed_as_that_one(tmp_path: Path) -> None:
    """Or `prune` would remove the other one for being old."""
    placed(tmp_path, chained([opened("victim"), BEGAN, ENDED]))
    store = JsonlStore(tmp_path)
    assert list(await store.sessions()) == []
    assert "it is of session 'victim', and its name says evil" in store.problems[0]


@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_nesting_is_an_error_of_the_line(tmp_path: Path, depth: int) -> None:
    data = chained([opened(), BEGAN, row("held", handle="r1", value="@")]).replace(b'"@"', b"[" * depth + b"]" * depth)
    placed(tmp_path, data + chained([ENDED]))
    with pytest.raises(BadLine, match="line 3: not a whole JSON object"):
        anyio.run(reads, tmp_path)
    assert all(done.code in (0, 1, 2) for done in typed(tmp_path))


def test_sizes_beyond_any_database_are_cut_when_a_session_moves_into_one(tmp_path: Path) -> None:
    outcome = {"status": "returned", "size": 10**30}
    call = row("settled", call=1, tool="x.y", site={"line": 1, "column": 1}, arguments={}, outcome=outcome)
    placed(
        tmp_path / "from",
        chained([opened(), BEGAN, call, row("ended", ending={"how": "finished"}, text="", ledger={"produced": -5})]),
    )
    done = Typed(tmp_path / "from", "migrate", "--from", f"jsonl:{tmp_path}/from", "--to", f"sqlite:{tmp_path}/to.db", "--apply")
    assert (done.code, "1 copied" in done.out) == (0, True)


@pytest.mark.parametrize(
    "rows",
    [
        [opened(model=TITLE, root=TITLE, labels={TITLE: TITLE}), row("message", 0, role="user", text=f"e{TITLE}")],
        [opened(), row("began", script=f"e{TITLE}", sha256="", relaxed=TITLE), ENDED],
        [opened(), BEGAN, row("settled", call=1, tool=TITLE, site={"line": 1, "column": 1}, arguments={TITLE: TITLE},
                              outcome={"status": "returned", "by": TITLE}), ENDED],
        [opened(), BEGAN, row("ended", ending={"how": "exceeded", "limit": TITLE}, text=TITLE, notices=[TITLE],
                              ledger={"trimmed": {TITLE: 1}, "calls": {TITLE: 1}, "redacted": {TITLE: 1}})],
        [opened(), row("item", 0, format=TITLE, kind=TITLE, text="e")],
        [opened(), row("began", script="", sha256="", **UNKNOWN)],
        [opened(), row(TITLE, script="")],
        [opened(TITLE), BEGAN, ENDED],
    ],
)  # fmt: skip
def test_no_terminal_obeys_what_a_file_says(tmp_path: Path, rows: list[Row]) -> None:
    placed(tmp_path, chained(rows))
    assert all(done.code in (0, 1, 2) for done in typed(tmp_path))


# ------------------------------------------------------------ big values


async def test_references_that_stand_for_more_than_any_memory_are_an_error(tmp_path: Path) -> None:
    """Forty values of two references each: 2^40 values."""
    values = [b'["x"]']
    for _ in range(40):
        sha = hashlib.sha256(values[-1]).hexdigest()
        values.append(json.dumps([{"$json": sha}, {"$json": sha}]).encode())
    blobs, places = frame(*values)
    top = hashlib.sha256(values[-1]).hexdigest()
    placed(tmp_path, chained([opened(), BEGAN, row("held", handle="r1", value={"$json": top}, values=places)]), blobs=blobs)
    with pytest.raises(BadLine, match="its big values come to more than 67,108,864 bytes, put back in their places"):
        await reads(tmp_path)


async def test_one_value_in_many_places_is_read_once_and_stands_in_all(tmp_path: Path) -> None:
    text = b"x" * 10_000
    blobs, places = frame(text)
    many = [{"$text": hashlib.sha256(text).hexdigest()}] * 1_000
    placed(tmp_path, chained([opened(), BEGAN, row("held", handle="r1", value=many, values=places)]), blobs=blobs)
    assert (await reads(tmp_path))[2].value == [text.decode()] * 1_000


@pytest.mark.parametrize(
    "place", [[0, 10**9, 0, 10], [0, 10**15, 0, 10**12], [-5, 10, 0, 10], [10**30, 10**31, 0, 1], [0, 50, 10**12, 1], "x", [1]]
)
async def test_a_frame_is_decoded_only_as_far_as_its_line_says(tmp_path: Path, place: Any) -> None:
    """256 MiB of NULs in 8 KiB; without a bound each of these would be decoded whole, or read past every end."""
    bomb = zstandard.ZstdCompressor().compress(bytes(256 << 20))
    placed(tmp_path, chained([opened(), BEGAN, row("held", handle="r1", value={"$json": SHA}, values={SHA: place})]), blobs=bomb)
    kept = (await JsonlStore(tmp_path).load("evil"))[2]
    with pytest.raises(BadLine):
        kept.entry("evil")
    reader: Any = kept.blob
    held = sum(len(one.content) for one in reader._frames.values())
    assert held <= 40 << 20


@pytest.mark.parametrize(("mark", "data"), [("$text", b"\xff\xfe"), ("$json", b"\xff\xfe"), ("$json", b"[" * 5_000)])
async def test_a_value_that_is_not_what_its_mark_says_is_an_error_of_the_line(tmp_path: Path, mark: str, data: bytes) -> None:
    blobs, places = frame(data)
    sha = hashlib.sha256(data).hexdigest()
    placed(tmp_path, chained([opened(), BEGAN, row("held", handle="r1", value={mark: sha}, values=places)]), blobs=blobs)
    with pytest.raises(BadLine, match=f"the value {sha[:12]}… is no"):
        await reads(tmp_path)


async def test_a_payload_that_stands_beside_its_line_must_be_an_object(tmp_path: Path) -> None:
    blobs, places = frame(b"[1]")
    beside: Any = {"$json": next(iter(places))}
    placed(tmp_path, chained([opened(), row("began", values=places, **beside)]), blobs=blobs)
    with pytest.raises(BadLine, match="line 2: its payload is no object"):
        await reads(tmp_path)


# ------------------------------------------------------------ files that are none


@pytest.mark.parametrize("head", [b"", chained([opened(), BEGAN, ENDED])])
async def test_a_terabyte_of_nothing_is_not_read(tmp_path: Path, head: bytes) -> None:
    path = placed(tmp_path, head)
    os.truncate(path, 1 << 40)
    with pytest.raises(BadLine, match="it ends in more than 536,870,912 NUL bytes"):
        await reads(tmp_path)


async def test_a_pipe_in_the_place_of_a_session_or_its_values_is_not_waited_for(tmp_path: Path) -> None:
    data = chained([opened(), BEGAN, row("held", handle="r1", value={"$json": SHA}, values={SHA: [0, 9, 0, 9]})])
    os.mkfifo(placed(tmp_path, data).with_suffix(".blobs"))
    with pytest.raises(BadLine, match="no regular file"):
        await reads(tmp_path)
    os.mkfifo(placed(tmp_path, b"").with_name("rollout-2026-05-28T20-26-40-pipe.jsonl"))
    store = JsonlStore(tmp_path)
    await store.sessions()
    assert "no regular file" in store.problems[0]
    with pytest.raises(StoreError, match="no regular file"):
        await store.write("pipe", at=AT)


async def test_links_lead_neither_readers_nor_writers_out_of_the_store(tmp_path: Path) -> None:
    store, outside = tmp_path / "store", tmp_path / "outside"
    outside.mkdir()
    other = placed(outside, chained([opened(), BEGAN, ENDED]))
    before = other.read_bytes()
    path = placed(store, b"")
    path.unlink()
    path.symlink_to(other)
    with pytest.raises(StoreError, match="links are not followed here"):
        await JsonlStore(store).write("evil", at=AT)
    with pytest.raises(StoreError, match="links are not followed here"):
        await JsonlStore(store).load("evil")
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(other.parent)
    assert list(await JsonlStore(store).sessions()) == []
    with pytest.raises(StoreError, match="links in a store are not followed"):
        await JsonlStore(store).write("new", at=AT)
    assert other.read_bytes() == before and len(list(other.parent.iterdir())) == 1


async def test_big_values_are_not_appended_to_what_a_link_leads_to(tmp_path: Path) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("mine\n")
    placed(tmp_path / "store", chained([opened(), BEGAN, ENDED])).with_suffix(".blobs").symlink_to(diary)
    async with Harness(["files"], store=str(tmp_path / "store")) as harness:
        with pytest.raises(StoreError, match="links are not followed here"):
            async with harness.session("evil", resume=True) as session:
                await session.run(f"show({'x' * 5_000!r})")
    assert diary.read_text() == "mine\n"


async def test_nothing_is_cut_off_from_a_file_that_is_no_session(tmp_path: Path) -> None:
    path = placed(tmp_path, b"first line of a diary\nlast line of a diary\n")
    with pytest.raises(BadLine, match="is no session: it does not begin as one; nothing was changed"):
        await JsonlStore(tmp_path).write("evil", at=AT)
    assert path.read_bytes() == b"first line of a diary\nlast line of a diary\n"


# ------------------------------------------------------------ rollouts


@pytest.mark.parametrize("unit", [b"\0", b"a"])
def test_a_rollout_made_of_next_to_nothing_is_not_unpacked(tmp_path: Path, unit: bytes) -> None:
    content = unit * (256 << 20)
    for name, data in (("a.gz", gzip.compress(content, 1)), ("a.zst", zstandard.ZstdCompressor().compress(content))):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RolloutError, match="it unpacks to more than 200 times its size; unpack it first if you trust it"):
            list(records_of(tmp_path / name))


async def test_pipes_and_devices_are_not_imported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    report = await import_all([tmp_path / "pipe.jsonl", Path("/dev/zero")], MemoryStore())
    assert [why.partition("] ")[2].partition(":")[0] for why in report.failed.values()] == ["no regular file"] * 2


def test_texts_that_were_written_for_an_expression_take_no_longer_than_others() -> None:
    """Each takes minutes where an expression looks at the same text again and again: then this test does not come to its end."""
    assert len(paths_in_patch("*** Add File: a" + " " * 300_000 + "b")) == 1
    paths_in_command("a." * 10_000)
    for text in (
        "<returncode>0</returncode>" + "\n" * 200_000 + "x",
        "The last command <command>" + "</command> timed out" * 3_000 + "<output>" * 3_000,
        "```" * 60_000,
        "<returncode>" + "9" * 5_000 + "</returncode>",
    ):
        for role in ("assistant", "user"):
            MINI_SWE_AGENT.readings(role, {"role": role, "content": text})


def test_a_session_is_not_exported_over_itself(tmp_path: Path) -> None:
    path = placed(tmp_path, chained([opened(), BEGAN, ENDED]))
    before = path.read_bytes()
    done = Typed(tmp_path, "export", "evil", "-o", str(path), "--force")
    assert (done.code, "is in the folder of the store; give a file elsewhere" in done.err) == (2, True)
    assert path.read_bytes() == before
