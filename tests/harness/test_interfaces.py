"""What faces outward in turnscript.toml, the environment and flags: sections, unknown keys, who wins, and what stays hidden."""

from pathlib import Path

import pytest

from harness.config import read_settings
from harness.interfaces import Bridge, ModelSettings, ServeSettings, SurfaceSettings, TelemetrySettings
from harness.setup import BadConfig

WHOLE = """
[callers]
"shell.*" = "direct"
"files.*" = "both"

[surface]
preset = "codex"
yield_seconds = 5

[model]
kind = "anthropic"
url = "http://localhost:1"
name = "a"
key_variable = "MY_KEY"

[serve]
port = 0
origins = ["https://app.example"]

[telemetry]
otlp = "http://localhost:4318"

[mcp.git]
command = ["mcp-server-git"]

[openapi.pets]
document = "pets.json"
"""


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "turnscript.toml").write_text(text)
    return tmp_path


def test_every_section_becomes_a_record(tmp_path: Path) -> None:
    settings = read_settings(folder=written(tmp_path, WHOLE), environment={"MY_KEY": "sk-very-secret-1"})
    assert settings.setup.callers == {"shell.*": "direct", "files.*": "both"}
    assert settings.surface == SurfaceSettings(preset="codex", yield_seconds=5.0)
    assert settings.model == ModelSettings(
        kind="anthropic", url="http://localhost:1", name="a", key_variable="MY_KEY", key="sk-very-secret-1"
    )
    assert settings.serve == ServeSettings(port=0, origins=("https://app.example",))
    assert settings.telemetry == TelemetrySettings(otlp="http://localhost:4318")
    assert settings.bridges == (
        Bridge(kind="mcp", name="git", settings={"command": ["mcp-server-git"]}),
        Bridge(kind="openapi", name="pets", settings={"document": "pets.json"}),
    )


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(tmp_path: Path) -> None:
    folder = written(tmp_path, '[model]\nurl = "file"\nname = "file"\nkind = "openai"\n')
    environment = {"TURNSCRIPT_MODEL_URL": "variable", "TURNSCRIPT_MODEL_NAME": "variable", "TURNSCRIPT_SERVE_PORT": "81"}
    settings = read_settings(folder=folder, environment=environment, given={"model": {"name": "flag", "url": None}})
    assert (settings.model.url, settings.model.name, settings.serve.port) == ("variable", "flag", 81)


def test_keys_and_tokens_are_secrets_and_in_no_repr(tmp_path: Path) -> None:
    environment = {"TURNSCRIPT_SERVE_TOKEN": "token-0123456789", "TURNSCRIPT_MODEL_KEY": "key-0123456789"}
    settings = read_settings(folder=tmp_path, environment=environment)
    assert {"token-0123456789", "key-0123456789"} <= set(settings.setup.secrets.values())
    assert "0123456789" not in repr((settings.serve, settings.model, settings.setup))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[model]\nulr = "x"\n', "model: unknown key 'ulr'; did you mean url?"),
        (
            '[serve]\nport = "many"\n',
            "serve.port: Input should be a valid integer, unable to parse string as an integer, not 'many'",
        ),
        (
            '[surface]\npreset = "cod"\n',
            "surface.preset: Input should be 'run_script', 'codex', 'eval' or 'code_mode', not 'cod'",
        ),
        ('[callers]\n"shell.*" = "me"\n', "callers.\"shell.*\": 'me' is nobody; choose script, direct, both"),
        ("telemetry = 3\n", "telemetry must be a table: [telemetry]"),
        ('[mcp]\ngit = "x"\n', "mcp.git must be a table: [mcp.git]"),
        ("[telemtry]\n", "unknown key 'telemtry'; did you mean telemetry?"),
    ],
)
def test_what_is_wrong_is_named_with_the_place_and_the_nearest_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadConfig) as caught:
        read_settings(folder=written(tmp_path, text), environment={})
    assert str(caught.value) == f"{tmp_path / 'turnscript.toml'}: {said}"


def test_a_variable_of_the_wrong_kind_is_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"serve\.port: .*not 'x'"):
        read_settings(folder=tmp_path, environment={"TURNSCRIPT_SERVE_PORT": "x"})
