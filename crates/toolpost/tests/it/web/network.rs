//! Guarantee 19, in a network of the test's own: public-looking, private and link-local addresses, all served by the same
//! machine, with a name server that lies. Whatever is asked, nothing reaches an address that is not public.
//!
//! The network is a namespace of a thread of this test, which needs root; without it the test fails.

use super::server::{Asked, Server, send};
use crate::{Home, Ran};
use std::collections::HashMap;
use std::net::{IpAddr, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};

const PUBLIC: &str = "93.184.216.34";
const PUBLIC6: &str = "2606:4700::7";

/// Addresses beside those of loopback that the machine has.
const ADDRESSES: [&str; 14] = [
    "93.184.216.34/32",
    "8.8.8.8/32",
    "10.1.2.3/32",
    "172.20.0.5/32",
    "192.168.7.7/32",
    "169.254.169.254/32",
    "100.64.0.9/32",
    "198.18.0.1/32",
    "2606:4700::7/128",
    "fd00::5/128",
    "64:ff9b::7f00:1/128",
    "64:ff9b::a01:203/128",
    "2002:7f00:1::1/128",
    "fec0::5/128",
];

/// A network with its server and its name server. It is gone with its thread.
struct Network {
    server: Server,
    lookups: Arc<Mutex<HashMap<String, usize>>>,
}

/// Runs a test in a network of its own.
fn in_network(test: impl FnOnce(&Network) + Send + 'static) {
    let running = std::thread::spawn(move || {
        // SAFETY: only the namespaces of this thread change, and of those that it starts.
        let alone = unsafe { libc::unshare(libc::CLONE_NEWNET | libc::CLONE_FS | libc::CLONE_NEWNS) };
        assert_eq!(
            alone,
            0,
            "this test needs root, for a network of its own: {}",
            std::io::Error::last_os_error()
        );
        let folder = tempfile::tempdir().unwrap();
        let names = folder.path().join("resolv.conf");
        std::fs::write(&names, "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n").unwrap();
        let hosts = folder.path().join("hosts");
        std::fs::write(&hosts, "127.0.0.1 localhost\n::1 localhost ip6-localhost\n10.1.2.3 intranet\n")
            .unwrap();
        let run = |program: &str, words: &[&str]| {
            let done = Command::new(program).args(words).output().unwrap();
            assert!(done.status.success(), "{program} {words:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        run("mount", &["--make-rprivate", "/"]);
        run("mount", &["--bind", names.to_str().unwrap(), "/etc/resolv.conf"]);
        run("mount", &["--bind", hosts.to_str().unwrap(), "/etc/hosts"]);
        run("ip", &["link", "set", "lo", "up"]);
        for address in ADDRESSES {
            let nodad: &[&str] = if address.contains(':') { &["nodad"] } else { &[] };
            run("ip", &[&["address", "add", address, "dev", "lo"], nodad].concat());
        }
        let network = Network { server: Server::default(), lookups: Arc::default() };
        for port in [80, 8080, 8081] {
            // One socket for all addresses of both families.
            network.server.listen(("::", port), Arc::new(answer));
        }
        serve_names(Arc::clone(&network.lookups));
        test(&network);
    });
    if let Err(panic) = running.join() {
        std::panic::resume_unwind(panic);
    }
}

/// `/to?ADDRESS` redirects there; everything else greets.
fn answer(asked: &Asked, stream: &mut std::net::TcpStream) {
    match asked.path.strip_prefix("/to?") {
        // As it was asked for: a request has no backslash.
        Some(target) => {
            let target = target.replace("%5C", "\\");
            send(stream, &format!("302 Found\r\nLocation: {target}"), b"")
        }
        None => send(
            stream,
            "200 OK\r\nContent-Type: text/plain",
            format!("hello from {}", asked.place).as_bytes(),
        ),
    }
}

/// What names lead to; a name is followed by the addresses that it has at its first, second… lookup.
fn addresses(name: &str, lookup: usize) -> Vec<IpAddr> {
    let list = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    match name {
        "public.test" | "www.public.test" => list(&[PUBLIC, PUBLIC6]),
        "other.test" => list(&["8.8.8.8"]),
        "loop.test" => list(&["127.0.0.1"]),
        "loop6.test" => list(&["::1"]),
        "mapped.test" => list(&["::ffff:127.0.0.1"]),
        "nat64.test" => list(&["64:ff9b::7f00:1"]),
        "private.test" => list(&["10.1.2.3"]),
        "metadata.test" => list(&["169.254.169.254"]),
        "mixed.test" => list(&[PUBLIC, "10.1.2.3"]),
        "zero.test" => list(&["0.0.0.0"]),
        // Rebinding: a public address for whoever checks, another one for whoever connects.
        "rebind.test" if lookup == 0 => list(&[PUBLIC]),
        "rebind.test" => list(&["127.0.0.1"]),
        _ => Vec::new(),
    }
}

fn serve_names(lookups: Arc<Mutex<HashMap<String, usize>>>) {
    let socket = UdpSocket::bind("127.0.0.1:53").unwrap();
    std::thread::spawn(move || {
        let mut query = [0_u8; 512];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            let query = &query[..length];
            let Some((name, kind, end)) = question(query) else { continue };
            // The records of both families are asked for at each lookup; those of IPv4 are counted.
            let mut lookups = lookups.lock().unwrap();
            let lookup = lookups.entry(name.clone()).or_default();
            let found = addresses(&name, *lookup);
            if kind == 1 {
                *lookup += 1;
            }
            drop(lookups);
            let records: Vec<Vec<u8>> = found
                .iter()
                .filter_map(|address| match (kind, address) {
                    (1, IpAddr::V4(address)) => Some(address.octets().to_vec()),
                    (28, IpAddr::V6(address)) => Some(address.octets().to_vec()),
                    _ => None,
                })
                .collect();
            let status = if found.is_empty() { 0x83 } else { 0x80 };
            let mut reply = [&query[..2], &[0x81, status, 0, 1, 0, records.len() as u8, 0, 0, 0, 0]].concat();
            reply.extend_from_slice(&query[12..end]);
            for record in records {
                reply.extend_from_slice(&[0xc0, 12, 0, kind as u8, 0, 1, 0, 0, 0, 0, 0, record.len() as u8]);
                reply.extend_from_slice(&record);
            }
            let _ = socket.send_to(&reply, from);
        }
    });
}

/// The name, the kind of record and where the question ends.
fn question(query: &[u8]) -> Option<(String, u16, usize)> {
    let mut labels = Vec::new();
    let mut at = 12;
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_lowercase());
        at += length;
    }
    Some((labels.join("."), u16::from_be_bytes([*query.get(at)?, *query.get(at + 1)?]), at + 4))
}

