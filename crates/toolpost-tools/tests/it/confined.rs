//! Guarantees 1, 2 and 4 for the tools: no spelling and no link leads out, and nothing special is opened.

use super::{call, data, disk, folder, peak_memory, run, shown};
use crate::load::stretched;
use rustix::fs::{CWD, FileType, Mode, makedev, mkfifoat, mknodat};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use toolpost_core::{Context, Outcome};

/// What must never be seen: it stands in every file outside the workspace, and in a name.
pub(super) const CANARY: &str = "CANARY";

/// A workspace `ws` with secrets around it.
pub(super) struct World {
    _folder: TempDir,
    pub(super) root: PathBuf,
    pub(super) outside: PathBuf,
}

impl World {
    pub(super) fn new() -> World {
        let folder = folder();
        let base = folder.path().canonicalize().unwrap();
        for name in ["ws/sub", "ws2", "outside/folder"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        for name in
            ["ws2/secret.txt", "outside/secret.txt", "outside/CANARY.txt", "outside/folder/secret.txt"]
        {
            std::fs::write(base.join(name), CANARY).unwrap();
        }
        std::fs::write(base.join("ws/inside.txt"), "inside").unwrap();
        World { root: base.join("ws"), outside: base.join("outside"), _folder: folder }
    }

    pub(super) fn ctx(&self) -> Context {
        disk(&self.root)
    }
}

/// `read` and `list` of a path, by themselves and in a batch.
fn outcomes(ctx: &Context, path: &str) -> Vec<(&'static str, Outcome)> {
    let (read, list) = (json!({"filePath": path}), json!({"path": path, "hidden": true, "noIgnore": true}));
    let calls = json!({"calls": [{"tool": "read", "args": read}, {"tool": "list", "args": list}]});
    vec![
        ("read", call(ctx, "read", read)),
        ("read_file", call(ctx, "read_file", json!({"path": path}))),
        ("list", call(ctx, "list", list)),
        ("glob", call(ctx, "glob", json!({"pattern": "**", "path": path, "hidden": true, "noIgnore": true}))),
        ("grep", call(ctx, "grep", json!({"pattern": "C?ANARY|.", "path": path, "noIgnore": true}))),
        ("batch", call(ctx, "batch", calls)),
    ]
}

/// Whether anything from outside is in the outcome. The caller's own spelling, which errors repeat, does not count.
fn leaks(outcome: &Outcome) -> bool {
    let is_outside =
        |text: &str| text.contains(CANARY) || text.contains("root:x:0") || text.contains("processor\t:");
    match &outcome.result {
        Ok(output) => {
            is_outside(&output.text) || is_outside(&output.data.to_string()) || !output.attachments.is_empty()
        }
        Err(error) => is_outside(error.message()),
    }
}

/// The codes of a refused call; those of the calls within, for a batch.
fn codes(outcome: &Outcome) -> Vec<String> {
    match &outcome.result {
        Err(error) => vec![error.code().to_string()],
        Ok(output) => output.data["results"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|result| result["error"]["code"].as_str().unwrap_or("success").to_owned())
            .collect(),
    }
}

#[test]
fn guarantee_01_no_spelling_leaves_the_workspace() {
    let world = World::new();
    let ctx = world.ctx();
    let (root, outside) = (world.root.to_str().unwrap(), world.outside.to_str().unwrap());
    let mut refused: Vec<(String, &str)> = Vec::new();
    for spelling in [
        "..",
        "../",
        "../outside/secret.txt",
        "./../outside",
        "sub/../../outside/secret.txt",
        "..//..//etc/passwd",
        "../ws2/secret.txt",
        "/",
        "//",
        "/..",
        "/etc/passwd",
        "//etc/passwd",
        "/etc/../etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd",
        "/proc/self/fd/0",
        "/proc/cpuinfo",
        "/dev/stdin",
        "/dev/zero",
        "../../../../../../../../etc/passwd",
    ] {
        refused.push((spelling.to_owned(), "PATH_ESCAPE"));
    }
    for spelling in [
        format!("{root}/../outside/secret.txt"),
        format!("{root}2/secret.txt"),
        format!("{root}2"),
        format!("{outside}/secret.txt"),
        format!("/proc/self/root{outside}/secret.txt"),
        format!("/proc/self/root{root}/inside.txt"),
        format!("{}etc/passwd", "../".repeat(1_600)),
    ] {
        refused.push((spelling, "PATH_ESCAPE"));
    }
    for spelling in [
        "\0".to_owned(),
        "inside.txt\0".to_owned(),
        "inside.txt\0/../../outside/secret.txt".to_owned(),
        "x".repeat(256),
        "x".repeat(5_000),
        "deep/".repeat(1_000),
    ] {
        refused.push((spelling, "VALIDATION_ERROR"));
    }
    let odd = [
        "%2e%2e/outside/secret.txt",
        "..%2foutside%2fsecret.txt",
        "....//outside",
        "..\\outside\\secret.txt",
        "~/secret.txt",
        "~root",
        "$HOME/x",
        "file:///etc/passwd",
        "．．/outside/secret.txt",
        "‥/outside/secret.txt",
        "..∕outside",
        " ../outside",
        ".. /outside",
        "..\n/outside",
        "inside.txt/",
        "inside.txt/..",
        "sub/..",
        ".",
        "",
        "*",
        "\u{feff}..",
        "..\u{200b}/outside/secret.txt",
        "spill:../../outside/secret.txt",
    ];
    let mut attempts = 0;
    for (spelling, code) in &refused {
        for (tool, outcome) in outcomes(&ctx, spelling) {
            assert!(
                codes(&outcome).iter().all(|found| found == code),
                "{tool} {spelling:?}: {}",
                shown(&outcome)
            );
            assert!(!leaks(&outcome), "{tool} {spelling:?}: {}", shown(&outcome));
            assert!(shown(&outcome).len() < 20_000, "{tool}: a refusal is short");
            attempts += 1;
        }
    }
    for spelling in odd {
        for (tool, outcome) in outcomes(&ctx, spelling) {
            assert!(!leaks(&outcome), "{tool} {spelling:?}: {}", shown(&outcome));
            attempts += 1;
        }
    }
    println!(
        "measure: guarantee 1: read, list and batch: {} spellings, {attempts} attempts, 0 escapes",
        refused.len() + odd.len()
    );
}

#[test]
fn guarantee_02_no_link_leads_out() {
    let world = World::new();
    let root = &world.root;
    let outside = world.outside.to_str().unwrap();
    for (target, link) in [
        ("../outside/secret.txt", "file"),
        ("../outside", "folder"),
        ("folder", "chain"),
        ("chain", "longer"),
        ("../outside/none", "dangling"),
        ("/etc/passwd", "passwd"),
        ("/", "top"),
        ("/proc/self/root", "magic"),
        ("/proc/self/cwd", "cwd"),
        ("..", "up"),
        ("sub/../..", "fold"),
        ("me", "me"),
        ("../ws/../outside", "around"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    symlink(outside, root.join("absolute")).unwrap();
    symlink(root, root.join("home")).unwrap();
    symlink("../inside.txt", root.join("sub/good")).unwrap();
    let ctx = world.ctx();
    let below = format!("top{outside}/secret.txt");
    let magic = format!("magic{outside}/secret.txt");
    let mut attempts = 0;
    for path in [
        "file",
        "folder",
        "folder/secret.txt",
        "folder/folder/secret.txt",
        "chain/secret.txt",
        "longer/secret.txt",
        "dangling",
        "passwd",
        "top",
        "top/etc/passwd",
        "magic",
        "magic/etc/passwd",
        "cwd",
        "up",
        "up/outside/secret.txt",
        "fold/outside/secret.txt",
        "me",
        "me/x",
        "around/secret.txt",
        "absolute",
        "absolute/secret.txt",
        "home/file",
        "home/../outside/secret.txt",
        &below,
        &magic,
    ] {
        for (tool, outcome) in outcomes(&ctx, path) {
            assert!(!leaks(&outcome), "{tool} {path}: {}", shown(&outcome));
            let codes = codes(&outcome);
            let is_refused = codes.iter().all(|code| {
                ["PATH_ESCAPE", "FILE_NOT_FOUND", "READ_ERROR", "NOT_A_FILE"].contains(&code.as_str())
            });
            assert!(!codes.is_empty() && is_refused, "{tool} {path}: {}", shown(&outcome));
            attempts += 1;
        }
    }
    // Links that stay inside are followed, whatever their form.
    for path in ["sub/good", "home/inside.txt", "home/home/sub/good"] {
        assert_eq!(
            shown(&call(&ctx, "read", json!({"filePath": path}))),
            "1: inside\n(no newline at the end of the file)",
            "{path}"
        );
    }
    // A whole tree never enters a link.
    let tree = call(&ctx, "list", json!({"depth": 64, "limit": 10_000}));
    assert!(!leaks(&tree) && data(&tree)["entries"].as_array().unwrap().len() == 18, "{}", shown(&tree));
    for (tool, args) in [
        ("glob", json!({"pattern": "**", "hidden": true, "noIgnore": true})),
        ("grep", json!({"pattern": ".", "hidden": true, "noIgnore": true})),
    ] {
        let outcome = call(&ctx, tool, args);
        assert!(outcome.is_success() && !leaks(&outcome), "{tool}: {}", shown(&outcome));
        assert!(shown(&outcome).contains("inside.txt"), "{}", shown(&outcome));
    }
    println!(
        "measure: guarantee 2: read, list, glob, grep and batch: {attempts} attempts through links, 0 escapes"
    );
}

#[test]
fn guarantee_04_special_files_never_block() {
    let world = World::new();
    mkfifoat(CWD, world.root.join("fifo"), Mode::from_raw_mode(0o666)).unwrap();
    let _socket = UnixListener::bind(world.root.join("socket")).unwrap();
    let mut special = vec!["fifo", "socket", "fifo-link", "zero", "tty"];
    let mode = Mode::from_raw_mode(0o666);
    // Only root may make a device, and not in every container.
    if mknodat(CWD, world.root.join("device"), FileType::CharacterDevice, mode, makedev(1, 5)).is_ok() {
        special.push("device");
    }
    symlink("fifo", world.root.join("fifo-link")).unwrap();
    symlink("/dev/zero", world.root.join("zero")).unwrap();
    symlink("/dev/tty", world.root.join("tty")).unwrap();
    let ctx = world.ctx();
    let start = Instant::now();
    let mut attempts = 0;
    for name in &special {
        for (tool, outcome) in outcomes(&ctx, name) {
            let expected = if ["zero", "tty"].contains(name) { "PATH_ESCAPE" } else { "NOT_A_FILE" };
            assert!(
                codes(&outcome).iter().all(|code| code == expected),
                "{tool} {name}: {}",
                shown(&outcome)
            );
            attempts += 1;
        }
    }
    let tree = shown(&call(&ctx, "list", json!({})));
    assert!(tree.contains("  fifo!\n") && tree.contains("  socket!\n"), "{tree}");
    let devices = disk(std::path::Path::new("/dev"));
    for name in ["zero", "null", "full", "tty", "ptmx"] {
        let outcome = call(&devices, "read", json!({"filePath": name}));
        assert!(["NOT_A_FILE", "PATH_ESCAPE", "FILE_NOT_FOUND"].contains(&super::code(&outcome)), "{name}");
        attempts += 1;
    }
    let took = start.elapsed();
    assert!(took < stretched(Duration::from_secs(5)), "{took:?}");
    println!(
        "measure: guarantee 4: read, list and batch: {} special files, {attempts} attempts in {} ms, peak {} MiB",
        special.len(),
        took.as_millis(),
        peak_memory()
    );
}

#[test]
fn an_ignore_file_that_is_special_or_leads_out_is_not_opened() {
    let world = World::new();
    mkfifoat(CWD, world.root.join("sub/.gitignore"), Mode::from_raw_mode(0o666)).unwrap();
    std::fs::write(world.outside.join("rules"), "*\n").unwrap();
    symlink("../outside/rules", world.root.join(".gitignore")).unwrap();
    let tree = run(async {
        let executor = super::executor();
        let ctx = world.ctx();
        let running = executor.call(&ctx, "list", Value::Object(serde_json::Map::new()));
        tokio::time::timeout(Duration::from_secs(5), running).await.expect("list blocks")
    });
    assert_eq!(shown(&tree), "./\n  inside.txt\n  sub/\n");
    let names = call(&world.ctx(), "glob", json!({"pattern": "**"}));
    assert_eq!(shown(&names), "inside.txt\n");
}
