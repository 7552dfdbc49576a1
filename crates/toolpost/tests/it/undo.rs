//! `toolpost undo` and `redo`: what tools have changed is taken back and made again, and nothing else is touched.

mod asking;
mod beside;
mod copies;
mod folders;
mod git;
mod large;
mod limits;
mod links;
mod overlap;
mod sequences;
mod uncovered;

use crate::{Home, Ran};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use toolpost_core::host::Services;
use toolpost_core::workspace::{CommandBefore, CommandChange, Journal};
use toolpost_core::{Context, Executor, Outcome, Policy, Registry, Workspace};
use toolpost_disk::Disk;
use toolpost_store::{StoreJournal, StoreUrl};

/// A workspace with a session of the tools in this process, and the command beside it.
struct World {
    home: Home,
    store: String,
    session: Context,
    threads: tokio::runtime::Runtime,
}

/// Everything in a folder: bytes, modes, links and folders.
type Tree = BTreeMap<String, String>;

impl World {
    fn new() -> World {
        let home = Home::new();
        std::fs::remove_dir_all(home.path("repo")).unwrap();
        std::fs::create_dir(home.path("repo")).unwrap();
        World::of(home)
    }

    fn of(home: Home) -> World {
        let path = home.path("undo.db");
        let store = toolpost_store::open(&StoreUrl::Sqlite(path.clone())).unwrap();
        let disk = Arc::new(Disk::open([home.path("repo")]).unwrap());
        let registry = Registry::new();
        toolpost_tools::register_default(
            &registry,
            &Services::default(),
            &toolpost_tools::Settings::default(),
        )
        .unwrap();
        let journal = StoreJournal::new(store, disk.root());
        let session = Context::builder(disk)
            .tools(Arc::new(registry))
            .policy(Policy::standard())
            .session("agent")
            .journal(Arc::new(journal))
            .build();
        let threads =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        World { home, store: format!("sqlite:{}", path.display()), session, threads }
    }

    /// Runs a tool; the id of the call.
    #[track_caller]
    fn call(&self, tool: &str, arguments: Value) -> String {
        let outcome: Outcome =
            self.threads.block_on(Executor::new().call(&self.session, tool, arguments.clone()));
        assert!(outcome.is_success(), "{tool} {arguments}: {}", outcome.to_text());
        outcome.call_id
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.home.run(&[args, &["--store", &self.store]].concat())
    }

    fn json(&self, args: &[&str]) -> (i32, Value) {
        self.home.json(&[args, &["--store", &self.store]].concat())
    }

    #[track_caller]
    fn works(&self, args: &[&str]) -> Value {
        let (status, value) = self.json(args);
        assert_eq!(status, 0, "{args:?}: {value}");
        value
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.home.write(&format!("repo/{name}"), content);
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        look(&self.home.path("repo"), "", &mut tree);
        tree
    }
}

fn look(folder: &Path, above: &str, tree: &mut Tree) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{above}{}", entry.file_name().to_string_lossy());
        // Git notes there what it has seen, whenever it is asked. Its objects are never taken back.
        if [".git/index", ".git/objects"].contains(&name.as_str()) {
            continue;
        }
        let about = entry.path().symlink_metadata().unwrap();
        let mode = about.permissions().mode() & 0o7777;
        if about.is_symlink() {
            tree.insert(name, format!("link {}", std::fs::read_link(entry.path()).unwrap().display()));
        } else if about.is_dir() {
            tree.insert(name.clone(), "folder".to_owned());
            look(&entry.path(), &format!("{name}/"), tree);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            tree.insert(name, format!("{mode:o} {}", bytes.escape_ascii()));
        }
    }
}

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+ONE\n*** Add File: new/deep\n+n\n\
    *** Delete File: gone\n*** Update File: from\n*** Move to: to\n@@\n-f\n+F\n*** End Patch\n";

