"""Rules for faults: what a line of English means, what is told when it means nothing, and which calls fall to which rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.call import Outcome
from harness.config import read_settings
from harness.faults import BadFault, Fault, FaultCounts, How, fault_notices, parse_fault
from harness.setup import BadConfig

RULES = [
    ("shell.* times out", Fault(tool="shell.*", how="times out")),
    ("files.read fails twice", Fault(tool="files.read", how="fails", times=2)),
    ("web.fetch fails once after 2", Fault(tool="web.fetch", how="fails", times=1, after=2)),
    ("patch.apply is denied", Fault(tool="patch.apply", how="is denied")),
    ("patch.apply is refused on line 3", Fault(tool="patch.apply", how="is refused", line=3)),
    (
        "search.grep fails 3 times with not_found: no such file",
        Fault(tool="search.grep", how="fails", times=3, code="not_found", message="no such file"),
    ),
    ("files.read fails always", Fault(tool="files.read", how="fails")),
    (
        "  files.read   times  out 1 time on line 12 after 4 ",
        Fault(tool="files.read", how="times out", times=1, after=4, line=12),
    ),
    (
        "a.b fails with busy: come back with more: later",
        Fault(tool="a.b", how="fails", code="busy", message="come back with more: later"),
    ),
]


@pytest.mark.parametrize(("text", "meant"), RULES)
def test_a_line_of_english_is_a_rule(text: str, meant: Fault) -> None:
    assert parse_fault(text) == meant


hows: tuple[How, ...] = ("fails", "times out", "is denied", "is refused")


@given(
    st.builds(
        Fault,
        tool=st.sampled_from(["files.read", "shell.*", "*", "x.[ab]?"]),
        how=st.sampled_from(hows),
        times=st.none() | st.integers(1, 10**8),
        after=st.integers(0, 10**8),
        line=st.integers(0, 10**8),
    ),
    st.sampled_from([("", ""), ("not_found", "no such file"), ("x", "with: 2 times")]),
)
def test_a_rule_reads_as_it_is_written(fault: Fault, problem: tuple[str, str]) -> None:
    whole = Fault(
        tool=fault.tool, how=fault.how, times=fault.times, after=fault.after, line=fault.line, code=problem[0], message=problem[1]
    )
    assert parse_fault(str(whole)) == whole


RIGHT = "; right are: shell.* times out; files.read fails twice after 3 with not_found: no such file"
HOWS = "say one of: fails, times out, is denied, is refused"
WRONG = [
    ("", "it begins with the name of a tool, or a pattern such as shell.*"),
    ("files.read", f"what becomes of files.read is not said; {HOWS}"),
    ("a/b fails", "'a/b' names no tool"),
    ("files.read fials twice", f"'fials twice' is not understood (did you mean fails for fials?); {HOWS}"),
    ("files.read is broken", f"'is broken' is not understood; {HOWS}"),
    ("files.read fails thrice", "'thrice' is not understood (did you mean twice for thrice?)"),
    ("files.read fails on lime 3", "'on lime 3' is not understood (did you mean line for lime?)"),
    ("files.read fails after", "'after' is not understood"),
    ("files.read fails once 2 times", "'2 times' is too much: it says 'once' already"),
    ("files.read fails 0 times", "'0 times' is never: times and lines count from 1"),
    ("files.read fails on line 0", "'on line 0' is never: times and lines count from 1"),
    ("files.read fails with not_found", "after `with` come a code, a colon and a message, not 'not_found'"),
    ("files.read fails with", "after `with` come a code, a colon and a message, not ''"),
]


@pytest.mark.parametrize(("text", "what"), WRONG)
def test_a_rule_that_is_not_understood_says_what_of_it_and_shows_two_right_ones(text: str, what: str) -> None:
    with pytest.raises(BadFault) as told:
        parse_fault(text)
    assert str(told.value) == f"the fault rule {text!r}: {what}{RIGHT}"


def test_a_rule_of_the_command_line_that_is_not_understood_is_a_mistake_of_use() -> None:
    with pytest.raises(BadConfig, match="the fault rule 'x fials': 'fials' is not understood"):
        read_settings(environment={}, faults=["x fials"])
    assert read_settings(environment={}, faults=["x.y fails"]).setup.faults == (Fault(tool="x.y", how="fails"),)


def taken(rules: list[str], calls: list[tuple[str, int]]) -> list[str]:
    counts = FaultCounts(map(parse_fault, rules))
    return [str(fault or "") for fault in (counts.due(tool, line) for tool, line in calls)]


FALLS = [
    (["a.b fails twice"], ["a.b", "a.c", "a.b", "a.b"], ["a.b fails twice", "", "a.b fails twice", ""]),
    (["a.* fails once after 1"], ["a.b", "a.c", "a.d"], ["", "a.* fails once after 1", ""]),
    (["a.b fails"], ["a.b"] * 3, ["a.b fails"] * 3),
    # One after the other: what fell to the first rule has not used up the second.
    (["a.b fails once", "a.b times out once"], ["a.b"] * 3, ["a.b fails once", "a.b times out once", ""]),
    # `after` counts calls, whatever became of them.
    (["a.b fails once", "a.b times out once after 1"], ["a.b"] * 3, ["a.b fails once", "a.b times out once after 1", ""]),
]


@pytest.mark.parametrize(("rules", "calls", "fall_to"), FALLS)
def test_calls_fall_to_the_first_rule_that_is_due(rules: list[str], calls: list[str], fall_to: list[str]) -> None:
    assert taken(rules, [(call, 1) for call in calls]) == fall_to


def test_a_rule_for_a_line_leaves_other_lines_alone_and_does_not_count_them() -> None:
    rule = "a.b fails once after 1 on line 2"
    assert taken([rule], [("a.b", 1), ("a.b", 2), ("a.b", 3), ("a.b", 2), ("a.b", 2)]) == ["", "", "", rule, ""]


def test_each_rule_is_told_once_with_how_many_calls_it_hit() -> None:
    def ended(status: str, rule: str) -> Outcome:
        return Outcome(status=status, fault=rule)  # type: ignore[arg-type]

    outcomes = [
        ended("failed", "files.read fails twice"), ended("returned", ""), ended("failed", "files.read fails twice"),
        ended("timed_out", "shell.* times out"), ended("denied", "a.b is denied"), ended("refused", "c.d is refused"),
        ended("refused", "c.d is refused"),
    ]  # fmt: skip
    assert fault_notices(outcomes) == [
        "2 calls failed by a fault rule: files.read fails twice",
        "1 call timed out by a fault rule: shell.* times out",
        "1 call was denied by a fault rule: a.b is denied",
        "2 calls were refused by a fault rule: c.d is refused",
    ]
