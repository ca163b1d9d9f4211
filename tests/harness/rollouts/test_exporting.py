"""Sessions written out: imported ones as they came, our own as rollouts of Codex that our own importer reads again."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.call import Outcome
from harness.entries import (
    Began,
    Closed,
    Ended,
    Ending,
    Entry,
    Facts,
    Forgot,
    Git,
    Item,
    Message,
    Opened,
    Reopened,
    Running,
    Settled,
)
from harness.rollouts import FORMATS, Reading, readings
from harness.rollouts.exporting import export_rollout
from harness.rollouts.importing import import_rollout, read_rollout
from harness.store.jsonl import JsonlStore
from sandbox import Problem, Site
from tests.harness.rollouts.sources import CODEX, OPENHANDS, SOURCES, lines, written

pytestmark = pytest.mark.anyio
SITE = Site(line=1, column=1)


@pytest.mark.parametrize("name", SOURCES)
async def test_an_imported_session_comes_out_as_it_came_in(name: str, tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "store", durability="flush")
    exported: list[Any] = []
    for one in await import_rollout(written(tmp_path, SOURCES[name][1]), store):
        kept = await store.load(one.session)
        exported += [json.loads(line) for line in export_rollout(line.entry(one.session) for line in kept)]
    assert exported == SOURCES[name][2]
    await store.close()


@pytest.mark.parametrize("bad", [b'{"torn": ', b'{"a": "caf\xe9"}', b'{"a": NaN}', b'{"a": 123456789012345678901234567890}'])
def test_what_is_no_json_comes_out_byte_for_byte(tmp_path: Path, bad: bytes) -> None:
    path = written(tmp_path, lines(CODEX[:3]) + bad + b"\n" + lines(CODEX[3:]))
    out = list(export_rollout(read_rollout(path)))
    assert out[3] == bad + b"\n"
    assert [json.loads(line) for line in [*out[:3], *out[4:]]] == CODEX


def test_what_stands_behind_a_document_comes_out_behind_it(tmp_path: Path) -> None:
    path = written(tmp_path, lines(OPENHANDS[:1]) + b'{"torn": ')
    document, torn = export_rollout(read_rollout(path))
    assert (json.loads(document), torn) == (OPENHANDS[0], b'{"torn": \n')


def test_half_a_session_without_its_beginning_is_refused() -> None:
    with pytest.raises(ValueError, match="a session begins with an entry `opened`; export from its first line on"):
        list(export_rollout([Closed(session="s", at=1.0)]))


# ---------------------------------------------------------------- our own


def settled(call: int, tool: str, outcome: Outcome, arguments: Any = None, at: float = 12.0) -> Settled:
    return Settled(
        session="s1", at=at, turn=1, call=call, tool=tool, site=SITE, arguments=arguments or {"path": "a.py"}, outcome=outcome,
        seconds=1.25,
    )  # fmt: skip


def own() -> list[Entry]:
    facts = Facts(turnscript="0.1.0", root="/srv/app", model="gpt-5", git=Git(commit="c0ffee", branch="main"))
    problem = Problem("NotFound", "no such file")
    return [
        Opened(session="s1", at=10.0, facts=facts),
        Message(session="s1", at=10.5, role="system", text="rules"),
        Message(session="s1", at=11.0, role="user", text="fix the test"),
        Message(session="s1", at=11.5, role="reasoning", text="look first"),
        Began(session="s1", at=12.0, turn=1, script="return await tools.files.read({ path: 'a.py' })", sha256="00"),
        settled(1, "files.read", Outcome(status="returned", value={"text": "x = 1"}, size=16)),
        Running(session="s1", at=12.0, turn=1, call=2, tool="files.read", site=SITE, arguments={"path": "b.py"}),
        settled(2, "files.read", Outcome(status="failed", problem=problem), {"path": "b.py"}),
        Ended(
            session="s1", at=13.0, turn=1, ending=Ending(how="finished"), text="T1.1 x = 1",
            left=(settled(3, "load", Outcome(status="cancelled"), ("key",), at=13.0),),
        ),
        Message(session="s1", at=14.0, role="assistant", text="done"),
        Forgot(session="s1", at=15.0, turns=(1,), mended={}),
        Began(session="s1", at=16.0, turn=2, script="for (;;) {}", sha256="00"),
        Reopened(session="s1", at=20.0, facts=facts, interrupted=2),
        Began(session="s1", at=21.0, turn=3, script="return 1", sha256="00"),
    ]  # fmt: skip


def test_our_own_session_is_a_rollout_of_codex() -> None:
    out = [json.loads(line) for line in export_rollout(own())]
    assert all(set(line) == {"timestamp", "type", "payload"} for line in out)
    assert out[0] == {
        "timestamp": "1970-01-01T00:00:10.000000Z",
        "type": "session_meta",
        "payload": {
            "id": "s1", "timestamp": "1970-01-01T00:00:10.000000Z", "cwd": "/srv/app", "originator": "turnscript",
            "cli_version": "0.1.0", "instructions": None, "source": "exec", "git": {"commit_hash": "c0ffee", "branch": "main"},
        },
    }  # fmt: skip
    assert [(line["type"], line["payload"].get("type")) for line in out[1:]] == [
        ("response_item", "message"),
        ("response_item", "message"),
        ("event_msg", "user_message"),
        ("response_item", "reasoning"),
        ("turn_context", None),
        ("response_item", "custom_tool_call"),
        ("event_msg", "mcp_tool_call_end"),
        ("event_msg", "mcp_tool_call_begin"),
        ("event_msg", "mcp_tool_call_end"),
        ("event_msg", "mcp_tool_call_end"),
        ("response_item", "custom_tool_call_output"),
        ("event_msg", "agent_message"),
        ("response_item", "message"),
        ("compacted", None),
        ("turn_context", None),
        ("response_item", "custom_tool_call"),
        ("event_msg", "turn_aborted"),
        ("response_item", "custom_tool_call_output"),
        ("turn_context", None),
        ("response_item", "custom_tool_call"),
        ("event_msg", "turn_aborted"),
        ("response_item", "custom_tool_call_output"),
    ]
    script = "return await tools.files.read({ path: 'a.py' })"
    call = {"type": "custom_tool_call", "status": "completed", "call_id": "T1", "name": "exec", "input": script}
    assert out[6]["payload"] == call
    assert out[7]["payload"] == {
        "type": "mcp_tool_call_end", "call_id": "T1.1", "parent": "T1",
        "invocation": {"server": "files", "tool": "read", "arguments": {"path": "a.py"}},
        "duration": {"secs": 1, "nanos": 250_000_000},
        "result": {"Ok": {"content": [{"type": "text", "text": '{"text":"x = 1"}'}]}},
    }  # fmt: skip
    assert out[11]["payload"] == {"type": "custom_tool_call_output", "call_id": "T1", "output": "T1.1 x = 1"}


def test_every_call_of_the_model_has_exactly_one_output() -> None:
    out = [json.loads(line)["payload"] for line in export_rollout(own())]
    asked = [one["call_id"] for one in out if one.get("type") == "custom_tool_call"]
    answered = [one["call_id"] for one in out if one.get("type") == "custom_tool_call_output"]
    assert asked == answered == ["T1", "T2", "T3"]


def test_our_own_importer_reads_it_back(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(export_rollout(own())))
    entries = list(read_rollout(path))
    opened = entries[0]
    facts = Facts(
        root="/srv/app",
        model="gpt-5",
        git=Git(commit="c0ffee", branch="main"),
        format="codex",
        labels={"agent": "turnscript 0.1.0"},
    )
    assert opened == Opened(session="s1", at=10.0, facts=facts)
    found = [entry for entry in entries if isinstance(entry, Item)]
    assert all(FORMATS["codex"].known(item.kind) for item in found)
    assert {item.turn for item in found} == {0, 1}
    told = [one for item in found for one in readings(item)]
    script = "return await tools.files.read({ path: 'a.py' })"
    assert told[:10] == [
        Reading(role="system", text="rules"),
        Reading(role="user", text="fix the test"),
        Reading(role="reasoning", text="look first"),
        Reading(role="call", tool="exec", call_id="T1", arguments={"input": script}, text=script),
        Reading(
            role="call", tool="files.read", call_id="T1.1", arguments={"path": "a.py"}, text='{"path":"a.py"}', paths=("a.py",)
        ),
        Reading(role="output", tool="files.read", call_id="T1.1", text='{"text":"x = 1"}', status="returned", bytes=16),
        Reading(
            role="call", tool="files.read", call_id="T1.2", arguments={"path": "b.py"}, text='{"path":"b.py"}', paths=("b.py",)
        ),
        Reading(
            role="output", tool="files.read", call_id="T1.2", text="failed: NotFound: no such file", status="failed", bytes=30
        ),
        Reading(role="call", tool="load", call_id="T1.3", arguments={"arguments": ["key"]}, text='{"arguments":["key"]}'),
        Reading(role="output", tool="load", call_id="T1.3", text="cancelled", status="failed", bytes=9),
    ]
    assert Reading(role="output", call_id="T1", text="T1.1 x = 1", bytes=10) in told
    assert [json.loads(line) for line in export_rollout(entries)] == [json.loads(line) for line in path.read_bytes().splitlines()]
