//! Imports that lead nowhere are unresolved: nothing is taken for what they mean because it has the same name.

use toolpost_code::resolve::{Memo, Query};
use toolpost_code::world::World;

use crate::fixture::{check_meaning, check_uses, world};

const CRATES: &str = r#"
//- a/Cargo.toml
[package]
name = "a"
//- a/src/lib.rs
pub use ext::thing::weird;
pub use crate::gone::lost;
use rustc_ast::ast::Item;
pub fn go(_: Item) { weird(); lost(); }
//- a/src/other.rs
pub struct Own { pub weird: u32, pub lost: u32 }
pub enum Kind { Item }
//- b/Cargo.toml
[package]
name = "b"
//- b/src/lib.rs
pub struct S { pub weird: u32, pub lost: u32 }
pub enum E { Item }
"#;

#[test]
fn no_field_is_imported() {
    for at in ["a/src/lib.rs:1:weird", "a/src/lib.rs:2:lost", "a/src/lib.rs:3:Item"] {
        check_meaning(CRATES, at, "Unknown");
    }
    for at in ["a/src/lib.rs:4:weird", "a/src/lib.rs:4:lost", "a/src/lib.rs:4:Item"] {
        check_meaning(CRATES, at, "Unknown");
    }
    check_uses(CRATES, "a/src/other.rs:1:weird", &[]);
    check_uses(CRATES, "b/src/lib.rs:1:weird", &[]);
    check_uses(CRATES, "b/src/lib.rs:1:lost", &[]);
    check_uses(CRATES, "b/src/lib.rs:2:Item", &[]);
}

/// The candidates for the last use of a name, by path.
fn candidates(world: &World, path: &str, name: &str) -> Vec<String> {
    let query = Query::new(world, Memo::default());
    let file = world.file(path).expect("a file");
    let facts = query.facts(file);
    let token = facts.tokens.iter().rposition(|token| facts.text(token.name) == name).expect("a use");
    query.resolve(file, token as u32).defs().map(|def| world.path(def.file).to_owned()).collect()
}

#[test]
fn the_order_of_files_changes_no_answer() {
    let files: Vec<String> =
        (10..40).map(|n| format!("//- m{n}.py\nclass C:\n    def often(self): pass\n")).collect();
    let last = "//- use.py\ndef f(x): x.often()\n".to_owned();
    let forth: String = files.iter().chain([&last]).map(String::as_str).collect();
    let back: String = [&last].into_iter().chain(files.iter().rev()).map(String::as_str).collect();
    let (forth, back) = (world(&forth), world(&back));
    let found = candidates(&forth, "use.py", "often");
    assert_eq!(found.first().map(String::as_str), Some("m10.py"));
    assert_eq!(found, candidates(&back, "use.py", "often"));
}

/// Items in the call of a macro are items, whatever else stands beside them.
#[test]
fn items_in_macros_are_read() {
    let beside = [
        "pub type Sent = Box<dyn Send>;",
        "pub fn made() -> Box<dyn Send + 'static> { Box::new(1) }",
        "extern \"C\" { fn outside(); }",
        "pub extern \"C\" fn shown() {}",
        "fn text() { r#\"a\"#; }",
    ];
    for other in beside {
        check_uses(
            &in_macro(&format!("pub mod task; {other}")),
            "src/task.rs:1:Handle",
            &["src/lib.rs:3 Exact"],
        );
    }
    let inner = in_macro("#![allow(dead_code)] pub mod task; pub fn f() {}");
    check_uses(&inner, "src/task.rs:1:Handle", &["src/lib.rs:3 Exact"]);
    for other in beside {
        let tree = in_macro(&format!("{other} pub fn kept() {{}} pub mod task;"));
        check_uses(&tree, "src/lib.rs:2:kept", &["src/lib.rs:4 Exact"]);
    }
}

fn in_macro(items: &str) -> String {
    format!(
        "//- Cargo.toml\n[package]\nname = \"x\"\n//- src/lib.rs\n\
         macro_rules! cfg_rt {{ ($($i:item)*) => {{ $($i)* }} }}\n\
         cfg_rt! {{ {items} }}\n\
         pub fn f(_: task::Handle) {{}}\n\
         pub fn g() {{ kept(); }}\n\
         //- src/task.rs\npub struct Handle;\n"
    )
}

#[test]
fn the_order_of_files_changes_no_ranking_and_no_graph() {
    let mut files: Vec<String> = Vec::new();
    for n in 10..40 {
        let (next, far) = (10 + (n - 9) % 30, 10 + (n * 7) % 30);
        files.push(format!(
            "//- m{n}.py\nfrom m{next} import f{next}\nimport m{far}\nclass C{n}:\n    def often(self): return f{next}()\ndef f{n}(): return m{far}.C{far}().often()\ndef unused{n}(): pass\n"
        ));
    }
    let forth: String = files.concat();
    let back: String = files.iter().rev().map(String::as_str).collect();
    let (forth, back) = (world(&forth), world(&back));
    let answers = |world: &World| {
        let query = Query::new(world, Memo::default());
        let ranked = query.rank(&toolpost_code::answers::ranking::Focus::default());
        let ranked: Vec<(String, u32, u64)> = ranked
            .iter()
            .map(|one| (world.path(one.def.file).to_owned(), one.def.index, one.share.to_bits()))
            .collect();
        let files: Vec<_> = world.files().collect();
        let edges = query.dependencies(&files);
        let edges: Vec<(String, String, u32)> = edges
            .iter()
            .map(|edge| (world.path(edge.from).to_owned(), world.path(edge.to).to_owned(), edge.count))
            .collect();
        (ranked, edges)
    };
    let expected = answers(&forth);
    assert!(expected.0.len() > 60 && expected.1.len() > 30, "{expected:?}");
    for _ in 0..3 {
        assert_eq!(answers(&forth), expected);
        assert_eq!(answers(&back), expected);
    }
}

#[test]
fn a_search_ends_in_time_and_says_so() {
    let world = world("//- a.py\ndef often(): pass\n//- b.py\nfrom a import often\noften()\n");
    let query = Query::new(&world, Memo::default());
    let def = toolpost_code::resolve::DefId { file: world.file("a.py").expect("a file"), index: 0 };
    let whole = query.references(def);
    assert_eq!((whole.found.len(), whole.is_cut), (3, false));
    query.end_at(std::time::Instant::now());
    let cut = query.references(def);
    assert!(cut.is_cut && cut.found.len() < whole.found.len(), "{cut:?}");
}

#[test]
fn a_module_that_is_not_there_may_be_anywhere() {
    let text = "
//- pkg/__init__.py
//- lonely.py
def lonely(): pass
//- lost.py
from pkg.gone import lonely
from .gone import lonely as again
import pkg.gone
lonely()
pkg.gone.lonely()
//- deep.py
import elsewhere
elsewhere.lonely()
";
    for at in ["lost.py:1:lonely", "lost.py:2:lonely", "lost.py:4:lonely", "lost.py:5:lonely"] {
        check_meaning(text, at, "Unknown");
    }
    let uses = ["lost.py:1 Possible", "lost.py:2 Possible", "lost.py:4 Possible", "lost.py:5 Possible"];
    check_uses(text, "lonely.py:1:lonely", &uses);
}

#[test]
fn what_lies_too_deep_may_be_a_use() {
    let (open, close) = ("[".repeat(900), "]".repeat(900));
    let text = format!("//- a.py\ndef lonely(): pass\nx = {open}lonely{close}\n");
    check_uses(&text, "a.py:1:lonely", &["a.py:2 Possible"]);
}
