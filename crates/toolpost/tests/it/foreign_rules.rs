//! Rules of other systems: what they become, what is not taken, and that decisions stay the same.

use crate::load::stretched;
use toolpost::config::import::{Imported, Target, claude, codex, gemini, opencode};
use toolpost_core::policy::{Effect, Layer, Policy, Profile, Request};
use toolpost_core::text::Source;
use toolpost_core::{Access, Capability};

const TARGET: Target<'static> = Target { layer: Layer::User, home: Some("/home/u") };

/// Accesses written in words: `exec cargo test; write src/a.rs; network example.com; read *`.
fn accesses(text: &str) -> Vec<Access> {
    text.split(';').map(str::trim).filter(|text| !text.is_empty()).map(access).collect()
}

fn access(text: &str) -> Access {
    let (action, resource) = text.split_once(' ').unwrap();
    let action: Capability = action.parse().unwrap();
    match (action, resource) {
        (action, "*") => Access::any(action),
        (Capability::Exec, command) => Access::command(command),
        (Capability::Network, host) => Access::host(host),
        (action, path) => Access::path(action, path),
    }
}

fn effect(policy: &Policy, tool: &str, calls: &[Access]) -> Effect {
    policy.decide(&Request { tool, accesses: calls }).effect()
}

fn lines(imported: &Imported) -> String {
    let rules =
        imported.rules.iter().map(|rule| format!("{}: {} {rule}\n", rule.origin().line, rule.effect()));
    let rest = imported.not_taken.iter().map(|(line, reason)| format!("{line}! {reason}\n"));
    rules.chain(rest).collect()
}

fn source(text: &str) -> Source<'_> {
    Source::new("foreign", text.as_bytes()).unwrap()
}

/// The effect of the first matching rule of the import, whatever the capabilities; none where none matches.
fn first(imported: &Imported, tool: &str, call: &[Access]) -> Option<Effect> {
    let policy = Policy::profile(Profile::Privileged)
        .with_rules(Layer::User, imported.rules.clone())
        .with_names(toolpost_tools::names());
    let explanation = policy.explain(&Request { tool, accesses: call });
    let mut looked_at = explanation.accesses.iter().flat_map(|judged| &judged.looked_at);
    looked_at
        .any(|looked_at| looked_at.speaks_for_layer && looked_at.rule.origin().layer == Layer::User)
        .then(|| effect(&policy, tool, call))
}

