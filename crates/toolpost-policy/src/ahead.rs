//! What rules and the protected list could still say about files inside a folder, because of the name the folder has.
//!
//! A link gives a folder another name. The name matters only if some pattern of several parts has begun in it: `.vscode`
//! matters because of `.vscode/tasks.json`. A pattern for one name at any depth matches a file under its real name too.

use super::Policy;
use super::commands::{FilePattern, NO_TOOL, is_relevant};
use super::effect::{Effect, Layer};
use super::pattern::normal_path;
use super::protected;
use super::rule::Rule;
use crate::capability::Capability;
use crate::dependency::Owner;
use globset::{GlobBuilder, GlobMatcher};
use std::hash::{DefaultHasher, Hash, Hasher};
use toolpost_text::folded;

/// The patterns of a policy, ready to be held against the names of folders.
#[derive(Debug)]
pub struct Ahead {
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    parts: Vec<Part>,
    /// Whether it may begin in any folder.
    is_floating: bool,
    /// Whether all that lies inside a match is matched too.
    has_inside: bool,
    /// Whether it can close a file. What a rule opens is opened under that name only.
    closes: bool,
    /// Whether it holds in dependency folders, too.
    in_dependencies: bool,
}

#[derive(Debug)]
enum Part {
    /// Any number of parts.
    Any,
    Exact(String),
    Glob(GlobMatcher),
    /// As the protected list compares.
    Folded(String),
    /// A part that cannot be told from its neighbours, as in `{a/b,c}`: it may match.
    Unclear,
}

impl Policy {
    /// All patterns about reading and writing files.
    pub fn ahead(&self) -> Ahead {
        let mut patterns: Vec<Pattern> = protected::rules().iter().filter_map(Pattern::of_list).collect();
        for part in self.parts.iter() {
            for (layer, rules) in Layer::ALL.into_iter().zip(&part.layers) {
                patterns.extend(rules.iter().filter(|rule| is_relevant(layer, rule)).filter_map(Pattern::of));
            }
        }
        patterns.retain(|pattern| pattern.parts.len() > 1);
        Ahead { patterns }
    }
}

impl Ahead {
    /// How far a folder's display name goes into the patterns that hold in folders of this owner; none if no pattern that
    /// closes files has begun in it. Two names of one folder for which this is equal give the same judgement of everything
    /// inside.
    pub fn progress(&self, name: &str, owner: Owner) -> Option<Vec<(usize, u64)>> {
        let name = normal_path(name);
        let mut progress = Vec::new();
        let mut closes = false;
        let holds = |pattern: &Pattern| owner == Owner::User || pattern.in_dependencies;
        for (index, pattern) in self.patterns.iter().enumerate().filter(|(_, pattern)| holds(pattern)) {
            let reached = pattern.reached(&name);
            closes |= pattern.closes && !reached.is_empty();
            // Where the places do not tell names apart, the name itself does.
            if !reached.is_empty() && pattern.is_unclear() {
                progress.push((usize::MAX, hash(&name)));
            }
            progress.extend(reached.into_iter().map(|at| (index, at as u64)));
        }
        closes.then_some(progress)
    }
}

impl Pattern {
    /// The pattern of a row of the protected list; none if it does not bind commands.
    fn of_list(rule: &Rule) -> Option<Pattern> {
        let row = protected::row(rule).filter(|row| row.binds_commands(Owner::User))?;
        let in_dependencies = row.binds_commands(Owner::Dependency);
        Some(Pattern { in_dependencies, ..Pattern::folded(row.pattern) })
    }

    fn folded(text: &str) -> Pattern {
        let part = |part: &str| if part == "**" { Part::Any } else { Part::Folded(part.to_owned()) };
        Pattern {
            parts: text.split('/').map(part).collect(),
            is_floating: true,
            has_inside: true,
            closes: true,
            in_dependencies: true,
        }
    }

    /// The pattern of a rule about files; none if it is about something else.
    fn of(rule: &Rule) -> Option<Pattern> {
        let is_about = |action| rule.action().matches(NO_TOOL, Some(action), super::names::Names::none());
        if !is_about(Capability::Read) && !is_about(Capability::Write) {
            return None;
        }
        if rule.is_protected() {
            return Some(Pattern::folded(rule.resource().as_str()));
        }
        let exact = |path: &str| path.split('/').map(|part| Part::Exact(part.to_owned())).collect::<Vec<_>>();
        let (parts, has_inside) = match rule.resource().files() {
            FilePattern::Everything | FilePattern::Name(_) => return None,
            FilePattern::Exact(path) => (exact(&path), true),
            FilePattern::Inside(folder) => {
                let mut parts = exact(&folder);
                parts.push(Part::Any);
                (parts, false)
            }
            FilePattern::Glob { glob, inside } => (glob_parts(&glob), inside),
        };
        let closes = rule.effect() != Effect::Allow;
        Some(Pattern { parts, is_floating: false, has_inside, closes, in_dependencies: true })
    }

