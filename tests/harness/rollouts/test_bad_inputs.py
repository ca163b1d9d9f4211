"""What stands in the table of bad inputs in docs/import.md: each is an error that names the file, or is kept and counted."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from harness.entries import Item
from harness.rollouts.errors import NotARollout, RolloutError
from harness.rollouts.importing import detect_format, import_rollout, read_rollout
from harness.rollouts.records import records_of
from harness.store.memory import MemoryStore
from tests.harness.rollouts.sources import CODEX, SOURCES, enveloped, items, lines, message, written

pytestmark = pytest.mark.anyio
HEAD = lines(CODEX[:3])
TRIED = "no session of codex, claude, swe_agent, mini_swe_agent, openhands"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"\n \r\n\n", "the file is empty"),
        (b"\x7fELF\x00\x01\x02", "a file of bytes, not of text"),
        (b"dear diary\nnothing\n", f"{TRIED}: line 1 is no JSON"),
        (b'{"a": 1, "b": 2}\n', f"{TRIED}: its first record has the members a, b"),
        (b"{}", f"{TRIED}: its first record has the members (none)"),
        (b'{"trajectory": [], "info": {"cost": NaN}}', f"{TRIED}: line 1 is no JSON"),
        (b"[1, 2]", f"{TRIED}: its first record is no object but a list"),
        (b'{"messages": [{"role": "user", "content": "hi"}]}', f"{TRIED}: its first record has the members messages"),
        (b'{"v":1,"seq":1,"timestamp":"t","type":"opened","payload":{},"digest":"d"}', f"{TRIED}: it is a session of turnscript itself"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_an_error_that_says_what_was_tried(tmp_path: Path, data: bytes, said: str) -> None:
    path = written(tmp_path, data)
    for attempt in (detect_format, lambda path: list(read_rollout(path))):
        with pytest.raises(NotARollout) as error:
            attempt(path)
        assert str(error.value) == f"{path}: {said}"


def test_a_format_that_was_asked_for_must_fit_and_must_be_one(tmp_path: Path) -> None:
    path = written(tmp_path, lines(CODEX))
    with pytest.raises(NotARollout, match="no session of claude: its first record has the members timestamp, type, payload"):
        list(read_rollout(path, format="claude"))
    with pytest.raises(RolloutError, match="no format vim; there are codex, claude, swe_agent, mini_swe_agent, openhands"):
        list(read_rollout(path, format="vim"))


@pytest.mark.parametrize(
    ("bad", "kind", "text"),
    [
        (b'{"timestamp":"2026-03-01T10:00:09Z","type":"resp', "text", '{"timestamp":"2026-03-01T10:00:09Z","type":"resp'),
        (b"*** the disk was full ***", "text", "*** the disk was full ***"),
        (b'{"a": NaN}', "text", '{"a": NaN}'),
        (b'{"a": 1e999}', "text", '{"a": 1e999}'),
        (b'{"a": 123456789012345678901234567890}', "text", '{"a": 123456789012345678901234567890}'),
        (b"[" * 300 + b"]" * 300, "text", "[" * 300 + "]" * 300),
        (b"[" * 100_000, "text", "[" * 100_000),
        (b'{"\\ud800": 1}', "text", '{"\\ud800": 1}'),
        (b'{"a": "caf\xe9 \xff"}', "bytes", '{"a": "café ÿ"}'),
    ],
    ids=["torn", "no JSON", "NaN", "infinite", "beyond 64 bits", "deep", "deeper", "half a character as a name", "no UTF-8"],
)
async def test_a_line_that_cannot_be_kept_as_json_is_kept_as_text_and_counted(
    tmp_path: Path, bad: bytes, kind: str, text: str
) -> None:
    path = written(tmp_path, HEAD + bad + b"\n" + lines(CODEX[3:4]))
    store = MemoryStore()
    (imported,) = await import_rollout(path, store)
    assert imported.unknown == {kind: 1} and imported.items == 5
    kept = [entry.entry(imported.session) for entry in await store.load(imported.session)]
    found = [entry for entry in kept if isinstance(entry, Item)]
    assert (found[3].kind, found[3].raw, found[3].text) == (kind, None, text)
    assert found[4].raw == CODEX[3]


async def test_a_torn_last_line_without_an_end_is_kept_as_text(tmp_path: Path) -> None:
    found = items(written(tmp_path, HEAD + b'{"timestamp":"2026'))
    assert [item.kind for item in found[2:]] == ["response_item/message", "text"]
    assert (found[3].turn, found[3].at, found[3].text) == (1, found[2].at, '{"timestamp":"2026')


def test_a_torn_first_line_does_not_hide_what_comes_after(tmp_path: Path) -> None:
    found = items(written(tmp_path, b'00:00Z","type":"event_msg"}\n' + lines(CODEX)))
    assert [item.kind for item in found[:2]] == ["text", "session_meta"]
    assert found[0].session == "0199-aa"


@pytest.mark.parametrize("between", [b"", b" ", b"\x00\x00\x00"])
def test_records_glued_on_one_line_are_several(tmp_path: Path, between: bytes) -> None:
    glued = between.join(json.dumps(record).encode() for record in CODEX)
    assert [item.raw for item in items(written(tmp_path, glued))] == CODEX


def test_records_laid_out_over_lines_are_one_each(tmp_path: Path) -> None:
    pretty = "\n".join(json.dumps(record, indent=2) for record in CODEX).encode()
    assert [item.raw for item in items(written(tmp_path, pretty))] == CODEX
    assert [item.raw for item in items(written(tmp_path, json.dumps(CODEX, indent=2).encode()))] == [[], *CODEX]


def test_line_ends_of_windows_a_byte_order_mark_and_empty_lines_do_not_matter(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf\r\n" + lines(CODEX).replace(b"\n", b"\r\n\r\n")
    assert [item.raw for item in items(written(tmp_path, data))] == CODEX


def test_separators_inside_a_text_end_no_line(tmp_path: Path) -> None:
    record = enveloped("response_item", message("user", "a\u2028b\x85c\x0bd"))
    data = json.dumps(record, ensure_ascii=False).encode() + b"\n"
    assert [item.raw for item in items(written(tmp_path, data))] == [record]


def test_half_a_character_in_a_text_stays_as_it_is(tmp_path: Path) -> None:
    data = json.dumps(enveloped("response_item", message("assistant", "cut \ud83d"))).encode()
    (item,) = items(written(tmp_path, data))
    assert item.raw["payload"]["content"][0]["text"] == "cut \ud83d"


def test_a_record_of_fifty_megabytes_is_read(tmp_path: Path) -> None:
    record = enveloped("response_item", message("assistant", "x" * 50_000_000))
    assert items(written(tmp_path, HEAD + lines([record])))[3].raw == record


def test_a_record_above_the_limit_is_an_error_that_names_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + lines([enveloped("response_item", message("assistant", "x" * 2_000))]))
    with pytest.raises(RolloutError) as error:
        list(read_rollout(path, value_bytes_max=1_000))
    assert str(error.value) == f"{path}, line 4: a record above 1,000 bytes; raise value_bytes_max to read it"
    assert len(list(read_rollout(path, value_bytes_max=3_000))) == 6


def test_one_value_laid_out_over_lines_above_the_limit_is_an_error_too(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(["x" * 100] * 100, indent=1).encode())
    with pytest.raises(RolloutError, match="no line is JSON by itself, and as one value it is above 1,000 bytes"):
        list(records_of(path, value_bytes_max=1_000))


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_a_compressed_file_is_the_same_session(tmp_path: Path, name: str, pack: Any) -> None:
    plain, packed = written(tmp_path, SOURCES[name][1], "plain"), written(tmp_path, pack(SOURCES[name][1]), "packed")
    assert [item.raw for item in items(packed)] == [item.raw for item in items(plain)]
    assert next(read_rollout(packed)).session == next(read_rollout(plain)).session


def test_a_compressed_file_that_breaks_off_is_an_error(tmp_path: Path) -> None:
    noise = [enveloped("response_item", message("assistant", str(number**9))) for number in range(20_000)]
    whole = gzip.compress(lines([*CODEX, *noise]))
    path = written(tmp_path, whole[: len(whole) // 2])
    with pytest.raises(RolloutError, match="the compressed file is damaged or breaks off: "):
        list(read_rollout(path))


def test_a_file_that_cannot_be_opened_says_so_itself(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        detect_format(tmp_path / "none.jsonl")
