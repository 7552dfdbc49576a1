//! Configuration files: layers and origins, what is wrong with a file and where, bombs.

use crate::load::stretched;
use crate::{Home, Ran};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const USER: &str = ".config/toolpost/config.toml";
const PROJECT: &str = "repo/.toolpost/config.toml";
/// Guarantee 23.
const LIMIT: Duration = Duration::from_secs(2);

/// The right to a capability and the place it comes from, as `doctor` tells them.
fn right(home: &Home, args: &[&str], capability: &str) -> (String, String) {
    right_in(&home.json(&[&["doctor"], args].concat()).1, capability)
}

fn right_in(report: &Value, capability: &str) -> (String, String) {
    let rights = report["configuration"]["rights"].as_array().unwrap();
    let found = rights.iter().find(|right| right["capability"] == capability).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let from = &found["from"];
    (text(&found["right"]), format!("{} {}:{}", text(&from["layer"]), text(&from["file"]), from["line"]))
}

fn with(home: &Home, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let mut command = home.command(args);
    command.envs(variables.iter().copied());
    Ran::of(command.output().unwrap())
}

#[test]
fn each_layer_overrides_the_weaker_and_each_value_knows_its_line() {
    let home = Home::new();
    let user = home.path(USER).display().to_string();
    let is = |right: &str, place: &str| (right.to_owned(), place.to_owned());
    assert_eq!(right(&home, &[], "write"), is("granted", "built-in built-in:0"));
    home.write(USER, "\n# mine\npolicy = 'read-only'\nallow = [\n  'exec',\n]\n");
    assert_eq!(right(&home, &[], "write"), is("absent", &format!("user {user}:3")));
    assert_eq!(right(&home, &[], "exec"), is("granted", &format!("user {user}:5")));
    // A file that is named is as strong as the user's own, and speaks after it.
    home.write("repo/ci.toml", "ask = ['exec']\n");
    let named = home.path("repo/ci.toml").display().to_string();
    assert_eq!(right(&home, &["--config", "ci.toml"], "exec"), is("asked", &format!("user {named}:1")));
    // The project narrows without being asked for trust.
    home.write(USER, "policy = 'privileged'\n");
    home.write(PROJECT, "policy = 'standard'\n");
    assert_eq!(right(&home, &[], "exec"), is("absent", "project .toolpost/config.toml:1"));
    assert_eq!(right(&home, &[], "write"), is("granted", &format!("user {user}:1")));
    // Environment over files, flags over environment; a policy begins anew.
    let ran = with(&home, &[("TOOLPOST_ALLOW", "exec, network")], &["doctor", "--json"]);
    assert_eq!(right_in(&ran.json().1, "network"), is("granted", "environment TOOLPOST_ALLOW:0"));
    let variables = [("TOOLPOST_ALLOW", "exec"), ("TOOLPOST_POLICY", "read-only")];
    let ran = with(&home, &variables, &["doctor", "--json", "--policy", "standard"]);
    let report = ran.json().1;
    assert_eq!(right_in(&report, "exec"), is("absent", "flags --policy:0"));
    assert_eq!(right_in(&report, "write"), is("granted", "flags --policy:0"));
}

