"""The pages say what is so: README blocks run, generated pages are fresh, links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.limits import rows

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


def test_the_readme_example_prints_what_it_says() -> None:
    (program,) = blocks(ROOT / "README.md", "python")
    expected = blocks(ROOT / "README.md", "text")[0]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stdout, done.stderr) == (expected, "")


def test_the_first_command_prints_what_the_readme_says() -> None:
    command, *expected = blocks(ROOT / "README.md", "console")[0].splitlines()
    assert command.endswith("turnscript run examples/hello.js")
    run = [sys.executable, "-c", "from harness.cli import app; app()", "run", "examples/hello.js"]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stderr + done.stdout).splitlines() == expected


def test_the_error_in_the_readme_is_the_real_one() -> None:
    from tests.sandbox.scripts import error

    assert (
        error("await tools.files.raed({ path: 'a' })", tools=("files.read",)).text
        == blocks(ROOT / "README.md", "text")[1].rstrip()
    )


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, timeout=60
    )
    assert done.returncode == 0 and done.stdout and done.stderr == ""


def test_the_page_of_limits_is_fresh() -> None:
    page = (ROOT / "docs" / "limits.md").read_text()
    assert [f"| `{name}` | {default} | {why} |" for name, default, why in rows()] == [
        row for row in page.splitlines() if row.startswith("| `")
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_refusals_named_on_the_page_are_the_ones_in_the_code() -> None:
    """docs/script.md lists every code a script may catch."""
    code = "".join((ROOT / "sandbox" / name).read_text() for name in ("mail.js", "rare.js", "asking.py"))
    raised = set(re.findall(r'problem\("([a-z_]+)"', code)) | set(re.findall(r'Problem\(\s*"([a-z_]+)"', code))
    page = (ROOT / "docs" / "script.md").read_text()
    assert raised == {name for name in raised if f"`{name}`" in page}
