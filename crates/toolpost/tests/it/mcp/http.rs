//! Over HTTP: both eras at one address, and nobody comes in who should not.

use super::{PATIENCE, fixtures, is_running, meta, until};
use crate::Home;
use crate::load::stretched;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A server at a port of its own.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
    talk: Vec<String>,
}

impl Served {
    pub(crate) fn start(home: &Home, flags: &[&str]) -> Served {
        Served::by(home, Path::new(env!("CARGO_BIN_EXE_toolpost")), flags)
    }

    /// With the fixtures of the conformance suite.
    pub(crate) fn with_fixtures(home: &Home, flags: &[&str]) -> Served {
        Served::by(home, &fixtures::program(home), flags)
    }

    pub(super) fn by(home: &Home, program: &Path, flags: &[&str]) -> Served {
        let mut command = home.command_of(program, [&["mcp", "--http", "127.0.0.1:0"], flags].concat());
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut talk = Vec::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "{talk:?}");
            talk.push(line.trim().to_owned());
            if let Some(rest) = line.trim().strip_prefix("serving MCP at http://") {
                break rest.strip_suffix("/mcp").unwrap().parse().unwrap();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Served { child, address, talk }
    }

    fn open() -> (Home, Served) {
        let home = Home::new();
        let served = Served::start(&home, &["--no-token", "--policy", "privileged"]);
        (home, served)
    }

    fn connect(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(stretched(PATIENCE))).unwrap();
        let has = |name: &str| headers.iter().any(|(one, _)| one.eq_ignore_ascii_case(name));
        let mut head = format!("{method} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        if !has("host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if !has("content-type") {
            head.push_str("Content-Type: application/json\r\n");
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{head}Accept: application/json, text/event-stream\r\n\r\n").as_bytes())
            .unwrap();
        // A server that has refused already may not read the rest.
        let _ = stream.write_all(body);
        stream
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let headers = [headers, &[("Connection", "close")]].concat();
        Answer::read(self.connect(method, &headers, body))
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        self.send("POST /mcp", headers, message.to_string().as_bytes())
    }

    fn modern(&self, id: i64, method: &str, mut params: Value) -> Answer {
        params["_meta"] = meta(json!({}));
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", name.as_str()));
        }
        self.post(&headers, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    /// Shakes hands. Returns the session.
    fn session(&self) -> String {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer =
            self.post(&[], &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
        let session = answer.header("mcp-session-id").unwrap();
        let told = self.post(
            &[("Mcp-Session-Id", &session)],
            &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        );
        assert_eq!(told.status, 202);
        session
    }
}

impl Served {
    /// Ends the server by force.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Answer {
        let mut bytes = Vec::new();
        // Ended by the server; what it has sent before a reset is all there is.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { dechunked(rest) } else { rest.to_owned() };
        Answer { status: head.split(' ').nth(1).unwrap().parse().unwrap(), head: head.to_owned(), body }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.head, self.body))
    }

    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    }

    fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

fn dechunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&more[..size]);
        rest = &more[size + 2..];
    }
    body
}

#[test]
fn both_eras_are_served_at_one_address() {
    let home = Home::new();
    let served = Served::start(&home, &["--no-token", "--structured"]);
    let answer = served.modern(1, "server/discover", json!({}));
    assert_eq!((answer.status, &answer.json()["result"]["resultType"]), (200, &json!("complete")));
    let answer =
        served.modern(2, "tools/call", json!({"name": "read", "arguments": {"filePath": "README.md"}}));
    assert_eq!(answer.json()["result"]["structuredContent"]["totalLines"], 7);
    assert_eq!(answer.header("content-type").as_deref(), Some("application/json"));
    let session = served.session();
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "read", "arguments": {"filePath": "README.md"}}});
    let answer = served.post(&[("Mcp-Session-Id", &session)], &call);
    assert_eq!(answer.json()["result"]["structuredContent"]["totalLines"], 7);
    let answer = served.post(&[("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "1999-01-01")], &call);
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32022)));
    // A session that has ended is gone, and one that never was is not there either.
    assert_eq!(served.send("DELETE /mcp", &[("Mcp-Session-Id", &session)], b"").status, 200);
    assert_eq!(served.post(&[("Mcp-Session-Id", &session)], &call).status, 404);
    assert_eq!(served.post(&[("Mcp-Session-Id", "x")], &call).status, 404);
    let answer = served.post(&[], &call);
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32602)));
    assert_eq!(served.send("GET /mcp", &[], b"").status, 405);
    assert_eq!(served.send("PUT /mcp", &[], b"").status, 405);
    assert_eq!(served.send("GET /", &[], b"").status, 404);
}

