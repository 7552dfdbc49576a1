//! What dry runs would change, told from what real commands left in the overlay; as root and as an ordinary user.

use crate::stage::{limits, run, shell};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use toolpost_process::{Change, NodeKind, Sandbox, Scratch};

struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
    base: PathBuf,
}

fn ground() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let root = base.join("work");
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    for (path, text) in [
        ("a.txt", "one\n"),
        ("b.txt", "two\n"),
        ("src/c.txt", "three\n"),
        ("src/deep/d.txt", "four\n"),
        (".git/config", "[core]\n"),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    symlink("a.txt", root.join("link")).unwrap();
    fs::write(root.join("name-1"), "five\n").unwrap();
    fs::hard_link(root.join("name-1"), root.join("name-2")).unwrap();
    fs::create_dir(root.join("names")).unwrap();
    fs::hard_link(root.join("name-1"), root.join("names/name-3")).unwrap();
    fs::set_permissions(root.join("names"), fs::Permissions::from_mode(0o750)).unwrap();
    // Its other name is not in the workspace.
    fs::hard_link(root.join("b.txt"), base.join("outside")).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o750)).unwrap();
    Ground { _folder: folder, root, base: base.join("scratch") }
}

/// A file, folder or link as the tests compare it.
fn described(kind: NodeKind, mode: u32, content: &[u8]) -> String {
    let content = String::from_utf8_lossy(content).replace('\n', "");
    match kind {
        NodeKind::File => format!("file {mode:o} {content}"),
        NodeKind::Folder => format!("folder {mode:o}"),
        NodeKind::Link => format!("link {content}"),
        NodeKind::Other => format!("other {mode:o}"),
    }
}

/// Everything in a folder, with kind, mode and content.
fn everything(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let mode = metadata.mode() & 0o7777;
        let (kind, content) = match metadata.file_type() {
            kind if kind.is_dir() => {
                fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o700)).unwrap();
                waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                (NodeKind::Folder, Vec::new())
            }
            kind if kind.is_symlink() => {
                (NodeKind::Link, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            }
            kind if kind.is_fifo() => (NodeKind::Other, Vec::new()),
            _ => {
                let content = fs::read(&path).unwrap_or_else(|_| {
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o400)).unwrap();
                    fs::read(&path).unwrap()
                });
                (NodeKind::File, content)
            }
        };
        let name = path.strip_prefix(root).unwrap().display().to_string();
        found.push((name, described(kind, mode, &content)));
    }
    found.sort();
    found
}

/// Old and new of every name that differs.
fn differences(before: &[(String, String)], after: &[(String, String)]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        before.iter().filter(|one| !after.contains(one)).map(|(name, was)| format!("{name} - {was}")),
    );
    lines.extend(after.iter().filter(|one| !before.contains(one)).map(|(name, is)| format!("{name} + {is}")));
    lines.sort();
    lines
}

fn reported(root: &PathBuf, scratch: &Scratch, changes: &[Change]) -> Vec<String> {
    let mut lines = Vec::new();
    for change in changes {
        let name = change.path.strip_prefix(root).unwrap().display();
        let (before, after) = scratch.contents(std::slice::from_ref(root), change, 1_000);
        for (sign, node, content) in [("-", &change.before, before), ("+", &change.after, after)] {
            if let Some(node) = node {
                let content = content.or(node.target.clone()).unwrap_or_default();
                lines.push(format!("{name} {sign} {}", described(node.kind, node.mode, &content)));
            }
        }
    }
    lines.sort();
    lines
}

impl Ground {
    fn sandbox(&self) -> Sandbox {
        Sandbox {
            writable: vec![self.root.clone()],
            locked: vec![self.root.join(".git/config")],
            reserved: vec![".git/hooks".into(), ".mcp.json".into()],
            ..Sandbox::default()
        }
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(std::slice::from_ref(&self.base), std::slice::from_ref(&self.root)).unwrap()
    }

    async fn dry_run(&self, line: &str) -> (String, Scratch) {
        let scratch = self.scratch();
        let sandbox = Sandbox { scratch: Some(scratch.path().to_owned()), ..self.sandbox() };
        let done = run(shell(line, &self.root).limits(limits(20_000)).sandbox(sandbox)).await;
        (done.text, scratch)
    }
}

const LINES: &[&str] = &[
    "true",
    "echo more >> a.txt",
    "sed -i s/one/uno/ a.txt",
    "rm a.txt",
    "rm -rf src",
    "rm -rf src; mkdir src",
    "rm -rf src; mkdir src; echo new > src/c.txt; echo x > src/e.txt",
    "rm -rf src; echo file > src",
    "rm a.txt; mkdir a.txt; echo in > a.txt/in",
    "rm -rf src; ln -s . src",
    "mkdir -p new/er/est; echo x > new/er/x",
    "mkdir empty",
    "mv a.txt moved; mv b.txt src/",
    "mv src moved",
    "ln -sfn b.txt link; ln -s nowhere other",
    "ln a.txt hard; echo more >> hard",
    "chmod 755 a.txt; chmod 700 src; chmod 755 .",
    "cp a.txt t; cat t > a.txt; rm t; touch b.txt src/c.txt; chmod 600 src/c.txt; chmod 644 src/c.txt",
    "mkfifo pipe",
    "echo x > none; chmod 000 none; mkdir shut; echo y > shut/in; chmod 000 shut",
    "chmod 000 a.txt; chmod 000 src",
    "echo a > x; rm x; mkdir y; rmdir y",
    "echo x > .mcp.json; echo x > .git/hooks/pre-commit; echo x >> .git/config; rm -f .git/config; mv .git g; echo y > .git/HEAD",
    "found=$(stat -c '%a %Y' .); echo $found > stat-of-root; id -u > id; umask > umask",
    "printf 'a\\0b' > binary; printf '\\377' > 'odd\nname'",
    "cat name-2; echo more >> name-1; cat name-2 names/name-3; stat -c %h name-1",
    "echo more >> names/name-3; rm name-1",
    "sed -i s/five/six/ name-1; cat name-2",
    "mv name-1 moved; echo more >> moved; cat name-2",
    "chmod 600 name-2; stat -c '%a %Y' names",
    "rm name-2; echo new > name-2",
    "rm -rf names; echo more >> name-2",
    "ln name-1 name-4; echo more > name-4",
    "cp name-1 t; cat t > name-2; rm t; touch name-1",
    "cp a.txt t; mv t name-1; echo more >> b.txt",
    "python3 -c 'import os; os.replace(\"a.txt\", \"b.txt\"); open(\"gen.py\",\"w\").write(\"x=1\")'",
];

