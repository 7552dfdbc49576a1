//! The store as people meet it: `log`, `sessions`, `stats`, `gc`, the flags `--store` and `--session`, and that no tool
//! reaches its files.

use crate::{Home, Ran};
use serde_json::json;
use std::path::Path;

const STORE: [&str; 2] = ["--store", "sqlite:own.db"];

/// The id of the last call, as the log has it.
fn last_call(home: &Home) -> String {
    let ran = home.run(&["log", "--json", "-n", "1"]);
    let event: serde_json::Value = serde_json::from_str(ran.stdout.trim()).unwrap();
    event["call"].as_str().unwrap().to_owned()
}

#[test]
fn the_store_in_use_is_closed_to_tools_and_commands() {
    let home = Home::new();
    let call = |args: &[&str]| home.run(&[&["call"], args, &STORE].concat());
    // The first call makes the store, and is kept from it already.
    for name in [
        "own.db",
        "own.db-wal",
        "own.db-shm",
        "own.db-journal",
        "own.db-contents/x",
        "own.db.spools/x",
        "src/../own.db",
    ] {
        for args in [
            &["write", &format!("filePath={name}"), "content=x", "--yes"][..],
            &["read", &format!("filePath={name}"), "--yes"],
            &["delete", &format!("path={name}"), "--yes"],
        ] {
            let ran = call(args);
            assert_eq!(ran.status, 3, "{args:?}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("PERMISSION_DENIED"), "{args:?}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("no flag or rule opens the store in use"),
                "{args:?}: {}",
                ran.stderr
            );
        }
    }
    let added = home.run(&[&["tasks", "add", "one"][..], &STORE].concat());
    assert_eq!(added.status, 0, "{}", added.stderr);
    for command in [
        "echo x > own.db",
        "rm -f own.db; test ! -e own.db",
        "rm -f own.db-wal; test ! -e own.db-wal",
        "mv own.db other.db",
        "cp own.db copy.db",
        "cat own.db-wal",
        "ls own.db.spools/*",
        "mv src/main.rs own.db-journal",
    ] {
        let ran = call(&["bash", &format!("command={command}"), "--allow", "exec"]);
        let is_refused = ran.status != 0 || ran.stdout.contains("[exit code ");
        assert!(is_refused, "{command}: {}{}", ran.stdout, ran.stderr);
    }
    // Also where the workspace reaches it by another name.
    std::os::unix::fs::symlink("own.db", home.path("repo/link")).unwrap();
    assert_eq!(call(&["write", "link", "content=x", "--yes"]).status, 3);
    let tasks = home.run(&[&["tasks"][..], &STORE].concat());
    assert!(tasks.stdout.contains("t1 one (ready)"), "{}{}", tasks.stdout, tasks.stderr);
    // A file of that name elsewhere is nobody's store.
    assert_eq!(call(&["write", "src/own.db", "content=x"]).status, 0);
}

#[test]
fn a_store_that_the_configuration_or_a_variable_names_is_closed_too() {
    let home = Home::new();
    home.write(".config/toolpost/config.toml", "store = \"sqlite:~/repo/kept.db\"\n");
    assert_eq!(home.run(&["call", "write", "kept.db", "content=x", "--yes"]).status, 3);
    let mut command = home.command(["call", "write", "other.db", "content=x", "--yes"]);
    let ran = crate::Ran::of(command.env("TOOLPOST_STORE", "sqlite:other.db").output().unwrap());
    assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(home.path("repo/other.db").exists(), "relative to the folder that toolpost stands in");
}

#[test]
fn no_password_of_a_store_is_printed() {
    let home = Home::new();
    let wrong = ["mysql://me:hunter2@h/x", "postgre:me:hunter2@h", "host=h password=hunter2"];
    let right = ["postgres://me:hunter2@127.0.0.1:1/x", "postgres://127.0.0.1:1/x?password=hunter2"];
    for url in wrong.into_iter().chain(right) {
        home.write(".config/toolpost/config.toml", "");
        let flags = ["--store", url];
        let by_flag = [&["log"][..], &flags].concat();
        let mut by_variable = home.command(["log"]);
        by_variable.env("TOOLPOST_STORE", url);
        let mut ran = vec![home.run(&by_flag), home.run(&[&by_flag[..], &["--json"]].concat())];
        ran.push(crate::Ran::of(by_variable.output().unwrap()));
        home.write(".config/toolpost/config.toml", format!("store = \"{url}\"\n"));
        ran.extend([&["log"][..], &["log", "--json"]].map(|args| home.run(args)));
        let status = if wrong.contains(&url) { 2 } else { 1 };
        for ran in &ran {
            assert_eq!(ran.status, status, "{url}: {}{}", ran.stdout, ran.stderr);
        }
        ran.extend([&["doctor"][..], &["doctor", "--json"]].map(|args| home.run(args)));
        for ran in ran {
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!said.contains("hunter2"), "{url}: {said}");
        }
    }
}

