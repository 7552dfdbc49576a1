//! What the policy leaves to a command that a tool starts: nobody can be asked while it runs, so that what would ask is closed.
//!
//! Rules that name a tool are about its commands; files are a matter of rules about files. What exists is judged here
//! by name. What does not exist yet is judged by the sandbox, which gets the rules as plain values.

use super::Policy;
use super::advice::{Remedy, Words};
use super::decision;
use super::effect::{Effect, Layer, Origin};
use super::judge::{Cause, Part};
use super::names::Names;
use super::protected;
use super::rule::{Rule, Target};
use crate::access::{Access, Resource};
use crate::capability::Capability;
use crate::dependency::Owner;
use toolpost_text::wildcard;

/// The name under which rules are looked up: no tool has it.
pub(super) const NO_TOOL: &str = "";

/// Rules about writing files, as one policy of a meet states them. The protected list is not part of them.
///
/// Each layer gives the effect of its first matching rule. If any layer denies, the file is closed. Otherwise the first
/// layer with a match decides. Where none matches, the protected list does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRules {
    /// The strongest layer first.
    pub layers: Vec<Vec<FileRule>>,
}

/// One rule about writing files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRule {
    /// What it decides; `Ask` closes the file to commands.
    pub effect: Effect,
    /// The files it is about.
    pub pattern: FilePattern,
}

/// The files that a rule is about, by display name: relative in the first root, absolute in the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePattern {
    /// Every file.
    Everything,
    /// A name in any folder, and everything inside.
    Name(String),
    /// One path, and everything inside.
    Exact(String),
    /// Everything inside this folder, not the folder itself.
    Inside(String),
    /// A glob in the syntax of `globset`, in which `*` stops at `/`.
    Glob {
        /// The glob.
        glob: String,
        /// Whether everything below a match counts too.
        inside: bool,
    },
}

impl FilePattern {
    /// Exactly this path and nothing inside it.
    pub fn only(path: &str) -> FilePattern {
        FilePattern::Glob { glob: wildcard::escape(path), inside: false }
    }
}

/// Why a file is closed to commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// The rule or the row of the protected list, in a clause.
    pub why: String,
    /// What would open it, in the words of the policy.
    pub remedy: String,
    /// The allow rules that would open it, in their short form; none where no rule does.
    pub rules: Vec<String>,
}

impl Policy {
    /// Whether a command may do this to the file of this display name. `consented` is what a person has agreed to for
    /// the call: it opens exactly these paths, unless a rule denies them.
    pub fn is_open_to_commands(&self, action: Capability, name: &str, consented: &[Access]) -> bool {
        self.is_open_to_commands_in(Owner::User, action, name, consented)
    }

    /// The same for a file in a folder of this owner.
    pub fn is_open_to_commands_in(
        &self,
        owner: Owner,
        action: Capability,
        name: &str,
        consented: &[Access],
    ) -> bool {
        let target = Target::path_of(NO_TOOL, action, name, Names::none());
        let is_consented = is_consented(consented, action, name);
        self.parts.iter().all(|part| match part.decided_by_rules(&target, is_consented) {
            Some((effect, _)) => effect == Effect::Allow,
            None => part.granted.has(action) && protected::first_for_commands(&target, owner).is_none(),
        })
    }

    /// Whether a rule or a person has opened the file, and not merely the capability.
    pub fn is_opened_by_rule(&self, action: Capability, name: &str, consented: &[Access]) -> bool {
        let target = Target::path_of(NO_TOOL, action, name, Names::none());
        let is_consented = is_consented(consented, action, name);
        let decided = |part: &Part| part.decided_by_rules(&target, is_consented).map(|(effect, _)| effect);
        self.parts.iter().all(|part| decided(part) == Some(Effect::Allow))
    }

    /// Whether any command may run: by the capability, by a rule for all commands, or because a person agreed to this
    /// call. Otherwise rules allow some commands only.
    pub fn allows_any_command(&self, tool: &str, consented: &[Access]) -> bool {
        let is_consented = consented.iter().any(|access| access.action == Capability::Exec);
        let has_rule = |part: &Part| {
            let mut rules = Layer::ALL
                .into_iter()
                .zip(&part.layers)
                .flat_map(|(layer, rules)| rules.iter().filter(move |rule| is_relevant(layer, rule)));
            rules.any(|rule| {
                let is_about = rule.action().matches(tool, Some(Capability::Exec), &self.names);
                rule.effect() == Effect::Allow && rule.resource().is_everything() && is_about
            })
        };
        let allows = |part: &Part| is_consented || part.granted.has(Capability::Exec) || has_rule(part);
        self.parts.iter().all(allows)
    }

