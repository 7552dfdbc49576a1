//! Edits of the version that the session has read, where somebody has changed the file since: merged, or refused.

use super::{Edited, Mark, Replacement, apply};
use crate::filesystem::effort::Effort;
use crate::filesystem::redacted;
use crate::filesystem::text::Text;
use crate::filesystem::versions::{self, Since};
use std::borrow::Cow;
use toolpost_core::{Code, Context, ToolError};

/// A file that was changed since the session has read it.
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    /// What the session has read.
    pub(super) base: &'a [u8],
    pub(super) now: &'a Text,
}

/// What comes of edits that were tried on what is there now. Where they do not fit it exactly, but fit what the session has
/// read, they were made for that.
pub(super) fn merged_if_stale<'a>(
    ctx: &Context,
    effort: &Effort,
    file: &File<'_>,
    edits: &[Replacement],
    tried: Result<Edited<'a>, ToolError>,
) -> Result<Edited<'a>, ToolError> {
    let is_open = match &tried {
        Ok(edited) => !edited.is_exact(),
        Err(error) => matches!(error.code(), Code::NoMatch | Code::AmbiguousMatch),
    };
    if !is_open {
        return tried;
    }
    let Ok(base) = Text::decode(file.base, file.name) else { return tried };
    let mine = match apply(ctx, effort, file.name, Cow::Borrowed(&base.text), Mark::of(&base), edits) {
        Ok(mine) if mine.is_exact() && mine.text != base.text => mine,
        _ => return tried,
    };
    let refusal = |message: String| ToolError::new(Code::NoMatch, message).with("path", file.name);
    let merged = match versions::merged(&base.text, &mine.text, &file.now.text) {
        Ok(merged) => merged,
        Err(why) => {
            let since = Since::between(ctx, file.name, &base.text, &file.now.text);
            let message = || "the old text is only in the version that this session has read".to_owned();
            let error = tried.err().unwrap_or_else(|| refusal(message()));
            return Err(versions::unmergeable(error, file.name, &why, &since));
        }
    };
    if merged == file.now.text {
        let message = format!(
            "`{}` has the new text already: somebody has made the same change since this session read it, and nothing was written",
            file.name
        );
        let is_said = |error: &ToolError| error.details().get("alreadyApplied") == Some(&true.into());
        return Err(tried
            .err()
            .filter(is_said)
            .unwrap_or_else(|| refusal(message).with("alreadyApplied", true)));
    }
    redacted::check(ctx.redactor(), file.name, &file.now.text, &merged)?;
    let Edited { steps, places, notes, .. } = mine;
    let since = Some(Since::between(ctx, file.name, &base.text, &file.now.text));
    Ok(Edited { text: Cow::Owned(merged), steps, places, notes, since })
}
