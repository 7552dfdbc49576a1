//! Answers that a run cannot end with: they say nothing, were withheld, or ended in a way that nobody knows. The model is asked
//! once more, and then the run fails with the reason.

use super::State;
use super::transcript::Answer;
use toolpost_core::activation::Reason;
use toolpost_core::model::{Finish, Part, Response};

/// How many such answers in a row end a run.
pub(super) const MOST: u32 = 2;

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It has neither a text nor a call.
    Empty,
    /// The provider withheld it.
    Blocked,
    /// It ended in a way that is not known, so that nobody can tell whether it is whole.
    UnknownEnd,
}

impl Unusable {
    /// What is wrong with a response; none where it can be used.
    pub(super) fn of(response: &Response) -> Option<Unusable> {
        let is_content = |part: &Part| match part {
            Part::Text { text, .. } => !text.trim().is_empty(),
            Part::File(_) => true,
            _ => false,
        };
        // Calls that can be read are complete, however the answer ended.
        let has_calls = response.tool_calls().next().is_some();
        match response.finish {
            Finish::Blocked => Some(Unusable::Blocked),
            Finish::Other if !has_calls => Some(Unusable::UnknownEnd),
            Finish::Stop | Finish::ToolCalls if !has_calls && !response.parts.iter().any(is_content) => {
                Some(Unusable::Empty)
            }
            _ => None,
        }
    }

    /// Why a run ends with it.
    pub(super) fn reason(self) -> Reason {
        match self {
            Unusable::Blocked => Reason::Refused,
            Unusable::Empty | Unusable::UnknownEnd => Reason::Model,
        }
    }
}

impl Answer {
    /// What is wrong with it, in a sentence for people.
    pub(super) fn unusable_told(&self) -> Option<String> {
        let raw = self.finish_raw.as_deref().filter(|raw| !raw.is_empty());
        let note = self.note.as_deref().filter(|note| !note.is_empty() && Some(*note) != raw);
        let why = [raw.map(|raw| format!("`{raw}`")), note.map(str::to_owned)];
        let why: Vec<String> = why.into_iter().flatten().collect();
        let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
        Some(match self.unusable? {
            Unusable::Empty => {
                format!("the model's answer was empty, without a text and without a call{why}")
            }
            Unusable::Blocked => format!("the provider blocked the answer{why}"),
            Unusable::UnknownEnd => format!(
                "the model's answer ended in a way that is not known, so that it may not be whole{why}"
            ),
        })
    }
}

impl State {
    /// Why the run fails that ends with such an answer now; none where its last answer can be used.
    pub(super) fn unusable_told(&self) -> Option<String> {
        let answer = self.turns.iter().rev().find_map(super::transcript::Turn::answer)?;
        let told = answer.unusable_told()?;
        let advice = "; try again, or use another model";
        Some(match self.unusable {
            0 | 1 => format!("{told}{advice}"),
            times => format!("{told} ({times} times in a row){advice}"),
        })
    }
}
