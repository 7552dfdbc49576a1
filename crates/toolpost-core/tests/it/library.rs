//! The library as authors of tools and of programs use it: short ways that must do the whole thing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolpost_core::Access;
use toolpost_core::host::FakeClock;
use toolpost_core::policy::{Advice, Effect, Layer, Remedy, Request};
use toolpost_core::prelude::*;

fn spec(name: &str) -> Spec {
    Spec::new(name, "1.0.0", "Does one thing for a test.")
}

fn session(tool: impl toolpost_core::tool::AnyTool + 'static) -> Context {
    let tools = Arc::new(Registry::new());
    tools.register(tool).unwrap();
    Context::in_memory().with_tools(tools)
}

// Policies.

#[track_caller]
fn check_effect(policy: &Policy, tool: &str, access: Access, expected: Effect) {
    assert_eq!(policy.decide(&Request { tool, accesses: &[access] }).effect(), expected, "{policy:?}");
}

#[test]
fn a_deny_holds_in_whichever_order_rules_are_added() {
    let write = || Access::path(Capability::Write, "x/y");
    let before = Policy::standard().deny("write: /x").unwrap().allow_rule("write: *").unwrap();
    let after = Policy::standard().allow_rule("write: *").unwrap().deny("write: /x").unwrap();
    for policy in [before, after] {
        check_effect(&policy, "edit", write(), Effect::Deny);
        check_effect(&policy, "edit", Access::path(Capability::Write, "y"), Effect::Allow);
    }
    let met = Policy::privileged().meet(&Policy::read_only()).deny("read: /x").unwrap();
    check_effect(&met, "read", Access::path(Capability::Read, "x/y"), Effect::Deny);
}

#[test]
fn rules_that_allow_and_ask_are_taken_in_their_order() {
    let policy = Policy::standard().allow_rule("write: /out").unwrap().ask_rule("write: *").unwrap();
    check_effect(&policy, "edit", Access::path(Capability::Write, "out/a"), Effect::Allow);
    check_effect(&policy, "edit", Access::path(Capability::Write, "a"), Effect::Ask);
    let policy = Policy::privileged().ask_rule("bash: git push *").unwrap();
    check_effect(&policy, "bash", Access::command("git push origin"), Effect::Ask);
    check_effect(&policy, "bash", Access::command("git log"), Effect::Allow);
}

#[tokio::test]
async fn guarantee_45_a_rule_of_the_program_that_does_nothing_is_an_error() {
    // What is a capability is known at once.
    for (rule, expected) in [
        (Policy::standard().deny("wrte: x"), "there is no capability `wrte`; did you mean `write`"),
        (Policy::standard().deny("Write: x"), "did you mean `write`"),
        (Policy::privileged().ask_rule("netwrok: *"), "did you mean `network`"),
        (
            Policy::standard().ask_rule("exec: *"),
            "it can never ask, because exec is neither granted nor asked for",
        ),
        (Policy::read_only().ask_rule("write: *"), "it can never ask"),
    ] {
        let why = rule.unwrap_err().to_string();
        assert!(why.contains(expected), "{why}");
    }
    assert!(Policy::standard().deny("=wrte: x").is_ok() && Policy::standard().allow_rule("wrte: x").is_ok());
    // What is a tool, when the first call is made: whichever tool that calls.
    let about_commands = spec("bash").about(toolpost_core::access::ResourceKind::Command);
    let bash = dynamic(about_commands, json!({"type": "object"}), |_, _| std::future::pending());
    let registry = session(bash);
    let look = dynamic(spec("look"), json!({"type": "object"}), |_, _| async {
        Ok(Output::new("", "seen", Value::Null))
    });
    registry.tools().register(look).unwrap();
    for (policy, expected) in [
        (Policy::standard().ask_rule("bash: *").unwrap(), Some("it can never ask, because exec")),
        (
            Policy::privileged().deny("bsah: rm *").unwrap(),
            Some("there is no tool `bsah`; did you mean `bash`"),
        ),
        (Policy::standard().ask(Capability::Exec).ask_rule("bash: *").unwrap(), None),
        (Policy::standard().deny("bash: *").unwrap(), None),
        (Policy::standard().deny("of_another_day: *").unwrap(), None),
        (Policy::standard().deny("bsah*: *").unwrap(), None),
    ] {
        let result = Executor::new().call(&registry.with_policy(policy), "look", json!({})).await.result;
        match expected {
            Some(expected) => {
                let error = result.unwrap_err();
                assert_eq!(error.code(), Code::ValidationError);
                assert!(error.message().contains(expected), "{error}");
            }
            None => assert!(result.is_ok(), "{result:?}"),
        }
    }
}

