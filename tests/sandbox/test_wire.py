"""Frames, sans-IO: any split of the bytes gives the same frames, and what is no frame is known by its first five bytes."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.wire import DELIVER, EVENTS, OUTWARD_MAX, READY, START, Ask, FrameError, FrameReader, frame

KINDS = READY + EVENTS
MOST = 40_000  # of a frame in these tests: above the reader's usual buffer, small enough to try often
USUAL = 16 * 1024
HEADER = 5

bodies = st.one_of(
    st.binary(max_size=64),
    st.builds(lambda piece, times: (piece * times)[: MOST - 1], st.binary(min_size=1, max_size=50), st.integers(1, 2_000)),
    st.sampled_from([USUAL - HEADER - 1, USUAL - HEADER, USUAL - HEADER + 1, USUAL, MOST - 1]).map(bytes),
)
frames = st.lists(st.tuples(st.sampled_from([READY, EVENTS]), bodies), max_size=8)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    marks = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[a:b] for a, b in pairwise(marks)]


def fed(reader: FrameReader, data: bytes) -> list[tuple[bytes, bytes]]:
    return [(kind, bytes(body)) for kind, body in reader.feed(data)]


def received(reader: FrameReader, data: bytes) -> list[tuple[bytes, memoryview]]:
    """The other way in, as a socket fills it: straight into the reader's space."""
    found = []
    while data:
        room = reader.space()
        count = min(len(room), len(data))
        room[:count] = data[:count]
        room.release()
        found += reader.filled(count)
        data = data[count:]
    return found


# ---------------------------------------------------------------- whole frames, however they arrive


