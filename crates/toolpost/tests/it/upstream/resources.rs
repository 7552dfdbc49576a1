//! Resources of other servers, by `read` and over MCP: each is read from the server that has it, and from no other.

use super::served::{options, sent, serve_with};
use super::{call, end, program, run, runtime, text};
use crate::{Home, project};
use serde_json::{Value, json};
use toolpost_core::Code;
use toolpost_plugins::{Hints, Server};

/// A server with resources; what it answers names it.
fn server(name: &str) -> Server {
    let script = project().join("crates/toolpost-plugins/tests/data/server.py");
    program(name, &["python3", &script.to_string_lossy(), "resources", name])
}

#[test]
fn what_a_server_links_to_or_lists_is_read_from_it_and_no_other() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![server("one"), server("two")]);
        let read = async |address: &str| text(&host, "read", json!({"filePath": address})).await;
        let linked = text(&host, "mcp__one__link", json!({})).await;
        assert!(
            linked.contains("`read` with filePath=toolpost-mcp://one/demo://linked shows it"),
            "{linked}"
        );
        assert!(read("toolpost-mcp://one/demo://linked").await.starts_with("1: demo://linked of one"));
        // The server's own address, as long as one server has it.
        assert!(read("demo://linked").await.starts_with("1: demo://linked of one"));
        // The other server starts when it is asked for.
        assert!(read("toolpost-mcp://two/demo://same").await.starts_with("1: demo://same of two"));
        assert!(read("toolpost-mcp://two/demo://made/x").await.starts_with("1: demo://made/x of two"));
        assert!(read("demo://two").await.starts_with("1: demo://two of two"));
        let both = read("demo://same").await;
        assert!(
            both.contains("`toolpost-mcp://one/demo://same`, `toolpost-mcp://two/demo://same`"),
            "{both}"
        );
        // What a server has not named is not asked of it, also if another has.
        for address in ["toolpost-mcp://two/demo://linked", "toolpost-mcp://one/demo://two"] {
            let refused = read(address).await;
            assert!(refused.contains("it has named no resource"), "{refused}");
        }
        for address in ["toolpost-mcp://three/demo://same", "demo://nowhere"] {
            let outcome = call(&host, "read", json!({"filePath": address})).await;
            assert_eq!(outcome.result.unwrap_err().code(), Code::FileNotFound, "{address}");
        }
        end(host, &home).await;
    });
}

#[test]
fn a_resource_is_read_under_the_policy_of_its_servers_tools() {
    let home = Home::new();
    run(async {
        // A server whose word counts reads for whoever may read; any other is a program that may do anything.
        for (hints, is_allowed) in [(Hints::Believed, true), (Hints::Ignored, false)] {
            let servers = vec![Server { hints, ..server("one") }];
            let host = runtime(&home, &[], false, servers);
            let outcome = call(&host, "read", json!({"filePath": "toolpost-mcp://one/demo://same"})).await;
            match is_allowed {
                true => {
                    assert!(outcome.to_text().starts_with("1: demo://same of one"), "{}", outcome.to_text())
                }
                false => {
                    assert_eq!(outcome.result.unwrap_err().code(), Code::PermissionDenied);
                    assert!(host.plugins.as_ref().unwrap().packs().is_empty(), "it was not started");
                }
            }
            end(host, &home).await;
        }
    });
}

#[test]
fn clients_list_and_read_resources_of_other_servers() {
    let home = Home::new();
    run(async {
        let host = runtime(&home, &["--policy", "privileged"], true, vec![server("one"), server("two")]);
        let options =
            toolpost_server::Options { list_wait: std::time::Duration::from_secs(600), ..options() };
        let (at, serving) = serve_with(&host, options).await;
        let ask = async |method: &'static str, headers: String, params: Value| {
            let answer =
                tokio::task::spawn_blocking(move || sent(at, method, &headers, params)).await.unwrap();
            super::served::body(&answer)
        };
        ask("tools/list", String::new(), json!({})).await;
        let listed = ask("resources/list", String::new(), json!({})).await.to_string();
        for address in ["one/demo://same", "one/demo://one", "two/demo://same", "two/demo://two"] {
            assert!(listed.contains(&format!("\"toolpost-mcp://{address}\"")), "{address}: {listed}");
        }
        for (uri, expected) in
            [("toolpost-mcp://two/demo://same", "demo://same of two"), ("demo://one", "demo://one of one")]
        {
            let read = ask("resources/read", format!("Mcp-Name: {uri}\r\n"), json!({"uri": uri})).await;
            let content = &read["result"]["contents"][0];
            assert_eq!((&content["text"], &content["uri"]), (&json!(expected), &json!(uri)), "{read}");
        }
        let uri = "toolpost-mcp://one/demo://two";
        let refused = ask("resources/read", format!("Mcp-Name: {uri}\r\n"), json!({"uri": uri})).await;
        assert!(refused["error"]["message"].to_string().contains("it has named no resource"), "{refused}");
        host.cancel.cancel();
        serving.await.unwrap();
        end(host, &home).await;
    });
}
