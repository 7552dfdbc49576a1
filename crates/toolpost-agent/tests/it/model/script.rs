//! Scripts: the calls that they make, what they say, and what is wrong with them.

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolpost_agent::model::Script;
use toolpost_core::model::{
    Arguments, Delta, Finish, Message, Model, ModelError, Part, Request, Response, Role, ToolCall, ToolResult,
};

async fn ask(script: &Script, messages: &[Message]) -> Result<Response, ModelError> {
    let request = Request { messages: messages.to_vec(), ..Request::default() };
    let mut stream = script.stream(request, CancellationToken::new());
    let mut last = None;
    while let Some(delta) = stream.next().await {
        last = Some(delta?);
    }
    match last {
        Some(Delta::Done(response)) => Ok(*response),
        other => panic!("{other:?}"),
    }
}

/// Tools for scripts: `echo` returns its arguments, `lines` three lines with data, `fail` fails.
fn tool(call: &ToolCall) -> (String, Value, bool) {
    let Arguments::Json(arguments) = &call.arguments else { panic!() };
    match call.name.as_str() {
        "echo" => (arguments.to_string(), arguments.clone(), false),
        "lines" => (
            "a.rs\nb.rs\n\nc.rs\n".into(),
            json!({"entries": [{"path": "a.rs", "size": 7}, {"path": "b.rs"}]}),
            false,
        ),
        "none" => (String::new(), Value::Null, false),
        "fail" => ("no such thing".into(), Value::Null, true),
        other => panic!("{other}"),
    }
}

/// Runs a script as the kernel would; the calls of each turn, and how it ends.
async fn run(script: Value, task: &str) -> (Vec<String>, Result<String, String>) {
    let script = Script::new(&script, "test").unwrap();
    let mut messages = vec![Message::user(task)];
    let mut turns = Vec::new();
    for _ in 0..20 {
        let response = match ask(&script, &messages).await {
            Ok(response) => response,
            Err(error) => return (turns, Err(error.message)),
        };
        // Asked again, it says the same.
        assert_eq!(ask(&script, &messages).await.unwrap(), response);
        if response.finish == Finish::Stop {
            return (turns, Ok(response.text()));
        }
        let calls: Vec<&ToolCall> = response.tool_calls().collect();
        let shown = calls.iter().map(|call| match &call.arguments {
            Arguments::Json(value) => format!("{} {value}", call.name),
            other => panic!("{other:?}"),
        });
        turns.push(format!("{}{}", response.text(), shown.collect::<Vec<_>>().join(" + ")));
        let results = calls.iter().map(|call| {
            let (text, data, is_error) = tool(call);
            let (id, name) = (call.id.clone(), call.name.clone());
            Part::ToolResult(ToolResult { id, name, text, attachments: vec![], is_error, code: None, data })
        });
        let results = results.collect();
        messages.push(Message { role: Role::Assistant, parts: response.parts });
        messages.push(Message { role: Role::User, parts: results });
    }
    panic!("it never ends: {turns:?}");
}

