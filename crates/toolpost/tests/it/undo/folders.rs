//! Folders that commands move away and make again, and folders that come and go with what is in them.

use super::World;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

/// What was in a folder comes back also where something else has the name of the folder by now.
#[test]
fn guarantee_35_a_folder_that_was_moved_and_made_again_has_its_files_back() {
    for line in [
        "mv s t; mkdir s",
        "mv s t; mkdir -p s/d",
        "mv s t; mkdir -p s/d; rmdir s/d",
        "mv s t; mkdir s; echo new > s/a",
        "mv s t; mkdir s; echo new > s/other",
        "mv s t; mkdir s; rm -r t",
        "mkdir u; mv s t; mv u s",
        "mkdir u; echo u > u/a; mv s t; mv u s; mv t u",
        "mv s t; mv t s; mv s t; mkdir -p s/d/e",
        "mv s/d e; mkdir s/d; mv s t; mkdir -p s/d",
        "mv s t; cp -a t s; rm s/a",
        "mkdir u; python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"s\", -100, b\"u\", 2)'",
    ] {
        let world = World::new();
        world.write("s/a", "1\n");
        world.write("s/d/b", "2\n");
        symlink("a", world.home.path("repo/s/link")).unwrap();
        let before = world.tree();
        world.works(&["call", "bash", &format!("command={line}"), "--allow", "exec"]);
        let after = world.tree();
        assert_ne!(after, before, "{line}");
        world.works(&["undo"]);
        assert_eq!(world.tree(), before, "{line}");
        world.works(&["redo"]);
        assert_eq!(world.tree(), after, "{line}");
    }
}

/// A folder that an undo has to make for what comes back goes with the redo.
#[test]
fn guarantee_35_a_redo_leaves_no_folder_that_only_the_undo_has_made() {
    let world = World::new();
    world.write("deep/er/a", "1\n");
    world.call("delete", json!({"filePath": "deep/er/a"}));
    std::fs::remove_dir_all(world.home.path("repo/deep")).unwrap();
    let after = world.tree();
    for _ in 0..2 {
        world.works(&["undo"]);
        assert!(world.tree().contains_key("deep/er/a"));
        world.works(&["redo"]);
        assert_eq!(world.tree(), after);
    }
    // With a file of the user's in it, it stays.
    world.works(&["undo"]);
    world.write("deep/mine", "mine\n");
    world.works(&["redo"]);
    assert_eq!(world.tree().keys().collect::<Vec<_>>(), ["deep", "deep/mine"]);
}

/// Calls that were taken back together come again one by one, in whatever order.
#[test]
fn guarantee_35_one_call_of_a_session_is_made_again_as_it_was() {
    let world = World::new();
    world.write("a", "0\n");
    let first = world.call("write", json!({"filePath": "w/deep/new", "content": "new\n"}));
    let edit = world.call("write", json!({"filePath": "a", "content": "1\n"}));
    let middle = world.tree();
    let line = "command=mv w moved; echo file > w; echo 2 > a";
    let last = world.works(&["call", "bash", line, "--allow", "exec", "--session", "agent"]);
    let after = world.tree();
    world.works(&["undo", "agent"]);
    let before = world.tree();
    assert_eq!(before.keys().collect::<Vec<_>>(), ["a"]);
    for _ in 0..2 {
        world.works(&["redo", &first]);
        assert!(world.tree().contains_key("w/deep/new"), "{:?}", world.tree());
        world.works(&["redo", &edit]);
        assert_eq!(world.tree(), middle);
        world.works(&["redo", last["callId"].as_str().unwrap()]);
        assert_eq!(world.tree(), after);
        world.works(&["undo", "agent"]);
        assert_eq!(world.tree(), before);
    }
    world.works(&["redo"]);
    assert_eq!(world.tree(), after);
}

/// Also where a file tool has made it: a mode that the user has set is not lost with the file.
#[test]
fn guarantee_35_a_new_file_of_which_only_the_mode_was_changed_stays() {
    let patch = "*** Begin Patch\n*** Add File: made\n+1\n*** End Patch\n";
    for (tool, arguments) in [
        ("write", json!({"filePath": "made", "content": "1\n"})),
        ("apply_patch", json!({"patch": patch})),
        ("bash", json!("command=echo 1 > made")),
    ] {
        let world = World::new();
        match arguments.as_str() {
            Some(line) => drop(world.works(&["call", "bash", line, "--allow", "exec"])),
            None => drop(world.call(tool, arguments)),
        }
        let path = world.home.path("repo/made");
        let usual = std::fs::metadata(&path).unwrap().permissions();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let tree = world.tree();
        let ran = world.run(&["undo"]);
        assert_eq!((ran.status, world.tree()), (1, tree), "{tool}: {}", ran.stdout);
        assert!(ran.stderr.contains("its mode was changed since"), "{tool}: {}", ran.stderr);
        std::fs::set_permissions(&path, usual).unwrap();
        world.works(&["undo"]);
        assert!(world.tree().is_empty(), "{tool}");
    }
}

/// A file has the name of a folder again that the call had made in its place.
#[test]
fn what_was_in_a_folder_that_is_a_file_again_is_no_conflict() {
    let world = World::new();
    world.write("a", "1\n");
    let line = "command=rm a; mkdir a; python3 -c 'open(\"a/in\", \"w\")'; echo 1 > other";
    world.works(&["call", "bash", line, "--allow", "exec"]);
    std::fs::remove_dir_all(world.home.path("repo/a")).unwrap();
    world.write("a", "1\n");
    world.works(&["undo"]);
    assert_eq!(world.tree().into_iter().collect::<Vec<_>>(), [("a".to_owned(), "644 1\\n".to_owned())]);
}
