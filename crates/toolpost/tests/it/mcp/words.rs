//! What a model reads in each dialect: the list of tools as a reviewed file, and that no text names a tool or an argument
//! that the dialect does not offer.

use super::Connection;
use crate::Home;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const DIALECTS: [&str; 5] = ["toolpost", "long", "claude", "gemini", "codex"];

/// The tools by their own names, then as each dialect calls them; `-` where it has none.
const TOOLS: [[&str; 5]; 14] = [
    ["read", "read_file", "Read", "read_file", "read_file"],
    ["write", "write_file", "Write", "write_file", "-"],
    ["edit", "edit_file", "Edit", "replace", "-"],
    ["apply_patch", "apply_patch", "-", "-", "apply_patch"],
    ["delete", "delete_file", "Delete", "delete_file", "-"],
    ["list", "list_directory", "LS", "list_directory", "list_dir"],
    ["glob", "glob", "Glob", "glob", "glob"],
    ["grep", "grep", "Grep", "grep_search", "grep_files"],
    ["bash", "run_command", "Bash", "run_shell_command", "exec_command"],
    ["bash_output", "read_command_output", "BashOutput", "bash_output", "write_stdin"],
    ["bash_kill", "stop_command", "KillShell", "bash_kill", "kill_session"],
    ["todowrite", "todo_write", "TodoWrite", "write_todos", "update_plan"],
    ["todoread", "todo_read", "TodoRead", "todoread", "todoread"],
    ["batch", "batch", "batch", "batch", "batch"],
];

/// Arguments that are called otherwise somewhere: the tool, its argument, then as each dialect calls it; `-` where it has
/// none.
const ARGUMENTS: [(&str, [&str; 5]); 41] = [
    ("read", ["filePath", "path", "file_path", "file_path", "path"]),
    ("read", ["offset", "offset", "offset", "start_line", "offset"]),
    ("read", ["limit", "limit", "limit", "-", "limit"]),
    ("read", ["endLine", "-", "-", "end_line", "-"]),
    ("write", ["filePath", "path", "file_path", "file_path", "-"]),
    ("write", ["expectedHash", "expectedHash", "-", "-", "-"]),
    ("edit", ["filePath", "path", "file_path", "file_path", "-"]),
    ("edit", ["oldString", "oldString", "old_string", "old_string", "-"]),
    ("edit", ["newString", "newString", "new_string", "new_string", "-"]),
    ("edit", ["replaceAll", "replaceAll", "replace_all", "allow_multiple", "-"]),
    ("edit", ["edits", "edits", "-", "-", "-"]),
    ("edit", ["expectedHash", "expectedHash", "-", "-", "-"]),
    ("apply_patch", ["patch", "patch", "-", "-", "input"]),
    ("delete", ["filePath", "path", "file_path", "file_path", "-"]),
    ("list", ["path", "path", "path", "dir_path", "dir_path"]),
    ("list", ["ignore", "ignore", "ignore", "ignore", "-"]),
    ("list", ["depth", "depth", "-", "-", "depth"]),
    ("list", ["limit", "limit", "-", "-", "limit"]),
    ("glob", ["path", "path", "path", "dir_path", "path"]),
    ("glob", ["limit", "limit", "-", "-", "limit"]),
    ("grep", ["path", "path", "path", "dir_path", "path"]),
    ("grep", ["include", "include", "glob", "include_pattern", "include"]),
    ("grep", ["excludePattern", "-", "-", "exclude_pattern", "-"]),
    ("grep", ["type", "-", "type", "-", "-"]),
    ("grep", ["before", "-", "-B", "before", "-"]),
    ("grep", ["after", "-", "-A", "after", "-"]),
    ("grep", ["context", "context", "-C", "context", "-"]),
    ("grep", ["limit", "limit", "head_limit", "total_max_matches", "limit"]),
    ("grep", ["multiline", "multiline", "multiline", "-", "-"]),
    ("grep", ["literal", "literal", "-", "fixed_strings", "-"]),
    ("bash", ["command", "command", "command", "command", "cmd"]),
    ("bash", ["description", "description", "description", "description", "-"]),
    ("bash", ["timeout", "timeout", "timeout", "-", "-"]),
    ("bash", ["workdir", "workdir", "-", "dir_path", "workdir"]),
    ("bash", ["background", "background", "run_in_background", "is_background", "-"]),
    ("bash", ["yieldAfter", "-", "-", "-", "yield_time_ms"]),
    ("bash", ["stdin", "stdin", "-", "-", "-"]),
    ("bash_output", ["id", "id", "bash_id", "id", "session_id"]),
    ("bash_output", ["wait", "wait", "-", "wait", "yield_time_ms"]),
    ("bash_kill", ["id", "id", "shell_id", "id", "session_id"]),
    ("todowrite", ["todos", "todos", "todos", "todos", "plan"]),
];

