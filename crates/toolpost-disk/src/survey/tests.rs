//! What is remembered never changes what a survey finds, whatever was done to the tree meanwhile.

#![expect(clippy::disallowed_methods, reason = "lays out files by hand and says what it measured")]

use super::*;
use crate::Disk;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::Duration;
use tempfile::TempDir;
use toolpost_core::workspace::Kind;

/// Marks by the last part of a name.
struct Plain {
    hides: &'static str,
}

impl Surveyor for Plain {
    fn mark(&self, name: &str, kind: Kind, owner: Owner) -> Mark {
        let last = name.rsplit('/').next().unwrap_or(name);
        if last.starts_with(self.hides) {
            Mark::Hidden
        } else if (last.starts_with("lock") && owner == Owner::User)
            || (last == ".git" && kind != Kind::Folder)
            || format!("/{name}/").contains("/two/x/")
            || (name.starts_with("top/") && last == "deep")
        {
            Mark::Locked
        } else {
            Mark::Free
        }
    }

    fn inherited(&self, name: &str, mark: Mark) -> Mark {
        if name.ends_with("opened") { Mark::Free } else { mark }
    }

    fn is_removable(&self, _: &str) -> bool {
        true
    }

    fn denies(&self, name: &str, _: Mark) -> bool {
        name.contains("denied")
    }

    /// As if there were a rule about `two/x` at any depth and one about `/top/**/deep`.
    fn progress(&self, name: &str, _: Owner) -> Option<Vec<(usize, u64)>> {
        let in_two = name.rsplit('/').next() == Some("two");
        let in_top = name.split('/').next() == Some("top");
        let all: Vec<(usize, u64)> = [(in_two, (0, 1)), (in_top, (1, 1))]
            .into_iter()
            .filter_map(|(is_in, place)| is_in.then_some(place))
            .collect();
        (!all.is_empty()).then_some(all)
    }

    fn hides_sockets(&self) -> bool {
        true
    }

    fn identity(&self) -> String {
        self.hides.to_owned()
    }
}

const HIDES: Plain = Plain { hides: "hid" };

struct Tree {
    _folder: TempDir,
    top: PathBuf,
    disk: Disk,
}

impl Tree {
    fn new() -> Tree {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let disk = Disk::open([&top]).unwrap();
        Tree { _folder: folder, top, disk }
    }

    fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.top.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn survey(&self, surveyor: &dyn Surveyor) -> Surveyed {
        survey(
            &self.disk.opened.now().roots,
            surveyor,
            &self.disk.opened.now().remembered,
            &self.disk.user_git,
        )
        .unwrap()
    }

    /// What is marked, by names from the top, and what is reserved.
    fn found(&self, surveyor: &dyn Surveyor) -> (Vec<String>, Vec<String>) {
        let name = |path: &Path| path.strip_prefix(&self.top).unwrap().to_string_lossy().into_owned();
        let surveyed = self.survey(surveyor);
        let marked = surveyed.marked.iter().map(|marked| format!("{:?} {}", marked.mark, name(&marked.path)));
        (marked.collect(), surveyed.missing.iter().map(|path| name(path)).collect())
    }

    /// The marks of names alone, by another way: no links, no repositories.
    fn expected(&self, surveyor: &dyn Surveyor) -> Vec<Marked> {
        fn of(top: &Path, folder: &Path, above: Mark, surveyor: &dyn Surveyor, found: &mut Vec<Marked>) {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                let kind = match entry.file_type().unwrap() {
                    kind if kind.is_dir() => Kind::Folder,
                    kind if kind.is_symlink() => Kind::Link,
                    _ => Kind::File,
                };
                let mark =
                    surveyor.mark(&path.strip_prefix(top).unwrap().to_string_lossy(), kind, Owner::User);
                if mark > above {
                    found.push(Marked { path: path.clone(), mark });
                }
                if kind == Kind::Folder {
                    of(top, &path, mark.max(above), surveyor, found);
                }
            }
        }
        let mut found = Vec::new();
        of(&self.top, &self.top, Mark::Free, surveyor, &mut found);
        found
    }

    fn memory<T>(&self, of: impl FnOnce(&mut remembered::Memory) -> T) -> T {
        of(&mut self.disk.opened.now().remembered.0.lock().unwrap())
    }
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn path(&mut self, top: &Path, names: &[&[u8]]) -> PathBuf {
        let mut path = top.to_path_buf();
        for _ in 0..=self.roll(4) {
            path.push(OsStr::from_bytes(names[self.roll(names.len())]));
        }
        path
    }
}

