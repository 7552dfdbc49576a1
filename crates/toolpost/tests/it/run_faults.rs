//! Runs that go wrong, through the command: a model that falls silent, a key that it repeats, a call that is denied.

use crate::Home;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const KEY: &str = "canary-key-of-a-file-4711";

/// The end of a stream, without any count of tokens.
pub(crate) const END: &str =
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Reads one request to its end.
fn read_request(stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
}

pub(crate) fn piece(text: &str) -> String {
    let text = Value::from(text);
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{text}}}}}]}}\n\n")
}

/// A server that answers each connection with the next of these streams; one that does not end with `[DONE]` stays open.
fn serve(streams: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in streams {
            let (mut connection, _) = listener.accept().unwrap();
            read_request(&connection);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            connection.write_all(head.as_bytes()).unwrap();
            // Each event by itself, as a model sends it.
            for event in stream.split_inclusive("\n\n") {
                connection.write_all(event.as_bytes()).unwrap();
                connection.flush().unwrap();
            }
            if !stream.contains("[DONE]") {
                open.push(connection);
            }
        }
        // Those that are silent stay so for longer than the test takes.
        std::thread::sleep(Duration::from_secs(600));
        drop(open);
    });
    url
}

pub(crate) fn home(streams: Vec<String>, key: &str) -> Home {
    let home = Home::new();
    let url = serve(streams);
    let vendor = format!(
        "[[vendor]]\nname = \"mock\"\nformat = \"openai-chat\"\nbase-url = \"{url}\"\nmodel = \"m\"\n{key}"
    );
    home.write("mock.toml", format!("modelTimeout = \"300ms\"\n{vendor}"));
    home.write("repo/plain.md", "---\ndescription: d\ntools: []\n---\nAnswer.\n");
    home
}

pub(crate) fn run(home: &Home, output: &str) -> (i32, String, String) {
    let config = home.path("mock.toml").display().to_string();
    let ran =
        home.run(&["run", "plain.md", "go", "--model", "mock", "--config", &config, "--output", output]);
    (ran.status, ran.stdout, ran.stderr)
}

#[test]
fn a_stream_that_falls_silent_is_asked_for_again() {
    let end = END;
    let streams = vec![piece("Half of "), format!("{}{}{end}", piece("The whole "), piece("answer."))];
    let home = home(streams, "");
    let (status, stdout, stderr) = run(&home, "stream-json");
    assert_eq!(status, 0, "{stdout}{stderr}");
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let retries: Vec<&Value> = events.iter().filter(|event| event["type"] == "retry").collect();
    assert_eq!(retries.len(), 1, "{stdout}");
    assert_eq!(retries[0]["error"]["kind"], "timedOut", "{stdout}");
    assert_eq!(events.last().unwrap()["text"], "The whole answer.", "{stdout}");
}

#[test]
fn guarantee_21_a_key_of_a_file_or_a_command_is_shown_nowhere() {
    let end = END;
    let (first, second) = KEY.split_at(9);
    let stream = format!("{}{}{}{end}", piece(&format!("it is {first}")), piece(second), piece(", canary-"));
    let keys = [
        "key = { file = \"~/model.key\" }\n".to_owned(),
        format!("key = {{ command = [\"echo\", \"{KEY}\"] }}\n"),
    ];
    for key in keys {
        for output in ["text", "json", "stream-json"] {
            let home = home(vec![stream.clone()], &key);
            let path = home.path("model.key");
            std::fs::write(&path, KEY).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, private).unwrap();
            let (status, stdout, stderr) = run(&home, output);
            assert_eq!(status, 0, "{key} {output}: {stdout}{stderr}");
            let mut seen = stdout.clone();
            if output == "stream-json" {
                let events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                let texts = events.filter(|event| event["type"] == "text");
                seen = texts.map(|event| event["text"].as_str().unwrap().to_owned()).collect();
            }
            let expected = "it is [redacted:model key], canary-";
            assert!(seen.contains(expected), "{key} {output}: {seen} {stderr}");
            let log = home.run(&["log", "--json", "-n", "1000"]).stdout;
            assert!(log.contains("[redacted:model key]"), "{log}");
            for text in [&stdout, &stderr, &log, &seen] {
                assert!(!text.contains(KEY) && !text.contains(second), "{key} {output}: {text}");
            }
        }
    }
}

