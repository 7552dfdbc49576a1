//! Workspace, session, policy and descriptions: where each comes from, and which one wins.

use crate::{Home, Ran, offered};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use toolpost_core::Dialect;
use toolpost_core::host::{Redactor, Spill};
use toolpost_core::policy::Profile;
use toolpost_disk::{SpillFolder, SpillLimits};

#[test]
fn the_workspace_is_the_enclosing_repository() {
    let home = Home::new();
    let tree = "./\n  README.md\n  src/\n    main.rs\n";
    let mut command = home.command(["call", "list"]);
    command.current_dir(home.path("repo/src"));
    assert_eq!(Ran::of(command.output().unwrap()).stdout, tree);
    // Without a repository: the folder one stands in.
    home.write("plain/sub/file", "");
    let mut command = home.command(["call", "list"]);
    command.current_dir(home.path("plain/sub"));
    assert_eq!(Ran::of(command.output().unwrap()).stdout, "./\n  file\n");
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_repository() {
    let home = Home::new();
    home.write("one/1", "first\n");
    home.write("two/2", "second\n");
    for (value, expected) in [(home.path("one").to_str().unwrap(), "./\n  1\n"), ("../two", "./\n  2\n")] {
        let mut command = home.command(["call", "list"]);
        command.env("AGENT_WORKSPACE_ROOT", value);
        assert_eq!(Ran::of(command.output().unwrap()).stdout, expected);
    }
    let mut command = home.command(["call", "list", "--workspace", "../two"]);
    command.env("AGENT_WORKSPACE_ROOT", home.path("one"));
    assert_eq!(Ran::of(command.output().unwrap()).stdout, "./\n  2\n");
    // The first is the root; the second is reached by its absolute path; nothing else is.
    let flags = ["--workspace", "../one", "--workspace", "../two"];
    let read = |path: &str| home.json(&[&flags[..], &["call", "read", &format!("filePath={path}")]].concat());
    assert_eq!(read("1").1["output"], "1: first\n");
    assert_eq!(read(home.path("two/2").to_str().unwrap()).1["output"], "1: second\n");
    assert_eq!(read(home.path("repo/README.md").to_str().unwrap()).1["error"]["code"], "PATH_ESCAPE");
    assert_eq!(read("2").1["error"]["code"], "FILE_NOT_FOUND");
}

#[test]
fn a_workspace_that_cannot_be_used_is_explained() {
    let home = Home::new();
    for (folder, part) in [("/nowhere", "does not exist"), ("README.md", "is not a folder"), ("", "")] {
        let ran = home.run(&["call", "list", "--workspace", folder]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{folder}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    // Nobody but root opens a folder of mode 0, so the command runs as somebody else.
    home.write("closed/file", "");
    let set = |name: &str, mode| {
        std::fs::set_permissions(home.path(name), PermissionsExt::from_mode(mode)).unwrap()
    };
    let as_nobody = |args: &[&str]| {
        let mut command = home.command(args);
        if rustix::process::geteuid().is_root() {
            command.uid(65_534).gid(65_534);
        }
        Ran::of(command.output().unwrap())
    };
    set("", 0o755);
    set("closed", 0o000);
    let closed = home.path("closed");
    let ran = as_nobody(&["call", "list", "--workspace", closed.to_str().unwrap()]);
    assert!(
        ran.status != 0 && ran.stderr.contains("check its owner and mode"),
        "{} {}",
        ran.status,
        ran.stderr
    );
    let ran = as_nobody(&["call", "list", "--workspace", home.path("").to_str().unwrap(), "depth=1"]);
    assert!(ran.status == 0 && ran.stdout.contains("closed/"), "{}{}", ran.stdout, ran.stderr);
    let ran = as_nobody(&["call", "list", "--workspace", home.path("").to_str().unwrap()]);
    assert!(ran.stdout.contains("(could not read closed)"), "{}{}", ran.stdout, ran.stderr);
    set("closed", 0o755);
}

#[test]
fn a_handle_lives_in_its_session() {
    let home = Home::new();
    // Built-in tools page by themselves, so the output of another one, in an earlier process, stands here.
    let spill = SpillFolder::new(home.path("data/toolpost/spill"), SpillLimits::default());
    let (handle, _) = spill.keep("one", "earlier", "kept\n", &Redactor::default()).unwrap();
    let read = format!("filePath={handle}");
    let (status, envelope) = home.json(&["call", "read", &read, "--session", "one"]);
    assert_eq!((status, &envelope["output"]), (0, &json!("1: kept\n")));
    for args in [&["call", "read", &read, "--session", "two"][..], &["call", "read", &read]] {
        let (status, envelope) = home.json(args);
        assert_eq!((status, &envelope["error"]["code"]), (1, &json!("FILE_NOT_FOUND")), "{args:?}");
    }
}

#[test]
fn policy_and_allow_decide_what_is_offered() {
    let home = Home::new();
    let looking = offered(Profile::ReadOnly, &Dialect::canonical());
    let all = offered(Profile::Privileged, &Dialect::canonical());
    for (flags, expected) in [
        (&["--policy", "read-only"][..], &looking),
        (&["--policy", "privileged"], &all),
        (&["--allow", "exec", "--allow", "network"], &all),
    ] {
        let (status, tools) = home.json(&[&["tools"], flags].concat());
        let names: Vec<_> =
            tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!((status, json!(names)), (0, json!(expected)), "{flags:?}");
    }
    assert_eq!(home.run(&["tools", "--allow", "everything"]).status, 2);
}

#[test]
fn descriptions_can_be_replaced() {
    let home = Home::new();
    let described =
        |args: &[&str]| home.json(&[&["tools", "show", "read"], args].concat()).1["description"].clone();
    // The path of the workspace stands in the instructions, not in every description.
    assert!(!described(&[]).as_str().unwrap().contains(home.path("repo").to_str().unwrap()));
    home.write(".config/toolpost/descriptions/read.txt", "Reads, in ${workspace}.");
    assert_eq!(described(&[]), format!("Reads, in {}.", home.path("repo").display()));
    home.write("mine/read.txt", "Reads for me.");
    home.write("mine/raed.txt", "Nobody asks.");
    home.write("mine/notes.md", "No description.");
    assert_eq!(described(&["--descriptions", "../mine"]), "Reads for me.");
    for args in [&["tools", "--allow", "exec", "--allow", "network"][..], &["call", "list"]] {
        let ran = home.run(&[args, &["--descriptions", "../mine"]].concat());
        // The tools that need a model or agents are none of its business.
        let is_other =
            |line: &&str| line.contains("left out of the list") || line.starts_with("not offered here: ");
        let notes: Vec<&str> = ran.stderr.lines().filter(|line| !is_other(line)).collect();
        assert_eq!(
            (ran.status, notes),
            (0, vec!["note: there is no tool `raed` for the description `raed.txt`"])
        );
    }
    home.write("mine/list.txt", "x".repeat(17 * 1024));
    let ran = home.run(&["tools", "--descriptions", "../mine"]);
    assert!(ran.status == 2 && ran.stderr.contains("is longer than 16384 bytes"), "{}", ran.stderr);
    let ran = home.run(&["tools", "--descriptions", "../none"]);
    assert!(ran.status == 2 && ran.stderr.contains("cannot be read"), "{}", ran.stderr);
}
