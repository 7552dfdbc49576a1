//! From calls to attempts: each edit with the file that it met, and with what the model did to that file next.

use std::collections::HashMap;

use super::calls::{Call, Deed, Edit};

/// Later states of a file that are compared.
const LATER: usize = 12;

/// One edit of a session.
pub(super) struct Attempt {
    pub(super) edit: Edit,
    /// Why it failed there; `None` if it landed.
    pub(super) failure: Option<Failure>,
    /// The file that it met, where that is known.
    pub(super) file: Option<String>,
    /// The file after each of the next calls that changed it; for an edit that landed, after itself first.
    pub(super) later: Vec<String>,
    /// The next edit of the file that landed, if that was the next change: its old and new text.
    pub(super) next: Option<(String, String)>,
}

impl Attempt {
    /// Whether it failed for a reason that is not the edit's.
    pub(super) fn is_asked(&self) -> bool {
        !matches!(self.failure, Some(Failure::Declined | Failure::Sibling))
    }
}

/// Why an edit failed in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Failure {
    NotFound,
    SeveralPlaces,
    NotRead,
    ChangedSince,
    NoChange,
    NoFile,
    Declined,
    Sibling,
    Other,
}

impl Failure {
    fn of(error: &str) -> Failure {
        let words = [
            ("String to replace not found", Failure::NotFound),
            ("matches of the string to replace", Failure::SeveralPlaces),
            ("has not been read yet", Failure::NotRead),
            ("has been modified since read", Failure::ChangedSince),
            ("No changes to make", Failure::NoChange),
            ("File does not exist", Failure::NoFile),
            ("want to proceed", Failure::Declined),
            ("Sibling tool call errored", Failure::Sibling),
        ];
        words.iter().find(|(word, _)| error.contains(word)).map_or(Failure::Other, |(_, failure)| *failure)
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Failure::NotFound => "the old text is not in the file",
            Failure::SeveralPlaces => "the old text is in the file several times",
            Failure::NotRead => "the model had not read the file",
            Failure::ChangedSince => "the file has changed since it was read",
            Failure::NoChange => "old and new text are equal",
            Failure::NoFile => "there is no such file",
            Failure::Declined => "declined by the user",
            Failure::Sibling => "dropped, because another call of the turn failed",
            Failure::Other => "other reasons",
        }
    }
}

/// The attempts, in the order of the calls.
pub(super) fn attempts(calls: Vec<Call>) -> Vec<Attempt> {
    let mut files: HashMap<(String, String), Vec<Call>> = HashMap::new();
    let mut order = Vec::new();
    for call in calls {
        let about = call.about.clone();
        if !files.contains_key(&about) {
            order.push(about.clone());
        }
        files.entry(about).or_default().push(call);
    }
    order.iter().filter_map(|about| files.remove(about)).flat_map(of_file).collect()
}

/// A change of a file that landed.
struct Change {
    /// The index of its call.
    at: usize,
    before: Option<String>,
    after: String,
    texts: Option<(String, String)>,
}

/// The attempts on one file.
fn of_file(calls: Vec<Call>) -> Vec<Attempt> {
    let changes = changes(&calls);
    let mut attempts = Vec::new();
    for (at, call) in calls.into_iter().enumerate() {
        let Deed::Edit(edit) = call.deed else { continue };
        let failure = call.error.as_deref().map(Failure::of);
        let following = changes.iter().skip_while(|change| change.at < at);
        let later = following.clone().take(LATER).map(|change| change.after.clone()).collect();
        let next = following.clone().next();
        let file = match failure {
            // The state that the next change met, unless something else has changed the file between the two.
            Some(_) => next.and_then(|next| next.before.clone()),
            None => next.filter(|next| next.at == at).and_then(|next| next.before.clone()),
        };
        let next = next.and_then(|next| next.texts.clone());
        attempts.push(Attempt { edit, failure, file, later, next });
    }
    attempts
}

/// Each change of a file that landed, with the states around it, where they are known.
fn changes(calls: &[Call]) -> Vec<Change> {
    let mut known: Option<String> = None;
    let mut changes = Vec::new();
    for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.error.is_none()) {
        match &call.deed {
            Deed::Read(text) => known = Some(text.clone()),
            Deed::Write { content, original } => {
                let before = original.clone().or_else(|| known.take());
                known = Some(content.clone());
                changes.push(Change { at, before, after: content.clone(), texts: None });
            }
            Deed::Edit(edit) => {
                let before = edit.original.clone().or_else(|| known.take());
                known = before.as_deref().and_then(|before| landed(edit, before));
                if let Some(after) = known.clone() {
                    let texts = Some((edit.old.clone(), edit.new.clone()));
                    changes.push(Change { at, before, after, texts });
                }
            }
        }
    }
    changes
}

/// What an edit made there: the exact text replaced, and a deleted text with the newline behind it. `None` if the old text is
/// not in the file.
fn landed(edit: &Edit, before: &str) -> Option<String> {
    let Edit { old, new, replace_all, .. } = edit;
    if old.is_empty() || !before.contains(old.as_str()) {
        return None;
    }
    let with_newline = format!("{old}\n");
    let takes_newline = new.is_empty() && !old.ends_with('\n') && before.contains(&with_newline);
    let old = if takes_newline { &with_newline } else { old };
    Some(if *replace_all { before.replace(old.as_str(), new) } else { before.replacen(old.as_str(), new, 1) })
}
