//! The errors that changes bring, from language servers: a scripted one that works, hangs, dies, floods and lies, and real ones.
//!
//! Whatever a server does, the change is made, its result comes in time, and the tree has the change and nothing else.

mod real;

use super::{executor, folder, run, shown};
use crate::fixed::Fixed as Executor;
use crate::load::stretched;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use toolpost_core::code::DiagnosticsService;
use toolpost_core::{Call, Context};
use toolpost_disk::Disk;
use toolpost_tools::filesystem::Helper;
use toolpost_tools::language_server::{LanguageServer, LanguageServers};

/// A workspace with a language server, and a session over it.
struct Looked {
    tree: TempDir,
    executor: Executor,
    ctx: Context,
    time: Duration,
    /// Holds what the server is made of.
    _script: TempDir,
}

const SCRIPT: &str = include_str!("diagnostics/server.mjs");

impl Looked {
    /// A session whose scripted server behaves so, over these files.
    fn new(behaviour: &str, time: Duration, files: &[(&str, &str)]) -> Looked {
        let script = folder();
        let path = script.path().join("server.mjs");
        std::fs::write(&path, SCRIPT).unwrap();
        let helper = Helper {
            program: "/usr/bin/env".into(),
            args: vec!["node".into(), path.display().to_string(), behaviour.into()],
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            readable: vec![script.path().to_owned()],
            ..Helper::default()
        };
        Looked::over(helper, "scripted", &["*.x"], time, files, script)
    }

    fn over(
        helper: Helper,
        name: &str,
        globs: &[&str],
        time: Duration,
        files: &[(&str, &str)],
        script: TempDir,
    ) -> Looked {
        let tree = folder();
        for (name, text) in files {
            std::fs::write(tree.path().join(name), text).unwrap();
        }
        let server = LanguageServer {
            name: name.to_owned(),
            helper,
            files: globs.iter().map(|&glob| glob.to_owned()).collect(),
            time,
            options: Value::Null,
        };
        let service = DiagnosticsService(Arc::new(LanguageServers::new(vec![server])));
        let disk = Disk::open([tree.path()]).unwrap();
        let ctx = Context::builder(Arc::new(disk)).extra(service).build();
        Looked { tree, executor: executor(), ctx, time, _script: script }
    }

    /// The result of a call, which has to come in time.
    async fn call(&self, tool: &str, args: Value) -> String {
        let started = Instant::now();
        let outcome = self.executor.run(&self.ctx, Call::new(tool, args.clone())).await;
        let most = self.time + stretched(Duration::from_secs(1));
        assert!(started.elapsed() < most, "{tool} {args}: {:?}", started.elapsed());
        assert!(outcome.is_success(), "{tool} {args}: {}", shown(&outcome));
        shown(&outcome)
    }

    async fn edit(&self, file: &str, old: &str, new: &str) -> String {
        self.call("edit", json!({"filePath": file, "oldString": old, "newString": new})).await
    }

    /// All files and their texts.
    fn tree(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(self.tree.path(), self.tree.path(), &mut found);
        found
    }
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        match path.is_dir() {
            true => collect(root, &path, found),
            false => drop(found.insert(name, String::from_utf8(std::fs::read(&path).unwrap()).unwrap())),
        }
    }
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(700);

/// The part of a result that is about errors.
fn about_errors(text: &str) -> &str {
    let starts = ["1 new error", "2 new errors", "[the errors of", "[scripted did not"];
    starts.iter().filter_map(|start| text.find(start)).min().map_or("", |at| &text[at..])
}

#[test]
fn errors_that_a_change_brings_come_with_its_result() {
    for behaviour in ["asked", "sent", "sent-without-version", "typescript", "interrupted"] {
        let files = [("a.x", "one\nBAD old\n"), ("b.y", "one\n")];
        let looked = Looked::new(behaviour, LONG, &files);
        run(async {
            let check =
                |text: &str, expected: &str| assert_eq!(about_errors(text), expected, "{behaviour}: {text}");
            // What was there before is not told.
            check(&looked.edit("a.x", "one", "two").await, "");
            let error = "1 new error in a.x, by scripted:\n1:5: bad thing: new [B1]\n";
            check(&looked.edit("a.x", "two", "two BAD new").await, error);
            // It is told once, also where it moves.
            check(&looked.edit("a.x", "two BAD new", "zero\ntwo BAD new").await, "");
            let text = looked.call("write", json!({"filePath": "c.x", "content": "BAD c\nBAD d\n"})).await;
            check(
                &text,
                "2 new errors in c.x, by scripted:\n1:1: bad thing: c [B1]\n2:1: bad thing: d [B1]\n",
            );
            let patch = "*** Begin Patch\n*** Update File: a.x\n@@\n-zero\n+BAD zero\n*** Add File: d.x\n+BAD e\n*** End Patch\n";
            check(
                &looked.call("apply_patch", json!({"patch": patch})).await,
                "1 new error in a.x, by scripted:\n1:1: bad thing: zero [B1]\n1 new error in d.x, by scripted:\n1:1: bad thing: e [B1]\n",
            );
            // Others are not for it.
            check(&looked.edit("b.y", "one", "BAD").await, "");
            // What somebody else has changed meanwhile is not blamed on the change.
            std::fs::write(looked.tree.path().join("c.x"), "BAD c\nBAD d\nBAD f\n").unwrap();
            check(&looked.edit("c.x", "BAD c\n", "").await, "");
        });
    }
}

