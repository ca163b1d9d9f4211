"""Kept values read back in parts, searched and described."""

import re
from pathlib import Path
from typing import Any

import pytest

from catalog import Host, MemoryResults, ToolProblem, pack
from tool_packs import results
from tool_packs.results import describe, read, search

pytestmark = pytest.mark.anyio

TEXT = "".join(f"line {number}\n" for number in range(1, 5001))
FILES = {
    "files": [{"path": f"src/{number}.py", "line": number, "tags": ["a/b", "c~d"]} for number in range(30)],
    "total": 30,
    "a/b": {"~": None},
}


def kept(value: Any) -> MemoryResults:
    store = MemoryResults()
    store.keep(value)
    return store


async def problem_of(awaited: Any) -> ToolProblem:
    with pytest.raises(ToolProblem) as caught:
        await awaited
    return caught.value


async def test_a_text_is_read_by_lines() -> None:
    part = await read(kept(TEXT), "r1", offset=10, limit=3)
    assert part.model_dump() == {
        "kind": "text",
        "value": "line 10\nline 11\nline 12",
        "offset": 10,
        "count": 3,
        "total": 5000,
        "more": True,
    }


async def test_a_text_is_read_to_its_end_in_parts_without_a_hole() -> None:
    store, offset, lines = kept(TEXT), 1, []
    while True:
        part = await read(store, "r1", offset=offset)
        lines.append(part.value)
        if not part.more:
            break
        offset += part.count
    assert "\n".join(lines) + "\n" == TEXT


PARTS: list[tuple[Any, dict[str, Any], tuple[str, Any, int, bool]]] = [
    (FILES, {"pointer": "/files", "offset": 30}, ("list", [FILES["files"][29]], 30, False)),  # type: ignore[index]
    (FILES, {"pointer": "/files/3/path"}, ("text", "src/3.py", 1, False)),
    (FILES, {"pointer": "files[3].path"}, ("text", "src/3.py", 1, False)),
    (FILES, {"pointer": "$.files[3].tags[0]"}, ("text", "a/b", 1, False)),
    (FILES, {"pointer": "files.3.line"}, ("number", 3, 1, False)),
    (FILES, {"pointer": "/a~1b/~0"}, ("null", None, 1, False)),
    (FILES, {"pointer": '["a/b"]'}, ("object", {"~": None}, 1, False)),
    (FILES, {"pointer": "['a/b']"}, ("object", {"~": None}, 1, False)),
    (FILES, {"limit": 1, "offset": 2}, ("object", {"total": 30}, 3, True)),
    ([], {}, ("list", [], 0, False)),
    ("", {}, ("text", "", 1, False)),
    ("a\r\nb\u2028c\x0bd\n", {}, ("text", "a\nb\u2028c\x0bd", 2, False)),
    (True, {}, ("boolean", True, 1, False)),
    (1.5, {"pointer": ""}, ("number", 1.5, 1, False)),
]


@pytest.mark.parametrize(("value", "told", "expected"), PARTS)
async def test_a_part_is_reached_by_pointer_or_path(
    value: Any, told: dict[str, Any], expected: tuple[str, Any, int, bool]
) -> None:
    part = await read(kept(value), "r1", **told)
    assert (part.kind, part.value, part.total, part.more) == expected


WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    ({"pointer": "/file"}, "no_such_part", "the top is an object without 'file'", "did you mean files?"),
    ({"pointer": "/zzz"}, "no_such_part", "the top is an object without 'zzz'", "it has files, total, a/b"),
    ({"pointer": "/files/30"}, "no_such_part", "/files is a list of 30 items; '30' is none of them", "items are /0 to /29"),
    ({"pointer": "files[-1]"}, "bad_argument", "'files[-1]' is no pointer", "write /files/0/path or files[0].path"),
    ({"pointer": "/total/x"}, "no_such_part", "/total is a number, which has no part 'x'", "stop the pointer there"),
    ({"offset": 4}, "past_the_end", "offset is 4, but there are 3 members", "give a smaller offset"),
    ({"offset": 0}, "bad_argument", "offset is 0 and limit 2000", "offset is at least 1, limit from 1 to 100,000"),
    ({"limit": 0}, "bad_argument", "offset is 1 and limit 0", "offset is at least 1, limit from 1 to 100,000"),
]


@pytest.mark.parametrize(("told", "code", "message", "hint"), WRONG)
async def test_what_is_not_there_is_told_with_what_is(told: dict[str, Any], code: str, message: str, hint: str) -> None:
    problem = await problem_of(read(kept(FILES), "r1", **told))
    assert (problem.code, problem.message, problem.hint) == (code, message, hint)


async def test_an_unknown_handle_is_told() -> None:
    problem = await problem_of(read(kept(1), "r7"))
    assert (problem.code, problem.message) == ("unknown_handle", "nothing is kept under 'r7'")
    assert problem.hint == "handles are given where something was cut; copy one as it stands"


async def test_one_read_gives_no_more_than_fits_but_at_least_one_line() -> None:
    lines = ["x" * 3_000_000, "y" * 3_000_000, "z" * 6_000_000]
    store = kept("\n".join(lines))
    assert (await read(store, "r1")).count == 1
    last = await read(store, "r1", offset=3)
    assert (last.value, last.more) == (lines[2], False)


async def test_lines_of_a_text_are_found_with_their_neighbours() -> None:
    found = await search(kept(TEXT), "r1", r"^line 25(00)?$", context=1)
    assert [(one.line, one.before, one.text, one.after) for one in found.matches] == [
        (25, ["line 24"], "line 25", ["line 26"]),
        (2500, ["line 2499"], "line 2500", ["line 2501"]),
    ]
    assert (found.total, found.more) == (2, False)


