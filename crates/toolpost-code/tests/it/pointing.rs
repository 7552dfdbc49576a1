//! What somebody means who points at an identifier: on the line of an import, at an alias, at a module, beside a name.

use toolpost_code::answers::place::Standing;
use toolpost_code::facts::Name;
use toolpost_code::languages;
use toolpost_code::resolve::{Memo, Query};

use crate::fixture::{check_pointed, token, world};

const PYTHON: &str = r"
//- pkg/__init__.py
from .core import run as launch
//- pkg/core.py
def run(x): return x
//- main.py
import os
import pkg.core as pc
from pkg import launch as fire
from pkg.core import run
fire(1)
pc.run(os.getcwd())
run(2)
//- other.py
import os
os.environ
";

const RUN: [&str; 7] = [
    "pkg/__init__.py:1 Exact",
    "pkg/core.py:1 Exact",
    "main.py:3 Exact",
    "main.py:4 Exact",
    "main.py:5 Exact",
    "main.py:6 Exact",
    "main.py:7 Exact",
];

#[test]
fn an_import_means_what_it_imports_in_python() {
    let check = |at, expected: &[&str]| check_pointed(PYTHON, at, expected);
    check("main.py:3:fire", &RUN);
    check("main.py:3:launch", &RUN);
    check("main.py:4:run", &RUN);
    check("main.py:7:run", &RUN);
    check("pkg/__init__.py:1:launch", &RUN);
    check(
        "main.py:2:pc",
        &["pkg/__init__.py:1 Exact", "main.py:2 Exact", "main.py:4 Exact", "main.py:6 Exact"],
    );
}

#[test]
fn an_import_from_outside_means_itself_wherever_it_is_imported() {
    let os = ["main.py:1 Exact", "main.py:6 Exact", "other.py:1 Exact", "other.py:2 Exact"];
    check_pointed(PYTHON, "main.py:1:os", &os);
    check_pointed(PYTHON, "other.py:2:os", &os);
    const RUST: &str = r"
//- src/lib.rs
use std::collections::HashMap;
use std::fmt;
pub fn a() -> HashMap<u8, u8> { HashMap::new() }
//- src/b.rs
use std::collections::HashMap as Map;
pub fn b() -> Map<u8, u8> { Map::new() }
";
    let map = ["src/lib.rs:1 Exact", "src/lib.rs:3 Exact", "src/b.rs:1 Exact", "src/b.rs:2 Exact"];
    check_pointed(RUST, "src/lib.rs:1:HashMap", &map);
    check_pointed(RUST, "src/lib.rs:3:HashMap", &map);
}

const TYPESCRIPT: &str = r"
//- src/a.ts
export class Widget { draw() {} }
export default function main() { return 1 }
//- src/index.ts
export { Widget as Gadget, default as start } from './a'
//- src/app.ts
import React from 'react'
import go, { Widget as W } from './a'
import { Gadget, start } from './index'
go(); start(); new W(); new Gadget(); React.x
";

#[test]
fn an_import_means_what_it_imports_in_typescript() {
    let check = |at, expected: &[&str]| check_pointed(TYPESCRIPT, at, expected);
    let main = [
        "src/a.ts:2 Exact",
        "src/index.ts:1 Exact",
        "src/app.ts:2 Exact",
        "src/app.ts:3 Exact",
        "src/app.ts:4 Exact",
    ];
    check("src/app.ts:2:go", &main);
    check("src/app.ts:3:start", &main);
    let widget = [
        "src/a.ts:1 Exact",
        "src/index.ts:1 Exact",
        "src/app.ts:2 Exact",
        "src/app.ts:3 Exact",
        "src/app.ts:4 Exact",
    ];
    check("src/app.ts:2:Widget", &widget);
    check("src/app.ts:2:W", &widget);
    check("src/app.ts:3:Gadget", &widget);
    check("src/index.ts:1:Gadget", &widget);
    check("src/app.ts:1:React", &["src/app.ts:1 Exact", "src/app.ts:4 Exact"]);
}

const GO: &str = r#"
//- go.mod
module example.com/m
//- util/u.go
package util

func New() int { return 1 }
//- other/o.go
package renamed

func Old() int { return 2 }
//- main.go
package main

import (
	"example.com/m/other"
	"example.com/m/util"
	"fmt"
)

func main() {
	fmt.Println(util.New(), renamed.Old())
}
"#;

#[test]
fn an_import_of_go_means_the_package_in_its_file() {
    let check = |at, expected: &[&str]| check_pointed(GO, at, expected);
    check("main.go:5:util", &["main.go:5 Exact", "main.go:10 Exact"]);
    check("main.go:6:fmt", &["main.go:6 Exact", "main.go:10 Exact"]);
    // Its name is not that of its folder.
    check("main.go:4:other", &["main.go:4 Exact", "main.go:10 Exact"]);
    check("other/o.go:3:Old", &["other/o.go:3 Exact", "main.go:10 Exact"]);
}