#[test]
fn data_has_the_new_errors_too() {
    let looked = Looked::new("asked", LONG, &[("a.x", "one\n")]);
    let args = json!({"filePath": "a.x", "oldString": "one", "newString": "BAD x"});
    let outcome = run(looked.executor.run(&looked.ctx, Call::new("edit", args)));
    let expected = json!([{"path": "a.x", "line": 1, "column": 1, "message": "bad thing: x", "code": "B1"}]);
    assert_eq!(super::data(&outcome)["newErrors"], expected);
}

#[test]
fn errors_that_come_too_late_are_told_with_the_next_change() {
    let looked = Looked::new("slow-start", SHORT, &[("a.x", "one\n")]);
    run(async {
        let text = looked.edit("a.x", "one", "BAD new").await;
        assert!(
            about_errors(&text).starts_with("[the errors of a.x are still being computed by scripted"),
            "{text}"
        );
        let until = Instant::now() + stretched(Duration::from_secs(20));
        for number in 0.. {
            // The server looks at this one when it has done the first.
            tokio::time::sleep(Duration::from_secs(1)).await;
            let text = looked.edit("a.x", "BAD new\n", &format!("BAD new\n{number}\n")).await;
            if about_errors(&text) == "1 new error in a.x, by scripted:\n1:1: bad thing: new [B1]\n" {
                return;
            }
            assert!(Instant::now() < until && about_errors(&text).starts_with("[the errors of"), "{text}");
        }
    });
}

#[test]
fn a_server_that_fails_costs_its_own_answer_and_nothing_else() {
    for (behaviour, said) in [
        ("hangs", "[the errors of a.x are still being computed"),
        ("hangs-later", "[the errors of a.x are still being computed"),
        ("never-reads", "[the errors of a.x are still being computed"),
        ("dies", "[scripted did not look at a.x: it ended: out of cheese"),
        ("dies-later", "[scripted did not look at a.x: it ended"),
        ("refuses", "[scripted did not look at a.x: it refused to begin: not today"),
        ("floods", "[the errors of a.x are still being computed|[scripted did not look at a.x: it floods"),
        ("floods-without-messages", "[scripted did not look at a.x: it sent something else than messages"),
        ("huge", "[scripted did not look at a.x: it sent a message of 99999999999 bytes"),
    ] {
        let looked = Looked::new(behaviour, Duration::from_secs(3), &[("a.x", "one\n"), ("b.txt", "b\n")]);
        run(async {
            for number in 0..2 {
                let (old, new) = [("one", "two"), ("two", "three")][number];
                let text = looked.edit("a.x", old, new).await;
                let is_said = said.split('|').any(|said| about_errors(&text).starts_with(said));
                assert!(is_said, "{behaviour}: {text}");
            }
        });
        let expected =
            [("a.x", "three\n"), ("b.txt", "b\n")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(looked.tree(), BTreeMap::from(expected), "{behaviour}");
    }
}

#[test]
fn a_server_that_lies_changes_nothing_and_is_not_believed() {
    let looked = Looked::new("lies", LONG, &[("a.x", "one\n"), ("b.txt", "b\n")]);
    run(async {
        let text = looked.edit("a.x", "one", "BAD two").await;
        // Places are moved into the text, other files and versions are not its own, and what it writes obeys nothing.
        let expected = "2 new errors in a.x, by scripted:\n1:1: bad\\u{1b}[2J \\u{7}thing\n2:1: far\n";
        assert_eq!(about_errors(&text), expected);
    });
    let expected =
        [("a.x", "BAD two\n"), ("b.txt", "b\n")].map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(looked.tree(), BTreeMap::from(expected));
}

#[test]
fn a_server_that_fails_again_and_again_is_left_alone() {
    let looked = Looked::new("dies", LONG, &[("a.x", "0\n")]);
    run(async {
        let mut texts = Vec::new();
        for number in 0..5 {
            texts.push(looked.edit("a.x", &number.to_string(), &(number + 1).to_string()).await);
        }
        assert!(about_errors(&texts[2]).contains("out of cheese"), "{texts:?}");
        assert!(about_errors(&texts[4]).contains("it failed 3 times and is not started again"), "{texts:?}");
    });
}
