//! `toolpost packs`: the table, for people and for programs.

use serde_json::{Value, json};
use std::process::{Command, Output};

fn toolpost(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_toolpost"))
        .args(arguments)
        .current_dir(&folder)
        .env_remove("AGENT_WORKSPACE_ROOT")
        .env("XDG_CONFIG_HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path())
        .output()
        .unwrap()
}

fn page(arguments: &[&str]) -> String {
    let output = toolpost(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_pack_says_what_its_tools_cause_and_whether_it_is_allowed() {
    let page = self::page(&["packs"]);
    assert!(page.starts_with("filesystem  standard: asks for read, trace, write\n"), "{page}");
    let expected = "\n  allowed under this policy\n    read                    read\n    write                   write\n    edit                    read, write\n";
    assert!(page.contains(expected), "{page}");
    assert!(page.contains("\nmeta  dynamic: asks for nothing of its own\n"), "{page}");
}

#[test]
fn a_pack_that_is_not_allowed_names_the_flag_and_keeps_its_tools() {
    let page = self::page(&["packs", "--policy", "read-only"]);
    let expected = "\n  not allowed as a whole: needs write; allow it with --allow write\n    read                    read\n    write                   write  (not offered: needs write)\n";
    assert!(page.contains(expected), "{page}");
    let page = self::page(&["packs", "--policy", "read-only", "--allow", "write"]);
    assert!(page.contains("\nshell  privileged: asks for "), "{page}");
    let page = self::page(&["packs", "--policy", "privileged"]);
    assert!(!page.contains("not allowed"), "{page}");
}

#[test]
fn programs_get_the_same() {
    let printed: Value = serde_json::from_str(&page(&["packs", "--json", "--policy", "read-only"])).unwrap();
    let pack = &printed["packs"][0];
    assert_eq!(pack["manifest"]["name"], "filesystem");
    assert_eq!(pack["manifest"]["riskProfile"], "standard");
    assert_eq!((&pack["allowed"], &pack["flag"]), (&json!(false), &json!("--allow write")));
    assert_eq!(pack["requirements"], json!(["read", "trace", "write"]));
    assert_eq!(
        pack["tools"][0],
        json!({"name": "read", "required": ["read"], "optional": [], "needs": [], "offered": true, "why": null})
    );
    let packs = printed["packs"].as_array().unwrap();
    let of = |pack: &Value| pack["manifest"]["name"].as_str().unwrap().to_owned();
    // The tools on tasks are those of a role.
    let without_role = packs.iter().filter(|pack| of(pack) != "tasklist");
    let tools: usize = without_role.map(|pack| pack["tools"].as_array().unwrap().len()).sum();
    let all: Value = serde_json::from_str(&page(&["tools", "--json", "--policy", "privileged"])).unwrap();
    // Two packs are held back.
    let is_held_back = |pack: &&Value| pack["heldBack"] == true;
    let held_back: Vec<&Value> = printed["packs"].as_array().unwrap().iter().filter(is_held_back).collect();
    assert_eq!(held_back.iter().map(|pack| of(pack)).collect::<Vec<_>>(), ["project", "vfs"]);
    let held_back: usize = held_back.iter().map(|pack| pack["tools"].as_array().unwrap().len()).sum();
    // The first three need a model, the others a run of an agent.
    let not_here =
        ["websearch", "capture_screenshot", "analyze_image_ui_qa", "spawn_agent", "task", "signal_parent"];
    assert_eq!(tools, all["tools"].as_array().unwrap().len() + held_back + not_here.len());
}

#[test]
fn the_role_decides_which_tools_on_tasks_there_are() {
    for (role, offered) in [
        (&[][..], vec![]),
        (&["--role", "worker"], vec!["list_tasks", "get_task", "submit_result"]),
        (
            &["--role", "orchestrator"],
            vec!["list_tasks", "get_task", "create_task", "complete_task", "reject_task"],
        ),
    ] {
        let printed: Value = serde_json::from_str(&page(&[&["packs", "--json"], role].concat())).unwrap();
        let packs = printed["packs"].as_array().unwrap();
        let tasklist = packs.iter().find(|pack| pack["manifest"]["name"] == "tasklist").unwrap();
        assert_eq!(
            (&tasklist["manifest"]["riskProfile"], &tasklist["requirements"]),
            (&json!("dynamic"), &json!([]))
        );
        let tools = tasklist["tools"].as_array().unwrap();
        assert!(tools.iter().all(|tool| tool["required"] == json!(["read"])), "{tools:?}");
        let names = tools.iter().filter(|tool| tool["offered"] == true);
        assert_eq!(names.map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), offered, "{role:?}");
    }
    let page = page(&["packs", "--role", "worker"]);
    assert!(
        page.contains("create_task             read  (not offered: needs --role orchestrator)\n"),
        "{page}"
    );
}
