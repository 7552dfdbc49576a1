//! A receiver of which nothing is known is not one from outside: its use is listed as possible, never dropped.

use toolpost_code::facts::Name;
use toolpost_code::resolve::{Confidence, DefId, Memo, Query};

use crate::fixture::{check_meaning, check_uses, world};

const RUST: &str = r#"
//- Cargo.toml
[package]
name = "x"
//- src/lib.rs
use std::{cell::RefCell, rc::Rc};
pub struct A; impl A { pub fn close(&self) {} }
pub struct B; impl B { pub fn close(&self) {} }
pub struct W<T> { inner: T }
impl<T> W<T> { pub fn get(&self) -> &T { &self.inner } }
pub fn wrapped(c: Rc<RefCell<A>>) { c.borrow().close(); }
pub fn literal() { let w = W { inner: A }; w.get().close(); }
pub fn field() { let w = W { inner: A }; w.inner.close(); }
pub trait Make { type Made; fn make(&self) -> Self::Made; }
pub fn made<M: Make>(m: M) { m.make().close(); }
pub fn text(s: String) { s.close(); }
"#;

const PYTHON: &str = r#"
//- m.py
from typing import Generic, TypeVar
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, v: T):
        self.v = v
    def get(self) -> T:
        return self.v
class A:
    def ping(self): pass
class B:
    def ping(self): pass
def one():
    Box(A()).get().ping()
class Meta(type):
    def create(cls): return cls()
class Made(metaclass=Meta): pass
Made.create()
class Desc:
    def __get__(self, o, t) -> B: return B()
class N:
    d = Desc()
N.d.ping()
N().d.ping()
"#;

const GO: &str = r#"
//- go.mod
module ex
//- s/s.go
package s
type A struct{}
func (A) Ping() {}
type B struct{}
func (B) Ping() {}
func Gen[T any](t T) T { return t }
func Must[T any](t T, err error) T { return t }
func Mk() (A, error) { return A{}, nil }
func Conv[T, U any](t T, f func(T) U) U { return f(t) }
func use() {
	Conv(A{}, func(a A) B { return B{} }).Ping()
}
//- main.go
package main
import "ex/s"
func main() {
	s.Gen[s.A](s.A{}).Ping()
	s.Must(s.Mk()).Ping()
}
"#;

const TYPESCRIPT: &str = r#"
//- a.ts
export class A { area() { return 1 } }
export class B { area() { return 2 } }
declare global { interface Window { circ: A } }
window.circ.area();
function mix<T extends new (...a: any[]) => {}>(Base: T) { return class extends Base { extra = 1 } }
class M extends mix(A) { z() { this.area(); } }
const p = new Proxy(new A(), {}); p.area();
"#;

const CFG_IF: &str = r#"
//- Cargo.toml
[package]
name = "x"
[dependencies]
cfg-if = "1"
//- src/lib.rs
cfg_if::cfg_if! {
    if #[cfg(unix)] { mod unix; pub use unix::Thing; }
    else { mod win; pub use win::Thing; }
}
pub fn f(t: Thing) { t.go(); }
//- src/unix.rs
pub struct Thing; impl Thing { pub fn go(&self) {} }
//- src/win.rs
pub struct Thing; impl Thing { pub fn go(&self) {} }
"#;

const INCLUDED: &str = r#"
//- Cargo.toml
[package]
name = "x"
//- src/inc.rs
pub fn included() { defv(); }
//- src/lib.rs
include!("inc.rs");
fn defv() {}
pub fn usesinc() { included(); }
"#;

#[test]
fn rust_lists_what_it_could_not_infer() {
    let possible = ["src/lib.rs:7 Possible", "src/lib.rs:8 Possible", "src/lib.rs:10 Possible"];
    check_uses(RUST, "src/lib.rs:2:close", &[&["src/lib.rs:6 Typed"][..], &possible[..]].concat());
    check_uses(RUST, "src/lib.rs:3:close", &possible);
    check_meaning(RUST, "src/lib.rs:11:close", "external Exact");
}

#[test]
fn python_lists_what_it_could_not_infer() {
    let possible = ["m.py:13 Possible", "m.py:22 Possible", "m.py:23 Possible"];
    check_uses(PYTHON, "m.py:9:ping", &possible);
    check_uses(PYTHON, "m.py:11:ping", &possible);
    check_uses(PYTHON, "m.py:15:create", &["m.py:17 Possible"]);
}

