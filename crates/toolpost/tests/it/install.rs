//! `toolpost mcp install`: the entry in other programs' files, and every other byte of theirs as it was.

use crate::load::stretched;
use crate::{Home, Ran};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

/// Runs where `toolpost` on the PATH is the program under test.
fn install(home: &Home, args: &[&str]) -> Ran {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_toolpost")).parent().unwrap();
    let mut command = home.command([&["mcp", "install"], args].concat());
    command.env("PATH", format!("/nowhere:{}:/usr/bin", bin.display()));
    Ran::of(command.output().unwrap())
}

fn text(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.path(name)).unwrap()
}

/// Installs for a client over what stands in the file; a second run changes nothing.
fn check(args: &[&str], file: &str, before: Option<&str>, after: &str, said: &str) {
    let home = Home::new();
    if let Some(before) = before {
        home.write(file, before);
    }
    // What is shown is not done.
    let shown = install(&home, &[args, &["--print"]].concat());
    assert_eq!((shown.status, shown.stderr.contains("would")), (0, true), "{args:?}: {}", shown.stderr);
    assert_eq!(std::fs::read_to_string(home.path(file)).ok().as_deref(), before, "{args:?}");
    let ran = install(&home, args);
    assert_eq!(ran.status, 0, "{args:?}: {}", ran.stderr);
    assert_eq!(text(&home, file), after, "{args:?}");
    assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    let inode = |home: &Home| std::fs::metadata(home.path(file)).unwrap().ino();
    let first = inode(&home);
    let again = install(&home, args);
    assert!(again.status == 0 && again.stderr.starts_with("nothing to change"), "{args:?}: {}", again.stderr);
    assert_eq!((text(&home, file).as_str(), inode(&home)), (after, first), "{args:?}");
}

#[test]
fn each_client_has_its_own_file_and_form() {
    let standard = |table: &str, entry: &str| {
        format!("{{\n  \"{table}\": {{\n    \"toolpost\": {{\n{entry}\n    }}\n  }}\n}}\n")
    };
    let stdio = |args: &str| {
        format!("      \"type\": \"stdio\",\n      \"command\": \"toolpost\",\n      \"args\": [{args}]")
    };
    let plain = |args: &str| format!("      \"command\": \"toolpost\",\n      \"args\": [{args}]");
    let claude = stdio("\"mcp\", \"--dialect\", \"claude\"") + ",\n      \"alwaysLoad\": true";
    let claude = standard("mcpServers", &claude);
    let editor = |table: &str| standard(table, &stdio("\"mcp\", \"--workspace\", \"${workspaceFolder}\""));
    let gemini = standard("mcpServers", &plain("\"mcp\", \"--dialect\", \"gemini\""));
    let opencode = standard("mcp", "      \"type\": \"local\",\n      \"command\": [\"toolpost\", \"mcp\"]");
    let zed = standard("context_servers", &plain("\"mcp\""));
    let codex =
        "[mcp_servers.toolpost]\ncommand = \"toolpost\"\nargs = [\"mcp\", \"--dialect\", \"codex\"]\n";
    let qwen = plain("\"mcp\"") + ",\n      \"alwaysLoadTools\": true";
    let qwen = standard("mcpServers", &qwen);
    let copilot = stdio("\"mcp\"").replace("stdio", "local") + ",\n      \"tools\": [\"*\"]";
    let copilot = standard("mcpServers", &copilot);
    let cline = standard("mcpServers", &plain("\"mcp\""));
    let cases: [(&[&str], &str, &str); 19] = [
        (&["claude"], "repo/.mcp.json", &claude),
        (&["claude", "--user"], ".claude.json", &claude),
        (&["cursor"], "repo/.cursor/mcp.json", &editor("mcpServers")),
        (&["cursor", "--user"], ".cursor/mcp.json", &editor("mcpServers")),
        (&["vscode", "--project"], "repo/.vscode/mcp.json", &editor("servers")),
        (&["vscode", "--user"], ".config/Code/User/mcp.json", &editor("servers")),
        (&["gemini"], "repo/.gemini/settings.json", &gemini),
        (&["gemini", "--user"], ".gemini/settings.json", &gemini),
        (&["opencode"], "repo/opencode.json", &opencode),
        (&["opencode", "--user"], ".config/opencode/opencode.json", &opencode),
        (&["qwen"], "repo/.qwen/settings.json", &qwen),
        (&["qwen", "--user"], ".qwen/settings.json", &qwen),
        (&["cline"], ".cline/data/settings/cline_mcp_settings.json", &cline),
        (&["copilot"], ".copilot/mcp-config.json", &copilot),
        (&["copilot", "--project"], "repo/.github/mcp.json", &copilot),
        (&["zed"], ".config/zed/settings.json", &zed),
        (&["zed", "--project"], "repo/.zed/settings.json", &zed),
        (&["codex"], ".codex/config.toml", codex),
        (&["codex", "--project"], "repo/.codex/config.toml", codex),
    ];
    for (args, file, after) in cases {
        check(args, file, None, after, "made ");
        // An empty file is as good as none.
        check(args, file, Some(""), after, "added the entry");
    }
    // OpenCode's other name is used where it is there.
    check(&["opencode"], "repo/opencode.jsonc", Some("{}\n"), &opencode, "added");
}

