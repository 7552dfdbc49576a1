//! Every request ends: by its time-outs, its limits, or when it is cancelled.

use crate::peer::{Act, Peer, chunks, whole};
use crate::run;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_http::{Client, ClientOptions, ErrorKind, Request, Url};

const SHORT: Duration = Duration::from_millis(50);

fn client() -> Client {
    Client::new(ClientOptions::default())
}

#[test]
fn a_server_that_says_nothing_is_left_after_the_timeout() {
    run(async {
        let peer = Peer::open(vec![Act::Stall(Vec::new())]).await;
        let error = client().send(Request::get(peer.url()).timeout(SHORT)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(error.to_string(), format!("127.0.0.1:{} has not answered after 0.05 s", peer.port()));
        peer.hung_up(1).await;
    });
}

#[test]
fn a_body_that_stops_is_left_after_either_timeout() {
    run(async {
        let peer = Peer::open(vec![Act::Stall(chunks(&["begun"]))]).await;
        for request in
            [Request::get(peer.url()).idle_timeout(SHORT), Request::get(peer.url()).timeout(4 * SHORT)]
        {
            let mut response = client().send(request).await.unwrap();
            assert_eq!(response.chunk().await.unwrap().unwrap(), "begun");
            assert_eq!(response.chunk().await.unwrap_err().kind(), ErrorKind::TimedOut);
        }
    });
}

#[test]
fn a_request_is_cancelled_before_and_within_its_response() {
    run(async {
        let peer = Peer::open(vec![Act::Stall(Vec::new())]).await;
        let cancel = CancellationToken::new();
        let sending = client();
        let request = Request::get(peer.url()).cancel(cancel.clone());
        let sent = tokio::spawn(async move { sending.send(request).await.map(drop) });
        while peer.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        assert_eq!(sent.await.unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
        peer.hung_up(1).await;

        let peer = Peer::open(vec![Act::Stall(chunks(&["begun"]))]).await;
        let cancel = CancellationToken::new();
        let mut response = client().send(Request::get(peer.url()).cancel(cancel.clone())).await.unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), "begun");
        cancel.cancel();
        assert_eq!(response.chunk().await.unwrap_err().kind(), ErrorKind::Cancelled);
    });
}

#[test]
fn a_body_has_the_size_that_the_caller_accepts() {
    run(async {
        let peer = Peer::open(vec![Act::Send(whole("12345"))]).await;
        let read = |max| async move {
            let peer = Peer::open(vec![Act::Send(whole("12345"))]).await;
            client().send(Request::get(peer.url())).await.unwrap().bytes(max).await
        };
        assert_eq!(read(5).await.unwrap(), "12345");
        let error = read(4).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.to_string().ends_with("sent a body of more than 4 bytes"), "{error}");
        drop(peer);
        // Without a length, it is found out while reading.
        let peer = Peer::open(vec![Act::Stall(chunks(&["123", "45"]))]).await;
        let response = client().send(Request::get(peer.url())).await.unwrap();
        assert_eq!(response.bytes(4).await.unwrap_err().kind(), ErrorKind::TooLarge);
    });
}

#[test]
fn a_body_that_is_cut_off_is_an_error() {
    run(async {
        let peer = Peer::open(vec![Act::HangUp(chunks(&["begun"]))]).await;
        let response = client().send(Request::get(peer.url())).await.unwrap();
        let error = response.bytes(100).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert!(error.to_string().starts_with(&format!("127.0.0.1:{} hung up: ", peer.port())), "{error}");
    });
}

#[test]
fn a_place_where_nobody_listens_cannot_be_reached() {
    run(async {
        let url = Url::parse("http://127.0.0.1:1/").unwrap();
        let error = client().send(Request::get(url)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        assert!(error.to_string().starts_with("127.0.0.1:1 cannot be reached: "), "{error}");
    });
}
