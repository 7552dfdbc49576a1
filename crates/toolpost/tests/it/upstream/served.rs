//! What clients of toolpost see of other servers' tools: a toolpost with servers, served, and another as its client.

use super::{address, call, end, python, run, runtime, text, until};
use crate::Home;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use tokio::task::JoinHandle;
use toolpost::Runtime;
use toolpost_core::Code;
use toolpost_http::{Admission, BoxFuture, Listener, Received, Reply, Route, Routes, StatusCode};
use toolpost_server::Options;

pub(super) fn options() -> Options {
    Options {
        version: "1.0.0".to_owned(),
        instructions: Arc::new(String::new),
        page_size: 100,
        says_yes: false,
        timeout: None,
        structured: true,
        session: None,
        list_wait: std::time::Duration::ZERO,
        answer_wait: std::time::Duration::from_secs(60),
        state_key: Arc::new(|| None),
    }
}

/// Serves a runtime over HTTP, as `toolpost mcp --http` does. Its address.
async fn serve(runtime: &Runtime) -> (SocketAddr, JoinHandle<()>) {
    serve_with(runtime, options()).await
}

pub(super) async fn serve_with(runtime: &Runtime, options: Options) -> (SocketAddr, JoinHandle<()>) {
    let server = toolpost_server::Server::new(runtime.executor.clone(), runtime.context.clone(), options);
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let at = listener.address().unwrap();
    let admission = Admission::new(at, None, &[]);
    runtime.plugins.as_ref().unwrap().start();
    (
        at,
        tokio::spawn(async move { Arc::clone(&server).serve_http(listener, admission, Routes::new()).await }),
    )
}

fn client(home: &Home, at: SocketAddr) -> Runtime {
    let flags = ["--policy", "privileged"];
    runtime(home, &flags, true, vec![address("host", format!("http://{at}/mcp"), &[])])
}

/// A call by a client that knows a name which no list has told it.
fn posted(at: SocketAddr, tool: &str) -> String {
    sent(at, "tools/call", &format!("Mcp-Name: {tool}\r\n"), json!({"name": tool, "arguments": {}}))
}

/// The answer to a request of the newest revision.
pub(super) fn sent(at: SocketAddr, method: &str, headers: &str, mut params: serde_json::Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params["_meta"] = meta;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut stream = TcpStream::connect(at).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn clients_are_told_of_tools_that_come_and_change() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "changes")]);
        let (at, serving) = serve(&host).await;
        let client = client(&home, at);
        let has = |name: &str| client.context.tools().has(&format!("mcp__host__{name}"));
        assert!(
            text(&client, "host/read", json!({"filePath": "README.md"})).await.starts_with("1: # fixture")
        );
        until("the tools of the host's server appear", || has("mcp__changes__change")).await;
        assert!(has("read") && has("tool_search") && !has("vfs_read"), "virtual files are held back");
        assert_eq!(text(&client, "host/mcp__changes__change", json!({})).await, "changed");
        until("the new tools appear", || has("mcp__changes__new")).await;
        assert!(!has("mcp__changes__change"));
        assert_eq!(text(&client, "mcp__host__mcp__changes__new", json!({})).await, "called new");
        host.cancel.cancel();
        serving.await.unwrap();
        drop(client);
        end(host, &home).await;
    });
}

#[test]
fn the_first_list_has_the_tools_of_servers_that_are_starting() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "good")]);
        // Longer than anything takes: the list is there as soon as the server is.
        let options = Options { list_wait: std::time::Duration::from_secs(600), ..options() };
        let (at, serving) = serve_with(&host, options).await;
        let list = || tokio::task::spawn_blocking(move || sent(at, "tools/list", "", json!({})));
        let (first, second) = tokio::join!(list(), list());
        for listed in [first.unwrap(), second.unwrap()] {
            assert!(listed.contains("mcp__good__echo"), "{listed}");
        }
        host.cancel.cancel();
        serving.await.unwrap();
        end(host, &home).await;
    });
}

