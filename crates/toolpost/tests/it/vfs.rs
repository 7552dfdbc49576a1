//! Virtual files from the command line: `toolpost vfs`, the tools, and the workspace that is made of them.

use crate::{Home, Ran};
use serde_json::json;
use std::os::unix::fs::symlink;

fn put(home: &Home, path: &str, content: &str) {
    let (status, outcome) = home.json(&[
        "call",
        "vfs_write",
        &json!({"path": path, "content": content}).to_string(),
        "--allow-rule",
        &format!("vfs_write: {path}"),
    ]);
    assert_eq!(status, 0, "{outcome}");
}

#[track_caller]
fn fails(ran: &Ran, code: &str, says: &str) {
    // What is not there is a bad invocation, as for every command.
    let status = if matches!(code, "FILE_NOT_FOUND" | "NOT_A_FILE") { 2 } else { 1 };
    assert_eq!(ran.status, status, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(code) && ran.stderr.contains(says), "{}", ran.stderr);
}

#[test]
fn what_agents_write_can_be_seen() {
    let home = Home::new();
    let ran = home.run(&["vfs", "list"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("has no virtual file"), "{}", ran.stderr);
    put(&home, "notes/a.md", "one");
    put(&home, "notes/a.md", "two\n\u{1b}[31m");
    put(&home, "b.md", "b\n");
    let (_, deleted) = home.json(&["call", "vfs_delete", "path=b.md"]);
    assert_eq!(deleted["data"]["version"], 2);

    let (_, listed) = home.json(&["vfs", "list"]);
    assert_eq!(listed["files"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(
        (&listed["files"][0]["path"], &listed["files"][0]["version"]),
        (&json!("notes/a.md"), &json!(2))
    );
    let page = home.run(&["vfs", "list", "notes/"]).stdout;
    assert!(
        page.starts_with(
            "path        version        size  changed (UTC)\nnotes/a.md        2         9 B  20"
        ),
        "{page}"
    );
    assert_eq!(home.run(&["vfs", "list", "other"]).stdout, "");

    assert_eq!(
        home.run(&["vfs", "show", "notes/a.md"]).stdout,
        "two\n\u{1b}[31m",
        "a program gets every byte"
    );
    assert_eq!(home.run(&["vfs", "show", "notes/a.md", "--version", "1"]).stdout, "one");
    let (_, shown) = home.json(&["vfs", "show", "b.md", "--version", "1"]);
    assert_eq!((&shown["content"], &shown["version"], &shown["size"]), (&json!("b\n"), &json!(1), &json!(2)));
    fails(&home.run(&["vfs", "show", "b.md"]), "FILE_NOT_FOUND", "has no virtual file `b.md`");
    fails(&home.run(&["vfs", "show", "notes/b.md"]), "FILE_NOT_FOUND", "nearest: `notes/a.md`");
    fails(
        &home.run(&["vfs", "show", "notes/a.md", "--version", "7"]),
        "FILE_NOT_FOUND",
        "vfs history notes/a.md",
    );

    let (_, history) = home.json(&["vfs", "history", "b.md"]);
    let versions = history["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    assert!(versions.iter().all(|version| version["call"].is_string()), "{history}");
    let page = home.run(&["vfs", "history", "b.md"]).stdout;
    assert!(page.contains("deleted") && page.lines().count() == 3, "{page}");

    // Each session has files of its own.
    let ran = home.run(&["call", "vfs_write", "path=c.md", "content=x", "--session", "other"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let (_, listed) = home.json(&["vfs", "list", "--session", "other"]);
    assert_eq!((&listed["session"], &listed["files"][0]["path"]), (&json!("other"), &json!("c.md")));
}

#[test]
fn files_go_to_a_folder_and_come_from_one() {
    let home = Home::new();
    home.write("from/a.md", "a");
    home.write("from/deep/b.bin", b"\x00\xff");
    home.write("from/.git/config", "not taken");
    home.write("secret", "not taken");
    symlink(home.path("secret"), home.path("from/link")).unwrap();
    symlink(home.path(""), home.path("from/folder")).unwrap();
    let (from, to) = (home.path("from"), home.path("to/new"));
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());

    let (_, imported) = home.json(&["vfs", "import", from, "--as", "in/"]);
    assert_eq!(
        (&imported["files"], &imported["written"], &imported["leftOut"]),
        (&json!(2), &json!(2), &json!(3))
    );
    let ran = home.run(&["vfs", "import", from, "--as", "in"]);
    assert!(
        ran.stdout.starts_with("0 files written") && ran.stdout.contains("2 were there already"),
        "{}",
        ran.stdout
    );
    // From the folder that the command stands in.
    assert_eq!(home.run(&["vfs", "import", "README.md"]).status, 0);
    assert_eq!(home.run(&["vfs", "import", "src/main.rs", "--as", "main"]).status, 0);
    let (_, listed) = home.json(&["vfs", "list"]);
    let paths: Vec<&str> =
        listed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["README.md", "in/a.md", "in/deep/b.bin", "main"]);
    fails(&home.run(&["vfs", "show", "in/deep/b.bin"]), "IS_BINARY", "vfs export");
    fails(&home.run(&["vfs", "import", "none"]), "FILE_NOT_FOUND", "none");
    fails(&home.run(&["vfs", "import", "src/main.rs", "--as", "in"]), "NOT_A_FILE", "`in` is a folder");

    let (_, exported) = home.json(&["vfs", "export", to]);
    assert_eq!((&exported["files"], &exported["written"]), (&json!(4), &json!(4)));
    assert_eq!(std::fs::read(home.path("to/new/in/deep/b.bin")).unwrap(), b"\x00\xff");
    let ran = home.run(&["vfs", "export", to]);
    assert!(
        ran.stdout.starts_with("0 files written") && ran.stdout.contains("4 were there already"),
        "{}",
        ran.stdout
    );
    // What is there with another content stays, and nothing else is written.
    home.write("to/new/main", "mine");
    std::fs::remove_file(home.path("to/new/README.md")).unwrap();
    fails(&home.run(&["vfs", "export", to]), "WRITE_ERROR", "`main` is there already");
    assert!(!home.path("to/new/README.md").exists());
    assert_eq!(std::fs::read_to_string(home.path("to/new/main")).unwrap(), "mine");
    let (_, exported) = home.json(&["vfs", "export", to, "--force"]);
    assert_eq!(exported["written"], 2);
    assert_eq!(std::fs::read_to_string(home.path("to/new/main")).unwrap(), "fn main() {}\n");
}

#[test]
fn nothing_is_exported_through_a_link() {
    let home = Home::new();
    put(&home, "a.md", "new");
    put(&home, "deep/b.md", "new");
    let links = [
        ("to-file", "a.md", "inside.md"),
        ("to-outside", "a.md", "../outside"),
        ("to-folder", "deep", "real"),
    ];
    for (folder, link, target) in links {
        home.write(&format!("{folder}/inside.md"), "old");
        home.write("outside", "old");
        std::fs::create_dir_all(home.path(&format!("{folder}/real"))).unwrap();
        symlink(target, home.path(&format!("{folder}/{link}"))).unwrap();
        let to = home.path(folder);
        let ran = home.run(&["vfs", "export", to.to_str().unwrap(), "--force"]);
        fails(&ran, "WRITE_ERROR", &format!("`{link}` is a link to `{target}`"));
        assert_eq!(std::fs::read_to_string(home.path(&format!("{folder}/inside.md"))).unwrap(), "old");
        assert_eq!(std::fs::read_to_string(home.path("outside")).unwrap(), "old");
        assert_eq!(std::fs::read_dir(home.path(&format!("{folder}/real"))).unwrap().count(), 0);
    }
}

#[test]
fn file_tools_act_on_the_files_of_a_session() {
    let home = Home::new();
    let call = |args: &[&str]| home.run(&[&["call"], args, &["--workspace", "vfs:shared"]].concat());
    let ran = call(&["write", "filePath=src/a.rs", "content=fn one() {}\n"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(call(&["edit", "filePath=src/a.rs", "oldString=one", "newString=two"]).status, 0);
    assert!(call(&["read", "filePath=src/a.rs"]).stdout.starts_with("1: fn two() {}"));
    assert!(call(&["grep", "pattern=two"]).stdout.contains("src/a.rs"));
    assert_eq!(call(&["glob", "pattern=**/*.rs"]).stdout, "src/a.rs\n");
    let ran = call(&["read", "filePath=README.md"]);
    assert!(
        ran.status == 1 && ran.stderr.contains("FILE_NOT_FOUND"),
        "files on disk are not seen: {}",
        ran.stderr
    );
    let ran = call(&["bash", "command=ls", "--allow", "exec"]);
    assert!(ran.status == 1 && ran.stderr.contains("commands need a workspace on disk"), "{}", ran.stderr);
    // They are the files that the tools of the session see, and nothing is on disk.
    let ran = home.run(&["call", "vfs_read", "path=src/a.rs", "--session", "shared"]);
    assert!(ran.stdout.starts_with("1: fn two() {}\n(version 2)"), "{}", ran.stdout);
    assert!(!home.path("repo/src/a.rs").exists());
    let ran = home.run(&["call", "write", "filePath=own", "content=x", "--workspace", "vfs:"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(home.run(&["vfs", "show", "own"]).stdout, "x");
    let ran = home.run(&["call", "list", "--workspace", "vfs:a", "--workspace", "src"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("cannot be combined with another workspace"),
        "{}",
        ran.stderr
    );
    let ran = home.run(&["doctor", "--workspace", "vfs:shared"]);
    assert!(ran.stdout.contains("the virtual files of the session `shared`"), "{}", ran.stdout);
}

/// Guarantee 8, for virtual files: separate processes, each line there or its writer refused.
#[test]
fn no_edit_of_several_processes_is_lost() {
    let home = Home::new();
    let edit = |line: &str| {
        let new = format!("newString={line}\nEND");
        home.run(&["call", "edit", "filePath=shared", "oldString=END", &new, "--workspace", "vfs:s"])
    };
    let ran = home.run(&["call", "write", "filePath=shared", "content=END\n", "--workspace", "vfs:s"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let mut made: Vec<String> = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let edit = &edit;
                threads.spawn(move || {
                    let lines = (0..5).map(|number| format!("{writer}.{number}"));
                    let made = lines.filter(|line| {
                        let ran = edit(line);
                        let is_refused = ran.status == 1 && ran.stderr.contains("STALE_FILE");
                        assert!(ran.status == 0 || is_refused, "{}", ran.stderr);
                        ran.status == 0
                    });
                    made.collect::<Vec<String>>()
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let text = home.run(&["vfs", "show", "shared", "--session", "s"]).stdout;
    let mut found: Vec<&str> = text.lines().filter(|line| *line != "END").collect();
    found.sort_unstable();
    made.sort_unstable();
    assert_eq!(found, made);
    assert!(!made.is_empty());
}

#[test]
fn the_packs_that_are_listed_are_chosen() {
    let home = Home::new();
    let tools = |packs: Option<&str>| {
        let mut command = home.command(["tools", "--json"]);
        packs.map(|packs| command.env("TOOLPOST_PACKS", packs));
        let (_, listed) = Ran::of(command.output().unwrap()).json();
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let usual = tools(None);
    assert!(usual.contains(&"read".to_owned()) && usual.contains(&"tool_search".to_owned()), "{usual:?}");
    assert!(!usual.iter().any(|name| name.starts_with("vfs_")), "{usual:?}");
    assert_eq!(
        tools(Some("vfs,search")),
        ["glob", "grep", "vfs_read", "vfs_write", "vfs_list", "vfs_delete"]
    );
    let ran = home.run(&["mcp", "--packs", "filesystem,vsf"]);
    assert!(ran.status == 2 && ran.stderr.contains("no pack `vsf`; nearest: `vfs`"), "{}", ran.stderr);
    let ran = home.run(&["mcp", "--packs", ","]);
    assert!(ran.status == 2 && ran.stderr.contains("no pack is named"), "{}", ran.stderr);
}

#[test]
fn policy_explains_rules_about_virtual_files() {
    let home = Home::new();
    home.write(".config/toolpost/config.toml", "[[rule]]\neffect = \"deny\"\naction = \"vfs_write\"\nresource = \"notes/*\"\nmatch = [\"notes/a.md\"]\nnot_match = [\"a.md\"]\n");
    let ran = home.run(&["call", "vfs_write", "path=notes/a.md", "content=x"]);
    assert_eq!(ran.status, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("vfs_write: notes/*"), "{}", ran.stderr);
    for (about, effect) in [
        ("vfs_write: notes/a.md", "deny"),
        ("vfs_write: other/.env", "allow"),
        ("vfs_read: notes/a.md", "allow"),
    ] {
        let (_, explained) = home.json(&["policy", "explain", about]);
        assert_eq!(explained["effect"], effect, "{about}: {explained}");
    }
}

#[test]
fn vfs_looks_at_the_session_of_the_workspace() {
    let home = Home::new();
    let flags = ["--workspace", "vfs:draft"];
    let written = home.json(&[&["call", "write", "a.md", "content=one"][..], &flags].concat()).1;
    assert_eq!(written["success"], true, "{written}");
    let list = |args: &[&str]| home.run(&[&["vfs", "list"], args].concat()).stdout;
    assert!(list(&flags).contains("a.md"), "{}", list(&flags));
    assert_eq!(list(&flags), list(&["--session", "draft"]));
    // Who has made the change is known.
    let call = written["callId"].as_str().unwrap();
    let history = home.json(&["vfs", "history", "a.md", "--session", "draft"]).1;
    assert_eq!(history["versions"][0]["call"], call, "{history}");
    let log = home.run(&["log", "--session", "draft"]).stdout;
    assert!(log.contains(&format!("{}  file     a.md version 1", &call[call.len() - 6..])), "{log}");
}

#[test]
fn a_single_file_comes_into_a_folder_that_is_named_as_one() {
    let home = Home::new();
    let ran = home.run(&["vfs", "import", "README.md", "--as", "notes/"]);
    assert!(ran.stdout.starts_with("1 file written to"), "{}{}", ran.stdout, ran.stderr);
    let (_, listed) = home.json(&["vfs", "list"]);
    assert_eq!(listed["files"][0]["path"], "notes/README.md");
    let again = home.run(&["vfs", "import", "README.md", "--as", "notes/"]).stdout;
    assert!(again.contains("0 files written") && again.contains("1 was there already"), "{again}");
    assert!(home.run(&["vfs", "export", "out"]).stdout.starts_with("1 file written below"));
}

#[test]
fn protected_files_are_exported_only_where_that_is_said() {
    let home = Home::new();
    for path in [".git/hooks/pre-commit", "deep/.mcp.json", ".github/workflows/x.yml", ".bashrc", "plain.md"]
    {
        put(&home, path, "x");
    }
    let (status, error) = home.json(&["vfs", "export", "."]);
    assert_eq!((status, &error["error"]["code"]), (3, &json!("PROTECTED_FILE")), "{error}");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("4 files") && message.contains("`.git/hooks/pre-commit`"), "{message}");
    assert!(!home.path("repo/plain.md").exists() && !home.path("repo/.git/hooks").exists());
    // Elsewhere too: a name may lead there that the files do not show.
    assert_eq!(home.run(&["vfs", "export", ".."]).status, 3);
    let other = ["--session", "other"];
    assert_eq!(
        home.run(&[&["call", "vfs_write", "path=pre-commit", "content=x"][..], &other].concat()).status,
        0
    );
    assert_eq!(home.run(&[&["vfs", "export", ".git/hooks"][..], &other].concat()).status, 3);
    assert_eq!(home.run(&["vfs", "export", "out", "--protected"]).status, 0);
    assert!(home.path("repo/out/.git/hooks/pre-commit").exists());
}
