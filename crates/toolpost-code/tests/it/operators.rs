//! What an operator gives is what its method says, not what it is applied to.

use crate::fixture::{check_meaning, check_uses};

const RUST: &str = r#"
//- src/lib.rs
use std::ops::{Add, Mul, Neg, Not};
pub struct A; impl A { pub fn shut(&self) {} }
pub struct B; impl B { pub fn shut(&self) {} }
impl Add for A { type Output = B; fn add(self, _: A) -> B { B } }
impl Neg for A { type Output = B; fn neg(self) -> Self::Output { B } }
impl Not for B { type Output = A; fn not(self) -> A { A } }
impl Mul<A> for f64 { type Output = A; fn mul(self, _: A) -> A { A } }
pub fn add() { (A + A).shut(); }
pub fn neg(a: A) { (-a).shut(); }
pub fn not(b: B) { (!b).shut(); }
pub fn mul(a: A) { (2.0 * a).shut(); }
pub fn none(a: A) { (a - A).shut(); }
pub fn own() { let n = -1 + 2; n.shut(); }
"#;

#[test]
fn rust_takes_the_result_of_the_operator() {
    let a = ["src/lib.rs:10 Typed", "src/lib.rs:11 Typed", "src/lib.rs:12 Possible"];
    check_uses(RUST, "src/lib.rs:2:shut", &a);
    let b = ["src/lib.rs:8 Typed", "src/lib.rs:9 Typed", "src/lib.rs:12 Possible"];
    check_uses(RUST, "src/lib.rs:3:shut", &b);
    check_meaning(RUST, "src/lib.rs:13:shut", "external Exact");
}

const PYTHON: &str = r#"
//- m.py
class B:
    def ping(self): pass
class A:
    def ping(self): pass
    def __neg__(self) -> B: return B()
    def __invert__(self) -> B: return B()
(-A()).ping()
(~A()).ping()
(+A()).ping()
(A() - A()).ping()
"#;

#[test]
fn python_takes_the_result_of_the_operator() {
    let unknown = ["m.py:9 Possible", "m.py:10 Possible"];
    check_uses(PYTHON, "m.py:4:ping", &unknown);
    check_uses(PYTHON, "m.py:2:ping", &[&["m.py:7 Typed", "m.py:8 Typed"][..], &unknown[..]].concat());
}
