//! Uses that are easy to miss are listed: as uses where the language says so, as possible where nothing decides.

use std::collections::BTreeSet;

use toolpost_code::resolve::{Memo, Query};

use crate::fixture::{check_uses, token, world};

const COMMENTS: &str = r"
//- item.ts
export class Item { size = 1 }
export type Options = { deep: boolean }
//- use.ts
import type { Item, Options } from './item'
/**
 * Made from {@link Item}, see {@linkcode Item.size | the size}.
 *
 * @see Item
 * @see https://example.com/Item
 * @param {Options | ((name: string) => Item[])} options - not an Item
 * @param {Partial<Options>} [more]
 * @returns {Promise<Item>}
 */
export function make(options: unknown, more: unknown) { return options }
export class Box {
  /** Holds an {@link Item}. Item by itself is a word. */
  hold() {}
}
//- script.js
import { Item } from './item'
/** @type {Item} made by {@link Item} */
export const one = make()
";

#[test]
fn names_in_comments_that_document_are_uses() {
    check_uses(
        COMMENTS,
        "item.ts:1:Item",
        &[
            "use.ts:1 Exact",
            "use.ts:3 Exact",
            "use.ts:5 Exact",
            "use.ts:7 Exact",
            "use.ts:9 Exact",
            "use.ts:13 Exact",
            "script.js:1 Exact",
            "script.js:2 Exact",
        ],
    );
    check_uses(COMMENTS, "item.ts:2:Options", &["use.ts:1 Exact", "use.ts:7 Exact", "use.ts:8 Exact"]);
    check_uses(COMMENTS, "item.ts:1:size", &["use.ts:3 Exact"]);
}

const ROOT: &str = r"
//- a.ts
class Base {}
class Derived extends Base {
  toString() { return super.toString() }
  valueOf() { return 1 }
}
function print(base: Base, later: Promise<string>, any: object, text: string, list: number[]) {
  base.toString()
  later.toString()
  any.toString()
  text.toString()
  list.toString()
  text.valueOf()
}
";

/// Every object has `toString`, so a call of it may run what any class makes of it.
#[test]
fn members_of_every_object_may_be_overridden() {
    check_uses(ROOT, "a.ts:3:toString", &["a.ts:7 Possible", "a.ts:8 Possible", "a.ts:9 Possible"]);
    check_uses(ROOT, "a.ts:4:valueOf", &[]);
}

const SHORTHAND: &str = r"
//- a.ts
class Request { url = '' }
function log(request: Request) {
  const { url } = request
  print(url)
  request.url
  const made: Made = { url }
}
interface Made { url: string }
";

/// The lines of the only file with uses of what is meant by a token.
fn check_lines(text: &str, at: &str, expected: &[u32]) {
    let world = world(text);
    let query = Query::new(&world, Memo::default());
    let (file, token) = token(&query, at);
    let mut lines = BTreeSet::new();
    for entity in query.meaning(file, token).entities {
        let uses = query.uses(file, entity);
        assert!(uses.possible.is_empty(), "{at}");
        let facts = query.facts(file);
        lines.extend(
            uses.found.iter().map(|found| facts.position(facts.tokens[found.token as usize].start).0),
        );
    }
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), expected, "{at}");
}

/// `{ url }` takes a member out and declares a variable at once.
#[test]
fn a_shorthand_means_both_of_its_names() {
    check_lines(SHORTHAND, "a.ts:3:url", &[1, 3, 4, 5, 6]);
    check_lines(SHORTHAND, "a.ts:6:url", &[1, 3, 4, 5, 6, 8]);
}

const COMMON: &str = r"
//- a.ts
export class A { send() {} }
export class B { send() {} }
function mix<T extends new (...a: any[]) => {}>(Base: T) { return class extends Base { extra = 1 } }
class M extends mix(A) { z() { this.send() } }
function f(any: any, unproven: M) { any.send(); unproven.send() }
";

/// A name that many types of the library have proves nothing where the type is unknown.
#[test]
fn common_names_are_listed_too() {
    check_uses(COMMON, "a.ts:1:send", &["a.ts:4 Possible", "a.ts:5 Possible"]);
}

const PATHS: &str = r#"
//- Cargo.toml
[package]
name = "x"
//- src/lib.rs
mod shared;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg_attr(windows, path = "elsewhere.rs")]
mod other;
fn f() { system::open(); other::close(); }
//- src/unix.rs
pub fn open() {}
//- src/elsewhere.rs
pub fn close() {}
//- src/shared.rs
pub struct Shared { pub part: u8 }
//- tests/it.rs
#[path = "../src/shared.rs"]
mod shared;
fn f() { let one = shared::Shared { part: 1 }; one.part; }
"#;

/// A module may say in which file it is, and a file may be a module of two crates.
#[test]
fn modules_at_a_path_are_entered() {
    check_uses(PATHS, "src/unix.rs:1:open", &["src/lib.rs:7 Exact"]);
    check_uses(PATHS, "src/elsewhere.rs:1:close", &["src/lib.rs:7 Exact"]);
    check_uses(PATHS, "src/shared.rs:1:Shared", &["tests/it.rs:3 Exact"]);
    check_uses(PATHS, "src/shared.rs:1:part", &["tests/it.rs:3 Typed"]);
}

const PRIMITIVES: &str = r#"
//- Cargo.toml
[package]
name = "x"
//- src/lib.rs
pub trait Float: Sized {
    const BIAS: i32;
    const HALF: i32 = 1;
    fn raise(self) -> Self;
}
impl Float for f32 {
    const BIAS: i32 = Self::HALF;
    fn raise(self) -> f32 { let _ = Self::BIAS; self }
}
fn f() { f32::HALF; 1f32.raise(); 2.5.raise(); }
struct Array<const N: usize>;
const LENGTH: usize = 3;
fn g(_: Array<LENGTH>) { h::<LENGTH>(); }
trait Make { type Made; }
fn i(_: &dyn Make<Made = u8>) {}
"#;

