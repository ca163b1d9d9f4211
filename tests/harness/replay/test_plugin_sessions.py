"""Sessions of tests and files in pytest processes of their own: verified, not replaced by broken ones, and hints that work."""

from pathlib import Path

import pytest

from tests.harness.replay.making import GREET, furnish, recording
from tests.harness.replay.pytest_runs import files, run, told

pytest_plugins = ["pytester"]

READS = """
import pytest
from pathlib import Path

ROOT = Path(__file__).parent / "root"

@pytest.mark.anyio
async def test_async(turnscript_session, anyio_backend):
    async with turnscript_session(packs=["files", "shell"], root=ROOT, ALLOW) as session:
        await session.run("return (await tools.files.read({ path: 'a.txt' })).text")

def test_plain(turnscript_session):
    with turnscript_session(packs=["files", "shell"], root=ROOT, ALLOW) as session:
        session.run("return (await tools.files.read({ path: 'a.txt' })).text")
        session.run("try { return (await tools.shell.run('cat a.txt; touch made')).output } catch (error) { return 'caught' }")
"""


def recorded_reads(here: pytest.Pytester) -> Path:
    root = furnish(here.path / "root")
    here.makepyfile(test_reads=READS.replace("ALLOW", 'allow=["shell.run"]'))
    run(here, "--turnscript-record=once").assert_outcomes(passed=3)
    return root


def test_the_session_of_a_test_is_verified_with_live_tools(here: pytest.Pytester) -> None:
    recorded_reads(here)
    result = run(here, "--turnscript-verify")
    assert result.parseoutcomes() == {"passed": 3}, told(result)


def test_what_live_tools_give_now_is_told_beside_what_is_on_record(here: pytest.Pytester) -> None:
    root = recorded_reads(here)
    (root / "a.txt").write_text("another\n")
    result = run(here)
    assert result.parseoutcomes() == {"passed": 3}, told(result)
    result = run(here, "--turnscript-verify")
    assert result.parseoutcomes() == {"failed": 3}, told(result)
    text = told(result).replace("E           ", "").replace("E   ", "")
    assert text.count('    text: recorded "the text of a"\n          now      "another"\n') == 3, text
    assert "shell.run(" in text


def test_what_nobody_allowed_is_not_verified_and_says_how_it_would_be(here: pytest.Pytester) -> None:
    recorded_reads(here)
    here.makepyfile(test_reads=READS.replace("ALLOW", ""))
    result = run(here, "--turnscript-verify")
    assert result.parseoutcomes() == {"passed": 3}, told(result)
    assert "\ntest_plain: turn 2, line 1: shell.run(" in told(result)
    assert 'so it is not verified; allow it: turnscript_session(…, allow=["shell.run"])\n' in told(result)


def test_a_session_of_a_test_is_not_replaced_by_a_broken_one(here: pytest.Pytester) -> None:
    recorded_reads(here)
    here.makepyfile(test_reads=READS.replace("ALLOW", ""))
    result = run(here, "--turnscript-record=all", "-k", "plain")
    assert result.parseoutcomes() == {"failed": 1, "deselected": 2}, told(result)
    assert "\nnot written: turn 2, line 1: shell.run returned on record, and was denied now: " in told(result)
    file = "sessions/test_reads/test_plain.session.jsonl"
    again = "pytest 'test_reads.py::test_plain' --turnscript-record=once"
    assert f"\nif that is meant, remove it first: rm {file} && {again}\n" in told(result)
    (here.path / file).unlink()
    result = run(here, "--turnscript-record=once", "-k", "plain")
    assert result.parseoutcomes() == {"passed": 1, "deselected": 2}, told(result)


def test_verify_and_record_are_not_given_together(here: pytest.Pytester) -> None:
    result = run(here, "--turnscript-verify", "--turnscript-record=all")
    assert "--turnscript-verify and --turnscript-record are two different questions" in "\n".join(result.errlines)


def test_a_file_is_not_replaced_by_a_broken_one(here: pytest.Pytester) -> None:
    root = furnish(here.path / "root")
    path = recording(here.path / "read.session.jsonl", "return (await tools.files.read({ path: 'a.txt' })).text", root=root)
    before = path.read_bytes()
    result = run(here, "--turnscript-record=all")
    result.assert_outcomes(failed=1)
    assert "\nnot written: turn 1 finished on record, and fails now: not_found: " in told(result)
    assert "\nif that is meant: turnscript replay read.session.jsonl --record all --force\n" in told(result)
    assert path.read_bytes() == before
    run(here, "--turnscript-record=all", "-o", "turnscript_root=root").assert_outcomes(passed=1)


def test_packs_of_a_test_count_from_the_root_folder(here: pytest.Pytester) -> None:
    here.makeini("[pytest]\n")
    (here.path / "greet.py").write_text(GREET)
    source = """
def test_hello(turnscript_session):
    with turnscript_session(packs=["./NAME.py"]) as session:
        assert session.run("return await tools.greet.hello({ name: 'Ada' })").value == "hello Ada"
"""
    folder = here.mkdir("tests")
    (folder / "test_hello.py").write_text(source.replace("NAME", "greet"))
    here.chdir()
    run(here, "--turnscript-record=once", "tests").assert_outcomes(passed=1)
    assert files(here) == ["tests/sessions/test_hello/test_hello.session.jsonl"]
    (folder / "test_hello.py").write_text(source.replace("NAME", "great"))
    text = told(run(here))
    assert "\ngreat.py: there is no such file; give the path of a pack's module\n" in text and "plugin_files" not in text


def test_packs_of_the_profile_are_known_and_others_are_asked_for_in_the_file_that_is_there(here: pytest.Pytester) -> None:
    own = here.path / "greet.py"
    own.write_text(GREET)
    script = "return await tools.greet.hello({ name: 'Ada' })"
    recording(here.path / "x.session.jsonl", script, root=here.path, packs=[str(own)], given=[str(own)])
    here.makepyprojecttoml("[tool.pytest.ini_options]\n")
    hint = 'in pyproject.toml below [tool.pytest.ini_options]: turnscript_packs = ["PATH"]'
    assert f"\nits pack greet is not known here; give its file or module, {hint}\nin x.session.jsonl\n" in told(run(here))
    (here.path / "turnscript.toml").write_text('profile = "ours"\n[profiles.ours]\npacks = ["./greet.py"]\n')
    run(here).assert_outcomes(passed=1)
    own.write_text(GREET.replace("-> str", "-> int"))
    result = run(here)
    result.assert_outcomes(passed=1)
    assert "\nx.session.jsonl: turn 1, line 1: greet.hello: the recorded value is not what the tool declares now: " in told(
        result
    )


def test_what_a_script_that_failed_has_shown_stands_below_a_red_test(here: pytest.Pytester) -> None:
    here.makepyfile(
        test_red="""
def test_inside(turnscript_session):
    with turnscript_session() as session:
        assert session.run("const a = null;\\nreturn a.b").ok

def test_after(turnscript_session):
    with turnscript_session() as session:
        outcome = session.run("const a = null;\\nreturn a.b")
    assert outcome.ok

def test_as_wanted(turnscript_session):
    with turnscript_session() as session:
        assert not session.run("throw new Error('x')").ok
"""
    )
    result = run(here, "--turnscript-record=once")
    result.assert_outcomes(failed=2, passed=1)
    assert told(result).count(" turn 1 failed, and the model is shown ") == 2
    assert told(result).count("\n  2 | return a.b\n") == 2
