"""A harness from turnscript.toml with what a program adds of its own: packs, functions, a watch, a store."""

from pathlib import Path

import pytest

from catalog import BadPack, load_pack, pack
from harness import Harness, MemoryStore, Setup
from harness.setup import BadConfig
from harness.watching import Happened

pytestmark = pytest.mark.anyio
HELD = """
from catalog import pack

async def double(n: int) -> int:
    return 2 * n

numbers = pack("numbers", [double])
"""


async def shout(text: str) -> str:
    return text.upper()


async def test_what_a_program_adds_stands_beside_what_the_file_names(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text('profile = "file-ops"\n')
    (tmp_path / "a.txt").write_text("quiet\n")
    heard: list[Happened] = []
    store = MemoryStore()
    harness = Harness.from_config(
        tmp_path, tools={"my.shout": shout}, packs=[pack("other", [shout])], watch=heard.append, store=store, environment={}
    )
    async with harness, harness.session("s") as session:
        script = (
            "const { text } = await tools.files.read('a.txt'); return [await tools.my.shout(text), await tools.other.shout('b')]"
        )
        assert (await session.run(script)).value == ["QUIET", "B"]
    assert harness.store is store and store.entries("s") and {one.session for one in heard} == {"s"}


async def test_a_pack_of_the_same_name_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadPack, match="two packs are called files; rename one of them, such as my_files"):
        Harness.from_config(tmp_path, tools={"files.mine": shout}, environment={})


async def test_the_prompt_leaves_out_what_scripts_may_not_call() -> None:
    harness = Harness(tools={"my.shout": shout, "my.cry": shout}, setup=Setup(callers={"my.cry": "direct"}))
    assert "my.shout" in harness.prompt() and "my.cry" not in harness.prompt()


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        (Setup(callers={"my.shuot": "both"}), 'callers."my.shuot": no tool fits my.shuot; did you mean my.shout?'),
        (Setup(callers={"my.*": "none"}), "callers.\"my.*\": 'none' is nobody; choose script, direct, both"),  # type: ignore[dict-item]
        (Setup(packs={"fils": {}}), "packs.fils: there is no pack fils; did you mean files?"),
    ],
)
async def test_a_slip_of_the_pen_is_an_error_that_names_the_nearest(setup: Setup, said: str) -> None:
    with pytest.raises(BadConfig) as caught:
        Harness(tools={"my.shout": shout}, setup=setup)
    assert str(caught.value) == said


async def test_a_module_may_hold_a_pack_that_was_made_in_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HELD)
    assert [tool.full_name for tool in load_pack(str(path)).tools] == ["numbers.double"]
    path.write_text(HELD + 'more = pack("more", [double])\n')
    with pytest.raises(BadPack, match=r"mine\.py: it holds the packs numbers, more; put each into a file of its own"):
        load_pack(str(path))
    path.write_text("x = 1\n")
    with pytest.raises(BadPack, match=r"mine\.py: no function is marked with @tool\(…\), and it holds no Pack"):
        load_pack(str(path))
