"""The one script in an assistant's reply: found, or a problem that says what to write; what may be fenced code never runs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness import Detected, detect
from harness.detect import near_miss
from sandbox import Problem

BLOCK = "<tool-calls>\nreturn 1\n</tool-calls>"


def script(reply: str) -> str | None:
    found = detect(reply)
    return found.script if isinstance(found, Detected) else None


def test_the_block_is_taken_out_of_the_text_around_it() -> None:
    reply = f"I will look.\n{BLOCK}\nThen I go on."
    assert detect(reply) == Detected("I will look.\n", "return 1", "\nThen I go on.", 13, 13 + len(BLOCK))


@pytest.mark.parametrize(
    ("reply", "code", "message"),
    [
        ("<tool-calls>\n1\n", "unbalanced_block", "<tool-calls> in line 1 is never closed, so nothing ran"),
        ("a\nb </tool-calls>", "unbalanced_block", "</tool-calls> in line 2 closes nothing, so nothing ran"),
        (f"{BLOCK}\n</tool-calls>", "unbalanced_block", "</tool-calls> in line 4 closes nothing, so nothing ran"),
        (f"{BLOCK}\n<tool-calls>", "unbalanced_block", "<tool-calls> in line 4 is never closed, so nothing ran"),
        (f"<tool-calls>\n{BLOCK}\n</tool-calls>", "nested_block", "<tool-calls> stands inside another <tool-calls> (line 2), so nothing ran"),
        (f"{BLOCK}\nand\n{BLOCK}", "second_block", "the reply has 2 <tool-calls> blocks, so nothing ran"),
        (BLOCK * 3, "second_block", "the reply has 3 <tool-calls> blocks, so nothing ran"),
        ("<tool-calls>  \n </tool-calls>", "empty_script", "the script is empty, so nothing ran"),
    ],
)  # fmt: skip
def test_a_reply_that_does_not_say_which_script_is_a_problem_with_its_next_step(reply: str, code: str, message: str) -> None:
    found = detect(reply)
    assert isinstance(found, Problem) and (found.code, found.message) == (code, message) and found.hint


@pytest.mark.parametrize(
    "reply", ["", "no tools today", "<tool_calls>1</tool_calls>", "<TOOL-CALLS>1</TOOL-CALLS>", "<tool-calls >1"]
)
def test_a_reply_without_a_block_has_no_script(reply: str) -> None:
    assert detect(reply) is None


@pytest.mark.parametrize(
    "before",
    [
        "```",
        "```html",
        "~~~",
        "   ```js",
        "````",
        "    ```",
        "\t```",
        "> ```",
        "> > ~~~",
        "- ```js",
        "1. ```",
        "10)  ```",
        "* - ```",
    ],
)
def test_fenced_code_never_runs_wherever_it_stands(before: str) -> None:
    mark = before.strip(" \t>-*0123456789.)").rstrip("htmljs")
    indent = before[: len(before) - len(before.lstrip(" \t>"))]
    fenced = f"{before}\n{BLOCK}\n{indent}{mark}"
    assert detect(f"An example:\n{fenced}\n") is None
    assert detect(f"{before}\n{BLOCK}") is None  # never closed: it goes on to the end
    assert script(f"{fenced}\n\n<tool-calls>return 2</tool-calls>") == "return 2"
    assert script(f"{fenced}\r\n\r\n<tool-calls>return 2</tool-calls>".replace("\r\n", "\n").replace("\n", "\r\n")) == "return 2"


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    assert detect(f"````\n```\n{BLOCK}\n```\n````") is None
    assert detect(f"~~~\n```\n{BLOCK}\n~~~") is None
    assert detect(f"```\n```js\n{BLOCK}\n```") is None  # a closing fence has nothing behind it


def test_code_in_a_line_is_no_fence() -> None:
    assert script(f"Call ```x``` as ```y```:\n```z```\n{BLOCK}") == "return 1"


def test_a_fence_inside_the_block_is_part_of_the_script() -> None:
    inner = "const page = `\n```js\nlet a\n```\n`;\nreturn page"
    assert script(f"text\n<tool-calls>\n{inner}\n</tool-calls>\n```\nafter\n```") == inner
    assert script("<tool-calls>\nreturn `\n```\n`\n</tool-calls>") == "return `\n```\n`"


def test_the_tags_of_an_example_beside_the_block_do_not_count() -> None:
    assert script(f"```\n<tool-calls>\n```\n{BLOCK}\n```\n</tool-calls>\n```") == "return 1"


PIECES = st.sampled_from(
    [
        "<tool-calls>",
        "</tool-calls>",
        "```",
        "~~~",
        "\n",
        "\r\n",
        "return 1",
        "> ",
        "- ",
        "    ",
        "````js",
        "text",
        "\n```\n",
        "`",
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join))
@example("```\n<tool-calls>\n```\nreturn 1\n</tool-calls>")
@example("<tool-calls>a</tool-calls>")
def test_what_is_found_is_the_one_block_whatever_the_reply(reply: str) -> None:
    found = detect(reply)
    if isinstance(found, Detected):
        block = reply[found.start : found.end]
        assert found.before + block + found.after == reply
        assert block.startswith("<tool-calls>") and block.endswith("</tool-calls>")
        assert found.script == block[len("<tool-calls>") : -len("</tool-calls>")].strip() != ""
        assert "<tool-calls>" not in found.script
    elif found is None:
        assert "<tool-calls>" not in reply or "```" in reply or "~~~" in reply


@pytest.mark.parametrize("fence", ["```js\n{}\n```", "```\n{}\n```", "~~~javascript\n{}\n~~~"])
def test_a_fence_around_the_whole_script_is_no_part_of_it(fence: str) -> None:
    found = detect("<tool-calls>\n" + fence.format("return 6 * 7;\nshow(`a`)") + "\n</tool-calls>")
    assert isinstance(found, Detected) and found.script == "return 6 * 7;\nshow(`a`)"


@pytest.mark.parametrize("tag", ["<tool_calls>", "<toolcalls>", "<Tool-Calls>", "<script>"])
def test_a_tag_that_is_nearly_ours_is_named(tag: str) -> None:
    assert near_miss(f"Here: {tag}1</x>") == tag and near_miss("a < b") == ""
