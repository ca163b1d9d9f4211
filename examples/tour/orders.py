"""Orders of a small shop: prices in cents, discounts, shipping. What `examples/tour.js` looks at."""

from dataclasses import dataclass

FREE_SHIPPING_CENTS = 5_000
SHIPPING_CENTS = 490


@dataclass(frozen=True)
class Item:
    name: str
    cents: int
    count: int = 1


@dataclass(frozen=True)
class Order:
    items: tuple[Item, ...]
    discount_percent: int = 0

    @property
    def goods_cents(self) -> int:
        return sum(item.cents * item.count for item in self.items)

    @property
    def discount_cents(self) -> int:
        # TODO: round half a cent in the customer's favour
        return self.goods_cents * self.discount_percent // 100

    @property
    def shipping_cents(self) -> int:
        # TODO: the limit counts after the discount
        return 0 if self.goods_cents >= FREE_SHIPPING_CENTS else SHIPPING_CENTS

    @property
    def total_cents(self) -> int:
        return self.goods_cents - self.discount_cents + self.shipping_cents


def parse(line: str) -> Item:
    """`2 x lamp at 19.99` becomes an item."""
    count, _, rest = line.partition(" x ")
    name, _, price = rest.rpartition(" at ")
    euros, _, cents = price.partition(".")
    return Item(name, int(euros) * 100 + int(cents or 0), int(count))
