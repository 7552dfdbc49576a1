//! The parts are joined in one place: what one command has, the others have too.

use crate::Home;
use serde_json::{Value, json};

const USER: &str = ".config/toolpost/config.toml";
const PROJECT: &str = "repo/.toolpost/config.toml";

/// A home in which there is something to say before anything runs.
fn noteworthy() -> Home {
    let home = Home::new();
    home.write(USER, "[[rule]]\neffect = 'allow'\naction = 'bsh'\n");
    home.write(PROJECT, "dialect = 'claude'\n");
    home.write(".config/toolpost/descriptions/raed.txt", "Reads.");
    home
}

#[test]
fn every_command_says_the_same_notes() {
    let home = noteworthy();
    let expected = home.run(&["call", "list"]).stderr;
    for words in [
        "note: there is no tool `raed` for the description `raed.txt`\n",
        "`bsh` is neither a tool nor a capability, so the rule `bsh: *` does nothing; did you mean `bash`\n",
        ".toolpost/config.toml: names tools in the dialect `claude` (line 1), once you trust it",
    ] {
        assert!(expected.contains(words), "{words}: {expected}");
    }
    assert_eq!(expected.lines().count(), 3, "{expected}");
    let commands: [&[&str]; 4] = [
        &["tools", "show", "read"],
        &["packs"],
        &["policy", "show"],
        &["policy", "explain", "read", "filePath=README.md"],
    ];
    for args in commands {
        assert_eq!(home.run(args).stderr, expected, "{args:?}");
    }
    // The server ends at once, for nobody writes to it.
    let served = home.run(&["mcp"]);
    assert_eq!((served.status, served.stderr), (0, expected));
    let doctor = home.run(&["doctor", "--all"]).stdout;
    for words in
        ["there is no tool `raed`", "did you mean `bash`", "names tools in the dialect `claude` (line 1)"]
    {
        assert!(doctor.contains(words), "{words}: {doctor}");
    }
}

#[test]
fn doctor_shows_the_rules_that_decide() {
    let home = Home::new();
    let rule = |effect: &str, path: &str| {
        format!("[[rule]]\neffect = '{effect}'\naction = 'read'\nresource = '{path}'\n")
    };
    home.write(USER, rule("deny", "/of-user"));
    home.write(PROJECT, rule("deny", "/of-project") + &rule("allow", "/untrusted"));
    home.write("data/toolpost/answers/user.toml", rule("allow", "/saved"));
    home.write("repo/netrc", "machine example.com\n");
    let with = |args: &[&str]| {
        let mut command = home.command([args, &["--allow-rule", "read: /of-flag", "--json"]].concat());
        command.env("NETRC", home.path("repo/netrc"));
        crate::Ran::of(command.output().unwrap()).json().1
    };
    let (doctor, policy) = (with(&["doctor"]), with(&["policy", "show"]));
    let shown = &doctor["configuration"]["rules"];
    assert_eq!(*shown, policy["rules"]);
    let text = shown.to_string();
    for resource in ["/of-user", "/of-project", "/saved", "/of-flag", "$NETRC"] {
        assert!(text.contains(resource), "{resource}: {text}");
    }
    assert!(!text.contains("/untrusted"), "{text}");
}

#[test]
fn doctor_shows_every_key() {
    let home = Home::new();
    // The example without its comment signs sets every key.
    assert_eq!(home.run(&["init", "--user"]).status, 0);
    let example = std::fs::read_to_string(home.path(USER)).unwrap();
    let live = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with([' ', ':']) => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    home.write(USER, example.lines().map(live).collect::<String>());
    std::fs::create_dir_all(home.path(".config/toolpost/descriptions")).unwrap();
    let schema: Value = serde_json::from_str(&home.run(&["internal", "config-schema"]).stdout).unwrap();
    let (_, report) = home.json(&["doctor", "--session", "mine"]);
    // The server of the example is not on this machine; nothing else is broken.
    let broken = report["findings"].as_array().unwrap().iter().filter(|finding| finding["broken"] == true);
    assert!(broken.clone().all(|finding| finding["what"].to_string().contains("the MCP server")), "{report}");
    let page = home.run(&["doctor", "--all", "--session", "mine"]).stdout;
    let configuration = &report["configuration"];
    let user = home.path(USER).display().to_string();
    let mut shown = 0;
    for key in schema["properties"].as_object().unwrap().keys().map(String::as_str).chain(["session"]) {
        let place = match key {
            "policy" | "allow" | "ask" | "deny" => &configuration["rights"][0]["from"]["file"],
            "rule" => &configuration["rules"][0]["file"],
            "mcpServers" => &report["servers"][0]["from"]["file"],
            _ if configuration[key].is_array() => &configuration[key][0]["from"]["file"],
            _ => &configuration[key]["from"]["file"],
        };
        let expected = if key == "session" { "--session" } else { user.as_str() };
        assert_eq!(place, &json!(expected), "{key}: {report}");
        let is_line = |line: &str| line.starts_with(&format!("  {key} ")) && line.contains(expected);
        assert!(
            matches!(key, "policy" | "allow" | "ask" | "deny" | "mcpServers") || page.lines().any(is_line),
            "{key}: {page}"
        );
        shown += 1;
    }
    assert!(shown > 14, "{shown}");
    let formatters = &configuration["formatters"];
    assert_eq!(formatters[0]["value"], "rs: rustfmt --edition 2024");
    assert_eq!(configuration["readable"][0]["value"], "~/sdk");
    assert_eq!(configuration["environment"][0]["value"], "DATABASE_URL");
    // What is not set is shown as what holds instead.
    let page = Home::new().run(&["doctor", "--all"]).stdout;
    for line in ["  timeout       each tool's own  built-in\n", "  structured    false         built-in\n"] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(!home.path("data").exists(), "it only looks");
}
