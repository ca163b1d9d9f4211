"""A key of turnscript.toml that nobody knows is an error with the nearest one, in every section."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app

UNKNOWN = [
    ("profil = 1", "unknown key 'profil'; did you mean profile?"),
    ("[limits]\ncall = 1", "limits.call: there is no limit 'call'; did you mean calls?"),
    ("[budget]\nturns = {}", "budget: unknown key 'turns'; did you mean turn?"),
    ("[budget.turn]\nweb = { call = 1 }", "budget.turn.web: unknown key 'call'; did you mean calls?"),
    ("[[approval]]\ntols = 'x'", "approval 1: unknown key 'tols'; did you mean tool?"),
    ("[flags]\ncaches = true", "flags: unknown key 'caches'; did you mean cache?"),
    ("[secrets]\npattern = true", "secrets: unknown key 'pattern'; did you mean patterns?"),
    ("[record]\nplace = true", "record: unknown key 'place'; did you mean places?"),
    ("[profiles.mine]\nextend = 'all'", "profiles.mine: unknown key 'extend'; did you mean extends?"),
    ("[surface]\nyield = 1", "surface: unknown key 'yield'; did you mean yield_seconds?"),
    ("[model]\nadress = ''\nurll = ''", "model: unknown key 'adress'; "),
    ("[model]\nurll = ''", "model: unknown key 'urll'; did you mean url?"),
    ("[serve]\nports = 1", "serve: unknown key 'ports'; did you mean port?"),
    ("[telemetry]\nolpt = ''", "telemetry: unknown key 'olpt'; did you mean otlp?"),
]


@pytest.mark.parametrize(("text", "told"), UNKNOWN, ids=[text.splitlines()[0] + " " + text[-12:] for text, _ in UNKNOWN])
def test_an_unknown_key_is_one_line_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turnscript.toml").write_text(text + "\n")
    done = CliRunner().invoke(app, ["check", "-"], input="1")
    assert (done.stdout, done.exit_code) == ("", 2)
    assert done.stderr.startswith(f"turnscript: turnscript.toml: {told}") and done.stderr.count("\n") == 1


WRONG = [
    ("[callers]\n'x.*' = 'me'", "callers.\"x.*\": 'me' is nobody; choose "),
    ("[serve]\nport = 'many'", "serve.port: "),
    ("[telemetry]\ncontent = 'maybe'", "telemetry.content: "),
    ("[surface]\npreset = 'own'", "surface.preset: "),
    ("model = 'm'", "model must be a table: [model]"),
    ("[mcp]\ngit = 'x'", "mcp.git must be a table: [mcp.git]"),
]


@pytest.mark.parametrize(("text", "told"), WRONG, ids=[told[:20] for _, told in WRONG])
def test_a_value_of_the_wrong_kind_names_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turnscript.toml").write_text(text + "\n")
    done = CliRunner().invoke(app, ["check", "-"], input="1")
    assert (done.stdout, done.exit_code) == ("", 2)
    assert done.stderr.startswith(f"turnscript: turnscript.toml: {told}") and done.stderr.count("\n") == 1
