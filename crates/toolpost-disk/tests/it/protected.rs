//! Every file of the protected list, by its own name and behind a link: none opened, none written, unasked.

use crate::fixed::Fixed as Executor;
use crate::stage::{path_schema, said, spec};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use toolpost_core::policy::protected;
use toolpost_core::{Capability, Code, Context, Policy, Registry, WorkspacePath, dynamic};
use toolpost_disk::Disk;
use toolpost_walk::{WalkOptions, walk};

/// A file that the pattern means.
fn concrete(pattern: &str) -> String {
    pattern.replace('*', "x")
}

fn plant(root: &Path) -> Vec<(String, String, Capability)> {
    let mut planted = Vec::new();
    for (index, row) in protected().iter().enumerate() {
        // Each in a folder of its own: some patterns are folders of others.
        let name = format!("case{index}/{}", concrete(row.pattern));
        let link = format!("case{index}/link");
        std::fs::create_dir_all(root.join(&name).parent().unwrap()).unwrap();
        std::fs::write(root.join(&name), "canary").unwrap();
        std::os::unix::fs::symlink(concrete(row.pattern), root.join(&link)).unwrap();
        planted.push((name, link, row.action));
    }
    planted
}

fn executor() -> Executor {
    let registry = Registry::new();
    registry
        .register(dynamic(spec("show").requires(Capability::Read), path_schema(), |ctx, args| async move {
            let mut file = ctx.open(&WorkspacePath::new(args["path"].as_str().unwrap()))?;
            let mut text = String::new();
            std::io::Read::read_to_string(&mut file.reader, &mut text).unwrap();
            said(text)
        }))
        .unwrap();
    registry
        .register(dynamic(spec("put").requires(Capability::Write), path_schema(), |ctx, args| async move {
            ctx.workspace().write(&WorkspacePath::new(args["path"].as_str().unwrap()), b"planted")?;
            said("written")
        }))
        .unwrap();
    registry
        .register(dynamic(spec("names").requires(Capability::Read), path_schema(), |ctx, _| async move {
            let options =
                WalkOptions { hidden: true, no_ignore: true, limit: 100_000, ..WalkOptions::default() };
            let held_back = ctx.held_back();
            let holds = |name: &str| held_back.holds(name);
            let found = walk(ctx.workspace().as_ref(), &WorkspacePath::root(), &options, &|| false, &holds)?;
            let names: Vec<&str> = found.found.iter().map(|entry| entry.name.as_str()).collect();
            said(format!("{}\n{} held back", names.join("\n"), found.held_back))
        }))
        .unwrap();
    Executor::new(Arc::new(registry), Policy::default())
}

#[tokio::test]
async fn guarantee_15_no_protected_file_is_touched_unasked_behind_a_link_either() {
    let folder = tempfile::tempdir().unwrap();
    let planted = plant(folder.path());
    let ctx = Context::builder(Arc::new(Disk::open([folder.path()]).unwrap())).build();
    let executor = executor();
    for (name, link, action) in &planted {
        let tool = if *action == Capability::Read { "show" } else { "put" };
        for path in [name, link] {
            let outcome = executor.call(&ctx, tool, json!({"path": path})).await;
            let error = outcome.result.expect_err(path);
            assert_eq!(error.code(), Code::ProtectedFile, "{path}: {error}");
        }
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), "canary", "{name}");
    }
    // What does not exist yet asks as well.
    let empty = tempfile::tempdir().unwrap();
    let new = Context::builder(Arc::new(Disk::open([empty.path()]).unwrap())).build();
    for row in protected().iter().filter(|row| row.action == Capability::Write) {
        let outcome = executor.call(&new, "put", json!({"path": concrete(row.pattern)})).await;
        assert_eq!(outcome.result.unwrap_err().code(), Code::ProtectedFile, "{}", row.pattern);
    }
    println!(
        "measure: guarantee 15: {} protected patterns, by name and by link, 0 touched unasked",
        planted.len()
    );
}

#[tokio::test]
async fn a_walk_shows_none_that_asks_and_says_how_many() {
    let folder = tempfile::tempdir().unwrap();
    let planted = plant(folder.path());
    let ctx = Context::builder(Arc::new(Disk::open([folder.path()]).unwrap())).build();
    let outcome = executor().call(&ctx, "names", json!({})).await;
    let text = outcome.to_text();
    let shown: Vec<&str> = text.lines().collect();
    let mut asking = 0;
    for (name, link, _) in planted.iter().filter(|(_, _, action)| *action == Capability::Read) {
        assert!(!shown.contains(&name.as_str()) && !shown.contains(&link.as_str()), "{name}");
        asking += 1;
    }
    let held_back: usize = shown.last().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(held_back >= asking * 2, "{held_back} of at least {}", asking * 2);
    assert!(shown.contains(&"case0"), "what is free is shown");
}
