//! Files of servers that are wrong, odd, hostile or large: each costs its own servers and says so.

use super::{USER, check, servers, shown};
use crate::Home;
use crate::load::stretched;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

#[test]
fn an_entry_that_is_wrong_costs_itself_only() {
    check(
        r#"//- repo/.mcp.json
{"mcpServers": {
  "good": {"command": "g"},
  "list": [],
  "none": {},
  "both": {"command": "x", "url": "https://x.example"},
  "kind": {"type": "ws", "url": "https://x.example"},
  "args": {"command": "x", "args": "y"},
  "env": {"command": "x", "env": {"A": {}}},
  "name": {"command": "x", "env": {"A=B": "1"}},
  "nul": {"command": "x", "args": ["a\u0000b"]},
  "ftp": {"url": "ftp://x.example"},
  "split": {"url": "https://x.example/ y"},
  "header": {"url": "https://x.example", "headers": {"a b": "1"}},
  "on": {"command": "x", "enabled": "yes"},
  "empty": {"command": ""},
  "": {"command": "x"},
  "good": {"command": "last", "extra": 1, "timeout": 0}
}, "more": {}}
"#,
        &[],
        r#"
+ good = last []
- list at .mcp.json:3 cannot be used: it is a list; write a table with `command` or `url`
- none at .mcp.json:4 cannot be used: it has neither `command` nor `url`
- both at .mcp.json:5 cannot be used: it has a command and an address; keep one of them
- kind at .mcp.json:6 cannot be used: its type `ws` is not known; there are stdio and http
- args at .mcp.json:7 cannot be used: `args` holds a text; write a list of texts
- env at .mcp.json:8 cannot be used: `env` holds a table; write a table of texts
- name at .mcp.json:9 cannot be used: `A=B` is not a valid variable name
- nul at .mcp.json:10 cannot be used: a NUL stands in its command, arguments, variables or folder; remove it
- ftp at .mcp.json:11 cannot be used: its address is none of http:// or https://; write the whole address
- split at .mcp.json:12 cannot be used: its address is none of http:// or https://; write the whole address
- header at .mcp.json:13 cannot be used: `a b` is not a valid header name
- on at .mcp.json:14 cannot be used: `enabled` is a text; write true or false
- empty at .mcp.json:15 cannot be used: its `command` is empty; name the program to start
-  at .mcp.json:16 cannot be used: its name is empty, longer than 64 or has control characters; choose another
? .mcp.json:17:31: `extra` means nothing of a server; known are type, command, cwd, enabled, env, headers, url, includeTools, enabled_tools, enabledTools, allowedTools, excludeTools, disabled_tools, disabledTools, disallowedTools, timeout, disabled, tools, args, oauth, headersHelper, alwaysLoad, description
? .mcp.json:17:54: `timeout` is passed over: a time-out is more than 0 and at most one day
? .mcp.json:17:3: `good` stands twice, the first in line 2; the last one holds
"#,
    );
}

#[test]
fn odd_files_are_read_or_refused_with_their_place() {
    let good = "{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}";
    let deep = "[".repeat(5_000);
    let wide: String = (0..300).map(|index| format!("\"s{index}\": {{\"command\": \"x\"}},")).collect();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (format!("\u{feff}{good}").into(), "+ a = a []"),
        (good.replace(' ', "\r\n").into(), "+ a = a []"),
        (format!("// mine\n/* and\nmore */{}", good.replace("}}}", "},},/**/}")).into(), "+ a = a []"),
        (b"".to_vec(), ""),
        (b" \n// nothing\n".to_vec(), ""),
        (b"{}".to_vec(), ""),
        (
            b"{\"mcpServers\": null}".to_vec(),
            "? .cursor/mcp.json:1:16: `mcpServers` is null; write a table of servers",
        ),
        (b"[]".to_vec(), "! .cursor/mcp.json:1:1: the file holds a list; a table is expected"),
        (
            b"{\"mcpServers\":\n  {\"a\": }}".to_vec(),
            "! .cursor/mcp.json:2:9: a value is missing; here is `}`",
        ),
        (
            b"{\"\xc3\xa4\": 1, \xff}".to_vec(),
            "! .cursor/mcp.json:1:10: the byte 0xff is not valid UTF-8; save the file as UTF-8",
        ),
        (b"\xff\xfe{\0}\0".to_vec(), "! .cursor/mcp.json:1:1: the file is UTF-16; save it as UTF-8"),
        (
            format!("{{\"a\": {deep}").into(),
            "! .cursor/mcp.json:1:134: more than 128 values inside of each other; nest less deeply",
        ),
        (
            vec![b' '; 2 << 20],
            "! .cursor/mcp.json: has 2097152 bytes; at most 1048576 are read, split or shorten it",
        ),
        (format!("{{\"mcpServers\": {{{wide}}}}}").into(), "200 usable"),
    ];
    let home = Home::new();
    home.write(USER, "mcpFrom = ['cursor']\n");
    for (bytes, expected) in cases {
        home.write("repo/.cursor/mcp.json", &bytes);
        home.run(&["trust", "--yes"]);
        let start = Instant::now();
        let found = servers(&home, &[]);
        assert!(start.elapsed() < stretched(Duration::from_secs(10)), "{expected}");
        match expected.strip_suffix(" usable") {
            Some(count) => assert_eq!(found.usable.len().to_string(), count),
            None => assert_eq!(shown(&home, &found), expected),
        }
        // Only what is broken is called so.
        let status = home.run(&["doctor", "--all"]).status;
        assert_eq!(status, i32::from(expected.starts_with('!')), "{expected}");
    }
}