#[test]
fn a_text_that_is_not_a_rule_is_an_error_that_names_it() {
    let error = ToolError::from(Policy::standard().deny("write: [").unwrap_err());
    assert_eq!(error.code(), Code::ValidationError);
    assert!(error.message().starts_with("the rule `write: [` cannot be read: "), "{error}");
    assert!(error.message().contains("`action: resource`"), "{error}");
}

#[test]
fn who_makes_a_policy_words_its_advice() {
    let own: Advice = |remedy| match remedy {
        Remedy::Capability { capability: Some(capability), rule } => {
            format!("call the desk about {capability} ({rule})")
        }
        other => format!("{other:?}"),
    };
    let policy = Policy::read_only().with_advice(own);
    let write = [Access::path(Capability::Write, "a")];
    let request = Request { tool: "write", accesses: &write };
    let expected = "call the desk about write (write: /a)";
    for policy in [
        policy.clone(),
        policy.allow(Capability::Network),
        policy.meet(&Policy::standard()),
        policy.with_rules(Layer::User, Vec::new()),
        policy.allow_rule("write: /b").unwrap(),
    ] {
        assert_eq!(policy.decide(&request).remedy().as_deref(), Some(expected));
        assert_eq!(policy.explain(&request).remedy.as_deref(), Some(expected));
    }
}

/// What this crate says is for every program that has it, and most have no command line with these flags.
#[test]
fn no_message_of_the_library_names_a_flag() {
    let none = Policy::with_capabilities(Default::default(), Default::default());
    let mut said = vec![
        none.advise(&Remedy::Grant {
            missing: Capability::ALL.into_iter().collect(),
            tool: Some("mcp__a__b"),
        }),
        none.advise(&Remedy::Closed { rules: &["write: /a".to_owned()] }),
        none.advise(&Remedy::Closed { rules: &[] }),
    ];
    let access = [Access::path(Capability::Write, ".git/config")];
    let request = Request { tool: "write", accesses: &access };
    for policy in [
        none.clone(),
        none.ask(Capability::Write),
        Policy::standard(),
        Policy::standard().ask_rule("write: *").unwrap(),
        Policy::standard().deny("write: *").unwrap(),
    ] {
        said.push(policy.decide(&request).to_string());
        said.push(policy.explain(&request).to_string());
    }
    // A command whose files nobody can name, and which nothing confines.
    let about_commands = spec("shell").about(toolpost_core::access::ResourceKind::Command);
    let shell = dynamic(about_commands, json!({"type": "object"}), |_, _| std::future::pending());
    let ctx = session(shell).with_policy(none.ask(Capability::Write));
    let any = [Access::any(Capability::Write).with_consent().unjudged()];
    let decision = Executor::new().policy_for(&ctx).decide(&Request { tool: "shell", accesses: &any });
    said.push(decision.to_string());
    assert!(said.last().is_some_and(|text| text.contains("in the sandbox")), "{said:?}");
    for text in said {
        assert!(!text.contains("--") && !text.contains("flag"), "{text}");
    }
}

#[tokio::test]
async fn a_deny_of_the_program_is_said_in_whole_words() {
    let size = dynamic(spec("size").requires(Capability::Read), json!({"type": "object"}), |_, _| async {
        Ok(Output::new("", "1", Value::Null))
    });
    let session = session(size).with_policy(Policy::standard().deny("size: *").unwrap());
    let error = Executor::new().call(&session, "size", json!({})).await.result.unwrap_err();
    assert!(
        error.message().ends_with(
            "(set by the program) denies it; nothing overrides a deny: change or remove this rule"
        ),
        "{error}"
    );
}

// Closures.

#[tokio::test]
async fn wrong_arguments_of_a_hook_are_not_blamed_on_the_caller() {
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": false});
    let session =
        session(dynamic(spec("greet"), schema, |_, _| async { Ok(Output::new("", "x", Value::Null)) }));
    let executor = Executor::builder().before("names", |_, _, _| Verdict::Replace(json!({"nam": 1}))).build();
    let error = executor.call(&session, "greet", json!({"name": "Ada"})).await.result.unwrap_err();
    assert_eq!(error.code(), Code::ValidationError);
    assert!(
        error
            .message()
            .starts_with("hook `names` changed the arguments: the arguments of `greet` do not fit"),
        "{error}"
    );
}