/// Each line dry, then for real, which must come to the same.
#[tokio::test]
async fn a_dry_run_reports_what_then_really_happens() {
    for line in LINES {
        let ground = ground();
        let before = everything(&ground.root);
        let (said, scratch) = ground.dry_run(line).await;
        assert_eq!(everything(&ground.root), before, "{line} changed something");
        let report = scratch.changes(std::slice::from_ref(&ground.root)).unwrap();
        assert!(!report.is_cut, "{line}");
        let told = reported(&ground.root, &scratch, &report.list);
        let done = run(shell(line, &ground.root).limits(limits(20_000)).sandbox(ground.sandbox())).await;
        let happened = differences(&before, &everything(&ground.root));
        assert_eq!(told, happened, "{line}: {said}");
        assert_eq!(said, done.text, "{line}");
        let folder = scratch.path().to_owned();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        drop(scratch);
        assert!(!folder.exists(), "{line} left {}", folder.display());
    }
    println!("measure: {} command lines dry and real, all reports equal", LINES.len());
}

/// Root has rights over all files; what ordinary users get is tried as one.
#[test]
fn an_ordinary_user_gets_the_same() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["scratch::", "--test-threads=1"]).env("TMPDIR", folder.path()).current_dir("/");
    let done = command.uid(65_534).gid(65_534).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("test scratch::a_dry_run_reports"), "{said}");
}

#[tokio::test]
async fn large_files_and_many_are_counted_only() {
    let ground = ground();
    fs::write(ground.root.join("same"), vec![7; 3_000_000]).unwrap();
    let line =
        "head -c 5000000 /dev/zero > big; cp same t; mv t same; for i in $(seq 40); do echo $i > f$i; done";
    let (_, scratch) = ground.dry_run(line).await;
    let roots = [ground.root.clone()];
    let whole = scratch.changes(&roots).unwrap();
    assert_eq!((whole.list.len(), whole.is_cut), (41, false), "equal bytes are no change");
    let big = whole.list.iter().find(|change| change.path.ends_with("big")).unwrap();
    assert_eq!(big.after.as_ref().unwrap().bytes, 5_000_000);
    assert_eq!(scratch.contents(&roots, big, 1_000_000), (None, None));
    let small = whole.list.iter().find(|change| change.path.ends_with("f7")).unwrap();
    assert_eq!(scratch.contents(&roots, small, 1_000), (None, Some(b"7\n".to_vec())));
}

#[tokio::test]
async fn roots_are_told_apart_and_a_folder_deeper_than_any_path_goes() {
    let ground = ground();
    let other = ground.base.parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    let scratch = ground.scratch();
    let line = format!(
        "echo x > in-work; echo y > {}/in-other; n=$(printf '%0200d' 0); for i in $(seq 40); do mkdir $n; cd -P $n; done",
        other.display()
    );
    let roots = vec![ground.root.clone(), other.clone()];
    let sandbox =
        Sandbox { writable: roots.clone(), scratch: Some(scratch.path().to_owned()), ..ground.sandbox() };
    run(shell(&line, &ground.root).limits(limits(60_000)).sandbox(sandbox)).await;
    let report = scratch.changes(&roots).unwrap();
    let has = |path: PathBuf| report.list.iter().any(|change| change.path == path);
    assert!(has(other.join("in-other")) && has(ground.root.join("in-work")));
    assert!(report.is_cut, "what is too deep is said to be left out");
    let folder = scratch.path().to_owned();
    drop(scratch);
    assert!(!folder.exists());
}

#[test]
fn old_folders_are_swept_and_a_base_in_the_workspace_is_not_used() {
    let ground = ground();
    let kept = ground.scratch();
    let left = ground.base.join("toolpost-dry-left");
    let foreign = ground.base.join("something-else");
    for folder in [&left, &foreign] {
        fs::create_dir_all(folder.join("0/upper/shut")).unwrap();
        fs::set_permissions(folder.join("0/upper/shut"), fs::Permissions::from_mode(0o000)).unwrap();
        let day = SystemTime::now() - Duration::from_secs(25 * 60 * 60);
        fs::File::open(folder).unwrap().set_modified(day).unwrap();
    }
    let new = ground.scratch();
    assert!(!left.exists() && foreign.exists() && kept.path().exists() && new.path().exists());
    let inside = [ground.root.join("tmp")];
    let roots = [ground.root.clone()];
    let error = Scratch::new(&inside, &roots).unwrap_err().to_string();
    assert!(error.contains("it lies in the workspace") && !inside[0].exists(), "{error}");
    let second = Scratch::new(&[inside[0].clone(), ground.base.clone()], &roots).unwrap();
    assert!(second.path().starts_with(&ground.base));
}
