"""What holds for every value, every shape and every room."""

from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.condense import Flags, condense, shape_of
from harness.condense.in_view import reference_text
from harness.condense.record import Condensed, Item, Origin, Shape
from harness.limits import ShownLimits
from harness.seen import Seen

HANDLE = "T2.1"
SHORTEST_MARK = len(f"[cut: {HANDLE}]")
SHAPES = st.sampled_from(get_args(Shape))

words = st.sampled_from([
    "def take(self):", "    return 1", "", "error: bad thing", "src/a.py:12:  hit", "src/a.py-13-around", "日本語のテキスト", "é" * 30,
    "x" * 400, "\x1b[31mred\x1b[0m", "10%\r50%\r100%", "FAILED tests/test_a.py::test_b - assert 1", "[lines 1-2 of 3 cut]",
    "---- tests::boom stdout ----", "test a ... ok", "=" * 70, "src/deep/er/file.py", "___ test_x ___", "{", "}", "same", "\ud800",
])  # fmt: skip
texts = st.one_of(
    st.lists(words, max_size=60).map("\n".join),
    st.text(max_size=300),
    st.tuples(words, st.integers(0, 500)).map(lambda pair: "\n".join(f"{pair[0]}{at % 97}" for at in range(pair[1]))),
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
keys = st.sampled_from([
    "path", "text", "lines", "files", "matches", "line", "count", "output", "exit_code", "kind", "message", "name", "code", "hint",
    "data", "parts", "first", "total_lines", "oid", "total", "truncated", "action", "added", "stderr", "signal", "x",
])  # fmt: skip
values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(keys, inner, max_size=6)), max_leaves=20
)
slices = st.fixed_dictionaries({
    "path": st.sampled_from(["src/a.py", "b.ts", "日.md"]), "text": texts, "total_lines": st.integers(0, 900), "oid": st.just("o"),
    "lines": st.tuples(st.integers(1, 50), st.integers(50, 99)).map(lambda pair: [list(pair)]),
})  # fmt: skip
hits = st.lists(st.fixed_dictionaries({
    "path": st.sampled_from(["src/a.py", "b.ts", "日.md"]), "count": st.integers(0, 99),
    "matches": st.lists(st.fixed_dictionaries({"line": st.integers(1, 999), "text": texts, "before": st.lists(words, max_size=2)}), max_size=8),
}), max_size=12).map(lambda files: {"files": files, "total": 5})  # fmt: skip
any_value = st.one_of(
    values, slices, st.lists(slices, max_size=4), hits, st.fixed_dictionaries({"output": texts, "exit_code": st.integers(0, 2)})
)
rooms = st.one_of(st.integers(0, 200), st.integers(0, 30_000))
few = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


def with_view(data: st.DataObject, value: Any) -> Seen:
    """Often the view holds a part of what is shown."""
    view = Seen()
    text = data.draw(texts).encode("utf-8", "replace").decode()
    if isinstance(value, str) and data.draw(st.booleans()):
        text = value.encode("utf-8", "replace").decode()[: data.draw(st.integers(0, 400))]
    view.add(1, "T1.1", text)
    return view


def check(condensed: Condensed, most: int) -> None:
    size = len(condensed.text.encode())
    assert size <= most
    assert size + sum(condensed.trimmed.values()) == condensed.produced
    if condensed.whole:
        assert condensed.trimmed.get("cap", 0) == 0
    else:
        assert HANDLE in condensed.text or most < SHORTEST_MARK
    lines = condensed.text.split("\n")
    for at, reference in condensed.references:
        assert lines[at] == reference_text(reference)
        assert reference.handle in ("T1.1", HANDLE)
    for first, count, _ in condensed.placed:
        assert 0 <= first < first + count <= len(lines)


@few
@given(st.data(), any_value, SHAPES, rooms, st.one_of(st.none(), st.integers(0, 50)), st.one_of(st.none(), st.integers(0, 4000)))
def test_any_value_in_any_shape_stays_within_its_room_and_the_bytes_balance(
    data: st.DataObject, value: Any, shape: Shape, room: int, lines_max: int | None, bytes_max: int | None
) -> None:
    view = with_view(data, value)
    origin = data.draw(st.sampled_from([None, Origin("src/a.py", "o", 7)]))
    item = Item(
        handle=HANDLE, value=value, shape=shape, origin=origin, terms=("hit",), lines_max=lines_max, bytes_max=bytes_max,
        exit_code=data.draw(st.sampled_from([None, 0, 1])),
    )  # fmt: skip
    flags = Flags(overlap_trim=data.draw(st.booleans()), build_tail=data.draw(st.booleans()))
    condensed = condense(item, view, ShownLimits(), room=room, flags=flags)
    check(condensed, room if bytes_max is None else min(room, bytes_max))
    assert condensed == condense(item, view, ShownLimits(), room=room, flags=flags)
    assert flags.overlap_trim or not condensed.references


@few
@given(any_value)
def test_every_value_has_a_shape_that_shows_it(value: Any) -> None:
    condensed = condense(Item(handle=HANDLE, value=value, shape=shape_of(value)), Seen(), ShownLimits(), room=4_000)
    check(condensed, 4_000)


CAPS = {
    "text": "shown_value_bytes",
    "slice": "small_file_bytes",
    "output": "output_bytes",
    "hits": "hits_bytes",
    "build": "build_bytes",
}


@few
@given(texts, st.sampled_from(sorted(CAPS)), st.integers(80, 3_000), st.integers(1, 60))
def test_no_text_exceeds_the_cap_of_its_shape(text: str, shape: Any, cap: int, lines: int) -> None:
    limits = ShownLimits(
        shown_value_bytes=cap, small_file_bytes=cap, output_bytes=cap, hits_bytes=cap, build_bytes=cap, shown_value_lines=lines,
        build_lines=lines, small_file_lines=lines,
    )  # fmt: skip
    check(condense(Item(handle=HANDLE, value=text, shape=shape), Seen(), limits, room=1 << 30), cap)


@few
@given(st.data(), st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40), max_size=80), rooms)
def test_every_line_of_a_slice_is_a_line_of_the_file_a_reference_a_mark_or_the_title(
    data: st.DataObject, lines: list[str], room: int
) -> None:
    text = "\n".join(lines)
    view = with_view(data, text)
    value = {"path": "src/a.py", "lines": [[11, 10 + max(1, len(lines))]], "total_lines": 400, "text": text, "oid": "o"}
    condensed = condense(Item(handle=HANDLE, value=value, shape="slice"), view, ShownLimits(), room=room)
    shown = condensed.text.split("\n")
    references = {at for at, _ in condensed.references}
    ours = 0
    for at, line in enumerate(shown):
        if at not in references and line not in lines:
            ours += 1
            assert line.startswith(("src/a.py ", "[")) or HANDLE in line or not condensed.text
    for first, count, origin in condensed.placed:
        assert shown[first : first + count] == lines[origin.first - 11 : origin.first - 11 + count]
