"""From a session to a file that is a test: no secrets, no paths of this machine, played once before it is written."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import Harness, MemoryStore, Policy, Setup, allowing
from harness.entries import Began, Entry, Settled
from harness.replay.batch import play_file
from harness.replay.keeping import cleaning, keep
from harness.replay.playing import Stage, play
from harness.replay.recorded import BadRecording, read_entries, read_recording
from harness.store.jsonl_single import read_single
from harness.store.lines import first_break
from sandbox import Pool
from tests.harness.replay.making import edit, entries_of, furnish, recording

pytestmark = pytest.mark.anyio

TOKEN = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
ALLOWED = Setup(policy=Policy(allowing(["shell.run"])), environment={"HOME": "/home/ada"})


async def kept(root: Path, *scripts: str, setup: Setup = ALLOWED, packs: Iterable[str] = ("files", "shell")) -> Path:
    path = root.parent / "kept.session.jsonl"
    async with Pool(workers=1) as pool:
        entries = await entries_of(*scripts, root=root, pool=pool, packs=packs, setup=setup)
        await keep(entries, path, Stage(pool=pool), clean=cleaning(setup, root))
        assert (await play(read_recording(path), Stage(pool=pool))).ok
    return path


async def test_secrets_and_paths_are_not_in_the_file_and_it_plays(tmp_path: Path) -> None:
    root = furnish(tmp_path / "root")
    (root / "key.env").write_text(f"TOKEN={TOKEN}\nPASSWORD=correct-horse-battery-42\nHERE={root}\nHOME=/home/ada/x\n")
    setup = replace(ALLOWED, secrets={"DB_PASSWORD": "correct-horse-battery-42"})
    script = f"const a = '{TOKEN}'; const page = await tools.files.read({{ path: '{root}/key.env' }}); return [page.text, a.length > 0]"
    path = await kept(root, script, "return context.root", setup=setup)
    text = path.read_text()
    assert not re.search("ghp_|horse|/home/ada", text) and str(root) not in text and str(tmp_path) not in text
    assert "{turnscript:root}/key.env" in text and "{turnscript:home}/x" in text and "[secret DB_PASSWORD]" in text


async def test_the_file_has_one_chain_of_digests_and_no_end_of_a_process(tmp_path: Path) -> None:
    path = await kept(furnish(tmp_path / "root"), "return 1", "return 2")
    lines = [one.line for one in read_single(path)]
    assert first_break(lines) == "" and [line.type for line in lines] == ["opened", "began", "ended", "began", "ended"]


async def test_what_is_cut_is_settled_again_after_scrubbing(tmp_path: Path) -> None:
    """The paths of this machine are longer than their placeholders, so more lines fit."""
    root = furnish(tmp_path / ("a_long_name_of_a_folder" * 3) / "root")
    path = await kept(root, f"return Array.from({{ length: 400 }}, (_, n) => `{root}/${{n}}.txt`).join('\\n')")
    text = read_recording(path).turns[0].ended
    assert text is not None and "cut" in text.text and str(root) not in text.text


async def test_a_session_that_does_not_play_is_not_written(tmp_path: Path) -> None:
    root, path = furnish(tmp_path / "root"), tmp_path / "bad.session.jsonl"

    def without_calls(entry: Entry) -> Entry:
        return replace(entry, arguments={"path": "other.txt"}) if isinstance(entry, Settled) else entry

    async with Pool(workers=1) as pool:
        entries = await entries_of("return (await tools.files.read({ path: 'a.txt' })).text", root=root, pool=pool)
        with pytest.raises(BadRecording) as caught:
            await keep(entries, path, Stage(pool=pool), clean=without_calls)
    first, second, *_ = str(caught.value).split("\n")
    assert first == "bad.session.jsonl: not written, since it does not play as it was recorded"
    assert second == "turn 1, line 1: files.read is called with other arguments than on record"
    assert not path.exists()


async def test_forgotten_turns_and_messages_are_kept(tmp_path: Path) -> None:
    root, store, path = furnish(tmp_path / "root"), MemoryStore(), tmp_path / "one.session.jsonl"
    async with Pool(workers=1) as pool:
        harness = Harness(["files"], root=root, pool=pool, store=store)
        async with harness, harness.session("s") as session:
            await session.message("user", "look")
            await session.run("show((await tools.files.read({ path: 'long.txt' })).text)")
            await session.run("show((await tools.files.read({ path: 'long.txt', offset: 5, limit: 20 })).text)")
            await session.forget([1])
        await keep(store.entries("s"), path, Stage(pool=pool))
        recorded = read_recording(path)
        assert (await play(recorded, Stage(pool=pool))).ok
        *lines, forgot = path.read_text().splitlines()
        path.write_text("\n".join([*lines, forgot.replace("line 7", "line seven")]) + "\n")
        (one,) = (await play(read_recording(path), Stage(pool=pool))).differences
    assert one.kind == "mended" and one.text.startswith("T2.1: what was forgotten brings back other lines\n")


SCRIPT = (
    "const page = await tools.files.read({ path: 'a.txt' });\nreturn [page.text, (await tools.shell.run('cat a.txt')).output]"
)


async def again(path: Path, root: Path, mode: Any) -> tuple[bool, bool]:
    """Whether all was as recorded, and whether the file was written."""
    async with Pool(workers=1) as pool:
        replayed, written = await play_file(path, Stage(pool=pool, ground=ALLOWED, root=root), mode=mode)
        assert not written or (await play(read_recording(path), Stage(pool=pool))).ok
    return replayed.ok, written


@pytest.mark.parametrize("mode", ["none", "once"])
async def test_none_and_once_write_nothing(tmp_path: Path, mode: str) -> None:
    root = furnish(tmp_path / "root")
    path = edit(await kept(root, SCRIPT), "path: 'a.txt'", "path: 'b.txt'")
    before = path.read_bytes()
    assert await again(path, root, mode) == (False, False) and path.read_bytes() == before


async def test_new_runs_only_what_is_not_on_record(tmp_path: Path) -> None:
    root = furnish(tmp_path / "root")
    path = await kept(root, SCRIPT)
    assert await again(path, root, "new") == (True, False)
    edit(path, "path: 'a.txt'", "path: 'b.txt'")
    for name in "ab":
        (root / f"{name}.txt").write_text(f"new {name}\n")
    assert (await again(path, root, "new"))[1]
    ended = read_recording(path).turns[0].ended
    assert ended is not None and ended.ending.value == ["new b", "the text of a\n"]


async def test_all_runs_everything_in_the_folder_of_now(tmp_path: Path) -> None:
    path = await kept(furnish(tmp_path / "root"), SCRIPT.replace("'cat a.txt'", f"'cat {tmp_path}/root/a.txt'"))
    other = furnish(tmp_path / "other")
    (other / "a.txt").write_text("elsewhere\n")
    assert (await again(path, other, "all"))[1]
    ended = read_recording(path).turns[0].ended
    assert ended is not None and ended.ending.value == ["elsewhere", "elsewhere\n"]
    assert str(tmp_path) not in path.read_text()


async def test_scripts_keep_their_seed_when_they_are_recorded_again(tmp_path: Path) -> None:
    root = furnish(tmp_path / "root")
    path = await kept(root, "return Math.random()")
    before = read_recording(path).turns[0].ended
    assert (await again(path, root, "all"))[1]
    after = read_recording(path).turns[0].ended
    assert before is not None and after is not None and before.ending.value == after.ending.value
    assert next(entry.now for entry in read_entries(path) if isinstance(entry, Began)) > 0


def test_a_recording_is_the_same_for_every_root(tmp_path: Path) -> None:
    one, other = (furnish(tmp_path / name) for name in ("one", "another_place_that_is_longer"))
    texts = []
    for root in (one, other):
        path = recording(root / "x.session.jsonl", f"return '{root}/a.txt and more'", root=root)
        ended = read_recording(path).turns[0].ended
        assert ended is not None
        texts.append(ended.text)
    assert texts[0] == texts[1] == "{turnscript:root}/a.txt and more"
