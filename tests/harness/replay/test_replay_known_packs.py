"""Which packs a recording finds, which recordings a folder has, and what is refused or remarked, by the command."""

import json
from pathlib import Path

import anyio
import pytest

from harness import Harness
from harness.store.opening import open_store
from tests.harness.replay.making import GREET, furnish, recording
from tests.harness.replay.typed import Typed

HELLO = "return await tools.greet.hello({ name: 'Ada' })"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a pack of its own and a recording of it, where the command is typed."""
    (tmp_path / "packs").mkdir()
    own = tmp_path / "packs" / "greet.py"
    own.write_text(GREET)
    recording(tmp_path / "x.session.jsonl", HELLO, root=furnish(tmp_path / "root"), packs=[str(own)], given=[str(own)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


PROFILE = '[profiles.ours]\nextends = "read-only"\npacks = ["files", "./packs/greet.py"]\n'


def test_packs_of_the_profile_are_known(place: Path) -> None:
    assert Typed("x.session.jsonl").code == 2
    (place / "turnscript.toml").write_text(PROFILE)
    assert Typed("x.session.jsonl").code == 2
    assert Typed("x.session.jsonl", "--profile", "ours").code == 0
    (place / "turnscript.toml").write_text('profile = "ours"\n' + PROFILE)
    assert Typed("x.session.jsonl").code == 0
    assert Typed("x.session.jsonl", "--verify").code == 0
    (place / "turnscript.toml").write_text('profile = "theirs"\n' + PROFILE)
    assert "turnscript.toml: profile: there is no profile 'theirs'" in Typed("x.session.jsonl").err


def kept(address: str, *scripts: str, packs: list[str], root: Path) -> None:
    async def run() -> None:
        store = await open_store(address)
        harness = Harness(packs, root=root, store=store)
        async with harness, harness.session("3f2a9c1b77d8") as session:
            for script in scripts:
                await session.run(script)
            await session.run_reply("no script at all")
        await store.close()

    anyio.run(run)


def test_keep_knows_the_packs_of_the_profile(place: Path) -> None:
    address = f"jsonl:{place / 'store'}"
    kept(address, HELLO, packs=[str(place / "packs" / "greet.py")], root=place)
    told = ("--keep", "last", "-o", "y.session.jsonl", "--store", address)
    assert (
        Typed(*told).err
        == "turnscript: y.session.jsonl: its pack greet is not known here; give its file or module: --pack PATH\n"
    )
    (place / "turnscript.toml").write_text('profile = "ours"\n' + PROFILE)
    done = Typed(*told)
    assert done.code == 0 and done.err.startswith("y.session.jsonl: session 3f2a9c1b77d8, 1 turn, ")
    assert ": 1 as recorded; 1 turn, 1 call in # s" in Typed("y.session.jsonl").out


def test_a_session_without_a_turn_that_can_be_played_is_not_kept(place: Path) -> None:
    address = f"jsonl:{place / 'store'}"
    kept(address, packs=["files"], root=place)
    done = Typed("--keep", "last", "-o", "y.session.jsonl", "--store", address)
    why = "not written, since no turn of it can be played: turn 1 has no script"
    assert (done.code, done.err) == (2, f"turnscript: y.session.jsonl: {why}\n") and not (place / "y.session.jsonl").exists()


def test_limits_of_here_do_not_count_but_for_the_most_that_scripts_get(place: Path) -> None:
    (place / "turnscript.toml").write_text("[limits]\ncalls = 1\nheap_bytes = 8_000_000\nshown_turn_bytes = 10\n")
    script = "await tools.files.stat({ path: 'a.txt' });\nreturn (await tools.files.read({ path: 'a.txt' })).text"
    path = recording(place / "y.session.jsonl", script, root=place / "root")
    assert Typed(path).code == 0
    path.write_text(path.read_text().replace('"heap_bytes":100663296', '"heap_bytes":200000000'))
    done = Typed(path)
    why = "heap_bytes 200,000,000 is above this pool's 100,663,296; give the pool higher limits: [limits] in turnscript.toml"
    assert (done.code, done.err) == (2, f"turnscript: {path}: {why}\n")
    (place / "turnscript.toml").write_text("[limits]\nheap_bytes = 200_000_000\n")
    assert Typed(path).code == 0


def test_recordings_of_tests_are_left_out_of_folders_and_played_by_name(place: Path) -> None:
    for name in ("one", "two"):
        path = recording(place / "root" / f"{name}.session.jsonl", "return 1", root=place / "root")
        path.write_text(path.read_text().replace('"facts":{', '"facts":{"labels":{"pytest":"test_it"},', 1))
    done = Typed("root")
    told = "2 recordings belong to tests and are played by pytest"
    assert (done.code, done.err) == (2, f"turnscript: {told}; give one by its path to play it here\n")
    done = Typed(".", "--pack", "packs/greet.py")
    assert (done.code, done.err) == (0, f"{told}\n") and done.out.splitlines()[-1].startswith("1 session: 1 as recorded")
    done = Typed("root", "root/one.session.jsonl")
    assert (done.code, done.err) == (0, "1 recording belongs to a test and is played by pytest\n")
    assert done.out.startswith("ok       root/one.session.jsonl  1 turn, 0 calls, # ms\n1 session: ")


def test_a_value_that_the_tool_does_not_declare_any_more_is_a_remark(place: Path) -> None:
    own = place / "packs" / "greet.py"
    own.write_text(GREET.replace("-> str", "-> int"))
    done = Typed("x.session.jsonl", "--pack", own)
    why = "the recorded value is not what the tool declares now: 'hello Ada' is not of type 'integer'"
    assert (done.code, done.err) == (0, f"remark: x.session.jsonl: turn 1, line 1: greet.hello: {why}\n")
    (one,) = json.loads(Typed("x.session.jsonl", "--pack", own, "--json").out)["sessions"]
    assert one["state"] == "ok" and one["remarks"] == [f"turn 1, line 1: greet.hello: {why}"]


def test_verify_names_what_differs_in_a_problem(place: Path) -> None:
    root = place / "root"
    path = recording(
        place / "y.session.jsonl", "try { await tools.files.read({ path: 'no.txt' }) } catch { return 1 }", root=root
    )
    (root / "no.txt").mkdir()
    out = Typed(path, "--verify", "--root", root).out
    assert 'gives something else now\n    code: recorded "not_found"\n          now      ' in out
    (root / "no.txt").rmdir()
    (root / "no.txt").write_text("here\n")
    assert " failed on record, and returned now\n" in Typed(path, "--verify", "--root", root).out
