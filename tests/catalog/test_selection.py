"""Which tools are on offer: patterns, exclusions, new names, and what is refused with which reason."""

import pytest

from catalog import BadPack, Pack, choose, pack, tool


@tool(effect="pure")
async def read(path: str) -> str:
    """Read."""
    return path


@tool(effect="pure")
async def write(path: str) -> str:
    """Write."""
    return path


@tool(effect="pure")
async def grep(pattern: str) -> str:
    """Grep."""
    return pattern


FILES, SEARCH = pack("files", [read, write]), pack("search", [grep])


def test_everything_is_on_offer_unless_told_otherwise() -> None:
    offer = choose([FILES, SEARCH])
    assert list(offer.tools) == ["files.read", "files.write", "search.grep"] and offer.refused == {}
    assert [made.name for made in offer.packs] == ["files", "search"]


@pytest.mark.parametrize(
    ("tools", "without", "names"),
    [
        (["files.*"], [], ["files.read", "files.write"]),
        (["files"], [], ["files.read", "files.write"]),
        (["*.read", "search.grep"], [], ["files.read", "search.grep"]),
        (None, ["files.write"], ["files.read", "search.grep"]),
        (["files"], ["*.write"], ["files.read"]),
        ([], [], []),
    ],
)
def test_patterns_choose_and_exclude(tools: list[str] | None, without: list[str], names: list[str]) -> None:
    assert list(choose([FILES, SEARCH], tools=tools, without=without).tools) == names


def test_what_is_not_on_offer_is_kept_with_the_reason() -> None:
    offer = choose([FILES, SEARCH], without=["files.write"], profile="read-only")
    assert offer.refused == {"files.write": "files.write exists, but profile read-only does not offer it"}


def test_tools_and_packs_can_be_renamed_and_the_old_name_says_so() -> None:
    offer = choose([FILES, SEARCH], rename={"files.read": "fs.view", "search": "find"})
    assert list(offer.tools) == ["fs.view", "files.write", "find.grep"]
    assert offer.homes["fs.view"] is FILES  # the resource still comes from where it came
    assert offer.refused == {
        "files.read": "files.read is called fs.view here",
        "search.grep": "search.grep is called find.grep here",
    }


TWO: list[tuple[list[Pack], dict[str, object], str]] = [
    ([FILES], {"tools": ["file.read"]}, "no tool fits 'file.read'; did you mean files.read?"),
    ([FILES], {"tools": ["file.*"]}, "no tool fits 'file.*'; did you mean files?"),
    ([FILES], {"tools": ["files.reed"], "profile": "mine"}, "profile mine: no tool fits 'files.reed'; did you mean files.read?"),
    (
        [FILES, SEARCH],
        {"tools": ["patch.apply"], "profile": "mine"},
        "profile mine: no tool fits 'patch.apply' of its tools, since patch is not among its packs (files, search); "
        "add patch to packs, or set tools too: a profile that extends another takes over the tools of that one",
    ),
    ([FILES], {"without": ["zzz"]}, "no tool fits 'zzz'; there are: files.read, files.write"),
    ([FILES], {"rename": {"files.read": "view"}}, "rename 'files.read' to 'view': a tool's name is <pack>.<tool>"),
    ([FILES], {"rename": {"files.read": "files.write"}}, "two tools would be called files.write; rename one of them"),
    ([FILES, pack("files", [grep])], {}, "two packs are called files (code and code); rename one of them"),
]


@pytest.mark.parametrize(("packs", "chosen", "told"), TWO)
def test_nothing_is_ignored(packs: list[Pack], chosen: dict[str, object], told: str) -> None:
    with pytest.raises(BadPack) as caught:
        choose(packs, **chosen)  # type: ignore[arg-type]
    assert str(caught.value) == told


def test_a_pack_says_what_is_wrong_with_its_names() -> None:
    with pytest.raises(BadPack, match="the name must be an identifier"):
        pack("my-pack", [read])
    with pytest.raises(BadPack, match="pack x: read is there more than once; rename one"):
        pack("x", [read, read])
