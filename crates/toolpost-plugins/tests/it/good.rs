//! Servers that do what the protocol wants, in both eras.

use crate::load::stretched;
use crate::stage::{Setup, World, run, until, yes};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use toolpost_core::event::EventKind;
use toolpost_core::host::Scope;
use toolpost_core::policy::Profile;
use toolpost_core::policy::{Effect, Layer, Origin, Rule};
use toolpost_core::{Answer, Call, Code, Policy};
use toolpost_plugins::Hints;

/// The same of both eras.
fn check(mode: &str) {
    run(async {
        let world = World::new(&[mode]);
        assert!(world.processes().is_empty(), "nothing is started before it is needed");
        assert_eq!(world.text("ping", json!({})).await, "pong");
        assert!(world.processes().is_empty(), "nor by a call of something else");
        let tool = |name: &str| format!("mcp__{mode}__{name}");
        assert_eq!(world.text(&tool("echo"), json!({"said": "hello"})).await, "hello");
        let failed = world.call(&tool("fail"), json!({})).await;
        assert_eq!(failed.to_text(), "Error: it did not work, try again");
        assert_eq!(failed.result.unwrap_err().code(), Code::ExecutionError);
        let structured = world.call(&tool("structured"), json!({})).await.result.unwrap();
        assert_eq!((structured.text.as_str(), structured.data), ("three", json!({"n": 3})));
        let mismatch = world.call(&tool("mismatch"), json!({})).await.result.unwrap_err();
        assert_eq!(mismatch.code(), Code::ResultSchemaMismatch);
        let picture = world.call(&tool("picture"), json!({})).await.result.unwrap();
        assert_eq!(picture.attachments[0].filename, "image-1.png");
        let wrong = world.call(&tool("echo"), json!({"said": {"deep": 7}})).await.result.unwrap_err();
        assert_eq!(wrong.code(), Code::ValidationError);
        let unknown = world.call(&tool("ecko"), json!({})).await.result.unwrap_err();
        assert_eq!(unknown.code(), Code::ToolNotFound);
        assert!(unknown.message().contains(&tool("echo")), "{unknown}");
        world.end().await;
    });
}

#[test]
fn a_server_with_a_handshake_is_called() {
    check("good");
}

#[test]
fn a_server_without_a_handshake_is_called() {
    check("modern");
}

#[test]
fn servers_that_cannot_bear_new_words_are_greeted_as_of_old() {
    run(async {
        let world = World::new(&["dies-at-new-words"]);
        assert_eq!(world.echo("dies-at-new-words").await, "hello");
        world.end().await;
        let world = World::new(&["silent-at-new-words"]);
        assert_eq!(world.echo("silent-at-new-words").await, "hello");
        world.end().await;
    });
}

#[test]
fn all_spellings_are_accepted() {
    run(async {
        let world = World::with(Setup::default(), |world| {
            let mut server = world.server("good");
            server.name = "my.server".to_owned();
            vec![server]
        });
        for name in [
            "mcp__my_server__echo",
            "mcp_my_server_echo",
            "my_server_echo",
            "my_server/echo",
            "my.server/echo",
            "mcp__my.server__echo",
        ] {
            assert_eq!(world.text(name, json!({"said": name})).await, name);
        }
        assert_eq!(world.text("my.server/dotted.name/x", json!({})).await, "called dotted.name/x");
        assert_eq!(world.text("mcp__my_server__dotted_name_x", json!({})).await, "called dotted.name/x");
        world.end().await;
    });
}

#[test]
fn a_spelling_that_means_two_tools_means_neither() {
    run(async {
        let world = World::with(Setup::default(), |world| {
            ["a", "a_dotted"]
                .map(|name| toolpost_plugins::Server { name: name.to_owned(), ..world.server("good") })
                .into()
        });
        world.registry.sources()[0].all_ready().await;
        assert_eq!(world.text("a_echo", json!({"said": "x"})).await, "x");
        let ambiguous = world.call("a_dotted_name_x", json!({})).await.result.unwrap_err();
        assert_eq!(ambiguous.code(), Code::ToolNotFound, "{ambiguous}");
        assert_eq!(world.text("a_dotted/name_x", json!({})).await, "called name_x");
        assert_eq!(world.text("a/dotted.name/x", json!({})).await, "called dotted.name/x");
        world.end().await;
    });
}

