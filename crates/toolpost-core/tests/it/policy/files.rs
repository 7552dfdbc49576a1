//! Files of rules and printed policies: each validation rule with its located message, and bombs.

use super::NAMES;
use crate::load::stretched;
use std::time::Instant;
use toolpost_core::policy::Layer;
use toolpost_core::text::{Errors, LARGEST, Source};
use toolpost_rules::{RuleFile, policy_from_toml, read_rules};

fn read(bytes: &[u8]) -> Result<RuleFile, Errors> {
    read_rules(&Source::new("rules.toml", bytes)?, Layer::User, &NAMES)
}

fn check(text: &str, expected: &str) {
    match read(text.as_bytes()) {
        Ok(file) => panic!("{text:?} was read: {:?}", file.rules),
        Err(errors) => assert_eq!(errors.to_string(), expected, "{text}"),
    }
}

#[test]
fn rules_know_their_lines() {
    let text = "# mine\n[[rule]]\neffect = \"allow\"\naction = \"bash\"\nresource = \"cargo test *\"\n\
                match = [\"cargo test\", \"cargo test --all\"]\nnot_match = [\"cargo testing\"]\n\n\
                [[rule]]\neffect = \"deny\"\naction = \"write\"\n";
    let file = read(text.as_bytes()).unwrap();
    let found: Vec<String> =
        file.rules.iter().map(|rule| format!("{} {} {rule}", rule.origin(), rule.effect())).collect();
    assert_eq!(found, ["rules.toml:2 allow bash: cargo test *", "rules.toml:9 deny write: *"]);
    assert_eq!(file.rules[0].matching(), ["cargo test", "cargo test --all"]);
    assert!(read("\u{feff}[[rule]]\neffect='deny'\naction='*'".as_bytes()).unwrap().rules.len() == 1);
    assert!(read(b"").unwrap().rules.is_empty());
}

#[test]
fn every_mistake_is_located_and_says_what_to_do() {
    let rule = "[[rule]]\neffect = 'deny'\naction = 'bash'\n";
    check(
        "[[rule]]\naction = 'bash'\n",
        "rules.toml:1:1: the rule has no `effect`; add one, such as `effect = \"ask\"`",
    );
    check(
        "[[rule]]\neffect = 'deny'\n",
        "rules.toml:1:1: the rule has no `action`; add one, such as `action = \"exec\"`",
    );
    check(
        "[[rule]]\neffect = 'forbid'\naction = 'bash'\n",
        "rules.toml:2:10: no effect `forbid`; write allow, ask or deny",
    );
    check(
        "[[rule]]\neffect = true\naction = 'bash'\n",
        "rules.toml:2:10: `effect` is true or false; write a text, such as `effect = \"ask\"`",
    );
    check(
        "[[rule]]\neffect = 'deny'\naction = ['a']\n",
        "rules.toml:3:10: `action` is a list; write a text, such as `action = \"exec\"`",
    );
    check(
        "[[rule]]\neffect = 'deny'\naction = 'a b'\n",
        "rules.toml:3:10: the action `a b` has a ` `; a tool's name has letters, digits, `_`, `-`, `.`, `/` and the \
         wildcards `*` and `?`",
    );
    check(
        &format!("{rule}resource = ''\n"),
        "rules.toml:4:12: the resource is empty and would match nothing; write `*` for anything",
    );
    check(
        &format!("{rule}resource = 'src/[a'\n"),
        "rules.toml:4:12: the resource `src/[a` is not a valid glob: unclosed character class; missing ']'; write `\\` \
         before a character to match it literally",
    );
    check(
        &format!("{rule}resource = 7\n"),
        "rules.toml:4:12: `resource` is a whole number; write a text, such as `resource = \"*\"`",
    );
    check(
        &format!("{rule}resource = 'git *'\nmatch = ['git log',\n  'gitk']\n"),
        "rules.toml:6:3: the rule `bash: git *` does not match its own example `gitk`; correct the resource or the \
         example",
    );
    check(
        &format!("{rule}resource = 'git *'\nnot_match = ['git']\n"),
        "rules.toml:5:14: the rule `bash: git *` matches `git`, which it says it does not; correct the resource or the \
         example",
    );
    check(
        &format!("{rule}match = 'git'\n"),
        "rules.toml:4:9: `match` is a text; write a list of texts, such as `match = [\"…\"]`",
    );
    check(&format!("{rule}match = [1]\n"), "rules.toml:4:10: `match` holds a whole number; write texts only");
    check("rule = 'x'\n", "rules.toml:1:8: `rule` is a text; write each as a table under `[[rule]]`");
    check("rule = ['x']\n", "rules.toml:1:9: a `rule` is a text; write each as a table under `[[rule]]`");
    check(&format!("{rule}action = 'x'\n"), "rules.toml:4:1: duplicate key; keep one of them");
    let errors = read("[[rule]\neffect = ".as_bytes()).unwrap_err();
    assert!(errors.to_string().starts_with("rules.toml:1:"), "{errors}");
    assert!(errors.all()[0].message.contains("; "), "{errors}");
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_up_to_twenty() {
    let errors = read("[[rule]]\n".repeat(500).as_bytes()).unwrap_err();
    assert_eq!(errors.all().len(), 20);
    assert_eq!(errors.all()[2].line, 2);
}

#[test]
fn guarantee_45_unknown_keys_are_errors_with_the_nearest() {
    let errors =
        read(b"[[rule]]\neffect = 'deny'\naction = 'bash'\nresouce = 'x'\n[colours]\na = 1\n").unwrap_err();
    let found: Vec<String> = errors.all().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "rules.toml:5:2: `colours` means nothing in a file of rules; known are rule",
            "rules.toml:4:1: `resouce` means nothing in a rule; did you mean `resource`",
        ]
    );
}

