//! Python.

use crate::fixture::{check_meaning, check_uses};

const TREE: &str = r#"
//- shop/__init__.py
from .item import Item as Item
//- shop/item.py
from __future__ import annotations
class Base:
    def name(self) -> str:
        return "x"
class Item(Base):
    def __init__(self, price: int):
        self.price = price
    def name(self) -> str:
        return super().name() + str(self.price)
def cheapest(items: list[Item]) -> Item:
    best = items[0]
    for item in items:
        if item.price < best.price:
            best = item
    return best
//- main.py
from shop import Item
import shop.item as m
def main():
    found = m.cheapest([Item(price=3)])
    print(found.name())
"#;

#[test]
fn meanings() {
    let check = |at, expected| check_meaning(TREE, at, expected);
    check("main.py:1:Item", "shop/item.py:5 Exact");
    check("main.py:4:cheapest", "shop/item.py:10 Exact");
    check("main.py:4:price", "shop/item.py:6 Typed");
    check("main.py:5:name", "shop/item.py:8 Typed");
    check("main.py:5:print", "external Exact");
    check("shop/item.py:13:price", "shop/item.py:7 Typed");
}

#[test]
fn uses() {
    check_uses(TREE, "shop/item.py:10:cheapest", &["main.py:4 Exact"]);
}
