//! The same decision, by the same rule, from `call`, from `call --check` and from `policy explain`.

use crate::Home;
use serde_json::Value;

const RULES: &str = r#"
[[rule]]
effect = "deny"
action = "read"
resource = "/secret/**"

[[rule]]
effect = "ask"
action = "read"
resource = "/notes/**"

[[rule]]
effect = "allow"
action = "read"
resource = "/open/.env"

[[rule]]
effect = "deny"
action = "list"
resource = "/src"
"#;

fn home() -> Home {
    let home = Home::new();
    home.write(".config/toolpost/config.toml", RULES);
    for file in ["secret/a.txt", "notes/a.txt", "open/.env", ".env", "free.txt"] {
        home.write(&format!("repo/{file}"), "text\n");
    }
    for (target, link) in [("secret/a.txt", "to-secret"), (".env", "to-env"), ("free.txt", "to-free")] {
        std::os::unix::fs::symlink(target, home.path(&format!("repo/{link}"))).unwrap();
    }
    home
}

/// `line` is that of the deciding rule in the user's file; 0 where none of them decides.
#[track_caller]
fn check(home: &Home, arguments: &[&str], effect: &str, code: &str, line: u64) {
    let (status, explained) = home.json(&[&["policy", "explain"], arguments].concat());
    assert_eq!((status, explained["effect"].as_str()), (0, Some(effect)), "{arguments:?}: {explained}");
    let place = |rule: &Value| match rule["file"].as_str() {
        Some(file) if file.ends_with("config.toml") => rule["line"].as_u64().unwrap(),
        _ => 0,
    };
    assert_eq!(place(&explained["rule"]), line, "{arguments:?}: {explained}");
    let (status, envelope) = home.json(&[&["call"], arguments].concat());
    let error = &envelope["error"];
    assert_eq!(
        (status, error["code"].as_str().unwrap_or("")),
        (if code.is_empty() { 0 } else { 3 }, code),
        "{arguments:?}"
    );
    if !code.is_empty() {
        assert_eq!(place(&error["details"]["rule"]), line, "{arguments:?}: {error}");
        assert_eq!(error["details"]["explanation"]["effect"], effect, "{arguments:?}");
    }
    let checked = home.run(&[&["call"], arguments, &["--check"]].concat());
    assert_eq!(checked.status, if effect == "deny" { 3 } else { 0 }, "{arguments:?}: {}", checked.stderr);
}

#[test]
fn every_way_to_ask_gives_the_same_answer() {
    let home = home();
    for (arguments, effect, code, line) in [
        (&["read", "filePath=free.txt"][..], "allow", "", 0),
        (&["read", "filePath=secret/a.txt"], "deny", "PERMISSION_DENIED", 2),
        (&["read", "filePath=./secret/../secret/a.txt"], "deny", "PERMISSION_DENIED", 2),
        (&["Read", "file_path=secret/a.txt"], "deny", "PERMISSION_DENIED", 2),
        (&["read", "filePath=notes/a.txt"], "ask", "PERMISSION_DENIED", 7),
        (&["read", "filePath=open/.env"], "allow", "", 12),
        (&["read", "filePath=.env"], "ask", "PROTECTED_FILE", 0),
        (&["list", "path=src"], "deny", "PERMISSION_DENIED", 17),
        (&["list", "path=notes"], "allow", "", 0),
        (&["read", "filePath=to-free"], "allow", "", 0),
    ] {
        check(&home, arguments, effect, code, line);
    }
    let absolute = format!("filePath={}", home.path("repo/secret/a.txt").display());
    check(&home, &["read", &absolute], "deny", "PERMISSION_DENIED", 2);
}

#[test]
fn an_address_that_is_not_public_is_denied_by_every_way_to_ask() {
    let home = Home::new();
    let network = ["--allow", "network"];
    for (url, why) in [
        ("http://127.0.0.1:9/", "127.0.0.1:9 is an address of this machine"),
        ("http://10.0.0.1/", "10.0.0.1:80 is an address of a private network"),
        ("http://localhost:9/", "localhost:9 is an address of this machine"),
    ] {
        let argument = format!("url={url}");
        let ran = home.run(&[&["policy", "explain", "webfetch", &argument], &network[..]].concat());
        assert!(ran.status == 0 && ran.stdout.starts_with(&format!("deny: {why}")), "{url}: {}", ran.stdout);
        assert!(ran.stdout.contains("--allow-rule 'network: "), "{url}: {}", ran.stdout);
        let ran = home.run(
            &[&["policy", "explain", "webfetch", &argument, "--allow-rule", "network: *"], &network[..]]
                .concat(),
        );
        assert!(ran.stdout.starts_with("deny: "), "{url}: {}", ran.stdout);
        let (status, checked) =
            home.json(&[&["call", "webfetch", &argument, "--check"], &network[..]].concat());
        assert_eq!((status, &checked["error"]["code"]), (3, &"NETWORK_BLOCKED".into()), "{url}: {checked}");
    }
    let named = ["--allow-rule", "network: 127.0.0.1:9"];
    let ran = home.run(&[&["policy", "explain", "webfetch", "url=http://127.0.0.1:9/"], &named[..]].concat());
    assert!(ran.stdout.starts_with("allow: "), "{}", ran.stdout);
    let ran =
        home.run(&[&["policy", "explain", "webfetch", "url=https://docs.example/"], &network[..]].concat());
    assert!(ran.stdout.starts_with("allow: "), "{}", ran.stdout);
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let home = home();
    for (link, code) in [("to-secret", "PERMISSION_DENIED"), ("to-env", "PROTECTED_FILE")] {
        let (status, envelope) = home.json(&["call", "read", &format!("filePath={link}")]);
        assert_eq!((status, envelope["error"]["code"].as_str()), (3, Some(code)), "{link}");
    }
    let shown = home.run(&["call", "list", "hidden=true", "depth=5"]).stdout;
    for name in ["to-secret", "to-env", "a.txt"] {
        assert!(!shown.contains(name), "{shown}");
    }
    assert!(shown.contains("to-free") && shown.contains("hidden by the policy"), "{shown}");
}

#[test]
fn the_short_form_is_read_as_a_call_would_be() {
    let home = Home::new();
    let explain = |text: &str, flags: &[&str]| home.run(&[&["policy", "explain", text], flags].concat());
    for (text, flags, expected) in [
        ("bash: ls && git push", ["--allow-rule", "bash: ls *"], "deny: `bash` would run `git push`"),
        ("bash: git -c core.pager=./x log", ["--allow-rule", "bash: git *"], "deny: "),
        ("bash: ls -l", ["--allow-rule", "bash: ls *"], "allow: "),
        ("exec: git push", ["--allow", "exec"], "allow: "),
        ("write: src/main.rs", ["--allow", "exec"], "allow: "),
    ] {
        let ran = explain(text, &flags);
        assert!(ran.stdout.starts_with(expected), "{text}: {} {}", ran.stdout, ran.stderr);
    }
    let ran = explain("bsh: git push", &["--allow", "exec"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("no tool `bsh`; nearest: `bash`"), "{}", ran.stderr);
}