/// Names that are also words of plain English; they count only where they are written as a name.
const ENGLISH: [&str; 66] = [
    "symbol",
    "query",
    "language",
    "focus",
    "column",
    "file",
    "line",
    "format",
    "kind",
    "level",
    "read",
    "write",
    "edit",
    "delete",
    "list",
    "glob",
    "grep",
    "bash",
    "batch",
    "replace",
    "Read",
    "Write",
    "Edit",
    "Delete",
    "LS",
    "Glob",
    "Grep",
    "Bash",
    "path",
    "offset",
    "limit",
    "content",
    "edits",
    "patch",
    "input",
    "recursive",
    "ignore",
    "depth",
    "hidden",
    "pattern",
    "include",
    "type",
    "context",
    "before",
    "after",
    "literal",
    "multiline",
    "mode",
    "command",
    "description",
    "timeout",
    "background",
    "stdin",
    "id",
    "wait",
    "force",
    "calls",
    "args",
    "tool",
    "chars",
    "cmd",
    "todos",
    "status",
    "priority",
    "plan",
    "step",
];

/// Words after which a name is one even without a sign around it.
const VERBS: [&str; 5] = ["set", "raise", "pass", "narrow", "lower"];

fn place(dialect: &str) -> usize {
    DIALECTS.iter().position(|one| *one == dialect).unwrap()
}

/// The name of a tool in a dialect.
fn tool(dialect: &str, canonical: &str) -> Option<&'static str> {
    let row = TOOLS.iter().find(|row| row[0] == canonical).unwrap();
    Some(row[place(dialect)]).filter(|name| *name != "-")
}

/// Canonical arguments in a dialect; those that it does not have are left out.
fn arguments(dialect: &str, canonical: &str, arguments: Value) -> Value {
    let Value::Object(map) = arguments else { return arguments };
    let mut spelled = Map::new();
    for (name, value) in map {
        let row = ARGUMENTS.iter().find(|(tool, row)| *tool == canonical && row[0] == name);
        match row.map_or(name.as_str(), |(_, row)| row[place(dialect)]) {
            "-" => {}
            theirs => {
                spelled.insert(theirs.to_owned(), value);
            }
        }
    }
    Value::Object(spelled)
}

/// A repository with a little of everything.
fn home() -> Home {
    let home = Home::new();
    let lines = |count: usize| (1..=count).map(|line| format!("line {line}\n")).collect::<String>();
    home.write("repo/a.txt", "one\ntwo\nthree\n");
    home.write("repo/long.txt", lines(3_000));
    home.write("repo/code.py", "def main():\n    if True:\n        total = 1\n    total = 1\n");
    home.write("repo/blob.bin", [0, 159, 146, 150, 0, 1]);
    home.write("repo/many/x/1.log", "x\n");
    for number in 0..30 {
        home.write(&format!("repo/many/{number}.md"), "needle\nneedle\n");
    }
    std::fs::create_dir_all(home.path("repo/empty")).unwrap();
    home.write("repo/.github/workflows/ci.yml", "on: push\n");
    home
}

fn listed(dialect: &str, policy: &str) -> Value {
    let home = home();
    let flags = ["--dialect", dialect, "--policy", policy];
    let mut connection = Connection::legacy(&home, &flags, "2025-11-25", json!({}));
    let mut answer = connection.ask(1, "tools/list", json!({}));
    answer["result"]["tools"].take()
}

#[test]
fn the_list_of_every_dialect_is_the_reviewed_one() {
    for dialect in DIALECTS {
        let listed = listed(dialect, "privileged");
        assert!(
            !listed.to_string().contains("/repo"),
            "the path of the workspace is in the instructions alone"
        );
        let text = format!("{}\n", serde_json::to_string_pretty(&listed).unwrap());
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/mcp/lists/{dialect}.json"));
        if std::env::var_os("TOOLPOST_LISTS").is_some_and(|value| value == "write") {
            std::fs::write(&file, &text).unwrap();
        }
        let reviewed = std::fs::read_to_string(&file).unwrap_or_default();
        let differs = text.lines().zip(reviewed.lines()).find(|(now, before)| now != before);
        assert!(
            text == reviewed,
            "{dialect}: {differs:?}; read the change as a model would, then set TOOLPOST_LISTS=write to accept it"
        );
    }
}

