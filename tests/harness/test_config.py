"""Settings: flag over environment over file over default, and nothing wrong is ignored."""

from pathlib import Path

import pytest

from harness.config import read_settings
from harness.setup import BadConfig


def test_the_nearest_source_wins(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text("[limits]\ncalls = 10\nheap_bytes = 1_000_000\nengine_seconds = 1.5\n")
    environment = {"TURNSCRIPT_LIMIT_CALLS": "20", "TURNSCRIPT_LIMIT_DEPTH": "9", "HOME": "/x"}
    settings = read_settings(flags=["calls=30", "turn_seconds=7"], folder=tmp_path, environment=environment)
    limits = settings.limits
    assert (limits.calls, limits.depth, limits.heap_bytes, limits.engine_seconds, settings.setup.turn.turn_seconds) == (
        30,
        9,
        1_000_000,
        1.5,
        7.0,
    )
    assert limits.frames == 10


def test_no_file_is_no_error(tmp_path: Path) -> None:
    assert read_settings(folder=tmp_path, environment={}).limits.calls == 256


STORES = [
    ("", None, {"HOME": "/x"}, "jsonl:/x/.local/state/turnscript/sessions"),
    ("", None, {"HOME": "/x", "XDG_STATE_HOME": "/state"}, "jsonl:/state/turnscript/sessions"),
    ("", None, {"HOME": "/x", "XDG_STATE_HOME": "state"}, "jsonl:/x/.local/state/turnscript/sessions"),
    ("", None, {"HOME": "/x", "XDG_STATE_HOME": "/state", "TURNSCRIPT_HOME": "/mine"}, "jsonl:/mine/sessions"),
    ("store = 'memory:'", None, {"TURNSCRIPT_HOME": "/mine"}, "memory:"),
    ("store = 'memory:'", None, {"TURNSCRIPT_STORE": "sqlite:///a.db"}, "sqlite:///a.db"),
    ("store = 'memory:'", "postgresql://b", {"TURNSCRIPT_STORE": "sqlite:///a.db"}, "postgresql://b"),
]


@pytest.mark.parametrize(("file", "given", "environment", "address"), STORES)
def test_sessions_are_kept_where_the_nearest_source_says(
    tmp_path: Path, file: str, given: str | None, environment: dict[str, str], address: str
) -> None:
    (tmp_path / "turnscript.toml").write_text(file)
    assert read_settings(folder=tmp_path, environment=environment, store=given).store == address


def test_durability_is_fsync_unless_the_file_says_flush(tmp_path: Path) -> None:
    assert read_settings(folder=tmp_path, environment={}).durability == "fsync"
    (tmp_path / "turnscript.toml").write_text("durability = 'flush'")
    assert read_settings(folder=tmp_path, environment={}).durability == "flush"


WRONG = [
    ("store = 3", [], {}, "{file}: store must be text, not 3"),
    ("durability = 'none'", [], {}, "{file}: durability: there is no 'none'; choose fsync, flush"),
    ("[limits]\ncals = 3", [], {}, "{file}: limits.cals: there is no limit 'cals'; did you mean calls?"),
    ("[limit]\ncalls = 3", [], {}, "{file}: unknown key 'limit'; did you mean limits?"),
    ("limits = 3", [], {}, "{file}: limits must be a table: [limits]"),
    ("[limits]\ncalls = 0", [], {}, "{file}: limits.calls: 0 is not a whole number above 0"),
    ("[limits]\ncalls = 1.5", [], {}, "{file}: limits.calls: 1.5 is not a whole number above 0"),
    ("[limits]\ncalls = true", [], {}, "{file}: limits.calls: True is not a whole number above 0"),
    ("[limits]\ncalls = 'many'", [], {}, "{file}: limits.calls: 'many' is not a whole number above 0"),
    ("[limits", [], {}, "{file}: "),
    ("profile = 3", [], {}, "{file}: profile must be text, not 3"),
    ("[profiles]\nmine = 3", [], {}, "{file}: profiles.mine must be a table: [profiles.mine]"),
    ("[profiles.mine]\npack = ['files']", [], {}, "{file}: profiles.mine: unknown key 'pack'; did you mean packs?"),
    (
        "[profiles.mine]\npacks = 'files'",
        [],
        {},
        '{file}: profiles.mine.packs must be a list of texts, such as packs = ["files"]',
    ),
    (
        "[profiles.mine]\nextends = 'readonly'",
        [],
        {},
        "{file}: profiles.mine.extends: there is no profile 'readonly'; did you mean read-only?",
    ),
    ("[profiles.a]\nextends = 'b'\n[profiles.b]\nextends = 'a'", [], {}, "{file}: profiles a, b extend each other in a circle"),
    ("[profiles.a]\n[profiles.a.rename]\nx = 3", [], {}, '{file}: profiles.a.rename.x: write "x" = "pack.tool"'),
    ("[packs]\nweb = 3", [], {}, "{file}: packs.web must be a table: [packs.web]"),
    ("", ["calls"], {}, "--limit calls: write name=value, such as --limit engine_seconds=2"),
    ("", ["heap=3"], {}, "--limit heap: there is no limit 'heap'; did you mean heap_bytes?"),
    ("", ["engine_seconds=-1"], {}, "--limit engine_seconds: '-1' is not a number above 0"),
    ("", ["engine_seconds=nan"], {}, "--limit engine_seconds: 'nan' is not a number above 0"),
    ("", [], {"TURNSCRIPT_LIMIT_CALLZ": "1"}, "TURNSCRIPT_LIMIT_CALLZ: there is no limit 'callz'; did you mean calls?"),
    ("", [], {"TURNSCRIPT_LIMIT_CALLS": "x"}, "TURNSCRIPT_LIMIT_CALLS: 'x' is not a whole number above 0"),
]


@pytest.mark.parametrize(("text", "flags", "environment", "told"), WRONG)
def test_what_is_wrong_is_named_with_the_place_and_the_nearest_name(
    tmp_path: Path, text: str, flags: list[str], environment: dict[str, str], told: str
) -> None:
    file = tmp_path / "turnscript.toml"
    file.write_text(text)
    with pytest.raises(BadConfig) as caught:
        read_settings(flags=flags, folder=tmp_path, environment=environment)
    assert str(caught.value).startswith(told.format(file=file))


def test_profiles_extend_each_other_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text(
        """profile = "mine"
root = "work"
allow = ["patch.*"]
[profiles.mine]
extends = "team"
without = ["files.image"]
[profiles.team]
extends = "read-only"
packs = ["files", "git"]
[packs.files]
root = "docs"
"""
    )
    tools = read_settings(folder=tmp_path, environment={}, allow=["shell.run"]).tools
    assert (tools.profile, tools.root, tools.allow) == ("mine", tmp_path / "work", ("patch.*", "shell.run"))
    assert (tools.profiles["mine"].packs, tools.profiles["mine"].without) == (("files", "git"), ("files.image",))
    assert tools.packs == {"files": {"root": "docs"}}


def test_a_profile_comes_from_the_flag_then_the_environment_then_the_file(tmp_path: Path) -> None:
    (tmp_path / "turnscript.toml").write_text('profile = "file-ops"\n')
    environment = {"TURNSCRIPT_PROFILE": "research"}
    assert read_settings(folder=tmp_path, environment={}).tools.profile == "file-ops"
    assert read_settings(folder=tmp_path, environment=environment).tools.profile == "research"
    assert read_settings(folder=tmp_path, environment=environment, profile="all").tools.profile == "all"
    assert read_settings(folder=tmp_path / "elsewhere", environment={}).tools.profile == "read-only"
