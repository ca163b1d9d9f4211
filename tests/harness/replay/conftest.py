"""A folder with tests of its own, for the tests of the plugin."""

import pytest

from tests.harness.replay.pytest_runs import ROOT


@pytest.fixture
def here(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    monkeypatch.delenv("CI", raising=False)  # pytest tells a failure twice there, in its summary too
    monkeypatch.delenv("BUILD_NUMBER", raising=False)
    return pytester
