"""Numbers come off lines and go on again, byte for byte."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.line_numbers import Numbering, Numbers, stretches

FORMS: dict[str, Callable[[int, str], str]] = {
    "grep -n": lambda n, line: f"{n}:{line}",
    "grep -nC": lambda n, line: f"{n}:{line}" if n % 3 == 0 else f"{n}-{line}",
    "grep -rnC": lambda n, line: f"src/a-1.py:{n}:{line}" if n % 3 == 0 else f"src/a-1.py-{n}-{line}",
    "cat -n": lambda n, line: f"{n:6}\t{line}",
    "L12: ": lambda n, line: f"L{n}: {line}",
    "L12: without a space at the end": lambda n, line: f"L{n}: {line}".rstrip(" "),
    "12 | ": lambda n, line: f"{n:4} | {line}",
    "12 | without a space at the end": lambda n, line: f"{n} | {line}".rstrip(" "),
    "12|": lambda n, line: f"{n}|{line}",
    "00012| ": lambda n, line: f"{n:05}| {line}",
    "12→": lambda n, line: f"{n:6}→{line}",
    "12: ": lambda n, line: f"{n}: {line}",
}
bodies = st.lists(
    st.text(st.characters(blacklist_characters="\n", blacklist_categories=("Cs",)), max_size=12).map(lambda t: t.rstrip(" ")),
    min_size=5,
    max_size=30,
)


@pytest.mark.parametrize("form", FORMS)
@given(first=st.sampled_from([0, 1, 7, 97, 995]), lines=bodies)
def test_every_form_is_read_and_written_the_same(form: str, first: int, lines: list[str]) -> None:
    first = max(first, 1 if form.startswith(("grep -r", "000")) else 0)
    if form.startswith("grep -r"):
        lines = [line.replace("-", "").replace(":", "") for line in lines]
    text = [FORMS[form](first + n, line) for n, line in enumerate(lines)]
    found = stretches(["no number", *text, "no number"], least=5)
    if any(lines):
        assert lines in [each.bodies for each in found]
    for each in found:
        count = len(each.bodies)
        numbers = each.numbers(0, count)
        raw = ["no number", *text][each.start : each.start + count]
        assert Numbering(here=numbers).restored(each.bodies) == raw
        assert Numbering(there=numbers).restored(raw) == each.bodies
        part = each.numbers(2, count - 2)
        assert Numbering(part, part).restored(raw[2:]) == raw[2:]


def test_a_stretch_ends_where_numbers_or_form_change() -> None:
    lines = [
        *(f"{n}:a" for n in range(1, 7)),
        *(f"{n}:a" for n in range(8, 14)),
        *(f"{n}\ta" for n in range(14, 20)),
        *(f"b.py:{n}:a" for n in range(20, 26)),
    ]
    assert [(each.start, len(each.bodies), each.form.first) for each in stretches(lines, least=5)] == [
        (0, 6, 1),
        (6, 6, 8),
        (12, 6, 14),
        (18, 6, 20),
    ]


def test_matches_of_grep_are_told_from_the_lines_around_them() -> None:
    lines = ["7-a", "8-b", "9:c", "10-d", "11:e"]
    (found,) = stretches(lines, least=5)
    assert found.numbers(0, 5) == Numbers(7, "-", other=":", others=(2, 4))
    assert found.numbers(0, 5).matches() == (9, 11)
    assert found.numbers(2, 1).matches() == ()


def test_lines_that_do_not_have_the_numbers_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="lines are not numbered from 3 as the reference says"):
        Numbering(there=Numbers(3, ":")).restored(["3:a", "5:b"])


@given(st.lists(st.text("0123456789:-L| \tab", max_size=8), max_size=40))
def test_whatever_is_read_is_written_the_same(lines: list[str]) -> None:
    for each in stretches(lines, least=2):
        numbers = each.numbers(0, len(each.bodies))
        assert Numbering(here=numbers).restored(each.bodies) == lines[each.start : each.start + len(each.bodies)]


fronts = st.tuples(
    st.sampled_from(["", "", " ", "0"]), st.sampled_from(["", "", "L", "a:", "b:"]), st.sampled_from([":", ":", "-", ": ", "|"])
)


@given(st.sampled_from([1, 7, 98]), st.lists(st.tuples(fronts, st.integers(1, 8)), min_size=1, max_size=8))
def test_a_stretch_has_one_form_only(first: int, runs: list[tuple[tuple[str, str, str], int]]) -> None:
    forms = [front for front, count in runs for _ in range(count)]
    lines = [f"{lead}{fill}{first + n}{mark}text" for n, (fill, lead, mark) in enumerate(forms)]
    for each in stretches(lines, least=2):
        numbers = each.numbers(0, len(each.bodies))
        assert Numbering(here=numbers).restored(each.bodies) == lines[each.start : each.start + len(each.bodies)]
