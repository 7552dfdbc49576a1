//! What tests tell of a variable in TypeScript: where a test leaves only some of the types, only their members are
//! meant, and where it cannot be told which are left, nothing is claimed.

use crate::fixture::{check_meaning, world};
use toolpost_code::resolve::{Confidence, Memo, Query};

const HEAD: &str = "
//- a.ts
export class A { readonly kind = 'a'; ok: true = true; one() {} m() {} }
export class B { readonly kind = 'b'; ok: false = false; two() {} m() {} }
export class C { readonly kind = 'c'; ok: true = true; three() {} m() {} }
export enum E { X, Y }
export interface X { tag: E.X; m(): void }
export interface Y { tag: E.Y; m(): void }
export function isA(x: A | B | C): x is A { return x.kind === 'a' }
export function assertA(x: unknown): asserts x is A {}
export function assertThat(c: unknown): asserts c {}
declare function outside(x: unknown): boolean
";

/// What `m` on the last line of some code means: the classes that have it, and how sure that is.
fn check(code: &str, expected: &str) {
    let text = format!("{HEAD}{code}\n");
    let world = world(&text);
    let query = Query::new(&world, Memo::default());
    let file = world.file("a.ts").expect("the file");
    let facts = query.facts(file);
    let is_m = |token: &&toolpost_code::facts::Token| facts.text(token.name) == "m";
    let last = facts.tokens.iter().rev().find(is_m).expect("a use of m").start;
    let resolution = query.resolve(file, facts.token_starting(last).expect("a token"));
    let names: Vec<&str> = resolution
        .defs()
        .filter_map(|def| facts.def(facts.def(def.index)?.owner))
        .map(|owner| facts.text(owner.name))
        .collect();
    let is_sure = resolution.confidence < Confidence::UniqueMember;
    let shown = if is_sure { names.join(" ") } else { "unsure".to_owned() };
    assert_eq!(shown, expected, "{code}");
}

#[test]
fn after_an_early_exit() {
    check("function f(x: A | B) { if (x instanceof A) return; x.m() }", "B");
    check("function f(x: A | B) { if (!(x instanceof A)) { throw 1 } x.m() }", "A");
    check("function f(x: A | B) { if (x instanceof A) { x.one() } x.m() }", "A B");
    check("function f(x: A | B) { if (x instanceof A) { return } else { x.two() } x.m() }", "B");
    check("function f(xs: (A | B)[]) { for (const x of xs) { if (x instanceof A) continue; x.m() } }", "B");
    check("function f(x: A | B | C) { if (x instanceof A || x instanceof B) return; x.m() }", "C");
    check("function f(x: A | B, y: boolean) { if (x instanceof A && y) return; x.m() }", "A B");
    check("class K { v: A | B = new A(); f() { if (this.v instanceof A) return; this.v.m() } }", "B");
    check("function f(x: A | B) { if (x instanceof A) process.exit(1); x.m() }", "B");
}

#[test]
fn in_branches() {
    check("function f(x: A | B) { if (x instanceof A) x.one(); else x.m() }", "B");
    check("function f(x: A | B) { return x instanceof A ? 0 : x.m() }", "B");
    check("function f(x: A | B) { return x instanceof A && x.m() }", "A");
    check("function f(x: A | B) { return x instanceof A || x.m() }", "B");
    check("function f(x: A | B) { while (x instanceof A) { x.m() } }", "A");
    check("function f(x: unknown) { if (x instanceof A || x instanceof B) x.m() }", "A B");
    check("function f(x: A | B) { const is = x instanceof A; if (is) return; x.m() }", "B");
    check("function f(x: A | B) { if (x instanceof A) return; { const x = new A(); x.m() } }", "A");
    check("function f(x: A | B) { if (x instanceof A) return; (x: A) => x.m() }", "A");
    check("function f(x: A | B) { if (x instanceof A) return; return [1].map(() => x.m()) }", "B");
}

#[test]
fn by_a_discriminant() {
    check("function f(x: A | B) { if (x.kind === 'a') return; x.m() }", "B");
    check("function f(x: A | B) { if ('a' == x.kind) x.m() }", "A");
    check("function f(x: A | B) { if (x.kind !== 'a') x.m() }", "B");
    check("function f(x: A | B) { if (x?.kind !== 'a') return; x.m() }", "A");
    check("function f(x: A | B) { if (x.ok) return; x.m() }", "B");
    check("function f(x: A | B) { if (!x.ok) x.m() }", "B");
    check("function f(x: A | B) { if (x.ok === true) x.m() }", "A");
    check("function f(x: X | Y) { if (x.tag === E.X) return; x.m() }", "Y");
    check("const TAG = 'a'; function f(x: A | B) { if (x.kind === TAG) x.m() }", "A");
    check("function f(x: A | B, k: string) { if (x.kind === k) x.m() }", "A B");
    check("function f(x: A | B) { if ('one' in x) x.m() }", "A");
    check("function f(x: A | B) { if ('one' in x) return; x.m() }", "B");
    check("function f(x: A | string) { if (typeof x === 'string') return; x.m() }", "A");
    check("type T = ({ k: 'p' } & A) | ({ k: 'q' } & A); function f(x: T) { if (x.k === 'p') x.m() }", "A");
}

#[test]
fn in_a_switch() {
    check("function f(x: A | B) { switch (x.kind) { case 'a': x.m() } }", "A");
    check("function f(x: A | B) { switch (x.kind) { case 'a': break; default: x.m() } }", "B");
    check("function f(x: A | B) { switch (x.kind) { case 'a': return; } x.m() }", "B");
    check("function f(x: A | B | C) { switch (x.kind) { case 'a': case 'b': x.m() } }", "A B");
    check("function f(x: A | B | C) { switch (x.kind) { case 'a': x.one(); case 'b': x.m() } }", "A B");
    check("function f(x: A | B | C) { switch (x.kind) { case 'a': break; default: return } x.m() }", "A");
    check("function f(x: A | B) { switch (true) { case x instanceof A: x.m() } }", "A");
}

#[test]
fn by_functions_that_test() {
    check("function f(x: A | B) { if (isA(x)) return; x.m() }", "B");
    check("function f(x: A | B) { if (!isA(x)) return; x.m() }", "A");
    check("function f(x: A | B) { assertA(x); x.m() }", "A");
    check("function f(x: A | B) { assertThat(x instanceof B); x.m() }", "B");
    check("function f(x: A | B) { outside(x); x.m() }", "A B");
    check("import { isIt } from 'elsewhere'; function f(x: A | B) { if (isIt(x)) return; x.m() }", "unsure");
}

#[test]
fn by_what_is_assigned() {
    check("function f() { let x: A | B = new A(); x.m() }", "A");
    check("function f(x: A | B) { x = new B(); x.m() }", "B");
    check("function f(x: A | B) { if (x instanceof A) return; x = new A(); x.m() }", "A");
    check("function f(x: A | B, y: boolean) { if (y) x = new B(); x.m() }", "A B");
    check("function f(y: any) { let x: A | B = y; x.m() }", "unsure");
    let looped = "function f(x: A | B, g: () => A | B) { x = new A(); while (1) { x.m(); x = g() } }";
    check(looped, "unsure");
}

#[test]
fn what_was_known_stays_known() {
    let text = format!("{HEAD}function f(x: A) {{ if (outside(x)) return; x.m() }}\n");
    check_meaning(&text, "a.ts:11:m", "a.ts:1 Typed");
}
