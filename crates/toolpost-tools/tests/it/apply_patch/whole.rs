//! All files or none: whatever fails, whoever refuses, the tree is as it was.

use super::super::confined::World;
use super::super::{call, code, data, disk, executor, folder, run, shown};
use super::{apply, shared, tree};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use toolpost_core::workspace::{Entries, File, LockRequest, Stat, Written};
use toolpost_core::{Call, Code, Context, Memory, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

/// A workspace on disk whose n-th change fails, and perhaps every one after it.
struct Failing {
    inner: Disk,
    changes: std::sync::atomic::AtomicUsize,
    fails_at: usize,
    keeps_failing: bool,
}

impl Failing {
    fn change(&self) -> Result<(), ToolError> {
        let number = self.changes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match number == self.fails_at || (self.keeps_failing && number > self.fails_at) {
            true => Err(ToolError::new(Code::WriteError, "the disk is full; free some space")),
            false => Ok(()),
        }
    }
}

impl Workspace for Failing {
    fn root(&self) -> &str {
        self.inner.root()
    }
    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        self.inner.name(path)
    }
    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        self.inner.stat(path)
    }
    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        self.inner.open(path)
    }
    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        self.inner.entries(path)
    }
    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        self.change()?;
        self.inner.write(path, content)
    }
    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.change()?;
        self.inner.remove(path)
    }
    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        self.change()?;
        self.inner.rename(from, to)
    }
    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.inner.create_folder(path)
    }
    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.inner.lock(path)
    }
}

const FILES: &[(&str, &str)] =
    &[("a", "a\n"), ("deep/b", "b\n"), ("c", "c\n"), ("d", "d\n"), ("e", "e\n"), ("g", "g\n")];

/// Changes, adds in new folders, moves with and without a change, moves onto another file, deletes.
const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Add File: new/folder/n\n+n\n\
    *** Update File: deep/b\n*** Move to: other/place/b\n@@\n-b\n+B\n*** Update File: c\n*** Move to: d\n@@\n-c\n+C\n\
    *** Delete File: e\n*** Update File: g\n*** Move to: new/g\n*** End Patch\n";

