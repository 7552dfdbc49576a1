//! `websearch` with recorded answers of providers, and with an endpoint.

use super::server::{Asked, Server, send};
use crate::{Home, project};
use serde_json::Value;
use std::net::TcpStream;

/// A recorded exchange, as the agent crate keeps it with its source.
fn recording(file: &str, id: &str) -> Value {
    let path = project().join("crates/toolpost-agent/tests/data").join(file);
    let lines = std::fs::read_to_string(path).unwrap();
    let mut all = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.find(|recording| recording["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

/// Answers as it was recorded; one that was not streamed is streamed as one event.
fn replayed(recording: &Value) -> impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static {
    let response = &recording["response"];
    let status = response["status"].as_u64().unwrap();
    let (kind, body) = match response["sse_text"].as_str() {
        Some(text) => ("text/event-stream", text.to_owned()),
        None if status == 200 => ("text/event-stream", format!("data: {}\n\n", response["body"])),
        None => ("application/json", response["body"].to_string()),
    };
    move |_, stream| send(stream, &format!("{status} Recorded\r\nContent-Type: {kind}"), body.as_bytes())
}

/// A home whose model is at a server of the test's own.
fn home(format: &str, port: u16) -> Home {
    let home = Home::new();
    home.write(
        "config.toml",
        format!(
            "model = \"lab/m-1\"\n[[vendor]]\nname = \"lab\"\nformat = \"{format}\"\nbase-url = \"http://127.0.0.1:{port}/v1\"\n\
             key = {{ variables = [\"LAB_API_KEY\"] }}\nmodel = \"m-1\"\nsearch = true\n"
        ),
    );
    home
}

fn search(home: &Home, more: &[&str]) -> (i32, Value) {
    let config = home.path("config.toml");
    let args = [
        &[
            "call",
            "websearch",
            "query=what is it",
            "--allow",
            "network",
            "--config",
            config.to_str().unwrap(),
            "--json",
        ],
        more,
    ]
    .concat();
    let mut command = home.command(args);
    crate::Ran::of(command.env("LAB_API_KEY", "lab-canary-0123456789").output().unwrap()).json()
}

#[test]
fn recorded_answers_give_their_pages() {
    for (file, id, format) in [
        ("gemini.jsonl", "gemini-n-google-search", "gemini"),
        ("gemini.jsonl", "gemini-n-google-search-b", "gemini"),
        ("gemini.jsonl", "gemini-n-google-search-c", "gemini"),
        ("gemini.jsonl", "gemini-s-google-search", "gemini"),
        ("anthropic.jsonl", "anthropic-s-web-search", "anthropic"),
        ("openai-responses.jsonl", "openai-responses-s-web-search", "openai-responses"),
    ] {
        let recording = recording(file, id);
        let (server, port) = Server::on_loopback(replayed(&recording));
        let (status, outcome) = search(&home(format, port), &["maxResults=20"]);
        assert_eq!(status, 0, "{id}: {outcome}");
        let results = outcome["data"]["results"].as_array().unwrap();
        let urls: Vec<&str> = results.iter().map(|result| result["url"].as_str().unwrap()).collect();
        let expected = recording["expect"]["grounding_sources"].as_array().cloned().unwrap_or_default();
        for source in &expected {
            let place = results.iter().find(|result| {
                let url = result["url"].as_str().unwrap();
                url.replace("%20", " ") == source["uri"].as_str().unwrap().replace("%20", " ")
            });
            assert_eq!(place.unwrap_or(&Value::Null)["title"], source["title"], "{id}: {urls:?}");
        }
        assert!(!results.is_empty(), "{id}: {outcome}");
        assert!(outcome["output"].as_str().unwrap().contains("untrusted text"), "{id}");
        assert_eq!(outcome["data"]["searchedBy"], "lab/m-1");
        // The provider was asked to search, once.
        assert_eq!(server.asked().iter().filter(|asked| asked.head.starts_with("POST")).count(), 1, "{id}");
    }
}

#[test]
fn snippets_are_what_the_supports_say() {
    let recording = recording("gemini.jsonl", "gemini-n-google-search");
    let (_server, port) = Server::on_loopback(replayed(&recording));
    let (_, outcome) = search(&home("gemini", port), &[]);
    let metadata = &recording["response"]["body"]["candidates"][0]["groundingMetadata"];
    let support = &metadata["groundingSupports"][0];
    let index = support["groundingChunkIndices"][0].as_u64().unwrap() as usize;
    let snippet = outcome["data"]["results"][index]["snippet"].as_str().unwrap();
    assert!(snippet.contains(support["segment"]["text"].as_str().unwrap()), "{outcome}");
}

#[test]
fn an_answer_without_supports_says_what_it_says() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"東京は晴れです。"}],"role":"model"},"finishReason":"STOP","groundingMetadata":{}}]}"#;
    let (_server, port) = Server::on_loopback(move |_, stream| {
        send(stream, "200 OK\r\nContent-Type: text/event-stream", format!("data: {body}\n\n").as_bytes());
    });
    let (status, outcome) = search(&home("gemini", port), &[]);
    assert_eq!((status, &outcome["data"]["results"]), (0, &serde_json::json!([])), "{outcome}");
    assert!(outcome["output"].as_str().unwrap().contains("lab/m-1 says: 東京は晴れです。"), "{outcome}");
}

