"""Give a script two functions as tools, and read what came of it."""

import anyio

from harness import run_script

STOCK = {"apple": 3, "pear": 0, "plum": 12}

SCRIPT = """
const names = await tools.shop.list();
const stock = await Promise.all(names.map(name => tools.shop.count({ name })));
show(names.filter((_, i) => stock[i] === 0));
try { await tools.shop.count({ name: "fig" }) } catch (e) { console.log(e.name, "-", e.message) }
return { total: stock.reduce((a, b) => a + b) };
"""


async def list_names() -> list[str]:
    return sorted(STOCK)


async def count(name: str) -> int:
    return STOCK[name]


async def main() -> None:
    outcome = await run_script(SCRIPT, tools={"shop.list": list_names, "shop.count": count})
    print("shown:  ", outcome.shown)
    print("printed:", outcome.printed)
    print("value:  ", outcome.value)


anyio.run(main)
