//! Calls that overlap in time: what was there when one of them began may be a state in the middle of the other.

use super::World;
use crate::Ran;
use serde_json::{Value, json};
use std::process::{Child, Stdio};

/// A command that has come to its middle.
struct Middle<'a> {
    world: &'a World,
    child: Child,
}

impl World {
    fn file_at(&self, name: &str) -> std::path::PathBuf {
        self.home.path(&format!("repo/{name}"))
    }

    /// Starts a command that does `first`, and waits until it has; later it does `then`.
    fn middle<'a>(&'a self, first: &str, then: &str) -> Middle<'a> {
        self.middle_of("one", first, then)
    }

    fn middle_of<'a>(&'a self, session: &str, first: &str, then: &str) -> Middle<'a> {
        // Nothing is recorded there.
        std::fs::create_dir_all(self.file_at("node_modules")).unwrap();
        let (ready, go) = (format!("node_modules/ready-{session}"), format!("node_modules/go-{session}"));
        let line = format!("command={first}; mkdir {ready}; until [ -e {go} ]; do sleep 0.01; done; {then}");
        let session = ["--session", session];
        let args = ["call", "bash", &line, "--allow", "exec", "--store", &self.store, "--json"];
        let mut command = self.home.command([&args[..], &session].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !self.file_at(&ready).exists() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        Middle { world: self, child }
    }

    /// What is there of the user and of the calls.
    fn seen(&self) -> super::Tree {
        self.tree().into_iter().filter(|(name, _)| !name.starts_with("node_modules")).collect()
    }

    fn line(&self, line: &str) -> Value {
        let line = format!("command={line}");
        self.works(&["call", "bash", &line, "--allow", "exec", "--session", "two"])
    }
}

impl Middle<'_> {
    /// Lets the command go on, and waits for its end; the id of its call.
    fn end(self, session: &str) -> String {
        std::fs::create_dir(self.world.file_at(&format!("node_modules/go-{session}"))).unwrap();
        let ran = Ran::of(self.child.wait_with_output().unwrap());
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        let value: Value = serde_json::from_str(&ran.stdout).unwrap();
        value["callId"].as_str().unwrap().to_owned()
    }
}

/// One command does something and takes it back at its end; another call comes between. Whatever is undone, what the user
/// had is there.
#[test]
fn guarantee_35_a_state_in_the_middle_of_another_command_is_not_restored() {
    type Between = fn(&World);
    let write: Between = |world| {
        world.call("write", json!({"filePath": "t", "content": "precious\n"}));
    };
    let cases: [(&str, &str, Between); 6] = [
        ("mv t u", "mv u t", |world| drop(world.line("cp u t"))),
        ("mv t u", "mv u t", write),
        ("cp t .git-copy; rm t", "cp .git-copy t; rm .git-copy", |world| drop(world.line("cp .git-copy t"))),
        ("mkdir d; mv t d", "mv d/t t; rmdir d", |world| drop(world.line("cp d/t t"))),
        ("mv f g", "mv g f", |world| drop(world.line("mkdir f; cp g/x f/x; rm -r f"))),
        ("cp t s; cp 1 t", "cp s t; rm s", |world| drop(world.line("cp s t"))),
    ];
    for (first, then, between) in cases {
        let world = World::new();
        world.write("t", "precious\n");
        world.write("f/x", "also precious\n");
        world.write("1", "one\n");
        let before = world.seen();
        let middle = world.middle(first, then);
        between(&world);
        middle.end("one");
        assert_eq!(world.seen(), before, "{first}");
        for _ in 0..2 {
            let undone = world.run(&["undo"]);
            assert_eq!(world.seen(), before, "{first}: {}{}", undone.stdout, undone.stderr);
        }
        let redone = world.run(&["redo"]);
        assert_eq!(world.seen(), before, "{first}: {}{}", redone.stdout, redone.stderr);
    }
}

