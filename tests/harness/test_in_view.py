"""Runs in view become references; a reference says enough to know the lines."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.condense.in_view import Span, collapse, reference_text, size_bytes
from harness.condense.record import Origin, Reference
from harness.line_numbers import Numbering, Numbers
from harness.seen import Seen

CODE = [f"    value_{n} = compute({n})" if n % 6 else "" for n in range(1, 101)]
FORMS: dict[str, Callable[[int, str], str]] = {
    "bare": lambda n, line: line,
    "grep -n": lambda n, line: f"{n}:{line}",
    "grep -nC": lambda n, line: f"{n}{':' if n % 5 == 0 else '-'}{line}",
    "grep -rn": lambda n, line: f"src/a.py:{n}:{line}",
    "cat -n": lambda n, line: f"{n:6}\t{line}",
    "L12: ": lambda n, line: f"L{n}: {line}",
    "12 | ": lambda n, line: f"{n:4} | {line}",
    "12→": lambda n, line: f"{n:6}→{line}",
}


def view_of(*texts: list[str], placed: tuple[tuple[int, int, Origin], ...] = ()) -> Seen:
    view = Seen()
    for turn, lines in enumerate(texts, 1):
        view.add(turn, f"T{turn}.1", "\n".join(lines), placed)
    return view


def expanded(lines: list[str], spans: list[Span], view: Seen) -> list[str]:
    found: list[str] = []
    for span in spans:
        if span.reference is None:
            found += lines[span.first : span.last]
            continue
        text = view.text(span.reference.handle)
        assert text is not None
        there = text.split("\n")[span.reference.first - 1 : span.reference.last]
        assert len(there) == span.last - span.first
        found += span.reference.numbering.restored(there) if span.reference.numbering else there
    return found


def told(lines: list[str], view: Seen, origin: Origin | None = None) -> list[str]:
    spans = collapse(lines, view, origin=origin)
    assert expanded(lines, spans, view) == lines
    return [
        each for span in spans for each in ([reference_text(span.reference)] if span.reference else lines[span.first : span.last])
    ]


def test_spans_cover_all_lines_in_order() -> None:
    lines = ["a", *CODE[:10], "b", *CODE[50:80]]
    assert collapse(lines, view_of(CODE)) == [
        Span(0, 1),
        Span(1, 11, Reference("T1.1", 1, 10)),
        Span(11, 12),
        Span(12, 42, Reference("T1.1", 51, 80)),
    ]
    assert collapse([], view_of(CODE)) == []
    assert collapse(["a"], view_of(CODE)) == [Span(0, 1)]


def test_a_reference_names_the_file_that_the_lines_are_from() -> None:
    view = view_of(CODE, placed=((0, 100, Origin("src/a.py", "oid1", 101)),))
    assert told(["x", *CODE[9:30]], view) == ["x", "[21 lines already shown in T1.1, lines 10-30: src/a.py 110-130]"]
    assert told(CODE[9:30], view, Origin("b.py", "oid2", 5)) == ["[21 lines already shown in T1.1, lines 10-30: b.py 5-25]"]


def test_chunk_ids_are_asked_for_when_the_version_is_known() -> None:
    def ids(*asked: str | int) -> tuple[str, ...]:
        return tuple(map(str, asked))

    view = view_of(CODE)
    for origin, expected in ((Origin("b.py", "oid2", 5), ("b.py", "oid2", "5", "14")), (Origin("b.py"), ()), (None, ())):
        (span,) = collapse(CODE[:10], view, origin=origin, chunk_ids=ids)
        assert span.reference is not None and span.reference.chunk_ids == expected


def test_a_whole_text_in_view_is_a_reference_when_it_is_short() -> None:
    pair = ["all checks passed in 12 files of the project", "nothing was changed by this command"]
    long = ["x" * 160]
    view = view_of(pair, long, ["ok"], ["a", "b"])
    assert told(pair, view) == ["[2 lines already shown in T1.1, lines 1-2]"]
    assert told(long, view) == ["[1 line already shown in T2.1, line 1]"]
    assert told(["ok"], view) == ["ok"]
    assert told(["a", "b"], view) == ["a", "b"]
    assert told([*pair, "more"], view) == [*pair, "more"]


def test_a_reference_is_never_longer_than_its_lines() -> None:
    lines = ["a", "b", "c", "d", "e"]
    assert told(["x", *lines], view_of([*lines, "y"])) == ["x", *lines]


def test_new_numbers_are_told() -> None:
    view = view_of(CODE, placed=((0, 100, Origin("src/a.py", "oid1", 1)),))
    numbered = [f"{n:6}\t{line}" for n, line in enumerate(CODE, 1)]
    assert told(numbered[10:20], view) == ["[10 lines already shown in T1.1, lines 11-20: src/a.py 11-20, numbered from 11]"]
    around = [FORMS["grep -nC"](n, line) for n, line in enumerate(CODE, 1)]
    assert told(around[10:20], view) == [
        "[10 lines already shown in T1.1, lines 11-20: src/a.py 11-20, numbered from 11, matches at 15 20]"
    ]
    paths = [FORMS["grep -rn"](n, line) for n, line in enumerate(CODE, 1)]
    assert told(paths[:10], view) == ["[10 lines already shown in T1.1, lines 1-10: src/a.py 1-10, numbered from 1]"]
    assert told(paths[:10], view_of(CODE)) == ["[10 lines already shown in T1.1, lines 1-10, numbered from 1, of src/a.py]"]


def test_numbers_that_are_there_already_are_not_told() -> None:
    view = view_of([FORMS["cat -n"](n, line) for n, line in enumerate(CODE, 1)])
    assert told(CODE[:10], view) == ["[10 lines already shown in T1.1, lines 1-10]"]
    assert told([f"{n}:{line}" for n, line in enumerate(CODE[:10], 1)], view) == ["[10 lines already shown in T1.1, lines 1-10]"]
    assert told([f"{n}:{line}" for n, line in enumerate(CODE[:10], 7)], view) == [
        "[10 lines already shown in T1.1, lines 1-10, numbered from 7]"
    ]


@pytest.mark.parametrize("there", FORMS)
@pytest.mark.parametrize("here", FORMS)
def test_lines_are_found_with_and_without_numbers_of_any_form(here: str, there: str) -> None:
    view = view_of(["head", *(FORMS[there](n, line) for n, line in enumerate(CODE, 1))])
    new = ["other head", *(FORMS[here](n, line) for n, line in enumerate(CODE[20:60], 21)), "end"]
    first, found, last = told(new, view)
    assert (first, last) == ("other head", "end")
    assert found.startswith("[40 lines already shown in T1.1, lines 22-61")


def test_lines_that_look_numbered_match_as_they_are() -> None:
    yaml = [f"{n}: port {n + 8000} of the service" for n in range(10, 30)]
    (span,) = collapse(yaml, view_of([*yaml, "end"]))
    assert span.reference == Reference("T1.1", 1, 20)
    (span,) = collapse(yaml, view_of([f"{n:6}\t{line}" for n, line in enumerate(yaml, 3)]))
    assert span.reference == Reference("T1.1", 1, 20, numbering=Numbering(there=Numbers(3, "\t", width=6)))


def test_a_path_that_would_break_the_line_is_written_out() -> None:
    assert (
        reference_text(Reference("T1.1", 1, 9, path="a\nb\x1b.py", lines=(1, 9)))
        == "[9 lines already shown in T1.1, lines 1-9: a\\nb\\x1b.py 1-9]"
    )


POOL = [f"a line of some length, number {n}" for n in range(14)] + ["", "}", "\udcff", "12: yaml", "13: yaml", "14: yaml"]
parts = st.lists(st.sampled_from(POOL), max_size=12) | st.integers(0, 80).map(lambda n: CODE[n : n + 17])
numbered = st.tuples(st.sampled_from(sorted(FORMS)), st.integers(1, 80)).map(
    lambda pick: [FORMS[pick[0]](n, line) for n, line in enumerate(CODE[pick[1] : pick[1] + 15], pick[1])]
)
documents = st.lists(parts | numbered, min_size=1, max_size=5).map(lambda each: [line for part in each for line in part])


@settings(max_examples=300, deadline=None)
@given(st.lists(documents, max_size=5), st.sets(st.integers(1, 5), max_size=2), documents)
def test_references_put_back_give_the_text_and_are_shorter(texts: list[list[str]], gone: set[int], new: list[str]) -> None:
    view = view_of(*texts)
    view.forget(gone)
    spans = collapse(new, view)
    assert [span.first for span in spans] == [0, *(span.last for span in spans)][: len(spans)]
    assert expanded(new, spans, view) == new
    for span in spans:
        if span.reference is not None:
            assert "\n" not in reference_text(span.reference)
            assert size_bytes([reference_text(span.reference)]) < size_bytes(new[span.first : span.last])
