"""The prompt: a constant size for any number of tools, the same bytes for the same tools, and no sentence that is not so."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catalog import Tool, tool_from_schema
from catalog.brief import ALLOWANCE_BYTES, brief, discovery, tool_list, world
from harness import run_script

FASTMCP_CHARACTERS = 1_916  # what a peer tells about any number of tools, with no tool in it


async def _nothing(arguments: dict[str, Any]) -> None:
    """Never called."""


def items(number: int, *, packs: int = 1) -> list[Tool]:
    """Tools with four arguments each."""
    schema = {
        "type": "object",
        "properties": {
            "item_id": {"type": "string", "description": "The id of the item"},
            "limit": {"type": "integer", "default": 10},
            "verbose": {"type": "boolean", "default": False},
            "fields": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["item_id"],
        "additionalProperties": False,
    }
    output = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    one = tool_from_schema("get_item", schema, _nothing, pack="pack", output_schema=output)
    return [
        replace(one, pack=f"pack{at * packs // number}", name=f"get_item_{at}", doc=f"Get item {at}. More.")
        for at in range(number)
    ]


def test_few_tools_are_told_whole() -> None:
    assert (
        discovery(items(2))
        == """\
## Tools

Each is `tools.<pack>.<tool>({ … })`; `?` marks what may be left out, `=` its default. In a script: `show(await help("pack.tool"))` \
gives the full declaration, `help("pack")` a pack, `help("what you want to do")` searches the 2 tools on offer, `help()` lists the \
packs. Do not guess names: what is not listed here is found by help.

pack0.get_item_0({ item_id: string, limit?: number = 10, verbose?: boolean, fields?: string[] }): Promise<{ id: string }> // Get item 0.
pack0.get_item_1({ item_id: string, limit?: number = 10, verbose?: boolean, fields?: string[] }): Promise<{ id: string }> // Get item 1.
"""
    )


def test_many_tools_are_signatures_then_names_then_counts() -> None:
    assert (
        tool_list(items(30, packs=3), 600)
        == """\
