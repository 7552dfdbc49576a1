//! An address that a request can be sent to.

use super::connect::Target;
use crate::error::{Error, ErrorKind};
use hyper::Uri;

/// An `http` or `https` URL with a host.
#[derive(Debug, Clone)]
pub struct Url {
    uri: Uri,
    target: Target,
}

impl Url {
    /// The URL that a text writes.
    pub fn parse(text: &str) -> Result<Url, Error> {
        let wrong =
            |why: &str| Error::new(ErrorKind::Invalid, format!("`{text}` is not a server address: {why}"));
        let uri: Uri = text.parse().map_err(|_| wrong("write it as `https://host/path`"))?;
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("it begins with `https://` or `http://`")),
        };
        let host = uri.host().ok_or_else(|| wrong("it has no host"))?.trim_matches(['[', ']']).to_owned();
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        Ok(Url { uri, target: Target { host, port, is_encrypted } })
    }

    /// The path and the query.
    pub fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    /// The host, and the port if the URL names one. Without the name of a user.
    pub fn authority(&self) -> &str {
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        authority.rsplit('@').next().unwrap_or(authority)
    }

    /// Where a connection must lead.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

/// The bytes of a text in which some are percent-encoded. A percent sign that encodes nothing stays.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|code| first == b'%' && code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        decoded.push(code.unwrap_or(first));
        rest = if code.is_some() { &more[2..] } else { more };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::{Url, percent_decoded};

    #[test]
    fn encoded_bytes_are_decoded() {
        assert_eq!(percent_decoded("a%3Ab%zz%4"), b"a:b%zz%4");
        assert_eq!(percent_decoded("%+1%e4%E4%"), b"%+1\xe4\xe4%");
    }

    #[test]
    fn urls_are_read() {
        let url = Url::parse("https://user@x.test:8443/mcp?a=b").unwrap();
        assert_eq!((url.path(), url.authority(), url.target().port), ("/mcp?a=b", "x.test:8443", 8443));
        let url = Url::parse("http://[::1]").unwrap();
        let target = url.target();
        assert_eq!((target.host.as_str(), target.port, target.is_encrypted), ("::1", 80, false));
        assert_eq!((url.path(), url.authority()), ("/", "[::1]"));
        for wrong in ["", "x.test/mcp", "ftp://x.test", "https://", "http://a b"] {
            assert!(Url::parse(wrong).is_err(), "{wrong}");
        }
    }
}
