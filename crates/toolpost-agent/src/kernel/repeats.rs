//! Calls that are made again and again with the same result.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use toolpost_core::model::{Arguments, ToolCall};

/// After so many equal results the same call is refused: of a tool that changes nothing, and of another.
const MOST_SAME: u32 = 3;
const MOST_SAME_CHANGING: u32 = 5;
/// After so many refusals in a row the run ends.
const MOST_REFUSED: u32 = 3;

/// How often each call has had the same result since something else has changed the world.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Repeats {
    /// By call: the result and how often it came.
    results: HashMap<u64, (u64, u32)>,
    refused: u32,
}

impl Repeats {
    /// A call has ended with a result.
    pub(super) fn note(&mut self, call: &ToolCall, text: &str, has_changed: bool) {
        let key = key(call);
        let result = hashed(text);
        if has_changed {
            // Whoever looks again after a change does not go in circles.
            self.results.retain(|known, _| *known == key);
        }
        let known = self.results.entry(key).or_insert((result, 0));
        *known = (result, if known.0 == result { known.1 + 1 } else { 1 });
        if known.1 == 1 {
            self.refused = 0;
        }
    }

    /// A call was refused because it goes in circles.
    pub(super) fn refuse(&mut self) {
        self.refused += 1;
    }

    /// How often the call has had the same result, where that is too often.
    pub(super) fn is_too_often(&self, call: &ToolCall, is_idempotent: bool) -> Option<u32> {
        let most = if is_idempotent { MOST_SAME } else { MOST_SAME_CHANGING };
        self.results.get(&key(call)).map(|(_, count)| *count).filter(|count| *count >= most)
    }

    /// Whether refusing has not helped.
    pub(super) fn is_stuck(&self) -> bool {
        self.refused >= MOST_REFUSED
    }
}

fn key(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    match &call.arguments {
        Arguments::Json(value) => value.to_string().hash(&mut hasher),
        Arguments::Unparsable(text) => text.hash(&mut hasher),
    }
    hasher.finish()
}

fn hashed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