#[test]
fn the_policy_decides_by_rules_in_every_spelling() {
    let rule = |effect, action: &str| {
        Rule::new(effect, action, "*", Origin::new(Layer::User, "rules.toml", 1)).unwrap()
    };
    run(async {
        for action in ["mcp__good__echo", "mcp_good_echo", "good_echo", "good/echo", "good/*"] {
            let policy = Policy::default().with_rules(Layer::User, vec![rule(Effect::Allow, action)]);
            let world = World::with(Setup { policy, ..Setup::default() }, |world| vec![world.server("good")]);
            assert_eq!(world.echo("good").await, "hello", "{action}");
            if !action.ends_with('*') {
                let other = world.call("mcp__good__fail", json!({})).await.result.unwrap_err();
                assert_eq!(other.code(), Code::PermissionDenied, "{action}");
            }
            world.end().await;
            let policy = Policy::profile(Profile::Privileged)
                .with_rules(Layer::User, vec![rule(Effect::Deny, action)]);
            let world = World::with(Setup { policy, ..Setup::default() }, |world| vec![world.server("good")]);
            let denied = world.call("good_echo", json!({})).await.result.unwrap_err();
            assert_eq!(denied.code(), Code::PermissionDenied, "{action}");
            assert!(denied.message().contains("rules.toml"), "{denied}");
            world.end().await;
        }
    });
}

#[test]
fn hints_count_only_where_the_user_believes_them() {
    run(async {
        for (hints, expected) in [(Hints::Ignored, None), (Hints::Believed, Some("hello"))] {
            let setup = Setup { policy: Policy::profile(Profile::ReadOnly), ..Setup::default() };
            let world =
                World::with(setup, |world| vec![toolpost_plugins::Server { hints, ..world.server("good") }]);
            let outcome = world.call("good_echo", json!({"said": "hello"})).await;
            match expected {
                Some(expected) => assert_eq!(outcome.to_text(), expected),
                None => assert_eq!(outcome.result.unwrap_err().code(), Code::PermissionDenied),
            }
            let fail = world.call("good_fail", json!({})).await.result.unwrap_err();
            assert_eq!(
                fail.code(),
                Code::PermissionDenied,
                "nothing but a claim to change nothing is read-only"
            );
            world.end().await;
        }
    });
}

