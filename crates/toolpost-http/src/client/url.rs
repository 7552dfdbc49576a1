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
            |why: &str| Error::new(ErrorKind::Invalid, format!("`{text}` is no address of a server: {why}"));
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

#[cfg(test)]
mod tests {
    use super::Url;

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
