//! What a session has seen of a file, and what was changed in it since.
//!
//! A partial read counts as one of the file as it was then: what matters is whether somebody has changed it since.

use super::diff::Diff;
use super::text::{self, Text};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Read};
use std::sync::Arc;
use toolpost_core::host::{FileMark, KnownVersion};
use toolpost_core::text::merge;
use toolpost_core::workspace::Stat;
use toolpost_core::{Code, Context, ToolError};

/// A file of so many bytes is shown whole where it was not seen before.
const SHOWN_BYTES: usize = 20_000;
/// Maximum number of bytes of what was changed since that are shown with a refused edit.
const SHOWN_WITH_REFUSAL: usize = 4_000;

/// What the session knows of a file that is there.
#[derive(Debug, Clone)]
pub(crate) enum Knowledge {
    /// Nobody keeps account.
    Unkept,
    /// The session has never seen it.
    Unseen,
    /// It is as the session has last seen it.
    Current,
    /// It was changed since the session has seen this version.
    Stale(KnownVersion),
}

impl Knowledge {
    /// What is known of a file that holds these bytes.
    pub(crate) fn of(ctx: &Context, stat: &Stat, bytes: &[u8]) -> Knowledge {
        if !ctx.keeps_versions() {
            return Knowledge::Unkept;
        }
        let now = FileMark::Hash(ctx.hash_of(&stat.name, bytes));
        match ctx.known_version(&stat.name, Some(&now)) {
            None => Knowledge::Unseen,
            Some(known) if known.mark == now || known.mark == stamp(stat) => Knowledge::Current,
            Some(known) => Knowledge::Stale(known),
        }
    }

    /// What is known of a file whose bytes are not at hand: they are too many, or the call may not read them.
    pub(crate) fn of_unread(ctx: &Context, stat: &Stat) -> Knowledge {
        if !ctx.keeps_versions() {
            return Knowledge::Unkept;
        }
        match ctx.known_version(&stat.name, None) {
            None => Knowledge::Unseen,
            Some(known) if ctx.is_still(&stat.name, &known) => Knowledge::Current,
            Some(known) => Knowledge::Stale(known),
        }
    }

    /// The version that the session has seen, where another one is there and it is kept.
    pub(crate) fn base(&self) -> Option<&Arc<[u8]>> {
        match self {
            Knowledge::Stale(known) => known.content.as_ref(),
            _ => None,
        }
    }
}

/// What a file is recognised by that was not read to its end.
pub(crate) fn stamp(stat: &Stat) -> FileMark {
    FileMark::Stamp { size: stat.size, modified_ms: stat.modified_ms }
}

/// Notes that the session has seen a file with these bytes, or has written them.
pub(crate) fn note(ctx: &Context, name: &str, bytes: &[u8]) {
    if ctx.keeps_versions() {
        let content = (bytes.len() as u64 <= ctx.largest_version()).then(|| bytes.into());
        ctx.note_version(name, FileMark::Hash(ctx.hash_of(name, bytes)), content);
    }
}

/// Notes that the session has changed a file, of which this was known. What others have changed in it since stays unknown:
/// then what the session has seen is the old version with its own change.
pub(crate) fn note_changed(ctx: &Context, name: &str, known: &Knowledge, before: &[u8], after: &[u8]) {
    match known {
        Knowledge::Unkept => {}
        Knowledge::Unseen | Knowledge::Current => note(ctx, name, after),
        Knowledge::Stale(_) => {
            let Some(base) = known.base() else { return };
            if let Ok(seen) = merge::merged(before, base, after) {
                let mark = FileMark::Hash(text::hash(&seen));
                ctx.note_version(name, mark, Some(seen.into()));
            }
        }
    }
}

/// Lets the bytes of a file through, and keeps them where they are few.
pub(crate) struct KeepingReader<R> {
    inner: R,
    most: u64,
    kept: Option<Vec<u8>>,
}

impl<R: Read> KeepingReader<R> {
    /// Keeps the bytes of a file that has this size, unless they are more than `most`.
    pub(crate) fn new(inner: R, size: u64, most: u64) -> KeepingReader<R> {
        let room = usize::try_from(size).unwrap_or_default();
        KeepingReader { inner, most, kept: (size <= most && most > 0).then(|| Vec::with_capacity(room)) }
    }

    /// What was read, if all of it was kept.
    pub(crate) fn kept(self) -> Option<Arc<[u8]>> {
        self.kept.map(Arc::from)
    }
}

impl<R: Read> Read for KeepingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&buffer[..count]);
            if kept.len() as u64 > self.most {
                self.kept = None;
            }
        }
        Ok(count)
    }
}

/// What is overlooked where a change is merged.
pub(crate) const SINCE: &str = "what was changed since it was read";

/// What others have changed in a file since the session has seen it.
#[derive(Debug)]
pub(crate) struct Since {
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// As a unified diff.
    pub(crate) diff: Diff,
}

impl Since {
    pub(crate) fn between(ctx: &Context, name: &str, seen: &str, now: &str) -> Since {
        Since::shown(&|text| ctx.redactor().redact_lines(text).into_owned(), name, seen, now)
    }