/// Tools and arguments that a dialect offers.
struct Offered {
    dialect: &'static str,
    tools: BTreeMap<String, BTreeSet<String>>,
    /// Every name of any dialect that this one does not offer.
    foreign: BTreeSet<String>,
}

fn names_of(schema: &Value, names: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name.clone());
        names_of(&property["items"], names);
    }
}

fn offered() -> Vec<Offered> {
    let all = DIALECTS.map(|dialect| {
        let listed = listed(dialect, "privileged");
        let tools = listed.as_array().unwrap().iter().map(|tool| {
            let mut names = BTreeSet::new();
            names_of(&tool["inputSchema"], &mut names);
            (tool["name"].as_str().unwrap().to_owned(), names)
        });
        (dialect, tools.collect::<BTreeMap<_, _>>())
    });
    let mut vocabulary: BTreeSet<String> =
        ["view_image", "endLine", "yieldAfter", "excludePattern", "lineNumbers"].map(String::from).into();
    for (_, tools) in &all {
        vocabulary.extend(tools.keys().cloned());
        vocabulary.extend(tools.values().flatten().cloned());
    }
    let offered = |(dialect, tools): (&'static str, BTreeMap<String, BTreeSet<String>>)| {
        let own = |name: &String| tools.contains_key(name);
        let foreign = vocabulary.iter().filter(|name| !own(name)).cloned().collect();
        Offered { dialect, tools, foreign }
    };
    all.into_iter().map(offered).collect()
}

/// The words of a text with what stands around each: the word before it, and the signs at both sides.
fn words(text: &str) -> Vec<(Option<&str>, char, &str, char)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut found: Vec<(Option<&str>, char, &str, char)> = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(is_part).map(|at| at + rest) {
        let end = text[start..].find(|letter| !is_part(letter)).map_or(text.len(), |at| at + start);
        let before = text[..start].chars().next_back().unwrap_or(' ');
        let after = text[end..].chars().next().unwrap_or(' ');
        let previous = found.last().map(|(_, _, word, _)| *word);
        found.push((previous, before, &text[start..end], after));
        rest = end;
    }
    found
}

impl Offered {
    /// The names in a text that the dialect does not offer. `allowed` are arguments that may be spoken of.
    fn strangers(&self, text: &str, allowed: &BTreeSet<String>) -> Vec<String> {
        let all = words(text);
        let mut strangers = Vec::new();
        for (previous, before, word, after) in all {
            let is_name = match ENGLISH.contains(&word) {
                false => before != '/' && before != '.' && after != '/',
                true => {
                    (before == '`' && after == '`')
                        || (after == '=' && !matches!(before, '"' | '-' | '$'))
                        || previous.is_some_and(|verb| VERBS.contains(&verb)) && !matches!(after, '\'')
                }
            };
            if is_name && self.foreign.contains(word) && !allowed.contains(word) {
                strangers.push(word.to_owned());
            }
        }
        strangers
    }

    /// What is wrong with the text that a call gave, if anything is.
    fn check(&self, call: &str, tool: &str, given: &Value, text: &str) -> Option<String> {
        let mut allowed: BTreeSet<String> = self.tools.get(tool).cloned().unwrap_or_default();
        // What the caller has written may be repeated.
        let mut echoed = vec![given];
        while let Some(value) = echoed.pop() {
            match value {
                Value::Object(map) => {
                    allowed.extend(map.keys().cloned());
                    echoed.extend(map.values());
                }
                Value::Array(items) => echoed.extend(items),
                Value::String(text) => {
                    allowed.extend(words(text).into_iter().map(|(_, _, word, _)| word.to_owned()));
                }
                _ => {}
            }
        }
        allowed.insert(tool.to_owned());
        // Another tool may be named with its arguments.
        for (name, arguments) in &self.tools {
            if words(text).iter().any(|(_, _, word, _)| word == name) {
                allowed.extend(arguments.iter().cloned());
            }
        }
        let strangers = self.strangers(text, &allowed);
        (!strangers.is_empty()).then(|| format!("{}, {call}: {strangers:?} in\n{text}\n", self.dialect))
    }
}