#[test]
fn claude_settings() {
    let text = r#"{
  // my settings
  "permissions": {
    "allow": ["Bash(npm run:*)", "Bash(git log *)", "Read", "Edit(/src/**)", "WebFetch(domain:docs.rs)",
      "mcp__gh", "mcp__gh__list", "mcp__*", "Write(src/**)", "TodoWrite", "NotebookEdit",],
    "ask": ["Bash(git push *)", "Edit(docs/*)"],
    "deny": ["Read(./.env)", "Read(~/.ssh/**)", "Read(//etc/**)", "Edit(*.lock)", "Skill(x)", "Bash(rm", 7],
    "defaultMode": "acceptEdits",
    "additionalDirectories": ["../x"] /* more */
  }
}"#;
    let imported = claude::import(&source(text), TARGET).unwrap();
    assert_eq!(
        lines(&imported),
        "7: deny read: ./.env
7: deny read: //home/u/.ssh/**
7: deny read: //etc/**
7: deny write: *.lock
7: deny write: **/*.lock/**
6: ask bash: git push *
6: ask write: docs/*
6: ask write: docs/*/**
4: allow bash: npm run *
4: allow bash: git log *
4: allow read: *
4: allow write: /src/**
4: allow webfetch: docs.rs
5: allow mcp__gh__*: *
5: allow mcp__gh__list: *
5: allow todowrite: *
7! `Skill(x)`: what stands in the brackets of `Skill` has no counterpart (it says deny: write a rule of your own before taking over the rest)
7! `Bash(rm` lacks its closing `)` (it says deny: write a rule of your own before taking over the rest)
7! an entry of `deny` is not a string (it says deny: write a rule of your own before taking over the rest)
5! Claude Code accepts `mcp__*` in allow and ignores it; name the server, as in `mcp__server__*`
5! Claude Code accepts `Write(src/**)` and ignores it; `Edit(src/**)` is what covers every writer
5! there is no tool like `NotebookEdit`
8! `defaultMode` is not a rule; use `--policy standard`
9! `additionalDirectories` is not a rule; give each with `--workspace DIR`
"
    );
}

#[test]
fn opencode_settings_in_both_forms() {
    let first_form = r#"{ "permission": {
  "bash": { "*": "ask", "git *": "allow", "git push *": "deny" },
  "edit": "ask",
  "read": { "*": "allow", "*.env": "deny", "src/*": "allow", "conf/*.d/x": "ask" },
  "webfetch": { "https://docs.rs/*": "allow", "https://x.org/a/b": "deny" },
  "mymcp_*": "deny", "doom_loop": "ask", "grep": "allow", "list": "maybe"
} }"#;
    assert_eq!(
        lines(&opencode::import(&source(first_form), TARGET).unwrap()),
        "6: allow grep: *
6: deny mymcp_*: *
5: allow webfetch: docs.rs
4: ask =read: /conf/{*,*/**/*}.d/x
4: allow =read: /src/**
4: deny =read: **/*.env
4: allow =read: *
3: ask delete: *
3: ask apply_patch: *
3: ask =write: *
3: ask edit: *
2: deny bash: git push *
2: allow bash: git *
2: ask bash: *
1! what no rule matches is allowed in OpenCode; here the profile decides, see `--policy`
5! `webfetch` with `https://x.org/a/b`: rules match hosts, not addresses with a path (it says deny: write a rule of your own before taking over the rest)
6! `doom_loop` with `*`: this has no counterpart (it says ask: write a rule of your own before taking over the rest)
6! `list`: the effect is none of allow, ask and deny
"
    );
    let second_form = r#"{ "permissions": [
  { "action": "*", "resource": "*", "effect": "ask" },
  { "action": "bash", "resource": "git status *", "effect": "allow" },
  { "action": "task", "effect": "deny" },
  { "action": "bash" },
] }"#;
    assert_eq!(
        lines(&opencode::import(&source(second_form), TARGET).unwrap()),
        "4: deny spawn_agent: *
4: deny task: *
3: allow bash: git status *
2: ask *: *
1! what no rule matches asks in OpenCode; here the profile decides, see `--policy`
5! a permission lacks its `action` or `effect`
"
    );
    let short = opencode::import(&source(r#"{"permission":"ask"}"#), TARGET).unwrap();
    assert_eq!(short.rules[0].to_string(), "*: *");
}

#[test]
fn gemini_policies() {
    let text = r#"[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git log", "git status"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
decision = "ask_user"
priority = 10

[[rule]]
mcpName = "gh"
toolName = "drop"
decision = "deny"
priority = 900

[[rule]]
toolName = ["read_file", "glob"]
decision = "allow"
priority = 10

[[rule]]
commandRegex = "rm .*"
decision = "deny"
priority = 999

[[rule]]
toolName = "*"
decision = "deny"
modes = ["yolo"]
priority = 5
"#;
    assert_eq!(
        lines(&gemini::import(&source(text), TARGET).unwrap()),
        "12: deny mcp__gh__drop: *
1: allow bash: git log *
1: allow bash: git status *
7: ask bash: *
18: allow =read: *
18: allow glob: *
23! `commandRegex` has no counterpart (it says deny: write a rule of your own before taking over the rest)
28! it does not hold in the default mode (it says deny: write a rule of your own before taking over the rest)
"
    );
}

#[test]
fn codex_rules_and_configuration() {
    let text = r#"# mine
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",
    justification = "talks to others",
    match = ["git push origin", ["git", "fetch"]],
    not_match = ["git log"],
)
prefix_rule(pattern=['cargo','test'])
prefix_rule(pattern=["rm", "-rf"], decision="forbidden")
def f(x):
    return x
host_executable(name = "git", paths = ["/usr/bin/git"])
prefix_rule(pattern=f("x"), decision="allow")
prefix_rule(pattern=["ls *"], decision="allow")
"#;
    assert_eq!(
        lines(&codex::import_rules(&source(text), TARGET)),
        "10: deny bash: rm -rf *
2: ask bash: git push *
2: ask bash: git fetch *
9: allow bash: cargo test *
11! `def`: only calls are understood
12! `return`: only calls are understood
13! `host_executable` is not understood, only `prefix_rule`
14! `prefix_rule`: only texts and lists of them are understood
15! a part of the pattern has spaces or is not a string
"
    );
    for (text, expected) in [
        (
            "sandbox_mode = 'workspace-write'\napproval_policy = 'on-request'\n",
            Some(("read, trace, write", "exec, network")),
        ),
        (
            "sandbox_mode = 'danger-full-access'\napproval_policy = 'never'\n",
            Some(("read, trace, write, exec, network", "nothing")),
        ),
        ("approval_policy = 'never'\n", Some(("read, trace", "nothing"))),
        ("model = 'x'\n", None),
    ] {
        let found = codex::import_config(&source(text), TARGET).unwrap().capabilities;
        let found = found.map(|found| (found.granted.to_string(), found.askable.to_string()));
        assert_eq!(found, expected.map(|(granted, askable)| (granted.to_owned(), askable.to_owned())));
    }
}

