//! Real-looking repositories: what git lists, what `rg` lists, and what our tools find, file by file.

use super::{call, data, folder};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use toolpost_core::Context;
use toolpost_disk::Disk;

/// A word in every file of every layout.
const NEEDLE: &str = "needle";

/// A home without settings, and a repository in which everything happens.
struct Layout {
    folder: tempfile::TempDir,
    /// Where the workspace is.
    root: PathBuf,
    /// The repositories whose files are to be found, each by its folder; below the root, or above it.
    repositories: Vec<PathBuf>,
    /// Whether `rg` agrees; it leaves out what is tracked and ignored.
    rg_agrees: bool,
}

impl Layout {
    fn new(files: &[(&str, &str)]) -> Layout {
        let folder = folder();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("repo");
        std::fs::create_dir_all(base.join("home/.config/git")).unwrap();
        std::fs::create_dir_all(&root).unwrap();
        let layout = Layout { folder, root: root.clone(), repositories: vec![root.clone()], rg_agrees: true };
        layout.git(&root, &["init", "-q"]);
        layout.write(files);
        layout
    }

    fn base(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.base().join("repo").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = if text.is_empty() { NEEDLE } else { text };
            std::fs::write(path, text).unwrap();
        }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, at: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(at).env("HOME", self.base().join("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"] {
            command.env_remove(name);
        }
        command
    }

