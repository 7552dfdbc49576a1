//! Which model answers for whom, through the command: names without a vendor, `--model`, `--model-for-all`.

use crate::Home;
use crate::brain::{Said, serve, texts};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const BOSS: &str = "---
name: boss
description: Has a child and a tool.
model: gemini-2.5-boss
agents: [./child.md, ./heir.md]
tools:
  - spawn_agent
  - name: summarize
    description: Summarize a document into key points
    model: gemini-2.0-flash-lite
    parameters:
      text: { type: string, description: The text to summarize }
    result_schema: { type: object, properties: { bullets: { type: array, items: { type: string } } } }
    prompt: \"Return JSON {bullets:[...]}. Summarize:\\n\\n{{text}}\"
  - name: echo
    description: Has the model of its agent.
    prompt: ECHO
---
BOSS
";

/// Which model was asked by the agent, by its tools (one with a model of its own), and by its children (the same).
type Asked = [&'static str; 5];

/// A run with these flags, and the model that each part of it has asked.
fn check(flags: &[&str], expected: Asked) {
    let home = Home::new();
    let asked: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
    let log = Arc::clone(&asked);
    let (url, _) = serve(move |request: &Value| {
        let texts = texts(request);
        let parts = ["Return JSON", "ECHO", "CHILD", "HEIR"];
        let part = parts.iter().position(|part| texts.contains(part)).map_or(0, |place| place + 1);
        // The boss has all of it in its answers.
        let part = if texts.contains("BOSS") { 0 } else { part };
        log.lock().unwrap().push((part, request["model"].as_str().unwrap().to_owned()));
        match part {
            0 if texts.contains("is done") => Said::text("all is done"),
            0 => {
                let child = |name: &str| json!({"agentType": name, "prompt": "go"});
                let calls = vec![
                    ("summarize", json!({"text": "a \"quoted\" text"})),
                    ("echo", json!({})),
                    ("spawn_agent", child("child")),
                    ("spawn_agent", child("heir")),
                ];
                Said::calls("now", calls)
            }
            1 => Said::text("```json\n{\"bullets\": [\"is done\"]}\n```"),
            _ => Said::text("is done"),
        }
    });
    let row = |name: &str, more: &str| {
        format!(
            "[[vendor]]\nname = \"{name}\"\nformat = \"openai-chat\"\nbase-url = \"{url}\"\ndialect = \"toolpost\"\n{more}\n"
        )
    };
    home.write("models.toml", row("gemini", "") + &row("lab", "families = [\"lab-*\"]"));
    home.write("repo/boss.md", BOSS);
    home.write(
        "repo/child.md",
        "---\nname: child\ndescription: d\nmodel: lab-child\ntools: []\n---\nCHILD\n",
    );
    home.write("repo/heir.md", "---\nname: heir\ndescription: d\ntools: []\n---\nHEIR\n");
    let config = home.path("models.toml").display().to_string();
    let ran = home.run(&[&["run", "boss.md", "go", "--config", &config], flags].concat());
    assert_eq!((ran.status, ran.stdout.trim()), (0, "all is done"), "{flags:?} {}", ran.stderr);
    let asked = asked.lock().unwrap();
    let by = |part: usize| asked.iter().filter(move |(of, _)| *of == part).map(|(_, model)| model.as_str());
    let found: Vec<Vec<&str>> = (0..5).map(|part| by(part).collect()).collect();
    let [boss, tool, echo, child, heir] = expected;
    assert_eq!(found, [vec![boss, boss], vec![tool], vec![echo], vec![child], vec![heir]], "{flags:?}");
}

#[test]
fn each_agent_and_tool_has_the_model_that_it_names() {
    let (boss, tool, child) = ("gemini-2.5-boss", "gemini-2.0-flash-lite", "lab-child");
    check(&[], [boss, tool, boss, child, boss]);
}

#[test]
fn the_flag_replaces_the_model_of_the_agent_that_is_started() {
    let (tool, child) = ("gemini-2.0-flash-lite", "lab-child");
    check(&["--model", "lab-one"], ["lab-one", tool, "lab-one", child, "lab-one"]);
    check(&["--model", "lab/other"], ["other", tool, "other", child, "other"]);
}

#[test]
fn the_flag_for_all_replaces_every_model() {
    check(&["--model-for-all", "lab-one"], ["lab-one"; 5]);
}

#[test]
fn flags_that_say_different_things_are_refused() {
    let home = Home::new();
    home.write("repo/a.md", "---\nname: a\ndescription: d\n---\nx\n");
    let ran = home.run(&["run", "a.md", "go", "--model", "sonnet", "--model-for-all", "gpt-5.5"]);
    assert!(ran.status == 2 && ran.stderr.contains("leave one of them out"), "{} {}", ran.status, ran.stderr);
    let ran = home.run(&["run", "a.md", "go", "--model", "deepseek-r1-distill-qwen-32b"]);
    let forms = "`deepseek/deepseek-r1-distill-qwen-32b` or `groq/deepseek-r1-distill-qwen-32b`";
    assert!(ran.status == 2 && ran.stderr.contains(forms), "{} {}", ran.status, ran.stderr);
    let ran = home.run(&["run", "a.md", "go", "--model", "gemini-2.0-flash-lite"]);
    assert!(ran.stderr.contains("no key for gemini: set `GEMINI_API_KEY`"), "{}", ran.stderr);
}
