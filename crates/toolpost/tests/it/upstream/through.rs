//! toolpost as a server of toolpost: on pipes and over HTTP, in both eras.

use super::{TOOLPOST, address, call, end, program, python, run, runtime, text};
use crate::load::stretched;
use crate::mcp::http::Served;
use crate::{Home, project};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use toolpost_core::Code;
use toolpost_plugins::Server;

/// What an inner toolpost must do for an outer one, however it is reached.
fn check(home: &Home, inner: Server) {
    run(async {
        let runtime_of = |flags: &[&str], says_yes: bool| runtime(home, flags, says_yes, vec![inner.clone()]);
        let outer = runtime_of(&["--policy", "privileged"], true);
        let read = call(&outer, "inner/read", json!({"filePath": "README.md"})).await.result.unwrap();
        assert!(read.text.starts_with("1: # fixture"), "{}", read.text);
        assert_eq!(read.data["lines"], json!(7), "{}", read.data);
        let failed = call(&outer, "mcp__inner__read", json!({"filePath": "src/mian.rs"})).await;
        assert!(failed.to_text().contains("nearest: `src/main.rs`"), "{}", failed.to_text());
        let wrong = call(&outer, "inner/read", json!({"filePath": 7, "x": 1})).await.result.unwrap_err();
        assert_eq!(wrong.code(), Code::ValidationError, "found here, before anything is sent");
        let refused = text(&outer, "inner/bash", json!({"command": "true"})).await;
        assert!(refused.contains("no tool `inner/bash`"), "the inner policy does not offer it: {refused}");
        // What the inner policy asks is asked here.
        let hook = json!({"filePath": ".git/hooks/pre-commit", "content": "x\n"});
        let asked = text(&outer, "inner/write", hook.clone()).await;
        assert!(!asked.starts_with("Error"), "{asked}");
        assert!(home.path("repo/.git/hooks/pre-commit").exists());
        end(outer, home).await;

        let nobody = runtime_of(&["--policy", "privileged"], false);
        let asked = text(&nobody, "inner/write", hook).await;
        assert!(asked.starts_with("Error") && asked.contains("no person can be asked"), "{asked}");
        end(nobody, home).await;

        let outer = runtime_of(&[], true);
        let denied = call(&outer, "inner/read", json!({"filePath": "README.md"})).await.result.unwrap_err();
        assert_eq!(denied.code(), Code::PermissionDenied, "{denied}");
        end(outer, home).await;

        let outer = runtime_of(&["--allow-rule", "inner/read: *"], true);
        let allowed = text(&outer, "inner_read", json!({"filePath": "README.md"})).await;
        assert!(allowed.starts_with("1: # fixture"), "{allowed}");
        end(outer, home).await;
    });
}

#[test]
fn on_pipes_without_a_handshake() {
    let home = Home::new();
    let root = home.path("repo").to_string_lossy().into_owned();
    check(&home, program("inner", &[TOOLPOST, "mcp", "--structured", "--workspace", &root]));
}

#[test]
fn on_pipes_with_a_handshake() {
    let home = Home::new();
    let root = home.path("repo").to_string_lossy().into_owned();
    let filter = project().join("crates/toolpost/tests/it/upstream/old.py");
    let words =
        ["python3", &filter.to_string_lossy(), "pipe", TOOLPOST, "mcp", "--structured", "--workspace", &root];
    check(&home, program("inner", &words));
}

#[test]
fn over_http_without_a_handshake() {
    let home = Home::new();
    let served = Served::start(&home, &["--structured"]);
    let token = std::fs::read_to_string(home.path("data/toolpost/mcp-token")).unwrap();
    let header = format!("Bearer {}", token.trim());
    let url = format!("http://{}/mcp", served.address);
    check(&home, address("inner", url.clone(), &[("Authorization", &header)]));
    run(async {
        let stranger = runtime(&home, &["--policy", "privileged"], true, vec![address("inner", url, &[])]);
        let refused = text(&stranger, "inner/read", json!({"filePath": "README.md"})).await;
        assert!(refused.contains("status 401"), "{refused}");
    });
}

#[test]
fn over_http_with_a_handshake() {
    let home = Home::new();
    let served = Served::start(&home, &["--no-token", "--structured"]);
    let proxy = project().join("crates/toolpost/tests/it/upstream/old.py");
    let mut proxy = Command::new("python3")
        .arg(proxy)
        .args(["http", &served.address.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut port).unwrap();
    check(&home, address("inner", format!("http://127.0.0.1:{}/mcp", port.trim()), &[]));
    proxy.kill().unwrap();
    proxy.wait().unwrap();
}

#[test]
fn a_secret_of_a_servers_entry_does_not_come_back() {
    let home = Home::new();
    run(async {
        let runtime = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "good")]);
        let environment = text(&runtime, "good/environment", json!({})).await;
        assert!(environment.contains("[redacted:API_TOKEN]"), "{environment}");
        assert!(!environment.contains("sk-very-secret-1234"), "{environment}");
        end(runtime, &home).await;
    });
}

#[test]
fn a_batch_waits_for_servers_and_long_answers_are_kept() {
    let home = Home::new();
    run(async {
        let runtime = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "good")]);
        let long = "many words ".repeat(10_000);
        let calls = json!({"calls": [
            {"tool": "good/echo", "args": {"said": "hello"}},
            {"tool": "read", "args": {"filePath": "README.md"}},
            {"tool": "good/echo", "args": {"said": long}},
        ]});
        let batch = call(&runtime, "batch", calls).await.result.unwrap();
        assert_eq!(batch.data["succeeded"], 3, "{}", batch.text);
        assert_eq!(batch.data["results"][0]["output"], "hello");
        let cut = call(&runtime, "good/echo", json!({"said": long})).await;
        let truncated = cut.metadata.truncated.unwrap();
        assert_eq!(truncated.total_bytes, long.len() as u64);
        let handle = json!({"filePath": truncated.handle.unwrap(), "limit": 1});
        assert!(text(&runtime, "read", handle).await.starts_with("1: many words"));
        end(runtime, &home).await;
    });
}

#[test]
fn slow_servers_cost_nothing_while_nobody_needs_them() {
    let home = Home::new();
    run(async {
        let slow = |name: &str| Server { name: name.to_owned(), ..python(&home, "never-answers") };
        let mut times = [Duration::MAX; 2];
        for _ in 0..5 {
            for (index, servers) in [vec![], vec![slow("a"), slow("b"), slow("c")]].into_iter().enumerate() {
                let began = Instant::now();
                let runtime = runtime(&home, &[], true, servers);
                let read = text(&runtime, "read", json!({"filePath": "README.md"})).await;
                assert!(read.starts_with("1: # fixture"), "{read}");
                times[index] = times[index].min(began.elapsed());
                assert!(
                    !crate::mcp::is_running(&home.path("state").to_string_lossy()),
                    "a server was started"
                );
            }
        }
        let [without, with] = times;
        println!("without servers {without:?}, with three slow ones {with:?}");
        assert!(with < without + stretched(Duration::from_millis(5)), "{without:?} without, {with:?} with");
    });
}
