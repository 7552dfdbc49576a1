//! This test program in another role: a host of servers that is killed, or one that trusts other certificates.

use crate::load::stretched;
use crate::stage::{Setup, World, run};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use toolpost_plugins::{Reach, Server};

/// How the other role is asked for; what follows is for it.
const ROLE: &str = "toolpost-plugins-helper";

/// Takes the other role, if this process was started for it. Does not return then.
pub(crate) fn run_if_asked() {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() != Some(ROLE) {
        return;
    }
    match (words.next().as_deref(), words.next()) {
        (Some("hold"), Some(mark)) => hold(mark),
        (Some("fetch"), Some(url)) => fetch(url),
        _ => std::process::exit(2),
    }
}

/// Starts a server and waits to be killed.
fn hold(mark: String) {
    run(async {
        let world = World::with(Setup::default(), |world| {
            let mut server = world.server("good");
            let Reach::Stdio { args, .. } = &mut server.reach else { return Vec::new() };
            args.push(mark);
            vec![server]
        });
        println!("{}", world.echo("good").await);
        std::future::pending::<()>().await;
    });
}

/// Calls a server at an address.
fn fetch(url: String) {
    run(async {
        let reach = Reach::Http { url, headers: BTreeMap::new() };
        let world = World::with(Setup::default(), |world| {
            vec![Server { name: "web".to_owned(), reach, ..world.server("good") }]
        });
        println!("{}", world.text("web/echo", json!({})).await);
    });
    std::process::exit(0);
}

fn start(words: &[&str], variables: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(ROLE).args(words).envs(variables.iter().copied()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn guarantee_09_servers_end_with_a_host_that_is_killed() {
    use std::io::{BufRead, BufReader};
    let mark = format!("toolpost-test-held-{}", std::process::id());
    let mut host = start(&["hold", &mark], &[]);
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "hello\n");
    let servers = || crate::stage::processes(&mark).into_iter().filter(|pid| *pid != host.id()).count();
    assert!(servers() > 0);
    // SIGKILL: nobody in the host can do anything any more.
    let mut killed = Command::new("kill").args(["-9", &host.id().to_string()]).spawn().unwrap();
    killed.wait().unwrap();
    let began = Instant::now();
    while servers() > 0 {
        assert!(began.elapsed() < stretched(Duration::from_secs(3)), "the server outlives its host");
        std::thread::sleep(Duration::from_millis(10));
    }
    println!(
        "measure: guarantee 9: an MCP server is gone {} ms after its host was killed",
        began.elapsed().as_millis()
    );
    host.wait().unwrap();
}

#[test]
fn addresses_with_https_are_trusted_by_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (certificate, key) = (path("certificate.pem"), path("key.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let house = crate::http::House::open(&[&certificate, &key]);
    let said = |variables: &[(&str, &str)], host: &str| {
        let url = format!("https://{host}:{}/modern", house.port);
        let output = start(&["fetch", &url], variables).wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(said(&[("SSL_CERT_FILE", &certificate)], "localhost"), "called echo\n");
    let stranger = said(&[], "localhost");
    assert!(stranger.contains("no trusted connection"), "{stranger}");
    let elsewhere = said(&[("SSL_CERT_FILE", &certificate)], "127.0.0.1");
    assert!(elsewhere.contains("no trusted connection"), "another name is another server: {elsewhere}");
}
