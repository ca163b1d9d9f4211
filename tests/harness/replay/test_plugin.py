"""The pytest plugin, in pytest processes of its own: recordings as tests, tests that record, one file a test, readable failures."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness.replay.plugin_files import file_name
from tests.harness.replay.making import edit, furnish, recording
from tests.harness.replay.pytest_runs import ROOT, files, run, told

pytest_plugins = ["pytester"]

SESSIONS = ROOT / "tests" / "sessions"

ORDERS = """
import pytest

@pytest.mark.anyio
@pytest.mark.parametrize("name", ["b/c d"])
async def test_orders(turnscript_session, tmp_path, name, anyio_backend):
    (tmp_path / "a.txt").write_text("hello\\n")
    async with turnscript_session(packs=["files"], root=tmp_path) as session:
        outcome = await session.run("return (await tools.files.read({ path: 'a.txt' })).text")
        assert outcome.value == "hello"
        outcome = await session.run(f"return (await tools.files.stat({{ path: '{tmp_path}/a.txt' }})).path")
        assert outcome.value.endswith("a.txt")


class TestPlain:
    def test_without_async(self, turnscript_session, tmp_path):
        async def add(a: int, b: int) -> int:
            CALLS.append((a, b))
            return a + b

        with turnscript_session(tools={"my.add": add}, root=tmp_path) as session:
            session.message("user", "add")
            outcome = session.run("return await tools.my.add({ a: 1, b: NUMBER })")
            assert outcome.ok
            session.forget([1])
            session.run_reply("<tool-calls>\\nstore('x', 1)\\n</tool-calls>")
            session.run("return load('x')")
        (tmp_path / "calls").write_text(repr(CALLS))

CALLS = []
"""


def test_the_package_says_where_its_plugin_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"turnscript": "harness.replay.plugin"}


def test_pytest_is_not_needed_for_anything_but_the_plugin() -> None:
    code = "import sys, harness, harness.cli; print(sorted(name for name in sys.modules if name.split('.')[0] in ('pytest', '_pytest')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_our_own_recordings_play_wherever_they_are_copied(here: pytest.Pytester) -> None:
    folder = here.mkdir("a place with blanks")
    for path in SESSIONS.glob("*.session.jsonl"):
        (folder / path.name).write_bytes(path.read_bytes())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(here, folder)
    result.assert_outcomes(passed=len(before))
    assert len(before) >= 11 and {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_red_recording_shows_what_differs_and_no_traceback(here: pytest.Pytester, tmp_path: Path) -> None:
    root = furnish(here.path / "root")
    path = recording(here.path / "read.session.jsonl", "return (await tools.files.read({ path: 'a.txt' })).text", root=root)
    edit(path, "path: 'a.txt'", "path: 'b.txt'")
    (here.path / "torn.session.jsonl").write_text('{"v": 1, "seq"')
    result = run(here)
    result.assert_outcomes(failed=2)
    text = told(result)
    rest = '"offset": 1, "limit": 2000, "levels": 1, "header": true'
    assert (
        f"""
turn 1, line 1: files.read is called with other arguments than on record
    path: recorded "a.txt"
          now      "b.txt"
  1 | return (await tools.files.read({{ path: 'b.txt' }})).text
    |               ^
  nearest on record: T1 call 1, line 1, files.read({{"path": "a.txt", {rest}}}), which returned 241 bytes
record again: pytest 'read.session.jsonl' --turnscript-record=all
"""
        in text
    )
    assert "\nline 1: not a whole JSON object\nin torn.session.jsonl\n" in text and "Traceback" not in text
    assert str(here.path) not in text.partition("FAILURES")[2]
    assert "FAILED torn.session.jsonl::torn.session.jsonl - line 1: not a whole JSON obj" in text

    result = run(here, "--turnscript-record=new", "read.session.jsonl", "-o", "turnscript_root=root")
    result.assert_outcomes(passed=1)
    run(here, "read.session.jsonl").assert_outcomes(passed=1)


def test_a_test_records_once_and_is_played_from_then_on(here: pytest.Pytester) -> None:
    here.makepyfile(test_shop=ORDERS.replace("NUMBER", "2"))
    result = run(here)
    result.assert_outcomes(failed=3)
    assert (
        "there is no recording sessions/test_shop/TestPlain.test_without_async.session.jsonl\n"
        "record it: pytest 'test_shop.py::TestPlain::test_without_async' --turnscript-record=once\n"
    ) in told(result)
    assert files(here) == [] and "Traceback" not in told(result)

    run(here, "--turnscript-record=once", "-n", "2").assert_outcomes(passed=3)
    names = files(here)
    assert len(names) == 3 and names[0] == "sessions/test_shop/TestPlain.test_without_async.session.jsonl"
    assert all(str(here.path) not in (here.path / name).read_text() for name in names)
    before = [(here.path / name).read_bytes() for name in names]

    run(here).assert_outcomes(passed=3)  # their files are not collected a second time
    run(here, "--turnscript-record=new").assert_outcomes(passed=3)
    assert [(here.path / name).read_bytes() for name in names] == before

    shown = here.path / next(name for name in names if "asyncio" in name)  # a path of this machine stands in it
    lines = shown.read_text().splitlines(keepends=True)
    shown.write_text("".join(line.replace('"hello"', '"hallo"') if '"type":"ended"' in line else line for line in lines))
    here.makepyfile(test_shop=ORDERS.replace("NUMBER", "3"))
    result = run(here, "-k", "Plain or asyncio")
    result.assert_outcomes(failed=2)
    assert (
        "turn 1: the model is shown something else\n    --- recorded\n    +++ now\n    @@ -1 +1 @@\n    -hallo\n    +hello\n"
        in told(result)
    )
    assert """
