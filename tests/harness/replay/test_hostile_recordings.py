"""Recordings that somebody wrote to do harm, as `turnscript replay` and the plugin get them: one line each, and exit code 2 or 1."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.replay.recorded import belongs_to_a_test
from tests.harness.store.test_hostile_files import ENDED, TITLE, chained, opened, row

CALL: Mapping[str, Any] = {"call": 1, "tool": "files.read", "site": {"line": 1, "column": 1}, "arguments": {}}


def replayed(path: Path, data: bytes | None = None) -> tuple[int, str]:
    """The exit code, and all that is printed. A traceback would be raised here."""
    if data is not None:
        path.write_bytes(data)
    done = CliRunner().invoke(app, ["replay", str(path)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert "\x1b" not in done.output and "\x07" not in done.output
    return done.exit_code, done.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "evil.session.jsonl"


def began(**told: Any) -> bytes:
    return chained([opened(), row("began", **{"script": "return 1", "sha256": "", **told}), ENDED])


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"limits": {"engine_seconds": 1e9}}, "engine_seconds 1,000,000,000.0 is above this pool's 10.0"),
        ({"limits": {"heap_bytes": 2**50}}, "is above this pool's"),
        ({"limits": {"calls": -1}}, "limit calls must be a number above 0, not -1"),
        ({"limits": {"calls": "x"}}, "Input should be a valid"),
        ({"mode": "x"}, "Input should be 'enabled', 'dry_run' or 'disabled'"),
        ({"flags": {"cache": "x"}}, "Input should be a valid boolean"),
        ({"tools": ["os.system"]}, "os.system was on offer and is not there any more"),
        ({"packs": {"os": {"source": "os", "digest": ""}}}, "its pack os is not known here"),
        ({"packs": {"../x": {"source": "/tmp/x.py", "digest": ""}}}, "its pack ../x is not known here"),
        ({"packs": {TITLE: {"source": "", "digest": ""}}}, "is not known here"),
        ({"format": "codex"}, "it was imported from codex and has no scripts to play"),
    ],
)
def test_facts_that_cannot_be_played_are_told_in_one_line(path: Path, facts: dict[str, Any], why: str) -> None:
    code, told = replayed(path, chained([opened(**facts), row("began", script="return 1", sha256=""), ENDED]))
    assert (code, why in told, told.count("turnscript: ")) == (2, True, 1), told


def test_a_pack_is_never_loaded_from_where_a_recording_says(path: Path, tmp_path: Path) -> None:
    module = tmp_path / "evil_pack.py"
    module.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    for name in ("evil_pack", str(module), "files"):
        facts: dict[str, Any] = {"packs": {name: {"source": str(module), "digest": ""}}}
        replayed(path, chained([opened(**facts), row("began", script="return 1", sha256=""), ENDED]))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "told",
    [
        {"now": 1e300}, {"seed": 10**40}, {"seed": -1}, {"relaxed": " "}, {"relaxed": "by the host: "}, {"script": "\0"},
        {"script": "/*" + "x" * 1_000_000 + "*/"}, {"context": {"__proto__": {"a": 1}}}, {"stored": {TITLE: TITLE}},
        {"script": "await new Promise(() => {})"}, {"script": f"throw new Error({TITLE!r})"},
    ],
)  # fmt: skip
def test_a_turn_that_began_strangely_is_played_or_told(path: Path, told: dict[str, Any]) -> None:
    assert replayed(path, began(**told))[0] in (0, 1)


@pytest.mark.parametrize(
    "told", [{"context": [1]}, {"now": "x"}, {"limits": {"engine_seconds": 1e9}}, {"limits": {"depth": 0.1}}, {TITLE: 1}]
)
def test_a_turn_that_cannot_have_begun_so_is_told_in_one_line(path: Path, told: dict[str, Any]) -> None:
    code, text = replayed(path, began(**told))
    assert (code, text.count("turnscript: ")) == (2, 1), text


def test_a_call_that_ended_twice_is_told_in_one_line(path: Path) -> None:
    settled = row("settled", **CALL, outcome={"status": "returned"})
    code, told = replayed(path, chained([opened(), row("began", script="return 1", sha256=""), settled, settled, ENDED]))
    assert (code, told.splitlines()[0]) == (2, f"turnscript: {path}: turn 1: call 1 ended twice; record it again")


@pytest.mark.parametrize("lines", [[["x", 1]], [5], ["x"], [[]], {"a": 1}])
def test_a_recorded_result_of_another_shape_is_shown_all_the_same(path: Path, lines: Any, tmp_path: Path) -> None:
    script = "const f = await tools.files.read({path: 'a'}); show(f.text); show(f)"
    value = {
        "path": "a",
        "text": "one line\nanother line\nand a third line of it",
        "lines": lines,
        "oid": "x",
        "total_lines": 3,
        "parts": 1.5,
    }
    call = {**CALL, "site": {"line": 1, "column": 17}, "arguments": {"path": "a"}}
    packs = {"files": {"source": "", "digest": ""}}
    data = chained([
        opened(packs=packs, tools=["files.read"]), row("began", script=script, sha256=""),
        row("settled", **call, outcome={"status": "returned", "value": value, "source": "tool", "size": 90}), ENDED,
    ])  # fmt: skip
    assert replayed(path, data)[0] == 1


def test_deep_and_endless_files_are_told_in_one_line(path: Path) -> None:
    for data in (b"[" * 100_000 + b"\n", b'{"a":' * 100_000 + b"\n", b"", b"\n", b"\xff\xfe\n", b"\0\0\0"):
        code, told = replayed(path, data)
        assert (code, told.count("turnscript: ")) == (2, 1), told
    os.truncate(path, 1 << 40)
    code, told = replayed(path)
    assert (code, told.splitlines()[0]) == (
        2,
        f"turnscript: {path}, line 1: NUL bytes, and no end of the line: the file has a hole",
    )
    assert not belongs_to_a_test(path)


def test_a_pipe_and_a_device_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.session.jsonl")
    (tmp_path / "zero.session.jsonl").symlink_to("/dev/zero")
    code, told = replayed(tmp_path)
    assert (code, told.count("no regular file")) == (2, 2)
    assert not belongs_to_a_test(tmp_path / "pipe.session.jsonl")


def test_references_that_stand_for_more_than_any_memory_are_told_in_one_line(path: Path) -> None:
    content, lines = b'["x"]', list[bytes]()
    for _ in range(41):
        sha = hashlib.sha256(content).hexdigest()
        lines.append(json.dumps({"v": 1, "type": "$value", "sha256": sha, "json": json.loads(content)}).encode())
        content = json.dumps([{"$json": sha}, {"$json": sha}], separators=(",", ":")).encode()
    held = row("held", handle="r1", value={"$json": sha})
    code, told = replayed(path, b"\n".join(lines) + b"\n" + chained([opened(), row("began", script="", sha256=""), held, ENDED]))
    assert (code, "its big values come to more than 67,108,864 bytes" in told) == (2, True)


def test_the_name_of_a_file_is_no_command_for_a_terminal(tmp_path: Path) -> None:
    code, told = replayed(tmp_path / f"{TITLE}.session.jsonl", began())
    assert (code, "\\u001b]0;x" in told) == (1, True)