#[test]
fn what_is_handed_on_under_another_name_can_be_asked_for() {
    let check = |text: &str, name: &str, expected: &[&str]| {
        let world = world(text);
        let query = Query::new(&world, Memo::default());
        let found = query.aliased(Name::of(name));
        let shown: Vec<String> = found
            .iter()
            .map(|(file, def)| format!("{} {}", world.path(*file), query.symbol(*def).expect("one").name))
            .collect();
        assert_eq!(shown, expected, "{name}");
    };
    check(PYTHON, "launch", &["pkg/__init__.py run"]);
    check(TYPESCRIPT, "Gadget", &["src/index.ts Widget"]);
    check(TYPESCRIPT, "start", &["src/index.ts main"]);
    let rust = "
//- src/lib.rs
mod b;
pub use b::Thing as Exported;
use b::Other as Private;
//- src/b.rs
pub struct Thing;
pub struct Other;
";
    check(rust, "Exported", &["src/lib.rs Thing"]);
    check(rust, "Private", &["src/lib.rs Other"]);
    check(rust, "Thing", &[]);
}

const SHORTHANDS: &str = r"
//- src/a.ts
export interface Options { retry: number; url: string }
export function make(url: string): Options {
  const retry = 2
  return { retry, url }
}
export function take(options: Options) {
  const { retry, url } = options
  return retry + url.length
}
const { length } = 'a string'
";

#[test]
fn a_shorthand_leads_to_its_value_and_in_a_pattern_to_the_member() {
    let check = |at, expected| {
        let world = world(SHORTHANDS);
        let query = Query::new(&world, Memo::default());
        let (file, token) = token(&query, at);
        let facts = query.facts(file);
        let same = |index: &u32| facts.tokens[*index as usize].start == facts.tokens[token as usize].start;
        // Whichever of the two identifiers is asked.
        for index in (0..facts.tokens.len() as u32).filter(same) {
            let found = query.definition(file, index);
            let lines: Vec<u32> = found
                .defs()
                .map(|def| facts.position(facts.def(def.index).expect("a definition").name_start).0)
                .collect();
            assert_eq!(lines, expected, "{at}");
        }
    };
    check("src/a.ts:4:retry", [3]);
    check("src/a.ts:4:url", [2]);
    check("src/a.ts:7:retry", [1]);
    check("src/a.ts:8:retry", [7]);
    check("src/a.ts:10:length", [10]);
}

#[test]
fn what_stands_at_a_place_is_said() {
    let check = |source: &str, name: &str, line: u32, column: Option<u32>, expected: &str| {
        let languages = languages::all();
        let python = languages.iter().find(|language| language.name() == "python").expect("python");
        let facts = languages::extract(*python, "a.py", source.as_bytes());
        let names = |tokens: &[u32]| -> String {
            let shown = tokens.iter().map(|&index| {
                let token = facts.token(index).expect("a token");
                format!("{}@{}", facts.text(token.name), facts.position(token.start).1)
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        let shown = match facts.standing(name, line, column) {
            Standing::There(token) => format!("there {}", names(&[token])),
            Standing::Beside(token) => format!("beside {}", names(&[token])),
            Standing::Several(tokens) => format!("several {}", names(&tokens)),
            Standing::Others(tokens) => format!("others {}", names(&tokens)),
            Standing::Beyond => "beyond".to_owned(),
        };
        assert_eq!(shown, expected, "{name} {line}:{column:?}");
    };
    let source = "zed(); Q().zed()\nw = zed\n";
    check(source, "zed", 1, Some(1), "there zed@1");
    check(source, "zed", 1, Some(4), "there zed@1");
    check(source, "zed", 1, Some(13), "there zed@12");
    check(source, "zed", 1, Some(8), "several zed@1 zed@12");
    check(source, "zed", 1, None, "there zed@1");
    check(source, "zed", 2, Some(1), "beside zed@5");
    check(source, "nope", 2, Some(1), "others w@1 zed@5");
    check(source, "zed", 9, None, "beyond");
    let source = "async def run(x): return x\n";
    check(source, "async", 1, Some(1), "there run@11");
    check(source, "def", 1, Some(7), "there run@11");
    check(source, "async", 1, None, "others run@11 x@15 x@26");
    check(source, "return", 1, Some(19), "others run@11 x@15 x@26");
    // A mark of the order of bytes counts nowhere.
    check("\u{feff}zed()\n", "zed", 1, Some(1), "there zed@1");
}
