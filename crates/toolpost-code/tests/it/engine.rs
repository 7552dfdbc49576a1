//! The index: cold, warm, after edits, with a damaged cache, while it is being made.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex};

use toolpost_code::engine::{Engine, Refreshed};
use toolpost_code::files::{Cache, Files, NoCache};
use toolpost_code::resolve::Query;
use toolpost_code::world::Stamp;

use crate::fixture;

#[derive(Default)]
struct Memory {
    files: Mutex<BTreeMap<String, (u64, Vec<u8>)>>,
}

impl Memory {
    fn new(text: &str) -> Arc<Memory> {
        let memory = Arc::new(Memory::default());
        for (path, content) in fixture::split(text) {
            memory.write(&path, &content);
        }
        memory
    }

    fn write(&self, path: &str, content: &str) {
        let mut files = self.files.lock().expect("files");
        let mark = files.get(path).map_or(1, |(mark, _)| mark + 1);
        files.insert(path.to_owned(), (mark, content.as_bytes().to_vec()));
    }

    fn remove(&self, path: &str) {
        self.files.lock().expect("files").remove(path);
    }
}

impl Files for Memory {
    fn sweep(&self) -> io::Result<Vec<(String, Stamp)>> {
        let files = self.files.lock().expect("files");
        let stamp = |(mark, bytes): &(u64, Vec<u8>)| Stamp { size: bytes.len() as u64, mark: *mark };
        Ok(files.iter().map(|(path, file)| (path.clone(), stamp(file))).collect())
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.sweep().ok()?.into_iter().find(|(known, _)| known == path).map(|(_, stamp)| stamp)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let files = self.files.lock().expect("files");
        files.get(path).map(|(_, bytes)| bytes.clone()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

#[derive(Default)]
struct Kept {
    bytes: Mutex<HashMap<String, Vec<u8>>>,
}

impl Cache for Kept {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.bytes.lock().expect("cache").get(key).cloned()
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        self.bytes.lock().expect("cache").insert(key.to_owned(), bytes.to_vec());
    }
}

const TREE: &str = "
//- go.mod
module example.com/a
//- a.go
package a

func Used() int { return 1 }
//- b.go
package a

var x = Used()
";

fn uses(query: &Query<'_>, at: &str) -> usize {
    let (file, token) = fixture::token(query, at);
    let def = query.declared_by(file, token).expect("a declaration");
    query.references(def).found.len() - 1
}

fn open(files: &Arc<Memory>, cache: &Arc<Kept>) -> (Engine, Refreshed) {
    let engine = Engine::open(Arc::<Memory>::clone(files), Arc::<Kept>::clone(cache), "tree");
    let refreshed = engine.refresh(&|_| {}).expect("a sweep");
    (engine, refreshed)
}

#[test]
fn starts_warm_and_follows_edits() {
    let (files, cache) = (Memory::new(TREE), Arc::new(Kept::default()));
    let (engine, cold) = open(&files, &cache);
    assert_eq!((cold.files, cold.read, cold.parsed), (2, 2, 2));
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);
    drop(engine);

    let (engine, warm) = open(&files, &cache);
    assert_eq!((warm.files, warm.read, warm.parsed), (2, 0, 0));
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);

    files.write("b.go", "package a\n\nvar x = Used() + Used()\n\nvar y = Used()\n");
    let edited = engine.refresh(&|_| {}).expect("a sweep");
    assert_eq!((edited.read, edited.parsed), (1, 1));
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 3);

    files.write("c.go", "package a\n\nvar z = Used()\n");
    engine.refresh_paths(&["c.go".to_owned()]);
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 4);

    files.remove("b.go");
    let removed = engine.refresh(&|_| {}).expect("a sweep");
    assert_eq!(removed.removed, 1);
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);

    engine.save();
    let (engine, again) = open(&files, &cache);
    assert_eq!((again.files, again.read), (2, 0));
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);
}

#[test]
fn is_incomplete_until_all_is_read() {
    let files = Memory::new(TREE);
    let engine = Engine::open(files, Arc::new(NoCache), "tree");
    assert!(!engine.is_complete());
    assert_eq!(engine.ask(|query| query.world.files().count()), 0);
    engine.refresh(&|_| {}).expect("a sweep");
    assert!(engine.is_complete());
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);
}

#[test]
fn survives_every_flipped_bit() {
    let (files, cache) = (Memory::new(TREE), Arc::new(Kept::default()));
    open(&files, &cache);
    let intact = cache.bytes.lock().expect("cache").clone();
    for (key, bytes) in &intact {
        for at in (0..bytes.len()).step_by(3) {
            let mut damaged = intact.clone();
            damaged.get_mut(key).expect("the key")[at] ^= 1 << (at % 8);
            let other = Arc::new(Kept { bytes: Mutex::new(damaged) });
            let (engine, _) = open(&files, &other);
            assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1, "{key} {at}");
        }
        for length in [0, 3, 15, 16, bytes.len() - 1] {
            let mut damaged = intact.clone();
            damaged.get_mut(key).expect("the key").truncate(length);
            let other = Arc::new(Kept { bytes: Mutex::new(damaged) });
            let (engine, _) = open(&files, &other);
            assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1, "{key} cut to {length}");
        }
    }
}

#[test]
fn a_file_made_by_a_program_is_left_out_and_counted() {
    let files = Memory::new(TREE);
    files.write("huge.go", &format!("package a\n{}", "var _ = Used()\n".repeat(400_000)));
    let (engine, cold) = open(&files, &Arc::new(Kept::default()));
    assert_eq!((cold.files, cold.too_large), (2, 1));
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);
}

