"""One key for one name of a file, and equal cache keys for equal calls only."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cache import cache_key, canonical

ROOT = Path("/home/me/project")


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("file:a.py", "file:a.py"),
        ("file:/home/me/project/a.py", "file:a.py"),
        ("file://home/me//project/./a.py", "file:a.py"),
        ("file:src/../a.py", "file:a.py"),
        ("file:../project/a.py", "file:a.py"),
        ("file:../other/a.py", "file:/home/me/other/a.py"),
        ("file:/home/me/project-2/a.py", "file:/home/me/project-2/a.py"),
        ("file:/alias/a.py", "file:a.py"),
        ("tree:", "tree:."),
        ("tree:/home/me/project/", "tree:."),
        ("tree:/home/me/project/src/", "tree:src"),
        ("tree:/home/me/other", "tree:/home/me/other"),
        ("tree:..", "*"),
        ("tree:/", "*"),
        ("file:/", "file:/"),
        ("url:https://example.org/a/../b", "url:https://example.org/a/../b"),
        ("plan:current", "plan:current"),
        ("*", "*"),
    ],
)
def test_a_key_is_told_from_the_root(key: str, wanted: str) -> None:
    assert canonical(key, ROOT, Path("/alias")) == wanted


def test_a_root_at_the_top_of_the_file_system_holds_every_path() -> None:
    assert canonical("file:/etc/hosts", Path("/")) == "file:etc/hosts"
    assert canonical("tree:/", Path("/")) == "tree:."


PARTS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "project"]), max_size=6).map("/".join)


@given(st.sampled_from(["file", "tree"]), PARTS)
def test_a_canonical_key_stays_as_it_is_and_an_absolute_one_says_the_same(kind: str, path: str) -> None:
    once = canonical(f"{kind}:{path}", ROOT)
    assert canonical(once, ROOT) == once
    if not path.startswith("/"):
        assert canonical(f"{kind}:{ROOT}/{path}", ROOT) == once


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
)
NAMED = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


def shuffled(value: Any) -> Any:
    """The same in other words: names in another order, whole numbers with a point."""
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return [shuffled(one) for one in value]
    return float(value) if type(value) is int else value


def as_javascript(value: Any) -> str:
    """What a script means: it has one kind of number."""
    return json.dumps(shuffled(value), sort_keys=True)


@given(NAMED)
def test_order_and_the_point_of_a_whole_number_do_not_count(named: dict[str, Any]) -> None:
    assert cache_key("files.read", "1", named) == cache_key("files.read", "1", shuffled(named))


@given(NAMED, NAMED)
def test_different_arguments_have_different_keys(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (cache_key("t.t", "1", one) == cache_key("t.t", "1", other)) == (as_javascript(one) == as_javascript(other))


def test_true_is_not_1_and_zero_has_a_sign_and_the_text_is_not_the_number() -> None:
    values: list[Any] = [True, 1, "1", 0, -0.0, False, None, "", [], {}, [1], ["1"], 10**20, 1.5, "1.5", "\ud800"]
    assert len({cache_key("t.t", "1", {"value": value}) for value in values}) == len(values)


def test_the_tool_and_what_else_it_depends_on_are_part_of_the_key() -> None:
    keys = {cache_key(tool, digest, {}) for tool in ("a.b", "a.c", "a") for digest in ("1", "2", ".b1")}
    assert len(keys) == 9