    /// The places in the pattern to which a name leads: after at least one part, and before the end. None if the name
    /// itself is matched with all that is inside: it needs no other name for that.
    fn reached(&self, name: &str) -> Vec<usize> {
        let first = self.parts.iter().take_while(|part| matches!(part, Part::Any)).count();
        let mut places = vec![];
        self.enter(0, &mut places);
        for part in name.split('/') {
            let mut next = Vec::new();
            for place in places {
                match self.parts.get(place) {
                    Some(Part::Any) => self.enter(place, &mut next),
                    Some(wanted) if wanted.matches(part) => self.enter(place + 1, &mut next),
                    _ => {}
                }
            }
            if self.has_inside && !self.is_unclear() && next.contains(&self.parts.len()) {
                return Vec::new();
            }
            if self.is_floating {
                self.enter(0, &mut next);
            }
            places = next;
        }
        places.retain(|place| *place > first && *place < self.parts.len());
        places.sort_unstable();
        places
    }

    fn is_unclear(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Unclear))
    }

    /// Adds a place, and those behind it that need no part to get to.
    fn enter(&self, place: usize, places: &mut Vec<usize>) {
        if places.contains(&place) {
            return;
        }
        places.push(place);
        if matches!(self.parts.get(place), Some(Part::Any)) {
            self.enter(place + 1, places);
        }
    }
}

impl Part {
    fn matches(&self, part: &str) -> bool {
        match self {
            Part::Any | Part::Unclear => true,
            Part::Exact(wanted) => wanted == part,
            Part::Glob(glob) => glob.is_match(part),
            Part::Folded(wanted) => folded::part_matches(wanted, part),
        }
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The parts of a glob. One with a choice between several parts may match anything below where the choice begins.
fn glob_parts(glob: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for part in glob.split('/') {
        if part == "**" {
            parts.push(Part::Any);
            continue;
        }
        match GlobBuilder::new(part).literal_separator(true).backslash_escape(true).build() {
            Ok(glob) => parts.push(Part::Glob(glob.compile_matcher())),
            Err(_) => {
                parts.extend([Part::Unclear, Part::Any]);
                break;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins(pattern: &str, name: &str) -> bool {
        let resource = super::super::pattern::Pattern::parse(pattern).unwrap();
        let (parts, has_inside) = match resource.files() {
            FilePattern::Glob { glob, inside } => (glob_parts(&glob), inside),
            FilePattern::Exact(path) => {
                (path.split('/').map(|part| Part::Exact(part.to_owned())).collect(), true)
            }
            other => panic!("{other:?}"),
        };
        let pattern = Pattern { parts, is_floating: false, has_inside, closes: true, in_dependencies: true };
        !pattern.reached(name).is_empty()
    }

    #[test]
    fn a_name_matters_if_a_pattern_has_begun_in_it() {
        let ahead = Policy::default().ahead();
        for (name, expected) in [
            (".vscode", true),
            ("packages/a/.vscode", true),
            (".VSCode", true),
            (".vscode/x", false),
            (".vscode/tasks.json", false),
            (".config", true),
            (".config/git", false),
            (".git/modules", true),
            (".git/modules/a/b", true),
            ("vs", false),
            ("node_modules/a", false),
            ("", false),
        ] {
            assert_eq!(ahead.progress(name, Owner::User).is_some(), expected, "{name}");
        }
        for (pattern, name, expected) in [
            ("/a/b", "a", true),
            ("/a/b", "a/b", false),
            ("/a/b", "x/a", false),
            ("a/*/c", "a/x", true),
            ("a/*/c", "a/x/c", false),
            ("a/*/c/**", "a/x/c", true),
            ("a/**/c", "a/x/y", true),
            ("**/a/b", "x/a", true),
            ("**/a", "x", false),
            ("{a/b,c}/d", "a", true),
            ("{a/b,c}/d", "x", true),
            ("[ab]/c", "b", true),
            ("*.rs", "src", false),
        ] {
            assert_eq!(begins(pattern, name), expected, "{pattern} {name}");
        }
    }
}
