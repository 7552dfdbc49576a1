//! `toolpost call`: arguments in every form, statuses, checks, dry runs, time-outs.

use crate::load::stretched;
use crate::{Home, Ran};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Human output: status, standard output, and a part of standard error.
fn check(args: &[&str], status: i32, stdout: &str, stderr: &str) {
    let ran = Home::new().run(&[&["call"], args].concat());
    assert_eq!((ran.status, ran.stdout.as_str()), (status, stdout), "{args:?}: {}", ran.stderr);
    assert!(
        ran.stderr.contains(stderr) && (!stderr.is_empty() || ran.stderr.is_empty()),
        "{args:?}: {}",
        ran.stderr
    );
}

const FIVE: &str =
    "1: # fixture\n2: \n3: The second line is empty.\n4: 4\n5: 5\n(lines 1–5 of 7; go on with offset=6)\n";
const FIVE_OF_ANOTHER: &str = "1: # fixture\n2: \n3: The second line is empty.\n4: 4\n5: 5\n(lines 1–5 of 7; go on with offset=6 of `read`)\n";

#[test]
fn json_pairs_and_alias_are_the_same_call() {
    let home = Home::new();
    let (status, envelope) = home.json(&["call", "read", r#"{"filePath":"README.md","limit":5}"#]);
    assert_eq!(status, 0);
    let keys: Vec<_> = envelope.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["success", "tool", "callId", "title", "output", "data", "attachments", "metadata"]);
    assert_eq!(
        (&envelope["success"], &envelope["tool"], &envelope["title"]),
        (&json!(true), &json!("read"), &json!("README.md"))
    );
    assert_eq!(envelope["output"], FIVE.trim_end());
    assert_eq!(envelope["attachments"], json!([]));
    let metadata = &envelope["metadata"];
    assert!(metadata["executionTimeMs"].is_f64() && metadata["bytesRead"] == 45, "{metadata}");
    assert_eq!(metadata["filesAccessed"], json!(["README.md"]));
    // `read_file` counts from 0; how to go on is said in the counting of `read`, as it is called here.
    for (args, expected) in [
        (&["call", "read", "filePath=README.md", "limit=5"][..], FIVE),
        (&["call", "read_file", r#"{"path":"README.md","limit":5}"#], FIVE_OF_ANOTHER),
        (&["call", "read_file", "path=README.md", "limit=5", "offset=0"], FIVE_OF_ANOTHER),
        (&["call", "Read", "file_path=README.md", "limit=5"], FIVE),
        (&["call", "read", "README.md", "limit=5"], FIVE),
        (&["call", "read_file", "README.md", "limit=5"], FIVE_OF_ANOTHER),
    ] {
        let (status, other) = home.json(args);
        assert_eq!((status, &other["tool"]), (0, &json!("read")), "{args:?}");
        assert_eq!(
            (&other["data"], &other["output"]),
            (&envelope["data"], &json!(expected.trim_end())),
            "{args:?}"
        );
    }
    check(&["read", "filePath=README.md", "limit=5"], 0, FIVE, "");
    check(&["read_file", r#"{"path":"README.md","limit":5}"#], 0, FIVE_OF_ANOTHER, "repaired");
}

#[test]
fn the_main_argument_needs_no_name() {
    check(&["grep", "fixture"], 0, "README.md\n1: # fixture\n", "");
    check(&["glob", "*.rs"], 0, "src/main.rs\n", "");
    check(&["list", "src"], 0, "src/\n  main.rs\n", "");
    check(&["read", "a=b c/d.txt"], 2, "", "`a`");
    check(&["read", "./a=b.txt"], 1, "", "no file `a=b.txt`");
    check(&["write", "new.txt"], 2, "", "`content`");
}

#[test]
fn mistakes_are_named_with_their_status() {
    check(&["raed", "{}"], 2, "", "error[TOOL_NOT_FOUND]: no tool `raed`; nearest: `read`");
    check(&["read", r#"{"filePath":true}"#], 2, "", "`filePath`: expected a string, got true");
    check(&["read", r#"{"filePath":"README.md","lmit":7}"#], 2, "", "did you mean `limit`?");
    check(
        &["read", "filePath=RAEDME.md"],
        1,
        "",
        "error[FILE_NOT_FOUND]: no file `RAEDME.md`; nearest: `README.md`",
    );
    check(&["read", "filePath=../x"], 1, "", "error[PATH_ESCAPE]");
    check(&["batch", "not json"], 2, "", "`not json` is not an argument");
    check(&["read", "README.md", "not a pair"], 2, "", "`not a pair` is not an argument");
    check(&["read", "{not json"], 2, "", "not valid JSON");
    check(&["read", "[1]"], 2, "", "expected an object, got an array of 1");
    check(&["read", "\"x\""], 2, "", "expected an object");
    check(&["read", "=x"], 2, "", "is not an argument");
    check(&["read"], 2, "", "`filePath`: expected a string");
    check(&["list", "--policy", "read-only"], 0, "./\n  README.md\n  src/\n    main.rs\n", "");
    check(&["read", "filePath=README.md", "--nonsense"], 2, "", "unexpected argument '--nonsense'");
    check(&["read", "filePath=README.md", "--policy", "lax"], 2, "", "read-only");
}

#[test]
fn two_repairs_are_reported() {
    let args = ["call", "read", r#"{"filepath":"README.md","limit":"5"}"#];
    let (status, envelope) = Home::new().json(&args);
    assert_eq!((status, &envelope["success"]), (0, &json!(true)));
    let repairs = envelope["metadata"]["repairs"].as_array().unwrap();
    assert_eq!(repairs.iter().map(|one| one["path"].clone()).collect::<Vec<_>>(), ["filepath", "limit"]);
    let ran = Home::new().run(&args);
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), (FIVE, 2), "{}", ran.stderr);
}

/// Arguments by standard input: status, envelope, time.
fn from_stdin(args: &[&str], input: impl FnOnce(&mut dyn Write) + Send + 'static) -> (i32, Value, Duration) {
    let home = Home::new();
    let start = Instant::now();
    let mut child = home
        .command([&["call", "--json"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input(&mut stdin));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let (status, envelope) = Ran::of(output).json();
    (status, envelope, start.elapsed())
}

#[test]
fn arguments_come_from_standard_input() {
    let write = |text: &'static str| move |out: &mut dyn Write| out.write_all(text.as_bytes()).unwrap();
    let (status, envelope, _) = from_stdin(&["read", "-"], write(r#"{"filePath":"README.md","limit":5}"#));
    assert_eq!((status, &envelope["output"]), (0, &json!(FIVE.trim_end())));
    let (status, envelope, _) = from_stdin(&["read", "-"], write(""));
    assert_eq!((status, &envelope["error"]["code"]), (2, &json!("VALIDATION_ERROR")));
}

#[test]
fn monstrous_arguments_are_refused_at_once() {
    let huge = |out: &mut dyn Write| {
        let part = vec![b'x'; 1 << 20];
        // The reader leaves early, as it should.
        let _ = out.write_all(br#"{"filePath":""#);
        for _ in 0..100 {
            let _ = out.write_all(&part);
        }
    };
    let deep = |out: &mut dyn Write| {
        let text = format!(r#"{{"filePath":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let _ = out.write_all(text.as_bytes());
    };
    let long = |out: &mut dyn Write| {
        let _ = out.write_all(format!(r#"{{"filePath":"{}"}}"#, "x".repeat(15 << 20)).as_bytes());
    };
    let results = [
        ("larger than 16 MiB", from_stdin(&["read", "-"], huge)),
        ("nested deeper than 128 levels", from_stdin(&["read", "-"], deep)),
        ("", from_stdin(&["read", "-"], long)),
    ];
    for (message, (status, envelope, took)) in results {
        assert_eq!((status, &envelope["error"]["code"]), (2, &json!("VALIDATION_ERROR")), "{message}");
        let text = envelope.to_string();
        assert!(text.contains(message) && text.len() < 100_000, "{message}: {} bytes", text.len());
        assert!(took < stretched(Duration::from_secs(5)), "{message}: {took:?}");
    }
    let nested = format!("ignore={}", "[".repeat(100_000));
    let (status, _) = Home::new().json(&["call", "list", &nested]);
    assert!([0, 2].contains(&status));
}

#[test]
fn a_check_runs_nothing() {
    check(
        &["read", "filePath=none", "--check"],
        0,
        "`read` fits; the policy says allow; it would read `none`\n",
        "",
    );
    check(&["read", "{}", "--check"], 2, "", "`filePath`");
    check(&["raed", "--check"], 2, "", "nearest: `read`");
    let (status, checked) = Home::new().json(&["call", "read", "filepath=none", "--check"]);
    assert_eq!(
        (status, &checked["success"], &checked["check"]["effect"]),
        (0, &json!(true), &json!("allow"))
    );
    assert_eq!(checked["check"]["repairs"].as_array().unwrap().len(), 1);
    check(&["read", "--check", "--dry-run"], 2, "", "cannot be used with");
}

#[test]
fn a_dry_run_says_what_would_change() {
    check(
        &["read", "filePath=src/main.rs", "--dry-run"],
        0,
        "1: fn main() {}\n",
        "dry run: no file would change",
    );
    let (status, envelope) = Home::new().json(&["call", "list", "--dry-run"]);
    assert_eq!((status, &envelope["metadata"]["dryRun"]["changes"]), (0, &json!([])));
}

#[test]
fn time_outs_are_read_and_kept() {
    for time in ["30s", "500ms", "2m", "7", "0.5", "1h"] {
        check(&["read", "filePath=src/main.rs", "--timeout", time], 0, "1: fn main() {}\n", "");
    }
    for time in ["0", "-1", "5x", "", "2d", "NaN"] {
        let ran = Home::new().run(&["call", "read", "filePath=x", &format!("--timeout={time}")]);
        assert_eq!(ran.status, 2, "{time}");
    }
    let home = Home::new();
    crate::signals::endless(&home);
    let start = Instant::now();
    let (status, envelope) =
        home.json(&["call", "read", "filePath=endless", "offset=100000", "--timeout", "300ms"]);
    assert_eq!((status, &envelope["error"]["code"]), (4, &json!("TIMEOUT")));
    assert!(envelope["error"]["message"].as_str().unwrap().contains("300 ms"), "{envelope}");
    assert!(start.elapsed() < stretched(Duration::from_secs(3)), "{:?}", start.elapsed());
}

#[test]
fn json_is_one_object_whatever_happens() {
    let home = Home::new();
    for (args, status, code) in [
        (&["call", "read", "filePath=README.md"][..], 0, None),
        (&["call", "list"], 0, None),
        (&["tools"], 0, None),
        (&["tools", "show", "read"], 0, None),
        (&["call", "read", "filePath=none"], 1, Some("FILE_NOT_FOUND")),
        (&["call", "read", "filePath=/etc/passwd"], 1, Some("PATH_ESCAPE")),
        (&["call", "nope"], 2, Some("TOOL_NOT_FOUND")),
        (&["call", "read", "{"], 2, Some("VALIDATION_ERROR")),
        (&["call", "read", "--nope"], 2, Some("VALIDATION_ERROR")),
        (&["call"], 2, Some("VALIDATION_ERROR")),
        (&[], 2, Some("VALIDATION_ERROR")),
        (&["nonsense"], 2, Some("VALIDATION_ERROR")),
        (&["call", "list", "--timeout", "x"], 2, Some("VALIDATION_ERROR")),
        (&["call", "list", "--workspace", "/nowhere"], 2, Some("READ_ERROR")),
        (&["tools", "show", "nope"], 2, Some("TOOL_NOT_FOUND")),
    ] {
        let (found, envelope) = home.json(args);
        assert_eq!(found, status, "{args:?}: {envelope}");
        match code {
            Some(code) => {
                assert_eq!(
                    (&envelope["success"], &envelope["error"]["code"]),
                    (&json!(false), &json!(code)),
                    "{args:?}"
                );
                assert!(!envelope["error"]["message"].as_str().unwrap().is_empty());
            }
            None => assert_ne!(envelope["success"], false),
        }
    }
    // Words after `--` are not flags, and help is for people.
    let ran = home.run(&["call", "read", "--", "--json"]);
    assert!(ran.status == 1 && ran.stderr.contains("no file `--json`") && ran.stdout.is_empty());
    let ran = home.run(&["--json", "--help"]);
    assert!(ran.status == 0 && ran.stdout.contains("Usage:"));
}

#[test]
fn secrets_of_the_environment_never_come_out() {
    let home = Home::new();
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n");
    let two = "s3cr3t-42\nand the second line of it";
    home.write("repo/notes.txt", format!("A=hunter2hunter2\nB=/x9+slashed/Secret==\n{pem}{two}\n"));
    home.write("repo/hunter2hunter2.txt", "x");
    for args in [
        &["call", "read", "filePath=notes.txt"][..],
        &["call", "read", "filePath=notes.txt", "--json"],
        &["call", "list", "--json"],
        &["call", "read", "filePath=hunter2hunter.txt"],
        &["call", "batch", r#"{"calls":[{"tool":"read","args":{"filePath":"notes.txt"}}]}"#, "--json"],
    ] {
        let mut command = home.command(args);
        command
            .env("MY_API_KEY", "hunter2hunter2")
            .env("AWS_SECRET_KEY", "/x9+slashed/Secret==")
            .env("TLS_KEY", &pem)
            .env("TWO_LINES_SECRET", two);
        let ran = Ran::of(command.output().unwrap());
        let all = format!("{}{}", ran.stdout, ran.stderr);
        for secret in ["hunter2hunter2", "slashed", "MIIEvQIB", "BKcwggSj", "s3cr3t-42", "second line"] {
            assert!(!all.contains(secret), "{args:?}: {all}");
        }
        assert!(all.contains("[redacted:MY_API_KEY]"), "{args:?}: {all}");
    }
}

/// A JSON object is never taken for the text of a main argument.
#[test]
fn an_object_and_pairs_are_joined() {
    let home = Home::new();
    let read = |words: &[&str]| home.run(&[&["call", "read"], words].concat());
    let both = read(&[r#"{"filePath":"README.md"}"#, "limit=1"]);
    assert!(both.status == 0 && both.stdout.starts_with("1: # fixture"), "{}{}", both.stdout, both.stderr);
    let twice = read(&[r#"{"filePath":"README.md","limit":1}"#, "limit=2"]);
    assert!(twice.status == 2 && twice.stderr.contains("`limit` is given twice"), "{}", twice.stderr);
    let line = ["call", "bash", r#"{"command":"echo run"}"#, "timeout=3000", "--allow", "exec"];
    let ran = home.run(&line);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "run\n"), "{}", ran.stderr);
    let key = home.run(&["call", "bash", "x=1; echo $x", "--allow", "exec"]);
    assert!(key.status == 2 && key.stderr.contains("write command='…'"), "{}", key.stderr);
}

#[test]
fn a_key_given_twice_is_refused_and_not_guessed() {
    let twice = r#"{"filePath":"README.md","limit":1,"limit":3}"#;
    let told = "`limit` is given twice in one object; leave one of the two out";
    check(&["read", twice], 2, "", told);
    let inside = r#"{"calls":[{"tool":"read","args":{"filePath":"README.md","filePath":"a"}}]}"#;
    check(&["batch", inside], 2, "", "`filePath` is given twice in one object; leave one of the two out");
}

#[test]
fn what_is_never_deleted_is_said_before_a_rule_is_advised() {
    let home = Home::new();
    home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    for flags in [&[][..], &["--allow-rule", "delete: .git/HEAD"], &["--yes"]] {
        let ran = home.run(&[&["call", "delete", ".git/HEAD"], flags].concat());
        let told = "`.git/HEAD` is inside `.git`, where nothing is deleted; use git itself";
        assert!(ran.stderr.contains(told) && !ran.stderr.contains("--allow-rule"), "{}", ran.stderr);
    }
    assert!(home.path("repo/.git/HEAD").exists());
}

#[test]
fn advice_to_delete_a_folder_names_what_is_protected_in_it() {
    let home = Home::new();
    home.write("repo/src/a.rs", "x\n");
    home.write("repo/src/deep/.claude/settings.json", "{}\n");
    home.write("repo/src/.npmrc", "x\n");
    home.write("repo/plain/a.rs", "x\n");
    let ran = home.run(&["call", "delete", "src", "recursive=true"]);
    assert!(ran.stderr.contains("--allow-rule 'delete: /src'"), "{}", ran.stderr);
    assert!(ran.stderr.contains("; protected in it: `src/.npmrc`, `src/deep/.claude`"), "{}", ran.stderr);
    let ran = home.run(&["call", "delete", "plain", "recursive=true"]);
    assert!(ran.stderr.contains("--allow-rule 'delete: /plain'"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("protected in it"), "{}", ran.stderr);
}

#[test]
fn a_path_of_the_current_folder_is_told_from_the_root() {
    let home = Home::new();
    home.write("repo/src/deep/inside.txt", "x\n");
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        Ran::of(command.current_dir(home.path("repo/src/deep")).output().unwrap())
    };
    let ran = run(&["call", "read", "inside.txt"]);
    assert_eq!(ran.status, 1);
    let note = "paths count from the root of the workspace: `src/deep/inside.txt`\n";
    assert!(ran.stderr.ends_with(note), "{}", ran.stderr);
    assert_eq!(run(&["call", "read", "src/deep/inside.txt"]).status, 0);
    let ran = run(&["call", "read", "nowhere.txt"]);
    assert!(ran.status == 1 && !ran.stderr.contains("paths count"), "{}", ran.stderr);
}

#[test]
fn a_tool_that_is_elsewhere_is_told_where() {
    check(
        &["spawn_agent", "{}"],
        2,
        "",
        "`spawn_agent` needs the agents service: there is no agent file; write one",
    );
    check(
        &["capture_screenshot", "{}"],
        2,
        "",
        "`capture_screenshot` needs the model service: name a model that accepts images with the key `model`",
    );
    check(&["raed", "{}"], 2, "", "`toolpost tools` lists the tools");
}

#[test]
fn a_tool_in_place_of_a_command_is_advised_to_call() {
    let home = Home::new();
    let ran = home.run(&["read", "README.md"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`read` is a tool: run it with `toolpost call read`"), "{}", ran.stderr);
    let (status, json) = home.json(&["grep", "x"]);
    let message = json["error"]["message"].as_str().unwrap();
    assert!(status == 2 && message.contains("`toolpost call grep`"), "{message}");
    let ran = home.run(&["frobnicate"]);
    assert!(ran.status == 2 && !ran.stderr.contains("is a tool"), "{}", ran.stderr);
}