#[test]
fn modern_headers_and_body_agree() {
    let (_home, served) = Served::open();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "read", "arguments": {"filePath": "README.md"}, "_meta": meta(json!({}))}});
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let wrong: [&[(&str, &str)]; 5] = [
        &[version],
        &[version, ("Mcp-Method", "tools/list"), ("Mcp-Name", "read")],
        &[version, ("Mcp-Method", "tools/call")],
        &[version, ("Mcp-Method", "tools/call"), ("Mcp-Name", "write")],
        &[("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "read")],
    ];
    for headers in wrong {
        let answer = served.post(headers, &call);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)), "{headers:?}");
    }
    let encoded = [version, ("Mcp-Method", "tools/call"), ("Mcp-Name", "=?base64?cmVhZA==?=")];
    assert_eq!(served.post(&encoded, &call).status, 200);
    assert_eq!(served.modern(2, "no/such", json!({})).status, 404);
    let answer = served.modern(3, "tools/call", json!({"name": "raed"}));
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32602)));
}

#[test]
fn what_is_told_before_the_answer_comes_as_events() {
    let (_home, served) = Served::open();
    let session = served.session();
    let params = json!({"name": "bash", "arguments": {"command": "echo one; sleep 1; echo two"}, "_meta": {"progressToken": 5}});
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    let answer = served.post(&[("Mcp-Session-Id", &session)], &call);
    assert_eq!(answer.header("content-type").as_deref(), Some("text/event-stream"));
    let events = answer.events();
    assert_eq!(events[0]["params"]["progressToken"], 5, "{events:?}");
    assert_eq!(events.last().unwrap()["id"], 9, "{events:?}");
}

#[test]
fn list_changes_come_by_the_stream_of_a_session() {
    let home = Home::new();
    let served = Served::with_fixtures(&home, &["--no-token"]);
    let session = served.session();
    let stream = served.connect("GET /mcp", &[("Mcp-Session-Id", &session)], b"");
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.next().unwrap().unwrap().contains("200"));
    assert_eq!(served.modern(1, "tools/call", json!({"name": "test_trigger_tool_change"})).status, 200);
    let told =
        lines.map(Result::unwrap).find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap();
    assert!(told.contains("notifications/tools/list_changed"), "{told}");
}

#[test]
fn hanging_up_cancels_a_modern_call() {
    let (home, served) = Served::open();
    let mut params = json!({"name": "bash", "arguments": {"command": "sleep 3600.8201; touch made"}});
    params["_meta"] = meta(json!({}));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    for wait in [0, 1_500] {
        let headers =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "bash")];
        let stream = served.connect("POST /mcp", &headers, body.as_bytes());
        until("the command begins", || is_running("sleep\x003600.8201"));
        // Before and after it has become a stream.
        std::thread::sleep(Duration::from_millis(wait));
        drop(stream);
        until("the command ends", || !is_running("sleep\x003600.8201"));
    }
    assert!(!home.path("repo/made").exists());
}

#[test]
fn the_token_is_made_once_kept_privately_and_asked_for() {
    let home = Home::new();
    let path = home.path("data/toolpost/mcp-token");
    let served = Served::start(&home, &[]);
    assert!(served.talk.iter().any(|line| line.ends_with("data/toolpost/mcp-token")), "{:?}", served.talk);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&path).unwrap().trim().to_owned();
    assert_eq!(token.len(), 64);
    assert!(!served.talk.iter().any(|line| line.contains(&token)));
    let discover =
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta(json!({}))}});
    let check = |authorization: Option<&str>, status: u16| {
        let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "server/discover")];
        headers.extend(authorization.map(|value| ("Authorization", value)));
        let answer = served.post(&headers, &discover);
        assert_eq!(answer.status, status, "{authorization:?}");
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
    };
    check(Some(&format!("Bearer {token}")), 200);
    check(Some(&format!("bearer {token}")), 200);
    check(None, 401);
    check(Some("Bearer "), 401);
    check(Some(&token), 401);
    check(Some(&format!("Basic {token}")), 401);
    check(Some(&format!("Bearer {}", &token[1..])), 401);
    drop(served);
    let _again = Served::start(&home, &[]);
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), token);
}

#[test]
fn a_token_that_others_can_change_is_refused() {
    let home = Home::new();
    home.write("data/toolpost/mcp-token", "0123456789abcdef0123456789abcdef\n");
    let path = home.path("data/toolpost/mcp-token");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let ran = home.run(&["mcp", "--http", "nonsense"]);
    assert!(ran.status == 2 && ran.stderr.contains("such as 127.0.0.1:7300"), "{}", ran.stderr);
    let ran = home.run(&["mcp", "--http", "127.0.0.1:0"]);
    assert!(ran.status == 2 && ran.stderr.contains("can be changed by others"), "{}", ran.stderr);
}