pack0.get_item_0({ item_id: string, limit?: number = 10, verbose?: boolean, fields?: string[] }): Promise<{ id: string }>
pack0.get_item_1({ item_id: string, limit?: number = 10, verbose?: boolean, fields?: string[] }): Promise<{ id: string }>
pack0.get_item_2({ item_id: string, limit?: number = 10, verbose?: boolean, fields?: string[] }): Promise<{ id: string }>
pack0: get_item_3, get_item_4, get_item_5, get_item_6, get_item_7, get_item_8, get_item_9
pack1: get_item_10, get_item_11, get_item_12, get_item_13, get_item_14, get_item_15, get_item_16
By help only: pack1 (3 more), pack2 (10)
"""
    )


@pytest.mark.parametrize("number", [1, 10, 100, 1_000, 3_000])
def test_the_list_keeps_its_allowance(number: int) -> None:
    for packs in (1, min(number, 50), number):
        tools = items(number, packs=packs)
        for allowance in (200, 1_500, ALLOWANCE_BYTES, 20_000):
            assert len(tool_list(tools, allowance).encode()) <= allowance


def test_the_size_is_constant_and_discovery_costs_less_than_the_peer_beside_its_list() -> None:
    sizes = [len(discovery(items(number, packs=10))) for number in (100, 1_000, 3_000)]
    assert max(sizes) - min(sizes) < 400
    assert all(size <= FASTMCP_CHARACTERS + ALLOWANCE_BYTES for size in sizes)
    assert all(len(discovery(items(number, packs=10), allowance_bytes=1_500)) < FASTMCP_CHARACTERS for number in (10, 100, 1_000))


def test_every_pack_is_named_as_long_as_their_names_fit() -> None:
    text = tool_list(items(300, packs=100), ALLOWANCE_BYTES)
    assert all(re.search(rf"\bpack{number}\b", text) for number in range(100))
    crowded = tool_list(items(3_000, packs=3_000), 500)
    assert crowded.endswith(", … and others: help() lists all 3000 packs\n")


def test_the_same_tools_give_the_same_bytes() -> None:
    assert brief(items(200, packs=7)) == brief(items(200, packs=7))


def test_without_tools_nobody_is_sent_to_look_for_them() -> None:
    assert brief([]).endswith("## Tools\n\nNone are on offer: write plain JavaScript.\n")


def test_the_page_is_short_enough_for_a_weak_model() -> None:
    assert len(world()) < 2_000
    assert len(brief(items(1))) < 2_500


def test_summaries_are_added_while_they_fit() -> None:
    rows = tool_list(items(9), 1_200).splitlines()
    assert [" // " in row for row in rows] == sorted((" // " in row for row in rows), reverse=True)
    assert len(rows) == 9 and " // " in rows[0] and " // " not in rows[-1]


# ---------------------------------------------------------------- every sentence is true


TRUE = [
    ("top-level await and return", "const x = await Promise.resolve(1); return x;", 1),
    ("the last expression", "1 + 1", 2),
    ("what is there", "[typeof console.log, typeof setTimeout, typeof URL, typeof Intl]", ["function", "function", "function", "undefined"]),
    ("named arguments", "await tools.notes.read({ path: 'a' })", {"path": "a"}),
    ("together", "await Promise.all(['a', 'b'].map(path => tools.notes.read({ path })))", [{"path": "a"}, {"path": "b"}]),
    ("kept values", "store('key', { a: 1 }); load('key')", {"a": 1}),
    ("failures", "try { await tools.notes.read({ path: 5 }) } catch (e) { return [e.name, e.message, typeof e.hint] }",
     ["bad_arguments", "notes.read: path must be text, not the number 5", "string"]),
    ("the budget", "[typeof budget.calls, 'bytes' in budget, 'seconds' in budget]", ["number", True, True]),
    ("relaxing", "await relax('the whole report is needed')", True),
    ("recall", "try { await recall('T3.1') } catch (e) { return e.name }", "unknown_handle"),
    ("what is not there", "[typeof require, typeof fetch, typeof process]", ["undefined", "undefined", "undefined"]),
    ("no eval", "try { eval('1') } catch (e) { return e.name }", "EvalError"),
    ("help for a tool", "(await help('notes.read')).includes('read(args: { path: string })')", True),
    ("help for a pack", "(await help('notes')).includes('notes.read({ path: string })')", True),
    ("help by words", "await help('open a note', { level: 'name' })", ["notes.read"]),
    ("help alone", "(await help()).includes('notes (1)')", True),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(("what", "script", "expected"), TRUE, ids=[row[0] for row in TRUE])
async def test_what_the_page_says_is_so(what: str, script: str, expected: Any) -> None:
    async def read(path: str) -> dict[str, str]:
        """Read a note."""
        return {"path": path}

    outcome = await run_script(script, tools={"notes.read": read})
    assert outcome.ok, outcome.error
    assert outcome.value == expected


@pytest.mark.anyio
async def test_imports_are_refused_and_an_uncaught_problem_ends_the_script() -> None:
    async def fail() -> None:
        """Fail."""
        raise FileNotFoundError("gone")

    assert not (await run_script("import x from 'y'")).ok
    outcome = await run_script("show(1); await tools.x.fail(); show(2)", tools={"x.fail": fail})
    assert outcome.shown == [1] and outcome.error is not None and outcome.error.name == "tool_failed"


@pytest.mark.anyio
async def test_the_example_of_the_page_runs_with_the_pack_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "long.txt").write_text("line\n" * 401)
    (tmp_path / "src" / "inner" / "short.txt").write_text("line\n")
    (example,) = re.findall(r"```js\n(.*?)```", world(), re.DOTALL)
    outcome = await run_script(example, packs=["files"], root=tmp_path)
    assert outcome.ok, outcome.error
    assert outcome.value == [{"path": "src/long.txt", "lines": 401}]


def test_the_page_names_no_global_that_docs_do_not_know() -> None:
    known = (Path(__file__).parents[2] / "docs" / "script.md").read_text()
    prose = re.sub(r"```.*?```", "", world(), flags=re.DOTALL)
    called = set(re.findall(r"`(?:await )?(\w+)[(.]", prose)) - {"e", "const", "Promise"}
    assert {name for name in called if name not in known} == set()
    assert called >= {"show", "store", "load", "recall", "budget", "console"}
