//! Tools that agents define, and what is said where one, or an agent below another, gets less than its file wants.

use crate::Home;
use crate::brain::{Said, serve, texts};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// An agent with one tool of its own, which this script answers for; `arguments` is what it is called with.
fn asked(script: &str, arguments: &Value) -> crate::Ran {
    let home = Home::new();
    let head = format!(
        "name: a\ndescription: d\ntools:\n  - name: own\n    description: d\n    parameters:\n      text: {{ type: string }}\n      \
         count: {{ type: number }}\n    result_schema: {{ type: object, properties: {{ bullets: {{ type: array, items: {{ type: string }} }} }}, \
         required: [bullets], additionalProperties: true }}\n    prompt: p\n    script: {script}\nscript:\n  - {{ call: own, args: {arguments}, save: r }}\n  \
         - say: \"{{{{r.data.bullets.0}}}}\""
    );
    home.write("repo/a.md", format!("---\n{head}\n---\nx\n"));
    home.run(&["run", "a.md"])
}

/// What a script that is JSON makes of an argument.
fn check(script: &str, text: &str) {
    let ran = asked(script, &json!({"text": text, "count": 3}));
    assert_eq!((ran.status, ran.stdout.trim_end_matches('\n')), (0, text), "{script} {}", ran.stderr);
}

#[test]
fn what_stands_in_a_script_of_json_is_escaped_as_json() {
    for text in
        ["plain", "say \"hi\"", "C:\\dir\\new", "one\ntwo\ttab", "\u{1}}} \\\"", "é \u{1f600} </script>"]
    {
        check(r#"'{"bullets": ["{{text}}"]}'"#, text);
        check(r#"'{"bullets": ["{{text}}"], "n": {{count}}, "more": {"text": "a {{text}} b"}}'"#, text);
        check(r#"'{"bullets": [{{text}}]}'"#, &format!("{text} is a text"));
        check(r#"[ { say: '{"bullets": ["{{text}}"]}' } ]"#, text);
        check(r#"'Here: {"bullets": ["{{text}}"]} as {{text}}'"#, text);
        check(r#""```json\n{\"bullets\": [\"{{text}}\"]}\n```""#, text);
        check(
            r#"'See [{{text}}], ["{{text}}"] and {x}. {"bullets": ["{{text}}", "{{count}} {{text}} b"]}'"#,
            text,
        );
    }
}

#[test]
fn an_answer_that_is_no_data_is_quoted() {
    let ran = asked(r#"'{"bullets": [{{text}}'"#, &json!({"text": "the \"first\" one"}));
    assert_ne!(ran.status, 0);
    for part in ["no JSON in the answer", "line 1 column", "{\"bullets\": [the \"first\" one"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

/// What an agent that is started is told about `write`, which its parent's file withholds.
fn withheld(parent: &str, child: &str, flags: &[&str]) -> String {
    let home = Home::new();
    let call = "script: [ { call: write, args: { filePath: a.txt, content: x } }, { say: did } ]";
    home.write("repo/child.md", format!("---\nname: child\ndescription: d\n{child}\n{call}\n---\nx\n"));
    let spawn = "script: [ { call: spawn_agent, args: { agentType: child, prompt: x } } ]";
    let head = format!("agents: [./child.md]\ntools: [spawn_agent]\n{parent}\n{spawn}");
    home.write("repo/boss.md", format!("---\nname: boss\ndescription: d\n{head}\n---\nx\n"));
    let ran = home.run(&[&["run", "boss.md"], flags].concat());
    assert_ne!(ran.status, 0, "{}", ran.stdout);
    ran.stderr
}

#[test]
fn a_read_only_parent_is_named_as_the_one_that_withholds() {
    let rule = "policy: { rules: [ { deny: \"write: *\" } ] }";
    for (parent, child, flags) in [
        ("policy: read-only", "tools: [write]", &[][..]),
        ("policy: read-only", "tools: [write]\npolicy: read-only", &[]),
        ("policy: read-only", "tools: [write]\npolicy: privileged", &[]),
        ("policy: read-only", "toolPacks: [filesystem]", &[]),
        ("policy: { deny: [write] }", "tools: [write]", &[]),
        ("policy: read-only", "tools: [write]", &["--policy", "privileged"]),
        (rule, "tools: [write]", &[]),
        ("policy: read-only", "toolPacks: [shell]", &[]),
        ("policy: read-only", "toolPacks: [shell]", &["--policy", "privileged"]),
    ] {
        let told = withheld(parent, child, flags);
        assert!(told.contains("boss.md"), "{parent} / {child}: {told}");
    }
}

#[test]
fn an_agent_without_a_parent_is_not_offered_to_signal_it() {
    type Requests = Vec<(bool, Vec<String>)>;

    let offered = Arc::new(Mutex::new(Requests::new()));
    let log = Arc::clone(&offered);
    let (url, _) = serve(move |request: &Value| {
        let names = request["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]["name"]);
        let names = names.filter_map(Value::as_str).map(str::to_owned).collect();
        let is_child = texts(request).contains("CHILD");
        log.lock().unwrap().push((is_child, names));
        match is_child || texts(request).contains("is done") {
            true => Said::text("is done"),
            false => Said::calls("", vec![("spawn_agent", json!({"agentType": "child", "prompt": "go"}))]),
        }
    });
    let home = Home::new();
    let row = "[[vendor]]\nname = \"lab\"\nformat = \"openai-chat\"\nmodel = \"m\"\ndialect = \"toolpost\"";
    home.write("models.toml", format!("{row}\nbase-url = \"{url}\"\n"));
    let head = "toolPacks: [spawn]\nmodel: lab";
    home.write(
        "repo/boss.md",
        format!("---\nname: boss\ndescription: d\nagents: [./child.md]\n{head}\n---\nBOSS\n"),
    );
    home.write("repo/child.md", format!("---\nname: child\ndescription: d\n{head}\n---\nCHILD\n"));
    let config = home.path("models.toml").display().to_string();
    let ran = home.run(&["run", "boss.md", "go", "--config", &config]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "is done"), "{}", ran.stderr);
    for (is_child, names) in offered.lock().unwrap().iter() {
        assert!(names.iter().any(|name| name == "spawn_agent"), "{names:?}");
        assert_eq!(names.iter().any(|name| name == "signal_parent"), *is_child, "{names:?}");
    }
}
