"""The one table of problems: every code that is raised has its row, every row's words can be filled in, the page is fresh."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from harness.problems import PROBLEMS, as_markdown, may_retry, told

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("sandbox", "catalog", "harness")
# An MCP server's mistake, told where its schema is read: before any script.
NOT_FOR_SCRIPTS = {"bad_schema"}
MAKERS = ("Problem", "ToolProblem", "told", "Slip", "Wrong", "_add", "ScriptError", "refuse")


def named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else call.func.attr if isinstance(call.func, ast.Attribute) else ""


def codes_of(path: Path) -> Iterator[str]:
    """Texts that look like a code, among what makes problems."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and named(node) in MAKERS:
            texts = (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
            yield from (text for text in texts if re.fullmatch(r"[a-z]+_[a-z_]+", text) or text in PROBLEMS)


def raised() -> set[str]:
    found = {code for package in PACKAGES for path in (ROOT / package).rglob("*.py") for code in codes_of(path)}
    for path in (ROOT / "sandbox").glob("*.js"):
        found |= set(re.findall(r'problem\(\s*"(\w+)"', path.read_text()))
    return found


def test_every_code_that_is_raised_is_in_the_table() -> None:
    found = raised()
    assert {"too_many_calls", "tool_failed", "unknown_handle", "bad_arguments", "repeated", "SyntaxError"} <= found
    assert found - set(PROBLEMS) - NOT_FOR_SCRIPTS == set()


def test_every_row_is_raised_somewhere() -> None:
    """The rest are given by name from a table beside them."""
    texts = {
        path: path.read_text() for package in PACKAGES for path in (ROOT / package).rglob("*.py") if path.name != "problems.py"
    }
    for code in set(PROBLEMS) - raised():
        assert any(f'"{code}"' in text for text in texts.values()), code


FILLED = {
    "used": 2,
    "allowed": 3.5,
    "size": 1_234,
    "left": 5,
    "cap": 7,
    "seconds": 9.5,
    "wait": 3.0,
    "times": 2,
    "count": 2,
    "line": 4,
}


@pytest.mark.parametrize("row", PROBLEMS.values(), ids=list(PROBLEMS))
def test_the_words_of_each_row_can_be_filled_in(row: object) -> None:
    code = row.code  # type: ignore[attr-defined]
    fields = {name for text in (PROBLEMS[code].message, PROBLEMS[code].hint) for _, name, *_ in Formatter().parse(text) if name}
    problem = told(code, **{name: FILLED.get(name, f"<{name}>") for name in fields})
    assert problem.code == code and problem.message and "{{" not in problem.message + problem.hint
    for name in fields:
        assert name in FILLED or f"<{name}>" in problem.message + problem.hint


def test_a_row_says_what_and_what_to_do_in_plain_short_words() -> None:
    for row in PROBLEMS.values():
        assert not row.message.endswith(".") and not row.hint.endswith("."), row.code
        assert not row.message[:1].isupper(), row.code
        if row.phase in ("detect", "guard"):
            assert row.hint, row.code


def test_a_code_of_a_tool_may_be_tried_again_after_a_change() -> None:
    assert (may_retry("not_found"), may_retry("denied"), may_retry("WorkerLost")) == ("changed", "no", "as it is")


def test_told_without_a_row_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        told("no_such_problem")


def test_the_page_of_problems_is_fresh() -> None:
    page = (ROOT / "docs" / "problems.md").read_text()
    assert page.startswith("# Problems\n\n")
    assert page[page.index("| code |") :] == as_markdown(), (
        "print harness.problems.as_markdown() under the first paragraphs of docs/problems.md"
    )
