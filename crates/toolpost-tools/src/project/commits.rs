//! How commits are described: the subjects of the last ones, read from git's own files. Nothing is run.

mod object;

use super::facts::short;
use super::tree::Tree;
use object::Repository;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use toolpost_core::Context;

/// Maximum number of commits that are looked at.
const MOST_COMMITS: usize = 300;

/// How commits are described.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommitStyle {
    /// Commits that were looked at, merges left out.
    pub(super) commits: usize,
    /// Those of the form `feat(scope): subject`.
    pub(super) conventional: usize,
    /// Those of the form `area: subject`.
    pub(super) prefixed: usize,
    /// Those that begin with a capital letter, after any prefix.
    pub(super) capitalized: usize,
    /// Those that end in a full stop.
    pub(super) full_stop: usize,
    /// Those that name an issue.
    pub(super) with_issue: usize,
    /// Those with a text below the subject.
    pub(super) with_body: usize,
    /// The median number of characters of a subject.
    pub(super) median_length: usize,
    /// The most frequent prefixes.
    pub(super) prefixes: Vec<(String, usize)>,
    /// A few of the last subjects.
    pub(super) examples: Vec<String>,
}

/// The types of the conventional form.
const TYPES: [&str; 12] =
    ["feat", "fix", "docs", "style", "refactor", "perf", "test", "build", "ci", "chore", "revert", "wip"];

/// How the last commits of the project's repository are described; none where there is none that can be read.
pub(super) fn style(ctx: &Context, tree: &Tree) -> Option<CommitStyle> {
    let repository = Repository::open(ctx)?;
    let messages = repository.messages(MOST_COMMITS, &|| tree.has_time());
    of_messages(&messages)
}

fn of_messages(messages: &[String]) -> Option<CommitStyle> {
    let mut style = CommitStyle {
        commits: 0,
        conventional: 0,
        prefixed: 0,
        capitalized: 0,
        full_stop: 0,
        with_issue: 0,
        with_body: 0,
        median_length: 0,
        prefixes: Vec::new(),
        examples: Vec::new(),
    };
    let (mut lengths, mut prefixes) = (Vec::new(), BTreeMap::<String, usize>::new());
    for message in messages {
        let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
        let subject = subject.trim();
        let is_made = ["Merge ", "Revert \"", "Bump "].iter().any(|start| subject.starts_with(start));
        if subject.is_empty() || is_made {
            continue;
        }
        style.commits += 1;
        lengths.push(subject.chars().count());
        let (prefix, rest) = match prefix(subject) {
            Some((prefix, rest)) => {
                let kind = prefix.split(['(', '!']).next().unwrap_or(prefix);
                match TYPES.contains(&kind) {
                    true => style.conventional += 1,
                    false => style.prefixed += 1,
                }
                (Some(kind), rest)
            }
            None => (None, subject),
        };
        if let Some(prefix) = prefix {
            *prefixes.entry(prefix.to_owned()).or_default() += 1;
        }
        style.capitalized += usize::from(rest.starts_with(char::is_uppercase));
        style.full_stop += usize::from(subject.ends_with('.') && !subject.ends_with("..."));
        style.with_issue += usize::from(names_issue(subject));
        let is_text = |line: &str| !line.trim().is_empty() && !line.contains("-by: ");
        style.with_body += usize::from(body.lines().any(is_text));
        if style.examples.len() < 3 {
            style.examples.push(short(subject));
        }
    }
    if style.commits == 0 {
        return None;
    }
    lengths.sort_unstable();
    style.median_length = lengths[lengths.len() / 2];
    let mut prefixes: Vec<(String, usize)> = prefixes.into_iter().collect();
    prefixes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    prefixes.truncate(8);
    style.prefixes = prefixes;
    Some(style)
}

/// The part before a colon, if it is a short name and no sentence.
fn prefix(subject: &str) -> Option<(&str, &str)> {
    let (prefix, rest) = subject.split_once(": ")?;
    let is_name = |letter: char| letter.is_alphanumeric() || "-_/.,()!*{}+@ ".contains(letter);
    let is_short = prefix.len() <= 40 && prefix.split_whitespace().count() <= 2;
    (is_short && !prefix.is_empty() && prefix.chars().all(is_name)).then_some((prefix, rest.trim_start()))
}

fn names_issue(subject: &str) -> bool {
    let numbered = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    subject.match_indices('#').any(|(at, _)| numbered(&subject[at + 1..]))
}

impl CommitStyle {
    /// In words.
    pub(super) fn in_words(&self) -> Vec<String> {
        let of = |count: usize| format!("{count} of {}", self.commits);
        let mut lines = Vec::new();
        if self.conventional * 2 > self.commits {
            lines.push(format!("conventional commits, `type(scope): subject` ({})", of(self.conventional)));
        } else if (self.prefixed + self.conventional) * 2 > self.commits {
            lines.push(format!("`area: subject` ({})", of(self.prefixed + self.conventional)));
        } else {
            let plain = self.commits - self.prefixed - self.conventional;
            lines.push(format!("plain subjects without a prefix ({})", of(plain)));
        }
        let case = match self.capitalized * 2 > self.commits {
            true => format!("subjects begin with a capital ({})", of(self.capitalized)),
            false => format!("subjects begin in lower case ({})", of(self.commits - self.capitalized)),
        };
        lines.push(case);
        lines.push(match self.full_stop * 2 > self.commits {
            true => format!("with a full stop ({})", of(self.full_stop)),
            false => format!("without a full stop ({})", of(self.commits - self.full_stop)),
        });
        lines.push(format!("median length {} characters", self.median_length));
        if self.with_issue * 5 > self.commits {
            lines.push(format!("issue numbers in the subject ({})", of(self.with_issue)));
        }
        lines.push(format!("with a body: {}", of(self.with_body)));
        if !self.prefixes.is_empty() {
            let shown: Vec<String> =
                self.prefixes.iter().take(6).map(|(name, count)| format!("{name} ({count})")).collect();
            lines.push(format!("prefixes: {}", shown.join(", ")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(messages: &[&str]) -> String {
        let messages: Vec<String> = messages.iter().map(|text| (*text).to_owned()).collect();
        of_messages(&messages).unwrap().in_words()[0].clone()
    }

    #[test]
    fn the_style_of_subjects_is_told() {
        assert_eq!(
            words(&["feat(api): add x", "fix: y", "chore!: z", "Merge branch 'a'"]),
            "conventional commits, `type(scope): subject` (3 of 3)"
        );
        assert_eq!(words(&["store: keep x", "docs/guide: y", "Oops"]), "`area: subject` (2 of 3)");
        assert_eq!(
            words(&["Add x (#12)", "Remove y", "When it is late: this is a sentence"]),
            "plain subjects without a prefix (3 of 3)"
        );
        assert_eq!(of_messages(&[]), None);
    }
}
