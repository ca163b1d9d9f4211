"""Chunks hold the whole text, have their sizes, and stay when the text changes elsewhere."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunks import LEAST_BYTES, MOST_BYTES, FileChunks, chunks_of

WORDS = ["return", "value", "(self)", "for", "in", "=", "items", "None", "if not", "    ", "count + 1", "é", "# why"]


def code(seed: int, size: int) -> str:
    chance = random.Random(seed)
    lines: list[str] = []
    while size > 0:
        lines.append(" ".join(chance.choices(WORDS, k=chance.randrange(12))))
        size -= len(lines[-1].encode()) + 1
    return "\n".join(lines)


def parts(text: str) -> list[bytes]:
    lines = text.encode().split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    return [b"".join(lines[chunk.first_line - 1 : chunk.last_line]) for chunk in chunks_of(text)]


lengths = st.integers(0, 200) | st.sampled_from([4_000, 4_095, 4_096, 5_000, 8_191, 8_192, 9_000, 20_000])
texts = st.lists(st.tuples(lengths, st.integers(1, 60)), max_size=25).map(
    lambda rows: "\n".join(f"{index}{'x' * length}" for length, count in rows for index in range(count if length <= 200 else 1))
)


@settings(max_examples=200, deadline=None)
@given(texts, st.sampled_from(["", "\n", "\n\n"]))
def test_the_chunks_are_the_text_and_have_their_sizes(text: str, end: str) -> None:
    text += end
    contents = parts(text)
    chunks = chunks_of(text)
    assert b"".join(contents) == text.encode()
    assert [chunk.bytes for chunk in chunks] == [len(content) for content in contents]
    assert len({chunk.id for chunk in chunks}) == len(set(contents))
    for chunk, content, behind in zip(chunks, contents, [*contents[1:], b""], strict=False):
        alone = chunk.first_line == chunk.last_line
        assert len(content) <= MOST_BYTES or alone
        blocked = len(content) + len(behind.split(b"\n")[0]) + 1 > MOST_BYTES
        assert len(content) >= LEAST_BYTES or not behind or blocked


@pytest.mark.parametrize(
    "text",
    ["", "\n", "x", "x\n" * 600_000, "é" * 9_000, "\n" * 100_000, "a\n" + "b" * 10_000 + "\nc"],
    ids=lambda text: str(len(text)),
)
def test_texts_without_variety_are_cut_too(text: str) -> None:
    assert b"".join(parts(text)) == text.encode()
    assert all(chunk.bytes <= MOST_BYTES or chunk.first_line == chunk.last_line for chunk in chunks_of(text))


def test_an_edit_of_one_line_changes_few_chunks() -> None:
    text = code(1, 1_000_000)
    lines = text.split("\n")
    before = {chunk.id for chunk in chunks_of(text)}
    chance = random.Random(2)
    changed = []
    for _ in range(60):
        edited = list(lines)
        edited[chance.randrange(len(lines))] = f"an edited line {chance.random()}"
        changed.append(len({chunk.id for chunk in chunks_of("\n".join(edited))} - before))
    assert max(changed) <= 3
    assert sum(changed) <= 1.2 * len(changed)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1_000), st.integers(1, 400))
def test_lines_put_in_at_the_head_leave_the_chunks_of_the_rest(seed: int, count: int) -> None:
    text = code(seed, 120_000)
    before, after = chunks_of(text), chunks_of(code(seed + 1, count * 30) + "\n" + text)
    tail = [chunk.id for chunk in before if chunk.first_line > before[-1].last_line // 2]
    assert [chunk.id for chunk in after][-len(tail) :] == tail


def test_the_chunks_of_some_lines_are_those_that_hold_them() -> None:
    text = code(3, 50_000)
    chunks = chunks_of(text)
    assert ids_for(text, chunks[1].last_line, chunks[3].first_line) == tuple(chunk.id for chunk in chunks[1:4])
    assert ids_for(text, chunks[2].first_line, chunks[2].last_line) == (chunks[2].id,)
    assert ids_for(text, 1, 10**6) == tuple(chunk.id for chunk in chunks)
    assert ids_for("", 1, 5) == ()


def test_the_chunks_of_a_file_are_made_once_and_when_asked_for() -> None:
    asked: list[tuple[str, str]] = []
    text = code(4, 20_000)

    def text_of(path: str, oid: str) -> str | None:
        asked.append((path, oid))
        return text if path == "a.py" else None

    ids = FileChunks(text_of)
    assert asked == []
    chunks = chunks_of(text)
    assert ids("a.py", "x", 1, 9) == tuple(chunk.id for chunk in chunks if chunk.first_line <= 9)
    assert ids("a.py", "x", 10, 400) == tuple(chunk.id for chunk in chunks if chunk.last_line >= 10 and chunk.first_line <= 400)
    assert ids("b.py", "x", 1, 9) == ()
    assert asked == [("a.py", "x"), ("b.py", "x")]


def ids_for(text: str, first: int, last: int) -> tuple[str, ...]:
    return FileChunks(lambda path, oid: text)("a", "x", first, last)