#[tokio::test]
async fn closures_are_hooks_sinks_and_people() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let note = |told: &Arc<Mutex<Vec<String>>>| {
        let told = told.clone();
        move |text: String| told.lock().unwrap().push(text)
    };
    let (events, results, questions) = (note(&told), note(&told), note(&told));
    let executor = Executor::builder()
        .before("guard", |ctx, tool, arguments| {
            assert_eq!((ctx.session(), tool), ("default", "put"));
            match arguments["text"].as_str() {
                Some("bad") => Verdict::Block("that word".to_owned()),
                Some("small") => Verdict::Replace(json!({"text": "SMALL"})),
                _ => Verdict::Continue,
            }
        })
        .on_result(move |outcome| results(format!("result {}", outcome.to_text())))
        .build();
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let put = dynamic(spec("put").requires(Capability::Write), schema, |_, args| async move {
        Ok(Output::new("", args["text"].as_str().unwrap_or_default(), Value::Null))
    });
    let ctx = session(put)
        .rebuild()
        .policy(Policy::standard().ask(Capability::Write))
        .on_event(move |event| {
            if let EventKind::CallStarted { tool, .. } = &event.kind {
                events(format!("event {tool}"));
            }
        })
        .confirm_with(move |question| {
            questions(format!("question {}", question.tool));
            async { Answer::Yes(Scope::Once) }
        })
        .build();
    for text in ["small", "bad"] {
        executor.call(&ctx, "put", json!({"text": text})).await;
    }
    let expected =
        "question put, event put, result SMALL, result Error: hook `guard` blocked `put`: that word";
    assert_eq!(told.lock().unwrap().join(", "), expected);
}

// Arguments.

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// The text.
    text: String,
    /// Counts words instead of letters.
    #[serde(default)]
    words: bool,
    #[serde(default)]
    within: Option<Range>,
}

#[derive(Deserialize, JsonSchema, Default)]
struct Range {
    /// First letter.
    #[serde(default)]
    from: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Deserialize, JsonSchema)]
struct Drawn {
    colour: String,
    #[serde(flatten)]
    shape: Shape,
}

