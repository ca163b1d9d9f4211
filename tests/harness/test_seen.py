"""What is in view is found, exactly; what is not is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.condense.record import Origin, Reference
from harness.seen import Run, Seen
from harness.viewed import WINDOW, is_trivial

CODE = [f"    value_{n} = compute({n})" for n in range(1, 101)]


def text(lines: list[str]) -> str:
    return "\n".join(lines)


def test_a_run_in_view_is_found_where_it_stands() -> None:
    view = Seen()
    view.add(1, "T1.1", text(["header", *CODE]))
    assert view.runs(["new", *CODE[10:30], "new"]) == [Run(1, 21, "T1.1", 12)]


def test_four_lines_are_not_a_run_and_five_are() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE))
    assert view.runs(["x", *CODE[3:7], "y"]) == []
    assert view.runs(["x", *CODE[3:8], "y"]) == [Run(1, 6, "T1.1", 4)]
    assert view.runs(["x", *CODE[3:8], "y"], least=6) == []


def test_a_run_stands_in_one_text_and_not_across_two() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE[:20]))
    view.add(1, "T1.2", text(CODE[20:40]))
    assert view.runs(CODE[10:30]) == [Run(0, 10, "T1.1", 11), Run(10, 20, "T1.2", 1)]
    assert view.runs(CODE[17:23]) == []


def test_the_longest_run_wins_and_then_the_newest_text() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE[:50]))
    view.add(2, "T2.1", text(CODE[:20]))
    view.add(3, "T3.1", text(CODE[:20]))
    assert view.runs(CODE[:20]) == [Run(0, 20, "T3.1", 1)]
    assert view.runs(CODE[:30]) == [Run(0, 30, "T1.1", 1)]


def test_forgotten_turns_are_not_in_view_and_leave_nothing_behind() -> None:
    view = Seen()
    empty = {name: value for name, value in vars(view).items() if isinstance(value, dict)}
    assert all(value == {} for value in empty.values())
    view.add(1, "T1.1", text(CODE), [(0, 100, Origin("a.py", "oid", 1))])
    view.add(1, "T1.2", text([f"{n}:{line}" for n, line in enumerate(CODE)]))
    view.add(2, "T2.1", text(CODE[:10]))
    view.forget([1, 7])
    assert view.runs(CODE) == [Run(0, 10, "T2.1", 1)]
    assert (view.text("T1.1"), view.text("T2.1")) == (None, text(CODE[:10]))
    assert view.same(CODE) is None
    view.forget([2])
    assert all(value == {} for value in empty.values())


def test_a_replaced_text_is_in_view_as_it_is_now() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE[:50]))
    view.replace(1, "T1.1", text(CODE[40:60]))
    assert view.runs(CODE) == [Run(40, 60, "T1.1", 1)]
    assert view.text("T1.1") == text(CODE[40:60])
    with pytest.raises(KeyError):
        view.replace(1, "T9.1", "x")


def test_the_text_under_the_own_handle_is_not_looked_at() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE))
    assert view.runs(CODE[:50], own="T1.1") == []
    assert view.same(CODE, own="T1.1") is None


def test_nothing_is_matched_with_a_reference_or_across_it() -> None:
    words = "[9 lines already shown in T1.1, lines 1-9]"
    lines = [*CODE[:6], words, *CODE[6:20]]
    view = Seen()
    view.add(2, "T2.1", text(lines), references=[(6, Reference("T1.1", 1, 9))])
    # Content that looks like the reference is content; behind it, the nine lines count.
    assert view.runs(lines) == [Run(0, 6, "T2.1", 1), Run(7, 21, "T2.1", 16)]
    assert view.same(lines) is None


@pytest.mark.parametrize("lines", [[""] * 9, ["    "] * 9, ["}"] * 9, ["", "}"] * 5, ["-" * 80] * 20], ids=repr)
def test_a_run_without_two_different_lines_is_none(lines: list[str]) -> None:
    view = Seen()
    view.add(1, "T1.1", text(lines))
    assert view.runs(lines) == []


def test_a_run_that_starts_with_trivial_lines_is_found_whole() -> None:
    lines = [*[""] * 30, "one", *[""] * 30, "two", "three", "", ""]
    view = Seen()
    view.add(1, "T1.1", text(["x", *lines, "y"]))
    assert view.runs(["a", *lines, "b"]) == [Run(1, 66, "T1.1", 2)]


def test_a_run_is_grown_back_over_lines_that_stand_in_too_many_places() -> None:
    lines = [*[""] * 100, "one", "two", "three"]
    view = Seen()
    view.add(1, "T1.1", text([*[""] * 20, "x", *lines]))
    assert view.runs(["a", *lines]) == [Run(1, 104, "T1.1", 22)]


def test_what_is_not_worth_it_leaves_its_lines_to_other_runs() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE[2:10]))
    view.add(1, "T1.2", text(CODE[0:6]))
    assert view.runs(CODE[:10]) == [Run(0, 6, "T1.2", 1)]
    assert view.runs(CODE[:10], worth=lambda run: run.handle == "T1.1") == [Run(2, 10, "T1.1", 1)]


def test_hashes_that_collide_suppress_nothing() -> None:
    view = Seen(window_key=lambda window: 0)
    view.add(1, "T1.1", text(CODE[:4] + CODE[50:80]))
    assert view.runs(["other"] * 3 + [f"line {n}" for n in range(20)]) == []
    assert all(CODE[run.start] == text(CODE[:4] + CODE[50:80]).split("\n")[run.first - 1] for run in view.runs(CODE))


def test_a_run_knows_where_its_lines_stand_in_a_file() -> None:
    view = Seen()
    view.add(
        1,
        "T1.1",
        text(["head", *CODE[:20], "gap", *CODE[50:60]]),
        [(1, 20, Origin("a.py", "x", 1)), (22, 10, Origin("a.py", "x", 51))],
    )
    assert [run.origin for run in view.runs(CODE)] == [Origin("a.py", "x", 1), Origin("a.py", "x", 51)]
    assert [run.origin for run in view.runs(["head", *CODE[:6]])] == [None]


def test_covered_lines_follow_the_view() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE[:20]), [(0, 20, Origin("a.py", "x", 1))])
    view.add(
        2,
        "T2.1",
        text(CODE[:30]),
        [(0, 10, Origin("a.py", "x", 11)), (10, 10, Origin("a.py", "x", 41)), (20, 10, Origin("a.py", "", 80))],
    )
    assert view.covered("a.py", "x", 5, 45) == [(5, 20), (41, 45)]
    assert view.covered("a.py", "y", 5, 45) == view.covered("b.py", "x", 5, 45) == view.covered("a.py", "", 80, 90) == []
    view.forget([1])
    assert view.covered("a.py", "x", 5, 45) == [(11, 20), (41, 45)]


def test_a_written_file_is_not_covered_and_its_lines_are_still_found() -> None:
    view = Seen()
    view.add(1, "T1.1", text(CODE[:20]), [(0, 20, Origin("a.py", "x", 1))])
    view.written("a.py")
    assert view.covered("a.py", "x", 1, 20) == []
    assert view.runs(CODE[:20]) != []
    view.add(2, "T2.1", text(CODE[:5]), [(0, 5, Origin("a.py", "x", 1))])
    view.forget([1])
    assert view.covered("a.py", "x", 1, 20) == [(1, 5)]


POOL = [f"a line of some length, number {n}" for n in range(14)] + [
    "",
    "",
    "}",
    "  }",
    "12: yaml",
    "13: yaml",
    "14: yaml",
    "15: yaml",
    "16: yaml",
]
some_lines = st.lists(st.sampled_from(POOL), max_size=40) | st.integers(0, len(POOL) - 1).map(lambda n: (POOL + POOL)[n : n + 12])
documents = st.lists(some_lines, min_size=1, max_size=5).map(lambda parts: [line for part in parts for line in part])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), documents), max_size=6), st.sets(st.integers(0, 3), max_size=2), documents)
def test_runs_are_exact_in_order_and_leave_out_no_run(shown: list[tuple[int, list[str]]], gone: set[int], new: list[str]) -> None:
    view = Seen()
    for index, (turn, lines) in enumerate(shown):
        view.add(turn, f"T{turn}.{index}", text(lines))
    view.forget(gone)
    here = {f"T{turn}.{index}": lines for index, (turn, lines) in enumerate(shown) if turn not in gone}
    taken = [False] * len(new)
    after = 0
    for run in view.runs(new):
        assert run.start >= after and run.end - run.start >= WINDOW
        after = run.end
        there = here[run.handle][run.first - 1 : run.first - 1 + run.end - run.start]
        assert (there if run.numbering is None else run.numbering.restored(there)) == new[run.start : run.end]
        taken[run.start : run.end] = [True] * (run.end - run.start)
    for start in range(len(new) - WINDOW + 1):
        window = new[start : start + WINDOW]
        places = [at for lines in here.values() for at in range(len(lines) - WINDOW + 1) if lines[at : at + WINDOW] == window]
        if 0 < len(places) <= 4 and not is_trivial(window, 0, WINDOW):
            assert any(taken[start : start + WINDOW]), window


@pytest.mark.parametrize("period", [1, 2, 3, 7, 50])
def test_text_that_repeats_is_compared_a_bounded_number_of_times_a_line(period: int) -> None:
    lines = [f"a line of a text, {n % period}" for n in range(10_000)]
    view = Seen()
    view.add(1, "T1.1", text(lines[:9_000]))
    for new in (lines, ["x", *lines[3:]], [""] * 4 + lines[:200] + ["y"] + lines):
        before = view.compared
        runs = view.runs(new)
        assert view.compared - before <= 20 * len(new)
        if period > 1:
            assert len(runs) <= 4 and sum(run.end - run.start for run in runs) >= len(new) - 10


def test_a_window_in_many_texts_is_compared_with_few_of_them() -> None:
    view = Seen()
    for turn in range(1_000):
        view.add(turn, f"T{turn}.1", text([f"head {turn}", *CODE[:50], f"tail {turn}"]))
    assert view.runs([*CODE[:50], "end"]) == [Run(0, 50, "T999.1", 2)]
    assert view.compared <= 8 * 60


def test_trivial_lines_between_are_compared_a_bounded_number_of_times() -> None:
    lines = [line for n in range(500) for line in (*[""] * 15, f"only {n % 3}")]
    view = Seen()
    view.add(1, "T1.1", text(["", *lines[:4_000], *["}"] * 4_000]))
    for new in (lines, [""] * 9_000, ["}"] * 9_000, list(reversed(lines))):
        before = view.compared
        view.runs(new, worth=lambda run: False)
        assert view.compared - before <= 40 * len(new)