/// Calls of every tool that work and that fail, in canonical names.
fn calls() -> Vec<(&'static str, Value)> {
    let read = |value: Value| ("read", value);
    let edit =
        |old: &str, new: &str| ("edit", json!({"filePath": "a.txt", "oldString": old, "newString": new}));
    let bash = |command: &str| ("bash", json!({"command": command}));
    let patch = |text: &str| ("apply_patch", json!({"patch": text}));
    let grep = |value: Value| ("grep", value);
    vec![
        read(json!({"filePath": "a.txt"})),
        read(json!({"filePath": "long.txt"})),
        read(json!({"filePath": "long.txt", "offset": 5, "limit": 2})),
        read(json!({"filePath": "long.txt", "offset": 10, "endLine": 12})),
        read(json!({"filePath": "long.txt", "offset": 10, "endLine": 2})),
        read(json!({"filePath": "a.txt", "offset": 9_999})),
        read(json!({"filePath": "a.txt", "offset": "2"})),
        read(json!({"filePath": "a.txt", "offset": -1})),
        read(json!({"filePath": "a.txt", "offset": "many"})),
        read(json!({"filePath": "a.txt", "limit": 0})),
        read(json!({"filePath": "a.txt", "limit": null})),
        read(json!({"filePath": "a.text"})),
        read(json!({"filePath": "many", "limit": 3})),
        read(json!({"filePath": "many", "offset": 900})),
        read(json!({"filePath": "blob.bin"})),
        read(json!({"filePath": "/etc/passwd"})),
        read(json!({"filePath": "spill:nothing"})),
        read(json!({"filePath": true})),
        read(json!({"filePath": "a.txt", "nonsense": 1})),
        read(json!({"filePath": "a.txt", "ofset": 1})),
        read(json!({})),
        ("write", json!({"filePath": "new/file.txt", "content": "x\n"})),
        ("write", json!({"filePath": "new/file.txt", "content": "x\n"})),
        ("write", json!({"filePath": "a.py", "content": "def f():\n    # rest of the code\n"})),
        (
            "write",
            json!({"filePath": "code.py", "content": "def f():\n    # ... rest of the code unchanged ...\n"}),
        ),
        ("write", json!({"filePath": "many", "content": "x"})),
        ("write", json!({"filePath": "../out.txt", "content": "x"})),
        ("write", json!({"filePath": ".github/workflows/ci.yml", "content": "x"})),
        ("write", json!({"filePath": ".git/config", "content": "x"})),
        ("write", json!({"filePath": "a.txt", "content": "y", "expectedHash": "0"})),
        ("write", json!({"filePath": "none.txt", "content": "y", "expectedHash": "0"})),
        ("write", json!({"filePath": "a.txt"})),
        ("write", json!({"content": ["x"], "filePath": "a.txt"})),
        edit("two", "2"),
        edit("2", "two"),
        edit("four", "4"),
        edit("e", "E"),
        edit("one", "one"),
        edit("", "new"),
        edit("two\n  three", "2\n3"),
        edit("x", "two"),
        edit("1: one\n2: two", "1: one\n2"),
        ("edit", json!({"filePath": "a.txt", "oldString": "one"})),
        ("edit", json!({"filePath": "a.txt", "newString": "one"})),
        ("edit", json!({"filePath": "a.txt"})),
        ("edit", json!({"filePath": "a.txt", "oldString": "e", "newString": "e", "replaceAll": true})),
        ("edit", json!({"filePath": "a.txt", "oldString": "zz", "newString": "e", "replaceAll": true})),
        ("edit", json!({"filePath": "a.txt", "oldString": "zz", "newString": "e", "replaceAll": "yes"})),
        ("edit", json!({"filePath": "none.txt", "oldString": "zz", "newString": "e"})),
        ("edit", json!({"filePath": "a.txt", "edits": []})),
        ("edit", json!({"filePath": "a.txt", "edits": [{"oldString": "a"}]})),
        ("edit", json!({"filePath": "code.py", "oldString": "total = 1", "newString": "total = 2"})),
        (
            "edit",
            json!({"filePath": "code.py", "oldString": "if True:\n  total = 1", "newString": "if False:\n   total = 2"}),
        ),
        (
            "edit",
            json!({"filePath": "code.py", "oldString": "if True:\n\ttotal = 1\n", "newString": "if False:\n      total = 3\n\t  x\n"}),
        ),
        (
            "edit",
            json!({"filePath": "code.py", "oldString": "def main():\n    if True:", "newString": "# rest of the code"}),
        ),
        patch("*** Begin Patch\n*** Add File: p.txt\n+x\n*** End Patch\n"),
        patch("*** Begin Patch\n*** Update File: p.txt\n@@\n-y\n+z\n*** End Patch\n"),
        patch("*** Begin Patch\n*** Update File: none.txt\n@@\n-y\n+z\n*** End Patch\n"),
        patch("*** Begin Patch\n*** Delete File: none.txt\n*** End Patch\n"),
        patch("*** Begin Patch\n*** Update File: a.txt\n@@ nowhere\n-one\n+1\n*** End Patch\n"),
        patch("*** Begin Patch\n*** Nonsense\n*** End Patch\n"),
        patch("--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-nothing\n+1\n"),
        patch("x"),
        patch(""),
        ("apply_patch", json!({})),
        ("delete", json!({"filePath": "new/file.txt"})),
        ("delete", json!({"filePath": "many"})),
        ("delete", json!({"filePath": "many", "recursive": true})),
        ("delete", json!({"filePath": "none.txt"})),
        ("delete", json!({"filePath": ".git"})),
        ("delete", json!({"filePath": "."})),
        ("delete", json!({"filePath": ".github/workflows/ci.yml"})),
        ("delete", json!({})),
        ("list", json!({})),
        ("list", json!({"path": "empty"})),
        ("list", json!({"path": "many", "limit": 2})),
        ("list", json!({"path": "many", "depth": 1, "ignore": ["*.md"]})),
        ("list", json!({"path": "a.txt"})),
        ("list", json!({"path": "none"})),
        ("list", json!({"path": true})),
        ("list", json!({"recursive": true})),
        ("glob", json!({"pattern": "*.md"})),
        ("glob", json!({"pattern": "*.md", "limit": 2})),
        ("glob", json!({"pattern": "*.nothing"})),
        ("glob", json!({"pattern": "{a"})),
        ("glob", json!({"pattern": ""})),
        ("glob", json!({"pattern": "x", "path": "none"})),
        ("glob", json!({})),
        grep(json!({"pattern": "needle"})),
        grep(json!({"pattern": "needle", "limit": 2})),
        grep(json!({"pattern": "nothing at all"})),
        grep(json!({"pattern": "("})),
        grep(json!({"pattern": "one(?!two)"})),
        grep(json!({"pattern": "(a)\\1"})),
        grep(json!({"pattern": "one\ntwo"})),
        grep(json!({"pattern": "one\ntwo", "literal": true})),
        grep(json!({"pattern": "one\\ntwo", "multiline": true})),
        grep(json!({"pattern": "a{1000}{1000}"})),
        grep(json!({"pattern": "x", "include": "{a"})),
        grep(json!({"pattern": "x", "include": "*.md,!*.txt"})),
        grep(json!({"pattern": "x", "path": "blob.bin"})),
        grep(json!({"pattern": "x", "path": "none"})),
        grep(json!({"pattern": "one", "context": 1, "before": 1, "after": 2})),
        grep(json!({"pattern": "one", "context": 1_000})),
        grep(json!({"pattern": "needle", "excludePattern": "("})),
        grep(json!({"pattern": "needle", "type": "pyton"})),
        grep(json!({"pattern": "needle", "mode": "nonsense"})),
        grep(json!({"pattern": "needle", "mode": "count"})),
        grep(json!({})),
        bash("echo hello"),
        bash("exit 3"),
        bash("no-such-program"),
        bash("seq 1 20000"),
        bash("printf 'Continue? [y/n] '; exit 1"),
        bash("echo 'Could not resolve host: example.org'; exit 6"),
        bash("echo 'Permission denied'; exit 1"),
        bash("sleep 300 & echo started"),
        bash("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit"),
        bash("echo x > /etc/x"),
        bash("echo 'unclosed"),
        bash(""),
        ("bash", json!({"command": "sleep 30", "timeout": 5, "yieldAfter": 5})),
        ("bash", json!({"command": "printf 'Name: '; sleep 30", "timeout": 1_200, "yieldAfter": 5})),
        ("bash", json!({"command": "ls", "workdir": "a.txt"})),
        ("bash", json!({"command": "ls", "workdir": "none"})),
        ("bash", json!({"command": ["bash", "-lc", "echo hello"]})),
        ("bash", json!({"command": "cat", "stdin": "x"})),
        ("bash", json!({"command": "cat", "stdin": 5})),
        ("bash", json!({"command": "sleep 300", "background": true, "yieldAfter": 1})),
        ("bash_output", json!({"id": "bg_1"})),
        ("bash_output", json!({"id": "bg_1", "wait": 1})),
        ("bash_output", json!({"id": "bg_77"})),
        ("bash_output", json!({})),
        ("bash_kill", json!({"id": "bg_1"})),
        ("bash_kill", json!({"id": "bg_77"})),
        ("bash_kill", json!({"id": 1})),
        ("todowrite", json!({"todos": [{"content": "one", "status": "pending"}]})),
        ("todowrite", json!({"todos": [{"id": "1", "content": "one", "status": "done"}]})),
        ("todowrite", json!({"todos": [{"status": "pending"}]})),
        ("todowrite", json!({"todos": "one"})),
        ("todowrite", json!({})),
        ("todoread", json!({})),
        ("todoread", json!({"all": true})),
        ("batch", json!({"calls": []})),
        ("batch", json!({"calls": [{"tool": "batch", "args": {"calls": []}}]})),
        ("batch", json!({"calls": [{"tool": "no-such-tool", "args": {}}]})),
        ("batch", json!({"calls": 1})),
    ]
}

