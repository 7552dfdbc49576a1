//! Permission rules of other systems as ours, in an order that keeps their decisions.
//!
//! Each importer takes the text of a file and gives rules plus everything it did not take, with line and reason. It
//! writes nothing and grants nothing: the caller shows both before anything is taken over.

pub mod claude;
pub mod codex;
pub mod gemini;
mod names;
pub mod opencode;
mod starlark;

use std::sync::Arc;
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Effect, Layer, Origin, Rule};
use toolpost_core::text::Source;
use toolpost_rules::{MOST_RULES, useless_resource};

/// What a foreign file holds, as ours.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// The rules; the first that matches decides, as in every layer of ours.
    pub rules: Vec<Rule>,
    /// What was left out: the line, and why.
    pub not_taken: Vec<(usize, String)>,
    /// The capabilities that the file implies beside its rules, where it says anything about them.
    pub capabilities: Option<ImportedCapabilities>,
}

/// Capabilities that a foreign file implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedCapabilities {
    /// What needs no question.
    pub granted: Capabilities,
    /// What a person is asked for.
    pub askable: Capabilities,
}

/// Where the rules of an import are to stand.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The layer.
    pub layer: Layer,
    /// The user's home directory, for patterns that begin with `~`; without it those are not taken.
    pub home: Option<&'a str>,
}

/// Collects what an importer finds.
struct Collector<'a> {
    target: Target<'a>,
    file: Arc<str>,
    imported: Imported,
    found: usize,
}

impl<'a> Collector<'a> {
    fn new(source: &Source<'_>, target: Target<'a>) -> Collector<'a> {
        Collector { target, file: source.file().into(), imported: Imported::default(), found: 0 }
    }

    /// A rule, or the reason why it cannot be one.
    fn rule(&mut self, line: usize, effect: Effect, action: &str, resource: &str) {
        self.found += 1;
        if self.found > MOST_RULES {
            return;
        }
        let origin = Origin::new(self.target.layer, self.file.clone(), line);
        match Rule::new(effect, action, resource, origin) {
            // Every start would refuse a rule that was to deny or ask and never can.
            Ok(rule) => {
                match useless_resource(&rule, toolpost_tools::names()).filter(|_| effect != Effect::Allow) {
                    Some(why) => self.not_taken(line, Some(effect), why),
                    None => self.imported.rules.push(rule),
                }
            }
            Err(error) => self.not_taken(line, Some(effect), error),
        }
    }

    /// Something left out. That a deny or ask is missing is said, as without it the rest is wider than it was.
    fn not_taken(&mut self, line: usize, effect: Option<Effect>, reason: impl Into<String>) {
        let reason = reason.into();
        let reason = match effect {
            Some(effect @ (Effect::Deny | Effect::Ask)) => {
                format!("{reason} (it says {effect}: write a rule of your own before taking over the rest)")
            }
            _ => reason,
        };
        self.imported.not_taken.push((line, reason));
    }

    /// What was found. Too many rules are not taken at all: a part of them could be wider than the whole.
    fn finish(mut self) -> Imported {
        let found = self.found.max(self.imported.rules.len());
        if found > MOST_RULES {
            self.imported.rules.clear();
            self.not_taken(
                1,
                None,
                format!("there are {found} rules; at most {MOST_RULES} are taken, use wildcards"),
            );
        }
        self.imported
    }

    /// The path with `~/` or `$HOME/` as an absolute pattern; none where home is not known.
    fn expand_home(&self, pattern: &str) -> Option<String> {
        let rest = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|prefix| pattern.strip_prefix(prefix))?;
        let home = self.target.home?;
        Some(format!("/{}/{rest}", home.trim_end_matches('/')))
    }
}

/// Whether a pattern is about the user's home.
fn is_home(pattern: &str) -> bool {
    ["~/", "$HOME/", "${HOME}/"].iter().any(|prefix| pattern.starts_with(prefix))
}
