"""A turn that is told in parts: nothing is told twice or lost, whatever ends it, and a replay cuts where the record says."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import Pack, pack, tool
from harness import Harness, MemoryStore, Session, Setup, TurnOutcome
from harness.compose import in_parts, is_word, showings
from harness.entries import Ended, Entry, Yielded
from harness.going import Going
from harness.limits import ShownLimits
from harness.parts import Part
from harness.replay.keeping import keep
from harness.replay.playing import Stage, play
from harness.replay.recorded import read_entries, recorded_session
from harness.store import every_entry
from harness.store.jsonl import JsonlStore
from harness.watching import Happened, TurnYielded
from sandbox import Finished, Pool, Printed, Shown, Site

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parent.parent.parent


@dataclass
class Steps:
    """A tool that a script stops at, until the test lets it go on."""

    reached: dict[int, anyio.Event] = field(default_factory=dict)
    free: dict[int, anyio.Event] = field(default_factory=dict)

    def pack(self) -> Pack:
        @tool(reads=["clock:now"])
        async def step(n: int) -> int:
            """Wait for the test."""
            self._of(self.reached, n).set()
            await self._of(self.free, n).wait()
            return n

        return pack("x", [step], doc="Of this test.")

    async def at(self, n: int) -> None:
        await self._of(self.reached, n).wait()

    def go(self, *numbers: int) -> None:
        for n in numbers:
            self._of(self.free, n).set()

    @staticmethod
    def _of(events: dict[int, anyio.Event], n: int) -> anyio.Event:
        return events.setdefault(n, anyio.Event())


@asynccontextmanager
async def stepping(
    steps: Steps, *, setup: Setup | None = None, store: MemoryStore | JsonlStore | None = None, resume: bool = False
) -> AsyncIterator[Session]:
    made = Harness([steps.pack()], setup=setup, store=store)
    async with made, made.session("s", resume=resume) as session:
        yield session


async def told(going: Going, steps: Steps, count: int) -> tuple[list[Part | None], TurnOutcome]:
    """A part at each step, then the outcome."""
    parts: list[Part | None] = []
    for n in range(count):
        await steps.at(n)
        part = await going.wait(0)
        assert not isinstance(part, TurnOutcome)
        parts.append(part)
        steps.go(n)
    return parts, await ended(going)


async def ended(going: Going) -> TurnOutcome:
    outcome = await going.wait(30)
    assert isinstance(outcome, TurnOutcome)
    return outcome


def rows(name: str, count: int = 8) -> str:
    return f"Array.from({{ length: {count} }}, (_, i) => `row ${{i}} of {name}`).join('\\n')"


EACH = "Array.from({ length: 40 }, (_, i) => `row ${i} of value ${n}`).join('\\n')"  # of a loop over n
SCRIPT = f"""
show({rows("a")}); console.log("first");
await tools.x.step({{ n: 0 }});
console.log("second"); console.log("third");
await tools.x.step({{ n: 1 }});
await tools.x.step({{ n: 2 }});
show({{ some: [1, 2] }});
await tools.x.step({{ n: 3 }});
return {rows("end")};
"""


# ------------------------------------------------------------ what is told


async def test_a_turn_told_in_parts_says_what_it_says_at_once() -> None:
    steps = Steps()
    async with stepping(steps) as session:
        parts, outcome = await told(session.begin(SCRIPT), steps, 4)
    steps.go(*range(4))
    async with stepping(steps) as session:
        at_once = await session.run(SCRIPT)
    texts = [part.text if part is not None else None for part in parts]
    assert texts == [f"[T1.1]\n{chr(10).join(f'row {i} of a' for i in range(8))}\nfirst", "second\nthird", None, '{"some":[1,2]}']
    assert outcome.rest == "[T1.5]\n" + "\n".join(f"row {i} of end" for i in range(8))
    # Lines printed before and behind a cut are two items; so the numbers of handles differ, and nothing else does.
    assert outcome.text == "\n".join([*(text for text in texts if text), outcome.rest])
    assert at_once.text.replace("[T1.4]", "[T1.5]") == outcome.text
    assert (outcome.shown, outcome.printed, outcome.value) == (at_once.shown, at_once.printed, at_once.value)
    assert outcome.parts == tuple(part for part in parts if part is not None) and at_once.parts == ()
    assert at_once.rest == at_once.text


async def test_lines_in_an_earlier_part_are_not_shown_again_in_a_later_one() -> None:
    steps, script = Steps(), f"show({rows('a')}); await tools.x.step({{ n: 0 }}); show({rows('a')});"
    async with stepping(steps) as session:
        _, outcome = await told(session.begin(script), steps, 1)
    assert outcome.rest == "[8 lines already shown in T1.1, lines 1-8]"


async def test_every_handle_of_a_part_is_recallable_at_once_and_later() -> None:
    steps, script = Steps(), "show([1, 2]); console.log('a'); console.log('b'); await tools.x.step({ n: 0 }); return 'end'"
    async with stepping(steps) as session:
        going = session.begin(script)
        await steps.at(0)
        part = await going.wait(0)
        assert isinstance(part, Part)
        assert [session.recall(item.handle) for item in part.items] == [[1, 2], "a\nb"]
        steps.go(0)
        await ended(going)
        later = await session.run("return [await recall('T1.1'), await recall('T1.2'), await recall('T1.3')]")
    assert later.value == [[1, 2], "a\nb", "end"]


async def test_the_cap_of_a_turn_holds_over_its_parts_and_the_end_is_always_told() -> None:
    count, steps = 30, Steps()
    script = (
        f"for (let n = 0; n < {count}; n++) {{ show(`${{n}} ` + {EACH}); await tools.x.step({{ n }}) }}\n"
        "throw new Error('why it failed')"
    )
    setup = Setup(shown=ShownLimits(shown_turn_bytes=6_000))
    async with stepping(steps, setup=setup) as session:
        parts, outcome = await told(session.begin(script), steps, count)
        seen = sum(len(part.text.encode()) + 1 for part in parts if part is not None) + len(outcome.rest.encode())
        assert seen <= 6_000 and len(outcome.text.encode()) <= 6_000
        assert outcome.rest.startswith("Error: why it failed  (line 2, column 7)\n")
        said = [part.notices for part in parts if part is not None and part.notices]
        first = next(item.handle for item in outcome.items if item.crowded_out)
        assert said == [
            (f'1 of 1 values had no room; show less at once, or in a later turn: await recall("{first}")',)
        ]  # once, not with each part
        silent = [item.handle for item in outcome.items if item.crowded_out][1:]
        assert outcome.notices[-1] == (
            f'while the script ran, {len(silent)} more values had no room; in a later turn: await recall("{silent[0]}")'
        )
        assert all(str(session.recall(handle)).startswith(f"{int(handle[3:]) - 1} ") for handle in silent)


async def test_relax_between_parts_gives_room_to_the_later_ones() -> None:
    steps = Steps()
    script = f"""
