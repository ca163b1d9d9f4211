"""help(…) inside a script: four questions, three levels of detail, nearest names, and a bound on every answer."""

from typing import Any

import pytest

from catalog import Offer, ToolProblem, choose, pack, tool, tool_from_schema
from catalog.help import HELP_BYTES, answer_help


@tool(reads=["file:{path}"])
async def read(path: str, limit: int = 2000) -> str:
    """Read a text file. It is decoded as UTF-8.

    Args:
        path: Which file.
    """
    raise NotImplementedError


@tool(writes=["file:{path}"], approval=True, timeout_seconds=90)
async def delete(path: str) -> None:
    """Delete a file."""


async def send(to: str, text: str) -> bool:
    """Send a message."""
    raise NotImplementedError


async def status() -> dict[str, int]:
    """Count messages."""
    raise NotImplementedError


async def _nothing(arguments: dict[str, Any]) -> None:
    """Never called."""


FILES = pack("files", [read, delete], doc="Files below the root.\n\nMore words.")
OFFER = choose([FILES, pack("mail", [send, status])], without=["mail.status"])


def crowd(number: int, *, doc: str = "Do a thing.", packs: int = 1) -> Offer:
    made = [
        pack(f"pack{home}", [tool_from_schema(f"tool_{at}", {}, _nothing, pack="", doc=doc) for at in range(number)])
        for home in range(packs)
    ]
    return choose(made)


def test_alone_it_lists_the_packs_and_how_to_go_on() -> None:
    assert (
        answer_help(OFFER, [])
        == """\
3 tools in 2 packs; call one as await tools.<pack>.<tool>({ … }):
files (2): Files below the root.
mail (1): send
Next: help("pack") lists a pack, help("pack.tool") declares a tool in full, help("what you want to do") searches."""
    )
    assert answer_help(OFFER, [None]) == answer_help(OFFER, [""]) == answer_help(OFFER, [])


def test_a_pack_gives_its_signatures() -> None:
    assert (
        answer_help(OFFER, ["files"])
        == """\
files: Files below the root.
files.read({ path: string, limit?: number = 2000 }): Promise<string> // Read a text file.
files.delete({ path: string }): Promise<null> // Delete a file."""
    )


def test_a_tool_gives_its_declaration_and_what_a_call_means() -> None:
    expected = """\
declare const tools: {
  files: {
    /** Delete a file. */
    delete(args: { path: string }): Promise<null>;
  };
};
// effect: writes; asks a person first; may take up to 90 seconds
"""
    assert answer_help(OFFER, ["files.delete"]) == expected
    assert answer_help(OFFER, ["tools.files.delete"]) == expected
    assert answer_help(OFFER, ["delete"]) == expected
    assert "Which file." in answer_help(OFFER, ["files.read"])


def test_words_search() -> None:
    assert (
        answer_help(OFFER, ["open a document"])
        == """\
Best of 3 tools for "open a document":
files.read({ path: string, limit?: number = 2000 }): Promise<string> // Read a text file.
files.delete({ path: string }): Promise<null> // Delete a file.
help("pack.tool") gives the full declaration."""
    )
    assert answer_help(OFFER, ["xylophone"]) == 'No tool fits "xylophone". Packs: files, mail. Try other words, or help("pack").'


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["files", {"level": "name"}], ["files.read", "files.delete"]),
        (["files", {"level": "name", "limit": 1}], ["files.read"]),
        (["files.read", {"level": "name"}], ["files.read"]),
        (["files.delete", {"level": "signature"}], "files.delete({ path: string }): Promise<null> // Delete a file."),
        (["message somebody", {"level": "name"}], ["mail.send"]),
        (["read", {"level": "name"}], ["files.read"]),
        (["xylophone", {"level": "name"}], []),
    ],
)
def test_three_levels(args: list[Any], expected: Any) -> None:
    assert answer_help(OFFER, args) == expected


def test_full_level_of_a_pack_is_all_its_declarations() -> None:
    text = answer_help(OFFER, ["files", {"level": "full"}])
    assert text.startswith("files: Files below the root.\ndeclare const tools: {")
    assert "read(args: {" in text and "delete(args: {" in text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("files.raed", "There is no tool files.raed. Nearest: files.read, files.delete."),
        ("fs.read", "There is no tool fs.read. Nearest: files.read."),
        ("q.zzzzzzzzzzzzzzzz", "There is no tool q.zzzzzzzzzzzzzzzz. help() lists the packs."),
        ("mail.status", "mail.status exists, but this selection does not offer it."),
    ],
)
def test_an_unknown_name_gives_the_nearest(name: str, expected: str) -> None:
    assert answer_help(OFFER, [name]) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([5], "help: it takes text, then an object with options"),
        (["files", "full"], "help: it takes text, then an object with options"),
        ([{"level": "name"}], "help: its first argument is a name or words, not an object"),
        (["a", {}, 1], "help: it takes a name or words, and an object with options; 3 arguments came"),
        (["files", {"level": "brief"}], "help: level must be name, signature or full, not 'brief'"),
        (["files", {"level": []}], "help: level must be name, signature or full, not []"),
        (["files", {"limit": 0}], "help: limit must be a whole number from 1 to 50, not 0"),
        (["files", {"limit": True}], "help: limit must be a whole number from 1 to 50, not True"),
        (["files", {"most": 3}], "help: there is no option most"),
    ],
)
def test_misuse_is_a_problem_that_says_what_to_write(args: list[Any], expected: str) -> None:
    with pytest.raises(ToolProblem) as raised:
        answer_help(OFFER, args)
    assert raised.value.code == "bad_arguments"
    assert raised.value.message == expected
    assert raised.value.hint == (
        'write help(), help("pack"), help("pack.tool") or help("what you want to do"), each also with { level: "name", limit: 5 }'
    )


def test_every_answer_is_bounded_and_counts_what_it_left_out() -> None:
    many, wordy, wide = crowd(1_000), crowd(40, doc="One sentence. " + "é" * 30_000), crowd(1, packs=2_000)
    pack_answer = answer_help(many, ["pack0"])
    assert "more tools; help(" in pack_answer.splitlines()[-1]
    assert "more packs; help(" in answer_help(wide, [])
    one = answer_help(wordy, ["pack0.tool_1"])
    assert "… cut: " in one and one.endswith('use level: "signature"')
    asked = [
        [],
        ["pack0"],
        ["pack0.tool_1"],
        ["thing", {"level": "full", "limit": 50}],
        ["pack0", {"level": "full"}],
        ["thing " * 9_000],
    ]
    for offer in (many, wordy, wide):
        for args in asked:
            assert len(answer_help(offer, args).encode()) <= HELP_BYTES


def test_without_tools_it_says_so() -> None:
    assert answer_help(choose([]), []) == "No tools are on offer in this session; write plain JavaScript."