/// Both commands are of one session, or one of them is: the whole session goes back to what was there before it.
#[test]
fn guarantee_35_a_session_of_calls_that_overlap_goes_back_as_one() {
    for (first, then, inner) in [
        ("mv t u", "mv u t", "cp u t"),
        ("mv t u", "cp u t", "cp u t"),
        ("cp --remove-destination 1 t", "true", "cp --remove-destination 2 t"),
        ("true", "cp 3 t", "cp 2 t"),
    ] {
        let world = World::new();
        for (name, text) in [("t", "precious\n"), ("1", "one\n"), ("2", "two\n"), ("3", "three\n")] {
            world.write(name, text);
        }
        let before = world.seen();
        let middle = world.middle("true", "true");
        let one = world.middle_of("two", first, then);
        world.line(inner);
        one.end("two");
        middle.end("one");
        let undone = world.run(&["undo", "two"]);
        assert_eq!(world.seen(), before, "{first}: {}{}", undone.stdout, undone.stderr);
    }
}

/// What a command left before the other call came is a state to go back to.
#[test]
fn a_call_after_the_last_touch_of_a_running_command_is_undone() {
    let world = World::new();
    world.write("t", "1\n2\n3\n4\n5\n");
    let middle = world.middle("sed -i s/1/one/ t", "true");
    let between = world.seen();
    let call = world.call("edit", json!({"filePath": "t", "oldString": "5", "newString": "five"}));
    let outer = middle.end("one");
    world.works(&["undo", &call]);
    let left = |tree: &super::Tree| tree.get("t").cloned();
    assert_eq!(left(&world.seen()), left(&between));
    world.works(&["undo", &outer]);
    assert_eq!(std::fs::read_to_string(world.file_at("t")).unwrap(), "1\n2\n3\n4\n5\n");
}

/// Of a call that came before the command touched the file, the state before it is no middle of anything.
#[test]
fn a_call_before_the_first_touch_of_a_running_command_is_undone() {
    let world = World::new();
    world.write("t", "1\n2\n3\n4\n5\n");
    let middle = world.middle("true", "sed -i s/5/five/ t; sed -i s/five/FIVE/ t");
    let call = world.call("edit", json!({"filePath": "t", "oldString": "1", "newString": "one"}));
    middle.end("one");
    world.works(&["undo", &call]);
    assert_eq!(std::fs::read_to_string(world.file_at("t")).unwrap(), "1\n2\n3\n4\nFIVE\n");
}

