//! JavaScript: CommonJS, and types in comments.

use crate::fixture::{check_meaning, check_uses};

const COMMON: &str = r"
//- lib.js
const other = require('./other')
function run(a) { return a }
const stop = () => 1
function start() {}
class Box { open() {} }
function early() {}
module.exports = { run, stop: stop, begin: start, Box, other }
//- main.js
const lib = require('./lib')
const { run, Box } = require('./lib')
lib.run(1)
run(2)
lib.stop()
new lib.Box().open()
new Box().open()
lib.other.deep()
//- other.js
function deep() {}
exports.deep = deep
exports.fast = deep
//- third.mjs
import { run } from './lib.js'
run(3)
//- fourth.js
const { deep, fast } = require('./other')
deep()
fast()
";

#[test]
fn what_is_declared_and_handed_out_is_one() {
    let run = [
        "lib.js:7 Typed",
        "lib.js:7 Exact",
        "main.js:2 Exact",
        "main.js:3 Exact",
        "main.js:4 Exact",
        "third.mjs:1 Exact",
        "third.mjs:2 Exact",
    ];
    check_uses(COMMON, "lib.js:2:run", &run);
    check_uses(COMMON, "lib.js:3:stop", &["lib.js:7 Typed", "lib.js:7 Exact", "main.js:5 Exact"]);
    check_uses(
        COMMON,
        "lib.js:5:Box",
        &["lib.js:7 Typed", "lib.js:7 Exact", "main.js:2 Exact", "main.js:6 Exact", "main.js:7 Exact"],
    );
    check_uses(COMMON, "lib.js:5:open", &["main.js:6 Typed", "main.js:7 Typed"]);
    check_meaning(COMMON, "main.js:4:run", "lib.js:2 Exact");
    check_meaning(COMMON, "main.js:8:deep", "other.js:1 Exact");
    check_meaning(COMMON, "fourth.js:3:fast", "other.js:1 Exact");
    let deep = [
        "main.js:8 Exact",
        "other.js:2 Exact",
        "other.js:3 Exact",
        "fourth.js:1 Exact",
        "fourth.js:2 Exact",
        "fourth.js:3 Exact",
    ];
    check_uses(COMMON, "other.js:1:deep", &deep);
}

const SAID: &str = r#"
//- item.js
export class Item { price() {} self() { return this } }
export class Other { price() {} }
//- use.js
import { Item, Other } from './item.js'
/**
 * Says more.
 * @param {Item} item - what is sold
 * @param {?Other} [other=null]
 * @param {Array<Item>} list
 * @returns {Promise<Other>}
 */
export async function sell(item, other, list) {
  item.price()
  other.price()
  list[0].price()
  for (const one of list) one.price()
}
/** @type {Item[]} */
const items = []
items.map((one) => one.price())
/** @param {Other} a */
const arrow = (a) => a.price()
async function late() { (await sell()).price() }
class Shop {
  /** @type {Item} */
  first = null
  constructor() {
    /** @type {Other} */
    this.second = null
  }
  /** @param {Item} x @return {Other} */
  make(x) { x.price(); return null }
  go() { this.first.price(); this.second.price(); this.make().price() }
}
/** @typedef {import('./item.js').Item} Sold */
/** @param {Sold} s */
function sold(s) { s.price() }
const cast = /** @type {Other} */ (globalThis.thing)
cast.price()
//- plain.ts
import { Item } from './item.js'
/** @param {Item} x */
export function typed(x: any) { x.price() }
"#;

#[test]
fn comments_say_types() {
    let check = |at, expected| check_meaning(SAID, at, expected);
    check("use.js:10:price", "item.js:1 Typed");
    check("use.js:11:price", "item.js:2 Typed");
    check("use.js:12:price", "item.js:1 Typed");
    check("use.js:13:price", "item.js:1 Typed");
    check("use.js:17:price", "item.js:1 Typed");
    check("use.js:19:price", "item.js:2 Typed");
    check("use.js:20:price", "item.js:2 Typed");
    check("use.js:29:price", "item.js:1 Typed");
    check("use.js:30:price#1", "item.js:1 Typed");
    check("use.js:30:price#2", "item.js:2 Typed");
    check("use.js:30:price#3", "item.js:2 Typed");
    check("use.js:34:price", "item.js:1 Typed");
    check("use.js:36:price", "item.js:2 Typed");
    check("use.js:4:Item", "item.js:1 Exact");
    check("use.js:32:Item", "item.js:1 Exact");
}
