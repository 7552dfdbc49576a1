//! Guarantee 38: the rules that a sandbox gets decide about new files as the policy does about existing ones.

use super::{count, policy};
use globset::{GlobBuilder, GlobMatcher};
use std::cell::RefCell;
use std::collections::HashMap;
use toolpost_core::policy::{
    Effect, FilePattern, FileRules, Layer, Origin, Policy, Profile, Request, Rule, protected,
};
use toolpost_core::{Access, Capability};

thread_local! {
    /// To make one takes far longer than to use it.
    static MATCHERS: RefCell<HashMap<String, GlobMatcher>> = RefCell::default();
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }
}

const PARTS: &[&str] = &[
    "a",
    "b",
    "migrations",
    "src",
    ".git",
    ".env",
    ".envrc",
    "hooks",
    "config",
    "x.sql",
    "é",
    "a b",
    "modules",
];

/// A path from the first root, or one in another root.
fn path(dice: &mut Dice) -> String {
    let parts: Vec<&str> = (0..=dice.roll(4)).map(|_| *dice.pick(PARTS)).collect();
    let begin = if dice.roll(5) == 0 { "/data/other/" } else { "" };
    format!("{begin}{}", parts.join("/"))
}

fn resource(dice: &mut Dice) -> String {
    let part = |dice: &mut Dice| match dice.roll(8) {
        0 => "*".to_owned(),
        1 => "*.sql".to_owned(),
        2 => "[am]*".to_owned(),
        3 => "{a,b}".to_owned(),
        4 => "?".to_owned(),
        _ => (*dice.pick(PARTS)).to_owned(),
    };
    let begin = *dice.pick(&["", "", "", "/", "./", "**/", "//data/other/"]);
    let parts: Vec<String> = (0..=dice.roll(3)).map(|_| part(dice)).collect();
    let end = *dice.pick(&["", "", "", "/**", "/", "/*", "/**/x.sql"]);
    match dice.roll(20) {
        0 => "*".to_owned(),
        _ => format!("{begin}{}{end}", parts.join("/")),
    }
}

fn rules(dice: &mut Dice, policy: Policy) -> Policy {
    let mut policy = policy;
    for _ in 0..dice.roll(6) {
        let layer = *dice.pick(&Layer::ALL);
        let effect = *dice.pick(&[Effect::Allow, Effect::Ask, Effect::Deny]);
        let action = *dice.pick(&["write", "write", "write", "*", "read", "bash", "edit", "=*"]);
        let Ok(rule) = Rule::new(effect, action, &resource(dice), Origin::new(layer, "x.toml", 1)) else {
            continue;
        };
        policy = policy.with_rules(layer, vec![rule]);
    }
    policy
}

/// What a sandbox would decide, by the words of its documentation.
fn is_open(sets: &[FileRules], path: &str) -> bool {
    let nothing = [FileRules::default()];
    let sets = if sets.is_empty() { nothing.as_slice() } else { sets };
    sets.iter().all(|set| {
        let effects: Vec<Effect> = set
            .layers
            .iter()
            .filter_map(|layer| {
                layer.iter().find(|rule| matches(&rule.pattern, path)).map(|rule| rule.effect)
            })
            .collect();
        match effects.first() {
            _ if effects.contains(&Effect::Deny) => false,
            Some(effect) => *effect == Effect::Allow,
            None => !is_reserved(path),
        }
    })
}

fn matches(pattern: &FilePattern, path: &str) -> bool {
    let above = || path.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| &path[..at]);
    match pattern {
        FilePattern::Everything => true,
        FilePattern::Name(name) => path.split('/').any(|part| part == name),
        FilePattern::Exact(exact) => path == exact || above().any(|folder| folder == exact),
        FilePattern::Inside(folder) => above().any(|above| above == folder),
        FilePattern::Glob { glob, inside } => MATCHERS.with_borrow_mut(|known| {
            let matcher = known.entry(glob.clone()).or_insert_with(|| {
                let glob = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
                glob.unwrap().compile_matcher()
            });
            matcher.is_match(path) || (*inside && above().any(|above| matcher.is_match(above)))
        }),
    }
}