#[test]
fn questions_of_a_server_reach_the_person() {
    run(async {
        for (mode, answer, expected) in [
            ("good", yes(), r#"{"action": "accept", "content": {"sure": true}}"#),
            ("good", Some(Answer::No("not now".into())), r#"{"action": "decline"}"#),
            ("good", None, "no person can be asked"),
            ("modern", yes(), r#"[{"action": "accept", "content": {"sure": true}}, "s3al"]"#),
            ("modern", None, "no person can be asked"),
        ] {
            let world = World::with(Setup { answer, ..Setup::default() }, |world| vec![world.server(mode)]);
            let text = world.text(&format!("{mode}/ask"), json!({})).await;
            assert!(text.contains(expected), "{mode}: {text}");
            let asked = world.log.events().into_iter().find_map(|event| match &event.kind {
                EventKind::Asked { question } => Some(question.text.clone()),
                _ => None,
            });
            let asked = asked.unwrap();
            assert!(asked.contains(&format!("the MCP server `{mode}` asks: Really?")), "{asked}");
            let text = world.text(&format!("{mode}/ask_name"), json!({})).await;
            assert!(text.contains("decline") && text.contains("it wants `name`"), "{mode}: {text}");
            world.end().await;
        }
        let world = World::new(&["good"]);
        let sampled = world.text("good/sample", json!({})).await;
        assert!(sampled.contains("-32601") && sampled.contains("sampling/createMessage"), "{sampled}");
        world.end().await;
    });
}

#[test]
fn progress_is_passed_on_and_a_call_that_is_given_up_is_withdrawn() {
    run(async {
        for mode in ["good", "modern"] {
            let world = World::new(&[mode]);
            let began = Instant::now();
            let call = Call::new(format!("{mode}/slow"), json!({})).timeout(Duration::from_millis(1500));
            let outcome = world.executor.run(&world.context, call).await;
            assert_eq!(outcome.result.unwrap_err().code(), Code::Timeout);
            assert!(began.elapsed() < stretched(Duration::from_secs(4)), "{:?}", began.elapsed());
            let told: Vec<String> = world
                .log
                .events()
                .into_iter()
                .filter_map(|event| match &event.kind {
                    EventKind::Progress { title, metadata } if title.starts_with("step") => {
                        Some(format!("{title} {metadata}"))
                    }
                    _ => None,
                })
                .collect();
            assert_eq!(told.len(), 3, "{told:?}");
            assert!(told[1].starts_with("step 2 ") && told[1].contains(r#""total":3"#), "{told:?}");
            let withdrawn = world.text(&format!("{mode}/cancelled"), json!({})).await;
            let withdrawn: Vec<u64> = serde_json::from_str(&withdrawn).unwrap();
            assert_eq!(withdrawn.len(), 1, "{mode}");
            assert_eq!(world.processes().len(), 1, "a server that still answers goes on");
            world.end().await;
        }
    });
}

#[test]
fn a_server_gets_the_usual_environment_and_its_own() {
    run(async {
        let world = World::new(&["good"]);
        let text = world.text("good_environment", json!({})).await;
        let environment: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(environment["GIVEN"], "to this server");
        let names: Vec<&String> = environment.as_object().unwrap().keys().collect();
        let strange: Vec<&&String> =
            names.iter().filter(|name| name.starts_with("CARGO") || name.starts_with("RUST")).collect();
        assert!(strange.is_empty(), "{strange:?}");
        world.end().await;
    });
}

#[test]
fn tools_are_chosen_and_a_pack_says_which() {
    run(async {
        let world = World::with(Setup::default(), |world| {
            let only = Some(vec!["echo".to_owned(), "fail".to_owned()]);
            vec![toolpost_plugins::Server { only, without: vec!["fail".to_owned()], ..world.server("good") }]
        });
        assert!(world.registry.sources()[0].all_ready().await.is_empty());
        assert_eq!(world.registry.names(), ["ping", "mcp__good__echo"]);
        let packs = world.plugins.as_ref().unwrap().packs();
        assert_eq!(
            packs.iter().map(|pack| (pack.name(), pack.tools().len())).collect::<Vec<_>>(),
            [("good", 1)]
        );
        assert_eq!(world.registry.get("mcp__good__echo").unwrap().spec().version, "1.2.3");
        world.end().await;
    });
}

#[test]
fn lists_have_one_order_and_hold_back_what_does_not_fit() {
    run(async {
        let setup = Setup { most_tools: 26, ..Setup::default() };
        let world = World::with(setup, |world| {
            ["b", "a", "c"]
                .map(|name| toolpost_plugins::Server { name: name.to_owned(), ..world.server("good") })
                .into()
        });
        world.registry.sources()[0].all_ready().await;
        let names = world.registry.names();
        assert_eq!(
            (names[0].as_str(), names[1].as_str(), names[14].as_str()),
            ("ping", "mcp__b__echo", "mcp__a__echo")
        );
        let listing = world.executor.listing(&world.context);
        assert_eq!((listing.listed.len(), listing.held_back.len()), (27, 13));
        assert!(listing.held_back.iter().all(|entry| entry.name().starts_with("mcp__c__")));
        assert_eq!(world.echo("c").await, "hello", "what is held back can be called");
        world.end().await;
    });
}

#[test]
fn a_changed_list_takes_the_place_of_the_old_one() {
    run(async {
        let world = World::new(&["changes"]);
        assert_eq!(world.echo("changes").await, "hello");
        let mut changes = world.registry.changes();
        changes.mark_unchanged();
        assert_eq!(world.text("changes_change", json!({})).await, "changed");
        until("the new tools appear", || world.registry.has("mcp__changes__new")).await;
        assert!(changes.has_changed().unwrap(), "whoever serves the list is told");
        assert_eq!(world.registry.names(), ["ping", "mcp__changes__new", "mcp__changes__echo"]);
        assert_eq!(world.text("changes/new", json!({})).await, "called new");
        world.end().await;
    });
}

#[test]
fn a_dry_run_calls_nobody() {
    run(async {
        let world = World::new(&["changes"]);
        let call = Call::new("changes/change", json!({})).dry_run();
        let refused = world.executor.run(&world.context, call).await.result.unwrap_err();
        assert!(refused.message().contains("has no dry run of its own"), "{refused}");
        assert!(!world.state().exists());
        world.end().await;
    });
}

#[test]
fn an_answer_for_the_session_is_remembered() {
    run(async {
        let all =
            Policy::default().ask(toolpost_core::Capability::Exec).ask(toolpost_core::Capability::Network);
        let setup = Setup { policy: all, answer: Some(Answer::Yes(Scope::Session)), ..Setup::default() };
        let world = World::with(setup, |world| vec![world.server("good")]);
        // Before that, nothing is known of what it says of its tools.
        world.registry.sources()[0].all_ready().await;
        assert_eq!(world.echo("good").await, "hello");
        assert_eq!(world.echo("good").await, "hello");
        let asked: Vec<_> = world
            .log
            .events()
            .into_iter()
            .filter_map(|event| match &event.kind {
                EventKind::Asked { question } => Some(question.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(
            asked[0].facts.iter().any(|fact| fact.contains("says of it: that it changes nothing")),
            "{asked:?}"
        );
        world.end().await;
    });
}