#[test]
fn one_call_is_taken_back_and_made_again() {
    let world = World::new();
    for (name, content) in [("a", "1\n2\n"), ("gone", "g\n"), ("from", "f\n"), ("other", "x")] {
        world.write(name, content);
    }
    let mode = std::fs::Permissions::from_mode(0o750);
    std::fs::set_permissions(world.home.path("repo/gone"), mode).unwrap();
    let before = world.tree();
    let call = world.call("apply_patch", json!({"patch": PATCH}));
    let after = world.tree();
    let dry = world.works(&["undo", "--dry-run"]);
    assert_eq!((&dry["calls"][0]["call"], world.tree()), (&json!(call), after.clone()));
    let undone = world.works(&["undo"]);
    assert_eq!(world.tree(), before, "{undone}");
    let results: BTreeMap<&str, &str> = undone["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["name"].as_str().unwrap(), file["result"].as_str().unwrap()))
        .collect();
    assert_eq!(
        results,
        BTreeMap::from([
            ("a", "restored"),
            ("from", "back"),
            ("gone", "back"),
            ("new", "removed"),
            ("new/deep", "removed"),
            ("to", "removed"),
        ])
    );
    let (status, nothing) = world.json(&["undo"]);
    assert_eq!((status, &nothing["error"]["code"]), (1, &json!("NO_CHANGE")), "{nothing}");
    assert!(nothing["error"]["message"].as_str().unwrap().contains("keep"), "{nothing}");
    world.works(&["redo"]);
    assert_eq!(world.tree(), after);
    assert_eq!(world.json(&["redo"]).0, 1);
    // By its id, and the undo by its own.
    let id = world.works(&["undo", &call])["id"].as_str().unwrap().to_owned();
    assert_eq!(world.tree(), before);
    world.works(&["redo", &id]);
    assert_eq!(world.tree(), after);
    world.works(&["undo", "agent"]);
    assert_eq!(world.tree(), before);
    world.works(&["redo", &call]);
    assert_eq!(world.tree(), after);
    let (status, unknown) = world.json(&["undo", "nobody"]);
    assert_eq!((status, &unknown["error"]["code"]), (2, &json!("FILE_NOT_FOUND")), "{unknown}");
    let log = world.run(&["log"]).stdout;
    assert!(log.contains("undo ") && log.contains("redo "), "{log}");
}

#[test]
fn what_the_user_has_changed_since_stays() {
    let world = World::new();
    let lines = |first: &str, last: &str| format!("{first}\n2\n3\n4\n{last}\n");
    world.write("a", lines("1", "5"));
    world.write("b", "b\n");
    world.call("edit", json!({"filePath": "a", "oldString": "1", "newString": "ONE"}));
    world.call("write", json!({"filePath": "made/x", "content": "x\n"}));
    world.write("a", lines("ONE", "mine"));
    world.write("made/mine", "mine\n");
    let undone = world.works(&["undo"]);
    assert_eq!(undone["files"][0]["result"], "stays", "{undone}");
    assert_eq!(world.tree().keys().collect::<Vec<_>>(), ["a", "b", "made", "made/mine"]);
    assert_eq!(world.works(&["undo"])["files"][0]["result"], "merged");
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), lines("1", "mine"));
    world.works(&["redo"]);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), lines("ONE", "mine"));
}