#[test]
fn a_write_that_fails_takes_back_all_before_it() {
    let mut failures = 0;
    for fails_at in 0..100 {
        let folder = folder();
        write(folder.path(), FILES);
        std::fs::set_permissions(folder.path().join("a"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let before = tree(folder.path());
        let inner = Disk::open([folder.path()]).unwrap();
        let failing = Failing { inner, changes: Default::default(), fails_at, keeps_failing: false };
        let outcome = apply(&Context::builder(Arc::new(failing)).build(), PATCH);
        if outcome.is_success() {
            let after: BTreeMap<String, Vec<u8>> =
                tree(folder.path()).into_iter().map(|(name, (content, _))| (name, content)).collect();
            let file =
                |name: &str| after.get(name).map(|content| String::from_utf8_lossy(content).into_owned());
            assert_eq!(file("a").as_deref(), Some("A\n"));
            assert_eq!(file("other/place/b").as_deref(), Some("B\n"));
            assert_eq!(file("d").as_deref(), Some("C\n"));
            assert_eq!(file("new/g").as_deref(), Some("g\n"));
            for gone in ["c", "e", "g", "deep/b"] {
                assert_eq!(file(gone), None);
            }
            break;
        }
        failures += 1;
        assert_eq!(code(&outcome), "WRITE_ERROR");
        assert!(shown(&outcome).contains("nothing "), "{}", shown(&outcome));
        assert_eq!(tree(folder.path()), before, "{fails_at}: {}", shown(&outcome));
    }
    assert_eq!(failures, 8, "one for each change");
    println!("measure: patches that fail half-way: {failures} places, 0 bytes changed");
}

#[test]
fn what_cannot_be_put_back_is_named() {
    let folder = folder();
    write(folder.path(), FILES);
    let inner = Disk::open([folder.path()]).unwrap();
    let failing = Failing { inner, changes: Default::default(), fails_at: 2, keeps_failing: true };
    let outcome = apply(&Context::builder(Arc::new(failing)).build(), PATCH);
    let message = shown(&outcome);
    assert!(
        message.contains("not everything could be put back: `new/folder/n`: the disk is full"),
        "{message}"
    );
    assert_eq!(outcome.result.unwrap_err().details()["notPutBack"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_is_written_where_one_file_is_refused() {
    let add = |path: &str| {
        format!("*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Add File: {path}\n+x\n*** End Patch\n")
    };
    let world = World::new();
    write(&world.root, FILES);
    symlink("../outside/secret.txt", world.root.join("out")).unwrap();
    symlink("../outside", world.root.join("outdir")).unwrap();
    symlink("a", world.root.join("link")).unwrap();
    symlink(".git/hooks", world.root.join("hooks")).unwrap();
    std::fs::create_dir_all(world.root.join(".git/hooks")).unwrap();
    mkfifoat(CWD, world.root.join("fifo"), Mode::from_raw_mode(0o666)).unwrap();
    let (before, outside) = (tree(&world.root), tree(&world.outside));
    let ctx = world.ctx();
    let absolute = world.outside.join("secret.txt");
    for (path, expected) in [
        ("../outside/secret.txt", "PATH_ESCAPE"),
        (absolute.to_str().unwrap(), "PATH_ESCAPE"),
        ("out", "PATH_ESCAPE"),
        ("outdir/new", "PATH_ESCAPE"),
        ("deep", "NOT_A_FILE"),
        ("fifo", "NOT_A_FILE"),
        ("a/below", "NOT_A_FILE"),
        (".git/hooks/pre-commit", "PROTECTED_FILE"),
        (".git/config", "PROTECTED_FILE"),
        (".mcp.json", "PROTECTED_FILE"),
        ("deep/../.git/config", "PROTECTED_FILE"),
        ("hooks/pre-commit", "PROTECTED_FILE"),
    ] {
        let patches = [
            add(path),
            format!("*** Begin Patch\n*** Update File: a\n*** Move to: {path}\n@@\n-a\n+A\n*** End Patch\n"),
            format!(
                "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n--- /dev/null\n+++ b/{}\n@@ -0,0 +1 @@\n+x\n",
                path.trim_start_matches('/')
            ),
        ];
        for patch in &patches[..if path.starts_with('/') { 2 } else { 3 }] {
            let outcome = apply(&ctx, patch);
            assert_eq!(code(&outcome), expected, "{patch}: {}", shown(&outcome));
            assert_eq!(tree(&world.root), before, "{patch}");
            assert_eq!(tree(&world.outside), outside, "{patch}");
        }
    }
    // Reading is judged too, and links themselves stay.
    for (patch, expected) in [
        ("*** Begin Patch\n*** Delete File: link\n*** End Patch\n", "NOT_A_FILE"),
        ("*** Begin Patch\n*** Update File: link\n*** Move to: x\n*** End Patch\n", "NOT_A_FILE"),
        ("*** Begin Patch\n*** Delete File: out\n*** End Patch\n", "PATH_ESCAPE"),
        ("*** Begin Patch\n*** Update File: out\n@@\n-CANARY\n+x\n*** End Patch\n", "PATH_ESCAPE"),
        ("*** Begin Patch\n*** Delete File: deep\n*** End Patch\n", "NOT_A_FILE"),
    ] {
        let outcome = apply(&ctx, patch);
        assert_eq!(code(&outcome), expected, "{patch}: {}", shown(&outcome));
        assert_eq!(tree(&world.root), before, "{patch}");
    }
    // A link inside the workspace leads to its file, and stays a link.
    let outcome = apply(&ctx, "*** Begin Patch\n*** Update File: link\n@@\n-a\n+A\n*** End Patch\n");
    assert!(outcome.is_success(), "{}", shown(&outcome));
    assert_eq!(std::fs::read_to_string(world.root.join("a")).unwrap(), "A\n");
    assert!(world.root.join("link").is_symlink());
}

#[test]
fn a_read_only_policy_refuses_every_patch() {
    let memory = Arc::new(Memory::from_fixture("//- a\na\n"));
    let registry = Arc::new(toolpost_core::Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    let executor = crate::fixed::Fixed::new(
        registry,
        toolpost_core::Policy::profile(toolpost_core::policy::Profile::ReadOnly),
    );
    for patch in ["*** Begin Patch\n*** Delete File: a\n*** End Patch", "nonsense"] {
        let outcome = run(executor.run(&shared(&memory), Call::new("apply_patch", json!({"patch": patch}))));
        assert_eq!(code(&outcome), "PERMISSION_DENIED", "{}", shown(&outcome));
    }
    assert_eq!(memory.text("a").as_deref(), Some("a\n"));
}

#[test]
fn modes_and_hard_links_are_kept() {
    let folder = folder();
    write(folder.path(), FILES);
    let mode =
        |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o7777;
    for name in ["a", "deep/b", "g"] {
        std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(0o750)).unwrap();
    }
    let other = folder.path().join("other-name");
    std::fs::hard_link(folder.path().join("a"), &other).unwrap();
    let outcome = apply(&disk(folder.path()), PATCH);
    assert!(outcome.is_success(), "{}", shown(&outcome));
    assert_eq!([mode("a"), mode("other/place/b"), mode("new/g")], [0o750; 3]);
    assert_eq!(std::fs::read_to_string(other).unwrap(), "a\n", "another name keeps the old content");
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let folder = folder();
    write(folder.path(), FILES);
    let before = tree(folder.path());
    let ctx = disk(folder.path());
    let call = Call::new("apply_patch", json!({"patch": PATCH}));
    let dry = run(executor().run(&ctx, call.dry_run()));
    assert!(dry.is_success(), "{}", shown(&dry));
    assert_eq!(tree(folder.path()), before);
    let planned = dry.metadata.dry_run.clone().unwrap();
    let names: Vec<&str> = planned.changes.iter().map(|change| change.path.as_str()).collect();
    let files = ["a", "c", "d", "deep/b", "e", "g", "new/folder/n", "new/g", "other/place/b"];
    assert_eq!(names, [&files[..], &["new", "new/folder", "other", "other/place"]].concat());
    let wet = super::super::call(&ctx, "apply_patch", json!({"patch": PATCH}));
    assert_eq!(shown(&dry), shown(&wet), "what was shown is what was done");
    assert_eq!(data(&dry), data(&wet));
}

#[test]
fn guarantee_08_patches_of_the_same_files_at_once_lose_nothing() {
    let writers = 8;
    let rounds = super::super::count(5, 40);
    let folder = folder();
    let lines: String = (0..writers).map(|writer| format!("writer {writer}: 0\n")).collect();
    write(folder.path(), &[("a", &lines), ("b", &lines)]);
    run(async {
        let executor = executor();
        let mut tasks = Vec::new();
        for writer in 0..writers {
            let (executor, ctx) = (executor.clone(), disk(folder.path()));
            tasks.push(tokio::spawn(async move {
                for round in 0..rounds {
                    let hunk = format!("@@\n-writer {writer}: {round}\n+writer {writer}: {}\n", round + 1);
                    let (first, second) = if writer % 2 == 0 { ("a", "b") } else { ("b", "a") };
                    let patch = format!(
                        "*** Begin Patch\n*** Update File: {first}\n{hunk}*** Update File: {second}\n{hunk}*** End Patch\n"
                    );
                    let outcome = executor.run(&ctx, Call::new("apply_patch", json!({"patch": patch}))).await;
                    assert!(outcome.is_success(), "{}", shown(&outcome));
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
    let expected: String = (0..writers).map(|writer| format!("writer {writer}: {rounds}\n")).collect();
    for name in ["a", "b"] {
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), expected);
    }
    println!("measure: guarantee 8: {writers} writers × {rounds} patches of two files, 0 lost");
}

#[test]
fn a_folder_made_of_a_file_and_large_files() {
    let folder = folder();
    write(folder.path(), &[("a", "a\n")]);
    let ctx = disk(folder.path());
    let outcome = apply(&ctx, "*** Begin Patch\n*** Delete File: a\n*** Add File: b/a\n+x\n*** End Patch\n");
    assert!(outcome.is_success(), "{}", shown(&outcome));
    let sparse = std::fs::File::create(folder.path().join("huge")).unwrap();
    sparse.set_len(20 << 30).unwrap();
    let outcome = call(
        &ctx,
        "apply_patch",
        json!({"patch": "*** Begin Patch\n*** Delete File: b/a\n*** Delete File: huge\n*** End Patch"}),
    );
    assert_eq!(code(&outcome), "TOO_LARGE", "{}", shown(&outcome));
    assert!(folder.path().join("b/a").exists());
}