/// Whether the protected list closes a plain path, without the repository itself.
fn is_reserved(path: &str) -> bool {
    fn begins(pattern: &[&str], parts: &[&str]) -> bool {
        match pattern {
            [] => true,
            ["**", more @ ..] => (0..=parts.len()).any(|skip| begins(more, &parts[skip..])),
            [wanted, more @ ..] => {
                let Some((part, rest)) = parts.split_first() else { return false };
                let is_it = match wanted.split_once('*') {
                    Some((begin, end)) => {
                        part.len() >= begin.len() + end.len()
                            && part.starts_with(begin)
                            && part.ends_with(end)
                    }
                    None => part.eq_ignore_ascii_case(wanted),
                };
                is_it && begins(more, rest)
            }
        }
    }
    let parts: Vec<&str> = path.split('/').collect();
    let rows = protected().iter().filter(|row| row.action == Capability::Write);
    // Git makes repositories, and package managers make dependency folders.
    let of_tools = [".git", ".venv/pyvenv.cfg", "venv/pyvenv.cfg", "target/cachedir.tag"];
    rows.filter(|row| !of_tools.contains(&row.pattern)).any(|row| {
        let pattern: Vec<&str> = row.pattern.split('/').collect();
        (0..parts.len()).any(|at| begins(&pattern, &parts[at..]))
    })
}

#[test]
fn guarantee_38_a_sandbox_decides_about_new_files_as_the_policy_does() {
    let mut dice = Dice(38);
    let (mut open, mut closed) = (0, 0);
    let policies = count(400, 100_000);
    for _ in 0..policies {
        let mut policy = rules(&mut dice, Policy::profile(Profile::Standard));
        if dice.roll(3) == 0 {
            policy = policy.meet(&rules(&mut dice, Policy::profile(Profile::Standard)));
        }
        let consented: Vec<Access> =
            (0..dice.roll(3)).map(|_| Access::path(Capability::Write, path(&mut dice))).collect();
        let sets = policy.file_rules(&consented);
        MATCHERS.with_borrow_mut(HashMap::clear);
        for _ in 0..12 {
            let path = match consented.first() {
                Some(Access { resource: toolpost_core::access::Resource::Path(path), .. })
                    if dice.roll(4) == 0 =>
                {
                    path.clone()
                }
                _ => path(&mut dice),
            };
            let expected = policy.is_open_to_commands(Capability::Write, &path, &consented);
            assert_eq!(is_open(&sets, &path), expected, "{path:?} {policy:?} {consented:?}\n{sets:#?}");
            if expected {
                open += 1
            } else {
                closed += 1
            }
            // What is open to a command is open to a tool, but for what is git's own and what was agreed to.
            let accesses = [Access::path(Capability::Write, path.as_str())];
            let effect = policy.decide(&Request { tool: "", accesses: &accesses }).effect();
            if expected && !path.split('/').any(|part| part == ".git") && !consented.contains(&accesses[0]) {
                assert_eq!(effect, Effect::Allow, "{path:?} {policy:?}");
            }
            if effect == Effect::Deny {
                assert!(!expected, "{path:?} {policy:?}");
            }
        }
    }
    assert!(open > 1_000 && closed > 1_000, "{open} open, {closed} closed");
    println!(
        "measure: guarantee 38: {policies} policies, {} paths, the sandbox's rules decide alike",
        open + closed
    );
}

#[test]
fn rules_bind_commands_inside_a_repository_too() {
    for (rules, path, expected) in [
        ("", ".git/refs/heads/x", true),
        ("", ".git/config", false),
        ("", ".git/modules/a/config", false),
        ("", ".git/modules/a/b/hooks/x", false),
        ("", ".git/worktrees/w/commondir", false),
        ("", ".git/worktrees/w/HEAD", true),
        ("", ".git/objects/info/alternates", false),
        ("user ask write: .git/refs/**", ".git/refs/heads/x", false),
        ("user deny write: .git/**", ".git/index", false),
        ("user allow write: .git/config", ".git/config", true),
        ("user deny write: /migrations/**", "migrations/002.sql", false),
        ("user deny write: /migrations/**", "migrations", true),
        ("user deny write: /migrations/**", "sub/migrations/002.sql", true),
        ("built-in deny write: .config/toolpost/**; flags allow write: *", ".config/toolpost/x", false),
    ] {
        let policy = policy(&format!("standard; {rules}"));
        assert_eq!(policy.is_open_to_commands(Capability::Write, path, &[]), expected, "{rules:?} {path}");
        assert_eq!(is_open(&policy.file_rules(&[]), path), expected, "{rules:?} {path}");
    }
}
