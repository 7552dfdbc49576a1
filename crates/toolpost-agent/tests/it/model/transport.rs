//! Requests over real HTTP: what is retried, what ends, and where a key goes.

use super::server::{Act, Server};
use futures_util::StreamExt;
use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_agent::model::{
    Catalog, Choice, Format, Key, Keys, Limits, Origin, Remote, RetryPolicy, Target, Timeouts, VendorRow,
    Wanted, choose, client,
};
use toolpost_core::model::{Delta, Message, Model, ModelError, ModelErrorKind, Profile, Request, Response};
use toolpost_http::BoxFuture;

pub(crate) fn timeouts() -> Timeouts {
    let (first_byte, idle) = (Duration::from_millis(700), Duration::from_millis(400));
    Timeouts { connect: Duration::from_secs(5), first_byte, idle, total: Duration::from_secs(20) }
}

pub(crate) fn retry(attempts: u32) -> RetryPolicy {
    let (pause, max_pause) = (Duration::from_millis(10), Duration::from_secs(2));
    RetryPolicy { attempts, pause, max_pause, after_deltas: true }
}

pub(crate) fn remote(format: Format, url: &str, attempts: u32, key: &str) -> Remote {
    let profile = Profile { vendor: "test".into(), model: "m".into(), ..Profile::default() };
    let key = Key::new(key, "`TEST_KEY`").ok();
    let remote = Remote::new(profile, Target::new(format, "m"), url, key, client(&timeouts(), None));
    remote.within(timeouts(), retry(attempts), Limits::default())
}

pub(crate) async fn asked(
    model: &dyn Model,
    request: Request,
    cancel: CancellationToken,
) -> (Vec<Delta>, Result<Response, ModelError>) {
    let mut stream = model.stream(request, cancel);
    let mut deltas = Vec::new();
    while let Some(delta) = stream.next().await {
        match delta {
            Ok(Delta::Done(response)) => {
                assert!(stream.next().await.is_none());
                return (deltas, Ok(*response));
            }
            Ok(delta) => deltas.push(delta),
            Err(error) => {
                assert!(stream.next().await.is_none());
                return (deltas, Err(error));
            }
        }
    }
    panic!("the stream ended without a response: {deltas:?}");
}

fn hello() -> Request {
    Request { messages: vec![Message::user("hello")], ..Request::default() }
}

const PART: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";

fn answer(status: u16, body: &str) -> Act {
    Act::Answer(status, &[], body.to_owned())
}

fn good() -> Act {
    let rest = "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    answer(200, &format!("{PART}{rest}"))
}

/// What is shown of deltas: text, and `!` for a retry.
fn shown(deltas: &[Delta]) -> String {
    let words = deltas.iter().map(|delta| match delta {
        Delta::Text(text) => text.as_str(),
        Delta::Retry { .. } => "!",
        other => panic!("{other:?}"),
    });
    words.collect()
}

/// A server's acts, what is streamed, how it ends, and how many requests were made.
async fn check(acts: Vec<Act>, streamed: &str, ends: Result<&str, (ModelErrorKind, &str)>, requests: usize) {
    let server = Server::start(acts.clone()).await;
    let model = remote(Format::OpenaiChat, &server.url, 3, "k-123456789");
    let (deltas, response) = asked(&model, hello(), CancellationToken::new()).await;
    assert_eq!(shown(&deltas), streamed, "{acts:?}");
    match (&response, ends) {
        (Ok(response), Ok(text)) => assert_eq!(response.text(), text),
        (Err(error), Err((kind, part))) => {
            assert_eq!(error.kind, kind, "{error:?}");
            assert!(error.message.contains(part) && error.message.starts_with("test/m"), "{error:?}");
        }
        other => panic!("{acts:?}: {other:?}"),
    }
    assert_eq!(server.received().len(), requests, "{acts:?}");
}

