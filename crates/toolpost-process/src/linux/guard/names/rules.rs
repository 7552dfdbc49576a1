//! The user's rules about writing files, as one policy states them.

use crate::sandbox::{FileEffect, FilePattern, FileRule, FileRules};
use globset::{GlobBuilder, GlobMatcher};

/// How a name stands, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// A rule opens it.
    Opened,
    /// Nothing is said about it.
    Free,
    /// A rule asks, or it is on the protected list.
    Closed,
    /// A rule denies it.
    Denied,
}

/// The rules of one policy.
pub(super) struct Set {
    layers: Vec<Vec<(FileEffect, Matcher)>>,
}

impl Set {
    pub(super) fn new(rules: &FileRules) -> Set {
        let compile = |rule: &FileRule| (rule.effect, Matcher::new(&rule.pattern));
        let layer = |layer: &Vec<FileRule>| layer.iter().map(compile).collect();
        Set { layers: rules.layers.iter().map(layer).collect() }
    }

    /// What the rules say about this name; none where no rule matches. A link closes what lies below its name, since it
    /// may lead to a folder that has such a file already.
    pub(super) fn judge(&self, name: &str, is_link: bool) -> Option<Standing> {
        let mut strongest = None;
        for layer in &self.layers {
            let Some((effect, _)) = layer.iter().find(|(_, matcher)| matcher.matches(name)) else { continue };
            if *effect == FileEffect::Deny {
                return Some(Standing::Denied);
            }
            strongest = strongest.or(Some(*effect));
        }
        let leads_to_closed = || {
            let mut rules = self.layers.iter().flatten();
            rules.any(|(effect, matcher)| *effect != FileEffect::Open && matcher.may_match_below(name))
        };
        match strongest {
            Some(FileEffect::Open) => Some(Standing::Opened),
            Some(FileEffect::Ask | FileEffect::Deny) => Some(Standing::Closed),
            None if is_link && leads_to_closed() => Some(Standing::Closed),
            None => None,
        }
    }
}

/// A pattern, ready to be held against names.
enum Matcher {
    Everything,
    Name(String),
    Exact(String),
    Inside(String),
    /// Its parts are kept to tell whether something below a folder may match.
    Glob {
        matcher: GlobMatcher,
        inside: bool,
        parts: Vec<String>,
    },
}

impl Matcher {
    fn new(pattern: &FilePattern) -> Matcher {
        match pattern {
            FilePattern::Everything => Matcher::Everything,
            FilePattern::Name(name) => Matcher::Name(name.clone()),
            FilePattern::Exact(path) => Matcher::Exact(path.clone()),
            FilePattern::Inside(folder) => Matcher::Inside(folder.clone()),
            FilePattern::Glob { glob, inside } => {
                let built = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
                match built {
                    Ok(built) => Matcher::Glob {
                        matcher: built.compile_matcher(),
                        inside: *inside,
                        parts: glob.split('/').map(str::to_owned).collect(),
                    },
                    // The policy has read it before. What cannot be read closes everything rather than nothing.
                    Err(_) => Matcher::Everything,
                }
            }
        }
    }

    fn matches(&self, name: &str) -> bool {
        let is_inside = |folder: &str| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        match self {
            Matcher::Everything => true,
            Matcher::Name(wanted) => name.split('/').any(|part| part == wanted),
            Matcher::Exact(path) => name == path || is_inside(path),
            Matcher::Inside(folder) => is_inside(folder),
            Matcher::Glob { matcher, inside, .. } => {
                matcher.is_match(name)
                    || (*inside && name.match_indices('/').any(|(at, _)| matcher.is_match(&name[..at])))
            }
        }
    }

    /// Whether a path below this folder may match because of the folder's own place. A pattern for one name at any
    /// depth does not count: it matches the file where it really lies.
    fn may_match_below(&self, folder: &str) -> bool {
        let leads_to = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        match self {
            Matcher::Everything | Matcher::Name(_) => false,
            Matcher::Exact(path) => leads_to(path),
            Matcher::Inside(inside) => inside == folder || leads_to(inside),
            Matcher::Glob { parts, .. } => {
                let folder: Vec<&str> = folder.split('/').collect();
                goes_on(parts, &folder, false)
            }
        }
    }
}

/// Whether the folder uses up some parts of the pattern, and not all. Parts are compared by their own globs.
fn goes_on(parts: &[String], folder: &[&str], has_begun: bool) -> bool {
    match (parts.split_first(), folder.split_first()) {
        (None, _) => false,
        (Some(_), None) => has_begun,
        (Some((any, rest)), Some((_, after))) if any == "**" => {
            goes_on(rest, folder, has_begun) || goes_on(parts, after, has_begun)
        }
        (Some((wanted, rest)), Some((part, after))) => {
            let glob = GlobBuilder::new(wanted).backslash_escape(true).build();
            // A choice with a `/` inside is cut in two here and is no glob any more: it may match.
            let fits = glob.map_or(true, |glob| glob.compile_matcher().is_match(part));
            fits && goes_on(rest, after, true)
        }
    }
}
