"""Sessions that are one JSON document: SWE-agent, mini-SWE-agent, OpenHands."""

from pathlib import Path
from typing import Any

import pytest

from harness.entries import Closed, Opened
from harness.rollouts import FORMATS, Reading
from harness.rollouts.importing import read_rollout
from tests.harness.rollouts.sources import MINI, OPENHANDS, SOURCES, SWE_AGENT, item_of, items, read, written


def of(name: str, folder: Path) -> Path:
    return written(folder, SOURCES[name][1])


def test_a_document_becomes_one_item_without_its_list_and_one_for_each_element(tmp_path: Path) -> None:
    found = items(of("swe_agent", tmp_path))
    assert [item.kind for item in found] == ["document", "step", "step"]
    assert found[0].raw == {name: value for name, value in SWE_AGENT.items() if name != "trajectory"}
    assert [item.raw for item in found[1:]] == SWE_AGENT["trajectory"]
    assert [item.turn for item in found] == [1, 1, 1]


def test_a_step_of_swe_agent_is_a_thought_a_call_and_an_output(tmp_path: Path) -> None:
    document, first, second = (read(item) for item in items(of("swe_agent", tmp_path)))
    assert document == [Reading(role="user", text="fix the test")]
    assert first == [
        Reading(role="assistant", text="look first"),
        Reading(role="call", tool="bash", arguments={"command": "open src/a.py"}, text="open src/a.py", paths=("src/a.py",)),
        Reading(role="output", tool="bash", text="x = 1", bytes=5),
    ]
    assert [one.role for one in second] == ["call", "output"]


def test_messages_of_mini_swe_agent_are_told_apart_by_what_they_say(tmp_path: Path) -> None:
    path = of("mini_swe_agent", tmp_path)
    opened = next(read_rollout(path))
    assert isinstance(opened, Opened) and (opened.facts.model, opened.facts.root, opened.at) == (
        "gemini",
        "/testbed",
        1700000000.0,
    )
    found = items(path)
    assert [item.kind for item in found] == ["document", "system", "user", "assistant", "user", "user", "user"]
    assert [item.turn for item in found] == [0, 0, 1, 1, 1, 1, 1]
    assert [read(item) for item in found[1:]] == [
        [Reading(role="system", text="rules")],
        [Reading(role="user", text="fix the test")],
        [
            Reading(role="assistant", text=MINI["messages"][2]["content"]),
            Reading(role="call", tool="bash", arguments={"command": "cat src/a.py"}, text="cat src/a.py", paths=("src/a.py",)),
        ],
        [Reading(role="output", tool="bash", text="no file\n", status="failed", bytes=53)],
        [Reading(role="system", text=MINI["messages"][4]["content"])],
        [Reading(role="system", text=MINI["messages"][5]["content"])],
    ]


def test_newer_mini_swe_agent_calls_tools_and_knows_the_return_code() -> None:
    call = {"id": "t1", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
    assert read(item_of("mini_swe_agent", "assistant", {"role": "assistant", "content": None, "tool_calls": [call]})) == [
        Reading(role="call", tool="bash", call_id="t1", arguments={"command": "ls"}, text="ls")
    ]
    result = {"role": "tool", "tool_call_id": "t1", "content": "a\n", "extra": {"returncode": 0, "timestamp": 1700000001.5}}
    assert read(item_of("mini_swe_agent", "tool", result)) == [
        Reading(role="output", tool="bash", call_id="t1", text="a\n", status="returned", bytes=2)
    ]
    assert FORMATS["mini_swe_agent"].at(result) == 1700000001.5


def test_a_file_of_openhands_holds_a_session_a_line(tmp_path: Path) -> None:
    entries = list(read_rollout(of("openhands", tmp_path)))
    assert [type(entry).__name__ for entry in entries] == ["Opened", *["Item"] * 6, "Closed"] * 2
    first, second = [entry for entry in entries if isinstance(entry, Opened)]
    assert first.session.startswith("app__app-1-") and second.session.startswith("app__app-2-")
    assert (first.facts.model, first.facts.labels, first.at) == ("llama", {"task": "app__app-1"}, 1746030774.707)
    assert isinstance(entries[-1], Closed) and entries[-1].session == second.session


def test_events_of_openhands_are_calls_outputs_and_what_was_said(tmp_path: Path) -> None:
    found = items(of("openhands, one list", tmp_path))
    assert [item.kind for item in found] == [
        "document", "action/system", "action/message", "action/run", "observation/run", "observation/error",
    ]  # fmt: skip
    assert [item.turn for item in found] == [0, 0, 1, 1, 1, 1]
    arguments = OPENHANDS[0]["history"][2]["args"]
    assert [read(item) for item in found[1:]] == [
        [Reading(role="system", text="rules")],
        [Reading(role="user", text="fix 1")],
        [
            Reading(role="assistant", text="look first"),
            Reading(role="call", tool="run", call_id="2", arguments=arguments, text="cat src/a.py", paths=("src/a.py",)),
        ],
        [Reading(role="output", tool="run", call_id="2", text="x = 1", status="returned", bytes=5)],
        [Reading(role="output", tool="error", call_id="2", text="bad call", status="failed", bytes=8)],
    ]


def test_pairs_of_the_first_openhands_are_read_both() -> None:
    call, answer = OPENHANDS[0]["history"][2:4]
    assert [one.role for one in read(item_of("openhands", "pair", [call, answer]))] == ["assistant", "call", "output"]


@pytest.mark.parametrize("format", ["swe_agent", "mini_swe_agent", "openhands"])
@pytest.mark.parametrize("record", [None, 7, [], {}, {"role": 3}, {"action": None, "observation": []}, [None, 3]])
def test_odd_records_say_nothing_and_raise_nothing(format: str, record: Any) -> None:
    form = FORMATS[format]
    assert not any(one.text for one in read(item_of(format, form.kind(record), record)))
    assert (form.heard(record), form.at(record)) == (None, None)
