//! Hosts in the words of a command: addresses with a scheme, `user@host:path`, and the operands of programs that connect.

use crate::shell::line::word::Word;
use toolpost_core::policy::PlaceUse;

/// Programs that connect to what their operands name.
const CONNECTING: &[&str] = &[
    "curl",
    "wget",
    "http",
    "https",
    "xh",
    "aria2c",
    "ssh",
    "sftp",
    "scp",
    "rsync",
    "ping",
    "ping6",
    "nc",
    "ncat",
    "netcat",
    "telnet",
    "ftp",
    "dig",
    "host",
    "nslookup",
    "traceroute",
    "tracepath",
    "mtr",
    "nmap",
    "whois",
    "git",
    "lftp",
    "tftp",
    "socat",
    "openssl",
];

/// Those of them whose operands are bare names of hosts, with the letters of options that take a value.
const BARE: &[(&[&str], &str)] = &[
    (&["curl"], "oHdAexXuTbcFmwKEDrYyzCPQtU"),
    (&["wget"], "oaOieBtTwQPUl"),
    (&["http", "https", "xh"], "oasA"),
    (&["ssh", "sftp"], "bcDeFiIJlLmOopQRSwW"),
    (&["ping", "ping6", "traceroute", "tracepath", "mtr"], "cisWtwIlmMpQTfgq"),
    (&["nc", "ncat", "netcat"], "iIopsTwXxqmM"),
    (&["telnet", "ftp", "whois", "lftp", "tftp"], "lneph"),
    (&["host", "nslookup", "dig"], "tcWRqpbkyf"),
];

/// What a program does with the addresses that it is given.
pub(super) fn used_by(program: &str) -> PlaceUse {
    if CONNECTING.contains(&program) { PlaceUse::Reach } else { PlaceUse::Unknown }
}

/// Options whose value is a host, with a port or without one.
const HOST_OPTIONS: &[&str] = &[
    "--host",
    "--hostname",
    "--proxy",
    "--preproxy",
    "--socks5",
    "--socks5-hostname",
    "--server",
    "--remote-host",
    "-connect",
    "-proxy",
];

/// Programs with options of one letter whose value is a host.
const HOST_LETTERS: &[(&[&str], &[&str])] = &[
    (&["curl"], &["-x"]),
    (&["ssh", "sftp", "scp"], &["-J", "-W"]),
    (
        &[
            "psql",
            "pg_dump",
            "pg_restore",
            "pg_isready",
            "createdb",
            "dropdb",
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mariadb",
        ],
        &["-h"],
    ),
    (&["redis-cli", "mongosh", "mongo", "influx", "cqlsh", "rsh", "ldapsearch"], &["-h", "-H"]),
];

/// The hosts that a program is given by their bare names: as operands, and as values of options.
pub(super) fn operands(program: &str, words: &[Word]) -> Vec<String> {
    let mut found = options(program, words);
    found.extend(bare_operands(program, words));
    found
}

/// The host of one operand, `user@host` or `@host`.
pub(super) fn operand(text: &str) -> Option<String> {
    let text = text.trim_start_matches('@');
    authority(text.rsplit('@').next().unwrap_or(text))
}

fn options(program: &str, words: &[Word]) -> Vec<String> {
    let letters = HOST_LETTERS.iter().find(|(names, _)| names.contains(&program));
    let letters = letters.map(|(_, letters)| *letters).unwrap_or_default();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let Some(text) = word.literal() else { continue };
        let (option, value) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value.to_owned())),
            None => (text.as_str(), words.get(at + 1).and_then(Word::literal)),
        };
        if letters.contains(&option) || HOST_OPTIONS.contains(&option) {
            let hosts =
                value.iter().flat_map(|value| value.split(',')).filter(|value| !value.contains("://"));
            found.extend(hosts.filter_map(operand));
        }
        // Addresses of `socat`: `TCP:HOST:PORT`.
        if program == "socat"
            && let Some((kind, rest)) = text.split_once(':')
            && ["TCP", "UDP", "OPENSSL", "SSL", "SCTP", "SOCKS", "PROXY"]
                .iter()
                .any(|known| kind.to_ascii_uppercase().starts_with(known))
            && !kind.to_ascii_uppercase().contains("LISTEN")
        {
            found.extend(rest.split(':').next().and_then(authority));
        }
    }
    found
}

