//! Definitions of which a build has one or the other, by `cfg`: they share their uses.

use crate::fixture::check_uses;

const ITEMS: &str = r#"
//- Cargo.toml
[package]
name = "own"
//- src/lib.rs
#[cfg(unix)]
pub fn open() {}
#[cfg(windows)]
pub fn open() {}
#[cfg(unix)]
macro_rules! say { () => {} }
#[cfg(windows)]
macro_rules! say { () => {} }
#[cfg(unix)]
pub struct Handle { pub fd: i32, pub name: u8 }
#[cfg(windows)]
pub struct Handle { pub raw: u64, pub name: u8 }
impl Handle {
    pub fn close(&self) {}
    #[cfg(unix)]
    pub fn number(&self) -> i32 { self.fd }
    #[cfg(windows)]
    pub fn number(&self) -> u64 { self.raw }
}
fn run(handle: &Handle) {
    open();
    say!();
    handle.close();
    handle.number();
    handle.name;
}
"#;

#[test]
fn items_of_one_file() {
    for declared in ["src/lib.rs:2:open", "src/lib.rs:4:open"] {
        let expected: &[&str] = match declared.contains(":2:") {
            true => &["src/lib.rs:4 Exact", "src/lib.rs:21 Exact"],
            false => &["src/lib.rs:2 Exact", "src/lib.rs:21 Exact"],
        };
        check_uses(ITEMS, declared, expected);
    }
    check_uses(ITEMS, "src/lib.rs:8:say", &["src/lib.rs:6 Exact", "src/lib.rs:22 Exact"]);
    check_uses(ITEMS, "src/lib.rs:14:close", &["src/lib.rs:23 Typed"]);
    check_uses(ITEMS, "src/lib.rs:18:number", &["src/lib.rs:16 Exact", "src/lib.rs:24 Typed"]);
    check_uses(ITEMS, "src/lib.rs:12:name", &["src/lib.rs:10 Exact", "src/lib.rs:25 Typed"]);
    check_uses(ITEMS, "src/lib.rs:12:raw", &["src/lib.rs:18 Typed"]);
    check_uses(
        ITEMS,
        "src/lib.rs:12:Handle",
        &["src/lib.rs:10 Exact", "src/lib.rs:13 Exact", "src/lib.rs:20 Exact"],
    );
}

const MODULES: &str = r#"
//- Cargo.toml
[package]
name = "own"
//- src/lib.rs
#[cfg(unix)]
#[path = "unix.rs"]
mod imp;
#[cfg(windows)]
#[path = "windows.rs"]
mod imp;
#[cfg(unix)]
mod unix_only;
#[cfg(windows)]
mod windows_only;
#[cfg(unix)]
pub use unix_only::*;
#[cfg(windows)]
pub use windows_only::*;
cfg_if::cfg_if! {
    if #[cfg(unix)] {
        mod first;
        use first as chosen;
    } else {
        mod second;
        use second as chosen;
    }
}
fn run() {
    imp::start();
    stop();
    chosen::pause();
}
//- src/unix.rs
pub fn start() {}
//- src/windows.rs
pub fn start() {}
//- src/unix_only.rs
pub fn stop() {}
//- src/windows_only.rs
pub fn stop() {}
//- src/first.rs
pub fn pause() {}
//- src/second.rs
pub fn pause() {}
"#;

#[test]
fn modules_of_other_files() {
    for (file, name, expected) in [
        ("unix", "start", "25 Typed"),
        ("windows", "start", "25 Typed"),
        ("unix_only", "stop", "26 Exact"),
        ("windows_only", "stop", "26 Exact"),
        ("first", "pause", "27 Typed"),
        ("second", "pause", "27 Typed"),
    ] {
        let expected = format!("src/lib.rs:{expected}");
        check_uses(MODULES, &format!("src/{file}.rs:1:{name}"), &[&expected]);
    }
}

const FORMATS: &str = r#"
//- Cargo.toml
[package]
name = "own"
//- src/lib.rs
const WIDE: usize = 3;
fn run(name: &str, size: usize) -> String {
    println!("{name} {size:?} {{name}}");
    print!("{name:>WIDE$.size$}");
    log::info!("a", "{name}");
    assert!(size > 0, "no {name}");
    format!("{size}", size = 1)
}
"#;

#[test]
fn names_in_formats_are_uses() {
    check_uses(FORMATS, "src/lib.rs:1:WIDE", &["src/lib.rs:4 Exact"]);
    let lines = [3, 4, 5, 6].map(|line| format!("src/lib.rs:{line} Exact"));
    check_uses(FORMATS, "src/lib.rs:2:name", &lines.each_ref().map(String::as_str));
    let lines = [3, 4, 6].map(|line| format!("src/lib.rs:{line} Exact"));
    check_uses(FORMATS, "src/lib.rs:2:size", &lines.each_ref().map(String::as_str));
}

const NEW: &str = r#"
//- go.mod
module example.com/own
//- a.go
package own

type Box struct{ size int }

func (b *Box) grow() int { return b.size }

func count() int { return 1 }

func run(b *Box) {
	first := new(count())
	second := new(b.grow())
	third := new(42)
	last := new(Box)
	last.grow()
	_, _, _ = first, second, third
}
"#;

#[test]
fn new_takes_any_expression() {
    check_uses(NEW, "a.go:7:count", &["a.go:10 Exact"]);
    check_uses(NEW, "a.go:5:grow", &["a.go:11 Typed", "a.go:14 Typed"]);
    let world = crate::fixture::world(NEW);
    assert!(world.broken().is_empty());
}

const CLASSES: &str = r#"
//- a.py
from typing import Self
class Base:
    @classmethod
    def plain(cls):
        return cls()
    @classmethod
    def typed(cls) -> Self:
        return cls()
    @classmethod
    def later(cls):
        made = cls()
        return made
    def itself(self) -> Self:
        return self
    def quoted(self) -> "Self":
        return self
    def size(self): pass
class Derived(Base):
    def more(self): pass
Base.plain().size()
Base.typed().size()
Base.later().size()
Base().itself().size()
Base().quoted().size()
Derived.plain().more()
Derived.typed().more()
Derived.later().more()
Derived().itself().more()
Derived().quoted().more()
//- other.py
class Other:
    def size(self): pass
    def more(self): pass
"#;

#[test]
fn class_methods_give_their_class() {
    let lines = |lines: std::ops::RangeInclusive<u32>| -> Vec<String> {
        lines.map(|line| format!("a.py:{line} Typed")).collect()
    };
    let check = |at: &str, expected: Vec<String>| {
        check_uses(CLASSES, at, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    };
    check("a.py:17:size", lines(20..=24));
    check("a.py:19:more", lines(25..=29));
}

const NOT_THERE: &str = r"
//- types.ts
export interface Data { size: number }
//- use.ts
import type { Data } from './made'
import styles from './made.css'
export let data: Data
export { Data as More } from './made'
styles.size
";

/// A file that a build makes may hand on anything.
#[test]
fn what_a_file_that_is_not_there_hands_on_is_not_known() {
    check_uses(
        NOT_THERE,
        "types.ts:1:Data",
        &["use.ts:1 Possible", "use.ts:3 Possible", "use.ts:4 Possible"],
    );
    check_uses(NOT_THERE, "types.ts:1:size", &[]);
}
