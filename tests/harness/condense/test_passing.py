"""What went well is told by its number, in failed runs and in good ones; what failed stays whole."""

import pytest

from harness.condense import Flags
from harness.condense.passing import passing

from .making import HANDLE, seeing, shown

RULER = "-" * 70
FAILED = ["FAIL: test_price (shop.Totals)", RULER, "Traceback (most recent call last):", '  File "shop.py", line 3, in total', "AssertionError: 2 != 3"]  # fmt: skip
OK = [f"test_goods_{at} (shop.Totals.test_goods_{at}) ... ok" for at in range(80)]


def test_tests_that_passed_are_one_line_even_when_all_would_fit_and_failures_stay_whole() -> None:
    condensed = shown("\n".join([*OK, "test_price (shop.Totals) ... FAIL", "", *FAILED]), "build", exit_code=1)
    lines = condensed.text.split("\n")
    assert lines[1] == f'[lines 1-80 of 87 cut (80 tests ok): await recall("{HANDLE}")]'
    assert lines[2] == "test_price (shop.Totals) ... FAIL" and lines[-1] == FAILED[-1] and FAILED[2] in lines
    assert not condensed.whole and condensed.trimmed["cap"] > 0


def test_without_build_tail_every_line_that_has_room_stays() -> None:
    condensed = shown("\n".join(OK[:20]), "build", exit_code=1, flags=Flags(build_tail=False))
    assert condensed.whole and OK[7] in condensed.text


@pytest.mark.parametrize(
    "lines",
    [
        ["test shop::a ... ok", "test shop::b ... ok", "test shop::c ... ok", "test shop::d ... ok"],
        [f"tests/test_a.py::test_{name} PASSED        [ {at}%]" for at, name in enumerate("abcd")],
        ["  ✓ adds (3 ms)", "  ✓ takes away", "", "  ✓ divides", "  ✓ rounds"],
        ["=== RUN   TestA", "--- PASS: TestA (0.00s)", "--- PASS: TestB (0.00s)", "--- PASS: TestC", "--- PASS: TestD"],
        ["tests/test_a.py .. [ 10%]", "", "tests/test_b.py .s [ 30%]", "tests/test_c.py . [ 60%]", ". [100%]"],
    ],
)  # fmt: skip
def test_four_tests_are_counted_in_the_forms_of_many_tools(lines: list[str]) -> None:
    (run,) = passing(["start", *lines, "end"])
    assert (run.first, run.last) == (1, len(lines) + 1)
    assert run.told in ("4 tests ok", "5 tests ok")


def test_packages_and_files_are_not_called_tests_and_what_was_not_run_is_not_called_ok() -> None:
    lines = [
        "ok  \texample.com/a\t0.1s",
        "?   \texample.com/b\t[no test files]",
        "ok  \texample.com/c\t(cached)",
        "test d ... ignored",
    ]
    assert [run.told for run in passing(lines)] == ["2 packages ok"]
    assert [run.told for run in passing([f"PASS src/{at}.test.ts" for at in range(5)])] == ["5 test files ok"]
    assert [run.told for run in passing([f"core test: (pass) adds > {at} [1.00ms]" for at in range(5)])] == ["5 tests ok"]


def test_units_and_packages_are_counted_apart() -> None:
    lines = [*(f"  Downloaded serde v1.0.{at}" for at in range(3)), *(f"   Compiling serde v1.0.{at}" for at in range(3))]
    assert [run.told for run in passing(lines)] == ["3 packages fetched, 3 units built"]


def test_a_line_between_two_runs_parts_them() -> None:
    lines = ["a ... ok"] * 4 + ["b ... FAIL"] + ["c ... ok"] * 5
    assert [(run.first, run.last) for run in passing(lines)] == [(0, 4), (5, 10)]


@pytest.mark.parametrize(
    "line",
    ["test a ... FAILED", "  ✗ adds", "not ok 1 - adds", "--- FAIL: TestA", "tests/a.py ..F [ 3%]", "[3/9] FAILED: a.o", "ok then",
     "   Compiling serde v1.0 warning: unused", "PASSED", "...", "plain text"],
)  # fmt: skip
def test_a_line_that_may_tell_of_trouble_or_of_nothing_is_not_counted(line: str) -> None:
    assert passing([line] * 10) == []


def test_a_short_run_stays() -> None:
    assert passing(["test a ... ok"] * 3) == []


def test_lines_in_view_are_referred_to_and_not_counted_again() -> None:
    condensed = shown("\n".join([*OK[:10], "a new line", *OK[20:30]]), "build", exit_code=1, view=seeing("\n".join(OK[:10])))
    assert condensed.text.split("\n")[1:] == [
        "[10 lines already shown in T1.1, lines 1-10]",
        "a new line",
        f'[lines 12-21 of 21 cut (10 tests ok): await recall("{HANDLE}")]',
    ]