const NAMES: &[&[u8]] =
    &[b"a", b"b", b"c\xff", b"hid", b"hid\xfe", b"lock", b"lock1", b"d", b".git", b"e", b"opened"];

fn change(dice: &mut Dice, top: &Path, names: &[&[u8]]) {
    let (one, other) = (dice.path(top, names), dice.path(top, names));
    // What cannot be done is left: there are always others.
    let _ = match dice.roll(9) {
        0..3 => fs::create_dir_all(&one),
        3 | 4 => fs::write(&one, "x"),
        5 => fs::rename(&one, &other),
        6 => fs::remove_file(&one),
        7 => symlink(other.strip_prefix(top).unwrap(), &one),
        _ => fs::remove_dir_all(&one),
    };
}

#[test]
fn guarantee_36_a_remembered_survey_equals_a_fresh_one() {
    let is_soak = std::env::var("TOOLPOST_SOAK").is_ok_and(|value| value == "1");
    let rounds = if is_soak { 20_000 } else { 300 };
    let mut dice = Dice(36);
    let tree = Tree::new();
    // Longer than any tick of the kernel's clock, and short enough to remember something in each round.
    let rest = Duration::from_millis(12);
    tree.memory(|memory| memory.rest = rest);
    let (mut changes, mut marks) = (0, 0);
    for round in 0..rounds {
        std::thread::sleep(rest + Duration::from_millis(3));
        tree.survey(&HIDES);
        let count = 1 + dice.roll(12);
        for _ in 0..count {
            change(&mut dice, &tree.top, NAMES);
            changes += 1;
            // Between two changes that fall into one tick as well.
            if dice.roll(4) == 0 {
                tree.survey(&HIDES);
            }
        }
        let other = Plain { hides: "a" };
        let surveyor = if dice.roll(5) == 0 { &other } else { &HIDES };
        let found = tree.survey(surveyor);
        let fresh =
            survey(&tree.disk.opened.now().roots, surveyor, &Remembered::default(), &tree.disk.user_git)
                .unwrap();
        assert_eq!(found, fresh, "round {round}");
        for wanted in tree.expected(surveyor) {
            let covers =
                |marked: &&Marked| wanted.path.starts_with(&marked.path) && marked.mark >= wanted.mark;
            assert!(found.marked.iter().any(|marked| covers(&marked)), "round {round}: {wanted:?}");
            marks += 1;
        }
        let is_there = |marked: &Marked| marked.path.symlink_metadata().is_ok();
        assert!(found.marked.iter().all(is_there), "round {round}: {:?}", found.marked);
    }
    assert!(marks > rounds, "{marks}");
    println!(
        "measure: guarantee 36: {changes} random changes, {marks} marks, remembered and fresh surveys equal"
    );
}

/// Whether a folder is one of dependencies, by another way.
fn is_dependency(folder: &Path) -> bool {
    let marker = |name: &str| folder.join(name).symlink_metadata().is_ok_and(|found| found.is_file());
    match folder.file_name().unwrap().to_str() {
        Some("node_modules") => true,
        Some(".venv") => marker("pyvenv.cfg"),
        Some("target") => marker("CACHEDIR.TAG"),
        _ => false,
    }
}

/// Whether a name lies in one: each folder above is looked at.
fn is_of_dependency(top: &Path, path: &Path) -> bool {
    path.ancestors().skip(1).take_while(|folder| *folder != top).any(is_dependency)
}

/// Everything below a folder; links are not followed.
fn all_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.symlink_metadata().unwrap().is_dir() {
            all_below(&path, found);
        }
        found.push(path);
    }
}