/// What is in the way, and what is said of it.
#[test]
fn a_conflict_changes_nothing_at_all() {
    type Change = fn(&World);
    let conflicts: [(&str, Change, &str); 8] = [
        ("the same line", |world| world.write("a", "mine\n2\n"), "line 1 was changed in another way since"),
        ("no text", |world| world.write("a", "ONE\n2\n\0"), "it is not text"),
        ("removed", |world| std::fs::remove_file(world.home.path("repo/a")).unwrap(), "it was removed since"),
        ("changed what was made", |world| world.write("new/deep", "mine\n"), "would remove those changes"),
        ("made what was removed", |world| world.write("gone", "mine\n"), "something new has that name"),
        (
            "a link in its place",
            |world| {
                std::fs::remove_file(world.home.path("repo/a")).unwrap();
                symlink("other", world.home.path("repo/a")).unwrap();
            },
            "into something else",
        ),
        (
            "a link above it",
            |world| {
                std::fs::rename(world.home.path("repo/new"), world.home.path("repo/moved")).unwrap();
                symlink("moved", world.home.path("repo/new")).unwrap();
            },
            "a link",
        ),
        (
            "a later call",
            |world| {
                drop(world.call("edit", json!({"filePath": "a", "oldString": "ONE", "newString": "TWO"})))
            },
            "first",
        ),
    ];
    for (what, change, says) in conflicts {
        let world = World::new();
        for (name, content) in [("a", "1\n2\n"), ("gone", "g\n"), ("from", "f\n"), ("other", "x")] {
            world.write(name, content);
        }
        let call = world.call("apply_patch", json!({"patch": PATCH}));
        change(&world);
        let tree = world.tree();
        let ran = world.run(&["undo", &call]);
        assert_eq!(ran.status, 1, "{what}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains(says) && ran.stderr.contains("nothing was changed"),
            "{what}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains("--partial"), "{what}: {}", ran.stderr);
        assert_eq!(world.tree(), tree, "{what}");
        let (status, told) = world.json(&["undo", &call]);
        assert_eq!((status, &told["success"]), (1, &json!(false)), "{what}: {told}");
        // The rest, where it is wanted.
        let done = world.works(&["undo", &call, "--partial"]);
        assert_eq!(done["success"], true, "{what}: {done}");
        assert!(world.tree().contains_key("from") && !world.tree().contains_key("to"), "{what}");
    }
}

/// What is said after a conflict, done: then the undo works.
#[test]
fn what_a_conflict_advises_works() {
    type Step = fn(&World);
    let away: Step = |world| {
        std::fs::rename(world.home.path("repo/a"), world.home.path("away")).unwrap();
    };
    let cases: [(&str, Step, &str, Step, &[&str]); 5] = [
        (
            "edit",
            |world| world.write("a", "mine\n2\n"),
            "move your version away and use `toolpost undo --bring-back`",
            away,
            &["--bring-back"],
        ),
        (
            "edit",
            |world| world.write("a", "mine\n2\n"),
            "change it back",
            |world| world.write("a", "ONE\n2\n"),
            &[],
        ),
        (
            "edit",
            |world| std::fs::remove_file(world.home.path("repo/a")).unwrap(),
            "`toolpost undo --bring-back` restores what was there before",
            |_| (),
            &["--bring-back"],
        ),
        ("delete", |world| world.write("a", "mine\n"), "move your version away", away, &[]),
        (
            "edit",
            |world| {
                std::fs::remove_file(world.home.path("repo/a")).unwrap();
                symlink("other", world.home.path("repo/a")).unwrap();
            },
            "move your version away and use `toolpost undo --bring-back`",
            away,
            &["--bring-back"],
        ),
    ];
    for (tool, change, says, follow, flags) in cases {
        let world = World::new();
        world.write("a", "1\n2\n");
        let before = world.tree();
        let call = match tool {
            "edit" => world.call("edit", json!({"filePath": "a", "oldString": "1", "newString": "ONE"})),
            _ => world.call("delete", json!({"filePath": "a"})),
        };
        change(&world);
        let changed = world.tree();
        let refused = world.run(&["undo", &call]);
        assert_eq!(refused.status, 1, "{says}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains(says), "{says}: {}", refused.stderr);
        assert_eq!(world.tree(), changed, "{says}");
        follow(&world);
        world.works(&[&["undo", &call][..], flags].concat());
        assert_eq!(world.tree(), before, "{says}");
    }
}

#[test]
fn a_session_is_taken_back_as_one() {
    let world = World::new();
    world.write("a", "1\n2\n3\n4\n5\n6\n7\n");
    world.write("b", "b\n");
    let before = world.tree();
    for (old, new) in [("1", "one"), ("one", "uno"), ("7", "seven")] {
        world.call("edit", json!({"filePath": "a", "oldString": old, "newString": new}));
    }
    world.call("delete", json!({"filePath": "b"}));
    world.call("write", json!({"filePath": "b", "content": "again\n"}));
    world.call("write", json!({"filePath": "b", "content": "and again\n"}));
    let after = world.tree();
    world.works(&["undo", "agent"]);
    assert_eq!(world.tree(), before);
    assert_eq!(world.json(&["undo", "agent"]).0, 1);
    world.works(&["redo"]);
    assert_eq!(world.tree(), after);
    // With a change of the user between two of them.
    world.works(&["undo"]);
    world.works(&["undo"]);
    world.write("a", "uno\n2\n3\nmine\n5\n6\nseven\n");
    world.works(&["undo", "agent"]);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "1\n2\n3\nmine\n5\n6\n7\n");
    world.works(&["redo", "agent"]);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "uno\n2\n3\nmine\n5\n6\nseven\n");
}

