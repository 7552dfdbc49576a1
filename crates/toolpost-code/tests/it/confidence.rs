//! Every answer says how it was found, and what cannot be found out is listed apart.

use crate::fixture::{check_meaning, check_uses};

const TREE: &str = r#"
//- src/lib.rs
pub struct One;
impl One { pub fn only_here(&self) {} pub fn shared_name(&self) {} }
pub struct Two;
impl Two { pub fn shared_name(&self) {} }
fn main() {
    let thing = made_elsewhere!();
    thing.only_here();
    thing.shared_name();
    thing.push(1);
    One.shared_name();
}
"#;

#[test]
fn says_how_it_was_found() {
    let check = |at, expected| check_meaning(TREE, at, expected);
    check("src/lib.rs:7:only_here", "src/lib.rs:2 UniqueMember");
    check("src/lib.rs:8:shared_name", "src/lib.rs:2 src/lib.rs:4 Possible");
    check("src/lib.rs:9:push", "Unknown");
    check("src/lib.rs:10:shared_name", "src/lib.rs:2 Exact");
}

#[test]
fn lists_what_may_be_meant_apart() {
    check_uses(TREE, "src/lib.rs:2:shared_name", &["src/lib.rs:10 Exact", "src/lib.rs:8 Possible"]);
    check_uses(TREE, "src/lib.rs:4:shared_name", &["src/lib.rs:8 Possible"]);
}