#[test]
fn the_id_that_a_log_shows_is_taken() {
    let home = Home::new();
    assert_eq!(home.run(&["call", "write", "a.txt", "content=1"]).status, 0);
    let line = home.run(&["log", "--tool", "write", "-n", "1"]).stdout;
    let shown = line.split_whitespace().nth(2).unwrap();
    assert_eq!(shown.len(), 6, "{line}");
    let log = home.run(&["log", "--call", shown]);
    assert!(log.status == 0 && log.stdout.contains("done     write"), "{}{}", log.stdout, log.stderr);
    assert_eq!(log.stdout, home.run(&["log", "--call", &last_call(&home)]).stdout);
    let undone = home.run(&["undo", shown, "--yes"]);
    assert_eq!(undone.status, 0, "{}", undone.stderr);
    assert!(!home.path("repo/a.txt").exists());
    assert_eq!(home.run(&["redo", shown, "--yes"]).status, 0);
    assert!(home.path("repo/a.txt").exists());
    for args in [&["log", "--call", "nobody"][..], &["undo", "nobody"]] {
        let (status, error) = home.json(args);
        assert_eq!((status, &error["error"]["code"]), (2, &json!("FILE_NOT_FOUND")), "{error}");
    }
    // Of a call that has changed nothing, that is said, by the ending too.
    assert_eq!(home.run(&["call", "read", "README.md"]).status, 0);
    let read = last_call(&home);
    let refused = home.run(&["undo", &read[read.len() - 6..]]).stderr;
    assert!(refused.contains(&read) && refused.contains("changed nothing"), "{refused}");
}

