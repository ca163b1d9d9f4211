"""Which lines are covered, when intervals come and go."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.intervals import Cover

intervals = st.tuples(st.integers(1, 60) | st.integers(4_060, 4_120) | st.just(12_280), st.integers(1, 20) | st.just(9_000)).map(
    lambda pair: (pair[0], pair[0] + pair[1] - 1)
)


@settings(deadline=None)
@given(st.lists(st.tuples(intervals, st.booleans())), intervals)
def test_covered_is_what_was_added_and_not_taken_away(steps: list[tuple[tuple[int, int], bool]], asked: tuple[int, int]) -> None:
    cover = Cover()
    kept: list[tuple[int, int]] = []
    for interval, stays in steps:
        cover.add(*interval)
        kept.append(interval)
        if not stays:
            cover.remove(*kept.pop(len(kept) // 2))
    found = cover.within(*asked)
    lines = {line for first, last in kept for line in range(first, last + 1)}
    assert [line for a, b in found for line in range(a, b + 1)] == sorted(lines & set(range(asked[0], asked[1] + 1)))
    assert all(b + 1 < c for (_, b), (c, _) in pairwise(found))
    for interval in kept:
        cover.remove(*interval)
    assert not cover


def test_taking_away_what_was_never_added_is_a_mistake() -> None:
    cover = Cover()
    cover.add(1, 5)
    with pytest.raises(ValueError, match="lines 4-8 are taken away but were never added"):
        cover.remove(4, 8)
