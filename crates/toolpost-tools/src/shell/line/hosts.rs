//! The addresses that a host of `/dev/tcp/HOST/PORT` is known to mean, however it is written.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses beside the name itself, as rules write them.
pub(super) fn addresses(host: &str) -> Vec<String> {
    let folded = host.trim_end_matches('.').to_ascii_lowercase();
    let is_local =
        matches!(folded.as_str(), "localhost" | "ip6-localhost" | "ip6-loopback" | "localhost.localdomain")
            || folded.ends_with(".localhost");
    let mut found: Vec<String> = match is_local {
        true => {
            vec!["localhost".to_owned(), Ipv4Addr::LOCALHOST.to_string(), Ipv6Addr::LOCALHOST.to_string()]
        }
        false => Vec::new(),
    };
    let scoped = folded.split('%').next().unwrap_or_default();
    match scoped.parse::<Ipv6Addr>().map(|address| address.to_canonical()) {
        // The address of no host is the machine itself.
        Ok(IpAddr::V6(address)) => {
            found.push(address.to_string());
            found.extend(address.is_unspecified().then(|| Ipv6Addr::LOCALHOST.to_string()));
            found.extend(address.is_unspecified().then(|| Ipv4Addr::LOCALHOST.to_string()));
        }
        Ok(IpAddr::V4(address)) => found.extend(of_ipv4(address)),
        Err(_) => found.extend(ipv4(&folded).into_iter().flat_map(of_ipv4)),
    }
    found.retain(|address| address != host);
    found
}

fn of_ipv4(address: Ipv4Addr) -> Vec<String> {
    let mut found = vec![address.to_string()];
    found.extend(address.is_unspecified().then(|| Ipv4Addr::LOCALHOST.to_string()));
    found.extend(address.is_loopback().then(|| "localhost".to_owned()));
    found
}

/// An address as the C library reads it: one to four numbers, decimal, octal or hexadecimal, of which the last fills
/// the rest.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| match (part.strip_prefix("0x"), part.strip_prefix('0')) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) if !digits.is_empty() => u32::from_str_radix(digits, 8).ok(),
        _ if part.bytes().all(|byte| byte.is_ascii_digit()) => part.parse().ok(),
        _ => None,
    };
    let numbers: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let left = 8 * (4 - first.len() as u32);
    if left < 32 && *last >= 1 << left {
        return None;
    }
    let high = first.iter().enumerate().fold(0_u32, |all, (at, number)| all | number << (24 - 8 * at));
    Some(Ipv4Addr::from(high | last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_known() {
        for (host, expected) in [
            ("127.1", "127.0.0.1 localhost"),
            ("127.0.0.1", "localhost"),
            ("0x7f.0.0.1", "127.0.0.1 localhost"),
            ("0177.1", "127.0.0.1 localhost"),
            ("2130706433", "127.0.0.1 localhost"),
            ("0", "0.0.0.0 127.0.0.1"),
            ("::ffff:127.0.0.1", "127.0.0.1 localhost"),
            ("0:0::1", "::1"),
            ("LOCALHOST.", "localhost 127.0.0.1 ::1"),
            ("example.org", ""),
            ("1.2.3.4.5", ""),
            ("256.1.1.1", ""),
        ] {
            assert_eq!(addresses(host).join(" "), expected, "{host}");
        }
    }
}
