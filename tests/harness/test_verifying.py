"""A session is as it was written, or the first line that is not is named."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from harness.entries import Message
from harness.store import NoSession
from harness.store.lines import START, BadLine, Kept, Line, MissingValue, digest_of
from harness.store.memory import MemoryStore
from harness.verifying import Verdict, verify
from tests.harness.sample_session import BIG, NOON, sample

pytestmark = pytest.mark.anyio


class Tampered(MemoryStore):
    """What somebody made of the lines behind our back."""

    change: Callable[[list[Kept]], list[Kept]] = staticmethod(list)

    async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
        changed = self.change(list(await super().load(session)))
        return changed[after : None if most is None else after + most]


async def kept(store: MemoryStore, session: str = "s", **how: int) -> list[Kept]:
    writer = await store.write(session, at=NOON)
    await writer.append(*sample(session, **how))
    await writer.close()
    return list(await store.load(session))


def edited(line: Line) -> Line:
    return replace(line, payload={**line.payload, "text": "something else"}, body=b"")


async def test_a_good_session_is_told_by_its_lines_values_and_head() -> None:
    store = MemoryStore()
    lines = await kept(store)
    size = sum(len(one.line.to_bytes()) + 1 for one in lines) + len(BIG)
    assert await verify(store, "s") == Verdict(session="s", lines=13, values=1, bytes=size, head=lines[-1].line.digest)


async def test_every_edited_line_is_named_by_number_type_and_turn() -> None:
    lines = await kept(Tampered())
    for place, one in enumerate(lines):
        store = Tampered()
        await kept(store)
        store.change = lambda all, place=place: [
            replace(kept, line=edited(kept.line)) if at == place else kept for at, kept in enumerate(all)
        ]  # type: ignore[misc]
        verdict = await verify(store, "s")
        assert verdict.broken == f"line {place + 1} ({one.line.type}) is not as it was written: its digest differs"
        assert (verdict.lines, verdict.line, verdict.type, verdict.turn) == (place, place + 1, one.line.type, one.line.turn)


async def test_every_missing_line_but_the_last_is_named() -> None:
    for place in range(12):
        store = Tampered()
        await kept(store)
        store.change = lambda all, place=place: all[:place] + all[place + 1 :]  # type: ignore[misc]
        verdict = await verify(store, "s")
        assert verdict.broken == f"line {place + 1} is missing: after it comes line {place + 2}"
        assert (verdict.lines, verdict.line) == (place, place + 1)


async def test_two_lines_that_changed_places_are_named() -> None:
    store = Tampered()
    await kept(store)
    store.change = lambda all: [*all[:4], all[5], all[4], *all[6:]]
    assert (await verify(store, "s")).broken == "line 5 is missing: after it comes line 6"


async def test_a_cut_tail_shows_only_against_a_head_that_was_kept() -> None:
    store = Tampered()
    head = (await kept(store))[-1].line.digest
    store.change = lambda all: all[:9]
    cut = await verify(store, "s")
    assert (cut.broken, cut.lines) == ("", 9)
    told = await verify(store, "s", head=head)
    assert (
        told.broken == f"no line has the digest {head[:12]}… that was kept: lines were cut off the end, or all were written anew"
    )
    assert (told.lines, told.line, told.head) == (9, 10, cut.head)


async def test_a_chain_written_anew_shows_only_against_a_head_that_was_kept() -> None:
    store = Tampered()
    head = (await kept(store))[-1].line.digest

    def forged(all: list[Kept]) -> list[Kept]:
        made, before = [], START
        for one in all:
            line = edited(one.line) if one.line.type == "message" else one.line
            made.append(Kept(replace(line, digest=digest_of(line, before)), one.blob))
            before = made[-1].line.digest
        return made

    store.change = forged
    assert (await verify(store, "s")).good
    assert not (await verify(store, "s", head=head)).good


async def test_a_session_that_has_grown_still_has_the_head_that_was_kept() -> None:
    store = MemoryStore()
    head = (await kept(store))[-1].line.digest
    writer = await store.write("s", at=NOON)
    await writer.append(Message(session="s", at=NOON, role="user", text="one more"))
    verdict = await verify(store, "s", head=head)
    assert (verdict.broken, verdict.lines, verdict.kept) == ("", 14, 13)


async def test_a_head_that_is_no_digest_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^'c0ffee' is no digest: 64 characters"):
        await verify(MemoryStore(), "s", head="c0ffee")


async def test_a_value_that_is_gone_or_changed_is_named_at_its_first_line() -> None:
    def gone(sha: str) -> bytes:
        raise MissingValue(f"the value {sha[:12]}… is not there")

    sha = next(iter((await kept(MemoryStore()))[3].blobs()))
    for blob, told in (
        (gone, f"line 4 (settled): the value {sha[:12]}… is not there"),
        (lambda _: b"other", f"line 4 (settled): the value {sha[:12]}… is not what it was: its sha256 differs"),
    ):
        store = Tampered()
        await kept(store)
        store.change = lambda all, blob=blob: [Kept(one.line, blob) for one in all]  # type: ignore[misc]
        verdict = await verify(store, "s")
        assert (verdict.broken, verdict.line, verdict.type, verdict.turn) == (told, 4, "settled", 1)


async def test_a_session_under_the_name_of_another_is_named() -> None:
    store = Tampered()
    await kept(store, "other")
    other = list(await store.load("other"))
    await kept(store)
    store.change = lambda _: other
    assert (await verify(store, "s")).broken == "line 1 (opened) is of session other, not of s"


async def test_a_line_that_cannot_be_read_is_named_behind_the_good_ones() -> None:
    class Torn(MemoryStore):
        async def load(self, session: str, *, after: int = 0, most: int | None = None) -> Sequence[Kept]:
            page = await super().load(session, after=after, most=most)
            if any(one.line.seq == 7 for one in page):
                raise BadLine("line 7: not a whole JSON object")
            return page

    store = Torn()
    writer = await store.write("s", at=NOON)
    await writer.append(*sample("s"))
    verdict = await verify(store, "s")
    assert (verdict.broken, verdict.lines, verdict.line) == ("line 7: not a whole JSON object", 6, 7)


async def test_a_long_session_is_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.verifying.PAGE_LINES", 100)
    store = MemoryStore()
    await kept(store, turns=300)
    seen: list[int] = []
    verdict = await verify(store, "s", watch=lambda line, _: seen.append(line.seq))
    assert (verdict.lines, verdict.values, seen) == (907, 1, list(range(1, 908)))


async def test_a_session_that_is_not_there_is_an_error_and_no_verdict() -> None:
    with pytest.raises(NoSession):
        await verify(MemoryStore(), "s")
