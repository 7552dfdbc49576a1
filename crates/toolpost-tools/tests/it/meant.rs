//! What the arguments of the dialects mean is what happens, and whatever is read differently is said in the text.

use super::{call, memory, run};
use crate::bash::{executor, ground, session, standard_and_exec};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::{Call, Context, Memory};
use toolpost_tools::shell;

const FIXTURE: &str = "\
//- long.txt
l1
l2
l3
l4
l5
l6
//- a.ts
one
two needle
three
four needle skip
five
//- b.py
needle
//- c.rs
needle
";

fn in_dialect(dialect: &str) -> Context {
    let dialect = toolpost_tools::dialects().named(dialect).unwrap();
    Context::builder(Arc::new(Memory::from_fixture(FIXTURE))).dialect(dialect).build()
}

/// The text that a model gets, notes included.
fn check(dialect: &str, tool: &str, args: Value, expected: &str) {
    let outcome = call(&in_dialect(dialect), tool, args.clone());
    assert_eq!(outcome.to_text(), expected, "{dialect}: {tool} {args}");
}

#[test]
fn the_last_line_is_the_last_one_shown() {
    let args = json!({"file_path": "long.txt", "start_line": 2, "end_line": 3});
    check("gemini", "read_file", args, "2: l2\n3: l3\n(lines 2–3 of 6; go on with start_line=4)");
    check(
        "gemini",
        "read_file",
        json!({"file_path": "long.txt", "end_line": 1}),
        "1: l1\n(lines 1–1 of 6; go on with start_line=2)",
    );
    check(
        "gemini",
        "read_file",
        json!({"file_path": "long.txt", "start_line": 4, "end_line": 2}),
        "Error: end_line=2 is before start_line=4; the last line must not be before the first",
    );
    // Older versions count from 0.
    check(
        "gemini",
        "read_file",
        json!({"file_path": "long.txt", "offset": 4, "limit": 9}),
        "5: l5\n6: l6\n(note: `offset`: 4 was read as start_line=5, since it counts from 0)",
    );
    // In a session that does not have it, it means the same, and the text says how it was read.
    check(
        "toolpost",
        "read",
        json!({"filePath": "long.txt", "end_line": 1}),
        "1: l1\n(lines 1–1 of 6; go on with offset=2)\n(note: `end_line` was understood, though it is not offered here)",
    );
}