/// Words of which commands and paths are made.
const COMMANDS: &[&str] =
    &["git", "git status", "git push", "git push origin", "git log -1", "gitk", "ls", "rm -rf x"];
const PATHS: &[&str] = &[
    "a.rs",
    "src/a.rs",
    "src/deep/b.rs",
    "src/.env",
    ".env",
    "docs/x.md",
    "docs/d/y.md",
    "conf/a.d/x",
    "conf/a/b.d/x",
];

/// Numbers from a seed, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const EFFECTS: &[&str] = &["allow", "ask", "deny"];

/// `*` is any run of characters and `?` one; a final ` *` may be left out. OpenCode's rule, and Claude's for commands.
fn wild(pattern: &str, text: &str) -> bool {
    fn go(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.first(), text.first()) {
            (None, None) => true,
            (Some(b'*'), _) => go(&pattern[1..], text) || (!text.is_empty() && go(pattern, &text[1..])),
            (Some(b'?'), Some(_)) => go(&pattern[1..], &text[1..]),
            (Some(a), Some(b)) if a == b => go(&pattern[1..], &text[1..]),
            _ => false,
        }
    }
    go(pattern.as_bytes(), text.as_bytes())
        || pattern.strip_suffix(" *").is_some_and(|bare| go(bare.as_bytes(), text.as_bytes()))
}