    fn git(&self, at: &Path, arguments: &[&str]) -> Vec<u8> {
        let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let output = self.command("git", at).args(settings).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn ctx(&self) -> Context {
        let excludes = self.base().join("home/.config/git/ignore");
        Context::builder(Arc::new(Disk::open([&self.root]).unwrap().with_excludes(excludes))).build()
    }

    /// What git lists and is there, by path from the root of the workspace.
    fn of_git(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for repository in &self.repositories {
            let at = if self.root.starts_with(repository) { &self.root } else { repository };
            let listed = self.git(at, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
            for name in String::from_utf8(listed).unwrap().split_terminator('\0') {
                let path = at.join(name);
                if path.symlink_metadata().is_ok_and(|found| found.is_file()) {
                    names.insert(path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        names
    }

    fn of_rg(&self, rg: &Path, arguments: &[&str]) -> BTreeSet<String> {
        let output = self
            .command(rg, &self.root)
            .args(["--hidden", "--null", "--glob", "!.git", "--no-config"])
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\0').map(|name| name.trim_start_matches("./").to_owned()).collect()
    }
}

/// `rg`, where there is one: by `TOOLPOST_RG`, among what `cargo install --root target/tools` made, or by the path.
fn rg() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin/rg");
    let named = std::env::var_os("TOOLPOST_RG").map(PathBuf::from);
    let on_path = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).map(|folder| folder.join("rg")).collect::<Vec<_>>());
    named.into_iter().chain([installed]).chain(on_path.into_iter().flatten()).find(|path| path.is_file())
}

fn check(name: &str, layout: &Layout) -> usize {
    let ctx = layout.ctx();
    let expected = layout.of_git();
    assert!(!expected.is_empty(), "{name} lists nothing");
    let of = |tool: &str, args: Value| -> BTreeSet<String> {
        let outcome = call(&ctx, tool, args);
        let files = data(&outcome)["files"].as_array().unwrap().clone();
        let name = |file: &Value| file.as_str().or(file["path"].as_str()).unwrap().to_owned();
        files.iter().map(name).collect()
    };
    let glob = of("glob", json!({"pattern": "**", "hidden": true, "limit": 10_000}));
    assert_eq!(glob, expected, "{name}: glob and git");
    let matching: BTreeSet<String> = expected
        .iter()
        .filter(|name| std::fs::read_to_string(layout.root.join(name)).unwrap().contains(NEEDLE))
        .cloned()
        .collect();
    let grep = of("grep", json!({"pattern": NEEDLE, "mode": "files", "hidden": true, "limit": 10_000}));
    assert_eq!(grep, matching, "{name}: grep and git");
    // `list` goes another way, name by name, and must agree.
    let outcome = call(&ctx, "list", json!({"depth": 64, "hidden": true, "limit": 10_000}));
    let listed: BTreeSet<String> = data(&outcome)["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["kind"] == "file")
        .map(|entry| entry["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, expected, "{name}: list and git");
    if let Some(rg) = rg().filter(|_| layout.rg_agrees) {
        assert_eq!(glob, layout.of_rg(&rg, &["--files"]), "{name}: glob and rg");
        assert_eq!(grep, layout.of_rg(&rg, &["-l", NEEDLE]), "{name}: grep and rg");
    }
    expected.len()
}

#[test]
fn files_are_found_as_git_and_ripgrep_find_them() {
    let mut files = 0;
    let layouts = layouts();
    for (name, layout) in &layouts {
        files += check(name, layout);
    }
    let with = rg().map_or("git alone, there is no rg".to_owned(), |rg| format!("git and {}", rg.display()));
    println!("measure: ignore rules: {} layouts, {files} files agree with {with}", layouts.len());
}

fn layouts() -> Vec<(&'static str, Layout)> {
    let mut layouts = vec![
        ("plain", Layout::new(&[("a.txt", ""), ("b/c.txt", ""), (".dot/d", "")])),
        (
            "rust",
            Layout::new(&[
                (".gitignore", "/target\n**/*.rs.bk\nCargo.lock\n"),
                ("Cargo.toml", ""),
                ("Cargo.lock", ""),
                ("src/main.rs", ""),
                ("src/main.rs.bk", ""),
                ("target/debug/x", ""),
                ("crates/a/target/kept", ""),
                ("crates/a/Cargo.lock", ""),
            ]),
        ),
        (
            "node",
            Layout::new(&[
                (
                    ".gitignore",
                    "node_modules/\ndist\n!packages/web/dist/\n*.log\n!important.log\n.env*\n!.env.example\n",
                ),
                ("node_modules/a/index.js", ""),
                ("packages/web/dist/app.js", ""),
                ("packages/api/dist/app.js", ""),
                ("packages/api/node_modules/b.js", ""),
                ("debug.log", ""),
                ("important.log", ""),
                ("packages/web/important.log", ""),
                (".env", ""),
                (".env.local", ""),
                (".env.example", ""),
                ("src/node_modules", ""),
            ]),
        ),
        (
            "python",
            Layout::new(&[
                (".gitignore", "__pycache__/\n*.py[cod]\n/.venv\nbuild/\n!/tools/build/\n.coverage.*\n"),
                ("a.py", ""),
                ("a.pyc", ""),
                ("pkg/__pycache__/a.py", ""),
                (".venv/lib/x.py", ""),
                ("sub/.venv/y.py", ""),
                ("build/x", ""),
                ("tools/build/x", ""),
                (".coverage.1", ""),
                (".coverage", ""),
            ]),
        ),
        (
            "nested",
            Layout::new(&[
                (".gitignore", "*\n!*/\n!*.rs\n!.gitignore\n/gen/*\n"),
                ("a.rs", ""),
                ("a.txt", ""),
                ("deep/er/b.rs", ""),
                ("deep/.gitignore", "!*.txt\n/er/b.rs\n"),
                ("deep/c.txt", ""),
                ("deep/er/d.txt", ""),
                ("deep/er/.gitignore", "!b.rs\nd.*\n"),
                ("gen/x.rs", ""),
                ("gen/sub/y.rs", ""),
            ]),
        ),
        (
            "no way back",
            Layout::new(&[
                (".gitignore", "out/\n!out/keep.txt\nlogs/*\n!logs/keep.txt\n"),
                ("out/keep.txt", ""),
                ("logs/keep.txt", ""),
                ("logs/drop.txt", ""),
                ("logs/sub/keep.txt", ""),
            ]),
        ),
        (
            "odd patterns",
            Layout::new(&[
                (
                    ".gitignore",
                    "\u{feff}# comment\r\n\\#hash\r\n\\!bang\r\ntrailing   \r\nspace\\ \r\na/**/z\n**/any\nabc/**\n[x-z].t\n?.q\n*.[!o]\n/top\nmid/dle\n",
                ),
                ("#hash", ""),
                ("!bang", ""),
                ("trailing", ""),
                ("space ", ""),
                ("a/z", ""),
                ("a/b/c/z", ""),
                ("q/any/f", ""),
                ("abc/d/e", ""),
                ("y.t", ""),
                ("a.t", ""),
                ("l.q", ""),
                ("ll.q", ""),
                ("x.o", ""),
                ("x.p", ""),
                ("top", ""),
                ("sub/top", ""),
                ("mid/dle", ""),
                ("sub/mid/dle", ""),
            ]),
        ),
        (
            "odd names",
            Layout::new(&[
                (".gitignore", "*.tmp\n"),
                ("with space/a b.txt", ""),
                ("new\nline", ""),
                ("ünï/çödé", ""),
                ("-dash", ""),
                ("tab\tx.tmp", ""),
            ]),
        ),
        (
            ".ignore too",
            Layout::new(&[
                (".gitignore", "*.gen\n"),
                ("a.gen", ""),
                ("b.txt", ""),
                ("c/d.gen", ""),
                ("c/e", ""),
            ]),
        ),
    ];

    // To `rg` these are a choice, to git they are not.
    let mut braces = Layout::new(&[
        (".gitignore", "{a,b}.brace\n[{x]y\n"),
        ("{a,b}.brace", ""),
        ("a.brace", ""),
        ("{y", ""),
        ("zy", ""),
    ]);
    braces.rg_agrees = false;
    layouts.push(("braces", braces));

    let exclude = Layout::new(&[
        ("a.txt", ""),
        ("notes.me", ""),
        ("sub/notes.me", ""),
        ("sub/b", ""),
        (".gitignore", "!sub/notes.me\n"),
    ]);
    exclude.write(&[(".git/info/exclude", "*.me\n/sub/b\n")]);
    layouts.push(("exclude", exclude));

    let global = Layout::new(&[
        ("a.txt", ""),
        ("a.swp", ""),
        ("sub/.DS_Store", ""),
        ("kept.swp", ""),
        (".gitignore", "!kept.swp\n"),
    ]);
    std::fs::write(global.base().join("home/.config/git/ignore"), "*.swp\n.DS_Store\n").unwrap();
    layouts.push(("global excludes", global));

    let mut tracked = Layout::new(&[
        ("build/keep/a.txt", ""),
        ("build/other.txt", ""),
        ("vendor/x.min.js", ""),
        ("src/a.o", ""),
    ]);
    tracked.git(&tracked.root, &["add", "build/keep/a.txt", "vendor/x.min.js"]);
    tracked.write(&[
        (".gitignore", "/build\n*.min.js\n*.o\n"),
        ("build/keep/new.txt", ""),
        ("vendor/y.min.js", ""),
        ("src/b.c", ""),
    ]);
    tracked.rg_agrees = false;
    layouts.push(("tracked but ignored", tracked));

    let mut version_4 =
        Layout::new(&[("build/a/one.txt", ""), ("build/a/two.txt", ""), ("build/b/one.txt", "")]);
    version_4.git(&version_4.root, &["add", "build/a/two.txt", "build/b"]);
    version_4.git(&version_4.root, &["update-index", "--index-version", "4"]);
    version_4.write(&[(".gitignore", "build/\n")]);
    version_4.rg_agrees = false;
    layouts.push(("an index of version 4", version_4));

    let mut inner = Layout::new(&[(".gitignore", "*.x\n/inner/hidden-above\n"), ("a.x", ""), ("b", "")]);
    inner.write(&[
        ("inner/c.x", ""),
        ("inner/d.y", ""),
        ("inner/.gitignore", "*.y\n"),
        ("inner/hidden-above", ""),
    ]);
    inner.git(&inner.root.join("inner"), &["init", "-q"]);
    inner.repositories.push(inner.root.join("inner"));
    layouts.push(("a repository in a repository", inner));

    let mut below = Layout::new(&[
        (".gitignore", "*.log\n/app/dist\n/app/sub/only-here\n"),
        ("app/.gitignore", "*.tmp\n"),
        ("app/a.log", ""),
        ("app/dist/x", ""),
        ("app/sub/only-here", ""),
        ("app/sub/b.tmp", ""),
        ("app/sub/c", ""),
        ("app/sub/c.log", ""),
        ("app/sub/forced.log", ""),
        ("other/d", ""),
    ]);
    below.git(&below.root, &["add", "-f", "app/sub/forced.log"]);
    below.root = below.root.join("app/sub");
    below.rg_agrees = false;
    layouts.push(("a root below the top of its repository", below));

    let mut worktree = Layout::new(&[(".gitignore", "*.log\n"), ("a", ""), ("b.log", "")]);
    worktree.git(&worktree.root, &["add", "-A", "-f"]);
    worktree.git(&worktree.root, &["commit", "-qm", "first"]);
    worktree.write(&[(".git/info/exclude", "*.local\n")]);
    let other = worktree.base().join("other");
    worktree.git(&worktree.root, &["worktree", "add", "-q", other.to_str().unwrap()]);
    worktree.root = other.clone();
    worktree.repositories = vec![other.clone()];
    for name in ["c.log", "d.local", "e"] {
        std::fs::write(other.join(name), NEEDLE).unwrap();
    }
    worktree.rg_agrees = false;
    layouts.push(("a worktree", worktree));
    layouts
}
