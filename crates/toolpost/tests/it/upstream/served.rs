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

fn options() -> Options {
    Options {
        version: "1.0.0".to_owned(),
        instructions: String::new(),
        page_size: 100,
        says_yes: false,
        timeout: None,
        structured: true,
        session: None,
    }
}

/// Serves a runtime over HTTP, as `toolpost mcp --http` does. Its address.
async fn serve(runtime: &Runtime) -> (SocketAddr, JoinHandle<()>) {
    let server = toolpost_server::Server::new(runtime.executor.clone(), runtime.context.clone(), options());
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
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": {}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut stream = TcpStream::connect(at).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
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
        assert!(has("read") && !has("tool_search"), "nothing is held back");
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
fn what_is_held_back_is_found_and_called() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![python(&home, "many")]);
        let (at, serving) = serve(&host).await;
        until("the server has started", || host.context.tools().has("mcp__many__tool_0000")).await;
        let client = client(&home, at);
        let found = call(&client, "host/tool_search", json!({"query": "tool 0777"})).await.result.unwrap();
        assert_eq!(found.data["heldBack"], 1000);
        assert_eq!(found.data["tools"][0]["name"], "mcp__many__tool_0777", "{}", found.text);
        assert!(!client.context.tools().has("mcp__host__mcp__many__tool_0777"), "it is in no list");
        let named = tokio::task::spawn_blocking(move || posted(at, "mcp__many__tool_0777")).await.unwrap();
        assert!(named.contains("called tool_0777"), "whoever knows its name calls it: {named}");
        let names = client.context.tools().names();
        let ours = names.iter().filter(|name| name.starts_with("mcp__host__")).count();
        assert_eq!(ours, 13, "{names:?}");
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