turn 1: the script is not the recorded one
    --- recorded
    +++ now
    @@ -1 +1 @@
    -return await tools.my.add({ a: 1, b: 2 })
    +return await tools.my.add({ a: 1, b: 3 })
turn 1, line 1: my.add is called with other arguments than on record
    b: recorded 2
       now      3
  1 | return await tools.my.add({ a: 1, b: 3 })
    |              ^
  nearest on record: T1 call 1, line 1, my.add({"a": 1, "b": 2}), which returned 1 byte
record again: pytest 'test_shop.py::TestPlain::test_without_async' --turnscript-record=all
""" in told(result).replace("E           ", "").replace("E   ", "")
    run(here, "-k", "Plain", "--turnscript-record=new").assert_outcomes(passed=1)
    run(here, "-k", "Plain").assert_outcomes(passed=1)


def test_turns_too_many_and_too_few_fail_the_test(here: pytest.Pytester) -> None:
    source = """
def test_turns(turnscript_session):
    with turnscript_session() as session:
        for n in range(TIMES):
            session.run("return 1")
"""
    here.makepyfile(test_turns=source.replace("TIMES", "2"))
    run(here, "--turnscript-record=once").assert_outcomes(passed=1)
    here.makepyfile(test_turns=source.replace("TIMES", "1"))
    assert (
        "\nturn 2 is on record, and the test does not run it now: return 1\nrecord again: pytest 'test_turns.py::test_turns'"
        in told(run(here))
    )
    here.makepyfile(test_turns=source.replace("TIMES", "3"))
    assert "\nturn 3: the test runs a turn that is not on record\nrecord again: pytest 'test_turns.py::test_turns'" in told(
        run(here)
    )


def test_nothing_is_written_when_the_test_fails(here: pytest.Pytester) -> None:
    here.makepyfile(
        test_red="""
def test_inside(turnscript_session):
    with turnscript_session() as session:
        assert session.run("return 1").value == 2


def test_after(turnscript_session):
    with turnscript_session() as session:
        outcome = session.run("return 1")
    assert outcome.value == 2


def test_two_sessions(turnscript_session):
    with turnscript_session() as session:
        assert session.run("return 1").value == 1
    with turnscript_session() as session:
        assert session.run("return 2").value == 2
"""
    )
    run(here, "--turnscript-record=all").assert_outcomes(failed=2, passed=1)
    assert files(here) == [
        "sessions/test_red/test_two_sessions-2.session.jsonl", "sessions/test_red/test_two_sessions.session.jsonl"
    ]  # fmt: skip
    run(here, "-k", "two").assert_outcomes(passed=1)


def test_settings_come_from_the_ini_file_and_a_bad_mode_is_named(here: pytest.Pytester) -> None:
    here.makefile(
        ".py",
        greet='"""Greets."""\nfrom catalog import tool\nPACK = "greet"\n\n@tool(volatile=["at"])\nasync def hello(name: str) -> dict[str, str]:\n    """Say hello."""\n    return {"text": f"hello {name}", "at": __import__("uuid").uuid4().hex}\n',
    )
    own = str(here.path / "greet.py")
    recording(
        here.path / "x.session.jsonl",
        "return (await tools.greet.hello({ name: 'Ada' })).text",
        root=here.path,
        packs=[own],
        given=[own],
    )
    assert (
        "\nits pack greet is not known here; give its file or module, in pytest.ini below [pytest]: turnscript_packs = PATH\n"
        "in x.session.jsonl\n" in told(run(here))
    )
    here.makeini("[pytest]\nturnscript_packs = ./greet.py\n")
    run(here).assert_outcomes(passed=1)
    run(here, "--turnscript-verify").assert_outcomes(passed=1)
    (here.path / "greet.py").write_text((here.path / "greet.py").read_text().replace("hello {name}", "good day {name}"))
    result = run(here, "--turnscript-verify")
    result.assert_outcomes(failed=1)
    assert '    text: recorded "hello Ada"\n          now      "good day Ada"\n' in told(result)
    here.makeini("[pytest]\nturnscript_record = sometimes\n")
    result = run(here)
    assert "turnscript_record = sometimes: choose none, once, new, all" in "\n".join(result.errlines)


def test_names_of_tests_become_names_of_files() -> None:
    assert file_name("TestX.test_a[1-b]") == "TestX.test_a[1-b]"
    alike = [file_name(test) for test in ("test_a[b_c_d]", "test_a[b/c d]", "test_a[b/c_d]", "test_a[ü]", "test_a[ö]")]
    assert [name.partition("-")[0] for name in alike] == ["test_a[b_c_d]"] * 3 + ["test_a[_]"] * 2 and len(set(alike)) == 5
    assert len(file_name("test_" + "a" * 999)) < 120
