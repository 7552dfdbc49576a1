//! Encryption by the certificates that the caller names, and connections that somebody else opens.

use crate::peer::{Act, Peer, whole};
use crate::run;
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto};
use toolpost_http::{
    BoxFuture, Client, ClientOptions, Connect, ErrorKind, Request, Roots, Target, Transport, Url,
};

/// A certificate for `localhost` and its key, both in binary form.
#[expect(clippy::disallowed_methods, reason = "a test makes its own certificate")]
fn certificate() -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let ran = |words: &str| {
        let words = words.split_whitespace();
        let output = Command::new("openssl").args(words).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    ran("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
         -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE \
         -keyout key.pem -out certificate.der -outform DER");
    ran("pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out key.der");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    (read("certificate.der"), read("key.der"))
}

/// Serves one text, encrypted. Its port.
async fn encrypted(certificate: &[u8], key: &[u8]) -> u16 {
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(certificate.to_vec())],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.to_vec())),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Who does not trust the certificate hangs up.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(&whole("secret")).await;
        }
    });
    port
}

#[test]
fn only_the_certificates_that_are_named_are_trusted() {
    let (certificate, key) = certificate();
    run(async {
        let port = encrypted(&certificate, &key).await;
        let ask = |host: &str, roots: Roots| {
            let url = Url::parse(&format!("https://{host}:{port}/")).unwrap();
            let client = Client::new(ClientOptions { roots, ..ClientOptions::default() });
            async move { client.send(Request::get(url)).await }
        };
        let own = || Roots::Only(vec![certificate.clone()]);
        assert_eq!(ask("localhost", own()).await.unwrap().bytes(10).await.unwrap(), "secret");
        // Another name, nobody to trust, and something that is not a certificate.
        for (host, roots, why) in [
            ("127.0.0.1", own(), "no trusted connection"),
            ("localhost", Roots::Only(Vec::new()), "no trusted connection"),
            ("localhost", Roots::Only(vec![b"x".to_vec()]), "a certificate to trust is invalid"),
        ] {
            let error = ask(host, roots).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unreachable);
            assert!(error.to_string().contains(why), "{error}");
        }
    });
}

/// Leads every connection to one port, and refuses one host.
struct Detour {
    port: u16,
    asked: Mutex<Vec<Target>>,
}

impl Connect for Detour {
    fn connect<'a>(&'a self, target: &'a Target) -> BoxFuture<'a, io::Result<Box<dyn Transport>>> {
        Box::pin(async {
            self.asked.lock().unwrap().push(target.clone());
            if target.host == "10.0.0.1" {
                return Err(io::Error::other("private addresses are refused"));
            }
            Ok(Box::new(TcpStream::connect(("127.0.0.1", self.port)).await?) as Box<dyn Transport>)
        })
    }
}

#[test]
fn connections_are_opened_by_whom_the_caller_names() {
    run(async {
        let peer = Peer::open(vec![Act::Send(whole("through"))]).await;
        let detour = Arc::new(Detour { port: peer.port(), asked: Mutex::default() });
        let client = Client::new(ClientOptions { connect: detour.clone(), ..ClientOptions::default() });
        let url = Url::parse("http://nowhere.invalid/x").unwrap();
        let response = client.send(Request::get(url)).await.unwrap();
        assert_eq!(response.bytes(10).await.unwrap(), "through");
        assert!(peer.requests()[0].to_lowercase().contains("host: nowhere.invalid\r\n"));
        let refused = client.send(Request::get(Url::parse("http://10.0.0.1/").unwrap())).await.unwrap_err();
        assert_eq!(refused.to_string(), "10.0.0.1 cannot be reached: private addresses are refused");
        let asked: Vec<(String, u16)> =
            detour.asked.lock().unwrap().iter().map(|target| (target.host.clone(), target.port)).collect();
        assert_eq!(asked, [("nowhere.invalid".to_owned(), 80), ("10.0.0.1".to_owned(), 80)]);
    });
}