#[test]
fn every_command_on_the_store_reports_errors_alike() {
    let home = Home::new();
    home.write("repo/broken.db", "this is no database, but a text of some length\n".repeat(100));
    let commands: [&[&str]; 12] = [
        &["log"],
        &["log", "--follow"],
        &["sessions"],
        &["stats"],
        &["gc"],
        &["tasks"],
        &["tasks", "add", "x"],
        &["tasks", "watch"],
        &["vfs", "list"],
        &["vfs", "import", "README.md"],
        &["undo"],
        &["redo"],
    ];
    for args in commands {
        let flags = ["--store", "sqlite:broken.db"];
        let (status, error) = home.json(&[args, &flags].concat());
        assert_eq!(error["error"]["code"], "STORE_NOT_AVAILABLE", "{args:?}: {error}");
        assert_eq!((status, &error["success"]), (1, &json!(false)), "{args:?}");
        let ran = home.run(&[args, &flags].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{args:?}");
    }
    assert_eq!(home.run(&["call", "list"]).status, 0);
    for (args, status) in [
        (&["log", "--outcome", "nope"][..], 2),
        (&["log", "--since", "1h", "--until", "2h"], 2),
        (&["stats", "--since", "1h", "--until", "1h"], 2),
        (&["log", "--limit", "0"], 2),
        (&["log", "--grep", "*\""], 2),
        (&["vfs", "show", "nothing"], 2),
        (&["tasks", "show", "t9"], 2),
        (&["tasks", "export", "--format", "markdown"], 2),
    ] {
        let (ended, error) = home.json(args);
        assert_eq!((ended, &error["success"]), (status, &json!(false)), "{args:?}: {error}");
        assert!(error["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    }
}

#[test]
fn a_named_store_that_is_not_there_is_made_only_by_what_writes() {
    let home = Home::new();
    let flags = ["--store", "sqlite:typo/a.db"];
    for args in [
        &["log"][..],
        &["sessions"],
        &["stats"],
        &["gc"],
        &["tasks"],
        &["tasks", "show", "t1"],
        &["tasks", "export"],
        &["vfs", "list"],
        &["vfs", "export", "out"],
        &["undo"],
    ] {
        let (status, error) = home.json(&[args, &flags].concat());
        assert_eq!((status, &error["error"]["code"]), (1, &json!("STORE_NOT_AVAILABLE")), "{args:?}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains("there is no store") && message.contains("typo/a.db"), "{message}");
        assert!(!home.path("repo/typo").exists(), "{args:?}");
    }
    assert_eq!(home.run(&[&["tasks", "add", "x"][..], &flags].concat()).status, 0);
    assert_eq!(home.run(&[&["log"][..], &flags].concat()).status, 0);
    // The workspace's own needs no making by hand.
    assert_eq!(home.run(&["log"]).status, 0);
}

#[test]
fn what_is_not_found_is_said_with_what_was_asked_for() {
    let home = Home::new();
    let said = |args: &[&str]| {
        let ran = home.run(args);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{args:?}");
        ran.stderr
    };
    assert!(said(&["log"]).contains("is empty"));
    assert!(said(&["sessions"]).contains("no sessions yet"));
    assert_eq!(home.run(&["call", "read", "README.md", "--session", "draft"]).status, 0);
    let all: [(&[&str], &[&str]); 8] = [
        (&["log", "--tool", "raed"], &["tool `raed`", "nearest: `read`"]),
        (&["stats", "--tool", "raed"], &["tool `raed`", "nearest: `read`"]),
        (&["log", "--session", "daft"], &["session `daft`", "nearest: `draft`"]),
        (&["stats", "--session", "daft"], &["session `daft`", "nearest: `draft`"]),
        (&["sessions", "--session", "daft"], &["session `daft`", "nearest: `draft`"]),
        (&["log", "--agent", "nobody"], &["agent `nobody`"]),
        (&["log", "--grep", "elephant"], &["words `elephant`", "whole words"]),
        (&["log", "--outcome", "TIMEOUT"], &["outcome `TIMEOUT`"]),
    ];
    for (args, parts) in all {
        let message = said(args);
        assert!(parts.iter().all(|part| message.contains(part)), "{args:?}: {message}");
    }
    let sessions = home.run(&["sessions", "--session", "draft"]).stdout;
    assert_eq!(sessions.lines().count(), 2, "{sessions}");
}

#[test]
fn a_log_of_a_tool_has_all_events_of_its_calls() {
    let home = Home::new();
    assert_eq!(home.run(&["call", "write", "a.txt", "content=1"]).status, 0);
    assert_eq!(home.run(&["call", "read", "a.txt"]).status, 0);
    assert_eq!(home.run(&["call", "vfs_write", "path=x", "content=1"]).status, 0);
    for tool in ["write", "read", "vfs_write"] {
        let of_tool = home.run(&["log", "--tool", tool]).stdout;
        let id = of_tool.split_whitespace().nth(2).unwrap();
        assert_eq!(of_tool, home.run(&["log", "--call", id]).stdout);
        assert!(of_tool.contains("  allow "), "{of_tool}");
    }
    let stored = home.run(&["log", "--tool", "vfs_write"]).stdout;
    assert!(stored.contains("file     x version 1"), "{stored}");
}

#[test]
fn the_words_that_a_log_shows_are_found_by_it() {
    let home = Home::new();
    assert_eq!(home.run(&["call", "write", "a.txt", "content=1"]).status, 0);
    assert_eq!(home.run(&["undo", "--yes"]).status, 0);
    assert_ne!(home.run(&["call", "read", "nothing"]).status, 0);
    for word in ["undo", "failed", "done", "allow", "start"] {
        let found = home.run(&["log", "--grep", word]).stdout;
        assert!(found.lines().any(|line| line.contains(&format!("  {word} "))), "{word}: {found}");
    }
    let undone = home.run(&["log", "--grep", "undo"]).stdout;
    assert!(undone.trim_end().ends_with(": 1 name"), "{undone}");
}

#[test]
fn large_virtual_files_do_not_cost_the_log() {
    let home = Home::new();
    home.write(".config/toolpost/config.toml", "keep = \"30 days, 2 MiB\"\n");
    home.write("repo/large", "0123456789abcdef".repeat(250_000));
    assert_eq!(home.run(&["call", "write", "a.txt", "content=1"]).status, 0);
    assert_eq!(home.run(&["vfs", "import", "large"]).status, 0);
    let before = home.run(&["log", "--json"]).stdout.lines().count();
    let ran = home.run(&["gc"]);
    assert!(ran.stdout.starts_with("deleted 0 events"), "{}", ran.stdout);
    assert!(ran.stderr.contains("virtual files take 3.8 MiB"), "{}", ran.stderr);
    assert_eq!(home.run(&["log", "--json"]).stdout.lines().count(), before);
    assert_eq!(home.run(&["undo", "--yes"]).status, 0);
    assert_eq!(home.json(&["gc"]).1["fileBytes"], 4_000_000);
}

/// The store of a workspace that is gone goes when nothing was written to it for as long as anything is kept.
#[test]
fn stores_of_workspaces_that_are_gone_are_removed() {
    let home = Home::new();
    let stores = home.path("data/toolpost/stores");
    let names = || -> Vec<String> {
        let all = std::fs::read_dir(&stores).unwrap().flatten();
        all.map(|entry| entry.file_name().to_str().unwrap().to_owned()).collect()
    };
    let call = |folder: &str| {
        std::fs::create_dir_all(home.path(folder)).unwrap();
        let folder = home.path(folder).display().to_string();
        assert_eq!(home.run(&["call", "write", "a.txt", "content=1", "--workspace", &folder]).status, 0);
    };
    let first: Vec<String> = {
        call("gone");
        names()
    };
    call("there");
    assert_eq!(home.run(&["call", "write", "a.txt", "content=1"]).status, 0);
    let all = names().len();
    std::fs::remove_dir_all(home.path("gone")).unwrap();
    // It may be on a disk that is not there today.
    assert_eq!(home.json(&["gc"]).1["abandonedStores"], 0);
    assert!(names().len() >= all);
    let age = |name: &str| {
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 24 * 60 * 60);
        let file = std::fs::File::open(stores.join(name)).unwrap();
        file.set_modified(old).unwrap();
    };
    names().iter().for_each(|name| age(name));
    let (status, told) = home.json(&["gc"]);
    assert_eq!((status, &told["abandonedStores"]), (0, &serde_json::json!(1)), "{told}");
    assert!(!first.iter().any(|name| names().contains(name)), "{first:?}: {:?}", names());
    let there = home.path("there").display().to_string();
    assert_eq!(home.run(&["undo", "--yes", "--workspace", &there]).status, 0);
    assert_eq!(home.run(&["undo", "--yes"]).status, 0);
}

#[test]
fn doctor_shows_the_store_and_whether_it_opens() {
    let home = Home::new();
    let store = |args: &[&str]| home.json(&[&["doctor"], args].concat()).1["store"].clone();
    let fresh = store(&[]);
    let path = fresh["path"].as_str().unwrap().to_owned();
    assert!(path.contains("data/toolpost/stores") && fresh["exists"] == false, "{fresh}");
    assert!(!Path::new(&path).exists(), "doctor only looks");
    assert_eq!(home.run(&["call", "list"]).status, 0);
    let used = store(&[]);
    assert_eq!((&used["path"], &used["exists"], &used["error"]), (&json!(path), &json!(true), &json!(null)));
    assert!(used["bytes"].as_u64().is_some_and(|bytes| bytes > 4096), "{used}");
    assert!(used["version"].as_u64().is_some_and(|version| version > 0), "{used}");
    assert!(home.run(&["doctor"]).stdout.contains(&path));
    home.write("repo/broken.db", "not a database at all, really\n".repeat(100));
    let ran = home.run(&["doctor", "--store", "sqlite:broken.db"]);
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    let broken = store(&["--store", "sqlite:broken.db"]);
    assert!(broken["error"].as_str().is_some_and(|error| error.contains("not a database")), "{broken}");
    assert_eq!(store(&["--store", "memory"])["path"], json!(null));
}

#[test]
fn doctor_tells_a_missing_role_from_the_policy() {
    let home = Home::new();
    let page = home.run(&["doctor", "--all"]).stdout;
    let line = page.lines().find(|line| line.trim_start().starts_with("list_tasks ")).unwrap();
    assert!(line.contains("not offered without a role"), "{line}");
    let page = home.run(&["doctor", "--all", "--role", "worker"]).stdout;
    let line = |tool: &str| page.lines().find(|line| line.trim_start().starts_with(tool)).unwrap().to_owned();
    assert!(line("create_task ").contains("not offered to the role worker"), "{page}");
    assert!(!line("list_tasks ").contains("not offered"), "{page}");
}

#[test]
fn a_store_that_was_there_becomes_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write("e.db", "");
    std::fs::set_permissions(home.path("e.db"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let store = format!("sqlite:{}", home.path("e.db").display());
    assert_eq!(home.run(&["call", "list", "--store", &store]).status, 0);
    for name in ["e.db", "e.db-wal", "e.db-shm"] {
        let mode = std::fs::metadata(home.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_can_be_no_store_is_refused_with_the_reason() {
    let home = Home::new();
    let said = |store: &str| home.run(&["call", "list", "--store", store]).stderr;
    assert!(said("sqlite::memory:").contains("`memory`"), "{}", said("sqlite::memory:"));
    assert!(!home.path("repo/:memory:").exists());
    for path in ["/dev/null", "src"] {
        let message = said(&format!("sqlite:{path}"));
        assert!(message.contains("not a regular file"), "{message}");
    }
}

#[test]
fn a_role_in_a_file_is_answered_with_where_it_is_set() {
    let home = Home::new();
    home.write(".config/toolpost/config.toml", "role = \"worker\"\n");
    let said = home.run(&["call", "list"]).stderr;
    assert!(said.contains("--role") && said.contains("TOOLPOST_ROLE"), "{said}");
}

#[test]
fn tools_work_where_nothing_can_be_kept() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let home = Home::new();
    std::fs::create_dir(home.path("data")).unwrap();
    std::fs::set_permissions(home.path("data"), std::fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write everywhere, unless it is without that right.
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let run = |args: &[&str]| {
        let toolpost = env!("CARGO_BIN_EXE_toolpost");
        let powerless = ["--bounding-set=-all", "--inh-caps=-all", toolpost];
        let mut command = match is_root {
            true => home.command_of(Path::new("setpriv"), [&powerless[..], args].concat()),
            false => home.command(args),
        };
        crate::Ran::of(command.output().unwrap())
    };
    let ran = run(&["call", "write", "a.txt", "content=1"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("your data directory cannot be written"), "{}", ran.stderr);
    assert_eq!(run(&["call", "edit", "a.txt", "oldString=1", "newString=2"]).status, 0);
    // The advice works.
    let flags = ["--store", "sqlite:own.db"];
    assert_eq!(run(&[&["call", "write", "a.txt", "content=4"][..], &flags].concat()).status, 0);
    let undone = run(&[&["undo", "--yes"][..], &flags].concat());
    assert_eq!(undone.status, 0, "{}{}", undone.stdout, undone.stderr);
    assert_eq!(std::fs::read_to_string(home.path("repo/a.txt")).unwrap(), "2");
    for args in [&["log"][..], &["tasks"], &["undo"]] {
        let said = run(args).stderr;
        assert!(said.contains("--store"), "{args:?}: {said}");
    }
    assert!(!home.path("data/toolpost").exists());
}

#[test]
fn without_a_home_it_is_said_why_nothing_is_kept() {
    let home = Home::new();
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        Ran::of(command.env_remove("HOME").env_remove("XDG_DATA_HOME").output().unwrap())
    };
    let why = "neither XDG_DATA_HOME nor HOME is an absolute path";
    let ran = run(&["call", "list"]);
    assert!(ran.status == 0 && ran.stderr.contains(why), "{}", ran.stderr);
    let ran = run(&["undo"]);
    assert!(ran.status == 1 && ran.stderr.contains(why), "{}", ran.stderr);
    let ran = home.run(&["log", "--store", "memory"]);
    assert!(ran.stderr.contains("the store `memory` ends with the command"), "{}", ran.stderr);
}

#[test]
fn a_check_makes_no_store() {
    let home = Home::new();
    let store = format!("sqlite:{}", home.path("new/a.db").display());
    assert_eq!(home.run(&["call", "list", "--check", "--store", &store]).status, 0);
    assert!(!home.path("new").exists());
    assert_eq!(home.run(&["call", "list", "--store", &store]).status, 0);
    assert!(home.path("new/a.db").exists());
}
