//! The address of a page, read as browsers read it: whatever the spelling, one address has one form.
//!
//! Names with letters beyond ASCII are lowercased and encoded, without Unicode normalisation.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use toolpost_http::percent_decoded;

/// Maximum number of bytes of an address.
const LONGEST: usize = 8192;

/// An `http` or `https` address with a host. It has no user, no password and no fragment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageUrl {
    is_encrypted: bool,
    host: String,
    port: u16,
    /// The path and the query.
    path: String,
}

/// Why a text is not the address of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidUrl {
    /// The part of the text that is wrong, where that can be told.
    part: Option<String>,
    reason: String,
}

impl InvalidUrl {
    fn new(reason: impl Into<String>) -> InvalidUrl {
        InvalidUrl { part: None, reason: reason.into() }
    }

    fn of(part: &str, reason: impl Into<String>) -> InvalidUrl {
        InvalidUrl { part: Some(part.chars().take(200).collect()), reason: reason.into() }
    }

    /// What is wrong, without any of the text, which a server may have written.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            Some(part) => write!(f, "`{part}`: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for InvalidUrl {}

impl PageUrl {
    /// The address that a text writes.
    pub fn parse(text: &str) -> Result<PageUrl, InvalidUrl> {
        let text = cleaned(text)?;
        match scheme(&text) {
            Some((scheme, rest)) => absolute(scheme, rest),
            None => Err(InvalidUrl::of(&text, "not a web address; write it as `https://host/path`")),
        }
    }

    /// The address that a link on this page leads to.
    pub fn join(&self, link: &str) -> Result<PageUrl, InvalidUrl> {
        let link = cleaned(link)?;
        if let Some((scheme, rest)) = scheme(&link) {
            // `https:page` is relative where the scheme is the page's own.
            if scheme == self.scheme() && !rest.starts_with(['/', '\\']) {
                return self.relative(rest);
            }
            return absolute(scheme, rest);
        }
        self.relative(&link)
    }

    fn relative(&self, link: &str) -> Result<PageUrl, InvalidUrl> {
        let link = link.split('#').next().unwrap_or_default();
        let (path, query) = split_query(link);
        let path = path.replace('\\', "/");
        if let Some(rest) = path.strip_prefix("//") {
            return absolute(self.scheme(), &format!("//{rest}{query}"));
        }
        let (own_path, own_query) = split_query(&self.path);
        let joined = match path.as_str() {
            "" if query.is_empty() => format!("{own_path}{own_query}"),
            "" => format!("{own_path}{query}"),
            path if path.starts_with('/') => format!("{}{query}", normal_path(path)),
            path => {
                let folder = own_path.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{}{query}", normal_path(&format!("{folder}/{path}")))
            }
        };
        Ok(PageUrl { path: encoded(&joined), ..self.clone() })
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.is_encrypted { "https" } else { "http" }
    }

    /// A name or an IP address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path and the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The IP address that the host is, if it is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The host with its port, as rules write it: `example.com:443`, `[::1]:80`.
    pub fn place(&self) -> String {
        format!("{}:{}", bracketed(&self.host), self.port)
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), bracketed(&self.host))?;
        if self.port != usual_port(self.is_encrypted) {
            write!(f, ":{}", self.port)?;
        }
        f.write_str(&self.path)
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn usual_port(is_encrypted: bool) -> u16 {
    if is_encrypted { 443 } else { 80 }
}

/// Without what browsers take out: spaces around, tabs and line ends within.
fn cleaned(text: &str) -> Result<String, InvalidUrl> {
    if text.len() > LONGEST {
        return Err(InvalidUrl::new(format!(
            "the address has {} bytes; at most {LONGEST} are taken",
            text.len()
        )));
    }
    let is_around = |letter: char| letter <= ' ';
    Ok(text.trim_matches(is_around).chars().filter(|letter| !matches!(letter, '\t' | '\n' | '\r')).collect())
}

/// The scheme in lower case, and what follows its colon.
fn scheme(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'));
    match scheme.to_ascii_lowercase().as_str() {
        "https" => Some(("https", rest)),
        "http" => Some(("http", rest)),
        _ if is_scheme => Some(("", rest)),
        _ => None,
    }
}

fn absolute(scheme: &'static str, rest: &str) -> Result<PageUrl, InvalidUrl> {
    let is_encrypted = match scheme {
        "https" => true,
        "http" => false,
        _ => return Err(InvalidUrl::new("only addresses with `https://` or `http://` can be fetched")),
    };
    // However many slashes of whichever kind there are, the host follows them.
    let rest = rest.trim_start_matches(['/', '\\']);
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '\\', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = split_port(authority);
    let port = match port {
        None | Some("") => usual_port(is_encrypted),
        Some(port) => {
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
            let number = if is_number { port.parse().ok() } else { None };
            number.filter(|port| *port != 0).ok_or_else(|| InvalidUrl::of(port, "not a port"))?
        }
    };
    let (path, query) = split_query(path);
    let path = encoded(&format!("{}{query}", normal_path(&path.replace('\\', "/"))));
    Ok(PageUrl { is_encrypted, host: host_of(host)?, port, path })
}

/// Splits off the query, with its question mark.
fn split_query(text: &str) -> (&str, &str) {
    text.split_at(text.find('?').unwrap_or(text.len()))
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rfind(']') {
        Some(end) => (&authority[..=end], authority[end + 1..].strip_prefix(':')),
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    }
}

/// A host in its one form.
fn host_of(text: &str) -> Result<String, InvalidUrl> {
    let wrong = |why: &str| InvalidUrl::of(text, format!("not a host: {why}"));
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']').ok_or_else(|| wrong("a bracket is missing"))?;
        let address: Ipv6Addr = inner.parse().map_err(|_| wrong("it is not an IPv6 address"))?;
        return Ok(address.to_string());
    }
    let decoded = percent_decoded(text);
    let decoded = String::from_utf8(decoded).map_err(|_| wrong("it is not UTF-8"))?;
    let ascii = to_ascii(&decoded).ok_or_else(|| wrong("it has a letter that no name has"))?;
    if ascii.is_empty() {
        return Err(wrong("it is empty"));
    }
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if !ascii.chars().all(is_letter) {
        return Err(wrong("it has a letter that no name has"));
    }
    match numbers(&ascii) {
        Numbers::None => {}
        Numbers::Address(address) => return Ok(address.to_string()),
        Numbers::Invalid => return Err(wrong("it is not an IPv4 address")),
    }
    let name = ascii.strip_suffix('.').unwrap_or(&ascii);
    if name.len() > 253 || name.split('.').any(|label| label.is_empty() || label.len() > 63) {
        return Err(wrong("a part of it is empty or too long"));
    }
    Ok(name.to_owned())
}