#[test]
fn guarantee_36_dependency_folders_are_known_by_what_they_are_now() {
    const NAMES: &[&[u8]] = &[
        b"node_modules",
        b".venv",
        b"target",
        b"vendor",
        b"pyvenv.cfg",
        b"CACHEDIR.TAG",
        b"lock",
        b"lock1",
        b"a",
        b"b",
        b"hid",
    ];
    let is_soak = std::env::var("TOOLPOST_SOAK").is_ok_and(|value| value == "1");
    let rounds = if is_soak { 20_000 } else { 160 };
    let mut dice = Dice(8);
    let rest = Duration::from_millis(12);
    let (mut open, mut closed, mut off) = (0, 0, 0);
    let mut tree = Tree::new();
    for round in 0..rounds {
        if round % 20 == 0 {
            tree = Tree::new();
            tree.memory(|memory| memory.rest = rest);
        }
        for _ in 0..1 + dice.roll(12) {
            change(&mut dice, &tree.top, NAMES);
            if dice.roll(4) == 0 {
                std::thread::sleep(rest + Duration::from_millis(3));
                tree.survey(&HIDES);
            }
        }
        let found = tree.survey(&HIDES);
        let fresh =
            survey(&tree.disk.opened.now().roots, &HIDES, &Remembered::default(), &tree.disk.user_git)
                .unwrap();
        assert_eq!(found, fresh, "round {round}");
        let mut all = Vec::new();
        all_below(&tree.top, &mut all);
        // Links that lead in from outside, by the words in them.
        let folders: Vec<&PathBuf> = all.iter().filter(|path| path.is_dir() && !path.is_symlink()).collect();
        let there = |name: &str| {
            let is_it = |folder: &&&PathBuf| folder.ends_with(name) && is_dependency(folder);
            name == "node_modules" || folders.iter().any(|folder| is_it(&folder))
        };
        let leads = |path: &PathBuf| {
            let Ok(text) = fs::read_link(path) else { return false };
            let own = path.file_name().unwrap();
            if own == "node_modules" || is_of_dependency(&tree.top, path) {
                return false;
            }
            let named: Vec<&str> =
                ["node_modules", ".venv", "target"].into_iter().filter(|name| there(name)).collect();
            let mut parts: Vec<&OsStr> = text.iter().collect();
            // `x/.venv` may lead to another `.venv`.
            if [".venv", "target"].iter().any(|name| own == *name) && parts.last() == Some(&own) {
                parts.pop();
            }
            parts.iter().any(|part| named.iter().any(|name| part == name))
        };
        let is_off = all.iter().any(leads);
        assert_eq!(found.dependencies.names.is_empty(), is_off, "round {round}");
        off += usize::from(is_off);
        for path in all
            .iter()
            .filter(|path| path.file_name().unwrap().to_str().is_some_and(|name| name.starts_with("lock")))
        {
            let is_marked = found.marked.iter().any(|marked| path.starts_with(&marked.path));
            // A link or a folder above may be marked for another reason: then it is closed all the same.
            if is_off || !is_of_dependency(&tree.top, path) {
                assert!(is_marked, "round {round}: {}", path.display());
                closed += 1;
            } else {
                let inherits = path
                    .ancestors()
                    .skip(1)
                    .take_while(|folder| *folder != tree.top)
                    .any(|folder| found.marked.iter().any(|marked| marked.path == folder));
                let is_led_to = all.iter().any(|link| link.is_symlink());
                assert!(!is_marked || inherits || is_led_to, "round {round}: {}", path.display());
                open += usize::from(!is_marked);
            }
        }
    }
    assert!(open > 40 && closed > 400 && off > 10 && off < rounds, "{open} open, {closed} closed, {off} off");
    println!(
        "measure: guarantee 36: {rounds} trees with dependency folders, {open} names open, {closed} closed"
    );
}