async def test_only_so_many_matches_are_given_and_all_are_counted() -> None:
    found = await search(kept(TEXT), "r1", "line", limit=2)
    assert ([one.line for one in found.matches], found.total, found.more) == ([1, 2], 5000, True)


async def test_values_in_json_are_found_with_their_pointers() -> None:
    value = {"log": "ok\nERROR: disk\n", "items": [{"name": "x", "error": None}, "an error", 7], "k/y": {"deep~": True}}
    found = await search(kept(value), "r1", "error", ignore_case=True)
    assert [(one.pointer, one.line, one.text) for one in found.matches] == [
        ("/log", 2, "log: ERROR: disk"),
        ("/items/0/error", 1, "error: null"),
        ("/items/1", 1, "an error"),
    ]
    deep = await search(kept(value), "r1", "true")
    assert (await read(kept(value), "r1", pointer=deep.matches[0].pointer)).value is True
    inside = await search(kept(value), "r1", "disk", pointer="/log")
    assert [(one.pointer, one.line) for one in inside.matches] == [("", 2)]


@pytest.mark.parametrize(
    ("text", "pattern", "told", "lines"),
    [
        ("a.b\naxb", "a.b", {"literal": True}, [1]),
        ("a\0b\nc", "b", {}, [1]),
        ("\ufeffa\nb", "a", {}, [1]),
        ("x\r\ny\r\n", "x$", {}, [1]),
        ("é\nE", "É", {"ignore_case": True}, [1]),
        ("-e\n--file=/etc/passwd", "--file=/etc/passwd", {}, [2]),
        ("a\u2028b\nc", "c", {}, [2]),
        ("a" * 100_000 + "\nb", "b", {}, [2]),
        ("", "x", {}, []),
        ("\n\nx", "^$", {}, [1, 2]),
    ],
)
async def test_texts_of_every_kind_are_searched(text: str, pattern: str, told: dict[str, Any], lines: list[int]) -> None:
    assert [one.line for one in (await search(kept(text), "r1", pattern, **told)).matches] == lines


async def test_a_pattern_that_would_hang_python_is_answered() -> None:
    evil = "(a+)+$"
    text = "a" * 100_000 + "b"
    assert re.compile(evil)
    assert (await search(kept(text), "r1", evil)).total == 0
    assert (await search(kept(text), "r1", r"(x+x+)+y|(a|aa)+b")).total == 1


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "the pattern cannot be used: unclosed group"),
        ("(?=a)b", "the pattern cannot be used: look-around, including look-ahead and look-behind, is not supported"),
        (r"(a)\1", "the pattern cannot be used: backreferences are not supported"),
        ("(a{1000}){1000}{1000}", "the pattern cannot be used: compiled regex exceeds size limit of 104857600"),
        ("a\nb", "the pattern holds a line feed; lines are searched one by one"),
        ("a" * 10_001, "the pattern has 10,001 characters; at most 10,000 are taken"),
    ],
)
async def test_a_pattern_that_is_none_is_told(pattern: str, message: str) -> None:
    problem = await problem_of(search(kept("a"), "r1", pattern))
    assert (problem.code, problem.message) == ("bad_pattern", message)


@pytest.mark.parametrize("told", [{"pattern": ""}, {"pattern": "x", "context": 21}, {"pattern": "x", "limit": 0}])
async def test_searches_that_make_no_sense_are_told(told: dict[str, Any]) -> None:
    assert (await problem_of(search(kept("a"), "r1", **told))).code == "bad_argument"


async def test_a_long_line_is_shortened_in_a_match() -> None:
    (one,) = (await search(kept("x" * 5_000), "r1", "x")).matches
    assert one.text == "x" * 2_000 + "… (5,000 characters)"


SHAPES: list[tuple[Any, str, int, str]] = [
    (TEXT, "text", 5000, "string of 5,000 lines"),
    (FILES, "object", 3, '{ files: { path: string, line: number, tags: string[2] }[30], total: number, "a/b": { "~": null } }'),
    ([1, "a", None, {}, []], "list", 5, "(number | string | null | …)[5]"),
    ([], "list", 0, "[0]"),
    ({str(number): number for number in range(40)}, "object", 40, "{ " + ", ".join(f'"{number}": number' for number in range(30)) + ", … 10 more }"),
    ([[[[[[[1]]]]]]], "list", 1, "[1][1][1][1][1][1]"),
    (3, "number", 1, "number"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kind", "total", "shape"), SHAPES)
async def test_a_value_is_described(value: Any, kind: str, total: int, shape: str) -> None:
    said = await describe(kept(value), "r1")
    assert (said.kind, said.total, said.shape) == (kind, total, shape)


async def test_a_huge_value_has_a_short_sketch() -> None:
    value = {f"key{number}": {f"inner{other}": [{"x" * 50: 1}] for other in range(30)} for number in range(30)}
    assert len((await describe(kept(value), "r1")).shape) <= 2_001


async def test_the_pack_lends_the_tools_what_the_host_keeps(tmp_path: Path) -> None:
    made = pack(results)
    assert [(tool.full_name, tool.resource) for tool in made.tools] == [
        ("results.read", "results"),
        ("results.search", "results"),
        ("results.describe", "results"),
    ]
    assert made.tools[0].effects({"handle": "r1"}).reads == ("result:r1",)
    host = Host(root=tmp_path)
    handle = host.results.keep("kept")
    async with made.opened({}, host) as resource:
        assert (await read(resource, handle)).value == "kept"