enum Numbers {
    None,
    Address(Ipv4Addr),
    Invalid,
}

/// A host whose last part is a number is an IPv4 address: in one to four parts, decimal, octal or hexadecimal.
fn numbers(host: &str) -> Numbers {
    let mut parts: Vec<&str> = host.split('.').collect();
    if parts.len() > 1 && parts.last() == Some(&"") {
        parts.pop();
    }
    let last = parts.last().copied().unwrap_or_default();
    let is_digits = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits && number(last).is_none() {
        return Numbers::None;
    }
    let values: Option<Vec<u64>> = parts.iter().map(|part| number(part)).collect();
    let Some(values) = values.filter(|values| values.len() <= 4) else { return Numbers::Invalid };
    let Some((last, first)) = values.split_last() else { return Numbers::Invalid };
    let room = 1_u64 << (8 * (4 - first.len()));
    if *last >= room || first.iter().any(|value| *value > 255) {
        return Numbers::Invalid;
    }
    let high = first.iter().enumerate().fold(0_u64, |sum, (at, value)| sum | value << (8 * (3 - at)));
    Numbers::Address(Ipv4Addr::from_bits((high | last) as u32))
}

fn number(part: &str) -> Option<u64> {
    let (digits, radix) = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None if part.len() > 1 && part.starts_with('0') => (&part[1..], 8),
        None => (part, 10),
    };
    match digits {
        "" if radix == 16 => Some(0),
        "" => None,
        digits if digits.chars().all(|digit| digit.is_digit(radix)) => {
            Some(u64::from_str_radix(digits.trim_start_matches('0'), radix).unwrap_or_else(|_| {
                // Nothing but zeros, or a number too large for any address.
                if digits.trim_start_matches('0').is_empty() { 0 } else { u64::MAX }
            }))
        }
        _ => None,
    }
}

/// A name as DNS knows it; none where it has a letter that no name can have.
fn to_ascii(host: &str) -> Option<String> {
    let mapped: String = host
        .chars()
        .filter_map(|letter| match letter {
            // What browsers read as a dot, as nothing, or as a letter of normal width.
            '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => Some('.'),
            '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => None,
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0),
            letter => Some(letter),
        })
        .flat_map(char::to_lowercase)
        .collect();
    let labels: Option<Vec<String>> = mapped
        .split('.')
        .map(|label| match label.is_ascii() {
            true => Some(label.to_owned()),
            false => punycode(label).map(|encoded| format!("xn--{encoded}")),
        })
        .collect();
    Some(labels?.join("."))
}