/// Types of the language itself have the members that traits of the tree give them.
#[test]
fn members_of_primitive_types_are_uses() {
    check_uses(PRIMITIVES, "src/lib.rs:3:HALF", &["src/lib.rs:7 Exact", "src/lib.rs:10 Typed"]);
    check_uses(PRIMITIVES, "src/lib.rs:7:BIAS", &["src/lib.rs:2 Dispatch", "src/lib.rs:8 Exact"]);
    check_uses(PRIMITIVES, "src/lib.rs:8:raise", &["src/lib.rs:4 Dispatch", "src/lib.rs:10 Typed"]);
    check_uses(PRIMITIVES, "src/lib.rs:12:LENGTH", &["src/lib.rs:13 Exact"]);
    check_uses(PRIMITIVES, "src/lib.rs:14:Made", &["src/lib.rs:15 Exact"]);
}

const THROUGH_OUTER: &str = r#"
//- Cargo.toml
[package]
name = "x"
[dependencies]
outer = "1"
//- src/lib.rs
use outer::ser;
pub struct Failure;
impl ser::Error for Failure { fn custom() -> Self { Failure } }
fn f() -> Failure { ser::Error::custom() }
trait Twice { fn twice(&self) {} }
impl Twice for ser::Text {}
fn g(x: ser::Other) { x.part.twice(); }
pub trait Cast { fn cast() -> Self; }
pub trait Number: Cast + ser::Any { fn power(self); }
fn h<N: Number>() { N::cast().power(); }
//- a.py
import outer
class Jar(outer.Jar):
    def set_one(self): pass
def fill(jar: outer.Jar, mine: Jar):
    jar.set_one()
    mine.set_one()
"#;

/// What is asked of a type from outside may run what the tree makes of it.
#[test]
fn calls_through_outer_types_are_possible() {
    check_uses(THROUGH_OUTER, "src/lib.rs:3:custom", &["src/lib.rs:4 Possible"]);
    check_uses(THROUGH_OUTER, "src/lib.rs:5:twice", &["src/lib.rs:7 Possible"]);
    check_uses(THROUGH_OUTER, "src/lib.rs:9:power", &["src/lib.rs:10 Possible"]);
    check_uses(THROUGH_OUTER, "a.py:3:set_one", &["a.py:6 Typed", "a.py:5 Possible"]);
}

const MACROS: &str = r#"
//- Cargo.toml
[package]
name = "x"
//- src/lib.rs
pub struct M;
impl M { pub fn one(&self) {} pub fn two(&self) {} pub fn three(&self) {} }
macro_rules! call { ($name:ident) => { fn made(m: M) { m.$name(); } } }
call!(three);
macro_rules! hand_on { ($($name:ident),*) => { $( pub fn $name(&self) { self.0.$name() } )* } }
pub struct W(M);
impl W { hand_on!(one, two); }
"#;

/// A macro may make a call of a method from a name that it is given.
#[test]
fn names_given_to_macros_are_possible() {
    check_uses(MACROS, "src/lib.rs:2:two", &["src/lib.rs:7 Possible"]);
    check_uses(MACROS, "src/lib.rs:2:one", &["src/lib.rs:7 Possible"]);
    check_uses(MACROS, "src/lib.rs:2:three", &["src/lib.rs:4 Possible"]);
}

const ATTRIBUTES: &str = r#"
//- a.py
from typing import TypedDict, Unpack
from dataclasses import dataclass, replace
class Base:
    def __init__(self):
        self.typed: int = 0
        self.plain = 0
class Derived(Base):
    def __init__(self):
        self.typed = 1
        self.plain = 1
class Options(TypedDict):
    color: str
def paint(**options: Unpack[Options]): pass
paint(color="red")
@dataclass
class Size:
    width: int
def wider(size: Size): return replace(size, width=2)
class Value:
    def get(self): pass
class Owner:
    @property
    def value(self) -> Value: ...
    @value.setter
    def value(self, new: int) -> None: ...
def read(owner: Owner): owner.value.get()
"#;

/// A class may set what it inherits, and arguments may be named in other places than a list of parameters.
#[test]
fn attributes_are_found_where_they_are_set() {
    check_uses(ATTRIBUTES, "a.py:5:typed", &["a.py:9 Dispatch"]);
    check_uses(ATTRIBUTES, "a.py:9:typed", &["a.py:5 Dispatch"]);
    check_uses(ATTRIBUTES, "a.py:6:plain", &["a.py:10 Possible"]);
    check_uses(ATTRIBUTES, "a.py:12:color", &["a.py:14 Typed"]);
    check_uses(ATTRIBUTES, "a.py:17:width", &["a.py:18 Possible"]);
    check_uses(ATTRIBUTES, "a.py:20:get", &["a.py:26 Typed"]);
}

const DEFERRED: &str = r"
//- a.ts
type Both<U> = (U extends any ? (k: U) => void : never) extends (k: infer I) => void ? I : never
interface Modules { one: { part: Part } }
export interface Part { start(): void }
export interface Other { start(): void }
type Whole<K extends keyof Modules> = Both<Modules[K]> & { more: string }
export function run(whole: Whole<any>) { whole.part.start() }
export function maybe(value: unknown | Other) { value.part.start() }
";

/// A type that is only written down, because what it depends on is unknown, may have any member.
#[test]
fn members_of_types_not_worked_out_are_possible() {
    check_uses(DEFERRED, "a.ts:3:start", &["a.ts:6 Possible", "a.ts:7 Possible"]);
}
