"""The first place where two values differ, and how it is said."""

from typing import Any

import pytest

from harness.replay.first_difference import Place, first_difference

LONG = "".join(f"{n:03} words and words\n" for n in range(100))


@pytest.mark.parametrize("value", [None, 1, 1.5, "a", [], {}, {"a": [1, {"b": None}]}, True])
def test_equal_values_do_not_differ(value: Any) -> None:
    assert first_difference(value, value) is None


@pytest.mark.parametrize(
    ("recorded", "now", "place"),
    [
        (1, 2, Place("", "1", "2")),
        (1, True, Place("", "1", "true")),
        (0, False, Place("", "0", "false")),
        (1, 1.5, Place("", "1", "1.5")),
        ("a", "b", Place("", '"a"', '"b"')),
        ({"a": 1}, {"a": 2}, Place("a", "1", "2")),
        ({"a": 1}, {}, Place("a", "1", "nothing")),
        ({"a": None}, {}, Place("a", "null", "nothing")),
        ({}, {"b": [1]}, Place("b", "nothing", "[1]")),
        ({"edits": [{"old": "x"}, {"old": "y"}]}, {"edits": [{"old": "x"}, {"old": "z"}]}, Place("edits[1].old", '"y"', '"z"')),
        ([1, 2], [1, 2, 3], Place("[2]", "nothing", "3")),
        ([1, 2, 3], [1, 2], Place("[2]", "3", "nothing")),
        ({"a": [1]}, {"a": {"0": 1}}, Place("a", "[1]", '{"0": 1}')),
    ],
)
def test_the_first_place_is_named_with_both_sides(recorded: Any, now: Any, place: Place) -> None:
    assert first_difference(recorded, now) == place


def test_a_long_text_is_shown_around_the_first_character_that_differs() -> None:
    now = LONG[:1_203] + "X" + LONG[1_204:]
    place = first_difference({"text": LONG}, {"text": now})
    assert place is not None
    assert place.rows() == [
        'text: recorded …"\\n059 words and words\\n060 words and words\\n061 words and words\\n062 words a"…  (line 61, character 4)',
        '      now      …"\\n059 words and words\\n060Xwords and words\\n061 words and words\\n062 words a"…',
    ]


def test_a_long_text_that_goes_on_differs_where_the_other_ends() -> None:
    place = first_difference(LONG, LONG + "more")
    assert place is not None and place.at == "line 101, character 1"


def test_members_that_differ_each_time_do_not_count_in_the_outermost_object() -> None:
    assert first_difference({"a": 1, "pid": 7}, {"a": 1, "pid": 8}, without=["pid"]) is None
    inside = first_difference({"a": {"pid": 7}}, {"a": {"pid": 8}}, without=["pid"])
    assert inside is not None and inside.path == "a.pid"


def test_a_big_value_is_cut() -> None:
    place = first_difference({"a": list(range(1_000))}, {})
    assert place is not None and len(place.recorded) == 145 and place.recorded.endswith("…")
