//! Guarantee 20: servers that flood, stall and lie cost one call, 15 seconds and 400 MiB at most, and say why.

use super::server::{Asked, Server, send};
use crate::Home;
use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What a command took: its status, what it said, how long, how much of the processor, bytes of memory at most.
struct Took {
    status: i32,
    said: String,
    time: Duration,
    cpu: Duration,
    memory: u64,
}

#[expect(clippy::zombie_processes, reason = "it is waited for by wait4, which tells what it took")]
fn measured(home: &Home, args: &[&str]) -> Took {
    let started = Instant::now();
    let out = home.path("out.txt");
    let file = std::fs::File::create(&out).unwrap();
    let child = home
        .command(args)
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap();
    // The mark of the highest water only rises, so the last look is as good as all of them.
    let mut memory = 0;
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    loop {
        let about = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = about.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        memory = memory.max(kilobytes.unwrap_or(0) * 1024);
        // SAFETY: the child is ours, and both places are valid.
        let ended = unsafe { libc::wait4(child.id() as i32, &mut status, libc::WNOHANG, usage.as_mut_ptr()) };
        if ended != 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    // SAFETY: zero is valid for all of it, and the kernel has filled it in.
    let usage = unsafe { usage.assume_init() };
    let seconds =
        |time: libc::timeval| Duration::from_micros(time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64);
    Took {
        status: libc::WEXITSTATUS(status),
        said: String::from_utf8_lossy(&std::fs::read(out).unwrap()).into_owned(),
        time: started.elapsed(),
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        memory,
    }
}

/// Fetches from a server that answers so, and checks the bounds.
fn check(
    what: &str,
    expected: &str,
    answer: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static,
) -> Took {
    let (_server, port) = Server::on_loopback(answer);
    let home = Home::new();
    let (url, rule) = (format!("url=http://127.0.0.1:{port}/"), format!("network: 127.0.0.1:{port}"));
    let took = measured(&home, &["call", "webfetch", &url, "timeout=5", "--allow-rule", &rule]);
    let (time, cpu) = (took.time.as_secs_f64(), took.cpu.as_secs_f64());
    println!(
        "{what}: {time:.1} s, {cpu:.1} s of the processor, {} MiB, status {}",
        took.memory >> 20,
        took.status
    );
    // On a machine that is busy with other things, the time of the processor is what can be counted on.
    assert!(
        took.cpu < Duration::from_secs(15) && took.time < Duration::from_secs(90),
        "{what}: {time} s, {cpu} s"
    );
    assert!(took.memory < 400 << 20, "{what}: {} MiB", took.memory >> 20);
    assert!(took.said.contains(expected), "{what}: {:.600}", took.said);
    assert!(took.said.len() < 1 << 20, "{what}: {}", took.said.len());
    took
}

/// Spaces, compressed.
fn bomb(coding: &str, size: usize) -> Vec<u8> {
    let gzip = |bytes: &[u8]| {
        let mut child = std::process::Command::new("gzip")
            .arg("-9c")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let bytes = bytes.to_vec();
        let writing = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap();
        output.stdout
    };
    match coding {
        "gzip" => gzip(&vec![b' '; size]),
        "gzip, gzip" => gzip(&gzip(&vec![b' '; size])),
        // The data of a gzip member between its head and its end is raw deflate.
        "deflate" => {
            let member = gzip(&vec![b' '; size]);
            member[10..member.len() - 8].to_vec()
        }
        // 64 MiB of spaces.
        "br" => include_bytes!("../../data/spaces-64m.br").to_vec(),
        other => panic!("{other}"),
    }
}

#[test]
fn guarantee_20_bombs_are_bounded() {
    for coding in ["gzip", "deflate", "br", "gzip, gzip"] {
        let body = bomb(coding, 256 << 20);
        let head = format!("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}");
        check(coding, "is larger than 5242880 bytes", move |_, stream| send(stream, &head, &body));
    }
}

#[test]
fn guarantee_20_floods_and_trickles_are_bounded() {
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
    check("trickling body", "did not answer in time", move |_, stream| {
        let _ = stream.write_all(format!("{html}Content-Length: 100000\r\n\r\n").as_bytes());
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    check("trickling head", "did not answer in time", move |_, stream| {
        while stream.write_all(b"H").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    check("silence", "did not answer in time", |_, _| std::thread::sleep(Duration::from_secs(20)));
    check("header flood", "", move |_, stream| {
        let _ = stream.write_all(html.as_bytes());
        while stream.write_all(b"X-Flood: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n").is_ok() {}
    });
    check("one endless header", "", move |_, stream| {
        let _ = stream.write_all(format!("{html}X-Flood: ").as_bytes());
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
    check("redirect to nothing", "cannot be followed", |_, stream| {
        send(stream, "302 Found\r\nLocation: ftp://x/", b"")
    });
    check("garbage", "", |_, stream| {
        let _ = stream.write_all(&[0xff; 4096]);
    });
    check(
        "endless continues",
        "",
        |_, stream| while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {},
    );
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
    check("no text", "is no text but", |_, stream| {
        send(stream, "200 OK\r\nContent-Type: application/octet-stream", &[0, 1, 2, 3, 255, 254, 0, 9, 8, 7]);
    });
    check("unknown coding", "was not asked for", |_, stream| {
        send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: zstd", b"xyz");
    });
    check("lying coding", "damaged or cut off", |_, stream| {
        send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", b"<p>not compressed</p>");
    });
}

#[test]
fn errors_of_encryption_are_clear() {
    let (_server, port) = Server::on_loopback(|_, stream| send(stream, "200 OK", b"plain"));
    let home = Home::new();
    let (url, rule) = (format!("url=https://127.0.0.1:{port}/"), format!("network: 127.0.0.1:{port}"));
    // A server without encryption reads the greeting as a request that never ends.
    let took = measured(&home, &["call", "webfetch", &url, "timeout=3", "--allow-rule", &rule]);
    assert!(took.status != 0, "{}", took.said);

    // One with a certificate that nobody vouches for.
    let folder = home.path("tls");
    std::fs::create_dir_all(&folder).unwrap();
    let words = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost";
    let made =
        std::process::Command::new("openssl").args(words.split(' ')).current_dir(&folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let accept = format!("s_server -accept 127.0.0.1:{port} -key key.pem -cert cert.pem -www -quiet");
    let mut serving =
        std::process::Command::new("openssl").args(accept.split(' ')).current_dir(&folder).spawn().unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (url, rule) = (format!("url=https://localhost:{port}/"), format!("network: localhost:{port}"));
    let took = measured(&home, &["call", "webfetch", &url, "timeout=8", "--allow-rule", &rule]);
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(took.status == 1 && took.said.contains("no trusted connection"), "{}", took.said);
}
