//! Whether the host would build a file: the constraint in its head, and the end of its name.

const SYSTEMS: [&str; 14] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "illumos",
    "ios",
    "js",
    "linux",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "windows",
];
const MACHINES: [&str; 14] = [
    "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le",
    "riscv64", "s390x", "wasm",
];

/// The host that answers are for: the one most servers run on.
fn holds(tag: &str) -> bool {
    matches!(tag, "linux" | "amd64" | "unix" | "cgo" | "gc")
        || tag.strip_prefix("go1.").is_some_and(|minor| minor.parse::<u32>().is_ok_and(|minor| minor <= 26))
}

/// Whether a file takes part in a build for the host.
pub(super) fn is_built(path: &str, source: &[u8]) -> bool {
    name_suits(path) && constraint(source).is_none_or(|line| evaluate(&line))
}

fn name_suits(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".go").unwrap_or(name);
    let stem = stem.strip_suffix("_test").unwrap_or(stem);
    let mut parts = stem.rsplit('_');
    let (Some(last), Some(before)) = (parts.next(), parts.next()) else { return true };
    if MACHINES.contains(&last) {
        return holds(last) && (!SYSTEMS.contains(&before) || holds(before));
    }
    !SYSTEMS.contains(&last) || holds(last)
}

/// The constraint in the lines before the package clause.
fn constraint(source: &[u8]) -> Option<String> {
    for line in source.split(|&byte| byte == b'\n').take(200) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("//go:build ") {
            return Some(rest.to_owned());
        }
        if line.starts_with("package ") {
            return None;
        }
    }
    None
}

/// A constraint: names joined by `!`, `&&`, `||` and brackets. What is malformed holds.
fn evaluate(text: &str) -> bool {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("&&") || rest.starts_with("||") {
            2
        } else if matches!(first, '!' | '(' | ')') {
            1
        } else {
            rest.find(|c: char| c.is_whitespace() || "!()&|".contains(c))
                .unwrap_or(rest.len())
                .max(first.len_utf8())
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    if words.len() > 200 {
        return true;
    }
    let mut at = 0;
    any(&words, &mut at, 0)
}

fn any(words: &[&str], at: &mut usize, depth: u32) -> bool {
    let mut value = all(words, at, depth);
    while words.get(*at) == Some(&"||") {
        *at += 1;
        value |= all(words, at, depth);
    }
    value
}

fn all(words: &[&str], at: &mut usize, depth: u32) -> bool {
    let mut value = one(words, at, depth);
    while words.get(*at) == Some(&"&&") {
        *at += 1;
        value &= one(words, at, depth);
    }
    value
}

fn one(words: &[&str], at: &mut usize, depth: u32) -> bool {
    let Some(&word) = words.get(*at) else { return true };
    *at += 1;
    match word {
        _ if depth > 50 => true,
        "!" => !one(words, at, depth + 1),
        "(" => {
            let value = any(words, at, depth + 1);
            *at += 1;
            value
        }
        tag => holds(tag),
    }
}
