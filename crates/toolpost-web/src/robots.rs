//! `robots.txt` (RFC 9309): which pages a site wants robots to leave alone.

use crate::stop::{Stop, Stopped};
use toolpost_http::percent_decoded;

/// Maximum number of bytes that are read of it.
pub const MAX_BYTES: usize = 512 << 10;

/// Whether a robot of this name may fetch a path, as the file says. The longest rule that matches decides; of two equally
/// long ones, the one that allows.
pub fn is_allowed(file: &str, robot: &str, path: &str, stop: &Stop<'_>) -> Result<bool, Stopped> {
    let path = percent_decoded(path);
    let groups = groups(file);
    let named = |group: &&Group<'_>| group.agents.iter().any(|agent| agent.eq_ignore_ascii_case(robot));
    let general = |group: &&Group<'_>| group.agents.contains(&"*");
    let own: Vec<&Group<'_>> = groups.iter().filter(named).collect();
    let own = if own.is_empty() { groups.iter().filter(general).collect() } else { own };
    let rules = own.iter().flat_map(|group| &group.rules);
    let matching = rules.filter(|(_, pattern)| matches(&percent_decoded(pattern), &path, stop));
    let strongest = matching.max_by_key(|(is_allowed, pattern)| (pattern.len(), *is_allowed));
    stop.checked(path == b"/robots.txt" || strongest.is_none_or(|(is_allowed, _)| *is_allowed))
}

#[derive(Default)]
struct Group<'a> {
    agents: Vec<&'a str>,
    rules: Vec<(bool, &'a str)>,
}

fn groups(file: &str) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for line in file.trim_start_matches('\u{feff}').lines() {
        let line = line.split('#').next().unwrap_or_default();
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "user-agent" => {
                // `Name/1.0` is the robot `Name`.
                let agent = value.split('/').next().unwrap_or_default().trim();
                match groups.last_mut().filter(|group| group.rules.is_empty()) {
                    Some(group) => group.agents.push(agent),
                    None => groups.push(Group { agents: vec![agent], rules: Vec::new() }),
                }
            }
            // An empty rule says nothing, but ends the names of its group.
            key @ ("allow" | "disallow") => {
                if let Some(group) = groups.last_mut() {
                    group.rules.push((key == "allow" || value.is_empty(), value));
                }
            }
            _ => {}
        }
    }
    groups
}

/// `*` is anything, `$` at the end is the end. Takes time in proportion to both lengths; none matches after the stop.
fn matches(pattern: &[u8], path: &[u8], stop: &Stop<'_>) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if stop.is_due() {
            return false;
        }
        if at == pattern.len() && (!is_whole || place == path.len()) {
            return true;
        }
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, place));
                at += 1;
            }
            Some(byte) if path.get(place) == Some(byte) => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((after, from)) if from < path.len() => {
                    star = Some((after, from + 1));
                    at = after;
                    place = from + 1;
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_kept() {
        let file = "# all\nUser-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\n\n\
                    User-Agent: other\nUser-agent: Toolpost/2\nDisallow: /t\nDisallow:\n";
        for (robot, path, expected) in [
            ("anybody", "/", true),
            ("anybody", "/private/x", false),
            ("anybody", "/private/open/x", true),
            ("anybody", "/a/b.pdf", false),
            ("anybody", "/a/b.pdf?x", true),
            ("anybody", "/%70rivate", false),
            ("toolpost", "/private", true),
            ("toolpost", "/t/x", false),
            ("toolpost", "/robots.txt", true),
        ] {
            assert_eq!(is_allowed(file, robot, path, &Stop::never()), Ok(expected), "{robot} {path}");
        }
        for file in ["", "<html>"] {
            assert_eq!(is_allowed(file, "toolpost", "/", &Stop::never()), Ok(true));
        }
        let many = format!("User-agent: *\nDisallow: /{}b\n", "*a".repeat(5000));
        let path = format!("/{}", "a".repeat(5000));
        assert_eq!(is_allowed(&many, "toolpost", &path, &Stop::never()), Ok(true));
        assert_eq!(is_allowed(&many, "toolpost", &path, &Stop::when(&|| true)), Err(Stopped));
    }
}
