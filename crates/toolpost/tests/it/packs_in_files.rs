//! Packs in files: what they give to sessions and agents, trust, and what keeps them from being written.

use crate::{Home, project};
use serde_json::{Value, json};

fn manifest(name: &str, profile: &str, tools: &[&str]) -> String {
    json!({"schemaVersion": 1, "name": name, "description": "Mine.", "tools": tools, "riskProfile": profile})
        .to_string()
}

/// The canonical names of the tools of a session.
fn tools(home: &Home, flags: &[&str]) -> Vec<String> {
    let (status, listed) = home.json(&[&["tools"], flags].concat());
    assert_eq!(status, 0, "{listed}");
    let names =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["canonicalName"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

fn agent(home: &Home, name: &str, head: &str) {
    home.write(&format!("repo/{name}.md"), format!("---\nname: {name}\ndescription: d\n{head}\n---\nx\n"));
}

#[test]
fn a_pack_of_the_workspace_is_inert_until_it_is_trusted() {
    for folder in ["toolpacks", ".toolpost/packs"] {
        let home = Home::new();
        let file = format!("{folder}/mine.json");
        home.write(&format!("repo/{file}"), manifest("mine", "read-only", &["read_file", "grep", "read"]));
        home.write(&format!("repo/{folder}/README.md"), "What packs are.");
        let ran = home.run(&["tools", "--pack", "mine"]);
        assert_eq!(ran.status, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("run `toolpost trust {file}`")), "{}", ran.stderr);
        agent(&home, "a", "toolPacks: [mine]\nscript: [ { say: x } ]");
        let ran = home.run(&["run", "a.md"]);
        assert!(
            ran.status != 0 && ran.stderr.contains("a.md:4:13: the pack `mine` comes with"),
            "{}",
            ran.stderr
        );
        let listed = home.run(&["packs"]).stdout;
        assert!(listed.contains(&format!("of {file}, waits for `toolpost trust`")), "{listed}");
        // Whoever names a file by its path has looked at it.
        assert_eq!(tools(&home, &["--pack", &file]), ["read", "grep"]);
        let asked = home.run(&["trust"]).stdout;
        let brings =
            "the pack `mine` (read-only), for agents and sessions that name it: read_file, grep, read";
        assert!(asked.contains(brings) && !asked.contains("README"), "{asked}");
        assert_eq!(home.run(&["trust", "--yes"]).status, 0);
        assert_eq!(tools(&home, &["--pack", "mine"]), ["read", "grep"]);
        assert_eq!(home.run(&["run", "a.md"]).stdout.trim(), "x");
        home.write(&format!("repo/{file}"), manifest("mine", "standard", &["write"]));
        let ran = home.run(&["tools", "--pack", "mine"]);
        assert!(ran.status == 3 && ran.stderr.contains("you have not trusted it"), "{}", ran.stderr);
    }
}

#[test]
fn packs_are_protected_from_writes_like_other_configuration() {
    let home = Home::new();
    for (file, status) in [
        ("toolpacks/mine.json", 3),
        ("deep/toolpacks/mine.json", 3),
        (".toolpost/packs/mine.json", 3),
        ("toolpacks/README.md", 0),
        ("toolpack/mine.json", 0),
    ] {
        let ran = home.run(&["call", "write", &format!("filePath={file}"), "content={}", "--yes"]);
        assert_eq!(ran.status, status, "{file}: {}", ran.stderr);
    }
}

#[test]
fn a_pack_names_tools_of_any_origin() {
    let home = Home::new();
    let server = project().join("crates/toolpost-plugins/tests/data/server.py").display().to_string();
    let config = format!("[mcpServers.py]\ncommand = 'python3'\nargs = ['{server}', 'good']\n");
    home.write(".config/toolpost/config.toml", config);
    let own =
        "tools:\n  - name: own\n    description: d\n    prompt: p\n    script: mine\nscript: [ { say: x } ]";
    home.write(".config/toolpost/agents/a.md", format!("---\nname: a\ndescription: d\n{own}\n---\nx\n"));
    let names = ["Grep", "list_directory", "mcp__py__echo", "a/own", "no_such"];
    home.write(".config/toolpost/packs/mine.json", manifest("mine", "privileged", &names));
    let names = ["grep", "list", "a__own", "mcp__py__echo"];
    let mut listed = tools(&home, &["--pack", "mine"]);
    listed.sort();
    let mut expected = names.map(str::to_owned);
    expected.sort();
    assert_eq!(listed, expected);
    let ran = home.run(&["tools", "--pack", "mine"]);
    assert!(ran.stderr.contains("leaves out `no_such` (there is no such tool"), "{}", ran.stderr);
    for (args, status) in [
        (&["call", "a/own"][..], 0),
        (&["call", "a__own"], 0),
        (&["call", "py/echo", "said=hi"], 0),
        (&["call", "grep", "fixture"], 0),
        (&["call", "read", "README.md"], 2),
    ] {
        let ran = home.run(&[args, &["--pack", "mine"]].concat());
        assert_eq!(ran.status, status, "{args:?}: {}", ran.stderr);
    }
    // Servers and agents have packs of their own.
    assert_eq!(tools(&home, &["--pack", "a"]), ["a__own"]);
    assert!(tools(&home, &["--pack", "py"]).iter().all(|name| name.starts_with("mcp__py__")));
    assert_eq!(tools(&home, &["--pack", "a", "--pack", "search"]), ["glob", "grep", "a__own"]);
    // An agent has them too, and calls them by its names.
    let call =
        "script: [ { call: py/echo, args: { said: hi } }, { call: a/own, save: r }, { say: \"{{r}}\" } ]";
    agent(&home, "b", &format!("toolPacks: [mine]\n{call}"));
    let ran = home.run(&["run", "b.md"]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "mine"), "{}", ran.stderr);
}

