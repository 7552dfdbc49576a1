//! What somebody else does beside a command is not taken back with it, and what cannot be put back is not taken away.

use super::World;
use crate::Ran;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use toolpost_core::store::{ChangeKind, ChangeQuery, Held, NewChange, Takes};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

impl World {
    fn spawn(&self, line: &str) -> Child {
        let line = format!("command={line}");
        let mut command =
            self.home.command(["call", "bash", &line, "--allow", "exec", "--store", &self.store, "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[track_caller]
    fn bash(&self, line: &str) -> serde_json::Value {
        self.works(&["call", "bash", &format!("command={line}"), "--allow", "exec"])
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.path(&format!("repo/{name}"))
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = std::fs::File::options().append(true).open(self.file(name)).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    }

    fn wait_for(&self, name: &str) {
        while !self.file(name).exists() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    #[track_caller]
    fn refuses(&self, args: &[&str], says: &str) {
        let tree = self.tree();
        let ran = self.run(args);
        assert_eq!(ran.status, 1, "{args:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
        assert_eq!(self.tree(), tree, "{args:?}");
    }
}

/// Processes of the machine with this text in their command lines.
fn are_running(mark: &str) -> bool {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok())).any(
        |entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            line.windows(mark.len()).any(|part| part == mark.as_bytes())
        },
    )
}

#[test]
fn guarantee_35_what_the_user_does_after_a_killed_command_stays() {
    let world = World::new();
    world.write("f", LINES);
    let mark = format!("87{:08}", std::process::id());
    let mut child = world.spawn(&format!("sed -i s/one/ONE/ f; echo new > made; : > ready; sleep {mark}"));
    world.wait_for("ready");
    child.kill().unwrap();
    child.wait().unwrap();
    while are_running(&mark) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    world.append("f", "eight by the user\n");
    world.write("made", "the user's\n");
    // The guard of the command writes its last records, and then lets go of them.
    while world.json(&["undo", "--dry-run"]).1["calls"].as_array().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    world.refuses(&["undo"], "conflict: made: the state after the call is unknown");
    world.works(&["undo", "--partial"]);
    assert_eq!(world.text("f"), format!("{LINES}eight by the user\n"));
    assert_eq!(world.text("made"), "the user's\n");
}

/// A line that says when it has come here, and goes on when the user lets it.
const WAIT: &str = ": > ready; until [ -e go ]; do sleep 0.01; done; : > seen";

#[test]
fn guarantee_35_what_the_user_does_while_a_command_runs_stays() {
    for (line, is_merged) in [("sed -i s/one/ONE/ f", true), ("exec 3>>f", false)] {
        let world = World::new();
        world.write("f", LINES);
        let child = world.spawn(&format!("{line}; {WAIT}"));
        world.wait_for("ready");
        world.append("f", "eight by the user\n");
        world.write("go", "");
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        if is_merged {
            world.works(&["undo"]);
        } else {
            assert!(ran.stdout.contains("changed by somebody else too"), "{}", ran.stdout);
            world.refuses(&["undo"], "conflict: f: the state after the call is unknown");
        }
        assert_eq!(world.text("f"), format!("{LINES}eight by the user\n"), "{line}");
    }
}

#[test]
fn guarantee_35_what_came_from_a_dependency_folder_is_not_removed() {
    for line in
        ["mv node_modules elsewhere", "mv node_modules/k.js a", "mv node_modules elsewhere; mv elsewhere x"]
    {
        let world = World::new();
        world.write("node_modules/k.js", "k\n");
        world.write("node_modules/deep/m.js", "m\n");
        world.write("a", "a\n");
        let told = world.bash(line);
        assert!(told.to_string().contains("a folder that is not recorded"), "{line}: {told}");
        world.refuses(&["undo"], "from a folder that is not recorded");
    }
}

/// What could not be kept of what a command has left is no dead end: once it is moved away, the rest comes back.
#[test]
fn what_a_command_left_and_cannot_be_kept_is_moved_away_first() {
    for line in ["truncate -s 70M a", "rm a; mkfifo a"] {
        let world = World::new();
        world.write("a", "precious\n");
        let told = world.bash(&format!("{line}; echo 2 > b"));
        assert!(told.to_string().contains("move it away before an undo"), "{line}: {told}");
        let ran = world.run(&["undo"]);
        assert_eq!(ran.status, 1, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("move your version away"), "{line}: {}", ran.stderr);
        std::fs::rename(world.file("a"), world.home.path("away")).unwrap();
        world.works(&["undo"]);
        assert_eq!(world.text("a"), "precious\n", "{line}");
        assert!(!world.file("b").exists());
    }
    // The mode of the workspace itself is said, and stands in nobody's way.
    let world = World::new();
    let told = world.bash("chmod 711 .; echo 2 > b");
    assert!(told.to_string().contains("is the workspace itself"), "{told}");
    world.works(&["undo"]);
    assert!(!world.file("b").exists());
}

/// Killed after a file was taken away and before the folder was put in its place, and the other way round.
#[test]
fn an_undo_that_is_killed_between_file_and_folder_can_be_gone_on_with() {
    let world = World::new();
    world.write("gone/x", "x\n");
    let before = world.tree();
    world.bash("rm -r gone; echo file > gone");
    let after = world.tree();
    let store = toolpost_store::open(&world.store.parse().unwrap()).unwrap();
    let root = world.home.path("repo").canonicalize().unwrap().display().to_string();
    let query = ChangeQuery { workspace: root.clone(), ..ChangeQuery::default() };
    let cut = |id: &str, kind: ChangeKind| {
        let own: Vec<_> = store.changes(&query).unwrap().into_iter().filter(|one| one.is_done).collect();
        let is_redo = kind == ChangeKind::Redo;
        let of = |set| own.iter().filter(move |one| one.set == set);
        let first = own.iter().map(|one| one.set).min().unwrap();
        let last = own.iter().map(|one| one.set).max().unwrap();
        let changes: Vec<NewChange> = of(last)
            .map(|one| NewChange {
                workspace: root.clone(),
                session: "user".to_owned(),
                call: id.to_owned(),
                at_ms: 1,
                kind,
                by_command: true,
                touched_us: 0,
                name: one.name.clone(),
                before: one.after.clone(),
                after: one.before.clone(),
                contents: Vec::new(),
                takes: Takes {
                    undone: vec![(one.set, one.number)],
                    redone: of(first)
                        .filter(|done| is_redo && done.name == one.name)
                        .map(|done| (done.set, done.number))
                        .collect(),
                },
            })
            .collect();
        assert!(
            changes.iter().any(|change| matches!(change.before, Held::File { .. } | Held::Folder { .. }))
        );
        store.keep_changes(changes).unwrap();
    };
    cut("cut undo", ChangeKind::Undo);
    std::fs::remove_file(world.file("gone")).unwrap();
    world.works(&["undo"]);
    assert_eq!(world.tree(), before);
    cut("cut redo", ChangeKind::Redo);
    std::fs::remove_dir_all(world.file("gone")).unwrap();
    world.works(&["redo"]);
    assert_eq!(world.tree(), after);
    // All of it was done, and only its end was not noted.
    world.works(&["undo"]);
    cut("cut end", ChangeKind::Redo);
    std::fs::remove_dir_all(world.file("gone")).unwrap();
    world.write("gone", "file\n");
    let _ = world.run(&["redo"]);
    assert_eq!(world.tree(), after);
    world.works(&["undo"]);
    assert_eq!(world.tree(), before);
}

/// As an ordinary user, who is held by the modes of folders.
#[test]
fn folders_that_may_not_be_written_are_opened_first_and_closed_last() {
    let world = World::new();
    let mode = |name: &str, mode| {
        std::fs::set_permissions(world.file(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    world.write("d/x", "1\n");
    world.write("e/y", "1\n");
    mode("e", 0o500);
    if std::fs::write(world.file("e/z"), "").is_ok() {
        // The modes of folders do not hold for root: the same test runs as somebody else.
        std::fs::remove_file(world.file("e/z")).unwrap();
        return as_ordinary_user(
            "undo::beside::folders_that_may_not_be_written_are_opened_first_and_closed_last",
        );
    }
    let before = world.tree();
    world.bash(
        "echo 2 > d/x; echo n > d/n; chmod 500 d; chmod 700 e; rm -rf e; mkdir f; echo 1 > f/x; chmod 500 f",
    );
    let after = world.tree();
    for _ in 0..2 {
        world.works(&["undo"]);
        assert_eq!(world.tree(), before);
        world.works(&["redo"]);
        assert_eq!(world.tree(), after);
    }
    for name in ["d", "f"] {
        mode(name, 0o700);
    }
}

#[test]
fn a_session_is_named_with_its_conflict() {
    let world = World::new();
    world.write("a", "1\n");
    let first = world.call("write", json!({"filePath": "b", "content": "b\n"}));
    let call = world.call("write", json!({"filePath": "a", "content": "2\n"}));
    world.write("a", "mine\n");
    let ran = world.run(&["undo"]);
    for says in [
        "to undo: a tool, 20".to_owned(),
        format!("call {call}, session agent"),
        format!("`toolpost undo {first}` takes back the call before it"),
    ] {
        assert!(ran.stderr.contains(&says), "{says}: {}", ran.stderr);
    }
    // A dry run says the same, and ends the same.
    let dry = world.run(&["undo", "--dry-run"]);
    assert_eq!((dry.status, ran.status), (1, 1), "{}", dry.stderr);
    assert_eq!(dry.stderr, ran.stderr.replace("nothing was changed", "nothing would be changed"));
    for args in [&["undo"][..], &["undo", "--dry-run"]] {
        let (status, told) = world.json(args);
        assert_eq!(
            (status, &told["success"], &told["error"]["code"]),
            (1, &json!(false), &json!("STALE_FILE"))
        );
        assert!(told["error"]["message"].as_str().unwrap().contains(&first), "{told}");
    }
    // The way that it names works.
    world.works(&["undo", &first]);
    assert!(!world.file("b").exists());
    let ran = world.run(&["undo"]);
    assert!(!ran.stderr.contains("the call before it"), "{}", ran.stderr);
}

/// Runs a test once more as a user without rights.
fn as_ordinary_user(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--test-threads=1"]).env("TMPDIR", folder.path()).current_dir("/");
    let done = command.uid(65_534).gid(65_534).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

/// Many names are made durable together, before it is said that they are undone.
#[test]
fn many_names_take_few_syncs() {
    let world = World::new();
    for number in 0..300 {
        world.write(&format!("d{}/f{number}", number % 7), format!("{number}\n"));
    }
    for number in 0..20 {
        world.write(&format!("k/{number}"), "k");
    }
    let before = world.tree();
    world.bash(
        "chmod 700 k/*; for f in d*/f*; do echo more >> $f; done; mkdir n; for i in $(seq 1500); do echo $i > n/$i; done",
    );
    let after = world.tree();
    for (command, tree) in [("undo", &before), ("redo", &after), ("undo", &before)] {
        let log = world.home.path("trace");
        let mut strace = std::process::Command::new("strace");
        strace.args(["-f", "-e", "trace=fsync,fdatasync,syncfs,sync", "-o"]).arg(&log);
        let command = world.home.command([command, "--store", &world.store]);
        strace
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(command.get_current_dir().unwrap());
        strace.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = Ran::of(strace.output().unwrap());
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(&world.tree(), tree);
        let trace = std::fs::read_to_string(&log).unwrap();
        let count = |call: &str| trace.lines().filter(|line| line.contains(call)).count();
        assert!((1..=3).contains(&count("syncfs(")), "{trace}");
        assert!(count("sync") < 20, "{trace}");
    }
}