#[test]
fn opencode_decides_alike() {
    let mut numbers = Numbers(1);
    let mut compared = 0;
    for _ in 0..2_000 {
        let rules: Vec<(&str, &str, &str)> = (0..1 + numbers.below(5))
            .map(|_| {
                let effect = numbers.pick(EFFECTS);
                match numbers.below(4) {
                    0 => ("*", "*", effect),
                    1 => (
                        "bash",
                        numbers.pick(&["*", "git *", "git push *", "git", "git status", "*git*", "rm ?rf*"]),
                        effect,
                    ),
                    2 => (
                        "edit",
                        numbers.pick(&[
                            "*",
                            "src/*",
                            "*.rs",
                            "src/*.rs",
                            "docs/*",
                            "conf/*.d/x",
                            "*.env",
                            "s*",
                        ]),
                        effect,
                    ),
                    _ => ("read", numbers.pick(&["*", "src/*", "*.env", ".env", "*/deep/*", "d*"]), effect),
                }
            })
            .collect();
        let items: Vec<String> = rules
            .iter()
            .map(|(action, resource, effect)| {
                format!(r#"{{"action":"{action}","resource":"{resource}","effect":"{effect}"}}"#)
            })
            .collect();
        let text = format!(r#"{{"permissions":[{}]}}"#, items.join(","));
        let imported = opencode::import(&source(&text), TARGET).unwrap();
        for (key, tool, verb, names) in [
            ("bash", "bash", "exec", COMMANDS),
            ("edit", "edit", "write", PATHS),
            ("edit", "write", "write", PATHS),
            ("read", "read", "read", PATHS),
        ] {
            let name = numbers.pick(names);
            let theirs = rules
                .iter()
                .rev()
                .find(|(action, resource, _)| wild(action, key) && wild(resource, name))
                .map(|(_, _, effect)| effect.parse::<Effect>().unwrap());
            let call = accesses(&format!("{verb} {name}"));
            assert_eq!(first(&imported, tool, &call), theirs, "{text} {tool} {name}\n{}", lines(&imported));
            compared += 1;
        }
    }
    println!("measure: opencode import: {compared} calls decided alike");
}

#[test]
fn claude_decides_alike() {
    /// Gitignore for the patterns below, by the `ignore` crate, which is tested against git.
    fn ignored(pattern: &str, path: &str) -> bool {
        let mut builder = ignore::gitignore::GitignoreBuilder::new("/root");
        builder.add_line(None, pattern).unwrap();
        let matcher = builder.build().unwrap();
        matcher.matched_path_or_any_parents(format!("/root/{path}"), false).is_ignore()
    }
    let mut numbers = Numbers(2);
    let mut compared = 0;
    for _ in 0..1_000 {
        let rules: Vec<(&str, &str, &str)> = (0..1 + numbers.below(5))
            .map(|_| {
                let effect = numbers.pick(EFFECTS);
                match numbers.below(3) {
                    0 => ("Bash", numbers.pick(&["git *", "git push:*", "git", "*log*", "ls"]), effect),
                    1 => (
                        "Edit",
                        numbers.pick(&[
                            "/src/**",
                            "src/*",
                            "*.rs",
                            ".env",
                            "docs/",
                            "**/deep",
                            "d*",
                            "docs/*.md",
                        ]),
                        effect,
                    ),
                    _ => ("Read", numbers.pick(&["src/**", "*.env", "/.env", "conf/*", "docs"]), effect),
                }
            })
            .collect();
        let list = |effect: &str| {
            let of = rules.iter().filter(|(_, _, found)| *found == effect);
            of.map(|(tool, inside, _)| format!("\"{tool}({inside})\"")).collect::<Vec<_>>().join(",")
        };
        let text = format!(
            r#"{{"permissions":{{"allow":[{}],"ask":[{}],"deny":[{}]}}}}"#,
            list("allow"),
            list("ask"),
            list("deny")
        );
        let imported = claude::import(&source(&text), TARGET).unwrap();
        for (foreign, tool, verb, names) in [
            ("Bash", "bash", "exec", COMMANDS),
            ("Edit", "edit", "write", PATHS),
            ("Read", "grep", "read", PATHS),
        ] {
            let name = numbers.pick(names);
            let theirs = rules
                .iter()
                .filter(|(tool, inside, _)| {
                    *tool == foreign
                        && match foreign {
                            "Bash" => wild(&inside.replace(":*", " *"), name),
                            _ => ignored(inside, name),
                        }
                })
                .map(|(_, _, effect)| effect.parse::<Effect>().unwrap())
                .max();
            let call = accesses(&format!("{verb} {name}"));
            assert_eq!(first(&imported, tool, &call), theirs, "{text} {tool} {name}\n{}", lines(&imported));
            compared += 1;
        }
    }
    println!("measure: claude import: {compared} calls decided alike");
}

#[test]
fn gemini_and_codex_decide_alike() {
    let begins = |prefix: &str, command: &str| {
        command == prefix || command.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(' '))
    };
    let mut numbers = Numbers(3);
    for _ in 0..2_000 {
        let mut rules: Vec<(&str, &str, usize)> = (0..1 + numbers.below(5))
            .map(|_| {
                (
                    numbers.pick(&["git", "git push", "ls", "rm", "git log"]),
                    numbers.pick(EFFECTS),
                    numbers.below(1000),
                )
            })
            .collect();
        let gemini_text: String = rules
            .iter()
            .map(|(prefix, effect, priority)| {
                let decision = if *effect == "ask" { "ask_user" } else { effect };
                format!(
                    "[[rule]]\ncommandPrefix = '{prefix}'\ndecision = '{decision}'\npriority = {priority}\n"
                )
            })
            .collect();
        let codex_text: String = rules
            .iter()
            .map(|(prefix, effect, _)| {
                let decision =
                    ["allow", "prompt", "forbidden"][EFFECTS.iter().position(|word| word == effect).unwrap()];
                let words: Vec<String> = prefix.split(' ').map(|word| format!("\"{word}\"")).collect();
                format!("prefix_rule(pattern=[{}], decision=\"{decision}\")\n", words.join(", "))
            })
            .collect();
        let gemini = gemini::import(&source(&gemini_text), TARGET).unwrap();
        let codex = codex::import_rules(&source(&codex_text), TARGET);
        rules.sort_by_key(|(_, _, priority)| std::cmp::Reverse(*priority));
        for command in COMMANDS {
            let matching = || rules.iter().filter(|(prefix, _, _)| begins(prefix, command));
            let of = |rule: &(&str, &str, usize)| rule.1.parse::<Effect>().unwrap();
            let call = [Access::command(*command)];
            assert_eq!(first(&gemini, "bash", &call), matching().map(of).next(), "{gemini_text} {command}");
            assert_eq!(first(&codex, "bash", &call), matching().map(of).max(), "{codex_text} {command}");
        }
    }
}

#[test]
fn guarantee_23_foreign_bombs_are_bounded() {
    let many = |unit: &str| unit.repeat((1 << 20) / unit.len());
    let (mut slowest, mut imports) = (std::time::Duration::ZERO, 0);
    for bomb in [
        many("["),
        many("{\"a\":"),
        format!("{{\"permissions\":{{\"allow\":[{}]}}}}", "\"Bash(*a*b*c)\",".repeat(60_000)),
        format!(
            "{{\"permission\":{{\"read\":{{{}}}}}}}",
            (0..30_000).map(|at| format!("\"*{at}*x\":\"deny\",")).collect::<String>()
        ),
        many("/*"),
        many("\"\\"),
        many("prefix_rule(pattern=["),
        many("prefix_rule(pattern=[\"a\"])\n"),
        many("(\n"),
        many("[[rule]]\ndecision='deny'\n"),
        format!("prefix_rule(pattern=[{}])", "[\"a\",\"b\"],".repeat(50_000)),
    ] {
        let source = source(&bomb);
        let importers: [(&str, &dyn Fn()); 5] = [
            ("claude", &|| drop(claude::import(&source, TARGET))),
            ("opencode", &|| drop(opencode::import(&source, TARGET))),
            ("gemini", &|| drop(gemini::import(&source, TARGET))),
            ("codex rules", &|| drop(codex::import_rules(&source, TARGET))),
            ("codex configuration", &|| drop(codex::import_config(&source, TARGET))),
        ];
        for (name, import) in importers {
            let started = std::time::Instant::now();
            import();
            let took = started.elapsed();
            slowest = slowest.max(took);
            imports += 1;
            assert!(took < stretched(std::time::Duration::from_secs(2)), "{name} {:?} {took:?}", &bomb[..30]);
        }
    }
    println!("measure: guarantee 23: {imports} imports of bombs, slowest {slowest:.0?}");
}
