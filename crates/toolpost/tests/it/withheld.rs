//! What may not be read is shown by no tool, on the command line and over MCP.

use crate::Home;

const SECRET: &str = "TOKEN=canary-4711\nOTHER=canary-line\n";

fn home() -> Home {
    let home = Home::new();
    home.write("repo/.env", SECRET);
    home.write("repo/key.pem", SECRET);
    home.write("repo/private/notes.txt", SECRET);
    std::os::unix::fs::symlink(".env", home.path("repo/link.txt")).unwrap();
    home
}

/// Calls that may change the files, or not, and must not show them.
fn calls() -> Vec<(&'static str, serde_json::Value)> {
    use serde_json::json;
    let mut calls = Vec::new();
    for path in [".env", "link.txt", "key.pem", "private/notes.txt"] {
        let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")});
        calls.extend([
            ("write", json!({"filePath": path, "content": "x"})),
            ("write", json!({"filePath": path, "content": "x", "expectedHash": "0".repeat(64)})),
            ("edit", json!({"filePath": path, "oldString": "TOKEN=canary", "newString": "x"})),
            ("edit", json!({"filePath": path, "oldString": "TOKEN=wrong", "newString": "x"})),
            ("apply_patch", patch(&format!("*** Update File: {path}\n-TOKEN=wrong\n+x"))),
            ("apply_patch", patch(&format!("*** Delete File: {path}"))),
            ("apply_patch", patch(&format!("*** Update File: {path}\n*** Move to: free.txt\n-a\n+b"))),
            ("read", json!({"filePath": path})),
            ("grep", json!({"pattern": "canary", "path": path, "hidden": true})),
            ("grep", json!({"pattern": "canary", "hidden": true, "mode": "count"})),
            ("delete", json!({"filePath": path})),
        ]);
    }
    calls
}

#[test]
fn the_old_content_is_not_shown_on_the_command_line() {
    let home = home();
    let ran = home.run(&["call", "write", "filePath=.env", "content=x"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("canary"), "{}", ran.stdout);
    let told = "the old content is not shown: `read` would read `.env`, which is protected";
    assert!(ran.stdout.contains(".env: replaced, 1 bytes") && ran.stdout.contains(told), "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(home.path("repo/.env")).unwrap(), "x");
    // Where reading is allowed, it is shown.
    home.write("repo/.env", SECRET);
    let write = ["call", "write", "filePath=.env", "content=x"];
    let ran = home.run(&[&write[..], &["--allow-rule", "read: /.env", "--session", "other"]].concat());
    assert!(ran.stdout.contains("-TOKEN=canary-4711"), "{}", ran.stdout);
}

#[test]
fn guarantee_37_no_canary_leaves_over_mcp() {
    for flags in [&["--yes"][..], &["--yes", "--allow-rule", "write: **"]] {
        let home = home();
        let rule = "[[rule]]\neffect = \"deny\"\naction = \"read\"\nresource = \"/private/**\"\n";
        home.write(".config/toolpost/config.toml", rule);
        let mut tried = 0;
        for call in calls() {
            for (name, content) in [(".env", SECRET), ("key.pem", SECRET), ("private/notes.txt", SECRET)] {
                home.write(&format!("repo/{name}"), content);
            }
            let told = crate::mcp::one_call(&home, flags, call.0, call.1.clone());
            // What was asked for may be repeated; what was not must not come.
            for canary in ["canary-4711", "canary-line", "OTHER="] {
                assert!(!told.contains(canary), "{call:?}: {told}");
            }
            tried += 1;
        }
        println!("measure: guarantee 37: {tried} calls over MCP, 0 canaries");
    }
}