for (let n = 0; n < 3; n++) {{ show(`${{n}} ` + {EACH}); await tools.x.step({{ n }}) }}
await relax("the rest matters");
show("more: " + {rows("b", 60)}); await tools.x.step({{ n: 3 }});
return 1"""
    setup = Setup(shown=ShownLimits(shown_turn_bytes=2_000, relaxed_turn_bytes=8_000))
    async with stepping(steps, setup=setup) as session:
        parts, outcome = await told(session.begin(script), steps, 4)
    assert parts[2] is not None and parts[2].items[0].crowded_out
    assert parts[3] is not None and "row 59 of b" in parts[3].text
    assert len(outcome.text.encode()) <= 8_000


async def test_a_secret_is_in_no_part() -> None:
    steps = Steps()
    async with stepping(steps, setup=Setup(secrets={"KEY": "hunter2-hunter2"})) as session:
        parts, outcome = await told(
            session.begin("show('it is hunter2-hunter2'); await tools.x.step({ n: 0 }); return 1"), steps, 1
        )
    assert parts[0] is not None and "hunter2" not in parts[0].text + outcome.text and outcome.ledger.redacted


async def test_who_watches_hears_of_every_part_and_a_part_is_on_record_before_it_is_told() -> None:
    steps, store, heard = Steps(), MemoryStore(), list[Happened]()
    on_record_then: list[int] = []

    def watch(happened: Happened) -> None:
        if isinstance(happened, TurnYielded):
            on_record_then.append(sum(isinstance(entry, Yielded) for entry in store.entries("s")))
        heard.append(happened)

    made = Harness([steps.pack()], store=store, watch=watch)
    async with made, made.session("s") as session:
        parts, _ = await told(session.begin(SCRIPT), steps, 4)
    assert [one.part for one in heard if isinstance(one, TurnYielded)] == [part for part in parts if part is not None]
    assert on_record_then == [1, 2, 3]


async def test_nothing_is_told_between_the_end_of_a_script_and_its_record() -> None:
    """A part that is cut while the end is being written would say again what the end says."""
    writing, written = anyio.Event(), anyio.Event()

    class Slow(MemoryStore):
        async def write(self, session: str, *, at: float):  # type: ignore[no-untyped-def]
            writer = await super().write(session, at=at)
            append = writer.append

            async def slowly(*entries: Entry) -> None:
                if any(isinstance(entry, Ended) for entry in entries):
                    writing.set()
                    await written.wait()
                await append(*entries)

            writer.append = slowly  # type: ignore[method-assign]
            return writer

    steps, store, got = Steps(), Slow(), list[object]()
    async with stepping(steps, store=store) as session:
        going = session.begin("show('a'); show('b'); return 1")

        async def ask() -> None:
            got.append(await going.wait(0))

        async with anyio.create_task_group() as tasks:
            await writing.wait()
            tasks.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            written.set()
    assert [one.rest for one in got if isinstance(one, TurnOutcome)] == ["a\nb\n1"]
    assert not any(isinstance(entry, Yielded) for entry in store.entries("s"))


async def test_who_stops_waiting_while_a_part_is_put_on_record_is_told_all_the_same() -> None:
    steps, scope = Steps(), anyio.CancelScope()

    def watch(happened: Happened) -> None:
        if isinstance(happened, TurnYielded):
            scope.cancel()

    made, got = Harness([steps.pack()], watch=watch), list[object]()
    async with made, made.session("s") as session:
        going = session.begin("show('a'); await tools.x.step({ n: 0 }); return 1")
        await steps.at(0)
        with scope:
            got.append(await going.wait(0))
        steps.go(0)
        outcome = await ended(going)
    assert [part.text for part in got if isinstance(part, Part)] == ["a"] and outcome.rest == "1"


# ------------------------------------------------------------ the pure part

events = st.lists(
    st.sampled_from([Shown(1, {}, Site(1, 1)), Printed("log", "a"), Printed("log", "b"), Shown("text", {}, Site(2, 1))]),
    max_size=10,
)


@settings(max_examples=200, deadline=None)
@given(events, st.lists(st.integers(0, 12), max_size=4))
def test_parts_are_the_events_in_order_and_each_has_its_words(made: list[Shown | Printed], words: list[int]) -> None:
    cuts = sorted(words)
    parts = in_parts([*made, Finished(3)], cuts)
    assert [event for part in parts for event in part] == [*made, Finished(3)] and len(parts) == len(cuts) + 1
    for at, cut in enumerate(cuts):
        assert sum(is_word(event) for part in parts[: at + 1] for event in part) == min(cut, len(made))
    values = [one.value for part in parts for one in showings(part) if one.kind == "value"]
    assert values == [one.value for one in showings([*made, Finished(3)]) if one.kind == "value"]


# ------------------------------------------------------------ replay


def no_times(parts: Sequence[Part]) -> list[tuple[str, object]]:
    return [(part.text, part.cut) for part in parts]


async def replayed(entries: Sequence[Entry], steps: Steps) -> tuple[MemoryStore, TurnOutcome]:
    """Play the one turn, and hold it to its record."""
    store = MemoryStore()
    recorded = recorded_session(entries, name="parts")
    async with Pool(workers=1) as pool:
        played = await play(recorded, Stage(pool=pool, packs=(steps.pack(),)), store=store)
    assert played.differences == () and played.turns[0].outcome is not None
    return store, played.turns[0].outcome


def yielded(entries: Sequence[Entry]) -> list[tuple[int, int, str]]:
    return [(entry.told, entry.words, entry.text) for entry in entries if isinstance(entry, Yielded)]


async def test_a_session_with_parts_is_replayed_with_the_same_parts_and_texts(tmp_path: Path) -> None:
    steps, store = Steps(), JsonlStore(tmp_path / "kept")
    async with stepping(steps, store=store) as session:
        _, outcome = await told(session.begin(SCRIPT), steps, 4)
    entries = [entry async for entry in every_entry(store, "s")]
    again, played = await replayed(entries, steps)
    assert (played.text, played.rest, no_times(played.parts)) == (outcome.text, outcome.rest, no_times(outcome.parts))
    assert yielded(again.entries("s")) == yielded(entries) and len(outcome.parts) == 3


async def test_a_kept_recording_with_parts_is_a_file_that_plays(tmp_path: Path) -> None:
    steps, store, path = Steps(), MemoryStore(), tmp_path / "parts.session.jsonl"
    async with stepping(steps, store=store) as session:
        _, outcome = await told(session.begin(SCRIPT), steps, 4)
    async with Pool(workers=1) as pool:
        await keep(store.entries("s"), path, Stage(pool=pool, packs=(steps.pack(),)))
    _, played = await replayed(read_entries(path), steps)
    assert no_times(played.parts) == no_times(outcome.parts)


async def test_parts_over_the_cap_and_behind_relax_are_replayed_the_same() -> None:
    steps, store = Steps(), MemoryStore()
    script = f"""
