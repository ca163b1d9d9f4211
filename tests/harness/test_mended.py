"""References in view when what they refer to leaves it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.condense.in_view import reference_text
from harness.condense.passage import Passage
from harness.condense.record import Origin, Reference
from harness.line_numbers import Numbering, Numbers
from harness.mended import OnRecord, mended
from tests.harness.conversation import Conversation, literal_lines

FILE = [f"def function_{n}(argument, other_argument):" if n % 7 else "" for n in range(60)]
OTHER = [f"{n}: value of the key number {n}" for n in range(10, 40)] + ["}", "", "}", "", "}", ""]
FORMS = (
    lambda n, line: line,
    lambda n, line: f"{n}:{line}",
    lambda n, line: f"{n:6}\t{line}",
    lambda n, line: f"L{n}: {line}",
    lambda n, line: f"{n:4} | {line}".rstrip(),
    lambda n, line: f"src/a.py{':' if n % 4 == 0 else '-'}{n}{':' if n % 4 == 0 else '-'}{line}",
)


@st.composite
def pieces(draw: st.DrawFn) -> list[str]:
    source = draw(st.sampled_from([FILE, OTHER]))
    first = draw(st.integers(0, len(source) - 1))
    count = draw(st.integers(1, 30))
    form = draw(st.sampled_from(FORMS))
    shift = draw(st.sampled_from([1, 95]))
    return [form(first + index + shift, line) for index, line in enumerate(source[first : first + count])]


texts = st.lists(
    pieces() | st.lists(st.text("ab \n", max_size=3).map(lambda t: t.replace("\n", "")), max_size=4), min_size=1, max_size=4
).map(lambda parts: [line for part in parts for line in part] or [""])
moves = st.lists(
    st.tuples(st.just("show"), texts) | st.tuples(st.just("forget"), st.sets(st.integers(0, 12), max_size=3)), max_size=14
)


@settings(max_examples=250, deadline=None)
@given(moves)
@example([("show", FILE), ("show", FILE[:30]), ("forget", {0}), ("show", FILE[5:25]), ("forget", {1}), ("forget", {3})])
def test_all_that_is_in_view_can_be_told_from_what_is_in_view(steps: list[tuple[str, object]]) -> None:
    talk = Conversation()
    for turn, (move, what) in enumerate(steps):
        if move == "show":
            talk.show(turn, what)  # type: ignore[arg-type]
        else:
            talk.forget(what)  # type: ignore[arg-type]
        for handle, passage in talk.in_view.items():
            assert talk.view.text(handle) == passage.text
            assert talk.expanded(handle) == talk.sources[handle]
            for index, reference in passage.references:
                assert passage.text.split("\n")[index] == reference_text(reference)
                stand = literal_lines(talk.in_view[reference.handle])
                assert set(range(reference.first, reference.last + 1)) <= stand.keys()
    on_record = OnRecord(talk.entries.__getitem__)
    assert {handle: "\n".join(on_record.lines(handle)) for handle in talk.sources} == talk.sources


def test_lines_come_back_where_the_reference_stood_and_later_references_move() -> None:
    reference = Reference("T1.1", 2, 4, path="a.py", lines=(12, 14), oid="x")
    kept = Reference("T2.1", 1, 9)
    text = "head\n[3 lines]\nbetween\n[9 lines]"
    after = mended(
        text,
        [(1, reference), (3, kept)],
        {"T1.1"}.__contains__,
        lambda handle, n: f"{handle} {n}",
        placed=[(2, 1, Origin("b.py", "y", 7))],
    )
    assert after == Passage(
        "head\nT1.1 2\nT1.1 3\nT1.1 4\nbetween\n[9 lines]",
        ((5, kept),),
        ((1, 3, Origin("a.py", "x", 12)), (4, 1, Origin("b.py", "y", 7))),
    )


def test_numbers_come_back_with_the_lines() -> None:
    numbering = Numbering(here=Numbers(9, "\t", width=4), there=Numbers(1, ":"))
    after = mended("[2 lines]", [(0, Reference("T1.1", 1, 2, numbering=numbering))], bool, lambda _, n: f"{n}:line {n}")
    assert after.text == "   9\tline 1\n  10\tline 2"


def test_nothing_lost_changes_nothing() -> None:
    references = ((1, Reference("T1.1", 2, 4)),)
    assert mended("a\nb", references, lambda _: False, lambda *_: pytest.fail("no line is needed")) == Passage("a\nb", references)


def test_two_mended_texts_do_not_both_show_the_lines() -> None:
    talk = Conversation()
    talk.show(0, FILE[:40])
    first = talk.show(1, ["first", *FILE[:40]])
    second = talk.show(2, ["second", *FILE[:40]])
    talk.forget([0])
    assert talk.in_view[first].text == "\n".join(["first", *FILE[:40]])
    assert talk.in_view[second].text == f"second\n[40 lines already shown in {first}, lines 2-41]"


def test_a_line_is_found_through_many_texts() -> None:
    last = 3_000
    texts = {f"T{n}.1": Passage("[1 line]", ((0, Reference(f"T{n - 1}.1", 1, 1)),)) for n in range(1, last + 1)}
    texts["T0.1"] = Passage("the line")
    assert OnRecord(texts.__getitem__).line(f"T{last}.1", 1) == "the line"


def test_references_in_a_circle_are_no_record_of_ours() -> None:
    texts = {"T1.1": Passage("x", ((0, Reference("T2.1", 1, 1)),)), "T2.1": Passage("x", ((0, Reference("T1.1", 1, 1)),))}
    with pytest.raises(ValueError, match="references lead in a circle through T"):
        OnRecord(texts.__getitem__).lines("T1.1")
