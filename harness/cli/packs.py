"""What --pack names: packs that are loaded, and those that come with a connection, by their names in turnscript.toml."""

from collections.abc import Iterable, Sequence

from catalog import BadPack, Offer, load_pack
from harness.config import FILE, Settings
from harness.interfaces import Bridge
from harness.offers import offer_from


def offer_of_settings(settings: Settings, packs: Iterable[str] | None = None) -> Offer:
    """Of the profile, and of the packs named besides; without those that `bridges_from` brings."""
    connected = [one.name for one in settings.bridges]
    loaded = [name for name in packs or () if name not in connected]
    if connected:
        _check_names(loaded, connected)
    return offer_from(settings.tools, more_packs=loaded)


def bridges_named(settings: Settings, packs: Sequence[str]) -> tuple[Bridge, ...]:
    return tuple(one for one in settings.bridges if one.name in packs)


def _check_names(loaded: Sequence[str], connected: Sequence[str]) -> None:
    """One that is nowhere may have been meant for one that is connected."""
    for name in loaded:
        if "/" in name or name.endswith(".py"):
            continue
        try:
            load_pack(name)
        except BadPack as error:
            raise BadPack(f"{error}; {FILE} connects {', '.join(connected)}") from None
