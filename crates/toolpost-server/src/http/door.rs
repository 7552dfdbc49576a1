//! Who may come in: with the token, by a name of ours, and not from somebody else's web page.

use crate::seal::is_same;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::{StatusCode, Uri};
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

/// What is asked of whoever comes in.
#[derive(Clone)]
pub struct Door {
    token: Option<String>,
    hosts: Vec<String>,
}

impl Door {
    /// For a server at this address: those with this token, who call it by its address, by a loopback name if it
    /// listens there, or by one of these names.
    pub fn new(address: SocketAddr, token: Option<String>, names: &[String]) -> Door {
        let mut hosts: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        match address.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => hosts.push(ip.to_string()),
            IpAddr::V6(ip) => hosts.push(format!("[{ip}]")),
        }
        Door { token, hosts }
    }

    pub(super) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), (StatusCode, &'static str)> {
        let host = match headers.get(HOST) {
            Some(host) => host.to_str().unwrap_or_default(),
            None => uri.authority().map(|authority| authority.as_str()).unwrap_or_default(),
        };
        if headers.get_all(HOST).iter().count() > 1 || !self.knows(host) {
            return Err((
                StatusCode::FORBIDDEN,
                "this server does not go by that Host; start it with --allow-host to add a name",
            ));
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !place.is_some_and(|place| self.knows(place)) {
                return Err((
                    StatusCode::FORBIDDEN,
                    "pages of that Origin are not let in; start the server with --allow-host to add a name",
                ));
            }
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let given = match given.split_once(' ') {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case("bearer") => given.trim(),
            _ => "",
        };
        match is_same(given.as_bytes(), token.as_bytes()) {
            true => Ok(()),
            false => Err((StatusCode::UNAUTHORIZED, "send the server's token: Authorization: Bearer TOKEN")),
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

/// A header's value; one that is no plain text comes as `=?base64?…?=`.
pub(super) fn decoded(value: &str) -> Cow<'_, str> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Cow::Borrowed(value);
    };
    match STANDARD.decode(inner).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: bool) {
        let door = Door::new(([127, 0, 0, 1], 7).into(), None, &["Box.example".to_owned()]);
        assert_eq!(door.knows(name), expected, "{name}");
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
    fn headers_decode() {
        assert_eq!(decoded("=?base64?w6R4?="), "äx");
        assert_eq!((decoded("plain"), decoded("=?base64?*?=")), ("plain".into(), "=?base64?*?=".into()));
    }
}
