"""The pages say what is so: README blocks run, generated pages are fresh, links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import anyio
import pytest

from catalog import load_pack
from catalog.kit import faults
from harness import TurnOutcome, run_script
from harness.cli.limits import rows
from harness.cli.tools import as_markdown
from harness.config import read_settings
from harness.offers import offer_from

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


def test_the_readme_example_prints_what_it_says() -> None:
    (program,) = blocks(ROOT / "README.md", "python")
    expected = blocks(ROOT / "README.md", "text")[0]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stdout, done.stderr) == (expected, "")


def test_the_first_command_prints_what_the_readme_says() -> None:
    command, *expected = blocks(ROOT / "README.md", "console")[0].splitlines()
    arguments = shlex.split(command.partition("turnscript ")[2])
    assert arguments[:2] == ["run", "examples/tour.js"]
    run = [sys.executable, "-c", "from harness.cli import app; app()", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, timeout=60, env={**os.environ, "COLUMNS": "100"})
    told = done.stdout.replace(str(ROOT), "/home/you/turnscript")
    assert (done.returncode, done.stderr, _steady(told)) == (0, "", _steady("\n".join(expected)))


def _steady(text: str) -> list[str]:
    """Without what differs from run to run: times, and the bytes that hang on the length of a path."""
    return [
        re.sub(r"\d[\d,]*(\.\d+)?( %)?", "#", line) if re.search(r"Ran|│|within", line) else line for line in text.splitlines()
    ]


def test_the_error_in_the_readme_is_the_real_one() -> None:
    source = '// how warm is it?\nawait tools.weather.nwo({ city: "Oslo" })'
    outcome = anyio.run(lambda: run_script(source, packs=["./examples/weather_pack.py"]))
    assert outcome.error is not None
    assert outcome.error.text == blocks(ROOT / "README.md", "text")[1].rstrip()


PACKS = set((ROOT / "examples").glob("*_pack.py"))
PROGRAMS = [
    (page, index, program, told)
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for index, (program, told) in enumerate(
        re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page.read_text(), flags=re.DOTALL)
    )
]


@pytest.mark.parametrize(
    ("page", "index", "program", "told"), PROGRAMS, ids=[f"{page.stem}-{index}" for page, index, *_ in PROGRAMS]
)
def test_every_program_on_a_page_runs_and_prints_what_stands_below_it(page: Path, index: int, program: str, told: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stdout, done.stderr) == (told, "")


@pytest.mark.parametrize("example", sorted(set((ROOT / "examples").glob("*.py")) - PACKS), ids=lambda path: path.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "TURNSCRIPT_HOME": os.environ["TURNSCRIPT_HOME"]},
        timeout=60,
    )
    assert done.returncode == 0 and done.stdout and done.stderr == ""


def test_the_loop_on_the_page_about_turns_is_the_one_of_the_example() -> None:
    (told,) = blocks(ROOT / "docs" / "turn.md", "py")
    lines = [line.strip() for line in (ROOT / "examples" / "agent_loop.py").read_text().splitlines()]
    begin, end = lines.index("messages = ["), lines.index("print(reply)")
    without_prints = [line for line in lines[begin:end] if not line.startswith("print(")]
    assert [line.strip() for line in told.splitlines()] == without_prints
    assert len(lines) == 46  # as the page says


def test_the_page_about_turns_names_every_field_of_an_outcome() -> None:
    page = (ROOT / "docs" / "turn.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page.partition("A `TurnOutcome` has:")[2].partition("**Replay.**")[0], flags=re.MULTILINE)
    properties = {name for name, member in vars(TurnOutcome).items() if isinstance(member, property)}
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == {item.name for item in fields(TurnOutcome)} | properties


@pytest.mark.parametrize("example", sorted(PACKS), ids=lambda path: path.name)
def test_example_packs_are_sound_and_short(example: Path) -> None:
    assert faults(load_pack(str(example))) == []
    assert len(example.read_text().splitlines()) < 40


def test_the_settings_on_the_page_about_packs_are_read(tmp_path: Path) -> None:
    (told,) = blocks(ROOT / "docs" / "writing-a-pack.md", "toml")
    (tmp_path / "turnscript.toml").write_text(told)
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "weather.py").write_text((ROOT / "examples" / "weather_pack.py").read_text())
    offer = offer_from(read_settings(folder=tmp_path, environment={}).tools)
    assert {"fs.view", "search.grep", "weather.now"} <= set(offer.tools) and "files.image" in offer.refused


def test_the_page_of_tools_is_fresh() -> None:
    offer = offer_from(read_settings(folder=ROOT / "docs", environment={}, profile="all").tools)
    page = (ROOT / "docs" / "tools.md").read_text()
    assert page.partition("\n## ")[2] == as_markdown(offer, list(offer.tools.values())).partition("## ")[2], (
        "type: turnscript tools --profile all --format md, and put it under the first paragraph of docs/tools.md"
    )


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
