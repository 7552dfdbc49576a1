//! Calls as people name them: by their id, or by its ending, which is what `toolpost log` shows.

use toolpost_core::store::{EventQuery, Store};
use toolpost_core::{Code, ToolError};

/// Characters of an id that a log shows.
pub(crate) const SHOWN: usize = 6;
/// Minimum number of characters of an ending; less is too easily another call's.
const SHORTEST: usize = 4;

/// The ending of an id, as a log shows it.
pub(crate) fn ending(id: &str) -> &str {
    let start = id.char_indices().rev().nth(SHOWN - 1).map_or(0, |(at, _)| at);
    &id[start..]
}

/// The call of this id, or the only one whose id ends so; none where there is no such call. An error where several fit.
pub(crate) fn find(store: &dyn Store, text: &str) -> Result<Option<String>, ToolError> {
    let exact = EventQuery { call: Some(text.to_owned()), limit: Some(1), ..EventQuery::default() };
    if !store.events(&exact)?.is_empty() {
        return Ok(Some(text.to_owned()));
    }
    if text.chars().count() < SHORTEST {
        return Ok(None);
    }
    let mut found = store.calls_ending(text)?;
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.pop()),
        _ => {
            let all: Vec<String> = found.iter().map(|id| format!("`{id}`")).collect();
            let message =
                format!("several calls end with `{text}`: {}; write more of the id", all.join(", "));
            Err(ToolError::new(Code::ValidationError, message).with("calls", found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use toolpost_core::Event;
    use toolpost_core::event::EventKind;

    fn event(call: &str) -> Arc<Event> {
        Arc::new(Event {
            at_ms: 1,
            session: "s".to_owned(),
            sequence: 0,
            agent: None,
            activation: None,
            call: Some(call.to_owned()),
            kind: EventKind::Warning { message: "x".to_owned() },
        })
    }

    #[test]
    fn a_call_is_found_by_its_id_and_by_an_ending_that_no_other_has() {
        let store = toolpost_store::open(&toolpost_store::StoreUrl::Memory).unwrap();
        store
            .append(&[event("01aaaabbbb"), event("02aaaabbbb"), event("03xx%_cccc"), event("bbbb")])
            .unwrap();
        let found = |text: &str| find(&*store, text);
        assert_eq!(found("01aaaabbbb").unwrap().as_deref(), Some("01aaaabbbb"));
        // A whole id is one, also where others end like it.
        assert_eq!(found("bbbb").unwrap().as_deref(), Some("bbbb"));
        assert_eq!(found("1aaaabbbb").unwrap().as_deref(), Some("01aaaabbbb"));
        assert_eq!(found("%_cccc").unwrap().as_deref(), Some("03xx%_cccc"));
        assert_eq!((found("__cccc").unwrap(), found("ccc").unwrap(), found("").unwrap()), (None, None, None));
        let several = found("aabbbb").unwrap_err();
        assert!(several.message().contains("`02aaaabbbb`, `01aaaabbbb`"), "{}", several.message());
        assert_eq!(ending("01ABCDEFGH"), "CDEFGH");
        assert_eq!((ending("abc"), ending("")), ("abc", ""));
    }
}
