"""A session goes on in another process: what it knew is there, and a turn that was cut off goes on without doing anything twice."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from catalog import pack, tool
from harness import Harness, Session, Setup
from harness.continuing import CannotContinue
from harness.entries import Ended, Entry, Facts, Item, Opened, Reopened
from harness.store import NoSession, SessionBusy, every_entry
from harness.store.jsonl import JsonlStore
from harness.store.memory import MemoryStore, MemoryWriter
from tests.harness.killed_turn import SCRIPT, harness

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parent.parent.parent


def killed(folder: Path, die_at: int) -> None:
    """Run the session in a process that dies inside the call with this number."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.killed_turn", str(folder), str(die_at)], cwd=ROOT, capture_output=True, timeout=60
    )
    assert done.returncode == -9 and b"lived" not in done.stdout, done.stderr.decode()


def journal(folder: Path) -> Counter[str]:
    return Counter((folder / "journal").read_text().split("\n")[:-1])


@pytest.mark.parametrize("die_at", [0, 3, 5, 100])
async def test_a_killed_turn_goes_on_and_nothing_runs_twice(tmp_path: Path, die_at: int) -> None:
    killed(tmp_path, die_at)
    ran_before = journal(tmp_path)
    async with harness(tmp_path) as made, made.session("killed", resume=True) as session:
        assert session.interrupted is not None and session.interrupted.turn == 2
        on_record = {str(one.arguments["n"]) for one in session.interrupted.ran if one.tool == "x.act"}  # type: ignore[call-overload]
        unsure = {str(one.arguments["n"]) for one in session.interrupted.unsure}
        assert str(die_at) in unsure and {f"act {n}" for n in on_record | {str(die_at)}} <= set(ran_before)
        outcome = await session.continue_turn()
    ran = journal(tmp_path)
    assert ran["look a"] == 1 and max(ran.values()) == 1, ran
    value = outcome.shown[0]
    refused = {str(n) for n, one in enumerate(value["done"]) if one == "unsure"} | (
        {"100"} if value["after"] == "unsure" else set()
    )
    assert refused == unsure
    assert set(ran) == {
        "look a",
        *(f"act {n}" for n in (0, 1, 2, 3, 4, 5, 6, 7, 100) if str(n) not in unsure or f"act {n}" in ran_before),
    }
    assert outcome.ok and outcome.number == 2 and session.interrupted is None


async def test_what_was_in_doubt_runs_again_where_the_host_says_so(tmp_path: Path) -> None:
    killed(tmp_path, 3)
    async with harness(tmp_path) as made, made.session("killed", resume=True) as session:
        outcome = await session.continue_turn(unsure="run")
    assert journal(tmp_path)["act 3"] == 2 and outcome.shown[0]["done"][3]["n"] == 3


async def test_the_record_of_a_turn_that_went_on_reads_as_one_turn(tmp_path: Path) -> None:
    killed(tmp_path, 3)
    async with harness(tmp_path) as made, made.session("killed", resume=True) as session:
        outcome = await session.continue_turn()
    entries = [entry async for entry in every_entry(JsonlStore(tmp_path / "sessions"), "killed")]
    told = Counter(entry.call for entry in entries if entry.type == "settled" and entry.turn == 2)
    assert max(told.values()) == 1
    assert [entry.interrupted for entry in entries if isinstance(entry, Reopened)] == [2]
    assert [entry.text for entry in entries if isinstance(entry, Ended)][1] == outcome.text


async def test_a_script_instead_gives_the_turn_up_and_the_model_is_told(tmp_path: Path) -> None:
    killed(tmp_path, 0)
    async with harness(tmp_path) as made, made.session("killed", resume=True) as session:
        assert session.interrupted is not None
        story = session.interrupted.text
        outcome = await session.run("return [load('earlier'), load('before'), context.turn]")
        assert outcome.value == [41, None, 3] and outcome.number == 3
        assert outcome.notices[0] == f"{story}; look at what it did before you go on"
        assert story.startswith("turn 2 was interrupted: it had made x.look (line 3) returned")
        assert "x.act (line 4)" in story and "nobody knows what they did" in story
        assert [turn for turn, _ in session.transcript()] == [1, 3]