#[test]
fn the_rest_of_the_file_stays_to_the_byte() {
    let entry = |indent: &str, newline: &str| {
        let inner = format!("{indent}{indent}{indent}");
        [
            "\"toolpost\": {",
            &format!("{inner}\"command\": \"toolpost\","),
            &format!("{inner}\"args\": [\"mcp\"]"),
            &format!("{indent}{indent}}}"),
        ]
        .join(newline)
    };
    // BOM, CRLF, tabs, comments, commas after the last item, odd spacing.
    let zed = "\u{feff}// Zed settings\r\n{\r\n\t\"theme\" : \"One\" , // dark\r\n\t/* servers */ \"context_servers\": {\r\n\t\t\"other\":{\"command\":\"x\"}, // mine\r\n\t\t// last\r\n\t},\r\n\t\"a\":[1,2,],\r\n}\r\n\r\n";
    let mine = "// mine\r\n";
    let at = zed.find(mine).unwrap() + mine.len();
    let expected = format!("{}\t\t{},\r\n{}", &zed[..at], entry("\t", "\r\n"), &zed[at..]);
    check(&["zed"], ".config/zed/settings.json", Some(zed), &expected, "added");
    // Replaced in its place; what the user has added to the entry stays, another way to reach it does not.
    let before = "{\"a\": 1,\n \"context_servers\": { // here\n  \"toolpost\": {\"url\": \"http://x\", \"headers\": {}, \"env\": {\"A\": \"1\"}, \"enabled\": false}, \"z\": 2}}";
    let after = "{\"a\": 1,\n \"context_servers\": { // here\n  \"toolpost\": {\n    \"command\": \"toolpost\",\n    \"args\": [\"mcp\"],\n    \"env\": {\"A\": \"1\"},\n    \"enabled\": false\n  }, \"z\": 2}}";
    check(
        &["zed"],
        ".config/zed/settings.json",
        Some(before),
        &after.replace("{\"A\": \"1\"}", "{\n      \"A\": \"1\"\n    }"),
        "replaced another `toolpost` entry of Zed",
    );
    // Of keys that stand twice the last one holds, for every reader.
    let before = "{\"context_servers\": {\"toolpost\": 1}, \"context_servers\": {}}";
    let after = "{\"context_servers\": {\"toolpost\": 1}, \"context_servers\": {\"toolpost\": {\"command\": \"toolpost\", \"args\": [\"mcp\"]}}}";
    check(&["zed"], ".config/zed/settings.json", Some(before), after, "added");
    let toml = "\u{feff}# mine\r\nmodel = 'x'   # fast\r\n\r\n[mcp_servers.a]\r\ncommand = 'a'\r\n";
    let entry = "\r\n[mcp_servers.toolpost]\r\ncommand = \"toolpost\"\r\nargs = [\"mcp\", \"--dialect\", \"codex\"]\r\n";
    check(&["codex"], ".codex/config.toml", Some(toml), &format!("{toml}{entry}"), "added");
    check(
        &["codex"],
        ".codex/config.toml",
        Some(
            "[mcp_servers.toolpost] # mine\nstartup_timeout_sec = 9\ncommand = '/old/toolpost' # old\nargs = ['mcp']\n\n[mcp_servers.toolpost.env]\nA = '1'\n",
        ),
        "[mcp_servers.toolpost] # mine\nstartup_timeout_sec = 9\ncommand = \"toolpost\" # old\nargs = [\"mcp\", \"--dialect\", \"codex\"]\n\n[mcp_servers.toolpost.env]\nA = '1'\n",
        "replaced",
    );
}