    /// Whether a rule denies this, whatever else allows it.
    pub fn is_denied_by_rule(&self, action: Capability, name: &str) -> bool {
        let target = Target::path_of(NO_TOOL, action, name, Names::none());
        let decided = |part: &Part| part.decided_by_rules(&target, false).map(|(effect, _)| effect);
        self.parts.iter().any(|part| decided(part) == Some(Effect::Deny))
    }

    /// The rules about writing files, one set for each part of the meet; none where there are no rules.
    pub fn file_rules(&self, consented: &[Access]) -> Vec<FileRules> {
        let opened: Vec<FileRule> = consented
            .iter()
            .filter(|access| access.action == Capability::Write)
            .filter_map(|access| match &access.resource {
                Resource::Path(path) => {
                    let path = super::pattern::normal_path(path).to_string();
                    Some(if is_repository(&path) {
                        FilePattern::Exact(path)
                    } else {
                        FilePattern::only(&path)
                    })
                }
                Resource::Stored(_) | Resource::Command(_) | Resource::Host(_) | Resource::Any => None,
            })
            .map(|pattern| FileRule { effect: Effect::Allow, pattern })
            .collect();
        let sets: Vec<FileRules> = self.parts.iter().map(|part| part.file_rules(&opened)).collect();
        if sets.iter().all(|set| set.layers.is_empty()) { Vec::new() } else { sets }
    }

    /// Protected paths beside those of the closed list, such as those that variables of the user name.
    pub fn protected_paths(&self) -> Vec<String> {
        let layers = self.parts.iter().flat_map(|part| part.layers.iter());
        let rules = layers.flat_map(|rules| rules.iter());
        rules
            .filter(|rule| {
                rule.is_protected() && !rule.resource().is_protected_path() && is_about_writing(rule)
            })
            .map(|rule| rule.resource().as_str().replace('\\', ""))
            .collect()
    }

    /// Why a command may not do this to the file of this display name; none where it may.
    pub fn closed_to_commands(&self, action: Capability, name: &str, consented: &[Access]) -> Option<Closed> {
        let access = Access::path(action, name);
        let target = Target::new(NO_TOOL, Some(&access), Names::none());
        let is_consented = is_consented(consented, action, name);
        self.parts.iter().find_map(|part| {
            let (effect, cause) = match part.decided_by_rules(&target, is_consented) {
                Some((Effect::Allow, _)) => return None,
                Some((effect, Some(rule))) => (effect, Cause::Rule(rule.clone())),
                Some((_, None)) => return None,
                None => match protected::first_for_commands(&target, Owner::User) {
                    Some(rule) => (Effect::Ask, Cause::Rule(rule.clone())),
                    None if part.granted.has(action) => return None,
                    None => (Effect::Deny, Cause::Absent),
                },
            };
            let why = match &cause {
                Cause::Rule(rule) => match protected::why(rule) {
                    Some(why) => format!("it is protected (`{}`): {why}", rule.resource()),
                    None => {
                        let verb = if effect == Effect::Deny { "denies it" } else { "asks first" };
                        format!("the {} rule `{rule}` ({}) {verb}", rule.origin().layer, rule.origin())
                    }
                },
                _ => format!("{action} is not granted"),
            };
            // Nobody can be asked while a command runs, so consent is no way.
            Some(match &cause {
                Cause::Rule(rule) if rule.effect() != Effect::Deny => self.opened_by(why, action, name),
                cause => {
                    let tool = (action.as_str(), None);
                    let remedy =
                        decision::remedy(&Words::Shared(self.advice), tool, Some(&access), cause, &[]);
                    Closed { why, remedy, rules: Vec::new() }
                }
            })
        })
    }

    /// Why a file is closed to commands, with the rule that opens it.
    pub fn opened_by(&self, why: String, action: Capability, name: &str) -> Closed {
        let access = Access::path(action, protected::closed_whole(action, name).unwrap_or(name));
        let origin = Origin::new(Layer::Flags, "", 0);
        let rule = Rule::exact(Effect::Allow, access.action.as_str(), None, &access, origin);
        let rules: Vec<String> = rule.iter().map(Rule::to_string).collect();
        Closed { why, remedy: self.advise(&Remedy::Closed { rules: &rules }), rules }
    }

