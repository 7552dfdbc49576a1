//! What is not kept, not kept any more or not ended yet is said; many names take few descriptors and no more than linear work.

use super::World;
use crate::Ran;
use serde_json::json;
use std::process::Command;
use toolpost_core::store::{ChangeKind, Held, NewChange};

impl World {
    /// A change of a call at some time, as the store keeps it.
    fn kept(&self, session: &str, call: &str, at_ms: u64, name: &str) {
        let store = toolpost_store::open(&self.store.parse().unwrap()).unwrap();
        self.write(name, "");
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned();
        store
            .keep_changes(vec![NewChange {
                workspace: self.home.path("repo").canonicalize().unwrap().display().to_string(),
                session: session.to_owned(),
                call: call.to_owned(),
                at_ms,
                kind: ChangeKind::Tool,
                by_command: false,
                touched_us: 0,
                name: name.to_owned(),
                before: Held::Absent,
                after: Held::File { hash: empty, size: 0, mode: None },
                contents: Vec::new(),
                takes: Default::default(),
            }])
            .unwrap();
    }

    fn is_there(&self, name: &str) -> bool {
        self.home.path(&format!("repo/{name}")).exists()
    }

    /// Runs a command line before which another one is put.
    fn behind(&self, before: &[&str], args: &[&str]) -> Ran {
        let command = self.home.command([args, &["--store", &self.store]].concat());
        let mut whole = Command::new(before[0]);
        whole.args(&before[1..]).arg(command.get_program()).args(command.get_args());
        whole.current_dir(command.get_current_dir().unwrap()).env_clear();
        whole.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(whole.output().unwrap())
    }
}

#[test]
fn a_file_that_is_too_large_is_named_at_the_call_and_blocks_nothing() {
    let world = World::new();
    let file = std::fs::File::create(world.home.path("repo/big")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    world.works(&["call", "write", &json!({"filePath": "a", "content": "a"}).to_string()]);
    let told = world.works(&["call", "delete", &json!({"filePath": "big"}).to_string()]);
    assert_eq!(told["metadata"]["undo"], json!(false), "{told}");
    assert!(told.to_string().contains("undo cannot restore what was in `big` (67108865 bytes)"), "{told}");
    let lost = told["callId"].as_str().unwrap();
    // Its own undo says why it cannot be, also with --partial, and changes nothing.
    for args in [&["undo", lost][..], &["undo", lost, "--partial"]] {
        let ran = world.run(args);
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("too large to be kept (67108865 bytes)"), "{}", ran.stderr);
        assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
        assert!(
            !ran.stderr.contains("move your version away") && !ran.stderr.contains("redo"),
            "{}",
            ran.stderr
        );
    }
    // And the call before it is not blocked.
    let ran = world.run(&["undo", "--dry-run"]);
    assert!(ran.stderr.contains(&format!("the later call {lost} (delete")), "{}", ran.stderr);
    let undone = world.works(&["undo"]);
    assert_eq!(undone["passed"], json!([lost]), "{undone}");
    assert!(!world.is_there("a"));
    let (status, nothing) = world.json(&["undo"]);
    assert!(status == 1 && nothing.to_string().contains("too large to be kept"), "{nothing}");
}

#[test]
fn a_session_of_which_a_part_was_deleted_says_so() {
    let world = World::new();
    world.works(&[
        "call",
        "write",
        &json!({"filePath": "new", "content": "n"}).to_string(),
        "--session",
        "draft",
    ]);
    world.kept("draft", "first", 1, "old");
    world.kept("other", "second", 1, "others");
    world.works(&["gc"]);
    let dry = world.works(&["undo", "draft", "--dry-run"]);
    assert_eq!(dry["deletedCalls"], json!(1), "{dry}");
    let ran = world.run(&["undo", "draft"]);
    assert!(ran.stderr.contains("the changes of 1 call of this session were deleted"), "{}", ran.stderr);
    assert!(world.is_there("old") && !world.is_there("new"));
}

#[test]
fn a_command_that_still_runs_is_named() {
    let world = World::new();
    let line = "command=echo 1 > made; until [ -e go ]; do sleep 0.01; done";
    let args = ["call", "bash", line, "--allow", "exec", "--store", &world.store];
    let mut child = world.home.command(args).stdout(std::process::Stdio::null()).spawn().unwrap();
    while !world.is_there("made") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (status, told) = world.json(&["undo"]);
    assert!(status == 1 && told.to_string().contains("a command still runs (call "), "{told}");
    world.write("go", "");
    assert!(child.wait().unwrap().success());
    world.works(&["undo"]);
    assert!(!world.is_there("made"));
}

