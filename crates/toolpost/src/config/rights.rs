//! What is granted, asked for or absent, capability by capability, and by which value.

use super::keys::Settings;
use super::origin::{Origined, Place, Problem};
use crate::advice::in_flags;
use serde::Serialize;
use toolpost_core::Capability;
use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Policy, Profile};

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

/// Capabilities that a file both allows and asks for.
pub(super) fn contradictions(settings: &Settings, file: &str) -> Vec<Problem> {
    let contradiction = |asked: &Origined<Capability>| {
        let allowed = settings.allow.iter().find(|allowed| allowed.value == asked.value)?;
        let message = format!(
            "`{}` stands in `allow` (line {}) and in `ask`; keep one of them",
            allowed.value, allowed.place.line
        );
        Some(Problem { file: file.to_owned(), line: asked.place.line, column: 1, message })
    };
    settings.ask.iter().filter_map(contradiction).collect()
}