#[test]
fn a_token_that_others_can_read_is_refused() {
    let home = Home::new();
    let token = "0123456789abcdef0123456789abcdef\n";
    home.write("data/toolpost/mcp-token", token);
    let path = home.path("data/toolpost/mcp-token");
    let check = |named: &str| {
        let ran = home.run(&["mcp", "--http", "127.0.0.1:0"]);
        assert!(ran.status == 2 && ran.stderr.contains(named), "{named}: {}", ran.stderr);
        assert!(ran.stderr.contains("remove it, and the next start makes a new one"), "{}", ran.stderr);
    };
    for mode in [0o640, 0o604, 0o610, 0o601, 0o644, 0o660] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        check(&format!("mode {mode:04o}"));
    }
    std::fs::remove_file(&path).unwrap();
    home.write("elsewhere", token);
    std::fs::set_permissions(home.path("elsewhere"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), &path).unwrap();
    check("is a link");
    // Only an administrator can give a file away.
    std::fs::remove_file(&path).unwrap();
    home.write("data/toolpost/mcp-token", token);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        check("belongs to another user");
    }
}

/// As many connections as a hostile user opens who has no token.
const IDLE: usize = 640;

#[test]
fn guarantee_34_idle_connections_lock_nobody_out() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let token = std::fs::read_to_string(home.path("data/toolpost/mcp-token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let discover =
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta(json!({}))}});
    let call = || {
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "server/discover"),
            ("Authorization", bearer.as_str()),
        ];
        assert_eq!(served.post(&headers, &discover).status, 200);
    };
    // One that was let in stays, whatever comes after it.
    let mut kept = TcpStream::connect(served.address).unwrap();
    let body = discover.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: server/discover\r\nContent-Length: {}\r\n\r\n{body}",
        served.address,
        body.len()
    );
    let ask = |stream: &mut TcpStream| {
        stream.write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(stream);
        reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line).unwrap();
            match line.to_lowercase().strip_prefix("content-length:") {
                Some(number) => length = number.trim().parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
    };
    ask(&mut kept);
    let mut idle = Vec::new();
    for index in 0..IDLE {
        let mut stream = TcpStream::connect(served.address).unwrap();
        // Some say nothing, some begin to, some have a wrong token.
        let said: &[u8] = match index % 3 {
            0 => b"",
            1 => b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
            _ => b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer no\r\nContent-Length: 5\r\n\r\n",
        };
        let _ = stream.write_all(said);
        idle.push(stream);
    }
    call();
    ask(&mut kept);
    drop(idle);
    call();
}

#[test]
fn no_token_is_for_loopback_only() {
    let home = Home::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7300"] {
        let ran = home.run(&["mcp", "--http", address, "--no-token"]);
        assert!(ran.status == 2 && ran.stderr.contains("--no-token"), "{address}: {}", ran.stderr);
    }
    assert_eq!(home.run(&["mcp", "--no-token"]).status, 2);
}

#[test]
fn foreign_names_and_pages_are_not_let_in() {
    let home = Home::new();
    let served = Served::start(&home, &["--no-token", "--allow-host", "box.example"]);
    let discover =
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta(json!({}))}});
    let check = |name: &str, value: &str, status: u16| {
        let headers =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "server/discover"), (name, value)];
        assert_eq!(served.post(&headers, &discover).status, status, "{name}: {value}");
    };
    for host in ["localhost", "localhost:80", "127.0.0.1:1", "[::1]:2", "box.example", "BOX.example:443"] {
        check("Host", host, 200);
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80",
        "localhost@evil.example",
    ] {
        check("Host", host, 403);
    }
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]", "https://box.example"] {
        check("Origin", origin, 200);
    }
    for origin in [
        "http://evil.example",
        "null",
        "https://localhost.evil.example",
        "file://",
        "http://localhost:80@evil.example",
    ] {
        check("Origin", origin, 403);
    }
}

#[test]
fn bodies_are_bounded_and_of_the_right_kind() {
    let (_home, served) = Served::open();
    let large = vec![b'x'; 17 << 20];
    assert_eq!(served.send("POST /mcp", &[], &large).status, 413);
    assert_eq!(served.send("POST /mcp", &[("Content-Type", "text/plain")], b"{}").status, 415);
    for (garbage, code) in [("", -32700), ("{", -32700), ("[]", -32600), (&*"[".repeat(200_000), -32700)] {
        let answer = served.send("POST /mcp", &[], garbage.as_bytes());
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(code)));
    }
    assert_eq!(served.modern(1, "server/discover", json!({})).status, 200);
}

#[test]
fn a_signal_ends_the_server_and_its_calls() {
    let (_home, mut served) = Served::open();
    let mut params = json!({"name": "bash", "arguments": {"command": "sleep 3600.8202"}});
    params["_meta"] = meta(json!({}));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers =
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "bash")];
    let _stream = served.connect("POST /mcp", &headers, body.as_bytes());
    until("the command begins", || is_running("sleep\x003600.8202"));
    let began = Instant::now();
    kill_process(Pid::from_child(&served.child), Signal::TERM).unwrap();
    let status = served.child.wait().unwrap();
    assert!(
        status.success() && began.elapsed() < stretched(Duration::from_secs(4)),
        "{status} {:?}",
        began.elapsed()
    );
    until("the command ends", || !is_running("sleep\x003600.8202"));
}