#[test]
fn redirect_links_become_the_addresses_that_they_lead_to() {
    let (server, port) = Server::on_loopback(|asked, stream| match asked.path.as_str() {
        path if path.starts_with("/grounding-api-redirect/") => {
            send(stream, "302 Found\r\nLocation: https://страна.example/страница", b"");
        }
        _ => {
            let host = asked
                .head
                .lines()
                .find_map(|line| line.strip_prefix("host: ").or(line.strip_prefix("Host: ")));
            let uri = format!("http://{}/grounding-api-redirect/AbC", host.unwrap());
            let body = serde_json::json!({"candidates": [{
                "content": {"parts": [{"text": "Да."}], "role": "model"}, "finishReason": "STOP",
                "groundingMetadata": {
                    "groundingChunks": [{"web": {"uri": uri, "title": "страна.example"}}],
                    "groundingSupports": [{"segment": {"endIndex": 5, "text": "Да."}, "groundingChunkIndices": [0]}],
                    "webSearchQueries": ["вопрос"],
                },
            }]});
            send(stream, "200 OK\r\nContent-Type: text/event-stream", format!("data: {body}\n\n").as_bytes());
        }
    });
    let rule = format!("network: 127.0.0.1:{port}");
    let (_, outcome) = search(&home("gemini", port), &["--allow-rule", &rule]);
    let found = &outcome["data"]["results"][0];
    assert_eq!(
        found["url"], "https://xn--80aa2bkeg.example/%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0",
        "{outcome}"
    );
    assert_eq!((&found["title"], &found["snippet"]), (&"страна.example".into(), &"Да.".into()));
    // The key went to the provider, and not along with the link.
    let heads: Vec<String> = server.asked().into_iter().map(|asked| asked.head).collect();
    assert!(heads.iter().any(|head| head.contains("lab-canary")), "{heads:?}");
    for head in heads.iter().filter(|head| head.starts_with("GET")) {
        assert!(!head.contains("canary"), "{head}");
    }
    // A link that may not be followed stays as it is.
    let (_, outcome) = search(&home("gemini", port), &[]);
    assert!(
        outcome["data"]["results"][0]["url"].as_str().unwrap().contains("/grounding-api-redirect/AbC"),
        "{outcome}"
    );
}

#[test]
fn an_error_of_the_provider_says_whose_it_is() {
    for (file, id, format, said) in [
        ("gemini.jsonl", "gemini-err-400-bad-key", "gemini", "API key not valid"),
        ("anthropic.jsonl", "anthropic-err-401", "anthropic", "lab/m-1"),
    ] {
        let (_server, port) = Server::on_loopback(replayed(&recording(file, id)));
        let (status, outcome) = search(&home(format, port), &[]);
        let message = outcome["error"]["message"].as_str().unwrap();
        assert_eq!((status, &outcome["error"]["code"]), (1, &"MODEL_ERROR".into()), "{outcome}");
        assert!(
            message.contains("the search by lab/m-1 failed") && message.contains(said),
            "{id}: {message}"
        );
        assert!(!outcome.to_string().contains("canary"), "{outcome}");
    }
}

/// Answers with these statuses and headers, one after the other, and then well.
fn failing(answers: &'static [(&'static str, &'static str)]) -> (Server, u16) {
    let count = std::sync::atomic::AtomicUsize::new(0);
    Server::on_loopback(move |_, stream| {
        match answers.get(count.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
            Some((head, body)) => send(stream, head, body.as_bytes()),
            None => {
                let body = r#"data: {"candidates":[{"content":{"parts":[{"text":"Found."}],"role":"model"},"finishReason":"STOP"}]}"#;
                send(stream, "200 OK\r\nContent-Type: text/event-stream", format!("{body}\n\n").as_bytes());
            }
        }
    })
}

