//! Guarantee 20: servers that flood, stall and lie cost one call, 15 seconds and 400 MiB at most, and say why.

use super::server::{Asked, Server, send};
use crate::Home;
use std::collections::HashMap;
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command took: its status, what it said, how long, bytes of memory at most.
pub(super) struct Took {
    pub(super) status: i32,
    pub(super) said: String,
    pub(super) time: Duration,
    pub(super) memory: u64,
}

#[expect(clippy::zombie_processes, reason = "it is waited for by wait4")]
pub(super) fn measured(command: &mut Command) -> Took {
    let started = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.txt");
    let file = std::fs::File::create(&out).unwrap();
    let child = command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
    // The high-water mark of a process only rises, so the last look is as good as all of them.
    let mut marks = HashMap::new();
    let mut status = 0;
    loop {
        note_memory(child.id(), &mut marks);
        // SAFETY: the child is ours, the place is valid, and no usage is wanted.
        let ended =
            unsafe { libc::wait4(child.id() as i32, &mut status, libc::WNOHANG, std::ptr::null_mut()) };
        if ended != 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Took {
        status: libc::WEXITSTATUS(status),
        said: String::from_utf8_lossy(&std::fs::read(out).unwrap()).into_owned(),
        time: started.elapsed(),
        memory: marks.values().sum(),
    }
}

/// The high-water marks of a process and of all below it, in bytes.
fn note_memory(process: u32, marks: &mut HashMap<u32, u64>) {
    let about = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = about.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    // One that has not started its program yet shows the mark of its parent, and one that has ended shows none.
    if let Some(kilobytes) = kilobytes {
        marks.insert(process, kilobytes * 1024);
    }
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return };
    for thread in threads.flatten() {
        let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children
            .split_whitespace()
            .filter_map(|child| child.parse().ok())
            .for_each(|child| note_memory(child, marks));
    }
}

/// What guarantee 20 allows. The program gives up by itself after ten seconds.
pub(super) fn assert_bounded(what: &str, took: &Took) {
    let time = took.time.as_secs_f64();
    println!("{what}: {time:.1} s, {} MiB, status {}", took.memory >> 20, took.status);
    assert!(took.time < Duration::from_secs(15), "{what}: {time} s");
    assert!(took.memory < 400 << 20, "{what}: {} MiB", took.memory >> 20);
    assert!(took.said.len() < 1 << 20, "{what}: {}", took.said.len());
    assert!(!took.said.contains("panicked"), "{what}: {}", took.said);
}

/// Fetches from a server that answers so, within the time that a fetch has by default, and checks the bounds.
fn check(
    what: &str,
    expected: &str,
    answer: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static,
) -> Took {
    let (_server, port) = Server::on_loopback(answer);
    let home = Home::new();
    let (url, rule) = (format!("url=http://127.0.0.1:{port}/"), format!("network: 127.0.0.1:{port}"));
    let took = measured(&mut home.command(["call", "webfetch", &url, "--allow-rule", &rule]));
    assert_bounded(what, &took);
    assert!(took.said.contains(expected), "{what}: {:.600}", took.said);
    took
}