/// A later call has made everything as it was before the first one. Undone in the wrong order, what the user had would go.
#[test]
fn guarantee_35_what_a_later_call_has_put_back_is_undone_in_order() {
    for (first, second) in [
        ("mv t u", "cp u t"),
        ("sed -i s/p/P/ t", "sed -i s/P/p/ t"),
        ("rm t", "printf 'precious\\n' | tee t"),
    ] {
        let world = World::new();
        world.write("t", "precious\n");
        let before = world.seen();
        let id = |ran: Value| ran["callId"].as_str().unwrap().to_owned();
        let (one, two) = (id(world.line(first)), id(world.line(second)));
        let after = world.seen();
        let refused = world.run(&["undo", &one]);
        assert_eq!(refused.status, 1, "{first}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains(&format!("`toolpost undo {two}` first")), "{}", refused.stderr);
        assert_eq!(world.seen(), after);
        world.works(&["undo", &two]);
        world.works(&["undo", &one]);
        assert_eq!(world.seen(), before, "{first}");
    }
}

/// The source of a move cannot be restored, so that what was moved stays where it is.
#[test]
fn guarantee_35_partial_keeps_what_was_moved() {
    let world = World::new();
    world.write("t", "precious\n");
    world.line("mv t u; echo 1 | tee other");
    world.write("t", "new by the user\n");
    let refused = world.run(&["undo"]);
    assert!(refused.stderr.contains("u: it holds what `t` held before"), "{}", refused.stderr);
    world.works(&["undo", "--partial"]);
    let text = |name: &str| std::fs::read_to_string(world.file_at(name)).unwrap();
    assert_eq!((text("t").as_str(), text("u").as_str()), ("new by the user\n", "precious\n"));
    assert!(!world.file_at("other").exists());
}

/// A command keeps its turn to change a file that its line names. Who waits for it hears of whom.
#[test]
fn a_call_that_waits_for_its_turn_names_the_process_that_has_it() {
    let world = World::new();
    let middle = world.middle("echo 1 > t", "true");
    let holder = format!("the toolpost process {}", middle.child.id());
    let args = ["call", "write", "filePath=t", "content=2", "--timeout", "1500ms", "--store", &world.store];
    let (status, told) = world.home.json(&args);
    assert_eq!((status, &told["error"]["code"]), (4, &json!("TIMEOUT")), "{told}");
    assert!(told.to_string().contains(&holder), "{holder}: {told}");
    let log = world.run(&["log", "--json"]).stdout;
    assert!(log.contains(&format!("waits for its turn to change `t`, which {holder} is changing")), "{log}");
    middle.end("one");
    assert_eq!(std::fs::read_to_string(world.file_at("t")).unwrap(), "1\n");
}

/// Two commands have written into the same file, so that nobody knows what the first has left. What is said works.
#[test]
fn guarantee_35_what_two_commands_wrote_together_is_moved_away_first() {
    let world = World::new();
    for (name, text) in [("t", "precious\n"), ("1", "one\n"), ("2", "two\n"), ("3", "three\n")] {
        world.write(name, text);
    }
    let before = world.seen();
    let middle = world.middle("cp 1 t", "cp 3 t");
    let inner = world.line("cp 2 t")["callId"].as_str().unwrap().to_owned();
    let outer = middle.end("one");
    let refused = world.run(&["undo", &inner]);
    assert!(refused.stderr.contains(&format!("`toolpost undo {outer}` first")), "{}", refused.stderr);
    let refused = world.run(&["undo", &outer]);
    assert!(refused.stderr.contains("move your version away"), "{}", refused.stderr);
    std::fs::rename(world.file_at("t"), world.home.path("away")).unwrap();
    world.works(&["undo", &outer]);
    assert_eq!(world.seen(), before);
    world.works(&["undo", &inner]);
    assert_eq!(world.seen(), before);
}

/// What the user does to a file that a command has moved, linked or only looked at, while the command runs, is the user's.
#[test]
fn guarantee_35_a_change_beside_a_command_that_moves_is_the_users() {
    for (line, name) in [
        ("mv t u", "u"),
        ("mv f g", "g/x"),
        ("mv f g; mv g h", "h/x"),
        ("mv t t", "t"),
        ("ln t h", "h"),
        ("mv t u; mv u t", "t"),
        ("chmod 600 t", "t"),
        ("mv f g; chmod 600 g/x", "g/x"),
    ] {
        let world = World::new();
        world.write("t", "precious\n");
        world.write("f/x", "also precious\n");
        let middle = world.middle(line, "true");
        let path = world.file_at(name);
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"by the user\n").unwrap();
        drop(file);
        middle.end("one");
        let undone = world.run(&["undo", "--partial"]);
        let all: String = world.seen().into_values().collect();
        assert!(all.contains("by the user"), "{line}: {}{}", undone.stdout, undone.stderr);
        assert!(all.matches("precious").count() >= 2, "{line}: {all}");
    }
    // Also where the command moves it on, or back.
    for (first, then, name) in [
        ("mv t u", "mv u t", "u"),
        ("mv t u", "mv u v", "u"),
        ("mv f g", "mv g f", "g/x"),
        ("mv f g", "mv g h", "g/x"),
        ("sed -i s/p/P/ t", "sed -i s/c/C/ t", "t"),
        ("mv t u; sed -i s/p/P/ u", "cp u t", "u"),
    ] {
        let world = World::new();
        world.write("t", "precious\n");
        world.write("f/x", "also precious\n");
        let middle = world.middle(first, then);
        let mut file = std::fs::File::options().append(true).open(world.file_at(name)).unwrap();
        std::io::Write::write_all(&mut file, b"by the user\n").unwrap();
        drop(file);
        middle.end("one");
        let undone = world.run(&["undo", "--partial"]);
        let all: String = world.seen().into_values().collect();
        assert!(all.contains("by the user"), "{first}; {then}: {}{}", undone.stdout, undone.stderr);
    }
    // And what the user makes where a command has failed to make something.
    let world = World::new();
    world.write("t", "precious\n");
    let middle = world.middle("mkdir d; ln t d/x/y; ln nothing n", "true");
    world.write("n", "by the user\n");
    middle.end("one");
    world.run(&["undo"]);
    assert_eq!(std::fs::read_to_string(world.file_at("n")).unwrap(), "by the user\n");
}