/// Calls by names and with arguments that most dialects do not offer and all understand: the tool, the name, the arguments.
fn by_other_names() -> Vec<(&'static str, &'static str, Value)> {
    let mut calls = Vec::new();
    let names = |canonical: &str| TOOLS.iter().find(|row| row[0] == canonical).unwrap().to_vec();
    let mut add = |canonical: &'static str, further: &[&'static str], given: &[Value]| {
        let mut all: Vec<&'static str> =
            names(canonical).into_iter().chain(further.iter().copied()).collect();
        all.retain(|name| *name != "-");
        all.sort_unstable();
        all.dedup();
        for name in all {
            calls.extend(given.iter().map(|given| (canonical, name, given.clone())));
        }
    };
    add(
        "read",
        &["view", "view_image"],
        &[
            json!({"path": "long.txt", "offset": 10, "limit": 2}),
            json!({"path": "long.txt", "start_line": 10, "end_line": 12}),
            json!({"path": "long.txt", "offset": 0, "limit": 2}),
            json!({"path": "a.txt", "limit": 0}),
            json!({"path": "a.txt", "offset": 9_999}),
        ],
    );
    add(
        "bash",
        &["shell", "execute"],
        &[
            json!({"command": "sleep 30", "timeout": 5}),
            json!({"command": "sleep 30", "timeout": 600}),
            json!({"command": "exit 3", "workdir": "none"}),
            json!({"workdir": "none"}),
        ],
    );
    add("write", &["create_file"], &[json!({"path": "a.txt", "content": "y", "expected_hash": "0"})]);
    add("write", &[], &[json!({"path": "none.txt", "content": "y", "expected_hash": "0"})]);
    add(
        "edit",
        &["str_replace"],
        &[json!({"path": "a.txt", "old_string": "one", "new_string": "1", "expected_hash": "0"})],
    );
    add(
        "grep",
        &[],
        &[
            json!({"pattern": "nothing at all"}),
            json!({"pattern": "needle", "-n": false}),
            json!({"pattern": "needle", "limit": 0}),
        ],
    );
    calls
}

