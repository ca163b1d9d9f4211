"""The structure of the repository, enforced: who may import whom, and what only one file may do."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("sandbox", "catalog", "tool_packs", "harness")
MAY_IMPORT = {
    "sandbox": set(),
    "catalog": set(),
    "tool_packs": {"catalog"},
    "harness": {"sandbox", "catalog"},
}
TOP_LEVEL = {
    "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "harness", "tool_packs", "sandbox", "catalog", "tests",
    "docs", "examples", "benchmarks", ".ci", ".git", ".gitignore",
}  # fmt: skip


def files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_follow_the_arrows(package: str) -> None:
    allowed = MAY_IMPORT[package] | {package}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files(package)
        for name in imported(path)
        if name.split(".")[0] in {*PACKAGES, "tests", "benchmarks"} - allowed
    ]
    assert wrong == []


def only(package: str, *owners: str) -> list[Path]:
    return [path for path in files(package) if str(path.relative_to(ROOT)) not in owners]


def using(paths: list[Path], *words: str) -> list[str]:
    return [f"{path.relative_to(ROOT)}: {word}" for path in paths for word in words if word in path.read_text()]


OWNERS = [
    ("QuickJS", ["import _quickjs", "import quickjs"], ["sandbox/engine.py"], PACKAGES),
    ("the environment", ["os.environ", "getenv"], ["harness/config.py", "sandbox/lockdown.py"], PACKAGES),
    ("except Exception", ["except Exception"], ["harness/dispatch.py"], PACKAGES),
    ("a tool's function", ["toolbox.call(", ".function("], ["harness/dispatch.py"], ("harness",)),
    (
        "entries of a session",
        ["riter.append("],  # of a writer, whatever it is called
        ["harness/record.py", "harness/rollouts/importing.py"],
        ("harness",),
    ),
    ("a sandbox's worker", [".send(start", "box.send("], ["harness/turn.py", "harness/checkup.py"], ("harness", "tool_packs")),
]


@pytest.mark.parametrize(("what", "words", "owners", "packages"), OWNERS, ids=[row[0] for row in OWNERS])
def test_only_one_file_each(what: str, words: list[str], owners: list[str], packages: tuple[str, ...]) -> None:
    assert using([path for package in packages for path in only(package, *owners)], *words) == []


def test_only_the_command_line_prints() -> None:
    def prints(path: Path) -> bool:
        calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        return any(isinstance(called, ast.Name) and called.id == "print" for called in calls)

    assert [str(path) for package in PACKAGES for path in files(package) if "cli" not in path.parts and prints(path)] == []


def test_no_import_is_hidden_in_a_function_but_the_listed_ones() -> None:
    allowed = {
        "sandbox/values.py",  # json, on a road that almost no value takes
        "sandbox/__init__.py",  # Machine and
        "sandbox/pool.py",  # LocalSandbox: they bring the engine into the host's process, and a third to its start
    }
    hidden = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in files(package)
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert hidden <= allowed


def test_every_module_opens_by_saying_what_lives_there() -> None:
    silent = [str(path) for package in PACKAGES for path in files(package) if not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_files_stay_small_enough_to_read() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {n}"
        for package in PACKAGES
        for path in files(package)
        if (n := path.read_text().count("\n")) > 360
    ]
    assert long == []


def test_the_prelude_leaves_line_numbers_above_a_thousand_to_the_script() -> None:
    for path in (ROOT / "sandbox").glob("*.js"):
        assert path.read_text().count("\n") < 1000, path


def test_the_prelude_holds_no_template_literal() -> None:
    """The engine makes String.prototype.concat calls of them, which a script may have replaced."""
    for name in ("prelude.js", "mail.js", "rare.js", "inspect.js"):
        code = [line.partition("//")[0] for line in (ROOT / "sandbox" / name).read_text().splitlines()]
        assert not any("${" in line for line in code), name


def test_the_top_level_is_fixed() -> None:
    tracked = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") or path.name in TOP_LEVEL}
    assert tracked - TOP_LEVEL - {"turnscript.egg-info", "dist", "build"} == set()


def test_no_file_of_the_zygote_imports_the_hosts_half() -> None:
    """What a zygote loads is paid for at every cold start, and stands inside the walls."""
    inside = {
        "zygote",
        "zygote_record",
        "worker",
        "engine",
        "source",
        "typescript",
        "outline",
        "scopes",
        "fates",
        "literals",
        "positions",
        "lockdown",
        "wire",
    }
    heavy = {"anyio", "orjson", "dataclasses", "subprocess", "asyncio", "json", "pathlib", "inspect", "typing"}
    for name in inside:
        names = set(imported(ROOT / "sandbox" / f"{name}.py"))
        assert not {top.split(".")[0] for top in names} & heavy, name
        assert {top.split(".")[1] for top in names if top.startswith("sandbox.")} <= inside, name