/// A provider that asks for a pause is asked again after it, and not before; one that asks for too long a pause is
/// not asked again, and the error says when.
#[test]
fn hints_of_a_provider_are_respected() {
    const BUSY: (&str, &str) = (
        "429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: application/json",
        r#"{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}"#,
    );
    const DELAY: (&str, &str) = (
        "503 Unavailable\r\nContent-Type: application/json",
        r#"{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE",
            "details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}"#,
    );
    let (server, port) = failing(&[BUSY, DELAY]);
    let started = std::time::Instant::now();
    let (status, outcome) = search(&home("gemini", port), &[]);
    assert_eq!((status, &outcome["data"]["answer"]), (0, &"Found.".into()), "{outcome}");
    assert!(started.elapsed().as_millis() >= 2_500, "{:?}", started.elapsed());
    assert_eq!(server.asked().len(), 3);

    const LATER: (&str, &str) = ("429 Too Many Requests\r\nRetry-After: 300", "slow down");
    let (server, port) = failing(&[LATER]);
    let (status, outcome) = search(&home("gemini", port), &[]);
    let error = &outcome["error"];
    let message = error["message"].as_str().unwrap();
    assert_eq!(
        (status, &error["code"], &error["retryable"]),
        (1, &"MODEL_ERROR".into(), &true.into()),
        "{outcome}"
    );
    assert!(message.contains("the search by lab/m-1 failed") && message.contains("5 min"), "{message}");
    assert_eq!(error["details"]["retryAfterMs"], 300_000, "{outcome}");
    assert_eq!(server.asked().len(), 1);
}

/// What cannot be understood names the provider and is not asked for again and again.
#[test]
fn an_answer_that_cannot_be_understood_says_whose_it_is() {
    for body in ["data: {\"candidates\": [{\n\n", "data: [1, 2\n\n", "<html>proxy error</html>"] {
        let (_server, port) = Server::on_loopback(move |_, stream| {
            send(stream, "200 OK\r\nContent-Type: text/event-stream", body.as_bytes());
        });
        let config = home("gemini", port);
        let (status, outcome) = search(&config, &["--timeout", "8s"]);
        let message = outcome["error"]["message"].as_str().unwrap();
        assert_eq!(status, 1, "{outcome}");
        assert!(message.contains("the search by lab/m-1 failed"), "{body}: {outcome}");
        assert!(!outcome.to_string().contains("canary"), "{outcome}");
    }
}

#[test]
fn an_endpoint_of_the_user_is_asked() {
    let (server, port) = Server::on_loopback(|asked, stream| {
        match asked.path.as_str() {
        path if path.contains("q=moved") => send(stream, "302 Found\r\nLocation: http://127.0.0.1:1/elsewhere", b""),
        path if path.contains("q=html") => send(stream, "200 OK\r\nContent-Type: text/html", b"<html>"),
        path if path.contains("q=closed") => send(stream, "403 Forbidden", b""),
        path if path.contains("q=busy") => send(stream, "429 Too Many Requests\r\nRetry-After: 30", b"later"),
        path if path.contains("q=down") => send(stream, "503 Unavailable", b""),
        path if path.contains("q=cut") => send(stream, "200 OK\r\nContent-Type: application/json", br#"{"results":[{"title":"#),
        path if path.contains("q=other") => send(stream, "200 OK\r\nContent-Type: application/json", br#"{"items":[]}"#),
        _ => send(
            stream,
            "200 OK\r\nContent-Type: application/json",
            br#"{"query":"x","results":[{"title":"One","url":"https://one.example/","content":"First.","engine":"a"},
                {"title":"Bad","url":"javascript:alert(1)","content":""},{"title":"Two","url":"https://two.example/"}]}"#,
        ),
    }
    });
    let home = Home::new();
    home.write("config.toml", format!("searchUrl = \"http://127.0.0.1:{port}/search?language=en\"\n"));
    let config = home.path("config.toml");
    let ask = |query: &str| {
        let flags = ["--allow", "network", "--config", config.to_str().unwrap()];
        home.json(&[&["call", "WebSearch", &format!("query={query}")][..], &flags].concat())
    };
    let (status, outcome) = ask("größe & more");
    assert_eq!(status, 0, "{outcome}");
    assert_eq!(
        outcome["data"]["results"],
        serde_json::json!([
            {"title": "One", "url": "https://one.example/", "snippet": "First."},
            {"title": "Two", "url": "https://two.example/", "snippet": ""},
        ])
    );
    assert_eq!(server.asked()[0].path, "/search?language=en&q=gr%C3%B6%C3%9Fe%20%26%20more&format=json");
    let place = format!("http://127.0.0.1:{port}/search");
    for (query, said, retryable) in [
        ("moved", "another place", false),
        ("html", "is not JSON (expected value at line 1 column 1)", false),
        ("closed", "status 403; it may not be set up to answer in JSON", false),
        ("busy", "status 429; it wants to be asked again after 30 s", true),
        ("down", "status 503", true),
        ("cut", "is not JSON (EOF while parsing", false),
        ("other", "has no `results`", false),
    ] {
        let (status, outcome) = ask(query);
        let message = outcome["error"]["message"].as_str().unwrap();
        assert!(status != 0 && message.contains(said), "{outcome}");
        assert!(query == "moved" || message.contains(&place), "{outcome}");
        assert_eq!(outcome["error"]["retryable"], retryable, "{outcome}");
    }
    assert_eq!(ask("busy").1["error"]["details"]["retryAfterMs"], 30_000);
    // Without either, it is not offered, and says what is missing.
    let (status, outcome) = home.json(&["call", "websearch", "query=x", "--allow", "network"]);
    assert_eq!((status, &outcome["error"]["code"]), (1, &"LLM_ASSIST_REQUIRED".into()), "{outcome}");
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains("`searchUrl`") && message.contains("`model`"), "{message}");
}

