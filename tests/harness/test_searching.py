"""Where a text stands in a session: turn, place and line."""

import pytest

from harness.entries import Began, Ended, Ending, Entry, Facts, Item, Message, Opened
from harness.searching import Hit, hits
from harness.store.memory import MemoryStore
from tests.harness.sample_session import NOON

pytestmark = pytest.mark.anyio


async def found(text: str, *entries: Entry) -> list[Hit]:
    store = MemoryStore()
    writer = await store.write("s", at=NOON)
    await writer.append(Opened(session="s", at=NOON, facts=Facts(root="/needle")), *entries)
    return await hits(store, "s", text)


async def test_scripts_shown_texts_messages_and_items_are_searched_in_any_case() -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "the needle"}]}
    assert await found(
        "NeedLE",
        Message(session="s", at=NOON, role="user", text="find\nthe Needle\n"),
        Began(session="s", at=NOON, turn=1, script="x\ny\nneedle(needle)", sha256=""),
        Ended(session="s", at=NOON, turn=1, ending=Ending(how="finished"), text="a needle\nnone\nNEEDLE"),
        Item(
            session="s",
            at=NOON,
            turn=2,
            format="codex",
            kind="response_item/message",
            raw={"type": "response_item", "payload": item},
        ),
        Item(session="s", at=NOON, turn=2, format="codex", kind="torn", text="half a needle"),
    ) == [
        Hit(turn=0, where="user", line=2, text="the Needle"),
        Hit(turn=1, where="script", line=3, text="needle(needle)"),
        Hit(turn=1, where="shown", line=1, text="a needle"),
        Hit(turn=1, where="shown", line=3, text="NEEDLE"),
        Hit(turn=2, where="assistant", line=1, text="the needle"),
        Hit(turn=2, where="torn", line=1, text="half a needle"),
    ]


async def test_letters_that_fold_to_two_do_not_shift_the_lines() -> None:
    text = "ßßßß\nstraße\nend"
    assert await found("STRASSE", Message(session="s", at=NOON, role="user", text=text)) == [
        Hit(turn=0, where="user", line=2, text="straße")
    ]


async def test_a_text_of_several_lines_is_found_where_it_begins() -> None:
    text = "c\na\nb\nc\na\nb"
    assert [hit.line for hit in await found("a\nb", Message(session="s", at=NOON, role="user", text=text))] == [2, 5]


async def test_a_long_line_full_of_it_is_one_hit() -> None:
    assert len(await found("a", Message(session="s", at=NOON, role="user", text="a" * 1_000_000))) == 1
