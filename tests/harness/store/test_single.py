"""One session as one file: readable JSON lines, whole or not there, and every mistake in it is named by its line."""

import json
import os
from pathlib import Path

import pytest

from harness.store.jsonl import read_single, write_single
from harness.store.lines import BadLine, Kept, MissingValue, first_break
from harness.store.memory import MemoryStore
from tests.contracts.entry_samples import AT, NASTY, one_of_each, opened, said, settled

pytestmark = pytest.mark.anyio


async def kept_of(*entries: object) -> list[Kept]:
    store = MemoryStore()
    writer = await store.write("s", at=AT)
    await writer.append(*entries)  # type: ignore[arg-type]
    return list(await store.load("s"))


async def test_a_session_comes_back_from_its_one_file(tmp_path: Path) -> None:
    entries = [*one_of_each(), *[settled(value) for value in NASTY.values()]]
    kept = await kept_of(*entries)
    write_single(tmp_path / "all.session.jsonl", kept)
    again = read_single(tmp_path / "all.session.jsonl")
    assert [one.line for one in again] == [one.line for one in kept]
    assert [one.entry("s") for one in again] == entries
    assert os.listdir(tmp_path) == ["all.session.jsonl"]


async def test_a_big_value_stands_once_and_readable_before_the_line_that_needs_it(tmp_path: Path) -> None:
    text, rows = "line one\n" * 500, [{"n": n} for n in range(2_000)]
    write_single(tmp_path / "x", await kept_of(opened(), settled(text), settled({"rows": rows, "text": text})))
    lines = [json.loads(line) for line in (tmp_path / "x").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["opened", "$value", "settled", "$value", "settled"]
    assert lines[1]["text"] == text and lines[3]["json"] == rows


async def test_a_file_that_cannot_be_written_whole_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_single(path, await kept_of(opened()))
    before = path.read_bytes()

    def missing(sha: str) -> bytes:
        raise MissingValue("gone")

    kept = [Kept(one.line, missing) for one in await kept_of(opened(), settled("x" * 3_000))]
    with pytest.raises(MissingValue):
        write_single(path, kept)
    assert path.read_bytes() == before and [one.name for one in path.parent.iterdir()] == ["x"]


async def test_an_edited_payload_is_read_and_its_digest_tells(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_single(path, await kept_of(opened(), said("two"), said("three")))
    path.write_text(path.read_text().replace("two", "2"))
    kept = read_single(path)
    assert kept[1].entry("s") == said("2")
    assert first_break([one.line for one in kept]) == "line 2 (message) is not as it was written: its digest differs"


async def test_every_mistake_is_named_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_single(path, await kept_of(opened(), settled("word " * 1_000)))
    good = path.read_text()
    for bad, expected in [
        (good + '{"v":1', "x, line 4: not a whole JSON object"),
        (good + "\n", "x, line 4: not a whole JSON object"),
        (good.replace("word word", "ward word"), "x, line 2: the value .*… is not what it was: its sha256 differs"),
        (
            "".join(line for line in good.splitlines(True) if "$value" not in line),
            "x, line 2: the value .*… that it needs is not there",
        ),
        (good.replace('"v":1', '"v":9', 1), "x, line 1: format 9; this turnscript reads 1; install a newer one"),
    ]:
        path.write_text(bad)
        with pytest.raises(BadLine, match=expected):
            read_single(path)