#[test]
fn flags_become_those_of_the_entry() {
    let home = Home::new();
    home.write("c.toml", "");
    let flags = [
        "claude",
        "--policy",
        "read-only",
        "--allow",
        "exec",
        "--allow-rule",
        "bash: cargo test *",
        "--sandbox",
        "none",
        "--dialect",
        "long",
        "--session",
        "s",
        "--workspace",
        ".",
        "--config",
        "../c.toml",
        "--yes",
    ];
    assert_eq!(install(&home, &flags).status, 0);
    let entry: Value = serde_json::from_str(&text(&home, "repo/.mcp.json")).unwrap();
    let (root, config) = (home.path("repo"), home.path("c.toml"));
    let expected = json!([
        "mcp",
        "--workspace",
        root,
        "--policy",
        "read-only",
        "--allow",
        "exec",
        "--allow-rule",
        "bash: cargo test *",
        "--sandbox",
        "none",
        "--dialect",
        "long",
        "--session",
        "s",
        "--config",
        config,
        "--yes",
    ]);
    assert_eq!(entry["mcpServers"]["toolpost"]["args"], expected);
    // The entry is one that this program takes: it serves, and ends with its input.
    let args: Vec<&str> = expected.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let mut command = home.command(&args);
    command.stdin(std::process::Stdio::null());
    assert_eq!(Ran::of(command.output().unwrap()).status, 0);
    // Flags of the server itself make no sense here.
    assert_eq!(home.run(&["mcp", "--http", "127.0.0.1:0", "install", "claude"]).status, 2);
    assert_eq!(install(&home, &["claude", "--user", "--project"]).status, 2);
}