#[test]
fn plain_values_come_from_files_and_variables() {
    let home = Home::new();
    home.write(USER, "dialect = 'claude'\ntimeout = '5s'\n");
    let report = home.json(&["doctor"]).1;
    let configuration = &report["configuration"];
    assert_eq!(
        (&configuration["dialect"]["value"], &configuration["dialect"]["from"]["line"]),
        (&json!("claude"), &json!(1))
    );
    assert_eq!(
        (&configuration["timeout"]["value"], &configuration["timeout"]["from"]["line"]),
        (&json!("5s"), &json!(2))
    );
    let variables = [("TOOLPOST_DIALECT", "codex"), ("TOOLPOST_TIMEOUT", "7s"), ("TOOLPOST_SESSION", "mine")];
    let report = with(&home, &variables, &["doctor", "--json"]).json().1;
    let configuration = &report["configuration"];
    assert_eq!(configuration["dialect"]["from"]["file"], "TOOLPOST_DIALECT");
    assert_eq!(configuration["timeout"]["value"], "7s");
    assert_eq!(configuration["session"]["value"], "mine");
    // The time-out holds for calls, and a flag is stronger.
    home.write(USER, "timeout = '200ms'\n");
    let sleep = |more: &[&str]| {
        let call = ["call", "bash", "command=sleep 1", "--policy", "privileged", "--sandbox", "none"];
        home.run(&[&call, more].concat())
    };
    let (short, long) = (sleep(&[]), sleep(&["--timeout", "60s"]));
    assert_eq!((short.status, long.status), (4, 0), "{}{}", short.stderr, long.stderr);
    assert!(short.stderr.contains("200 ms"), "{}", short.stderr);
}

#[test]
fn rules_of_the_files_decide_in_their_order() {
    let home = Home::new();
    let deny =
        |resource: &str| format!("[[rule]]\neffect = 'deny'\naction = 'read'\nresource = '{resource}'\n");
    home.write(USER, deny("/README.md"));
    let ran = home.run(&["call", "read", "filePath=README.md"]);
    assert_eq!(ran.status, 3);
    assert!(ran.stderr.contains(&format!("{}:1", home.path(USER).display())), "{}", ran.stderr);
    home.write(USER, "");
    // A named file speaks before the user's own.
    home.write("repo/ci.toml", "[[rule]]\neffect = 'allow'\naction = 'read'\nresource = '/.env'\n");
    home.write(USER, "[[rule]]\neffect = 'ask'\naction = 'read'\nresource = '/.env'\n");
    home.write("repo/.env", "A=1\n");
    assert_eq!(home.run(&["call", "read", "filePath=.env"]).status, 3);
    assert_eq!(home.run(&["call", "read", "filePath=.env", "--config", "ci.toml"]).status, 0);
}

#[test]
fn descriptions_lie_beside_the_file_that_names_them() {
    let home = Home::new();
    home.write(USER, "descriptions = 'words'\n");
    home.write(".config/toolpost/words/read.txt", "Reads, says the user.");
    assert!(home.run(&["tools", "show", "read"]).stdout.contains("Reads, says the user."));
    home.write("repo/other/read.txt", "Reads, says the variable.");
    let ran = with(&home, &[("TOOLPOST_DESCRIPTIONS", "other")], &["tools", "show", "read"]);
    assert!(ran.stdout.contains("Reads, says the variable."), "{}", ran.stdout);
}

