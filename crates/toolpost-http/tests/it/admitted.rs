//! The listener: several routes behind one admission, bodies within limits, events that end with their client.

use crate::run;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolpost_http::header::{AUTHORIZATION, ORIGIN};
use toolpost_http::{
    Admission, BoxFuture, Client, ClientOptions, EventSource, HeaderMap, HeaderValue, Listener, Received,
    Reply, Request, Response, Route, Routes, StatusCode, Url,
};

/// Answers with its name, the path and the body.
struct Echo(&'static str);

impl Route for Echo {
    fn answer<'a>(&'a self, request: Received) -> BoxFuture<'a, Reply> {
        Box::pin(async {
            let place = format!("{} {} {:?}", request.method(), request.path(), request.query());
            match request.into_body(10).await.1 {
                Ok(body) => {
                    let body = String::from_utf8_lossy(&body).into_owned();
                    Reply::text(StatusCode::OK, &format!("{}: {place} {body}", self.0))
                }
                Err(error) => Reply::text(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string()),
            }
        })
    }
}

/// Sends what the test sends, and says when it is dropped.
struct Feed(std::sync::Mutex<Option<(UnboundedReceiver<String>, UnboundedSender<()>)>>);

struct Source(UnboundedReceiver<String>, UnboundedSender<()>);

impl Route for Feed {
    fn answer<'a>(&'a self, _: Received) -> BoxFuture<'a, Reply> {
        let (receiver, dropped) = self.0.lock().unwrap().take().unwrap();
        Box::pin(async { Reply::events(Box::new(Source(receiver, dropped))) })
    }
}

impl EventSource for Source {
    fn poll_next(&mut self, waker: &mut Context<'_>) -> Poll<Option<String>> {
        self.0.poll_recv(waker)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let _ = self.1.send(());
    }
}

struct House {
    address: SocketAddr,
    ended: CancellationToken,
    serving: JoinHandle<()>,
}

impl House {
    async fn open(routes: Routes) -> House {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, ended) = (listener.address().unwrap(), CancellationToken::new());
        let admission = Admission::new(address, Some("token".to_owned()), &[]).advice("add it to the list");
        let serving = tokio::spawn(listener.serve(admission, routes, ended.clone()));
        House { address, ended, serving }
    }

    async fn ask(&self, path: &str, body: &'static str, headers: &[(&str, &'static str)]) -> Response {
        let mut all = HeaderMap::new();
        all.insert(AUTHORIZATION, HeaderValue::from_static("Bearer token"));
        for (name, value) in headers {
            all.insert(name.parse::<toolpost_http::HeaderName>().unwrap(), HeaderValue::from_static(value));
        }
        let url = Url::parse(&format!("http://{}{path}", self.address)).unwrap();
        let client = Client::new(ClientOptions::default());
        client.send(Request::post(url, body).headers(all)).await.unwrap()
    }

    async fn check(&self, path: &str, headers: &[(&str, &'static str)], status: u16, expected: &str) {
        let response = self.ask(path, "body", headers).await;
        assert_eq!(response.status(), status, "{path} {headers:?}");
        assert_eq!(response.bytes(1_000).await.unwrap(), format!("{expected}\n"), "{path} {headers:?}");
    }

    async fn close(self) {
        self.ended.cancel();
        self.serving.await.unwrap();
    }
}

#[test]
fn two_routes_share_one_admission() {
    run(async {
        let routes =
            Routes::new().add("/mcp", Arc::new(Echo("mcp"))).add("/console/", Arc::new(Echo("console")));
        let house = House::open(routes).await;
        house.check("/mcp?a=b", &[], 200, "mcp: POST /mcp Some(\"a=b\") body").await;
        house.check("/console/a/b", &[], 200, "console: POST /console/a/b None body").await;
        house.check("/other", &[], 404, "there is only /mcp and /console/ here").await;
        for path in ["/mcp", "/console/", "/other"] {
            let wrong = [(AUTHORIZATION.as_str(), "Bearer tokem")];
            house.check(path, &wrong, 401, "send the server's token: Authorization: Bearer TOKEN").await;
            let origin = [(ORIGIN.as_str(), "http://evil.example")];
            house.check(path, &origin, 403, "pages of that Origin are not let in; add it to the list").await;
        }
        house.close().await;
    });
}

#[test]
fn a_name_that_is_not_the_servers_is_refused() {
    run(async {
        let house = House::open(Routes::new().add("/", Arc::new(Echo("all")))).await;
        let head = "POST / HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer token\r\nContent-Length: 0\r\n\r\n";
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert!(answer.ends_with("this server does not go by that Host; add it to the list\n"), "{answer}");
        house.close().await;
    });
}

#[test]
fn a_body_is_read_within_its_limit() {
    run(async {
        let house = House::open(Routes::new().add("/", Arc::new(Echo("all")))).await;
        let response = house.ask("/", "0123456789", &[]).await;
        assert_eq!(response.bytes(100).await.unwrap(), "all: POST / None 0123456789\n");
        let response = house.ask("/", "0123456789a", &[]).await;
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(response.bytes(100).await.unwrap(), "the body has more than 10 bytes\n");
        house.close().await;
    });
}

#[test]
fn events_end_with_their_source_and_with_their_client() {
    run(async {
        for leaves in [false, true] {
            let (sender, receiver) = unbounded_channel();
            let (dropped, mut is_dropped) = unbounded_channel();
            let feed = Feed(std::sync::Mutex::new(Some((receiver, dropped))));
            let house = House::open(Routes::new().add("/feed", Arc::new(feed))).await;
            let mut events = house.ask("/feed", "", &[]).await.events(100);
            sender.send("one\ntwo".to_owned()).unwrap();
            assert_eq!(events.next().await.unwrap().unwrap().data, b"one\ntwo");
            match leaves {
                true => drop(events),
                false => {
                    drop(sender);
                    assert_eq!(events.next().await.unwrap(), None);
                }
            }
            is_dropped.recv().await.unwrap();
            house.close().await;
        }
    });
}
