//! Names of tools as models write them: in another case, with a space around them, or behind the name of the group that a
//! provider shows them in. Pure.

use super::{Resolved, Snapshot};
use crate::dialect::Dialect;

/// The groups under which providers show tools to their models: `functions.read`, `default_api:read`. Another word in front
/// may be the name of a server, whose tool is another one.
const GROUPS: [&str; 6] = ["functions", "function", "default_api", "tools", "tool", "toolpost"];

/// A name without what models put around it.
fn bare(name: &str) -> &str {
    let mut bare = name.trim().trim_matches(['`', '"', '\'']);
    bare = bare.strip_suffix("()").unwrap_or(bare);
    while let Some((group, rest)) = bare.split_once(['.', ':', '/']) {
        let rest = rest.trim_start_matches([':', '.']).trim_start();
        if rest.is_empty() || !GROUPS.iter().any(|known| known.eq_ignore_ascii_case(group.trim())) {
            break;
        }
        bare = rest;
    }
    bare
}

impl Snapshot {
    /// The tool that a name means that no tool has exactly; none where several could be meant.
    pub(super) fn respelled(&self, name: &str, dialect: &Dialect) -> Option<Resolved> {
        let bare = bare(name);
        if bare.is_empty() {
            return None;
        }
        let resolved = match bare == name {
            true => None,
            false => self.exact(bare, dialect),
        };
        let resolved = resolved.or_else(|| {
            // The session's own names count before those of other dialects.
            let own = self.tools.keys().filter_map(|tool| self.shown_name(tool, dialect));
            let canonical = self.tools.keys().map(String::as_str);
            let added = self.aliases.keys().map(String::as_str);
            let others = self.dialects.all().iter().flat_map(|dialect| dialect.names());
            self.only(bare, own, dialect)
                .or_else(|| self.only(bare, canonical, dialect))
                .or_else(|| self.only(bare, added.chain(others.map(|alias| alias.name.as_str())), dialect))
        });
        // It is not the name that the session has, which the call is told.
        resolved.map(|resolved| Resolved { is_own: false, ..resolved })
    }

    /// The tool that all names mean which are this one in another case.
    fn only<'a>(
        &self,
        wanted: &str,
        names: impl Iterator<Item = &'a str>,
        dialect: &Dialect,
    ) -> Option<Resolved> {
        let mut found: Option<Resolved> = None;
        for name in names.filter(|name| name.eq_ignore_ascii_case(wanted)) {
            let Some(next) = self.exact(name, dialect) else { continue };
            match &found {
                Some(known) if known.entry.name() != next.entry.name() => return None,
                Some(_) => {}
                None => found = Some(next),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn only_known_groups_are_taken_off() {
        for (name, expected) in [
            ("functions.read", "read"),
            ("default_api:read", "read"),
            ("Functions::read", "read"),
            ("default_api.functions.read ", "read"),
            (" read\n", "read"),
            ("tool/read", "read"),
            ("`read`", "read"),
            ("\"functions.read\"", "read"),
            ("read()", "read"),
            ("mcp__github__read", "mcp__github__read"),
            ("github.delete", "github.delete"),
            ("functions.", "functions."),
            ("", ""),
            ("tools", "tools"),
        ] {
            assert_eq!(bare(name), expected, "{name:?}");
        }
    }
}
