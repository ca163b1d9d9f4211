"""--pack, where turnscript.toml connects servers and APIs: their packs are known by the names that it gives them."""

import json
import sys
from pathlib import Path

import pytest

from tests.harness.test_cli import turnscript

SERVER = """
from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("repo", log_level="ERROR")

@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def head() -> str:
    "The commit."
    return "c0ffee"

server.run()
"""
PETS = {
    "openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9/"}],
    "paths": {"/pets": {"get": {"operationId": "listPets", "responses": {"200": {"description": "All of them."}}}}},
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "turnscript.toml").write_text(
        f'store = "memory:"\n[openapi.pets]\ndocument = "pets.json"\n[mcp.repo]\ncommand = ["{sys.executable}", "server.py"]\n'
    )
    return tmp_path


def names(project: Path, *options: str) -> set[str]:
    done = turnscript("tools", "--format", "json-schema", *options, cwd=project)
    assert (done.stderr, done.returncode) == ("", 0)
    return {tool["name"] for tool in json.loads(done.stdout)}


def test_tools_lists_a_connected_pack_alone_and_connects_no_other(project: Path) -> None:
    (project / "server.py").unlink()
    assert names(project, "--pack", "pets") == {"pets.listPets"}


def test_tools_lists_connected_and_loaded_packs_side_by_side(project: Path) -> None:
    found = names(project, "--pack", "repo", "--pack", "pets", "--pack", "results")
    assert found > {"pets.listPets", "repo.head"} and {one.partition(".")[0] for one in found} == {"pets", "repo", "results"}


def test_run_takes_the_name_of_a_connected_pack(project: Path) -> None:
    done = turnscript("run", "-", "--pack", "repo", stdin="return (await tools.repo.head()).result", cwd=project)
    assert (done.stdout, done.stderr, done.returncode) == ("c0ffee\n", "", 0)


@pytest.mark.parametrize(
    "verb", [["tools"], ["run", "-"], ["chat", "hello", "--model", "small", "--url", "http://127.0.0.1:9/v1"], ["serve", "mcp"]]
)
def test_a_pack_that_is_nowhere_is_told_which_are_connected(project: Path, verb: list[str]) -> None:
    done = turnscript(*verb, "--pack", "pet", stdin="1", cwd=project)
    assert done.stderr.startswith("turnscript: there is no pack 'pet'; ")
    assert done.stderr.endswith("a file by its path: ./pet.py; turnscript.toml connects repo, pets\n")
    assert (done.stdout, done.returncode) == ("", 2)
