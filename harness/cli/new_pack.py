"""`turnscript new-pack NAME`: a pack that works, with its tests, to change from there. Nothing is overwritten."""

import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from harness.cli.fault import Fault, faults_as_one_line
from harness.cli.session_options import AsJson, print_json

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@faults_as_one_line
def new_pack(
    name: Annotated[str, typer.Argument(help="What scripts will write after tools., such as weather.")],
    folder: Annotated[Path, typer.Option(help="Where the two files go.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Write a new pack and its tests, ready to run. Nothing is overwritten.

    Examples:

      turnscript new-pack weather

      turnscript new-pack weather --folder packs
    """
    if not _NAME.fullmatch(name):
        raise Fault(f"new-pack {name}: a pack's name is small letters, digits and _, a letter first; try {_near(name)}")
    module = name if name.endswith("_pack") else f"{name}_pack"
    words = {"name": name.removesuffix("_pack") or name, "module": module, "title": name.replace("_", " ").capitalize()}
    targets = {"pack.py.txt": folder / f"{module}.py", "test_pack.py.txt": folder / f"test_{module}.py"}
    for path in targets.values():
        if path.exists():
            raise Fault(f"{path} exists already; nothing was written. Choose another name, or --folder")
    folder.mkdir(parents=True, exist_ok=True)
    for template, path in targets.items():
        text = (files("harness.cli") / "templates" / template).read_text(encoding="utf-8")
        path.write_text(Template(text).substitute(words), encoding="utf-8")
    pack, test = targets.values()
    if as_json:
        print_json({"pack": words["name"], "file": str(pack), "test": str(test)})
        return
    call = f'(await tools.{words["name"]}.greet({{ name: "Ada" }})).text'
    typer.echo(f"wrote {pack} and {test}; try it:")
    typer.echo(f"  echo '{call}' | turnscript run - --pack {_as_path(pack)}")
    typer.echo(f"  turnscript tools --pack {_as_path(pack)} --format ts")
    typer.echo(f"  python -m pytest {test}")


def _near(name: str) -> str:
    """A name that passes and still looks like the one that was given."""
    plain = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    return plain if _NAME.fullmatch(plain) else f"my_{plain}" if plain else "weather"


def _as_path(path: Path) -> str:
    """With a slash in it, so that it is not taken for a module."""
    return str(path) if "/" in str(path) else f"./{path}"
