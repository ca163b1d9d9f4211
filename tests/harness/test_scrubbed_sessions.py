"""A scrubbed session replays: every call is found at its place, errors and notices say what the replay says, and with the paths of
another machine it runs there.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from catalog import tool
from harness import Harness, MemoryStore, Setup
from harness.entries import Began, Ended, Entry, Settled
from harness.outcome import TurnOutcome
from harness.record import start_of
from harness.recording import Play, Recording, identity
from harness.scrub_places import places_of
from harness.scrub_rules import ScrubRules
from harness.scrubbing import expanded
from harness.store import every_entry
from harness.store.jsonl import JsonlStore
from tests.harness.guards.rig import talking
from tests.harness.test_scrubbing import KNOWN, SECRET, on_record, scrubbed, scrubbing

pytestmark = pytest.mark.anyio


@tool(effect="external", reads=["path:{path}"])
async def look(path: str, more: str = "") -> dict[str, str]:
    return {"path": path, "found": f"{path}/inside", "more": more}


def told_of(entries: Sequence[Entry]) -> tuple[Began, Recording]:
    began = next(entry for entry in entries if isinstance(entry, Began))
    return began, Recording.of(entry for entry in entries if getattr(entry, "turn", 0) == began.turn)


async def recorded(script: str, root: Path) -> tuple[TurnOutcome, Sequence[Entry]]:
    store = MemoryStore()
    async with talking(look, root=root, store=store) as session:
        outcome = await session.run(script)
    return outcome, store.entries("s")


async def replayed(entries: Sequence[Entry], root: Path) -> TurnOutcome:
    began, recording = told_of(entries)
    async with talking(look, root=root, id="again") as session:
        return await session.run(began.script, play=Play(recording=recording), start=start_of(began, Setup(), ("x.look",)))


def a_script(root: Path) -> str:
    """Literals that name the root and hold a secret, before and behind calls on the same line, and on lines above."""
    key = f"'{SECRET}'"
    return "\n".join([
        f"const top = '{root}', pem = `{SECRET}\n`; const a = await tools.x.look('{root}/a', {{}}.x ?? {key}); const b = await tools.x.look(top + '/b')",
        f"const all = await Promise.all(['{root}/1', '{root}/2'].map(p => tools.x.look(p, '{root}'))); show('{root}')",
        f"/* é {root} */ const c = await tools.x.look({{ path: context.root, more: {key} }}); return [a, b, c, all.length]",
    ])  # fmt: skip


async def test_a_scrubbed_session_replays_with_every_call_found(tmp_path: Path) -> None:
    first, entries = await recorded(a_script(tmp_path), tmp_path)
    assert first.ok and len(first.calls) == 5
    places = places_of(tmp_path, {"HOME": "/home/ada"})
    after = scrubbed(entries, places=places)
    assert str(tmp_path) not in on_record(after) and SECRET not in on_record(after)
    began, recording = told_of(after)
    assert began.script != a_script(tmp_path)
    again = await replayed(after, tmp_path)
    assert again.played is not None and (again.played.missing, again.played.unused) == ([], [])
    assert again.ok and [record.outcome.replayed for record in again.calls] == [True] * 5
    assert {identity(one) for one in recording.told} == {identity(one) for one in again.recording.told}
    assert again.value == scrubbing(places=places).value(first.value)


ENDS = [
    "const a = '{root}'; const e = new Error('no ' + a); throw e",
    "const f = (p) => {{ '{root}'; return p.x.y }}; '{root}'; f('{root}')",
    "'{root}'; await Promise.any([tools.x.look('{root}').then(() => {{ throw new Error('{root}/b') }})])",
    "const k = '" + SECRET + "'; throw new TypeError('{root}' + k)",
    "const t = '{root}'; tools.x.look(t + '/1'); await tools.x.look('{root}/2'); return 1",
    "return ['{root}' ; ]",
]


@pytest.mark.parametrize("script", ENDS)
async def test_what_is_said_of_lines_and_columns_is_what_the_replay_says(tmp_path: Path, script: str) -> None:
    first, entries = await recorded(script.format(root=tmp_path), tmp_path)
    places = places_of(tmp_path, {})
    after = scrubbed(entries, places=places)
    ended = next(entry for entry in after if isinstance(entry, Ended))
    again = await replayed(after, tmp_path)
    assert again.text == ended.text and "column" in again.text and again.text != first.text
    assert again.error == ended.ending.error and again.notices == ended.notices
    assert ended.items[0].text == again.items[0].text
    if SECRET not in script:
        assert list(expanded(after, places))[1:] == list(entries)[1:]


async def test_without_moving_the_sites_it_would_not(tmp_path: Path) -> None:
    _, entries = await recorded(a_script(tmp_path), tmp_path)
    after = scrubbed(entries, places=places_of(tmp_path, {}))
    stale = [
        replace(new, site=old.site) if isinstance(new, Settled) and isinstance(old, Settled) else new
        for new, old in zip(after, entries, strict=True)
    ]
    again = await replayed(stale, tmp_path)
    assert again.played is not None and again.played.missing


async def test_scrubbed_at_record_time_it_is_never_on_disk_and_replays(tmp_path: Path) -> None:
    root, store = tmp_path / "root", JsonlStore(tmp_path / "sessions")
    root.mkdir()
    setup = Setup(secrets=KNOWN, scrub=ScrubRules(places=True))
    harness = Harness(tools={"x.look": look}, root=root, store=store, setup=setup)
    async with harness, harness.session("s") as session:
        assert (await session.run(a_script(root))).ok
    written = b"".join(file.read_bytes() for file in (tmp_path / "sessions").rglob("*") if file.is_file()).decode()
    assert "{turnscript:root}/a" in written and str(root) not in written and SECRET not in written
    again = await replayed([entry async for entry in every_entry(store, "s")], root)
    assert again.played is not None and (again.played.missing, again.played.unused) == ([], []) and again.ok


async def test_expanded_on_another_machine_it_runs_with_paths_of_that_machine(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there" / "deeper"
    here.mkdir()
    there.mkdir(parents=True)
    script = f"return await tools.x.look('{here}/a', 'x') && await tools.x.look('{here}/b')"
    _, entries = await recorded(script, here)
    after = list(expanded(scrubbed(entries, places={"root": str(here)}), {"root": str(there)}))
    began, recording = told_of(after)
    assert began.script == script.replace(str(here), str(there)) and began.context["root"] == str(there)
    async with talking(look, root=there, id="again") as session:
        play = Play(recording=recording, live=True)
        again = await session.run(began.script, play=play, start=start_of(began, Setup(), ("x.look",)))
    assert again.played is not None and (again.played.missing, again.played.unused) == ([], [])
    assert [one.now.value for one in again.played.compared] == [one.recorded.outcome.value for one in again.played.compared]
