//! Whether a file that parsed still does after a change. Without a check in the context, nothing is checked.

use toolpost_core::code::{BrokenBy, Parsed, SyntaxCheck};
use toolpost_core::{Code, Context, ToolError};

/// How the place of a change was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundBy {
    Exactly,
    /// By overlooking this.
    Overlooking(&'static str),
    /// Not at all: the whole text is given.
    Replacing,
}

/// What is said of a file that parsed before a change and does not any more; an error if the change is not to be made.
pub(crate) fn check(
    ctx: &Context,
    name: &str,
    before: &str,
    after: &str,
    found: FoundBy,
) -> Result<Option<String>, ToolError> {
    let Some(check) = ctx.extra().get::<SyntaxCheck>() else { return Ok(None) };
    // Most changes leave a file whole, so the old text is rarely looked at.
    let Parsed::BrokenAt(line) = check.syntax.parsed(name, after) else { return Ok(None) };
    if check.syntax.parsed(name, before) != Parsed::Whole {
        return Ok(None);
    }
    let shown: String = after.lines().nth(line - 1).unwrap_or_default().trim().chars().take(120).collect();
    let shown = crate::one_line(&shown);
    let what = format!("`{name}` parses now and would not after this: line {line} would be `{shown}`");
    let code = match found {
        FoundBy::Replacing => Code::ValidationError,
        _ => Code::NoMatch,
    };
    let refused = |message: String| ToolError::new(code, message).with("path", name).with("brokenLine", line);
    match (found, check.exact) {
        (FoundBy::Overlooking(step), _) => Err(refused(format!(
            "{what}; the old text fits only by overlooking {step}, so another place or depth may be meant: give both texts exactly \
             as the file has them"
        ))),
        (FoundBy::Exactly | FoundBy::Replacing, BrokenBy::Refused) => {
            Err(refused(format!("{what}; correct the new text, or change what belongs together at once")))
        }
        (FoundBy::Exactly | FoundBy::Replacing, BrokenBy::Reported) => {
            Ok(Some(format!("`{name}` no longer parses, first at line {line}: `{shown}`")))
        }
    }
}
