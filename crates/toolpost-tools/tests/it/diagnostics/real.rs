//! pyright and typescript-language-server, from npm.

use super::{LONG, Looked, run};
use crate::folder;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolpost_tools::filesystem::Helper;

const PACKAGES: [&str; 3] = ["pyright@1.1.414", "typescript-language-server@5.3.0", "typescript@5.9.3"];

/// Installs the packages below `target/`, once for all tests.
fn packages() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("language-servers");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    if !folder.join("node_modules/typescript-language-server/package.json").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-save", "--ignore-scripts", "--prefix"])
            .arg(&folder)
            .args(PACKAGES);
        let installed = npm.current_dir(&folder).output().expect("npm runs");
        assert!(installed.status.success(), "npm: {}", String::from_utf8_lossy(&installed.stderr));
    }
    folder.join("node_modules")
}

/// A session with one of the servers, over one file.
fn looked(program: &str, glob: &str, file: (&str, &str)) -> Looked {
    let packages = packages();
    let helper = Helper {
        program: "/usr/bin/env".into(),
        args: vec!["node".into(), packages.join(program).display().to_string(), "--stdio".into()],
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        readable: vec![packages],
        ..Helper::default()
    };
    Looked::over(helper, program.split('/').next().unwrap(), &[glob], LONG, &[file], folder())
}

/// A change that breaks nothing, one that brings an error, and one that only moves it.
fn check(program: &str, glob: &str, file: (&str, &str), good: [&str; 2], bad: [&str; 2], expected: &str) {
    let looked = looked(program, glob, file);
    run(async {
        let text = looked.edit(file.0, good[0], good[1]).await;
        assert!(!text.contains("error"), "{text}");
        let text = looked.edit(file.0, bad[0], bad[1]).await;
        assert!(text.contains("1 new error in ") && text.contains(expected), "{text}");
        let text = looked.edit(file.0, good[1], &format!("\n{}", good[1])).await;
        assert!(!text.contains("error"), "{text}");
    });
    assert_eq!(looked.tree().len(), 1);
}

#[test]
fn pyright_tells_the_errors_that_a_change_brings() {
    check(
        "pyright/langserver.index.js",
        "*.py",
        ("a.py", "import os\nold: int = \"wrong before\"\ncount: int = 1\n"),
        ["count: int = 1", "count: int = 2"],
        ["count: int = 2", "count: int = 2\nname: str = os.getpid()"],
        "4:13: Type \"int\" is not assignable to declared type \"str\"",
    );
}

#[test]
fn typescript_language_server_tells_the_errors_that_a_change_brings() {
    check(
        "typescript-language-server/lib/cli.mjs",
        "*.ts",
        ("a.ts", "export const old: number = \"wrong before\";\nexport const count: number = 1;\n"),
        ["count: number = 1", "count: number = 2"],
        ["export const count", "export const name: string = 7;\nexport const count"],
        "2:14: Type 'number' is not assignable to type 'string'. [2322]",
    );
}
