//! Dialects that a host brings: their names lead to its tools, and rules know them.

use serde_json::json;
use std::sync::Arc;
use toolpost_core::dialect::{Alias, Dialects, Spelling, Tables};
use toolpost_core::policy::{Effect, Layer, Names, Origin, Policy, Request, Rule};
use toolpost_core::tool::RuleNames;
use toolpost_core::{Access, Capability, Code, Context, Dialect, Executor, Output, Registry, Spec, dynamic};

fn tables() -> Tables {
    let mut loud = Dialect::new("loud", "models that shout");
    let row = Spelling::new(Alias::new("WEATHER", "weather").argument("PLACE", "place"));
    loud.add(row, vec![]).unwrap();
    loud.leave_out("clock", "they have one");
    Tables { dialects: vec![loud], aliases: vec![Alias::new("forecast", "weather")] }
}

fn registry() -> Arc<Registry> {
    let registry = Registry::new();
    for name in ["weather", "clock", "other"] {
        let schema = json!({"type": "object", "properties": {"place": {"type": "string"}}, "additionalProperties": false});
        let spec = Spec::new(name, "1.0.0", "Does something.").requires(Capability::Read);
        registry
            .register(dynamic(spec, schema, |_, args| async { Ok(Output::new("echo", "", args)) }))
            .unwrap();
    }
    registry
        .change(|draft| {
            draft.set_dialects(Arc::new(Dialects::new(tables)));
            Ok(())
        })
        .unwrap();
    Arc::new(registry)
}

#[test]
fn a_tool_without_a_row_is_offered_as_it_is() {
    let snapshot = registry().snapshot();
    let offered = |dialect: &Dialect| -> Vec<String> {
        let offers = snapshot.all().filter_map(|entry| snapshot.offer(entry, dialect).unwrap());
        offers.map(|definition| definition.spec.name).collect()
    };
    assert_eq!(offered(&Dialect::canonical()), ["weather", "clock", "other"]);
    let loud = snapshot.dialects().named("loud").unwrap();
    assert_eq!(offered(&loud), ["WEATHER", "other"]);
    assert_eq!(snapshot.other_names("weather"), ["WEATHER", "forecast"]);
}

#[test]
fn no_table_is_read_for_a_canonical_name() {
    let dialects =
        Dialects::new(|| panic!("the tables were read")).with_canonical(|| ["weather".to_owned()].into());
    assert_eq!(dialects.meaning("weather"), Some("weather"));
    assert_eq!(dialects.named("toolpost").unwrap().name(), "toolpost");
}

#[tokio::test]
async fn names_of_a_dialect_lead_to_the_tool_and_are_known_to_rules() {
    let session = Context::in_memory().with_tools(registry());
    let executor = Executor::new();
    for name in ["weather", "WEATHER", "forecast"] {
        let outcome = executor.call(&session, name, json!({"PLACE": "here"})).await;
        assert_eq!(
            (outcome.tool.as_str(), outcome.result.unwrap().data),
            ("weather", json!({"place": "here"}))
        );
        let origin = Origin::new(Layer::User, "rules.toml", 1);
        let rule = Rule::parse_short(Effect::Deny, name, origin).unwrap();
        let policy = Policy::default().with_rules(Layer::User, vec![rule]);
        let denied = session.rebuild().policy(policy).build();
        let error = executor.call(&denied, "weather", json!({})).await.result.unwrap_err();
        assert_eq!(error.code(), Code::PermissionDenied, "{name}");
        assert!(executor.call(&denied, "other", json!({})).await.result.is_ok(), "{name}");
    }
}

#[test]
fn a_tool_of_a_group_is_known_to_rules_by_its_other_names() {
    let names = RuleNames {
        group: "home".to_owned(),
        spellings: vec!["home/lamp".to_owned(), "home_lamp".to_owned()],
    };
    let lamp = Spec::new("at__home__lamp", "1.0.0", "Light.").rule_names(names);
    let names = Names::new(Arc::new(Dialects::default()), [&lamp]);
    let effect = |rule: &str, tool: &str| {
        let rule = Rule::parse_short(Effect::Deny, rule, Origin::new(Layer::User, "", 0)).unwrap();
        let policy = Policy::default().with_rules(Layer::User, vec![rule]).with_names(&names);
        policy.decide(&Request { tool, accesses: &[Access::any(Capability::Read)] }).effect()
    };
    for rule in ["at__home__lamp", "home/*", "home.lamp", "home_l?mp", "home"] {
        assert_eq!(effect(rule, &lamp.name), Effect::Deny, "{rule}");
        assert_eq!(effect(rule, "other"), Effect::Allow, "{rule}");
    }
    // The name of a group is no pattern.
    for rule in ["hom?", "lamp", "home/lam"] {
        assert_eq!(effect(rule, &lamp.name), Effect::Allow, "{rule}");
    }
}
