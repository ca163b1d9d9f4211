"""Resource keys: from templates and arguments to keys, and which keys may mean the same thing."""

import pytest

from catalog import tool
from catalog.effects import EVERYTHING, Effects, effects_of, overlap
from catalog.reflect import reflect

FILLED = [
    (("file:{path}",), {"path": "a.py"}, ("file:a.py",)),
    (("file:{path}",), {"path": "./src//a.py"}, ("file:src/a.py",)),
    (("file:{path}",), {"path": ["b", "a", "b"]}, ("file:a", "file:b")),
    (("file:{path}",), {}, ()),
    (("tree:{root}",), {"root": "."}, ("tree:.",)),
    (("copy:{a}->{b}",), {"a": "x", "b": ["y", "z"]}, ("copy:x->y", "copy:x->z")),
    (("file:{path}",), {"path": "{path}"}, ("file:{path}",)),
    (("plan:current",), {}, ("plan:current",)),
    (("row:{id}",), {"id": 7}, ("row:7",)),
    (lambda given: [f"file:{name}" for name in given["names"]], {"names": ["b", "./a"]}, ("file:a", "file:b")),
]


@pytest.mark.parametrize(("told", "arguments", "keys"), FILLED)
def test_templates_become_keys(told: tuple[str, ...], arguments: dict[str, object], keys: tuple[str, ...]) -> None:
    assert effects_of("reads", told, (), arguments) == Effects("reads", keys, ())


def test_external_without_a_key_may_touch_everything() -> None:
    assert effects_of("external", (), (), {}) == Effects("external", (EVERYTHING,), (EVERYTHING,))
    assert effects_of("external", ("url:{u}",), (), {"u": "x"}) == Effects("external", ("url:x",), ())
    assert effects_of("pure", (), (), {}) == Effects("pure")


OVERLAPS = [
    ("file:a", "file:a", True),
    ("file:a", "file:b", False),
    ("tree:src", "file:src/a.py", True),
    ("file:src/a.py", "tree:src", True),
    ("tree:src", "file:srcs/a.py", False),
    ("tree:src", "tree:src/sub", True),
    ("tree:src", "tree:lib", False),
    ("tree:.", "file:anything", True),
    ("tree:.", "tree:sub", True),
    ("tree:.", "file:../outside", False),
    ("tree:/", "file:/etc/hosts", True),
    ("file:src", "file:src/a.py", False),
    ("tree:src", "url:src/a.py", False),
    ("*", "plan:current", True),
    ("plan:current", "*", True),
]


@pytest.mark.parametrize(("one", "other", "together"), OVERLAPS)
def test_a_tree_covers_what_is_below_it(one: str, other: str, together: bool) -> None:
    assert (overlap(one, other), overlap(other, one)) == (together, together)


def test_what_an_authors_function_cannot_tell_touches_everything_and_asks() -> None:
    @tool(writes=lambda arguments: [f"file:{arguments['path'].lower()}"], approval=lambda arguments: arguments["size"] > 10)
    async def put(path: str | None = None, size: int | None = None) -> None:
        """Put."""

    made = reflect(put, pack="x")
    assert made.effects({}) == Effects("external", ("*",), ("*",)) and made.asks({})
    assert made.effects({"path": "A"}) == Effects("writes", (), ("file:a",)) and not made.asks({"size": 3})