#[test]
fn the_program_is_named_so_that_it_is_found() {
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_toolpost")).canonicalize().unwrap();
    let command = |path: &str, home: &Home| {
        let mut command = home.command(["mcp", "install", "claude", "--json"]);
        command.env("PATH", path);
        let (status, report) = Ran::of(command.output().unwrap()).json();
        assert_eq!(status, 0, "{report}");
        let entry: Value = serde_json::from_str(report["entry"].as_str().unwrap()).unwrap();
        entry["mcpServers"]["toolpost"]["command"].as_str().unwrap().to_owned()
    };
    let home = Home::new();
    home.write("bin/toolpost", "#!/bin/sh\n");
    let folder = own.parent().unwrap().display().to_string();
    let other = home.path("bin").display().to_string();
    // A file that cannot be run is not found; one that can is another program.
    assert_eq!(command(&format!("{other}:{folder}"), &home), "toolpost");
    std::fs::set_permissions(home.path("bin/toolpost"), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(command(&format!("{other}:{folder}"), &home), own.to_str().unwrap());
    assert_eq!(command("/nowhere", &home), own.to_str().unwrap());
    // A link on the PATH leads to it too.
    symlink(&own, home.path("toolpost")).unwrap();
    assert_eq!(command(home.path("").to_str().unwrap(), &home), "toolpost");
    let ran = home.run(&["mcp", "install", "vscode"]);
    assert!(ran.stderr.contains("names a path of this machine"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place_and_the_entry() {
    let deep = format!("{{\"a\": {}", "[".repeat(9_000));
    let cases: [(&str, &str, &[u8], &str); 9] = [
        (
            "claude",
            "repo/.mcp.json",
            b"{\n  \"mcpServers\": {\n    oops\n",
            ".mcp.json:3:5: a key in double quotes or `}` is missing",
        ),
        (
            "claude",
            "repo/.mcp.json",
            b"{\"mcpServers\": []}",
            ".mcp.json:1:16: `mcpServers` is a list; a table is needed there",
        ),
        ("claude", "repo/.mcp.json", b"7", ".mcp.json:1:1: `the file` is a number"),
        ("claude", "repo/.mcp.json", b"\xff\xfe{\0", "the file is UTF-16; save it as UTF-8"),
        ("claude", "repo/.mcp.json", b"{\"a\": \"\xff\"}", ".mcp.json:1:8: the byte 0xff is not valid UTF-8"),
        ("claude", "repo/.mcp.json", deep.as_bytes(), ".mcp.json:1:134: more than 128 values"),
        ("codex", ".codex/config.toml", b"a = 1\n[b\n", "config.toml:2:"),
        (
            "codex",
            ".codex/config.toml",
            b"x = 1\nmcp_servers = { a = { command = 'x' } }\n",
            "config.toml:2:15: `mcp_servers` is written in a form that is not changed here",
        ),
        (
            "codex",
            ".codex/config.toml",
            b"mcp_servers.toolpost = { url = 'x' }\n",
            "config.toml:1:26: `url` is not taken out here",
        ),
    ];
    for (client, file, before, part) in cases {
        let home = Home::new();
        home.write(file, before);
        let ran = install(&home, &[client]);
        assert_eq!(ran.status, 2, "{part}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(part) && ran.stderr.contains("add this by hand:\n"),
            "{part}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains("toolpost") && ran.stderr.contains("\"mcp\""), "{}", ran.stderr);
        assert_eq!(std::fs::read(home.path(file)).unwrap(), before);
        let mut left = std::fs::read_dir(home.path(file).parent().unwrap()).unwrap().flatten();
        assert!(!left.any(|entry| entry.file_name().to_string_lossy().ends_with(".new")));
    }
}

#[test]
fn modes_are_kept_and_nothing_strange_is_followed() {
    let home = Home::new();
    for (client, file) in [("claude", "repo/.mcp.json"), ("codex", ".codex/config.toml")] {
        home.write(file, "");
        std::fs::set_permissions(home.path(file), PermissionsExt::from_mode(0o640)).unwrap();
        assert_eq!(install(&home, &[client]).status, 0);
        assert_eq!(std::fs::metadata(home.path(file)).unwrap().mode() & 0o7777, 0o640, "{client}");
    }
    // What is new is for its owner.
    assert_eq!(install(&home, &["zed"]).status, 0);
    assert_eq!(std::fs::metadata(home.path(".config/zed/settings.json")).unwrap().mode() & 0o7777, 0o600);
    // A repository cannot lead the entry elsewhere.
    home.write("elsewhere.json", "{}");
    home.write("outside/keep", "");
    let refused = |client: &str, part: &str| {
        let start = Instant::now();
        let ran = install(&home, &[client]);
        assert!(ran.status != 0 && ran.stderr.contains(part), "{client}: {} {}", ran.status, ran.stderr);
        assert!(start.elapsed() < stretched(Duration::from_secs(5)));
    };
    symlink("../elsewhere.json", home.path("repo/opencode.json")).unwrap();
    refused("opencode", "is a link that leads out of the workspace");
    symlink("../outside", home.path("repo/.vscode")).unwrap();
    refused("vscode", "leads out of the workspace");
    home.write("repo/.cursor/real.json", "{}");
    symlink("real.json", home.path("repo/.cursor/mcp.json")).unwrap();
    refused("cursor", "is a link to `.cursor/real.json`");
    std::fs::create_dir_all(home.path("repo/.gemini")).unwrap();
    mknodat(CWD, home.path("repo/.gemini/settings.json"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    refused("gemini", "settings.json");
    assert_eq!(text(&home, "elsewhere.json"), "{}");
    assert_eq!(text(&home, "repo/.cursor/real.json"), "{}");
    assert_eq!(std::fs::read_dir(home.path("outside")).unwrap().count(), 1);
}

#[test]
fn a_users_own_link_stays_a_link() {
    let home = Home::new();
    home.write("dotfiles/zed.json", "{\n}\n");
    std::fs::create_dir_all(home.path(".config/zed")).unwrap();
    let link = home.path(".config/zed/settings.json");
    symlink("../../dotfiles/zed.json", &link).unwrap();
    assert_eq!(install(&home, &["zed"]).status, 0);
    assert!(link.is_symlink() && text(&home, "dotfiles/zed.json").contains("toolpost"));
    // One that leads nowhere, or to what is no file, is said to.
    for (target, part) in
        [("nowhere", "is a broken link"), ("/dev/null", "is a character device"), ("../zed", "is a folder")]
    {
        std::fs::remove_file(&link).unwrap();
        symlink(target, &link).unwrap();
        let ran = install(&home, &["zed"]);
        assert!(ran.status != 0 && ran.stderr.contains(part), "{target}: {}", ran.stderr);
    }
    std::fs::remove_file(&link).unwrap();
    mknodat(CWD, &link, FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert!(install(&home, &["zed"]).stderr.contains("is a named pipe"));
}

#[test]
fn files_of_others_are_left_alone() {
    // Nobody but root opens a file of mode 0, so the command runs as somebody else.
    let home = Home::new();
    let as_nobody = |args: &[&str]| {
        let mut command = home.command([&["mcp", "install"], args].concat());
        if rustix::process::geteuid().is_root() {
            command.uid(65_534).gid(65_534);
        }
        Ran::of(command.output().unwrap())
    };
    let set = |name: &str, mode| {
        std::fs::set_permissions(home.path(name), PermissionsExt::from_mode(mode)).unwrap()
    };
    set("", 0o755);
    home.write(".codex/config.toml", "a = 1\n");
    set(".codex/config.toml", 0o000);
    let ran = as_nobody(&["codex"]);
    assert!(ran.status != 0 && ran.stderr.contains("cannot be read"), "{}", ran.stderr);
    // It can be read, and neither it nor its folder can be changed.
    set(".codex/config.toml", 0o444);
    set(".codex", 0o555);
    let ran = as_nobody(&["codex"]);
    let is_root = rustix::process::geteuid().is_root();
    let part = if is_root { "belongs to another user" } else { "cannot be written" };
    assert!(ran.status != 0 && ran.stderr.contains(part), "{}", ran.stderr);
    assert_eq!(text(&home, ".codex/config.toml"), "a = 1\n");
    set(".codex", 0o755);
}

#[test]
fn a_large_file_is_changed_within_seconds() {
    let home = Home::new();
    let line = format!("    {{\"display\": \"{}\", \"n\": [1, 2.5, null, true]}}", "word \\n ".repeat(10));
    let history = vec![line; 10 * 1024 * 1024 / 125].join(",\n");
    let before = format!("{{\n  \"history\": [\n{history}\n  ],\n  \"mcpServers\": {{}}\n}}\n");
    home.write(".claude.json", &before);
    let start = Instant::now();
    let ran = install(&home, &["claude", "--user"]);
    let took = start.elapsed();
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let after = text(&home, ".claude.json");
    assert!(after.starts_with(before.trim_end_matches("}\n}\n")) && after.ends_with("\n    }\n  }\n}\n"));
    assert!(took < stretched(Duration::from_secs(5)), "{took:?}");
    println!("measure: mcp install into {} bytes of JSON took {} ms", before.len(), took.as_millis());
    home.write("repo/.mcp.json", vec![b' '; 2 << 20]);
    let ran = install(&home, &["claude"]);
    assert!(ran.status != 0 && ran.stderr.contains("at most 1048576 are read"), "{}", ran.stderr);
}

#[test]
fn programs_get_one_object() {
    let home = Home::new();
    for (args, action, is_written) in [
        (&["--print"][..], "create", false),
        (&[], "create", true),
        (&[], "nothing", false),
        (&["--policy", "read-only", "--print"], "replace", false),
        (&["--policy", "read-only"], "replace", true),
    ] {
        let (status, report) = install(&home, &[&["claude", "--json"], args].concat()).json();
        assert_eq!(status, 0);
        assert_eq!((&report["action"], &report["written"]), (&json!(action), &json!(is_written)), "{report}");
        assert_eq!((&report["client"], &report["scope"]), (&json!("claude"), &json!("project")));
        assert_eq!(report["file"], json!(home.path("repo/.mcp.json")));
    }
    home.write("repo/.mcp.json", "{");
    let (status, report) = install(&home, &["claude", "--json"]).json();
    assert!(
        status == 2 && report["error"]["message"].as_str().unwrap().contains("add this by hand"),
        "{report}"
    );
}

#[test]
fn the_guide_shows_what_is_written() {
    let page = std::fs::read_to_string(crate::project().join("docs/guide/mcp.md")).unwrap();
    let mut sections: Vec<&str> = page.split("\n### ").skip(1).collect();
    sections.sort_unstable();
    let clients =
        ["claude", "cline", "codex", "copilot", "cursor", "gemini", "opencode", "qwen", "vscode", "zed"];
    assert_eq!(sections.len(), clients.len());
    for (section, client) in sections.iter().zip(clients) {
        let title = section.lines().next().unwrap();
        assert_eq!(title.to_lowercase().replace(' ', "")[..3], client[..3], "{title}");
        let block = section.split("```").nth(1).unwrap();
        let shown = block.split_once('\n').unwrap().1;
        let (_, report) = install(&Home::new(), &[client, "--print", "--json"]).json();
        let written = report["entry"].as_str().unwrap();
        match serde_json::from_str::<Value>(shown) {
            Ok(shown) => assert_eq!(serde_json::from_str::<Value>(written).unwrap(), shown, "{title}"),
            Err(_) => assert_eq!(written, shown, "{title}"),
        }
        // The first file of the section is the usual one, from the home directory or the project's root.
        let file = section.split('`').nth(1).unwrap().trim_start_matches("~/");
        let is_there = report["file"].as_str().unwrap().ends_with(file) || file == "opencode.jsonc";
        assert!(is_there, "{title}: {file}, {}", report["file"]);
    }
}