#[test]
fn wrong_encodings_are_located() {
    for (bytes, expected) in [
        (&b"\xff\xfe[\0"[..], "rules.toml:1:1: the file is UTF-16; save it as UTF-8"),
        (
            &b"# caf\xc3\xa9\n# \xc3\xa9\xe9\n"[..],
            "rules.toml:2:4: the byte 0xe9 is not valid UTF-8; save the file as UTF-8",
        ),
    ] {
        assert_eq!(read(bytes).unwrap_err().to_string(), expected);
    }
    assert!(read(b"a = '\0'\n").is_err());
}

#[test]
fn policies_are_checked_like_rules() {
    for (text, expected) in [
        (
            "granted = ['raed']",
            "p.toml:1:12: no capability `raed`; did you mean `read`? there are read, trace, write, exec (or execute) and network",
        ),
        (
            "granted = 'read'",
            "p.toml:1:11: `granted` is a text; write a list of texts, such as `granted = [\"…\"]`",
        ),
        (
            "[[rule]]\neffect='ask'\naction='*'\n",
            "p.toml:1:1: the rule has no `layer`; add one, such as `layer = \"user\"`",
        ),
        (
            "[[rule]]\nlayer='mine'\neffect='ask'\naction='*'\n",
            "p.toml:2:7: no layer `mine`; there are flags, session, saved, user, project and built-in",
        ),
        ("granted=[]\nrules=[]\n", "p.toml:2:1: `rules` means nothing in a policy; did you mean `rule`"),
        ("granted=[]\n[[policy]]\n", "p.toml:1:1: this is outside of `[[policy]]`; move it into one of them"),
    ] {
        let source = Source::new("p.toml", text.as_bytes()).unwrap();
        assert_eq!(policy_from_toml(&source, &NAMES).unwrap_err().to_string(), expected);
    }
}

#[test]
fn guarantee_23_bombs_are_bounded() {
    let many = |unit: &str| unit.repeat(LARGEST / unit.len());
    let bombs = [
        ("too large", "a".repeat(100 << 20)),
        ("lists", format!("a = {}", "[".repeat(500_000))),
        ("tables", format!("a = {}", "{a=".repeat(300_000))),
        ("dotted", format!("{}a = 1", "a.".repeat(400_000))),
        ("headers", format!("[{}a]", "a.".repeat(400_000))),
        ("empty rules", many("[[rule]]\n")),
        ("good rules", many("[[rule]]\neffect='deny'\naction='bash'\nresource='*a*b*c'\n")),
        ("nested headers", (0..4000).map(|at| format!("[a{}]\n", ".b".repeat(at % 70))).collect()),
        ("many keys", (0..80_000).map(|at| format!("k{at} = 1\n")).collect()),
        ("same keys", many("k = 1\n")),
        ("quotes", format!("a = {}", "'''".repeat(300_000))),
        ("examples", format!("[[rule]]\neffect='deny'\naction='bash'\nresource='{}'\nmatch=[{}]\n", "*a".repeat(490), "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',".repeat(20_000))),
        ("globs", (0..1000).map(|at| format!("[[rule]]\neffect='deny'\naction='write'\nresource='{{a,b*}}/**/[a-z]{at}'\nmatch=['a/b/c{at}']\n")).collect()),
    ];
    let mut slowest = std::time::Duration::ZERO;
    for (name, bomb) in &bombs {
        let started = Instant::now();
        let outcome = read(bomb.as_bytes());
        let took = started.elapsed();
        slowest = slowest.max(took);
        assert!(took < stretched(std::time::Duration::from_secs(2)), "{name} took {took:?}");
        if let Err(errors) = outcome {
            assert!(errors.to_string().starts_with("rules.toml:"), "{name}");
            assert!(errors.to_string().len() < 40_000, "{name}");
        }
    }
    println!("measure: guarantee 23: {} rule file bombs, slowest {slowest:.0?}", bombs.len());
}