/// A key from a file or a command is known as soon as it is read: no result, error or event of the session shows it.
#[test]
fn a_key_from_a_file_or_a_command_is_never_shown() {
    const CANARY: &str = "lab-canary-from-elsewhere-0123456789";
    let (_server, port) = Server::on_loopback(|asked, stream| {
        // A provider that repeats the key it was given, in an answer and in an error.
        let key =
            asked.head.lines().find_map(|line| line.strip_prefix("x-goog-api-key: ")).unwrap_or_default();
        assert_eq!(key, CANARY);
        match asked.body.contains("fail") {
            true => {
                let body = format!(r#"{{"error":{{"code":400,"message":"bad key {key}"}}}}"#);
                send(stream, "400 Bad\r\nContent-Type: application/json", body.as_bytes());
            }
            false => {
                let body = format!(
                    r#"{{"candidates":[{{"content":{{"parts":[{{"text":"You sent {key}."}}],"role":"model"}},"finishReason":"STOP"}}]}}"#
                );
                send(
                    stream,
                    "200 OK\r\nContent-Type: text/event-stream",
                    format!("data: {body}\n\n").as_bytes(),
                );
            }
        }
    });
    for key in ["file = \"KEYFILE\"", "command = [\"cat\", \"KEYFILE\"]"] {
        let home = home("gemini", port);
        home.write("repo/notes.txt", format!("{CANARY}\n"));
        let file = home.path("repo/notes.txt");
        let config = std::fs::read_to_string(home.path("config.toml")).unwrap();
        let key = key.replace("KEYFILE", file.to_str().unwrap());
        home.write("config.toml", config.replace("variables = [\"LAB_API_KEY\"]", &key));
        let config = home.path("config.toml");
        // One process, so that what the search has read is known to the calls after it.
        let flags = ["--allow", "network", "--config", config.to_str().unwrap()];
        let mut caller = crate::mcp::Caller::new(&home, &flags);
        let mut said = String::new();
        for (tool, arguments) in [
            ("websearch", serde_json::json!({"query": "anything"})),
            ("websearch", serde_json::json!({"query": "fail"})),
            ("read", serde_json::json!({"filePath": "notes.txt"})),
            ("grep", serde_json::json!({"pattern": "lab-canary.*"})),
        ] {
            said.push_str(&caller.call(tool, arguments));
        }
        caller.close();
        assert!(said.contains("You sent [redacted:model key]") && said.contains("bad key"), "{said}");
        assert!(said.contains("1: [redacted:model key]"), "{said}");
        let log = home.run(&["log", "--json", "--config", config.to_str().unwrap()]);
        assert!(log.stdout.contains("websearch"), "{}", log.stdout);
        assert!(!said.contains(CANARY) && !log.stdout.contains(CANARY), "{said}{}", log.stdout);
        let kept =
            std::process::Command::new("grep").args(["-rl", CANARY]).arg(home.path("data")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&kept.stdout), "", "the key is in the store");
    }
}

