"""Two passes: a script that reads follows a plan; what the plan does not have is refused; plan against actual is on record."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from catalog import BadPack, Host, choose, load_pack, open_toolbox, pack, tool
from harness import Flags, Setup, run_script
from tests.harness.guards.rig import caught, talking

pytestmark = pytest.mark.anyio

PLANNING = Setup(plan_reads=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("".join(f"a{n}\n" for n in range(1, 101)))
    (tmp_path / "b.py").write_text("".join(f"b{n}\n" for n in range(1, 101)))
    (tmp_path / "big.py").write_text("".join(f"line {n}\n" for n in range(1, 1001)))
    return tmp_path


def planning(root: Path, **more: Any) -> Any:
    return talking(*more.pop("functions", ()), packs=["files"], root=root, setup=more.pop("setup", PLANNING), **more)


def plan(*files: str, size: int = 8_000) -> str:
    return f"return await tools.reads.plan({{ files: [{', '.join(files)}], bytes: {size} }})"


def bad(*files: str, size: int = 8_000) -> str:
    return caught(f"tools.reads.plan({{ files: [{', '.join(files)}], bytes: {size} }})")


A = "{ path: 'a.py', ranges: [[1, 20]] }"


async def test_without_a_plan_nothing_is_read_and_the_script_is_told_how_to_plan(root: Path) -> None:
    async with planning(root) as session:
        outcome = await session.run(caught("tools.files.read({ path: 'a.py' })"))
        listed = await session.run("return (await tools.files.list({})).entries.length")
    assert outcome.value == [
        "plan_needed",
        "files.read refused: reading needs a plan of an earlier script, and there is none",
        'in a script of its own: return await tools.reads.plan({ files: [{ path: "a.py", ranges: [[1, 80]] }], bytes: 8000 })',
    ]
    assert listed.value == 3  # what gives no lines of files needs no plan


async def test_a_planned_read_runs_in_the_next_script_and_is_held_against_the_plan(root: Path) -> None:
    async with planning(root) as session:
        taken = await session.run(plan(A, "{ path: 'b.py', symbols: ['b7'] }"))
        assert taken.value == {"files": 2, "bytes": 8000, "in_view": [], "next": "read these files in your next script"}
        outcome = await session.run("return (await tools.files.read({ path: 'a.py', limit: 10 })).lines")
    assert outcome.value == [[1, 10]]
    size = outcome.calls[0].outcome.size
    assert outcome.ledger.plan == {
        "planned_files": 2, "planned_bytes": 8000, "read_files": 1, "read_bytes": size, "not_read": ["b.py"], "refused": 0,
    }  # fmt: skip
    assert ("plan", f"1 of 2 files read, {size:,} bytes of 8,000 planned to show") in outcome.ledger.rows()


async def test_a_plan_is_not_for_the_script_that_makes_it(root: Path) -> None:
    async with planning(root) as session:
        outcome = await session.run(
            f"await tools.reads.plan({{ files: [{A}], bytes: 100 }});" + caught("tools.files.read({ path: 'a.py' })")
        )
    assert outcome.value[:2] == [
        "plan_needed",
        "files.read refused: reading needs a plan of an earlier script, and this script has just made it: read in the next one",
    ]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("tools.files.read({ path: 'b.py' })", "b.py is not in the plan"),
        ("tools.files.read({ path: 'a.py', limit: 21 })", "a.py 1-21 is not in the plan"),
        ("tools.files.read({ path: 'a.py', ranges: [[5, 9], [30, 31]] })", "a.py 30-31 is not in the plan"),
    ],
)
async def test_what_the_plan_does_not_have_does_not_come_into_the_script(root: Path, call: str, what: str) -> None:
    async with planning(root) as session:
        await session.run(plan(A))
        outcome = await session.run(caught(call))
    assert outcome.value == [
        "not_planned",
        f"files.read refused: {what}; the plan has a.py 1-20",
        "read what the plan names, then make the next plan",
    ]
    assert outcome.ledger.plan["refused"] == 1 and outcome.ledger.refused == {"plan": 1} and outcome.ledger.result_bytes == 0


@pytest.mark.parametrize("path", ["./a.py", "sub/../a.py", "{root}/a.py"])
async def test_a_file_has_one_name_in_plans_and_reads(root: Path, path: str) -> None:
    path = path.replace("{root}", str(root))
    async with planning(root) as session:
        await session.run(plan(f"{{ path: '{path}', ranges: [[1, 20]] }}"))
        assert (await session.run("return (await tools.files.read({ path: 'a.py', limit: 5 })).lines")).value == [[1, 5]]


async def test_more_bytes_than_four_times_the_plan_are_refused(root: Path) -> None:
    async with planning(root) as session:
        await session.run(plan("{ path: 'big.py', ranges: [[1, 1000]] }", size=100))
        name, message, _ = (await session.run(caught("tools.files.read({ path: 'big.py' })"))).value
    assert name == "not_planned" and message.startswith("files.read refused: big.py makes ")
    assert message.endswith(" bytes read, with 100 planned to show; the plan has big.py 1-1000")


async def test_a_file_that_is_not_small_is_not_read_whole(root: Path) -> None:
    async with planning(root) as session:
        await session.run(plan("{ path: 'big.py', whole: true }"))
        outcome = await session.run(caught("tools.files.read({ path: 'big.py' })"))
        assert outcome.value[1] == (
            "files.read refused: big.py is no small file to read whole (1,000 lines, 8,893 bytes); the plan has big.py whole"
        )
        assert (await session.run(plan("{ path: 'a.py', whole: true }"))).ok
        assert (await session.run("return (await tools.files.read({ path: 'a.py' })).total_lines")).value == 100


@pytest.mark.parametrize(
    ("files", "size", "why", "following"),
    [
        ((), 10, "it names 0 files; 1 to 32 is a plan", "name the files that matter most"),
        (("{ path: 'a.py' }",), 10, "a.py has no ranges, no symbols and not whole: true", "say what of it you want to read"),
        (("{ path: 'a.py', ranges: [[9, 5]] }",), 10, "a.py 9-5 is no range", "give [first, last], counted from 1"),
        (("{ path: 'a.py', ranges: [[0, 5]] }",), 10, "a.py 0-5 is no range", "give [first, last], counted from 1"),
        ((A,), 0, "bytes is 0; a turn shows 1 to 24,576", "plan at most 24,576 bytes a turn"),
        ((A,), 30_000, "bytes is 30,000; a turn shows 1 to 24,576", "plan at most 24,576 bytes a turn"),
        ((A, "{ path: './a.py', whole: true }"), 10, "it names a file twice", "put all ranges of a file into one entry"),
        (
            ("{ path: 'a.py', whole: true }", "{ path: 'b.py', whole: true }"),
            10,
            "2 files are to be read whole (a.py, b.py)",
            "one small file a turn; give ranges for the others",
        ),
        (
            ("{ path: 'a.py', whole: true, symbols: ['x'] }",),
            10,
            "a.py is to be read whole and in parts",
            "say whole: true, or ranges, or symbols",
        ),
        (
            ("{ path: 'a.py', ranges: Array.from({ length: 65 }, (_, n) => [n + 1, n + 1]) }",),
            10,
            "it has more than 64 ranges",
            "join ranges that are near each other",
        ),
    ],
)
async def test_a_plan_that_is_none_says_why(root: Path, files: tuple[str, ...], size: int, why: str, following: str) -> None:
    async with planning(root) as session:
        assert (await session.run(bad(*files, size=size))).value == ["bad_plan", f"the plan was not taken: {why}", following]


async def test_a_plan_of_a_plan_is_refused_until_something_was_read(root: Path) -> None:
    async with planning(root) as session:
        await session.run(plan(A))
        assert (await session.run(bad(A))).value == [
            "bad_plan",
            "the plan was not taken: the plan of turn 1 has not been read yet",
            "read what it names before you plan again",
        ]
        two = f"await tools.files.read({{ path: 'a.py', limit: 2 }}); await tools.reads.plan({{ files: [{A}], bytes: 9 }});"
        assert (await session.run(two + bad(A))).value[1] == "the plan was not taken: this script has made a plan already"


async def test_a_plan_of_a_file_that_is_not_there_can_be_replaced(root: Path) -> None:
    async with planning(root) as session:
        await session.run(plan("{ path: 'typo.py', ranges: [[1, 5]] }"))
        assert (await session.run(caught("tools.files.read({ path: 'typo.py' })"))).value[0] == "not_found"
        assert (await session.run(plan(A))).ok


async def test_a_read_is_held_against_the_plan_that_it_was_made_under(root: Path) -> None:
    """A script may plan again while a read still runs."""
    planned = anyio.Event()

    @tool(reads=["file:{path}"], shape="slice")
    async def page(path: str) -> dict[str, Any]:
        await planned.wait()
        return {"path": path, "oid": "x", "lines": [[1, 5]], "text": "five lines"}

    @tool(reads=["clock:now"])
    async def go() -> None:
        planned.set()

    async with planning(root, functions=(page, go)) as session:
        await session.run(plan(A))
        await session.run("return (await tools.files.read({ path: 'a.py', limit: 2 })).lines")
        outcome = await session.run(
            "const slow = tools.x.page('a.py'); await tools.reads.plan({ files: [{ path: 'b.py', ranges: [[1, 2]] }], bytes: 50 });"
            "await tools.x.go(); return (await slow).lines"
        )
    assert outcome.value == [[1, 5]]


async def test_lines_in_view_are_told_when_they_are_planned_again(root: Path) -> None:
    async with planning(root) as session:
        await session.run(plan(A))
        await session.run("show(await tools.files.read({ path: 'a.py', limit: 20 }))")
        taken = await session.run(plan("{ path: './a.py', ranges: [[11, 40]] }"))
    assert taken.value["in_view"] == ["./a.py 11-20"]


async def test_without_two_passes_nothing_is_planned(root: Path) -> None:
    async with planning(root, setup=Setup(plan_reads=True, flags=Flags(two_pass=False))) as session:
        outcome = await session.run("return [(await tools.files.read({ path: 'a.py' })).lines, 'reads' in tools]")
    assert outcome.value == [[[1, 100]], False] and outcome.ledger.plan is None


async def test_a_pack_that_is_called_reads_is_told_to_take_another_name() -> None:
    @tool(effect="pure")
    async def plan() -> str:
        return "mine"

    own = pack("reads", [plan], doc="Mine.")
    with pytest.raises(BadPack, match="with plan_reads the pack reads is the session's own; rename the other one"):
        async with talking(packs=[own], setup=PLANNING):
            pass
    async with talking(packs=[own]) as session:
        assert (await session.run("return await tools.reads.plan()")).value == "mine"


async def test_a_toolbox_that_is_open_already_cannot_be_planned_for(root: Path) -> None:
    async with open_toolbox(choose([load_pack("files")]), host=Host(root=root)) as toolbox:
        with pytest.raises(BadPack, match="with plan_reads a session opens its packs itself"):
            await run_script("1", toolbox=toolbox, setup=PLANNING)