/// The answer without its head. One that takes longer comes as an event.
pub(super) fn body(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let event = body.lines().find_map(|line| line.strip_prefix("data: "));
    serde_json::from_str(event.unwrap_or(body)).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn titles_and_hints_of_a_server_are_passed_on() {
    let home = Home::new();
    run(async {
        let mut server = python(&home, "annotated");
        server.hints = toolpost_plugins::Hints::Believed;
        let host = runtime(&home, &["--policy", "privileged"], true, vec![server]);
        let options = Options { list_wait: std::time::Duration::from_secs(600), ..options() };
        let (at, serving) = serve_with(&host, options).await;
        let listed =
            tokio::task::spawn_blocking(move || sent(at, "tools/list", "", json!({}))).await.unwrap();
        let listed = body(&listed);
        let tools = listed["result"]["tools"].as_array().unwrap();
        let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
        let echo = tool("mcp__annotated__echo");
        assert_eq!(echo["title"], "Echo, kindly", "{echo}");
        let hints = &echo["annotations"];
        assert_eq!(
            (&hints["readOnlyHint"], &hints["idempotentHint"], &hints["openWorldHint"]),
            (&json!(true), &json!(true), &json!(false)),
            "{echo}"
        );
        // What is not said is as the protocol has it: it may reach anything.
        assert_eq!(tool("mcp__annotated__plain")["annotations"]["openWorldHint"], json!(true));
        assert_eq!(echo["inputSchema"]["properties"]["region"]["x-mcp-header"], "Region");
        host.cancel.cancel();
        serving.await.unwrap();
        end(host, &home).await;
    });
}

#[test]
fn arguments_that_a_tool_wants_as_headers_agree_with_them() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "annotated")]);
        let options = Options { list_wait: std::time::Duration::from_secs(600), ..options() };
        let (at, serving) = serve_with(&host, options).await;
        let call = |headers: &'static str| {
            let params =
                json!({"name": "mcp__annotated__echo", "arguments": {"said": "hello", "region": "süd"}});
            tokio::task::spawn_blocking(move || sent(at, "tools/call", headers, params))
        };
        tokio::task::spawn_blocking(move || sent(at, "tools/list", "", json!({}))).await.unwrap();
        for headers in [
            "Mcp-Name: mcp__annotated__echo\r\n",
            "Mcp-Name: mcp__annotated__echo\r\nMcp-Param-Region: north\r\n",
        ] {
            let answer = call(headers).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
            let error = &body(&answer)["error"];
            assert_eq!(error["code"], -32020, "{error}");
            assert!(error["message"].as_str().unwrap().contains("mcp-param-region"), "{error}");
        }
        let right = "Mcp-Name: mcp__annotated__echo\r\nMcp-Param-Region: =?base64?c8O8ZA==?=\r\n";
        let answer = call(right).await.unwrap();
        assert!(answer.contains("hello"), "{answer}");
        host.cancel.cancel();
        serving.await.unwrap();
        end(host, &home).await;
    });
}

#[test]
fn the_tools_of_a_server_are_offered_at_once_the_next_time() {
    let home = Home::new();
    run(async {
        let open = |mode: &str| runtime(&home, &["--policy", "privileged"], true, vec![python(&home, mode)]);
        let has =
            |runtime: &Runtime, name: &str| runtime.context.tools().has(&format!("mcp__changes__{name}"));
        let first = open("changes");
        first.plugins.as_ref().unwrap().recall();
        assert!(!has(&first, "change"), "nothing is kept yet");
        assert_eq!(text(&first, "mcp__changes__change", json!({})).await, "changed");
        until("the new list is told", || has(&first, "new")).await;
        let file = home.path("data/toolpost/server-lists.json");
        let kept = |name: &str| {
            std::fs::read_to_string(&file).is_ok_and(|text| text.contains(&format!("\"name\":\"{name}\"")))
        };
        until("the new list is kept", || kept("new") && !kept("change")).await;
        end(first, &home).await;
        // With the very configuration it is there before the server is; a call starts the server.
        let second = open("changes");
        second.plugins.as_ref().unwrap().recall();
        assert!(has(&second, "new") && !has(&second, "change"));
        assert_eq!(second.plugins.as_ref().unwrap().packs().len(), 1);
        let instructions = second.plugins.as_ref().unwrap().instructions();
        assert_eq!(instructions, [("changes".to_owned(), "Say hello first.".to_owned())]);
        // The server has another list by now, which corrects what was recalled.
        std::fs::remove_file(home.path("state")).unwrap();
        assert!(!call(&second, "mcp__changes__new", json!({})).await.to_text().is_empty());
        until("the list is corrected", || has(&second, "change") && !has(&second, "new")).await;
        end(second, &home).await;
        // Another configuration knows nothing of it.
        let third = open("good");
        third.plugins.as_ref().unwrap().recall();
        assert!(third.plugins.as_ref().unwrap().packs().is_empty());
        end(third, &home).await;
    });
}

#[test]
fn a_server_that_does_not_come_keeps_the_first_list_only_so_long() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "never-answers")]);
        let options = Options { list_wait: std::time::Duration::from_millis(50), ..options() };
        let (at, serving) = serve_with(&host, options).await;
        let listed =
            tokio::task::spawn_blocking(move || sent(at, "tools/list", "", json!({}))).await.unwrap();
        assert!(listed.contains("\"read\"") && !listed.contains("mcp__never"), "{listed}");
        host.cancel.cancel();
        serving.await.unwrap();
        end(host, &home).await;
    });
}

