//! Runs with a model over real HTTP, through the command: faults of the provider never run a tool twice.

use crate::{Home, aimock_server};
use serde_json::Value;

/// One run: a request that is refused once, two calls, an answer that breaks off, an overloaded server, the answer.
fn check(url: &str, name: &str, format: &str, path: &str) {
    let home = Home::new();
    let vendor = format!(
        "[[vendor]]\nname = \"mock\"\nformat = \"{format}\"\nbase-url = \"{url}{path}\"\nkey = {{ variables = [\"MOCK_API_KEY\"] }}\nmodel = \"m\"\ndialect = \"toolpost\"\n"
    );
    home.write("mock.toml", &vendor);
    home.write("repo/appender.md", "---\ndescription: d\ntools: [bash]\n---\nAppend lines.\n");
    let config = home.path("mock.toml").display().to_string();
    let task = format!("append for {name}");
    let args = [
        "run",
        "appender.md",
        &task,
        "--model",
        "mock",
        "--allow",
        "exec",
        "--config",
        &config,
        "--output",
        "stream-json",
    ];
    let mut command = home.command(args);
    command.env("MOCK_API_KEY", "canary-key-4711");
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{name}: {stdout}{stderr}");
    let lines = std::fs::read_to_string(home.path("repo/lines.txt")).unwrap_or_default();
    assert_eq!(lines, "one\ntwo\n", "{name}: each tool ran once");
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let retries = events.iter().filter(|event| event["type"] == "retry").count();
    let result = events.last().unwrap();
    assert_eq!((retries, &result["text"]), (3, &"Two lines were appended.".into()), "{name}: {stdout}");
    let log = home.run(&["log", "--json", "-n", "1000"]).stdout;
    assert!(!log.contains("canary-key") && !stdout.contains("canary-key"), "{name}: the key is nowhere");
}

#[test]
fn guarantee_28_provider_faults_never_run_a_tool_twice() {
    let mock = aimock_server::start("runs", include_str!("../data/aimock.mjs"));
    let formats = [
        ("gemini", "gemini", "/v1beta"),
        ("anthropic", "anthropic", "/v1"),
        ("responses", "openai-responses", "/v1"),
        ("chat", "openai-chat", "/v1"),
        ("ollama", "ollama", "/api"),
    ];
    std::thread::scope(|scope| {
        for (name, format, path) in formats {
            let url = &mock.url;
            scope.spawn(move || check(url, name, format, path));
        }
    });
}
