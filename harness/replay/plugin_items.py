"""A recording as a test: one item a file, played on the stage that all share. A red one shows what differs, and no traceback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.replay.batch import WRONG, play_file
from harness.replay.plugin_stage import SHARED, by_command
from harness.replay.plugin_told import REMARK, UNVERIFIED, Differs, below, text_of
from harness.replay.worse import WentWorse
from harness.visible import visible


class SessionFile(pytest.File):
    def collect(self) -> Iterator["SessionItem"]:
        yield SessionItem.from_parent(self, name=self.path.name)


class SessionItem(pytest.Item):
    def runtest(self) -> None:
        shared = self.config.stash[SHARED]
        mode, live = shared.options.mode, shared.options.verify
        replayed, written = shared.call(lambda stage: play_file(self.path, stage, mode=mode, live=live))
        self.user_properties += [
            (UNVERIFIED, f'{one.text}; allow it in turnscript.toml: allow = ["{one.tool}"]') for one in replayed.unverified
        ]
        self.user_properties += [(REMARK, text) for text in replayed.remarks]
        if replayed.differences and not written:
            raise Differs(text_of(replayed.differences, nodeid=self.nodeid.partition("::")[0]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        error = excinfo.value
        if isinstance(error, Differs):
            return str(error)
        return visible(self._what_is_wrong(error)) if isinstance(error, WRONG) else super().repr_failure(excinfo)

    def _what_is_wrong(self, error: BaseException) -> str:
        """It comes first, since a summary shows only the beginning; then the file, as seen from the root folder."""
        options = self.config.stash[SHARED].options
        file = below(str(self.path), options.folder)
        text = below(str(error), options.folder).removeprefix(file).lstrip(":, ")
        if isinstance(error, WentWorse):
            return f"{text}\nif that is meant: {by_command(options, file)} --force"
        return text if file in text else f"{text}\nin {file}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name
