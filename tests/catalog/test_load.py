"""From a name to a pack: shipped, installed as an entry point, dotted, by path; and what a bad one gets."""

import sys
from pathlib import Path

import pytest

from catalog import BadPack, Host, load_pack
from catalog.load import SHIPPED, known_packs
from catalog.selection import PROFILES

GOOD = '''"""Weather."""
from pydantic import BaseModel
from catalog import tool
class Reading(BaseModel):
    inner: "Reading | None" = None
@tool(effect="pure")
async def now(city: str) -> Reading:
    """Say it."""
    return Reading()
'''


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_pack_loads_by_its_name(name: str) -> None:
    made = load_pack(name)
    assert made.name == name and made.tools and made.doc


def test_every_profile_names_packs_that_exist() -> None:
    assert {name for profile in PROFILES.values() for name in profile.packs or ()} <= set(SHIPPED)


def test_a_file_is_a_pack_named_like_itself(tmp_path: Path) -> None:
    (tmp_path / "weather_pack.py").write_text(GOOD)
    assert [tool.full_name for tool in load_pack("./weather_pack.py", folder=tmp_path).tools] == ["weather.now"]
    (tmp_path / "other.py").write_text(GOOD + 'PACK = "sky"\n')
    assert load_pack(str(tmp_path / "other.py")).name == "sky"


def test_a_dotted_module_is_a_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_tools").mkdir()
    (tmp_path / "acme_tools" / "__init__.py").touch()
    (tmp_path / "acme_tools" / "weather.py").write_text(GOOD)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_pack("acme_tools.weather").name == "weather"


def test_an_installed_package_offers_packs_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_weather.py").write_text(GOOD)
    info = tmp_path / "acme_weather-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-weather\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[turnscript.packs]\nsky = acme_weather\nbroken = acme_nowhere\nodd = acme_weather:now\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert known_packs()["sky"] == "acme_weather"
    assert [tool.full_name for tool in load_pack("sky").tools] == ["sky.now"]
    with pytest.raises(BadPack, match=r"pack broken \(entry point acme_nowhere\): No module named 'acme_nowhere'"):
        load_pack("broken")
    with pytest.raises(BadPack, match="not a module and not a Pack"):
        load_pack("odd")


BAD = [
    ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    ("def f(:\n", "SyntaxError: invalid syntax"),
    ('"""Nothing."""\n', "no function is marked with @tool(…)"),
    ("from catalog import tool\n@tool(effect='read')\nasync def f() -> int:\n    'F.'\n", "effect='read': choose one of"),
    ("from catalog import tool\nasync def open(settings):\n    pass\n@tool()\nasync def f() -> int:\n    'F.'\n", "open(…) must say what it returns"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BAD)
def test_a_bad_file_is_told_in_one_line_and_leaves_nothing_behind(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    before = set(sys.modules)
    with pytest.raises(BadPack) as caught:
        load_pack("./bad.py", folder=tmp_path)
    assert told in str(caught.value) and "\n" not in str(caught.value)
    assert {name for name in set(sys.modules) - before if "bad" in name} <= {"turnscript_pack_bad"}


def test_an_unknown_name_is_told_the_nearest_one() -> None:
    with pytest.raises(BadPack) as caught:
        load_pack("fiels")
    assert str(caught.value).startswith("there is no pack 'fiels'; did you mean files?")
    with pytest.raises(BadPack, match=r"there is no such file; give the path of a pack's module"):
        load_pack("./nowhere.py")


SETTINGS = '''"""With settings."""
from pydantic import BaseModel
from catalog import Host, tool
class Settings(BaseModel, frozen=True, extra="forbid"):
    size: int = 3
class Thing:
    def __init__(self, size: int, host: Host) -> None:
        self.size, self.host, self.closed = size, host, False
    async def aclose(self) -> None:
        self.closed = True
async def open(settings: Settings, host: Host) -> Thing:
    return Thing(settings.size, host)
@tool(effect="pure")
async def size(thing: Thing) -> int:
    """Say the size."""
    return thing.size
'''


@pytest.mark.anyio
async def test_settings_are_read_into_the_packs_own_record_and_the_resource_is_closed(tmp_path: Path) -> None:
    (tmp_path / "sized.py").write_text(SETTINGS)
    made = load_pack("./sized.py", folder=tmp_path)
    async with made.opened({"size": 5}, Host(root=tmp_path)) as thing:
        assert (thing.size, thing.host.root, thing.closed) == (5, tmp_path, False)
    assert thing.closed
    for told, text in (
        ({"size": "big"}, "pack sized: size: Input should be a valid integer"),
        ({"sise": 1}, "pack sized: sise: Extra inputs"),
    ):
        with pytest.raises(BadPack) as caught:
            async with made.opened(told, Host(root=tmp_path)):
                raise AssertionError
        assert str(caught.value).startswith(text)


@pytest.mark.anyio
async def test_a_pack_without_settings_refuses_them(tmp_path: Path) -> None:
    (tmp_path / "weather.py").write_text(GOOD)
    with pytest.raises(BadPack, match="pack weather takes no settings; remove size"):
        async with load_pack("./weather.py", folder=tmp_path).opened({"size": 1}, Host(root=tmp_path)):
            raise AssertionError