#[test]
fn a_folder_is_listed_again_only_when_it_has_changed() {
    let tree = Tree::new();
    for name in ["a/b/c/x", "a/b/y", "d/hidden", "lock/z", "e/f/g/h/i/j"] {
        tree.write(name, "");
    }
    let listed = || tree.memory(|memory| std::mem::take(&mut memory.listed));
    let rest = tree.memory(|memory| memory.rest) + Duration::from_millis(10);
    std::thread::sleep(rest);
    let first = tree.survey(&HIDES);
    assert_eq!(listed(), 11);
    assert_eq!(tree.survey(&HIDES), first);
    assert_eq!(listed(), 0);
    // Another policy marks the names that are remembered.
    let marked: Vec<PathBuf> =
        tree.survey(&Plain { hides: "y" }).marked.into_iter().map(|marked| marked.path).collect();
    assert_eq!(marked, [tree.at("a/b/y"), tree.at("lock")]);
    assert_eq!(listed(), 0);
    // What is not at rest is listed every time.
    fs::write(tree.at("a/b/hid"), "").unwrap();
    assert_eq!(tree.survey(&HIDES).marked.len(), 3);
    assert_eq!(listed(), 1);
    fs::write(tree.at("a/b/hid2"), "").unwrap();
    assert_eq!(tree.survey(&HIDES).marked.len(), 4);
    assert_eq!(listed(), 1);
    fs::rename(tree.at("a"), tree.at("a2")).unwrap();
    assert_eq!(tree.survey(&HIDES).marked[0].path, tree.at("a2/b/hid"));
}

#[test]
fn links_that_are_protected_protect_where_they_lead() {
    let tree = Tree::new();
    for name in ["keys/one", "real/two", "scripts/run.sh", "free/opened", "lockdir/x"] {
        tree.write(name, "");
    }
    for (target, link) in [
        ("keys/one", "hidden"),
        ("folder/two", "hidden2"),
        ("real", "folder"),
        ("../scripts/run.sh", "lockdir/hook"),
        ("later/file", "lock-missing"),
        ("free/opened", "hidden3"),
        (".", "hidden4"),
        ("hidden5", "hidden5"),
        ("/etc/passwd", "hidden6"),
        ("keys", "ordinary"),
    ] {
        symlink(target, tree.at(link)).unwrap();
    }
    let (marked, missing) = tree.found(&HIDES);
    let expected = [
        "Hidden folder",
        "Hidden hidden",
        "Hidden hidden2",
        "Hidden hidden3",
        "Hidden hidden4",
        "Hidden hidden5",
        "Hidden hidden6",
        "Hidden keys/one",
        "Locked lock-missing",
        "Locked lockdir",
        "Hidden real/two",
        "Locked scripts/run.sh",
    ];
    assert_eq!(marked, expected);
    assert_eq!(missing, ["later/file"]);
}

#[test]
fn what_git_runs_is_protected() {
    let tree = Tree::new();
    let config = "[core]\n\thooksPath = tools/hooks\n\tfsmonitor = ./watch.sh\n[include]\n\tpath = ../more.config\n\
                  [alias]\n\tx = !bin/alias --now\n\ty = log bin/no\n[filter \"f\"]\n\tclean = python3 clean.py %f\n\
                  [remote \"origin\"]\n\turl = ../bin/url\n[diff]\n\texternal = vim\n[pager]\n\tlog = bin/none\n";
    for (name, text) in [
        (".git/HEAD", ""),
        (".git/config", config),
        (
            "more.config",
            "[merge \"m\"]\n\tdriver = bin/merge %A\n[includeIf \"gitdir:x\"]\n\tpath = absent.config\n",
        ),
        (
            "tools/hooks/pre-commit",
            "#!/bin/sh\n# bin/comment\ncd src && ../lint.sh\nnode scripts/a.js\n\"$ROOT/bin/root\"\n",
        ),
        ("tools/hooks/post-merge.sample", "bin/sample\n"),
        (".git/hooks/pre-push", "sh check.sh src README.md\n"),
        ("watch.sh", ""),
        ("clean.py", ""),
        ("check.sh", ""),
        ("README.md", ""),
        ("bin/alias", ""),
        ("bin/no", ""),
        ("bin/url", ""),
        ("bin/merge", ""),
        ("bin/comment", ""),
        ("bin/sample", ""),
        ("bin/root", ""),
        ("scripts/a.js", ""),
        ("src/main.rs", ""),
        ("sub/.git", "gitdir: ../.git/modules/sub"),
        ("sub/tool.sh", ""),
        (".git/modules/sub/HEAD", ""),
        (".git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n\tpager = ./tool.sh\n"),
    ] {
        tree.write(name, text);
    }
    let (marked, missing) = tree.found(&HIDES);
    let expected = [
        "Locked README.md",
        "Locked bin/alias",
        "Locked bin/merge",
        "Locked bin/root",
        "Locked check.sh",
        "Locked clean.py",
        "Locked more.config",
        "Locked scripts/a.js",
        "Locked sub/.git",
        "Locked sub/tool.sh",
        "Locked tools/hooks",
        "Locked watch.sh",
    ];
    assert_eq!(marked, expected);
    // A hook that goes to `src` runs what it names from there.
    assert_eq!(missing, ["absent.config", "bin/none", "lint.sh", "src/bin/root", "src/scripts/a.js"]);
}

