//! What undo does not cover is said by the call, and again by the undo, whichever call that takes back.

use super::World;
use serde_json::json;

impl World {
    #[track_caller]
    fn in_shell(&self, line: &str) -> serde_json::Value {
        let line = format!("command={line}");
        self.works(&["call", "bash", &line, "--allow", "exec", "--session", "agent"])
    }

    #[track_caller]
    fn names(&self, args: &[&str], status: i32, names: &[&str]) {
        let ran = self.run(args);
        assert_eq!(ran.status, status, "{args:?}: {}{}", ran.stdout, ran.stderr);
        for name in names {
            assert!(ran.stderr.contains(name), "{args:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_call_that_has_changed_only_a_dependency_folder_is_named_by_the_undo() {
    let world = World::new();
    world.call("write", json!({"filePath": "a", "content": "1\n"}));
    let told = world.in_shell("mkdir node_modules; echo > node_modules/k.js");
    assert_eq!(told["metadata"]["notUndone"], json!(["node_modules"]), "{told}");
    let call = told["callId"].as_str().unwrap();
    let says = [call, "`node_modules`", "not recorded"];
    world.names(&["undo", call], 1, &["`node_modules`", "undo does not cover it"]);
    world.names(&["undo", "--dry-run"], 0, &says);
    let (_, dry) = world.json(&["undo", "--dry-run"]);
    assert_eq!(dry["leftOut"], json!([{"call": call, "notUndone": ["node_modules"]}]), "{dry}");
    world.names(&["undo", "agent"], 0, &says);
    world.works(&["redo"]);
    world.names(&["undo"], 0, &says);
    // A later call is of no interest for one that is named.
    world.works(&["redo"]);
    let other = world.call("write", json!({"filePath": "b", "content": "1\n"}));
    let ran = world.run(&["undo", &other]);
    assert!(ran.status == 0 && !ran.stderr.contains("node_modules"), "{}", ran.stderr);
}

#[test]
fn a_name_that_is_not_text_is_named_by_the_call_and_by_the_undo() {
    let world = World::new();
    let told = world.in_shell("mkdir d; echo > d/$'odd\\377'; echo > d/plain; ln -s $'to\\377' link");
    assert_eq!(told["metadata"]["notUndone"], json!(["d/odd\u{fffd}", "link"]), "{told}");
    world.names(&["undo"], 0, &["`d/odd\u{fffd}`", "`link`", "not UTF-8"]);
    assert_eq!(world.tree().keys().collect::<Vec<_>>(), ["d", "d/odd\u{fffd}", "link"]);
}

#[test]
fn a_tool_that_changes_a_hard_linked_file_says_that_its_other_names_keep_the_old_content() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch\n";
    let moved = "*** Begin Patch\n*** Update File: a\n*** Move to: c\n@@\n-1\n+2\n*** End Patch\n";
    for (tool, arguments) in [
        ("edit", json!({"filePath": "a", "oldString": "1", "newString": "2"})),
        ("write", json!({"filePath": "a", "content": "2\n"})),
        ("apply_patch", json!({"patch": patch})),
        ("apply_patch", json!({"patch": moved})),
    ] {
        let arguments = arguments.to_string();
        let world = World::new();
        world.write("a", "1\n");
        let plain = world.works(&["call", tool, &arguments]);
        assert!(!plain["output"].as_str().unwrap().contains("other names"), "{plain}");
        let world = World::new();
        world.write("a", "1\n");
        std::fs::hard_link(world.home.path("repo/a"), world.home.path("repo/b")).unwrap();
        let before = world.tree();
        let told = world.works(&["call", tool, &arguments]);
        assert!(told["output"].as_str().unwrap().contains("other names too"), "{told}");
        assert_eq!(std::fs::read_to_string(world.home.path("repo/b")).unwrap(), "1\n");
        world.works(&["undo"]);
        assert_eq!(world.tree(), before, "{tool}");
    }
}
