"""From a typed function to a tool: schemas, words, injection; and what an author is told when it cannot be done."""

from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from catalog import BadPack, tool
from catalog.reflect import reflect, split_doc


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []


class Client:
    pass


@tool(reads=["file:{path}"])
async def everything(
    client: Client,
    path: str,
    *,
    count: Annotated[int, Field(ge=1, le=9)] = 3,
    mode: Literal["fast", "slow"] = "fast",
    colour: Colour | None = None,
    tree: Tree | None = None,
    since: Annotated[str, Field(alias="from")] = "",
) -> list[Tree]:
    """Do everything at once. And more of it.

    A second paragraph.

    Args:
        path: where it is,
            on two lines
        count (int): how many

    Not an argument: the end.
    """
    return [Tree(name=path, children=[Tree(name=since)])] * count


def test_types_become_schemas_and_the_resource_is_hidden() -> None:
    made = reflect(everything, pack="x", resource=Client)
    assert made.input_schema["properties"]["path"] == {"type": "string", "description": "where it is, on two lines"}
    assert made.input_schema["properties"]["count"] == {
        "type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "how many",
    }  # fmt: skip
    assert made.input_schema["properties"]["mode"] == {"type": "string", "enum": ["fast", "slow"], "default": "fast"}
    assert made.input_schema["required"] == ["path"] and made.input_schema["additionalProperties"] is False
    assert made.order == ("path", "count", "mode", "colour", "tree", "from")
    assert (made.resource, made.full_name) == ("client", "x.everything")
    assert made.doc == "Do everything at once. And more of it.\n\nA second paragraph.\n\nNot an argument: the end."
    assert made.summary == "Do everything at once."
    assert made.output_schema is not None and made.output_schema["type"] == "array"
    assert made.output_schema["$defs"]["Tree"]["required"] == ["name", "children"]  # a result carries every field


def test_the_decorator_returns_the_function_unchanged() -> None:
    async def plain() -> None:
        """Nothing."""

    assert tool(effect="pure")(plain) is plain


def test_json_becomes_what_the_function_takes() -> None:
    made = reflect(everything, pack="x", resource=Client)
    values = made.parse({"path": "a", "colour": "red", "tree": {"name": "t", "children": [{"name": "u"}]}, "from": "z"})
    assert values == {
        "path": "a", "count": 3, "mode": "fast", "colour": Colour.RED,
        "tree": Tree(name="t", children=[Tree(name="u")]), "since": "z",
    }  # fmt: skip


STRICT: list[dict[str, Any]] = [
    {"path": 5},
    {"path": "a", "count": "3"},
    {"path": "a", "count": 0},
    {"path": "a", "count": True},
    {"path": "a", "mode": "medium"},
    {"path": "a", "colour": "green"},
    {"path": "a", "extra": 1},
    {},
]


@pytest.mark.parametrize("named", STRICT)
def test_arguments_are_judged_strictly(named: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        reflect(everything, pack="x", resource=Client).parse(named)


@pytest.mark.anyio
async def test_results_become_json() -> None:
    made = reflect(everything, pack="x", resource=Client)
    assert made.dump(await everything(Client(), "a", count=1)) == [
        {"name": "a", "children": [{"name": "", "children": []}]}
    ]  # fmt: skip


async def untyped(a) -> None:  # type: ignore[no-untyped-def]
    """Say nothing of a."""


async def starred(*a: int) -> None:
    """Take any number."""


async def odd(a: Client) -> None:
    """Take what JSON has no form for."""


async def odd_result() -> Client:
    """Give what JSON has no form for."""
    return Client()


def blocking(a: int) -> int:
    """Wait for nobody."""
    return a


BAD: list[tuple[Callable[..., Any], str]] = [
    (untyped, "x.untyped: parameter a has no type; write a: str, or what it is"),
    (starred, "x.starred: *a has no schema; list the parameters one by one"),
    (odd, "x.odd: Unable to generate pydantic-core schema for <class 'tests.catalog.test_reflect.Client'>"),
    (odd_result, "x.odd_result: what it returns: Unable to generate pydantic-core schema"),
    (blocking, "x.blocking: a tool is an async function; write async def blocking(…)"),
]


@pytest.mark.parametrize(("function", "told"), BAD, ids=[row[0].__name__ for row in BAD])
def test_an_author_is_told_what_is_wrong_with_a_function(function: Callable[..., Any], told: str) -> None:
    with pytest.raises(BadPack) as caught:
        reflect(function, pack="x")
    assert str(caught.value).startswith(told)


WRONG_FACTS: list[tuple[dict[str, Any], str]] = [
    ({"reads": "file:{path}"}, 'reads="file:{path}": give a list, such as reads=["file:{path}"]'),
    ({"effect": "read"}, "effect='read': choose one of pure, reads, writes, external"),
    ({"effect": "pure", "reads": ["a:b"]}, 'effect="pure" with reads=[\'a:b\']: a tool that reads has effect="reads"'),
    (
        {"effect": "reads", "writes": ["a:b"]},
        'effect="reads" with writes=[\'a:b\']: a tool that writes has effect="writes" or "external"',
    ),
    ({"effect": "writes"}, 'effect="writes" without writes=[…]: say which resources, such as writes=["file:{path}"]'),
    ({"shape": "table"}, "shape='table': choose one of json, text, slice, hits, output, patch"),
    ({"timeout_seconds": 0}, "timeout_seconds=0: give a number of seconds above 0"),
]


@pytest.mark.parametrize(("facts", "told"), WRONG_FACTS)
def test_facts_that_contradict_each_other_are_refused(facts: dict[str, Any], told: str) -> None:
    with pytest.raises(BadPack) as caught:
        tool(**facts)
    assert str(caught.value) == told


def test_effects_follow_from_what_is_read_and_written() -> None:
    async def f() -> None:
        """F."""

    kinds = [
        reflect(tool(**facts)(f), pack="x").facts.effect  # type: ignore[arg-type]
        for facts in ({"reads": ["a:1"]}, {"writes": ["a:1"]}, {"reads": ["a:1"], "writes": ["b:1"]}, {"effect": "pure"}, {})
    ]
    assert kinds == ["reads", "writes", "writes", "pure", "external"]


def test_a_doc_without_arguments_is_left_alone() -> None:
    assert split_doc("One.\n\nTwo: three.") == ("One.\n\nTwo: three.", {})
