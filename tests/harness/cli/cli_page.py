"""The second half of docs/cli.md, from the command itself: every verb with its options.

`python -m tests.harness.cli.cli_page` writes it anew.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from harness.cli import app

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"
HEADING = "## Every verb\n"


def verbs(group: Any = None, path: str = "turnscript") -> Iterator[tuple[str, Any]]:
    """Each verb with the words to type before its options."""
    for name, command in (group or get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from verbs(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def reference() -> str:
    return "\n".join(part for path, command in verbs() for part in _verb(path, command))


def _verb(path: str, command: Any) -> Iterator[str]:
    words, _, examples = command.help.partition("Examples:")
    yield f"\n### `{path}`\n"
    yield "\n\n".join(" ".join(paragraph.split()) for paragraph in words.strip().split("\n\n")) + "\n"
    yield "```console\n" + "\n".join(f"$ {line.strip()}" for line in examples.split("\n") if line.strip()) + "\n```\n"
    rows = [row for parameter in command.params if (row := _row(parameter))]
    if rows:
        yield "| option | meaning |\n|---|---|"
        yield "\n".join(rows)


def _row(parameter: Any) -> str:
    told = getattr(parameter, "help", None) or ""
    if not told or parameter.name == "help":
        return ""
    is_option = parameter.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in (parameter.opts if is_option else [parameter.metavar or parameter.name]))
    default = parameter.default
    shown = isinstance(default, int | float | str) and not isinstance(default, bool) and default != ""
    meaning = told + (f" Default: {default}." if shown else "")
    return f"| {_cell(names)} | {_cell(meaning)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def written(page: str) -> str:
    return page.partition(HEADING)[0] + HEADING + reference() + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