#[derive(Deserialize, JsonSchema)]
struct Open {
    name: String,
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

async fn called<A>(arguments: Value, show: fn(A) -> String) -> String
where
    A: serde::de::DeserializeOwned + JsonSchema + Send + 'static,
{
    let tool = function(spec("count"), move |_, args: A| async move { Ok(Output::text(show(args))) });
    Executor::new().call(&session(tool), "count", arguments).await.to_text()
}

#[tokio::test]
async fn an_unknown_argument_of_a_typed_tool_is_refused_with_the_nearest() {
    fn count(args: Count) -> String {
        let from = args.within.unwrap_or_default().from;
        let text = &args.text[from..];
        if args.words { text.split(' ').count() } else { text.len() }.to_string()
    }
    assert_eq!(called(json!({"text": "a b", "words": true}), count).await, "2");
    assert_eq!(called(json!({"text": "a b", "within": {"from": 1}}), count).await, "2");
    for (arguments, named, nearest) in [
        (json!({"text": "a b", "word": true}), "`word`", "did you mean `words`?"),
        (json!({"text": "a b", "within": {"form": 1}}), "`within.form`", "did you mean `from`?"),
    ] {
        let said = called(arguments, count).await;
        assert!(said.starts_with("Error: ") && said.contains(named) && said.ends_with(nearest), "{said}");
    }
}

#[tokio::test]
async fn every_shape_of_arguments_is_closed_unless_it_says_otherwise() {
    fn shape(shape: Shape) -> String {
        match shape {
            Shape::Circle { radius } => format!("circle {radius}"),
            Shape::Square { side } => format!("square {side}"),
        }
    }
    fn drawn(args: Drawn) -> String {
        format!("{} {}", args.colour, shape(args.shape))
    }
    fn open(args: Open) -> String {
        format!("{} {}", args.name, args.rest.len())
    }
    assert_eq!(called(json!({"kind": "circle", "radius": 1.5}), shape).await, "circle 1.5");
    assert!(
        called(json!({"kind": "square", "side": 1.5, "radius": 2.5}), shape).await.starts_with("Error: ")
    );
    let red = json!({"colour": "red", "kind": "square", "side": 1.5});
    assert_eq!(called(red.clone(), drawn).await, "red square 1.5");
    let mut more = red;
    more["sides"] = json!(4);
    assert!(called(more, drawn).await.starts_with("Error: "));
    assert_eq!(called(json!({"name": "a", "b": 1, "c": 2}), open).await, "a 2");
    assert!(called(json!({"x": 1}), |_: Nothing| String::new()).await.starts_with("Error: "));
    assert_eq!(called(json!({}), |_: Nothing| "ok".to_owned()).await, "ok");
    assert_eq!(
        called(json!({"x": 1}), |args: serde_json::Map<String, Value>| args.len().to_string()).await,
        "1"
    );
}

#[tokio::test]
async fn a_schema_written_by_hand_stays_as_it_is() {
    let tool =
        dynamic(spec("any"), json!({"type": "object", "properties": {"a": {}}}), |_, args| async move {
            Ok(Output::new("", args.to_string(), Value::Null))
        });
    let outcome = Executor::new().call(&session(tool), "any", json!({"b": 1})).await;
    assert_eq!(outcome.to_text(), r#"{"b":1}"#);
}

#[derive(Deserialize)]
struct Wrong;

impl JsonSchema for Wrong {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Wrong".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "objekt"})
    }
}

#[test]
fn a_schema_that_is_not_valid_is_refused_when_it_is_registered() {
    let tools = Registry::new();
    let bad = [
        json!({"type": "objekt"}),
        json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
        json!({"type": "object", "required": "a"}),
        json!({"$ref": "https://example.org/schema"}),
        json!({"$ref": "#/$defs/missing"}),
        json!([]),
    ];
    for schema in bad {
        let tool =
            dynamic(spec("bad"), schema.clone(), |_, _| async { Ok(Output::new("", "", Value::Null)) });
        let error = tools.register(tool).expect_err(&schema.to_string());
        assert_eq!(error.code(), Code::ValidationError);
        assert!(error.message().starts_with("the tool `bad` cannot be registered: the schema"), "{error}");
    }
    let typed = function(spec("typed"), |_, _: Wrong| async { Ok(Output::text("")) });
    assert!(tools.register(typed).unwrap_err().message().contains("`typed`"));
    assert_eq!(tools.names(), Vec::<String>::new(), "nothing is left of them");
}

// Results.

#[tokio::test]
async fn an_output_without_text_is_its_data() {
    #[derive(Serialize, JsonSchema)]
    struct Sum {
        sum: u32,
    }
    let tool = function(spec("sum"), |_, _: Nothing| async { Ok(Output::data(Sum { sum: 3 })) });
    assert_eq!(Executor::new().call(&session(tool), "sum", json!({})).await.to_text(), r#"{"sum":3}"#);
    let tool = function(spec("none"), |_, _: Nothing| async { Ok(Output::text("")) });
    assert_eq!(Executor::new().call(&session(tool), "none", json!({})).await.to_text(), "");
}

#[tokio::test]
async fn a_text_is_read_in_one_step_within_what_was_decided() {
    #[derive(Deserialize, JsonSchema)]
    struct Args {
        path: WorkspacePath,
    }
    let tool = function(spec("show").requires(Capability::Read), |ctx, args: Args| async move {
        Ok(Output::text(ctx.read_text(&args.path).await?))
    });
    let memory = Memory::from_fixture("//- a.txt\none\n//- .env\nKEY=1\n");
    memory.write(&WorkspacePath::new("b.bin"), b"ab\xff").unwrap();
    let large = vec![b'x'; usize::try_from(Context::LARGEST_TEXT).unwrap() + 1];
    memory.write(&WorkspacePath::new("large"), &large).unwrap();
    let ctx = session(tool);
    let ctx = Context::builder(Arc::new(memory)).tools(ctx.tools().clone()).build();
    let (executor, path) = (Executor::new(), |path: &str| json!({ "path": path }));
    let read = executor.call(&ctx, "show", path("a.txt")).await;
    assert_eq!((read.to_text().as_str(), read.metadata.bytes_read), ("one\n", 4));
    for (name, code, words) in [
        ("c.txt", "FILE_NOT_FOUND", "c.txt"),
        ("b.bin", "IS_BINARY", "`b.bin` is not UTF-8 text (byte 2)"),
        ("large", "TOO_LARGE", "read it in pieces"),
        (".env", "PROTECTED_FILE", "protected"),
    ] {
        let error = executor.call(&ctx, "show", path(name)).await.result.unwrap_err();
        assert_eq!(error.code().as_str(), code);
        assert!(error.message().contains(words), "{error}");
    }
}

// Time.

#[tokio::test]
async fn a_fake_clock_times_calls_and_events() {
    let clock = Arc::new(FakeClock::at(1_000));
    let hand = clock.clone();
    let tool = function(spec("slow"), move |_, _: Nothing| {
        hand.advance(Duration::from_millis(1_500));
        async { Ok(Output::text("done")) }
    });
    let at: Arc<Mutex<Vec<u64>>> = Arc::default();
    let seen = at.clone();
    let ctx = session(tool)
        .rebuild()
        .clock(clock)
        .on_event(move |event| seen.lock().unwrap().push(event.at_ms))
        .build();
    let outcome = Executor::new().call(&ctx, "slow", json!({})).await;
    assert_eq!(outcome.metadata.execution_time_ms, 1_500.0);
    let at = at.lock().unwrap();
    assert_eq!((at.first(), at.last()), (Some(&1_000), Some(&2_500)));
}