async fn check(script: Value, turns: &[&str], ends: Result<&str, &str>) {
    let (found, ended) = run(script, "look around").await;
    assert_eq!(found, turns);
    match (ended.as_deref(), ends) {
        (Ok(text), Ok(expected)) => assert_eq!(text, expected),
        (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn results_are_filled_in() {
    check(json!([{"say": "Hello, {{task}}!"}]), &[], Ok("Hello, look around!")).await;
    check(
        json!([
            {"call": "lines", "save": "files"},
            {"say": "Reading."},
            {"call": "echo", "save": "one", "args": {"path": "{{files.data.entries.0.path}}", "size": "{{files.data.entries.0.size}}",
                "deep": [{"x": "<{{files.lines.1}}>"}], "n": 3, "plain": "\\{{x}}"}},
            {"say": "{{files.count}} files, {{files.data.entries.count}} entries; {{one.data.deep.0.x}}\n{{files.output}}"},
        ]),
        &[
            "lines {}",
            "Reading.echo {\"path\":\"a.rs\",\"size\":7,\"deep\":[{\"x\":\"<b.rs>\"}],\"n\":3,\"plain\":\"{{x}}\"}",
        ],
        Ok("3 files, 2 entries; <b.rs>\na.rs\nb.rs\n\nc.rs\n"),
    )
    .await;
    // What stands before a list that turns out to be empty is said with what comes next.
    check(
        json!([{"call": "none", "save": "n"}, {"say": "First."}, {"each": "{{n.lines}}", "call": "echo"}, {"say": "Last."}]),
        &["none {}"],
        Ok("First.\nLast."),
    )
    .await;
    // Without a last word, the last output is it.
    check(json!([{"call": "lines"}]), &["lines {}"], Ok("a.rs\nb.rs\n\nc.rs\n")).await;
}

#[tokio::test]
async fn a_command_that_fails_ends_a_script_unless_it_is_optional() {
    let step = json!({"call": "echo", "args": {"exitCode": 3}});
    check(json!([step, {"say": "never"}]), &["echo {\"exitCode\":3}"], Err("exit code 3")).await;
    let step = json!({"call": "echo", "args": {"exitCode": null, "signal": 9}});
    check(json!([step]), &["echo {\"exitCode\":null,\"signal\":9}"], Err("signal 9")).await;
    let step = json!({"call": "echo", "args": {"exitCode": 3}, "optional": true});
    check(json!([step, {"say": "on"}]), &["echo {\"exitCode\":3}"], Ok("on")).await;
    check(
        json!([{"call": "echo", "args": {"exitCode": 0}}, {"say": "on"}]),
        &["echo {\"exitCode\":0}"],
        Ok("on"),
    )
    .await;
}

#[test]
fn each_step_that_is_wrong_is_named() {
    let script = json!([
        {"call": 3, "save": "files"},
        {"cal": "read"},
        {"say": "{{files.output}} {{nothing.output}}"},
        {"parallel": [{"call": "a", "save": "x"}, {"call": "b", "save": "x"}]},
        {"say": "{{files.output}} {{x.output}}"},
    ]);
    let fields: Vec<String> = Script::problems(&script).into_iter().map(|problem| problem.field).collect();
    assert_eq!(fields, ["script[0].call", "script[1]", "script[2].say", "script[3]"]);
    assert_eq!(Script::problems(&json!([{"say": "a"}])), []);
}

#[tokio::test]
async fn calls_go_over_lists_and_side_by_side() {
    check(
        json!([
            {"call": "lines", "save": "files"},
            {"each": "{{files.lines}}", "call": "echo", "args": {"f": "{{item}}"}, "save": "heads"},
            {"each": "{{files.data.entries}}", "call": "echo", "args": {"p": "{{item.path}}"}, "save": "paths"},
            {"say": "{{heads.count}} {{heads.1.data.f}} {{paths.output}}"},
        ]),
        &[
            "lines {}",
            "echo {\"f\":\"a.rs\"} + echo {\"f\":\"b.rs\"} + echo {\"f\":\"c.rs\"}",
            "echo {\"p\":\"a.rs\"} + echo {\"p\":\"b.rs\"}",
        ],
        Ok("3 b.rs {\"p\":\"a.rs\"}\n{\"p\":\"b.rs\"}"),
    )
    .await;
    check(
        json!([
            {"parallel": [{"call": "lines", "save": "a"}, {"call": "fail", "save": "b", "optional": true}]},
            {"say": "{{a.lines.0}}, {{b.error}}, '{{b.output}}'"},
        ]),
        &["lines {} + fail {}"],
        Ok("a.rs, no such thing, ''"),
    )
    .await;
    check(
        json!([
            {"call": "none", "save": "nothing"},
            {"each": "{{nothing.lines}}", "call": "echo", "save": "all"},
            {"say": "{{all.count}} of them{{all.output}}"},
        ]),
        &["none {}"],
        Ok("0 of them"),
    )
    .await;
}

#[tokio::test]
async fn what_fails_ends_the_run() {
    check(
        json!([{"call": "fail"}, {"say": "never"}]),
        &["fail {}"],
        Err("step 1 of the script: `fail` failed: no such thing"),
    )
    .await;
    check(
        json!([{"call": "lines", "save": "f"}, {"call": "echo", "args": {"p": "{{f.data.entries.9.path}}"}}]),
        &["lines {}"],
        Err("step 2 of the script: `{{f.data.entries.9.path}}`: no `9` in"),
    )
    .await;
    check(
        json!([{"call": "lines", "save": "f"}, {"each": "{{f.count}}", "call": "echo"}]),
        &["lines {}"],
        Err("`each` goes over a list or lines, and not over `3`"),
    )
    .await;
}

/// More calls than one turn holds are made in several.
#[tokio::test]
async fn many_items_take_several_turns() {
    let lines: Vec<String> = (0..250).map(|number| number.to_string()).collect();
    let script = json!([
        {"each": "{{task}}", "call": "echo", "args": {"n": "{{item}}"}, "save": "all"},
        {"say": "{{all.count}}"},
    ]);
    let (turns, ended) = run(script.clone(), &lines.join("\n")).await;
    let sizes: Vec<usize> = turns.iter().map(|turn| turn.split(" + ").count()).collect();
    assert_eq!((sizes, ended), (vec![64, 64, 64, 58], Ok("250".to_owned())));
    let too_many = "x\n".repeat(1_001);
    let error = run(script, &too_many).await.1.unwrap_err();
    assert!(error.contains("may have 1000"), "{error}");
}

#[test]
fn mistakes_have_a_place() {
    let mistakes = [
        (json!(null), "script: a script is a list"),
        (json!([]), "script: a script is a list"),
        (json!(["x"]), "script[0]: a step has exactly one"),
        (json!([{"call": "a", "say": "b"}]), "script[0]: a step has exactly one"),
        (json!([{"call": ""}]), "script[0].call: write the name"),
        (
            json!([{"call": "a", "arguments": {}}]),
            "script[0].arguments: a step has no key `arguments`; there are call, args",
        ),
        (
            json!([{"call": "a", "save": "f"}, {"say": "{{f.text}}"}]),
            "script[1].say: `{{f.text}}`: a result has `output`",
        ),
        (json!([{"call": "a", "args": [1]}]), "script[0].args: write the arguments"),
        (json!([{"call": "a", "save": "x y"}]), "script[0].save: write a name"),
        (json!([{"call": "a", "save": "task"}]), "script[0].save: write a name"),
        (json!([{"call": "a", "optional": "yes"}]), "script[0].optional: write"),
        (json!([{"call": "a", "save": "x"}, {"call": "b", "save": "x"}]), "script[1]: `x` is saved twice"),
        (
            json!([{"say": "{{fiels.output}}"}]),
            "script[0].say: `{{fiels.output}}`: no step before this one saves `fiels`; there are task",
        ),
        (json!([{"call": "a", "args": {"p": {"q": "{{item}}"}}}]), "script[0].args.p: `{{item}}`: no step"),
        (json!([{"say": "{{open"}]), "script[0].say: `{{open` has no `}}`"),
        (json!([{"say": "{{a b}}"}]), "script[0].say: `{{a b}}` is no reference"),
        (json!([{"say": 1}]), "script[0].say: write a text"),
        (json!([{"parallel": []}]), "script[0].parallel: write a list"),
        (json!([{"parallel": [{"say": "x"}]}]), "script[0].parallel[0].say: a step has no key `say`"),
    ];
    for (script, part) in mistakes {
        let error = Script::new(&script, "x").unwrap_err().to_string();
        assert!(error.starts_with(part), "{script}: {error}");
    }
}