#[tokio::test]
async fn faults_are_retried_where_that_helps() {
    use ModelErrorKind::*;
    check(vec![good()], "Hello", Ok("Hello"), 1).await;
    check(vec![answer(429, "{}"), good()], "!Hello", Ok("Hello"), 2).await;
    check(vec![answer(529, "{}"), answer(503, "{}"), good()], "!!Hello", Ok("Hello"), 3).await;
    check(vec![Act::Cut(PART.into()), good()], "Hel!Hello", Ok("Hello"), 2).await;
    check(vec![Act::Hang(PART.into()), good()], "Hel!Hello", Ok("Hello"), 2).await;
    check(vec![Act::Silent, good()], "!Hello", Ok("Hello"), 2).await;
    check(vec![answer(200, PART), good()], "Hel!Hello", Ok("Hello"), 2).await;
    check(vec![answer(200, ""), good()], "!Hello", Ok("Hello"), 2).await;
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n";
    check(vec![answer(200, &format!("{PART}{error}")), good()], "Hel!Hello", Ok("Hello"), 2).await;
    // Again and again: the last error is told.
    check(vec![answer(500, "{\"error\":\"broken\"}")], "!!", Err((Server, "broken")), 3).await;
    check(vec![Act::Cut(PART.into())], "Hel!Hel!Hel", Err((Network, "")), 3).await;
    check(vec![Act::Silent], "!!", Err((TimedOut, "0.7 s")), 3).await;
}

#[tokio::test]
async fn faults_that_stay_are_not_retried() {
    use ModelErrorKind::*;
    check(
        vec![answer(401, "{\"error\":\"bad key\"}")],
        "",
        Err((Authentication, "bad key; the key is from `TEST_KEY`")),
        1,
    )
    .await;
    check(vec![answer(400, "{\"error\":\"bad tool\"}")], "", Err((Invalid, "(400): bad tool")), 1).await;
    check(vec![answer(404, "{}")], "", Err((NotFound, "404")), 1).await;
    check(vec![answer(200, "<!DOCTYPE html><p>log in")], "", Err((Protocol, "check the base URL")), 1).await;
}

#[tokio::test]
async fn the_servers_hints_are_followed() {
    let should_not = vec![("x-should-retry", "false".to_owned())].leak();
    let later = vec![("retry-after", "3600".to_owned())].leak();
    let soon = vec![("retry-after-ms", "1".to_owned())].leak();
    use ModelErrorKind::{RateLimited, Server as Failed};
    check(vec![Act::Answer(529, should_not, "{}".into())], "", Err((Failed, "529")), 1).await;
    check(vec![Act::Answer(429, later, "{}".into())], "", Err((RateLimited, "429")), 1).await;
    check(vec![Act::Answer(429, soon, "{}".into()), good()], "!Hello", Ok("Hello"), 2).await;
    let info =
        r#"{"error":{"code":429,"message":"quota","details":[{"@type":"RetryInfo","retryDelay":"0.05s"}]}}"#;
    let server = Server::start(vec![answer(429, info), good()]).await;
    let model = remote(Format::OpenaiChat, &server.url, 2, "");
    let (deltas, _) = asked(&model, hello(), CancellationToken::new()).await;
    assert!(matches!(deltas[0], Delta::Retry { attempt: 1, delay_ms: 50, .. }), "{deltas:?}");
}

#[tokio::test]
async fn a_cancelled_request_ends_at_once() {
    for acts in [vec![Act::Silent], vec![Act::Hang(PART.into())], vec![answer(503, "{}")]] {
        let server = Server::start(acts.clone()).await;
        let mut model = remote(Format::OpenaiChat, &server.url, 3, "");
        let slow =
            RetryPolicy { pause: Duration::from_secs(60), max_pause: Duration::from_secs(60), ..retry(3) };
        let long =
            Timeouts { first_byte: Duration::from_secs(60), idle: Duration::from_secs(60), ..timeouts() };
        model = model.within(long, slow, Limits::default());
        let cancel = CancellationToken::new();
        let end = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            end.cancel();
        });
        let begun = std::time::Instant::now();
        let (_, response) = asked(&model, hello(), cancel).await;
        assert_eq!(response.unwrap_err().kind, ModelErrorKind::Cancelled, "{acts:?}");
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_clear_error() {
    let model = remote(Format::OpenaiChat, "http://127.0.0.1:9", 4, "");
    let (deltas, response) = asked(&model, hello(), CancellationToken::new()).await;
    let error = response.unwrap_err();
    // One more attempt: a server on this machine that is not running is not waited for.
    assert_eq!((deltas.len(), error.kind, error.retryable), (1, ModelErrorKind::Network, false));
    assert!(error.message.contains("127.0.0.1:9 cannot be reached"), "{error:?}");
    assert!(
        error.message.ends_with("; start the server, or choose another model with `--model`"),
        "{error:?}"
    );
}

/// An environment of a test.
struct Variables(HashMap<String, String>);

impl Keys for Variables {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            if path == "good" { Ok("key-in-file\n".into()) } else { Err("no such file".into()) }
        })
    }

    fn command<'a>(&'a self, command: &'a [String]) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move { Ok(format!("key-of-{}", command.join("-"))) })
    }
}