#[test]
fn no_number_of_other_repositories_hides_what_git_runs() {
    let tree = Tree::new();
    for number in 0..1_100 {
        tree.write(&format!("!{number}/config"), "[alias]\n\tx = !bin/x\n");
        tree.write(&format!("!{number}/refs/x"), "");
        tree.write(&format!("!z{number}/.git/config"), "[alias]\n\tx = !bin/x\n");
    }
    tree.write("outer/config", "");
    tree.write("outer/refs/x", "");
    tree.write("outer/bare/HEAD", "");
    tree.write("outer/bare/config", "[core]\n\tpager = ./run\n");
    tree.write("outer/bare/run", "");
    tree.write(".git/HEAD", "");
    tree.write(".git/hooks/pre-commit", "sh check.sh\n");
    tree.write("check.sh", "");
    let (marked, _) = tree.found(&HIDES);
    for name in ["check.sh", "outer/bare/config", "outer/bare/run"] {
        assert!(marked.contains(&format!("Locked {name}")), "{name}");
    }
}

#[test]
fn names_that_are_too_deep_or_too_long_are_hidden_whole() {
    let tree = Tree::new();
    let mut path = tree.top.clone();
    for _ in 0..60 {
        path.push("x".repeat(60));
    }
    fs::create_dir_all(&path).unwrap();
    let mut deep = tree.top.clone();
    for _ in 0..230 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("hidden"), "").unwrap();
    let marked = tree.survey(&HIDES).marked;
    assert!(
        marked.iter().any(|marked| marked.mark == Mark::Hidden && deep.starts_with(&marked.path)),
        "{marked:?}"
    );
}

#[test]
fn files_are_marked_under_the_names_that_links_give_them() {
    let tree = Tree::new();
    for name in ["real/x", "real/y", "far/deep", "far/in/deep", "chain/x", "denied/opened", "loop/deep"] {
        tree.write(name, "");
    }
    for (link, target) in [
        ("a/two", "../real"),
        ("b/two", "../hop"),
        ("hop", "chain"),
        ("top/link", "../far"),
        ("top/loop", "../loop"),
        ("loop/one", "."),
        ("loop/other", "../loop"),
        ("c/two", "../not/there"),
    ] {
        fs::create_dir_all(tree.at(link).parent().unwrap()).unwrap();
        symlink(target, tree.at(link)).unwrap();
    }
    for _ in 0..2 {
        let (marked, _) = tree.found(&HIDES);
        for name in
            ["real/x", "far/deep", "far/in/deep", "chain/x", "loop/deep", "a/two", "b/two", "hop", "top/link"]
        {
            assert!(marked.contains(&format!("Locked {name}")), "{name}: {marked:?}");
        }
        assert!(!marked.contains(&"Locked real/y".to_owned()), "{marked:?}");
        let aliases = tree.survey(&HIDES).aliases;
        for (folder, name) in
            [("real", "a/two"), ("chain", "b/two"), ("far", "top/link"), ("not/there", "c/two")]
        {
            let wanted =
                toolpost_core::workspace::FolderAlias { folder: tree.at(folder), name: tree.at(name) };
            assert!(aliases.contains(&wanted), "{wanted:?}: {aliases:?}");
        }
    }
}
