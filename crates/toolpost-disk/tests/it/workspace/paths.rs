//! Guarantee 1: no spelling of a path leaves the workspace.

use super::{CANARY, World, run, try_everything};
use std::sync::Arc;
use toolpost_core::workspace::Overlay;
use toolpost_core::{Code, Memory, Workspace};
use toolpost_disk::Disk;

/// Spellings that lead out, or cannot be a path at all: every method refuses them.
fn refused(world: &World) -> Vec<(String, Code)> {
    let outside = world.outside.to_str().unwrap();
    let root = world.root.to_str().unwrap();
    let mut table: Vec<(String, Code)> = [
        "..",
        "../",
        "../outside/secret.txt",
        "./../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "sub/../sub/../../outside/secret.txt",
        "a/b/c/../../../../outside/secret.txt",
        "..//..//etc/passwd",
        "../ws2/secret.txt",
        "../ws/../outside/secret.txt",
        "/",
        "//",
        "/..",
        "/etc/passwd",
        "//etc/passwd",
        "/etc/../etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd",
        "/proc/self/fd/0",
        "/proc/1/environ",
        "/dev/stdin",
        "/dev/fd/0",
        "/dev/zero",
        "sub/./../.././outside",
        "../../../../../../../../etc/passwd",
    ]
    .into_iter()
    .map(|spelling| (spelling.to_owned(), Code::PathEscape))
    .collect();
    for spelling in [
        format!("{root}/../outside/secret.txt"),
        format!("{root}2/secret.txt"),
        format!("{root}2"),
        format!("{root}/../ws2/secret.txt"),
        format!("{outside}/secret.txt"),
        format!("/proc/self/root{outside}/secret.txt"),
        format!("/proc/self/root{root}/inside.txt"),
        format!("{root}/sub/../../outside/secret.txt"),
        format!("{}", world.root.parent().unwrap().display()),
        format!("sub/{}outside/secret.txt", "../".repeat(40)),
        format!("{}etc/passwd", "../".repeat(1600)),
    ] {
        table.push((spelling, Code::PathEscape));
    }
    for spelling in [
        "\0".to_owned(),
        "inside.txt\0".to_owned(),
        "inside.txt\0/../../outside/secret.txt".to_owned(),
        format!("{root}/inside.txt\0.png"),
        "x".repeat(256),
        "x".repeat(5000),
        "deep/".repeat(1000),
        format!("sub/{}", "é".repeat(128)),
    ] {
        table.push((spelling, Code::ValidationError));
    }
    table
}

/// Odd names that are names all the same: whatever happens, it happens inside.
const ODD: &[&str] = &[
    "%2e%2e/outside/secret.txt",
    "%2e%2e%2foutside%2fsecret.txt",
    "..%2foutside%2fsecret.txt",
    "..%00/x",
    "....//outside",
    ".../outside/secret.txt",
    "..\\outside\\secret.txt",
    "\\..\\outside",
    "~/secret.txt",
    "~root",
    "$HOME/x",
    "file:///etc/passwd",
    "․․/outside",
    "．．/outside/secret.txt",
    "‥/outside/secret.txt",
    "..∕outside",
    " ../outside",
    "../ws/..",
    ".. /outside",
    "..\n/outside",
    "C:\\Windows",
    "con",
    "-rf",
    "a\tb",
    "\u{202e}txt.exe",
    "sub//..//inside.txt",
    "./././inside.txt",
    "inside.txt/",
    "inside.txt/..",
    "sub/..",
    ".",
    "",
    "*",
    "?",
    "\u{feff}..",
    "..\u{200b}/outside/secret.txt",
];

#[test]
fn guarantee_01_no_spelling_leaves_the_workspace() {
    let (mut spellings, mut attempts, mut escapes) = (0, 0, 0);
    for kind in ["disk", "overlay", "memory"] {
        let world = World::new();
        let around = world.around();
        let workspace: Box<dyn Workspace> = match kind {
            "disk" => Box::new(Disk::open([&world.root]).unwrap()),
            "overlay" => Box::new(Overlay::over(Arc::new(Disk::open([&world.root]).unwrap()))),
            _ => Box::new(Memory::new()),
        };
        let refused = refused(&world);
        for (spelling, code) in &refused {
            for (method, result) in run(try_everything(workspace.as_ref(), spelling)) {
                assert_eq!(result, Err(*code), "{kind} {method} {spelling:?}");
                attempts += 1;
            }
        }
        for spelling in ODD {
            for (method, result) in run(try_everything(workspace.as_ref(), spelling)) {
                let seen = result.unwrap_or_default();
                escapes += usize::from(seen.contains(CANARY) || seen.contains("root:"));
                assert_eq!(escapes, 0, "{kind} {method} {spelling:?}");
                attempts += 1;
            }
        }
        assert_eq!(world.around(), around, "{kind}: something changed outside");
        spellings += refused.len() + ODD.len();
    }
    println!("measure: guarantee 1: {spellings} spellings, {attempts} attempts, {escapes} escapes");
}
