"""Server-sent events: whatever the cut, the same events."""

import pytest

from harness.chat.sse import EVENT_CHARS, Event, Events, TooLong

STREAM = '\ufeff: hello\n\nevent: a\r\ndata: {"x":\r\ndata: 1}\r\n\r\nid: 7\ndata:no blank ü€😀\n\nevent: nothing\n\ndata: \rdata: b\r\r'
EVENTS = [Event("a", '{"x":\n1}'), Event("", "no blank ü€😀"), Event("", "\nb")]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1_000])
def test_the_same_events_come_whatever_the_size_of_the_chunks(size: int) -> None:
    raw = STREAM.encode() + b"\n"  # decides that the last \r was a line end of its own
    events = Events()
    assert [event for at in range(0, len(raw), size) for event in events.feed(raw[at : at + size])] == EVENTS


def test_any_cut_in_two_changes_nothing() -> None:
    raw = STREAM.encode() + b"\n"
    for at in range(len(raw)):
        events = Events()
        assert [*events.feed(raw[:at]), *events.feed(raw[at:])] == EVENTS, at


def test_an_event_without_its_blank_line_is_not_given() -> None:
    assert Events().feed(b"data: half\n") == []


def test_an_event_that_never_ends_is_not_gathered_for_ever() -> None:
    events = Events()
    with pytest.raises(TooLong):
        for _ in range(EVENT_CHARS // 65_536 + 1):
            events.feed(b"data: " + b"x" * 65_536 + b"\n")
