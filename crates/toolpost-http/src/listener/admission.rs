//! Who is admitted: with the token, by a name of this server, and not from another site's web page.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::{StatusCode, Uri};
use std::net::{IpAddr, SocketAddr};

/// What a request must show to be admitted.
#[derive(Clone)]
pub struct Admission {
    token: Option<String>,
    hosts: Vec<String>,
    advice: String,
}

impl Admission {
    /// For a server at this address: requests with this token, if there is one, that call the server by its address, by a
    /// loopback name, or by one of these names.
    pub fn new(address: SocketAddr, token: Option<String>, names: &[String]) -> Admission {
        let mut hosts: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        match address.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => hosts.push(ip.to_string()),
            IpAddr::V6(ip) => hosts.push(format!("[{ip}]")),
        }
        Admission { token, hosts, advice: String::new() }
    }

    /// What people whose name is refused can do about it; it ends the refusal.
    #[must_use]
    pub fn advice(mut self, advice: &str) -> Admission {
        self.advice = format!("; {advice}");
        self
    }

    pub(super) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), (StatusCode, String)> {
        let refused = |why: &str| Err((StatusCode::FORBIDDEN, format!("{why}{}", self.advice)));
        let host = match headers.get(HOST) {
            Some(host) => host.to_str().unwrap_or_default(),
            None => uri.authority().map(|authority| authority.as_str()).unwrap_or_default(),
        };
        if headers.get_all(HOST).iter().count() > 1 || !self.knows(host) {
            return refused("this server does not go by that Host");
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !place.is_some_and(|place| self.knows(place)) {
                return refused("pages of that Origin are not let in");
            }
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let given = match given.split_once(' ') {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case("bearer") => given.trim(),
            _ => "",
        };
        match is_same_secret(given.as_bytes(), token.as_bytes()) {
            true => Ok(()),
            false => {
                let why = "send the server's token: Authorization: Bearer TOKEN";
                Err((StatusCode::UNAUTHORIZED, why.to_owned()))
            }
        }
    }

    /// Whether a name, with or without a port, is one of ours.
    fn knows(&self, place: &str) -> bool {
        let name = match place.strip_prefix('[') {
            Some(rest) => rest.find(']').map_or(place, |end| &place[..end + 2]),
            None => place.split(':').next().unwrap_or_default(),
        };
        let port = &place[name.len()..];
        let is_port = port.is_empty()
            || port
                .strip_prefix(':')
                .is_some_and(|port| port.parse::<u16>().is_ok() && !port.starts_with('+'));
        is_port && self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
    }
}

/// Compares two secrets in a time that does not depend on where they differ.
pub fn is_same_secret(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: bool) {
        let admission = Admission::new(([127, 0, 0, 1], 7).into(), None, &["Box.example".to_owned()]);
        assert_eq!(admission.knows(name), expected, "{name}");
    }

    #[test]
    fn only_names_of_ours_are_known() {
        for name in ["localhost", "LOCALHOST:80", "127.0.0.1:7", "[::1]", "[::1]:8080", "box.example:1"] {
            check(name, true);
        }
        for name in [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost:80@evil.example",
            "127.0.0.1.evil",
            "localhost:",
            "localhost:x",
            "[::1",
            "[::2]",
            "localhost/x",
            "localhost:99999",
        ] {
            check(name, false);
        }
    }

    #[test]
    fn only_equal_secrets_are_the_same() {
        assert!(is_same_secret(b"abc", b"abc") && is_same_secret(b"", b""));
        for other in ["", "ab", "abcd", "abd", "xbc"] {
            assert!(!is_same_secret(b"abc", other.as_bytes()), "{other}");
        }
    }
}