fn gzip(bytes: Vec<u8>) -> Vec<u8> {
    let mut child =
        Command::new("gzip").arg("-9c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output.stdout
}

/// The data of a gzip member between its head and its end is raw deflate.
fn deflate(bytes: Vec<u8>) -> Vec<u8> {
    let member = gzip(bytes);
    member[10..member.len() - 8].to_vec()
}

/// 64 MiB of spaces.
const BROTLI: &[u8] = include_bytes!("../../data/spaces-64m.br");

#[test]
fn guarantee_20_bombs_are_bounded() {
    let too_large = "is larger than 5242880 bytes";
    let spaces = || vec![b' '; 256 << 20];
    let bomb = gzip(spaces());
    for (coding, body, expected) in [
        ("gzip", bomb.clone(), too_large),
        ("deflate", deflate(spaces()), too_large),
        ("br", BROTLI.to_vec(), too_large),
        ("gzip, gzip", gzip(bomb.clone()), too_large),
        ("gzip, deflate, gzip", gzip(deflate(bomb.clone())), too_large),
        ("br, gzip", gzip(BROTLI.to_vec()), too_large),
        // A text that just fits, and one more byte in a member of its own.
        ("gzip", [gzip(vec![b' '; 5 << 20]), gzip(b"x".to_vec())].concat(), too_large),
        ("gzip", [gzip(vec![b' '; (5 << 20) - 4]), gzip(b"last".to_vec())].concat(), "last"),
        // Members without end, each of them empty.
        ("gzip", [gzip(b"begun".to_vec()), gzip(Vec::new()).repeat(200_000)].concat(), "begun"),
        ("gzip", [gzip(b"whole".to_vec()), b"trailing garbage".to_vec()].concat(), "whole"),
        ("gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip", bomb, "compressed 10 times over"),
    ] {
        let head = format!("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}");
        check(coding, expected, move |_, stream| send(stream, &head, &body));
    }
}

#[test]
fn guarantee_20_floods_are_bounded() {
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    check("endless body", "is larger than 5242880 bytes", move |_, stream| {
        let _ = stream.write_all(format!("{html}\r\n").as_bytes());
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
    check("endless chunks", "is larger than 5242880 bytes", move |_, stream| {
        let _ = stream.write_all(format!("{html}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
        while stream.write_all(b"10000\r\n").is_ok()
            && stream.write_all(&[b'x'; 65536]).is_ok()
            && stream.write_all(b"\r\n").is_ok()
        {}
    });
    check("announced too large", "is larger than 5242880 bytes", move |_, stream| {
        let _ = stream.write_all(format!("{html}Content-Length: 99999999999\r\n\r\n").as_bytes());
        std::thread::sleep(Duration::from_secs(20));
    });
    check("header flood", "sent an invalid answer: message head is too large", move |_, stream| {
        let _ = stream.write_all(html.as_bytes());
        while stream.write_all(b"X-Flood: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n").is_ok() {}
    });
    check("one endless header", "error[FETCH_ERROR]", move |_, stream| {
        let _ = stream.write_all(format!("{html}X-Flood: ").as_bytes());
        while stream.write_all(&[b'y'; 65536]).is_ok() {}
    });
    check("endless trailers", "error[", move |_, stream| {
        let head = format!("{html}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n");
        let _ = stream.write_all(head.as_bytes());
        while stream.write_all(b"X-Flood: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n").is_ok() {}
    });
    check("endless extension of a chunk", "error[", move |_, stream| {
        let _ = stream.write_all(format!("{html}Transfer-Encoding: chunked\r\n\r\n2;x=").as_bytes());
        while stream.write_all(&[b'y'; 65536]).is_ok() {}
    });
    check("too short a body", "hung up", move |_, stream| {
        let _ = stream.write_all(format!("{html}Content-Length: 1000\r\n\r\nshort").as_bytes());
    });
    check("too long a body", "short", move |_, stream| {
        let _ = stream.write_all(format!("{html}Content-Length: 5\r\n\r\nshort and more").as_bytes());
    });
    check("redirect loop", "redirects more than 10 times", |_, stream| {
        send(stream, "302 Found\r\nLocation: /again", b"")
    });
    check("redirect with an endless body", "redirects more than 10 times", |_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n");
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
    check("redirect to nothing", "cannot be followed", |_, stream| {
        send(stream, "302 Found\r\nLocation: ftp://x/", b"")
    });
    check("garbage", "sent an invalid answer", |_, stream| {
        let _ = stream.write_all(&[0xff; 4096]);
    });
}

/// Servers that never come to an end: the program gives up at its own deadline.
#[test]
fn guarantee_20_trickles_are_bounded() {
    type Answer = fn(&Asked, &mut TcpStream);
    const HTML: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    fn trickle(stream: &mut TcpStream, bytes: &[u8]) {
        while stream.write_all(bytes).is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    let cases: [(&str, Answer); 6] = [
        ("trickling body", |_, stream| {
            let _ = stream.write_all(&[HTML, b"Content-Length: 100000\r\n\r\n"].concat());
            trickle(stream, b"x");
        }),
        ("trickling chunks", |_, stream| {
            let _ = stream.write_all(&[HTML, b"Transfer-Encoding: chunked\r\n\r\n"].concat());
            trickle(stream, b"1\r\nx\r\n");
        }),
        ("trickling head", |_, stream| trickle(stream, b"H")),
        ("silence", |_, _| std::thread::sleep(Duration::from_secs(20))),
        (
            "endless continues",
            |_, stream| {
                while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {}
            },
        ),
        ("slow redirects", |_, stream| {
            std::thread::sleep(Duration::from_secs(3));
            send(stream, "302 Found\r\nLocation: /again", b"");
        }),
    ];
    std::thread::scope(|scope| {
        for (what, answer) in cases {
            scope.spawn(move || {
                let took = check(what, "did not answer in time", answer);
                assert!(took.said.contains("use up to timeout=120"), "{what}: {}", took.said);
            });
        }
    });
}

#[test]
fn guarantee_20_hostile_pages_are_bounded() {
    let page = |html: String| {
        move |_: &Asked, stream: &mut TcpStream| {
            send(stream, "200 OK\r\nContent-Type: text/html", html.as_bytes())
        }
    };
    check("nested tags", "deep", page("<div>".repeat(100_000) + "deep"));
    check("nested lists", "untrusted text", page("<ul><li>x".repeat(300_000)));
    check("nested tables", "untrusted text", page("<table><tr><td>x".repeat(200_000)));
    check("giant attribute", "after", page(format!("<p title='{}'>after it</p>", "y".repeat(4 << 20))));
    check("many attributes", "after", page(format!("<p {}>after it</p>", "a=1 ".repeat(1 << 20))));
    check(
        "long titles",
        "untrusted text",
        page(format!("<title>{} - X</title>{}", "y".repeat(2 << 20), "<h1>X</h1>".repeat(200_000))),
    );
    check(
        "long links",
        "untrusted text",
        page(format!(
            "<base href='http://x.test/{}/'>{}",
            "y".repeat(8_000),
            "<a href=z>w</a> ".repeat(300_000)
        )),
    );
    let cells = format!("<td rowspan=40>{}", "word ".repeat(200)).repeat(40);
    check(
        "spanning cells",
        "untrusted text",
        page(format!("<table><tr><th>h{}", format!("<tr>{cells}{}", "<tr>".repeat(40)).repeat(100))),
    );
    check(
        "deep lines",
        "untrusted text",
        page("<ol start=4000000000><li>".repeat(8) + "<pre>" + &"x\n".repeat(2 << 20)),
    );
    check("many small tags", "untrusted text", page("<b>".repeat(1_600_000)));
    check("many links", "untrusted text", page("<p><a href=x class='nav-bar b c'>y</a>".repeat(120_000)));
    check("unclosed comment", "before", page(format!("before<!--{}", "x".repeat(4 << 20))));
    let wrong = |stream: &mut TcpStream, charset: &str, body: &[u8]| {
        send(stream, &format!("200 OK\r\nContent-Type: text/html; charset={charset}"), body);
    };
    check("wrong charset", "untrusted text", move |_, stream| {
        wrong(stream, "utf-16", b"<p>not two bytes a letter</p>")
    });
    check("unknown charset", "plain words", move |_, stream| {
        wrong(stream, "klingon-8", b"<p>plain words</p>")
    });
    check("invalid bytes", "good", move |_, stream| {
        wrong(stream, "utf-8", b"<p>good \xff\xfe\xc3 bytes</p>")
    });
    check("no text", "is not text but", |_, stream| {
        send(stream, "200 OK\r\nContent-Type: application/octet-stream", &[0, 1, 2, 3, 255, 254, 0, 9, 8, 7]);
    });
    check("unknown coding", "was not asked for", |_, stream| {
        send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: zstd", b"xyz");
    });
    check("lying coding", "damaged or cut off", |_, stream| {
        send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", b"<p>not compressed</p>");
    });
}

/// A server with a certificate of its own for `localhost`, made by the program `openssl`. It ends with this.
struct Encrypted {
    serving: std::process::Child,
    port: u16,
    certificate: std::path::PathBuf,
}

impl Encrypted {
    fn open(home: &Home, more: &str) -> Encrypted {
        let folder = home.path("tls");
        std::fs::create_dir_all(&folder).unwrap();
        let words = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
                     -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
        let made =
            Command::new("openssl").args(words.split_whitespace()).current_dir(&folder).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let accept =
            format!("s_server -accept 127.0.0.1:{port} -key key.pem -cert cert.pem -www -quiet {more}");
        let serving =
            Command::new("openssl").args(accept.split_whitespace()).current_dir(&folder).spawn().unwrap();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Encrypted { serving, port, certificate: folder.join("cert.pem") }
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let _ = self.serving.kill();
        let _ = self.serving.wait();
    }
}

#[test]
fn errors_of_encryption_are_clear() {
    let home = Home::new();
    let fetch = |host: &str, port: u16, trusted: Option<&std::path::Path>| {
        let (url, rule) = (format!("url=https://{host}:{port}/"), format!("network: {host}:{port}"));
        let mut command = home.command(["call", "webfetch", &url, "timeout=5", "--allow-rule", &rule]);
        if let Some(certificate) = trusted {
            command.env("SSL_CERT_FILE", certificate);
        }
        let took = measured(&mut command);
        assert_bounded(host, &took);
        took
    };
    // Servers without encryption: one that reads the greeting as a request, one that answers at once, one that is silent.
    let (_server, port) = Server::on_loopback(|_, stream| send(stream, "200 OK", b"plain"));
    assert!(fetch("127.0.0.1", port, None).status != 0);
    let greeting = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = greeting.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in greeting.incoming().flatten() {
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    let took = fetch("127.0.0.1", port, None);
    assert!(took.status == 1 && took.said.contains("no trusted connection"), "{}", took.said);

    let server = Encrypted::open(&home, "");
    // A certificate that nobody vouches for, one that is trusted, and one for another name.
    let took = fetch("localhost", server.port, None);
    assert!(took.status == 1 && took.said.contains("no trusted connection"), "{}", took.said);
    let took = fetch("localhost", server.port, Some(&server.certificate));
    assert!(took.status == 0 && took.said.contains("untrusted text"), "{}", took.said);
    let took = fetch("127.0.0.1", server.port, Some(&server.certificate));
    assert!(took.status == 1 && took.said.contains("not valid for name"), "{}", took.said);
    drop(server);
    // What only speaks old versions is not spoken to.
    let old = Encrypted::open(&home, "-tls1_1 -cipher ALL:@SECLEVEL=0");
    let took = fetch("localhost", old.port, Some(&old.certificate));
    assert!(took.status == 1 && took.said.contains("no trusted connection"), "{}", took.said);
}
