//! What holds for all policies and calls.

use super::{NAMES, access, count, effect};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::Cell;
use std::sync::LazyLock;
use std::time::Instant;
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Effect, Layer, Origin, Policy, Profile, Request, Rule};
use toolpost_core::text::Source;
use toolpost_core::{Access, Capability};

const ACTIONS: &[&str] = &[
    "read",
    "write",
    "exec",
    "network",
    "trace",
    "*",
    "bash",
    "edit",
    "=write",
    "mcp__gh__*",
    "gh_list",
    "b*",
];
const RESOURCES: &[&str] = &[
    "*",
    "src/**",
    "*.rs",
    "src/*.rs",
    "docs",
    "/Makefile",
    ".git/**",
    "cargo *",
    "cargo test *",
    "git push",
    "*.example.com",
    "{a,b}/**",
    "it's [x] \"y\"",
];
const TOOLS: &[&str] = &["bash", "edit", "write", "mcp__gh__list", "webfetch", "batch"];
const CALLS: &[&str] = &[
    "read src/a.rs",
    "write src/a.rs",
    "write src/deep/b.rs",
    "write docs/x/y",
    "read docs",
    "write Makefile",
    "write sub/Makefile",
    "write .git/config",
    "read .env",
    "read a/b",
    "write it's x \"y\"",
    "exec cargo test --all",
    "exec cargo build",
    "exec git push",
    "exec git push x",
    "network api.example.com",
    "network example.com",
    "read *",
    "write *",
    "exec *",
    "network *",
    "trace *",
];

/// One policy in numbers: granted and askable capabilities, rules as layer, effect, action, resource.
type Seed = (u8, u8, Vec<(u8, u8, u8, u8)>);

fn seeds() -> impl Strategy<Value = Seed> {
    let rule = (0..6u8, 0..3u8, 0..ACTIONS.len() as u8, 0..RESOURCES.len() as u8);
    (0..32u8, 0..32u8, proptest::collection::vec(rule, 0..5))
}

fn calls() -> impl Strategy<Value = (usize, Vec<usize>)> {
    (0..TOOLS.len(), proptest::collection::vec(0..CALLS.len(), 0..3))
}

/// Every rule that the seeds can name, made once.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut rules = Vec::new();
    for effect in [Effect::Allow, Effect::Ask, Effect::Deny] {
        for action in ACTIONS {
            for resource in RESOURCES {
                let origin = Origin::new(Layer::User, "random.toml", rules.len() + 1);
                rules.push(Rule::new(effect, action, resource, origin).unwrap());
            }
        }
    }
    rules
});

static ACCESSES: LazyLock<Vec<Access>> = LazyLock::new(|| CALLS.iter().map(|call| access(call)).collect());

fn build(seed: &Seed) -> Policy {
    let set = |bits: u8| -> Capabilities {
        let chosen = Capability::ALL.into_iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
        chosen.map(|(_, capability)| capability).collect()
    };
    let mut policy = Policy::with_capabilities(set(seed.0), set(seed.1)).with_names(&NAMES);
    for (layer, effect, action, resource) in &seed.2 {
        let index =
            (*effect as usize * ACTIONS.len() + *action as usize) * RESOURCES.len() + *resource as usize;
        policy = policy.with_rules(Layer::ALL[*layer as usize], vec![RULES[index].clone()]);
    }
    policy
}

/// Runs the property on so many cases from a fixed seed and says how long it took.
fn run<S: Strategy>(
    name: &str,
    cases: u32,
    strategy: S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let started = Instant::now();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let done = Cell::new(0u32);
    let outcome = runner.run(&strategy, |value| {
        done.set(done.get() + 1);
        property(value)
    });
    outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    println!("measure: {name}: {} cases, 0 failures, {:.1} s", done.get(), started.elapsed().as_secs_f64());
}

