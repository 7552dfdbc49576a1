//! The table of calls and policies, with the expected decision and the expected rule.

use super::{NAMES, accesses, effect, policy};
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Effect, Policy, Profile, Request};
use toolpost_core::{Access, Capability};
use toolpost_rules::RuleSubjects;

/// `expected` is the effect and, where a rule decides, its short form.
fn check(rules: &str, tool: &str, call: &str, expected: &str) {
    let policy = policy(rules);
    let accesses = accesses(call);
    let request = Request { tool, accesses: &accesses };
    let decision = policy.decide(&request);
    let found = match decision.rule() {
        Some(rule) => format!("{} {rule}", decision.effect()),
        None => decision.effect().to_string(),
    };
    assert_eq!(found, expected, "{rules} | {tool} | {call}\n{}", policy.explain(&request));
    let explanation = policy.explain(&request);
    assert_eq!(explanation.effect, decision.effect().into());
    assert_eq!(explanation.rule.as_ref(), decision.rule());
    assert_eq!(decision.remedy().is_some(), decision.effect() != Effect::Allow);
    let strictest = explanation.accesses.iter().map(|judged| judged.effect).max();
    assert_eq!(strictest, Some(decision.effect()), "{explanation}");
    let winners =
        explanation.accesses.iter().flat_map(|judged| &judged.looked_at).filter(|looked_at| looked_at.won);
    assert!(
        decision.rule().is_none_or(|rule| winners.clone().any(|winner| &winner.rule == rule)),
        "{explanation}"
    );
}

#[test]
fn calls_and_policies() {
    for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [rules, tool, call, expected] = cells[..] else { panic!("{line}") };
        check(rules, tool, call, expected);
    }
    assert!(TABLE.lines().filter(|line| line.contains('|')).count() >= 60);
}

