//! Uses that cannot be resolved: none is dropped without a word, none is taken for sure.

use crate::fixture::{check_meaning, check_uses};

const RUST: &str = r#"
//- Cargo.toml
[package]
name = "x"
[dependencies]
outside = "1"
//- src/lib.rs
pub struct A;
pub struct B;
impl A { pub fn fetch(&self) {} }
impl B { pub fn fetch(&self) {} }
pub struct W<T> { inner: T }
impl<T> std::ops::Deref for W<T> { type Target = T; fn deref(&self) -> &T { &self.inner } }
pub fn go(w: W<A>, pair: (A, B), boxed: Box<(A, B)>) {
    w.fetch();
    pair.1.fetch();
    boxed.0.fetch();
    let t = (B, A);
    format!("{:?}", t.0.fetch());
    outside::wrap(A).fetch();
}
pub trait Extra { fn extra(&self) {} }
impl<I: Iterator> Extra for I { fn extra(&self) {} }
pub fn more(v: Vec<A>) { v.iter().extra(); }
"#;

#[test]
fn rust_follows_pointers_and_tuples_of_the_project() {
    let a = ["src/lib.rs:8 Typed", "src/lib.rs:10 Typed", "src/lib.rs:13 Possible"];
    check_uses(RUST, "src/lib.rs:3:fetch", &a);
    let b = ["src/lib.rs:9 Typed", "src/lib.rs:12 Exact", "src/lib.rs:13 Possible"];
    check_uses(RUST, "src/lib.rs:4:fetch", &b);
    check_meaning(RUST, "src/lib.rs:13:fetch", "src/lib.rs:3 src/lib.rs:4 Possible");
    check_meaning(RUST, "src/lib.rs:17:extra", "src/lib.rs:16 Typed");
}

const PYTHON: &str = r#"
//- a.py
import json
from outside import wrap, Thing
class A:
    def fetch(self): pass
class Base: pass
class Child(Base):
    def late(self): pass
class Proxy:
    def __getattr__(self, name): return name
class Sub(Thing): pass
def use(given, b: Base):
    wrap(A()).fetch()
    wrap(A()).inner.fetch()
    Proxy().fetch()
    Sub().fetch()
    json.loads("").fetch()
    given.fetch()
    b.late()
    "".fetch()
"#;

#[test]
fn python_lists_what_comes_from_packages() {
    let uses =
        ["a.py:12 Possible", "a.py:13 Possible", "a.py:14 Possible", "a.py:16 Possible", "a.py:17 Possible"];
    check_uses(PYTHON, "a.py:4:fetch", &uses);
    check_uses(PYTHON, "a.py:7:late", &["a.py:18 Possible"]);
    check_meaning(PYTHON, "a.py:17:fetch", "a.py:4 Possible");
    check_meaning(PYTHON, "a.py:12:fetch", "a.py:4 Possible");
}

const TYPESCRIPT: &str = r#"
//- b.ts
import { wrap } from 'outside'
class A { fetchit() {} }
function use(z: any) {
  wrap(new A()).fetchit()
  z.fetchit()
  JSON.parse("").fetchit()
  "".fetchit()
}
"#;

#[test]
fn typescript_lists_what_may_be_anything() {
    let uses = ["b.ts:5 UniqueMember", "b.ts:4 Possible", "b.ts:6 Possible"];
    check_uses(TYPESCRIPT, "b.ts:2:fetchit", &uses);
}

#[test]
fn what_stands_in_code_with_errors_is_listed() {
    let broken = "
//- a.py
def good():
    return 1

def bad(x:
    return good(

class K:
    def m(self):
        return good()
";
    let world = crate::fixture::world(broken);
    let query = toolpost_code::resolve::Query::new(&world, toolpost_code::resolve::Memo::default());
    let (file, token) = crate::fixture::token(&query, "a.py:1:good");
    assert_eq!(world.broken(), [file]);
    let found = query.references(query.declared_by(file, token).expect("a declaration"));
    let all = found.found.iter().chain(&found.possible);
    let mut lines: Vec<u32> = all
        .map(|one| query.facts(file).position(query.facts(file).tokens[one.token as usize].start).0)
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [1, 5, 9]);
}
