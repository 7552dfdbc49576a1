//! `toolpost mcp uninstall`: what `install` has written is taken back, and nothing else.

use crate::{Home, Ran};

fn run(home: &Home, words: &[&str]) -> Ran {
    home.run(&[&["mcp"], words].concat())
}

fn text(home: &Home, file: &str) -> Option<String> {
    std::fs::read_to_string(home.path(file)).ok()
}

/// The clients, and the file of each.
const CLIENTS: [(&[&str], &str); 12] = [
    (&["claude"], "repo/.mcp.json"),
    (&["claude", "--user"], ".claude.json"),
    (&["codex"], ".codex/config.toml"),
    (&["codex", "--project"], "repo/.codex/config.toml"),
    (&["gemini"], "repo/.gemini/settings.json"),
    (&["opencode"], "repo/opencode.json"),
    (&["qwen"], "repo/.qwen/settings.json"),
    (&["cline"], ".cline/data/settings/cline_mcp_settings.json"),
    (&["copilot"], ".copilot/mcp-config.json"),
    (&["vscode"], "repo/.vscode/mcp.json"),
    (&["cursor", "--user"], ".cursor/mcp.json"),
    (&["zed"], ".config/zed/settings.json"),
];

fn with<'a>(word: &'a str, args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&[word], args, more].concat()
}

#[test]
fn the_file_is_as_it_was_before() {
    for (args, file) in CLIENTS {
        let is_toml = file.ends_with(".toml");
        let befores: [Option<&str>; 4] = match is_toml {
            true => [
                None,
                Some(""),
                Some("# mine\r\nmodel = 'x'"),
                Some("[mcp_servers.toolpost]\ncommand = '/old' # ö\nargs = ['mcp']\n[b]\nx = 1\n"),
            ],
            false => [
                None,
                Some(""),
                Some("\u{feff}{\"a\": 1, // ü\r\n}"),
                Some(
                    "{\"mcpServers\": {\"toolpost\": {\"url\": \"http://x\"}, \"b\": {}}, \"mcp\": {},\n}\n",
                ),
            ],
        };
        for before in befores {
            let home = Home::new();
            if let Some(before) = before {
                home.write(file, before);
            }
            // Twice, with other flags: both changes are ours.
            for flags in [&["--policy", "read-only"][..], &["--yes"]] {
                let ran = run(&home, &with("install", args, flags));
                assert_eq!(ran.status, 0, "{args:?}: {}", ran.stderr);
            }
            assert_ne!(text(&home, file).as_deref(), before, "{args:?}");
            let installed = text(&home, file);
            let shown = run(&home, &with("uninstall", args, &["--print"]));
            assert!(shown.status == 0 && shown.stderr.contains("would be"), "{args:?}: {}", shown.stderr);
            assert_eq!(text(&home, file), installed, "what is shown is not done");
            let ran = run(&home, &with("uninstall", args, &[]));
            assert_eq!(ran.status, 0, "{args:?}: {}", ran.stderr);
            assert_eq!(text(&home, file).as_deref(), before, "{args:?}: {}", ran.stderr);
            let folder = home.path(file).parent().unwrap().to_owned();
            let was_there = folder == home.path("repo") || folder.join("x") == home.path("x");
            assert!(before.is_some() || was_there || !folder.exists(), "{args:?}: the folder is left");
        }
    }
}

/// Somebody has changed the file after `install`: only the entry goes.
fn check(args: &[&str], file: &str, before: &str, change: fn(&str) -> String, after: &str) {
    let home = Home::new();
    home.write(file, before);
    assert_eq!(run(&home, &with("install", args, &[])).status, 0);
    home.write(file, change(&text(&home, file).unwrap()));
    let ran = run(&home, &with("uninstall", args, &[]));
    assert!(ran.status == 0 && ran.stderr.contains("took only the entry out of"), "{}", ran.stderr);
    assert_eq!(text(&home, file).unwrap(), after);
    // There is nothing more to take out.
    let again = run(&home, &with("uninstall", args, &[]));
    assert!(again.status == 0 && again.stderr.starts_with("nothing to change"), "{}", again.stderr);
    assert_eq!(text(&home, file).unwrap(), after);
}

#[test]
fn of_a_file_that_was_changed_since_only_the_entry_goes() {
    let (claude, file) = (&["claude"], "repo/.mcp.json");
    let behind = |text: &str| text.to_owned() + "// mine\n";
    check(
        claude,
        file,
        "{\n  \"a\": 1\n}\n",
        behind,
        "{\n  \"a\": 1,\n  \"mcpServers\": {\n  }\n}\n// mine\n",
    );
    let servers = "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}\n  }\n}\n";
    check(claude, file, servers, behind, &format!("{servers}// mine\n"));
    let flat = "{\"mcpServers\": {\"x\": {\"command\": \"x\"}}}";
    check(claude, file, flat, behind, &format!("{flat}// mine\n"));
    // A server that was added behind ours.
    check(
        claude,
        file,
        flat,
        |text| text.replace("true}}}", "true}, \"y\": {}}}"),
        "{\"mcpServers\": {\"x\": {\"command\": \"x\"}, \"y\": {}}}",
    );
    let codex = (&["codex"], ".codex/config.toml");
    let toml = "model = 'x'\n\n[mcp_servers.a]\ncommand = 'a'\n";
    check(codex.0, codex.1, toml, |text| format!("# mine\n{text}"), &format!("# mine\n{toml}"));
    check(
        codex.0,
        codex.1,
        toml,
        |text| format!("{text}[mcp_servers.toolpost.env]\nA = '1'\n[b]\nx = 1\n"),
        &format!("{toml}\n[b]\nx = 1\n"),
    );
}

#[test]
fn what_cannot_be_taken_out_is_left_and_said() {
    let home = Home::new();
    for (client, file, before, part) in [
        ("claude", "repo/.mcp.json", "{\"mcpServers\": {", "take the entry `toolpost` out by hand"),
        (
            "codex",
            ".codex/config.toml",
            "mcp_servers = { toolpost = { command = 'x' } }\n",
            "is not taken out here",
        ),
        (
            "claude",
            "repo/.mcp.json",
            "{\"mcpServers\": {\"toolpost\": 1, \"toolpost\": 2}}",
            "is not taken out here",
        ),
    ] {
        home.write(file, before);
        let ran = run(&home, &["uninstall", client]);
        assert!(ran.status == 2 && ran.stderr.contains(part), "{client}: {}", ran.stderr);
        assert_eq!(text(&home, file).unwrap(), before);
    }
    let ran = run(&home, &["uninstall", "cline", "--project"]);
    assert!(ran.status == 2 && ran.stderr.contains("has no file in a project"), "{}", ran.stderr);
    let (status, report) = home.json(&["mcp", "uninstall", "zed"]);
    assert_eq!(
        (status, &report["action"], &report["written"]),
        (0, &"nothing".into(), &false.into()),
        "{report}"
    );
}
