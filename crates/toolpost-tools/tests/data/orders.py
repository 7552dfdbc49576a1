"""Orders of a small shop: parsing, totals and a report."""

from __future__ import annotations

import csv
import logging
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Iterable, Iterator

log = logging.getLogger(__name__)

DISCOUNTS = {"none": Decimal("0"), "member": Decimal("0.05"), "staff": Decimal("0.20")}


class BadOrder(ValueError):
    """A row that is no order."""


@dataclass
class Line:
    sku: str
    amount: int
    price: Decimal

    @property
    def total(self) -> Decimal:
        return self.price * self.amount


@dataclass
class Order:
    number: int
    customer: str
    discount: str = "none"
    lines: list[Line] = field(default_factory=list)

    def add(self, sku: str, amount: int, price: str) -> None:
        if amount <= 0:
            raise BadOrder(f"order {self.number}: amount {amount} of {sku!r}")
        for line in self.lines:
            if line.sku == sku:
                line.amount += amount
                return
        self.lines.append(Line(sku, amount, Decimal(price)))

    def total(self) -> Decimal:
        gross = sum((line.total for line in self.lines), Decimal("0"))
        rate = DISCOUNTS.get(self.discount, Decimal("0"))
        return (gross * (1 - rate)).quantize(Decimal("0.01"))


def read_orders(rows: Iterable[str]) -> Iterator[Order]:
    current: Order | None = None
    for row in csv.DictReader(rows):
        number = int(row["order"])
        if current is None or current.number != number:
            if current is not None:
                yield current
            current = Order(number, row["customer"], row.get("discount") or "none")
        try:
            current.add(row["sku"], int(row["amount"]), row["price"])
        except BadOrder as error:
            log.warning("skipped: %s", error)
    if current is not None:
        yield current


def report(orders: Iterable[Order]) -> str:
    lines = []
    for order in sorted(orders, key=lambda order: order.number):
        lines.append(f"{order.number:>6}  {order.customer:<20} {order.total():>10}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys

    print(report(read_orders(sys.stdin)), end="")
