"""`turnscript init`: the file it writes changes nothing, says the real defaults, and reads whole when all is uncommented."""

import json
import re
import sys
import tomllib
from contextlib import AsyncExitStack
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from typer.testing import CliRunner

from catalog import Offer
from harness.approval import Verdict
from harness.bridges import bridges_from
from harness.callers import USES
from harness.cli import app
from harness.cli.init import settings_text
from harness.config import _KEYS, Settings, read_settings
from harness.interfaces import ModelSettings, ServeSettings, SurfaceSettings, TelemetrySettings
from harness.limits import ShownLimits, TurnLimits
from harness.offers import offer_from, with_pack
from harness.scrub_rules import ScrubRules
from harness.setup import Flags
from sandbox import Limits

UNCOMMENTED = re.sub(r"^#(?! |$)", "", settings_text(), flags=re.MULTILINE)


def typed(*arguments: str) -> tuple[str, str, int]:
    done = CliRunner().invoke(app, ["init", *arguments])
    return done.stdout, done.stderr, done.exit_code


def test_the_file_it_writes_is_read_and_changes_nothing(tmp_path: Path) -> None:
    told = f"wrote {tmp_path / 'turnscript.toml'}; uncomment what you want to change, then look: turnscript tools\n"
    assert typed("--folder", str(tmp_path)) == (told, "", 0)
    assert tomllib.loads((tmp_path / "turnscript.toml").read_text()) == {}
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {"HOME": str(tmp_path)}
    ours, without = (read_settings(folder=one, environment=environment) for one in (tmp_path, empty))
    assert (ours.setup, ours.store, ours.model, ours.serve, ours.surface, ours.telemetry, ours.bridges) == (
        without.setup, without.store, without.model, without.serve, without.surface, without.telemetry, without.bridges,
    )  # fmt: skip


def test_one_that_is_there_stays_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "turnscript.toml"
    path.write_text('profile = "all"\n')
    assert typed("--folder", str(tmp_path)) == ("", f"turnscript: {path} is there already; give --force to replace it\n", 2)
    assert path.read_text() == 'profile = "all"\n'
    out, _, code = typed("--folder", str(tmp_path), "--force", "--json")
    assert (json.loads(out), code, path.read_text()) == ({"file": str(path)}, 0, settings_text())


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    assert typed("--folder", str(tmp_path / "no")) == (
        "",
        f"turnscript: there is no folder {tmp_path / 'no'}; make it first\n",
        2,
    )


def test_uncommented_it_has_every_section_and_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text(UNCOMMENTED)
    assert set(tomllib.loads(UNCOMMENTED)) == set(_KEYS)
    read = read_settings(folder=tmp_path, environment={"HOME": str(tmp_path)})
    assert [(one.kind, one.name) for one in read.bridges] == [("mcp", "repo"), ("openapi", "petstore")]
    assert len(read.setup.policy.rules) == 2  # the one written out, and `allow`


SECTIONS = [part for part in settings_text().split("\n\n") if "\n#[" in part]
SERVER = f"""#!{sys.executable}
from mcp.server.fastmcp import FastMCP

server = FastMCP("repo", log_level="ERROR")
server.tool(name="one")(lambda: 1)
server.run()
"""
PETSTORE = {
    "openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9/"}],
    "paths": {"/pets": {"get": {"operationId": "list", "responses": {"200": {"description": "All of them."}}}}},
}  # fmt: skip


async def on_offer(read: Settings) -> Offer:
    offer = offer_from(read.tools)
    async with AsyncExitStack() as stack:
        for coming in bridges_from(read):
            offer = with_pack(offer, await stack.enter_async_context(coming))
    return offer


@pytest.mark.parametrize("section", SECTIONS, ids=[re.findall(r"^#(\[.*\])", part, flags=re.MULTILINE)[0] for part in SECTIONS])
def test_each_section_alone_can_be_uncommented_beside_every_pack(section: str, tmp_path: Path) -> None:
    mine = "mine" if "[profiles.mine]" in section else "all"
    (tmp_path / "turnscript.toml").write_text(f'profile = "{mine}"\n' + re.sub(r"^#(?! |$)", "", section, flags=re.MULTILINE))
    (tmp_path / "petstore.json").write_text(json.dumps(PETSTORE))
    (tmp_path / "mcp-server-git").write_text(SERVER)
    (tmp_path / "mcp-server-git").chmod(0o755)
    read = read_settings(folder=tmp_path, environment={"HOME": str(tmp_path), "PATH": str(tmp_path)})
    packs = {tool.pack for tool in anyio.run(on_offer, read).tools.values()}
    assert packs > {"files", *(one.name for one in read.bridges)}


def test_what_the_comments_say_can_be_chosen_is_what_is_taken() -> None:
    assert f"Who may call a tool: {USES[0]}, {USES[1]} (the model by itself), or {USES[2]}." in settings_text() and len(USES) == 3
    assert f"# {', '.join(get_args(Verdict)[:-1])} or {get_args(Verdict)[-1]}\n" in settings_text()


RECORDS = {
    "surface": SurfaceSettings,
    "model": ModelSettings,
    "serve": ServeSettings,
    "telemetry": TelemetrySettings,
    "flags": Flags,
}


def defaults(record: type) -> dict[str, Any]:
    return {one.name: one.default for one in fields(record) if one.default is not MISSING}


@pytest.mark.parametrize("section", RECORDS)
def test_a_section_has_every_setting_with_its_default(section: str) -> None:
    told, known = tomllib.loads(UNCOMMENTED)[section], defaults(RECORDS[section])
    assert list(told) == list(known)
    assert {name: value for name, value in told.items() if known[name] is not None} == {
        name: list(value) if isinstance(value, tuple) else value for name, value in known.items() if value is not None
    }


def test_the_limits_are_those_of_the_records() -> None:
    known = defaults(Limits) | defaults(TurnLimits) | defaults(ShownLimits)
    assert tomllib.loads(UNCOMMENTED)["limits"] == known


def test_what_is_kept_off_the_record_has_its_defaults() -> None:
    told = tomllib.loads(UNCOMMENTED)["record"]
    assert (told["secrets"], told["places"]) == (ScrubRules().secrets, ScrubRules().places)