#[test]
fn a_workspace_that_was_made_anew_is_not_that_of_earlier_calls() {
    let world = World::new();
    world.kept("agent", "long-ago", 1, "a");
    let (status, told) = world.json(&["undo"]);
    assert!(status == 1 && told.to_string().contains("from before the folder"), "{told}");
    assert!(world.is_there("a"));
    // Who names it means it.
    world.works(&["undo", "long-ago"]);
    assert!(!world.is_there("a"));
}

/// Files of one command, changed and made.
fn many(world: &World, count: usize) {
    for number in 0..count / 2 {
        world.write(&format!("d{}/{number}", number % 5), format!("{number}\n"));
    }
    let line = format!(
        "command=for f in d*/*; do echo more >> $f; done; mkdir n; for i in $(seq {}); do echo $i > n/$i; done",
        count - count / 2
    );
    world.works(&["call", "bash", &line, "--allow", "exec"]);
}

#[test]
fn many_names_need_few_descriptors() {
    let world = World::new();
    many(&world, 0);
    let world = World::new();
    many(&world, 700);
    let after = world.tree();
    for command in ["undo", "redo", "undo"] {
        let ran = world.behind(&["bash", "-c", "ulimit -n 100; exec \"$0\" \"$@\""], &[command]);
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(world.tree() == after, command == "redo");
    }
    assert!(!world.is_there("n"));
}

/// Four times the names take at most about four times the calls of the system that are about files.
#[test]
fn the_work_grows_with_the_names_and_not_faster() {
    let counts = [400, 1_600].map(|count| {
        let world = World::new();
        many(&world, count);
        ["undo", "redo"].map(|command| {
            let log = world.home.path("trace");
            let ran = world.behind(
                &["strace", "-f", "-e", "trace=%file,getdents64", "-o", log.to_str().unwrap()],
                &[command],
            );
            assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
            std::fs::read_to_string(&log).unwrap().lines().filter(|line| !line.contains("resumed>")).count()
        })
    });
    println!("calls for 400 and 1,600 names, undo and redo: {counts:?}");
    for (few, many) in counts[0].into_iter().zip(counts[1]) {
        assert!(many * 10 < few * 45, "{counts:?}");
    }
}

#[test]
fn changes_of_dependency_folders_are_named_by_the_call_and_by_the_undo() {
    let world = World::new();
    world.write("node_modules/x/index.js", "1\n");
    let told = world.works(&[
        "call",
        "bash",
        "command=echo 2 > node_modules/x/index.js && echo 2 > a.txt",
        "--allow",
        "exec",
    ]);
    assert_eq!(told["metadata"]["notUndone"], json!(["node_modules"]), "{told}");
    assert!(
        told["output"].as_str().unwrap().contains("[undo does not cover what it changed in `node_modules`]"),
        "{told}"
    );
    let ran = world.run(&["undo"]);
    assert!(ran.status == 0 && ran.stderr.contains("in `node_modules` stays as it is"), "{}", ran.stderr);
    assert!(!world.is_there("a.txt"));
    assert_eq!(std::fs::read_to_string(world.home.path("repo/node_modules/x/index.js")).unwrap(), "2\n");
    // Reading there is no change.
    let told =
        world.works(&["call", "bash", "command=cat node_modules/x/index.js > b.txt", "--allow", "exec"]);
    assert_eq!(told["metadata"].get("notUndone"), None, "{told}");
}

#[test]
fn a_new_file_whose_mode_a_person_has_changed_is_not_removed() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.works(&["call", "bash", "command=echo echo > run.sh && chmod 644 run.sh", "--allow", "exec"]);
    let path = world.home.path("repo/run.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = world.run(&["undo"]);
    assert!(ran.status == 1 && ran.stderr.contains("its mode was changed since"), "{}", ran.stderr);
    assert!(world.is_there("run.sh"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(world.run(&["undo"]).status, 0);
    assert!(!world.is_there("run.sh"));
}

#[test]
fn folders_get_their_modes_back_although_a_file_is_left_out() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write("src/a.txt", "1\n");
    let mode = || world.home.path("repo/src").metadata().unwrap().permissions().mode() & 0o7777;
    let before = mode();
    world.works(&["call", "bash", "command=chmod 700 src && echo 2 > src/a.txt", "--allow", "exec"]);
    assert_eq!(mode(), 0o700);
    world.write("src/a.txt", "3\n");
    assert_eq!(world.run(&["undo"]).status, 1);
    assert_eq!(mode(), 0o700);
    assert_eq!(world.run(&["undo", "--partial"]).status, 0);
    assert_eq!(mode(), before);
    assert_eq!(std::fs::read_to_string(world.home.path("repo/src/a.txt")).unwrap(), "3\n");
}
