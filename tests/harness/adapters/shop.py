"""A session that the tests of adapters hand to agents: tools that answer, fail, ask a person and wait, and a shell that is denied."""

from collections.abc import Callable, Mapping
from typing import Any

import anyio

from catalog import tool
from harness import Harness, MemoryStore, Policy, Rule, Setup
from harness.approval import Asking
from harness.callers import Use
from harness.entries import Ended

SHOWS = 'show("a  b\\nc");\nreturn { n: [1, 2] };'
FAILS = "await tools.shop.broken({});"
CATCHES = "try { await tools.shop.broken({}) } catch (error) { return error.message }"
ORDERS = "try { return await tools.shop.order({ item: 'lamp' }) } catch (error) { return error.name }"
SHELL = "try { return await tools.shell.run({ command: 'ls' }) } catch (error) { return error.name }"
WAITS = "show('begun'); await tools.shop.wait({}); return 'never';"
RUNS = "notice: script 1 still runs"  # and how to go on, which is the surface's to say


class Shop:
    """`says`: what the person answers; `asked` and `ran`: what they were asked, and what ran. `on_wait`: `shop.wait` has begun."""

    def __init__(self, *, says: bool = True, callers: Mapping[str, Use] | None = None) -> None:
        self.says = says
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.ran: list[str] = []
        self.on_wait: Callable[[], None] = lambda: None
        self.store = MemoryStore()
        self.setup = Setup(policy=Policy((Rule(tool="shell.*", then="deny"),)), callers=callers or {})

    def harness(self) -> Harness:
        @tool(effect="pure")
        async def price(item: str, pieces: int = 1) -> int:
            """What it costs."""
            self.ran.append(f"price {item}")
            return 7 * pieces

        @tool(writes=["orders:all"], approval=True)
        async def order(item: str) -> str:
            self.ran.append(f"order {item}")
            return f"ordered {item}"

        @tool(effect="pure")
        async def broken() -> str:
            raise ValueError("the till is stuck")

        @tool(reads=["clock:now"])
        async def wait() -> None:
            self.on_wait()
            await anyio.sleep_forever()

        @tool(writes=["tree:."])
        async def run(command: str) -> str:
            self.ran.append(command)
            return "ran"

        tools = {"shop.price": price, "shop.order": order, "shop.broken": broken, "shop.wait": wait, "shell.run": run}
        return Harness(tools=tools, setup=self.setup, store=self.store, approver=Asking(self._answer))

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> bool:
        self.asked.append((name, dict(arguments)))
        return self.says

    def endings(self) -> list[str]:
        """How each turn of the session `s` ended, as it is on record."""
        return [entry.ending.how for entry in self.store.entries("s") if isinstance(entry, Ended)]

    def texts(self) -> list[str]:
        """What each turn gave the model, as it is on record."""
        return [entry.text for entry in self.store.entries("s") if isinstance(entry, Ended)]
