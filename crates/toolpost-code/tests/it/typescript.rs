//! TypeScript and JavaScript.

use crate::fixture::{check_meaning, check_pointed, check_uses};

const TREE: &str = r##"
//- package.json
{ "name": "shop", "exports": { ".": "./dist/index.js" }, "imports": { "#util": "./src/util.ts" } }
//- tsconfig.json
{ "compilerOptions": { "paths": { "@/*": ["./src/*"] }, /* the rest */ } }
//- src/index.ts
export * from './item.js'
export { cheapest as best, type Options } from '@/item'
export { default as Cart } from './cart'
//- src/item.ts
export interface Named { name(): string }
export interface Options { limit: number; nested?: { deep: boolean } }
export class Item implements Named {
  constructor(readonly price: number, private tags: string[] = []) {}
  name() { return 'x' + this.price }
  get cost(): number { return this.price }
}
export function cheapest(items: Item[], options: Options): Item {
  const sorted = items.filter((one) => one.price > options.limit)
  return sorted[0]
}
export const Kind = { a: 1 }
export type Kind = Options
export enum Size { Small, Large }
//- src/cart.ts
import { Item, Size } from 'shop'
import * as all from './index'
import { helper } from '#util'
export default class Cart<T extends Item = Item> {
  #items = new Map<string, T>()
  async first(): Promise<T | undefined> { return this.#items.get('x') }
  each(visit: (item: T, index: number) => void) { for (const one of this.#items.values()) visit(one, 0) }
}
async function main(cart: Cart<Item>) {
  const found = await cart.first()
  found?.name()
  cart.each((item) => item.price)
  const { price, cost: other } = found!
  all.best([], { limit: 3, nested: { deep: true } }).price
  const kinds: all.Kind = { limit: 1 }
  helper(Size.Small, price, other, kinds)
  unknownThing.price
}
//- src/util.ts
export function helper(...all: unknown[]): void
export function helper(one: string): void
export function helper() {}
export namespace Deep { export interface Inner { value: number } export const made: Inner = { value: 1 } }
export const used: Deep.Inner = Deep.made
//- old.cjs
const { helper: run } = require('./src/util')
class Old { constructor() { this.count = 0 } more() { return this.count } }
module.exports = { Old, run }
//- older.cjs
const { Old } = require('./old.cjs')
new Old().more()
//- view.tsx
import Cart from './src/cart'
namespace JSX { export interface IntrinsicElements { div: { id?: string } } }
function View(props: { label: string; cart: Cart }) { return <div id="x">{props.label}</div> }
export const page = <View label="a" cart={new Cart()} />
"##;

#[test]
fn other_declarations_of_the_same_thing_are_no_uses() {
    const TEXT: &str = r"
//- src/a.ts
export interface Map { a: string }
export function get(key: string): string
export function get(key: number): number
export function get(key: unknown): unknown { return key }
export const use = (map: Map) => get(map.a)
//- src/b.ts
declare module './a' {
  interface Map { b: string }
}
//- src/c.ts
import { Map } from './a'
declare module './a' {
  interface Map { c: string }
}
export const take = (map: Map) => map.b + map.c
";
    check_uses(TEXT, "src/a.ts:2:get", &["src/a.ts:5 Exact"]);
    let uses = ["src/a.ts:5 Exact", "src/c.ts:1 Exact", "src/c.ts:5 Exact"];
    check_uses(TEXT, "src/a.ts:1:Map", &uses);
    // Whichever part of the interface is asked.
    let uses = ["src/a.ts:5 Dispatch", "src/c.ts:1 Dispatch", "src/c.ts:5 Dispatch"];
    check_uses(TEXT, "src/b.ts:2:Map", &uses);
}

#[test]
fn meanings() {
    let check = |at, expected| check_meaning(TREE, at, expected);
    check("src/index.ts:2:cheapest", "src/item.ts:8 Exact");
    check("src/cart.ts:1:Item", "src/item.ts:3 Exact");
    check("src/cart.ts:3:helper", "src/util.ts:1 Exact");
    check("src/cart.ts:6:get", "external Exact");
    check("src/cart.ts:11:name", "src/item.ts:5 Typed");
    check("src/cart.ts:12:price", "src/item.ts:4 Typed");
    check("src/cart.ts:13:cost", "src/item.ts:6 Typed");
    check("src/cart.ts:14:best", "src/item.ts:8 Exact");
    check("src/cart.ts:14:price", "src/item.ts:4 Typed");
    check("src/cart.ts:15:Kind", "src/item.ts:13 Exact");
    check("src/cart.ts:16:Small", "src/item.ts:14 Exact");
    check("src/cart.ts:17:unknownThing", "external Exact");
    check("src/cart.ts:17:price", "external Exact");
    check("src/item.ts:9:price", "src/item.ts:4 Typed");
    check("src/util.ts:5:made", "src/util.ts:4 Exact");
    check("old.cjs:1:helper", "src/util.ts:1 Exact");
    check("older.cjs:2:more", "old.cjs:2 Typed");
    check("view.tsx:3:label#2", "view.tsx:3 Typed");
    check("view.tsx:3:div#1", "view.tsx:2 Typed");
}

#[test]
fn uses() {
    let check = |at, expected: &[&str]| check_uses(TREE, at, expected);
    check("src/item.ts:2:limit", &["src/item.ts:9 Typed", "src/cart.ts:14 Typed", "src/cart.ts:15 Typed"]);
    check("src/item.ts:2:deep", &["src/cart.ts:14 Typed"]);
    check("src/item.ts:1:name", &["src/item.ts:5 Dispatch", "src/cart.ts:11 Dispatch"]);
    check("src/item.ts:8:cheapest", &["src/index.ts:2 Exact", "src/cart.ts:14 Exact"]);
    check("src/item.ts:12:Kind", &[]);
}

#[test]
fn hostile_files_are_read() {
    let deep = "[".repeat(20_000);
    let types = format!("type A = {}1{}", "X<".repeat(9_000), ">".repeat(9_000));
    let chain = format!("const a = b{}", ".c()".repeat(20_000));
    let minified = "function a(b){return b.c?b.d(function(e){return{f:e,g:h}}):i}".repeat(2_000);
    let flow = "// @flow\ntype T = {| a: ?string |};\nopaque type B = T;\nimport typeof X from 'y';\nfunction f(x: T): %checks { return !!x }\n";
    let circle = "type A = B; type B = A; interface C extends C { x: C['x'] } type D<T> = T extends D<infer U> ? D<U> : D<T>; declare const d: D<A>; d.x.y";
    let broken = "class { constructor( } export default <div> import {a as from 'x' export * function (";
    for source in [&deep, &types, &chain, &minified, flow, circle, broken] {
        for path in ["a.ts", "a.tsx", "a.js", "a.d.ts"] {
            let tree = format!("//- {path}\n{source}\n");
            let world = crate::fixture::world(&tree);
            let query = toolpost_code::resolve::Query::new(&world, toolpost_code::resolve::Memo::default());
            let file = world.file(path).expect("the file");
            for token in 0..query.facts(file).tokens.len().min(3_000) {
                query.refuel();
                query.resolve(file, token as u32);
            }
        }
    }
}

#[test]
fn a_key_of_a_literal_of_an_outer_type_is_that_type_s() {
    let text = "
//- a.ts
import type { Options } from 'outside'
const one: Options = { method: 'a', rest: 1 }
function take(options: Options) { return options.method }
take({ method: 'b' })
const other = { method: 'c' }
fetch('/', { method: 'd' })
";
    check_pointed(text, "a.ts:2:method", &["a.ts:2 Typed", "a.ts:3 Typed", "a.ts:4 Typed"]);
    check_pointed(text, "a.ts:5:method", &["a.ts:5 Exact"]);
    check_pointed(text, "a.ts:6:method", &["a.ts:6 Typed"]);
}

#[test]
fn type_parameters_may_say_in_and_out() {
    const TREE: &str = "
//- a.ts
export interface Shape { size: number }
export interface Box<in out T extends Shape, out U = Shape> { item: T; other: U }
export class Sink<
  in T extends Shape,
  out Made = Shape,
> { take(item: T) { return item.size } }
export type Plain<out extends Shape> = out
declare const first: Shape, out: Shape
export const list = [first, out as Shape, out
]
export { first, out as last }
";
    let world = crate::fixture::world(TREE);
    assert_eq!(world.broken(), []);
    let at = |line: u32| format!("a.ts:{line} Exact");
    let lines = [2, 4, 5, 7, 8, 9].map(at);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check_uses(TREE, "a.ts:1:Shape", &lines);
}

#[test]
fn attributes_may_hold_links() {
    const TREE: &str = "
//- a.tsx
export function link() { return <a href=\"https://example.com/?a=1&b=2\" title='A & B' id={link.name}>here</a> }
";
    assert_eq!(crate::fixture::world(TREE).broken(), []);
    check_uses(TREE, "a.tsx:1:link", &["a.tsx:1 Exact"]);
}
