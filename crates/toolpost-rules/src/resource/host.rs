//! Names of hosts in rules. A host is judged as it stands in an address: in lower case, in ASCII, an address of the network in its
//! usual form, with an optional port.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Why no host has this name, and how it is written.
pub(super) fn unlike_a_host(text: &str) -> Option<String> {
    if let Some(odd) = address(text) {
        return Some(odd);
    }
    let strange = |letter: &char| !letter.is_ascii_alphanumeric() && !"-_.:*?[]\\".contains(*letter);
    if let Some(letter) = text.chars().find(strange) {
        return Some(match letter.is_alphabetic() {
            true => format!(
                "`{text}` has the letter `{letter}`, and hosts are judged in ASCII; write the name as it is looked up, such as \
                 `xn--bcher-kva.example`"
            ),
            false => format!(
                "`{text}` has `{}`, which no host has; write one host, such as `*.example.com`, and a rule for each",
                letter.escape_default()
            ),
        });
    }
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !text.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    if let Some(port) = port.filter(|port| !is_port(port)) {
        return Some(format!("`{port}` is not a port; write one number, or `*` for any, behind `{name}:`"));
    }
    (name.contains("..") || name.starts_with('.')).then(|| {
        let without: Vec<&str> = name.split('.').filter(|label| !label.is_empty()).collect();
        let without = without.join(".");
        format!("`{text}` has an empty part, which no host has; write `{without}`, or `*.{without}` for what is below it")
    })
}

fn is_port(port: &str) -> bool {
    let has_wildcard = port.contains(['*', '?']);
    !port.is_empty()
        && port.bytes().all(|byte| byte.is_ascii_digit() || has_wildcard && matches!(byte, b'*' | b'?'))
        && (has_wildcard || port.parse::<u16>().is_ok())
}

/// An address of the network in a form that is never judged.
fn address(text: &str) -> Option<String> {
    let usual = |usual: String| Some(format!("`{text}` is judged as `{usual}`; write that"));
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return usual(format!("[{address}]"));
    }
    if let Some((inner, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return match inner.parse::<Ipv6Addr>() {
            Ok(address) if address.to_string() != inner => usual(format!("[{address}]{rest}")),
            _ => None,
        };
    }
    let name = text.split(':').next().unwrap_or_default();
    let is_number = |part: &str| {
        !part.is_empty()
            && match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
                Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
                None => part.bytes().all(|byte| byte.is_ascii_digit()),
            }
    };
    let is_address = name.split('.').all(is_number);
    (is_address && name.parse::<Ipv4Addr>().is_err()).then(|| {
        format!(
            "`{text}` is no address as it is judged; write four numbers, such as `192.0.2.1`, or `192.0.2.*`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::unlike_a_host;

    #[test]
    fn only_names_that_hosts_have_are_taken() {
        for text in [
            "example.com",
            "*.example.com",
            "EXAMPLE.com",
            "example.com:443",
            "example.com:*",
            "a?.example.com",
            "evil\\.example",
            "[::1]",
            "[::1]:80",
            "192.0.2.1",
            "192.0.2.*",
            "10.*",
            "localhost",
            "xn--bcher-kva.example",
            "*",
            "my_host",
        ] {
            assert_eq!(unlike_a_host(text), None, "{text}");
        }
        for (text, expected) in [
            ("bücher.example", "judged in ASCII"),
            ("a.example, b.example", "has `,`"),
            ("a.example;b", "has `;`"),
            ("a.example b.example", "has ` `"),
            ("a.example|b.example", "has `|`"),
            ("{a,b}.example", "has `{`"),
            ("(a|b).example", "has `(`"),
            ("^a\\.example$", "has `^`"),
            ("!a.example", "has `!`"),
            ("'a.example'", "has `\\'`"),
            ("network: a.example", "has ` `"),
            ("a.example:80-443", "`80-443` is not a port"),
            ("a.example:99999", "`99999` is not a port"),
            ("a..example", "write `a.example`"),
            (".example.com", "or `*.example.com`"),
            ("::1", "judged as `[::1]`"),
            ("2001:0DB8::1", "judged as `[2001:db8::1]`"),
            ("[2001:0db8::1]", "judged as `[2001:db8::1]`"),
            ("127.1", "four numbers"),
            ("0x7f.0.0.1", "four numbers"),
            ("2130706433", "four numbers"),
        ] {
            let found = unlike_a_host(text).unwrap_or_default();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}
