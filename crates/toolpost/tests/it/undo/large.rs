//! Files of megabytes: what was there is beside the store, on the disk, before the change shows.

use super::World;
use serde_json::json;
use std::collections::HashMap;
use std::process::{Command, Stdio};

/// A text of a few megabytes, each line once.
fn text() -> String {
    (0..60_000).map(|number| format!("let value_{number} = {number} + {};\n", number * 7)).collect()
}

#[test]
fn a_large_file_comes_back_step_by_step() {
    let world = World::new();
    let mut versions = vec![text()];
    world.write("big", &versions[0]);
    for step in 0..20 {
        let number = 2_000 * step + 7;
        let (old, new) = (format!("let value_{number} ="), format!("let changed_{number}_{step} ="));
        world.call("edit", json!({"filePath": "big", "oldString": old, "newString": new}));
        versions.push(versions.last().unwrap().replacen(&old, &new, 1));
    }
    let now = || std::fs::read_to_string(world.home.path("repo/big")).unwrap();
    let beside = || std::fs::read_dir(world.home.path("undo.db-contents")).unwrap().count();
    assert!(now() == versions[20]);
    // The first and one after 16 differences are whole.
    assert_eq!(beside(), 2);
    for version in versions.iter().rev().skip(1) {
        world.works(&["undo"]);
        assert!(now() == *version);
    }
    for version in &versions[1..] {
        world.works(&["redo"]);
        assert!(now() == *version);
    }
    assert!(beside() < 8, "{}", beside());
    world.works(&["undo", "agent"]);
    assert!(now() == versions[0]);
    // Without the file, an undo says which one it needs and changes nothing.
    for entry in std::fs::read_dir(world.home.path("undo.db-contents")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let (status, refused) = world.json(&["redo"]);
    assert!(status != 0 && refused.to_string().contains("undo.db-contents/"), "{refused}");
    assert!(now() == versions[0]);
}

/// An edit from the command line, as a process of its own.
fn edit(world: &World, number: usize) -> Command {
    let (old, new) = (format!("let value_{number} ="), format!("let changed_{number} ="));
    let arguments = json!({"filePath": "big", "oldString": old, "newString": new}).to_string();
    let mut command = world.home.command(["call", "edit", &arguments, "--store", &world.store]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn guarantee_35_an_edit_that_is_killed_as_soon_as_it_shows_is_undone() {
    let world = World::new();
    let file = world.home.path("repo/big");
    for round in 0..crate::count(5, 200) {
        let old = format!("// {round}\n{}", text());
        world.write("big", &old);
        let mut child = edit(&world, round).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && std::fs::read_to_string(&file).unwrap() == old {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(std::fs::read_to_string(&file).unwrap() != old, "it shows");
        world.works(&["undo"]);
        assert!(std::fs::read_to_string(&file).unwrap() == old, "round {round}");
    }
}

/// The calls of a trace in the order in which they ended, each with the paths that it had when it began.
fn ended(trace: &str) -> Vec<String> {
    let mut begun: HashMap<&str, String> = HashMap::new();
    let mut all = Vec::new();
    for line in trace.lines() {
        // A short number of a process has blanks behind it.
        let Some((process, call)) = line.trim_start().split_once(' ') else { continue };
        let call = call.trim_start();
        match call.split_once("<unfinished ...>") {
            Some((begin, _)) => drop(begun.insert(process, begin.to_owned())),
            None if call.contains("resumed>") => all.extend(begun.remove(process)),
            None => all.push(call.to_owned()),
        }
    }
    all
}

#[test]
fn a_trace_is_read_whatever_the_numbers_of_its_processes() {
    let trace = "123   fsync(5</x/new> <unfinished ...>\n99999 rename(\"a\", \"b\") = 0\n123   <... fsync resumed>) = 0\n\
        7     fdatasync(3</x/wal>) = 0\n";
    assert_eq!(ended(trace), ["rename(\"a\", \"b\") = 0", "fsync(5</x/new> ", "fdatasync(3</x/wal>) = 0"]);
}

#[test]
fn guarantee_29_what_was_there_is_on_the_disk_before_the_change_shows() {
    let world = World::new();
    world.write("big", text());
    let trace = world.home.path("trace");
    let plain = edit(&world, 1);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o"]).arg(&trace);
    traced.arg(plain.get_program()).args(plain.get_args()).env_clear();
    traced.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = plain.get_current_dir() {
        traced.current_dir(folder);
    }
    let output = traced.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let calls = ended(&std::fs::read_to_string(&trace).unwrap());
    let place = |what: &str, is: &dyn Fn(&str) -> bool, from: usize| {
        let found = calls[from..].iter().position(|call| is(call)).map(|at| from + at);
        found.unwrap_or_else(|| panic!("no {what} in time: {}", calls.join("\n")))
    };
    let is_sync = |call: &str| call.starts_with("fsync(") || call.starts_with("fdatasync(");
    let shows = place("change", &|call| call.starts_with("rename") && call.contains("\"big\""), 0);
    let content = place("content", &|call| is_sync(call) && call.contains("undo.db-contents/new>"), 0);
    let named =
        place("name", &|call| call.starts_with("rename") && call.contains("undo.db-contents/new"), content);
    let folder = place("folder", &|call| is_sync(call) && call.contains("undo.db-contents>"), named);
    let row = place("row", &|call| is_sync(call) && call.contains("undo.db-wal>"), folder);
    assert!(row < shows, "{}", calls.join("\n"));
}
