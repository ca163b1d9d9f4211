"""What records of Codex mean: every kind of item, every form of output, both envelopes."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.entries import Facts, Git, Opened
from harness.rollouts import FORMATS, Reading, reading
from harness.rollouts.importing import read_rollout
from tests.harness.rollouts.sources import BARE, CODEX, enveloped, item_of, items, lines, message, written

NOTHING = Reading()


def meaning(payload: dict[str, Any], top: str = "response_item") -> Reading:
    record = enveloped(top, payload)
    kind = FORMATS["codex"].kind(record)
    assert FORMATS["codex"].known(kind), kind
    return reading(item_of("codex", kind, record))


def output(given: Any, kind: str = "function_call_output") -> Reading:
    return meaning({"type": kind, "call_id": "c1", "output": given})


def test_the_session_tells_where_it_ran_and_a_password_in_an_address_is_left_out(tmp_path: Path) -> None:
    opened = next(read_rollout(written(tmp_path, lines(CODEX))))
    assert opened == Opened(
        session="0199-aa",
        at=1772359200.5,
        facts=Facts(
            root="/srv/app", model="gpt-5", format="codex", labels={"agent": "codex_cli_rs 0.63.0"},
            git=Git(commit="c0ffee", branch="main", remote="https://example.org/app.git"),
        ),
    )  # fmt: skip


def test_a_turn_begins_where_a_person_speaks_and_the_copy_for_the_screen_begins_none(tmp_path: Path) -> None:
    found = items(written(tmp_path, lines(CODEX)))
    assert [item.turn for item in found] == [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    assert [item.kind for item in found[:5]] == [
        "session_meta", "response_item/message", "response_item/message", "event_msg/user_message", "turn_context",
    ]  # fmt: skip
    assert [item.at for item in found[2:6]] == [1772359201.5, 1772359201.5, 1772359201.5, 1772359202.5]


def test_what_a_person_said_counts_when_it_is_only_told_to_the_screen(tmp_path: Path) -> None:
    events = [enveloped("event_msg", {"type": "user_message", "message": "yes"}) for _ in range(3)]
    assert [item.turn for item in items(written(tmp_path, lines(events)))] == [1, 2, 3]


def test_bare_items_read_like_those_in_envelopes(tmp_path: Path) -> None:
    found = items(written(tmp_path, lines(BARE)))
    assert [item.kind for item in found] == [
        "bare/session_meta", "bare/state", "bare/message", "bare/function_call", "bare/state", "bare/function_call_output",
    ]  # fmt: skip
    assert [item.turn for item in found] == [0, 0, 1, 1, 1, 1]
    assert {item.at for item in found} == {1754503331.653}
    assert reading(found[3]) == Reading(
        role="call", tool="shell", call_id="c1", arguments={"command": ["bash", "-lc", "ls src/a.py"]}, text="bash -lc ls src/a.py",
        paths=("src/a.py",),
    )  # fmt: skip
    assert reading(found[5]) == Reading(role="output", call_id="c1", text="no\n", status="failed", bytes=44)


@pytest.mark.parametrize(
    ("given", "text", "status"),
    [
        ('{"output":"a\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}', "a\n", "returned"),
        ('{"output":"a","metadata":{"exit_code":1}}', "a", "failed"),
        ("Exit code: 0\nWall time: 0 seconds\nTotal output lines: 1\nOutput:\na", "a", "returned"),
        ("Exit code: 3\nWall time: 0 seconds\nOutput:\na", "a", "failed"),
        (
            "Chunk ID: f7\nWall time: 1.0 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\na",
            "a",
            "returned",
        ),
        ("Chunk ID: f7\nWall time: 1.0 seconds\nProcess exited with code 137\nOutput:\na", "a", "failed"),
        ("Chunk ID: f7\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\na", "a", "running"),
        (
            "failed in sandbox MacosSeatbelt with execution error",
            "failed in sandbox MacosSeatbelt with execution error",
            "failed",
        ),
        ("aborted by user after 3.1s", "aborted by user after 3.1s", "cancelled"),
        ("Plan updated", "Plan updated", ""),
        ({"content": "a", "success": True}, "a", "returned"),
        ({"content": "a", "success": False}, "a", "failed"),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:"}], "a", ""),
        ({"structured": 1}, '{"structured":1}', ""),
        (None, "", ""),
    ],
)
def test_an_output_is_read_in_every_form(given: Any, text: str, status: str) -> None:
    found = output(given)
    assert (found.role, found.call_id, found.text, found.status) == ("output", "c1", text, status)
    assert found.bytes == len(given if isinstance(given, str) else text)
    assert output(given, "custom_tool_call_output") == found


@pytest.mark.parametrize(
    ("payload", "tool", "arguments", "paths"),
    [
        (
            {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"cat -n ./src/b.py > out/x"}', "call_id": "c"},
            "exec_command", {"cmd": "cat -n ./src/b.py > out/x"}, ("./src/b.py",),
        ),
        (
            {"type": "function_call", "name": "write_stdin", "arguments": '{"session_id":7,"chars":""}', "call_id": "c"},
            "write_stdin", {"session_id": 7, "chars": ""}, (),
        ),
        (
            {"type": "function_call", "name": "get", "namespace": "mcp__hub", "arguments": '{"path":"a/b"}', "call_id": "c"},
            "mcp__hub.get", {"path": "a/b"}, ("a/b",),
        ),
        (
            {"type": "function_call", "name": "shell<|channel|>", "arguments": "{not json", "call_id": "c"},
            "shell<|channel|>", {"input": "{not json"}, (),
        ),
        (
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c",
             "input": "*** Begin Patch\n*** Update File: a b.py\n@@\n-x\n*** Move to: c.py\n*** Add File: d\n+y\n*** End Patch"},
            "apply_patch", None, ("a b.py", "c.py", "d"),
        ),
        (
            {"type": "local_shell_call", "call_id": "c", "status": "completed", "action": {"type": "exec", "command": ["cat", "a.py"]}},
            "local_shell", {"command": ["cat", "a.py"]}, ("a.py",),
        ),
        (
            {"type": "web_search_call", "id": "c", "action": {"type": "search", "query": "why"}},
            "web_search", {"type": "search", "query": "why"}, (),
        ),
        ({"type": "tool_search_call", "call_id": "c", "arguments": {"query": "pr"}}, "tool_search", {"query": "pr"}, ()),
    ],
)  # fmt: skip
def test_a_call_is_read_whatever_carries_it(
    payload: dict[str, Any], tool: str, arguments: dict[str, Any] | None, paths: tuple[str, ...]
) -> None:
    found = meaning(payload)
    assert (found.role, found.tool, found.call_id, found.paths) == ("call", tool, "c", paths)
    assert found.arguments == ({"input": payload["input"]} if arguments is None else arguments)


@pytest.mark.parametrize(
    ("top", "payload", "expected"),
    [
        ("response_item", message("developer", "rules"), Reading(role="system", text="rules")),
        ("response_item", message("user", "<b>bold</b> please"), Reading(role="user", text="<b>bold</b> please")),
        ("response_item", message("user", "# AGENTS.md instructions for /srv"), Reading(role="system", text="# AGENTS.md instructions for /srv")),
        ("response_item", message("assistant", "done"), Reading(role="assistant", text="done")),
        ("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "AA"}, Reading(role="reasoning")),
        ("response_item", {"type": "ghost_snapshot", "ghost_commit": {}}, NOTHING),
        ("compacted", {"message": "what was", "replacement_history": []}, Reading(role="compaction", text="what was")),
        ("event_msg", {"type": "context_compacted"}, NOTHING),
        ("event_msg", {"type": "agent_message", "message": "done"}, NOTHING),
        ("event_msg", {"type": "turn_aborted", "reason": "interrupted"}, Reading(role="system", text="interrupted")),
        ("event_msg", {"type": "thread_rolled_back", "num_turns": 2}, Reading(role="system", text="turns rolled back: 2")),
        ("event_msg", {"type": "mcp_tool_call_end", "call_id": "c", "invocation": {}, "result": {}}, NOTHING),
        ("turn_context", {"cwd": "/srv", "model": "m"}, NOTHING),
        ("session_meta", {"id": "x"}, NOTHING),
    ],
)  # fmt: skip
def test_messages_events_and_states(top: str, payload: dict[str, Any], expected: Reading) -> None:
    assert meaning(payload, top) == expected


@pytest.mark.parametrize("record", [None, 7, [], {}, {"type": 3, "payload": 4}, {"type": "event_msg", "payload": {"type": []}}])
def test_odd_records_mean_nothing_and_raise_nothing(record: Any) -> None:
    form = FORMATS["codex"]
    assert reading(item_of("codex", form.kind(record), record)) == NOTHING
    assert (form.heard(record), form.at(record), form.about(record).session) == (None, None, "")


@pytest.mark.parametrize(
    "kind", ["event_msg/brand_new", "response_item/brand_new", "bare/brand_new", "brand_new", "text", "bytes"]
)
def test_a_kind_that_nobody_knows_is_not_known_and_means_nothing(kind: str) -> None:
    assert not FORMATS["codex"].known(kind)
    assert reading(item_of("codex", kind, json.loads("{}"))) == NOTHING
