//! The claims of this process: which number each owner was given, so that one who is late says so to the store.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use toolpost_core::{Code, ToolError};

/// Maximum number of claims without a result that are remembered.
const MOST: usize = 10_000;

/// The numbers, by owner and task.
#[derive(Default)]
pub(super) struct Claims(Mutex<HashMap<(String, String), u64>>);

impl Claims {
    /// Refuses a further claim where there are too many. Forgetting one instead would let a late result through.
    pub(super) fn check_room(&self) -> Result<(), ToolError> {
        self.with(|numbers| match numbers.len() < MOST {
            true => Ok(()),
            false => {
                let message = format!("{MOST} tasks are claimed here and have no result; submit some first");
                Err(ToolError::new(Code::TooLarge, message))
            }
        })
    }

    /// Remembers the number of a claim, in place of an earlier one.
    pub(super) fn remember(&self, owner: &str, task: &str, number: u64) {
        self.with(|numbers| numbers.insert((owner.to_owned(), task.to_owned()), number));
    }

    /// The number of the last claim of this owner, if it was made here.
    pub(super) fn number(&self, owner: &str, task: &str) -> Option<u64> {
        self.with(|numbers| numbers.get(&(owner.to_owned(), task.to_owned())).copied())
    }

    /// Forgets a claim whose result was taken.
    pub(super) fn forget(&self, owner: &str, task: &str) {
        self.with(|numbers| numbers.remove(&(owner.to_owned(), task.to_owned())));
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<(String, String), u64>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_belongs_to_its_owner_and_the_last_one_counts() {
        let claims = Claims::default();
        claims.remember("w", "t1", 1);
        claims.remember("x", "t1", 2);
        claims.remember("w", "t1", 3);
        assert_eq!((claims.number("w", "t1"), claims.number("x", "t1")), (Some(3), Some(2)));
        assert_eq!(claims.number("w", "t2"), None);
        claims.forget("w", "t1");
        assert_eq!((claims.number("w", "t1"), claims.number("x", "t1")), (None, Some(2)));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let claims = Claims::default();
        for number in 0..MOST {
            claims.check_room().unwrap();
            claims.remember("w", &format!("t{number}"), 1);
        }
        assert_eq!(claims.check_room().unwrap_err().code(), Code::TooLarge);
    }
}
