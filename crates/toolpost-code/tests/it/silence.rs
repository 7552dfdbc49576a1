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
