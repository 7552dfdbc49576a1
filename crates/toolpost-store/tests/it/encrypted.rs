//! Connections to PostgreSQL that are encrypted, to a server that takes no others.

use crate::server::{Server, give};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use toolpost_core::store::EventQuery;
use toolpost_store::StoreUrl;

/// Certificates of an authority and, by it, for `localhost`.
fn certificates(folder: &Path) {
    let ran = |words: &str| {
        let output =
            Command::new("openssl").args(words.split_whitespace()).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    ran("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority \
         -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem");
    ran(
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -keyout server.key \
         -out server.csr",
    );
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    ran(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
    let key = folder.join("server.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    give(&key);
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The address of a database on the server, with these parameters.
fn address(database: &StoreUrl, host: &str, port: u16, parameters: &str) -> StoreUrl {
    let shown = database.to_string();
    let name = shown.trim_matches('`').rsplit('/').next().unwrap().to_owned();
    format!("postgres://toolpost@{host}:{port}/{name}?{parameters}").parse().unwrap()
}

#[track_caller]
fn refused(url: &StoreUrl, says: &str) {
    match toolpost_store::open(url) {
        Ok(_) => panic!("{url} opens"),
        Err(error) => assert!(error.message().contains(says), "{}", error.message()),
    }
}

#[test]
fn a_store_is_reached_over_tls_and_the_certificate_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    certificates(folder.path());
    let port = free_port();
    let server = Server::start_with(port, |data| {
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        std::fs::write(data.join("pg_hba.conf"), rules).unwrap();
        let file = |name: &str| folder.path().join(name).display().to_string();
        [
            "listen_addresses=localhost".to_owned(),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", file("server.pem")),
            format!("ssl_key_file={}", file("server.key")),
        ]
        .into_iter()
        .flat_map(|option| ["-c".to_owned(), option])
        .collect()
    });
    let database = server.database();
    let authority = folder.path().join("ca.pem").display().to_string();
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = address(&database, "localhost", port, &format!("sslmode={mode}&sslrootcert={authority}"));
        let store = toolpost_store::open(&url).unwrap();
        store.append(&[crate::warning("s", 1, "said")]).unwrap();
        assert!(!store.events(&EventQuery::default()).unwrap().is_empty());
        assert_eq!(toolpost_store::inspect(&url).error, None);
    }
    let at = |host: &str, parameters: &str| address(&database, host, port, parameters);
    refused(&at("localhost", "sslmode=disable"), "no encryption");
    refused(&at("localhost", "sslmode=verify-full"), "sslrootcert=PATH");
    let trusted = format!("sslmode=verify-full&sslrootcert={authority}");
    refused(&at("127.0.0.1", &trusted), "as its certificate does");
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_asked_for() {
    let port = free_port();
    let server =
        Server::start_with(port, |_| ["-c", "listen_addresses=localhost"].map(str::to_owned).to_vec());
    let database = server.database();
    let (system, none) = ("sslmode=require", "sslmode=prefer");
    refused(&address(&database, "localhost", port, system), "`ssl = on`");
    toolpost_store::open(&address(&database, "localhost", port, none)).unwrap();
}
