//! Server-sent events, from a server of the test's own and from our listener.

use crate::peer::{Act, Peer, chunks};
use crate::run;
use std::time::Duration;
use toolpost_http::{Client, ClientOptions, ErrorKind, EventStream, Request};

async fn events(peer: &Peer, max: usize) -> EventStream {
    let client = Client::new(ClientOptions::default());
    let response = client.send(Request::get(peer.url())).await.unwrap();
    assert!(response.is_of_type("text/event-stream"));
    response.events(max)
}

#[test]
fn events_come_one_by_one_to_the_end() {
    run(async {
        let stream = ["id: 7\nretry: 500\nda", "ta: a\n\n: ping\n\nevent: delta\ndata: b\n", "\n", ""];
        let peer = Peer::open(vec![Act::Send(chunks(&stream))]).await;
        let mut events = events(&peer, 100).await;
        let mut found = Vec::new();
        while let Some(event) = events.next().await.unwrap() {
            found.push((event.name, String::from_utf8(event.data).unwrap()));
        }
        assert_eq!(found, [("message", "a"), ("delta", "b")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!((events.last_id(), events.retry()), (Some("7"), Some(Duration::from_millis(500))));
    });
}

#[test]
fn what_came_before_an_event_that_is_too_long_is_returned() {
    run(async {
        let stream = ["data: a\n\ndata: b\n\ndata: this one is longer\n\n"];
        let peer = Peer::open(vec![Act::Stall(chunks(&stream))]).await;
        let mut events = events(&peer, 10).await;
        for expected in ["a", "b"] {
            assert_eq!(events.next().await.unwrap().unwrap().data, expected.as_bytes());
        }
        let error = events.next().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.to_string().ends_with("sent an event of more than 10 bytes"), "{error}");
    });
}

#[test]
fn a_flood_without_events_has_an_end() {
    run(async {
        let comment = format!(": {}\n", "x".repeat(1 << 20));
        let flood: Vec<&str> = (0..80).map(|_| comment.as_str()).collect();
        let peer = Peer::open(vec![Act::Stall(chunks(&flood))]).await;
        let error = events(&peer, 2 << 20).await.next().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.to_string().ends_with("bytes without an event"), "{error}");
    });
}
