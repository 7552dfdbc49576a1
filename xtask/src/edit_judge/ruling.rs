//! What a tool's answer is worth, beside what the case demands.

use super::claim::Claim;
use super::decide::Trial;

/// How a tool did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ruling {
    Right,
    Refused,
    /// The truth, although the call contradicts the file.
    Bold,
    /// One of several readings of an undecidable call, and not the true one.
    Guessed,
    Wrong,
}

impl Ruling {
    pub(super) fn name(self) -> &'static str {
        match self {
            Ruling::Right => "right",
            Ruling::Refused => "refused",
            Ruling::Bold => "bold",
            Ruling::Guessed => "guessed",
            Ruling::Wrong => "wrong",
        }
    }
}

/// What a tool left behind.
pub(super) struct Deed {
    pub(super) file: String,
    pub(super) is_error: bool,
    pub(super) message: String,
}

pub(super) fn rule(trial: &Trial, deed: &Deed) -> Ruling {
    let changed = deed.file != trial.file;
    let message = deed.message.to_lowercase();
    let says_why = deed.is_error || message.contains("already") || message.contains("nothing");
    let is_right = trial.is_right(&deed.file);
    match trial.claim {
        Claim::Applied if changed => Ruling::Wrong,
        Claim::Applied if message.contains("already") => Ruling::Right,
        Claim::Applied => Ruling::Refused,
        Claim::Decidable | Claim::TruthOrRefusal if is_right => Ruling::Right,
        Claim::Refusal | Claim::Forbidden if !changed && says_why => Ruling::Right,
        Claim::Decidable | Claim::TruthOrRefusal | Claim::Undecidable if !changed && says_why => {
            Ruling::Refused
        }
        Claim::Refusal if is_right && changed => Ruling::Bold,
        Claim::Undecidable if is_right => Ruling::Right,
        Claim::Undecidable if changed => Ruling::Guessed,
        _ => Ruling::Wrong,
    }
}