/// Policy | tool | accesses | decision and rule.
const TABLE: &str = "
read-only | read | read src/a.rs | allow
read-only | write | write src/a.rs | deny
read-only | bash | exec ls | deny
read-only | webfetch | network example.com | deny
read-only | log | trace * | allow
read-only | batch | | allow
standard | write | write src/a.rs | allow
standard | edit | read src/a.rs; write src/a.rs | allow
standard | bash | exec ls | deny
standard | webfetch | network example.com | deny
privileged | bash | exec ls; exec rm -rf x | allow
privileged | webfetch | network example.com | allow
standard ?exec | bash | exec ls | ask
standard ?exec | bash | exec ls; network example.com | deny
standard ?exec ?network | bash | exec ls; network example.com | ask
standard +exec | bash | exec ls | allow
standard +exec ?exec | bash | exec ls | ask
standard ?read | read | read a | ask
standard; flags allow bash: cargo test * | bash | exec cargo test --all | allow bash: cargo test *
standard; flags allow bash: cargo test * | bash | exec cargo test | allow bash: cargo test *
standard; flags allow bash: cargo test * | bash | exec cargo testing | deny
standard; flags allow bash: cargo test * | bash | exec cargo test; exec rm x | deny
standard; flags allow bash: cargo test * | bash | exec cargo test; write src/a.rs | allow bash: cargo test *
standard; flags allow bash: cargo test * | other | exec cargo test | deny
standard; flags allow bash: cargo test * | bash | exec * | deny
standard; flags allow exec: cargo * | bash | exec cargo build | allow exec: cargo *
standard; flags allow bash | bash | exec * | allow bash: *
standard; flags allow * | anything | exec *; network * | allow *: *
privileged; user deny bash: rm * | bash | exec rm -rf / | deny bash: rm *
privileged; user deny bash: rm * | bash | exec ls; exec rm x | deny bash: rm *
privileged; user deny bash: rm * | bash | exec * | deny bash: rm *
privileged; user deny exec: rm * | bash | exec * | deny exec: rm *
privileged; user ask *: rm * | bash | exec * | ask *: rm *
privileged; user deny read: secrets/** | todoread | read * | allow
privileged; user deny vault_read: secrets/** | vault_read | read * | deny vault_read: secrets/**
privileged; user deny network: *.evil.com | webfetch | network API.EVIL.com | deny network: *.evil.com
privileged; user deny network: *.evil.com | webfetch | network * | deny network: *.evil.com
privileged; flags allow bash: git *; user deny bash: git push * | bash | exec git push | deny bash: git push *
privileged; flags allow bash: git *; project deny bash: git push * | bash | exec git push x | deny bash: git push *
privileged; flags allow bash: git *; user ask bash: git push * | bash | exec git push x | allow bash: git *
privileged; session allow bash: git *; user ask bash: git push * | bash | exec git push x | allow bash: git *
privileged; saved ask bash: git *; user allow bash: git push * | bash | exec git push x | ask bash: git *
privileged; user ask bash: git *; project allow bash: git push * | bash | exec git push x | ask bash: git *
standard; user ask bash: git *; project allow bash: git push * | bash | exec git push x | ask bash: git *
standard; project allow bash: git push * | bash | exec git push x | allow bash: git push *
standard; user ask bash: git * | bash | exec git push x | deny
standard ?exec; user ask bash: git * | bash | exec git push x | ask bash: git *
privileged; project ask bash: git *; user allow bash: git * | bash | exec git log | allow bash: git *
privileged; user allow bash: git log *; user deny bash: git * | bash | exec git log -1 | allow bash: git log *
privileged; user allow bash: git log *; user deny bash: git * | bash | exec git push | deny bash: git *
privileged; user allow bash: git log *; user deny bash: git * | bash | exec * | deny bash: git *
standard; project deny write: src/generated | edit | read src/generated/a.rs; write src/generated/a.rs | deny write: src/generated
standard; project deny write: src/generated | read | read src/generated/a.rs | allow
standard; project deny write: src/generated | write | write src/x/../generated/a.rs | deny write: src/generated
standard; project deny write: src/generated | write | write ./src//generated/a.rs | deny write: src/generated
read-only; user allow write: docs/** | write | write docs/a/b.md | allow write: docs/**
read-only; user allow write: docs/** | write | write docs/../src/a.rs | deny
read-only; user allow edit: docs/** | edit | read docs/a; write docs/a | allow edit: docs/**
read-only; user allow =write: docs/** | edit | write docs/a | deny
read-only; user allow =write: docs/** | write | write docs/a | allow =write: docs/**
standard | write | write .git/hooks/pre-commit | ask write: .git/hooks
standard | write | write sub/.GIT/config | ask write: .git/config
standard | edit | read .mcp.json; write .mcp.json | ask write: .mcp.json
standard | edit | read a; write a; write .github/workflows/ci.yml | ask write: .github/workflows
read-only | write | write .git/config | deny
standard | read | read .env | ask read: .env
standard | read | read app/.env.local | ask read: .env.*
standard | read | read .env.example | allow
standard | read | read keys/server.pem | ask read: *.pem
standard | grep | read * | allow
standard | vfs_write | write * | allow
standard; flags allow write: .git/config | edit | write .git/config | allow write: .git/config
standard; project deny write: .git/** | edit | write .git/config | deny write: .git/**
standard; user deny batch | batch | | deny batch: *
standard; user deny exec | batch | | allow
standard; user ask * | batch | | ask *: *
standard; user deny task: explore | task | | deny task: explore
standard; user allow task: explore | task | | allow
standard; user allow mcp__gh__*: * | mcp__gh__list | exec * | allow mcp__gh__*: *
standard; user allow gh_*: * | mcp__gh__list | exec * | allow gh_*: *
standard; user allow gh/list: * | mcp__gh__list | network * | allow gh/list: *
standard; user allow gh/list: * | mcp__gh__drop | network * | deny
privileged; user deny mymcp_*: * | mcp__mymcp__x | exec * | deny mymcp_*: *
";

#[test]
fn sentences_name_the_rule_its_file_and_line_and_the_way_out() {
    for (rules, tool, call, sentence, remedy) in [
        (
            "standard",
            "bash",
            "exec cargo test 'a b'",
            "`bash` would run `cargo test 'a b'`, and exec is not granted",
            "allow exec in the policy, or add the allow rule `bash: cargo test 'a b'`",
        ),
        (
            "privileged; user deny bash: rm *",
            "bash",
            "exec rm x",
            "`bash` would run `rm x`, and the user rule `bash: rm *` (user.toml:1) denies it",
            "nothing overrides a deny: change or remove the user rule at user.toml:1",
        ),
        (
            "standard",
            "edit",
            "write .git/config",
            "`edit` would write `.git/config`, which is protected (`.git/config`): git runs what it names",
            "consent, or add the allow rule `edit: .git/config`; a blanket yes does not answer for protected files",
        ),
        (
            "standard ?network",
            "webfetch",
            "network example.com",
            "`webfetch` would reach `example.com`, and network needs a person's consent",
            "consent, or add the allow rule `webfetch: example.com`, or allow network in the policy",
        ),
        (
            "standard; user ask bash: git *",
            "bash",
            "exec git log",
            "`bash` would run `git log`, and exec is not granted; the rule `bash: git *` (user.toml:1) asks but grants nothing",
            "allow exec in the policy, or add the allow rule `bash: git log`",
        ),
        (
            "standard; user ask write",
            "write",
            "write Makefile",
            "`write` would write `Makefile`, and the user rule `write: *` (user.toml:1) asks first",
            "consent, or add the allow rule `write: /Makefile`",
        ),
    ] {
        let accesses = accesses(call);
        let decision = policy(rules).decide(&Request { tool, accesses: &accesses });
        assert_eq!(decision.sentence(), sentence);
        assert_eq!(decision.remedy().unwrap(), remedy);
    }
}

#[test]
fn the_remedy_works() {
    use toolpost_core::policy::{Layer, Origin, Rule};
    let policy = Policy::profile(Profile::ReadOnly).with_names(&NAMES);
    for (tool, call) in [
        ("bash", "exec cargo test --all"),
        ("bash", "exec echo '*' [a] {b} \\ ?"),
        ("write", "write .git/config"),
        ("edit", "write a[1].txt"),
        ("write", "write /etc/hosts"),
        ("mcp__gh__list", "network *"),
        ("webfetch", "network example.com"),
    ] {
        let accesses = accesses(call);
        let origin = Origin::new(Layer::Flags, "--allow-rule", 0);
        let exact = Rule::exact(Effect::Allow, tool, None, &accesses[0], origin.clone()).unwrap();
        let read_back = Rule::parse_short(Effect::Allow, &exact.to_string(), origin).unwrap();
        assert_eq!(read_back, exact);
        assert_ne!(effect(&policy, tool, &accesses), Effect::Allow);
        let wider = policy.with_rules(Layer::Flags, vec![read_back]);
        assert_eq!(effect(&wider, tool, &accesses), Effect::Allow, "{exact}");
        if accesses[0].resource != toolpost_core::access::Resource::Any {
            assert_ne!(
                effect(&wider, tool, &[Access::command("other"), Access::host("other")]),
                Effect::Allow
            );
        }
    }
}

#[test]
fn protected_asks_are_known_among_other_asks() {
    let policy = policy("standard; user ask write: src/**");
    let is_protected =
        |call: &str| policy.decide(&Request { tool: "edit", accesses: &accesses(call) }).is_protected();
    assert!(is_protected("write .git/config"));
    assert!(is_protected("write src/a; write .git/config"));
    assert!(!is_protected("write src/a"));
    assert!(!is_protected("write a"));
}

#[test]
fn no_ask_of_another_layer_hides_that_a_file_is_protected() {
    for rule in
        ["project ask write: *", "user ask *", "flags ask edit: .git/**", "project ask write: .git/config"]
    {
        let policy = policy(&format!("standard; {rule}"));
        let decision = policy.decide(&Request { tool: "edit", accesses: &accesses("write .git/config") });
        assert!(decision.is_protected(), "{rule}: {decision}");
    }
    let policy = policy("standard; project ask write: *; flags allow write: .git/config");
    assert_eq!(effect(&policy, "edit", &accesses("write .git/config")), Effect::Allow);
}

#[test]
fn tools_are_offered_where_a_call_could_be_allowed() {
    let exec = Capabilities::NONE.with(Capability::Exec);
    for (rules, tool, expected) in [
        ("standard", "bash", false),
        ("standard +exec", "bash", true),
        ("standard ?exec", "bash", true),
        ("standard; user allow bash: cargo *", "bash", true),
        ("standard; user allow exec: cargo *", "bash", true),
        ("standard; user allow bash: cargo *", "other", false),
        ("standard; user ask bash: cargo *", "bash", false),
        ("standard; user allow *", "other", true),
        ("standard; user allow write", "bash", false),
    ] {
        assert_eq!(policy(rules).offers(tool, exec), expected, "{rules}");
    }
    let met = policy("privileged").meet(&policy("standard; user allow bash: cargo *"));
    assert!(met.offers("bash", exec) && !met.offers("other", exec));
    assert!(policy("read-only").offers("batch", Capabilities::NONE));
}

#[test]
fn explanations_read_well_and_are_data() {
    let policy =
        policy("standard; user allow bash: git log *; user deny bash: git *; project allow bash: git push *");
    let accesses = accesses("exec git push");
    let explanation = policy.explain(&Request { tool: "bash", accesses: &accesses });
    assert_eq!(
        explanation.to_string(),
        "deny: `bash` would run `git push`, and the user rule `bash: git *` (user.toml:2) denies it
to change it: nothing overrides a deny: change or remove the user rule at user.toml:2

exec `git push`: deny, as `bash` would run `git push`, and the user rule `bash: git *` (user.toml:2) denies it
  user: allow `bash: git log *` (user.toml:1): does not match
  user: deny `bash: git *` (user.toml:2): decides
  project: allow `bash: git push *` (project.toml:3): matches, but does not decide
"
    );
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["rule"]["file"], "user.toml");
    assert_eq!(json["rule"]["line"], 2);
    assert_eq!(json["accesses"][0]["lookedAt"][1]["won"], true);
    assert_eq!(json["effect"], "deny");
}

#[test]
fn rules_that_do_nothing_are_warned_about() {
    let tools = ["bash", "edit", "read", "webfetch"];
    let may_come = |name: &str| name.starts_with("mcp_");
    let subjects = RuleSubjects { tools: &tools, may_come: &may_come, root: Some("/home/me/project") };
    for (rules, expected) in [
        ("standard; user deny bash: curl * | sh", "has `|`"),
        ("standard; user deny bash: touch q && touch r", "has `&&`"),
        ("standard; user ask bash: touch q > x", "has `>`"),
        ("standard; user deny bash: $(touch q)", "has `$(`"),
        ("standard; user deny bash: rm:*", "write `rm *`"),
        ("standard; user deny bash: Bash(rm *)", "write `rm *`"),
        ("standard; user deny write: /home/me/project/n.txt", "write `/n.txt`, or `//home/me/project/n.txt`"),
        ("standard; user deny write: $PWD/n.txt", "begins with a variable"),
        ("standard; user deny write: ${workspaceFolder}/n.txt", "begins with a variable"),
        ("standard; user deny read: secret//a", "has an empty part"),
        ("standard; user deny read: /", "names only the root"),
        ("standard; user deny webfetch: user@example.com", "write `example.com`"),
        ("standard; user deny webfetch: domain:example.com", "write `example.com`"),
        ("standard; user deny webfetch: example.com.", "write `example.com`"),
        ("standard; user deny webfetch: bücher.example", "judged in ASCII"),
        ("standard; user deny webfetch: {a,b}.example", "has `{`"),
        ("standard; user deny webfetch: 2001:db8::1", "judged as `[2001:db8::1]`"),
        ("standard; user deny bash: bash: rm *", "begins with the action `bash`"),
        ("standard; user deny bash: ^rm *", "regular expression"),
        ("standard; user deny bash: {rm,mv} *", "only `*` and `?` have a meaning"),
        ("standard; user deny write: src\\a.rs", "write `src/a.rs`"),
        ("standard; user deny write: !keep.txt", "begins with `!`"),
        ("standard; user deny write: a.txt, b.txt", "is a list"),
        ("standard; user deny write: write(src/**)", "write `src/**`"),
        (
            "standard; user allow bash: cargo *; user deny bash: cargo test *",
            "is never reached: `bash: cargo *` (allow at user.toml:1)",
        ),
        ("standard; user allow write: src/**; user ask write: src/a/b.rs", "is never reached"),
        ("standard; user ask *; user deny edit: a/**", "is never reached"),
        ("standard; user allow bsah: cargo *", "did you mean `bash`"),
        ("standard; user allow exce: cargo *", "did you mean `exec`"),
        ("standard; user allow nothing_like_it_*: x", "matches no tool there is now"),
        ("standard; user allow exec: src/**", "looks like a path"),
        ("standard; user allow webfetch: https://example.com/*", "match host names only"),
        ("standard; user deny write: src/../x", "has a `.` or `..` part"),
        ("standard; user deny read: ~/.ssh/**", "is not expanded"),
        ("standard; user deny read: /etc/**", "write `//etc/**` for the absolute path"),
        (
            "standard; user deny bash: git *; project allow bash: git *",
            "never takes effect: `bash: git *` (deny at user.toml:1)",
        ),
        ("standard; project deny bash: git *; user allow bash: git push *", "never takes effect"),
        ("standard; user ask bash: git *; project allow bash: git log *", "never decides"),
    ] {
        let warnings = toolpost_rules::warnings(&policy(rules), &subjects);
        assert!(warnings.iter().any(|warning| warning.message.contains(expected)), "{rules}: {warnings:?}");
    }
    for rules in [
        "standard; user deny bash: git push *; user allow bash: git *; project deny write: src/**",
        "standard; user allow bash: cargo test *; user ask bash: cargo *; flags allow mcp__x__y",
        "standard; user allow bash: git log *; user deny bash: git *; project allow bash: git log -1",
        "standard; user allow write: docs/*; user deny write: docs/**",
        "standard; user allow bash: ./gradlew *; project deny write: *.lock",
        "standard; user deny bash: git commit -m 'a && b'; user deny write: a$b/c",
        "standard; user deny webfetch: *.example.com; user deny write: //home/me/project/n.txt",
    ] {
        let warnings = toolpost_rules::warnings(&policy(rules), &subjects);
        let warnings: Vec<_> =
            warnings.iter().filter(|warning| !warning.message.contains("never decides")).collect();
        assert!(warnings.is_empty(), "{rules}: {warnings:?}");
    }
}
