//! Rust.

use crate::fixture::{check_meaning, check_uses};

const TREE: &str = r#"
//- Cargo.toml
[package]
name = "shop-front"
[dependencies]
store = { path = "store" }
//- src/lib.rs
mod shelf;
pub use shelf::Shelf as Rack;
use store::{Item, Named};
macro_rules! count { ($e:expr) => { $e.len() } }
pub fn first(shelf: &shelf::Shelf) -> Option<&Item> {
    let item = shelf.items.first()?;
    let items = items(shelf);
    for item in items.iter() {
        assert_eq!(item.name(), shelf.label());
    }
    if let Some(found) = shelf.items.iter().find(|item| item.price > 0) {
        println!("{}", found.price);
    }
    match item.kind { store::Kind::Cheap => {} store::Kind::Dear { by } => drop(by) }
    count!(items);
    Some(item)
}
fn items(shelf: &Rack) -> &Vec<Item> { &shelf.items }
fn generic<T: Named>(it: T) -> String { it.name() }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn it_works() { generic(Item::new("x").with_price(3)); }
}
//- src/shelf.rs
use store::Item;
pub struct Shelf { pub items: Vec<Item>, label: String }
impl Shelf {
    pub fn label(&self) -> &str { &self.label }
    pub fn push(&mut self, item: Item) -> &mut Self { self.items.push(item); self }
}
//- store/Cargo.toml
[package]
name = "store"
//- store/src/lib.rs
pub trait Named { fn name(&self) -> String; fn loud(&self) -> String { self.name() } }
pub enum Kind { Cheap, Dear { by: u32 } }
pub struct Item { pub name: String, pub price: u32, pub kind: Kind }
impl Item {
    pub fn new(name: &str) -> Self { Item { name: name.into(), price: 0, kind: Kind::Cheap } }
    pub fn with_price(mut self, price: u32) -> Self { self.price = price; self }
}
impl Named for Item {
    fn name(&self) -> String { self.name.clone() }
}
"#;

#[test]
fn meanings() {
    let check = |at, expected| check_meaning(TREE, at, expected);
    check("src/lib.rs:2:Shelf", "src/shelf.rs:2 Exact");
    check("src/lib.rs:3:Item", "store/src/lib.rs:3 Exact");
    check("src/lib.rs:6:items", "src/shelf.rs:2 Typed");
    check("src/lib.rs:7:items", "src/lib.rs:7 Exact");
    check("src/lib.rs:7:items#2", "src/lib.rs:18 Exact");
    check("src/lib.rs:9:name", "store/src/lib.rs:9 Typed");
    check("src/lib.rs:9:label", "src/shelf.rs:4 Typed");
    check("src/lib.rs:11:price", "store/src/lib.rs:3 Typed");
    check("src/lib.rs:12:price", "store/src/lib.rs:3 Typed");
    check("src/lib.rs:14:Cheap", "store/src/lib.rs:2 Exact");
    check("src/lib.rs:15:count", "src/lib.rs:4 Exact");
    check("src/lib.rs:16:item", "src/lib.rs:6 Exact");
    check("src/lib.rs:18:Rack", "src/shelf.rs:2 Exact");
    check("src/lib.rs:19:name", "store/src/lib.rs:1 Typed");
    check("src/lib.rs:24:generic", "src/lib.rs:19 Exact");
    check("src/lib.rs:24:with_price", "store/src/lib.rs:6 Typed");
    check("src/shelf.rs:5:push#2", "external Exact");
    check("store/src/lib.rs:9:name#2", "store/src/lib.rs:3 Typed");
}

#[test]
fn uses() {
    check_uses(
        TREE,
        "store/src/lib.rs:1:name",
        &[
            "src/lib.rs:9 Dispatch",
            "src/lib.rs:19 Typed",
            "store/src/lib.rs:1 Typed",
            "store/src/lib.rs:9 Dispatch",
        ],
    );
    check_uses(
        TREE,
        "src/shelf.rs:2:Shelf",
        &[
            "src/lib.rs:2 Exact",
            "src/lib.rs:5 Exact",
            "src/lib.rs:18 Exact",
            "src/shelf.rs:3 Exact",
            "src/shelf.rs:5 Exact",
        ],
    );
}

/// What a dependency needs for its own tests is nothing that its users can reach.
#[test]
fn dependencies_for_tests_are_not_handed_on() {
    let text = r#"
//- a/Cargo.toml
[package]
name = "a"
//- a/src/lib.rs
pub struct A; impl A { pub fn often(&self) {} }
//- b/Cargo.toml
[package]
name = "b"
//- b/src/lib.rs
pub struct B; impl B { pub fn often(&self) {} }
//- y/Cargo.toml
[package]
name = "y"
[dependencies]
b = "1"
[dev-dependencies]
a = "1"
//- y/src/lib.rs
//- y/tests/t.rs
fn f() { made!().often(); }
//- x/Cargo.toml
[package]
name = "x"
[dependencies]
y = "1"
//- x/src/lib.rs
fn f() { made!().often(); }
"#;
    check_uses(text, "a/src/lib.rs:1:often", &["y/tests/t.rs:1 Possible"]);
    check_uses(text, "b/src/lib.rs:1:often", &["y/tests/t.rs:1 Possible", "x/src/lib.rs:1 Possible"]);
}
