//! `webfetch` beside the executor alone; with real servers and a network of its own it is tested with the command.

use crate::{executor, run};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolpost_core::{Code, Context, Policy};

fn under(policy: Policy) -> crate::fixed::Fixed {
    crate::fixed::Fixed::new(executor().registry().clone(), policy)
}

#[test]
fn a_page_is_fetched_where_a_rule_names_its_place() {
    run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 4096]).await;
                let page = "<h1>Hello</h1><p>A paragraph with enough words in it to be one.</p>";
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
                    page.len()
                );
                let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
            }
        });
        let args = json!({"url": format!("http://127.0.0.1:{port}/x#part")});
        let policy = Policy::standard().allow_rule(&format!("network: 127.0.0.1:{port}")).unwrap();
        let outcome = under(policy).call(&Context::in_memory(), "webfetch", args.clone()).await;
        let output = outcome.result.unwrap();
        assert!(
            output.text.contains("# Hello\n\nA paragraph with enough words in it to be one."),
            "{}",
            output.text
        );
        assert_eq!((&output.data["status"], output.title.as_str()), (&json!(200), "Hello"));
        // The right to the network alone does not open it, and without that nothing is tried.
        for (policy, code) in
            [(Policy::privileged(), Code::NetworkBlocked), (Policy::standard(), Code::PermissionDenied)]
        {
            let outcome = under(policy).call(&Context::in_memory(), "webfetch", args.clone()).await;
            assert_eq!(outcome.result.unwrap_err().code(), code);
        }
    });
}

#[test]
fn what_is_no_address_is_refused() {
    run(async {
        for url in ["", "nonsense", "ftp://x.test/", "file:///etc/passwd", "http://"] {
            let tools = under(Policy::privileged());
            let outcome = tools.call(&Context::in_memory(), "webfetch", json!({"url": url})).await;
            assert_eq!(outcome.result.unwrap_err().code(), Code::ValidationError, "{url}");
        }
    });
}
