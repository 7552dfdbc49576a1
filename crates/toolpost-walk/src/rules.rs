//! Which names the ignore files leave out: git's rules, and `.ignore` and `.rgignore` for tools.
//!
//! Nothing is read here: whoever walks hands over what the files say, folder by folder. Deeper files win over those
//! above, `.ignore` over `.gitignore`, that over `.git/info/exclude`, that over the user's own excludes. The rules of
//! git end where another repository begins, and never leave out what the repository tracks.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use toolpost_core::workspace::{IgnoreFiles, OuterRules, Repository, Tracked};

/// The rules that hold in one folder, and through `above` those of the folders around it.
#[derive(Default)]
pub struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Option<Gitignore>,
    /// `.gitignore`, `.git/info/exclude` and the user's excludes, in this order of strength.
    git: [Option<Gitignore>; 3],
    /// The files that the repository of this folder tracks, where it is known.
    tracked: Option<Arc<Tracked>>,
    reach: Reach,
    /// The user's excludes, for the repositories further down.
    excludes: Option<Arc<[u8]>>,
}

/// How the rules of git above a folder concern it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Reach {
    /// It is a folder like any other.
    #[default]
    Inherited,
    /// A repository begins here: what lies above is not asked.
    Repository,
    /// It is left out as a whole, except for what is tracked.
    OnlyTracked,
}

/// What is to be done with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is shown.
    Shown,
    /// It is left out.
    LeftOut,
    /// A folder that is left out and holds tracked files: only these are shown.
    OnlyTracked,
}

impl Rules {
    /// The rules that hold at the root of a workspace before its own files are read.
    pub fn outside(outer: OuterRules) -> (Arc<Rules>, Option<Repository>) {
        let first = Rules { excludes: outer.excludes.map(Arc::from), ..Rules::default() };
        let rules = outer
            .above
            .into_iter()
            .fold(Arc::new(first), |rules, (folder, files)| rules.below(&folder, files));
        (rules, outer.at_root)
    }

    /// The rules in a folder with these ignore files, given its absolute path.
    pub fn below(self: &Arc<Rules>, folder: &str, files: IgnoreFiles) -> Arc<Rules> {
        let IgnoreFiles { ignore, gitignore, repository } = files;
        if ignore.is_none() && gitignore.is_none() && repository.is_none() {
            return Arc::clone(self);
        }
        let rules = |bytes: Option<&[u8]>| bytes.and_then(|bytes| parse(folder, bytes));
        let mut level = Rules {
            above: Some(Arc::clone(self)),
            ignore: rules(ignore.as_deref()),
            git: [rules(gitignore.as_deref()), None, None],
            tracked: self.tracked.clone(),
            reach: Reach::Inherited,
            excludes: self.excludes.clone(),
        };
        if self.reach == Reach::OnlyTracked {
            level.reach = Reach::OnlyTracked;
        }
        if let Some(repository) = repository {
            level.git[1] = rules(repository.exclude.as_deref());
            level.git[2] = rules(level.excludes.as_deref());
            level.tracked = repository.tracked.map(Arc::new);
            level.reach = Reach::Repository;
        }
        Arc::new(level)
    }

    /// The rules in a folder that is left out but for what is tracked in it.
    pub fn only_tracked(self: &Arc<Rules>) -> Arc<Rules> {
        if self.reach == Reach::OnlyTracked {
            return Arc::clone(self);
        }
        Arc::new(Rules {
            above: Some(Arc::clone(self)),
            tracked: self.tracked.clone(),
            reach: Reach::OnlyTracked,
            excludes: self.excludes.clone(),
            ..Rules::default()
        })
    }

    /// What is to be done with an entry of the folder, given its absolute path.
    pub fn judge(&self, path: &str, is_folder: bool) -> Verdict {
        match self.matched(path, is_folder, |level| level.ignore.as_ref(), |_| false) {
            Match::Ignore(()) => return Verdict::LeftOut,
            Match::Whitelist(()) => return Verdict::Shown,
            Match::None => {}
        }
        if self.reach != Reach::OnlyTracked {
            let ends = |level: &Rules| level.reach == Reach::Repository;
            let decided = (0..3)
                .map(|strength| self.matched(path, is_folder, |level| level.git[strength].as_ref(), ends))
                .find(|decided| !decided.is_none());
            if !decided.is_some_and(|decided| decided.is_ignore()) {
                return Verdict::Shown;
            }
        }
        match &self.tracked {
            Some(tracked) if is_folder && tracked.has_below(path) => Verdict::OnlyTracked,
            Some(tracked) if !is_folder && tracked.has(path) => Verdict::Shown,
            _ => Verdict::LeftOut,
        }
    }

    /// The word of the nearest level that has one; `ends` says after which level nobody is asked.
    fn matched(
        &self,
        path: &str,
        is_folder: bool,
        of: impl Fn(&Rules) -> Option<&Gitignore>,
        ends: impl Fn(&Rules) -> bool,
    ) -> Match<()> {
        let mut level = Some(self);
        while let Some(rules) = level {
            if let Some(patterns) = of(rules) {
                match patterns.matched(Path::new(path), is_folder) {
                    Match::None => {}
                    Match::Ignore(_) => return Match::Ignore(()),
                    Match::Whitelist(_) => return Match::Whitelist(()),
                }
            }
            if ends(rules) {
                break;
            }
            level = rules.above.as_deref();
        }
        Match::None
    }
}

/// The patterns of an ignore file of this folder, if it has any.
fn parse(folder: &str, bytes: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').lines() {
        // A pattern that makes no sense leaves nothing out, as in git.
        let _ = builder.add_line(None, &without_choices(line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// Braces mean nothing to git, but `{a,b}` is a choice to the library: they are escaped.
fn without_choices(line: &str) -> Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return Cow::Borrowed(line);
    }
    let mut escaped = String::with_capacity(line.len() + 4);
    let (mut is_escaped, mut in_class) = (false, false);
    for character in line.chars() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '{' | '}' if !in_class => escaped.push('\\'),
            _ => {}
        }
        escaped.push(character);
    }
    Cow::Owned(escaped)
}

/// The absolute path of a display name.
pub(crate) fn absolute(root: &str, name: &str) -> String {
    match name {
        "." => root.to_owned(),
        name if name.starts_with('/') => name.to_owned(),
        name => format!("{}/{name}", root.trim_end_matches('/')),
    }
}
