"""pytest in a process of its own, with the plugin."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent.parent
INSTALLED = any(point.value == "harness.replay.plugin" for point in entry_points(group="pytest11"))


def run(pytester: pytest.Pytester, *arguments: str | Path) -> pytest.RunResult:
    plugin = () if INSTALLED else ("-p", "harness.replay.plugin")
    without = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")  # the latter comes with LangChain, and takes half a second
    return pytester.runpytest_subprocess("-W", "error", *without, *plugin, *arguments)


def told(result: pytest.RunResult) -> str:
    return "\n".join(result.outlines)


def files(pytester: pytest.Pytester) -> list[str]:
    return sorted(str(path.relative_to(pytester.path)) for path in pytester.path.rglob("*.session.jsonl"))
