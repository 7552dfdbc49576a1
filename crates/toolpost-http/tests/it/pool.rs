//! Connections are kept for the next request if their response was read to its end, and closed otherwise.

use crate::peer::{Act, Peer, chunks, whole};
use crate::run;
use std::time::Duration;
use toolpost_http::{Client, ClientOptions, Request};

#[test]
fn a_connection_is_used_again_once_its_response_was_read() {
    run(async {
        let peer = Peer::open(vec![Act::Send(whole("one")), Act::Send(whole("two"))]).await;
        let client = Client::new(ClientOptions::default());
        for expected in ["one", "two"] {
            let response = client.send(Request::get(peer.url())).await.unwrap();
            assert!(response.status().is_success() && response.is_of_type("text/plain"));
            assert_eq!(response.bytes(10).await.unwrap(), expected);
        }
        assert_eq!(peer.connections(), 1);
        let requests = peer.requests();
        let host = format!("host: 127.0.0.1:{}\r\n", peer.port());
        assert!(requests[0].starts_with("GET /place?x=1 HTTP/1.1\r\n"), "{requests:?}");
        assert!(requests[0].to_lowercase().contains(&host), "{requests:?}");
    });
}

#[test]
fn a_connection_that_the_server_has_closed_is_replaced() {
    run(async {
        // The last response of a connection says so. Whether the client has noticed its end or not, a new one is made.
        let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none";
        let peer = Peer::open(vec![Act::HangUp(last.to_vec())]).await;
        let client = Client::new(ClientOptions::default());
        for _ in 0..20 {
            let response = client.send(Request::get(peer.url())).await.unwrap();
            assert_eq!(response.bytes(10).await.unwrap(), "one");
        }
        assert_eq!(peer.connections(), 20);
    });
}

#[test]
fn a_response_that_is_left_closes_its_connection() {
    run(async {
        let peer = Peer::open(vec![Act::Stall(chunks(&["begun"]))]).await;
        let client = Client::new(ClientOptions::default());
        let mut response = client.send(Request::get(peer.url())).await.unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), "begun");
        drop(response);
        peer.hung_up(1).await;
        let response = client.send(Request::get(peer.url())).await.unwrap();
        assert_eq!(peer.connections(), 2);
        response.drain(Duration::ZERO);
        peer.hung_up(2).await;
    });
}

#[test]
fn what_is_drained_is_used_again() {
    run(async {
        let rest = "x".repeat(100_000);
        let peer = Peer::open(vec![Act::Send(whole(&rest)), Act::Send(whole("two"))]).await;
        let client = Client::new(ClientOptions::default());
        client.send(Request::get(peer.url())).await.unwrap().drain(Duration::from_secs(600));
        // It is drained in the background; until then, another connection is made.
        loop {
            let response = client.send(Request::get(peer.url())).await.unwrap();
            if response.bytes(1_000_000).await.unwrap() == "two" {
                break;
            }
        }
    });
}

#[test]
fn an_idle_connection_is_not_kept_for_ever() {
    run(async {
        let peer = Peer::open(vec![Act::Send(whole("one")), Act::Send(whole("two"))]).await;
        let client = Client::new(ClientOptions { idle_timeout: Duration::ZERO, ..ClientOptions::default() });
        for _ in 0..2 {
            let response = client.send(Request::get(peer.url())).await.unwrap();
            assert_eq!(response.bytes(10).await.unwrap(), "one");
        }
        assert_eq!(peer.connections(), 2);
    });
}
