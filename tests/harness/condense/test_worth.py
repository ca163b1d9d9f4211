"""Of files that nobody here wrote less is shown; of the project's own as much as the caps allow."""

import pytest

from harness.condense.page import Caps
from harness.condense.worth import caps_for

from .making import numbered, shown

CAPS = Caps(160, 8_192)


def caps(path: str, lines: int, *, width: int = 30) -> Caps:
    return caps_for(CAPS, path, ["x" * width] * lines, (width + 1) * lines)


@pytest.mark.parametrize("path", ["src/a.py", "README.md", "docs/skills.md", "src/vendored.py", "lock.py"])
def test_files_of_the_project_have_the_whole_cap(path: str) -> None:
    assert caps(path, 400) == CAPS


@pytest.mark.parametrize(
    "path", ["node_modules/x/index.js", "/home/me/.agents/skills/x/SKILL.md", "LICENSE", "a/site-packages/x.py", "vendor/x/y.go"]
)
def test_of_what_others_wrote_one_half_is_shown_unless_a_narrow_range_was_asked_for(path: str) -> None:
    assert caps(path, 400) == Caps(80, 4_096)
    assert caps(path, 80) == CAPS


@pytest.mark.parametrize("path", ["bun.lock", "web/package-lock.json", "go.sum", "dist/app.min.js", "data.csv"])
def test_of_what_programs_wrote_one_quarter_is_shown(path: str) -> None:
    assert caps(path, 400) == Caps(80, 2_048)


def test_text_that_no_person_wrote_is_told_by_its_lines() -> None:
    assert caps("src/data.ts", 10, width=5_000) == Caps(80, 2_048)


def test_a_long_instruction_of_others_has_its_begin_and_says_what_is_missing() -> None:
    value = {"path": "/home/me/skills/x/SKILL.md", "lines": [[1, 300]], "total_lines": 300, "text": numbered(300, width=40)}
    text = shown(value, "slice").text
    assert "line 1 " in text and "cut" in text and len(text.encode()) <= 4_096
    assert not shown({**value, "path": "docs/x.md"}, "slice").text.endswith(text[-100:])