fn variables(pairs: &[(&str, &str)]) -> Variables {
    Variables(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

/// Guarantee 21: with a canary key in every variable, each key reaches its own vendor's host and nothing else: not the
/// place that a redirect names, not an error, and not what is printed of a model.
#[tokio::test]
async fn a_key_reaches_its_own_host_and_nothing_else() {
    let catalog = Catalog::built_in().unwrap();
    let names: Vec<&String> = catalog.vendors().iter().flat_map(|row| &row.key.variables).collect();
    let canary = |name: &str| format!("canary-of-{name}-0123456789");
    let keys = Variables(names.iter().map(|name| ((*name).clone(), canary(name))).collect());
    let elsewhere = Server::start(vec![answer(200, "")]).await;
    let mut servers = Vec::new();
    for row in catalog.vendors() {
        let own: Option<String> = row.key.variables.first().map(|name| canary(name));
        let echo = format!(
            "{{\"error\":{{\"message\":\"bad key {0}\",\"code\":\"{0}\"}}}}",
            own.clone().unwrap_or_default()
        );
        let place = format!("{}/stolen", elsewhere.url);
        let to: &'static [(&str, String)] = vec![("location", place)].leak();
        let mut acts: Vec<Act> =
            [301, 302, 303, 307, 308].map(|status| Act::Answer(status, to, echo.clone())).to_vec();
        acts.extend([answer(401, &echo), answer(400, &echo), answer(200, &format!("data: {echo}\n\n"))]);
        let count = acts.len();
        let server = Server::start(acts).await;
        let mut row: VendorRow = row.clone();
        row.base_url = server.url.clone();
        let key = row.key.find(&keys).await.unwrap();
        let mut printed = format!("{key:?} {row:?}");
        for _ in 0..count {
            let open = row.open("m", key.clone(), client(&timeouts(), None), "2026-11-18");
            let open = open.within(timeouts(), retry(1), Limits::default());
            let (deltas, response) = asked(&open, hello(), CancellationToken::new()).await;
            let error = response.unwrap_err();
            let dropped = serde_json::to_string(&error).unwrap();
            printed.push_str(&format!("{deltas:?} {error:?} {error} {dropped}"));
        }
        assert!(!printed.contains("canary-of"), "{}: {printed}", row.name);
        assert_eq!(server.received().len(), count, "{}", row.name);
        servers.push((row, own, server));
    }
    assert_eq!(elsewhere.received(), Vec::<String>::new());
    for (row, own, server) in &servers {
        for request in server.received() {
            let expected = usize::from(own.is_some());
            assert_eq!(request.matches("canary-of").count(), expected, "{}: {request}", row.name);
            assert!(own.as_ref().is_none_or(|own| request.contains(own)), "{}", row.name);
        }
    }
}

async fn chosen(wanted: &Wanted, catalog: &Catalog, keys: &Variables) -> Result<Choice, String> {
    let http = client(&timeouts(), None);
    choose(wanted, catalog, keys, &http).await.map_err(|error| error.message)
}

fn name(choice: &Choice) -> String {
    let key = choice.key.as_ref().map_or("", Key::source);
    format!("{}/{} {key} ({})", choice.vendor.name, choice.model, choice.reason)
}

#[tokio::test]
async fn a_model_is_chosen_by_name_by_key_and_by_what_answers() {
    let list = answer(200, r#"{"models":[{"name":"nomic-embed-text"},{"name":"qwen3:4b"}]}"#);
    let ollama = Server::start(vec![list]).await;
    let vllm = Server::start(vec![answer(200, r#"{"data":[{"id":"Qwen/Qwen3"}]}"#)]).await;
    // The built-in local servers, at ports where nobody listens.
    let mut catalog = Catalog::built_in().unwrap();
    let place = |name: &str, format: &str, url: &str, probe: &str| {
        format!("[[vendor]]\nname=\"{name}\"\nformat=\"{format}\"\nbase-url=\"{url}\"\nprobe=\"{probe}\"\n")
    };
    let nobody = "http://127.0.0.1:9/v1";
    let mut rows = place("llamacpp", "openai-chat", nobody, "/models");
    rows += &place("lmstudio", "openai-chat", nobody, "/models");
    let origin = Origin::User("c.toml".into());
    catalog
        .add(&(rows.clone() + &place("vllm", "openai-chat", nobody, "/models")), "c.toml", &origin)
        .unwrap();
    let no_ollama = ("OLLAMA_HOST", "127.0.0.1:9");
    let ollama_at = ollama.url.strip_prefix("http://").unwrap().to_owned();

    let none = Wanted::default();
    let nothing = chosen(&none, &catalog, &variables(&[no_ollama])).await.unwrap_err();
    for part in [
        "--model",
        "agent file",
        "configuration",
        "ANTHROPIC_API_KEY",
        "ollama at http://127.0.0.1:9/api",
        "script",
    ] {
        assert!(nothing.contains(part), "{nothing}");
    }
    let found = chosen(&none, &catalog, &variables(&[("OLLAMA_HOST", &ollama_at)])).await.unwrap();
    let expected = format!("ollama/qwen3:4b  (ollama answers at http://{ollama_at}/api)");
    assert_eq!(name(&found), expected);
    let keys = [("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", " o \n"), ("ANTHROPIC_API_KEY", " "), no_ollama];
    let found = chosen(&none, &catalog, &variables(&keys)).await.unwrap();
    assert_eq!(name(&found), "openai/gpt-5.6 `OPENAI_API_KEY` (`OPENAI_API_KEY` is there)");

    let wanted = |flag: &str, agent: &str, configured: &str| {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (flag, agent, configured) = (some(flag), some(agent), some(configured));
        Wanted { flag, agent, configured, ..Wanted::default() }
    };
    let pick = |flag, agent, configured| {
        let (wanted, catalog, keys) = (wanted(flag, agent, configured), catalog.clone(), variables(&keys));
        async move { chosen(&wanted, &catalog, &keys).await.map(|choice| name(&choice)) }
    };
    let gemini = "gemini/gemini-2.5-pro `GEMINI_API_KEY`";
    assert_eq!(pick("gemini-2.5-pro", "openai", "").await.unwrap(), format!("{gemini} (`--model` names it)"));
    assert_eq!(
        pick("", "gemini-2.5-pro", "openai").await.unwrap(),
        format!("{gemini} (the agent file names it)")
    );
    assert_eq!(
        pick("", "inherit", "gemini-2.5-pro").await.unwrap(),
        format!("{gemini} (the configuration names it)")
    );
    let missing = pick("sonnet", "", "").await.unwrap_err();
    assert!(missing.contains("no key for anthropic: set `ANTHROPIC_API_KEY`"), "{missing}");
    let unknown = pick("", "gtp-5", "").await.unwrap_err();
    assert!(unknown.contains("the agent file names a model that is not known"), "{unknown}");
    let empty = pick("ollama", "", "").await.unwrap_err();
    assert!(empty.contains("no model is served at http://127.0.0.1:9/api"), "{empty}");

    // What a workspace brought is never chosen by itself.
    let mut brought = Catalog::default();
    let row = format!(
        "{}key = {{ variables = [\"TOOLPOST_OWN_API_KEY\"] }}\nmodel = \"m\"\n",
        place("own", "openai-chat", "https://own.test", "/models").replace("probe=\"/models\"\n", "")
    );
    brought.add(&row, "w.toml", &Origin::Workspace("w.toml".into())).unwrap();
    brought
        .add(&place("vllm", "openai-chat", &format!("{}/v1", vllm.url), "/models"), "c.toml", &origin)
        .unwrap();
    let own = variables(&[("TOOLPOST_OWN_API_KEY", "k")]);
    let found = chosen(&none, &brought, &own).await.unwrap();
    assert_eq!((found.vendor.name.as_str(), found.model.as_str()), ("vllm", "Qwen/Qwen3"));
    let found = chosen(&wanted("own", "", ""), &brought, &own).await.unwrap();
    assert_eq!(found.vendor.origin, Origin::Workspace("w.toml".into()));
}

#[tokio::test]
async fn keys_come_from_files_and_commands_too() {
    let row = |key: &str| {
        let mut catalog = Catalog::default();
        let text = format!(
            "[[vendor]]\nname=\"own\"\nformat=\"openai-chat\"\nbase-url=\"https://own.test\"\nmodel=\"m\"\nkey={{{key}}}\n"
        );
        catalog.add(&text, "c.toml", &Origin::User("c.toml".into())).unwrap();
        catalog
    };
    let source = |key: &str| {
        let catalog = row(key);
        async move {
            let choice = chosen(&Wanted::default(), &catalog, &variables(&[("BAD", "a\nb")])).await;
            choice.map(|choice| choice.key.unwrap().source().to_owned())
        }
    };
    assert_eq!(source("file=\"good\"").await.unwrap(), "the file `good`");
    assert_eq!(source("command=[\"pass\",\"show\"]").await.unwrap(), "the command `pass`");
    assert!(
        source("file=\"other\"").await.unwrap_err().contains("no key from the file `other`: no such file")
    );
    let bad = source("variables=[\"BAD\"]").await.unwrap_err();
    assert!(bad.contains("`BAD`") && !bad.contains("a\nb"), "{bad}");
}

/// A proxy that leads every connection to one server; what it was asked.
async fn proxy(to: String) -> (String, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let is_allowed = head.contains("Basic dXNlcjpwYXNz");
            seen.lock().unwrap().push(head);
            if !is_allowed {
                stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await.unwrap();
                continue;
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let mut server = tokio::net::TcpStream::connect(&to).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut stream, &mut server).await });
        }
    });
    (address, asked)
}

#[tokio::test]
async fn model_calls_go_through_a_proxy() {
    let server = Server::start(vec![good()]).await;
    let to = server.url.strip_prefix("http://").unwrap().to_owned();
    let (address, asked_of_proxy) = proxy(to.clone()).await;
    let through = |user: &str| {
        let proxy = toolpost_http::Proxy::new(&format!("http://{user}@{address}"), &[]).unwrap();
        let profile = Profile { vendor: "test".into(), model: "m".into(), ..Profile::default() };
        let http = client(&timeouts(), Some(std::sync::Arc::new(proxy)));
        let key = Key::new("k-123456789", "`TEST_KEY`").ok();
        let remote = Remote::new(
            profile,
            Target::new(Format::OpenaiChat, "m"),
            "http://models.test:8080/v1",
            key,
            http,
        );
        remote.within(timeouts(), retry(1), Limits::default())
    };
    let (_, response) = asked(&through("user:pass"), hello(), CancellationToken::new()).await;
    assert_eq!(response.unwrap().text(), "Hello");
    let (_, response) = asked(&through("user:wrong"), hello(), CancellationToken::new()).await;
    let error = response.unwrap_err();
    assert!(error.message.contains("407") && !error.message.contains("wrong"), "{error:?}");
    let heads = asked_of_proxy.lock().unwrap().join("\n");
    assert!(
        heads.starts_with("CONNECT models.test:8080 HTTP/1.1") && !heads.contains("k-123456789"),
        "{heads}"
    );
    assert!(
        server.received()[0].starts_with("POST /v1/chat/completions")
            && server.received()[0].contains("k-123456789")
    );
}

/// A row of the catalog whose base URL ends like this: the first line of its request, and the header of its key.
async fn sent(ending: &str, more: &str, format: &str) -> (String, String) {
    let server = Server::start(vec![Act::Answer(400, &[], "{}".to_owned())]).await;
    let url = format!("{}{ending}", server.url);
    let row = format!("[[vendor]]\nname = \"own\"\nformat = \"{format}\"\nbase-url = \"{url}\"\n{more}");
    let mut catalog = Catalog::default();
    catalog.add(&row, "own.toml", &Origin::User("own.toml".to_owned())).unwrap();
    let (row, model) = catalog.find("own/m").unwrap();
    let key = Key::new("k-123456789", "`OWN`").ok();
    let remote = row.open(&model, key, client(&timeouts(), None), "2026-11-18");
    let (_, response) = asked(&remote, hello(), CancellationToken::new()).await;
    let error = response.unwrap_err();
    assert!(!error.message.contains("k-123456789"), "{error:?}");
    let request = server.received().remove(0);
    let key = request.lines().find(|line| line.contains("k-123456789")).unwrap_or_default();
    (request.lines().next().unwrap().to_owned(), key.to_owned())
}

#[tokio::test]
async fn a_base_url_may_have_a_query_and_an_at_in_its_path() {
    let (line, key) =
        sent("/openai/deployments/d?api-version=2026-02-01", "key-header = \"api-key\"", "openai-chat").await;
    let expected = "POST /openai/deployments/d/chat/completions?api-version=2026-02-01 HTTP/1.1";
    assert_eq!((line.as_str(), key.as_str()), (expected, "api-key: k-123456789"));
    let (line, key) = sent("/@team/v1/?x=1", "", "gemini").await;
    assert_eq!(line, "POST /@team/v1/models/m:streamGenerateContent?x=1&alt=sse HTTP/1.1");
    assert_eq!(key, "x-goog-api-key: k-123456789");
    let (line, key) = sent("/v1", "key-header = \"authorization\"", "anthropic").await;
    assert_eq!(
        (line.as_str(), key.as_str()),
        ("POST /v1/messages HTTP/1.1", "authorization: Bearer k-123456789")
    );
}
