//! Formats that are checked: those for which a wrong value makes a call fail, and no more strictly than their standards.
//!
//! A format that is not listed here is a note to the reader and checks nothing.

use crate::uri;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A format that is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    pub(crate) name: &'static str,
    fits: fn(&str) -> bool,
}

const ALL: [Format; 9] = [
    Format { name: "date-time", fits: is_date_time },
    Format { name: "date", fits: is_date },
    Format { name: "time", fits: is_time },
    Format { name: "email", fits: is_email },
    Format { name: "hostname", fits: is_hostname },
    Format { name: "ipv4", fits: |text| text.parse::<Ipv4Addr>().is_ok() },
    Format { name: "ipv6", fits: |text| text.parse::<Ipv6Addr>().is_ok() },
    Format { name: "uri", fits: is_uri },
    Format { name: "uuid", fits: is_uuid },
];

impl Format {
    pub(crate) fn named(name: &str) -> Option<Format> {
        ALL.into_iter().find(|format| format.name == name)
    }

    pub(crate) fn fits(self, text: &str) -> bool {
        (self.fits)(text)
    }

    /// What to write instead, for a reader who got it wrong.
    pub(crate) fn example(self) -> Option<&'static str> {
        match self.name {
            "date-time" => Some("2026-01-31T12:00:00Z"),
            "date" => Some("2026-01-31"),
            "time" => Some("12:00:00Z"),
            "uri" => Some("https://example.com/a"),
            _ => None,
        }
    }
}

/// A number of so many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |digits| parts.next().and_then(|part| number(part, digits));
    let (Some(year), Some(month), Some(day)) = (next(4), next(2), next(2)) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    };
    parts.next().is_none() && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// Hours and minutes.
fn clock(text: &str) -> Option<(u32, u32)> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    (hours < 24 && minutes < 60).then_some((hours, minutes))
}

/// The time of RFC 3339, with its offset. A leap second is at midnight of UTC.
fn is_time(text: &str) -> bool {
    let parse = || {
        let at = text.find(['Z', 'z', '+', '-'])?;
        let (time, offset) = text.split_at(at);
        let (hours, minutes) = clock(time.get(..5)?)?;
        let seconds = time.get(5..)?.strip_prefix(':')?;
        let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
        let seconds = number(seconds, 2)?;
        let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let offset = match offset.as_bytes() {
            [b'Z' | b'z'] => 0,
            [sign, ..] => {
                let (hours, minutes) = clock(&offset[1..])?;
                let minutes = i64::from(hours * 60 + minutes);
                if *sign == b'-' { -minutes } else { minutes }
            }
            [] => return None,
        };
        let minute = (i64::from(hours * 60 + minutes) - offset).rem_euclid(24 * 60);
        let is_leap = seconds == 60 && minute == 24 * 60 - 1;
        Some(is_fraction && (seconds < 60 || is_leap))
    };
    parse().unwrap_or(false)
}

fn is_date_time(text: &str) -> bool {
    text.split_once(['T', 't', ' ']).is_some_and(|(date, time)| is_date(date) && is_time(time))
}

/// Letters of any language are taken, as mail programs take them.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_quoted = local.len() > 1 && local.starts_with('"') && local.ends_with('"');
    let is_plain = || {
        !local.starts_with('.')
            && !local.ends_with('.')
            && !local.contains("..")
            && local
                .chars()
                .all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c) || !c.is_ascii())
    };
    let literal = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']'));
    let is_domain = match literal {
        Some(address) => {
            let (name, rest) = address.split_at_checked(5).unwrap_or((address, ""));
            address.parse::<Ipv4Addr>().is_ok()
                || (name.eq_ignore_ascii_case("ipv6:") && rest.parse::<Ipv6Addr>().is_ok())
        }
        None if domain.is_ascii() => is_hostname(domain),
        None => !domain.contains(char::is_whitespace),
    };
    !local.is_empty() && (is_quoted || is_plain()) && is_domain
}

fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    (1..=253).contains(&text.len()) && text.split('.').all(is_label)
}

/// An absolute URI. Letters of any language are taken: programs that open addresses encode them.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_allowed = |c: char| !c.is_ascii() || !(c.is_ascii_control() || " \"<>\\^`{|}".contains(c));
    let percent_is_fine = rest
        .split('%')
        .skip(1)
        .all(|after| after.len() >= 2 && after.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit));
    uri::is_scheme(scheme) && rest.chars().all(is_allowed) && percent_is_fine
}

fn is_uuid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    text.split('-').count() == lengths.len()
        && text
            .split('-')
            .zip(lengths)
            .all(|(part, length)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
