"""Open packs: the tools on offer with the resources they take, for as long as the block lasts. One road for every call."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from catalog.check import Bound, bind
from catalog.host import Host
from catalog.selection import Offer
from catalog.tool import Tool


class Toolbox:
    def __init__(self, offer: Offer, resources: Mapping[int, Any], host: Host) -> None:
        self.offer = offer
        self.host = host
        self._resources = resources

    @property
    def tools(self) -> Mapping[str, Tool]:
        return self.offer.tools

    def offering(self, offer: Offer) -> "Toolbox":
        """The same open packs, with fewer tools of theirs on offer."""
        return Toolbox(offer, self._resources, self.host)

    def bind(self, name: str, args: list[Any]) -> Bound:
        return bind(self.tools[name], args)

    async def call(self, name: str, bound: Bound) -> Any:
        """Call the function; gives JSON. What it raises comes out as it is."""
        tool = self.tools[name]
        injected = {} if tool.resource is None else {tool.resource: self._resources[id(self.offer.homes[name])]}
        return tool.dump(await tool.function(**injected, **bound.values))


@asynccontextmanager
async def open_toolbox(
    offer: Offer, *, host: Host, settings: Mapping[str, Mapping[str, Any]] | None = None
) -> AsyncIterator[Toolbox]:
    """Open every pack of the offer; `settings` by pack name, as configuration has them. They close in reverse order."""
    async with AsyncExitStack() as stack:
        resources = {
            id(pack): await stack.enter_async_context(pack.opened((settings or {}).get(pack.name, {}), host))
            for pack in offer.packs
        }
        yield Toolbox(offer, resources, host)