    /// All that the judgement of a name depends on: equal texts judge equally.
    pub fn identity(&self, consented: &[Access]) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        for part in self.parts.iter() {
            let _ = writeln!(text, "{}/{}", part.granted, part.askable);
            for (layer, rules) in part.layers.iter().enumerate() {
                for rule in rules.iter() {
                    let _ = writeln!(text, "{layer} {} {rule}", rule.effect());
                }
            }
        }
        for access in consented {
            let _ = writeln!(text, "{access:?}");
        }
        text
    }
}

impl Part {
    /// What the rules of users and projects say; none where no rule matches. A consent has no rule.
    fn decided_by_rules(&self, target: &Target<'_>, is_consented: bool) -> Option<(Effect, Option<&Rule>)> {
        let mut strongest = is_consented.then_some((Effect::Allow, None));
        for (layer, rules) in Layer::ALL.into_iter().zip(&self.layers) {
            let mut matching = rules.iter().filter(|rule| is_relevant(layer, rule) && rule.matches(target));
            // Of toolpost's own rules a denial comes first, wherever it stands.
            let denial = (layer == Layer::BuiltIn)
                .then(|| matching.clone().find(|rule| rule.effect() == Effect::Deny))
                .flatten();
            let Some(rule) = denial.or_else(|| matching.next()) else { continue };
            if rule.effect() == Effect::Deny {
                return Some((Effect::Deny, Some(rule)));
            }
            strongest = strongest.or(Some((rule.effect(), Some(rule))));
        }
        strongest
    }

    fn file_rules(&self, opened: &[FileRule]) -> FileRules {
        let own = Layer::ALL.into_iter().zip(&self.layers).map(|(layer, rules)| {
            let mut own: Vec<FileRule> = rules
                .iter()
                .filter(|rule| is_relevant(layer, rule) && !rule.is_protected())
                .filter(|rule| is_about_writing(rule))
                .map(|rule| FileRule { effect: rule.effect(), pattern: rule.resource().files() })
                .collect();
            if layer == Layer::BuiltIn {
                own.sort_by_key(|rule| rule.effect != Effect::Deny);
            }
            own
        });
        let layers = std::iter::once(opened.to_vec()).chain(own).filter(|rules| !rules.is_empty());
        FileRules { layers: layers.collect() }
    }
}

/// Whether a rule is about writing files, whatever the tool.
fn is_about_writing(rule: &Rule) -> bool {
    rule.action().matches(NO_TOOL, Some(Capability::Write), Names::none())
}

/// The built-in layer opens nothing: there, the protected list comes first.
pub(super) fn is_relevant(layer: Layer, rule: &Rule) -> bool {
    layer != Layer::BuiltIn || rule.effect() != Effect::Allow
}

/// Whether a path is a repository, or the part of one that holds its worktrees: who consents to a new one means all of it.
fn is_repository(path: &str) -> bool {
    let parts: Vec<&str> = path.rsplit('/').take(2).collect();
    matches!(parts.as_slice(), [".git", ..] | ["worktrees" | "modules", ".git"])
}

fn is_consented(consented: &[Access], action: Capability, name: &str) -> bool {
    consented.iter().any(|access| match &access.resource {
        Resource::Path(path) => {
            let (path, name) = (super::pattern::normal_path(path), super::pattern::normal_path(name));
            let is_inside = || {
                is_repository(&path) && name.strip_prefix(&*path).is_some_and(|rest| rest.starts_with('/'))
            };
            access.action == action && (path == name || is_inside())
        }
        Resource::Stored(_) | Resource::Command(_) | Resource::Host(_) | Resource::Any => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_to_a_new_repository_opens_all_of_it_and_nothing_else() {
        let policy = Policy::standard();
        for (consented, name, expected) in [
            ("pkg/.git", "pkg/.git/config", true),
            ("pkg/.git", "pkg/.git/hooks/pre-commit", true),
            ("pkg/.git", "other/.git/config", false),
            ("pkg/.git", "pkg/.github/workflows/ci.yml", false),
            (".git/worktrees", ".git/worktrees/a/gitdir", true),
            (".git/worktrees", ".git/config", false),
            (".vscode/tasks.json", ".vscode/tasks.json", true),
            (".vscode", ".vscode/tasks.json", false),
        ] {
            let consented = [Access::path(Capability::Write, consented)];
            let is_open = policy.is_open_to_commands(Capability::Write, name, &consented);
            assert_eq!(is_open, expected, "{name}");
        }
    }
}