#[test]
fn wrong_words_are_told_with_the_right_ones() {
    let home = Home::new();
    home.write("repo/a.md", "---\ndescription: d\n---\nx\n");
    home.write("repo/notes.txt", "x");
    let check = |args: &[&str], expected: &str| {
        let ran = home.run(args);
        assert!(ran.status == 2 && ran.stderr.contains(expected), "{args:?}: {} {}", ran.status, ran.stderr);
    };
    check(&["run", "a.md", "--model", "antropic/x"], "no vendor `antropic`; did you mean `anthropic`?");
    check(
        &["run", "a.md", "--model", "zzzzzzzzzzzz/x"],
        "no vendor `zzzzzzzzzzzz`; there are anthropic, openai",
    );
    check(&["run", "a.md", "--model", "olama"], "no vendor has a model `olama`; did you mean `ollama`?");
    check(&["run", "notes.txt"], "write `./notes.txt`");
    check(&["run", "."], "`.` is a folder; name an agent file in it");
}

#[test]
fn a_script_that_ends_by_a_denial_has_status_3() {
    let denied = "call: bash\n    args: { command: \"true\" }";
    let missing = "call: read\n    args: { filePath: nothing.txt }";
    let check = |steps: &str, status: i32, code: Option<&str>| {
        let home = Home::new();
        home.write("repo/a.md", format!("---\ndescription: d\nscript:\n{steps}  - say: done\n---\nx\n"));
        let (found, result) = home.json(&["run", "a.md"]);
        assert_eq!((found, result["error"]["code"].as_str()), (status, code), "{steps}: {result}");
    };
    check(&format!("  - {denied}\n"), 3, Some("PERMISSION_DENIED"));
    check(&format!("  - {missing}\n"), 1, Some("FILE_NOT_FOUND"));
    check(&format!("  - {denied}\n    optional: true\n"), 0, None);
    // What was denied before is not why it ended.
    check(&format!("  - {denied}\n    optional: true\n  - {missing}\n"), 1, Some("FILE_NOT_FOUND"));
}

#[test]
fn guarantee_21_a_key_in_the_name_or_the_id_of_a_call_is_shown_nowhere() {
    let call = format!(
        "data: {{\"model\":\"m-{KEY}\",\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"id-{KEY}\",\"function\":\
         {{\"name\":\"tool_{KEY}\",\"arguments\":\"{{\\\"{KEY}\\\":1}}\"}}}}]}}}}]}}\n\n{END}"
    );
    for output in ["text", "json", "stream-json"] {
        let home = home(
            vec![call.clone(), format!("{}{END}", piece("done"))],
            &format!("key = {{ command = [\"echo\", \"{KEY}\"] }}\n"),
        );
        let (status, stdout, stderr) = run(&home, output);
        assert_eq!(status, 0, "{output}: {stdout}{stderr}");
        let log = home.run(&["log", "--json", "-n", "1000"]).stdout;
        assert!(log.contains("tool_[redacted:model key]"), "{log}");
        for text in [&stdout, &stderr, &log] {
            assert!(!text.contains(KEY), "{output}: {text}");
        }
    }
}

#[test]
fn a_provider_that_wants_a_long_pause_is_not_waited_for_in_silence() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        read_request(&connection);
        let body = "{\"error\":{\"message\":\"slow down\"}}";
        let head = format!(
            "HTTP/1.1 429 Too Many Requests\r\nretry-after: 3900\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        connection.write_all(head.as_bytes()).unwrap();
    });
    let home = home(vec![], "");
    let vendor = format!(
        "[[vendor]]\nname = \"mock\"\nformat = \"openai-chat\"\nbase-url = \"{url}\"\nmodel = \"m\"\n"
    );
    home.write("mock.toml", vendor);
    let (status, _, stderr) = run(&home, "text");
    assert_eq!(status, 1, "{stderr}");
    for part in ["slow down", "in 1 h 5 min", "`--model`"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}
