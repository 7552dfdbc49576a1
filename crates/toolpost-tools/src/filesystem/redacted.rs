//! Marks of redaction that a model gives back: a value that a file has is kept, never overwritten by its mark.

use std::borrow::Cow;
use toolpost_core::text::Redactor;
use toolpost_core::{Code, ToolError};

/// A text that was given for a file, with the values of the file for their marks.
pub(crate) fn restored<'a>(
    redactor: &Redactor,
    name: &str,
    text: &'a str,
    file: &str,
) -> Result<Cow<'a, str>, ToolError> {
    redactor.restore(text, file).map_err(|unclear| {
        let mark = unclear.mark;
        ToolError::new(
            Code::ValidationError,
            format!(
                "`{mark}` is unclear in `{name}`, which has several things that are shown so; change the lines around them \
                 only, or make the change with a command"
            ),
        )
        .with("path", name)
    })
}

/// Fails where a value of the file is gone and a word such as `[REDACTED]` stands there instead.
pub(crate) fn check(redactor: &Redactor, name: &str, before: &str, after: &str) -> Result<(), ToolError> {
    match redactor.overwritten(before, after) {
        None => Ok(()),
        Some(mark) => Err(ToolError::new(
            Code::ValidationError,
            format!(
                "`{name}` has a value that is shown as `{mark}`, and the new text has another word for it, which would replace \
                 the value; write exactly `{mark}` to keep the value, or leave that line out of the change"
            ),
        )
        .with("path", name)),
    }
}

/// Fails where a mark is given for a file whose content cannot be known here, so that no value of it can be kept.
pub(crate) fn check_unknown(redactor: &Redactor, name: &str, text: &str) -> Result<(), ToolError> {
    match redactor.mark_in(text) {
        None => Ok(()),
        Some(mark) => Err(ToolError::new(
            Code::ValidationError,
            format!(
                "`{mark}` stands for a value, and `{name}` may not be read here, so the value cannot be kept; leave the file as \
                 it is, or change it with a command"
            ),
        )
        .with("path", name)),
    }
}
