"""Lines that stand twice in one text are shown once."""

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.condense.passage import Passage
from harness.condense.record import Condensed, Origin, Reference
from harness.condense.repeats import folded, folded_passage
from harness.mended import OnRecord
from tests.harness.conversation import literal_lines

LICENCE = [f"# Sentence {n} of a licence that stands in every file." for n in range(1, 9)]


def test_the_second_of_two_runs_refers_to_the_first() -> None:
    text = "\n".join(["a.py", *LICENCE, "b.py", *LICENCE, "end"])
    reference = Reference("T1.1", 2, 9)
    condensed = Condensed(
        text=text,
        produced=len(text) + 50,
        trimmed={"cap": 50},
        placed=((1, 8, Origin("a.py", "x")), (10, 8, Origin("b.py", "y")), (18, 1, Origin("c"))),
    )
    after = folded(condensed, own="T1.1")
    assert after.text.split("\n") == ["a.py", *LICENCE, "b.py", "[8 lines already shown in T1.1, lines 2-9]", "end"]
    assert after.references == ((10, reference),)
    assert after.placed == ((1, 8, Origin("a.py", "x")), (11, 1, Origin("c")))
    assert after.produced == len(after.text) + sum(after.trimmed.values())


def test_lines_behind_a_reference_count_and_are_not_referred_to() -> None:
    before = Reference("T0.1", 1, 20)
    text = "\n".join(["[20 lines]", *LICENCE, "[20 lines]", *LICENCE])
    after = folded_passage(Passage(text, ((0, before), (9, before))), own="T1.1")
    assert after.references == ((0, before), (9, before), (10, Reference("T1.1", 21, 28)))


def test_a_text_without_repeats_stays_as_it_is() -> None:
    condensed = Condensed(text="\n".join(LICENCE), produced=1)
    assert folded(condensed, own="T1.1") is condensed
    blank = Condensed(text="\n" * 500 + "}\n" * 500, produced=1)
    assert folded(blank, own="T1.1") is blank


POOL = [f"a line of some length, number {n}" for n in range(8)] + ["", "}"]
documents = st.lists(st.lists(st.sampled_from(POOL), max_size=12) | st.just(LICENCE), min_size=1, max_size=8).map(
    lambda parts: [line for part in parts for line in part] or [""]
)


@settings(max_examples=300, deadline=None)
@given(documents)
def test_references_put_back_give_the_text(lines: list[str]) -> None:
    passage = folded_passage(Passage("\n".join(lines)), own="T1.1")
    assert OnRecord({"T1.1": passage}.__getitem__).lines("T1.1") == lines
    stand = literal_lines(passage)
    for _, reference in passage.references:
        assert set(range(reference.first, reference.last + 1)) <= stand.keys()
    assert passage.text.split("\n").count(LICENCE[0]) <= 1