#[test]
fn finds_code_by_its_form() {
    let (engine, _) = open(&Memory::new(TREE), &Arc::new(Kept::default()));
    let find = |pattern: &str| {
        let found = engine.find_form("x.go", pattern, |_| true, 10).expect("a pattern");
        found.into_iter().map(|one| format!("{}:{} {}", one.path, one.lines.0, one.text)).collect::<Vec<_>>()
    };
    assert_eq!(find("Used()"), ["b.go:3 Used()"]);
    assert_eq!(find("return $X"), ["a.go:3 return 1"]);
    assert_eq!(find("Missing($X)"), Vec::<String>::new());
    let refused = engine.find_form("x.unknown", "a", |_| true, 10);
    assert!(refused.is_err_and(|text| text.contains("no language of this build")));
}

#[test]
fn a_manifest_that_changes_changes_what_imports_mean() {
    let files = Memory::new(
        "
//- go.mod
module example.com/other
//- a.go
package a

import \"example.com/a/b\"

var x = b.Y
//- b/b.go
package b

var Y = 1
",
    );
    let (engine, _) = open(&files, &Arc::new(Kept::default()));
    assert_eq!(engine.ask(|query| uses(query, "b/b.go:3:Y")), 0);
    files.write("go.mod", "module example.com/a\n");
    engine.refresh(&|_| {}).expect("a sweep");
    assert_eq!(engine.ask(|query| uses(query, "b/b.go:3:Y")), 1);
}

/// Asks before and after an edit of one file that stays where it is.
fn check_edit(tree: &str, at: &str, before: usize, path: &str, content: &str, after: usize) {
    let files = Memory::new(tree);
    let (engine, _) = open(&files, &Arc::new(Kept::default()));
    assert_eq!(engine.ask(|query| uses(query, at)), before, "before");
    files.write(path, content);
    engine.refresh(&|_| {}).expect("a sweep");
    assert_eq!(engine.ask(|query| uses(query, at)), after, "after {path} was written");
}

#[test]
fn what_a_project_remembers_of_a_file_ends_with_an_edit() {
    let rust = "
//- Cargo.toml
[package]
name = \"a\"
//- src/b.rs
pub fn calls() { super::used() }
//- src/c.rs
pub fn used() {}
//- src/lib.rs
mod b;
mod c;
pub fn used() {}
";
    check_edit(rust, "src/c.rs:1:used", 0, "src/lib.rs", "mod b;\nmod c;\npub use c::used;\n", 2);
    let rust = rust.replace("mod b;\n", "");
    check_edit(&rust, "src/c.rs:1:used", 0, "src/lib.rs", "mod c;\npub use c::used;\nmod b;\n", 2);
    let typescript = "
//- a.d.ts
export {};
declare global { function other(): void; }
//- b.ts
shared();
//- c.ts
export {};
declare global { function shared(): void; }
";
    check_edit(typescript, "c.ts:2:shared", 1, "a.d.ts", "export {};\n", 1);
    let moved = "export {};\n\n\ndeclare global { const first: number; function shared(): void; }\n";
    let files = Memory::new(typescript);
    let (engine, _) = open(&files, &Arc::new(Kept::default()));
    assert_eq!(engine.ask(|query| uses(query, "c.ts:2:shared")), 1);
    files.write("c.ts", moved);
    engine.refresh(&|_| {}).expect("a sweep");
    assert_eq!(engine.ask(|query| uses(query, "c.ts:4:shared")), 1);
}

/// Files whose stamps never settle, of which some cannot be read.
struct Restless {
    files: Arc<Memory>,
    refused: Mutex<Vec<String>>,
}

impl Files for Restless {
    fn sweep(&self) -> io::Result<Vec<(String, Stamp)>> {
        let stamp = |stamp: Stamp| Stamp { mark: Stamp::UNSETTLED, ..stamp };
        Ok(self.files.sweep()?.into_iter().map(|(path, known)| (path, stamp(known))).collect())
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        self.files.stamp(path)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.refused.lock().expect("refused").iter().any(|refused| refused == path) {
            true => Err(io::ErrorKind::PermissionDenied.into()),
            false => self.files.read(path),
        }
    }
}

#[test]
fn files_whose_stamps_tell_nothing_are_read_each_time() {
    let restless = Arc::new(Restless { files: Memory::new(TREE), refused: Mutex::default() });
    let engine = Engine::open(Arc::<Restless>::clone(&restless), Arc::new(Kept::default()), "tree");
    let refresh = || engine.refresh(&|_| {}).expect("a sweep");
    refresh();
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);
    // The same size, and no stamp that differs.
    restless.files.write("b.go", "package a\n\nvar x = Usad()\n");
    let again = refresh();
    assert_eq!((again.read, again.parsed), (2, 1));
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 0);
    restless.files.write("b.go", "package a\n\nvar x = Used()\n");
    assert_eq!(refresh().parsed, 0, "its facts are known from before");
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);
    restless.refused.lock().expect("refused").push("b.go".to_owned());
    assert_eq!(refresh().unreadable, 1);
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 0, "what cannot be read is in no answer");
    restless.refused.lock().expect("refused").clear();
    assert_eq!(refresh().unreadable, 0);
    assert_eq!(engine.ask(|query| uses(query, "a.go:3:Used")), 1);
}