#[test]
fn what_is_wrong_with_a_pack_is_told_with_its_place() {
    let home = Home::new();
    home.write("repo/toolpacks/broken.json", "{\n \"schemaVersion\": 1,\n \"nmae\": \"x\"}");
    home.write(".config/toolpost/packs/wide.json", manifest("wide", "read-only", &["read", "bash"]));
    let ran = home.run(&["packs"]);
    assert!(ran.stderr.contains("toolpacks/broken.json:3:2: `nmae` means nothing"), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("(left out: requires exec, and the pack is read-only; raise its risk profile)")
    );
    assert_eq!(tools(&home, &["--pack", "wide", "--policy", "privileged"]), ["read"]);
    for (word, expected) in [
        ("widd", "there is no pack `widd`; did you mean `wide`?"),
        ("./no.json", "the pack `./no.json` does not exist"),
        ("toolpacks/broken.json", "toolpacks/broken.json:3:2: `nmae`"),
    ] {
        let ran = home.run(&["tools", "--pack", word]);
        assert!(ran.status == 2 && ran.stderr.contains(expected), "{word}: {}", ran.stderr);
    }
    assert!(home.run(&["trust"]).stderr.contains("nothing in this workspace waits"));
}

#[test]
fn of_several_packs_of_a_name_the_strongest_is_meant() {
    let home = Home::new();
    // An agent, or a server, does not take the place of a built-in pack.
    let own =
        "tools:\n  - name: own\n    description: d\n    prompt: p\n    script: mine\nscript: [ { say: x } ]";
    for name in ["search", "py"] {
        let agent = format!("---\nname: {name}\ndescription: d\n{own}\n---\nx\n");
        home.write(&format!(".config/toolpost/agents/{name}.md"), agent);
    }
    let server = project().join("crates/toolpost-plugins/tests/data/server.py").display().to_string();
    let entry =
        |name: &str| format!("[mcpServers.{name}]\ncommand = 'python3'\nargs = ['{server}', 'good']\n");
    home.write(".config/toolpost/config.toml", entry("todo") + &entry("py"));
    assert_eq!(tools(&home, &["--pack", "search"]), ["glob", "grep"]);
    assert_eq!(tools(&home, &["--pack", "todo"]), ["todowrite", "todoread"]);
    assert!(tools(&home, &["--pack", "py"]).iter().all(|name| name.starts_with("mcp__py__")));
    home.write(".config/toolpost/packs/filesystem.json", manifest("filesystem", "read-only", &["read"]));
    assert_eq!(tools(&home, &["--pack", "filesystem"]), ["read"]);
    let (_, packs) = home.json(&["packs"]);
    let named: Vec<&Value> = packs["packs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pack| pack["manifest"]["name"] == "filesystem")
        .collect();
    assert_eq!(
        named.iter().map(|pack| (&pack["origin"], &pack["meant"])).collect::<Vec<_>>(),
        [(&json!("built-in"), &json!(false)), (&json!("file"), &json!(true))]
    );
}

/// What a pack that asks for more than is granted gives, and what is said.
fn check(pack: &str, flags: &[&str], expected: &[&str], said: &str) {
    let home = Home::new();
    let names = tools(&home, &[&["--pack", pack], flags].concat());
    assert_eq!(names, expected, "{pack} {flags:?}");
    let ran = home.run(&[&["tools", "--pack", pack], flags].concat());
    assert!(ran.stderr.contains(said), "{pack} {flags:?}: {}", ran.stderr);
    // Over MCP, and for an agent.
    let mut caller = crate::mcp::Caller::new(&home, &[&["--pack", pack], flags].concat());
    assert_eq!(caller.tools(), expected, "{pack} {flags:?}");
    agent(&home, "a", &format!("toolPacks: [{pack}]\nscript: [ {{ say: x }} ]"));
    let ran = home.run(&[&["run", "a.md"], flags].concat());
    match expected {
        [] => assert!(ran.status == 3 && ran.stderr.contains("a.md:4:13: the pack"), "{}", ran.stderr),
        _ => assert_eq!((ran.status, ran.stdout.trim()), (0, "x"), "{}", ran.stderr),
    }
    if !expected.is_empty() {
        assert!(ran.stderr.contains(said), "{pack} {flags:?}: {}", ran.stderr);
    }
}

#[test]
fn a_pack_that_is_too_wide_gives_the_tools_that_need_less() {
    let wide = "the pack `web` is privileged and needs exec, which is not granted (--allow exec); it leaves out `websearch` (needs the model service)";
    check("web", &["--allow", "network"], &["webfetch"], "leaves out `websearch`");
    let _ = wide;
    check("filesystem", &["--policy", "read-only"], &["read", "list"], "leaves out `write` (needs write)");
    check("shell", &[], &[], "the pack `shell` is privileged and needs exec, network");
    check("search", &[], &["glob", "grep"], "");
}