#[test]
fn what_is_no_plain_file_is_not_read() {
    let good = "{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}";
    let home = Home::new();
    home.write(USER, "mcpFrom = ['cursor']\n");
    home.write("elsewhere.json", good);
    home.write("repo/inside.json", good);
    let check = |name: &str, make: &dyn Fn(&std::path::Path), expected: &str| {
        let path = home.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        make(&path);
        home.run(&["trust", "--yes"]);
        let shown = shown(&home, &servers(&home, &[]));
        assert!(
            shown.contains(expected) && (expected.is_empty() || !shown.contains('\n')),
            "{name}: {shown}"
        );
        match path.is_dir() && !path.is_symlink() {
            true => std::fs::remove_dir(&path).unwrap(),
            false => std::fs::remove_file(&path).unwrap(),
        }
    };
    let fifo = |path: &std::path::Path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap();
    for project in ["repo/.mcp.json", "repo/.cursor/mcp.json"] {
        let shown = project.trim_start_matches("repo/");
        check(
            project,
            &|path| symlink(home.path("elsewhere.json"), path).unwrap(),
            &format!("! {shown}: is a link that leads out of the workspace"),
        );
        check(
            project,
            &|path| symlink(home.path("repo/inside.json"), path).unwrap(),
            &format!("! {shown}: is a link to `inside.json`"),
        );
        check(project, &fifo, &format!("! {shown}: "));
        check(project, &|path| std::fs::create_dir(path).unwrap(), &format!("! {shown}: "));
    }
    check(
        ".cursor/mcp.json",
        &fifo,
        "! ~/.cursor/mcp.json: is a named pipe (FIFO); put a regular file there",
    );
    check(
        ".cursor/mcp.json",
        &|path| std::fs::create_dir(path).unwrap(),
        "! ~/.cursor/mcp.json: is a folder",
    );
    // A user's own link is followed; a file that others may change is not believed.
    check(".cursor/mcp.json", &|path| symlink(home.path("elsewhere.json"), path).unwrap(), "+ a = a []");
    for (mode, expected) in [
        (0o666, "! ~/.cursor/mcp.json: can be changed by everybody, so none of its servers is started"),
        (0o664, "+ a = a []\n? ~/.cursor/mcp.json: its group can change it"),
    ] {
        home.write(".cursor/mcp.json", good);
        std::fs::set_permissions(home.path(".cursor/mcp.json"), PermissionsExt::from_mode(mode)).unwrap();
        let shown = shown(&home, &servers(&home, &[]));
        assert!(shown.starts_with(expected), "{mode:o}: {shown}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_said_to_be_so() {
    // Nobody but root opens a file of mode 0, so the command runs as somebody else.
    let home = Home::new();
    home.write(USER, "mcpFrom = ['cursor']\n[mcpServers.mine]\ncommand = 'mine'\n");
    let set = |name: &str, mode| {
        std::fs::set_permissions(home.path(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    set("", 0o755);
    for file in [".cursor/mcp.json", "repo/.cursor/mcp.json", "repo/.mcp.json"] {
        home.write(file, "{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}");
        set(file, 0o000);
    }
    let mut command = home.command(["doctor", "--all"]);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    let page = crate::Ran::of(command.output().unwrap()).stdout;
    for words in ["broken mine (stdio, ", "\n  broken .mcp.json: ", "\n  broken .cursor/mcp.json: "] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let user = home.path(".cursor/mcp.json").display().to_string();
    assert!(page.contains(&format!("broken {user}: cannot be read")), "{page}");
}

#[test]
fn a_large_file_of_another_program_is_read_within_the_limit() {
    let home = Home::new();
    home.write(USER, "mcpFrom = ['claude']\n");
    let line = format!(
        "{{\"display\": \"{}\", \"pastedContents\": {{\"a\": [1, 2.5, null, true]}}}}",
        "word \\n ".repeat(10)
    );
    let history = vec![line; 10 * 1024 * 1024 / 150].join(",\n");
    home.write(
        ".claude.json",
        format!("{{\"history\": [{history}], \"mcpServers\": {{\"a\": {{\"command\": \"a\"}}}}}}"),
    );
    let bytes = std::fs::metadata(home.path(".claude.json")).unwrap().len();
    assert!(bytes > 8 << 20, "{bytes}");
    let start = Instant::now();
    let ran = home.run(&["doctor", "--all"]);
    assert!(ran.stdout.contains("a (stdio, "), "{}", ran.stdout);
    let start_of_read = Instant::now();
    assert_eq!(shown(&home, &servers(&home, &[])), "+ a = a []");
    let took = start_of_read.elapsed();
    println!(
        "measure: guarantee 23: {bytes} bytes of .claude.json read in {} ms, doctor in all {} ms",
        took.as_millis(),
        start.elapsed().as_millis()
    );
    assert!(took < stretched(Duration::from_secs(2)), "{took:?}");
    // More than that is refused.
    home.write(".claude.json", vec![b' '; 33 << 20]);
    assert!(shown(&home, &servers(&home, &[])).contains("at most 33554432 are read"));
}