/// The variables of all providers in the catalog, and two that others keep their keys in.
fn variables() -> Vec<String> {
    let catalog =
        std::fs::read_to_string(project().join("crates/toolpost-agent/src/model/catalog.toml")).unwrap();
    let lists =
        catalog.lines().filter_map(|line| line.strip_prefix("key = { variables = [")?.split_once(']'));
    let names =
        lists.flat_map(|(names, _)| names.split(',').map(|name| name.trim().trim_matches('"').to_owned()));
    let mut names: Vec<String> = names.collect();
    assert!(names.len() >= 12 && names.contains(&"GEMINI_API_KEY".to_owned()), "{names:?}");
    names.extend(["AWS_SECRET_ACCESS_KEY".to_owned(), "GH_TOKEN".to_owned()]);
    names
}

/// Guarantee 21: a provider gets its own key and no other, and nobody that it redirects to gets any.
#[test]
fn guarantee_21_a_provider_gets_its_own_key_alone() {
    let (elsewhere, other) = Server::on_loopback(|_, stream| send(stream, "200 OK", b""));
    let (server, port) = Server::on_loopback(move |_, stream| {
        send(stream, &format!("307 Temporary\r\nLocation: http://127.0.0.1:{other}/steal"), b"");
    });
    let home = home("gemini", port);
    let config = home.path("config.toml");
    let mut command = home.command([
        "call",
        "websearch",
        "query=x",
        "--allow",
        "network",
        "--config",
        config.to_str().unwrap(),
        "--json",
    ]);
    for (number, name) in variables().iter().enumerate() {
        command.env(name, format!("canary-{number}-0123456789abcdef"));
    }
    let ran = crate::Ran::of(command.env("LAB_API_KEY", "lab-key-0123456789").output().unwrap());
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("the search by lab/m-1 failed") && !ran.stdout.contains("canary-"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("lab-key"), "{}", ran.stdout);
    let asked = server.asked();
    assert!(!asked.is_empty());
    for asked in asked {
        assert!(asked.head.contains("lab-key-0123456789"), "{}", asked.head);
        assert!(!asked.head.contains("canary-") && !asked.body.contains("canary-"), "{asked:?}");
    }
    assert_eq!(elsewhere.asked().len(), 0, "a redirect of a provider was followed");
    let log = home.run(&["log", "--json", "--config", config.to_str().unwrap()]);
    assert!(log.stdout.contains("websearch"), "{}", log.stdout);
    assert!(!log.stdout.contains("canary-") && !log.stdout.contains("lab-key"), "{}", log.stdout);
}

/// Guarantee 21.
#[test]
fn guarantee_21_no_key_leaves_but_to_its_provider() {
    let (server, port) = Server::on_loopback(|asked, stream| match asked.path.as_str() {
        "/from" => send(stream, "302 Found\r\nLocation: /to", b""),
        path if path.starts_with("/search") => {
            send(stream, "200 OK\r\nContent-Type: application/json", br#"{"results":[]}"#)
        }
        _ => send(stream, "200 OK\r\nContent-Type: text/plain", b"fetched"),
    });
    let home = Home::new();
    let rule = format!("network: 127.0.0.1:{port}");
    let variables = variables();
    let search = format!("http://127.0.0.1:{port}/search");
    for args in [
        vec!["call".to_owned(), "webfetch".into(), format!("url=http://127.0.0.1:{port}/from")],
        vec![
            "call".to_owned(),
            "webfetch".into(),
            format!("url=http://user:password-canary@127.0.0.1:{port}/to"),
        ],
        vec!["call".to_owned(), "websearch".into(), "query=anything".into()],
    ] {
        let mut command = home.command(args.iter().map(String::as_str).chain(["--allow-rule", &rule]));
        command.env("TOOLPOST_SEARCH_URL", &search).env("HTTP_PROXY", format!("http://127.0.0.1:{port}"));
        command
            .env("http_proxy", format!("http://127.0.0.1:{port}"))
            .env("ALL_PROXY", format!("http://127.0.0.1:{port}"));
        for (number, name) in variables.iter().enumerate() {
            command.env(name, format!("canary-{number}-0123456789abcdef"));
        }
        let ran = crate::Ran::of(command.output().unwrap());
        assert_eq!(ran.status, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("canary-") && !ran.stderr.contains("canary-"), "{}", ran.stdout);
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 4, "{asked:?}");
    for asked in asked {
        let head = asked.head.to_lowercase();
        assert!(!head.contains("canary"), "{head}");
        for header in ["authorization", "cookie", "x-api-key", "x-goog-api-key", "referer"] {
            assert!(!head.contains(&format!("\n{header}:")), "{head}");
        }
        // A proxy would be asked for the whole address.
        assert!(asked.path.starts_with('/'), "{head}");
    }
    let log = home.run(&["log", "--json"]);
    assert!(log.stdout.contains("webfetch") && !log.stdout.contains("canary-"), "{}", log.stdout);
}
