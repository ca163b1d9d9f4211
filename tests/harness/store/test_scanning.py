"""What lines tell: titles, files, searches and sums; and a search of files reads no line less than it must."""

from typing import Any

import pytest

from harness.entries import Began, Ended, Ending, Entry, Item
from harness.ledger import Ledger
from harness.store import Query
from harness.store.jsonl_listing import could_tell
from harness.store.lines import START, Kept, encode
from harness.store.scanning import facts_of, facts_one_by_one, found_in, path_fits, paths_in, summed, titled, tool_fits
from tests.contracts.entry_samples import AT, NASTY, one_of_each, opened, said, settled


def kept_of(*entries: Entry) -> list[Kept]:
    kept: list[Kept] = []
    for entry in entries:
        line, blobs = encode(entry, seq=len(kept) + 1, before=kept[-1].line.digest if kept else START)
        kept.append(Kept(line, blobs.__getitem__))
    return kept


def test_a_title_is_the_first_line_that_says_something() -> None:
    assert titled("\n \n  hello \nworld") == "hello" and titled(" \n") == ""
    assert titled("x" * 120) == "x" * 120 and titled("x" * 121) == "x" * 119 + "…"
    assert facts_of(said("said by a person")).title and not facts_of(said("by the model", role="assistant")).title


def test_files_are_found_in_arguments_and_results() -> None:
    value = {"path": "a", "file": "", "hits": [{"path": "b"}, "c", 1], "files": ["d"], "other": {"path": "no"}, "root": 5}
    assert list(paths_in(value)) == ["a", "b", "c", "d"] and list(paths_in(["a"])) == [] and list(paths_in(None)) == []


@pytest.mark.parametrize(
    ("path", "asked", "fits"),
    [
        ("a/b.py", "b.py", True),
        ("a/b.py", "a/b.py", True),
        ("ab.py", "b.py", False),
        ("/x/a", "/x/a", True),
        ("/y/x/a", "/x/a", True),
    ],
)
def test_a_path_fits_whole_or_by_its_end(path: str, asked: str, fits: bool) -> None:
    assert path_fits(path, asked) is fits


def test_a_tool_fits_by_name_or_pattern() -> None:
    assert tool_fits("shell.run", "shell.*") and tool_fits("odd[1]", "odd[1]") and not tool_fits("Shell.run", "shell.*")


def test_what_an_item_says_is_told_by_its_format_and_an_unknown_one_by_its_text() -> None:
    call = {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{}"}}
    facts = facts_of(Item(session="s", at=AT, format="codex", kind="response_item/function_call", raw=call))
    assert (facts.calls, facts.tool, facts.call_id) == (1, "shell", "c")
    assert facts_of(Item(session="s", at=AT, format="codex", kind="torn", text="half a rec")).texts == ("half a rec",)
    assert facts_one_by_one(said("x")) == (facts_of(said("x")),)


def test_calls_and_outputs_of_one_imported_record_are_counted_one_by_one() -> None:
    uses = [{"type": "tool_use", "id": f"t{n}", "name": name, "input": {}} for n, name in enumerate(["Read", "Bash"])]
    raw = {"type": "assistant", "uuid": "u", "message": {"role": "assistant", "content": uses}}
    item = Item(session="s", at=AT, turn=1, format="claude", kind="assistant", raw=raw)
    assert [(facts.calls, facts.tool) for facts in facts_one_by_one(item)] == [(1, "Read"), (1, "Bash")]
    assert [(sums.group, sums.calls) for sums in summed([kept_of(opened(format="claude"), item)], "tool")] == [
        ("Bash", 1),
        ("Read", 1),
    ]


def test_sums_do_not_fetch_big_values() -> None:
    ended = Ended(session="s", at=AT, turn=1, ending=Ending(how="finished"), text="", ledger=Ledger(produced=9, shown=4))
    lines = [one.line for one in kept_of(opened(), settled(NASTY["big inside big"], size=77), ended)]

    def unasked(sha: str) -> bytes:
        raise AssertionError(sha)

    (sums,) = summed([[Kept(line, unasked) for line in lines]], "format")
    assert (sums.group, sums.calls, sums.result_bytes, sums.produced, sums.shown) == ("own", 1, 77, 9, 4)


QUERIES: list[dict[str, Any]] = [
    {"text": "look"}, {"text": "LOOK"}, {"text": "kelvin k"}, {"text": "ü"}, {"text": 'a "quote"'}, {"text": "tab\t"}, {"text": "half"},
    {"tool": "files.*"}, {"path": "b.py"}, {"path": "deep.py"}, {"path": "ü.py"}, {"text": "shown", "path": "b.py"}, {"text": "nowhere"},
    {"text": "straße"}, {"text": "ss"}, {"text": "/"},
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_leaving_out_lines_by_their_bytes_changes_no_answer(query: dict[str, Any]) -> None:
    extra: list[Entry] = [
        said("Kelvin \u212a"), said('with a "quote" and tab\there'), said("half \ud800 pair, look"), said("STRASSE"), said("a/b"),
        settled({"hits": [{"path": f"x/{n}/deep.py", "text": "y" * 50} for n in range(300)]}), settled({"path": "x/ü.py"}),
        Began(session="s", at=AT, turn=3, script="return 'LOOK'", sha256=""),
    ]  # fmt: skip
    for entry in [*one_of_each(), *extra]:
        kept = kept_of(entry)
        passed = [one for one in kept if could_tell(one.line.to_bytes(), Query(**query))]
        for name, value in query.items():
            alone = Query(**{name: value})
            assert found_in(passed, alone, "s") == found_in(kept, alone, "s")