for (let n = 0; n < 5; n++) {{ show(`${{n}} ` + {EACH}); await tools.x.step({{ n }}); if (n === 3) await relax("more") }}
throw new Error("end")"""
    setup = Setup(shown=ShownLimits(shown_turn_bytes=2_000, relaxed_turn_bytes=4_000))
    async with stepping(steps, setup=setup, store=store) as session:
        parts, outcome = await told(session.begin(script), steps, 5)
    again, played = await replayed(store.entries("s"), steps)
    assert (played.text, no_times(played.parts)) == (outcome.text, no_times(outcome.parts)) and len(parts) == 5
    assert yielded(again.entries("s")) == yielded(store.entries("s"))


@pytest.mark.parametrize(
    "script",
    [
        "show('a'); await tools.x.step({ n: 0 }); show('b'); await tools.x.step({ n: 1 }); return 'never'",
        "show('a'); await tools.x.step({ n: 0 }); await Promise.all([tools.x.step({ n: 1 }), sleep(60_000)])",
    ],
)
async def test_a_script_that_was_stopped_is_replayed_to_the_same_end(script: str) -> None:
    steps, store = Steps(), MemoryStore()
    async with stepping(steps, store=store) as session:
        going = session.begin(script)
        await steps.at(0)
        await going.wait(0)
        steps.go(0)
        await steps.at(1)
        outcome = await going.stop()
    assert outcome.error is not None and outcome.error.name == "Stopped"
    again, played = await replayed(store.entries("s"), steps)
    assert (played.text, played.rest) == (outcome.text, outcome.rest)
    assert yielded(again.entries("s")) == yielded(store.entries("s"))


# ------------------------------------------------------------ resume


async def test_a_session_resumed_after_a_turn_in_parts_has_it_in_view_with_its_handles(tmp_path: Path) -> None:
    steps = Steps()
    async with stepping(steps, store=JsonlStore(tmp_path)) as session:
        _, outcome = await told(session.begin(SCRIPT), steps, 4)
    async with stepping(steps, store=JsonlStore(tmp_path), resume=True) as session:
        assert session.transcript() == [(1, outcome.text)]
        assert [session.recall(item.handle) for item in outcome.items][1:4] == ["first", "second\nthird", {"some": [1, 2]}]
        assert "already shown in T1.1" in (await session.run(f"show({rows('a')})")).text


async def test_a_turn_cancelled_after_a_part_keeps_the_part_in_view(tmp_path: Path) -> None:
    steps = Steps()
    async with stepping(steps, store=JsonlStore(tmp_path)) as session:
        going = session.begin(SCRIPT)
        await steps.at(0)
        part = await going.wait(0)
        assert isinstance(part, Part)
        going.cancel()
        with pytest.raises(RuntimeError, match="the turn was cancelled"):
            await going.wait(30)
        live = session.transcript()
        assert live == [(1, part.text)]
        assert "already shown in T1.1" in (await session.run(f"show({rows('a')})")).text
    async with stepping(steps, store=JsonlStore(tmp_path), resume=True) as session:
        assert session.transcript()[0] == (1, part.text)
        assert session.recall("T1.2") == "first"
        assert "already shown in T1.1" in (await session.run(f"show({rows('a')})")).text
        assert (await session.run("return context.turn")).value == 4


def dying(folder: Path) -> None:
    """A process that is killed behind its second part."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.test_parts", str(folder)], cwd=ROOT, capture_output=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


