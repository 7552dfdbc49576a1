//! What files hand out, and in which line they do.

use toolpost_code::resolve::{Memo, Query};

use crate::fixture::world;

fn check(text: &str, path: &str, expected: &[&str]) {
    let world = world(text);
    let query = Query::new(&world, Memo::default());
    let file = world.file(path).expect("the file");
    let shown: Vec<String> = query
        .exports(file)
        .iter()
        .map(|export| {
            let origin = export.from.or(export.def.map(|def| def.file)).filter(|origin| *origin != file);
            let origin = origin.map(|origin| format!(" from {}", world.path(origin))).unwrap_or_default();
            format!("{}: {}{origin}", export.line, export.name)
        })
        .collect();
    assert_eq!(shown, expected, "{path}");
}

const TREE: &str = r"
//- a.ts
export function make() {}
export class Widget {}
//- index.ts
import { Widget } from './a'

export * from './a.js'
export { make as build } from './a'
export * as all from './a'
export { Widget }
//- d.cjs
function helper() {}
class Q {}

module.exports = {
  helper,
  Q,
  other: 1,
}
exports.extra = function extra() {}
//- whole.cjs
class Whole {}
module.exports = Whole
//- pkg/__init__.py
from .core import run as launch
from .core import *
__all__ = ['launch', 'stop']
//- pkg/core.py
def run(): pass
def stop(): pass
//- src/lib.rs
mod b;

pub use b::Thing as Exported;
pub use b::*;
//- src/b.rs
pub struct Thing;
";

#[test]
fn exports_stand_where_they_are_written() {
    check(
        TREE,
        "index.ts",
        &["3: * from a.ts", "4: build from a.ts", "5: all from a.ts", "6: Widget from a.ts"],
    );
    check(TREE, "d.cjs", &["5: helper", "6: Q", "7: other", "9: extra"]);
    check(TREE, "whole.cjs", &["2: Whole"]);
    check(TREE, "src/lib.rs", &["3: Exported from src/b.rs", "4: * from src/b.rs"]);
    check(TREE, "pkg/__init__.py", &["1: launch from pkg/core.py", "3: stop from pkg/core.py"]);
}

#[test]
fn what_is_handed_out_is_not_imported() {
    let world = world(TREE);
    let query = Query::new(&world, Memo::default());
    let shown = |path: &str| -> Vec<String> {
        let imports = query.imports(world.file(path).expect("the file"));
        imports.iter().map(|import| format!("{}: {}", import.line, import.module)).collect()
    };
    assert_eq!(shown("d.cjs"), Vec::<String>::new());
    assert_eq!(shown("src/lib.rs"), ["3: b", "4: b"]);
    assert_eq!(shown("index.ts"), ["1: ./a", "3: ./a.js", "4: ./a", "5: ./a"]);
}

#[test]
fn an_import_of_python_is_listed_once() {
    let text = "
//- pkg/__init__.py
//- pkg/sub/__init__.py
//- pkg/sub/deep.py
def run(): pass
//- use.py
import pkg.sub.deep
import pkg.sub.deep as d
import os.path
from pkg.sub import deep
from pkg.sub.deep import run as go
from pkg.sub.deep import *
import pkg
";
    let world = crate::fixture::world(text);
    let query = toolpost_code::resolve::Query::new(&world, toolpost_code::resolve::Memo::default());
    let file = world.file("use.py").expect("the file");
    let shown: Vec<String> = query
        .imports(file)
        .into_iter()
        .map(|one| {
            let target = one.files.first().map_or("", |file| world.path(*file));
            format!("{} {} {:?} {:?} {target}", one.line, one.module, one.name, one.alias)
        })
        .collect();
    let expected = [
        "1 pkg.sub.deep None None pkg/sub/deep.py",
        "2 pkg.sub.deep None Some(\"d\") pkg/sub/deep.py",
        "3 os.path None None ",
        "4 pkg.sub Some(\"deep\") None pkg/sub/deep.py",
        "5 pkg.sub.deep Some(\"run\") Some(\"go\") pkg/sub/deep.py",
        "6 pkg.sub.deep None None pkg/sub/deep.py",
        "7 pkg None Some(\"pkg\") pkg/__init__.py",
    ];
    assert_eq!(shown, expected);
}