#[test]
fn go_lists_what_it_could_not_infer() {
    let a = ["main.go:5 Typed", "s/s.go:11 Possible", "main.go:4 Possible"];
    check_uses(GO, "s/s.go:3:Ping", &a);
    check_uses(GO, "s/s.go:5:Ping", &["s/s.go:11 Possible", "main.go:4 Possible"]);
}

#[test]
fn typescript_lists_what_it_could_not_infer() {
    check_uses(TYPESCRIPT, "a.ts:1:area", &["a.ts:4 Typed", "a.ts:6 Possible", "a.ts:7 Possible"]);
    check_uses(TYPESCRIPT, "a.ts:2:area", &["a.ts:6 Possible", "a.ts:7 Possible"]);
}

#[test]
fn names_that_macros_bring_in_are_listed() {
    check_uses(CFG_IF, "src/unix.rs:1:go", &["src/lib.rs:5 Typed"]);
    check_uses(INCLUDED, "src/inc.rs:1:included", &["src/lib.rs:3 Possible"]);
    check_uses(INCLUDED, "src/lib.rs:2:defv", &["src/inc.rs:1 Possible"]);
}

/// What may be meant by a token has the token among its uses.
fn check_both_ways(text: &str) -> usize {
    let world = world(text);
    let query = Query::new(&world, Memo::default());
    let mut checked = 0;
    for file in world.files() {
        let facts = query.facts(file);
        for index in 0..facts.tokens.len() as u32 {
            let name = facts.name(facts.tokens[index as usize].name);
            query.refuel();
            let meaning = query.resolve(file, index);
            let candidates: Vec<DefId> = match meaning.confidence {
                Confidence::Possible => meaning.defs().collect(),
                Confidence::Unknown if meaning.entities.is_empty() => definitions(&query, name)
                    .into_iter()
                    .filter(|&def| query.may_mean(file, index, def))
                    .collect(),
                _ => Vec::new(),
            };
            for def in candidates {
                let listed = query.references(def).possible;
                let is_listed = listed.iter().any(|one| (one.file, one.token) == (file, index));
                let place = (world.path(file), facts.position(facts.tokens[index as usize].start));
                assert!(is_listed, "{place:?} may be {def:?}, which does not list it, in\n{text}");
                checked += 1;
            }
        }
    }
    checked
}

fn definitions(query: &Query<'_>, name: Name) -> Vec<DefId> {
    let all = query.world.files().flat_map(|file| {
        let count = query.facts(file).defs.len() as u32;
        (0..count).map(move |index| DefId { file, index })
    });
    let is_named = |def: &DefId| query.name_of(*def) == name && query.canonical(*def) == *def;
    let is_shown = |def: &DefId| query.symbols(def.file).iter().any(|symbol| symbol.def == *def);
    all.filter(|def| is_named(def) && is_shown(def)).collect()
}

#[test]
fn what_may_be_meant_is_listed_by_both() {
    let many: String = (0..20).map(|n| format!("class C{n}:\n    def often(self): pass\n")).collect();
    let many = format!("//- many.py\n{many}def f(x): x.often()\n");
    check_both_ways(CFG_IF);
    for tree in [RUST, PYTHON, GO, TYPESCRIPT, INCLUDED, many.as_str()] {
        assert!(check_both_ways(tree) > 0, "nothing was possible in\n{tree}");
    }
    check_uses(&many, "many.py:40:often", &["many.py:41 Possible"]);
}

/// A union of many is followed as a whole, or not at all.
#[test]
fn no_alternative_of_a_union_is_dropped() {
    for count in [9usize, 15, 40] {
        let classes: String = (0..count).map(|n| format!("class C{n} {{ often() {{}} }}\n")).collect();
        let union: Vec<String> = (0..count).map(|n| format!("C{n}")).collect();
        let text = format!("//- a.ts\n{classes}function f(x: {}) {{ x.often() }}\n", union.join(" | "));
        let line = count + 1;
        let confidence = if count > 20 { "Possible" } else { "Typed" };
        for number in [1, count] {
            check_uses(&text, &format!("a.ts:{number}:often"), &[&format!("a.ts:{line} {confidence}")]);
        }
    }
}
