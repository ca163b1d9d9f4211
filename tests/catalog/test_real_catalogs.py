"""Every tool of 84 real MCP catalogues: it loads, its declaration parses, and arguments are judged as jsonschema judges them."""

import json
from collections import Counter
from typing import Any

import pytest
import tree_sitter_typescript
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from tree_sitter import Language, Node, Parser

from catalog import Tool, ToolProblem
from catalog.check import bind
from catalog.declare import SIGNATURE_CHARS, declaration, declarations, signature
from catalog.search import Index
from tests.catalog import mcp_catalogs
from tests.catalog.queries import QUERIES, recall
from tests.catalog.samples import Sampler, mutations

pytestmark = pytest.mark.skipif(not mcp_catalogs.there(), reason="the catalogues are not beside this repository")

PARSER = Parser(Language(tree_sitter_typescript.language_typescript()))


def tools() -> list[Tool]:
    return [one.tool for one in mcp_catalogs.listed()]


def faults(text: str) -> list[str]:
    def walk(node: Node) -> list[str]:
        own = [f"{node.type} at {node.start_point}"] if node.type == "ERROR" or node.is_missing else []
        return own + [fault for child in node.children if child.has_error for fault in walk(child)]

    return walk(PARSER.parse(text.encode()).root_node)


def test_every_tool_loads_and_one_broken_schema_costs_only_itself() -> None:
    forms = Counter(one.form for one in mcp_catalogs.listed())
    notes = {one.tool.full_name: one.note for one in mcp_catalogs.listed() if one.note}
    assert len(mcp_catalogs.files()) == 84
    assert forms == {"schema": 671, "arguments": 196, "none": 416}
    assert notes == {"PDF_Reader_MCP_Server.read_pdf": "its input schema is judged as draft 4"}


def test_every_declaration_is_typescript_without_an_error() -> None:
    wrong = {tool.full_name: faults(declaration(tool)) for tool in tools() if faults(declaration(tool))}
    assert wrong == {}
    assert faults(declarations(tools())) == []


def test_every_signature_is_one_line_within_its_cap() -> None:
    lines = [signature(tool) for tool in tools()]
    assert max(map(len, lines)) <= SIGNATURE_CHARS
    assert not any("\n" in line for line in lines)


def test_arguments_are_judged_as_jsonschema_judges_them() -> None:
    """The samples cover both verdicts; on none of them do we differ."""
    verdicts: Counter[bool] = Counter()
    unfit: list[str] = []
    differing: list[tuple[str, Any]] = []
    for tool in tools():
        judge = validator_for(tool.input_schema, default=Draft202012Validator)(tool.input_schema)
        for sample in Sampler(tool.input_schema).valid():
            if not judge.is_valid(sample):
                unfit.append(tool.full_name)
            for one in [sample, *mutations(sample)]:
                if not isinstance(one, dict) or means_its_first_argument(tool, one):
                    continue
                verdict = judge.is_valid(one)
                verdicts[verdict] += 1
                if verdict != binds(tool, one):
                    differing.append((tool.full_name, one))
    assert differing == []
    assert verdicts[True] > 20_000
    assert verdicts[False] > 20_000
    assert unfit == []


def means_its_first_argument(tool: Tool, given: dict[str, Any]) -> bool:
    """An object without a known name may be the first argument itself: bind's kindness, which jsonschema knows nothing of."""
    return bool(given) and bool(tool.order) and not any(name in tool.properties for name in given)


def binds(tool: Tool, sample: dict[str, Any]) -> bool:
    try:
        return bind(tool, [sample]).named == sample
    except ToolProblem as problem:
        assert problem.code == "bad_arguments"
        assert problem.message.startswith(f"{tool.full_name}: ")
        return False


def test_the_oversized_schema_is_declared_with_its_recursive_types() -> None:
    (tool,) = [tool for tool in tools() if tool.pack.startswith("oversized")]
    text = declaration(tool)
    assert "children?: Block[];" in text
    assert "type Block" in text or "interface Block" in text
    assert len(text) < len(json.dumps(tool.input_schema)) / 2


@pytest.mark.parametrize("docs", [True, False], ids=["with pack docs", "without pack docs"])
def test_search_finds_the_right_tool_among_the_first_five(docs: bool) -> None:
    index = Index(tools(), mcp_catalogs.pack_docs() if docs else {})
    known = {tool.full_name for tool in tools()}
    assert [row.query for row in QUERIES if not set(row.tools) <= known] == []
    assert recall(index, QUERIES, first=5) >= 0.95
    assert recall(index, [row for row in QUERIES if row.half == "held_out"], first=5) >= 0.92
    assert recall(index, QUERIES, first=1) >= 0.70


def test_the_same_question_gives_the_same_answer() -> None:
    one, other = Index(tools()), Index(tools())
    for row in QUERIES[:20]:
        assert one.search(row.query) == other.search(row.query)