/// In a repository of git: what is untracked or ignored, modes and links are restored like all else, and git sees it.
#[test]
fn a_real_repository_is_as_it_was() {
    let world = World::new();
    let git = |args: &[&str]| {
        let output = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"])
            .args(args)
            .current_dir(world.home.path("repo"))
            .env("HOME", world.home.path(""))
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    world.write(".gitignore", "*.log\n");
    world.write("run.sh", "echo 1\n");
    std::fs::set_permissions(world.home.path("repo/run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    world.write("src/a.rs", "fn a() {}\n");
    symlink("src/a.rs", world.home.path("repo/link.rs")).unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    world.write("untracked", "u\n");
    world.write("out.log", "l\n");
    let (status, tree) = (git(&["status", "--porcelain", "--ignored"]), world.tree());
    world.call("edit", json!({"filePath": "run.sh", "oldString": "1", "newString": "2"}));
    world.call("delete", json!({"filePath": "link.rs"}));
    world.call("write", json!({"filePath": "out.log", "content": "other\n"}));
    world.call("delete", json!({"filePath": "untracked"}));
    world.call("apply_patch", json!({"patch":
        "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: lib/b.rs\n@@\n-fn a() {}\n+fn b() {}\n*** End Patch\n"}));
    world.call("write", json!({"filePath": "link2/x", "content": "x"}));
    let after = world.tree();
    world.works(&["undo", "agent"]);
    assert_eq!(world.tree(), tree);
    assert_eq!(git(&["status", "--porcelain", "--ignored"]), status);
    world.works(&["redo"]);
    assert_eq!(world.tree(), after);
}

/// Real commands in a real repository: each is taken back to the letter and made again, last one first, and a change of the
/// user's in between stays.
#[test]
fn guarantee_35_commands_are_taken_back() {
    const LINES: [&str; 9] = [
        "sed -i s/one/ONE/ a.txt",
        "printf 'more\\n' >> a.txt && chmod 755 a.txt",
        "mkdir -p new/deep && cp a.txt new/deep/b && ln -s ../a.txt new/link",
        "rm -rf d && touch d",
        "mv kept moved && printf x > moved/y",
        "rm untracked out.log && printf 'other' > out.log",
        "git add -A && git -c user.name=t -c user.email=t@example.org commit -qm second",
        "python3 -c 'f = open(\"bytes\", \"r+b\"); f.seek(2); f.write(b\"..\")' && ln -sf b link",
        "git mv a.txt c.txt && echo end > c.txt",
    ];
    let world = World::new();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-C"]);
        assert!(command.arg(world.home.path("repo")).args(args).status().unwrap().success(), "{args:?}");
    };
    git(&["init", "-q"]);
    for (name, content) in [
        (".gitignore", "*.log\n"),
        ("a.txt", "one\ntwo\nthree\nfour\nfive\n"),
        ("bytes", "\0\u{1}\u{2}\u{3}\u{4}"),
        ("d/x", "x"),
        ("kept/y", "y"),
    ] {
        world.write(name, content);
    }
    symlink("a.txt", world.home.path("repo/link")).unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    world.write("untracked", "u\n");
    world.write("out.log", "l\n");
    let mut trees = vec![world.tree()];
    for line in LINES {
        let line = format!("command={line}");
        world.works(&["call", "bash", &line, "--allow", "exec"]);
        trees.push(world.tree());
        assert_ne!(trees[trees.len() - 2..][0], trees[trees.len() - 1], "{line}");
    }
    for (line, pair) in LINES.iter().zip(trees.windows(2)).rev() {
        let told = world.works(&["undo"]);
        assert_eq!(world.tree(), pair[0], "{line}: {told}");
        world.works(&["redo"]);
        assert_eq!(world.tree(), pair[1], "{line}");
        world.works(&["undo"]);
    }
    world.works(&["call", "bash", "command=sed -i s/one/ONE/ a.txt", "--allow", "exec"]);
    world.write("a.txt", "ONE\ntwo\nthree\nfour\nFIVE\n");
    world.works(&["undo"]);
    assert_eq!(
        std::fs::read_to_string(world.home.path("repo/a.txt")).unwrap(),
        "one\ntwo\nthree\nfour\nFIVE\n"
    );
}

#[test]
fn bytes_of_every_kind_come_back() {
    let world = World::new();
    for (name, content) in [
        ("crlf", &b"a\r\nb\r\n"[..]),
        ("bom", b"\xef\xbb\xbfa\n"),
        ("binary", b"\0\xff\x01"),
        ("empty", b""),
        ("open", b"a\nb"),
    ] {
        world.write(name, content);
    }
    let before = world.tree();
    for name in ["crlf", "bom", "binary", "empty", "open"] {
        world.call("delete", json!({"filePath": name}));
    }
    world.call("write", json!({"filePath": "empty", "content": "now\n"}));
    world.works(&["undo", "agent"]);
    assert_eq!(world.tree(), before);
}

#[test]
fn a_workspace_is_the_same_through_a_link() {
    let world = World::new();
    world.write("a", "1\n");
    symlink(world.home.path("repo"), world.home.path("way")).unwrap();
    world.call("write", json!({"filePath": "a", "content": "2\n"}));
    let way = world.home.path("way").display().to_string();
    world.works(&["undo", "--workspace", &way]);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "1\n");
    // Another workspace knows nothing of it.
    let other = world.home.path("other");
    std::fs::create_dir(&other).unwrap();
    assert_eq!(world.json(&["redo", "--workspace", &other.display().to_string()]).0, 1);
    world.works(&["redo"]);
}

#[test]
fn what_is_kept_no_longer_cannot_be_undone_and_says_so() {
    let world = World::new();
    world.write("a", "1\n");
    let call = world.call("write", json!({"filePath": "a", "content": "2\n"}));
    let config = world.home.path("keep.toml");
    std::fs::write(&config, "keep = \"0 days\"\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let gone = world.works(&["gc", "--config", &config.display().to_string()]);
    assert_eq!(gone["changes"], 1, "{gone}");
    let (_, nothing) = world.json(&["undo"]);
    assert!(nothing["error"]["message"].as_str().unwrap().contains("key `keep`"), "{nothing}");
    assert_eq!(world.json(&["undo", &call]).0, 2);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "2\n");
}

#[test]
fn two_who_undo_at_once_take_turns() {
    let world = World::new();
    world.write("a", "0\n");
    for number in 1..=4 {
        world.call("write", json!({"filePath": "a", "content": format!("{number}\n")}));
    }
    let args = ["undo", "--json", "--store", &world.store];
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut command = world.home.command(args);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "1\n");
}