@given(frames, st.lists(st.integers(0, 2**32), max_size=12))
@settings(deadline=None, max_examples=300)
def test_any_split_of_a_stream_gives_the_same_frames(sent: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    stream = b"".join(frame(kind, body) for kind, body in sent)
    by_feeding, by_filling = FrameReader(KINDS, MOST), FrameReader(KINDS, MOST)
    parts = pieces(stream, cuts)
    assert [found for part in parts for found in fed(by_feeding, part)] == sent
    assert [(kind, bytes(body)) for part in parts for kind, body in received(by_filling, part)] == sent


@given(st.lists(st.tuples(st.sampled_from([READY, EVENTS]), st.binary(max_size=20)), max_size=6))
def test_byte_by_byte_gives_the_same_frames(sent: list[tuple[bytes, bytes]]) -> None:
    reader = FrameReader(KINDS, MOST)
    stream = b"".join(frame(kind, body) for kind, body in sent)
    assert [found for at in range(len(stream)) for found in fed(reader, stream[at : at + 1])] == sent


@given(frames)
@settings(deadline=None)
def test_a_frame_stays_as_it_was_while_later_ones_arrive(sent: list[tuple[bytes, bytes]]) -> None:
    reader = FrameReader(KINDS, MOST)
    held = [found for kind, body in sent for found in received(reader, frame(kind, body))]
    received(reader, frame(EVENTS, b"later" * 100))
    assert [(kind, bytes(body)) for kind, body in held] == sent


def test_a_frame_without_a_body_is_a_frame() -> None:
    assert fed(FrameReader(KINDS, 1), frame(READY, b"")) == [(READY, b"")]


def test_a_frame_of_exactly_the_cap_is_a_frame() -> None:
    assert fed(FrameReader(KINDS, MOST), frame(EVENTS, b"x" * (MOST - 1))) == [(EVENTS, b"x" * (MOST - 1))]


# ---------------------------------------------------------------- what is no frame

WRONG_HEADERS = [
    (b"\x00\x00\x00\x00E", "a frame of 0 bytes; 1 to 40000 are allowed"),
    (b"\x00\x00\x9c\x41E", "a frame of 40001 bytes; 1 to 40000 are allowed"),
    (b"\xff\xff\xff\xffE", "a frame of 4294967295 bytes; 1 to 40000 are allowed"),
    (b"\x00\x00\x00\x01S", "a frame of unknown kind 83"),
    (b"\x00\x00\x00\x01\x00", "a frame of unknown kind 0"),
    (b"\x00\x00\x9c\x40\xff", "a frame of unknown kind 255"),
    (b"HTTP/", "a frame of 1213486160 bytes; 1 to 40000 are allowed"),
]


@pytest.mark.parametrize(("header", "text"), WRONG_HEADERS)
@pytest.mark.parametrize(
    "before", [b"", frame(EVENTS, b"good"), frame(READY, b"x" * 20_000)], ids=["first", "second", "after a large one"]
)
def test_a_wrong_header_raises_before_the_body_arrives(header: bytes, text: str, before: bytes) -> None:
    reader = FrameReader(KINDS, MOST)
    reader.feed(before + header[:4])
    with pytest.raises(FrameError) as caught:
        reader.feed(header[4:])
    assert str(caught.value) == text


def test_only_the_kinds_asked_for_are_read() -> None:
    assert [fed(FrameReader(KINDS, MOST), frame(kind, b"body")) for kind in (READY, EVENTS)] == [
        [(READY, b"body")],
        [(EVENTS, b"body")],
    ]
    for kind in {bytes([number]) for number in range(256)} - {READY, EVENTS}:
        with pytest.raises(FrameError):
            FrameReader(KINDS, MOST).feed(frame(kind, b"body"))


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
@settings(max_examples=500)
def test_arbitrary_bytes_give_lawful_frames_or_a_frame_error(data: bytes, cuts: list[int]) -> None:
    reader = FrameReader(KINDS, 50)
    try:
        found = [one for part in pieces(data, cuts) for one in fed(reader, part)]
    except FrameError:
        return
    assert all(kind in (READY, EVENTS) and len(body) < 50 for kind, body in found)
    assert data.startswith(b"".join(frame(kind, body) for kind, body in found))


# ---------------------------------------------------------------- memory


@given(frames, st.lists(st.integers(0, 2**32), max_size=12))
@settings(deadline=None)
def test_nothing_is_held_beyond_one_frame_of_the_cap(sent: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    reader = FrameReader(KINDS, MOST)
    for part in pieces(b"".join(frame(kind, body) for kind, body in sent), cuts):
        reader.feed(part)
        with reader.space() as room:
            assert 0 < len(room) <= len(room.obj) <= 4 + MOST  # type: ignore[arg-type]


def test_a_large_frame_leaves_no_large_buffer_behind() -> None:
    reader = FrameReader(KINDS, OUTWARD_MAX)
    header = OUTWARD_MAX.to_bytes(4, "big") + EVENTS
    assert reader.feed(header) == []
    with reader.space() as room:
        assert len(room) == OUTWARD_MAX - 1
    assert [len(body) for _, body in reader.feed(bytes(OUTWARD_MAX - 1))] == [OUTWARD_MAX - 1]
    with reader.space() as room:
        assert len(room) == USUAL


# ---------------------------------------------------------------- asks


def fields(ask: Ask) -> dict[str, object]:
    return {name: getattr(ask, name) for name in Ask.__slots__}


texts = st.one_of(st.binary(max_size=200), st.sampled_from([USUAL - 1, USUAL, USUAL + 1, 100_000]).map(lambda size: b"t" * size))
whole = st.integers(0, 2**64 - 1)


@given(source=texts, text=texts, seconds=st.floats(allow_nan=False), heap=whole, stack=whole, jobs=whole)
def test_a_start_comes_back_as_it_was_sent(source: bytes, text: bytes, seconds: float, heap: int, stack: int, jobs: int) -> None:
    ask = Ask(START, source=source, text=text, seconds=seconds, heap=heap, stack=stack, jobs=jobs)
    ((kind, body),) = FrameReader(START + DELIVER, 2**20).feed(b"".join(ask.frame()))
    assert fields(Ask.parse(kind, body)) == fields(ask)


@given(text=texts, count=st.integers(0, 2**32 - 1))
def test_a_delivery_comes_back_as_it_was_sent(text: bytes, count: int) -> None:
    ask = Ask(DELIVER, text=text, count=count)
    ((kind, body),) = FrameReader(START + DELIVER, 2**20).feed(b"".join(ask.frame()))
    assert fields(Ask.parse(kind, body)) == fields(ask)


def test_a_large_text_travels_behind_its_header_uncopied() -> None:
    text = b"t" * 100_000
    assert Ask(DELIVER, text=text, count=1).frame()[-1] is text
