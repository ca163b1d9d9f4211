"""The readers of sessions, the proxy of loss and the baselines of benchmarks/condense.py, on small records of each agent."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.condense_baselines import MARKER, REFERENCE, Cap, Policy, apply
from benchmarks.condense_loss import forms_of, loss_of, needs_of
from benchmarks.condense_ours import Doubles, Setting, item_of, reenact, without_caps
from benchmarks.sessions_claude import glued, read_claude
from benchmarks.sessions_codex import read_codex
from benchmarks.sessions_others import read_mini, read_openhands
from benchmarks.sessions_record import Asked, Session, Step, class_of, patch_old_lines, paths_in
from harness.condense import Flags
from harness.condense.record import Condensed

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
TEXT = "\n".join(f"value number {number} of the table" for number in range(40)) + "\n"


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_call", "name": name, "call_id": id, "arguments": json.dumps(arguments)}


def output(id: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": text}


def step(body: str, *, before: int = 0, old: tuple[tuple[str, ...], ...] = (), named: str = "", forgets: bool = False) -> Step:
    return Step(asked=Asked("bash", before, before, "cat a", old, named), header_bytes=0, body=body, kind="read", forgets=forgets)


def session(*steps: Step) -> Session:
    return Session("codex", "s", steps)


# ── readers ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_both_envelopes_of_codex_are_read(tmp_path: Path) -> None:
    items = [call("1", "shell", command=["bash", "-lc", "cat a.py"]), output("1", '{"output":"é\\n","metadata":{"exit_code":3}}')]
    bare = read_codex(written(tmp_path / "bare.jsonl", [{"record_type": "state"}, *items]))
    wrapped = read_codex(written(tmp_path / "new.jsonl", [{"type": "response_item", "payload": item} for item in items]))
    assert bare.steps == wrapped.steps
    (only,) = bare.steps
    assert (only.body, only.exit_code, only.kind) == ("é\n", 3, "read")
    assert only.persisted_bytes == len(json.dumps({"output": "", "metadata": {"exit_code": 3}})) + 3


def test_a_header_is_no_part_of_the_body(tmp_path: Path) -> None:
    header = "Chunk ID: f788d3\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 9\nOutput:\n"
    items = [call("1", "exec_command", cmd="ls"), output("1", header + "a\n")]
    (only,) = read_codex(written(tmp_path / "a.jsonl", items)).steps
    assert (only.body, only.exit_code, only.header_bytes, only.kind) == ("a\n", 2, len(header), "search")


def test_a_poll_belongs_to_the_command_that_it_polls(tmp_path: Path) -> None:
    running = "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n"
    items = [
        call("1", "exec_command", cmd="pytest -q"),
        output("1", running),
        call("2", "write_stdin", session_id=7, chars=""),
        output("2", "Wall time: 1 seconds\nProcess exited with code 0\nOutput:\n2 passed\n"),
    ]
    polled = read_codex(written(tmp_path / "a.jsonl", items)).steps[1]
    assert (polled.kind, polled.asked.command, polled.body) == ("build", "pytest -q", "2 passed\n")


def test_parallel_calls_are_one_reply_and_had_no_output_of_one_another(tmp_path: Path) -> None:
    items = [call("1", "exec_command", cmd="ls"), call("2", "exec_command", cmd="pwd"), output("2", "x"), output("1", "y")]
    steps = read_codex(written(tmp_path / "a.jsonl", items)).steps
    assert [(each.body, each.asked.outputs_before, each.asked.reply) for each in steps] == [("x", 0, 1), ("y", 0, 1)]


def test_a_compaction_is_marked_on_the_next_output(tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [call("1", "exec_command", cmd="ls"), output("1", "a"), {"type": "compacted", "payload": {}}]
    items += [call("2", "exec_command", cmd="ls"), output("2", "a")]
    assert [each.forgets for each in read_codex(written(tmp_path / "a.jsonl", items)).steps] == [False, True]


def test_a_patch_names_context_and_removed_lines() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n one\n-two\n+three\n*** Add File: b.py\n+x\n*** End Patch"
    assert patch_old_lines(patch) == (("one", "two"),)


def test_claude_sessions_have_no_sidechains_and_no_second_copy(tmp_path: Path) -> None:
    use = {
        "type": "tool_use",
        "id": "1",
        "name": "Edit",
        "input": {"file_path": "/a.py", "old_string": "x = 1\ny", "new_string": "z"},
    }
    result = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "done"}]}
    records: list[dict[str, Any]] = [
        {"message": {"id": "m", "content": [use]}},
        {"message": {"content": [result]}, "toolUseResult": "a second copy"},
        {"message": {"content": [result]}},
        {"isSidechain": True, "message": {"content": [{**result, "tool_use_id": "2"}]}},
    ]
    (only,) = read_claude(written(tmp_path / "a.jsonl", records)).steps
    assert (only.body, only.asked.old_lines, only.kind) == ("done", (("x = 1", "y"),), "patch")


def test_glued_and_broken_records_are_passed() -> None:
    assert list(glued('{"a": 1}{"b": 2}\n{"broken": \n{"c": 3}\n')) == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_the_submission_of_mini_is_no_output(tmp_path: Path) -> None:
    messages = [
        ("system", "s"),
        ("user", "u"),
        ("assistant", "```bash\nls\n```"),
        ("user", "<returncode>0</returncode>\n<output>\na\n</output>"),
    ]
    messages += [("assistant", "```bash\nsubmit\n```"), ("user", "diff --git")]
    path = tmp_path / "a.traj.json"
    path.write_text(json.dumps({"messages": [{"role": role, "content": text} for role, text in messages]}))
    (only,) = read_mini(path).steps
    assert (only.body, only.exit_code, only.asked.command) == ("a\n", 0, "ls")


def test_openhands_pairs_calls_with_what_they_caused(tmp_path: Path) -> None:
    history = [
        {"id": 4, "source": "agent", "action": "run", "args": {"command": "ls"}},
        {"id": 5, "observation": "run", "cause": 4, "content": "a\n", "extras": {"metadata": {"exit_code": 0}}},
    ]
    (found,) = read_openhands(written(tmp_path / "a.jsonl", [{"instance_id": "x", "history": history}]))
    assert [(each.body, each.kind) for each in found.steps] == [("a\n", "search")]


@pytest.mark.parametrize(
    ("command", "kind"),
    [("sed -n 1,5p a; cat b", "read"), ("git diff", "git"), ("rg x", "search"), ("make", "build"), ("curl x", "other")],
)
def test_classes_come_from_the_product(command: str, kind: str) -> None:
    assert class_of(command) == kind


def test_paths_are_found_in_rows_of_hits() -> None:
    assert paths_in("./src/a.py:12: x = 'b' / c and README.md") == {"src/a.py", "README.md"}


# ── loss ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_line_counts_as_hidden_only_when_every_copy_is() -> None:
    edited = session(
        step("alpha = 1\n}\nbeta = 2\n"),
        step("   7\talpha = 1\n", before=1),
        step("ok", before=2, old=(("alpha = 1", "}", "beta = 2"),)),
    )
    needs = needs_of(edited)
    kept = loss_of(needs, ["beta = 2", "   7\talpha = 1", "ok"])
    assert (kept.lines, kept.lines_hidden, kept.edits, kept.edits_touched) == (2, 0, 1, 0)
    hidden = loss_of(needs, ["alpha = 10", "beta", "ok"])
    assert (hidden.lines_hidden, hidden.edits_touched, hidden.refetched_bytes) == (2, 1, 2_048)


def test_lines_from_before_a_compaction_are_not_needed() -> None:
    needs = needs_of(
        session(step("alpha = 1"), step("other", before=1, forgets=True), step("ok", before=2, old=(("alpha = 1",),)))
    )
    assert [need.edits for need in needs] == [(), (), ()]


def test_a_path_counts_at_its_first_use() -> None:
    needs = needs_of(
        session(
            step("src/lib/a.py:1:x"), step("1", before=1, named="cat src/lib/a.py"), step("2", before=2, named="cat src/lib/a.py")
        )
    )
    assert [sorted(need.paths) for need in needs] == [[], ["src/lib/a.py"], []]
    assert loss_of(needs, ["nothing", "", ""]).paths_hidden == 1
    assert loss_of(needs, ["src/lib/:\n  a.py b.py", "", ""]).paths_hidden == 0


def test_a_path_counts_again_after_a_compaction() -> None:
    steps = [
        step("src/lib/a.py:1:x"),
        step("1", before=1, named="cat src/lib/a.py"),
        step("src/lib/a.py", before=2, forgets=True),
    ]
    needs = needs_of(session(*steps, step("2", before=3, named="cat src/lib/a.py")))
    assert [sorted(need.paths) for need in needs] == [[], ["src/lib/a.py"], [], ["src/lib/a.py"]]


def test_forms_of_a_line_leave_numbers_and_signs_out() -> None:
    assert {"x = 1"} <= forms_of("a/b.py:12:  x = 1") & forms_of("+x = 1") & forms_of("   12→x = 1") & forms_of("  12: x = 1")


# ── policies ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_copy_costs_a_reference() -> None:
    shown = apply(
        Policy("A", dedupe=True), session(step(TEXT), step("head\n" + TEXT, before=1), step(TEXT, before=2, forgets=True))
    )
    assert [each.text for each in shown] == [TEXT, f"head\n{REFERENCE}", TEXT]
    assert len(REFERENCE) + 1 == 64 and len(MARKER) + 1 == 80


def test_a_cap_keeps_head_and_tail() -> None:
    (shown,) = apply(Policy("cap", read=Cap(200)), session(step(TEXT)))
    lines = shown.text.split("\n")
    assert shown.cut and lines[0] == TEXT.split("\n")[0] and MARKER in lines and lines[-2] == TEXT.split("\n")[-2]


def test_ours_shows_a_second_copy_as_a_reference_and_forgets_with_the_agent() -> None:
    done = reenact(session(step(TEXT), step(TEXT, before=1), step(TEXT, before=2, forgets=True)), Setting(name="ours"))
    assert [each.text.count("\n") > 30 for each in done.shown] == [True, False, True]
    assert (done.duplicates, done.unresolved) == (0, 0)


def test_nothing_is_hidden_without_caps() -> None:
    long = "".join(f"row {number}: {'x' * 50}\n" for number in range(5_000))
    edit = step("ok", before=1, old=(("row 2500: " + "x" * 50,),))
    wide = Setting(name="wide", limits=without_caps(), flags=Flags(build_tail=False))
    done = reenact(session(step(long), edit), wide)
    assert loss_of(needs_of(session(step(long), edit)), [each.text for each in done.shown]).lines_hidden == 0


def test_bytes_by_cause_add_up() -> None:
    done = reenact(session(step(TEXT), step(TEXT * 20, before=1), step("x" * 50_000, before=2)), Setting(name="ours"))
    assert sum(each.shown_bytes for each in done.shown) + sum(done.causes.values()) == len(TEXT) * 21 + 50_000


def test_lines_shown_twice_are_counted() -> None:
    doubles = Doubles()
    assert [doubles.add(Condensed(text=TEXT.rstrip(), produced=1)) for _ in range(2)] == [0, 40]


def test_numbers_of_a_viewer_are_not_in_the_value() -> None:
    viewed = Step(asked=Asked("Read", 0, 0), header_bytes=0, body="     9→a\n    10→\n    11→c", kind="read", path="a.py")
    assert item_of(viewed, "T1.1").value == {"path": "a.py", "lines": [[9, 11]], "text": "a\n\nc"}


@pytest.mark.skipif(not (DATA / "sessions").is_dir(), reason="the recorded sessions are not here")
def test_the_readers_find_every_byte_that_the_manifest_counts() -> None:
    rows = {row["file"]: row for row in json.loads((DATA / "sessions" / "manifest.json").read_text())["sessions"]}
    for file, row in rows.items():
        path = DATA / "sessions" / file
        match row["agent"]:
            case "codex":
                found = read_codex(path)
            case "claude_code":
                found = read_claude(path)
            case _:
                continue
        assert found.persisted_bytes == pytest.approx(row["tool_output_bytes"], rel=0.005), file
        assert len(found.steps) == pytest.approx(row["calls"], abs=3), file
