//! What the tools of other servers are called here. The canonical name is `mcp__SERVER__TOOL`: it fits what every
//! provider takes (1 to 64 of `A-Z a-z 0-9 _ -`), it cannot be that of a built-in tool, and rules know it.
//!
//! Other characters become `_`. A name that is too long is cut, and a hash of the whole keeps it apart from others.

use sha2::{Digest, Sha256};
use toolpost_core::tool::RuleNames;

const LONGEST: usize = 64;

/// The longest part that a server's name takes.
const LONGEST_SERVER: usize = 24;

/// The server's part of its tools' names: no `__` in it, so that it is seen where it ends.
pub(crate) fn server_part(name: &str) -> String {
    let mut part = plain(name);
    while part.contains("__") {
        part = part.replace("__", "_");
    }
    let part = part.trim_matches('_');
    match part {
        "" => format!("server-{}", hash(name)),
        part => shortened(part, LONGEST_SERVER, name),
    }
}

/// The canonical name of a tool.
pub(crate) fn canonical(server: &str, tool: &str) -> String {
    shortened(&format!("mcp__{server}__{}", plain(tool)), LONGEST, &format!("{server}/{tool}"))
}

/// The same name for what would otherwise have the name of another.
pub(crate) fn apart(name: &str, whole: &str) -> String {
    let room = LONGEST - 9;
    format!("{}-{}", &name[..name.len().min(room)], hash(whole))
}

/// How else hosts and people write the name of a tool.
pub(crate) fn spellings(server: &str, part: &str, tool: &str) -> Vec<String> {
    let short = plain(tool);
    let mut all = Vec::new();
    for (server, tool) in [(part, short.as_str()), (part, tool), (server, tool)] {
        all.extend([
            format!("mcp__{server}__{tool}"),
            format!("mcp_{server}_{tool}"),
            format!("{server}_{tool}"),
            format!("{server}/{tool}"),
        ]);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// By which names rules know the tool of this canonical name, or any tool of a server where the name ends in `*`: the
/// spellings of other hosts, and `mcp__SERVER` for all tools of the server.
pub(crate) fn in_rules(canonical: &str) -> Option<RuleNames> {
    let (server, tool) = canonical.strip_prefix("mcp__")?.split_once("__")?;
    let spellings =
        vec![format!("mcp_{server}_{tool}"), format!("{server}_{tool}"), format!("{server}/{tool}")];
    Some(RuleNames { group: format!("mcp__{server}"), spellings })
}

/// Whether a name is spelled as that of a server's tool, of whichever server.
pub fn is_spelled_as_server_tool(name: &str) -> bool {
    name.starts_with("mcp_") || name.contains('/')
}

/// Whether a name may be one of a server's tools, in any spelling.
pub(crate) fn may_be_of(name: &str, server: &str, part: &str) -> bool {
    tool_of(name, server, part).is_some()
}

/// The tool's part of a name that may be one of a server's, in any spelling.
pub(crate) fn tool_of<'n>(name: &'n str, server: &str, part: &str) -> Option<&'n str> {
    [server, part].into_iter().find_map(|server| {
        let behind = |prefix: String| name.strip_prefix(&prefix).filter(|tool| !tool.is_empty());
        behind(format!("mcp__{server}__"))
            .or_else(|| behind(format!("mcp_{server}_")))
            .or_else(|| behind(format!("{server}_")))
            .or_else(|| behind(format!("{server}/")))
    })
}

fn plain(name: &str) -> String {
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars().map(|letter| if is_fine(letter) { letter } else { '_' }).collect()
}

/// The name itself, or its beginning and a hash of the whole. All of it is ASCII.
fn shortened(name: &str, longest: usize, whole: &str) -> String {
    match name.len() <= longest {
        true => name.to_owned(),
        false => format!("{}-{}", &name[..longest - 9], hash(whole)),
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_every_provider_and_keep_the_server_apart() {
        for (server, tool, expected) in [
            ("gh", "list_issues", "mcp__gh__list_issues"),
            ("my.server", "a.b/c", "mcp__my_server__a_b_c"),
            ("a__b_", "t", "mcp__a_b__t"),
            ("@scope/pkg", "t", "mcp__scope_pkg__t"),
        ] {
            assert_eq!(canonical(&server_part(server), tool), expected);
        }
        let long = canonical(&server_part(&"s".repeat(90)), &"t".repeat(90));
        assert_eq!(long.len(), 64);
        assert_ne!(long, canonical(&server_part(&"s".repeat(90)), &"t".repeat(91)));
        assert!(server_part("ä").starts_with("server-"));
        assert_eq!(apart(&"x".repeat(64), "y").len(), 64);
    }

    #[test]
    fn all_spellings_lead_to_the_server() {
        let part = server_part("my.server");
        for name in spellings("my.server", &part, "do.it") {
            assert!(may_be_of(&name, "my.server", &part), "{name}");
        }
        for name in ["read", "my.serve", "mcp__other__do", "my_server", "my.server/"] {
            assert!(!may_be_of(name, "my.server", &part), "{name}");
        }
    }
}