fn fetch(home: &Home, flags: &[&str], url: &str) -> Ran {
    home.run(&[&["call", "webfetch", &format!("url={url}"), "timeout=8"], flags].concat())
}

const GRANTED: &[&str] = &["--allow", "network"];

#[test]
fn guarantee_19_no_request_reaches_an_address_that_is_not_public() {
    in_network(|network| {
        let home = Home::new();
        // The network works: what is public is reached, by name, by number, by both families and by redirects.
        for (url, place) in [
            ("http://public.test/ok".to_owned(), ""),
            (format!("http://{PUBLIC}/ok"), "93.184.216.34:80"),
            (format!("http://[{PUBLIC6}]/ok"), "2606:4700::7:80"),
            (format!("http://[::ffff:{PUBLIC}]/ok"), "93.184.216.34:80"),
            ("http://0x5db8d822/ok".to_owned(), "93.184.216.34:80"),
            ("http://public.test/to?http://other.test/ok".to_owned(), "8.8.8.8:80"),
        ] {
            let ran = fetch(&home, GRANTED, &url);
            assert_eq!(ran.status, 0, "{url}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains(&format!("hello from {place}")), "{url}: {}", ran.stdout);
        }
        network.server.forget();

        let hosts = [
            // This machine, in every spelling.
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0x7f.0x0.0x0.0x1",
            "127.0.0.\u{ad}1",
            "0177.0.0.1",
            "017700000001",
            "127.0.0.1.",
            "127.0.0.9",
            "0",
            "0.0.0.0",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b::127.0.0.1]",
            "[2002:7f00:1::1]",
            "[::ffff:0:127.0.0.1]",
            "[64:ff9b:1::7f00:1]",
            "[2001:0:808:808::80ff:fffe]",
            "[2606:4700::5efe:7f00:1]",
            "user@127.0.0.1",
            "public.test@127.0.0.1",
            "ip6-localhost",
            // Other networks.
            "10.1.2.3",
            "0xa010203",
            "172.20.0.5",
            "192.168.7.7",
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "100.64.0.9",
            "198.18.0.1",
            "[fd00::5]",
            "[fec0::5]",
            "[64:ff9b::a01:203]",
            "[::ffff:10.1.2.3]",
            "[::ffff:169.254.169.254]",
            "[::ffff:a9fe:a9fe]",
            "[64:ff9b::169.254.169.254]",
            "0300.0250.7.7",
            "[fe80::1]",
            "[ff02::1]",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.2.1",
            "[2001:db8::1]",
            "intranet",
            // Names that lead there.
            "loop.test",
            "loop6.test",
            "mapped.test",
            "nat64.test",
            "private.test",
            "metadata.test",
            "mixed.test",
            "zero.test",
        ];
        for host in hosts {
            let url = format!("http://{host}/hit");
            let ran = fetch(&home, GRANTED, &url);
            assert_eq!(ran.status, 3, "{url}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("only public addresses are reached"), "{url}: {}", ran.stderr);
        }
        assert_eq!(network.server.asked().len(), 0, "{:?}", network.server.asked());

        // The same by a redirect from a public page: only that page is asked.
        for host in hosts {
            let ran = fetch(&home, GRANTED, &format!("http://public.test/to?http://{host}/hit"));
            assert_eq!(ran.status, 3, "{host}: {}{}", ran.stdout, ran.stderr);
        }
        for asked in network.server.asked() {
            let is_public = asked.place.starts_with(PUBLIC) || asked.place.starts_with(PUBLIC6);
            assert!(is_public && asked.path.starts_with("/to?"), "{asked:?}");
        }
        assert_eq!(network.server.asked().len(), hosts.len());
        network.server.forget();

        // Other ways to write where a redirect leads.
        let ways = [
            "//127.0.0.1/hit",
            "/\\127.0.0.1/hit",
            "\\\\127.0.0.1\\hit",
            "http:\\\\127.0.0.1/hit",
            "http:////127.0.0.1/hit",
            "HTTP://127.0.0.1/hit",
            "http://public.test@127.0.0.1/hit",
            "http://public.test:80@127.0.0.1/hit",
            "http://127.0.0.1#@public.test/hit",
            "http://127.0.0.1\\@public.test/hit",
            "//127.0.0.1?@public.test/",
            "http://127%2e0%2e0%2e1/hit",
        ];
        for way in ways {
            let ran = fetch(&home, GRANTED, &format!("http://public.test/to?{way}"));
            assert_eq!(ran.status, 3, "{way}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("only public addresses are reached"), "{way}: {}", ran.stderr);
        }
        for asked in network.server.asked() {
            let is_public = asked.place.starts_with(PUBLIC) || asked.place.starts_with(PUBLIC6);
            assert!(is_public && asked.path.starts_with("/to?"), "{asked:?}");
        }
        network.server.forget();

        // A name that changes its address between check and connection is looked up once, and what was checked is dialled.
        let ran = fetch(&home, GRANTED, "http://rebind.test/first");
        assert!(ran.stdout.contains("hello from 93.184.216.34:80"), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(network.lookups.lock().unwrap()["rebind.test"], 1);
        let ran = fetch(&home, GRANTED, "http://rebind.test/second");
        assert_eq!(ran.status, 3, "{}", ran.stdout);
        // The second hop of one fetch is judged by a lookup of its own.
        network.lookups.lock().unwrap().clear();
        let ran = fetch(&home, GRANTED, "http://rebind.test/to?http://rebind.test/third");
        assert_eq!(ran.status, 3, "{}", ran.stdout);
        let places: Vec<String> = network.server.asked().into_iter().map(|asked| asked.place).collect();
        assert_eq!(places, ["93.184.216.34:80", "93.184.216.34:80"]);
    });
}

#[test]
fn a_rule_opens_exactly_one_private_address() {
    in_network(|network| {
        let home = Home::new();
        let rule = &["--allow-rule", "network: 127.0.0.1:8080"];
        let ran = fetch(&home, rule, "http://127.0.0.1:8080/ok");
        assert!(ran.stdout.contains("hello from 127.0.0.1:8080"), "{}{}", ran.stdout, ran.stderr);
        network.server.forget();
        let closed = [
            "http://127.0.0.1/",
            "http://127.0.0.1:8081/",
            "http://127.0.0.2:8080/",
            "http://[::1]:8080/",
            "http://10.1.2.3:8080/",
            "http://private.test:8080/",
            "http://public.test/to?http://127.0.0.1:8081/",
        ];
        for url in closed {
            for flags in
                [rule.to_vec(), [&rule[..], GRANTED].concat(), [&rule[..], GRANTED, &["--yes"]].concat()]
            {
                let ran = fetch(&home, &flags, url);
                assert_eq!(ran.status, 3, "{flags:?} {url}: {}{}", ran.stdout, ran.stderr);
            }
        }
        assert!(
            network
                .server
                .asked()
                .iter()
                .all(|asked| asked.place.starts_with(PUBLIC) || asked.place.starts_with(PUBLIC6))
        );
        // Neither the right to the network, nor consent, nor a rule for everything opens one.
        network.server.forget();
        for flags in [
            vec!["--allow", "network", "--yes"],
            vec!["--policy", "privileged"],
            vec!["--allow-rule", "network: *"],
            vec!["--allow-rule", "network: *:8080"],
            vec!["--allow-rule", "network: 127.0.0.*:8080"],
            vec!["--allow-rule", "webfetch"],
        ] {
            let ran = fetch(&home, &flags, "http://127.0.0.1:8080/");
            assert_eq!(ran.status, 3, "{flags:?}: {}{}", ran.stdout, ran.stderr);
        }
        assert_eq!(network.server.asked().len(), 0);
        // Other forms of a rule that names it do.
        for (rule, url) in [
            ("webfetch: 127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("network: [::1]:8080", "http://[::1]:8080/"),
            ("network: private.test:8080", "http://private.test:8080/"),
            ("network: localhost:*", "http://localhost:8081/"),
            ("network: LOCALHOST", "http://localhost/"),
            ("WebFetch: 10.1.2.3:80", "http://10.1.2.3/"),
        ] {
            let ran = fetch(&home, &["--allow-rule", rule], url);
            assert_eq!(ran.status, 0, "{rule}: {}{}", ran.stdout, ran.stderr);
        }
    });
}

#[test]
fn rules_about_hosts_hold_for_every_hop() {
    in_network(|network| {
        let home = Home::new();
        let allowed = &["--allow-rule", "network: public.test"];
        let ran = fetch(&home, allowed, "http://public.test/ok");
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        network.server.forget();
        let ran = fetch(&home, allowed, "http://public.test/to?http://other.test/ok");
        assert_eq!(ran.status, 3, "{}", ran.stdout);
        assert!(ran.stderr.contains("it redirects to http://other.test/ok"), "{}", ran.stderr);
        // A rule about an address holds for the names that lead to it.
        home.write(
            "config.toml",
            "[[rule]]\neffect = \"deny\"\naction = \"network\"\nresource = \"8.8.8.8\"\n",
        );
        let config = home.path("config.toml");
        let denied = &["--allow", "network", "--config", config.to_str().unwrap()];
        for url in [
            "http://other.test/ok",
            "http://8.8.8.8/ok",
            "http://134744072/ok",
            "http://public.test/to?http://other.test/",
        ] {
            assert_eq!(fetch(&home, denied, url).status, 3, "{url}");
        }
        let places: Vec<String> = network.server.asked().into_iter().map(|asked| asked.path).collect();
        assert_eq!(places.iter().filter(|path| !path.starts_with("/to?")).count(), 0, "{places:?}");
    });
}
