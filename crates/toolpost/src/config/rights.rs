//! What is granted, asked for or absent, capability by capability, and by which value.

use super::keys::Settings;
use super::origin::{Layer, Origined, Place, Problem};
use crate::advice::in_flags;
use serde::Serialize;
use toolpost_core::Capability;
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{self, Effect, Origin, Policy, Profile, Rule};

/// How far a capability may be used; ordered by what it permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Right {
    Absent,
    Asked,
    Granted,
}

impl Right {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Right::Absent => "absent",
            Right::Asked => "asked for",
            Right::Granted => "granted",
        }
    }
}

/// The right to each capability, with the place that gave or took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rights(Vec<(Capability, Origined<Right>)>);

impl Rights {
    /// What holds where nothing is set.
    pub(crate) fn built_in() -> Rights {
        Rights::of_profile(Profile::Standard, &Place::built_in())
    }

    fn of_profile(profile: Profile, place: &Place) -> Rights {
        let granted = profile.capabilities();
        let right = |one| if granted.has(one) { Right::Granted } else { Right::Absent };
        Rights(Capability::ALL.map(|one| (one, Origined::new(right(one), place.clone()))).to_vec())
    }

    /// These rights with a stronger layer above: its policy begins anew, its lists add to that.
    pub(crate) fn under(&self, settings: &Settings) -> Rights {
        let mut rights = match settings.policy.first() {
            Some(policy) => Rights::of_profile(policy.value, &policy.place),
            None => self.clone(),
        };
        for one in &settings.allow {
            rights.set(one.value, Right::Granted, &one.place);
        }
        for one in &settings.ask {
            rights.set(one.value, Right::Asked, &one.place);
        }
        rights
    }

    /// These rights without what any layer withholds.
    pub(crate) fn without(mut self, denied: &[Origined<Capability>]) -> Rights {
        for one in denied {
            self.set(one.value, Right::Absent, &one.place);
        }
        self
    }

    fn set(&mut self, capability: Capability, right: Right, place: &Place) {
        for (_, held) in self.0.iter_mut().filter(|(one, _)| *one == capability) {
            *held = Origined::new(right, place.clone());
        }
    }

    /// The narrower right to each; where both are alike, the place is this one's.
    pub(crate) fn meet(&self, other: &Rights) -> Rights {
        let narrower = |((capability, mine), (_, theirs)): (&(_, Origined<_>), &(_, Origined<_>))| {
            (*capability, if theirs.value < mine.value { theirs.clone() } else { mine.clone() })
        };
        Rights(self.0.iter().zip(&other.0).map(narrower).collect())
    }

    /// What the other gives more than this, with the place that does.
    pub(crate) fn wider_in<'a>(
        &'a self,
        other: &'a Rights,
    ) -> impl Iterator<Item = (Capability, &'a Origined<Right>)> {
        let pairs = self.0.iter().zip(&other.0);
        pairs
            .filter(|((_, mine), (_, theirs))| theirs.value > mine.value)
            .map(|(_, (one, theirs))| (*one, theirs))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Capability, &Origined<Right>)> {
        self.0.iter().map(|(one, right)| (*one, right))
    }

    /// The policy of these rights, without rules.
    pub(crate) fn policy(&self) -> Policy {
        let with = |right: Right| -> Capabilities {
            self.0.iter().filter(|(_, held)| held.value == right).map(|(one, _)| *one).collect()
        };
        Policy::with_capabilities(with(Right::Granted), with(Right::Asked)).with_advice(in_flags)
    }
}

/// What the key `deny` says, as rules: they hold whatever other rules and capabilities say, and a denial names them.
pub(super) fn denials(denied: &[Origined<Capability>]) -> Vec<Rule> {
    let rule = |one: &Origined<Capability>| {
        let layer = match one.place.layer {
            Layer::Flags | Layer::Environment => policy::Layer::Flags,
            Layer::Project => policy::Layer::Project,
            Layer::User | Layer::BuiltIn => policy::Layer::User,
        };
        let origin = Origin::new(layer, one.place.file.clone(), one.place.line);
        Rule::new(Effect::Deny, one.value.as_str(), "*", origin).ok()
    };
    denied.iter().filter_map(rule).collect()
}

/// Capabilities that a file says two things of.
pub(super) fn contradictions(settings: &Settings, file: &str) -> Vec<Problem> {
    let lists = [("allow", &settings.allow), ("ask", &settings.ask), ("deny", &settings.deny)];
    let mut problems = Vec::new();
    for (index, (name, list)) in lists.iter().enumerate() {
        for (other, later) in &lists[index + 1..] {
            let twice = |one: &Origined<Capability>| {
                let first = list.iter().find(|first| first.value == one.value)?;
                let message = format!(
                    "`{}` stands in `{name}` (line {}) and in `{other}`; keep one of them",
                    first.value, first.place.line
                );
                Some(Problem { file: file.to_owned(), line: one.place.line, column: 1, message })
            };
            problems.extend(later.iter().filter_map(twice));
        }
    }
    problems
}
