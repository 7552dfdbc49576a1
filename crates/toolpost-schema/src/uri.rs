//! References between schemas: as much of RFC 3986 as `$id` and `$ref` need. Nothing is ever fetched.

/// A reference split at its `#`.
pub(crate) fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// The parts of a reference before its fragment.
struct Parts<'a> {
    /// With its `:`; empty if absent.
    scheme: &'a str,
    /// With its `//`; empty if absent.
    authority: &'a str,
    path: &'a str,
    /// With its `?`; empty if absent.
    query: &'a str,
}

impl<'a> Parts<'a> {
    fn of(uri: &'a str) -> Parts<'a> {
        let scheme = uri.find(':').filter(|end| is_scheme(&uri[..*end])).map_or(0, |end| end + 1);
        let (scheme, rest) = uri.split_at(scheme);
        let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        let authority = match rest.strip_prefix("//") {
            Some(after) => 2 + after.find('/').unwrap_or(after.len()),
            None => 0,
        };
        let (authority, path) = rest.split_at(authority);
        Parts { scheme, authority, path, query }
    }
}

/// Whether a text can stand before the `:` of a URI.
pub(crate) fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// What a reference without fragment means where `base` is the address of the document.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let (base, given) = (Parts::of(base), Parts::of(reference));
    if !given.scheme.is_empty() {
        return reference.to_owned();
    }
    let (scheme, authority) = (base.scheme, base.authority);
    match () {
        () if !given.authority.is_empty() => format!("{scheme}{reference}"),
        () if given.path.is_empty() => format!("{scheme}{authority}{}{}", base.path, given.query),
        () if given.path.starts_with('/') => {
            format!("{scheme}{authority}{}{}", without_dots(given.path), given.query)
        }
        () => {
            let folder = base.path.rfind('/').map_or("", |end| &base.path[..=end]);
            let slash = if folder.is_empty() && !authority.is_empty() { "/" } else { "" };
            let path = without_dots(&format!("{slash}{folder}{}", given.path));
            format!("{scheme}{authority}{path}{}", given.query)
        }
    }
}

/// A path without its `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let is_absolute = path.starts_with('/');
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        match *part {
            ".." => {
                kept.pop();
            }
            "." => {}
            part => kept.push(part),
        }
        if is_last && matches!(*part, "." | "..") {
            kept.push("");
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, kept.join("/"))
}

/// A fragment with its `%XX` decoded; unchanged where that gives no text.
pub(crate) fn decoded(fragment: &str) -> String {
    if !fragment.contains('%') {
        return fragment.to_owned();
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        match after {
            [high, low, ..] if *first == b'%' && hex(high).is_some() && hex(low).is_some() => {
                let byte = hex(high).unwrap_or_default() * 16 + hex(low).unwrap_or_default();
                bytes.push(byte as u8);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
}