/// What is wrong with a file, without its name.
#[track_caller]
fn check(text: &str, expected: &str) {
    for place in [USER, PROJECT, "repo/named.toml"] {
        let home = Home::new();
        home.write(place, text);
        let flags: &[&str] = if place.ends_with("named.toml") { &["--config", "named.toml"] } else { &[] };
        let ran = home.run(&[&["call", "list"], flags].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{place}: {}", ran.stderr);
        let name = match place {
            PROJECT => ".toolpost/config.toml".to_owned(),
            place => home.path(place).display().to_string(),
        };
        assert!(
            ran.stderr.contains(&format!("{name}:{expected}")),
            "expected {expected}\ngot {}",
            ran.stderr
        );
        assert_eq!(home.run(&[&["doctor"], flags].concat()).status, 1);
    }
}

#[test]
fn each_mistake_is_located_and_says_what_to_write() {
    check(
        "policy = 'readonly'\n",
        "1:10: no risk profile `readonly`; did you mean `read-only`? there are read-only",
    );
    check(
        "\n  policy = 3\n",
        "2:12: `policy` is a whole number; write a text, such as `policy = \"standard\"`",
    );
    check("allow = ['exce']\n", "1:10: no capability `exce`; did you mean `exec`? there are read");
    check("allow = 'exec'\n", "1:9: `allow` is a text; write a list of texts, such as `allow = [\"exec\"]`");
    check("ask = ['exec', 1]\n", "1:16: `ask` is a whole number; write a list of texts");
    check(
        "allow = ['exec']\nask = ['exec']\n",
        "2:1: `exec` stands in `allow` (line 1) and in `ask`; keep one",
    );
    check("timeout = '5 parsecs'\n", "1:11: no unit");
    check("timeout = 30\n", "1:11: `timeout` is a whole number; write a text, such as `timeout = \"30s\"`");
    check(
        "dialect = 'klingon'\n",
        "1:11: no dialect `klingon`; there are toolpost, long, claude, gemini, codex",
    );
    check("descriptions = ''\n", "1:16: `descriptions` names no folder; write its path");
    check("policy = 'standard'\npolicy = 'standard'\n", "2:1: duplicate key; keep one of them");
    check("policy = \n", "1:10: ");
    check("rule = 3\n", "1:8: `rule` is a whole number; write each as a table under `[[rule]]`");
    check("[[rule]]\naction = 'read'\n", "1:1: the rule has no `effect`; add one");
    check(
        "[[rule]]\neffect = 'maybe'\naction = 'read'\n",
        "2:10: no effect `maybe`; write allow, ask or deny",
    );
    check(
        "[[rule]]\neffect = 'deny'\naction = 'read'\nresource = '/a/**'\nmatch = ['b/c']\n",
        "5:10: the rule `read: /a/**` does not match its own example `b/c`; correct",
    );
}

#[test]
fn wrong_encodings_are_named() {
    let home = Home::new();
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("policy".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for (bytes, expected) in [
        (utf16, ":1:1: the file is UTF-16; save it as UTF-8"),
        (
            b"policy = 'standard'\n# \xe9\n".to_vec(),
            ":2:3: the byte 0xe9 is not valid UTF-8; save the file as UTF-8",
        ),
    ] {
        home.write(USER, bytes);
        let ran = home.run(&["call", "list"]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    home.write(USER, "\u{feff}policy = 'read-only'\r\n");
    assert_eq!(home.run(&["call", "list"]).status, 0, "a byte order mark and CRLF are fine");
}

#[test]
fn unknown_keys_are_errors_with_the_nearest() {
    let home = Home::new();
    home.write(PROJECT, "polcy = 'read-only'\n[output]\ncolor = true\n[[rule]]\neffect = 'deny'\naction = 'read'\nresurce = 'x'\n");
    let ran = home.run(&["call", "list"]);
    assert_eq!(ran.status, 2);
    for expected in [
        ".toolpost/config.toml:1:1: `polcy` means nothing in the configuration; did you mean `policy`",
        ".toolpost/config.toml:2:2: `output` means nothing in the configuration; known are policy, allow",
        ".toolpost/config.toml:7:1: `resurce` means nothing in a rule; did you mean `resource`",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
    let problems = home.json(&["doctor"]).1["configuration"]["problems"].clone();
    assert_eq!(problems.as_array().map(Vec::len), Some(3), "{problems}");
    // Of many, some are shown.
    let many: String = (0..2_000).map(|index| format!("a{index} = 1\n")).collect();
    home.write(PROJECT, format!("{many}policy = 'read-only'\n"));
    let ran = home.run(&["call", "list"]);
    assert!(ran.status == 2 && ran.stderr.lines().count() <= 22, "{}", ran.stderr);
}

#[test]
fn variables_are_checked_like_files() {
    let home = Home::new();
    for (name, value, expected) in [
        ("TOOLPOST_POLICY", "all", "TOOLPOST_POLICY: no risk profile `all`"),
        ("TOOLPOST_ALLOW", "exec,fly", "TOOLPOST_ALLOW: no capability `fly`"),
        ("TOOLPOST_ASK", " , ", "TOOLPOST_ASK: it has no item; unset it"),
        ("TOOLPOST_POLCY", "x", "TOOLPOST_POLCY: no key has this variable; did you mean `TOOLPOST_POLICY`"),
        ("TOOLPOST_DIALECT", "x", "TOOLPOST_DIALECT: no dialect `x`"),
        ("TOOLPOST_TIMEOUT", "x", "TOOLPOST_TIMEOUT: no unit"),
    ] {
        let ran = with(&home, &[(name, value)], &["call", "list"]);
        assert_eq!(ran.status, 2, "{name}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!(with(&home, &[(name, "")], &["call", "list"]).status, 0, "empty is unset");
    }
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let home = Home::new();
    let ran = home.run(&["call", "list", "--config", "nowhere.toml"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("nowhere.toml: does not exist; name another file with --config"),
        "{}",
        ran.stderr
    );
}

#[test]
fn guarantee_23_configuration_bombs_are_bounded() {
    let rules = |count: usize, resource: &str| {
        format!("[[rule]]\neffect = 'deny'\naction = 'read'\nresource = '{resource}'\n").repeat(count)
    };
    let bombs: Vec<(&str, Vec<u8>)> = vec![
        ("dotted key", format!("a{} = 1\n", ".a".repeat(500_000)).into()),
        ("open lists", format!("allow = {}", "[".repeat(500_000)).into()),
        ("closed lists", format!("allow = {}{}", "[".repeat(200_000), "]".repeat(200_000)).into()),
        ("inline tables", format!("a = {}", "{a=".repeat(200_000)).into()),
        ("deep table", format!("[a{}]\n", ".a".repeat(400_000)).into()),
        ("many tables", (0..60_000).map(|index| format!("[a{index}.b.c]\n")).collect::<String>().into()),
        ("many rules", "[[rule]]\n".repeat(110_000).into()),
        ("1000 rules of stars", rules(1_000, &"*a".repeat(100)).into()),
        ("1000 rules of braces", rules(1_000, "/**/{a,b}/{c,d}/**").into()),
        ("many keys", (0..100_000).map(|index| format!("k{index}=1\n")).collect::<String>().into()),
        ("duplicate keys", "policy = 'standard'\n".repeat(50_000).into()),
        ("long text", format!("policy = '{}'\n", "x".repeat(1_000_000)).into()),
        ("long key", format!("{} = 1\n", "x".repeat(1_000_000)).into()),
        ("long list", format!("allow = [{}]", "'exec',".repeat(100_000)).into()),
        ("zeros", vec![0; 1 << 20]),
        ("no UTF-8", vec![0xff; 1 << 20]),
    ];
    let mut slowest = (Duration::ZERO, "");
    for (name, bytes) in &bombs {
        let home = Home::new();
        home.write(PROJECT, bytes);
        home.write("repo/.codex/config.toml", bytes);
        home.write("repo/.mcp.json", format!("{{\"mcpServers\":{}", "[".repeat(500_000)));
        for args in [&["call", "list"][..], &["doctor"], &["trust"]] {
            // Other tests run beside this one; what is bounded is met at least once in so many tries.
            let timed = || {
                let start = Instant::now();
                (home.run(args), start.elapsed())
            };
            let (ran, took) = (0..8).map(|_| timed()).find(|(_, took)| *took < stretched(LIMIT)).expect(name);
            assert!(ran.stderr.len() < 16_384, "{name} {args:?}: {} bytes of errors", ran.stderr.len());
            slowest = slowest.max((took, name));
        }
    }
    println!(
        "measure: guarantee 23: {} configuration bombs, 3 commands each, slowest {} in {:.0?}",
        bombs.len(),
        slowest.1,
        slowest.0
    );
}

#[test]
fn guarantee_23_huge_and_special_files_are_refused_at_once() {
    let mut slowest = Duration::ZERO;
    let mut attempts = 0;
    for place in [USER, PROJECT, "repo/named.toml"] {
        let flags: &[&str] = if place.ends_with("named.toml") { &["--config", "named.toml"] } else { &[] };
        for (kind, expected) in [
            ("huge", "has 104857600 bytes"),
            ("fifo", "is a named pipe (FIFO)"),
            ("zero", ""),
            ("folder", "is a folder"),
        ] {
            let home = Home::new();
            home.write(place, "");
            let path = home.path(place);
            match kind {
                "huge" => std::fs::File::create(&path).unwrap().set_len(100 << 20).unwrap(),
                kind => {
                    std::fs::remove_file(&path).unwrap();
                    match kind {
                        "fifo" => {
                            let mode = rustix::fs::Mode::from_raw_mode(0o600);
                            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
                                .unwrap();
                        }
                        "zero" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
                        _ => std::fs::create_dir(&path).unwrap(),
                    }
                }
            }
            let start = Instant::now();
            let ran = home.run(&[&["call", "list"], flags].concat());
            assert_eq!(ran.status, 2, "{place} {kind}: {}", ran.stderr);
            assert!(ran.stderr.contains(expected), "{place} {kind}: {}", ran.stderr);
            assert_eq!(home.run(&[&["doctor"], flags].concat()).status, 1);
            // Two commands, and other tests beside them.
            assert!(start.elapsed() < stretched(4 * LIMIT), "{place} {kind}: {:?}", start.elapsed());
            slowest = slowest.max(start.elapsed());
            attempts += 2;
        }
    }
    println!(
        "measure: guarantee 23: {attempts} reads of 100 MB files, FIFOs, devices and folders as configuration, slowest {slowest:.0?}"
    );
}

#[test]
fn init_writes_an_example_and_never_overwrites() {
    let home = Home::new();
    let ran = home.run(&["init"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains(&format!("wrote {}", home.path(PROJECT).display())), "{}", ran.stdout);
    assert!(ran.stderr.contains("toolpost doctor"), "{}", ran.stderr);
    let text = std::fs::read_to_string(home.path(PROJECT)).unwrap();
    assert!(text.starts_with("#:schema ./config.schema.json\n"), "{text}");
    assert!(home.path("repo/.toolpost/config.schema.json").exists());
    // It is inert: nothing changes and nothing waits.
    assert_eq!(home.run(&["call", "list"]).stderr, "");
    assert!(home.run(&["trust"]).stderr.contains("nothing in this workspace waits"));
    home.write(PROJECT, "policy = 'read-only'\n");
    let (_, told) = home.json(&["init"]);
    assert_eq!(told["files"][0]["written"], false);
    assert_eq!(std::fs::read_to_string(home.path(PROJECT)).unwrap(), "policy = 'read-only'\n");
    assert!(home.run(&["init", "--user"]).stdout.contains(&format!("wrote {}", home.path(USER).display())));
    assert_eq!(home.run(&["call", "list"]).status, 0);
}

#[test]
fn init_does_not_write_through_a_link_that_leads_out() {
    let home = Home::new();
    std::fs::create_dir(home.path("outside")).unwrap();
    std::os::unix::fs::symlink(home.path("outside"), home.path("repo/.toolpost")).unwrap();
    assert_eq!(home.run(&["init"]).status, 2);
    assert_eq!(std::fs::read_dir(home.path("outside")).unwrap().count(), 0);
}

#[test]
fn the_schema_says_what_the_reader_says() {
    let home = Home::new();
    let schema: Value = serde_json::from_str(&home.run(&["internal", "config-schema"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (value, fits) in [
        (json!({}), true),
        (
            json!({"policy": "standard", "allow": ["exec"], "ask": ["network"], "timeout": "30s", "dialect": "claude", "descriptions": "x"}),
            true,
        ),
        (
            json!({"rule": [{"effect": "deny", "action": "read", "resource": "/a", "match": ["a"], "not_match": []}]}),
            true,
        ),
        (json!({"policy": "all"}), false),
        (json!({"allow": "exec"}), false),
        (json!({"allow": ["fly"]}), false),
        (json!({"timeout": 30}), false),
        (json!({"timeout": "5 parsecs"}), false),
        (json!({"dialect": "klingon"}), false),
        (json!({"polcy": "standard"}), false),
        (json!({"rule": [{"action": "read"}]}), false),
    ] {
        assert_eq!(validator.is_valid(&value), fits, "{value}");
    }
}
