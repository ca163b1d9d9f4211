"""Failures of real tools, recorded, and what is shown of builds."""

from pathlib import Path

import pytest

from harness.condense import Flags
from harness.condense.failures import failures_of
from harness.condense.terminal import settled
from harness.limits import ShownLimits

from .making import numbered, shown

RECORDED = Path(__file__).parent / "recorded"
TOLD = {
    "pytest_failures": [
        "test_sample.py:7: test_bad: AssertionError: sum is wrong",
        "test_sample.py:3: test_zero: ZeroDivisionError: division by zero",
        "test_sample.py:3: T.test_e: ZeroDivisionError: division by zero",
        "test_sample.py:11: T.test_u: AssertionError: 1 != 2",
    ],
    "pytest_collection": ["test_coll.py:1: ERROR collecting test_coll.py: ModuleNotFoundError: No module named 'nothing_here'"],
    "unittest": [
        "/home/me/demo/test_sample.py:3: test_e (test_sample.T.test_e): ZeroDivisionError: division by zero",
        "/home/me/demo/test_sample.py:11: test_u (test_sample.T.test_u): AssertionError: 1 != 2",
    ],
    "cargo_test": ["src/lib.rs:6: tests::boom: no luck", "src/lib.rs:4: tests::adds: assertion `left == right` failed"],
    "cargo_build": ["src/lib.rs:8: mismatched types", "src/lib.rs:8: cannot find function `z` in this scope"],
    "go_test": ["add_test.go:9: TestAdd: Add(2, 2) = 0, want 4", "add_test.go:21: TestTable/negative: got -1, want 1"],
    "go_vet": ["./add.go:4: undefined: c", "./other.go:7: x declared and not used", "example.com/demo: [build failed]"],
    "jest": ["a.test.js:2: math › adds: expect(received).toBe(expected) // Object.is equality"],
    "vitest": ["b.spec.mjs:2: b.spec.mjs > math > adds: AssertionError: expected 2 to be 3 // Object.is equality"],
    "mocha": ["m.mocha.js:1: math: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:"],
    "node_test": ["/home/me/demo/t.test.js:2: adds: 2 !== 3"],
    "tsc": ["x.ts:1: TS2322: Type 'string' is not assignable to type 'number'.", "x.ts:2: TS2304: Cannot find name 'foo'."],
    "tsc_pretty": [
        "x.ts:1: TS2322: Type 'string' is not assignable to type 'number'.",
        "x.ts:2: TS2304: Cannot find name 'foo'.",
    ],
    "eslint": [
        "/home/me/demo/e.js:1: 'q' is assigned a value but never used  no-unused-vars",
        "/home/me/demo/e.js:1: 'zed' is not defined  no-undef",
    ],
    "mypy": [
        'm.py:3: Incompatible return value type (got "int", expected "str")  [return-value]',
        'm.py:4: Name "undefined_name" is not defined  [name-defined]',
    ],
    "ruff": [
        "m.py:1: I001 [*] Import block is un-sorted or un-formatted",
        "m.py:1: F401 [*] `os` imported but unused",
        "m.py:4: F821 Undefined name `undefined_name`",
    ],
    "ruff_concise": [
        "m.py:1: I001 [*] Import block is un-sorted or un-formatted",
        "m.py:1: F401 [*] `os` imported but unused",
        "m.py:4: F821 Undefined name `undefined_name`",
    ],
    "gcc_missing_header": ["a.c:2: nope.h: No such file or directory"],
    "gcc_errors": ["b.c:2: ‘y’ undeclared (first use in this function)"],
    "linker": ["undefined reference to `foo'"],
    "make": ["b.c:2: ‘y’ undeclared (first use in this function)", "[Makefile:3: b.o] Error 1"],
    "javac": ["jv/A.java:1: incompatible types: String cannot be converted to int", "jv/A.java:1: cannot find symbol"],
    "maven": [
        "/home/me/demo/src/main/java/demo/App.java:7: cannot find symbol",
        "AppTest.adds:14: expected:<4> but was:<0>",
        "Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project demo: "
        "There are test failures.",
    ],
    "gradle": [
        ":compileKotlin: FAILED",
        "/home/me/demo/src/main/kotlin/App.kt:5: Unresolved reference: foo",
        "AppTest.java:12: AppTest > adds(): org.opentest4j.AssertionFailedError: expected: <4> but was: <0>",
        "Execution failed for task ':test'.",
    ],
}


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", TOLD)
def test_each_failure_is_told_with_its_place_and_its_reason(name: str) -> None:
    assert [str(failure) for failure in failures_of(settled(recorded(name)).split("\n"))] == TOLD[name]


def test_every_recording_is_told() -> None:
    assert {path.stem for path in RECORDED.glob("*.txt")} == set(TOLD) | {"npm", "maven_no_project"}
    assert str(failures_of(recorded("npm").split("\n"))[0]) == "code ENOENT"
    assert str(failures_of(settled(recorded("maven_no_project")).split("\n"))[0]).startswith(
        "The goal you specified requires a project"
    )


def test_a_failed_run_that_does_not_fit_has_its_failures_first_and_then_its_end() -> None:
    text = recorded("pytest_failures") + numbered(300)
    lines = shown(text, "build", exit_code=1).text.split("\n")
    assert lines[:6] == ["exit code 1", "4 failures:", *TOLD["pytest_failures"]]
    assert lines[6].startswith("[lines 1-") and lines[7:] == numbered(300).split("\n")[-120:]


def test_a_digest_has_at_most_its_lines_and_counts_all() -> None:
    text = "".join(f"src/a{at}.c:{at}:1: error: bad\n" for at in range(1, 40)) + numbered(300)
    lines = shown(text, "build", exit_code=2).text.split("\n")
    assert lines[1] == "39 failures, the first 9:" and lines[10] == "src/a9.c:9: bad" and lines[11].startswith("[lines")


def test_a_failed_run_that_fits_is_whole_without_a_digest() -> None:
    condensed = shown(recorded("cargo_build"), "build", exit_code=101)
    assert condensed.whole and condensed.text.startswith("exit code 101\n   Compiling demo")


def test_of_a_run_that_went_well_the_summaries_and_a_short_end_stay() -> None:
    text = "\n".join(["running 3 tests", "test result: ok. 3 passed", numbered(400), "Finished"])
    condensed = shown(text, "build", exit_code=0)
    assert "test result: ok. 3 passed" in condensed.text and condensed.text.endswith("\nFinished")
    assert len(condensed.text.encode()) <= 2_048


def test_without_build_tail_a_build_is_an_output() -> None:
    text = numbered(1_000)
    plain = shown(text, "build", exit_code=0, flags=Flags(build_tail=False))
    assert plain.text == shown(text, "output", exit_code=0).text
    assert len(plain.text.encode()) > ShownLimits().output_bytes // 2


def test_a_hostile_output_has_bounded_candidates() -> None:
    text = ["error: x", "___ a ___", "● b", "not ok 1 - c", "  1:2  error  d"] * 20_000
    assert len(failures_of(text)) < 2_000
