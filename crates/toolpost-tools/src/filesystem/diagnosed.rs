//! The errors that a change has brought, with its result: as language servers find them, where some are configured.
//!
//! The change is whole and on disk before a server is asked, and the answer comes within the server's bound. A server that
//! fails, hangs or lies costs its own answer and nothing else.

use super::format::Changed;
use crate::one_line;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use toolpost_core::code::{CodeError, Diagnosis, DiagnosticsService, NewErrors, TextChange};
use toolpost_core::{Context, Output};

/// Maximum number of errors of one file that are shown.
const MOST_SHOWN: usize = 10;
/// Maximum number of characters of one message.
const LONGEST: usize = 300;
/// Larger texts are not looked at.
const MOST_BYTES: usize = 1 << 20;
/// Maximum number of files of one change that are looked at.
const MOST_FILES: usize = 20;

/// One error that a change has brought.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NewError {
    /// The file.
    path: String,
    #[serde(flatten)]
    error: CodeError,
}

/// The change of a file, kept for the servers that look at such files; nothing where there are none.
pub(super) fn change(ctx: &Context, name: &str, before: Option<&str>, after: &str) -> Vec<TextChange> {
    let Some(service) = ctx.extra().get::<DiagnosticsService>() else { return Vec::new() };
    let longest = before.map_or(0, str::len).max(after.len());
    if longest > MOST_BYTES || ctx.is_dry_run() || !service.0.covers(name) {
        return Vec::new();
    }
    let before = before.map(str::to_owned);
    vec![TextChange { name: name.to_owned(), before, after: after.to_owned() }]
}

/// Adds the errors that a call has brought to its result.
pub(super) async fn report<D: Changed>(ctx: &Context, output: &mut Output<D>) {
    let Some(service) = ctx.extra().get::<DiagnosticsService>() else { return };
    let mut changes = std::mem::take(output.data.changes());
    changes.retain(|change| change.before.as_ref() != Some(&change.after));
    let looked_at = changes.iter().take(MOST_FILES);
    let all = join_all(looked_at.map(|change| service.0.diagnose(ctx, change))).await;
    for (change, diagnosis) in changes.iter().zip(all) {
        if let Some(text) = shown(&change.name, &diagnosis) {
            if !output.text.is_empty() && !output.text.ends_with('\n') {
                output.text.push('\n');
            }
            output.text.push_str(&text);
        }
        if let NewErrors::Known(errors) = diagnosis.errors {
            let found = errors.into_iter().map(|error| NewError { path: change.name.clone(), error });
            output.data.new_errors().extend(found);
        }
    }
}

/// What is said of a file; nothing where it has no new errors.
fn shown(name: &str, diagnosis: &Diagnosis) -> Option<String> {
    let (name, server) = (one_line(name), one_line(&diagnosis.server));
    match &diagnosis.errors {
        NewErrors::Known(errors) if errors.is_empty() => None,
        NewErrors::Known(errors) => {
            let many = if errors.len() == 1 {
                "1 new error".to_owned()
            } else {
                format!("{} new errors", errors.len())
            };
            let mut text = format!("{many} in {name}, by {server}:\n");
            for CodeError { line, column, message, code } in errors.iter().take(MOST_SHOWN) {
                let code = code.as_ref().map_or_else(String::new, |code| format!(" [{}]", short(code)));
                // Writing to a text does not fail.
                let _ = writeln!(text, "{line}:{column}: {}{code}", short(message));
            }
            if errors.len() > MOST_SHOWN {
                let _ = writeln!(text, "[… {} more]", errors.len() - MOST_SHOWN);
            }
            Some(text)
        }
        NewErrors::Pending => Some(format!(
            "[the errors of {name} are still being computed by {server}; the next change of it shows them]"
        )),
        NewErrors::Unknown(why) => Some(format!("[{server} did not look at {name}: {}]", short(why))),
    }
}

/// What another program says, on one line of bounded length.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    let line = one_line(&joined);
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}