async def what_it_knows(session: Session) -> dict[str, object]:
    on = session._ground.on
    return {
        "transcript": session.transcript(),
        "stored": dict(on.stored),
        "calls": [(purse.name, purse.calls, purse.bytes) for purse in on.purses],
        "ledger": (session.ledger.produced, session.ledger.shown, session.ledger.calls, session.ledger.turns),
        "handles": [session.recall(handle) for handle in ("T1.1", "T1.2", "T2.1")],
        "covered": on.seen.covered_in_any("a.txt", 1, 100),
    }


LOOK = """
const text = await tools.files.read({ path: "a.txt" });
show(text); show("x".repeat(9_000)); store("n", { deep: [1, 2] });
return (await tools.search.grep({ pattern: "line 7" })).files.length;
"""


async def test_everything_a_session_knew_is_there_in_the_next_process(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("\n".join(f"line {n}" for n in range(1, 90)))
    store = JsonlStore(tmp_path / "sessions")
    made = Harness(["files", "search"], root=root, store=store, setup=Setup())
    async with made:
        async with made.session("s") as session:
            await session.run(LOOK)
            await session.run(LOOK)
            before = await what_it_knows(session)
            hits = session.ledger.cache_hits
        async with made.session("s", resume=True) as session:
            assert await what_it_knows(session) == before
            third = await session.run(LOOK)
            assert third.number == 3 and "already shown in T1.1" in third.text
            assert third.ledger.cache_hits >= 1 and hits >= 1, (
                "results of the first process are served while their files are as they were"
            )
        (root / "a.txt").write_text("changed")
        async with made.session("s", resume=True) as session:
            fourth = await session.run("return (await tools.files.read({ path: 'a.txt' })).text")
            assert fourth.value == "changed" and fourth.ledger.cache_hits == 0


async def test_what_was_forgotten_stays_forgotten(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "sessions")
    lines = "Array.from({ length: 12 }, (_, n) => 'a line of text, number ' + n).join('\\n')"
    async with Harness(store=store, root=tmp_path) as made:
        async with made.session("s") as session:
            await session.run(f"show({lines})")
            await session.run(f"show('first\\n' + {lines} + '\\nlast')")
            await session.forget([1])
            before = session.transcript()
        async with made.session("s", resume=True) as session:
            assert session.transcript() == before
            third = await session.run(f"show({lines})")
            assert "already shown in T2.1" in third.text


async def test_a_session_is_resumed_only_where_there_is_one(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "sessions")
    async with Harness(store=store, root=tmp_path) as made:
        with pytest.raises(NoSession, match="x"):
            await made.session("x", resume=True).__aenter__()
        async with made.session("s") as session:
            await session.run("return 1")
            with pytest.raises(SessionBusy):
                await made.session("s", resume=True).__aenter__()
        with pytest.raises(SessionBusy, match="session s is kept already; resume it, or take another id"):
            await made.session("s").__aenter__()


async def test_a_turn_that_the_host_cancels_is_on_record_as_that(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "sessions")
    async with Harness(store=store, root=tmp_path) as made:
        async with made.session("s") as session:
            with anyio.move_on_after(0.3):
                await session.run("await sleep(60_000)")
            outcome = await session.run("return context.turn")
        entries = [entry async for entry in every_entry(store, "s")]
        assert [entry.ending.how for entry in entries if isinstance(entry, Ended)] == [
            "cancelled",
            "finished",
        ] and outcome.value == 2
        async with made.session("s", resume=True) as session:
            assert session.interrupted is None and [turn for turn, _ in session.transcript()] == [2]


def test_the_script_of_these_tests_has_calls_in_flight_together() -> None:
    assert "Promise.all" in SCRIPT


# ------------------------------------------------------------ what must be as it was


async def test_a_turn_does_not_go_on_without_the_tools_it_had_and_can_be_tried_again(tmp_path: Path) -> None:
    killed(tmp_path, 3)
    before = journal(tmp_path)
    for _ in range(2):  # the record of the first try does not make the second one look right
        made = Harness(["files"], root=tmp_path, store=JsonlStore(tmp_path / "sessions"))
        async with made, made.session("killed", resume=True) as session:
            with pytest.raises(CannotContinue) as told:
                await session.continue_turn()
            assert str(told.value) == (
                "turn 2 does not go on yet: x.act, x.look was on offer and is not here; give the packs it had (x), "
                "or give the turn up by running the next script"
            )
    assert journal(tmp_path) == before
    async with harness(tmp_path) as made, made.session("killed", resume=True) as session:
        assert (await session.continue_turn()).ok


async def test_a_turn_does_not_go_on_with_a_tool_that_takes_other_arguments_now(tmp_path: Path) -> None:
    killed(tmp_path, 3)
    before = journal(tmp_path)

    @tool(reads=["thing:{name}"], effect="reads")
    async def look(name: str, closely: bool = False) -> dict[str, str]:
        raise AssertionError("it must not run")

    @tool(writes=["thing:{n}"])
    async def act(n: int) -> dict[str, int]:
        raise AssertionError("it must not run")

    changed = pack("x", [look, act], doc="The same, with one argument more.")
    made = Harness([changed], root=tmp_path, store=JsonlStore(tmp_path / "sessions"))
    async with made, made.session("killed", resume=True) as session:
        with pytest.raises(CannotContinue, match=r"x\.look \(line 3\) takes other arguments now than when it ran"):
            await session.continue_turn()
    assert journal(tmp_path) == before


async def test_a_session_stays_below_its_root_unless_that_is_gone(tmp_path: Path) -> None:
    (old := tmp_path / "old").mkdir()
    (new := tmp_path / "new").mkdir()
    store = JsonlStore(tmp_path / "sessions")
    async with Harness(root=old, store=store) as made, made.session("s") as session:
        await session.run("return 1")
    async with Harness(root=new, store=store) as made:
        with pytest.raises(CannotContinue, match=r"works below .*/old, and here the root is .*/new; give that root"):
            await made.session("s", resume=True).__aenter__()
        old.rmdir()
        async with made.session("s", resume=True) as session:
            assert (await session.run("return context.turn")).value == 2


async def test_a_turn_of_ours_in_an_imported_session_counts_on(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "sessions")
    writer = await store.write("s", at=1.0)
    items = [Item(session="s", at=1.0, turn=n, format="codex", kind="x", raw={"n": n}) for n in (1, 2)]
    await writer.append(Opened(session="s", at=1.0, facts=Facts(format="codex")), *items)
    await writer.close()
    async with Harness(root=tmp_path, store=store) as made, made.session("s", resume=True) as session:
        assert (await session.run("return context.turn")).value == 3


class Stopping(MemoryStore):
    """The host stops waiting while the end of a turn is being written."""

    def __init__(self) -> None:
        super().__init__()
        self.patience = anyio.CancelScope()

    async def write(self, session: str, *, at: float) -> MemoryWriter:
        writer = await super().write(session, at=at)
        append = writer.append

        async def stopping(*entries: Entry) -> None:
            if any(isinstance(entry, Ended) for entry in entries):
                self.patience.cancel()
                await anyio.lowlevel.checkpoint()
            await append(*entries)

        writer.append = stopping  # type: ignore[method-assign]
        return writer


async def test_a_turn_that_is_in_view_is_on_record_whenever_the_host_stops_waiting(tmp_path: Path) -> None:
    store = Stopping()
    lines = "Array.from({ length: 30 }, (_, n) => 'a line of text, number ' + n).join('\\n')"
    async with Harness(root=tmp_path, store=store) as made:
        async with made.session("s") as session:
            with store.patience:
                await session.run(f"show({lines})")
            await session.run(f"show('again\\n' + {lines})")
            view = session.transcript()
        async with made.session("s", resume=True) as session:
            assert session.transcript() == view and len(view) == 2