fn said(answer: &Value) -> String {
    let blocks = answer["result"]["content"].as_array().into_iter().flatten();
    let mut text: String = blocks.filter_map(|block| block["text"].as_str()).collect();
    text.push_str(answer["error"]["message"].as_str().unwrap_or_default());
    assert!(!text.is_empty(), "{answer}");
    text
}

#[test]
fn descriptions_name_what_the_dialect_offers() {
    for offered in offered() {
        let dialect = offered.dialect;
        for tool in listed(dialect, "privileged").as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let own = offered.tools[name].clone();
            let text = tool.to_string();
            let mut descriptions = Vec::new();
            collect(tool, &mut descriptions);
            assert!(!descriptions.is_empty(), "{text}");
            for description in descriptions {
                let strangers = offered.strangers(description, &own);
                assert!(strangers.is_empty(), "{dialect}, {name}: {strangers:?} in {description}");
            }
        }
        let home = home();
        let mut connection = Connection::open(&home, &["--dialect", dialect, "--policy", "privileged"]);
        let answer =
            connection.ask(0, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
        let instructions = answer["result"]["instructions"].as_str().unwrap();
        let mut own = BTreeSet::new();
        own.extend(offered.tools[tool(dialect, "read").unwrap()].clone());
        assert_eq!(offered.strangers(instructions, &own), [""; 0], "{dialect}: {instructions}");
        assert!(
            instructions.contains(&format!("`{}` with ", tool(dialect, "read").unwrap())),
            "{instructions}"
        );
    }
}

