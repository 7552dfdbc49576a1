//! Connections through an HTTP proxy, by `CONNECT`: the proxy sees which host is reached, and no byte of what is said.

use super::connect::{Connect, Direct, Target, Transport};
use super::url::{Url, percent_decoded};
use crate::BoxFuture;
use crate::error::{Error, ErrorKind};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Maximum length of the head of a proxy's answer.
const MAX_HEAD: usize = 16 << 10;

/// Connects through a proxy, except to this machine and to hosts that are excepted.
pub struct Proxy {
    host: String,
    port: u16,
    /// What stands in `Proxy-Authorization`.
    credential: Option<String>,
    except: Vec<String>,
}

impl Proxy {
    /// The proxy at an address such as `http://user:password@proxy.example:3128`. Hosts in `except`, and hosts below them,
    /// are reached directly, and so is this machine.
    pub fn new(address: &str, except: &[String]) -> Result<Proxy, Error> {
        // The address may hold a password, and is not quoted.
        let wrong = |why: &str| {
            Error::new(
                ErrorKind::Invalid,
                format!("the address of the proxy is invalid: {why}; write it as `http://host:port`"),
            )
        };
        let url = Url::parse(address).map_err(|_| wrong("it is not a URL"))?;
        let Target { host, port, is_encrypted } = url.target().clone();
        if is_encrypted {
            return Err(wrong("the connection to the proxy itself cannot be encrypted"));
        }
        let user = address.split_once("://").map_or("", |(_, rest)| rest);
        let user = user.split('/').next().unwrap_or_default().rsplit_once('@').map(|(user, _)| user);
        let credential = user.map(|user| base64(&percent_decoded(user)));
        let except = except.iter().map(|host| host.trim_start_matches(['*', '.']).to_lowercase()).collect();
        Ok(Proxy { host, port, credential, except })
    }

    fn is_excepted(&self, host: &str) -> bool {
        let host = host.to_lowercase();
        let is_local = host == "localhost"
            || host.ends_with(".localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        let below = |known: &String| {
            host.strip_suffix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        is_local || self.except.iter().filter(|known| !known.is_empty()).any(below)
    }
}

impl Connect for Proxy {
    fn connect<'a>(&'a self, target: &'a Target) -> BoxFuture<'a, io::Result<Box<dyn Transport>>> {
        if self.is_excepted(&target.host) {
            return Direct.connect(target);
        }
        Box::pin(async move {
            let failed = |why: String| io::Error::other(format!("proxy {}:{}: {why}", self.host, self.port));
            let connected = TcpStream::connect((self.host.as_str(), self.port)).await;
            let mut stream = connected.map_err(|error| failed(error.to_string()))?;
            let _ = stream.set_nodelay(true);
            let host =
                if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
            let place = format!("{host}:{}", target.port);
            let mut head = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n");
            if let Some(credential) = &self.credential {
                head.push_str(&format!("Proxy-Authorization: Basic {credential}\r\n"));
            }
            head.push_str("\r\n");
            stream.write_all(head.as_bytes()).await?;
            let mut answer = Vec::new();
            // Byte by byte: what follows the head belongs to the target.
            while !answer.ends_with(b"\r\n\r\n") {
                if answer.len() >= MAX_HEAD {
                    return Err(failed("its answer is too long".to_owned()));
                }
                let byte = stream.read_u8().await.map_err(|_| failed("it hung up".to_owned()))?;
                answer.push(byte);
            }
            let line = String::from_utf8_lossy(&answer);
            let line = line.lines().next().unwrap_or_default();
            match line.split(' ').nth(1) {
                Some(status) if status.len() == 3 && status.starts_with('2') => {
                    Ok(Box::new(stream) as Box<dyn Transport>)
                }
                _ => Err(failed(format!("it refuses to connect to {place}: `{}`", line.escape_debug()))),
            }
        })
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded() {
        for (plain, encoded) in
            [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("user:pa ß", "dXNlcjpwYSDDnw==")]
        {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }

    #[test]
    fn this_machine_and_exceptions_are_reached_directly() {
        let except = ["example.com".to_owned(), "*.internal".to_owned(), String::new()];
        let proxy = Proxy::new("http://u:p@proxy.test:3128", &except).unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.test", 3128));
        for (host, expected) in [
            ("localhost", true),
            ("127.0.0.9", true),
            ("::1", true),
            ("Example.com", true),
            ("a.example.com", true),
            ("notexample.com", false),
            ("x.internal", true),
            ("api.anthropic.com", false),
        ] {
            assert_eq!(proxy.is_excepted(host), expected, "{host}");
        }
        let error = Proxy::new("https://u:secret@proxy.test", &[]).err().unwrap().to_string();
        assert!(error.contains("http://host:port") && !error.contains("secret"), "{error}");
    }
}