#[test]
fn guarantee_17_a_meet_is_the_stricter_of_both_and_grants_nothing_the_parent_lacks() {
    let strategy = (seeds(), seeds(), calls());
    run("guarantee 17: meet narrows", count(50_000, 100_000), strategy, |(child, parent, (tool, call))| {
        let (child, parent) = (build(&child), build(&parent));
        let meet = child.meet(&parent);
        let (tool, call): (_, Vec<Access>) =
            (TOOLS[tool], call.iter().map(|at| ACCESSES[*at].clone()).collect());
        let stricter = effect(&child, tool, &call).max(effect(&parent, tool, &call));
        prop_assert_eq!(effect(&meet, tool, &call), stricter);
        prop_assert!(meet.granted().difference(parent.granted()).is_empty());
        let possible = parent.granted().union(parent.askable());
        prop_assert!(meet.askable().difference(possible).is_empty());
        let required: Capabilities = call.iter().map(|access| access.action).collect();
        prop_assert_eq!(
            meet.offers(tool, required),
            child.offers(tool, required) && parent.offers(tool, required)
        );
        Ok(())
    });
}

#[test]
fn guarantee_17_meet_is_associative_idempotent_and_commutative() {
    let strategy = (seeds(), seeds(), seeds(), calls());
    run("guarantee 17: meet laws", count(50_000, 100_000), strategy, |(a, b, c, (tool, call))| {
        let (a, b, c) = (build(&a), build(&b), build(&c));
        let (tool, call): (_, Vec<Access>) =
            (TOOLS[tool], call.iter().map(|at| ACCESSES[*at].clone()).collect());
        let (left, right) = (a.meet(&b).meet(&c), a.meet(&b.meet(&c)));
        let request = Request { tool, accesses: &call };
        prop_assert_eq!(left.decide(&request), right.decide(&request));
        prop_assert_eq!(effect(&a.meet(&b), tool, &call), effect(&b.meet(&a), tool, &call));
        prop_assert_eq!(a.meet(&a).decide(&request), a.decide(&request));
        prop_assert_eq!(
            left.meet(&left.clone().allow(Capability::Read).meet(&left)).decide(&request).effect(),
            left.decide(&request).effect()
        );
        prop_assert_eq!(left.granted(), right.granted());
        prop_assert_eq!(left.askable(), right.askable());
        Ok(())
    });
}

#[test]
fn a_policy_and_its_printed_form_decide_alike() {
    let strategy = (seeds(), seeds(), calls());
    run("printed policies", count(3_000, 100_000), strategy, |(a, b, (tool, call))| {
        let (tool, call): (_, Vec<Access>) =
            (TOOLS[tool], call.iter().map(|at| ACCESSES[*at].clone()).collect());
        for policy in [build(&a), build(&a).meet(&build(&b))] {
            let text = toolpost_rules::policy_to_toml(&policy);
            let source = Source::new("printed.toml", text.as_bytes()).unwrap();
            let read_back = toolpost_rules::policy_from_toml(&source, &NAMES)
                .unwrap_or_else(|errors| panic!("{errors}\n{text}"));
            prop_assert_eq!(effect(&read_back, tool, &call), effect(&policy, tool, &call), "{}", text);
            prop_assert_eq!(read_back.granted(), policy.granted());
            prop_assert_eq!(read_back.askable(), policy.askable());
        }
        Ok(())
    });
}

#[test]
fn explaining_never_disagrees_with_deciding() {
    run("explanations", count(3_000, 100_000), (seeds(), calls()), |(a, (tool, call))| {
        let policy = build(&a);
        let call: Vec<Access> = call.iter().map(|at| ACCESSES[*at].clone()).collect();
        let request = Request { tool: TOOLS[tool], accesses: &call };
        let (decision, explanation) = (policy.decide(&request), policy.explain(&request));
        prop_assert_eq!(explanation.effect, decision.effect().into());
        prop_assert_eq!(
            explanation.accesses.iter().map(|judged| judged.effect).max(),
            Some(decision.effect())
        );
        Ok(())
    });
}

#[test]
fn rules_round_trip_through_their_short_form() {
    for rule in RULES.iter() {
        let read_back = Rule::parse_short(rule.effect(), &rule.to_string(), rule.origin().clone()).unwrap();
        assert_eq!(&read_back, rule);
    }
}

#[test]
fn a_simply_granted_call_is_decided_quickly() {
    let policy = Policy::profile(Profile::Standard);
    let accesses = [Access::path(Capability::Read, "src/policy/judge.rs")];
    let started = Instant::now();
    let rounds = 10_000;
    for _ in 0..rounds {
        assert_eq!(effect(&policy, "read", &accesses), Effect::Allow);
    }
    let each = started.elapsed() / rounds;
    println!("measure: decide a granted read: {each:?} (debug build)");
    assert!(each.as_micros() < 500, "{each:?}");
}
