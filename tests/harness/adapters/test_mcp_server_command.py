"""`turnscript serve mcp` as it is typed: what is wrong is one line with the next step, and what a client's configuration takes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from harness.cli import app
from tests.harness.adapters.mcp_wire import initializing

REPOSITORY = Path(__file__).parents[3]
ACCEPTS = "application/json, text/event-stream"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "1"], "--host, --port, --token, --origin are for HTTP; add --http, or leave them out"),
        (["--http", "--host", "0.0.0.0"], "serve.host 0.0.0.0: others can reach this address, so it needs a token of your own"),
        (["--http", "--host", "192.0.2.1", "--token", "t0ken"], "cannot serve on 192.0.2.1 port 8765"),
        (["--http", "--port", "99999"], "serve.port: 99999 is no port; choose one from 1 to 65535"),
        (["--http", "--token", "a b"], "serve.token: a token is printable ASCII without spaces"),
        (["--preset", "emacs"], "surface.preset"),
        (["--root", "/nowhere/at/all"], "there is no such folder"),
    ],
)
def test_wrong_use_is_one_line_with_the_next_step(words: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["serve", "mcp", "--store", "memory:", *words])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.output
    assert said in done.stderr


def test_the_configuration_for_http_names_address_and_token() -> None:
    words = ["serve", "mcp", "--http", "--port", "9000", "--token", "t0ken", "--print-config"]
    done = CliRunner().invoke(app, words)
    assert json.loads(done.stdout)["mcpServers"]["turnscript"] == {
        "type": "http",
        "url": "http://127.0.0.1:9000/mcp",
        "headers": {"Authorization": "Bearer t0ken"},
    }


def test_a_configuration_says_where_paths_count_from_when_there_is_a_file_of_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "turnscript.toml").write_text('profile = "read-only"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["turnscript", "serve", "mcp", "--root", ".", "--print-config"])
    done = CliRunner().invoke(app, ["serve", "mcp", "--root", ".", "--print-config"])
    entry = json.loads(done.stdout)["mcpServers"]["turnscript"]
    assert (entry["args"], entry["cwd"]) == (["serve", "mcp", "--root", str(tmp_path)], str(tmp_path))


def test_over_http_it_says_where_it_is_and_with_which_token_and_a_signal_stops_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from harness.cli import app; app()", "serve", "mcp", "--http", "--port", "0"]
    with subprocess.Popen([*command, "--store", str(tmp_path)], stderr=subprocess.PIPE, text=True, cwd=REPOSITORY) as server:
        assert server.stderr is not None
        where, token = server.stderr.readline().split(), server.stderr.readline().split()
        url = where[-1]
        strange = httpx.post(url, json=initializing())
        known = httpx.post(url, json=initializing(), headers={"authorization": f"Bearer {token[-1]}", "accept": ACCEPTS})
        server.send_signal(signal.SIGINT)
        assert server.stderr.read() == ""
    assert (where[:-1], token[:-1]) == (
        ["turnscript:", "serving", "MCP", "at"],
        ["turnscript:", "the", "token", "of", "this", "start", "is"],
    )
    assert (strange.status_code, known.status_code, server.returncode) == (401, 200, 0)