async def die_behind_a_part(folder: Path) -> None:
    steps = Steps()
    async with stepping(steps, store=JsonlStore(folder)) as session:
        going = session.begin(SCRIPT)
        for n in (0, 1):
            await steps.at(n)
            await going.wait(0)
            if n == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            steps.go(n)


PARTS = ["[T1.1]\n" + "\n".join(f"row {i} of a" for i in range(8)) + "\nfirst", "second\nthird"]


async def test_behind_a_crash_the_parts_are_in_view_and_the_turn_goes_on_with_the_rest(tmp_path: Path) -> None:
    dying(tmp_path)
    steps = Steps()
    steps.go(1, 2, 3)
    async with stepping(steps, store=JsonlStore(tmp_path), resume=True) as session:
        assert session.interrupted is not None and [part.text for part in session.interrupted.given] == PARTS
        assert session.transcript() == [(1, "\n".join(PARTS))]
        assert (session.recall("T1.2"), session.recall("T1.3")) == ("first", "second\nthird")
        outcome = await session.continue_turn()
        assert outcome.rest == '{"some":[1,2]}\n[T1.5]\n' + "\n".join(f"row {i} of end" for i in range(8))
        assert [part.text for part in outcome.parts] == PARTS
        assert outcome.text == "\n".join([*PARTS, outcome.rest]) and session.transcript() == [(1, outcome.text)]
    entries = [entry async for entry in every_entry(JsonlStore(tmp_path), "s")]
    assert [entry.text for entry in entries if isinstance(entry, Yielded)] == PARTS  # not on record twice
    _, played = await replayed(entries, steps)
    assert played.rest == outcome.rest