    /// The same, with what may be shown of each text.
    pub(crate) fn shown(shown: &dyn Fn(&str) -> String, name: &str, seen: &str, now: &str) -> Since {
        let diff = Diff::between(name, Some(&shown(seen)), Some(&shown(now)));
        Since { added: diff.added, removed: diff.removed, diff }
    }

    /// Said of a change that was merged.
    pub(crate) fn merged(&self) -> String {
        format!(
            "made for the version that this session has read, and merged with what was changed since: +{} -{}",
            self.added, self.removed
        )
    }
}

/// What was changed in a file since the session has read it, with which a change was merged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MergedData {
    /// Lines added since.
    added: usize,
    /// Lines removed since.
    removed: usize,
    /// What was changed since, as a unified diff.
    diff: String,
}

impl MergedData {
    pub(crate) fn of(since: &Since) -> MergedData {
        MergedData { added: since.added, removed: since.removed, diff: since.diff.text.clone() }
    }
}

/// What the session has made of the version that it has seen, put together with what is there now. An error says why the two
/// cannot both hold.
pub(crate) fn merged(base: &str, mine: &str, now: &str) -> Result<String, String> {
    let merged = merge::surely_merged(base.as_bytes(), mine.as_bytes(), now.as_bytes())?;
    String::from_utf8(merged).map_err(|_| "what would come of it is no text".to_owned())
}

/// The refusal of a change that was made for the version that the session has seen and cannot be merged, with the refusal that it
/// had got without that.
pub(crate) fn unmergeable(error: ToolError, name: &str, why: &str, since: &Since) -> ToolError {
    let mut message = format!(
        "{}\n`{name}` was changed since this session read it (+{} -{}), and the change cannot be merged with that: {why}; read it \
         again, and make the change for what it holds now",
        error.message().trim_end(),
        since.added,
        since.removed
    );
    let diff = since.diff.shown();
    if diff.len() <= SHOWN_WITH_REFUSAL {
        message.push_str(&format!(". Changed since:\n{}", diff.trim_end()));
    }
    let mut whole = ToolError::new(error.code(), message);
    for (key, value) in error.details() {
        whole = whole.with(key, value.clone());
    }
    whole.with("changedSinceRead", true).with("conflict", why)
}

/// The refusal to overwrite what others have changed since the session has seen it, with what they have changed, and the text
/// as it is now where that is short enough: then the session knows it.
pub(crate) struct Stale {
    pub(crate) error: ToolError,
    pub(crate) is_shown: bool,
}

/// Whether the caller can say that it means the file as it is now.
#[derive(Clone, Copy)]
pub(crate) enum Overrides {
    ByHash,
    Never,
}

impl Stale {
    /// Of a file that holds these bytes.
    pub(crate) fn of(
        ctx: &Context,
        name: &str,
        known: &KnownVersion,
        bytes: &[u8],
        overrides: Overrides,
    ) -> Stale {
        let hash = text::hash(bytes);
        let shown = |text: &str| ctx.redactor().redact_lines(text).into_owned();
        let now = Text::decode(bytes, name).ok().map(|text| text.text);
        let seen = known.content.as_ref().and_then(|seen| Text::decode(seen, name).ok());
        let since = seen.zip(now.as_deref()).map(|(seen, now)| Since::between(ctx, name, &seen.text, now));
        let counts = since
            .as_ref()
            .map_or_else(String::new, |since| format!(" (+{} -{})", since.added, since.removed));
        let whole = now.map(|now| shown(&now)).filter(|now| now.len() <= SHOWN_BYTES);
        let spelled = match overrides {
            Overrides::ByHash => ctx.spelled("expectedHash", hash.as_str()),
            Overrides::Never => None,
        };
        let again = match (&whole, spelled) {
            (Some(_), _) => "try again if what it holds may go".to_owned(),
            (None, Some(spelled)) => format!("read it again, or give `{spelled}` if what it holds may go"),
            (None, None) => "read it again".to_owned(),
        };
        let mut message = format!(
            "`{name}` was changed since this session read it{counts}; its hash is now {hash}; {again}"
        );
        let diff = since.as_ref().map(|since| since.diff.shown());
        if let Some(diff) = &diff {
            message.push_str(&format!("\nchanged since:\n{}", diff.trim_end()));
        }
        if let Some(whole) = &whole {
            message.push_str(&format!("\nits text now:\n{whole}"));
        }
        let mut error = ToolError::new(Code::StaleFile, message)
            .with("path", name)
            .with("hash", hash)
            .with("changedSinceRead", true);
        if let Some(diff) = diff {
            error = error.with("diff", diff);
        }
        let is_shown = whole.is_some();
        if let Some(whole) = whole {
            error = error.with("text", whole);
        }
        Stale { error, is_shown }
    }

    /// Of a file whose bytes are too many, or not for this call.
    pub(crate) fn unread(name: &str, withheld: Option<&ToolError>) -> Stale {
        let why = withheld.map_or_else(String::new, |why| {
            format!("; what it holds may not be seen here: {}", why.message())
        });
        let message = format!(
            "`{name}` was changed since this session read it; read it again before it is overwritten{why}"
        );
        let error =
            ToolError::new(Code::StaleFile, message).with("path", name).with("changedSinceRead", true);
        Stale { error, is_shown: false }
    }
}
