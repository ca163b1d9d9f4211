"""What records of Claude Code mean."""

from pathlib import Path
from typing import Any

import pytest

from harness.entries import Facts, Git, Opened
from harness.rollouts import FORMATS, Reading, reading
from harness.rollouts.importing import detect_format, read_rollout
from tests.harness.rollouts.sources import CLAUDE, item_of, items, lines, read, said, written


def test_the_session_is_opened_with_what_its_records_tell(tmp_path: Path) -> None:
    opened = next(read_rollout(written(tmp_path, lines(CLAUDE))))
    facts = Facts(root="/srv/app", model="claude-x", git=Git(branch="main"), labels={"agent": "claude 2.1.0"}, format="claude")
    assert opened == Opened(session="5e55-cc", at=1770278340.0, facts=facts)


def test_turns_begin_where_a_person_speaks_not_with_results_sidechains_commands_or_summaries(tmp_path: Path) -> None:
    found = items(written(tmp_path, lines(CLAUDE)))
    assert [item.turn for item in found] == [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]
    assert [item.kind for item in found] == [
        "summary", "file-history-snapshot", "user/text", "assistant/thinking", "assistant/text+tool_use", "user/tool_result",
        "user/text", "progress/bash_progress", "user/text", "system/compact_boundary", "user/text", "user/text",
    ]  # fmt: skip
    assert all(FORMATS["claude"].known(item.kind) for item in found)


def test_every_block_is_read_and_the_copy_of_a_result_is_not(tmp_path: Path) -> None:
    found = items(written(tmp_path, lines(CLAUDE)))
    told = [read(item) for item in found]
    assert told == [
        [Reading(role="system", text="Fixing a test")],
        [],
        [Reading(role="user", text="fix the test")],
        [Reading(role="reasoning", text="look first")],
        [
            Reading(role="assistant", text="reading"),
            Reading(
                role="call", tool="Read", call_id="t1", arguments={"file_path": "src/a.py"}, text='{"file_path":"src/a.py"}',
                paths=("src/a.py",),
            ),
            Reading(
                role="call", tool="Bash", call_id="t2", arguments={"command": "pytest tests/test_a.py"},
                text="pytest tests/test_a.py", paths=("tests/test_a.py",),
            ),
        ],
        [
            Reading(role="output", call_id="t1", text="     1→x = 1", status="returned", bytes=14),
            Reading(role="output", call_id="t2", text="1 failed", status="failed", bytes=8),
        ],
        [Reading(role="system", text="search for it")],
        [],
        [Reading(role="system", text="<command-name>/compact</command-name>")],
        [],
        [Reading(role="compaction", text="This session is being continued: the test was red.")],
        [Reading(role="user", text="go on")],
    ]  # fmt: skip


def test_several_things_in_one_record_read_as_one_with_the_first_call_in_front() -> None:
    found = reading(item_of("claude", "assistant/text+tool_use", CLAUDE[4]))
    assert (found.role, found.tool, found.call_id) == ("call", "Read", "t1")
    assert found.text == 'reading\n{"file_path":"src/a.py"}\npytest tests/test_a.py'
    assert found.paths == ("src/a.py", "tests/test_a.py")
    answered = reading(item_of("claude", "user/tool_result", CLAUDE[5]))
    assert (answered.role, answered.call_id, answered.bytes) == ("output", "t1", 22)


def test_the_file_of_a_sidechain_is_a_session_beside_the_one_that_it_belongs_to(tmp_path: Path) -> None:
    records = [said("user", "search for it", isSidechain=True, agentId="a1b2")]
    assert next(read_rollout(written(tmp_path, lines(records)))).session == "5e55-cc-a1b2"


def test_what_the_program_prints_as_stream_json_is_read_too(tmp_path: Path) -> None:
    records: list[Any] = [
        {"type": "system", "subtype": "init", "session_id": "s9", "cwd": "/srv", "model": "claude-x", "tools": []},
        {"type": "assistant", "session_id": "s9", "uuid": "u", "message": {"content": [{"type": "text", "text": "hi"}]}},
        {"type": "result", "subtype": "success", "session_id": "s9", "uuid": "u", "result": "hi"},
    ]
    path = written(tmp_path, lines(records))
    assert detect_format(path) == "claude"
    opened = next(read_rollout(path))
    assert isinstance(opened, Opened) and (opened.session, opened.facts.root, opened.facts.model) == ("s9", "/srv", "claude-x")


@pytest.mark.parametrize("kind", ["brand-new", "assistant/brand_new", "user/text+brand_new"])
def test_a_kind_that_nobody_knows_is_not_known(kind: str) -> None:
    assert not FORMATS["claude"].known(kind)


@pytest.mark.parametrize(
    "record", [None, 7, [], {}, {"type": "user", "message": 4}, {"type": "assistant", "message": {"content": [3]}}]
)
def test_odd_records_mean_nothing_and_raise_nothing(record: Any) -> None:
    form = FORMATS["claude"]
    assert read(item_of("claude", form.kind(record), record)) == []
    assert (form.heard(record), form.at(record), form.about(record).session) == (None, None, "")
