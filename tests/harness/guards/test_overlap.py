"""What a result has that the model can see already: told beside the outcome; the script's value stays whole."""

from pathlib import Path

import pytest

from catalog import tool
from harness import Flags, Policy, Setup, allowing
from harness.call import Call, Outcome
from harness.condense.record import Origin
from harness.guards.overlap import Overlap, slices_in
from harness.seen import Seen
from tests.harness.guards.rig import gives, made, talking

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("".join(f"line number {n} of the file\n" for n in range(1, 61)))
    return tmp_path


READ = "show(await tools.files.read({ path: 'a.py', offset: 1, limit: 20 }))"
MORE = "const page = await tools.files.read({ path: 'a.py', offset: 11, limit: 20 }); show(page); return page.text.split('\\n').length"


async def test_lines_in_view_are_told_and_the_value_is_whole(root: Path) -> None:
    async with talking(packs=["files"], root=root) as session:
        await session.run(READ)
        outcome = await session.run(MORE)
    assert outcome.calls[0].outcome.in_view == ((11, 20),) and outcome.ledger.in_view_lines == 10
    assert outcome.value in (20, 21) and "line number 11 " in outcome.calls[0].outcome.value["text"]
    assert "line number 15 " not in outcome.text and "line number 25 " in outcome.text


async def test_lines_come_back_when_their_turn_is_forgotten(root: Path) -> None:
    async with talking(packs=["files"], root=root) as session:
        await session.run(READ)
        await session.forget([1])
        outcome = await session.run(MORE)
    assert outcome.calls[0].outcome.in_view == () and "line number 15 " in outcome.text


async def test_a_write_to_the_file_forgets_its_lines(root: Path) -> None:
    async with talking(packs=["files", "patch"], root=root, setup=Setup(policy=Policy(allowing(["patch.*"])))) as session:
        await session.run(READ)
        await session.run("await tools.patch.replace({ path: 'a.py', old: 'number 60 ', new: 'number LX ' })")
        outcome = await session.run(MORE)
    assert outcome.calls[0].outcome.in_view == ()


async def test_another_version_of_the_file_is_not_in_view(root: Path) -> None:
    async with talking(packs=["files"], root=root) as session:
        await session.run(READ)
        (root / "a.py").write_text("".join(f"another line {n}\n" for n in range(1, 61)))
        outcome = await session.run(MORE)
    assert outcome.calls[0].outcome.in_view == ()


async def test_without_the_trim_lines_are_shown_again(root: Path) -> None:
    async with talking(packs=["files"], root=root, setup=Setup(flags=Flags(overlap_trim=False))) as session:
        await session.run(READ)
        assert "line number 15 " in (await session.run(MORE)).text


async def test_a_write_forgets_whatever_becomes_of_it() -> None:
    @tool(writes=["file:{path}", "log:all"])
    async def write(path: str) -> None: ...

    async def fails(call: Call) -> Outcome:
        raise KeyError("bug")

    seen = Seen()
    for n, path in enumerate("abc"):
        seen.add(1, f"T1.{n}", "\n".join(f"{path}{line}" for line in range(9)), ((0, 9, Origin(path, "oid")),), ())
    overlap = Overlap(seen)
    with pytest.raises(KeyError):
        await overlap.handle(made(write, path="a"), fails)
    await overlap.handle(made(write, path="b"), gives(None, status="failed"))
    assert [seen.covered(path, "oid", 1, 9) for path in "abc"] == [[], [], [(1, 9)]]


@pytest.mark.parametrize(
    "value",
    [
        None, "text", [], {}, {"path": 1, "oid": "x", "lines": [[1, 2]]}, {"path": "a", "oid": "x", "lines": "1-2"},
        {"path": "a", "oid": "x", "lines": [[1], [1, 2, 3], ["1", "2"], [True, 2], None]}, {"path": "a", "oid": None, "lines": []},
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_that_is_no_slice_has_none(value: object) -> None:
    assert list(slices_in(value)) == []