async def test_behind_a_crash_a_new_script_leaves_the_parts_in_view(tmp_path: Path) -> None:
    dying(tmp_path)
    steps = Steps()
    async with stepping(steps, store=JsonlStore(tmp_path), resume=True) as session:
        later = await session.run(f"show({rows('a')}); return await recall('T1.3')")
        assert later.value == "second\nthird" and "already shown in T1.1" in later.text
        assert later.notices[0].startswith("turn 1 was interrupted: it had made x.step (line 3) returned")
        before = session.transcript()
        assert before[0] == (1, "\n".join(PARTS))
    async with stepping(steps, store=JsonlStore(tmp_path), resume=True) as session:
        assert session.transcript() == before and session.recall("T1.2") == "first"


async def test_a_turn_that_went_on_and_was_cancelled_then_still_has_its_parts(tmp_path: Path) -> None:
    dying(tmp_path)
    steps = Steps()
    async with stepping(steps, store=JsonlStore(tmp_path), resume=True) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.continue_turn)
            await steps.at(1)
            tasks.cancel_scope.cancel()
        assert session.transcript() == [(1, "\n".join(PARTS))]
    async with stepping(steps, store=JsonlStore(tmp_path), resume=True) as session:
        assert session.interrupted is None and session.transcript() == [(1, "\n".join(PARTS))]
        assert session.recall("T1.3") == "second\nthird"
        assert "already shown in T1.1" in (await session.run(f"show({rows('a')})")).text
    entries = [entry async for entry in every_entry(JsonlStore(tmp_path), "s")]
    assert next(entry.text for entry in entries if isinstance(entry, Ended)) == "\n".join(PARTS)


if __name__ == "__main__":
    anyio.run(die_behind_a_part, Path(sys.argv[1]))
