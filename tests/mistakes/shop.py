"""The tools that the mistakes are made with: a shop and its stock. Nothing here knows any tool layer.

One object a script: it keeps the orders that were placed, so that an effect before a report can be counted. `refuse` makes the
error by which a tool says no; every tool layer has its own.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from typing_extensions import TypedDict

ITEMS = 50


class Item(TypedDict):
    id: int
    name: str
    price: float
    currency: str
    tags: list[str]


class Found(TypedDict):
    items: list[Item]
    total: int


class Order(TypedDict):
    order_id: int
    item_id: int
    quantity: int
    status: str


class Units(TypedDict):
    item_id: int
    warehouse: str
    units: int


class Export(TypedDict):
    rows: list[str]


class Shop:
    def __init__(self, refuse: Callable[[str], Exception]) -> None:
        self._refuse = refuse
        self.orders: list[int] = []

    async def get_item(self, id: int, currency: str = "EUR") -> Item:
        """Get one item by its id.

        Args:
            id: Number of the item.
            currency: Currency of the price.
        """
        if not 1 <= id <= ITEMS:
            raise self._refuse(f"there is no item {id}; ids run from 1 to {ITEMS}")
        return {"id": id, "name": f"Lamp {id}", "price": 9.5 + id, "currency": currency, "tags": ["light", "indoor"]}

    async def search_items(self, query: str, limit: int = 10) -> Found:
        """Find items by words of their name.

        Args:
            query: Words to look for.
            limit: Most items to give.
        """
        items = [await self.get_item(number) for number in range(1, min(limit, ITEMS) + 1)]
        return {"items": items, "total": ITEMS}

    async def place_order(self, item_id: int, quantity: int, note: str | None = None) -> Order:
        """Order an item.

        Args:
            item_id: Number of the item.
            quantity: How many.
            note: Words for the packer.
        """
        self.orders.append(item_id)
        return {"order_id": len(self.orders), "item_id": item_id, "quantity": quantity, "status": "placed"}

    async def cancel_order(self, order_id: int, reason: str = "") -> Order:
        """Cancel an order that is not shipped yet.

        Args:
            order_id: Number of the order.
            reason: Why, for the record.
        """
        raise self._refuse(f"order {order_id} was shipped on 2026-03-02; a shipped order cannot be cancelled")

    async def set_price(self, item_id: int, price: float, valid: Literal["now", "tomorrow"] = "now") -> Item:
        """Set the price of an item.

        Args:
            item_id: Number of the item.
            price: The new price.
            valid: From when on.
        """
        return {**await self.get_item(item_id), "price": price}

    async def tag_item(self, item_id: int, tags: list[str]) -> Item:
        """Put tags on an item.

        Args:
            item_id: Number of the item.
            tags: The tags, one string each.
        """
        return {**await self.get_item(item_id), "tags": tags}

    async def export_items(self, rows: int) -> Export:
        """Export the catalogue as text rows.

        Args:
            rows: How many rows.
        """
        return {"rows": [f"{row};Lamp {row};{row}.50;EUR;" + "x" * 80 for row in range(rows)]}

    async def reindex(self, full: bool = False) -> Found:
        """Build the search index again.

        Args:
            full: From the beginning rather than from the last state.
        """
        raise RuntimeError("index segment 3 is corrupt: expected 4096 bytes, found 17")

    async def refund_order(self, order_id: int, amount: float) -> Order:
        """Pay money back for an order.

        Args:
            order_id: Number of the order.
            amount: How much.
        """
        self.orders.append(-order_id)
        return {"order_id": order_id, "item_id": 1, "quantity": 1, "status": "refunded"}

    async def count_units(self, item_id: int, warehouse: str = "main") -> Units:
        """Count the units of an item in a warehouse.

        Args:
            item_id: Number of the item.
            warehouse: Name of the warehouse.
        """
        return {"item_id": item_id, "warehouse": warehouse, "units": 12}

    async def move_units(self, item_id: int, source: str, target: str, units: int) -> Units:
        """Move units of an item from one warehouse to another.

        Args:
            item_id: Number of the item.
            source: Warehouse they leave.
            target: Warehouse they go to.
            units: How many.
        """
        return {"item_id": item_id, "warehouse": target, "units": units}


SHOP = (
    "get_item", "search_items", "place_order", "cancel_order", "set_price", "tag_item", "export_items", "reindex", "refund_order",
)  # fmt: skip
STOCK = ("count_units", "move_units")
REFUSED = "refund_order"  # written in the pack, not on offer to the scripts of the corpus


def functions(shop: Shop) -> dict[str, dict[str, Callable[..., Awaitable[Any]]]]:
    """By pack and name, those that are on offer and the one that is not."""
    return {
        "shop": {name: getattr(shop, name) for name in SHOP},
        "stock": {name: getattr(shop, name) for name in STOCK},
    }


def flat(shop: Shop) -> dict[str, Callable[..., Awaitable[Any]]]:
    """For tool layers without packs: `shop_get_item`. Only what is on offer."""
    return {
        f"{pack}_{name}": function
        for pack, tools in functions(shop).items()
        for name, function in tools.items()
        if name != REFUSED
    }
