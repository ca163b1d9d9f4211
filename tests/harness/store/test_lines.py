"""How an entry is written down: what a line looks like, what goes beside it, and what is said of a line that is none."""

import json

import pytest

from harness.store.lines import START, BadLine, Kept, MissingValue, decode, encode, read_line, references
from tests.contracts.entry_samples import AT, opened, said, settled


def test_a_line_is_one_json_object_with_the_envelope_first() -> None:
    line, blobs = encode(settled({"a": 1}, at=AT + 0.5), seq=7, before=START)
    told = json.loads(line.to_bytes())
    assert list(told) == ["v", "seq", "timestamp", "type", "turn", "payload", "digest"] and blobs == {}
    assert (told["v"], told["seq"], told["type"], told["turn"]) == (1, 7, "settled", 1)
    assert told["timestamp"].startswith("2025-11-18T12:00:00.75") and told["timestamp"].endswith("Z")
    assert b"\n" not in line.to_bytes()


def test_small_values_stand_in_the_line_and_big_ones_beside_it() -> None:
    small, _ = encode(settled("x" * 2_048), seq=1, before=START)
    assert small.payload["outcome"]["value"] == "x" * 2_048
    big, blobs = encode(settled(["x" * 2_049, "x" * 2_049]), seq=1, before=START)
    (sha,) = blobs
    assert big.payload["outcome"]["value"] == [{"$text": sha}, {"$text": sha}] and references(big.payload) == {sha: "$text"}


def test_scripts_and_texts_always_stand_in_the_line() -> None:
    line, blobs = encode(said("y" * 100_000), seq=1, before=START)
    assert blobs == {} and line.payload["text"] == "y" * 100_000


def test_the_digest_follows_from_the_line_and_the_one_before() -> None:
    first, _ = encode(said("a"), seq=1, before=START)
    assert first.digest != encode(said("b"), seq=1, before=START)[0].digest
    assert first.digest != encode(said("a"), seq=2, before=START)[0].digest
    assert first.digest != encode(said("a"), seq=1, before=first.digest)[0].digest


@pytest.mark.parametrize(
    "number", [2**63, 2**64 - 1, 2**64, 2**70, -(2**63), -(2**63) - 1, 10**400, 1e300, 12345678901234567890.0]
)
def test_numbers_keep_their_value_and_the_digest_holds(number: float) -> None:
    line, blobs = encode(settled({"n": number, "list": [number] * 1_500}), seq=1, before=START)
    again = read_line(line.to_bytes())
    entry = decode(again, "s", blobs.__getitem__)
    assert again == line and repr(entry) == repr(settled({"n": number, "list": [number] * 1_500}))


def test_names_with_half_a_pair_are_kept() -> None:
    entry = settled({"\ud800": {"\udfff": [1]}, "plain": "x" * 5_000})
    line, blobs = encode(entry, seq=1, before=START)
    assert decode(read_line(line.to_bytes()), "s", blobs.__getitem__) == entry


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "not a whole JSON object"),
        (b'{"v":1', "not a whole JSON object"),
        (b"[1]", "not a JSON object"),
        (b"{}", "format None; this turnscript reads 1"),
        (b'{"v":2}', "format 2; this turnscript reads 1; install a newer one"),
        (b'{"v":1,"seq":1}', "no line of a session: 'timestamp'"),
        (b'{"v":1,"seq":"1","timestamp":"2025-01-01T00:00:00Z"}', "no line of a session: seq is '1'"),
        (b'{"v":1,"seq":1,"timestamp":"noon"}', "no line of a session: Invalid isoformat string: 'noon'"),
    ],
)
def test_what_is_no_line_is_told(text: bytes, says: str) -> None:
    with pytest.raises(BadLine) as told:
        read_line(text)
    assert str(told.value) == says


def test_a_line_that_is_no_entry_is_told_with_the_place() -> None:
    line, _ = encode(opened(), seq=3, before=START)
    broken = read_line(line.to_bytes().replace(b'"facts":{}', b'"facts":{"mode":"odd"}'))
    with pytest.raises(BadLine, match=r"^line 3: opened\.facts\.mode: "):
        decode(broken, "s", dict[str, bytes]().__getitem__)


def test_a_value_that_is_not_what_it_was_is_missing() -> None:
    line, blobs = encode(settled("x" * 3_000), seq=1, before=START)
    with pytest.raises(MissingValue, match="is not what it was: its sha256 differs"):
        decode(line, "s", lambda sha: blobs[sha] + b"y")


def test_all_big_values_of_a_line_are_told_with_those_inside_them() -> None:
    line, blobs = encode(settled({"rows": [{"text": f"{n} " * 2_000} for n in range(300)]}), seq=1, before=START)
    assert len(blobs) == 301 and Kept(line, blobs.__getitem__).blobs() == blobs
