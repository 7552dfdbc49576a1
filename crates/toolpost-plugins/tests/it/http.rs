//! Servers at an address, good and bad, in both eras.

use crate::load::stretched;
use crate::stage::{Setup, World, run, until, yes};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use toolpost_core::event::EventKind;
use toolpost_core::{Answer, Call, Code};
use toolpost_plugins::{Reach, Server};

/// The test's own servers, in a program of their own.
pub(crate) struct House {
    child: Child,
    pub(crate) port: u16,
}

impl House {
    pub(crate) fn open(more: &[&str]) -> House {
        let script = format!("{}/tests/data/http_server.py", env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new("python3")
            .arg(script)
            .arg("toolpost-test-http")
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        House { child, port: line.trim().parse().unwrap() }
    }

    /// What was asked of it.
    fn log(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"GET /log HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap()).unwrap()
    }

    fn has_heard(&self, what: &str) -> bool {
        self.log().iter().any(|one| one.to_string().contains(what))
    }

    fn world(&self, mode: &str, answer: Option<Answer>) -> World {
        self.world_with(mode, answer, &[])
    }

    fn world_with(&self, mode: &str, answer: Option<Answer>, headers: &[(&str, &str)]) -> World {
        let headers: BTreeMap<String, String> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let url = format!("http://127.0.0.1:{}/{mode}", self.port);
        World::with(Setup { answer, ..Setup::default() }, |world| {
            vec![Server {
                name: "web".to_owned(),
                reach: Reach::Http { url, headers },
                ..world.server("good")
            }]
        })
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn servers_of_both_eras_are_called_whether_they_stream_or_not() {
    let house = House::open(&[]);
    run(async {
        for mode in ["json", "sse", "modern"] {
            let world = house.world(mode, None);
            assert_eq!(world.text("web/echo", json!({})).await, "called echo", "{mode}");
            world.end().await;
        }
        let modern: Vec<Value> = house.log().into_iter().filter(|one| one["mode"] == "modern").collect();
        assert!(modern.iter().all(|one| one["headers"].get("mcp-session-id").is_none()), "{modern:?}");
        until("the sessions are ended", || {
            house.log().iter().filter(|one| one["delete"].is_string()).count() == 2
        })
        .await;
    });
}

#[test]
fn arguments_are_mirrored_as_headers() {
    let house = House::open(&[]);
    run(async {
        let world = house.world("modern", None);
        assert_eq!(world.text("web/echo", json!({"region": "south"})).await, "called echo");
        world.end().await;
    });
}

#[test]
fn progress_and_questions_come_with_the_stream() {
    let house = House::open(&[]);
    run(async {
        for mode in ["sse", "modern"] {
            let world = house.world(mode, None);
            assert_eq!(world.text("web/slow", json!({})).await, "called slow");
            let told = world
                .log
                .events()
                .iter()
                .filter(|event| matches!(&event.kind, EventKind::Progress { title, .. } if title == "step"))
                .count();
            assert_eq!(told, 3, "{mode}");
            world.end().await;
        }
        let world = house.world("sse", yes());
        assert_eq!(world.text("web/ask", json!({})).await, r#"{"action": "accept", "content": {}}"#);
        world.end().await;
        let world = house.world("sse", None);
        assert!(world.text("web/ask", json!({})).await.contains("no person can be asked"));
        world.end().await;
    });
}

#[test]
fn changes_of_the_list_are_heard_in_both_eras() {
    for mode in ["sse", "modern"] {
        let house = House::open(&[]);
        run(async {
            let world = house.world(mode, None);
            assert_eq!(world.text("web/change", json!({})).await, "called change", "{mode}");
            until("the new tool appears", || world.registry.has("mcp__web__new")).await;
            world.end().await;
        });
    }
}

#[test]
fn a_session_that_has_ended_is_begun_again() {
    let house = House::open(&[]);
    run(async {
        let world = house.world("expires", None);
        for _ in 0..3 {
            assert_eq!(world.text("web/echo", json!({})).await, "called echo");
        }
        world.end().await;
    });
}

#[test]
fn a_credential_goes_to_its_address_and_nowhere_else() {
    let house = House::open(&[]);
    run(async {
        let world = house.world_with("locked", None, &[("Authorization", "Bearer sesame")]);
        assert_eq!(world.text("web/echo", json!({})).await, "called echo");
        world.end().await;
        let world = house.world("locked", None);
        let refused = world.call("web/echo", json!({})).await.result.unwrap_err();
        assert_eq!(refused.code(), Code::InitFailed);
        assert!(
            refused.message().contains("status 401") && refused.message().contains("Authorization"),
            "{refused}"
        );
        world.end().await;
        let world = house.world_with("moved", None, &[("Authorization", "Bearer secret")]);
        let moved = world.call("web/echo", json!({})).await.result.unwrap_err();
        assert!(moved.message().contains("redirects are not followed"), "{moved}");
        assert!(!house.log().iter().any(|one| one["mode"] == "json"), "nobody went there");
        world.end().await;
    });
}

#[test]
fn guarantee_26_a_bad_server_at_an_address_costs_one_call() {
    let house = House::open(&[]);
    run(async {
        for (mode, tool, expected) in [
            ("garbage", "echo", "its reply is not a valid message: `<html>hello</html>`"),
            ("broken", "echo", "status 500: boom"),
            ("sse", "cut", "its answer was cut off"),
            ("sse", "flood", "it floods its answer"),
            ("modern", "cut", "its answer was cut off"),
        ] {
            let world = house.world(mode, None);
            let began = Instant::now();
            let text = world.text(&format!("web/{tool}"), json!({})).await;
            assert!(text.contains(expected), "{mode} {tool}: {text}");
            assert!(
                began.elapsed() < stretched(Duration::from_secs(8)),
                "{mode} {tool}: {:?}",
                began.elapsed()
            );
            if tool != "echo" {
                assert_eq!(world.text("web/echo", json!({})).await, "called echo", "{mode} {tool}");
            }
            assert_eq!(world.text("ping", json!({})).await, "pong");
            world.end().await;
        }
        let nobody = World::with(Setup::default(), |world| {
            let reach = Reach::Http { url: "http://127.0.0.1:1/mcp".to_owned(), headers: BTreeMap::new() };
            vec![Server { name: "web".to_owned(), reach, ..world.server("good") }]
        });
        let text = nobody.text("web/echo", json!({})).await;
        assert!(text.contains("127.0.0.1:1 cannot be reached"), "{text}");
        nobody.end().await;
    });
}

#[test]
fn a_call_that_is_given_up_is_withdrawn() {
    let house = House::open(&[]);
    run(async {
        for mode in ["sse", "modern"] {
            let world = house.world(mode, None);
            assert_eq!(world.text("web/echo", json!({})).await, "called echo");
            let call = Call::new("web/silent", json!({})).timeout(Duration::from_millis(300));
            let outcome = world.executor.run(&world.context, call).await;
            assert_eq!(outcome.result.unwrap_err().code(), Code::Timeout, "{mode}");
            assert_eq!(world.text("web/echo", json!({})).await, "called echo", "{mode}");
            world.end().await;
        }
        until("the server of old was told", || house.has_heard("notifications/cancelled")).await;
    });
}