#[test]
fn lines_are_shown_on_the_side_that_is_asked_for() {
    let grep = |more: Value| {
        let mut args = json!({"pattern": "two", "path": "a.ts"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    check("claude", "Grep", grep(json!({"-A": 1})), "a.ts\n2: two needle\n3- three\n");
    check("claude", "Grep", grep(json!({"-B": 1, "-n": true})), "a.ts\n1- one\n2: two needle\n");
    check("claude", "Grep", grep(json!({"-C": 1})), "a.ts\n1- one\n2: two needle\n3- three\n");
    check("claude", "Grep", grep(json!({"-C": 1, "-A": 0})), "a.ts\n1- one\n2: two needle\n");
    let grep = |more: Value| {
        let mut args = json!({"pattern": "two", "dir_path": "a.ts"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    check("gemini", "grep_search", grep(json!({"after": 1})), "a.ts\n2: two needle\n3- three\n");
    check("gemini", "grep_search", grep(json!({"before": 1})), "a.ts\n1- one\n2: two needle\n");
}

#[test]
fn kinds_of_files_and_lines_to_leave_out_are_understood() {
    check("claude", "Grep", json!({"pattern": "needle", "type": "ts", "output_mode": "count"}), "a.ts: 2\n");
    check("claude", "Grep", json!({"pattern": "needle", "type": "py"}), "b.py\n1: needle\n");
    check(
        "claude",
        "Grep",
        json!({"pattern": "needle", "type": "pyy"}),
        "Error: `type` is `pyy`, which is not a file type; similar types: py",
    );
    check(
        "gemini",
        "grep_search",
        json!({"pattern": "needle", "include_pattern": "*.ts", "exclude_pattern": "skip"}),
        "a.ts\n2: two needle\n",
    );
    check(
        "gemini",
        "grep_search",
        json!({"pattern": "needle", "include_pattern": "*.ts", "exclude_pattern": "SKIP", "case_sensitive": false}),
        "a.ts\n2: two needle\n",
    );
    let names = json!({"pattern": "needle", "names_only": true, "exclude_pattern": "needle$"});
    check("gemini", "grep_search", names, "a.ts\n");
}

#[test]
fn several_globs_may_stand_in_one_argument() {
    let args = json!({"pattern": "needle", "include": "*.ts,*.py", "mode": "files"});
    let text = call(&in_dialect("toolpost"), "grep", args).to_text();
    let mut names: Vec<&str> = text.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["a.ts", "b.py"]);
}

#[test]
fn a_pattern_that_looks_around_is_told_how_to_be_written() {
    check(
        "gemini",
        "grep_search",
        json!({"pattern": "needle(?! skip)"}),
        "Error: `pattern` looks around a match, with (?=…), (?!…), (?<=…) or (?<!…), which patterns here cannot; search for \
         `needle` and name what must not stand in the line in `exclude_pattern`, or run `grep -P` with \
         `run_shell_command`, or set fixed_strings=true if it is meant as plain text",
    );
    check(
        "claude",
        "Grep",
        json!({"pattern": "(?<=two )needle"}),
        "Error: `pattern` looks around a match, with (?=…), (?!…), (?<=…) or (?<!…), which patterns here cannot; search for \
         `needle`, or run `grep -P` with `Bash`",
    );
}

#[test]
fn what_is_repaired_ignored_or_read_differently_is_said() {
    check(
        "claude",
        "Read",
        json!({"file_path": "c.rs", "pages": "1-2"}),
        "1: needle\n(note: `pages` was ignored: unknown argument)",
    );
    check(
        "claude",
        "Read",
        json!({"filePath": "c.rs"}),
        "1: needle\n(note: `filePath` was read as `file_path`)",
    );
    check(
        "claude",
        "read_file",
        json!({"path": "c.rs"}),
        "1: needle\n(note: `read_file` is called `Read` here)",
    );
    check(
        "claude",
        "Read",
        json!({"file_path": "c.rs", "limit": "5"}),
        "1: needle\n(note: `limit`: \"5\" was read as 5)",
    );
    check(
        "claude",
        "Read",
        json!({"file_path": "c.rs", "limit": null}),
        "1: needle\n(note: `limit`: null was read as not given)",
    );
    check(
        "gemini",
        "grep_search",
        json!({"pattern": "NEEDLE", "dir_path": "c.rs", "case_sensitive": "false"}),
        "c.rs\n1: needle\n(note: `case_sensitive`: \"false\" was read as false)",
    );
    check(
        "long",
        "read_file",
        json!({"path": "c.rs", "offset": "0"}),
        "needle\n(note: `offset`: \"0\" was read as 0)",
    );
    // Words about a call change nothing, so that nothing is said of them.
    let args =
        json!({"file_path": "c.rs", "old_string": "needle", "new_string": "pin", "instruction": "why"});
    let text = call(&in_dialect("gemini"), "replace", args).to_text();
    assert!(!text.contains("note") && text.contains("c.rs"), "{text}");
    // An error tells it too.
    check(
        "claude",
        "Read",
        json!({"filePath": "none.rs"}),
        "Error: no file `none.rs`; list its folder to see what is there\n(note: `filePath` was read as `file_path`)",
    );
}

#[test]
fn spellings_of_other_hosts_mean_what_they_mean_there() {
    let ctx = memory("//- x\n");
    let text = call(&ctx, "WriteFile", json!({"path": "new.txt", "contents": "a\n"})).to_text();
    assert!(text.contains("new.txt"), "{text}");
    let ctx = memory("//- src/deep/x.rs\n//- top.rs\n");
    let listed =
        |recursive: bool| call(&ctx, "list_files", json!({"path": ".", "recursive": recursive})).to_text();
    assert!(listed(true).starts_with("./\n  src/\n    deep/\n      x.rs\n  top.rs\n"), "{}", listed(true));
    assert!(listed(false).starts_with("./\n  src/\n  top.rs\n"), "{}", listed(false));
}

#[test]
fn errors_speak_of_the_arguments_that_were_offered() {
    check(
        "claude",
        "Edit",
        json!({"file_path": "a.ts", "old_string": 5.5, "new_string": "x"}),
        "Error: the arguments of `Edit` do not fit: `old_string`: expected a string, got 5.5",
    );
    check(
        "claude",
        "Read",
        json!({}),
        "Error: the arguments of `Read` do not fit: `file_path`: expected a string (File to read, absolute or from the \
         workspace root, or a `spill:` handle), got nothing",
    );
    check(
        "gemini",
        "read_file",
        json!({"file_path": "a.ts", "lines": 4}),
        "Error: the arguments of `read_file` do not fit: `lines`: expected only `file_path`, `start_line`, `end_line`, got an \
         unknown argument",
    );
    check(
        "gemini",
        "grep_search",
        json!({"pattern": "x", "names_only": "maybe"}),
        "Error: the arguments of `grep_search` do not fit: `names_only`: expected a boolean, got \"maybe\"",
    );
    check(
        "claude",
        "Grep",
        json!({"pattern": "x", "output_mode": "file"}),
        "Error: the arguments of `Grep` do not fit: `output_mode`: expected one of \
         [\"content\",\"files_with_matches\",\"count\"], got \"file\"; did you mean `files_with_matches`?",
    );
    check("claude", "Raed", json!({}), "Error: no tool `Raed`; nearest: `Read`");
    check(
        "codex",
        "no-such-thing-at-all",
        json!({}),
        "Error: no tool `no-such-thing-at-all`; there are read_file, apply_patch, list_dir, glob, grep_files, \
         detect_project_type, extract_conventions, get_project_overview, batch, tool_search, flood, sleep, put, picture, \
         panics",
    );
}

/// Calls of a session of a dialect that may run commands, one after the other.
fn commands(dialect: &str, calls: Vec<(&'static str, Value)>) -> Vec<String> {
    let ground = ground();
    let settings =
        shell::Settings { background: shell::Background::at_most(8), ..shell::Settings::default() };
    let executor = executor(standard_and_exec(), settings);
    let dialect = toolpost_tools::dialects().named(dialect).unwrap();
    let ctx = session(ground.path()).dialect(dialect).build();
    run(async {
        let mut texts = Vec::new();
        for (tool, args) in calls {
            texts.push(executor.run(&ctx, Call::new(tool, args)).await.to_text());
        }
        texts
    })
}

#[test]
fn a_command_of_codex_goes_on_where_it_is_not_waited_for() {
    let texts = commands(
        "codex",
        vec![
            ("exec_command", json!({"cmd": "echo quick; exit 3", "yield_time_ms": 60_000})),
            ("exec_command", json!({"cmd": "echo up; read line; echo got $line", "yield_time_ms": 1})),
            ("write_stdin", json!({"session_id": "bg_1", "chars": "it\n", "yield_time_ms": 1})),
            ("kill_session", json!({"session_id": "bg_1"})),
        ],
    );
    assert_eq!(texts[0], "quick\n[exit code 3]");
    assert!(
        texts[1].contains("kill_session session_id=bg_1") && texts[1].contains("write_stdin session_id=bg_1"),
        "{texts:?}"
    );
    assert!(
        texts[1].contains("bg_1, until it ends") || texts[1].starts_with("started as bg_1;"),
        "{texts:?}"
    );
    assert!(texts[3].contains("it ") && !texts[3].contains("still runs"), "{texts:?}");
}

#[test]
fn a_line_before_the_first_is_read_as_the_first_and_said() {
    for (dialect, tool, path, argument) in [
        ("toolpost", "read", "filePath", "offset"),
        ("claude", "Read", "file_path", "offset"),
        ("gemini", "read_file", "file_path", "start_line"),
    ] {
        let expected = format!("1: needle\n({argument}=0 was read as {argument}=1, the first)");
        check(dialect, tool, json!({path: "c.rs", argument: 0}), &expected);
    }
    // It counts from 0 there.
    check("long", "read_file", json!({"path": "c.rs", "offset": 0}), "needle\n");
}

#[test]
fn a_line_that_no_count_has_is_refused_as_it_was_sent() {
    for (dialect, tool, path, argument) in [
        ("toolpost", "read", "filePath", "offset"),
        ("toolpost", "read_file", "path", "offset"),
        ("claude", "Read", "file_path", "offset"),
        ("gemini", "read_file", "file_path", "start_line"),
        ("gemini", "read_file", "file_path", "offset"),
        ("codex", "read_file", "path", "offset"),
        ("long", "read_file", "path", "offset"),
        ("long", "read", "filePath", "offset"),
    ] {
        for sent in [json!(-1), json!(-7), json!("-1"), json!(i64::MIN)] {
            let text = call(&in_dialect(dialect), tool, json!({path: "c.rs", argument: sent})).to_text();
            let number = sent.as_str().map_or_else(|| sent.to_string(), str::to_owned);
            let expected = format!("`: expected at least 0, got {number}");
            assert!(text.contains(&expected), "{dialect}: {tool} {argument}={sent}: {text}");
        }
    }
}

#[test]
fn lines_come_raw_where_the_dialect_has_them_so() {
    let page = |extra: Value| {
        let mut args = json!({"path": "long.txt"});
        args.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        args
    };
    check("long", "read_file", page(json!({})), "l1\nl2\nl3\nl4\nl5\nl6\n");
    check("long", "read_file", page(json!({"offset": 1, "limit": 2})), "l2\nl3");
    check("long", "read_file", page(json!({"offset": 4, "limit": 2})), "l5\nl6\n");
    check(
        "long",
        "read_file",
        page(json!({"offset": 1, "limit": 2, "lineNumbers": true})),
        "2: l2\n3: l3\n(lines 2–3 of 6; go on with offset=3)",
    );
    check(
        "toolpost",
        "read",
        json!({"filePath": "long.txt", "offset": 2, "limit": 2, "lineNumbers": false}),
        "l2\nl3",
    );
    check("toolpost", "read", json!({"filePath": "c.rs", "lineNumbers": true}), "1: needle\n");
    // The session decides, not the name that was called.
    check("long", "read", json!({"filePath": "c.rs"}), "needle\n");
    check(
        "toolpost",
        "read_file",
        json!({"path": "c.rs"}),
        "1: needle\n(note: `read_file` is called `read` here)",
    );
}

#[test]
fn lines_are_numbered_unless_that_is_unwanted() {
    let args = |extra: Value| {
        let mut args = json!({"pattern": "two", "path": "a.ts", "output_mode": "content"});
        args.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        args
    };
    check("claude", "Grep", args(json!({"-n": true})), "a.ts\n2: two needle\n");
    check("claude", "Grep", args(json!({"-n": false})), "a.ts\ntwo needle\n");
    check("claude", "Grep", args(json!({"-n": false, "-B": 1})), "a.ts\none\ntwo needle\n");
}

#[test]
fn what_is_not_offered_is_not_named() {
    check(
        "toolpost",
        "read",
        json!({"filePath": "long.txt", "end_line": "1"}),
        "1: l1\n(lines 1–1 of 6; go on with offset=2)\n(note: `end_line` was understood, though it is not offered \
         here; `end_line`: \"1\" was read as 1)",
    );
    check(
        "claude",
        "Write",
        json!({"file_path": "c.rs", "content": "x", "expected_hash": "0"}),
        "Error: `c.rs` is not what was expected: its hash is now \
         d29210777777dac0b3d12f6a656a073c9ba717cf6932dbc01b0cc6dc1e7779b8; read it again before changing it\n\
         (note: `expected_hash` was understood, though it is not offered here)",
    );
    // A tool of a role, or one that lacks its service, is none that the session could call.
    for name in ["get_taks", "web_serch", "tasks"] {
        let text = call(&in_dialect("toolpost"), name, json!({})).to_text();
        assert!(text.starts_with("Error: no tool `"), "{text}");
        assert!(!text.contains("_task") && !text.contains("websearch"), "{text}");
    }
}

#[test]
fn a_search_that_finds_nothing_says_what_it_did_not_look_at() {
    let unseen = "not looked at: names that begin with a dot, what .gitignore leaves out";
    let nowhere = || json!({"pattern": "nowhere"});
    check("claude", "Grep", nowhere(), &format!("(nothing matches; look further with -i=true; {unseen})"));
    check("codex", "grep_files", nowhere(), &format!("(nothing matches; {unseen})"));
    check("claude", "Glob", nowhere(), &format!("(no file matches; {unseen})"));
    check(
        "gemini",
        "glob",
        nowhere(),
        "(no file matches; look further with respect_git_ignore=false; not looked at: names that begin with a dot)",
    );
    check("toolpost", "glob", nowhere(), "(no file matches; look further with hidden=true or noIgnore=true)");
    // What a pattern names was looked at; in one file nothing is left out.
    check("toolpost", "glob", json!({"pattern": ".x"}), "(no file matches; look further with noIgnore=true)");
    let in_one = json!({"pattern": "nowhere", "path": "a.ts"});
    check("codex", "grep_files", in_one.clone(), "(nothing matches)");
    check("toolpost", "grep", in_one, "(nothing matches; look further with ignoreCase=true)");
}

#[test]
fn a_spelling_that_the_session_offers_is_not_reported() {
    let texts = commands("claude", vec![("TaskStop", json!({"shell_id": "bg_7"}))]);
    assert_eq!(
        texts[0],
        "Error: no background command `bg_7`; none was started in this session\n(note: `TaskStop` is called `KillShell` here)"
    );
}

#[test]
fn a_call_by_another_name_is_answered_in_the_words_of_the_session() {
    // `read_file` counts from 0, and `Read` from 1.
    check(
        "claude",
        "read_file",
        json!({"path": "long.txt", "offset": 1, "limit": 2}),
        "2: l2\n3: l3\n(lines 2–3 of 6; go on with offset=4 of `Read`)\n(note: `read_file` is called `Read` here; `offset`: 1 \
         was read as offset=2, since it counts from 0)",
    );
    check(
        "codex",
        "view_image",
        json!({"path": "c.rs"}),
        "1: needle\n(note: `view_image` is called `read_file` here)",
    );
    let texts = commands(
        "codex",
        vec![
            ("shell", json!({"command": "sleep 300", "timeout": 600})),
            ("shell", json!({"command": "sleep 300", "timeout": 5})),
        ],
    );
    assert!(texts[0].contains("had started; run it with yield_time_ms=1000"), "{}", texts[0]);
    assert!(texts[1].contains("its time limit counts milliseconds, and 5 are far too few"), "{}", texts[1]);
    let texts =
        commands("gemini", vec![("run_shell_command", json!({"command": "sleep 300", "timeout": 5}))]);
    assert!(texts[0].contains("for 5 s give 5000, or run it with is_background=true"), "{}", texts[0]);
}

#[test]
fn a_patch_that_is_run_as_a_command_is_told_of_the_tool() {
    let line = "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF";
    let texts = commands("codex", vec![("exec_command", json!({"cmd": line}))]);
    assert!(
        texts[0].ends_with("[`apply_patch` is a tool and no command; call it with the patch as `input`]"),
        "{}",
        texts[0]
    );
    // Claude Code has no such tool.
    let texts = commands("claude", vec![("Bash", json!({"command": line}))]);
    assert!(!texts[0].contains("is a tool"), "{}", texts[0]);
}

#[test]
fn a_time_limit_of_a_command_in_the_background_is_told() {
    let run = |args: Value| commands("claude", vec![("Bash", args)]).concat();
    let text = run(json!({"command": "sleep 300", "run_in_background": true, "timeout": 1000}));
    assert!(text.ends_with("(`timeout` is for commands that are waited for, and does not end it)"), "{text}");
    let text = run(json!({"command": "sleep 300", "run_in_background": true}));
    assert!(!text.contains("timeout"), "{text}");
}

#[test]
fn a_list_of_words_is_a_command_line() {
    let texts = commands(
        "codex",
        vec![
            ("shell", json!({"command": ["bash", "-lc", "echo a  b | tr a x"]})),
            ("exec_command", json!({"cmd": ["echo", "a  b", "it's"]})),
            ("exec_command", json!({"cmd": [1]})),
        ],
    );
    assert_eq!(
        texts[0],
        "x b\n(note: `shell` is called `exec_command` here; `command`: an array of 3 was read as \"echo a  b | tr a x\")"
    );
    assert_eq!(texts[1], "a  b it's\n(note: `cmd`: an array of 3 was read as \"echo 'a  b' 'it'\\\\''s'\")");
    assert!(texts[2].starts_with("Error: the arguments of `exec_command` do not fit: `cmd`"), "{}", texts[2]);
}

#[test]
fn a_file_that_a_command_was_kept_from_is_named_with_its_rule() {
    let texts = commands(
        "toolpost",
        vec![
            ("bash", json!({"command": "mkdir -p .github/workflows; echo; true"})),
            ("bash", json!({"command": "echo A=1 > .env.sample; cat .env; echo went on"})),
            ("bash", json!({"command": "cat .env", "workdir": "."})),
        ],
    );
    // The last command succeeded, and the hint is there all the same.
    for text in &texts[1..] {
        assert!(text.contains("`.env` cannot be read by commands: it is protected (`.env`): "), "{text}");
        assert!(
            text.contains("protected") && text.contains("--allow-rule") || text.contains("rule"),
            "{text}"
        );
        assert!(!text.contains("the sandbox may be the cause"), "{text}");
    }
    assert!(texts[1].contains("went on") && !texts[1].contains("[exit code"), "{}", texts[1]);
}

#[test]
fn a_time_out_tells_its_unit_and_what_was_waited_for() {
    let texts = commands(
        "claude",
        vec![
            ("Bash", json!({"command": "sleep 300", "timeout": 5})),
            ("Bash", json!({"command": "printf 'Your name: '; sleep 300", "timeout": 1_500})),
            ("Bash", json!({"command": "sleep 300; curl https://example.org", "timeout": 1_500})),
            ("Bash", json!({"command": "watch() { sleep 300; }; watch ls", "timeout": 1_500})),
            ("Bash", json!({"command": "sleep 300", "timeout": 1_500})),
        ],
    );
    assert!(
        texts[0].contains("`timeout` counts milliseconds, and 5 are far too few: for 5 s write timeout=5000"),
        "{}",
        texts[0]
    );
    assert!(texts[1].contains("It seems to have waited for an answer"), "{}", texts[1]);
    // Who waits for what does not come needs no more time.
    assert!(texts[1].contains("use a flag such as -y"), "{}", texts[1]);
    assert!(texts[3].contains("`watch` is a program for terminals, and there is none"), "{}", texts[3]);
    for text in [&texts[1], &texts[3]] {
        assert!(!text.contains("ask for more") && !text.contains("run_in_background"), "{text}");
    }
    let more = "ask for more with timeout=6000, or run it with run_in_background=true";
    assert!(texts[4].contains(more), "{}", texts[4]);
}
