"""Tests of the shop: a table of orders, two of which show what is still to do."""

import unittest

from orders import Item, Order, parse

CASES = {f"{count}_lamps": (parse(f"{count} x lamp at 9.99"), count * 999) for count in range(1, 81)}


class Totals(unittest.TestCase):
    def test_half_a_cent_is_rounded_for_the_customer(self) -> None:
        self.assertEqual(Order((Item("pen", 5),), discount_percent=50).discount_cents, 3)

    def test_free_shipping_counts_after_the_discount(self) -> None:
        self.assertEqual(Order((Item("desk", 5_200),), discount_percent=10).shipping_cents, 490)


def _goods(item: Item, cents: int):
    return lambda self: self.assertEqual(Order((item,)).goods_cents, cents)


for name, (item, cents) in CASES.items():
    setattr(Totals, f"test_goods_of_{name}", _goods(item, cents))

if __name__ == "__main__":
    unittest.main()
