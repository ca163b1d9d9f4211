"""The pytest plugin `turnscript`: recordings are collected as tests, and a test can record its own session.

Options, collection, the fixture; what they do is in `plugin_items.py` and `plugin_session.py`. In mode none, the default, nothing
is written and no tool runs. pytest itself is not needed by anything else here.
"""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from harness.replay.keeping import MODES
from harness.replay.plugin_files import SessionsOfTest
from harness.replay.plugin_items import SessionFile
from harness.replay.plugin_session import SessionOfTest
from harness.replay.plugin_stage import SHARED, SharedStage, options_of
from harness.replay.plugin_told import FAILED_TURNS, PASSED, REMARK, UNVERIFIED
from harness.replay.recorded import SUFFIX, belongs_to_a_test
from harness.visible import visible


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turnscript", "recorded sessions")
    group.addoption(
        "--turnscript-record", choices=MODES, default=None,
        help="none: play recordings, write nothing (default); once: record what has no file yet; new: also run calls that are "
        "not on record; all: record everything again.",
    )  # fmt: skip
    group.addoption(
        "--turnscript-verify", action="store_true", help="Run the tools too, and compare what they give now with the recordings."
    )
    parser.addini("turnscript_record", "The mode where --turnscript-record does not say it.", default="none")
    parser.addini("turnscript_packs", "Packs of recordings besides those known by name: paths or modules.", type="linelist")
    parser.addini("turnscript_root", "The folder that live tools work in. Default: the root folder of the tests.", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SHARED] = SharedStage(options_of(config))


def pytest_unconfigure(config: pytest.Config) -> None:
    shared = config.stash.get(SHARED, None)
    if shared is not None:
        shared.close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(SUFFIX):
        return None
    if belongs_to_a_test(file_path) and not parent.session.isinitpath(file_path):
        return None  # that test plays it
    return SessionFile.from_parent(parent, path=file_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
        if report.failed:
            for turn, text in item.stash.get(FAILED_TURNS, ()):
                report.sections.append((f"turn {turn} failed, and the model is shown", text))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What a verification could not look at is said, and what else a person may want to know, though it fails nothing."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    for kind, title in ((UNVERIFIED, "not verified"), (REMARK, "remarks on recordings")):
        told = [(report.nodeid, text) for report in reports for name, text in report.user_properties if name == kind]
        if told:
            terminalreporter.section(title)
            for nodeid, text in told:
                terminalreporter.write_line(f"{nodeid.rpartition('::')[2]}: {visible(text)}")


@pytest.fixture
def turnscript_session(request: pytest.FixtureRequest) -> Generator[Callable[..., SessionOfTest], None, None]:
    """Call it for a session: `async with turnscript_session(packs=["files"], root=tmp_path) as session`, or without async.

    With --turnscript-record=once tools run, and when the test passes, sessions/<test file>/<test>.session.jsonl is written beside
    it; afterwards the recorded outcomes are served, and what differs fails the test.
    """
    sessions = SessionsOfTest(request.node, request.config.stash[SHARED])
    yield sessions.session
    if request.node.stash.get(PASSED, False):
        sessions.write()