/// RFC 3492.
fn punycode(label: &str) -> Option<String> {
    const BASE: u32 = 36;
    let digit =
        |value: u32| char::from(if value < 26 { b'a' + value as u8 } else { b'0' + (value - 26) as u8 });
    let letters: Vec<u32> = label.chars().map(u32::from).collect();
    if letters.len() > 63 {
        return None;
    }
    let mut output: String = label.chars().filter(char::is_ascii).collect();
    let basic = output.len() as u32;
    let (mut handled, mut code, mut delta, mut bias) = (basic, 128_u32, 0_u32, 72_u32);
    if basic > 0 {
        output.push('-');
    }
    while (handled as usize) < letters.len() {
        let next = letters.iter().copied().filter(|letter| *letter >= code).min()?;
        delta = delta.checked_add((next - code).checked_mul(handled + 1)?)?;
        code = next;
        for letter in &letters {
            if *letter < code {
                delta += 1;
            }
            if *letter == code {
                let (mut rest, mut at) = (delta, BASE);
                loop {
                    let threshold = at.saturating_sub(bias).clamp(1, 26);
                    if rest < threshold {
                        break;
                    }
                    output.push(digit(threshold + (rest - threshold) % (BASE - threshold)));
                    rest = (rest - threshold) / (BASE - threshold);
                    at += BASE;
                }
                output.push(digit(rest));
                delta = if handled == basic { delta / 700 } else { delta / 2 };
                delta += delta / (handled + 1);
                let mut steps = 0;
                while delta > 455 {
                    delta /= 35;
                    steps += BASE;
                }
                bias = steps + 36 * delta / (delta + 38);
                delta = 0;
                handled += 1;
            }
        }
        delta += 1;
        code += 1;
    }
    Some(output)
}

/// A path without `.` and `..`, beginning with a slash.
fn normal_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut pieces = path.split('/').peekable();
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        match piece.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." if is_last => parts.push(""),
            "." => {}
            ".." => {
                parts.pop();
                if is_last {
                    parts.push("");
                }
            }
            _ => parts.push(piece),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Letters that no request line may have, percent-encoded.
fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'!' | b'#'..=b';' | b'=' | b'?'..=b'[' | b']' | b'_' | b'a'..=b'z' | b'|' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = PageUrl::parse(text).map_or_else(|error| error.to_string(), |url| url.to_string());
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn one_address_has_one_form() {
        check("https://example.com", "https://example.com/");
        check(" HTTPS://User:pw@Example.COM:443/a/../b?x=1#part\n", "https://example.com/b?x=1");
        check("http:\\\\example.com\\a", "http://example.com/a");
        check("http:example.com", "http://example.com/");
        check("http://example.com:8080/ü ä", "http://example.com:8080/%C3%BC%20%C3%A4");
        check("https://bücher.example/", "https://xn--bcher-kva.example/");
        check("https://例え。テスト/", "https://xn--r8jz45g.xn--zckzah/");
        check("https://ex%61mple.com./", "https://example.com/");
        check("https://a\tb.example/", "https://ab.example/");
        check("https://host/%2e%2E/x/%2e", "https://host/x/");
    }

    #[test]
    fn every_spelling_of_an_ipv4_address_is_that_address() {
        for spelling in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "0x7f.0x0.0x0.0x1",
            "127.0.0.1.",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
            "0x7F.0.0.1",
        ] {
            check(&format!("http://{spelling}/"), "http://127.0.0.1/");
        }
        check("http://[::FFFF:127.0.0.1]:80/", "http://[::ffff:127.0.0.1]/");
        check("http://[0:0::1]/", "http://[::1]/");
        check("http://0/", "http://0.0.0.0/");
    }

    #[test]
    fn what_is_no_address_of_a_page_is_refused() {
        for text in [
            "",
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http://",
            "http:///",
            "http://[::1",
            "http://[fe80::1%25eth0]/",
            "http://a b/",
            "http://a:99999/",
            "http://a:0/",
            "http://256.1.1.1/",
            "http://1.2.3.4.5/",
            "http://a..b/",
            "http://a<b/",
            "http://user@/",
            "http://a:x/",
            "gopher://x/",
            "http://0x100000000/",
        ] {
            assert!(PageUrl::parse(text).is_err(), "{text}: {:?}", PageUrl::parse(text));
        }
        assert!(PageUrl::parse(&format!("http://a/{}", "x".repeat(9000))).is_err());
    }

    #[test]
    fn links_lead_on_from_their_page() {
        let page = PageUrl::parse("https://example.com/a/b/c?q=1").unwrap();
        for (link, expected) in [
            ("d", "https://example.com/a/b/d"),
            ("../d", "https://example.com/a/d"),
            ("../../../../d", "https://example.com/d"),
            ("/d", "https://example.com/d"),
            ("//other.example/d", "https://other.example/d"),
            ("?q=2", "https://example.com/a/b/c?q=2"),
            ("#part", "https://example.com/a/b/c?q=1"),
            ("", "https://example.com/a/b/c?q=1"),
            ("http://other.example", "http://other.example/"),
            ("https:d", "https://example.com/a/b/d"),
            ("\\\\127.0.0.1\\d", "https://127.0.0.1/d"),
            ("./", "https://example.com/a/b/"),
        ] {
            assert_eq!(page.join(link).unwrap().to_string(), expected, "{link}");
        }
        assert!(page.join("mailto:a@b").is_err() && page.join("javascript:x").is_err());
    }
}