/// The hosts that stand as bare operands.
fn bare_operands(program: &str, words: &[Word]) -> Vec<String> {
    if matches!(program, "scp" | "rsync") {
        let texts = words[1..].iter().filter_map(Word::literal);
        return texts.filter_map(|text| before_colon(&text)).collect();
    }
    let Some((_, valued)) = BARE.iter().find(|(names, _)| names.contains(&program)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(text) = word.literal() else { continue };
        if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let takes_value = match letters.strip_prefix('-') {
                // Long options of which the next word may be the value; a name of a host there is found by its scheme.
                Some(long) => !long.contains('=') && !is_switch(long),
                None => letters.chars().last().is_some_and(|letter| valued.contains(letter)),
            };
            at += usize::from(takes_value);
            continue;
        }
        if text.contains("://") {
            continue;
        }
        let is_first_only = matches!(program, "ssh" | "sftp" | "nc" | "ncat" | "netcat" | "telnet" | "ftp");
        if let Some(host) = operand(&text) {
            found.push(host);
            if is_first_only {
                break;
            }
        }
    }
    found
}

/// Long options without a value that are in common use.
fn is_switch(long: &str) -> bool {
    matches!(
        long,
        "silent"
            | "fail"
            | "location"
            | "verbose"
            | "insecure"
            | "head"
            | "include"
            | "show-error"
            | "compressed"
            | "get"
            | "quiet"
            | "no-verbose"
            | "spider"
            | "http1.1"
            | "http2"
            | "ipv4"
            | "ipv6"
            | "remote-name"
            | "no-check-certificate"
            | "short"
            | "progress-bar"
            | "no-progress-meter"
            | "continue"
            | "noproxy"
    )
}

/// The hosts of all addresses in a text that have a scheme, and the one of `user@host:path`.
pub(in crate::shell::line) fn hosts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let scheme =
            rest[..at].rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '+').next();
        rest = &rest[at + 3..];
        let end = rest.find(|letter: char| "/?#'\"`<>|\\".contains(letter) || letter.is_whitespace());
        let place = &rest[..end.unwrap_or(rest.len())];
        let place = place.rsplit('@').next().unwrap_or(place);
        if scheme.is_some_and(|scheme| !scheme.is_empty() && scheme != "file") {
            found.extend(authority(place));
        }
    }
    if !text.contains("://") && !text.contains(char::is_whitespace) {
        let user = text.split_once('@').filter(|(user, rest)| is_name(user) && rest.contains(':'));
        found.extend(user.and_then(|(_, rest)| before_colon(rest)));
    }
    found
}

/// The host of `host:path` or `user@host:path`.
fn before_colon(text: &str) -> Option<String> {
    let (host, path) = text.split_once(':')?;
    let host = host.rsplit('@').next().unwrap_or(host);
    (!path.starts_with("//") && is_name(host)).then(|| host.to_owned())
}

/// The host of `host`, `host:port` or `[address]:port`, with what follows a slash.
fn authority(text: &str) -> Option<String> {
    let text = text.split(['/', '?', '#']).next().unwrap_or(text);
    if let Some((address, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return Some(address.to_owned());
    }
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    let is_address = text.bytes().filter(|byte| *byte == b':').count() > 1;
    let host = if is_address { text } else { host };
    let is_host = is_address || is_name(host) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_host.then(|| host.to_ascii_lowercase())
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte) || byte >= 0x80)
}