#[test]
fn what_is_held_back_is_found_and_called() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "many")]);
        let (at, serving) = serve(&host).await;
        until("the server has started", || host.context.tools().has("mcp__many__tool_0000")).await;
        let client = client(&home, at);
        let found = call(&client, "host/tool_search", json!({"query": "tool 0777"})).await.result.unwrap();
        assert_eq!(found.data["heldBack"], 1007, "those of the server, of projects and on virtual files");
        assert_eq!(found.data["tools"][0]["name"], "mcp__many__tool_0777", "{}", found.text);
        let how = r#"through `batch`, with its arguments as args: {"calls":[{"tool":"mcp__many__tool_0777","args":{}}]}"#;
        assert!(found.text.contains(how), "{}", found.text);
        let calls = json!({"calls": [{"tool": "mcp__many__tool_0777", "args": {}}]});
        assert!(text(&client, "host/batch", calls).await.contains("called tool_0777"));
        assert!(!client.context.tools().has("mcp__host__mcp__many__tool_0777"), "it is in no list");
        let named = tokio::task::spawn_blocking(move || posted(at, "mcp__many__tool_0777")).await.unwrap();
        assert!(named.contains("called tool_0777"), "whoever knows its name calls it: {named}");
        let names = client.context.tools().names();
        let ours = names.iter().filter(|name| name.starts_with("mcp__host__")).count();
        // The last of them reads the resources of the other toolpost.
        assert!(names.iter().any(|name| name == "mcp__host__resources_read"), "{names:?}");
        assert_eq!(ours, 24, "{names:?}");
        host.cancel.cancel();
        serving.await.unwrap();
        drop(client);
        end(host, &home).await;
    });
}

#[test]
fn a_server_that_does_not_start_is_told_to_whoever_calls_it() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "dies-at-start")]);
        let failed = call(&host, "dies-at-start/echo", json!({})).await.result.unwrap_err();
        assert_eq!(failed.code(), Code::InitFailed);
        assert!(failed.message().contains("Error: the API key is missing"), "{failed}");
        end(host, &home).await;
    });
}

/// That connections without a request lock nobody out does not come from their end: here they have an hour.
#[test]
fn patient_strangers_lock_nobody_out() {
    let home = Home::new();
    let runtime = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "good")]);
    run(async {
        let server =
            toolpost_server::Server::new(runtime.executor.clone(), runtime.context.clone(), options());
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let listener = listener.timeout(std::time::Duration::from_secs(3_600));
        let at = listener.address().unwrap();
        let admission = Admission::new(at, None, &[]);
        let serving =
            tokio::spawn(
                async move { Arc::clone(&server).serve_http(listener, admission, Routes::new()).await },
            );
        let answer = tokio::task::spawn_blocking(move || {
            let idle: Vec<TcpStream> = (0..640).map(|_| TcpStream::connect(at).unwrap()).collect();
            let answer = posted(at, "list");
            drop(idle);
            answer
        });
        let answer = answer.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        serving.abort();
    });
}

/// A page of its own beside MCP.
struct Page;

impl Route for Page {
    fn answer<'a>(&'a self, request: Received) -> BoxFuture<'a, Reply> {
        let line = format!("the page at {}", request.path());
        Box::pin(async move { Reply::text(StatusCode::OK, &line) })
    }
}

#[test]
fn another_route_stands_beside_mcp() {
    let home = Home::new();
    let runtime = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "good")]);
    run(async {
        let server =
            toolpost_server::Server::new(runtime.executor.clone(), runtime.context.clone(), options());
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let at = listener.address().unwrap();
        let admission = Admission::new(at, None, &[]);
        let others = Routes::new().add("/console/", Arc::new(Page));
        let serving =
            tokio::spawn(async move { Arc::clone(&server).serve_http(listener, admission, others).await });
        let asked = tokio::task::spawn_blocking(move || {
            let page = |path: &str, host: &str| {
                let mut stream = TcpStream::connect(at).unwrap();
                let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
                stream.write_all(head.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                answer
            };
            let own = at.to_string();
            let pages = [page("/console/a", &own), page("/x", &own), page("/console/a", "evil.example")];
            (pages, posted(at, "list"))
        });
        let ([page, elsewhere, stranger], called) = asked.await.unwrap();
        assert!(page.starts_with("HTTP/1.1 200") && page.ends_with("the page at /console/a\n"), "{page}");
        assert!(elsewhere.ends_with("there is only /console/ and /mcp here\n"), "{elsewhere}");
        assert!(stranger.starts_with("HTTP/1.1 403"), "{stranger}");
        assert!(called.starts_with("HTTP/1.1 200"), "{called}");
        serving.abort();
    });
}