fn collect<'a>(value: &'a Value, descriptions: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => descriptions.push(text),
                    value => collect(value, descriptions),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, descriptions)),
        _ => {}
    }
}

#[test]
fn no_result_names_what_the_dialect_does_not_offer() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for offered in offered() {
        let dialect = offered.dialect;
        for policy in ["privileged", "standard", "read-only"] {
            let home = home();
            let flags = ["--dialect", dialect, "--policy", policy];
            let mut connection = Connection::legacy(&home, &flags, "2025-11-25", json!({}));
            for (index, (canonical, given)) in calls().into_iter().enumerate() {
                let Some(name) = tool(dialect, canonical) else { continue };
                // Under the narrower policies a few calls of each tool are enough.
                if policy != "privileged" && index % 5 != 0 {
                    continue;
                }
                let is_timed = given.get("timeout").is_some();
                let given = arguments(dialect, canonical, given);
                // Without an argument for it, a command has all its time.
                if is_timed && given.get("timeout").is_none() && given.get("yield_time_ms").is_none() {
                    continue;
                }
                let answer = connection.call(index, name, given.clone());
                let call = format!("{policy}: {name} {given}");
                wrong.extend(offered.check(&call, name, &given, &said(&answer)));
                checked += 1;
            }
            let read = tool(dialect, "read").unwrap();
            let file = arguments(dialect, "read", json!({"filePath": "a.txt"}));
            let none = arguments(dialect, "read", json!({"filePath": "none.txt"}));
            let calls = json!({"calls": [{"tool": read, "args": file}, {"tool": read, "args": none}]});
            let answer = connection.call("batch", "batch", calls.clone());
            wrong.extend(offered.check("batch", "batch", &calls, &said(&answer)));
            for (index, (canonical, name, given)) in by_other_names().into_iter().enumerate() {
                // A tool that the dialect does not offer has no name there that a text could use.
                let Some(here) = tool(dialect, canonical) else { continue };
                let answer = connection.call(format!("other {index}"), name, given.clone());
                let call = format!("{policy}: {name} {given}");
                wrong.extend(offered.check(&call, here, &json!([given, name]), &said(&answer)));
                checked += 1;
            }
            for name in ["reed", "nonsense", "no-such-tool-anywhere", "Bashh", "lst"] {
                let answer = connection.call(name, name, json!({}));
                wrong.extend(offered.check(name, name, &json!({}), &said(&answer)));
                checked += 1;
            }
        }
    }
    println!("{checked} texts");
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 600, "{checked}");
}

#[test]
fn a_wrong_name_in_a_text_is_found() {
    let all = offered();
    let claude = all.iter().find(|one| one.dialect == "claude").unwrap();
    let own = &claude.tools["Read"];
    for (text, expected) in [
        ("go on with offset=3", vec![]),
        ("oldString is not there", vec!["oldString"]),
        ("end it with `bash_kill`", vec!["bash_kill"]),
        ("bash_output id=bg_1 shows it", vec!["bash_output", "id"]),
        ("set hidden", vec!["hidden"]),
        ("the file could not be read", vec![]),
        ("`read` it again", vec!["read"]),
        ("raise depth, or not", vec!["depth"]),
    ] {
        assert_eq!(claude.strangers(text, own), expected, "{text}");
    }
}

/// Where the reviewed lists are.
#[test]
fn there_is_a_reviewed_list_for_every_dialect_and_no_other() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/lists");
    let found =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let expected: BTreeSet<String> = DIALECTS.iter().map(|dialect| format!("{dialect}.json")).collect();
    assert_eq!(found.collect::<BTreeSet<_>>(), expected);
}
