//! While one call waits, for an index, a command or another server, the others are answered and progress arrives.

use super::{Connection, text};
use crate::Home;
use crate::load::stretched;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A workspace whose index takes a while: so many files with some functions each.
fn large(home: &Home, files: usize) {
    for number in 0..files {
        let function = |part: usize| {
            format!(
                "/// Does it.\npub fn work_{number}_{part}(value: usize) -> usize {{\n    let other = value + {part};\n    \
                 if other > 3 {{ other * 2 }} else {{ work_{}_{part}(other) }}\n}}\n\n",
                (number + 1) % files
            )
        };
        let text: String = (0..60).map(function).collect();
        home.write(&format!("repo/src/part_{number}.rs"), text);
    }
}

/// The progress of a request with this token.
fn is_progress(message: &Value, token: &str) -> bool {
    message["method"] == "notifications/progress" && message["params"]["progressToken"] == token
}

#[test]
fn calls_are_answered_while_an_index_is_made_with_progress() {
    let home = Home::new();
    large(&home, 700);
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let slow = json!({"name": "find_references", "arguments": {"symbol": "work_1_1"}, "_meta": {"progressToken": "slow"}});
    connection.request("slow", "tools/call", slow);
    // Progress comes while the index is made, and not with its end.
    let first = connection.next();
    assert!(is_progress(&first, "slow"), "{first}");
    for number in 0..20 {
        connection.request(
            number,
            "tools/call",
            json!({"name": "read", "arguments": {"filePath": "README.md"}}),
        );
        let asked = Instant::now();
        let answer = loop {
            let message = connection.next();
            if !is_progress(&message, "slow") {
                break message;
            }
        };
        assert_eq!(answer["id"], number, "before the answer of the slow call: {answer}");
        assert!(text(&answer).starts_with("1: # fixture"), "{answer}");
        assert!(asked.elapsed() < stretched(Duration::from_secs(2)), "{:?}", asked.elapsed());
    }
    let answer = loop {
        let message = connection.next();
        if !is_progress(&message, "slow") {
            break message;
        }
    };
    assert!(answer["id"] == "slow" && text(&answer).contains("work_1_1"), "{answer}");
    assert_eq!(connection.close().1, 0);
}

#[test]
fn more_calls_than_threads_wait_for_one_index_and_others_do_not() {
    let home = Home::new();
    large(&home, 400);
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let slow = ["find_references", "get_symbol_info", "search_code", "get_codebase_map"];
    for number in 0..60 {
        let arguments = match slow[number % 4] {
            "search_code" => json!({"query": "work_1_1"}),
            "get_codebase_map" => json!({}),
            _ => json!({"symbol": "work_1_1"}),
        };
        let token = json!({"progressToken": format!("slow {number}")});
        let params = json!({"name": slow[number % 4], "arguments": arguments, "_meta": token});
        connection.request(format!("slow {number}"), "tools/call", params);
    }
    for number in 0..10 {
        connection.request(number, "tools/call", json!({"name": "list", "arguments": {"path": "."}}));
    }
    let mut order = Vec::new();
    while order.len() < 70 {
        let message = connection.next();
        if message["method"] != "notifications/progress" {
            assert!(message["result"].is_object(), "{message}");
            order.push(message["id"].clone());
        }
    }
    let first: Vec<&Value> = order.iter().take(10).collect();
    assert!(first.iter().all(|id| id.is_number()), "the quick ones come first: {order:?}");
}
