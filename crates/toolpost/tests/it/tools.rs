//! `toolpost tools` and `toolpost completions`.

use crate::{Home, offered};
use serde_json::json;
use std::process::Command;
use toolpost_core::Dialect;
use toolpost_core::policy::Profile;

#[test]
fn tools_are_listed_and_shown() {
    let home = Home::new();
    let expected = offered(Profile::Standard, &Dialect::canonical());
    let mut rest = offered(Profile::Privileged, &Dialect::canonical());
    rest.retain(|name| !expected.contains(name));
    // It lacks a model too, but the policy is what comes first.
    rest.push("websearch".to_owned());
    let needs = |name: &str| if name.starts_with("web") { "network" } else { "exec" };
    let refused =
        rest.iter().map(|name| format!("not offered under this policy: {name} (needs {})\n", needs(name)));
    let held_back = "7 more can be called, and are left out of the list to save tokens; a model finds them by `tool_search`: \
        detect_project_type, extract_conventions, get_project_overview, vfs_read, vfs_write, vfs_list, vfs_delete\n"
        .to_owned();
    let missing = [
        "not offered here: spawn_agent, task, signal_parent (needs the agents service: there is no agent file; write one, for instance `.toolpost/agents/helper.md`, and run `toolpost trust`)\n",
        "not offered here: capture_screenshot, analyze_image_ui_qa (needs the model service: name a model that accepts images with the key `model`)\n",
    ];
    let missing = missing.map(str::to_owned);
    let told: String = std::iter::once(held_back).chain(refused).chain(missing).collect();
    for args in [&["tools"][..], &["tools", "list"]] {
        let ran = home.run(args);
        let names: Vec<_> = ran.stdout.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
        assert_eq!((ran.status, ran.stderr.as_str()), (0, told.as_str()));
        assert_eq!(names, expected);
    }
    let ran = home.run(&["tools", "show", "read"]);
    for part in [
        "read 1.0.0\n",
        "filePath ",
        "offset? ",
        "(usually 2000)",
        "can cause    read",
        "also called  Read, ReadFile, read_file, view",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert_eq!(home.run(&["tools", "show", "read_file"]).stdout, ran.stdout, "an alias shows its tool");
    let ran = home.run(&["tools", "show", "raed"]);
    assert!(ran.status == 2 && ran.stderr.contains("nearest: `read`"), "{}", ran.stderr);
    let (_, shown) = home.json(&["tools", "show", "batch"]);
    assert_eq!((&shown["name"], &shown["version"]), (&json!("batch"), &json!("1.0.0")));
    let (_, listed) = home.json(&["tools"]);
    assert!(listed["tools"].as_array().unwrap().contains(&shown), "{listed}");
}

#[test]
fn every_argument_and_every_field_of_data_is_described() {
    let (_, listed) = Home::new().json(&["tools"]);
    for tool in listed["tools"].as_array().unwrap() {
        for schema in ["inputSchema", "outputSchema"] {
            for (name, property) in tool[schema]["properties"].as_object().unwrap() {
                let about = property["description"].as_str();
                assert!(about.is_some_and(|about| about.ends_with('.')), "{}.{schema}.{name}", tool["name"]);
            }
        }
    }
}

#[test]
fn completions_are_scripts() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = home.run(&["completions", shell]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{shell}");
        assert!(ran.stdout.contains("toolpost") && ran.stdout.contains("completions"), "{shell}");
        // A shell that is here must be able to parse its script.
        home.write("script", &ran.stdout);
        let flag = if shell == "fish" { "--no-execute" } else { "-n" };
        let is_posix = ["bash", "zsh", "fish"].contains(&shell);
        match Command::new(shell).arg(flag).arg(home.path("script")).output() {
            Ok(output) if is_posix => assert!(output.status.success(), "{shell}: {output:?}"),
            _ => assert_ne!(shell, "bash", "bash is everywhere"),
        }
    }
    assert_eq!(home.run(&["completions", "csh"]).status, 2);
}

#[test]
fn help_and_version_are_printed() {
    let home = Home::new();
    let ran = home.run(&["--version"]);
    assert_eq!((ran.status, ran.stdout), (0, format!("toolpost {}\n", env!("CARGO_PKG_VERSION"))));
    for args in [&["--help"][..], &["call", "--help"], &["tools", "--help"]] {
        let ran = home.run(args);
        assert!(ran.status == 0 && ran.stdout.contains("Usage: toolpost"), "{args:?}");
        assert!(!ran.stdout.contains("internal"), "{args:?}: what is hidden stays hidden");
    }
}