/// Killed at some moment, an undo leaves a state from which undo and redo go on.
#[test]
fn guarantee_35_an_undo_that_is_killed_can_be_gone_on_with() {
    let rounds = crate::count(6, 200);
    let world = World::new();
    for number in 0..40 {
        world.write(&format!("f{number}"), format!("old {number}\n"));
    }
    let before = world.tree();
    let parts: String = (0..40)
        .map(|number| format!("*** Update File: f{number}\n@@\n-old {number}\n+new {number}\n"))
        .collect();
    world.call(
        "apply_patch",
        json!({"patch": format!("*** Begin Patch\n{parts}*** Add File: d/n\n+n\n*** End Patch\n")}),
    );
    let after = world.tree();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut cut = 0;
    for round in 0..rounds {
        let command = if round % 2 == 0 { "undo" } else { "redo" };
        let mut child = world
            .home
            .command([command, "--store", &world.store])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // When one of the files has changed, and others have not, it is in the middle.
        let watched = world.home.path(&format!("repo/f{}", (seed >> 33) % 40));
        let as_it_was = std::fs::read(&watched).unwrap();
        while child.try_wait().unwrap().is_none() && std::fs::read(&watched).is_ok_and(|now| now == as_it_was)
        {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let tree = world.tree();
        // What a kill leaves under names of ours, the next one removes.
        cut += usize::from(tree != before && tree != after);
        // Forwards and back again, whatever it has left.
        let _ = world.run(&["undo"]);
        assert_eq!(world.tree(), before, "round {round}");
        world.works(&["redo"]);
        assert_eq!(world.tree(), after, "round {round}");
        if round % 2 == 0 {
            world.works(&["undo"]);
        }
    }
    assert!(cut > 0, "none was killed in the middle");
    println!(
        "measure: guarantee 35: {rounds} undos and redos killed, {cut} of them in the middle; all gone on with"
    );
}

/// With the default store, from the command line alone; where nothing is kept, calls say so.
#[test]
fn calls_of_the_command_line_can_be_undone() {
    let home = Home::new();
    let read = || std::fs::read_to_string(home.path("repo/src/main.rs")).unwrap();
    let (status, edited) =
        home.json(&["call", "edit", "filePath=src/main.rs", "oldString=main", "newString=start"]);
    assert_eq!((status, &edited["metadata"]["undo"]), (0, &Value::Null), "{edited}");
    assert_eq!(read(), "fn start() {}\n");
    assert_eq!(
        home.json(&["call", "edit", "filePath=src/main.rs", "oldString=start", "newString=x", "--dry-run"]).0,
        0
    );
    let ran = home.run(&["undo"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("undone: edit, 20") && ran.stdout.contains("restored     src/main.rs  +1 -1"),
        "{}",
        ran.stdout
    );
    assert_eq!(read(), "fn main() {}\n");
    let kept = home.json(&["call", "write", "filePath=b", "content=x", "--store", "memory"]).1;
    assert_eq!(kept["metadata"]["undo"], false, "{kept}");
    let read_only = home.json(&["call", "read", "filePath=b", "--store", "memory"]).1;
    assert_eq!(read_only["metadata"]["undo"], Value::Null, "{read_only}");
    let (status, refused) = home.json(&["undo", "--workspace", "vfs:x"]);
    assert_eq!((status, &refused["error"]["code"]), (2, &json!("VALIDATION_ERROR")), "{refused}");
}

/// A record of a command may say anything: it restores no name that a file tool could not write by itself.
#[test]
fn what_a_command_is_said_to_have_changed_restores_nothing_protected() {
    let world = World::new();
    world.write("a", "now\n");
    world.write(".envrc", "now\n");
    let store = toolpost_store::open(&world.store.parse().unwrap()).unwrap();
    let root = world.home.path("repo").display().to_string();
    let journal = StoreJournal::new(store, root);
    let file = |text: &str| CommandBefore::File { content: Arc::from(text.as_bytes()), mode: 0o644 };
    let change = |name: &str| CommandChange {
        name: name.to_owned(),
        at_us: 1,
        before: file("old\n"),
        after: file("now\n"),
    };
    let hook = CommandChange {
        name: ".git/hooks/pre-commit".to_owned(),
        at_us: 1,
        before: CommandBefore::File { content: Arc::from(&b"#!/bin/sh\n"[..]), mode: 0o755 },
        after: CommandBefore::Absent,
    };
    let outside = CommandChange {
        name: "../outside".to_owned(),
        at_us: 1,
        before: file("old\n"),
        after: CommandBefore::Absent,
    };
    journal.command_changed("agent", "ok", vec![change("a")]).unwrap();
    journal.command_changed("agent", "bad", vec![change("a"), hook]).unwrap();
    journal.command_changed("agent", "worse", vec![outside]).unwrap();
    let tree = world.tree();
    for (call, says) in [("worse", "outside"), ("bad", "protected")] {
        let ran = world.run(&["undo", call]);
        assert_eq!(ran.status, 1, "{call}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(says), "{call}: {}", ran.stderr);
        assert_eq!(world.tree(), tree, "{call}");
    }
    assert!(!world.home.path("outside").exists());
    world.works(&["undo", "bad", "--partial"]);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "old\n");
    assert!(!world.home.path("repo/.git").exists());
    // A file tool's own record is one of a call that was allowed.
    world.works(&["redo", "bad"]);
    world.works(&["undo", "ok"]);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/a")).unwrap(), "old\n");
}
